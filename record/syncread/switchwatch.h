/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switchwatch.h - records of context switches by CPU, for certificates: opened, bounded by their rate, passed on in
 * order.
 *
 * Each CPU has events and a ring of its own, so that a flood of switches drops no sample. Switches are recorded only on
 * CPUs where the caller requests it, and stop for a while on a CPU with more than a maximum of records a second.
 */
#ifndef PJ_SWITCHWATCH_H
#define PJ_SWITCHWATCH_H

#include "record/syncread/certificate.h"

#define SWITCHWATCH_BYTES ((size_t)512 << 10) /* size of a ring; less if the kernel does not allow it */
#define SWITCHWATCH_LEAST ((size_t)16 << 10)
#define SWITCHWATCH_MARGIN_NS UINT64_C(5000000) /* age at which records are taken: notes of copies come first */

struct switchwatch;

/* per_second: maximum number of records per second and CPU; pause_ns: time for which they stop above it; epoll:
 * descriptor of an epoll that becomes readable when a ring is half full. */
struct switchwatch *switchwatch_new(uint32_t per_second, uint64_t pause_ns, int epoll);
/* Accepts NULL. */
void switchwatch_free(struct switchwatch *switchwatch);

/* Opens the events of a CPU and starts its records of arrivals, unless they are open. */
void switchwatch_open(struct switchwatch *switchwatch, struct certificate *certificate, uint32_t cpu);
/* Closes the events of all CPUs: nothing is registered. */
void switchwatch_close_all(struct switchwatch *switchwatch, struct certificate *certificate);
/* Starts or stops the records of switches of a CPU. Returns true if they are on now: no if the kernel refuses, or
 * during a pause.
 */
bool switchwatch_set(struct switchwatch *switchwatch, struct certificate *certificate, uint32_t cpu, bool on);
/* Returns true if the events of a CPU are open. */
bool switchwatch_has(const struct switchwatch *switchwatch, uint32_t cpu);
/* Sets the reader thread of a CPU, for the certificate; its own switches do not count for the rate. */
void switchwatch_reader(struct switchwatch *switchwatch, struct certificate *certificate, uint32_t cpu, uint32_t tid);
/* Closes the event of a CPU that is offline. */
void switchwatch_close(struct switchwatch *switchwatch, struct certificate *certificate, uint32_t cpu);
/* Passes all records that are older than SWITCHWATCH_MARGIN_NS at `now` to the certificate, and decides copies. Calls
 * arrived(to, cpu, tid) for each thread that arrived on a CPU. */
void switchwatch_take(struct switchwatch *switchwatch, struct certificate *certificate, uint64_t now,
		      void (*arrived)(void *to, uint32_t cpu, uint32_t tid), void *to);

/* Return the number of records that were passed, and of pauses. */
uint64_t switchwatch_records(const struct switchwatch *switchwatch);
uint64_t switchwatch_pauses(const struct switchwatch *switchwatch);

#endif
