/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pjsection.h - layout of the feature sections that pjrecord adds to a perf.data.
 *
 * perf, and every reader that was tested, skips features with unknown bits (perf_file_section__process in
 * tools/perf/util/header.c). A section is a sequence of items { u32 type; u32 size; size bytes; zeros up to a multiple
 * of 8 } in any order. Readers skip unknown types. Of an item that is longer than expected, they read the part that
 * they know.
 *
 * In files of pjrecord, the features that are known at the start, among them section START, precede the data. The
 * obsolete header field event_types, which no reader uses, has the offset of a table of these features. This table is
 * u64[4] of feature bits, then a struct perf_section for each set bit, in the order of bits. So even the file of a
 * killed writer has host and time. The table of all features follows the data, as in other files.
 */
#ifndef PJ_PJSECTION_H
#define PJ_PJSECTION_H

#include "common/base.h"
#include "common/formats/buildid.h"
#include "common/formats/fileid.h"

/* Feature bits of the three sections: START, written at the start of a window; END, written at its end; NAMES, which
 * pjpack adds. */
enum { FEATURE_PJ_START = 250, FEATURE_PJ_END = 251, FEATURE_PJ_NAMES = 252 };

/*
 * The section FEATURE_PJ_NAMES makes a recording portable: it has the names of all addresses on the stacks of the
 * recording, by DSO and file offset, and the names of JIT code by address and time. The section is a struct pj_names
 * and a zlib stream (RFC 1950). The stream consists of numbers as in jmapfile.h, and of texts, each as its length and
 * bytes. The stream has four parts:
 *
 * 1. Texts: their number; the texts, none of them empty. Other parts refer to them by number, from 1; 0: none.
 *
 * 2. DSOs, in ascending order of keys: their number; for each its key (a text, fold/symbolized/symbolized.h), the
 * reason for addresses without a name (enum resolve_why), and the number of its addresses; for each address, in
 * ascending order, the difference to the previous one, its name, its kernel module, and the calls inlined there,
 * separated by NUL.
 *
 * 3. Processes with code of a jitdump or timeline, in ascending order of PIDs: their number; for each its PID, flags
 * (1: has a jitdump, which replaces PJ_ITEM_CODE), and the number of entries; for each entry, in ascending order of
 * address and time, the difference of its address to that of the previous entry, the time in ns from which on it is
 * valid (for an equal address, the difference to the previous entry), its name, and the calls inlined there.
 *
 * 4. Stacks, in a recording with copies of user stacks: their number; for each sample with a copy, in order of time,
 * the number of frames, the way the walk ended (enum unwind_end), and for each frame the signed difference of its
 * address to the previous one, and flags (1: Method*; 2: no return address).
 */
struct pj_names {
	uint32_t version;  /* version of this format: PJ_NAMES_VERSION */
	uint32_t flags;    /* PJ_NAMES_INLINED: inlined calls were looked up; else 0 */
	uint64_t size;     /* size of the decompressed stream in bytes */
	uint64_t left_out; /* number of results (names, addresses, code, stacks) that are left out because of a limit */
};

enum { PJ_NAMES_VERSION = 1, PJ_NAMES_INLINED = 1 };

/* limit for the bytes of the section after decompression: the writer leaves out entries beyond it, the reader refuses a
 * larger section */
#define PJ_NAMES_MAX ((uint64_t)32 << 20)
/* Limit for the bytes of all texts, each counted as often as an entry refers to it: the writer leaves out further
 * texts, the reader refuses the section. */
#define PJ_NAMES_REFERRED ((uint64_t)1 << 30)
/* limits for the numbers of texts, DSOs, processes and entries of code in the section, for writer and reader */
enum { PJ_NAMES_TEXTS = 1 << 21, PJ_NAMES_DSOS = 1 << 16, PJ_NAMES_PROCESSES = 1 << 16, PJ_NAMES_CODE = 1 << 18 };

struct pj_item {
	uint32_t type, size;
};

