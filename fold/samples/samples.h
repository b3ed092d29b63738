/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.h - samples are added to a call tree: comm and frames in, one node and a weight out.
 *
 * Where a sample is read from is not known here. It is opened with what its header says, gets its frames one by one,
 * the leaf first, and is closed; events, selection, first frames, counts and the options that change stacks are dealt
 * with on the way. Frames are only noted until the sample is closed; then all are looked up together. Several threads
 * each have a struct samples of their own; samples_merge adds them up, and what comes out does not depend on who did
 * what.
 */
#ifndef PJ_SAMPLES_H
#define PJ_SAMPLES_H

#include "fold/samples/samplekey.h"
#include "fold/samples/linecache.h"
#include "fold/samples/select.h"
#include "fold/samples/suffixcache.h"

enum samples_comm { COMM_KEEP, COMM_NONE, COMM_CANONICAL };
enum samples_weight { WEIGHT_DEFAULT, WEIGHT_SAMPLES, WEIGHT_PERIOD };

/* What the user asked for; constant while threads run. */
struct samples_options {
	struct names names; /* options of it only */
	struct select select;
	enum samples_comm comm;
	enum samples_weight weight;
	bool times;    /* first and last time are wanted */
	bool counts;   /* column 1 of the stacks counts samples, whatever column 0 weighs */
	bool pid, tid; /* label the first frame comm-PID, comm-PID/TID */
	bool srcline;  /* add file:line where there is one */
	bool collapse_recursion;
	struct str *skip_after; /* names of frames whose callers are dropped */
	size_t nskip_after;
};

/* One event of the input. */
struct samples_event {
	struct str name;
	uint64_t samples; /* all, whatever was selected */
	uint64_t period;
};

/* A line that was not understood. block orders blocks of the whole run, line counts from 1 in its block. */
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
	uint64_t lost;              /* as the text says (--show-lost-events); 0: nothing was lost, or it is not told */
	uint64_t with_pid;          /* samples whose header names a process id */
	uint64_t deferred;          /* deferred callchains that belong to no sample */
	uint64_t skipped;           /* lines that were not understood */
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
	uint32_t latest; /* event of the sample before: most often that of the next */
	/* One event is counted: the first that was seen and selected. */
	bool chosen;
	struct str preferred; /* counted when none was selected; empty: the first */
	struct str event_key;
	struct str event_name;      /* as it was first seen */
	struct str host, frequency; /* what comments of --header tell */
	uint64_t first_ns;          /* of the first sample of the input */
	bool has_first;
	struct arena text;
	/* the open sample */
	struct samples_open {
		enum samples_state state;
		uint32_t root;
		uint64_t weight;
		struct str last; /* tail of the last frame line */
	} sample;
	struct line_ref *ref; /* frame lines of the open sample that are not looked up yet */
	size_t nrefs, refs_cap;
	uint32_t *frame; /* of the open sample, innermost first */
	size_t nframes, frames_cap;
	size_t last_frame; /* where those of the last line begin */
	uint8_t *skip;     /* by frame id: 1 skip-after, 2 not, 0 not looked at */
	size_t skip_cap;
	struct samples_root *roots; /* cache: header's label -> first node */
	struct samples_root *root;  /* of the open sample; NULL: not cached */
	struct suffixcache suffixes;
	bool share;      /* may samples share their tails? */
	uint64_t serial; /* of the open sample */
	bool regular;    /* the open sample has had nothing but frames behind TABs */
	uint32_t shared; /* lines of the open sample that are those of the sample before */
	uint64_t block;  /* of the text that samples come from now */
};

/* For qsort of struct samples_event: the most frequent first, then by name. */
int samples_event_cmp(const void *left, const void *right);

void samples_init(struct samples *samples, const struct samples_options *options);

/* A sample begins; key only lives during the call. It may be ignored: see sample.state. */
void samples_open(struct samples *samples, const struct sample_key *key);

/* The next frame of the open sample: tail as linecache.h says, address in hex. Both must stay until the sample is
 * closed. start: where the line begins, NULL when it is none that may be shared. */
void samples_frame(struct samples *samples, struct str frame_text, struct str address, const char *start);

/* The next frame of the open sample, as an id of the caller's own: what such ids are, samples need not know as long as
 * no option looks at names. Not to be mixed with samples_frame. */
void samples_push(struct samples *samples, uint32_t id);

/* Puts the open sample aside, before frames were pushed, and takes it up again. */
struct samples_open samples_suspend(struct samples *samples);
void samples_resume(struct samples *samples, struct samples_open sample);

/* The sample of the open one's thread that was closed last; NULL when threads are not told apart. */
const struct suffix_sample *samples_before(const struct samples *samples);

/* What was only noted becomes frames now. */
void samples_look_up(struct samples *samples);

/* The last frame, which was looked up, is frame. */
void samples_rename_last(struct samples *samples, struct names_frame frame);

/* end: of the sample's text, when it may serve as a tail of the next one; else NULL. */
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
