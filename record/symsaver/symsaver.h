/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symsaver.h - saves symbols of binaries, JITs and the kernel that pjfold will need and may not find later (the symbol
 * store).
 *
 *	symbols/.build-id/xx/yyyy.debug
 *		reduced ELF files (elfreducer.h) of files that only root can write: symbols, no code
 *	symbols/<boot>/<maj>-<min>-<ino>-<gen>
 *		the same files by file_id in hex; a link if the file has a build-id
 *	symbols/tenants/<tenant>/...
 *		reduced ELF files of all other files, by both names; used for code of that tenant only
 *	symbols/shared/.build-id/xx/yyyy.debug
 *		another link of the first tenant's file with that build-id, to find equal files
 *	symbols/kallsyms-<boot>.<n>.gz
 *		/proc/kallsyms after each change of modules; modules-<boot>.<n> has the list of modules
 *	jit/<boot>/<tenant>/<pid>-<start>.map, .map.1, .dump
 *		copies of files that the process wrote; .map.1: the previous map
 *
 * A build-id is only a claim of the file, so it is valid only within an origin: files of root on this host, which all
 * processes share, or files of one tenant (tenants.h). A saved file is never replaced. Equal files of several tenants
 * are one file with several links.
 *
 * A separate process, the symbol saver, does the work, because the files that it opens belong to target processes and
 * may be on a file system that never responds. Another process, without rights, parses ELF files (symhelper.h). The
 * recorder itself opens no mapped file. The recorder only sends short messages and never waits: a message that does not
 * fit into the ring is dropped and counted. A symbol saver that hangs or crashes is counted, reported and replaced, and
 * files of the same fault domain (backoff.h) are avoided for a while. When the recorder ends, in any way, the symbol
 * saver finishes its queue and ends, too.
 *
 * The recorder repeats all messages in each window; a repeated message costs one lookup. So a new symbol saver needs
 * no other state. And so each file that a window needs gets a new modification time: the time of the last window that
 * needs it. Files that are older than the oldest window in DIR and older than min_age_s are removed. Beyond max_bytes,
 * the least recently needed files of tenants over their share are removed even if a window needs them, and counted as
 * forced (saversweep.h).
 */
#ifndef PJ_SYMSAVER_H
#define PJ_SYMSAVER_H

#include "common/formats/fileid.h"
#include "common/formats/buildid.h"
#include "common/str.h"
#include "common/process/tenants.h"

struct symsaver_options {
	/* spool directory DIR, which exists and belongs to the recorder's user; NULL: save no files, only read
	 * build-ids */
	const char *dir;
	/* true: also save binaries that will stay installed on this host, for pjfold on another host; false: do not
	 * save them */
	bool all;
	/* maximum bytes on disk of symbols/ and jit/ together, beyond which needed files are removed; 0: 1 GiB */
	uint64_t max_bytes;
	uint64_t min_age_s; /* minimum age in s of files that are removed because no window needs them; 0: a day */
	/* share of the file system, 0 to 1, that must stay free, otherwise nothing is saved; 0: no limit */
	double min_free;
	/* seconds of access to one file after which the symbol saver is replaced (also after 2 s without progress); 0:
	 * 20 s */
	unsigned hang_s;
	const char *proc; /* path of the proc file system; NULL: /proc */
};

/* A process, identified by the fields of struct pj_process in the window. */
struct symsaver_process {
	uint32_t pid;
	/* start time in clock ticks since boot; 0: unknown, so JIT files of the process are not saved */
	uint64_t start;
	/* inode of the mount namespace; for an ended process, of the mount namespace of its parent; 0: unknown */
	uint64_t mount_ns;
	struct tenant of; /* tenant that owns the files of the process */
};

/* A mapping, with the fields of its MMAP2 record in the window. start: virtual address. length, pgoff: bytes. */
struct symsaver_mapping {
	uint64_t start, length, pgoff;
	struct file_id file_id;   /* device and inode of the file; all 0 if the record has a build-id instead */
	struct build_id build_id; /* build-id of the file; its n is 0 if unknown */
	/* path in the record; for memory without a file "//anon", "/memfd:x (deleted)" and the like */
	struct str path;
};

/* Reasons why a file is not saved; index of symsaver_counts.failed. */
enum symsaver_reason {
	/* the process ended before its files were opened, and no other process has them */
	SYMSAVER_GONE,
	SYMSAVER_FORBIDDEN, /* a permission is missing: CAP_SYS_PTRACE or CAP_DAC_READ_SEARCH */
	SYMSAVER_OTHER,     /* the path has another file now, and the mapped file cannot be opened otherwise */
	SYMSAVER_NOT_ELF,   /* the file is not a regular file, not an ELF file, damaged, or without names of code */
	SYMSAVER_LARGE,     /* the file exceeds the size limits for one file or process */
	/* the perf map or jitdump is a link, belongs to another user, or has another format */
	SYMSAVER_UNTRUSTED,
	SYMSAVER_DISK, /* the copy cannot be written: no space or permission */
	/* the file is in a fault domain in which a symbol saver hung (backoff.h) */
	SYMSAVER_HUNG,
	SYMSAVER_SLOW,   /* the file is in a slow fault domain, for which too many messages are queued */
	SYMSAVER_BUDGET, /* the tenant is over its budget (saverbudget.h) */
	SYMSAVER_REASONS
};

