#include "perfscript.h"

#include "folded.h"

#include "diag.h"

#include <stdio.h>
#include <stdlib.h>

#define ROOTS 1024
#define SHARE_MAX (256 * 1024) /* samples of more text than that are read line by line */

/* The first node of samples whose header began with the same bytes. */
struct script_root {
	struct tail_sample last; /* the sample before, with the same label */
	uint32_t node;
	uint8_t n; /* 0: empty */
	char label[59];
};

void script_init(struct script *p, const struct script_options *o)
{
	*p = (struct script){ .options = o, .names = o->names };
	lines_init(&p->lines, &p->names, &p->stacks);
	p->roots = mem_alloc(sizeof(*p->roots), ROOTS);
	p->tally.first_ns = UINT64_MAX;
	/* what depends on single frames of a sample looks at all of them */
	p->share = !o->nskip_after && !o->collapse_recursion && !o->names.addresses;
}

/* ---- what was not understood -------------------------------------------------------------------------------- */

static void skip_line(struct script *p, struct str line, uint64_t number)
{
	struct script_place *place;

	p->regular = false;
	if (p->tally.skipped < SCRIPT_PLACES) {
		place = &p->tally.place[p->tally.skipped];
		place->block = p->block;
		place->line = number;
		if (line.n >= sizeof(place->text))
			line.n = sizeof(place->text) - 1;
		memcpy(place->text, line.p, line.n);
		place->text[line.n] = 0;
	}
	p->tally.skipped++;
}

/* ---- events ------------------------------------------------------------------------------------------------- */

static struct script_event *event_of(struct script *p, struct str name)
{
	struct script_event *e;

	for (uint32_t i = 0; i < p->nevents; i++)
		if (str_eq(p->event[i].name, name))
			return &p->event[i];
	p->event = mem_grow(p->event, sizeof(*p->event), p->nevents + 1);
	e = &p->event[p->nevents++];
	*e = (struct script_event){ .name = arena_copy(&p->text, name) };
	return e;
}

/* Is this the event that is counted? Decides which it is at the first that may be. */
static bool is_chosen(struct script *p, struct str event)
{
	struct str key = header_event_key(event);

	if (!p->chosen && select_event(&p->options->select, event)) {
		p->chosen = true;
		p->event_name = arena_copy(&p->text, event);
		p->event_key = arena_copy(&p->text, key);
	}
	return p->chosen && str_eq(key, p->event_key);
}

struct str script_event_name(const struct script *p)
{
	return p->event_name;
}

static enum script_weight weight_kind(enum script_weight asked, struct str event)
{
	if (asked != WEIGHT_DEFAULT)
		return asked;
	return str_starts(event, STR("offcpu-time")) ? WEIGHT_PERIOD : WEIGHT_SAMPLES;
}

struct str script_unit(const struct script *p, enum script_weight weight)
{
	struct str name = p->event_name;

	if (weight_kind(weight, name) == WEIGHT_SAMPLES)
		return STR("samples");
	name = str_cut(&name, ':');
	if (str_eq(name, STR("cpu-clock")) || str_eq(name, STR("task-clock")) || str_eq(name, STR("offcpu-time")))
		return STR("ns");
	return name.n ? name : STR("periods");
}

/* ---- first frame -------------------------------------------------------------------------------------------- */

static uint32_t make_root(struct script *p, const struct header *h)
{
	const struct script_options *o = p->options;
	char ids[64], *label;
	struct str comm;
	uint32_t frame;
	int n = 0;

	if (o->comm == COMM_NONE || (h->comm.n == 0 && !o->pid && !o->tid))
		return 0;
	comm = names_comm(&p->names, h->comm, o->comm == COMM_CANONICAL);
	if (o->tid || o->pid) {
		char pid[24] = "?", tid[24] = "?";

		if (h->pid >= 0)
			snprintf(pid, sizeof(pid), "%lld", (long long)h->pid);
		if (h->tid >= 0)
			snprintf(tid, sizeof(tid), "%lld", (long long)h->tid);
		n = o->tid ? snprintf(ids, sizeof(ids), "-%s/%s", pid, tid) : snprintf(ids, sizeof(ids), "-%s", pid);
	}
	label = mem_alloc(1, comm.n + (size_t)n + 1);
	memcpy(label, comm.p, comm.n);
	memcpy(label + comm.n, ids, (size_t)n);
	frame = stacks_frame(&p->stacks, (struct str){ label, comm.n + (size_t)n });
	free(label);
	return stacks_child(&p->stacks, 0, frame);
}

