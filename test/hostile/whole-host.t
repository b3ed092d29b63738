#!/bin/sh
# One JVM, or one build, that uses the whole host: recorded with defaults, neither reaches a budget.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: record/processes/budgets.c common/process/tenants.c record/java/javabudget.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"
attacker=65533 # a user of its own: attacks of other tests may be over budget

# check_load NAME COMM COMMAND...: records the host while the command runs, as the unprivileged user
check_load()
{
	load_name=$1
	load_comm=$2
	shift 2
	mkdir "$load_name"
	"$build/bin/pjrecord" -v -d "$load_name" 2>"$load_name/err" >/dev/null &
	recorder=$!
	attacks="$attacks $recorder"
	sleep 1
	setpriv --reuid=$attacker --regid=$attacker --clear-groups --pdeathsig KILL timeout -s KILL 120 "$@" >"$load_name/log" 2>&1
	kill -TERM "$recorder"
	wait "$recorder"
	"$build/bin/pjfold" "$load_name"/out/*.data >"$load_name/folded" 2>"$load_name/fold.err"
	load_samples=$(awk -v comm="$load_comm" -F ';' '$1 ~ comm { k = split($0, w, " "); n += w[k] } END { print n + 0 }' "$load_name/folded")
	deepest=$(awk -v comm="$load_comm" -F ';' '$1 ~ comm && NF > most { most = NF } END { print most + 0 }' "$load_name/folded")
	echo "# $load_name: $load_samples samples, at most $deepest frames"
	ok "$load_name: it was recorded" [ "$load_samples" -gt 300 ]
	ok "$load_name: no budget was reached" not grep -q "over budget:[^;]*user $attacker" "$load_name/err"
	is "$load_name: nor is a sample without its stack" "$(awk -v comm="$load_comm" -F ';' '$1 ~ comm' "$load_name/folded" | grep -c 'over budget')" 0
	is "$load_name: pjrecord.prom has no such tenant" "$(grep -c "over_budget_total{tenant=\"user $attacker\"" "$load_name/pjrecord.prom")" 0
	ok "$load_name: no sample was lost" not grep -q 'LOST [0-9,]* samples\{0,1\}\b' "$load_name/err"
}

found=
for home in /usr/lib/jvm/*; do
	if [ ! -x "$home/bin/javac" ] || [ -L "$home" ]; then continue; fi
	found=yes
	jvm=jvm-$(basename "$home" | grep -o '[0-9][0-9]*' | head -n 1)
	"$home/bin/javac" -d "$arena/$jvm" "$top/test/hostile/Whole.java"
	check_load "$jvm" '^(java|Thread-|C[12] |G1 |GC )' "$home/bin/java" -Xss8m -cp "$arena/$jvm" Whole 64 "$attack_secs"
	ok "$jvm: its stacks are deep" [ "$deepest" -gt 250 ]
done
[ -n "$found" ] || skip "a JVM that uses the whole host" "no JDK in /usr/lib/jvm"

if have "${CC:-cc}" && [ -e "$top/Makefile" ]; then
	mkdir "$arena/source"
	(cd "$top" && cp -r Makefile [a-z]* "$arena/source" 2>/dev/null; rm -rf "$arena/source/build")
	chown -R "$attacker:$attacker" "$arena/source"
	check_load build '^(cc1|as|ld|cc|gcc|make|sh|collect2)$' timeout $((attack_secs + 20)) \
		env HOME="$arena" CCACHE_DISABLE=1 make -C "$arena/source" -s -j"$(($(nproc) * 4))" CFLAGS=-g
fi
done_testing
