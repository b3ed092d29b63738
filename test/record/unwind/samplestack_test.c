/* The recorder's way from a record to a callchain: this process is the one that is recorded. Its tables come from the
 * process that makes them; libgcc's backtrace says what is right. */
/* covers: record/unwind/samplestack.c record/unwind/stackjoin.c record/unwind/rootframes.c */
/* covers: record/unwind/cfitables.c record/perf/samplerecord.c record/processes/overbudget.c */
/* std: AddressSanitizer changes the stacks that it unwinds */
/* covers: common/formats/unwindstats.c */
#include "record/processes/overbudget.h"
#include "record/processes/rescan.h"
#include "record/perf/eventattrs.h"
#include "record/unwind/fpcompare.h"
#include "record/unwind/samplestack.h"
#include "common/formats/unwindstats.h"
#include "common/clocks.h"
#include "test/lib/tap.h"

#include <stdlib.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#define KEEP __attribute__((noinline))

enum { FRAMES = 60, COPY = 56000 };

static struct {
	ucontext_t context;
	uint64_t want[FRAMES];
	int nwant;
	char stack[COPY];
	size_t nstack;
} saved;

static _Unwind_Reason_Code note(struct _Unwind_Context *Context, void *unused)
{
	(void)unused;
	if (saved.nwant == FRAMES)
		return _URC_NORMAL_STOP;
	saved.want[saved.nwant] = _Unwind_GetIP(Context);
	saved.nwant += saved.want[saved.nwant] != 0;
	return _URC_NO_REASON;
}

static KEEP void capture(void)
{
	struct iovec to = { saved.stack, COPY }, from = { NULL, COPY };
	ssize_t n;

	getcontext(&saved.context);
	saved.nwant = 0;
	_Unwind_Backtrace(note, NULL);
	from.iov_base = (void *)(uintptr_t)saved.context.uc_mcontext.gregs[REG_RSP];
	n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
	saved.nstack = n > 0 ? (size_t)n & ~(size_t)7 : 0;
}

static volatile unsigned zero;

static KEEP unsigned deep(unsigned n)
{
	if (n == 0) {
		capture();
		return 1;
	}
	return deep(n - 1) + zero;
}

/* ---- records ---- */

static void put(struct text *text, uint64_t v)
{
	text_bytes(text, &v, sizeof(v));
}

static struct perf_event_attr attr_of(uint64_t more)
{
	struct perf_event_attr a = { .sample_type = RING_SAMPLE_TYPE | more };

	eventattrs_request_stack(&a, COPY, false);
	return a;
}

static int by_pointers; /* addresses of the user's part of the kernel's callchain */

/* A SAMPLE as the kernel writes it, with `copied` bytes of the stack, in memory of text. */
static const struct ring_sample *record(struct text *text, const struct perf_event_attr *attr, size_t copied)
{
	static const int order[] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_RIP,
				     REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
	struct ring_sample r = { .head = { .type = RECORD_SAMPLE, .misc = PERF_RECORD_MISC_KERNEL },
				 .event = 1,
				 .pid = (uint32_t)getpid(),
				 .tid = (uint32_t)getpid(),
				 .time = 1,
				 .nips = 2 };
	uint16_t size;

	if (by_pointers)
		r.nips += 1 + (uint64_t)by_pointers;
	text->n = 0;
	text_bytes(text, &r, sizeof(r));
	put(text, CONTEXT_KERNEL);
	put(text, UINT64_C(0xffffffff81000000));
	if (by_pointers)
		put(text, CONTEXT_USER);
	for (int i = 0; i < by_pointers; i++)
		put(text, i ? saved.want[i] : (uint64_t)saved.context.uc_mcontext.gregs[REG_RIP]);
	if (attr->sample_type & PERF_SAMPLE_RAW)
		text_bytes(text, "\4\0\0\0abcd", 8);
	put(text, 2);
	for (unsigned i = 0; i < countof(order); i++)
		put(text, (uint64_t)saved.context.uc_mcontext.gregs[order[i]]);
	put(text, COPY);
	text_bytes(text, saved.stack, COPY);
	put(text, copied);
	if (attr->sample_type & PERF_SAMPLE_CGROUP)
		put(text, 77);
	size = (uint16_t)text->n;
	memcpy(text->p + offsetof(struct perf_record, size), &size, sizeof(size));
	return (const void *)text->p;
}

