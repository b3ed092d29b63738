/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/codenames.h"

#include "common/formats/jmapfile.h"
#include "common/nametable.h"
#include "record/perf/chunk.h"

#include <stdlib.h>

/* Limits of memory in bytes, for one tenant and for all. */
#define TENANT_BYTES_MAX (8u << 20)
#define BYTES_MAX (16u << 20)
/* maximum size of an item in bytes, apart from its last entry; in a pipe, each item is in one record */
#define ITEM_BYTES 32768u
enum { TRIES_MAX = 4, RENEW_MIN = 64 };

enum state {
	FREE,
	WANTED, /* the description of the blob is still to be read */
	NAMED,
	UNNAMED /* the blob has no name, or it changed before its names were proven */
};

struct entry {
	enum state state;
	unsigned tries;
	struct blob blob;
	uint64_t serial; /* number of this entry, unique in the JVM: ids are reused */
	/* time in ns of the first and last frame or check in this window; until 0: no frame is in the blob */
	uint64_t from, until;
	/* true: the cache of code blobs has the blob, as codenames_add or codenames_keep has reported */
	bool kept;
	bool written; /* true: the description was written to a stream */
	uint32_t next_free;
	/* number (codenames_jvm.check) of the last check that found the blob unchanged; 0: none did */
	uint64_t check;
	/* Array of the Method* of an nmethod: that of the compiled method, then those of the inlined methods. NULL
	 * before the description is read, after codenames_settle, and for a blob that is no nmethod. */
	uint64_t *method;
	uint32_t nmethods;
	/* rows: struct pj_code of each range of the blob, with its tree of inlined calls; name: ids in the name table
	 * of the names of all rows, in order */
	struct text rows;
	uint32_t *name;
	uint32_t nnames;
};

/* The name of a Method*. It is valid as long as its proof, an nmethod that refers to the Method*, is still in the
 * table. */
struct method {
	uint32_t name; /* id of the name in the name table; 0: the name could not be read */
	/* id of the entry of the nmethod that proves the name; 0: not proven. serial: serial of that entry */
	uint32_t proof;
	uint64_t serial;
};

struct codenames_jvm {
	struct codenames *owner;
	uint32_t pid, number;
	struct tenant tenant;
	bool closed;
	struct entry *entry; /* entry of id i at index i - 1 */
	/* n: number of elements of entry; free: id of the first free entry, 0 if there is none */
	uint32_t n, free;
	uint32_t nwanted;
	uint64_t serial, left_out;
	struct nametable names;
	uint32_t names_written; /* in a stream: names with lower numbers have been written */
	struct intern methods;
	struct method *method; /* name of each Method* in `methods`, at index id - 1 */
	size_t bytes;          /* bytes of memory that are charged to the tenant of the JVM */
	uint32_t nfreed;       /* number of entries freed since codenames_renew last dropped names */
	/* missing: result of codenames_missing; proof, proof_id: blobs of codenames_proofs and the ids of
	 * their entries */
	uint64_t *missing;
	struct blob *proof;
	uint32_t *proof_id;
	size_t nproofs;
	/* number of checks so far of whether blobs are unchanged (take_check); entry.check refers to it */
	uint64_t check;
};

struct codenames {
	struct tenants *tenants;
	struct codenames_jvm **jvm;
	size_t n;
	uint32_t numbers;
};

/* ---- entries -------------------------------------------------------------------------------------------------- */

static struct entry *entry_of(const struct codenames_jvm *jvm, uint32_t id)
{
	return &jvm->entry[id - 1];
}

static bool codenames_charge(struct codenames_jvm *jvm, size_t bytes)
{
	if (!tenants_hold(jvm->owner->tenants, jvm->tenant, TENANT_MEMORY, bytes))
		return false;
	jvm->bytes += bytes;
	return true;
}

static void forget_description(struct entry *entry)
{
	text_free(&entry->rows);
	free(entry->method);
	free(entry->name);
	entry->method = NULL;
	entry->name = NULL;
	entry->nmethods = entry->nnames = 0;
}

uint32_t codenames_add(struct codenames_jvm *jvm, const struct blob *blob)
{
	uint32_t id = jvm->free;

	if (!codenames_charge(jvm, sizeof(*jvm->entry)))
		return 0;
	if (id) {
		jvm->free = entry_of(jvm, id)->next_free;
	} else {
		jvm->entry = mem_more(jvm->entry, sizeof(*jvm->entry), jvm->n);
		id = ++jvm->n;
	}
	*entry_of(jvm, id) = (struct entry){ .state = WANTED, .blob = *blob, .serial = ++jvm->serial, .kept = true };
	jvm->nwanted++;
	return id;
}

