/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverring.h - memory shared by the recorder and the symbol saver: messages in one direction, counts in the other.
 *
 * A ring of bytes with one writer, one reader and no lock: the writer never waits; a message without space is not
 * written. Messages are complete. The reader sleeps on a pipe, and the writer wakes it only while it sleeps.
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
	KEEP_BINARY, /* a file to save */
	KEEP_CHECK,  /* a file of this host, to save if it may be replaced */
	KEEP_ID,     /* a file of which only the build-id is needed */
	KEEP_JIT,    /* a process with generated code */
	KEEP_DUMP,   /* a mapping that announces a jitdump */
	KEEP_EXIT,
	KEEP_WINDOW
};

struct saver_message {
	uint32_t size; /* of the message with its path, which follows; a multiple of 8 */
	uint32_t kind;
	uint32_t elsewhere; /* the path is below the root of the process, not below the recorder's */
	uint64_t key;       /* of the file, the same for all processes that map it */
	struct symsaver_process process;
	struct target_mapping mapping; /* its path follows the message; path.n is set */
};

#define KEEP_AVOID BACKOFF_PLACES_MAX
#define KEEP_DONE 4096 /* a power of two */

struct saver_shared {
	/* written by the symbol saver */
	_Atomic uint64_t busy_since,
		busy_place; /* time when it began to access files of a process (CLOCK_MONOTONIC; 0: none); backoff.h */
	_Atomic uint64_t kernel_now, kernel_before, kernel_changed; /* numbers of snapshots, ns */
	_Atomic uint64_t done[KEEP_DONE]; /* keys of files that are saved or need not be: not reported again in this
					     window */
	_Atomic uint64_t count[12], failed[SYMSAVER_REASONS];
	_Atomic uint64_t parser[3];   /* enum saver_parser */
	struct saverbudget_over over; /* omitted and removed files, by tenant */
	_Atomic uint32_t sleeping;
	struct saverids_ring found; /* build-ids of files whose mappings lack them */
	/* written by the recorder */
	_Atomic uint32_t stop;
	struct saver_avoided {
		uint64_t place, until; /* CLOCK_MONOTONIC, ns */
	} avoid[KEEP_AVOID];           /* set before a symbol saver starts */
	_Atomic uint64_t head, tail;   /* bytes written, bytes read */
	char ring[SAVERRING_BYTES];
};

enum saver_count { /* indices of count[] */
		   COUNT_BINARIES,
		   COUNT_MAPS,
		   COUNT_KERNELS,
		   COUNT_BYTES,
		   COUNT_REMOVED,
		   COUNT_FORCED,
		   COUNT_HIDDEN,
		   COUNT_CONFLICTS
};

enum saver_parser { /* indices of parser[]: parsers that hung, crashed; killed ones that have not ended */
		    PARSER_HUNG,
		    PARSER_CRASHED,
		    PARSER_LINGERING
};

/* Writes a message. Returns false if the ring is full. path: of message->mapping, cut at SAVERRING_PATH. */
bool saverring_put(struct saver_shared *shared, struct saver_message *message, struct str path);

/* Reads the next message and its path. Returns false if there is none. */
bool saverring_get(struct saver_shared *shared, struct saver_message *message, char path[SAVERRING_PATH + 1]);

#endif
