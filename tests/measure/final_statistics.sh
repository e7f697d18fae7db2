#!/usr/bin/env bash
# Counts the verdicts of finals on a GPU. There are finals of five identical kernels under five names, finals of four
# such kernels and a kernel that takes 2% longer, and finals while a second process loads the GPU. The kernels are
# chains of dependent multiply-adds by one and zero, so a chain that is 2% longer differs only in time.
# tests/test_final_statistics.c does the same with simulated finals.
#
# Usage: tests/measure/final_statistics.sh [identical] [planted] [loaded] [gates]
# Default: identical, planted and loaded. `gates`: gates for one kernel under two names, and for a kernel that takes 3%
# longer. FINALS: number of finals for `identical` and for `planted`, and number of gates of each kind (100). LOADED:
# number of finals for `loaded` (20). A final takes about a second, most of which is the start of a GPU worker.
set -eu
cd "$(dirname "$0")/../.."
sweetspot=$PWD/${BIN:-out/bin}/sweetspot
finals=${FINALS:-100} loaded=${LOADED:-20}
[ $# -gt 0 ] || set -- identical planted loaded
"$sweetspot" doctor >/dev/null 2>&1 || { echo "skipped: no GPU can be used here"; exit 0; }
folder=out/test/final_statistics.$$
mkdir -p "$folder"
load=
stop_load() {
    [ -z "$load" ] || kill -KILL "$load" 2>/dev/null || true
    [ -z "$load" ] || wait "$load" 2>/dev/null || true
    load=
}
trap 'stop_load; rm -rf "$folder"' EXIT

# job NAME LENGTH PLANTED MEASURE [PART]: The kernel PLANTED takes 1/PART longer (default 50, which is 2%). If PLANTED
# is 0, all kernels take equally long.
job() {
    cat >"$folder/$1.cu" <<END
#ifndef NAME // the reference is compiled without parameters
#define NAME 0
#endif
extern "C" __global__ void chain(int n, float one, float zero, const float *x, float *y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float value = x[i];
#pragma unroll 20
    for (int k = 0; k < $2 + (NAME == $3 ? $2 / ${5:-50} : 0); k++) value = value * one + zero;
    y[i] = value;
}
extern "C" __global__ void expected(int n, const float *x, float *y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = x[i];
}
END
    cat >"$folder/$1.cfg" <<END
name = "$1";
kernel = { template = "$1.cu"; entry = "chain"; };
parameters = ( { name = "NAME"; values = [1, 2, 3, 4, 5]; } );
problems = ( { n = 1000000; } );
launch = { grid = [ "ceil_div(n, 256)" ]; block = [ 256 ]; };
arguments = ( { scalar = "n"; type = "i32"; }, { scalar = "one"; type = "f32"; value = 1.0; },
              { scalar = "zero"; type = "f32"; value = 0.0; }, { buffer = "x"; type = "f32"; shape = [ "n" ]; },
              { buffer = "y"; type = "f32"; shape = [ "n" ]; direction = "out"; } );
reference = { kernel = "expected"; template = "$1.cu"; launch = { grid = [ "ceil_div(n, 256)" ]; block = [ 256 ]; };
              arguments = ( { scalar = "n"; type = "i32"; }, { buffer = "x"; }, { buffer = "y"; } ); };
strategy = "exhaustive";
measure = { $4 };
END
}

# final JOB: runs one more final on the job's store. $verdict gets the verdict: fastest, tied, undecided or, if
# something else seemed to use the device, warned. $winner gets the winner, and $tied those that tie with it.
final() {
    "$sweetspot" tune "$folder/$1.cfg" --store "$folder/$1.db" --cache "$folder/cache" --no-counters --no-checks -q \
        >"$folder/out" 2>"$folder/err" || { cat "$folder/out" "$folder/err" >&2; exit 1; }
    winner=$(sed -n 's/^  NAME=//p' "$folder/out")
    case $(grep '^winner: ' "$folder/out") in
    *', fastest') verdict=fastest ;;
    *', undecided '*) verdict=undecided ;;
    *) verdict=tied ;;
    esac
    if grep -q '^something else seems to use' "$folder/err"; then verdict=warned; fi
    tied=$("$sweetspot" compare "$folder/$1.cfg" --store "$folder/$1.db" |
        sed -n 's/^\(tie with\|       \) trial [0-9]*  NAME=//p' | tr '\n' ' ')
}

