/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/script/asflamegraph.h"

#include <stdlib.h>

/* ---- \s \d \w of the regular expressions there: ASCII only -------------------------------------------------- */

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool asflamegraph_is_word(char c)
{
	return byte_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_hex(char c)
{
	return byte_is_digit(c) || (c >= 'a' && c <= 'f');
}

/* ---- things that grow ---------------------------------------------------------------------------------------- */

static void ids_push(struct asflamegraph_ids *v, uint32_t id)
{
	if (unlikely(v->n == v->cap)) {
		v->cap = v->cap ? v->cap * 2 : 256;
		v->id = mem_grow(v->id, sizeof(*v->id), v->cap);
	}
	v->id[v->n++] = id;
}

/* ---- parts of lines: pure ------------------------------------------------------------------------------------ */

struct sample_key {
	struct str comm, pid, tid; /* tid empty: only one number was there */
	struct str period, event;  /* empty: the line does not tell */
};

/* The event, if the line ends in ": PERIOD EVENT:" or ": EVENT:" and blanks. It has no blanks: it is the last word. */
static void cut_event(struct str line, struct sample_key *h)
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
		h->period = (struct str){ p + digits, before - digits };
	} else if (before == 0 || p[before - 1] != ':') {
		return;
	}
	h->event = (struct str){ p + word, end - 1 - word };
}

/*
 * COMM, blanks, digits, perhaps slashes and digits, a blank: COMM begins in column 0, has two bytes or more, and is as
 * short as possible (so the first number counts, also one that belongs to the name).
 */
static bool cut_header(struct str line, struct sample_key *h)
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
		*h = (struct sample_key){
			.comm = { p, comm },
			.pid = { p + pid, slash - pid },
			.tid = { p + tid, i - tid },
		};
		cut_event(line, h);
		return true;
	}
	return false;
}

struct frame_line {
	struct str pc, symbol, dso;
	struct str both; /* "symbol (dso", as they stand in the line */
};

/*
 * Blanks, PC (a word), blanks, SYMBOL, " (", DSO, ")": SYMBOL reaches to the last " (" that has a ')' behind it, DSO to
 * the last ')'. SYMBOL takes at least one byte: where none is left for it, it gets the last blank or letter of PC.
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
		pc++; /* open ends this */
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

/* Without the "+0x1f" at its end. */
static struct str cut_offset(struct str symbol)
{
	size_t i = symbol.n;

	while (i && is_hex(symbol.p[i - 1]))
		i--;
	if (i < symbol.n && i >= 3 && memcmp(symbol.p + i - 3, "+0x", 3) == 0)
		return str_head(symbol, i - 3);
	return symbol;
}

/* Saturates: what is too large stays too large. */
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

/* ---- names --------------------------------------------------------------------------------------------------- */

static bool asflamegraph_has(struct str s, struct str needle)
{
	return str_find_str(s, needle) >= 0;
}

static bool is_perf_map(struct str dso)
{
	const struct str head = STR("/tmp/perf-"), tail = STR(".map");
	ptrdiff_t at;

	while ((at = str_find_str(dso, head)) >= 0) {
		size_t i;

		dso = str_from(dso, (size_t)at + head.n);
		for (i = 0; i < dso.n && byte_is_digit(dso.p[i]);)
			i++;
		if (i && str_starts(str_from(dso, i), tail))
			return true;
	}
	return false;
}

/* net/http.(*Client).Do: a ".(" and behind it a ")." */
static bool is_go_method(struct str name)
{
	ptrdiff_t open = str_find_str(name, STR(".("));

	return open >= 0 && asflamegraph_has(str_from(name, (size_t)open + 2), STR(")."));
}

/* Without everything from the first '(' on that is not the one of "(anonymous namespace)". */
static struct str cut_arguments(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] == '(' && !str_starts(str_from(name, i + 1), STR("anonymous namespace)")))
			return str_head(name, i);
	return name;
}

