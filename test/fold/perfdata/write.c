/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write - writes a perf.data of any layout to stdout: the same bytes for the same arguments.
 *
 *	write KEY=VALUE...
 *
 *	sample=0x1e7   sample_type
 *	read=0x4       read_format
 *	idall=1        sample_id_all
 *	events=1       events
 *	branch=0       branch_sample_type
 *	regs=0xff0fff  sample_regs_user
 *	pipe=0         1: the layout of a pipe
 *	zstd=0         1: COMPRESSED, 2: COMPRESSED2, 3: with sizes that overflow
 *	rounds=4       rounds of samples; 0: no FINISHED_ROUND
 *	samples=40     samples of a round
 *	cpus=2         CPUs
 *	chain=6        frames of the deepest callchain
 *	attr=128       size of the attributes
 *	names=1        event names in a feature
 *	desc=1         event descriptions in a feature
 *	seed=1         seed of all random values
 *	mixed=0        1: the events have different sample_types
 *	killed=0       1: the file ends as after kill -9
 *	strange=0      1: unknown records and features
 *	pj=0           1: pjrecord's own records, those of the start in front of the data, too; 2: damaged;
 *	               3: as 1, with stacks that pjrecord unwound, with frames of interpreted Java methods;
 *	               4: as 3, with Python functions in their place; 5: as 4, the list of one process is cut
 *	marks=0        N marks at the end of the callchains of pj=3, which have `chain` frames each then
 *	limit=0        the kernel's limit of callchains that pj=1 records; 0: none is recorded
 *	deferred=0     1: callchains of user space are records of their own
 *	cgroups=0      N cgroups, of all shapes; needs sample=0x2...
 *	misled=0       1: mappings without build-id are marked as if they had one, as Linux does while another recorder
 *	               requests build-ids
 *	odd=0          1: rare contents: unusual callchain marks, guests, modules, JITs, many threads and maps,
 *	               stacks that can be unwound through test/fuzz/symfs/usr/bin/worker
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
	       { "odd", 0 },         { "misled", 0 }, { "cgroups", 0 }, { "pj", 0 },      { "marks", 0 },
	       { "limit", 0 } };

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

static void u16(struct text *text, unsigned v)
{
	uint16_t x = (uint16_t)v;

	text_bytes(text, &x, sizeof(x));
}

static void u32(struct text *text, uint64_t v)
{
	uint32_t x = (uint32_t)v;

	text_bytes(text, &x, sizeof(x));
}

static void u64(struct text *text, uint64_t v)
{
	text_bytes(text, &v, sizeof(v));
}

static void align(struct text *text, size_t start)
{
	while ((text->n - start) % 8)
		text_char(text, 0);
}

static void string(struct text *text, const char *s) /* NUL and padding behind it */
{
	size_t start = text->n;

	text_bytes(text, s, strlen(s) + 1);
	align(text, start);
}

static size_t begin(struct text *text, uint32_t type, unsigned misc)
{
	size_t start = text->n;

	u32(text, type);
	u16(text, misc);
	u16(text, 0);
	return start;
}

static void end(struct text *text, size_t start)
{
	size_t n = text->n - start;
	uint16_t size = (uint16_t)n;

	if (n > PERF_RECORD_MAX)
		die("a record of %zu bytes", n);
	memcpy(text->p + start + 6, &size, sizeof(size));
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

static void put_attr(struct text *text, uint64_t e)
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

	text_bytes(text, &a, known);
	for (; known < size; known++)
		text_char(text, 0);
}

/* ---- records ------------------------------------------------------------------------------------------------- */

struct where {
	uint64_t event, cpu, time;
	uint32_t pid, tid;
	bool made; /* by perf: zeroes in the trailer */
};

static void put_trailer(struct text *text, const struct where *where)
{
	uint64_t s = sample_type(where->event);

	if (!opt("idall"))
		return;
	if (s & PERF_SAMPLE_TID) {
		u32(text, where->made ? 0 : where->pid);
		u32(text, where->made ? 0 : where->tid);
	}
	if (s & PERF_SAMPLE_TIME)
		u64(text, where->made ? 0 : where->time);
	if (s & PERF_SAMPLE_ID)
		u64(text, where->made ? 0 : id_of(where->event, where->cpu));
	if (s & PERF_SAMPLE_STREAM_ID)
		u64(text, where->made ? 0 : 77);
	if (s & PERF_SAMPLE_CPU)
		u64(text, where->made ? 0 : where->cpu);
	if (s & PERF_SAMPLE_IDENTIFIER)
		u64(text, where->made ? 0 : id_of(where->event, where->cpu));
}

