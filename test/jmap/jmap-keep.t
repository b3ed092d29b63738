#!/bin/sh
# jmap-keep.t - DIR/maps keeps its limit, with JVMs that make ever more code: dead ones go first, the living begin anew, and pjfold can read what is there.
#
# Run by ./check.
# stage: live
# full: fills DIR/maps up to its limit
# covers: jmap/timeline/mapsdir.c jmap/timeline/journalfile.c fold/jvm/timeline.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL

have pjmap && have pjfold || skip_all "the tools are not built"
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
need_jdk "$top/test/jmap/Work.java"
jdk=${jdks# }
jdk=${jdk%% *} # the oldest: its code comes and goes most

kb()
{
	du -sk "$1" 2>/dev/null | cut -f1
}

boot=$(cat /proc/sys/kernel/random/boot_id)
mkdir -p dir/maps tmp dir/out
chmod 755 dir
# what a JVM of yesterday left, and one since the boot, within the last hours; a window of its time is still there
ago=$(awk '{ print int($1 < 10000 ? $1 : 10000) }' /proc/uptime)
mkdir "dir/maps/$boot"
head -c 300000 /dev/zero >"dir/maps/$boot/999999997-1.jmap"
head -c 300000 /dev/zero >"dir/maps/$boot/999999998-1.jmap"
touch -d '-3 days' "dir/maps/$boot/999999997-1.jmap"
touch -d "-$((ago * 3 / 4)) sec" "dir/maps/$boot/999999998-1.jmap"
before=$(date -d "-$((ago * 9 / 10)) sec" +%s)
echo >"dir/out/$before.data"
touch -d "-$((ago * 4 / 5)) sec" "dir/out/$before.data"
"$jdk/bin/java" -Xmx200m -XX:ReservedCodeCacheSize=10m -XX:-SegmentedCodeCache -Djava.io.tmpdir=tmp -cp . Work churn 900 >ready 2>java.err &
pid=$!
started="$started $pid"
until_true grep -qs ready ready
pjmap -q -i 0.2 -d dir --no-perf-map --keep-bytes 2G "$pid" 2>map.err &
map=$!
started="$started $map"
until_true sh -c '! [ -e "$1" ] && ls "$2"/maps/*/"$3"-*.jmap' - "dir/maps/$boot/999999997-1.jmap" dir "$pid" >/dev/null 2>&1
ok "what nothing needs for a day goes" [ ! -e "dir/maps/$boot/999999997-1.jmap" ]
ok "  what a window needs stays" [ -e "dir/maps/$boot/999999998-1.jmap" ]
kill -INT "$map"
wait "$map"
is "  status" $? 0
is "  nothing is said of it, with -q" "$(cat map.err)" ""

file=$(ls dir/maps/*/"$pid"-*.jmap)
limit=$(($(kb dir/maps) * 3 / 2))
rm -f map.err # what is in the background empties it later
pjmap -q -i 0.2 -d dir --no-perf-map --keep-bytes "${limit}k" "$pid" 2>map.err &
map=$!
started="$started $map"
until_true grep -qs 'is restarted' map.err
ok "a JVM that lives, and makes ever more code: begins anew, said also with -q" grep -q "^pjmap: $pid: .*jmap is restarted (--keep-bytes)" map.err
ok "  before it, what a dead one left went, although a window needs it; that is said" grep -q -- '--keep-bytes: 1 timelines removed that windows .* need' map.err
ok "  and is so" [ ! -e "dir/maps/$boot/999999998-1.jmap" ]
inode=$(stat -c %i "$file")
until_true sh -c '[ "$(grep -c "is restarted" map.err)" -ge 2 ]'
ok "  and again" [ "$(grep -c 'is restarted' map.err)" -ge 2 ]
until_true sh -c '[ "$(stat -c %i "$1")" != "$2" ]' - "$file" "$inode"
ok "  the new one takes the place of the former whole" [ "$(stat -c %i "$file")" != "$inode" ]
# a tenth is what may be written between two looks, a scan is what one look may bring
ok "  the limit of $limit kB is kept: $(kb dir/maps)" [ "$(kb dir/maps)" -le $((limit * 2)) ]
kill -INT "$map"
wait "$map"
is "  status" $? 0
ok "  nothing half is left" [ -z "$(find dir/maps -name '.*')" ]

if [ "$(id -u)" = 0 ] && have pjrecord && pjrecord -q -a -w 1 --once -d try >out 2>why; then
	rm -f map.err
	pjmap -q -i 0.2 -d dir --no-perf-map --keep-bytes "${limit}k" "$pid" 2>map.err &
	map=$!
	started="$started $map"
	until_true grep -qs 'is restarted' map.err
	pjrecord -q -F 499 -p "$pid" -w 2 --once -d dir >window 2>rec.err
	kill -INT "$map"
	wait "$map"
	pjfold -v --only "pid=$pid" "$(cat window)" >folded 2>err
	ok "pjfold reads what began anew" grep -q 'timelines of 1 JVM' err
	ok "  to its end" not grep -q 'jmap@' err
	ok "  names" grep -q '_\[j\]' folded
else
	skip "pjfold reads what began anew" "recording is not allowed here"
fi
kill -9 "$pid"
done_testing
