#!/bin/sh
# record.t - pjrecord on this machine, with loads that are known (test/record/burn.c).
#
# Figures have margins for a loaded machine: what counts is compared with counting noise, what is timed with the same run.
# PJ_SYSCTL=1: also with kernel.perf_event_max_stack raised, for a moment.
# stage: live
# covers: record/pjrecord.c record/recordopts.c record/session/session.c record/session/sessionevents.c record/session/sessionrecords.c record/session/output.c record/session/openwindow.c record/single.c
# covers: record/command.c record/recordreport.c record/perf/chunk.c record/perf/events.c record/perf/eventattrs.c record/perf/sources.c record/perf/openevent.c
# covers: record/perf/rings.c record/perf/ringpoll.c record/processes/kernel.c record/processes/host.c
# covers: record/processes/idlist.c record/processes/idle.c record/processes/cgroups.c record/processes/rescan.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/record/burn.sh
. "$(dirname "$0")/burn.sh"

# ---- one command
ok "a command is recorded" pjrecord -q -F 999 -o one.data -- ./$burn shares 4
pjfold -q one.data >one.folded 2>err
awk '{ n = $NF; for (i = split($0, f, /[; ]/); i > 0; i--) if (f[i] ~ /^(fifty|thirty|twenty)$/) { c[f[i]] += n; t += n; break } }
	END {
		want["fifty"] = 50; want["thirty"] = 30; want["twenty"] = 20
		if (t < 100) { print "only " t " samples"; exit 1 }
		for (k in want) {
			got = 100 * c[k] / t; noise = 4 * sqrt(want[k] * (100 - want[k]) / t)
			if (got - want[k] > 1.5 + noise || want[k] - got > 1.5 + noise) { printf "%s: %.2f of %d samples\n", k, got, t; bad = 1 }
		}
		exit bad
	}' one.folded >shares
if [ -s shares ]; then fail "three functions that burn 50, 30 and 20 %" shares; else pass "three functions that burn 50, 30 and 20 %"; fi

pjrecord -q -o st.data -- sh -c 'exit 7' 2>err
is "the command's status is passed on" $? 7
pjrecord -q -o st.data -- sh -c 'kill -TERM $$' 2>err
is "  and its signal" $? 143
rm -f st.data
pjrecord -q -o st.data -- ./no-such-program 2>err
is "no such program" $? 127
ok "  is said" grep -q 'no-such-program: No such file' err
ok "  and leaves no recording" not test -e st.data
touch notexec
pjrecord -q -o st.data -- ./notexec 2>err
is "not executable" $? 126
pjrecord -q -o /no/such/dir/x.data -- true 2>err
is "no folder for the output: 125, as of timeout(1)" $? 125
pjrecord -q -o /dev/full -- true 2>err
is "no file to write into" $? 125

ok "a pipe" sh -c 'pjrecord -q -F 999 -o - -- ./$burn spin 1 >pipe.data'
pjfold -q pipe.data >pipe.folded 2>err
ok "  that pjfold reads" grep -q 'main;fifty' pipe.folded
pjrecord -q -F 999 -o - -- sh -c "echo printed; ./$burn spin 0.5; echo more" 2>printed >pipe2.data
is "  what the command prints is not in it" "$(pjfold -q --strict pipe2.data 2>err | grep -o 'main;fifty' | sort -u) $(cat err printed | tr '\n' ' ')" "main;fifty printed more "
if "$perf" --version >/dev/null 2>&1; then
	"$perf" script -i - <pipe.data >script 2>err
	ok "  and perf script" grep -q fifty script
	is "  with all samples" "$("$perf" script -G -i - -F comm <pipe.data 2>err | grep -c .)" "$("$dump" --count pipe.data | sed -n 's/^SAMPLE //p')"
else
	skip "a pipe that perf script reads" "perf is not installed"
fi
pjrecord -q -o full.data -- ./$burn spin 0.2 >/dev/full 2>err
is "standard output is the command's own" $? 0
pjrecord -q -o - -- ./$burn spin 0.2 >/dev/full 2>err
is "a full disk behind a pipe is an error" $? 125

