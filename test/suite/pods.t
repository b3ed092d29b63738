#!/bin/sh
# pods.t - the DaemonSet of examples/ as a node runs it: podspec.py translates its securityContext to runc's config, runc starts both containers on
# a root file system with the tools and their libraries alone, and a picture comes out of the store; and functions of Python of the host.
# stage: live
# full: containers, and windows of 30 s: two minutes
# covers: record/installcheck.c record/checkreport.c record/recordopts.c send/sendopts.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/record.sh
. "$top/test/lib/record.sh"
LC_ALL=C
export LC_ALL
pods=$top/examples/kubernetes/base/daemonset.yaml
profile=/usr/share/containers/seccomp.json

for tool in pjrecord pjsend pjfold pjfetch pjsvg runc cc; do have $tool || skip_all "$tool is not there"; done
if ! have python3 || ! python3 -c 'import yaml' 2>/dev/null; then skip_all "python3 has no yaml"; fi
[ "$(id -u)" = 0 ] || skip_all "containers need root"
[ -e $profile ] || skip_all "no default seccomp profile (golang-github-containers-common)"
case ${PJ_BUILD:-} in *san-* | *thread-*) skip_all "sanitizers make more system calls than the profile allows" ;; esac
pjrecord -q -a -w 1 --once -d try >out 2>why || skip_all "recording is not allowed here: $(head -n 1 why)"
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || skip_all "kernel.perf_event_paranoid is above 2: CAP_PERFMON is not enough"

# ---- an image: the tools and their libraries

mkdir -p rootfs/usr/bin rootfs/proc rootfs/sys rootfs/dev rootfs/tmp rootfs/etc rootfs/var/lib/pj node
if [ -n "${PJ_POD_IMAGE:-}" ]; then cp -a "$PJ_POD_IMAGE/." rootfs/; fi
for tool in pjrecord pjsend pjfold pjfetch pjsvg; do
	if [ -n "${PJ_POD_IMAGE:-}" ]; then continue; fi
	cp "$(command -v $tool)" rootfs/usr/bin/
	for library in $(ldd "$(command -v $tool)" | grep -o '/[^ ]*'); do
		mkdir -p "rootfs${library%/*}" && cp -L "$library" "rootfs$library"
	done
done
is "the image has no shell" "$(find rootfs -name 'sh' -o -name bash | wc -l | tr -d ' ')" 0

# bundle CONTAINER MANIFEST DIRECTORY [NAME]: the folder bundle-NAME that runc starts
bundle()
{
	mkdir -p "bundle-${4:-$1}"
	python3 "$top/test/suite/podspec.py" "$2" "$1" "$scratch/rootfs" node-7 "$scratch/$3" $profile >"bundle-${4:-$1}/config.json"
}

running='' load='' spin='' pid_pjrecord='' pid_pjsend=''
start()
{
	runc --root "$scratch/runc" run -b "bundle-$1" "pj-test-$$-$1" >"$1.out" 2>"$1.err" </dev/null &
	running="$running $1"
	eval "pid_${1%%-*}=$!"
}

container() { command=$1; name=$2; shift 2; runc --root "$scratch/runc" "$command" "pj-test-$$-$name" "$@"; }

# status_of CONTAINER KEY: of /proc/PID/status of its first process
status_of()
{
	first=$(container state "$1" | sed -n 's/^ *"pid": \([0-9]*\),*/\1/p')
	sed -n "s/^$2:[[:blank:]]*//p" "/proc/$first/status"
}

end_containers()
{
	for name in $running; do container delete "$name" --force >/dev/null 2>&1 || container kill "$name" KILL >/dev/null 2>&1; done
}
trap 'kill "$load" "$spin" 2>/dev/null; end_containers; chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT

ok "podspec.py translates pjrecord" bundle pjrecord "$pods" node
ok "  and pjsend" bundle pjsend "$pods" node

# ---- a load, both containers, a picture

