/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/timeline/journal.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "runtimes/hotspot/codelets.h"
#include "jmap/perfmap/codemap.h"
#include "common/formats/jmapfile.h"

#include <stdlib.h>

/* ---- a scan ---------------------------------------------------------------------------------------------------- */

#define BATCH 1024u               /* of new code that are read at once */
#define OUTPUT_MAX (16u << 20)    /* bytes of a scan: a record has at most 64 MB */
#define NAME_MAX_BYTES (8u << 10) /* longer ones are no names */
#define LIVE_BYTES \
	(sizeof(struct blob) + sizeof(uint64_t) + sizeof(uint32_t)) /* of memory that code takes beside its name */
#define NAME_BYTES 32u                                              /* that a name takes beside its bytes */

/* What changed, while it is put together. */
struct change {
	struct text names, gone, come, text, inlined;
	struct intern methods; /* Method* of this scan */
	uint32_t *name;        /* of methods: in names */
	size_t names_cap;
	struct scopes scopes;
	struct hotspot *h;
	struct journal *j;
	uint64_t nnames, ngone, ncome, last_gone, last_begin, unnamed, beyond, later;
	uint64_t bytes;           /* of memory that the timeline has, with what is new */
	struct blob batch[BATCH]; /* new code that is read now, by address */
	size_t nbatch, next;
	uint64_t batch_end; /* all new code up to this address was read */
};

static bool is_same(const struct blob *a, const struct blob *b)
{
	return a->address == b->address && a->begin == b->begin && a->end == b->end && a->method == b->method &&
	       a->compile_id == b->compile_id && a->name == b->name;
}

static uint32_t name_id(struct journal *t, struct change *c, struct str name)
{
	bool is_new;
	uint32_t id = nametable_id(&t->names, name, &is_new);

	if (is_new) {
		jmap_number(&c->names, name.n);
		text_str(&c->names, name);
		c->nnames++;
		c->bytes += name.n + NAME_BYTES;
	}
	return id;
}

/* Appends the name. */
static bool journal_spell(struct change *c, const struct blob *b)
{
	c->text.n = 0;
	return hotspot_name(c->h, b, METHOD_HOTSPOT, &c->text) && c->text.n <= NAME_MAX_BYTES &&
	       budget_steps(c->h->memory.budget, c->text.n / 16);
}

static void put_gone(struct change *c, uint64_t serial)
{
	jmap_signed(&c->gone, (int64_t)(serial - c->last_gone));
	c->last_gone = serial;
	c->ngone++;
}

static void put_come(struct change *c, const struct blob *b, uint32_t name)
{
	jmap_signed(&c->come, (int64_t)(b->begin - c->last_begin));
	jmap_number(&c->come, b->end - b->begin);
	jmap_number(&c->come, b->compiled ? JMAP_COMPILED : JMAP_STUB);
	if (b->compiled) {
		jmap_number(&c->come, b->compile_id);
		jmap_number(&c->come, (uint64_t)(b->level < 0 ? 0 : b->level));
	}
	jmap_number(&c->come, c->j->names.number[name]);
	c->last_begin = b->begin;
	c->ncome++;
}

/* The name of an inlined method; within a scan a Method* stays what it is. */
static uint32_t method_number(void *arg, uint64_t method)
{
	struct change *c = arg;
	struct blob b = { .compiled = true, .method = method };
	uint32_t known = c->methods.n, id = intern(&c->methods, (struct str){ (const char *)&method, sizeof(method) });

	if (id <= known)
		return c->name[id];
	if (id >= c->names_cap) {
		c->names_cap = c->names_cap ? c->names_cap * 2 : 1024;
		c->name = mem_grow(c->name, sizeof(*c->name), c->names_cap);
	}
	c->name[id] = journal_spell(c, &b) ? name_id(c->j, c, text_view(&c->text)) : 0;
	return c->name[id];
}

