#!/bin/sh
# wall.t - a wall-clock profile: the times of each thread add up to its wall time, and its on-CPU time is that of schedstat.
#
# A thread that the join waits for may end long before, so only the wall time that it measures itself and that of
# its life bound the sum. The bound of run time is 0.1 % of wall time and 20 us for each time slice, as the kernel ends
# the run time of a thread that a wakeup preempts at the wakeup already; of threads that wake each other, whose switches
# have no such delay, 1.5 us for each. Run time excludes the time that a hypervisor steals, which is known to 20 ms.
# stage: live
# once: it compares with the kernel's counts, whatever the compiler
# covers: fold/troubles.c record/offcpu/oncpu.c record/offcpu/switches.c record/offcpu/switchtimes.c fold/names/waitreason.c fold/stackquality.c record/perf/events.c record/offcpu/offcpusum.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
export LC_ALL

{ have pjrecord && have pjfold; } || skip_all "pjrecord or pjfold is not built"
have cc || skip_all "no compiler for the load"
[ "$(id -u)" = 0 ] || skip_all "context switches are recorded as root"
cc -O1 -pthread -o wallload "$top/test/record/offcpu/wallload.c" || skip_all "the load does not compile"
./wallload 1 >probe || skip_all "this kernel has no schedstat"
timeout 60 pjrecord -q --off-cpu -o probe.data -- true 2>why || skip_all "context switches may not be recorded here: $(head -n 1 why)"

stolen() { awk '$1 == "cpu" { print $7 + $8 + $9 }' /proc/stat; }
before=$(stolen)
timeout 60 pjrecord -v --wall -o wall.data -- ./wallload 3000 >threads 2>said
is "the load is recorded" "$?" 0
steal=$((($(stolen) - before + 2) * 10000000))
pjfold --tid --header wall.data >folded 2>folding
ok "the unit is ns, the event wall-time" grep -q '^# pj unit=ns event=wall-time ' folded
ok "all four events are folded" sh -c '! grep "not counted" folding'

ok "  the sentence judges all of this time" grep -q '; [0-9.]* % of the wall-clock time has complete stacks' folding
is "  and the stacks of waits, too" "$(pjfold -q --stacks wall.data | awk '/\(all\)$/ { print $1; exit }')" "$(sed -n 's/^# pj .* samples=\([0-9]*\).*/\1/p' folded)"

awk -v steal="$steal" 'FNR == NR { name[$1] = $2; inner[$1] = $3; outer[$1] = $4; run[$1] = $5; delay[$1] = $6; slices[$1] = $7; next }
	/^#/ { next }
	{
		tid = $0; sub(/;.*/, "", tid); sub(/.*\//, "", tid)
		kind = /;\[preempted\] [0-9]*$/ ? "preempted" : /;\[blocked[^;]*\] [0-9]*$/ ? "blocked" : "on"
		ns[tid, kind] += $NF
		if (/;\[blocked: sleep\] [0-9]*$/) slept[tid] += $NF
	}
	END { for (tid in name) {
		on = ns[tid, "on"]; all = on + ns[tid, "preempted"] + ns[tid, "blocked"]
		bound = outer[tid] / 1000 + (name[tid] ~ /^p/ ? 1500 : 20000) * slices[tid] + steal
		difference = on > run[tid] ? on - run[tid] : run[tid] - on
		printf "%s sum %s\n", name[tid], (all >= inner[tid] * 0.998 && all <= outer[tid] * 1.002 ? "right" : "wrong")
		printf "%s run %s\n", name[tid], (difference <= bound ? "right" : "wrong")
		printf "%s delay %s\n", name[tid], (ns[tid, "preempted"] <= delay[tid] + bound ? "right" : "wrong")
		if (name[tid] == "sleep") printf "sleep reason %s\n", (slept[tid] >= 0.9 * ns[tid, "blocked"] ? "right" : "wrong")
		printf "# %s: on %.0f, run %.0f, preempted %.0f, delay %.0f, blocked %.0f, sum %.0f, wall %.0f to %.0f, %d slices\n",
			name[tid], on, run[tid], ns[tid, "preempted"], delay[tid], ns[tid, "blocked"], all, inner[tid], outer[tid], slices[tid]
	} }' threads folded >verdicts
grep '^#' verdicts
if grep -q 'unknown, because records were lost' said; then
	skip "sums" "this host lost records"
else
	is "the times of each thread add up to its wall time" "$(grep -c 'sum right' verdicts)" 6
	is "on-CPU time is the run time of schedstat" "$(grep -c 'run right' verdicts)" 6
	is "preempted time is a part of the run delay" "$(grep -c 'delay right' verdicts)" 6
	if grep -q 'do_nanosleep' folded; then
		is "the sleeper's waits are [blocked: sleep]" "$(grep -c 'reason right' verdicts)" 1
	else
		skip "reasons of waits" "kernel frames have no names here"
	fi
fi
cc -O1 -fomit-frame-pointer -fno-unwind-tables -fno-asynchronous-unwind-tables -o tableless "$top/test/record/burn.c"
timeout 60 pjrecord -q --wall -o tableless.data -- ./tableless shares 1 2>err
pjfold -v tableless.data 2>judged >/dev/null
ok "broken stacks of on-CPU samples have their own reason" grep -q 'broken stacks: tableless has code without unwind tables' judged
timeout 60 pjrecord --wall --idle -o no.data -- true 2>err
is "--idle is refused" "$?" 2
timeout 60 pjrecord --wall -G / -o no.data -w 1 2>err
is "cgroups are refused" "$?" 2
ok "  with the reason" grep -q 'that a thread leaves a cgroup' err
timeout 60 pjrecord --wall -e page-faults -o no.data -- true 2>err
is "an event that samples no CPU time is refused" "$?" 2
done_testing
