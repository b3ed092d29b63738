#!/bin/sh
# stopstacks.t - PHP, Ruby and Perl programs whose stacks are known, with just-in-time compilers and without, stopped at any instruction: no stack is one
# that the program cannot have, and nearly all have all functions.
#
# No events, and no readers that may be late: a stack is left out only if it does not match. Debian's PHP and Ruby, and those in PJ_PHPS and PJ_RUBIES
# (programs, or ROOT:PROGRAM for a Ruby); Debian's Ruby has no YJIT, or that of 3.1, which is not read.
# covers: record/interpreters/onestack.c unwind/hostframe.c runtimes/php/phpcompiled.c record/interpreters/phpinterpreter.c
# covers: record/interpreters/rubyinterpreter.c record/interpreters/perlinterpreter.c
# once: it stops programs some hundred times; the modules have their own tests
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
export LC_ALL
stopstacks=${PJ_BUILD:-$top/build/std-cc}/test/record/interpreters/stopstacks
phps=$PJ_PHPS rubies=$PJ_RUBIES

[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
for at in /usr/bin/php[78].[0-9]; do [ ! -x "$at" ] || phps="$phps $at"; done
for at in /usr/bin/ruby3.1 /usr/bin/ruby3.3 /usr/bin/ruby3.4; do [ ! -x "$at" ] || rubies="$rubies $at"; done
[ -n "$phps$rubies" ] || skip_all "no PHP and no Ruby is installed"

# stopped LANGUAGE PROGRAM MODE MATCHING OPTION...: all stacks are possible; MATCHING % have their functions. LANGUAGE: php, rb or pl.
stopped()
{
	language=$1 program=$2 mode=$3 least=$4
	shift 4
	case $language in
	php) judge=php ;;
	rb) judge=ruby ;;
	*) judge=perl ;;
	esac
	what="${program##*/} $mode $*"
	script=$top/test/lib/loads/truth.$language
	case $program in
	*:*)
		script=/tmp/pj-stopstacks.$language
		cp "$top/test/lib/loads/truth.$language" "${program%%:*}$script"
		TMPDIR=/tmp timeout 60 "$stopstacks" -n 400 -w 600 -r "${program%%:*}" -- "${program#*:}" "$@" "$script" "$mode" 60 >folded 2>said
		status=$?
		rm -f "${program%%:*}$script"
		;;
	*)
		TMPDIR=$scratch timeout 60 "$stopstacks" -n 400 -w 600 -- "$program" "$@" "$script" "$mode" 60 >folded 2>said
		status=$?
		;;
	esac
	if [ $status -eq 77 ]; then
		skip "$what: stopped" "ptrace is not allowed here"
		return
	elif [ $status -ne 0 ]; then
		fail "$what: stopped" said
		return
	fi
	awk -v mode="$mode" -f "$top/test/record/record-$judge.awk" folded >figures 2>impossible
	# shellcheck disable=SC2046
	set -- $(cat figures)
	is "$what: of $1 stacks, all of $2 with functions are possible" "${4:-}" 0
	[ "${4:-0}" = 0 ] || fail "  impossible ones" impossible
	ok "  at least $least % have all functions with names: $5 %; $(cat said)" awk -v all="$5" -v least="$least" 'BEGIN { exit !(all >= least) }'
}

# has_jit PHP: it has opcache's JIT compiler
has_jit()
{
	"$1" -d opcache.enable_cli=1 -d opcache.jit_buffer_size=16M -d opcache.jit=tracing -r \
		'exit(function_exists("opcache_get_status") && !empty(opcache_get_status()["jit"]["on"]) ? 0 : 1);' 2>/dev/null
}

for program in $phps; do
	stopped php "$program" callbacks 90
	if ! has_jit "$program"; then
		skip "${program##*/} with opcache's JIT compiler" "it has none"
		continue
	fi
	set -- -d opcache.enable_cli=1 -d opcache.jit_buffer_size=16M
	stopped php "$program" parents 95 "$@" -d opcache.jit=tracing
	stopped php "$program" callbacks 90 "$@" -d opcache.jit=tracing
	stopped php "$program" generators 90 "$@" -d opcache.jit=function
done
for program in $rubies; do
	stopped rb "$program" callbacks 90 --disable-gems
	case $program in
	*:*) in="chroot ${program%%:*}" ;;
	*) in= ;;
	esac
	# shellcheck disable=SC2086
	if ! $in "${program#*:}" --disable-gems --yjit -e 'exit RUBY_VERSION >= "3.3" && RubyVM::YJIT.enabled?' 2>/dev/null; then
		skip "${program##*/} with YJIT" "it has none, or that of 3.1"
		continue
	fi
	for mode in parents callbacks exceptions catches singletons deep; do
		stopped rb "$program" "$mode" 90 --disable-gems --yjit
	done
done
# closures, by the place of their code
if [ -x /usr/bin/perl ] && /usr/bin/perl -MConfig -e 'exit !$Config{usethreads}'; then
	stopped pl /usr/bin/perl closures 90
else
	skip "perl closures" "no perl with threads"
fi
done_testing
