#!/bin/sh
# sbom.sh - build/sbom/pj-VERSION.spdx.json: what this build of pj consists of, in SPDX 2.3: make sbom
#
# Lists the tools of PJ_BUILD with their SHA-256, and the libraries that `--version` of each names. The same build gives the same bytes.
set -eu
cd "$(dirname "$0")/.."
LC_ALL=C
export LC_ALL
# shellcheck source=packaging/version.sh
. packaging/version.sh
build=${PJ_BUILD:-build/std-cc}
out=${PJ_SBOM:-build/sbom}
mkdir -p "$out"
{
	echo "date $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)"
	echo "commit ${commit:-none}"
	for tool in "$build"/bin/pj*; do
		if [ -L "$tool" ] || [ "${tool##*/}" = pj ]; then continue; fi
		echo "file ${tool##*/} $(sha256sum "$tool" | cut -d' ' -f1) $(sha1sum "$tool" | cut -d' ' -f1)"
	done
	if [ -e "$build/bin/pj" ]; then echo "file pj $(sha256sum "$build/bin/pj" | cut -d' ' -f1) $(sha1sum "$build/bin/pj" | cut -d' ' -f1)"; fi
	for tool in "$build"/bin/pj*; do
		case $tool in */pj | */pjflame | */pjprofile) continue ;; esac
		"$tool" --version
	done | sed -n 's/^libraries: //p; s/^C library: \([a-z]* [0-9.]*\),.*/\1/p' | sed 's/ ([^)]*)//g' | tr ',' '\n' | sed 's/^ *//' | sort -u | sed 's/^/library /'
	echo "library libiberty unknown"
} | awk -v version="$version" -v name="$top_name" -f packaging/sbom.awk >"$out/$top_name.spdx.json.new"
mv "$out/$top_name.spdx.json.new" "$out/$top_name.spdx.json"
echo "sbom: $out/$top_name.spdx.json"
