/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/jvmhelper.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/formats/pjsection.h"
#include "common/process/fdmessage.h"
#include "record/java/codescopes.h"
#include "record/java/jvmbuilds.h"
#include "common/process/sandbox.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WARM_MAX = 8 }; /* maximum number of JVMs whose read buffers (2 MB each) are kept between requests */

/* Limits of one request: OPEN_STEPS for opening a JVM and QUESTION_STEPS for other requests, in steps of about 0.1 us;
 * QUESTION_BYTES in bytes read. With JDK 25, opening a JVM takes 30,000 steps, the largest block of code 8,000, and 128
 * names 20,000. */
enum { OPEN_STEPS = 600000, QUESTION_STEPS = 120000, QUESTION_BYTES = 32 << 20 };
#define ADDRESS_SPACE ((uint64_t)256 << 20)
#define AWAKE_NS 100000 /* time in ns for which the helper polls for the next request before it sleeps */
/* Maximum size in bytes of /proc/PID/maps: enough for 65,530 mappings, the default limit of a process. */
#define MAPS_MAX ((size_t)8 << 20)

struct image {
	struct hotspot h;
	struct blobframes f;
	struct codescopes_stubs stubs;
	struct readbudget budget;
	/* serial number of the last request for this JVM; the smallest number shows the least recently used JVM */
	uint64_t used;
	/* reason for which the JVM can no longer be read; code is NULL while it can be read */
	struct hotspot_reason why;
};

struct jvmhelper {
	int socket;
	struct jvmbuilds *builds;
	struct image *image[JVM_SLOTS];
	struct image *warm[WARM_MAX];
	struct jvm_request request;
	struct jvm_reply reply;
	struct text names, name;
	struct codescopes codescopes;
};

/* ---- opened JVMs ---------------------------------------------------------------------------------------------- */

static struct hotspot_reason jvmhelper_ended(void)
{
	return (struct hotspot_reason){ .code = "gone", .why = "it ended" };
}

static struct hotspot_reason jvmhelper_read_layout(struct image *i, const struct jvm_process *process)
{
	struct hotspot_reason reason = hotspot_read_layout(&i->h, process);
	const char *missing = reason.code ? NULL : blobframes_open(&i->f, &i->h);

	if (missing) {
		reason.code = "unsupported";
		snprintf(reason.why, sizeof(reason.why), "its libjvm.so does not export %s", missing);
	}
	/* the layout has been read, and nothing else needs the tables of exported fields */
	vmstructs_free(&i->h.tables);
	return reason;
}

static struct hotspot_reason open_image(struct jvmhelper *helper, struct image *i, const struct jvm_request *request,
					int fd[JVM_FDS])
{
	struct jvm_process process = { .folder = -1,
				       .pid = (pid_t)request->pid,
				       .inner = (pid_t)request->pid,
				       .start = request->start,
				       .kind = JVM_UNKNOWN };
	struct jvmbuilds_key key;
	struct text maps = { 0 };
	struct hotspot_reason reason;

	i->h.memory.fd = -1;
	if (fullio_read(fd[JVM_FD_MAPS], &maps, MAPS_MAX))
		process.kind = maps.n ? discover_maps(text_view(&maps), &process.library) : JVM_NONE;
	text_free(&maps);
	reason = hotspot_open_descriptor(&i->h, &process, fd[JVM_FD_MEM]);
	if (reason.code)
		return reason;
	/* hotspot_open_descriptor has taken ownership of the descriptor */
	fd[JVM_FD_MEM] = -1;
	i->h.memory.budget = &i->budget;
	key = (struct jvmbuilds_key){ request->user, request->mount_ns, process.library.major, process.library.minor,
				      process.library.inode };
	if (!jvmbuilds_take(helper->builds, &key, -1, process.library.base, &i->h, &i->f)) {
		reason = jvmhelper_read_layout(i, &process);
		if (!reason.code)
			jvmbuilds_keep(helper->builds, &key, -1, process.library.base, &i->h, &i->f);
	}
	return reason;
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
	for (unsigned index = 0; index < WARM_MAX; index++)
		if (helper->warm[index] == i)
			helper->warm[index] = NULL;
	blobframes_free(&i->f);
	codescopes_free_stubs(&i->stubs);
	hotspot_close(&i->h);
	free(i);
	helper->image[slot] = NULL;
}

/* Lets a JVM keep its read buffers between requests. If WARM_MAX other JVMs have buffers already, frees the buffers of
 * the least recently used of them. */
