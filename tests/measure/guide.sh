#!/usr/bin/env bash
# What a guide is worth: a job is tuned from an empty store, without other stores, once for each seed, without a guide
# and with one. Prints the best time, the number of candidates and how many of them the guide screened out, the
# GPU time per candidate, and Kendall's tau; then the medians over the seeds.
#
# Usage: tests/measure/guide.sh [GUIDE...]        by default: none '{ M = 4096; N = 4096; K = 4096; }'
#                                                 '{ M = 2048; N = 2048; K = 2048; }' '"auto"'
# JOB: a job file (configs/suite/fp32_8192.cfg), whose templates and includes lie where its folder says. TIME: of each
# search (25s). SEEDS ("1 2 3 4 5"). Needs a GPU.
set -eu
cd "$(dirname "$0")/../.."
sweetspot=$PWD/${BIN:-out/bin}/sweetspot
job=$PWD/${JOB:-configs/suite/fp32_8192.cfg}
[ $# -gt 0 ] || set -- none '{ M = 4096; N = 4096; K = 4096; }' '{ M = 2048; N = 2048; K = 2048; }' '"auto"'
"$sweetspot" doctor >/dev/null 2>&1 || { echo "skipped: no GPU can be used here"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# A copy of the job as deep as it lies, so that its paths hold.
mkdir -p "$folder/configs/suite"
cp "$(dirname "$job")"/*.inc "$folder/configs/suite/" 2>/dev/null || true
ln -s "$PWD/templates" "$folder/templates"
copy=$folder/configs/suite/$(basename "$job")
for guide; do
    cp "$job" "$copy"
    [ "$guide" = none ] || printf '\nguide = %s;\n' "$guide" >>"$copy"
    for seed in ${SEEDS:-1 2 3 4 5}; do
        store=$folder/store.db
        rm -f "$store"*
        "$sweetspot" tune "$copy" --time "${TIME:-25s}" --seed "$seed" --no-stores --no-counters --no-final -q \
            --cache "$folder/cache.$seed" --store "$store" >"$folder/log" 2>&1 ||
            { cat "$folder/log"; exit 1; }
        rm -rf "$folder/cache.$seed"
        python3 - "$store" "$guide" "$seed" "$folder/all" <<'END2'
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
rows = db.execute("select status, objective, gpu_seconds from trials").fetchall()
run = json.loads(db.execute("select json from documents where kind = 'run' order by id desc").fetchone()[0])
best = min(o for s, o, g in rows if s == "ok")
guide = run.get("guide", {})
mean = lambda keep: (lambda l: sum(l) / len(l) if l else 0)([g for s, o, g in rows if g and keep(s)])
screened = sum(s == "screened" for s, o, g in rows)
print(f"{sys.argv[2]}, seed {sys.argv[3]}: best {1e3 * best:.3f} ms, {len(rows)} candidates, {screened} screened out "
      f"({1e3 * mean(lambda s: s == 'screened'):.0f} ms of the GPU each, {1e3 * mean(lambda s: s == 'ok'):.0f} an ok, "
      f"{1e3 * mean(lambda s: s == 'slow'):.0f} a slow one)"
      + (f", tau {guide['tau']}, {'used' if guide['used'] else 'off: ' + guide['why_not']}" if guide else ""))
with open(sys.argv[4], "a") as f:
    f.write(json.dumps([sys.argv[2], best, len(rows), screened]) + "\n")
END2
    done
done
python3 - "$folder/all" <<'END2'
import json, statistics, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
for guide in dict.fromkeys(r[0] for r in rows):
    own = [r for r in rows if r[0] == guide]
    best = sorted(r[1] for r in own)
    median = lambda column: statistics.median(r[column] for r in own)
    print(f"{guide}: best {1e3 * median(1):.3f} ms in the median, {1e3 * best[-1]:.3f} at worst; "
          f"{median(2):.0f} candidates, {median(3):.0f} screened out")
END2
