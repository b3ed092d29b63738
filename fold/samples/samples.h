/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.h - adds samples to a call tree: the weight of each sample goes to the node of its stack.
 *
 * The module does not depend on the input format. The reader opens a sample with its key, pushes the ids of its frames,
 * leaf first, and closes it. This module chooses the event to count, applies the selection (select.h), adds the first
 * frame and counts samples. textstacks.h turns lines of text into frames. Each worker thread has its own struct
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

/* Text of the first frame. COMM_KEEP: the comm as recorded. COMM_NONE: there is no first frame. COMM_CANONICAL: the
 * comm without a number at its end, by which threads of a pool differ. */
enum samples_comm { COMM_KEEP, COMM_NONE, COMM_CANONICAL };
/* Weight of a sample. WEIGHT_DEFAULT: its period if the event is off-CPU time or allocations (samplekey_has_weights),
 * otherwise as WEIGHT_SAMPLES. WEIGHT_SAMPLES: the number of equal samples that the sample represents. WEIGHT_PERIOD:
 * its period. */
enum samples_weight { WEIGHT_DEFAULT, WEIGHT_SAMPLES, WEIGHT_PERIOD };

/* Options of the user; constant while threads run. */
struct samples_options {
	/* Options for names of frames; copied into each struct samples. */
	struct names names;
	struct select select;
	enum samples_comm comm;
	enum samples_weight weight;
	/* True: record the times of the first and last sample. */
	bool times;
	/* True: count samples in column 1 of the call tree; column 0 has the weights. */
	bool counts;
	/* Text of the first frame: comm-PID if only `pid` is true, comm-PID/TID if `tid` is true, otherwise comm. */
	bool pid, tid;
	/* True: append file:line to frames if the input has it, as perf script text or a window of pjrecord may. */
	bool srcline;
	bool collapse_recursion;
	/* Names of frames whose callers are left out of the stack. */
	struct str *skip_after;
	size_t nskip_after;
};

/* An event of the input, with the number and periods of its samples. */
struct samples_event {
	struct str name;
	/* Properties of `name`, computed once: key is samplekey_event_key(name), leaf is waitreason_leaf(name), weighs
	 * is samplekey_has_weights(name). */
	struct str key, leaf;
	bool weighs;
	uint64_t samples; /* number of all samples of the event, selected or not */
	uint64_t period;  /* sum of the periods of all samples of the event, in the event's unit */
};

/* A line that could not be parsed. block: number of its block of text in the run; line: number of the line in the
 * block, from 1; text: start of the line, NUL-terminated. */
struct samples_place {
	uint64_t block, line;
	char text[64];
};

/* maximum number of unparsable lines that are stored; further unparsable lines are only counted */
#define SAMPLES_PLACES 3

/* Numbers of samples and of losses. */
struct samples_tally {
	uint64_t samples;        /* number of samples added to the tree: selected samples of the chosen event */
	uint64_t deselected;     /* number of samples of the chosen event that --only or --from/--to exclude */
	uint64_t without_frames; /* number of samples added to the tree without any frame */
	uint64_t deep;           /* number of samples added to the tree with more than one frame */
	/* frames: number of frames of the samples in the tree. unresolved: number of these frames that have no name. */
	uint64_t frames, unresolved;
	uint64_t lost;     /* number of lost samples that the input reports; 0: none, or not reported */
	uint64_t with_pid; /* number of samples with a process id, selected or not */
	uint64_t deferred; /* number of deferred callchains in perf script text, which belong to no sample */
	uint64_t skipped;  /* number of lines that could not be parsed */
	/* earliest and latest time of samples in the tree, in ns on the recording's clock; no times if first_ns >
	 * last_ns */
	uint64_t first_ns, last_ns;
	struct samples_place place[SAMPLES_PLACES]; /* positions of the first lines that could not be parsed */
	bool overflow;                              /* true if a sum of weights did not fit into 63 bits */
};

/* State of struct samples. SAMPLE_NONE: no sample is open. SAMPLE_OPEN: a sample is open. SAMPLE_IGNORED: a sample is
 * open that will not be added to the tree. */
enum samples_state { SAMPLE_NONE, SAMPLE_OPEN, SAMPLE_IGNORED };

/* Entry of a cache: node of the first frame, for samples with the header text `label`. `label` is the header up to the
 * tid or, in a header without tid, the comm. */
struct samples_root {
	uint64_t number; /* serial number of this entry's last assignment, unique in a struct samples */
	uint32_t node;
	uint8_t n; /* length of `label`; 0: the entry is empty */
	char label[59];
};

#define SAMPLES_ROOTS 1024u /* number of entries in the cache of first frames */

