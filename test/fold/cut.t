#!/bin/sh
# cut.t - stacks that go on outside of what was recorded: told, counted in --stacks, with the remedy.
# full-san: 10 s with sanitizers
# covers: fold/stackquality.c fold/process/copiedstack.c fold/process/sampleframes.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME
perf=${PJ_PERF:-perf}
write=${PJ_BUILD:-$top/build/std-cc}/test/fold/perfdata/write

have pjfold && [ -x "$write" ] || skip_all "pjfold, or the writer, is not built"

# share: the column of all stacks
share()
{
	pjfold -q --stacks "$1" 2>/dev/null | awk '$NF == "(all)" { print $3 + 0 }'
}

# Written callchains are of any depth: what stops short of the deepest was not cut.
"$write" chain=100 >in.data
is "no stack is as deep as the limit" "$(share in.data) $(pjfold -v in.data 2>&1 >/dev/null | grep -c 'stacks* .* truncated at')" "0 0"
"$write" chain=300 samples=500 >in.data
pjfold -v in.data >deep 2>err
deepest=$(sed -n 's/.* truncated at \([0-9]*\) frames.*/\1/p' err)
ok "the limit is that of the deepest" test "${deepest:-0}" -gt 280
ok "  with the remedy" grep -q 'sysctl kernel.perf_event_max_stack=1024, then record' err
is "  all frames are there" "$(awk -F';' 'NF > n { n = NF } END { print n - 1 }' deep)" "$deepest"
ok "  few stacks are that deep" test "$(share in.data | cut -d. -f1)" -lt 5

# pjrecord records the limit of the kernel, so the deepest callchain need not be truncated.
"$write" chain=300 samples=500 pj=1 limit=512 >in.data
is "a recorded limit of 512: none is that deep" "$(share in.data) $(pjfold -v in.data 2>&1 >/dev/null | grep -c 'stacks* .* truncated at')" "0 0"
"$write" chain=100 samples=500 pj=1 limit=95 >in.data
ok "a recorded limit below the kernel's default" sh -c "pjfold -v in.data 2>&1 >/dev/null | grep -q ' truncated at [0-9]* frames'"

# Registers and a copy of the stack, but no callchain: only the address tells where the kernel was.
"$write" sample=0x3107 odd=1 >in.data
pjfold -q --symfs "$top/test/fuzz/symfs" in.data >bare
ok "without callchains the kernel's frame is the innermost" grep -q ';\[unknown\];\[kernel' bare
ok "  and there is no caller of user code" not grep -q '\[kernel[^;]*;' bare

"$perf" --version >/dev/null 2>&1 || { skip "live" "perf is not installed"; done_testing; }
have cc || { skip "live" "no compiler"; done_testing; }
cat >deep.c <<'C'
#include <stdlib.h>
__attribute__((noinline)) unsigned long deep(unsigned long n)
{
	unsigned long s = 0;

	if (n)
		return deep(n - 1) + 1;
	for (volatile unsigned long i = 0; i < 300000000; i++)
		s += i;
	return s;
}
int main(int argc, char **argv)
{
	return deep(argc > 1 ? strtoul(argv[1], 0, 10) : 0) == 1;
}
C
cc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o deep deep.c || { skip "live" "the load does not compile"; done_testing; }
limit=$(cat /proc/sys/kernel/perf_event_max_stack 2>/dev/null || echo 127)
if ! timeout 120 "$perf" record -B -q -F 499 -e cpu-clock:u -g -o deep.data ./deep $((limit + 200)) >/dev/null 2>why; then
	skip "live" "perf record is not allowed here: $(head -n 1 why)"
	done_testing
fi
pjfold -v deep.data >/dev/null 2>err
ok "deeper than the kernel keeps" grep -q " truncated at $limit frames" err
ok "  nearly all are cut" test "$(share deep.data | cut -d. -f1)" -gt 90
timeout 120 "$perf" record -B -q -F 499 -e cpu-clock:u -g -o shallow.data ./deep 50 >/dev/null 2>&1
is "less deep: none" "$(share shallow.data)" 0
if timeout 120 "$perf" record -B -q -F 499 -e cpu-clock:u --call-graph fp --max-stack 20 -o own.data ./deep 50 >/dev/null 2>&1; then
	pjfold -v own.data >/dev/null 2>err
	ok "--max-stack of the recorder" grep -q 'stacks* .* truncated by perf record --max-stack' err
	ok "  nearly all are cut" test "$(share own.data | cut -d. -f1)" -gt 90
else
	skip "--max-stack of the recorder" "this perf has no such option"
fi
if timeout 120 "$perf" record -B -q -F 499 -e cpu-clock:u --call-graph dwarf,1024 -o copy.data ./deep 200 >/dev/null 2>&1; then
	pjfold -v copy.data >/dev/null 2>err
	ok "a copy that is too short for the stack" grep -q 'longer than the recorded copy' err
	ok "  nearly all are cut" test "$(share copy.data | cut -d. -f1)" -gt 90
	pjfold -q copy.data >plain
	ok "  frames are what they were" grep -q '^deep;deep;deep' plain
	pjfold -q --root=both copy.data >both
	ok "  behind the thread's name, too" grep -q '^deep;\[deep\];deep;deep' both
	pjfold -q --collapse-recursion copy.data >collapsed
	ok "  --collapse-recursion knows what is a function" grep -qx 'deep;deep [0-9]*' collapsed
else
	skip "a copy that is too short for the stack" "no --call-graph dwarf here"
fi
done_testing
