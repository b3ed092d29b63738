/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pjsection.h - the feature section that pjrecord adds to a perf.data.
 *
 * perf, and every reader that was tried, skips features with unknown bits (tools/perf/util/header.c,
 * perf_file_section__process). The section is a sequence of items { u32 type; u32 size; size bytes; zeros up to a
 * multiple of 8 }, in any order; readers skip unknown types, and read items that are longer than expected as far as
 * they know them.
 *
 * In files of pjrecord the features that are known at the start, the first part of this section among them, precede the
 * data. The obsolete header field event_types, which no reader uses any more, has their offset: a table as after the
 * data (a struct perf_section for each set bit of PRE_FEATURES, in the order of bits), preceded by u64[4] of bits. So
 * the file of a killed writer has its host and time, too. The complete table follows the data.
 */
#ifndef PJ_PJSECTION_H
#define PJ_PJSECTION_H

#include "common/base.h"
#include "common/formats/buildid.h"
#include "common/formats/fileid.h"

/* feature bits of the two parts of the section: written at the begin of the window, and at its end; and of the section
 * with the names, which pjpack adds */
enum { FEATURE_PJ_START = 250, FEATURE_PJ_END = 251, FEATURE_PJ_NAMES = 252 };

/*
 * FEATURE_PJ_NAMES makes a recording portable: it has the names of all addresses on the stacks of the recording, by DSO
 * and file offset, and those of JIT code by address and time. It is a struct pj_names and a zlib stream (RFC 1950).
 * The stream has numbers as in jmapfile.h, and texts, each as its length and bytes:
 *   texts: their number; the texts, none of them empty. Other parts refer to them by their number from 1; 0: none.
 *   DSOs: their number; for each its key (a text, fold/symbolized/symbolized.h), the reason for addresses without a
 *     name (enum resolve_why), the number of its addresses, and for each, in ascending order, the difference to the one
 *     before, its name, its kernel module, and the calls inlined there, separated by NUL. In ascending order of keys.
 *   processes with code of a jitdump or timeline: their number; for each its PID, flags (1: of a jitdump, which
 *     replaces PJ_ITEM_CODE), the number of entries, and for each, in ascending order of address and time, the
 *     difference of the address to the entry before, the time in ns from which on the entry is valid (for an equal
 *     address, the difference to the entry before), the name, and the calls inlined there. In ascending order of PIDs.
 *   stacks, of a recording with copies of user stacks: their number; for each sample with a copy, in order of time, the
 *     number of frames, the way the walk ended (enum unwind_end), and for each frame the signed difference of its
 *     address to the one before, and flags (1: Method*; 2: no return address).
 */
struct pj_names {
	uint32_t version;  /* PJ_NAMES_VERSION */
	uint32_t flags;    /* PJ_NAMES_INLINED */
	uint64_t size;     /* bytes of the stream when it is decompressed */
	uint64_t left_out; /* results (names, addresses, code, stacks) that are left out because of a limit */
};

enum { PJ_NAMES_VERSION = 1, PJ_NAMES_INLINED = 1 };

/* Limits of the section, for writer and reader: bytes after decompression, texts, DSOs, processes, entries of code. */
#define PJ_NAMES_MAX ((uint64_t)32 << 20)
/* Bytes of all texts, each counted as often as an entry refers to it. */
#define PJ_NAMES_REFERRED ((uint64_t)1 << 30)
enum { PJ_NAMES_TEXTS = 1 << 21, PJ_NAMES_DSOS = 1 << 16, PJ_NAMES_PROCESSES = 1 << 16, PJ_NAMES_CODE = 1 << 18 };

struct pj_item {
	uint32_t type, size;
};

