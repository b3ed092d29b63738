#!/bin/sh
# check.sh - run the tests of one build: make check. TAP goes through prove, where there is one, and is kept in PJ_BUILD/tap.
# PJ_BUILD: the build's folder. T: run only what matches this pattern. PJ_TESTS: run these instead (./check does). PJ_LIST: print their names only.
set -u
cd "$(dirname "$0")/.." || exit 1
PJ_TOP=$PWD
PJ_BUILD=${PJ_BUILD:-build/std-cc}
case $PJ_BUILD in /*) ;; *) PJ_BUILD=$PJ_TOP/$PJ_BUILD ;; esac
PJ_TAP=${PJ_TAP:-$PJ_BUILD/tap}
PATH=$PJ_BUILD/bin:$PATH
LC_ALL=C
UBSAN_OPTIONS=print_stacktrace=1
PJSVG=$PJ_BUILD/bin/pjsvg
export PJ_TOP PJ_BUILD PJ_TAP PATH LC_ALL UBSAN_OPTIONS PJSVG
T=${T:-}
export T

rm -rf "$PJ_TAP"
mkdir -p "$PJ_TAP"

# What there is to run: slow ones first, as two run at a time.
all_tests()
{
	for t in test/suite/laws.t test/fold/script/conformance.t test/cases.sh test/svg/blob.t $(find test -name '*.t' | LC_ALL=C sort) \
		$(find test -name '*_test.c' | LC_ALL=C sort | sed "s|^|$PJ_BUILD/|; s|[.]c$||") "$PJ_BUILD"/test/fuzz/*_fuzz; do
		case $t in
		test/fold/live.t | test/fold/native.t | test/record/record*.t | test/jmap/*.t | test/runtimes/hotspot/jvmstacks.t | test/flame/*.t | test/send/send-stores.t | test/send/send-kill-stores.t | test/svg/browser/* | test/hostile/*) continue ;; # ./check runs them
		esac
		if [ -x "$t" ]; then echo "${t#"$PJ_TOP"/}"; fi
	done
}

tests=${PJ_TESTS:-$(all_tests | awk '!seen[$0]++')}
if [ -n "$T" ]; then
	chosen=$(echo "$tests" | grep -E -- "$T")
	# T=fold/cases/NAME or T=NAME selects cases, too
	if [ -z "${PJ_TESTS:-}" ] && find test/*/cases -mindepth 1 -maxdepth 1 2>/dev/null | grep -qE -- "$T"; then
		chosen=$(printf '%s\n%s\n' "$chosen" test/cases.sh | awk 'NF && !seen[$0]++')
	fi
	tests=$chosen
fi
if [ -z "$tests" ]; then
	echo "check: no test matches '$T'" >&2
	exit 1
fi

if [ -n "${PJ_LIST:-}" ]; then # names only: the tests, and the cases that the pattern selects
	echo "$tests"
	find test -path '*/cases/*' -name cmd | grep -E -- "$T"
	exit 0
fi

# What killed tests left: no test takes two hours. Attack programs are user 65534.
find "${TMPDIR:-/tmp}" -maxdepth 1 -type d -name 'pj-*.??????' \( -user "$(id -u)" -o -user 65534 \) -mmin +120 -exec rm -rf --one-file-system {} + 2>/dev/null

# shellcheck disable=SC2086 # names of tests hold no blanks
if [ -z "${PJ_NO_PROVE:-}" ] && command -v prove >/dev/null 2>&1; then
	prove -Q -j2 --exec 'sh test/keep.sh' $tests </dev/null
else
	for t in $tests; do
		sh test/keep.sh "$t" </dev/null | grep -A 40 '^not ok'
	done
fi
awk -f test/tally.awk "$PJ_TAP"/*.tap
