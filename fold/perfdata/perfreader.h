/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfreader.h - inside the reader of perf.data: what its three files share, and nobody else.
 *
 * perfopen.c reads what stands before and behind the data, perfread.c takes the data apart and puts records into the
 * queue, perfdata.c lets them go in order and hands them out.
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

#define INNER (1ull << 63) /* of `where` (bytes_hold): in the stream that was compressed */
#define NO_END (INNER - 1) /* of the data, in pipe mode */

struct perfdata {
	struct in *in;
	struct bytes raw, inner; /* the data of the file; what COMPRESSED records hold */
	uint64_t at, inner_at;   /* of the next record */
	uint64_t consumed;       /* by in_read, in pipe mode */
	struct str packed;       /* of the COMPRESSED record before `at`, not inflated yet */
	bool packed_more;        /* zstd may hold more of what it got */
	bool inner_lost;         /* its records cannot be told apart any more */
	uint64_t joined;         /* up to here the records of a COMPRESSED2 go whose sizes overflowed */
	struct zstdstream zstd;
	struct perfevents events;
	uint64_t ids; /* read so far */
	struct perffeatures features;
	struct order order;
	uint64_t *now; /* without time: go at once */
	size_t now_at, now_n, now_cap;
	bool rounds, started, stopped, ended, pressed;
	bool held; /* record below lies at where, and must be given back */
	uint64_t where;
	struct perfdata_record record;
	struct perfrecords_values values; /* those behind value_at become records, too */
	uint64_t value_at;
	uint64_t *aligned; /* a record that is not, NULL before the first */
	struct perfdata_tally tally;
};

static inline struct bytes *reader_stream(struct perfdata *perfdata, uint64_t where)
{
	return where & INNER ? &perfdata->inner : &perfdata->raw;
}

static inline size_t reader_memory(const struct perfdata *perfdata) /* of what waits */
{
	return bytes_memory(&perfdata->raw) + bytes_memory(&perfdata->inner);
}

void reader_bad(struct perfdata *perfdata, uint64_t offset, const char *why); /* counts it */

/* Up to the data; in pipe mode up to the samples. Dies when there is nothing to read. */
void reader_open(struct perfdata *perfdata);

/* One record more, or one piece of what is compressed; false at the end. Only while nothing of the queue is ready. */
bool reader_next(struct perfdata *perfdata);

#endif
