/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmhandle.h - controls the helper process of one JVM (readhelper.h) for pjmap.
 *
 * pjmap, which has the rights to read other processes, opens /proc/PID/mem and checks its owner, but reads nothing from
 * it. After an exec the process has other memory: a new helper gets a new descriptor. Requests do not block: pjmap
 * continues with other JVMs and polls the sockets. A helper that crashes or exceeds its deadline is replaced. Times are
 * clock_now(), in ns.
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
	pid_t helper; /* 0: none */
	/* socket to the helper, and its files in memory (readhelper.h) */
	int socket, records, map;
	clockid_t clock;    /* clock of its CPU time */
	uint64_t cpu;       /* ns: CPU time that was charged */
	uint64_t scheduled; /* ns: time that it ran or waited for a CPU, at the last check */
	uint64_t serial,
		since; /* serial number of the last request; time of the pending request, 0 if none is pending */
};

/* State after a poll: no request pending, pending, answered, or the helper has ended. */
enum jvmhandle_state { JVMHANDLE_IDLE, JVMHANDLE_BUSY, JVMHANDLE_ANSWERED, JVMHANDLE_CRASHED };

/* Helpers that have to end. A blocked helper ends only when the JVM's memory responds, even if it is killed. */
struct jvmhandle_left {
	struct jvmhandle_ended {
		pid_t helper;
		struct tenant tenant;
		uint64_t since;
	} * one;
	size_t n;
};

/* Opens the memory of the JVM and forks its helper. On failure returns a reason; nothing needs jvmhandle_end then. */
struct hotspot_reason jvmhandle_start(struct jvmhandle *handle, const struct jvm_process *process);

/* Sends a request to an idle helper and sets its serial number. The result is in a later jvmhandle_poll. */
void jvmhandle_query(struct jvmhandle *handle, struct read_request *request, uint64_t now);

/* Takes the answer if there is one. Its texts are printable; its numbers may have any value, because the JVM may
 * have taken over the helper. */
enum jvmhandle_state jvmhandle_poll(struct jvmhandle *handle, struct read_answer *answer);

/* Returns the reason in an answer, or none. The code of the reason is a static string. */
struct hotspot_reason jvmhandle_reason(const struct read_answer *answer);

/* Returns true if the pending request takes so long that the caller must end the helper. */
bool jvmhandle_hangs(const struct jvmhandle *handle, uint64_t now);

/* Returns the helper's CPU time since the last call, in ns. */
uint64_t jvmhandle_cpu(struct jvmhandle *handle);

/* Returns the ns between `since` and now in which the helper neither ran nor waited for a CPU: memory of the JVM did
 * not respond. */
uint64_t jvmhandle_blocked(struct jvmhandle *handle, uint64_t since, uint64_t now);

/* Ends the helper, if there is one, without waiting: adds it to *left. Closes its socket and files. */
void jvmhandle_end(struct jvmhandle *handle, struct jvmhandle_left *left, struct tenant tenant);

/* Reaps the helpers that have ended, and removes them from *left. */
void jvmhandle_reap(struct jvmhandle_left *left);

/* Returns how many helpers of a tenant did not end within a second: they are blocked. */
size_t jvmhandle_stuck(const struct jvmhandle_left *left, struct tenant tenant, uint64_t now);

/* Waits up to 200 ms for all of them, because their memory counts for the tool that ends; then kills the others and
 * frees *left. */
void jvmhandle_leave(struct jvmhandle_left *left);

/* Sends one request to a helper of its own and waits some seconds at most for the answer. Fills *answer in any case.
 * *map is a file with answer->map_bytes bytes, which the caller closes, or -1; map is NULL if no map is wanted.
 * Returns the reason of a failure. */
struct hotspot_reason jvmhandle_once(const struct jvm_process *process, enum read_task task, enum method_style style,
				     struct read_answer *answer, int *map);

#endif
