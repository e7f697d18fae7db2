#!/usr/bin/env bash
# Records the demo's space again (tests/spaces/sgemm_2048_h200.json.gz). Measures all configurations of
# configs/sgemm_2048.cfg and a final on an H200, and exports them with the hash of the current template. Takes some
# three minutes. Finally checks that a header from the new recording belongs to the current template.
#
# Usage: tests/measure/record_demo.sh [FILE]        FILE: output (default: the demo's recording)
set -eu
cd "$(dirname "$0")/../.."
sweetspot=${BIN:-out/bin}/sweetspot job=configs/sgemm_2048.cfg
file=${1:-tests/spaces/sgemm_2048_h200.json.gz}
"$sweetspot" doctor >/dev/null 2>&1 || { echo "skipped: no GPU can be used here"; exit 0; }
folder=out/test/record_demo.$$
mkdir -p "$folder"
trap 'rm -rf "$folder"' EXIT
"$sweetspot" tune "$job" --strategy exhaustive --time 1h --no-checks --store "$folder/recorded.db"
"$sweetspot" export "$job" --store "$folder/recorded.db" --output "$file"
"$sweetspot" tune "$job" --device "replay:$file" --evaluations 100 --store "$folder/replayed.db" --quiet
"$sweetspot" header "$job" --store "$folder/replayed.db" --output "$folder/best.h"
"$sweetspot" header "$job" --check "$folder/best.h"
