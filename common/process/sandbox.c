/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/sandbox.h"

#include "common/process/capabilities.h"
#include "common/diag.h"
#include "common/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define INSTRUMENTED 1
#endif
#endif
#ifdef PJ_COVERAGE /* gcov writes its counters to files when the process ends, so the sandbox must allow that */
#define INSTRUMENTED 1
#define COVERAGE 1
#else
#define COVERAGE 0
#endif
#ifndef INSTRUMENTED
#define INSTRUMENTED 0
#endif

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#endif

/* System call numbers of Landlock, which are the same on all processors, and constants of their arguments. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, VERSION_FLAG = 1, PATH_BENEATH = 1 };

/* ---- filter of system calls -------------------------------------------------------------------------------------- */

/* System calls with memory protection bits as third argument; they are allowed without PROT_EXEC. */
static const int protecting[] = { SYS_mmap, SYS_mprotect };

static const int base[] = {
	SYS_read,       SYS_write,         SYS_pread64,      SYS_close,           SYS_lseek,
#ifdef __GLIBC__
	SYS_newfstatat, /* fstat() of glibc before 2.39 calls it; that version may be installed at run time */
#endif
	SYS_fstat,      SYS_munmap,        SYS_mremap,       SYS_madvise,         SYS_brk,
	SYS_futex,      SYS_clock_gettime, SYS_rt_sigreturn, SYS_restart_syscall, SYS_exit_group,
#ifdef SYS_poll
	SYS_poll,
#else
	SYS_ppoll,
#endif
};

static const struct {
	unsigned group;
	int call[3];
} grouped[] = {
	{ SANDBOX_MESSAGES, { SYS_recvmsg, SYS_sendmsg, -1 } },
	{ SANDBOX_DEADLINE, { SYS_setitimer, -1, -1 } },
	{ SANDBOX_OUTPUT, { SYS_pwrite64, SYS_ftruncate, -1 } },
#ifdef SYS_nanosleep
	{ SANDBOX_READER, { SYS_process_vm_readv, SYS_clock_nanosleep, SYS_nanosleep } },
#else
	{ SANDBOX_READER, { SYS_process_vm_readv, SYS_clock_nanosleep, -1 } },
#endif
#ifdef __GLIBC__
	{ SANDBOX_THREADS, { SYS_rt_sigprocmask, SYS_exit, SYS_rseq } }, /* clone is allowed by allow_threads */
#else
	{ SANDBOX_THREADS, { SYS_rt_sigprocmask, SYS_exit, SYS_writev } },
#endif
};

/* System calls of an opener (SANDBOX_OPENER) in addition to the base. */
static const int opening[] = {
	SYS_openat, SYS_readlinkat,  SYS_getdents64,   SYS_fstatfs,      SYS_renameat,       SYS_unlinkat,
	SYS_fsync,  SYS_flock,       SYS_memfd_create, SYS_recvmsg,      SYS_sendmsg,        SYS_fcntl,
	SYS_dup3,   SYS_close_range, SYS_geteuid,      SYS_rt_sigaction, SYS_rt_sigprocmask,
#ifndef __GLIBC__
	SYS_writev,
#endif
#ifdef SYS_open
	SYS_open,   SYS_readlink,    SYS_dup2,
#endif
};

/* System calls that SANDBOX_ROOTS allows; this list replaces `base`. allow_roots also allows openat, but only to open
 * files for reading.
 */
static const int in_roots[] = {
	SYS_openat2, SYS_newfstatat,     SYS_statx,           SYS_fstatfs,    SYS_read,         SYS_pread64,
	SYS_write,   SYS_pwrite64,       SYS_lseek,           SYS_close,      SYS_memfd_create, SYS_ftruncate,
	SYS_fchown,  SYS_geteuid,        SYS_recvmsg,         SYS_sendmsg,    SYS_munmap,       SYS_mremap,
	SYS_brk,     SYS_rt_sigreturn,   SYS_restart_syscall, SYS_exit_group, SYS_fstat,
#ifndef __GLIBC__
	SYS_futex,   SYS_rt_sigprocmask,
#ifdef SYS_stat
	SYS_stat,
#endif
#endif
};

