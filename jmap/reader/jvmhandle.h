/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmhandle.h - controls the helper process of one JVM (readhelper.h) for pjmap.
 *
 * pjmap has the rights to read other processes: it opens /proc/PID/mem and checks the owner, but only the helper reads
 * from that descriptor. After an exec the process has other memory, so a new helper gets a new descriptor. Requests do
 * not block: pjmap continues with other JVMs and polls the sockets. A helper that crashes or exceeds its deadline is
 * replaced. Times are ns of clock_now().
 *
 * jvmhandle_start(&handle, &process);
 * jvmhandle_query(&handle, &request, now);
 * while (jvmhandle_poll(&handle, &answer) == JVMHANDLE_BUSY && !jvmhandle_hangs(&handle, clock_now()))
 * 	poll(...);
 * jvmhandle_end(&handle, &left, tenant);
 */
#ifndef PJ_JVMHANDLE_H
#define PJ_JVMHANDLE_H

#include "runtimes/hotspot/hotspot.h"
#include "jmap/reader/readhelper.h"
#include "common/process/tenants.h"

#include <time.h>

struct jvmhandle {
	pid_t helper; /* pid of the helper process; 0: there is none */
	/* socket to the helper; files in memory for its records and its map (readhelper.h) */
	int socket, records, map;
	clockid_t clock; /* id of the clock that measures the helper's CPU time */
	uint64_t cpu;    /* CPU time of the helper up to the last jvmhandle_cpu, in ns */
	/* time for which the helper ran or waited for a CPU, in ns, at the last jvmhandle_blocked */
	uint64_t scheduled;
	/* serial: number of the last request; since: time of the pending request, 0 if none is pending */
	uint64_t serial, since;
};

/* Result of jvmhandle_poll, in this order: no request is pending, one is pending, it was answered, the helper has
 * ended. */
enum jvmhandle_state { JVMHANDLE_IDLE, JVMHANDLE_BUSY, JVMHANDLE_ANSWERED, JVMHANDLE_CRASHED };

/* Helpers that were ended but have not exited yet. A blocked helper exits only when the JVM's memory responds, even if
 * it is killed. */
struct jvmhandle_left {
	struct jvmhandle_ended {
		pid_t helper;
		struct tenant tenant;
		uint64_t since;
	} * one;
	size_t n;
};

/* Opens the memory of the JVM and forks its helper. Returns code NULL, or a reason; in that case jvmhandle_end is not
 * needed. */
struct hotspot_reason jvmhandle_start(struct jvmhandle *handle, const struct jvm_process *process);

/* Sends a request to an idle helper and sets request->serial. A later jvmhandle_poll returns the answer. */
void jvmhandle_query(struct jvmhandle *handle, struct read_request *request, uint64_t now);

/* Takes the helper's answer if it has arrived. The texts of the answer are printable. Its numbers may have any value,
 * because the JVM may have taken over the helper. */
enum jvmhandle_state jvmhandle_poll(struct jvmhandle *handle, struct read_answer *answer);

/* Returns the reason in an answer, with a static string as its code, or code NULL if it has none. */
struct hotspot_reason jvmhandle_reason(const struct read_answer *answer);

/* Returns true if the pending request has taken so long that the caller must end the helper. */
bool jvmhandle_hangs(const struct jvmhandle *handle, uint64_t now);

/* Returns the CPU time of the helper since the last call, in ns. */
uint64_t jvmhandle_cpu(struct jvmhandle *handle);

/* Returns the time between `since` and `now` in which the helper neither ran nor waited for a CPU, in ns: memory of the
 * JVM did not respond. */
uint64_t jvmhandle_blocked(struct jvmhandle *handle, uint64_t since, uint64_t now);

/* Ends the helper, if there is one: adds it to *left without waiting, and closes its socket and files. */
void jvmhandle_end(struct jvmhandle *handle, struct jvmhandle_left *left, struct tenant tenant);

/* Reaps the helpers in *left that have exited, and removes them from the list. */
void jvmhandle_reap(struct jvmhandle_left *left);

/* Returns the number of helpers of a tenant that did not exit within a second after their end: they are blocked. */
size_t jvmhandle_stuck(const struct jvmhandle_left *left, struct tenant tenant, uint64_t now);

/* Waits up to 200 ms for the helpers in *left to exit, because their memory counts for pjmap, which ends. Then kills
 * the others and frees *left. */
void jvmhandle_leave(struct jvmhandle_left *left);

/* Starts a helper for one request, sends it, and waits some seconds at most for the answer. Fills *answer in any case.
 * Sets *map to a file with answer->map_bytes bytes, which the caller closes, or -1. map is NULL if no map is wanted.
 * Returns code NULL, or the reason of a failure. */
struct hotspot_reason jvmhandle_once(const struct jvm_process *process, enum read_task task, enum method_style style,
				     struct read_answer *answer, int *map);

#endif
