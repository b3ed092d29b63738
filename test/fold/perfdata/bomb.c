/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bomb - small inputs that would cost much time or memory if the cost of anything grew faster than the input.
 *
 *	bomb KIND [N]
 *
 *	maps       N mappings of one process, each before all others
 *	forks      a process with 20000 mappings, and N children that each map one more
 *	build-ids  N mappings, and N build-ids of other files
 *	zstd       N MB of zeros, compressed
 *	storm      N processes, one after the other: a fork, a name, three mappings, a sample, an exit
 *	aux        N blocks of AUX area data of 300 kB, with a sample before and after them
 *	script     perf script text of N events
 *	collide    folded text of N names that would share one hash bucket if the hash had no secret
 *	names      samples at N functions of /evil; names-elf: that file. The names are the ends of one of 32 kB
 *	aliases    a sample of /evil; aliases-elf: N functions with long names at one address
 *	walk       N samples whose stacks are unwound through /evil; walk-elf: each register is an expression of a
 *	           thousand operations
 *	rows       N samples in /evil; rows-elf: each byte of N MB of call frame instructions is a row of 300
 *
 * Writes to stdout.
 */
#include "common/formats/perfrecord.h"
#include "common/diag.h"
#include "common/text.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef PJ_ZSTD
#include <zstd.h>
#endif

static struct text t;

static void u32(uint64_t v)
{
	uint32_t x = (uint32_t)v;

	text_bytes(&t, &x, sizeof(x));
}

static void u64(uint64_t v)
{
	text_bytes(&t, &v, sizeof(v));
}

static void string(const char *s)
{
	size_t n = strlen(s) + 1;

	text_bytes(&t, s, n);
	text_bytes(&t, "\0\0\0\0\0\0\0", -n % 8);
}

static size_t begin(uint32_t type, unsigned misc)
{
	size_t start = t.n;

	u32(type);
	u32(misc);
	return start;
}

static void end(size_t start)
{
	uint16_t n = (uint16_t)(t.n - start);

	memcpy(t.p + start + 6, &n, sizeof(n));
}

static uint64_t now = 1000000;

static void trailer(uint32_t pid)
{
	u32(pid);
	u32(pid);
	u64(++now);
	u64(0);
}

static void put_mmap(uint32_t pid, uint64_t address, uint64_t size, const char *path)
{
	size_t start = begin(RECORD_MMAP, 2);

	u32(pid);
	u32(pid);
	u64(address);
	u64(size);
	u64(0);
	string(path);
	trailer(pid);
	end(start);
}

static void put_fork(uint32_t pid, uint32_t parent)
{
	size_t start = begin(RECORD_FORK, 0);

	u32(pid);
	u32(parent);
	u32(pid);
	u32(parent);
	u64(now);
	trailer(pid);
	end(start);
}

static void put_build_id(uint64_t i)
{
	char path[40];
	size_t start = begin(RECORD_BUILD_ID, 2);

	u32(UINT32_MAX);
	for (unsigned k = 0; k < 3; k++)
		u64(i);
	snprintf(path, sizeof(path), "/other/%llu", (unsigned long long)i);
	string(path);
	end(start);
}

static void put_sample(uint32_t pid, uint64_t ip, uint64_t id)
{
	size_t start = begin(RECORD_SAMPLE, 2);

	u64(ip);
	u32(pid);
	u32(pid);
	u64(++now);
	u64(id);
	end(start);
}

static void put_attr(uint64_t event)
{
	struct perf_event_attr a = { .type = PERF_TYPE_RAW,
				     .size = sizeof(a),
				     .config = event,
				     .sample_period = 1,
				     .sample_id_all = 1,
				     .sample_type =
					     PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID };

	text_bytes(&t, &a, sizeof(a));
}

static void put_events(uint64_t n)
{
	text_add(&t, PERF_MAGIC);
	u64(PERF_PIPE_HEADER);
	for (uint64_t i = 0; i < n; i++) {
		size_t start = begin(RECORD_ATTR, 0);

		put_attr(i);
		u64(1 + i);
		end(start);
	}
}

static void put_round(void)
{
	end(begin(RECORD_FINISHED_ROUND, 0));
}

static void maps(uint64_t n)
{
	put_events(1);
	for (uint64_t i = 0; i < n; i++)
		put_mmap(7, 0x7f0000000000 - i * 0x2000, 0x1000, "/x");
	put_sample(7, 0x7f0000000000, 1);
}

static void forks(uint64_t n)
{
	put_events(1);
	for (uint64_t i = 0; i < 20000; i++)
		put_mmap(7, 0x10000 + i * 0x2000, 0x1000, "/x");
	for (uint64_t i = 0; i < n; i++) {
		uint32_t pid = (uint32_t)(100 + i);

		put_fork(pid, 7);
		put_mmap(pid, 0x5000, 0x1000, "/x");
		put_sample(pid, 0x5000, 1);
		if (i % 4096 == 0)
			put_round();
	}
}

