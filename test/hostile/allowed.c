/*
 * allowed - how many system calls the seccomp filter of a running process allows, as the kernel has it
 * (PTRACE_SECCOMP_GET_FILTER): not what pj believes.
 *
 * allowed PID...   prints "PID COUNT NUMBER NUMBER ..." for each; COUNT is -1 without a filter. Stops each process for
 * a moment.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

enum { CALLS = 512 };

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#else
#define NATIVE AUDIT_ARCH_AARCH64
#endif

/* What the filter returns for a call whose arguments are 0. */
static uint32_t assess(const struct sock_filter *code, long n, uint32_t call)
{
	struct seccomp_data data = { .nr = (int)call, .arch = NATIVE };
	uint32_t acc = 0;

	for (long i = 0; i < n; i++) {
		const struct sock_filter *c = &code[i];

		switch (c->code) {
		case BPF_LD | BPF_W | BPF_ABS: memcpy(&acc, (const char *)&data + c->k, sizeof(acc)); break;
		case BPF_JMP | BPF_JEQ | BPF_K: i += acc == c->k ? c->jt : c->jf; break;
		case BPF_JMP | BPF_JGE | BPF_K: i += acc >= c->k ? c->jt : c->jf; break;
		case BPF_JMP | BPF_JSET | BPF_K: i += acc & c->k ? c->jt : c->jf; break;
		case BPF_JMP | BPF_JA: i += c->k; break;
		case BPF_RET | BPF_K: return c->k;
		default: fprintf(stderr, "allowed: unknown instruction %#x\n", c->code); exit(2);
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

static int show(pid_t pid)
{
	static struct sock_filter code[4096];
	int allowed = 0;
	long n;

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0 || ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0 ||
	    waitpid(pid, NULL, __WALL) != pid)
		return errno;
	n = ptrace(PTRACE_SECCOMP_GET_FILTER, pid, 0, NULL);
	if (n > 0 && n <= 4096)
		n = ptrace(PTRACE_SECCOMP_GET_FILTER, pid, 0, code);
	if (n < 0 && errno != ENOENT && errno != EINVAL) /* EINVAL: it has none */
		return errno;
	for (uint32_t call = 0; n > 0 && call < CALLS; call++)
		allowed += assess(code, n, call) == SECCOMP_RET_ALLOW;
	printf("%d %d", (int)pid, n > 0 ? allowed : -1);
	for (uint32_t call = 0; n > 0 && call < CALLS; call++)
		if (assess(code, n, call) == SECCOMP_RET_ALLOW)
			printf(" %u", call);
	printf("\n");
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int error = show((pid_t)strtol(argv[i], NULL, 10));

		if (error) {
			fprintf(stderr, "allowed: %s: %s\n", argv[i], strerror(error));
			return 1;
		}
	}
	return 0;
}
