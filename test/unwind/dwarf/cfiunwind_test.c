/* Unwinds itself: registers by getcontext, a copy of the stack, tables of the files in memory; libgcc's
 * _Unwind_Backtrace says what is right. */
/* covers: unwind/dwarf/cfiunwind.c unwind/dwarf/unwindelf.c unwind/dwarf/unwindtable.c */
#include "unwind/dwarf/cfiunwind.h"
#include "test/lib/tap.h"

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#define KEEP __attribute__((noinline))

/* ---- this process' code ---- */

struct object {
	uint64_t start, end, bias;
	struct unwind_table *table;
};

static struct object object[32];
static size_t nobjects;

static int open_object(const char *name)
{
	unsigned long vdso = getauxval(AT_SYSINFO_EHDR);
	int fd;

	if (name[0] == '/')
		return open(name, O_RDONLY | O_CLOEXEC);
	if (!name[0])
		return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	fd = memfd_create("vdso", MFD_CLOEXEC);
	return vdso && write(fd, (const void *)vdso, 4096) == 4096 ? fd : -1;
}

static int add_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *why = NULL;
	int fd;

	(void)size, (void)unused;
	for (unsigned i = 0; i < info->dlpi_phnum && nobjects < countof(object); i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type != PT_LOAD || !(h->p_flags & PF_X))
			continue;
		fd = open_object(info->dlpi_name);
		object[nobjects++] = (struct object){ .start = info->dlpi_addr + h->p_vaddr,
						      .end = info->dlpi_addr + h->p_vaddr + h->p_memsz,
						      .bias = info->dlpi_addr,
						      .table = fd < 0 ? NULL : unwind_table_open(fd, &why) };
	}
	return 0;
}

static struct unwind_code code_of(uint64_t ip)
{
	for (size_t i = 0; i < nobjects; i++)
		if (ip - object[i].start < object[i].end - object[i].start)
			return (struct unwind_code){ object[i].table, object[i].bias };
	return (struct unwind_code){ 0 };
}

/* ---- capture ---- */

enum { FRAMES = 200, COPY = 1 << 18 };

static struct {
	ucontext_t context;
	uint64_t want[FRAMES];
	int nwant;
	size_t nstack;
	char stack[COPY];
} saved;

/* As a recorder would: the kernel copies, so that no sanitizer minds. Page by page, as the stack ends somewhere. */
static size_t copy_stack(uint64_t from)
{
	size_t n = 0;

	while (n < COPY) {
		size_t part = 4096 - (from + n) % 4096;
		struct iovec to = { saved.stack + n, part < COPY - n ? part : COPY - n }, at = { 0 };

		memcpy(&at.iov_base, &(uint64_t){ from + n }, 8);
		at.iov_len = to.iov_len;
		if (process_vm_readv(getpid(), &to, 1, &at, 1, 0) != (ssize_t)to.iov_len)
			break;
		n += to.iov_len;
	}
	return n;
}

static _Unwind_Reason_Code note(struct _Unwind_Context *Context, void *unused)
{
	(void)unused;
	if (saved.nwant == FRAMES)
		return _URC_NORMAL_STOP;
	saved.want[saved.nwant] = _Unwind_GetIP(Context);
	saved.nwant += saved.want[saved.nwant] != 0;
	return _URC_NO_REASON;
}

/* The first frame is this function's own, at another place of it. */
static KEEP void capture(void)
{
	getcontext(&saved.context);
	saved.nwant = 0;
	_Unwind_Backtrace(note, NULL);
	saved.nstack = copy_stack((uint64_t)saved.context.uc_mcontext.gregs[REG_RSP]);
}

/* perf's order of registers. */
static bool start(struct unwind_state *state)
{
	static const int order[] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_RIP,
				     REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
	uint64_t regs[countof(order)];

	for (unsigned i = 0; i < countof(order); i++)
		regs[i] = (uint64_t)saved.context.uc_mcontext.gregs[order[i]];
	return unwind_start(state, 0xff01ff, regs, 2, (struct str){ saved.stack, saved.nstack });
}

