/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - the memory of another process, read without touching it.
 *
 * /proc/PID/mem stays bound to the address space that it was opened for: after exec or exit it reads nothing, whoever
 * gets the number next. Small reads come from a cache of pages, which is one moment's view only between two
 * memory_forget; large ones, and many pieces that are wanted at once, go past it. What costs is neither a call nor a
 * byte but a page that is looked up, so pieces are read in the order of their addresses, neighbours together.
 * Everything read is a stranger's, and changes while it is read: a caller checks each number before it is used. Reads take steps
 * from a budget (budget.h); when it is exceeded, nothing can be read any more, and budget->over gives the reason.
 */
#ifndef PJ_MEMORY_H
#define PJ_MEMORY_H

#include "budget.h"
#include "str.h"

#include <sys/types.h>

struct memory_page;

/* A piece that is wanted: n bytes from address on, which come to `at` in the bytes of the caller. */
struct memory_want {
	uint64_t address;
	uint32_t n, at;
};

/* A piece of an image of memory: what is known of a process that is not there (tests, a core file). */
struct memory_piece {
	uint64_t address;
	size_t n;
	const char *bytes;
};

struct memory {
	int fd;    /* /proc/PID/mem; -1: an image */
	pid_t pid;
	const struct memory_piece *piece; /* of an image, by address */
	size_t npieces;
	struct budget *budget; /* each read takes steps from it; once it is exceeded all reads fail. NULL: no limit */
	uint64_t probe; /* an address that is always there: tells whether it is still the same process */
	bool by_file;   /* process_vm_readv may not be called here: pieces are read one by one */
	uint64_t *number;         /* of page, + 1; 0: none */
	struct memory_page *page;
	struct memory_want *order; /* room to sort in */
	size_t order_n;
	char *bounce;              /* where neighbours come to, before each goes to its place */
};

/* process: a descriptor of its folder /proc/PID. False: errno (EACCES, EPERM: not allowed; ENOENT, ESRCH: gone). */
bool memory_open(struct memory *m, int process, pid_t pid);
/* An image in its stead; pieces do not overlap, and stay the caller's. */
void memory_image(struct memory *m, const struct memory_piece *piece, size_t n);
void memory_close(struct memory *m);

/* Gives back the memory that reading needs, until the next time: 2 MB. */
void memory_rest(struct memory *m);

/* From now on what was read may be another. */
void memory_forget(struct memory *m);

/* n bytes at an address, or false: not all of them can be read. */
bool memory_read(struct memory *m, uint64_t address, void *to, size_t n);

/* The same past the cache, for what is large. */
bool memory_bulk(struct memory *m, uint64_t address, void *to, size_t n);

/* Many pieces at once, in any order; `want` gets sorted. Those that cannot be read are zero. False: the process ended,
 * or is another program now, and nothing that was read counts. */
bool memory_gather(struct memory *m, struct memory_want *want, size_t count, void *to);

/* The order in which memory_gather reads: by address, equal ones as they came. */
void memory_sort(struct memory *m, struct memory_want *want, size_t count);

/* A C string of less than cap bytes into to, NUL behind it; false: none there, or it is longer. */
bool memory_string(struct memory *m, uint64_t address, char *to, size_t cap);

/* A number of 1, 2, 4 or 8 bytes; signed ones of less than 8 bytes are extended. */
bool memory_u64(struct memory *m, uint64_t address, unsigned width, uint64_t *value);
bool memory_i64(struct memory *m, uint64_t address, unsigned width, int64_t *value);
bool memory_pointer(struct memory *m, uint64_t address, uint64_t *value);

#endif
