#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pjflame - record, map, fold and draw: one command for a flame graph.
#
# pjflame computes nothing that another tool computes: pjrecord samples, pjfold names, pjsvg draws, all in one temporary
# DIR of pj(7). pjflame chooses the target (a container by its id or name), starts and ends the other tools, prints
# tables on a terminal, and removes the DIR at its end, also after a signal. Runs in dash and busybox sh.
set -u

# awk in the C locale, so that results do not depend on the user's language. LC_ALL is not exported, because a COMMAND
# of the user needs the user's language.
c_awk()
{
	LC_ALL=C awk "$@"
}

say()
{
	printf 'pjflame: %s\n' "$*" | LC_ALL=C tr '\000-\011\013-\037\177' '?' >&2
}

tell()
{
	[ -n "$quiet" ] || say "$@"
}

# die MESSAGE...: ends with status $failure. With a COMMAND this is 125, as in timeout(1), since other values are the
# status of the COMMAND.
die()
{
	say "$@"
	exit "$failure"
}

usage_error()
{
	say "$* (see pjflame --help)"
	exit 2
}

version()
{
	echo "pjflame (pj) @VERSION@"
	echo "a shell script; libraries: see pjrecord --version, pjfold --version"
}

help()
{
	cat <<'END'
pjflame - record, map, fold and draw: one command for a flame graph
usage: pjflame [options] [PID | COMMAND [ARGUMENT ...]]
       pjflame [options] FILE
       pjflame top [options] [PID]
       pjflame dump [options] PID

top prints a table of the hottest functions repeatedly; dump prints one stack of each thread of a
process as text, without stopping it (pjflame dump --help).

FILE is a perf.data, text of perf script or folded stacks: it is drawn, and nothing is recorded.

Targets:
  -a, --all                  record the whole host (the default without a command)
  -p, --pid=PID,...          record these processes and those that they start
  -c, --container=CONTAINER  record a container, by name or start of its id; or a unit
  -l, --list                 list the containers and units that -c accepts, and exit

Events:
  -s, --seconds=SECONDS      duration (10); with --top, of each table (3)
  -F, --frequency=HZ         samples a second on each busy CPU (303)
  -e, --event=EVENT          event: auto (cycles or cpu-clock), page-faults, alloc (objects of
                             JVMs, by bytes), ... (auto)
      --unwind=auto|tables|fp
                             auto (both), tables (unwind tables), fp (frame pointers) (auto)
      --interpreters=off|on|all|auto
                             show functions of Python, node, Ruby, PHP, Perl (auto)
      --off-cpu[=US]         record off-CPU times instead, of US microseconds or more
      --wall                 record on-CPU and off-CPU times together (also: -e wall)

Output:
  -o, --output=FILE          write the picture to FILE (flame.svg); - is standard output
      --folded=FILE          also save the folded stacks
      --keep=DIR             record into DIR, and keep it: windows, timelines of JVMs, symbols
      --title=TEXT           headline of the picture
      --colors=PALETTE       palette of pjsvg
      --by=process|thread|container|pod|cgroup
                             first frames: also of threads, containers, pods or cgroups (process)
  -t, --threads              as --by=thread
      --inline               show inlined functions as frames (debug information)
  -q, --quiet                print errors only
  -v, --verbose              print all counts of the recording, and each cause of missing names

Tables:
      --top                  print a table of the hottest functions repeatedly, until q or Ctrl-C
  -n, --tables=N             end after N tables
      --rows=N               rows of a table (as many as fit; 20)

Also: -d is -s, -f is -o, -r is -F; -i TIME is the time between samples, such as 10ms; -g and
--native are accepted, as callers and native frames are always recorded.

      --help                 show this text
      --version              show the version

example: pjflame
         pjflame -s 30 -o web.svg -c 3fa2b1
         pjflame java -jar app.jar
         pjflame perf.data
         pjflame top 4711
         pjflame dump 4711
END
}

# ---- command line ----------------------------------------------------------------------------------------------------

whom='' pids='' container='' seconds='' frequency='' event='' unwind='' interpreters='' offcpu='' wall='' output=flame.svg folded='' keep='' title='' colors='' by='' inline=''
unread_pipe='' dump='' top='' tables='' rows='' quiet='' verbose='' list='' input='' values=''
failure=1

