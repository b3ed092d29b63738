/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/run.h"

#include "fold/perfdata/perfdata.h"

#include <pthread.h>
#include <stdlib.h>

#define BLOCK ((size_t)1 << 20)
#define BLOCK_MAX ((size_t)1 << 28)   /* one sample of more than that is cut */
#define BLOCK_FIRST ((size_t)1 << 16) /* until it is known which event counts, one thread works alone */
#define PEEK ((size_t)1 << 16)
#define MAGIC ((size_t)16) /* enough of perf.data to know it */

/* ---- kind of input ------------------------------------------------------------------------------------------ */

static bool is_folded(struct str line)
{
	struct str stack;
	uint64_t weight;
	bool rounded;

	return folded_parse(line, &stack, &weight, &rounded) == NULL;
}

/* A bare "java 19983" may be a stack with a weight, or a header without time: the line after it tells. */
static bool frame_follows(struct str rest)
{
	struct str line = str_cut(&rest, '\n');

	return line.n > 1 && line.p[0] == '\t' && script_looks_like(line);
}

/* The first lines of an input: what they are, and the first that is nothing. */
struct look {
	enum input_kind kind;
	bool known;
	bool header;    /* of folded text */
	struct str bad; /* empty: none */
	uint64_t bad_line;
};

/* whole: text is the whole input; else its last line may be cut. */
static struct look run_look_at(struct str text, bool complete)
{
	struct look look = { .kind = INPUT_EMPTY };

	for (uint64_t number = 1; text.n; number++) {
		struct str line, rest = text;

		line = str_cut(&rest, '\n');
		if (line.n == text.n && !complete)
			break;
		text = rest;
		if (str_is_blank(line))
			continue;
		if (line.p[0] == '#' && (line.n == 1 || line.p[1] == ' ' || line.p[1] == '\r')) {
			look.header = look.header || folded_is_header(str_trim(line));
			continue;
		}
		look.known = true;
		look.kind = INPUT_SCRIPT;
		if (script_looks_like(line) || frame_follows(text))
			return look;
		look.kind = INPUT_FOLDED;
		if (is_folded(line))
			return look;
		look.known = false;
		if (!look.bad.n) {
			look.bad = line;
			look.bad_line = number;
		}
	}
	look.kind = look.header ? INPUT_FOLDED : INPUT_EMPTY;
	return look;
}

enum input_kind run_kind(struct in *in)
{
	struct look look;

	if (perfdata_is(in_peek(in, MAGIC)))
		return INPUT_RECORDING;
	in_expect_text(in);
	/* one line may be very long, and comments may be many: look further until something is known */
	for (size_t n = PEEK;; n *= 2) {
		struct str head = in_peek(in, n);
		bool complete = head.n < n;

		look = run_look_at(head, complete);
		if (look.known || complete)
			break;
		if (look.bad.n && n > PEEK)
			break;
	}
	if (look.known || !look.bad.n)
		return look.kind;
	if (look.bad.n > 60)
		look.bad.n = 60;
	die_at((struct place){ in->name, look.bad_line }, "neither a sample of perf script nor a folded stack: '%.*s'",
	       (int)look.bad.n, look.bad.p);
}

/* ---- blocks ------------------------------------------------------------------------------------------------- */

struct buffer {
	char *p;
	size_t n, cap;
};

static void buffer_space(struct buffer *b, size_t n)
{
	if (n <= b->cap)
		return;
	b->cap = n;
	b->p = mem_grow(b->p, 1, n);
}

/* What the threads of one input share. */
struct reading {
	struct run *run;
	struct in *in;
	struct buffer carry; /* read already, belongs to the next block */
	pthread_mutex_t lock;
	uint32_t input;
	bool end;
};

/* Where to cut text: at a border; a sample that is too long for any memory, at a line. 0: read more first. */
static size_t run_cut_at(const struct reading *rd, struct str text)
{
	size_t border = script_last_border(text);

	if (border || text.n < BLOCK_MAX)
		return border;
	border = (size_t)(str_rfind(text, '\n') + 1);
	if (border == 0)
		die_at((struct place){ rd->in->name, 0 }, "a line longer than %zu MB: this is not perf script text",
		       BLOCK_MAX >> 20);
	return border;
}

/* The text that is left: all of it, or, of damaged input, whole samples only. */
static size_t cut_at_end(const struct reading *rd, struct str text)
{
	return rd->in->errors ? script_last_border(text) : text.n;
}

/* Fills b with the next block, of about `want` bytes, and gives its number; false at the end of the input. Call with
 * the lock held. */
