#!/bin/sh
# Makes a Debian package of the files that `make install` has put below ROOT with PREFIX=/usr. Called by `make deb`
# with ROOT, OUT (the folder of the package), VERSION, COMMIT, CUDA (the toolkit's, "13.0") and CUDA_LIB.
set -eu
here=$(dirname "$0")
for tool in dpkg-deb dpkg-shlibdeps; do
    if ! command -v $tool >/dev/null; then
        echo "make deb: $tool is missing; install dpkg-dev" >&2
        exit 3
    fi
done
architecture=$(dpkg --print-architecture)
documents=$ROOT/usr/share/doc/sweetspot
programs="$ROOT/usr/bin/sweetspot $ROOT/usr/libexec/sweetspot/*"
# shellcheck disable=SC2086 # a list with a pattern
strip --strip-unneeded $programs

gzip -9nf "$ROOT"/usr/share/man/man1/*.1
mv "$documents/LICENSE" "$documents/copyright"
ln -s copyright "$documents/LICENSE" # where the documents look for it
date=$(date -u -R -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}")
printf 'sweetspot (%s) unstable; urgency=low\n\n  * Built from commit %s.\n\n -- %s  %s\n' "$VERSION" \
    "${COMMIT:-none}" 'the sweetspot authors <sweetspot@localhost>' "$date" | gzip -9n >"$documents/changelog.gz"

# Packages of the libraries that the programs link to. CUDA's libraries have no package if the toolkit was not installed
# from packages.
mkdir -p "$OUT/shlibs/debian"
printf 'Source: sweetspot\n\nPackage: sweetspot\nArchitecture: any\n' >"$OUT/shlibs/debian/control"
absolute=$(cd "$ROOT" && pwd)
depends=$(cd "$OUT/shlibs" && dpkg-shlibdeps -O --ignore-missing-info -l"$CUDA_LIB" "$absolute/usr/bin/sweetspot" \
    "$absolute"/usr/libexec/sweetspot/* 2>warnings | sed -n 's/^shlibs:Depends=//p')
if [ -z "$depends" ]; then
    cat "$OUT/shlibs/warnings" >&2
    echo "make deb: dpkg-shlibdeps names no dependency" >&2
    exit 1
fi

mkdir -p "$ROOT/DEBIAN"
(cd "$ROOT" && find usr -type f -exec md5sum {} +) >"$ROOT/DEBIAN/md5sums"
size=$(du -ks "$ROOT/usr" | cut -f1)
sed -e "s|@VERSION@|$VERSION|; s|@ARCHITECTURE@|$architecture|; s|@SIZE@|$size|; s|@DEPENDS@|$depends|" \
    -e "s|@CUDA@|$(echo "$CUDA" | tr . -)|g" "$here/control.in" >"$ROOT/DEBIAN/control"
find "$ROOT" -type d -exec chmod 755 {} +
chmod 644 "$ROOT/DEBIAN/control" "$ROOT/DEBIAN/md5sums"
package=$OUT/sweetspot_${VERSION}_$architecture.deb
dpkg-deb --root-owner-group --build "$ROOT" "$package" >"$OUT/dpkg-deb.log"
echo "$package"