static void put_comm(struct text *text, const struct where *where, const char *comm, bool exec)
{
	size_t start = begin(text, RECORD_COMM, exec ? MISC_COMM_EXEC : 0);

	u32(text, where->pid);
	u32(text, where->tid);
	string(text, comm);
	put_trailer(text, where);
	end(text, start);
}

static void put_task(struct text *text, const struct where *where, bool fork, uint32_t parent)
{
	size_t start = begin(text, fork ? RECORD_FORK : RECORD_EXIT, fork && where->made ? MISC_FORK_EXEC : 0);

	u32(text, where->pid);
	u32(text, parent);
	u32(text, where->tid);
	u32(text, parent);
	u64(text, where->time);
	put_trailer(text, where);
	end(text, start);
}

static void put_mmap(struct text *text, const struct where *where, uint64_t address, const char *path)
{
	size_t start = begin(text, RECORD_MMAP, where->pid == UINT32_MAX ? 1 : 2);

	u32(text, where->pid);
	u32(text, where->tid);
	u64(text, address);
	u64(text, 0x100000);
	u64(text, where->pid == UINT32_MAX ? address : 0);
	string(text, path);
	put_trailer(text, where);
	end(text, start);
}

static void put_mmap2(struct text *text, const struct where *where, uint64_t address, const char *path, bool build_id)
{
	size_t start = begin(text, RECORD_MMAP2, 2u | (build_id || opt("misled") ? MISC_MMAP_BUILD_ID : 0u));

	u32(text, where->pid);
	u32(text, where->tid);
	u64(text, address);
	u64(text, 0x20000);
	u64(text, 0x1000);
	if (build_id) {
		u32(text, 20);
		for (int i = 0; i < 20; i++)
			text_char(text, (char)(address >> 12 ^ (unsigned)i));
	} else {
		u32(text, 8);
		u32(text, 1);
		u64(text, 123456 + any(1000));
		u64(text, 7);
	}
	u32(text, 5);
	u32(text, 2);
	string(text, path);
	put_trailer(text, where);
	end(text, start);
}

static void put_lost(struct text *text, const struct where *where)
{
	size_t start = begin(text, RECORD_LOST, 0);

	u64(text, id_of(where->event, where->cpu));
	u64(text, 1 + any(100));
	put_trailer(text, where);
	end(text, start);
	start = begin(text, RECORD_LOST_SAMPLES, 0);
	u64(text, 1 + any(100));
	put_trailer(text, where);
	end(text, start);
}

static void put_throttle(struct text *text, const struct where *where)
{
	for (unsigned i = 0; i < 2; i++) {
		size_t start = begin(text, i ? RECORD_UNTHROTTLE : RECORD_THROTTLE, 0);

		u64(text, where->time);
		u64(text, id_of(where->event, where->cpu));
		u64(text, 77);
		put_trailer(text, where);
		end(text, start);
	}
}

static void put_namespaces(struct text *text, const struct where *where)
{
	size_t start = begin(text, RECORD_NAMESPACES, 0);

	u32(text, where->pid);
	u32(text, where->tid);
	u64(text, 7);
	for (unsigned i = 0; i < 7; i++) {
		u64(text, 4);
		u64(text, 0xf0000000 + i);
	}
	put_trailer(text, where);
	end(text, start);
}

