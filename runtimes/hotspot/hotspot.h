/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot.h - reads one HotSpot JVM from outside: its layout, its properties and its code.
 *
 * hotspot_read_layout reads the tables that HotSpot exports for debuggers, once. pj does not write to the process, stop
 * it, send it signals or open its files. All data of the JVM is hostile and may change while pj reads it: pj checks the
 * data, leaves inconsistent data out and counts it.
 *
 * reason = hotspot_open_memory(&hotspot, &process);
 * hotspot.memory.budget = &budget;
 * if (!reason.code) reason = hotspot_read_layout(&hotspot, &process);
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
	struct loadedfile libjvm;
	struct vmstructs tables;
	struct vmlayout layout;
	struct codecache code;
	char version[64];      /* version of the JVM, such as "17.0.15+6-Debian-1deb12u1"; empty if unknown */
	const char *collector; /* name of the garbage collector: "G1", "Z", ...; NULL if unknown */
	int frame_pointers;    /* value of -XX:PreserveFramePointer: 1 or 0; -1 if unknown */
	bool refuses_attach;   /* value of -XX:DisableAttachMechanism */
	char command[256];     /* main class or jar file with its arguments; control bytes are replaced by '?' */
	enum scopes_packing packing;
	struct methods methods; /* names of methods that the last hotspot_expect read */
	struct text raw;        /* buffer for the name of a method that hotspot_expect did not read */
};

/* Reason code: the process's own user may not read its memory. */
#define HOTSPOT_NOT_DUMPABLE "not-dumpable"

/* Reason why a JVM cannot be read: `code`, a word for scripts such as "gone", and `why`, a sentence about the JVM. */
struct hotspot_reason {
	const char *code; /* NULL if the JVM can be read */
	char why[160];
};

/* Opens the memory of process and reads the layout and the properties of its JVM. Returns a reason on failure. The
 * caller calls hotspot_close in both cases. */
struct hotspot_reason hotspot_open(struct hotspot *hotspot, const struct jvm_process *process);
/* hotspot_open in two steps: hotspot_open_memory opens the memory, hotspot_read_layout reads layout and properties.
 * A caller that already has the layout of this libjvm.so omits the second step. */
struct hotspot_reason hotspot_open_memory(struct hotspot *hotspot, const struct jvm_process *process);
struct hotspot_reason hotspot_read_layout(struct hotspot *hotspot, const struct jvm_process *process);
/* Returns the reason why processes of this kind are not opened; no reason for JVM_HOTSPOT. */
struct hotspot_reason hotspot_check_kind(const struct jvm_process *process);
/* Returns the reason for the result of a check of the task identity; no reason for TASKID_SAME. For TASKID_DENIED,
 * the function uses errno of the check. */
struct hotspot_reason hotspot_refusal(enum taskid_answer answer);
/* Like hotspot_open_memory, with an open descriptor of /proc/PID/mem, which hotspot owns unless a reason is
 * returned. The function uses only `kind` and `inner` of process; hotspot_read_layout uses `library` and `start`. */
struct hotspot_reason hotspot_open_descriptor(struct hotspot *hotspot, const struct jvm_process *process, int mem);
/* Like hotspot_open for an image of a JVM's memory (tests, core files), in which libjvm.so starts at base. The image
 * has n parts, blob[0..n), which remain the caller's and must exist until hotspot_close. */
struct hotspot_reason hotspot_open_image(struct hotspot *hotspot, const struct memory_part *blob, size_t n,
					 uint64_t base);
/* Frees all memory and closes the descriptors of hotspot. */
void hotspot_close(struct hotspot *hotspot);

/* Frees the memory that only scans need, between two scans. hotspot->code is empty afterwards. */
void hotspot_rest(struct hotspot *hotspot);

/* Checks that data read from a process may be attributed to it and shown to its user. To be called after reading and
 * before writing. process is a descriptor of /proc/PID. Returns the reason "gone" if the process has ended, runs
 * another program or does not respond, and "not-dumpable" if its own user may not read its memory. */
struct hotspot_reason hotspot_may_show(int process, const struct taskid *id, struct taskid_user *user);

/* Replaces hotspot->code by the code that exists now, and frees the names of the previous scan. Returns a reason on
 * failure: "over-budget" if the JVM exceeds the limits, "gone", "starting" or "unreadable". */
struct hotspot_reason hotspot_scan(struct hotspot *hotspot);

/* Reads the names of n Method*, thousands with one read, for later calls of hotspot_name. Reads their signatures,
 * too, if `signatures` is set. The caller calls it after the scan that found the Method*. */
void hotspot_expect(struct hotspot *hotspot, const uint64_t *method, size_t n, bool signatures);

/* Appends the name of a code blob to text: for an nmethod, its method in the given style; for any other blob,
 * HotSpot's name. Returns false, with text unchanged, if the name is malformed or not readable. */
bool hotspot_name(struct hotspot *hotspot, const struct blob *blob, enum method_style style, struct text *text);

/* Appends the name of a class to text, read from its Klass and spelled as methods_spell_class does. Returns false, with
 * text unchanged, if the name is malformed or not readable. */
bool hotspot_class(struct hotspot *hotspot, uint64_t klass, struct text *text);

#endif
