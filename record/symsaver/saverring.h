/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverring.h - memory shared by the recorder and the symbol saver: messages in one direction, counts in the other.
 *
 * The messages are in a ring of bytes with one writer, one reader and no lock. The writer never waits: a message for
 * which the ring has no space is not written. Messages are written as a whole. The reader sleeps on a socket, and the
 * writer wakes it only while it sleeps.
 */
#ifndef PJ_SAVERRING_H
#define PJ_SAVERRING_H

#include "record/symsaver/targetfiles.h"
#include "common/process/backoff.h"
#include "record/symsaver/symsaver.h"
#include "record/symsaver/saverbudget.h"
#include "record/symsaver/saverids.h"

#include <stdatomic.h>

#define SAVERRING_BYTES (512u << 10) /* size of the ring in bytes, a power of two: about 3000 messages */
#define SAVERRING_PATH 4096

enum saver_kind {
	KEEP_ROOT,   /* a process in another mount namespace, whose root is to be held */
	KEEP_BINARY, /* a file to be saved */
	KEEP_CHECK,  /* a file of this host, to be saved if it may be replaced */
	KEEP_ID,     /* a file of which only the build-id is to be read */
	KEEP_JIT,    /* a process that generates code */
	KEEP_DUMP,   /* a mapping of a jitdump */
	KEEP_EXIT,
	KEEP_WINDOW
};

struct saver_message {
	uint32_t size; /* size in bytes of the message and the path after it; a multiple of 8 */
	uint32_t kind;
	/* 1: the path is relative to the root directory of the process; 0: to that of the recorder */
	uint32_t elsewhere;
	/* hash of the file and its tenant, the same for all processes of the tenant that map it */
	uint64_t key;
	struct symsaver_process process;
	/* mapping of the file; mapping.path.n is valid, and the path follows the message */
	struct target_mapping mapping;
};

#define KEEP_AVOID BACKOFF_PLACES_MAX
#define KEEP_DONE 4096 /* number of slots of `done`; a power of two */

struct saver_shared {
	/* These members are written by the symbol saver. */
	/* busy_since: time when it began to access files, in ns of CLOCK_MONOTONIC, 0: none; busy_place: their fault
	 * domain (backoff.h) */
	_Atomic uint64_t busy_since, busy_place;
	/* numbers of the current and previous snapshot of kernel symbols; ns of the current one's creation */
	_Atomic uint64_t kernel_now, kernel_before, kernel_changed;
	/* keys of the files that are saved or need not be, which the recorder does not report again in this window */
	_Atomic uint64_t done[KEEP_DONE];
	_Atomic uint64_t count[12], failed[SYMSAVER_REASONS];
	_Atomic uint64_t parser[3];   /* counts of parsers, by enum saver_parser */
	struct saverbudget_over over; /* number of files that were omitted or removed, by tenant */
	_Atomic uint32_t sleeping;
	struct saverids_ring found; /* build-ids of files whose mappings have none */
	/* These members are written by the recorder. */
	_Atomic uint32_t stop;
	struct saver_avoided {
		/* a fault domain, and the time until which it is avoided, in ns of CLOCK_MONOTONIC */
		uint64_t place, until;
	} avoid[KEEP_AVOID]; /* fault domains that the symbol saver avoids; set before it starts */
	/* number of bytes written to the ring, and number of bytes read, since the start */
	_Atomic uint64_t head, tail;
	char ring[SAVERRING_BYTES];
};

/* Indexes of count[]. */
enum saver_count {
	COUNT_BINARIES,
	COUNT_MAPS,
	COUNT_KERNELS,
	COUNT_BYTES,
	COUNT_REMOVED,
	COUNT_FORCED,
	COUNT_HIDDEN,
	COUNT_CONFLICTS
};

/* indexes of parser[]: number of parsers that hung, that crashed, and of killed ones that have not ended */
enum saver_parser { PARSER_HUNG, PARSER_CRASHED, PARSER_LINGERING };

/* Appends a message to the ring. path is that of message->mapping, and is cut at SAVERRING_PATH bytes. Returns false if
 * the ring is full. */
bool saverring_put(struct saver_shared *shared, struct saver_message *message, struct str path);

/* Reads the next message and its path, with a NUL. Returns false if there is none. */
bool saverring_get(struct saver_shared *shared, struct saver_message *message, char path[SAVERRING_PATH + 1]);

#endif
