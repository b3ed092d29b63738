#!/bin/sh
# fleet.t - the unit, the cron lines and the DaemonSet of examples/ on three hosts, each of which is a network, mount and UTS namespace, while
# JVMs end and start: Java code is named, and the store has each sample of the recorders once.
#
# The command lines run as they stand in the files: as the users, with the capabilities, priorities and limits that the files give them. PJ_FLEET_SECS
# is the time for which they record (130; an hour in ./check --soak).
# stage: live
# full: cron starts a recorder at each full minute
# covers: record/recordopts.c send/pjsend.c record/java/codenames.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
# shellcheck source=test/lib/record.sh
. "$top/test/lib/record.sh"
LC_ALL=C
export LC_ALL
seconds=${PJ_FLEET_SECS:-130}
life=${PJ_FLEET_LIFE:-20} # of a JVM

for tool in pjrecord pjsend pjfetch pjfold setpriv unshare nsenter prlimit nice; do
	have $tool || skip_all "$tool is not there"
done
[ "$(id -u)" = 0 ] || skip_all "namespaces and capabilities need root"
unshare -m -u -n true 2>why || skip_all "no namespaces: $(head -n 1 why)"
pjrecord -q -a -w 1 --once -d try >out 2>why || skip_all "recording is not allowed here: $(head -n 1 why)"
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || skip_all "kernel.perf_event_paranoid is above 2: CAP_PERFMON is not enough"
need_jdk "$top/test/lib/loads/Load.java"
# a name that no other process has
ln -s "${jdks##* }/bin/java" fleet-java

# ---- hosts

user=64990
mkdir bin profiles
# shellcheck disable=SC2046 # names of tools
cp $(for tool in $(tools); do command -v "$tool"; done) bin/ || exit 1
cp -P "$(dirname "$(command -v pjrecord)")"/*.so* bin/ 2>/dev/null
{ grep -v '^pj:' /etc/passwd; echo "pj:x:$user:$user::/var/lib/pj:/usr/sbin/nologin"; } >passwd
{ grep -v '^pj:' /etc/group; echo "pj:x:$user:"; } >group
chown $user:$user profiles
chmod 711 "$scratch"
hosts=

# make_host NAME OWNER: what a host has: its name, user pj, the tools, /var/lib/pj of OWNER, and the store of all as /srv/profiles
make_host()
{
	mkdir "$1"
	unshare -m -u -n --propagation private sh -c '
		set -e
		hostname "$1"
		mount -t tmpfs -o mode=755 pj /var/lib
		mount -t tmpfs -o mode=755 pj /usr/local/bin
		cp -P bin/* /usr/local/bin/
		mkdir /var/lib/pj
		chown "$2:$2" /var/lib/pj
		chmod 750 /var/lib/pj
		mount -t tmpfs -o mode=755 pj /srv
		mkdir /srv/profiles
		mount --bind profiles /srv/profiles
		mount --bind passwd /etc/passwd
		mount --bind group /etc/group
		: >"$1/ready"
		exec sleep 1000000' - "$1" "$2" >"$1/log" 2>&1 &
	started="$started $!"
	hosts="$hosts $1=$!"
	until_true test -e "$1/ready" || { sed 's/^/# /' "$1/log"; return 1; }
}

# on HOST COMMAND...
on()
{
	(become_host "$@")
}

# become_host HOST COMMAND...: instead of this shell, so that in the background $! is the command
become_host()
{
	pid=${hosts##* "$1"=}
	pid=${pid%% *}
	shift
	exec nsenter -t "$pid" -m -u -n -- "$@"
}

# ---- limits

# group NAME MEMORY TASKS CPU-PERCENT: prints the folders of a new cgroup with these limits, one for each hierarchy
limited=
group()
{
	awk '{ for (i = 7; i < NF; i++) if ($i == "-") { print $(i + 1), $5, $(i + 3); break } }' /proc/self/mountinfo |
		while read -r type mount options; do
			folder=$mount/pj-fleet-$$-$1
			case $type:,$options, in
			cgroup:*,memory,*) mkdir "$folder" && echo "$2" >"$folder/memory.limit_in_bytes" ;;
			cgroup:*,pids,*) mkdir "$folder" && echo "$3" >"$folder/pids.max" ;;
			cgroup:*,cpu,*) mkdir "$folder" && echo $(($4 * 1000)) >"$folder/cpu.cfs_quota_us" ;;
			cgroup2:*)
				grep -q memory "$mount/cgroup.subtree_control" 2>/dev/null || continue
				mkdir "$folder" && echo "$2" >"$folder/memory.max" && echo "$3" >"$folder/pids.max" && echo "$(($4 * 1000)) 100000" >"$folder/cpu.max"
				;;
			*) continue ;;
			esac >&2 || continue
			echo "$folder"
		done 2>>group.err
}

clean_up()
{
	for folder in $limited; do
		tries=50
		while [ -d "$folder" ] && ! rmdir "$folder" 2>/dev/null && [ $((tries -= 1)) -gt 0 ]; do
			while read -r p; do kill -9 "$p" 2>/dev/null; done <"$folder/cgroup.procs"
			sleep 0.1
		done
	done
}

# bytes SIZE: 512M, 512Mi, 1G as a number
bytes()
{
	echo "$1" | sed 's/i$//' | awk '{ n = $1 + 0; if (/K$/) n *= 1024; if (/M$/) n *= 1048576; if (/G$/) n *= 1073741824; printf "%d\n", n }'
}

# value FILE KEY: of a unit
value()
{
	sed -n "s/^$2=//p" "$top/examples/$1" | head -n 1
}

# rights "CAP_A CAP_B": as setpriv has them: +a,+b
rights()
{
	printf '%s\n' "$1" | tr ' ' '\n' | sed -n 's/^CAP_/+/p' | tr 'A-Z\n' 'a-z,' | sed 's/,$//'
}

# start_unit HOST UNIT [NAME=VALUE ...]: ExecStart with User, Nice, capabilities and limits of the unit, and more environment; $unit is its process
start_unit()
{
	host=$1
	name=$2
	shift 2
	caps=$(rights "$(value "$name" AmbientCapabilities)")
	folders=$(group "$host-$name" "$(bytes "$(value "$name" MemoryMax)")" "$(value "$name" TasksMax)" "$(value "$name" CPUQuota | tr -d %)")
	limited="$limited $folders"
	priority=$(value "$name" Nice)
	files=$(value "$name" LimitNOFILE)
	most=$(prlimit --nofile --output=HARD --noheadings --raw)
	[ "$most" = unlimited ] || [ "$most" -ge "$files" ] || files=$most
	set -- env "PATH=/usr/local/bin:/usr/bin:/bin" "$@"
	# shellcheck disable=SC2046 # words of the command line
	set -- "$@" $(value "$name" ExecStart | sed "s/%%/%/g; s/%H/$host/g; s/\${PJ_INTERPRETERS}/auto/")
	set -- setpriv --reuid=$user --regid=$user --clear-groups --no-new-privs --inh-caps="-all${caps:+,$caps}" --ambient-caps="-all${caps:+,$caps}" \
		--bounding-set="-all${caps:+,$caps}" "$@"
	set -- prlimit --nofile="$files" --core="$(value "$name" LimitCORE)" nice -n "${priority:-0}" "$@"
	# shellcheck disable=SC2016 # for the other shell
	become_host "$host" sh -c 'for g in $1; do echo $$ >"$g/cgroup.procs" || exit 1; done; shift; umask 0027; exec "$@"' - "$folders" "$@" \
		>"$host/$name.out" 2>"$host/$name.err" </dev/null &
	unit=$!
	started="$started $unit"
}

# cron_lines FILE USER: commands of the lines for this user
cron_lines()
{
	sed -n "s/^\([0-9*\/,-]\{1,\} *\)\{5\} *$2  *//p" "$top/examples/$1"
}