enum pj_item_type {
	/* section START: text of 36 bytes, /proc/sys/kernel/random/boot_id */
	PJ_ITEM_BOOT = 1,
	/* section START: struct pj_window */
	PJ_ITEM_WINDOW,
	/* section END: text, name of a file in DIR/symbols with kernel symbols that are valid for the window; several
	 * items are in order, newest first */
	PJ_ITEM_KALLSYMS,
	/* section END: struct pj_process, one for each process that was sampled */
	PJ_ITEM_PROCESS,
	/* section END: struct pj_idle, one for each CPU */
	PJ_ITEM_IDLE,
	/* section END: struct pj_loss */
	PJ_ITEM_LOSS,
	/* section START: text, version of pjrecord */
	PJ_ITEM_VERSION,
	/* section END of a recording with --off-cpu: struct pj_offcpu */
	PJ_ITEM_OFFCPU,
	/* section END: struct pj_build_id, one for each mapped file whose MMAP2 records have no build-id */
	PJ_ITEM_BUILD_ID,
	/* of a recording with --unwind: empty in section START, struct pj_unwinding in section END. With this item, the
	 * number of markers CONTEXT_USER at the end of a callchain shows the completeness of the stack: none: complete;
	 * one: truncated; two: broken; three: unknown; four: unwound by the kernel by frame pointers, and its end was
	 * not verified; PJ_MARKS_OTHER_STACK and PJ_MARKS_NO_STACK: broken, for the reasons that
	 * pj_unwinding.other_stack and no_stack count. Readers treat larger numbers as broken. */
	PJ_ITEM_UNWINDING,
	/* section END: struct pj_methods and its rows, one or more items for each JVM */
	PJ_ITEM_METHODS,
	/* section START: u64, one for each event whose stacks were unwound: number of the event in the file, from 1.
	 * Without this item, the stacks of all events were unwound. */
	PJ_ITEM_UNWOUND,
	/* section END: struct pj_tenant, one for each tenant that was over a budget */
	PJ_ITEM_TENANT,
	/* section END: struct pj_helper, one for each kind of helper process that failed */
	PJ_ITEM_HELPER,
	/* section END: struct pj_code_names and its entries, the names to which PJ_ITEM_CODE refers */
	PJ_ITEM_CODE_NAMES,
	/* section END: struct pj_codes and its entries, compiled code and stubs of a JVM on stacks of the window. In a
	 * pipe, the items with code and its names precede the samples that need them. */
	PJ_ITEM_CODE,
	/* section END: struct pj_functions and its rows, one or more items for each process: functions of interpreters
	 * on stacks */
	PJ_ITEM_FUNCTIONS,
	/* section END of a recording with --off-cpu: u64, time at which the window ended, in ns of the record clock. If
	 * an off-CPU sample has the timestamp of the last ns of the window, its thread was still off the CPU at the end
	 * of the window. */
	PJ_ITEM_BORDER,
	/* section END: struct pj_methods and its rows, as in PJ_ITEM_METHODS: classes of allocated Java objects */
	PJ_ITEM_CLASSES,
	/* section START: u64, maximum number of addresses in a callchain of the kernel
	 * (kernel.perf_event_max_stack) */
	PJ_ITEM_MAX_STACK
};

struct pj_window {
	/* Start of the window, and planned end of it (exclusive), in ns of the record clock; end UINT64_MAX: no planned
	 * end. */
	uint64_t begin, end;
	uint64_t serial; /* number of the window in this run of pjrecord, from 0 */
};

/* A process that was sampled. Several processes can have one PID, one after the other. */
struct pj_process {
	/* pid: as in the records; inner_pid: PID in the PID namespace of the process, 0: unknown */
	uint32_t pid, inner_pid;
	uint64_t start;    /* start time in clock ticks since boot, field 22 of /proc/PID/stat; 0: unknown */
	uint64_t mount_ns; /* inode of its mount namespace, /proc/PID/ns/mnt; 0: unknown */
	uint32_t flags;
	/* Kind of the tenant (enum tenant_kind in tenant.h) in whose folder of DIR/symbols the files of the process
	 * are; 0: unknown. */
	uint32_t tenant_kind;
	uint64_t tenant; /* key of the tenant; windows of earlier versions end the struct before this member */
};

/* Flag: the process is in another mount namespace than pjrecord, so its paths are not valid on the host. */
enum { PJ_PROCESS_ELSEWHERE = 1 };

