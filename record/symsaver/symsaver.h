/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symsaver.h - what folding will need and will not find any more: symbols of binaries, maps of JITs, symbols of the
 *kernel.
 *
 *	symbols/.build-id/xx/yyyy.debug           reduced ELF files: symbols, no code (elfreducer.h); of files that only
 *root can write symbols/<boot>/<maj>-<min>-<ino>-<gen>    the same by the file's numbers, in hex, as in the mapping; a
 *link where it has a build-id symbols/tenants/<tenant>/...              both, of all other files: they name code of
 *processes of that tenant, and of no other symbols/shared/xx/yyyy.debug              a further link of the first such
 *file with a build-id, to find equal ones symbols/kallsyms-<boot>.<n>.gz            /proc/kallsyms, whenever the
 *modules are others; modules-<boot>.<n> beside it jit/<boot>/<tenant>/<pid>-<start>.map, .map.1, .dump  what the
 *process wrote; .map.1: the map before
 *
 * A build-id is what the file claims, so it is believed only within an origin: files of root on this host, which every
 *process shares, or files that a tenant (tenants.h) brought along. A kept file is never replaced; equal files of
 *several tenants are one file with several links.
 *
 * The work is done by a process of its own, the keeper: what it opens belongs to whoever is profiled, and may be on a
 *file system that never answers. ELF files are parsed by a further process, without rights (symhelper.h). The recorder
 *itself opens no mapped file. It only sends short messages, and never waits: what does not fit into the ring is dropped
 *and counted. A keeper that hangs or crashes is counted, said and replaced; the place (backoff.h) in which it was then
 *is left alone. When the recorder ends, however it ends, the keeper finishes what it has in hand and ends, too.
 *
 * It is told everything again in each window, which is cheap (what was told in this window costs one look-up here), so
 *a new keeper needs no other state, and whatever a window needs is touched: the time of modification of a kept file is
 *that of the last window that needs it. What is older than the oldest window in DIR, and than min_age_s, is removed;
 *beyond max_bytes what was needed longest ago of tenants over their share is removed even if a window needs it, and
 *counted as forced (saversweep.h).
 */
#ifndef PJ_SYMSAVER_H
#define PJ_SYMSAVER_H

#include "common/formats/fileid.h"
#include "common/formats/buildid.h"
#include "common/str.h"
#include "common/process/tenants.h"

struct symsaver_options {
	const char *dir;    /* DIR, which is there and ours; the keeper runs as we do when it is started. NULL: only
			       build-ids are found */
	bool all;           /* also binaries of the host that will stay: to fold elsewhere */
	uint64_t max_bytes; /* on disk, of symbols/ and jit/ together; 0: 1 GiB */
	uint64_t min_age_s; /* 0: a day */
	double min_free;    /* share of the file system, 0..1, that is left free; 0: no limit */
	unsigned hang_s;    /* so long at one file is hanging, 2 s without any progress are, too; 0: 20 */
	const char *proc;   /* /proc, or NULL */
};

/* Which process; both as they will stand in the window (struct pj_process). */
struct symsaver_process {
	uint32_t pid;
	uint64_t start;    /* 0: not known, nothing of its JIT is kept */
	uint64_t mount_ns; /* 0: not known. Of a process that is gone already: its parent's */
	struct tenant of;  /* whose symbols its files become */
};

/* As in the MMAP2 record of the window. */
struct symsaver_mapping {
	uint64_t start, length, pgoff;
	struct file_id file_id;   /* 0 if the record has a build-id */
	struct build_id build_id; /* n is 0 if it is unknown */
	struct str path;          /* "//anon", "/memfd:x (deleted)", ... too */
};

enum symsaver_reason {                     /* why something was not kept */
		       SYMSAVER_GONE,      /* the process ended before it was looked at, and nobody else had the file */
		       SYMSAVER_FORBIDDEN, /* no permission: CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH */
		       SYMSAVER_OTHER,   /* the file at that path is another one, and the one that was mapped cannot be
					    had */
		       SYMSAVER_NOT_ELF, /* not a regular file, not an ELF file, damaged, or nothing in it has a name */
		       SYMSAVER_LARGE,   /* beyond the limits for one file or process */
		       SYMSAVER_UNTRUSTED, /* a map or dump that is a link, belongs to somebody else, or is no text */
		       SYMSAVER_DISK,      /* cannot be written */
		       SYMSAVER_HUNG,      /* in a place in which a keeper hung (backoff.h) */
		       SYMSAVER_SLOW,      /* in a place that keeps the keeper waiting: too many messages wait for it */
		       SYMSAVER_BUDGET,    /* its tenant is over its budget (saverbudget.h) */
		       SYMSAVER_REASONS
};

