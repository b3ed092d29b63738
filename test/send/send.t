#!/bin/sh
# send.t - pjsend and pjfetch with a store in a directory: windows go there once, whatever happens, and any stretch of time comes back.
# Killed at every call: send-kill.t. Remote stores: send-*.t. On the live machine: record-send.t.
# full-san: 20 s with sanitizers
# covers: send/pjsend.c send/pipefolder.c send/pjfetch.c send/sendopts.c send/sender.c send/coverage.c send/gather.c send/store.c
# covers: common/timearg.c send/each.c send/format/pack.c send/format/window.c send/spool/spool.c send/spool/spooler.c
# covers: send/spool/folding.c common/process/child.c send/spool/counters.c send/stores/dirstore.c
# covers: send/stores/dirread.c send/stores/dirnames.c send/stores/dirtidy.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C TZ=UTC
export LC_ALL TZ
unset PJ_STORE
# shellcheck source=test/send/kill.sh
. "$top/test/send/kill.sh"

have pjsend || skip_all "pjsend is not built"

# chunk DIR EPOCH STACKS-TEXT [HEADER WORDS]: a complete window
chunk()
{
	mkdir -p "$1/out"
	printf '# pj unit=samples event=cycles frequency=99 from=%s to=%s host=web1 samples=%s %s\n%s\n' "$2" $(($2 + 30)) \
		"$(echo "$3" | awk '{ n += $NF } END { print n }')" "${4:-lost=0}" "$3" >"$1/out/$2.data"
}

prom()
{
	awk -v name="pj_send_$2" '$1 == name { print $2 }' "$1/pjsend.prom"
}

soon()
{
	waited=0
	until "$@" >/dev/null 2>&1; do
		waited=$((waited + 1))
		[ $waited -lt 300 ] || return 1
		sleep 0.1
	done
}

files()
{
	(cd "$1" && find . -type f | sort)
}

body()
{
	grep -v '^#' "$1"
}

# ---- there and back
chunk d 1700000000 'a;b 3
a;c 1'
chunk d 1700000030 'a;b 2'
chunk d 1700000100 'a;d 5'
pjsend -q --once d >out 2>err
is "all is sent: status 0" "$?" 0
same "and nothing said" err /dev/null
is "nothing is left" "$(files d/out; files d/bad)" ""
is "the spool keeps the number of the recorder only" "$(files d/spool)" ./recorder
is "files and folders are not for everyone" "$(stat -c %a d/spool d/spool/recorder d/store/web1/2023-11-14 d/store/web1/*/1700000000*)" "750
640
750
640"
pjfetch -d d --from=1700000000 --to=1700000130 >got 2>err
is "any stretch comes back: status 0" "$?" 0
is "as a sum" "$(cat got)" '# pj unit=samples event=cycles frequency=99 from=1700000000 to=1700000130 host=web1 samples=11 lost=0
a;b 5
a;c 1
a;d 5'
is "with its gaps named" "$(cat err)" "pjfetch: web1: nothing was recorded 2023-11-14T22:14:20Z to 2023-11-14T22:15:00Z (40 s)"
is "a window belongs to where it begins" "$(pjfetch -q -d d --from=1700000001 --to=1700000100 | grep -v '^#')" "a;b 2"
is "counters" "$(prom d windows_sent_total) $(prom d documents_sent_total) $(prom d waiting_windows)" "3 3 0"
chunk d 1700000200 'x 1'
pjsend -q --once d
is "counters go on" "$(prom d windows_sent_total)" 4
pjfetch -d d --list >list
is "what there is, and what is missing" "$(cat list)" "web1  2023-11-14T22:13:20Z  2023-11-14T22:17:10Z  4 windows  120 s  cycles
  gap  2023-11-14T22:14:20Z  2023-11-14T22:15:00Z  40 s
  gap  2023-11-14T22:15:30Z  2023-11-14T22:16:40Z  70 s"
pjfetch -q -d d --strict --from=1700000000 --to=1700000130 >out 2>&1
is "--strict: a gap is status 1" "$?" 1
pjfetch -q -d d --from=1600000000 --to=1600000130 >out 2>err
is "nothing there: status 1, and said" "$? $(cat err)" \
	"1 pjfetch: no windows: none starts in that time; the first starts at 2023-11-14T22:13:20Z, the last at 2023-11-14T22:16:40Z"
is "times are those of the zone in which --from is read" "$(TZ=CET-1 pjfetch -d d --list --from=2023-11-14T23:15 | head -n 1)" \
	"web1  2023-11-14T23:15:00+01:00  2023-11-14T23:17:10+01:00  2 windows  60 s  cycles"
is "  as they are printed they can be given" "$(TZ=CET-1 pjfetch -q -d d --from=2023-11-14T23:15:00+01:00 --to=2023-11-14T23:15:01+01:00 | grep -v '^#')" "a;d 5"

