/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/script/asflamegraph.h"

#include <stdlib.h>

/* ---- \s \d \w of stackcollapse-perf.pl's expressions: ASCII only --------------------------------------------------
 */

static bool is_space(char byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static bool asflamegraph_is_word(char byte)
{
	return byte_is_digit(byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

static bool is_hex(char byte)
{
	return byte_is_digit(byte) || (byte >= 'a' && byte <= 'f');
}

/* ---- arrays of ids ------------------------------------------------------------------------------------------- */

static void ids_push(struct asflamegraph_ids *ids, uint32_t id)
{
	if (unlikely(ids->n == ids->cap)) {
		ids->cap = ids->cap ? ids->cap * 2 : 256;
		ids->id = mem_grow(ids->id, sizeof(*ids->id), ids->cap);
	}
	ids->id[ids->n++] = id;
}

/* ---- parsing of lines ---------------------------------------------------------------------------------------- */

struct sample_key {
	struct str comm, pid, tid; /* if the header has only one number, a TID, it is in `pid`, and `tid` is empty */
	struct str period, event;  /* empty if the header has no period or no event */
};

/* Sets key->event, and key->period if the header has a period, from a header that ends in ": PERIOD EVENT:" or ":
 * EVENT:" and blanks. The event is the last word, since events contain no blanks. */
static void cut_event(struct str line, struct sample_key *key)
{
	const char *p = line.p;
	size_t end = line.n, word, before, digits;

	while (end && is_space(p[end - 1]))
		end--;
	for (word = end; word && !is_space(p[word - 1]);)
		word--;
	if (word == 0 || end - word < 2 || p[end - 1] != ':')
		return;
	for (before = word; before && is_space(p[before - 1]);)
		before--;
	for (digits = before; digits && byte_is_digit(p[digits - 1]);)
		digits--;
	if (digits < before) {
		size_t colon = digits;

		while (colon && is_space(p[colon - 1]))
			colon--;
		if (colon == 0 || p[colon - 1] != ':')
			return;
		key->period = (struct str){ p + digits, before - digits };
	} else if (before == 0 || p[before - 1] != ':') {
		return;
	}
	key->event = (struct str){ p + word, end - 1 - word };
}

/*
 * Parses the header of a sample: COMM, blanks, PID, optionally slashes and TID, a blank. COMM starts in column 0, has
 * at least two bytes, and is as short as possible, so the first number is taken for the PID even if it belongs to the
 * thread's name. Returns false if the line is no header.
 */
static bool cut_header(struct str line, struct sample_key *key)
{
	const char *p = line.p;
	size_t n = line.n;

	if (n < 5 || is_space(p[0]))
		return false;
	for (size_t i = 2; i < n;) {
		size_t comm = i, pid, slash, tid;

		if (!is_space(p[i])) {
			i++;
			continue;
		}
		while (i < n && is_space(p[i]))
			i++;
		pid = i;
		while (i < n && byte_is_digit(p[i]))
			i++;
		if (i == pid)
			continue;
		slash = i;
		while (i < n && p[i] == '/')
			i++;
		tid = i;
		while (i < n && byte_is_digit(p[i]))
			i++;
		if (i == n || !is_space(p[i]))
			continue;
		*key = (struct sample_key){
			.comm = { p, comm },
			.pid = { p + pid, slash - pid },
			.tid = { p + tid, i - tid },
		};
		cut_event(line, key);
		return true;
	}
	return false;
}

struct frame_line {
	struct str pc, symbol, dso;
	struct str both; /* symbol and DSO as one string, "symbol (dso", as in the line */
};

/*
 * Parses a frame line: blanks, PC (a word), blanks, SYMBOL, " (", DSO, ")". SYMBOL ends at the last " (" before a ')';
 * DSO ends at the last ')'. SYMBOL has at least one byte: if nothing lies between PC and " (", SYMBOL is the last byte
 * before " (". Returns false if the line is no frame line.
 */
static bool cut_frame(struct str line, struct frame_line *f)
{
	const char *p = line.p, *close = line.n ? memrchr(p, ')', line.n) : NULL, *open = close;
	size_t pc = 0, pc_end, symbol, split;

	do
		open = open ? memrchr(p, '(', (size_t)(open - p)) : NULL;
	while (open && (open == p || open[-1] != ' '));
	if (!open)
		return false;
	split = (size_t)(open - p) - 1;
	while (is_space(p[pc]))
		pc++; /* ends at `open` at the latest, because '(' is no blank */
	for (pc_end = pc; asflamegraph_is_word(p[pc_end]);)
		pc_end++;
	for (symbol = pc_end; is_space(p[symbol]);)
		symbol++;
	if (symbol >= split) {
		if (split < pc + 2)
			return false;
		symbol = split - 1;
	} else if (pc_end == pc) {
		return false;
	}
	if (pc_end > symbol)
		pc_end = symbol;
	*f = (struct frame_line){
		.pc = { p + pc, pc_end - pc },
		.symbol = { p + symbol, split - symbol },
		.dso = { open + 1, (size_t)(close - open) - 1 },
		.both = { p + symbol, (size_t)(close - p) - symbol },
	};
	return true;
}

/* Returns the symbol without "+0x1f" at its end. */
static struct str cut_offset(struct str symbol)
{
	size_t i = symbol.n;

	while (i && is_hex(symbol.p[i - 1]))
		i--;
	if (i < symbol.n && i >= 3 && memcmp(symbol.p + i - 3, "+0x", 3) == 0)
		return str_head(symbol, i - 3);
	return symbol;
}

/* Returns the value of a decimal number; UINT64_MAX if the number exceeds 64 bits. */
static uint64_t parse_weight(struct str digits)
{
	uint64_t value = 0;

	for (size_t i = 0; i < digits.n; i++) {
		uint64_t digit = (uint64_t)(digits.p[i] - '0');

		if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value))
			return UINT64_MAX;
	}
	return value;
}

/* ---- names of frames ----------------------------------------------------------------------------------------- */

static bool asflamegraph_has(struct str string, struct str needle)
{
	return str_find_str(string, needle) >= 0;
}

static bool is_perf_map(struct str dso)
{
	const struct str head = STR("/tmp/perf-"), frame_text = STR(".map");
	ptrdiff_t at;

	while ((at = str_find_str(dso, head)) >= 0) {
		size_t i;

		dso = str_from(dso, (size_t)at + head.n);
		for (i = 0; i < dso.n && byte_is_digit(dso.p[i]);)
			i++;
		if (i && str_starts(str_from(dso, i), frame_text))
			return true;
	}
	return false;
}

/* Returns true for Go methods such as net/http.(*Client).Do: the name contains ".(" and later ").". Returns false for
 * all other names. */
static bool is_go_method(struct str name)
{
	ptrdiff_t open = str_find_str(name, STR(".("));

	return open >= 0 && asflamegraph_has(str_from(name, (size_t)open + 2), STR(")."));
}

/* Returns the symbol up to the first '(' that does not start "(anonymous namespace)". */
static struct str cut_arguments(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] == '(' && !str_starts(str_from(name, i + 1), STR("anonymous namespace)")))
			return str_head(name, i);
	return name;
}

