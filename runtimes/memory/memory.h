/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - reads the memory of another process without side effects on it.
 *
 * Memory is read through /proc/PID/mem alone. The kernel binds that descriptor to the address space and checks
 * permission when it is opened, so after an exec or an exit it reads the old memory or nothing, never that of the new
 * program or of a process that got the PID later. No read goes by PID (process_vm_readv): a set-uid program would be
 * read with the rights of the program before it.
 *
 * A descriptor alone does not show an exec: a task that shares the memory (CLONE_VM) keeps the old address space
 * readable. The caller calls memory_is_current before it attributes to the process the data that it read.
 *
 * Small reads use a cache of pages, which the caller empties with memory_forget; large reads and gathered requests
 * bypass it. Gathered requests are read in the order of their addresses, and neighbours with one read: a read of one
 * page costs about 1 us, each further page 0.5 us. All data is hostile and changes while it is read: the caller checks
 * each number before use. One thread may use a struct memory at a time.
 *
 * If memory->budget is set, each read takes steps from it, and all reads fail once it is exceeded.
 */
#ifndef PJ_MEMORY_H
#define PJ_MEMORY_H

#include "runtimes/memory/readbudget.h"
#include "common/str.h"
#include "common/process/taskid.h"

#include <sys/types.h>

struct memory_page;

/* Request for memory_gather: n bytes at address, which are stored at offset `at` of the caller's buffer. */
struct memory_want {
	uint64_t address;
	uint32_t n, at;
};

/* One part of an image of a process's memory (tests, core files): n bytes at address. */
struct memory_part {
	uint64_t address;
	size_t n;
	const char *bytes;
};

struct memory {
	int fd;                         /* descriptor of /proc/PID/mem; -1 for an image */
	int process;                    /* O_PATH descriptor of /proc/PID */
	struct taskid id;               /* task identity of the program that the memory belongs to */
	const struct memory_part *part; /* parts of an image, sorted by address; NULL without an image */
	size_t nparts;
	/* Budget that each read takes steps from; NULL: no limit. The caller sets it, and it must exist as long as
	 * memory. */
	struct readbudget *budget;
	/* Readable address in the process, for example that of the ELF header of libjvm.so. memory_gather reads it to
	 * find out if the memory still exists. */
	uint64_t probe;
	uint64_t *number; /* for each slot of the page cache: page number + 1 of the cached page; 0: none */
	struct memory_page *page;
	struct memory_want *order; /* buffer for memory_sort */
	size_t order_n;
	char *bounce; /* buffer for several requests that one read serves */
};

/* Opens the memory of the program with task identity *id. process is a descriptor of /proc/PID and remains the
 * caller's. Returns TASKID_SAME, or the reason of the failure; then there is nothing to close. */
enum taskid_answer memory_open(struct memory *memory, int process, const struct taskid *id);
/* Returns true if the process exists and still runs the program whose memory this is; always true for an image. */
bool memory_is_current(const struct memory *memory);
/* Makes memory an image of the n parts at part, which are sorted by address and disjoint. The parts remain the caller's
 * and must exist until memory_close. */
void memory_image(struct memory *memory, const struct memory_part *part, size_t n);
/* Closes the descriptors and frees the buffers. */
void memory_close(struct memory *memory);

/* Frees the buffers (2 MB); the next read allocates them again. */
void memory_rest(struct memory *memory);

/* Empties the page cache: later reads return the current data of the process. */
void memory_forget(struct memory *memory);

/* Reads n bytes at an address through the cache. Returns false if any of them is not readable. */
bool memory_read(struct memory *memory, uint64_t address, void *to, size_t n);

/* Like memory_read without the cache, for large reads. */
bool memory_bulk(struct memory *memory, uint64_t address, void *to, size_t n);

/* Serves n requests at once, in any order, and sorts want by address. Bytes that are not readable become 0. Returns
 * false if the process has ended or the budget is exceeded; then the caller discards all data. */
bool memory_gather(struct memory *memory, struct memory_want *want, size_t count, void *to);

/* Sorts requests by address, as memory_gather does. Requests with equal addresses keep their order. */
void memory_sort(struct memory *memory, struct memory_want *want, size_t count);

/* Copies the C string at an address with its NUL. Returns false if it is not readable, or if it needs more than cap
 * bytes with the NUL. */
bool memory_string(struct memory *memory, uint64_t address, char *to, size_t cap);

/* Read a little-endian number of `width` bytes: 1, 2, 4 or 8; memory_i64 extends the sign. memory_pointer reads 8
 * bytes. They return false if the number is not readable. */
bool memory_u64(struct memory *memory, uint64_t address, unsigned width, uint64_t *value);
bool memory_i64(struct memory *memory, uint64_t address, unsigned width, int64_t *value);
bool memory_pointer(struct memory *memory, uint64_t address, uint64_t *value);

#endif
