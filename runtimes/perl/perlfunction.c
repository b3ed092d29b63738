/* SPDX-License-Identifier: Apache-2.0 */
/* Names as cv_name() of op.c and gv_fullname4() of gv.c make them. */
#include "runtimes/perl/perllayout.h"

#define TEXT_MAX (1 << 20) /* limit for the length of a name */

/* A name that is being put together: n of PERL_NAME_MAX - 1 bytes. */
struct perltext {
	char *to;
	size_t n;
	bool cut;
};

/* Appends a code point of at most 2 bytes, or the bytes of one. */
static void perltext_add(struct perltext *text, const char *bytes, size_t n)
{
	if (text->cut || n > PERL_NAME_MAX - 1 - text->n) {
		text->cut = true;
		return;
	}
	memcpy(text->to + text->n, bytes, n);
	text->n += n;
}

static void perltext_string(struct perltext *text, const char *string)
{
	perltext_add(text, string, strlen(string));
}

static void perltext_end(struct perltext *text)
{
	if (text->cut) {
		size_t most = PERL_NAME_MAX - sizeof("...");

		text->n = text->n < most ? text->n : most;
		/* Bytes 10xxxxxx continue a code point: drop it. */
		while (text->n && ((unsigned char)text->to[text->n] & 0xc0) == 0x80)
			text->n--;
		memcpy(text->to + text->n, "...", 3);
		text->n += 3;
	}
	text->to[text->n] = '\0';
}

/* Appends n bytes of UTF-8, or of Latin-1, up to a NUL. */
static void perltext_characters(struct perltext *text, const char *bytes, size_t n, bool utf8)
{
	for (size_t i = 0; i < n && bytes[i] && !text->cut; i++) {
		unsigned char byte = (unsigned char)bytes[i];
		char pair[2] = { (char)(0xc0 | byte >> 6), (char)(0x80 | (byte & 0x3f)) };

		if (utf8 || byte < 0x80)
			perltext_add(text, bytes + i, 1);
		else
			perltext_add(text, pair, sizeof(pair));
	}
}

/* Appends the text of a HEK: length, text, NUL, flags. Returns false if it is none, or is empty. */
static bool perltext_hek(struct perltext *text, struct memory *memory, uint64_t address)
{
	char head[HEK_TEXT], bytes[PERL_NAME_MAX];
	uint64_t end;
	int32_t length;
	size_t n;

	if (address < 4096 || address >= UINT64_C(1) << 47 || address % 4 != 0 ||
	    !memory_read(memory, address, head, sizeof(head)))
		return false;
	length = (int32_t)perllayout_half(head, HEK_LENGTH);
	if (length <= 0 || length > TEXT_MAX)
		return false;
	n = (size_t)length < sizeof(bytes) ? (size_t)length : sizeof(bytes);
	if (!memory_read(memory, address + HEK_TEXT, bytes, n) ||
	    !memory_u64(memory, address + HEK_TEXT + (uint64_t)length, 2, &end) || (end & 0xff) != 0 || !bytes[0])
		return false;
	perltext_characters(text, bytes, n, end >> 8 & HEK_IS_UTF8);
	return true;
}

/* Reads an SV that is in use and of a type, and the first n bytes of its body. */
static bool read_sv(struct memory *memory, uint64_t address, uint32_t type, char sv[SV_BYTES], char *body, size_t n)
{
	uint64_t at;

	if (!perllayout_is_address(address) || !memory_read(memory, address, sv, SV_BYTES))
		return false;
	at = perllayout_word(sv, SV_BODY);
	return (perllayout_half(sv, SV_FLAGS) & SV_TYPE_MASK) == type && perllayout_half(sv, SV_COUNT) != 0 &&
	       perllayout_is_address(at) && memory_read(memory, at, body, n);
}

/* Sets *aux to the address of the auxiliary structure of a stash; 0: it has none. */
static bool stash_aux(const struct perl *perl, uint64_t stash, uint64_t *aux)
{
	char sv[SV_BYTES], body[HV_BYTES];
	uint64_t max, buckets;

	if (!read_sv(perl->memory, stash, SV_TYPE_HV, sv, body, sizeof(body)))
		return false;
	max = perllayout_word(body, HV_MAX);
	buckets = perllayout_word(sv, SV_VALUE);
	*aux = 0;
	if (!(perllayout_half(sv, SV_FLAGS) & SV_HAS_AUX))
		return true;
	*aux = perl->layout.stash_name_in_body ? perllayout_word(sv, SV_BODY) + HV_BYTES : buckets + 8 * (max + 1);
	return max <= UINT32_MAX && perllayout_is_address(buckets) && perllayout_is_address(*aux);
}

/* Appends the name of a stash and "::"; one that has lost its name is __ANON__. */
static bool perltext_stash(struct perltext *text, const struct perl *perl, uint64_t stash)
{
	char bytes[STASH_BYTES];
	uint64_t aux = 0, name = 0;

	if (stash && !stash_aux(perl, stash, &aux))
		return false;
	if (aux) {
		if (!memory_read(perl->memory, aux, bytes, sizeof(bytes)))
			return false;
		name = perllayout_word(bytes, STASH_NAME);
		if (name && perllayout_half(bytes, STASH_NAMES) != 0 &&
		    (!perllayout_is_address(name) || !memory_pointer(perl->memory, name, &name)))
			return false;
	}
	if (!name)
		perltext_string(text, "__ANON__");
	else if (!perltext_hek(text, perl->memory, name))
		return false;
	perltext_string(text, "::");
	return true;
}

