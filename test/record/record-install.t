#!/bin/sh
# record-install.t - pjrecord --check of an installation: a directory with a recorder and a sender that work, and each fault with its remedy: no
# recorder, a missing tool, a missing user, another version, no capability, no sender, a store with a typo, a full disk, no systemd.
# stage: live
# covers: record/installcheck.c record/checkreport.c record/windows/recorderlock.c common/process/child.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/record.sh
. "$top/test/lib/record.sh"
LC_ALL=C
export LC_ALL
unset PJ_STORE PJ_STORE_AUTH

have pjrecord && have pjsend || skip_all "pjrecord is not built"
pjrecord -q -a -w 1 --once -d try --keep-symbols=none >out 2>why || skip_all "recording is not allowed here: $(head -n 1 why)"
recorder='' sender=''
trap 'kill $recorder $sender 2>/dev/null; wait; chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT

# check NAME STATUS LINE...: the status of --check of DIR pj, and lines that it prints
check()
{
	name=$1
	wanted=$2
	shift 2
	pjrecord --check -d pj >lines 2>err
	is "$name: status" $? "$wanted"
	for line in "$@"; do
		ok "  $line" grep -q "^$line" lines || grep -E '^(ok|limited|no) *(programs|recorder|capabilities|names|spool|refused|store)' lines | sed 's/^/# /'
	done
}

mkdir plain
pjrecord --check -d plain >lines 2>err
ok "a directory without windows is no installation" not grep -qE '^[a-z]* *(recorder|spool|store):' lines

if [ -e /var/lib/pj ]; then
	skip "no -d" "there is an installation in /var/lib/pj"
else
	(cd try && pjrecord --check) >lines 2>err
	is "no -d, where a recorder has ended: status" $? 0
	ok "  no line of an installation" not grep -qE '^[a-z]* *(recorder|spool|store):' lines
fi

pjrecord --check -d no/such >lines 2>err
is "no directory: status" $? 1
ok "  the remedy" grep -q "^no *disk: cannot open 'no/such': .*: make it (pj.tmpfiles makes /var/lib/pj), or choose another --dir" lines

# ---- a pipeline that works

mkdir pj
pjrecord -q -a -w 1 -d pj --keep-symbols=none >out 2>rec.err &
recorder=$!
pjsend -q -d pj >out 2>send.err &
sender=$!
sent() { find pj/store -name '*.folded*' 2>/dev/null | grep -q .; }
ok "a window is sent" until_ 60 sent
check "an installation that works" 0 'ok *programs: pjfold, pjsend, pjfetch and pjsvg have version' "ok *recorder: process $recorder records into 'pj'; its window began" \
	'ok *spool: [0-9]* windows wait, and pjsend runs' 'ok *store: dir:pj/store answers; it has windows' 'pjrecord can record the whole host, and this installation works'
is "  nothing on stderr" "$(cat err)" ""
if [ ! -e /var/lib/pj ]; then
	(cd pj && pjrecord --check) >found 2>err
	ok "  it is found without -d in the current directory" grep -q "^ok *recorder: process $recorder records into '.'" found
fi
ok "  every line is a fact" not grep -qvE '^(ok|limited|no) +[A-Za-z][A-Za-z, -]*: .|^pjrecord can' lines
ok "  names, as pjfold judges them" grep -qE '^ok *names: .* samples?[,;]' lines
find pj -newer lines ! -path '*/recording*' ! -path '*/spool*' ! -path '*/store*' ! -path '*/out*' ! -name '*.prom' ! -path pj >changed
is "  it changes nothing" "$(cat changed)" ""

# ---- faults

kill "$sender"
wait "$sender"
sender=
check "no sender, but its windows are young" 0 'ok *spool: [0-9]* windows wait; no pjsend runs now'
mkdir -p pj/out
: >pj/out/1700000000.data
check "no sender, and a window waits since 2023" 1 'no *spool: [0-9]* windows wait, the oldest for [0-9]* min, and no pjsend runs: .*\(systemctl enable\|examples/pjsend\)' \
	'pjrecord can record the whole host, but this installation does not work'
rm pj/out/1700000000.data
PJ_STORE=dri:/srv/profiles
export PJ_STORE
check "a store with a typo" 1 "no *store: unknown store 'dri:': did you mean dir:?"
PJ_STORE=clickhouse:http://no-such-host.invalid:8123/pj
check "a host of the store with a typo" 1 'no *store: .*no-such-host.invalid'
PJ_STORE=pyroscope:http://127.0.0.1:1
check "a store that cannot be queried" 0 'limited *store: .* is one way'
unset PJ_STORE
mkdir -p pj/bad
echo 'no room' >pj/bad/1700000000.0.why
check "refused windows" 0 "limited *refused: 1 windows in 'pj/bad'"
rm -r pj/bad
kill "$recorder"
wait "$recorder"
recorder=
check "no recorder" 1 "no *recorder: none records into 'pj': .*\(systemctl enable\|examples/pjrecord\)"

