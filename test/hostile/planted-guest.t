#!/bin/sh
# planted-guest.t - as planted.t, inside a guest whose kernel protects links, FIFOs and files of others in shared folders: first as
# distributions have it (1), then as strictly as it can (2). These sysctls are never changed on the machine that runs the test.
# stage: live
# full: boots a virtual machine
# covers: common/files/outpath.c common/files/tempfile.c record/windows/windir.c jmap/perfmap/mapfile.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/guest.sh
. "$top/test/lib/guest.sh"

build=${PJ_BUILD:-$top/build/std-cc}
case $build in /*) ;; *) build=$top/$build ;; esac
seed=${PJ_SEED:-$(($(date +%s) % 1000000))}
echo "# PJ_SEED=$seed"
guest_need
for tool in pjfold pjsvg pjdiff pjfetch pjsend pjrecord pjmap pjflame; do
	[ ! -e "$build/bin/$tool" ] || guest_add "$build/bin/$tool" "/bin/$tool"
done
guest_add "$build/test/hostile/plant" /bin/plant
guest_add "$top/test/hostile/planted.sh" /planted.sh
guest_boot 400 <<END >results
for how in 1 2; do
	for sysctl in protected_symlinks protected_hardlinks protected_fifos protected_regular; do
		echo \$how >/proc/sys/fs/\$sysctl 2>/dev/null || echo 1 >/proc/sys/fs/\$sysctl
	done
	echo "# fs.protected_*: \$(cat /proc/sys/fs/protected_* | tr '\n' ' ')"
	mkdir /tmp/t
	PJ_SEED=$seed sh /planted.sh /bin/plant /tmp/t 1 2>&1 | sed "s/\$/, fs.protected_* = \$how/"
	rm -rf /tmp/t
done
END
is "the guest ran to its end" $? 0
while read -r line; do
	case $line in
	'ok '*) pass "${line#ok }" ;;
	'not ok '*) fail "${line#not ok }" ;;
	*) echo "# ${line#\# }" ;;
	esac
done <results
is "both runs did" "$(grep -c '^ok nothing is left behind' results)" 2
done_testing
