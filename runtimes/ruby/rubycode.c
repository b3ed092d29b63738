/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of backtraces, from the label of the iseq and the owner of the method, as by rb_profile_frame_full_label
 * and calculate_iseq_label (3.4) of vm_backtrace.c. */
#include "runtimes/ruby/rubylayout.h"
#include "runtimes/ruby/rubylines.h"
#include "runtimes/ruby/rubyobject.h"

/* Values of enum rb_iseq_type. */
#define TYPE_METHOD 1u
#define TYPE_EVAL 6u
#define DEFINITION_TYPE_MASK 15u
#define DEFINITION_OF_ISEQ 0u /* VM_METHOD_TYPE_ISEQ: the method has an iseq */
#define PARENTS_MAX 64u
#define LINES_MAX (1u << 20)

/* An iseq, and the bytes of its body that contain all used fields. */
struct rubybody {
	uint64_t iseq;
	char bytes[BODY_BYTES];
};

static bool read_body(struct ruby *ruby, uint64_t iseq, struct rubybody *body)
{
	uint64_t at;

	body->iseq = iseq;
	return rubyobject_is_imemo(ruby, iseq, IMEMO_ISEQ) && memory_pointer(ruby->memory, iseq + ISEQ_BODY, &at) &&
	       rubylayout_is_address(at) && memory_read(ruby->memory, at, body->bytes, sizeof(body->bytes));
}

/* Sets *entry to the method entry or class reference for a frame's `scope` (ruby_frame): scope itself, or if it is odd,
 * the one found from the environment at scope - 1; 0 beyond PARENTS_MAX. Returns false if an environment is not
 * readable. */
static bool scope_entry(struct ruby *ruby, uint64_t scope, uint64_t *entry)
{
	uint64_t words[3], ep = scope & ~(uint64_t)1;

	*entry = scope;
	for (unsigned i = 0; scope & 1 && i < PARENTS_MAX; i++) {
		if (!rubylayout_is_address(ep) ||
		    !memory_read(ruby->memory, ep - EP_BYTES_BEFORE, words, sizeof(words)))
			return false;
		*entry = words[0] & ~(uint64_t)7;
		if (words[2] & EP_LOCAL)
			break;
		*entry = 0;
		ep = words[1] & ~(uint64_t)3;
	}
	/* an environment with special variables (IMEMO_SVAR) has the entry in them */
	if (*entry && rubyobject_is_imemo(ruby, *entry, IMEMO_SVAR))
		return memory_pointer(ruby->memory, *entry + 8, entry);
	return true;
}

/* Members of a method entry. */
struct rubyentry {
	/* address of the class that owns the method; id of the method's name; address of the iseq, 0 if the method has
	 * none */
	uint64_t owner, id, iseq;
};

static bool rubyentry_read(struct ruby *ruby, uint64_t address, struct rubyentry *entry)
{
	char bytes[METHOD_BYTES], definition[DEFINITION_BYTES];
	uint64_t at;

	if (!rubyobject_is_imemo(ruby, address, IMEMO_METHOD) ||
	    !memory_read(ruby->memory, address, bytes, sizeof(bytes)))
		return false;
	at = rubylayout_word(bytes, METHOD_DEFINITION);
	entry->owner = rubylayout_word(bytes, METHOD_OWNER);
	if (!rubylayout_is_address(at) || !memory_read(ruby->memory, at, definition, sizeof(definition)))
		return false;
	entry->id = rubylayout_word(definition, DEFINITION_ID);
	entry->iseq = ((unsigned char)definition[0] & DEFINITION_TYPE_MASK) == DEFINITION_OF_ISEQ ?
			      rubylayout_word(definition, DEFINITION_ISEQ) :
			      0;
	return true;
}

/* ---- names of frames --------------------------------------------------------------------------------------------- */

