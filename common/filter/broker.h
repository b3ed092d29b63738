/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broker.h - opens files for a filter in its sandbox, from another process, which parses nothing.
 *
 * A filter forks the broker before it gives up its rights (confine.h). The broker has the capabilities of the user who
 * started the filter; it reads any file except those of procfs that show memory, and writes only below the folders in
 * `writable` and in the cache. The filter sends it paths and receives descriptors. The broker opens only regular files
 * and directories, and in addition the inputs that the user named. It renames a complete output file to its final name,
 * and removes an incomplete one if the filter ends in any way. A filter that exits, or ends by die(), waits for the
 * broker to end.
 *
 * Without a broker (other tools, tests), the functions do the work in the calling process. Several threads may call
 * them at the same time.
 */
#ifndef PJ_BROKER_H
#define PJ_BROKER_H

#include "common/files/outfile.h"
#include "common/text.h"

struct broker {
	/* input: paths of inputs, which may also be FIFOs or devices; output: paths of outputs; both with NULL at the
	 * end. The strings must exist as long as the broker. */
	const char *const *input;
	const char *const *output;
	const char *const *writable; /* folders below which the broker may write, with NULL at the end (sandbox.h) */
	bool unprivileged;           /* true if the broker gives up all capabilities */
};

/* Forks the broker. Must be called before threads start. Returns false with errno on failure. */
bool broker_start(const struct broker *broker);

/* Opens the inputs of a filter that has no broker, before the filter gives up its rights; broker_input later returns
 * the descriptors. input: paths, ended by NULL; "-" is skipped. Returns false, and leaves no input open, if an input is
 * not a regular file or cannot be opened, or if there are more than PRIOR_MAX inputs. */
bool broker_open_inputs(const char *const *input);

/* Opens a regular file for reading, or a directory if flags has O_DIRECTORY; folder and path are as in openat(). flags
 * may also have O_NOFOLLOW. Returns a descriptor, or -1 with errno: EINVAL if the file is not regular, EACCES if the
 * broker refuses a file of procfs (brokerserver.h). */
int broker_open(int folder, const char *path, int flags);

/* Opens an input, or another file that the user named, for reading. Waits until a FIFO has a writer. Returns a
 * descriptor, or -1 with errno. */
int broker_input(const char *path);

/* Appends the names in a directory, except "." and "..", to *names, each followed by a NUL. Returns false with
 * errno. */
bool broker_names(int folder, struct text *names);

/* Like broker_names, but each name and NUL is followed by the target of the symbolic link and a NUL. Entries that are
 * no symbolic links have an empty target. */
bool broker_links(int folder, struct text *links);

/* Appends the path that the kernel reports for an open file (/proc/self/fd/N), and a NUL. Returns false if there is
 * none. */
bool broker_path(int fd, struct text *path);

/* Create a file without a name: broker_spool in `folder`, broker_memory in memory (memfd). Return a descriptor, or -1
 * with errno. */
int broker_spool(const char *folder);
int broker_memory(void);

/* Opens an output (outfile.h) and returns a descriptor, or -1 with the reason in *why. Only one output can be open at a
 * time. If *temporary is true, the caller closes the descriptor and then calls broker_output_commit or
 * broker_output_discard. */
int broker_output(const char *path, bool *temporary, struct outfile_failure *why);
bool broker_output_commit(const char *path, struct outfile_failure *why);
void broker_output_discard(void);
/* Like broker_output_discard, but for a signal handler that is about to end the process. */
void broker_output_abandon(void);

/* Sets the folder of the cache, and takes ownership of its descriptor; -1: no cache. With a broker, must be called
 * before broker_start. */
void broker_cache(int folder);
/* Returns true if broker_start has started a broker. */
bool broker_runs(void);

/* Access files in the cache folder. broker_cache_open opens the file `name` for reading; broker_cache_create creates a
 * temporary file with mode 0600. Both return a descriptor, or -1 with errno. broker_cache_commit renames the temporary
 * file to `name`, and, unless prefix is 0, removes all other files whose names have the same first `prefix` bytes.
 * broker_cache_commit returns false on failure. */
int broker_cache_open(const char *name);
int broker_cache_create(void);
bool broker_cache_commit(const char *name, size_t prefix);

#endif