static void put_inlined(struct change *c, const struct blob *b, uint64_t serial)
{
	const struct scopes *s = &c->scopes;
	struct text body = { 0 };
	uint32_t last = 0;

	if (!scopes_read(&c->scopes, &c->h->memory, &c->h->layout, &c->h->packing, b, method_number, c))
		return;
	text_char(&body, JMAP_INLINED);
	jmap_number(&body, serial);
	jmap_number(&body, s->n - 1);
	for (uint32_t i = 1; i < s->n; i++) {
		jmap_number(&body, s->node[i].parent);
		jmap_number(&body, c->j->names.number[s->node[i].method]);
	}
	jmap_number(&body, s->nruns);
	for (uint32_t i = 0; i < s->nruns; last = s->run[i++].end) {
		jmap_number(&body, s->run[i].end - last);
		jmap_number(&body, s->run[i].node);
	}
	jmap_frame(&c->inlined, text_view(&body));
	text_free(&body);
}

/* May more code be taken in this scan? */
static bool may_go_on(const struct journal *t, struct change *c)
{
	const struct readbudget *budget = c->h->memory.budget;

	return !(budget && budget->over) && c->beyond == 0 &&
	       c->names.n + c->come.n + c->inlined.n + frameinfo_bytes(&t->frames) < OUTPUT_MAX;
}

/* Reads the next new code, from number j of the list on, beside what is live from number i on: names and frames. What
 * is another by then waits for the next scan. */
static void read_batch(struct journal *t, struct change *c, size_t i, size_t j)
{
	const struct codecache *now = &c->h->code;
	uint64_t method[BATCH];
	size_t nmethods = 0;

	c->nbatch = c->next = 0;
	for (; j < now->n && c->nbatch < BATCH; j++) {
		while (i < t->nlive && t->live[i].address < now->blob[j].address)
			i++;
		if (i < t->nlive && is_same(&t->live[i], &now->blob[j]))
			continue;
		if (now->blob[j].compiled)
			method[nmethods++] = now->blob[j].method;
		c->batch[c->nbatch++] = now->blob[j];
		c->batch_end = now->blob[j].address;
	}
	if (!may_go_on(t, c)) {
		c->nbatch = 0;
		c->batch_end = UINT64_MAX;
		return;
	}
	hotspot_expect(c->h, method, nmethods, true);
	frameinfo_read(&t->frames, c->h, c->batch, c->nbatch);
	c->nbatch = codecache_keep_same(&c->h->memory, &c->h->layout, c->batch, c->nbatch);
}

#define INTERPRETER STR("Interpreter")

/* The interpreter's parts come once, as soon as they are known, beside the whole: who asks for an address gets the
 * piece that begins nearest. */
static void put_interpreter(struct journal *t, struct hotspot *h, struct change *c)
{
	uint32_t name = intern_find(&t->names.names, INTERPRETER);
	struct codelets parts;

	for (size_t i = 0; i < t->nlive && name && !t->interpreter; i++) {
		if (t->live[i].compiled || t->name[i] != name)
			continue;
		if (!codelets_read(&parts, h, &h->code, &t->live[i]))
			return;
		for (size_t k = 0; k < parts.n; k++) {
			struct blob b = { .begin = parts.one[k].begin, .end = parts.one[k].end };

			put_come(c, &b, name_id(t, c, codelets_name(&parts, &parts.one[k])));
			t->next_serial++;
		}
		frameinfo_interpreter(&t->frames, h, &t->live[i]);
		codelets_free(&parts);
		t->interpreter = true;
	}
}

static size_t count_stub_blocks(const struct journal *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nlive; i++)
		n += !t->live[i].compiled && stubs_is_block(intern_str(&t->names.names, t->name[i]));
	return n;
}

static bool was_written(const struct journal *t, uint64_t begin)
{
	for (size_t i = 0; i < t->nstubs; i++)
		if (t->stub[i] == begin)
			return true;
	return false;
}

#define STUB_TRIES 20   /* each costs some milliseconds */
#define STUBS_MAX 8192u /* of all lists; no HotSpot has a thousand */

/* Stubs come as the interpreter's parts do, each once: some blocks are filled while it runs. The list is searched for
 * when there is a block more, which may still be filled. */
