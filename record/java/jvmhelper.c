/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/jvmhelper.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/process/fdmessage.h"
#include "record/java/jvmbuilds.h"
#include "common/process/sandbox.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WARM_MAX = 8 }; /* JVMs for which the memory that reading takes (2 MB) is kept between questions */

/* Steps (0.1 us) and bytes that a question may take. Of JDK 25, opening takes 30,000 steps, the largest block 8,000,
 * 128 names 20,000. */
enum { OPEN_STEPS = 600000, QUESTION_STEPS = 120000, QUESTION_BYTES = 32 << 20 };
#define ADDRESS_SPACE ((uint64_t)256 << 20)
#define AWAKE_NS 100000            /* so long after an answer the next question is waited for without sleeping */
#define MAPS_MAX ((size_t)8 << 20) /* of 65,530 mappings, the most that there are by default */

struct image {
	struct hotspot h;
	struct blobframes f;
	struct readbudget budget;
	uint64_t used;             /* serial of the last question */
	struct hotspot_reason why; /* code: it cannot be read any more */
};

struct jvmhelper {
	int socket;
	struct jvmbuilds *builds;
	struct image *image[JVM_SLOTS];
	struct image *warm[WARM_MAX];
	struct jvm_request request;
	struct jvm_reply reply;
	struct text names, name;
};

/* ---- images --------------------------------------------------------------------------------------------------- */

static struct hotspot_reason jvmhelper_ended(void)
{
	return (struct hotspot_reason){ .code = "gone", .why = "it ended" };
}

static struct hotspot_reason jvmhelper_read_layout(struct image *i, const struct jvm_process *p)
{
	struct hotspot_reason r = hotspot_read_layout(&i->h, p);
	const char *missing = r.code ? NULL : blobframes_open(&i->f, &i->h);

	if (missing) {
		r.code = "unsupported";
		snprintf(r.why, sizeof(r.why), "its libjvm.so does not export %s", missing);
	}
	/* the layout is all that is needed from here on */
	vmstructs_free(&i->h.tables);
	return r;
}

static struct hotspot_reason open_image(struct jvmhelper *helper, struct image *i, const struct jvm_request *q,
					int fd[JVM_FDS])
{
	struct jvm_process p = {
		.folder = -1, .pid = (pid_t)q->pid, .inner = (pid_t)q->pid, .start = q->start, .kind = JVM_UNKNOWN
	};
	struct jvmbuilds_key key;
	struct text maps = { 0 };
	struct hotspot_reason r;

	i->h.memory.fd = i->h.memory.process = -1;
	if (fullio_read(fd[JVM_FD_MAPS], &maps, MAPS_MAX))
		p.kind = maps.n ? discover_maps(text_view(&maps), &p.library) : JVM_NONE;
	text_free(&maps);
	r = hotspot_open_descriptor(&i->h, &p, fd[JVM_FD_MEM]);
	if (r.code)
		return r;
	fd[JVM_FD_MEM] = -1; /* the image's now */
	i->h.memory.budget = &i->budget;
	key = (struct jvmbuilds_key){ q->user, q->mount_ns, p.library.major, p.library.minor, p.library.inode };
	if (!jvmbuilds_take(helper->builds, &key, -1, p.library.base, &i->h, &i->f)) {
		r = jvmhelper_read_layout(i, &p);
		if (!r.code)
			jvmbuilds_keep(helper->builds, &key, -1, p.library.base, &i->h, &i->f);
	}
	return r;
}

static void jvmhelper_cool(struct image *i)
{
	memory_rest(&i->h.memory);
	blobframes_rest(&i->f);
}

static void close_image(struct jvmhelper *helper, uint32_t slot)
{
	struct image *i = helper->image[slot];

	if (!i)
		return;
	for (unsigned k = 0; k < WARM_MAX; k++)
		if (helper->warm[k] == i)
			helper->warm[k] = NULL;
	blobframes_free(&i->f);
	hotspot_close(&i->h);
	free(i);
	helper->image[slot] = NULL;
}