# ---- each window by itself
mkdir -p recorded/recording recorded/out
: >recorded/recording/recorder
pjfetch -s dir:recorded >out 2>err
is "the directory of a recorder is no store" "$? $(cat err)" "2 pjfetch: dir:recorded: this is a directory of pjrecord, not a store: pjfold recorded/out/*.data folds its windows (see pjfetch --help)"
ok "--each writes each window" pjfetch -q -d d --each --from=1700000000 --to=1700000130 -o each
is "  to a file" "$(ls each)" "1700000000-1.folded
1700000030-2.folded
1700000100-3.folded"
is "  with its times and stacks" "$(cat each/1700000030-2.folded)" '# pj unit=samples event=cycles frequency=99 from=1700000030 to=1700000060 host=web1 samples=2 lost=0
a;b 2'
is "  the sum is the same" "$(pjfold -q each/*.folded | grep -v '^#')" "$(body got)"
pjfetch -q -d d --each -o each >out 2>err
is "  no file of an earlier run is among them" "$? $(cat err)" "1 pjfetch: cannot create the directory 'each': File exists"
pjfetch -d d --each >out 2>err
is "  a directory is needed" "$? $(cat err)" "2 pjfetch: --each writes several files: add --output=DIR (see pjfetch --help)"
pjfetch -d d --each --by=host -o each2 >out 2>err
is "  --by is excluded" "$? $(cat err)" "2 pjfetch: --each excludes --list, --by and --stacks (see pjfetch --help)"

# ---- names of windows
mkdir -p two/out
for k in a b; do
	chunk "$k" 1700000000 "from;$k 1"
	pjsend -q --once --store=dir:both "$k"
done
is "two recorders on one host do not overwrite each other" "$(pjfetch -q -s dir:both -f 1700000000 -t 1700000001 | grep -v '^#')" "from;a 1
from;b 1"
chunk a 1700000000 "from;a 1"
pjsend -q --once --label=version=2 --label=service=shop --store=dir:both a
is "labels make a stream of their own" "$(pjfetch -q -s dir:both -f 1700000000 -t 1700000001 --label=service=shop | head -n 1)" \
	"# pj unit=samples event=cycles frequency=99 from=1700000000 to=1700000030 host=web1 samples=1 lost=0 labels=service=shop,version=2"
is "--by=label:KEY" "$(pjfetch -q -s dir:both -f 1700000000 -t 1700000001 --by=label:version | grep -v '^#')" "2;from;a 1
[none];from;a 1
[none];from;b 1"
is "--by=label: of a key that no window has" "$(pjfetch -q -s dir:both -f 1700000000 -t 1700000001 --label=version=2 --by=label:zone | grep -v '^#')" \
	"[none];from;a 1"
chunk a 1700000000 "from;a 1"
pjsend -q --once --store=dir:both a
is "the same window again is there already" "$(prom a documents_known_total) $(pjfetch -q -s dir:both -f 1700000000 -t 1700000001 | grep -c 'from;a 2')" "1 1"
chunk a 1700000000 "from;else 1"
pjsend -q --once --store=dir:both a 2>err
is "another content under the same name is an alarm" "$? $(cat err) $(prom a windows_differ_total)" \
	"1 pjsend: window 1700000000 of web1: dir:both has another window under that name; this one was moved to bad/ 1"
is "and is kept, with the reason" "$(gzip -dc a/bad/1700000000.*.gz | tail -n 1) $(cat a/bad/*.why)" \
	"from;else 1 dir:both has another window under that name"
is "what is stored stays, and nothing waits" "$(pjfetch -q -s dir:both -f 1700000000 -t 1700000001 --label=service=shop | tail -n 1) $(files a/spool; files a/out)" \
	"from;a 1 ./recorder"
chunk a 1700000000 "from;third 1"
pjsend -q --once --store=dir:both a 2>err
is "a third one finds room there, too" "$? $(find a/bad -name '*.gz' | wc -l)" "1 2"
chunk e 1700000000 "a;b 1"
pjsend -q --once --host='../we b;1' --store=dir:hosts e
is "a host's name becomes a folder's" "$(ls hosts)" "-.-we-b-1"

# ---- what is sent is clean
chunk f 1700000000 'a;x 1'
printf '# pj unit=samples event=cycles from=1700000000 to=1700000030 host=web1 samples=9 lost=0\na;\377b 2\na;\376b 3\na;\355\240\200 1\nzero 0\na;b 1\na;b 2\n' >f/out/1700000000.data
pjsend -q --once f 2>err
pjfetch -q -d f -f 1700000000 -t 1700000001 | grep -v '^#' >got
printf 'a;b 3\na;\357\277\275b 5\na;\357\277\275\357\277\275\357\277\275 1\n' >want
same "no invalid UTF-8, nothing twice, nothing without a value" got want

# ---- a pipe
printf '# pj unit=samples event=cycles from=12.5 to=41.9 host=web7 samples=4 lost=0\na;b 4\n' >one
pjsend -q --store=dir:p --time=1700000000 --label=build=7 - <one
is "a pipe: status 0" "$?" 0
is "a pipe is a window" "$(pjfetch -q -s p/ -f 1700000000 -t 1700000001 2>&1; pjfetch -q -s dir:p -f 1700000000 -t 1700000001)" \
	"$(pjfetch -q -s p/ -f 1700000000 -t 1700000001 2>&1)