/* Waits until all tables are there. */
static bool unwound(struct samplestack *stack, struct cfitables *tables, const struct perf_event_attr *attr,
		    const struct ring_sample *sample, struct text *out)
{
	struct timespec moment = { .tv_nsec = 1000000 };

	for (unsigned tries = 0; tries < 60000; tries++) {
		/* the time stands still: however busy the machine is, nothing is late */
		if (samplestack_sample(stack, attr, sample, true, 1, out))
			return true;
		nanosleep(&moment, NULL);
		cfitables_take(tables, 1);
	}
	return false;
}

static const uint64_t *chain_of(const struct text *out, uint64_t *n)
{
	const struct ring_sample *r = (const void *)out->p;

	*n = r->nips;
	return r->ips;
}

/* kernel mark, address, user mark, this function, then libgcc's callers, then `marks` more */
static bool is_right(const struct text *out, uint64_t marks)
{
	uint64_t n;
	const uint64_t *ips = chain_of(out, &n);

	if (n != 3 + (uint64_t)saved.nwant + marks || ips[0] != CONTEXT_KERNEL || ips[2] != CONTEXT_USER)
		return false;
	for (int i = 1; i < saved.nwant; i++)
		if (ips[3 + i] != saved.want[i])
			return false;
	return marks == 0 || ips[n - 1] == CONTEXT_USER;
}

/* Stacks of a tenant over budget, replaced before unwinding and after it. */
static void test_over_budget(struct processes *processes, struct cfitables *tables)
{
	struct perf_event_attr a = attr_of(PERF_SAMPLE_CGROUP);
	struct samplestack *u = samplestack_new(processes, tables, NULL, NULL);
	struct text in = { 0 }, out = { 0 }, copy = { 0 };
	const struct ring_sample *r = record(&in, &a, saved.nstack);
	struct pj_unwinding c;
	const uint64_t *ips;
	uint64_t n;

	ok(samplestack_skip(u, &a, r, &out), "over budget before unwinding: there is a record");
	ips = chain_of(&out, &n);
	ok(overbudget_is_chain(ips, n), "  with the callchain of a tenant over budget");
	is_u64(load64(out.p + out.n - 8), 77, "  that ends as the sample did");
	ok(unwound(u, tables, &a, r, &out) && is_right(&out, 0), "a complete stack of the same sample");
	ips = chain_of(&out, &n);
	ok(!overbudget_is_chain(ips, n), "  is none of a tenant over budget");
	samplestack_recount(u, ips, n);
	r = overbudget_copy((const void *)out.p, a.sample_type, &copy);
	ok(overbudget_is_chain(r->ips, r->nips) && r->head.size == copy.n,
	   "over budget after unwinding: the same callchain");
	is_u64(load64(copy.p + copy.n - 8), 77, "  in a record that ends as the sample did");
	c = samplestack_counts(u);
	ok(c.stacks == 2 && c.unknown == 2 && c.complete == 0, "both stacks count as of unknown completeness");
	r = record(&in, &a, 256);
	ok(unwound(u, tables, &a, r, &out), "a truncated stack");
	ips = chain_of(&out, &n);
	samplestack_recount(u, ips, n);
	c = samplestack_counts(u);
	ok(c.stacks == 3 && c.unknown == 3 && c.cut == 0, "  of a tenant over budget counts alike");
	text_free(&in);
	text_free(&out);
	text_free(&copy);
	samplestack_free(u);
}

