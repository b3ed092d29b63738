/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.h - converts a perf.data file into a call tree.
 *
 * The conversion has three passes over decreasing amounts of data. Pass 1 reads the records and makes a tree of
 * locations (locations.h), pass 2 finds the names of the locations (resolve.h), and pass 3 makes the tree of names
 * (nametree.h). Memory depends on the number of distinct stacks. Samples that the recorder lost and frames without
 * names are counted.
 */
#ifndef PJ_RECORDING_H
#define PJ_RECORDING_H

#include "common/formats/pjsection.h"
#include "common/formats/containers.h"
#include "common/formats/judgement.h"
#include "fold/samples/inputerrors.h"
#include "common/filter/in.h"
#include "common/text.h"
#include "fold/samples/samples.h"
#include "fold/slices.h"

/* Choice of the first frame of a stack (--root), which names the process or thread: the process (ROOT_PROCESS,
 * ROOT_GROUPS), the thread (ROOT_THREAD), or the process and then the thread (ROOT_BOTH). ROOT_BOTH and ROOT_GROUPS add
 * a frame with the group of a thread that a JVM starts for itself (jvmthreads.h). */
enum recording_root { ROOT_PROCESS, ROOT_THREAD, ROOT_BOTH, ROOT_GROUPS };

struct threadreport;

/* Options of recording_read(); the pointers must stay valid until it returns. */
struct recording_options {
	/* Options that also apply to perf script text: selection, weight, kinds of names, and others. */
	const struct samples_options *samples;
	enum recording_root root;
	/* as_perf: true: make names and stacks as perf script prints them. inlined: true: show inlined calls as frames
	 * of their own. */
	bool as_perf, inlined;
	/* Arguments of --kallsyms (a file) and --symfs (a directory), or NULL. */
	const char *kallsyms, *symfs;
	/* DIR of pjrecord that contains the symbol store; NULL: the DIR that contains the window. */
	const char *saved;
	/* Directory with code timelines of pjmap; NULL: DIR/maps. */
	const char *maps;
	/* Kind of an additional outermost frame: cgroup, container or pod of the sample; BY_NONE: no such frame. */
	enum containers_by by;
	/* Length of a time slice in ns; 0: no slices. Each stack gets its slice as the outermost frame (slices.h). */
	uint64_t slice_ns;
	unsigned threads;
	/* Writer of pjpack, to which the names of the code of all samples are passed, whatever their event; NULL: none.
	 */
	struct symbolizedwriter *packed;
	/* Report of --thread-dump, filled with the newest stack of each thread, whatever its event; NULL: none. */
	struct threadreport *thread_report;
};

/* Unnamed frames of one DSO with the same reason. dso: path of the DSO; why: text of the reason; frames: number of
 * frames, summed over samples. */
struct recording_missing {
	struct str dso;
	const char *why;
	uint64_t frames;
};

/* Completeness of the stacks with the same first frame, mostly the stacks of one process. samples: number of all
 * samples with this first frame. The members single, java, counts and weights include only samples with a frame of user
 * code, as in struct pj_unwinding. */
struct recording_quality {
	/* Name of the first frame. */
	struct str name;
	uint64_t samples;
	/* Number of samples whose stack is not known to be complete and has only one frame of user code. */
	uint64_t single;
	/* Number of samples with a frame in libjvm.so. */
	uint64_t java;
	/* frames: number of frames of all samples; unresolved: number of frames without a name. */
	uint64_t frames, unresolved;
	/* counts: numbers of samples. weights: sums of their weights, in ns for off-CPU times. */
	struct recording_counts {
		/* Samples with at least one frame of user code. The other members are subsets of these samples. */
		uint64_t user;
		/* Complete stacks: they reach a root frame. */
		uint64_t reaches_root;
		/* cut: truncated stacks, whose outer callers were not recorded. copy_cut: the part of the truncated
		 * stacks that was not truncated by a limit for the number of frames. */
		uint64_t cut, copy_cut;
		/* unknown: stacks of unknown completeness: they have an unsymbolized root, or reach a root frame by
		 * frame pointers, through code that is not known to keep frame pointers. unsymbolized_root: the part of
		 * `unknown` with an unsymbolized root. */
		uint64_t unknown, unsymbolized_root;
		/* Broken stacks whose reason is known, by the reason: not_copied: sampled in exec or exit;
		 * other_stack: the code of the outermost frame switches stacks. */
		uint64_t not_copied, other_stack;
	} counts, weights;
	/* The part of `counts` (waits) and of `weights` (wait_weights) that comes from samples that are waits. */
	struct recording_counts waits, wait_weights;
};

/* Result of --inline, for the files in which inlined calls were looked up. files: number of files with debug
 * information; without: number of files without debug information. */
struct recording_inlined {
	uint64_t files, without;
	/* Number of files for which inlined calls may be missing, and the reason for the first of these files. */
	struct input_errors errors;
};

/* Lookups in code timelines of JVMs. files: number of timelines opened. sure, likely, ambiguous, unknown: number of
 * lookups by certainty of the result (enum timeline_sure). */
