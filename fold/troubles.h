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

/* Adds to the judgement the causes of unnamed frames, and the samples in interpreters whose functions the recording
 * does not name. recorder: description of the recording. To be called after stackquality_measure(). */
void troubles_of_names(const struct stack_quality *quality, const struct recorder *recorder,
		       struct judgement *judgement);

/* Adds to the judgement the causes of incomplete stacks, and the numbers of all stacks and of complete stacks, summed
 * over all recordings. For off-CPU events the numbers are times in ns, unless the user chose numbers of samples as
 * weights. */
void troubles_of_stacks(const struct recording_tally *tally, const struct samples *samples,
			struct judgement *judgement);

#endif
