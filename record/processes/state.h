/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - the state of processes, given to each window as far as its samples need it.
 *
 * The kernel's side-band records change the table (processes.h); before the first sample of a thread in a window stands
 * a record with its name, and before the first that hits a mapping one with that, made from the table with the sample's
 * time. Names that change later go through, and so does the mark of a jitdump, which nothing hits. Everything else,
 * forks included, is left out: a process has hundreds of mappings, of which its samples hit some few.
 */
#ifndef PJ_STATE_H
#define PJ_STATE_H

#include "record/processes/cgroups.h"
#include "record/symsaver/symsaver.h"
#include "record/processes/kernel.h"
#include "record/processes/rescan.h"
#include "record/processes/processes.h"

struct state;

/* event: number of the event that carries these records. keep may be NULL. */
struct state *state_new(struct processes *processes, struct cgroups *cgroups, struct kernel *kernel,
			struct symsaver *keep, struct rescan *rescan, uint64_t event);
void state_free(struct state *state);

void state_begin(struct state *state, uint64_t window); /* window: serial + 1 */

/* A record that is no sample: changes the table. True: it belongs into the window, as it is then (mappings are given a
 * build-id). */
bool state_record(struct state *state, struct perf_record *perf_record, uint64_t ns);

/* What can be known of the process of a sample is: where no record told of it, /proc is read. */
void state_note(struct state *state, uint32_t pid, uint32_t tid, uint64_t ip);

/* Appends what the window must have of the process and thread of a sample: their names. False: nothing is known of the
 * process. */
bool state_sampled(struct state *state, struct text *records, uint32_t pid, uint32_t tid, uint64_t ns, uint64_t ip);

/* Appends the mappings that the addresses of its callchain are in; or, of a sample over budget, the one of
 * PJ_OVER_BUDGET_PATH. */
void state_hits(struct state *state, struct text *records, uint32_t pid, uint64_t ns, const uint64_t *ips, uint64_t n);
void state_over_budget(struct state *state, struct text *records, uint32_t pid, uint64_t ns);

/* The tenant of a process that was sampled. */
struct tenant state_tenant(const struct state *state, uint32_t pid);

/* Are records of its mappings skipped, or were, and it was not read since? Then its addresses are in unknown code. */
bool state_is_stale(const struct state *state, uint32_t pid);

/* Is a record of a mapping, name or namespaces of this process to be skipped at a time? Counts it, if so
 * (mending_skips). */
bool state_skips(struct state *state, uint32_t pid, uint64_t ns);
void state_cgroup(struct state *state, struct text *records, uint64_t id, uint64_t ns);

/* The window ends: what was learned of it too late to stand in front of its samples. */
void state_end(struct state *state);

/* Of the window, then: BUILD_ID entries, PJ_ITEM_PROCESS items, how many processes. */
struct str state_build_ids(const struct state *state);
struct str state_items(const struct state *state);
uint64_t state_processes(const struct state *state);

/* How many of ips[0..n) are markers of contexts, not addresses. */
uint64_t state_markers(const uint64_t *ips, uint64_t n);

#endif
