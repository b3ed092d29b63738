/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fdmessage.h - a message with descriptors, over a socket of our own (SOCK_SEQPACKET).
 */
#ifndef PJ_FDMESSAGE_H
#define PJ_FDMESSAGE_H

#include "common/base.h"

#include <sys/types.h>

enum { FDMESSAGE_MAX = 4 }; /* descriptors */

/* Sends n bytes, and fd unless it is -1; fd stays the caller's. Returns false and errno if not all was sent. */
bool fdmessage_send(int socket, const void *p, size_t n, int fd);

/* Receives a message of exactly n bytes, and its descriptor (close-on-exec); *fd is -1 if it has none, or several.
 * flags: MSG_DONTWAIT or 0. Returns 1; 0 if the other end is closed; -1 with errno if no message was received, EBADMSG
 * for a message of another size, whose descriptor is closed. */
int fdmessage_receive(int socket, void *p, size_t n, int *fd, int flags);

/* As fdmessage_send and fdmessage_receive, with up to FDMESSAGE_MAX descriptors. Descriptors that the message does not
 * have become -1. */
bool fdmessage_send_all(int socket, const void *p, size_t n, const int *fd, size_t fds);
bool fdmessage_send_soon(int socket, const void *p, size_t n, const int *fd,
			 size_t fds); /* EAGAIN instead of waiting */
int fdmessage_receive_all(int socket, void *p, size_t n, int fd[FDMESSAGE_MAX], int flags);

/* Receive a message of at most `size` bytes, with at most one descriptor or with several. Return its size, or 0 or -1
 * as fdmessage_receive. */
ssize_t fdmessage_receive_some(int socket, void *p, size_t size, int *fd, int flags);
ssize_t fdmessage_receive_some_all(int socket, void *p, size_t size, int fd[FDMESSAGE_MAX], int flags);

/* As fdmessage_send and fdmessage_receive_some (flags 0), but they go on after a signal. */
bool fdmessage_put(int socket, const void *p, size_t n, int fd);
ssize_t fdmessage_take(int socket, void *p, size_t size, int *fd);

#endif