/* Writes the frame name of `symbol`, one part of an "a->b" symbol, to asflamegraph->name, without the suffix for the
 * kind of code. */
static void write_name(struct asflamegraph *asflamegraph, const struct frame_line *line, struct str symbol)
{
	struct text *text = &asflamegraph->name;
	struct str name;
	size_t n = 0;

	text->n = 0;
	if (str_eq(symbol, STR("[unknown]"))) {
		struct str dso = line->dso;

		text_str(text, STR("["));
		if (str_eq(dso, symbol))
			text_str(text, STR("unknown"));
		else
			text_str(text, str_from(dso, (size_t)(str_rfind(dso, '/') + 1)));
		if (asflamegraph->options.addrs) {
			text_str(text, STR(" <"));
			text_str(text, line->pc);
			text_str(text, STR(">"));
		}
		text_str(text, STR("]"));
	} else {
		text_str(text, symbol);
	}
	name = text_view(text);
	if (!is_go_method(name))
		name = cut_arguments(name);
	for (size_t i = 0; i < name.n; i++)
		if (text->p[i] != '"' && text->p[i] != '\'')
			text->p[n++] = text->p[i] == ';' ? ':' : text->p[i];
	text->n = n;
	if (asflamegraph->java && n && text->p[0] == 'L' && memchr(text->p, '/', n)) {
		text->n--;
		memmove(text->p, text->p + 1, text->n);
	}
}

