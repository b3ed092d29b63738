#!/bin/sh
# jmap-follow.t - pjmap -i beside pjrecord: Java code has the name that it had at the time of the sample, also of JVMs that lived for a moment, that are gone, and
# whose code comes and goes.
#
# PJ_JMAP_SECS: of the code cache that is too small (6). Needs root.
# stage: live
# full: 28 s of JVMs that end and start; jmap.t has the maps and record-java.t the names
# covers: jmap/follow.c jmap/followed.c jmap/execs.c jmap/timeline/journal.c jmap/timeline/journalfile.c
# covers: jmap/timeline/mapsdir.c fold/jvm/timeline.c fold/jit/timelines.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL

have pjmap && have pjrecord && have pjfold || skip_all "the tools are not built"
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
need_jdk "$top/test/jmap/Work.java"
pjrecord -q -a -w 1 --once -d try >out 2>why || skip_all "recording is not allowed here: $(head -n 1 why)"

# follow DIR INTERVAL: $map
follow()
{
	pjmap -i "$2" -d "$1" --no-perf-map 2>"$1/map.err" &
	map=$!
	started="$started $map"
}

# record DIR: $rec, one window until end_record
record()
{
	pjrecord -q -F 499 --unwind=fp -a -w 600 --once -d "$1" >"$1/window" 2>"$1/rec.err" &
	rec=$!
	started="$started $rec"
	until_true sh -c 'ls "$1"/recording/*.data >/dev/null 2>&1' - "$1"
}

end_record()
{
	kill -INT "$rec"
	wait "$rec"
}

# timeline_figures FILE: addresses in compiled code, percent without a name, and percent between two scans, by the summary of pjfold
timeline_figures()
{
	sed -n 's/.*timelines of [0-9]* JVMs*: \([0-9]*\) addresses in compiled code, \([0-9.]*\) % between .* ambiguous), \([0-9.]*\) % unknown.*/\1 \3 \2/p' "$1"
}

for jdk in $jdks; do
	jvm=${jdk##*/}
	mkdir "short.$jvm"
	follow "short.$jvm" 1
	sleep 0.5
	record "short.$jvm"
	"$jdk/bin/java" -Xmx64m -XX:+PreserveFramePointer -cp . Work burst 1 >out.txt 2>java.err
	"$jdk/bin/java" -Xmx64m -XX:+PreserveFramePointer -cp . Work burst 1 >out.txt 2>java.err
	end_record
	kill -INT "$map"
	wait "$map"
	is "$jvm: two JVMs that lived for a second: pjmap's status" $? 0
	ok "  both were followed" [ "$(find "short.$jvm/maps" -name "*.jmap" | wc -l)" -ge 2 ]
	pjfold -v "$(cat "short.$jvm/window")" >folded 2>err
	timeline_figures err >numbers
	ok "  at least 90 % of the addresses in their code have names" awk '{ n = $1; bad = $2 } END { exit !(n > 200 && bad < 10) }' numbers
	# on a busy machine what was sampled of their second may all be of the library
	ok "  as pj spells them, after they ended" grep -qE ';(Work\.|java/)[^; ]*_\[j\]' folded
	cp -r "short.$jvm" copy
	mv copy/maps moved
	pjfold -v copy/out/*.data >without 2>err
	ok "  without the timelines they have none" not grep -qE ';(Work\.|java/)[^; ]*_\[j\]' without
	pjfold -v --maps moved copy/out/*.data >with 2>err
	same "  --maps names them by hand" folded with
	rm -rf copy moved
done

# ---- inlined calls ----

for jdk in $jdks; do
	jvm=${jdk##*/}
	mkdir "inline.$jvm"
	follow "inline.$jvm" 1
	sleep 0.3
	"$jdk/bin/java" -Xmx64m -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints -cp . Work inline 900 >out.txt 2>java.err &
	pid=$!
	started="$started $pid"
	sleep 2
	record "inline.$jvm"
	sleep 4
	end_record
	kill -9 "$pid"
	kill -INT "$map"
	wait "$map"
	pjfold -v --only "pid=$pid" "$(cat "inline.$jvm/window")" >folded 2>err
	awk '/;Work\.outer/ { all += $NF } /;Work\.outer_\[j\];Work\.hot_\[i\] [0-9]+$/ { hot += $NF } END { printf "%d %.1f\n", all, all ? 100 * hot / all : 0 }' folded >share
	echo "# $jvm: samples in outer, percent of them in what is inlined there: $(cat share)"
	ok "$jvm: at least 91 % of the samples go to the inlined function" awk '{ exit !($1 > 40 && $2 >= 91) }' share
