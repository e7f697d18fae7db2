#!/usr/bin/env bash
# Measures the cost of `sweetspot report` (seconds, memory, and the size of the document) for stores with many trials,
# and then for JOBS stores of 10,000 trials together. The generated stores have eleven parameters, one of them with
# 1,000 values, and twenty counters per trial. A fifth of the trials fails or is slow.
#
# Usage: tests/measure/report.sh [TRIALS...]        default: 100000 1000000; JOBS: 48
set -eu
cd "$(dirname "$0")/../.."
program=$PWD/out/bin/sweetspot
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp tests/golden/job.cfg tests/golden/kernel.cu tests/golden/space.json "$folder"
cd "$folder"
"$program" tune job.cfg --device replay:space.json -q --no-final --store base.db >/dev/null

# make_store STORE TRIALS
make_store() {
    cp base.db "$1"
    python3 - "$1" "$2" <<'END'
import math, random, sqlite3, sys
store, trials = sqlite3.connect(sys.argv[1]), int(sys.argv[2])
draw = random.Random(1)
for table in "trial_counters", "trial_problems", "trial_stages", "verdicts", "trials":
    store.execute(f"delete from {table}")
environment = store.execute("select id from environments").fetchone()[0]
for i in range(trials):
    values = [draw.randrange(8) for _ in range(9)] + [i % 1000, i // 1000]
    config = ",".join(f"P{k}={value}" for k, value in enumerate(values))
    status = "ok" if draw.random() < 0.8 else draw.choice(["wrong", "crashed", "slow"])
    timed = status in ("ok", "slow")
    time = 1e-4 * math.exp(0.3 * draw.random() + 0.05 * values[0] + 0.03 * abs(values[1] - 3) + 1e-4 * values[9])
    trial = store.execute(
        "insert into trials (environment, config, status, reason, objective, finished, clock_mhz, temperature)"
        " values (?,?,?,?,?,?,1900,60)",
        (environment, config, status, "" if timed else f"element {i} is 3.5", time if timed else None,
         1.79e9 + 0.3 * i),
    ).lastrowid
    if not timed:
        continue
    store.execute("insert into trial_problems (trial, position, name, tuned, time) values (?,0,'N=1',1,?)",
                  (trial, time))
    store.execute("insert into trial_stages (trial, position, name, registers) values (?,0,'k',32)", (trial,))
    store.executemany("insert into trial_counters values (?,0,0,?,?)",
                      [(trial, f"counter_{k}", draw.random()) for k in range(20)])
store.commit()
END
}

# measure WHAT ARGUMENT...
measure() {
    what=$1
    shift
    python3 - "$what" "$program" report --format json --output document.json "$@" <<'END'
import os, resource, subprocess, sys, time
begin = time.monotonic()
subprocess.run(sys.argv[2:], check=True)
seconds = time.monotonic() - begin
memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(f"{sys.argv[1]}: {seconds:.2f} s, {memory:.0f} MB, document of {os.path.getsize('document.json') / 1e6:.1f} MB")
END
}

for trials in "${@:-100000 1000000}"; do
    for count in $trials; do
        make_store "one.db" "$count"
        measure "$count trials" one.db
    done
done
mkdir many
make_store first.db 10000
for i in $(seq "${JOBS:-48}"); do cp first.db "many/$i.db"; done
measure "${JOBS:-48} stores of 10000 trials" many