/* Appends the suffix for the kind of code to asflamegraph->name: the first of _[i], _[k] and _[j] that applies.
 * inlined: true if the symbol is inlined into another symbol. */
static void write_suffix(struct asflamegraph *asflamegraph, struct str dso, bool inlined)
{
	struct text *text = &asflamegraph->name;

	if (inlined) {
		if (!asflamegraph_has(text_view(text), STR("_[i]")))
			text_str(text, STR("_[i]"));
	} else if (asflamegraph->options.kernel && (str_starts(dso, STR("[")) || str_ends(dso, STR("vmlinux"))) &&
		   !asflamegraph_has(dso, STR("unknown"))) {
		text_str(text, STR("_[k]"));
	} else if (asflamegraph->options.jit && is_perf_map(dso) && !asflamegraph_has(text_view(text), STR("_[j]"))) {
		text_str(text, STR("_[j]"));
	}
}

/* Appends the ids of the names of one frame line to the pool, outermost frame first, and returns their range. */
static struct asflamegraph_names name_line(struct asflamegraph *asflamegraph, const struct frame_line *line,
					   struct stacks *stacks)
{
	struct intern *table = asflamegraph->options.srcline ? &asflamegraph->plain : &stacks->frames;
	struct str rest = line->symbol;
	struct asflamegraph_names names = { 0 };
	bool unknown = false;

	if (asflamegraph->pool.n == 0)
		ids_push(&asflamegraph->pool, 0);
	names.first = asflamegraph->pool.n;
	if (str_starts(rest, STR("(")))
		return names;
	while (rest.n >= 2 && str_ends(rest, STR("->")))
		rest.n -= 2; /* drop "->" at the end: perl's split returns no empty parts there */
	while (rest.n) {
		ptrdiff_t arrow = str_find_str(rest, STR("->"));
		struct str symbol = arrow < 0 ? rest : str_head(rest, (size_t)arrow);

		rest = arrow < 0 ? (struct str){ 0 } : str_from(rest, (size_t)arrow + 2);
		if (str_eq(symbol, STR("[unknown]")) && str_eq(line->dso, symbol))
			/* perf script prints no source line for an [unknown] function, nor for functions after it in
			 * "a->b->c" */
			unknown = true;
		write_name(asflamegraph, line, symbol);
		write_suffix(asflamegraph, line->dso, names.n > 0);
		ids_push(&asflamegraph->pool, intern(table, text_view(&asflamegraph->name)));
		names.n++;
		if (asflamegraph->options.srcline && !unknown)
			names.lines++;
	}
	return names;
}

/* Returns the names of a frame line: from the cache if an earlier line had the same DSO and the same symbol without
 * offset; otherwise makes the names. */
static struct asflamegraph_names asflamegraph_find_names(struct asflamegraph *asflamegraph, struct frame_line *line,
							 struct stacks *stacks)
{
	struct str symbol = cut_offset(line->symbol), key = line->both;
	size_t i;

