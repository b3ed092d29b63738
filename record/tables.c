/* SPDX-License-Identifier: Apache-2.0 */
#include "tables.h"

#include "apart.h"
#include "arena.h"
#include "clocks.h"
#include "fdmessage.h"
#include "foreign.h"
#include "hash.h"
#include "tablemaker.h"
#include "urgency.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ENTRIES_MOST 4096u
#define BUCKETS 1024u         /* a power of two */
#define QUEUE 32u             /* files that are asked for at a time */
#define QUEUE_SHARE 16u       /* of these, for one tenant */
#define KNOWN_TENANTS 256u    /* processes whose tenant is known */
#define WAIT_NS SECOND_NS     /* for a table, and for a sign of life of who makes them */
#define RETRY_NS (10 * SECOND_NS)
#define IDLE_NS (60 * SECOND_NS)
#define HANG_MS 2000          /* without an answer, the helpers not running: what they read is warm then for the next try */
#define HANG_TIMES 6          /* so many times as long, whatever they do */
#define VDSO_MOST (64u << 10)

enum state { FREE, WANTED, ASKED, READY, NONE };

/* A file, as mappings name it. Number 0 is nobody's. */
struct entry {
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t next; /* in its bucket, or of the free ones */
	uint8_t state;
	bool again; /* it could not be had before: nobody waits */
	uint64_t refused; /* the place (backoff_place) at which it could not be had, when it was `wanted`; 0: none */
	bool crashed; /* a helper crashed at it: once may be chance, as the kernel ends processes when it needs memory */
	uint64_t wanted, used;
	struct unwind_table *table;
};

struct tables {
	struct tables_options o;
	pid_t opener, parser; /* 0: none */
	int socket;           /* -1: none, or the helpers ended */
	struct backoff backoff;
	struct budgets *budgets; /* NULL: no limit */
	struct known_tenant {
		uint32_t pid;
		uint64_t start_ticks;
		struct tenant of;
	} known[KNOWN_TENANTS];
	uint64_t own_ns; /* mount namespace */
	struct entry *entry;
	uint32_t n, cap, free, bucket[BUCKETS];
	struct asked {
		uint32_t number;
		uint64_t place;
		struct tenant of;
	} asked[QUEUE]; /* answers come in the order of questions */
	uint32_t first, nasked;
	uint64_t progress; /* ns of the last answer, or of the question before which there was none */
	uint64_t running;  /* ns of the last time that a helper was seen running */
	size_t bytes;
	struct unwind_table *vdso;
	struct tables_counts counts;
};

/* ---- the process --------------------------------------------------------------------------------------------- */

static void run_opener(void *to)
{
	const struct tables *t = to;

	tableopener_run(APART_FD, APART_FD + 1, t->o.proc);
}

static void run_parser(void *to)
{
	(void)to;
	tableparser_run(APART_FD);
}

static void start_helpers(struct tables *t)
{
	int recorder[2], parser[2];

	t->socket = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, recorder) < 0)
		return;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, parser) < 0) {
		close(recorder[0]);
		close(recorder[1]);
		return;
	}
	t->parser = apart_start(&(struct apart){ "pjrecord-table", &parser[1], 1, URGENCY_USUAL, run_parser, NULL });
	if (t->parser)
		t->opener = apart_start(&(struct apart){ "pjrecord-open", (int[]){ recorder[1], parser[0] }, 2, URGENCY_SOON, run_opener, t });
	close(recorder[1]);
	close(parser[0]);
	close(parser[1]);
	if (t->opener)
		t->socket = recorder[0];
	else
		close(recorder[0]);
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

static uint64_t own_mount_ns(const char *proc)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/self/ns/mnt", proc);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

struct tables *tables_start(const struct tables_options *o)
{
	struct tables *t = mem_alloc(sizeof(*t), 1);

	t->o = *o;
	t->o.most_bytes = o->most_bytes ? o->most_bytes : TABLES_MOST;
	t->o.hang_ms = o->hang_ms ? o->hang_ms : HANG_MS;
	t->n = 1;
	t->vdso = table_of_vdso();
	t->own_ns = own_mount_ns(o->proc);
	start_helpers(t);
	return t;
}

static void close_socket(struct tables *t)
{
	if (t->socket >= 0)
		close(t->socket);
	t->socket = -1;
}

