#!/usr/bin/env bash
# A long search with 64 worker processes on eight nodes (sweetspot-node, tests/timed_worker.c) with random faults:
# workers die, hang and send garbage, and an agent is killed every few seconds. Trials take 10 ms, so that 100,000 of
# them do not take long.
#
# Checks: the search ends with the requested number of trials and measured each configuration once; each kind of fault
# happened; the driver's memory grows by at most 1 KB per trial after the first third. Prints a table, and "N passed, N
# failed, N skipped"; exit status 1 when a check fails.
#
# Usage: tests/measure/width_faults.sh [TRIALS] [TUNE OPTION...]    (100000)
# KILL_EVERY=5: seconds between killed agents. TIMED_TRIAL, TIMED_FAULTS, TIMED_FAULT_KINDS: tests/timed_worker.c
set -eu
cd "$(dirname "$0")/../.."
trials=${1:-100000}
[ $# -eq 0 ] || shift
make -s programs "${BIN:=out/bin}/timed_worker" >/dev/null
export SWEETSPOT_GPU_WORKER=$PWD/$BIN/timed_worker SWEETSPOT_COMPILE_WORKER=$PWD/$BIN/timed_worker
export TIMED_TRIAL=${TIMED_TRIAL:-0.01} TIMED_FAULTS=${TIMED_FAULTS:-0.002}
export TIMED_FAULT_KINDS=${TIMED_FAULT_KINDS:-death hang garbage}
folder=out/test/width_faults.$$
mkdir -p "$folder"
driver=
trap '[ -z "$driver" ] || kill "$driver" 2>/dev/null || true; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# The job of configs/sgemm.cfg with a timeout of a second.
{
    grep -v '^@include' configs/sgemm.cfg
    sed "s|\"../templates/|\"$PWD/templates/|" configs/sgemm.inc
    echo 'measure = { timeout = "1s"; };'
} >"$folder/job.cfg"
echo 'nodes = ( { name = "node"; count = 8; gpus = 8; cores = 2; } );' >"$folder/nodes.cfg"

"$BIN/sweetspot" tune "$folder/job.cfg" --store "$folder/store.db" --cache "$folder/cache" --evaluations "$trials" \
    --pool "$folder/nodes.cfg" --strategy random --no-counters --no-final --no-stores -q "$@" >"$folder/out" \
    2>"$folder/messages" &
driver=$!
status=0
python3 - "$folder" "$driver" "$trials" "${KILL_EVERY:-5}" <<'END' || status=1
import os, random, re, signal, sqlite3, subprocess, sys, time

folder, driver, wanted, every = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
begun, samples, killed, kill_at = time.time(), [], 0, time.time() + every

def stored():
    try:
        with sqlite3.connect(f"file:{folder}/store.db?mode=ro", uri=True) as db:
            return db.execute("SELECT count(*) FROM trials").fetchone()[0]
    except sqlite3.Error: # the store does not exist yet
        return 0

# The number of matching lines in the log. A trial's own line repeats the message about its worker.
def told(what, trial=False):
    return sum(bool(re.search(what, line)) for line in log if trial == bool(re.search(r"\btrial \d", line)))

def resident():
    with open(f"/proc/{driver}/status") as file:
        lines = [line for line in file if line.startswith("VmRSS:")]
    return int(lines[0].split()[1]) if lines else 0

while True:
    time.sleep(0.5)
    try:
        kib = resident()
    except OSError:
        break
    if not kib:
        break
    samples.append((stored(), kib))
    if time.time() < kill_at:
        continue
    agents = subprocess.run(["pgrep", "-P", str(driver), "-x", "sweetspot-node"], capture_output=True, text=True)
    if agents.stdout.split():
        os.kill(int(random.choice(agents.stdout.split())), signal.SIGKILL)
        killed += 1
    kill_at = time.time() + every

with sqlite3.connect(f"file:{folder}/store.db?mode=ro", uri=True) as db:
    rows, different = db.execute("SELECT count(*), count(DISTINCT config) FROM trials").fetchone()
    statuses = db.execute("SELECT status, count(*) FROM trials GROUP BY status ORDER BY 2 DESC").fetchall()
with open(f"{folder}/store.log") as file:
    log = file.readlines()
seconds = time.time() - begun
first = next((s for s in samples if s[0] >= wanted / 3), samples[-1])
last = samples[-1]
growth = 1024 * (last[1] - first[1]) / max(last[0] - first[0], 1)
print(f"{rows} trials in {seconds:.0f} s: " + ", ".join(f"{name} {count}" for name, count in statuses))
seen = {"workers that died": told("killed by signal 9"), "that hung": told("no answer within"),
        "that sent garbage": told("worker .*not (JSON|a JSON object)"), "agents that were killed": killed}
print(", ".join(f"{name} {count}" for name, count in seen.items()))
print(f"memory of the driver: {first[1] / 1024:.1f} MiB after {first[0]} trials, {last[1] / 1024:.1f} MiB after "
      f"{last[0]}: {growth:.0f} bytes a trial")
checks = [rows == wanted, different == rows, all(seen.values()), growth <= 1024]
for ok, what in zip(checks, ["as many trials as wanted", "each configuration once", "each kind of fault", "memory"]):
    if not ok:
        print(f"failed: {what}")
print(f"{sum(checks)} passed, {len(checks) - sum(checks)} failed, 0 skipped")
sys.exit(not all(checks))
END
wait "$driver" || { tail -5 "$folder/messages" >&2; status=1; }
driver=
exit $status
