/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/javanames.h"

#include "common/arena.h"
#include "record/perf/chunk.h"
#include "common/intern.h"

#include <stdlib.h>

#define LONGEST 16384u /* maximum size of a name in bytes */
/* Size in bytes after which an item is full and the next one begins. In a pipe, each item is in one record. */
#define ITEM_BYTES 32768u
/* RECHECK_NS: interval in ns at which names are read again. RECHECKS_MAX: maximum number of names that are read again
 * for one process each time, except at the end of a window. Reading a name takes about 10 us. */
#define RECHECK_NS UINT64_C(1000000000)
enum { RECHECKS_MAX = 256 };

/* Key of a method or class: two keys with the same bytes are the same method or class. */
struct key {
	uint64_t method;
	uint32_t pid, zero;
};

struct one {
	struct str name;
	bool is_requested;
	bool is_used; /* true: a frame was in the method since its name was last requested */
	/* true: the address has, or may have, more than one method or class in this window: it gets no name */
	bool is_changed;
	uint64_t since;  /* time in ns of the first sample with a frame in the method, or with the class */
	uint64_t serial; /* serial of the JVM (struct javanames_jvm) of the last such frame; 0: unknown */
	uint64_t read;   /* serial of the JVM of which the name was last read */
};

/* Owner of a count: a process (number of classes) or a tenant (numbers of classes and methods, bytes of names). Two
 * owners are equal if all their bytes are equal. kind: 0 for a process; for a tenant, OF_CLASSES, OF_BYTES or
 * OF_METHODS plus the kind of the tenant. */
enum { OF_CLASSES = 1, OF_BYTES = 16, OF_METHODS = 32 };
struct owner {
	uint64_t key;
	uint32_t kind, pid;
};

struct javanames {
	struct intern keys;
	struct one *one; /* data of each key; the data of key id are at index id - 1 */
	struct arena names;
	struct intern owners;
	uint32_t *counts;    /* number of classes, or of bytes, of each owner */
	uint32_t nclasses;   /* number of all classes */
	size_t bytes;        /* sum of the sizes of all stored names in bytes */
	uint32_t nrequested; /* number of methods at the start of the table whose names have all been requested */
	uint32_t left_out;   /* number of frames in methods for which the table has no space */
	uint64_t *wanted;    /* array that javanames_wanted returned last */
	uint64_t recheck;    /* time in ns (as `now` of javanames_wanted) from which on names are read again */
	/* argument `now` of the last javanames_wanted that began to request names again; calls with the same `now`
	 * request the names of other processes again */
	uint64_t rechecked;
	bool is_last;  /* true: the window ends, so all names are read again */
	uint32_t turn; /* index of the method from which on names are read again the next time */
};

struct javanames *javanames_new(void)
{
	return mem_alloc(sizeof(struct javanames), 1);
}

