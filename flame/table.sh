# table.sh - pjflame top: folds each window of a recording, shows its table, and deletes the window.

# functions of awk that fit text into columns of a terminal
widths='
#include widths.awk
'

# Sets $lines and $columns to the size of the terminal, or to 0 if there is no screen, and $room to the number of rows.
measure()
{
	lines=0 columns=0
	if [ -n "$screen" ]; then
		# shellcheck disable=SC2046 # two words
		set -- $(stty size <&4 2>/dev/null) 24 80
		lines=$1 columns=$2
		[ "$lines" -gt 0 ] || lines=24
		[ "$columns" -gt 0 ] || columns=80
	fi
	room=${rows:-20}
	if [ "$lines" -gt 0 ] && { [ -z "$rows" ] || [ "$rows" -gt $((lines - 5)) ]; }; then room=$((lines - 5)); fi
	[ "$room" -gt 0 ] || room=1
}

# rows_of FOLDED ROWS ALL: prints the ROWS hottest functions of a folded file: their self and total weight as shares of
# ALL, and their names, shortened to the width of the terminal
rows_of()
{
	pjfold -q --top "$2" "$1" | width=$columns utf=$utf all=$3 c_awk "$widths"'
	BEGIN { w = ENVIRON["width"] + 0; utf = ENVIRON["utf"] + 0; all = ENVIRON["all"] + 0 }
	NR > 1 && all {
		name = $0; sub(/^ *[0-9]+ +[0-9.]+% +[0-9]+ +[0-9.]+%  /, "", name)
		printf "%6.2f%% %6.2f%%  %s\n", 100 * $1 / all, 100 * $3 / all, fit(name, w ? (w > 30 ? w - 17 : 13) : 0, 1)
	}'
}

# table WINDOW: prints a line about the window, and its table. Returns false if the window cannot be folded.
table()
{
	# shellcheck disable=SC2046 # words
	pjfold -q --header $(fold_options) -o "$tmp/folded" "$1" 2>"$tmp/fold.err" || return 1
	measure
	sed '1q' "$tmp/folded" | what=$what seconds=$seconds now=$(date +%H:%M:%S) width=$columns utf=$utf c_awk "$widths"'
	BEGIN { utf = ENVIRON["utf"] + 0 }
	{
		for (i = 3; i <= NF; i++) { at = index($i, "="); value[substr($i, 1, at - 1)] = substr($i, at + 1) }
		line = ENVIRON["now"] "  " ENVIRON["what"] ", " ENVIRON["seconds"] " s: "
		if (value["unit"] == "ns") line = line sprintf("%d waits", value["samples"])
		else line = line sprintf("%d samples", value["samples"]) (value["event"] == "" ? "" : " of " value["event"])
		if (value["frequency"] > 0 && value["event"] ~ /^(cycles|cpu-clock|task-clock)/) line = line sprintf(", %.2f CPUs busy", value["samples"] / value["frequency"] / ENVIRON["seconds"])
		print fit(line sprintf(", %d lost", value["lost"]), ENVIRON["width"] + 0, 0)
		print "   self   total  function"
	}'
	all=$(c_awk '!/^#($|[ \r{])/ { n += $NF } END { printf "%.0f\n", n }' "$tmp/folded")
	if [ -z "$by" ]; then
		rows_of "$tmp/folded" "$room" "$all"
		return
	fi
	# the groups with the largest weight; the rows are divided equally among them
	c_awk '!/^#($|[ \r{])/ { frame = $0; sub(/;.*/, "", frame); if (frame == $0) sub(/ [0-9]+$/, "", frame); n[frame] += $NF } END { for (f in n) printf "%.0f\t%s\n", n[f], f }' "$tmp/folded" |
		LC_ALL=C sort -t '	' -k1,1nr -k2 >"$tmp/groups"
	groups=$(wc -l <"$tmp/groups")
	[ "$groups" -le $(((room + 3) / 4)) ] || groups=$(((room + 3) / 4))
	[ "$groups" -gt 0 ] || return 0
	each=$((room / groups - 1))
	[ "$each" -gt 0 ] || each=1
	head -n "$groups" "$tmp/groups" | while IFS='	' read -r part group; do
		group=$group part=$part all=$all width=$columns utf=$utf c_awk "$widths"'
		BEGIN { utf = ENVIRON["utf"] + 0; printf "%15.2f%%  %s\n", 100 * ENVIRON["part"] / ENVIRON["all"], fit("== " ENVIRON["group"], ENVIRON["width"] ? ENVIRON["width"] - 18 : 0, 0) }' </dev/null
		group=$group c_awk 'BEGIN { g = ENVIRON["group"] ";"; n = length(g) } substr($0, 1, n) == g { print substr($0, n + 1) }' "$tmp/folded" >"$tmp/part"
		rows_of "$tmp/part" "$each" "$all"
	done
}

