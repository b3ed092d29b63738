#!/bin/sh
# interpreted.t - frames of interpreted Java methods in a recording of pjrecord: named by what it told, counted where it told none.
# covers: fold/perfdata/interpreted.c fold/resolve.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME
write=${PJ_BUILD:-$top/build/std-cc}/test/fold/perfdata/write

have pjfold && [ -x "$write" ] || skip_all "pjfold, or the writer, is not built"
"$write" pj=3 samples=300 >data
pjfold -v data >folded 2>said

# frames NAME: how often it is a frame, by weight
frames()
{
	awk -v want="$1" '{ w = $NF; sub(/ [0-9]+$/, ""); for (i = split($0, f, ";"); i > 1; i--) if (f[i] == want) all += w } END { print all + 0 }' folded
}
ok "a method" test "$(frames 'a/B.f_[0]')" -gt 100
ok "  of a hidden class" test "$(frames 'a/B$$Lambda.run_[0]')" -gt 100
ok "  of one process" grep -q '^worker;.*a/Only.here_\[0\]' folded
ok "  and of no other" not grep -q '^a_b:c;.*a/Only.here' folded
ok "without a name, or with two of them" test "$(frames '[interpreted]_[0]')" -gt 200
is "  none of them is guessed" "$(grep -c 'a/[BC].h' folded)" 0
ok "what is not told to be a method is an address" test "$(frames '[unknown]')" -gt 100
pjfold -q --unresolved data >unresolved
is "  which --unresolved tells apart" "$(awk '/^ .*\[interpreted\]/ { m = $1 } /^ .*no mapping at these addresses/ { u = $1 } END { print m, u }' unresolved)" \
	"$(frames '[interpreted]_[0]') $(frames '[unknown]')"
pjfold -q --names=hotspot data >hotspot
ok "as the JDK spells them" grep -q 'java.lang.Object a.B.f(int, java.lang.String\[\])_\[0\]' hotspot
pjfold -q --annotate=none data >plain
ok "without kinds" grep -q ';a/B.f\(;.*\)\? [0-9]*$' plain
pjfold --info data >info 2>&1
ok "--info counts them" grep -qx 'methods    17 interpreted Java methods, 9 with a name' info
ok "what there was no room for is said" grep -q '2 interpreted frames are unknown' said
"$write" pj=3 samples=300 pipe=1 | pjfold -q - >piped
same "a pipe tells the names behind the samples" piped folded
pjfold -q -j 3 data >threads
same "the same by several threads" threads folded
pjfold -q --as-perf data >perf
is "as perf: it knows no methods" "$(grep -c 'interpreted\|a/B' perf)" 0
done_testing
