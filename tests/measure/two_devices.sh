#!/usr/bin/env bash
# Tests one header for two devices, on two machines. On each machine, `record` tunes a job for five seconds. On both
# machines, `merge` then makes a header with both binaries from the two stores, builds a program with nvcc, and runs the
# program. The program must choose the binary of its device, report it, and compute the correct product. For each device
# in the header, the template's macros are checked too.
#
# Usage: tests/measure/two_devices.sh record STORE
#        tests/measure/two_devices.sh merge STORE STORE
# JOB: configs/sgemm_2048.cfg, or one like it. Needs a GPU and nvcc (`merge` without a GPU: only builds).
set -eu
cd "$(dirname "$0")/../.."
sweetspot=$PWD/${BIN:-out/bin}/sweetspot job=${JOB:-configs/sgemm_2048.cfg}
usage() {
    sed -n 's/^# Usage: */usage: /p; s/^#   *\(tests.*merge\)/       \1/p' "$0" >&2
    exit 2
}
record() {
    [ ! -e "$1" ] || { echo "'$1' exists" >&2; exit 2; }
    "$sweetspot" tune "$job" --store "$1" --time 5s --no-counters --no-stores -q
    "$sweetspot" compare "$job" --store "$1"
}

merge() {
    folder=out/test/two_devices.$$
    mkdir -p "$folder"
    trap 'rm -rf "$folder"' EXIT
    header=$folder/best.h
    for store; do "$sweetspot" header "$job" --store "$store" -o "$header" --embed >/dev/null; done
    upper=$(sed -n 's/^#ifndef SWEETSPOT_\(.*\)_BEST_H$/\1/p' "$header")
    lower=$(sed -n 's/^struct \(.*\)_kernels {$/\1/p' "$header")
    devices=$(sed -n "s/^#define ${upper}_DEVICE_\([A-Za-z0-9_]*\) 0, [0-9]*$/\1/p" "$header")
    echo "the header is for: $(echo "$devices" | tr '\n' ' ')"
    [ "$(echo "$devices" | wc -l)" -eq 2 ] || { echo "the header must be for two devices" >&2; exit 1; }
    for device in $devices; do
        cat >"$folder/chosen.cu" <<END
#include "best.h"
#include <stdio.h>
int main() { printf("-D${upper}_DEVICE=$device: %s, %s\n", ${upper}_DEVICE_NAME, ${upper}_CONFIGURATION); }
END
        nvcc -std=c++17 -I"$folder" -D"${upper}_DEVICE=$device" "$folder/chosen.cu" -o "$folder/chosen"
        "$folder/chosen"
    done
    nvcc -std=c++17 -O2 -I"$folder" -DLOWER="$lower" -DUPPER="$upper" -DHEADER='"best.h"' -D"${upper}_RUNTIME_API" \
        tests/launch/two_devices.cu "$folder/best_binary.c" -o "$folder/program"
    "$sweetspot" doctor >/dev/null 2>&1 || { echo "built; not run: no GPU can be used here"; exit 0; }
    "$folder/program"
}

case "${1:-} $#" in
"record 2") record "$2" ;;
"merge 3") merge "$2" "$3" ;;
*) usage ;;
esac
