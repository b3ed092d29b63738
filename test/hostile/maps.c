/*
 * maps - processes whose executable mappings fill every table that follows them.
 *
 *	maps PROCESSES MAPPINGS STORM
 *
 * Each process makes MAPPINGS executable mappings of one page that cannot be merged, of files with long paths, then
 * moves random ones for ever while it burns CPU in them, so that it is sampled. STORM: the number of mappings that
 * it moves between two runs of its own code; 0: a few. A child of each forks now and then: tables that are shared by
 * a fork have to be copied when the child maps.
 *
 * PJ_SEED varies addresses, order, the length of paths and pauses. Ends after PJ_HOSTILE_SECS + 10 seconds, or with
 * its parent.
 */
#include "attack.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES 16
#define PAGE 4096ul
#define BASE 0x200000000000ul

/* A file of one page of code (ret), removed at once: its path, up to 3 kB, stays in the mappings. */
static int make_file(unsigned n)
{
	char path[4096], page[PAGE];
	unsigned depth = 1 + (unsigned)(random_u64() % 14);
	int fd, up = open(".", O_RDONLY | O_DIRECTORY);

	for (unsigned i = 0; i < depth; i++) {
		snprintf(path, sizeof(path), "d%u-%0200u", n, i);
		if (mkdir(path, 0700) && chdir(path))
			break;
		if (chdir(path))
			break;
	}
	fd = open("code", O_RDWR | O_CREAT | O_TRUNC, 0700);
	memset(page, 0xc3, sizeof(page));
	if (fd < 0 || write(fd, page, sizeof(page)) < 0) {
		perror("maps: code");
		exit(1);
	}
	unlink("code");
	if (fchdir(up))
		perror("maps: fchdir");
	close(up);
	return fd;
}

/* One page at slot i; every second page stays free, so neighbours are not merged. */
static void map_at(const int *fd, uint64_t i)
{
	void *at = (void *)(BASE + 2 * PAGE * i);

	if (mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd[random_u64() % FILES], 0) == MAP_FAILED)
		return;
	((void (*)(void))at)();
}

static void burn(uint64_t mappings)
{
	for (unsigned i = 0; i < 20000; i++)
		((void (*)(void))(BASE + 2 * PAGE * (random_u64() % mappings)))();
}

static void fork_one(const int *fd, uint64_t mappings)
{
	pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (unsigned i = 0; i < 64; i++)
			map_at(fd, random_u64() % mappings);
		burn(mappings);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

static void live(uint64_t mappings, uint64_t storm)
{
	int fd[FILES];

	for (unsigned i = 0; i < FILES; i++)
		fd[i] = make_file(i);
	for (uint64_t i = 0; i < mappings; i++)
		map_at(fd, i);
	for (uint64_t turn = 0;; turn++) {
		uint64_t moves = storm ? storm : 1 + random_u64() % 8;

		for (uint64_t i = 0; i < moves; i++)
			map_at(fd, random_u64() % mappings);
		burn(mappings);
		if (turn % 512 == 0)
			fork_one(fd, mappings);
	}
}

int main(int argc, char **argv)
{
	const char *seed = getenv("PJ_SEED"), *secs = getenv("PJ_HOSTILE_SECS");
	unsigned processes = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	uint64_t mappings = argc > 2 ? strtoull(argv[2], NULL, 10) : 60000,
		 storm = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	char place[] = "maps-XXXXXX";

	random_state = (seed ? strtoull(seed, NULL, 10) : 1) * 0x9E3779B97F4A7C15u + 1;
	alarm((secs ? (unsigned)atoi(secs) : 20) + 10);
	if (!mkdtemp(place) || chdir(place))
		return 1;
	for (unsigned i = 1; i < processes; i++) {
		random_u64();
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			break;
		}
	}
	live(mappings, storm);
}
