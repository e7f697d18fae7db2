#!/usr/bin/env bash
# What the driver can hold: searches with 1, 8, 64 and 256 GPUs that only let time pass (tests/timed_worker.c: a
# synthetic landscape, 0.3 s a candidate, compiled at once), each with a process of its own. For each number: candidates
# a second after the first five seconds, as a multiple of one GPU's; the driver's processor time for each candidate; its
# memory after a third of the search and at the end.
#
# Usage: tests/measure/width.sh [TUNE OPTION...]
# GPUS="1 8 64 256"  SECONDS_EACH=30  JOB=configs/sgemm.cfg  TIMED_TRIAL, TIMED_SPREAD, TIMED_FAULTS: timed_answers.h
set -eu
cd "$(dirname "$0")/../.."
make -s programs "${BIN:=out/bin}/timed_worker" >/dev/null
export SWEETSPOT_GPU_WORKER=$PWD/$BIN/timed_worker SWEETSPOT_COMPILE_WORKER=$PWD/$BIN/timed_worker
export TIMED_SPREAD=${TIMED_SPREAD:-0.02}
seconds=${SECONDS_EACH:-30} folder=out/test/width.$$
mkdir -p "$folder"
trap 'rm -rf "$folder"' EXIT
ticks=$(getconf CLK_TCK)

# Of the driver, while it runs: "seconds-of-processor KiB", once every half second.
watch_driver() {
    while [ -r "/proc/$1/stat" ]; do
        echo "$(sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f12,13) $(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' \
            "/proc/$1/status")" 2>/dev/null || break
        sleep 0.5
    done | awk -v t="$ticks" 'NF == 3 { print ($1 + $2) / t, $3 }'
}

printf '%5s %12s %8s %8s %14s %18s\n' GPUs 'candidates' 'a second' 'times' 'ms processor' 'MiB (third, end)'
one=
for gpus in ${GPUS:-1 8 64 256}; do
    rm -f "$folder"/store.db*
    "$BIN/sweetspot" tune "${JOB:-configs/sgemm.cfg}" --store "$folder/store.db" --cache "$folder/cache" --time \
        "${seconds}s" --device "$(seq -s, 0 $((gpus - 1)))" --workers 8 --no-counters --no-final --no-stores -q \
        --format json "$@" >"$folder/events" 2>"$folder/messages" &
    driver=$!
    watch_driver "$driver" >"$folder/watched"
    wait "$driver" || { cat "$folder/messages" >&2; exit 1; }
    read -r candidates rate < <(jq -rs 'map(select(.event == "progress" or .event == "searched")) |
        map(select(.seconds > 4.5)) | [.[0], .[-1]] | [.[1].new_trials,
        (.[1].new_trials - .[0].new_trials) / (.[1].seconds - .[0].seconds)] | @tsv' "$folder/events")
    one=${one:-$(awk "BEGIN { print $rate / $gpus }")}
    awk -v n="$gpus" -v c="$candidates" -v r="$rate" -v one="$one" '{ cpu = $1; kib[NR] = $2 } END {
        printf "%5d %12d %8.1f %8.2f %14.3f %9.1f %8.1f\n", n, c, r, r / one, 1e3 * cpu / c,
               kib[int(NR / 3) + 1] / 1024, kib[NR] / 1024 }' "$folder/watched"
done
