#!/bin/sh
# rights.t - what each process of a running pjrecord may do, read from the kernel: those that parse bytes of strangers hold no capability, may
# make 25 system calls at most, and have limits of memory; those that open files hold the recorder's five at most.
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/tap.sh
. "$PJ_TOP/test/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"

five=0000004400084004 # DAC_READ_SEARCH, IPC_LOCK, SYS_PTRACE, SYSLOG, PERFMON

# rights PID: NAME, CapEff, CapPrm, Seccomp, NoNewPrivs of a process
rights()
{
	awk '/^Name:|^CapEff:|^CapPrm:|^Seccomp:|^NoNewPrivs:/ { value[$1] = $2 }
		END { if (NR) print value["Name:"], value["CapEff:"], value["CapPrm:"], value["Seccomp:"], value["NoNewPrivs:"] }' "/proc/$1/status" 2>/dev/null
}

# calls PID: how many system calls a process may make, from the kernel's copy of its filter; -1: it has none
calls()
{
	"$build/test/hostile/allowed" "$1" 2>>allowed.err | awk '{ print $2 }'
}

# limits PID: NAME, address space in bytes, whether it is the kernel's first victim when memory runs out, largest resident size in kB
limits()
{
	printf '%s %s %s %s\n' "$(cat "/proc/$1/comm" 2>/dev/null)" "$(awk '/^Max address space/ { print $4 }' "/proc/$1/limits" 2>/dev/null)" \
		"$(cat "/proc/$1/oom_score_adj" 2>/dev/null)" "$(peak_kb "$1")"
}

jdk=$(find /usr/lib/jvm -maxdepth 3 -name java -path '*/bin/*' 2>/dev/null | sort | head -n 1)
if [ -n "$jdk" ]; then
	cp "$PJ_TOP/test/jmap/Work.java" "$PJ_TOP/examples/Demo.java" . 2>/dev/null
	"$jdk" Demo.java >/dev/null 2>&1 &
	attacks="$attacks $!"
fi
pjrecord --all -F 199 --window=2 --dir=out >/dev/null 2>log &
recorder=$!
attacks="$attacks $recorder"

# saw NAME: a helper process of that name runs
saw()
{
	for pid in $(descendants $recorder); do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != "$1" ] || return 0
	done
	return 1
}
for _ in $(seq 150); do
	! saw pjrecord-table || { [ -n "$jdk" ] && ! saw pjrecord-jvm; } || break
	sleep 0.2
done
sleep 3
for pid in $(descendants $recorder); do rights "$pid"; done | sort -u >seen
sed 's/^/# /' seen
for pid in $(descendants $recorder); do
	echo "$(cat "/proc/$pid/comm" 2>/dev/null) $(calls "$pid")" >>calls
	limits "$pid" >>limits
done
sed 's/^/# calls: /' calls
sed 's/^/# limits: /' limits

for helper in pjrecord-table pjrecord-symbol pjrecord-jvm; do
	case $helper in
	pjrecord-jvm) [ -n "$jdk" ] || { skip "$helper" "no JDK"; continue; } ;;
	esac
	if ! grep -q "^$helper " seen; then
		fail "$helper runs" seen
		continue
	fi
	ok "$helper: no capability, seccomp, no new privileges" awk -v name=$helper '$1 == name { n++; bad += $2 !~ /^0+$/ || $3 !~ /^0+$/ || $4 != 2 || $5 != 1 } END { exit !(n && !bad) }' seen
	if grep -q 'allowed: .*\(permitted\|supported\|implemented\)' allowed.err; then
		skip "  25 system calls at most" "$(head -n 1 allowed.err)"
	else
		ok "  25 system calls at most" awk -v name=$helper '$1 == name { n++; bad += $2 < 1 || $2 > 25 } END { exit !(n && !bad) }' calls
	fi
	# 128 MB resident; pjrecord-jvm has 256 MB of addresses
	ok "  limits of memory, and the first to be ended for it" awk -v name=$helper '$1 == name { n++; bad += $2 !~ /^[0-9]+$/ || $2 > 300 * 2^20 || $3 != 1000 || $4 > 128 * 1024 } END { exit !(n && !bad) }' limits
done
ok "no process holds more than five capabilities" awk -v five=$five '$2 !~ /^0+$/ && $2 != five { bad = 1 } END { exit bad || !NR }' seen
ok "SIGTERM is answered" ends_within 2 $recorder
done_testing
