/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.h - a perf.data file becomes stacks.
 *
 * Three passes over less and less: records become stacks of places in code (locations.h), places become names
 * (resolve.h), and the tree of places becomes the tree of names. Memory grows with distinct stacks. What the recorder
 * lost and what could not be named is counted on the way.
 */
#ifndef PJ_RECORDING_H
#define PJ_RECORDING_H

#include "common/formats/containers.h"
#include "fold/samples/inputerrors.h"
#include "common/filter/in.h"
#include "fold/samples/samples.h"
#include "fold/slices.h"

#define RECORDING_LIMIT 127 /* addresses of a callchain, unless sysctl kernel.perf_event_max_stack says more */

enum recording_root { ROOT_PROCESS, ROOT_THREAD, ROOT_BOTH };

struct recording_options {
	const struct samples_options *samples;
	enum recording_root root;
	bool as_perf, inlined; /* inlined: calls that were inlined are frames, too */
	const char *kallsyms, *symfs;
	const char *saved;     /* DIR of pjrecord; NULL: where the window lies */
	const char *maps;      /* folder of pjmap's timelines; NULL: DIR/maps */
	enum containers_by by; /* not BY_NONE: an outermost frame for each */
	uint64_t slice_ns;     /* not 0: what begins every so many ns has an outermost frame of its own (slices.h) */
	unsigned threads;
};

/* Frames without names of one DSO. */
struct recording_missing {
	struct str dso;
	const char *why;
	uint64_t frames;
};

/* How complete the stacks under one first frame are. */
struct recording_quality {
	struct str name;
	uint64_t samples;
	uint64_t reaches_root;      /* reach where threads begin */
	uint64_t cut;               /* go on outside of what the recorder kept */
	uint64_t unsymbolized_root; /* begin in code without names: perhaps where a thread begins */
	uint64_t single;            /* have one frame of user code */
	uint64_t user;              /* have any */
	uint64_t java;              /* have code of a JVM */
	uint64_t frames, unresolved;
};

/* --inline: files whose places were hit, by what their debug information told. */
struct recording_inlined {
	uint64_t files, without;
	struct input_errors errors; /* files */
};

/* What timelines of JVMs said of addresses in their code. */
struct recording_timelines {
	uint64_t files, sure, likely, ambiguous, unknown;
	uint64_t left_out;          /* pieces of code that pjmap could not read */
	bool newest;                /* the clock of a recording is another one: names are the newest */
	struct input_errors errors; /* files */
};

/* What reading found; sums over several recordings. */
struct recording_tally {
	uint64_t recordings;
	uint64_t lost_records, lost_samples; /* mostly the same losses: of full buffers, and as the kernel counted */
	uint64_t throttled;
	uint64_t garbage;  /* callchains with a mark that is none: what comes before it was used (as_perf: nothing) */
	uint64_t deferred; /* samples whose user half came later, and was not joined */
	uint64_t copy_cut; /* walked stacks that are longer than their copies */
	uint64_t limit_cut, limit;    /* callchains that the kernel cut, and at how many addresses */
	uint64_t methods_left_out;    /* interpreted frames whose method pjrecord had no room for */
	uint64_t event_cut;           /* callchains that are as deep as the event was to have them */
	struct input_errors maps;     /* lines of perf maps */
	uint64_t conflicts;           /* files with a build-id that another kept file has, too */
	struct input_errors jitdumps; /* records, or whole files */
	struct recording_inlined inlined;
	struct recording_timelines timelines;
	struct slices_lost slices; /* --time-slice: losses that have a time */
	const char *kernel;        /* why there were no names of the kernel, or NULL */
	bool damaged, as_perf;
	struct intern missing_keys, quality_keys;
	struct recording_missing *missing; /* by key - 1 */
	struct recording_quality *quality;
	uint32_t depth; /* of the deepest stack */
};

/* Adds all of in to samples and tally. */
void recording_read(const struct recording_options *options, struct in *input, struct samples *samples,
		    struct recording_tally *tally);

void recording_tally_free(struct recording_tally *tally);

#endif
