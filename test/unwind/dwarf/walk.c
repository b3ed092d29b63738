/*
 * walk - prints the user stacks of a perf.data with registers and copies of the stack, unwound by
 * unwind/dwarf/cfiunwind.h: one line a sample, "TID TIME ADDRESS...", leaf first, addresses as perf script prints them.
 * For test/unwind/dwarf/perfstacks.t.
 *
 * The recording is our own: it is trusted, and read with just enough knowledge of perf.data: file mode, not compressed,
 * one layout of samples. -t N: unwinds everything N times and prints ns a frame. -e: how stacks ended; "without a
 * copy": perf copied no byte, as the sampled instruction waits for the first page of its stack. -x: leaves out
 * processes that called exec meanwhile, whose maps perf 6.1 mixes up. -p PID,PID...: only of these. -o FILE...: how
 * long opening takes.
 */
#include "common/diag.h"
#include "unwind/dwarf/cfiunwind.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct dso {
	char *path;
	struct unwind_table *table;
	struct dso *next;
};

struct map {
	uint32_t pid;
	uint64_t start, end, offset;
	struct dso *dso;
	uint64_t bias;
	bool anon;
	struct map *next;
};

struct record {
	uint64_t time;
	const struct perf_event_header *h;
	size_t order;
};

static struct dso *dsos;
static bool quiet;
static struct map *maps[4096]; /* by pid; newest first */
static struct perf_event_attr attr;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int vdso_fd(void)
{
	unsigned long at = getauxval(AT_SYSINFO_EHDR);
	int fd = memfd_create("vdso", MFD_CLOEXEC);

	if (!at || write(fd, (const void *)at, 4096) != 4096 || write(fd, (const char *)at + 4096, 4096) < 0)
		return -1;
	return fd;
}

static struct dso *dso_of(const char *path)
{
	struct dso *d;
	const char *why = NULL;
	int fd;

	for (d = dsos; d; d = d->next)
		if (strcmp(d->path, path) == 0)
			return d;
	d = calloc(1, sizeof(*d));
	d->path = strdup(path);
	d->next = dsos;
	dsos = d;
	fd = strcmp(path, "[vdso]") == 0 ? vdso_fd() : open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		d->table = unwind_table_open(fd, &why);
	if (why && !quiet)
		fprintf(stderr, "walk: %s: %s\n", path, why);
	return d;
}

static void add_map(struct map map, const char *path)
{
	struct map *new = malloc(sizeof(map));

	map.anon = strncmp(path, "//anon", 6) == 0 || (path[0] == '[' && strcmp(path, "[vdso]") != 0);
	if (!map.anon)
		map.dso = dso_of(path);
	if (strcmp(path, "[vdso]") == 0)
		map.offset = 0;
	if (map.dso && map.dso->table && !unwind_table_bias(map.dso->table, map.start, map.offset, &map.bias))
		fprintf(stderr, "walk: %s: no segment at %" PRIx64 "\n", path, map.offset);
	map.next = maps[map.pid % 4096];
	*new = map;
	maps[map.pid % 4096] = new;
}

static const struct map *map_of(uint32_t pid, uint64_t ip)
{
	for (const struct map *m = maps[pid % 4096]; m; m = m->next)
		if (m->pid == pid && ip - m->start < m->end - m->start)
			return m;
	return NULL;
}

static void fork_maps(uint32_t pid, uint32_t parent)
{
	struct map *copy = NULL, **tail = &copy;

	for (const struct map *m = maps[parent % 4096]; m; m = m->next) {
		if (m->pid != parent)
			continue;
		*tail = malloc(sizeof(*m));
		**tail = *m;
		(*tail)->pid = pid;
		(*tail)->next = NULL;
		tail = &(*tail)->next;
	}
	*tail = maps[pid % 4096];
	maps[pid % 4096] = copy;
}

/* An exec: what was mapped is gone. */
static void drop_maps(uint32_t pid)
{
	for (struct map **link = &maps[pid % 4096]; *link;) {
		struct map *m = *link;

		if (m->pid == pid) {
			*link = m->next;
			free(m);
		} else {
			link = &m->next;
		}
	}
}

struct sample {
	uint64_t ip, time;
	uint32_t pid, tid;
	uint64_t abi;
	const uint64_t *regs;
	struct str stack;
};

