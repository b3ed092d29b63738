/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write - makes a perf.data of any layout, the same bytes for the same arguments, on stdout.
 *
 *	write KEY=VALUE...
 *	sample=0x1e7  sample_type      read=0x4    read_format     idall=1  sample_id_all   events=1  branch=0
 *regs=0xff0fff pipe=0  zstd=0 (1: COMPRESSED, 2: COMPRESSED2, 3: with overflowing sizes)   rounds=4 (0: no
 *FINISHED_ROUND) samples=40 (a round)  cpus=2  chain=6 (deepest)  attr=128 (size)  names=1  desc=1 (features)  seed=1
 *	mixed=0 (1: the events have different sample_types)  killed=0 (1: as kill -9 leaves it)  strange=0 (1: unknown
 *records, features) pj=0 (1: what pjrecord says beyond perf, what is known at the start in front of the data, too; 2:
 *damaged; 3: 1, and stacks that it walked, with frames of interpreted Java methods) deferred=0 (1: callchains of user
 *space come later) cgroups=0 (so many, of all shapes; with sample=0x2...) misled=0 (1: mappings without build-id are
 *marked as if they had one, as Linux does while another recorder asks for build-ids) odd=0 (1: what is rare: marks that
 *are none, guests, modules, JITs, many threads and maps, stacks that can be walked through
 *	test/fuzz/symfs/usr/bin/worker)
 */
#include "common/formats/perfrecord.h"
#include "common/formats/pjsection.h"
#include "common/text.h"
#include "common/diag.h"

#include <stdio.h>
#include <stdlib.h>
#ifdef PJ_ZSTD
#include <zstd.h>
#endif

static struct {
	const char *name;
	uint64_t value;
} option[] = { { "sample", 0x1e7 },  { "read", 4 },   { "idall", 1 },   { "events", 1 },  { "branch", 0 },
	       { "regs", 0xff0fff }, { "pipe", 0 },   { "zstd", 0 },    { "rounds", 4 },  { "samples", 40 },
	       { "cpus", 2 },        { "chain", 6 },  { "attr", 128 },  { "names", 1 },   { "desc", 1 },
	       { "seed", 1 },        { "mixed", 0 },  { "killed", 0 },  { "strange", 0 }, { "deferred", 0 },
	       { "odd", 0 },         { "misled", 0 }, { "cgroups", 0 }, { "pj", 0 } };

static uint64_t opt(const char *name)
{
	for (size_t i = 0; i < countof(option); i++)
		if (strcmp(option[i].name, name) == 0)
			return option[i].value;
	die("no option %s", name);
}

static uint64_t state;

/* One call an expression: operands and arguments are evaluated in any order, and each compiler has its own. */
static uint64_t any(uint64_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % below;
}

static void u16(struct text *t, unsigned v)
{
	uint16_t x = (uint16_t)v;

	text_bytes(t, &x, sizeof(x));
}

static void u32(struct text *t, uint64_t v)
{
	uint32_t x = (uint32_t)v;

	text_bytes(t, &x, sizeof(x));
}

static void u64(struct text *t, uint64_t v)
{
	text_bytes(t, &v, sizeof(v));
}

static void align(struct text *t, size_t start)
{
	while ((t->n - start) % 8)
		text_char(t, 0);
}

static void string(struct text *t, const char *s) /* NUL and padding behind it */
{
	size_t start = t->n;

	text_bytes(t, s, strlen(s) + 1);
	align(t, start);
}

static size_t begin(struct text *t, uint32_t type, unsigned misc)
{
	size_t start = t->n;

	u32(t, type);
	u16(t, misc);
	u16(t, 0);
	return start;
}

static void end(struct text *t, size_t start)
{
	size_t n = t->n - start;
	uint16_t size = (uint16_t)n;

	if (n > PERF_RECORD_MAX)
		die("a record of %zu bytes", n);
	memcpy(t->p + start + 6, &size, sizeof(size));
}

/* ---- events -------------------------------------------------------------------------------------------------- */

static const struct {
	uint32_t type;
	uint64_t config;
	const char *name;
} event[] = { { PERF_TYPE_SOFTWARE, 0, "cpu-clock:ppp" },
	      { PERF_TYPE_HARDWARE, 0, "cycles" },
	      { PERF_TYPE_SOFTWARE, 9, "dummy:HG" },
	      { PERF_TYPE_HW_CACHE, 0x10000, "L1-dcache-load-misses" },
	      { PERF_TYPE_SOFTWARE, 2, "page-faults:u" } };

static uint64_t sample_type(uint64_t e)
{
	uint64_t s = opt("sample");

	return opt("mixed") && e % 2 ? s ^ (PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN) : s;
}

static uint64_t id_of(uint64_t e, uint64_t cpu)
{
	return 1000 + 10 * e + cpu;
}

