#!/bin/sh
# Copies the sources that the jobs of this folder tune out of clones of their authors' repositories into sources/:
#
#     examples/foreign/fetch.sh CLONES
#
# CLONES is a folder that has a clone of each project under its name, as in CLONES/KTT, with or without a work tree. A
# variable with a project's name in capitals names a clone that is elsewhere, as in
# SGEMM_CUDA=/elsewhere/sgemm.git. The projects, where they are, and the commits that the jobs were tried with are the
# table of README.md; the files are those that the job files name. Nothing of them is changed. A project without a
# clone is left out with a message, and so are its jobs.
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
    for path in $(cat "$here"/*.cfg | grep -o "sources/$project/[A-Za-z0-9_./-]*\.[a-z]\{1,4\}" | sort -u); do
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
exit $status