/* Build-id of a mapped file. The file is identified as in MMAP2 records of the window, because several files can have
 * one path (one in each container), and a file in memory can have any path. */
struct pj_build_id {
	struct file_id file_id;
	struct build_id build_id;
	uint8_t zero[3];
};

/* Head of an item with names of code of one JVM. Entries follow, each a struct pj_code_name and the bytes of the
 * name. */
struct pj_code_names {
	uint32_t pid;
	/* number of the JVM in this recording, since several JVMs can have one PID, one after the other */
	uint32_t jvm;
};

struct pj_code_name {
	uint32_t number, size; /* number: number of the name, for PJ_ITEM_CODE; size: bytes of the name */
};

/* Head of an item with code of one JVM. Entries follow, each a struct pj_code with names and inlined calls. */
struct pj_codes {
	uint32_t pid, jvm;
	uint64_t left_out; /* number of lookups of code that is missing here because the recorder reached its limit */
};

/* Code of a JVM, seen on stacks: `size` bytes at address `start`. It existed from `from` to `until`, in ns of the
 * record clock. until UINT64_MAX: until the end of the recording, or until a later entry with equal start, size,
 * compile id and kind, but without names, ends it. After this struct come nnames numbers of names (u32), the first of
 * which is that of the method itself. Then come `bytes` bytes: the tree of inlined calls, in the numbers of jmapfile.h,
 * as in pj-jmap(5). The tree is the number of nodes, and for each its parent (0: the method itself) and the index of
 * its name; then the number of ranges, and for each the difference of its last offset to that of the previous range,
 * and its node. */
struct pj_code {
	uint64_t start, from, until;
	uint32_t size, compile_id;
	uint32_t nnames, bytes; /* nnames: number of names; bytes: size of the tree of inlined calls */
	/* kind: enum jmap_kind (jmapfile.h); level: compilation level of the JIT compiler, 1 to 4 */
	uint8_t kind, level;
	uint16_t zero[3];
};

/* Amounts of data that the recorder left out because a tenant (tenants.h) was over a budget. */
struct pj_tenant {
	uint32_t kind, zero; /* kind: enum tenant_kind, 0: several tenants, or an unknown one */
	uint64_t key;
	uint64_t samples;  /* number of samples whose callchain was replaced by PJ_OVER_BUDGET_IP */
	uint64_t mappings; /* number of executable mappings that are not recorded: addresses in them have no name */
	uint64_t reads;    /* number of processes with lost records whose state was not read from /proc */
	/* number of bytes that the samples counted in `samples` would have taken in the file, if complete */
	uint64_t bytes;
	/* Number of files for pjfold that were not saved, or that were removed because the tenant exceeded its share of
	 * the disk. Windows of earlier versions end the struct before this member. */
	uint64_t files;
	/* number of lookups in JVMs of the tenant that were not made: the frames were unwound by frame pointers */
	uint64_t jvms;
	/* number of lookups of unwind tables that were not made: the frames were unwound by frame pointers */
	uint64_t tables;
};

/* Kinds of helper processes. */
enum pj_helper_kind {
	PJ_HELPER_TABLES,
	PJ_HELPER_JVM,
	PJ_HELPER_SAVER,
	PJ_HELPER_INTERPRETER,
	PJ_HELPER_WAIT,
	PJ_HELPERS
};

struct pj_helper {
	/* kind: enum pj_helper_kind; off: 1 if no helper of this kind ran at the end of the window, else 0 */
	uint32_t kind, off;
	/* hung: number of helpers that did not respond in time; crashed: number of helpers that ended unexpectedly; all
	 * were replaced */
	uint64_t hung, crashed;
	/* number of lookups that were not made, because a helper had failed at files of the same fault domain */
	uint64_t avoided;
	uint64_t lingering; /* number of killed helpers that had not ended at the end of the window */
};

enum { PJ_TENANTS = 16 };

struct pj_tenants {
	struct pj_tenant row[PJ_TENANTS],
		others; /* row: the n tenants with the largest losses; others: sum of all other tenants */
	uint32_t n;
};

