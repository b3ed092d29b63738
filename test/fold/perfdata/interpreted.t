#!/bin/sh
# interpreted.t - frames of interpreted Java methods and Python functions in a recording of pjrecord: the names that it contains, the number
# of frames without one, and lines with --srcline.
# covers: fold/perfdata/interpreted.c fold/resolve.c fold/names/names.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME
write=${PJ_BUILD:-$top/build/std-cc}/test/fold/perfdata/write

have pjfold && [ -x "$write" ] || skip_all "pjfold, or the writer, is not built"
"$write" pj=3 samples=300 >data
pjfold -v data >folded 2>said

# frames NAME [FILE]: how often it is a frame of FILE (folded), by weight
frames()
{
	want=$1 awk 'BEGIN { want = ENVIRON["want"] } { w = $NF; sub(/ [0-9]+$/, ""); for (i = split($0, f, ";"); i > 1; i--) if (f[i] == want) all += w } END { print all + 0 }' "${2:-folded}"
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

# Python: the instructions of a function are one frame, and with --srcline those of a line
"$write" pj=4 samples=300 >python
pjfold -q python >functions
pjfold -q --srcline python >lines
ok "Python: a function" test "$(frames 'm.f_[0]' functions)" -gt 200
is "  without a file or a line" "$(grep -c 'm[.]py\|:[0-9]' functions)" 0
is "  by line: the same samples" "$(($(frames 'm.f:m.py:3_[0]' lines) + $(frames 'm.f:m.py:4_[0]' lines)))" "$(frames 'm.f_[0]' functions)"
ok "  of both" test "$(frames 'm.f:m.py:3_[0]' lines)" -gt 100 -a "$(frames 'm.f:m.py:4_[0]' lines)" -gt 100
ok "a file of hostile bytes" test "$(frames "m.g:a:b\\x0a\\x1b[31m$(printf '\377')_[k] 12:7_[0]" lines)" -gt 100
ok "a function without a line, with several, without a file" test "$(frames 'm.h_[0]' lines)" -gt 100 -a "$(frames 'm.k_[0]' lines)" -gt 100 \
	-a "$(frames 'm.only_[0]' lines)" -gt 50
ok "native frames have none" not grep -q 'worker:\|\]:' lines
pjfold -q lines >again
same "other tools read the lines" again lines
"$write" pj=4 samples=300 pipe=1 | pjfold -q --srcline - >piped
same "the same from a pipe" piped lines
pjfold -q -j 3 --srcline python >threads
same "  and by several threads" threads lines
pjfold -q --top 20 python >top
is "--top: a row for a function" "$(grep -c 'm[.]f' top)" 1
pjfold -q --top 20 --srcline python >top
is "  and one for a line" "$(grep -c 'm[.]f:m[.]py:[34]_\[0\]' top)" 2
pjfold -q --top 20 --sort dso,sym --srcline python >top
is "  of each file" "$(grep -c 'interpreted.*m[.]f:m[.]py:[34]' top)" 2
pjfold -q --tree=0 --srcline python >tree
ok "--tree, too" grep -q 'm[.]f:m[.]py:3_\[0\]' tree
pjfold -q --annotate=none --srcline python >plain
ok "without kinds" grep -q ';m[.]f:m[.]py:4\(;.*\)\? [0-9]*$' plain
pjfold -q --header --srcline python | head -n 1 >header
pjfold -q --header python | head -n 1 >header.without
same "the header has no more" header header.without
pjfold --info python >info 2>&1
ok "--info counts the instructions" grep -qx 'functions  23 instructions of interpreted functions' info
pjfold -q --as-perf --srcline python >perf
is "as perf: it has no functions" "$(grep -c 'm[.]f\|m[.]py' perf)" 0
"$write" pj=5 samples=300 >damaged
pjfold --srcline damaged >part 2>said
is "a list that is cut" "$?" 1
ok "  is said" grep -q 'the list of interpreted functions is truncated' said
ok "  what is before the cut has its lines" test "$(frames 'm.f:m.py:3_[0]' part)" = "$(frames 'm.f:m.py:3_[0]' lines)"
ok "  what is cut has no name" test "$(frames 'm.only_[0]' part)" -lt "$(frames 'm.only_[0]' lines)"
done_testing
