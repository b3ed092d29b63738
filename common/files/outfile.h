/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outfile.h - a file that appears complete under its name, or not at all.
 *
 * Bytes go to a temporary file beside the target (tempfile.h), which takes the name in outfile_commit. Symbolic links
 * are followed, unless another user may have planted them (outpath.h). Pipes, devices and magic links of procfs are
 * opened as they are.
 */
#ifndef PJ_OUTFILE_H
#define PJ_OUTFILE_H

#include "common/files/outpath.h"
#include "common/files/tempfile.h"

struct outfile {
	char temp[TEMPFILE_NAME]; /* name in place.folder; empty: there is no temporary file */
	struct outpath place;     /* valid while there is a temporary file */
	int fd;                   /* own descriptor of the temporary file */
};

#define OUTFILE_NONE ((struct outfile){ .fd = -1, .place = { .folder = -1, .fd = -1 } })

/* Reason of a failure: a sentence. error: the errno that explains it; 0 if the sentence is enough. */
struct outfile_failure {
	int error;
	char text[4800];
};

/* Opens `path` for writing. Returns a descriptor that the caller closes; outfile->temp is empty if it is not a
 * temporary file. Returns -1 and *why on failure. any: opens pipes, devices and magic links, too; otherwise they are
 * refused. */
int outfile_open(struct outfile *outfile, const char *path, bool any, struct outfile_failure *why);

/* Syncs the file and gives it its name. Call it after closing the descriptor. Returns false and *why on failure. */
bool outfile_commit(struct outfile *outfile, const char *path, struct outfile_failure *why);

/* Remove the temporary file, if one exists. outfile_unlink is safe in signal handlers, and changes nothing else. */
void outfile_discard(struct outfile *outfile);
void outfile_unlink(const struct outfile *outfile);

#endif
