/* SPDX-License-Identifier: Apache-2.0 */
#include "record/interpreters/interphelper.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/files/fullio.h"
#include "common/process/fdmessage.h"
#include "common/process/helperprocess.h"
#include "common/process/sandbox.h"
#include "common/process/urgency.h"
#include "record/interpreters/framecache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* Descriptor of the shared memory in the helper process, until it is mapped. */
#define MEMORY_FD (HELPERPROCESS_FD + 1)

/* Limits of one request: OPEN_STEPS, THREADS_STEPS and FRAMES_STEPS in steps of about 0.1 us, by kind of request;
 * READ_BYTES in bytes read. */
enum { OPEN_STEPS = 2000000, THREADS_STEPS = 400000, FRAMES_STEPS = 200000, READ_BYTES = 64 << 20 };
enum { NAMED_MAX = 1024 };
/* WARM_MAX: number of processes whose read buffers (2 MB each) are kept between requests. CANDIDATES_MAX: maximum
 * number of mapped files of a process that are tried as interpreter. */
enum { WARM_MAX = 8, CANDIDATES_MAX = 8 };
#define ADDRESS_SPACE ((uint64_t)256 << 20)
/* Time in ns for which the helper polls for the next request before it sleeps. It polls only if the last request came
 * within this time: requests come in bursts, or at intervals of 10 ms. */
#define AWAKE_NS 50000
/* Bit in framecache_key.process: the entry is about a code object, not about one of its instructions. */
#define CODE_ONLY (UINT64_C(1) << 63)
#define MAPS_MAX ((size_t)8 << 20)

/* A process that was opened in a slot. */
struct interp_image {
	struct memory memory;
	struct readbudget budget;
	const struct interpreter *interpreter; /* NULL: no interpreter of the process could be opened */
	void *state;
	uint64_t process, used;
};

struct interphelper {
	int socket;
	struct interp_shared *shared;
	struct interp_image *image[INTERP_SLOTS];
	struct interp_image *warm[WARM_MAX];
	struct framecache cache;
	bool busy; /* true: the last request came within AWAKE_NS, so the helper polls for the next one */
	struct interpreter_list list;
	struct interp_request request;
	struct interp_reply reply;
	struct text text;
	/* Texts that the reply has already, by text id modulo NAMED_MAX. Only the members `text` (offset) and `bytes`
	 * are used. */
	struct interp_frame named[NAMED_MAX];
};

/* ---- opening of processes --------------------------------------------------------------------------------------- */

/* Finds the files in `maps` (/proc/PID/maps) whose path may be that of an interpreter and whose first byte is mapped.
 * Returns their number, at most CANDIDATES_MAX. */
static size_t interphelper_candidates(struct str maps, struct interpreter_candidate candidate[CANDIDATES_MAX])
{
	const struct str all = maps;
	size_t n = 0;

	while (maps.n && n < CANDIDATES_MAX) {
		struct str line = str_cut(&maps, '\n'), start;
		ptrdiff_t slash = str_find(line, '/');
		uint64_t offset;

		if (slash < 0 || !interpreter_of_path(str_from(line, (size_t)slash)))
			continue;
		candidate[n].path = str_from(line, (size_t)slash);
		candidate[n].maps = all;
		start = str_cut(&line, '-');
		str_cut(&line, ' ');
		str_cut(&line, ' ');
		if (str_hex(start, &candidate[n].base) && str_hex(str_cut(&line, ' '), &offset) && offset == 0)
			n++;
	}
	return n;
}

/* Returns the interpreter that the process runs as its program, by the path of the first file in /proc/PID/maps; NULL
 * if the program is not an interpreter. */
static const struct interpreter *interphelper_program(struct str maps)
{
	struct str line = str_cut(&maps, '\n');
	ptrdiff_t slash = str_find(line, '/');

	return slash < 0 ? NULL : interpreter_of_path(str_from(line, (size_t)slash));
}

/* Tries to open the candidates of one interpreter until one is open. Sets reply->answer, and reply->why to the reason
 * of a refusal. */
