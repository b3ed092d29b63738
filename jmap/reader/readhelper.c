/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/reader/readhelper.h"

#include "common/process/helperprocess.h"
#include "common/arena.h"
#include "jmap/perfmap/codemap.h"
#include "jmap/timeline/journal.h"
#include "common/process/sandbox.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define ADDRESS_SPACE ((uint64_t)256 << 20)
#define FD(which) (HELPERPROCESS_FD + (which))

struct readhelper {
	const struct jvm_process *p;
	struct hotspot h;
	bool open;
	struct readbudget budget;
	struct journal journal;
	struct read_request request;
	struct read_answer answer;
};

/* Replaces the content of a file in memory by `bytes`. Returns false if there are more than READ_MAP_BYTES bytes, or on
 * a write error. */
static bool readhelper_put_file(int fd, struct str bytes)
{
	return bytes.n <= READ_MAP_BYTES && lseek(fd, 0, SEEK_SET) == 0 && fullio_write(fd, bytes);
}

static struct hotspot_reason no_space(void)
{
	return (struct hotspot_reason){ "over-budget", "its data exceeds the limit of writes" };
}

/* ---- tasks of the helper ----------------------------------------------------------------------------------------- */

/* Opens the JVM and reads its layout, unless an earlier request has done that. On failure the descriptor of the JVM's
 * memory stays open for the next attempt. */
static struct hotspot_reason open_layout(struct readhelper *readhelper)
{
	struct hotspot_reason why = { 0 };

	if (readhelper->open)
		return why;
	why = hotspot_open_descriptor(&readhelper->h, readhelper->p, FD(READ_FD_MEM));
	readhelper->h.memory.budget = &readhelper->budget;
	if (!why.code)
		why = hotspot_read_layout(&readhelper->h, readhelper->p);
	readhelper->open = !why.code;
	return why;
}

static void readhelper_take_facts(const struct hotspot *hotspot, struct read_answer *answer)
{
	snprintf(answer->version, sizeof(answer->version), "%s", hotspot->version);
	snprintf(answer->command, sizeof(answer->command), "%s", hotspot->command);
	snprintf(answer->collector, sizeof(answer->collector), "%s", hotspot->collector ? hotspot->collector : "");
	answer->frame_pointers = hotspot->frame_pointers;
	answer->refuses_attach = hotspot->refuses_attach;
}

static struct hotspot_reason readhelper_write_map(struct readhelper *readhelper, struct read_answer *answer)
{
	const struct read_request *request = &readhelper->request;
	struct text map = { 0 };
	struct hotspot_reason why = { 0 };

	if (request->map_max == 0 || (answer->record_bytes == 0 && !request->map_due))
		return why;
	answer->map_too_large =
		!journal_map(&readhelper->journal, (enum method_style)request->style, request->map_max, &map);
	answer->has_map = !answer->map_too_large;
	if (answer->has_map && !readhelper_put_file(FD(READ_FD_MAP), text_view(&map)))
		why = no_space();
	answer->map_bytes = answer->has_map ? map.n : 0;
	text_free(&map);
	return why;
}

static struct hotspot_reason read_timeline(struct readhelper *readhelper, struct read_answer *answer)
{
	struct journal *journal = &readhelper->journal;
	struct text records = { 0 };
	struct hotspot_reason why;

	if (readhelper->request.anew)
		journal_begin_anew(journal);
	journal->bytes_max = readhelper->request.memory_max;
	why = journal_scan(journal, &readhelper->h, &records);
	answer->code_n = readhelper->h.code.n;
	if (!why.code && records.n && !readhelper_put_file(FD(READ_FD_RECORDS), text_view(&records)))
		why = no_space();
	answer->record_bytes = records.n;
	text_free(&records);
	if (!why.code)
		why = readhelper_write_map(readhelper, answer);
	answer->began = journal->before;
	answer->took = journal->before_ns;
	answer->came = journal->came;
	answer->went = journal->went;
	answer->torn = journal->torn;
	answer->unnamed = journal->unnamed;
	answer->beyond = journal->beyond;
	answer->later = journal->later;
	return why;
}