static void put_cgroup(struct text *text, const struct where *where)
{
	size_t start = begin(text, RECORD_CGROUP, 0);

	u64(text, 42);
	string(text, "/system.slice/a;b.service");
	put_trailer(text, where);
	end(text, start);
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

static void put_cgroups(struct text *text, const struct where *where)
{
	for (uint64_t i = 0; i < opt("cgroups") && i < countof(cgroup); i++) {
		size_t start = begin(text, RECORD_CGROUP, 0);

		u64(text, cgroup_number(i));
		string(text, cgroup[i]);
		put_trailer(text, where);
		end(text, start);
	}
}

static void put_ksymbol(struct text *text, const struct where *where, bool gone)
{
	size_t start = begin(text, RECORD_KSYMBOL, 0);

	u64(text, 0xffffffffc0100000);
	u32(text, 0x80);
	u16(text, 1);
	u16(text, gone);
	string(text, "bpf_prog_6deef7357e7b4530_x");
	put_trailer(text, where);
	end(text, start);
}

static void put_untrusted(struct text *text, const struct where *where)
{
	size_t start = begin(text, 40, 0x7777);

	u64(text, any(1 << 30));
	put_trailer(text, where);
	end(text, start);
	start = begin(text, 200, 0);
	u64(text, 5);
	end(text, start);
}

static uint64_t counter[8][64];

static void put_values(struct text *text, const struct where *where)
{
	uint64_t format = opt("read"), n = format & PERF_FORMAT_GROUP ? opt("events") : 1;

	if (format & PERF_FORMAT_GROUP)
		u64(text, n);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t e = format & PERF_FORMAT_GROUP ? i : where->event;

		if (!(format & PERF_FORMAT_GROUP))
			u64(text, counter[e][where->cpu] += any(3) * 1000);
		if (i == 0 && format & PERF_FORMAT_TOTAL_TIME_ENABLED)
			u64(text, 1000000);
		if (i == 0 && format & PERF_FORMAT_TOTAL_TIME_RUNNING)
			u64(text, 900000);
		if (format & PERF_FORMAT_GROUP)
			u64(text, counter[e][where->cpu] += any(3) * 1000);
		if (format & PERF_FORMAT_ID)
			u64(text, id_of(e, where->cpu));
		if (format & FORMAT_LOST)
			u64(text, any(5));
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
static void put_walked(struct text *text)
{
	size_t start = text->n;
	uint64_t n = opt("marks") ? opt("chain") : 1 + any(opt("chain")), interpreted, method;

	u64(text, 0);
	u64(text, CONTEXT_USER);
	for (uint64_t i = 0; i < n; i++) {
		interpreted = any(2);
		method = any(METHODS);
		if (interpreted && i)
			u64(text, CONTEXT_USER);
		u64(text, interpreted ? METHOD_AT + METHOD_SIZE * method : 0x400000 + any(1 << 16));
	}
	for (uint64_t i = 0; i < opt("marks"); i++)
		u64(text, CONTEXT_USER);
	n = (text->n - start) / 8 - 1;
	memcpy(text->p + start, &n, sizeof(n));
}

/* The first and the second have names; the third has none, the fourth two, the fifth is not told. The last is that of
 * one process, as is all of another that nobody sampled. */
static void put_method(struct text *text, uint64_t i, const char *name)
{
	struct pj_method m = { METHOD_AT + METHOD_SIZE * i, (uint32_t)strlen(name) };

	text_bytes(text, &m, sizeof(m));
	text_add(text, name);
}

static void put_methods(struct text *text, uint32_t pid)
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
	u32(text, PJ_ITEM_METHODS);
	u32(text, item.n);
	text_str(text, text_view(&item));
	for (size_t n = item.n; n % 8; n++)
		text_char(text, 0);
	text_free(&item);
}

static void put_function(struct text *text, uint64_t i, uint32_t line, struct str name_and_file)
{
	struct pj_function f = { METHOD_AT + METHOD_SIZE * i, line, (uint32_t)name_and_file.n };

	text_bytes(text, &f, sizeof(f));
	text_str(text, name_and_file);
}

/* Two lines of one function; a file of hostile bytes; a function without a line, one with two lines at its address, and
 * one without a file. Process 102 lacks the last one. */
static void put_functions(struct text *text, uint32_t pid)
{
	struct pj_functions f = { .pid = pid, .language = PJ_LANGUAGE_PYTHON };
	struct text item = { 0 };

	text_bytes(&item, &f, sizeof(f));
	put_function(&item, 0, 3, STR("m.f\0/srv/m.py\0"));
	put_function(&item, 1, 4, STR("m.f\0/srv/m.py\0"));
	put_function(&item, 2, 7, STR("m.g\0/srv/a;b\n\x1b[31m\xff_[k] 12\0"));
	put_function(&item, 3, 0, STR("m.h\0/srv/m.py\0"));
	put_function(&item, 4, 8, STR("m.k\0/srv/m.py\0"));
	put_function(&item, 4, 9, STR("m.k\0/srv/m.py\0"));
	if (pid != 102)
		put_function(&item, 5, 5, STR("m.only\0"));
	u32(text, PJ_ITEM_FUNCTIONS);
	item.n -= opt("pj") == 5 && pid == 101 ? 3 : 0;
	u32(text, item.n);
	text_str(text, text_view(&item));
	for (size_t n = item.n; n % 8; n++)
		text_char(text, 0);
	text_free(&item);
}

static void put_chain(struct text *text)
{
	uint64_t n = any(opt("chain") + 1), kernel = any(n + 1);
	bool deferred = opt("deferred");

	u64(text, n + 2 + (deferred ? 1 : 0));
	u64(text, CONTEXT_KERNEL);
	for (uint64_t i = 0; i < n; i++) {
		if (i == kernel)
			u64(text, CONTEXT_USER);
		u64(text, opt("odd") ? odd_address() : (i < kernel ? 0xffffffff81000000 : 0x400000) + any(1 << 20));
	}
	if (kernel == n)
		u64(text, deferred ? CONTEXT_USER_DEFERRED : CONTEXT_USER);
	else if (deferred)
		u64(text, CONTEXT_USER_DEFERRED);
	if (deferred)
		u64(text, 0x1234);
	if (deferred && kernel == n)
		return;
}

static void put_registers(struct text *text)
{
	if (any(4) == 0) {
		u64(text, 0);
		return;
	}
	u64(text, 2);
	for (unsigned i = 0; i < 64; i++) {
		if (!(opt("regs") >> i & 1))
			continue;
		if (!opt("odd"))
			u64(text, any(1 << 30));
		else /* rbp, rsp, rip */
			u64(text, i == 6 ? STACK_AT + 8 * any(8) :
				  i == 7 ? STACK_AT :
				  i == 8 ? WORKER + any(WORKER_SIZE) :
					   i);
	}
}

static void put_branches(struct text *text)
{
	uint64_t n = any(4);

	u64(text, n);
	if (opt("branch") & BRANCH_HW_INDEX)
		u64(text, any(16));
	for (uint64_t i = 0; i < n; i++) {
		u64(text, 0x400000 + any(1 << 20));
		u64(text, 0x400000 + any(1 << 20));
		u64(text, 1);
	}
	for (uint64_t i = 0; opt("branch") & BRANCH_COUNTERS && i < n; i++)
		u64(text, 3);
}

static void put_stack(struct text *text)
{
	uint64_t n = opt("odd") ? STACK : any(3) * 32;

	u64(text, n);
	for (uint64_t i = 0; i < n; i += 8)
		u64(text, !opt("odd") ? any(1 << 30) : any(3) ? WORKER + any(WORKER_SIZE) : STACK_AT + i + 8 * any(4));
	if (n)
		u64(text, opt("odd") && any(4) ? n : any(n + 1));
}

static void put_raw(struct text *text)
{
	uint64_t n = any(4) * 8 + 4;

	u32(text, n);
	for (; n; n--)
		text_char(text, (char)any(256));
}

static void put_sample_end(struct text *text, uint64_t s)
{
	if (s & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		u64(text, any(1000));
	if (s & PERF_SAMPLE_DATA_SRC)
		u64(text, 0x68100142);
	if (s & PERF_SAMPLE_TRANSACTION)
		u64(text, 0);
	if (s & PERF_SAMPLE_REGS_INTR)
		put_registers(text);
	if (s & PERF_SAMPLE_PHYS_ADDR)
		u64(text, any(1 << 30));
	if (s & PERF_SAMPLE_CGROUP) /* one more than records tell of */
		u64(text, opt("cgroups") ? cgroup_number(any(opt("cgroups") + 1)) : 42);
	if (s & PERF_SAMPLE_DATA_PAGE_SIZE)
		u64(text, 4096);
	if (s & PERF_SAMPLE_CODE_PAGE_SIZE)
		u64(text, 4096);
	if (s & PERF_SAMPLE_AUX) {
		u64(text, 16);
		u64(text, any(1 << 30));
		u64(text, any(1 << 30));
	}
}

static void put_sample(struct text *text, const struct where *where)
{
	uint64_t s = sample_type(where->event);
	bool kernel = any(2);
	size_t start = begin(text, RECORD_SAMPLE, kernel ? 1 : 2);

	if (s & PERF_SAMPLE_IDENTIFIER)
		u64(text, id_of(where->event, where->cpu));
	if (s & PERF_SAMPLE_IP)
		u64(text, (kernel ? 0xffffffff81000000 : 0x400000) + any(1 << 20));
	if (s & PERF_SAMPLE_TID) {
		u32(text, where->pid);
		u32(text, where->tid);
	}
	if (s & PERF_SAMPLE_TIME)
		u64(text, where->time);
	if (s & PERF_SAMPLE_ADDR)
		u64(text, any(1 << 30));
	if (s & PERF_SAMPLE_ID)
		u64(text, id_of(where->event, where->cpu));
	if (s & PERF_SAMPLE_STREAM_ID)
		u64(text, 77);
	if (s & PERF_SAMPLE_CPU)
		u64(text, where->cpu);
	if (s & PERF_SAMPLE_PERIOD)
		u64(text, 1 + any(1 << 20));
	if (s & PERF_SAMPLE_READ)
		put_values(text, where);
	if (s & PERF_SAMPLE_CALLCHAIN && opt("pj") >= 3)
		put_walked(text);
	else if (s & PERF_SAMPLE_CALLCHAIN)
		put_chain(text);
	if (s & PERF_SAMPLE_RAW)
		put_raw(text);
	if (s & PERF_SAMPLE_BRANCH_STACK)
		put_branches(text);
	if (s & PERF_SAMPLE_REGS_USER)
		put_registers(text);
	if (s & PERF_SAMPLE_STACK_USER)
		put_stack(text);
	put_sample_end(text, s);
	end(text, start);
}

static void put_deferred(struct text *text, const struct where *where)
{
	size_t start = begin(text, RECORD_CALLCHAIN_DEFERRED, 2);

	u64(text, 0x1234);
	u64(text, 3);
	u64(text, CONTEXT_USER);
	u64(text, 0x400100);
	u64(text, 0x400200);
	put_trailer(text, where);
	end(text, start);
}

/* What perf writes about what runs already. */
static void put_state(struct text *text)
{
	struct where w = { .made = true, .pid = UINT32_MAX };

	put_cgroups(text, &w);
	put_mmap(text, &w, 0xffffffff81000000, "[kernel.kallsyms]_text");
	for (uint32_t i = 0; i < 3; i++) {
		w.pid = w.tid = 100 + i;
		put_task(text, &w, true, i ? 100 : 1);
		put_comm(text, &w, i == 2 ? "a b:c" : "worker", false);
		put_mmap2(text, &w, 0x400000, "/usr/bin/worker", i == 1);
	}
}

/* Few records have all of this. */
static void put_odd_state(struct text *text)
{
	struct where w = { .made = true, .pid = UINT32_MAX };

	put_mmap(text, &w, 0xffffffffc0000000, "/lib/modules/6.1/kernel/odd-one.ko.xz");
	put_mmap(text, &w, 0xffffffffc1000000, "[two]");
	for (uint32_t i = 0; i < 3; i++) {
		w.pid = w.tid = 100 + i;
		put_mmap2(text, &w, JIT, i == 2 ? "/memfd:doublemapper" : "//anon", false);
		put_mmap2(text, &w, 0x200000, i == 0 ? "/tmp/jit-100.dump" : "[heap]", false);
		put_mmap2(text, &w, 0x400000, "/usr/bin/worker", i == 1); /* the second over the first */
		put_mmap2(text, &w, 0x40a000, "[vdso]", false);
	}
}

static void put_odd(struct text *text, struct where *where)
{
	char path[40];
	bool marked;

	switch (any(8)) {
	case 0: where->pid = where->tid = 0; break;
	case 1:
		where->pid = 1000 + (uint32_t)any(100);
		where->tid = where->pid + (uint32_t)any(2);
		break;
	case 2: where->tid = where->pid + 1; break;
	case 3:
		snprintf(path, sizeof(path), "/usr/lib/lib%llu.so", (unsigned long long)any(100));
		marked = any(2);
		put_mmap2(text, where, 0x7f0000000000 + any(64) * 0x8000, path, marked);
		break;
	case 4: put_task(text, where, true, where->tid); break;
	default: break;
	}
}

/* What a processor wrote in one round. */
static void put_run(struct text *text, uint64_t round, uint64_t cpu)
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
		case 0: put_comm(text, &w, "renamed", any(2)); break;
		case 1:
			w.pid = w.tid = 200 + (uint32_t)any(20);
			put_task(text, &w, true, 101);
			break;
		case 2: put_task(text, &w, false, 100); break;
		case 3:
			marked = any(2);
			put_mmap2(text, &w, 0x7f0000000000 + any(64) * 0x100000, "/usr/lib/lib with blank.so", marked);
			break;
		case 4: put_lost(text, &w); break;
		case 5: put_throttle(text, &w); break;
		case 6: put_namespaces(text, &w); break;
		case 7: put_cgroup(text, &w); break;
		case 8: put_ksymbol(text, &w, any(2)); break;
		case 9: put_mmap(text, &w, 0x7f1000000000 + any(64) * 0x200000, "/usr/lib/old.so"); break;
		default: break;
		}
		if (opt("strange") && any(8) == 0)
			put_untrusted(text, &w);
		if (opt("odd"))
			put_odd(text, &w);
		put_sample(text, &w);
		if (opt("deferred") && any(4) == 0)
			put_deferred(text, &w);
	}
}