# cron HOST FILE LINE: as cron runs it: /bin/sh, the variables of the file, the user's rights; output is mail
cron()
{
	# shellcheck disable=SC2046 # NAME=VALUE
	on "$1" env -i HOME=/var/lib/pj SHELL=/bin/sh $(grep -E '^[A-Z_]+=' "$top/examples/$2") ${4:-} /bin/sh -c "$3" >>"$1/mail" 2>&1 </dev/null
}

as_pj="setpriv --reuid=$user --regid=$user --clear-groups --inh-caps=-all"

ok "a host for the units" make_host unit $user
ok "a host for cron" make_host cron $user
ok "a host for the DaemonSet" make_host node 0

# ---- JVMs that end, and others that start

churn()
{
	while :; do ./fleet-java -Xmx64m -XX:+UseSerialGC -cp "$scratch" Load mixed "$life" >/dev/null 2>&1; done
}
churn &
started="$started $!"

# ---- recorders and senders

start_unit unit pjrecord.service
recorder=$unit
until_true on unit test -d /var/lib/pj/out # systemd starts pjsend again until then
start_unit unit pjsend.service PJ_STORE=dir:/srv/profiles # as systemctl edit pjsend has it
sender=$unit

# the container of pjrecord, the first one: root with six capabilities, and a root file system that cannot be written to. pods.t runs both.
first_of() { sed -n "s/^ *$1: $2/\1/p" "$pods" | head -n 1; }
pods=$top/examples/kubernetes/base/daemonset.yaml
caps=$(sed -n 's/^ *add: \[\(.*\)\]/\1/p' "$pods" | tr -d ' ' | tr ',A-Z' '\n''a-z' | sed 's/^/+/' | paste -sd, -)
folders=$(group node "$(bytes "$(first_of limits '{memory: \(.*\)}')")" max 100)
limited="$limited $folders"
# shellcheck disable=SC2046 # words of the command line
set -- $(first_of command '\[\(.*\)\]') $(first_of args '\[\(.*\)\]' | tr ',' ' ')
# shellcheck disable=SC2016 # for the other shell
become_host node sh -c 'for g in $1; do echo $$ >"$g/cgroup.procs" || exit 1; done; caps=$2; shift 2
	mount -o remount,ro,bind / 2>/dev/null
	exec setpriv --no-new-privs --inh-caps=-all --bounding-set="-all,$caps" env -i PATH=/usr/local/bin:/usr/bin:/bin "$@"' - "$folders" "$caps" "$@" \
	>node/out 2>node/err </dev/null &
