/*
 * perfscript.h - `perf script` text becomes a call tree.
 *
 * The text is fed in blocks that begin and end at borders of samples, so that several threads can each fold their share. A
 * struct script is one thread's work: its own tree, caches and counts; script_merge adds them up, and what comes out does not
 * depend on who did what. Lines are told apart by their place (a sample is a header, then frames, then an empty line) and
 * by what cannot be mistaken: a TAB starts a frame, a time or event makes a header.
 */
#ifndef PJ_PERFSCRIPT_H
#define PJ_PERFSCRIPT_H

#include "header.h"
#include "lines.h"
#include "select.h"
#include "tails.h"

enum script_comm { COMM_KEEP, COMM_NONE, COMM_CANONICAL };
enum script_weight { WEIGHT_DEFAULT, WEIGHT_SAMPLES, WEIGHT_PERIOD };

/* What the user asked for; constant while threads run. */
struct script_options {
	struct names names; /* options of it only */
	struct select select;
	enum script_comm comm;
	enum script_weight weight;
	bool times;         /* first and last time are wanted */
	bool pid, tid;      /* label the first frame comm-PID, comm-PID/TID */
	bool srcline;       /* add file:line where there is one */
	bool collapse_recursion;
	struct str *skip_after; /* names of frames whose callers are dropped */
	size_t nskip_after;
};

/* One event of the input. */
struct script_event {
	struct str name;
	uint64_t samples; /* all, whatever was selected */
	uint64_t period;
};

/* A line that was not understood. block orders blocks of the whole run, line counts from 1 in its block. */
struct script_place {
	uint64_t block, line;
	char text[64];
};

#define SCRIPT_PLACES 3

struct script_tally {
	uint64_t samples;    /* counted, of the chosen event */
	uint64_t deselected; /* samples of the chosen event that --only or --from/--to left out */
	uint64_t bare;       /* counted samples without a callchain */
	uint64_t deep;       /* counted samples of more than one frame */
	uint64_t frames, unresolved;
	uint64_t lost;       /* as the text says (--show-lost-events) */
	uint64_t records;    /* PERF_RECORD_* lines */
	uint64_t deferred;   /* deferred callchains that belong to no sample */
	uint64_t skipped;    /* lines that were not understood */
	uint64_t first_ns, last_ns; /* time of counted samples; first_ns > last_ns: none had one */
	struct script_place place[SCRIPT_PLACES]; /* the first that were skipped */
	bool overflow;       /* the weights do not fit into 63 bits */
};

struct script {
	const struct script_options *options;
	struct stacks stacks;
	struct names names;
	struct lines lines;
	struct script_tally tally;
	struct script_event *event;
	uint32_t nevents;
	/* One event is counted: the first that was seen and selected. */
	bool chosen;
	struct str event_key;
	struct str event_name; /* as it was first seen */
	struct str host, frequency; /* what comments of --header tell */
	uint64_t first_ns;   /* of the first sample of the input */
	bool has_first;
	struct arena text;
	/* the open sample */
	struct script_sample {
		enum { SAMPLE_NONE, SAMPLE_OPEN, SAMPLE_WEAK, SAMPLE_IGNORED } state;
		uint32_t root;
		uint64_t weight;
		struct str last;      /* tail of the last frame line */
		struct header weak;   /* SAMPLE_WEAK: counts only if frames follow */
		struct str weak_line;
		uint64_t weak_number;
	} sample;
	struct line_ref *ref;    /* frame lines of the open sample that are not looked up yet */
	size_t nrefs, refs_cap;
	uint32_t *frame;         /* of the open sample, innermost first */
	size_t nframes, frames_cap;
	size_t last_frame;       /* where those of the last line begin */
	uint8_t *skip;           /* by frame id: 1 skip-after, 2 not, 0 not looked at */
	size_t skip_cap;
	struct script_root *roots; /* cache: header's label -> first node */
	struct script_root *root;  /* of the open sample; NULL: not cached */
	struct tails tails;
	bool share, share_here;    /* may samples share their tails, ever, and in this block? */
	uint64_t serial;           /* of the open sample */
	bool regular;              /* the open sample has had nothing but frames behind TABs */
	uint32_t shared;           /* lines of the open sample that are those of the sample before */
	uint64_t block, line;
};

void script_init(struct script *p, const struct script_options *o);

/* Folds text, which begins and ends at a border. block: its number in the run, for places. */
void script_block(struct script *p, struct str text, uint64_t block);

/* A worker that continues where `of` decided (event, first time). */
void script_fork(struct script *worker, const struct script *of);

void script_merge(struct script *p, const struct script *worker);

/* What the weights count: "samples", "ns" or an event. */
struct str script_unit(const struct script *p, enum script_weight weight);

struct str script_event_name(const struct script *p); /* empty when the text names none */

/* Last border in text: everything before it is whole samples. 0 when there is none. */
size_t script_last_border(struct str text);

/* Is line the start of a sample or frame, as far as one line can tell? */
bool script_looks_like(struct str line);

void script_free(struct script *p);

#endif
