/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switchwatch.h - records context switches and migrations of each CPU, as proof for certificates (certificate.h).
 *
 * Each CPU has its own perf events and ring, so that a flood of switches drops no sample. Switches are recorded only on
 * CPUs for which the caller requests it. The records of a CPU pause if their rate exceeds a maximum.
 */
#ifndef PJ_SWITCHWATCH_H
#define PJ_SWITCHWATCH_H

#include "record/syncread/certificate.h"

/* SWITCHWATCH_BYTES: first size of a ring in bytes, halved while the kernel refuses the ring. SWITCHWATCH_LEAST:
 * smallest size; if the kernel refuses that, too, the events of the CPU are not opened. */
#define SWITCHWATCH_BYTES ((size_t)512 << 10)
#define SWITCHWATCH_LEAST ((size_t)16 << 10)
/* Minimum age of a record in ns at which switchwatch_take passes it to the certificate. Younger records wait in the
 * ring, because the caller may not have passed the notes of all copies from that time yet. */
#define SWITCHWATCH_MARGIN_NS UINT64_C(5000000)

struct switchwatch;

/* Returns a watch that has opened no events yet. per_second: maximum number of records per second on one CPU; above it,
 * the records of the CPU pause for pause_ns. epoll: epoll descriptor, which becomes readable when a ring is half
 * full. */
struct switchwatch *switchwatch_new(uint32_t per_second, uint64_t pause_ns, int epoll);
/* Closes all events and frees the watch. Accepts NULL. */
void switchwatch_free(struct switchwatch *switchwatch);

/* Opens the events of a CPU and starts its records of migrations, unless they are open. */
void switchwatch_open(struct switchwatch *switchwatch, struct certificate *certificate, uint32_t cpu);
/* Closes the events of all CPUs. Called when no process is registered any more. */
void switchwatch_close_all(struct switchwatch *switchwatch, struct certificate *certificate);
/* Starts or stops the records of switches of a CPU. Returns true if these records are on now; false if they are off, as
 * requested, refused by the kernel, or paused. */
bool switchwatch_set(struct switchwatch *switchwatch, struct certificate *certificate, uint32_t cpu, bool on);
/* Returns true if the events of a CPU are open. */
bool switchwatch_has(const struct switchwatch *switchwatch, uint32_t cpu);
/* Sets the reader thread of a CPU, also in the certificate. Switches from or to the reader thread are left out of the
 * CPU's rate of records. */
void switchwatch_reader(struct switchwatch *switchwatch, struct certificate *certificate, uint32_t cpu, uint32_t tid);
/* Closes the events of a CPU. Its running copies get SYNCREAD_UNWATCHED, all other undecided copies SYNCREAD_LOST. */
void switchwatch_close(struct switchwatch *switchwatch, struct certificate *certificate, uint32_t cpu);
/* Passes all records that are older than SWITCHWATCH_MARGIN_NS at `now` to the certificate, which decides on copies up
 * to that time. Calls arrived(to, cpu, tid) for each thread that migrated to a CPU. */
void switchwatch_take(struct switchwatch *switchwatch, struct certificate *certificate, uint64_t now,
		      void (*arrived)(void *to, uint32_t cpu, uint32_t tid), void *to);

/* switchwatch_records returns the number of records that were read since the start; switchwatch_pauses returns the
 * number of pauses. */
uint64_t switchwatch_records(const struct switchwatch *switchwatch);
uint64_t switchwatch_pauses(const struct switchwatch *switchwatch);

#endif