static bool read_string(struct ruby *ruby, uint64_t string, char bytes[RUBY_NAME_MAX], struct str *view)
{
	uint64_t n;

	if (!rubystring_read(ruby, string, bytes, RUBY_NAME_MAX, &n) || n == 0)
		return false;
	*view = (struct str){ bytes, n < RUBY_NAME_MAX ? (size_t)n : RUBY_NAME_MAX };
	return true;
}

static uint32_t body_type(const struct rubybody *body)
{
	uint32_t type;

	memcpy(&type, body->bytes + BODY_TYPE, sizeof(type));
	return type;
}

/* Sets *named to the iseq that has the label of a frame. For code of eval that is its nearest parent which is not
 * eval code, in versions with body.parent. Returns false if a parent is not
 * readable, or the layout is foreign and the code is of eval. */
static bool find_labelled(struct ruby *ruby, const struct rubybody *body, struct rubybody *named)
{
	uint32_t parent = ruby->layout.body.parent;

	*named = *body;
	if (ruby->foreign && body_type(body) == TYPE_EVAL)
		return false;
	for (unsigned i = 0; parent != RUBY_NO_FIELD && body_type(named) == TYPE_EVAL && i < PARENTS_MAX; i++)
		if (!read_body(ruby, rubylayout_word(named->bytes, parent), named))
			return false;
	return true;
}

/* Appends `Class#` or `Class.`, if the method that contains the code is the method of the frame's method entry.
 * Returns false if the class is not readable. */
static bool append_class(struct ruby *ruby, const struct rubybody *body, uint64_t scope, struct rubytext *name)
{
	uint64_t local = rubylayout_word(body->bytes, ruby->layout.body.local), entry;
	struct rubyentry method;
	struct rubybody outer;

	if (ruby->foreign)
		return true;
	if (!read_body(ruby, local, &outer))
		return false;
	if (body_type(&outer) != TYPE_METHOD || !scope_entry(ruby, scope, &entry) ||
	    !rubyentry_read(ruby, entry, &method) || method.iseq != local)
		return true;
	return rubyclass_append(ruby, method.owner, name);
}

/* Appends the label of a method or block, with the class before the method's name. Returns false if the label or the
 * class is not readable. */
static bool append_label(struct ruby *ruby, const struct rubybody *body, uint64_t scope, struct rubytext *name)
{
	char label_bytes[RUBY_NAME_MAX], base_bytes[RUBY_NAME_MAX];
	struct str label, base;
	struct rubybody named;

	if (!find_labelled(ruby, body, &named) ||
	    !read_string(ruby, rubylayout_word(named.bytes, BODY_LABEL), label_bytes, &label) ||
	    !read_string(ruby, rubylayout_word(named.bytes, BODY_BASE_LABEL), base_bytes, &base))
		return false;
	while (label.n > base.n && (str_starts(label, STR("rescue in ")) || str_starts(label, STR("ensure in "))))
		label = str_from(label, STR("rescue in ").n);
	if (!str_ends(label, base)) {
		rubytext_bytes(name, label);
		return true;
	}
	rubytext_bytes(name, (struct str){ label.p, label.n - base.n });
	if (!append_class(ruby, body, scope, name))
		return false;
	rubytext_bytes(name, base);
	return true;
}

/* Appends the path of an iseq to file. The path is a String, or an Array of path and real path: then appends the real
 * path, or the path if the real path is nil.
 * Returns false if the path is not readable or not a String. */
static bool append_path(struct ruby *ruby, uint64_t path, struct rubytext *file)
{
	char bytes[RUBY_NAME_MAX];
	uint64_t both[2];
	struct str view;

	if (rubyarray_read(ruby, path, 0, 2, both))
		path = rubyobject_is(ruby, both[1], OBJECT_TYPE_STRING) ? both[1] : both[0];
	if (!read_string(ruby, path, bytes, &view))
		return false;
	rubytext_bytes(file, view);
	return true;
}

/* ---- lines of frames --------------------------------------------------------------------------------------------- */