static void put_name(uint32_t pid, const char *name)
{
	size_t start = begin(RECORD_COMM, 0x2000); /* exec */

	u32(pid);
	u32(pid);
	string(name);
	trailer(pid);
	end(start);
}

static void put_exit(uint32_t pid, uint32_t parent)
{
	size_t start = begin(RECORD_EXIT, 0);

	u32(pid);
	u32(parent);
	u32(pid);
	u32(parent);
	u64(now);
	trailer(pid);
	end(start);
}

static void storm(uint64_t n)
{
	put_events(1);
	for (uint64_t i = 0; i < n; i++) {
		uint32_t pid = (uint32_t)(100 + i);

		put_fork(pid, 7);
		put_name(pid, "short");
		put_mmap(pid, 0x400000, 0x1000, "/usr/bin/short");
		put_mmap(pid, 0x7f0000000000, 0x200000, "/usr/lib/libc.so");
		put_mmap(pid, 0x7fff00000000, 0x2000, "[vdso]");
		put_sample(pid, 0x400100, 1);
		put_exit(pid, 7);
		now += 100000;
		if (i % 1024 == 0)
			put_round();
	}
}

static void aux(uint64_t n)
{
	static const char data[300000];

	put_events(1);
	put_sample(7, 0x400100, 1);
	for (unsigned i = 0; i < 3; i++)
		put_round();
	for (uint64_t i = 0; i < n; i++) {
		size_t start = begin(RECORD_AUXTRACE, 0);

		u64(sizeof(data));
		for (unsigned k = 0; k < 4; k++)
			u64(0);
		end(start);
		text_bytes(&t, data, sizeof(data));
	}
	put_sample(7, 0x400100, 1);
}

static void build_ids(uint64_t n)
{
	char path[40];

	put_events(1);
	for (uint64_t i = 0; i < n; i++) {
		put_build_id(i);
		snprintf(path, sizeof(path), "/x/%llu", (unsigned long long)i);
		put_mmap(7, 0x10000 + i * 0x2000, 0x1000, path);
	}
	put_sample(7, 0x10000, 1);
}

static void zstd(uint64_t n)
{
#ifdef PJ_ZSTD
	struct text all = t, records = { 0 };
	char space[PERF_RECORD_MAX - 8 - 65536 / 256];
	ZSTD_CCtx *z = ZSTD_createCCtx();

	put_events(1);
	all = t;
	t = (struct text){ 0 };
	while (t.n < 1 << 20)
		end(begin(40, 0)); /* of a kind that is not known */
	records = t;
	t = all;
	for (uint64_t i = 0; i < n; i++) {
		ZSTD_inBuffer in = { records.p, records.n, 0 };

		while (in.pos < in.size) {
			ZSTD_outBuffer out = { space, sizeof(space), 0 };
			size_t start = t.n;

			ZSTD_compressStream2(z, &out, &in, ZSTD_e_continue);
			if (!out.pos)
				continue;
			begin(RECORD_COMPRESSED, 0);
			text_bytes(&t, space, out.pos);
			end(start);
		}
	}
	ZSTD_freeCCtx(z);
	text_free(&records);
#else
	(void)n;
	die("built without libzstd");
#endif
}

static void script(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		text_printf(&t, "x 7 1.%06llu: event%llu: \n\t  401000 f+0x1 (/x)\n\n", (unsigned long long)i % 1000000,
			    (unsigned long long)i);
}

/* The first factor of a hash without secret is nought: what follows does not count. */
static void collide(uint64_t n)
{
	uint64_t nought = 0xA0761D6478BD642Fu;

	for (uint64_t i = 0; i < n; i++) {
		text_bytes(&t, &nought, sizeof(nought));
		text_printf(&t, "%08llxthe end of all 1\n", (unsigned long long)i);
	}
}

/* ---- /evil ---------------------------------------------------------------------------------------------------- */

enum { BASE = 0x400000, TEXT = 0x1000, LONG = 32000, ROWS_CODE = 65000 };

static void put_attr_of(uint64_t sample_type)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .size = sizeof(a),
				     .sample_period = 1,
				     .sample_id_all = 1,
				     .sample_type = sample_type,
				     .sample_regs_user = 7 << 6,
				     .sample_stack_user = 8192 };
	size_t start;

	text_add(&t, PERF_MAGIC);
	u64(PERF_PIPE_HEADER);
	start = begin(RECORD_ATTR, 0);
	text_bytes(&t, &a, sizeof(a));
	end(start);
}

