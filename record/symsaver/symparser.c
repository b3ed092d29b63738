/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/symparser.h"

#include "common/process/helperprocess.h"
#include "record/symsaver/dynelf.h"
#include "common/process/fdmessage.h"
#include "record/jit/jitrecords.h"
#include "common/process/sandbox.h"

#include <malloc.h>
#include <unistd.h>

#define OUTPUT_MAX (((uint64_t)4 << 30) + (64 << 20)) /* of a reduced file's places, most of which are holes */

static enum symparser_answer answer_of(const char *why)
{
	if (!why)
		return SYMPARSER_DONE;
	return why == reducer_too_large    ? SYMPARSER_LARGE :
	       why == reducer_cannot_write ? SYMPARSER_CANNOT_WRITE :
					     SYMPARSER_NOT_ELF;
}

/* A section may hold any note: the kernel's way is that of segments. */
static unsigned symparser_read_build_id(int fd, uint8_t id[20])
{
	struct elfhead_source s;
	struct elfhead h;
	unsigned n = 0;

	if (!elfhead_file(&s, fd))
		return 0;
	if (!elfhead_read(&h, &s, false))
		n = elfhead_build_id(&h, false, id);
	elfhead_free(&h);
	return n;
}

static const char *symparser_reduce(int in, int out, uint64_t max, struct reduced *r)
{
	const char *why = elfreducer_write(in, out, max, r);

	if (!why && !r->names && r->bytes == 0) /* no sections: the segments may lead to names */
		why = ftruncate(out, 0) < 0 ? reducer_cannot_write : dynelf_from_file(in, out, max, r);
	return why;
}

static void symparser_send_answer(const struct symparser_request *q, const int *fd, struct symparser_reply *a)
{
	struct reduced r = { 0 };

	if (q->question == SYMPARSER_RECORDS) {
		a->records = jitrecords_end(fd[SYMPARSER_IN], &q->span, &a->end);
		return;
	}
	if (q->question != SYMPARSER_MEMORY_IMAGE)
		a->build_id_n = (uint8_t)symparser_read_build_id(fd[SYMPARSER_IN], a->build_id);
	if (q->question == SYMPARSER_ID)
		return;
	if (q->question == SYMPARSER_REDUCE) {
		a->answer = answer_of(symparser_reduce(fd[SYMPARSER_IN], fd[SYMPARSER_OUT], q->max, &r));
	} else {
		a->answer = answer_of(dynelf_from_memory(fd[SYMPARSER_IN], q->base, fd[SYMPARSER_OUT], q->max, &r));
		a->build_id_n = r.build_id_n;
		memcpy(a->build_id, r.build_id, sizeof(a->build_id));
	}
	a->names = r.names;
}

void symparser_run(int saver)
{
	struct sandbox limits = { .groups = SANDBOX_MESSAGES | SANDBOX_OUTPUT | SANDBOX_DEADLINE,
				  .files = 16,
				  .file_bytes = OUTPUT_MAX,
				  .address_space = helperprocess_memory() + SYMPARSER_MEMORY };
	struct symparser_request q = { 0 };
	int fd[FDMESSAGE_MAX];
	bool sent = true;

	mallopt(M_MMAP_THRESHOLD, 128 << 10); /* tables are given back at once */
	sandbox_enter(&limits);
	while (sent && fdmessage_receive_all(saver, &q, sizeof(q), fd, 0) > 0) {
		struct symparser_reply a = { .serial = q.serial };

		sandbox_deadline(SYMPARSER_CPU_MS);
		symparser_send_answer(&q, fd, &a);
		sandbox_deadline(0);
		for (size_t i = 0; i < FDMESSAGE_MAX; i++)
			if (fd[i] >= 0)
				close(fd[i]);
		sent = fdmessage_send(saver, &a, sizeof(a), -1);
	}
}