# ---- processes
load 1 spin 20
pid=${load# }
pjrecord -q -F 999 -w 1 -n 2 -d ofpid -p "$pid" >windows 2>err
is "-p: two windows" "$(wc -l <windows | tr -d ' ')" 2
for w in $(cat windows); do "$dump" "$w"; done | awk -v pid="$pid" '/^SAMPLE/ { split($2, p, "/"); n++; if (p[1] != pid) other++ } END { print (n > 20 ? "some" : n), other + 0 }' >whose
is "  of that process alone" "$(cat whose)" "some 0"
kill "$pid" 2>/dev/null
wait "$pid" 2>/dev/null
pjrecord -q -o x.data -p 2147483 2>err
is "-p: a process that is not there" $? 1
ok "  is said" grep -q 2147483 err

cat >many.c <<'END'
#include <pthread.h>
#include <unistd.h>
static void *idle(void *arg) { pause(); return arg; }
int main(void)
{
	pthread_attr_t a;
	pthread_t t;
	int n = 0;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 65536);
	while (n < 500 && pthread_create(&t, &a, idle, NULL) == 0)
		n++;
	pause();
}
END
if [ "$all" ] && cc -pthread -o many many.c; then
	./many &
	pid=$!
	i=0
	while [ "$(ls /proc/$pid/task | wc -l)" -lt 501 ] && [ $i -lt 200 ]; do
		sleep 0.05
		i=$((i + 1))
	done
	pjrecord -q -w 1 -n 3 -d threads -p $pid >threads.out 2>err &
	recorder=$!
	i=0
	while ! [ -s threads.out ] && [ $i -lt 200 ]; do
		sleep 0.05
		i=$((i + 1))
	done
	fds=$(ls /proc/$recorder/fd | wc -l)
	# 28 with 2 CPUs, as root: 22, and 6 eventfds and epolls of the reader of interpreters
	ok "-p: of a process with 500 threads, descriptors of CPUs ($fds)" test "$fds" -gt 2 -a "$fds" -lt $((32 + 2 * cpus))
	wait $recorder
	kill $pid
	wait $pid 2>/dev/null
else
	skip "-p: of a process with 500 threads, descriptors of CPUs" "not allowed here"
fi
top_cgroup=$(sed -n 's/^[^ ]* [^ ]* [^ ]* [^ ]* \([^ ]*\) .* - cgroup2 .*/\1/p' /proc/self/mountinfo | head -n 1)
if [ "$all" ] && [ "$top_cgroup" ] && mkdir "$top_cgroup/pj-test-$$" 2>/dev/null; then
	sh -c "echo \$\$ >$top_cgroup/pj-test-$$/cgroup.procs && exec ./$burn spin 20" &
	pid=$!
	pjrecord -q -F 999 -w 1 -n 2 -d group -G "pj-test-$$" >windows 2>err
	is "-G: what runs in it, and nothing else" "$("$dump" "$(sed -n 2p windows)" 2>&1 | awk -v pid=$pid '/^SAMPLE/ { split($2, p, "/"); n++; if (p[1] != pid) other++ } END { print (n > 20 ? "some" : n + 0), other + 0 }')" "some 0"
	kill $pid
	wait $pid 2>/dev/null
	rmdir "$top_cgroup/pj-test-$$"
else
	skip "-G: what runs in it, and nothing else" "not allowed here, or no cgroup to be made"
fi
most=$(cat /proc/sys/kernel/perf_event_max_sample_rate 2>/dev/null || echo 1000000)
if [ "$most" -lt 1000000 ]; then
	pjrecord -q -F $((most + 1)) -o fast.data -- true 2>err
	ok "a frequency above what the kernel allows: the one that it does, and the sysctl" grep -q ": -F $most, or: sudo sysctl kernel.perf_event_max_sample_rate=$((most + 1))\$" err
fi

./$burn spin 1 &
pid=$!
start=$(date +%s)
pjrecord -q -o ends.data -p $pid 2>err
is "-p ends with its process" $? 0
ok "  soon" test $(($(date +%s) - start)) -lt 30

