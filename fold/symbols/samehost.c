/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/samehost.h"

#include "common/filter/boot.h"
#include "common/filter/broker.h"
#include "common/clocks.h"
#include "fold/opener/fileopener.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#define FIELD_STATE 3
#define FIELD_START 22
#define WALL_SLACK (10ull * SECOND_NS)
#define DRIFT_MAX (60ull * SECOND_NS)

static struct utsname host;
static uid_t user;
static bool prepared;

void samehost_prepare(void)
{
	if (prepared)
		return;
	uname(&host);
	user = geteuid();
	prepared = true;
}

uid_t samehost_user(void)
{
	samehost_prepare();
	return user;
}

bool samehost_is_this_host(struct str hostname, struct str kernel_release)
{
	samehost_prepare();
	return hostname.n && kernel_release.n && str_eq(hostname, str_of(host.nodename)) &&
	       str_eq(kernel_release, str_of(host.release));
}

/* Returns the accepted difference of perf's clock and CLOCK_MONOTONIC in ns: 100 ppm of the uptime, a minute at most,
 * and 0.1 s for the resolution of start times. A process that reuses a pid within this time is taken for the earlier
 * process. */
static uint64_t samehost_drift(uint64_t uptime)
{
	uint64_t clocks = uptime / 10000;

	return (clocks < DRIFT_MAX ? clocks : DRIFT_MAX) + SECOND_NS / 10;
}

bool samehost_is_this_boot(uint64_t wall_ns, uint64_t record_ns)
{
	uint64_t uptime = clock_now(), wall = clock_wall(), since, expected;

	if (record_ns > uptime + samehost_drift(uptime) || wall_ns > wall + WALL_SLACK)
		return false;
	since = uptime > record_ns ? uptime - record_ns : 0;
	/* wraps around only if the recording would start before 1970; the next comparison then fails */
	expected = wall - since;
	/* CLOCK_MONOTONIC stops during suspend, so the record may be older than `since`: by at most the time in suspend
	 * since boot, CLOCK_BOOTTIME - CLOCK_MONOTONIC. */
	return wall_ns < expected + WALL_SLACK && wall_ns + WALL_SLACK + (clock_since_boot() - uptime) > expected;
}

bool samehost_parse_stat(struct str stat, char *state, uint64_t *start_ticks)
{
	ptrdiff_t close = str_rfind(stat, ')'); /* comm is in parentheses, and may contain blanks and parentheses */
	unsigned field = FIELD_STATE;
	struct str one;

	if (close < 0 || str_from(stat, (size_t)close).n < 3)
		return false;
	stat = str_trim(str_from(stat, (size_t)close + 2));
	one = str_cut(&stat, ' ');
	if (one.n != 1)
		return false;
	*state = one.p[0];
	for (; field < FIELD_START && stat.n; field++)
		one = str_cut(&stat, ' ');
	return field == FIELD_START && str_u64(one, start_ticks);
}

pid_t samehost_parse_status(struct str status)
{
	while (status.n) {
		struct str line = str_cut(&status, '\n');
		uint64_t pid;
		ptrdiff_t last;

		if (!str_starts(line, STR("NSpid:")))
			continue;
		line = str_trim(str_from(line, 6));
		last = str_rfind(line, '\t');
		return str_u64(str_from(line, (size_t)(last + 1)), &pid) && pid > 0 && pid <= INT32_MAX ? (pid_t)pid :
													  0;
	}
	return 0;
}

/* Returns up to `space` bytes of the file fd of /proc/PID, in `buf`; empty if fd is -1 or reading fails. Closes fd. */
static struct str samehost_read_proc(int fd, char *buf, size_t space)
{
	ssize_t got = fd < 0 ? -1 : read(fd, buf, space);

	if (fd >= 0)
		close(fd);
	return (struct str){ buf, got > 0 ? (size_t)got : 0 };
}

static struct str samehost_read_stat(pid_t pid, char *buf, size_t space)
{
	return samehost_read_proc(pid > 0 ? fileopener_stat(pid) : -1, buf, space);
}

bool samehost_boot_is(struct str id)
{
	char own[BOOT_ID + 1];

	return boot_id("/proc", own) && id.n && str_starts(str_of(own), id);
}

static bool is_dead(char state)
{
	return state == 'Z' || state == 'X' || state == 'x';
}

bool samehost_process_is(pid_t pid, uint64_t start_ticks)
{
	char buf[4096], state;
	uint64_t ticks;

	return samehost_parse_stat(samehost_read_stat(pid, buf, sizeof(buf)), &state, &ticks) && !is_dead(state) &&
	       ticks == start_ticks;
}

bool samehost_process_lived(pid_t pid, uint64_t sample_ns)
{
	uint64_t ticks, start, uptime = clock_now(), asleep = clock_since_boot() - uptime;
	long hz = sysconf(_SC_CLK_TCK);
	char buf[4096], state;

	if (hz <= 0 || sample_ns == 0 ||
	    !samehost_parse_stat(samehost_read_stat(pid, buf, sizeof(buf)), &state, &ticks))
		return false;
	if (is_dead(state) || ticks > UINT64_MAX / SECOND_NS)
		return false;
	start = ticks * SECOND_NS / (uint64_t)hz;
	/* start times include suspend, times of samples do not: a process that started before a suspend seems to have
	 * started later than its samples */
	start = start > asleep ? start - asleep : 0;
	return sample_ns <= uptime + samehost_drift(uptime) && start <= sample_ns + samehost_drift(uptime);
}

pid_t samehost_inner_pid(pid_t pid)
{
	char path[64], buf[8192];

	if (pid <= 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
	return samehost_parse_status(samehost_read_proc(broker_open(AT_FDCWD, path, 0), buf, sizeof(buf)));
}
