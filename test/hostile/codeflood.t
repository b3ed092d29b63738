#!/bin/sh
# codeflood.t - fake JVMs whose code costs a reader much: pjmap follows the genuine JVM beside them all the time, within its limits of memory,
# disk and CPU time, and ends when it is told to; --list and --once end, too.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: jmap/reader/allowance.c jmap/follow.c runtimes/memory/readbudget.c jmap/perfmap/perfmaps.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"
have pjmap || skip_all "pjmap is not built"
here=$PWD
genuine=
started=
# shellcheck disable=SC2086 # lists
trap 'kill -KILL $genuine $started 2>/dev/null; end_attacks; chmod -R u+rwx "$scratch" "$arena" 2>/dev/null; rm -rf "$scratch" "$arena"' EXIT

memory_max_kb=131072
disk_max_kb=131072 # timelines: 48 MB at once, 256 kB a second later on; maps: 64 MB
secs=$(((attack_secs + 3) / 4))

java=
for jdk in /usr/lib/jvm/*; do [ -x "$jdk/bin/javac" ] && [ ! -L "$jdk" ] && java=$jdk/bin/java; done
if [ -n "$java" ] && "${java}c" -nowarn -d . "$top/test/jmap/Work.java" 2>javac.err; then
	"$java" -Xmx64m -cp . Work idle 900 >ready 2>java.err &
	genuine=$!
	for _ in $(seq 600); do grep -qs ready ready && break || sleep 0.1; done
fi

# mtime FILE: of its last change, in ns
mtime()
{
	stat -c %.9Y "$1" 2>/dev/null
}

for mode in scopes blobs names young; do
	mkdir "$mode" "$mode/to"
	(
		export TMPDIR="$arena"
		attack codeflood "$mode" $((1 + seed % 5))
		echo "$attack" >attack.pid
	)
	attacks=$(cat attack.pid)
	for _ in $(seq 100); do grep -qs ready "$arena/log" && break || sleep 0.1; done
	began=$(date +%s%N)
	pjmap -i 0.5 -d "$mode" --to "$mode/to" 2>"$mode/err" &
	map=$!
	started=$map
	scans=0
	last=
	for _ in $(seq $((secs * 5))); do
		sleep 0.2
		now=$(mtime "$mode"/maps/*/"$genuine"-*.jmap)
		[ "$now" = "$last" ] || scans=$((scans + 1))
		last=$now
	done
	all=$(descendants "$map")
	# shellcheck disable=SC2086 # a list
	cpu=$(cpu_ms $all)
	took=$((($(date +%s%N) - began) / 1000000))
	peak=$(for pid in $all; do peak_kb "$pid"; done | sort -n | tail -n 1)
	disk=$(du -sk "$mode" | awk '{ print $1 }')
	echo "# $mode: CPU $cpu ms of $took, at most $peak kB of memory, $disk kB on disk, $scans scans of the genuine JVM; $(grep -c 'over budget' "$mode/err") messages"
	if [ -n "$genuine" ]; then
		ok "$mode: the genuine JVM is looked at all the time" [ $((2 * scans)) -ge "$secs" ] # every 0.5 s on a machine at rest
	else
		skip "$mode: the genuine JVM is looked at all the time" "no JDK"
	fi
	ok "  memory: at most $memory_max_kb kB" [ "$peak" -gt 1000 ] && [ "$peak" -le $memory_max_kb ]
	ok "  disk: at most $disk_max_kb kB" [ "$disk" -le $disk_max_kb ]
	# of the attacker 1.5 s, then 5 %, and one look more; as much again for all others
	ok "  CPU: 5 % for the attacker beyond its start" [ "$cpu" -le $((2000 + took / 10)) ]
	ok "  SIGTERM ends it within 2 s" ends_within 2 "$map"
	started=
	timeout 20 pjmap --list >"$mode/list" 2>"$mode/list.err"
	is "  --list ends: status" $? 0
	[ -z "$genuine" ] || ok "  and lists the genuine JVM" grep -qE "^$genuine .* ok " "$mode/list"
	# shellcheck disable=SC3045 # dash and bash have -v
	(ulimit -v 600000; timeout 60 pjmap --once --to "$mode/to" 2>"$mode/once.err")
	ok "  --once ends" [ $? -ne 124 ]
	[ -z "$genuine" ] || ok "  with a map of the genuine JVM" [ -s "$mode/to/perf-$genuine.map" ]
	end_attacks
	cd "$here" || exit 1
done
done_testing
