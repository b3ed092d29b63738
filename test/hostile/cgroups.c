/*
 * cgroups - a user makes and removes cgroups, with paths as long as they can be, in one that was delegated to it.
 *
 *	cgroups FOLDER
 *
 * The kernel makes a record of each, with its path: 4 kB. Some stay, so that the hierarchy grows, too, and some are
 * entered.
 *
 * PJ_SEED varies depth, lengths, and which cgroups stay. Ends after PJ_HOSTILE_SECS + 10 seconds.
 */
#include "attack.h"

#include <sys/stat.h>

#define STAY 500

static void enter(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/cgroup.procs", name);
	write_text(path, "0");
}

int main(int argc, char **argv)
{
	unsigned secs = getenv("PJ_HOSTILE_SECS") ? (unsigned)atoi(getenv("PJ_HOSTILE_SECS")) : 20, stay = 0;
	char name[256], number[32];
	size_t length;

	random_state = (getenv("PJ_SEED") ? strtoull(getenv("PJ_SEED"), NULL, 10) : 1) * 0x9E3779B97F4A7C15u + 1;
	alarm(secs + 10);
	if (argc < 2 || chdir(argv[1]) < 0) {
		perror("cgroups");
		return 1;
	}
	length = 150 + (size_t)(random_u64() % 100);
	memset(name, 'a' + (int)(random_u64() % 26), sizeof(name));
	name[length] = 0;
	for (size_t i = 0; i < 3900 / length; i++)
		if (mkdir(name, 0755) < 0 || chdir(name) < 0)
			break;
	for (uint64_t i = 0;; i++) {
		snprintf(number, sizeof(number), "n%llu", (unsigned long long)i);
		if (mkdir(number, 0755) < 0)
			usleep(1000);
		if (i == 1)
			enter(number);
		else if (random_u64() % 16 || ++stay > STAY)
			rmdir(number);
	}
}
