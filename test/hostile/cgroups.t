#!/bin/sh
# A flood of cgroups in one that was delegated to a user: memory of the recorder is bounded, and others do not notice.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: record/processes/cgroups.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"
# shellcheck source=test/hostile/beside.sh
. "$PJ_TOP/test/hostile/beside.sh"

mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
delegated=$mount/pj-hostile-$$
[ -n "$mount" ] && mkdir "$delegated" 2>/dev/null || skip_all "no cgroup can be made"
remove_cgroups()
{
	[ ! -d "$delegated" ] || find "$delegated" -depth -type d -exec rmdir {} + 2>/dev/null
}
trap 'end_attacks; sleep 0.5; remove_cgroups; chmod -R u+rwx "$scratch" "$arena" 2>/dev/null; rm -rf "$scratch" "$arena"' EXIT
chown "$attacker:$attacker" "$delegated" "$delegated/cgroup.procs"

beside_secs=$((attack_secs / 4 + 3))
record_control before
record_victim flood cgroups "$delegated"
ok "the attack made cgroups" [ -n "$(find "$delegated" -mindepth 2 -type d | head -n 1)" ]
ok "the recording is stopped within 2 s" [ "$stopped" = 0 ]
ok "no sample was lost" not grep -q 'LOST [0-9,]* samples\{0,1\}\b' "$rec/err"
ok "the victim has its samples" has_samples
ok "with their callers" has_callers
ok "32 MB of memory at most" [ "$peak_kb" -le $((control_kb > 8192 ? control_kb + 24576 : 32768)) ]
used=$used_permille
record_control after
ok "at most 10 % of a CPU more" [ "$used" -le $((control_permille + 100)) ]
done_testing