static uint32_t root_of(struct script *p, const struct header *h)
{
	struct str label = h->before.n ? h->before : h->comm;
	struct script_root *r = &p->roots[hash_bytes(label.p, label.n) % ROOTS];

	p->root = NULL;
	if (label.n == 0 || label.n > sizeof(r->label))
		return make_root(p, h);
	p->root = r;
	if (r->n != label.n || memcmp(r->label, label.p, label.n) != 0) {
		r->node = make_root(p, h);
		r->last.n = 0;
		r->n = (uint8_t)label.n;
		memcpy(r->label, label.p, label.n);
	}
	return r->node;
}

/* ---- frames ------------------------------------------------------------------------------------------------- */

static void push_frame(struct script *p, uint32_t frame)
{
	if (unlikely(p->nframes == p->frames_cap)) {
		p->frames_cap = p->frames_cap ? p->frames_cap * 2 : 256;
		p->frame = mem_grow(p->frame, sizeof(*p->frame), p->frames_cap);
	}
	p->frame[p->nframes++] = frame;
}

/* --addrs: an unresolved frame is another one at each address. */
static uint32_t frame_with_address(struct script *p, struct str tail, struct str address)
{
	struct names_frame f = lines_split(tail);

	f.address = address;
	return stacks_frame(&p->stacks, names_make(&p->names, f));
}

static void push_entry(struct script *p, const struct line_entry *e)
{
	p->last_frame = p->nframes;
	p->tally.frames++;
	p->tally.unresolved += e->unresolved;
	push_frame(p, e->frame);
	if (unlikely(e->callers))
		for (const uint32_t *f = &p->lines.more[e->callers]; *f; f++)
			push_frame(p, *f);
}

/* The frame lines that were only noted so far become frames. */
static void look_up(struct script *p)
{
	for (size_t i = 0; i < p->nrefs; i++)
		lines_guess(&p->lines, &p->ref[i]);
	for (size_t i = 0; i < p->nrefs; i++)
		push_entry(p, lines_get(&p->lines, &p->ref[i]));
	p->nrefs = 0;
}

/* start: where the line begins, NULL when it is not one behind a TAB. */
static void add_frame(struct script *p, struct str tail, struct str address, const char *start)
{
	struct line_ref *ref;

	if (unlikely(p->nrefs == p->refs_cap)) {
		p->refs_cap = p->refs_cap ? p->refs_cap * 2 : 256;
		p->ref = mem_grow(p->ref, sizeof(*p->ref), p->refs_cap);
	}
	ref = &p->ref[p->nrefs++];
	ref->p = tail.p;
	ref->n = (uint32_t)tail.n;
	ref->start = start;
	p->regular = p->regular && start;
	lines_hash(&p->lines, ref);
	p->sample.last = tail;
	if (unlikely(p->names.addresses) && names_unresolved(lines_split(tail))) {
		look_up(p);
		p->nframes = p->last_frame;
		push_frame(p, frame_with_address(p, tail, address));
	}
}


/* ---- samples ------------------------------------------------------------------------------------------------ */

static void count_time(struct script_tally *t, const struct header *h)
{
	uint64_t ns;

	if (!header_time(h->time, &ns))
		return;
	if (ns < t->first_ns)
		t->first_ns = ns;
	if (ns > t->last_ns)
		t->last_ns = ns;
}

static uint64_t weight_of(const struct script *p, const struct header *h)
{
	return weight_kind(p->options->weight, h->event) == WEIGHT_PERIOD && h->period ? h->period : 1;
}

