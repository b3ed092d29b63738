#!/bin/sh
# perfdata.t - the reader of perf.data against perf: files of all layouts (test/fold/perfdata/write), record by record.
#
# What is compared are `perf script -D` (every record, in order, with all its parts) and what perf script prints of each sample (event
# and period). PJ_PERF names the perf to use. perf 6.1 cannot read COMPRESSED2 or large attrs: there our own reading of the same records
# is the truth.
# full-san: 50 s with sanitizers
# covers: fold/perfdata/perfdata.c fold/perfdata/perfread.c fold/perfdata/perfopen.c fold/perfdata/perfrecords.c
# covers: fold/perfdata/perfevents.c fold/perfdata/perffeatures.c fold/perfdata/perforder.c fold/perfdata/perfbytes.c
# covers: fold/perfdata/zstdstream.c fold/info.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
export LC_ALL
perf=${PJ_PERF:-perf}
build=${PJ_BUILD:-$top/build/std-cc}
write=$build/test/fold/perfdata/write
dump=$build/test/fold/perfdata/dump
if [ ! -x "$write" ] || [ ! -x "$dump" ]; then
	echo "1..0 # SKIP the writer is not built"
	exit 0
fi

# perf script -D as dump writes it. has_cpu, has_time: of the sample_type.
cat >perf.awk <<'END'
# of samples with known counters those that perf printed: where nothing was counted, it does not
function show(line)
{
	if (held) block = block line "\n"
	else print line
}
/^[-0-9 ]*0x[0-9a-f]+ \[0x[0-9a-f]+\]: PERF_RECORD_/ {
	section = block = ""
	held = 0
	match($0, /: PERF_RECORD_/)
	left = substr($0, 1, RSTART - 1)
	rest = substr($0, RSTART + RLENGTH)
	n = split(left, part, " ")
	offset = part[n - 1]
	time = cpu = -1
	if (n == 4) { cpu = part[1]; time = part[2] }
	else if (n == 3 && has_time) time = part[1]
	else if (n == 3) cpu = part[1]
	if (!has_time || time == -1) time = 0
	if (!has_cpu) cpu = -1
	match(rest, /^[A-Z0-9_]+/)
	kind = substr(rest, 1, RLENGTH)
	rest = substr(rest, RLENGTH + 1)
	who = "-"
	if (kind == "SAMPLE") {
		gsub(/[(),:]/, " ", rest)
		split(rest, f, " ")
		sub(/^0x/, "", f[2]); sub(/^0x/, "", f[4])
		held = counted
		line = "SAMPLE " f[3] " " time " cpu " cpu " @" offset " misc " f[2] " ip " f[4]
		if (f[5] == "period" && !reads) line = line " period " f[6]
		for (i = 5; i < 12; i++) if (f[i] == "addr") line = line " addr " (f[i + 1] == "0" ? "0" : substr(f[i + 1], 3))
		show(line)
		next
	}
	if (kind == "MMAP" || kind == "MMAP2") {
		kind = "MMAP"
		match(rest, /[-0-9]+\/[-0-9]+/)
		who = substr(rest, RSTART, RLENGTH)
		rest = substr(rest, index(rest, "["))
		sub(/\]: [^ ]+ /, "]: ", rest)
		sub(/ 00:00 0 0\]/, "]", rest)
		rest = " " rest
	} else if (kind == "COMM") {
		match(rest, /:[-0-9]+\/[-0-9]+$/)
		who = substr(rest, RSTART + 1)
		rest = substr(rest, 1, RSTART - 1)
	} else if (kind == "FORK" || kind == "EXIT") {
		who = rest
		gsub(/\):.*|\(/, "", who)
		sub(/:/, "/", who)
	} else if (kind == "LOST") {
		sub(/.*lost:/, " ", rest)
		rest = rest " records"
	} else if (kind == "LOST_SAMPLES") {
		kind = "LOST"
		sub(/.*samples :/, " ", rest)
		rest = rest " samples"
	} else if (kind == "THROTTLE") {
		rest = ""
	} else if (kind == "CGROUP") {
		sub(/ cgroup:/, "", rest)
	} else if (kind == "KSYMBOL") {
		sub(/flags 0x0/, "gone 0", rest)
		sub(/flags 0x1/, "gone 1", rest)
	} else if (kind == "NAMESPACES") {
		split(rest, f, " ")
		who = f[1]
		wait = 2
		line = kind " " who " " time " cpu " cpu " @" offset
		next
	} else next
	print kind " " who " " time " cpu " cpu " @" offset rest
	next
}
wait {
	while (match($0, /\/(0x[0-9a-f]+|0)[],]/)) {
		line = line " " substr($0, RSTART + 1, RLENGTH - 2)
		$0 = substr($0, RSTART + RLENGTH)
	}
	if (--wait == 0) print line
	next
}
/^\.\.\. FP chain/ { section = "ip"; next }
/^\.\.\. branch stack/ { section = "branch"; next }
/^\.\.\. user regs/ { section = "reg"; next }
/^\.\.\. ustack: size/ { sub(/,/, "", $4); if ($4 != 0) show("\tstack " $4); section = ""; next }
/^\.\.\. / { section = ""; next }
/^\.\.\.\.\. +[0-9]+: / && section == "ip" { sub(/:/, "", $2); show("\tip " $2 " " $3); next }
/^\.\.\.\.\. +[0-9]+: / && section == "branch" { sub(/:/, "", $2); show("\tbranch " $2 " " $3 " " $5); next }
/^\.\.\.\. [A-Z0-9]+ +0x/ && section == "reg" { show("\treg " $3); next }
/^ +[0-9]+ +[^ ]+: *$/ { printf "%s", block; block = "" }
END
# dump's text, without what perf does not say; a sample that became several once
cat >ours.awk <<'END'
/^SAMPLE/ {
	again = $6 == last
	last = $6
	sub(/ event .*/, "")
	if (reads) sub(/ period [0-9]+/, "")
	if (!again) print
	next
}
/^[A-Z]/ { last = again = ""; if ($1 ~ /^(LOST|THROTTLE|CGROUP|KSYMBOL)$/) $2 = "-"; print; next }
!again
END

