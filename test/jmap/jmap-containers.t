#!/bin/sh
# jmap-containers.t - JVMs in namespaces of their own (PID, mount, network, IPC, user), of another user, with a /tmp of their own, read-only, noexec, frozen: mapped
# from the host; and whatever lies in such a /tmp, or where pjmap writes, leads nowhere else and makes nobody wait.
#
# Run by ./check as root.
# stage: live
# full: JVMs in namespaces of each kind
# covers: jmap/attach/targetuser.c jmap/perfmap/mapfile.c jmap/perfmap/publisher.c common/files/targetfile.c
# covers: common/files/outpath.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL

have pjmap || skip_all "pjmap is not built"
[ "$(id -u)" = 0 ] || skip_all "containers need root"
have setpriv || skip_all "no setpriv"
unshare -pfmniu true 2>why || skip_all "no containers here: $(head -n 1 why)"
fake=${PJ_BUILD:-$top/build/std-cc}/test/jmap/fake
case $fake in /*) ;; *) fake=$top/$fake ;; esac
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
need_jdk "$top/test/jmap/Work.java"
chmod 755 .
mkdir maps dir
cp "$fake" fake
folders=

clean_up()
{
	# shellcheck disable=SC2086 # a list
	[ -z "$folders" ] || rmdir $folders 2>/dev/null
}

# In the namespaces: a /tmp of its own, the scratch folder at /mnt, what $prepare says, then another user, then the program.
cat >inner <<'END'
mount --make-rprivate / && mount --bind "$1" /mnt && mount -t tmpfs -o "${TMP_OPTIONS:-mode=1777}" none /tmp && cd /mnt || exit 1
[ -z "$PREPARE" ] || eval "$PREPARE" || exit 1
[ -z "$READ_ONLY" ] || mount -o remount,ro,bind / || exit 1
shift
exec setpriv --reuid 12345 --regid 23456 --clear-groups "$@"
END

# contain PROGRAM...: $pid is it, outside
contain()
{
	rm -f said
	PREPARE=${prepare:-} TMP_OPTIONS=${options:-} READ_ONLY=${read_only:-} unshare --kill-child -pfmniu --mount-proc sh "$PWD/inner" "$PWD" "$@" >said 2>&1 &
	outer=$!
	started="$started $outer"
	until_true sh -c 'grep -qs ready said || ! kill -0 "$1" 2>/dev/null' - "$outer"
	pid=$(pgrep -P "$outer" | head -n 1)
	started="$started $pid"
	prepare=''
	options=''
	read_only=''
	grep -qs ready said && [ -n "$pid" ] && return
	end
	fail "starts in namespaces: $*" said
	return 1
}

# With the outer one goes what is in it (--kill-child).
end()
{
	kill -9 "$outer" 2>/dev/null
	wait "$outer" 2>/dev/null
}

# asks METHOD: into asked, err; a machine that is busy may take more than the 5 s in which a JVM is to listen
asks()
{
	for _ in 1 2 3; do
		pjmap --once --stdout --method="$1" "$pid" >asked 2>err && return
		grep -q 'timeout:\|attach-disabled:' err || return
	done
}

# What is in its /tmp but what the JVM made itself.
left()
{
	find "/proc/$pid/root/tmp" -mindepth 1 ! -path '*hsperf*' ! -name '.java_pid*'
}

for jdk in $jdks; do
	jvm=${jdk##*/}
	read_only=yes
	contain "$jdk/bin/java" -Xmx64m -cp /mnt Work idle 900 || continue
	ok "$jvm: in namespaces, of another user, read-only but its /tmp: mapped" pjmap --once -q --to maps "$pid"
	ok "  by its number outside" grep -q ' Work\.some$' "maps/perf-$pid.map"
	is "  nothing was written there" "$(left)" ""
	pjmap --list "$pid" >list
	ok "  --list: numbers, user, time, version, collector, code" awk -v pid="$pid" 'NR == 2 && $1 == pid && $2 == 1 && $3 == "12345" && $5 ~ /^[0-9]+[smhd]$/ &&
		$6 ~ /^[0-9]/ && $7 ~ /^[A-Z]/ && $9 == "ok" && $10 > 300 && $11 == "Work" { good = 1 } END { exit !good }' list
	for method in jcmd agent; do
		asks "$method"
		if grep -q too-old err; then
			skip "  --method=$method" "too old"
			continue
		fi
		ok "  --method=$method" grep -q ' Work\.some$' asked
		is "  nothing is left there" "$(left)" ""
	done
	ok "  what it made there is its own" [ "$(find "/proc/$pid/root/tmp" -mindepth 1 ! -uid 12345)" = "" ]
	ok "  no stacks in what it says" not grep -q "Full thread dump" said

	# a link where JDK 17 writes its map: to a file of its user
	echo mine >precious
	chown 12345:23456 precious
	ln -s /mnt/precious "/proc/$pid/root/tmp/perf-1.map"
	pjmap --once --stdout --method=jcmd "$pid" >asked 2>err
	is "  a link at its perf-1.map: what it points to stays" "$(cat precious)" mine
	ok "  said, or another file taken" grep -q 'in-the-way: perf-1.map\|pieces of code\| Work\.some$' err asked
	end