static void open_sample(struct script *p, const struct header *h)
{
	struct script_event *e = event_of(p, h->event);

	e->samples++;
	e->period += h->period;
	p->nframes = p->nrefs = 0;
	p->sample.state = SAMPLE_IGNORED;
	if (!p->has_first)
		p->has_first = header_time(h->time, &p->first_ns);
	if (!is_chosen(p, h->event))
		return;
	if (!select_sample(&p->options->select, h, p->first_ns)) {
		p->tally.deselected++;
		return;
	}
	if (p->options->times)
		count_time(&p->tally, h);
	p->sample.root = root_of(p, h);
	p->sample.weight = weight_of(p, h);
	p->sample.state = SAMPLE_OPEN;
	p->regular = true;
	p->shared = 0;
	p->serial++;
}

/* Is the frame one of --skip-after? Looked up once per frame id. */
static bool is_skip_after(struct script *p, uint32_t frame)
{
	if (frame >= p->skip_cap) {
		size_t cap = (size_t)p->stacks.frames.cap + 1;

		p->skip = mem_grow(p->skip, 1, cap);
		memset(p->skip + p->skip_cap, 0, cap - p->skip_cap);
		p->skip_cap = cap;
	}
	if (p->skip[frame] == 0) {
		struct str name = folded_bare(intern_str(&p->stacks.frames, frame));

		p->skip[frame] = 2;
		for (size_t i = 0; i < p->options->nskip_after; i++)
			if (str_eq(name, folded_bare(p->options->skip_after[i])))
				p->skip[frame] = 1;
	}
	return p->skip[frame] == 1;
}

/* What --skip-after and --collapse-recursion leave of the frames. */
static void reduce_frames(struct script *p)
{
	const struct intern *names = &p->stacks.frames;
	size_t n = 0;

	for (size_t i = 0; p->options->nskip_after && i < p->nframes; i++) {
		if (is_skip_after(p, p->frame[i])) {
			p->nframes = i + 1;
			p->sample.root = 0;
		}
	}
	if (!p->options->collapse_recursion)
		return;
	for (size_t i = 0; i < p->nframes; i++) {
		bool again = n && (p->frame[n - 1] == p->frame[i] ||
				   str_eq(folded_bare(intern_str(names, p->frame[n - 1])),
					  folded_bare(intern_str(names, p->frame[i]))));

		if (!again)
			p->frame[n++] = p->frame[i];
	}
	p->nframes = n;
}

static void add_weight(struct script *p, uint32_t node)
{
	if (node == 0) /* neither a comm nor a frame */
		node = stacks_child(&p->stacks, 0, stacks_frame(&p->stacks, STR("[unknown]")));
	if (!stacks_add(&p->stacks, node, 0, p->sample.weight))
		p->tally.overflow = true;
}

/* The frames that an inlined one stands in, outermost first; they are kept inside out. */
static uint32_t walk_callers(struct script *p, uint32_t node, uint32_t callers)
{
	uint32_t n = 0;

	while (p->lines.more[callers + n])
		n++;
	while (n-- > 0)
		node = stacks_child(&p->stacks, node, p->lines.more[callers + n]);
	return node;
}

/*
 * A sample of which no frame was looked at before: from the outermost line inwards. What it leaves in tails serves the next
 * sample of the thread. end: of its text, NULL when it did not end at an empty line.
 */
static void close_regular(struct script *p, const char *end)
{
	uint32_t n = (uint32_t)p->nrefs, first = p->tails.n, node = p->sample.root, unresolved = 0;
	const struct tail_line *outer;
	struct tail_line *line;

	tails_reserve(&p->tails, n + p->shared);
	line = p->tails.line + first;
	if (p->shared) {
		const struct tail_sample *last = &p->root->last;

		outer = p->tails.line + last->first + last->n - p->shared;
		for (uint32_t i = 0; i < p->shared; i++) {
			line[n + i] = outer[i];
			line[n + i].start += end - last->end;
		}
		node = outer->node;
		unresolved = outer->unresolved;
	}
	for (uint32_t i = 0; i < n; i++)
		lines_guess(&p->lines, &p->ref[i]);
	for (uint32_t i = n; i-- > 0;) {
		const struct line_entry *e = lines_get(&p->lines, &p->ref[i]);

		unresolved += e->unresolved;
		if (unlikely(e->callers))
			node = walk_callers(p, node, e->callers);
		node = stacks_child(&p->stacks, node, e->frame);
		line[i] = (struct tail_line){ p->ref[i].start, node, unresolved };
	}
	n += p->shared;
	p->nrefs = 0;
	p->tally.samples++;
	p->tally.bare += n == 0;
	p->tally.deep += n > 1 || p->nframes > 1;
	p->tally.frames += n;
	p->tally.unresolved += unresolved;
	add_weight(p, node);
	if (end && p->root && p->regular) {
		p->root->last = (struct tail_sample){ p->block + 1, end, first, n };
		p->tails.n += n;
	}
}

