#!/bin/sh
# interpreters.t - the default of --interpreters, auto: functions with the right to real-time priority, else one line with the advice, once an
# interpreter was sampled. pjflame and pjprofile leave it to pjrecord and pass what the user chooses. A stub in place of pjrecord logs its arguments.
# stage: live
# covers: flame/words.sh flame/record.sh flame/life.sh record/pjrecord.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/record.sh
. "$(dirname "$0")/../lib/record.sh"
LC_ALL=C
export LC_ALL

have pjflame || skip_all "pjflame is not built"
[ "$(id -u)" = 0 ] || skip_all "the default is that of root"
have setpriv || skip_all "no setpriv"

# The scripts take the tools beside them: those with a stub, and the real ones where every user may execute them.
chmod 755 .
mkdir stub real
mkdir -m 777 open
for tool in pjflame pjprofile pjrecord pjmap pjfold pjsvg; do
	cp "$(command -v $tool)" stub/
	cp "$(command -v $tool)" real/
done
cat >stub/pjrecord <<'END'
#!/bin/sh
case " $* " in *' --version '*) exit ;; esac # pjflame has its options checked
printf '%s\n' "$@" >"${0%/*}/../open/log"
exit 3
END
chmod 755 stub real stub/* real/*

as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
without_nice() { setpriv --bounding-set=-sys_nice --inh-caps=-all "$@"; }

# passes WANT NAME COMMAND...: pjrecord gets this value of --interpreters, or none if WANT is empty
passes()
{
	want=$1 name=$2
	shift 2
	rm -f open/log
	(cd open && TMPDIR=$PWD "$@") >out 2>err </dev/null
	if [ ! -s open/log ]; then fail "$name: pjrecord is run" err; return; fi
	is "$name" "$(sed -n 's/^--interpreters=//p' open/log)" "$want"
}
flame=$PWD/stub/pjflame profile=$PWD/stub/pjprofile

# ---- the default is that of pjrecord

passes "" "a command" "$flame" true
passes "" "a process" "$flame" -s 1 $$
passes "" "the host" "$flame" -s 1
passes "" "--top" "$flame" --top -n 1 -p $$
passes "" "--off-cpu" "$flame" --off-cpu true
passes "" "--wall" "$flame" --wall true
passes "" "dump" "$flame" dump -s 1 $$
passes "" "pjprofile" "$profile" -o profiles
passes "" "--unwind=fp" "$flame" --unwind=fp true
passes "" "another user: a command" as_user "$flame" true
passes "" "another user: pjprofile" as_user "$profile" -o others

# ---- what the user chooses

passes off "--interpreters=off" "$flame" --interpreters=off true
passes off "  with --unwind=fp" "$flame" --unwind=fp --interpreters=off true
passes off "  pjprofile" "$profile" --interpreters=off -o profiles
passes all "--interpreters=all" "$flame" --interpreters=all true
passes all "  pjprofile" "$profile" --interpreters=all -o profiles
passes off "  pjprofile --no-python" "$profile" --no-python -o profiles
passes on "--interpreters=on of another user: a command" as_user "$flame" --interpreters on true
passes on "  a process" as_user "$flame" -s 1 --interpreters=on $$
passes on "  pjprofile" as_user "$profile" --interpreters=on -o others
passes auto "  pjprofile --python-mode=auto" as_user "$profile" --python-mode=auto -o others
passes on "  pjprofile --python-mode=pyperf" as_user "$profile" --python-mode=pyperf -o others
passes auto "--interpreters=auto" "$flame" --interpreters=auto true
passes auto "  with --unwind=fp" "$flame" --unwind=fp --interpreters=auto true
passes on "  root without CAP_SYS_NICE" without_nice "$flame" --interpreters=on true

# ---- without the right: one line of pjrecord, however it is run

remedy="real-time priority needs CAP_SYS_NICE: run it as root, or: sudo setcap cap_perfmon,cap_ipc_lock,cap_syslog,cap_sys_ptrace,cap_dac_read_search,cap_sys_nice=ep $(realpath real/pjrecord)"
warning="pjrecord: --interpreters=on has no effect: $remedy"
unread="pjrecord: functions of Python, node, Ruby, PHP and Perl are not shown: $remedy"
if (cd open && as_user ../real/pjrecord -q -o try.data -- true) 2>why; then
	setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'while :; do :; done' &
	target=$!
	until_ 20 grep -q '^Uid:.65534' /proc/$target/status
	trap 'kill $target 2>/dev/null; chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT

	# warned NAME COMMAND...
	warned()
	{
		name=$1
		shift
		(cd open && TMPDIR=$PWD as_user timeout 60 "$@") >out 2>err </dev/null
		is "without the right, $name: one line, as pjrecord has it" "$(grep -e '--interpreters' err)" "$warning"
	}
	warned "pjflame COMMAND" ../real/pjflame --interpreters=on -o x.svg true
	warned "pjflame -q COMMAND" ../real/pjflame -q --interpreters=on -o x.svg true
	warned "pjflame PID" ../real/pjflame -s 300ms --interpreters=on -o x.svg $target
	warned "pjflame --top" ../real/pjflame --top -s 1 -n 1 --interpreters=on -p $target
	warned "pjprofile" ../real/pjprofile -q -d 1 -p $target --interpreters=on -o others
	# unread_lines WANT NAME COMMAND...: the lines of the default about functions that are not shown
	unread_lines()
	{
		want=$1 name=$2
		shift 2
		(cd open && TMPDIR=$PWD as_user timeout 60 "$@") >out 2>err </dev/null
		is "without the right and the option, $name" "$(grep -e '--interpreters' -e ' not shown: ' err)" "$want"
	}
	unread_lines "" "no interpreter: pjrecord" ../real/pjrecord -o none.data -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
	unread_lines "" "  pjrecord -v" ../real/pjrecord -v -o none.data -- true
	unread_lines "" "  pjflame" ../real/pjflame -o x.svg true
	perl=$(command -v perl) # of the interpreters, the one that all systems have
	loop='for ($i = 0; $i < 5000000; $i++) { $x += $i }'
	if [ -n "$perl" ]; then
		unread_lines "$unread" "an interpreter: pjrecord COMMAND, one line" ../real/pjrecord -o perl.data -- "$perl" -e "$loop"
		unread_lines "$unread" "  --interpreters=auto" ../real/pjrecord --interpreters=auto -o perl.data -- "$perl" -e "$loop"
		unread_lines "" "  --interpreters=off: none" ../real/pjrecord --interpreters=off -o perl.data -- "$perl" -e "$loop"
		unread_lines "" "  --unwind=fp: none" ../real/pjrecord --unwind=fp -o perl.data -- "$perl" -e "$loop"
		unread_lines "" "  -q: none" ../real/pjrecord -q -o perl.data -- "$perl" -e "$loop"
		setpriv --reuid=65534 --regid=65534 --clear-groups "$perl" -e 'while (1) { $x++ }' &
		loops=$!
		# until then the process is root's, so the user may not record it
		until_ 20 grep -q perl "/proc/$loops/comm"
		unread_lines "$unread" "  windows, one line" ../real/pjrecord -d perl -w 1 -n 2 -p $loops
		unread_lines "" "  pjflame has it in its sentence" ../real/pjflame -s 500ms -o x.svg $loops
		ok "    which has the advice" grep -q 'of samples in an interpreter: perl[^ ]* does not name its Perl functions (pjflame or pjrecord, as root with CAP_SYS_NICE on x86-64, ' err
		unread_lines "$unread" "  pjflame --top, at its end" ../real/pjflame --top -s 1 -n 1 -p $loops
		kill $loops
		wait $loops 2>/dev/null
	else
		skip "without the right and the option, an interpreter" "no perl"
	fi
	# root has lost the right: the advice to record as root does not help, so pjrecord has the reason, however it is run
	reason='pjrecord: functions of Python, node, Ruby, PHP and Perl are not shown: real-time priority needs CAP_SYS_NICE: '
	# root_line NAME COMMAND...
	root_line()
	{
		name=$1
		shift
		(cd open && TMPDIR=$PWD without_nice timeout 60 "$@") >out 2>err </dev/null
		is "root without the right, $name: the reason" "$(grep -c "^$reason" err)" 1
		ok "  which is not to become root" not grep "^$reason.*as root" err
	}
	if [ -n "$perl" ]; then
		root_line "pjrecord -q" ../real/pjrecord -q -o root.data -- "$perl" -e "$loop"
		root_line "pjflame COMMAND" ../real/pjflame -o root.svg "$perl" -e "$loop"
		"$perl" -e 'while (1) { $x++ }' &
		loops=$!
		until_ 20 grep -q perl "/proc/$loops/comm"
		root_line "pjflame PID" ../real/pjflame -s 500ms -o root.svg $loops
		root_line "pjflame --top" ../real/pjflame --top -s 1 -n 1 -p $loops
		root_line "pjprofile" ../real/pjprofile -q -d 1 -p $loops -o roots
		kill $loops
		wait $loops 2>/dev/null
	else
		skip "root without the right" "no perl"
	fi
	kill $target
	wait $target 2>/dev/null
else
	skip "without the right" "a user may not record here: $(head -n 1 why)"
fi

# ---- with the right: functions are named without an option; nothing of the reader runs before an interpreter is sampled

if python=$(command -v /usr/bin/python3) && pjrecord --check 2>/dev/null | grep -q '^ok *interpreters: '; then
	busy='
import time
def busy():
    end = time.process_time() + 1
    while time.process_time() < end: pass
busy()'
	for options in "" --interpreters=auto --interpreters=off; do
		# shellcheck disable=SC2086 # one word, or none
		pjrecord -q -F 199 $options -o by.data -- "$python" -S -c "$busy" >out 2>err
		pjfold by.data >by.folded 2>>err
		case $options in
		*=off) ok "  --interpreters=off: none" eval 'test -s by.folded && ! grep -q "busy_\[0\]" by.folded' ;;
		*) ok "pjrecord $options as root: functions of Python" grep -q 'busy_\[0\]' by.folded ;;
		esac
	done
	# to a pipe, the names come at the end
	pjrecord -q -F 199 -o - -- "$python" -S -c "$busy" 2>err | pjfold -q >by.folded
	ok "  to a pipe" grep -q 'busy_\[0\]' by.folded

	# parts PID: helper processes for interpreters of this recorder, and its threads with real-time priority
	parts()
	{
		echo "$(cat /proc/[0-9]*/stat 2>/dev/null | awk -v recorder="$1" '$2 == "(pjrecord-interp)" && $4 == recorder { n++ } END { print n + 0 }')" \
			"$(cat "/proc/$1"/task/*/stat | sed 's/.*) //' | awk '$39 == 1 { n++ } END { print n + 0 }')"
	}
	sh -c 'while :; do :; done' &
	load=$!
	pjrecord -q -d parts -w 1 -F 199 -p $load >out 2>err &
	recorder=$!
	until_ 60 test -s out
	ok "a host without interpreters: a window with samples" eval 'pjfold -q "$(head -n 1 out)" | grep -q .'
	is "  helpers and threads of the reader" "$(parts $recorder)" "0 0"
	kill -INT $recorder
	wait $recorder
	kill $load
	wait $load 2>/dev/null
	"$python" -S -c "while True: sum(range(1000))" &
	load=$!
	pjrecord -q -d parts -w 60 -F 199 -p $load >out 2>err &
	recorder=$!
	both() { parts=$(parts "$recorder") && case $parts in '1 '[1-9]*) ;; *) false ;; esac; }
	if until_ 60 both; then pass "  with one: both"; else fail "  with one: $parts"; fi
	kill -INT $recorder
	wait $recorder
	kill $load
	wait $load 2>/dev/null
else
	skip "pjrecord as root" "interpreters cannot be read here"
fi
done_testing
