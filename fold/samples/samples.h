/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.h - adds samples to a call tree: the weight of a sample is added to the node of its stack.
 *
 * The module does not depend on the input format. The reader opens a sample with its key, pushes the ids of its
 * frames, leaf first, and closes it. This module chooses the event to count, applies the selection (select.h), adds the
 * first frame and counts samples. textstacks.h turns lines of text into frames. Each worker thread has its own struct
 * samples; samples_merge adds them up, and the result does not depend on the distribution of work.
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

/* First frame: the comm as recorded, no first frame, or the comm without a number at its end that distinguishes
 * threads. */
enum samples_comm { COMM_KEEP, COMM_NONE, COMM_CANONICAL };
/* Weight of a sample: its number of equal samples, its period, or the default for its event. */
enum samples_weight { WEIGHT_DEFAULT, WEIGHT_SAMPLES, WEIGHT_PERIOD };

/* Options of the user; constant while threads run. */
struct samples_options {
	/* Options for names of frames; copied into each struct samples. */
	struct names names;
	struct select select;
	enum samples_comm comm;
	enum samples_weight weight;
	/* Record the times of the first and last sample. */
	bool times;
	/* Count samples in column 1 of the call tree; column 0 has the weights. */
	bool counts;
	/* Text of the first frame: comm-PID with `pid`, comm-PID/TID with `tid`. */
	bool pid, tid;
	/* Append file:line to frames for which the input has it: perf script text, or windows of pjrecord. */
	bool srcline;
	bool collapse_recursion;
	/* Names of frames whose callers are left out of the stack. */
	struct str *skip_after;
	size_t nskip_after;
};

/* One event of the input, with its numbers of samples. */
struct samples_event {
	struct str name;
	uint64_t samples; /* number of all samples of the event, selected or not */
	uint64_t period;  /* sum of their periods */
};

/* A line that could not be parsed: number of its block of text in the run, number of the line in that block (from 1),
 * and the start of its text, NUL-terminated. */
struct samples_place {
	uint64_t block, line;
	char text[64];
};

#define SAMPLES_PLACES 3 /* maximum number of lines whose place is stored */

/* Numbers of samples and of losses. */
struct samples_tally {
	uint64_t samples;            /* counted samples: of the chosen event, and selected */
	uint64_t deselected;         /* samples of the chosen event that --only or --from/--to left out */
	uint64_t without_frames;     /* counted samples without any frame */
	uint64_t deep;               /* counted samples with more than one frame */
	uint64_t frames, unresolved; /* frames of counted samples, and those of them without a name */
	uint64_t lost;               /* lost samples that the input reports; 0: none, or not reported */
	uint64_t with_pid;           /* samples with a process id, selected or not */
	uint64_t deferred;           /* deferred callchains of perf script text, which belong to no sample */
	uint64_t skipped;            /* lines that could not be parsed */
	uint64_t first_ns, last_ns;  /* earliest and latest time of counted samples; first_ns > last_ns: no times */
	struct samples_place place[SAMPLES_PLACES]; /* the first skipped lines */
	bool overflow;                              /* a sum of weights did not fit into 63 bits */
};

/* State of struct samples: no open sample; an open one; an open one that is not counted. */
enum samples_state { SAMPLE_NONE, SAMPLE_OPEN, SAMPLE_IGNORED };

/* Cache entry: the node of the first frame, for samples whose header lines begin with the same bytes `label`. */
struct samples_root {
	uint64_t number; /* number of the assignment of this entry, unique in its struct samples */
	uint32_t node;
	uint8_t n; /* length of `label`; 0: the entry is empty */
	char label[59];
};

#define SAMPLES_ROOTS 1024u /* number of cache entries */

