/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - gives each window the process state that its samples need.
 *
 * The kernel's side-band records change the table (processes.h). A record with the name of a thread precedes its
 * first sample in a window, and a record of a mapping the first sample that hits it; both are made from the table
 * with the sample's time. Later changes of names are written through, and so is the mapping of a jitdump, which no
 * sample hits. Everything else, forks included, is left out: a process has hundreds of mappings, of which its
 * samples hit a few.
 *
 * Order of calls for each sample: state_note (only if its stack is to be unwound), state_sampled, state_hits or
 * state_over_budget, and state_cgroup. They append records that belong before the sample.
 */
#ifndef PJ_STATE_H
#define PJ_STATE_H

#include "record/processes/cgroups.h"
#include "record/symsaver/symsaver.h"
#include "record/processes/kernel.h"
#include "record/processes/rescan.h"
#include "record/processes/processes.h"

struct state;

/* event is the index of the event that carries these records. keep may be NULL. All arguments must live longer. */
struct state *state_new(struct processes *processes, struct cgroups *cgroups, struct kernel *kernel,
			struct symsaver *keep, struct rescan *rescan, uint64_t event);
void state_free(struct state *state);

/* Starts a window; window is its serial + 1. */
void state_begin(struct state *state, uint64_t window);

/* Applies a record that is no sample to the table. Returns true if the record belongs into the window, in its
 * current form: mappings receive their build-id. */
bool state_record(struct state *state, struct perf_record *perf_record, uint64_t ns);

/* Completes the state of a sample's process: it is read from /proc if no record described it. */
void state_note(struct state *state, uint32_t pid, uint32_t tid, uint64_t ip);

/* Appends the names of the process and thread of a sample that the window lacks. Returns false if the thread has no
 * known name. */
bool state_sampled(struct state *state, struct text *records, uint32_t pid, uint32_t tid, uint64_t ns, uint64_t ip);

/* Appends the mappings of the addresses in its callchain that the window lacks; for a sample over budget, the
 * mapping of PJ_OVER_BUDGET_PATH. */
void state_hits(struct state *state, struct text *records, uint32_t pid, uint64_t ns, const uint64_t *ips, uint64_t n);
void state_over_budget(struct state *state, struct text *records, uint32_t pid, uint64_t ns);

/* Returns the tenant of a process that was sampled. */
struct tenant state_tenant(const struct state *state, uint32_t pid);

/* Returns true if records of its mappings are being skipped, or were, and /proc was not read since. Then its
 * addresses are in unknown code. */
bool state_is_stale(const struct state *state, uint32_t pid);

/* Returns true if a record of a mapping, name or namespaces of this process is to be skipped at time ns, and counts
 * it (rescan_skips). */
bool state_skips(struct state *state, uint32_t pid, uint64_t ns);
/* Appends the path of the cgroup with this id if the window lacks it. */
void state_cgroup(struct state *state, struct text *records, uint64_t id, uint64_t ns);

/* Ends the window: collects facts that became known too late to precede their samples. */
void state_end(struct state *state);

/* Valid after state_end: BUILD_ID entries, PJ_ITEM_PROCESS and other items, and the number of processes. */
struct str state_build_ids(const struct state *state);
struct str state_items(const struct state *state);
uint64_t state_processes(const struct state *state);

/* Returns the number of context markers among ips[0..n). */
uint64_t state_markers(const uint64_t *ips, uint64_t n);

#endif