void tables_stop(struct tables *t)
{
	static const struct timespec moment = { .tv_nsec = 1000000 };
	pid_t helper[2];

	if (!t)
		return;
	helper[0] = t->opener;
	helper[1] = t->parser;
	close_socket(t);
	for (size_t i = 0; i < countof(helper); i++) {
		if (helper[i])
			kill(helper[i], SIGKILL); /* it holds nothing that matters */
		for (unsigned tries = 0; helper[i] && tries < 100 && waitpid(helper[i], NULL, WNOHANG) == 0; tries++)
			nanosleep(&moment, NULL); /* where it hangs, it is left to init */
	}
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
		bool candidate = with_table ? e->state == READY : e->state == READY || e->state == NONE || e->refused;

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

/* Which tenant a process is, read once; of one that ended the mount namespace is known. */
static struct tenant tenant_of_process(struct tables *t, const struct process *p)
{
	struct known_tenant *known = &t->known[p->pid % KNOWN_TENANTS];
	int process;

	if (known->pid == p->pid && known->start_ticks == p->start_ticks && p->start_ticks)
		return known->of;
	process = foreign_process(t->o.proc, p->pid, p->start_ticks);
	*known = (struct known_tenant){ p->pid, p->start_ticks, process >= 0 ? tenant_of(process) : (struct tenant){ 0 } };
	if (process >= 0)
		close(process);
	if (known->of.kind == TENANT_UNKNOWN && p->mount_ns)
		known->of = (struct tenant){ TENANT_MOUNT_NS, p->mount_ns };
	return known->of;
}

static unsigned asked_for(const struct tables *t, uint64_t place)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < t->nasked; i++)
		n += t->asked[(t->first + i) % QUEUE].place == place;
	return n;
}

/* Its tenant is over its budget of CPU time, or helpers failed at its files: counted. */
static bool is_left_out(struct tables *t, struct tenant of, uint64_t place, uint64_t now)
{
	bool host = backoff_is_host(&of, t->own_ns);
	bool out = backoff_avoids(&t->backoff, place, now) ||
		   (!host && t->budgets && !tenants_may(budgets_tenants(t->budgets), of, TENANT_CPU_NS, now));

	if (out)
		budgets_over(t->budgets, of, OVER_TABLES, 1);
	return out;
}