void codenames_use(struct codenames_jvm *jvm, uint32_t id, uint64_t time)
{
	struct entry *entry;

	if (id == 0) {
		jvm->left_out++;
		return;
	}
	entry = entry_of(jvm, id);
	if (entry->until == 0 || time < entry->from)
		entry->from = time;
	if (time > entry->until)
		entry->until = time;
}

/* ---- descriptions --------------------------------------------------------------------------------------------- */

size_t codenames_wanted(struct codenames_jvm *jvm, uint32_t *id, struct blob *blob, size_t max)
{
	size_t n = 0;

	for (uint32_t i = 1; i <= jvm->n && n < max && jvm->nwanted; i++) {
		if (entry_of(jvm, i)->state != WANTED)
			continue;
		id[n] = i;
		blob[n++] = entry_of(jvm, i)->blob;
	}
	return n;
}

/* Returns the id of a name in the name table. Adds the name, and charges its memory to the tenant, if the table lacks
 * it. Returns 0 if the tenant's memory limit is reached. */
static uint32_t codenames_intern(struct codenames_jvm *jvm, struct str name)
{
	bool is_new;

	if (!intern_find(&jvm->names.names, name) && !codenames_charge(jvm, name.n + 2 * sizeof(struct str)))
		return 0;
	return nametable_id(&jvm->names, name, &is_new);
}

/* Appends a row for one range of code to the description of an entry. Returns false if the memory limit is reached. */
static bool codenames_put_row(struct codenames_jvm *jvm, struct entry *entry, const struct jvm_code *code,
			      uint32_t nnames, struct str tree)
{
	struct pj_code row = { .start = code->start,
			       .size = (uint32_t)(code->end - code->start),
			       .compile_id = entry->blob.compile_id,
			       .nnames = nnames,
			       .bytes = (uint32_t)tree.n,
			       .kind = entry->blob.compiled ? JMAP_COMPILED : JMAP_STUB,
			       .level = entry->blob.level > 0 ? (uint8_t)entry->blob.level : 0 };

	if (!codenames_charge(jvm, sizeof(row) + tree.n + nnames * (sizeof(*entry->name) + sizeof(*entry->method))))
		return false;
	text_bytes(&entry->rows, &row, sizeof(row));
	text_str(&entry->rows, tree);
	return true;
}

static void describe_stub(struct codenames_jvm *jvm, struct entry *entry, const struct jvm_code *code, struct str name)
{
	uint32_t id = codenames_intern(jvm, name);

	if (!id || !codenames_put_row(jvm, entry, code, 1, (struct str){ 0 }))
		return;
	entry->name = mem_more(entry->name, sizeof(*entry->name), entry->nnames);
	entry->name[entry->nnames++] = id;
}

void codenames_describe(struct codenames_jvm *jvm, uint32_t id, const struct jvm_code *code, const uint64_t *method,
			struct str rest)
{
	struct entry *entry = entry_of(jvm, id);
	bool compiled = entry->blob.compiled;

	if (entry->state != WANTED || code->start < entry->blob.begin || code->end > entry->blob.end ||
	    compiled != (code->nmethods > 0) || (compiled && entry->nmethods))
		return;
	if (!compiled) {
		describe_stub(jvm, entry, code, rest);
	} else if (codenames_put_row(jvm, entry, code, code->nmethods, rest)) {
		entry->method = mem_grow(NULL, sizeof(*entry->method), code->nmethods);
		memcpy(entry->method, method, code->nmethods * sizeof(*method));
		entry->nmethods = code->nmethods;
	}
}

static struct str codenames_key(const uint64_t *method)
{
	return (struct str){ (const char *)method, sizeof(*method) };
}

/* Returns the cached name of a Method*. Returns NULL if there is none, or if its proof is no longer in the table. */
static struct method *method_of(const struct codenames_jvm *jvm, uint64_t method)
{
	uint32_t id = intern_find(&jvm->methods, codenames_key(&method));
	struct method *known = id ? &jvm->method[id - 1] : NULL;

	if (!known || !known->proof || entry_of(jvm, known->proof)->serial != known->serial ||
	    entry_of(jvm, known->proof)->state == FREE)
		return NULL;
	return known;
}

