#!/bin/sh
# record-paths.t - no stack of a program whose possible stacks are known is one that it cannot have, and its code has names
#
# Paths (test/lib/loads/paths.awk) runs on every JDK of jvm.sh, with PJ_PATHS also on those in the root file systems of PJ_ROOTFS: calls of all kinds, deoptimization, OSR, exceptions, code that is compiled and
# freed all the time. Each JVM is recorded from its start, so while it interprets and compiles, too. PJ_PATHS: CPU time of each JVM in seconds
# (./check --soak: 120; otherwise 12, of the newest JDK with its defaults), at PJ_PATHS_HZ samples a second (997). --soak accepts no impossible
# stack. The short run accepts 3 of 10,000: on a busy machine HotSpot may reuse the memory of code before the code is read.
# stage: live
# full: a long run
# covers: runtimes/hotspot/javaunwind.c runtimes/hotspot/javaframe.c record/java/javacode.c
# covers: record/unwind/samplestack.c record/java/codenames.c unwind/walk.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL

[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
{ have pjrecord && have pjfold; } || skip_all "pjrecord or pjfold is not built"
awk -f "$top/test/lib/loads/paths.awk" >Paths.java
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
need_jdk Paths.java
timeout 60 pjrecord -o data -- true >/dev/null 2>said || skip_all "perf events are not allowed here: $(head -n 1 said)"
# shellcheck source=test/lib/busy.sh
. "$top/test/lib/busy.sh"

# record_paths OPTION...: a JVM; the counts of paths-check.awk are in `counts`
accepted=0
if [ -z "${PJ_PATHS:-}" ]; then
	accepted=.0003
	jdks=${jdks##* }
fi
record_paths()
{
	start_java "$@" Paths 2 2
	pjrecord -o data -F "${PJ_PATHS_HZ:-997}" -p "$pid" >/dev/null 2>said &
	recorder=$!
	used "$pid" "${PJ_PATHS:-12}"
	kill -INT $recorder
	wait $recorder
	stop
	pjfold -q --root=thread data >folded 2>why
	awk -v bad=bad -f "$top/test/lib/paths-check.awk" folded >counts
}

# check_paths NAME OPTION...
check_paths()
{
	what=$1
	shift
	rm -f bad
	record_paths "$@"
	if awk -v accepted=$accepted '{ exit !($1 >= 1000 && $2 >= .5 * $1 && $3 <= accepted * $2) }' counts; then
		pass "$what: $(awk '{ print $2 " stacks of the program, " $3 " impossible" }' counts)"
	else
		fail "$what: stacks are possible" counts said bad
	fi
}

rooted=
if [ -n "${PJ_PATHS:-}" ]; then find_rooted; fi
for at in $jdks $rooted; do
	jdk=${at#*:} root=
	[ "$at" = "$jdk" ] || root=${at%%:*}
	check_paths "${jdk##*/}"
	ok "  $(awk '{ printf "%.2f %% of stacks have all names", 100 - 100 * $4 / ($2 + !$2) }' counts)" awk '{ exit !($4 <= .05 * $2) }' counts
done
root='' jdk=${jdks##* }
[ -n "${PJ_PATHS:-}" ] || done_testing
check_paths "${jdk##*/}, interpreted" -Xint
check_paths "${jdk##*/}, C1" -XX:TieredStopAtLevel=1
check_paths "${jdk##*/}, C2 alone" -XX:-TieredCompilation
check_paths "${jdk##*/}, a code cache that is too small" -XX:ReservedCodeCacheSize=4m -XX:-SegmentedCodeCache
done_testing