/* System calls of SANDBOX_FORK; allow_roots allows clone, too. */
static const int forking[] = {
	SYS_wait4,
	SYS_kill,
	SYS_socketpair,
	SYS_dup3,
	SYS_close_range,
	SYS_prctl,
	SYS_set_robust_list,
#ifndef __GLIBC__
	SYS_gettid,
	SYS_set_tid_address,
#ifdef SYS_fork
	SYS_fork,
#endif
#endif
};

/* System calls that sanitizers and gcov need. Release builds do not allow them. */
static const int instrumented[] = {
	SYS_openat,       SYS_readlinkat,     SYS_sigaltstack,
	SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_gettid,
	SYS_getpid,       SYS_getppid,        SYS_tgkill,
	SYS_sched_yield,  SYS_prctl,          SYS_fcntl,
	SYS_unlinkat,     SYS_clone,          SYS_clone3,
	SYS_wait4,        SYS_exit,           SYS_set_robust_list,
	SYS_rseq,         SYS_ptrace,         SYS_process_vm_readv,
	SYS_getuid,       SYS_geteuid,        SYS_mkdirat,
	SYS_ftruncate,    SYS_prlimit64,      SYS_sched_getaffinity,
	SYS_getdents64,   SYS_writev,         SYS_waitid,
	SYS_fstatfs,      SYS_fstat,          SYS_futex,
	SYS_madvise,      SYS_nanosleep,      SYS_clock_nanosleep,
#ifdef SYS_open
	SYS_open,         SYS_readlink,       SYS_stat,
	SYS_lstat,        SYS_access,         SYS_unlink,
	SYS_mkdir,        SYS_getrlimit,      SYS_getdents,
	SYS_arch_prctl,
#endif
};

static unsigned sandbox_listed(const int *call, size_t n)
{
	unsigned count = 0;

	for (size_t i = 0; i < n; i++)
		count += call[i] >= 0;
	return count;
}

/* Groups in which a forbidden call fails with EPERM. In other groups it kills the process. */
#define LENIENT (SANDBOX_FILTER | SANDBOX_OPENER | SANDBOX_ROOTS)

unsigned sandbox_calls(unsigned groups)
{
	unsigned n = countof(protecting) + 1; /* + 1: openat (SANDBOX_ROOTS), tgkill (SANDBOX_FILTER), or getrandom */

	if (groups & SANDBOX_ROOTS)
		return n + sandbox_listed(in_roots, countof(in_roots)) +
		       (groups & SANDBOX_FORK ? sandbox_listed(forking, countof(forking)) + 1 /* + 1: clone */ : 0);
	n += sandbox_listed(base, countof(base));

	for (size_t i = 0; i < countof(grouped); i++)
		if (groups & grouped[i].group)
			n += sandbox_listed(grouped[i].call, countof(grouped[i].call));
	if (groups & SANDBOX_OPENER)
		n += sandbox_listed(opening, countof(opening));
	if (groups & SANDBOX_THREADS)
		n++; /* clone, for threads */
	return n;
}

enum { PROGRAM_MAX = 384 };
#define NEW_NAMESPACES \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

struct program {
	struct sock_filter code[PROGRAM_MAX];
	unsigned short n;
};

static void sandbox_emit(struct program *program, uint16_t code, uint32_t index, uint8_t jt, uint8_t jf)
{
	if (program->n < PROGRAM_MAX)
		program->code[program->n++] = (struct sock_filter){ code, jt, jf, index };
}

/* Appends instructions that allow the n system calls call[]. All calls jump to one return instruction, which keeps the
 * program short, because the kernel compiles the program for each process that installs it. */
