/* SPDX-License-Identifier: Apache-2.0 */
/*
 * javawalk [-F HZ] [-w SECONDS] [-s BYTES] [-v] -- COMMAND...: starts a JVM, samples it with registers, a copy of the
 * stack and the frame pointer chain of the kernel, and unwinds every sample while the process lives: native code by
 * cfiunwind.h, Java by javaunwind.h, with the facts of jmap/frames.h, read anew five times a second. For
 * test/runtimes/hotspot/jvmstacks.t.
 *
 * Prints how stacks ended, and how they compare with the frame pointers' on the same samples, which means something
 * where the JVM has -XX:+PreserveFramePointer. -w: begins so long after the start. -s: of the stack (16384). -v: prints
 * the stacks that end badly or differ.
 */
#include "common/diag.h"
#include "runtimes/hotspot/blobframes.h"
#include "runtimes/hotspot/javaunwind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RING_PAGES = 4096, FRAMES_MAX = 1024, CPUS_MAX = 256, MAPS_MAX = 8192 };

static const uint64_t REGS = 0xFFULL | 1 << 8 | 0xFFULL << 16; /* ax..sp, ip, r8-r15 */

/* ---- where code is ----------------------------------------------------------------------------------------------- */

struct dso {
	char *path;
	struct unwind_table *table;
	struct dso *next;
};

struct map {
	uint64_t start, end, bias;
	const struct unwind_table *table;
	const char *name;
};

static struct dso *dsos;
static struct map map[MAPS_MAX];
static size_t nmaps;
static pid_t pid;
static unsigned stack_bytes = 16384;

static const struct dso *dso_of(const char *path, uint64_t start, uint64_t end)
{
	char inside[4200];
	struct dso *d;
	const char *why;
	int fd;

	for (d = dsos; d; d = d->next)
		if (strcmp(d->path, path) == 0)
			return d;
	d = calloc(1, sizeof(*d));
	d->path = strdup(path);
	d->next = dsos;
	dsos = d;
	if (path[0] == '/') {
		snprintf(inside, sizeof(inside), "/proc/%d/root%s", (int)pid, path);
		fd = open(inside, O_RDONLY | O_CLOEXEC);
	} else { /* [vdso], from memory */
		char *copy = malloc(end - start);

		snprintf(inside, sizeof(inside), "/proc/%d/mem", (int)pid);
		int mem = open(inside, O_RDONLY | O_CLOEXEC);
		fd = memfd_create("vdso", MFD_CLOEXEC);
		if (mem < 0 || pread(mem, copy, end - start, (off_t)start) < 0 || write(fd, copy, end - start) < 0)
			close(fd), fd = -1;
		close(mem);
		free(copy);
	}
	if (fd >= 0)
		d->table = unwind_table_open(fd, &why);
	return d;
}

static void read_maps(void)
{
	char path[64], line[4400];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return;
	nmaps = 0;
	while (nmaps < MAPS_MAX && fgets(line, sizeof(line), f)) {
		char *end, *name = strchr(line, '/');
		struct map *m = &map[nmaps];
		uint64_t offset;

		*m = (struct map){ .start = strtoull(line, &end, 16), .name = "" };
		m->end = strtoull(end + 1, &end, 16);
		if (end[3] != 'x')
			continue;
		offset = strtoull(end + 5, NULL, 16);
		line[strcspn(line, "\n")] = 0;
		if (!name)
			name = strstr(line, "[vdso]");
		if (name) {
			const struct dso *d = dso_of(name, m->start, m->end);

			m->name = d->path;
			m->table = d->table;
			if (m->table && !unwind_table_bias(m->table, m->start, offset, &m->bias))
				m->table = NULL;
		}
		nmaps++;
	}
	fclose(f);
}

static const struct map *map_of(uint64_t at)
{
	size_t low = 0, high = nmaps;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (at < map[mid].start)
			high = mid;
		else if (at >= map[mid].end)
			low = mid + 1;
		else
			return &map[mid];
	}
	return NULL;
}

/* ---- the JVM ----------------------------------------------------------------------------------------------------- */

static struct jvm_process process;
static struct hotspot jvm;
static struct blobframes frames;

static bool read_code(void *arg, uint64_t at, void *to, size_t n)
{
	(void)arg;
	return memory_read(&jvm.memory, at, to, n);
}

static bool is_code(void *arg, uint64_t at)
{
	(void)arg;
	return map_of(at);
}