enum pj_item_type {
	PJ_ITEM_BOOT = 1,  /* text: /proc/sys/kernel/random/boot_id, 36 bytes */
	PJ_ITEM_WINDOW,    /* struct pj_window, in START */
	PJ_ITEM_KALLSYMS,  /* text: name of a file in DIR/symbols with valid kernel symbols; newest first; in END */
	PJ_ITEM_PROCESS,   /* struct pj_process, one each that was sampled; in END */
	PJ_ITEM_IDLE,      /* struct pj_idle, one each CPU; in END */
	PJ_ITEM_LOSS,      /* struct pj_loss; in END */
	PJ_ITEM_VERSION,   /* text: version of pjrecord; in START */
	PJ_ITEM_OFFCPU,    /* struct pj_offcpu, of a recording with --off-cpu; in END */
	PJ_ITEM_BUILD_ID,  /* struct pj_build_id, one for each file whose mappings lack it; in END */
	PJ_ITEM_UNWINDING, /* of a recording with --unwind: empty in START, struct pj_unwinding in END. One
			    * CONTEXT_USER at the end of a callchain then marks a truncated stack, two a broken one,
			    * three one of unknown completeness, four one of the kernel's frame-pointer unwinding
			    * whose end was not verified, and none a complete one. */
	PJ_ITEM_METHODS,   /* struct pj_methods and its entries, one or more for a JVM; in END */
	PJ_ITEM_UNWOUND, /* u64, one for each event whose stacks were unwound: number of the event in the file, from 1;
			    in START. Without this item: all events */
	PJ_ITEM_TENANT,  /* struct pj_tenant, one each tenant that was over a budget; in END */
	PJ_ITEM_HELPER,  /* struct pj_helper, one for each kind of helper process with a failure; in END */
	PJ_ITEM_CODE_NAMES, /* struct pj_code_names and its entries: names that PJ_ITEM_CODE refers to; in END */
	PJ_ITEM_CODE, /* struct pj_codes and its entries: compiled code and stubs of a JVM on stacks of the window; in
		       * END. In a pipe both precede the samples that need them. */
	PJ_ITEM_FUNCTIONS, /* struct pj_functions and its entries: functions of interpreters on stacks, one item or
			    * more for a process; in END */
	/* u64, of a recording with --off-cpu: time at which the window ended, in ns of the record clock; in END. A
	 * sample of an off-CPU time with the timestamp of the last ns of the window is of a thread that was off the CPU
	 * at its end. */
	PJ_ITEM_BORDER
};

struct pj_window {
	/* The window in ns of the record clock: from begin up to, without, end. end is the planned one; UINT64_MAX: not
	 * planned. */
	uint64_t begin, end;
	uint64_t serial; /* number of the window in this run of pjrecord, from 0 */
};

/* A process that was sampled. A pid can have several, one after the other. */
struct pj_process {
	/* pid as in the records; inner_pid: in the process's own PID namespace, 0 if unknown */
	uint32_t pid, inner_pid;
	uint64_t start;    /* start time in clock ticks since boot, field 22 of /proc/PID/stat; 0 if unknown */
	uint64_t mount_ns; /* inode of its mount namespace, /proc/PID/ns/mnt; 0 if unknown */
	uint32_t flags;
	/* The tenant under whose folder in DIR/symbols the process's files are: enum tenant_kind (tenants.h), 0 if
	 * unknown. */
	uint32_t tenant_kind;
	uint64_t tenant; /* key of the tenant; in windows of earlier versions the struct ends before this field */
};

/* the process is in another mount namespace than pjrecord: its paths are not those of the host */
enum { PJ_PROCESS_ELSEWHERE = 1 };

/* The build-id of a mapped file, which is identified as in the MMAP2 records of the window: several files can have the
 * same path (one in each container), and a file in memory can have any path. */
struct pj_build_id {
	struct file_id file_id;
	struct build_id build_id;
	uint8_t zero[3];
};

/* Names of the code of one JVM, the head of an item: entries follow, each a struct pj_code_name and the bytes of the
 * name. */
struct pj_code_names {
	uint32_t pid;
	/* number of the JVM in this recording, since several JVMs can have the same pid, one after the other */
	uint32_t jvm;
};

struct pj_code_name {
	uint32_t number, size; /* number: PJ_ITEM_CODE refers to the name by it; size: bytes of the name */
};

