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

enum { FEATURE_PJ_START = 250, FEATURE_PJ_END = 251 }; /* known when the window begins; known when it ended */

struct pj_item {
	uint32_t type, size;
};

enum pj_item_type {
	PJ_ITEM_BOOT = 1,  /* text: /proc/sys/kernel/random/boot_id, 36 bytes */
	PJ_ITEM_WINDOW,    /* struct pj_window, in START */
	PJ_ITEM_KALLSYMS,  /* text: name of a file in DIR/symbols with kernel symbols that held; newest first; in END */
	PJ_ITEM_PROCESS,   /* struct pj_process, one each that was sampled; in END */
	PJ_ITEM_IDLE,      /* struct pj_idle, one each CPU; in END */
	PJ_ITEM_LOSS,      /* struct pj_loss; in END */
	PJ_ITEM_VERSION,   /* text: version of pjrecord; in START */
	PJ_ITEM_OFFCPU,    /* struct pj_offcpu, of a recording with --off-cpu; in END */
	PJ_ITEM_BUILD_ID,  /* struct pj_build_id, one for each file whose mappings lack it; in END */
	PJ_ITEM_UNWINDING, /* of a recording with --unwind: empty in START, struct pj_unwinding in END. One
			    * CONTEXT_USER at the end of a callchain then marks a truncated stack, two a broken one,
			    * and none a complete one. */
	PJ_ITEM_METHODS,   /* struct pj_methods and what follows it, one or more of a JVM; in END */
	PJ_ITEM_UNWOUND,   /* u64, one each event whose stacks that holds for: number in the file, from 1; in START.
			      Without it: all */
	PJ_ITEM_TENANT,    /* struct pj_tenant, one each tenant that was over a budget; in END */
	PJ_ITEM_HELPER     /* struct pj_helper, one each kind of helper process to which something happened; in END */
};

struct pj_window {
	uint64_t begin, end; /* on the clock of the records, ns; half-open; end: as planned, UINT64_MAX: open */
	uint64_t serial;     /* of this run, from 0 */
};

/* Which process a pid was. */
struct pj_process {
	uint32_t pid, inner_pid; /* as recorded; in its own PID namespace, 0: not known */
	uint64_t start;          /* clock ticks since boot, field 22 of /proc/PID/stat; 0: not known */
	uint64_t mount_ns;       /* inode of /proc/PID/ns/mnt; 0: not known */
	uint32_t flags;
	uint32_t tenant_kind; /* enum tenant_kind (tenants.h), 0: not known: whose symbols in DIR/symbols name its code
			       */
	uint64_t tenant;      /* its key; windows of earlier versions end before it */
};

enum { PJ_PROCESS_ELSEWHERE = 1 }; /* in another mount namespace than pjrecord: its paths are not those of the host */

/* The build-id of a mapped file, identified as in the MMAP2 records of the window: a path may be that of several
 * files, one each container, and of a file in memory it is anything. */
struct pj_build_id {
	struct file_id file_id;
	struct build_id build_id;
	uint8_t zero[3];
};

/* Data that the recorder left out for a tenant (tenants.h) over its budget. */
struct pj_tenant {
	uint32_t kind, zero; /* enum tenant_kind; 0: several, or unknown */
	uint64_t key;
	uint64_t samples;  /* whose callchain is one frame, an address in PJ_OVER_BUDGET_PATH: */
	uint64_t mappings; /* executable mappings that are not recorded: addresses in them have no name */
	uint64_t reads;    /* times that a process of which records were lost was not read from /proc */
	uint64_t bytes;    /* that complete samples would have taken */
	uint64_t files; /* files for pjfold that were not saved, or were removed as the tenant was over its share of the
			 * disk; windows of    earlier versions end before it */
	uint64_t jvms;  /* lookups in its JVMs that were left out: their frames are walked by frame pointers */
	uint64_t tables; /* lookups of unwind tables that were left out; the same */
};

/* Failures of helper processes of one kind in the window. */
enum pj_helper_kind { PJ_HELPER_TABLES, PJ_HELPER_JVM, PJ_HELPER_SAVER, PJ_HELPERS };

struct pj_helper {
	uint32_t kind, off;     /* off: 1 if none is running at the end */
	uint64_t hung, crashed; /* that were replaced */
	uint64_t avoided;       /* lookups that were not put to a helper after a failure */
	uint64_t lingering;     /* now: killed ones that have not ended */
};

