/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot.h - one JVM that is looked at from outside: its layout, what it says of itself, and what code it holds.
 *
 * Opening reads the tables that HotSpot exports, once. Nothing is written to the process, no signal is sent, no file
 * of it is opened, and it does not stop: what is read is checked, and what changed under our eyes is left out and
 * counted.
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
	char version[64];      /* "17.0.15+6-Debian-1deb12u1"; empty: not told */
	const char *collector; /* G1, Z, ... ; NULL: not known */
	int frame_pointers;    /* -XX:+PreserveFramePointer: 1, 0; -1: not known */
	bool refuses_attach;   /* -XX:+DisableAttachMechanism */
	char command[256];     /* main class or jar and its arguments, control bytes as '?' */
	enum scopes_packing packing;
	struct methods methods; /* names that were expected */
	struct text raw;        /* of one that was not */
};

/* Why a JVM cannot be read: a word for scripts, and the reason. */
struct hotspot_reason {
	const char *code; /* NULL: it can */
	char why[160];
};

/* Fills hotspot; afterwards hotspot_close in any case. */
struct hotspot_reason hotspot_open(struct hotspot *hotspot, const struct jvm_process *process);
/* The same within a budget, which has to stay as long as hotspot is open. */
struct hotspot_reason hotspot_open_within(struct hotspot *hotspot, const struct jvm_process *process,
					  struct readbudget *budget);
/* The two steps of it, for who may know the layout already: its memory, and what it says of itself. */
struct hotspot_reason hotspot_open_memory(struct hotspot *hotspot, const struct jvm_process *process);
struct hotspot_reason hotspot_read_layout(struct hotspot *hotspot, const struct jvm_process *process);
/* Why a process of that kind is not opened; no reason for HotSpot. */
struct hotspot_reason hotspot_check_kind(const struct jvm_process *process);
/* Why a process is not opened; no reason for TASKID_SAME. */
struct hotspot_reason hotspot_refusal(enum taskid_answer answer);
/* As hotspot_open_memory, by a descriptor of /proc/PID/mem, which hotspot owns unless a reason is returned. Of process
 * are needed: pid, start, kind and library. */
struct hotspot_reason hotspot_open_descriptor(struct hotspot *hotspot, const struct jvm_process *process, int mem);
/* The same of an image of its memory, in which libjvm.so begins at base. */
struct hotspot_reason hotspot_open_image(struct hotspot *hotspot, const struct memory_part *blob, size_t n,
					 uint64_t base);
void hotspot_close(struct hotspot *hotspot);

/* Gives back the memory that the next scan needs again: hotspot->code holds nothing. */
void hotspot_rest(struct hotspot *hotspot);

/* May what was read of the process be attributed to it, and shown to its user? To be asked between reading and writing:
 * "gone" if it runs another program by now, "not-dumpable" if its own user may not read its memory. */
struct hotspot_reason hotspot_may_show(int process, const struct taskid *id, struct taskid_user *user);

/* hotspot->code is what it holds now. The reason "over-budget": it costs more than one JVM may
 * (hotspot->memory.budget). */
struct hotspot_reason hotspot_scan(struct hotspot *hotspot);

/* The names of these Method* will be asked for: thousands are read at once, as they are now. To be called after the
 * scan that they come from. */
void hotspot_expect(struct hotspot *hotspot, const uint64_t *method, size_t n, bool signatures);

/* Appends the name of the code. False: it changed meanwhile or makes no sense. */
bool hotspot_name(struct hotspot *hotspot, const struct blob *blob, enum method_style style, struct text *text);

#endif
