#!/bin/sh
# syncread.t - runs syncread_test, which samples this machine, without others beside it.
# stage: live
# covers: record/syncread/syncread.c record/syncread/readerthread.c record/syncread/switchwatch.c
PJ_LIVE=1 exec "$PJ_BUILD/test/record/syncread/syncread_test"
