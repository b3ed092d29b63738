# draw.sh - draws the picture of one recording or file.

# not_planted FILE FOLDER: returns false if FILE in FOLDER is a link, FIFO or device that another user may have created
# there; sets $planter to the id of this user. The check is only early: the tool that writes FILE checks each component
# of its path (common/files/outpath.h).
not_planted()
{
	# ls prints mode, links, uid; the mode of a folder that group or others can write to has a w at these positions
	# shellcheck disable=SC2046 # words
	set -- "$1" $(LC_ALL=C ls -ldn -- "${2%/}/." 2>/dev/null)
	case ${2-} in # nothing: there is no such folder
	?????w* | ????????w*) ;;
	*) return 0 ;;
	esac
	folder_owner=${4-}
	# shellcheck disable=SC2046 # words
	set -- $(LC_ALL=C ls -ldn -- "$1" 2>/dev/null)
	planter=${3-}
	case ${1-} in
	'' | -*) return 0 ;;
	esac
	[ "$planter" = "$(id -u)" ] || [ "$planter" = "$folder_owner" ]
}

# can_be_made NAME FILE: ends with a message if FILE, the value of option NAME, cannot be written. So the user need not
# wait for the end of a recording to see the message.
can_be_made()
{
	case $2 in
	'' | -) return ;;
	*/*) folder=${2%/*}/ ;;
	*) folder=. ;;
	esac
	[ ! -d "$2" ] || die "$1: '$2' is a directory: name a file in it"
	not_planted "$2" "$folder" || die "$1: the entry '$2' of user $planter is in a directory that other users can write to: name another file, or remove it"
	if [ -L "$2" ] || { [ -e "$2" ] && [ ! -f "$2" ]; }; then return; fi # followed, elsewhere; a pipe, a device
	[ -d "$folder" ] || die "$1: there is no directory '$folder': create it first, or name another file"
	[ -w "$folder" ] || die "$1: cannot create a file in '$folder': it is read-only or belongs to another user: name a file in a directory to which you may write"
}

# input_format: prints perf.data if the input is such a file; otherwise nothing
input_format()
{
	if [ "$input" != - ] && [ "$(head -c 8 -- "$input" 2>/dev/null | tr -d '\000')" = PERFILE2 ]; then echo perf.data; fi
}

# fold ARGUMENT...: runs pjfold. Its summary sentence becomes $sentence; the other messages are printed.
fold()
{
	attend pjfold ${quiet:+-q} $verbose "$@" 2>"$tmp/fold.err"
	result=$?
	if [ "$result" != 0 ] && [ ! -e "$tmp/folded" ] && is_out_of_space "$tmp/fold.err"; then die_of_space "$parent"; fi
	sentence=$(sed -n 's/^pjfold: \([0-9,]* samples\{0,1\}[,;].*\)/\1/p' "$tmp/fold.err" | tail -n 1)
	grep -vxF -e "pjfold: ${sentence:--}" -e 'pjfold: no samples: the recording has none' "$tmp/fold.err" >&2
	return "$result"
}

# has_stacks FILE: returns true if a folded file has stacks, not only the header. Only '# pj ' begins a header, since a
# thread may have the name '#' or '# x'.
has_stacks()
{
	LC_ALL=C grep -qv '^# pj ' "$1"
}

# Draws $input as pjfold and pjsvg do, without a subtitle of pjflame: times and host are in the header of the stacks.
draw_file()
{
	if [ "$input" = - ]; then
		exec 6<&0
		from=6
	fi
	# shellcheck disable=SC2046 # words
	fold --header $(fold_options "$(input_format)") -o "$tmp/folded" -- "$input" || exit "$failure"
	from=0
	has_stacks "$tmp/folded" || die "no samples in '$input'"
	set --
	if [ "$input" != - ]; then set -- --title "${input##*/}"; fi
	if [ -n "$title" ]; then set -- --title "$title"; fi
	if [ -n "$colors" ]; then set -- "$@" --colors "$colors"; fi
	write_picture "$@"
}

# write_picture [OPTION ...]: writes the folded stacks (--folded), and their picture with these options of pjsvg
write_picture()
{
	if [ "$output" != - ]; then set -- "$@" -o "$output"; fi
	if [ -n "$folded" ]; then attend pjfold -q -o "$folded" "$tmp/folded" || exit "$failure"; fi
	attend pjsvg "$@" "$tmp/folded" || exit "$failure"
	case $output in
	-) [ -z "$sentence" ] || tell "$sentence" ;;
	*) tell "$output${sentence:+: $sentence}" ;;
	esac
}

# advise_without_samples: prints advice for processes without a sample: to record their child processes, too, or their
# waits
advise_without_samples()
{
	# shellcheck disable=SC2046 # words
	children=$(cat $(printf '/proc/%s/task/*/children\n' $(echo "$pids" | tr ',' ' ')) 2>/dev/null | tr -s ' \n' ',,')
	children=${children%,}
	if [ "$whom" = pids ] && [ -n "$children" ]; then
		echo ": its child processes are not recorded with it, as they started before (-p $pids,$children records them, too)"
	elif [ -z "$offcpu$wall" ] && [ "$whom" = command ]; then
		echo ": it ran on a CPU for too short a time (-F 9999 takes more samples, --off-cpu shows where it waits)"
	elif [ -z "$offcpu$wall" ]; then
		echo ": it did not run on a CPU (--off-cpu shows where it waits)"
	fi
}

draw()
{
	began=$(date '+%Y-%m-%d %H:%M:%S %Z')
	kind=CPU
	if [ -n "$offcpu" ]; then kind='Off-CPU time'; elif [ -n "$wall" ]; then kind='Wall-clock time'; elif [ "$event" = java:alloc ]; then kind=Allocations; elif [ -n "$event" ]; then kind=$event; fi
	command_status=0
	start_mapper
	if [ "$whom" = command ]; then
		what=$*
		record_command "$@"
		[ "$command_status" = 0 ] || failure=$command_status
	else
		record_window "recording $what for $seconds s; Ctrl-C ends the recording and draws it"
		if [ -n "$mapper" ]; then pjmap --list >"$tmp/jvms" 2>/dev/null; fi
	fi
	end_mapper
	window=$(head -n 1 "$tmp/windows")
	# shellcheck disable=SC2046 # words
	fold --header $(fold_options perf.data) -o "$tmp/folded" "$window"
	result=$?
	[ -e "$tmp/folded" ] || exit "$failure"
	tell_frame_pointers "$window"
	if ! has_stacks "$tmp/folded"; then
		die "no samples of $what$(advise_without_samples)"
	fi
	subtitle="$what, $began"
	set -- --title "${title:-$kind of $what}" --subtitle "$began"
	if [ -n "$title" ]; then set -- --title "$title" --subtitle "$subtitle"; fi
	if [ -n "$offcpu$wall" ]; then set -- "$@" --countname=ns; fi
	if [ -n "$colors" ]; then set -- "$@" --colors "$colors"; elif [ -n "$offcpu" ]; then set -- "$@" --colors io; fi
	write_picture "$@"
	[ "$result" = 0 ] || exit "$failure"
	exit "$command_status"
}
