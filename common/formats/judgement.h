/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judgement.h - writes the summary sentence: the figures of a profile, its largest trouble, and the advice that helps.
 *
 * Pure: the caller passes counts, and for each trouble its kind, its subject (a file, a process) and the number of
 * samples, stacks or frames that it affects. The module groups troubles of one kind, and chooses the kind with the
 * largest share. Subjects are hostile input: they are escaped and truncated.
 */
#ifndef PJ_JUDGEMENT_H
#define PJ_JUDGEMENT_H

#include "common/intern.h"
#include "common/text.h"

/* Kinds of trouble: causes that make a profile incomplete. judgement.c has their texts and advice. */
enum trouble_kind {
	/* TROUBLE_LOST to TROUBLE_NO_CALLCHAIN: samples that were lost or have no stacks. */
	TROUBLE_LOST,
	TROUBLE_OVER_BUDGET,
	TROUBLE_NO_CALLCHAIN,
	/* TROUBLE_PYTHON to TROUBLE_INTERPRETER_OFFCPU: samples in an interpreter whose functions have no names; the
	 * subject is the process. */
	TROUBLE_PYTHON,
	TROUBLE_PYTHON_FP, /* Python, recorded by pjrecord --unwind=fp, which does not read interpreters */
	/* Python; pjrecord read interpreters, but not this process, or not at the time of the samples */
	TROUBLE_PYTHON_UNREAD,
	/* pjrecord refused some interpreters that only root may read, perhaps the interpreter of this process */
	TROUBLE_INTERPRETER_PRIVATE,
	TROUBLE_RUBY,
	TROUBLE_PHP,
	TROUBLE_PERL,
	TROUBLE_NODE_INTERPRETED,
	TROUBLE_INTERPRETER_OFFCPU, /* node, recorded by pjrecord --off-cpu */
	/* TROUBLE_STRIPPED_PACKAGE to TROUBLE_NO_MAPPING: frames without names in ELF files; the subject is the
	 * file. */
	TROUBLE_STRIPPED_PACKAGE, /* stripped file of a package of the distribution, which may have a -dbgsym package */
	TROUBLE_STRIPPED,
	TROUBLE_NO_FILE,
	TROUBLE_OTHER_BUILD,
	TROUBLE_FORBIDDEN,
	TROUBLE_SILENT,
	TROUBLE_OTHER_MACHINE,
	TROUBLE_NO_SYMBOL,
	TROUBLE_TEXT, /* frames without names in input that is text of perf script */
	TROUBLE_NO_MAPPING,
	/* Frames of the kernel without names; the subject is the reason why there are no kernel symbols. */
	TROUBLE_KERNEL,
	/* TROUBLE_NODE to TROUBLE_JVM: frames of JIT code without names; the subject is the process. */
	TROUBLE_NODE,
	TROUBLE_DOTNET,
	TROUBLE_ERLANG,
	TROUBLE_PHP_JIT,
	TROUBLE_RUBY_JIT,
	TROUBLE_PYTHON_JIT,
	TROUBLE_JIT,
	TROUBLE_JVM_UNREAD, /* pjrecord was not allowed to read the JVM */
	TROUBLE_JVM_FP,     /* pjrecord --unwind=fp recorded the JVM, without names */
	TROUBLE_JVM_PERF,   /* perf recorded the JVM, and the JVM has no perf map */
	TROUBLE_JVM_ENDED,  /* the JVM was recorded without names or by perf, and ended before pjfold ran */
	TROUBLE_JVM,        /* pjrecord recorded the JVM, but did not find the names */
	/* TROUBLE_TRUNCATED_COPY to TROUBLE_UNKNOWN_FP: stacks that are truncated, broken or of unknown
	 * completeness. */
	TROUBLE_TRUNCATED_COPY,      /* stacks longer than the stack copy of pjrecord */
	TROUBLE_TRUNCATED_WAIT,      /* stacks longer than the stack copy of pjrecord --off-cpu */
	TROUBLE_TRUNCATED_PERF_COPY, /* stacks longer than the stack copy of perf */
	TROUBLE_TRUNCATED_LIMIT,     /* stacks longer than the callchain limit of the kernel */
	TROUBLE_TRUNCATED_EVENT,     /* stacks longer than the callchain limit of the event */
	TROUBLE_BROKEN_FP,           /* stacks broken in frame-pointer unwinding */
	/* off-CPU: callchains of the kernel, because no stack was read while its thread was off the CPU */
	TROUBLE_BROKEN_OFFCPU,
	TROUBLE_UNREAD_OFFCPU, /* off-CPU: most of the incomplete stacks were not read, although pjrecord reads stacks
				*/
	/* off-CPU: waits that began before the recording, so their stacks were read without all registers */
	TROUBLE_EARLY_OFFCPU,
	TROUBLE_BROKEN_LATE, /* most of the broken stacks were unwound before the tables of their files were loaded */
	TROUBLE_BROKEN_EXEC, /* broken stacks, all or most of which were sampled in exec or exit */
	/* stacks that end where Go's runtime changes from the stack of a goroutine to another one, or back */
	TROUBLE_BROKEN_OTHER_STACK,
	TROUBLE_BROKEN,
	TROUBLE_UNKNOWN_END, /* stacks of unknown completeness: callers may be missing */
	TROUBLE_UNKNOWN_FP,  /* frame-pointer callchains of the kernel, of unknown completeness */
	/* The profile has too few samples for a judgement. */
	TROUBLE_FEW,
	TROUBLE_KINDS
};

