/* SPDX-License-Identifier: Apache-2.0 */
#include "record/command.h"

#include "common/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in the child: waits for the recorder's byte, then executes the command. Exits with status 125 if the recorder
 * ends before it writes the byte. */
static NORETURN void wait_and_exec(int go, int failed, char **argv)
{
	char word;
	ssize_t got;

	do
		got = read(go, &word, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(125);
	execvp(argv[0], argv);
	int error = errno;
	if (write(failed, &error, sizeof(error)) < 0)
		_exit(125);
	_exit(error == ENOENT ? 127 : 126);
}

static void on_child(int sig)
{
	(void)sig;
}

void command_fork(struct command *command, char **argv, bool to_stderr, bool foreground)
{
	struct sigaction action = { .sa_handler = on_child, .sa_flags = SA_NOCLDSTOP };
	sigset_t child, before;
	int go[2], failed[2];

	/* SIGCHLD is blocked except while the recorder waits for records (ringpoll.c): there, the end of the child
	 * interrupts the wait. */
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);

	if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
		die_errno("cannot create a pipe to the command");
	command->pid = fork();
	if (command->pid < 0)
		die_errno("fork");
	if (command->pid == 0) {
		close(go[1]);
		close(failed[0]);
		sigprocmask(SIG_SETMASK, &before, NULL);
		if (to_stderr && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
			_exit(125);
		if (foreground) {
			signal(SIGINT, SIG_DFL);
			signal(SIGQUIT, SIG_DFL);
		}
		wait_and_exec(go[0], failed[1], argv);
	}
	close(go[0]);
	close(failed[1]);
	command->go = go[1];
	command->failed = failed[0];
	sigaction(SIGCHLD, &action, NULL); /* an ignored signal would not interrupt the wait for records */
}

int command_exec(struct command *command)
{
	int error = 0;
	ssize_t got;

	if (write(command->go, "g", 1) != 1)
		return errno;
	close(command->go);
	command->go = -1;
	do
		got = read(command->failed, &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	close(command->failed);
	return got == (ssize_t)sizeof(error) ? error : 0;
}

static int as_status(int how)
{
	return WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
}

bool command_ended(struct command *command, int *status)
{
	int how;

	if (waitpid(command->pid, &how, WNOHANG) != command->pid)
		return false;
	command->ended = true;
	*status = as_status(how);
	return true;
}

void command_wait(struct command *command, const volatile sig_atomic_t *terminate, int *status)
{
	sigset_t handled, before, waiting;
	bool sent = false;

	/* The signals are blocked here, so one that comes between the test of *terminate and sigsuspend stays pending
	 * and interrupts sigsuspend. SIGCHLD has been blocked since command_fork. */
	sigemptyset(&handled);
	sigaddset(&handled, SIGHUP);
	sigaddset(&handled, SIGINT);
	sigaddset(&handled, SIGTERM);
	sigprocmask(SIG_BLOCK, &handled, &before);
	waiting = before;
	sigdelset(&waiting, SIGCHLD);
	while (!command_ended(command, status)) {
		if (*terminate && !sent) {
			sent = true;
			if (kill(command->pid, SIGTERM) < 0 && errno == EPERM)
				warn("the command runs as another user and cannot be ended: kill %d, or wait for it",
				     (int)command->pid);
		}
		sigsuspend(&waiting);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}
