#!/bin/sh
# fakeid.t - programs of an unprivileged user that claim the build-ids of files of the host, and of another user's program: they change no
# name of anybody else, and nothing that is kept is replaced.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: record/symsaver/savernames.c fold/symbols/symconflicts.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export PJ_TOP
. "$PJ_TOP/test/lib/tap.sh"
. "$PJ_TOP/test/hostile/lib.sh"
. "$PJ_TOP/test/lib/record.sh"
have readelf && have cc || skip_all "readelf or cc is not installed"

id_of()
{
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

# kept ID: files with that build-id, but for those of the attacker
kept()
{
	find win/symbols -path "*/$(echo "$1" | cut -c1-2)/$(echo "$1" | cut -c3-).debug" ! -path '*/user-65534/*' ! -path '*/shared/*' | sort
}

# honest NAME: a program that uses a fifth of a CPU in honest_NAME
honest()
{
	printf '#include <unistd.h>\nvolatile unsigned long n;\n__attribute__((noinline)) void honest_%s(void) { for (;;) if (++n %% 4000000 == 0) usleep(20000); }\nint main(void) { honest_%s(); }\n' \
		"$1" "$1" >"$1.c"
	cc -O1 -g -Wl,--build-id=sha1 -o "$1" "$1.c"
}

# A program of root (of this host), and one of another user, which is kept with that user's files. Both are deleted: only what is kept
# names them.
honest host && honest guest || skip_all "cc does not make programs with build-ids"
host_id=$(id_of host)
guest_id=$(id_of guest)
[ -n "$host_id" ] && [ -n "$guest_id" ] || skip_all "cc makes no build-ids"
cp guest "$arena/guest"
chown 4711 "$arena/guest"
libc=$(ldd "$(command -v sleep)" | awk '$1 ~ /^libc\.so/ { print $3 }')

run() # UID PROGRAM ARGUMENTS...
{
	user=$1
	shift
	setpriv --reuid="$user" --regid="$user" --clear-groups --pdeathsig KILL "$@" >/dev/null 2>&1 &
	attacks="$attacks $!"
}

fake=$(program fakeid)
for of in host_id guest_id libc_id; do
	case $of in host_id) hex=$host_id ;; guest_id) hex=$guest_id ;; *) hex=$(id_of "$libc") ;; esac
	setpriv --reuid=$attacker --regid=$attacker --clear-groups env PJ_SEED="$seed" "$fake" "$arena/$of" "$hex"
	setpriv --reuid=$attacker --regid=$attacker --clear-groups env PJ_SEED="$seed" "$fake" "$arena/$of.section" "$hex" section
	run $attacker "$arena/$of" spin
	run $attacker "$arena/$of.section" spin
done
# the attacker's are seen and kept first
pjrecord -v -F 499 -w 2 -d win >out 2>err &
recorder=$!
until_ 60 sh -c 'ls win/symbols/tenants/user-65534/.build-id/*/*.debug' || echo "# nothing of the attacker is kept"
run 0 "$scratch/host"
run 4711 "$arena/guest"
dd if=/dev/zero bs=1 2>/dev/null | tr '\0' x >/dev/null &
attacks="$attacks $!"
until_ 60 sh -c "find win/symbols -path '*/$(echo "$guest_id" | cut -c1-2)/*' | grep -q user-4711"
until_ 60 sh -c "find win/symbols/.build-id -path '*/$(echo "$host_id" | cut -c1-2)/*' | grep -q ."
kept "$host_id" >before
kept "$guest_id" >>before
is "the host's program is kept for all, the user's for that user" "$(sed 's|/\.build-id.*||' before)" "win/symbols
win/symbols/tenants/user-4711"
# shellcheck disable=SC2046 # a list
ls -i $(cat before) >inodes
rm -f host "$arena/guest"
sleep 4
ok "SIGTERM ends pjrecord" ends_within 2 $recorder
# shellcheck disable=SC2046 # a list
ls -i $(cat before) >after
same "nothing that was kept is replaced" inodes after
end_attacks
rm -f "$arena"/*_id*

newest=$(find win/out -name '*.data' | sort | tail -n 2 | head -n 1)
pjfold -q --kept win "$newest" >folded
ok "the host's program has its own names" grep -q 'honest_host' folded
ok "so has the other user's" grep -q 'honest_guest' folded
is "programs with names of the attacker" "$(grep innocent folded | sed 's/;.*//' | sort -u | tr '\n' ' ' | sed -E 's/(host|guest|libc)_id[^ ]*/FAKE/g; s/(FAKE )+/FAKE /')" "FAKE "
is "frames of others that the attacker named" "$(grep -E '^(host|guest|dd|tr);' folded | grep -c innocent)" 0
ok "conflicts are counted" sh -c "awk '\$1 ~ /^pj_record_kept_conflicts_total/ { n += \$2 } END { exit !(n >= 1) }' win/pjrecord.prom"
ok "  and pjfold names them" sh -c "pjfold -v --kept win '$newest' 2>&1 >/dev/null | grep -q 'build-id of another'"
pjfold --info "$newest" >info 2>&1
ok "  and pjfold --info names the user" grep -q "^conflicts  user $attacker: [0-9]* saved files\{0,1\} ha.* the build-id of another file .*first [0-9a-f]\{40\}" info
done_testing