# half-installed: pjrecord beside a pjfold of another version, and without pjfetch
mkdir half
cp "$(command -v pjrecord)" half/
printf '#!/bin/sh\necho "pjfold (pj) 0.0.1"\n' >half/pjfold
chmod 755 half/pjfold
(PATH=/usr/bin:/bin half/pjrecord --check -d pj >lines 2>err)
ok "a tool of another version" grep -q '^no *programs: .*/half/pjfold is version 0.0.1, pjrecord is .*: install one version of all tools' lines
PATH=/usr/bin:/bin command -v pjfetch >/dev/null || ok "a missing tool" grep -q '^no *programs: pjfetch is neither beside pjrecord nor in PATH: install the package again' lines
printf '#!/bin/sh\necho "libzstd.so.1: cannot open" >&2\nexit 127\n' >half/pjfold
(PATH=/usr/bin:/bin half/pjrecord --check -d pj >lines 2>err)
ok "a tool without its libraries" grep -q '^no *programs: .*/half/pjfold does not run: install the package again; its message: libzstd.so.1: cannot open' lines

# ---- a unit without a capability, a full disk, no systemd: as root

if [ "$(id -u)" = 0 ] && have setpriv && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	chmod 711 .
	mkdir -m 755 bin theirs
	cp "$(command -v pjrecord)" "$(command -v pjfold)" "$(command -v pjsend)" "$(command -v pjfetch)" "$(command -v pjsvg)" bin/
	chown 65534 theirs
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,+perfmon,+sys_ptrace --ambient-caps=-all,+perfmon,+sys_ptrace bin/pjrecord -q -a -w 5 -d theirs --keep-symbols=none >out 2>rec.err &
	recorder=$!
	ok "a recorder with two capabilities" until_ 30 test -e theirs/recording/recorder
	locked() { bin/pjrecord --check -d theirs >lines 2>err; grep -q '^ok *recorder: process' lines; }
	ok "  is found" until_ 30 locked
	for lost in 'CAP_IPC_LOCK: .*samples may be lost' 'CAP_SYSLOG: kernel functions have no names' 'CAP_DAC_READ_SEARCH: '; do
		ok "  $lost" grep -q "^limited *capabilities: the recorder lacks $lost.*AmbientCapabilities=" lines
	done
	ok "  not those that it has" not grep -q 'lacks CAP_SYS_PTRACE' lines
	kill "$recorder"
	wait "$recorder"
	recorder=
	if unshare -m true 2>/dev/null; then
		mkdir -p full/pj
		unshare -m sh -c 'mount -t tmpfs -o size=1m full full/pj && mkdir full/pj/out full/pj/recording && head -c 2000000 /dev/zero >full/pj/rest; bin/pjrecord --check -d full/pj' >lines 2>err
		ok "a full disk" grep -q '^limited *disk: 0 bytes* of .*below --min-free' lines || grep '^[a-z]* *disk' lines | sed 's/^/# /'
		unshare -m sh -c 'mount -t tmpfs none /run && bin/pjrecord --check -d pj' >lines 2>err
		ok "no systemd: cron" grep -q '^no *recorder: .*without systemd: sudo cp examples/pjrecord.cron /etc/cron.d/pj' lines
		grep '^root:' /etc/passwd >passwd
		unshare -m sh -c 'mount --bind passwd /etc/passwd && mount -t tmpfs none /run && mkdir -p /run/systemd/system && : >/run/systemd/system/pjrecord.service && bin/pjrecord --check -d pj' >lines 2>err
		ok "a unit without its user: a package that is unpacked, not configured" grep -q '^no *user: the services run as user pj, which does not exist, .*: sudo dpkg --configure -a' lines
		mkdir -p etc/pj
		printf '# store\nPJ_STORE="dri:/srv"\n' >etc/pj/environment
		unshare -m sh -c 'mkdir -p /etc/pj 2>/dev/null; [ -d /etc/pj ] && mount --bind etc/pj /etc/pj && bin/pjrecord --check -d pj' >lines 2>err
		if [ -s lines ]; then
			ok "the store of /etc/pj/environment" grep -q "^no *store: unknown store 'dri:'.*/etc/pj/environment" lines
		else
			skip "the store of /etc/pj/environment" "/etc/pj cannot be made"
		fi
		rmdir /etc/pj 2>/dev/null
		ok "a read-only /usr" unshare -m sh -c 'mount --bind /usr /usr && mount -o remount,ro,bind /usr && ! touch /usr/pj-test 2>/dev/null && bin/pjrecord -q -a -w 1 --once -d readonly --keep-symbols=none' || sed 's/^/# /' .ok
	else
		skip "a full disk" "no mount namespaces"
	fi
else
	skip "a unit without a capability" "needs root and setpriv"
fi
done_testing
