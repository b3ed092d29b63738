/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eventchoice.h - chooses the event of a perf.data file to fold if the user chose none.
 *
 * A file with several events has samples of different units, which must not be added up. The choice is made from the
 * names and types of the events, before any sample is read.
 */
#ifndef PJ_EVENTCHOICE_H
#define PJ_EVENTCHOICE_H

#include "fold/perfdata/perfdata.h"

/* Returns true for a recording of pjrecord --off-cpu, which has the event "offcpu-time-preempted"; false for all other
 * recordings. */
bool eventchoice_has_offcpu(const struct perfdata *data);

/* Returns the name of the event to fold if the user chose none. For a recording of pjrecord --wall: "wall-time". For a
 * recording of pjrecord --off-cpu: "offcpu-time", since its three events are in random order. For any other file with
 * several events: the first event, if it samples CPU time. In all other cases the name is empty, and the event of the
 * first sample is folded: the first event may have no samples, as in perf mem. */
struct str eventchoice_default(const struct perfdata *data);

#endif
