# java.sh - genuine JVMs beside an attack on pjmap; source it after lib.sh.
# shellcheck shell=sh
#
# Sets $java, or skips the test. begin_java starts test/jmap/Work.java; what is in $started ends with the test.

have pjmap || skip_all "pjmap is not built"
java=
for jdk in /usr/lib/jvm/*; do [ -x "$jdk/bin/javac" ] && [ ! -L "$jdk" ] && java=$jdk/bin/java; done
# shellcheck disable=SC2154 # tap.sh sets top
[ -n "$java" ] && "${java}c" -nowarn -d . "$top/test/jmap/Work.java" 2>javac.err || skip_all "no JDK"
started=
# shellcheck disable=SC2086,SC2154 # lists; tap.sh and lib.sh make the folders
trap 'kill -KILL $started 2>/dev/null; end_attacks; chmod -R u+rwx "$scratch" "$arena" 2>/dev/null; rm -rf "$scratch" "$arena"' EXIT

# until_true COMMAND...: tries for 60 s
until_true()
{
	for _ in $(seq 300); do
		"$@" && return 0
		sleep 0.2
	done
	return 1
}

# begin_java: $genuine
begin_java()
{
	rm -f ready
	"$java" -Xmx64m -cp . Work idle 900 >ready 2>java.err 8>&- &
	genuine=$!
	started="$started $genuine"
	until_true grep -qs ready ready
}

# timeline PID: bytes of it, and when it was changed last, in ns
timeline()
{
	stat -c '%s %.9Y' maps.d/maps/*/"$1"-*.jmap 2>/dev/null
}

# scans PID SECONDS: how often its timeline was changed
scans()
{
	last=
	n=0
	for _ in $(seq $(($2 * 5))); do
		sleep 0.2
		now=$(timeline "$1")
		[ "$now" = "$last" ] || n=$((n + 1))
		last=$now
	done
	echo $n
}

has_records()
{
	[ "$(timeline "$1" | awk '{ print $1 + 0 }')" -gt 20000 ]
}
