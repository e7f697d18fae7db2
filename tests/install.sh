#!/bin/sh
# Installs Debian packages if root runs it and apt-get exists. Callers take turns, because apt-get refuses to run twice
# at once. Status 1 if it cannot install; out/setup.log has the reason.
set -u
cd "$(dirname "$0")/.." || exit
mkdir -p out
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || exit 1
echo "installing: $*" >&2
export DEBIAN_FRONTEND=noninteractive
exec 9>out/setup.lock
flock 9
{
    apt-get update -q && apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"
} >>out/setup.log 2>&1 9>&- || exit 1
