/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/cfimaker.h"

#include "common/files/fullio.h"
#include "common/process/helperprocess.h"
#include "common/process/fdmessage.h"
#include "common/process/sandbox.h"
#include "unwind/dwarf/cfiunwind.h"
#include "unwind/trampolines.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Writes the image of a table to memory that no process, including this one, can change or shrink afterwards. Returns
 * its descriptor, or -1. */
static int image_of(const struct unwind_table *table)
{
	int fd = memfd_create("pjrecord-table", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && unwind_table_save(table, fd) &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Makes the table of one file and its image. Closes fd. *image: descriptor of the image, set if the answer is
 * CFIMAKER_MADE. */
static enum cfimaker_answer cfiparser_make(int fd, int *image)
{
	const char *why;
	struct unwind_table *table = unwind_table_open(fd, &why);

	if (!table)
		return why == unwind_table_too_large ? CFIMAKER_LARGE : CFIMAKER_NONE;
	*image = image_of(table);
	unwind_table_close(table);
	return *image >= 0 ? CFIMAKER_MADE : CFIMAKER_LARGE;
}

/* Like cfiparser_make, of a copy of generated code. */
static enum cfimaker_answer cfiparser_make_of_code(int fd, int *image)
{
	static char code[CFIMAKER_CODE];
	struct text frames = { 0 };
	struct unwind_table *table;
	const char *why;

	trampolines_frames((struct str){ code, fullio_pread(fd, code, sizeof(code), 0) }, CFIMAKER_CODE_ADDRESS,
			   &frames);
	close(fd);
	table = unwind_table_memory(text_view(&frames), 0, &why);
	*image = table ? image_of(table) : -1;
	unwind_table_close(table);
	text_free(&frames);
	return *image >= 0 ? CFIMAKER_MADE : CFIMAKER_NONE;
}

static uint32_t cpu_us(void)
{
	struct timespec spec = { 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spec);
	return (uint32_t)((uint64_t)spec.tv_sec * 1000000 + (uint64_t)spec.tv_nsec / 1000);
}

void cfiparser_run(int opener)
{
	struct sandbox limits = { .groups = SANDBOX_MESSAGES | SANDBOX_MEMFD | SANDBOX_DEADLINE,
				  .files = 16,
				  .file_bytes = UNWIND_TABLE_MAX + (1 << 20),
				  .address_space = helperprocess_memory() + CFIPARSER_MEMORY };
	struct cfimaker_parse parse;
	uint32_t before;
	int fd;

	/* A low threshold, because malloc returns memory of sections to the kernel at once if it was mapped. */
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
	sandbox_enter(&limits);
	while (fdmessage_receive(opener, &parse, sizeof(parse), &fd, 0) > 0 && fd >= 0) {
		struct cfimaker_reply reply = { .number = parse.number };
		int image = -1;
		bool sent;

		sandbox_deadline(CFIPARSER_CPU_MS);
		before = cpu_us();
		reply.answer = parse.code ? cfiparser_make_of_code(fd, &image) : cfiparser_make(fd, &image);
		reply.cpu_us = cpu_us() - before;
		sandbox_deadline(0);
		sent = fdmessage_send(opener, &reply, sizeof(reply), image);
		if (image >= 0)
			close(image);
		if (!sent)
			break;
	}
}
