#!/bin/sh
# The demo: tune SGEMM at 2048x2048x2048 for about a minute, emit the header, compare with cuBLAS. Without a GPU the
# same commands run on a space that was recorded on an H200.
set -e
sweetspot=${BIN:?}/sweetspot
job=configs/sgemm_2048.cfg
device=0
if ! $sweetspot doctor >/dev/null 2>&1; then
    device=replay:${SPACE:?}
    echo "No GPU can be used here ($sweetspot doctor says why). The demo replays a space recorded on an H200."
fi
run() {
    echo
    echo "\$ sweetspot $*"
    "$sweetspot" "$@"
}
run check "$job"
run tune "$job" --device "$device" --time 45s
run header "$job"
run header "$job" --check out/include/sgemm_2048_best.h || true # the recording may be from an older template
run compare "$job"
