/* The kernel in a window: its own mapping, code that it generated, modules from their first sample on, build-ids. The
 * files of the kernel are this test's, as a kernel without modules has no /proc/modules. */
/* covers: record/processes/kernel.c record/processes/kerneltext.c */
#include "common/arena.h"
#include "common/files/fullio.h"
#include "record/processes/kernel.h"
#include "record/processes/kerneltext.h"
#include "record/perf/rings.h"
#include "test/lib/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#define NF_CONNTRACK UINT64_C(0xffffffffc0010000)
#define ZRAM UINT64_C(0xffffffffc0050000)
#define PROGRAMS UINT64_C(0xffffffffc0100000)

static struct text symbols; /* of /proc/kallsyms */
static const char *modules;

/* An ELF note of type NT_GNU_BUILD_ID with 20 bytes. */
#define NOTE(byte)                                                                                                   \
	"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0" byte byte byte byte byte byte byte byte byte byte byte byte byte byte byte \
		byte byte byte byte byte

static struct str file_of(const char *path)
{
	static char dependencies[320];
	struct utsname host;

	uname(&host);
	snprintf(dependencies, sizeof(dependencies), "/lib/modules/%s/modules.dep", host.release);
	if (strcmp(path, "/proc/kallsyms") == 0)
		return text_view(&symbols);
	if (strcmp(path, "/proc/modules") == 0)
		return str_of(modules);
	if (strcmp(path, "/sys/kernel/notes") == 0)
		return STR(NOTE("K"));
	if (strcmp(path, "/sys/module/nf_conntrack/notes/.note.gnu.build-id") == 0)
		return STR(NOTE("N"));
	if (strcmp(path, dependencies) == 0)
		return STR("kernel/net/netfilter/nf_conntrack.ko.xz: kernel/lib/libcrc32c.ko.xz\n");
	return (struct str){ 0 };
}

static bool fake_read_at(int dir, const char *path, struct text *text, size_t max)
{
	(void)dir;
	(void)max;
	text_str(text, file_of(path));
	return true;
}

static int fake_open(const char *path, int flags)
{
	int fd = memfd_create("kallsyms", MFD_CLOEXEC);
	struct str bytes = file_of(path);

	(void)flags;
	if (fd < 0 || write(fd, bytes.p, bytes.n) != (ssize_t)bytes.n || lseek(fd, 0, SEEK_SET) != 0)
		abort();
	return fd;
}

#define fullio_read_at fake_read_at
#define open fake_open
#include "record/processes/kernel.c"
#undef open
#undef fullio_read_at

/* More bytes than one read takes; programs at the end, the last two without a symbol behind that has their size. */
static void write_symbols(void)
{
	text_add(&symbols, "ffffffff81000000 T _text\nffffffff81000000 T _stext\n");
	for (unsigned i = 0; i < 600; i++)
		text_printf(&symbols, "ffffffff8100%04x t function_%u\n", 16 + i * 16, i);
	text_add(&symbols, "ffffffff81a00000 T _etext\n"
			   "ffffffffc0010000 t nf_ct_get\t[nf_conntrack]\n"
			   "ffffffffc0100000 t bpf_prog_a\t[bpf]\n"
			   "ffffffffc0100100 t bpf_prog_b\t[bpf]\n"
			   "ffffffffc0200000 t bpf_prog_c\t[bpf]\n");
}

/* Appends a line for each record: the fields of a mapping or of generated code, its name, and the numbers of its
 * trailer. */
static struct str shown(struct text *records)
{
	static struct text lines;
	struct perf_record record;