static void test_records(struct processes *processes, struct cfitables *tables)
{
	struct perf_event_attr a = attr_of(PERF_SAMPLE_CGROUP), raw = attr_of(PERF_SAMPLE_CGROUP | PERF_SAMPLE_RAW);
	struct samplestack *u = samplestack_new(processes, tables, NULL, NULL);
	struct text in = { 0 }, out = { 0 }, shown = { 0 };
	const struct ring_sample *r = record(&in, &a, saved.nstack);
	struct pj_unwinding c;
	uint64_t n;

	ok(!samplestack_sample(u, &a, r, true, 1, &out), "no table is there yet: to be tried again");
	ok(samplestack_sample(u, &a, r, false, 1, &out), "who does not wait gets what there is");
	ok(samplestack_counts(u).late == 1, "  counted");
	samplestack_reset_counts(u);
	ok(unwound(u, tables, &a, r, &out), "then they are");
	if (!ok(is_right(&out, 0), "callers are those of libgcc")) {
		const uint64_t *ips = chain_of(&out, &n);

		for (uint64_t i = 0; i < n; i++)
			printf("# %" PRIx64 " %" PRIx64 "\n", ips[i],
			       i >= 3 && i - 3 < (uint64_t)saved.nwant ? saved.want[i - 3] : 0);
	}
	ok(((const struct perf_record *)(const void *)out.p)->size == out.n && out.n < 1024,
	   "a record without a stack");
	is_u64(load64(out.p + out.n - 8), 77, "  that ends as it did");
	r = record(&in, &raw, saved.nstack);
	ok(unwound(u, tables, &raw, r, &out) && is_right(&out, 0) && memcmp(out.p + out.n - 16, "\4\0\0\0abcd", 8) == 0,
	   "fields of a tracepoint stay");
	r = record(&in, &a, 256);
	ok(unwound(u, tables, &a, r, &out), "a short copy");
	(void)chain_of(&out, &n);
	ok(n < 3 + (uint64_t)saved.nwant && chain_of(&out, &n)[n - 1] == CONTEXT_USER &&
		   chain_of(&out, &n)[n - 2] != CONTEXT_USER,
	   "  ends in a mark");
	c = samplestack_counts(u);
	ok(c.stacks == 3 && c.complete == 2 && c.cut == 1 && c.broken == 0 && c.late == 0, "all of it is counted");
	unwindstats_text(&shown, &c);
	is_str(text_view(&shown), STR("66.7 % of 3 stacks are complete, 33.3 % are longer than the copy"),
	       "  and said");
	shown.n = 0;
	unwindstats_text(&shown, &(struct pj_unwinding){ .stacks = 3000,
							 .complete = 2984,
							 .cut = 2,
							 .broken = 14,
							 .no_stack = 7,
							 .other_stack = 6,
							 .narrow = 1,
							 .joined = 9,
							 .lost = 2,
							 .late = 1 });
	is_str(text_view(&shown),
	       STR("99.5 % of 3,000 stacks are complete, under 0.1 % are longer than the copy, 0.5 % are broken (0.2 % in exec or exit: no "
		   "stack, 0.2 % where Go changes to another stack, under 0.1 % of 32-bit code); 9 exceed the copy and continue by frame pointers, 2 not to the root; 1 unwound before its unwind tables were loaded"),
	       "  with all that there is to be said");
	shown.n = 0;
	unwindstats_text(&shown, &(struct pj_unwinding){ .stacks = 9, .complete = 9, .java_limited = 2 });
	is_str(text_view(&shown),
	       STR("100.0 % of 9 stacks are complete; 2 compiled Java methods have more inlined calls than are read"),
	       "  and Java methods without their inlined calls");
	shown.n = 0;
	unwindstats_text(&shown, &(struct pj_unwinding){ .stacks = 9,
							 .complete = 9,
							 .same = 3000,
							 .one_lost = 1000,
							 .other = 1,
							 .short_of = 2,
							 .lost_java = 3,
							 .fewer = 4 });
	is_str(text_view(&shown),
	       STR("100.0 % of 9 stacks are complete; of 4,010 compared with frame pointers, 99.8 % are equal (1,000 except for one caller "
		   "that frame pointers lose), 1 differ, 2 end where frame pointers go on, 3 have more callers in Java, 4 have more callers in code without frame pointers"),
	       "  and what --unwind=verify found");
	for (uint16_t size = 0; size < in.n; size = (uint16_t)(size + 8)) {
		memcpy(in.p + offsetof(struct perf_record, size), &size, sizeof(size));
		(void)samplestack_sample(u, &a, r, false, 1, &out);
	}
	ok(samplestack_counts(u).damaged > 1000, "records that are cut are none");
	text_free(&in);
	text_free(&out);
	text_free(&shown);
	samplestack_free(u);
}

