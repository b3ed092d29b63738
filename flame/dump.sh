# dump.sh - dump: the newest stack of each thread of some processes, as text, from one short recording with off-CPU times.

# list_without_stack PID,...: appends the threads that the text lacks; they end up in no record. Names are the threads' own.
list_without_stack()
{
	sed -n 's/^".*" tid \([0-9]*\), .*/\1/p' "$tmp/dump" >"$tmp/with"
	for pid in $(printf '%s' "$1" | tr , ' '); do
		printf '%s\n' "/proc/$pid/task"/*
	done >"$tmp/tasks"
	# a file in /proc that is gone reads as none
	c_awk -F / '
		FILENAME == ARGV[1] { with[$1]; next }
		$5 in with || (getline name <($0 "/comm")) <= 0 { next }
		{
			close($0 "/comm")
			gsub(/[^ -~]/, "?", name)
			if ($3 != process) printf "\nprocess %s, threads without a stack\n", $3
			process = $3
			printf "\n\"%s\" tid %s, without a stack\n  [it did not run, and its stack was not read: refused, or more than 400 threads for each second of -s]\n", name, $5
		}' "$tmp/with" "$tmp/tasks" >>"$tmp/dump"
}

# count_states: the sentence about the threads of the text. A name of a thread cannot forge a state, which is behind the last quotation mark.
count_states()
{
	sed -n 's/^".*" tid [0-9]*, \([a-z]*\).*/\1/p' "$tmp/dump" | c_awk '
		{ n[$1]++ }
		END { printf "%d thread%s: %d running, %d waiting, %d preempted, %d without a stack\n", NR, NR == 1 ? "" : "s", n["running"], n["waiting"], n["preempted"], n["without"] }'
}

dump()
{
	tell "reading the threads of $what for $seconds s"
	# shellcheck disable=SC2086 # one word, or none
	recorder $verbose "$recorded_as" -w "$seconds" --once --keep-symbols=256M -d "$dir" >"$tmp/windows" 2>"$tmp/rec.err" </dev/null &
	recorder=$!
	quiet_layers
	await "$recorder"
	result=$?
	recorder=
	grep -v -e '/out/[0-9]*\.data: ' -e '^pjrecord: symbol store: ' -e '^pjrecord: stacks are deeper than ' "$tmp/rec.err" >&2
	[ "$result" = 0 ] || exit "$failure"
	[ -s "$tmp/windows" ] || die "pjrecord wrote no window"
	attend pjfold -q --thread-dump -o "$tmp/dump" "$(head -n 1 "$tmp/windows")" 2>"$tmp/fold.err"
	if [ ! -e "$tmp/dump" ]; then
		cat "$tmp/fold.err" >&2
		exit "$failure"
	fi
	list_without_stack "${recorded_as#-p}"
	[ -s "$tmp/dump" ] || die "no thread of $what is left"
	# a file is complete or absent
	write_dump || exit "$failure"
	tell "$(count_states)"
}

# write_dump: to standard output, or to a file that takes its name when it is complete and on the disk; its mode is that of the umask
write_dump()
{
	if [ "$output" = - ]; then
		cat "$tmp/dump"
	elif [ -e "$output" ] && [ ! -f "$output" ]; then
		cat "$tmp/dump" >"$output"
	else
		made=$(mktemp "$output.XXXXXX") || return 1
		if cat "$tmp/dump" >"$made" && chmod =rw "$made" && sync "$made" && mv -f "$made" "$output"; then return 0; fi
		rm -f "$made"
		return 1
	fi
}