static void put_stubs(struct journal *t, struct hotspot *h, struct change *c)
{
	size_t blocks = count_stub_blocks(t);

	if (blocks != t->stub_blocks)
		t->stub_tries = 0;
	t->stub_blocks = blocks;
	if (blocks == 0 || (!t->stubs.head && t->stub_tries++ >= STUB_TRIES))
		return;
	if (!stubs_read(&t->stubs, h, &h->code) || t->stubs.first == t->stubs_first)
		return;
	t->stubs_first = t->stubs.first;
	for (size_t i = 0; i < t->stubs.n; i++) {
		const struct stub *s = &t->stubs.one[i];
		struct blob b = { .begin = s->begin, .end = s->end };

		if (t->nstubs == STUBS_MAX || !budget_steps(h->memory.budget, t->nstubs / 64) ||
		    was_written(t, s->begin))
			continue;
		put_come(c, &b, name_id(t, c, stubs_name(&t->stubs, s)));
		t->next_serial++;
		t->stub = mem_more(t->stub, sizeof(*t->stub), t->nstubs);
		t->stub[t->nstubs++] = s->begin;
	}
}

/* Code that is new gets its name. False: it waits for the next scan, or there is no memory for it. */
static bool journal_take_new(struct journal *t, struct change *c, size_t i, size_t j, uint32_t *name)
{
	const struct blob *b = &c->h->code.blob[j];

	if (b->address > c->batch_end)
		read_batch(t, c, i, j);
	while (c->next < c->nbatch && c->batch[c->next].address < b->address)
		c->next++;
	if (c->nbatch == 0 && c->batch_end == UINT64_MAX) {
		*(c->beyond ? &c->beyond : &c->later) += 1;
		return false;
	}
	if (c->next == c->nbatch || c->batch[c->next].address != b->address || !journal_spell(c, b))
		return false;
	if (t->bytes_max && c->bytes + LIVE_BYTES + c->text.n + NAME_BYTES > t->bytes_max) {
		c->beyond++;
		return false;
	}
	*name = name_id(t, c, text_view(&c->text));
	c->bytes += LIVE_BYTES;
	put_come(c, b, *name);
	if (b->compiled) {
		put_inlined(c, b, t->next_serial);
		frameinfo_compiled(&t->frames, b, t->next_serial);
	} else if (!str_eq(text_view(&c->text), INTERPRETER)) { /* its pieces come when all of them are known */
		frameinfo_other(&t->frames, c->h, b);
	}
	return true;
}

/* What is live, while it is put together. */
struct listed {
	struct blob *live;
	uint64_t *serial;
	uint32_t *name;
	size_t n;
};

static void take_list(struct journal *t, struct listed *list)
{
	free(t->live);
	free(t->serial);
	free(t->name);
	t->live = list->live;
	t->serial = list->serial;
	t->name = list->name;
	t->nlive = list->n;
}

/* Both lists ascend by address. What is new gets a name now; what cannot be named waits for the next scan. False: no
 * memory. */
static bool journal_compare(struct journal *t, struct hotspot *h, struct change *c)
{
	const struct codecache *now = &h->code;
	struct listed list = { mem_try_alloc(sizeof(*list.live), now->n + 1),
			       mem_try_alloc(sizeof(*list.serial), now->n + 1),
			       mem_try_alloc(sizeof(*list.name), now->n + 1), 0 };
	size_t i = 0;

	if (!list.live || !list.serial || !list.name) {
		free(list.live);
		free(list.serial);
		free(list.name);
		return false;
	}
	for (size_t j = 0; j < now->n; j++) {
		const struct blob *b = &now->blob[j];

		while (i < t->nlive && t->live[i].address < b->address)
			put_gone(c, t->serial[i++]);
		list.live[list.n] = *b;
		if (i < t->nlive && is_same(&t->live[i], b)) {
			list.name[list.n] = t->name[i];
			list.serial[list.n++] = t->serial[i++];
			continue;
		}
		if (!journal_take_new(t, c, i, j, &list.name[list.n])) {
			c->unnamed++;
			if (i < t->nlive && t->live[i].address == b->address)
				put_gone(c, t->serial[i++]);
			continue;
		}
		if (i < t->nlive && t->live[i].address == b->address)
			put_gone(c, t->serial[i++]);
		list.serial[list.n++] = t->next_serial++;
	}
	while (i < t->nlive)
		put_gone(c, t->serial[i++]);
	take_list(t, &list);
	put_interpreter(t, h, c);
	put_stubs(t, h, c);
	return true;
}

/* What a scan could not read; only what is other than in the one before. */
static void put_left_out(struct journal *t, const struct change *c, uint64_t began, struct text *file)
{
	struct text body = { 0 };

	if (t->torn_reported == c->h->code.torn && t->unnamed_reported == c->unnamed)
		return;
	text_char(&body, JMAP_LEFT);
	jmap_number(&body, began);
	jmap_number(&body, t->torn_reported = c->h->code.torn);
	jmap_number(&body, t->unnamed_reported = c->unnamed);
	jmap_frame(file, text_view(&body));
	text_free(&body);
}

