#!/bin/sh
# hungfold.t - pjfold names samples of processes whose file systems do not answer: it leaves their files alone after seconds, names them,
# and names those of others.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: fold/opener/fileopener.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
[ -c /dev/fuse ] || skip_all "no /dev/fuse"
fuse=$arena/fuse
mknod -m 666 "$fuse" c 10 229 || skip_all "mknod is not allowed here"

# a minute of silence: who waits for it ends after the attack
"$(program hungmounts)" "$arena" 10 60 "$fuse" >mounts 2>&1 &
attack=$!
"$(program bigelf)" --steady &
steady=$!
attacks="$attacks $attack $steady"
sleep 2
is "all mounts are there" "$(grep -c running mounts)" 10
timeout -s TERM 4 pjrecord -v --all -F 199 --unwind=fp --keep-symbols=none --window=30 --dir=out >paths 2>log
window=$(grep '\.data$' paths | head -n 1)
[ -s "$window" ] || skip_all "pjrecord does not run here: $(head -n 1 log)"
pjfold -v "$window" >folded 2>why
status=$?
ok "pjfold ends while the file systems still do not answer" kill -0 $attack
is "  with a profile" "$status" 0
sed 's/^/# /' why
ok "  whose other functions have names" awk -F';' '/^bigelf;/ { w = $NF; sub(/.* /, "", w); all += w } /;steady_inner / { good += w }
	END { print good, all; exit !(all > 3 && good >= all * .9) }' folded
ok "  and the hung ones are there, without" grep -q 'hungmounts;.*prog' folded
ok "  which is counted" grep -q 'file systems do not respond' why
pjfold -q --unresolved "$window" >unresolved 2>&1
ok "  and named" grep -q 'prog .*its file system does not respond' unresolved
pjfold -q --inline "$window" >/dev/null 2>&1
ok "with --inline, too" kill -0 $attack
pjfold -q "$window" 2>/dev/null | cat >/dev/null
ok "a reader of its output does not wait for what is left behind" kill -0 $attack
done_testing
