/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/run.h"

#include "fold/foreign/foreignreader.h"
#include "fold/perfdata/perfdata.h"

#include <pthread.h>
#include <stdlib.h>

/* Number of bytes that are read for a block of text, the part of an input that one thread folds at a time. The block
 * ends at the last boundary between samples in these bytes. It is larger only if they contain no boundary. */
#define BLOCK ((size_t)1 << 20)
/* Maximum size in bytes of a sample within one block. A larger sample is divided at the end of a line into two
 * blocks. */
#define BLOCK_MAX ((size_t)1 << 28)
/* The same number until the event to fold is known; until then, only one thread works. */
#define BLOCK_FIRST ((size_t)1 << 16)
/* Number of bytes of text that run_kind() examines at first. */
#define PEEK ((size_t)1 << 16)
/* Number of bytes at the start of an input that suffice to recognize perf.data. */
#define MAGIC ((size_t)16)

/* ---- kind of input ------------------------------------------------------------------------------------------ */

static bool is_folded(struct str line)
{
	struct str stack;
	uint64_t weight;
	bool rounded;

	return folded_parse(line, &stack, &weight, &rounded) == NULL;
}

/* Returns true if `rest` begins with a frame of perf script. The line before `rest`, such as "java 19983", is then a
 * sample header without time; otherwise (false) it may be a folded stack with a weight. */
static bool frame_follows(struct str rest)
{
	struct str line = str_cut(&rest, '\n');

	return line.n > 1 && line.p[0] == '\t' && script_looks_like(line);
}

/* Classification of an input by its first lines. known: true if these lines decide the kind of the input. */
struct look {
	enum input_kind kind;
	bool known;
	/* True if a comment line is a header of folded stacks (common/formats/folded.h). */
	bool header;
	/* First line that is neither part of a sample nor a folded stack, and its number from 1; empty if there is
	 * none. */
	struct str bad;
	uint64_t bad_line;
};

