# lib.sh - shared by the tests of hostile programs; source it after tap.sh.
# shellcheck shell=sh
#
# Each attack is one small C program, test/hostile/NAME.c, run as an unprivileged user for a bounded time. It takes its variation (sizes,
# order, fields, timing) from a seed: PJ_SEED repeats a run, PJ_HOSTILE_SECS changes its length (default: 20 s).

seed=${PJ_SEED:-$(($(date +%s) % 1000000))}
attack_secs=${PJ_HOSTILE_SECS:-20}
attacker=65534 # uid and gid of every attack program
echo "# PJ_SEED=$seed"
[ "$(id -u)" = 0 ] || skip_all "needs root: it runs the tools as root beside programs of another user"
have setpriv || skip_all "setpriv (util-linux) is not installed"
build=${PJ_BUILD:-$top/build/std-cc}
case $build in /*) ;; *) build=$top/$build ;; esac
PATH=$build/bin:$PATH

# The attack programs, and what they write, lie where an unprivileged user reaches them.
arena=$(mktemp -d /tmp/pj-hostile.XXXXXX)
chown "$attacker:$attacker" "$arena"
chmod 755 "$arena"
attacks= # PIDs of running attacks
end_attacks()
{
	# shellcheck disable=SC2086 # a list
	[ -z "$attacks" ] || kill -KILL $attacks 2>/dev/null
	attacks=
}
# shellcheck disable=SC2154 # tap.sh makes it
trap 'end_attacks; chmod -R u+rwx "$scratch" "$arena" 2>/dev/null; rm -rf "$scratch" "$arena"' EXIT

# program NAME: copies the attack program to where the attacker may run it; prints its path
program()
{
	[ -x "$arena/$1" ] || install -m 755 "$build/test/hostile/$1" "$arena/$1"
	echo "$arena/$1"
}

# attack NAME ARGUMENTS...: starts the program as the attacker, in the background; its PID is in $attack. It dies with this test, and after
# $attack_secs + 30 seconds.
attack()
{
	attack_program=$(program "$1")
	shift
	(cd "$arena" && exec timeout -s KILL $((attack_secs + 30)) setpriv --reuid=$attacker --regid=$attacker --clear-groups --pdeathsig KILL \
		env PJ_SEED="$seed" TMPDIR="$arena" "$attack_program" "$@") >"$arena/log" 2>&1 &
	attack=$!
	attacks="$attacks $attack"
}

# peak_kb PID: the highest resident size of a process so far; 0 if it is gone
peak_kb()
{
	awk '/^VmHWM:/ { kb = $2 } END { print kb + 0 }' "/proc/$1/status" 2>/dev/null || echo 0
}

# descendants PID: the PIDs of a process and of all below it
descendants()
{
	echo "$1"
	for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do descendants "$child"; done
}

# cpu_ms PID...: CPU time of these processes and of their children that were waited for
cpu_ms()
{
	for pid in "$@"; do cat "/proc/$pid/stat" 2>/dev/null; done |
		awk -v hz="$(getconf CLK_TCK)" '{ sub(/^.*\) /, ""); sum += $12 + $13 + $14 + $15 } END { print int(sum * 1000 / hz) }'
}

# ends_within SECONDS PID: sends SIGTERM to a child of this shell; true if it ended in that time
ends_within()
{
	kill -TERM "$2" 2>/dev/null
	deadline_ms=$(($(date +%s%N) / 1000000 + $1 * 1000))
	while kill -0 "$2" 2>/dev/null; do
		case $(sed 's/^.*) //' "/proc/$2/stat" 2>/dev/null) in Z*) break ;; esac
		[ $(($(date +%s%N) / 1000000)) -lt $deadline_ms ] || return 1
		sleep 0.02
	done
	wait "$2" 2>/dev/null
	return 0
}