struct symsaver_counts {
	uint64_t binaries, maps, kernels;  /* kept by this run: binaries, files of JITs, kallsyms */
	uint64_t bytes;                    /* on disk now, of all runs */
	uint64_t failed[SYMSAVER_REASONS]; /* things, each counted once a window */
	uint64_t dropped;                  /* messages */
	uint64_t conflicts; /* files with the build-id of another file, and other symbols: each is its tenant's only */
	uint64_t removed, forced; /* files that no window needs; that were needed, but max_bytes */
	uint64_t hung, crashed;   /* keepers */
	uint64_t lingering, off;  /* now: keepers that were killed and have not ended; 1: there is none */
	uint64_t kernel_hidden;   /* kallsyms says 0 for all addresses: kernel.kptr_restrict, CAP_SYSLOG */
};

/* What is new between two moments; bytes: as they are at the later one. */
struct symsaver_counts symsaver_since(const struct symsaver_counts *now, const struct symsaver_counts *before);

struct symsaver;

/* To be called after privileges are dropped, and better before there are threads: it forks. Whoever calls it does not
 * wait for children of no name (waitpid(-1)). NULL and *why when the folders cannot be had (links, others' folders), or
 * no process. */
struct symsaver *symsaver_start(const struct symsaver_options *options, const char **why);

/* Whenever the state of a process is written into a window: at its first sample in it, and with each executable mapping
 * then and later. Cheap for what needs no keeping. keep_process: true when it is elsewhere, in another mount namespace
 * or with another root, so that its paths are not ours (PJ_PROCESS_ELSEWHERE). */
bool symsaver_process(struct symsaver *saver, const struct symsaver_process *process);
void symsaver_mapping(struct symsaver *saver, const struct symsaver_process *process,
		      const struct symsaver_mapping *mapping);

/* Finds the build-id that the keeper read from a file whose mapping had none, in this window or the one before. Returns
 * its size, 0 if it is not known (yet). No other process of pj opens mapped files to read build-ids: their file systems
 * may never answer. */
struct build_id symsaver_build_id(struct symsaver *saver, const struct symsaver_mapping *mapping);

/* Waits until the keeper has handled every message, at most deadline_ms, and not at all while it hangs. For the end of
 * a recording: the build-ids of its last processes are then known. */
void symsaver_settle(struct symsaver *saver, unsigned deadline_ms);

void symsaver_exit(struct symsaver *saver, uint32_t pid); /* the process, not a thread of it */

/* At each border: what was told is forgotten here, and will be told again. */
void symsaver_window(struct symsaver *saver);

/* Looks after the keeper; every few seconds or more often, costs nothing. */
void symsaver_tick(struct symsaver *saver);

/* Names of the snapshots of the kernel's symbols that held since the last border, newest first: for PJ_ITEM_KALLSYMS,
 * one item each. Returns how many, 0 to 2: there is a second one when the modules changed meanwhile. To be called
 * before keep_window. */
size_t symsaver_kernels(struct symsaver *saver, char names[2][64]);

struct symsaver_counts symsaver_counts(struct symsaver *saver);

/* Calls f for each tenant of which files were left out or removed since the last call, as it was over its budget or its
 * share. */
void symsaver_each_over(struct symsaver *saver, void (*f)(void *arg, struct tenant tenant, uint64_t files), void *arg);

/* For people: "12 binaries, 3 maps; 2 not kept: no permission (CAP_SYS_PTRACE)"; empty when there is nothing to say. */
struct text;
void symsaver_text(struct text *text, const struct symsaver_counts *counts);

/* Ends the keeper and frees k; returns the last counts. The keeper finishes the files of DIR for at most deadline_ms,
 * then it is killed. Files of processes get KEEP_STOP_BUSY_MS of that, and one at which the keeper is blocked
 * KEEP_STOP_BLOCKED_MS: afterwards the recorder leaves, and the keeper ends by itself soon after. */
#define SYMSAVER_STOP_BUSY_MS 1000
#define SYMSAVER_STOP_BLOCKED_MS 300
struct symsaver_counts symsaver_stop(struct symsaver *saver, unsigned deadline_ms);

#endif