static void put_scan(const struct journal *t, const struct change *c, uint64_t began, uint64_t took, struct text *file)
{
	struct text body = { 0 };

	if (c->nnames) {
		text_char(&body, JMAP_NAMES);
		jmap_number(&body, c->nnames);
		text_str(&body, text_view(&c->names));
		jmap_frame(file, text_view(&body));
		body.n = 0;
	}
	text_char(&body, JMAP_SCAN);
	jmap_number(&body, t->before);
	jmap_number(&body, t->before_ns);
	jmap_number(&body, began);
	jmap_number(&body, took);
	jmap_number(&body, c->ngone);
	text_str(&body, text_view(&c->gone));
	jmap_number(&body, c->ncome);
	text_str(&body, text_view(&c->come));
	jmap_frame(file, text_view(&body));
	text_str(file, text_view(&c->inlined));
	text_free(&body);
}

static void journal_append(struct journal *t, const struct change *c, uint64_t began, uint64_t took, struct text *file)
{
	if (c->ncome + c->ngone)
		put_scan(t, c, began, took, file);
	frameinfo_end(&t->frames, file);
	put_left_out(t, c, began, file);
}

uint64_t journal_bytes(const struct journal *t)
{
	return sizeof(*t) + t->nlive * LIVE_BYTES + nametable_bytes(&t->names) + t->nstubs * sizeof(*t->stub) +
	       t->stubs.names.cap + t->stubs.n * sizeof(*t->stubs.one);
}

static void end_change(struct change *c)
{
	text_free(&c->names);
	text_free(&c->gone);
	text_free(&c->come);
	text_free(&c->text);
	text_free(&c->inlined);
	intern_free(&c->methods);
	scopes_free(&c->scopes);
	free(c->name);
	free(c);
}

/* A scan that was compared. */
static void journal_take_scan(struct journal *t, struct change *c, uint64_t began, struct text *file)
{
	uint64_t took = clock_now() - began;

	t->came = c->ncome;
	t->went = c->ngone;
	t->torn = c->h->code.torn;
	t->unnamed = c->unnamed;
	t->beyond = c->beyond;
	t->later = c->later;
	journal_append(t, c, began, took, file);
	t->before = began;
	t->before_ns = took;
	nametable_renew(&t->names, t->name, t->nlive);
}

struct hotspot_reason journal_scan(struct journal *t, struct hotspot *h, struct text *file)
{
	struct change *c;
	uint64_t began = clock_now();
	struct hotspot_reason r = hotspot_scan(h);

	if (r.code)
		return r;
	c = mem_alloc(sizeof(*c), 1);
	c->h = h;
	c->j = t;
	c->bytes = journal_bytes(t);
	if (journal_compare(t, h, c))
		journal_take_scan(t, c, began, file);
	else
		r = (struct hotspot_reason){ "over-budget", "there is no memory for its code" };
	end_change(c);
	return r;
}

void journal_begin_anew(struct journal *t)
{
	nametable_free(&t->names);
	t->nlive = 0;
	t->next_serial = 0;
	t->interpreter = false;
	t->nstubs = 0;
	t->stubs_first = 0;
	t->torn_reported = t->unnamed_reported = 0;
}

bool journal_map(const struct journal *t, enum method_style style, size_t max, struct text *text)
{
	struct text name = { 0 };

	for (size_t i = 0; i < t->nlive && text->n <= max; i++) {
		struct str known = intern_str(&t->names.names, t->name[i]);

		name.n = 0;
		if (t->live[i].compiled)
			methods_respell(&name, known, style);
		else
			text_str(&name, known);
		codemap_line(t->live[i].begin, t->live[i].end, text_view(&name), style == METHOD_HOTSPOT, text);
	}
	text_free(&name);
	return text->n <= max;
}

void journal_free(struct journal *t)
{
	nametable_free(&t->names);
	frameinfo_free(&t->frames);
	stubs_free(&t->stubs);
	free(t->stub);
	free(t->live);
	free(t->serial);
	free(t->name);
	*t = (struct journal){ 0 };
}
