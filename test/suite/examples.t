#!/bin/sh
# examples.t - the units, the cron line, the DaemonSet and the compose file in examples/: well-formed, and with options that the tools have;
# what each has for the functions of Python; compare-builds on two builds of a program.
# once: scripts beside the tools
# covers: record/recordopts.c diff/pjdiff.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL
unit=$top/examples/pjrecord.service
cron=$top/examples/pjrecord.cron
pods=$top/examples/kubernetes/base/daemonset.yaml
six='CAP_DAC_READ_SEARCH CAP_IPC_LOCK CAP_PERFMON CAP_SYSLOG CAP_SYS_NICE CAP_SYS_PTRACE'

have pjrecord || skip_all "pjrecord is not built"
pjrecord --help >help

# options_exist FILE: each of its options is in the help
options_exist()
{
	grep -oE -- '--[a-z][a-z-]*' "$1" | sort -u >options
	[ -s options ] || return 1
	while read -r option; do
		grep -q -- "$option" help || { echo "$option is no option"; return 1; }
	done <options
}

# accepted WORD...: they make sense, so that what is complained about is the option behind them, which does not exist
accepted()
{
	timeout 20 pjrecord "$@" --no-such-option >out 2>why
	grep -q 'no-such-option' why || { cat why; return 1; }
}

sorted()
{
	tr ' ' '\n' | grep . | sort | tr '\n' ' ' | sed 's/ $//'
}

# ---- the unit

sed -n 's/^ExecStart=//p' "$unit" >line
ok "the unit: its options exist" options_exist line
# shellcheck disable=SC2046 # words
ok "  and make sense" accepted $(sed "s/^[^ ]*//; s/%%/%/g; s/\${PJ_INTERPRETERS}/$(sed -n 's/^Environment=PJ_INTERPRETERS=//p' "$unit")/" line)
is "  functions of Python are shown" "$(sed -n 's/^Environment=PJ_INTERPRETERS=//p' "$unit")" auto
is "  with the right to real-time priority" "$(sed -n 's/^RestrictRealtime=//p' "$unit")" no
ok "  and the system calls" sh -c 'for call in sched_setscheduler sched_setaffinity timer_create timer_settime timer_delete; do grep -q "^SystemCallFilter=.*\<$call\>" "$1" || exit 1; done' - "$unit"
ok "  which docs/units.md explains" sh -c 'for word in PJ_INTERPRETERS CAP_SYS_NICE RestrictRealtime= sched_setscheduler timer_create TasksMax=; do grep -q "^| .*$word" "$1" || { echo "$word"; exit 1; }; done' - "$top/docs/units.md"
is "  its capabilities" "$(sed -n 's/^AmbientCapabilities=//p' "$unit" | sorted)" "$six"
is "  and those it may have" "$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | sorted)" "$six"
# one would hide what the host sees; ProtectHostname and ProtectClock need none (docs/units.md)
is "  nothing gives it a mount namespace" \
	"$(grep -vE '^Protect(Hostname|Clock)=' "$unit" | grep -cE '^(Protect|Private|ReadOnly|ReadWrite|Inaccessible|TemporaryFileSystem|Bind|Root|DynamicUser|MountFlags)')" 0

# verified TOOL: systemd accepts its unit, with the program as it is built and a user that exists
verified()
{
	sed "s|/usr/local/bin/$1|$(command -v "$1")|; s/^User=.*/User=daemon/" "$top/examples/$1.service" >"units/$1.service"
	name=$1.service
	timeout 60 systemd-analyze verify --man=no "$PWD/units/$1.service" >verify 2>&1 </dev/null
	status=$?
	grep "$1" verify >ours
	if [ "$status" -eq 0 ] && [ ! -s ours ]; then
		pass "$name: systemd-analyze verify"
	elif [ ! -s ours ]; then
		skip "$name: systemd-analyze verify" "it does not work here (status $status): $(head -n 1 verify)"
	else
		fail "$name: systemd-analyze verify" ours
	fi
}

# closed TOOL TENTHS: the exposure of its unit is that at most, and that of docs/units.md
closed()
{
	row=$1.service
	mkdir -p closed
	cp "$top/examples/$1.service" closed/
	if ! timeout 60 systemd-analyze security --offline=true --no-pager "$PWD/closed/$1.service" >exposure 2>why || ! grep -q 'Overall' exposure; then
		skip "$row: systemd-analyze security" "it does not work here: $(head -n 1 why)"
		return
	fi
	figure=$(sed -n 's/.*Overall exposure level.*: \([0-9.]*\) .*/\1/p' exposure)
	ok "$row: systemd-analyze security: $figure of at most $2 tenths" [ "$(echo "$figure" | tr -d .)" -le "$2" ]
	is "  as docs/units.md has it" "$(sed -n "s/^| $row | \([0-9.]*\) .*/\1/p" "$top/docs/units.md")" "$figure"
}

