/* The number of samples that the kernel lost, when CPUs go offline; targets that have gone. */
/* covers: record/perf/sources.c record/perf/eventids.c record/perf/openevent.c */
#include "record/perf/sources.c"
#include "test/lib/tap.h"

/* Adds an event of a CPU. It is a pipe: each read() takes one value of the list, as read() of an event returns it, and
 * fails when the list is at its end. */
static void add_event(struct sources *sources, uint32_t cpu, const uint64_t *lost, size_t n)
{
	int end[2];

	if (pipe2(end, O_NONBLOCK | O_CLOEXEC) < 0) {
		ok(false, "a pipe");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t value[2] = { 1000 + i, lost[i] };

		ok(write(end[1], value, sizeof(value)) == sizeof(value), "a value");
	}
	keep_source(sources, end[0], cpu, true);
}

static void check_lost(void)
{
	struct sources sources = { .rings = rings_new() };

	add_event(&sources, 0, (const uint64_t[]){ 5, 5, 6, 6, 7 }, 5);
	add_event(&sources, 1, (const uint64_t[]){ 70, 71 }, 2);
	add_event(&sources, 1, (const uint64_t[]){ 200 }, 1);
	is_u64(sources_lost(&sources), 275, "the sum of all events");
	close_cpu(&sources, 1);
	is_u64(sources_lost(&sources), 276, "after a CPU went offline, its losses up to then are part of the sum");
	is_u64(sources_lost(&sources), 277, "those of another CPU are added");
	close_cpu(&sources, 1);
	is_u64(sources_lost(&sources), 277, "a CPU that has no events adds nothing");
	is_u64(sources_lost(&sources), 278, "and the sum grows");
	is_u64(sources_lost(&sources), 278, "an event that cannot be read keeps its number");
	close_cpu(&sources, 0);
	rings_free(sources.rings);
	free(sources.source);
}

static void check_gone(void)
{
	char folder[] = "/tmp/pj-sources.XXXXXX", file[64];
	struct sources sources = { .o.target = TARGET_CGROUPS, .enabled = true };
	struct owner owner;

	if (!mkdtemp(folder)) {
		ok(false, "a folder");
		return;
	}
	owner = (struct owner){ open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), PERF_FLAG_PID_CGROUP };
	ok(is_target_gone(&sources, owner, ENOENT), "a cgroup without its files was removed");
	ok(!is_target_gone(&sources, owner, EMFILE), "  a lack of descriptors is another failure");
	sources.enabled = false;
	ok(!is_target_gone(&sources, owner, ENOENT), "  at the start, it is a failure");
	sources.enabled = true;
	snprintf(file, sizeof(file), "%s/cgroup.procs", folder);
	close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	ok(!is_target_gone(&sources, owner, ENOENT), "an event that a CPU lacks is no removed cgroup");
	sources.o.target = TARGET_THREADS;
	ok(is_target_gone(&sources, owner, ESRCH), "a thread has ended");
	sources.o.target = TARGET_HOST;
	ok(!is_target_gone(&sources, owner, ESRCH), "a host does not end");
	close(owner.pid);
	unlink(file);
	rmdir(folder);
}

int main(void)
{
	check_gone();
	check_lost();
	return done();
}