static void put_attr(struct text *t, uint64_t e)
{
	struct perf_event_attr a = { .type = event[e].type,
				     .size = (uint32_t)opt("attr"),
				     .config = event[e].config,
				     .sample_period = 4000000,
				     .sample_type = sample_type(e),
				     .read_format = opt("read"),
				     .sample_id_all = opt("idall") & 1,
				     .branch_sample_type = opt("branch"),
				     .sample_regs_user = opt("regs"),
				     .sample_regs_intr = opt("regs"),
				     .sample_stack_user = 64,
				     .exclude_guest = 1,
				     .precise_ip = e == 0 ? 3 : 0 };
	size_t size = a.size, known = size < sizeof(a) ? size : sizeof(a);

	text_bytes(t, &a, known);
	for (; known < size; known++)
		text_char(t, 0);
}

/* ---- records ------------------------------------------------------------------------------------------------- */

struct where {
	uint64_t event, cpu, time;
	uint32_t pid, tid;
	bool made; /* by perf: zeroes in the trailer */
};

static void put_trailer(struct text *t, const struct where *w)
{
	uint64_t s = sample_type(w->event);

	if (!opt("idall"))
		return;
	if (s & PERF_SAMPLE_TID) {
		u32(t, w->made ? 0 : w->pid);
		u32(t, w->made ? 0 : w->tid);
	}
	if (s & PERF_SAMPLE_TIME)
		u64(t, w->made ? 0 : w->time);
	if (s & PERF_SAMPLE_ID)
		u64(t, w->made ? 0 : id_of(w->event, w->cpu));
	if (s & PERF_SAMPLE_STREAM_ID)
		u64(t, w->made ? 0 : 77);
	if (s & PERF_SAMPLE_CPU)
		u64(t, w->made ? 0 : w->cpu);
	if (s & PERF_SAMPLE_IDENTIFIER)
		u64(t, w->made ? 0 : id_of(w->event, w->cpu));
}

static void put_comm(struct text *t, const struct where *w, const char *comm, bool exec)
{
	size_t start = begin(t, RECORD_COMM, exec ? MISC_COMM_EXEC : 0);

	u32(t, w->pid);
	u32(t, w->tid);
	string(t, comm);
	put_trailer(t, w);
	end(t, start);
}

static void put_task(struct text *t, const struct where *w, bool fork, uint32_t parent)
{
	size_t start = begin(t, fork ? RECORD_FORK : RECORD_EXIT, fork && w->made ? MISC_FORK_EXEC : 0);

	u32(t, w->pid);
	u32(t, parent);
	u32(t, w->tid);
	u32(t, parent);
	u64(t, w->time);
	put_trailer(t, w);
	end(t, start);
}

static void put_mmap(struct text *t, const struct where *w, uint64_t address, const char *path)
{
	size_t start = begin(t, RECORD_MMAP, w->pid == UINT32_MAX ? 1 : 2);

	u32(t, w->pid);
	u32(t, w->tid);
	u64(t, address);
	u64(t, 0x100000);
	u64(t, w->pid == UINT32_MAX ? address : 0);
	string(t, path);
	put_trailer(t, w);
	end(t, start);
}

static void put_mmap2(struct text *t, const struct where *w, uint64_t address, const char *path, bool build_id)
{
	size_t start = begin(t, RECORD_MMAP2, 2u | (build_id || opt("misled") ? MISC_MMAP_BUILD_ID : 0u));

	u32(t, w->pid);
	u32(t, w->tid);
	u64(t, address);
	u64(t, 0x20000);
	u64(t, 0x1000);
	if (build_id) {
		u32(t, 20);
		for (int i = 0; i < 20; i++)
			text_char(t, (char)(address >> 12 ^ (unsigned)i));
	} else {
		u32(t, 8);
		u32(t, 1);
		u64(t, 123456 + any(1000));
		u64(t, 7);
	}
	u32(t, 5);
	u32(t, 2);
	string(t, path);
	put_trailer(t, w);
	end(t, start);
}

static void put_lost(struct text *t, const struct where *w)
{
	size_t start = begin(t, RECORD_LOST, 0);

	u64(t, id_of(w->event, w->cpu));
	u64(t, 1 + any(100));
	put_trailer(t, w);
	end(t, start);
	start = begin(t, RECORD_LOST_SAMPLES, 0);
	u64(t, 1 + any(100));
	put_trailer(t, w);
	end(t, start);
}

static void put_throttle(struct text *t, const struct where *w)
{
	for (unsigned i = 0; i < 2; i++) {
		size_t start = begin(t, i ? RECORD_UNTHROTTLE : RECORD_THROTTLE, 0);

		u64(t, w->time);
		u64(t, id_of(w->event, w->cpu));
		u64(t, 77);
		put_trailer(t, w);
		end(t, start);
	}
}

