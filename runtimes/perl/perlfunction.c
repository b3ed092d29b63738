/* SPDX-License-Identifier: Apache-2.0 */
/* Names are formatted as by cv_name() of op.c and gv_fullname4() of gv.c. */
#include "runtimes/perl/perllayout.h"

#include <stdio.h>

#define TEXT_MAX (1 << 20) /* maximum length of a name in bytes; a longer one is treated as invalid */
#define OPS_MAX 256u       /* maximum number of ops that are followed from a statement to the root of its sub */

/* A name under construction: n bytes so far, at most PERL_NAME_MAX - 1. cut: the name is longer. */
struct perltext {
	char *to;
	size_t n;
	bool cut;
};

/* Appends n bytes: a string, one code point, or one byte of UTF-8. If they do not fit, appends nothing and sets
 * text->cut. */
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
		/* bytes 10xxxxxx continue a code point: an incomplete code point at the end is dropped */
		while (text->n && ((unsigned char)text->to[text->n] & 0xc0) == 0x80)
			text->n--;
		memcpy(text->to + text->n, "...", 3);
		text->n += 3;
	}
	text->to[text->n] = '\0';
}

/* Appends n bytes of UTF-8 (utf8) or Latin-1, up to the first NUL. */
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

/* Appends the text of a HEK: length, text, NUL, flags. Returns false if the memory is not a HEK, or its text is
 * empty. */
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

/* Reads an SV and the first n bytes of its body. Returns false if the SV is free or of another type. */
static bool read_sv(struct memory *memory, uint64_t address, uint32_t type, char sv[SV_BYTES], char *body, size_t n)
{
	uint64_t at;

	if (!perllayout_is_address(address) || !memory_read(memory, address, sv, SV_BYTES))
		return false;
	at = perllayout_word(sv, SV_BODY);
	return (perllayout_half(sv, SV_FLAGS) & SV_TYPE_MASK) == type && perllayout_half(sv, SV_COUNT) != 0 &&
	       perllayout_is_address(at) && memory_read(memory, at, body, n);
}

/* Sets *aux to the address of the auxiliary structure of a stash, or to 0 if it has none. Returns false if the
 * memory is not a stash. */
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

/* Appends the name of a stash and "::"; `__ANON__::` for a stash without a name. Returns false if the memory is not
 * a stash. */
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

/* Appends stash and name of a GV; for an alias, of the GV for which it stands. Returns false if the memory is not a
 * GV. */
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

/* Returns true if the op is a COP, or a null op that was one: Perl replaces the first COP of code in a regular
 * expression by a null op. */
static bool is_statement(const struct perl *perl, const char cop[COP_BYTES])
{
	uint64_t code = perllayout_word(cop, OP_CODE);

	return code && (code == perl->statement.next || code == perl->statement.debugged ||
			(code == perl->statement.null && perllayout_word(cop, OP_TARGET) == perl->statement.number));
}

/* Returns the part of a file name after its last '/'. Returns NULL if this part is empty, has other characters than
 * printable ASCII, or the file is the text of an eval: Perl frees the ops of an eval, so their memory may have the ops
 * of another one.
 */
static const char *last_part(const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;

	for (const char *at = name; *at; at++)
		if (*at < ' ' || *at > '~')
			return NULL;
	return *name && strncmp(file, "(eval ", STR("(eval ").n) != 0 ? name : NULL;
}

/* Returns true if the op `address` is in the tree of ops whose root is `root`. Follows siblings and parents to the
 * root, OPS_MAX ops at most; false beyond. */
static bool is_op_of(struct memory *memory, uint64_t address, uint64_t root)
{
	for (uint32_t i = 0; i < OPS_MAX; i++) {
		char op[OP_BYTES];
		uint64_t next;

		if (!perllayout_is_address(address) || !memory_read(memory, address, op, sizeof(op)))
			return false;
		next = perllayout_word(op, OP_SIBLING);
		if (!(perllayout_half(op, OP_BITS) & OP_HAS_SIBLING) && next == root)
			return true;
		address = next;
	}
	return false;
}

/* Appends `[FILE:LINE]`, the place of the first statement of a sub without a name. body: body of the CV; cop: COP that
 * the frame runs. Appends nothing if the sub has a name, or the place is not readable, or the CV is not proven: Perl
 * frees a closure after its last call, and its memory may have another closure before the name is read. So the COP must
 * be one of the CV's ops. */
static void perltext_place(struct perltext *text, const struct perl *perl, const char body[CV_BYTES], uint64_t cop)
{
	static const char anonymous[] = "::__ANON__";
	uint64_t start = perllayout_word(body, CV_START), root = perllayout_word(body, CV_ROOT);
	size_t n = sizeof(anonymous) - 1;
	char first[COP_BYTES], file[PERL_NAME_MAX], line[16];
	const char *name;

	if (text->n < n || memcmp(text->to + text->n - n, anonymous, n) != 0 || !perllayout_is_address(start) ||
	    !perllayout_is_address(root) || !is_op_of(perl->memory, cop, root) ||
	    !memory_read(perl->memory, start, first, sizeof(first)) || !is_statement(perl, first) ||
	    perllayout_half(first, COP_LINE) > INT32_MAX ||
	    !memory_string(perl->memory, perllayout_word(first, COP_FILE), file, sizeof(file)))
		return;
	name = last_part(file);
	if (!name)
		return;
	snprintf(line, sizeof(line), ":%u]", perllayout_half(first, COP_LINE));
	perltext_string(text, "[");
	perltext_string(text, name);
	perltext_string(text, line);
}

/* Appends the name of the sub or format of a frame. Returns false if the memory is not a CV. */
static bool perltext_cv(struct perltext *text, const struct perl *perl, const struct perl_frame *frame)
{
	char sv[SV_BYTES], body[CV_BYTES];
	uint64_t name;
	uint32_t flags;

	if (!read_sv(perl->memory, frame->code, SV_TYPE_CV, sv, body, sizeof(body)) &&
	    !read_sv(perl->memory, frame->code, SV_TYPE_FORMAT, sv, body, sizeof(body)))
		return false;
	flags = perllayout_half(body, CV_FLAGS);
	name = perllayout_word(body, CV_NAME);
	if (!(flags & CV_IS_NAMED)) {
		bool named = perltext_gv(text, perl, name);

		perltext_place(text, perl, body, frame->cop);
		return named;
	}
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

/* Appends the string value of an SV. Returns false if the SV has none. */
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
		named = perltext_cv(&text, perl, frame);
	else if (frame->kind == PERL_REQUIRE)
		named = perltext_sv(&text, perl, frame->code);
	else
		perltext_string(&text, frame->kind < sizeof(names) / sizeof(*names) && names[frame->kind] ?
					       names[frame->kind] :
					       "(eval)");
	perltext_end(&text);
	return named && function->name[0];
}

/* Returns true if the COP is PL_compiling, which is in the interpreter structure and is no op. */
static bool is_compiling(const struct perl *perl, uint64_t cop)
{
	return cop > perl->interpreter && cop - perl->interpreter < INTERPRETER_BYTES;
}

/* Sets address, line and file of *function by the frame's COP. If the memory is no longer a COP, line and file stay
 * unknown. */
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