# number NAME VALUE LEAST MOST: ends with a usage error if VALUE is not an integer from LEAST to MOST
number()
{
	case $2 in
	'' | *[!0-9]* | ?????????*) ;;
	*) if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then return; fi ;;
	esac
	usage_error "$1: '$2' is not a number from $3 to $4"
}

# take_interval NAME TIME: sets $frequency from the time between samples: in ns, as in async-profiler, or with a unit
# such as 10ms
take_interval()
{
	frequency=$(printf '%s\n' "$2" | c_awk '
		/^[0-9]+(ns|us|ms|s)?$/ {
			unit = $0
			sub(/^[0-9]+/, "", unit)
			seconds = $0 * (unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : 1e-9)
			if (seconds >= 1e-6 && seconds <= 1)
				printf "%d\n", 1 / seconds + .5
		}')
	[ -n "$frequency" ] || usage_error "$1: '$2' is not a time between samples from 1us to 1s, such as 10ms"
}

# take_timer WORD...: sets $seconds to N if the words are sleep N after -a, -p or -c, which is a duration for perf
# record, too; returns false for other words
take_timer()
{
	case $whom in
	all | pids | container) ;;
	*) return 1 ;;
	esac
	[ $# = 2 ] && [ "$1" = sleep ] || return 1
	take_duration sleep "$2" ''
}

only_one()
{
	[ -z "$whom" ] || [ "$whom" = "$1" ] || usage_error "-a, -p, -c, a command and a file exclude each other"
	whom=$1
}

# filled NAME VALUE: ends with a usage error if VALUE is empty
filled()
{
	[ -n "$2" ] || usage_error "$1 needs a value"
}

# take_pids NAME LIST: adds a list of PIDs, separated by commas, to $pids
take_pids()
{
	case $2 in
	'' | -*) usage_error "$1: there is no PID: pgrep -d, NAME prints those of a program that runs" ;;
	esac
	case ,$2, in
	*,,* | *[!0-9,]*) usage_error "$1: '$2' is not a list of PIDs such as 123,456; pgrep -d, NAME prints those of a program" ;;
	esac
	only_one pids
	pids=${pids:+$pids,}$2
}

# take_event NAME EVENT: sets $event; accepts the names that async-profiler has for events, too.
take_event()
{
	filled "$1" "$2"
	event=$2
	case $2 in
	cpu) event= ;;
	itimer | ctimer) event=cpu-clock ;;
	lock) usage_error "$1 $2: --off-cpu records where threads wait, for locks too" ;;
	alloc) event=java:alloc ;;
	nativemem) usage_error "$1 $2: native allocations are not recorded; -e page-faults shows first uses of memory" ;;
	esac
}

# take_output NAME FILE: sets $output; refuses names of other formats, with a message that has the option for them
take_output()
{
	filled "$1" "$2"
	output=$2
	[ -z "$dump" ] || return 0 # text
	case $2 in
	*%[ptn] | *%[ptn][!A-Za-z]*) usage_error "$1 $2: patterns such as %p and %t are not replaced: name the file itself, such as flame.svg" ;;
	*.html | *.htm) usage_error "$1 $2: a picture is an SVG, which browsers open: $1 ${2%.*}.svg" ;;
	*.folded | *.collapsed | *.folded.txt) usage_error "$1 $2: folded stacks are written by --folded=$2" ;;
	*.txt | collapsed | traces | flat) usage_error "$1 $2: folded stacks are written by --folded=FILE" ;;
	*.png | *.pdf | *.jpg | flamegraph) usage_error "$1 $2: a picture is an SVG, which browsers open: $1 ${2%.*}.svg" ;;
	*.json | *.pb | *.pb.gz | *.pprof) usage_error "$1 $2: the picture is an SVG; other viewers read the stacks of --folded=FILE" ;;
	*.jfr | *.data) usage_error "$1 $2: the picture is an SVG; pjrecord -o ${2%.*}.data records without drawing" ;;
	esac
}

#include words.sh
#include verbs.sh

# of_py_spy OPTION: ends with a usage error if the option is one of py-spy that pjflame lacks; the message has the
# replacement
of_py_spy()
{
	case $1 in
	--idle) usage_error "$1: -e wall has the waits of all threads, too" ;;
	--gil) usage_error "$1: leave it out: samples are of threads on a CPU, which those without the GIL do not use" ;;
	--subprocesses) usage_error "$1: processes that start later are recorded; give the PIDs of those that there are, too: -p PID,PID2" ;;
	esac
}

