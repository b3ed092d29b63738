#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pjflame - record, map, fold and draw: one command for a flame graph.
#
# Nothing is computed here that another tool knows: pjrecord samples, pjmap follows the JVMs beside it, pjfold names, pjsvg draws, in one
# temporary directory that is theirs as any DIR of pj(7). What is here: whom to record, told by a container's id or name; who is
# started, told to end, and cleaned up after, whatever comes; a table for the terminal. Runs in dash and busybox sh.
set -u

# Other names and programs must not depend on the user's language; a COMMAND of the user's must have it.
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

# Failures have 125 beside a COMMAND, whose own status the others are, as with timeout(1).
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

help()
{
	cat <<'END'
pjflame - record, map, fold and draw: one command for a flame graph
usage: pjflame [options]
       pjflame [options] -- COMMAND [ARGUMENT ...]
       pjflame --top [options]

  -a, --all                  record the whole host (the default without a command)
  -p, --pid=PID,...          record these processes and their children
  -c, --container=NAME       record a container, by name or start of its id; or a unit
  -l, --list                 list the containers that -c accepts, and exit
  -s, --seconds=SECONDS      duration (10); with --top, of each table (3)
  -F, --frequency=HZ         samples a second on each busy CPU (303)
  -e, --event=EVENT          event: auto (cycles or cpu-clock), page-faults, ... (auto)
      --unwind=HOW           auto (both), tables (unwind tables), fp (frame pointers) (auto)
      --off-cpu[=US]         record off-CPU times instead, of US microseconds or more
  -o, --output=FILE          write the picture to FILE (flame.svg); - is standard output
      --folded=FILE          also save the folded stacks
      --keep=DIR             record into DIR, and keep it: windows, timelines of JVMs, symbols
      --title=TEXT           headline of the picture
      --colors=PALETTE       palette of pjsvg
      --by=WHAT              group by process, container, pod or cgroup
      --inline               show inlined functions as frames (debug information)
      --top                  print a table of the hottest functions repeatedly, until q or Ctrl-C
  -n, --tables=N             end after N tables
      --rows=N               rows of a table (as many as fit; 20)
  -q, --quiet                print errors only

      --help                 show this text
      --version              show the version

example: pjflame
         pjflame -c 3fa2b1 -s 30 -o web.svg
         pjflame -- java -jar app.jar
         pjflame --top -p 4711
END
}

# ---- command line ----------------------------------------------------------------------------------------------------

whom='' pids='' container='' seconds='' frequency='' event='' unwind='' offcpu='' output=flame.svg folded='' keep='' title='' colors='' by='' inline=''
top='' tables='' rows='' quiet='' list=''
failure=1

# number NAME VALUE LEAST MOST
number()
{
	case $2 in
	'' | *[!0-9]* | ?????????*) ;;
	*) if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then return; fi ;;
	esac
	usage_error "$1: '$2' is not a number from $3 to $4"
}

only_one()
{
	[ -z "$whom" ] || [ "$whom" = "$1" ] || usage_error "-a, -p, -c and a command exclude each other"
	whom=$1
}

# filled NAME VALUE
filled()
{
	[ -n "$2" ] || usage_error "$1 needs a value"
}

# take NAME VALUE: an option that has one
take()
{
	case $1 in
	-p | --pid)
		case ,$2, in
		*,,* | *[!0-9,]*) usage_error "$1: '$2' is not a list of PIDs such as 123,456" ;;
		esac
		only_one pids
		pids=${pids:+$pids,}$2
		;;
	-c | --container) filled "$1" "$2"; [ -z "$container" ] || usage_error "$1: one container at a time"; only_one container; container=$2 ;;
	-s | --seconds) number "$1" "$2" 1 86400; seconds=$2 ;;
	-F | --frequency) number "$1" "$2" 1 1000000; frequency=$2 ;;
	-e | --event) filled "$1" "$2"; event=$2 ;;
	--unwind) filled "$1" "$2"; unwind=$2 ;;
	-o | --output) filled "$1" "$2"; output=$2 ;;
	--folded) filled "$1" "$2"; folded=$2 ;;
	--keep) filled "$1" "$2"; keep=$2 ;;
	--title) filled "$1" "$2"; title=$2 ;;
	--colors) filled "$1" "$2"; colors=$2 ;;
	--by)
		case $2 in
		process | container | pod | cgroup) by=$2 ;;
		*) usage_error "$1: '$2' is not one of process, container, pod, cgroup" ;;
		esac
		;;
	-n | --tables) number "$1" "$2" 1 99999999; tables=$2 ;;
	--rows) number "$1" "$2" 1 10000; rows=$2 ;;
	esac
}

