#!/bin/sh
# sharedmm.t - memory of a set-uid program is in no file that pjmap or pjrecord writes, whatever fake JVMs do before they become that program.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: common/process/taskid.c record/java/jvmopen.c jmap/reader/readhelper.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$top/test/hostile/lib.sh"
have pjmap || skip_all "pjmap is not built"

secret="Zq$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')"
printf %s "$secret" >"$arena/secret"
chown 0:0 "$arena/secret"
chmod 600 "$arena/secret"
install -o 0 -g 0 -m 4755 "$build/test/hostile/keepsecret" "$arena/keepsecret"
mkdir -m 1777 tmp
chmod 711 .
TMPDIR=$arena
export TMPDIR

# end PID: SIGINT, and waits
end()
{
	kill -INT "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

pjmap -i 0.1 -d maps.d --to "$scratch/tmp" 2>pjmap.err &
pjmap=$!
attacks="$attacks $pjmap"
recorder=
if have pjrecord && timeout 60 pjrecord -v -o probe --unwind=tables -- true >/dev/null 2>&1; then
	pjrecord -v -d record.d -F 499 --unwind=tables 2>pjrecord.err &
	recorder=$!
	attacks="$attacks $recorder"
fi
attack sharedmm "$arena/keepsecret" "$arena/secret" "$attack_secs"
storm=$attack
while kill -0 "$storm" 2>/dev/null && [ "$attack_secs" -gt 0 ]; do
	pjmap --once -q --to "$scratch/tmp" 2>/dev/null
	pjmap --list >>list 2>/dev/null
	sleep 1
	attack_secs=$((attack_secs - 1))
done
wait "$storm" 2>/dev/null
ok "pjmap goes on" kill -0 "$pjmap"
end "$pjmap"
[ -z "$recorder" ] || { ok "pjrecord goes on" kill -0 "$recorder" && end "$recorder"; }

ok "the set-uid program ran, and held its secret" grep -q 'keepsecret: holds it' "$arena/log"
ok "the fake JVMs were read" grep -rqa 'java/lang/Object\|java\.lang\.Object' maps.d
ok "  and pjmap wrote maps of them" grep -rqa 'java/lang/Object' tmp
grep -rla "$secret" tmp maps.d list ${recorder:+record.d} >found 2>/dev/null
is "files with the secret" "$(wc -l <found)" 0
find tmp -type f ! -perm 600 >open
is "maps that others may read" "$(wc -l <open)" 0
ok "maps are of the user whose JVM it is" sh -c 'find "$1" -name "*.map" -user "$2" | grep -q .' - tmp "$attacker"
[ -z "$recorder" ] || ok "pjrecord wrote windows" sh -c 'ls record.d/out/*.data'
done_testing