/* The name of one part of the symbol, without suffix, into f->name. */
static void write_name(struct asflamegraph *f, const struct frame_line *line, struct str symbol)
{
	struct text *t = &f->name;
	struct str name;
	size_t n = 0;

	t->n = 0;
	if (str_eq(symbol, STR("[unknown]"))) {
		struct str dso = line->dso;

		text_str(t, STR("["));
		if (str_eq(dso, symbol))
			text_str(t, STR("unknown"));
		else
			text_str(t, str_from(dso, (size_t)(str_rfind(dso, '/') + 1)));
		if (f->options.addrs) {
			text_str(t, STR(" <"));
			text_str(t, line->pc);
			text_str(t, STR(">"));
		}
		text_str(t, STR("]"));
	} else {
		text_str(t, symbol);
	}
	name = text_view(t);
	if (!is_go_method(name))
		name = cut_arguments(name);
	for (size_t i = 0; i < name.n; i++)
		if (t->p[i] != '"' && t->p[i] != '\'')
			t->p[n++] = t->p[i] == ';' ? ':' : t->p[i];
	t->n = n;
	if (f->java && n && t->p[0] == 'L' && memchr(t->p, '/', n)) {
		t->n--;
		memmove(t->p, t->p + 1, t->n);
	}
}

/* The kind of code: exclusive, in this order. */
static void write_suffix(struct asflamegraph *f, struct str dso, bool inlined)
{
	struct text *t = &f->name;

	if (inlined) {
		if (!asflamegraph_has(text_view(t), STR("_[i]")))
			text_str(t, STR("_[i]"));
	} else if (f->options.kernel && (str_starts(dso, STR("[")) || str_ends(dso, STR("vmlinux"))) &&
		   !asflamegraph_has(dso, STR("unknown"))) {
		text_str(t, STR("_[k]"));
	} else if (f->options.jit && is_perf_map(dso) && !asflamegraph_has(text_view(t), STR("_[j]"))) {
		text_str(t, STR("_[j]"));
	}
}

/* Frames of one line go to the end of the pool, outermost first. */
static struct asflamegraph_names name_line(struct asflamegraph *f, const struct frame_line *line, struct stacks *s)
{
	struct intern *table = f->options.srcline ? &f->fp : &s->frames;
	struct str rest = line->symbol;
	struct asflamegraph_names names = { 0 };
	bool unknown = false;

	if (f->pool.n == 0)
		ids_push(&f->pool, 0);
	names.first = f->pool.n;
	if (str_starts(rest, STR("(")))
		return names;
	while (rest.n >= 2 && str_ends(rest, STR("->")))
		rest.n -= 2; /* empty parts count in front and between others, not at the end */
	while (rest.n) {
		ptrdiff_t arrow = str_find_str(rest, STR("->"));
		struct str symbol = arrow < 0 ? rest : str_head(rest, (size_t)arrow);

		rest = arrow < 0 ? (struct str){ 0 } : str_from(rest, (size_t)arrow + 2);
		if (str_eq(symbol, STR("[unknown]")) && str_eq(line->dso, symbol))
			unknown = true; /* for the parts behind it, too */
		write_name(f, line, symbol);
		write_suffix(f, line->dso, names.n > 0);
		ids_push(&f->pool, intern(table, text_view(&f->name)));
		names.n++;
		if (f->options.srcline && !unknown)
			names.lines++;
	}
	return names;
}

/* The names of a line, from memory when it was seen before, whatever its address and offset. */
static struct asflamegraph_names asflamegraph_find_names(struct asflamegraph *f, struct frame_line *line,
							 struct stacks *s)
{
	struct str symbol = cut_offset(line->symbol), key = line->both;
	size_t i;

	if (symbol.n < line->symbol.n) {
		f->name.n = 0;
		text_str(&f->name, symbol);
		text_str(&f->name, str_from(line->both, line->symbol.n));
		key = text_view(&f->name);
		line->symbol = symbol;
	}
	if (f->options.addrs && asflamegraph_has(symbol, STR("[unknown]"))) {
		struct asflamegraph_names names = name_line(f, line, s);

		f->pool.n = names.first; /* stays readable until the next line */
		return names;
	}
	i = 2 * (size_t)intern(&f->keys, key) + f->java;
	if (unlikely(i >= f->nnames)) {
		size_t n = i * 2 > 1024 ? i * 2 : 1024;

		f->names = mem_grow(f->names, sizeof(*f->names), n);
		memset(f->names + f->nnames, 0, (n - f->nnames) * sizeof(*f->names));
		f->nnames = n;
	}
	if (f->names[i].first == 0)
		f->names[i] = name_line(f, line, s);
	return f->names[i];
}

/* ---- samples ------------------------------------------------------------------------------------------------- */