/* The callchain of a sample over budget is one address in a mapping with this path. The address is in the last page
 * below 2^56, where no process can map anything. Readers that do not know this address show the path as the name of the
 * module. */
#define PJ_OVER_BUDGET_PATH "[over budget]"
#define PJ_OVER_BUDGET_START UINT64_C(0x00fffffffffff000)
#define PJ_OVER_BUDGET_BYTES UINT64_C(4096)
/* odd, so that readers do not mistake it for a Method*, which is aligned */
#define PJ_OVER_BUDGET_IP (PJ_OVER_BUDGET_START + 17)

struct pj_idle {
	uint32_t cpu, zero;
	uint64_t ns; /* idle time of the CPU in the window in ns, from /proc/stat */
};

struct pj_loss {
	uint64_t samples; /* number of lost samples: sum of the LOST_SAMPLES records in the file */
	/* number of lost records of process state (mappings, names, forks): sum of the LOST records of their rings; in
	 * a window that a later pjrecord completed, also of lost context switches, whose LOST records look the same */
	uint64_t records;
	uint64_t throttled; /* number of THROTTLE records */
	uint64_t unknown;   /* number of samples of processes that were unknown at the time of the sample */
	uint64_t late;      /* number of records that were read after later ones had been written to the file */
	uint64_t ring_high; /* highest fill level of a ring, in 1/1000 of its size */
	uint64_t depth;     /* number of samples whose callchain has as many entries as the kernel allows */
};

/* Off-CPU times within the window: their number and (_ns) their sum in ns. Off-CPU times and CPU times of a thread
 * together are all its time. */
struct pj_offcpu {
	/* Samples of the event offcpu-time. A time that continues over a border of windows is counted in each window;
	 * over budget, one sample may stand for several times. */
	uint64_t blocked, blocked_ns;
	uint64_t preempted, preempted_ns; /* samples of the event offcpu-time-preempted */
	uint64_t brief, brief_ns;         /* times shorter than the requested minimum, which are not in the file */
	/* upper limits of the times whose switch records were lost, which are not in the file */
	uint64_t unknown, unknown_ns;
	uint64_t without_chain, without_chain_ns; /* times without a callchain, which are not in the file */
	/* times from the start of the recording to the first switch-in, which are not in the file */
	uint64_t before, before_ns;
	/* Number of threads that were off the CPU during the whole recording; 0 if unknown, or if this is not the last
	 * window. */
	uint64_t never;
	uint64_t lost; /* number of switch records that the kernel could not store */
	/* read: samples whose user stack was read while the thread was off the CPU, with a certificate; complete:
	 * samples of `read` whose stack ends in a root frame; unread: samples whose user stack is the callchain of the
	 * kernel. Windows of earlier versions end the struct before these members. */
	uint64_t read, read_ns, complete, complete_ns, unread, unread_ns;
	/* Number of processes that belong to the recording itself and are left out, at the end of the window. Windows
	 * of earlier versions end the struct before this member. */
	uint64_t own;
	/* early: samples of waits of user threads that began before the recording, and whose stacks were read (counted
	 * in `read`, too); early_complete_ns: time of `early` samples whose stack ends in a root frame. */
	uint64_t early, early_ns, early_complete_ns;
	/* Number of user threads whose wait began before the recording and is in no sample: those that returned in this
	 * window after 100 ms or more, and those that were still off the CPU at its end. */
	uint64_t lacking;
	/* Parts of read_ns, complete_ns and unread_ns that belong to samples of the event offcpu-time-preempted; 0 with
	 * --wall, where all events are one profile. Windows of earlier versions end the struct before these members. */
	uint64_t preempted_read_ns, preempted_complete_ns, preempted_unread_ns;
};

/* Head of an item with names of methods of one JVM. An interpreted frame in a callchain is the marker CONTEXT_USER and
 * the address of the HotSpot Method; the marker precedes all addresses that are no return addresses. Rows follow up to
 * the end of the item, in any order and without padding: a struct pj_method and its name, spelled as in the output of
 * jcmd PID Compiler.perfmap. */
struct pj_methods {
	uint32_t pid;      /* PID of the JVM as in the records */
	uint32_t left_out; /* number of frames of methods that got no row, because there were too many methods */
};

