#!/bin/sh
# foreign.t - files of other projects that pjfold once misread: the counts that perf has, or a refusal with the format's name.
# covers: fold/script/perfscript.c fold/samples/samplekey.c fold/names/namesjava.c fold/samples/samples.c fold/process/addrspace.c common/filter/foreign.c common/formats/foldedread.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
have pjfold || skip_all "pjfold is not built"

refused()
{
	name=$1 message=$2
	shift 2
	rm -f out
	"$@" >shown 2>err
	is "$name: status" $? 1
	ok "  $message" grep -q -- "$message" err
	ok "  nothing is written" test ! -s shown
}

# ---- text: written here
printf 'app    12 [001] 5.123456: 1 cycles:\n\t    7f1a2b3c4d5e malloc+0x1 (/x)\n\t           401000 main+0x5 (/app)\n\n' >tabs.script
expand tabs.script >blanks
is "TABs that became blanks: the callers stay" "$(pjfold -q blanks)" 'app;main;malloc 1'
ok "  as with TABs" test "$(pjfold -q blanks)" = "$(pjfold -q tabs.script)"
printf 'app    12 [001] 5.123456: 1 cycles:\n\t b3cea6c4 malloc (/x)\n\n' >short
is "a short address and a name that ends in a hexadecimal digit" "$(pjfold -q short)" 'app;malloc 1'
printf 'app    12 [001] 5.1: 1 cycles:\n\t   12345 deadbeef (/x)\n\n' >shorter
is "  and one that is such digits" "$(pjfold -q shorter)" 'app;deadbeef 1'
source='68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A'
printf '  ls  1234  5.123456:   1 cpu/mem-loads/pp: ffff8800b65e27e8  %s   7     7f56ff0be24b open+0x1 (/c.so)\n' "$source" >mem
printf '  ls  1234  5.123457:   1 cpu/mem-loads/pp: ffff8800b65e27e8  %s   7  12 ffffffff814041a3 [unknown] ([kernel.kallsyms])\n' "$source" >>mem
is "perf mem: the data source is no frame" "$(pjfold -q mem | tr '\n' ' ')" 'ls;[kernel.kallsyms]_[k] 1 ls;open 1 '
printf 'ls  1234  5.123456:   1 cycles:   %s\n\t 7f56ff0be24b open+0x1 (/c.so)\n\t 401000 main+0x5 (/ls)\n\n' "$source" >memchain
is "  nor with callchains" "$(pjfold -q --strict memchain)" 'ls;main;open 1'
printf 'Gecko\t12 [007] 7.10901:\t\t1000 task-clock:u:\n        b3cea6c4\tLock::unlock() (/c.so)\n        b3cea535\tmain (/app)\n\n' >simpleperf
is "simpleperf's script" "$(pjfold -q --strict --tid simpleperf)" 'Gecko-?/12;main;Lock::unlock 1'
is "  its times" "$(pjfold -q --from 7.0109 --to 7.010902 simpleperf | wc -l)" 1
printf 'vm 12 [001] 5.123456: 1 cycles:\n\t f719f4a4 fib.smx::fib+0x3c (/tmp/jitted-12-1.so)\n\n' >sourcepawn
is "SourcePawn is not Java; a tid of two digits before a cpu" "$(pjfold -q --comm=keep sourcepawn)" 'vm;fib.smx::fib_[j] 1'
{
	for i in 1 2 3; do printf 'app    12 [001] 5.00000%d: 1 cpu_core/cycles/P:\n\t 401000 main (/app)\n\n' $i; done
	for i in 4 5; do printf 'app    12 [001] 5.00000%d: 1 cpu_atom/cycles/P:\n\t 401000 work (/app)\n\n' $i; done
} >hybrid
is "a hybrid CPU: one event selected" "$(pjfold -q --only event=cpu_atom/cycles/P hybrid)" 'app;work 2'
is "  the other one" "$(pjfold -q --only event=cpu_core/cycles/P hybrid)" 'app;main 3'
is "  both by a pattern" "$(pjfold -q --only 'event=cpu_*/cycles/P' hybrid | wc -l)" 2
is "  both by default" "$(pjfold -q hybrid | awk '{ n += $NF } END { print n }')" 5
printf '#{"containers": []}\na;b 3\n' >comment
ok "a comment of gProfiler" pjfold -q --strict -o out comment
printf 'a;b 0.3\na;c 0.4\n' >seconds
echo 'a;b 18446744073709551616' >large
refused "a weight that is too large" "does not fit into 63 bits" pjfold large
refused "weights that round to 0" "below 0.5" pjfold seconds
printf 'JNI global refs: 25\nother text\n' >one
refused "one line of another format" "no folded stacks" pjfold one
printf 'a;b 3\nx\ny\n' >few
refused "more lines skipped than read" "no folded stacks" pjfold few
refused "  by pjdiff" "no folded stacks" pjdiff few comment
refused "  by pjsvg" "no folded stacks" pjsvg few
printf 'a;b 3\na;c 4\nx\n' >most
ok "a damaged line among stacks" pjfold -q -o out most
{ cat tabs.script; for i in 1 2 3 4; do echo "log line $i of another program"; done; } >log
refused "a log with a sample in it" "no text of perf script" pjfold log

