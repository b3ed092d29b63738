/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverring.h - what the recorder and its keeper share: messages one way, counts the other.
 *
 * A ring of bytes in shared memory, one writer, one reader, no lock: who writes never waits, and what does not fit is
 * not written. A message is what was put, whole. The reader sleeps in a pipe, and is woken only when it says that it
 * sleeps.
 */
#ifndef PJ_SAVERRING_H
#define PJ_SAVERRING_H

#include "record/symsaver/targetfiles.h"
#include "common/process/backoff.h"
#include "record/symsaver/symsaver.h"
#include "record/symsaver/saverbudget.h"
#include "record/symsaver/saverids.h"

#include <stdatomic.h>

#define SAVERRING_BYTES (512u << 10) /* a power of two: 3000 messages or so */
#define SAVERRING_PATH 4096

enum saver_kind {
	KEEP_ROOT,   /* a process in another mount namespace */
	KEEP_BINARY, /* a file that has to be kept */
	KEEP_CHECK,  /* a file of this host, which has to be kept when it will not stay */
	KEEP_ID,     /* a file whose build-id is wanted, and nothing else */
	KEEP_JIT,    /* code of no file */
	KEEP_DUMP,   /* a mapping that marks a jitdump */
	KEEP_EXIT,
	KEEP_WINDOW
};

struct saver_message {
	uint32_t size; /* of all, with the path behind it; a multiple of 8 */
	uint32_t kind;
	uint32_t elsewhere; /* the path is below the root of the process, not below ours */
	uint64_t key;       /* of what is to be kept, whoever tells of it */
	struct symsaver_process process;
	struct target_mapping mapping; /* its path is behind this; path.n is set */
};

#define KEEP_AVOID BACKOFF_PLACES_MAX
#define KEEP_DONE 4096 /* a power of two */

struct saver_shared {
	/* by the keeper */
	_Atomic uint64_t busy_since,
		busy_place; /* when it began to touch files of a process (CLOCK_MONOTONIC; 0: it does not); backoff.h */
	_Atomic uint64_t kernel_now, kernel_before, kernel_changed; /* numbers of snapshots, ns */
	_Atomic uint64_t done[KEEP_DONE]; /* keys of files that are kept, or need not be: not to be told of again in
					     this window */
	_Atomic uint64_t count[12], failed[SYMSAVER_REASONS];
	_Atomic uint64_t parser[3];   /* enum saver_parser */
	struct saverbudget_over over; /* files that were left out or removed, by tenant */
	_Atomic uint32_t sleeping;
	struct saverids_ring found; /* build-ids of files whose mappings do not tell them */
	/* by the recorder */
	_Atomic uint32_t stop;
	struct saver_avoided {
		uint64_t place, until; /* CLOCK_MONOTONIC, ns */
	} avoid[KEEP_AVOID];           /* set before a keeper starts */
	_Atomic uint64_t head, tail;   /* bytes that were written, that were read */
	char ring[SAVERRING_BYTES];
};

enum saver_count { /* of count[] */
		   COUNT_BINARIES,
		   COUNT_MAPS,
		   COUNT_KERNELS,
		   COUNT_BYTES,
		   COUNT_REMOVED,
		   COUNT_FORCED,
		   COUNT_HIDDEN,
		   COUNT_CONFLICTS
};

enum saver_parser { /* processes that parse for the keepers, in all; that were killed and have not ended */
		    PARSER_HUNG,
		    PARSER_CRASHED,
		    PARSER_LINGERING
};

/* False: there is no room. path: as in message->mapping.path, cut at KEEPRING_PATH. */
bool saverring_put(struct saver_shared *shared, struct saver_message *message, struct str path);

/* Takes the next message out, its path into path; false: there is none. */
bool saverring_get(struct saver_shared *shared, struct saver_message *message, char path[SAVERRING_PATH + 1]);

#endif
