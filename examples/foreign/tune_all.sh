#!/bin/sh
# Tunes the jobs of this folder, one after another, each within its own budget, and prints a table: the author's
# configuration, the best, how many times faster it is with the 95% interval, and what verification said.
#
#     examples/foreign/tune_all.sh LOGS [JOB...]
#
# LOGS is a folder for stores, the compile cache and a log of each job; a second call goes on where the first ended.
# JOBs are names of job files here (all of them). A job whose sources fetch.sh did not bring is left out with a message.
# BIN: the folder of the program (out/bin). TIME: a budget for every job instead of its own. SANITIZE=1: winners also
# run under compute-sanitizer, which takes up to a minute a job. Exit status: 0 where every job that ran has a winner.
set -u
here=$(cd "$(dirname "$0")" && pwd)
logs=${1:-}
if [ -z "$logs" ] || [ "$logs" = -h ] || [ "$logs" = --help ]; then
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d' >&2
    exit 2
fi
shift
bin=${BIN:-$here/../../out/bin}
[ "${SANITIZE:-0}" = 1 ] || export SWEETSPOT_SANITIZER=none
mkdir -p "$logs" || exit 2
if [ $# = 0 ]; then
    for job in "$here"/*.cfg; do set -- "$@" "$(basename "$job" .cfg)"; done
fi

# The row of a job: from compare's lines about the candidates and the present kernel, and status's counts of trials.
row() {
    {
        "$bin/sweetspot" compare "$here/$1.cfg" --store "$logs/$1.db" --format csv
        "$bin/sweetspot" status "$here/$1.cfg" --store "$logs/$1.db" --format csv
    } 2>>"$logs/$1.log" | awk -v job="$1" -v seconds="$2" '
        # Splits a line of CSV into cell[1], cell[2], ...: commas in quotes belong to a cell.
        function split_csv(line,    count, quoted, i, c) {
            count = 1
            cell[1] = ""
            for (i = 1; i <= length(line); i++) {
                c = substr(line, i, 1)
                if (c == "\"") quoted = !quoted
                else if (c == "," && !quoted) cell[++count] = ""
                else cell[count] = cell[count] c
            }
            return count
        }
        function micros(time) { return time == "" ? "-" : sprintf("%.2f", time * 1e6) }
        {
            count = split_csv($0)
            if (cell[1] == "job") {
                delete column
                for (i = 1; i <= count; i++) column[cell[i]] = i
            } else if ("key" in column) {
                key = cell[column["key"]]
                if (sub(/^trials\./, "", key) && cell[column["value"]] > 0) {
                    tried += cell[column["value"]]
                    if (key !~ /^(ok|slow)$/) failed = failed "  " cell[column["value"]] " " key
                }
            } else if ("entry" in column) {
                if (cell[column["winner"]] == 1) {
                    best = cell[column["time"]]
                    verdict = cell[column["status"]]
                }
                if (cell[column["entry"]] == "current") {
                    if (cell[column["status"]] != "ok") failed = failed "  author: " cell[column["status"]]
                    current = cell[column["time"]]
                    ratio = cell[column["ratio"]]
                    low = cell[column["ratio_low"]]
                    high = cell[column["ratio_high"]]
                }
            }
        }
        END {
            if (verdict == "") verdict = "no winner"
            interval = ratio == "" ? "-" : sprintf("%.3f [%.3f, %.3f]", ratio, low, high)
            printf "%-28s %12s %12s  %-22s %-10s %6d %5d s%s\n", job, micros(current), micros(best), interval, verdict,
                tried, seconds, failed
            exit verdict != "ok"
        }'
}

status=0 rows=$logs/table.txt
printf '%-28s %12s %12s  %-22s %-10s %6s %7s%s\n' job 'author us' 'best us' 'times faster' verified tried time \
    '  failures' >"$rows"
for job; do
    missing=
    for path in $(grep -o 'sources/[A-Za-z0-9_./-]*\.[a-z]\{1,4\}' "$here/$job.cfg"); do
        [ -f "$here/$path" ] || missing=$path
    done
    if [ -n "$missing" ]; then
        echo "$job: left out, $missing is not there: run fetch.sh" >&2
        continue
    fi
    begun=$(date +%s)
    "$bin/sweetspot" tune "$here/$job.cfg" ${TIME:+--time "$TIME"} --store "$logs/$job.db" --cache "$logs/cache" \
        --quiet --no-counters --no-nvcc >>"$logs/$job.log" 2>&1
    ended=$?
    [ $ended = 0 ] || echo "$job: tune ended with $ended, see $logs/$job.log" >&2
    row "$job" $(($(date +%s) - begun)) >>"$rows" && [ $ended = 0 ] || status=1
    tail -n 1 "$rows" >&2
done
cat "$rows"
exit $status
