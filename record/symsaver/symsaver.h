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
	/* spool directory DIR, which exists and belongs to the recorder's user; NULL: no files are saved, only
	 * build-ids are read */
	const char *dir;
	bool all;           /* true: also saves binaries of this host that will stay, for folding on another host */
	uint64_t max_bytes; /* maximum bytes on disk of symbols/ and jit/ together; 0: 1 GiB */
	uint64_t min_age_s; /* age in seconds below which no file is removed as unneeded; 0: a day */
	double min_free;    /* fraction of the file system, 0 to 1, that must stay free; 0: no limit */
	unsigned hang_s;    /* seconds with one file that count as a hang, as 2 s without progress do; 0: 20 s */
	const char *proc;   /* path of the proc file system; NULL: /proc */
};

/* A process, identified as in struct pj_process of the window. */
struct symsaver_process {
	uint32_t pid;
	/* start time in clock ticks since boot; 0: unknown, so JIT files of the process are not saved */
	uint64_t start;
	uint64_t mount_ns; /* inode of the mount namespace; 0: unknown; for an ended process that of its parent */
	struct tenant of;  /* tenant to which the files of the process belong */
};

/* A mapping, as in its MMAP2 record in the window. */
struct symsaver_mapping {
	uint64_t start, length, pgoff;
	struct file_id file_id;   /* device and inode of the file; all 0 if the record has a build-id instead */
	struct build_id build_id; /* build-id of the file; its n is 0 if unknown */
	struct str path;          /* path in the record; for memory "//anon", "/memfd:x (deleted)" and the like */
};

/* Reasons why a file is not saved. */
enum symsaver_reason {
	/* the process ended before its files were opened, and no other process has them */
	SYMSAVER_GONE,
	SYMSAVER_FORBIDDEN, /* a permission is missing: CAP_SYS_PTRACE or CAP_DAC_READ_SEARCH */
	SYMSAVER_OTHER,     /* another file has the path now, and the mapped one cannot be opened */
	SYMSAVER_NOT_ELF,   /* the file is no regular file, no ELF file, damaged, or without names */
	SYMSAVER_LARGE,     /* the file exceeds the limits for one file or process */
	/* the perf map or jitdump is a link, belongs to another user, or has another format */
	SYMSAVER_UNTRUSTED,
	SYMSAVER_DISK, /* the copy cannot be written */
	/* the file is in a fault domain in which a symbol saver hung (backoff.h) */
	SYMSAVER_HUNG,
	SYMSAVER_SLOW,   /* the file is in a slow fault domain, for which too many messages wait */
	SYMSAVER_BUDGET, /* the tenant is over its budget (saverbudget.h) */
	SYMSAVER_REASONS
};

struct symsaver_counts {
	/* number of files saved by this run: binaries, JIT files, snapshots of kallsyms */
	uint64_t binaries, maps, kernels;
	uint64_t bytes;                    /* current bytes on disk, of all runs */
	uint64_t failed[SYMSAVER_REASONS]; /* number of files not saved, by reason; each counts once in a window */
	uint64_t dropped;                  /* number of messages that were not sent */
	/* number of files that have the build-id of another file but other symbols, and are used for their
	 * tenant only */
	uint64_t conflicts;
	/* removed: number of files removed because no window needs them; forced: number of files that a window needs,
	 * removed because all files exceeded max_bytes */
	uint64_t removed, forced;
	uint64_t hung, crashed; /* number of symbol savers and parsers that hung, and that crashed */
	/* lingering: current number of killed ones that have not ended; off: 1 if no symbol saver runs now */
	uint64_t lingering, off;
	/* number of symbol savers that found only kernel addresses 0: kernel.kptr_restrict, or no CAP_SYSLOG */
	uint64_t kernel_hidden;
};

/* Returns the differences of two counts. Members that are current, such as `bytes`, have the value of the later one. */
struct symsaver_counts symsaver_since(const struct symsaver_counts *now, const struct symsaver_counts *before);

struct symsaver;

/* Starts the symbol saver. Call it after privileges were dropped, and before threads start, because it forks. The
 * caller must not reap unknown children (waitpid(-1)). Returns NULL and *why if the folders cannot be used (links,
 * folders of other users) or fork fails. */
struct symsaver *symsaver_start(const struct symsaver_options *options, const char **why);

/* These report a process and its executable mappings. Call symsaver_process at the first sample of a process in a
 * window, and symsaver_mapping for each of its mappings then and later. Both are cheap if nothing is to be saved.
 * symsaver_process returns true if the process is in another mount namespace or has another root directory, so that its
 * paths are not those of the recorder (PJ_PROCESS_ELSEWHERE). */
bool symsaver_process(struct symsaver *saver, const struct symsaver_process *process);
void symsaver_mapping(struct symsaver *saver, const struct symsaver_process *process,
		      const struct symsaver_mapping *mapping);

/* Returns the build-id of a file whose mapping has none, if the symbol saver read it in this window or the one before;
 * n is 0 if it is unknown so far. Other processes of pjrecord do not open mapped files to read build-ids, because their
 * file systems may never respond. */
struct build_id symsaver_build_id(struct symsaver *saver, const struct symsaver_mapping *mapping);

/* Waits until the symbol saver has processed all messages, for at most deadline_ms. Returns earlier if it hangs on a
 * file. Call it at the end of a recording, to get the build-ids of the last processes. */
void symsaver_settle(struct symsaver *saver, unsigned deadline_ms);

/* Reports that a process has ended. Not for threads. */
void symsaver_exit(struct symsaver *saver, uint32_t pid);

/* Starts a window: all processes and files are reported again in it. Call it at each window border. */
void symsaver_window(struct symsaver *saver);

/* Restarts the symbol saver if it has ended, hangs or is blocked. Call it at least every few seconds; it is cheap. */
void symsaver_tick(struct symsaver *saver);

/* Stores in `names` the names of those snapshots of the kernel's symbols that were valid since the last window border,
 * newest first, for PJ_ITEM_KALLSYMS. Returns their number: 0, 1, or 2 if the modules have changed since. Call it
 * before symsaver_window. */
size_t symsaver_kernels(struct symsaver *saver, char names[2][64]);

struct symsaver_counts symsaver_counts(struct symsaver *saver);

/* Calls f for each tenant with files that were omitted, or removed, since the last call because of its budget
 * or share. */
void symsaver_each_over(struct symsaver *saver, void (*f)(void *arg, struct tenant tenant, uint64_t files), void *arg);

/* Appends the counts in words, such as "12 binaries, 3 maps; not saved: 2 without permission ...". Appends nothing if
 * all counts are 0. */
struct text;
void symsaver_text(struct text *text, const struct symsaver_counts *counts);

/* Ends the symbol saver, frees `saver` and returns the last counts. The symbol saver may work on files of DIR for
 * deadline_ms; then it is killed. With files of target processes it may be busy for SYMSAVER_STOP_BUSY_MS of that, and
 * blocked for SYMSAVER_STOP_BLOCKED_MS; then this function returns, and the symbol saver ends by itself soon after. */
#define SYMSAVER_STOP_BUSY_MS 1000
#define SYMSAVER_STOP_BLOCKED_MS 300
struct symsaver_counts symsaver_stop(struct symsaver *saver, unsigned deadline_ms);

#endif