static void interphelper_try(struct interphelper *helper, struct interp_image *image,
			     const struct interpreter *interpreter, const struct interpreter_candidate *candidate,
			     size_t n)
{
	struct interp_reply *reply = &helper->reply;

	for (size_t i = 0; i < n && reply->answer != INTERPRETER_OPEN; i++) {
		enum interpreter_answer answer;
		char why[INTERPRETER_WHY] = "";

		if (interpreter_of_path(candidate[i].path) != interpreter)
			continue;
		free(image->state);
		image->state = mem_alloc(1, interpreter->size);
		answer = interpreter->open(image->state, &image->memory, &candidate[i], why);
		image->interpreter = answer == INTERPRETER_OPEN ? interpreter : NULL;
		if (answer == INTERPRETER_OTHER || (reply->answer == INTERPRETER_REFUSED && answer != INTERPRETER_OPEN))
			continue;
		reply->answer = answer;
		snprintf(reply->why, sizeof(reply->why), "%s", why);
	}
}

/* Opens one interpreter of a process that may have loaded several. Tries the interpreter that is the process's program
 * first; if that one is still starting (INTERPRETER_EARLY), tries no other. Otherwise, tries the other ones in the
 * order of interpreter_list until one can be opened. */
static void interphelper_try_all(struct interphelper *helper, struct interp_image *image, struct str maps)
{
	const struct interpreter *program = interphelper_program(maps);
	struct interpreter_candidate candidate[CANDIDATES_MAX];
	size_t n = interphelper_candidates(maps, candidate);

	helper->reply.answer = INTERPRETER_OTHER;
	if (program)
		interphelper_try(helper, image, program, candidate, n);
	if (helper->reply.answer == INTERPRETER_EARLY)
		return;
	for (size_t i = 0; interpreter_list[i] && helper->reply.answer != INTERPRETER_OPEN; i++)
		if (interpreter_list[i] != program)
			interphelper_try(helper, image, interpreter_list[i], candidate, n);
}

static uint32_t interphelper_threads(struct interphelper *helper, struct interp_image *image)
{
	size_t n = image->interpreter->threads(image->state, helper->shared->thread, INTERPRETER_THREADS_MAX);

	return (uint32_t)(n < INTERPRETER_THREADS_MAX ? n : INTERPRETER_THREADS_MAX);
}

static void interphelper_close(struct interphelper *helper, uint32_t slot)
{
	struct interp_image *image = helper->image[slot];

	if (!image)
		return;
	for (size_t i = 0; i < WARM_MAX; i++)
		if (helper->warm[i] == image)
			helper->warm[i] = NULL;
	memory_close(&image->memory);
	free(image->state);
	free(image);
	helper->image[slot] = NULL;
}

/* Opens the process of a request, and fills the reply. Takes ownership of fd[INTERP_FD_MEM]. */
static void interphelper_open(struct interphelper *helper, int fd[INTERP_FDS])
{
	const struct interp_request *request = &helper->request;
	struct interp_reply *reply = &helper->reply;
	struct interp_image *image = mem_alloc(sizeof(*image), 1);
	struct text maps = { 0 };

	interphelper_close(helper, request->slot);
	helper->image[request->slot] = image;
	image->process = request->process;
	image->memory.fd = fd[INTERP_FD_MEM];
	image->memory.budget = &image->budget;
	fd[INTERP_FD_MEM] = -1;
	image->budget = (struct readbudget){ .steps = OPEN_STEPS, .bytes = READ_BYTES };
	reply->answer = INTERPRETER_OTHER;
	if (fullio_read(fd[INTERP_FD_MAPS], &maps, MAPS_MAX))
		interphelper_try_all(helper, image, text_view(&maps));
	text_free(&maps);
	if (!image->interpreter)
		return;
	reply->language = image->interpreter->language;
	reply->nevals = (uint32_t)image->interpreter->evals(image->state, reply->eval);
	image->interpreter->plan(image->state, &reply->plan);
	reply->n = interphelper_threads(helper, image);
}

/* ---- frames of copies ------------------------------------------------------------------------------------------- */

/* Lets a process keep its read buffers between requests. If WARM_MAX other processes have buffers already, frees the
 * buffers of the least recently used of them. */
static void interphelper_warm(struct interphelper *helper, struct interp_image *image)
{
	size_t oldest = 0;

	for (size_t i = 0; i < WARM_MAX; i++) {
		if (helper->warm[i] == image)
			return;
		if (!helper->warm[i] || (helper->warm[oldest] && helper->warm[i]->used < helper->warm[oldest]->used))
			oldest = i;
	}
	if (helper->warm[oldest])
		memory_rest(&helper->warm[oldest]->memory);
	helper->warm[oldest] = image;
}