/* ---- compression --------------------------------------------------------------------------------------------- */

#ifdef PJ_ZSTD
static void put_packed(struct text *text, struct text *records, ZSTD_CCtx *z)
{
	uint64_t how = opt("zstd");
	ZSTD_inBuffer in = { records->p, records->n, 0 };
	size_t first = text->n, head = how == 1 ? 8 : COMPRESSED2_HEADER, n;
	char space[65536];

	do {
		ZSTD_outBuffer out = { space, PERF_RECORD_MAX - head, 0 };
		size_t left = ZSTD_compressStream2(z, &out, &in, ZSTD_e_flush), start = text->n;

		(void)begin(text, how == 1 ? RECORD_COMPRESSED : RECORD_COMPRESSED2, 0);
		if (how > 1)
			u64(text, how == 3 ? 0x5555 : out.pos);
		text_bytes(text, space, out.pos);
		if (how == 2) /* it must fit with its padding: what is larger is for 3 */
			align(text, start);
		end(text, start);
		if (left == 0 && in.pos == in.size)
			break;
	} while (true);
	if (how != 3)
		return;
	n = text->n - first - COMPRESSED2_HEADER; /* as perf 6.16 does it: the sum of all, in 16 bits */
	memcpy(text->p + first + 8, &n, 8);
	n = (text->n - first + 7) & ~(size_t)7;
	memcpy(text->p + first + 6, &n, 2);
	if (n <= PERF_RECORD_MAX)
		align(text, first);
}
#endif

