/* discover: files of /proc/PID of any bytes: a process is a JVM of one kind or none, its texts are bounded. Input:
 * stat, maps, status, comm and cgroup, apart by 0xff. */
/* covers: runtimes/hotspot/discover.c */
#include "runtimes/hotspot/discover.h"

#include "test/fuzz/fuzz.h"

#include <sys/stat.h>

static const char *const files[] = { "stat", "maps", "status", "comm", "cgroup" };

static bool take(void *arg, struct jvm_process *process)
{
	MUST(process->alive && process->kind != JVM_NONE && process->pid == 123 &&
	     strnlen(process->comm, sizeof(process->comm)) < sizeof(process->comm));
	MUST(process->kind != JVM_HOTSPOT || discover_is_libjvm(STR("/x/libjvm.so")));
	(void)jvm_process_age_ns(process);
	++*(unsigned *)arg;
	return false;
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct str rest = { (const char *)data, n };
	int proc = fuzz_folder();
	unsigned found = 0;
	struct taskid_user user;
	struct discovery d;
	struct taskid id;
	bool zombie;
	struct jvm_process p;
	char name[32];

	mkdirat(proc, "123", 0700);
	for (size_t i = 0; i < countof(files); i++) {
		snprintf(name, sizeof(name), "123/%s", files[i]);
		unlinkat(proc, name, 0);
		if (rest.n)
			fuzz_put(name, fuzz_part(&rest));
	}
	mkdirat(proc, "0", 0700);
	(void)taskid_parse((struct str){ (const char *)data, n }, &id, &zombie);
	(void)taskid_parse_user((struct str){ (const char *)data, n }, &user);
	d = discover(fuzz_folder_path, take, &found);
	MUST(d.processes <= 1 && d.forbidden <= d.processes && found <= 1);
	if (discover_one(fuzz_folder_path, 123, &p)) {
		bool stalled = d.stalled || p.kind == JVM_STALLED; /* on a machine under load one of the two lookups */

		MUST(stalled || (found == 1) == (p.alive && p.kind != JVM_NONE &&
						 (p.kind != JVM_UNKNOWN || strcmp(p.comm, "java") == 0)));
		jvm_process_close(&p);
	}
	if (discover_candidate(fuzz_folder_path, 123, &p))
		jvm_process_close(&p);
	MUST(!discover_one(fuzz_folder_path, 124, &p));
	for (size_t i = 0; i < countof(files); i++) {
		snprintf(name, sizeof(name), "123/%s", files[i]);
		unlinkat(proc, name, 0);
	}
	unlinkat(proc, "123", AT_REMOVEDIR);
	unlinkat(proc, "0", AT_REMOVEDIR);
	return 0;
}