struct pj_method {
	uint64_t method;
	uint32_t size; /* size of the name in bytes; 0: the name could not be read */
} __attribute__((packed));

/* The leaf frame of an allocation is the marker CONTEXT_USER and the address of the Klass (HotSpot) of the allocated
 * object, plus PJ_CLASS_BIT. The bit distinguishes classes from methods, because the addresses of both structures are
 * multiples of 8. The name in PJ_ITEM_CLASSES is spelled as readers show it: java/util/HashMap, byte[]. */
#define PJ_CLASS_BIT UINT64_C(2)

static inline bool pj_is_class(uint64_t address)
{
	return (address & 7) == PJ_CLASS_BIT;
}

/* Head of an item with functions of one process that an interpreter or V8 runs. Rows follow up to the end of the item.
 * A row is a struct pj_function and its text: name and file of the function, each ended by a NUL. Readers show the name
 * as it is. In a callchain, a frame of such a function is the marker CONTEXT_USER and an address; the row with the same
 * address names the frame. The address is:
 * - of an interpreted function, that of the current instruction as the interpreter stores it (CPython, V8: in the
 *   bytecode), and the row has the line of this instruction; if the instruction is unknown, the address of the code or
 *   of the function itself;
 * - of a compiled function of V8, that of its SharedFunctionInfo; of an inlined one, that of its SharedFunctionInfo +
 * 8; both rows have the first line of the function;
 * - of code that replaced other code at the same address within the window, a number from PJ_FUNCTIONS_MORE on, where
 * no process can map anything. */
struct pj_functions {
	uint32_t pid;      /* PID of the process as in the records */
	uint32_t left_out; /* number of frames that got no row, because there were too many functions */
	uint32_t language; /* enum pj_language */
	uint32_t zero;
};

/* Language of functions. JavaScript has one value for each way in which a function runs: interpreted, compiled, inlined
 * into another one. */
enum pj_language {
	PJ_LANGUAGE_PYTHON = 1,
	PJ_LANGUAGE_RUBY = 2,
	PJ_LANGUAGE_PHP = 3,
	PJ_LANGUAGE_PERL = 4,
	PJ_LANGUAGE_JAVASCRIPT = 5,
	PJ_LANGUAGE_JAVASCRIPT_COMPILED,
	PJ_LANGUAGE_JAVASCRIPT_INLINED,
	PJ_LANGUAGE_JAVA_CLASS /* readers use it for the rows of PJ_ITEM_CLASSES; no pj_functions has this value */
};

struct pj_function {
	uint64_t address;
	/* source line: of the instruction, or the first line of a compiled or inlined function; 0: unknown */
	uint32_t line;
	uint32_t size; /* size of the text in bytes */
};

#define PJ_FUNCTIONS_MORE UINT64_C(0x00fffffffe000000)
/* Address of all frames without a name; their row has an empty text. */
#define PJ_FUNCTIONS_UNNAMED UINT64_C(0x00fffffffdfffffe)

/* Numbers of markers at the end of callchains (PJ_ITEM_UNWINDING). BROKEN: broken stack; NOT_VERIFIED: callchain of the
 * kernel whose end was not verified; OTHER_STACK, NO_STACK: stack broken for this reason (pj_unwinding). Windows of
 * earlier versions have PJ_MARKS_BROKEN for all broken stacks; their pj_unwinding has no other_stack. */
enum { PJ_MARKS_BROKEN = 2, PJ_MARKS_NOT_VERIFIED = 4, PJ_MARKS_OTHER_STACK = 5, PJ_MARKS_NO_STACK = 6 };

