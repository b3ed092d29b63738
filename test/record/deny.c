/* SPDX-License-Identifier: Apache-2.0 */
/* deny - run a command as containers do whose seccomp filter forbids perf_event_open, or, as on an older kernel, with
 * another system call that does not exist: deny EPERM|ENOSYS[:NUMBER] COMMAND [ARGUMENT ...] */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned error = argc > 2 && strncmp(argv[1], "ENOSYS", 6) == 0 ? ENOSYS : EPERM;
	const char *number = argc > 2 ? strchr(argv[1], ':') : NULL;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
			 number ? (unsigned)strtoul(number + 1, NULL, 10) : SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	if (argc < 3)
		return 2;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("deny");
		return 125;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 126;
}
