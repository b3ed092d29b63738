/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmreader.h - the thread that reads the memory of JVMs for who unwinds through them.
 *
 * Such a read may block for as long as another process likes (userfaultfd, swap, a file system that does not answer), so the recorder
 * asks, and waits only as long as its patience of the moment lasts. What comes later is dropped. A thread that does not come back is
 * left behind with the JVM that it hangs at, and another one takes its place; it ends with the recorder.
 */
#ifndef PJ_JVMREADER_H
#define PJ_JVMREADER_H

#include "frames.h"

struct jvmreader;

struct jvmreader *jvmreader_new(void);
void jvmreader_free(struct jvmreader *r); /* all JVMs were closed before */

/* From now on, so many ns may be waited, in all. */
void jvmreader_patience(struct jvmreader *r, uint64_t ns);

enum jvmreader_answer {
	JVMREADER_DONE,
	JVMREADER_LATE, /* not now: it is still being read, or another one is */
	JVMREADER_LOST  /* the JVM ended, cannot be read, or reading it hangs: to be closed. See jvmreader_why */
};

struct jvmreader_jvm;

/* Of a process that began at start, in clock ticks since boot (0: not known). Opening it is the first thing that any question waits
 * for. */
struct jvmreader_jvm *jvmreader_open(uint32_t pid, uint64_t start);
void jvmreader_close(struct jvmreader *r, struct jvmreader_jvm *jvm);

/* After LOST. "hangs" is a code of ours. */
struct hotspot_reason jvmreader_why(const struct jvmreader_jvm *jvm);

/* The block around an address, as frames_at, and JVMREADER_BYTES of code around it, from a multiple of that on; NULL: not read. What is
 * pointed to is valid until the next question. */
struct jvmreader_found {
	enum codecache_where where;
	struct blob blob;
	struct java_code code;
	const char *bytes;
};
enum jvmreader_answer jvmreader_find(struct jvmreader *r, struct jvmreader_jvm *jvm, uint64_t address, struct jvmreader_found *found);

/* Blobs of compiled code, which stay in b when they are still the same. */
enum jvmreader_answer jvmreader_check(struct jvmreader *r, struct jvmreader_jvm *jvm, struct blob *b, size_t *n);

/* The same bytes around another address. */
enum { JVMREADER_BYTES = 512 };
enum jvmreader_answer jvmreader_bytes(struct jvmreader *r, struct jvmreader_jvm *jvm, uint64_t address, const char **bytes);

/* May a question be asked now, with a chance of an answer? */
bool jvmreader_ready(struct jvmreader *r);

/* The names of methods, as Compiler.perfmap spells them, to fn one by one; those that cannot be read are left out. */
enum jvmreader_answer jvmreader_names(struct jvmreader *r, struct jvmreader_jvm *jvm, const uint64_t *method, size_t n,
				      void (*fn)(void *to, uint64_t method, struct str name), void *to);

#endif
