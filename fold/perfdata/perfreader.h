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

/* Bit of a record's handle (bytes_hold()) that is set if the record is in the decompressed stream, not in the file. */
#define INNER (1ull << 63)
/* Value of bytes.end in pipe mode, where the end of the data is unknown. */
#define NO_END (INNER - 1)

/* The reader of one recording. Offsets are in bytes, in the file or in the decompressed stream. */
struct perfdata {
	/* The input of perfdata_open(). */
	struct in *in;
	/* The data of the file, and the decompressed contents of its COMPRESSED records. */
	struct bytes raw, inner;
	/* at: offset of the next record in `raw`. inner_at: offset of the next record in `inner`. */
	uint64_t at, inner_at;
	/* Number of bytes that in_read() has returned, in pipe mode. */
	uint64_t consumed;
	/* The bytes of the latest COMPRESSED record that are not decompressed yet. The record ends at `at`. */
	struct str packed;
	/* True if the decompressor may have more output for the input that it has already read. */
	bool packed_more;
	/* True if the decompressed stream is damaged: the boundaries of its further records are unknown, so the stream
	 * is no longer read. */
	bool inner_lost;
	/* End offset of the current series of COMPRESSED2 records, whose first header has the size of the entire
	 * series; 0: no series. */
	uint64_t joined;
	/* Decompressor of the stream `inner`. */
	struct zstdstream zstd;
	/* The events, from the header of the file or from records in pipe mode. */
	struct perfevents events;
	/* Number of event ids read from sections of the file, for the limit on the ids of all events. */
	uint64_t ids;
	struct perffeatures features;
	struct order order;
	/* Handles of the records without time: now[now_at .. now_n - 1] are delivered before the records of `order`.
	 * now_cap: capacity in elements. */
	uint64_t *now;
	size_t now_at, now_n, now_cap;
	/*
	 * rounds: the file has FINISHED_ROUND records. started: the first sample, compressed record or end of a round
	 * was read, so that all descriptions of events have been read. stopped: the rest of the file cannot be read,
	 * because the file is damaged or truncated. ended: all records are read and ready. pressed: the waiting records
	 * exceeded the memory limit, and the earlier half of their time span was made ready.
	 */
	bool rounds, started, stopped, ended, pressed;
	/* True if `record` points to bytes of the held record `where`, which must be released before the next record is
	 * delivered. */
	bool held;
	uint64_t where;
	struct perfdata_record record;
	/* Counters of the current sample, and index of the next counter to deliver. */
	struct perfrecords_values values;
	uint64_t value_at;
	/* Buffer for an aligned copy of a record; NULL until a record is at an unaligned address. */
	uint64_t *aligned;
	struct perfdata_tally tally;
};

/* Returns the stream that contains the record with the handle `where`: the file, or the decompressed stream. */
static inline struct bytes *reader_stream(struct perfdata *perfdata, uint64_t where)
{
	return where & INNER ? &perfdata->inner : &perfdata->raw;
}

/* Returns the size of the buffers in which records wait, in bytes. */
static inline size_t reader_memory(const struct perfdata *perfdata)
{
	return bytes_memory(&perfdata->raw) + bytes_memory(&perfdata->inner);
}

/* Counts a damaged part of the recording. If this is the first damaged part, stores its offset and `why`, a static text
 * with the reason. */
void reader_bad(struct perfdata *perfdata, uint64_t offset, const char *why);

/* Reads header, events and features of the file or, in pipe mode, the records before the first sample. Ends the process
 * with a message if the recording has no event. */
void reader_open(struct perfdata *perfdata);

/* Reads and queues one more record, or decompresses more bytes. Returns false at the end of the recording. Call it only
 * if no record of the queue is ready. */
bool reader_next(struct perfdata *perfdata);

#endif
