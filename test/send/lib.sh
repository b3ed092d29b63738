# shellcheck shell=sh disable=SC2034,SC2154 # what tests use; what tap.sh has
# lib.sh - servers for tests of stores: each on a free port of the loopback interface, waited for, and stopped at the end.
# Source it behind tap.sh. Nobody's proxy is asked for what is on this machine.
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY PJ_STORE_AUTH
here=${PJ_BUILD:-$top/build/std-cc}/test/send
running=

# shellcheck disable=SC2154 # tap.sh has it
trap 'stop_all; chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT

stop_all()
{
	for pid in $running; do kill "$pid" 2>/dev/null; done
	for pid in $running; do wait "$pid" 2>/dev/null; done
	running=
}

# stop PID [SIGNAL]
stop()
{
	kill "-${2:-TERM}" "$1" 2>/dev/null
	wait "$1" 2>/dev/null
	running=$(for pid in $running; do [ "$pid" = "$1" ] || printf '%s ' "$pid"; done)
}

# soon COMMAND...: within 30 s it ends with 0
soon()
{
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] || return 1
		sleep 0.1
	done
}

# eve [ARGUMENTS]: sets eve_pid and eve_port. With --port it comes back where it was.
eve()
{
	rm -f eve.port
	"$here/evestub" --portfile eve.port "$@" 2>>eve.log &
	eve_pid=$!
	running="$running $eve_pid"
	soon test -s eve.port || { fail "evestub starts" eve.log; return 1; }
	eve_port=$(cat eve.port)
}

# fault PORT ARGUMENTS: what stands before it; sets fault_pid and fault_port
fault()
{
	to=$1
	shift
	rm -f fault.port
	"$here/faultd" --to "$to" --portfile fault.port "$@" 2>>fault.log &
	fault_pid=$!
	running="$running $fault_pid"
	soon test -s fault.port || { fail "faultd starts" fault.log; return 1; }
	fault_port=$(cat fault.port)
}

# windows FOLDER HOSTS WINDOWS STACKS [awk -v ...]: makes them there; FOLDER.all has all stacks, "host stack value", in order
windows()
{
	mkdir -p "$1"
	to=$1 hosts=$2 windows=$3 stacks=$4
	shift 4
	awk -v to="$to" -v hosts="$hosts" -v windows="$windows" -v stacks="$stacks" "$@" -f "$top/test/send/windows.awk" | sort >"$to.all"
}

# ship ARGUMENTS: what became of it is in ship.out
ship()
{
	"$here/ship" "$@" >ship.out 2>&1
}

# eve_has: what the stub holds, "host stack value", in order
eve_has()
{
	awk -F"\t" '{ print $3, $4, $5 }' "${1:-kept}" | sort
}
