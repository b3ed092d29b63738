/* SPDX-License-Identifier: Apache-2.0 */
#include "tables.h"

#include "apart.h"
#include "arena.h"
#include "clocks.h"
#include "hash.h"
#include "tablemaker.h"
#include "urgency.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ENTRIES_MOST 4096u
#define BUCKETS 1024u         /* a power of two */
#define QUEUE 32u             /* files that are asked for at a time */
#define WAIT_NS SECOND_NS     /* for a table, and for a sign of life of who makes them */
#define RETRY_NS (10 * SECOND_NS)
#define IDLE_NS (60 * SECOND_NS)
#define HANG_S 20
#define MAKERS_MOST 8         /* that failed, before tables are done without */
#define VDSO_MOST (64u << 10)

enum state { FREE, WANTED, ASKED, READY, NONE, GONE };

/* A file, as mappings name it. Number 0 is nobody's. */
struct entry {
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t next; /* in its bucket, or of the free ones */
	uint8_t state;
	bool again; /* it could not be had before: nobody waits */
	uint64_t wanted, used;
	struct unwind_table *table;
};

struct tables {
	struct tables_options o;
	pid_t maker; /* 0: none */
	int socket;
	struct entry *entry;
	uint32_t n, cap, free, bucket[BUCKETS];
	uint32_t asked[QUEUE], first, nasked; /* answers come in the order of questions */
	uint64_t progress;                    /* ns of the last answer, or of the question behind which there was none */
	uint64_t avoid[16];                   /* devices of files that a maker hung at */
	unsigned navoid;
	size_t bytes;
	struct unwind_table *vdso;
	struct tables_counts counts;
};

/* ---- the process --------------------------------------------------------------------------------------------- */

static void start_maker(struct tables *t)
{
	int pair[2];

	t->socket = -1;
	if (t->counts.hung + t->counts.crashed >= MAKERS_MOST || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	t->maker = fork();
	if (t->maker == 0) {
		apart_become("pjrecord-table", pair[1]);
		urgency_lower(URGENCY_SOON);
		tablemaker_run(APART_FD, t->o.proc);
		_exit(0);
	}
	close(pair[1]);
	if (t->maker > 0) {
		t->socket = pair[0];
	} else {
		t->maker = 0;
		close(pair[0]);
	}
}

/* The image that the kernel maps into every process, also into this one. */
static struct unwind_table *table_of_vdso(void)
{
	const char *image = (const char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR), *why;
	int fd = image ? memfd_create("vdso", MFD_CLOEXEC) : -1;
	size_t n = 0;
	ssize_t done;

	if (fd < 0)
		return NULL;
	while (n < VDSO_MOST && (done = write(fd, image + n, 4096)) == 4096) /* until its pages end */
		n += 4096;
	return unwind_table_open(fd, &why);
}

struct tables *tables_start(const struct tables_options *o)
{
	struct tables *t = mem_alloc(sizeof(*t), 1);

	t->o = *o;
	t->o.most_bytes = o->most_bytes ? o->most_bytes : TABLES_MOST;
	t->o.hang_s = o->hang_s ? o->hang_s : HANG_S;
	t->n = 1;
	t->vdso = table_of_vdso();
	start_maker(t);
	return t;
}

static void end_maker(struct tables *t)
{
	if (t->socket >= 0)
		close(t->socket);
	t->socket = -1;
	t->maker = 0;
}

void tables_stop(struct tables *t)
{
	static const struct timespec moment = { .tv_nsec = 1000000 };

	if (!t)
		return;
	if (t->maker)
		kill(t->maker, SIGKILL); /* it holds nothing that matters */
	for (unsigned tries = 0; t->maker && tries < 100 && waitpid(t->maker, NULL, WNOHANG) == 0; tries++)
		nanosleep(&moment, NULL); /* where it hangs, it is left to init */
	end_maker(t);
	for (uint32_t i = 1; i < t->n; i++)
		unwind_table_close(t->entry[i].table);
	unwind_table_close(t->vdso);
	free(t->entry);
	free(t);
}

/* ---- entries ------------------------------------------------------------------------------------------------- */

static uint64_t device_of(const struct entry *e)
{
	return (uint64_t)e->major << 32 | e->minor;
}

static uint32_t *bucket_of(struct tables *t, const struct entry *e)
{
	return &t->bucket[hash_pair(e->inode ^ e->generation << 32, device_of(e)) & (BUCKETS - 1)];
}

static bool is_of(const struct entry *e, const struct mapped_file *f)
{
	return e->state != FREE && e->inode == f->inode && e->generation == f->generation && e->major == f->major && e->minor == f->minor;
}

static void forget(struct tables *t, uint32_t number)
{
	struct entry *e = &t->entry[number];
	uint32_t *link = bucket_of(t, e);

	while (*link != number)
		link = &t->entry[*link].next;
	*link = e->next;
	unwind_table_close(e->table);
	*e = (struct entry){ .next = t->free };
	t->free = number;
}

/* The entry that can be done without best: 0 when all are in use. */
static uint32_t oldest(const struct tables *t, bool with_table, uint64_t before)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i < t->n; i++) {
		const struct entry *e = &t->entry[i];
		bool candidate = with_table ? e->state == READY : e->state == READY || e->state == NONE || e->state == GONE;

		if (candidate && e->used < before && (!found || e->used < t->entry[found].used))
			found = i;
	}
	return found;
}

