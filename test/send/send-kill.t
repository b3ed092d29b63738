#!/bin/sh
# send-kill.t - pjsend killed at every call that changes or tells anything: the store in a directory holds exactly what was recorded.
# PJ_KILL_STEP: every so many calls only (1).
# covers: send/sender.c send/spool/spooler.c send/stores/dirstore.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL
# shellcheck source=test/send/kill.sh
. "$top/test/send/kill.sh"

have pjsend || skip_all "pjsend is not built"

dir_fresh() { rm -rf kill.store; }
dir_store() { echo "dir:kill.store"; }
dir_sum() { pjfetch -q --store=dir:kill.store --from=1700000000 --to=1700001000; }

kill_everywhere "dir:" dir_fresh dir_store dir_sum 200 "${PJ_KILL_STEP:-1}"

done_testing