# ---- files of other projects
foreign=$top/../shared/conformance/foreign
if [ ! -d "$foreign" ]; then
	skip "files of other projects" "shared/conformance is not here"
	done_testing
	exit
fi
total()
{
	pjfold -q "$@" 2>err | awk '{ n += $NF } END { print n + 0 }'
}
for pair in f4-hybrid:cpu_core:3228 f4-hybrid:cpu_atom:150 f4-hybrid-2:cpu_core:2411 f4-hybrid-2:cpu_atom:55; do
	IFS=: read -r file unit count <<END
$pair
END
	is "$file: samples of $unit" "$(total --only "event=$unit/cycles/P" "$foreign/$file.perf.data")" "$count"
done
is "kernel code without a mapping is kernel code" "$(pjfold -q --top 1 "$foreign/f3-kernel-without-mapping.perf.data" | awk 'NR == 2 { print $1, $5 }')" '83 [kernel.kallsyms]_[k]'
ok "  and the reason is named" sh -c 'pjfold -v "$1" 2>&1 >/dev/null | grep -q "no kernel symbols: "' - "$foreign/f3-kernel-without-mapping.perf.data"
ok "an empty feature" pjfold -q --strict -o out "$foreign/f8-empty-feature.perf.data"
ok "no samples: --list-events" pjfold --list-events -o out "$foreign/f16-no-samples.perf.data"
ok "source places without debug information" pjfold -q --strict -o out "$foreign/f11-srcline-single.script"
is "perf mem without callchains" "$(total "$foreign/f5-mem-record.script") $(pjfold -q "$foreign/f5-mem-record.script" | grep -c LVL)" "14 0"
is "  with" "$(total "$foreign/f5-mem-record-callchains.script" | awk '{ print ($1 > 30) }') $(pjfold --list-events "$foreign/f5-mem-record-callchains.script" | grep -c 's$')" "1 2"
is "simpleperf's script" "$(total "$foreign/f6-simpleperf.script")" 163
is "lost samples of one event" "$(pjfold -v "$foreign/f7-lost-per-event.perf.data" 2>&1 >/dev/null | grep -o '[0-9]* lost ([0-9.]* %)')" "1 lost (1.02 %)"
is "callers that are no addresses" "$(pjfold -q --addrs "$foreign/f9-dwarf-noncanonical.perf.data" | grep -c unknown)" 0
is "LBR after a skid" "$(pjfold -q --symfs "$foreign/f13-symfs" "$foreign/f13-lbr.perf.data" | grep -c sysmalloc)" 0
ok "messages behind a pipe" pjfold -q --strict -o out "$foreign/f15-stderr-behind-pipe.perf.data"
ok "SourcePawn" sh -c 'pjfold -q "$1" | grep -q "fib.smx::fib_"' - "$foreign/f17-sourcepawn.script"
for file in asprof-traces.txt callgrind.out go-pprof-raw.txt macos-sample.txt my-dockerlogs.script pstats.txt stap.txt; do
	for tool in pjfold pjsvg; do
		refused "$tool $file" "$file: \(this is\|these are\|each line\) " $tool "$foreign/f2-$file"
	done
done
while read -r file samples; do
	is "$file" "$(total "$foreign/f2-$file")" "$samples"
	refused "  pjsvg" "pjfold FILE" pjsvg "$foreign/f2-$file"
	refused "  pjdiff" "pjfold FILE" pjdiff "$foreign/f2-$file" "$foreign/f2-$file"
done <<END
bcc-profile.txt 11
bpftrace-perfmode.txt 3
bpftrace-ustack.txt 20
jfr-print.txt 9
jstack.txt 2
simpleperf-report-sample.txt 1
END
done_testing