static uint32_t take_number(struct tables *t, uint64_t now)
{
	uint32_t number = t->free;

	if (!number && t->n == ENTRIES_MOST) {
		number = oldest(t, false, now);
		if (!number)
			return 0;
		forget(t, number);
	}
	if (number) {
		t->free = t->entry[number].next;
		return number;
	}
	if (t->n >= t->cap) {
		t->cap = t->cap ? 2 * t->cap : 64;
		t->entry = mem_grow(t->entry, sizeof(*t->entry), t->cap);
		t->entry[0] = (struct entry){ 0 };
	}
	return t->n++;
}

static uint32_t entry_of(struct tables *t, const struct mapped_file *f, uint64_t now)
{
	struct entry like = { .major = f->major, .minor = f->minor, .inode = f->inode, .generation = f->generation };
	uint32_t i = *bucket_of(t, &like);

	while (i && !is_of(&t->entry[i], f))
		i = t->entry[i].next;
	if (i)
		return i;
	i = take_number(t, now);
	if (!i)
		return 0;
	like.state = WANTED;
	like.wanted = like.used = now;
	like.next = *bucket_of(t, &like);
	t->entry[i] = like;
	*bucket_of(t, &like) = i;
	return i;
}

/* ---- questions ----------------------------------------------------------------------------------------------- */

static bool is_avoided(const struct tables *t, const struct entry *e)
{
	for (unsigned i = 0; i < t->navoid; i++)
		if (t->avoid[i] == device_of(e))
			return true;
	return false;
}

static void ask(struct tables *t, uint32_t number, const struct process *p, const struct mapping *m, uint64_t now)
{
	struct entry *e = &t->entry[number];
	struct tablemaker_request r = { .number = number, .pid = p->pid, .start_ticks = p->start_ticks, .mount_ns = p->mount_ns,
					.address = m->start, .major = e->major, .minor = e->minor, .inode = e->inode,
					.generation = e->generation };
	size_t n = m->file->path.n;

	if (n > sizeof(r.path) || is_avoided(t, e)) {
		e->state = GONE;
		return;
	}
	if (t->socket < 0 || t->nasked == QUEUE)
		return;
	r.npath = (uint32_t)n;
	memcpy(r.path, m->file->path.p, n);
	n += offsetof(struct tablemaker_request, path);
	if (send(t->socket, &r, n, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)n)
		return;
	if (t->nasked == 0)
		t->progress = now;
	t->asked[(t->first + t->nasked++) % QUEUE] = number;
	e->state = ASKED;
}

/* Who makes tables answers. */
static bool is_well(const struct tables *t, uint64_t now)
{
	return t->socket >= 0 && (t->nasked == 0 || now < t->progress + WAIT_NS);
}

/* What is mapped from no file has none. */
static bool is_file(const struct mapped_file *f)
{
	return f->inode && f->path.n > 1 && f->path.p[0] == '/' && f->path.p[1] != '/';
}

static enum tables_answer found(const struct unwind_table *table, uint64_t address, uint64_t offset, struct unwind_code *code)
{
	if (!table || !unwind_table_bias(table, address, offset, &code->bias))
		return TABLES_NONE;
	code->table = table;
	return TABLES_READY;
}

enum tables_answer tables_find(struct tables *t, const struct process *p, const struct mapping *m, uint64_t address, uint64_t now,
			       struct unwind_code *code)
{
	struct mapped_file *f = m->file;
	struct entry *e;

	if (!is_file(f))
		return str_eq(f->path, STR("[vdso]")) ? found(t->vdso, address, address - m->start, code) : TABLES_NONE;
	if (!f->table || f->table >= t->n || !is_of(&t->entry[f->table], f))
		f->table = entry_of(t, f, now);
	if (!f->table)
		return TABLES_NONE;
	e = &t->entry[f->table];
	e->used = now;
	if (e->state == GONE && now > e->wanted + RETRY_NS && t->socket >= 0) {
		e->state = WANTED;
		e->wanted = now;
		e->again = true;
	}
	if (e->state == WANTED)
		ask(t, f->table, p, m, now);
	if (e->state == READY)
		return found(e->table, address, address - m->start + m->offset, code);
	if (e->state != WANTED && e->state != ASKED)
		return TABLES_NONE;
	if (t->socket < 0)
		return TABLES_NONE;
	return !e->again && is_well(t, now) && now < e->wanted + WAIT_NS ? TABLES_WAIT : TABLES_LATE;
}