/* Returns true if code that was read first at `since` and last at `seen` is certainly the code of a sample at time
 * `sampled`: the first reading was before the sample, or the last reading at most INTERPRETER_NAME_NS after it. All
 * times in ns. */
static bool interphelper_is_timely(uint64_t since, uint64_t seen, uint64_t sampled)
{
	return since <= sampled || seen <= sampled + INTERPRETER_NAME_NS;
}

/* Returns the time in ns at which the frames of a copy were the frames of the thread: for a running thread, the time of
 * the sample. For a thread off the CPU, the end of the copying if the language is pinned (nothing moves meanwhile),
 * otherwise its beginning. */
static uint64_t interphelper_copied(const struct interp_image *image, const struct threadcopy *copy)
{
	if (!copy->off_cpu)
		return copy->time;
	return image->interpreter->pinned ? copy->read_by : copy->begun;
}

/* Identifies the code that is at a frame's address now, after the sample, in live memory. Returns the time in ns of the
 * first reading that found this code there; UINT64_MAX if it is not the code of the sample, or if the budget is
 * exceeded. Sets of_copy->reuses if other code was at the address before. */
static uint64_t interphelper_code_since(struct interphelper *helper, struct interp_image *image,
					const struct interpreter_frame *frame, struct interp_copy *of_copy)
{
	const struct interpreter_place place = { .address = image->interpreter->identify(image->state, frame) };
	struct framecache_key key = { frame->code, frame->scope, 0, image->process | CODE_ONLY };
	const struct framecache_entry *entry;

	if (image->budget.over)
		return UINT64_MAX;
	entry = framecache_put(&helper->cache, &key, INTERPRETER_NAMED, &place, STR(""), clock_now());
	of_copy->reuses |= entry->replaced;
	return place.address ? entry->since : UINT64_MAX;
}

/* Reads name, file and line of a frame and stores them in the cache. Returns the cache entry; NULL if the budget is
 * exceeded. */
static const struct framecache_entry *interphelper_describe(struct interphelper *helper, struct interp_image *image,
							    const struct interpreter_frame *frame,
							    const struct framecache_key *key)
{
	struct interpreter_place place = { 0 };
	enum interpreter_named named;

	helper->text.n = 0;
	named = image->interpreter->describe(image->state, frame, &place, &helper->text);
	if (image->budget.over)
		return NULL;
	return framecache_put(&helper->cache, key, named, &place,
			      named == INTERPRETER_NAMED ? text_view(&helper->text) : (struct str){ 0 }, clock_now());
}

/* Returns true if names may be read at any time after the copy: the thread is off the CPU, and the language is
 * pinned. */
static bool interphelper_is_pinned(const struct interp_image *image, const struct threadcopy *copy)
{
	return copy->off_cpu && image->interpreter->pinned;
}

/* Returns the cache entry of a frame in a copy, for a deferrable language; NULL if the code has changed, if it is too
 * late to read the name, or if the budget is exceeded. Reads the name again if the entry is older than the code at the
 * address. Adds 1 to of_copy->unknown if the frame's code was not read before the copy. */
static const struct framecache_entry *interphelper_read_code(struct interphelper *helper, struct interp_image *image,
							     const struct interpreter_frame *frame,
							     const struct threadcopy *copy, struct interp_copy *of_copy)
{
	struct framecache_key key = { frame->code, frame->scope, frame->instruction, image->process };
	uint64_t sampled = interphelper_copied(image, copy);
	uint64_t since = interphelper_code_since(helper, image, frame, of_copy), now = clock_now();
	const struct framecache_entry *entry = framecache_find(&helper->cache, &key, now);
	bool timely = interphelper_is_timely(since, now, sampled);

	of_copy->unknown += since > sampled;
	if (since == UINT64_MAX || (!timely && !interphelper_is_pinned(image, copy)))
		return NULL;
	if (!entry || entry->seen < since)
		entry = interphelper_describe(helper, image, frame, &key);
	of_copy->reuses |= entry && entry->from_text;
	if (!timely)
		of_copy->named_by = clock_now();
	return entry;
}

/* Returns the cache entry of a frame in a copy, for a language that is not deferrable; reads the name if the cache has
 * no valid entry. Returns NULL if it is too late to read the name, or if the budget is exceeded. */
