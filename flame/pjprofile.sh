#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pjprofile - profile this host into a directory of profiles and flame graphs, as gProfiler does.
#
# pjprofile computes nothing: pjrecord samples, pjfold names, pjsvg draws. It writes the files that gProfiler writes to
# its output directory: a profile and a picture for each duration, and links to the last profile and the last picture.
# Runs in dash and busybox sh.
set -u

c_awk()
{
	LC_ALL=C awk "$@"
}

say()
{
	printf 'pjprofile: %s\n' "$*" | LC_ALL=C tr '\000-\011\013-\037\177' '?' >&2
}

die()
{
	say "$@"
	exit 1
}

usage_error()
{
	say "$* (see pjprofile --help)"
	exit 2
}

help()
{
	cat <<'END'
pjprofile - profile this host into a directory of profiles and flame graphs, as gProfiler does
usage: pjprofile -o DIR [options]

Targets:
  -a, --all                  record the whole host (the default)
  -p, --pid=PID,...          record these processes and those that they start

Events:
  -s, --seconds=SECONDS      duration of a profile (60)
  -F, --frequency=HZ         samples a second on each busy CPU (11)
      --interpreters=off|on|all|auto
                             show functions of Python, node, Ruby, PHP, Perl (auto)

Output:
  -o, --output=DIR           directory of the profiles; it is made if it is missing
  -c, --continuous           profile after profile without a gap, until a signal
      --by=process|thread|container|pod|cgroup
                             first frames: also of threads, containers, pods or cgroups (container)
      --no-flamegraph        draw no picture
      --rotate=N             keep the last N profiles and pictures only; 0: all (0)
      --title=TEXT           headline of the pictures
  -q, --quiet                print errors only
  -v, --verbose              print all counts of each profile

Also, as gProfiler has them: -d is -s, -f is -F, --rotating-output is --rotate=1,
--no-python is --interpreters=off.

      --help                 show this text
      --version              show the version

example: pjprofile -o profiles
         pjprofile -c -o /var/lib/profiles --rotate=1440
END
}

# ---- command line ----------------------------------------------------------------------------------------------------

output='' pids='' all='' seconds=60 frequency=11 continuous='' by=container interpreters='' picture=1 rotate=0 title='' quiet='' verbose='' values=''

# number NAME VALUE LEAST MOST: ends with a usage error if VALUE is not an integer from LEAST to MOST
number()
{
	case $2 in
	'' | *[!0-9]* | ?????????*) ;;
	*) if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then return; fi ;;
	esac
	usage_error "$1: '$2' is not a number from $3 to $4"
}

# filled NAME VALUE: ends with a usage error if VALUE is empty
filled()
{
	[ -n "$2" ] || usage_error "$1 needs a value"
}

#include words.sh

groupings='process thread container pod cgroup'

# take NAME VALUE: handles an option with a value
take()
{
	case $1 in
	-o | --output | --output-dir) filled "$1" "$2"; output=$2 ;;
	-p | --pid | --pids)
		case ,$2, in
		*,,* | *[!0-9,]*) usage_error "$1: '$2' is not a list of PIDs such as 123,456" ;;
		esac
		pids=$2
		;;
	-s | -d | --seconds | --profiling-duration) take_duration "$1" "$2" integer ;;
	-F | -f | --frequency | --profiling-frequency) number "$1" "$2" 1 1000000; frequency=$2 ;;
	--by)
		for by in $groupings; do if [ "$2" = "$by" ]; then return; fi; done
		by=$(printf '%s\n' $groupings | similar "$2")
		usage_error "$1: '$2' is not one of process, thread, container, pod, cgroup${by:+: did you mean $by?}"
		;;
	--interpreters) check_interpreters "$2"; interpreters=$2 ;;
	--python-mode)
		case $2 in
		auto) interpreters=auto ;;
		enabled | pyperf | pyspy | py-spy) interpreters=on ;;
		disabled | none) interpreters=off ;;
		*) usage_error "--python-mode=$2: auto, enabled, pyperf, pyspy, disabled or none" ;;
		esac
		;;
	--rotate) number "$1" "$2" 0 99999999; rotate=$2 ;;
	--title) filled "$1" "$2"; title=$2 ;;
	esac
}

