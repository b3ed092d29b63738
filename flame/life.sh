# life.sh - the processes that pjflame starts, and their end: after a signal, after a failure, or when all is done.

tmp='' recorder='' mapper='' job='' keys='' terminal='' interrupted=''

stop()
{
	[ -n "$1" ] || return 0
	kill -TERM "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

# Removes the temporary directory. Tries three times, since the symbol saver may still write there after the recorder
# has ended, as seen on a busy host.
remove_tmp()
{
	[ -n "$tmp" ] || return 0
	for _ in 1 2; do
		if rm -rf "$tmp" 2>/dev/null; then return; fi
		sleep 1
	done
	rm -rf "$tmp"
}

# Handler of each exit: ends all processes, restores the terminal and removes the temporary directory; keeps the status.
finish()
{
	status=$?
	trap '' HUP INT QUIT TERM USR1
	leave_screen
	stop "$keys"
	stop "$job"
	stop "$recorder"
	stop "$mapper"
	# messages of the recorder that the screen with tables hid
	if [ -n "$tmp" ] && [ -n "$top" ]; then
		grep ' has no effect: ' "$tmp/rec.err"
		[ -n "$quiet" ] && [ "$(id -u)" != 0 ] || grep ' are not shown: ' "$tmp/rec.err"
	fi >&2 2>/dev/null
	remove_tmp
	exit "$status"
}

# on_interrupt STATUS: handles Ctrl-C and SIGTERM. The first one ends the recording, and pjflame draws what was
# recorded; the second one ends pjflame with STATUS. pjrecord also ends the command that it records; but if Ctrl-C
# reached both of them, it ignores the signal of this shell.
on_interrupt()
{
	if [ -n "$top" ]; then
		[ "$1" = 143 ] && exit 143
		[ -n "$recorder" ] && exit 0
		exit 130
	fi
	if [ -n "$interrupted" ]; then
		# timeout(1) signals the process and its group: a signal within 2 s counts as the same one
		[ $(($(date +%s) - interrupted)) -ge 2 ] || return 0
		say "ended by a second signal before the picture was complete"
		exit "$1"
	fi
	if [ -z "$recorder" ]; then
		say "ended by a signal outside of a recording: nothing was drawn"
		exit "$1"
	fi
	kill -TERM "$recorder" 2>/dev/null # a background job ignores SIGINT until pjrecord handles it
	interrupted=$(date +%s)
}

# await PID: waits for a job and returns its status. A signal to this shell interrupts the wait, so that the shell can
# run the trap of the signal; await then waits again.
await()
{
	while :; do
		wait "$1"
		result=$?
		if [ "$result" -le 128 ] || ! kill -0 "$1" 2>/dev/null; then break; fi
	done
	# the signal interrupted the wait just before the job ended: another wait returns the status of the job
	if [ "$result" -gt 128 ]; then
		wait "$1" 2>/dev/null
		again=$?
		[ "$again" = 127 ] || result=$again
	fi
	return "$result"
}

# attend COMMAND...: runs the command in the background and waits for it, so that this shell handles a signal at once.
# The standard input of the command is descriptor $from; 0 is /dev/null in a background job.
from=0
attend()
{
	"$@" <&"$from" &
	job=$!
	await "$job"
	result=$?
	job=
	return "$result"
}

# is_full FOLDER: returns true if a new file in FOLDER can be created, but 1 MB cannot be written to it
is_full()
{
	probe=$(mktemp "$1/space.XXXXXX" 2>/dev/null) || return 1
	head -c 1000000 /dev/zero 2>/dev/null >"$probe"
	probed=$?
	rm -f "$probe"
	[ "$probed" != 0 ]
}

# is_out_of_space FILE: returns true if a tool that failed had no space on its disk: its messages in FILE name this
# reason, or FILE is empty because it has no space for a message
is_out_of_space()
{
	if [ -s "$1" ]; then
		grep -q -e 'No space left on device' -e 'Disk quota exceeded' "$1"
	else
		is_full "$(dirname "$1")"
	fi
}

# die_of_space FOLDER [FILE]: prints that the file system of FOLDER, which is that of TMPDIR or --keep, is full, and ends.
# FILE: unfinished recording that is kept.
die_of_space()
{
	elsewhere="set TMPDIR to a directory"
	[ "$1" != "$keep" ] || elsewhere="name a directory (--keep)"
	die "the file system of '$1' is full${2:+ ('$2' has the samples until then)}: free some space there, or $elsewhere on another file system"
}

# name_obstacle FOLDER: prints the reason why no file can be created in FOLDER; prints nothing if it is unknown
name_obstacle()
{
	if [ ! -e "$1" ]; then
		echo ", which does not exist"
	elif [ ! -d "$1" ]; then
		echo ", which is no directory"
	elif [ ! -w "$1" ]; then
		echo ", which is read-only or belongs to another user"
	fi
}

prepare()
{
	trap finish EXIT
	trap 'exit 129' HUP
	trap 'on_interrupt 130' INT
	trap 'on_interrupt 143' TERM
	trap 'exit 131' QUIT
	trap 'exit 0' USR1 # a key
	parent=${TMPDIR:-/tmp}
	tmp=$(mktemp -d "$parent/pjflame.XXXXXX" 2>/dev/null) || { tmp=; die "cannot create a temporary directory in '$parent'$(name_obstacle "$parent"): set TMPDIR to a directory to which you may write"; }
	dir=$tmp/pj
	if [ -n "$keep" ]; then
		mkdir -p -- "$keep" 2>"$tmp/err" || die "--keep: $(sed 's/^mkdir: //' "$tmp/err")"
		dir=$keep
	fi
	case $dir in /*) ;; *) dir=$PWD/$dir ;; esac
}
