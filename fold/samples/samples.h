/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.h - adds samples to a call tree: comm and frames in, one node and a weight out.
 *
 * The module does not depend on the input format. The reader opens a sample with its key, pushes its frames, leaf
 * first, and closes it; this module applies the choice of the event, the selection, first frames, counts and the
 * options that change stacks. Frame lines are only collected until the sample is closed, then all are looked up
 * together. Each thread has its own struct samples; samples_merge adds them up, and the result does not depend on
 * the distribution of work.
 *
 *	samples_open(&samples, &key);
 *	for (...)
 *		samples_frame(&samples, STR("main+0x1a (/bin/x)"), STR("401136"), line);
 *	samples_close(&samples, end_of_text);
 */
#ifndef PJ_SAMPLES_H
#define PJ_SAMPLES_H

#include "fold/samples/samplekey.h"
#include "fold/samples/linecache.h"
#include "fold/samples/select.h"
#include "fold/samples/suffixcache.h"

enum samples_comm { COMM_KEEP, COMM_NONE, COMM_CANONICAL };
enum samples_weight { WEIGHT_DEFAULT, WEIGHT_SAMPLES, WEIGHT_PERIOD };

/* Options of the user; constant while threads run. */
struct samples_options {
	/* Only its options are used. */
	struct names names;
	struct select select;
	enum samples_comm comm;
	enum samples_weight weight;
	/* Record the times of the first and last sample. */
	bool times;
	/* Column 1 of the stacks counts samples, whatever column 0 weighs. */
	bool counts;
	/* Label the first frame comm-PID, or comm-PID/TID. */
	bool pid, tid;
	/* Add file:line to frames that have it. */
	bool srcline;
	bool collapse_recursion;
	/* Names of frames whose callers are dropped. */
	struct str *skip_after;
	size_t nskip_after;
};

/* One event of the input. */
struct samples_event {
	struct str name;
	uint64_t samples; /* all, selected or not */
	uint64_t period;
};

/* A line that could not be parsed. `block` orders the blocks of the run, `line` counts from 1 in its block. */
struct samples_place {
	uint64_t block, line;
	char text[64];
};

#define SAMPLES_PLACES 3

struct samples_tally {
	uint64_t samples;    /* counted, of the chosen event */
	uint64_t deselected; /* samples of the chosen event that --only or --from/--to left out */
	uint64_t fp;         /* counted samples without a callchain */
	uint64_t deep;       /* counted samples of more than one frame */
	uint64_t frames, unresolved;
	uint64_t lost;              /* lost samples by the text (--show-lost-events); 0: none, or not printed */
	uint64_t with_pid;          /* samples whose header names a process id */
	uint64_t deferred;          /* deferred callchains that belong to no sample */
	uint64_t skipped;           /* lines that could not be parsed */
	uint64_t first_ns, last_ns; /* time of counted samples; first_ns > last_ns: none had one */
	struct samples_place place[SAMPLES_PLACES]; /* the first that were skipped */
	bool overflow;                              /* the weights do not fit into 63 bits */
};

enum samples_state { SAMPLE_NONE, SAMPLE_OPEN, SAMPLE_IGNORED };

/* One thread's work: its own tree, caches and counts. */
struct samples {
	const struct samples_options *options;
	struct stacks stacks;
	struct names names;
	struct linecache lines;
	struct samples_tally tally;
	struct samples_event *event; /* by id of its name - 1 */
	struct intern event_names;
	uint32_t nevents, events_cap;
	uint32_t latest; /* event of the last sample: mostly also that of the next */
	/* One event is counted: the first selected one. */
	bool chosen;
	struct str preferred; /* event to count if the user selects none; empty: the first */
	struct str event_key;
	struct str event_name;      /* as in the first sample */
	struct str host, frequency; /* from the comments of perf script --header */
	uint64_t first_ns;          /* of the first sample of the input */
	bool has_first;
	struct arena text;
	/* the open sample */
	struct samples_open {
		enum samples_state state;
		uint32_t root;
		uint64_t weight;
		struct str last; /* text of the last frame line after its address */
	} sample;
	/* Frame lines of the open sample before their lookup. */
	struct line_ref *ref;
	size_t nrefs, refs_cap;
	uint32_t *frame; /* of the open sample, innermost first */
	size_t nframes, frames_cap;
	size_t last_frame; /* index of the first frame of the last line */
	uint8_t *skip;     /* by frame id: 1 --skip-after, 2 not, 0 not decided */
	size_t skip_cap;
	/* Cache: text of a header up to the tid -> first node; and its entry for the open sample, or NULL. */
	struct samples_root *roots;
	struct samples_root *root;
	struct suffixcache suffixes;
	bool share;      /* samples may share their last lines (suffixcache.h) */
	uint64_t serial; /* of the open sample */
	bool regular;    /* all lines of the open sample so far are frames after a TAB */
	uint32_t shared; /* last lines of the open sample that equal those of the sample before */
	uint64_t block;  /* current block of text */
};

/* Compares for qsort: the most frequent event first, then by name. */
int samples_event_cmp(const void *left, const void *right);

void samples_init(struct samples *samples, const struct samples_options *options);

/* Opens a sample. key is needed during the call only. The sample is ignored if it is not selected: see sample.state. */
void samples_open(struct samples *samples, const struct sample_key *key);

/* Pushes the next frame of the open sample: frame_text as in linecache.h, address in hex. Both must stay until the
 * sample is closed. `start`: the start of its line, or NULL if the line cannot be shared. */
void samples_frame(struct samples *samples, struct str frame_text, struct str address, const char *start);

/* Pushes the next frame as an id of the caller's (a location, for perf.data); options that compare names must be off. A
 * sample uses this or samples_frame, not both. */
void samples_push(struct samples *samples, uint32_t id);

/* Suspends the open sample before frames are pushed; and reopens it. */
struct samples_open samples_suspend(struct samples *samples);
void samples_resume(struct samples *samples, struct samples_open sample);

/* Returns the last closed sample of the open one's thread; NULL if headers do not identify threads. */
const struct suffix_sample *samples_before(const struct samples *samples);

/* Looks up the collected frame lines now. */
void samples_look_up(struct samples *samples);

/* Replaces the last frame, which has been looked up. */
void samples_rename_last(struct samples *samples, struct names_frame frame);

/* Closes the sample and adds it to the tree. `end`: the end of its text if the next sample may share its last lines;
 * otherwise NULL. */
void samples_close(struct samples *samples, const char *end);

/* A line of the block was not understood. */
void samples_skip(struct samples *samples, struct str line, uint64_t number);

/* A worker that continues where `of` decided (event, first time). */
void samples_fork(struct samples *worker, const struct samples *samples);

/* The counts and events of worker, without its stacks. When samples has not chosen an event, that of worker is it. */
void samples_merge_counts(struct samples *samples, const struct samples *worker);

void samples_merge(struct samples *samples, const struct samples *worker);

/* What the weights count: "samples", "ns" or an event. */
struct str samples_unit(const struct samples *samples, enum samples_weight weight);

struct str samples_event_name(const struct samples *samples); /* empty when the text names none */

void samples_free(struct samples *samples);

#endif
