# shellcheck shell=sh
# packages.sh - what ./quickstart and ./check share: install what is missing (Debian, Ubuntu), and do the rest as the owner
# of the checkout, so that nothing of root's stays in a user's tree. To be sourced in the top folder.

need= # packages that must be there
wish= # packages whose absence only skips something

# need COMMAND-OR-FILE PACKAGE: PACKAGE is needed where the command or file is missing. wish: as well, but it is no error without.
need()
{
	if ! present "$1"; then need="$need $2"; fi
}

wish()
{
	if ! present "$1"; then wish="$wish $2"; fi
}

present()
{
	case $1 in
	/*) [ -e "$1" ] ;;
	*) command -v "$1" >/dev/null 2>&1 ;;
	esac
}

# PATH of a plain user lacks the folders of root's commands.
PATH=$PATH:/usr/sbin:/sbin

# as_root: what to put in front of a command that needs root ("" as root), or "no" when there is no way.
if [ "$(id -u)" = 0 ]; then
	as_root=
elif present sudo && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
	as_root=sudo
else
	as_root=no
fi

# as_owner: what to put in front of a command that writes in the tree.
# shellcheck disable=SC2034 # for those who source this
as_owner=
owner=$(stat -c %u .)
if [ "$(id -u)" = 0 ] && [ "$owner" != 0 ]; then
	# shellcheck disable=SC2034
	as_owner="setpriv --reuid=$owner --regid=$(stat -c %g .) --clear-groups env HOME=$(getent passwd "$owner" | cut -d: -f6)"
fi

apt_install()
{
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" </dev/null >>"$apt_log" 2>&1
}

# install_missing: says what it installs; ends the script when something needed cannot be had.
# shellcheck disable=SC2086 # lists of packages
install_missing()
{
	[ -n "$need$wish" ] || { echo "packages: all there"; return 0; }
	if ! present apt-get || [ "$as_root" = no ]; then
		if [ -n "$need" ]; then
			echo "please install:$need (this system's names may differ), then start me again" >&2
			exit 1
		fi
		echo "packages: not installed (no apt-get, or not root and no sudo):$wish"
		return 0
	fi
	echo "packages: apt-get install$need$wish"
	apt_log=$(mktemp)
	if ! apt_install $need $wish; then
		$as_root apt-get update -qq </dev/null >>"$apt_log" 2>&1
		if [ -n "$need" ] && ! apt_install $need; then
			tail -n 20 "$apt_log" >&2
			echo "could not install:$need" >&2
			exit 1
		fi
		for package in $wish; do
			apt_install "$package" || echo "packages: could not install $package (what needs it will be skipped)"
		done
	fi
	rm -f "$apt_log"
}

# What it takes to build.
need_to_build()
{
	need cc gcc
	need make make
	need /usr/include/stdio.h libc6-dev
	need /usr/include/zlib.h zlib1g-dev
	need /usr/include/libiberty/demangle.h libiberty-dev
	wish /usr/include/lzma.h liblzma-dev
	wish /usr/include/zstd.h libzstd-dev
	wish /usr/include/elfutils/libdw.h libdw-dev
	if ! ls /usr/include/*/curl/curl.h >/dev/null 2>&1; then wish="$wish libcurl4-openssl-dev"; fi
	wish /usr/include/jansson.h libjansson-dev
}

# The distribution's perf. Ubuntu's must fit the running kernel.
wish_perf()
{
	if perf --version >/dev/null 2>&1; then return; fi
	if grep -qs '^ID=ubuntu' /etc/os-release; then
		wish="$wish linux-tools-common linux-tools-$(uname -r) linux-tools-generic"
	else
		wish="$wish linux-perf"
	fi
}

