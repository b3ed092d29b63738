/* fuse.h - shared by attack programs that serve a FUSE file system themselves. */
#ifndef PJ_FUSE_H
#define PJ_FUSE_H

#include <errno.h>
#include <linux/fuse.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

/* Answers a request: error is 0 or a negative errno. Returns false if the answer cannot be written; a caller that was
 * killed meanwhile (ENOENT) is no failure. */
static inline bool fuse_answer(int fd, const struct fuse_in_header *header, int error, const void *body, size_t n)
{
	struct fuse_out_header out = { (uint32_t)(sizeof(out) + n), error, header->unique };
	struct iovec part[2] = { { &out, sizeof(out) }, { (void *)(uintptr_t)body, n } };

	return writev(fd, part, 2) >= 0 || errno == ENOENT;
}

#endif