/* Counts since the start of the recorder, except for `bytes`, `lingering` and `off`, which are current values. */
struct symsaver_counts {
	/* Numbers of files saved by this run. binaries: ELF files. maps: JIT files. kernels: snapshots of kallsyms. */
	uint64_t binaries, maps, kernels;
	uint64_t bytes; /* bytes on disk of symbols/ and jit/ now, saved by all runs */
	/* number of files not saved, by reason; each file is counted once in a window */
	uint64_t failed[SYMSAVER_REASONS];
	/* number of messages that were not sent, because the ring had no space or no symbol saver ran */
	uint64_t dropped;
	/* Number of saved files with the build-id of another file but other symbols; they are used for their own tenant
	 * only. */
	uint64_t conflicts;
	/* removed: number of removed files that no window needs. forced: number of files that were removed although a
	 * window may need them, because all files exceeded max_bytes. */
	uint64_t removed, forced;
	uint64_t hung, crashed; /* number of symbol savers and parsers that hung, and number of those that crashed */
	/* lingering: number of killed symbol savers and parsers that have not ended. off: 1 if no symbol saver runs
	 * now, otherwise 0. */
	uint64_t lingering, off;
	/* number of times that a symbol saver read only 0 as kernel addresses: kernel.kptr_restrict is set, or
	 * CAP_SYSLOG is missing */
	uint64_t kernel_hidden;
};

/* Returns the differences of two counts, *now minus *before. Members that are current values (bytes, lingering, off)
 * have the values of *now. */
struct symsaver_counts symsaver_since(const struct symsaver_counts *now, const struct symsaver_counts *before);

struct symsaver;

/* Starts the symbol saver by fork. Call it after privileges were dropped and before threads start. The caller must not
 * reap unknown children (waitpid(-1)). Returns NULL and sets *why to a static text if the folders cannot be used
 * (links, folders of other users) or if fork fails. */
struct symsaver *symsaver_start(const struct symsaver_options *options, const char **why);

/* Report a process and its executable mappings to the symbol saver. Call symsaver_process at the first sample of a
 * process in a window, and symsaver_mapping for each of its mappings then and later. Both calls are cheap if nothing
 * must be saved. symsaver_process returns true if the process is in another mount namespace or has another root
 * directory, so that its paths are not valid for the recorder (PJ_PROCESS_ELSEWHERE). */
bool symsaver_process(struct symsaver *saver, const struct symsaver_process *process);
void symsaver_mapping(struct symsaver *saver, const struct symsaver_process *process,
		      const struct symsaver_mapping *mapping);

/* Returns the build-id of a mapped file whose mapping has none, if the symbol saver sent it in this or the previous
 * window; n is 0 if it is unknown so far. Other processes of pjrecord do not open mapped files to read build-ids,
 * because the files' file systems may never respond. */
struct build_id symsaver_build_id(struct symsaver *saver, const struct symsaver_mapping *mapping);

/* Waits until the symbol saver has processed all messages, for at most deadline_ms. Returns earlier if the symbol saver
 * hangs at a file. Call it at the end of a recording, to get the build-ids of the last processes. */
void symsaver_settle(struct symsaver *saver, unsigned deadline_ms);

/* Reports that a process (not a thread) has ended, so that the rest of its JIT files is copied. */
void symsaver_exit(struct symsaver *saver, uint32_t pid);

/* Starts a window, in which the recorder reports all processes and files again. Call it at each window border. */
void symsaver_window(struct symsaver *saver);

/* Restarts the symbol saver if it has ended, hangs or is blocked. Call it at least every few seconds; it is cheap. */
void symsaver_tick(struct symsaver *saver);

/* Stores in `names` the file names of the snapshots of the kernel's symbols that were valid after the last window
 * border, newest first, for PJ_ITEM_KALLSYMS. Returns the number of names: 0, 1, or 2 if the modules have changed since
 * the border. Call it before symsaver_window. */
size_t symsaver_kernels(struct symsaver *saver, char names[2][64]);

struct symsaver_counts symsaver_counts(struct symsaver *saver);

/* Calls f for each tenant with files that were omitted or removed since the last call because of its budget or share.
 * files: number of these files. */
void symsaver_each_over(struct symsaver *saver, void (*f)(void *arg, struct tenant tenant, uint64_t files), void *arg);

/* Appends the counts in words, such as "saved 12 binaries, 3 maps; not saved: 2 without permission ...". Appends
 * nothing if all counts are 0. */
struct text;
void symsaver_text(struct text *text, const struct symsaver_counts *counts);

/* Ends the symbol saver, frees `saver` and returns the last counts. The symbol saver may continue to work on files of
 * DIR for deadline_ms; then it is killed. This function returns earlier if the symbol saver has accessed files of
 * target processes for SYMSAVER_STOP_BUSY_MS in all, or is blocked for SYMSAVER_STOP_BLOCKED_MS. In these cases the
 * symbol saver ends by itself soon after. */
#define SYMSAVER_STOP_BUSY_MS 1000
#define SYMSAVER_STOP_BLOCKED_MS 300
struct symsaver_counts symsaver_stop(struct symsaver *saver, unsigned deadline_ms);

#endif
