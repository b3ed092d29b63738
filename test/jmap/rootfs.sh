#!/bin/sh
# rootfs.sh DIR [SUITE]: a root file system with JDK 8, 11 and 21 and their libc, from packages of Debian (sid), for PJ_ROOTFS of test/jmap/jmap.t. Nothing is
# installed; 280 MB are downloaded. What is in DIR already stays.
set -eu
dir=${1:?rootfs.sh DIR [SUITE]} suite=${2:-sid}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" >"$apt/sources.list"
cat >"$apt/apt.conf" <<-CONF
	Dir::Etc::sourcelist "$apt/sources.list";
	Dir::Etc::sourceparts "-";
	Dir::State::lists "$apt/lists";
	Dir::Cache "$apt/cache";
	APT::Sandbox::User "root";
CONF
export APT_CONFIG="$apt/apt.conf"
apt-get -q update
packages="libc6 zlib1g libgcc-s1 libstdc++6"
for version in 8 11 21; do packages="$packages openjdk-$version-jre-headless openjdk-$version-jdk-headless"; done
# shellcheck disable=SC2086
(cd "$apt/debs" && apt-get -q download $packages)
for deb in "$apt"/debs/*.deb; do dpkg -x "$deb" "$dir"; done
mkdir -p "$dir/proc" "$dir/dev" "$dir/tmp" "$dir/mnt"
for link in lib lib64; do [ -e "$dir/$link" ] || ln -s "usr/$link" "$dir/$link"; done
