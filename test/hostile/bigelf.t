#!/bin/sh
# bigelf.t - ELF files that cost their readers far more than they cost their author: no helper process of pjrecord takes much memory,
# the recorder and the profile of others stay as they were, and pjfold reads the same files within bounds.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: record/symsaver/elfreducer.c record/symsaver/symparser.c record/unwind/cfiparser.c fold/symbols/elffile.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
helper_kb=131072    # of a helper process
recorder_kb=65536   # of the recorder, whose rings count, too
pjfold_kb=1048576   # debug information of browsers needs as much
peak=$(program bigelf)

# watch PID: until it ends, "NAME kB" of it and of all processes below it
# shellcheck disable=SC2046 # lists of PIDs and paths
watch()
{
	while kill -0 "$1" 2>/dev/null; do
		set -- "$1" $(descendants "$1")
		awk '/^Name:/ { name = $2 } /^VmHWM:/ { print name, $2 }' $(for watched; do echo "/proc/$watched/status"; done) 2>/dev/null
		set -- "$1"
		sleep 0.2
	done
}

setpriv --reuid=$attacker --regid=$attacker --clear-groups --pdeathsig KILL "$peak" --steady &
steady=$!
attacks="$attacks $steady"
pjrecord -v --all -F 199 --unwind=tables --window=10 --dir=out >paths 2>log &
recorder=$!
sleep 2
kill -0 $recorder || skip_all "pjrecord does not run here: $(head -n 1 log)"
watch $recorder >memory &
attack bigelf "$arena"
wait $attack 2>/dev/null
kill -KILL $steady 2>/dev/null
sleep 2
ok "SIGTERM is answered" ends_within 2 $recorder
awk '{ if ($2 + 0 > most[$1]) most[$1] = $2 + 0 } END { for (name in most) print name, most[name] }' memory >peaks
sed 's/^/# kB: /' peaks
ok "every file was written and run" test "$(wc -l <"$arena/log")" -eq 13
ok "each helper process stays below 128 MB" awk -v most=$helper_kb '$1 ~ /^pjrecord-/ { n++ } $1 ~ /^pjrecord-/ && $2 > most { bad = 1 } END { exit !(n && !bad) }' peaks
ok "the recorder stays small" awk -v most=$recorder_kb '$1 == "pjrecord" && $2 <= most { good = 1 } END { exit !good }' peaks

grep -h '\.data$' paths >windows
for window in $(cat windows); do pjfold -q "$window"; done >folded 2>why
ok "stacks of the program beside it are complete" awk -F';' '/steady_inner/ { w = $NF; sub(/.* /, "", w); all += w }
	/;main;(steady;)?steady_outer;steady_middle;steady_inner/ { good += w } END { print good, all; exit !(all > 100 && good >= all * .97) }' folded
: >costs
for window in $(cat windows); do
	for inline in '' --inline; do
		# shellcheck disable=SC2086,SC3045 # an option or none; dash and bash have -v
		(ulimit -v 3000000; "$peak" --peak pjfold -q $inline "$window") 2>>why | tail -n 1 >>costs
	done
done
sed 's/^/# kB, ms: /' costs
ok "pjfold reads the same files, and stays below 1 GB" awk -v most=$pjfold_kb '{ n++ } $1 > most { bad = 1 } END { exit !(n && !bad) }' costs
ok "  and needs seconds of CPU time at most" awk '$2 > 10000 { bad = 1 } END { exit !(NR && !bad) }' costs
sed 's/^/# /' log | tail -n 20
done_testing
