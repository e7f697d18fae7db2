#!/usr/bin/env bash
# A soak test: a search of many minutes over a mix of good and hostile candidates, in which nothing may leak or slow
# down. A round has a candidate for each mode of tests/hostile/hostile.cu. Kernels that end or hang the GPU's context
# come only in one round out of 64, so that workers live long enough to be observed.
#
# Checks: resident memory grows by at most 1 KB per trial in the driver. In workers it does not grow measurably (the
# resolution is 64 bytes per trial). Open descriptors and GPU memory stay constant. In rounds without such kernels, the
# candidates per second in the last quarter are within 3% of those in the first quarter. Prints a table, and "N passed,
# N failed, N skipped"; exit status 1 when a check fails.
#
# Usage: tests/measure/soak.sh [SECONDS] [OPTION...]    default: 900 s; options of `sweetspot tune`
# SOAK_DRY=1: scripted workers replace GPU and compiler (out/bin/fake_worker; make test-programs), to test the script
# and the driver. The run then ends after 4,000 trials on any machine, because the driver grows once by about 1 MB
# (SQLite's page cache), and this would weigh too much in a run with few trials. The speed is not checked then.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-900}
[ $# -eq 0 ] || shift
bin=$PWD/${BIN:-out/bin}
folder=$(mktemp -d)
driver=
trap '[ -z "$driver" ] || kill "$driver" 2>/dev/null; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

if [ -n "${SOAK_DRY:-}" ]; then
    export SWEETSPOT_GPU_WORKER=$bin/fake_worker SWEETSPOT_COMPILE_WORKER=$bin/fake_worker FAKE_DELAY=10000
    set -- --evaluations 4000 "$@"
    modes='"good", "wrong", "slow", "out_of_bounds", "nondeterministic", "launch_error", "says_crashed",
        "compile_error", "abort", "compile_crash"'
    ends='MODE == \"abort\" || MODE == \"compile_crash\"'
else
    modes='"CORRECT", "SLOW", "READ_PAST", "WRITE_PAST", "WRITE_BEFORE", "PARTIAL", "NOTHING", "NANS", "OFF_BY_ONE",
        "ONE_WRONG", "RACE", "MODIFIES_INPUT", "WORKS_ONCE", "DOES_NOT_COMPILE", "TOO_MUCH_SHARED", "HANG", "TRAP",
        "ASSERT_ADDRESS", "READ_FAR", "WRITE_FAR"'
    ends='MODE == \"HANG\" || MODE == \"TRAP\" || MODE == \"ASSERT_ADDRESS\" || MODE == \"READ_FAR\" ||'
    ends="$ends MODE == \\\"WRITE_FAR\\\""
fi
# The job of tests/jobs/hostile.cfg with these modes and an additional parameter that numbers the rounds.
{
    awk '/^parameters/ {skip = 1} !skip {print} skip && /^\);/ {skip = 0}' tests/jobs/hostile.cfg |
        sed "s|\"../hostile/|\"$PWD/tests/hostile/|; s|MODE == ..TOO_MANY_THREADS.. ? 2048 : 256|256|"
    printf 'parameters = ( { name = "ROUND"; range = [0, 65534]; }, { name = "MODE"; values = [ %s ]; } );\n' "$modes"
    printf 'constraints = ( "ROUND %% 64 == 0 || !(%s)" );\n' "$ends"
} >"$folder/soak.cfg"

"$bin/sweetspot" tune "$folder/soak.cfg" --store "$folder/soak.db" --time "${seconds}s" --no-final --no-stores -q \
    --cache "$folder/cache" "$@" >"$folder/out" 2>"$folder/err" &
driver=$!
status=0
python3 - "$folder" "$driver" "$seconds" <<'END' || status=1
import os, sqlite3, statistics, subprocess, sys, time

folder, driver, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
once = 512 << 10
dry = bool(os.environ.get("SOAK_DRY"))
kinds = ["fake_worker"] if dry else ["sweetspot-compile", "sweetspot-gpu"]
store = f"{folder}/soak.db"

def resident(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def name(pid):
    with open(f"/proc/{pid}/cmdline") as file:
        return os.path.basename(file.read().split("\0")[0])

def trials():
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=5) as db:
            return db.execute("select count(*) from trials").fetchone()[0]
    except sqlite3.Error:
        return 0

def gpu_memory():  # MB; None without nvidia-smi
    try:
        out = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
                             capture_output=True, text=True, timeout=10, check=True).stdout
        return sum(float(line) for line in out.split())
    except (OSError, ValueError, subprocess.SubprocessError):
        return None

