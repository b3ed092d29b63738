/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/javanames.h"

#include "common/arena.h"
#include "record/perf/chunk.h"
#include "common/intern.h"

#include <stdlib.h>

#define LONGEST 16384u /* maximum size of a name in bytes */
/* size of an item in bytes after which the next one begins; in a pipe, each item is in one record */
#define ITEM_BYTES 32768u
/* Interval in ns at which names are read again, and maximum number of them for one process each time. Reading a name
 * takes about 10 us. */
#define RECHECK_NS UINT64_C(1000000000)
enum { RECHECKS_MAX = 256 };

/* Identifies a method; compared by its bytes. */
struct key {
	uint64_t method;
	uint32_t pid, zero;
};

struct one {
	struct str name;
	bool is_requested;
	bool is_used;    /* a frame was in the method since its name was last requested */
	bool is_changed; /* a later reading gave another name: HotSpot has reused the address */
};

struct javanames {
	struct intern keys;
	struct one *one; /* data of each key, at index id - 1 */
	struct arena names;
	size_t bytes;        /* sum of the sizes of names in bytes */
	uint32_t nrequested; /* number of methods at the start of the table whose names have all been requested */
	uint32_t left_out;   /* number of frames in methods that the table has no space for */
	uint64_t *wanted;    /* result of javanames_wanted */
	uint64_t recheck;    /* time in ns of the next recheck */
	uint64_t rechecked;  /* time in ns of the last one, which all processes share */
	uint32_t turn;       /* index of the method at which the next recheck starts */
};

struct javanames *javanames_new(void)
{
	return mem_alloc(sizeof(struct javanames), 1);
}

static void javanames_forget(struct javanames *javanames)
{
	intern_free(&javanames->keys);
	arena_free(&javanames->names);
	free(javanames->one);
	free(javanames->wanted);
	*javanames = (struct javanames){ 0 };
}

void javanames_free(struct javanames *javanames)
{
	if (javanames)
		javanames_forget(javanames);
	free(javanames);
}

static struct str javanames_bytes_of(const struct key *key)
{
	return (struct str){ (const char *)key, sizeof(*key) };
}

static struct key javanames_key_of(const struct javanames *javanames, uint32_t id)
{
	struct key key;

	memcpy(&key, intern_str(&javanames->keys, id).p, sizeof(key));
	return key;
}

void javanames_note(struct javanames *javanames, uint32_t pid, uint64_t method)
{
	struct key key = { method, pid, 0 };
	uint32_t before = javanames->keys.n, id;

	if (before >= JAVANAMES_MAX && !intern_find(&javanames->keys, javanames_bytes_of(&key))) {
		javanames->left_out += javanames->left_out < UINT32_MAX;
		return;
	}
	id = intern(&javanames->keys, javanames_bytes_of(&key));
	if (id > before) {
		javanames->one = mem_more(javanames->one, sizeof(*javanames->one), before);
		javanames->one[before] = (struct one){ 0 };
	}
	javanames->one[id - 1].is_used = true;
}

static void request_name(struct javanames *javanames, uint32_t i, uint64_t method, size_t *n)
{
	javanames->wanted = mem_more(javanames->wanted, sizeof(*javanames->wanted), *n);
	javanames->wanted[(*n)++] = method;
	javanames->one[i].is_requested = true;
	javanames->one[i].is_used = false;
}

/* Returns true if names are to be read again at time `now`: once in RECHECK_NS, then for all processes. */
static bool is_recheck(struct javanames *javanames, uint64_t now)
{
	if (now < javanames->recheck)
		return now == javanames->rechecked;
	javanames->recheck = now + RECHECK_NS;
	javanames->rechecked = now;
	return true;
}

/* Requests the names of a process again that frames have used since. */
static void request_again(struct javanames *javanames, uint32_t pid, size_t *n)
{
	uint32_t all = javanames->keys.n, at = 0;
	size_t before = *n;

	for (uint32_t i = 0; i < all && *n - before < RECHECKS_MAX; i++) {
		struct key key;

		at = (javanames->turn + i) % all;
		if (!javanames->one[at].is_used)
			continue;
		key = javanames_key_of(javanames, at + 1);
		if (key.pid == pid)
			request_name(javanames, at, key.method, n);
	}
	if (*n - before == RECHECKS_MAX)
		javanames->turn = at + 1;
}

void javanames_recheck(struct javanames *javanames)
{
	javanames->recheck = 0;
}

const uint64_t *javanames_wanted(struct javanames *javanames, uint32_t pid, uint64_t now, size_t *n)
{
	bool all = true;

	*n = 0;
	for (uint32_t i = javanames->nrequested; i < javanames->keys.n; i++) {
		struct key key = javanames_key_of(javanames, i + 1);

		if (key.pid == pid && !javanames->one[i].is_requested)
			request_name(javanames, i, key.method, n);
		all &= javanames->one[i].is_requested;
		if (all)
			javanames->nrequested = i + 1;
	}
	if (is_recheck(javanames, now))
		request_again(javanames, pid, n);
	return javanames->wanted;
}

void javanames_named(struct javanames *javanames, uint32_t pid, uint64_t method, struct str name)
{
	struct key key = { method, pid, 0 };
	uint32_t id = intern_find(&javanames->keys, javanames_bytes_of(&key));
	struct one *one = id ? &javanames->one[id - 1] : NULL;

	if (one && one->name.n) {
		one->is_changed = one->is_changed || !str_eq(one->name, name);
		return;
	}
	if (!one || name.n > LONGEST || name.n > JAVANAMES_BYTES - javanames->bytes)
		return;
	javanames->bytes += name.n;
	one->name = arena_copy(&javanames->names, name);
}

/* ---- the end of a window --------------------------------------------------------------------------------------- */

static int key_cmp(const void *left, const void *right)
{
	const struct key *key = left, *b = right;

	if (key->pid != b->pid)
		return key->pid < b->pid ? -1 : 1;
	return (key->method > b->method) - (key->method < b->method);
}

/* Writes an item with methods of the process of key[0], up to ITEM_BYTES. Returns the number of keys that it
 * contains. */
static size_t put_process(const struct javanames *javanames, const struct key *key, size_t n, uint32_t left_out,
			  struct text *item)
{
	struct pj_methods head = { .pid = key[0].pid, .left_out = left_out };
	size_t i;

	item->n = 0;
	text_bytes(item, &head, sizeof(head));
	for (i = 0; i < n && key[i].pid == head.pid && item->n < ITEM_BYTES; i++) {
		const struct one *one = &javanames->one[intern_find(&javanames->keys, javanames_bytes_of(&key[i])) - 1];
		struct str name = one->is_changed ? (struct str){ 0 } : one->name;
		struct pj_method method = { .method = key[i].method, .size = (uint32_t)name.n };

		text_bytes(item, &method, sizeof(method));
		text_str(item, name);
	}
	return i;
}

void javanames_end(struct javanames *javanames, struct text *text)
{
	size_t n = javanames->keys.n;
	struct key *key = mem_alloc(sizeof(*key), n);
	struct text item = { 0 };

	for (size_t i = 0; i < n; i++)
		key[i] = javanames_key_of(javanames, (uint32_t)i + 1);
	if (n)
		qsort(key, n, sizeof(*key), key_cmp);
	for (size_t i = 0; i < n;) {
		i += put_process(javanames, key + i, n - i, i ? 0 : javanames->left_out, &item);
		chunk_put_item(text, PJ_ITEM_METHODS, item.p, item.n);
	}
	free(key);
	text_free(&item);
	javanames_forget(javanames);
}