/* The samples of one worker thread: its call tree and counts. */
struct samples {
	const struct samples_options *options;
	struct stacks stacks;
	struct names names;
	struct samples_tally tally;
	struct samples_event *event; /* the nevents events of the input; index: id of the name in event_names, - 1 */
	struct intern event_names;
	uint32_t nevents, events_cap;
	uint32_t latest; /* index of the last sample's event; the next sample mostly has the same one */
	/* True after the event to count was chosen: the first event that the user selected, or `preferred`. */
	bool chosen;
	struct str preferred;       /* key of the event to count if the user selects none; empty: the first event */
	struct str event_key;       /* key of the chosen event, samplekey_event_key */
	struct str event_name;      /* name of the chosen event in its first sample */
	struct str host, frequency; /* host and sampling frequency, as the input has them; empty: unknown */
	uint64_t first_ns;          /* time of the first sample of the input that has one; valid if has_first is set */
	bool has_first;
	struct arena text;
	/* The open sample: node of its first frame, weight, and number of equal samples that it stands for. */
	struct samples_open {
		enum samples_state state;
		uint32_t root;
		uint64_t weight, count;
		uint32_t leaf; /* frame that a wall-clock profile adds to the stack (waitreason.h); 0: none */
	} sample;
	bool locations;  /* true: frames are locations, so reasons of waits are found later (nametree.h) */
	uint32_t *frame; /* frame ids of the open sample, leaf first */
	size_t nframes, frames_cap;
	/* Cache of first frames' nodes by the header's text up to the tid, with SAMPLES_ROOTS entries. */
	struct samples_root *roots;
	struct samples_root *root; /* cache entry of the open sample, or NULL */
	uint64_t nroots;           /* number of assignments of cache entries so far */
};

/* Compares two struct samples_event for qsort: the one with more samples is first; equal ones are ordered by name. */
int samples_event_cmp(const void *left, const void *right);

/* Initializes *samples; the caller frees it by samples_free. *options must outlive *samples. */
void samples_init(struct samples *samples, const struct samples_options *options);

/* Opens a sample and counts it for its event. Sets sample.state to SAMPLE_OPEN, or to SAMPLE_IGNORED if the event or
 * the sample is not selected. *key is not used after the call. */
void samples_open(struct samples *samples, const struct sample_key *key);

/* Pushes the next frame of the open sample, leaf first. All ids of a struct samples are either of stacks_frame, or
 * numbers of the caller (location ids, for perf.data). */
void samples_push(struct samples *samples, uint32_t id);

/* Closes the open sample without counting it and returns it, for samples_resume. The caller must have stored its
 * frames.
 */
struct samples_open samples_suspend(struct samples *samples);
/* Reopens a suspended sample, without frames: the caller pushes them again. */
void samples_resume(struct samples *samples, struct samples_open sample);

/* Adds the open sample with its frames to the tree, and closes it; does nothing if no sample is open. */
void samples_close(struct samples *samples);

/* Closes the open sample for a caller that has added its stack to the tree: adds the weight to `node`, the node of the
 * leaf frame. `frames` is the number of frames of the stack. */
void samples_close_at(struct samples *samples, uint32_t node, uint64_t frames);

/* Initializes *worker for another thread, with the chosen event and the first time of *samples, which must outlive it.
 * The caller frees *worker by samples_free. */
void samples_fork(struct samples *worker, const struct samples *samples);

/* Adds the counts and events of *worker to *samples, without the stacks. If *samples has no chosen event, takes that of
 * *worker. */
void samples_merge_counts(struct samples *samples, const struct samples *worker);

/* Adds the counts, events and stacks of *worker to *samples. */
void samples_merge(struct samples *samples, const struct samples *worker);

/* Returns true if samples of this event are counted: it is the chosen event, or the event with the same key on the
 * other cores of a hybrid CPU. */
bool samples_counts(const struct samples *samples, struct str event);

/* Returns the unit of the weights: "samples", "ns", the name of the event without modifiers, or "periods" if the event
 * has no name. */
struct str samples_unit(const struct samples *samples, enum samples_weight weight);

/* Returns the name of the chosen event; empty if the input names none. If both cpu_core/x/ and cpu_atom/x/ are counted,
 * the name is "x/". */
struct str samples_event_name(const struct samples *samples);

/* Counts a line that could not be parsed. The first SAMPLES_PLACES lines are stored with the number of their block and
 * their number in it, from 1. */
void samples_skip(struct samples *samples, struct str line, uint64_t block, uint64_t number);

void samples_free(struct samples *samples);

#endif