done

# ---- a run that is killed, a file that is torn ----

jdk=${jdks##* }
mkdir life
follow life 1
"$jdk/bin/java" -Xmx64m -cp . Work churn 900 >ready 2>java.err &
pid=$!
started="$started $pid"
until_true sh -c 'find life -name "$1-*.jmap" -size +8k | grep -q .' - "$pid"
kill -9 "$map"
wait "$map" 2>/dev/null
file=$(find life -name "$pid-*.jmap")
before=$(stat -c %s "$file")
printf 'torn' >>"$file"
record life
sleep 0.3
end_record
pjfold -q "$(cat life/window)" >folded 2>err
follow life 1
until_true sh -c '[ "$(stat -c %s "$1")" -gt "$(($2 + 2000))" ]' - "$file" "$before"
pjmap -i 1 -d life --no-perf-map "$pid" 2>second &
second=$!
until_true grep -q "another pjmap writes" second
ok "a second pjmap is told of the first" grep -q "another pjmap writes" second
kill -INT $second
wait $second
is "  its status" $? 1
kill -INT "$map"
wait "$map"
is "goes on after a crash: status" $? 0
ok "  what was torn is cut off, and nothing else" cmp -n "$before" "$file" "$file"
head -c "$before" "$file" >whole
record life
sleep 1
kill -9 "$pid"
end_record
window=$(cat life/window)
pjfold -v "$window" >folded 2>err
ok "  the file is read to its end" not grep -q "$pid-[0-9]*\.jmap@" err
printf 'garbage at its end' >>"$file"
pjfold -v "$window" >folded2 2>err
is "damage at its end: status" $? 0
ok "  a message has its place" grep -q "maps/.*$pid-[0-9]*\.jmap@[0-9]*: truncated or damaged" err
pjfold -v --strict "$window" >folded2 2>err
is "  --strict: status" $? 1

# ---- a code cache that is too small ----

secs=${PJ_JMAP_SECS:-6}
for jdk in $jdks; do
	jvm=${jdk##*/}
	mkdir "churn.$jvm" "fine.$jvm" tmp
	"$jdk/bin/java" -Xmx200m -XX:+PreserveFramePointer -XX:ReservedCodeCacheSize=10m -XX:-SegmentedCodeCache -Djava.io.tmpdir=tmp -cp . Work churn 900 >ready 2>java.err &
	pid=$!
	started="$started $pid"
	until_true grep -qs ready ready
	sleep 2
	follow "fine.$jvm" 0.05
	fine=$map
	follow "churn.$jvm" 1
	sleep 1.5
	record "churn.$jvm"
	sleep "$secs"
	end_record
	sleep 1.2
	kill -9 "$pid"
	kill -INT "$map" "$fine"
	wait "$map" "$fine"
	window=$(cat "churn.$jvm/window")
	# leaf names of each 10 ms, as the two saw them
	for which in churn fine; do
		pjfold -v --only "pid=$pid" --maps "$which.$jvm/maps" "$window" >"$which.folded" 2>"$which.err"
	done
	timeline_figures churn.err >numbers
	echo "# $jvm: addresses, percent without a name, percent between two scans: $(cat numbers); $(find "churn.$jvm" -name '*.jmap' -printf '%s') bytes; $(grep timelines churn.err)"
	ok "$jvm: code that comes and goes: at most 2 % without a name" awk '{ n = $1; bad = $2 } END { exit !(n > 1000 && bad <= 2) }' numbers
	# frames whose names differ, over both
	cat churn.folded fine.folded | awk -v first="$(wc -l <churn.folded)" '
		{ w = $NF; sub(/ [0-9]+$/, ""); k = split($0, f, ";"); for (i = 1; i <= k; i++) if (f[i] ~ /_\[j\]$/) { d[i ";" f[i]] += NR <= first ? w : -w; if (NR <= first) all += w } }
		END { for (x in d) sum += d[x] < 0 ? -d[x] : d[x]; printf "%d %.3f\n", all, all ? 50 * sum / all : 100 }' >differ
	echo "# $jvm: compiled frames, percent that have other names than with a scan each 50 ms: $(cat differ)"
	# Names differ only where code changed between two scans. Stacks have more frames than these.
	ok "  other names have at most twice the share of addresses between two scans" awk -v between="$(cut -d ' ' -f 3 numbers)" '{ exit !($1 > 1000 && $2 <= 2 * between + 1) }' differ
	rm -rf tmp
done
done_testing