static const struct framecache_entry *interphelper_read(struct interphelper *helper, struct interp_image *image,
							const struct interpreter_frame *frame,
							const struct threadcopy *copy, struct interp_copy *of_copy)
{
	uint64_t sampled = interphelper_copied(image, copy);
	struct framecache_key key = { frame->code, frame->scope, frame->instruction, image->process };
	const struct framecache_entry *entry = framecache_find(&helper->cache, &key, clock_now());

	if (!entry || !interphelper_is_timely(entry->since, entry->seen, sampled))
		entry = interphelper_describe(helper, image, frame, &key);
	if (!entry || interphelper_is_timely(entry->since, entry->seen, sampled))
		return entry;
	if (!interphelper_is_pinned(image, copy))
		return NULL;
	of_copy->named_by = entry->seen;
	return entry;
}

/* Writes name and file of a frame into the reply. Frames of one copy with the same name and file share one text in the
 * reply. id: id of the text in the cache. The cache may reuse an id after it dropped its old half, so the texts are
 * compared, too. */
static void interphelper_put_text(struct interphelper *helper, const struct interp_copy *of_copy,
				  struct interp_frame *to, uint32_t id, struct str text)
{
	struct interp_frame *like = &helper->named[id % NAMED_MAX];
	struct interp_reply *reply = &helper->reply;

	if (like->bytes != text.n || like->text < of_copy->text || like->text > reply->bytes ||
	    text.n > reply->bytes - like->text || memcmp(helper->shared->text + like->text, text.p, text.n) != 0) {
		if (text.n > INTERP_TEXT_MAX - reply->bytes)
			return;
		memcpy(helper->shared->text + reply->bytes, text.p, text.n);
		like->text = reply->bytes;
		like->bytes = (uint32_t)text.n;
		reply->bytes += like->bytes;
	}
	to->text = like->text - of_copy->text;
	to->bytes = like->bytes;
}

/* Appends the frames of a copy to the reply. */
static void interphelper_frames(struct interphelper *helper, struct interp_image *image, struct interp_copy *of_copy)
{
	const struct threadcopy *copy = (const void *)(helper->shared->copy + of_copy->offset);
	struct interp_reply *reply = &helper->reply;

	helper->list.stack_low = helper->list.stack_high = 0;
	of_copy->text = reply->bytes;
	of_copy->end = image->interpreter->frames(image->state, copy, &helper->list);
	/* the function `frames` of a language that is not deferrable may have read live memory, besides the copy */
	if (copy->off_cpu && !image->interpreter->deferrable)
		of_copy->named_by = clock_now();
	of_copy->stack_low = helper->list.stack_low;
	of_copy->stack_high = helper->list.stack_high;
	for (; of_copy->n < helper->list.n && reply->n < INTERP_FRAMES_MAX; of_copy->n++) {
		const struct interpreter_frame *frame = &helper->list.frame[of_copy->n];
		const struct framecache_entry *entry =
			image->interpreter->deferrable ? interphelper_read_code(helper, image, frame, copy, of_copy) :
							 interphelper_read(helper, image, frame, copy, of_copy);
		struct interp_frame *to = &helper->shared->frame[reply->n++];

		*to = (struct interp_frame){ .frame = frame->frame,
					     .pc = frame->pc,
					     .entry = frame->entry,
					     .tier = frame->tier,
					     .named = INTERPRETER_UNNAMED };
		if (!entry)
			continue;
		to->named = entry->named;
		to->address = frame->address ? frame->address : entry->address;
		to->line = entry->line;
		to->first = entry->first;
		if (entry->text)
			interphelper_put_text(helper, of_copy, to, entry->text, framecache_text(&helper->cache, entry));
	}
	of_copy->bytes = reply->bytes - of_copy->text;
	of_copy->unknown += of_copy->n && !helper->list.frame[0].copied;
	if (of_copy->n < helper->list.n)
		of_copy->end = INTERPRETER_LATE; /* the reply has no space for all frames */
}

/* ---- performing of requests ------------------------------------------------------------------------------------- */

static struct interp_image *interphelper_image(const struct interphelper *helper, uint32_t slot)
{
	struct interp_image *image = slot < INTERP_SLOTS ? helper->image[slot] : NULL;

	return image && image->interpreter ? image : NULL;
}