/* Number of samples below which a profile is too small for a judgement (TROUBLE_FEW). */
#define JUDGEMENT_FEW 100

/* A trouble with one subject, and the number n of samples, frames or stacks that it affects. */
struct trouble {
	enum trouble_kind kind;
	struct str subject;
	uint64_t n;
};

/* Figures of a profile and its troubles. A zeroed object is valid and empty. */
struct judgement {
	/* samples: number of samples; processes: number of processes, 0: unknown; ns: duration in ns, 0: unknown; lost:
	 * number of lost samples. */
	uint64_t samples, processes, ns, lost;
	/* stacks: number of stacks whose completeness was measured; complete: number of these that are complete. */
	uint64_t stacks, complete;
	/* offcpu_ns: off-CPU time of user threads in ns, 0: not measured; offcpu_complete_ns: part of offcpu_ns with
	 * complete stacks. A share of the number of waits would mislead: most waits are short, and the stacks of these
	 * are not read. */
	uint64_t offcpu_ns, offcpu_complete_ns;
	/* True if stacks that were not read count as incomplete, although some may be complete: offcpu_complete_ns is a
	 * lower limit. */
	bool offcpu_unread;
	/* Number of threads that waited since before the recording, and whose wait is in no sample. */
	uint64_t lacking;
	/* by_time: for troubles of stacks, trouble.n is off-CPU time in ns, a part of offcpu_ns, not a number of
	 * stacks. wall: offcpu_ns and offcpu_complete_ns include on-CPU time, as --wall records it. */
	bool by_time, wall;
	/* frames: number of frames; unnamed: number of frames without names. */
	uint64_t frames, unnamed;
	/* True if few samples are normal, as for waits: TROUBLE_FEW is not reported then. */
	bool may_be_small;
	struct intern keys;
	struct trouble *trouble;
};

/* Adds n affected samples, stacks or frames (by kind) to a trouble. subject: a file, process or reason; empty for kinds
 * without subject. */
void judgement_add(struct judgement *judgement, enum trouble_kind kind, struct str subject, uint64_t n);

/* Returns the kind of trouble for `broken` broken stacks of pjrecord, by the reason of most of these stacks. late:
 * number of broken stacks with code whose unwind tables were not loaded yet; in_exec: number of broken stacks that were
 * sampled in exec or exit. */
enum trouble_kind judgement_broken(uint64_t broken, uint64_t late, uint64_t in_exec);

/* Appends the summary sentence, without a final period or newline: "6,038 samples, 221 processes, 10 s; 89 % of stacks
 * complete; 17 % of frames without names: libLLVM.so.14, gzip are stripped (their -dbgsym packages help)". Names
 * only the kind of trouble with the largest share, and none if that share is below 1 %. */
void judgement_sentence(struct text *text, const struct judgement *judgement);

/* Appends a line for each kind of trouble, in descending order of share, except the one in judgement_sentence. */
void judgement_lines(struct text *text, const struct judgement *judgement);

/* Frees the memory to which *judgement refers, but not *judgement itself. */
void judgement_free(struct judgement *judgement);

#endif
