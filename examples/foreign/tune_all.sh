#!/bin/sh
# Tunes the jobs of this folder, one after another, each within its own budget, and prints a table with the author's
# configuration, the best one, its speedup with the 95% interval, and the result of the verification.
#
#     examples/foreign/tune_all.sh LOGS [JOB...]
#
# LOGS is a folder for stores, the compile cache and a log of each job; a second call resumes where the first ended.
# JOBs are names of job files here (default: all). A job whose sources are missing is left out with a message.
# BIN: the folder of the program (out/bin). TIME: a budget for every job instead of its own. SANITIZE=1: winners also
# run under compute-sanitizer, which takes up to a minute per job. Exit status: 0 if every job that ran has a winner.
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

# A job's row, from compare's entries for the candidates and the current kernel, and from status's numbers of trials.
row() {
    "$bin/sweetspot" compare "$here/$1.cfg" --store "$logs/$1.db" --format json >"$logs/compare.json" 2>>"$logs/$1.log"
    "$bin/sweetspot" status "$here/$1.cfg" --store "$logs/$1.db" --format json >"$logs/status.json" 2>>"$logs/$1.log"
    python3 - "$logs" "$1" "$2" <<'END'
import json, sys

folder, job, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3])


def read(name):
    with open(f"{folder}/{name}.json") as file:
        text = file.read()
    return json.loads(text) if text else {}


def micros(entry):
    time = entry and entry["time"][0]
    return "-" if not time else f"{time * 1e6:.2f}"


best = current = None
for problem in read("compare").get("problems", []):
    for entry in problem["entries"]:
        if entry["winner"]:
            best = entry
        if entry["name"] == "current":
            current = entry
trials = read("status").get("trials", {})
failed = [f"{count} {status}" for status, count in trials.items() if status not in ("ok", "slow")]
if current and not current["ok"]:
    failed.insert(0, "author: " + (current["reason"] or "failed"))
verdict = "no winner" if not best else "ok" if best["ok"] else best["reason"] or "failed"
interval = "%.3f [%.3f, %.3f]" % tuple(current["ratio"]) if current and current["ratio"][0] else "-"
print("%-28s %12s %12s  %-22s %-10s %6d %5d s%s" % (job, micros(current), micros(best), interval, verdict,
      sum(trials.values()), seconds, "".join("  " + text for text in failed)))
sys.exit(verdict != "ok")
END
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
        --quiet --no-counters --no-checks >>"$logs/$job.log" 2>&1
    ended=$?
    [ $ended = 0 ] || echo "$job: tune ended with $ended, see $logs/$job.log" >&2
    row "$job" $(($(date +%s) - begun)) >>"$rows" && [ $ended = 0 ] || status=1
    tail -n 1 "$rows" >&2
done
cat "$rows"
exit $status