# pj unit=samples event=cycles from=1700000000 to=1700000030 host=web7 samples=4 lost=0 labels=build=7
a;b 4"
pjsend -q --store=dir:p --time=1700000000 --label=build=7 - <one
pjsend -q --store=dir:p --time=@1700000000 --host=web8 --seconds=5 - <one
is "again it is the same; another host is not" "$(pjfetch -q -s dir:p -f 1700000000 -t 1700000001 --by=host | grep -v '^#')" "web7;a;b 4
web8;a;b 4"
echo 'a;other 4' | pjsend -q --store=dir:other --time=1700000000 -
echo 'a;b 4' | TMPDIR=$scratch pjsend -q --store=dir:other --time=1700000000 - 2>err
is "a pipe whose name has another content: status 1, kept" "$? $(head -n 1 err) $(pjfetch -q -s dir:other -f 1700000000 -t 1700000001 | grep -v '^#')" \
	"1 pjsend: window 1700000000 of unknown: dir:other has another window under that name; this one was moved to bad/ a;other 4"
is "and where is said" "$(gzip -dc "$(sed -n "s/.*stored in '\(.*\)'/\1/p" err)"/*.gz | tail -n 1)" 'a;b 4'

# the same second and stream, but longer: what it is called in the store must not make it another window
mkdir -p lengths
for s in 5 6 5 6; do
	pjsend -q -d lengths --store=dir:length --time=1700000000 --seconds=$s - <one 2>err
	echo "$? $(wc -l <err)"
done >out
is "a window that takes longer than the one there is another content, not another window" "$(tr '\n' ,  <out) $(files lengths/bad | wc -l)" "0 0,1 1,0 0,1 1, 2"
is "nothing is counted twice" "$(pjfetch -q -s dir:length -f 1700000000 -t 1700000001 | grep -v '^#')" "a;b 4"
for f in length/web7/2023-11-14/*+5.*; do cp "$f" "$(echo "$f" | sed 's/+5\./+6./')"; done
pjfetch -q -s dir:length -f 1700000000 -t 1700000001 >out 2>err
is "nor when somebody put both there: status 1, and said" "$? $(tail -n 1 out) $(grep -c 'only that one counts' err)" "1 a;b 4 1"
is "nor in the list" "$(pjfetch -q -s dir:length --list 2>/dev/null | grep -o '[0-9]* windows')" "1 windows"
echo 'a;b 4' | pjsend --store=dir:headless --time=1700000000 - 2>err
is "a pipe without header is taken, and that is said" "$? $(grep -c 'without a header' err)" "0 1"
pjsend --store=dir:headless --time=1700000000 --host= - <one 2>err
is "an empty --host is none" "$?" 2
# nonsense NAME TEXT MESSAGE
nonsense()
{
	mkdir -p left
	printf "$2" | TMPDIR=$PWD/left pjsend -q --store=dir:nonsense --time=1700000000 - 2>err
	is "refused: $1" "$? $(cat err)$(ls left)" "1 pjsend: standard input$3"
}
nonsense "no folded text" 'no stack\n' ":1: no weight at the end of the line; nothing is sent"
nonsense "one line of it is none" '# pj unit=samples\na;b 1\n\njunk\nc 2\nmore junk\n' ":4: no weight at the end of the line; nothing is sent"
nonsense "cut before a number" 'a;b 1\nc;d ' ":2: no weight at the end of the line; nothing is sent"
nonsense "a number alone" 'a;b 1\n 5\n' ":2: no stack before the weight; nothing is sent"
nonsense "a difference" 'a;b 1 2\nc 3 4\n' ":1: each line ends in two numbers: a difference is not a profile; nothing is sent"
nonsense "two profiles, one behind the other" '# pj unit=samples event=a\na 1\n# pj unit=ns event=b\nb 2\n' \
	":3: another profile starts here: send each profile separately; nothing is sent"
nonsense "an empty one" '# pj unit=samples\na 0\n' ": no stacks"
is "nothing of that is in the store" "$(files nonsense)" ""
mkdir full && : >full/file
pjsend -q --store=dir:full/file --time=1700000000 - <one 2>err
is "a store that cannot be: status 2" "$?" 2
if [ "$(id -u)" != 0 ]; then
	mkdir -p ro/d && chmod 555 ro/d
	TMPDIR=$scratch pjsend -q --store=dir:ro/d --time=1700000000 - <one 2>err
	is "a pipe that cannot be sent: status 1" "$?" 1
	kept=$(sed -n "s/.*stored in '\(.*\)'.*/\1/p" err)
	chmod 755 ro/d
	pjsend -q --once --store=dir:ro/d "$kept"
	is "and is kept, and can be sent later" "$(pjfetch -q -s dir:ro/d -f 1700000000 -t 1700000001 | grep -c 'a;b 4')" 1
else
	skip "a pipe that cannot be sent: status 1" "root may write everywhere"
	skip "and is kept, and can be sent later" "root may write everywhere"
fi

