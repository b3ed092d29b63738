#!/bin/sh
# deb.sh - the Debian package of HEAD as build/deb/pj_VERSION_ARCH.deb: make deb
#
# PJ_IN=ROOT: builds inside of this root file system of another release, as root; build dependencies are installed there.
# The changelog is made of the head of NEWS. Between releases the version is VERSION~COUNTgCOMMIT (version.sh).
# lintian checks the result if it is installed: errors and warnings fail.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=packaging/version.sh
. packaging/version.sh
in=${PJ_IN:-}
if [ -z "$in" ]; then
	need dpkg-buildpackage dpkg-dev
	need dh debhelper
	# -d: headers may be of another package of the same library
	dpkg-checkbuilddeps packaging/debian/control 2>&1 | sed 's/^/deb: /' >&2 || true
fi
begin_build deb "${PJ_DEB:-build/deb}"
trap 'rm -rf "$work" ${in:+"$in/pj-deb"}' EXIT

unpack_sources "$work"
tree=$work/$top_name
cp -R packaging/debian "$tree/debian"
for template in control copyright; do fill "packaging/debian/$template" >"$tree/debian/$template"; done
{
	printf 'pj (%s) unstable; urgency=medium\n\n' "$package_version-1"
	if [ "$package_version" = "$version" ]; then echo "  * New release: see NEWS, changelog.gz of this folder."; else echo "  * Snapshot${commit:+ of commit $commit}."; fi
	printf '\n -- %s  %s\n' "$maintainer" "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")"
} >"$tree/debian/changelog"
tar -cf - --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$work" --exclude="$top_name/debian" "$top_name" |
	gzip -n -9 >"$work/pj_$package_version.orig.tar.gz"

build='DEB_BUILD_OPTIONS="parallel=$(nproc)" dpkg-buildpackage -us -uc -b'
if [ -z "$in" ]; then
	(cd "$tree" && eval "$build -d") >"$out/build.log" 2>&1 || { tail -n 30 "$out/build.log" >&2; fail "see $out/build.log"; }
else
	rm -rf "$in/pj-deb"
	cp -R "$work" "$in/pj-deb"
	chroot "$in" /bin/sh -c "export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH
		echo 'man-db man-db/auto-update boolean false' | debconf-set-selections # minutes of fsync
		apt-get -qq update &&
		apt-get install -y -qq --no-install-recommends dpkg-dev gcc make libc6-dev debhelper && cd /pj-deb/$top_name &&
		apt-get build-dep -y -qq --no-install-recommends ./ && $build" </dev/null >"$out/build.log" 2>&1 ||
		{ tail -n 30 "$out/build.log" >&2; fail "see $out/build.log"; }
	cp "$in"/pj-deb/pj*.deb "$in"/pj-deb/pj_*.changes "$in"/pj-deb/pj_*.buildinfo "$work"
fi
rm -f "$out"/pj_*.deb "$out"/pj-dbgsym_*.deb "$out"/pj_*.changes "$out"/pj_*.buildinfo
cp "$work"/pj*.deb "$work"/pj_*.changes "$work"/pj_*.buildinfo "$out"
if command -v lintian >/dev/null 2>&1; then
	lintian --allow-root --fail-on error,warning --suppress-tags bad-distribution-in-changes-file "$out"/pj_*.changes >"$out/lintian.log" 2>&1 ||
		{ cat "$out/lintian.log" >&2; fail "lintian found errors or warnings"; }
	cat "$out/lintian.log"
	echo "deb: lintian finds no error and no warning"
else
	echo "deb: lintian is not installed: not checked"
fi
for deb in "$out"/pj_*.deb; do
	echo "deb: $deb: $(stat -c %s "$deb") bytes, $(dpkg-deb -f "$deb" Installed-Size) KiB installed"
done