/* Until the JVM can be looked at. */
static bool open_jvm(void)
{
	struct hotspot_reason r = { 0 };
	const char *why = NULL;

	for (unsigned i = 0; i < 300; i++) {
		if (discover_one("/proc", pid, &process)) {
			r = hotspot_open(&jvm, &process);
			if (!r.code)
				r = hotspot_scan(&jvm);
			if (!r.code)
				why = blobframes_open(&frames, &jvm);
			if (!r.code && !why)
				return true;
			hotspot_close(&jvm);
			jvm_process_close(&process);
		}
		usleep(20000);
	}
	fprintf(stderr, "javawalk: %s\n", why ? why : r.why);
	return false;
}

static bool look(void)
{
	if (hotspot_scan(&jvm).code || blobframes_take(&frames, &jvm))
		return false;
	frames.code.read = read_code;
	frames.code.is_code = is_code;
	return true;
}

/* ---- sampling ---------------------------------------------------------------------------------------------------- */

struct sample {
	uint64_t ip, time;
	uint32_t tid;
	const uint64_t *chain, *regs;
	uint64_t nchain, abi;
	struct str stack;
};

static struct perf_event_mmap_page *ring[CPUS_MAX];
static unsigned nrings;
static uint64_t lost;
static char *saved; /* records that wait */
static size_t nkept, cap_saved;

static void open_events(unsigned hz)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .size = sizeof(a),
				     .config = PERF_COUNT_SW_CPU_CLOCK,
				     .freq = 1,
				     .sample_freq = hz,
				     .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						    PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
						    PERF_SAMPLE_STACK_USER,
				     .disabled = 1,
				     .inherit = 1,
				     .enable_on_exec = 1,
				     .exclude_callchain_kernel = 1,
				     .sample_regs_user = REGS,
				     .sample_stack_user = stack_bytes };
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (int cpu = 0; cpu < cpus && cpu < CPUS_MAX; cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &a, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		void *p;

		if (fd < 0 && errno == ENODEV)
			continue;
		if (fd < 0) {
			printf("1..0 # SKIP perf_event_open: %s\n", strerror(errno));
			kill(pid, SIGKILL);
			exit(77);
		}
		p = mmap(NULL, (RING_PAGES + 1) * 4096UL, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED)
			die_errno("ring");
		ring[nrings++] = p;
	}
}

static void keep_bytes(const char *data, uint64_t at, size_t n)
{
	const uint64_t size = RING_PAGES * 4096UL;

	if (nkept + n > cap_saved) {
		cap_saved = 2 * (nkept + n);
		saved = realloc(saved, cap_saved);
	}
	for (size_t done = 0, part; done < n; done += part) {
		uint64_t from = (at + done) % size;

		part = n - done < size - from ? n - done : (size_t)(size - from);
		memcpy(saved + nkept + done, data + from, part);
	}
	nkept += n;
}

static void drain(void)
{
	for (unsigned i = 0; i < nrings; i++) {
		uint64_t head = __atomic_load_n(&ring[i]->data_head, __ATOMIC_ACQUIRE), tail = ring[i]->data_tail;

		keep_bytes((const char *)ring[i] + 4096, tail, (size_t)(head - tail));
		__atomic_store_n(&ring[i]->data_tail, head, __ATOMIC_RELEASE);
	}
}