	text_free(&lines);
	for (size_t at = 0; at < records->n; at += record.size) {
		const char *p = records->p + at;
		struct ring_sample_id id;

		memcpy(&record, p, sizeof(record));
		if (record.size < sizeof(record) + sizeof(id) || record.size % 8 || record.size > records->n - at)
			return STR("damaged");
		memcpy(&id, p + record.size - sizeof(id), sizeof(id));
		if (record.type == RECORD_MMAP)
			text_printf(&lines, "map %d %llx+%llx at %llx %s", (int)load32(p + 8),
				    (unsigned long long)load64(p + 16), (unsigned long long)load64(p + 24),
				    (unsigned long long)load64(p + 32), p + 40);
		else
			text_printf(&lines, "code %llx+%x type %u %s", (unsigned long long)load64(p + 8),
				    load32(p + 16), load16(p + 20), p + 24);
		text_printf(&lines, " event %u time %u\n", (unsigned)id.event, (unsigned)id.time);
	}
	text_free(records);
	return text_view(&lines);
}

#define KERNEL_LINE "map -1 ffffffff81000000+a00000 at ffffffff81000000 [kernel.kallsyms]_text event 7 time 1000\n"
#define PROGRAM_B "code ffffffffc0100100+1000 type 1 bpf_prog_b event 7 time 1000\n"
#define PROGRAM_C "code ffffffffc0200000+1000 type 1 bpf_prog_c event 7 time 1000\n"

/* Returns the line of the mapping of nf_conntrack, with the release of this host in its path. */
static struct str module_line(uint64_t start)
{
	static char line[512];
	struct utsname host;

	uname(&host);
	snprintf(line, sizeof(line),
		 "map -1 %llx+30000 at 0 /lib/modules/%s/kernel/net/netfilter/nf_conntrack.ko.xz event 7 time 1000\n",
		 (unsigned long long)start, host.release);
	return str_of(line);
}

static struct str begun(struct kernel *kernel)
{
	struct text records = { 0 };

	kernel_begin(kernel, &records, 7, 1000);
	return shown(&records);
}

static struct str hit(struct kernel *kernel, const uint64_t *ips, size_t n)
{
	struct text records = { 0 };

	kernel_modules_hit(kernel, &records, ips, n, 7, 1000);
	return shown(&records);
}

static void test_modules(struct kernel *kernel)
{
	const uint64_t below_user[] = { UINT64_C(0xffffffff81000010), CONTEXT_USER, NF_CONNTRACK },
		       in_one[] = { NF_CONNTRACK + 0x2ffff, NF_CONNTRACK }, behind[] = { NF_CONNTRACK + 0x30000 },
		       in_other[] = { ZRAM };
	struct text section = { 0 };

	is_str(hit(kernel, below_user, countof(below_user)), STR(""), "no module: an address behind the user's mark");
	is_str(hit(kernel, behind, countof(behind)), STR(""), "nor one between modules");
	is_str(hit(kernel, in_one, countof(in_one)), module_line(NF_CONNTRACK), "two samples in a module: one record");
	is_str(hit(kernel, in_one, countof(in_one)), STR(""), "  and no more in this window");
	kernel_build_ids(kernel, &section);
	ok(section.n > 128 && section.p[12] == 'K' && section.p[32] == 20 &&
		   section.p[load16(section.p + 6) + 12] == 'N',
	   "build-ids: of the kernel and of this module");
	is_u64(section.n, (size_t)load16(section.p + 6) + load16(section.p + load16(section.p + 6) + 6), "  alone");
	text_free(&section);
	is_str(hit(kernel, in_other, countof(in_other)),
	       STR("map -1 ffffffffc0050000+b000 at 0 [zram] event 7 time 1000\n"),
	       "one that modules.dep does not list");
	begun(kernel);
	is_str(hit(kernel, in_one, countof(in_one)), module_line(NF_CONNTRACK), "the next window has its record again");
	modules = "nf_conntrack 196608 0 - Live 0xffffffffc0090000\n";
	kernel_refresh(kernel);
	is_str(hit(kernel, in_one, countof(in_one)), STR(""),
	       "a module that is loaded elsewhere now: not at its old place");
	is_str(hit(kernel, (const uint64_t[]){ NF_CONNTRACK + 0x80000 }, 1), module_line(NF_CONNTRACK + 0x80000),
	       "  but at the new one");
}