# made OPTION...: the file of these options is in f.data; ours: dump's text of it
made()
{
	"$write" "$@" >f.data 2>write.err && "$dump" f.data >ours 2>ours.err && [ ! -s ours.err ]
}

bit()
{
	echo $((($1 >> $2) & 1))
}

# agrees OPTION...: both read the same
compared=0
agrees()
{
	type=0x1e7
	format=4
	for o in "$@"; do
		case $o in
		sample=*) type=$((${o#*=})) ;;
		read=*) format=$((${o#*=})) ;;
		esac
	done
	if ! made "$@"; then
		if grep -q 'built without libzstd' write.err; then
			skip "$*" "built without libzstd"
		else
			fail "$*" write.err ours.err
		fi
		return
	fi
	if ! "$perf" script -D -F event,period -i f.data >text 2>text.err; then
		skip "$*" "perf cannot read it: $(grep . text.err | head -n 1)"
		return
	fi
	reads=$(bit $((type)) 4)
	awk -v has_time="$(bit $((type)) 2)" -v has_cpu="$(bit $((type)) 7)" -v reads="$reads" \
		-v counted=$((reads && $(bit $((format)) 2))) -f perf.awk text >want
	awk -v reads="$reads" -f ours.awk ours >got
	case "$*" in
	*zstd* | *pipe=1*) # places: perf counts them in another way there
		sed -i 's/ @0x[0-9a-f]*//' want got
		;;
	esac
	# a sample for each counter; perf drops those whose counter it does not know
	if [ "$reads" = 0 ] || [ "$(bit $((format)) 2)" = 1 ]; then
		awk '/^ +[0-9]+ +[^ ]+: *$/ { sub(/: *$/, ""); print "\tcounted " $1 " " $2 }' text >>want
		awk '/^SAMPLE/ { for (i = 1; i <= NF; i++) { if ($i == "period") p = $(i + 1); if ($i == "event") print "\tcounted " p " " $(i + 1) } }' ours >>got
	fi
	if ! grep -q '^SAMPLE' want; then
		fail "$*: perf shows no sample" text.err text
		return
	fi
	compared=$((compared + 1))
	same "$*" want got
}

if "$perf" --version >/dev/null 2>&1; then
	small="samples=12 rounds=3"
	# each part of a sample, alone and with all before it
	bits=7
	for b in 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do
		# shellcheck disable=SC2086 # options
		agrees "sample=$(printf %#x $((0x107 | 1 << b)))" $small
		[ $b = 24 ] || bits=$((bits | 1 << b))
		# shellcheck disable=SC2086
		agrees "sample=$(printf %#x $bits)" seed=$b $small
	done
	for sample in 0x1 0x2 0x4 0x6 0x7 0x20 0x10004 0x106 0x187; do
		# shellcheck disable=SC2086
		agrees sample=$sample $small
		# shellcheck disable=SC2086
		agrees sample=$sample idall=0 $small
	done
	for read in 4 5 6 7 12 13 14 15 20 28 31; do # perf reads none without ids (4)
		# shellcheck disable=SC2086
		agrees sample=0x1f7 read=$read events=3 $small
	done
	for events in 2 3 5; do
		for sample in 0x1e7 0x101a7 0x10127 0x1ffef; do
			for idall in 0 1; do
				# shellcheck disable=SC2086
				agrees events=$events sample=$sample idall=$idall $small
			done
		done
	done
	agrees events=2 sample=0x10107 mixed=1
	agrees sample=0x927 branch=0x20000
	agrees sample=0x927 branch=0x0
	agrees sample=0x3127 regs=0x10000
	for attr in 64 72 80 88 96 104 112 120 128; do
		agrees attr=$attr sample=0x1e7 events=2
		agrees attr=$attr pipe=1 desc=0
	done
	for rounds in 0 1 2 9; do
		agrees rounds=$rounds cpus=8 events=2
		agrees rounds=$rounds cpus=3 events=2 pipe=1
	done
	agrees names=0 events=5
	agrees names=0 events=5 pipe=1
	agrees desc=0
	for sample in 0x107 0x1e7 0x10167 0xffffff; do
		agrees pipe=1 sample=$sample events=1
		agrees pipe=1 sample=$((sample | 0x10000)) events=3 read=15
		agrees zstd=1 sample=$sample events=1
		agrees zstd=1 sample=$((sample | 0x10000)) events=3 rounds=9 cpus=4
	done
	agrees pj=1
	agrees pj=1 pipe=1 events=2
	agrees zstd=1 samples=1500 rounds=2
	agrees zstd=1 pipe=1
	echo "# $compared files were compared with $("$perf" --version)"
else
	skip "against perf" "perf is not installed"
fi

# ---- what perf 6.1 does not read: against the plain file of the same records ---------------------------------------

# alike OPTION...: as without the last option, but for places
alike()
{
	if ! made "$@"; then
		fail "$*" ours.err
		return
	fi
	sed 's/ @0x[0-9a-f]*//' ours >got
	what=$*
	first=$1
	shift
	made "$@" || fail "$*: plain" ours.err
	sed 's/ @0x[0-9a-f]*//' ours >want
	ok "$what: $first: there are samples" grep -q ^SAMPLE want
	same "$what: as without $first" want got
}

if "$write" zstd=1 >/dev/null 2>&1; then
	alike zstd=1 samples=1500 rounds=2
	alike zstd=2 samples=300
	alike zstd=2 samples=300 pipe=1
	alike zstd=3 samples=40
	alike zstd=3 samples=9000 rounds=2 chain=40 "sample=0x1ef"
	alike zstd=3 samples=9000 rounds=2 chain=40 pipe=1
else
	skip "compressed" "built without libzstd"
	"$dump" "$top/test/corpus/perfdata/packed.data" >got 2>err
	is "without libzstd: status" "$?" 1
	ok "without libzstd: told" grep -q 'packed.data@[0-9]*: compressed by zstd.*install libzstd-dev' err
fi
alike misled=1
alike attr=200 events=3
alike attr=136 pipe=1
ok "strange records are counted" sh -c "'$write' strange=1 >s.data; '$dump' --count s.data | grep -q 'unknown [1-9].* bad 0'"

for read in 0 3 8 11 16; do
	made sample=0x1f7 read=$read
	is "counters without ids, read_format $read: all samples" "$(grep -c ^SAMPLE ours)" 320
done
made deferred=1
ok "deferred callchains" grep -q '^DEFERRED.* cookie 1234 fffffffffffffe00 400100 400200' ours
ok "and the samples they belong to" grep -q "^	cookie 1234" ours

# ---- what a file says of itself ---------------------------------------------------------------------------------------

if "$perf" --version >/dev/null 2>&1 && have pjfold; then
	"$write" events=3 >f.data
	"$perf" report --header-only -i f.data 2>err | awk -f "$top/test/lib/header.awk" | sort >want
	pjfold --info f.data 2>>err | awk -v ours=1 -f "$top/test/lib/header.awk" | sort >got
	same "--info says what perf's header says" want got
	is "  all of it" "$(cut -d' ' -f1 got | uniq -c | awk '{ print $2 "=" $1 }' | paste -sd,)" \
		"command=1,cpu=1,cpus=1,event=3,host=1,kernel=1,machine=1,memory=1,perf=1"
else
	skip "--info says what perf's header says" "perf is not installed"
fi

# ---- streams --------------------------------------------------------------------------------------------------------

"$write" events=2 >f.data
"$dump" f.data >want
"$dump" - <f.data >got
same "standard input" want got
# shellcheck disable=SC2002 # a pipe is wanted
cat f.data | "$dump" - >got
same "a file through a pipe" want got
gzip -c f.data >f.gz
"$dump" f.gz >got
same "gzip" want got
"$dump" --info f.data >want
"$dump" --info f.gz >got
same "gzip: what it says of itself" want got
{ printf 12345; cat f.data; } >behind.data
(dd bs=1 count=5 >/dev/null 2>&1; "$dump" - >got) <behind.data
"$dump" f.data >want
same "standard input that stands behind something else" want got
"$write" pipe=1 events=2 >f.data
"$dump" f.data >want
# shellcheck disable=SC2002
cat f.data | "$dump" - >got
same "pipe mode through a pipe" want got
mkfifo fifo
cat f.data >fifo &
"$dump" fifo >got
same "a FIFO" want got
gzip -c f.data | "$dump" - >got
same "pipe mode, gzip" want got

# ---- more waits than may --------------------------------------------------------------------------------------------

"$write" pipe=1 rounds=0 cpus=1 samples=480000 chain=24 sample=0x27 | "$dump" --count - >got
ok "80 MB without rounds, in order" grep -q 'bad 0 late 0$' got
is "80 MB: all samples" "$(grep SAMPLE got)" "SAMPLE 480000"
"$write" pipe=1 rounds=0 cpus=8 samples=60000 chain=24 sample=0x27 | "$dump" --count - >got
ok "80 MB without rounds, not in order: told" grep -q 'bad 0 late [1-9]' got
is "and all samples are there" "$(grep SAMPLE got)" "SAMPLE 480000"

# ---- damage -------------------------------------------------------------------------------------------------------------

"$write" killed=1 >killed.data
"$dump" --count killed.data >got 2>&1
is "killed: all is read" "$(cat got)" "$("$write" desc=0 | "$dump" --count - | sed 's/ late 0/& unfinished/')"
# what pjrecord writes in front of the data is there without what is behind it
"$write" pj=1 >whole.data
"$write" pj=1 killed=1 >killed.data
pjfold --info whole.data >whole.info 2>err
pjfold --info killed.data >killed.info 2>err
for key in host kernel pjrecord boot window clock event; do
	is "killed: $key is known" "$(grep "^$key " killed.info)" "$(grep "^$key " whole.info)"
done
ok "killed: not what is known at the end only" not grep -q '^loss\|^idle\|^kallsyms' killed.info
truncate -s 1200 killed.data # the data begins behind
pjfold --info killed.data >cut.info 2>err
ok "killed before the data: the table is not cut, or told" sh -c 'grep -q "^window" cut.info || grep -q truncated err'
"$write" >f.data
size=$(wc -c <f.data)
whole=$("$dump" --count f.data | awk '/SAMPLE/ { print $2 }')
for part in 10 30 50 70 90; do
	head -c $((size * part / 100)) f.data >cut.data
	"$dump" --count cut.data >got 2>err
	ok "cut at $part %: told, and what is there is read" awk -v part="$part" -v whole="$whole" '
		/^SAMPLE/ { samples = $2 } /unfinished/ { told = 1 }
		END { exit !(told && samples > whole * (part - 10) / 100 && samples < whole) }' got
done

# refused TEXT: dump ends with status 1 and says so
refused()
{
	"$dump" f.data >got 2>err
	is "refused: $1: status" "$?" 1
	ok "refused: $1" grep -q "^dump: f.data: .*$1" err
}
{ printf 2ELIFREP; "$write" | tail -c +9; } >f.data
refused 'other byte order'
{ printf PERFFILE; "$write" | tail -c +9; } >f.data
refused 'version 1'
printf PERFILE2 >f.data
refused 'ends in its header'
"$write" | head -c 60 >f.data
refused 'ends in its header'
{ printf PERFILE2; head -c 96 /dev/zero; } >f.data
refused 'damaged header'
# sparse: sizes that are there, and nothing in them
"$write" killed=1 | head -c 400 >sparse.data
truncate -s 100G sparse.data
"$dump" --count sparse.data >got 2>err
ok "a sparse file of 100 GB: told, and over soon" grep -q 'bad 1 .* unfinished' got
# attrs.size, and the size of the first event's ids
for at in 32 256; do
	"$write" killed=1 | head -c 400 >sparse.data
	printf '\0\0\0\0\020\0\0\0' | dd of=sparse.data bs=1 seek=$at conv=notrunc 2>err
	truncate -s 100G sparse.data
	timeout 20 "$dump" --count sparse.data >got 2>err
	is "a sparse file with 64 GB of events or ids ($at)" "$?" 0
done
rm sparse.data
mkdir threads.data
: >threads.data/data.0
ok "a directory of perf record --threads" sh -c "! '$dump' threads.data 2>&1 | grep -v 'perf record --threads'"
done_testing
