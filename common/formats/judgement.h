/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judgement.h - the summary sentence: the figures of a profile, its largest trouble, and the advice that helps.
 *
 * Pure: the caller gives counts, and for each trouble its kind, its subject (a file, a process) and the number of
 * samples, stacks or frames that it affects. The module groups troubles of one kind, and chooses the kind with the
 * largest share. Subjects are hostile input: they are escaped and truncated.
 */
#ifndef PJ_JUDGEMENT_H
#define PJ_JUDGEMENT_H

#include "common/intern.h"
#include "common/text.h"

/* Causes that make a profile incomplete. judgement.c has their texts and the advice. */
enum trouble_kind {
	/* Samples that are lost, or have no stacks. */
	TROUBLE_LOST,
	TROUBLE_OVER_BUDGET,
	TROUBLE_NO_CALLCHAIN,
	/* Samples in an interpreter whose functions have no names. */
	TROUBLE_PYTHON,
	TROUBLE_PYTHON_FP,     /* pjrecord --unwind=fp reads no interpreters */
	TROUBLE_PYTHON_OFFCPU, /* nor does pjrecord --off-cpu */
	TROUBLE_PYTHON_UNREAD, /* pjrecord read interpreters, but not this one, or not at these samples */
	/* the same, where pjrecord refused interpreters that root alone may read */
	TROUBLE_INTERPRETER_PRIVATE,
	TROUBLE_RUBY,
	TROUBLE_PHP,
	TROUBLE_PERL,
	TROUBLE_NODE_INTERPRETED,
	TROUBLE_INTERPRETER_OFFCPU, /* of Ruby, PHP, Perl and node, in recordings of pjrecord --off-cpu */
	/* Frames without names: ELF files. */
	TROUBLE_STRIPPED_PACKAGE, /* stripped file of a package of the distribution */
	TROUBLE_STRIPPED,
	TROUBLE_NO_FILE,
	TROUBLE_OTHER_BUILD,
	TROUBLE_FORBIDDEN,
	TROUBLE_SILENT,
	TROUBLE_OTHER_MACHINE,
	TROUBLE_NO_SYMBOL,
	TROUBLE_TEXT, /* in text of perf script */
	TROUBLE_NO_MAPPING,
	/* Frames without names: the kernel; the subject is the reason why there are no kernel symbols. */
	TROUBLE_KERNEL,
	/* Frames without names: code of JITs; the subject is the process. */
	TROUBLE_NODE,
	TROUBLE_DOTNET,
	TROUBLE_ERLANG,
	TROUBLE_PHP_JIT,
	TROUBLE_RUBY_JIT,
	TROUBLE_PYTHON_JIT,
	TROUBLE_JIT,
	TROUBLE_JVM_UNREAD, /* pjrecord was not allowed to read the JVM */
	TROUBLE_JVM_FP,     /* pjrecord --unwind=fp recorded the JVM, without names */
	TROUBLE_JVM_PERF,   /* perf recorded the JVM, and there is no perf map of it */
	TROUBLE_JVM_ENDED,  /* as the two before, and the JVM ended before pjfold ran */
	TROUBLE_JVM,        /* pjrecord recorded the JVM, and did not find the names */
	/* Stacks that are truncated, broken or of unknown completeness. */
	TROUBLE_TRUNCATED_COPY,      /* stacks longer than pjrecord's stack copy */
	TROUBLE_TRUNCATED_WAIT,      /* stacks longer than the copy that pjrecord --off-cpu reads */
	TROUBLE_TRUNCATED_PERF_COPY, /* stacks longer than perf's stack copy */
	TROUBLE_TRUNCATED_LIMIT,     /* stacks longer than the kernel's limit of callchains */
	TROUBLE_TRUNCATED_EVENT,     /* stacks longer than the event's limit of callchains */
	TROUBLE_BROKEN_FP,           /* stacks broken in frame-pointer unwinding */
	TROUBLE_BROKEN_OFFCPU,       /* callchains of the kernel: no stack was read while its thread was off the CPU */
	TROUBLE_UNREAD_OFFCPU, /* most of the stacks that are not complete were not read, of a recording that reads them
				*/
	TROUBLE_EARLY_OFFCPU, /* most of them were read without all registers: their waits began before the recording */
	TROUBLE_BROKEN,
	TROUBLE_UNKNOWN_END, /* stacks of unknown completeness: callers may be missing */
	TROUBLE_UNKNOWN_FP,  /* the same, of callchains of the kernel */
	/* The profile is too small for a judgement. */
	TROUBLE_FEW,
	TROUBLE_KINDS
};

/* Number of samples below which a profile is too small for a judgement. */
#define JUDGEMENT_FEW 100

/* A trouble of one subject, and the number of samples, frames or stacks that it affects. */
struct trouble {
	enum trouble_kind kind;
	struct str subject;
	uint64_t n;
};

/* The figures of a profile, and its troubles. A zeroed object is valid and empty. */
struct judgement {
	/* Number of samples; of processes; duration in ns; number of lost samples. processes, ns: 0 if unknown. */
	uint64_t samples, processes, ns, lost;
	/* Number of stacks whose completeness was measured; number of complete stacks of these. */
	uint64_t stacks, complete;
	/* Off-CPU time of user threads in ns; of this, the time whose stacks are complete. 0: none was measured. A
	 * share of the waits would mislead: most are short, and the stacks of these are not read. */
	uint64_t offcpu_ns, offcpu_complete_ns;
	/* Number of threads whose wait since before the recording is in no sample. */
	uint64_t lacking;
	/* Troubles of stacks are in ns of offcpu_ns, not in stacks. */
	bool by_time;
	/* Number of frames; number of frames without names. */
	uint64_t frames, unnamed;
	/* Few samples are normal, as for waits: TROUBLE_FEW is not reported. */
	bool may_be_small;
	struct intern keys;
	struct trouble *trouble;
};

/* Adds n affected samples, stacks or frames to a trouble; the kind decides which of them n counts. subject: a file,
 * process or reason; empty for kinds without subjects. */
void judgement_add(struct judgement *judgement, enum trouble_kind kind, struct str subject, uint64_t n);

/* Appends the summary sentence, without a final period or newline: "6,038 samples, 221 processes, 10 s; 89 % of stacks
 * complete; 17 % of frames without names: libLLVM.so.14, gzip are stripped (their -dbgsym packages help)". A trouble
 * with a share below 1 % is not in it. */
void judgement_sentence(struct text *text, const struct judgement *judgement);

/* Appends a line, ended by a newline, for each kind of trouble that is not in the sentence, by descending share. */
void judgement_lines(struct text *text, const struct judgement *judgement);

/* Frees the memory of *judgement, not the object itself. */
void judgement_free(struct judgement *judgement);

#endif