static bool parse_sample(const struct perf_event_header *header, struct sample *sample)
{
	const uint64_t *p = (const uint64_t *)(header + 1);
	uint64_t n;

	*sample = (struct sample){
		.ip = p[0], .tid = (uint32_t)(p[1] >> 32), .time = p[2], .nchain = p[3], .chain = p + 4
	};
	p += 4 + sample->nchain;
	sample->abi = *p++;
	if (!sample->abi)
		return false;
	sample->regs = p;
	p += __builtin_popcountll(REGS);
	n = *p++;
	sample->stack = (struct str){ (const char *)p, n ? p[n / 8] : 0 };
	return n != 0;
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

struct walked {
	uint64_t ip[FRAMES_MAX]; /* physical program counters */
	struct javaunwind_frame frame[FRAMES_MAX];
	bool java[FRAMES_MAX];
	unsigned n;
	enum unwind_end end;
	struct unwind_state last;
};

static uint64_t ends[8], samples, in_java, beyond, nframes, java_frames, interpreted;

static void walk(const struct sample *sample, struct walked *walked)
{
	struct unwind_state u;

	walked->n = 0;
	walked->end = UNWIND_MORE;
	if (!unwind_start(&u, REGS, sample->regs, sample->abi, sample->stack))
		return;
	while (walked->n < FRAMES_MAX && walked->end == UNWIND_MORE) {
		const struct code_blob *p = javaunwind_find(&frames.code, &u);
		struct javaunwind_frame *f = &walked->frame[walked->n];
		const struct map *m = p ? NULL : map_of(u.ip - !u.interrupted);
		struct unwind_code code = { 0 };

		walked->ip[walked->n] = u.ip;
		walked->java[walked->n] = p;
		*f = (struct javaunwind_frame){ .address = u.ip, .exact = u.interrupted };
		walked->n++;
		if (p) {
			walked->end = javaunwind_step(&u, &frames.code, p, f);
			continue;
		}
		if (m)
			code = (struct unwind_code){ m->table, m->bias };
		walked->end = m && m->name[0] ? unwind_step(&u, code, walked->n == 1) : UNWIND_NO_CODE;
	}
	walked->last = u;
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

enum verdict { SAME, FP_LOST_ONE, FP_SHORT, OTHER, NVERDICTS };

static uint64_t verdicts[NVERDICTS];

/* What the frame pointers say: user part of the kernel's chain. */
static unsigned by_pointers(const struct sample *sample, uint64_t *ip)
{
	unsigned n = 0;

	for (uint64_t i = 0; i < sample->nchain && n < FRAMES_MAX; i++)
		if (sample->chain[i] < PERF_CONTEXT_MAX)
			ip[n++] = sample->chain[i];
	return n;
}

/* Up to where native code called Java. */
static unsigned java_part(const uint64_t *ip, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (ip[i] == frames.code.call_stub_return)
			return i + 1;
	return n;
}

static bool equal(const uint64_t *a, const uint64_t *b, unsigned n)
{
	return memcmp(a, b, n * sizeof(*a)) == 0;
}

static enum verdict compare(const uint64_t *ours, unsigned n, const uint64_t *theirs, unsigned m)
{
	if (n == m && equal(ours, theirs, n))
		return SAME;
	/* that of code without a frame: where it was interrupted, a stub that it called, or an adapter */
	for (unsigned at = 1; at <= 3; at++)
		if (n == m + 1 && m >= at && equal(ours, theirs, at) && equal(ours + at + 1, theirs + at, m - at))
			return FP_LOST_ONE;
	if (m < n && (equal(ours, theirs, m) || (ours[0] == theirs[0] && equal(ours + 2, theirs + 1, m - 1))) &&
	    theirs[m - 1] != frames.code.call_stub_return)
		return FP_SHORT;
	return OTHER;
}

static void show_pc(uint64_t ip)
{
	const struct map *m = map_of(ip);
	struct text t = { 0 };

	for (size_t i = 0; i < jvm.code.n; i++) {
		const struct blob *b = &jvm.code.blob[i];

		if (ip - 1 - b->begin < b->end - b->begin || ip == b->begin) {
			hotspot_name(&jvm, b, METHOD_JAVA, &t);
			fprintf(stderr, "    %" PRIx64 " %.*s+%" PRIx64 " (%d)\n", ip, (int)t.n, t.p, ip - b->begin,
				b->level);
			text_free(&t);
			return;
		}
	}
	fprintf(stderr, "    %" PRIx64 " %s\n", ip, m ? m->name : "?");
}

static void show(const char *what, const uint64_t *ip, unsigned n)
{
	fprintf(stderr, "  %s\n", what);
	for (unsigned i = 0; i < n && i < 60; i++)
		show_pc(ip[i]);
}

static void show_bytes(uint64_t ip)
{
	unsigned char b[48];

	if (!memory_read(&jvm.memory, ip - 24, b, sizeof(b)))
		return;
	fprintf(stderr, "  bytes");
	for (unsigned i = 0; i < sizeof(b); i++)
		fprintf(stderr, i == 24 ? " | %02x" : " %02x", b[i]);
	fprintf(stderr, "\n");
}

static void show_state(const struct unwind_state *state)
{
	fprintf(stderr, "  sp %" PRIx64 " bp %" PRIx64 " valid %x\n", state->sp, state->bp, state->valid);
	for (uint64_t at = state->sp - 32; at < state->sp + 160; at += 8)
		if (at - state->stack_start + 8 <= state->stack.n)
			fprintf(stderr, "  %" PRIx64 ": %016" PRIx64 "\n", at,
				*(const uint64_t *)(state->stack.p + (at - state->stack_start)));
	for (uint64_t at = state->bp - 80; at < state->bp + 24; at += 8)
		if (at - state->stack_start + 8 <= state->stack.n)
			fprintf(stderr, "  bp %" PRIx64 ": %016" PRIx64 "\n", at,
				*(const uint64_t *)(state->stack.p + (at - state->stack_start)));
}

static void take(const struct sample *sample, bool verbose)
{
	static const char *const name[] = { "more", "root", "cut", "no code", "loop" };
	static struct walked w;
	uint64_t fp[FRAMES_MAX], ours[FRAMES_MAX];
	unsigned nfp, n = 0, m;
	enum verdict v;

	walk(sample, &w);
	if (w.n == 0)
		return;
	samples++;
	ends[w.end]++;
	nframes += w.n;
	for (unsigned i = 0; i < w.n; i++) {
		beyond += w.frame[i].beyond;
		java_frames += w.java[i];
		interpreted += w.frame[i].method;
		if (i && w.ip[i] == frames.code.continuation_return && w.ip[i - 1] != w.ip[i] && w.frame[i - 1].thawed)
			continue;
		ours[n++] = w.ip[i];
	}
	if (verbose && w.end != UNWIND_ROOT) {
		fprintf(stderr, "%s tid %u\n", name[w.end], sample->tid);
		show("ours", w.ip, w.n);
		show_state(&w.last);
		show_bytes(w.ip[w.n - 1]);
	}
	if (!w.java[0])
		return;
	in_java++;
	nfp = by_pointers(sample, fp);
	m = java_part(fp, nfp);
	n = java_part(ours, n);
	if (m == 0 || (m == nfp && m >= 126 && n > m)) { /* the kernel's chains end there */
		n = m;
		if (m == 0)
			return;
	}
	v = compare(ours, n, fp, m);
	verdicts[v]++;
	if (verbose && v >= FP_SHORT) {
		fprintf(stderr, "%s tid %u\n", v == OTHER ? "OTHER" : "FP_SHORT", sample->tid);
		show("ours", ours, n);
		show("fp", fp, m);
		show_bytes(ours[0]);
	}
}

static void take_all(bool verbose)
{
	for (size_t at = 0; at + sizeof(struct perf_event_header) <= nkept;) {
		const struct perf_event_header *h = (const struct perf_event_header *)(saved + at);
		struct sample s;

		if (h->type == PERF_RECORD_LOST)
			lost += ((const uint64_t *)(h + 1))[1];
		if (h->type == PERF_RECORD_SAMPLE && parse_sample(h, &s))
			take(&s, verbose);
		at += h->size;
	}
	nkept = 0;
}

/* Waits until something is written: events are opened before it is another program. */
static int start(char **argv)
{
	int go[2];
	char byte;

	if (pipe2(go, O_CLOEXEC) < 0)
		die_errno("pipe");
	pid = fork();
	if (pid < 0)
		die_errno("fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (read(go[0], &byte, 1) == 1)
			execvp(argv[0], argv);
		_exit(127);
	}
	return go[1];
}

int main(int argc, char **argv)
{
	unsigned hz = 999, rounds = 0;
	double wait_s = 0;
	bool verbose = false;
	int c, go, status = 0;

	diag_tool("javawalk");
	while ((c = getopt(argc, argv, "+F:w:s:v")) != -1) {
		if (c == 'F')
			hz = (unsigned)strtoul(optarg, NULL, 10);
		else if (c == 's')
			stack_bytes = (unsigned)strtoul(optarg, NULL, 10);
		else if (c == 'w')
			wait_s = strtod(optarg, NULL);
		else
			verbose |= c == 'v';
	}
	go = start(argv + optind);
	open_events(hz);
	if (write(go, "", 1) != 1)
		die_errno("pipe");
	if (!open_jvm())
		return 1;
	for (drain(); wait_s > 0; wait_s -= 0.2, drain()) {
		usleep(200000);
		nkept = 0;
	}
	nkept = 0;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		usleep(200000);
		drain();
		if (rounds++ % 5 == 0)
			read_maps();
		if (look())
			take_all(verbose);
	}
	printf("samples %" PRIu64 " lost %" PRIu64 " root %" PRIu64 " cut %" PRIu64 " nocode %" PRIu64 " loop %" PRIu64
	       " long %" PRIu64 " frames %" PRIu64 " java %" PRIu64 " interpreted %" PRIu64 " beyond %" PRIu64
	       " leaf %" PRIu64 " same %" PRIu64 " lostone %" PRIu64 " short %" PRIu64 " other %" PRIu64 "\n",
	       samples, lost, ends[UNWIND_ROOT], ends[UNWIND_STACK_CUT], ends[UNWIND_NO_CODE], ends[UNWIND_LOOP],
	       ends[UNWIND_MORE], nframes, java_frames, interpreted, beyond, in_java, verdicts[SAME],
	       verdicts[FP_LOST_ONE], verdicts[FP_SHORT], verdicts[OTHER]);
	return status != 0;
}