static uint32_t rubycode_line(struct ruby *ruby, const struct rubybody *body, uint32_t word)
{
	const struct ruby_layout *layout = &ruby->layout;
	uint64_t entries = rubylayout_word(body->bytes, layout->body.lines), at, line;
	uint64_t index = rubylayout_word(body->bytes, layout->body.lines_index);
	char part[RUBYLINES_PART_BYTES];
	uint32_t n, bytes, rank = 1;

	memcpy(&n, body->bytes + layout->body.nlines, sizeof(n));
	if (ruby->foreign || n == 0 || n > LINES_MAX || !rubylayout_is_address(entries))
		return 0;
	if (n > 1) {
		rubylines_part(word, &at, &bytes);
		if (!rubylayout_is_address(index) || !memory_read(ruby->memory, index + at, part, bytes))
			return 0;
		rank = rubylines_rank(part, word);
	}
	if (rank == 0 || rank > n ||
	    !memory_u64(ruby->memory, entries + (uint64_t)(rank - 1) * layout->body.line_entry, 4, &line))
		return 0;
	return line <= INT32_MAX ? (uint32_t)line : 0;
}

/* ---- code of frames ---------------------------------------------------------------------------------------------- */

static bool code_of_iseq(struct ruby *ruby, const struct ruby_frame *frame, struct rubytext *name,
			 struct rubytext *file, struct ruby_code *code)
{
	uint64_t start, offset;
	struct rubybody body;
	uint32_t words;

	if (!read_body(ruby, frame->code, &body))
		return false;
	memcpy(&words, body.bytes + BODY_WORDS, sizeof(words));
	start = rubylayout_word(body.bytes, BODY_CODE);
	offset = frame->pc - start;
	code->address = start;
	if (!rubylayout_is_address(start))
		return false;
	if (frame->pc < start || offset > (uint64_t)8 * words) {
		/* Code of YJIT enters a method without storing its pc, and stores it before the method calls another
		 * one. So the pc of the innermost frame may be stale: the frame may have run instructions, and
		 * code->first must be false. */
		if (!frame->innermost || !ruby->layout.yjit)
			return false;
		offset = 8;
	}
	code->first = offset == 0;
	/* During a call, pc is after the call instruction, so the current instruction of a caller is known. Other
	 * instructions advance pc before or after they run (_insn_entry.erb), so the current instruction of the
	 * innermost frame is unknown: its address stays `start`, its line 0. */
	if (!frame->innermost) {
		code->address = offset ? frame->pc - 8 : start;
		code->line = rubycode_line(ruby, &body, (uint32_t)(offset ? offset / 8 - 1 : 0));
	}
	return append_label(ruby, &body, frame->scope, name) &&
	       append_path(ruby, rubylayout_word(body.bytes, BODY_PATH), file);
}

static bool code_of_method(struct ruby *ruby, const struct ruby_frame *frame, struct rubytext *name,
			   struct ruby_code *code)
{
	char bytes[RUBY_NAME_MAX];
	struct rubyentry entry;
	uint64_t string;
	struct str view;

	code->address = frame->code;
	if (!rubyentry_read(ruby, frame->code, &entry) ||
	    (!ruby->foreign && !rubyclass_append(ruby, entry.owner, name)) || !rubyid_string(ruby, entry.id, &string) ||
	    !read_string(ruby, string, bytes, &view))
		return false;
	rubytext_bytes(name, view);
	return true;
}

bool ruby_code(struct ruby *ruby, const struct ruby_frame *frame, struct ruby_code *code)
{
	struct rubytext name = { code->name, 0, sizeof(code->name) - 1, false };
	struct rubytext file = { code->file, 0, sizeof(code->file) - 1, false };
	bool good;

	*code = (struct ruby_code){ .address = 0 };
	good = frame->kind == RUBY_METHOD ? code_of_iseq(ruby, frame, &name, &file, code) :
					    code_of_method(ruby, frame, &name, code);
	rubytext_end(&name);
	rubytext_end(&file);
	return good;
}
