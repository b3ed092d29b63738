# shellcheck shell=sh
# jvm.sh - functions for tests of JVMs. Source it after tap.sh: . "$top/test/lib/jvm.sh"
# $jdks: folders of JDKs, those in PJ_JDKS and those below /usr/lib/jvm; with PJ_FULL=0 (./check) only the last one.
# $javac: path of the first javac. Both may be empty. At the end of the test, the processes in $started (PIDs) are
# killed, then clean_up is called, which a test may define.

jdks=
javac=
for jdk in ${PJ_JDKS:-} /usr/lib/jvm/*; do
	[ -x "$jdk/bin/java" ] && [ -e "$jdk/lib/server/libjvm.so" ] && [ ! -L "$jdk" ] && jdks="$jdks $jdk"
	[ -z "$javac" ] && [ -x "$jdk/bin/javac" ] && javac=$jdk/bin/javac
done
if [ "${PJ_FULL:-}" = 0 ]; then jdks=${jdks:+ ${jdks##* }}; fi
started=

clean_up()
{
	:
}

# shellcheck disable=SC2086,SC2154 # a list; scratch is of tap.sh
trap 'kill -9 $started 2>/dev/null; wait 2>/dev/null; clean_up; chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT

# need_jdk FILE.java...: compiles the files for any JDK; skips the complete test if there is no JDK or the compilation
# fails
need_jdk()
{
	[ -n "$jdks" ] || skip_all "no JDK below /usr/lib/jvm (PJ_JDKS)"
	[ -n "$javac" ] || skip_all "no javac"
	"$javac" --release 8 -nowarn -d . "$@" 2>javac.err || "$javac" -d . "$@" 2>javac.err || skip_all "javac: $(head -n 1 javac.err)"
}

# until_true COMMAND...: repeats the command until it succeeds; returns false after three minutes, a limit for a busy
# machine
until_true()
{
	tries=1800
	while ! "$@" && [ $((tries -= 1)) -gt 0 ]; do sleep 0.1; done
	[ $tries -gt 0 ]
}

# find_rooted: sets $rooted to a word ROOT:JDK for each JDK in the root file systems in PJ_ROOTFS; empty unless this
# user is root
find_rooted()
{
	rooted=
	for root in ${PJ_ROOTFS:-}; do
		for jdk in "$root"/usr/lib/jvm/*; do
			[ -x "$jdk/bin/java" ] && [ ! -L "$jdk" ] && rooted="$rooted $root:${jdk#"$root"}"
		done
	done
	[ -n "$rooted" ] || skip "JDKs of other distributions" "PJ_ROOTFS is empty: test/jmap/rootfs.sh makes such a folder"
	if [ -n "$rooted" ] && [ "$(id -u)" != 0 ]; then
		skip "JDKs of PJ_ROOTFS" "not root"
		rooted=
	fi
}
