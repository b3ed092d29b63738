/*
 * renames - threads that change their names and namespaces as fast as they can, while they are sampled.
 *
 *	renames PROCESSES
 *
 * The kernel makes a record of each change: 700,000 a second of one thread. Some processes change their name, others
 * enter their own UTS namespace again and again, or start threads that end at once.
 *
 * PJ_SEED varies the role of each process, names and pauses. Ends after PJ_HOSTILE_SECS + 10 seconds, or with its
 * parent.
 */
#include "attack.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

static void rename_it(void)
{
	char name[16];

	snprintf(name, sizeof(name), "%.*s%llx", (int)(random_u64() % 8), ";\n\"\\ \xff{",
		 (unsigned long long)(random_u64() >> 32));
	prctl(PR_SET_NAME, name);
}

static void *end_at_once(void *arg)
{
	return arg;
}

static void start_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
		pthread_join(thread, NULL);
}

static void attack(unsigned kind)
{
	int namespace = -1;

	if (kind == 1) {
		enter_user_namespace(0, 0);
		if (unshare(CLONE_NEWUTS) < 0)
			perror("unshare");
		namespace = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
	}
	for (;;) {
		for (unsigned i = 0; i < 1000 + random_u64() % 100000; i++) {
			if (kind == 0)
				rename_it();
			else if (kind == 1)
				setns(namespace, CLONE_NEWUTS);
			else
				start_thread();
		}
		usleep((useconds_t)(random_u64() % 1000));
	}
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1,
		 secs = getenv("PJ_HOSTILE_SECS") ? (unsigned)atoi(getenv("PJ_HOSTILE_SECS")) : 20;
	unsigned first = 0;

	random_state = (getenv("PJ_SEED") ? strtoull(getenv("PJ_SEED"), NULL, 10) : 1) * 0x9E3779B97F4A7C15u + 1;
	first = (unsigned)(random_u64() % 3);
	alarm(secs + 10);
	for (unsigned i = 1; i < n; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(secs + 10);
		random_state += i;
		attack((first + i) % 3);
	}
	attack(n == 1 ? 0 : first);
}
