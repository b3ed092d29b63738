#!/bin/sh
# keep.sh TEST - run one test, pass its TAP on and keep it in PJ_TAP, for tally.awk. At most ten minutes each; twenty in a browser.
# `# time N s, CPU N s` before the last line has its elapsed time and the CPU time of the processes that it waited for.
#
# PJ_AGAIN: what samples this machine gets a second run when it fails: other programs took the processor, or chance did. What
# failed first stays in the TAP as `# unsteady`, and tally.awk names it: a test that is often there has a defect, or shows one.
set -u
name=$(echo "$1" | sed 's|^build/[^/]*/||; s|^test/||; s|/|-|g')
case $1 in
/*) test=$1 ;;
*) test=$PWD/$1 ;;
esac
limit=600
case $1 in
*test/svg/browser/*) limit=1200 ;;
*/fleet.t) limit=$((600 + ${PJ_FLEET_SECS:-130})) ;;
esac
# not cases, laws, units: those are the same each time
again=
case $name in
fold-live.t | fold-native.t | record-*.t | jmap-*.t | runtimes-*.t | flame-*.t | send-*.t | fold-cgroups.t | fold-cut.t | fold-perfdata-perfdata.t | suite-examples.t | \
	fold-symbols-*.t | unwind-*.t | svg-browser-*)
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
	if [ $status = 124 ]; then sed 's/^/# before the limit: /' "$PJ_TAP/$name.hang"; fi
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
