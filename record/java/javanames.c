/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/javanames.h"

#include "common/arena.h"
#include "record/perf/chunk.h"
#include "common/intern.h"

#include <stdlib.h>

#define LONGEST 16384u    /* a name */
#define ITEM_BYTES 32768u /* then the next item begins: in a pipe, each is in one record */

/* The key of a method, as its bytes. */
struct key {
	uint64_t method;
	uint32_t pid, zero;
};

struct one {
	struct str name;
	bool is_requested;
};

struct javanames {
	struct intern keys;
	struct one *one; /* by key - 1 */
	struct arena names;
	size_t bytes;      /* of names */
	uint32_t nasked;   /* the first so many were asked for, whoever they are of */
	uint32_t left_out; /* frames of methods that there was no room for */
	uint64_t *wanted;  /* scratch */
};

struct javanames *javanames_new(void)
{
	return mem_alloc(sizeof(struct javanames), 1);
}

static void javanames_forget(struct javanames *s)
{
	intern_free(&s->keys);
	arena_free(&s->names);
	free(s->one);
	free(s->wanted);
	*s = (struct javanames){ 0 };
}

void javanames_free(struct javanames *s)
{
	if (s)
		javanames_forget(s);
	free(s);
}

static struct str javanames_bytes_of(const struct key *k)
{
	return (struct str){ (const char *)k, sizeof(*k) };
}

static struct key javanames_key_of(const struct javanames *s, uint32_t id)
{
	struct key k;

	memcpy(&k, intern_str(&s->keys, id).p, sizeof(k));
	return k;
}

void javanames_note(struct javanames *s, uint32_t pid, uint64_t method)
{
	struct key k = { method, pid, 0 };
	uint32_t before = s->keys.n;

	if (before >= JAVANAMES_MAX && !intern_find(&s->keys, javanames_bytes_of(&k))) {
		s->left_out += s->left_out < UINT32_MAX;
		return;
	}
	if (intern(&s->keys, javanames_bytes_of(&k)) <= before)
		return;
	s->one = mem_more(s->one, sizeof(*s->one), before);
	s->one[before] = (struct one){ 0 };
}

const uint64_t *javanames_wanted(struct javanames *s, uint32_t pid, size_t *n)
{
	bool all = true;

	*n = 0;
	for (uint32_t i = s->nasked; i < s->keys.n; i++) {
		struct key k = javanames_key_of(s, i + 1);

		if (k.pid == pid && !s->one[i].is_requested) {
			s->wanted = mem_more(s->wanted, sizeof(*s->wanted), *n);
			s->wanted[(*n)++] = k.method;
			s->one[i].is_requested = true;
		}
		all &= s->one[i].is_requested;
		if (all)
			s->nasked = i + 1;
	}
	return s->wanted;
}

void javanames_named(struct javanames *s, uint32_t pid, uint64_t method, struct str name)
{
	struct key k = { method, pid, 0 };
	uint32_t id = intern_find(&s->keys, javanames_bytes_of(&k));

	if (!id || name.n > LONGEST || name.n > JAVANAMES_BYTES - s->bytes)
		return;
	s->bytes += name.n;
	s->one[id - 1].name = arena_copy(&s->names, name);
}

/* ---- the end of a window --------------------------------------------------------------------------------------- */

static int key_cmp(const void *va, const void *vb)
{
	const struct key *a = va, *b = vb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->method > b->method) - (a->method < b->method);
}

/* Those of one process, from key[0] on; how many there are. */
static size_t put_process(const struct javanames *s, const struct key *key, size_t n, uint32_t left_out,
			  struct text *item)
{
	struct pj_methods head = { .pid = key[0].pid, .left_out = left_out };
	size_t i;

	item->n = 0;
	text_bytes(item, &head, sizeof(head));
	for (i = 0; i < n && key[i].pid == head.pid && item->n < ITEM_BYTES; i++) {
		struct str name = s->one[intern_find(&s->keys, javanames_bytes_of(&key[i])) - 1].name;
		struct pj_method m = { .method = key[i].method, .size = (uint32_t)name.n };

		text_bytes(item, &m, sizeof(m));
		text_str(item, name);
	}
	return i;
}

void javanames_end(struct javanames *s, struct text *t)
{
	size_t n = s->keys.n;
	struct key *key = mem_alloc(sizeof(*key), n);
	struct text item = { 0 };

	for (size_t i = 0; i < n; i++)
		key[i] = javanames_key_of(s, (uint32_t)i + 1);
	if (n)
		qsort(key, n, sizeof(*key), key_cmp);
	for (size_t i = 0; i < n;) {
		i += put_process(s, key + i, n - i, i ? 0 : s->left_out, &item);
		chunk_put_item(t, PJ_ITEM_METHODS, item.p, item.n);
	}
	free(key);
	text_free(&item);
	javanames_forget(s);
}
