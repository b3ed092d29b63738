#!/bin/sh
# record-user.t - started as root, pjrecord goes on as another user with six capabilities at most, and so does its keeper. All that it has to do
# works in that state: other users' processes, what was kept of containers that are gone, loss as a number, rescue, limits, a full disk.
# stage: live
# full: a full disk and containers as another user
# covers: record/perf/privileges.c common/process/capabilities.c record/symsaver/symsaver.c record/windows/windows.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/record.sh
. "$top/test/lib/record.sh"
LC_ALL=C
export LC_ALL

have pjrecord || skip_all "pjrecord is not built"
[ "$(id -u)" = 0 ] || skip_all "needs root"
pjrecord -q -a -d probe -w 1 -n 1 --keep-symbols none >/dev/null 2>why || skip_all "the whole system may not be recorded here: $(head -n 1 why)"
HOME=$scratch
export HOME
chmod 711 .

sh -c 'while :; do :; done' &
load=$!
trap 'kill $load $pid $burner 2>/dev/null; chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT
pid='' burner=''

# until SECONDS COMMAND...: true as soon as the command is
# went_wrong FILE: a JVM of somebody else here that ends or stands still while it is read is no matter of privileges
went_wrong()
{
	sed '/this JVM cannot be read/{/[Pp]ermi/!d;}' "$1" | grep -ciE 'cannot|denied|refuse'
}

# PERFMON, SYSLOG, SYS_PTRACE, IPC_LOCK, DAC_READ_SEARCH; and SYS_NICE, where interpreters can be read
five=$((1 << 38 | 1 << 34 | 1 << 19 | 1 << 14 | 1 << 2)) six=$five
if pjrecord --check -d . 2>/dev/null | grep -q '^ok *interpreters: .* are shown'; then six=$((five | 1 << 23)); fi
six=$(printf '%016x' $six)
mine=$(awk '/^CapEff/ { print $2 }' /proc/self/status)

keeper_of()
{
	grep -ls '^pjrecord-keeper$' /proc/[0-9]*/comm | while read -r comm; do
		p=${comm%/comm}
		if [ "$(awk '/^PPid:/ { print $2 }' "$p/status" 2>/dev/null)" = "$1" ]; then echo "${p#/proc/}"; fi
	done
}