	if (symbol.n < line->symbol.n) {
		asflamegraph->name.n = 0;
		text_str(&asflamegraph->name, symbol);
		text_str(&asflamegraph->name, str_from(line->both, line->symbol.n));
		key = text_view(&asflamegraph->name);
		line->symbol = symbol;
	}
	if (asflamegraph->options.addrs && asflamegraph_has(symbol, STR("[unknown]"))) {
		struct asflamegraph_names names = name_line(asflamegraph, line, stacks);

		/* names with an address are not cached: the next line overwrites them in `pool` */
		asflamegraph->pool.n = names.first;
		return names;
	}
	i = 2 * (size_t)intern(&asflamegraph->keys, key) + asflamegraph->java;
	if (unlikely(i >= asflamegraph->nnames)) {
		size_t n = i * 2 > 1024 ? i * 2 : 1024;

		asflamegraph->names = mem_grow(asflamegraph->names, sizeof(*asflamegraph->names), n);
		memset(asflamegraph->names + asflamegraph->nnames, 0,
		       (n - asflamegraph->nnames) * sizeof(*asflamegraph->names));
		asflamegraph->nnames = n;
	}
	if (asflamegraph->names[i].first == 0)
		asflamegraph->names[i] = name_line(asflamegraph, line, stacks);
	return asflamegraph->names[i];
}

/* ---- opening and closing of samples -------------------------------------------------------------------------- */

/* Cuts the first name off *rest, in which ';' separates names, and sets *name to this name. Returns true if more names
 * follow, false after the last name. */
static bool asflamegraph_cut_name(struct str *rest, struct str *name)
{
	ptrdiff_t end = str_find(*rest, ';');

	*name = end < 0 ? *rest : str_head(*rest, (size_t)end);
	*rest = str_from(*rest, end < 0 ? rest->n : (size_t)end + 1);
	return end >= 0;
}

/* Appends the next name of the waiting frame line, with its source line, to `part`. `source` is empty if the name has
 * no source line; each ';' in it begins another frame. */
static void add_part(struct asflamegraph *asflamegraph, struct str source, struct stacks *stacks)
{
	struct text *text = &asflamegraph->name;
	struct str rest, name;
	bool more;

	text->n = 0;
	text_str(text, intern_str(&asflamegraph->plain, asflamegraph->waiting.id[asflamegraph->waiting_at++]));
	if (source.n) {
		text_str(text, STR(":"));
		text_str(text, source);
	}
	rest = text_view(text);
	do {
		more = asflamegraph_cut_name(&rest, &name);
		ids_push(&asflamegraph->part, stacks_frame(stacks, name));
	} while (more);
}

/* Returns a source line without its parts in square brackets and without blanks at both ends; valid until the next
 * call.
 */
static struct str tidy_source(struct asflamegraph *asflamegraph, struct str line)
{
	struct text *text = &asflamegraph->source;
	struct str string;

	text->n = 0;
	while (line.n) {
		ptrdiff_t open = str_find(line, '['), close = -1;

		if (open >= 0)
			close = str_find(str_from(line, (size_t)open), ']');
		if (close < 0)
			break;
		text_str(text, str_head(line, (size_t)open));
		line = str_from(line, (size_t)(open + close) + 1);
	}
	text_str(text, line);
	string = text_view(text);
	while (string.n && is_space(string.p[0]))
		string = str_from(string, 1);
	while (string.n && is_space(string.p[string.n - 1]))
		string.n--;
	return string;
}

/* Pushes the frames of the waiting frame line to the open sample, if all its source lines have been read; otherwise
 * does nothing. */
static void end_waiting(struct asflamegraph *asflamegraph, struct stacks *stacks)
{
	if (asflamegraph->waiting_at < asflamegraph->waiting_lines)
		return;
	while (asflamegraph->waiting_at < asflamegraph->waiting.n)
		add_part(asflamegraph, (struct str){ 0 }, stacks);
	while (asflamegraph->part.n)
		ids_push(&asflamegraph->stack, asflamegraph->part.id[--asflamegraph->part.n]);
	asflamegraph->waiting.n = asflamegraph->waiting_at = asflamegraph->waiting_lines = 0;
}

static void add_source(struct asflamegraph *asflamegraph, struct str line, struct stacks *stacks)
{
	add_part(asflamegraph, tidy_source(asflamegraph, line), stacks);
	end_waiting(asflamegraph, stacks);
}

