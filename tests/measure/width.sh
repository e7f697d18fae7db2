#!/usr/bin/env bash
# Measures how many GPUs the driver can serve: searches with 1, 8, 64 and 256 simulated GPUs, which only wait
# (tests/timed_answers.h: a synthetic landscape, 0.3 s per candidate, no compile time). BY=agents: nodes of up to 8
# GPUs, where each node is one process that uses sweetspot-node's protocol (tests/timed_node.c). BY=processes: one
# process per GPU (tests/timed_worker.c). For each number of GPUs, prints figures without the first five seconds:
# candidates per second, as a number and as a multiple of a single GPU's; the driver's processor time per candidate and
# its share of a core; the driver's memory after a third of the time and at the end.
#
# Usage: tests/measure/width.sh [TUNE OPTION...]
# GPUS="1 8 64 256"  SECONDS_EACH=30  JOB=configs/sgemm.cfg  TIMED_TRIAL, TIMED_SPREAD: timed_answers.h
set -eu
cd "$(dirname "$0")/../.."
make -s programs "${BIN:=out/bin}/timed_worker" "$BIN/timed_node" >/dev/null
export TIMED_SPREAD=${TIMED_SPREAD:-0.02}
seconds=${SECONDS_EACH:-30} folder=out/test/width.$$
mkdir -p "$folder"
trap 'rm -rf "$folder"' EXIT
ticks=$(getconf CLK_TCK)

# The options for this many GPUs.
workers() {
    case ${BY:=agents} in
    agents)
        echo "nodes = ( { name = \"node\"; count = $((($1 + 7) / 8)); gpus = $(($1 < 8 ? $1 : 8)); cores = 8;
            program = \"$PWD/$BIN/timed_node\"; } );" >"$folder/nodes.cfg"
        echo "--pool $folder/nodes.cfg"
        ;;
    processes)
        export SWEETSPOT_GPU_WORKER=$PWD/$BIN/timed_worker SWEETSPOT_COMPILE_WORKER=$PWD/$BIN/timed_worker
        echo "--workers 8 --device $(seq -s, 0 $(($1 - 1)))"
        ;;
    *)
        echo "BY is 'agents' or 'processes', not '$BY'" >&2
        return 2
        ;;
    esac
}

# Prints "seconds seconds-of-processor KiB" of the driver every half second while it runs.
watch_driver() {
    while [ -r "/proc/$1/stat" ]; do
        echo "$(date +%s.%N) $(sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f12,13) $(sed -n \
            's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$1/status")" 2>/dev/null || break
        sleep 0.5
    done | awk -v t="$ticks" 'NF == 4 { if (!first) first = $1; print $1 - first, ($2 + $3) / t, $4 }'
}

printf '%5s %12s %9s %8s %14s %12s %18s\n' GPUs candidates 'a second' times 'ms processor' 'of a core' \
    'MiB (third, end)'
one=
for gpus in ${GPUS:-1 8 64 256}; do
    rm -f "$folder"/store.db*
    workers "$gpus" >"$folder/workers"
    read -ra options <"$folder/workers"
    "$BIN/sweetspot" tune "${JOB:-configs/sgemm.cfg}" --store "$folder/store.db" --cache "$folder/cache" --time \
        "${seconds}s" "${options[@]}" --no-counters --no-final --no-stores -q --format json "$@" >"$folder/events" \
        2>"$folder/messages" &
    driver=$!
    watch_driver "$driver" >"$folder/watched"
    wait "$driver" || { cat "$folder/messages" >&2; exit 1; }
    read -r candidates rate < <(jq -rs 'map(select(.event == "progress" or .event == "searched")) |
        map(select(.seconds > 4.5)) | [.[0], .[-1]] | [.[1].new_trials,
        (.[1].new_trials - .[0].new_trials) / (.[1].seconds - .[0].seconds)] | @tsv' "$folder/events")
    one=${one:-$(awk "BEGIN { print $rate / $gpus }")}
    awk -v n="$gpus" -v c="$candidates" -v r="$rate" -v one="$one" '{ kib[NR] = $3 }
        $1 > 5 && !from { from = $1; used = $2 } { share = ($2 - used) / ($1 - from + 1e-9) } END {
        printf "%5d %12d %9.1f %8.2f %14.3f %11.0f%% %9.1f %8.1f\n", n, c, r, r / one, 1e3 * share / r, 100 * share,
               kib[int(NR / 3) + 1] / 1024, kib[NR] / 1024 }' "$folder/watched"
done
