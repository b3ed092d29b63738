#!/bin/sh
# record-jvms.t - pjrecord --unwind=tables where it is not alone: many JVMs at once, on a host with more work than CPUs; those that begin, end and
# become another program meanwhile; one whose memory nobody can read. Nothing is lost, and no stack waits in vain.
# stage: live
# full: starts many JVMs on a host that is too busy
# covers: record/java/javacode.c record/java/jvmreader.c record/java/jvmbuilds.c record/unwind/unwinder.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME

[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
{ have pjrecord && have pjfold; } || skip_all "pjrecord or pjfold is not built"
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
timeout 60 pjrecord -v -o data --unwind=tables -- true >/dev/null 2>said || skip_all "perf events are not allowed here: $(head -n 1 said)"

# ---- priority --------------------------------------------------------------------------------------------------------

# nice_of PID: its nice value, which is the 19th field
nice_of()
{
	sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '{ print $17 }'
}

# child_of PID NAME
child_of()
{
	for task in "/proc/$1/task"/*/children; do
		for child in $(cat "$task" 2>/dev/null); do
			[ "$(cat "/proc/$child/comm" 2>/dev/null)" = "$2" ] && echo "$child"
		done
	done
}

there()
{
	maker=$(child_of $recorder pjrecord-table | head -n 1) # one for each tenant
	keeper=$(child_of $recorder pjrecord-keeper)
	command=$(child_of $recorder sh)
	[ -n "$maker" ] && [ -n "$keeper" ] && [ -n "$command" ]
}

# slice_of PID: ns that it may run before others
slice_of()
{
	awk '$1 == "se.slice" { print $3 }' "/proc/$1/sched" 2>/dev/null
}

# each FUNCTION: of the recorder, who makes tables, who keeps symbols, and the command
each()
{
	echo "$("$1" $recorder) $("$1" "$maker") $("$1" "$keeper") $("$1" "$command")"
}

# priorities HOW: their nice values; slices: into a file, as soon as they may be
priorities()
{
	"$@" pjrecord -v --unwind=tables -d windows -- sh -c 'while :; do :; done' >/dev/null 2>said &
	recorder=$!
	started="$started $recorder"
	until_true there
	seen=$(each nice_of)
	each slice_of >slices
	kill "$command" $recorder 2>/dev/null
	wait $recorder
	echo "$seen"
}

mine=$(nice_of $$)
if [ "$mine" != 0 ]; then
	skip "priority" "this test runs at nice $mine"
elif [ -n "$(nice -n -20 true 2>&1)" ]; then
	skip "priority is raised" "not allowed here"
else
	is "priority: the recorder's, that of the process that parses unwind tables at first, no other's" "$(priorities env)" "-20 -15 0 0"
	is "  as it was wanted, when another one was" "$(priorities nice -n 3)" "3 3 3 3"
	usual=$(slice_of $$)
	if [ -z "$usual" ] || [ "$(uname -r | awk -F. '{ print 100 * $1 + $2 }')" -lt 612 ]; then
		skip "slices" "Linux has them since 6.12"
	else
		is "  slices, too" "$(cat slices)" "$usual $usual $usual $usual"
		priorities env >/dev/null
		is "  the recorder's are short, no other's" "$(cat slices)" "100000 $usual $usual $usual"
		is "  also of one that was started as urgent: it stays so" "$(priorities nice -n -10) $(cat slices)" "-10 -10 0 -10 100000 $usual $usual $usual"
	fi
fi

# ---- a JVM with memory that is never filled in ---------------------------------------------------------------------------
#
# /proc/PID/mem fails there; memory of a file system that does not answer blocks the reader: test/hostile/jvm-reader.t

helper=${PJ_BUILD:-$top/build/std-cc}/test/record/jvm
[ -x "$helper" ] || skip_all "test/record/jvm is not built (make tests)"

# ticks PID: of time that it used; 100 are a second
ticks()
{
	sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '{ print $12 + $13 }'
}

# used PID TICKS SINCE
used()
{
	now=$(ticks "$1")
	[ $((${now:-0} - $3)) -ge "$2" ]
}

# uses PID TICKS: waits until it has used so much more time
uses()
{
	until_true used "$1" "$2" "$(ticks "$1")"
}

# is_read RECORDER PID: its memory is open in the process that reads JVMs
is_read()
{
	reader=$(child_of "$1" pjrecord-jvm)
	[ -n "$reader" ] && [ -n "$(find "/proc/$reader/fd" -lname "/proc/$2/mem" 2>/dev/null)" ]
}

ended()
{
	! kill -0 "$1" 2>/dev/null
}

# finish RECORDER: sets its status
finish()
{
	kill -INT "$1"
	wait "$1"
	status=$?
}

cc -O2 -o spin -x c - <<-'C'
	static volatile unsigned long n;
	int main(void) { for (;;) n++; }
C
: >hang.out
"$helper" . hang >hang.out 2>&1 &
hang=$!
started="$started $hang"
until_true grep -qE 'runs|SKIP' hang.out
if grep -q SKIP hang.out; then
	skip "a JVM with memory that is never filled in" "$(sed -n 's/^SKIP //p' hang.out)"
else
	./spin &
	spin=$!
	started="$started $spin"
	pjrecord -v -o data -F 499 --unwind=tables -p $hang,$spin >/dev/null 2>said &
	recorder=$!
	started="$started $recorder"
	ok "a JVM with memory that is never filled in: it is read at first" until_true is_read $recorder $hang
	uses $hang 100
	begin=$(ticks $spin)
	kill -USR1 $hang
	ok "  then a page of it is never filled in" until_true grep -q hangs hang.out
	uses $spin 200
	end=$(ticks $spin)
	finish $recorder
	is "  the recording ends" $status 0
	ok "  nothing is lost" not grep -q 'lost' said
	pjfold -q data >folded
	# of a second's 499 samples nearly all; the clock of ticks is coarse
	ok "  other processes were sampled meanwhile" awk -v ticks=$((end - begin)) '/^spin;/ { n += $NF } END { print n, ticks; exit !(ticks >= 100 && n >= .8 * 4.99 * ticks) }' folded
	kill -9 $hang $spin
fi

# ---- processes that become another program ------------------------------------------------------------------------------

# whole THREADS PERCENT: so much of the stacks of threads that are called so (an awk pattern) is, of at least 100
whole()
{
	pjfold -q --root=thread --stacks data 2>&1 | awk -v threads="$1" -v least="$2" '
		$NF != "(all)" && $NF ~ threads { seen += $1; at += $1 * $2 } END { print seen, at / (seen ? seen : 1); exit !(seen >= 100 && at >= least * seen) }'
}

cc -O2 -fomit-frame-pointer -o plain "$top/test/lib/loads/load.c"
: >exec.out
"$helper" . exec ./plain 2000 >exec.out 2>&1 &
jvm=$!
started="$started $jvm"
until_true grep -qE 'runs|SKIP' exec.out
if grep -q SKIP exec.out; then
	skip "a JVM that becomes another program" "$(sed -n 's/^SKIP //p' exec.out)"
else
	pjrecord -v -o data -F 499 --unwind=tables -p $jvm >/dev/null 2>said &
	recorder=$!
	started="$started $recorder"
	until_true is_read $recorder $jvm
	kill -USR1 $jvm
	wait $recorder # until it ended
	is "a JVM that becomes another program: the recording ends with it" $? 0
	ok "  and the program's stacks are complete" whole '^plain$' 97
	ok "  of the JVM, nothing is said" not grep -q 'cannot be read' said
fi

if [ -z "$jdks" ] || [ -z "$javac" ]; then
	skip "a shell that becomes a JVM" "no JDK below /usr/lib/jvm (PJ_JDKS)"
else
	need_jdk "$top/test/lib/loads/Load.java"
	for jdk in $jdks; do
		# shellcheck disable=SC2016 # the inner shell's
		pjrecord -v -o data -F 499 --unwind=tables -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; exec "$@"' - "$jdk/bin/java" -cp . Load mixed 4 >/dev/null 2>said
		ok "a shell that becomes a JVM: stacks of ${jdk##*/} are whole from its first moment to its last" whole '^load-' 90
	done
fi

# ---- many at once --------------------------------------------------------------------------------------------------------

# said_number WHAT: in the line of the recorder, 0 if it is not there
said_number()
{
	sed -n "s/.*[ ;]\([0-9,]*\) $1.*/\1/p" said | tr -d , | grep . || echo 0
}

# start_small N: so many JVMs that want all CPUs, each in another JDK than the one before
start_small()
{
	for i in $(seq "$1"); do
		# shellcheck disable=SC2086 # a list
		set -- $jdks
		shift $((i % $#))
		"$1/bin/java" -Xmx16m -XX:+UseSerialGC -cp . Small >>small.out 2>&1 &
		started="$started $!"
		last=$!
	done
}

# run_small N: so many of them have begun
run_small()
{
	[ "$(grep -c runs small.out)" -ge "$1" ]
}

if [ "$mine" != 0 ] || [ -n "$(nice -n -20 true 2>&1)" ] || [ "$(id -u)" != 0 ]; then
	skip "many JVMs at once" "priority may not be raised here"
elif [ -n "$jdks" ] && [ -n "$javac" ]; then
	cat >Small.java <<-'J'
		public class Small {
			static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
			public static void main(String[] a) {
				java.util.HashMap<String, Integer> m = new java.util.HashMap<>();
				for (long round = 0; ; round++) {
					fib(16);
					for (int i = 0; i < 200; i++) m.merge("k" + i % 50, i, Integer::sum);
					if (round == 100) System.out.println("runs");
				}
			}
		}
	J
	need_jdk Small.java
	: >small.out
	start_small 10
	until_true run_small 10
	pjrecord -v -a -o data -F 499 --unwind=tables >/dev/null 2>said &
	recorder=$!
	started="$started $recorder"
	until_true is_read $recorder "$last"
	start_small 10
	until_true run_small 20
	uses "$last" 50
	finish $recorder
	is "20 JVMs, 10 of which begin meanwhile, at a load of 20: the recording ends" $status 0
	ok "  nothing is lost" not grep -q 'lost' said
	stacks=$(sed -n 's/.* % of \([0-9,]*\) stacks are complete.*/\1/p' said | tr -d ,)
	late=$(said_number 'waited in vain')
	ok "  few stacks wait in vain for their JVMs: $late of $stacks" test $((late * 50)) -le "${stacks:-0}"
	ok "  nearly all of the JVMs are whole" whole '^java$' 90
fi
done_testing