static void javanames_forget(struct javanames *javanames)
{
	intern_free(&javanames->keys);
	arena_free(&javanames->names);
	intern_free(&javanames->owners);
	free(javanames->counts);
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

/* Returns a pointer to a count of an owner. The caller may change the number; the pointer
 * is valid until the next call. */
static uint32_t *javanames_count_of(struct javanames *javanames, struct owner owner)
{
	uint32_t before = javanames->owners.n;
	uint32_t id = intern(&javanames->owners, (struct str){ (const char *)&owner, sizeof(owner) });

	if (id > before) {
		javanames->counts = mem_more(javanames->counts, sizeof(*javanames->counts), before);
		javanames->counts[before] = 0;
	}
	return &javanames->counts[id - 1];
}

/* Counts a new class. Returns false if a limit is reached. */
static bool add_class(struct javanames *javanames, const struct javanames_jvm *jvm)
{
	const struct owner process = { .pid = jvm->pid };
	const struct owner tenant = { jvm->tenant.key, OF_CLASSES + (uint32_t)jvm->tenant.kind, 0 };

	if (javanames->nclasses >= JAVANAMES_ALL_CLASSES ||
	    *javanames_count_of(javanames, process) >= JAVANAMES_CLASSES ||
	    *javanames_count_of(javanames, tenant) >= JAVANAMES_TENANT_CLASSES)
		return false;
	++*javanames_count_of(javanames, process);
	++*javanames_count_of(javanames, tenant);
	javanames->nclasses++;
	return true;
}

/* Counts a new method. Returns false if a limit is reached. */
static bool javanames_add_method(struct javanames *javanames, const struct javanames_jvm *jvm)
{
	const struct owner tenant = { jvm->tenant.key, OF_METHODS + (uint32_t)jvm->tenant.kind, 0 };
	uint32_t *methods = javanames_count_of(javanames, tenant);

	if (*methods >= JAVANAMES_TENANT_METHODS)
		return false;
	++*methods;
	return true;
}

/* Counts the bytes of a name. Returns false if a limit is reached. */
static bool javanames_add_bytes(struct javanames *javanames, const struct javanames_jvm *jvm, size_t n)
{
	const struct owner tenant = { jvm->tenant.key, OF_BYTES + (uint32_t)jvm->tenant.kind, 0 };
	uint32_t *bytes = javanames_count_of(javanames, tenant);

	if (n > JAVANAMES_BYTES - javanames->bytes || n > JAVANAMES_TENANT_BYTES - *bytes)
		return false;
	*bytes += (uint32_t)n;
	javanames->bytes += n;
	return true;
}

/* Returns true if the table has space for a new method or class; then counts it. Each JVM may have one
 * class without a name (PJ_CLASS_BIT), which stands for its classes beyond the limits, so space is reserved for it. */
static bool javanames_has_space(struct javanames *javanames, const struct javanames_jvm *jvm, uint64_t method)
{
	if (method == PJ_CLASS_BIT)
		return javanames->keys.n < JAVANAMES_MAX + JAVANAMES_UNKNOWN;
	return javanames->keys.n < JAVANAMES_MAX &&
	       (pj_is_class(method) ? add_class(javanames, jvm) : javanames_add_method(javanames, jvm));
}

bool javanames_note(struct javanames *javanames, const struct javanames_jvm *jvm, uint64_t method, uint64_t time)
{
	struct key key = { method, jvm->pid, 0 };
	uint32_t id = intern_find(&javanames->keys, javanames_bytes_of(&key)), before = javanames->keys.n;
	struct one *one;

	if (!id && !javanames_has_space(javanames, jvm, method)) {
		/* frames with classes are counted by the caller */
		javanames->left_out += !pj_is_class(method) && javanames->left_out < UINT32_MAX;
		return false;
	}
	if (!id) {
		id = intern(&javanames->keys, javanames_bytes_of(&key));
		javanames->one = mem_more(javanames->one, sizeof(*javanames->one), before);
		/* the class without a name needs no request: it never gets a name */
		javanames->one[before] =
			(struct one){ .since = time, .serial = jvm->serial, .is_requested = method == PJ_CLASS_BIT };
	}
	one = &javanames->one[id - 1];
	if (jvm->serial) {
		one->is_changed |= !one->name.n && one->serial && one->serial != jvm->serial;
		one->serial = jvm->serial;
	}
	one->is_used = method != PJ_CLASS_BIT;
	return true;
}

static void request_name(struct javanames *javanames, uint32_t i, uint64_t method, size_t *n)
{
	javanames->wanted = mem_more(javanames->wanted, sizeof(*javanames->wanted), *n);
	javanames->wanted[(*n)++] = method;
	javanames->one[i].is_requested = true;
	javanames->one[i].is_used = false;
}

/* Returns true if names must be read again at time `now` (ns): at the first call that is RECHECK_NS or more after the
 * previous such call, and at the calls for other processes with the same `now`. */
static bool is_recheck(struct javanames *javanames, uint64_t now)
{
	if (now < javanames->recheck)
		return now == javanames->rechecked;
	javanames->recheck = now + RECHECK_NS;
	javanames->rechecked = now;
	return true;
}

/* Requests again the names of a process's methods in which frames have appeared since the last request. */
static void request_again(struct javanames *javanames, uint32_t pid, size_t *n)
{
	uint32_t all = javanames->keys.n, at = 0;
	size_t before = *n, most = javanames->is_last ? all : RECHECKS_MAX;

	for (uint32_t i = 0; i < all && *n - before < most; i++) {
		struct key key;

		at = (javanames->turn + i) % all;
		if (!javanames->one[at].is_used)
			continue;
		key = javanames_key_of(javanames, at + 1);
		if (key.pid == pid)
			request_name(javanames, at, key.method, n);
	}
	if (*n - before == most)
		javanames->turn = at + 1;
}

void javanames_recheck(struct javanames *javanames)
{
	javanames->recheck = 0;
	javanames->is_last = true;
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

void javanames_named(struct javanames *javanames, const struct javanames_jvm *jvm, uint64_t method, uint64_t now,
		     struct str name)
{
	struct key key = { method, jvm->pid, 0 };
	uint32_t id = intern_find(&javanames->keys, javanames_bytes_of(&key));
	struct one *one = id ? &javanames->one[id - 1] : NULL;

	if (one && one->name.n) {
		one->is_changed = one->is_changed || !str_eq(one->name, name);
		one->read = jvm->serial;
		return;
	}
	if (!one || name.n > LONGEST)
		return;
	if ((one->serial && one->serial != jvm->serial) ||
	    (pj_is_class(method) && now > one->since && now - one->since > JAVANAMES_FIRST_NS)) {
		one->is_changed = true;
		return;
	}
	if (!javanames_add_bytes(javanames, jvm, name.n))
		return;
	one->name = arena_copy(&javanames->names, name);
	one->read = jvm->serial;
}

/* ---- end of a window ------------------------------------------------------------------------------------------- */

/* Compares by kind, with methods first, then by process and address. */
static int key_cmp(const void *left, const void *right)
{
	const struct key *key = left, *b = right;

	if (pj_is_class(key->method) != pj_is_class(b->method))
		return pj_is_class(key->method) ? 1 : -1;
	if (key->pid != b->pid)
		return key->pid < b->pid ? -1 : 1;
	return (key->method > b->method) - (key->method < b->method);
}

/* Returns true if the address had only this name in the window, and the name was read from the program of the last
 * frame (serial). */
static bool is_proven(const struct one *one)
{
	return !one->is_changed && (!one->serial || one->serial == one->read);
}

/* Writes an item with methods, or with classes, of the process of key[0], until it has ITEM_BYTES bytes. Returns the
 * number of rows in it. */
static size_t put_process(const struct javanames *javanames, const struct key *key, size_t n, uint32_t left_out,
			  struct text *item)
{
	struct pj_methods head = { .pid = key[0].pid, .left_out = left_out };
	size_t i;

	item->n = 0;
	text_bytes(item, &head, sizeof(head));
	for (i = 0; i < n && key[i].pid == head.pid && pj_is_class(key[i].method) == pj_is_class(key[0].method) &&
		    item->n < ITEM_BYTES;
	     i++) {
		const struct one *one = &javanames->one[intern_find(&javanames->keys, javanames_bytes_of(&key[i])) - 1];
		struct str name = is_proven(one) ? one->name : (struct str){ 0 };
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
		enum pj_item_type type = pj_is_class(key[i].method) ? PJ_ITEM_CLASSES : PJ_ITEM_METHODS;

		i += put_process(javanames, key + i, n - i, i ? 0 : javanames->left_out, &item);
		chunk_put_item(text, type, item.p, item.n);
	}
	free(key);
	text_free(&item);
	javanames_forget(javanames);
}
