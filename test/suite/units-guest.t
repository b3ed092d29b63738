#!/bin/sh
# units-guest.t - the units of examples/ under systemd as PID 1 of a guest: installed as docs/units.md shows, beside a JVM, until windows were
# written and sent; killed, and stopped as pj.target. Then with a system call filter that kills: no call is made that it forbids.
# full: boots a virtual machine
# once: sanitizers make more system calls than the units allow, and are slow in an emulated machine
# covers: record/pjrecord.c jmap/pjmap.c send/pjsend.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
PJ_GUEST_MB=${PJ_GUEST_MB:-1536}
# shellcheck source=test/lib/guest.sh
. "$PJ_TOP/test/lib/guest.sh"

part=${PJ_GUEST_PART:-units-guest} # units-python-guest.t has another one
build=${PJ_BUILD:-$top/build/std-cc}
case $build in /*) ;; *) build=$top/$build ;; esac
for tool in pjrecord pjmap pjsend pjfold pjfetch pjsvg; do
	[ -x "$build/bin/$tool" ] || skip_all "$tool is not built"
done
systemd=/usr/lib/systemd
case $build in */san-*) skip_all "sanitizers make more system calls than the units allow, and are slow in an emulated machine" ;; esac
if [ ! -x $systemd/systemd ] || ! have systemctl || ! have journalctl; then skip_all "systemd is not installed"; fi

# /bin is a link, as systemd expects it
mkdir -p "$guest_tree/usr/bin" "$guest_tree/usr/sbin" "$guest_tree/usr/lib" "$guest_tree/usr/lib64"
for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$guest_tree/$folder"; done
guest_need

# ---- systemd of this machine, with no units but its targets and those that the targets need

for program in systemd systemd-journald systemd-shutdown systemd-cgroups-agent; do guest_add $systemd/$program; done
for program in systemctl journalctl systemd-sysusers systemd-tmpfiles; do guest_add "$(command -v $program)" /usr/bin/$program; done
mkdir -p "$guest_tree$systemd/system" "$guest_tree/etc/systemd/system/multi-user.target.wants" "$guest_tree/var/log" "$guest_tree/var/lib" "$guest_tree/run" \
	"$guest_tree/home" "$guest_tree/usr/local/bin" "$guest_tree/var/tmp"
cp -P $systemd/system/*.target $systemd/system/*.slice $systemd/system/systemd-journald* "$guest_tree$systemd/system/"
mkdir "$guest_tree$systemd/system/sysinit.target.wants" "$guest_tree$systemd/system/sockets.target.wants"
ln -s ../systemd-journald.service "$guest_tree$systemd/system/sysinit.target.wants/"
ln -s ../systemd-journald.socket ../systemd-journald-dev-log.socket "$guest_tree$systemd/system/sockets.target.wants/"
printf '0123456789abcdef0123456789abcdef\n' >"$guest_tree/etc/machine-id"
printf 'NAME=guest\nID=guest\n' >"$guest_tree/etc/os-release"
printf 'guest\n' >"$guest_tree/etc/hostname"
: >"$guest_tree/etc/fstab"
printf 'passwd: files\ngroup: files\n' >"$guest_tree/etc/nsswitch.conf"
cat >"$guest_tree/etc/systemd/system/test.service" <<'UNIT'
[Unit]
Description=Script of the test
[Service]
ExecStart=/bin/sh -c 'stty -F /dev/ttyS1 raw; sh /script >/dev/ttyS1 2>&1; echo "guest-status $?" >/dev/ttyS1; poweroff -f'
Environment=PATH=/usr/local/bin:/usr/bin:/bin HOME=/root
StandardError=journal+console
UNIT
ln -s ../test.service "$guest_tree/etc/systemd/system/multi-user.target.wants/test.service"
ln -s $systemd/system/multi-user.target "$guest_tree/etc/systemd/system/default.target"
guest_init=$systemd/systemd
guest_append="systemd.show_status=0 systemd.unified_cgroup_hierarchy=1"

# ---- what a host has: the tools, the units, a JVM

for tool in pjrecord pjmap pjsend pjfold pjfetch pjsvg; do guest_add "$build/bin/$tool" "/usr/local/bin/$tool"; done
for unit in pjrecord pjmap pjsend; do cp "$top/examples/$unit.service" "$guest_tree/etc/systemd/system/"; done
cp "$top/examples/pj.target" "$guest_tree/etc/systemd/system/"
mkdir -p "$guest_tree/usr/lib/sysusers.d" "$guest_tree/usr/lib/tmpfiles.d"
cp "$top/examples/pj.sysusers" "$guest_tree/usr/lib/sysusers.d/pj.conf"
cp "$top/examples/pj.tmpfiles" "$guest_tree/usr/lib/tmpfiles.d/pj.conf"
if [ "$part" = units-python-guest ]; then
	python=$(python3 -S -c 'import os, sys; print(os.path.realpath(sys.executable), os.path.dirname(os.__file__))' 2>/dev/null)
	modules=${python##* } python=${python%% *}
	case ${python##*/} in python3.8 | python3.9 | python3.1[0-5]) ;; *) skip_all "no Python from 3.8 to 3.15" ;; esac
	guest_add "$python"
	mkdir -p "$guest_tree$modules" "$guest_tree/opt/python"
	cp -R "$modules/encodings" "$modules"/*.py "$guest_tree$modules/"
	printf 'def inner(n):\n    return sum(str(i) != "" for i in range(n))\nwhile True:\n    inner(2000)\n' >"$guest_tree/opt/python/spin.py"
	echo "$python" >"$guest_tree/opt/python/program"
fi
java=
for home in /usr/lib/jvm/*; do
	if [ "$part" != units-guest ] || [ -n "$java" ] || [ -L "$home" ] || [ ! -x "$home/bin/jlink" ] || [ ! -e "$home/jmods/java.base.jmod" ]; then continue; fi
	"$home/bin/jlink" --add-modules java.base --strip-debug --no-header-files --no-man-pages --output "$guest_tree/opt/java" >jlink.log 2>&1 || continue
	mkdir "$guest_tree/opt/work"
	cat >Work.java <<-'JAVA'
		public class Work {
			static int sum;
			static void add(int n) { for (int i = 0; i < n; i++) sum += i ^ sum; }
			public static void main(String[] a) { for (;;) add(1000); }
		}
	JAVA
	"$home/bin/javac" -d "$guest_tree/opt/work" Work.java || continue
	for library in "$guest_tree"/opt/java/bin/java "$guest_tree"/opt/java/lib/server/libjvm.so; do guest_add_libraries "$library"; done
	java=yes
done

guest_add "$(command -v nice)" /usr/bin/nice # busybox may lack it
cat "$PJ_TOP/test/suite/units-guest-lib.sh" "$PJ_TOP/test/suite/$part.sh" >script
guest_boot "${PJ_GUEST_SECS:-1100}" <script >results
status=$?
is "the guest ran to its end" $status 0
[ $status = 0 ] || sed 's/^/# /' "$scratch/guest.console" | tail -n 40
while IFS= read -r line; do
	case $line in
	'ok '*) pass "${line#ok }" ;;
	'not ok '*) fail "${line#not ok }" ;;
	*) echo "# ${line#\# }" ;;
	esac
done <results
done_testing
