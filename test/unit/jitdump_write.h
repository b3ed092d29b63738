/* jitdump_write.h - writes jitdumps as JITs do (tools/perf/Documentation/jitdump-specification.txt), for tests. */
#ifndef PJ_JITDUMP_WRITE_H
#define PJ_JITDUMP_WRITE_H

#include "common/text.h"

static inline void jit_u32(struct text *t, uint32_t v)
{
	text_bytes(t, &v, sizeof(v));
}

static inline void jit_u64(struct text *t, uint64_t v)
{
	text_bytes(t, &v, sizeof(v));
}

static inline void jit_header(struct text *t, uint32_t pid, uint64_t flags)
{
	jit_u32(t, 0x4A695444);
	jit_u32(t, 1);  /* version */
	jit_u32(t, 40); /* size of this head */
	jit_u32(t, 62); /* EM_X86_64 */
	jit_u32(t, 0);
	jit_u32(t, pid);
	jit_u64(t, 1); /* time */
	jit_u64(t, flags);
}

/* Returns where the record begins; jit_end sets its size. */
static inline size_t jit_begin(struct text *t, uint32_t id, uint64_t time)
{
	size_t at = t->n;

	jit_u32(t, id);
	jit_u32(t, 0);
	jit_u64(t, time);
	return at;
}

static inline void jit_end(struct text *t, size_t at)
{
	uint32_t n = (uint32_t)(t->n - at);

	memcpy(t->p + at + 4, &n, sizeof(n));
}

static inline void jit_load(struct text *t, uint64_t time, uint64_t address, uint64_t size, uint64_t index,
			    const char *name)
{
	size_t at = jit_begin(t, 0, time);

	jit_u32(t, 1); /* pid, tid */
	jit_u32(t, 1);
	jit_u64(t, address);
	jit_u64(t, address);
	jit_u64(t, size);
	jit_u64(t, index);
	text_bytes(t, name, strlen(name) + 1);
	for (uint64_t i = 0; i < size; i++)
		text_char(t, (char)0x90);
	jit_end(t, at);
}

static inline void jit_move(struct text *t, uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	size_t at = jit_begin(t, 1, time);

	jit_u32(t, 1);
	jit_u32(t, 1);
	jit_u64(t, from);
	jit_u64(t, from);
	jit_u64(t, to);
	jit_u64(t, size);
	jit_u64(t, index);
	jit_end(t, at);
}

static inline void jit_debug(struct text *t, uint64_t time, uint64_t address, uint32_t line, const char *file)
{
	size_t at = jit_begin(t, 2, time);

	jit_u64(t, address);
	jit_u64(t, 1);
	jit_u64(t, address);
	jit_u32(t, line);
	jit_u32(t, 0);
	text_bytes(t, file, strlen(file) + 1);
	jit_end(t, at);
}

static inline void jit_close(struct text *t, uint64_t time)
{
	jit_end(t, jit_begin(t, 3, time));
}

/* frame: what .eh_frame holds; header bytes of .eh_frame_hdr behind it. */
static inline void jit_unwind(struct text *t, uint64_t time, struct str frame, uint64_t header)
{
	size_t at = jit_begin(t, 4, time);

	jit_u64(t, frame.n + header);
	jit_u64(t, header);
	jit_u64(t, 0);
	text_str(t, frame);
	for (uint64_t i = 0; i < header; i++)
		text_char(t, 'h');
	jit_end(t, at);
}

#endif