/* Every caller of capture is what libgcc says, and the end is the outermost function. */
static void compare(const char *what)
{
	struct unwind_state s;
	enum unwind_end end = UNWIND_MORE;
	int i = 0;

	if (!start(&s))
		end = UNWIND_NO_CODE;
	while (end == UNWIND_MORE && i < FRAMES) {
		end = unwind_step(&s, code_of(s.ip - !s.interrupted), i == 0);
		if (end != UNWIND_MORE || ++i >= saved.nwant || s.ip != saved.want[i])
			break;
	}
	if (!ok(end == UNWIND_ROOT && i + 1 == saved.nwant, what))
		printf("# end %d, frame %d of %d, ip %" PRIx64 "\n", (int)end, i, saved.nwant, s.ip);
}

/* ---- stacks to be unwound ---- */

static volatile unsigned zero;

static KEEP unsigned deep(unsigned n)
{
	if (n == 0) {
		capture();
		return 1;
	}
	return deep(n - 1) + zero;
}

static int at_comparison(const void *a, const void *b)
{
	if (saved.nwant == 0)
		capture();
	return *(const int *)a - *(const int *)b;
}

static KEEP void by_callback(void)
{
	int v[] = { 3, 1, 2 };

	qsort(v, 3, sizeof(*v), at_comparison);
	zero = (unsigned)v[0] - 1;
}

static KEEP void with_alloca(unsigned n)
{
	char *p = __builtin_alloca(n);

	memset(p, 0, n);
	capture();
	zero = (unsigned char)p[n / 2];
}

static KEEP void with_realigned_stack(unsigned n)
{
	_Alignas(64) volatile char v[64];

	v[0] = 0;
	with_alloca(n);
	zero = (unsigned char)v[0];
}

static KEEP void with_both(unsigned n)
{
	_Alignas(64) volatile char v[64];
	char *p = __builtin_alloca(n);

	memset(p, 0, n);
	v[0] = 0;
	capture();
	zero = (unsigned char)v[0] + (unsigned char)p[n / 2];
}

static void at_signal(int sig)
{
	(void)sig;
	capture();
}

static void *in_thread(void *unused)
{
	deep(3);
	return unused;
}

static void fresh(void)
{
	saved.nwant = 0;
}

static void test_stacks(void)
{
	pthread_t thread;

	deep(0);
	compare("a call");
	deep(100);
	compare("100 calls deep");
	fresh();
	by_callback();
	compare("a callback of libc");
	for (unsigned n = 1; n < 10000; n = 10 * n + 7) {
		with_alloca(n);
		compare("alloca");
		with_realigned_stack(n);
		compare("a realigned stack");
		with_both(n);
		compare("a realigned stack and alloca");
	}
	signal(SIGUSR1, at_signal);
	raise(SIGUSR1);
	compare("a signal handler");
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	compare("a thread");
}

/* A copy of each length: as far as it reaches, the frames are the same, and it ends as cut. */
static void test_cuts(void)
{
	bool good = true;
	size_t all;

	deep(20);
	all = saved.nstack < 4096 ? saved.nstack : 4096;
	for (size_t n = 0; n < all; n += 4) {
		struct unwind_state s;
		enum unwind_end end = UNWIND_MORE;

		saved.nstack = n;
		start(&s);
		for (int i = 1; (end = unwind_step(&s, code_of(s.ip - !s.interrupted), i == 1)) == UNWIND_MORE; i++)
			good = good && i < saved.nwant && s.ip == saved.want[i];
		good = good && (end == UNWIND_STACK_CUT || end == UNWIND_ROOT);
	}
	ok(good, "cut copies give the first frames");
}

#ifdef __x86_64__
enum { RCX = 2 /* its DWARF number */ };

/* As the end of _Unwind_Resume: the return address is in rcx, and the stack is the caller's already. */
__asm__(".text\n"
	".type popped_address, @function\n"
	"popped_address:\n"
	".cfi_startproc\n"
	".cfi_def_cfa_offset 0\n"
	".cfi_register %rip, %rcx\n"
	"jmp *%rcx\n"
	"nop\n"
	".cfi_endproc\n"
	".size popped_address, . - popped_address\n");
extern const char popped_address[];

/* As libc's __restore_rt: behind the system call nothing is of that function any more. */
__asm__(".text\n"
	"ret\n"
	".type restorer, @function\n"
	"restorer:\n"
	".cfi_startproc\n"
	".cfi_signal_frame\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rip, -16\n"
	"syscall\n"
	".cfi_endproc\n"
	".size restorer, . - restorer\n"
	"after_restorer: nop\n");
