# record.sh - runs pjrecord, with pjmap beside it if pjrecord alone does not name Java code; prints messages of both.

# Starts pjmap if the recording needs it: pjrecord names the Java code on stacks that its unwinder walks, but callchains
# that the kernel makes by frame pointers need the timelines of pjmap.
start_mapper()
{
	mkdir -p "$dir"
	: >"$tmp/map.err"
	if [ "$unwind" != fp ] && [ -z "$offcpu$wall" ] && [ "$(uname -m)" = x86_64 ]; then return; fi
	every=1
	if [ "$(id -u)" != 0 ]; then every=0.25; fi # new JVMs are told by the kernel to root only
	PJ_SANDBOX_REPORTED=1 $apart pjmap -i "$every" -q --with-parent --no-perf-map -d "$dir" >/dev/null 2>"$tmp/map.err" </dev/null &
	mapper=$!
}

# Suppresses warnings of later tools about layers of the sandbox that the kernel lacks: pjrecord has printed them.
quiet_layers()
{
	PJ_SANDBOX_REPORTED=1
	export PJ_SANDBOX_REPORTED
}

# Ends pjmap, which first scans all JVMs once more.
end_mapper()
{
	[ -n "$mapper" ] || return 0
	stop "$mapper"
	mapper=
}

# recorder OPTION...: runs pjrecord in place of this shell, with the options of the command line, then with these.
recorder()
{
	# shellcheck disable=SC2086 # one word, or none
	set -- ${frequency:+-F "$frequency"} ${event:+-e "$event"} ${unwind:+--unwind="$unwind"} ${interpreters:+--interpreters="$interpreters"} ${offcpu:+"$offcpu"} $wall "$@"
	exec $apart pjrecord --with-parent "$@"
}

choose_target()
{
	case $whom in
	all) recorded_as=-a what="all of $(uname -n)" ;;
	pids)
		# some processes of a list, as pgrep prints it, may have ended: pjrecord reports their number
		living=
		for pid in $(printf '%s' "$pids" | tr , ' '); do
			if [ -e "/proc/$pid" ]; then living=1; fi
		done
		[ -n "$living" ] || die "$pids: no such process (or this user may not see it)"
		recorded_as=-p$pids what="process $pids"
		case $pids in
		*,*) what="processes $pids" ;;
		*)
			comm=$(cat "/proc/$pids/comm" 2>/dev/null)
			what="process $pids${comm:+, $comm}"
			;;
		esac
		;;
	container) choose_container ;;
	esac
}

# Prints the messages of pjrecord, except those about its directory, which pjflame removes. Without -v, it also leaves
# out the message about programs whose functions are not shown: the sentence about the picture has them, with the advice
# to record as root. Root gets this message, because it has the reason; so does a user of dump, which has no sentence.
tell_recorder()
{
	if [ -z "$verbose" ]; then
		unread='^pjrecord: functions of .* are not shown: '
		if [ "$(id -u)" = 0 ] || { [ -n "$dump" ] && [ -z "$quiet" ]; }; then unread=; fi
		grep -v -e '/out/[0-9]*\.data: ' -e '^pjrecord: symbol store: ' -e '^pjrecord: stacks are deeper than ' ${unread:+-e "$unread"} "$tmp/rec.err" >&2
	else
		sed -e '/^pjrecord: symbol store: /d' -e 's|^pjrecord: .*/out/[0-9]*\.data: |pjrecord: |' "$tmp/rec.err" >&2
	fi
}

# record_window MESSAGE: prints MESSAGE, records one window, and stores its path in $tmp/windows
record_window()
{
	tell "$1"
	case $seconds in
	*.*) set -- -s "$seconds" -w $((${seconds%.*} + 1)) ;; # a window has whole seconds
	*) set -- -w "$seconds" ;;
	esac
	# shellcheck disable=SC2086 # one word, or none
	recorder $verbose "$recorded_as" "$@" --once --keep-symbols=256M -d "$dir" >"$tmp/windows" 2>"$tmp/rec.err" </dev/null &
	recorder=$!
	quiet_layers
	await "$recorder"
	result=$?
	recorder=
	if [ "$result" != 0 ] && is_out_of_space "$tmp/rec.err"; then
		[ -s "$tmp/rec.err" ] || die_of_space "$parent"
		die_of_space "${keep:-$parent}"
	fi
	tell_recorder
	[ "$result" = 0 ] || exit "$failure"
	[ -s "$tmp/windows" ] || die "pjrecord wrote no window"
}

