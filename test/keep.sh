#!/bin/sh
# keep.sh TEST - run one test, pass its TAP on and keep it in PJ_TAP, for tally.awk. Ends a test after its limit: 10 minutes; 20 for
# tests in a browser and for those that build all tools or boot a guest, since other builds use the same CPUs (up to 571 s seen).
# `# time N s, CPU N s` before the last line has its elapsed time and the CPU time of the processes that it waited for.
#
# PJ_AGAIN: a test that samples this machine or a guest runs a second time if it fails, since the cause may be other programs
# or chance. The first failure stays in the TAP as `# unsteady`, and tally.awk names it: a test that is often there has a defect, or
# shows one.
set -u
name=$(echo "$1" | sed 's|^build/[^/]*/||; s|^test/||; s|/|-|g')
case $1 in
/*) test=$1 ;;
*) test=$PWD/$1 ;;
esac
limit=600
case $1 in
*test/svg/browser/* | */packaging/dist.t | */units-guest.t) limit=1200 ;;
*/fleet.t) limit=$((600 + ${PJ_FLEET_SECS:-130})) ;;
esac
# not cases, laws, unit tests, packages: those are the same each time
again=
case $name in
fold-live.t | fold-native.t | record-*.t | jmap-*.t | runtimes-*.t | flame-*.t | send-*.t | fold-cgroups.t | fold-cut.t | fold-perfdata-perfdata.t | suite-examples.t | \
	fold-symbols-*.t | fold-process-*.t | fold-troubles.t | unwind-*.t | svg-browser-* | hostile-*.t | suite-fleet.t | suite-guide.t | suite-languages.t | \
	suite-pods.t | suite-units*-guest.t)
	again=${PJ_AGAIN:-} ;;
esac

# show_processes SECONDS: then prints all processes, with their ages and the kernel functions in which they wait
show_processes()
{
	sleep "$1" &
	sleeper=$!
	trap 'kill $sleeper; exit' TERM
	wait $sleeper
	ps -eo pid,ppid,stat,etimes,wchan:20,args --forest | grep -v '\]$' | cut -c1-160 | tail -n 60
}

run()
{
	began=$(date +%s.%N)
	show_processes $((limit - 10)) >"$PJ_TAP/$name.hang" 2>/dev/null &
	watcher=$!
	timeout $limit "$test" 2>"$PJ_TAP/$name.err"
	status=$?
	kill $watcher 2>/dev/null
	wait $watcher 2>/dev/null
	if [ $status = 124 ]; then
		echo "# over the limit of $limit s"
		sed 's/^/# before the limit: /' "$PJ_TAP/$name.hang"
	fi
	rm -f "$PJ_TAP/$name.hang"
	if [ -s "$PJ_TAP/$name.err" ]; then
		sed 's/^/# stderr: /' "$PJ_TAP/$name.err" | head -60
	fi
	rm -f "$PJ_TAP/$name.err"
	times >"$PJ_TAP/$name.times"
	echo "# time $(awk -v a="$began" -v b="$(date +%s.%N)" '
		function seconds(s) { sub(/s$/, "", s); split(s, part, "m"); return 60 * part[1] + part[2] }
		NR == 2 { cpu = seconds($1) + seconds($2) }
		END { printf "%.1f s, CPU %.1f s", b - a, cpu }' "$PJ_TAP/$name.times")"
	rm -f "$PJ_TAP/$name.times"
	echo "# exit $status"
	echo "$status" >"$PJ_TAP/$name.status"
}

if [ -n "$again" ]; then
	run >"$PJ_TAP/$name.first"
	if [ "$(cat "$PJ_TAP/$name.status")" = 0 ]; then
		cat "$PJ_TAP/$name.first"
	else
		echo "# failed; once more"
		awk '/^not ok/ && !/# *[Ss][Kk][Ii][Pp]/ { print "# unsteady " substr($0, 8); n++; shown = 40; next }
			/^(ok|not ok|1\.\.|# exit)/ { if (/^ok/) passed = $0; last = $0; shown = 0; next }
			shown-- > 0 || /^# before the limit/ { print "#   " $0 }
			END { if (!n) print "# unsteady " last " after " passed }' "$PJ_TAP/$name.first"
		run
	fi | tee "$PJ_TAP/$name.tap"
	rm -f "$PJ_TAP/$name.first"
else
	run | tee "$PJ_TAP/$name.tap"
fi
exit "$(cat "$PJ_TAP/$name.status")"
