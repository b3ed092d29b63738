#!/bin/sh
# units-python-guest.t - pjrecord.service beside a Python program, under systemd as PID 1 of a guest, with a system call filter that
# kills: no call is made that it forbids, a thread has real-time priority, and only pjrecord has the right to it. An emulated processor is too slow
# for names: pods.t and record-python.t check them.
# full: boots a virtual machine
# once: as units-guest.t
# covers: record/syncread/readerthread.c record/pjrecord.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
PJ_GUEST_PART=units-python-guest
# shellcheck source=test/suite/units-guest.t
. "$PJ_TOP/test/suite/units-guest.t"
