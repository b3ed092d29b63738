#!/bin/sh
# lint.sh - what compilers do not say: layers, forbidden functions, scripts, manual pages. Called by make lint.
# A checker that is not installed is named and passed over.
set -u
cd "$(dirname "$0")/.." || exit 1
status=0

complain()
{
	echo "lint: $1" >&2
	status=1
}

# layers: common knows no tool, unwind only common, no tool includes another
for file in */*.c */*.h; do
	room=${file%%/*}
	[ "$room" = test ] || [ "$room" = examples ] && continue
	# shellcheck disable=SC2013 # names without blanks
	for header in $(sed -n 's/^#include "\(.*\)"/\1/p' "$file"); do
		case $header in
		*/*) complain "$file includes $header: modules of another room" ;;
		*) [ -e "$room/$header" ] || [ -e "common/$header" ] || { [ "$room" != common ] && [ -e "unwind/$header" ]; } ||
			complain "$file includes $header, which is neither in $room/ nor in common/ nor in unwind/" ;;
		esac
	done
done

# functions that are never right here
if grep -nE '\b(gets|strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|atof|system|popen|alloca|rand|tmpnam|mktemp)\(' common/*.[ch] unwind/*.[ch] fold/*.[ch] svg/*.[ch] diff/*.[ch] record/*.[ch] jmap/*.[ch] send/*.[ch]; then
	complain "forbidden functions"
fi
# one way to allocate, one way to die
if grep -nE '(^|[^_[:alnum:]])(malloc|calloc|realloc|strdup|asprintf|exit|perror|abort)\(' unwind/*.[ch] fold/*.[ch] svg/*.[ch] diff/*.[ch] record/*.[ch] jmap/*.[ch] send/*.[ch]; then
	complain "use arena.h or mem_alloc, and diag.h"
fi
if grep -nE '[[:blank:]]+$' -r common unwind fold svg diff record jmap send man docs test/unit test/fuzz --include='*.[ch15-7]' --include='*.md'; then
	complain "blanks at the end of lines"
fi
long=$(awk 'length > 140 { print FILENAME ":" FNR }' common/*.[ch] unwind/*.[ch] fold/*.[ch] svg/*.[ch] diff/*.[ch] record/*.[ch] jmap/*.[ch] send/*.[ch])
[ -z "$long" ] || complain "lines longer than 140: $(echo "$long" | tr '\n' ' ')"

for t in test/*.t test/*/*.t quickstart check .ci/run; do
	if [ ! -x "$t" ]; then complain "$t is not executable"; fi
done
scripts=$(grep -lE '^#!/bin/(sh|bash)|^# shellcheck shell=' quickstart check .ci/run flame/assemble test/*.sh test/*.t test/*/*.sh test/*/*.t examples/* 2>/dev/null)
if command -v shellcheck >/dev/null; then
	# shellcheck disable=SC2086 # names without blanks
	shellcheck -x -S warning $scripts || complain "shellcheck"
	# the parts make sense together only
	sh flame/assemble 0 | shellcheck -S warning - || complain "shellcheck of pjflame"
else
	echo "lint: shellcheck is not installed"
fi
if command -v mandoc >/dev/null; then
	for page in man/*.[1-9]; do
		if [ -e "$page" ] && ! mandoc -T lint -W warning "$page"; then complain "$page"; fi
	done
else
	echo "lint: mandoc is not installed"
fi
if command -v cppcheck >/dev/null; then
	cppcheck --quiet --std=c11 --error-exitcode=1 --enable=warning,performance,portability --inline-suppr \
		--suppress=missingIncludeSystem --suppress=internalAstError --suppress=legacyUninitvar -D_GNU_SOURCE -Icommon -Iunwind -I. common unwind fold svg diff record jmap send || complain "cppcheck"
else
	echo "lint: cppcheck is not installed"
fi
# layout is a habit, not a gate: tables aligned by hand stay
if command -v clang-format >/dev/null; then
	n=0
	for file in common/*.[ch] unwind/*.[ch] fold/*.[ch] svg/*.[ch] diff/*.[ch] record/*.[ch] jmap/*.[ch] send/*.[ch]; do
		clang-format "$file" | cmp -s - "$file" || n=$((n + 1))
	done
	echo "lint: clang-format would touch $n files"
fi
exit $status