# Returns true if the shell that started this subshell has ended. Compares the parent, since kill -0 succeeds for a
# zombie, too.
is_orphan()
{
	read -r stat </proc/self/stat || return 1
	# shellcheck disable=SC2086 # words
	set -- ${stat##*) }
	[ "$2" != $$ ]
}

# Removes the directory of the killed shell, and exits. First waits, at most 30 s, until the recorder and the mapper
# have ended, since they write until then: the kernel has signalled them (--with-parent). It polls, because they are not
# children of this process.
clean_up_alone()
{
	left=300
	while kill -0 "$recorder" 2>/dev/null || { [ -n "$mapper" ] && kill -0 "$mapper" 2>/dev/null; }; do
		[ $((left -= 1)) -gt 0 ] || break
		sleep 0.1
	done
	rm -rf "$tmp"
	exit 1
}

# Reads paths of windows from standard input; shows the table of each window, and deletes the window. On a screen, shows
# only the newest window, and skips those before it.
show_tables()
{
	count=0
	while IFS= read -r window; do
		if is_orphan; then clean_up_alone; fi
		newest=$(find "$dir/out" -name '[0-9]*.data' | sort | tail -n 1)
		if [ -z "$screen" ] || [ -z "$newest" ] || [ "$newest" = "$window" ]; then
			if table "$window" >"$tmp/next"; then
				mv "$tmp/next" "$tmp/table"
				show
				count=$((count + 1))
			else
				cat "$tmp/fold.err" >&2
			fi
		fi
		rm -f -- "$window"
	done
	# the input also ends if the shell is killed: the recorder then ends, perhaps without another window
	if is_orphan; then clean_up_alone; fi
}

show()
{
	if [ -n "$screen" ]; then
		escape=$(printf '\033')
		{ printf '%s[H' "$escape"; sed "s/\$/${escape}[K/" "$tmp/table"; printf '%s[J' "$escape"; hint "$tmp/fold.err"; } >"$tmp/screen"
		cat "$tmp/screen" >&4
	else
		# ends at a failed write: the reader has ended, or the disk is full
		if [ "$count" != 0 ]; then echo || exit; fi
		cat "$tmp/table" || exit
		hint "$tmp/fold.err" >"$tmp/hint"
		if [ -s "$tmp/hint" ] && ! cmp -s "$tmp/hint" "$tmp/hinted"; then
			cat "$tmp/hint" >&2
			mv "$tmp/hint" "$tmp/hinted"
		fi
	fi
}

# hint FILE: prints the first message that pjfold wrote to FILE about a window, in one line.
hint()
{
	grep -v -e '^pjfold: not counted, as one event' "$1" | head -n 1 |
		width=$columns utf=$utf c_awk "$widths"'
		BEGIN { utf = ENVIRON["utf"] + 0 } { width = ENVIRON["width"] + 0; printf "%s%s", fit($0, width, 0), (width ? "" : "\n") }'
}

# Reads one key after another, and ends pjflame at q or Ctrl-C. dd waits for each key; SIGTERM ends dd, too.
read_keys()
{
	trap 'kill "$reader" 2>/dev/null; exit 0' TERM
	while :; do
		dd bs=1 count=1 <&4 >"$tmp/key" 2>/dev/null &
		reader=$!
		wait "$reader"
		case $(cat "$tmp/key") in
		q | Q | "$(printf '\003')") kill -USR1 $$; exit 0 ;;
		'') [ -s "$tmp/key" ] || exit 0 ;; # the terminal is gone
		esac
	done
}

enter_screen()
{
	screen=
	case ${LC_ALL:-${LC_CTYPE:-${LANG:-}}} in
	*[Uu][Tt][Ff]-8* | *[Uu][Tt][Ff]8*) utf=1 ;;
	*) utf=0 ;;
	esac
	if [ ! -t 1 ]; then
		utf=1 # of a pipe nobody knows: bytes as they are
		return
	fi
	case ${TERM:-dumb} in
	dumb | '') return ;;
	esac
	if { exec 4<>/dev/tty; } 2>/dev/null && terminal=$(stty -g <&4 2>/dev/null); then
		screen=1
		stty -icanon -echo -isig min 1 time 0 <&4 # Ctrl-C is a key, whether or not who started us ignores its signal
		printf '\033[?1049h\033[?25l\033[H%s' "pjflame: the first table comes in $seconds s; q ends" >&4
	fi
}

leave_screen()
{
	[ -n "$terminal" ] || return 0
	stty "$terminal" <&4
	printf '\033[?25h\033[?1049l' >&4
	terminal=
	if [ -s "$tmp/table" ]; then cat "$tmp/table" >&4; fi
}

top()
{
	start_mapper
	mkfifo "$tmp/ready" || exit "$failure"
	enter_screen
	[ -n "$screen" ] || tell "$what, a table each $seconds s"
	recorder "$recorded_as" -w "$seconds" ${tables:+-n "$tables"} --keep-symbols=256M --keep-bytes=256M -d "$dir" >"$tmp/ready" 2>"$tmp/rec.err" </dev/null &
	recorder=$!
	quiet_layers
	show_tables <"$tmp/ready" &
	job=$!
	if [ -n "$screen" ]; then
		read_keys &
		keys=$!
	fi
	await "$job"
	shown=$?
	job=
	if [ "$shown" != 0 ]; then exit "$shown"; fi # a recorder does not end because nobody reads its windows
	await "$recorder"
	result=$?
	recorder=
	leave_screen
	if [ "$result" != 0 ]; then
		cat "$tmp/rec.err" >&2
		: >"$tmp/rec.err" # shown
		exit "$failure"
	fi
	[ -s "$tmp/table" ] || die "no window could be read"
}
