/*
 * reduce - what pjrecord keeps of an ELF file, by hand.
 *
 * reduce IN OUT                  as of a file that will be gone
 * reduce -d IN OUT               from its segments alone
 * reduce -m PID PATH OUT         from the memory of a process, as of a file that is gone: the executable mapping of
 * that path
 */
#include "record/symsaver/dynelf.h"
#include "record/symsaver/targetfiles.h"

#include "common/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LIMIT ((uint64_t)1 << 30)

static bool find(const char *pid, const char *path, struct target_mapping *mapping)
{
	char name[64], line[8192], perms[8], file[4096];
	unsigned long long start, end, offset, inode;
	bool found = false;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%s/maps", pid);
	f = fopen(name, "r");
	while (f && !found && fgets(line, sizeof(line), f)) {
		file[0] = 0;
		sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %4095[^\n]", &start, &end, perms, &offset,
		       &mapping->file_id.major, &mapping->file_id.minor, &inode, file);
		found = perms[2] == 'x' && strncmp(file, path, strlen(path)) == 0;
	}
	if (f)
		fclose(f);
	mapping->start = start;
	mapping->file_id.inode = inode;
	return found;
}

static const char *from_memory(const char *pid, const char *path, int out, struct reduced *reduced)
{
	struct target_mapping m = { 0 };
	int process = target_process("/proc", (uint32_t)strtoul(pid, NULL, 10), 0), mem;
	uint64_t base;

	if (process < 0 || !find(pid, path, &m))
		die("no such process, or it did not map '%s'", path);
	mem = targetfiles_memory(process, &m, &base);
	return mem < 0 ? strerror(errno) : dynelf_from_memory(mem, base, out, LIMIT, reduced);
}

int main(int argc, char **argv)
{
	char how = argc > 1 && argv[1][0] == '-' ? argv[1][1] : ' ';
	struct reduced r;
	const char *why;
	int out, in = -1;

	diag_tool("reduce");
	if (argc != (how == ' ' ? 3 : how == 'd' ? 4 : 5))
		die_usage("reduce [-d | -m PID] IN OUT");
	out = open(argv[argc - 1], O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (how != 'm')
		in = open(argv[argc - 2], O_RDONLY);
	if (out < 0 || (how != 'm' && in < 0))
		die_errno("cannot open a file");
	if (how == 'm')
		why = from_memory(argv[2], argv[3], out, &r);
	else
		why = how == 'd' ? dynelf_from_file(in, out, LIMIT, &r) : elfreducer_write(in, out, LIMIT, &r);
	if (why)
		die("%s: %s", argv[argc - 2], why);
	printf("%llu bytes, build-id of %u bytes%s\n", (unsigned long long)r.bytes, r.build_id.n,
	       r.names ? "" : ", no names");
	return 0;
}
