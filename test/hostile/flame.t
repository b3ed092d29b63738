#!/bin/sh
# flame.t - pjflame, the command that runs all others, beside attacks: FUSE file systems that do not answer, in a user namespace of an
# unprivileged user; fake JVMs that take the time of pjmap and write escapes; a link planted at its output. It ends with a picture, names
# functions of others, follows no link, leaves nothing behind, and SIGTERM ends it at any moment.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: flame/pjflame.sh flame/life.sh flame/record.sh
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"
have pjflame || skip_all "pjflame is not built"

attack_secs=$((attack_secs + 60)) # all of the test: it ends them
mkdir tmp
TMPDIR=$scratch/tmp
export TMPDIR
fuse=$arena/fuse
[ ! -c /dev/fuse ] || mknod -m 666 "$fuse" c 10 229 2>/dev/null
attack codeflood scopes 1
attack escapes "$attack_secs"
if [ -c "$fuse" ] && unshare -U -m true 2>/dev/null; then
	attack hungmounts "$arena" 4 "$attack_secs" "$fuse"
	for _ in $(seq 50); do
		if grep -q running "$arena/log"; then break; fi
		sleep 0.2
	done
	if grep -q running "$arena/log"; then pass "file systems of a user namespace that do not answer"; else skip "file systems of a user namespace" "$(head -n 1 "$arena/log")"; fi
else
	skip "file systems of a user namespace" "they cannot be mounted here"
fi
"$build/test/hostile/victim" "$scratch/cpu" &
attacks="$attacks $!"

# left: what pjflame left where it works
left()
{
	find "$TMPDIR" -mindepth 1 | head -n 5
}

timeout -s KILL 120 pjflame -q -s 5 -o flame.svg --folded=folded >out 2>err
is "it ends with a picture" $? 0
sed 's/^/# /' err | cut -c1-300
ok "  which is one" grep -q '</svg>' flame.svg
ok "  with names of others" grep -q '^victim;.*victim_caller;victim_leaf ' folded
is "  and no control characters, nor in the messages" "$(cat flame.svg folded err | LC_ALL=C tr -d '\n\t\40-\176\200-\377' | wc -c)" 0
is "nothing is left behind" "$(left)" ""

# a link of the attacker in a shared folder
mkdir -m 1777 shared
chmod 755 .
echo precious >precious
chmod 600 precious
setpriv --reuid=$attacker --regid=$attacker --clear-groups ln -s "$scratch/precious" shared/flame.svg
(cd shared && timeout -s KILL 120 pjflame -q -s 1 >../out 2>../err)
echo "# status $? with a planted link: $(head -n 1 err)"
is "a planted link is not followed" "$(cat precious)" precious
rm -f shared/flame.svg

# SIGTERM: while it starts, records, maps, folds or draws
for ms in 50 400 1500 3200 4000; do
	pjflame -q -s 3 -o later.svg >out 2>err &
	flame=$!
	attacks="$attacks $flame"
	sleep "$(awk -v ms=$ms -v seed="$seed" 'BEGIN { srand(seed + ms); print (ms + int(rand() * 100)) / 1000 }')"
	ok "SIGTERM after about $ms ms ends it" ends_within 2 $flame
done
sleep 0.5
is "nothing is left behind" "$(left)" ""
is "  and no process" "$(grep -lsE '^(pjrecord|pjmap|pjfold|pjsvg)' /proc/[0-9]*/comm | while read -r comm; do
	tr '\0' '\n' <"${comm%comm}environ" 2>/dev/null | grep -qxF "TMPDIR=$TMPDIR" && cat "$comm"; done)" ""
done_testing
