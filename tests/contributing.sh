#!/usr/bin/env bash
# Follows CONTRIBUTING.md step by step in a copy of the tree. The words after a fence say what to do:
#
#     LANGUAGE FILE               a new file
#     LANGUAGE FILE after TEXT    lines that go into a file, after the one line that contains TEXT
#     LANGUAGE FILE before TEXT   the same, before it
#     sh                          commands, each of which must succeed
#
# Ends with the line "N passed, N failed, 0 skipped", which counts blocks.
set -uo pipefail
copy=$PWD/out/test/contributing
blocks=$PWD/out/test/contributing-blocks
log=$PWD/out/test/contributing.log
rm -rf "$copy" "$blocks"
mkdir -p "$copy/out" "$blocks"
# Objects keep their modification times, so that little is compiled again.
tar c --exclude=./out --exclude=./.git . | tar x -C "$copy"
cp -a out/obj "$copy/out/obj"
mkdir -p "$copy/out/bin"
[ ! -d out/npm ] || ln -s "$PWD/out/npm" "$copy/out/npm"

awk -v folder="$blocks" '
    /^```/ && !open { open = 1; n++; file = sprintf("%s/%03d", folder, n); print substr($0, 4) > (file ".info")
                      printf "" > file; next }
    /^```/ { open = 0; close(file); next }
    open { print > file }' CONTRIBUTING.md

# insert FILE after|before TEXT BLOCK
insert() {
    [ "$(grep -cF -- "$3" "$1")" = 1 ] || {
        echo "$1 has not exactly one line with: $3"
        return 1
    }
    TEXT=$3 awk -v place="$2" -v block="$4" '
        function put(line) { while ((getline line < block) > 0) print line }
        { here = index($0, ENVIRON["TEXT"]) }
        here && place == "before" { put() }
        { print }
        here && place == "after" { put() }' "$1" >"$1.new" && mv "$1.new" "$1"
}

passed=0 failed=0
: >"$log"
cd "$copy" || exit 1
export WERROR=1
for info in "$blocks"/*.info; do
    block=${info%.info} began=$SECONDS
    read -r language file place text <"$info"
    case $language/$place in
    sh/*) bash -eo pipefail "$block" ;;
    */after | */before) insert "$file" "$place" "$text" "$block" ;;
    *) [ ! -e "$file" ] && cp "$block" "$file" ;;
    esac >>"$log" 2>&1 </dev/null && passed=$((passed + 1)) || {
        failed=$((failed + 1))
        echo "CONTRIBUTING.md: this fails ($language $file $place $text; $log):"
        sed 's/^/    /' "$block" | head -20
        tail -5 "$log"
    }
    echo "$((SECONDS - began)) s: $language $file" >>"$log"
done
[ $((passed + failed)) -ge 15 ] || failed=$((failed + 1))
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ] && rm -rf "$copy" "$blocks"
