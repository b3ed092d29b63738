/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/timeline/journal.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "runtimes/hotspot/codelets.h"
#include "jmap/perfmap/codemap.h"
#include "common/formats/jmapfile.h"

#include <stdlib.h>

/* ---- changes that one scan finds --------------------------------------------------------------------------------- */

#define BATCH 1024u /* maximum number of new blobs whose names and frames are read together */
/* bytes of output from which a scan leaves new code to the next scan; a record may have at most 64 MB */
#define OUTPUT_MAX (16u << 20)
#define NAME_MAX_BYTES (8u << 10) /* maximum length of a name in bytes; longer strings are not names */
/* bytes of memory of a live blob in the journal, without its name */
#define LIVE_BYTES (sizeof(struct blob) + sizeof(uint64_t) + sizeof(uint32_t))
#define NAME_BYTES 32u /* bytes of memory of a name, in addition to its characters */

/* The changes that one scan finds, as parts of the records to write. */
struct change {
	struct text names, gone, come, text, inlined;
	struct intern methods; /* Method* values whose names this scan has read */
	uint32_t *name;        /* id of each method's name in journal->names, by index in `methods` */
	size_t names_cap;
	struct scopes scopes;
	struct hotspot *h;
	struct journal *j;
	uint64_t nnames, ngone, ncome, last_gone, last_begin, unnamed, beyond, later;
	uint64_t bytes;           /* bytes of memory that the journal takes with the new code */
	struct blob batch[BATCH]; /* new blobs that read_batch has read, sorted by address */
	size_t nbatch, next;
	/* address up to which all new blobs were read; UINT64_MAX if this scan must read no more blobs */
	uint64_t batch_end;
};

static bool is_same(const struct blob *blob, const struct blob *one)
{
	return blob->address == one->address && blob->begin == one->begin && blob->end == one->end &&
	       blob->method == one->method && blob->compile_id == one->compile_id && blob->name == one->name;
}

static uint32_t name_id(struct journal *journal, struct change *change, struct str name)
{
	bool is_new;
	uint32_t id = nametable_id(&journal->names, name, &is_new);

	if (is_new) {
		jmap_number(&change->names, name.n);
		text_str(&change->names, name);
		change->nnames++;
		change->bytes += name.n + NAME_BYTES;
	}
	return id;
}

/* Writes the name of a blob to change->text. Returns false if the blob has no valid name, or if the budget is
 * exceeded. */
static bool journal_spell(struct change *change, const struct blob *blob)
{
	change->text.n = 0;
	return hotspot_name(change->h, blob, METHOD_HOTSPOT, &change->text) && change->text.n <= NAME_MAX_BYTES &&
	       budget_steps(change->h->memory.budget, change->text.n / 16);
}

static void put_gone(struct change *change, uint64_t serial)
{
	jmap_signed(&change->gone, (int64_t)(serial - change->last_gone));
	change->last_gone = serial;
	change->ngone++;
}

static void put_come(struct change *change, const struct blob *blob, uint32_t name)
{
	jmap_signed(&change->come, (int64_t)(blob->begin - change->last_begin));
	jmap_number(&change->come, blob->end - blob->begin);
	jmap_number(&change->come, blob->compiled ? JMAP_COMPILED : JMAP_STUB);
	if (blob->compiled) {
		jmap_number(&change->come, blob->compile_id);
		jmap_number(&change->come, (uint64_t)(blob->level < 0 ? 0 : blob->level));
	}
	jmap_number(&change->come, change->j->names.number[name]);
	change->last_begin = blob->begin;
	change->ncome++;
}

/* Returns the id of a method's name in journal->names, for inlined methods; 0 if the method has no name. Reads the name
 * of each Method* once, because it cannot change within a scan. */
