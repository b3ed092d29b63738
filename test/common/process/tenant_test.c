/* tenant_test - which tenant a process belongs to, whatever it names its cgroups. */
/* covers: common/process/tenant.c */
#include "common/process/tenant.h"

#include "test/lib/tap.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "ffffffffffffffff0123456789abcdef0123456789abcdef0123456789abcdef"

static void is_fact(const struct tenant_facts *facts, const char *want)
{
	struct tenant t = tenant_from(facts);
	char name[TENANT_NAME];

	is_str(str_of(tenant_name(&t, name)), str_of(want), want);
}

static void is_named(const char *cgroup, uid_t uid, uint64_t mount_ns, const char *want)
{
	is_fact(&(struct tenant_facts){ .cgroup = str_of(cgroup), .uid = uid, .mount_ns = mount_ns }, want);
}

static uid_t owner_of_delegated(struct str controllers, struct str path)
{
	if (controllers.n)
		return str_eq(controllers, STR("name=systemd")) && str_eq(path, STR("/old/")) ? 1001 : 0;
	return str_eq(path, STR("/system.slice/ci.service/")) ? 1000 :
	       str_eq(path, STR("/lxc.payload.a/"))           ? 100000 :
								0;
}

/* A name of a container that another user than root gave does not make a tenant. */
static void delegated(void)
{
	struct tenant_facts f = { .cgroup = STR("0::/system.slice/ci.service/" ID "\n"),
				  .uid = 1000,
				  .mount_ns = 7,
				  .cgroup_owner = owner_of_delegated };

	is_fact(&f, "user 1000");
	f.cgroup = STR("0::/system.slice/docker-" ID ".scope/" OTHER "\n");
	is_fact(&f, "container 0123456789ab");
	f.cgroup = STR("1:name=systemd:/old/" ID "\n");
	is_fact(&f, "user 1001");
	f = (struct tenant_facts){ .cgroup = STR("0::/lxc.payload.a/" ID "\n"),
				   .container_ns = 99,
				   .mount_ns = 7,
				   .cgroup_owner = owner_of_delegated };
	is_fact(&f, "namespace 99");
}

/* Containers without an id: one tenant, whatever user its processes take and whatever mount namespaces they make. */
static void without_id(void)
{
	struct tenant_facts f = { .cgroup = STR("0::/machine.slice/machine-a.scope/payload\n"),
				  .container_ns = 99,
				  .mount_ns = 7 };

	is_fact(&f, "namespace 99");
	f.mount_ns = 8;
	is_fact(&f, "namespace 99");
	f.uid = 1000;
	is_fact(&f, "namespace 99");
	f.cgroup = STR("0::/docker/" ID "\n");
	is_fact(&f, "container 0123456789ab");
}

static void names(void)
{
	is_named("0::/system.slice/docker-" ID ".scope\n", 0, 7, "container 0123456789ab");
	is_named("0::/kubepods/besteffort/pod1-2/" ID "/inner/" OTHER "\n", 1000, 7, "container 0123456789ab");
	is_named("12:cpu:/\n3:name=systemd:/docker/" ID "\n0::/\n", 0, 7, "container 0123456789ab");
	is_named("0::/user.slice/user-1000.slice/user@1000.service/docker-" ID ".scope\n", 1000, 7, "user 1000");
	is_named("0::/user.slice/user-1000.slice/user@1000.service/x\n", 0, 7, "user 1000");
	is_named("0::/user.slice/user-0.slice/session-1.scope\n", 0, 7, "mount namespace 7");
	is_named("0::/system.slice/" ID "0\n", 33, 7, "user 33"); /* 65 digits */
	is_named("0::/system.slice/x.service\n", 33, 7, "user 33");
	is_named("", 0, 0, "unknown");
}

static void own_process(void)
{
	int self = open("/proc/self", O_RDONLY | O_DIRECTORY);
	struct tenant t = tenant_of(self), gone = tenant_of(-2);

	ok(t.kind != TENANT_UNKNOWN, "this process has a tenant");
	ok(gone.kind == TENANT_UNKNOWN, "a process that is gone has none");
	close(self);
}

struct child {
	pid_t pid;
	int folder; /* /proc/PID; -1: it may not have these namespaces */
};

/* A child in new namespaces that becomes a user, then makes more of them. */
static struct child start_child(unsigned long namespaces, uid_t uid, int then)
{
	struct child c = { -1, -1 };
	char path[32], byte;
	int ready[2];