# the target, the user and the directories
is "pj.target starts the pipeline, without pjmap" "$(sed -n 's/^Wants=//p' "$top/examples/pj.target")" "pjrecord.service pjsend.service"
for tool in pjrecord pjsend; do
	is "  and stops $tool.service" "$(grep -c '^PartOf=pj.target$' "$top/examples/$tool.service")" 1
	is "  a wrong command line of $tool is not repeated" "$(grep -c '^RestartPreventExitStatus=2$' "$top/examples/$tool.service")" 1
done
if [ "$(id -u)" = 0 ] && have systemd-sysusers && have systemd-tmpfiles; then
	mkdir root root/etc
	systemd-sysusers --root="$PWD/root" "$top/examples/pj.sysusers" >why 2>&1
	is "pj.sysusers makes user pj" "$(sed -n 's/^pj:[^:]*:[0-9]*:[0-9]*:\(.*\)/\1/p' root/etc/passwd)" "CPU profiles:/var/lib/pj:/usr/sbin/nologin"
	uid=$(sed -n 's/^pj:[^:]*:\([0-9]*\):.*/\1/p' root/etc/passwd)
	systemd-tmpfiles --root="$PWD/root" --create "$top/examples/pj.tmpfiles" >why 2>&1
	is "pj.tmpfiles makes its directories" "$(cd root && stat -c '%n %a %u' var/lib/pj var/lib/pj/out etc/pj | tr '\n' ' ')" "var/lib/pj 750 $uid var/lib/pj/out 750 $uid etc/pj 755 0 "
else
	skip "pj.sysusers makes user pj" "systemd is not installed, or not root"
fi

for tool in pjrecord pjmap pjsend; do
	is "$tool.service: limits of memory, tasks and CPU" \
		"$(grep -cE '^(MemoryMax|TasksMax|CPUQuota|OOMPolicy|LimitNOFILE|LimitCORE)=' "$top/examples/$tool.service")" 6
done
if have systemd-analyze; then
	mkdir units
	for tool in pjrecord pjmap pjsend; do have $tool && verified $tool; done
	closed pjrecord 38
	closed pjmap 20
	closed pjsend 20
else
	skip "systemd-analyze verify" "systemd is not installed"
fi

# ---- cron

grep -vE '^(#|$|[A-Z]+=)' "$cron" >line
is "the cron line: one" "$(grep -c . line)" 1
ok "  five fields of time, and a user" grep -qE '^([0-9*/,-]+ +){5}[a-z]+ +pjrecord ' line
is "  no % that cron would take for a newline" "$(grep -c '%' line)" 0
ok "  its options exist" options_exist line
# shellcheck disable=SC2046 # words
ok "  and make sense" accepted $(sed 's/.*pjrecord //; s/>.*//' line)
is "  the file ends with a newline" "$(tail -c 1 "$cron")" ""
cp "$cron" pj.cron
sh -c "$(sed -n 's|^#\t\(sed -i .*\) /etc/cron.d/pj$|\1 pj.cron|p' "$cron")"
grep -vE '^(#|$|[A-Z]+=)' pj.cron >line
ok "  the command of its comment leaves out the functions of Python" grep -q -- ' --interpreters=off --window=60 ' line
# shellcheck disable=SC2046 # words
ok "  and they make sense" accepted $(sed 's/.*pjrecord //; s/>.*//' line)

# ---- Kubernetes

sed -n '/^ *command: .pjrecord/,/resources/s/^ *args: \[\(.*\)\]/\1/p' "$pods" | tr ',' ' ' >line
ok "the DaemonSet: options of pjrecord exist" options_exist line
# shellcheck disable=SC2046 # words
ok "  and make sense" accepted $(cat line)
is "  no tabs" "$(grep -c "$(printf '\t')" "$pods")" 0
if have python3 && python3 -c 'import yaml' 2>/dev/null; then
	cat >check.py <<'PY'