static void put_namespaces(struct text *t, const struct where *w)
{
	size_t start = begin(t, RECORD_NAMESPACES, 0);

	u32(t, w->pid);
	u32(t, w->tid);
	u64(t, 7);
	for (unsigned i = 0; i < 7; i++) {
		u64(t, 4);
		u64(t, 0xf0000000 + i);
	}
	put_trailer(t, w);
	end(t, start);
}

static void put_cgroup(struct text *t, const struct where *w)
{
	size_t start = begin(t, RECORD_CGROUP, 0);

	u64(t, 42);
	string(t, "/system.slice/a;b.service");
	put_trailer(t, w);
	end(t, start);
}

static const char *const cgroup[] = {
	"/",
	"/system.slice/nginx.service",
	"/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope",
	"/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod11111111_2222_3333_4444_555555555555.slice/"
	"cri-containerd-fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210.scope",
	"/kubepods/besteffort/pod11111111-2222-3333-4444-555555555555/"
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	"/kubepods/pod66666666-7777-8888-9999-000000000000/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
	"/lxc.payload.web/system.slice/ssh.service",
};

static uint64_t cgroup_number(uint64_t i)
{
	return UINT64_C(0x100000000) * i + 7;
}

static void put_cgroups(struct text *t, const struct where *w)
{
	for (uint64_t i = 0; i < opt("cgroups") && i < countof(cgroup); i++) {
		size_t start = begin(t, RECORD_CGROUP, 0);

		u64(t, cgroup_number(i));
		string(t, cgroup[i]);
		put_trailer(t, w);
		end(t, start);
	}
}

static void put_ksymbol(struct text *t, const struct where *w, bool gone)
{
	size_t start = begin(t, RECORD_KSYMBOL, 0);

	u64(t, 0xffffffffc0100000);
	u32(t, 0x80);
	u16(t, 1);
	u16(t, gone);
	string(t, "bpf_prog_6deef7357e7b4530_x");
	put_trailer(t, w);
	end(t, start);
}

static void put_untrusted(struct text *t, const struct where *w)
{
	size_t start = begin(t, 40, 0x7777);

	u64(t, any(1 << 30));
	put_trailer(t, w);
	end(t, start);
	start = begin(t, 200, 0);
	u64(t, 5);
	end(t, start);
}

static uint64_t counter[8][64];

static void put_values(struct text *t, const struct where *w)
{
	uint64_t format = opt("read"), n = format & PERF_FORMAT_GROUP ? opt("events") : 1;

	if (format & PERF_FORMAT_GROUP)
		u64(t, n);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t e = format & PERF_FORMAT_GROUP ? i : w->event;

		if (!(format & PERF_FORMAT_GROUP))
			u64(t, counter[e][w->cpu] += any(3) * 1000);
		if (i == 0 && format & PERF_FORMAT_TOTAL_TIME_ENABLED)
			u64(t, 1000000);
		if (i == 0 && format & PERF_FORMAT_TOTAL_TIME_RUNNING)
			u64(t, 900000);
		if (format & PERF_FORMAT_GROUP)
			u64(t, counter[e][w->cpu] += any(3) * 1000);
		if (format & PERF_FORMAT_ID)
			u64(t, id_of(e, w->cpu));
		if (format & FORMAT_LOST)
			u64(t, any(5));
	}
}

enum { WORKER = 0x400000, WORKER_SIZE = 0xe6, JIT = 0x1000, STACK_AT = 0x7ffe0000, STACK = 64 };

static uint64_t odd_address(void)
{
	static const uint64_t mark[] = { (uint64_t)-32,      CONTEXT_GUEST, CONTEXT_GUEST_USER,
					 CONTEXT_HYPERVISOR, (uint64_t)-5,  CONTEXT_USER };
	uint64_t at;

	switch (any(16)) {
	case 0: return mark[any(countof(mark))];
	case 1:
	case 2:
		at = any(2) ? 0xffffffffc0100000 : 0xffffffffc0000000; /* a module, BPF */
		return at + any(0x100);
	case 3:
	case 4:
	case 5: at = JIT + any(0x30); return at + any(3) * 0x1000;
	case 6: return any(2) ? 0 : 0x7f0000000000 + any(1 << 24);
	default: return WORKER + any(WORKER_SIZE);
	}
}

enum { METHOD_AT = 0x50000, METHODS = 6, METHOD_SIZE = 0x58 };

/* As pjrecord walks a stack: interpreted methods behind a mark, return addresses behind them. */
static void put_walked(struct text *t)
{
	size_t start = t->n;
	uint64_t n = 1 + any(opt("chain")), interpreted, method;

	u64(t, 0);
	u64(t, CONTEXT_USER);
	for (uint64_t i = 0; i < n; i++) {
		interpreted = any(2);
		method = any(METHODS);
		if (interpreted && i)
			u64(t, CONTEXT_USER);
		u64(t, interpreted ? METHOD_AT + METHOD_SIZE * method : 0x400000 + any(1 << 16));
	}
	n = (t->n - start) / 8 - 1;
	memcpy(t->p + start, &n, sizeof(n));
}