if [ "$(id -u)" = 0 ] && have setpriv; then
	mkdir free && chmod 777 free && chmod 755 "$scratch"
	cp $burn free/
	setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all sh -c 'cd free && pjrecord -v -F 999 -o user.data -- ./$burn spin 1' 2>err
	status=$?
	paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
	if [ "$paranoid" -le 2 ]; then
		is "without privileges: an own command" $status 0
		pjfold -q free/user.data >user.folded 2>err2
		ok "  with its names" grep -q 'main;fifty' user.folded
		if [ "$paranoid" = 2 ]; then ok "  and says that the kernel's part is missing" grep -q 'user space only' err; fi
	fi
	if [ "$paranoid" -gt 0 ]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all sh -c 'cd free && pjrecord -v -a -w 1 -n 1 -d w' 2>err
		is "without privileges: the whole host is refused" $? 1
		ok "  with the command that helps" grep -qE 'setcap|sysctl|perf_event_paranoid' err
	fi
	setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all sh -c './free/$burn spin 5 & cd free; pjrecord -q -F 999 -o own.data -p $! & sleep 1; kill $!; wait $!' 2>err
	pjfold -q free/own.data >own.folded 2>err2
	ok "without privileges: an own process, thread by thread" grep -q 'main;fifty' own.folded
else
	skip "without privileges" "needs root, to become somebody else, and setpriv"
fi

# ---- stacks that are too deep for the kernel
# frames FILE: samples of the deep function, the most and the fewest frames of it in one, and how many begin with main
frames()
{
	pjfold -q "$1" 2>err2 | awk '/;deep;/ { n = $NF; k = gsub(/;deep/, ""); all += n; if (k > most) most = k; if (!least || k < least) least = k; if (/;main[; ]/) whole += n }
		END { print all + 0, most + 0, least + 0, whole + 0 }'
}
max_stack=/proc/sys/kernel/perf_event_max_stack
limit=$(cat $max_stack 2>/dev/null || echo 127)
pjrecord -v -F 999 -o flat.data -- ./$burn deep 20 1 2>err
ok "stacks that are not deep: nothing is said of the limit" not grep -q perf_event_max_stack err
pjrecord -v -F 999 -o deep.data -- ./$burn deep 300 1 2>err
read -r all most least whole <<-END
	$(frames deep.data)
END
ok "stacks of 300 frames are whole, since we walk them ($whole of $all samples)" test "$all" -gt 20 -a "$most" -ge 300 -a "$whole" -ge $((all - all / 5))
ok "  so nothing is said of the limit" not grep -q perf_event_max_stack err
if [ "$limit" -lt 300 ]; then
	pjrecord -v --unwind=fp -F 999 -o deep.data -- ./$burn deep 300 1 2>err
	read -r all most least whole <<-END
		$(frames deep.data)
	END
	ok "stacks of 300 frames are cut ($all samples, $least to $most frames of it)" test "$all" -gt 20 -a "$most" -le "$limit" -a "$most" -gt $((limit - 20)) -a "$whole" = 0
	ok "  this is said, with the sysctl" grep -q "truncated: sysctl kernel.perf_event_max_stack=1024 first" err
	cut=$(sed -n 's/.*; \([0-9,]*\) stacks.* truncated at .* frames.*/\1/p' err | tr -d ,)
	ok "  and counted: each of these, and hardly others ($cut)" test "${cut:-0}" -ge "$all" -a "${cut:-0}" -le $((all + all / 10 + 5))
	ok "  pjfold --info knows, too" sh -c "pjfold --info deep.data | grep -q 'truncated at the kernel'"
	pjrecord -v --unwind=fp -F 999 -w 60 -d deepwin -- ./$burn deep 300 1 >windows 2>err
	ok "  a window: the same" grep -q "$(cat windows): .* stacks.* truncated at $limit frames" err
	ok "  with the sysctl" grep -q "truncated: stop, sysctl kernel.perf_event_max_stack=1024, start" err
else
	skip "stacks of 300 frames are cut" "kernel.perf_event_max_stack is $limit"
fi
# set_max_stack N: the kernel allows it when nobody records callchains just then
set_max_stack()
{
	i=0
	until { echo "$1" >$max_stack; } 2>why; do
		i=$((i + 1))
		[ $i -lt 120 ] || return 1
		sleep 0.5
	done
}
raised=
if [ -z "${PJ_SYSCTL:-}" ]; then
	skip "stacks of 300 frames are whole where the kernel may" "it changes the system: PJ_SYSCTL=1"
elif ! set_max_stack $((limit < 512 ? 1024 : limit)); then
	skip "stacks of 300 frames are whole where the kernel may" "kernel.perf_event_max_stack cannot be changed now: $(cat why)"
else
	raised=1