static void sandbox_allow(struct program *program, const int *call, size_t n)
{
	unsigned left = sandbox_listed(call, n);

	for (size_t i = 0; i < n; i++)
		if (call[i] >= 0)
			sandbox_emit(program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call[i], (uint8_t)left--, 0);
	sandbox_emit(program, BPF_JMP | BPF_JA, 1, 0, 0);
	sandbox_emit(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

/* Allows clone() for threads only. clone3() fails with ENOSYS, so that libc falls back to clone(): the flags of
 * clone3() are in memory, which seccomp filters cannot read. */
static void allow_threads(struct program *program)
{
	sandbox_emit(program, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
	sandbox_emit(program, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
	sandbox_emit(program, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4);
	sandbox_emit(program, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]), 0, 0);
	sandbox_emit(program, BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0);
	sandbox_emit(program, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
	sandbox_emit(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

/* Allows tgkill() for this process only. */
static void allow_own_signals(struct program *program)
{
	sandbox_emit(program, BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 4);
	sandbox_emit(program, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]), 0, 0);
	sandbox_emit(program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 1, 0);
	sandbox_emit(program, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
	sandbox_emit(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

/* Allows a call if argument number `argument` has none of the bits in `bits`; otherwise the call fails with `error`. In
 * instrumented builds, all bits are allowed. The accumulator holds the call number before and after these
 * instructions. */
static void allow_unless(struct program *program, int call, unsigned argument, uint32_t bits, uint32_t error)
{
	sandbox_emit(program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 4);
	sandbox_emit(program, BPF_LD | BPF_W | BPF_ABS,
		     (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (size_t)argument), 0, 0);
	sandbox_emit(program, BPF_JMP | BPF_JSET | BPF_K, INSTRUMENTED ? 0 : bits, 0, 1);
	sandbox_emit(program, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error, 0, 0);
	sandbox_emit(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

/* Allows the system calls of SANDBOX_ROOTS and, if groups has it, of SANDBOX_FORK. openat2() is allowed with all flags:
 * they are in memory, which seccomp filters cannot read. */
static void allow_roots(struct program *program, unsigned groups)
{
	const uint32_t writing = O_ACCMODE | O_CREAT | O_TRUNC;

	sandbox_allow(program, in_roots, countof(in_roots));
	allow_unless(program, SYS_openat, 2, writing, EPERM);
#if !defined(__GLIBC__) && defined(SYS_open)
	allow_unless(program, SYS_open, 1, writing, EPERM);
#endif
	if (!(groups & SANDBOX_FORK))
		return;
	sandbox_allow(program, forking, countof(forking));
	allow_unless(program, SYS_clone, 0, NEW_NAMESPACES, EPERM);
}

/* Makes the call fail with EPERM instead of killing the process. */
static void refuse_call(struct program *program, int call)
{
	sandbox_emit(program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1);
	sandbox_emit(program, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
}

static void allow_base(struct program *program, unsigned groups)
{
	sandbox_allow(program, base, countof(base));
	for (size_t i = 0; i < countof(grouped); i++)
		if (groups & grouped[i].group)
			sandbox_allow(program, grouped[i].call, countof(grouped[i].call));
	if (groups & SANDBOX_OPENER)
		sandbox_allow(program, opening, countof(opening));
	if (groups & SANDBOX_FILTER)
		allow_own_signals(program);
	else
		sandbox_allow(program, (const int[]){ SYS_getrandom }, 1);
	if (groups & SANDBOX_THREADS)
		allow_threads(program);
	if (!(groups & SANDBOX_OPENER))
		refuse_call(program, SYS_openat);
}

static bool filter_calls(unsigned groups)
{
#ifdef NATIVE_ARCH
	struct program p = { .n = 0 };
	struct sock_fprog program;

	sandbox_emit(&p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
	sandbox_emit(&p, BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0);
	sandbox_emit(&p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	sandbox_emit(&p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	if (INSTRUMENTED) {
		sandbox_allow(&p, instrumented, countof(instrumented));
		sandbox_allow(&p, base, countof(base));
	}
	if (groups & SANDBOX_ROOTS)
		allow_roots(&p, groups);
	else
		allow_base(&p, groups);
	for (size_t i = 0; i < countof(protecting); i++)
		allow_unless(&p, protecting[i], 2, PROT_EXEC, EACCES);
	sandbox_emit(&p, BPF_RET | BPF_K, groups & LENIENT ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_KILL_PROCESS, 0,
		     0);
	program = (struct sock_fprog){ p.n, p.code };
	return p.n < PROGRAM_MAX && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
#else
	(void)groups;
	return false;
#endif
}

/* ---- Landlock ---------------------------------------------------------------------------------------------------- */

/* Arguments of the system calls of Landlock. Defined here, because <linux/landlock.h> of a distribution can be older
 * than the kernels that pj runs on. */
struct ruleset {
	uint64_t files, network, scoped;
};

struct beneath {
	uint64_t rights;
	int32_t folder;
} __attribute__((packed));

/* Landlock rights that openers keep: to read files and to list folders. */
#define READING (UINT64_C(1) << 2 | UINT64_C(1) << 3)
/* All Landlock rights that apply to files, not only to folders. */
#define FOR_FILES (UINT64_C(1) << 0 | UINT64_C(1) << 1 | UINT64_C(1) << 2 | UINT64_C(1) << 14 | UINT64_C(1) << 15)

/* Adds a rule to the ruleset that grants `rights` below path, a folder or file. Returns false on failure, but true if
 * path cannot be opened, because then there is nothing to grant. */
static bool sandbox_grant(int ruleset, const char *path, uint64_t rights)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	struct beneath rule = { rights, fd };
	bool done;

	if (fd < 0)
		return true;
	done = syscall(ADD_RULE, ruleset, PATH_BENEATH, &rule, 0) == 0;
	if (!done && errno == EINVAL) { /* path is a file: only the rights that apply to files are valid for it */
		rule.rights &= FOR_FILES;
		done = syscall(ADD_RULE, ruleset, PATH_BENEATH, &rule, 0) == 0;
	}
	close(fd);
	return done;
}

/* Forbids all rights of Landlock (to openers: all except reading), but grants rights on files below `writable`. Returns
 * false if the kernel has no Landlock, or on failure. */
static bool forbid_files(const struct sandbox *sandbox)
{
	static const unsigned rights[] = { 13, 14, 15, 15,
					   /* number of rights on files by Landlock's ABI: 1, 2, 3, 4, 5 and later */
					   16 };
	long abi = syscall(CREATE_RULESET, NULL, 0, VERSION_FLAG);
	struct ruleset ruleset = { 0 };
	size_t size = sizeof(ruleset.files);
	bool done = true;
	int fd;

	if (abi < 1)
		return false;
	ruleset.files = (UINT64_C(1) << rights[abi < (long)countof(rights) ? abi - 1 : (long)countof(rights) - 1]) - 1;
	if (sandbox->groups & SANDBOX_OPENER)
		ruleset.files &= ~READING;
	if (abi >= 4) {
		ruleset.network = 3; /* forbids to bind and to connect TCP ports */
		size += sizeof(ruleset.network);
	}
	if (abi >= 6) {
		/* forbids connections to abstract Unix sockets of processes outside of the sandbox, and signals to
		 * these processes */
		ruleset.scoped = 3;
		size += sizeof(ruleset.scoped);
	}
	fd = (int)syscall(CREATE_RULESET, &ruleset, size, 0);
	if (fd < 0)
		return false;
	for (size_t i = 0; sandbox->writable && sandbox->writable[i]; i++)
		done = sandbox_grant(fd, sandbox->writable[i], ruleset.files & ~(UINT64_C(1) << 0)) &&
		       done; /* all rights except bit 0: the right to execute files is never granted */
	done = (COVERAGE || syscall(RESTRICT_SELF, fd, 0) == 0) && done;
	close(fd);
	return done;
}

/* ---- capabilities, user, limits ---------------------------------------------------------------------------------- */

static bool has_capability(unsigned cap)
{
	struct capabilities capabilities;

	return capabilities_get(&capabilities) && capabilities.effective & CAPABILITY_BIT(cap);
}

static bool change_user(uid_t uid)
{
	if (!uid || !has_capability(CAP_SETUID) || !has_capability(CAP_SETGID))
		return true;
	return setgroups(0, NULL) == 0 && setresgid(uid, uid, uid) == 0 && setresuid(uid, uid, uid) == 0;
}

/* Type of the first parameter of setrlimit(): an enum in glibc, int in musl. */
#ifdef __GLIBC__
typedef __rlimit_resource_t rlimit_resource;
#else
typedef int rlimit_resource;
#endif

static bool sandbox_limit(rlimit_resource resource, uint64_t max)
{
	struct rlimit now;

	if (getrlimit(resource, &now) < 0)
		return false;
	if (now.rlim_max < max)
		max = now.rlim_max;
	return setrlimit(resource, &(struct rlimit){ max, max }) == 0;
}

static bool sandbox_set_limits(const struct sandbox *sandbox)
{
	bool done = sandbox_limit(RLIMIT_CORE, 0);

	if (!(sandbox->groups & LENIENT) && !COVERAGE)
		done = sandbox_limit(RLIMIT_FSIZE, sandbox->file_bytes) && done;
	if (sandbox->files && !COVERAGE)
		done = sandbox_limit(RLIMIT_NOFILE, sandbox->files) && done;
	/* no limit in instrumented builds: sanitizers reserve terabytes of address space */
	if (sandbox->address_space && !INSTRUMENTED)
		done = sandbox_limit(RLIMIT_AS, sandbox->address_space) && done;
	return done;
}

/* ---- reports of helper processes -------------------------------------------------------------------------------- */

/* shared memory with the layers that are missing in forked processes; NULL before sandbox_watch */
static _Atomic unsigned *reported;

void sandbox_watch(void)
{
	void *page = reported ?
			     NULL :
			     mmap(NULL, sizeof(*reported), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page && page != MAP_FAILED)
		reported = page;
}

unsigned sandbox_reported(void)
{
	return reported ? atomic_load(reported) : 0;
}

/* Adds missing layers to the shared report, and unmaps the page of the report, so that a compromised helper cannot
 * write to the report. */
static void sandbox_report(unsigned missing)
{
	if (!reported)
		return;
	atomic_fetch_or(reported, missing);
	munmap((void *)reported, sizeof(*reported));
	reported = NULL;
}

/* ---- entering the sandbox --------------------------------------------------------------------------------------- */

static int compare_bytes(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

/* Sorts 4 kB before the seccomp filter is active. qsort of some glibc versions calls sysinfo, which no group allows, at
 * its first sort of more than 1 kB. Sorting two elements of 2,048 bytes takes 2 us, 2,048 elements of one byte 70
 * us. */
static void sort_once(void)
{
	char bytes[2][2048] = { { 0 } };

	qsort(bytes, countof(bytes), sizeof(bytes[0]), compare_bytes);
}

unsigned sandbox_enter(const struct sandbox *sandbox)
{
	unsigned missing = 0;

	sort_once();
	if (!sandbox_set_limits(sandbox))
		missing |= SANDBOX_LIMITS;
	if (!change_user(sandbox->uid))
		missing |= SANDBOX_USER;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    (!INSTRUMENTED && !(sandbox->groups & (SANDBOX_ROOTS | SANDBOX_READER)) && !forbid_files(sandbox)))
		missing |= SANDBOX_LANDLOCK;
	if (!sandbox->keep_capabilities && !capabilities_limit(0))
		missing |= SANDBOX_CAPABILITIES;
	/* lenient groups stay dumpable: otherwise root would own the files in /proc/self */
	if (!(sandbox->groups & LENIENT))
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (!filter_calls(sandbox->groups))
		missing |= SANDBOX_SECCOMP;
	sandbox_report(missing);
	return missing;
}

bool sandbox_narrow(unsigned groups)
{
	return filter_calls(groups);
}

/* Names of the layers, and advice if one is missing, indexed by bit number in enum sandbox_layer. */
static const struct {
	const char *name, *advice;
} layers[] = {
	{ "resource limits", "allow setrlimit in the tool's environment" },
	{ "another user", "allow setresuid in the tool's environment" },
	{ "Landlock",
	  "it needs Linux 5.13, landlock in the boot parameter lsm=, and a container that allows its system calls" },
	{ "dropped capabilities", "allow capset in the tool's environment" },
	{ "seccomp", "it needs a kernel with CONFIG_SECCOMP_FILTER on x86-64 or aarch64" },
};

const char *sandbox_missing(unsigned missing)
{
	for (size_t i = 0; i < countof(layers); i++)
		if (missing >> i & 1)
			return layers[i].name;
	return NULL;
}

static unsigned warned; /* layers of which this process has already warned */

void sandbox_warn(unsigned missing)
{
	char names[96] = "";
	size_t n = 0, last = 0;

	missing &= ~warned;
	warned |= missing;
	if (!missing || getenv(SANDBOX_REPORTED))
		return;
	for (size_t i = 0; i < countof(layers); i++) {
		if (!(missing >> i & 1))
			continue;
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? " and " : "", layers[i].name);
		last = i;
	}
	warn("this kernel lacks %s for the sandbox of helper processes, whose other layers are active: "
	     "%s",
	     names, layers[last].advice);
}

unsigned sandbox_probe(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit((int)sandbox_enter(&(struct sandbox){ .groups = SANDBOX_FILTER | SANDBOX_MESSAGES }));
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return child > 0 && WIFEXITED(status) ? (unsigned)WEXITSTATUS(status) : 0;
}

void sandbox_deadline(unsigned cpu_ms)
{
	struct itimerval t = { .it_value = { .tv_sec = cpu_ms / 1000, .tv_usec = cpu_ms % 1000 * 1000 } };

	setitimer(ITIMER_PROF, &t, NULL);
}