/* Appends the name of a GV: that of the one for which it stands, if it is another one's alias. */
static bool perltext_gv(struct perltext *text, const struct perl *perl, uint64_t gv)
{
	char sv[SV_BYTES], body[GV_BYTES];
	uint64_t parts, effective;

	if (!read_sv(perl->memory, gv, SV_TYPE_GV, sv, body, sizeof(body)))
		return false;
	parts = perllayout_word(sv, SV_VALUE);
	if (perllayout_is_address(parts) && memory_pointer(perl->memory, parts + GP_EFFECTIVE, &effective) &&
	    effective && effective != gv && !read_sv(perl->memory, effective, SV_TYPE_GV, sv, body, sizeof(body)))
		return false;
	return perltext_stash(text, perl, perllayout_word(body, GV_STASH)) &&
	       perltext_hek(text, perl->memory, perllayout_word(body, GV_NAME));
}

/* Appends the name of a sub or format. */
static bool perltext_cv(struct perltext *text, const struct perl *perl, uint64_t cv)
{
	char sv[SV_BYTES], body[CV_BYTES];
	uint64_t name;
	uint32_t flags;

	if (!read_sv(perl->memory, cv, SV_TYPE_CV, sv, body, sizeof(body)) &&
	    !read_sv(perl->memory, cv, SV_TYPE_FORMAT, sv, body, sizeof(body)))
		return false;
	flags = perllayout_half(body, CV_FLAGS);
	name = perllayout_word(body, CV_NAME);
	if (!(flags & CV_IS_NAMED))
		return perltext_gv(text, perl, name);
	return ((flags & CV_IS_LEXICAL) || perltext_stash(text, perl, perllayout_word(body, CV_STASH))) &&
	       perltext_hek(text, perl->memory, name);
}

bool perlcv_has_pad(const struct perl *perl, uint64_t cv, uint32_t depth, uint64_t pad)
{
	char sv[SV_BYTES], body[CV_BYTES], pads[PADS_BYTES];
	uint64_t address, list, one, i = (uint64_t)depth + 1;

	if (!pad || !read_sv(perl->memory, cv, SV_TYPE_CV, sv, body, sizeof(body)))
		return false;
	address = perllayout_word(body, CV_PADS);
	if (!perllayout_is_address(address) || !memory_read(perl->memory, address, pads, sizeof(pads)))
		return false;
	list = perllayout_word(pads, PADS_LIST);
	return perllayout_is_address(list) && i <= perllayout_word(pads, PADS_LAST) &&
	       memory_pointer(perl->memory, list + 8 * i, &one) && one == pad;
}

/* Appends the string of an SV of any type that may have one. */
static bool perltext_sv(struct perltext *text, const struct perl *perl, uint64_t address)
{
	char sv[SV_BYTES], string[PERL_NAME_MAX];

	if (!perllayout_is_address(address) || !memory_read(perl->memory, address, sv, sizeof(sv)) ||
	    !(perllayout_half(sv, SV_FLAGS) & SV_IS_STRING) || perllayout_half(sv, SV_COUNT) == 0 ||
	    !memory_string(perl->memory, perllayout_word(sv, SV_VALUE), string, sizeof(string)) || !string[0])
		return false;
	perltext_string(text, string);
	return true;
}

static bool name_frame(const struct perl *perl, const struct perl_frame *frame, struct perl_function *function)
{
	static const char *const names[] = { [PERL_MAIN] = "<main>",
					     [PERL_EVAL] = "(eval)",
					     [PERL_SORT] = "(sort)",
					     [PERL_REGEXP] = "(regexp)",
					     [PERL_DEFER] = "(defer)" };
	struct perltext text = { .to = function->name };
	bool named = true;

	if (frame->kind == PERL_SUB)
		named = perltext_cv(&text, perl, frame->code);
	else if (frame->kind == PERL_REQUIRE)
		named = perltext_sv(&text, perl, frame->code);
	else
		perltext_string(&text, frame->kind < sizeof(names) / sizeof(*names) && names[frame->kind] ?
					       names[frame->kind] :
					       "(eval)");
	perltext_end(&text);
	return named && function->name[0];
}

/* Returns true for the COP of code that is compiled: it is no op. */
static bool is_compiling(const struct perl *perl, uint64_t cop)
{
	return cop > perl->interpreter && cop - perl->interpreter < INTERPRETER_BYTES;
}

/* Returns true for a COP. Code in a regular expression runs without its first one: an op that does nothing now. */
static bool is_statement(const struct perl *perl, const char cop[COP_BYTES])
{
	uint64_t code = perllayout_word(cop, OP_CODE);

	return code && (code == perl->statement.next || code == perl->statement.debugged ||
			(code == perl->statement.null && perllayout_word(cop, OP_TARGET) == perl->statement.number));
}

/* Sets address, line and file by the COP. One that is no COP any more has none of them. */
static void place_frame(const struct perl *perl, const struct perl_frame *frame, struct perl_function *function)
{
	char cop[COP_BYTES];
	uint64_t file;

	function->address = frame->code ? frame->code : perl->interpreter;
	if (!perllayout_is_address(frame->cop) || !memory_read(perl->memory, frame->cop, cop, sizeof(cop)))
		return;
	if (!is_compiling(perl, frame->cop) && !is_statement(perl, cop))
		return;
	file = perllayout_word(cop, COP_FILE);
	if (!memory_string(perl->memory, file, function->file, sizeof(function->file)))
		function->file[0] = '\0';
	function->address = frame->cop;
	function->line = perllayout_half(cop, COP_LINE);
	if (function->line > INT32_MAX || !function->file[0])
		function->line = 0;
}

bool perl_function(const struct perl *perl, const struct perl_frame *frame, struct perl_function *function)
{
	*function = (struct perl_function){ 0 };
	place_frame(perl, frame, function);
	return name_frame(perl, frame, function);
}
