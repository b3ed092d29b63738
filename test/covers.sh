#!/bin/sh
# covers.sh - prints a line `TEST FILE` for each file of the product that a test covers.
# covers.sh --untested - lists the modules that no test covers; status 1 if there are any: make untested.
# covers.sh --lint - lists tests without `covers:`, and names of files that do not exist; status 1 if there are any.
#
# A test names the files whose behaviour it checks, in lines near its top: `/* covers: FILE... */` in a C test or a fuzz target,
# `# covers: FILE...` in a shell test. Cases have one file for a folder, test/FOLDER/cases/covers, of lines `CASE...: FILE...`,
# where CASE is the name of a case, or the begin of names with `*` behind it.
set -u
cd "$(dirname "$0")/.." || exit 1

tests()
{
	find test -path test/corpus -prune -o \( -name '*_test.c' -o -name '*_fuzz.c' -o -name '*.t' \) -print | LC_ALL=C sort
}

covers()
{
	# shellcheck disable=SC2046 # names without blanks
	awk 'FNR > 30 { next }
		/^(\/[*]|#) covers: / { sub(/ [*]\/$/, ""); for (i = 3; i <= NF; i++) print FILENAME, $i }' $(tests)
	for list in test/*/cases/covers; do
		folder=${list%/covers}
		for case in "$folder"/*/; do
			case=${case%/}
			awk -v name="${case##*/}" -v test="$case" '/^#/ { next }
				{
					at = index($0, ":")
					n = split(substr($0, 1, at - 1), pattern, " ")
					m = split(substr($0, at + 1), file, " ")
					for (i = 1; i <= n; i++) {
						p = pattern[i]
						if (p == name || (sub(/[*]$/, "", p) && index(name, p) == 1))
							for (k = 1; k <= m; k++)
								print test, file[k]
					}
				}' "$list"
		done
	done
}

case ${1:-} in
'') covers ;;
--untested)
	find common unwind runtimes fold svg diff record jmap send flame \( -name '*.c' -o -name '*.S' -o -name '*.sh' -o -name '*.awk' -o -name '*.js' \) | LC_ALL=C sort |
		{ covers; sed 's/^/- /'; } | awk '$1 != "-" { covered[$2] = 1; next } !($2 in covered) { print "no test covers " $2; bad = 1 } END { exit bad }'
	;;
--lint)
	{ covers; tests | sed 's/^/- /'; find test/*/cases -mindepth 1 -maxdepth 1 -type d | LC_ALL=C sort | sed 's/^/- /'; } |
		awk '$1 == "-" { if (!($2 in tests)) { print $2 " does not name what it covers (covers:)"; bad = 1 } next }
			{ tests[$1] = 1; if (!($2 in there)) { there[$2] = (getline line <$2) >= 0; close($2) } if (!there[$2]) { print $1 " covers " $2 ", which does not exist"; bad = 1 } }
			END { exit bad }'
	;;
*) echo "covers.sh: unknown argument $1" >&2; exit 2 ;;
esac