static void add_frames(struct asflamegraph *asflamegraph, struct frame_line *line, struct stacks *stacks)
{
	struct asflamegraph_names names;

	if (asflamegraph->comm.n == 0) {
		asflamegraph->stray += !asflamegraph->skipping;
		return;
	}
	names = asflamegraph_find_names(asflamegraph, line, stacks);
	if (asflamegraph->options.srcline) {
		for (size_t i = 0; i < names.n; i++)
			ids_push(&asflamegraph->waiting, asflamegraph->pool.id[names.first + i]);
		asflamegraph->waiting_lines = names.lines;
		end_waiting(asflamegraph, stacks);
	} else {
		for (size_t i = names.n; i-- > 0;)
			ids_push(&asflamegraph->stack, asflamegraph->pool.id[names.first + i]);
	}
}

/* Opens a sample if its event is the event whose samples are added; otherwise counts the header in `skipped`. If a
 * sample is open already, the new header replaces the comm and weight of that sample, whose frames stay. */
static void begin_sample(struct asflamegraph *asflamegraph, const struct sample_key *key, struct place place)
{
	bool only_tid = key->tid.n == 0 || str_eq(key->tid, STR("0"));
	bool weightless = key->period.n == 0 ||
			  /* a period "0" is treated as missing, but "00" is a weight of 0 */
			  str_eq(key->period, STR("0"));
	struct str wanted = asflamegraph->options.event.n ? asflamegraph->options.event : asflamegraph->event;

	if (key->event.n) {
		if (wanted.n && !str_eq(wanted, key->event)) {
			asflamegraph->skipped++;
			if (asflamegraph->skipped_event.n == 0)
				asflamegraph->skipped_event = arena_copy(&asflamegraph->bytes, key->event);
			asflamegraph->skipping = asflamegraph->comm.n == 0;
			return;
		}
		if (asflamegraph->event.n == 0)
			asflamegraph->event = arena_copy(&asflamegraph->bytes, key->event);
	}
	asflamegraph->weight = asflamegraph->options.samples || weightless ? 1 : parse_weight(key->period);
	asflamegraph->header = place;
	asflamegraph->comm.n = 0;
	text_str(&asflamegraph->comm, key->comm);
	if (asflamegraph->options.pid || asflamegraph->options.tid) {
		text_str(&asflamegraph->comm, STR("-"));
		text_str(&asflamegraph->comm, only_tid ? STR("?") : key->pid);
	}
	if (asflamegraph->options.tid) {
		text_str(&asflamegraph->comm, STR("/"));
		text_str(&asflamegraph->comm, only_tid ? key->pid : key->tid);
	}
	for (size_t i = 0; i < asflamegraph->comm.n; i++)
		if (asflamegraph->comm.p[i] == ' ')
			asflamegraph->comm.p[i] = '_';
	asflamegraph->java = str_starts(text_view(&asflamegraph->comm), STR("java"));
}

static void asflamegraph_end_sample(struct asflamegraph *asflamegraph, struct stacks *stacks)
{
	struct str comm = text_view(&asflamegraph->comm), name;
	uint32_t node = 0;
	bool more;

	asflamegraph->skipping = false;
	if (comm.n == 0)
		return;
	do {
		more = asflamegraph_cut_name(&comm, &name);
		node = stacks_child(stacks, node, stacks_frame(stacks, name));
	} while (more);
	for (size_t i = asflamegraph->stack.n; i-- > 0;)
		node = stacks_child(stacks, node, asflamegraph->stack.id[i]);
	if (!stacks_add(stacks, node, 0, asflamegraph->weight)) {
		if (asflamegraph->overflows++ == 0)
			asflamegraph->first_overflow = asflamegraph->header;
	} else {
		asflamegraph->samples++;
		asflamegraph->stackless += asflamegraph->stack.n == 0;
		if (asflamegraph->weight == 0)
			stacks_add(stacks, node, 1, 1);
	}
	asflamegraph->stack.n = 0;
	asflamegraph->comm.n = 0;
}

