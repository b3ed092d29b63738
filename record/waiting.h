/* SPDX-License-Identifier: Apache-2.0 */
/* waiting.h - to sleep until a ring has records, somebody answers, the command ends or the time is over. */
#ifndef PJ_WAITING_H
#define PJ_WAITING_H

#include "rings.h"

struct waiting {
	struct pollfd *poll;
	size_t n;
	bool known; /* poll has the rings as they are; to be cleared when they change, and now and then */
};

/* fd: of who answers, or -1. SIGCHLD gets through. */
void waiting_for(struct waiting *w, const struct rings *r, int fd, int ms);
void waiting_free(struct waiting *w);

#endif
