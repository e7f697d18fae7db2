#!/bin/sh
# Every external function or table must be used by another object of the programs, or by a test and by its own file.
# Functions that only their own file uses must be static; those that only tests use do not belong in the program.
# Usage: BUILD=out/obj tests/unused.sh
BUILD=${BUILD:?}
status=0

objects=$(find tuner search kernels -name '*.c' | sort | sed "s|^|$BUILD/|; s|c\$|o|")
for object in $objects; do
    [ -f "$object" ] || { echo "unused: $object is not built" >&2; exit 1; }
done
# shellcheck disable=SC2086
lonely=$(nm -A $objects | sed "s|^$BUILD/||; s|\.o:| |" | awk '
    $(NF - 1) == "U" { used[$NF] = 1 }
    $(NF - 1) ~ /^[A-TV-Zi]$/ && $NF !~ /\./ { definer[$NF] = $1 } # names with a dot: made by the compiler
    END { for (name in definer) if (!(name in used) && name != "main") print definer[name] ".c", name }' | sort)
while read -r file name; do
    [ -n "$name" ] || continue
    if ! grep -rqw --include='*.[ch]' "$name" tests; then
        echo "unused: $file: '$name' is external, but nothing outside uses it" >&2
        status=1
    elif [ "$(grep -cw "$name" "$file")" -lt 2 ]; then
        echo "unused: $file: only tests use '$name'" >&2
        status=1
    fi
done <<END
$lonely
END
exit $status