/* Code of one JVM, the head of an item: entries of struct pj_code follow. */
struct pj_codes {
	uint32_t pid, jvm;
	uint64_t left_out; /* lookups of code that is not listed because the recorder reached its limit */
};

/* Code of a JVM that appeared on stacks, at address `start`, `size` bytes long. It existed from `from` to `until` on
 * the record clock; until is UINT64_MAX: to the end of the recording, or to an entry with equal start, size, compile id
 * and kind that ends it and has no names. After this struct come nnames numbers of names (u32), first that of the
 * method itself, then `bytes` bytes of the tree of inlined calls in the numbers of jmapfile.h, as in pj-jmap(5): the
 * number of nodes, and for each its parent (0: the method itself) and the index of its name; the number of ranges, and
 * for each the bytes from the last offset of the range before to its own, and its node. */
struct pj_code {
	uint64_t start, from, until;
	uint32_t size, compile_id;
	uint32_t nnames, bytes; /* nnames: number of names; bytes: size of the tree */
	uint8_t kind, level;    /* kind: enum jmap_kind of jmapfile.h; level: of the JIT compiler, 1 to 4 */
	uint16_t zero[3];
};

/* Data that the recorder left out because a tenant (tenants.h) was over a budget. */
struct pj_tenant {
	uint32_t kind, zero; /* kind: enum tenant_kind; 0: several tenants, or an unknown one */
	uint64_t key;
	uint64_t samples;  /* samples whose callchain was replaced by PJ_OVER_BUDGET_IP */
	uint64_t mappings; /* executable mappings that are not recorded: addresses in them have no name */
	uint64_t reads;    /* processes with lost records whose state was not read from /proc */
	uint64_t bytes;    /* bytes that the complete samples would have taken in the file */
	/* Files for pjfold that were not saved, or that were removed when the tenant was over its share of the disk. In
	 * windows of earlier versions the struct ends before this field. */
	uint64_t files;
	uint64_t jvms; /* lookups in its JVMs that were left out: these frames were walked by frame pointers */
	/* lookups of unwind tables that were left out: these frames were walked by frame pointers, too */
	uint64_t tables;
};

/* The kinds of helper processes. */
enum pj_helper_kind {
	PJ_HELPER_TABLES,
	PJ_HELPER_JVM,
	PJ_HELPER_SAVER,
	PJ_HELPER_INTERPRETER,
	PJ_HELPER_WAIT,
	PJ_HELPERS
};

struct pj_helper {
	/* kind: enum pj_helper_kind; off: 1 if no helper of this kind ran at the end of the window */
	uint32_t kind, off;
	/* hung: helpers that did not answer in time; crashed: helpers that ended; both were replaced */
	uint64_t hung, crashed;
	uint64_t avoided;   /* lookups that no helper was sent because an earlier one failed at the same files */
	uint64_t lingering; /* killed helpers that had not ended at the end of the window */
};

enum { PJ_TENANTS = 16 };

struct pj_tenants {
	struct pj_tenant row[PJ_TENANTS],
		others; /* row: the n tenants with the largest losses; others: the sum of all other tenants */
	uint32_t n;
};

/* The callchain of a sample over budget is one address in a mapping with this path, in the last page below 2^56, where
 * no process can map anything. Readers that do not know it show the path as the name of the module. */
#define PJ_OVER_BUDGET_PATH "[over budget]"
#define PJ_OVER_BUDGET_START UINT64_C(0x00fffffffffff000)
#define PJ_OVER_BUDGET_BYTES UINT64_C(4096)
/* odd, so that it is never taken for a Method*, which is aligned */
#define PJ_OVER_BUDGET_IP (PJ_OVER_BUDGET_START + 17)

struct pj_idle {
	uint32_t cpu, zero;
	uint64_t ns; /* idle time in the window, from /proc/stat */
};

