#!/bin/sh
# deb.t - make deb, and the package in fresh root file systems of Debian releases: apt install, the tools, a picture of a C program and of a
# JVM, upgrade, purge. The static program runs in each of them, too.
# stage: live
# full: makes root file systems
# covers: packaging/deb.sh packaging/static.sh packaging/multicall.c
# PJ_SUITES: releases of Debian (bookworm; --soak: bookworm trixie bullseye); the package of a release that is older than this machine is built inside of it (bullseye).
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/dists.sh
. "$top/test/lib/dists.sh"
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
suites=${PJ_SUITES:-bookworm}
[ "$(id -u)" = 0 ] || skip_all "not root"
have dh || skip_all "debhelper is not installed"
have debootstrap || skip_all "debootstrap is not installed"
git -C "$top" rev-parse HEAD >said 2>&1 || skip_all "not a git checkout"
unset MAKEFLAGS MAKELEVEL SAN
root=
clean_up()
{
	if [ -n "$root" ]; then dists_leave "$root"; fi
}

# PJ_DEB: a folder with the package that make deb made there before
if [ -n "${PJ_DEB:-}" ]; then
	cp -R "$PJ_DEB" deb
	echo "# $PJ_DEB is not built again"
else
	ok "make deb; lintian finds nothing" env PJ_DEB="$scratch/deb" make -s -C "$top" deb
fi
sed 's/^/# /' deb/lintian.log 2>/dev/null
have lintian || skip "lintian" "lintian is not installed"
deb=$(ls "$scratch"/deb/pj_*.deb 2>/dev/null)
[ -n "$deb" ] || done_testing

# repack VERSION: the package under a higher version, for an upgrade
repack()
{
	rm -rf repacked
	dpkg-deb -R "$1" repacked && sed -i "s/^Version: .*/Version: $2/" repacked/DEBIAN/control && dpkg-deb -b repacked "pj_$2.deb" >said
}

# what a purge must leave as it was: all files, but caches, logs and dpkg's own, and users
state()
{
	(cd "$1" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./var/cache -o -path ./var/log -o -path ./var/lib/apt \
		-o -path ./var/lib/dpkg -o -path ./tmp -o -path ./root -o -path ./run -o -path ./var/lib/systemd \) -prune -o -print | LC_ALL=C sort)
	cat "$1/etc/passwd" "$1/etc/group"
}

# named PICTURE NAME...: the picture has frames of these names
named()
{
	picture=$1
	shift
	for frame in "$@"; do grep -q "$frame" "$picture" || { echo "$picture has no $frame"; return 1; }; done
}

cc -O1 -g -static -fno-omit-frame-pointer -pthread -o demo "$top/examples/demo.c" || skip_all "the demo cannot be linked statically"
java=
for jdk in $jdks; do java=$jdk/bin/java; done
if [ -n "$java" ]; then "$java" "$top/examples/Demo.java" 600 >said 2>&1 & started=$!; fi