/* end: where the empty line begins that closes the sample; NULL when something else does. */
static void close_sample(struct script *p, const char *end)
{
	uint32_t node = p->sample.root;

	if (p->sample.state == SAMPLE_WEAK)
		skip_line(p, p->sample.weak_line, p->sample.weak_number);
	if (p->sample.state != SAMPLE_OPEN) {
		p->sample.state = SAMPLE_NONE;
		return;
	}
	p->sample.state = SAMPLE_NONE;
	if (likely(p->share && p->nframes == 0)) {
		close_regular(p, end);
		return;
	}
	look_up(p);
	if (unlikely(p->options->nskip_after || p->options->collapse_recursion)) {
		reduce_frames(p);
		node = p->sample.root;
	}
	p->tally.samples++;
	p->tally.bare += p->nframes == 0;
	p->tally.deep += p->nframes > 1;
	for (size_t i = p->nframes; i-- > 0;)
		node = stacks_child(&p->stacks, node, p->frame[i]);
	add_weight(p, node);
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Splits "   7f00 sym (dso)" into address and tail; false when it does not begin with an address. */
static bool split_address(struct str line, struct str *address, struct str *tail)
{
	size_t i = 0, from;

	while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'))
		i++;
	for (from = i; i < line.n && is_hex(line.p[i]); i++)
		;
	if (i == from || i - from > 16 || (i < line.n && line.p[i] != ' '))
		return false;
	*address = str_head(str_from(line, from), i - from);
	*tail = str_from(line, i + (i < line.n));
	return true;
}

static void headerless(struct script *p)
{
	open_sample(p, &(struct header){ .pid = -1, .tid = -1, .cpu = -1 });
}

/* A frame came: is there a sample that it belongs to? */
static bool in_sample(struct script *p)
{
	if (p->sample.state == SAMPLE_WEAK)
		open_sample(p, &p->sample.weak);
	else if (p->sample.state == SAMPLE_NONE)
		headerless(p);
	return p->sample.state == SAMPLE_OPEN;
}

/* A line that begins with a TAB. perf prints the address 16 wide, so that it mostly ends at a known place. */
static void frame_line(struct script *p, struct str line)
{
	struct str address, tail;

	if (p->sample.state == SAMPLE_IGNORED)
		return;
	if (likely(line.n > 18 && line.p[17] == ' ' && is_hex(line.p[16]) &&
		   (line.p[1] == ' ' || is_hex(line.p[1])))) {
		address = str_head(str_from(line, 1), 16);
		tail = str_from(line, 18);
		if (unlikely(p->names.addresses))
			split_address(line, &address, &tail);
	} else if (!split_address(line, &address, &tail)) {
		skip_line(p, line, p->line);
		return;
	}
	if (likely(p->sample.state == SAMPLE_OPEN) || in_sample(p))
		add_frame(p, tail, address, line.p);
}

/* Replaces the names of the last frame line by those of f, with text behind the innermost. */
static void rename_last(struct script *p, struct names_frame f, struct str text)
{
	struct str names = names_make(&p->names, f), copy;
	char *joined;

	copy.p = joined = mem_alloc(1, names.n + text.n + 2);
	memcpy(joined, names.p, names.n);
	copy.n = names.n;
	if (text.n) {
		struct str bare = folded_bare(names);
		size_t suffix = names.n - bare.n;

		memmove(joined + bare.n + 1 + text.n, names.p + bare.n, suffix);
		joined[bare.n] = ':';
		for (size_t i = 0; i < text.n; i++) {
			unsigned char c = (unsigned char)text.p[i];

			joined[bare.n + 1 + i] = c == ';' || c < 0x20 || c == 0x7F ? ':' : (char)c;
		}
		copy.n += 1 + text.n;
	}
	p->nframes = p->last_frame;
	for (ptrdiff_t i; copy.n; copy.n = i < 0 ? 0 : (size_t)i) {
		i = str_rfind(copy, '\n');
		push_frame(p, stacks_frame(&p->stacks, str_from(copy, (size_t)(i + 1))));
	}
	free(joined);
}

/* -F+srcline: "  file:line" belongs to the frame before it, and there " (inlined)" stands behind the line. */
static bool srcline(struct script *p, struct str line)
{
	struct str text = str_trim(line);
	struct names_frame f;
	bool inlined;

	if (line.n < 3 || line.p[0] != ' ' || line.p[1] != ' ' || text.n == 0)
		return false;
	if (p->sample.state == SAMPLE_IGNORED)
		return true;
	look_up(p);
	p->regular = false;
	if (p->nframes == 0)
		return false;
	inlined = str_ends(text, STR(" (inlined)"));
	if (inlined)
		text.n -= 10;
	if (!inlined && !p->options->srcline)
		return true;
	f = lines_split(p->sample.last);
	f.inlined = f.inlined || inlined;
	rename_last(p, f, p->options->srcline ? text : (struct str){ 0 });
	return true;
}

/* ---- lines -------------------------------------------------------------------------------------------------- */

/*
 * Without callchain the one frame stands on the header's line, 16 wide: "cycles:  ffffffff821f236b sym+0x1 (dso)"; with -F+addr,
 * behind the data address. The payload of a tracepoint stands there, too: it is no frame.
 */
static bool single_frame(const struct header *h, struct str *address, struct str *tail)
{
	struct str second, third;

	if (h->rest.n == 0 || !split_address(h->rest, address, tail) || tail->n == 0)
		return false;
	if (h->rest_width < 17 && (address->n < 6 || h->rest.p[h->rest.n - 1] != ')'))
		return false;
	if (split_address(*tail, &second, &third) && third.n && second.n >= 4 &&
	    (size_t)(second.p + second.n - tail->p) >= 16) {
		*address = second;
		*tail = third;
	}
	return true;
}

static void sample_line(struct script *p, const struct header *h)
{
	struct str address, tail;

	open_sample(p, h);
	if (!single_frame(h, &address, &tail))
		return;
	if (p->sample.state == SAMPLE_OPEN)
		add_frame(p, tail, address, NULL);
	close_sample(p, NULL);
}

static bool is_blank(struct str line)
{
	return str_trim(line).n == 0;
}

static bool is_comment(struct str line)
{
	return line.p[0] == '#' && (line.n == 1 || line.p[1] == ' ');
}

/* "# hostname : vm" and "# event : name = cycles, ... { sample_period, sample_freq } = 99, ..." of perf script --header. */
static void comment(struct script *p, struct str line)
{
	ptrdiff_t i = str_find_str(line, STR("sample_freq } = "));
	struct str rest;

	if (str_starts(line, STR("# hostname : ")) && p->host.n == 0)
		p->host = arena_copy(&p->text, str_trim(str_from(line, 13)));
	if (i > 0 && p->frequency.n == 0 && str_find_str(line, STR("freq = 1")) > 0) {
		rest = str_from(line, (size_t)i + 16);
		p->frequency = arena_copy(&p->text, str_cut(&rest, ','));
	}
}

/* A line that is neither a frame behind a TAB nor empty. */
static void other_line(struct script *p, struct str line)
{
	struct str address, tail;
	struct header h;

	if (is_comment(line) && p->sample.state == SAMPLE_NONE) {
		comment(p, line);
		return;
	}
	switch (header_parse(line, &h)) {
	case HEADER_SAMPLE:
		close_sample(p, NULL);
		sample_line(p, &h);
		return;
	case HEADER_RECORD:
		close_sample(p, NULL);
		p->tally.records++;
		p->tally.lost += h.lost;
		return;
	case HEADER_DEFERRED:
		close_sample(p, NULL);
		p->tally.deferred++;
		p->sample.state = SAMPLE_IGNORED;
		return;
	case HEADER_WEAK:
	case HEADER_NONE:
		break;
	}
	if (p->sample.state == SAMPLE_OPEN || p->sample.state == SAMPLE_IGNORED) {
		if (p->nframes + p->nrefs && srcline(p, line))
			return;
		/* perf 3.x: frames without a TAB */
		if (split_address(line, &address, &tail) && tail.n) {
			if (p->sample.state == SAMPLE_OPEN)
				add_frame(p, tail, address, NULL);
			return;
		}
		if (srcline(p, line))
			return;
		skip_line(p, line, p->line);
		return;
	}
	close_sample(p, NULL);
	if (single_frame(&h, &address, &tail)) {
		sample_line(p, &h);
		return;
	}
	if (split_address(line, &address, &tail) && tail.n && line.p[0] == ' ') { /* -F ip,sym without callchain */
		headerless(p);
		if (p->sample.state == SAMPLE_OPEN)
			add_frame(p, tail, address, NULL);
		close_sample(p, NULL);
		return;
	}
	p->sample.state = SAMPLE_WEAK;
	p->sample.weak = h;
	p->sample.weak_line = line;
	p->sample.weak_number = p->line;
}

/* The end of a sample that is that of the thread's sample before. */
struct shared {
	const char *from; /* first line of it */
	const char *end;  /* the empty line behind it */
	uint32_t lines;
};

static void script_lines(struct script *p, const char *at, const char *end, bool share);

/* A header was read, its frames begin at `at`. */
static bool find_shared(struct script *p, const char *at, const char *end, struct shared *s)
{
	const struct tail_sample *last = &p->root->last;

	s->end = tails_end(at - 1, end - at > SHARE_MAX ? at + SHARE_MAX : end);
	if (!s->end) {
		p->share_here = false; /* separated by something else: do not search again and again */
		return false;
	}
	if (last->n == 0 || last->block != p->block + 1)
		return false;
	s->lines = tails_match(&p->tails, last, at, s->end);
	if (s->lines == 0)
		return false;
	s->from = s->end - (last->end - p->tails.line[last->first + last->n - s->lines].start);
	return true;
}

/* Looks at the lines before the shared ones. If they were nothing but frames of this sample, the rest is known, and the sample
 * done. Returns where to go on. */
static const char *take_shared(struct script *p, const char *at, const struct shared *s)
{
	uint64_t serial = p->serial;

	script_lines(p, at, s->from, false);
	if (p->serial != serial || p->sample.state != SAMPLE_OPEN || !p->regular || p->nframes)
		return s->from;
	p->shared = s->lines;
	p->line += s->lines + 1;
	close_sample(p, s->end);
	return s->end + 1;
}

static void script_lines(struct script *p, const char *at, const char *end, bool share)
{
	struct shared shared;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)), *from = at;
		struct str line = { at, (size_t)((newline ? newline : end) - at) };

		p->line++;
		at += line.n + 1;
		if (line.n && line.p[line.n - 1] == '\r')
			line.n--;
		if (likely(line.n && line.p[0] == '\t') && (line.n > 18 || !is_blank(line))) {
			frame_line(p, line);
		} else if (is_blank(line)) {
			close_sample(p, from);
		} else {
			other_line(p, line);
			if (share && p->share_here && p->root && p->sample.state == SAMPLE_OPEN &&
			    p->nrefs + p->nframes == 0 && newline && find_shared(p, at, end, &shared))
				at = take_shared(p, at, &shared);
		}
	}
}

