#!/bin/sh
# jvmhang.t - JVMs whose memory lies on a file system that does not answer: pjmap follows the genuine JVMs beside them all the time, also one
# that starts later, names those that hang, tries them again later and later, and ends when it is told to; --list and --once end, too.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: jmap/reader/jvmhandle.c jmap/followed.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"
# shellcheck source=test/hostile/java.sh
. "$PJ_TOP/test/hostile/java.sh"
mknod "$arena/fuse" c 10 229 2>/dev/null && chmod 666 "$arena/fuse" && [ -e /sys/fs/fuse ] || skip_all "no FUSE"

begin_java
first=$genuine
count=$((2 + seed % 4))
hang=$(program fakejvm)
(cd "$arena" && PJ_SEED=$seed exec timeout -s KILL $((attack_secs + 90)) "$hang" hang $count) >"$arena/log" 2>&1 &
attacks="$attacks $!"
until_true grep -q ready "$arena/log"
mkdir maps.d to
pjmap -i 0.5 -d maps.d --to to 2>err &
map=$!
started="$started $map"
ok "the genuine JVM is followed beside $count that do not answer" until_true has_records "$first"
begin_java
ok "  and one that starts later" until_true has_records "$genuine"
ok "  with its map" until_true test -s "to/perf-$genuine.map"
secs=$(((attack_secs + 1) / 2))
for pid in $first $genuine; do
	seen=$(scans "$pid" $secs)
	ok "  JVM $pid is looked at all the time: $seen times in $secs s" [ "$seen" -ge $secs ] # every 0.5 s on a machine at rest
done
ok "those that hang are named" until_true grep -q ' hangs: ' err
helpers=0
for pid in $(descendants "$map"); do
	[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != pjmap-jvm ] || helpers=$((helpers + 1))
done
# 8 that were killed and are blocked, 4 that are waited for, and those of two genuine JVMs and of the attacker's first process
ok "  and have few processes: $helpers in all" [ $helpers -le 15 ]
ok "SIGTERM ends it within 2 s" ends_within 2 "$map"
ok "  and it counts them" grep -q ' scans hung' err
timeout 60 pjmap --list >list 2>list.err
ok "--list ends" [ $? -ne 124 ]
ok "  and lists the genuine JVM" grep -qE "^$first .* ok " list
timeout 60 pjmap --once --to to "$first" 2>once.err
is "--once: status" $? 0
done_testing
