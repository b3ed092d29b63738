#!/bin/sh
# execstorm.t - processes that exec all the time cost pjmap a bounded share of a CPU, and a JVM that begins meanwhile is found.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: jmap/execs.c jmap/follow.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$top/test/hostile/lib.sh"
have pjmap || skip_all "pjmap is not built"
TMPDIR=$arena
export TMPDIR

# share PID SECONDS: CPU time of a process in so many seconds, in percent of the time that they took
share()
{
	from=$(cut -d ' ' -f 1 "/proc/$1/schedstat")
	at=$(date +%s%N)
	sleep "$2"
	awk -v a="$from" -v b="$(cut -d ' ' -f 1 "/proc/$1/schedstat")" -v t=$(($(date +%s%N) - at)) 'BEGIN { printf "%.1f", 100 * (b - a) / t }'
}

pjmap -i 60 -d maps.d --no-perf-map 2>err &
pjmap=$!
attacks="$attacks $pjmap"
sleep 4
before=$(share $pjmap 3)
execs=$(awk '/^processes/ { print $2 }' /proc/stat)
attack execstorm "$((attack_secs - 5))"
sleep 1
during=$(share $pjmap 7)
execs=$(($(awk '/^processes/ { print $2 }' /proc/stat) - execs))
attack escapes 60 # a fake JVM
found=no
for _ in $(seq 150); do
	if find maps.d -name '*.jmap' -newer err 2>/dev/null | grep -q .; then found=yes; fi
	for pid in $(descendants "$attack"); do [ -e "$(echo maps.d/maps/*/"$pid"-*.jmap)" ] && found=really; done
	[ $found = really ] && break
	sleep 0.1
done
echo "# CPU of pjmap: $before % before, $during % in a storm of $((execs / 8)) execs a second"
ok "it costs at most 5 % of a CPU more" awk -v a="$before" -v b="$during" 'BEGIN { exit !(b - a <= 5) }'
is "a JVM that begins in it is found" $found really
kill -TERM $pjmap
ok "SIGTERM ends it" ends_within 2 $pjmap
done_testing
