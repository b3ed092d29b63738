#!/bin/sh
# record-ruby.t - Ruby programs whose stacks are known, recorded with --interpreters=on, without any option of theirs: every stack is one that
# the program can have, and nearly all have all methods and names.
#
# Debian's Ruby, and those in PJ_RUBIES (programs, or ROOT:PROGRAM for one that test/runtimes/ruby/rootfs.sh has unpacked). Native stacks are
# in them, too, so the truth is compared without them. On a loaded machine many copies are not certain, so the share of all samples has a wide
# bound (PJ_RUBY_LEAST, in %), that of the stacks with functions a narrow one. PJ_RUBY_ALL=1 tries all programs.
# stage: live
# full: 13 s of samples of the real program; syncread.t and the unit tests of the runtime are in the gate
# covers: record/interpreters/rubyinterpreter.c runtimes/ruby/ruby.c runtimes/ruby/rubyeval.c record/interpreters/onestack.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL

[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
{ have pjrecord && have pjfold; } || skip_all "pjrecord or pjfold is not built"
timeout 60 pjrecord -v -o data -- true >/dev/null 2>said || skip_all "perf events are not allowed here: $(head -n 1 said)"
pjrecord --check -d . 2>/dev/null | grep -q '^ok *interpreters' || skip_all "no right to real-time priority"
rubies=$PJ_RUBIES
[ ! -x /usr/bin/ruby3.1 ] || rubies="/usr/bin/ruby3.1 $rubies"
[ ! -x /usr/bin/ruby3.3 ] || rubies="/usr/bin/ruby3.3 $rubies"
[ ! -x /usr/bin/ruby3.4 ] || rubies="/usr/bin/ruby3.4 $rubies"
[ -n "$rubies" ] || skip_all "no Ruby 3.1, 3.3 or 3.4 is installed"

pid=
clean_up()
{
	[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
	wait
}

# start RUBY MODE: sets pid
start()
{
	case $1 in
	*:*) chroot "${1%%:*}" "${1#*:}" - "$2" 120 <"$top/test/lib/loads/truth.rb" >ruby.out 2>&1 & ;;
	*) "$1" "$top/test/lib/loads/truth.rb" "$2" 120 >ruby.out 2>&1 & ;;
	esac
	pid=$!
}

stop()
{
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	pid=
}

# recorded SECONDS: into data; the first second is not counted, as the process is new to the recording
recorded()
{
	rm -rf win
	pjrecord -v -d win -F 997 -w 1 --interpreters=on -p "$pid" >/dev/null 2>said &
	recorder=$!
	sleep $(($1 + 1))
	kill -INT $recorder
	wait $recorder
	windows=$(find win/out -name '*.data' | sort | sed 1d)
	# shellcheck disable=SC2086
	pjfold -q --root=process $windows 2>why | grep '^ruby' >folded
}

# judged NAME MODE LEAST SHARES: all stacks of `folded` are possible, LEAST % have all names; the leaves have their shares if SHARES
judged()
{
	what=$1 least=$3 shares=$4
	awk -v mode="$2" -f "$top/test/record/record-ruby.awk" folded >figures 2>impossible
	# shellcheck disable=SC2046
	set -- $(cat figures)
	is "$what: of $1 samples, all of $2 stacks with functions are possible" "${4:-}" 0
	[ "${4:-0}" = 0 ] || fail "  impossible ones" impossible
	if [ "${2:-0}" -lt 100 ]; then
		skip "  the share with names" "only $2 stacks with functions"
	elif awk -v all="$5" -v shown="$6" -v least="$least" 'BEGIN { exit !(all >= least && shown >= 80) }'; then
		pass "  $5 % have all functions, with names, $6 % of those with any: $(sed -n 's/.*; of \([^;]*in interpreters[^;]*\).*/\1/p' said | tail -n 1)"
	else
		fail "  only $5 % have all functions, with names, $6 % of those with any" said figures
	fi
	[ -n "$shares" ] || return 0
	if [ "${10:-0}" -lt 100 ]; then
		skip "  the leaves have their shares" "only ${10} stacks"
	elif awk -v a="$9" -v b="$8" -v c="$7" -v n="${10}" 'function far(got, want) { return (got - want) ^ 2 > 9 * want * (100 - want) / n + 25 }
		BEGIN { exit !(!far(a, 50) && !far(b, 30) && !far(c, 20)) }'; then
		pass "  the leaves have their shares: $9, $8, $7 of ${10}"
	else
		fail "  the leaves have $9, $8, $7 of ${10}, not 50, 30, 20" figures
	fi
}

# one RUBY MODE SECONDS SHARES
one()
{
	start "$1" "$2"
	sleep 0.5
	recorded "$3"
	stop
	judged "${1##*/}, $2" "$2" "${PJ_RUBY_LEAST:-15}" "$4"
}

modes="callbacks threads parents"
[ -z "${PJ_RUBY_ALL:-}" ] || modes="deep deeper callbacks closures exceptions catches fibers renewed singletons threads parents"
for ruby in $rubies; do
	for mode in ${PJ_RUBY_MODES:-$modes}; do
		shares=
		[ "$mode" != parents ] || shares=yes
		one "$ruby" $mode 2 $shares
	done
done

# a caller has the line of its call, the innermost method none; the windows are those of the last program
# shellcheck disable=SC2086
pjfold -q --srcline --root=process $windows 2>why | grep -o 'Truth#\(left:\|fifty\)[^;]*_\[0\]' | sort -u >lines
if [ "$(grep -c 'Truth#fifty' folded)" -ge 1 ]; then
	is "--srcline: the lines of left and of fifty, which it calls" "$(cat lines)" "$(printf 'Truth#fifty_[0]\nTruth#left:truth.rb:%d_[0]' \
		$(($(grep -n 'def left' "$top/test/lib/loads/truth.rb" | cut -d: -f1) + 1)))"
else
	skip "--srcline: the lines of left and of fifty, which it calls" "no stacks with them"
fi
done_testing
