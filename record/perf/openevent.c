/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/openevent.h"

#include "common/formats/perfrecord.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Removes one feature from an attribute that the kernel has refused: first precision, then the newest feature. The
 * comments name the kernel version that introduced each feature. Returns false if no such feature remains. */
static bool step_down(struct perf_event_attr *attr)
{
	if (attr->precise_ip)
		return attr->precise_ip--, true;
	if (attr->read_format & FORMAT_LOST) /* FORMAT_LOST: Linux 6.0 */
		return attr->read_format &= ~FORMAT_LOST, true;
	/* cgroup ids: Linux 5.7 with CONFIG_CGROUP_PERF */
	if (attr->cgroup || attr->sample_type & PERF_SAMPLE_CGROUP)
		return attr->cgroup = 0, attr->sample_type &= ~(uint64_t)PERF_SAMPLE_CGROUP, true;
	if (attr->ksymbol || attr->bpf_event) /* KSYMBOL and BPF records: Linux 5.1 */
		return attr->ksymbol = attr->bpf_event = 0, true;
	if (attr->namespaces) /* NAMESPACES records: Linux 4.12 */
		return attr->namespaces = 0, true;
	if (attr->exclude_guest)
		return attr->exclude_guest = 0, true;
	return false;
}

/* Returns true for events that occur only in the kernel. With exclude_kernel they would have no samples. */
static bool in_kernel(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_TRACEPOINT ||
	       (attr->type == PERF_TYPE_SOFTWARE &&
		(attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES || attr->config == PERF_COUNT_SW_CPU_MIGRATIONS));
}

/* Removes from the attribute one feature for which permission is missing. Kernel code is excluded last, and only with
 * user_only. Returns false if no such feature remains. */
static bool request_less(struct perf_event_attr *attr, bool user_only)
{
	if (attr->namespaces)
		return attr->namespaces = 0, true;
	if (attr->ksymbol || attr->bpf_event)
		return attr->ksymbol = attr->bpf_event = 0, true;
	if (attr->exclude_kernel || in_kernel(attr) || !user_only)
		return false;
	return attr->exclude_kernel = attr->exclude_hv = 1, true;
}

int openevent(struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags, bool user_only)
{
	for (;;) {
		int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, flags | PERF_FLAG_FD_CLOEXEC);

		if (fd >= 0)
			return fd;
		switch (errno) {
		case EINVAL:
		case E2BIG:
		case EOPNOTSUPP:
			if (step_down(attr))
				continue;
			return -1;
		case ENOENT:
			/* the PMU for precise events may not exist: tries again with less precision */
			if (attr->precise_ip) {
				attr->precise_ip--;
				continue;
			}
			return -1;
		case EACCES:
		case EPERM: {
			int error = errno;

			if (request_less(attr, user_only))
				continue;
			errno = error;
			return -1;
		}
		default: return -1;
		}
	}
}