/* The first and the second have names; the third has none, the fourth two, the fifth is not told. The last is that of
 * one process, as is all of another that nobody sampled. */
static void put_method(struct text *t, uint64_t i, const char *name)
{
	struct pj_method m = { METHOD_AT + METHOD_SIZE * i, (uint32_t)strlen(name) };

	text_bytes(t, &m, sizeof(m));
	text_add(t, name);
}

static void put_methods(struct text *t, uint32_t pid)
{
	struct pj_methods m = { pid, pid == 100 ? 2 : 0 };
	struct text item = { 0 };

	text_bytes(&item, &m, sizeof(m));
	put_method(&item, 3, "void a.B.h()");
	put_method(&item, 1, "void a.B$$Lambda/0x00007f04bc002aa0.run()");
	put_method(&item, 0, "java.lang.Object a.B.f(int, java.lang.String[])");
	put_method(&item, 3, "void a.C.h()");
	put_method(&item, 2, "");
	put_method(&item, 0, "java.lang.Object a.B.f(int, java.lang.String[])");
	if (pid == 101)
		put_method(&item, 5, "int a.Only.here()");
	u32(t, PJ_ITEM_METHODS);
	u32(t, item.n);
	text_str(t, text_view(&item));
	for (size_t n = item.n; n % 8; n++)
		text_char(t, 0);
	text_free(&item);
}

static void put_chain(struct text *t)
{
	uint64_t n = any(opt("chain") + 1), kernel = any(n + 1);
	bool deferred = opt("deferred");

	u64(t, n + 2 + (deferred ? 1 : 0));
	u64(t, CONTEXT_KERNEL);
	for (uint64_t i = 0; i < n; i++) {
		if (i == kernel)
			u64(t, CONTEXT_USER);
		u64(t, opt("odd") ? odd_address() : (i < kernel ? 0xffffffff81000000 : 0x400000) + any(1 << 20));
	}
	if (kernel == n)
		u64(t, deferred ? CONTEXT_USER_DEFERRED : CONTEXT_USER);
	else if (deferred)
		u64(t, CONTEXT_USER_DEFERRED);
	if (deferred)
		u64(t, 0x1234);
	if (deferred && kernel == n)
		return;
}

static void put_registers(struct text *t)
{
	if (any(4) == 0) {
		u64(t, 0);
		return;
	}
	u64(t, 2);
	for (unsigned i = 0; i < 64; i++) {
		if (!(opt("regs") >> i & 1))
			continue;
		if (!opt("odd"))
			u64(t, any(1 << 30));
		else /* rbp, rsp, rip */
			u64(t, i == 6 ? STACK_AT + 8 * any(8) :
			       i == 7 ? STACK_AT :
			       i == 8 ? WORKER + any(WORKER_SIZE) :
					i);
	}
}

static void put_branches(struct text *t)
{
	uint64_t n = any(4);

	u64(t, n);
	if (opt("branch") & BRANCH_HW_INDEX)
		u64(t, any(16));
	for (uint64_t i = 0; i < n; i++) {
		u64(t, 0x400000 + any(1 << 20));
		u64(t, 0x400000 + any(1 << 20));
		u64(t, 1);
	}
	for (uint64_t i = 0; opt("branch") & BRANCH_COUNTERS && i < n; i++)
		u64(t, 3);
}

static void put_stack(struct text *t)
{
	uint64_t n = opt("odd") ? STACK : any(3) * 32;

	u64(t, n);
	for (uint64_t i = 0; i < n; i += 8)
		u64(t, !opt("odd") ? any(1 << 30) : any(3) ? WORKER + any(WORKER_SIZE) : STACK_AT + i + 8 * any(4));
	if (n)
		u64(t, opt("odd") && any(4) ? n : any(n + 1));
}

static void put_raw(struct text *t)
{
	uint64_t n = any(4) * 8 + 4;

	u32(t, n);
	for (; n; n--)
		text_char(t, (char)any(256));
}

