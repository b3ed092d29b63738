/* session_test - pjrecord-wait gets the rings of CPUs that come online during a recording. */
/* covers: record/session/session.c */
#include "record/perf/sources.h"
#include "record/session/waitstacks.h"
#include "test/lib/tap.h"

static bool comes; /* true: the next call of sources_follow_cpus adds a CPU */
static unsigned followed;

static bool fake_follow_cpus(struct sources *sources, void (*drain)(void *to), void *to)
{
	bool came = comes;

	(void)sources;
	(void)drain;
	(void)to;
	comes = false;
	return came;
}

static size_t fake_refused(const struct sources *sources)
{
	(void)sources;
	return 0;
}

static uint64_t fake_reopened(const struct sources *sources)
{
	(void)sources;
	return 0;
}

static int fake_unopened(const struct sources *sources)
{
	(void)sources;
	return 0;
}

static void fake_waitstacks_follow(struct waitstacks *waitstacks)
{
	(void)waitstacks;
	followed++;
}

#define sources_follow_cpus fake_follow_cpus
#define sources_refused fake_refused
#define sources_reopened fake_reopened
#define sources_unopened fake_unopened
#define waitstacks_follow fake_waitstacks_follow
#include "record/session/session.c"
#undef sources_follow_cpus
#undef sources_refused
#undef sources_reopened
#undef sources_unopened
#undef waitstacks_follow

/* Returns how often pjrecord-wait gets the rings of the CPUs in one session_look. */
static unsigned looked(struct session *session, bool changed, bool came)
{
	session->cpus_changed = changed;
	comes = came;
	followed = 0;
	session_look(session, clock_now());
	return followed;
}

int main(void)
{
	static struct session session;

	session.o.target = TARGET_HOST;
	is_u64(looked(&session, false, false), 0, "no CPU came or went");
	is_u64(looked(&session, true, false), 1, "a CPU went, or came and cannot be opened yet");
	ok(!session.cpus_changed, "  once");
	is_u64(looked(&session, false, true), 1, "that CPU is opened at a later try");
	is_u64(looked(&session, true, true), 1, "a CPU came");
	return done();
}
