/* SPDX-License-Identifier: Apache-2.0 */
#include "record/installcheck.h"

#include "common/files/listing.h"
#include "common/files/fullio.h"
#include "common/process/child.h"
#include "common/process/program.h"
#include "record/checkreport.h"
#include "record/perf/privileges.h"
#include "record/windows/recorderlock.h"
#include "record/windows/windir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* file with the environment variables of pjsend.service (EnvironmentFile=) */
#define ENVIRONMENT "/etc/pj/environment"
#define SECRET "PJ_STORE_AUTH"
/* maximum time in s for folding one window; then pjfold is ended and the check fails */
#define FOLD_S 60
/* maximum time in s for an answer of the store; then pjfetch is ended and the check fails */
#define STORE_S 20
#define STORE_TIMEOUT "15" /* maximum time in s of one request to the store, for pjfetch */
/* age in s of a waiting window from which on it is reported; cron sends windows each minute */
#define LATE_S 600
#define PATH_MOST 4200 /* size in bytes of the buffer for the path of a window */
#define SHOWN 500      /* maximum number of bytes of a message that are shown */
/* maximum number of windows to try, because pjsend may remove a window while it is folded */
#define ATTEMPTS 3
#define ADVICE_MOST 200 /* size in bytes of the buffer for the command that starts a unit */
#define FILE_MOST 65536 /* maximum number of bytes to read from a file in /proc or /etc */

struct install {
	const char *dir;
	int fd; /* descriptor of DIR */
	/* pid of the process that holds the recorder's lock; 0: a process in another PID namespace; -1: no process, or
	 * unknown */
	pid_t recorder;
	bool working; /* true: no line so far has the verdict "no" */
	bool sender;  /* true: a pjsend runs that sends the windows in DIR */
	uint64_t now; /* current time in s since 1970 */
};

static void install_report(struct install *install, enum verdict verdict, const char *subject, const char *fmt, ...)
	PRINTF(4, 5);
static void install_report(struct install *install, enum verdict verdict, const char *subject, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	checkreport_args(verdict, subject, fmt, args);
	va_end(args);
	if (verdict == CHECK_NO)
		install->working = false;
}

