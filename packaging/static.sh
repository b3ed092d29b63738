#!/bin/sh
# static.sh BUILD - build/static/: the program pj of a static build, links of its tools, pjflame, pjprofile, and their size: make static
#
# Fails if the program needs a library, or has more than 6 MB.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=packaging/version.sh
. packaging/version.sh
build=$1
out=build/static
most=6000000
if readelf -d "$build/bin/pj" | grep NEEDED; then
	echo "static: these libraries are needed" >&2
	exit 1
fi
rm -rf "$out"
mkdir -p "$out"
cp "$build/bin/pj" "$out/"
for tool in "$build"/bin/pj?*; do
	case $tool in
	*/pjflame | */pjprofile) cp "$tool" "$out/" ;;
	*) ln -s pj "$out/${tool##*/}" ;;
	esac
done
bytes=$(stat -c %s "$out/pj")
"$out/pjsend" --version | sed -n '2,$s/^/static: pjsend: /p'
# notices of the libraries in the program
mkdir "$out/licenses"
for package in libc6 libdw-dev libelf-dev libiberty-dev libbz2-dev liblzma-dev libzstd-dev zlib1g-dev libjansson-dev libmbedtls-dev libcurl4-openssl-dev; do
	if [ -e "/usr/share/doc/$package/copyright" ]; then cp -L "/usr/share/doc/$package/copyright" "$out/licenses/$package"; fi
done
# the versions of these libraries
PJ_BUILD=$build PJ_SBOM=$out/licenses sh packaging/sbom.sh
# with man pages and completions, for hosts without a package
archive=$top_name-$(uname -m)-static
mkdir -p "$out/$archive/bin" "$out/$archive/man"
find "$out" -maxdepth 1 ! -type d -exec cp -P {} "$out/$archive/bin/" \;
cp man/*.[1-9] "$out/$archive/man/"
cp -R "$build/completions" "$out/$archive/completions"
rm -f "$out/$archive/completions/done"
cp LICENSE NEWS docs/INSTALL.md "$out/$archive/"
cp -R "$out/licenses" "$out/$archive/"
tar -cf - --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$out" "$archive" | gzip -n -9 >"$out/$archive.tar.gz"
rm -rf "${out:?}/$archive"
echo "static: $out/pj has $bytes bytes, with $(find "$out" -type l | wc -l) tools"
[ "$bytes" -le "$most" ] || { echo "static: more than $most bytes" >&2; exit 1; }