# the directory of a pipe: removed as soon as it has no window
mkdir -p pipes blocked && : >blocked/h1
echo 'a;b 4' | TMPDIR=$PWD/pipes pjsend -q --store=dir:blocked --host=h1 --time=1700000000 - 2>err
is "a pipe that cannot be sent is kept: status 1" "$? $(ls pipes | wc -l)" "1 1"
kept=$(sed -n "s/.*stored in '\(.*\)'.*/\1/p" err)
echo 'a;b 4' | TMPDIR=$PWD/pipes pjsend -q --store=dir:elsewhere --time=1700000000 -
is "another pipe leaves it alone" "$? $(find "$kept/spool" -name "*.folded*" | wc -l) $(ls pipes | wc -l)" "0 1 1"
rm blocked/h1
pjsend -q --once --store=dir:blocked --host=h1 "$kept"
is "it is sent later, and the directory is removed" "$? $(pjfetch -q -s dir:blocked -f 1700000000 -t 1700000001 | tail -n 1) $(ls pipes | wc -l)" "0 a;b 4 0"
mkfifo never
TMPDIR=$PWD/pipes pjsend -q --store=dir:elsewhere --time=1700000000 - <never &
killed=$!
exec 7>never
until [ -d "$(echo pipes/pjsend.*)/bad" ]; do sleep 0.01; done
echo 'a;b 4' | TMPDIR=$PWD/pipes pjsend -q --store=dir:elsewhere --time=1700000000 -
is "a directory that is in use stays" "$? $(ls pipes | wc -l)" "0 1"
kill -KILL $killed
wait $killed 2>/dev/null
exec 7>&-
mkdir -p pipes/pjsend.foreign/spool pipes/pjsend.others && : >pipes/pjsend.others/from-pipe && : >pipes/pjsend.others/file
echo 'a;b 4' | TMPDIR=$PWD/pipes pjsend -q --store=dir:elsewhere --time=1700000000 -
is "that of a killed pjsend is removed by the next one; others are not" "$? $(ls pipes | tr '\n' ' ')" "0 pjsend.foreign pjsend.others "
rm -r pipes

mkdir -p waits wstore && : >wstore/h1
echo 'a;b 4' | pjsend -q -d waits --store=dir:wstore --host=h1 --time=1700000000 - 2>err
echo 'a;b 5' | pjsend -q -d waits --store=dir:wstore --host=h1 --time=1700000000 - 2>err
is "a pipe does not replace one of its name that waits" "$? $(cat err)" \
	"1 pjsend: standard input: another text of that host, event, time and labels is in the spool; nothing is sent"
rm wstore/h1
echo 'a;b 4' | pjsend -q -d waits --store=dir:wstore --host=h1 --time=1700000000 -
is "the same text again is no other one" "$? $(pjfetch -q -s dir:wstore -f 1700000000 -t 1700000001 | tail -n 1)" "0 a;b 4"

# ---- what is asked for
chunk g 1700000000 'java-12;a 1
java-13;a 2
sh-12;b 4'
chunk g 1700000030 'java-12;a 8'
pjsend -q --once g
is "--only comm" "$(pjfetch -q -d g -f 1700000000 -t 1700000060 --only=comm=java | grep -v '^#')" "java-12;a 9
java-13;a 2"
is "--only pid and comm" "$(pjfetch -q -d g -f 1700000000 -t 1700000060 --only='comm=j*,pid=12')" \
	"# pj unit=samples event=cycles frequency=99 from=1700000000 to=1700000060 host=web1 samples=9
java-12;a 9"
is "--by=time" "$(pjfetch -q -d g -f 1700000000 -t 1700000060 --only=pid=12,comm=java --by=time | grep -v '^#')" \
	"2023-11-14T22:13:20Z;java-12;a 1
2023-11-14T22:13:50Z;java-12;a 8"
is "times as people write them" "$(pjfetch -q -d g -f '2023-11-14 22:13:20' -t 2023-11-14T23:13:21+01:00 | tail -n 1)" "sh-12;b 4"
pjfetch -d g --from=never >out 2>err
is "what is no time: status 2" "$?" 2
pjfetch -d g --only=cpu=1 >out 2>err
is "--only of what is not kept: status 2" "$?" 2

# refused STATUS MESSAGE ARGUMENTS: of pjfetch
refused()
{
	want="$1 pjfetch: $2"
	shift 2
	pjfetch -d g "$@" >out 2>err
	is "pjfetch $*" "$? $(sed 's/ (see pjfetch --help)//' err)" "$want"
}
refused 2 "--from is not before --to" -f 1700000010 -t 1700000000
refused 2 "--from is not before --to" -f 1700000000 -t 1700000000
refused 1 "no windows: none of the selection starts in that time; --list lists all windows" -f 1700000000 -t 1700000001 -H nobody
refused 1 "no windows: none of the selection starts in that time" --list -H nobody
refused 1 "no windows: none starts in that time; the first starts at 2023-11-14T22:13:20Z, the last at 2023-11-14T22:13:50Z" --list -f 1800000000 -t 1800000001
refused 2 "--host and --all-hosts exclude each other" -H web1 -a
refused 2 "--by: 'place' is not one of host, time, label:KEY" --by=place
refused 2 "--by: 'label:' is not one of host, time, label:KEY: did you mean label:KEY?" --by=label:
refused 2 "store 'clickhouse' lacks its place: clickhouse:URL or PATH; ./clickhouse is a directory" -s clickhouse --list
refused 2 "--only: 'comm=' is not KEY=VALUE,..." --only=comm=
refused 2 "--label: '=v' is not KEY=VALUE" --label==v
refused 2 "unexpected operand 'extra': give times by --from and --to, a store by --store" extra
refused 2 "--stacks is for eve: stores only" -f 1700000000 --stacks=http://127.0.0.1:1/
refused 2 "dir:nowhere: cannot use the directory: No such file or directory" --store=dir:nowhere
refused 1 "ndjson:x: this store is write-only" --store=ndjson:x
pjfetch -q -d g -f 1700000000 -t 1700000060 --only=comm=nothing >out 2>err
is "a comm that has no samples: said, and no failure" "$? $(cat err)" "0 pjfetch: no sample of that comm or pid; windows have pids only with pjsend --pid"

