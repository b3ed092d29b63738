#!/bin/sh
# rootfs.sh DIR SUITE [VERSION]: PHP as a suite of Debian ships it, with its libraries, unpacked in DIR/SUITE for phps.h. Nothing is installed. VERSION is needed
# for experimental, which takes the libraries of sid.
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
[ -n "$version" ] || version=$(apt-cache depends php-cli | sed -n 's/.*Depends: php\([0-9.]*\)-cli.*/\1/p')
[ -n "$version" ] || { echo "rootfs.sh: $suite has no php-cli" >&2; exit 1; }
# The packages that php needs to start, and what they need.
packages=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
	"php$version-cli" "php$version-fpm" "php$version-opcache" | grep '^[a-z]' | sort -u |
	grep -E "^(php$version-(cli|fpm|common|opcache|json|readline)|lib[a-z0-9.+-]*|zlib1g)$" | grep -v '^libc6-')
cd "$apt/debs"
for package in $packages; do
	apt-get -q download "$package" || echo "rootfs.sh: $suite has no $package" >&2
done
for deb in *.deb; do dpkg -x "$deb" "$dir"; done
mkdir -p "$dir/proc" "$dir/dev" "$dir/tmp"
for link in lib lib64; do [ -e "$dir/$link" ] || ln -s "usr/$link" "$dir/$link"; done
