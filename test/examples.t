#!/bin/sh
# examples.t - the unit, the cron line and the DaemonSet in examples/: well-formed, and with options that pjrecord has.
# shellcheck source=test/tap.sh
. "$(dirname "$0")/tap.sh"
LC_ALL=C
export LC_ALL
unit=$top/examples/pjrecord.service
cron=$top/examples/pjrecord.cron
pods=$top/examples/pjrecord-daemonset.yaml
five='CAP_DAC_READ_SEARCH CAP_IPC_LOCK CAP_PERFMON CAP_SYSLOG CAP_SYS_PTRACE'

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
ok "  and make sense" accepted $(sed 's/^[^ ]*//; s/%%/%/g' line)
is "  its capabilities" "$(sed -n 's/^AmbientCapabilities=//p' "$unit" | sorted)" "$five"
is "  and those it may have" "$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | sorted)" "$five"
# one would hide what the host sees
is "  nothing gives it a mount namespace" \
	"$(grep -cE '^(Protect|Private|ReadOnly|ReadWrite|Inaccessible|TemporaryFileSystem|Bind|Root|DynamicUser|MountFlags)' "$unit")" 0
if have systemd-analyze; then
	mkdir units
	# the program as it is built, and a user that exists
	sed "s|/usr/local/bin/pjrecord|$(command -v pjrecord)|; s/^User=.*/User=daemon/" "$unit" >units/pjrecord.service
	timeout 60 systemd-analyze verify --man=no "$PWD/units/pjrecord.service" >verify 2>&1 </dev/null
	status=$?
	grep 'pjrecord' verify >ours
	if [ "$status" -eq 0 ] && [ ! -s ours ]; then
		pass "  systemd-analyze verify"
	elif [ ! -s ours ]; then
		skip "  systemd-analyze verify" "it does not work here (status $status): $(head -n 1 verify)"
	else
		fail "  systemd-analyze verify" ours
	fi
else
	skip "  systemd-analyze verify" "systemd is not installed"
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

# ---- Kubernetes

sed -n 's/^ *args: \[\(.*\)\]/\1/p' "$pods" | tr ',' ' ' >line
ok "the DaemonSet: its options exist" options_exist line
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
(c,) = spec["containers"]
sc = c["securityContext"]
assert sc["privileged"] is False and sc["allowPrivilegeEscalation"] is False and sc["readOnlyRootFilesystem"] is True
assert sc["capabilities"]["drop"] == ["ALL"]
assert all(isinstance(a, str) for a in c["command"] + c["args"]), "arguments are strings"
assert {m["name"] for m in c["volumeMounts"]} == {v["name"] for v in spec["volumes"]}, "volumes"
directory = [a.split("=", 1)[1] for a in c["args"] if a.startswith("--dir=")]
assert directory == [m["mountPath"] for m in c["volumeMounts"]], "what is written is mounted"
print(" ".join(sorted("CAP_" + x for x in sc["capabilities"]["add"])))
PY
	is "  its parts fit together" "$(python3 check.py "$pods" 2>&1 | tail -n 1)" "$five"
else
	skip "  its parts fit together" "python3 has no yaml"
fi

done_testing
