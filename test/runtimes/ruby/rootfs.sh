#!/bin/sh
# rootfs.sh DIR SUITE [VERSION]: Ruby as a suite of Debian ships it, with its libc, unpacked in DIR/SUITE. Nothing is installed. VERSION is needed
# for experimental, which takes the libraries of sid.
# What is in DIR/SUITE already stays.
set -eu
dir=${1:?rootfs.sh DIR SUITE [VERSION]} suite=${2:?suite} version=${3:-}
mkdir -p "$dir/$suite"
dir=$(cd "$dir/$suite" && pwd)
apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
suites=$suite
[ "$suite" != experimental ] || suites="sid experimental"
for from in $suites; do
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $from main"
done >"$apt/sources.list"
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
[ -n "$version" ] || version=$(apt-cache depends ruby | sed -n 's/.*Depends: ruby\([0-9.]*\)$/\1/p' | head -n 1)
# Their libraries; names that a suite lacks are passed over.
(cd "$apt/debs" && apt-get -q download "ruby$version" "libruby$version" libc6 zlib1g libcrypt1
 for package in libgmp10 libgcc-s1 libyaml-0-2 libffi7 libffi8 libssl1.1 libssl3 libssl3t64 rubygems-integration; do
	apt-get -q download "$package" 2>/dev/null || :
 done)
for deb in "$apt"/debs/*.deb; do dpkg -x "$deb" "$dir"; done
mkdir -p "$dir/proc" "$dir/dev" "$dir/tmp"
for link in lib lib64; do [ -e "$dir/$link" ] || ln -s "usr/$link" "$dir/$link"; done
