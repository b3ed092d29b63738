/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - the memory of another process, read without touching it.
 *
 * Memory is read through /proc/PID/mem alone. The kernel binds that descriptor to the address space and checks
 * permission when it is opened, so after an exec or an exit it reads the old memory or nothing, never that of the new
 * program or of a process that got the PID later. No read goes by PID (process_vm_readv): a set-uid program would be
 * read with the rights of the program before it.
 *
 * A descriptor alone does not show an exec: a task that shares the memory (CLONE_VM) keeps the old address space
 * readable. The caller asks memory_is_current before it attributes to the process what it read.
 *
 * Small reads come from a cache of pages, which is one moment's view only between two memory_forget; large ones, and
 * requests that are read together, go past it. Requests are read in the order of their addresses, and neighbours with
 * one read: a read of one page costs about 1 us, each further page 0.5 us. Everything read is a stranger's, and changes
 * while it is read: a caller checks each number before it is used.
 */
#ifndef PJ_MEMORY_H
#define PJ_MEMORY_H

#include "runtimes/hotspot/readbudget.h"
#include "common/str.h"
#include "common/process/taskid.h"

#include <sys/types.h>

struct memory_page;

/* A piece that is wanted: n bytes from address on, which come to `at` in the bytes of the caller. */
struct memory_want {
	uint64_t address;
	uint32_t n, at;
};

/* A piece of an image of memory: what is known of a process that is not there (tests, a core file). */
struct memory_part {
	uint64_t address;
	size_t n;
	const char *bytes;
};

struct memory {
	int fd;                         /* /proc/PID/mem; -1: an image */
	int process;                    /* /proc/PID, of O_PATH */
	struct taskid id;               /* the program that the memory is of */
	const struct memory_part *blob; /* of an image, by address */
	size_t npieces;
	struct readbudget
		*budget;  /* each read takes steps from it; once it is exceeded all reads fail. NULL: no limit */
	uint64_t probe;   /* an address that is always there: tells whether it is still the same process */
	uint64_t *number; /* of page, + 1; 0: none */
	struct memory_page *page;
	struct memory_want *order; /* room to sort in */
	size_t order_n;
	char *bounce; /* where neighbours come to, before each goes to its place */
};

/* Opens the memory of the program that the process ran when id was read; process: a descriptor of /proc/PID.
 * TASKID_SAME, or the reason why it is not opened. */
enum taskid_answer memory_open(struct memory *memory, int process, const struct taskid *id);
/* Does the process live, and run the program whose memory this is? True for an image. */
bool memory_is_current(const struct memory *memory);
/* An image in its stead; pieces do not overlap, and stay the caller's. */
void memory_image(struct memory *memory, const struct memory_part *blob, size_t n);
void memory_close(struct memory *memory);

/* Gives back the memory that reading needs, until the next time: 2 MB. */
void memory_rest(struct memory *memory);

/* From now on what was read may be another. */
void memory_forget(struct memory *memory);

/* n bytes at an address, or false: not all of them can be read. */
bool memory_read(struct memory *memory, uint64_t address, void *to, size_t n);

/* The same past the cache, for what is large. */
bool memory_bulk(struct memory *memory, uint64_t address, void *to, size_t n);

/* Many pieces at once, in any order; `want` gets sorted. Those that cannot be read are zero. False: the memory is gone,
 * and nothing that was read counts. */
bool memory_gather(struct memory *memory, struct memory_want *want, size_t count, void *to);

/* The order in which memory_gather reads: by address, equal ones as they came. */
void memory_sort(struct memory *memory, struct memory_want *want, size_t count);

/* A C string of less than cap bytes into to, NUL behind it; false: none there, or it is longer. */
bool memory_string(struct memory *memory, uint64_t address, char *to, size_t cap);

/* A number of 1, 2, 4 or 8 bytes; signed ones of less than 8 bytes are extended. */
bool memory_u64(struct memory *memory, uint64_t address, unsigned width, uint64_t *value);
bool memory_i64(struct memory *memory, uint64_t address, unsigned width, int64_t *value);
bool memory_pointer(struct memory *memory, uint64_t address, uint64_t *value);

#endif
