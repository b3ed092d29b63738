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

enum { FEATURE_PJ_START = 250, FEATURE_PJ_END = 251 }; /* data that is known at the begin of the window; at its end */

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
			    * and none a complete one. */
	PJ_ITEM_METHODS,   /* struct pj_methods and its entries, one or more for a JVM; in END */
	PJ_ITEM_UNWOUND, /* u64, one for each event whose stacks were unwound: number of the event in the file, from 1;
			    in START. Without this item: all events */
	PJ_ITEM_TENANT,  /* struct pj_tenant, one each tenant that was over a budget; in END */
	PJ_ITEM_HELPER,  /* struct pj_helper, one for each kind of helper process with a failure; in END */
	PJ_ITEM_CODE_NAMES, /* struct pj_code_names and its entries: names that PJ_ITEM_CODE refers to; in END */
	PJ_ITEM_CODE /* struct pj_codes and its entries: compiled code and stubs of a JVM on stacks of the window; in
		      * END. In a pipe both precede the samples that need them. */
};

struct pj_window {
	uint64_t begin, end; /* on the clock of the records, ns; half-open; end: as planned, UINT64_MAX: open */
	uint64_t serial;     /* of this run, from 0 */
};

/* The process that had a pid. */
struct pj_process {
	uint32_t pid, inner_pid; /* as recorded; in its own PID namespace, 0: not known */
	uint64_t start;          /* clock ticks since boot, field 22 of /proc/PID/stat; 0: not known */
	uint64_t mount_ns;       /* inode of /proc/PID/ns/mnt; 0: not known */
	uint32_t flags;
	uint32_t tenant_kind; /* enum tenant_kind (tenants.h), 0: not known: whose symbols in DIR/symbols name its code
			       */
	uint64_t tenant;      /* key of the tenant; windows of earlier versions end before it */
};

enum { PJ_PROCESS_ELSEWHERE = 1 }; /* in another mount namespace than pjrecord: its paths are not those of the host */

/* The build-id of a mapped file, identified as in the MMAP2 records of the window: a path may be that of several
 * files, one each container, and of a file in memory it is anything. */
struct pj_build_id {
	struct file_id file_id;
	struct build_id build_id;
	uint8_t zero[3];
};

/* Names of the code of one JVM. Entries of struct pj_code_name follow, each with its bytes. */
struct pj_code_names {
	uint32_t pid;
	uint32_t jvm; /* number of the JVM in this recording: a pid may be that of several, one after the other */
};

struct pj_code_name {
	uint32_t number, size; /* PJ_ITEM_CODE refers to the number; size: bytes of the name */
};

/* Code of one JVM. Entries of struct pj_code follow. */
struct pj_codes {
	uint32_t pid, jvm;
	uint64_t left_out; /* lookups of code that the recorder could not list: its limit was reached */
};

/* Code of a JVM that appeared on stacks: it existed from `from` to `until`, on the clock of the records, UINT64_MAX:
 * until an entry with equal start, size, compile id and kind follows. It precedes nnames numbers of names (u32), the
 * method's own first, then the tree of inlined calls: numbers of jmapfile.h, as in pj-jmap(5): the number of nodes, for
 * each the parent (0: the method itself) and the index of its name; the number of ranges, for each the bytes from its
 * last offset to that of the range before, and its node. An entry without names only ends an earlier one. */
struct pj_code {
	uint64_t start, from, until;
	uint32_t size, compile_id;
	uint32_t nnames, bytes; /* bytes: of the tree */
	uint8_t kind, level;    /* enum jmap_kind of jmapfile.h; level: of the compiler, 1 to 4 */
	uint16_t zero[3];
};

