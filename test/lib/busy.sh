# shellcheck shell=sh
# busy.sh - starts a busy JVM for tests that record it. Source it after jvm.sh, when Load.class is in the current
# folder: . "$top/test/lib/busy.sh"
# shellcheck disable=SC2154 # the test sets root, the root file system of the JVM, and jdk

pid=
clean_up()
{
	[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
	wait
}

# ticks PID: prints the CPU time of a process in ticks; prints nothing if it has ended
ticks()
{
	sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '{ print $12 + $13 }'
}

# used PID SECONDS: waits, at most 60 s, until a process has used this much more CPU time; a second has 100 ticks.
# Returns false if the process ends, or does not use that time.
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

# start MODE OPTION...: starts a JVM of $jdk in $root that runs Load in this mode until stop, and waits until it has
# used 3 s of CPU time; sets $pid
start()
{
	mode=$1
	shift
	start_java "$@" Load "$mode" 900
	used "$pid" 3
}

# start_java ARGUMENT...: starts a JVM of $jdk with the classes of this folder, in the root file system $root unless
# that is empty. Sets $pid; the output of the JVM is in java.out.
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
