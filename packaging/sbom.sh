#!/bin/sh
# sbom.sh - build/sbom/pj-VERSION.spdx.json: what this build of pj consists of, in SPDX 2.3: make sbom
#
# Lists the tools of PJ_BUILD with their SHA-256, and the libraries that `--version` of each names. Of a static build, whose list is
# pj-VERSION-ARCH-static.spdx.json, the libraries are the archives of which the linker's map has members, with the version of the package
# that owns the archive. The same build gives the same bytes.
set -eu
cd "$(dirname "$0")/.."
LC_ALL=C
export LC_ALL
# shellcheck source=packaging/version.sh
. packaging/version.sh
build=${PJ_BUILD:-build/std-cc}
out=${PJ_SBOM:-build/sbom}
mkdir -p "$out"
map=$build/pj.full.map
name=$top_name
if [ -e "$map" ]; then name=$top_name-$(uname -m)-static; fi

# owner ARCHIVE: VERSION PURL of the package that it is of; "unknown" if it is of none
owner()
{
	real=$(realpath "$1")
	distribution=$(sed -n 's/^ID="\{0,1\}\([a-z0-9._-]*\).*/\1/p' /etc/os-release 2>/dev/null)
	header=${real%/lib/*}/include/curl/curlver.h # of make static-curl
	case $real in
	*/lib/libcurl.a)
		if [ -e "$header" ]; then
			sed -n 's/^#define LIBCURL_VERSION "\(.*\)"/\1/p' "$header"
			return
		fi
		;;
	esac
	for path in "$real" "${real#/usr}"; do # merged /usr: dpkg has either
		package=$(dpkg -S "$path" 2>/dev/null | head -n 1 | sed 's/:.*//')
		if [ -n "$package" ]; then
			dpkg-query -W -f '${Version} ${binary:Package} ${Architecture}\n' "$package" | head -n 1 | awk -v id="$distribution" '{
				sub(/:.*/, "", $2); version = $1; gsub(/:/, "%3A", version); gsub(/[+]/, "%2B", version)
				print $1, "pkg:deb/" id "/" $2 "@" version "?arch=" $3 }'
			return
		fi
	done
	rpm -qf --qf "%{VERSION}-%{RELEASE} pkg:rpm/$distribution/%{NAME}@%{VERSION}-%{RELEASE}?arch=%{ARCH}\n" "$real" 2>/dev/null | grep pkg: || echo unknown
}

# archives: a line NAME VERSION PURL for each library of which the static program has parts
archives()
{
	sed -n 's|^\(/[^(]*[.]a\)(.*|\1|p; s|^\('"${STATIC_CURL:-build/static-curl}"'/[^(]*[.]a\)(.*|\1|p' "$map" | sort -u | while IFS= read -r archive; do
		library=${archive##*/}
		library=${library%.a}
		case $library in
		libz) library=zlib ;;
		libbz2) library=bzip2 ;;
		libjansson) library=jansson ;;
		libc | libm | libm-* | libmvec | libpthread | libdl | librt) library=glibc ;;
		libmbed*) library=mbedtls ;;
		libgcc*) library=libgcc ;;
		esac
		echo "$library $(owner "$archive")"
	done | sort -u
}

{
	echo "date $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)"
	echo "commit ${commit:-none}"
	for tool in "$build"/bin/pj*; do
		if [ -L "$tool" ] || [ "${tool##*/}" = pj ]; then continue; fi
		echo "file ${tool##*/} $(sha256sum "$tool" | cut -d' ' -f1) $(sha1sum "$tool" | cut -d' ' -f1)"
	done
	if [ -e "$build/bin/pj" ]; then echo "file pj $(sha256sum "$build/bin/pj" | cut -d' ' -f1) $(sha1sum "$build/bin/pj" | cut -d' ' -f1)"; fi
	if [ -e "$map" ]; then
		archives | sed 's/^/static /'
		exit
	fi
	for tool in "$build"/bin/pj*; do
		case $tool in */pj | */pjflame | */pjprofile) continue ;; esac
		"$tool" --version
	done | sed -n 's/^libraries: //p; s/^C library: \([a-z]* [0-9.]*\),.*/\1/p' | sed 's/ ([^)]*)//g' | tr ',' '\n' | sed 's/^ *//' | sort -u | sed 's/^/library /'
	echo "static libiberty $(owner "$(${CC:-cc} -print-file-name=libiberty.a)")"
} | awk -v version="$version" -v name="$name" -v maintainer="$maintainer" -v homepage="$homepage" -f packaging/sbom.awk >"$out/$name.spdx.json.new"
mv "$out/$name.spdx.json.new" "$out/$name.spdx.json"
echo "sbom: $out/$name.spdx.json"