/* False: not by this process. The file may be one that other tenants have, too, and theirs to be had. */
static bool ask(struct tables *t, uint32_t number, const struct process *p, const struct mapping *m, uint64_t now)
{
	struct entry *e = &t->entry[number];
	struct tablemaker_request r = { .number = number, .pid = p->pid, .start_ticks = p->start_ticks, .mount_ns = p->mount_ns,
					.address = m->start, .major = e->major, .minor = e->minor, .inode = e->inode,
					.generation = e->generation };
	struct tenant of = tenant_of_process(t, p);
	uint64_t place = backoff_place(&of, t->own_ns, device_of(e));
	size_t n = m->file->path.n;

	if (t->socket < 0 || t->nasked == QUEUE || asked_for(t, place) == QUEUE_SHARE)
		return true;
	if (n > sizeof(r.path) || (e->refused == place && now < e->wanted + RETRY_NS) || is_left_out(t, of, place, now))
		return false;
	r.npath = (uint32_t)n;
	memcpy(r.path, m->file->path.p, n);
	n += offsetof(struct tablemaker_request, path);
	if (send(t->socket, &r, n, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)n)
		return true;
	if (t->nasked == 0)
		t->progress = now;
	t->asked[(t->first + t->nasked++) % QUEUE] = (struct asked){ number, place, of };
	e->state = ASKED;
	return true;
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
	if (e->state == WANTED && !ask(t, f->table, p, m, now))
		return TABLES_NONE;
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

/* The file cannot be had by that tenant; nobody waits for it any more. */
static void refuse(struct entry *e, uint64_t place, uint64_t now)
{
	e->state = WANTED;
	e->refused = place;
	e->wanted = now;
	e->again = true;
}

static void take_reply(struct tables *t, const struct tablemaker_reply *r, int image, uint64_t now)
{
	struct unwind_table *table = table_of(image);
	struct entry *e = NULL;
	struct asked asked = t->asked[t->first];

	if (t->nasked && t->asked[t->first].number == r->number && t->entry[r->number].state == ASKED)
		e = &t->entry[r->number];
	if (!e) {
		unwind_table_close(table);
		return;
	}
	t->first = (t->first + 1) % QUEUE;
	t->nasked--;
	t->progress = now;
	e->table = table;
	e->state = table ? READY : r->answer == TABLEMAKER_GONE ? WANTED : NONE;
	if (e->state == WANTED)
		refuse(e, asked.place, now);
	if (t->budgets && !backoff_is_host(&asked.of, t->own_ns))
		tenants_charge(budgets_tenants(t->budgets), asked.of, TENANT_CPU_NS, r->cpu_us * UINT64_C(1000), now);
	t->counts.made += table != NULL;
	t->counts.gone += e->state == WANTED;
	t->counts.large += r->answer == TABLEMAKER_LARGE;
	t->counts.none += e->state == NONE && r->answer != TABLEMAKER_LARGE;
	if (table)
		t->bytes += unwind_table_bytes(table);
}

/* False: there is no reply, or the helpers ended. */
static bool receive(struct tables *t, struct tablemaker_reply *r, int *image)
{
	int got = fdmessage_receive(t->socket, r, sizeof(*r), image, MSG_DONTWAIT);

	if (got == 0) /* its socket would be readable for ever */
		close_socket(t);
	return got > 0;
}

/* ---- the helpers' health --------------------------------------------------------------------------------------- */

/* The file at which they hung is tried again later, that at which two crashed is not; the others are asked for again. Returns its place;
 * 0: there is none. */
static uint64_t blame(struct tables *t, bool hung, uint64_t now)
{
	uint64_t place = t->nasked ? t->asked[t->first].place : 0;

	for (bool first = true; t->nasked; t->nasked--, first = false) {
		struct entry *e = &t->entry[t->asked[t->first].number];

		e->state = first && !hung && e->crashed ? NONE : WANTED;
		e->crashed = e->crashed || (first && !hung);
		e->wanted = now;
		if (first && hung)
			refuse(e, place, now);
		t->first = (t->first + 1) % QUEUE;
	}
	return place;
}

static bool hang(struct tables *t, uint64_t now)
{
	uint64_t limit = t->o.hang_ms * (SECOND_NS / 1000), since = t->running > t->progress ? t->running : t->progress;

	if (!t->nasked || now < since + limit)
		return false;
	if (now < t->progress + HANG_TIMES * limit && (foreign_runs(t->o.proc, t->opener) || foreign_runs(t->o.proc, t->parser))) {
		t->running = now - limit / 2; /* looked at again soon */
		return false;
	}
	return true;
}

static void look_after_helpers(struct tables *t, uint64_t now)
{
	bool hung = t->socket >= 0 && hang(t, now);

	if (t->opener && (hung || t->socket < 0)) {
		uint64_t place = blame(t, hung, now);

		close_socket(t);
		backoff_failed(&t->backoff, t->opener, place, hung, now);
		backoff_abandon(&t->backoff, t->parser, place);
		t->opener = t->parser = 0;
	}
	if (!t->opener && backoff_may_start(&t->backoff, now)) {
		t->backoff.restarts++;
		start_helpers(t);
	}
}

void tables_take(struct tables *t, uint64_t now)
{
	struct tablemaker_reply r = { 0 };
	int image;

	while (t->socket >= 0 && receive(t, &r, &image))
		take_reply(t, &r, image, now);
	look_after_helpers(t, now);
	if (t->bytes > t->o.most_bytes)
		make_room(t, now - SECOND_NS);
}

int tables_fd(const struct tables *t)
{
	return t->socket;
}

/* ---- now and then -------------------------------------------------------------------------------------------- */

void tables_tick(struct tables *t, uint64_t now)
{
	look_after_helpers(t, now);
	t->bytes = 0;
	for (uint32_t i = 1; i < t->n; i++) {
		const struct entry *e = &t->entry[i];

		if ((e->state == READY || e->state == NONE || (e->state == WANTED && e->refused)) && e->used + IDLE_NS < now)
			forget(t, i);
		else if (e->state == READY && unwind_table_is_full(e->table))
			forget(t, i);
		else if (e->table)
			t->bytes += unwind_table_bytes(e->table);
	}
	if (t->bytes > t->o.most_bytes)
		make_room(t, now - SECOND_NS);
}

void tables_budgets(struct tables *t, struct budgets *budgets)
{
	t->budgets = budgets;
}

struct tables_counts tables_count(const struct tables *t)
{
	struct tables_counts c = t->counts;

	for (uint32_t i = 1; i < t->n; i++)
		c.tables += t->entry[i].table != NULL;
	c.bytes = t->bytes;
	c.helpers = backoff_counts(&t->backoff, !t->opener);
	return c;
}
