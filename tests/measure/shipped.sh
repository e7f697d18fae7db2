#!/usr/bin/env bash
# Records each winner's "identity" in configs/tuned: hashes of its source, its job, and the code that NVRTC generates
# from them for sm_90a. A winner gets an identity only if, under the same conditions, the present job and sources
# give the same code as the job and sources of the measured commit. Other winners lose their identity, and
# `header --shipped` refuses them. Needs no GPU, but needs the version of NVRTC that compiled the winners.
#
# Usage: tests/measure/shipped.sh                  after changes to templates or job files, and after tables.sh
# BIN: the programs (make test-programs).
set -eu
cd "$(dirname "$0")/../.."
bin=${BIN:-out/bin} arch=sm_90a
command -v jq >/dev/null || { echo "shipped.sh needs jq" >&2; exit 3; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# identify TREE NAME: prints "name source job code", or nothing if the winner is not a configuration of the job.
identify() {
    CACHE=$work/cache "$bin/shipped_build" $arch "$(find "$1/configs" -name "$2.cfg")"
}

for file in configs/tuned/*.json; do
    name=$(basename "$file" .json)
    commit=$(jq -r '.winners[0].commit' "$file")
    tree=$work/$commit
    if [ ! -d "$tree" ]; then
        mkdir "$tree"
        git archive "$commit" configs templates kernels examples | tar -xf - -C "$tree"
        # The job language no longer has this setting. It does not affect the code.
        grep -rlE '\btie = ' "$tree/configs" | xargs -r sed -i -E 's/\btie = [^;]*;//'
    fi
    mkdir -p "$tree/configs/tuned"
    cp "$file" "$tree/configs/tuned"
    read -r _ _ job_then code_then <<<"$(identify "$tree" "$name")"
    read -r _ source job code <<<"$(identify . "$name")"
    identity=null
    if [ -n "$code" ] && [ "$job $code" = "$job_then $code_then" ]; then
        identity="{arch: \"$arch\", source: \"$source\", job: \"$job\", code: \"$code\"}"
    else
        echo "$name: another job or other code than what was measured" >&2
    fi
    jq --indent 1 "del(.winners[0].identity) | if $identity then .winners[0].identity = $identity else . end" "$file" \
        >"$work/new"
    cmp -s "$work/new" "$file" || cp "$work/new" "$file"
done
