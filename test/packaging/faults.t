#!/bin/sh
# faults.t - a package that cannot be installed: a read-only /usr, a disk that is full before an upgrade and one that fills during it. Each has a
# message with the remedy, and leaves the installed version as it was. The same for make install and, if rpm is installed, for the rpm.
# stage: live
# full: makes root file systems
# covers: packaging/deb.sh packaging/rpm.sh packaging/pj.spec.in
# PJ_DEB, PJ_RPM: folders with the packages that make deb and make rpm made there before.
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/dists.sh
. "$top/test/lib/dists.sh"
[ "$(id -u)" = 0 ] || skip_all "not root"
have dh || skip_all "debhelper is not installed"
unshare -m true 2>/dev/null || skip_all "no mount namespaces"
git -C "$top" rev-parse HEAD >said 2>&1 || skip_all "not a git checkout"
dists_base bookworm || skip_all "$why"
unset MAKEFLAGS MAKELEVEL SAN
root=$scratch/root
clean_up()
{
	while umount "$root/usr" 2>/dev/null; do :; done
	umount -l "$root/usr.small" 2>/dev/null
	dists_leave "$root"
	rm -rf --one-file-system "$scratch"
}
trap clean_up EXIT

if [ -n "${PJ_DEB:-}" ]; then cp -R "$PJ_DEB" deb; else ok "make deb" env PJ_DEB="$scratch/deb" make -s -C "$top" deb; fi
deb=$(ls deb/pj_*.deb 2>/dev/null)
[ -n "$deb" ] || done_testing
dists_enter bookworm "$root" || { fail "a root file system"; done_testing; }
inside "$root" 'apt-get -qq update && apt-get install -y -qq --no-install-recommends adduser libdw1 libjansson4 libcurl4' >apt.log 2>&1 || skip_all "apt-get: $(tail -n 1 apt.log)"
cp "$deb" "$root/root/pj.deb"
ok "the package is installed" inside "$root" 'dpkg -i /root/pj.deb'

# a package of a higher version; and one whose files are 12 MB larger
dpkg-deb -R "$deb" tree
sed -i 's/^Version: .*/Version: 99.0-1/' tree/DEBIAN/control
dpkg-deb -b tree "$root/root/next.deb" >said
kb=$(dpkg-deb -f "$deb" Installed-Size)
ok "12288 kB, which the package wants, are enough for its $kb kB beside the old files" test $((2 * kb)) -le 12288
head -c 12000000 /dev/urandom >tree/usr/share/doc/pj/large
dpkg-deb -Znone -b tree "$root/root/large.deb" >said
state() { inside "$root" "dpkg-query -W -f '\${Status} \${Version}\n' pj; pjfold --version; cd / && find usr -xdev ! -type d -exec ls -ld --time-style=+ {} + | sort"; }
state >before

# as_it_was NAME: the installed version works, and no file is another one
as_it_was()
{
	state >after
	same "$1" after before
}

# ---- a read-only /usr

mount --bind "$root/usr" "$root/usr" && mount -o remount,ro,bind "$root/usr"
inside "$root" 'dpkg -i /root/next.deb' >said 2>&1
is "an upgrade on a read-only /usr: status" $? 1
ok "  the remedy" grep -q '^pj: /usr is read-only, nothing is changed: mount -o remount,rw /usr, and repeat; or unpack pj-.*-static.tar.gz' said
as_it_was "  the installed version stays"
umount "$root/usr"
mkdir -p prefix/bin
mount --bind prefix prefix && mount -o remount,ro,bind prefix
make -s -o all -C "$top" install PREFIX="$scratch/prefix" >said 2>&1
ok "make install into a read-only folder: the remedy" grep -q "^make install: .*/prefix/bin cannot be written: .*PREFIX=\$HOME/.local" said
umount prefix

# ---- a full disk