cat >load.c <<'END'
static volatile unsigned long sink;
__attribute__((noinline)) static void pods_hot(unsigned n) { while (n--) sink += n; }
int main(void) { for (;;) pods_hot(1000); }
END
cc -O1 -g -o pods-load load.c
./pods-load &
load=$!
start pjsend # before there is a window
start pjrecord
up() { [ "$(container state "$1" 2>/dev/null | sed -n 's/^ *"status": "\(.*\)",*/\1/p')" = running ]; }
ok "pjrecord runs" until_ 20 up pjrecord || sed 's/^/# /' pjrecord.err
ok "pjsend runs" until_ 20 up pjsend || sed 's/^/# /' pjsend.err
is "pjrecord: capabilities" "$(status_of pjrecord CapBnd)" 0000004400884004
is "  no way to others, seccomp" "$(status_of pjrecord NoNewPrivs) $(status_of pjrecord Seccomp)" "1 2"
is "pjsend: no capability" "$(status_of pjsend CapBnd) $(status_of pjsend CapEff)" "0000000000000000 0000000000000000"
is "  no way to others, seccomp" "$(status_of pjsend NoNewPrivs) $(status_of pjsend Seccomp)" "1 2"
stored() { find node/store -name '*.folded*' 2>/dev/null | grep -q .; }
tries=0
until stored || [ $tries -ge 100 ]; do sleep 1; tries=$((tries + 1)); done
ok "a window is in the store" stored || sed 's/^/# /' pjrecord.err pjsend.err
pjfetch -q -s dir:node/store --from=-1h | pjsvg -o picture.svg
pjsvg --unpack picture.svg >stacks
ok "a picture comes out" grep -q '^pods-load;.*pods_hot ' stacks
ok "  with the kernel" grep -q '_\[k\]' stacks
ok "  of the node, not of the pod" sh -c 'pjfetch -s dir:node/store --list | grep -q "^node-7 "'

# ---- pjrecord --check in the container

container exec pjrecord pjrecord --check >check 2>err
is "--check in the container: status" $? 0
[ -s err ] && sed 's/^/# /' err
for fact in programs recorder capabilities spool store; do
	ok "  $fact" grep -q "^ok *$fact: " check
done
ok "  the last line" grep -q '^pjrecord can record the whole host, and this installation works' check
grep -E '^(limited|no)|^ok *(programs|recorder|capabilities|names|spool|store)' check | cut -c1-200 | sed 's/^/# /'

# ---- ends

container kill pjrecord TERM
wait "$pid_pjrecord"
is "pjrecord ends on SIGTERM" $? 0
container kill pjsend TERM
wait "$pid_pjsend"
status=$?
ok "pjsend ends on SIGTERM" test $status -le 1
is "nobody wrote to the image" "$(find rootfs -newer pjsend.out -type f | wc -l | tr -d ' ')" 0

# ---- functions of Python

python=$(for at in /usr/bin/python3.[0-9]*; do case ${at##*/} in python3.8 | python3.9 | python3.1[0-5]) echo "$at" ;; esac; done | head -n 1)
if [ -n "$python" ] && pjrecord --check -d . 2>/dev/null | grep -q '^ok *interpreters'; then
	printf 'def inner(n):\n    return sum(str(i) != "" for i in range(n))\nwhile True:\n    inner(2000)\n' >spin.py
	"$python" spin.py &
	spin=$!
	sed 's/--window=30/--window=5/' "$pods" >python.yaml
	mkdir pythons
	ok "functions of Python" bundle pjrecord python.yaml pythons pjrecord-python
	# kernels with CONFIG_RT_GROUP_SCHED, which distributions leave out, give a cgroup of version 1 no real-time priority of its own
	if ls /sys/fs/cgroup/cpu*/cpu.rt_runtime_us >out 2>&1; then
		python3 - bundle-pjrecord-python/config.json <<-'PY'
			import json, sys
			config = json.load(open(sys.argv[1]))
			config["linux"]["resources"].setdefault("cpu", {}).update(realtimePeriod=1000000, realtimeRuntime=200000)
			json.dump(config, open(sys.argv[1], "w"))
		PY
	fi
	start pjrecord-python
	named() { pjfold -q pythons/out/*.data | grep '__main__\.<module>_\[0\];.*__main__\.inner_\[0\]'; }
	ok "  they are in its windows" until_ 60 named
	is "  it has no warning" "$(grep -e ' --interpreters' -e ' are not shown: ' pjrecord-python.err)" ""
	container kill pjrecord-python TERM
	wait "$pid_pjrecord"
	is "  it ends on SIGTERM" $? 0
	kill $spin
	wait $spin 2>/dev/null
else
	skip "functions of Python" "no Python from 3.8 to 3.15 in /usr/bin, or no right to real-time priority"
fi

# ---- a capability is missing

sed 's/add: \[PERFMON, /add: [/' "$pods" >less.yaml
mkdir other
ok "a manifest without PERFMON" bundle pjrecord less.yaml other pjrecord-less
start pjrecord-less
wait "$pid_pjrecord"
is "without CAP_PERFMON: status" $? 1
ok "  the line of the manifest that helps" grep -q 'capabilities.add: \[PERFMON\]' pjrecord-less.err || sed 's/^/# /' pjrecord-less.err
done_testing
