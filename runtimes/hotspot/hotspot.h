/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot.h - reads one HotSpot JVM from outside: its layout, its properties and its code.
 *
 * hotspot_open reads the tables that HotSpot exports for debuggers, once. pj does not write to the process, stop it,
 * send it signals or open its files. All data of the JVM is hostile and may change while pj reads it: pj checks the
 * data, leaves inconsistent parts out and counts them.
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
	struct loadedfile libjvm;
	struct vmstructs tables;
	struct vmlayout layout;
	struct codecache code;
	char version[64];      /* version of the JVM, as "17.0.15+6-Debian-1deb12u1"; empty if unknown */
	const char *collector; /* name of the garbage collector: "G1", "Z", ...; NULL if unknown */
	int frame_pointers;    /* value of -XX:PreserveFramePointer: 1 or 0; -1 if unknown */
	bool refuses_attach;   /* value of -XX:DisableAttachMechanism */
	char command[256];     /* main class or jar file with its arguments; control bytes are '?' */
	enum scopes_packing packing;
	struct methods methods; /* names of methods that hotspot_expect read */
	struct text raw;        /* buffer for the name of a method that hotspot_expect did not read */
};

/* Code of the reason that the process's own user may not read its memory. */
#define HOTSPOT_NOT_DUMPABLE "not-dumpable"

/* Reason why a JVM cannot be read: a word for scripts (code, as "gone") and a sentence about the JVM (why). */
struct hotspot_reason {
	const char *code; /* NULL if the JVM can be read */
	char why[160];
};

/* Opens the memory of process and reads the layout and the properties of its JVM. Returns a reason on failure. The
 * caller calls hotspot_close in both cases. */
struct hotspot_reason hotspot_open(struct hotspot *hotspot, const struct jvm_process *process);
/* Like hotspot_open, with a budget that limits all reads. The budget must exist until hotspot_close. */
struct hotspot_reason hotspot_open_within(struct hotspot *hotspot, const struct jvm_process *process,
					  struct readbudget *budget);
/* The two steps of hotspot_open: hotspot_open_memory opens the memory, hotspot_read_layout reads layout and properties.
 * A caller that has the layout of this libjvm.so already skips the second step. */
struct hotspot_reason hotspot_open_memory(struct hotspot *hotspot, const struct jvm_process *process);
struct hotspot_reason hotspot_read_layout(struct hotspot *hotspot, const struct jvm_process *process);
/* Returns the reason why a process is not opened, by its kind; no reason for JVM_HOTSPOT. */
struct hotspot_reason hotspot_check_kind(const struct jvm_process *process);
/* Returns the reason for the result of a task identity check; no reason for TASKID_SAME. For TASKID_DENIED, errno of
 * the check decides. */
struct hotspot_reason hotspot_refusal(enum taskid_answer answer);
/* Like hotspot_open_memory with an open descriptor of /proc/PID/mem. hotspot owns mem unless a reason is returned. The
 * function uses only kind and inner of process; hotspot_read_layout uses library and start. */
struct hotspot_reason hotspot_open_descriptor(struct hotspot *hotspot, const struct jvm_process *process, int mem);
/* Like hotspot_open for an image of a JVM's memory (tests, core files), in which libjvm.so starts at base. The n parts
 * at blob remain the caller's and must exist until hotspot_close. */
struct hotspot_reason hotspot_open_image(struct hotspot *hotspot, const struct memory_part *blob, size_t n,
					 uint64_t base);
/* Frees all memory and closes the descriptors of hotspot. */
void hotspot_close(struct hotspot *hotspot);

/* Between two scans: frees the memory that only scans need. hotspot->code is empty afterwards. */
void hotspot_rest(struct hotspot *hotspot);

/* Checks, after reading and before writing, that data read from the process may be attributed to it and shown to its
 * user. process is a descriptor of /proc/PID. Returns the reason "gone" if the process runs another program by now, and
 * "not-dumpable" if its own user may not read its memory. */
struct hotspot_reason hotspot_may_show(int process, const struct taskid *id, struct taskid_user *user);

/* Replaces hotspot->code by the code that exists now, and frees the names of the last scan. Returns a reason on
 * failure: "over-budget" if the JVM exceeds the limits, "gone", "starting" or "unreadable". */
struct hotspot_reason hotspot_scan(struct hotspot *hotspot);

/* Reads the names of n Method*, thousands with one read, for later calls of hotspot_name; with their signatures if
 * `signatures` is set. The caller calls it after the scan that returned the Method*. */
void hotspot_expect(struct hotspot *hotspot, const uint64_t *method, size_t n, bool signatures);

/* Appends the name of the code blob to text: the method of an nmethod in the given style, HotSpot's name for other
 * blobs. Returns false, with text unchanged, if the name is malformed or not readable. */
bool hotspot_name(struct hotspot *hotspot, const struct blob *blob, enum method_style style, struct text *text);

#endif