# of_perf OPTION: as of_py_spy, for options of perf
of_perf()
{
	case $1 in
	-G* | --cgroup | --cgroup=*) usage_error "${1%%=*}: -c NAME records a cgroup by the last part of its path, such as -c nginx.service" ;;
	esac
}

# of_other_tool OPTION: ends with a usage error if pjsvg, pjrecord or pjfold has this option; the message names the tool
of_other_tool()
{
	PATH=${0%/*}:$PATH
	for tool in pjsvg pjrecord pjfold; do
		"$tool" --help 2>/dev/null | c_awk '{ sub(/[[=].*/, ""); for (i = 1; i < 3; i++) { sub(/,$/, "", $i); print $i } }' | grep -qxF -e "$1" || continue
		case $tool in
		pjsvg) usage_error "$1 is an option of pjsvg, which draws what --folded=FILE saves: pjsvg $1 ... FILE >flame.svg" ;;
		pjrecord) usage_error "$1 is an option of pjrecord, whose recordings are drawn, too: pjrecord $1 ... -s 10 -o x.data, then pjflame x.data" ;;
		*) usage_error "$1 is an option of pjfold: pjrecord -s 10 -o x.data, then pjfold $1 ... x.data | pjsvg >flame.svg" ;;
		esac
	done
}

groupings='process thread container pod cgroup'

# take_grouping NAME VALUE: sets $by
take_grouping()
{
	for by in $groupings; do
		if [ "$2" = "$by" ]; then return; fi
	done
	by=$(printf '%s\n' $groupings | similar "$2")
	usage_error "$1: '$2' is not one of process, thread, container, pod, cgroup${by:+: did you mean $by?}"
}

# take NAME VALUE: handles an option with a value
take()
{
	case $1 in
	-p | --pid) take_pids "$1" "$2" ;;
	-c | --container) filled "$1" "$2"; [ -z "$container" ] || usage_error "$1: one container at a time"; only_one container; container=$2 ;;
	-s | -d | --seconds | --duration) take_duration "$1" "$2" '' ;;
	-i | --interval) take_interval "$1" "$2" ;;
	-F | -r | --frequency | --rate) number "$1" "$2" 1 1000000; frequency=$2 ;;
	-e | --event) take_event "$1" "$2" ;;
	--unwind) filled "$1" "$2"; unwind=$2 ;;
	--interpreters) check_interpreters "$2"; interpreters=$2 ;;
	-o | -f | --output | --file) take_output "$1" "$2" ;;
	--folded) filled "$1" "$2"; folded=$2 ;;
	--keep) filled "$1" "$2"; keep=$2 ;;
	--title) filled "$1" "$2"; title=$2 ;;
	--colors) filled "$1" "$2"; colors=$2 ;;
	--by) take_grouping "$1" "$2" ;;
	-n | --tables) number "$1" "$2" 1 99999999; tables=$2 ;;
	--rows) number "$1" "$2" 1 10000; rows=$2 ;;
	esac
}

# has_samples FILE: returns true if FILE may be a recording or stacks: by its name or first bytes, or because it is not
# executable, and thus no command
has_samples()
{
	[ -f "$1" ] && [ -r "$1" ] || return 1
	case $1 in
	*.data | *.data.old | *.folded | *.folded.gz | *.collapsed | *.script | *.script.gz | *.perf | *.txt) return 0 ;;
	esac
	[ ! -x "$1" ] || [ "$(head -c 8 -- "$1" 2>/dev/null | tr -d '\000')" = PERFILE2 ]
}

# is_command WORD: returns true if WORD is the path of an executable file, or a command that the shell finds
is_command()
{
	case $1 in
	*/*) [ -f "$1" ] && [ -x "$1" ] ;;
	*) command -v -- "$1" >/dev/null 2>&1 ;;
	esac
}

# take_operand WORD: a PID or a FILE; returns false if it is the first word of a command
take_operand()
{
	case $1 in
	*[!0-9,]*) ;;
	?*) take_pids PID "$1"; return 0 ;;
	esac
	if [ "$1" = - ] || has_samples "$1"; then
		[ -z "$input" ] || usage_error "'$1': one file at a time; pjfold adds several: pjfold FILE ... | pjsvg -o $output"
		only_one file
		input=$1
		return 0
	fi
	if is_command "$1"; then return 1; fi
	case $1 in top | dump) usage_error "'$1' stands in front of all options: pjflame $1 -p PID" ;; esac
	[ ! -f "$1" ] || [ -r "$1" ] || usage_error "'$1': permission denied: its owner, or root, may read it"
	case $1 in
	*/* | *.data | *.folded | *.gz | *.txt | *.svg) [ -e "$1" ] || usage_error "'$1': no such file" ;;
	esac
	[ ! -d "$1" ] || usage_error "'$1' is a directory: pjfold '$1'/out/*.data | pjsvg -o $output draws the windows of a recorder"
	usage_error "'$1' is no PID, no file with samples and no command: -c takes a container or a service, -p a PID"
}