# allow_foreground: prints the option of pjrecord by which the command can read keys from the terminal; pjrecord is a
# background job, which cannot. Prints nothing if this shell ignores SIGINT (bit 1 of SigIgn), since it then is itself a
# background job of a script.
allow_foreground()
{
	case $(sed -n 's/^SigIgn:.*\(.\)$/\1/p' "/proc/$$/status" 2>/dev/null) in
	[2367abef]) ;;
	*) echo --foreground ;;
	esac
}

# record_command COMMAND ...: records the command; stores the path of the window in $tmp/windows, and the status of the
# command in $command_status. pjrecord is a background job, because this shell handles a signal at once only while it
# waits. pjrecord stays in the foreground process group of the terminal, so that the command gets keys and Ctrl-C.
record_command()
{
	command -v -- "$1" >/dev/null 2>&1 || { say "$1: not found"; exit 127; }
	mkdir -p "$dir/out"
	window=$dir/out/$(date +%s).data
	# what the command prints is no part of a picture; /dev/null stands for a standard output or input that is closed
	if [ "$output" = - ] || [ "$folded" = - ]; then exec 5>&2; else { command exec 5>&1; } 2>/dev/null || exec 5>/dev/null; fi
	{ command exec 6<&0; } 2>/dev/null || exec 6</dev/null
	# shellcheck disable=SC2046,SC2086 # one word, or none
	pjrecord --with-parent $(allow_foreground) ${verbose:--q} ${seconds:+-s "$seconds"} ${frequency:+-F "$frequency"} ${event:+-e "$event"} ${unwind:+--unwind="$unwind"} ${interpreters:+--interpreters="$interpreters"} ${offcpu:+"$offcpu"} $wall -o "$window" -- "$@" <&6 6<&- >&5 5>&- &
	recorder=$!
	exec 5>&- 6<&-
	quiet_layers
	await "$recorder"
	command_status=$?
	recorder=
	if [ ! -s "$window" ]; then
		# probes the disk, since pjrecord's messages are not in a file of their own here
		if is_full "$dir"; then
			part=
			if [ -n "$keep" ] && [ -s "$window.part" ]; then part=$window.part; fi
			die_of_space "${keep:-$parent}" "$part"
		fi
		exit "$command_status"
	fi
	printf '%s\n' "$window" >"$tmp/windows"
}

# tell_frame_pointers WINDOW: if stacks are recorded by frame pointers alone, names the sampled JVMs that have none, and
# the option that helps. (On x86-64, stacks of waits are read by unwind tables.) Then prints the messages of pjmap about
# sampled JVMs.
tell_frame_pointers()
{
	pjfold -q --info "$1" 2>/dev/null | sed -n 's/^process *\([0-9]*\) samples, \([0-9.]*\) %, pid \([0-9]*\), .*/\3 \1 \2/p' >"$tmp/sampled"
	if [ -s "$tmp/jvms" ] && { [ "$unwind" = fp ] || [ "$(uname -m)" != x86_64 ]; }; then name_without_pointers; fi
	# messages about JVMs that pjmap could not follow: only those about sampled ones
	if [ -s "$tmp/map.err" ]; then
		c_awk 'FILENAME == ARGV[1] { sampled[$1 ":"]; next } $1 == "pjmap:" && ($2 in sampled)' "$tmp/sampled" "$tmp/map.err" >&2
	fi
}

name_without_pointers()
{
	c_awk -F '   *' 'FILENAME == ARGV[1] { split($0, is, " "); if (is[2] >= 10 && is[3] >= 1) sampled[is[1]]; next } ($1 in sampled) && $8 == "no" { print $1 "\t" $10 }' "$tmp/sampled" "$tmp/jvms" >"$tmp/without"
	otherwise=", or leave out --unwind=fp"
	[ "$unwind" = fp ] || otherwise= # the kernel finds the callers
	while IFS='	' read -r pid command; do
		say "$pid, Java ($command), has no frame pointers, so callers of its code are missing: start it with -XX:+PreserveFramePointer" \
			"(or JAVA_TOOL_OPTIONS=-XX:+PreserveFramePointer in its environment)$otherwise"
	done <"$tmp/without"
}

# fold_options [perf.data]: prints the options of pjfold. For a perf.data, threads that a JVM starts for itself, such as
# those of GC and compilers, are frames by group (--root=groups). Threads of the application are not distinguished
# without -t, as in async-profiler.
fold_options()
{
	if [ "${1-}" = perf.data ] && [ "$by" != thread ]; then printf '%s\n' --root=groups; fi
	case $by in
	'') ;;
	process) printf '%s\n' --pid ;;
	thread) printf '%s\n' --root=both ;;
	*) printf '%s\n' "--by=$by" ;;
	esac
	if [ -n "$inline" ]; then printf '%s\n' --inline; fi
	if [ -n "$offcpu" ]; then printf '%s\n' --only=event=offcpu-time; fi
}
