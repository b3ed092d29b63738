#!/bin/sh
# apk.sh - the sources of Alpine's package of HEAD as build/apk: APKBUILD with its checksums, the tarball, the install script: make apk
#
# On Alpine `abuild -r` in that folder builds the package. Between releases the version is VERSION_preCOUNT, which sorts before VERSION.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=packaging/version.sh
. packaging/version.sh
out=${PJ_APK:-build/apk}
mkdir -p "$out"
case $package_version in *~*) package_version=${package_version%%~*}_pre$(echo "${package_version#*~}" | sed 's/g.*//') ;; esac
PJ_DIST=$out sh packaging/dist.sh
rm "$out/$top_name.tar.gz.sha256"
cp packaging/pj.pre-install "$out/"
{
	fill packaging/APKBUILD
	echo 'sha512sums="'
	(cd "$out" && sha512sum "$top_name.tar.gz")
	echo '"'
} >"$out/APKBUILD.new"
mv "$out/APKBUILD.new" "$out/APKBUILD"
echo "apk: $out/APKBUILD: version $package_version"
