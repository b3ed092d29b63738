/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot.h - reads one HotSpot JVM from outside: its layout, its properties and its code.
 *
 * hotspot_open reads the tables that HotSpot exports for debuggers, once. pj does not write to the process, stop it,
 * send it signals or open its files. All data is hostile and may change while it is read: it is checked, and
 * inconsistent parts are left out and counted.
 *
 * reason = hotspot_open_within(&hotspot, &process, &budget);
 * if (!reason.code) reason = hotspot_scan(&hotspot);   now hotspot.code has the blobs
 * hotspot_close(&hotspot);
 */
#ifndef PJ_HOTSPOT_H
#define PJ_HOTSPOT_H

#include "runtimes/hotspot/codecache.h"
#include "runtimes/hotspot/discover.h"
#include "runtimes/hotspot/methods.h"
#include "runtimes/hotspot/scopes.h"

struct hotspot {
	struct memory memory;
	struct libjvm libjvm;
	struct vmstructs tables;
	struct vmlayout layout;
	struct codecache code;
	char version[64];      /* "17.0.15+6-Debian-1deb12u1"; empty if unknown */
	const char *collector; /* G1, Z, ...; NULL if unknown */
	int frame_pointers;    /* -XX:+PreserveFramePointer: 1, 0; -1 if unknown */
	bool refuses_attach;   /* -XX:+DisableAttachMechanism */
	char command[256];     /* main class or jar and its arguments, control bytes as '?' */
	enum scopes_packing packing;
	struct methods methods; /* names that hotspot_expect read */
	struct text raw;        /* bytes of a name that hotspot_expect did not read */
};

/* Reason why a JVM cannot be read: a word for scripts (as "gone"), and a sentence. */
struct hotspot_reason {
	const char *code; /* NULL if the JVM can be read */
	char why[160];
};

/* Opens the memory of process and reads its layout and properties. No reason on success. The caller calls
 * hotspot_close in both cases. */
struct hotspot_reason hotspot_open(struct hotspot *hotspot, const struct jvm_process *process);
/* Like hotspot_open, within a budget, which must exist until hotspot_close. */
struct hotspot_reason hotspot_open_within(struct hotspot *hotspot, const struct jvm_process *process,
					  struct readbudget *budget);
/* The two steps of hotspot_open, for callers that may have the layout of this libjvm.so already: opening of the
 * memory, and reading of layout and properties. */
struct hotspot_reason hotspot_open_memory(struct hotspot *hotspot, const struct jvm_process *process);
struct hotspot_reason hotspot_read_layout(struct hotspot *hotspot, const struct jvm_process *process);
/* Returns the reason why a process of that kind is not opened; no reason for HotSpot. */
struct hotspot_reason hotspot_check_kind(const struct jvm_process *process);
/* Returns the reason for the result of a task identity check; no reason for TASKID_SAME. */
struct hotspot_reason hotspot_refusal(enum taskid_answer answer);
/* Like hotspot_open_memory, with mem, a descriptor of /proc/PID/mem. hotspot owns mem unless a reason is returned.
 * Of process, these members are used: pid, start, kind and library. */
struct hotspot_reason hotspot_open_descriptor(struct hotspot *hotspot, const struct jvm_process *process, int mem);
/* Like hotspot_open for an image of a JVM's memory (tests, core files), in which libjvm.so starts at base. The parts
 * remain the caller's and must exist until hotspot_close. */
struct hotspot_reason hotspot_open_image(struct hotspot *hotspot, const struct memory_part *blob, size_t n,
					 uint64_t base);
/* Frees all memory and closes the descriptors of hotspot. */
void hotspot_close(struct hotspot *hotspot);

/* Frees the memory that only scans need, between two scans. hotspot->code is empty afterwards. */
void hotspot_rest(struct hotspot *hotspot);

/* Checks, after reading and before writing, that data read from the process may be attributed to it and shown to its
 * user. Returns the reason "gone" if the process runs another program by now, and "not-dumpable" if its own user may
 * not read its memory. */
struct hotspot_reason hotspot_may_show(int process, const struct taskid *id, struct taskid_user *user);

/* Replaces hotspot->code by the code that exists now, and forgets the names of the last scan. Returns the reason
 * "over-budget" if the JVM exceeds hotspot->memory.budget. */
struct hotspot_reason hotspot_scan(struct hotspot *hotspot);

/* Reads the names of n Method*, thousands with one read, for later calls of hotspot_name. The caller calls it after
 * the scan that returned the Method*. signatures: read signatures, too. */
void hotspot_expect(struct hotspot *hotspot, const uint64_t *method, size_t n, bool signatures);

/* Appends the name of the code blob to text: of an nmethod its method in the given style, otherwise HotSpot's name.
 * Returns false, with text unchanged, if the name has changed meanwhile or is malformed. */
bool hotspot_name(struct hotspot *hotspot, const struct blob *blob, enum method_style style, struct text *text);

#endif