void script_block(struct script *p, struct str text, uint64_t block)
{
	p->block = block;
	p->line = 0;
	p->tails.n = 0;
	p->share_here = p->share;
	script_lines(p, text.p, text.p + text.n, true);
	close_sample(p, NULL);
}

/* ---- borders ------------------------------------------------------------------------------------------------ */

/* A sample begins behind an empty line, and at every line that is certainly a header. */
size_t script_last_border(struct str text)
{
	ptrdiff_t newline = str_rfind(text, '\n');
	struct header h;

	while (newline >= 0) {
		struct str before = str_head(text, (size_t)newline), line;
		ptrdiff_t i = str_rfind(before, '\n');

		line = str_from(before, (size_t)(i + 1));
		if (is_blank(line))
			return (size_t)newline + 1;
		if (line.p[0] != '\t') {
			enum header_kind kind = header_parse(line, &h);

			if (kind == HEADER_SAMPLE || kind == HEADER_RECORD || kind == HEADER_DEFERRED)
				return (size_t)(i + 1);
		}
		newline = i;
	}
	return 0;
}

bool script_looks_like(struct str line)
{
	struct str address, tail;
	struct header h;

	if (line.n && line.p[0] == '\t')
		return split_address(line, &address, &tail);
	switch (header_parse(line, &h)) {
	case HEADER_SAMPLE:
	case HEADER_RECORD:
	case HEADER_DEFERRED:
		return true;
	case HEADER_WEAK:
	case HEADER_NONE:
		break;
	}
	return single_frame(&h, &address, &tail) ||
	       (line.p[0] == ' ' && split_address(line, &address, &tail) && address.n >= 6 && tail.n);
}