/* Cuts the first name off a text that may hold several. False: that was the last. */
static bool asflamegraph_cut_name(struct str *rest, struct str *name)
{
	ptrdiff_t end = str_find(*rest, ';');

	*name = end < 0 ? *rest : str_head(*rest, (size_t)end);
	*rest = str_from(*rest, end < 0 ? rest->n : (size_t)end + 1);
	return end >= 0;
}

/* The first name that waits, with its source line; that may hold any byte, also ';'. Empty for a name without. */
static void add_part(struct asflamegraph *f, struct str source, struct stacks *s)
{
	struct text *t = &f->name;
	struct str rest, name;
	bool more;

	t->n = 0;
	text_str(t, intern_str(&f->fp, f->waiting.id[f->waiting_at++]));
	if (source.n) {
		text_str(t, STR(":"));
		text_str(t, source);
	}
	rest = text_view(t);
	do {
		more = asflamegraph_cut_name(&rest, &name);
		ids_push(&f->part, stacks_frame(s, name));
	} while (more);
}

/* Without what stands in brackets, then without blanks at both ends. */
static struct str tidy_source(struct asflamegraph *f, struct str line)
{
	struct text *t = &f->source;
	struct str s;

	t->n = 0;
	while (line.n) {
		ptrdiff_t open = str_find(line, '['), close = -1;

		if (open >= 0)
			close = str_find(str_from(line, (size_t)open), ']');
		if (close < 0)
			break;
		text_str(t, str_head(line, (size_t)open));
		line = str_from(line, (size_t)(open + close) + 1);
	}
	text_str(t, line);
	s = text_view(t);
	while (s.n && is_space(s.p[0]))
		s = str_from(s, 1);
	while (s.n && is_space(s.p[s.n - 1]))
		s.n--;
	return s;
}

/* When all source lines are there, the line's frames are known. */
static void end_waiting(struct asflamegraph *f, struct stacks *s)
{
	if (f->waiting_at < f->waiting_lines)
		return;
	while (f->waiting_at < f->waiting.n)
		add_part(f, (struct str){ 0 }, s);
	while (f->part.n)
		ids_push(&f->stack, f->part.id[--f->part.n]);
	f->waiting.n = f->waiting_at = f->waiting_lines = 0;
}

static void add_source(struct asflamegraph *f, struct str line, struct stacks *s)
{
	add_part(f, tidy_source(f, line), s);
	end_waiting(f, s);
}

static void add_frames(struct asflamegraph *f, struct frame_line *line, struct stacks *s)
{
	struct asflamegraph_names names;

	if (f->comm.n == 0) {
		f->stray += !f->skipping;
		return;
	}
	names = asflamegraph_find_names(f, line, s);
	if (f->options.srcline) {
		for (size_t i = 0; i < names.n; i++)
			ids_push(&f->waiting, f->pool.id[names.first + i]);
		f->waiting_lines = names.lines;
		end_waiting(f, s);
	} else {
		for (size_t i = names.n; i-- > 0;)
			ids_push(&f->stack, f->pool.id[names.first + i]);
	}
}

/* A header within a sample renames it and weighs it anew; its frames stay. */
static void begin_sample(struct asflamegraph *f, const struct sample_key *h, struct place at)
{
	bool only_tid = h->tid.n == 0 || str_eq(h->tid, STR("0"));
	bool weightless = h->period.n == 0 || str_eq(h->period, STR("0")); /* "00" is a weight of 0 */
	struct str wanted = f->options.event.n ? f->options.event : f->event;

	if (h->event.n) {
		if (wanted.n && !str_eq(wanted, h->event)) {
			f->skipped++;
			if (f->skipped_event.n == 0)
				f->skipped_event = arena_copy(&f->bytes, h->event);
			f->skipping = f->comm.n == 0;
			return;
		}
		if (f->event.n == 0)
			f->event = arena_copy(&f->bytes, h->event);
	}
	f->weight = f->options.samples || weightless ? 1 : parse_weight(h->period);
	f->header = at;
	f->comm.n = 0;
	text_str(&f->comm, h->comm);
	if (f->options.pid || f->options.tid) {
		text_str(&f->comm, STR("-"));
		text_str(&f->comm, only_tid ? STR("?") : h->pid);
	}
	if (f->options.tid) {
		text_str(&f->comm, STR("/"));
		text_str(&f->comm, only_tid ? h->pid : h->tid);
	}
	for (size_t i = 0; i < f->comm.n; i++)
		if (f->comm.p[i] == ' ')
			f->comm.p[i] = '_';
	f->java = str_starts(text_view(&f->comm), STR("java"));
}

