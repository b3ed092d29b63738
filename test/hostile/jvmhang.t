#!/bin/sh
# jvmhang.t - JVMs whose memory lies on a file system that does not answer: pjmap follows the genuine JVMs beside them all the time, also one
# that starts later, names those that hang, tries them again later and later, and ends when it is told to; --list and --once end, too.
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/tap.sh
. "$PJ_TOP/test/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"
have pjmap || skip_all "pjmap is not built"
mknod "$arena/fuse" c 10 229 2>/dev/null && chmod 666 "$arena/fuse" && [ -e /sys/fs/fuse ] || skip_all "no FUSE"
java=
for jdk in /usr/lib/jvm/*; do [ -x "$jdk/bin/javac" ] && [ ! -L "$jdk" ] && java=$jdk/bin/java; done
[ -n "$java" ] && "${java}c" -nowarn -d . "$top/test/jmap/Work.java" 2>javac.err || skip_all "no JDK"
started=
# shellcheck disable=SC2086 # lists
trap 'kill -KILL $started 2>/dev/null; end_attacks; chmod -R u+rwx "$scratch" "$arena" 2>/dev/null; rm -rf "$scratch" "$arena"' EXIT

# until_true COMMAND...: tries for 60 s
until_true()
{
	for _ in $(seq 300); do
		"$@" && return 0
		sleep 0.2
	done
	return 1
}

# begin_java: $genuine
begin_java()
{
	rm -f ready
	"$java" -Xmx64m -cp . Work idle 900 >ready 2>java.err &
	genuine=$!
	started="$started $genuine"
	until_true grep -qs ready ready
}

# timeline PID: bytes of it, and when it was changed last, in ns
timeline()
{
	stat -c '%s %.9Y' maps.d/maps/*/"$1"-*.jmap 2>/dev/null
}

# scans PID SECONDS: how often its timeline was changed
scans()
{
	last=
	n=0
	for _ in $(seq $(($2 * 5))); do
		sleep 0.2
		now=$(timeline "$1")
		[ "$now" = "$last" ] || n=$((n + 1))
		last=$now
	done
	echo $n
}

has_records()
{
	[ "$(timeline "$1" | awk '{ print $1 + 0 }')" -gt 20000 ]
}

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
ok "  and it counts them" grep -q ' looks hung' err
timeout 60 pjmap --list >list 2>list.err
ok "--list ends" [ $? -ne 124 ]
ok "  and lists the genuine JVM" grep -qE "^$first .* ok " list
timeout 60 pjmap --once --to to "$first" 2>once.err
is "--once: status" $? 0
done_testing
