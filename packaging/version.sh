# shellcheck shell=sh
# version.sh - what the scripts of packaging/ share; to be sourced in the top folder of a checkout or of an unpacked tarball.
#
# version: PJ_VERSION of common/base.h, the only place that has it.
# package_version: version, for the tag vVERSION and for tarballs; VERSION~COUNTgCOMMIT between releases, which sorts before VERSION.
# SOURCE_DATE_EPOCH: time of the commit; of a tarball, that of NEWS.
# maintainer, homepage, summary: packaging/project.

version=$(sed -n 's/^#define PJ_VERSION "\(.*\)"/\1/p' common/base.h)
package_version=$version
if git rev-parse -q --verify HEAD >/dev/null 2>&1 && [ -e .git ]; then
	commit=$(git rev-parse --short=12 HEAD)
	SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
	if ! git tag --points-at HEAD 2>/dev/null | grep -qx "v$version"; then
		package_version=$version~$(git rev-list --count HEAD)g$(git rev-parse --short=8 HEAD)
	fi
	if [ -n "$(git status --porcelain --untracked-files=no)" ]; then echo "packaging: changes that are not committed are not packaged" >&2; fi
else
	commit=
	SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(stat -c %Y NEWS)}
fi
package_version=${PJ_PACKAGE_VERSION:-$package_version} # ./release sets it: the tag is set last
export SOURCE_DATE_EPOCH
top_name=pj-$version
# shellcheck source=packaging/project
. packaging/project

fail()
{
	echo "packaging: $*" >&2
	exit 1
}

# need COMMAND PACKAGE
need()
{
	command -v "$1" >/dev/null 2>&1 || fail "$1 is not installed: apt-get install $2"
}

# begin_build KIND FOLDER: sets `out` to the path of FOLDER, which is made, and `work` to that of an empty folder for the build. It is the
# same path each time: ccache compares arguments.
begin_build()
{
	mkdir -p "$2"
	# shellcheck disable=SC2034 # deb.sh and rpm.sh use it
	out=$(cd "$2" && pwd)
	work=$PWD/build/pj-$1-work
	rm -rf "$work"
	mkdir -p "$work"
}

# unpack_sources DIR: the tarball of HEAD, unpacked below DIR; a tree without git is copied
unpack_sources()
{
	if [ -n "$commit" ]; then
		sh packaging/dist.sh
		gzip -dc "build/dist/$top_name.tar.gz" | tar -xf - -C "$1"
	else
		mkdir -p "$1/$top_name"
		tar -cf - --exclude=./build . | tar -xf - -C "$1/$top_name"
	fi
}

# fill FILE: a template of a package on standard output. @VERSION@ (of the package), @RELEASE@ (of the sources), @DATE@ (of an RPM changelog), @MAINTAINER@, @HOMEPAGE@ and @SUMMARY@ become
# their values; each line of packaging/description replaces @DESCRIPTION@, after what precedes it in its line.
fill()
{
	awk -v VERSION="$package_version" -v RELEASE="$version" -v DATE="$(LC_ALL=C date -u -d "@$SOURCE_DATE_EPOCH" '+%a %b %d %Y')" -v MAINTAINER="$maintainer" \
		-v HOMEPAGE="$homepage" -v SUMMARY="$summary" '
		function put(name, value) {
			gsub(/[\\&]/, "\\\\&", value)
			gsub("@" name "@", value)
		}
		/@DESCRIPTION@/ {
			before = substr($0, 1, index($0, "@") - 1)
			while ((getline line <"packaging/description") > 0)
				print before (line == "" && before != "" ? "." : line)
			next
		}
		{
			put("VERSION", VERSION); put("RELEASE", RELEASE); put("DATE", DATE); put("MAINTAINER", MAINTAINER); put("HOMEPAGE", HOMEPAGE); put("SUMMARY", SUMMARY)
			print
		}' "$1"
}