/* Forgets the name of a Method*, because it will be read again. */
static void forget_name(struct codenames_jvm *jvm, uint64_t method)
{
	uint32_t id = intern_find(&jvm->methods, codenames_key(&method));

	if (id)
		jvm->method[id - 1] = (struct method){ 0 };
}

const uint64_t *codenames_missing(struct codenames_jvm *jvm, const uint32_t *id, size_t n, size_t *nmethods)
{
	struct intern seen = { 0 };

	*nmethods = 0;
	for (size_t i = 0; i < n; i++) {
		const struct entry *entry = entry_of(jvm, id[i]);

		for (uint32_t k = 0; k < entry->nmethods; k++) {
			uint32_t before = seen.n;

			if (method_of(jvm, entry->method[k]) ||
			    intern(&seen, codenames_key(&entry->method[k])) <= before)
				continue;
			forget_name(jvm, entry->method[k]);
			jvm->missing = mem_more(jvm->missing, sizeof(*jvm->missing), *nmethods);
			jvm->missing[(*nmethods)++] = entry->method[k];
		}
	}
	intern_free(&seen);
	return jvm->missing;
}

/* Stores the name of a Method* without a proof; codenames_prove sets the proof. */
void codenames_name(struct codenames_jvm *jvm, uint64_t method, struct str name)
{
	uint32_t before = jvm->methods.n, id = intern_find(&jvm->methods, codenames_key(&method)),
		 name_id = codenames_intern(jvm, name);

	if (!id && !codenames_charge(jvm, sizeof(*jvm->method) + sizeof(method) + 2 * sizeof(struct str)))
		return;
	id = intern(&jvm->methods, codenames_key(&method));
	if (id > before)
		jvm->method = mem_more(jvm->method, sizeof(*jvm->method), before);
	jvm->method[id - 1] = (struct method){ .name = name_id };
}

/* Appends the blob of entry id to jvm->proof if it is an nmethod and is not in `seen`. */
static void put_proof(struct codenames_jvm *jvm, uint32_t id, struct intern *seen, size_t *n)
{
	uint32_t before = seen->n;

	if (!entry_of(jvm, id)->blob.compiled || intern(seen, (struct str){ (const char *)&id, sizeof(id) }) <= before)
		return;
	jvm->proof = mem_more(jvm->proof, sizeof(*jvm->proof), *n);
	jvm->proof_id = mem_more(jvm->proof_id, sizeof(*jvm->proof_id), *n);
	jvm->proof_id[*n] = id;
	jvm->proof[(*n)++] = entry_of(jvm, id)->blob;
}

struct blob *codenames_proofs(struct codenames_jvm *jvm, const uint32_t *id, size_t n, size_t *nblobs)
{
	struct intern seen = { 0 };

	*nblobs = 0;
	for (size_t i = 0; i < n; i++) {
		const struct entry *entry = entry_of(jvm, id[i]);

		put_proof(jvm, id[i], &seen, nblobs);
		for (uint32_t k = 0; k < entry->nmethods; k++) {
			const struct method *known = method_of(jvm, entry->method[k]);

			if (known)
				put_proof(jvm, known->proof, &seen, nblobs);
		}
	}
	intern_free(&seen);
	jvm->nproofs = *nblobs;
	return jvm->proof;
}

/* Takes the result of a check of the blobs of the last codenames_proofs: `same` has those that are unchanged, in the
 * same order. Stores the number of the check in their entries. */
static void take_check(struct codenames_jvm *jvm, const struct blob *same, size_t nsame)
{
	size_t at = 0;

	jvm->check++;
	for (size_t i = 0; i < jvm->nproofs && at < nsame; i++) {
		struct entry *entry = entry_of(jvm, jvm->proof_id[i]);

		if (same[at].address != entry->blob.address || same[at].compile_id != entry->blob.compile_id)
			continue;
		entry->check = jvm->check;
		at++;
	}
}

static void codenames_settle(struct codenames_jvm *jvm, struct entry *entry, enum state state)
{
	if (state != NAMED || !entry->nnames)
		forget_description(entry);
	free(entry->method);
	entry->method = NULL;
	entry->nmethods = 0;
	if (state == WANTED && ++entry->tries >= TRIES_MAX)
		state = UNNAMED;
	jvm->nwanted -= state != WANTED;
	entry->state = state;
}

