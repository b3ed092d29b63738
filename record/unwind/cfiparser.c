/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/cfimaker.h"

#include "common/files/fullio.h"
#include "common/process/helperprocess.h"
#include "common/process/fdmessage.h"
#include "common/process/sandbox.h"
#include "unwind/dwarf/cfiunwind.h"
#include "unwind/trampolines.h"

#include <malloc.h>
#include <time.h>
#include <unistd.h>

/* Makes the table of the ELF file fd and writes the table's image to `image`. Closes fd. Returns CFIMAKER_MADE, or the
 * reason why there is no table. */
static enum cfimaker_answer cfiparser_make(int fd, int image)
{
	const char *why;
	struct unwind_table *table = unwind_table_open(fd, &why);
	bool saved;

	if (!table)
		return why == unwind_table_too_large ? CFIMAKER_LARGE : CFIMAKER_NONE;
	saved = unwind_table_save(table, image);
	unwind_table_close(table);
	return saved ? CFIMAKER_MADE : CFIMAKER_LARGE;
}

/* Makes the table of the copy fd of generated code and writes the table's image to `image`. Closes fd. */
static enum cfimaker_answer cfiparser_make_of_code(int fd, int image)
{
	static char code[CFIMAKER_CODE];
	struct text frames = { 0 };
	struct unwind_table *table;
	const char *why;
	bool saved;

	trampolines_frames((struct str){ code, fullio_pread(fd, code, sizeof(code), 0) }, CFIMAKER_CODE_ADDRESS,
			   &frames);
	close(fd);
	table = unwind_table_memory(text_view(&frames), 0, &why);
	saved = table && unwind_table_save(table, image);
	unwind_table_close(table);
	text_free(&frames);
	return saved ? CFIMAKER_MADE : CFIMAKER_NONE;
}

static uint32_t cpu_us(void)
{
	struct timespec spec = { 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spec);
	return (uint32_t)((uint64_t)spec.tv_sec * 1000000 + (uint64_t)spec.tv_nsec / 1000);
}

void cfiparser_run(int opener)
{
	struct sandbox limits = { .groups = SANDBOX_MESSAGES | SANDBOX_OUTPUT | SANDBOX_DEADLINE,
				  .files = 16,
				  .file_bytes = UNWIND_TABLE_MAX + (1 << 20),
				  .address_space = helperprocess_memory() + CFIPARSER_MEMORY };
	struct cfimaker_parse parse = { 0 };
	uint32_t before;
	int fd[FDMESSAGE_MAX];
	bool sent = true;

	/* Low threshold (128 kB), so that malloc maps the memory of ELF sections, and free returns it to the kernel at
	 * once. */
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
	sandbox_enter(&limits);
	while (sent && fdmessage_receive_all(opener, &parse, sizeof(parse), fd, 0) > 0 && fd[CFIMAKER_OUT] >= 0) {
		struct cfimaker_reply reply = { .number = parse.number };

		sandbox_deadline(CFIPARSER_CPU_MS);
		before = cpu_us();
		reply.answer = parse.code ? cfiparser_make_of_code(fd[CFIMAKER_IN], fd[CFIMAKER_OUT]) :
					    cfiparser_make(fd[CFIMAKER_IN], fd[CFIMAKER_OUT]);
		reply.cpu_us = cpu_us() - before;
		sandbox_deadline(0);
		close(fd[CFIMAKER_OUT]);
		sent = fdmessage_send(opener, &reply, sizeof(reply), -1);
	}
}