# Verbs, as in py-spy. A program with such a name can be recorded after --.
verb_help=help
case ${1-} in
top) top=1 verb_help=help_top; shift ;;
record | collect) shift ;;
start | stop | resume | status) is_command "$1" || usage_error "'$1': pjflame records for a time and ends: pjflame -d 10 PID; pjrecord -d DIR records until it is stopped" ;;
dump) dump=1 output=- verb_help=help_dump; shift ;;
esac

# Options and operands. A COMMAND begins after --, or with the first word that names a program; it ends the loop.
while [ $# -gt 0 ]; do
	case $1 in
	--)
		shift
		[ $# -gt 0 ] || usage_error "-- needs a command after it"
		if take_timer "$@"; then break; fi
		only_one command
		failure=125
		break
		;;
	-a | --all) only_one all ;;
	-l | --list) list=1 ;;
	-q | --quiet) quiet=1 ;;
	-v | --verbose) verbose=-v ;;
	--off-cpu) offcpu=--off-cpu ;;
	--off-cpu=*) number --off-cpu "${1#*=}" 0 99999999; offcpu=$1 ;;
	--wall) wall=--wall ;;
	--inline) inline=--inline ;;
	--top) top=1 ;;
	-t | --threads) by=thread ;;
	-g | --native | --nonblocking) ;; # always
	--format | --format=*) usage_error "$1: the picture is an SVG; other viewers read the stacks of --folded=FILE" ;;
	-h | --help) "$verb_help" || exit 1; exit 0 ;;
	-V) version || exit 1; exit 0 ;;
	--values=*) values=${1#*=} ;;
	--version) version || exit 1; exit 0 ;;
	-[pcsFeondfir] | --pid | --container | --seconds | --duration | --interval | --frequency | --rate | --event | --unwind | --interpreters | --output | --file | --folded | --keep | --title | --colors | --by | --tables | --rows)
		[ $# -gt 1 ] || usage_error "option '$1' needs a value"
		take "$1" "$2"
		shift
		;;
	--pid=* | --container=* | --seconds=* | --duration=* | --interval=* | --frequency=* | --rate=* | --event=* | --unwind=* | --interpreters=* | --output=* | --file=* | --folded=* | --keep=* | --title=* | --colors=* | --by=* | --tables=* | --rows=*)
		take "${1%%=*}" "${1#*=}"
		;;
	-[pcsFeondfir]?*)
		value=${1#-?}
		take "${1%"$value"}" "$value"
		;;
	-?*) of_py_spy "$1"; of_perf "$1"; of_other_tool "${1%%=*}"; unknown "$1" ;;
	*)
		if ! take_operand "$1"; then
			if take_timer "$@"; then break; fi
			only_one command
			failure=125
			break
		fi
		;;
	esac
	shift
done

# Checks the options of dump and sets its defaults.
settle_dump()
{
	[ "$whom" = pids ] || [ "$whom" = container ] || usage_error "dump needs a PID, or a container by -c; pgrep NAME prints the PIDs of a program"
	[ -z "$event$folded$keep$title$colors$by$inline$offcpu$wall$top$tables$rows" ] || usage_error "dump takes -p, -c, -s, -F, -o, -q, -v, --unwind and --interpreters only"
	[ "$unwind" != fp ] || usage_error "dump and --unwind=fp exclude each other: stacks of waiting threads are read by unwind tables"
	offcpu=--off-cpu seconds=${seconds:-2} frequency=${frequency:-997}
}

