#!/bin/sh
# lint.sh - what compilers do not say: layers, forbidden functions, scripts, manual pages. Called by make lint.
# A checker that is not installed is named and passed over.
# shellcheck disable=SC2086,SC2046,SC2012 # names without blanks
set -u
cd "$(dirname "$0")/.." || exit 1
status=0

complain()
{
	echo "lint: $1" >&2
	status=1
}

rooms='common unwind runtimes fold svg diff record jmap send'
sources=$(find $rooms -name '*.[ch]' | sort)
awk -f test/layers.awk docs/ARCHITECTURE.md $(echo "$sources" | grep -v '^jmap/agent/') || complain "layers"
if ctags --version 2>/dev/null | grep -q Universal; then
	echo "$sources" | grep '[.]c$' | grep -v '^jmap/agent/' |
		ctags -f - --language-force=C --kinds-C=fl --fields=+neSK -L - | awk -f test/names.awk || complain "names"
else
	echo "lint: universal-ctags is not installed"
fi

# functions that are never right here
if grep -nE '\b(gets|strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|atof|system|popen|alloca|rand|tmpnam|mktemp)\(' $sources; then
	complain "forbidden functions"
fi
# one way to allocate, one way to die
if grep -nE '(^|[^_[:alnum:]])(malloc|calloc|realloc|strdup|asprintf|exit|perror|abort)\(' $(echo "$sources" | grep -v "^common/"); then
	complain "use arena.h or mem_alloc, and diag.h"
fi
if grep -nE '[[:blank:]]+$' -r $rooms man docs test --include='*.[ch15-7]' --include='*.md'; then
	complain "blanks at the end of lines"
fi

# clang-format breaks a long line of a table after the asterisk of its comment
if grep -nE '^ [*]([[:alnum:](,"]| ----)' $sources $(git ls-files 'test/*.[ch]'); then
	complain "a table in a comment has lines of more than 120 columns"
fi

for t in $(find test -name '*.t') quickstart check release .ci/run; do
	if [ ! -x "$t" ]; then complain "$t is not executable"; fi
done
scripts=$(grep -lE '^#!/bin/(sh|bash)|^# shellcheck shell=' quickstart check release .ci/run flame/assemble svg/viewer/assemble packaging/*.sh packaging/APKBUILD packaging/project packaging/debian/pj.p* packaging/pj.pre-install $(find test -name '*.sh' -o -name '*.t') examples/* 2>/dev/null)
if command -v shellcheck >/dev/null; then
	# shellcheck disable=SC2086 # names without blanks
	shellcheck -x -S warning $scripts || complain "shellcheck"
	# the parts make sense together only
	for tool in pjflame pjprofile; do
		sh flame/assemble 0 $tool | shellcheck -S warning - || complain "shellcheck of $tool"
	done
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
		--suppress=missingIncludeSystem --suppress=internalAstError --suppress=legacyUninitvar -D_GNU_SOURCE -I. $rooms || complain "cppcheck"
else
	echo "lint: cppcheck is not installed"
fi
# each test names what it covers, and that exists; each module is covered
sh test/covers.sh --lint >&2 || complain "covers"
sh test/covers.sh --untested >&2 || complain "modules without a test"
# what a fuzz target covers stands in docs/FUZZING.md
for target in test/fuzz/*/*_fuzz.c; do
	name=${target##*/}
	name=${name%_fuzz.c}
	grep -q "^| $name |" docs/FUZZING.md || complain "docs/FUZZING.md has no line for $name"
done
# one layout: .clang-format of version 14
if command -v clang-format >/dev/null; then
	formatted="$sources $(git ls-files 'test/*.[ch]' 'examples/*.c' | grep -vE '^test/(corpus|attack|suite/older|[a-z]+/cases)/')"
	case $(clang-format --version) in
	*version\ 14.*) clang-format --dry-run -Werror $formatted || complain "make format" ;;
	*) echo "lint: $(clang-format --version): the layout is that of version 14" ;;
	esac
else
	echo "lint: clang-format is not installed"
fi
exit $status
