/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangles symbols by libiberty, with the flags of perf (no parameters, no return type).
 *
 * Symbols are hostile input: a short mangled symbol can have an endless name (substitutions of substitutions). So this
 * file uses libiberty's functions that pass each part of the output to a callback. The callback ends such a function by
 * longjmp if the name grows too long; the symbol then stays mangled. This leaks no memory, since the functions have all
 * data on the stack.
 */
#include "common/arena.h"
#include "fold/symbols/elfsyms.h"
#include "common/text.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>

/* Maximum length in bytes of a mangled name; a longer name stays mangled. libiberty itself gives up at 1024 levels or
 * 2048 components. */
#define LONGEST_SYMBOL 16384
/* Maximum length of a demangled name in bytes; a longer D name is truncated, any other longer name stays mangled. */
#define LONGEST_NAME 16384
/* Maximum length of a mangled D name in bytes, as libiberty's D demangler has no callback; a longer name stays
 * mangled. */
#define LONGEST_D 512
/* Maximum number of back references in a mangled D name, since each may double the name; a name with more stays
 * mangled. */
#define D_REFS_MAX 16

struct output {
	struct text *text;
	size_t limit;
	jmp_buf full;
};

static void demangle_put(const char *p, size_t n, void *opaque)
{
	struct output *output = opaque;

	if (n > output->limit - output->text->n)
		longjmp(output->full, 1);
	text_bytes(output->text, p, n);
}

static bool by_callback(struct text *out, const char *symbol,
			int (*demangle)(const char *, int, demangle_callbackref, void *))
{
	struct output output = { .text = out, .limit = out->n + LONGEST_NAME };
	size_t before = out->n;

	if (setjmp(output.full) == 0 && demangle(symbol, DMGL_NO_OPTS, demangle_put, &output) &&
	    output.text->n > before)
		return true;
	out->n = before;
	return false;
}

/* Demangles an OCaml name as perf does: camlStdlib__List__map_12 becomes Stdlib.List.map_12. libiberty has no demangler
 * for OCaml. Returns false if the name is not OCaml's. */
static bool demangle_ocaml(struct text *out, struct str string)
{
	uint64_t byte;

	if (!str_starts(string, STR("caml")) || string.n < 5 || string.p[4] < 'A' || string.p[4] > 'Z')
		return false;
	for (string = str_from(string, 4); string.n;) {
		if (str_starts(string, STR("__"))) {
			text_char(out, '.');
			string = str_from(string, 2);
		} else if (string.p[0] == '$' && string.n >= 3 && str_hex(str_head(str_from(string, 1), 2), &byte)) {
			text_char(out, (char)byte);
			string = str_from(string, 3);
		} else {
			text_char(out, string.p[0]);
			string = str_from(string, 1);
		}
	}
	return true;
}

static bool demangle_dlang(struct text *out, struct str symbol, const char *string)
{
	size_t refs = 0;
	char *name;

	for (size_t i = 0; i < symbol.n; i++)
		refs += symbol.p[i] == 'Q';
	if (symbol.n > LONGEST_D || refs > D_REFS_MAX)
		return false;
	name = dlang_demangle(string, DMGL_NO_OPTS);
	if (!name)
		return false;
	text_str(out, str_head(str_of(name), strlen(name) < LONGEST_NAME ? strlen(name) : LONGEST_NAME));
	free(name);
	return true;
}

static bool demangle_c(struct text *out, struct str symbol, const char *string)
{
	if (str_starts(symbol, STR("_D")))
		return demangle_dlang(out, symbol, string);
	/* Rust's legacy names look like C++, so try Rust first */
	return by_callback(out, string, rust_demangle_callback) || by_callback(out, string, cplus_demangle_v3_callback);
}

bool elfsyms_demangle(struct text *out, struct str symbol)
{
	char space[256], *string = space;
	bool done;

	if (symbol.n < 2 || symbol.n > LONGEST_SYMBOL || memchr(symbol.p, 0, symbol.n))
		return false;
	if (symbol.p[0] != '_')
		return demangle_ocaml(out, symbol);
	if (symbol.n >= sizeof(space))
		string = mem_alloc(1, symbol.n + 1);
	memcpy(string, symbol.p, symbol.n);
	string[symbol.n] = '\0';
	done = demangle_c(out, symbol, string);
	if (string != space)
		free(string);
	return done;
}