/* Those that were not asked for longest give their memory back. */
static void warm_up(struct jvmhelper *helper, struct image *i)
{
	unsigned oldest = 0;

	for (unsigned k = 0; k < WARM_MAX; k++) {
		if (helper->warm[k] == i)
			return;
		if (!helper->warm[k] || (helper->warm[oldest] && helper->warm[k]->used < helper->warm[oldest]->used))
			oldest = k;
	}
	if (helper->warm[oldest])
		jvmhelper_cool(helper->warm[oldest]);
	helper->warm[oldest] = i;
}

/* ---- questions ------------------------------------------------------------------------------------------------ */

static void jvmhelper_read_text(struct image *i, uint64_t address, struct jvm_reply *a)
{
	a->read = memory_bulk(&i->h.memory, address / JVM_BYTES_N * JVM_BYTES_N, a->text, JVM_BYTES_N);
}

/* Returns the bytes of the array. */
static size_t jvmhelper_find(struct image *i, const struct jvm_request *q, struct jvm_reply *a)
{
	enum codecache_where where = CODECACHE_ELSEWHERE;
	const char *why = blobframes_at(&i->f, &i->h, q->address, &where, &a->blob);

	if (why == codecache_gone)
		i->why = jvmhelper_ended();
	else if (why) /* it is about to begin */
		where = CODECACHE_FREE;
	if (where == CODECACHE_BLOB && (i->f.code.n == 0 || i->f.code.n > JVM_CODE_BLOBS_MAX))
		where = CODECACHE_FREE;
	a->where = where;
	a->n = where == CODECACHE_BLOB ? (uint32_t)i->f.code.n : 0;
	a->call_stub_return = i->f.code.call_stub_return;
	a->continuation_return = i->f.code.continuation_return;
	if (a->n)
		memcpy(a->code_blob, i->f.code.blob, a->n * sizeof(*a->code_blob));
	jvmhelper_read_text(i, q->address, a);
	return a->n * sizeof(*a->code_blob);
}

static size_t jvmhelper_check(struct image *i, const struct jvm_request *q, struct jvm_reply *a)
{
	static struct blob same[JVM_BLOBS_MAX];
	size_t n;
	char byte;

	memcpy(same, q->blob, q->n * sizeof(*same));
	n = codecache_keep_same(&i->h.memory, &i->h.layout, same, q->n);
	for (uint16_t k = 0; k < q->n && a->n < n; k++)
		if (q->blob[k].address == same[a->n].address && q->blob[k].compile_id == same[a->n].compile_id)
			a->same[a->n++] = k;
	if (n == 0 && !memory_bulk(&i->h.memory, i->h.memory.probe, &byte, 1))
		i->why = jvmhelper_ended();
	return a->n * sizeof(*a->same);
}

/* As many as fit into an answer. */
static size_t jvmhelper_read_names(struct jvmhelper *helper, struct image *i, const struct jvm_request *q,
				   struct jvm_reply *a)
{
	hotspot_expect(&i->h, q->method, q->n, true);
	for (a->n = 0; a->n < q->n; a->n++) {
		struct blob b = { .compiled = true, .method = q->method[a->n] };
		uint32_t head[2] = { a->n };

		helper->name.n = 0;
		if (!hotspot_name(&i->h, &b, METHOD_HOTSPOT, &helper->name) || helper->name.n > JVM_NAME_MAX)
			continue;
		if (a->bytes + sizeof(head) + helper->name.n > JVM_NAMES_BYTES)
			break;
		head[1] = (uint32_t)helper->name.n;
		memcpy(a->names + a->bytes, head, sizeof(head));
		memcpy(a->names + a->bytes + sizeof(head), helper->name.p, helper->name.n);
		a->bytes += (uint32_t)(sizeof(head) + helper->name.n);
	}
	methods_free(&i->h.methods);
	return a->bytes;
}