/* Classifies an input by `text`, its first bytes. complete: `text` is the whole input. Otherwise the last line may be
 * incomplete and is not used. */
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
		if (line.p[0] == '#' && (line.n == 1 || line.p[1] == ' ' || line.p[1] == '\r' || line.p[1] == '{')) {
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

enum input_kind run_kind(struct in *input)
{
	struct look look;
	struct str stack;
	const char *why;
	uint64_t weight;
	bool rounded;

	if (perfdata_is(in_peek(input, MAGIC)))
		return INPUT_RECORDING;
	if (foreign_kind(in_peek(input, FOREIGN_HEAD)) > FOREIGN_OTHER)
		return INPUT_FOREIGN;
	in_expect_text(input);
	/* The deciding line may be very long, or follow after many comments: double the number of bytes until the kind
	 * is known. */
	for (size_t n = PEEK;; n *= 2) {
		struct str head = in_peek(input, n);
		bool complete = head.n < n;

		look = run_look_at(head, complete);
		if (look.known || complete)
			break;
		if (look.bad.n && n > PEEK)
			break;
	}
	if (look.known || !look.bad.n)
		return look.kind;
	why = folded_parse(look.bad, &stack, &weight, &rounded);
	if (look.bad.n > 60)
		look.bad.n = 60;
	if (why && str_starts(str_of(why), STR("the weight does not fit")))
		die_at((struct place){ input->name, look.bad_line }, "%s: '%.*s'", why, (int)look.bad.n, look.bad.p);
	die_at((struct place){ input->name, look.bad_line },
	       "neither a sample of perf script nor a folded stack: '%.*s'", (int)look.bad.n, look.bad.p);
}

/* ---- blocks of text ----------------------------------------------------------------------------------------- */

struct buffer {
	char *p;
	size_t n, cap;
};

static void buffer_space(struct buffer *buffer, size_t n)
{
	if (n <= buffer->cap)
		return;
	buffer->cap = n;
	buffer->p = mem_grow(buffer->p, 1, n);
}

/* State shared by the threads that fold one input. */
struct reading {
	struct run *run;
	struct in *in;
	/* Bytes that were read beyond the end of the last block; the next block begins with these bytes. */
	struct buffer carry;
	pthread_mutex_t lock;
	uint32_t input;
	bool end;
};

/* Returns the size in bytes of the block at the start of `text`. The block ends between two samples; within a sample
 * longer than BLOCK_MAX, it ends between two lines. Returns 0 if more text must be read first. Dies if a line is longer
 * than BLOCK_MAX. */
static size_t run_cut_at(const struct reading *reading, struct str text)
{
	size_t border = script_last_border(text);

	if (border || text.n < BLOCK_MAX)
		return border;
	border = (size_t)(str_rfind(text, '\n') + 1);
	if (border == 0)
		die_at((struct place){ reading->in->name, 0 },
		       "a line longer than %zu MB: this is not perf script text", BLOCK_MAX >> 20);
	return border;
}

/* Returns the size in bytes of the last block: all of the text, or, if the input is damaged, only its complete samples.
 */
static size_t cut_at_end(const struct reading *reading, struct str text)
{
	return reading->in->errors ? script_last_border(text) : text.n;
}

static uint64_t run_new_block(struct run *run, uint32_t input)
{
	if (run->nblocks == run->blocks_cap) {
		run->blocks_cap = run->blocks_cap ? run->blocks_cap * 2 : 256;
		run->block = mem_grow(run->block, sizeof(*run->block), run->blocks_cap);
	}
	run->block[run->nblocks] = (struct run_block){ input, 0 };
	return run->nblocks++;
}

static uint32_t run_new_input(struct run *run, const struct in *input)
{
	run->input = mem_grow(run->input, sizeof(*run->input), run->ninputs + 1);
	run->input[run->ninputs] = input->name;
	return run->ninputs++;
}

/* Fills `buffer` with the next block and sets *number to its index in run->block. The block has up to about `want`
 * bytes; more if these bytes contain no boundary. Returns false at the end of the input. The caller holds the lock. */
static bool next_block(struct reading *reading, struct buffer *buffer, size_t want, uint64_t *number)
{
	struct run *run = reading->run;
	size_t cut = 0;

	buffer_space(buffer, want);
	buffer_space(buffer, reading->carry.n);
	buffer->n = reading->carry.n;
	if (buffer->n)
		memcpy(buffer->p, reading->carry.p, buffer->n);
	reading->carry.n = 0;
	while (!cut) {
		while (buffer->n < want && !reading->end) {
			size_t got = in_read(reading->in, buffer->p + buffer->n, want - buffer->n);

			reading->end = got == 0;
			buffer->n += got;
		}
		cut = reading->end ? cut_at_end(reading, (struct str){ buffer->p, buffer->n }) :
				     run_cut_at(reading, (struct str){ buffer->p, buffer->n });
		if (!cut && reading->end)
			return false;
		if (!cut)
			buffer_space(buffer, want *= 2);
	}
	if (reading->end)
		buffer->n = cut;
	buffer_space(&reading->carry, buffer->n - cut);
	if (buffer->n > cut)
		memcpy(reading->carry.p, buffer->p + cut, buffer->n - cut);
	reading->carry.n = buffer->n - cut;
	buffer->n = cut;
	*number = run_new_block(run, reading->input);
	return true;
}

/* Returns true if the event to fold is known, and with a relative --from or --to also the time of the input's first
 * sample: then the threads need no more from each other. */
static bool is_prepared(const struct samples *samples)
{
	return samples->chosen && (samples->has_first || !select_needs_first(&samples->options->select));
}

/* Folds blocks of the input into `script` until the input ends. until_prepared: stop as soon as is_prepared. */
static void fold_blocks(struct reading *reading, struct script *script, bool until_prepared)
{
	struct buffer buffer = { 0 };
	uint64_t number;

	for (;;) {
		bool more;

		pthread_mutex_lock(&reading->lock);
		more = next_block(reading, &buffer, until_prepared ? BLOCK_FIRST : BLOCK, &number);
		pthread_mutex_unlock(&reading->lock);
		if (!more)
			break;
		script_block(script, (struct str){ buffer.p, buffer.n }, number);
		pthread_mutex_lock(&reading->lock);
		reading->run->block[number].lines = script->line;
		pthread_mutex_unlock(&reading->lock);
		if (until_prepared && is_prepared(&script->samples))
			break;
	}
	free(buffer.p);
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

/* Folds the rest of an input with run->threads threads, including the calling thread. */
static void fold_in_threads(struct reading *reading)
{
	struct run *run = reading->run;
	unsigned n = run->threads - 1, started = 0;
	struct job *job = mem_alloc(sizeof(*job), n);

	if (!run->worker) {
		mem_keep();
		run->worker = mem_alloc(sizeof(*run->worker), n);
		for (unsigned i = 0; i < n; i++)
			script_fork(&run->worker[i], &run->script);
	}
	for (; started < n; started++) {
		samples_set_first(&run->worker[started].samples, &run->script.samples);
		job[started] = (struct job){ .reading = reading, .script = &run->worker[started] };
		if (pthread_create(&job[started].thread, NULL, run_work, &job[started]) != 0)
			/* If a thread cannot be started, the other threads do its work. */
			break;
	}
	fold_blocks(reading, &run->script, false);
	for (unsigned i = 0; i < started; i++)
		pthread_join(job[i].thread, NULL);
	free(job);
}

void run_init(struct run *run, const struct samples_options *options, unsigned threads)
{
	*run = (struct run){ .threads = threads };
	script_init(&run->script, options);
}

void run_script(struct run *run, struct in *input)
{
	struct reading reading = { .run = run, .in = input, .input = run_new_input(run, input) };

	pthread_mutex_init(&reading.lock, NULL);
	run->script.samples.has_first = false;
	if (!is_prepared(&run->script.samples))
		fold_blocks(&reading, &run->script, true);
	if (run->threads > 1 && !reading.end)
		fold_in_threads(&reading);
	else
		fold_blocks(&reading, &run->script, false);
	pthread_mutex_destroy(&reading.lock);
	free(reading.carry.p);
}

void run_foreign(struct run *run, struct in *input)
{
	enum foreign_kind kind = foreign_kind(in_peek(input, FOREIGN_HEAD));
	uint64_t block = run_new_block(run, run_new_input(run, input));
	struct foreignreader reader;
	struct str line;
	uint64_t cut;

	run->script.samples.has_first = false;
	foreignreader_begin(&reader, kind, &run->script.samples, block);
	while (in_line(input, &line))
		foreignreader_line(&reader, line, input->line);
	cut = foreignreader_end(&reader);
	if (cut)
		warn("%s: %llu stacks are longer than jfr printed them: jfr print --stack-depth 64 prints them in full",
		     input->name, (unsigned long long)cut);
	run->block[block].lines = input->line;
}

void run_end(struct run *run)
{
	for (unsigned i = 0; run->worker && i < run->threads - 1; i++) {
		samples_merge(&run->script.samples, &run->worker[i].samples);
		script_free(&run->worker[i]);
	}
	free(run->worker);
	run->worker = NULL;
}

struct place run_place(const struct run *run, uint64_t block, uint64_t line)
{
	uint32_t input = run->block[block].input;

	while (block > 0 && run->block[block - 1].input == input)
		line += run->block[--block].lines;
	return (struct place){ run->input[input], line };
}

void run_free(struct run *run)
{
	script_free(&run->script);
	free(run->block);
	free(run->input);
}
