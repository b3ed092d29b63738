/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outfile.h - writes a file that appears complete under its name, or not at all.
 *
 * Bytes go to a temporary file in the folder of the target (tempfile.h); outfile_commit renames it. Symbolic links are
 * followed, unless another user may have planted them (outpath.h). Pipes, devices and magic links of procfs are opened
 * as they are.
 */
#ifndef PJ_OUTFILE_H
#define PJ_OUTFILE_H

#include "common/files/outpath.h"
#include "common/files/tempfile.h"

struct outfile {
	char temp[TEMPFILE_NAME]; /* name of the temporary file in place.folder; empty if there is none */
	struct outpath place;     /* resolved path of the target; valid while there is a temporary file */
	int fd; /* second descriptor of the temporary file, which outfile_commit and outfile_discard close; -1: none */
};

#define OUTFILE_NONE ((struct outfile){ .fd = -1, .place = { .folder = -1, .fd = -1 } })

/* Reason of a failure. text is a sentence for the user; error is the errno to append, or 0 if the sentence is
 * enough. */
struct outfile_failure {
	int error;
	char text[4800];
};

/* Opens `path` for writing. Returns a descriptor that the caller closes. outfile->temp is the name of the temporary
 * file, or empty if the target itself is open. Returns -1 and sets *why on failure. any: true allows pipes, devices and
 * magic links; false refuses them. */
int outfile_open(struct outfile *outfile, const char *path, bool any, struct outfile_failure *why);

/* Syncs the temporary file and renames it to its final name. To be called after the caller has closed the descriptor
 * from outfile_open. path is for the message. Returns false and sets *why on failure. */
bool outfile_commit(struct outfile *outfile, const char *path, struct outfile_failure *why);

/* Remove the temporary file, if there is one. outfile_discard also closes the descriptors. outfile_unlink does not, but
 * is safe in signal handlers. */
void outfile_discard(struct outfile *outfile);
void outfile_unlink(const struct outfile *outfile);

#endif