static bool parse_sample(const struct perf_event_header *header, struct sample *sample)
{
	const uint64_t *p = (const uint64_t *)(header + 1);
	uint64_t type = attr.sample_type, n;

	*sample = (struct sample){ 0 };
	p += !!(type & PERF_SAMPLE_IDENTIFIER);
	sample->ip = *p++;
	sample->pid = (uint32_t)*p;
	sample->tid = (uint32_t)(*p++ >> 32);
	sample->time = *p++;
	p += !!(type & PERF_SAMPLE_ADDR) + !!(type & PERF_SAMPLE_ID) + !!(type & PERF_SAMPLE_STREAM_ID) +
	     !!(type & PERF_SAMPLE_CPU) + !!(type & PERF_SAMPLE_PERIOD);
	if (type & PERF_SAMPLE_CALLCHAIN)
		p += 1 + *p;
	sample->abi = *p++;
	if (!sample->abi)
		return false;
	sample->regs = p;
	p += __builtin_popcountll(attr.sample_regs_user);
	n = *p++;
	sample->stack = (struct str){ (const char *)p, n ? p[n / 8] : 0 };
	return n != 0;
}

static uint64_t shown(const struct map *map, uint64_t ip)
{
	return map && !map->anon ? ip - map->start + map->offset : ip;
}

static uint64_t ends[8], ends_unmapped, left_out, uncopied;
static uint8_t process[1 << 22]; /* by pid: what of it matters, below */

enum { CALLED_EXEC = 1, CHOSEN = 2 };

static uint8_t *facts_of(uint32_t pid)
{
	return &process[pid % (1U << 22)]; /* of PID_MAX_LIMIT */
}

enum { FRAMES_MAX = 127 }; /* perf's */

/* A stack to be unwound again. */
struct again {
	struct sample s;
	struct unwind_code code[FRAMES_MAX];
	unsigned n;
};

static struct again *all;
static size_t nall, cap_all;

static void keep(const struct sample *sample, const struct unwind_code *code, unsigned n)
{
	if (nall == cap_all) {
		cap_all = cap_all ? 2 * cap_all : 256;
		all = realloc(all, cap_all * sizeof(*all));
	}
	all[nall].s = *sample;
	all[nall].n = n;
	memcpy(all[nall++].code, code, n * sizeof(*code));
}

static void time_steps(unsigned repeat)
{
	uint64_t start = now_ns(), frames = 0;

	for (unsigned i = 0; i < repeat; i++) {
		for (size_t k = 0; k < nall; k++) {
			struct unwind_state u;

			unwind_start(&u, attr.sample_regs_user, all[k].s.regs, all[k].s.abi, all[k].s.stack);
			for (unsigned f = 0; f < all[k].n; f++)
				unwind_step(&u, all[k].code[f], f == 0);
			frames += all[k].n;
		}
	}
	fprintf(stderr, "%.1f ns a frame, %" PRIu64 " frames\n", (double)(now_ns() - start) / (double)frames, frames);
}

/* Where code at an address is; false when it is nowhere. */
static bool locate(uint32_t pid, uint64_t at, const struct map **m, struct unwind_code *code)
{
	if (!*m || at - (*m)->start >= (*m)->end - (*m)->start)
		*m = map_of(pid, at);
	*code = (struct unwind_code){ 0 };
	if (*m && (*m)->dso)
		*code = (struct unwind_code){ (*m)->dso->table, (*m)->bias };
	return *m;
}

static void walk(const struct sample *sample)
{
	struct unwind_code code[FRAMES_MAX];
	struct unwind_state u;
	enum unwind_end end = UNWIND_MORE;
	const struct map *m = NULL;
	unsigned n = 0;

	printf("%u %" PRIu64 ".%06" PRIu64, sample->tid, sample->time / 1000000000u, sample->time / 1000 % 1000000);
	if (unwind_start(&u, attr.sample_regs_user, sample->regs, sample->abi, sample->stack)) {
		while (n < FRAMES_MAX && end == UNWIND_MORE) {
			uint64_t at = u.ip - !u.interrupted;
			bool known = locate(sample->pid, at, &m, &code[n]);

			printf(" %" PRIx64, shown(m, at));
			if (!known && u.ip) {
				ends_unmapped++;
				break;
			}
			end = unwind_step(&u, code[n], n == 0);
			n++;
		}
		ends[end]++;
		uncopied += end == UNWIND_STACK_CUT && sample->stack.n == 0;
	}
	printf("\n");
	keep(sample, code, n);
}

static uint64_t time_of(const struct perf_event_header *header)
{
	uint64_t type = attr.sample_type, back;
	struct sample s;

	if (header->type == PERF_RECORD_SAMPLE)
		return parse_sample(header, &s), s.time;
	if (header->type >= 64)
		return 0;
	back = 1U + !!(type & PERF_SAMPLE_ID) + !!(type & PERF_SAMPLE_STREAM_ID) + !!(type & PERF_SAMPLE_CPU) +
	       !!(type & PERF_SAMPLE_IDENTIFIER);
	return *(const uint64_t *)((const char *)header + header->size - 8 * back);
}