for suite in $suites; do
	if ! dists_base "$suite"; then
		skip "$suite" "$why"
		continue
	fi
	root=$scratch/$suite
	dists_enter "$suite" "$root" || { fail "$suite: a root file system"; continue; }
	package=$deb
	if ! inside "$root" 'apt-get -qq update' >said 2>&1; then
		skip "$suite" "apt-get update: $(tail -n 1 said)"
		dists_leave "$root"
		continue
	fi
	cp "$package" "$root/tmp/pj.deb"
	if ! inside "$root" 'apt-get install -s --no-install-recommends /tmp/pj.deb' >said 2>&1 && grep -q 'libc6 (>=' said; then
		# its C library is older
		ok "$suite: built inside of it" env PJ_IN="$root" PJ_DEB="$scratch/deb-$suite" make -s -C "$top" deb
		dists_leave "$root"
		dists_enter "$suite" "$root"
		inside "$root" 'apt-get -qq update' >said 2>&1
		package=$(ls "$scratch/deb-$suite"/pj_*.deb 2>/dev/null)
		[ -n "$package" ] || { dists_leave "$root"; continue; }
		cp "$package" "$root/tmp/pj.deb"
	fi
	# libraries first: a purge leaves them to autoremove
	inside "$root" 'apt-get install -y -qq --no-install-recommends adduser libcurl4 && apt-get install -y -qq --no-install-recommends /tmp/pj.deb &&
		apt-get purge -y -qq pj' >first.log 2>&1
	state "$root" >before
	ok "$suite: apt install" inside "$root" 'apt-get install -y -qq --no-install-recommends /tmp/pj.deb'
	for tool in $(cd "$top" && echo */pj*.c | tr " " "\n" | sed "s|.*/||; s/[.]c$//") pjflame; do
		ok "$suite: $tool --version" inside "$root" "$tool --version && $tool --help"
	done
	is "$suite: the user pj" "$(inside "$root" 'id -un pj; getent passwd pj | cut -d: -f6' | tr '\n' ' ')" "pj /var/lib/pj "
	is "$suite: no service is enabled" "$(find "$root/etc/systemd" -name 'pj*' 2>/dev/null)" ""
	is "$suite: the units are there" "$(find "$root/usr/lib/systemd/system" "$root/lib/systemd/system/" -name 'pjrecord.service' | wc -l)" "$(if [ -L "$root/lib" ]; then echo 2; else echo 1; fi)"
	cp demo "$root/tmp/demo"
	ok "$suite: pjflame of a C program" inside "$root" 'cd /tmp && pjflame -o demo.svg --folded=demo.folded ./demo 3 && test -s demo.svg'
	ok "$suite:   has its functions" named "$root/tmp/demo.folded" parse_value next_random sort_results
	if [ -n "$java" ]; then
		ok "$suite: pjflame of a JVM" inside "$root" "cd /tmp && pjflame -p $started -s 3 -o jvm.svg --folded=jvm.folded"
		ok "$suite:   has Java methods, and their callers in libjvm and libc" named "$root/tmp/jvm.folded" 'Demo[.]main' 'start_thread;.*libjvm.*;Demo[.]main'
	else
		skip "$suite: pjflame of a JVM" "no JDK below /usr/lib/jvm"
	fi
	ok "$suite: a window of pjrecord, folded by the user pj" inside "$root" 'install -d -o pj -g pj /var/lib/pj && pjrecord -q --once -w 1 -d /var/lib/pj --user=pj >/tmp/w && test -s "$(cat /tmp/w)"'
	repack "$package" 99.0-1
	cp pj_99.0-1.deb "$root/tmp/"
	ok "$suite: upgrade" inside "$root" 'apt-get install -y -qq /tmp/pj_99.0-1.deb && test -d /var/lib/pj/out'
	ok "$suite:   and back" inside "$root" 'apt-get install -y -qq --allow-downgrades /tmp/pj.deb && pjfold --version'
	ok "$suite: a part of it is missing: pjflame names it" sh -c 'mv "$1/usr/bin/pjsvg" "$1/usr/bin/away" && ! chroot "$1" pjflame -s 1 2>"$2" && grep -q "not found: pjsvg" "$2" && mv "$1/usr/bin/away" "$1/usr/bin/pjsvg"' - "$root" "$scratch/missing"
	ok "$suite: purge" inside "$root" 'apt-get purge -y -qq pj'
	state "$root" >after
	same "$suite: purge leaves nothing" after before
	if [ -x "$top/build/static/pj" ]; then
		mkdir "$root/opt/static"
		cp -P "$top"/build/static/pj "$top"/build/static/pjflame "$root/opt/static/"
		find "$top/build/static" -type l -exec cp -P {} "$root/opt/static/" \;
		ok "$suite: the static program" inside "$root" 'cd /tmp && rm -f demo.svg demo.folded && /opt/static/pjflame -o demo.svg --folded=demo.folded ./demo 3'
		ok "$suite:   has the functions" named "$root/tmp/demo.folded" parse_value next_random sort_results
		ok "$suite:   --user=nobody" inside "$root" 'cd /tmp && mkdir -p n && chmod 777 n && /opt/static/pjrecord -q --once -w 1 -d /tmp/n --user=nobody'
	else
		skip "$suite: the static program" "make static has not been run"
	fi
	dists_leave "$root"
done
root=
done_testing