/* The samples of one worker thread: its call tree, and numbers of samples. */
struct samples {
	const struct samples_options *options;
	struct stacks stacks;
	struct names names;
	struct samples_tally tally;
	/* the events of the input, nevents; index: id of the name in event_names, minus 1 */
	struct samples_event *event;
	struct intern event_names;
	uint32_t nevents, events_cap;
	uint32_t latest; /* index of the last sample's event; the next sample mostly has the same event */
	/* True after the event was chosen whose samples are added to the tree: the first event in the input that the
	 * user selects or, if the user selects none, the first with the key `preferred`. */
	bool chosen;
	struct str preferred;       /* key of the event to choose if the user selects none; empty: any event */
	struct str event_key;       /* key of the chosen event, samplekey_event_key */
	struct str event_name;      /* name of the chosen event, as in its first sample */
	struct str host, frequency; /* host and sampling frequency, as the input has them; empty: unknown */
	/* time in ns, on the recording's clock, of the first sample of the input that has a time; valid if has_first is
	 * true */
	uint64_t first_ns;
	bool has_first;
	struct arena text;
	/* The open sample: node of its first frame, weight, and number of equal samples that it represents. */
	struct samples_open {
		enum samples_state state;
		uint32_t root;
		uint64_t weight, count;
		uint32_t leaf; /* id of the leaf frame that a wall-clock profile adds (waitreason.h); 0: none */
	} sample;
	/* true if frame ids are location ids, so that reasons of waits are found later (nametree.h); false if they are
	 * names */
	bool locations;
	uint32_t *frame; /* frame ids of the open sample, leaf first */
	size_t nframes, frames_cap;
	/* Cache of the nodes of first frames, by the header's text up to the tid; SAMPLES_ROOTS entries; NULL before
	 * the first sample. */
	struct samples_root *roots;
	struct samples_root *root; /* cache entry of the open sample, or NULL */
	uint64_t nroots;           /* number of assignments of cache entries so far */
};

/* Compares two struct samples_event for qsort: by descending number of samples, then by name. */
int samples_event_cmp(const void *left, const void *right);

/* Initializes *samples; the caller frees it by samples_free. *options must outlive *samples. */
void samples_init(struct samples *samples, const struct samples_options *options);

/* Opens a sample, and adds it to the number of samples and the sum of periods of its event. Sets sample.state to
 * SAMPLE_OPEN, or to SAMPLE_IGNORED if the event or the sample is not selected. *key is not used after the call. */
void samples_open(struct samples *samples, const struct sample_key *key);

/* Makes space for more frames; samples_push calls it. */
void samples_grow(struct samples *samples);

/* Pushes the next frame of the open sample, leaf first; id: frame id. All ids in one struct samples come from
 * stacks_frame, or all are numbers of the caller (location ids, for perf.data). */
static inline void samples_push(struct samples *samples, uint32_t id)
{
	if (unlikely(samples->nframes == samples->frames_cap))
		samples_grow(samples);
	samples->frame[samples->nframes++] = id;
}

/* Closes the open sample without adding it to the tree, and returns its state for samples_resume. The caller must have
 * stored the frames of the sample. */
struct samples_open samples_suspend(struct samples *samples);
/* Reopens a suspended sample, without frames: the caller pushes them again. */
void samples_resume(struct samples *samples, struct samples_open sample);

/* Adds the open sample with its frames to the tree, unless its state is SAMPLE_IGNORED, and closes it; does nothing if
 * no sample is open. */
void samples_close(struct samples *samples);

/* Closes the open sample for a caller that has added its stack to the tree: adds the weight to `node`, the node of the
 * leaf frame. `frames` is the number of frames of the stack. */
void samples_close_at(struct samples *samples, uint32_t node, uint64_t frames);

/* Initializes *worker for another thread, with the chosen event and the first time of *samples. *samples must outlive
 * *worker. The caller frees *worker by samples_free. */
void samples_fork(struct samples *worker, const struct samples *samples);

/* Sets the time of the input's first sample of a worker to that of *samples, so that the result does not depend on the
 * threads. To be called for each input. */
void samples_set_first(struct samples *worker, const struct samples *samples);

/* Adds the counters, the time range and the list of events of *worker to those of *samples, but not the stacks. If
 * *samples has no chosen event, it gets the chosen event of *worker. */
void samples_merge_counts(struct samples *samples, const struct samples *worker);

/* Adds the numbers of samples, the events and the stacks of *worker to *samples. */
void samples_merge(struct samples *samples, const struct samples *worker);

/* Returns true if samples of this event are added to the tree: the event is the chosen event, or has the key of the
 * chosen event (other cores of a hybrid CPU). Returns false for other events, or if no event is chosen yet. */
bool samples_counts(const struct samples *samples, struct str event);

/* Returns the unit of the weights: "samples", "ns", "bytes", the name of the event without modifiers, or "periods" if
 * the event has no name. */
struct str samples_unit(const struct samples *samples, enum samples_weight weight);

/* Returns the name of the chosen event; empty if the input names none. If both cpu_core/x/ and cpu_atom/x/ are in the
 * tree, the name is "x/". */
struct str samples_event_name(const struct samples *samples);

/* Counts a line that could not be parsed. The first SAMPLES_PLACES lines are stored with the number of their block and
 * their number in it, from 1. */
void samples_skip(struct samples *samples, struct str line, uint64_t block, uint64_t number);

void samples_free(struct samples *samples);

#endif