static void map_evil(uint64_t size)
{
	size_t start = begin(RECORD_MMAP, 2);

	u32(7);
	u32(7);
	u64(BASE);
	u64(size);
	u64(0);
	string("/evil");
	u32(7);
	u32(7);
	u64(++now);
	end(start);
}

static void names(uint64_t n)
{
	put_attr_of(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
	map_evil(TEXT + 16 * n);
	for (uint64_t i = 0; i < n; i++) {
		size_t start = begin(RECORD_SAMPLE, 2);

		u64(BASE + TEXT + 16 * i);
		u32(7);
		u32(7);
		u64(++now);
		end(start);
	}
}

static void aliases(uint64_t n)
{
	(void)n;
	names(1);
}

/* Registers rbp, rsp, rip, and a stack that holds return addresses. */
static void put_walked(uint64_t ip)
{
	size_t start = begin(RECORD_SAMPLE, 2);

	u64(ip);
	u32(7);
	u32(7);
	u64(++now);
	u64(2);
	u64(0x7000);
	u64(0x7000);
	u64(ip);
	u64(8192);
	for (unsigned i = 0; i < 8192 / 8; i++)
		u64(BASE + TEXT + 0x10);
	u64(8192);
	end(start);
}

static void walk(uint64_t n)
{
	put_attr_of(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER |
		    PERF_SAMPLE_STACK_USER);
	map_evil(0x10000);
	for (uint64_t i = 0; i < n; i++)
		put_walked(BASE + TEXT + 0x10);
}

static void rows(uint64_t n)
{
	put_attr_of(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER |
		    PERF_SAMPLE_STACK_USER);
	map_evil(TEXT + 16 * n * ROWS_CODE);
	for (uint64_t i = 0; i < 16 * n; i++)
		put_walked(BASE + TEXT + i * ROWS_CODE);
}

/* ELF: code of a size, which takes no bytes, then one or two sections. */
struct section {
	const char *name;
	uint32_t type;
	uint64_t flags, entry;
	struct text bytes;
};

static void put_elf(uint64_t code, struct section *section, size_t n)
{
	struct text names = { 0 };
	uint64_t at = TEXT + code;
	Elf64_Shdr h[6] = { 0 };
	Elf64_Ehdr e = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_DYN,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_phoff = sizeof(e),
			 .e_ehsize = sizeof(e),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1,
			 .e_shentsize = sizeof(h[0]),
			 .e_shnum = (Elf64_Half)(n + 3),
			 .e_shstrndx = (Elf64_Half)(n + 2) };
	Elf64_Phdr p = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X };

	text_bytes(&names, "\0.text\0.shstrtab", 17);
	h[1] = (Elf64_Shdr){ .sh_name = 1,
			     .sh_type = SHT_PROGBITS,
			     .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			     .sh_addr = TEXT,
			     .sh_offset = TEXT,
			     .sh_size = code };
	for (size_t i = 0; i < n; i++) {
		h[i + 2] = (Elf64_Shdr){ .sh_name = (uint32_t)names.n,
					 .sh_type = section[i].type,
					 .sh_flags = section[i].flags,
					 .sh_addr = at,
					 .sh_offset = at,
					 .sh_size = section[i].bytes.n,
					 .sh_link = section[i].entry ? (uint32_t)(i + 3) : 0,
					 .sh_entsize = section[i].entry };
		text_bytes(&names, section[i].name, strlen(section[i].name) + 1);
		at += section[i].bytes.n;
	}
	h[n + 2] = (Elf64_Shdr){ .sh_name = 7, .sh_type = SHT_STRTAB, .sh_offset = at, .sh_size = names.n };
	p.p_filesz = p.p_memsz = at;
	e.e_shoff = at + names.n;
	text_bytes(&t, &e, sizeof(e));
	text_bytes(&t, &p, sizeof(p));
	while (t.n < TEXT + code)
		text_char(&t, 0);
	for (size_t i = 0; i < n; i++)
		text_str(&t, text_view(&section[i].bytes));
	text_str(&t, text_view(&names));
	text_bytes(&t, h, (n + 3) * sizeof(h[0]));
}

static void put_symbols(uint64_t n, uint64_t step)
{
	struct section s[] = { { ".symtab", SHT_SYMTAB, 0, sizeof(Elf64_Sym), { 0 } },
			       { ".strtab", SHT_STRTAB, 0, 0, { 0 } } };
	Elf64_Sym sym = { 0 };

	text_bytes(&s[0].bytes, &sym, sizeof(sym));
	for (uint64_t i = 0; i < n; i++) {
		sym = (Elf64_Sym){ .st_name = (uint32_t)(1 + i % LONG),
				   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				   .st_shndx = 1,
				   .st_value = TEXT + i * step,
				   .st_size = 16 };
		text_bytes(&s[0].bytes, &sym, sizeof(sym));
	}
	text_char(&s[1].bytes, 0);
	for (unsigned i = 0; i < 2 * LONG / 8; i++)
		text_printf(&s[1].bytes, "%07u_", i);
	text_char(&s[1].bytes, 0);
	put_elf(n * step + 16, s, 2);
}