extern const char after_restorer[];

static void test_returning(void)
{
	struct unwind_state s;
	uint64_t want;

	fresh();
	capture();
	start(&s);
	s.ip = (uint64_t)(uintptr_t)after_restorer;
	memcpy(&want, saved.stack, sizeof(want));
	ok(unwind_step(&s, code_of(s.ip), true) == UNWIND_MORE && s.ip == want && s.interrupted,
	   "on the way back from a signal handler");
}

/* A function that saves rbp and changes it, and one that finds its frame by rbp alone. */
__asm__(".text\n"
	".type saves_rbp, @function\n"
	"saves_rbp:\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"saved_rbp: nop\n"
	"nop\n"
	".cfi_endproc\n"
	".size saves_rbp, . - saves_rbp\n"
	".type needs_rbp, @function\n"
	"needs_rbp:\n"
	".cfi_startproc\n"
	".cfi_def_cfa %rbp, 16\n"
	".cfi_offset %rbp, -16\n"
	"nop\n"
	"nop\n"
	".cfi_endproc\n"
	".size needs_rbp, . - needs_rbp\n");
extern const char saved_rbp[], needs_rbp[];

/* Starts at an address with sp and ip alone, as a thread that is off the CPU since before a recording. */
static void start_at(struct unwind_state *state, const char *code)
{
	start(state);
	state->ip = (uint64_t)(uintptr_t)code;
	state->valid = 1U << CFI_RSP;
	state->bp = state->reg[CFI_RBP] = 1;
}

static void test_few_registers(void)
{
	enum { FRAME = 5 };
	const uint64_t want = (uint64_t)(uintptr_t)test_returning;
	uint64_t words[FRAME + 2];
	struct unwind_state s;

	fresh();
	capture();
	start(&s);
	memset(words, 0, sizeof(words));
	words[0] = s.stack_start + 8 * FRAME;
	words[1] = (uint64_t)(uintptr_t)needs_rbp + 1;
	words[FRAME] = 1;
	words[FRAME + 1] = want;
	memcpy(saved.stack, words, sizeof(words));
	start_at(&s, needs_rbp);
	ok(unwind_step(&s, code_of(s.ip), true) == UNWIND_NO_CODE, "a frame that a register finds, which is unknown");
	start_at(&s, saved_rbp);
	ok(unwind_step(&s, code_of(s.ip), true) == UNWIND_MORE && s.ip == words[1] &&
		   s.valid == (1U << CFI_RSP | 1U << CFI_RBP),
	   "  it is known from the frame on that has saved it");
	ok(unwind_step(&s, code_of(s.ip - 1), false) == UNWIND_MORE && s.ip == want &&
		   s.sp == s.stack_start + 8 * (FRAME + 2),
	   "  and finds the frame then");
}

/* Assembly without a table, beside code with one: its caller is at sp, if that is asked for. */
__asm__(".text\n"
	".type without_table, @function\n"
	"without_table: nop\n"
	"nop\n"
	"ret\n"
	".size without_table, . - without_table\n");
extern const char without_table[];

static void test_assume_leaf(void)
{
	struct unwind_state s;
	uint64_t want = (uint64_t)(uintptr_t)test_returning, zeros = 0;

	fresh();
	capture();
	memcpy(saved.stack, &want, sizeof(want));
	start(&s);
	s.ip = (uint64_t)(uintptr_t)without_table + 1;
	s.assume_leaf = true;
	ok(unwind_step(&s, code_of(s.ip), true) == UNWIND_MORE && s.no_fde && s.ip == want &&
		   s.sp == s.stack_start + 8 && !s.interrupted,
	   "code that the table leaves out, as a leaf");
	start(&s);
	s.ip = (uint64_t)(uintptr_t)without_table + 1;
	s.bp = 1;
	ok(unwind_step(&s, code_of(s.ip), true) == UNWIND_NO_CODE && s.no_fde, "  only if it is asked for");
	memcpy(saved.stack, &zeros, sizeof(zeros));
	start(&s);
	s.ip = (uint64_t)(uintptr_t)without_table + 1;
	s.assume_leaf = true;
	ok(unwind_step(&s, code_of(s.ip), true) == UNWIND_NO_CODE && s.no_fde, "  and 0 is no root then");
}