struct pj_loss {
	uint64_t samples; /* lost samples: the sum of the LOST and LOST_SAMPLES records of the file */
	/* lost records of process state (maps, names, forks): the sum of the LOST records of their rings */
	uint64_t records;
	uint64_t throttled; /* number of THROTTLE records */
	uint64_t unknown;   /* samples of processes that were unknown at the time of the sample */
	uint64_t late;      /* records that were read after later ones had been written to the file */
	uint64_t ring_high; /* highest fill level of a ring, in 1/1000 of its size */
	uint64_t depth;     /* samples whose callchain has as many entries as the kernel allows */
};

/* Off-CPU times within the window: how many, and their sum in ns. Off-CPU times and CPU times together make the whole
 * times of the threads. */
struct pj_offcpu {
	/* Samples of the event offcpu-time. A time across a border of windows counts in each; over budget, one sample
	 * may be several times. */
	uint64_t blocked, blocked_ns;
	uint64_t preempted, preempted_ns;         /* samples of the event offcpu-time-preempted */
	uint64_t brief, brief_ns;                 /* times shorter than the requested minimum: not in the file */
	uint64_t unknown, unknown_ns;             /* times with lost switch records: an upper limit, not in the file */
	uint64_t without_chain, without_chain_ns; /* times without a callchain: not in the file */
	uint64_t before, before_ns; /* times from the start of the recording to the first switch-in: not in the file */
	/* Threads that were off the CPU during the whole recording; 0 if unknown, or if this is not the last window. */
	uint64_t never;
	uint64_t lost; /* switch records that the kernel could not store */
	/* Samples whose user stack was read while the thread was off the CPU, and certified; of these, those that end
	 * in a root frame; samples whose user stack is the callchain of the kernel. In windows of earlier versions the
	 * struct ends before these fields. */
	uint64_t read, read_ns, complete, complete_ns, unread, unread_ns;
	/* Processes of the recording itself that are left out, at the end of the window. In windows of earlier versions
	 * the struct ends before this field. */
	uint64_t own;
	/* Samples of waits of user threads that began before the recording, whose stacks were read (`read`); of these,
	 * those that end in a root frame. */
	uint64_t early, early_ns, early_complete_ns;
	/* User threads of which no sample has the wait that began before the recording: those that returned in this
	 * window after 100 ms or more, and those that are off the CPU still at its end. */
	uint64_t lacking;
};

/* Names of methods of one JVM, the head of an item. For an interpreted frame, a callchain has the marker CONTEXT_USER
 * and the address of HotSpot's Method; the marker precedes all addresses that do not follow a call. Rows follow up to
 * the end of the item, in any order and without padding: a struct pj_method and its name, spelled as by jcmd PID
 * Compiler.perfmap. */
struct pj_methods {
	uint32_t pid;      /* pid of the JVM as in the records */
	uint32_t left_out; /* frames of methods that got no row, because there were too many methods */
};

struct pj_method {
	uint64_t method;
	uint32_t size; /* bytes of the name; 0 if it could not be read */
} __attribute__((packed));

/* Interpreted functions of one process, the head of an item. A frame in one has, behind the marker CONTEXT_USER, the
 * address of its instruction, as the interpreter stores it (CPython, V8: in the bytecode), so a row describes an
 * instruction. Compiled and inlined functions of V8 have the addresses of the first and the second word of the
 * function's SharedFunctionInfo instead: the line is that of the function. If code was replaced within the window, the
 * rows of later code have addresses from PJ_FUNCTIONS_MORE on instead, where no process can map anything. Rows follow
 * up to the end of the item: a struct pj_function and its text, the name and the file, each of which ends before a NUL.
 * Readers show the name as it is. */
struct pj_functions {
	uint32_t pid;      /* pid of the process as in the records */
	uint32_t left_out; /* frames that got no row, because there were too many */
	uint32_t language; /* enum pj_language */
	uint32_t zero;
};

/* JavaScript has a value for each way in which a function runs: by the interpreter, compiled, inlined into another. */
enum pj_language {
	PJ_LANGUAGE_PYTHON = 1,
	PJ_LANGUAGE_RUBY = 2,
	PJ_LANGUAGE_PHP = 3,
	PJ_LANGUAGE_PERL = 4,
	PJ_LANGUAGE_JAVASCRIPT = 5,
	PJ_LANGUAGE_JAVASCRIPT_COMPILED,
	PJ_LANGUAGE_JAVASCRIPT_INLINED
};