# ---- unlike things
chunk h 1700000000 'a 1'
pjsend -q --once h
chunk h 1700000030 'a 1000'
sed -i 's/unit=samples event=cycles/unit=ns event=offcpu-time/' h/out/1700000030.data
pjsend -q --once h
pjfetch -q -d h -f 1700000000 -t 1700000060 >out 2>err
is "unlike units are refused, with the remedy" "$? $(cat err)" \
	"1 pjfetch: these windows have the units samples (cycles) and ns (offcpu-time): choose one with --only=event="
is "nothing is written then" "$(cat out)" ""
is "--only=event" "$(pjfetch -q -d h -f 1700000000 -t 1700000060 --only=event='off*' | tail -n 1)" "a 1000"
chunk h 1700000060 'a 30'
sed -i 's/unit=samples event=cycles/unit=ns event=wait/' h/out/1700000060.data
pjsend -q --once h
is "--only=event=A,event=B are alternatives" "$(pjfetch -q -d h -f 1700000000 -t 1700000090 --only=event=off*,event=wait | tail -n 1)" "a 1030"
pjfetch --strict -d h -f 1700000030 -t 1700000090 --only=event='off*' --only=event=wait >out 2>err
is "--strict: a time that one of them covers is no gap" "$? $(cat err)" "0 "
pjfetch --strict -d h -f 1700000000 -t 1700000090 --only=event=wait >out 2>err
is "--strict: one that none covers is status 1, and said" "$? $(grep -c 'nothing was recorded before' err)" "1 1"

