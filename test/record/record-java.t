#!/bin/sh
# record-java.t - pjrecord --unwind=tables on busy JVMs that were started without any flag: stacks reach the thread's root.
#
# Every JDK below /usr/lib/jvm, those in PJ_JDKS (folders), and as root those in the root file systems of PJ_ROOTFS. Each is recorded by its
# number when it has run for a while, until it has used so much more time; all shares are of samples of its own threads. Bounds are wider
# than what is seen (docs/ARCHITECTURE.md), by more than chance: on a loaded machine few samples come. Run by ./check.
# stage: live
# covers: record/java/javacode.c record/java/jvmreader.c record/java/jvmhelper.c record/java/javanames.c
# covers: record/java/javanaming.c record/java/codescopes.c record/java/codenames.c
# covers: runtimes/hotspot/javaunwind.c runtimes/hotspot/javaframe.c runtimes/hotspot/hotspotruntime.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME

[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
{ have pjrecord && have pjfold && have pjmap; } || skip_all "pjrecord, pjfold or pjmap is not built"
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
need_jdk "$top/test/lib/loads/Load.java"
timeout 60 pjrecord -v -o data --unwind=tables -- true >/dev/null 2>said || skip_all "perf events are not allowed here: $(head -n 1 said)"
# shellcheck source=test/lib/busy.sh
. "$top/test/lib/busy.sh"

# recorded OPTION...: into data, while the JVM uses 2 s
recorded()
{
	rm -f data
	pjrecord -v -o data -F 499 --unwind=tables "$@" >/dev/null 2>said &
	recorder=$!
	used "$pid" 2
	kill -INT $recorder
	wait $recorder
}

# reaches NAME PERCENT THREADS: so much of the stacks of threads that are called so (an awk pattern) is whole
reaches()
{
	pjfold -q --root=thread --stacks data >stacks 2>&1
	seen=$(awk -v threads="$3" '$NF != "(all)" && $NF ~ threads { n += $1; whole += $1 * $2; cut += $1 * $3 } END { if (n) printf "%d %.2f %.2f", n, whole / n, cut / n }' stacks)
	if echo "$seen" | awk -v least="$2" '{ exit !($1 >= 200 && $2 >= least) }'; then
		pass "$1: of $(echo "$seen" | awk '{ print $1 " stacks " $2 " % whole, " $3 " % cut" }'); all: $(sed -n 's/.*; \([0-9.]* %.*\)/\1/p' said)"
	else
		fail "$1: $seen" stacks said java.out
	fi
}

# named NAME FILE: of the Java frames of all stacks, 99 % have names, which the window has; prints the share and the inlined frames
named()
{
	what="  $1 % of its Java frames have names" file=$2
	seen=$(awk '{ weight = $NF; sub(/ [0-9]+$/, ""); n = split($0, frame, ";")
		for (i = 1; i <= n; i++) if (frame[i] ~ /_\[[01ij]\]$/) { all += weight; if (frame[i] ~ /^\[/) without += weight; if (frame[i] ~ /_\[i\]$/) inlined += weight } }
		END { if (all) printf "%d %.2f %d", all, 100 - 100 * without / all, inlined }' "$file")
	if echo "$seen" | awk -v least="$1" '{ exit !($1 >= 1000 && $2 >= least) }'; then
		pass "$what: of $(echo "$seen" | awk '{ print $1 ", " $2 " %, " $3 " inlined" }')"
	else
		fail "$what: $seen" "$file" said
	fi
}

# one NAME PERCENT THREADS MODE OPTION...
one()
{
	what=$1 least=$2 threads=$3
	shift 3
	if start "$@"; then
		recorded -p "$pid"
		reaches "$what" "$least" "$threads"
		stop
		pjfold -q --root=thread data >folded 2>why
		named 99 folded
	else
		fail "$what: the JVM runs" java.out
		stop
	fi
}

find_rooted
for at in $jdks $rooted; do
	jdk=${at#*:} root=
	[ "$at" = "$jdk" ] || root=${at%%:*}
	one "${jdk##*/}" 98 '^(load-|java$)' mixed
	case $jdk in *-8-*) one "${jdk##*/}, C1: Math.sin puts all registers on the stack" 98 '^load-' mixed -XX:TieredStopAtLevel=1 ;; esac
done
# the last of this host has all of these
root='' jdk=$(echo "$jdks" | sed 's/.* //')
jvm=${jdk##*/}
one "$jvm, interpreted" 98 '^load-' mixed -Xint
pjfold -q --root=thread data >folded
ok "  methods have names, from the JVM itself" awk '/^load-/ { all += $NF } /^load-/ && /;Load.work_.0.;Load.round_.0./ { at += $NF } END { print at, all; exit !(all >= 200 && at >= .95 * all) }' folded
one "$jvm, C1" 99 '^load-' mixed -XX:TieredStopAtLevel=1
one "$jvm, 200 calls deep" 98.5 '^load-' deep
one "$jvm, ParallelGC" 99 '^load-' mixed -XX:+UseParallelGC
if "$jdk/bin/java" -XX:+UseZGC -version >why 2>&1; then
	one "$jvm, ZGC" 99 '^load-' mixed -XX:+UseZGC
else
	skip "$jvm, ZGC" "it has none"
fi
if "$jdk/bin/java" -version 2>&1 | head -n 1 | grep -qE '"(2[1-9]|[3-9][0-9])'; then
	one "$jvm, virtual threads" 97.5 '^ForkJoinPool' virtual
else
	skip "$jvm, virtual threads" "it has none"
fi

# the two of them alone, in a pipe: names come before the samples that need them
start mixed
(pjrecord -o - -F 499 --unwind=tables -p "$pid" 2>said & echo $! >recorder; wait) | pjfold -q --root=thread >folded 2>why &
folder=$!
used "$pid" 2
kill -INT "$(cat recorder)"
wait $folder
stop
ok "a pipe" test -s folded
named 99 folded

# a JVM that starts and ends within the window, and frees much of its code meanwhile
pjrecord -v -o data -F 499 --unwind=tables >/dev/null 2>said &
recorder=$!
start mixed -XX:ReservedCodeCacheSize=3m
used "$pid" 3
jvm=$pid
stop
sleep 1
kill -INT $recorder
wait $recorder
pjfold -q --only "pid=$jvm" data >folded 2>why
ok "a JVM within the window" test -s folded
named 98 folded
ok "  what the window lists" sh -c 'pjfold --info data | grep -q "^code  *[0-9]* code blobs of JVMs"'

# names of what is compiled tell that the callers are the right ones
start deep -XX:-Inline # a map has no inlined calls: they would stand as their caller
recorded -p "$pid"
pjmap --once "$pid" >/dev/null 2>why
pjfold -q --root=thread data >folded 2>>why
rm -f "/tmp/perf-$pid.map"
stop
# the loop in work() may still be interpreted, on a slow processor
ok "callers are what they are in the source" awk '/^load-/ { w = $NF; all += w }
	/^load-/ && /;JavaCalls::call_helper;.*;Load.work_.[j0].;(Load.round|Load.recurse)_.j./ { at += w }
	END { print at, all; exit !(all >= 200 && at >= .9 * all) }' folded

# a JVM that ends while it is recorded
start mixed
jvm=$pid
memories()
{
	for task in "/proc/$recorder/task"/*/children; do cat "$task" 2>/dev/null; done | tr ' ' '\n' | while read -r child; do
		[ "$(cat "/proc/$child/comm" 2>/dev/null)" != pjrecord-jvm ] || find "/proc/$child/fd" -lname "/proc/$jvm/mem*" 2>/dev/null
	done | wc -l
}
pjrecord -v -o data -F 499 --unwind=tables >/dev/null 2>said &
recorder=$!
used "$pid" 2
for _ in $(seq 300); do
	[ "$(memories)" -ge 1 ] && break
	sleep 0.1
done
is "the memory of a JVM that is recorded is open" "$([ "$(memories)" -ge 1 ] && echo yes)" yes
stop
for _ in $(seq 300); do
	[ "$(memories)" = 0 ] && break
	sleep 0.1
done
is "  until it ends" "$(memories)" 0
kill -INT $recorder
wait $recorder
is "  and the recorder with it, as ever" $? 0
done_testing
