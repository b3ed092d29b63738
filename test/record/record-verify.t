#!/bin/sh
# record-verify.t - pjrecord --unwind=verify: callers found by tables are those that frame pointers lead to, in the same samples.
#
# C that was built with frame pointers, and each JDK (as in record-java.t) with -XX:+PreserveFramePointer; and what is said of code that has
# none. A JVM runs until most is compiled: what is replaced meanwhile may be walked as what it was before. Run by ./check. For the figure of
# issue 8: PJ_VERIFY_SECS=8, on a quiet machine.
# stage: live
# full: two unwinders on every load and JDK
# covers: record/unwind/fpcompare.c record/unwind/samplestack.c record/java/javacode.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME

[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
{ have pjrecord && have pjfold; } || skip_all "pjrecord or pjfold is not built"
have cc || skip_all "no compiler for the load"
cc -O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls -o pointers "$top/test/lib/loads/pointers.c" &&
	cc -O2 -fomit-frame-pointer -o plain "$top/test/lib/loads/load.c" || skip_all "the loads do not compile"
timeout 60 pjrecord -v -o data --unwind=verify -- true >/dev/null 2>said || skip_all "perf events are not allowed here: $(head -n 1 said)"

# verdicts: of what was said last: compared, same in %, and how many differ, end before, have more callers in Java, in code that keeps none
verdicts()
{
	sed -n 's/.*of \([0-9,]*\) compared with frame pointers, \([0-9.]*\) % are equal.*pointers lose), \([0-9,]*\) differ, \([0-9,]*\) end.* go on, \([0-9,]*\) have more callers in Java, \([0-9,]*\) have.*/\1 \2 \3 \4 \5 \6/p' \
		said | tr -d ,
}

# agree NAME SAME OTHER: of at least 500, at least SAME % are the same, at most OTHER % differ or end before
agree()
{
	seen=$(verdicts)
	if echo "$seen" | awk -v same="$2" -v other="$3" '{ exit !($1 >= 500 && $2 >= same && 100 * ($3 + $4) <= other * $1) }'; then
		pass "$1: $(echo "$seen" | awk '{ print "of " $1 " " $2 " % are the same, " $3 + $4 " differ" }')"
	else
		fail "$1: $seen" said
	fi
}

# bytes: of a sample in data, all in all
bytes()
{
	samples=$(sed -n 's/.*: \([0-9,]*\) samples of .*/\1/p' said | tr -d ,)
	echo $(($(wc -c <data) / ${samples:-1}))
}

# is_within NAME BYTES BYTES: at most 1.3 times as many
is_within()
{
	if [ $((10 * $2)) -le $((13 * $3)) ]; then
		pass "$1"
	else
		fail "$1" said
	fi
}

timeout 120 pjrecord -v -o data -F 1999 --unwind=verify -- ./pointers 1000 >/dev/null 2>said
agree "C with frame pointers" 99 0.1
verdicts >told
pjfold --info data >said 2>&1
is "  the file says the same" "$(verdicts)" "$(cat told)"
timeout 120 pjrecord -v -o data -F 1999 --unwind=verify -- ./plain 1000 >/dev/null 2>said
verdicts >seen
ok "C without: nothing can be said, and no error is made of that" awk '{ print; exit !($1 >= 500 && $3 + $4 + $5 == 0 && $6 >= $1 / 2) }' seen
timeout 120 pjrecord -v -o data -F 1999 --unwind=auto -- ./pointers 200 >/dev/null 2>said
is "auto says nothing of it" "$(verdicts)" ""

# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
need_jdk "$top/test/lib/loads/Load.java"
# shellcheck source=test/lib/busy.sh
. "$top/test/lib/busy.sh"
find_rooted
for at in $jdks $rooted; do
	jdk=${at#*:} root=
	[ "$at" = "$jdk" ] || root=${at%%:*}
	if start mixed -XX:+PreserveFramePointer && used "$pid" 8; then
		pjrecord -v -o data -F 997 --unwind=verify -p "$pid" >/dev/null 2>said &
		recorder=$!
		# names of code are in each window once: after 3 s they were a quarter of its bytes
		used "$pid" "${PJ_VERIFY_SECS:-10}"
		kill -INT $recorder
		wait $recorder
		agree "${jdk##*/}" 98 0.5
		# shellcheck disable=SC2046 # a number
		set -- $(bytes)
		pjrecord -v -o data -F 997 --unwind=fp -p "$pid" >/dev/null 2>said &
		recorder=$!
		used "$pid" 2
		kill -INT $recorder
		wait $recorder
		is_within "  bytes a sample: $1, by frame pointers $(bytes), of the same JVM" "$1" "$(bytes)"
	else
		fail "${jdk##*/}: the JVM runs" java.out
	fi
	stop
done

# code that is compiled, thrown away and made anew, in the same memory: what cannot be known is not guessed
root='' jdk=$(echo "$jdks" | sed 's/.* //')
if "$jdk/bin/java" -XX:+UseZGC -version >why 2>&1; then
	if start mixed -XX:+PreserveFramePointer -XX:+UseZGC; then
		pjrecord -v -o data -F 997 --unwind=verify -p "$pid" >/dev/null 2>said &
		recorder=$!
		used "$pid" 5
		kill -INT $recorder
		wait $recorder
		agree "${jdk##*/}, while it begins, with ZGC" 90 2
		seen=$(verdicts)
		ok "  no caller is wrong" awk "$(printf 'BEGIN { split("%s", v); print v[1], v[3]; exit !(v[1] >= 500 && 100 * v[3] <= 0.5 * v[1]) }' "$seen")"
	else
		fail "${jdk##*/}, with ZGC: the JVM runs" java.out
	fi
	stop
else
	skip "${jdk##*/}, while it begins" "it has no ZGC"
fi
done_testing
