/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/symparser.h"

#include "common/process/helperprocess.h"
#include "record/symsaver/dynelf.h"
#include "common/process/fdmessage.h"
#include "record/jit/jitrecords.h"
#include "common/process/sandbox.h"

#include <malloc.h>
#include <unistd.h>

/* maximum size in bytes of the file that the parser writes, most of which is holes; the kernel refuses more */
#define OUTPUT_MAX (((uint64_t)4 << 30) + (64 << 20))

static enum symparser_answer answer_of(const char *why)
{
	if (!why)
		return SYMPARSER_DONE;
	return why == reducer_too_large    ? SYMPARSER_LARGE :
	       why == reducer_cannot_write ? SYMPARSER_CANNOT_WRITE :
					     SYMPARSER_NOT_ELF;
}

/* Reads the build-id of the ELF file fd from its segments only, as the kernel does: a section may contain any note.
 * Returns an id with n 0 if there is none. */
static struct build_id symparser_read_build_id(int fd)
{
	struct elfhead_source source;
	struct elfhead elfhead;
	struct build_id id = { 0 };

	if (!elfhead_file(&source, fd))
		return id;
	if (!elfhead_read(&elfhead, &source, false))
		id = elfhead_build_id(&elfhead, false);
	elfhead_free(&elfhead);
	return id;
}

static const char *symparser_reduce(int in, int out, uint64_t max, struct reduced *reduced)
{
	const char *why = elfreducer_write(in, out, max, reduced);

	/* A file without section headers: its segments may still lead to names. */
	if (!why && !reduced->names && reduced->bytes == 0)
		why = ftruncate(out, 0) < 0 ? reducer_cannot_write : dynelf_from_file(in, out, max, reduced);
	return why;
}

static void symparser_send_answer(const struct symparser_request *request, const int *fd, struct symparser_reply *reply)
{
	struct reduced reduced = { 0 };

	if (request->question == SYMPARSER_RECORDS) {
		reply->records = jitrecords_end(fd[SYMPARSER_IN], &request->span, &reply->end);
		return;
	}
	if (request->question != SYMPARSER_MEMORY_IMAGE)
		reply->build_id = symparser_read_build_id(fd[SYMPARSER_IN]);
	if (request->question == SYMPARSER_ID)
		return;
	if (request->question == SYMPARSER_REDUCE) {
		reply->answer =
			answer_of(symparser_reduce(fd[SYMPARSER_IN], fd[SYMPARSER_OUT], request->max, &reduced));
	} else {
		reply->answer = answer_of(
			dynelf_from_memory(fd[SYMPARSER_IN], request->base, fd[SYMPARSER_OUT], request->max, &reduced));
		reply->build_id = reduced.build_id;
	}
	reply->names = reduced.names;
}

void symparser_run(int saver)
{
	struct sandbox limits = { .groups = SANDBOX_MESSAGES | SANDBOX_OUTPUT | SANDBOX_DEADLINE,
				  .files = 16,
				  .file_bytes = OUTPUT_MAX,
				  .address_space = helperprocess_memory() + SYMPARSER_MEMORY };
	struct symparser_request request = { 0 };
	int fd[FDMESSAGE_MAX];
	bool sent = true;

	/* low threshold, so that malloc maps large tables, and free returns them to the kernel at once */
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
	sandbox_enter(&limits);
	while (sent && fdmessage_receive_all(saver, &request, sizeof(request), fd, 0) > 0) {
		struct symparser_reply reply = { .serial = request.serial };

		sandbox_deadline(SYMPARSER_CPU_MS);
		symparser_send_answer(&request, fd, &reply);
		sandbox_deadline(0);
		for (size_t i = 0; i < FDMESSAGE_MAX; i++)
			if (fd[i] >= 0)
				close(fd[i]);
		sent = fdmessage_send(saver, &reply, sizeof(reply), -1);
	}
}
