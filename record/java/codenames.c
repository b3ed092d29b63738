/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/codenames.h"

#include "common/formats/jmapfile.h"
#include "common/formats/pjsection.h"
#include "record/java/codeitems.h"

#include <stdlib.h>

/* Limits of memory in bytes: TENANT_BYTES_MAX for one tenant, BYTES_MAX for all tenants together. */
#define TENANT_BYTES_MAX (8u << 20)
#define BYTES_MAX (16u << 20)
enum { TRIES_MAX = 4, RENEW_MIN = 64 };

struct codenames {
	struct tenants *tenants;
	struct codenames_jvm **jvm;
	size_t n;
	uint32_t numbers;
};

/* ---- entries of code blobs ------------------------------------------------------------------------------------ */

static bool codenames_charge(struct codenames_jvm *jvm, size_t bytes)
{
	if (!tenants_hold(jvm->owner->tenants, jvm->tenant, TENANT_MEMORY, bytes))
		return false;
	jvm->bytes += bytes;
	return true;
}

static void forget_description(struct code_entry *entry)
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
		jvm->free = codeentry_of(jvm, id)->next_free;
	} else {
		jvm->entry = mem_more(jvm->entry, sizeof(*jvm->entry), jvm->n);
		id = ++jvm->n;
	}
	*codeentry_of(jvm, id) =
		(struct code_entry){ .state = CODE_WANTED, .blob = *blob, .serial = ++jvm->serial, .cached = true };
	jvm->nwanted++;
	return id;
}

void codenames_use(struct codenames_jvm *jvm, uint32_t id, uint64_t time)
{
	struct code_entry *entry;

	if (id == 0) {
		jvm->left_out++;
		return;
	}
	entry = codeentry_of(jvm, id);
	if (entry->until == 0 || time < entry->from)
		entry->from = time;
	if (time > entry->until)
		entry->until = time;
}

/* ---- descriptions of code blobs ------------------------------------------------------------------------------- */

size_t codenames_wanted(struct codenames_jvm *jvm, uint32_t *id, struct blob *blob, size_t max)
{
	size_t n = 0;

	for (uint32_t i = 1; i <= jvm->n && n < max && jvm->nwanted; i++) {
		if (codeentry_of(jvm, i)->state != CODE_WANTED)
			continue;
		id[n] = i;
		blob[n++] = codeentry_of(jvm, i)->blob;
	}
	return n;
}

/* Returns the id of a name in the name table. Adds a new name, and charges its memory to the tenant. codeitems_put
 * gives it a number when it writes the name. Returns 0 if the memory limit is reached. */
static uint32_t codenames_intern(struct codenames_jvm *jvm, struct str name)
{
	bool is_new;
	uint32_t id;

	if (!intern_find(&jvm->names.names, name) && !codenames_charge(jvm, name.n + 2 * sizeof(struct str)))
		return 0;
	id = nametable_id(&jvm->names, name, &is_new);
	if (is_new)
		jvm->names.number[id] = CODEITEMS_NO_NAME;
	return id;
}

