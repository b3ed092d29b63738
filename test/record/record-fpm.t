#!/bin/sh
# record-fpm.t - a worker of PHP-FPM, which has changed its user and so is not dumpable: pjrecord shows its functions if root chooses
# --interpreters=all. With `on` it does not, and names `all`; nor for another user that has the capabilities, but those of a PHP program of that user.
#
# Debian's PHP-FPM, and those in PJ_FPMS (programs that run here, also unpacked ones).
# stage: live
# full-san: 18 s
# covers: common/process/taskid.c record/java/jvmopen.c record/interpreters/interpthread.c record/pjrecord.c fold/troubles.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch
PJ_DEBUG=unwind
export LC_ALL HOME PJ_DEBUG

[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
[ "$(id -u)" = 0 ] || skip_all "only root can start workers of another user"
{ have pjrecord && have pjfold; } || skip_all "pjrecord or pjfold is not built"
timeout 60 pjrecord -v -o data -- true >/dev/null 2>said || skip_all "perf events are not allowed here: $(head -n 1 said)"
pjrecord --check -d . 2>/dev/null | grep -q '^ok *interpreters' || skip_all "no right to real-time priority"
php=
for at in /usr/bin/php[78].[0-9]; do [ ! -x "$at" ] || php=$at; done
[ -n "$php" ] || skip_all "no PHP is installed"
fpms=$PJ_FPMS
for at in /usr/sbin/php-fpm[78].[0-9]; do [ ! -x "$at" ] || fpms="$fpms $at"; done
[ -n "$fpms" ] || skip_all "no PHP-FPM is installed"

master='' client='' own=''
clean_up()
{
	for pid in $client $own $master; do kill -9 "$pid" 2>/dev/null; done
	[ -z "$master" ] || pkill -9 -P "$master"
	wait
}
trap 'clean_up; chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT

chmod 755 .
install -m 644 "$top/test/lib/loads/truth.php" truth.php
cat >conf <<-CONF
	[global]
	error_log = $scratch/fpm.log
	daemonize = no
	[www]
	user = nobody
	group = nogroup
	listen = $scratch/socket
	pm = static
	pm.max_children = 1
CONF

# start FPM: sets worker, which runs a request for two minutes
start()
{
	"$1" -n -d max_execution_time=0 -y conf -F >fpm.out 2>&1 &
	master=$!
	tries=0
	until [ -S socket ] && worker=$(pgrep -P "$master") || [ $((tries += 1)) -gt 100 ]; do sleep 0.1; done
	"$php" -n "$top/test/lib/loads/fastcgi.php" socket "$scratch/truth.php" 'mode=parents&seconds=120' >response 2>&1 &
	client=$!
	sleep 0.5
}

stop()
{
	kill -9 "$client" "$worker" 2>/dev/null
	kill -TERM "$master"
	wait "$client" "$master" 2>/dev/null
	client='' master=''
	rm -f socket
}

# windows N: N more windows end, or 20 s
windows()
{
	want=$(($(find out-of/out -name '*.data' 2>/dev/null | wc -l) + $1)) tries=0
	while [ "$(find out-of/out -name '*.data' 2>/dev/null | wc -l)" -lt $want ] && [ $((tries += 1)) -le 200 ]; do sleep 0.1; done
}

# recorded WORD PIDS COMMAND...: two windows of a second with --interpreters=WORD, after the worker was opened or refused; the command starts pjrecord
recorded()
{
	word=$1
	pids=$2
	shift 2
	"$@" pjrecord -v -d out-of -F 997 -w 1 --interpreters="$word" -p "$pids" >/dev/null 2>said &
	recorder=$!
	tries=0
	until grep -q "process $worker: interpreter " said && grep -q "process ${pids##*,}: interpreter " said ||
		[ $((tries += 1)) -gt 100 ]; do sleep 0.1; done
	windows 3
	kill -INT $recorder
	wait $recorder
	# shellcheck disable=SC2046
	pjfold --root=process $(find out-of/out -name '*.data' | sort) 2>why >all
	rm -rf out-of
}

for fpm in $fpms; do
	start "$fpm"
	is "${fpm##*/}: its worker is not dumpable" "$(stat -c %u "/proc/$worker/mem" 2>why)" 0
	mkdir -m 700 out-of
	recorded on "$worker"
	ok "  root, on: no functions of the worker" not grep -q '_\[0\]' all
	ok "    but its samples" grep -q '^php-fpm' all
	ok "    and a reason, with the remedy" grep -q "process $worker: interpreter is not read: .*--interpreters=all, as root, shows its functions" said
	ok "    in the line of each window, too" grep -q '; interpreters that root alone may read are not read (--interpreters=all)' said
	ok "    and in the judgement" grep -q 'was not read, or not with certainty (if it changed its user, --interpreters=all, as root, ' why
	mkdir -m 700 out-of
	recorded all "$worker"
	grep '^php-fpm' all >folded
	awk -v mode=parents -f "$top/test/record/record-php.awk" folded >figures 2>impossible
	# shellcheck disable=SC2046
	set -- $(cat figures)
	is "  root, all: of $1 samples, all of $2 stacks with functions are possible" "${4:-}" 0
	# on a loaded machine, unwind tables and helpers come late
	walked=$(awk '/;_start;/ { n += $NF } END { print n + 0 }' folded)
	if [ "$walked" -lt 100 ]; then
		skip "  functions have names" "only $walked stacks of ${1:-0} reach their root"
	elif [ "${3:-0}" -ge 20 ]; then
		pass "  functions have names: $5 % have all of them"
	else
		fail "  functions have names" said figures
	fi

	# Another user with the same capabilities
	caps=+sys_ptrace,+dac_read_search,+ipc_lock,+syslog,+sys_nice,+perfmon
	if ! setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=$caps --ambient-caps=$caps true 2>why; then
		skip "  another user: no functions of the worker" "no setpriv: $(head -n 1 why)"
		stop
		continue
	fi
	setpriv --reuid=65534 --regid=65534 --clear-groups "$php" -n truth.php parents 120 >own.out 2>&1 &
	own=$!
	install -d -o 65534 -g 65534 -m 700 out-of
	recorded all "$worker,$own" setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=$caps --ambient-caps=$caps
	kill -9 "$own"
	wait "$own" 2>/dev/null
	own=
	ok "  another user: no functions of the worker" not grep -q '^php-fpm.*_\[0\]' all
	ok "    but its samples" grep -q '^php-fpm' all
	walked=$(awk '/^php[78].*;_start;/ { n += $NF } END { print n + 0 }' all)
	if [ "$walked" -lt 100 ] && ! grep -q '^php[78].*parents_\[0\]' all; then
		skip "    and functions of a program of that user" "only $walked of its stacks reach their root"
	else
		ok "    and functions of a program of that user" grep -q '^php[78].*parents_\[0\]' all
	fi
	ok "    and a reason" grep -q "process $worker: interpreter is not read: " said
	ok "    and a warning that all acts as on" grep -q '^pjrecord: --interpreters=all acts as on: ' said
	grep "process $worker: interpreter is not read" said | head -n 1 | sed 's/^/# /'
	stop
done
done_testing