/* Data that the recorder left out for a tenant (tenants.h) over its budget. */
struct pj_tenant {
	uint32_t kind, zero; /* enum tenant_kind; 0: several, or unknown */
	uint64_t key;
	uint64_t samples;  /* samples whose callchain is one frame, an address in PJ_OVER_BUDGET_PATH: */
	uint64_t mappings; /* executable mappings that are not recorded: addresses in them have no name */
	uint64_t reads;    /* processes with lost records that were not read from /proc */
	uint64_t bytes;    /* bytes that complete samples would have taken */
	uint64_t files; /* files for pjfold that were not saved, or were removed as the tenant was over its share of the
			 * disk; windows of    earlier versions end before it */
	uint64_t jvms;  /* lookups in its JVMs that were left out: their frames are walked by frame pointers */
	uint64_t tables; /* lookups of unwind tables that were left out: those frames are walked by frame pointers, too
			  */
};

/* Failures of helper processes of one kind in the window. */
enum pj_helper_kind { PJ_HELPER_TABLES, PJ_HELPER_JVM, PJ_HELPER_SAVER, PJ_HELPERS };

struct pj_helper {
	uint32_t kind, off;     /* off: 1 if none is running at the end */
	uint64_t hung, crashed; /* helper processes that were replaced */
	uint64_t avoided;       /* lookups that were not sent to a helper after a failure */
	uint64_t lingering;     /* killed helpers that have not ended, at the end of the window */
};

enum { PJ_TENANTS = 16 };

struct pj_tenants {
	struct pj_tenant row[PJ_TENANTS],
		others; /* rows: tenants with the largest losses; others: the sum of all others */
	uint32_t n;
};

/* A sample over budget has a callchain of one address in a mapping with this path, in the last page below 2^56, where
 * no process can map anything. Other readers show the path as the module. */
#define PJ_OVER_BUDGET_PATH "[over budget]"
#define PJ_OVER_BUDGET_START UINT64_C(0x00fffffffffff000)
#define PJ_OVER_BUDGET_BYTES UINT64_C(4096)
#define PJ_OVER_BUDGET_IP (PJ_OVER_BUDGET_START + 17) /* odd: no Method*, which is aligned */

struct pj_idle {
	uint32_t cpu, zero;
	uint64_t ns; /* idle time in the window, from /proc/stat */
};

struct pj_loss {
	uint64_t samples;   /* samples in the LOST and LOST_SAMPLES records of the file */
	uint64_t records;   /* records of process state that were lost: LOST records of the rings that carry it */
	uint64_t throttled; /* THROTTLE records */
	uint64_t unknown;   /* samples of processes that were unknown at that time */
	uint64_t late;      /* records that came after later ones had been written */
	uint64_t ring_high; /* fullest ring, in 1/1000 */
	uint64_t depth;     /* samples whose callchain reached the kernel's limit */
};

/* Off-CPU times within the window: their number, and ns. Together with the CPU times they are the times of the
 * threads. */
struct pj_offcpu {
	/* Samples of the event offcpu-time, one more for each border within a time. Over budget, several are one. */
	uint64_t blocked, blocked_ns;
	uint64_t preempted, preempted_ns; /* samples of the event offcpu-time-preempted */
	uint64_t brief, brief_ns;         /* times below the requested minimum: not in the file */
	uint64_t unknown, unknown_ns;     /* times with lost records: not in the file; an upper limit */
	uint64_t fp, fp_ns;               /* times without a callchain: not in the file */
	uint64_t before, before_ns; /* times from the start of the recording to the first switch-in: not in the file */
	uint64_t never; /* threads that were off the CPU during all of the recording; 0: unknown, or not the last window
			 */
	uint64_t lost;  /* switch records that the kernel could not store */
};

/* Methods of one JVM. Callchains have the address of HotSpot's Method for an interpreted frame, after a marker
 * (CONTEXT_USER), as all addresses that no call precedes. Rows follow, up to the end of the item, in no special order:
 * struct pj_method and its name, spelled as jcmd PID Compiler.perfmap does; without padding. */
struct pj_methods {
	uint32_t pid;      /* as recorded */
	uint32_t left_out; /* frames of methods without a row, because there were too many methods */
};

struct pj_method {
	uint64_t method;
	uint32_t size; /* bytes of the name; 0: it was not readable */
} __attribute__((packed));

/* User stacks that the recorder unwound: stacks = complete + cut + broken. */
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
};

#endif