static int open_folder(const struct install *install, const char *name)
{
	return openat(install->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool installcheck_is(const char *dir)
{
	/* out/ is not tested, because pj.tmpfiles creates it before any recorder runs */
	static const char *const name[] = { "recording", "spool" };
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is = false;

	for (size_t i = 0; fd >= 0 && i < countof(name); i++)
		is = is || faccessat(fd, name[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	if (fd >= 0)
		close(fd);
	return is;
}

bool installcheck_records(const char *dir)
{
	struct install install = { .fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	struct recorderlock lock = { .fd = -1 };
	int recording = install.fd >= 0 ? open_folder(&install, "recording") : -1;
	bool does = recording >= 0 && recorderlock_look(&lock, recording) && recorderlock_holder(&lock) >= 0;

	recorderlock_close(&lock);
	if (recording >= 0)
		close(recording);
	if (install.fd >= 0)
		close(install.fd);
	return does;
}

/* ---- advice for services ---------------------------------------------------------------------------------------- */

static bool has_unit(const char *unit)
{
	static const char *const folder[] = { "/etc/systemd/system", "/run/systemd/system",
					      "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
					      "/lib/systemd/system" };
	char path[200];

	for (size_t i = 0; i < countof(folder); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder[i], unit);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

/* Writes the command that starts a unit, or the instructions for a host without systemd, to `advice`, and returns
 * advice. unit: "pjrecord" or "pjsend". */
static const char *start_advice(char advice[ADVICE_MOST], const char *unit)
{
	char file[80];

	snprintf(file, sizeof(file), "%s.service", unit);
	if (access("/run/systemd/system", F_OK) != 0)
		snprintf(advice, ADVICE_MOST, "without systemd: sudo cp examples/%s.cron /etc/cron.d/%s", unit,
			 strcmp(unit, "pjrecord") == 0 ? "pj" : unit);
	else if (has_unit(file))
		snprintf(advice, ADVICE_MOST, "sudo systemctl enable --now %s; if it fails: journalctl -u %s -n 20",
			 has_unit("pj.target") ? "pj.target" : unit, unit);
	else
		snprintf(advice, ADVICE_MOST,
			 "sudo cp examples/%s /etc/systemd/system/ && sudo systemctl enable --now %s", file, unit);
	return advice;
}

/* ---- versions of programs --------------------------------------------------------------------------------------- */

/* Returns the version that `PROGRAM --version` printed, such as "0.1" for "pjfold (pj) 0.1"; {0} if it printed no
 * version. */
static struct str version_of(const struct child *child)
{
	struct str rest = text_view(&child->out), line = str_cut(&rest, '\n');

	str_cut(&line, ' ');
	return child->status == 0 && str_eq(str_cut(&line, ' '), STR("(pj)")) ? str_cut(&line, ' ') : (struct str){ 0 };
}

/* Prints a line if the program is missing, does not run, or has another version than pjrecord, and returns false.
 * Returns true, without printing, if the program has the version of pjrecord. */
static bool check_program(struct install *install, const char *name)
{
	static const atomic_bool never;
	char *path = program_find(name);
	char *argv[] = { path, (char *)(uintptr_t) "--version", NULL };
	struct child child;
	struct str version;

	if (!path) {
		install_report(install, CHECK_NO, "programs",
			       "%s is neither beside pjrecord nor in PATH: install the package again, all of it", name);
		return false;
	}
	child_run(&child, argv, 10, &never);
	version = version_of(&child);
	bool good = str_eq(version, STR(PJ_VERSION));

	if (!version.n)
		install_report(install, CHECK_NO, "programs",
			       "%s does not run: install the package again; its message: %.*s", path,
			       child.err.n < 200 ? (int)child.err.n : 200, child.err.n ? child.err.p : "");
	else if (!good)
		install_report(install, CHECK_NO, "programs",
			       "%s is version %.*s, pjrecord is %s: install one version of all tools", path,
			       (int)version.n, version.p, PJ_VERSION);
	child_free(&child);
	free(path);
	return good;
}

static void check_programs(struct install *install)
{
	static const char *const name[] = { "pjfold", "pjsend", "pjfetch", "pjsvg" };
	bool good = true;

	for (size_t i = 0; i < countof(name); i++)
		good = check_program(install, name[i]) && good;
	if (good)
		install_report(install, CHECK_OK, "programs", "pjfold, pjsend, pjfetch and pjsvg have version %s, too",
			       PJ_VERSION);
}

/* ---- user of the services --------------------------------------------------------------------------------------- */

/* Prints a line if the services' user pj does not exist. A package that dpkg has unpacked but not configured has the
 * units but not the user, so systemd does not start its services. */
static void check_user(struct install *install)
{
	if (has_unit("pjrecord.service") && !getpwnam("pj"))
		install_report(install, CHECK_NO, "user",
			       "the services run as user pj, which does not exist, as the package is installed in "
			       "part: sudo dpkg --configure -a, or without dpkg: sudo systemd-sysusers");
}

/* ---- running recorder ------------------------------------------------------------------------------------------- */

static bool take_latest(void *arg, int space, const char *name, uint64_t epoch)
{
	uint64_t *latest = arg;

	(void)space;
	(void)name;
	*latest = epoch > *latest ? epoch : *latest;
	return true;
}

/* Returns the start (name) of the newest window in a folder of DIR, in s since 1970; 0 if the folder has no window. */
static uint64_t newest_start(const struct install *install, const char *folder)
{
	int fd = open_folder(install, folder);
	uint64_t latest = 0;

	if (fd >= 0) {
		windir_each(fd, take_latest, &latest);
		close(fd);
	}
	return latest;
}

/* Returns the mask of a process's permitted capabilities; 0 if it has none, or if they cannot be read. */
static uint64_t capabilities_of(pid_t pid)
{
	struct text status = { 0 };
	uint64_t bits = 0;
	struct str rest;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
	fullio_read_at(AT_FDCWD, path, &status, FILE_MOST);
	rest = text_view(&status);
	while (rest.n) {
		struct str value = str_cut(&rest, '\n'), key = str_cut(&value, ':');

		if (str_eq(key, STR("CapPrm")) && !str_hex(str_trim_left(value), &bits))
			bits = 0;
	}
	text_free(&status);
	return bits;
}

static void check_capabilities(struct install *install)
{
	static const struct {
		unsigned bit;
		const char *name, *loss;
	} needed[] = {
		{ PRIV_IPC_LOCK, "CAP_IPC_LOCK", "its rings are small, so that samples may be lost" },
		{ PRIV_SYSLOG, "CAP_SYSLOG", "kernel functions have no names" },
		{ PRIV_SYS_PTRACE, "CAP_SYS_PTRACE", "code of processes of other users has no names" },
		{ PRIV_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", "code of other users' files has no names" },
	};
	uint64_t has = capabilities_of(install->recorder);
	bool complete = true;

	for (size_t i = 0; i < countof(needed); i++) {
		if (has >> needed[i].bit & 1)
			continue;
		complete = false;
		install_report(
			install, CHECK_LIMITED, "capabilities",
			"the recorder lacks %s: %s: add it to AmbientCapabilities= and CapabilityBoundingSet= of "
			"its unit (capabilities.add of its container), and restart it",
			needed[i].name, needed[i].loss);
	}
	if (complete)
		install_report(install, CHECK_OK, "capabilities", "the recorder has those that it needs");
}

static void print_recorder(struct install *install)
{
	uint64_t start = newest_start(install, "recording");
	char age[80] = "its first window has not begun";

	if (start)
		snprintf(age, sizeof(age), "its window began %" PRIu64 " s ago",
			 install->now > start ? install->now - start : 0);
	if (install->recorder > 0)
		install_report(install, CHECK_OK, "recorder", "process %ld records into '%s'; %s",
			       (long)install->recorder, install->dir, age);
	else
		install_report(install, CHECK_OK, "recorder",
			       "a process of another PID namespace (a container) records into '%s'; %s", install->dir,
			       age);
}

static void check_recorder(struct install *install)
{
	int recording = open_folder(install, "recording");
	struct recorderlock lock = { .fd = -1 };
	bool open = recording >= 0 && recorderlock_look(&lock, recording);
	int error = errno;
	char advice[ADVICE_MOST];

	if (open)
		install->recorder = recorderlock_holder(&lock);
	if (!open && error != ENOENT)
		install_report(install, CHECK_LIMITED, "recorder",
			       "'%s/recording' cannot be read (%s): run this check as root", install->dir,
			       strerror(error));
	else if (install->recorder < 0)
		install_report(install, CHECK_NO, "recorder", "none records into '%s': %s", install->dir,
			       start_advice(advice, "pjrecord"));
	else
		print_recorder(install);
	if (install->recorder > 0)
		check_capabilities(install);
	if (open)
		recorderlock_close(&lock);
	if (recording >= 0)
		close(recording);
}

/* ---- names in the newest window --------------------------------------------------------------------------------- */

/* Returns the last line that the program wrote to standard error, without the name of the tool at its start. */
static struct str last_message(const struct child *child)
{
	struct str all = text_view(&child->err), line;
	ptrdiff_t colon;

	while (all.n && all.p[all.n - 1] == '\n')
		all.n--;
	line = str_from(all, (size_t)(str_rfind(all, '\n') + 1));
	colon = str_find_str(line, STR(": "));
	return colon > 0 && str_starts(line, STR("pj")) ? str_from(line, (size_t)colon + 2) : line;
}

/* Returns true if pjfold printed its summary sentence for the window. in_the_making: true: the window is unfinished. It
 * has no end then, so pjfold prints the sentence and fails. */
static bool is_judged(const struct child *child, bool in_the_making)
{
	struct str line = last_message(child);

	return child->status == 0 ||
	       (in_the_making && line.n && byte_is_digit(line.p[0]) && str_find_str(line, STR(" sample")) > 0);
}

/* Writes the path of the newest window in a folder of DIR to `path`. Returns false if the folder has no window. */
static bool newest_path(const struct install *install, const char *folder, char path[PATH_MOST])
{
	uint64_t start = newest_start(install, folder);

	snprintf(path, PATH_MOST, "%s/%s/%" PRIu64 ".data", install->dir, folder, start);
	return start;
}

/* Folds the newest window with pjfold, and prints the summary sentence. If pjsend removes the window meanwhile, folds
 * the newest remaining one; at most ATTEMPTS windows. */
static void installcheck_names(struct install *install)
{
	static const atomic_bool never;
	char *pjfold = program_find("pjfold");
	char path[PATH_MOST];
	bool making = false;

	if (!pjfold) /* check_programs has reported the missing pjfold */
		return;
	for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
		char *argv[] = { pjfold, (char *)(uintptr_t) "--top=1", path, NULL };
		struct child child;
		struct str line;

		making = !newest_path(install, "out", path);
		if (making && !newest_path(install, "recording", path))
			break;
		child_run(&child, argv, FOLD_S, &never);
		line = str_head(last_message(&child), last_message(&child).n < SHOWN ? last_message(&child).n : SHOWN);
		bool judged = is_judged(&child, making), gone = access(path, F_OK) != 0;
		if (judged)
			install_report(install, CHECK_OK, "names", "%.*s", (int)line.n, line.n ? line.p : "");
		else if (!gone)
			install_report(install, making ? CHECK_LIMITED : CHECK_NO, "names",
				       "the newest window cannot be folded: %.*s", (int)line.n,
				       line.n ? line.p : "pjfold was ended");
		child_free(&child);
		if (judged || !gone) {
			free(pjfold);
			return;
		}
	}
	free(pjfold);
	if (install->recorder >= 0)
		install_report(install, CHECK_LIMITED, "names", "there is no window yet: check again in a minute");
}

/* ---- windows that wait to be sent ------------------------------------------------------------------------------- */

/* Returns true if a process holds a lock (flock) on the folder spool/, as pjsend does while it runs. Searches
 * /proc/locks instead of trying to lock: a lock here would make a pjsend end that starts at the same moment. */
static bool is_locked(int folder)
{
	struct text locks = { 0 };
	struct stat status;
	char inode[40];
	struct str rest;
	bool found = false;

	if (fstat(folder, &status) < 0)
		return false;
	snprintf(inode, sizeof(inode), ":%" PRIu64 " ", (uint64_t)status.st_ino);
	fullio_read_at(AT_FDCWD, "/proc/locks", &locks, 16 * FILE_MOST);
	rest = text_view(&locks);
	while (rest.n && !found) {
		struct str line = str_cut(&rest, '\n');

		found = str_find_str(line, STR(" FLOCK ")) >= 0 && str_find_str(line, str_of(inode)) >= 0;
	}
	text_free(&locks);
	return found;
}

/* Windows in a folder of DIR that have not been sent. */
struct waiting {
	uint64_t n, oldest; /* number of windows; start of the oldest window in s since 1970 */
};

/* Counts the files in a folder of DIR whose names are digits (the start), then '.', and contain `part`. Sets `oldest`
 * to UINT64_MAX if there are none. */
static struct waiting count_windows(const struct install *install, const char *folder, const char *part)
{
	struct waiting waiting = { 0, UINT64_MAX };
	DIR *list = listing_take(open_folder(install, folder));
	const struct dirent *entry;

	while (list && (entry = readdir(list))) {
		struct str name = str_of(entry->d_name), epoch = str_cut(&name, '.');
		uint64_t start;

		if (!str_u64(epoch, &start) || str_find_str(str_of(entry->d_name), str_of(part)) < 0)
			continue;
		waiting.n++;
		waiting.oldest = start < waiting.oldest ? start : waiting.oldest;
	}
	if (list)
		closedir(list);
	return waiting;
}

static void check_refused(struct install *install)
{
	struct waiting refused = count_windows(install, "bad", ".why");

	if (refused.n)
		install_report(
			install, CHECK_LIMITED, "refused",
			"%" PRIu64
			" windows in '%s/bad' were unreadable or refused by the store: the files *.why have the reasons",
			refused.n, install->dir);
}

static void check_spool(struct install *install)
{
	struct waiting spooled = count_windows(install, "spool", ".folded"),
		       out = count_windows(install, "out", ".data");
	uint64_t oldest = spooled.oldest < out.oldest ? spooled.oldest : out.oldest;
	uint64_t age = oldest < install->now ? install->now - oldest : 0;
	int spool = open_folder(install, "spool");
	bool missing = spool < 0 && errno == ENOENT;
	char advice[ADVICE_MOST];

	install->sender = spool >= 0 && is_locked(spool);
	if (missing)
		install_report(install, CHECK_OK, "spool",
			       "%" PRIu64 " windows are kept here, as no pjsend has run; to send them to a store: %s",
			       out.n, start_advice(advice, "pjsend"));
	else if (!install->sender && spooled.n + out.n && age > LATE_S)
		install_report(install, CHECK_NO, "spool",
			       "%" PRIu64 " windows wait, the oldest for %" PRIu64 " min, and no pjsend runs: %s",
			       spooled.n + out.n, age / 60, start_advice(advice, "pjsend"));
	else if (spooled.n + out.n && age > LATE_S)
		install_report(install, CHECK_LIMITED, "spool",
			       "%" PRIu64 " windows wait, the oldest for %" PRIu64
			       " min, though pjsend runs: it reports the reason: "
			       "journalctl -u pjsend -n 20",
			       spooled.n + out.n, age / 60);
	else
		install_report(install, CHECK_OK, "spool", "%" PRIu64 " windows wait%s", spooled.n + out.n,
			       install->sender ? ", and pjsend runs" : "; no pjsend runs now");
	if (spool >= 0)
		close(spool);
	check_refused(install);
}

/* ---- connection to the store ------------------------------------------------------------------------------------ */

/* Returns the last value of a name in lines NAME=VALUE, without quotation marks; {0} if no line has the name. */
static struct str value_in(struct str lines, struct str name)
{
	struct str found = { 0 };

	while (lines.n) {
		struct str value = str_trim(str_cut(&lines, '\n')), key = str_cut(&value, '=');

		if (!str_eq(key, name))
			continue;
		if (value.n > 1 && (value.p[0] == '"' || value.p[0] == '\'') && value.p[value.n - 1] == value.p[0])
			value = str_head(str_from(value, 1), value.n - 2);
		found = value;
	}
	return found;
}

/* Sets an environment variable to its value in /etc/pj/environment, unless it is set already. Returns its value; NULL
 * if it has no value. */
static const char *installed_variable(const char *name)
{
	struct text lines = { 0 }, value = { 0 };

	if (!getenv(name) && fullio_read_at(AT_FDCWD, ENVIRONMENT, &lines, FILE_MOST)) {
		text_str(&value, value_in(text_view(&lines), str_of(name)));
		text_char(&value, 0);
		if (value.n > 1)
			setenv(name, value.p, 0);
	}
	text_free(&lines);
	text_free(&value);
	return getenv(name);
}

/* Lists the windows of the last hour in the store with pjfetch. Prints a line with the result. */
static void query_store(struct install *install, const char *store)
{
	static const atomic_bool never;
	char *pjfetch = program_find("pjfetch");
	char option[4300], from[40];
	char *argv[] = {
		pjfetch, option, from, (char *)(uintptr_t) "--list", (char *)(uintptr_t) "--timeout=" STORE_TIMEOUT,
		NULL
	};
	struct child child;
	struct str line;

	if (!pjfetch)
		return;
	snprintf(option, sizeof(option), "--store=%s", store);
	snprintf(from, sizeof(from), "--from=%" PRIu64, install->now > 3600 ? install->now - 3600 : 0);
	child_run_with(&child, argv, SECRET, STORE_S, &never);
	line = last_message(&child);
	/* a URL with '@' may contain a password, so it is not printed */
	store = strchr(store, '@') ? "it" : store;
	if (child.status == 0)
		install_report(install, CHECK_OK, "store", "%s answers; it has %s of the last hour", store,
			       child.out.n ? "windows" : "no window");
	else if (str_starts(line, STR("no windows")))
		install_report(install, CHECK_LIMITED, "store",
			       "%s answers, but it has no window of the last hour: check again in a minute", store);
	else if (child.late)
		install_report(install, CHECK_NO, "store",
			       "%s does not answer within %d s: is its address right, and a firewall open?", store,
			       STORE_S);
	else
		install_report(install, CHECK_NO, "store", "%.*s: PJ_STORE is in %s, or: systemctl edit pjsend",
			       line.n < 500 ? (int)line.n : 500, line.n ? line.p : "pjfetch was ended", ENVIRONMENT);
	child_free(&child);
	free(pjfetch);
}

static void check_store(struct install *install)
{
	const char *store = installed_variable("PJ_STORE");
	char own[4200];

	if (store)
		installed_variable(SECRET);
	snprintf(own, sizeof(own), "%s/store", install->dir);
	if (!store && access(own, F_OK) != 0)
		return;
	snprintf(own, sizeof(own), "dir:%s/store", install->dir);
	if (store && (str_starts(str_of(store), STR("ndjson:")) || str_starts(str_of(store), STR("pyroscope:"))))
		install_report(install, CHECK_LIMITED, "store",
			       "%s is one way, so it is not queried: '%s/pjsend.prom' has the time of the last success",
			       store, install->dir);
	else
		query_store(install, store ? store : own);
}

bool installcheck(const char *dir)
{
	struct install install = { .dir = dir,
				   .fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
				   .recorder = -1,
				   .working = true,
				   .now = (uint64_t)time(NULL) };

	/* flushes, so that lines of this process come before the output of programs that it runs */
	fflush(stdout);
	check_programs(&install);
	check_user(&install);
	check_recorder(&install);
	installcheck_names(&install);
	check_spool(&install);
	check_store(&install);
	if (install.fd >= 0)
		close(install.fd);
	return install.working;
}