static uint32_t method_number(void *arg, uint64_t method)
{
	struct change *change = arg;
	struct blob blob = { .compiled = true, .method = method };
	uint32_t known = change->methods.n,
		 id = intern(&change->methods, (struct str){ (const char *)&method, sizeof(method) });

	if (id <= known)
		return change->name[id];
	if (id >= change->names_cap) {
		change->names_cap = change->names_cap ? change->names_cap * 2 : 1024;
		change->name = mem_grow(change->name, sizeof(*change->name), change->names_cap);
	}
	change->name[id] = journal_spell(change, &blob) ? name_id(change->j, change, text_view(&change->text)) : 0;
	return change->name[id];
}

static void put_inlined(struct change *change, const struct blob *blob, uint64_t serial)
{
	const struct scopes *scopes = &change->scopes;
	struct text body = { 0 };
	uint32_t last = 0;

	if (!scopes_read(&change->scopes, &change->h->memory, &change->h->layout, &change->h->packing, blob,
			 method_number, change))
		return;
	text_char(&body, JMAP_INLINED);
	jmap_number(&body, serial);
	jmap_number(&body, scopes->n - 1);
	for (uint32_t i = 1; i < scopes->n; i++) {
		jmap_number(&body, scopes->node[i].parent);
		jmap_number(&body, change->j->names.number[scopes->node[i].method]);
	}
	jmap_number(&body, scopes->nruns);
	for (uint32_t i = 0; i < scopes->nruns; last = scopes->run[i++].end) {
		jmap_number(&body, scopes->run[i].end - last);
		jmap_number(&body, scopes->run[i].node);
	}
	jmap_frame(&change->inlined, text_view(&body));
	text_free(&body);
}

/* Returns true if the budget and OUTPUT_MAX permit this scan to read more new code. */
static bool may_go_on(const struct journal *journal, struct change *change)
{
	const struct readbudget *budget = change->h->memory.budget;

	return !(budget && budget->over) && change->beyond == 0 &&
	       change->names.n + change->come.n + change->inlined.n + frameinfo_bytes(&journal->frames) < OUTPUT_MAX;
}

/* Reads the names and frames of the next new blobs, at most BATCH, together into change->batch. A blob of the code
 * cache is new if no live blob equals it. second: index in the code cache at which the batch begins; i: index of the
 * first live blob at or after its address. Leaves out blobs that change during the read. If the scan must read no more,
 * leaves the batch empty, with batch_end UINT64_MAX. */
static void read_batch(struct journal *journal, struct change *change, size_t i, size_t second)
{
	const struct codecache *now = &change->h->code;
	uint64_t method[BATCH];
	size_t nmethods = 0;

	change->nbatch = change->next = 0;
	for (; second < now->n && change->nbatch < BATCH; second++) {
		while (i < journal->nlive && journal->live[i].address < now->blob[second].address)
			i++;
		if (i < journal->nlive && is_same(&journal->live[i], &now->blob[second]))
			continue;
		if (now->blob[second].compiled)
			method[nmethods++] = now->blob[second].method;
		change->batch[change->nbatch++] = now->blob[second];
		change->batch_end = now->blob[second].address;
	}
	if (!may_go_on(journal, change)) {
		change->nbatch = 0;
		change->batch_end = UINT64_MAX;
		return;
	}
	hotspot_expect(change->h, method, nmethods, true);
	frameinfo_read(&journal->frames, change->h, change->batch, change->nbatch);
	change->nbatch = codecache_keep_same(&change->h->memory, &change->h->layout, change->batch, change->nbatch);
}

#define INTERPRETER STR("Interpreter")

/* Writes the codelets of the interpreter as blobs, once, when the interpreter is complete. The interpreter's own blob
 * stays, too: a lookup takes the blob with the nearest start at or before an address, so it prefers a codelet. */
