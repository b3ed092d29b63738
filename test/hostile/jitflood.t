#!/bin/sh
# Floods of what pjrecord keeps for the fold: sparse, tiny, growing and many jitdumps, and programs with build-ids of their own. They stay
# within the limits of disk and CPU time, and the symbols of a neighbour stay.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: record/symsaver/saverbudget.c record/symsaver/saversweep.c record/symsaver/jits.c record/jit/jitcopy.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export PJ_TOP
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"
# shellcheck source=test/lib/record.sh
. "$PJ_TOP/test/lib/record.sh"
have cc || skip_all "cc is not installed"

each_secs=$((attack_secs / 5 + 1))
limit_kb=32768

# keeper_of PID: the PID of the process that keeps
keeper_of()
{
	for of in $(descendants "$1"); do
		[ "$(cat "/proc/$of/comm" 2>/dev/null)" != pjrecord-keeper ] || echo "$of"
	done
}

# keeper_ms PID: CPU time of the processes that keep
keeper_ms()
{
	# shellcheck disable=SC2046 # a list
	cpu_ms $(keeper_of "$1")
}

disk_kb()
{
	du -skc win/symbols win/jit 2>/dev/null | awk '/total/ { print $1 }'
}

# A neighbour: a program of another user, which is deleted; only what is kept names it. It is sampled for a moment only, so that no later
# window needs its symbols more than others.
cat >neighbour.c <<END
volatile unsigned long n;
__attribute__((noinline)) void neighbour_function(void) { for (;;) n++; }
int main(void) { neighbour_function(); }
END
cc -O1 -g -Wl,--build-id=sha1 -o "$arena/neighbour" neighbour.c || skip_all "cc makes no program"
chown 4711 "$arena/neighbour"

pjrecord -v -F 499 -w 3 --min-free 0 --keep-symbols "${limit_kb}K" -d win >out 2>err &
recorder=$!
attacks="$attacks $recorder"
setpriv --reuid=4711 --regid=4711 --clear-groups --pdeathsig KILL "$arena/neighbour" >/dev/null 2>&1 &
neighbour=$!
until_ 20 sh -c 'ls win/symbols/tenants/user-4711/.build-id/*/*.debug' || fail "the neighbour's symbols are kept" err
sleep 3
kill -KILL $neighbour
rm -f "$arena/neighbour"
find win/symbols -path '*user-4711*' -type f | sort >before
base_kb=$(disk_kb)
echo "# kept before: $base_kb kB"

flood() # KIND PROCESSES
{
	flood_before=$(keeper_ms $recorder)
	attack jitflood "$1" "$2"
	flood_peak=0
	for _ in $(seq $each_secs); do
		sleep 1
		flood_now=$(disk_kb)
		[ "$flood_now" -le "$flood_peak" ] || flood_peak=$flood_now
	done
	flood_ms=$(($(keeper_ms $recorder) - flood_before))
	kill -KILL "$attack" 2>/dev/null
	[ ! -s "$arena/log" ] || sed 's/^/# /' "$arena/log"
	rm -rf "${arena:?}"/jit-* "$arena"/id-*
	echo "# $1: the keeper used $flood_ms ms in $each_secs s, $flood_peak kB on disk"
}

flood sparse 6
ok "sparse: holes take no space" [ "$flood_peak" -le $((base_kb + 4096)) ]
ok "sparse: nor CPU time" [ "$flood_ms" -le $((each_secs * 100)) ]
flood tiny 4
# the burst of a tenant is a second of CPU time
ok "tiny: CPU time of the keeper" [ "$flood_ms" -le $((each_secs * 100 + 1000)) ]
flood grow 3
ok "grow: within the limit" [ "$flood_peak" -le $((limit_kb + 8192)) ]
ok "grow: CPU time of the keeper" [ "$flood_ms" -le $((each_secs * 100 + 1000)) ]
flood many 8
ok "many: within the limit" [ "$flood_peak" -le $((limit_kb + 8192)) ]
flood ids 6
ok "ids: within the limit" [ "$flood_peak" -le $((limit_kb + 8192)) ]
attack jitflood ids 4
sleep 1
ok "SIGTERM ends pjrecord within 2 s beside it" ends_within 2 $recorder
end_attacks

find win/symbols -path '*user-4711*' -type f | sort >after
same "the symbols of the neighbour stay" before after
ok "the tenant is named" grep -q "over budget: .*user $attacker .*not saved" err
awk -v tenant="tenant=\"user $attacker\",what=\"files\"" \
	'/^pj_record_over_budget_total/ && index($0, tenant) { n += $NF } END { print n + 0 }' win/pjrecord.prom >files
ok "  and in the metrics" [ "$(cat files)" -gt 0 ]
for window in win/out/*.data; do pjfold --info "$window"; done >info 2>&1
ok "  and by pjfold --info" grep -q "over budget.*user $attacker: .*[1-9][0-9]* files not saved" info
oldest=$(find win/out -name '*.data' | sort | head -n 2 | tail -n 1)
pjfold -q --kept win "$oldest" >folded
ok "the neighbour has its names" grep -q 'neighbour_function' folded
not_kept=$(find win/symbols win/jit -newer before -type l | wc -l)
is "nothing that is kept is a link" "$not_kept" 0
done_testing
