#!/usr/bin/env bash
# Writes the tables of BENCHMARKS.md and README.md from the figures in docs/benchmarks, between the markers
# `<!-- table NAME -->` and `<!-- end of table -->`. tables.jq defines their contents.
#
# Also writes the winners in these files to configs/tuned. Searches measure them first.
#
# Usage: tests/measure/tables.sh                  rewrites the tables and the winners (`make benchmarks`)
#        tests/measure/tables.sh check            fails and shows the difference if a table does not match the files
#        tests/measure/tables.sh add FILE...      adds results of benchmarks.sh to docs/benchmarks
# TREE: the folder of the documents (default: the source tree).
set -eu
cd "$(dirname "$0")/../.."
here=$PWD/tests/measure
cd "${TREE:-.}"
command -v jq >/dev/null || { echo "tables.sh needs jq" >&2; exit 3; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Keeps compare's part of a result, without the figures from the search, and the number of candidates.
add() {
    local file
    for file; do
        jq --exit-status --indent 1 '
            if .format != "sweetspot-benchmark" then error("it is not a result of benchmarks.sh")
            elif .compare == null then error("it has no comparison")
            elif .compare.replayed then error("it is from a recording")
            else . + {candidates: .status.trials_total, configurations: .status.configurations}
                | del(.status, .compare.trials) end' "$file" >"$work/one" || { echo "$file was not taken" >&2; exit 1; }
        mkdir -p docs/benchmarks
        cp "$work/one" "docs/benchmarks/$(basename "$file")"
    done
}

# fill DOCUMENT: prints the document with its tables up to date.
fill() {
    local line='' skip=
    while IFS= read -r line; do
        case $line in
        '<!-- table '*' -->')
            local name=${line#'<!-- table '}
            name=${name%' -->'}
            jq -er --arg name "$name" '.[$name]' "$work/tables" >"$work/table" ||
                { echo "$1: there is no table '$name'" >&2; return 1; }
            printf '%s\n' "$line"
            cat "$work/table"
            skip=1
            ;;
        '<!-- end of table -->') skip= ;;
        esac
        [ -n "$skip" ] || printf '%s\n' "$line"
    done <"$1"
    [ -z "$skip" ] || { echo "$1: a table has no end" >&2; return 1; }
}

# winner FILE OLD: prints a result's winner in the form of configs/tuned. If OLD has the same winner, its identity is
# kept (shipped.sh). Prints nothing if the result has a kernel for each problem.
winner() {
    jq --indent 1 --slurpfile old "$2" '($old[0].winners[0] // {}) as $known | if .compare.configuration then {
        format: "sweetspot-tuned", version: 1, job: .compare.job, winners: [{
            device: .compare.device, driver: .compare.driver, compiler: .compare.compiler,
            commit: .commit, date: .date, rounds: .compare.rounds, configuration: .compare.configuration,
            problems: [.compare.problems[] | {problem, time: (.entries[] | select(.winner) | .time)}]}
            | if $known.identity and .commit == $known.commit and .configuration == $known.configuration
                then .identity = $known.identity else . end]}
        else empty end' \
        "$1"
}

[ "${1:-}" != add ] || { shift; add "$@"; exit; }
set -- "${1:-write}"
find docs/benchmarks -name '*.json' | sort | while read -r file; do cat "$file"; done |
    jq -n --rawfile rows "$here/benchmarks.tsv" -f "$here/tables.jq" >"$work/tables"
status=0
for document in BENCHMARKS.md README.md; do
    fill "$document" >"$work/document"
    case $1 in
    write) cmp -s "$work/document" "$document" || cp "$work/document" "$document" ;;
    check) diff -u "$document" "$work/document" || status=1 ;;
    *) sed -n 's/^# Usage: */usage: /p; s/^#   *tests/       tests/p' "$here/tables.sh" >&2; exit 2 ;;
    esac
done
for file in docs/benchmarks/*.json; do
    case $file in *_seed*) continue ;; esac
    to=configs/tuned/$(basename "$file") old=/dev/null
    [ ! -f "$to" ] || old=$to
    winner "$file" "$old" >"$work/winner"
    [ -s "$work/winner" ] || continue
    if [ "$1" = write ]; then
        mkdir -p configs/tuned
        cmp -s "$work/winner" "$to" || cp "$work/winner" "$to"
    else
        diff -u "$to" "$work/winner" || status=1
    fi
done
exit $status