/* Numbers of user stacks that the recorder unwound: stacks = complete + cut + broken + unknown. */
struct pj_unwinding {
	uint64_t stacks;
	uint64_t complete; /* stacks that end in a root frame */
	uint64_t cut;      /* truncated stacks, which are longer than the stack copy */
	uint64_t broken;   /* broken stacks, which end at a frame without a caller */
	/* fp: number of stacks that were partly unwound by frame pointers; fp_complete: number of these that are
	 * complete */
	uint64_t fp, fp_complete;
	uint64_t late;    /* stacks that were unwound before their unwind tables were loaded */
	uint64_t damaged; /* malformed records, which are not in the file */
	uint64_t joined;  /* stacks longer than the stack copy that were continued by frame pointers */
	/* java: number of stacks with frames in code of a readable JVM; java_complete: number of these that are
	 * complete */
	uint64_t java, java_complete;
	uint64_t java_late;   /* stacks for which the reader of a JVM did not answer in time */
	uint64_t jvms_unread; /* JVMs that pjrecord may not read: their code is unwound by frame pointers */
	uint64_t lost;        /* stacks of `joined` whose frame pointers lead to no root frame; `cut` includes them */
	/* no_stack to no_caller: numbers of broken stacks by the reason why they end: */
	uint64_t no_stack; /* stacks broken because none was copied: in exec, between two programs, or in exit */
	uint64_t unmapped; /* stacks broken at an address in no known mapping */
	/* stacks broken in code without unwind tables and frame pointers: of a JIT, or of a file without tables */
	uint64_t no_table;
	/* stacks broken in code without frame pointers and without an FDE in the tables of its file, such as
	 * assembly */
	uint64_t no_rule;
	uint64_t astray;    /* stacks broken by an impossible result of the unwind tables */
	uint64_t no_caller; /* stacks broken in JVM code: the stack slot that the code blob gives contains no caller */
	/* stacks of 32-bit code: callchains of the kernel; `broken` includes them */
	uint64_t narrow;
	/* same to other, with --unwind=verify: numbers of stacks with frame pointers, by the result of the
	 * comparison: */
	uint64_t same; /* stacks for which frame pointers give the same callers */
	/* stacks for which frame pointers omit only one caller, that of the leaf or of a stub, and otherwise give the
	 * same callers as the unwind tables */
	uint64_t one_lost;
	/* stacks for which frame pointers end, or omit callers, in native code that does not maintain them */
	uint64_t fewer;
	/* stacks for which frame pointers end, or omit callers, in Java code, as without -XX:+PreserveFramePointer */
	uint64_t lost_java;
	uint64_t short_of; /* stacks for which frame pointers continue where the unwinder found no caller */
	uint64_t other;    /* stacks for which frame pointers lead to other callers */
	/* Stacks of unknown completeness: they reach a root frame, but by frame pointers of code that is not known to
	 * maintain them. */
	uint64_t unknown;
	/* interpreted: number of samples, and of stacks read off the CPU, of threads whose interpreter is read;
	 * interpreted_shown: number of these that show interpreted frames. The others have only native frames, for the
	 * reasons that interpreted_late, _unsure, _invalid and _other count. */
	uint64_t interpreted, interpreted_shown;
	/* samples without interpreted frames, because no copy of the frames was made, or the copy was not evaluated in
	 * time */
	uint64_t interpreted_late;
	/* samples without interpreted frames: the thread may have run before the copy was complete */
	uint64_t interpreted_unsure;
	/* samples without interpreted frames: the copy contains no valid list of frames */
	uint64_t interpreted_invalid;
	uint64_t interpreted_other; /* samples without interpreted frames: interpreted and native frames do not match */
	/* functions: number of interpreted frames in `interpreted_shown`; functions_unnamed: number of these without a
	 * name. */
	uint64_t functions, functions_unnamed;
	/* 1 if pjrecord was started to read interpreters and had the right to in this window, even if it read none;
	 * else 0. The sum over windows is the number of such windows. */
	uint64_t interpreters;
	/* Number of live processes with an interpreter that were refused, because their own user may not read them and
	 * pjrecord was started without --interpreters=all. Counted at one time, so windows cannot be added. */
	uint64_t interpreters_private;
	/* Number of stacks of `late` that are broken, without those of no_stack and other_stack. In windows of earlier
	 * versions the struct ends before this field. */
	uint64_t broken_late;
	/* Stacks broken in code that has changed to another stack, such as runtime.systemstack of Go. In windows of
	 * earlier versions the struct ends before this field. */
	uint64_t other_stack;
	/* nmethods whose inlined calls exceed the limits of one request, so their frames lack the inlined methods. In
	 * windows of earlier versions the struct ends before this field. */
	uint64_t java_limited;
};

#endif
