/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - reads the memory of another process without side effects on it.
 *
 * Memory is read only through /proc/PID/mem. The kernel checks permission when this file is opened, and binds the
 * descriptor to the address space. So after an exec or an exit, a read returns the old memory or nothing, and never
 * memory of the new program or of a process that got the PID later. Reads by PID (process_vm_readv) are not used: after
 * an exec, such a read could return memory of a set-uid program by a permission for the program before it.
 *
 * A descriptor alone does not show an exec: a task that shares the memory (CLONE_VM) keeps the old address space
 * readable. The caller checks the task identity (taskid_is, taskwait_is) before it attributes to the process the data
 * that it read.
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

/* Request for memory_gather: n bytes at `address`, to be stored at offset `at` of the caller's buffer. */
struct memory_want {
	uint64_t address;
	uint32_t n, at;
};

/* Contiguous bytes of an image of a process's memory (tests, core files): n bytes at `address`. */
struct memory_part {
	uint64_t address;
	size_t n;
	const char *bytes;
};

struct memory {
	int fd;                         /* descriptor of /proc/PID/mem; -1 if the memory is an image */
	const struct memory_part *part; /* parts of the image, sorted by address; NULL if the memory is not an image */
	size_t nparts;
	/* Budget that each read takes steps from; NULL: no limit. Owned by the caller, and must exist as long as
	 * memory. */
	struct readbudget *budget;
	/* Readable address in the process, for example of the ELF header of libjvm.so. memory_gather reads it to
	 * find out if the memory still exists. */
	uint64_t probe;
	uint64_t *number; /* for each slot of the page cache: page number + 1 of the cached page; 0: none */
	struct memory_page *page;
	struct memory_want *order; /* buffer for memory_sort */
	size_t order_n;
	char *bounce; /* buffer for one read that serves several requests of memory_gather */
};

/* Opens the memory of the program with task identity *id. process is a descriptor of /proc/PID and remains the
 * caller's. Returns TASKID_SAME, or the reason of the failure; then there is nothing to close. */
enum taskid_answer memory_open(struct memory *memory, int process, const struct taskid *id);
/* Makes *memory an image of n parts, which are sorted by address and disjoint. The parts remain the caller's and
 * must exist until memory_close. */
void memory_image(struct memory *memory, const struct memory_part *part, size_t n);
/* Closes the descriptor and frees the buffers. */
void memory_close(struct memory *memory);

/* Frees the buffers (2 MB); the next read allocates them again. */
void memory_rest(struct memory *memory);

/* Empties the page cache, so that later reads return the current data of the process. */
void memory_forget(struct memory *memory);

/* Reads n bytes at an address through the cache. Returns false if any of the bytes is not readable or the budget is
 * exceeded; to[] is then undefined. */
bool memory_read(struct memory *memory, uint64_t address, void *to, size_t n);

/* As memory_read, but without the cache: for large reads. */
bool memory_bulk(struct memory *memory, uint64_t address, void *to, size_t n);

/* Serves `count` requests, in any order, and sorts want[] by address. All bytes of a request become 0 if any of them is
 * not readable. Returns false if the process has ended (memory->probe is not readable) or the budget is exceeded; the
 * caller then discards all data. */
bool memory_gather(struct memory *memory, struct memory_want *want, size_t count, void *to);

/* Sorts requests by address, as memory_gather does. Requests with equal addresses keep their order. */
void memory_sort(struct memory *memory, struct memory_want *want, size_t count);

/* Copies the C string at an address with its NUL. Returns false if the string is not readable, or needs more than cap
 * bytes with the NUL. */
bool memory_string(struct memory *memory, uint64_t address, char *to, size_t cap);

/* Sets *value to the little-endian number of `width` bytes (1 to 8) at an address. memory_i64 extends the sign;
 * memory_pointer reads 8 bytes. Returns false if the number is not readable. */
bool memory_u64(struct memory *memory, uint64_t address, unsigned width, uint64_t *value);
bool memory_i64(struct memory *memory, uint64_t address, unsigned width, int64_t *value);
bool memory_pointer(struct memory *memory, uint64_t address, uint64_t *value);

#endif