static struct hotspot_reason read_map(struct readhelper *readhelper, struct read_answer *answer)
{
	struct codemap codemap;
	struct text map = { 0 };
	struct hotspot_reason why =
		codemap_make(&codemap, &readhelper->h, (enum method_style)readhelper->request.style);

	answer->torn = readhelper->h.code.torn;
	if (why.code)
		return why;
	codemap_print(&codemap, readhelper->request.style == METHOD_HOTSPOT, &map);
	answer->unnamed = codemap.left_out;
	answer->code_n = codemap.n;
	answer->map_bytes = map.n;
	codemap_free(&codemap);
	if (!readhelper_put_file(FD(READ_FD_MAP), text_view(&map)))
		why = no_space();
	text_free(&map);
	return why;
}

static struct hotspot_reason readhelper_work(struct readhelper *readhelper, struct read_answer *answer)
{
	struct hotspot_reason why = open_layout(readhelper);

	readhelper_take_facts(&readhelper->h, answer);
	if (why.code || readhelper->request.task == READ_LAYOUT)
		return why;
	if (readhelper->request.task == READ_TIMELINE)
		return read_timeline(readhelper, answer);
	if (readhelper->request.task == READ_MAP)
		return read_map(readhelper, answer);
	why = hotspot_scan(&readhelper->h);
	answer->code_n = readhelper->h.code.n;
	return why;
}

/* ---- messages of the helper -------------------------------------------------------------------------------------- */

/* Receives a request into *request. Returns false if pjmap has ended. */
static bool readhelper_receive(struct read_request *request)
{
	struct iovec part = { request, sizeof(*request) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t got;

	do
		got = recvmsg(FD(READ_FD_SOCKET), &message, 0);
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(*request);
}

/* Performs the request and sends the answer. Returns false if pjmap has ended. */
static bool readhelper_answer(struct readhelper *readhelper)
{
	const struct read_request *request = &readhelper->request;
	struct read_answer *answer = &readhelper->answer;
	struct iovec part = { answer, sizeof(*answer) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct hotspot_reason why;

	memset(answer, 0, sizeof(*answer));
	readhelper->budget =
		(struct readbudget){ .steps = request->steps, .bytes = request->bytes, .deadline = request->deadline };
	why = readhelper_work(readhelper, answer);
	answer->serial = request->serial;
	snprintf(answer->code, sizeof(answer->code), "%s", why.code ? why.code : "");
	snprintf(answer->why, sizeof(answer->why), "%s", why.code ? why.why : "");
	answer->over = readhelper->budget.over;
	if (!readhelper->open)
		/* Keeps hotspot_close from closing the descriptor of the JVM's memory, which the next attempt needs. */
		readhelper->h.memory.fd = -1;
	if (readhelper->open)
		hotspot_rest(&readhelper->h);
	else
		hotspot_close(&readhelper->h);
	answer->journal_bytes = journal_bytes(&readhelper->journal);
	answer->memory = answer->journal_bytes + vmstructs_bytes(&readhelper->h.tables);
	return sendmsg(FD(READ_FD_SOCKET), &message, MSG_NOSIGNAL) >= 0;
}

NORETURN void readhelper_run(const struct jvm_process *process, const int fd[READ_FDS])
{
	static const struct sandbox rights = { .groups = SANDBOX_MESSAGES,
					       .address_space = ADDRESS_SPACE,
					       .file_bytes = READ_MAP_BYTES,
					       .files = HELPERPROCESS_FD + READ_FDS };
	struct readhelper *readhelper = mem_alloc(sizeof(*readhelper), 1);

	helperprocess_become_with("pjmap-jvm", fd, READ_FDS);
	sandbox_enter(&rights);
	readhelper->p = process;
	while (readhelper_receive(&readhelper->request) && readhelper_answer(readhelper))
		;
	_exit(0);
}
