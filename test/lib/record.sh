# lib.sh - what tests of a running pjrecord need, to be sourced behind tap.sh.
# shellcheck shell=sh

# until_ SECONDS COMMAND...: true as soon as the command is
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

# metric DIR NAME: its value in DIR's pjrecord.prom
metric()
{
	awk -v name="pj_record_$2" '$1 == name { print $2 }' "$1/pjrecord.prom"
}

# need_whole_system: skips the test if pjrecord may not record the whole system here, or if what it needs is not built;
# $window then prints what a window has
need_whole_system()
{
	have pjrecord || skip_all "pjrecord is not built"
	window=${PJ_BUILD:-$top/build/std-cc}/test/fold/perfdata/window
	case $window in /*) ;; *) window=$top/$window ;; esac
	[ -x "$window" ] || skip_all "the helpers are not built"
	pjrecord -q -a -d probe -w 1 -n 1 --keep-symbols none >/dev/null 2>why || skip_all "the whole system may not be recorded here: $(head -n 1 why)"
}

# start_load: a load with the PID $load, so that every window has samples; the test ends it
# shellcheck disable=SC2034 # tests use load
start_load()
{
	sh -c 'while :; do :; done' &
	load=$!
}
