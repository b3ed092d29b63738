#!/bin/sh
# jmap-dwarf.t - stacks that perf copied (--call-graph dwarf) are walked through Java, without frame pointers, by what pjmap's timeline tells.
#
# The newest JDK below /usr/lib/jvm, and the oldest there. Shares are of samples that were taken, so a busy machine makes them fewer, not
# other ones; bounds are wider than what is seen (98 to 100 %), since code that came after pjmap's last look is not known. Run by ./check.
# stage: live
# full: copies of stacks of every JDK
# covers: fold/process/copiedstack.c fold/jvm/frametimes.c fold/jit/timelines.c runtimes/hotspot/javaunwind.c
# covers: jmap/timeline/frameinfo.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME
perf=${PJ_PERF:-perf}

have pjmap && have pjfold || skip_all "the tools are not built"
[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
"$perf" --version >/dev/null 2>&1 || skip_all "perf is not installed"
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
need_jdk "$top/test/lib/loads/Load.java"
"$perf" record -q -e cpu-clock -k CLOCK_MONOTONIC --call-graph dwarf,16384 -o try.data -- true >why 2>&1 || skip_all "perf may not record here: $(head -n 1 why)"

# works: it has a timeline, and had three seconds of the processor: then it has compiled code
works()
{
	[ -n "$(find dir -name '*.jmap' -size +4k 2>/dev/null)" ] && awk '{ sub(/.*\) /, ""); exit !($12 + $13 >= 300) }' /proc/$jvm/stat 2>/dev/null
}

# take JDK OPTION...: data and dir of a JVM that works
take()
{
	jdk=$1
	shift
	rm -rf dir data
	"$jdk/bin/java" -Xmx256m "$@" -cp . Load mixed 600 >java.out 2>&1 &
	jvm=$!
	started="$started $jvm"
	mkdir dir
	until_true grep -q libjvm.so "/proc/$jvm/maps" # what has none yet is no JVM
	pjmap -q -i 1 -d dir --no-perf-map $jvm 2>map.err &
	map=$!
	started="$started $map"
	tries=600
	while ! works && [ $((tries -= 1)) -gt 0 ]; do sleep 0.1; done
	"$perf" record -q -e cpu-clock -F 299 -k CLOCK_MONOTONIC --call-graph dwarf,16384 -p $jvm -o data -- sleep 4 >perf.out 2>&1
	kill $map 2>/dev/null
	wait $map 2>/dev/null
	kill $jvm 2>/dev/null
	wait $jvm 2>/dev/null
	started=
	pjfold -q --maps dir/maps --stacks data >stacks 2>why
	pjfold -q --maps dir/maps data >folded 2>>why
}

# reaches NAME LEAST: so many percent of the stacks that the copies are long enough for are whole
reaches()
{
	seen=$(awk '$NF == "(all)" { printf "%d", $1 * (100 - $3) / 100 }' stacks) # compilers' stacks are longer than the copy
	if [ -z "$seen" ]; then
		fail "$1: the recording is read" why map.err perf.out java.out
	elif [ "$seen" -lt 60 ]; then
		skip "$1" "only $seen samples in 4 s: $(head -n 1 java.out)"
	elif awk -v least="$2" '$NF == "(all)" { whole = $2 + 0; cut = $3 + 0 } END { exit !(whole >= least * (100 - cut) / 100) }' stacks; then
		pass "$1: $(tail -n 1 stacks)"
	else
		fail "$1" stacks why map.err perf.out java.out
	fi
}

# share PATTERN FILE: percent of the samples in compiled code of Java whose stack has it
share()
{
	awk -v pattern="$1" '/;(Load[.$]|java\/)/ { all += $NF } /;(Load[.$]|java\/)/ && $0 ~ pattern { at += $NF } END { printf "%d", all ? 100 * at / all : 0 }' "$2"
}
root=';(clone3|start_thread|__clone);.*;JavaCalls::call_helper;StubRoutines[: ][^;]*;'

oldest=$(echo "$jdks" | tr ' ' '\n' | grep . | head -n 1)
newest=$(echo "$jdks" | tr ' ' '\n' | grep . | tail -n 1)
for jdk in $oldest $newest; do
	release=${jdk##*/}
	take "$jdk"
	reaches "$release" 92
	ok "  from the thread's start through the JVM into Java and on" test "$(share "$root" folded)" -ge 92
	ok "  with what was inlined" test "$(share '_.j.;.*_.i.' folded)" -ge 10
	ok "  and frames of the interpreter" test "$(share "${root}.*_.0.;" folded)" -ge 40
	pjfold -q data >without 2>why
	ok "  more than without the timeline" test "$(share "$root" without)" -lt "$(share "$root" folded)"
done
take "$newest" -Xint
reaches "$release, interpreted" 92
done_testing