node=$!
started="$started $node"

# cron: at each full minute a recorder, and a sender a moment later
record_line=$(cron_lines pjrecord.cron root)
send_line=$(cron_lines pjsend.cron pj | sed -n 1p)
tidy_line=$(cron_lines pjsend.cron pj | sed -n 2p)
is "two lines of pjsend.cron, one of pjrecord.cron" "$(cron_lines pjsend.cron pj | grep -c pjsend) $(cron_lines pjrecord.cron root | grep -c pjrecord)" "2 1"
minutes() { echo $(($(date +%s) / 60)); }
first=$(minutes)
end=$(($(date +%s) + seconds))
runs=
minute=$first
while [ "$(date +%s)" -lt "$end" ]; do
	if [ "$(minutes)" -gt "$minute" ]; then
		minute=$(minutes)
		cron cron pjrecord.cron "$record_line" &
		runs="$runs $!"
		cron cron pjsend.cron "$send_line" "$as_pj" &
		runs="$runs $!"
	fi
	sleep 1
done
failed_runs=0
for run in $runs; do wait "$run" || failed_runs=$((failed_runs + 1)); done
# other tests have JVMs that are over their budget
mail() { grep -v 'more time than one tenant may use' cron/mail; }
is "cron: each run ends with 0, and nothing is mailed" "$failed_runs $(mail)" "0 "
ok "  at least one minute is recorded" test -n "$runs"

# ends PID NAME: SIGTERM, then status 0
ends()
{
	kill -TERM "$1"
	wait "$1"
	status=$?
	is "$2 ends on SIGTERM" $status 0
	[ $status = 0 ] || tail -n 5 "$3" | sed 's/^/# /'
}
ends $recorder "the unit's pjrecord" unit/pjrecord.service.err
ends $node "the node's pjrecord" node/err
sent() { test -z "$(on unit find /var/lib/pj/out /var/lib/pj/spool -name '*.data' -o -name '*.folded*')"; }
ok "the unit's pjsend sends the rest" until_true sent
kill -TERM $sender
wait $sender
status=$?
ok "  and ends on SIGTERM" test $status -le 1
# what the last run of cron left: the next run of the line sends it
cron cron pjsend.cron "$send_line" "$as_pj"
cron cron pjsend.cron "$tidy_line" "$as_pj"
is "pjsend --tidy: no message" "$(mail)" ""

# ---- sums

# recorded HOST: samples of the recorder's complete windows, by its own count
recorded()
{
	on "$1" awk '$1 == "pj_record_samples_total" { print $2 }' /var/lib/pj/pjrecord.prom
}

# stored HOST
stored()
{
	on unit pjfetch -q -s dir:/srv/profiles --from=-1d --host="$1" >"$1/folded" 2>"$1/why" || sed 's/^/# /' "$1/why" >&2
	awk '{ n += $NF } END { print n + 0 }' "$1/folded"
}

on node sh -c 'pjfold -q /var/lib/pj/out/*.data' >node/folded 2>node/why
for host in unit cron; do
	sum=$(stored $host)
	ok "$host: the store has samples" test "$sum" -gt 100
	is "  as many as were recorded" "$sum" "$(recorded $host)"
done
is "node: as many samples as were recorded" "$(awk '{ n += $NF } END { print n + 0 }' node/folded)" "$(recorded node)"
is "the store has two hosts" "$(on unit pjfetch -s dir:/srv/profiles --list | grep -oE '^(unit|cron|node) ' | sort -u | tr -d '\n')" "cron unit "

# ---- names of Java code: a sample is unnamed if one of its frames is

# On an overloaded machine code may be gone before pjrecord reads its name: 94.6 % were seen in a host of short recordings at a load of 19.
share=99
if awk -v cpus="$(nproc)" '{ exit !($2 > 2 * cpus) }' /proc/loadavg; then share=90; fi
for host in unit cron node; do
	grep '^fleet-java;' $host/folded | awk '
		{ java = /_\[[j1i0]\]/; bad = /\[perf-[0-9]*\.map\]|\[unknown\]_\[j\]|\[interpreted\]|;Interpreter(_|;| )|\[anon\]|\/\/anon/; if (!java && !bad) next
		all += $NF; if (bad) { without += $NF; if (shown++ < 5) print "# " $0 >"unnamed" } }
		END { print all + 0, without + 0 }' >names
	read -r java_samples without <names
	ok "$host: $java_samples samples of Java, $without with a frame without a name: at least $share % named" \
		test "$java_samples" -gt 100 -a $((without * 100)) -le $((java_samples * (100 - share)))
	if [ -e unnamed ]; then cut -c1-300 unnamed && rm unnamed; fi
	ok "  methods of the program" grep -q ';Load\.round' $host/folded
done
done_testing
