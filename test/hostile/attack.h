/* attack.h - shared by attack programs: a random generator, and namespaces of their own. */
#ifndef PJ_ATTACK_H
#define PJ_ATTACK_H

#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of random_u64 (xorshift); each attack program sets it from PJ_SEED, and never to 0. */
static uint64_t random_state = 1;

static inline uint64_t random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Writes into a file that exists, as those of /proc. */
static inline void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		perror(path);
	if (fd >= 0)
		close(fd);
}

/* Enters a user and a mount namespace, as a container without root has; there the user is `uid` and the group `gid`.
 * Ends with status 3 if that is not allowed. */
static inline void enter_user_namespace(unsigned uid, unsigned gid)
{
	char users[64], groups[64];

	snprintf(users, sizeof(users), "%u %u 1", uid, (unsigned)geteuid());
	snprintf(groups, sizeof(groups), "%u %u 1", gid, (unsigned)getegid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) {
		perror("unshare");
		exit(3);
	}
	write_text("/proc/self/setgroups", "deny");
	write_text("/proc/self/uid_map", users);
	write_text("/proc/self/gid_map", groups);
}

#endif
