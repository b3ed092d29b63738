/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.h - conversion of a perf.data file into a tree of stacks.
 *
 * The conversion has three passes over decreasing amounts of data. Pass 1 reads the records and makes a tree of
 * locations (locations.h), pass 2 finds the names of the locations (resolve.h), and pass 3 makes the tree of names.
 * Memory depends on the number of distinct stacks. Samples that the recorder lost and frames without names are counted.
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

/* First frame of a stack: name of the process (ROOT_PROCESS, ROOT_GROUPS), of the thread (ROOT_THREAD), or of the
 * process and then the thread (ROOT_BOTH). ROOT_BOTH and ROOT_GROUPS add a frame for the group of a thread that a JVM
 * starts for itself (jvmthreads.h). */
enum recording_root { ROOT_PROCESS, ROOT_THREAD, ROOT_BOTH, ROOT_GROUPS };

struct threadreport;

/* Options of recording_read(); the pointers must stay valid until it returns. */
struct recording_options {
	/* Options that also apply to perf script text: selection, weight, kinds of names, and others. */
	const struct samples_options *samples;
	enum recording_root root;
	/* as_perf: make names and stacks as perf script prints them. inlined: show inlined calls as frames of their
	 * own. */
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
	/* The writer of pjpack, which gets the names of the code of all samples, whatever their event; NULL: none. */
	struct symbolizedwriter *packed;
	/* --thread-dump: gets the newest stack of each thread, of any event; NULL: none. */
	struct threadreport *thread_report;
};

/* Frames of one DSO that have no name for one reason. dso: path; why: text of the reason; frames: their number, summed
 * over samples. */
struct recording_missing {
	struct str dso;
	const char *why;
	uint64_t frames;
};

/* Completeness of the stacks that have the same first frame. `samples` is the number of all their samples. The counts
 * from `reaches_root` to `java` are numbers of samples that have user code, as in struct pj_unwinding. */
struct recording_quality {
	/* Name of the first frame. */
	struct str name;
	uint64_t samples;
	/* Number of samples with a complete stack: it reaches a root frame. */
	uint64_t reaches_root;
	/* Number of samples with a truncated stack: its outer callers were not recorded. */
	uint64_t cut;
	/* Number of samples with a stack of unknown completeness: it has an unsymbolized root, or it reaches a root
	 * frame by frame pointers, through code that is not known to keep them. */
	uint64_t unknown;
	/* Number of samples of `unknown` whose stack has an unsymbolized root. */
	uint64_t unsymbolized_root;
	/* Number of samples with an incomplete stack that has only one frame of user code. */
	uint64_t single;
	/* Number of samples with at least one frame of user code. */
	uint64_t user;
	/* Number of samples with a frame in libjvm.so. */
	uint64_t java;
	/* Number of frames of all samples, and number of those without a name. */
	uint64_t frames, unresolved;
	/* The sums of the weights of the samples that the fields of these names count: ns for off-CPU times. */
	struct recording_weights {
		uint64_t user, reaches_root, cut, unknown, unsymbolized_root;
	} weights;
};

/* --inline: number of files with (`files`) and without debug information, of those for which inlined calls were looked
 * up. */
struct recording_inlined {
	uint64_t files, without;
	/* Files of which some inlined calls may be missing, and the reason for the first. */
	struct input_errors errors;
};

/* Lookups in code timelines of JVMs. files: number of opened timelines. sure to unknown: number of lookups by certainty
 * of the result (enum timeline_sure). */
struct recording_timelines {
	uint64_t files, sure, likely, ambiguous, unknown;
	/* Number of code blobs that pjmap could not read or name, at most: the largest number of one scan, added over
	 * JVMs. */
	uint64_t left_out;
	/* The clock of a recording is not CLOCK_MONOTONIC, so the time of a sample cannot select the name: each code
	 * address gets its newest name. */
	bool newest;
	/* Timelines that are damaged, and the error of the first. */
	struct input_errors errors;
};

/* A process with files that were skipped because opening them took too long: its pid and name, the number of these
 * files and the time in ns for which pjfold waited for files of the process. */
struct recording_wait {
	int32_t pid;
	unsigned skipped;
	uint64_t ns;
	char name[32];
};

#define RECORDING_WAITS 3 /* maximum number of such processes that are named */

/* Counts and problems of all recordings that were read, added up. */
struct recording_tally {
	uint64_t recordings;
	/* Losses by LOST records (records of any kind) and by LOST_SAMPLES records. Both mostly count the same losses:
	 * samples that did not fit into full buffers. */
	uint64_t lost_records, lost_samples;
	/* Number of THROTTLE records. */
	uint64_t throttled;
	/* Number of callchains with an invalid context marker. The addresses before the marker are used; with as_perf
	 * none. */
	uint64_t garbage;
	/* Number of samples whose deferred user callchain did not follow. */
	uint64_t deferred;
	/* Number of unwound stacks that continue above the end of their stack copy. */
	uint64_t copy_cut;
	/* limit_cut: number of callchains truncated at the kernel's limit. limit: this limit in addresses. */
	uint64_t limit_cut, limit;
	/* Number of interpreted frames without a name because pjrecord's list of methods was full. */
	uint64_t methods_left_out;
	/* Number of pjrecord's lookups of JVM code that is unnamed because pjrecord's list of code was full. */
	uint64_t code_left_out;
	/* Number of callchains truncated at the limit of their event (perf record --max-stack). */
	uint64_t event_cut;
	/* Sums of the weights of the samples of limit_cut and event_cut. */
	uint64_t limit_cut_weight, event_cut_weight;
	/* Lines of perf maps that are invalid. */
	struct input_errors maps;
	/* Number of files for which the symbol store has a second file with the same build-id but other symbols: one of
	 * the tenant, one of the host or shared. */
	uint64_t conflicts;
	/* Records of jitdumps that are invalid, and unusable jitdumps. */
	struct input_errors jitdumps;
	struct recording_inlined inlined;
	struct recording_timelines timelines;
	/* Losses by time slice; losses whose record has no time are missing. */
	struct slices_lost slices;
	/* Number of samples without a time, if there are time slices. */
	uint64_t untimed;
	/* Text: the reason why there are no kernel symbols; NULL if there are, or if none were needed. */
	const char *kernel;
	/* damaged: a recording is damaged or unfinished. as_perf: value of this option for the last recording. */
	bool damaged, as_perf;
	/* missing_keys: pairs of reason and DSO. quality_keys: names of first frames. */
	struct intern missing_keys, quality_keys;
	/* Entries of missing_keys and quality_keys: the index is the id of the key minus 1. */
	struct recording_missing *missing;
	struct recording_quality *quality;
	/* Causes of missing names in all recordings. */
	struct judgement judgement;
	/* The nwaits processes for whose files pjfold waited longest. */
	struct recording_wait wait[RECORDING_WAITS];
	size_t nwaits;
	/* The distinct pids of the counted samples. */
	struct intern pids;
	/* pjrecord unwound the stacks of at least one recording. */
	bool unwound;
	/* Off-CPU times by the origin of their stacks: the sum of the members read to unread_ns of all recordings. */
	struct pj_offcpu offcpu;
	/* Number of frames of the deepest stack. */
	uint32_t depth;
};

/* Reads the recording `input` to its end and adds its stacks to `samples`, its counts to `tally`. Dies if the input is
 * not a readable recording. Prints a warning with the first damaged record. Uses up to options->threads threads to find
 * names. */
void recording_read(const struct recording_options *options, struct in *input, struct samples *samples,
		    struct recording_tally *tally);

/* Frees the memory of the tally. */
void recording_tally_free(struct recording_tally *tally);

#endif