/* Appends a row for one range of code to the description of an entry. Returns false if the memory limit is reached. */
static bool codenames_put_row(struct codenames_jvm *jvm, struct code_entry *entry, const struct jvm_code *code,
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

static void describe_stub(struct codenames_jvm *jvm, struct code_entry *entry, const struct jvm_code *code,
			  struct str name)
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
	struct code_entry *entry = codeentry_of(jvm, id);
	bool compiled = entry->blob.compiled;

	if (entry->state != CODE_WANTED || code->start < entry->blob.begin || code->end > entry->blob.end ||
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

/* Returns the cached name of a Method*; NULL if there is none, or if the entry of the nmethod that proves it no longer
 * exists. */
static struct code_method *method_of(const struct codenames_jvm *jvm, uint64_t method)
{
	uint32_t id = intern_find(&jvm->methods, codenames_key(&method));
	struct code_method *known = id ? &jvm->method[id - 1] : NULL;

	if (!known || !known->proof || codeentry_of(jvm, known->proof)->serial != known->serial ||
	    codeentry_of(jvm, known->proof)->state == CODE_FREE)
		return NULL;
	return known;
}

/* Forgets the name of a Method*, because it will be read again. */
static void forget_name(struct codenames_jvm *jvm, uint64_t method)
{
	uint32_t id = intern_find(&jvm->methods, codenames_key(&method));

	if (id)
		jvm->method[id - 1] = (struct code_method){ 0 };
}

const uint64_t *codenames_missing(struct codenames_jvm *jvm, const uint32_t *id, size_t n, size_t *nmethods)
{
	struct intern seen = { 0 };

	*nmethods = 0;
	for (size_t i = 0; i < n; i++) {
		const struct code_entry *entry = codeentry_of(jvm, id[i]);

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
	jvm->method[id - 1] = (struct code_method){ .name = name_id };
}

/* Appends the blob of entry id to jvm->proof if the blob is an nmethod and id is not in `seen`. */
static void put_proof(struct codenames_jvm *jvm, uint32_t id, struct intern *seen, size_t *n)
{
	uint32_t before = seen->n;

	if (!codeentry_of(jvm, id)->blob.compiled ||
	    intern(seen, (struct str){ (const char *)&id, sizeof(id) }) <= before)
		return;
	jvm->proof = mem_more(jvm->proof, sizeof(*jvm->proof), *n);
	jvm->proof_id = mem_more(jvm->proof_id, sizeof(*jvm->proof_id), *n);
	jvm->proof_id[*n] = id;
	jvm->proof[(*n)++] = codeentry_of(jvm, id)->blob;
}

struct blob *codenames_proofs(struct codenames_jvm *jvm, const uint32_t *id, size_t n, size_t *nblobs)
{
	struct intern seen = { 0 };

	*nblobs = 0;
	for (size_t i = 0; i < n; i++) {
		const struct code_entry *entry = codeentry_of(jvm, id[i]);

		put_proof(jvm, id[i], &seen, nblobs);
		for (uint32_t k = 0; k < entry->nmethods; k++) {
			const struct code_method *known = method_of(jvm, entry->method[k]);

			if (known)
				put_proof(jvm, known->proof, &seen, nblobs);
		}
	}
	intern_free(&seen);
	jvm->nproofs = *nblobs;
	return jvm->proof;
}

/* Evaluates a check of the blobs that codenames_proofs returned last. same: the unchanged blobs, in the same order.
 * Sets `check` in the entries of unchanged blobs to the number of this check. */
static void take_check(struct codenames_jvm *jvm, const struct blob *same, size_t nsame)
{
	size_t at = 0;

	jvm->check++;
	for (size_t i = 0; i < jvm->nproofs && at < nsame; i++) {
		struct code_entry *entry = codeentry_of(jvm, jvm->proof_id[i]);

		if (same[at].address != entry->blob.address || same[at].compile_id != entry->blob.compile_id)
			continue;
		entry->check = jvm->check;
		at++;
	}
}

static void codenames_settle(struct codenames_jvm *jvm, struct code_entry *entry, enum code_state state)
{
	if (state != CODE_NAMED || !entry->nnames)
		forget_description(entry);
	free(entry->method);
	entry->method = NULL;
	entry->nmethods = 0;
	if (state == CODE_WANTED && ++entry->tries >= TRIES_MAX)
		state = CODE_UNNAMED;
	jvm->nwanted -= state != CODE_WANTED;
	entry->state = state;
}

/* Sets the names of the methods of an nmethod. Returns false if a cached name is not proven, because the nmethod that
 * proves it is not among the unchanged nmethods of the last check: then nmethod id must be described again. The name is
 * refuted for the other nmethods of the check, too, until it is read again. */
static bool take_names_of(struct codenames_jvm *jvm, uint32_t id)
{
	struct code_entry *entry = codeentry_of(jvm, id);
	bool proven = true;

	entry->name = mem_grow(entry->name, sizeof(*entry->name), entry->nmethods);
	for (uint32_t k = 0; k < entry->nmethods; k++) {
		uint32_t at = intern_find(&jvm->methods, codenames_key(&entry->method[k]));
		struct code_method *known = method_of(jvm, entry->method[k]);

		if (known && codeentry_of(jvm, known->proof)->check != jvm->check) {
			known->proof = 0;
			known->refuted = true;
		}
		if (at && jvm->method[at - 1].refuted) {
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
		struct code_entry *entry = codeentry_of(jvm, id[i]);

		if (entry->state != CODE_WANTED)
			continue;
		if (!entry->blob.compiled)
			codenames_settle(jvm, entry, entry->nnames ? CODE_NAMED : CODE_UNNAMED);
		else if (!entry->nmethods || entry->check != jvm->check)
			codenames_settle(jvm, entry, CODE_UNNAMED);
		else
			codenames_settle(jvm, entry,
					 !take_names_of(jvm, id[i]) ? CODE_WANTED :
					 entry->name[0]             ? CODE_NAMED :
								      CODE_UNNAMED);
	}
}

void codenames_postpone(struct codenames_jvm *jvm, const uint32_t *id, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (codeentry_of(jvm, id[i])->state == CODE_WANTED)
			codenames_settle(jvm, codeentry_of(jvm, id[i]), CODE_WANTED);
}

void codenames_keep(struct codenames_jvm *jvm, uint32_t id, uint64_t since, uint64_t seen)
{
	struct code_entry *entry = codeentry_of(jvm, id);

	entry->cached = true;
	if (entry->until == 0)
		return;
	entry->from = since < entry->from ? since : entry->from;
	entry->until = seen > entry->until ? seen : entry->until;
}

/* ---- start of the next window --------------------------------------------------------------------------------- */

static size_t bytes_of_entry(const struct code_entry *entry)
{
	return sizeof(*entry) + entry->rows.n + entry->nnames * (sizeof(*entry->name) + sizeof(*entry->method));
}

static void free_entry(struct codenames_jvm *jvm, uint32_t id)
{
	struct code_entry *entry = codeentry_of(jvm, id);

	jvm->nwanted -= entry->state == CODE_WANTED;
	jvm->nfreed++;
	forget_description(entry);
	*entry = (struct code_entry){ .next_free = jvm->free };
	jvm->free = id;
}

/* Calls fn with a pointer to each name id that the entries and methods of the JVM hold; fn may replace the id. Ids 0
 * are skipped. */
static void each_used_name(struct codenames_jvm *jvm, void (*fn)(void *to, uint32_t *name), void *to)
{
	for (uint32_t id = 1; id <= jvm->n; id++)
		for (uint32_t i = 0; i < codeentry_of(jvm, id)->nnames; i++)
			if (codeentry_of(jvm, id)->name[i])
				fn(to, &codeentry_of(jvm, id)->name[i]);
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

/* Removes the cached names of methods whose proof (the entry of an nmethod) no longer exists. */
static void renew_methods(struct codenames_jvm *jvm)
{
	struct intern methods = { 0 };
	struct code_method *retained = NULL;

	for (uint32_t id = 1; id <= jvm->methods.n; id++) {
		struct str key = intern_str(&jvm->methods, id);
		const struct code_method *known;
		uint64_t method;

		memcpy(&method, key.p, sizeof(method));
		known = method_of(jvm, method);
		if (!known)
			continue;
		retained = mem_more(retained, sizeof(*retained), methods.n);
		retained[methods.n] = *known;
		intern(&methods, key);
	}
	intern_free(&jvm->methods);
	free(jvm->method);
	jvm->methods = methods;
	jvm->method = retained;
}

static size_t codenames_bytes(const struct codenames_jvm *jvm)
{
	size_t bytes = nametable_bytes(&jvm->names) + jvm->methods.n * (sizeof(*jvm->method) + 40);

	for (uint32_t id = 1; id <= jvm->n; id++)
		if (codeentry_of(jvm, id)->state != CODE_FREE)
			bytes += bytes_of_entry(codeentry_of(jvm, id));
	return bytes;
}

/* If at least half of the entries, and RENEW_MIN or more, were freed since the last removal, removes names and methods
 * that no entry uses, and releases their memory. */
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

/* Starts the next window: frees the entries of blobs that are no longer in the cache of code blobs. */
static void codenames_turn(struct codenames_jvm *jvm, bool stream)
{
	for (uint32_t id = 1; id <= jvm->n; id++) {
		struct code_entry *entry = codeentry_of(jvm, id);

		if (entry->state != CODE_FREE && !entry->cached)
			free_entry(jvm, id);
		entry->cached = false;
		if (!stream)
			entry->until = 0;
	}
	jvm->left_out = 0;
	codenames_renew(jvm);
}

static void free_table(struct codenames_jvm *jvm)
{
	tenants_release(jvm->owner->tenants, jvm->tenant, TENANT_MEMORY, jvm->bytes);
	for (uint32_t id = 1; id <= jvm->n; id++)
		forget_description(codeentry_of(jvm, id));
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

		codeitems_put(jvm, stream, text);
		if (jvm->closed) {
			free_table(jvm);
			codenames->jvm[i] = codenames->jvm[--codenames->n];
		} else {
			codenames_turn(jvm, stream);
		}
	}
}

/* ---- creation and release ------------------------------------------------------------------------------------- */

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
	struct codenames *codenames = jvm->owner;
	size_t i = 0;

	jvm->closed = true;
	/* a table without facts for the window is not kept up to its end: JVMs may come and go in any number */
	if (jvm->n || jvm->left_out)
		return;
	while (codenames->jvm[i] != jvm)
		i++;
	codenames->jvm[i] = codenames->jvm[--codenames->n];
	free_table(jvm);
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
