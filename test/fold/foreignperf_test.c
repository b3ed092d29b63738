/* SPDX-License-Identifier: Apache-2.0 */
/* foreignperf_test.c - recordings like those of other machines: skids, damaged stacks, losses, text behind the data. */
/* covers: fold/recording.c fold/process/callchain.c fold/process/branches.c fold/process/copiedstack.c */
/* covers: fold/process/addrspace.c fold/perfdata/perfread.c */
#include "fold/recording.h"

#include "common/formats/perfrecord.h"
#include "test/lib/tap.h"

#include <stdlib.h>

#define PID 12
#define KERNEL_IP UINT64_C(0xffffffff81000000)
#define REGS 0xff0fff /* all of x86-64 */

/* The recording: a file in pipe mode. */
static struct text data;
static uint64_t sample_type;

static void put64(uint64_t value)
{
	text_bytes(&data, &value, sizeof(value));
}

static void put32s(uint32_t low, uint32_t high)
{
	put64((uint64_t)high << 32 | low);
}

static size_t begin_record(uint32_t type, uint16_t misc)
{
	size_t start = data.n;
	struct perf_record record = { .type = type, .misc = misc };

	text_bytes(&data, &record, sizeof(record));
	return start;
}

static void end_record(size_t start)
{
	uint16_t size;

	while ((data.n - start) % 8)
		text_char(&data, 0);
	size = (uint16_t)(data.n - start);
	memcpy(data.p + start + 6, &size, sizeof(size));
}

static void put_string(const char *string)
{
	text_bytes(&data, string, strlen(string) + 1);
}

static void put_trailer(uint64_t id)
{
	put32s(PID, PID);
	put64(1000);
	put64(id);
}

static void put_attr(uint64_t id, uint64_t config)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
					.size = 96,
					.config = config,
					.sample_type = sample_type,
					.branch_sample_type = sample_type & PERF_SAMPLE_BRANCH_STACK ? 1u << 11 : 0,
					.sample_regs_user = sample_type & PERF_SAMPLE_REGS_USER ? REGS : 0,
					.sample_stack_user = sample_type & PERF_SAMPLE_STACK_USER ? 64 : 0,
					.sample_id_all = 1 };
	size_t start = begin_record(RECORD_ATTR, 0);

	text_bytes(&data, &attr, attr.size);
	put64(id);
	end_record(start);
}

static void put_map(uint64_t address, uint32_t protection, const char *path)
{
	size_t start = begin_record(RECORD_MMAP2, 2 | (protection & 4 ? 0 : 1 << 13));

	put32s(PID, PID);
	put64(address);
	put64(0x1000);
	put64(0);
	put64(0);
	put64(0);
	put64(0);
	put32s(protection, 2);
	put_string(path);
	while ((data.n - start) % 8)
		text_char(&data, 0);
	put_trailer(1);
	end_record(start);
}

/* Begins a recording of x86-64: a process with code of two files and a writable mapping. */
static void begin_data(uint64_t more)
{
	size_t start;

	data.n = 0;
	sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | more;
	text_bytes(&data, "PERFILE2", 8);
	put64(16);
	put_attr(1, 0);
	put_attr(2, 1);
	start = begin_record(RECORD_FEATURE, 0);
	put64(6); /* ARCH */
	text_bytes(&data, "\x08\0\0\0x86_64\0", 12);
	end_record(start);
	start = begin_record(RECORD_COMM, 0);
	put32s(PID, PID);
	text_bytes(&data, "app\0\0\0\0", 8);
	put_trailer(1);
	end_record(start);
	put_map(0x401000, 5, "/nowhere/one");
	put_map(0x501000, 5, "/nowhere/two");
	put_map(0x601000, 3, "/nowhere/data");
}

static size_t begin_sample(uint64_t id, uint16_t mode, uint64_t ip)
{
	size_t start = begin_record(RECORD_SAMPLE, mode);

	put64(id);
	put64(ip);
	put32s(PID, PID);
	put64(1000);
	return start;
}

static void put_lost(uint64_t id, uint64_t lost)
{
	size_t start = begin_record(RECORD_LOST_SAMPLES, 0);

	put64(lost);
	put_trailer(id);
	end_record(start);
}

static struct samples samples;
static struct recording_tally tally;

/* Reads the recording. Returns its only stack, or the one of the first node with a weight. */
static struct str fold_data(const struct samples_options *options)
{
	static struct text text;
	struct recording_options how = { .samples = options, .threads = 1, .symfs = "/nowhere" };
	uint32_t path[64], n = 0;
	struct in input;

