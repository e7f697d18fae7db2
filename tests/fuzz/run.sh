#!/usr/bin/env bash
# Runs fuzz harnesses, as many at once as there are cores, and ends with one line: N passed, N failed, N skipped.
#
# Usage: tests/fuzz/run.sh HARNESS...
# SECONDS_EACH: seconds for which each harness runs (default: 60). UNTIL: instead, a Unix time by which all must have
# ended. JOBS: number of harnesses at once. A harness first runs all of its inputs in tests/fuzz/corpus/<subject>, and
# keeps new ones in out/fuzz/<subject>/corpus for the next run. Inputs that make it fail are named, and kept in
# out/fuzz/<subject> next to the log.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)} seconds=${SECONDS_EACH:-60} out=out/fuzz
if [ -n "${UNTIL:-}" ]; then # starting, reading the corpus and looking for leaks take a second or two
    seconds=$(((UNTIL - $(date +%s)) / (($# + jobs - 1) / jobs) - 2))
    [ "$seconds" -ge 2 ] || seconds=2
fi
export SWEETSPOT_SANITIZER=none SWEETSPOT_NVCC=none CUDA_VISIBLE_DEVICES=
# Stacks are shallow and the quarantine is small because SQLite and jansson allocate a lot.
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:malloc_context_size=5:quarantine_size_mb=16
export UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=tests/fuzz/leaks.txt:print_suppressions=0
passed=0 failed=0
declare -A subject_of=() tmp_of=()

start() {
    local subject folder tmp=/tmp dictionary=() most=16384
    subject=$(basename "$1") subject=${subject#fuzz_} folder=$out/$subject
    [ -w /dev/shm ] && tmp=/dev/shm
    mkdir -p "$folder/corpus"
    touch "$folder/started"
    tmp=$(mktemp -d "$tmp/sweetspot-fuzz.XXXXXX")
    [ -f "tests/fuzz/$subject.dict" ] && dictionary=("-dict=tests/fuzz/$subject.dict")
    TMPDIR=$tmp timeout --signal=KILL $((seconds + 120)) "$1" -max_total_time="$seconds" -max_len=$most -timeout=25 \
        -rss_limit_mb=2560 -artifact_prefix="$folder/" -print_final_stats=1 -close_fd_mask=1 "${dictionary[@]}" \
        "$folder/corpus" "tests/fuzz/corpus/$subject" >"$folder/log" 2>&1 </dev/null &
    subject_of[$!]=$subject tmp_of[$!]=$tmp
}

finish() {
    local pid='' status subject log runs covered input
    wait -n -p pid "${!subject_of[@]}"
    status=$?
    subject=${subject_of[$pid]} log=$out/${subject_of[$pid]}/log
    rm -rf "${tmp_of[$pid]}"
    unset "subject_of[$pid]" "tmp_of[$pid]"
    runs=$(sed -n 's/^stat::number_of_executed_units: //p' "$log")
    covered=$(grep -o 'cov: [0-9]*' "$log" | tail -1)
    if [ "$status" -eq 0 ] && [ "${runs:-0}" -gt 0 ]; then
        passed=$((passed + 1))
        echo "fuzz_$subject: $runs inputs, $covered"
        return
    fi
    failed=$((failed + 1))
    grep -aE -A20 '^(==[0-9]+==|[^ ]*: runtime error|[^ ]*: promise broken)' "$log" | head -40
    echo "fuzz_$subject failed (status $status, see $log)"
    for input in "$out/$subject"/{crash,leak,timeout,oom}-*; do # older files are from earlier runs
        [ "$input" -nt "$out/$subject/started" ] && echo "  input: $input"
    done
}

stop() {
    trap - INT TERM
    # shellcheck disable=SC2046 # process ids
    kill -TERM $(jobs -p) 2>/dev/null
    rm -rf "${tmp_of[@]}"
    echo "$passed passed, $((failed + 1)) failed, 0 skipped"
    exit 130
}
trap stop INT TERM

for harness in "$@"; do
    while [ ${#subject_of[@]} -ge "$jobs" ]; do finish; done
    start "$harness"
done
while [ ${#subject_of[@]} -gt 0 ]; do finish; done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
