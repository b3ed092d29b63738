/* SPDX-License-Identifier: Apache-2.0 */
/* recordreport.h - prints the messages of pjrecord about a recording, at its start and at its end. */
#ifndef PJ_RECORDREPORT_H
#define PJ_RECORDREPORT_H

#include "record/perf/events.h"
#include "record/recordopts.h"
#include "record/session/session.h"
#include "record/symsaver/symsaver.h"

/* Prints messages about restrictions of the host when the recording starts: smaller stack copies than requested, no
 * hardware counters (with -v), no kernel stacks, hidden kernel symbols, no cgroups in samples; and about a libjvm.so
 * that changed since its probes were tested. Exits with a message instead if the host refuses the unwinding that the
 * user chose with --unwind, or the copies of stacks that java:alloc needs. */
void recordreport_start(const struct request *request, const struct session *session, const struct events *events);

/* Prints that the recording has no end, if the operand SECONDS is its only number: users of perf may mean it as the
 * duration. */
void recordreport_endless(const struct request *request);

/* Prints why the command cannot be executed. error: the errno of exec. If `command` is not found in PATH, the message
 * also shows how to record a command, and the host. */
void recordreport_exec(const char *command, int error);

/* Prints the summary of a recording into a single file or pipe: a sentence, with -v all figures. Prints nothing with
 * -q. */
void recordreport_end(const struct request *request, const struct session *session);

/* Returns true and prints a message if the share of lost samples, or of off-CPU times that are unknown, exceeds
 * --max-lost. Returns false without --max-lost. */
bool recordreport_loss(const struct request *request, const struct session *session);

/* With -v, prints the counts of the symbol store. */
void recordreport_saved(const struct request *request, const struct symsaver_counts *counts);

/* Warns if a helper process that makes unwind tables hung or crashed. */
void recordreport_makers(const struct session *session);

/* Warns if the kernel refused, for lack of a right, all reads of stacks of threads off the CPU. Prints nothing with
 * -q. */
void recordreport_waits(const struct request *request, const struct session *session);

#endif
