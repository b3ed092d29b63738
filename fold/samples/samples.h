/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.h - adds samples to a call tree: comm and frame ids in, one node and a weight out.
 *
 * The module does not depend on the input format. The reader opens a sample with its key, pushes the ids of its
 * frames, leaf first, and closes it; this module applies the choice of the event, the selection, first frames and
 * counts. textstacks.h turns lines of text into frames. Each thread has its own struct samples; samples_merge adds
 * them up, and the result does not depend on the distribution of work.
 *
 *	samples_open(&samples, &key);
 *	for (...)
 *		samples_push(&samples, frame);
 *	samples_close(&samples);
 */
#ifndef PJ_SAMPLES_H
#define PJ_SAMPLES_H

#include "common/stacks.h"
#include "fold/names/names.h"
#include "fold/samples/samplekey.h"
#include "fold/samples/select.h"

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

/* Cache entry: the first node of samples whose headers begin with the same bytes. */
struct samples_root {
	uint64_t number; /* of the present use of the entry */
	uint32_t node;
	uint8_t n; /* 0: empty */
	char label[59];
};

#define SAMPLES_ROOTS 1024u

/* One thread's work: its own tree and counts. */
struct samples {
	const struct samples_options *options;
	struct stacks stacks;
	struct names names;
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
		uint64_t weight, count;
	} sample;
	uint32_t *frame; /* of the open sample, innermost first */
	size_t nframes, frames_cap;
	/* Cache: text of a header up to the tid -> first node; and its entry for the open sample, or NULL. */
	struct samples_root *roots;
	struct samples_root *root;
	uint64_t nroots; /* number of the latest entry */
};

/* Compares for qsort: the most frequent event first, then by name. */
int samples_event_cmp(const void *left, const void *right);

/* Prepares *samples, which samples_free frees. *options must outlive it. */
void samples_init(struct samples *samples, const struct samples_options *options);

/* Opens a sample. key is needed during the call only. The sample is ignored if it is not selected: see sample.state. */
void samples_open(struct samples *samples, const struct sample_key *key);

/* Pushes the next frame of the open sample, leaf first: an id of stacks_frame, or, for all samples, ids of the caller's
 * (locations, for perf.data). */
void samples_push(struct samples *samples, uint32_t id);

/* Suspends the open sample before frames are pushed; and reopens it. */
struct samples_open samples_suspend(struct samples *samples);
void samples_resume(struct samples *samples, struct samples_open sample);

/* Adds the open sample with its frames to the tree, and closes it; does nothing if no sample is open. */
void samples_close(struct samples *samples);

/* As samples_close, for a caller that has added the nodes itself: `node` is that of the leaf of `frames` frames. */
void samples_close_at(struct samples *samples, uint32_t node, uint64_t frames);

/* Prepares *worker, which samples_free frees, with the event and first time of `samples`. */
void samples_fork(struct samples *worker, const struct samples *samples);

/* Adds the counts and events of worker, without its stacks. If samples has not chosen an event, it takes that of
 * worker. */
void samples_merge_counts(struct samples *samples, const struct samples *worker);

/* Adds the counts, events and stacks of worker. */
void samples_merge(struct samples *samples, const struct samples *worker);

/* Returns true if samples of this event are counted: one was chosen, and it is that, or its like on a hybrid CPU. */
bool samples_counts(const struct samples *samples, struct str event);

/* Returns the unit of the weights: "samples", "ns" or an event. */
struct str samples_unit(const struct samples *samples, enum samples_weight weight);

/* Returns the name of the chosen event; empty if the input names none. That of cpu_core/x/ and cpu_atom/x/, if both are
 * counted, is x/. */
struct str samples_event_name(const struct samples *samples);

/* Counts a line that could not be parsed: the first ones are stored with their place. */
void samples_skip(struct samples *samples, struct str line, uint64_t block, uint64_t number);

void samples_free(struct samples *samples);

#endif