/* Sets the names of the methods of an nmethod. Returns false if a name had a proof that the check did not find
 * unchanged; the nmethod must be described again then. */
static bool take_names_of(struct codenames_jvm *jvm, uint32_t id)
{
	struct entry *entry = entry_of(jvm, id);
	bool proven = true;

	entry->name = mem_grow(entry->name, sizeof(*entry->name), entry->nmethods);
	for (uint32_t k = 0; k < entry->nmethods; k++) {
		uint32_t at = intern_find(&jvm->methods, codenames_key(&entry->method[k]));
		struct method *known = method_of(jvm, entry->method[k]);

		if (known && entry_of(jvm, known->proof)->check != jvm->check) {
			known->proof = 0;
			proven = false;
			continue;
		}
		if (at && !known) {
			jvm->method[at - 1].proof = id;
			jvm->method[at - 1].serial = entry->serial;
		}
		entry->name[k] = at ? jvm->method[at - 1].name : 0;
	}
	entry->nnames = entry->nmethods;
	return proven;
}

void codenames_prove(struct codenames_jvm *jvm, const uint32_t *id, size_t n, const struct blob *same, size_t nsame)
{
	take_check(jvm, same, nsame);
	for (size_t i = 0; i < n; i++) {
		struct entry *entry = entry_of(jvm, id[i]);

		if (entry->state != WANTED)
			continue;
		if (!entry->blob.compiled)
			codenames_settle(jvm, entry, entry->nnames ? NAMED : UNNAMED);
		else if (!entry->nmethods || entry->check != jvm->check)
			codenames_settle(jvm, entry, UNNAMED);
		else
			codenames_settle(jvm, entry,
					 !take_names_of(jvm, id[i]) ? WANTED :
					 entry->name[0]             ? NAMED :
								      UNNAMED);
	}
}

void codenames_postpone(struct codenames_jvm *jvm, const uint32_t *id, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (entry_of(jvm, id[i])->state == WANTED)
			codenames_settle(jvm, entry_of(jvm, id[i]), WANTED);
}

/* ---- items of a window ---------------------------------------------------------------------------------------- */

void codenames_keep(struct codenames_jvm *jvm, uint32_t id, uint64_t since, uint64_t seen)
{
	struct entry *entry = entry_of(jvm, id);

	entry->kept = true;
	if (entry->until == 0)
		return;
	entry->from = since < entry->from ? since : entry->from;
	entry->until = seen > entry->until ? seen : entry->until;
}

/* A PJ_ITEM_CODE or PJ_ITEM_CODE_NAMES while it is made. */
struct item {
	struct text *out;
	enum pj_item_type type;
	uint32_t pid, jvm;
	uint64_t left_out;
	struct text body;
};

static void end_item(struct item *item)
{
	if (item->body.n)
		chunk_put_item(item->out, item->type, item->body.p, item->body.n);
	item->body.n = 0;
}

/* Begins an item if none was begun. First ends the current one if it is full. */
static void begin_item(struct item *item)
{
	struct pj_codes head = { item->pid, item->jvm, item->left_out };

	if (item->body.n >= ITEM_BYTES)
		end_item(item);
	if (item->body.n)
		return;
	text_bytes(&item->body, &head, item->type == PJ_ITEM_CODE ? sizeof(head) : sizeof(struct pj_code_names));
	item->left_out = 0;
}

/* Appends those names of an entry to the item that the window, or the stream, does not have yet. done[id] marks names
 * that this window has. */
static void put_names(struct codenames_jvm *jvm, const struct entry *entry, char *done, bool stream, struct item *item)
{
	for (uint32_t i = 0; i < entry->nnames; i++) {
		uint32_t id = entry->name[i];
		struct str name = intern_str(&jvm->names.names, id);
		struct pj_code_name head = { id ? jvm->names.number[id] : 0, (uint32_t)name.n };

		if (!id || done[id] || (stream && head.number < jvm->names_written))
			continue;
		done[id] = 1;
		begin_item(item);
		text_bytes(&item->body, &head, sizeof(head));
		text_str(&item->body, name);
	}
}

/* number in rows that stands for a name that could not be read */
#define NO_NAME UINT32_MAX