# ---- what is damaged
chunk i 1700000000 'a 1'
chunk i 1700000030 'a 2'
chunk i 1700000060 'a 4'
echo 'this is nothing that can be folded' >i/out/1700000030.data
head -c 4096 /dev/zero >i/out/1700000090.data
pjsend -q --once i 2>err
is "what cannot be folded does not stop the rest, and is status 1" "$? $(pjfetch -q -d i -f 1700000000 -t 1700000100 | tail -n 1)" "1 a 5"
is "and is kept, with the reason" "$(files i/bad)" "./1700000030.data
./1700000030.data.why
./1700000090.data
./1700000090.data.why"
is "and counted" "$(prom i windows_unreadable_total)" 2
for f in i/store/web1/*/1700000060*; do head -c 60 "$f" >part && cat part >"$f"; done
pjfetch -q -d i -f 1700000000 -t 1700000100 >out 2>err
is "a damaged file in the store: status 1, named, the rest is there" "$? $(grep -c '1700000060+30' err) $(tail -n 1 out)" "1 1 a 1"
mkdir -p j/spool && echo 'no gzip' >j/spool/1700000000.0123456789abcdef.folded.gz
pjsend -q --once j 2>err
is "a damaged file in the spool goes to bad/" "$? $(files j/bad)" "1 ./1700000000.0123456789abcdef.folded.gz
./1700000000.0123456789abcdef.folded.gz.why"

# ---- one instance, and what killed ones left
mkdir -p k/spool && : >k/spool/.0123456789abcdef.tmp
pjsend -q --splay=0 -i 1 k 2>log &
daemon=$!
soon test -e k/pjsend.prom
chunk early 1700000000 'a 1'
mv early/out k/
ok "a daemon that began before the recorder sees its windows" soon test ! -e k/out/1700000000.data
pjsend -q --once k 2>err
is "one instance for a directory" "$? $(cat err)" "1 pjsend: another pjsend sends from 'k'"
is "leftovers are swept" "$(files k/spool)" ./recorder
printf 'a;pipe 1\n' | pjsend -q -d k --store=dir:k/store --time=1700000030 --host=web1 -
is "a pipe into the directory of a daemon: it sends" "$?" 0
chunk l 1700000060 'a 4'
mv l/out/1700000060.data k/out/
soon test ! -e k/out/1700000060.data || fail "the daemon goes on" log
kill "$daemon"
wait "$daemon"
is "it ends when it is told to" "$?" "$([ -n "$(files k/spool | grep -v recorder)" ] && echo 1 || echo 0)"
pjsend -q --once k
is "all of it is there" "$(pjfetch -q -d k -f 1700000000 -t 1700000100 | grep -v '^#')" "a 5
a;pipe 1"

# ---- the store is away: nothing is lost, and the window is folded once
chunk m 1700000000 'a 1'
mkdir -p mstore/web1 && : >mstore/web1/2023-11-14
pjsend -q --once --store=dir:mstore m 2>err
is "a store that refuses: status 1, said" "$? $(grep -c 'the configuration needs attention' err)" "1 1"
is "the window and its spool stay" "$(files m/out; files m/spool | wc -l)" "./1700000000.data
2"
is "and it is an alarm" "$(prom m held) $(prom m waiting_windows) $(prom m 'retries_total{class="hold"}')" "1 1 1"
chunk m 1700000000 'other 1'
rm mstore/web1/2023-11-14
pjsend -q --once --store=dir:mstore m
is "what was spooled is what is sent" "$(pjfetch -q -s dir:mstore -f 1700000000 -t 1700000100 | tail -n 1)" "a 1"
is "nothing is left then" "$(files m/out)" ""

# ---- room
mkdir -p nstore/web1 && : >nstore/web1/2023-11-14
for e in 0 1 2 3 4 5; do chunk n1 $((1700000000 + 30 * e)) "a;$e 1"; done
pjsend -q --once --store=dir:nstore --keep=spool n1 2>err
is "--keep=spool: recordings go once they are folded" "$(files n1/out) $(files n1/spool | wc -l) $(prom n1 chunks_dropped_total)" " 7 6"
pjsend -q --once --store=dir:nstore --spool=12K n1 2>err
is "a spool that is full: the oldest go, counted" "$(prom n1 windows_dropped_total) $(prom n1 waiting_windows) $(files n1/spool | head -n 1 | cut -c1-12)" "3 3 ./1700000090"
for e in 2 3 4 0 1; do
	chunk n4 $((1700000000 + 30 * e)) "a;$e 1"
	touch -d "@$((1700000200 + 60 * (e < 2) + e))" "n4/out/$((1700000000 + 30 * e)).data" # 0 and 1: after the clock was set back
done
pjsend -q --once --store=dir:nstore --keep=spool --spool=12K n4 2>err
is "after the clock was set back the oldest go, not the lowest names" \
	"$(files n4/spool | cut -c1-12 | grep -v recorder | tr '\n' ' ')" "./1700000000 ./1700000030 ./1700000120 "
for e in 6 7 8; do echo junk >n1/out/$((1700000000 + 30 * e)).data; done
pjsend -q --once --store=dir:nstore n1 2>err
is "what cannot be folded takes room, too" "$(find n1/bad -name '*.data' | wc -l)" 3
pjsend -q --once --store=dir:nstore --spool=20K n1 2>err
is "and goes before what can be sent, the oldest first" "$(find n1/bad -name '*.data' | sort | tr '\n' ' ') $(prom n1 windows_dropped_total) $(prom n1 waiting_windows)" \
	"n1/bad/1700000210.data n1/bad/1700000240.data  3 3"
is "with its reason" "$(files n1/bad | wc -l)" 4
for e in 0 1; do chunk n2 $((1700000000 + 30 * e)) "a;$e 1"; done
pjsend -q --once --store=dir:nstore --min-free=100% n2 2>err
is "a disk that is full: recordings that are folded go first, the newest window stays" "$(files n2/out) $(prom n2 waiting_windows) $(prom n2 windows_dropped_total)" " 1 1"
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "a;%x;%d 1\n", (i * 7919) % 65521 * 65521, i * 31337 % 10007 }' >big
chunk n3 1700000000 "$(cat big)"
files n3 >before
mkdir -p n3/spool && echo 0123456789abcdef >n3/spool/recorder
(
	ulimit -f 8
	pjsend -q --once n3 2>err
	echo $? >status
)
is "no room for the spool: the recording stays, no half file" "$(cat status) $(files n3/out) $(files n3/spool)" "1 ./1700000000.data ./recorder"
pjsend -q --once n3
is "with room it goes" "$(pjfetch -q -d n3 -f 1700000000 -t 1700000100 | awk '!/^#/ { n += $NF } END { print n }')" 3000

# ---- clocks, locks
chunk q 100 'a 1'
chunk q 1700000000 'a 1'
pjsend -q --once --store=eve:http://127.0.0.1:1/cpu --timeout=5 q >out 2>err
case $(cat err) in
*'built'*) skip "a clock that was not set: what no store takes goes to bad/" "built without libcurl" ;;
*) is "a clock that was not set: what no store takes goes to bad/, the rest waits" "$(files q/bad) $(files q/out)" "./100.data
./100.data.why ./1700000000.data" ;;
esac
chunk r 1700000000 'a 1'
if have flock; then
	exec 9<r/out/1700000000.data
	flock -s 9
	pjsend -q --once r 2>err
	is "somebody reads the recording: it is sent, and stays until later" "$? $(files r/out) $(pjfetch -q -d r -f 1700000000 -t 1700000100 | tail -n 1)" "1 ./1700000000.data a 1"
	ok "  with the reason" grep -q "windows left in 'r' for the next run: 1 sent and not removed, as another process may read them" err
	exec 9<&-
	pjsend -q --once r
	is "then it goes, and is not counted twice" "$? $(files r/out) $(pjfetch -q -d r -f 1700000000 -t 1700000100 | tail -n 1)" "0  a 1"
else
	skip "somebody reads the recording" "no flock"
	skip "then it goes" "no flock"
fi

# ---- a fleet that starts together
chunk t 1700000000 'a 1'
start=$(date +%s%N)
pjsend -q --once --splay=2 --host=web18 t
took=$((($(date +%s%N) - start) / 1000000))
is "--splay: the first send is later, by the name of the host" "$? $([ $took -ge 1990 ] && echo late) $(pjfetch -q -d t -f 1700000000 -t 1700000001 | tail -n 1)" "0 late a 1"

# ---- a window that arrives while --once runs
chunk arrive 1700000000 'a 1'
chunk later 1700000030 'b 1'
pjsend -q --once --splay=4 --host=web18 arrive >out 2>err &
sending=$!
spooled() { ls arrive/spool/*.folded.*; }
ok "--once has folded its window" soon spooled
cp later/out/1700000030.data arrive/out/
wait $sending
is "  and leaves a later one: status 0" "$? $(files arrive/out) $(pjfetch -q -d arrive -f 1700000000 -t 1700000100 | tail -n 1)" "0 ./1700000030.data a 1"
same "  without a message" err /dev/null
pjsend -q --once arrive 2>err
is "  to the next run" "$? $(files arrive/out)" "0 "

# ---- nothing was sent yet
chunk unsent 1700000000 'a 1'
pjfetch -d unsent --list >out 2>err
is "pjfetch before pjsend: status" $? 1
is "  the command that helps" "$(cat err)" "pjfetch: nothing was sent from 'unsent' yet: pjsend --once -d unsent sends its windows to unsent/store"
ok "  works" pjsend -q --once -d unsent
is "  and there is the window" "$(pjfetch -q -d unsent -f 1700000000 -t 1700000100 | tail -n 1)" "a 1"

# ---- roll-ups
mkdir -p ten
base=1700002800 # a full hour
for e in 0 30 60 3540 3600; do chunk ten $((base + e)) "a;b $((e + 1))
c 1"; done
pjsend -q --once --roll-up=0 ten
pjfetch -q -d ten -f $base -t $((base + 7200)) >before
pjsend --tidy --roll-up=1 --store=dir:ten/store
is "old windows are rolled up, the parts stay for those who read" "$(files ten/store | grep -c hour) $(files ten/store | wc -l)" "1 6"
pjfetch -q -d ten -f $base -t $((base + 7200)) >after
same "with both the sum is the same" after before
find ten/store -name '*hour*' -exec touch -d '1 hour ago' {} +
pjsend --tidy --roll-up=1 --store=dir:ten/store
is "later the parts go" "$(files ten/store | wc -l)" 2
pjfetch -q -d ten -f $base -t $((base + 7200)) >after
same "the sum is still the same" after before
pjfetch -d ten -f $((base + 1800)) -t $((base + 1860)) >out 2>err
is "within a roll-up no window begins, and why is said" "$? $(grep -c 'rolled up to hours' err)" "1 1"
pjfetch -d ten -f $base -t $((base + 1800)) 2>&1 >out | grep rolled >err
is "a roll-up comes whole, and that is said" "$(cat err) $(grep -c '^a;b 3634$' out)" \
	"pjfetch: web1: windows are rolled up to hours there: the result is 2023-11-14T23:00:00Z to 2023-11-15T00:00:00Z 1"
pjfetch -d ten -f $base -t $((base + 7200)) 2>&1 >out | grep rolled >err
is "of whole hours it is not" "$(cat err)" ""
chunk ten $((base + 90)) 'a;b 100'
chunk ten $((base + 60)) 'a;b 61
c 1'
pjsend -q --once --roll-up=0 ten
is "a window that is in a roll-up is known; a late one is added" "$(files ten/store | grep -vc hour) $(pjfetch -q -d ten -f $base -t $((base + 3600)) | grep '^a;b')" "2 a;b 3734"
pjsend --tidy --roll-up=1 --store=dir:ten/store
is "and rolled up, too" "$(pjfetch -q -d ten -f $base -t $((base + 3600)) | grep '^a;b') $(pjfetch -d ten --list | head -n 1 | grep -c cycles)" "a;b 3734 1"
# ---- unknown losses
chunk lossy 1700000000 'a 1' lost=5
chunk lossy 1700000030 'a 2' unknown=1
chunk lossy 1700000060 'a 3' lost=2
pjsend -q --once --roll-up=0 lossy
# losses FROM TO: the header's losses
losses()
{
	pjfetch -q -d lossy --from="$1" --to="$2" | sed -n '1s/.*samples=[0-9]*//p'
}
is "known losses are known" "$(losses 1700000000 1700000001)" " lost=5"
is "a window of unknown losses makes those of a sum unknown, whether it comes second" "$(losses 1700000000 1700000060)" ""
is "  or first" "$(losses 1700000030 1700000090)" ""
pjsend --tidy --roll-up=1 --store=dir:lossy/store
find lossy/store -name '*hour*' -exec touch -d '1 hour ago' {} +
pjsend --tidy --roll-up=1 --store=dir:lossy/store
is "  or in a roll-up" "$(files lossy/store | wc -l) $(pjfetch -q -d lossy --from=1699999200 --to=1700002800 | head -n 1)" \
	"1 # pj unit=samples event=cycles frequency=99 from=1699999200 to=1700002800 host=web1 samples=6"

