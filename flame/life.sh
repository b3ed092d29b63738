# life.sh - who was started, and how all of it ends, whatever comes: a signal, a failure, or the end of the work.

tmp='' recorder='' mapper='' job='' keys='' terminal='' interrupted='' in_command=''

stop()
{
	[ -n "$1" ] || return 0
	kill -TERM "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

# Whatever ends us.
finish()
{
	status=$?
	trap '' HUP INT TERM USR1
	leave_screen
	stop "$keys"
	stop "$job"
	stop "$recorder"
	stop "$mapper"
	# a screen of tables hid this
	if [ -n "$tmp" ] && [ -n "$top" ]; then grep ' has no effect: ' "$tmp/rec.err" >&2 2>/dev/null; fi
	if [ -n "$tmp" ]; then rm -rf "$tmp"; fi
	exit "$status"
}

# The first Ctrl-C ends a recording, and what there is of it is drawn; the second ends all.
on_interrupt()
{
	if [ -n "$interrupted" ] || [ -z "$recorder$in_command" ]; then exit 130; fi
	interrupted=1
	if [ -n "$recorder" ] && [ -z "$top" ]; then kill -INT "$recorder" 2>/dev/null; fi
	if [ -n "$top" ]; then exit 0; fi
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

prepare()
{
	trap finish EXIT
	trap 'exit 129' HUP
	trap on_interrupt INT
	trap 'exit 143' TERM
	trap 'exit 0' USR1 # a key
	tmp=$(mktemp -d "${TMPDIR:-/tmp}/pjflame.XXXXXX") || { tmp=; die "cannot create a temporary directory in ${TMPDIR:-/tmp}: set TMPDIR"; }
	dir=$tmp/pj
	if [ -n "$keep" ]; then
		mkdir -p -- "$keep" 2>"$tmp/err" || die "--keep: $(sed 's/^mkdir: //' "$tmp/err")"
		dir=$keep
	fi
	case $dir in /*) ;; *) dir=$PWD/$dir ;; esac
}
