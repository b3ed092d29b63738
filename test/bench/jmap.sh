# shellcheck shell=bash
# shellcheck disable=SC2154 # run.sh sets them
# jmap.sh - what it costs to map a JVM, and to follow it. Part of run.sh, which it is sourced by. JAVA_HOME, or every JDK below /usr/lib/jvm.

# blobs PID
blobs()
{
	"$bin/pjmap" --once --stdout "$1" 2>/dev/null | wc -l
}

for jdk in $(jdks); do
	mkdir -p "$tmp/work" "$tmp/jmap"
	"$jdk/bin/javac" -nowarn -d "$tmp/work" test/jmap/Work.java 2>/dev/null || continue
	"$jdk/bin/java" -Xmx512m -XX:ReservedCodeCacheSize=240m -Djava.io.tmpdir="$tmp/work" -cp "$tmp/work" Work churn 300 >/dev/null 2>&1 &
	jvm=$!
	for ((i = 0; i < 90; i++)); do
		if [ "$(blobs $jvm)" -ge 8000 ]; then break; fi
		sleep 1
	done
	kill -STOP $jvm
	n=$(blobs $jvm)
	map=$("$measure" -n "$runs" -o /dev/null -- "$bin/pjmap" --once --stdout $jvm 2>/dev/null)
	ms=$(calc %.1f "1000 * $(echo "$map" | field 2)") cpu=$(calc %.1f "1000 * $(echo "$map" | field 1)")
	row "pjmap --once of ${jdk##*/}: $n pieces of code" "$ms ms, CPU $cpu ms" "<= 50 ms for 8000" "$ms <= 50 * ($n > 8000 ? $n / 8000 : 1)"
	"$bin/pjmap" -i 600 -d "$tmp/jmap" --no-perf-map -q $jvm 2>/dev/null &
	follower=$!
	sleep 4
	first=$(tree_cpu_ms $follower)
	row "  first scan of its timeline, with inlined calls, frames" "CPU $first ms" "<= 150 ms for 8000" "$first <= 150 * ($n > 8000 ? $n / 8000 : 1)"
	kill -INT $follower
	wait $follower 2>/dev/null
	rm -rf "$tmp/jmap"
	"$bin/pjmap" -i 0.02 -d "$tmp/jmap" --no-perf-map -q $jvm 2>/dev/null &
	follower=$!
	sleep 2
	before=$(tree_cpu_ms $follower)
	sleep 10
	after=$(tree_cpu_ms $follower)
	kill -INT $follower
	wait $follower 2>/dev/null
	again=$(calc %.2f "($after - $before) / 500")
	row "  looked at again, nothing changed: CPU" "$again ms" "<= 5 ms" "$again <= 5"
	row "  its timeline, with inlined calls" "$(calc %.2f "$(find "$tmp/jmap" -name '*.jmap' -printf '%s\n' | tail -n 1) / 1e6") MB" "" ""
	kill -9 $jvm
	wait $jvm 2>/dev/null
	rm -rf "$tmp/work" "$tmp/jmap"
done

# Code that comes and goes: the test's figures, for longer than a test takes.
if [ -z "${JAVA_HOME:-}" ]; then
	PATH=$bin:$PATH PJ_BUILD=${PJ_BUILD:-build/std-cc} PJ_JMAP_SECS=${PJ_BENCH_CHURN:-60} test/jmap/jmap-follow.t >"$tmp/follow" 2>&1
	while read -r jvm percent; do
		row "code cache of 10 MB, ${PJ_BENCH_CHURN:-60} s, -i 1: without a name, $jvm" "$percent %" "<= 2 %" "$percent <= 2"
	done < <(sed -n 's/^# \(.*\): addresses, percent not seen: [0-9]* \([0-9.]*\);.*/\1 \2/p' "$tmp/follow")
	while read -r jvm percent; do
		row "  another name than with -i 0.05, $jvm" "$percent %" "<= 0.5 %" "$percent <= 0.5"
	done < <(sed -n 's/^# \(.*\): compiled frames, percent that have other names .*: [0-9]* \([0-9.]*\)$/\1 \2/p' "$tmp/follow")
fi