# of_gprofiler OPTION: ends with a usage error if the option is one of gProfiler that pjprofile lacks; the message has
# the replacement
of_gprofiler()
{
	case $1 in
	-u | --upload-results | --token* | --service-name* | --server-host*)
		usage_error "$1: a store gets profiles from pjrecord -d DIR and pjsend -s STORE -l service=NAME DIR (man pjsend)" ;;
	--perf-mode*) usage_error "$1: stacks are complete without a mode; pjrecord --unwind=fp has frame pointers alone" ;;
	--java-* | --no-java* | --python-* | --pyperf-* | --php-* | --no-php* | --ruby-* | --no-ruby* | --nodejs-* | --no-nodejs* | --dotnet-* | --no-dotnet*)
		usage_error "$1: one sampler records all languages, and there is nothing to switch; docs/gprofiler.md has a table" ;;
	esac
}

while [ $# -gt 0 ]; do
	case $1 in
	-a | --all) all=1 ;;
	-c | --continuous) continuous=1 ;;
	--no-flamegraph) picture= ;;
	--rotating-output) rotate=1 ;;
	--no-python) interpreters=off ;;
	-q | --quiet) quiet=-q ;;
	-v | --verbose) verbose=-v ;;
	-h | --help) help || exit 1; exit 0 ;;
	--values=*) values=${1#*=} ;;
	-V | --version) echo "pjprofile (pj) @VERSION@" || exit 1; exit 0 ;;
	-[opsdFf] | --output | --output-dir | --pid | --pids | --seconds | --profiling-duration | --frequency | --profiling-frequency | --by | --interpreters | --python-mode | --rotate | --title)
		[ $# -gt 1 ] || usage_error "option '$1' needs a value"
		take "$1" "$2"
		shift
		;;
	--output=* | --output-dir=* | --pid=* | --pids=* | --seconds=* | --profiling-duration=* | --frequency=* | --profiling-frequency=* | --by=* | --interpreters=* | --python-mode=* | --rotate=* | --title=*)
		take "${1%%=*}" "${1#*=}"
		;;
	-[opsdFf]?*)
		value=${1#-?}
		take "${1%"$value"}" "$value"
		;;
	-?*) of_gprofiler "$1"; unknown "$1" ;;
	*) usage_error "'$1': there are no operands; pjflame records a command" ;;
	esac
	shift
done

# ---- the other tools -------------------------------------------------------------------------------------------------

#include tools.sh
find_tools pjrecord pjfold pjsvg awk mktemp mkfifo

if [ -n "$values" ]; then
	case $values in
	by) printf '%s\n' $groupings || exit 1 ;;
	interpreters) printf '%s\n' off on all auto || exit 1 ;;
	*) case $(help) in *"--$values="* | *"--$values "*) ;; *) usage_error "--values=$values: there is no option --$values" ;; esac ;;
	esac
	exit 0
fi
[ -n "$output" ] || usage_error "-o DIR names the directory of the profiles"
[ -z "$all" ] || [ -z "$pids" ] || usage_error "-a and -p exclude each other"

# ---- life ------------------------------------------------------------------------------------------------------------

recorder='' tmp='' work='' made=''

finish()
{
	status=$?
	trap '' HUP INT TERM
	if [ -n "$recorder" ]; then
		kill -TERM "$recorder" 2>/dev/null
		wait "$recorder" 2>/dev/null
	fi
	if [ -n "$tmp" ]; then rm -rf "$tmp"; fi
	if [ -n "$made" ] && [ "$status" != 0 ]; then rmdir -- "$made" 2>/dev/null; fi # nothing came of it
	exit "$status"
}

# Handles a signal: the first one ends the recorder, which completes its window for the last profile; the second one
# ends pjprofile at once.
signals=0
on_signal()
{
	signals=$((signals + 1))
	[ "$signals" = 1 ] && [ -n "$recorder" ] || exit 130
	kill -TERM "$recorder" 2>/dev/null
}

prepare()
{
	[ -d "$output" ] || made=$output
	mkdir -p -- "$output" 2>/dev/null || die "cannot create the directory '$output': name another one with -o, or make it for this user"
	[ -w "$output" ] || die "cannot write to '$output': it is read-only or belongs to another user: name another one with -o"
	case $output in /*) ;; *) output=$PWD/$output ;; esac
	trap finish EXIT
	trap on_signal HUP INT TERM
	for old in "$output"/.pjprofile.*; do # of killed runs
		pid=${old##*/.pjprofile.}
		if [ -d "$old" ] && [ ! -e "/proc/${pid%%.*}" ]; then rm -rf "$old"; fi
	done
	tmp=$(mktemp -d "$output/.pjprofile.$$.XXXXXX") || { tmp=; die "cannot create a directory in '$output'"; }
	mkfifo "$tmp/windows" || die "cannot create a FIFO in '$output'"
	# The windows of a continuous run stay until they are folded, even if the run is killed; so only one such run
	# can use a directory at a time.
	work=$tmp/pj
	if [ -n "$continuous" ]; then work=$output/.pj; fi
}

