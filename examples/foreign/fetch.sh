#!/bin/sh
# Copies the sources for the jobs of this folder from clones of their authors' repositories into sources/:
#
#     examples/foreign/fetch.sh CLONES
#
# CLONES is a folder that has a clone of each project under its name, such as CLONES/KTT, with or without a work tree.
# For a clone that is elsewhere, set a variable with the project's name in capitals, as in
# SGEMM_CUDA=/elsewhere/sgemm.git. README.md has a table of the projects with their addresses and the commits that the
# jobs were tried with. The files that the job files name are copied unchanged, and some of their data are also written
# as .npy files in sources/data. A project without a clone is left out with a message, and so are its jobs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -gt 1 ] || [ "${1:-}" = -h ] || [ "${1:-}" = --help ]; then
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
clones=${1:-}
status=0
# Rows of the table: | project | repository | commit | licence |
for row in $(sed -n 's/^| `\([^`]*\)` | \(https:[^ ]*\) | `\([0-9a-f]\{40\}\)` |.*/\1,\2,\3/p' "$here/README.md"); do
    project=${row%%,*} commit=${row##*,} url=${row#*,}
    url=${url%,*}
    eval "clone=\${$(echo "$project" | tr 'a-z.-' 'A-Z__'):-}"
    [ -n "$clone" ] || clone=$clones/$project
    if [ ! -d "$clone" ]; then
        echo "$project: no clone in '$clone': git clone $url" >&2
        status=1
        continue
    fi
    count=0
    for path in $(cat "$here"/*.cfg | grep -o "sources/$project/[A-Za-z0-9_./-]*\.[a-z0-9]\{1,4\}" | sort -u); do
        file=${path#sources/"$project"/}
        mkdir -p "$here/$(dirname "$path")"
        if ! git -C "$clone" show "$commit:$file" >"$here/$path.part"; then
            rm -f "$here/$path.part"
            echo "$project: cannot read $file of commit $commit in '$clone'" >&2
            exit 1
        fi
        mv "$here/$path.part" "$here/$path"
        count=$((count + 1))
    done
    echo "$project: $count files of commit $commit"
done

# npy FILE TYPE SHAPE COUNT: writes the header of an .npy file and the last COUNT bytes of standard input.
npy() {
    mkdir -p "$here/sources/data"
    {
        printf '\223NUMPY\001\000v\000'
        printf "%-117s\n" "{'descr': '$2', 'fortran_order': False, 'shape': $3, }"
        tail -c "$4"
    } >"$here/sources/data/$1"
}

samples=$here/sources/cuda-samples/Samples
image=$samples/0_Introduction/simpleTexture/data/teapot512.pgm
[ ! -f "$image" ] || npy teapot512.npy '|u1' '(512, 512)' 262144 <"$image"
cubes=$samples/5_Domain_Specific/marchingCubes
[ ! -f "$cubes/data/Bucky.raw" ] || npy bucky.npy '|u1' '(32768,)' 32768 <"$cubes/data/Bucky.raw"
if [ -f "$cubes/tables.h" ]; then # a table of 256 small numbers in C
    for number in $(sed -n '/numVertsTable\[256\]/,/}/p' "$cubes/tables.h" | sed 1d | grep -o '[0-9]*'); do
        printf "\\$(printf %03o "$number")\\000\\000\\000"
    done | npy corners.npy '<u4' '(256,)' 1024
fi
exit $status
