/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/blobcodec.h"

#include "unwind/x86.h"

#include "common/formats/jmapfile.h"

enum { RUNS_MAX = 4096, AFTER_EPILOGUE = 24, AFTER_LEAVE = 16, AROUND_SUB = 10, AFTER_PROLOGUE = 16 };

/* ---- encoding ---------------------------------------------------------------------------------------------------- */

struct making {
	struct javaunwind_code c;
	const struct code_blob *p;
	const uint8_t *code;
	uint64_t n;
	uint64_t next; /* lowest code offset that is not evaluated yet */
	/* Code offset of the prologue's end. All offsets below it are evaluated, because the frame state there
	 * depends on more than nearby bytes. */
	uint64_t prologue;
	/* Code offsets [from, to) of the open run of equal frame states; `end` is the end offset of the previous
	 * run. */
	uint64_t from, to, end;
	enum javaframe how;
	struct text runs;
	uint64_t nruns;
};

static bool read_copy(void *arg, uint64_t address, void *to, size_t n)
{
	const struct making *making = arg;
	uint64_t at = address - making->p->start;

	if (at > making->n || n > making->n - at)
		return false;
	memcpy(to, making->code + at, n);
	return true;
}

static void close_run(struct making *making)
{
	if (making->to == making->from || making->nruns == RUNS_MAX)
		return;
	jmap_number(&making->runs, making->from - making->end);
	jmap_number(&making->runs, (making->to - making->from - 1) << 2 | making->how);
	making->nruns++;
	making->end = making->to;
}

/* Returns true if no pattern of javaframe.h starts at offset `at` and the byte before is no pop rbp or leave: the frame
 * is then complete. Calling the functions of javaframe.h there would cost 50 times as much. */
static bool blobcodec_is_plain(const struct making *making, uint64_t at)
{
	const uint8_t *b = making->code + at;

	if (at == 0 || at + 3 > making->n || b[-1] == X86_OP_POP_RBP || b[-1] == X86_OP_LEAVE)
		return false;
	switch (b[0]) {
	case X86_OP_PUSH_RBP:
	case X86_OP_POP_RBP:
	case X86_OP_RET:
	case X86_OP_JMP_32: return false;
	case 0x48: return (b[2] & 0x3f) != 0x2c; /* possible mov rbp, rsp; sub rsp, N; mov [rsp + N], rbp */
	case 0x0f: return (b[1] & 0xfd) != 0x85; /* possible ja, jne */
	case 0x41: return b[1] != 0x85;          /* possible test [r10], eax */
	case 0x4c: return b[1] != 0x8d;          /* possible lea r10, [poll] */
	case 0x4d: return b[1] != 0x89;          /* possible mov [r15 + N], r10 */
	default: return true;
	}
}

/* Evaluates the frame states at code offsets [from, to) that are not evaluated yet, and extends or closes the open
 * run. */
static void blobcodec_look(struct making *making, uint64_t from, uint64_t to)
{
	from = from > making->next ? from : making->next;
	to = to < making->n ? to : making->n;
	for (; from < to; making->next = ++from) {
		uint64_t address = making->p->start + from;
		enum javaframe how;

		if (from >= making->prologue && blobcodec_is_plain(making, from))
			continue;
		how = making->p->kind == BLOB_STUB ? javaframe_stub(&making->c, making->p, address) :
						     javaframe_compiled(&making->c, making->p, address);
		if (how == JAVAFRAME_COMPLETE)
			continue;
		if (making->to != from || making->to == making->from || making->how != how) {
			close_run(making);
			making->from = from;
			making->how = how;
		}
		making->to = from + 1;
	}
}

static bool blobcodec_has(const struct making *making, uint64_t at, const char *bytes, size_t n)
{
	return at <= making->n && n <= making->n - at && memcmp(making->code + at, bytes, n) == 0;
}

/* By byte value: true if an instruction that sets up or removes a frame ends with this byte. About 1 % of all code
 * bytes have one of these values. */
static const bool telling[256] = {
	[X86_OP_POP_RBP] = true, [X86_OP_LEAVE] = true, [X86_OP_SUB_RSP_LAST] = true, [X86_OP_LEA_R10_LAST] = true
};

/* If code byte i ends an instruction that sets up or removes a frame, evaluates the frame states at the offsets
 * around it. */
static void look_around(struct making *making, uint64_t i)
{
	switch (making->code[i]) {
	case X86_OP_POP_RBP:
	case X86_OP_LEAVE:
		blobcodec_look(making, i, i + (making->code[i] == X86_OP_POP_RBP ? AFTER_EPILOGUE : AFTER_LEAVE));
		break;
	case X86_OP_SUB_RSP_LAST:
		if (i >= 2 &&
		    (blobcodec_has(making, i - 2, X86_SUB_8, 2) || blobcodec_has(making, i - 2, X86_SUB_32, 2)))
			blobcodec_look(making, i > AROUND_SUB ? i - AROUND_SUB : 0, i + AROUND_SUB);
		break;
	case X86_OP_LEA_R10_LAST: /* first instruction of lea r10, [poll]; mov [r15 + N], r10; jmp */
		if (i >= 2 && blobcodec_has(making, i - 2, X86_LEA_R10, 2) &&
		    blobcodec_has(making, i + 5, X86_MOV_R15_32_R10, 3))
			blobcodec_look(making, i - 2, i + 13);
		break;
	default: break;
	}
}

