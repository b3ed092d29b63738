# shellcheck shell=sh
# packages.sh - what ./quickstart and ./check share: install what is missing with the package manager of the system (Debian, Ubuntu, Fedora,
# Arch, Alpine), and do the rest as the owner of the checkout, so that nothing of root's stays in a user's tree. To be sourced in the top
# folder. Names of packages are those of Debian; package_name has the others.

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

# Sets $manager to the package manager of this system: apt, dnf, pacman or apk; to nothing where there is none of these. /etc/os-release
# decides where there are several (Debian packages pacman and apk, too).
find_manager()
{
	family=" $(sed -n 's/^ID\(_LIKE\)\{0,1\}=//p' "${PJ_OS_RELEASE:-/etc/os-release}" 2>/dev/null | tr -d '"' | tr '\n' ' ') "
	manager=
	case $family in
	*' debian '* | *' ubuntu '*) order='apt dnf pacman apk' ;;
	*' fedora '* | *' rhel '* | *' centos '*) order='dnf apt pacman apk' ;;
	*' arch '*) order='pacman apt dnf apk' ;;
	*' alpine '*) order='apk apt dnf pacman' ;;
	*) order='apt dnf pacman apk' ;;
	esac
	for manager in $order; do
		case $manager in apt) command=apt-get ;; *) command=$manager ;; esac
		if present "$command"; then return; fi
	done
	manager=
}

# package_name DEBIAN-NAME: the name for this package manager, or nothing where the package is none of its own
package_name()
{
	column=0
	case $manager in
	apt) echo "$1"; return ;;
	dnf) column=2 ;;
	pacman) column=3 ;;
	apk) column=4 ;;
	esac
	# Debian              Fedora                 Arch                Alpine; -: a part of another package, or none
	awk -v name="$1" -v column="$column" '$1 == name { if ($column != "-") print $column; found = 1 } END { if (!found) print name }' <<-'END'
		gcc                  gcc                    gcc                 gcc
		libc6-dev            glibc-devel            glibc               musl-dev
		linux-libc-dev       kernel-headers         linux-api-headers   linux-headers
		zlib1g-dev           zlib-devel             zlib                zlib-dev
		libiberty-dev        binutils-devel         binutils            binutils-dev
		liblzma-dev          xz-devel               xz                  xz-dev
		libzstd-dev          libzstd-devel          zstd                zstd-dev
		libdw-dev            elfutils-devel         libelf              elfutils-dev
		libcurl4-openssl-dev libcurl-devel          curl                curl-dev
		libjansson-dev       jansson-devel          jansson             jansson-dev
		linux-perf           perf                   perf                perf
		perl                 perl                   perl                perl-utils
		libxml2-utils        libxml2                libxml2             libxml2-utils
		shellcheck           ShellCheck             shellcheck          shellcheck
		clang-format         clang-tools-extra      clang               clang-extra-tools
		clang-tidy           clang-tools-extra      clang               clang-extra-tools
		universal-ctags      ctags                  ctags               ctags
		libclang-rt-dev      compiler-rt            compiler-rt         compiler-rt
		clickhouse-server    -                      clickhouse          -
		nginx-light          nginx                  nginx               nginx
		busybox-static       busybox                busybox             busybox-static
		golang-github-containers-common containers-common containers-common containers-common
		python3-yaml         python3-pyyaml         python-yaml         py3-yaml
		apache2-utils        httpd-tools            apache              apache2-utils
		tomcat10             tomcat                 tomcat10            -
		tomcat10-user        -                      -                   -
		tomcat10-examples    tomcat-webapps         -                   -
		gcc-aarch64-linux-gnu gcc-aarch64-linux-gnu aarch64-linux-gnu-gcc -
		libc6-dev-arm64-cross -                     aarch64-linux-gnu-glibc -
		qemu-user-static     qemu-user-static       qemu-user-static    qemu-aarch64
		qemu-system-x86      qemu-system-x86        qemu-system-x86     qemu-system-x86_64
	END
}

# package_names DEBIAN-NAME...: the names for this package manager
package_names()
{
	for package in "$@"; do package_name "$package"; done | awk '!seen[$0]++' | tr '\n' ' '
}

