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

/* False: it is too much. */
static bool readhelper_put_file(int fd, struct str bytes)
{
	return bytes.n <= READ_MAP_BYTES && lseek(fd, 0, SEEK_SET) == 0 && fullio_write(fd, bytes);
}

static struct hotspot_reason no_space(void)
{
	return (struct hotspot_reason){ "over-budget", "what was read of it is more than may be written" };
}

/* ---- tasks ----------------------------------------------------------------------------------------------------- */

/* It may not be readable yet: the descriptor stays. */
static struct hotspot_reason open_layout(struct readhelper *r)
{
	struct hotspot_reason why = { 0 };

	if (r->open)
		return why;
	why = hotspot_open_descriptor(&r->h, r->p, FD(READ_FD_MEM));
	r->h.memory.budget = &r->budget;
	if (!why.code)
		why = hotspot_read_layout(&r->h, r->p);
	r->open = !why.code;
	return why;
}

static void readhelper_take_facts(const struct hotspot *h, struct read_answer *a)
{
	snprintf(a->version, sizeof(a->version), "%s", h->version);
	snprintf(a->command, sizeof(a->command), "%s", h->command);
	snprintf(a->collector, sizeof(a->collector), "%s", h->collector ? h->collector : "");
	a->frame_pointers = h->frame_pointers;
	a->refuses_attach = h->refuses_attach;
}

static struct hotspot_reason readhelper_write_map(struct readhelper *r, struct read_answer *a)
{
	const struct read_request *q = &r->request;
	struct text map = { 0 };
	struct hotspot_reason why = { 0 };

	if (q->map_max == 0 || (a->record_bytes == 0 && !q->map_due))
		return why;
	a->map_too_large = !journal_map(&r->journal, (enum method_style)q->style, q->map_max, &map);
	a->has_map = !a->map_too_large;
	if (a->has_map && !readhelper_put_file(FD(READ_FD_MAP), text_view(&map)))
		why = no_space();
	a->map_bytes = a->has_map ? map.n : 0;
	text_free(&map);
	return why;
}

static struct hotspot_reason read_timeline(struct readhelper *r, struct read_answer *a)
{
	struct journal *t = &r->journal;
	struct text records = { 0 };
	struct hotspot_reason why;

	if (r->request.anew)
		journal_begin_anew(t);
	t->bytes_max = r->request.memory_max;
	why = journal_scan(t, &r->h, &records);
	a->code_n = r->h.code.n;
	if (!why.code && records.n && !readhelper_put_file(FD(READ_FD_RECORDS), text_view(&records)))
		why = no_space();
	a->record_bytes = records.n;
	text_free(&records);
	if (!why.code)
		why = readhelper_write_map(r, a);
	a->began = t->before;
	a->took = t->before_ns;
	a->came = t->came;
	a->went = t->went;
	a->torn = t->torn;
	a->unnamed = t->unnamed;
	a->beyond = t->beyond;
	a->later = t->later;
	return why;
}

static struct hotspot_reason read_map(struct readhelper *r, struct read_answer *a)
{
	struct codemap c;
	struct text map = { 0 };
	struct hotspot_reason why = codemap_make(&c, &r->h, (enum method_style)r->request.style);

	a->torn = r->h.code.torn;
	if (why.code)
		return why;
	codemap_print(&c, r->request.style == METHOD_HOTSPOT, &map);
	a->unnamed = c.left_out;
	a->code_n = c.n;
	a->map_bytes = map.n;
	codemap_free(&c);
	if (!readhelper_put_file(FD(READ_FD_MAP), text_view(&map)))
		why = no_space();
	text_free(&map);
	return why;
}

static struct hotspot_reason readhelper_work(struct readhelper *r, struct read_answer *a)
{
	struct hotspot_reason why = open_layout(r);

	readhelper_take_facts(&r->h, a);
	if (why.code || r->request.task == READ_LAYOUT)
		return why;
	if (r->request.task == READ_TIMELINE)
		return read_timeline(r, a);
	if (r->request.task == READ_MAP)
		return read_map(r, a);
	why = hotspot_scan(&r->h);
	a->code_n = r->h.code.n;
	return why;
}

/* ---- messages -------------------------------------------------------------------------------------------------- */

/* False: pjmap ended. */
static bool readhelper_receive(struct read_request *q)
{
	struct iovec part = { q, sizeof(*q) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	do
		n = recvmsg(FD(READ_FD_SOCKET), &message, 0);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*q);
}

/* False: pjmap ended. */
static bool readhelper_answer(struct readhelper *r)
{
	const struct read_request *q = &r->request;
	struct read_answer *a = &r->answer;
	struct iovec part = { a, sizeof(*a) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct hotspot_reason why;

	memset(a, 0, sizeof(*a));
	r->budget = (struct readbudget){ .steps = q->steps, .bytes = q->bytes, .deadline = q->deadline };
	why = readhelper_work(r, a);
	a->serial = q->serial;
	snprintf(a->code, sizeof(a->code), "%s", why.code ? why.code : "");
	snprintf(a->why, sizeof(a->why), "%s", why.code ? why.why : "");
	a->over = r->budget.over;
	if (!r->open)
		r->h.memory.fd = -1; /* it stays for the next try */
	if (r->open)
		hotspot_rest(&r->h);
	else
		hotspot_close(&r->h);
	a->journal_bytes = journal_bytes(&r->journal);
	a->memory = a->journal_bytes + vmstructs_bytes(&r->h.tables);
	return sendmsg(FD(READ_FD_SOCKET), &message, MSG_NOSIGNAL) >= 0;
}

NORETURN void readhelper_run(const struct jvm_process *p, const int fd[READ_FDS])
{
	static const struct sandbox rights = { .groups = SANDBOX_MESSAGES,
					       .address_space = ADDRESS_SPACE,
					       .file_bytes = READ_MAP_BYTES,
					       .files = HELPERPROCESS_FD + READ_FDS };
	struct readhelper *r = mem_alloc(sizeof(*r), 1);

	helperprocess_become_with("pjmap-jvm", fd, READ_FDS);
	sandbox_enter(&rights);
	r->p = p;
	while (readhelper_receive(&r->request) && readhelper_answer(r))
		;
	_exit(0);
}