static bool next_block(struct reading *rd, struct buffer *b, size_t want, uint64_t *number)
{
	struct run *r = rd->run;
	size_t cut = 0;

	buffer_space(b, want);
	buffer_space(b, rd->carry.n);
	b->n = rd->carry.n;
	if (b->n)
		memcpy(b->p, rd->carry.p, b->n);
	rd->carry.n = 0;
	while (!cut) {
		while (b->n < want && !rd->end) {
			size_t got = in_read(rd->in, b->p + b->n, want - b->n);

			rd->end = got == 0;
			b->n += got;
		}
		cut = rd->end ? cut_at_end(rd, (struct str){ b->p, b->n }) : run_cut_at(rd, (struct str){ b->p, b->n });
		if (!cut && rd->end)
			return false;
		if (!cut)
			buffer_space(b, want *= 2);
	}
	if (rd->end)
		b->n = cut;
	buffer_space(&rd->carry, b->n - cut);
	if (b->n > cut)
		memcpy(rd->carry.p, b->p + cut, b->n - cut);
	rd->carry.n = b->n - cut;
	b->n = cut;
	if (r->nblocks == r->blocks_cap) {
		r->blocks_cap = r->blocks_cap ? r->blocks_cap * 2 : 256;
		r->block = mem_grow(r->block, sizeof(*r->block), r->blocks_cap);
	}
	r->block[r->nblocks] = (struct run_block){ rd->input, 0 };
	*number = r->nblocks++;
	return true;
}

/* Folds blocks until the input ends, or, with `until_chosen`, until it is known which event counts. */
static void fold_blocks(struct reading *rd, struct script *p, bool until_chosen)
{
	struct buffer b = { 0 };
	uint64_t number;

	for (;;) {
		bool more;

		pthread_mutex_lock(&rd->lock);
		more = next_block(rd, &b, until_chosen ? BLOCK_FIRST : BLOCK, &number);
		pthread_mutex_unlock(&rd->lock);
		if (!more)
			break;
		script_block(p, (struct str){ b.p, b.n }, number);
		pthread_mutex_lock(&rd->lock);
		rd->run->block[number].lines = p->line;
		pthread_mutex_unlock(&rd->lock);
		if (until_chosen && p->samples.chosen)
			break;
	}
	free(b.p);
}

struct job {
	struct reading *reading;
	struct script *script;
	pthread_t thread;
};

static void *run_work(void *arg)
{
	struct job *job = arg;

	fold_blocks(job->reading, job->script, false);
	return NULL;
}

static void fold_in_threads(struct reading *rd)
{
	struct run *r = rd->run;
	unsigned n = r->threads - 1, started = 0;
	struct job *job = mem_alloc(sizeof(*job), n);

	if (!r->worker) {
		mem_keep();
		r->worker = mem_alloc(sizeof(*r->worker), n);
		for (unsigned i = 0; i < n; i++)
			script_fork(&r->worker[i], &r->script);
	}
	for (; started < n; started++) {
		job[started] = (struct job){ .reading = rd, .script = &r->worker[started] };
		if (pthread_create(&job[started].thread, NULL, run_work, &job[started]) != 0)
			break; /* fewer threads do the same work */
	}
	fold_blocks(rd, &r->script, false);
	for (unsigned i = 0; i < started; i++)
		pthread_join(job[i].thread, NULL);
	free(job);
}

void run_init(struct run *r, const struct samples_options *o, unsigned threads)
{
	*r = (struct run){ .threads = threads };
	script_init(&r->script, o);
}

void run_script(struct run *r, struct in *in)
{
	struct reading rd = { .run = r, .in = in, .input = r->ninputs };

	r->input = mem_grow(r->input, sizeof(*r->input), r->ninputs + 1);
	r->input[r->ninputs++] = in->name;
	pthread_mutex_init(&rd.lock, NULL);
	if (!r->script.samples.chosen)
		fold_blocks(&rd, &r->script, true);
	if (r->threads > 1 && !rd.end)
		fold_in_threads(&rd);
	else
		fold_blocks(&rd, &r->script, false);
	pthread_mutex_destroy(&rd.lock);
	free(rd.carry.p);
}

void run_end(struct run *r)
{
	for (unsigned i = 0; r->worker && i < r->threads - 1; i++) {
		samples_merge(&r->script.samples, &r->worker[i].samples);
		script_free(&r->worker[i]);
	}
	free(r->worker);
	r->worker = NULL;
}

struct place run_place(const struct run *r, uint64_t block, uint64_t line)
{
	uint32_t input = r->block[block].input;

	while (block > 0 && r->block[block - 1].input == input)
		line += r->block[--block].lines;
	return (struct place){ r->input[input], line };
}

void run_free(struct run *r)
{
	script_free(&r->script);
	free(r->block);
	free(r->input);
}
