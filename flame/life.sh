# life.sh - who was started, and how all of it ends, whatever comes: a signal, a failure, or the end of the work.

tmp='' recorder='' mapper='' job='' keys='' terminal='' interrupted=''

stop()
{
	[ -n "$1" ] || return 0
	kill -TERM "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

# The symbol saver of a recorder that did not wait for it may still write: seen on a busy host.
remove_tmp()
{
	[ -n "$tmp" ] || return 0
	for _ in 1 2; do
		if rm -rf "$tmp" 2>/dev/null; then return; fi
		sleep 1
	done
	rm -rf "$tmp"
}

# Whatever ends us.
finish()
{
	status=$?
	trap '' HUP INT QUIT TERM USR1
	leave_screen
	stop "$keys"
	stop "$job"
	stop "$recorder"
	stop "$mapper"
	# a screen of tables hid this
	if [ -n "$tmp" ] && [ -n "$top" ]; then
		grep ' has no effect: ' "$tmp/rec.err"
		[ -n "$quiet" ] && [ "$(id -u)" != 0 ] || grep ' are not shown: ' "$tmp/rec.err"
	fi >&2 2>/dev/null
	remove_tmp
	exit "$status"
}

# on_interrupt STATUS: the first Ctrl-C or SIGTERM ends a recording, and what there is of it is drawn; the second ends all. pjrecord ends a command,
# unless Ctrl-C reached both: then it ignores the signal of this shell.
on_interrupt()
{
	if [ -n "$top" ]; then
		[ "$1" = 143 ] && exit 143
		[ -n "$recorder" ] && exit 0
		exit 130
	fi
	if [ -n "$interrupted" ]; then
		# timeout(1) sends its signal to the process and to its group
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

# A job ends here, or is interrupted by a signal to us, which the shell hears only while it waits.
await()
{
	while :; do
		wait "$1"
		result=$?
		if [ "$result" -le 128 ] || ! kill -0 "$1" 2>/dev/null; then break; fi
	done
	# interrupted just before it ended: its status can still be had
	if [ "$result" -gt 128 ]; then
		wait "$1" 2>/dev/null
		again=$?
		[ "$again" = 127 ] || result=$again
	fi
	return "$result"
}

# attend COMMAND...: runs it in the background and waits for it, so that a signal to this shell is handled at once. Its standard input
# is the descriptor $from: 0 is /dev/null in a background job.
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

# name_obstacle FOLDER: prints why nothing can be created in it, or nothing if that is unknown
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