struct recording_timelines {
	uint64_t files, sure, likely, ambiguous, unknown;
	/* Upper bound of the number of code blobs that pjmap could not read or name: the largest number of one scan,
	 * summed over JVMs. */
	uint64_t left_out;
	/* True if the clock of a recording is not CLOCK_MONOTONIC: sample times then cannot select names, so each code
	 * address gets its newest name. */
	bool newest;
	/* Number of damaged timelines, and the error of the first damaged timeline. */
	struct input_errors errors;
};

/* Process with files that were skipped because opening them took too long. skipped: number of skipped files. ns: time
 * in ns for which pjfold waited for files of the process. name: name of the process. */
struct recording_wait {
	int32_t pid;
	unsigned skipped;
	uint64_t ns;
	char name[32];
};

/* maximum number of processes in recording_tally.wait: those for which pjfold waited longest */
#define RECORDING_WAITS 3

/* Counts and problems, summed over all recordings that were read. */
struct recording_tally {
	uint64_t recordings;
	/* lost_records: lost records of any kind, from PERF_RECORD_LOST. lost_samples: lost samples, from
	 * PERF_RECORD_LOST_SAMPLES. Most losses are in both numbers: samples that did not fit into full ring buffers.
	 */
	uint64_t lost_records, lost_samples;
	/* Number of PERF_RECORD_THROTTLE records. */
	uint64_t throttled;
	/* Number of samples in the tree whose record has a callchain or a stack copy. */
	uint64_t with_stacks;
	/* Number of callchains with an invalid context marker. Only the addresses before the marker are used; with
	 * as_perf, no address is used. */
	uint64_t garbage;
	/* Number of samples whose deferred user callchain (PERF_RECORD_CALLCHAIN_DEFERRED) is missing. */
	uint64_t deferred;
	/* Number of stacks that were unwound from a stack copy and continue above the end of the copy. */
	uint64_t copy_cut;
	/* limit_cut: number of callchains truncated at the kernel's limit (kernel.perf_event_max_stack). limit: this
	 * limit, as a number of addresses. */
	uint64_t limit_cut, limit;
	/* Number of interpreted frames without a name because pjrecord's list of functions was full. */
	uint64_t methods_left_out;
	/* Number of pjrecord's lookups of JVM code that is unnamed because pjrecord's list of code blobs was full. */
	uint64_t code_left_out;
	/* Number of callchains truncated at the limit of their event (perf record --max-stack). */
	uint64_t event_cut;
	/* Sums of the weights of the samples counted by limit_cut (limit_cut_weight) and event_cut (event_cut_weight).
	 */
	uint64_t limit_cut_weight, event_cut_weight;
	/* Number of invalid lines in perf maps, and the error of the first invalid line. */
	struct input_errors maps;
	/* Number of DSOs for which the symbol store has two files with the same build-id but different symbols: one
	 * file of the tenant, one of the host or shared. */
	uint64_t conflicts;
	/* Number of invalid records in jitdumps and of unusable jitdumps, and the first of these errors. */
	struct input_errors jitdumps;
	struct recording_inlined inlined;
	struct recording_timelines timelines;
	/* Lost samples by time slice. Losses whose record has no time are not included. */
	struct slices_lost slices;
	/* Number of samples without a time; 0 if there are no time slices. */
	uint64_t untimed;
	/* Text of the reason why there are no kernel symbols; NULL if there are kernel symbols, or if no kernel code
	 * was sampled. */
	const char *kernel;
	/* damaged: true if a recording is damaged or unfinished. as_perf: value of the option as_perf for the last
	 * recording. */
	bool damaged, as_perf;
	/* Interned keys. missing_keys: pairs of reason and DSO. quality_keys: names of first frames. */
	struct intern missing_keys, quality_keys;
	/* By id minus 1: missing: unnamed frames of each key in missing_keys; quality: stacks of each key in
	 * quality_keys. */
	struct recording_missing *missing;
	struct recording_quality *quality;
	/* Causes of missing names in all recordings. */
	struct judgement judgement;
	/* Processes for whose files pjfold waited longest; nwaits elements. */
	struct recording_wait wait[RECORDING_WAITS];
	size_t nwaits;
	/* Set of the distinct pids of the counted samples. */
	struct intern pids;
	/* True if pjrecord unwound the stacks of at least one recording. */
	bool unwound;
	/* Sums over recordings that pjrecord unwound. broken: broken stacks, without those whose end has its reason
	 * (recorder.ends_have_reasons). late: broken stacks with code whose unwind tables were not loaded yet. in_exec:
	 * stacks of `broken` that were sampled in exec or exit. */
	uint64_t broken, late, in_exec;
	/* Off-CPU times by origin of their stacks, summed over all recordings; its member `lacking` is the maximum of
	 * all recordings. */
	struct pj_offcpu offcpu;
	/* Number of frames of the deepest stack. */
	uint32_t depth;
};

/* Reads the recording `input` to its end, adds its stacks to `samples` and its counts to `tally`. Prints a warning with
 * the first damaged record. Dies if the input is not a readable recording. Finds names in up to options->threads
 * threads. */
void recording_read(const struct recording_options *options, struct in *input, struct samples *samples,
		    struct recording_tally *tally);

/* Frees the memory of the tally. */
void recording_tally_free(struct recording_tally *tally);

#endif
