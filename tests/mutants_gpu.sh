#!/usr/bin/env bash
# Shows whether each check of the GPU worker is needed. Each patch in tests/mutants/gpu disables one check. Each patch
# is applied by itself to a copy of the tree, and the programs that it concerns are built. test_gpu_hostile then runs
# the cases that the patch's first line names ("cases: FAMILY/CASE:WAY ..."). At least one of these cases must get
# through, or a correct kernel must be refused; otherwise the check is idle. Ends with "N needed, N idle, N broken". The
# exit status is 1 if a check is idle, if a patch does not apply or build, or if a case gets through although nothing is
# disabled.
#
# Usage: tests/mutants_gpu.sh [NAME...]
# JOBS: number of builds at once (default: the number of cores). BUILD_ONLY=1: stops when all are built, which needs no
# GPU.
set -u
cd "$(dirname "$0")/.." || exit 1
root=$PWD work=out/mutants-gpu
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
if [ $# -gt 0 ]; then
    patches=("${@/#/tests/mutants/gpu/}")
    patches=("${patches[@]/%/.patch}")
else
    patches=(tests/mutants/gpu/*.patch)
fi
[ "$jobs" -le ${#patches[@]} ] || jobs=${#patches[@]}
rm -rf "$work"
mkdir -p "$work"

make programs out/bin/test_gpu_hostile >"$work/build.log" 2>&1 || {
    cat "$work/build.log"
    exit 1
}
if [ -z "${BUILD_ONLY:-}" ] && ! out/bin/sweetspot doctor >/dev/null 2>&1; then
    echo "skipped: no GPU can be used here"
    [ -z "${SWEETSPOT_GPU_REQUIRED:-}" ]
    exit
fi

# build PATCH: builds programs with the mistake into $work/NAME, or writes the reason to a file `broken` if that fails.
build() {
    local patch=$root/$1 to file files
    to=$root/$work/$(basename "$1" .patch)
    mkdir -p "$to"
    files=$(sed -n 's/^+++ b\///p' "$patch")
    for file in $files; do cp -p "$file" "$file.kept"; done
    if ! patch -p1 --silent --forward --fuzz=0 <"$patch" >"$to/patch.log" 2>&1; then
        echo "it does not apply" >"$to/broken"
    elif touch $files && ! make -j1 programs >"$to/build.log" 2>&1; then
        echo "it does not build ($(grep -m1 error "$to/build.log"))" >"$to/broken"
    else
        cp out/bin/sweetspot* out/bin/test_gpu_hostile "$to"
    fi
    for file in $files; do
        cp "$file.kept" "$file" # gets the current time, so it is built again
        rm -f "$file.kept" "$file.rej" "$file.orig"
    done
}

# builder N: builds every patch of its share in a copy of the tree.
builder() {
    mkdir "$work/tree$1"
    tar cf - --exclude=./out --exclude=./.git --exclude=./shared . out/obj out/bin | tar xf - -C "$work/tree$1"
    cd "$work/tree$1" || exit 1
    for ((i = $1; i < ${#patches[@]}; i += jobs)); do build "${patches[i]}"; done
}

trap 'kill $(jobs -p); exit 130' INT TERM
for ((n = 0; n < jobs; n++)); do builder "$n" & done
wait
rm -rf "$work"/tree*

cases_of() {
    sed -n '1s/^cases: *//p' "$1"
}

# run FOLDER CASES: runs the test from the folder; it finds the other programs there.
run() {
    SWEETSPOT_HOSTILE_CASES=$2 SWEETSPOT_HOSTILE_CACHE=$root/$work/cache TEST_FILTER='*no_wrong*' \
        SWEETSPOT_GPU_REQUIRED=1 "$1/test_gpu_hostile" >"$work/test.log" 2>&1 </dev/null
}

broken=0
for patch in "${patches[@]}"; do
    name=$(basename "$patch" .patch)
    if [ -f "$work/$name/broken" ]; then
        echo "$name: $(cat "$work/$name/broken")"
        broken=$((broken + 1))
    fi
done
if [ -n "${BUILD_ONLY:-}" ]; then
    echo "$((${#patches[@]} - broken)) built, $broken broken"
    [ "$broken" -eq 0 ]
    exit
fi

# If no check is disabled, no case may get through.
all=$(for p in "${patches[@]}"; do cases_of "$p"; done | tr ' ' '\n' | sort -u | tr '\n' ' ')
if ! run "$root/out/bin" "$all"; then
    cat "$work/test.log"
    echo "with nothing disabled these cases fail"
    exit 1
fi

needed=0 idle=0
for patch in "${patches[@]}"; do
    name=$(basename "$patch" .patch)
    [ -f "$work/$name/broken" ] && continue
    if run "$root/$work/$name" "$(cases_of "$patch")"; then
        echo "$name: idle: nothing got through of $(cases_of "$patch")"
        idle=$((idle + 1))
        continue
    fi
    through=$(sed -n 's/^    wrong, and found right: //p' "$work/test.log" | head -1)
    refused=$(sed -n 's/^    right, and refused: //p' "$work/test.log" | head -1)
    if [ -n "$through" ]; then
        echo "$name disabled: case ${through%%:*} got through"
    elif [ -n "$refused" ]; then
        echo "$name disabled: case ${refused%%:*}, which is right, was refused"
    else
        cat "$work/test.log"
        echo "$name: the test failed for another reason"
        broken=$((broken + 1))
        continue
    fi
    needed=$((needed + 1))
done
echo "$needed needed, $idle idle, $broken broken"
[ "$needed" -eq ${#patches[@]} ]
