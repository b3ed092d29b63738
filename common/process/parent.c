/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/parent.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

void parent_bind(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (getppid() != parent)
		kill(getpid(), SIGTERM);
}