# ---- retention
chunk ten "$(date +%s)" 'now 1'
pjsend -q --once --keep-days=30 ten
files ten/store >before
pjsend --once --keep-days=30 ten 2>err
files ten/store >after
is "--once deletes nothing, and says so" "$(grep -c 'tidy does' err) $(diff before after | wc -l)" "1 0"
PJ_STORE=dir:ten/store pjsend --tidy --keep-days=30
is "retention: old days go, the newest stays" "$(ls ten/store/web1 | wc -l) $(pjfetch -q -d ten | tail -n 1)" "1 now 1"
mkdir -p ten/store/web1/2023-11-14 && : >ten/store/web1/2023-11-14/mine
pjsend --tidy --keep-days=30 --store=dir:ten/store
is "what is not ours is not touched" "$(ls ten/store/web1/2023-11-14)" mine

# ---- yesterday against today
if date -d yesterday +%s >/dev/null 2>&1; then
	for day in yesterday today; do
		more=$([ $day = today ] && echo 4000 || echo 1000)
		for minute in 08:00 08:10 08:20; do
			chunk daily "$(date -d "$day $minute" +%s)" "app;main;parse 10000
app;main;render $more"
		done
		chunk daily "$(date -d "$day 10:00" +%s)" "app;main;parse 10000
