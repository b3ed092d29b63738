#!/bin/sh
# Filters give up their rights before they read: seen from outside while it waits for input, and by what it still can do.
# covers: common/filter/confine.c common/filter/broker.c common/filter/brokerserver.c fold/foldrights.c common/process/sandbox.c
. "$(dirname "$0")/../lib/tap.sh"

# status TOOL OPTIONS...: lines of /proc/PID/status of a filter that waits for its input
status()
{
	rm -f in
	mkfifo in
	"$@" in >out 2>err &
	pid=$!
	exec 9<>in
	for _ in $(seq 100); do # it sleeps in read
		case $(cat "/proc/$pid/syscall" 2>/dev/null) in 0\ *) break ;; esac
		sleep 0.05
	done
	cat "/proc/$pid/status" >status
	printf '1;b 1\n' >&9
	exec 9>&-
	wait $pid
	is "it does its work ($*)" $? 0
}

if grep -q '^Seccomp:' /proc/self/status; then
	for tool in pjfold pjsvg pjheat "pjdiff --table /dev/null"; do
		# shellcheck disable=SC2086 # with its options
		status $tool
		is "$tool: new privileges are forbidden" "$(awk '/^NoNewPrivs:/ { print $2 }' status)" 1
		is "$tool: system calls are filtered" "$(awk '/^Seccomp:/ { print $2 }' status)" 2
	done
	status pjfold --unprivileged
	is "--unprivileged: no capability is left" "$(awk '/^Cap(Eff|Prm|Inh|Amb):/ { print $2 }' status | sort -u)" 0000000000000000
else
	skip "rights of filters" "this kernel does not show them"
fi

# has_fifo: the filter $pid, or a process that it started, has opened the FIFO
has_fifo()
{
	for process in $pid $(pgrep -P $pid); do find "/proc/$process/fd" -lname "$PWD/fifo" 2>/dev/null; done | grep -q .
}

# brokers TOOL ARGUMENTS...: prints the number of processes that a filter has started when it waits for its input, a FIFO; `status` has its rights
brokers()
{
	rm -f fifo
	mkfifo fifo
	"$@" <fifo >out 2>err &
	pid=$!
	exec 9<>fifo
	for _ in $(seq 200); do
		if [ "$(grep -cE '^(NoNewPrivs:[[:blank:]]*1|Seccomp:[[:blank:]]*2)' "/proc/$pid/status")" = 2 ] && has_fifo; then break; fi
		sleep 0.05
	done
	cat "/proc/$pid/status" >status
	pgrep -P $pid | wc -l
	printf 'a;b 2\n' >&9
	exec 9>&-
	wait $pid
}

printf 'a;b 1\n' >regular
is "regular files and pipes are read without a broker" "$(brokers pjdiff -q regular -)" 0
is "  with the same result" "$(tail -n 1 out)" 'a;b 1 2'
is "  without a capability, with filtered system calls" "$(awk '/^(CapEff|CapPrm|NoNewPrivs|Seccomp):/ { printf "%s ", $2 }' status)" \
	"0000000000000000 0000000000000000 1 2 "
is "an output has a broker" "$(brokers pjdiff -q -o regular.diff regular -)" 1
is "  that wrote it" "$(tail -n 1 regular.diff)" 'a;b 1 2'
is "so has a FIFO that is named" "$(brokers pjdiff -q regular fifo)" 1
pjdiff -q regular absent >out 2>err
is "a file that does not exist is an error" "$? $(cat err)" "1 pjdiff: cannot open 'absent': No such file or directory"

# output through a link, into another folder, and in slices
mkdir there
ln -s there/target link
printf 'a;b 1\n' | pjfold -q -o link
is "output goes where a link leads" "$(cat there/target)" 'a;b 1'
printf 'a;b 1\n' | pjfold -q -o there/plain
is "output goes into another folder" "$(cat there/plain)" 'a;b 1'
printf 'a;b 1\n' | (cd there && pjfold -q -o ../up)
is "output goes into a folder above" "$(cat up)" 'a;b 1'
printf 'a;b 1\n' | pjfold -q -o /dev/stdout >std
is "output goes to /dev/stdout" "$(cat std)" 'a;b 1'
printf 'a;b 1\n' | pjfold -q -o /dev/full >/dev/null 2>&1
is "a full device is an error" $? 1

# a kernel without a layer; 444: landlock_create_ruleset
printf 'a;b 2\n' >before
# reported COMMAND: how often it names Landlock, and its status
reported()
{
	printf 'a;b 1\n' | "$@" >out 2>err
	status=$?
	echo "$(grep -c ': this kernel lacks Landlock .*: it needs' err) $status"
}
# shellcheck disable=SC2154 # tap.sh makes it
if [ "$(uname -m)" != x86_64 ] || ! "${CC:-cc}" -o deny "$top/test/record/deny.c" 2>err || ! ./deny ENOSYS:444 true; then
	skip "a kernel without Landlock" "needs x86-64, a compiler and seccomp"
elif [ "$(reported ./deny ENOSYS:444 pjfold -q)" = "0 0" ]; then
	skip "a kernel without Landlock" "this build does without it"
else
	for tool in "pjfold -q" "pjfold -q --unprivileged" pjsvg "pjdiff --table -q before -"; do
		# shellcheck disable=SC2086 # with its options
		is "a kernel without Landlock: $tool reports it once and goes on" "$(reported ./deny ENOSYS:444 $tool)" "1 0"
	done
	is "  but not to a tool that starts it often" "$(PJ_SANDBOX_REPORTED=1 reported ./deny ENOSYS:444 pjfold -q)" "0 0"
	mkdir -p d/out
	is "  pjsend, too" "$(reported ./deny ENOSYS:444 pjsend -q --once -d d)" "1 0"
fi
done_testing
