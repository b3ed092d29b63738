#!/bin/sh
# check.sh - run the tests of one build: make check. prove shows their results if it is installed; their TAP is stored
# in PJ_BUILD/tap.
# PJ_BUILD: folder of the build. STAGE: run the tests of this stage. T: run only the tests whose path matches this
# pattern, or that cover (covers.sh) a module or a folder of this name. PJ_TESTS: run these tests instead (for ./check).
# PJ_JOBS: number of tests that run at the same time (2).
# PJ_LIST: do not run the chosen tests, but print their names, and those of cases that T selects.
# PJ_FULL=0: leave out the tests that belong to ./check --full: those with a line `# full: REASON`, and in a build with
# sanitizers those with `# full-san: REASON`. PJ_FULL=only: run only the tests that PJ_FULL=0 leaves out. A test with
# `# once: REASON` does not depend on the build: builds with sanitizers leave it out.
# PJ_UNITS=std: of the unit tests, run only those that check less, or do not run, with sanitizers: `std: REASON`, `once`
# or `full-san`. ./check runs the others with sanitizers only.
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

# stage_tests STAGE: prints the tests with the header line `# stage: STAGE`; for the stage `all`, those without such a
# line. Slow tests come first, so that none of them runs alone at the end. Other stages are `live` (samples this
# machine, as root), `stores` (starts servers) and `browser`.
stage_tests()
{
	for t in test/suite/units-guest.t test/packaging/dist.t test/suite/laws.t test/fold/script/conformance.t test/cases.sh test/svg/blob.t $(find test -name '*.t' | LC_ALL=C sort); do
		if [ "$(sed -n '1,30s/^# stage: //p' "$t")" = "${1#all}" ] && [ -x "$t" ]; then echo "$t"; fi
	done | awk '!seen[$0]++' | of_run
	[ "$1" = all ] || return 0
	for t in $(find test -name '*_test.c' | LC_ALL=C sort) test/fuzz/*/*_fuzz.c; do
		t=$PJ_BUILD/${t%.c}
		if [ -x "$t" ]; then echo "${t#"$PJ_TOP"/}"; fi
	done | of_run
}

# has_mark TEST MARK: returns true if the header of a test has a line `# MARK: ...`; MARK is an extended regular
# expression
has_mark()
{
	source=$1
	case $1 in build/*) source=${1#build/*/}.c ;; esac
	sed -n 1,30p "$source" | grep -qE "^(#|/[*]) ($2): "
}

# of_run: reads names of tests, and prints those that belong to this run (PJ_FULL)
of_run()
{
	mark=full never=
	case $PJ_BUILD in
	*/san-*) mark='full|full-san' never=once ;;
	*/thread-*) never=once ;;
	esac
	while read -r t; do
		if [ -n "$never" ] && has_mark "$t" $never; then continue; fi
		case ${PJ_UNITS:-}:$t in
		std:build/*) has_mark "$t" 'std|once|full-san' || continue ;;
		esac
		if [ -n "${PJ_FULL:-}" ]; then
			if has_mark "$t" "$mark"; then left_out=only; else left_out=0; fi
			[ "$left_out" = "$PJ_FULL" ] || continue
		fi
		echo "$t"
	done
}

# chosen STAGE: prints the tests of a stage that T selects, by their path, or by a module or a folder that they cover
chosen()
{
	stage_tests "$1" | if [ -z "$T" ]; then cat; else select_tests; fi
}

select_tests()
{
	{ sh test/covers.sh | sed 's/^/+ /'; find test/*/cases -mindepth 1 -maxdepth 1 | sed 's/^/+ /'; cat; } | awk '
		$1 == "+" {
			# cases.sh runs all cases
			case_of = $2 ~ /\/cases\//
			test = case_of ? "test/cases.sh" : $2
			sub(/[.]c$/, "", test)
			if ($3 ~ ("(^|/)(" ENVIRON["T"] ")([./]|$)") || (case_of && $2 ~ ENVIRON["T"]))
				covers[test] = 1
			next
		}
		{
			test = $0
			sub(/^build\/[^\/]*\//, "", test)
			sub(/^.*\/test\//, "test/", test)
		}
		$0 ~ ENVIRON["T"] || test in covers'
}

stage=${STAGE:-all}
tests=${PJ_TESTS:-$(chosen "$stage")}
if [ -n "$T" ] && [ -z "${PJ_TESTS:-}" ] && [ "$stage" = all ]; then
	for other in live stores browser; do
		more=$(chosen $other | wc -l)
		if [ "$more" != 0 ]; then echo "check: make check STAGE=$other T='$T' runs $more more tests" >&2; fi
	done
fi
if [ -z "$tests" ]; then
	echo "check: no test matches '$T'" >&2
	exit 1
fi

if [ -n "${PJ_LIST:-}" ]; then
	echo "$tests"
	if [ "$stage" = all ]; then find test -path '*/cases/*' -name cmd | grep -E -- "$T"; fi
	exit 0
fi

rm -rf "$PJ_TAP"
mkdir -p "$PJ_TAP"

# Removes folders that killed tests left: those older than two hours, since no test takes that long. User 65534 owns
# those of attack programs.
find "${TMPDIR:-/tmp}" -maxdepth 1 -type d -name 'pj-*.??????' \( -user "$(id -u)" -o -user 65534 \) -mmin +120 -exec rm -rf --one-file-system {} + 2>/dev/null

# shellcheck disable=SC2086 # names of tests hold no blanks
if [ -z "${PJ_NO_PROVE:-}" ] && command -v prove >/dev/null 2>&1; then
	prove -Q -j"${PJ_JOBS:-2}" --exec 'sh test/keep.sh' $tests </dev/null
else
	for t in $tests; do
		sh test/keep.sh "$t" </dev/null | grep -A 40 '^not ok'
	done
fi
awk -f test/tally.awk "$PJ_TAP"/*.tap