/* --unwind=verify compares the walk with the kernel's callchain by frame pointers. */
static void test_verify(struct processes *processes, struct cfitables *tables)
{
	struct perf_event_attr a = attr_of(0);
	struct samplestack *u = samplestack_new(processes, tables, NULL, NULL);
	struct text in = { 0 }, out = { 0 };
	struct pj_unwinding c;

	samplestack_verify(u, 0);
	by_pointers = saved.nwant;
	ok(unwound(u, tables, &a, record(&in, &a, saved.nstack), &out), "with --unwind=verify");
	c = samplestack_counts(u);
	ok(c.same == 1 && c.one_lost + c.fewer + c.short_of + c.other == 0, "  equal callers are counted");
	saved.want[3] ^= 16;
	ok(unwound(u, tables, &a, record(&in, &a, saved.nstack), &out), "  and another caller");
	saved.want[3] ^= 16;
	c = samplestack_counts(u);
	ok(c.same == 1 && c.one_lost + c.fewer + c.short_of + c.other == 1, "  as a difference");
	by_pointers = 0;
	text_free(&in);
	text_free(&out);
	samplestack_free(u);
}

/* Compares the stack with its `addresses` innermost callers by frame pointers, for a kernel that keeps max_stack
 * addresses. Returns the result, if it is that callers are missing or that none are. */
static enum fpcompare compared(struct processes *processes, struct cfitables *tables, int addresses, uint32_t max_stack)
{
	struct perf_event_attr a = attr_of(0);
	struct samplestack *u = samplestack_new(processes, tables, NULL, NULL);
	struct text in = { 0 }, out = { 0 };
	struct pj_unwinding c;

	samplestack_kernel_limit(u, max_stack);
	samplestack_verify(u, 0);
	by_pointers = addresses;
	(void)unwound(u, tables, &a, record(&in, &a, saved.nstack), &out);
	by_pointers = 0;
	c = samplestack_counts(u);
	text_free(&in);
	text_free(&out);
	samplestack_free(u);
	return c.same ? FPCOMPARE_SAME : c.fewer ? FPCOMPARE_FEWER : FPCOMPARE_OTHER;
}

/* The kernel truncates a callchain at kernel.perf_event_max_stack addresses, of kernel and user together. */
static void test_kernel_limit(struct processes *processes, struct cfitables *tables)
{
	ok(compared(processes, tables, 4, 5) == FPCOMPARE_SAME,
	   "a callchain of as many addresses as the kernel keeps is truncated");
	ok(compared(processes, tables, 4, 6) == FPCOMPARE_FEWER,
	   "  one of fewer is not, and context markers are no addresses");
	ok(compared(processes, tables, 4, 0) == FPCOMPARE_FEWER, "  by default, one of 5 is not");
}

/* The frames of the user that a walk found. */
static uint64_t frames_of(const struct text *out)
{
	uint64_t n, end;
	const uint64_t *ips = chain_of(out, &n);

	for (end = n; end > 3 && ips[end - 1] == CONTEXT_USER; end--)
		;
	return end - 3;
}

/* Beyond --max-frames the outer frames are left out: those next to the leaf stay, and the stack is counted as longer
 * than its copy. */
