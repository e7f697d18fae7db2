#!/bin/sh
# Finds circular calls: no two objects of a folder may need each other, directly or indirectly. An object needs the
# functions and tables that nm shows as undefined in it and as defined in another object of the folder.
# Usage: BUILD=out/obj tests/circles.sh
BUILD=${BUILD:?}
edges=$(mktemp) loops=$(mktemp)
trap 'rm -f "$edges" "$loops"' EXIT

objects=$(find tuner search kernels -name '*.c' | sort | sed "s|^|$BUILD/|; s|c\$|o|")
for object in $objects; do
    [ -f "$object" ] || { echo "circles: $object is not built" >&2; exit 1; }
done
# shellcheck disable=SC2086
nm -A $objects | sed "s|^$BUILD/||; s|\.o:| |" | awk '
    function folder(file) { sub(/[^\/]*$/, "", file); return file }
    $(NF - 1) == "U" { user[++count] = $1; wanted[count] = $NF; next }
    $(NF - 1) ~ /^[A-Zi]$/ { definer[$NF, folder($1)] = $1 }
    END {
        for (i = 1; i <= count; i++) {
            file = definer[wanted[i], folder(user[i])]
            edge = user[i] " " file
            if (file == "" || file == user[i] || (edge in seen)) continue
            seen[edge] = 1
            print edge, wanted[i]
        }
    }' >"$edges"

status=0
sed 's/ [^ ]*$//' "$edges" | tsort 2>"$loops" >/dev/null
if [ -s "$loops" ]; then
    echo 'circles: files of one folder need each other:' >&2
    awk 'FNR == NR { if (/\//) member[$2] = 1; next }
        ($1 in member) && ($2 in member) { print "  " $1 " needs " $2 " (" $3 ")" }' "$loops" "$edges" >&2
    status=1
fi
exit $status