static void put_sample_end(struct text *t, uint64_t s)
{
	if (s & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		u64(t, any(1000));
	if (s & PERF_SAMPLE_DATA_SRC)
		u64(t, 0x68100142);
	if (s & PERF_SAMPLE_TRANSACTION)
		u64(t, 0);
	if (s & PERF_SAMPLE_REGS_INTR)
		put_registers(t);
	if (s & PERF_SAMPLE_PHYS_ADDR)
		u64(t, any(1 << 30));
	if (s & PERF_SAMPLE_CGROUP) /* one more than records tell of */
		u64(t, opt("cgroups") ? cgroup_number(any(opt("cgroups") + 1)) : 42);
	if (s & PERF_SAMPLE_DATA_PAGE_SIZE)
		u64(t, 4096);
	if (s & PERF_SAMPLE_CODE_PAGE_SIZE)
		u64(t, 4096);
	if (s & PERF_SAMPLE_AUX) {
		u64(t, 16);
		u64(t, any(1 << 30));
		u64(t, any(1 << 30));
	}
}

static void put_sample(struct text *t, const struct where *w)
{
	uint64_t s = sample_type(w->event);
	size_t start = begin(t, RECORD_SAMPLE, any(2) ? 1 : 2);

	if (s & PERF_SAMPLE_IDENTIFIER)
		u64(t, id_of(w->event, w->cpu));
	if (s & PERF_SAMPLE_IP)
		u64(t, 0x400000 + any(1 << 20));
	if (s & PERF_SAMPLE_TID) {
		u32(t, w->pid);
		u32(t, w->tid);
	}
	if (s & PERF_SAMPLE_TIME)
		u64(t, w->time);
	if (s & PERF_SAMPLE_ADDR)
		u64(t, any(1 << 30));
	if (s & PERF_SAMPLE_ID)
		u64(t, id_of(w->event, w->cpu));
	if (s & PERF_SAMPLE_STREAM_ID)
		u64(t, 77);
	if (s & PERF_SAMPLE_CPU)
		u64(t, w->cpu);
	if (s & PERF_SAMPLE_PERIOD)
		u64(t, 1 + any(1 << 20));
	if (s & PERF_SAMPLE_READ)
		put_values(t, w);
	if (s & PERF_SAMPLE_CALLCHAIN && opt("pj") == 3)
		put_walked(t);
	else if (s & PERF_SAMPLE_CALLCHAIN)
		put_chain(t);
	if (s & PERF_SAMPLE_RAW)
		put_raw(t);
	if (s & PERF_SAMPLE_BRANCH_STACK)
		put_branches(t);
	if (s & PERF_SAMPLE_REGS_USER)
		put_registers(t);
	if (s & PERF_SAMPLE_STACK_USER)
		put_stack(t);
	put_sample_end(t, s);
	end(t, start);
}

static void put_deferred(struct text *t, const struct where *w)
{
	size_t start = begin(t, RECORD_CALLCHAIN_DEFERRED, 2);

	u64(t, 0x1234);
	u64(t, 3);
	u64(t, CONTEXT_USER);
	u64(t, 0x400100);
	u64(t, 0x400200);
	put_trailer(t, w);
	end(t, start);
}

/* What perf writes about what runs already. */
static void put_state(struct text *t)
{
	struct where w = { .made = true, .pid = UINT32_MAX };

	put_cgroups(t, &w);
	put_mmap(t, &w, 0xffffffff81000000, "[kernel.kallsyms]_text");
	for (uint32_t i = 0; i < 3; i++) {
		w.pid = w.tid = 100 + i;
		put_task(t, &w, true, i ? 100 : 1);
		put_comm(t, &w, i == 2 ? "a b:c" : "worker", false);
		put_mmap2(t, &w, 0x400000, "/usr/bin/worker", i == 1);
	}
}

/* Few records have all of this. */
static void put_odd_state(struct text *t)
{
	struct where w = { .made = true, .pid = UINT32_MAX };

	put_mmap(t, &w, 0xffffffffc0000000, "/lib/modules/6.1/kernel/odd-one.ko.xz");
	put_mmap(t, &w, 0xffffffffc1000000, "[two]");
	for (uint32_t i = 0; i < 3; i++) {
		w.pid = w.tid = 100 + i;
		put_mmap2(t, &w, JIT, i == 2 ? "/memfd:doublemapper" : "//anon", false);
		put_mmap2(t, &w, 0x200000, i == 0 ? "/tmp/jit-100.dump" : "[heap]", false);
		put_mmap2(t, &w, 0x400000, "/usr/bin/worker", i == 1); /* the second over the first */
		put_mmap2(t, &w, 0x40a000, "[vdso]", false);
	}
}

static void put_odd(struct text *t, struct where *w)
{
	char path[40];
	bool marked;

	switch (any(8)) {
	case 0: w->pid = w->tid = 0; break;
	case 1:
		w->pid = 1000 + (uint32_t)any(100);
		w->tid = w->pid + (uint32_t)any(2);
		break;
	case 2: w->tid = w->pid + 1; break;
	case 3:
		snprintf(path, sizeof(path), "/usr/lib/lib%llu.so", (unsigned long long)any(100));
		marked = any(2);
		put_mmap2(t, w, 0x7f0000000000 + any(64) * 0x8000, path, marked);
		break;
	case 4: put_task(t, w, true, w->tid); break;
	default: break;
	}
}

/* What a processor wrote in one round. */
static void put_run(struct text *t, uint64_t round, uint64_t cpu)
{
	struct where w = { .cpu = cpu, .time = 1000000000 * (round + 5) + any(100000) };
	uint64_t n = opt("samples"), later;
	bool marked;

	for (uint64_t i = 0; i < n; i++) {
		later = any(2);
		later *= any(1 + 2000000000 / n); /* some are equal */
		w.time += later;
		w.event = any(opt("events"));
		w.pid = w.tid = 100 + (uint32_t)any(3);
		switch (any(40)) {
		case 0: put_comm(t, &w, "renamed", any(2)); break;
		case 1:
			w.pid = w.tid = 200 + (uint32_t)any(20);
			put_task(t, &w, true, 101);
			break;
		case 2: put_task(t, &w, false, 100); break;
		case 3:
			marked = any(2);
			put_mmap2(t, &w, 0x7f0000000000 + any(64) * 0x100000, "/usr/lib/lib with blank.so", marked);
			break;
		case 4: put_lost(t, &w); break;
		case 5: put_throttle(t, &w); break;
		case 6: put_namespaces(t, &w); break;
		case 7: put_cgroup(t, &w); break;
		case 8: put_ksymbol(t, &w, any(2)); break;
		case 9: put_mmap(t, &w, 0x7f1000000000 + any(64) * 0x200000, "/usr/lib/old.so"); break;
		default: break;
		}
		if (opt("strange") && any(8) == 0)
			put_untrusted(t, &w);
		if (opt("odd"))
			put_odd(t, &w);
		put_sample(t, &w);
		if (opt("deferred") && any(4) == 0)
			put_deferred(t, &w);
	}
}

/* ---- compression --------------------------------------------------------------------------------------------- */

#ifdef PJ_ZSTD
static void put_packed(struct text *t, struct text *records, ZSTD_CCtx *z)
{
	uint64_t how = opt("zstd");
	ZSTD_inBuffer in = { records->p, records->n, 0 };
	size_t first = t->n, head = how == 1 ? 8 : COMPRESSED2_HEADER, n;
	char space[65536];

	do {
		ZSTD_outBuffer out = { space, PERF_RECORD_MAX - head, 0 };
		size_t left = ZSTD_compressStream2(z, &out, &in, ZSTD_e_flush), start = t->n;

		(void)begin(t, how == 1 ? RECORD_COMPRESSED : RECORD_COMPRESSED2, 0);
		if (how > 1)
			u64(t, how == 3 ? 0x5555 : out.pos);
		text_bytes(t, space, out.pos);
		if (how == 2) /* it must fit with its padding: what is larger is for 3 */
			align(t, start);
		end(t, start);
		if (left == 0 && in.pos == in.size)
			break;
	} while (true);
	if (how != 3)
		return;
	n = t->n - first - COMPRESSED2_HEADER; /* as perf 6.16 does it: the sum of all, in 16 bits */
	memcpy(t->p + first + 8, &n, 8);
	n = (t->n - first + 7) & ~(size_t)7;
	memcpy(t->p + first + 6, &n, 2);
	if (n <= PERF_RECORD_MAX)
		align(t, first);
}
#endif

static void put_data(struct text *t)
{
	struct text run = { 0 };
	uint64_t rounds = opt("rounds");
#ifdef PJ_ZSTD
	ZSTD_CCtx *z = ZSTD_createCCtx();
#endif

	put_state(t);
	if (opt("odd"))
		put_odd_state(t);
	end(t, begin(t, RECORD_FINISHED_INIT, 0));
	for (uint64_t i = 0; i < (rounds ? rounds : 1); i++) {
		for (uint64_t cpu = 0; cpu < opt("cpus"); cpu++) {
			run.n = 0;
			put_run(&run, i, cpu);
#ifdef PJ_ZSTD
			if (opt("zstd")) {
				put_packed(t, &run, z);
				continue;
			}
#endif
			text_bytes(t, run.p, run.n);
		}
		if (rounds)
			end(t, begin(t, RECORD_FINISHED_ROUND, 0));
	}
#ifdef PJ_ZSTD
	ZSTD_freeCCtx(z);
#else
	if (opt("zstd"))
		die("built without libzstd");
#endif
	text_free(&run);
}

/* ---- features ------------------------------------------------------------------------------------------------ */

static void feature_string(struct text *t, const char *s)
{
	size_t n = (strlen(s) + 1 + 63) & ~(size_t)63;

	u32(t, n);
	text_add(t, s);
	for (n -= strlen(s); n; n--)
		text_char(t, 0);
}

static void feature_events(struct text *t)
{
	u32(t, opt("events"));
	u32(t, opt("attr"));
	for (uint64_t e = 0; e < opt("events"); e++) {
		put_attr(t, e);
		u32(t, opt("cpus"));
		feature_string(t, event[e].name);
		for (uint64_t cpu = 0; cpu < opt("cpus"); cpu++)
			u64(t, id_of(e, cpu));
	}
}

static void feature_build_id(struct text *t)
{
	static const char *const path[] = { "[kernel.kallsyms]", "/usr/bin/worker" };

	for (unsigned i = 0; i < 2; i++) {
		size_t start = begin(t, RECORD_BUILD_ID, (i ? 2 : 1) | MISC_BUILD_ID_SIZE);

		u32(t, UINT32_MAX);
		for (unsigned k = 0; k < 20; k++)
			text_char(t, (char)(k + 16 * i));
		u32(t, i ? 16 : 20);
		string(t, path[i]);
		end(t, start);
	}
}

static void put_item(struct text *t, uint32_t type, const void *p, size_t n)
{
	u32(t, type);
	u32(t, opt("pj") == 2 && any(4) == 0 ? any(100) : n);
	text_bytes(t, p, n);
	for (; n % 8; n++)
		text_char(t, 0);
}

static void put_string(struct text *t, uint32_t type, const char *s)
{
	put_item(t, type, s, strlen(s));
}

static bool put_recorder(struct text *t, bool at_start)
{
	static const struct pj_window window = { 5000000000, 9000000000, 7 };
	static const struct pj_loss loss = { .samples = 3, .records = 1, .throttled = 2, .ring_high = 125, .depth = 9 };
	struct pj_process p = { .start = 4711, .mount_ns = 4026531841 };
	struct pj_idle idle = { 0 };

	if (!opt("pj"))
		return false;
	if (at_start) {
		put_string(t, PJ_ITEM_BOOT,
			   opt("pj") == 2 ? "../../../../../../etc/passwd" : "01234567-89ab-cdef-0123-456789abcdef");
		put_item(t, PJ_ITEM_WINDOW, &window, sizeof(window));
		put_string(t, PJ_ITEM_VERSION, "0.1");
		if (opt("pj") == 3)
			put_string(t, PJ_ITEM_UNWINDING, "");
		put_string(t, 4711, "of a newer one");
		return true;
	}
	for (p.pid = 102; p.pid >= 100; p.pid--) { /* in no order; one of them twice */
		p.inner_pid = p.pid - 99;
		p.flags = p.pid == 101 ? PJ_PROCESS_ELSEWHERE : 0;
		put_item(t, PJ_ITEM_PROCESS, &p, sizeof(p));
	}
	p = (struct pj_process){ .pid = 102, .start = 4712 };
	put_item(t, PJ_ITEM_PROCESS, &p, sizeof(p));
	for (; idle.cpu < opt("cpus"); idle.cpu++) {
		idle.ns = 1500000000 + idle.cpu;
		put_item(t, PJ_ITEM_IDLE, &idle, sizeof(idle));
	}
	put_item(t, PJ_ITEM_LOSS, &loss, sizeof(loss));
	for (uint32_t pid = 103; opt("pj") == 3 && pid >= 100; pid--)
		put_methods(t, pid);
	put_string(t, PJ_ITEM_KALLSYMS,
		   opt("pj") == 2 ? "../kallsyms" : "kallsyms-01234567-89ab-cdef-0123-456789abcdef.1.gz");
	return true;
}

static bool put_feature(struct text *t, unsigned feature)
{
	switch (feature) {
	case FEATURE_BUILD_ID: feature_build_id(t); break;
	case FEATURE_HOSTNAME: feature_string(t, "host"); break;
	case FEATURE_OSRELEASE: feature_string(t, "6.1.0"); break;
	case FEATURE_VERSION: feature_string(t, "6.1"); break;
	case FEATURE_ARCH: feature_string(t, "x86_64"); break;
	case FEATURE_NRCPUS:
		u32(t, 8);
		u32(t, opt("cpus"));
		break;
	case FEATURE_CPUDESC: feature_string(t, "a processor"); break;
	case FEATURE_TOTAL_MEM: u64(t, 1024); break;
	case FEATURE_CMDLINE:
		u32(t, 2);
		feature_string(t, "perf");
		feature_string(t, "record");
		break;
	case FEATURE_EVENT_DESC:
		if (!opt("names"))
			return false;
		feature_events(t);
		break;
	case FEATURE_SAMPLE_TIME:
		u64(t, 5000000000);
		u64(t, 9000000000);
		break;
	case FEATURE_CLOCK_DATA:
		u32(t, 1);
		u32(t, 1);
		u64(t, 1700000000000000000);
		u64(t, 5000000000);
		break;
	case FEATURE_COMPRESSED:
		if (!opt("zstd"))
			return false;
		u32(t, 1);
		u32(t, 1);
		u32(t, 1);
		u32(t, 4);
		u32(t, 4 << 20);
		break;
	case FEATURE_PJ_START:
	case FEATURE_PJ_END: return put_recorder(t, feature == FEATURE_PJ_START);
	case 200:
		if (!opt("strange"))
			return false;
		text_add(t, "nobody knows this one");
		break;
	default: return false;
	}
	return true;
}

/* ---- files --------------------------------------------------------------------------------------------------- */

/* As pjrecord does it: bodies, then u64[4] of bits and the table of sections. */
static struct perf_section put_early(struct text *t)
{
	uint64_t bits[4] = { 0 };
	struct text table = { 0 };
	struct perf_section all;

	for (unsigned i = 0; i < FEATURES; i++) {
		size_t start = t->n;

		if (i == FEATURE_BUILD_ID || i == FEATURE_SAMPLE_TIME || i == FEATURE_PJ_END || !put_feature(t, i))
			continue;
		bits[i / 64] |= 1ull << i % 64;
		u64(&table, start);
		u64(&table, t->n - start);
		align(t, 0);
	}
	all = (struct perf_section){ t->n, sizeof(bits) + table.n };
	text_bytes(t, bits, sizeof(bits));
	text_bytes(t, table.p, table.n);
	text_free(&table);
	return all;
}

static void put_file(struct text *t)
{
	struct perf_file_header h = { .magic = PERF_MAGIC,
				      .size = sizeof(h),
				      .attr_size = opt("attr") + sizeof(struct perf_section) };
	struct text data = { 0 }, body = { 0 }, table = { 0 };
	uint64_t events = opt("events"), ids = sizeof(h);
	size_t table_size = 0;

	h.attrs.offset = ids + events * opt("cpus") * 8;
	h.attrs.size = events * h.attr_size;
	h.data.offset = h.attrs.offset + h.attrs.size;
	put_data(&data);
	h.data.size = opt("killed") ? 0 : data.n;
	for (unsigned i = 0; i < FEATURES && opt("desc") && !opt("killed"); i++) {
		body.n = 0;
		if (put_feature(&body, i)) {
			h.features[i / 64] |= 1ull << i % 64;
			table_size += sizeof(struct perf_section);
		}
	}
	text_bytes(t, &h, sizeof(h));
	for (uint64_t e = 0; e < events; e++)
		for (uint64_t cpu = 0; cpu < opt("cpus"); cpu++)
			u64(t, id_of(e, cpu));
	for (uint64_t e = 0; e < events; e++) {
		put_attr(t, e);
		u64(t, ids + e * opt("cpus") * 8);
		u64(t, opt("cpus") * 8);
	}
	if (opt("pj")) {
		h.event_types = put_early(t);
		h.data.offset = t->n;
		memcpy(t->p, &h, sizeof(h));
	}
	text_bytes(t, data.p, data.n);
	body.n = 0;
	for (unsigned i = 0; i < FEATURES; i++) {
		size_t start = body.n;

		if (!(h.features[i / 64] >> i % 64 & 1))
			continue;
		put_feature(&body, i);
		u64(&table, t->n + table_size + start);
		u64(&table, body.n - start);
	}
	text_bytes(t, table.p, table.n);
	text_bytes(t, body.p, body.n);
	text_free(&table);
	text_free(&body);
	text_free(&data);
}

static void put_pipe(struct text *t)
{
	struct text body = { 0 };
	size_t start;

	text_add(t, PERF_MAGIC);
	u64(t, PERF_PIPE_HEADER);
	for (uint64_t e = 0; e < opt("events"); e++) {
		start = begin(t, RECORD_ATTR, 0);
		put_attr(t, e);
		for (uint64_t cpu = 0; cpu < opt("cpus"); cpu++)
			u64(t, id_of(e, cpu));
		end(t, start);
	}
	for (unsigned i = 0; i < FEATURES && opt("desc"); i++) {
		body.n = 0;
		if (i == FEATURE_BUILD_ID || i == FEATURE_EVENT_DESC || !put_feature(&body, i))
			continue;
		start = begin(t, RECORD_FEATURE, 0);
		u64(t, i);
		text_bytes(t, body.p, body.n);
		align(t, start);
		end(t, start);
	}
	for (uint64_t e = 0; opt("names") && e < opt("events"); e++) {
		start = begin(t, RECORD_EVENT_UPDATE, 0);
		u64(t, UPDATE_NAME);
		u64(t, id_of(e, 0));
		string(t, event[e].name);
		end(t, start);
	}
	feature_build_id(t);
	put_data(t);
	text_free(&body);
}

int main(int argc, char **argv)
{
	struct text t = { 0 };

	diag_tool("write");
	for (int i = 1; i < argc; i++) {
		size_t k, n = strcspn(argv[i], "=");

		for (k = 0; k < countof(option); k++)
			if (strlen(option[k].name) == n && strncmp(option[k].name, argv[i], n) == 0)
				break;
		if (k == countof(option) || !argv[i][n])
			die_usage("no option '%s'", argv[i]);
		option[k].value = strtoull(argv[i] + n + 1, NULL, 0);
	}
	if (opt("events") < 1 || opt("events") > countof(event) || opt("cpus") < 1 || opt("cpus") > 10 ||
	    opt("attr") < 64)
		die_usage("at most %zu events and 10 processors", countof(event));
	state = opt("seed");
	if (opt("pipe"))
		put_pipe(&t);
	else
		put_file(&t);
	if (fwrite(t.p, 1, t.n, stdout) != t.n || fflush(stdout) != 0)
		die_errno("cannot write");
	text_free(&t);
	return 0;
}
