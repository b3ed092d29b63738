/*
 * sharedmm.c - fake JVMs that exec a set-uid program while pjmap and pjrecord read them (security: memory of set-uid
 * programs).
 *
 * sharedmm KEEPSECRET FILE SECS: each child maps the image of a HotSpot (synth.h) whose names point to where KEEPSECRET
 * holds the contents of FILE, and becomes that program at a moment drawn by lot: at once, while it is young, after it
 * was read. Mostly another task shares the memory (CLONE_VM without CLONE_THREAD), so that the image stays readable
 * after the exec. Some children burn CPU in the image, so that a recorder samples them; some exec many times; some make
 * KEEPSECRET itself map the image.
 */
#include "test/hostile/secret.h"
#include "test/lib/standin.h"

#include <sched.h>
#include <time.h>

enum { CHILDREN = 5, STACK = 65536 };

struct plan {
	const char *victim, *secret;
	char ms[16];
	unsigned delay_ms;
	bool shares, burns, storms, deputy;
};

static struct plan plan; /* of this child */
static struct standin standin;

static uint64_t lot(struct synth *synth, uint64_t below)
{
	return synth_lot(synth, below);
}

/* Pointers to Symbols of some texts point to the secret instead. */
static void redirect(struct synth *synth, struct synth *dice)
{
	static const char *const texts[] = { "Work", "java/util/HashMap", "get", "java/lang/Object",
					     "(Ljava/lang/Object;)Ljava/lang/Object;" };

	for (size_t i = 0; i < countof(texts); i++) {
		size_t n = strlen(texts[i]);

		if (i && lot(dice, 2))
			continue;
		for (size_t at = 4; at + n <= synth->n; at++) {
			uint64_t symbol = SYNTH_BASE + at - 4;
			uint16_t length;

			memcpy(&length, synth->byte + at - 4, sizeof(length));
			if (length != n || memcmp(synth->byte + at, texts[i], n) != 0)
				continue;
			for (size_t k = 0; k + 8 <= synth->n; k += 8) {
				uint64_t word;

				memcpy(&word, synth->byte + k, 8);
				if ((word & ~UINT64_C(1)) == symbol)
					synth_number(synth, SYNTH_BASE + k, SECRET_AT | (word & 1), 8);
			}
		}
	}
}

static int share(void *arg)
{
	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 40; i++)
		usleep(100000);
	_exit(0);
}

static void become(int signal)
{
	char *const argv[] = { "keepsecret", (char *)(uintptr_t)plan.secret, plan.ms, plan.deputy ? standin.path : NULL,
			       NULL };
	char *const none[] = { NULL };

	(void)signal;
	execve(plan.victim, argv, none);
	_exit(1);
}

/* Jumps to itself, in a block of stubs. */
static void burn(void)
{
	void (*loop)(void);
	uint64_t at = standin.s.block;

	memcpy(&loop, &at, sizeof(loop));
	loop();
}

static void put_loop(struct synth *synth)
{
#if defined(__x86_64__)
	synth_put(synth, synth->block, "\xeb\xfe", 2);
#elif defined(__aarch64__)
	synth_put(synth, synth->block, "\x00\x00\x00\x14", 4);
#endif
}

static void child(char **argv, unsigned turn)
{
	static char stack[STACK] __attribute__((aligned(16)));

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (plan.storms && turn < 6) { /* the same PID again and again */
		char number[16], *const again[] = { argv[0], argv[1], argv[2], argv[3], number, NULL };

		snprintf(number, sizeof(number), "%u", turn + 1);
		if (!standin_map(&standin))
			_exit(1);
		usleep(plan.delay_ms * 1000);
		standin_end(&standin);
		execve("/proc/self/exe", again, environ);
		_exit(1);
	}
	if (!plan.deputy && !standin_map(&standin))
		_exit(1);
	if (plan.shares && clone(share, stack + STACK, CLONE_VM | SIGCHLD, NULL) < 0)
		_exit(1);
	if (plan.burns) {
		signal(SIGALRM, become);
		ualarm(plan.delay_ms * 1000 % 1000000 + 1000, 0);
		burn();
	}
	usleep(plan.delay_ms * 1000);
	become(0);
}

/* What this child does, and the image that it does it with. */
static bool make_plan(char **argv, struct synth *dice)
{
	static const unsigned delays[] = { 0, 1, 5, 20, 60, 120, 300, 700, 1500 };
	static const unsigned jdks[] = { SYNTH_8, SYNTH_17, SYNTH_21, SYNTH_25 };
	unsigned kind = (unsigned)lot(dice, 8);

	plan = (struct plan){ .victim = argv[1],
			      .secret = argv[2],
			      .delay_ms = delays[lot(dice, countof(delays))],
			      .shares = kind < 5,
			      .burns = lot(dice, 3) == 0,
			      .storms = kind == 6,
			      .deputy = kind == 7 };
	snprintf(plan.ms, sizeof(plan.ms), "%u", 200 + (unsigned)lot(dice, 1500));
	if (!standin_make(&standin, jdks[lot(dice, 4)]))
		return false;
	redirect(&standin.s, dice);
	put_loop(&standin.s);
	return true;
}

int main(int argc, char **argv)
{
	const char *seed = getenv("PJ_SEED");
	struct synth dice = { .seed = seed ? strtoull(seed, NULL, 10) : 1 };
	struct standin made[CHILDREN] = { 0 };
	time_t end = time(NULL) + (argc > 3 ? atoi(argv[3]) : 0);

	if (argc < 4)
		return 1;
	if (argc > 4) { /* one of a storm */
		dice.seed += (uint64_t)getpid() * 64 + (uint64_t)atoi(argv[4]);
		if (!make_plan(argv, &dice))
			return 1;
		plan.storms = true;
		plan.delay_ms = plan.delay_ms % 50;
		child(argv, (unsigned)atoi(argv[4]));
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (time(NULL) < end) {
		for (unsigned i = 0; i < CHILDREN; i++) {
			if (made[i].pid && waitpid(made[i].pid, NULL, WNOHANG) == 0)
				continue;
			if (made[i].pid) {
				made[i].pid = 0; /* it was waited for: the PID may be of another process */
				standin_end(&made[i]);
			}
			if (!make_plan(argv, &dice))
				return 1;
			made[i] = standin;
			made[i].pid = fork();
			if (made[i].pid == 0)
				child(argv, 0);
		}
		usleep(20000);
	}
	for (unsigned i = 0; i < CHILDREN; i++)
		if (made[i].pid)
			standin_end(&made[i]);
	return 0;
}
