/* Functions of ELF files by name: for any bytes the result is an offset within the file or a reason, the same one each
 * time. The names are those of the file itself. */
/* covers: record/probes/elfsymbol.c */
#include "record/probes/elfsymbol.h"

#include "common/arena.h"
#include "test/fuzz/fuzz.h"

enum { NAMES = 16, STRINGS_MAX = 1 << 16 };

static void look(const struct elfhead *elfhead, struct str name)
{
	struct elfsymbol symbol, again;
	enum elfsymbol_answer answer = elfsymbol_find(elfhead, name, &symbol);

	MUST(answer != ELFSYMBOL_FOUND || symbol.offset < elfhead->source.size);
	MUST(memchr(symbol.similar, '\0', sizeof(symbol.similar)));
	for (const char *p = symbol.similar; *p; p++)
		MUST(*p > ' ' && *p < 127);
	MUST(elfsymbol_find(elfhead, name, &again) == answer && again.offset == symbol.offset);
}

/* Looks for names of a table of strings. */
static void look_for_all(const struct elfhead *elfhead, struct str strings)
{
	for (size_t i = 0; i < NAMES && strings.n; i++)
		look(elfhead, str_cut(&strings, '\0'));
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct elfhead_source source = elfhead_image((struct str){ (const char *)data, n });
	struct elfhead elfhead = { 0 };
	struct arena arena = { 0 };

	if (!elfhead_read(&elfhead, &source, true)) {
		look(&elfhead, STR("no_such_function"));
		for (size_t i = 0, tables = 0; i < elfhead.sections && tables < 3; i++)
			if (elfhead.section[i].sh_type == SHT_STRTAB) {
				tables++;
				look_for_all(&elfhead,
					     elfhead_section(&elfhead, &elfhead.section[i], &arena, STRINGS_MAX));
			}
	}
	elfhead_free(&elfhead);
	arena_free(&arena);
	return 0;
}