# beyond PID...: what threads of these processes may do that they should not, or not do that they should
beyond()
{
	for p in "$@"; do
		for t in /proc/"$p"/task/*/status; do
			awk -v six="$six" '/^Cap(Prm|Eff):/ && $2 != six { print FILENAME, $0 } /^Cap(Inh|Amb):/ && $2 != "0000000000000000" { print FILENAME, $0 }
				/^NoNewPrivs:/ && $2 != 1 { print FILENAME, $0 }' "$t"
		done
	done
}

# identity PID: users and groups
identity()
{
	awk '/^Uid:|^Gid:/ { print $2, $3, $4, $5 } /^Groups:/ { $1 = "groups"; print }' "/proc/$1/status" | tr '\n' ';'
}
nobody=$(id -u nobody) group=$(id -g nobody)
want="$nobody $nobody $nobody $nobody;$group $group $group $group;groups $(id -G nobody);"

# small PID: it and its keeper
small()
{
	until_ 20 sh -c "[ -n \"\$(cat /proc/$1/task/$1/children 2>/dev/null)\" ]"
	keeper=$(keeper_of "$1")
	if [ "$((0x$mine & 0x$six))" = "$((0x$six))" ]; then
		is "every thread of the recorder has its capabilities (0x$six), and no way to more" "$(beyond "$1")" ""
		is "  of the keeper, too" "$(beyond "${keeper:-none}")" ""
	else
		skip "every thread has six capabilities at most" "root has not all of them here"
	fi
	is "  as that user, and in no other group" "$(identity "$1") $(identity "${keeper:-none}")" "$want $want"
}

# ---- the owner of DIR

mkdir -m 755 few
chown nobody:"$group" few
pjrecord -q -a -w 1 -n 1 -d few >out 2>err
is "root records for another user only if --user names that user" "$? $(ls few | wc -l) $(grep -c "belongs to user $nobody.*choose another --dir" err)" "1 0 1"
SUDO_UID=$nobody pjrecord -q -a -w 1 -n 1 -d few >out 2>err
is "  or if that user called sudo" "$? $(find few ! -user nobody | wc -l)" "0 0"
rm -rf few/*
pjrecord -v -a -w 1 -u nobody -d few >few.out 2>few.err &
pid=$!
until_ 20 sh -c 'ls few/out/*.data'
small $pid
# a process of root that begins now, with a program that only root may read
mkdir -m 700 secret
cp "$(command -v awk)" secret/burner
./secret/burner 'BEGIN { while (i < 40000000) i++ }' &
burner=$!
before=$(find few/out -name '*.data' | wc -l)
wait "$burner"
burner=''
until_ 30 sh -c "[ \$(ls few/out/*.data | wc -l) -gt $((before + 1)) ]"
kill -TERM "$pid"
wait "$pid"
is "it ends well" $? 0
pid=''
is "  all is that user's" "$(find few ! -user nobody | wc -l)" 0
pjfold -q few/out/*.data >few.folded 2>err
ok "  a process of root has its name and map" grep -q '^burner;.*' few.folded
if [ -r /proc/kallsyms ] && grep -qv '^0000000000000000' /proc/kallsyms; then
	ok "  kernel frames have names" grep -q '_\[k\]' few.folded
	ok "  whose symbols are kept" sh -c 'ls few/symbols/kallsyms-*'
else
	skip "  kernel frames have names" "kernel symbols are hidden from root here"
fi
is "  nothing went wrong" "$(went_wrong few.err)" 0
mkdir -m 700 theirs
mkdir theirs/out
chown nobody theirs/out
pjrecord -q -a -w 1 -n 1 -d theirs >out 2>err
is "somebody else's folder in root's directory: status" $? 1
ok "  refused" grep -q 'belongs to user' err

mkdir -m 700 writable
mkdir -m 770 writable/symbols
pjrecord -q -a -w 1 -n 1 -d writable >out 2>err
is "a folder that others can write to" "$? $(grep -c "other users can write to 'writable/symbols': chmod go-w" err)" "1 1"

# ---- --user: a container that is gone, and loss

pjrecord -v -a -F 2999 -m 8K -w 2 -u nobody -d user >user.out 2>user.err &
pid=$!
until_ 20 sh -c 'set -- user/recording/*.data; [ -s "$1" ]'
six=$(printf '%016x' $five) # these rings hold no copies of stacks, so interpreters are not read
small $pid
if have cc && unshare -m -p -f true 2>why && cc -O1 -g -fno-omit-frame-pointer -Wl,--build-id=sha1 -o share "$top/test/record/share.c"; then
	mkdir files ctr
	for lib in $(ldd ./share | grep -o '/[^ ]*'); do
		mkdir -p "files${lib%/*}"
		cp "$lib" "files$lib"
	done
	cp share "files/in-$$"
	chmod -R go-rwx files # of root, and for nobody else
	unshare -m -p -f sh -c 'mount -t tmpfs -o mode=700 none ctr && cp -a files/. ctr/ && exec chroot ctr "/in-$1" 1500' - $$ >/dev/null
	rm -rf files share
	contained=yes
else
	contained=
fi
# it stands still until its rings are full
until_ 20 sh -c 'ls user/out/*.data'
kill -STOP $pid
sleep 0.5
kill -CONT $pid
before=$(find user/out -name '*.data' | wc -l)
until_ 30 sh -c "[ \$(ls user/out/*.data | wc -l) -gt $((before + 1)) ]"
ok "what was kept is a number" [ "$(metric user 'kept_for_fold_total{kind="binary"}')" -gt 0 ]
ok "  and well-formed" awk -f "$top/test/lib/prom.awk" user/pjrecord.prom
ok "lost samples are a number" [ "$(metric user lost_samples_total)" -gt 0 ]
is "  on the lines of windows, too" "$(awk '{ for (i = 1; i < NF; i++) if ($i == "LOST") { sub(",", "", $(i + 1)); n += $(i + 1) } } END { print n }' user.err)" "$(metric user lost_samples_total)"
if [ -n "$contained" ]; then
	pjfold -q --only "comm=in-$$" user/out/*.data >folded 2>err
	named=$(awk '/;work[; ]/ { n += $NF } END { print n + 0 }' folded) all=$(awk '{ n += $NF } END { print n + 0 }' folded)
	if [ "$all" -gt 300 ] && [ $((named * 100)) -ge $((all * 90)) ]; then
		pass "a container that is gone: $named of $all samples have the name of the function"
	else
		fail "a container that is gone: $named of $all samples have the name of the function" folded err user.err
	fi
else
	skip "a container that is gone" "no compiler, or no containers"
fi

# ---- killed, rescued, and limits

kill -9 "$pid"
wait "$pid" 2>/dev/null
pid=''
held=$(ls user/recording/*.data)
pjrecord -v -a -F 2999 -w 1 -n 5 -u nobody -d user --keep-bytes 300K >user.out 2>user.err
is "a run after it was killed: status" $? 0
ok "  rescues what was open, if it held a sample" sh -c '[ ! -e "$1" ] && { grep -q "left by a run that was killed: .* samples* of" user.err || ls user/bad/*.why; }' - "$held"
ok "  trims to --keep-bytes" [ "$(metric user 'windows_deleted_total{reason="bytes"}')" -gt 0 ]
ok "  no more than the limit is there, or the newest alone" sh -c '[ "$(du -sk user/out | cut -f 1)" -le 320 ] || [ "$(ls user/out | wc -l)" = 1 ]'
is "  all is that user's" "$(find user ! -user nobody | wc -l)" 0
is "  nothing went wrong" "$(went_wrong user.err)" 0

# ---- a full disk

if unshare -m true 2>/dev/null; then
	mkdir full
	# with room for what is kept, and some windows
	pjrecord -q -a -F 4999 -w 1 -n 2 -u nobody -d volume >out 2>err
	volume=$(du -sk volume/out | cut -f 1)
	cat >full.sh <<SH
mount -t tmpfs -o size=$((2 * volume + 4096))k,mode=755 none full && chown nobody full || exit 99
pjrecord -v -a -F 4999 -w 1 -n 12 -u nobody -d full --min-free 0 --keep-symbols 3M >full.out 2>full.err
echo \$? >full.status
cp -r full full.copy
SH
	unshare -m sh full.sh
	if [ -e full.status ]; then
		ok "a full disk: windows are dropped, which is counted" [ "$(metric full.copy 'windows_dropped_total{reason="disk"}')" -gt 0 ]
		ok "  and said" grep -q 'is dropped.*No space left on device' full.err
		ok "  and it goes on: some are complete" [ "$(metric full.copy windows_total)" -gt 1 ]
		is "  the end tells" "$(cat full.status)" 1
	else
		skip "a full disk" "a tmpfs may not be mounted"
	fi
else
	skip "a full disk" "no mount namespaces here"
fi
done_testing