/* .init has no table; a library's is met as it is loaded. */
static bool steps_from(uint64_t ip, size_t pushed)
{
	struct unwind_state s;
	uint64_t want;

	start(&s);
	s.ip = ip;
	memcpy(&want, saved.stack + pushed, sizeof(want));
	return unwind_step(&s, code_of(ip), true) == UNWIND_MORE && s.ip == want && s.sp == s.stack_start + pushed + 8;
}

extern void _init(void);

static void test_init(void)
{
	static const unsigned char endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa }, enter[] = { 0x48, 0x83, 0xec, 8 },
				   leave[] = { 0x48, 0x83, 0xc4, 8, 0xc3 };
	const unsigned char *code = (const void *)(uintptr_t)_init;
	uint64_t at = (uint64_t)(uintptr_t)code, n = memcmp(code, endbr, 4) == 0 ? 4 : 0, end = n;

	fresh();
	capture();
	while (end < 100 && memcmp(code + end, leave, sizeof(leave)) != 0)
		end++;
	if (memcmp(code + n, enter, sizeof(enter)) != 0 || end == 100) {
		printf("ok %d - .init # SKIP another C library\n", ++tap_n);
		return;
	}
	for (size_t i = 0; i < 16; i++)
		saved.stack[i] = (char)(i + 1);
	ok(steps_from(at, 0) && steps_from(at + n, 0), ".init: nothing is pushed");
	ok(steps_from(at + n + 4, 8) && steps_from(at + end, 8), "  a word is");
	ok(steps_from(at + end + 4, 0), "  it is popped");
}

/* ---- images ---- */

static int image_of(const struct unwind_table *table)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	ok(fd >= 0 && unwind_table_save(table, fd), "a table becomes an image");
	return fd;
}

/* What says where things are may say anything: it is refused, or nothing outside of the image is read. */
static void test_damaged_image(const struct unwind_table *table)
{
	static const uint64_t wrong[] = { 0, 1, 7, 0x7fffffff, UINT64_C(0x7fffffffffffffff), UINT64_MAX };
	unsigned refused = 0, tried = 0;
	int image = image_of(table), copy;
	const char *why;
	char head[152]; /* all of it: magic, counts and places */
	struct stat st;

	ok(fstat(image, &st) == 0 && pread(image, head, sizeof(head), 0) == sizeof(head), "it has a head");
	for (size_t at = 0; at < sizeof(head); at += 8) {
		for (size_t i = 0; i < countof(wrong); i++) {
			struct unwind_state s = { .ip = 0x1234, .sp = 16, .interrupted = true };
			struct unwind_table *bad;
			uint64_t bias = 0;

			ok(pwrite(image, &wrong[i], 8, (off_t)at) == 8, "damaged");
			copy = dup(image);
			bad = unwind_table_load(copy, &why);
			tried++;
			refused += !bad;
			if (bad) {
				(void)unwind_table_bias(bad, 0x1000, 0, &bias);
				(void)unwind_step(&s, (struct unwind_code){ bad, bias }, true);
			}
			unwind_table_close(bad);
		}
		(void)!pwrite(image, head + at, 8, (off_t)at);
	}
	ok(refused > tried / 2, "most of what is wrong in a head is refused");
	ok(ftruncate(image, st.st_size - 8) == 0 && !unwind_table_load(image, &why) && why, "one that was cut is none");
}

/* From here on all tables are images of what they were. */
static void test_images(void)
{
	const char *why;

	for (size_t i = 0; i < nobjects; i++) {
		struct unwind_table *t = object[i].table ? unwind_table_load(image_of(object[i].table), &why) : NULL;

		if (i == 0 && object[i].table)
			test_damaged_image(object[i].table);
		unwind_table_close(object[i].table);
		object[i].table = t;
	}
}

static void test_popped_address(void)
{
	struct unwind_state s;
	uint64_t sp;

	fresh();
	capture();
	start(&s);
	sp = s.sp;
	s.ip = (uint64_t)(uintptr_t)popped_address;
	s.reg[RCX] = 0x1234;
	s.valid |= 1U << RCX;
	ok(unwind_step(&s, code_of(s.ip), true) == UNWIND_MORE && s.ip == 0x1234 && s.sp == sp,
	   "an address that was popped");
	s.ip = (uint64_t)(uintptr_t)popped_address + 1;
	ok(unwind_step(&s, code_of(s.ip), false) != UNWIND_MORE, "only where it was interrupted");
}
#else
static void test_popped_address(void)
{
}

