/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/codescopes.h"

#include "common/formats/jmapfile.h"

#include <stdlib.h>

/* Limits of one search for HotSpot's list of stubs: SEARCH_STEPS in steps, SEARCH_BYTES in bytes read. SEARCHES_MAX:
 * maximum number of failed searches; after them, code is described without the names of single stubs. */
enum { SEARCH_STEPS = 400000, SEARCHES_MAX = 3 };
#define SEARCH_BYTES ((size_t)32 << 20)

static const struct str interpreter = { "Interpreter", sizeof("Interpreter") - 1 };

/* ---- description of nmethods ---------------------------------------------------------------------------------- */

/* Returns the index of a Method* in the list of the current nmethod, counted from 1; adds it if necessary. */
static uint32_t codescopes_number(void *arg, uint64_t method)
{
	struct codescopes *codescopes = arg;

	return intern(&codescopes->methods, (struct str){ (const char *)&method, sizeof(method) });
}

/* Encodes the inlined calls of an nmethod in codescopes->tree, in the format of PJ_ITEM_CODE. */
static void codescopes_put_tree(struct codescopes *codescopes, struct hotspot *hotspot, const struct blob *blob)
{
	const struct scopes *scopes = &codescopes->scopes;
	struct text *tree = &codescopes->tree;
	uint32_t last = 0;

	if (!scopes_read(&codescopes->scopes, &hotspot->memory, &hotspot->layout, &hotspot->packing, blob,
			 codescopes_number, codescopes))
		return;
	jmap_number(tree, scopes->n - 1);
	for (uint32_t i = 1; i < scopes->n; i++) {
		jmap_number(tree, scopes->node[i].parent);
		jmap_number(tree, scopes->node[i].method - 1);
	}
	jmap_number(tree, scopes->nruns);
	for (uint32_t i = 0; i < scopes->nruns; last = scopes->run[i++].end) {
		jmap_number(tree, scopes->run[i].end - last);
		jmap_number(tree, scopes->run[i].node);
	}
}

/* Appends one element to the reply: the head, the list of Method* (if methods is not NULL), and bytes. */
static void codescopes_put(struct text *out, struct jvm_code head, const struct intern *methods, struct str bytes)
{
	static const char zeros[8];

	head.nmethods = methods ? methods->n : 0;
	head.bytes = (uint32_t)bytes.n;
	text_bytes(out, &head, sizeof(head));
	for (uint32_t id = 1; id <= head.nmethods; id++)
		text_str(out, intern_str(methods, id));
	text_str(out, bytes);
	text_bytes(out, zeros, -bytes.n & 7);
}

static bool codescopes_is_over(const struct hotspot *hotspot)
{
	return hotspot->memory.budget && hotspot->memory.budget->over;
}

static void describe_nmethod(struct codescopes *codescopes, struct hotspot *hotspot, const struct blob *blob,
			     uint32_t index)
{
	struct jvm_code head = { .index = index, .start = blob->begin, .end = blob->end };
	size_t bytes;
	bool large;

	codescopes->tree.n = 0;
	codescopes_number(codescopes, blob->method);
	codescopes_put_tree(codescopes, hotspot, blob);
	bytes = codescopes->tree.n + codescopes->methods.n * sizeof(uint64_t);
	large = bytes > JVM_CODE_BYTES_MAX - sizeof(head);
	if (large || codescopes->tree.n == 0) {
		codescopes->tree.n = 0;
		intern_free(&codescopes->methods);
		codescopes_number(codescopes, blob->method);
	}
	head.limited = large || codescopes_is_over(hotspot);
	codescopes_put(&codescopes->out, head, &codescopes->methods, text_view(&codescopes->tree));
	intern_free(&codescopes->methods);
}

/* ---- description of stubs ------------------------------------------------------------------------------------- */

static void put_stub(struct codescopes *codescopes, uint32_t index, uint64_t start, uint64_t end, struct str name)
{
	struct jvm_code head = { .index = index, .start = start, .end = end };

	if (start < end && name.n <= JVM_NAME_MAX)
		codescopes_put(&codescopes->out, head, NULL, name);
}

