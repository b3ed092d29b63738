# record.sh - functions for tests that run pjrecord. Source it after tap.sh.
# shellcheck shell=sh

# until_ SECONDS COMMAND...: repeats the command until it succeeds; returns false after this time
until_()
{
	deadline=$(($(date +%s) + $1))
	shift
	while [ "$(date +%s)" -le "$deadline" ]; do
		if "$@" >/dev/null 2>&1; then return 0; fi
		sleep 0.05
	done
	return 1
}

# metric DIR NAME: prints the value of pj_record_NAME in DIR/pjrecord.prom
metric()
{
	awk -v name="pj_record_$2" '$1 == name { print $2 }' "$1/pjrecord.prom"
}

# need_whole_system: skips the test if pjrecord cannot record the complete host, or if programs are not built. Sets
# $window to the path of the program that prints the records of a window.
need_whole_system()
{
	have pjrecord || skip_all "pjrecord is not built"
	window=${PJ_BUILD:-$top/build/std-cc}/test/fold/perfdata/window
	case $window in /*) ;; *) window=$top/$window ;; esac
	[ -x "$window" ] || skip_all "the helpers are not built"
	pjrecord -q -a -s 100ms -o probe.data 2>why || skip_all "the whole system may not be recorded here: $(head -n 1 why)"
}

# start_load: starts a busy process, so that each window has samples; sets $load to its PID. The test ends it.
# shellcheck disable=SC2034 # tests use load
start_load()
{
	sh -c 'while :; do :; done' &
	load=$!
}
