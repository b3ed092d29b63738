/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/host.h"

#include "common/arena.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

struct host {
	struct utsname name;
	char boot[64], cpu[256];
};

/* Reads into `to` the first line of a file, up to n - 1 bytes, as a string without newline. The string is empty if the
 * file cannot be read. */
static void host_read_line(const char *path, char *to, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, to, n - 1);

	to[got > 0 ? got : 0] = 0;
	to[strcspn(to, "\n")] = 0;
	if (fd >= 0)
		close(fd);
}

/* Reads the CPU model from the line "model name : ..." of /proc/cpuinfo. Architectures other than x86 do not have that
 * line; the CPU model then stays empty. */
static void find_cpu(struct host *host)
{
	char line[512];
	FILE *file = fopen("/proc/cpuinfo", "re");

	while (file && !host->cpu[0] && fgets(line, sizeof(line), file)) {
		const char *colon = strchr(line, ':');

		if (!colon || strncmp(line, "model name", 10) != 0)
			continue;
		snprintf(host->cpu, sizeof(host->cpu), "%s", colon + 1 + strspn(colon + 1, " \t"));
		host->cpu[strcspn(host->cpu, "\n")] = 0;
	}
	if (file)
		fclose(file);
}

struct host *host_new(void)
{
	struct host *host = mem_alloc(sizeof(*host), 1);

	uname(&host->name);
	host_read_line("/proc/sys/kernel/random/boot_id", host->boot, sizeof(host->boot));
	find_cpu(host);
	return host;
}

void host_free(struct host *host)
{
	free(host);
}

struct chunk_facts host_facts(const struct host *host)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN), all = sysconf(_SC_NPROCESSORS_CONF);
	struct sysinfo info;

	return (struct chunk_facts){
		.host = host->name.nodename,
		.kernel = host->name.release,
		.arch = host->name.machine,
		.boot = host->boot,
		.cpu = host->cpu[0] ? host->cpu : NULL,
		.cpus_online = (uint32_t)(online > 0 ? online : 1),
		.cpus = (uint32_t)(all > 0 ? all : 1),
		.max_stack = host_max_stack(),
		.memory = sysinfo(&info) == 0 ? (uint64_t)info.totalram * info.mem_unit / 1024 : 0,
	};
}

unsigned host_max_stack(void)
{
	char text[32];

	host_read_line("/proc/sys/kernel/perf_event_max_stack", text, sizeof(text));
	unsigned long n = strtoul(text, NULL, 10);
	return n ? (unsigned)n : 127;
}
