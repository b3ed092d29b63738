#!/bin/sh
# rootfs.sh DIR SUITE: Perl as a suite of Debian ships it, with its libraries, unpacked in DIR/SUITE for perls.h. Nothing is installed.
set -eu
dir=${1:?rootfs.sh DIR SUITE} suite=${2:?suite}
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
version=$(apt-cache depends perl | sed -n 's/.*Depends: libperl\(5[0-9.]*\).*/\1/p')
[ -n "$version" ] || { echo "rootfs.sh: $suite has no perl" >&2; exit 1; }
# The packages that perl needs to start, the library, and what they need.
packages=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
	perl-base "libperl$version" | sed -n 's/^\([a-z][a-z0-9.+-]*\).*/\1/p' | sort -u |
	grep -E "^(perl-base|perl-modules-$version|lib(perl$version|bz2-1.0|c6|crypt1|db5.3|gdbm[0-9a-z-]*|zlib1g).*|zlib1g)$" | grep -v '^libc6-')
cd "$apt/debs"
for package in $packages; do
	apt-get -q download "$package" || echo "rootfs.sh: $suite has no $package" >&2
done
for deb in *.deb; do dpkg -x "$deb" "$dir"; done
mkdir -p "$dir/proc" "$dir/dev" "$dir/tmp"
for link in lib lib64; do [ -e "$dir/$link" ] || ln -s "usr/$link" "$dir/$link"; done
