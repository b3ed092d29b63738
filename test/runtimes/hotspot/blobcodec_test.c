/* Facts of frames: what is kept of a piece of code answers as its bytes do, and comes back as it was. */
/* covers: runtimes/hotspot/blobcodec.c */
#include "runtimes/hotspot/blobcodec.h"
#include "test/lib/tap.h"

#include <stdlib.h>

/* A method as HotSpot's compilers make it, and a second entry; where the frame is not whole. */
static const unsigned char method[] = {
	0x44, 0x8b, 0x56, 0x08, 0x90, 0x90, 0x90, 0x90,                   /* 0: class check */
	0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff,                         /* 8: mov [rsp - N], eax: the entry */
	0x55,                                                             /* 15: push rbp */
	0x48, 0x83, 0xec, 0x20,                                           /* 16: sub rsp, 32 */
	0x8b, 0xc6, 0xff, 0xc0,                                           /* 20 */
	0x48, 0x83, 0xc4, 0x20,                                           /* 24: add rsp, 32 */
	0x5d,                                                             /* 28: pop rbp */
	0x49, 0x3b, 0xa7, 0x50, 0x03, 0x00, 0x00,                         /* 29: cmp rsp, [r15 + N] */
	0x0f, 0x87, 0x10, 0x00, 0x00, 0x00,                               /* 36: ja */
	0xc3,                                                             /* 42: ret */
	0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, /* 43 */
	0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, /* 54 */
	0x4c, 0x8d, 0x15, 0xd9, 0xff, 0xff, 0xff,                         /* 65: lea r10, [poll] */
	0x4d, 0x89, 0x97, 0x68, 0x03, 0x00, 0x00,                         /* 72: mov [r15 + N], r10 */
	0xe9, 0x00, 0x00, 0x00, 0x00,                                     /* 79: jmp */
	0x90, 0x90, 0x90, 0x90,                                           /* 84 */
	0x55,                                                             /* 88: push rbp */
	0x48, 0x83, 0xec, 0x20,                                           /* 89: sub rsp, 32 */
	0x90, 0x90, 0x90, 0x90,                                           /* 93 */
};
static const uint8_t boundary[] = { 0, 8, 15, 16, 20, 22, 24, 28, 29, 36, 42, 43, 65, 72, 79, 84, 88, 89, 93 };

enum { AT = 0x7000 };

static bool read_method(void *arg, uint64_t address, void *to, size_t n)
{
	(void)arg;
	if (address < AT || address - AT > sizeof(method) || n > sizeof(method) - (address - AT))
		return false;
	memcpy(to, method + (address - AT), n);
	return true;
}

static int saved_how(void *arg, const struct code_blob *p, uint64_t address)
{
	return (int)blobcodec_how(*(const struct str *)arg, address - p->start);
}

static struct code_blob blob(uint8_t kind)
{
	return (struct code_blob){ .start = AT,
				   .end = AT + sizeof(method),
				   .frame = 48,
				   .offset = { 8, 20, 24 },
				   .kind = kind,
				   .deopt = { AT + sizeof(method), AT } };
}

/* Not by memcmp: what is behind kind is anything. */
static bool same(const struct code_blob *a, const struct code_blob *b)
{
	return a->start == b->start && a->end == b->end && a->deopt[0] == b->deopt[0] && a->deopt[1] == b->deopt[1] &&
	       a->frame == b->frame && memcmp(a->offset, b->offset, sizeof(a->offset)) == 0 && a->kind == b->kind;
}

static void answers(uint8_t kind, size_t least)
{
	struct code_blob p = blob(kind), q = { .start = p.start, .end = p.end };
	struct str runs, s;
	struct javaunwind_code bytes = { .read = read_method }, saved = { .how = saved_how, .arg = &runs };
	size_t differ = 0, some = 0;
	struct text t = { 0 };

	blobcodec_encode(&t, &p, method, sizeof(method));
	s = text_view(&t);
	ok(blobcodec_decode(&s, &q, &runs) && s.n == 0, "what was put is taken");
	ok(same(&p, &q), "  and the same");
	for (size_t i = 0; i < countof(boundary); i++) {
		uint64_t at = AT + boundary[i];
		enum javaframe want =
			kind == BLOB_STUB ? javaframe_stub(&bytes, &p, at) : javaframe_compiled(&bytes, &p, at);
		enum javaframe got =
			kind == BLOB_STUB ? javaframe_stub(&saved, &q, at) : javaframe_compiled(&saved, &q, at);

		differ += want != got;
		some += want != JAVAFRAME_COMPLETE;
	}
	is_u64(differ, 0, "where code can be interrupted, they say what its bytes say");
	ok(some >= least, "  which is not always that the frame is whole");
	ok(t.n < 60, "  in few bytes");
	text_free(&t);
}

static void special(void)
{
	struct code_blob p = { .start = AT,
			       .end = AT + 64,
			       .method_entry = { BLOB_NEVER, BLOB_NEVER },
			       .kind = BLOB_ENTRY },
			 q = p;
	struct text t = { 0 };
	struct str s, runs;

	blobcodec_encode(&t, &p, NULL, 0);
	s = text_view(&t);
	q.offset[0] = q.offset[1] = 0;
	ok(blobcodec_decode(&s, &q, &runs) && same(&p, &q), "what a piece lacks it lacks");
	ok(blobcodec_how(runs, 5) == JAVAFRAME_COMPLETE && blobcodec_how((struct str){ 0 }, 0) == JAVAFRAME_COMPLETE,
	   "code that could not be read: whole");
	text_free(&t);
}

static void hostile(void)
{
	struct code_blob p = blob(BLOB_COMPILED), q = { .start = AT, .end = AT + 8 };
	struct text t = { 0 };
	struct str s, runs;
	size_t taken = 0;

	blobcodec_encode(&t, &p, method, sizeof(method));
	s = text_view(&t);
	ok(!blobcodec_decode(&s, &q, &runs), "deoptimisation outside of the piece");
	q.end = p.end;
	for (size_t n = 0; n < t.n; n++) {
		char *copy = malloc(n + 1);

		memcpy(copy, t.p, n);
		s = (struct str){ copy, n };
		taken += blobcodec_decode(&s, &q, &runs);
		free(copy);
	}
	is_u64(taken, 0, "cut anywhere: none");
	s = (struct str){ "\x0b\0\0\0\0\0\0\0", 8 };
	ok(!blobcodec_decode(&s, &q, &runs), "a kind that is none");
	s = (struct str){ "\0\0\0\0\0\0\0\x02\xff\xff\xff\xff\x0f\x05\x01\x05", 16 };
	ok(!blobcodec_decode(&s, &q, &runs), "runs behind all code");
	text_free(&t);
}

int main(void)
{
	answers(BLOB_COMPILED, 11);
	answers(BLOB_NATIVE, 11);
	answers(BLOB_STUB, 2);
	special();
	hostile();
	return done();
}
