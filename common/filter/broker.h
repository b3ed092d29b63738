/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broker.h - opens files for a filter that gave up its rights, in a process that parses nothing.
 *
 * The broker is forked before the filter gives up its rights (confine.h). It keeps the capabilities of its starter,
 * reads any file, and writes below the folders of the outputs only. The filter sends it paths and receives descriptors.
 * Files that are read must be regular, or directories, unless the user named them (inputs). Output files get their
 * names from the broker once they are complete, and are removed by it if the filter ends before, however it ends. A
 * filter that exits or dies by die() waits for the broker to end.
 *
 * Without a broker (other tools, tests) each function does its work in the calling process. Threads may call at the
 * same time.
 */
#ifndef PJ_BROKER_H
#define PJ_BROKER_H

#include "common/files/outfile.h"
#include "common/text.h"

struct broker {
	/* Paths of inputs, ended by NULL, which are opened even if they are FIFOs or devices. They must exist as long
	 * as the broker. */
	const char *const *input;
	const char *const *output;
	const char *const *writable; /* folders below which the broker may write, ended by NULL (sandbox.h) */
	bool unprivileged;           /* true if the broker gives up all capabilities */
};

/* Starts the broker by fork. Call this before threads start. Returns false with errno. */
bool broker_start(const struct broker *broker);

/* Opens a regular file, or with O_DIRECTORY a directory, for reading; folder and path are as in openat(). flags may
 * have O_DIRECTORY and O_NOFOLLOW. Returns a descriptor, or -1 with errno: EINVAL if the file is not regular. */
int broker_open(int folder, const char *path, int flags);

/* Opens an input, or another file that the user named, for reading. Waits for the other end of a FIFO. Returns a
 * descriptor, or -1 with errno. */
int broker_input(const char *path);

/* Appends the names in a directory except "." and "..", each followed by NUL. Returns false with errno. */
bool broker_names(int folder, struct text *names);

/* Like broker_names, but appends after each name the target of the symbolic link and NUL. For other entries the target
 * is empty. */
bool broker_links(int folder, struct text *links);

/* Appends the path that the kernel has for an open file, with a NUL. Returns false if there is none. */
bool broker_path(int fd, struct text *path);

/* Create a file without a name, in a folder or in memory. Return a descriptor, or -1 with errno. */
int broker_spool(const char *folder);
int broker_memory(void);

/* Opens an output (outfile.h) and returns a descriptor, or -1 with *why. Only one output can be open at a time. If
 * *temporary is set, the caller closes the descriptor and then calls broker_output_commit or broker_output_discard. */
int broker_output(const char *path, bool *temporary, struct outfile_failure *why);
bool broker_output_commit(const char *path, struct outfile_failure *why);
void broker_output_discard(void);
/* Like broker_output_discard, for a signal handler just before the process ends. */
void broker_output_abandon(void);

/* Sets the folder of the cache and takes ownership of its descriptor; -1: no cache. Call this before broker_start, or
 * without a broker. */
void broker_cache(int folder);
bool broker_runs(void);

/* Files of the cache folder: broker_cache_open opens one for reading; broker_cache_create creates a temporary one, mode
 * 0600; broker_cache_commit gives that file the name `name` and removes all other files whose names begin with the
 * first `prefix` bytes of it. */
int broker_cache_open(const char *name);
int broker_cache_create(void);
bool broker_cache_commit(const char *name, size_t prefix);

#endif