static void warm_up(struct jvmhelper *helper, struct image *i)
{
	unsigned oldest = 0;

	for (unsigned index = 0; index < WARM_MAX; index++) {
		if (helper->warm[index] == i)
			return;
		if (!helper->warm[index] ||
		    (helper->warm[oldest] && helper->warm[index]->used < helper->warm[oldest]->used))
			oldest = index;
	}
	if (helper->warm[oldest])
		jvmhelper_cool(helper->warm[oldest]);
	helper->warm[oldest] = i;
}

/* ---- performing of requests ---------------------------------------------------------------------------------- */

static void jvmhelper_read_text(struct image *i, uint64_t address, struct jvm_reply *reply)
{
	reply->read = memory_bulk(&i->h.memory, address / JVM_BYTES_N * JVM_BYTES_N, reply->text, JVM_BYTES_N);
}

/* Performs JVM_FIND: finds the block of code at an address, and reads the code around the address. Returns the size of
 * the reply's array in bytes. */
static size_t jvmhelper_find(struct image *i, const struct jvm_request *request, struct jvm_reply *reply)
{
	enum codecache_where where = CODECACHE_ELSEWHERE;
	const char *why = blobframes_at(&i->f, &i->h, request->address, &where, &reply->blob);

	if (why == codecache_gone)
		i->why = jvmhelper_ended();
	else if (why) /* in a JVM that is starting, code cannot be found yet */
		where = CODECACHE_FREE;
	if (where == CODECACHE_BLOB && (i->f.code.n == 0 || i->f.code.n > JVM_CODE_BLOBS_MAX))
		where = CODECACHE_FREE;
	reply->where = where;
	reply->n = where == CODECACHE_BLOB ? (uint32_t)i->f.code.n : 0;
	reply->call_stub_return = i->f.code.call_stub_return;
	reply->continuation_return = i->f.code.continuation_return;
	if (reply->n)
		memcpy(reply->code_blob, i->f.code.blob, reply->n * sizeof(*reply->code_blob));
	jvmhelper_read_text(i, request->address, reply);
	return reply->n * sizeof(*reply->code_blob);
}

static size_t jvmhelper_check(struct image *i, const struct jvm_request *request, struct jvm_reply *reply)
{
	static struct blob same[JVM_BLOBS_MAX];
	size_t n;
	char byte;

	memcpy(same, request->blob, request->n * sizeof(*same));
	n = codecache_keep_same(&i->h.memory, &i->h.layout, same, request->n);
	for (uint16_t k = 0; k < request->n && reply->n < n; k++)
		if (request->blob[k].address == same[reply->n].address &&
		    request->blob[k].compile_id == same[reply->n].compile_id)
			reply->same[reply->n++] = k;
	if (n == 0 && !memory_bulk(&i->h.memory, i->h.memory.probe, &byte, 1))
		i->why = jvmhelper_ended();
	return reply->n * sizeof(*reply->same);
}

/* Reads ahead the data by which hotspot_name finds the names of the methods in a request. Skips the classes in it. */
static void expect_methods(struct image *i, const struct jvm_request *request)
{
	uint64_t method[JVM_METHODS_MAX];
	size_t n = 0;

	for (uint32_t k = 0; k < request->n; k++)
		if (!pj_is_class(request->method[k]))
			method[n++] = request->method[k];
	hotspot_expect(&i->h, method, n, true);
}

/* Appends the name of a method, or of a class, to text. Returns false if it cannot be read. */
static bool name_of_address(struct image *i, uint64_t address, struct text *text)
{
	struct blob blob = { .compiled = true, .method = address };

	return pj_is_class(address) ? hotspot_class(&i->h, address & ~PJ_CLASS_BIT, text) :
				      hotspot_name(&i->h, &blob, METHOD_HOTSPOT, text);
}

/* Performs JVM_NAMES: reads as many names as fit into a reply. Returns the size of the reply's array in bytes. */
static size_t jvmhelper_read_names(struct jvmhelper *helper, struct image *i, const struct jvm_request *request,
				   struct jvm_reply *reply)
{
	expect_methods(i, request);
	for (reply->n = 0; reply->n < request->n; reply->n++) {
		uint32_t head[2] = { reply->n };

		helper->name.n = 0;
		if (!name_of_address(i, request->method[reply->n], &helper->name) || helper->name.n > JVM_NAME_MAX)
			continue;
		if (reply->bytes + sizeof(head) + helper->name.n > JVM_NAMES_BYTES)
			break;
		head[1] = (uint32_t)helper->name.n;
		memcpy(reply->names + reply->bytes, head, sizeof(head));
		memcpy(reply->names + reply->bytes + sizeof(head), helper->name.p, helper->name.n);
		reply->bytes += (uint32_t)(sizeof(head) + helper->name.n);
	}
	methods_free(&i->h.methods);
	return reply->bytes;
}

