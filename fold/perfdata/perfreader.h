/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfreader.h - private header of the perf.data reader, for perfopen.c, perfread.c and perfdata.c only.
 *
 * perfopen.c reads the parts before and after the data, perfread.c splits the data into records and queues them,
 * perfdata.c delivers them in order of time. No other file includes this header.
 */
#ifndef PJ_PERFREADER_H
#define PJ_PERFREADER_H

#include "fold/perfdata/perfbytes.h"
#include "fold/perfdata/perfdata.h"
#include "fold/perfdata/perfevents.h"
#include "fold/perfdata/perffeatures.h"
#include "fold/perfdata/perforder.h"
#include "common/formats/perfrecord.h"
#include "fold/perfdata/perfrecords.h"
#include "fold/perfdata/zstdstream.h"

/* Bit of `where` (a handle of bytes_hold()): the record is in the decompressed stream. */
#define INNER (1ull << 63)
/* End of the data in pipe mode, where it is unknown. */
#define NO_END (INNER - 1)

/* State of one recording. Offsets are in bytes of the file, or of the decompressed stream. */
struct perfdata {
	/* The input of perfdata_open(). */
	struct in *in;
	/* The data of the file, and the decompressed contents of its COMPRESSED records. */
	struct bytes raw, inner;
	/* Offsets of the next record in raw and in inner. */
	uint64_t at, inner_at;
	/* Number of bytes read by in_read(), in pipe mode. */
	uint64_t consumed;
	/* Bytes of the COMPRESSED record before `at` that are not decompressed yet. */
	struct str packed;
	/* The zstd stream may hold more output for its last input. */
	bool packed_more;
	/* The decompressed stream is damaged; its record boundaries are unknown, and it is not read any more. */
	bool inner_lost;
	/* End of a series of COMPRESSED2 records whose sizes overflowed; 0: not in such a series. */
	uint64_t joined;
	/* Decompressor of the stream `inner`. */
	struct zstdstream zstd;
	/* The events, from the header of the file or from records in pipe mode. */
	struct perfevents events;
	/* Number of event ids that were read. */
	uint64_t ids;
	struct perffeatures features;
	struct order order;
	/* Handles of records without time: now[now_at, now_n) are delivered before all others. */
	uint64_t *now;
	size_t now_at, now_n, now_cap;
	/*
	 * rounds: the file has FINISHED_ROUND records. started: the first sample or the end of the first round was
	 * read. stopped: the file cannot be read further, because it is damaged or truncated. ended: all records are
	 * queued. pressed: the memory limit was exceeded at the last record, and the earlier half of the queue was
	 * released.
	 */
	bool rounds, started, stopped, ended, pressed;
	/* The record below refers to the handle `where`, which must be released. */
	bool held;
	uint64_t where;
	struct perfdata_record record;
	/* Counters of the current sample; those from value_at on still have to be delivered. */
	struct perfrecords_values values;
	uint64_t value_at;
	/* Buffer for a record at an unaligned address; NULL until the first one. */
	uint64_t *aligned;
	struct perfdata_tally tally;
};

/* Returns the stream of a handle. */
static inline struct bytes *reader_stream(struct perfdata *perfdata, uint64_t where)
{
	return where & INNER ? &perfdata->inner : &perfdata->raw;
}

/* Returns the size of the buffers in which records wait, in bytes. */
static inline size_t reader_memory(const struct perfdata *perfdata)
{
	return bytes_memory(&perfdata->raw) + bytes_memory(&perfdata->inner);
}

/* Counts a damaged record; the first offset and reason are stored. `why` is a static text. */
void reader_bad(struct perfdata *perfdata, uint64_t offset, const char *why);

/* Reads the file up to its data, in pipe mode up to the first sample. Dies if there is nothing to read. */
void reader_open(struct perfdata *perfdata);

/* Reads one more record, or decompresses one more block. Returns false at the end. The caller calls it only if no
 * record of the queue is ready. */
bool reader_next(struct perfdata *perfdata);

#endif
