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

/* The first bytes of a file as a string without its last newline. */
static void host_read_line(const char *path, char *to, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, to, n - 1);

	to[got > 0 ? got : 0] = 0;
	to[strcspn(to, "\n")] = 0;
	if (fd >= 0)
		close(fd);
}

/* "model name	: ..." of /proc/cpuinfo; other architectures have none. */
static void find_cpu(struct host *h)
{
	char line[512];
	FILE *f = fopen("/proc/cpuinfo", "re");

	while (f && !h->cpu[0] && fgets(line, sizeof(line), f)) {
		const char *colon = strchr(line, ':');

		if (!colon || strncmp(line, "model name", 10) != 0)
			continue;
		snprintf(h->cpu, sizeof(h->cpu), "%s", colon + 1 + strspn(colon + 1, " \t"));
		h->cpu[strcspn(h->cpu, "\n")] = 0;
	}
	if (f)
		fclose(f);
}

struct host *host_new(void)
{
	struct host *h = mem_alloc(sizeof(*h), 1);

	uname(&h->name);
	host_read_line("/proc/sys/kernel/random/boot_id", h->boot, sizeof(h->boot));
	find_cpu(h);
	return h;
}

void host_free(struct host *h)
{
	free(h);
}

struct chunk_facts host_facts(const struct host *h)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN), all = sysconf(_SC_NPROCESSORS_CONF);
	struct sysinfo info;

	return (struct chunk_facts){
		.host = h->name.nodename,
		.kernel = h->name.release,
		.arch = h->name.machine,
		.boot = h->boot,
		.cpu = h->cpu[0] ? h->cpu : NULL,
		.cpus_online = (uint32_t)(online > 0 ? online : 1),
		.cpus = (uint32_t)(all > 0 ? all : 1),
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
