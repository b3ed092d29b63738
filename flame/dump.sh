# dump.sh - dump: the newest stack of each thread of some processes, as text, from one short recording with off-CPU times.

# list_without_stack PID,...: appends the threads that the text lacks; they end up in no record. Names are the threads' own.
list_without_stack()
{
	sed -n 's/^".*" tid \([0-9]*\), .*/\1/p' "$tmp/dump" >"$tmp/with"
	for pid in $(printf '%s' "$1" | tr , ' '); do
		for task in "/proc/$pid/task"/*; do
			[ -r "$task/comm" ] || continue
			printf '%s\t%s\t' "$pid" "${task##*/}"
			LC_ALL=C tr '\000-\037\177-\377' '?' 2>/dev/null <"$task/comm" | sed 's/?$//'
			echo
		done
	done >"$tmp/tasks"
	c_awk -F '\t' '
		FILENAME == ARGV[1] { with[$1]; next }
		NF > 2 && !($2 in with) {
			if ($1 != process) printf "\nprocess %s, threads without a stack\n", $1
			process = $1
			name = $0
			sub(/^[^\t]*\t[^\t]*\t/, "", name)
			printf "\n\"%s\" tid %s, without a stack\n  [it did not run, and its stack could not be read while it slept]\n", name, $2
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

# write_dump: to standard output, or to a file that takes its name when it is complete
write_dump()
{
	if [ "$output" = - ]; then
		cat "$tmp/dump"
	elif [ -e "$output" ] && [ ! -f "$output" ]; then
		cat "$tmp/dump" >"$output"
	else
		made=$(mktemp "$output.XXXXXX") || return 1
		if cat "$tmp/dump" >"$made" && chmod 644 "$made" && mv -f "$made" "$output"; then return 0; fi
		rm -f "$made"
		return 1
	fi
}