# The perf to use, or nothing: Ubuntu's wrapper refuses when the kernel is another one, but any perf does for us.
find_perf()
{
	for perf in perf /usr/lib/linux-tools/*/perf; do
		if "$perf" --version >/dev/null 2>&1; then
			echo "$perf"
			return
		fi
	done
}

# What ./check needs beside.
wish_for_tests()
{
	wish prove perl
	wish timeout coreutils
	wish zsh zsh
	wish fish fish
	wish diff diffutils
	wish strace strace
	wish dwz dwz
	wish xmllint libxml2-utils
	wish mandoc mandoc
	wish shellcheck shellcheck
	wish cppcheck cppcheck
	wish clang-format clang-format
	wish clang-tidy clang-tidy
	wish ctags universal-ctags
	wish clang clang
	ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.asan-*.a >/dev/null 2>&1 || wish="$wish libclang-rt-dev"
	if ! present node; then wish="$wish nodejs"; fi
	# servers for the tests of stores: 16 MB to fetch, 28 MB more by npm
	wish clickhouse-server clickhouse-server
	wish nginx nginx-light
	wish openssl openssl
	# npm fetches playwright-core and express-pouchdb, once
	if [ ! -d build/node/node_modules/playwright-core ] || [ ! -d build/node-stores/node_modules/express-pouchdb ]; then
		wish npm npm
		wish /etc/ssl/certs/ca-certificates.crt ca-certificates
	fi
	if ! present chromium && ! present chromium-browser && ! present google-chrome; then wish="$wish chromium"; fi
	wish_perf
}

# What ./check --full needs beside that: programs of 32 bits and of aarch64, a real Tomcat, guests. gcc-multilib and the compiler for aarch64
# exclude each other, gcc-NN-multilib and that compiler do not.
wish_for_all_tests()
{
	wish ccache ccache
	wish busybox busybox-static
	wish cpio cpio
	wish ab apache2-utils
	wish /usr/share/tomcat10/bin/catalina.sh tomcat10
	wish tomcat10-instance-create tomcat10-user
	wish /usr/share/tomcat10-examples/examples tomcat10-examples
	if [ "$(uname -m)" = x86_64 ]; then
		if ! echo 'int main(void) { return 0; }' | cc -m32 -x c -o /dev/null - 2>/dev/null; then
			version=$(cc -dumpversion 2>/dev/null)
			wish="$wish gcc-${version%%.*}-multilib"
		fi
		wish aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
		wish /usr/aarch64-linux-gnu/include/stdio.h libc6-dev-arm64-cross
		wish qemu-aarch64-static qemu-user-static
		wish qemu-system-x86_64 qemu-system-x86
	fi
}

# fetch_worlds: a kernel for guests in PJ_GUEST (test/lib/guest.sh), and root file systems with JDKs of other versions in PJ_ROOTFS; 350 MB,
# once. What cannot be fetched is skipped by the tests.
fetch_worlds()
{
	PJ_GUEST=${PJ_GUEST:-/var/tmp/pj-guest}
	PJ_ROOTFS=${PJ_ROOTFS:-/var/tmp/pj-rootfs}
	export PJ_GUEST PJ_ROOTFS
	if [ "$as_root" = no ] || ! present apt-get; then return 0; fi
	if ! ls "$PJ_GUEST"/boot/vmlinuz-* >/dev/null 2>&1; then
		kernel=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: //p' | head -n 1)
		# shellcheck disable=SC2016 # for the other shell
		$as_root sh -c 'mkdir -p "$1" && cd "$1" && apt-get download -qq "$2" && dpkg -x linux-image*.deb . && rm -f linux-image*.deb' \
			fetch "$PJ_GUEST" "$kernel" >/dev/null 2>&1 || echo "packages: no kernel for guests: $kernel"
	fi
	if ! ls "$PJ_ROOTFS"/usr/lib/jvm/*/bin/java >/dev/null 2>&1; then
		$as_root sh test/jmap/rootfs.sh "$PJ_ROOTFS" >/dev/null 2>&1 || echo "packages: no JDKs for $PJ_ROOTFS"
	fi
}
