#!/usr/bin/env bash
# Measures the rows of benchmarks.tsv: tunes each job from an empty store and an empty compile cache. Writes the output
# of `sweetspot compare`, with machine, commit and commands, to OUT/<job>.json (<job>_seed2.json for a second seed).
# `tests/measure/tables.sh add` adds these files to docs/benchmarks. A row that fails does not end the run. Later seeds
# are measured last, so that a deadline affects repetitions first. Results that OUT already has are not measured again,
# so the same command resumes after a deadline. All rows take some 12 minutes on an H200.
#
# Usage: tests/measure/benchmarks.sh [JOB...]        names of job files, without their folder (default: all)
# OUT: folder of the results (out/benchmarks/results). COMMIT: needed if the program does not know its own. DEADLINE:
# seconds for all rows together (540); a row begins only if its search and 15 seconds fit. DEVICE: see `tune --device`.
# SECONDS_EACH: seconds of each search, instead of the table's.
# The exit status is 1 if a row failed or was not run.
set -u
cd "$(dirname "$0")/../.." || exit
sweetspot=${BIN:-out/bin}/sweetspot
rows=tests/measure/benchmarks.tsv work=out/benchmarks/work out=${OUT:-out/benchmarks/results} deadline=${DEADLINE:-540}
rest=15 # seconds that a row takes in addition to its search: start, the compile cache's first entries, the final
mkdir -p "$work" "$out" || exit
version=$("$sweetspot" --version) || exit
commit=${COMMIT:-$(sed -n 's/^commit  *//p' <<<"$version")}
[ -n "$commit" ] || { echo "the program does not know its commit: set COMMIT" >&2; exit 2; }

# text VALUE: prints it as a JSON string.
text() {
    local value=${1//\\/\\\\}
    value=${value//\"/\\\"}
    value=${value//$'\t'/\\t}
    printf '"%s"' "${value//$'\n'/\\n}"
}

# document FILE: prints the JSON document, or null if there is no document.
document() { [ -s "$1" ] && cat "$1" || echo null; }

# measure NAME JOB SECONDS SEED
measure() {
    local file=$1 job=configs/$2.cfg seconds=$3 seed=$4 begin=$SECONDS status=0
    local store=$work/$file.db
    local tune=(tune "$job" --time "${seconds}s" --seed "$seed" --no-stores --no-counters --no-checks)
    [ -z "${DEVICE:-}" ] || tune+=(--device "$DEVICE")
    tune+=(--store "$store" --cache "$work/cache")
    rm -rf "$store" "$store"-* "$store".* "$work/cache" "$work/log" "$work"/*.json
    timeout --signal=INT --kill-after=20 "$((seconds + 60))" "$sweetspot" "${tune[@]}" -q >"$work/log" 2>&1 || status=$?
    "$sweetspot" compare "$job" --store "$store" --format json >"$work/compare.json" 2>"$work/why" ||
        { echo "FAILED: $file: tune ended with $status: $(tail -qn 2 "$work/log" "$work/why")"; return 1; }
    "$sweetspot" status "$job" --store "$store" --format json >"$work/status.json" || return 1
    {
        printf '{\n"format": "sweetspot-benchmark",\n"version": 1,\n'
        printf '"job": %s,\n"seconds": %s,\n"seed": %s,\n"wall_seconds": %s,\n' \
            "$(text "$2")" "$seconds" "$seed" "$((SECONDS - begin))"
        printf '"command": %s,\n' "$(text "sweetspot ${tune[*]}")"
        printf '"compare_command": %s,\n' "$(text "sweetspot compare $job --store $store --format json")"
        printf '"commit": %s,\n"program": %s,\n"cores": %s,\n"date": "%s",\n' \
            "$(text "$commit")" "$(text "$version")" "$(nproc)" "$(date -u +%F)"
        printf '"compare": %s,\n"status": %s\n}\n' \
            "$(document "$work/compare.json")" "$(document "$work/status.json")"
    } >"$out/$file.json.part" && mv "$out/$file.json.part" "$out/$file.json" || return 1
    rm -f "$store" "$store"-* "$store".*
    echo "$file: $((SECONDS - begin)) s: $(grep -m 1 '^winner' "$work/log" || tail -n 1 "$work/log")"
}

wanted=" $* " failed=0 kept=0 left=() found=" "
trap 'echo "stopped" >&2; exit 130' INT TERM
# Measures every row with its first seed, and then with the other seeds.
for pass in first others; do
    while IFS=$'\t' read -r table job seconds seeds _ <&3; do
        case $table in '#'* | '') continue ;; esac
        name=${job##*/}
        [ "$#" -eq 0 ] || [[ $wanted == *" $name "* ]] || continue
        found+="$name "
        first=${seeds%%,*}
        for seed in ${seeds//,/ }; do
            if [ "$seed" = "$first" ]; then [ $pass = first ] || continue; else [ $pass = others ] || continue; fi
            file=$name
            [ "$seed" = "$first" ] || file=${name}_seed$seed
            [ ! -s "$out/$file.json" ] || { kept=$((kept + 1)); continue; }
            time=${SECONDS_EACH:-$seconds}
            if [ $((SECONDS + time + rest)) -gt "$deadline" ]; then
                left+=("$file")
                continue
            fi
            measure "$file" "$job" "$time" "$seed" || failed=$((failed + 1))
        done
    done 3<"$rows"
done
for name; do
    [[ $found == *" $name "* ]] || { echo "no row of $rows is named '$name'" >&2; failed=$((failed + 1)); }
done
echo "$SECONDS s; $kept there already; $failed failed; not run: ${left[*]:-none}"
[ "$failed" -eq 0 ] && [ ${#left[@]} -eq 0 ]