/* ---- several threads ---------------------------------------------------------------------------------------- */

void script_fork(struct script *worker, const struct script *of)
{
	script_init(worker, of->options);
	worker->chosen = of->chosen;
	worker->event_key = of->event_key;
	worker->event_name = of->event_name;
	worker->has_first = true; /* what is not known by now must not depend on the thread */
	worker->first_ns = of->first_ns;
}

static bool before(const struct script_place *a, const struct script_place *b)
{
	return a->block != b->block ? a->block < b->block : a->line < b->line;
}

/* The first places of both, in order of the input. */
static void merge_places(struct script_tally *to, const struct script_tally *from)
{
	struct script_place all[SCRIPT_PLACES];
	size_t i = 0, j = 0, ni = to->skipped < SCRIPT_PLACES ? to->skipped : SCRIPT_PLACES;
	size_t nj = from->skipped < SCRIPT_PLACES ? from->skipped : SCRIPT_PLACES;

	memset(all, 0, sizeof(all));
	for (size_t k = 0; k < SCRIPT_PLACES && (i < ni || j < nj); k++)
		all[k] = j == nj || (i < ni && before(&to->place[i], &from->place[j])) ? to->place[i++] :
											  from->place[j++];
	memcpy(to->place, all, sizeof(all));
}

void script_merge(struct script *p, const struct script *worker)
{
	struct script_tally *to = &p->tally;
	const struct script_tally *from = &worker->tally;

	merge_places(to, from);
	to->samples += from->samples;
	to->deselected += from->deselected;
	to->bare += from->bare;
	to->deep += from->deep;
	to->frames += from->frames;
	to->unresolved += from->unresolved;
	to->lost += from->lost;
	to->records += from->records;
	to->deferred += from->deferred;
	to->skipped += from->skipped;
	if (from->first_ns < to->first_ns)
		to->first_ns = from->first_ns;
	if (from->last_ns > to->last_ns)
		to->last_ns = from->last_ns;
	to->overflow = to->overflow || from->overflow;
	for (uint32_t i = 0; i < worker->nevents; i++) {
		struct script_event *e = event_of(p, worker->event[i].name);

		e->samples += worker->event[i].samples;
		e->period += worker->event[i].period;
	}
	if (!stacks_merge(&p->stacks, &worker->stacks))
		to->overflow = true;
}

void script_free(struct script *p)
{
	stacks_free(&p->stacks);
	names_free(&p->names);
	lines_free(&p->lines);
	arena_free(&p->text);
	free(p->event);
	free(p->ref);
	free(p->frame);
	free(p->skip);
	free(p->roots);
	free(p->tails.line);
}
