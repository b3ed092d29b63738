#!/bin/sh
# quickstart.t - the packages that ./quickstart and ./check install: which package manager, which names, what is said where there is none.
#
# The package managers of Fedora, Arch and Alpine are stand-ins that record their calls, as these systems are not at hand: the test shows
# that the right manager gets its own names, not that it has them. Debian's apt-get is asked for real, but installs nothing (-s).
# covers: common/base.h
# once: scripts beside the tools
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL

# A system without compiler and headers: PATH has these programs alone, and a package manager.
mkdir base
for program in awk cat chmod cut date dirname getent grep head id ls mkdir mktemp rm sed sh sort stat tail tr uname env; do
	ln -s "$(command -v $program)" base/$program || skip_all "$program is not installed"
done

# stand_in SYSTEM COMMAND ID [FAILURES]: a folder with a package manager that records its calls; the first FAILURES calls fail
stand_in()
{
	mkdir "$1"
	echo "${4:-0}" >"$1/failures"
	cat >"$1/$2" <<-END
		#!/bin/sh
		echo "$2 \$*" >>"$scratch/$1/calls"
		n=\$(cat "$scratch/$1/failures")
		echo \$((n - 1)) >"$scratch/$1/failures"
		[ "\$n" -le 0 ]
	END
	chmod 755 "$1/$2"
	printf 'NAME=x\nID=%s\n' "$3" >"$1/os-release"
}

# missing SYSTEM WHAT...: what is said and called where WHAT (functions of packages.sh) is missing
missing()
{
	system=$1
	shift
	(
		cd "$top" || exit 1
		PATH=$scratch/$system:$scratch/base
		PJ_OS_RELEASE=$scratch/$system/os-release
		export PATH PJ_OS_RELEASE
		# shellcheck source=test/packages.sh
		. test/packages.sh
		PATH=$scratch/$system:$scratch/base # without /usr/sbin
		as_root=${root-}
		# no file is there
		present()
		{
			case $1 in /*) return 1 ;; *) command -v "$1" >/dev/null 2>&1 ;; esac
		}
		for part in "$@"; do $part; done
		install_missing
	) >"$system/out" 2>"$system/err"
}

stand_in fedora dnf fedora
stand_in arch pacman arch
stand_in alpine apk alpine
stand_in ubuntu apt-get ubuntu
for system in fedora arch alpine ubuntu; do
	missing $system need_to_build
	is "$system: status" $? 0
	is "$system: one call" "$(grep -c . $system/calls)" 1
done
ok "fedora: dnf and its names" grep -qE '^dnf install -y .* gcc make glibc-devel kernel-headers zlib-devel binutils-devel xz-devel libzstd-devel elfutils-devel libcurl-devel jansson-devel *$' fedora/calls
ok "arch: pacman and its names" grep -qE '^pacman -S --noconfirm --needed .* gcc make glibc linux-api-headers zlib binutils xz zstd libelf curl jansson *$' arch/calls
ok "alpine: apk and its names" grep -qE '^apk add .* gcc make musl-dev linux-headers zlib-dev binutils-dev xz-dev zstd-dev elfutils-dev curl-dev jansson-dev *$' alpine/calls
ok "ubuntu: apt-get and its names" grep -qE '^apt-get install -y .* gcc make libc6-dev linux-libc-dev zlib1g-dev libiberty-dev liblzma-dev libzstd-dev libdw-dev libcurl4-openssl-dev libjansson-dev *$' ubuntu/calls
for system in fedora arch alpine ubuntu; do
	rm $system/calls
	missing $system wish_perf
	ok "$system: perf has its name" grep -qE ' (perf|linux-tools-common linux-tools-.* linux-tools-generic) *$' $system/calls
done

# the lists of packages are old: the first call fails
stand_in stale dnf rhel 1
missing stale need_to_build
is "a first call that fails: the lists are fetched, then the needed packages, then each wish" \
	"$? $(cut -d' ' -f1,2 stale/calls | head -n 3 | tr '\n' ' ')" "0 dnf install dnf makecache dnf install "
is "  each wish alone" "$(grep -c . stale/calls)" 8
stand_in broken apk alpine 99
missing broken need_to_build
is "a package manager that fails: status" $? 1
ok "  the names" grep -q 'could not install: gcc make musl-dev' broken/err

# where there is no way to install
mkdir none
echo 'ID=void' >none/os-release
missing none need_to_build
is "no package manager: status" $? 1
ok "  the names of Debian" grep -q 'please install: gcc make libc6-dev .*(names of Debian' none/err
root=no
rm -f arch/calls
missing arch need_to_build
is "no root and no sudo: status" $? 1
ok "  the command" grep -q 'please install, as root: pacman -S .* zlib ' arch/err
ok "  nothing is called" test ! -e arch/calls
root=

# a Debian that has pacman and apk, too
stand_in both pacman debian
cp ubuntu/apt-get both/ && sed -i "s|/ubuntu/|/both/|g" both/apt-get
missing both need_to_build
is "a Debian with pacman: apt-get" "$(cut -d' ' -f1 both/calls)" apt-get

if have apt-get && apt-cache show zlib1g-dev >/dev/null 2>&1; then
	# shellcheck disable=SC2046 # words
	ok "Debian has these names, for real" apt-get -s -qq install $(sed 's/.*--no-install-recommends //' both/calls)
else
	skip "Debian has these names, for real" "no apt-get, or no lists of packages"
fi
ok "quickstart: the shell understands it" sh -n "$top/quickstart"
done_testing
