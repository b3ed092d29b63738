#!/bin/sh
# cases.sh [--accept] - test/FOLDER/cases/NAME/{cmd,out,err,status,inputs}: every case of a tool is a folder.
#
# cmd is sh text, run in a copy of the folder. What it prints must be `out` and `err` (missing: nothing), its status `status`
# (missing: 0). A case of pjfold that does not choose -j itself runs a second time with -j 3 and must do the same.
# T selects cases by pattern, or by what they cover (covers.sh). --accept writes what was seen as what is expected.
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/lib/tap.sh"

accept=
if [ "${1:-}" = --accept ]; then accept=1; fi
LC_ALL=C
export LC_ALL
if [ -n "$accept" ]; then PATH=$top/${PJ_BUILD:-build/std-cc}/bin:$PATH; fi

# The tool under test takes flags that the case does not see.
cat >run <<'SH'
pjfold()
{
	# shellcheck disable=SC2086
	command pjfold $PJFOLD_TEST_FLAGS "$@"
}
. ./.cmd
SH

# run_case FOLDER FLAGS: leaves got/out, got/err, got/status
run_case()
{
	chmod -R u+rwx work 2>/dev/null
	rm -rf work got
	cp -R "$1" work
	mkdir got
	mv work/cmd work/.cmd
	rm -f work/out work/err work/status
	(
		cd work || exit 1
		PJFOLD_TEST_FLAGS=$2 exec timeout 180 sh ../run
	) >got/out 2>got/err </dev/null
	echo $? >got/status
}

# Missing files stand for nothing and 0.
wanted()
{
	rm -rf want
	mkdir want
	for f in out err; do
		if [ -e "$1/$f" ]; then cp "$1/$f" want/$f; else : >want/$f; fi
	done
	if [ -e "$1/status" ]; then cp "$1/status" want/status; else echo 0 >want/status; fi
}

compare()
{
	if cmp -s got/out want/out && cmp -s got/err want/err && cmp -s got/status want/status; then
		pass "$1"
	else
		diff -au want got >difference
		fail "$1" difference
	fi
}

# T selects the cases that cover a module or a folder, too
if [ -n "${T:-}" ]; then sh "$top/test/covers.sh" | awk '$2 ~ ("(^|/)(" ENVIRON["T"] ")([./]|$)") { print $1 }' >covering; fi
# Tools that are not built have no cases. Under ThreadSanitizer only pjfold runs: the other tools with cases have no threads.
case ${PJ_BUILD:-} in */thread-*) threads_only=1 ;; *) threads_only= ;; esac
for case in "$top"/test/*/cases/*/; do
	case=${case%/}
	folder=${case#"$top"/test/}
	tool=pj${folder%%/*}
	if [ "$tool" = pjjmap ]; then tool=pjmap; fi
	name=$tool/${case##*/}
	[ -e "$case/cmd" ] || continue
	have "$tool" || continue
	if [ -n "$threads_only" ] && [ "$tool" != pjfold ]; then continue; fi
	if [ -n "${T:-}" ] && ! echo "test/$folder test/cases.sh" | grep -qE -- "$T" && ! grep -qxF "test/$folder" covering; then continue; fi
	run_case "$case" ''
	if [ -n "$accept" ]; then
		for f in out err; do
			if [ -s got/$f ]; then cp got/$f "$case/$f"; else rm -f "$case/$f"; fi
		done
		if [ "$(cat got/status)" != 0 ]; then cp got/status "$case/status"; else rm -f "$case/status"; fi
		pass "$name accepted"
		continue
	fi
	wanted "$case"
	compare "$name"
	if [ "$tool" = pjfold ] && ! grep -qE -- '(^|[^[:alnum:]-])-j' "$case/cmd"; then
		run_case "$case" '-j 3'
		compare "$name -j 3"
	fi
done
if [ "$n" = 0 ]; then
	echo "1..0 # SKIP no cases"
	exit 0
fi
done_testing
