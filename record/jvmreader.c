/* SPDX-License-Identifier: Apache-2.0 */
#include "jvmreader.h"

#include "arena.h"
#include "clocks.h"
#include "jvmbuilds.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define HANG_NS (5 * SECOND_NS) /* so long at one question */
#define REST 256                /* questions, after which memory is given back */
enum { THREADS_MOST = 8 };      /* that were left behind, before JVMs are done without */

/* A JVM as the thread has it. */
struct image {
	uint32_t pid;
	uint64_t start;
	struct hotspot h;
	struct frames f;
	unsigned asked;
	bool opened, tried;
	struct hotspot_reason why; /* code: it cannot be read any more */
};

struct jvmreader_jvm {
	struct image *image; /* NULL: left with a thread that hangs */
	struct hotspot_reason why;
};

enum what { OPEN, FIND, CHECK, BYTES, NAMES };

struct question {
	enum what what;
	struct image *image;
	uint64_t address;
	enum codecache_where where; /* FIND */
	struct blob found;
	struct blob *blob; /* CHECK */
	uint64_t *method;  /* NAMES */
	size_t n, cap, cap_methods;
	struct text names; /* of each that has one: its number, its length, and itself */
	bool read; /* FIND, BYTES */
	char bytes[JVMREADER_BYTES];
};

/* q is the thread's between a post of `asked` and one of `answered`, else the recorder's. */
struct reading_thread {
	sem_t asked, answered;
	bool left; /* behind: it ends, and frees what it is at */
	struct question q;
	struct jvmbuilds *known;
};

struct jvmreader {
	struct reading_thread *thread; /* NULL: none */
	bool busy;                     /* it was not waited for */
	struct jvmreader_jvm *at;      /* for which it was asked; NULL: closed meanwhile */
	uint64_t since;                /* when */
	uint64_t patience;
	unsigned left; /* threads */
};

/* ---- the thread ---------------------------------------------------------------------------------------------- */

static struct hotspot_reason ended(void)
{
	return (struct hotspot_reason){ .code = "gone", .why = "it ended" };
}

static struct hotspot_reason read_layout(struct image *i, const struct jvm_process *p)
{
	struct hotspot_reason r = hotspot_read_layout(&i->h, p);
	const char *why = r.code ? NULL : frames_open(&i->f, &i->h);

	if (why) {
		r.code = "unsupported";
		snprintf(r.why, sizeof(r.why), "its libjvm.so does not tell %s", why);
	}
	/* a layout is all that is needed from here on */
	vmstructs_free(&i->h.tables);
	return r;
}

static struct hotspot_reason open_as(struct image *i, const struct jvm_process *p, struct jvmbuilds *known)
{
	struct jvmbuilds_key key = jvmbuilds_key(p);
	struct hotspot_reason r = hotspot_open_memory(&i->h, p);

	i->opened = true;
	if (!r.code && !jvmbuilds_take(known, &key, p->folder, p->library.base, &i->h, &i->f)) {
		r = read_layout(i, p);
		if (!r.code)
			jvmbuilds_keep(known, &key, p->folder, p->library.base, &i->h, &i->f);
	}
	memory_rest(&i->h.memory);
	return r;
}

static void open_image(struct image *i, struct jvmbuilds *known)
{
	struct jvm_process p;

	i->tried = true;
	i->why = ended();
	if (!discover_one("/proc", (pid_t)i->pid, &p))
		return;
	if (p.alive && (i->start == 0 || p.start == i->start))
		i->why = open_as(i, &p, known);
	jvm_process_close(&p);
}

static void free_image(struct image *i)
{
	if (i && i->opened) {
		frames_free(&i->f);
		hotspot_close(&i->h);
	}
	free(i);
}

static void read_bytes(struct question *q)
{
	q->read = memory_bulk(&q->image->h.memory, q->address / sizeof(q->bytes) * sizeof(q->bytes), q->bytes, sizeof(q->bytes));
}

static void find(struct question *q)
{
	struct image *i = q->image;
	const char *why = frames_at(&i->f, &i->h, q->address, &q->where, &q->found);

	if (why == codecache_gone)
		i->why = ended();
	else if (why) /* it is about to begin */
		q->where = CODECACHE_FREE;
	read_bytes(q);
}

static void check(struct question *q)
{
	struct image *i = q->image;
	char byte;

	q->n = codecache_keep_same(&i->h.memory, &i->h.layout, q->blob, q->n);
	if (q->n == 0 && !memory_bulk(&i->h.memory, i->h.memory.probe, &byte, 1))
		i->why = ended();
}

