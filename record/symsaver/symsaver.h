/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symsaver.h - the symbol store: saves symbols that pjfold will need and may not find later: of binaries, of JITs,
 * of the kernel.
 *
 *	symbols/.build-id/xx/yyyy.debug
 *		reduced ELF files: symbols, no code (elfreducer.h); of files that only root can write
 *	symbols/<boot>/<maj>-<min>-<ino>-<gen>
 *		the same by file_id, in hex; a link if the file has a build-id
 *	symbols/tenants/<tenant>/...
 *		both, of all other files: they name code of that tenant only
 *	symbols/shared/xx/yyyy.debug
 *		another link of the first such file with a build-id, to find equal ones
 *	symbols/kallsyms-<boot>.<n>.gz
 *		/proc/kallsyms after each change of modules; modules-<boot>.<n> beside it
 *	jit/<boot>/<tenant>/<pid>-<start>.map, .map.1, .dump
 *		files that the process wrote; .map.1: the map before
 *
 * A build-id is only a claim of the file, so it counts within an origin: files of root on this host, which all
 * processes share, or files that a tenant (tenants.h) brought. A saved file is never replaced; equal files of
 * several tenants are one file with several links.
 *
 * A separate process, the symbol saver, does the work: the files that it opens belong to target processes, and may
 * be on a file system that never responds. A further process without rights parses ELF files (symhelper.h). The
 * recorder itself opens no mapped file. It only sends short messages, and never waits: a message without space in
 * the ring is dropped and counted. A symbol saver that hangs or crashes is counted, reported and replaced; files of
 * that place (backoff.h) are avoided for a while. When the recorder ends, in any way, the symbol saver finishes its
 * queue and ends, too.
 *
 * The recorder repeats all messages in each window, which is cheap (a repeated message costs one lookup here). So a
 * new symbol saver needs no other state, and the files that a window needs are touched: the time of modification of
 * a saved file is that of the last window that needs it. Files older than the oldest window in DIR, and than
 * min_age_s, are removed; beyond max_bytes the least recently needed files of tenants over their share are removed
 * even if a window needs them, and counted as forced (saversweep.h).
 */
#ifndef PJ_SYMSAVER_H
#define PJ_SYMSAVER_H

#include "common/formats/fileid.h"
#include "common/formats/buildid.h"
#include "common/str.h"
#include "common/process/tenants.h"

struct symsaver_options {
	const char *dir;    /* DIR, which exists and belongs to the recorder's user. NULL: only build-ids are read */
	bool all;           /* save also binaries of the host that will stay, to fold on another host */
	uint64_t max_bytes; /* on disk, of symbols/ and jit/ together; 0: 1 GiB */
	uint64_t min_age_s; /* 0: a day */
	double min_free;    /* share of the file system, 0..1, that stays free; 0: no limit */
	unsigned hang_s;    /* time at one file that counts as hanging, as do 2 s without progress; 0: 20 */
	const char *proc;   /* /proc, or NULL */
};

/* A process, as the window identifies it (struct pj_process). */
struct symsaver_process {
	uint32_t pid;
	uint64_t start;    /* 0: unknown, its JIT files are not saved */
	uint64_t mount_ns; /* 0: unknown. For an ended process: that of its parent */
	struct tenant of;  /* tenant of its files */
};

/* As in the MMAP2 record of the window. */
struct symsaver_mapping {
	uint64_t start, length, pgoff;
	struct file_id file_id;   /* 0 if the record has a build-id */
	struct build_id build_id; /* n is 0 if it is unknown */
	struct str path;          /* also "//anon", "/memfd:x (deleted)" and the like */
};

enum symsaver_reason {                     /* reasons not to save a file */
		       SYMSAVER_GONE,      /* the process ended before its files were opened, and no other has them */
		       SYMSAVER_FORBIDDEN, /* no permission: CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH */
		       SYMSAVER_OTHER,     /* the path has another file, and the mapped one cannot be opened */
		       SYMSAVER_NOT_ELF,   /* not a regular file, not an ELF file, damaged, or without names */
		       SYMSAVER_LARGE,     /* beyond the limits for one file or process */
		       SYMSAVER_UNTRUSTED, /* a map or dump that is a link, belongs to another user, or is no text */
		       SYMSAVER_DISK,      /* cannot be written */
		       SYMSAVER_HUNG,      /* in a place in which a symbol saver hung (backoff.h) */
		       SYMSAVER_SLOW,      /* in a slow place: too many messages wait for it */
		       SYMSAVER_BUDGET,    /* its tenant is over its budget (saverbudget.h) */
		       SYMSAVER_REASONS
};