/* ---- answers ------------------------------------------------------------------------------------------------- */

static void make_room(struct tables *t, uint64_t now)
{
	uint32_t i;

	while (t->bytes > t->o.most_bytes && (i = oldest(t, true, now))) {
		t->bytes -= unwind_table_bytes(t->entry[i].table);
		t->counts.evicted++;
		forget(t, i);
	}
}

/* Sealed: who made it cannot take it away or change it. */
static struct unwind_table *table_of(int image)
{
	enum { NEEDED = F_SEAL_SHRINK | F_SEAL_WRITE };
	const char *why;

	if (image < 0)
		return NULL;
	if ((fcntl(image, F_GET_SEALS) & NEEDED) == NEEDED)
		return unwind_table_load(image, &why);
	close(image);
	return NULL;
}

static void take_reply(struct tables *t, const struct tablemaker_reply *r, int image, uint64_t now)
{
	struct unwind_table *table = table_of(image);
	struct entry *e = NULL;

	if (t->nasked && t->asked[t->first] == r->number && t->entry[r->number].state == ASKED)
		e = &t->entry[r->number];
	if (!e) {
		unwind_table_close(table);
		return;
	}
	t->first = (t->first + 1) % QUEUE;
	t->nasked--;
	t->progress = now;
	e->table = table;
	e->state = table ? READY : r->answer == TABLEMAKER_GONE ? GONE : NONE;
	t->counts.made += table != NULL;
	t->counts.gone += e->state == GONE;
	t->counts.large += r->answer == TABLEMAKER_LARGE;
	t->counts.none += e->state == NONE && r->answer != TABLEMAKER_LARGE;
	if (table)
		t->bytes += unwind_table_bytes(table);
}

/* False: there is none, or who makes them is gone. */
static bool receive(struct tables *t, struct tablemaker_reply *r, int *image)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec io = { r, sizeof(*r) };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof(control.room) };
	ssize_t n = recvmsg(t->socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;

	*image = -1;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(image, CMSG_DATA(c), sizeof(*image));
	if (n == 0) { /* it ended: its socket would be readable for ever. tables_tick finds out */
		close(t->socket);
		t->socket = -1;
	}
	return n == (ssize_t)sizeof(*r);
}

void tables_take(struct tables *t, uint64_t now)
{
	struct tablemaker_reply r = { 0 };
	int image;

	while (t->socket >= 0 && receive(t, &r, &image))
		take_reply(t, &r, image, now);
	if (t->bytes > t->o.most_bytes)
		make_room(t, now - SECOND_NS);
}

int tables_fd(const struct tables *t)
{
	return t->socket;
}

/* ---- now and then -------------------------------------------------------------------------------------------- */

/* At the first it hangs or crashed; the others are asked for again. */
static void blame(struct tables *t, bool hung)
{
	for (bool first = true; t->nasked; t->nasked--, first = false) {
		struct entry *e = &t->entry[t->asked[t->first]];

		e->state = first ? NONE : WANTED;
		if (first && hung && t->navoid < countof(t->avoid))
			t->avoid[t->navoid++] = device_of(e);
		t->first = (t->first + 1) % QUEUE;
	}
}

static void look_after_maker(struct tables *t, uint64_t now)
{
	if (t->maker && waitpid(t->maker, NULL, WNOHANG) == t->maker) {
		t->counts.crashed++;
		blame(t, false);
	} else if (t->maker && t->nasked && now > t->progress + t->o.hang_s * SECOND_NS) {
		t->counts.hung++;
		blame(t, true);
		kill(t->maker, SIGKILL);
		waitpid(t->maker, NULL, WNOHANG);
	} else {
		return;
	}
	end_maker(t);
	start_maker(t);
}

void tables_tick(struct tables *t, uint64_t now)
{
	look_after_maker(t, now);
	t->bytes = 0;
	for (uint32_t i = 1; i < t->n; i++) {
		const struct entry *e = &t->entry[i];

		if ((e->state == READY || e->state == NONE || e->state == GONE) && e->used + IDLE_NS < now)
			forget(t, i);
		else if (e->state == READY && unwind_table_is_full(e->table))
			forget(t, i);
		else if (e->table)
			t->bytes += unwind_table_bytes(e->table);
	}
	if (t->bytes > t->o.most_bytes)
		make_room(t, now - SECOND_NS);
}

struct tables_counts tables_count(const struct tables *t)
{
	struct tables_counts c = t->counts;

	for (uint32_t i = 1; i < t->n; i++)
		c.tables += t->entry[i].table != NULL;
	c.bytes = t->bytes;
	return c;
}
