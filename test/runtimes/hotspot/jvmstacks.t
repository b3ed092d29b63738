#!/bin/sh
# jmap-unwind.t - stacks of busy JVMs without frame pointers reach the thread's root, and are what frame pointers say where there are some.
#
# Every JDK below /usr/lib/jvm, and those in PJ_JDKS (folders). Each JVM is sampled for seconds, by test/runtimes/hotspot/javawalk. Bounds are
# wider than what is seen (docs/ARCHITECTURE.md), by more than chance: few samples come on a loaded machine, and code that went between a
# sample and the next look at the JVM is unknown. Run by ./check.
# stage: live
# full: every JDK without frame pointers; record-java.t has one
# covers: runtimes/hotspot/javaunwind.c runtimes/hotspot/javaframe.c runtimes/hotspot/blobframes.c
# covers: runtimes/hotspot/codecache.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
export LC_ALL

walk=${PJ_BUILD:-$top/build/std-cc}/test/runtimes/hotspot/javawalk
[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
need_jdk "$top/test/lib/loads/Load.java"

# sampled JDK MODE SECONDS OPTION...: what javawalk says, in `said`
sampled()
{
	jdk=$1
	mode=$2
	seconds=$3
	shift 3
	"$walk" -F 997 -w 1 -s 32768 -- "$jdk/bin/java" -Xmx256m "$@" -cp . Load "$mode" "$seconds" >said 2>why
	case $(cat said) in
	1..0*) skip_all "$(sed 's/.*SKIP //' said)" ;;
	esac
}

# reaches NAME PERCENT: so much of the stacks reaches the root, of those that the copy has: at its start, and where it compiles, libjvm has frames
# of tens of kilobytes
reaches()
{
	if awk -v least="$2" '{ for (i = 1; i < NF; i += 2) is[$i] = $(i + 1) }
		END { exit !(is["samples"] >= 100 && is["java"] > 100 && 100 * is["root"] >= least * (is["samples"] - is["cut"]) && is["cut"] <= .15 * is["samples"]) }' said; then
		pass "$1: $(cut -d ' ' -f 1-12 said)"
	else
		fail "$1" said why
	fi
}

# agrees NAME: with the frame pointers, on samples in Java code: the same, or the same but for the one caller that those lose
agrees()
{
	if awk '{ for (i = 1; i < NF; i += 2) is[$i] = $(i + 1) }
		END { same = is["same"] + is["lostone"]; exit !(is["leaf"] >= 50 && same >= .97 * is["leaf"] && is["other"] <= 2 + .005 * is["leaf"]) }' said; then
		pass "$1: $(sed 's/.* leaf/leaf/' said)"
	else
		fail "$1" said why
	fi
}

for jdk in $jdks; do
	jvm=${jdk##*/}
	sampled "$jdk" mixed 5 -XX:-PreserveFramePointer
	reaches "$jvm" 98
	sampled "$jdk" mixed 5 -XX:+PreserveFramePointer
	reaches "$jvm, frame pointers" 98
	agrees "$jvm, frame pointers"
done
# the newest has all of these
sampled "$jdk" mixed 4 -Xint
reaches "$jvm, interpreted" 98
sampled "$jdk" mixed 4 -XX:TieredStopAtLevel=1
reaches "$jvm, C1" 98
sampled "$jdk" deep 4
reaches "$jvm, 200 calls deep" 98
"$jdk/bin/java" -XX:+UseZGC -version >why 2>&1 && sampled "$jdk" mixed 4 -XX:+UseZGC && reaches "$jvm, ZGC" 98
if "$jdk/bin/java" --list-modules >why 2>&1 && "$jdk/bin/java" -version 2>&1 | head -n 1 | grep -qE '"(2[1-9]|[3-9][0-9])'; then
	sampled "$jdk" virtual 4
	reaches "$jvm, virtual threads" 96
else
	skip "virtual threads" "$jvm has none"
fi
done_testing
