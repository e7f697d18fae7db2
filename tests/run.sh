#!/bin/sh
# Runs test programs (cmocka) one after another, shows what failed, and ends with one line:
# N passed, N failed, N skipped.
# A program that dies without its closing lines counts as one failure. Usage: BIN=out/bin tests/run.sh PROGRAM...
passed=0 failed=0 skipped=0
log=${BIN:?}/tests.log
: >"$log"
for program in "$@"; do
    name=$(basename "$program")
    start=$(date +%s)
    "$program" >"$log.one" 2>&1
    status=$?
    cat "$log.one" >>"$log"
    p=$(grep -c '^\[       OK \]' "$log.one")
    # cmocka names what failed or was skipped twice, the second time in a list at the end.
    f=$(grep '^\[  FAILED  \] [A-Za-z_0-9]*$' "$log.one" | sort -u | wc -l)
    s=$(grep '^\[  SKIPPED \] [A-Za-z_0-9]*$' "$log.one" | sort -u | wc -l)
    if [ "$status" -ne 0 ]; then
        [ "$f" -gt 0 ] || f=1
        cat "$log.one"
    fi
    [ $((p + f + s)) -gt 0 ] || { f=1; echo "$name ran no test"; cat "$log.one"; }
    echo "$name: $p passed, $f failed, $s skipped, $(($(date +%s) - start)) s"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
rm -f "$log.one"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
