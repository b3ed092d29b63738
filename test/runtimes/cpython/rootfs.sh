#!/bin/sh
# rootfs.sh DIR SUITE VERSION...: CPython as a suite of Debian ships it, with its libc, unpacked in DIR/SUITE for pythons.sh. Nothing is installed.
# A version that the suite lacks is named and passed over. What is in DIR/SUITE already stays.
set -eu
dir=${1:?rootfs.sh DIR SUITE VERSION...} suite=${2:?suite}
shift 2
mkdir -p "$dir/$suite"
dir=$(cd "$dir/$suite" && pwd)
apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" >"$apt/sources.list"
cat >"$apt/apt.conf" <<-CONF
	Dir::Etc::sourcelist "$apt/sources.list";
	Dir::Etc::sourceparts "-";
	Dir::State::lists "$apt/lists";
	Dir::State::status "$apt/status";
	Dir::Cache "$apt/cache";
	APT::Sandbox::User "root";
CONF
: >"$apt/status"
export APT_CONFIG="$apt/apt.conf"
apt-get -q update
for version; do
	apt-cache show "python$version-minimal" >/dev/null 2>&1 || { echo "rootfs.sh: $suite has no python$version" >&2; continue; }
	(cd "$apt/debs" && apt-get -q download "python$version-minimal" "libpython$version-minimal" "libpython$version-stdlib")
done
# Their libraries: expat, zlib, libffi and what a suite adds.
(cd "$apt/debs" && for package in libc6 libexpat1 zlib1g libgcc-s1 libzstd1; do apt-get -q download "$package"; done)
for deb in "$apt"/debs/*.deb; do dpkg -x "$deb" "$dir"; done
mkdir -p "$dir/proc" "$dir/dev" "$dir/tmp"
for link in lib lib64; do [ -e "$dir/$link" ] || ln -s "usr/$link" "$dir/$link"; done
