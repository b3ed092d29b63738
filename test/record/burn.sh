# burn.sh - the load with known shares, for tests of pjrecord on this machine; source it after tap.sh.
# shellcheck shell=sh disable=SC2034,SC2154
#
# Leaves $burn, the program (test/record/burn.c), $perf, $dump, $cpus; $all is empty if the whole host cannot be recorded.
LC_ALL=C
export LC_ALL
perf=${PJ_PERF:-perf}

have pjrecord || skip_all "pjrecord is not built"
have cc || skip_all "no compiler for the loads"
dump=$top/${PJ_BUILD:-build/std-cc}/test/fold/perfdata/dump
case $PJ_BUILD in /*) dump=$PJ_BUILD/test/fold/perfdata/dump ;; esac
burn=burn$$ # others may run this test at the same time
export burn
ok "the load compiles" cc -O1 -g -fno-omit-frame-pointer -o $burn "$top/test/record/burn.c"
pjrecord -q -o probe.data -- ./$burn spin 0.2 2>why || skip_all "perf events are not allowed here: $(head -n 1 why)"

cpus=$(getconf _NPROCESSORS_ONLN)
all=1
pjrecord -q -a -s 100ms -o probe.data 2>why || all=

# load N ARGUMENTS...: N burns in the background; their numbers in $load
load()
{
	i=0 load=
	want=$1
	shift
	while [ "$i" -lt "$want" ]; do
		./$burn "$@" &
		load="$load $!"
		i=$((i + 1))
	done
}

# sum FILE: samples of folded text
sum()
{
	awk '!/^#/ { n += $NF } END { print n + 0 }' "$1"
}