/* Sends a KSYMBOL record. bytes: of its fields and name, at least 16 of a valid one. */
static void send_symbol(struct kernel *kernel, uint64_t start, uint16_t flags, const char *name, size_t bytes)
{
	struct {
		struct perf_record record;
		char bytes[128];
	} sent = { .record = { .type = RECORD_KSYMBOL } };
	uint32_t size = 0x40;
	uint16_t type = 1;

	memcpy(sent.bytes, &start, 8);
	memcpy(sent.bytes + 8, &size, 4);
	memcpy(sent.bytes + 12, &type, 2);
	memcpy(sent.bytes + 14, &flags, 2);
	snprintf(sent.bytes + 16, 64, "%s", name);
	sent.record.size = (uint16_t)(sizeof(sent.record) + bytes + sizeof(struct ring_sample_id));
	kernel_symbol(kernel, &sent.record);
}

static void test_generated(struct kernel *kernel)
{
	send_symbol(kernel, PROGRAMS, 1, "bpf_prog_a", 32);
	is_str(begun(kernel), STR(KERNEL_LINE PROGRAM_C PROGRAM_B), "a program that is gone");
	send_symbol(kernel, PROGRAMS, 0, "bpf_prog_d", 32);
	is_str(begun(kernel),
	       STR(KERNEL_LINE PROGRAM_C PROGRAM_B "code ffffffffc0100000+40 type 1 bpf_prog_d event 7 time 1000\n"),
	       "one that came, at its place");
	send_symbol(kernel, PROGRAMS + 0x1000, 0, "", 8);
	send_symbol(kernel, PROGRAMS, 1, "bpf_prog_d", 32);
	is_str(begun(kernel), STR(KERNEL_LINE PROGRAM_C PROGRAM_B), "a record that is too short has none");
}

/* Programs in the order in which they were loaded, two of them at one address. */
static void test_order(void)
{
	struct kernel *kernel;

	text_add(&symbols, "ffffffffc0100100 t bpf_prog_b\t[bpf]\n"
			   "ffffffffc0100000 t bpf_prog_a\t[bpf]\n"
			   "ffffffffc0100180 t bpf_prog_c\t[bpf]\n"
			   "ffffffffc0100100 t bpf_prog_b\t[bpf]\n");
	kernel = kernel_new();
	is_str(begun(kernel),
	       STR("code ffffffffc0100000+100 type 1 bpf_prog_a event 7 time 1000\n"
		   "code ffffffffc0100100+80 type 1 bpf_prog_b event 7 time 1000\n"
		   "code ffffffffc0100100+80 type 1 bpf_prog_b event 7 time 1000\n"
		   "code ffffffffc0100180+1000 type 1 bpf_prog_c event 7 time 1000\n"),
	       "programs that kallsyms lists out of order end at the next one by address");
	kernel_free(kernel);
	text_free(&symbols);
}

int main(void)
{
	struct kernel *kernel;

	write_symbols();
	modules = "zram 45056 1 - Live 0xffffffffc0050000 (O)\nno module\n"
		  "nf_conntrack 196608 2 nf_nat,xt_conntrack, Live 0xffffffffc0010000\n";
	kernel = kernel_new();
	is_str(begun(kernel),
	       STR(KERNEL_LINE "code ffffffffc0100000+100 type 1 bpf_prog_a event 7 time 1000\n" PROGRAM_B PROGRAM_C),
	       "a window begins with the kernel and its generated code, a page of it at most without a symbol behind");
	test_modules(kernel);
	test_generated(kernel);
	kernel_free(kernel);
	text_free(&symbols);
	text_add(&symbols,
		 "0000000000000000 T _text\n0000000000000000 T _etext\n0000000000000000 t bpf_prog_a\t[bpf]\n");
	kernel = kernel_new();
	is_str(begun(kernel), STR(""), "addresses that kptr_restrict hides: no mapping");
	kernel_free(kernel);
	text_free(&symbols);
	test_order();
	return done();
}