static void test_returning(void)
{
}
#endif

/* ---- files that are none ---- */

static void refuses(const void *data, size_t n, const char *what)
{
	const char *why = NULL;
	int fd = memfd_create("file", MFD_CLOEXEC);

	ok(write(fd, data, n) == (ssize_t)n && !unwind_table_open(fd, &why) && why, what);
}

/* A file of a terabyte that has no bytes, with counts and sizes to match. */
static void test_sparse(void)
{
	Elf64_Ehdr h = { .e_ident = ELFMAG "\2\1\1",
			 .e_type = ET_DYN,
			 .e_machine = EM_X86_64,
			 .e_version = 1,
			 .e_ehsize = 64,
			 .e_shoff = 4096,
			 .e_shentsize = 64,
			 .e_phentsize = 56,
			 .e_phoff = 64 };
	Elf64_Shdr names = { .sh_type = SHT_STRTAB, .sh_offset = 8192, .sh_size = 1ULL << 39 };
	Elf64_Phdr table = { .p_type = PT_GNU_EH_FRAME, .p_offset = 8192, .p_filesz = 1ULL << 39 };
	const char *why;

	for (unsigned i = 0; i < 4; i++) {
		int fd = memfd_create("sparse", MFD_CLOEXEC);
		bool made;

		h.e_shnum = i == 0 ? 0 : 2;
		h.e_shstrndx = 1;
		h.e_phnum = i == 1 ? PN_XNUM : i == 2 ? 0 : 1;
		made = ftruncate(fd, 1L << 40) == 0 && pwrite(fd, &h, 64, 0) == 64 &&
		       pwrite(fd, &names, 64, 4096 + 64) == 64 && pwrite(fd, &table, 56, 64) == 56;
		why = NULL;
		ok(made && !unwind_table_open(fd, &why) && why, "a sparse file of a terabyte");
	}
}

static void test_files(void)
{
	char *file = malloc(1 << 24);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), pair[2] = { -1, -1 };
	ssize_t size = read(fd, file, 1 << 24);
	const char *why = NULL;
	unsigned opened = 0, tries = 0;

	close(fd);
	refuses("", 0, "an empty file");
	refuses("text\n", 5, "text");
	refuses(file, 64, "a header alone");
	file[18] = 3;
	refuses(file, (size_t)size, "another machine");
	file[18] = 62;
	if (pipe(pair) == 0)
		ok(!unwind_table_open(pair[0], &why) && why, "a pipe");
	close(pair[1]);
	ok(!unwind_table_open(open("/", O_RDONLY | O_CLOEXEC), &why) && why, "a directory");
	ok(!unwind_table_open(-1, &why) && why, "no file");
	/* any cut, any byte of the headers */
	for (size_t n = 0; n < (size_t)size; n = n < 1024 ? n + 8 : n + (size_t)size / 50, tries++) {
		struct unwind_table *t;

		fd = memfd_create("file", MFD_CLOEXEC);
		if (n < 1024) {
			char was = file[n];

			file[n] = (char)0xff;
			if (write(fd, file, (size_t)size) != size)
				break;
			file[n] = was;
		} else if (write(fd, file, n) != (ssize_t)n) {
			break;
		}
		t = unwind_table_open(fd, &why);
		opened += t != NULL;
		unwind_table_close(t);
	}
	ok(tries > 100 && opened > 10, "damaged headers and cut files");
	free(file);
}

int main(void)
{
#if defined(__x86_64__) && defined(__GLIBC__)
	dl_iterate_phdr(add_object, NULL);
	if (copy_stack((uint64_t)(uintptr_t)__builtin_frame_address(0)) > 100) {
		test_stacks();
		test_cuts();
		test_popped_address();
		test_returning();
		test_few_registers();
		test_assume_leaf();
		test_init();
		test_images();
		test_init();
		test_stacks();
	} else {
		printf("ok %d - unwinding itself # SKIP process_vm_readv is not allowed here\n", ++tap_n);
	}
	test_files();
	test_sparse();
	for (size_t i = 0; i < nobjects; i++)
		unwind_table_close(object[i].table);
#else
	printf("ok %d - unwinding itself # SKIP x86-64 with glibc only\n", ++tap_n);
#endif
	return done();
}