static size_t query_image(struct jvmhelper *helper, struct image *i, const struct jvm_request *q, struct jvm_reply *a)
{
	size_t n = 0;

	i->used = q->serial;
	i->budget = (struct readbudget){ .steps = QUESTION_STEPS, .bytes = QUESTION_BYTES };
	warm_up(helper, i);
	memory_forget(&i->h.memory);
	if (q->question == JVM_FIND)
		n = jvmhelper_find(i, q, a);
	else if (q->question == JVM_CHECK)
		n = jvmhelper_check(i, q, a);
	else if (q->question == JVM_NAMES)
		n = jvmhelper_read_names(helper, i, q, a);
	else
		jvmhelper_read_text(i, q->address, a);
	return n;
}

static void open_slot(struct jvmhelper *helper, const struct jvm_request *q, int fd[JVM_FDS])
{
	struct image *i = mem_alloc(sizeof(*i), 1);

	close_image(helper, q->slot);
	helper->image[q->slot] = i;
	i->budget = (struct readbudget){ .steps = OPEN_STEPS, .bytes = QUESTION_BYTES };
	i->why = open_image(helper, i, q, fd);
	jvmhelper_cool(i);
}

/* False: the recorder went away. */
static bool jvmhelper_answer(struct jvmhelper *helper, int fd[JVM_FDS])
{
	const struct jvm_request *q = &helper->request;
	struct jvm_reply *a = &helper->reply;
	struct image *i;
	uint64_t start = clock_now();
	size_t array = 0;

	memset(a, 0, JVM_REPLY_HEAD);
	a->serial = q->serial;
	if (q->question == JVM_CLOSE) {
		close_image(helper, q->slot);
		return true;
	}
	if (q->question == JVM_OPEN)
		open_slot(helper, q, fd);
	i = helper->image[q->slot];
	if (q->question != JVM_OPEN && i && !i->why.code)
		array = query_image(helper, i, q, a);
	if (i && !i->why.code && i->budget.over)
		i->why = (struct hotspot_reason){ .code = "over-budget",
						  .why = "reading its memory takes more steps than any HotSpot needs" };
	if (!i || i->why.code) {
		a->lost = true;
		snprintf(a->code, sizeof(a->code), "%s", i ? i->why.code : "gone");
		snprintf(a->why, sizeof(a->why), "%s", i ? i->why.why : "it was never opened");
	}
	a->ns = clock_now() - start;
	return fdmessage_send(helper->socket, a, JVM_REPLY_HEAD + array, -1);
}

/* ---- messages ------------------------------------------------------------------------------------------------- */

/* False: the recorder went away. */
static bool jvmhelper_receive(struct jvmhelper *helper, int fd[FDMESSAGE_MAX])
{
	struct jvm_request *q = &helper->request;
	uint64_t awake = clock_now() + AWAKE_NS;
	ssize_t n;
	size_t array;

	do { /* questions come in bursts: a thread that sleeps between two of them waits for a CPU each time, 4 ms at a
		load of 20 */
		n = fdmessage_receive_some_all(helper->socket, q, sizeof(*q), fd,
					       clock_now() < awake ? MSG_DONTWAIT : 0);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	if (n < (ssize_t)JVM_REQUEST_HEAD)
		return false;
	array = (size_t)n - JVM_REQUEST_HEAD;
	return q->slot < JVM_SLOTS &&
	       (q->question != JVM_CHECK || (q->n <= JVM_BLOBS_MAX && array >= q->n * sizeof(*q->blob))) &&
	       (q->question != JVM_NAMES || (q->n <= JVM_METHODS_MAX && array >= q->n * sizeof(*q->method)));
}

void jvmhelper_run(int socket)
{
	static const struct sandbox rights = { .groups = SANDBOX_MESSAGES,
					       .address_space = ADDRESS_SPACE,
					       .files = JVM_SLOTS + 32 };
	struct jvmhelper *helper = mem_alloc(sizeof(*helper), 1);
	int fd[FDMESSAGE_MAX];
	bool go_on = true;

	helper->socket = socket;
	helper->builds = jvmbuilds_new();
	sandbox_enter(&rights);
	while (go_on && jvmhelper_receive(helper, fd)) {
		go_on = jvmhelper_answer(helper, fd);
		for (size_t i = 0; i < FDMESSAGE_MAX; i++)
			if (fd[i] >= 0)
				close(fd[i]);
	}
}
