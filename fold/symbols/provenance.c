/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/provenance.h"

#include "fold/symbols/samehost.h"

#include <sys/stat.h>
#include <time.h>

static uint64_t ns_of(struct timespec spec)
{
	return (uint64_t)spec.tv_sec * 1000000000u + (uint64_t)spec.tv_nsec;
}

/* Returns true if the recording is from the current boot; otherwise false. pjrecord stores the boot id, perf -k the
 * wall clock. In other recordings, the wall-clock time of the last record, whose time is last_ns, is taken to be the
 * mtime of the file; for a pipe, the current time. */
static bool is_this_boot(const struct perfdata_info *info, const struct in *input, uint64_t last_ns)
{
	struct timespec now;
	struct stat status;

	if (info->recorder.boot.n)
		return samehost_boot_is(info->recorder.boot);
	if (info->has_clock_data)
		return samehost_is_this_boot(info->clock_wall, info->clock_record);
	if (fstat(input->fd, &status) == 0 && S_ISREG(status.st_mode))
		return samehost_is_this_boot(ns_of(status.st_mtim), last_ns);
	return clock_gettime(CLOCK_REALTIME, &now) == 0 && samehost_is_this_boot(ns_of(now), last_ns);
}

/* Returns the wall-clock time in ns of the last record, whose time on the recording's clock is last_ns; if the
 * recording does not relate the two clocks, the mtime of its file; 0 for a pipe. */
static uint64_t wall_of_end(const struct perfdata_info *info, const struct in *input, uint64_t last_ns)
{
	struct stat status;

	if (info->has_clock_data && last_ns)
		return info->clock_wall + (last_ns - info->clock_record);
	return fstat(input->fd, &status) == 0 && S_ISREG(status.st_mode) ? ns_of(status.st_mtim) : 0;
}

struct provenance provenance_of(const struct perfdata_info *info, const struct in *input, uint64_t first_ns,
				uint64_t last_ns)
{
	struct provenance provenance = { .first_ns = first_ns, .release = info->kernel, .recorder = &info->recorder };

	provenance.until = wall_of_end(info, input, last_ns);
	provenance.reported = info->host.n && info->kernel.n;
	provenance.host = samehost_is_this_host(info->host, info->kernel);
	provenance.boot = provenance.host && is_this_boot(info, input, last_ns);
	return provenance;
}

pid_t provenance_process(const struct provenance *provenance, uint32_t pid, uint64_t ns)
{
	const struct pj_process *process;

	if (!provenance->boot || pid == 0 || pid > INT32_MAX)
		return 0;
	if (provenance->recorder->nprocesses) { /* pjrecord's list has all sampled processes, with their start times */
		process = recorder_process(provenance->recorder, pid);
		return process && process->start && samehost_process_is((pid_t)pid, process->start) ? (pid_t)pid : 0;
	}
	return samehost_process_lived((pid_t)pid, ns ? ns : provenance->first_ns) ? (pid_t)pid : 0;
}