static void put_runs(struct text *text, const struct code_blob *blob, const void *code, size_t n)
{
	bool stub = blob->kind == BLOB_STUB;
	uint32_t entry = stub ? blob->stub.push_rbp : blob->nmethod.entry,
		 complete = stub ? BLOB_NEVER : blob->nmethod.complete;
	struct making making = {
		.p = blob, .code = code, .n = n < blob->end - blob->start ? n : blob->end - blob->start, .next = entry
	};

	making.c = (struct javaunwind_code){ .read = read_copy, .arg = &making };
	making.prologue = complete != BLOB_NEVER && complete > entry + 2 ? complete : (uint64_t)entry + 2;
	if (!stub)
		blobcodec_look(&making, entry, (complete != BLOB_NEVER ? complete : entry) + AFTER_PROLOGUE);
	for (uint64_t i = entry; i < making.n; i++)
		if (telling[making.code[i]])
			look_around(&making, i);
	close_run(&making);
	jmap_number(text, making.nruns);
	text_str(text, text_view(&making.runs));
	text_free(&making.runs);
}

static bool has_frame(const struct code_blob *blob)
{
	return blob->kind == BLOB_COMPILED || blob->kind == BLOB_NATIVE || blob->kind == BLOB_STUB;
}

static uint64_t offset_of(const struct code_blob *blob, uint64_t address)
{
	return address ? address - blob->start + 1 : 0;
}

void blobcodec_encode(struct text *text, const struct code_blob *blob, const void *code, size_t n)
{
	jmap_number(text, blob->kind);
	jmap_number(text, blob->frame / 8);
	jmap_number(text, blob->offset[0] == BLOB_NEVER ? 0 : (uint64_t)blob->offset[0] + 1);
	jmap_number(text, blob->offset[1] == BLOB_NEVER ? 0 : (uint64_t)blob->offset[1] + 1);
	jmap_number(text, blob->offset[2]);
	jmap_number(text, offset_of(blob, blob->deopt[0]));
	jmap_number(text, offset_of(blob, blob->deopt[1]));
	put_runs(text, blob, code, has_frame(blob) ? n : 0);
}

/* ---- decoding ---------------------------------------------------------------------------------------------------- */

/* Reads the next run of frame states from *string: code offsets [*from, *end) with state *how. On entry *end is the
 * end of the previous run; 0 for the first run. Returns false if the bytes are malformed. */
static bool next_run(struct str *string, uint64_t *end, uint64_t *from, enum javaframe *how)
{
	uint64_t delta, what;

	if (!jmap_get(string, &delta) || !jmap_get(string, &what) || delta > UINT32_MAX - *end)
		return false;
	*from = *end + delta;
	if ((what >> 2) >= UINT32_MAX - *from)
		return false;
	*end = *from + (what >> 2) + 1;
	*how = (enum javaframe)(what & 3);
	return true;
}

static bool take_runs(struct str *string, struct str *runs)
{
	struct str all = *string;
	uint64_t n, end = 0, from;
	enum javaframe how;

	if (!jmap_get(string, &n) || n > string->n / 2)
		return false;
	for (; n; n--)
		if (!next_run(string, &end, &from, &how))
			return false;
	*runs = str_head(all, all.n - string->n);
	return true;
}

bool blobcodec_decode(struct str *string, struct code_blob *blob, struct str *runs)
{
	uint64_t v[7], size = blob->end - blob->start;

	for (size_t i = 0; i < countof(v); i++)
		if (!jmap_get(string, &v[i]) || v[i] > UINT32_MAX)
			return false;
	if (v[0] > BLOB_THAW || v[1] > UINT32_MAX / 8 || v[5] > size + 1 || v[6] > size + 1)
		return false;
	blob->kind = (uint8_t)v[0];
	blob->frame = (uint32_t)v[1] * 8;
	blob->offset[0] = v[2] ? (uint32_t)v[2] - 1 : BLOB_NEVER;
	blob->offset[1] = v[3] ? (uint32_t)v[3] - 1 : BLOB_NEVER;
	blob->offset[2] = (uint32_t)v[4];
	for (unsigned i = 0; i < 2; i++)
		blob->deopt[i] = v[5 + i] ? blob->start + v[5 + i] - 1 : 0;
	return take_runs(string, runs);
}

enum javaframe blobcodec_how(struct str runs, uint64_t offset)
{
	uint64_t n, end = 0, from;
	enum javaframe how;

	if (!jmap_get(&runs, &n))
		return JAVAFRAME_COMPLETE;
	for (; n && next_run(&runs, &end, &from, &how) && from <= offset; n--)
		if (offset < end)
			return how;
	return JAVAFRAME_COMPLETE;
}
