#!/bin/sh
# record-figures.t - the share of complete stacks is one figure: pjrecord -v, pjrecord.prom, pjfold -v, pjfold --stacks and pjfold --info
# have the same numbers of one window, which are those of the marks in its callchains (test/record/claimed.c). Stacks of times off the CPU
# are another figure, by time. Numbers of one window do not depend on the load of the machine.
# stage: live
# covers: common/formats/unwindstats.c fold/stackquality.c fold/quality.c record/windows/metrics.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/record.sh
. "$top/test/lib/record.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME

have pjrecord && have pjfold || skip_all "pjrecord or pjfold is not built"
[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
have cc || skip_all "no compiler for the load"
cc -O2 -std=gnu17 -I"$top" -o claimed "$top/test/record/claimed.c" || skip_all "the reader of marks does not compile"
cc -O2 -fomit-frame-pointer -o plain "$top/test/lib/loads/load.c" || skip_all "the load does not compile"
cc -O2 -o burn "$top/test/record/burn.c" || skip_all "the load does not compile"
timeout 60 pjrecord -q -o data --unwind=tables -- true 2>said || skip_all "perf events are not allowed here: $(head -n 1 said)"

# shares LEAST N COMPLETE UNKNOWN TRUNCATED BROKEN: these numbers of stacks as texts print them; LEAST: a share below 0.1 %, or "" for
# its digits
shares()
{
	echo "$2 $3 $4 $5 $6" | awk -v least="$1" '
		function share(part) { return least != "" && part && part / $1 < .001 ? least : sprintf("%.1f", part < $1 && part / $1 > .999 ? 99.9 : $1 ? 100 * part / $1 : 0) }
		{ print $1 ": " share($2) ", " share($3) ", " share($4) ", " share($5) }'
}

# said_shares FILE: the same of the line in FILE that has them, in the words of any tool
said_shares()
{
	sed -n '/ % of [0-9,]* stacks\{0,1\} are complete/{p;q;}' "$1" | awk '
		function share(words,  s) {
			s = $0
			if (!match(s, "(under )?[0-9.]+ % " words)) return "0.0"
			s = substr(s, RSTART, RLENGTH)
			return (s ~ /^under/ ? "under " : "") sprintf("%.1f", substr(s, match(s, /[0-9.]+ %/)) + 0)
		}
		{
			all = $0
			sub(/ stacks are complete.*/, "", all)
			sub(/.* /, "", all)
			gsub(/,/, "", all)
			print all ": " share("of [0-9,]* stacks are complete") ", " share("(may be complete|are of unknown completeness)") ", " share("are (truncated|longer than the copy)") ", " share("are broken")
		}'
}

# table_shares FILE: the shares in the last line of pjfold --stacks, which has no number of stacks
table_shares()
{
	awk '$NF == "(all)" { gsub(/%/, ""); print $2 ", " $5 ", " $3 ", " $4 }' "$1"
}

# read_shares FILE: shares of the off-CPU time whose stack is complete, and was not read, in the line of FILE that has them
read_shares()
{
	sed -n 's/.*stacks of [0-9.]* s off the CPU: \([0-9.]*\) % complete, .* \([0-9.]*\) % not read.*/\1 \2/p' "$1" | tail -n 1
}

# near SHARES SHARES: texts round a share of nearly all down
near()
{
	echo "$1 $2" | awk '{ exit !(NF == 4 && ($1 - $3) ^ 2 < .03 && ($2 - $4) ^ 2 < .03) }'
}

# agree_on_times DIR WINDOW: the figure of times off the CPU, in pjrecord's line, pjfold --info, pjfold --stacks and pjrecord.prom
agree_on_times()
{
	want=$(read_shares said)
	ok "  times off the CPU: pjrecord -v ($want)" test -n "$want"
	ok "  pjfold --info" near "$(read_shares info)" "$want"
	pjfold -q --stacks --only event=offcpu-time-preempted "$2" >stacks 2>&1
	ok "  pjfold --stacks" near "$(awk '/off-CPU time of both events/ { gsub(/%/, ""); print $2, $4 }' stacks)" "$want"
	complete=$(metric "$1" 'offcpu_stacks_seconds_total{stack="complete"}')
	incomplete=$(metric "$1" 'offcpu_stacks_seconds_total{stack="incomplete"}')
	unread=$(metric "$1" 'offcpu_stacks_seconds_total{stack="unread"}')
	ok "  pjrecord.prom" near "$(awk -v c="$complete" -v i="$incomplete" -v u="$unread" 'BEGIN { printf "%.1f %.1f", 100 * c / (c + i + u), 100 * u / (c + i + u) }')" "$want"
}

# agree NAME OPTION... -- COMMAND: one window, and all that has its figures
agree()
{
	name=$1
	shift
	rm -rf dir
	mkdir dir
	timeout 120 pjrecord -v -d dir -w 600 -n 1 -F 1999 --unwind=tables "$@" >paths 2>said </dev/null
	window=$(ls dir/out/*.data 2>/dev/null)
	if [ -z "$window" ] || ! ./claimed "$window" claims.data >counts 2>why; then
		fail "$name: a window" said why
		return
	fi
	pjfold --info "$window" >info 2>&1
	events=$(sed -n 's/^event *\([^ ,]*\).*/\1/p' info)
	row=0 # all events
	if echo "$events" | grep -q '^offcpu-time'; then row=1; fi
	# shellcheck disable=SC2046 # numbers
	set -- $(sed -n "s/^$row //p" counts)
	echo "# stacks, complete, unknown, truncated, broken: $*"
	want=$(shares "under 0.1" "$@")
	ok "$name: a window of at least 100 stacks" [ "$1" -ge 100 ]
	is "  pjrecord -v" "$(said_shares said)" "$want"
	is "  pjfold --info" "$(said_shares info)" "$want"
	prom="$(metric dir 'stacks_total{end="root"}') $(metric dir 'stacks_total{end="unknown"}') $(metric dir 'stacks_total{end="copy"}') $(metric dir 'stacks_total{end="broken"}')"
	is "  pjrecord.prom" "$prom" "$2 $3 $4 $5"
	while read -r number counted; do
		[ "$number" != 0 ] || continue
		event=$(echo "$events" | sed -n "${number}p")
		case $event in offcpu-time*) continue ;; esac
		# shellcheck disable=SC2086 # numbers
		want=$(shares "under 0.1" $counted)
		pjfold -v --only "event=$event" "$window" >folded 2>fold.said
		is "  pjfold -v, $event" "$(said_shares fold.said)" "$want"
		pjfold -q --stacks --only "event=$event" "$window" >stacks 2>&1
		# shellcheck disable=SC2086 # numbers
		is "  pjfold --stacks, $event" "${counted%% *}: $(table_shares stacks)" "$(shares "" $counted)"
	done <counts
}

agree "C" -- ./plain 600
agree "C, a copy that is too short" --stack-size=1K -- ./plain 600
agree "times off the CPU" --off-cpu -- sh -c './plain 600; sleep .2; sleep .2'
agree_on_times dir dir/out/*.data
agree "two events" -e cpu-clock -e task-clock -- ./plain 600
agree "the whole host" -a -- ./plain 600
agree "a tenant over its budget" --tenant-bytes=1K -- ./burn deep 500 1
ok "  so it is" grep -q 'over budget: .* samples without their stacks' said
if have php; then
	agree "PHP" -- php -r '$s = 0; for ($i = 0; $i < 30000000; $i++) $s += $i % 7;'
else
	skip "PHP" "php-cli is not installed"
fi
done_testing
