/* gosyms: whatever a Go program has in its tables, answers are names that the file contains, at or before the place; a
 * place that has an answer among others has it alone, too: all share a limit of bytes and steps. */
/* covers: common/formats/gotable.c common/formats/gomodule.c fold/symbols/gosyms.c fold/symbols/goinlines.c */
/* largest: 32768 */
#include "fold/symbols/gosyms.h"

#include "fold/symbols/goinlines.h"
#include "test/fuzz/fuzz.h"

#include <string.h>

enum { PLACES = 256 };

static void find_places(size_t n, struct symbols_query query[PLACES])
{
	uint64_t step = n / PLACES + 1;

	for (size_t i = 0; i < PLACES; i++)
		query[i] = (struct symbols_query){ .address = i * step };
}

/* Each name of a list, separated by NUL, is in the file, up to a dot that may have been U+00B7 there. */
static void check_names(struct str file, struct str list)
{
	while (list.n) {
		struct str name = str_cut(&list, 0);

		MUST(name.n);
		name = str_cut(&name, '.');
		MUST(name.n == 0 || memmem(file.p, file.n, name.p, name.n));
	}
}

static void check_functions(const struct elffile *elffile, struct str file, const struct symbols_query *query,
			    struct intern *names)
{
	struct symtab_search search = { .runtime = elffile, .mangled = true, .names = names };
	struct symtab_answer answer[PLACES] = { 0 }, one = { 0 };
	struct gosyms gosyms;
	uint64_t at[PLACES];

	if (!gosyms_open(&gosyms, elffile))
		return;
	for (size_t i = 0; i < PLACES; i++)
		at[i] = query[i].address;
	gosyms_resolve(&gosyms, &search, at, PLACES, answer);
	for (size_t i = 0; i < PLACES; i++) {
		MUST(answer[i].name <= names->n);
		if (!answer[i].name)
			continue;
		MUST(answer[i].start <= at[i]);
		check_names(file, intern_str(names, answer[i].name));
	}
	for (size_t i = 0; i < PLACES; i += PLACES / 4) {
		one = (struct symtab_answer){ 0 };
		gosyms_open(&gosyms, elffile); /* its limit of names is new */
		gosyms_resolve(&gosyms, &search, &at[i], 1, &one);
		MUST(!answer[i].name || (one.name == answer[i].name && one.start == answer[i].start));
	}
	text_free(&search.text);
}

static void check_inlines(const struct elffile *elffile, struct str file, struct symbols_query *query,
			  struct intern *names)
{
	const char *why, *one_why;

	if (!goinlines_resolve(elffile, query, PLACES, names, &why))
		return;
	for (size_t i = 0; i < PLACES; i++) {
		struct symbols_query one = { .address = query[i].address };

		MUST(query[i].inlined <= names->n);
		if (query[i].inlined)
			check_names(file, intern_str(names, query[i].inlined));
		if (i % (PLACES / 4) == 0) {
			goinlines_resolve(elffile, &one, 1, names, &one_why);
			MUST(why || !one_why);
			MUST(!query[i].inlined || one.inlined == query[i].inlined);
		}
	}
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct symbols_query query[PLACES];
	struct intern names = { 0 };
	struct elffile elffile;
	char path[32];
	int fd = fuzz_file(data, n, path);

	find_places(n, query);
	if (!elffile_open(&elffile, fd)) {
		check_functions(&elffile, (struct str){ (const char *)data, n }, query, &names);
		check_inlines(&elffile, (struct str){ (const char *)data, n }, query, &names);
	}
	elffile_close(&elffile);
	intern_free(&names);
	close(fd);
	return 0;
}