static void put_interpreter(struct journal *journal, struct hotspot *hotspot, struct change *change)
{
	uint32_t name = intern_find(&journal->names.names, INTERPRETER);
	struct codelets parts;

	for (size_t i = 0; i < journal->nlive && name && !journal->interpreter; i++) {
		if (journal->live[i].compiled || journal->name[i] != name)
			continue;
		if (!codelets_read(&parts, hotspot, &hotspot->code, &journal->live[i]))
			return;
		for (size_t index = 0; index < parts.n; index++) {
			struct blob blob = { .begin = parts.one[index].begin, .end = parts.one[index].end };

			put_come(change, &blob, name_id(journal, change, codelets_name(&parts, &parts.one[index])));
			journal->next_serial++;
		}
		frameinfo_interpreter(&journal->frames, hotspot, &journal->live[i]);
		codelets_free(&parts);
		journal->interpreter = true;
	}
}

static size_t count_stub_blocks(const struct journal *journal)
{
	size_t n = 0;

	for (size_t i = 0; i < journal->nlive; i++)
		n += !journal->live[i].compiled && stubs_is_block(intern_str(&journal->names.names, journal->name[i]));
	return n;
}

static bool was_written(const struct journal *journal, uint64_t begin)
{
	for (size_t i = 0; i < journal->nstubs; i++)
		if (journal->stub[i] == begin)
			return true;
	return false;
}

/* maximum number of unsuccessful searches for the list of stubs, each of some milliseconds; after them, there is none
 * until the number of code blobs with stubs changes */
#define STUB_TRIES 20
/* maximum number of stubs written for one JVM; others are left out; no HotSpot has a thousand */
#define STUBS_MAX 8192u

/* Writes each stub once, as a blob in addition to the code blob that contains it (StubRoutines). HotSpot fills some of
 * these code blobs while Java code runs, so a new code blob may not have all its stubs yet. When the number of these
 * code blobs changes, the search for the list of stubs starts again. */
static void put_stubs(struct journal *journal, struct hotspot *hotspot, struct change *change)
{
	size_t blocks = count_stub_blocks(journal);

	if (blocks != journal->stub_blocks)
		journal->stub_tries = 0;
	journal->stub_blocks = blocks;
	if (blocks == 0 || (!journal->stubs.head && journal->stub_tries++ >= STUB_TRIES))
		return;
	if (!stubs_read(&journal->stubs, hotspot, &hotspot->code) || journal->stubs.first == journal->stubs_first)
		return;
	journal->stubs_first = journal->stubs.first;
	for (size_t i = 0; i < journal->stubs.n; i++) {
		const struct stub *stub = &journal->stubs.one[i];
		struct blob blob = { .begin = stub->begin, .end = stub->end };

		if (journal->nstubs == STUBS_MAX || !budget_steps(hotspot->memory.budget, journal->nstubs / 64) ||
		    was_written(journal, stub->begin))
			continue;
		put_come(change, &blob, name_id(journal, change, stubs_name(&journal->stubs, stub)));
		journal->next_serial++;
		journal->stub = mem_more(journal->stub, sizeof(*journal->stub), journal->nstubs);
		journal->stub[journal->nstubs++] = stub->begin;
	}
}

/* Adds a new blob, with index `second` in the code cache, to *change, and sets *name to the id of its name. i: index of
 * the first live blob at or after its address. Returns false if this scan leaves the blob out, because it is unreadable
 * or nameless, or for lack of memory or budget; the next scan tries it again. */