static void asflamegraph_end_sample(struct asflamegraph *f, struct stacks *s)
{
	struct str comm = text_view(&f->comm), name;
	uint32_t node = 0;
	bool more;

	f->skipping = false;
	if (comm.n == 0)
		return;
	do {
		more = asflamegraph_cut_name(&comm, &name);
		node = stacks_child(s, node, stacks_frame(s, name));
	} while (more);
	for (size_t i = f->stack.n; i-- > 0;)
		node = stacks_child(s, node, f->stack.id[i]);
	if (!stacks_add(s, node, 0, f->weight)) {
		if (f->overflows++ == 0)
			f->first_overflow = f->header;
	} else {
		f->samples++;
		f->stackless += f->stack.n == 0;
		if (f->weight == 0)
			stacks_add(s, node, 1, 1);
	}
	f->stack.n = 0;
	f->comm.n = 0;
}

void asflamegraph_line(struct asflamegraph *f, struct str line, struct place at, struct stacks *s)
{
	struct frame_line frame;
	struct sample_key header;

	if (f->waiting_lines) { /* whatever it looks like */
		add_source(f, line, s);
	} else if (line.n == 0) {
		asflamegraph_end_sample(f, s);
	} else if (line.p[0] == '#') {
		return;
	} else if (cut_header(line, &header)) {
		begin_sample(f, &header, at);
	} else if (cut_frame(line, &frame)) {
		add_frames(f, &frame, s);
	} else {
		if (f->unrecognized < countof(f->first_unrecognized))
			f->first_unrecognized[f->unrecognized] = at;
		f->unrecognized++;
	}
}

void asflamegraph_end(struct asflamegraph *f, struct stacks *s)
{
	while (f->waiting_lines)
		add_source(f, (struct str){ 0 }, s);
	asflamegraph_end_sample(f, s);
}

void asflamegraph_free(struct asflamegraph *f)
{
	text_free(&f->comm);
	text_free(&f->name);
	text_free(&f->source);
	free(f->stack.id);
	free(f->waiting.id);
	free(f->part.id);
	free(f->pool.id);
	free(f->names);
	intern_free(&f->keys);
	intern_free(&f->fp);
	arena_free(&f->bytes);
	*f = (struct asflamegraph){ .options = f->options };
}

/* ---- output -------------------------------------------------------------------------------------------------- */

struct stack_text {
	struct str text;
	uint64_t weight;
};

static int stack_text_cmp(const void *va, const void *vb)
{
	const struct stack_text *a = va, *b = vb;

	return str_cmp(a->text, b->text);
}

static bool is_stack(const struct stacks *s, uint32_t node)
{
	return s->self[0][node] || (s->self[1] && s->self[1][node]);
}

static size_t stack_size(const struct stacks *s, uint32_t node)
{
	size_t n = 0;

	for (; node; node = s->node[node].parent)
		n += intern_str(&s->frames, s->node[node].frame).n + 1;
	return n - 1;
}

/* In front of end, the innermost frame first. */
static void write_stack(const struct stacks *s, uint32_t node, char *end)
{
	for (;;) {
		struct str frame = intern_str(&s->frames, s->node[node].frame);

		end -= frame.n;
		memcpy(end, frame.p, frame.n);
		node = s->node[node].parent;
		if (node == 0)
			break;
		*--end = ';';
	}
}

void asflamegraph_write(struct out *o, const struct stacks *s)
{
	size_t nbytes = 0, nstacks = 0, k = 0;
	struct stack_text *stack;
	char *text, *at;

	for (uint32_t node = 1; node < s->n; node++) {
		if (is_stack(s, node)) {
			nbytes += stack_size(s, node);
			nstacks++;
		}
	}
	text = at = mem_alloc(1, nbytes);
	stack = mem_alloc(sizeof(*stack), nstacks);
	for (uint32_t node = 1; node < s->n; node++) {
		size_t n;

		if (!is_stack(s, node))
			continue;
		n = stack_size(s, node);
		write_stack(s, node, at + n);
		stack[k++] = (struct stack_text){ { at, n }, s->self[0][node] };
		at += n;
	}
	qsort(stack, nstacks, sizeof(*stack), stack_text_cmp);
	for (k = 0; k < nstacks; k++) {
		out_str(o, stack[k].text);
		out_char(o, ' ');
		out_u64(o, stack[k].weight);
		out_char(o, '\n');
	}
	free(stack);
	free(text);
}