samples, workers = [], {}  # samples of the driver; workers: pid -> (name, [(trials, bytes, descriptors)])
pause = max(0.25, seconds / 360)
while True:
    try:
        with open(f"/proc/{driver}/stat") as file:
            state, *numbers = file.read().rsplit(")", 1)[1].split()
        if state == "Z":
            break
        used = (int(numbers[10]) + int(numbers[11])) / os.sysconf("SC_CLK_TCK")
        now = (time.time(), trials(), resident(driver), len(os.listdir(f"/proc/{driver}/fd")), gpu_memory(), used)
        with open(f"/proc/{driver}/task/{driver}/children") as file:
            children = [int(pid) for pid in file.read().split()]
    except (OSError, IndexError):
        break
    samples.append(now)
    for pid in children:
        try:
            one = (now[1], resident(pid), len(os.listdir(f"/proc/{pid}/fd")))
            workers.setdefault(pid, (name(pid), []))[1].append(one)
        except (OSError, IndexError):
            pass
    time.sleep(pause)

if not trials():
    sys.exit("it measured nothing")
with sqlite3.connect(store) as db:
    rows = db.execute("select finished, config, status from trials order by finished").fetchall()
if len(samples) < 8 or len(rows) < 100:
    sys.exit(f"too few: {len(samples)} samples, {len(rows)} trials")

failed = []
def line(what, figure, limit, fine):
    print(f"| {what} | {figure} | {limit} | {'yes' if fine else 'NO'} |")
    if not fine:
        failed.append(what)

counts = {}
for _, _, status in rows:
    counts[status] = counts.get(status, 0) + 1
print(f"{len(rows)} trials in {rows[-1][0] - samples[0][0]:.0f} s: "
      + ", ".join(f"{n} {word}" for word, n in sorted(counts.items(), key=lambda item: -item[1])))
print("\n| | measured | limit | held |\n|---|---|---|---|")

def slope(points):
    return (points[-1][1] - points[0][1]) / max(1, points[-1][0] - points[0][0])

def growth(points):  # bytes per trial after the first quarter, minus half a MB that may be allocated once
    (trials, first), (last_trials, last) = points[len(points) // 4][:2], points[-1][:2]
    return max(0, last - first - once) / max(1, last_trials - trials)

grown = growth([(s[1], s[2]) for s in samples])
line("driver: resident memory", f"{samples[-1][2] / 1e6:.1f} MB, {grown:.0f} bytes a trial", "1024 bytes a trial",
     grown <= 1024)
for kind in kinds:
    lives = [life for k, life in workers.values() if k == kind and life[-1][0] - life[0][0] >= 100 and len(life) >= 8]
    if not lives:
        line(f"{kind}: resident memory", "no life of 100 trials was seen", "", False)
        continue
    each = [growth(life) for life in lives]
    most = max(life[-1][1] for life in lives)
    line(f"{kind}: resident memory", f"{most / 1e6:.1f} MB, {statistics.median(each):.0f} bytes a trial "
         f"(median of {len(each)} lives)", "64 bytes a trial", statistics.median(each) <= 64)
    opened = [life[-1][2] - life[len(life) // 4][2] for life in lives]
    line(f"{kind}: descriptors", f"{max(life[-1][2] for life in lives)}, {max(opened):+d}", "+0", max(opened) <= 0)

# Descriptors and GPU memory come and go with workers, so the medians of the first and the last quarter are compared.
def quarters(values):
    n = max(1, len(values) // 4)
    return statistics.median(values[n // 2:n + n // 2]), statistics.median(values[-n:])

spent = [(s[1], 1e3 * s[5]) for s in samples]
n = max(2, len(spent) // 4)
each = f"{slope(spent[n // 4:n]):.2f} ms a trial, then {slope(spent[-n:]):.2f}"
print(f"| driver: processor time | {each} | | not judged |")
first, last = quarters([s[3] for s in samples])
line("driver: descriptors", f"{first:.0f}, then {last:.0f}", "the same", last <= first)
used = [s[4] for s in samples if s[4] is not None]
if used:
    first, last = quarters(used)
    line("GPU memory", f"{first:.0f} MB, then {last:.0f} MB", "+1%", last <= 1.01 * first)
else:
    print("| GPU memory | there is no nvidia-smi | | not measured |")

# Only gaps between results of calm rounds are used. No kernel of such a round ends a worker.
def calm(config):
    return int(dict(part.split("=", 1) for part in config.split(","))["ROUND"]) % 64 > 1

gaps = [(b[0] - a[0]) for a, b in zip(rows, rows[1:]) if calm(a[1]) and calm(b[1])]
n = len(gaps) // 4
if n < 20:
    line("candidates a second", f"only {len(gaps)} gaps", "", False)
else:
    first, last = n / sum(gaps[:n]), n / sum(gaps[-n:])
    figure = f"{first:.2f}, then {last:.2f} ({100 * (last / first - 1):+.1f}%)"
    if dry:
        print(f"| candidates a second | {figure} | | not judged |")
    else:
        line("candidates a second", figure, "within 3%", last >= 0.97 * first)
print(f"\n{'soak: held' if not failed else 'soak: not held: ' + ', '.join(failed)}")
sys.exit(1 if failed else 0)
END
wait "$driver" || { echo "the driver ended with status $?:"; cat "$folder/err"; status=1; }
driver=
echo "$((1 - status)) passed, $status failed, 0 skipped"
exit $status