# ---- profiles --------------------------------------------------------------------------------------------------------

# link_last FILE NAME: makes NAME a link to FILE; NAME refers to the file before or to this one at any moment
link_last()
{
	rm -f "$tmp/link" && ln -s "$1" "$tmp/link" && mv -f "$tmp/link" "$output/$2"
}

# Removes the oldest files beyond --rotate. Their names sort by time. Names with a later time than that of the last
# profile are from before a step back of the clock, so they go first.
rotate_files()
{
	[ "$rotate" != 0 ] || return 0
	for kind in 'profile_*.col' 'flamegraph_*.svg'; do
		(cd "$output" && ls -d $kind 2>/dev/null) | LC_ALL=C sort -r |
			last=${kind%%_*}_$name keep=$rotate LC_ALL=C awk '
				{ stem = $0; sub(/[.][a-z]*$/, "", stem) }
				stem "" > ENVIRON["last"] "" { later[++nlater] = $0; next }
				++n > ENVIRON["keep"] + 0
				END { for (i = 1; i <= nlater; i++) if (n + i > ENVIRON["keep"] + 0) print later[i] }' >"$tmp/old"
		while IFS= read -r file; do rm -f "$output/$file"; done <"$tmp/old"
	done
}

# fold_options: prints the options of pjfold for the first frames (--by), as in pjflame
fold_options()
{
	case $by in
	process) ;;
	thread) printf '%s\n' --root=both ;;
	*) printf '%s\n' "--by=$by" ;;
	esac
}

# undisturbed COMMAND...: runs a command that signals to the process group, as of Ctrl-C, do not end
undisturbed()
{
	(trap '' HUP INT TERM; exec "$@")
}

# profile WINDOW: writes the profile and the picture of a window, each complete or not at all; then moves the links. A
# signal ends neither, since the window is lost then.
profile()
{
	start=${1##*/}
	start=${start%.data}
	name=$(LC_ALL=C date -u -d "@$((start + seconds))" +%Y-%m-%dT%H-%M-%SZ) || return 1
	# shellcheck disable=SC2046 # words
	undisturbed pjfold $quiet $verbose --header $(fold_options) -o "$output/profile_$name.col" "$1" 2>"$tmp/messages" || { sed 's/^pjfold: /pjprofile: /' "$tmp/messages" >&2; return 1; }
	sed "s|^pjfold: |pjprofile: $output/profile_$name.col: |" "$tmp/messages" >&2
	link_last "profile_$name.col" last_profile.col || return 1
	if [ -n "$picture" ]; then
		undisturbed pjsvg --title "${title:-CPU of $(uname -n), $seconds s until $name}" -o "$output/flamegraph_$name.svg" "$output/profile_$name.col" || return 1
		link_last "flamegraph_$name.svg" last_flamegraph.svg || return 1
	fi
	rotate_files
}

# take_window WINDOW: writes the profile of a window, and deletes the window. A failure is counted, but does not end the
# run, since the next window may succeed.
failed=0 profiles=0
take_window()
{
	if profile "$1"; then profiles=$((profiles + 1)); else failed=$((failed + 1)); fi
	rm -f "$1"
}

# Writes the profiles of windows that a killed run left.
take_leftovers()
{
	for window in "$work"/out/*.data; do
		if [ -f "$window" ]; then take_window "$window"; fi
	done
}

record()
{
	set -- -q -F "$frequency" -w "$seconds" --keep-symbols=256M -d "$work"
	if [ -n "$pids" ]; then set -- "$@" -p "$pids"; else set -- "$@" -a; fi
	if [ -z "$continuous" ]; then set -- "$@" --once; fi
	if [ -n "$interpreters" ]; then set -- "$@" --interpreters="$interpreters"; fi
	$apart pjrecord --with-parent "$@" >"$tmp/windows" </dev/null &
	recorder=$!
	PJ_SANDBOX_REPORTED=1
	export PJ_SANDBOX_REPORTED
	while :; do
		before=$signals
		if IFS= read -r window; then
			take_window "$window"
		elif [ "$signals" = "$before" ]; then
			break # not a signal, which ends the recorder, but the recorder's end
		fi
	done <"$tmp/windows"
	wait "$recorder"
	result=$?
	recorder=
}

prepare
if [ -n "$continuous" ]; then take_leftovers; fi
record
[ "$result" = 0 ] || exit 1
[ "$failed" = 0 ] || die "$failed of $((failed + profiles)) profiles could not be written"
[ "$profiles" != 0 ] || die "pjrecord wrote no window"
