/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broker.h - opens files for a filter that gave up its rights, in a process that parses nothing.
 *
 * The broker is forked before the filter gives up its rights (confine.h). It keeps the capabilities of its starter,
 * reads any file, and writes below the folders of the outputs only. The filter sends it paths and receives descriptors.
 * Files that are read must be regular, or directories, unless the user named them (inputs). Output files get their
 * names from the broker once they are complete, and are removed by it if the filter ends before, however it ends.
 *
 * Without a broker (other tools, tests) each function does its work in the calling process. Threads may call at the
 * same time.
 */
#ifndef PJ_BROKER_H
#define PJ_BROKER_H

#include "common/files/outfile.h"
#include "common/text.h"

struct broker {
	const char *const *input; /* paths that are opened as they are, FIFOs and devices, too; up to NULL. They outlive
				     the broker */
	const char *const *output;
	const char *const *writable; /* folders, up to NULL (sandbox.h) */
	bool unprivileged;           /* without capabilities */
};

/* Returns false with errno. To be called before threads start. */
bool broker_start(const struct broker *broker);

/* Opens a regular file, or with O_DIRECTORY a directory, to read; path as in openat(). flags: O_DIRECTORY, O_NOFOLLOW.
 * Returns -1 with errno: EINVAL if it is no regular file. */
int broker_open(int folder, const char *path, int flags);

/* An input, or another file that the user named. Waits for the other end of a FIFO. */
int broker_input(const char *path);

/* Names in a directory, each with a 0 after it, but "." and "..". Returns false with errno. */
bool broker_names(int folder, struct text *names);

/* The same, but after each name comes the target of the symbolic link, and a 0. Other entries have empty targets. */
bool broker_links(int folder, struct text *links);

/* Returns the path of an open file in the kernel, as a C string; false if there is none. */
bool broker_path(int fd, struct text *path);

/* A new file without a name: in a folder; in memory. */
int broker_spool(const char *folder);
int broker_memory(void);

/* One output at a time (outfile.h). *temporary: call broker_output_commit in the end, after closing the descriptor, or
 * broker_output_discard. */
int broker_output(const char *path, bool *temporary, struct outfile_failure *why);
bool broker_output_commit(const char *path, struct outfile_failure *why);
void broker_output_discard(void);
void broker_output_abandon(void); /* the same in a signal handler, before the process ends */

/* The folder for a cache, a descriptor that is taken over; -1: none. To be called before broker_start, or without a
 * broker. */
void broker_cache(int folder);
bool broker_runs(void);

/* Files in it: to read; to write a new one, mode 0600, which replaces `name` and all others that begin with as many
 * bytes of it as prefix has. */
int broker_cache_open(const char *name);
int broker_cache_create(void);
bool broker_cache_commit(const char *name, size_t prefix);

#endif
