#!/bin/sh
# figures.sh [--check LOG] [--soak LOG] [--bench LOG] [--coverage LOG] [--append] [DATE VERSION COMMIT] - the figures of outputs of ./check,
# ./check --soak, make bench and make coverage, as rows of docs/FIGURES.csv: date,version,commit,name,value,unit.
#
# Default: today, PJ_VERSION of common/base.h, HEAD. Prints the rows; with --append adds them to docs/FIGURES.csv.
set -eu
LC_ALL=C
export LC_ALL
check='' soak='' bench='' coverage='' append=''
while [ $# -gt 0 ]; do
	case $1 in
	--check) check=$2 && shift ;;
	--soak) soak=$2 && shift ;;
	--bench) bench=$2 && shift ;;
	--coverage) coverage=$2 && shift ;;
	--append) append=yes ;;
	-*) echo "figures.sh: unknown option $1" >&2 && exit 2 ;;
	*) break ;;
	esac
	shift
done
csv=$(dirname "$0")/../docs/FIGURES.csv
base=$(dirname "$0")/../common/base.h
date=${1:-$(date -u +%Y-%m-%d)}
version=${2:-$(sed -n 's/^#define PJ_VERSION "\(.*\)"/\1/p' "$base")}
commit=${3:-$(git -C "$(dirname "$0")" rev-parse --short=12 HEAD)}

# tests COMMAND LOG: the tally and the time of ./check
tests()
{
	tail -n 1 "$2" | sed 's/, /\n/g' | awk -v command="$1" '{ print command ": " $2 "|" $1 "|tests" }'
	sed -n "s|^== \\([0-9]*\\) s\$|$1: time\\|\\1\\|s|p" "$2"
}

{
	if [ -n "$check" ]; then tests ./check "$check"; fi
	if [ -n "$soak" ]; then tests './check --soak' "$soak"; fi
	# "NAME | VALUE UNIT, VALUE UNIT | TARGET | MET"
	if [ -n "$bench" ]; then
		awk -F ' *[|] *' 'NF == 4 {
			n = split($2, value, /, /)
			for (i = 1; i <= n; i++)
				if (match(value[i], /^-?[0-9][0-9.]*/)) {
					unit = substr(value[i], RLENGTH + 1)
					sub(/^ /, "", unit)
					print $1 "|" substr(value[i], 1, RLENGTH) "|" unit
				}
		}' "$bench"
	fi
	# "FOLDER LINES REACHED N %"
	if [ -n "$coverage" ]; then awk 'NF == 5 && $5 == "%" { print "coverage: " $1 "|" $4 "|%" }' "$coverage"; fi
} | awk -F '|' -v row="$date,$version,$commit" '
	function quoted(s) { gsub(/"/, "\"\"", s); return s ~ /[",]/ ? "\"" s "\"" : s }
	{ print row "," quoted($1) "," $2 "," quoted($3) }' | if [ -n "$append" ]; then
	[ -e "$csv" ] || echo 'date,version,commit,name,value,unit' >"$csv"
	cat >>"$csv"
else
	cat
fi