static int by_time(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static bool skip_execs, only_chosen;

static bool is_left_out(uint32_t pid)
{
	bool out = skip_execs && *facts_of(pid) & CALLED_EXEC;

	left_out += out;
	return out || (only_chosen && !(*facts_of(pid) & CHOSEN));
}

static void choose(const char *pids)
{
	char *end;

	for (only_chosen = true; *pids; pids = *end ? end + 1 : end)
		*facts_of((uint32_t)strtoul(pids, &end, 10)) |= CHOSEN;
}

static void note_process(const struct perf_event_header *header)
{
	const uint32_t *w = (const uint32_t *)(header + 1);

	if (header->type == PERF_RECORD_COMM && header->misc & PERF_RECORD_MISC_COMM_EXEC)
		*facts_of(w[0]) |= CALLED_EXEC;
}

static void handle(const struct perf_event_header *header)
{
	const uint32_t *w = (const uint32_t *)(header + 1);
	const uint64_t *q = (const uint64_t *)(header + 1);
	struct sample s;

	if (header->type == PERF_RECORD_MMAP2)
		add_map((struct map){ .pid = w[0], .start = q[1], .end = q[1] + q[2], .offset = q[3] },
			(const char *)(q + 8));
	else if (header->type == PERF_RECORD_MMAP)
		add_map((struct map){ .pid = w[0], .start = q[1], .end = q[1] + q[2], .offset = q[3] },
			(const char *)(q + 4));
	else if (header->type == PERF_RECORD_COMM && header->misc & PERF_RECORD_MISC_COMM_EXEC)
		drop_maps(w[0]);
	else if (header->type == PERF_RECORD_FORK && w[0] != w[1] && !(header->misc & PERF_RECORD_MISC_FORK_EXEC) &&
		 !(header->misc & 1 << 13))
		fork_maps(w[0], w[1]);
	else if (header->type == PERF_RECORD_SAMPLE && parse_sample(header, &s) && !is_left_out(s.pid))
		walk(&s);
}

static char *slurp(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	char *p;

	if (size < 0)
		die_errno("%s", path);
	p = malloc((size_t)size + 8);
	if (!p || pread(fd, p, (size_t)size, 0) != size)
		die_errno("%s", path);
	*n = (size_t)size;
	close(fd);
	return p;
}

static void time_opening(char **path)
{
	for (; *path; path++) {
		const char *why = "";
		uint64_t start = now_ns();
		struct unwind_table *t = unwind_table_open(open(*path, O_RDONLY | O_CLOEXEC), &why);

		printf("%.2f ms %s %s\n", (double)(now_ns() - start) / 1e6, *path, why ? why : "");
		unwind_table_close(t);
	}
}

int main(int argc, char **argv)
{
	size_t n, nrecords = 0, cap = 1024;
	struct record *records = calloc(cap, sizeof(*records));
	unsigned repeat = 0;
	bool show_ends = false;
	const uint64_t *head;
	char *data;
	int c;

	diag_tool("walk");
	while ((c = getopt(argc, argv, "t:eoxp:")) != -1) {
		if (c == 't')
			repeat = (unsigned)strtoul(optarg, NULL, 10);
		show_ends |= c == 'e';
		skip_execs |= c == 'x';
		quiet |= c == 'x'; /* of the whole host: files of any kind */
		if (c == 'p')
			choose(optarg);
		if (c == 'o') {
			time_opening(argv + optind);
			return 0;
		}
	}
	data = slurp(argv[optind], &n);
	head = (const uint64_t *)data;
	memcpy(&attr, data + head[3], head[2] - 16 < sizeof(attr) ? head[2] - 16 : sizeof(attr));
	for (size_t at = head[5]; at + 8 <= head[5] + head[6];) {
		const struct perf_event_header *h = (const struct perf_event_header *)(data + at);

		if (nrecords == cap)
			records = realloc(records, (cap *= 2) * sizeof(*records));
		records[nrecords] = (struct record){ time_of(h), h, nrecords };
		note_process(h);
		nrecords++;
		at += h->size;
	}
	qsort(records, nrecords, sizeof(*records), by_time);
	for (size_t i = 0; i < nrecords; i++)
		handle(records[i].h);
	if (repeat)
		time_steps(repeat);
	if (show_ends)
		fprintf(stderr,
			"root %" PRIu64 " cut %" PRIu64 " no code %" PRIu64 " loop %" PRIu64 " unmapped %" PRIu64
			" long %" PRIu64 " exec %" PRIu64 " without a copy %" PRIu64 "\n",
			ends[UNWIND_ROOT], ends[UNWIND_STACK_CUT] - uncopied, ends[UNWIND_NO_CODE], ends[UNWIND_LOOP],
			ends_unmapped, ends[UNWIND_MORE] - ends_unmapped, left_out, uncopied);
	free(records);
	return 0;
}