	samples_free(&samples);
	recording_tally_free(&tally);
	tally = (struct recording_tally){ 0 };
	samples_init(&samples, options);
	in_memory(&input, text_view(&data), "data");
	recording_read(&how, &input, &samples, &tally);
	in_close(&input);
	text.n = 0;
	for (uint32_t node = 1; node < samples.stacks.n; node++) {
		if (!samples.stacks.self[0][node])
			continue;
		for (uint32_t id = node; id && n < countof(path); id = samples.stacks.node[id].parent)
			path[n++] = samples.stacks.node[id].frame;
		while (n-- > 0) {
			text_str(&text, intern_str(&samples.stacks.frames, path[n]));
			text_char(&text, n ? ';' : 0);
		}
		text.n--;
		break;
	}
	return text_view(&text);
}

static const struct samples_options plain = { .names = { .kinds = NAMES_ALL_KINDS } };

/* ---- one test each ------------------------------------------------------------------------------------------- */

static void losses_of_events(void)
{
	struct samples_options second = plain;

	begin_data(0);
	end_record(begin_sample(1, 2, 0x401010));
	end_record(begin_sample(2, 2, 0x401010));
	put_lost(1, 3);
	put_lost(2, 4);
	fold_data(&plain);
	is_u64(samples.tally.lost, 3, "lost samples of the folded event");
	select_only(&second.select, "event=instructions*");
	fold_data(&second);
	is_u64(samples.tally.lost, 4, "  and of the other one, if it is selected");
	select_free(&second.select);
}

static void skids(void)
{
	begin_data(0);
	end_record(begin_sample(1, 1, 0x401010));
	is_str(fold_data(&plain), STR("app;[one]"), "interrupted in the kernel, the precise address is in user code");
	begin_data(0);
	end_record(begin_sample(1, 2, KERNEL_IP));
	is_str(fold_data(&plain), STR("app;[kernel.kallsyms]_[k]"), "  and the reverse");
}

/* Adds a sample with a stack copy: each frame has the saved frame pointer and a return address. */
static void put_copied(const uint64_t *address, unsigned n)
{
	const uint64_t sp = 0x7ffd00000000;
	size_t start = begin_sample(1, 2, 0x401010);

	put64(2);
	for (unsigned reg = 0; reg < 24; reg++)
		if (REGS >> reg & 1)
			put64(reg == 8 ? 0x401010 : reg == 6 || reg == 7 ? sp : 0);
	put64(64);
	for (unsigned i = 0; i < 4; i++) {
		put64(sp + 16 * (i + 1));
		put64(i < n ? address[i] : 0);
	}
	put64(64);
	end_record(start);
}

static void impossible_callers(void)
{
	static const uint64_t bad[] = { 0, 16, 0x601010, UINT64_C(0x00b7ace770fe30ac), UINT64_C(0xb7ace770fe30acff) };

	begin_data(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	put_copied((const uint64_t[]){ 0x501010, 0x401020 }, 2);
	is_str(fold_data(&plain), STR("app;[one];[two];[one]"), "callers by frame pointers");
	for (size_t i = 0; i < countof(bad); i++) {
		begin_data(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
		put_copied((const uint64_t[]){ 0x501010, bad[i], 0x401020 }, 3);
		is_str(fold_data(&plain), STR("app;[two];[one]"), "  end at a word that is no return address");
	}
}

/* Adds a sample of LBR call stacks: the last call went from file two to file one, the interrupt came in file two. */
static void put_branches(uint64_t ip)
{
	size_t start = begin_sample(1, ip == KERNEL_IP ? 1 : 2, ip);

	put64(4);
	put64(CONTEXT_KERNEL);
	put64(KERNEL_IP);
	put64(CONTEXT_USER);
	put64(0x501050);
	put64(1);
	put64(0x501010);
	put64(0x401000);
	put64(0);
	end_record(start);
}

static void branches_after_a_skid(void)
{
	begin_data(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK);
	put_branches(0x401020);
	is_str(fold_data(&plain), STR("app;[two];[one];[kernel.kallsyms]_[k]"),
	       "LBR: the interrupt came after the precise address");
	begin_data(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK);
	put_branches(KERNEL_IP);
	is_str(fold_data(&plain), STR("app;[two];[two];[kernel.kallsyms]_[k]"), "  otherwise its place counts");
}

static void trailing_messages(void)
{
	begin_data(0);
	end_record(begin_sample(1, 2, 0x401010));
	text_add(&data, "[ perf record: Woken up 1 times to write data ]\n");
	is_str(fold_data(&plain), STR("app;[one]"), "messages of perf record behind the data");
	ok(!tally.damaged, "  are no damage");
	begin_data(0);
	end_record(begin_sample(1, 2, 0x401010));
	text_add(&data, "[ other: text ]\n");
	fold_data(&plain);
	ok(tally.damaged, "  other bytes are");
}

int main(void)
{
	setenv("HOME", "/nowhere", 1);
	diag_tool("test");
	losses_of_events();
	skids();
	impossible_callers();
	branches_after_a_skid();
	trailing_messages();
	samples_free(&samples);
	recording_tally_free(&tally);
	text_free(&data);
	return done();
}