/* Finds and names the frames in all copies of the request. The copies share one budget of steps and bytes. */
static void interphelper_copies(struct interphelper *helper)
{
	struct readbudget left = { .steps = FRAMES_STEPS, .bytes = READ_BYTES };

	for (uint32_t i = 0; i < helper->request.ncopies; i++) {
		struct interp_copy *of_copy = &helper->shared->of_copy[i];
		struct interp_image *image = interphelper_image(helper, of_copy->slot);

		*of_copy = (struct interp_copy){ .slot = of_copy->slot, .offset = of_copy->offset, .lost = !image };
		if (!image)
			continue;
		if (image->used != helper->request.serial)
			/* the buffered memory may be older than the copies of this request */
			memory_forget(&image->memory);
		image->used = helper->request.serial;
		image->budget = left;
		interphelper_warm(helper, image);
		interphelper_frames(helper, image, of_copy);
		left.steps = image->budget.steps;
		left.bytes = image->budget.bytes;
	}
}

static void interphelper_list(struct interphelper *helper, struct interp_image *image)
{
	image->used = helper->request.serial;
	image->budget = (struct readbudget){ .steps = THREADS_STEPS, .bytes = READ_BYTES };
	interphelper_warm(helper, image);
	memory_forget(&image->memory);
	helper->reply.n = interphelper_threads(helper, image);
}

/* Performs a request and sends the reply. Returns false if sending fails, because the recorder has closed the
 * socket. */
static bool interphelper_answer(struct interphelper *helper, int fd[INTERP_FDS])
{
	const struct interp_request *request = &helper->request;
	struct interp_image *image;

	if (request->question == INTERP_CLOSE) {
		interphelper_close(helper, request->slot);
		return true;
	}
	memset(&helper->reply, 0, sizeof(helper->reply));
	helper->reply.serial = request->serial;
	if (request->question == INTERP_FRAMES) {
		interphelper_copies(helper);
		return fdmessage_send(helper->socket, &helper->reply, sizeof(helper->reply), -1);
	}
	if (request->question == INTERP_OPEN)
		interphelper_open(helper, fd);
	image = helper->image[request->slot];
	helper->reply.lost = !image || !image->interpreter;
	if (!helper->reply.lost && request->question != INTERP_OPEN)
		interphelper_list(helper, image);
	else if (image)
		memory_rest(&image->memory);
	return fdmessage_send(helper->socket, &helper->reply, sizeof(helper->reply), -1);
}

/* Receives a request and its descriptors. Returns false if the recorder has closed the socket, or if the request is
 * malformed. */
static bool interphelper_receive(struct interphelper *helper, int fd[FDMESSAGE_MAX])
{
	uint64_t begin = clock_now(), awake = begin + (helper->busy ? AWAKE_NS : 0);
	ssize_t got;

	do {
		got = fdmessage_receive_some_all(helper->socket, &helper->request, sizeof(helper->request), fd,
						 clock_now() < awake ? MSG_DONTWAIT : 0);
	} while (got < 0 && (errno == EINTR || errno == EAGAIN));
	helper->busy = clock_now() - begin < AWAKE_NS;
	return got == (ssize_t)sizeof(helper->request) && helper->request.slot < INTERP_SLOTS &&
	       helper->request.ncopies <= INTERP_COPIES;
}

/* Maps the shared memory, enters the sandbox, and performs requests. */
static void interphelper_run(void *to)
{
	static const struct sandbox rights = { .groups = SANDBOX_MESSAGES,
					       .address_space = ADDRESS_SPACE,
					       .files = INTERP_SLOTS + 32 };
	struct interphelper *helper = mem_alloc(sizeof(*helper), 1);
	int fd[FDMESSAGE_MAX];
	bool go_on = true;

	(void)to;
	urgency_short_slices();
	helper->socket = HELPERPROCESS_FD;
	helper->shared = mmap(NULL, sizeof(*helper->shared), PROT_READ | PROT_WRITE, MAP_SHARED, MEMORY_FD, 0);
	if (helper->shared == MAP_FAILED)
		return;
	close(MEMORY_FD);
	sandbox_enter(&rights);
	while (go_on && interphelper_receive(helper, fd)) {
		go_on = interphelper_answer(helper, fd);
		for (size_t i = 0; i < FDMESSAGE_MAX; i++)
			if (fd[i] >= 0)
				close(fd[i]);
	}
}

pid_t interphelper_fork(int socket, int memory, bool sibling)
{
	const struct helperprocess helper = { "pjrecord-interp", (int[]){ socket, memory }, 2,
					      URGENCY_SOON,      interphelper_run,          NULL };

	return sibling ? helperprocess_start_sibling(&helper) : helperprocess_start(&helper);
}
