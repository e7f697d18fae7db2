#!/usr/bin/env bash
# Runs the driver under valgrind's memcheck, on one job from its search to its report. There must be no invalid access,
# no use of uninitialised memory, and no memory that is definitely lost. Ends with "N passed, N failed, N skipped",
# which counts commands. If valgrind is missing, all commands are skipped.
#
# Usage: BIN=out/bin SPACE=FILE tests/valgrind.sh, or `make test-valgrind`. The workers are separate processes and do
# not run under valgrind.
set -u
cd "$(dirname "$0")/.." || exit 1
bin=${BIN:?} work=out/valgrind job=configs/sgemm_2048.cfg
device=replay:${SPACE:?}
commands=(
    "tune $job --device $device --store $work/store.db -q -n 24"
    "tune $job --device $device --store $work/store.db -q -n 28 --strategy random" # resumes
    "status $job --store $work/store.db"
    "status $job --store $work/store.db --format json"
    "compare $job --store $work/store.db"
    "header $job --store $work/store.db -o $work/best.h"
    "report $job --store $work/store.db -o $work/report.html"
    "export $job --store $work/store.db -o $work/space.json"
)
if ! command -v valgrind >/dev/null; then
    echo 'valgrind is not installed (apt-get install valgrind): skipped' >&2
    echo "0 passed, 0 failed, ${#commands[@]} skipped"
    exit 0
fi
rm -rf "$work"
mkdir -p "$work"
passed=0 failed=0
for command in "${commands[@]}"; do
    log=$work/$((passed + failed)).log began=$SECONDS
    # shellcheck disable=SC2086
    valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite \
        --num-callers=20 --child-silent-after-fork=yes --log-file="$log" \
        "$bin/sweetspot" $command >"$work/out" 2>"$work/err"
    status=$?
    if [ $status -eq 0 ] && [ ! -s "$log" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        cat "$log" "$work/err"
    fi
    echo "sweetspot ${command%% *}: status $status, $((SECONDS - began)) s"
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