if [ "$event" = wall ]; then event='' wall=--wall; fi
# ssh and cron start programs with a pipe as standard input that nothing fills; it looks like a pipe from perf script.
# So a pipe is not read without the operand -.
if [ -z "$whom$top$list$values" ] && [ -p /dev/stdin ]; then unread_pipe=1; fi
whom=${whom:-all}
[ -z "$dump" ] || settle_dump
if [ -n "$top" ]; then
	[ "$whom" != command ] && [ "$whom" != file ] || usage_error "--top needs -a, -p or -c, not a command or a file"
	[ -z "$seconds" ] || take_duration --seconds "$seconds" integer
	[ -z "$folded$keep$title$colors$wall" ] && [ "$output" = flame.svg ] || usage_error "--top draws no picture and excludes -o, --folded, --keep, --title, --colors and --wall"
elif [ -n "$tables$rows" ]; then
	usage_error "--tables and --rows need --top"
fi
[ "$whom" != file ] || [ -z "$seconds$frequency$event$unwind$interpreters$offcpu$wall$keep" ] || usage_error "'$input' is drawn, not recorded: options of a recording do not apply"
[ "$output" != - ] || [ -n "$dump$top" ] || [ ! -t 1 ] || usage_error "standard output is a terminal: write the picture to a file with -o flame.svg"
[ "$output$folded" != -- ] || usage_error "-o and --folded: only one of them can be standard output"
[ -z "$offcpu$wall" ] || [ -z "$event" ] || usage_error "--off-cpu and --wall exclude --event"
[ -z "$offcpu" ] || [ -z "$wall" ] || usage_error "--off-cpu and --wall exclude each other: --wall has the off-CPU times, too"
case $interpreters in on | all) [ "$unwind" != fp ] || usage_error "--interpreters=$interpreters and --unwind=fp exclude each other" ;; esac
# a command without -s is recorded to its end
if [ -n "$seconds" ] || [ "$whom" = command ]; then :; elif [ -n "$top" ]; then seconds=3; else seconds=10; fi

# ---- the other tools -------------------------------------------------------------------------------------------------

#include tools.sh
#include containers.sh
#include life.sh
#include record.sh
#include draw.sh
#include table.sh
#include dump.sh
# print_values OPTION: prints the values of an option, one a line, for completion in a shell
print_values()
{
	case $1 in
	by) printf '%s\n' $groupings ;;
	unwind) printf '%s\n' auto tables fp ;;
	interpreters) printf '%s\n' off on all auto ;;
	event) pjrecord --values=event && printf '%s\n' alloc wall ;;
	colors) pjsvg --values=colors ;;
	# other users choose these names, so those with characters that a shell may interpret are left out
	container) list_containers | c_awk 'NR > 1 { print $1; print $2 }' | LC_ALL=C grep -x '[A-Za-z0-9_.:@/+-]\{2,\}' ;;
	*) case $(help) in *"--$1="* | *"--$1 "*) ;; *) usage_error "--values=$1: there is no option --$1" ;; esac ;;
	esac
}

# Ends with a usage error if pjrecord would refuse the options of the recording, so that no message about the recording
# comes before. With --version as last option, pjrecord checks the options but does not record.
check_recording()
{
	[ "$whom" != file ] || return 0
	why=$(pjrecord ${event:+-e "$event"} ${unwind:+--unwind="$unwind"} --version 2>&1 >/dev/null) && return
	why=${why#pjrecord: }
	usage_error "${why% (see *}"
}

# ---- main ------------------------------------------------------------------------------------------------------------

find_tools pjrecord pjmap pjfold pjsvg awk mktemp
if [ -n "$values" ]; then
	print_values "$values" || exit "$failure"
	exit 0
fi
if [ -n "$list" ]; then
	known=$(list_containers)
	printf '%s\n' "$known" || exit "$failure" # not every awk says that a disk is full
	[ "$(printf '%s\n' "$known" | wc -l)" -gt 1 ] || tell "no containers and no units that this user may see: -p PID records a process, also in a container"
	exit 0
fi
[ -n "$top" ] || { can_be_made --output "$output"; can_be_made --folded "$folded"; }
check_recording
# an unknown palette: pjsvg prints the reason
[ -z "$colors" ] || echo "main 1" | pjsvg --colors "$colors" >/dev/null || exit 2
prepare
[ -z "$unread_pipe" ] || tell "the pipe on standard input is not read: perf script | pjflame - draws it"
case $whom in command | file) ;; *) choose_target ;; esac
if [ -n "$dump" ]; then dump; elif [ -n "$top" ]; then top; elif [ "$whom" = file ]; then draw_file; else draw "$@"; fi