static void put_rows(const struct codenames_jvm *jvm, const struct entry *entry, uint64_t until, struct item *item)
{
	struct str rest = text_view(&entry->rows);
	uint32_t at = 0;

	while (rest.n >= sizeof(struct pj_code)) {
		struct pj_code row;
		size_t tree;

		memcpy(&row, rest.p, sizeof(row));
		tree = row.bytes;
		row.from = entry->from;
		row.until = until;
		if (entry->written)
			row.nnames = row.bytes = 0;
		begin_item(item);
		text_bytes(&item->body, &row, sizeof(row));
		for (uint32_t i = 0; i < row.nnames && at < entry->nnames; i++) {
			uint32_t id = entry->name[at++], number = id ? jvm->names.number[id] : NO_NAME;

			text_bytes(&item->body, &number, sizeof(number));
		}
		text_str(&item->body, str_head(str_from(rest, sizeof(row)), row.bytes));
		rest = str_from(rest, sizeof(row) + tree);
	}
}

/* Returns true if an entry must be written now. In a window these are the named entries with a frame; in a stream,
 * those of them that are new or have left the cache, so that their end is known. */
static bool is_entry_due(const struct entry *entry, bool stream)
{
	return entry->state == NAMED && entry->until && (!stream || !entry->written || !entry->kept);
}

static void put_jvm(struct codenames_jvm *jvm, bool stream, struct text *text)
{
	struct item names = { text, PJ_ITEM_CODE_NAMES, jvm->pid, jvm->number, 0, { 0 } },
		    codes = { text, PJ_ITEM_CODE, jvm->pid, jvm->number, jvm->left_out, { 0 } };
	char *done = mem_alloc(1, jvm->names.names.n + 1);

	if (jvm->left_out)
		begin_item(&codes);
	for (uint32_t id = 1; id <= jvm->n; id++)
		if (is_entry_due(entry_of(jvm, id), stream) && !entry_of(jvm, id)->written)
			put_names(jvm, entry_of(jvm, id), done, stream, &names);
	end_item(&names);
	for (uint32_t id = 1; id <= jvm->n; id++) {
		struct entry *entry = entry_of(jvm, id);

		if (!is_entry_due(entry, stream))
			continue;
		put_rows(jvm, entry, stream && entry->kept ? UINT64_MAX : entry->until, &codes);
		entry->written = stream;
	}
	end_item(&codes);
	text_free(&names.body);
	text_free(&codes.body);
	free(done);
}

/* ---- the next window ------------------------------------------------------------------------------------------ */

static size_t bytes_of_entry(const struct entry *entry)
{
	return sizeof(*entry) + entry->rows.n + entry->nnames * (sizeof(*entry->name) + sizeof(*entry->method));
}

static void free_entry(struct codenames_jvm *jvm, uint32_t id)
{
	struct entry *entry = entry_of(jvm, id);

	jvm->nwanted -= entry->state == WANTED;
	jvm->nfreed++;
	forget_description(entry);
	*entry = (struct entry){ .next_free = jvm->free };
	jvm->free = id;
}

/* Calls fn with a pointer to each name id that the entries and methods of the JVM hold; fn may replace the id. Ids 0
 * are skipped. */
static void each_used_name(struct codenames_jvm *jvm, void (*fn)(void *to, uint32_t *name), void *to)
{
	for (uint32_t id = 1; id <= jvm->n; id++)
		for (uint32_t i = 0; i < entry_of(jvm, id)->nnames; i++)
			if (entry_of(jvm, id)->name[i])
				fn(to, &entry_of(jvm, id)->name[i]);
	for (uint32_t i = 0; i < jvm->methods.n; i++)
		if (jvm->method[i].name)
			fn(to, &jvm->method[i].name);
}

struct used {
	uint32_t *name;
	size_t n;
};

static void collect_name(void *to, uint32_t *name)
{
	struct used *used = to;

	used->name = mem_more(used->name, sizeof(*used->name), used->n);
	used->name[used->n++] = *name;
}

static void replace_name(void *to, uint32_t *name)
{
	struct used *used = to;

	*name = used->name[used->n++];
}

/* Removes the names of methods whose proof is no longer in the table. */
static void renew_methods(struct codenames_jvm *jvm)
{
	struct intern methods = { 0 };
	struct method *kept = NULL;

	for (uint32_t id = 1; id <= jvm->methods.n; id++) {
		struct str key = intern_str(&jvm->methods, id);
		const struct method *known;
		uint64_t method;

		memcpy(&method, key.p, sizeof(method));
		known = method_of(jvm, method);
		if (!known)
			continue;
		kept = mem_more(kept, sizeof(*kept), methods.n);
		kept[methods.n] = *known;
		intern(&methods, key);
	}
	intern_free(&jvm->methods);
	free(jvm->method);
	jvm->methods = methods;
	jvm->method = kept;
}

