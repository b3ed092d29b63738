/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmhandle.h - starts, queries and ends the helper process of one JVM (readhelper.h), for pjmap.
 *
 * pjmap has the right to read other processes. It opens /proc/PID/mem and checks the owner of the JVM, but only the
 * helper reads from that descriptor. The descriptor refers to the address space at the time of the open, so after an
 * exec the process needs a new helper. Requests do not block: pjmap polls the sockets and serves other JVMs meanwhile.
 * The caller ends and replaces a helper that crashes or hangs. Times are in ns of clock_now().
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
	pid_t helper; /* pid of the helper process; 0 if there is none */
	/* descriptors: socket to the helper; files in memory for the records and for the map (readhelper.h) */
	int socket, records, map;
	clockid_t clock; /* id of the clock of the helper's CPU time */
	uint64_t cpu;    /* CPU time of the helper in ns at the last jvmhandle_cpu */
	/* time in ns for which the helper ran or waited for a CPU, as of the last jvmhandle_blocked */
	uint64_t scheduled;
	/* serial: serial number of the last request; since: time at which the pending request was sent, 0 if none is
	 * pending */
	uint64_t serial, since;
};

/* Result of jvmhandle_poll. IDLE: no request is pending; BUSY: the pending request is unanswered; ANSWERED: the answer
 * has arrived; CRASHED: the helper has exited or has sent an invalid answer. */
enum jvmhandle_state { JVMHANDLE_IDLE, JVMHANDLE_BUSY, JVMHANDLE_ANSWERED, JVMHANDLE_CRASHED };

/* List of helpers that pjmap has ended but that have not exited yet. A helper that is blocked on the JVM's memory exits
 * only when that memory responds, even if it is killed. */
struct jvmhandle_left {
	struct jvmhandle_ended {
		pid_t helper;
		struct tenant tenant;
		/* time at which pjmap ended the helper */
		uint64_t since;
	} * one;
	size_t n;
};

/* Opens the memory of the JVM and forks its helper. Returns a reason with code NULL on success. On failure returns the
 * reason, and *handle has no helper. */
struct hotspot_reason jvmhandle_start(struct jvmhandle *handle, const struct jvm_process *process);

/* Sends a request to an idle helper and sets request->serial. jvmhandle_poll returns the answer later. */
void jvmhandle_query(struct jvmhandle *handle, struct read_request *request, uint64_t now);

/* Receives the helper's answer into *answer if it has arrived, and makes the texts in it printable. Numbers in the
 * answer may have any value, because a hostile JVM may control the helper. */
enum jvmhandle_state jvmhandle_poll(struct jvmhandle *handle, struct read_answer *answer);

/* Returns the reason in an answer, with a static string as its code; code NULL if the request succeeded. */
struct hotspot_reason jvmhandle_reason(const struct read_answer *answer);

/* Returns true if the caller must end the helper, because it has not answered the pending request for a minute, or for
 * 5 s if it is blocked or has used too much CPU time. Returns false if no request is pending. */
bool jvmhandle_hangs(const struct jvmhandle *handle, uint64_t now);

/* Returns the CPU time in ns that the helper has used since the last call. */
uint64_t jvmhandle_cpu(struct jvmhandle *handle);

/* Returns the time in ns between `since` and `now` in which the helper neither ran nor waited for a CPU, because memory
 * of the JVM did not respond. The result is too small if the helper also ran between the last call and `since`. */
uint64_t jvmhandle_blocked(struct jvmhandle *handle, uint64_t since, uint64_t now);

/* Ends the helper if there is one: adds it to *left without waiting for its exit, and closes its socket and files. */
void jvmhandle_end(struct jvmhandle *handle, struct jvmhandle_left *left, struct tenant tenant);

/* Reaps the helpers in *left that have exited, and removes them from the list. Kills those that pjmap ended over a
 * second ago. */
void jvmhandle_reap(struct jvmhandle_left *left);

/* Returns the number of a tenant's blocked helpers: those that still run a second after pjmap has ended them. */
size_t jvmhandle_stuck(const struct jvmhandle_left *left, struct tenant tenant, uint64_t now);

/* Waits up to 200 ms for the helpers in *left to exit, because the system counts their memory as pjmap's. Then kills
 * the others and frees the list. */
void jvmhandle_leave(struct jvmhandle_left *left);

/* Starts a helper, sends it one request and waits for the answer, at most 12 s (READ_MAP) or 5 s. Always fills *answer.
 * Sets *map to a file with answer->map_bytes bytes, which the caller closes, or to -1; map is NULL if the caller wants
 * no map. Returns a reason with code NULL on success. */
struct hotspot_reason jvmhandle_once(const struct jvm_process *process, enum read_task task, enum method_style style,
				     struct read_answer *answer, int *map);

#endif