static bool journal_take_new(struct journal *journal, struct change *change, size_t i, size_t second, uint32_t *name)
{
	const struct blob *blob = &change->h->code.blob[second];

	if (blob->address > change->batch_end)
		read_batch(journal, change, i, second);
	while (change->next < change->nbatch && change->batch[change->next].address < blob->address)
		change->next++;
	if (change->nbatch == 0 && change->batch_end == UINT64_MAX) {
		*(change->beyond ? &change->beyond : &change->later) += 1;
		return false;
	}
	if (change->next == change->nbatch || change->batch[change->next].address != blob->address ||
	    !journal_spell(change, blob))
		return false;
	if (journal->bytes_max && change->bytes + LIVE_BYTES + change->text.n + NAME_BYTES > journal->bytes_max) {
		change->beyond++;
		return false;
	}
	*name = name_id(journal, change, text_view(&change->text));
	change->bytes += LIVE_BYTES;
	put_come(change, blob, *name);
	if (blob->compiled) {
		put_inlined(change, blob, journal->next_serial);
		frameinfo_compiled(&journal->frames, blob, journal->next_serial);
	} else if (!str_eq(text_view(&change->text), INTERPRETER)) {
		/* The code blobs of the interpreter are written later, by frameinfo_interpreter, when all codelets are
		 * complete. */
		frameinfo_other(&journal->frames, change->h, blob);
	}
	return true;
}

/* The list of live blobs for the next scan, while journal_compare makes it. */
struct listed {
	struct blob *live;
	uint64_t *serial;
	uint32_t *name;
	size_t n;
};

static void take_list(struct journal *journal, struct listed *list)
{
	free(journal->live);
	free(journal->serial);
	free(journal->name);
	journal->live = list->live;
	journal->serial = list->serial;
	journal->name = list->name;
	journal->nlive = list->n;
}

/* Compares the live blobs of the last scan with the code cache; both are sorted by address. Adds the differences to
 * *change, and replaces the list of live blobs. A new blob that journal_take_new leaves out does not become live, so
 * the next scan tries it again. Returns false if memory is exhausted. */
static bool journal_compare(struct journal *journal, struct hotspot *hotspot, struct change *change)
{
	const struct codecache *now = &hotspot->code;
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
	for (size_t second = 0; second < now->n; second++) {
		const struct blob *blob = &now->blob[second];

		while (i < journal->nlive && journal->live[i].address < blob->address)
			put_gone(change, journal->serial[i++]);
		list.live[list.n] = *blob;
		if (i < journal->nlive && is_same(&journal->live[i], blob)) {
			list.name[list.n] = journal->name[i];
			list.serial[list.n++] = journal->serial[i++];
			continue;
		}
		if (!journal_take_new(journal, change, i, second, &list.name[list.n])) {
			change->unnamed++;
			if (i < journal->nlive && journal->live[i].address == blob->address)
				put_gone(change, journal->serial[i++]);
			continue;
		}
		if (i < journal->nlive && journal->live[i].address == blob->address)
			put_gone(change, journal->serial[i++]);
		list.serial[list.n++] = journal->next_serial++;
	}
	while (i < journal->nlive)
		put_gone(change, journal->serial[i++]);
	take_list(journal, &list);
	put_interpreter(journal, hotspot, change);
	put_stubs(journal, hotspot, change);
	return true;
}

/* Appends a JMAP_LEFT record to `file`: `began` (start of the scan), the number of blobs that this scan could not read,
 * and the number that it could not name. Appends nothing if both numbers are those of the last JMAP_LEFT record. */
static void put_left_out(struct journal *journal, const struct change *change, uint64_t began, struct text *file)
{
	struct text body = { 0 };

	if (journal->torn_reported == change->h->code.torn && journal->unnamed_reported == change->unnamed)
		return;
	text_char(&body, JMAP_LEFT);
	jmap_number(&body, began);
	jmap_number(&body, journal->torn_reported = change->h->code.torn);
	jmap_number(&body, journal->unnamed_reported = change->unnamed);
	jmap_frame(file, text_view(&body));
	text_free(&body);
}

static void put_scan(const struct journal *journal, const struct change *change, uint64_t began, uint64_t took,
		     struct text *file)
{
	struct text body = { 0 };

