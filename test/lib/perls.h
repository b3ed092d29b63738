/* perls.h - the Perls of this machine, and programs that run in them until they wait for input. */
#ifndef PJ_TEST_PERLS_H
#define PJ_TEST_PERLS_H

#include "runtimes/perl/perl.h"
#include "test/lib/tap.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PERLS_MAX 16

/* A program perl5.N.N, and the folder that is its root ("" for the machine's own). */
struct perlprogram {
	char root[256], program[256];
	char name[300]; /* for the names of tests */
};

static inline void add_perls(struct perlprogram *program, size_t *n, const char *pattern, bool rooted)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc && *n < PERLS_MAX; i++) {
		const char *path = found.gl_pathv[i], *inner = rooted ? strstr(path, "/usr/bin/") : path;
		struct perlprogram *one = &program[*n];

		if (!inner || !perl_is_library(str_of(path)) || access(path, X_OK) != 0)
			continue;
		snprintf(one->root, sizeof(one->root), "%.*s", (int)(inner - path), path);
		snprintf(one->program, sizeof(one->program), "%s", inner);
		snprintf(one->name, sizeof(one->name), "%s", path);
		++*n;
	}
	globfree(&found);
}

/* Finds Perls: /usr/bin, and those that rootfs.sh unpacked in PJ_PERLS (else /var/tmp/pj-perl). Returns their number.
 */
static inline size_t perls_find(struct perlprogram *program)
{
	const char *roots = getenv("PJ_PERLS");
	char pattern[PATH_MAX];
	struct stat status;
	size_t n = 0;

	roots = roots ? roots : "/var/tmp/pj-perl";
	add_perls(program, &n, "/usr/bin/perl5.[0-9]*[0-9]", false);
	snprintf(pattern, sizeof(pattern), "%s/*/usr/bin/perl5.[0-9]*[0-9]", roots);
	/* root runs no programs that others unpacked */
	if (geteuid() == 0 && stat(roots, &status) == 0 && status.st_uid == 0)
		add_perls(program, &n, pattern, true);
	return n;
}

/* A Perl that waits for a line of input; its output is in *out. pid is 0 if it ended. */
struct perlrun {
	pid_t pid;
	int process;       /* descriptor of /proc/PID */
	int input, output; /* pipes */
	char *out;
	size_t n;
	struct memory memory;
	uint64_t base; /* address of the first byte of its file */
};

static inline char *perltruth_text(void)
{
	const char *top = getenv("PJ_TOP");
	char path[PATH_MAX], *text = calloc(1, 65536);
	FILE *file;

	snprintf(path, sizeof(path), "%s/test/runtimes/perl/truth.pl", top ? top : ".");
	file = fopen(path, "re");
	if (!file || fread(text, 1, 65535, file) == 0)
		printf("Bail out! %s\n", path);
	if (file)
		fclose(file);
	return text;
}

/* Reads its output until the line "end". Returns false if it ends before. */
static inline bool read_perltruth(struct perlrun *run)
{
	ssize_t n;

	run->n = 0;
	do {
		run->out = realloc(run->out, run->n + 65536);
		n = read(run->output, run->out + run->n, 65535);
		if (n > 0)
			run->n += (size_t)n;
		run->out[run->n] = '\0';
	} while (n > 0 && (run->n < 4 || strcmp(run->out + run->n - 4, "end\n") != 0));
	return n > 0;
}

/* Returns true once the process sleeps in the read of its input. */
static inline bool perlrun_sleeps(const struct perlrun *run)
{
	char path[64], status[256];
	const char *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)run->pid);
	for (unsigned i = 0; i < 2000; i++) {
		FILE *file = fopen(path, "re");
		size_t n = file ? fread(status, 1, sizeof(status) - 1, file) : 0;

		if (file)
			fclose(file);
		status[n] = '\0';
		end = strrchr(status, ')');
		if (end && end[1] && end[2] == 'S')
			return true;
		usleep(1000);
	}
	return false;
}

/* Starts truth.pl with two arguments, and waits for its first stop. */
static inline bool perlrun_start(const struct perlprogram *program, const char *mode, unsigned depth,
				 struct perlrun *run)
{
	char number[16], *text = perltruth_text(), inner[300];
	int in[2], out[2], fd;
	bool good;

	*run = (struct perlrun){ .process = -1 };
	snprintf(number, sizeof(number), "%u", depth);
	snprintf(inner, sizeof(inner), "%s/tmp/pj-truth-XXXXXX", program->root);
	fd = mkostemp(inner, O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0 || pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
		return false;
	close(fd);
	free(text);
	run->pid = fork();
	if (run->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		if (*program->root && (chroot(program->root) != 0 || chdir("/") != 0))
			_exit(1);
		setenv("LC_ALL", "C", 1);
		execl(program->program, program->program, inner + strlen(program->root), mode, number, (char *)NULL);
		_exit(1);
	}
	close(in[0]);
	close(out[1]);
	run->input = in[1];
	run->output = out[0];
	good = run->pid > 0 && read_perltruth(run) && perlrun_sleeps(run);
	unlink(inner); /* Perl has read it */
	return good;
}

/* Lets it run until it waits again. Returns false if it ends. */
static inline bool perlrun_next(struct perlrun *run)
{
	return write(run->input, "\n", 1) == 1 && read_perltruth(run) && perlrun_sleeps(run);
}

/* Opens its memory, and Perl in the first mapping that has it. */
static inline enum perl_answer perlrun_open(struct perlrun *run, struct perl *perl)
{
	enum perl_answer answer = PERL_OTHER_FILE;
	char path[64], line[1024];
	struct taskid id;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d", (int)run->pid);
	run->process = open(path, O_PATH | O_CLOEXEC);
	if (!taskid_read(run->process, &id) || memory_open(&run->memory, run->process, &id) != TASKID_SAME)
		return PERL_UNREADABLE;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)run->pid);
	maps = fopen(path, "re");
	while (maps && answer == PERL_OTHER_FILE && fgets(line, sizeof(line), maps)) {
		unsigned long long start, offset;
		int at = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%llx-%*x %*4s %llx %*s %*u %n", &start, &offset, &at) != 2 || at == 0 ||
		    offset != 0 || !perl_is_library(str_of(line + at)))
			continue;
		run->base = start;
		answer = perl_open(perl, &run->memory, start);
	}
	if (maps)
		fclose(maps);
	return answer;
}

static inline void perlrun_end(struct perlrun *run)
{
	if (run->process >= 0) {
		memory_close(&run->memory);
		close(run->process);
	}
	if (run->pid > 0) {
		kill(run->pid, SIGKILL);
		waitpid(run->pid, NULL, 0);
		close(run->input);
		close(run->output);
	}
	free(run->out);
}

#endif