# leave KB: /usr has so much room; the name of its device has a blank
leave()
{
	rm -f "$root/usr/filler"
	free=$(stat -f -c '%f %S' "$root/usr" | awk '{ printf "%.0f", int($1 * $2 / 1024) }')
	head -c $(((free - $1) * 1024)) /dev/zero >"$root/usr/filler"
}
mkdir "$root/usr.small"
mount -t tmpfs -o size=$(($(du -xsk "$root/usr" | cut -f1) + 65536))k "a disk" "$root/usr.small" && cp -a "$root/usr/." "$root/usr.small/" && mount --bind "$root/usr.small" "$root/usr"
leave 2000
state >before
inside "$root" 'dpkg -i /root/next.deb' >said 2>&1
is "an upgrade on a full disk: status" $? 1
ok "  the remedy" grep -q '^pj: /usr has [0-9]* kB free, 12288 are needed, nothing is changed: free them (apt-get clean; .*), and repeat' said
as_it_was "  the installed version stays"
leave 13000
state >before
inside "$root" 'dpkg -i /root/large.deb' >said 2>&1
is "a disk that fills during an upgrade: status" $? 1
ok "  dpkg names it" grep -q 'No space left on device' said
as_it_was "  the installed version stays"
ok "  nothing is left of the new one" not sh -c 'find "$1" -xdev -name "*.dpkg-new" -o -xdev -name "*.dpkg-tmp" | grep .' - "$root/usr"
rm "$root/usr/filler"
ok "  with room it is installed" inside "$root" 'dpkg -i /root/large.deb && pjfold --version'
umount "$root/usr"
umount "$root/usr.small"
rmdir "$root/usr.small"
ok "purge" inside "$root" 'dpkg --purge pj'

# ---- the rpm, in the same root file system: what it needs comes from Debian there, so dependencies are not checked

if have rpmbuild; then
	if [ -n "${PJ_RPM:-}" ]; then cp -R "$PJ_RPM" rpm; else ok "make rpm" env PJ_RPM="$scratch/rpm" make -s -C "$top" rpm; fi
	rpm=$(ls rpm/pj-*.rpm 2>/dev/null)
	in_root() { rpm --root "$root" "$@"; }
	# folders of others are on each host of rpm: those of sysusers, licenses and shells
	left() { find "$root/usr" "$root/etc" -xdev \( ! -type d -o -name 'pj*' \) ! -path '*/usr/lib/sysimage*' | LC_ALL=C sort; }
	left >before
	in_root --initdb
	ok "rpm -i into a root file system" in_root -i --nodeps "$rpm"
	for tool in $(cd "$top" && echo */pj*.c | tr ' ' '\n' | sed 's|.*/||; s/[.]c$//') pjflame pjprofile; do
		ok "rpm: $tool --version" inside "$root" "$tool --version"
	done
	ok "rpm: all files are as packaged" in_root -V --nodeps pj
	is "rpm: the user pj" "$(inside "$root" 'id -un pj; getent passwd pj | cut -d: -f6' | tr '\n' ' ')" "pj /var/lib/pj "
	cp "$top/examples/sample.script.gz" "$root/root/"
	ok "rpm: a picture" inside "$root" 'cd /root && pjfold -q sample.script.gz | pjsvg >sample.svg && grep -q parse_value sample.svg'
	ok "rpm: a window of pjrecord, folded by the user pj" inside "$root" 'install -d -o pj -g pj /var/lib/pj && pjrecord -q --once -w 1 -d /var/lib/pj --user=pj >/tmp/w && pjfold -q "$(cat /tmp/w)" >/dev/null'
	mount --bind "$root/usr" "$root/usr" && mount -o remount,ro,bind "$root/usr"
	in_root -U --nodeps --force "$rpm" >said 2>&1
	is "rpm: an upgrade on a read-only /usr: status" "$([ $? = 0 ]; echo $?)" 1
	ok "  rpm itself names the file system, which INSTALL.md explains" sh -c 'grep -q "needs .* more space on the .* filesystem" said && grep -q "needs N MB more space on the / filesystem" "$1"' - "$top/docs/INSTALL.md"
	ok "  the installed version stays" inside "$root" 'pjfold --version'
	umount "$root/usr"
	ok "rpm: the same version again" in_root -U --nodeps --force "$rpm"
	ok "rpm -e" in_root -e --nodeps pj
	left >after
	is "rpm: nothing is left" "$(diff before after | grep '^[<>]')" "" # the user pj stays, as Fedora's rules demand
else
	skip "make rpm" "rpmbuild is not installed"
fi
done_testing
