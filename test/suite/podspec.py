#!/usr/bin/python3
"""podspec.py MANIFEST CONTAINER ROOTFS NODE DIRECTORY SECCOMP - prints the config.json with which runc starts a container of a DaemonSet.

It translates what kubelet and containerd translate: securityContext, hostPID, env, hostPath volumes and the limit of memory; the other
settings are containerd's defaults. NODE is the name of the node, DIRECTORY is used instead of the hostPath, and SECCOMP is a profile with
the rules of the default one (containers-common's seccomp.json), of which those for the container's capabilities are taken.
"""
import json
import os
import re
import resource
import sys

import yaml

# containerd, oci/spec.go
DEFAULT_CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "MKNOD", "NET_RAW", "SETGID", "SETUID", "SETFCAP", "SETPCAP",
                        "NET_BIND_SERVICE", "SYS_CHROOT", "KILL", "AUDIT_WRITE"]
MASKED = ["/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats",
          "/proc/sched_debug", "/sys/firmware", "/proc/scsi"]
READ_ONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]


# A rule of the profiles of containerd and Docker (since 2022) that containers-common of Debian 12 lacks.
WITH_PERFMON = [{"names": ["perf_event_open"], "action": "SCMP_ACT_ALLOW"}]


def capabilities(context):
    """The capabilities of securityContext, as CAP_NAME."""
    change = context.get("capabilities", {})
    names = set() if "ALL" in change.get("drop", []) else set(DEFAULT_CAPABILITIES) - set(change.get("drop", []))
    return sorted("CAP_" + name for name in names | set(change.get("add", [])))


def kernel_at_least(version):
    return [int(x) for x in re.findall(r"\d+", os.uname().release)[:2]] >= [int(x) for x in version.split(".")[:2]]


def applies(rule, caps):
    """True if a rule of the profile holds for these capabilities, on this processor and kernel."""
    def matches(condition):
        return [set(condition["caps"]) <= set(caps) for _ in "x" if condition.get("caps")] + \
            [("amd64" in condition["arches"]) == (os.uname().machine == "x86_64") for _ in "x" if condition.get("arches")] + \
            [kernel_at_least(condition["minKernel"]) for _ in "x" if condition.get("minKernel")]
    excluded = rule.get("excludes") or {}
    return all(matches(rule.get("includes") or {})) and not any(
        [bool(set(excluded.get("caps") or []) & set(caps)), "amd64" in (excluded.get("arches") or []) and os.uname().machine == "x86_64"])


def seccomp(profile, caps):
    rules = json.load(open(profile))
    calls = WITH_PERFMON if "CAP_PERFMON" in caps else []
    allowed = [name for rule in calls for name in rule["names"]]
    for rule in rules["syscalls"]:
        names = [name for name in rule["names"] if name not in allowed]
        if names and applies(rule, caps):
            calls = calls + [dict({key: rule[key] for key in ("action", "args", "errnoRet") if rule.get(key) is not None}, names=names)]
    return {"defaultAction": rules["defaultAction"], "defaultErrnoRet": rules.get("defaultErrnoRet", 1), "syscalls": calls,
            "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"] if os.uname().machine == "x86_64" else ["SCMP_ARCH_AARCH64"]}


def size(text):
    factor = {"Ki": 2 ** 10, "Mi": 2 ** 20, "Gi": 2 ** 30}
    return int(text[:-2]) * factor[text[-2:]]


def environment(container, node):
    env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "KUBERNETES_SERVICE_HOST": "10.0.0.1"}
    for variable in container.get("env", []):
        source = variable.get("valueFrom")
        if source:
            assert source["fieldRef"]["fieldPath"] == "spec.nodeName"
        env[variable["name"]] = node if source else variable["value"]
    return env


def config(manifest, name, rootfs, node, directory, profile):
    pod = yaml.safe_load(open(manifest))["spec"]["template"]["spec"]
    (container,) = [c for c in pod["containers"] if c["name"] == name]
    context = container["securityContext"]
    caps = capabilities(context)
    env = environment(container, node)
    args = [re.sub(r"\$\((\w+)\)", lambda m: env[m[1]], a) for a in container["command"] + container.get("args", [])]
    (volume,) = pod["volumes"]
    (mount,) = container["volumeMounts"]
    assert mount["name"] == volume["name"] and "hostPath" in volume
    files = min(65536, resource.getrlimit(resource.RLIMIT_NOFILE)[1])  # this machine may forbid more
    namespaces = ["mount", "ipc", "uts", "network"] + ([] if pod.get("hostPID") else ["pid"])
    assert context["seccompProfile"]["type"] == "RuntimeDefault" and not context["privileged"]
    return {
        "ociVersion": "1.0.2", "hostname": "pod-" + name, "root": {"path": rootfs, "readonly": context["readOnlyRootFilesystem"]},
        "process": {"terminal": False, "user": {"uid": context["runAsUser"], "gid": 0}, "cwd": "/", "args": args,
                    "env": [f"{key}={value}" for key, value in env.items()],
                    "capabilities": {kind: caps for kind in ("bounding", "effective", "permitted")},
                    "noNewPrivileges": not context["allowPrivilegeEscalation"],
                    "rlimits": [{"type": "RLIMIT_NOFILE", "hard": files, "soft": files}]},
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc", "options": ["nosuid", "noexec", "nodev"]},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "strictatime", "mode=755", "size=65536k"]},
            {"destination": "/dev/pts", "type": "devpts", "source": "devpts",
             "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"]},
            {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": ["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"]},
            {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]},
            {"destination": mount["mountPath"], "type": "bind", "source": directory, "options": ["rbind", "rprivate", "rw"]}],
        "linux": {"namespaces": [{"type": kind} for kind in namespaces], "maskedPaths": MASKED, "readonlyPaths": READ_ONLY,
                  "resources": {"memory": {"limit": size(container["resources"]["limits"]["memory"])},
                                "devices": [{"allow": False, "access": "rwm"}]},
                  "seccomp": seccomp(profile, caps)}}


json.dump(config(*sys.argv[1:]), sys.stdout, indent=1)