static void put_data(struct text *text)
{
	struct text run = { 0 };
	uint64_t rounds = opt("rounds");
#ifdef PJ_ZSTD
	ZSTD_CCtx *z = ZSTD_createCCtx();
#endif

	put_state(text);
	if (opt("odd"))
		put_odd_state(text);
	end(text, begin(text, RECORD_FINISHED_INIT, 0));
	for (uint64_t i = 0; i < (rounds ? rounds : 1); i++) {
		for (uint64_t cpu = 0; cpu < opt("cpus"); cpu++) {
			run.n = 0;
			put_run(&run, i, cpu);
#ifdef PJ_ZSTD
			if (opt("zstd")) {
				put_packed(text, &run, z);
				continue;
			}
#endif
			text_bytes(text, run.p, run.n);
		}
		if (rounds)
			end(text, begin(text, RECORD_FINISHED_ROUND, 0));
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

static void feature_string(struct text *text, const char *s)
{
	size_t n = (strlen(s) + 1 + 63) & ~(size_t)63;

	u32(text, n);
	text_add(text, s);
	for (n -= strlen(s); n; n--)
		text_char(text, 0);
}

static void feature_events(struct text *text)
{
	u32(text, opt("events"));
	u32(text, opt("attr"));
	for (uint64_t e = 0; e < opt("events"); e++) {
		put_attr(text, e);
		u32(text, opt("cpus"));
		feature_string(text, event[e].name);
		for (uint64_t cpu = 0; cpu < opt("cpus"); cpu++)
			u64(text, id_of(e, cpu));
	}
}

static void feature_build_id(struct text *text)
{
	static const char *const path[] = { "[kernel.kallsyms]", "/usr/bin/worker" };

	for (unsigned i = 0; i < 2; i++) {
		size_t start = begin(text, RECORD_BUILD_ID, (i ? 2 : 1) | MISC_BUILD_ID_SIZE);

		u32(text, UINT32_MAX);
		for (unsigned k = 0; k < 20; k++)
			text_char(text, (char)(k + 16 * i));
		u32(text, i ? 16 : 20);
		string(text, path[i]);
		end(text, start);
	}
}

static void put_item(struct text *text, uint32_t type, const void *p, size_t n)
{
	u32(text, type);
	u32(text, opt("pj") == 2 && any(4) == 0 ? any(100) : n);
	text_bytes(text, p, n);
	for (; n % 8; n++)
		text_char(text, 0);
}

static void put_string(struct text *text, uint32_t type, const char *s)
{
	put_item(text, type, s, strlen(s));
}

static bool put_recorder(struct text *text, bool at_start)
{
	static const struct pj_window window = { 5000000000, 9000000000, 7 };
	static const struct pj_loss loss = { .samples = 3, .records = 1, .throttled = 2, .ring_high = 125, .depth = 9 };
	struct pj_process p = { .start = 4711, .mount_ns = 4026531841 };
	struct pj_idle idle = { 0 };
	uint64_t max_stack = opt("limit");

	if (!opt("pj"))
		return false;
	if (at_start) {
		put_string(text, PJ_ITEM_BOOT,
			   opt("pj") == 2 ? "../../../../../../etc/passwd" : "01234567-89ab-cdef-0123-456789abcdef");
		put_item(text, PJ_ITEM_WINDOW, &window, sizeof(window));
		put_string(text, PJ_ITEM_VERSION, "0.1");
		if (opt("pj") >= 3)
			put_string(text, PJ_ITEM_UNWINDING, "");
		if (max_stack)
			put_item(text, PJ_ITEM_MAX_STACK, &max_stack, sizeof(max_stack));
		put_string(text, 4711, "of a newer one");
		return true;
	}
	for (p.pid = 102; p.pid >= 100; p.pid--) { /* in no order; one of them twice */
		p.inner_pid = p.pid - 99;
		p.flags = p.pid == 101 ? PJ_PROCESS_ELSEWHERE : 0;
		put_item(text, PJ_ITEM_PROCESS, &p, sizeof(p));
	}
	p = (struct pj_process){ .pid = 102, .start = 4712 };
	put_item(text, PJ_ITEM_PROCESS, &p, sizeof(p));
	for (; idle.cpu < opt("cpus"); idle.cpu++) {
		idle.ns = 1500000000 + idle.cpu;
		put_item(text, PJ_ITEM_IDLE, &idle, sizeof(idle));
	}
	put_item(text, PJ_ITEM_LOSS, &loss, sizeof(loss));
	for (uint32_t pid = 103; opt("pj") >= 3 && pid >= 100; pid--)
		opt("pj") == 3 ? put_methods(text, pid) : put_functions(text, pid);
	put_string(text, PJ_ITEM_KALLSYMS,
		   opt("pj") == 2 ? "../kallsyms" : "kallsyms-01234567-89ab-cdef-0123-456789abcdef.1.gz");
	return true;
}

static bool put_feature(struct text *text, unsigned feature)
{
	switch (feature) {
	case FEATURE_BUILD_ID: feature_build_id(text); break;
	case FEATURE_HOSTNAME: feature_string(text, "host"); break;
	case FEATURE_OSRELEASE: feature_string(text, "6.1.0"); break;
	case FEATURE_VERSION: feature_string(text, "6.1"); break;
	case FEATURE_ARCH: feature_string(text, "x86_64"); break;
	case FEATURE_NRCPUS:
		u32(text, 8);
		u32(text, opt("cpus"));
		break;
	case FEATURE_CPUDESC: feature_string(text, "a processor"); break;
	case FEATURE_TOTAL_MEM: u64(text, 1024); break;
	case FEATURE_CMDLINE:
		u32(text, 2);
		feature_string(text, "perf");
		feature_string(text, "record");
		break;
	case FEATURE_EVENT_DESC:
		if (!opt("names"))
			return false;
		feature_events(text);
		break;
	case FEATURE_SAMPLE_TIME:
		u64(text, 5000000000);
		u64(text, 9000000000);
		break;
	case FEATURE_CLOCK_DATA:
		u32(text, 1);
		u32(text, 1);
		u64(text, 1700000000000000000);
		u64(text, 5000000000);
		break;
	case FEATURE_COMPRESSED:
		if (!opt("zstd"))
			return false;
		u32(text, 1);
		u32(text, 1);
		u32(text, 1);
		u32(text, 4);
		u32(text, 4 << 20);
		break;
	case FEATURE_PJ_START:
	case FEATURE_PJ_END: return put_recorder(text, feature == FEATURE_PJ_START);
	case 200:
		if (!opt("strange"))
			return false;
		text_add(text, "nobody knows this one");
		break;
	default: return false;
	}
	return true;
}

/* ---- files --------------------------------------------------------------------------------------------------- */

/* As pjrecord does it: bodies, then u64[4] of bits and the table of sections. */
static struct perf_section put_early(struct text *text)
{
	uint64_t bits[4] = { 0 };
	struct text table = { 0 };
	struct perf_section all;

	for (unsigned i = 0; i < FEATURES; i++) {
		size_t start = text->n;

		if (i == FEATURE_BUILD_ID || i == FEATURE_SAMPLE_TIME || i == FEATURE_PJ_END || !put_feature(text, i))
			continue;
		bits[i / 64] |= 1ull << i % 64;
		u64(&table, start);
		u64(&table, text->n - start);
		align(text, 0);
	}
	all = (struct perf_section){ text->n, sizeof(bits) + table.n };
	text_bytes(text, bits, sizeof(bits));
	text_bytes(text, table.p, table.n);
	text_free(&table);
	return all;
}

static void put_file(struct text *text)
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
	text_bytes(text, &h, sizeof(h));
	for (uint64_t e = 0; e < events; e++)
		for (uint64_t cpu = 0; cpu < opt("cpus"); cpu++)
			u64(text, id_of(e, cpu));
	for (uint64_t e = 0; e < events; e++) {
		put_attr(text, e);
		u64(text, ids + e * opt("cpus") * 8);
		u64(text, opt("cpus") * 8);
	}
	if (opt("pj")) {
		h.event_types = put_early(text);
		h.data.offset = text->n;
		memcpy(text->p, &h, sizeof(h));
	}
	text_bytes(text, data.p, data.n);
	body.n = 0;
	for (unsigned i = 0; i < FEATURES; i++) {
		size_t start = body.n;

		if (!(h.features[i / 64] >> i % 64 & 1))
			continue;
		put_feature(&body, i);
		u64(&table, text->n + table_size + start);
		u64(&table, body.n - start);
	}
	text_bytes(text, table.p, table.n);
	text_bytes(text, body.p, body.n);
	text_free(&table);
	text_free(&body);
	text_free(&data);
}

static void put_pipe(struct text *text)
{
	struct text body = { 0 };
	size_t start;

	text_add(text, PERF_MAGIC);
	u64(text, PERF_PIPE_HEADER);
	for (uint64_t e = 0; e < opt("events"); e++) {
		start = begin(text, RECORD_ATTR, 0);
		put_attr(text, e);
		for (uint64_t cpu = 0; cpu < opt("cpus"); cpu++)
			u64(text, id_of(e, cpu));
		end(text, start);
	}
	for (unsigned i = 0; i < FEATURES && opt("desc"); i++) {
		body.n = 0;
		if (i == FEATURE_BUILD_ID || i == FEATURE_EVENT_DESC || !put_feature(&body, i))
			continue;
		start = begin(text, RECORD_FEATURE, 0);
		u64(text, i);
		text_bytes(text, body.p, body.n);
		align(text, start);
		end(text, start);
	}
	for (uint64_t e = 0; opt("names") && e < opt("events"); e++) {
		start = begin(text, RECORD_EVENT_UPDATE, 0);
		u64(text, UPDATE_NAME);
		u64(text, id_of(e, 0));
		string(text, event[e].name);
		end(text, start);
	}
	feature_build_id(text);
	put_data(text);
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