/* Describes the codelets of the interpreter in block `blob`. All codelets exist already, because a thread has run in
 * the interpreter, so no codelet is added later. */
static void put_codelets(struct codescopes *codescopes, struct hotspot *hotspot, const struct blobframes *frames,
			 const struct blob *blob, uint32_t index)
{
	struct codelets codelets;

	if (!codelets_take(&codelets, &hotspot->memory, &frames->layout.codelets, blob))
		return;
	for (size_t i = 0; i < codelets.n; i++)
		put_stub(codescopes, index, codelets.one[i].begin, codelets.one[i].end,
			 codelets_name(&codelets, &codelets.one[i]));
	codelets_free(&codelets);
}

/* Reads HotSpot's list of stubs. The search has its own budget, so that a search beyond this budget does not make the
 * JVM unreadable. Returns false if the list was not found. */
static bool codescopes_read_stubs(struct codescopes_stubs *stubs, struct hotspot *hotspot)
{
	struct readbudget *former = hotspot->memory.budget, search = { .steps = SEARCH_STEPS, .bytes = SEARCH_BYTES };
	bool found;

	if (stubs->searches == SEARCHES_MAX)
		return false;
	hotspot->memory.budget = &search;
	found = !hotspot_scan(hotspot).code && stubs_read(&stubs->stubs, hotspot, &hotspot->code);
	hotspot_rest(hotspot);
	hotspot->memory.budget = former;
	stubs->searches += !found;
	return found;
}

static void put_stubs_of(struct codescopes *codescopes, struct hotspot *hotspot, struct codescopes_stubs *stubs,
			 const struct blob *blob, uint32_t index)
{
	if (!codescopes_read_stubs(stubs, hotspot))
		return;
	for (size_t i = 0; i < stubs->stubs.n; i++) {
		const struct stub *stub = &stubs->stubs.one[i];

		if (stub->begin >= blob->begin && stub->end <= blob->end)
			put_stub(codescopes, index, stub->begin, stub->end, stubs_name(&stubs->stubs, stub));
	}
}

static void describe_block(struct codescopes *codescopes, struct hotspot *hotspot, const struct blobframes *frames,
			   struct codescopes_stubs *stubs, const struct blob *blob, uint32_t index)
{
	struct text name = { 0 };

	if (hotspot_name(hotspot, blob, METHOD_HOTSPOT, &name)) {
		put_stub(codescopes, index, blob->begin, blob->end, text_view(&name));
		if (str_eq(text_view(&name), interpreter))
			put_codelets(codescopes, hotspot, frames, blob, index);
		else if (stubs_is_block(text_view(&name)))
			put_stubs_of(codescopes, hotspot, stubs, blob, index);
	}
	text_free(&name);
}

/* ---- replies to requests -------------------------------------------------------------------------------------- */

void codescopes_describe(struct codescopes *codescopes, struct hotspot *hotspot, const struct blobframes *frames,
			 struct codescopes_stubs *stubs, const struct blob *blob, uint32_t n, struct jvm_reply *reply)
{
	codescopes->out.n = 0;
	for (reply->n = 0; reply->n < n && !codescopes_is_over(hotspot); reply->n++) {
		size_t before = codescopes->out.n;

		if (blob[reply->n].compiled)
			describe_nmethod(codescopes, hotspot, &blob[reply->n], reply->n);
		else
			describe_block(codescopes, hotspot, frames, stubs, &blob[reply->n], reply->n);
		if (codescopes->out.n <= JVM_NAMES_BYTES && (reply->n == 0 || !codescopes_is_over(hotspot)))
			continue;
		codescopes->out.n = before;
		if (before || (reply->n > 0 && codescopes_is_over(hotspot)))
			break; /* the blob does not fit into this reply; the recorder requests it again */
	}
	if (codescopes_is_over(hotspot))
		hotspot->memory.budget->over = READBUDGET_LEFT;
	reply->bytes = (uint32_t)codescopes->out.n;
	if (reply->bytes)
		memcpy(reply->names, codescopes->out.p, reply->bytes);
}

void codescopes_free_stubs(struct codescopes_stubs *stubs)
{
	stubs_free(&stubs->stubs);
}
