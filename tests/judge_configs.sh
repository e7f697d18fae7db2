#!/bin/sh
# Judges the first valid configuration of every job file given (default: all of configs/*.cfg), including the
# sanitizers. Prints a table of verdicts and of the tools' findings. No verdict may be `wrong`. Needs a GPU and
# compute-sanitizer.
#
# Usage: BIN=out/bin tests/judge_configs.sh [JOB...]
bin=${BIN:-out/bin} bad=0
unset SWEETSPOT_SANITIZER
export SWEETSPOT_COUNTERS=none
[ $# -gt 0 ] || set -- configs/*.cfg
for job; do
    out=$("$bin/sweetspot" judge "$job" 2>/dev/null)
    status=$?
    [ $status = 0 ] || bad=1
    echo "$job: exit status $status, $(echo "$out" | head -n 2 | tr '\n' ' ')"
    echo "$out" | grep -E '^  (memcheck|initcheck|synccheck|racecheck)' | grep -v ': clean$'
done
exit $bad
