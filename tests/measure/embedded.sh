#!/usr/bin/env bash
# Checks that the binary in a header takes the time that the header states. Each job is tuned for a short while. Its
# winner is embedded, and launched through name_launch by the final's protocol (tests/launch/time.cu) in three
# processes. The median must lie within the stated interval, widened by 0.5%.
#
# Usage: tests/measure/embedded.sh [JOB...]        default: ten jobs
# TIME: for each search (30s). Needs a GPU and nvcc. Ends with the number of headers whose time is correct. The exit
# status is 1 if a header's time is wrong.
set -eu
cd "$(dirname "$0")/../.."
sweetspot=$PWD/${BIN:-out/bin}/sweetspot
[ $# -gt 0 ] || set -- configs/sgemm_2048.cfg configs/suite/fp32_512.cfg configs/suite/fp32_4096.cfg \
    configs/suite/bf16_512.cfg configs/suite/bf16_4096.cfg configs/gemv.cfg configs/column_sums.cfg \
    configs/row_sums.cfg configs/softmax.cfg configs/stencil_5.cfg
"$sweetspot" doctor >/dev/null 2>&1 || { echo "skipped: no GPU can be used here"; exit 0; }
command -v nvcc >/dev/null || { echo "skipped: no nvcc here"; exit 0; }
folder=out/test/embedded.$$
mkdir -p "$folder"
trap 'rm -rf "$folder"' EXIT
failed=0 all=0
for job; do
    name=$(basename "$job" .cfg)
    "$sweetspot" tune "$job" --store "$folder/$name.db" --time "${TIME:-30s}" --no-counters --no-checks \
        -q >"$folder/log" 2>&1 ||
        { echo "$name: not tuned: $(tail -n 1 "$folder/log")"; failed=$((failed + 1)) all=$((all + 1)); continue; }
    header=$folder/${name}_best.h
    "$sweetspot" header "$job" --store "$folder/$name.db" -o "$header" --embed >/dev/null
    upper=$(sed -n 's/^#ifndef SWEETSPOT_\(.*\)_BEST_H$/\1/p' "$header")
    lower=$(sed -n 's/^static inline const struct \(.*\)_result \*.*_results(int \*count)$/\1/p' "$header")
    sizes=$(sed -n 's/.*long long size\[\([0-9]*\)\]; double seconds, low.*/\1/p' "$header")
    list=
    for ((i = 0; i < sizes; i++)); do list="$list${list:+, }s[$i]"; done
    echo "#define SIZES(s) $list" >"$folder/sizes.h" # nvcc would split the argument of -D at commas
    nvcc -std=c++17 -O2 -I"$folder" -include "$folder/sizes.h" -DLOWER="$lower" -DUPPER="$upper" \
        -DHEADER="\"${name}_best.h\"" -D"${upper}_RUNTIME_API" tests/launch/time.cu "${header%.h}_binary.c" \
        -o "$folder/program"
    for process in 1 2 3; do "$folder/program" >"$folder/times.$process"; done
    while read -r problem stated low high times; do
        all=$((all + 1))
        echo "$times $stated $low $high" | awk -v name="$name" -v problem="$problem" '{
            m = $1 > $2 ? ($1 < $3 ? $1 : $2 > $3 ? $2 : $3) : ($2 < $3 ? $2 : $1 > $3 ? $1 : $3)
            holds = m >= 0.995 * $5 && m <= 1.005 * $6
            printf "%-20s problem %d: %.4g us here, %.4g us [%.4g, %.4g] stated, ratio %.4f%s\n", name, problem,
                1e6 * m, 1e6 * $4, 1e6 * $5, 1e6 * $6, m / $4, holds ? "" : "  OUTSIDE"
            exit !holds }' || failed=$((failed + 1))
    done < <(paste -d' ' "$folder"/times.[123] | awk '{ print $1, $3, $4, $5, $2, $7, $12 }')
done
echo "$((all - failed)) of $all hold"
[ "$failed" -eq 0 ]