static void read_names(struct question *q)
{
	struct hotspot *h = &q->image->h;
	struct text t = { 0 };

	q->names.n = 0;
	hotspot_expect(h, q->method, q->n, true);
	for (size_t i = 0; i < q->n; i++) {
		struct blob b = { .compiled = true, .method = q->method[i] };
		uint64_t head[2] = { i };

		t.n = 0;
		if (!hotspot_name(h, &b, METHOD_HOTSPOT, &t))
			continue;
		head[1] = t.n;
		text_bytes(&q->names, head, sizeof(head));
		text_str(&q->names, text_view(&t));
	}
	methods_free(&h->methods);
	text_free(&t);
	if (!memory_is_current(&h->memory)) { /* these are names of the program that it ran before */
		q->names.n = 0;
		q->image->why = ended();
	}
}

static void answer(struct question *q, struct jvmbuilds *known)
{
	struct image *i = q->image;

	if (q->what == OPEN) {
		open_image(i, known);
		return;
	}
	memory_forget(&i->h.memory);
	if (q->what == FIND)
		find(q);
	else if (q->what == CHECK)
		check(q);
	else if (q->what == NAMES)
		read_names(q);
	else
		read_bytes(q);
	if (++i->asked % REST == 0)
		memory_rest(&i->h.memory);
}

static void free_thread(struct reading_thread *t)
{
	sem_destroy(&t->asked);
	sem_destroy(&t->answered);
	free_image(t->q.image);
	free(t->q.blob);
	free(t->q.method);
	text_free(&t->q.names);
	jvmbuilds_free(t->known);
	free(t);
}

static void *run(void *arg)
{
	struct reading_thread *t = arg;

	for (;;) {
		while (sem_wait(&t->asked) < 0)
			;
		if (t->left)
			break;
		answer(&t->q, t->known);
		sem_post(&t->answered);
	}
	free_thread(t);
	return NULL;
}

/* Signals are the recorder's own thread's. */
static struct reading_thread *start_thread(void)
{
	struct reading_thread *t = mem_alloc(sizeof(*t), 1);
	pthread_attr_t detached;
	pthread_t thread;
	sigset_t all, before;
	bool started;

	t->known = jvmbuilds_new();
	sem_init(&t->asked, 0, 0);
	sem_init(&t->answered, 0, 0);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	started = pthread_create(&thread, &detached, run, t) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&detached);
	if (started)
		return t;
	free_thread(t);
	return NULL;
}

/* ---- asking -------------------------------------------------------------------------------------------------- */

/* What the thread found out comes to who asked, also when it did not wait. */
static void collect(struct jvmreader *r)
{
	struct question *q = &r->thread->q;

	if (r->at)
		r->at->why = q->image->why;
	else
		free_image(q->image);
	q->image = NULL;
	r->at = NULL;
	r->busy = false;
}

static bool is_idle(struct jvmreader *r)
{
	if (r->busy && sem_trywait(&r->thread->answered) == 0)
		collect(r);
	return r->thread && !r->busy;
}

static void leave_thread(struct jvmreader *r)
{
	if (!is_idle(r) && r->at)
		*r->at = (struct jvmreader_jvm){ .why = { .code = "hangs", .why = "reading its memory takes too long" } };
	r->thread->left = true;
	sem_post(&r->thread->asked);
	r->thread = NULL;
	r->at = NULL;
	r->busy = false;
}

/* Of the question that is in the thread's hands: waits as long as there is patience. */
static enum jvmreader_answer ask(struct jvmreader *r, struct jvmreader_jvm *jvm, enum what what)
{
	struct reading_thread *t = r->thread;
	uint64_t now = clock_now(), until = now + r->patience, after;
	struct timespec deadline = { (time_t)(until / SECOND_NS), (long)(until % SECOND_NS) };
	int got;

	t->q.what = what;
	t->q.image = jvm->image;
	r->at = jvm;
	r->since = now;
	r->busy = true;
	sem_post(&t->asked);
	while ((got = sem_clockwait(&t->answered, CLOCK_MONOTONIC, &deadline)) < 0 && errno == EINTR)
		;
	if (got == 0)
		collect(r);
	after = clock_now();
	r->patience -= after - now < r->patience ? after - now : r->patience;
	if (got < 0)
		return JVMREADER_LATE;
	return jvm->why.code ? JVMREADER_LOST : JVMREADER_DONE;
}

/* DONE: the JVM is open, and the thread waits for a question. */
static enum jvmreader_answer begin(struct jvmreader *r, struct jvmreader_jvm *jvm)
{
	if (!is_idle(r) && r->thread && clock_now() > r->since + HANG_NS) {
		leave_thread(r);
		if (++r->left < THREADS_MOST)
			r->thread = start_thread();
	}
	if (jvm->why.code)
		return JVMREADER_LOST;
	if (!is_idle(r) || r->patience == 0)
		return JVMREADER_LATE;
	return jvm->image->tried ? JVMREADER_DONE : ask(r, jvm, OPEN);
}

