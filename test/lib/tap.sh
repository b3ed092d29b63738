# shellcheck shell=sh
# tap.sh - functions for shell tests, which write TAP. Source it first: . "$(dirname "$0")/../lib/tap.sh"
# It sets $top to the folder of the project, adds the built tools to PATH, and changes to a scratch folder, which is
# removed at the end.

n=0
failed=0
top=${PJ_TOP:-$(cd "$(dirname "$0")" && while [ ! -e Makefile ] && [ "$PWD" != / ]; do cd ..; done && pwd)}
case ${PJ_BUILD:-} in
'') PATH=$top/build/std-cc/bin:$PATH ;; # a test started by hand, after `make tests`
esac
scratch=$(mktemp -d "${TMPDIR:-/tmp}/pj-test.XXXXXX")
trap 'chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT
trap 'exit 130' HUP INT PIPE TERM
cd "$scratch" || exit 1

# skip_all REASON: skips the complete test, and exits
skip_all()
{
	echo "1..0 # SKIP $1"
	exit 0
}

# pass NAME, fail NAME [FILE...]: writes a result. fail prints the first lines of the files as comments of TAP.
pass()
{
	n=$((n + 1))
	echo "ok $n - $1"
}

fail()
{
	n=$((n + 1))
	failed=1
	echo "not ok $n - $1"
	shift
	for shown in "$@"; do
		[ -e "$shown" ] && head -n 40 "$shown" | cut -c1-400 | sed 's/^/# /'
	done
	return 0
}

# ok NAME COMMAND...: passes if the command returns 0
ok()
{
	name=$1
	shift
	if "$@" >.ok 2>&1; then pass "$name"; else fail "$name" .ok; fi
}

not()
{
	! "$@"
}

# is NAME GOT WANT: passes if both texts are equal
is()
{
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		printf 'got:  %s\nwant: %s\n' "$2" "$3" >.is
		fail "$1" .is
	fi
}

# same NAME FILE FILE: passes if both files have the same bytes
same()
{
	if cmp -s "$2" "$3"; then
		pass "$1"
	else
		diff -u "$2" "$3" >.same 2>&1
		fail "$1" .same
	fi
}

# skip NAME REASON: writes a skipped result
skip()
{
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

have()
{
	command -v "$1" >/dev/null 2>&1
}

# tools: prints the tools of the project that are built. filters: prints those of them that are filters: they read files
# and write one.
tools()
{
	for tool in pjrecord pjmap pjfold pjpack pjsvg pjheat pjdiff pjsend pjfetch pjflame pjprofile; do
		if have "$tool"; then echo "$tool"; fi
	done
}

filters()
{
	tools | grep -vxE "pjrecord|pjmap|pjpack|pjsend|pjfetch|pjflame|pjprofile"
}

done_testing()
{
	echo "1..$n"
	exit "$failed"
}