void asflamegraph_line(struct asflamegraph *asflamegraph, struct str line, struct place place, struct stacks *stacks)
{
	struct frame_line frame;
	struct sample_key header;

	if (asflamegraph->waiting_lines) { /* a source line is expected: any text is used as one */
		add_source(asflamegraph, line, stacks);
	} else if (line.n == 0) {
		asflamegraph_end_sample(asflamegraph, stacks);
	} else if (line.p[0] == '#') {
		return;
	} else if (cut_header(line, &header)) {
		begin_sample(asflamegraph, &header, place);
	} else if (cut_frame(line, &frame)) {
		add_frames(asflamegraph, &frame, stacks);
	} else {
		if (asflamegraph->unrecognized < countof(asflamegraph->first_unrecognized))
			asflamegraph->first_unrecognized[asflamegraph->unrecognized] = place;
		asflamegraph->unrecognized++;
	}
}

void asflamegraph_end(struct asflamegraph *asflamegraph, struct stacks *stacks)
{
	while (asflamegraph->waiting_lines)
		add_source(asflamegraph, (struct str){ 0 }, stacks);
	asflamegraph_end_sample(asflamegraph, stacks);
}

void asflamegraph_free(struct asflamegraph *asflamegraph)
{
	text_free(&asflamegraph->comm);
	text_free(&asflamegraph->name);
	text_free(&asflamegraph->source);
	free(asflamegraph->stack.id);
	free(asflamegraph->waiting.id);
	free(asflamegraph->part.id);
	free(asflamegraph->pool.id);
	free(asflamegraph->names);
	intern_free(&asflamegraph->keys);
	intern_free(&asflamegraph->plain);
	arena_free(&asflamegraph->bytes);
	*asflamegraph = (struct asflamegraph){ .options = asflamegraph->options };
}

/* ---- output of folded stacks --------------------------------------------------------------------------------- */

struct stack_text {
	struct str text;
	uint64_t weight;
};

static int stack_text_cmp(const void *left, const void *right)
{
	const struct stack_text *text = left, *b = right;

	return str_cmp(text->text, b->text);
}

static bool is_stack(const struct stacks *stacks, uint32_t node)
{
	return stacks->self[0][node] || (stacks->self[1] && stacks->self[1][node]);
}

static size_t stack_size(const struct stacks *stacks, uint32_t node)
{
	size_t n = 0;

	for (; node; node = stacks->node[node].parent)
		n += intern_str(&stacks->frames, stacks->node[node].frame).n + 1;
	return n - 1;
}

/* Writes the folded stack of a node into the bytes before `end`: backwards, from the innermost frame. */
static void write_stack(const struct stacks *stacks, uint32_t node, char *end)
{
	for (;;) {
		struct str frame = intern_str(&stacks->frames, stacks->node[node].frame);

		end -= frame.n;
		memcpy(end, frame.p, frame.n);
		node = stacks->node[node].parent;
		if (node == 0)
			break;
		*--end = ';';
	}
}

void asflamegraph_write(struct out *out, const struct stacks *stacks)
{
	size_t nbytes = 0, nstacks = 0, index = 0;
	struct stack_text *stack;
	char *text, *at;

	for (uint32_t node = 1; node < stacks->n; node++) {
		if (is_stack(stacks, node)) {
			nbytes += stack_size(stacks, node);
			nstacks++;
		}
	}
	text = at = mem_alloc(1, nbytes);
	stack = mem_alloc(sizeof(*stack), nstacks);
	for (uint32_t node = 1; node < stacks->n; node++) {
		size_t n;

		if (!is_stack(stacks, node))
			continue;
		n = stack_size(stacks, node);
		write_stack(stacks, node, at + n);
		stack[index++] = (struct stack_text){ { at, n }, stacks->self[0][node] };
		at += n;
	}
	qsort(stack, nstacks, sizeof(*stack), stack_text_cmp);
	for (index = 0; index < nstacks; index++) {
		out_str(out, stack[index].text);
		out_char(out, ' ');
		out_u64(out, stack[index].weight);
		out_char(out, '\n');
	}
	free(stack);
	free(text);
}
