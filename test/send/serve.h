/*
 * serve.h - what the little servers of the tests share: a port of their own on the loopback interface, a thread for
 * each connection, requests of HTTP read whole. They end with who started them, and in any case after some minutes.
 */
#ifndef PJ_SERVE_H
#define PJ_SERVE_H

#include "common/diag.h"
#include "common/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define SERVE_LONGEST 280 /* seconds */
#define SERVE_BODY ((size_t)128 << 20)

static inline struct sockaddr_in serve_address(unsigned port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)port),
				     .sin_addr = { htonl(INADDR_LOOPBACK) } };
}

/* Port 0: any. The number is written to a file that appears whole, if one is named. */
static inline int serve_listen(unsigned port, const char *portfile)
{
	struct sockaddr_in a = serve_address(port);
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	struct text name = { 0 };
	FILE *f;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 64) ||
	    getsockname(fd, (struct sockaddr *)&a, &n))
		die_errno("cannot listen on port %u", port);
	if (!portfile)
		return fd;
	text_printf(&name, "%s.new%c", portfile, 0);
	f = fopen(name.p, "w");
	if (!f || fprintf(f, "%u\n", ntohs(a.sin_port)) < 0 || fclose(f) || rename(name.p, portfile))
		die_errno("cannot write %s", portfile);
	text_free(&name);
	return fd;
}

static inline int serve_connect(unsigned port)
{
	struct sockaddr_in a = serve_address(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Ends the connection so that the other side sees it as broken. */
static inline void serve_reset(int fd)
{
	struct linger l = { 1, 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	close(fd);
}

static inline bool serve_write(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t w = send(fd, p, n, MSG_NOSIGNAL);

		if (w <= 0 && errno != EINTR)
			return false;
		if (w > 0) {
			p += w;
			n -= (size_t)w;
		}
	}
	return true;
}

/* Value of a header, empty when there is none. head is all up to the empty line. */
static inline struct str serve_header(struct str head, const char *name)
{
	size_t n = strlen(name);

	while (head.n) {
		struct str line = str_cut(&head, '\n');

		if (line.n > n && line.p[n] == ':' && strncasecmp(line.p, name, n) == 0)
			return str_trim(str_from(line, n + 1));
	}
	return (struct str){ 0 };
}

/* Reads one request with a length. The head with its empty line, and the body behind it, are in text. False: the peer
 * left. */
static inline bool serve_request(int fd, struct text *text, struct str *head, struct str *body)
{
	ptrdiff_t end = -1;
	uint64_t length = 0;
	ssize_t n;

	text->n = 0;
	for (;;) {
		if (end < 0 && (end = str_find_str(text_view(text), STR("\r\n\r\n"))) >= 0) {
			str_u64(serve_header(str_head(text_view(text), (size_t)end), "Content-Length"), &length);
			if (length > SERVE_BODY)
				return false;
		}
		if (end >= 0 && text->n >= (size_t)end + 4 + length)
			break;
		text_reserve(text, 65536);
		n = recv(fd, text->p + text->n, 65536, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		text->n += (size_t)n;
	}
	*head = str_head(text_view(text), (size_t)end + 2);
	*body = str_head(str_from(text_view(text), (size_t)end + 4), (size_t)length);
	return true;
}

/* A thread for each connection, for ever. */
static inline void serve(int fd, void *(*each)(void *))
{
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	alarm(SERVE_LONGEST);
	for (;;) {
		int c = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		pthread_t thread;

		if (c < 0)
			continue;
		if (pthread_create(&thread, NULL, each, (void *)(intptr_t)c))
			close(c);
		else
			pthread_detach(thread);
	}
}

#endif
