/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.h - conversion of a perf.data file into a tree of stacks.
 *
 * It has three passes over decreasing amounts of data: records become stacks of locations (locations.h), locations get
 * names (resolve.h), and the tree of locations becomes the tree of names. Memory depends on the number of distinct
 * stacks. Samples that the recorder lost and frames without names are counted.
 */
#ifndef PJ_RECORDING_H
#define PJ_RECORDING_H

#include "common/formats/containers.h"
#include "common/formats/judgement.h"
#include "fold/samples/inputerrors.h"
#include "common/filter/in.h"
#include "fold/samples/samples.h"
#include "fold/slices.h"

/* Maximum number of addresses of a callchain, unless sysctl kernel.perf_event_max_stack is larger. */
#define RECORDING_LIMIT 127

/* First frame of a stack: name of the process, of the thread, or of both. ROOT_BOTH and ROOT_GROUPS (the process) have
 * a second frame for the groups of a JVM's own threads (jvmthreads.h). */
enum recording_root { ROOT_PROCESS, ROOT_THREAD, ROOT_BOTH, ROOT_GROUPS };

/* Options; the pointers must stay valid until recording_read() returns. */
struct recording_options {
	/* Options that also apply to perf script text: selection, weight, kinds of names, ... */
	const struct samples_options *samples;
	enum recording_root root;
	/* as_perf: names and stacks as perf script prints them. inlined: inlined calls become frames of their own. */
	bool as_perf, inlined;
	/* --kallsyms and --symfs, or NULL. */
	const char *kallsyms, *symfs;
	/* DIR of pjrecord with the symbol store; NULL: the DIR that contains the window. */
	const char *saved;
	/* Directory with code timelines of pjmap; NULL: DIR/maps. */
	const char *maps;
	/* Unless it is BY_NONE, stacks get an outermost frame for their cgroup, container or pod. */
	enum containers_by by;
	/* Length of a time slice in ns; 0: no slices. Each slice is an outermost frame (slices.h). */
	uint64_t slice_ns;
	unsigned threads;
};

/* Number of frames of one DSO that have no name, and the reason. */
struct recording_missing {
	struct str dso;
	const char *why;
	uint64_t frames;
};

/* Completeness of the stacks with one first frame. All members but the last two count samples; those of the ends count
 * only stacks with user code, as pjrecord does (struct pj_unwinding). */
struct recording_quality {
	/* The first frame. */
	struct str name;
	uint64_t samples;
	/* Complete stacks: they reach a root frame. */
	uint64_t reaches_root;
	/* Truncated stacks: their outer callers were not recorded. */
	uint64_t cut;
	/* Stacks of unknown completeness: those with an unsymbolized root, and those that reach a root frame by frame
	 * pointers, past code that is not known to keep them. */
	uint64_t unknown;
	/* Those with an unsymbolized root. */
	uint64_t unsymbolized_root;
	/* Stacks with one frame of user code only, incomplete. */
	uint64_t single;
	/* Stacks with at least one frame of user code. */
	uint64_t user;
	/* Stacks with code of a JVM. */
	uint64_t java;
	/* Number of frames, and of those without name. */
	uint64_t frames, unresolved;
};

/* --inline: number of files with and without debug information, of those with sampled locations. */
struct recording_inlined {
	uint64_t files, without;
	/* Files whose debug information is damaged. */
	struct input_errors errors;
};

/* Result of the lookups in code timelines of JVMs; sure to unknown count addresses, enum timeline_sure. */
struct recording_timelines {
	uint64_t files, sure, likely, ambiguous, unknown;
	/* Number of code blobs that pjmap could not read or name. */
	uint64_t left_out;
	/* The recording has another clock than CLOCK_MONOTONIC, so that each address has its newest name. */
	bool newest;
	/* Damaged timelines. */
	struct input_errors errors;
};

/* Counts and problems of all recordings that were read. */
struct recording_tally {
	uint64_t recordings;
	/* Losses by LOST and LOST_SAMPLES records. Both mostly count the same losses: samples that did not fit into
	 * full buffers. */
	uint64_t lost_records, lost_samples;
	/* Number of THROTTLE records. */
	uint64_t throttled;
	/* Callchains with an invalid context marker. The addresses before it are used; with as_perf none are. */
	uint64_t garbage;
	/* Samples whose deferred user callchain was not found. */
	uint64_t deferred;
	/* Unwound stacks that are longer than their stack copies. */
	uint64_t copy_cut;
	/* Callchains truncated at the kernel's limit, and this limit in addresses. */
	uint64_t limit_cut, limit;
	/* Interpreted frames whose method pjrecord could not list because its list was full. */
	uint64_t methods_left_out;
	/* Frames in code of JVMs that pjrecord could not list. */
	uint64_t code_left_out;
	/* Callchains truncated at the limit of their event (perf record --max-stack). */
	uint64_t event_cut;
	/* Invalid lines of perf maps. */
	struct input_errors maps;
	/* Files whose build-id also belongs to another file of the symbol store. */
	uint64_t conflicts;
	/* Invalid records of jitdumps, or unusable jitdumps. */
	struct input_errors jitdumps;
	struct recording_inlined inlined;
	struct recording_timelines timelines;
	/* Losses by time slice, as far as they have a time. */
	struct slices_lost slices;
	/* Reason for the lack of kernel symbols, or NULL. */
	const char *kernel;
	/* damaged: a recording is damaged or unfinished. as_perf: the option of the last one. */
	bool damaged, as_perf;
	/* Keys of the two lists: reason and DSO; name of a first frame. */
	struct intern missing_keys, quality_keys;
	/* Both lists are indexed by the id of the key minus 1. */
	struct recording_missing *missing;
	struct recording_quality *quality;
	/* Causes of missing names. */
	struct judgement judgement;
	/* Process ids of the counted samples. */
	struct intern pids;
	/* pjrecord unwound the stacks of a recording. */
	bool unwound;
	/* Number of frames of the deepest stack. */
	uint32_t depth;
};

/* Reads the recording `input` to its end and adds its stacks to `samples`, its counts to `tally`. Dies if it is not a
 * readable recording. Prints the first damaged record. Lets options->threads threads search names. */
void recording_read(const struct recording_options *options, struct in *input, struct samples *samples,
		    struct recording_tally *tally);

/* Frees the lists of the tally. */
void recording_tally_free(struct recording_tally *tally);

#endif
