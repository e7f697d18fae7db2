#!/usr/bin/env bash
# Compares nvcc's builds of the gallery's winners with NVRTC's. Each job is tuned for a short while. After its final,
# nvcc builds the winner with the header's instructions, and both builds are timed against each other. Prints a row per
# job: both times with their 95% intervals, the ratio of nvcc's time to NVRTC's, and ptxas's figures for both builds.
# These are registers (the maximum over a job's entries), bytes spilled and bytes of code (sums).
#
# Usage: tests/measure/nvcc_gap.sh [JOB...]        default: twelve jobs
# TIME: for each search (15s). KEEP: a folder for the stores, which are otherwise deleted. Needs a GPU, nvcc and
# python3. The exit status is 1 if a job's two builds were not timed.
set -eu
cd "$(dirname "$0")/../.."
sweetspot=$PWD/${BIN:-out/bin}/sweetspot
[ $# -gt 0 ] || set -- configs/sgemm_2048.cfg configs/suite/fp32_512.cfg configs/suite/fp32_4096.cfg \
    configs/suite/bf16_512.cfg configs/suite/bf16_4096.cfg configs/dgemm.cfg configs/gemv.cfg configs/column_sums.cfg \
    configs/row_sums.cfg configs/softmax.cfg configs/stencil_5.cfg configs/transpose.cfg
"$sweetspot" doctor >/dev/null 2>&1 || { echo "skipped: no GPU can be used here"; exit 0; }
command -v nvcc >/dev/null || { echo "skipped: no nvcc here"; exit 0; }
unset SWEETSPOT_NVCC
folder=${KEEP:-out/test/nvcc_gap.$$}
mkdir -p "$folder"
[ -n "${KEEP:-}" ] || trap 'rm -rf "$folder"' EXIT
failed=0 first=1
for job; do
    name=$(basename "$job" .cfg)
    if ! "$sweetspot" tune "$job" --store "$folder/$name.db" --time "${TIME:-15s}" --no-counters -q \
        >"$folder/log" 2>&1; then
        echo "$name: not tuned: $(tail -n 1 "$folder/log")"
        failed=1
        continue
    fi
    "$sweetspot" compare "$job" --store "$folder/$name.db" --format json >"$folder/$name.json"
    python3 - "$name" "$folder/$name.json" "$first" <<'END' || failed=1
import json
import sys

name, path, first = sys.argv[1], sys.argv[2], sys.argv[3] == "1"
document = json.load(open(path))
nvcc = document["nvcc"]
if not nvcc or "problems" not in nvcc:
    print(f"{name}: no race: {nvcc['reason'] if nvcc else 'it was not wanted'}")
    sys.exit(1)


def time(v):
    scale, unit = (1e3, "ms") if v[0] >= 1e-3 else (1e6, "us")
    return f"{v[0] * scale:.4g} {unit} [{v[1] * scale:.4g}, {v[2] * scale:.4g}]"


def ratio(v):
    return f"{v[0]:.4f} [{v[1]:.4f}, {v[2]:.4f}]"


def figures(compiler):
    entries = [e for build in nvcc["builds"] for e in build[compiler]]
    most = max(e.get("registers", 0) for e in entries)
    spills = sum(e.get("spill_loads", 0) + e.get("spill_stores", 0) for e in entries)
    return most, spills, sum(e.get("code_bytes", 0) for e in entries)


if first:
    print(f"{document['device']}, driver {document['driver']}, {document['compiler']}, {nvcc['compiler']}\n")
    print("| job | by NVRTC | by nvcc | nvcc over NVRTC | verdict | registers | bytes spilled | bytes of code |")
    print("|---|---|---|---|---|---|---|---|")
one, other = figures("nvrtc"), figures("nvcc")
for problem in nvcc["problems"]:
    row = name + (", " + problem["problem"] if len(nvcc["problems"]) > 1 else "")
    print(f"| {row} | {time(problem['nvrtc'])} | {time(problem['nvcc'])} | {ratio(problem['ratio'])} "
          f"| {nvcc['verdict']} | {one[0]}, {other[0]} | {one[1]}, {other[1]} | {one[2]}, {other[2]} |")
END
    first=0
done
exit $failed