	if (change->nnames) {
		text_char(&body, JMAP_NAMES);
		jmap_number(&body, change->nnames);
		text_str(&body, text_view(&change->names));
		jmap_frame(file, text_view(&body));
		body.n = 0;
	}
	text_char(&body, JMAP_SCAN);
	jmap_number(&body, journal->before);
	jmap_number(&body, journal->before_ns);
	jmap_number(&body, began);
	jmap_number(&body, took);
	jmap_number(&body, change->ngone);
	text_str(&body, text_view(&change->gone));
	jmap_number(&body, change->ncome);
	text_str(&body, text_view(&change->come));
	jmap_frame(file, text_view(&body));
	text_str(file, text_view(&change->inlined));
	text_free(&body);
}

static void journal_append(struct journal *journal, const struct change *change, uint64_t began, uint64_t took,
			   struct text *file)
{
	if (change->ncome + change->ngone)
		put_scan(journal, change, began, took, file);
	frameinfo_end(&journal->frames, file);
	put_left_out(journal, change, began, file);
}

uint64_t journal_bytes(const struct journal *journal)
{
	return sizeof(*journal) + journal->nlive * LIVE_BYTES + nametable_bytes(&journal->names) +
	       journal->nstubs * sizeof(*journal->stub) + journal->stubs.names.cap +
	       journal->stubs.n * sizeof(*journal->stubs.one);
}

static void end_change(struct change *change)
{
	text_free(&change->names);
	text_free(&change->gone);
	text_free(&change->come);
	text_free(&change->text);
	text_free(&change->inlined);
	intern_free(&change->methods);
	scopes_free(&change->scopes);
	free(change->name);
	free(change);
}

/* Completes a scan after journal_compare: stores its counts in *journal and appends its records to `file`. */
static void journal_take_scan(struct journal *journal, struct change *change, uint64_t began, struct text *file)
{
	uint64_t took = clock_now() - began;

	journal->came = change->ncome;
	journal->went = change->ngone;
	journal->torn = change->h->code.torn;
	journal->unnamed = change->unnamed;
	journal->beyond = change->beyond;
	journal->later = change->later;
	journal_append(journal, change, began, took, file);
	journal->before = began;
	journal->before_ns = took;
	nametable_renew(&journal->names, journal->name, journal->nlive);
}

struct hotspot_reason journal_scan(struct journal *journal, struct hotspot *hotspot, struct text *file)
{
	struct change *change;
	uint64_t began = clock_now();
	struct hotspot_reason reason = hotspot_scan(hotspot);

	if (reason.code)
		return reason;
	change = mem_alloc(sizeof(*change), 1);
	change->h = hotspot;
	change->j = journal;
	change->bytes = journal_bytes(journal);
	if (journal_compare(journal, hotspot, change))
		journal_take_scan(journal, change, began, file);
	else
		reason = (struct hotspot_reason){ "over-budget", "out of memory for its code" };
	end_change(change);
	return reason;
}

void journal_begin_anew(struct journal *journal)
{
	nametable_free(&journal->names);
	journal->nlive = 0;
	journal->next_serial = 0;
	journal->interpreter = false;
	journal->nstubs = 0;
	journal->stubs_first = 0;
	journal->torn_reported = journal->unnamed_reported = 0;
}

bool journal_map(const struct journal *journal, enum method_style style, size_t max, struct text *text)
{
	struct text name = { 0 };

	for (size_t i = 0; i < journal->nlive && text->n <= max; i++) {
		struct str known = intern_str(&journal->names.names, journal->name[i]);

		name.n = 0;
		if (journal->live[i].compiled)
			methods_respell(&name, known, style);
		else
			text_str(&name, known);
		codemap_line(journal->live[i].begin, journal->live[i].end, text_view(&name), style == METHOD_HOTSPOT,
			     text);
	}
	text_free(&name);
	return text->n <= max;
}

void journal_free(struct journal *journal)
{
	nametable_free(&journal->names);
	frameinfo_free(&journal->frames);
	stubs_free(&journal->stubs);
	free(journal->stub);
	free(journal->live);
	free(journal->serial);
	free(journal->name);
	*journal = (struct journal){ 0 };
}
