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
	char temp[TEMPFILE_NAME]; /* name of the temporary file in place.folder; empty if there is none */
	struct outpath place;     /* resolved path of the target; valid while there is a temporary file */
	int fd;                   /* a second descriptor of the temporary file, which belongs to the outfile */
};

#define OUTFILE_NONE ((struct outfile){ .fd = -1, .place = { .folder = -1, .fd = -1 } })

/* Reason of a failure. text is a sentence; error is the errno that explains it, or 0 if the sentence is enough. */
struct outfile_failure {
	int error;
	char text[4800];
};

/* Opens `path` for writing. Returns a descriptor that the caller closes; outfile->temp is empty if it is of no
 * temporary file. Returns -1 and sets *why on failure. `any` allows pipes, devices and magic links, which are refused
 * otherwise. */
int outfile_open(struct outfile *outfile, const char *path, bool any, struct outfile_failure *why);

/* Syncs the temporary file and gives it its final name. The caller has closed the descriptor before. Returns false and
 * sets *why on failure. */
bool outfile_commit(struct outfile *outfile, const char *path, struct outfile_failure *why);

/* Remove the temporary file, if there is one. outfile_discard also closes the descriptors; outfile_unlink is safe in
 * signal handlers. */
void outfile_discard(struct outfile *outfile);
void outfile_unlink(const struct outfile *outfile);

#endif