# The command that installs packages, and the one that fetches the lists of packages.
install_command()
{
	case $manager in
	apt) echo "env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends" ;;
	dnf) echo "dnf install -y -q --setopt=install_weak_deps=False" ;;
	pacman) echo "pacman -S --noconfirm --needed --noprogressbar" ;;
	apk) echo "apk add --no-progress" ;;
	esac
}

update_command()
{
	case $manager in
	apt) echo "apt-get update -qq" ;;
	dnf) echo "dnf makecache -q" ;;
	pacman) echo "pacman -Sy --noprogressbar" ;;
	apk) echo "apk update -q" ;;
	esac
}

# install_packages DEBIAN-NAME...
# shellcheck disable=SC2046 # words
install_packages()
{
	names=$(package_names "$@")
	[ -n "$names" ] || return 1
	# shellcheck disable=SC2086 # lists
	$as_root $(install_command) $names </dev/null >>"$install_log" 2>&1
}

# install_missing: says what it installs; ends the script when something needed cannot be had.
# shellcheck disable=SC2046,SC2086 # lists of packages
install_missing()
{
	[ -n "$need$wish" ] || { echo "packages: all there"; return 0; }
	find_manager
	if [ -z "$manager" ] || [ "$as_root" = no ]; then
		if [ -n "$need" ]; then
			if [ -n "$manager" ]; then
				echo "please install, as root: $(install_command) $(package_names $need)" >&2
			else
				echo "please install:$need (names of Debian; this system's may differ), then start me again" >&2
			fi
			exit 1
		fi
		echo "packages: not installed (no package manager, or not root and no sudo):$wish"
		return 0
	fi
	echo "packages: $manager: $(package_names $need $wish)"
	install_log=$(mktemp)
	if ! install_packages $need $wish; then
		$as_root $(update_command) </dev/null >>"$install_log" 2>&1
		if [ -n "$need" ] && ! install_packages $need; then
			tail -n 20 "$install_log" >&2
			echo "could not install: $(package_names $need)" >&2
			exit 1
		fi
		for package in $wish; do
			install_packages "$package" || echo "packages: could not install $package (what needs it will be skipped)"
		done
	fi
	rm -f "$install_log"
}

# What it takes to build.
need_to_build()
{
	need cc gcc
	need make make
	need /usr/include/stdio.h libc6-dev
	need /usr/include/linux/perf_event.h linux-libc-dev
	need /usr/include/zlib.h zlib1g-dev
	need /usr/include/libiberty/demangle.h libiberty-dev
	wish /usr/include/lzma.h liblzma-dev
	wish /usr/include/zstd.h libzstd-dev
	wish /usr/include/elfutils/libdw.h libdw-dev
	curl=$(ls /usr/include/curl/curl.h /usr/include/*/curl/curl.h 2>/dev/null | head -n 1)
	wish "${curl:-/usr/include/curl/curl.h}" libcurl4-openssl-dev
	wish /usr/include/jansson.h libjansson-dev
}

# The distribution's perf. Ubuntu's must fit the running kernel.
wish_perf()
{
	if perf --version >/dev/null 2>&1; then return; fi
	if grep -qs '^ID=ubuntu' "${PJ_OS_RELEASE:-/etc/os-release}"; then
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

# What ./check --full needs beside that: programs of 32 bits and of aarch64, a real Tomcat, guests, runtimes of other languages. gcc-multilib and the compiler for aarch64
# exclude each other, gcc-NN-multilib and that compiler do not.
wish_for_all_tests()
{
	wish ccache ccache
	wish runc runc
	wish /usr/share/containers/seccomp.json golang-github-containers-common
	wish /usr/lib/python3/dist-packages/yaml python3-yaml
	wish busybox busybox-static
	wish cpio cpio
	wish ab apache2-utils
	# packages and images (test/packaging)
	wish dh debhelper
	wish lintian lintian
	wish rpmbuild rpm
	wish rpmlint rpmlint
	wish debootstrap debootstrap
	wish buildah buildah
	wish runc runc
	wish /usr/share/tomcat10/bin/catalina.sh tomcat10
	wish tomcat10-instance-create tomcat10-user
	# record-complete.t and languages.t: 700 MB on the disk, most of them of the compilers of Go and Rust
	wish go golang-go
	wish rustc rustc
	wish php php-cli
	wish ruby ruby
	wish erl erlang-base
	wish mcs mono-mcs
	wish mono mono-runtime
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
