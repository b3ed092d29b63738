/* SPDX-License-Identifier: Apache-2.0 */
/*
 * framecache.h - cache of the names, files and lines of frames, in the helper process for interpreters.
 *
 * Most frames of a sample were on earlier stacks, too, so their names need not be read again. But an interpreter frees
 * code and reuses its memory for other code. So an entry is valid only for a limited time after its last reading: a
 * sixteenth of the time between its first and its last reading with the same result, at most FRAMECACHE_NS. The names
 * of code that lives for milliseconds are therefore read at each sample. A reading with another result replaces the
 * entry and starts its time anew. A reading without a line (interpreter_place.line_later) is not another result: the
 * entry keeps its line.
 *
 * The cache has two halves. When the young half is full, it becomes the old half, and the entries of the former old
 * half are dropped, unless they were read again since: then they are in the young half, too. So a process with many
 * frames does not evict the entries of other processes that still run.
 */
#ifndef PJ_FRAMECACHE_H
#define PJ_FRAMECACHE_H

#include "common/intern.h"
#include "record/interpreters/interpreter.h"

#define FRAMECACHE_NS UINT64_C(1000000000)
enum { FRAMECACHE_FRAMES = 1 << 15, FRAMECACHE_BYTES = 2 << 20 };

struct framecache_key {
	uint64_t code, scope, instruction;
	uint64_t process; /* number of the process in this recording, never reused */
};

struct framecache_entry {
	struct framecache_key key;
	uint64_t since, seen; /* time in ns of the first and of the last reading with this result */
	uint64_t address;
	/* line: line in the file, 0: unknown; text: id of name and file in framecache_half.texts, 0: none */
	uint32_t line, text;
	uint8_t named; /* result of the reading, an enum interpreter_named */
	/* used: true: the slot holds an entry; first: true: the frame runs no instruction (interpreter_place.first) */
	bool used, first;
	bool from_text; /* true: the function's source is a string, not a file (interpreter_place.from_text) */
	bool again;     /* true: the line is not known yet, so the frame is read again at each sample */
	bool replaced;  /* true: an earlier reading of the key had another result */
};

struct framecache_half {
	struct framecache_entry *entry;
	size_t n;
	struct intern texts;
	size_t bytes;
};

/* The zero value is an empty cache. */
struct framecache {
	struct framecache_half young, old; /* old: the previous young half, which was full */
};

/* Returns the valid entry for a key at time `now` (ns); NULL if it has none. The entry exists until the next call of
 * framecache_put. */
const struct framecache_entry *framecache_find(const struct framecache *cache, const struct framecache_key *key,
					       uint64_t now);

/* Stores the result of a reading at time `now` (ns). text: name and file, each followed by a NUL; empty if `named` is
 * not INTERPRETER_NAMED. Returns the entry. */
const struct framecache_entry *framecache_put(struct framecache *cache, const struct framecache_key *key,
					      enum interpreter_named named, const struct interpreter_place *place,
					      struct str text, uint64_t now);

/* Returns name and file of an entry, each followed by a NUL; empty if the frame has no name. */
struct str framecache_text(const struct framecache *cache, const struct framecache_entry *entry);

/* Frees all entries. */
void framecache_free(struct framecache *cache);

#endif
