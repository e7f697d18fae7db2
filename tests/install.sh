#!/bin/sh
# Installs Debian packages where root runs it and apt-get is there, one caller after another: apt-get itself refuses a
# second one. Status 1 where it cannot; out/setup.log says why.
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
