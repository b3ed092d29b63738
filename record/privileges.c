/* SPDX-License-Identifier: Apache-2.0 */
#include "privileges.h"

#include "diag.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CAP_END 64 /* two words, and no kernel has more */
#define BIT(cap) (UINT64_C(1) << (cap))

static const struct {
	unsigned cap;
	const char *name;
} wanted[] = {
	{ PRIV_PERFMON, "perfmon" },       { PRIV_IPC_LOCK, "ipc_lock" },   { PRIV_SYSLOG, "syslog" },
	{ PRIV_SYS_PTRACE, "sys_ptrace" }, { PRIV_SYS_ADMIN, "sys_admin" }, { PRIV_DAC_READ_SEARCH, "dac_read_search" },
};

struct caps {
	uint64_t effective, permitted, inheritable;
};

static bool caps_get(struct caps *c)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = { 0 };

	*c = (struct caps){ 0 };
	if (syscall(SYS_capget, &h, d) < 0)
		return false;
	c->effective = d[0].effective | (uint64_t)d[1].effective << 32;
	c->permitted = d[0].permitted | (uint64_t)d[1].permitted << 32;
	c->inheritable = d[0].inheritable | (uint64_t)d[1].inheritable << 32;
	return true;
}

static bool caps_set(const struct caps *c)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2];

	for (int i = 0; i < 2; i++)
		d[i] = (struct __user_cap_data_struct){ .effective = (uint32_t)(c->effective >> 32 * i),
							.permitted = (uint32_t)(c->permitted >> 32 * i),
							.inheritable = (uint32_t)(c->inheritable >> 32 * i) };
	return syscall(SYS_capset, &h, d) == 0;
}

/* SYS_ADMIN stands in for PERFMON where the kernel does not know that, or it was not given. */
static uint64_t to_keep(uint64_t permitted)
{
	uint64_t keep = BIT(PRIV_PERFMON) | BIT(PRIV_IPC_LOCK) | BIT(PRIV_SYSLOG) | BIT(PRIV_SYS_PTRACE) |
			BIT(PRIV_DAC_READ_SEARCH);

	if (!(permitted & BIT(PRIV_PERFMON)))
		keep |= BIT(PRIV_SYS_ADMIN);
	return keep & permitted;
}

bool privileges_has(unsigned cap)
{
	struct caps c;

	return cap < CAP_END && caps_get(&c) && c.effective >> cap & 1;
}

bool privileges_perfmon(void)
{
	return privileges_has(PRIV_PERFMON) || privileges_has(PRIV_SYS_ADMIN);
}

void privileges_text(struct text *t)
{
	size_t start = t->n;

	for (size_t i = 0; i < countof(wanted); i++) {
		if (!privileges_has(wanted[i].cap))
			continue;
		text_add(t, t->n > start ? ", " : "");
		text_add(t, wanted[i].name);
	}
	if (t->n == start)
		text_add(t, "none");
}

void privileges_user(const char *name, uid_t *uid, gid_t *gid)
{
	const struct passwd *user;
	uint64_t number;
	bool is_number = str_u64(str_of(name), &number) && number < (uid_t)-1;

	errno = 0;
	user = getpwnam(name);
	if (!user && is_number) {
		errno = 0;
		user = getpwuid((uid_t)number);
	}
	if (user) {
		*uid = user->pw_uid;
		*gid = user->pw_gid;
	} else if (is_number) {
		*uid = (uid_t)number;
		*gid = (gid_t)number;
	} else {
		die_usage("there is no user '%s'%s", name,
			  errno && errno != ENOENT && errno != ESRCH ? " (or who knows of users does not answer)" : "");
	}
}

static unsigned threads(void)
{
	DIR *d = opendir("/proc/self/task");
	const struct dirent *e;
	unsigned n = 0;

	if (!d)
		return 1;
	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

/* What is not in the bounding set nobody gets by executing a file, whoever owns it. Needs SETPCAP: without it nothing is to be
 * gained, as no_new_privs then says the same. */
static void limit_bounding(uint64_t keep)
{
	for (unsigned cap = 0; cap < CAP_END; cap++)
		if (!(keep >> cap & 1) && prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0);
}

static void become(uid_t uid, gid_t gid)
{
	const struct passwd *user = getpwuid(uid);

	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0)
		die_errno("cannot keep capabilities");
	if ((user && user->pw_gid == gid ? initgroups(user->pw_name, gid) : setgroups(0, NULL)) < 0 ||
	    setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		die_errno("cannot become user %lu, group %lu", (unsigned long)uid, (unsigned long)gid);
}

void privileges_drop(uid_t uid, gid_t gid)
{
	struct caps c;
	uint64_t keep;

	if (threads() > 1)
		die("privileges can only be dropped before there are threads");
	if (getuid() != geteuid())
		die("not made to be set-uid: use setcap (see pjrecord --check)");
	if (!caps_get(&c))
		die_errno("cannot read capabilities");
	keep = to_keep(c.permitted);
	uid = uid == (uid_t)-1 ? geteuid() : uid;
	gid = gid == (gid_t)-1 ? getegid() : gid;
	if ((uid != geteuid() || gid != getegid()) && geteuid() != 0)
		die("only root can become another user");
	if (c.effective & BIT(CAP_SETPCAP))
		limit_bounding(keep);
	if (uid != geteuid() || gid != getegid())
		become(uid, gid);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); /* unknown before 4.3, where there are none */
	if (!caps_set(&(struct caps){ .effective = keep, .permitted = keep }))
		die_errno("cannot drop capabilities");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		die_errno("cannot forbid new privileges");
	if (!caps_get(&c) || c.effective != keep || c.permitted != keep || c.inheritable || geteuid() != uid ||
	    getegid() != gid)
		die("privileges are still there after they were dropped");
}
