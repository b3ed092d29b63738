/*
 * fake - a process that looks like a JVM and is none.
 *
 *	fake LIBRARY MODE [FILE]
 *
 * Maps LIBRARY (a file called libjvm.so, libj9vm29.so...), catches SIGQUIT, prints "ready". On SIGQUIT, or at once
 * with a mode "listen...", it listens at /tmp/.java_pidN as HotSpot does, and answers by the rest of the mode:
 *
 *	rest		never listens
 *	silent		reads the request, and sends nothing
 *	endless		sends x for ever
 *	garbage		sends no number
 *	control		sends an error of control bytes
 *	hangup		closes at once
 *	old		answers as JDK 11
 *	map		JDK 25; writes FILE to the requested path
 *	link		JDK 25; makes a link to FILE there instead
 *	perfmap		JDK 17; writes FILE to /tmp/perf-N.map
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static volatile sig_atomic_t signalled;

static void on_quit(int number)
{
	(void)number;
	signalled = 1;
}

static void print_message(int fd, const char *string)
{
	if (write(fd, string, strlen(string)) < 0)
		exit(0);
}

/* 1, command, three arguments: five strings. */
static size_t question(int fd, char *buffer, size_t space)
{
	size_t n = 0;
	int strings = 0;

	while (strings < 5 && n < space && read(fd, buffer + n, 1) == 1)
		strings += buffer[n++] == 0;
	return n;
}

static void copy(const char *from, const char *to)
{
	char buffer[65536];
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	ssize_t n;

	while ((n = read(in, buffer, sizeof(buffer))) > 0)
		if (write(out, buffer, (size_t)n) != n)
			break;
	close(in);
	close(out);
}

static void answer(int fd, const char *mode, const char *file)
{
	char q[4096] = { 0 }, path[64];
	const char *word;

	question(fd, q, sizeof(q) - 1);
	word = q + 2 + strlen(q + 2) + 1;
	if (strcmp(mode, "silent") == 0)
		pause();
	while (strcmp(mode, "endless") == 0)
		print_message(fd, "0\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
	if (strcmp(mode, "garbage") == 0)
		print_message(fd, "what?\n");
	else if (strcmp(mode, "control") == 0)
		print_message(fd, strcmp(word, "VM.version") == 0 ? "0\nJDK 25.0.1\n" : "-1\n\033[2J\007evil\r\n");
	else if (strcmp(word, "VM.version") == 0)
		print_message(fd, strcmp(mode, "old") == 0     ? "0\nJDK 11.0.2\n" :
				  strcmp(mode, "perfmap") == 0 ? "0\nJDK 17.0.1\n" :
								 "0\nJDK 25.0.1\n");
	else if (strncmp(word, "Compiler.perfmap", 16) == 0) {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
		word = word[16] ? word + 17 : path;
		if (strcmp(mode, "link") == 0 && (unlink(word) < 0 || symlink(file, word) < 0))
			perror(word);
		if (strcmp(mode, "link") != 0)
			copy(file, word);
		print_message(fd, "0\n");
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct sigaction quit = { .sa_handler = on_quit }, pipe = { .sa_handler = SIG_IGN };
	int fd = argc > 2 ? open(argv[1], O_RDONLY) : -1, listener;

	if (fd < 0 || mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
		perror("fake");
		return 1;
	}
	sigaction(SIGQUIT, &quit, NULL);
	sigaction(SIGPIPE, &pipe, NULL);
	puts("ready");
	fflush(stdout);
	while (!signalled || strcmp(argv[2], "rest") == 0) {
		pause();
		puts(signalled ? "SIGQUIT" : "?");
		fflush(stdout);
	}
	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/.java_pid%d", (int)getpid());
	unlink(address.sun_path);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(listener, 5) < 0) {
		perror(address.sun_path);
		return 1;
	}
	for (;;) {
		int client = accept(listener, NULL, NULL);

		if (client >= 0 && strcmp(argv[2], "hangup") != 0)
			answer(client, argv[2], argc > 3 ? argv[3] : "/dev/null");
		if (client >= 0)
			close(client);
	}
}