fi
if [ "$raised" ]; then
	trap 'set_max_stack "$limit"; chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT
	pjrecord -v --unwind=fp -F 999 -o deep.data -- ./$burn deep 300 1 2>err
	ok "kernel.perf_event_max_stack=1024: nothing is said of a limit" not grep -q 'perf_event_max_stack\|truncated at' err
	read -r all most least whole <<-END
		$(frames deep.data)
	END
	ok "  and stacks of 300 frames are whole ($whole of $all samples, $least to $most frames of it)" \
		test "$all" -gt 20 -a "$most" = 301 -a "$least" -ge 300 -a "$whole" = "$all"
	if "$perf" --version >/dev/null 2>&1; then
		"$perf" script --max-stack 1024 -i deep.data -F ip,sym 2>/dev/null | awk 'NF { if ($2 == "deep") n++; next } { if (n > most) most = n; n = 0 } END { print most }' >most
		is "  perf script finds as many" "$(cat most)" 301
	fi
	pjrecord -v -F 999 --off-cpu -o off.data -- ./$burn deep 300 1 2>err
	is "  with --off-cpu, too" "$(frames off.data | cut -d' ' -f2)" 301
	set_max_stack "$limit"
	trap 'chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT
	is "  and the sysctl is what it was" "$(cat $max_stack)" "$limit"
fi

if [ -z "$all" ]; then
	skip "the whole host: windows, gaps, storms" "not allowed here: $(head -n 1 why)"
	done_testing
fi

# ---- windows
# No interval between two samples of a CPU that lies across a border is longer by a sample than the longest within windows:
# the load keeps every CPU busy, and makes intervals equal but for what the machine's other work does, and its host.
load $((2 * cpus)) spin 14
sleep 1
pjrecord -v -F 999 -w 1 -n 8 -d gap >windows 2>err
status=$?
# shellcheck disable=SC2086
kill $load 2>/dev/null
wait 2>/dev/null
is "eight windows" "$status $(wc -l <windows | tr -d ' ')" "0 8"
i=0
: >ticks
for w in $(cat windows); do
	i=$((i + 1))
	"$dump" "$w" | awk -v w=$i '/^SAMPLE/ { for (k = 1; k < NF; k++) if ($k == "cpu") print $(k + 1), $3, w }' >>ticks
done
sort -n -k1,1 -k2,2 ticks | awk '
	NR > 1 && $1 == cpu { d = $2 - t; if ($3 != w) { if (d > across[cpu]) across[cpu] = d; borders++ } else if (d > within[cpu]) within[cpu] = d }
	{ cpu = $1; t = $2; w = $3 }
	END { for (c in within) if (across[c] > within[c] + 1e9 / 999) { printf "CPU %s: %d ns across a border, %d ns within windows\n", c, across[c], within[c] }
		if (borders < 7) print borders + 0 " borders only" }' >gaps
if [ -s gaps ]; then fail "no gap between windows" gaps; else pass "no gap between windows"; fi
is "every sample is in the window of its time" "$(sort -n -k2,2 ticks | awk '$3 < w { bad++ } { w = $3 } END { print bad + 0 }')" 0
is "nothing was lost" "$(for w in $(cat windows); do "$dump" "$w"; done | grep -c '^LOST')" 0
if "$perf" --version >/dev/null 2>&1; then
	w=$(sed -n 4p windows)
	"$perf" script -i "$w" -F comm,pid,tid,cpu,time,event,ip,sym,dso >script 2>err
	pjfold -q script >a.folded 2>err
	pjfold -q --as-perf --root=thread "$w" >b.folded 2>err
	# (names of lambdas and the like may differ where processes ended meanwhile: total and stacks of the load are the same)
	is "perf script and pjfold read the same number of samples" "$(sum a.folded)" "$(sum b.folded)"
	is "  and the same stacks of the load" "$(grep "^$burn" a.folded)" "$(grep "^$burn" b.folded)"
	ok "perf report reads the header" sh -c "'$perf' report --header-only -i '$w' 2>&1 | grep -q 'perf version : pjrecord'"
	ok "  and the clock" sh -c "'$perf' report --header-only -i '$w' 2>&1 | grep -q 'clockid: monotonic'"
	"$perf" buildid-list -i "$w" >ids 2>err
	ok "  and build-ids" grep -q libc ids
else
	skip "windows that perf reads" "perf is not installed"
fi
done_testing