struct symsaver_counts {
	uint64_t binaries, maps, kernels;  /* saved by this run: binaries, files of JITs, kallsyms */
	uint64_t bytes;                    /* on disk now, of all runs */
	uint64_t failed[SYMSAVER_REASONS]; /* files not saved, each counted once in a window */
	uint64_t dropped;                  /* messages */
	uint64_t conflicts; /* files with the build-id of another file but other symbols: used for their tenant only */
	uint64_t removed, forced; /* files removed because no window needs them, and files removed although a window
				     needs them, as all exceeded max_bytes */
	uint64_t hung, crashed;   /* symbol savers */
	uint64_t lingering, off;  /* now: killed ones that have not ended; off 1: none runs */
	uint64_t kernel_hidden;   /* kallsyms has only addresses 0: kernel.kptr_restrict, CAP_SYSLOG */
};

/* Returns the differences of two counts; `bytes` is that of the later one. */
struct symsaver_counts symsaver_since(const struct symsaver_counts *now, const struct symsaver_counts *before);

struct symsaver;

/* Starts the symbol saver. To be called after privileges are dropped, and before threads start, as it forks. The caller
 * must not reap unknown children (waitpid(-1)). Returns NULL and *why if the folders cannot be used (links, folders of
 * other users) or fork fails. */
struct symsaver *symsaver_start(const struct symsaver_options *options, const char **why);

/* To be called whenever the state of a process is written into a window: at its first sample, and for each executable
 * mapping then and later. Cheap if nothing is to be saved. symsaver_process returns true if the process is in another
 * mount namespace or has another root, so that its paths are not the recorder's (PJ_PROCESS_ELSEWHERE). */
bool symsaver_process(struct symsaver *saver, const struct symsaver_process *process);
void symsaver_mapping(struct symsaver *saver, const struct symsaver_process *process,
		      const struct symsaver_mapping *mapping);

/* Returns the build-id that the symbol saver read, in this window or the one before, from a file whose mapping has
 * none; n is 0 if it is unknown (yet). No other process of pjrecord opens mapped files to read build-ids: their file
 * systems may never respond. */
struct build_id symsaver_build_id(struct symsaver *saver, const struct symsaver_mapping *mapping);

/* Waits until the symbol saver has processed all messages, at most deadline_ms, and not while it hangs. For the end of
 * a recording, to get the build-ids of its last processes. */
void symsaver_settle(struct symsaver *saver, unsigned deadline_ms);

/* To be called when a process ends, not for its threads. */
void symsaver_exit(struct symsaver *saver, uint32_t pid);

/* To be called at each window border: all messages are sent again afterwards. */
void symsaver_window(struct symsaver *saver);

/* Checks and restarts the symbol saver. To be called every few seconds or more often; cheap. */
void symsaver_tick(struct symsaver *saver);

/* Copies the names of the snapshots of the kernel's symbols that were valid since the last border, newest first, for
 * PJ_ITEM_KALLSYMS. Returns their number, 0 to 2: two if the modules changed meanwhile. To be called before
 * symsaver_window. */
size_t symsaver_kernels(struct symsaver *saver, char names[2][64]);

struct symsaver_counts symsaver_counts(struct symsaver *saver);

/* Calls f for each tenant with files omitted or removed since the last call because of its budget or share. */
void symsaver_each_over(struct symsaver *saver, void (*f)(void *arg, struct tenant tenant, uint64_t files), void *arg);

/* Appends a summary for messages: "12 binaries, 3 maps; not saved: 2 without permission ..."; nothing if all counts are
 * 0.
 */
struct text;
void symsaver_text(struct text *text, const struct symsaver_counts *counts);

/* Ends the symbol saver and frees `saver`; returns the last counts. The symbol saver may finish files of DIR for
 * deadline_ms, then it is killed. Files of target processes get SYMSAVER_STOP_BUSY_MS of that, and one that blocks the
 * symbol saver SYMSAVER_STOP_BLOCKED_MS: then the recorder returns, and the symbol saver ends by itself soon after. */
#define SYMSAVER_STOP_BUSY_MS 1000
#define SYMSAVER_STOP_BLOCKED_MS 300
struct symsaver_counts symsaver_stop(struct symsaver *saver, unsigned deadline_ms);

#endif