static size_t jvmhelper_describe(struct jvmhelper *helper, struct image *i, const struct jvm_request *request,
				 struct jvm_reply *reply)
{
	codescopes_describe(&helper->codescopes, &i->h, &i->f, &i->stubs, request->blob, request->n, reply);
	return reply->bytes;
}

static size_t query_image(struct jvmhelper *helper, struct image *i, const struct jvm_request *request,
			  struct jvm_reply *reply)
{
	size_t n = 0;

	i->used = request->serial;
	i->budget = (struct readbudget){ .steps = QUESTION_STEPS, .bytes = QUESTION_BYTES };
	warm_up(helper, i);
	memory_forget(&i->h.memory);
	if (request->question == JVM_FIND)
		n = jvmhelper_find(i, request, reply);
	else if (request->question == JVM_CHECK)
		n = jvmhelper_check(i, request, reply);
	else if (request->question == JVM_NAMES)
		n = jvmhelper_read_names(helper, i, request, reply);
	else if (request->question == JVM_DESCRIBE)
		n = jvmhelper_describe(helper, i, request, reply);
	else
		jvmhelper_read_text(i, request->address, reply);
	return n;
}

static void open_slot(struct jvmhelper *helper, const struct jvm_request *request, int fd[JVM_FDS])
{
	struct image *i = mem_alloc(sizeof(*i), 1);

	close_image(helper, request->slot);
	helper->image[request->slot] = i;
	i->budget = (struct readbudget){ .steps = OPEN_STEPS, .bytes = QUESTION_BYTES };
	i->why = open_image(helper, i, request, fd);
	jvmhelper_cool(i);
}

/* Performs a request and sends the reply. Returns false if sending fails, because the recorder has closed the
 * socket. */
static bool jvmhelper_answer(struct jvmhelper *helper, int fd[JVM_FDS])
{
	const struct jvm_request *request = &helper->request;
	struct jvm_reply *reply = &helper->reply;
	struct image *i;
	uint64_t start = clock_now();
	size_t array = 0;

	memset(reply, 0, JVM_REPLY_HEAD);
	reply->serial = request->serial;
	if (request->question == JVM_CLOSE) {
		close_image(helper, request->slot);
		return true;
	}
	if (request->question == JVM_OPEN)
		open_slot(helper, request, fd);
	i = helper->image[request->slot];
	if (request->question != JVM_OPEN && i && !i->why.code)
		array = query_image(helper, i, request, reply);
	if (i && !i->why.code && i->budget.over)
		i->why = (struct hotspot_reason){ .code = "over-budget",
						  .why = "reading its memory exceeds the limit of steps" };
	if (!i || i->why.code) {
		reply->lost = true;
		snprintf(reply->code, sizeof(reply->code), "%s", i ? i->why.code : "gone");
		snprintf(reply->why, sizeof(reply->why), "%s", i ? i->why.why : "its memory was not opened");
	}
	reply->ns = clock_now() - start;
	return fdmessage_send(helper->socket, reply, JVM_REPLY_HEAD + array, -1);
}

/* ---- receiving of requests ------------------------------------------------------------------------------------ */

/* Receives a request and its descriptors. Returns false if the recorder has closed the socket, or if the request is
 * malformed. */
static bool jvmhelper_receive(struct jvmhelper *helper, int fd[FDMESSAGE_MAX])
{
	struct jvm_request *request = &helper->request;
	uint64_t awake = clock_now() + AWAKE_NS;
	ssize_t got;
	size_t array;

	/* Requests come in bursts, so the helper polls before it sleeps. A thread that sleeps between two requests must
	 * wait for a CPU each time: 4 ms at a load of 20. */
	do {
		got = fdmessage_receive_some_all(helper->socket, request, sizeof(*request), fd,
						 clock_now() < awake ? MSG_DONTWAIT : 0);
	} while (got < 0 && (errno == EINTR || errno == EAGAIN));
	if (got < (ssize_t)JVM_REQUEST_HEAD)
		return false;
	array = (size_t)got - JVM_REQUEST_HEAD;
	return request->slot < JVM_SLOTS &&
	       (request->question != JVM_CHECK ||
		(request->n <= JVM_BLOBS_MAX && array >= request->n * sizeof(*request->blob))) &&
	       (request->question != JVM_DESCRIBE ||
		(request->n <= JVM_DESCRIBE_MAX && array >= request->n * sizeof(*request->blob))) &&
	       (request->question != JVM_NAMES ||
		(request->n <= JVM_METHODS_MAX && array >= request->n * sizeof(*request->method)));
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