static void test_limit(struct processes *processes, struct cfitables *tables)
{
	struct perf_event_attr a = attr_of(PERF_SAMPLE_CGROUP);
	struct samplestack *u = samplestack_new(processes, tables, NULL, NULL);
	struct text in = { 0 }, out = { 0 };
	const struct ring_sample *r = record(&in, &a, saved.nstack);
	const uint64_t *ips;
	struct pj_unwinding c;
	uint64_t n;

	samplestack_limit(u, 4);
	ok(unwound(u, tables, &a, r, &out), "with --max-frames=4");
	ips = chain_of(&out, &n);
	is_u64(frames_of(&out), 4, "  a stack has 4 frames");
	ok(ips[4] == saved.want[1] && ips[5] == saved.want[2] && ips[6] == saved.want[3], "  those next to the leaf");
	c = samplestack_counts(u);
	ok(ips[n - 1] == CONTEXT_USER && c.stacks == 1 && c.cut == 1 && c.complete == 0,
	   "  and is counted as truncated");
	samplestack_free(u);

	u = samplestack_new(processes, tables, NULL, NULL);
	samplestack_limit(u, 0);
	deep(3400);
	r = record(&in, &a, saved.nstack);
	ok(unwound(u, tables, &a, r, &out), "a stack of 3,400 frames");
	c = samplestack_counts(u);
	ips = chain_of(&out, &n);
	printf("# %zu bytes of stack, %llu frames\n", saved.nstack, (unsigned long long)frames_of(&out));
	ok(frames_of(&out) <= 2048 && frames_of(&out) > 500 && c.cut == 1,
	   "  has 2,048 frames at most by default, and is counted as truncated");
	ok(ips[4] == saved.want[1] && ips[3 + FRAMES / 2] == saved.want[FRAMES / 2], "  with those next to the leaf");
	deep(5);
	text_free(&in);
	text_free(&out);
	samplestack_free(u);
}

/* What cannot be had is asked for once, and nobody waits for ever. */
static void test_nothing(struct cfitables *tables)
{
	struct mapped_file file = {
		.file_id.major = 1, .file_id.minor = 2, .file_id.inode = 3, .path = STR("/nowhere")
	};
	struct mapping m = { .start = 0x1000, .length = 0x1000, .file = &file };
	struct process nobody = { .pid = (uint32_t)getpid() };
	struct timespec moment = { .tv_nsec = 1000000 };
	enum cfitables_answer answer = CFITABLES_WAIT;
	struct unwind_code code;

	ok(cfitables_find(tables, &nobody, &m, 0x1000, 1, &code) == CFITABLES_WAIT,
	   "a file that is not there is asked for");
	ok(cfitables_find(tables, &nobody, &m, 0x1000, 2 * SECOND_NS, &code) == CFITABLES_LATE,
	   "  and waited for, but not for ever");
	for (unsigned tries = 0; tries < 60000 && answer != CFITABLES_NONE; tries++) {
		nanosleep(&moment, NULL);
		cfitables_take(tables, 1);
		answer = cfitables_find(tables, &nobody, &m, 0x1000, 1, &code);
	}
	ok(answer == CFITABLES_NONE && cfitables_count(tables).gone == 1, "  until it is known that it is gone");
	file = (struct mapped_file){ .path = STR("//anon") };
	ok(cfitables_find(tables, &nobody, &m, 0x1000, 1, &code) == CFITABLES_NONE, "what is no file has no tables");
	ok(cfitables_count(tables).tables > 1 && cfitables_count(tables).bytes > 10000, "tables are counted");
	cfitables_tick(tables, 120 * SECOND_NS);
	is_u64(cfitables_count(tables).tables, 0, "those that nobody used for a minute are let go");
}

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(PJ_ASAN)
#define HERE true
#else
#define HERE false /* the functions above are compiled all the same */
#endif

static void test_all(void)
{
	struct processes *p = processes_new(NULL);
	struct cfitables *tables = cfitables_start(&(struct cfitables_options){ .proc = "/proc" });

	rescan_read(p, (uint32_t)getpid());
	deep(5);
	if (saved.nstack > 1000 && processes_find(p, (uint32_t)getpid())) {
		test_records(p, tables);
		test_over_budget(p, tables);
		test_verify(p, tables);
		test_kernel_limit(p, tables);
		test_limit(p, tables);
		test_nothing(tables);
	} else {
		printf("ok %d - unwinding itself # SKIP process_vm_readv or /proc is not allowed here\n", ++tap_n);
	}
	cfitables_stop(tables);
	processes_free(p);
}

int main(void)
{
	if (HERE)
		test_all();
	else
		printf("ok %d - unwinding itself # SKIP x86-64 with glibc only\n", ++tap_n);
	return done();
}