import sys, yaml
d = yaml.safe_load(open(sys.argv[1]))
assert (d["apiVersion"], d["kind"]) == ("apps/v1", "DaemonSet")
pod = d["spec"]["template"]
assert d["spec"]["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items(), "selector"
spec = pod["spec"]
assert spec["hostPID"] is True and spec["automountServiceAccountToken"] is False
for c in spec["containers"]:
    sc = c["securityContext"]
    assert sc["privileged"] is False and sc["allowPrivilegeEscalation"] is False and sc["readOnlyRootFilesystem"] is True
    assert sc["capabilities"]["drop"] == ["ALL"] and sc["seccompProfile"]["type"] == "RuntimeDefault"
    assert all(isinstance(a, str) for a in c["command"] + c["args"]), "arguments are strings"
    assert {m["name"] for m in c["volumeMounts"]} == {v["name"] for v in spec["volumes"]}, "volumes"
    directory = [a.split("=", 1)[1] for a in c["args"] if a.startswith("--dir=")]
    assert directory == [m["mountPath"] for m in c["volumeMounts"]], "what is written is mounted"
    print(c["command"][0], " ".join(sorted("CAP_" + x for x in sc["capabilities"].get("add", []))))
PY
	is "  its parts fit together; pjsend has no capability" "$(python3 check.py "$pods" 2>&1 | tail -n 2)" "pjrecord $six
pjsend "
	cat >compose.py <<'PY'
import sys, yaml
c, d = yaml.safe_load(open(sys.argv[1])), yaml.safe_load(open(sys.argv[2]))
pod = {p["name"]: p for p in d["spec"]["template"]["spec"]["containers"]}
python = "--interpreters=${PJ_INTERPRETERS:-auto}"
assert python in c["services"]["pjrecord"]["command"], "functions of Python, unless PJ_INTERPRETERS is off"
assert set(c["services"]) == set(pod), "the same containers"
for name, s in c["services"].items():
    p, sc = pod[name], pod[name]["securityContext"]
    assert s["read_only"] is True and s["cap_drop"] == ["ALL"] and "privileged" not in s
    assert sorted(s.get("cap_add", [])) == sorted(sc["capabilities"].get("add", [])), "capabilities"
    assert "no-new-privileges:true" in s["security_opt"]
    assert ("apparmor:unconfined" in s["security_opt"]) == ("appArmorProfile" in sc)
    assert s["entrypoint"] == p["command"]
    assert set(s["command"]) - {python} == {a for a in p["args"] if not a.startswith("--host=")}, "arguments"
    assert [v.split(":")[0] for v in s["volumes"]] == list(c["volumes"])
assert c["services"]["pjrecord"]["pid"] == "host" and "pid" not in c["services"]["pjsend"]
print("as the DaemonSet")
PY
	is "the compose file has the same rights and arguments" "$(python3 compose.py "$top/examples/compose.yaml" "$pods" 2>&1 | tail -n 1)" "as the DaemonSet"
else
	skip "  its parts fit together; pjsend has no capability" "python3 has no yaml"
	skip "the compose file has the same rights and arguments" "python3 has no yaml"
fi
if have kubectl; then
	kubectl kustomize "$top/examples/kubernetes/clickhouse" >overlay 2>why
	is "the overlay: kustomize builds it" "$?" 0
	is "  another image and store, the secret, and nothing else" "$(grep -cE '^ *(image: registry.example.com/tools/pj:0.1|value: clickhouse:https:.*|name: PJ_STORE_AUTH|name: pj-store|- name: PJ_STORE_AUTH)$' overlay)" 5
	is "  the capabilities of the base" "$(sed -n '/ add:/,/ drop:/s/^ *- \([A-Z_]*\)$/CAP_\1/p' overlay | sort | tr '\n' ' ')" "$six "
else
	skip "the overlay: kustomize builds it" "kubectl is not installed"
fi

# ---- two builds

builds=$top/examples/compare-builds
ok "compare-builds: the shell understands it" sh -n "$builds"
if have shellcheck; then ok "  and shellcheck" shellcheck "$builds"; else skip "  and shellcheck" "it is not installed"; fi
for words in "" "-n 0 a b" "-x" "one"; do
	# shellcheck disable=SC2086 # words
	"$builds" $words >out 2>err
	is "  '$words': usage" "$? $(grep -c '^usage: compare-builds' err)" "2 1"
done
"$builds" ./not-there true >out 2>err
is "  a program that is not there" "$? $(grep -c 'not-there: not found' err)" "1 1"
cat >app.c <<'END'
#include <stdlib.h>
static volatile unsigned long sink;
#define NAMED __attribute__((noinline, noclone))
NAMED static void parse(unsigned n) { while (n--) sink += n; }
NAMED static void add(unsigned n) { while (n--) sink ^= n; }
NAMED static void show(unsigned n) { while (n--) sink -= n; }
int main(int argc, char **argv)
{
	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--) {
		parse(2000);
		add(2000 * SLOWER);
		show(2000);
	}
	return argc < 2;
}
END
if ! have cc; then
	skip "compare-builds on two builds" "no compiler"
elif cc -O1 -fno-omit-frame-pointer -DSLOWER=1 -o 'app old' app.c && cc -O1 -fno-omit-frame-pointer -DSLOWER=4 -o app.new app.c &&
	pjrecord -q -o may.data -- './app old' 1 2>why; then
	"$builds" -n 3 -f 10 -o made './app old' ./app.new 60000 >table 2>err
	is "compare-builds on two builds: 3, one function got slower" $? 3
	ok "  it is named" grep -qE '^pjdiff: over 10 %: .*: add$' err
	is "  and first in the table but for what calls it" "$(awk '$NF == "add" || $NF == "parse" || $NF == "show" { print $NF; exit }' table)" add
	ok "  the two programs are one" sh -c 'grep -q "^program;" made.folded && ! grep -q "^app" made.folded'
	is "  three runs a side" "$(ls made.runs/before.?.folded made.runs/after.?.folded | wc -l | tr -d ' ')" 6
	ok "  a picture" grep -q '<svg' made.svg
	"$builds" -n 2 -f 40 -o same ./app.new ./app.new 20000 >table 2>err
	is "  the same twice: 0" $? 0
	"$builds" -n 1 -o fails ./app.new './app old' >table 2>err
	is "  a program that fails ends it" "$? $(grep -c 'run 1 of ./app.new ended with status 1' err)" "1 1"
else
	skip "compare-builds on two builds" "recording is not allowed here: $(head -n 1 why)"
fi

done_testing