static size_t codenames_bytes(const struct codenames_jvm *jvm)
{
	size_t bytes = nametable_bytes(&jvm->names) + jvm->methods.n * (sizeof(*jvm->method) + 40);

	for (uint32_t id = 1; id <= jvm->n; id++)
		if (entry_of(jvm, id)->state != FREE)
			bytes += bytes_of_entry(entry_of(jvm, id));
	return bytes;
}

/* Removes names and methods that nothing uses, if half of the entries were freed since the last time. Releases their
 * memory. */
static void codenames_renew(struct codenames_jvm *jvm)
{
	struct used used = { 0 };
	size_t bytes;

	if (jvm->nfreed < RENEW_MIN || jvm->nfreed < jvm->n / 2)
		return;
	jvm->nfreed = 0;
	renew_methods(jvm);
	each_used_name(jvm, collect_name, &used);
	nametable_renew(&jvm->names, used.name, used.n);
	if (used.name) {
		used.n = 0;
		each_used_name(jvm, replace_name, &used);
		free(used.name);
	}
	bytes = codenames_bytes(jvm);
	if (bytes < jvm->bytes) {
		tenants_release(jvm->owner->tenants, jvm->tenant, TENANT_MEMORY, jvm->bytes - bytes);
		jvm->bytes = bytes;
	}
}

/* Begins the next window: frees the entries of blobs that the cache has dropped. */
static void codenames_turn(struct codenames_jvm *jvm, bool stream)
{
	for (uint32_t id = 1; id <= jvm->n; id++) {
		struct entry *entry = entry_of(jvm, id);

		if (entry->state != FREE && !entry->kept)
			free_entry(jvm, id);
		entry->kept = false;
		if (!stream)
			entry->until = 0;
	}
	jvm->left_out = 0;
	jvm->names_written = jvm->names.next_number;
	codenames_renew(jvm);
}

static void free_table(struct codenames_jvm *jvm)
{
	tenants_release(jvm->owner->tenants, jvm->tenant, TENANT_MEMORY, jvm->bytes);
	for (uint32_t id = 1; id <= jvm->n; id++)
		forget_description(entry_of(jvm, id));
	nametable_free(&jvm->names);
	intern_free(&jvm->methods);
	free(jvm->method);
	free(jvm->entry);
	free(jvm->missing);
	free(jvm->proof);
	free(jvm->proof_id);
	free(jvm);
}

void codenames_put(struct codenames *codenames, bool stream, struct text *text)
{
	for (size_t i = codenames->n; i-- > 0;) {
		struct codenames_jvm *jvm = codenames->jvm[i];

		put_jvm(jvm, stream, text);
		if (jvm->closed) {
			free_table(jvm);
			codenames->jvm[i] = codenames->jvm[--codenames->n];
		} else {
			codenames_turn(jvm, stream);
		}
	}
}

/* ---- life ----------------------------------------------------------------------------------------------------- */

struct codenames_jvm *codenames_open(struct codenames *codenames, uint32_t pid, struct tenant tenant)
{
	struct codenames_jvm *jvm = mem_alloc(sizeof(*jvm), 1);

	*jvm = (struct codenames_jvm){
		.owner = codenames, .pid = pid, .tenant = tenant, .number = codenames->numbers++
	};
	codenames->jvm = mem_more(codenames->jvm, sizeof(struct codenames_jvm *), codenames->n);
	codenames->jvm[codenames->n++] = jvm;
	return jvm;
}

void codenames_close(struct codenames_jvm *jvm)
{
	jvm->closed = true;
}

struct codenames *codenames_new(void)
{
	static const struct tenant_limits limits = { .stock[TENANT_MEMORY] = TENANT_BYTES_MAX,
						     .total[TENANT_MEMORY] = BYTES_MAX };
	struct codenames *codenames = mem_alloc(sizeof(*codenames), 1);

	codenames->tenants = tenants_new(&limits);
	return codenames;
}

void codenames_free(struct codenames *codenames)
{
	if (!codenames)
		return;
	while (codenames->n)
		free_table(codenames->jvm[--codenames->n]);
	tenants_free(codenames->tenants);
	free(codenames->jvm);
	free(codenames);
}
