# shellcheck shell=sh
# busy.sh - a JVM at work, for tests that record it. Source it behind jvm.sh, when Load.class is in the current folder: . "$top/test/lib/busy.sh"
# shellcheck disable=SC2154 # root, jdk: who runs it where; set by the test

pid=
clean_up()
{
	[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
	wait
}

# ticks PID: of time that it used; nothing: it is gone
ticks()
{
	sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '{ print $12 + $13 }'
}

# used PID SECONDS: waits until it has used so much more time; 100 ticks are a second
used()
{
	since=$(ticks "$1")
	for _ in $(seq 600); do
		now=$(ticks "$1")
		[ -n "$now" ] || return 1
		[ "$now" -ge $((${since:-0} + 100 * $2)) ] && return 0
		sleep 0.1
	done
	return 1
}

# start MODE OPTION...: a JVM, from $jdk in $root, that runs until it is stopped; sets pid
start()
{
	mode=$1
	shift
	start_java "$@" Load "$mode" 900
	used "$pid" 3
}

# start_java ARGUMENT...: starts $jdk with the classes of this folder, in the root file system $root unless that is empty: $pid, java.out
start_java()
{
	if [ -n "$root" ]; then
		# shellcheck disable=SC2016 # the inner shell's
		unshare -m sh -c 'r=$1 && mount --bind /proc "$r/proc" && mount --bind "$2" "$r/mnt" && shift 2 && exec chroot "$r" "$@"' - \
			"$root" "$PWD" "$jdk/bin/java" -Xmx256m -cp /mnt "$@" >java.out 2>&1 &
	else
		"$jdk/bin/java" -Xmx256m -cp . "$@" >java.out 2>&1 &
	fi
	pid=$!
}

stop()
{
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	pid=
}
