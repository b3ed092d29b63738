#!/bin/sh
# fusehang.t - a program runs from a file system in the recorder's own mount namespace whose server stops answering: windows go on,
# SIGTERM ends the recorder in time, and other programs keep their build-ids.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: record/processes/identities.c common/process/timelimit.c record/symsaver/saverprocess.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export PJ_TOP
if [ -z "${PJ_FUSEHANG_INSIDE:-}" ]; then # the mounts end with this namespace, whatever happens
	unshare -m true 2>/dev/null || { echo "1..0 # SKIP mount namespaces cannot be made here"; exit 0; }
	[ -c /dev/fuse ] || { echo "1..0 # SKIP no /dev/fuse"; exit 0; }
	PJ_FUSEHANG_INSIDE=1 exec unshare -m --propagation private "$0" "$@"
fi
. "$PJ_TOP/test/lib/tap.sh"
. "$PJ_TOP/test/hostile/lib.sh"
. "$PJ_TOP/test/lib/record.sh"

windows()
{
	find "$1/out" -name '*.data' | wc -l
}

has_windows()
{
	[ "$(windows "$1")" -ge "$2" ]
}

# beside STAGE: pjrecord beside a server that does not answer STAGE any more
beside()
{
	mkdir "$arena/mnt-$1" "$1"
	mkfifo "$1/hold"
	PJ_SEED=$seed "$(program fusehang)" "$arena/mnt-$1" "$1" <"$1/hold" >"$1/log" 2>&1 &
	attacks="$attacks $!"
	exec 8>"$1/hold"
	if ! until_ 10 grep -q ready "$1/log"; then
		skip "$1" "FUSE cannot be mounted here: $(cat "$1/log")"
		exec 8>&-
		return
	fi
	sleep 1
	pjrecord -v -F 499 -w 1 -d "$1/win" >/dev/null 2>"$1/err" 8>&- &
	recorder=$!
	until_ 8 test -e "$1/win/out"
	ok "$1: windows go on" until_ 20 has_windows "$1/win" 3
	ok "  another program has its build-id" until_ 20 has_build_id "$1/win/out"
	ok "  SIGTERM ends the recorder" ends_within 2 $recorder
	if [ "$1" = lookup ]; then check_beside "$arena/mnt-$1"; fi
	exec 8>&- # the server ends, and with it every wait for it
	if kill -0 $recorder 2>/dev/null; then wait $recorder; fi
	umount -l "$arena/mnt-$1" 2>/dev/null
}

# runs PID PROGRAM: it is that program by now
runs()
{
	[ "$(readlink "/proc/$1/exe")" = "$2" ]
}

# check_beside MOUNT: pjrecord --check, while a process with code of a JIT has that file system for its /tmp
check_beside()
{
	unshare -m --propagation private sh -c "exec 7<'$host_program' && mount --bind '$1' /tmp && exec /proc/self/fd/7 burn" >/dev/null 9>/dev/null 8>&- &
	burner=$!
	attacks="$attacks $burner"
	until_ 10 runs $burner "$host_program"
	sleep 1
	pjrecord --check -d "$scratch/checked" >check 2>&1 8>&- &
	checker=$!
	ok "  pjrecord --check ends" until_ 8 not kill -0 $checker
	ok "  and names what it left out" grep -qE '[0-9]+ process(es were| was) left out' check
}

# has_build_id FOLDER: that of $host_program, in a window that is complete
has_build_id()
{
	[ -z "$host_build" ] || cat "$1"/*.data | od -An -v -tx1 | tr -d ' \n' | grep -q "$host_build"
}

host_program=$scratch/busy
cp "$build/test/hostile/fusehang" "$host_program"
host_build=$(readelf -n "$host_program" 2>/dev/null | sed -n 's/.*Build ID: //p')
"$host_program" burn >/dev/null 9>/dev/null &
attacks="$attacks $!"
for stage in lookup getattr open read; do beside $stage; done
done_testing
