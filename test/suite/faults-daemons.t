#!/bin/sh
# faults-daemons.t - an allocation, or a read, write, message, open or rename, fails in one process of a running pjrecord or pjmap: the daemon goes on,
# or ends by itself with a message and status 1; no window, timeline or map is left incomplete, and the next run works.
#
# PJ_SEED: in which process, at which call. PJ_PLACES=N: N runs for each process and kind of failure, in place of one for each kind (1: 5 minutes).
# Run by ./check as root.
# full: 20 s of faults in recorders; faults.t and faults-sweep.t have the filters
# covers: record/session/session.c record/session/output.c record/windows/windows.c jmap/follow.c jmap/followed.c
# covers: jmap/reader/jvmhandle.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL
build=${PJ_BUILD:-$top/build/std-cc}
case $build in /*) ;; *) build=$top/$build ;; esac
fail_so=$build/test/suite/preload/fail.so
places=${PJ_PLACES:-0}
seed=${PJ_SEED:-$(($(date +%s) % 1000000))}
[ -f "$fail_so" ] || skip_all "no preloading beside sanitizers"
have pjrecord && have pjmap && have pjfold || skip_all "the tools are not built"
pjrecord -q -a -d probe -w 1 -n 1 >out 2>why || skip_all "the whole system may not be recorded here: $(head -n 1 why)"
echo "# PJ_SEED=$seed"

# A JVM, so that there is something to read; without a JDK processes are not JVMs, and less is tried.
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
jvm=
if [ -n "$javac" ] && "$javac" -nowarn -d . "$top/test/jmap/Work.java" 2>javac.err; then
	"${javac%c}" -Xmx64m -cp . Work burst 3600 >java.out 2>&1 &
	jvm=$!
	started="$started $jvm"
fi

# is_complete WINDOW...: without --strict, which also fails on maps of other programs of this host, as other tests write them
is_complete()
{
	for window in "$@"; do
		[ ! -e "$window" ] || pjfold -q "$window" >folded 2>>problems || { echo "incomplete: $window" >>problems; return 1; }
	done
}

# has_ended NAME STATUS: with 0, or with 1 and a message
has_ended()
{
	case $2 in
	0) ;;
	1) grep -q "^$1: " err || { echo "status 1 without a message" >>problems; return 1; } ;;
	124 | 137) echo "does not end" >>problems; return 1 ;;
	*) echo "status $2" >>problems; return 1 ;;
	esac
}

# start FAIL PROCESS TOOL ARGUMENTS...: $running, killed after 40 s
start()
{
	start_fail=$1 start_process=$2
	shift 2
	# shellcheck disable=SC2154 # of tap.sh
	timeout -s KILL 40 env PJ_FAIL="$start_fail" PJ_FAIL_PROCESS="$start_process" PJ_FAIL_ONLY="$1" PJ_FAIL_COUNT="$scratch/count" LD_PRELOAD="$fail_so" \
		"$@" >reported 2>err &
	running=$!
	started="$started $running"
}

one_pjrecord()
{
	rm -rf dir
	start "$1" "$2" pjrecord -q -a -F 199 -w 1 -n 1 -d dir
	wait $running
	has_ended pjrecord $? || return 1
	is_complete dir/out/*.data || return 1
	pjrecord -q -a -F 99 -w 1 -n 1 -d dir >windows 2>again || { echo "the next run fails: $(tail -n 1 again)" >>problems; return 1; }
	is_complete dir/out/*.data || return 1
	left=$(find dir/recording -name '*.data')
	[ -z "$left" ] || { echo "left behind: $left" >>problems; return 1; }
}

one_pjmap()
{
	rm -rf dir tmp
	mkdir dir tmp
	# shellcheck disable=SC2086 # none, or one
	start "$1" "$2" pjmap -i 0.2 -d dir --to=tmp $jvm
	sleep 1.5
	kill -TERM $running 2>/dev/null
	wait $running
	has_ended pjmap $? || return 1
	for map in tmp/perf-*.map; do
		[ ! -s "$map" ] || [ -z "$(tail -c 1 "$map" | tr -d '\n')" ] || { echo "half a map: $map" >>problems; return 1; }
	done
	left=$(find dir tmp -name '.*' -type f)
	[ -z "$left" ] || { echo "left behind: $left" >>problems; return 1; }
	pjmap --once -d dir --to=tmp $jvm 2>again || { echo "the next run fails: $(tail -n 1 again)" >>problems; return 1; }
}

# chosen TEXT N MOST: N numbers from 1 to MOST, by the seed and the text
chosen()
{
	awk -v seed="$seed$1" -v n="$2" -v most="$3" 'BEGIN {
		for (i = 1; i <= length(seed); i++) s = (s * 31 + index("0123456789abcdefghijklmnopqrstuvwxyz", substr(seed, i, 1))) % 1000003
		srand(s)
		rand()
		for (i = 0; i < n && most; i++) print 1 + int(rand() * most)
	}'
}

# sweep TOOL: a run without failures, which counts, then those with one
sweep()
{
	: >problems
	if "one_$1" none 31; then pass "$1: without a failure"; else fail "$1: without a failure" problems err; fi
	cp count counts
	processes=$(wc -l <counts)
	for kind in alloc eio enospc; do
		only=$(chosen "$kind" 1 "$processes")
		number=0
		while read -r allocs calls; do
			number=$((number + 1))
			runs=$places
			if [ "$places" = 0 ] && [ "$only" = $number ]; then runs=1; fi
			[ "$runs" != 0 ] || continue
			case $kind in alloc) all=$allocs ;; *) all=$calls ;; esac
			wrong=0
			: >sweep.log
			for place in $(chosen "$kind$number" "$runs" "$all"); do
				: >problems
				"one_$1" "$kind:$place" $((number - 1)) || { wrong=$((wrong + 1)); { echo "$kind:$place"; cat problems err; } >>sweep.log; }
			done
			name="$1: $kind in process $((number - 1)), of $all"
			if [ $wrong = 0 ]; then pass "$name"; else fail "$name: $wrong of $runs wrong" sweep.log; fi
		done <counts
	done
}

sweep pjrecord
sweep pjmap
done_testing
