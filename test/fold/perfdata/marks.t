#!/bin/sh
# marks.t - the marks at the end of callchains by pjrecord (PJ_ITEM_UNWINDING): how the stack ends. One that pjrecord took from the
# kernel has four, and may be cut at the kernel's limit.
# covers: fold/recording.c fold/process/sampleframes.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

write=${PJ_BUILD:-$top/build/std-cc}/test/fold/perfdata/write
have pjfold && [ -x "$write" ] || skip_all "pjfold, or the writer, is not built"

# shares MARKS FRAMES: the shares of complete, truncated, broken and unknown stacks
shares()
{
	"$write" pj=3 samples=30 marks="$1" chain="$2" >data
	pjfold --stacks data 2>/dev/null | awk '/[(]all[)]$/ { print $2, $3, $4, $5 }'
}
is "one mark: truncated" "$(shares 1 20)" "0.0% 100.0% 0.0% 0.0%"
is "two marks: broken" "$(shares 2 20)" "0.0% 0.0% 100.0% 0.0%"
is "three marks: unknown" "$(shares 3 20)" "0.0% 0.0% 0.0% 100.0%"
is "four marks and as many frames as the kernel's limit: truncated" "$(shares 4 127)" "0.0% 100.0% 0.0% 0.0%"
pjfold -v data >/dev/null 2>said
ok "  with the limit" grep -q '240 stacks are truncated at 127 frames' said
is "  and below it not" "$(shares 4 126 | awk '{ print $2 }')" "0.0%"
done_testing
