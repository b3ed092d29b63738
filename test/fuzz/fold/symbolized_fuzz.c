/* symbolized: the names of a portable recording, any bytes: addresses ascend, texts are within the section, code is
 * that of its address and time, stacks have their frames. Input: a byte, then a section (0) or its stream before
 * compression (others). */
/* covers: fold/symbolized/symbolized.c */
#include "fold/symbolized/symbolized.h"

#include "common/formats/jmapfile.h"
#include "common/formats/pjsection.h"
#include "test/fuzz/fuzz.h"

#include <zlib.h>

/* A section of 1 kB may have a stream of 1 MB, with a text or an entry of 40 bytes in every few of it. */
const struct fuzz_budget fuzz_budget = {
	.steps = 10000000, .steps_per_byte = 200000, .heap = 16 << 20, .heap_per_byte = 1024 * 12
};

static void look_up_dso(const struct symbolized *symbolized, struct str key)
{
	struct symbolized_rows rows;
	struct symbolized_row row;
	uint64_t n, before = 0;

	if (!symbolized_find(symbolized, key, &rows))
		return;
	for (n = rows.left; symbolized_row(symbolized, &rows, &row); n--, before = row.address)
		MUST(row.address >= before);
	MUST(n == 0 && rows.rest.n == 0);
}

/* Looks up DSOs by keys as pjfold makes them. */
static void look_up_keys(const struct symbolized *symbolized)
{
	const struct build_id id[] = { { 0 }, { 4, { 1, 2, 3, 4 } } };
	struct text key = { 0 };

	for (size_t i = 0; i < 2; i++, key.n = 0) {
		symbolized_key_file(&key, STR(""), &id[i], &(struct file_id){ 0 }, STR("/x"));
		look_up_dso(symbolized, text_view(&key));
	}
	symbolized_key_process(&key, 1);
	look_up_dso(symbolized, text_view(&key));
	key.n = 0;
	symbolized_key_image(&key, STR("kernel"));
	look_up_dso(symbolized, text_view(&key));
	text_free(&key);
}

static void look_up_code(struct symbolized *symbolized)
{
	for (uint32_t pid = 0; pid < 16; pid++)
		for (uint64_t address = 0; address < 16; address++) {
			const struct jit_code *code = symbolized_code(symbolized, pid, address, 8 * address);

			MUST(!code || symbolized_has_code(symbolized, pid) != SYMBOLIZED_NONE);
			MUST(!code || (code->start == address && code->from <= 8 * address && code->name.n));
		}
}

static void look_up_stacks(struct symbolized *symbolized)
{
	uint64_t n;
	unsigned end;

	while (symbolized_stack(symbolized, &n, &end))
		for (uint64_t i = 0; i < n; i++)
			symbolized_frame(symbolized);
}

/* Returns a section with this stream, which the caller frees. */
static struct text section_of(struct str stream)
{
	struct pj_names head = { .version = PJ_NAMES_VERSION, .size = stream.n };
	uLongf n = compressBound((uLong)stream.n);
	struct text section = { 0 };

	text_bytes(&section, &head, sizeof(head));
	text_reserve(&section, n);
	MUST(compress2((Bytef *)section.p + section.n, &n, (const Bytef *)stream.p, (uLong)stream.n, 1) == Z_OK);
	section.n += n;
	return section;
}

static void read_one(struct str section, struct str stream)
{
	struct symbolized *symbolized;
	const char *why = symbolized_read(&symbolized, section);
	uint64_t texts = 0, n;

	MUST(!why == !!symbolized);
	if (why)
		return;
	jmap_get(&stream, &texts);
	for (; texts && jmap_get(&stream, &n) && n <= stream.n; texts--) {
		look_up_dso(symbolized, str_head(stream, (size_t)n));
		stream = str_from(stream, (size_t)n);
	}
	look_up_dso(symbolized, (struct str){ 0 });
	look_up_keys(symbolized);
	MUST(symbolized_count(symbolized) <= PJ_NAMES_DSOS + PJ_NAMES_PROCESSES);
	MUST(!symbolized_has_inlined(symbolized) || symbolized_left_out(symbolized) < UINT64_MAX || section.n);
	look_up_code(symbolized);
	look_up_stacks(symbolized);
	symbolized_free(symbolized);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct str input = { (const char *)data, n };
	struct text section;

	if (fuzz_byte(&input) == 0) {
		read_one(input, (struct str){ 0 });
		return 0;
	}
	section = section_of(input);
	read_one(text_view(&section), input);
	text_free(&section);
	return 0;
}
