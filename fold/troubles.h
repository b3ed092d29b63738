/* SPDX-License-Identifier: Apache-2.0 */
/*
 * troubles.h - finds the causes of missing names and callers in a recording, for the summary sentence (judgement.h).
 *
 * Runtimes are recognized by the names of their programs, libraries and functions. These are hostile input: a false
 * name changes the report on its own process only.
 */
#ifndef PJ_TROUBLES_H
#define PJ_TROUBLES_H

#include "fold/stackquality.h"
#include "fold/perfdata/recorder.h"

/* Adds the causes of frames without names, and samples in interpreters whose functions have none. recorder: of the
 * recording. Call it after stackquality_measure(). */
void troubles_of_names(const struct stack_quality *quality, const struct recorder *recorder,
		       struct judgement *judgement);

/* Adds the causes of incomplete stacks, and the totals, of all recordings. */
void troubles_of_stacks(const struct recording_tally *tally, const struct samples *samples,
			struct judgement *judgement);

#endif
