#!/bin/sh
# idrace.t - names of executed files lead to a FIFO at every other moment: nothing of pjrecord opens it (it could be a watchdog or a tape).
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: common/files/targetfile.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export PJ_TOP
if [ -z "${PJ_IDRACE_INSIDE:-}" ]; then # other recorders of this machine leave files of other mount namespaces alone
	unshare -m true 2>/dev/null || { echo "1..0 # SKIP mount namespaces cannot be made here"; exit 0; }
	PJ_IDRACE_INSIDE=1 exec unshare -m --propagation private "$0" "$@"
fi
. "$PJ_TOP/test/lib/tap.sh"
. "$PJ_TOP/test/hostile/lib.sh"
. "$PJ_TOP/test/lib/record.sh"

half=$(((attack_secs + 1) / 2))
pjrecord -v -F 1999 -w 2 -d win >out 2>err &
recorder=$!
until_ 10 test -e win/recording/used || { cat err; fail "pjrecord starts" err; }
attack idrace $half
wait "$attack"
is "FIFOs that pjrecord opened" "$(cat "$arena/log")" "opened 0"
ok "  SIGTERM ends it" ends_within 2 $recorder
ok "  the attack was in the windows" sh -c "pjfold -q win/out/*.data | grep -q idrace"
rm -rf "$arena/d" "$arena/e" "$arena/fifo" "$arena/code"
pjrecord -v -F 1999 -o x.data >out 2>err &
recorder=$!
until_ 10 test -e x.data.part || sleep 1
attack idrace $half
wait "$attack"
is "FIFOs that pjrecord -o opened" "$(cat "$arena/log")" "opened 0"
ok "  SIGTERM ends it" ends_within 2 $recorder
done_testing
