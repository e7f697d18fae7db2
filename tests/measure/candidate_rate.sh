#!/usr/bin/env bash
# Measures candidates per second in a search with the random strategy, beginning one second after the first result. Also
# measures the mean time for which a candidate occupies the GPU.
#
# SECONDS is the time limit of the whole command, including up to ten seconds for its start.
# Usage: tests/measure/candidate_rate.sh SECONDS JOB... [-- OPTION...]      options of `sweetspot tune`
set -eu
cd "$(dirname "$0")/../.."
seconds=$1
shift
jobs=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do jobs+=("$1"); shift; done
[ $# -eq 0 ] || shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for job in "${jobs[@]}"; do
    rm -rf "${folder:?}"/*
    out/bin/sweetspot tune "$job" --strategy random --time "${seconds}s" --no-counters --no-final --no-stores -q \
        --store "$folder/store.db" "$@" >/dev/null
    python3 - "$folder/store.db" "$job" <<'END'
import sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute(
    "select finished, gpu_seconds, compile_seconds from trials where objective is not null order by finished"
).fetchall()
late = [r for r in rows if r[0] > rows[0][0] + 1]
if not late:
    sys.exit("too few results: give it more seconds")
mean = lambda column: sum(r[column] or 0 for r in rows) / len(rows)
print(f"{sys.argv[2]}: {len(late) / (rows[-1][0] - rows[0][0] - 1):.1f} candidates a second ({len(rows)} in all), "
      f"{1e3 * mean(1):.1f} ms of a GPU and {mean(2):.2f} s of a compiler each")
END
done
