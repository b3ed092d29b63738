/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmhandle.h - the helper process of one JVM (readhelper.h), as pjmap sees it: it is given descriptors, requests and
 * deadlines, and replaced when it fails.
 *
 * pjmap, which may look into other processes, opens /proc/PID/mem and checks whose it is; it reads nothing of it. After
 * an exec the memory is another: a new helper gets a new descriptor. Requests do not block: pjmap goes on with other
 * JVMs, and polls the socket.
 */
#ifndef PJ_JVMHANDLE_H
#define PJ_JVMHANDLE_H

#include "runtimes/hotspot/hotspot.h"
#include "jmap/reader/readhelper.h"
#include "common/process/tenants.h"

#include <time.h>

struct jvmhandle {
	pid_t helper; /* 0: none */
	int socket, records, map;
	clockid_t clock;        /* its CPU time */
	uint64_t cpu;           /* of it, that was charged */
	uint64_t scheduled;     /* ns that it ran or waited for a CPU, when it was looked at the last time */
	uint64_t serial, since; /* of the request that is not answered; since 0: none is */
};

enum jvmhandle_state { JVMHANDLE_IDLE, JVMHANDLE_BUSY, JVMHANDLE_ANSWERED, JVMHANDLE_CRASHED };

/* Helpers that have to end. One that is blocked ends, also when it is killed, when its memory answers. */
struct jvmhandle_left {
	struct jvmhandle_ended {
		pid_t helper;
		struct tenant tenant;
		uint64_t since;
	} * one;
	size_t n;
};

/* Opens the memory of the JVM and forks its helper. Returns a reason if there is none: jvmlook_end need not be called.
 */
struct hotspot_reason jvmhandle_start(struct jvmhandle *handle, const struct jvm_process *process);

/* Sends a request to an idle helper; sets its serial number. What became of it, the next jvmlook_poll tells. */
void jvmhandle_query(struct jvmhandle *handle, struct read_request *request, uint64_t now);

/* Takes the answer, if it is there. Its texts are printable, its numbers anything. */
enum jvmhandle_state jvmhandle_poll(struct jvmhandle *handle, struct read_answer *answer);

/* The reason in an answer, or none. */
struct hotspot_reason jvmhandle_reason(const struct read_answer *answer);

/* Does a request take so long that its helper is to be ended? */
bool jvmhandle_hangs(const struct jvmhandle *handle, uint64_t now);

/* ns of CPU time since it was asked the last time. */
uint64_t jvmhandle_cpu(struct jvmhandle *handle);

/* ns of a request, which took from `since` to now, in which the helper neither ran nor waited for a CPU: memory of the
 * JVM did not answer. */
uint64_t jvmhandle_blocked(struct jvmhandle *handle, uint64_t since, uint64_t now);

/* Ends the helper, if there is one, and does not wait: it is added to those that are left. */
void jvmhandle_end(struct jvmhandle *handle, struct jvmhandle_left *left, struct tenant tenant);

/* Forgets those that ended. */
void jvmhandle_reap(struct jvmhandle_left *left);

/* How many of a tenant did not end within a second: they are blocked. */
size_t jvmhandle_stuck(const struct jvmhandle_left *left, struct tenant tenant, uint64_t now);

/* Waits a moment for all of them, as their memory counts as ours. */
void jvmhandle_leave(struct jvmhandle_left *left);

/* One request, and a helper for it alone; waits for the answer, some seconds at most. a is filled in any case. *map: a
 * file with a.map_bytes bytes, which the caller closes; -1 if there is none (NULL: none is wanted). */
struct hotspot_reason jvmhandle_once(const struct jvm_process *process, enum read_task task, enum method_style style,
				     struct read_answer *answer, int *map);

#endif
