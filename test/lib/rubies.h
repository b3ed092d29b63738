/* rubies.h - finds the Ruby interpreters of this machine; runs stacks.rb in one until it stops itself (SIGSTOP). */
#ifndef PJ_TEST_RUBIES_H
#define PJ_TEST_RUBIES_H

#include "runtimes/ruby/ruby.h"
#include "test/lib/tap.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUBIES_MAX = 16, RUBY_TEXT = 1 << 20 };

/* A program rubyN.M, and the folder that is its root file system ("": that of this machine). */
struct rubyprogram {
	char root[256], program[256], name[300];
	bool supported;
};

static inline void add_rubies(struct rubyprogram *ruby, size_t *n, const char *pattern, bool rooted)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc && *n < RUBIES_MAX; i++) {
		const char *path = found.gl_pathv[i], *program = rooted ? strstr(path, "/usr/bin/") : path;
		struct rubyprogram *one = &ruby[*n];

		if (!program || access(path, X_OK))
			continue;
		snprintf(one->root, sizeof(one->root), "%.*s", (int)(program - path), path);
		snprintf(one->program, sizeof(one->program), "%s", program);
		snprintf(one->name, sizeof(one->name), "%s", path);
		one->supported = strstr(program, "ruby3.") != NULL;
		++*n;
	}
	globfree(&found);
}

/* Finds programs /usr/bin/rubyN.M, and those that rootfs.sh unpacked in PJ_RUBY_ROOTS. Returns their number. */
static inline size_t rubies_find(struct rubyprogram *ruby)
{
	const char *roots = getenv("PJ_RUBY_ROOTS");
	char pattern[PATH_MAX];
	struct stat status;
	size_t n = 0;

	add_rubies(ruby, &n, "/usr/bin/ruby[23].[0-9]", false);
	/* a test must not run programs as root that another user unpacked */
	if (!roots || geteuid() != 0 || stat(roots, &status) != 0 || status.st_uid != 0)
		return n;
	snprintf(pattern, sizeof(pattern), "%s/*/usr/bin/ruby[23].[0-9]", roots);
	add_rubies(ruby, &n, pattern, true);
	return n;
}

/* A process that has stopped itself; pid: 0 if it ended. */
struct rubyrun {
	pid_t pid;
	int process; /* descriptor of /proc/PID */
	const char *mode;
	char out[RUBY_TEXT];
	struct memory memory;
	uint64_t base;
};

/* Reads stacks.rb into text. The child gets it as an argument, since a Ruby in another root cannot open the file. */
static inline bool stacks_text(char *text, size_t cap)
{
	const char *top = getenv("PJ_TOP");
	char path[PATH_MAX];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "%s/test/runtimes/ruby/stacks.rb", top ? top : ".");
	file = fopen(path, "re");
	n = file ? fread(text, 1, cap - 1, file) : 0;
	text[n] = '\0';
	if (file)
		fclose(file);
	return n > 0;
}

/* Reads the output of the process until the line "end". */
static inline bool read_stacks(struct rubyrun *run, int fd)
{
	size_t have = 0;
	ssize_t n;

	do {
		n = read(fd, run->out + have, sizeof(run->out) - 1 - have);
		have += n > 0 ? (size_t)n : 0;
		run->out[have] = '\0';
	} while (n > 0 && (have < 4 || strcmp(run->out + have - 4, "end\n") != 0));
	return n > 0;
}

/* Runs stacks.rb with the argument mode until it stops itself. Returns false if it ends without a stop. */
static inline bool ruby_run(const struct rubyprogram *ruby, const char *mode, struct rubyrun *run)
{
	static char text[65536];
	int out[2], status;
	bool good;

	*run = (struct rubyrun){ .process = -1, .mode = mode };
	if (!stacks_text(text, sizeof(text)) || pipe2(out, O_CLOEXEC) != 0)
		return false;
	run->pid = fork();
	if (run->pid == 0) {
		dup2(out[1], 1);
		if (*ruby->root && (chroot(ruby->root) != 0 || chdir("/") != 0))
			_exit(1);
		execl(ruby->program, ruby->program, "-Ku", "--disable-gems", "-e", text, mode, (char *)NULL);
		_exit(1);
	}
	close(out[1]);
	good = run->pid > 0 && read_stacks(run, out[0]) && waitpid(run->pid, &status, WUNTRACED) == run->pid &&
	       WIFSTOPPED(status);
	close(out[0]);
	return good;
}

/* Opens Ruby by a mapping, a line of /proc/PID/maps, if the file of the mapping has it. */
static inline enum ruby_answer open_mapping(struct rubyrun *run, struct ruby *ruby, const char *line)
{
	struct ruby_candidate candidate;
	unsigned long long start, offset;
	char path[512];
	int at = 0;

	if (sscanf(line, "%llx-%*x %*4s %llx %*s %*u %n", &start, &offset, &at) != 2 || at == 0 || offset != 0)
		return RUBY_OTHER_FILE;
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(line + at, "\n"), line + at);
	candidate = (struct ruby_candidate){ start, str_of(path) };
	run->base = start;
	return ruby_is_library(candidate.path) ? ruby_open(ruby, &run->memory, &candidate) : RUBY_OTHER_FILE;
}

/* Opens the memory of the process, and Ruby by the mappings of the process. */
static inline enum ruby_answer ruby_open_run(struct rubyrun *run, struct ruby *ruby)
{
	enum ruby_answer answer = RUBY_OTHER_FILE;
	char path[64], line[1024];
	struct taskid id;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d", (int)run->pid);
	run->process = open(path, O_PATH | O_CLOEXEC);
	if (!taskid_read(run->process, &id) || memory_open(&run->memory, run->process, &id) != TASKID_SAME)
		return RUBY_REFUSED;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)run->pid);
	maps = fopen(path, "re");
	while (maps && answer == RUBY_OTHER_FILE && fgets(line, sizeof(line), maps))
		answer = open_mapping(run, ruby, line);
	if (maps)
		fclose(maps);
	return answer;
}

static inline void ruby_end(struct rubyrun *run)
{
	if (run->process >= 0) {
		memory_close(&run->memory);
		close(run->process);
	}
	if (run->pid > 0) {
		kill(run->pid, SIGKILL);
		waitpid(run->pid, NULL, 0);
	}
}

#endif
