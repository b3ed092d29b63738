/* SPDX-License-Identifier: Apache-2.0 */
/*
 * framecache.h - names and places of frames that were read lately, in the helper process.
 *
 * Most frames of a sample were on stacks before. But an interpreter frees code, and its memory becomes that of other
 * code. So an entry counts for a time that grows with the time for which it has been confirmed: a sixteenth of that,
 * FRAMECACHE_NS at most. Code that lives for milliseconds is read at each sample. A reading that differs replaces the
 * entry, which is young then. One whose line comes later (interpreter_place.line_later) does not differ by that: it
 * keeps the line that was read before. When half of the cache is full, the entries of the other half are dropped, but
 * those that were read since: so a process with many frames does not take the entries of others that run.
 */
#ifndef PJ_FRAMECACHE_H
#define PJ_FRAMECACHE_H

#include "common/intern.h"
#include "record/interpreters/interpreter.h"

#define FRAMECACHE_NS UINT64_C(1000000000)
enum { FRAMECACHE_FRAMES = 1 << 15, FRAMECACHE_BYTES = 2 << 20 };

struct framecache_key {
	uint64_t code, scope, instruction;
	uint64_t process; /* number of the process, never reused */
};

struct framecache_entry {
	struct framecache_key key;
	uint64_t since, seen; /* ns: first and last reading with this result */
	uint64_t address;
	uint32_t line, text; /* text: id in texts */
	uint8_t named;       /* enum interpreter_named */
	bool used, first;    /* first: interpreter_place.first */
	bool from_text;      /* interpreter_place.from_text */
	bool again;          /* its line is not known yet, so it is read again each time */
	bool replaced;       /* a reading differed from the one before */
};

struct framecache_half {
	struct framecache_entry *entry;
	size_t n;
	struct intern texts;
	size_t bytes;
};

/* The zero value is empty. */
struct framecache {
	struct framecache_half young, old; /* old: the young half before it was full */
};

/* Returns the entry for a key if it counts at time `now` (ns); otherwise NULL. Valid until framecache_put. */
const struct framecache_entry *framecache_find(const struct framecache *cache, const struct framecache_key *key,
					       uint64_t now);

/* Stores what was read at time `now`. text: name and file, each with a NUL; empty if `named` is not
 * INTERPRETER_NAMED. Returns the entry. */
const struct framecache_entry *framecache_put(struct framecache *cache, const struct framecache_key *key,
					      enum interpreter_named named, const struct interpreter_place *place,
					      struct str text, uint64_t now);

/* Returns the text of an entry. */
struct str framecache_text(const struct framecache *cache, const struct framecache_entry *entry);

/* Frees all entries. */
void framecache_free(struct framecache *cache);

#endif