	if (pipe(ready) < 0)
		return c;
	c.pid = (pid_t)syscall(SYS_clone, namespaces | SIGCHLD, NULL, NULL, NULL, 0UL);
	if (c.pid == 0) {
		if ((!uid || setresuid(uid, uid, uid) == 0) && unshare(then) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0 &&
		    write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	snprintf(path, sizeof(path), "/proc/%d", (int)c.pid);
	if (read(ready[0], &byte, 1) == 1)
		c.folder = open(path, O_RDONLY | O_DIRECTORY);
	close(ready[0]);
	return c;
}

static void end_child(struct child child)
{
	if (child.folder >= 0)
		close(child.folder);
	if (child.pid > 0) {
		kill(child.pid, SIGKILL);
		waitpid(child.pid, NULL, 0);
	}
}

/* TENANT_UNKNOWN if it may not have these namespaces. */
static struct tenant tenant_of_child(unsigned long namespaces, uid_t uid, int then)
{
	struct child c = start_child(namespaces, uid, then);
	struct tenant found = tenant_of(c.folder);

	end_child(c);
	return found;
}

/* Real namespaces: those that a process makes do not change its tenant, but for root's. */
static void namespaces(void)
{
	struct tenant plain = tenant_of_child(0, 1234, 0), user = tenant_of_child(0, 1234, CLONE_NEWUSER | CLONE_NEWNS);
	struct tenant nested = tenant_of_child(0, 1234, CLONE_NEWUSER | CLONE_NEWPID),
		      roots = tenant_of_child(CLONE_NEWUSER, 0, CLONE_NEWNS);
	struct tenant pid = tenant_of_child(CLONE_NEWPID, 0, CLONE_NEWNS),
		      other = tenant_of_child(CLONE_NEWPID, 1234, 0);

	if (roots.kind == TENANT_UNKNOWN || user.kind == TENANT_UNKNOWN) {
		printf("ok %d - namespaces # SKIP not allowed here\n", ++tap_n);
		return;
	}
	ok(plain.kind == TENANT_USER && plain.key == 1234, "user 1234");
	ok(tenant_same(plain, user), "in a user namespace of its own it is the same tenant");
	ok(tenant_same(plain, nested), "also in further ones");
	is_u64(roots.kind, TENANT_NAMESPACE, "a user namespace of root's is a tenant");
	is_u64(pid.kind, TENANT_NAMESPACE, "so is a PID namespace");
	ok(other.kind == TENANT_NAMESPACE && !tenant_same(pid, other),
	   "another PID namespace is another tenant, whichever user its process takes");
}

static bool share_place(struct child child, struct child y)
{
	bool same = tenant_place(child.folder) == tenant_place(y.folder);

	return same && tenant_place_of_pid((uint32_t)child.pid) == tenant_place(child.folder);
}

static void places(void)
{
	struct child root = start_child(0, 0, 0), root2 = start_child(0, 0, 0);
	struct child nested = start_child(CLONE_NEWPID, 0, 0), nested2 = start_child(CLONE_NEWPID, 0, 0);
	struct child user = start_child(0, 1234, 0), user2 = start_child(0, 1234, CLONE_NEWUSER | CLONE_NEWNS),
		     other = start_child(0, 1235, 0);
	struct tenant own = tenant_without_namespaces((uint32_t)getpid());

	if (nested2.folder < 0 || user2.folder < 0 || own.kind != TENANT_UNKNOWN) {
		printf("ok %d - places # SKIP needs root outside of containers\n", ++tap_n);
	} else {
		ok(!share_place(root, root2), "two processes of root are two places");
		ok(share_place(root, root), "each the same by its number");
		ok(share_place(nested, nested2), "in new PID namespaces they are one place");
		ok(!share_place(root, nested), "another one than those outside");
		ok(share_place(user, user2), "two processes of one user are one place, whatever namespaces they make");
		ok(!share_place(user, other), "those of another user another one");
	}
	end_child(root);
	end_child(root2);
	end_child(nested);
	end_child(nested2);
	end_child(user);
	end_child(user2);
	end_child(other);
	ok(tenant_place_of_pid(4194305) != tenant_place_of_pid(4194306),
	   "processes that are gone are places of their own");
}

static void folders(void)
{
	const struct tenant all[] = { { TENANT_CONTAINER, 0x123456789abcdef0 },
				      { TENANT_USER, 1000 },
				      { TENANT_MOUNT_NS, 4026531841 },
				      { TENANT_NAMESPACE, 4026532201 } };
	char name[TENANT_NAME];
	struct tenant back;

	for (size_t i = 0; i < countof(all); i++) {
		tenant_folder(&all[i], 0, name);
		ok(tenant_from_folder(str_of(name), &back) && tenant_same(back, all[i]), name);
	}
	ok(!tenant_from_folder(STR("unknown-5"), &back) && back.kind == TENANT_UNKNOWN, "unknown");
	ok(!tenant_from_folder(STR("user-x"), &back) && back.key == 0, "no number");
}

int main(void)
{
	names();
	delegated();
	without_id();
	own_process();
	if (geteuid() == 0)
		namespaces();
	places();
	folders();
	return done();
}