static void names_elf(uint64_t n)
{
	put_symbols(n, 16);
}

static void aliases_elf(uint64_t n)
{
	put_symbols(n, 0);
}

static void uleb(struct text *text, uint64_t v)
{
	for (; v > 127; v >>= 7)
		text_char(text, (char)(v | 128));
	text_char(text, (char)v);
}

static void expression(struct text *text, struct str first, unsigned operations)
{
	uleb(text, first.n + 2 * operations);
	text_str(text, first);
	for (unsigned i = 0; i < operations; i++)
		text_bytes(text, "\x30\x22", 2); /* lit0 plus */
}

/* Length, then what b holds. */
static void put_entry(struct text *text, struct text *b)
{
	uint32_t n;

	while (b->n % 8 != 4)
		text_char(b, 0);
	n = (uint32_t)b->n;
	text_bytes(text, &n, 4);
	text_str(text, text_view(b));
	b->n = 0;
}

/* zR, absolute addresses of 8 bytes; then the instructions of all. */
static void begin_cie(struct text *text)
{
	text_bytes(text, "\0\0\0\0\1zR\0\1\x78\x10\1\4", 13);
}

static void put_fde(struct text *text, uint64_t start, uint64_t size, struct str program)
{
	struct text b = { 0 };
	uint32_t back = (uint32_t)text->n + 4;

	text_bytes(&b, &back, 4);
	text_bytes(&b, &start, 8);
	text_bytes(&b, &size, 8);
	text_char(&b, 0);
	text_str(&b, program);
	put_entry(text, &b);
	text_free(&b);
}

static void walk_elf(uint64_t n)
{
	struct section s = { ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 0, { 0 } };
	struct text b = { 0 };

	(void)n;
	begin_cie(&b);
	text_char(&b, 0x0f); /* DW_CFA_def_cfa_expression: rsp + 8 */
	expression(&b, STR("\x77\x08"), 490);
	text_bytes(&b, "\x90\x01", 2); /* the return address is before it */
	for (unsigned reg = 0; reg < 16; reg++) {
		if (reg == 7)
			continue;
		text_char(&b, 0x16); /* DW_CFA_val_expression */
		uleb(&b, reg);
		expression(&b, STR(""), 490);
	}
	put_entry(&s.bytes, &b);
	put_fde(&s.bytes, TEXT, 0x1000, STR(""));
	put_elf(0x1000, &s, 1);
}

static void rows_elf(uint64_t n)
{
	struct section s = { ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 0, { 0 } };
	struct text b = { 0 }, program = { 0 };

	begin_cie(&b);
	text_bytes(&b, "\x0c\x07\x08\x90\x01\x14\x00\x01",
		   8); /* CFA rsp + 8, return address before it, rax: CFA + -8 */
	put_entry(&s.bytes, &b);
	for (unsigned i = 0; i < ROWS_CODE; i++)
		text_char(&program, 0x41); /* the next byte of code */
	for (uint64_t i = 0; i < 16 * n; i++)
		put_fde(&s.bytes, TEXT + i * ROWS_CODE, ROWS_CODE, text_view(&program));
	put_elf(16 * n * ROWS_CODE, &s, 1);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*put)(uint64_t n);
		uint64_t n;
	} kind[] = { { "maps", maps, 1000000 },
		     { "forks", forks, 50000 },
		     { "build-ids", build_ids, 400000 },
		     { "zstd", zstd, 4000 },
		     { "storm", storm, 300000 },
		     { "aux", aux, 300 },
		     { "script", script, 500000 },
		     { "collide", collide, 300000 },
		     { "names", names, 30000 },
		     { "names-elf", names_elf, 30000 },
		     { "aliases", aliases, 1 },
		     { "aliases-elf", aliases_elf, 200000 },
		     { "walk", walk, 6000 },
		     { "walk-elf", walk_elf, 1 },
		     { "rows", rows, 8 },
		     { "rows-elf", rows_elf, 8 } };

	diag_tool("bomb");
	for (size_t i = 0; argc > 1 && i < countof(kind); i++) {
		if (strcmp(argv[1], kind[i].name) != 0)
			continue;
		kind[i].put(argc > 2 ? strtoull(argv[2], NULL, 0) : kind[i].n);
		if (fwrite(t.p, 1, t.n, stdout) != t.n || fflush(stdout) != 0)
			die_errno("cannot write");
		text_free(&t);
		return 0;
	}
	die_usage("no such kind");
}
