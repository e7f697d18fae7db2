#!/usr/bin/env bash
# Runs clang-tidy file by file, and cppcheck over all C files, with the checks in .clang-tidy and tests/lint. Ends with
# "N passed, N failed, N skipped": clang-tidy counts as one check per file, and cppcheck counts as one check in total. A
# missing tool is skipped.
#
# Usage: COMMANDS=FILE tests/lint.sh [C-FILE...], or `make lint`. COMMANDS: a file; each line is a C file, a tab, and
# the compiler's options. DEEP=1 lets clang's analyzer follow every path, which takes ten times as long. JOBS: number of
# files at once. A clean file is not checked again until the file, a header that it includes, its options or the checks
# change. out/lint keeps the hashes, unless LINT_ONCE is set.
set -u
cd "$(dirname "$0")/.." || exit 1
commands=${COMMANDS:?} kept=out/lint/${DEEP:+deep-}tidy
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
limits='-Xclang -analyzer-config -Xclang mode=shallow,max-nodes=4000'
[ -z "${DEEP:-}" ] || limits=

# options FILE: the options that make passes to its compiler, or the driver's if make does not compile it separately.
options() {
    local found
    found=$(awk -F '\t' -v file="$1" '$1 == file {print $2; exit}' "$commands")
    [ -n "$found" ] || found=$(awk -F '\t' '$1 == "tuner/cli/main.c" {print $2}' "$commands")
    case $1 in tests/test_*) found="$found -include tests/lint/asserts.h" ;; esac
    echo "$found"
}

# look FILE...: prints the findings about files that have the same options.
look() {
    local log=$kept/${1//\//_}.log
    eval "clang-tidy --quiet $* -- $opts $limits" >"$log" 2>&1 && return
    grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed ' "$log"
    return 1
}

# tidy FILE...: checks the files that are not known to be clean. Files with the same options share one process, because
# clang-tidy starts slowly. If a process reports something, its files are checked one by one. A hash in $kept means that
# the file was clean.
tidy() {
    local file opts hash mark one_by_one
    local -A files_of=() hash_of=()
    for file in "$@"; do
        opts=$(options "$file")
        if [ -z "${LINT_ONCE:-}" ]; then
            hash=$( (clang-tidy --version && echo "$opts $limits" && cat .clang-tidy tests/.clang-tidy tests/lint.sh &&
                eval "clang $opts -MM '$file'" | tr -d '\\' | tr ' ' '\n' | grep -v ':$' | xargs cat) 2>&1 | sha256sum)
            [ "$hash" != "$(cat "$kept/${file//\//_}" 2>/dev/null)" ] || continue
            hash_of[$file]=$hash
        fi
        files_of[$opts]+=" $file"
    done
    for opts in "${!files_of[@]}"; do
        # shellcheck disable=SC2086
        set -- ${files_of[$opts]}
        look "$@" >/dev/null && one_by_one='' || one_by_one=1
        for file in "$@"; do
            mark=$kept/${file//\//_}
            if [ -n "$one_by_one" ] && ! look "$file"; then
                rm -f "$mark"
                echo "$file" >>"$kept/failed"
            elif [ -n "${hash_of[$file]:-}" ]; then
                echo "${hash_of[$file]}" >"$mark"
            fi
        done
    done
}

if [ "${1:-}" = --some ]; then
    shift
    tidy "$@"
    exit 0
fi

mkdir -p "$kept" out/lint/cppcheck
: >"$kept/failed"
# The programs of tests/launch include headers that tests write.
files=$*
[ -n "$files" ] || files=$(find tuner search kernels tests -name '*.c' -not -path 'tests/launch/*' | sort)
count=$(echo "$files" | wc -w) passed=0 failed=0 skipped=0

# Other versions report other findings.
if clang-tidy --version 2>/dev/null | grep -q 'version 14\.' && command -v clang >/dev/null; then
    # shellcheck disable=SC2086
    printf '%s\n' $files | DEEP=${DEEP:-} xargs -P "$jobs" -n 12 bash tests/lint.sh --some
    failed=$(wc -l <"$kept/failed") passed=$((count - failed))
    echo "clang-tidy: $passed files are clean, $failed are not"
else
    echo 'lint: clang-tidy 14 and clang are not installed (apt-get install clang-tidy clang): skipped' >&2
    skipped=$count
fi
if cppcheck --version 2>/dev/null | grep -q ' 2\.10'; then
    # shellcheck disable=SC2086
    if cppcheck --quiet -j "$jobs" --std=c11 --enable=warning,performance,portability --inline-suppr \
        --error-exitcode=1 --template='{file}:{line}: {severity}: {message} [{id}]' \
        --cppcheck-build-dir=out/lint/cppcheck -I. \
        --library=posix,gnu,sqlite3,zlib,tests/lint/cppcheck_library.xml \
        --suppressions-list=tests/lint/cppcheck_suppressions.txt $files; then
        passed=$((passed + 1))
        echo 'cppcheck: clean'
    else
        failed=$((failed + 1))
    fi
else
    echo 'lint: cppcheck 2.10 is not installed (apt-get install cppcheck): skipped' >&2
    skipped=$((skipped + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
