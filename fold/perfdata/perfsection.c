/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/perfsection.h"

#include "common/arena.h"
#include "common/formats/pjsection.h"

#include <stdlib.h>

#define BLOCK ((size_t)1 << 20)

/* Returns true if the section of a feature is after the table, so that a new table entry moves the section; false if
 * the section keeps its offset. */
static bool perfsection_moves(const struct perfsection *perfsection, unsigned feature)
{
	return perf_has_feature(perfsection->header.features, feature) &&
	       perfsection->section[feature].offset >= perfsection->end;
}

static const char *perfsection_read_header(struct perfsection *perfsection, struct in *input)
{
	struct perf_file_header *header = &perfsection->header;
	char bytes[sizeof(*header)];

	if (in_pread(input, bytes, sizeof(bytes), 0) < sizeof(bytes))
		return "its header is truncated";
	memcpy(header, bytes, sizeof(bytes));
	if (memcmp(header->magic, PERF_MAGIC, sizeof(header->magic)) != 0)
		return "it is no perf.data of this byte order";
	if (header->size == PERF_PIPE_HEADER)
		return "it is in pipe mode, which has no place for the names: write the recording to a file "
		       "(pjrecord -o FILE)";
	if (header->size < sizeof(*header))
		return "its header has no features";
	return NULL;
}

const char *perfsection_early(const struct perf_file_header *header, struct in *input, uint64_t features[4],
			      bool *early)
{
	const struct perf_section *place = &header->event_types;
	size_t n = sizeof(header->features);

	*early = false;
	/* pjrecord's bits are at the start of this section, which ends where the data begin */
	if (place->size < n || place->offset > header->data.offset ||
	    place->size != header->data.offset - place->offset)
		return NULL;
	if (in_pread(input, (char *)features, n, place->offset) < n)
		return "the part before the data is truncated";
	*early = perf_has_feature(features, FEATURE_PJ_START);
	return NULL;
}

const char *perfsection_read(struct perfsection *perfsection, struct in *input)
{
	const struct perf_file_header *header = &perfsection->header;
	const char *why = perfsection_read_header(perfsection, input);
	uint64_t size = 0, sum = 0, at, features[countof(header->features)];
	bool early;

	if (why)
		return why;
	if (!in_seekable(input, &size) || header->data.size == 0 || header->data.offset < sizeof(*header) ||
	    header->data.offset > size || header->data.size > size - header->data.offset)
		return "the recorder did not complete it";
	why = perfsection_early(header, input, features, &early);
	if (why)
		return why;
	/* pjrecord writes the feature bits of the header last */
	if (early && !(header->features[0] | header->features[1] | header->features[2] | header->features[3]))
		return "the recorder did not complete it";
	perfsection->end = at = header->data.offset + header->data.size;
	if (header->attrs.offset >= perfsection->end)
		return "its events are behind its data";
	for (unsigned i = 0; i < FEATURES; i++) {
		struct perf_section *section = &perfsection->section[i];

		if (!perf_has_feature(header->features, i))
			continue;
		if (in_pread(input, (char *)section, sizeof(*section), at) < sizeof(*section))
			return "the table of its features is truncated";
		at += sizeof(*section);
		if (section->offset > size || section->size > size - section->offset || section->size > size - sum)
			return "its features are truncated or overlap";
		sum += section->size;
	}
	return NULL;
}

/* Copies n bytes of the input from `offset` to the output. Returns false if the input has become shorter since its
 * header was read. */
static bool perfsection_copy(struct in *input, struct out *out, uint64_t offset, uint64_t n)
{
	char *block = mem_alloc(1, BLOCK);
	size_t got = 1;

	while (n && got) {
		got = in_pread(input, block, n < BLOCK ? (size_t)n : BLOCK, offset);
		out_bytes(out, block, got);
		offset += got;
		n -= got;
	}
	free(block);
	return n == 0;
}

/* Writes the feature table. Sections before the end of the data keep their offsets; all other sections follow the
 * table. The new section `feature`, of `body` bytes, is the last. */
static void perfsection_put_table(const struct perfsection *perfsection, struct out *out, unsigned feature,
				  uint64_t body)
{
	struct perf_section section;
	uint64_t n = 0, at;

	for (unsigned i = 0; i < FEATURES; i++)
		n += i == feature || perf_has_feature(perfsection->header.features, i);
	at = perfsection->end + n * sizeof(section);
	for (unsigned i = 0; i < FEATURES; i++)
		at += i != feature && perfsection_moves(perfsection, i) ? perfsection->section[i].size : 0;
	/* `at` is the end offset of the moved sections */
	section = (struct perf_section){ at, body };
	at = perfsection->end + n * sizeof(section);
	for (unsigned i = 0; i < FEATURES; i++) {
		struct perf_section moved = perfsection->section[i];

		if (i == feature) {
			out_bytes(out, &section, sizeof(section));
			continue;
		}
		if (!perf_has_feature(perfsection->header.features, i))
			continue;
		if (perfsection_moves(perfsection, i)) {
			moved.offset = at;
			at += moved.size;
		}
		out_bytes(out, &moved, sizeof(moved));
	}
}

const char *perfsection_write(const struct perfsection *perfsection, struct in *input, struct out *out,
			      unsigned feature, struct str body)
{
	static const char shrunk[] = "it became shorter while it was read";
	struct perf_file_header header = perfsection->header;

	header.features[feature / 64] |= UINT64_C(1) << feature % 64;
	out_bytes(out, &header, sizeof(header));
	if (!perfsection_copy(input, out, sizeof(header), perfsection->end - sizeof(header)))
		return shrunk;
	perfsection_put_table(perfsection, out, feature, body.n);
	for (unsigned i = 0; i < FEATURES; i++)
		if (i != feature && perfsection_moves(perfsection, i) &&
		    !perfsection_copy(input, out, perfsection->section[i].offset, perfsection->section[i].size))
			return shrunk;
	out_str(out, body);
	return NULL;
}
