#!/bin/bash
# coverage.sh - runs the tests with the build for coverage and prints, for each folder of the product, the lines that they reach: make coverage
#
# PJ_BUILD: that build. STAGES: those of the tests ("all stores live"). REPORT=1: no tests, the report of the last run. SHOW=1: also each file.
# Prints `FOLDER LINES REACHED %`; figures.sh takes these lines. Ends with 1 if a folder or all is below MIN (85) percent.
# PJ_FULL=0 leaves out the tests of ./check --full, as in check.sh: then jmap/attach is not reached.
# LEAVE_OUT: tests whose path matches this extended regular expression do not run. By default, these are tests that add no counters of this build:
# they boot a guest, build tools of their own or read only sources; and fleet.t, which waits for minutes and has the lines of other tests.
# Helper processes are not confined to their files, and write their counters before a signal of a tool ends them (test/lib/gcovexit.c). The lines of
# a process that a test or the kernel ends by SIGKILL, or that another root file system or the mode of a folder keeps from build/, are not counted.
set -u
cd "$(dirname "$0")/.." || exit 1
export PJ_BUILD
LEAVE_OUT=${LEAVE_OUT-'-guest[.]t$|^test/packaging/|^test/(words|suite/(release|quickstart|fleet))[.]t$'}
log=$PJ_BUILD/coverage
if [ -z "${REPORT:-}" ]; then
	# processes of other users write counters, too
	find "$PJ_BUILD" -name '*.gcda' -delete
	find "$PJ_BUILD" -name '*.gcno' -exec sh -c 'for f; do f=${f%.gcno}.gcda; : >"$f"; chmod 666 "$f"; done' sh {} +
	mkdir -p "$log"
	PJ_PERF=$(command -v perf)
	export PJ_PERF
	for stage in ${STAGES:-all stores live}; do
		# names of cases, which cases.sh runs, follow those of the tests
		tests=$(STAGE=$stage PJ_LIST=1 sh test/check.sh | grep -v '/cmd$' | grep -vE -e "${LEAVE_OUT:-^$}")
		STAGE=$stage PJ_TESTS=$tests PJ_TAP=$PWD/$PJ_BUILD/tap-cover-$stage sh test/check.sh >"$log/$stage.log" 2>&1
		echo "$stage: $(tail -n 1 "$log/$stage.log")"
	done
fi
mkdir -p "$log"
# A line of a header counts once, and is reached if any module reaches it. Tests that include a module have its lines, too.
find "$PJ_BUILD" -name '*.gcno' -print0 | xargs -0 gcov -t 2>/dev/null | awk -v show="${SHOW:-}" -v min="${MIN:-85}" '
{
	count = $0
	sub(/:.*/, "", count)
	gsub(/[ *]/, "", count)
	rest = substr($0, index($0, ":") + 1)
	line = rest + 0
}
line == 0 && rest ~ /:Source:/ { source = substr(rest, index(rest, ":Source:") + 8); next }
line == 0 || count == "-" || source ~ /^(test|\/)/ { next }
{
	key = source ":" line
	if (!(key in seen)) { seen[key] = 0; lines[source]++ }
	if (count !~ /^[#=]/ && !seen[key]) { seen[key] = 1; reached[source]++ }
}
function put(name, all, hit) { printf "%-28s %7d %7d %6.1f %%\n", name, all, hit, 100 * hit / all }
END {
	for (source in lines) {
		folder = source
		sub(/\/[^\/]*$/, "", folder)
		all[folder] += lines[source]
		hit[folder] += reached[source]
		total += lines[source]
		total_hit += reached[source]
		if (show) put(source, lines[source], reached[source])
	}
	for (folder in all) {
		put(folder, all[folder], hit[folder])
		if (100 * hit[folder] < min * all[folder]) low++
	}
	put("total", total, total_hit)
	exit low > 0 || 100 * total_hit < min * total
}' >"$log/report"
status=$?
LC_ALL=C sort "$log/report"
exit $status