app;main;render 1000"
	done
	pjsend -q --once daily
	PJ_STORE=dir:daily/store "$top/examples/daily-regression" 08:00 09:00 >out 2>err
	is "daily-regression: what grew is named, status 3" "$? $(grep -o render out | head -n 1)" "3 render"
	mkdir -p fake
	printf '#!/bin/sh\n{ echo "$@"; cat; } >mailed\n' >fake/mail
	chmod 755 fake/mail
	PATH=$PWD/fake:$PATH MAIL=team@example.org PJ_STORE=dir:daily/store "$top/examples/daily-regression" 08:00 09:00 --host=web1 >out 2>err
	is "to MAIL it is mailed" "$? $(cat out) $(head -n 1 mailed | cut -d' ' -f2-4) $(head -n 1 mailed | grep -o '[^ ]*$') $(grep -o render mailed | head -n 1)" \
		"3  slower than on team@example.org render"
	KEEP=kept PJ_STORE=dir:daily/store "$top/examples/daily-regression" 08:00 09:00 >out 2>err
	is "each window is compared by itself, and kept with the picture" "$? $(find kept/before -type f | wc -l) $(find kept/after -type f | wc -l) $(grep -c '<svg' kept/change.svg)" "3 3 3 1"
	PJ_STORE=dir:daily/store "$top/examples/daily-regression" 10:00 11:00 >out 2>err
	is "and what did not is not, status 0" "$? $(cat out)" "0 "
	PJ_STORE=dir:daily/store "$top/examples/daily-regression" 12:00 13:00 >out 2>err
	is "nothing to compare: status 1" "$?" 1
else
	skip "daily-regression" "date knows no yesterday"
fi

# ---- a stop while pjfold runs
mkdir -p stopped stopping
cp "$(command -v pjsend)" stopped/
# fake_fold LINE: pjsend prefers the pjfold beside it
fake_fold()
{
	printf '#!/bin/sh\necho run >>"%s/stopping/log"\n%s\n' "$scratch" "$1" >stopped/pjfold
	chmod 755 stopped/pjfold
	: >stopping/log
}

# state: nothing was sent, nothing put into bad/, the failures that were counted, and what was printed
state()
{
	echo "out: $(ls stopping/out) bad: $(files stopping/bad) failures: $(prom stopping fold_failures_total) $(cat err)"
}
left="pjsend: windows left in 'stopping' for the next run: 1 not folded"
chunk stopping 1700000000 'a;b 1'
for once in '' --once; do
	fake_fold 'exec sleep 30'
	# shellcheck disable=SC2086 # an option, or none
	stopped/pjsend -q $once stopping 2>err &
	pid=$!
	soon [ -s stopping/log ]
	before=$(date +%s)
	kill -TERM $pid
	wait $pid
	ok "pjsend $once stops in time while pjfold runs" [ $(($(date +%s) - before)) -le 3 ]
	is "  which is no failure of the fold" "$(state)" "out: 1700000000.data bad:  failures: 0 $left"
	# as Ctrl-C and systemctl stop: the signal is for pjfold, too, which can end first
	for line in 'kill -TERM $PPID $$' '(sleep 0.03; kill -TERM $PPID) & kill -TERM $$' '(sleep 0.03; kill -TERM $PPID) & exit 1'; do
		fake_fold "$line"
		# shellcheck disable=SC2086
		stopped/pjsend -q $once stopping 2>err
		is "pjsend $once, and pjfold by '$line'" "$(state)" "out: 1700000000.data bad:  failures: 0 $left"
	done
done
fake_fold 'kill -TERM $$'
stopped/pjsend -q --once --splay=0 stopping 2>err
is "a signal for pjfold alone is a failure" "$(state)" \
	"out: 1700000000.data bad:  failures: 1 pjsend: window 1700000000 cannot be folded yet: pjfold ended by signal 15
$left"
pjsend -q --once stopping 2>err
is "and the next pjsend folds the window" "$? $(state) $(pjfetch -q -d stopping -f 1700000000 -t 1700000001 | tail -n 1)" "0 out:  bad:  failures: 1  a;b 1"

# ---- the rest
pjsend --schema --store=dir:x >out 2>err
is "a directory needs no schema" "$?" 1
mkdir -p astray
pjsend --once astray >out 2>err
is "a directory into which nobody records is said" "$? $(grep -c "'astray/out' does not exist" err)" "0 1"
pjsend --once --store=ftp:x d >out 2>err
is "no such store: status 2" "$?" 2
chunk far 99999999999 'a 1'
pjsend -q --once far 2>err
pjsend -q --store=dir:far/store --time=4294967296 - <one 2>>err
is "a time that no store can tell is refused, not hidden" "$? $(files far/bad | head -n 1) $(files far/store | wc -l) $(wc -l <err)" "1 ./99999999999.data 0 2"
pjsend --once --store=couch:http://joe:s3cret@localhost/pj d >out 2>err
is "a password in a URL is refused, and not printed" "$? $(cat out err | grep -c s3cret)" "2 0"
ln -s /tmp s && mkdir -p linked && ln -s "$scratch/d" linked/spool
pjsend --once linked >out 2>err
is "a spool that is a link is refused" "$? $(grep -c refused err)" "1 1"

done_testing
