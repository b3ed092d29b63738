/* Descriptions of nmethods within the budget of one request: a batch beyond it becomes a smaller one, a single nmethod
 * beyond it has no inlined calls, and neither makes the JVM unreadable. */
/* covers: record/java/codescopes.c */
#include "record/java/codescopes.h"
#include "test/lib/synth.h"
#include "test/lib/tap.h"

enum { BATCH = 64, MANY_STEPS = 1 << 20 };

static struct jvm_reply reply;

/* Describes n copies of the nmethod in the image. Returns the number of steps that this takes. */
static uint64_t describe(struct hotspot *hotspot, const struct blob *blob, uint32_t n, struct readbudget *budget)
{
	struct codescopes codescopes = { 0 };
	struct codescopes_stubs stubs = { 0 };
	struct blobframes frames = { 0 };
	struct blob batch[BATCH];
	uint64_t steps = budget->steps;

	for (uint32_t i = 0; i < n; i++)
		batch[i] = *blob;
	memory_forget(&hotspot->memory);
	hotspot->memory.budget = budget;
	codescopes_describe(&codescopes, hotspot, &frames, &stubs, batch, n, &reply);
	hotspot->memory.budget = NULL;
	scopes_free(&codescopes.scopes);
	text_free(&codescopes.tree);
	text_free(&codescopes.out);
	codescopes_free_stubs(&stubs);
	return steps - budget->steps;
}

/* Returns element `index` of the reply. */
static struct jvm_code element(uint32_t index)
{
	struct str rest = { reply.names, reply.bytes };
	struct jvm_code code = { 0 };

	for (uint32_t i = 0; i <= index && rest.n >= sizeof(code); i++) {
		memcpy(&code, rest.p, sizeof(code));
		rest = str_from(rest, sizeof(code) + code.nmethods * sizeof(uint64_t) + ((code.bytes + 7) & ~7u));
	}
	return code;
}

static void batches(struct hotspot *hotspot, const struct blob *blob)
{
	struct readbudget budget = { .steps = MANY_STEPS, .bytes = MANY_STEPS };
	uint64_t all = describe(hotspot, blob, BATCH, &budget), one = all / BATCH;
	struct jvm_code code = element(BATCH - 1);

	ok(one > 1 && reply.n == BATCH && code.index == BATCH - 1 && code.nmethods > 1 && code.bytes && !code.limited,
	   "a batch within the budget is described");
	budget = (struct readbudget){ .steps = all / 2, .bytes = MANY_STEPS };
	describe(hotspot, blob, BATCH, &budget);
	ok(reply.n > 0 && reply.n < BATCH, "a batch beyond it becomes a smaller one");
	code = element(reply.n - 1);
	ok(code.index == reply.n - 1 && code.nmethods > 1 && code.bytes && !code.limited,
	   "  its last nmethod is complete");
	ok(element(reply.n).index == reply.n - 1, "  and nothing is after it");
	ok(!budget.over, "  and the JVM can be read further");
	budget = (struct readbudget){ .steps = one / 2, .bytes = MANY_STEPS };
	describe(hotspot, blob, BATCH, &budget);
	code = element(0);
	ok(reply.n == 1 && code.index == 0 && code.start == blob->begin && code.nmethods == 1 && code.bytes == 0,
	   "a single nmethod beyond it has no inlined calls");
	ok(code.limited == 1, "  and is marked, so that it is counted");
	ok(!budget.over, "  and the JVM can be read further");
}

int main(void)
{
	struct synth synth;
	struct memory_part part;
	struct hotspot hotspot;

	synth_make(&synth, SYNTH_21, 1, -1);
	part = synth_part(&synth);
	hotspot_open_image(&hotspot, &part, 1, SYNTH_BASE);
	hotspot_scan(&hotspot);
	for (size_t i = 0; i < hotspot.code.n; i++)
		if (hotspot.code.blob[i].compiled && hotspot.code.blob[i].compile_id == 7)
			batches(&hotspot, &hotspot.code.blob[i]);
	hotspot_close(&hotspot);
	synth_free(&synth);
	return done();
}