short='final = { candidates = 5; rounds = 40; };'
for what; do
    ties=0 found=0 same=0 open=0 another=0 begin=$SECONDS
    case $what in
    identical)
        job same 4000 0 "$short"
        for ((i = 0; i < finals; i++)); do
            final same
            [ "$(wc -w <<<"$tied")" -ne 4 ] || ties=$((ties + 1))
            case $verdict in undecided | warned) open=$((open + 1)) ;; esac
        done
        echo "identical kernels: $ties of $finals finals are ties of all five, $open undecided" \
            "($((SECONDS - begin)) s)"
        ;;
    planted)
        job slower 4000 5 "$short"
        for ((i = 0; i < finals; i++)); do
            final slower
            if [ "$verdict" = undecided ] || [ "$verdict" = warned ]; then
                open=$((open + 1))
            elif [ "$winner" = 5 ] || [[ " $tied" = *" 5 "* ]]; then
                another=$((another + 1))
            else
                found=$((found + 1))
            fi
        done
        echo "a kernel 2% slower: told from the others in $found of $finals finals, not in $another," \
            "$open undecided ($((SECONDS - begin)) s)"
        ;;
    loaded)
        job slower 4000 5 "$short"
        job load 40000 0 'min_samples = 100000; max_samples = 100000; max_time = "3600s"; timeout = "3600s";'
        final slower
        usual=$winner
        for ((i = 0; i < loaded; i++)); do
            # The load begins before the final, or in the middle of it.
            (
                [ $((i % 2)) -eq 0 ] || sleep 0.8
                exec "$sweetspot" tune "$folder/load.cfg" --store "$folder/load.db" --cache "$folder/cache" \
                    --no-counters --no-final -q >/dev/null 2>&1
            ) &
            load=$!
            [ $((i % 2)) -ne 0 ] || sleep 1.5
            final slower
            stop_load
            if [ "$verdict" = undecided ] || [ "$verdict" = warned ]; then
                open=$((open + 1))
            elif [ "$winner" = "$usual" ]; then
                same=$((same + 1))
            else
                another=$((another + 1))
            fi
        done
        echo "under load: the same winner in $same of $loaded finals, undecided or warned in $open," \
            "another winner in $another ($((SECONDS - begin)) s)"
        ;;
    gates)
        job gate 4000 5 "$short" 33
        # The gate compares the kernel with the kernel under the other name, whose configuration comes from a header.
        echo '#define GATE_CONFIGURATION "NAME=1"' >"$folder/base.h"
        for name in 2 5; do
            grep -v '^current' "$folder/gate.cfg" >"$folder/part"
            { cat "$folder/part"; echo "current = { NAME = $name; };"; } >"$folder/gate.cfg"
            counts=(0 0 0 0 0 0)
            for ((i = 0; i < finals; i++)); do
                status=0
                "$sweetspot" gate "$folder/gate.cfg" --base "$folder/base.h" >/dev/null 2>"$folder/err" || status=$?
                [ "$status" -eq 0 ] || [ "$status" -eq 4 ] || [ "$status" -eq 5 ] || { cat "$folder/err" >&2; exit 1; }
                counts[status]=$((counts[status] + 1))
            done
            echo "gates, $([ "$name" -eq 2 ] && echo 'one kernel' || echo '3% slower'): ${counts[0]} of $finals pass," \
                "${counts[4]} slower, ${counts[5]} undecided ($((SECONDS - begin)) s)"
        done
        ;;
    *)
        echo "unknown: $what" >&2
        exit 2
        ;;
    esac
done