struct pj_function {
	uint64_t address;
	uint32_t line; /* source line of the instruction; 0 if unknown */
	uint32_t size; /* bytes of the text */
};

#define PJ_FUNCTIONS_MORE UINT64_C(0x00fffffffe000000)
/* address of all frames without a name; their row has an empty text */
#define PJ_FUNCTIONS_UNNAMED UINT64_C(0x00fffffffdfffffe)

/* User stacks that the recorder unwound: stacks = complete + cut + broken + unknown. */
struct pj_unwinding {
	uint64_t stacks;
	uint64_t complete;            /* stacks that end in a root frame */
	uint64_t cut;                 /* truncated stacks: longer than the stack copy */
	uint64_t broken;              /* stacks that end at a frame without a caller */
	uint64_t fp, fp_complete;     /* stacks that were partly unwound by frame pointers; complete ones of these */
	uint64_t late;                /* stacks that were unwound before their unwind tables were loaded */
	uint64_t damaged;             /* malformed records: not in the file */
	uint64_t joined;              /* stacks that were continued above the copy by frame pointers */
	uint64_t java, java_complete; /* stacks with frames in code of a readable JVM; complete ones of these */
	uint64_t java_late;           /* stacks for which a JVM did not answer in time */
	uint64_t jvms_unread;         /* JVMs that are not readable: their code is unwound by frame pointers */
	uint64_t lost; /* stacks of `joined` whose frame pointers lead to no root frame: counted in cut */
	/* Broken stacks by reason. */
	uint64_t no_stack;  /* no stack was copied: in exec, between two programs, or in exit */
	uint64_t unmapped;  /* address in no known mapping */
	uint64_t no_table;  /* code without unwind tables and frame pointers: of a JIT, or of a file without tables */
	uint64_t no_rule;   /* code without an FDE in its file's tables, as assembly, and without frame pointers */
	uint64_t astray;    /* impossible results of the tables */
	uint64_t no_caller; /* code of a JVM: no caller at the slot that its code blob gives */
	uint64_t narrow;    /* 32-bit code */
	/* With --unwind=verify: stacks that have frame pointers, by the result of the comparison. */
	uint64_t same;      /* equal callers */
	uint64_t one_lost;  /* equal but for one caller, next to the leaf or to a stub, that frame pointers omit */
	uint64_t fewer;     /* frame pointers end, or omit callers, in code that does not maintain them */
	uint64_t lost_java; /* the same in Java code, as without -XX:+PreserveFramePointer */
	uint64_t short_of;  /* frame pointers continue where the unwinder found no caller */
	uint64_t other;     /* frame pointers lead to other callers */
	/* Stacks of unknown completeness: they reach a root frame, but by frame pointers in code that is not known to
	 * keep them. */
	uint64_t unknown;
	/* Samples, and stacks read off the CPU, of threads whose interpreter is read. Their interpreted frames are
	 * shown in `interpreted_shown`, and in the others the stack has its native frames alone, for one of the reasons
	 * that follow. */
	uint64_t interpreted, interpreted_shown;
	uint64_t interpreted_late;    /* no copy of the frames was made, or it was not evaluated in time */
	uint64_t interpreted_unsure;  /* the thread may have run before the copy was complete */
	uint64_t interpreted_invalid; /* no list of frames was found in the copy */
	uint64_t interpreted_other;   /* interpreted and native frames do not match */
	/* Frames in `interpreted_shown`, and those of them that have no name. */
	uint64_t functions, functions_unnamed;
	/* 1: pjrecord was to read interpreters in this window, with the right to it, even if it read none. */
	uint64_t interpreters;
	/* Number of processes with an interpreter that live and were refused, as their own user may not read them and
	 * pjrecord has no --interpreters=all; not a sum of windows. */
	uint64_t interpreters_private;
};

#endif