static enum jvmreader_answer ask_at(struct jvmreader *r, struct jvmreader_jvm *jvm, enum what what, uint64_t address)
{
	enum jvmreader_answer answer = begin(r, jvm);

	if (answer != JVMREADER_DONE)
		return answer;
	r->thread->q.address = address;
	return ask(r, jvm, what);
}

enum jvmreader_answer jvmreader_find(struct jvmreader *r, struct jvmreader_jvm *jvm, uint64_t address, struct jvmreader_found *found)
{
	enum jvmreader_answer answer = ask_at(r, jvm, FIND, address);

	if (answer == JVMREADER_DONE) {
		const struct question *q = &r->thread->q;

		*found = (struct jvmreader_found){ q->where, q->found, jvm->image->f.code, q->read ? q->bytes : NULL };
	}
	return answer;
}

enum jvmreader_answer jvmreader_check(struct jvmreader *r, struct jvmreader_jvm *jvm, struct blob *b, size_t *n)
{
	enum jvmreader_answer answer = begin(r, jvm);
	struct question *q;

	if (answer != JVMREADER_DONE)
		return answer;
	q = &r->thread->q;
	if (q->cap < *n) {
		q->cap = *n + *n / 2;
		q->blob = mem_grow(q->blob, sizeof(*q->blob), q->cap);
	}
	memcpy(q->blob, b, *n * sizeof(*b));
	q->n = *n;
	answer = ask(r, jvm, CHECK);
	if (answer == JVMREADER_DONE) {
		*n = q->n;
		memcpy(b, q->blob, q->n * sizeof(*b));
	}
	return answer;
}

enum jvmreader_answer jvmreader_bytes(struct jvmreader *r, struct jvmreader_jvm *jvm, uint64_t address, const char **bytes)
{
	enum jvmreader_answer answer = ask_at(r, jvm, BYTES, address);

	if (answer == JVMREADER_DONE)
		*bytes = r->thread->q.read ? r->thread->q.bytes : NULL;
	return answer;
}

bool jvmreader_ready(struct jvmreader *r)
{
	return r->patience && is_idle(r);
}

enum jvmreader_answer jvmreader_names(struct jvmreader *r, struct jvmreader_jvm *jvm, const uint64_t *method, size_t n,
				      void (*fn)(void *to, uint64_t method, struct str name), void *to)
{
	enum jvmreader_answer answer = begin(r, jvm);
	struct question *q;
	struct str names;

	if (answer != JVMREADER_DONE)
		return answer;
	q = &r->thread->q;
	if (q->cap_methods < n) {
		q->cap_methods = n + n / 2;
		q->method = mem_grow(q->method, sizeof(*q->method), q->cap_methods);
	}
	memcpy(q->method, method, n * sizeof(*method));
	q->n = n;
	answer = ask(r, jvm, NAMES);
	names = text_view(&q->names);
	while (answer == JVMREADER_DONE && names.n) {
		uint64_t head[2];

		memcpy(head, names.p, sizeof(head));
		fn(to, q->method[head[0]], str_head(str_from(names, sizeof(head)), head[1]));
		names = str_from(names, sizeof(head) + head[1]);
	}
	return answer;
}

/* ---- life ---------------------------------------------------------------------------------------------------- */

struct jvmreader_jvm *jvmreader_open(uint32_t pid, uint64_t start)
{
	struct jvmreader_jvm *jvm = mem_alloc(sizeof(*jvm), 1);

	jvm->image = mem_alloc(sizeof(*jvm->image), 1);
	jvm->image->pid = pid;
	jvm->image->start = start;
	return jvm;
}

void jvmreader_close(struct jvmreader *r, struct jvmreader_jvm *jvm)
{
	if (!jvm)
		return;
	is_idle(r);
	if (r->at == jvm)
		r->at = NULL; /* freed when the thread has done with it */
	else
		free_image(jvm->image);
	free(jvm);
}

struct hotspot_reason jvmreader_why(const struct jvmreader_jvm *jvm)
{
	return jvm->why;
}

void jvmreader_patience(struct jvmreader *r, uint64_t ns)
{
	r->patience = ns;
}

struct jvmreader *jvmreader_new(void)
{
	struct jvmreader *r = mem_alloc(sizeof(*r), 1);

	r->thread = start_thread();
	return r;
}

void jvmreader_free(struct jvmreader *r)
{
	if (r && r->thread)
		leave_thread(r);
	free(r);
}
