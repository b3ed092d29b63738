#!/bin/sh
# bombs.t - inputs of a few MB that would take hours, or all memory, if anything grew faster than the input (test/fold/perfdata/bomb).
#
# Each takes a second or two. The limits are far above that, and far below what it took when the input was found.
# full: large inputs, 20 s of CPU time
# covers: fold/recording.c fold/perfdata/perfrecords.c fold/perfdata/perforder.c fold/perfdata/perfbytes.c fold/perfdata/perfdata.c fold/process/maps.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL
bomb=${PJ_BUILD:-$top/build/std-cc}/test/fold/perfdata/bomb
[ -x "$bomb" ] || skip_all "the writer is not built"
have timeout || skip_all "timeout is not installed"

# survived NAME STATUS FILE...: pjfold ends with that status, within its limits
survived()
{
	name=$1
	want=$2
	shift 2
	(
		# of processor time, as that of the wall depends on others; sanitizers are slower, and need all addresses
		# shellcheck disable=SC3045 # what is missing in POSIX is in every sh that we know
		case ${PJ_BUILD:-} in *san*) ;; *) ulimit -v 2000000 && ulimit -t 15 ;; esac
		timeout 180 pjfold "$@" >out 2>err
		echo $? >status
	)
	read -r status <status
	if [ "$status" = "$want" ]; then pass "$name"; else
		echo "status $status" >>err
		fail "$name" err
	fi
}

"$bomb" maps >f.data
survived "a million mappings, each before all others" 0 -q f.data
"$bomb" forks >f.data
survived "50000 children of a process with 20000 mappings map something" 0 -q f.data
is "  and each is seen" "$(awk '{ n += $NF } END { print n }' out)" 50000
"$bomb" storm >f.data
survived "300000 processes, one after the other" 0 -q f.data
is "  all are seen" "$(cat out)" "short;[short] 300000"
case ${PJ_BUILD:-} in *san*) ;; *) ok "  in 60 MB" sh -c 'ulimit -v 60000 && pjfold -q f.data | cmp - out' ;; esac
"$bomb" aux >f.data
survived "300 blocks of AUX area data" 0 -q f.data
is "  the samples around them" "$(awk '{ n += $NF } END { print n }' out)" 2
case ${PJ_BUILD:-} in *san*) ;; *) ok "  in 60 MB" sh -c 'ulimit -v 60000 && pjfold -q f.data | cmp - out' ;; esac
"$bomb" build-ids >f.data
survived "400000 files, and as many build-ids" 0 -q f.data
if "$bomb" zstd 1 >/dev/null 2>&1; then
	"$bomb" zstd >f.data
	survived "4 GB in 400 kB" 1 f.data
	ok "  are told" grep -q 'f.data@[0-9]*: compressed data exceed the limit' err
else
	skip "4 GB in 400 kB" "built without libzstd"
fi
{ "${bomb%/bomb}/write" killed=1 | head -c 400 | gzip -c; head -c 64M /dev/zero | gzip -1c >zero.gz; } >f.data.gz
# shellcheck disable=SC2034 # sixteen times
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do cat zero.gz zero.gz zero.gz zero.gz; done >>f.data.gz
survived "4 GB of nothing in 18 MB of gzip" 1 f.data.gz
ok "  are told" grep -q "'f.data.gz' decompresses to more than 200 times its size" err
rm -f f.data.gz zero.gz
"$bomb" storm 2000 >f.data
mkdir many
ok "2000 slices with 12 descriptors" sh -c 'ulimit -n 12 && exec pjfold -q --time-slice 0.0001 -o "many/%s" f.data'
is "  each is a file" "$(find many -type f | wc -l) $(cat many/* | awk '{ n += $NF } END { print n }')" "2000 2000"
rm -rf many
"$bomb" script >f.script
survived "text of half a million events" 0 -q f.script

"$bomb" collide >f.folded
survived "300000 names that collide, if hashes can be foreseen" 0 -q f.folded
is "  each is a frame" "$(wc -l <out)" 300000

# a line of a perf map that says of one address that a thousand functions were inlined there
awk 'BEGIN { printf "x 7 1.5: cycles: \n\t  401000 a"; for (i = 0; i < 1000; i++) printf "->b"; print "+0x1 (/tmp/perf-7.map)\n" }' >f.script
survived "a thousand inlined functions in one line" 0 f.script
is "  are no thousand frames" "$(tr -cd ';' <out | wc -c)" 101
awk 'BEGIN { printf "# pj"; for (i = 0; i < 200000; i++) printf " host=%06d", i; print "\na;b 1" }' >f.folded
survived "200000 hosts in a header" 0 -q f.folded
is "  and its stack" "$(grep -v '^#' out)" "a;b 1"
awk 'BEGIN { printf "x 7 1.5: cycles: \n\t  401000 "; for (i = 0; i < 2000000; i++) printf "a["; print "+0x1 (/x)\n" }' >f.script
survived "a name of four million bytes, as of Rust without an end" 0 -q f.script
# what a program can be made of, whose samples somebody else folds
evil()
{
	rm -rf root
	mkdir root
	"$bomb" "$1-elf" >root/evil
	"$bomb" "$1" >f.data
}
evil names
survived "30000 functions whose names are the ends of one" 0 -q --symfs root f.data
ok "  some have one" grep -q 0000003_ out
evil aliases
survived "200000 names of one function" 0 -q --symfs root f.data
ok "  it has one" grep -q _ out
evil walk
survived "6000 stacks through expressions of a thousand operations" 0 -q --symfs root f.data
evil rows
survived "a row for each byte of instructions" 0 -q --symfs root f.data
done_testing