done
jdk=${jdks##* }

if have pjrecord && have pjfold && pjrecord -q -o try -- true >/dev/null 2>&1 && contain "$jdk/bin/java" -Xmx64m -cp /mnt Work churn 900; then
	pjrecord -q --once -w 3 -d rec -p "$pid" >/dev/null 2>err
	pjmap -q --once "$pid" 2>>err
	pjfold -q rec/out/*.data >folded 2>>err
	ok "recorded, then named by the map of our /tmp while it lives" grep -q ';com/sun/tools/javac/[^;]*_\[j\]' folded
	rm -f "/tmp/perf-$pid.map"
	end
fi
if contain "$jdk/bin/java" -Xmx64m -cp /mnt Work idle 900; then
	nsenter -t "$pid" -m mount -o remount,ro /tmp
	pjmap --once --stdout --method=agent "$pid" 2>err
	is "its /tmp is read-only: status" $? 1
	ok "  said" grep -q "$pid: ro-tmp: " err
	ok "  --list says it before" sh -c 'pjmap --list --method=agent "$1" | grep -q " ro-tmp "' - "$pid"
	ok "  looking at it works" pjmap --once -q --to maps "$pid"
	ok "  no stacks in what it says" not grep -q "Full thread dump" said
	end
fi
options=mode=1777,noexec
if contain "$jdk/bin/java" -Xmx64m -cp /mnt Work idle 900; then
	pjmap --once --stdout --method=agent "$pid" 2>err
	ok "its /tmp is noexec: said" grep -q "$pid: noexec-tmp: " err
	is "  nothing is left there" "$(left)" ""
	end
fi

# ---- a user namespace, made by somebody who is not root ----

cat >user <<'END'
mount --bind "$2" /mnt && mount -t tmpfs none /tmp && cd /mnt && exec "$1/bin/java" -Xmx64m -cp /mnt Work idle 900
END
chmod 644 user
rm -f said
setpriv --reuid 12345 --regid 23456 --clear-groups unshare --kill-child -Urpfm --mount-proc sh "$PWD/user" "$jdk" "$PWD" >said 2>&1 &
outer=$!
started="$started $outer"
until_true sh -c 'grep -qs ready said || ! kill -0 "$1" 2>/dev/null' - "$outer"
if grep -q ready said; then
	pid=$(pgrep -P "$outer" | head -n 1)
	started="$started $pid"
	ok "in a user namespace of another user: mapped" pjmap --once -q --to maps "$pid"
	ok "  the map" grep -q ' Work\.some$' "maps/perf-$pid.map"
	asks agent
	ok "  the agent, too, in a file system that root cannot write to" grep -q ' Work\.some$' asked
	is "  nothing is left there" "$(left)" ""
	end
else
	skip "in a user namespace of another user" "unshare: $(head -n 1 said)"
	end
fi

# ---- by cgroup: which container; frozen ----

root=$(awk '{ for (i = 7; i < NF; i++) if ($i == "-") { type = $(i + 1); options = $(i + 3); break }
	if (type == "cgroup" && ("," options ",") ~ /,freezer,/) own = $5
	if (type == "cgroup2" && !second) second = $5 } END { print own ? own : second }' /proc/self/mountinfo)
id=$(printf 'feed%08x' $$ | awk '{ s = $1; while (length(s) < 64) s = s "0"; print s }')
if [ -n "$root" ] && mkdir "$root/docker-$id.scope" 2>why; then
	folders=$root/docker-$id.scope
	if contain "$jdk/bin/java" -Xmx64m -cp /mnt Work idle 900; then
		echo "$pid" >"$folders/cgroup.procs"
		pjmap --list "$pid" >list
		ok "--list: its container" awk -v id="$(echo "$id" | cut -c1-12)" 'NR == 2 && $4 == id { good = 1 } END { exit !good }' list
		if [ -e "$folders/freezer.state" ]; then
			echo FROZEN >"$folders/freezer.state"
			until_true grep -q FROZEN "$folders/freezer.state"
		elif [ -e "$folders/cgroup.freeze" ]; then
			echo 1 >"$folders/cgroup.freeze"
			until_true grep -q 'frozen 1' "$folders/cgroup.events"
		fi
		ok "frozen: mapped" pjmap --once -q --to maps "$pid"
		pjmap --once --stdout --method=agent "$pid" 2>err
		is "  asked: status" $? 1
		ok "  said" grep -q "$pid: timeout: .* stays in its /tmp" err
		if [ -e "$folders/freezer.state" ]; then echo THAWED >"$folders/freezer.state"; else echo 0 >"$folders/cgroup.freeze"; fi
		until_true sh -c '[ -S "/proc/$1/root/tmp/.java_pid1" ] || grep -q "Full thread dump" said' - "$pid"
		ok "  it goes on: no stacks in what it says" not grep -q "Full thread dump" said
		end
	fi
else
	skip "--list: its container" "no cgroups may be made here: $(head -n 1 why 2>/dev/null)"
fi

# ---- OpenJ9, which writes its own map; what else may lie there ----

head -c 8192 /dev/zero >libj9vm29.so
mkdir zing
head -c 8192 /dev/zero >zing/libzing.so
echo 'deadbeef 10 secret' >host-secret
chmod 600 host-secret

# own PREPARE: what lies at /tmp/perf-1.map; $got, err
own()
{
	prepare="$1"
	contain /mnt/fake /mnt/libj9vm29.so rest || return 1
	timeout 20 pjmap --once --to maps "$pid" 2>err
	got=$?
	end
	return 0
}

own 'printf "1000 10 j9 code\n2000 10 cut" >/tmp/perf-1.map; chown 12345 /tmp/perf-1.map' && {
	is "OpenJ9 with a map of its own: status" "$got" 0
	ok "  said" grep -q "$pid: openj9: " err
	is "  the map, without the line that is being written" "$(cat "maps/perf-$pid.map")" "1000 10 j9 code"
}
# refused WHAT PREPARE REASON
refused()
{
	own "$2" || return
	is "OpenJ9, $1: status" "$got" 1
	ok "  said" grep -q "$pid: $3" err
	ok "  no map" [ ! -e "maps/perf-$pid.map" ]
}
refused "no map" : "it writes no map"
refused "a link" "ln -s $PWD/host-secret /tmp/perf-1.map" "it writes no map"
refused "a link to a file of its own" "echo '1 1 x' >/tmp/x; chown 12345 /tmp/x; ln -s x /tmp/perf-1.map" "it writes no map"
refused "a FIFO" "mkfifo /tmp/perf-1.map; chown 12345 /tmp/perf-1.map" "it writes no map"
refused "a folder" "mkdir /tmp/perf-1.map; chown 12345 /tmp/perf-1.map" "it writes no map"
refused "a device" "mknod /tmp/perf-1.map c 1 5; chown 12345 /tmp/perf-1.map" "it writes no map"
refused "somebody else's file" "echo '1 1 x' >/tmp/perf-1.map; chown 999 /tmp/perf-1.map" "the map in its /tmp belongs to another user"
refused "a second name of a file" "echo '1 1 x' >/tmp/x; chown 12345 /tmp/x; ln /tmp/x /tmp/perf-1.map" "the map in its /tmp belongs to another user"
refused "a map from before" "echo '1 1 x' >/tmp/perf-1.map; chown 12345 /tmp/perf-1.map; touch -d '-1 day' /tmp/perf-1.map" "the map in its /tmp is older"
refused "a huge file" "truncate -s 20G /tmp/perf-1.map; chown 12345 /tmp/perf-1.map" "its map is too large"
refused "no line that makes sense" "head -c 100000 /dev/urandom | tr -d '0-9a-f' >/tmp/perf-1.map; echo >>/tmp/perf-1.map; chown 12345 /tmp/perf-1.map" "its map has no valid line"
# its /tmp is a link: within its own root
own "mkdir -p /mnt/elsewhere; umount /tmp; mount -t tmpfs none /mnt/elsewhere; chmod 1777 /mnt/elsewhere; mount -t tmpfs none /srv
	mount --bind /mnt/elsewhere /srv; echo '77 8 inside' >/mnt/elsewhere/perf-1.map; chown 12345 /mnt/elsewhere/perf-1.map; mount --bind /srv /tmp" &&
	is "its /tmp is mounted from elsewhere: its map" "$(cat "maps/perf-$pid.map" 2>/dev/null)" "77 8 inside"
if contain /mnt/fake /mnt/zing/libzing.so rest; then
	pjmap --list "$pid" >list 2>&1
	ok "Zing: recognised" grep -q "^$pid .* zing " list
	end
fi
prepare="echo '1000 10 j9' >/tmp/perf-1.map; chown 12345 /tmp/perf-1.map"
if contain /mnt/fake /mnt/libj9vm29.so rest; then
	pjmap --list "$pid" >list 2>&1
	ok "OpenJ9: --list has a word and the reason" grep -q "^$pid *1 *12345 .* openj9 .*PerfTool" list
	pjmap --once --stdout --method=agent "$pid" 2>err
	ok "  it cannot be asked: said" grep -q "$pid: openj9: " err
	ok "  and got no signal" not grep -q SIGQUIT said
	end
fi

# ---- the host's /tmp, and DIR: what stands where pjmap writes ----

if contain "$jdk/bin/java" -Xmx64m -cp /mnt Work idle 900; then
	host=/tmp/perf-$pid.map
	rm -f "$host"
	mkfifo "$host"
	ok "a FIFO where the map goes: replaced" timeout 20 pjmap --once -q "$pid"
	ok "  by the map" sh -c '[ -f "$1" ] && grep -q Work "$1"' - "$host"
	rm -f "$host"
	truncate -s 1G "$host"
	chown 12345 "$host"
	ok "a huge file of somebody else: replaced" pjmap --once -q "$pid"
	is "  for the user of the JVM alone" "$(stat -c %u:%a "$host")" "$(stat -c %u "/proc/$pid"):600"
	rm -f "$host"
	mkdir "$host"
	pjmap --once -q "$pid" 2>err
	is "a folder: status" $? 1
	ok "  said, and nothing half is left" sh -c 'grep -q "cannot replace it in" "$1" && [ -z "$(find /tmp -maxdepth 1 -name ".pjmap-*.tmp" -newer "$1")" ]' - err
	rmdir "$host"
	boot=$(cat /proc/sys/kernel/random/boot_id)
	start=$(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f20)
	mkdir -p "dir/maps/$boot"
	# planted WHAT COMMAND...: makes something at the place of the timeline
	planted()
	{
		what=$1
		shift
		"$@"
		rm -f err # what is in the background empties it later
		timeout 20 pjmap -i 1 -d dir --no-perf-map "$pid" 2>err &
		map=$!
		started="$started $map"
		until_true grep -qs "cannot write to 'dir'" err
		ok "$what where the timeline goes: said" grep -q "$pid: cannot write to 'dir'" err
		kill -INT $map
		wait $map
		is "  status" $? 1
		is "  nothing else was written" "$(cat precious)" mine
		rm -rf "dir/maps/$boot"
		mkdir -p "dir/maps/$boot"
	}
	echo mine >precious
	planted "a link" ln -s "$PWD/precious" "dir/maps/$boot/$pid-$start.jmap"
	planted "a second name of a file" ln precious "dir/maps/$boot/$pid-$start.jmap"
	planted "a FIFO" mkfifo "dir/maps/$boot/$pid-$start.jmap"
	planted "somebody else's folder" chown 12345 "dir/maps/$boot"
	pjmap -i 1 -d dir --no-perf-map "$pid" 2>err &
	map=$!
	started="$started $map"
	ok "nothing there: written" until_true test -s "dir/maps/$boot/$pid-$start.jmap"
	kill -INT $map
	wait $map
	end
fi
done_testing
