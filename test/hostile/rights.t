#!/bin/sh
# rights.t - what each process of a running pjrecord may do, read from /proc: those that parse bytes of strangers hold no capability and run
# under seccomp; those that open files hold the recorder's five at most.
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

for name in pjrecord-table pjrecord-symbol pjrecord-jvm; do
	case $name in
	pjrecord-jvm) [ -n "$jdk" ] || { skip "$name" "no JDK"; continue; } ;;
	esac
	if ! grep -q "^$name " seen; then
		fail "$name runs" seen
		continue
	fi
	ok "$name: no capability, seccomp, no new privileges" awk -v name=$name '$1 == name { n++; bad += $2 !~ /^0+$/ || $3 !~ /^0+$/ || $4 != 2 || $5 != 1 } END { exit !(n && !bad) }' seen
done
ok "no process holds more than five capabilities" awk -v five=$five '$2 !~ /^0+$/ && $2 != five { bad = 1 } END { exit bad || !NR }' seen
ok "SIGTERM is answered" ends_within 2 $recorder
done_testing
