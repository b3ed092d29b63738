/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saverring.h - memory shared by the recorder and the symbol saver: messages to the symbol saver, counts to the
 * recorder.
 *
 * The messages are in a lock-free ring of bytes with one writer and one reader. The writer never waits: a message that
 * does not fit into the ring is not written at all. The reader sleeps on a socket, and the writer wakes it only while
 * it sleeps.
 */
#ifndef PJ_SAVERRING_H
#define PJ_SAVERRING_H

#include "record/symsaver/targetfiles.h"
#include "common/process/backoff.h"
#include "record/symsaver/symsaver.h"
#include "record/symsaver/saverbudget.h"
#include "record/symsaver/saverids.h"

#include <stdatomic.h>

/* SAVERRING_BYTES: size of the ring in bytes, a power of two; the ring holds about 3000 messages. SAVERRING_PATH:
 * maximum bytes of the path of a message; longer paths are truncated. */
#define SAVERRING_BYTES (512u << 10)
#define SAVERRING_PATH 4096

enum saver_kind {
	/* request to hold the root directory of a process in another mount namespace, for files of ended processes */
	KEEP_ROOT,
	KEEP_BINARY, /* request to save a file */
	/* request to save a file, unless it belongs to a package and this host still has it at its path */
	KEEP_CHECK,
	KEEP_ID,   /* request to read only the build-id of a file */
	KEEP_JIT,  /* report that a process generates code */
	KEEP_DUMP, /* report that a process mapped a jitdump */
	KEEP_EXIT,
	KEEP_WINDOW
};

struct saver_message {
	uint32_t size; /* bytes of the message, of the path after it and of padding; a multiple of 8 */
	uint32_t kind;
	/* 1: the path is relative to the root directory of the process; 0: to the recorder's root directory */
	uint32_t elsewhere;
	/* hash of the file and its tenant; equal for all processes of the tenant that map the file; 0 without a
	 * mapping */
	uint64_t key;
	struct symsaver_process process;
	/* mapping of the file; only the length of mapping.path is valid, its bytes follow the message */
	struct target_mapping mapping;
};

#define KEEP_AVOID BACKOFF_PLACES_MAX
#define KEEP_DONE 4096 /* number of slots of saver_shared.done; a power of two */

struct saver_shared {
	/* Written by the symbol saver. busy_since: time in ns of CLOCK_MONOTONIC at which it began to access files; 0:
	 * it accesses none. busy_place: fault domain of these files (backoff.h). */
	_Atomic uint64_t busy_since, busy_place;
	/* Written by the symbol saver. kernel_now, kernel_before: numbers of the current and previous snapshot of
	 * kernel symbols; 0: none. kernel_changed: time in ns of CLOCK_MONOTONIC at which the current one was made. */
	_Atomic uint64_t kernel_now, kernel_before, kernel_changed;
	/* Keys of files that are saved or need not be saved: the recorder does not report these files again in this
	 * window. Index: low bits of the key. Set by the symbol saver, cleared by the recorder at each window. */
	_Atomic uint64_t done[KEEP_DONE];
	/* count: see enum saver_count. failed: number of files not saved, by reason. Written by the symbol saver. */
	_Atomic uint64_t count[12], failed[SYMSAVER_REASONS];
	/* counts of parser failures, by enum saver_parser; written by the symbol saver */
	_Atomic uint64_t parser[3];
	struct saverbudget_over over; /* numbers of omitted or removed files by tenant; written by the symbol saver */
	/* 1: the symbol saver sleeps, and the next message must wake it */
	_Atomic uint32_t sleeping;
	struct saverids_ring found; /* build-ids of files whose mappings have none; written by the symbol saver */
	/* 1: the symbol saver must end; written by the recorder */
	_Atomic uint32_t stop;
	struct saver_avoided {
		/* a fault domain (backoff.h), and the time in ns of CLOCK_MONOTONIC until which it is avoided */
		uint64_t place, until;
		/* fault domains that the symbol saver must avoid; the recorder sets them before it starts the symbol
		 * saver */
	} avoid[KEEP_AVOID];
	/* head: bytes written to the ring since the start, by the recorder. tail: bytes read from it, by the symbol
	 * saver. */
	_Atomic uint64_t head, tail;
	char ring[SAVERRING_BYTES];
};

/* Indexes of saver_shared.count. */
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

/* Indexes of saver_shared.parser: number of parsers that hung, of parsers that crashed, of killed parsers that have not
 * ended. */
enum saver_parser { PARSER_HUNG, PARSER_CRASHED, PARSER_LINGERING };

/* Appends a message with its path to the ring; a path beyond SAVERRING_PATH bytes is truncated. Sets message->size and
 * the length of message->mapping.path. Returns false, without writing, if the ring has too little space. */
bool saverring_put(struct saver_shared *shared, struct saver_message *message, struct str path);

/* Reads the next message, and its path, which ends in a NUL; message->mapping.path refers to `path`. Returns false if
 * the ring is empty. */
bool saverring_get(struct saver_shared *shared, struct saver_message *message, char path[SAVERRING_PATH + 1]);

#endif
