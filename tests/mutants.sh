#!/usr/bin/env bash
# Applies each patch of tests/mutants, one at a time, to a copy of the tree under out/mutants, builds the copy, and runs
# tests. A mutant whose tests pass has survived; it shows that a better test is needed. Ends with "N caught, N
# survived"; exit status 1 when one survived, does not apply or does not build.
#
# Usage: tests/mutants.sh [NAME...] A patch begins with the line "tests: PROGRAM..." (the test programs that must detect
# the mutant; "all": every program that needs no GPU) and a sentence about the mistake that it makes. JOBS: number of
# mutants at once (default: the number of cores).
set -u
cd "$(dirname "$0")/.." || exit 1
root=$PWD work=out/mutants
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
if [ $# -gt 0 ]; then
    patches=("${@/#/tests/mutants/}")
    patches=("${patches[@]/%/.patch}")
else
    patches=(tests/mutants/*.patch)
fi
[ "$jobs" -le ${#patches[@]} ] || jobs=${#patches[@]}
rm -rf "$work"
mkdir -p "$work"

# programs PATCH: the test programs named in its first line.
programs() {
    local names
    names=$(sed -n '1s/^tests: *//p' "$1")
    if [ "$names" = all ]; then
        names=$(cd tests && ls test_*.c | grep -v '^test_gpu' | sed 's/\.c$//' | tr '\n' ' ')
    fi
    printf 'out/bin/%s ' $names
}

# build PROGRAM...: builds these programs and those that they start.
build() {
    make -j1 "$@" programs out/bin/fake_worker out/bin/emulated_gpu out/bin/reference_library.so >build.log 2>&1
}

# try PATCH: prints one word and the reason.
try() {
    local patch=$root/$1 file names
    names=$(programs "$patch")
    file=$(sed -n 's/^+++ b\///p' "$patch")
    [ -n "$names" ] && [ -n "$file" ] || { echo "broken: no line of tests or no file"; return; }
    cp -p "$file" original
    if ! patch -p1 --silent --forward --fuzz=0 <"$patch" >patch.log 2>&1; then
        echo "broken: it does not apply"
    elif touch "$file" && ! build $names; then
        echo "broken: it does not build ($(grep -m1 error build.log))"
    elif BIN=out/bin JOBS=1 bash tests/run.sh $names >test.log 2>&1; then
        echo "survived: it passes ${names//out\/bin\//}"
    else
        echo "caught: $(grep -m1 '^\[  FAILED  \] [a-z]' test.log | cut -c14- || true)"
    fi
    cp original "$file" # gets the current time, so it is built again
    rm -f "$file.rej" "$file.orig"
}

# copy N: copies the tree with its build.
copy() {
    mkdir "$work/$1"
    tar cf - --exclude=./out --exclude=./.git --exclude=./shared . out/obj out/bin | tar xf - -C "$work/$1"
}

# worker N: handles every patch of its share.
worker() {
    copy "$1"
    cd "$work/$1" || exit 1
    for ((i = $1; i < ${#patches[@]}; i += jobs)); do
        echo "$(basename "${patches[i]}" .patch): $(try "${patches[i]}")"
    done
}

# A test that also fails without a mutant catches nothing.
wanted=$(for p in "${patches[@]}"; do programs "$p"; done | tr ' ' '\n' | sort -u)
make $wanted programs out/bin/fake_worker out/bin/reference_library.so >"$work/build.log" 2>&1 || {
    cat "$work/build.log"
    exit 1
}
BIN=out/bin bash tests/run.sh $wanted >"$work/test.log" 2>&1 || {
    cat "$work/test.log"
    echo "these tests fail without a mutant"
    exit 1
}

trap 'kill $(jobs -p); exit 130' INT TERM
for ((n = 0; n < jobs; n++)); do worker "$n" & done | tee "$work/results"
caught=$(grep -c ': caught: ' "$work/results")
survived=$(grep -c ': survived: ' "$work/results")
echo "$caught caught, $survived survived"
[ "$caught" -eq ${#patches[@]} ]
