/* jitdump_write.h - writes jitdumps as JITs do (tools/perf/Documentation/jitdump-specification.txt), for tests. */
#ifndef PJ_JITDUMP_WRITE_H
#define PJ_JITDUMP_WRITE_H

#include "common/text.h"

static inline void jit_u32(struct text *text, uint32_t v)
{
	text_bytes(text, &v, sizeof(v));
}

static inline void jit_u64(struct text *text, uint64_t v)
{
	text_bytes(text, &v, sizeof(v));
}

static inline void jit_header(struct text *text, uint32_t pid, uint64_t flags)
{
	jit_u32(text, 0x4A695444);
	jit_u32(text, 1);  /* version */
	jit_u32(text, 40); /* size of this head */
	jit_u32(text, 62); /* EM_X86_64 */
	jit_u32(text, 0);
	jit_u32(text, pid);
	jit_u64(text, 1); /* time */
	jit_u64(text, flags);
}

/* Returns where the record begins; jit_end sets its size. */
static inline size_t jit_begin(struct text *text, uint32_t id, uint64_t time)
{
	size_t at = text->n;

	jit_u32(text, id);
	jit_u32(text, 0);
	jit_u64(text, time);
	return at;
}

static inline void jit_end(struct text *text, size_t at)
{
	uint32_t n = (uint32_t)(text->n - at);

	memcpy(text->p + at + 4, &n, sizeof(n));
}

static inline void jit_load(struct text *text, uint64_t time, uint64_t address, uint64_t size, uint64_t index,
			    const char *name)
{
	size_t at = jit_begin(text, 0, time);

	jit_u32(text, 1); /* pid, tid */
	jit_u32(text, 1);
	jit_u64(text, address);
	jit_u64(text, address);
	jit_u64(text, size);
	jit_u64(text, index);
	text_bytes(text, name, strlen(name) + 1);
	for (uint64_t i = 0; i < size; i++)
		text_char(text, (char)0x90);
	jit_end(text, at);
}

static inline void jit_move(struct text *text, uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	size_t at = jit_begin(text, 1, time);

	jit_u32(text, 1);
	jit_u32(text, 1);
	jit_u64(text, from);
	jit_u64(text, from);
	jit_u64(text, to);
	jit_u64(text, size);
	jit_u64(text, index);
	jit_end(text, at);
}

static inline void jit_debug(struct text *text, uint64_t time, uint64_t address, uint32_t line, const char *file)
{
	size_t at = jit_begin(text, 2, time);

	jit_u64(text, address);
	jit_u64(text, 1);
	jit_u64(text, address);
	jit_u32(text, line);
	jit_u32(text, 0);
	text_bytes(text, file, strlen(file) + 1);
	jit_end(text, at);
}

static inline void jit_close(struct text *text, uint64_t time)
{
	jit_end(text, jit_begin(text, 3, time));
}

/* frame: what .eh_frame holds; header bytes of .eh_frame_hdr behind it. */
static inline void jit_unwind(struct text *text, uint64_t time, struct str frame, uint64_t header)
{
	size_t at = jit_begin(text, 4, time);

	jit_u64(text, frame.n + header);
	jit_u64(text, header);
	jit_u64(text, 0);
	text_str(text, frame);
	for (uint64_t i = 0; i < header; i++)
		text_char(text, 'h');
	jit_end(text, at);
}

#endif
