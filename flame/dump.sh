# dump.sh - pjflame dump: prints the newest stack of each thread of some processes as text, from one short recording
# with off-CPU times.

# list_threads PID,...: prints the present threads of these processes as lines PID TID NAME. A thread chooses its name,
# which may have several lines: only the first one is printed.
list_threads()
{
	for pid in $(printf '%s' "$1" | tr , ' '); do
		printf '%s\n' "/proc/$pid/task"/*
	done | c_awk -F / '
		# getline fails if the thread has ended
		(getline name <($0 "/comm")) > 0 { print $3, $5, name }
		{ close($0 "/comm") }'
}

# Removes processes that have ended from $recorded_as: a container may end processes while pjflame prepares.
leave_out_gone()
{
	living=
	for pid in $(printf '%s' "${recorded_as#-p}" | tr , ' '); do
		if [ -e "/proc/$pid" ]; then living=${living:+$living,}$pid; fi
	done
	[ -n "$living" ] || die "no process of $what is left"
	recorded_as=-p$living
}

dump()
{
	leave_out_gone
	record_window "reading the threads of $what for $seconds s"
	list_threads "${recorded_as#-p}" >"$tmp/threads" || die "cannot write the list of threads: set TMPDIR"
	[ -s "$tmp/threads" ] || die "no thread of $what is left"
	# shellcheck disable=SC2086 # one word, or none
	attend pjfold ${quiet:+-q} $verbose --thread-dump="$tmp/threads" -o "$output" "$(head -n 1 "$tmp/windows")" 2>"$tmp/fold.err"
	result=$?
	sed 's/^pjfold: \([0-9,]* threads\{0,1\}: \)/pjflame: \1/' "$tmp/fold.err" >&2
	[ "$result" = 0 ] || exit "$failure"
}