# What stands in front of --; the rest is the COMMAND.
while [ $# -gt 0 ]; do
	case $1 in
	--)
		shift
		[ $# -gt 0 ] || usage_error "-- needs a command after it"
		only_one command
		failure=125
		break
		;;
	-a | --all) only_one all ;;
	-l | --list) list=1 ;;
	-q | --quiet) quiet=1 ;;
	--off-cpu) offcpu=--off-cpu ;;
	--off-cpu=*) number --off-cpu "${1#*=}" 0 99999999; offcpu=$1 ;;
	--inline) inline=--inline ;;
	--top) top=1 ;;
	--help) help || exit 1; exit 0 ;;
	--version) echo "pjflame (pj) @VERSION@" || exit 1; exit 0 ;;
	-[pcsFeon] | --pid | --container | --seconds | --frequency | --event | --unwind | --output | --folded | --keep | --title | --colors | --by | --tables | --rows)
		[ $# -gt 1 ] || usage_error "option '$1' needs a value"
		take "$1" "$2"
		shift
		;;
	--pid=* | --container=* | --seconds=* | --frequency=* | --event=* | --unwind=* | --output=* | --folded=* | --keep=* | --title=* | --colors=* | --by=* | --tables=* | --rows=*)
		take "${1%%=*}" "${1#*=}"
		;;
	-[pcsFeon]?*)
		value=${1#-?}
		take "${1%"$value"}" "$value"
		;;
	-?*) usage_error "unknown option '$1'" ;;
	*) usage_error "unexpected operand '$1': use -p for a process, -c for a container, -- for a command" ;;
	esac
	shift
done
whom=${whom:-all}
if [ -n "$top" ]; then
	[ "$whom" != command ] || usage_error "--top needs -a, -p or -c, not a command"
	[ -z "$folded$keep$title$colors" ] && [ "$output" = flame.svg ] || usage_error "--top draws no picture and excludes -o, --folded, --keep, --title and --colors"
elif [ -n "$tables$rows" ]; then
	usage_error "--tables and --rows need --top"
fi
[ -z "$seconds" ] || [ "$whom" != command ] || usage_error "--seconds excludes a command, which is recorded to its end"
[ "$output$folded" != -- ] || usage_error "-o and --folded: only one of them can be standard output"
[ -z "$offcpu" ] || [ -z "$event" ] || usage_error "--off-cpu and --event exclude each other"
if [ -n "$seconds" ]; then :; elif [ -n "$top" ]; then seconds=3; else seconds=10; fi

# ---- the other tools -------------------------------------------------------------------------------------------------

# Those beside this one come first, also where it is called by a link.
find_tools()
{
	case $0 in
	*/*)
		here=$(readlink -f -- "$0" 2>/dev/null)
		here=${here%/*}
		if [ -x "$here/pjrecord" ]; then PATH=$here:$PATH; fi
		;;
	esac
	missing=
	for tool in pjrecord pjmap pjfold pjsvg awk mktemp; do
		command -v "$tool" >/dev/null 2>&1 || missing="$missing $tool"
	done
	[ -z "$missing" ] || die "not found:$missing (pj's tools are installed together: make install; PATH is $PATH)"
	# A session of its own keeps the terminal's Ctrl-C from a recorder: it is told by us, once.
	apart=
	if command -v setsid >/dev/null 2>&1; then apart=setsid; fi
}

#include containers.sh
#include life.sh
#include record.sh
#include draw.sh
#include table.sh
# ---- main ------------------------------------------------------------------------------------------------------------

find_tools
if [ -n "$list" ]; then
	known=$(list_containers)
	printf '%s\n' "$known" || exit "$failure" # not every awk says that a disk is full
	exit 0
fi
[ -n "$top" ] || { can_be_made --output "$output"; can_be_made --folded "$folded"; }
prepare
[ "$whom" = command ] || choose_target
if [ -n "$top" ]; then top; else draw "$@"; fi