enum { PJ_TENANTS = 16 };

struct pj_tenants {
	struct pj_tenant row[PJ_TENANTS], others; /* rows: those that lost most; others: all that are in no row */
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
	uint64_t ns; /* within the window, from /proc/stat */
};

struct pj_loss {
	uint64_t samples;   /* in the file's LOST and LOST_SAMPLES records */
	uint64_t records;   /* of the process state: LOST records of the rings that carry it */
	uint64_t throttled; /* THROTTLE records */
	uint64_t unknown;   /* samples of processes nothing was known of when they came */
	uint64_t late;      /* records that came after later ones had been written */
	uint64_t ring_high; /* fullest ring, in 1/1000 */
	uint64_t depth;     /* samples whose callchain reached the kernel's limit */
};

/* Times off the CPU, within the window: how often, and ns. Together with the time on the CPU they are that of the
 * threads. */
struct pj_offcpu {
	uint64_t blocked, blocked_ns; /* samples of the event offcpu-time, one more for each border within; over budget
					 several are one */
	uint64_t preempted, preempted_ns; /* and of offcpu-time-preempted */
	uint64_t brief, brief_ns;         /* below the requested minimum: not in the file */
	uint64_t unknown, unknown_ns;     /* records were lost: not in the file, an upper limit */
	uint64_t fp, fp_ns;               /* without callchain: not in the file */
	uint64_t before,
		before_ns; /* threads that were off when the recording began, until they came back: not in the file */
	uint64_t never;    /* and those that did not come back; 0: not known, or not the last window */
	uint64_t lost;     /* records of switches that the kernel could not store */
};

/* Methods of one JVM whose interpreted frames stand in callchains by the address of HotSpot's Method, after a mark
 * (CONTEXT_USER), as all addresses that no call is before. Rows follow, up to the end of the item, in no special order:
 * struct pj_method and its name, spelled as jcmd PID Compiler.perfmap does; without padding. */
struct pj_methods {
	uint32_t pid;      /* as recorded */
	uint32_t left_out; /* frames of methods that have no row, since there were too many */
};

struct pj_method {
	uint64_t method;
	uint32_t size; /* of the name; 0: it could not be read */
} __attribute__((packed));

/* User stacks that the recorder walked: complete + truncated (cut) + broken. */
struct pj_unwinding {
	uint64_t stacks;
	uint64_t complete;        /* end in a root that is known */
	uint64_t cut;             /* go on above the copy of the stack */
	uint64_t broken;          /* end where no caller could be found */
	uint64_t fp, fp_complete; /* with frames in code without tables, by frame pointers; complete ones of these */
	uint64_t late;            /* some table was not there in time */
	uint64_t damaged;         /* records that make no sense: not in the file */
	uint64_t joined;          /* that went on above the copy, by frame pointers */
	uint64_t java, java_complete; /* with frames in code of a readable JVM; complete ones of these */
	uint64_t java_late;           /* a JVM did not answer in time */
	uint64_t jvms_unread;         /* JVMs that cannot be read: their code is walked by frame pointers */
	uint64_t lost;                /* of those joined, ones that frame pointers do not lead to a root: cut */
	/* why stacks are broken */
	uint64_t no_stack;  /* nothing was copied: between two programs (exec), or in exit */
	uint64_t unmapped;  /* code in no mapping that is known */
	uint64_t no_table;  /* code made at run time, or of a file without tables, that keeps no frame pointer */
	uint64_t no_rule;   /* code that the tables of its file leave out, as assembly, and that keeps none */
	uint64_t astray;    /* impossible results of the tables */
	uint64_t no_caller; /* code of a JVM: no caller at the slot that its code blob gives */
	uint64_t narrow;    /* 32-bit code */
	/* with --unwind=verify, of stacks that have frame pointers */
	uint64_t same;      /* have the callers that these lead to, */
	uint64_t one_lost;  /* and one, next to the leaf or to a stub, that these lose */
	uint64_t fewer;     /* these end, or leave callers out, in code that keeps none, */
	uint64_t lost_java; /* or in Java, as without -XX:+PreserveFramePointer */
	uint64_t short_of;  /* these go on where no caller was found */
	uint64_t other;     /* these lead to others */
};

#endif
