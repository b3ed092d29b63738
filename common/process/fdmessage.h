/* SPDX-License-Identifier: Apache-2.0 */
/* fdmessage.h - sends and receives messages with file descriptors over a SOCK_SEQPACKET socket between processes of
 * pj. */
#ifndef PJ_FDMESSAGE_H
#define PJ_FDMESSAGE_H

#include "common/base.h"

#include <sys/types.h>

enum { FDMESSAGE_MAX = 4 }; /* largest number of descriptors in one message */

/*
 * Raises the limit of open descriptors of this process to its hard limit. Must be called before this process forks
 * those that send descriptors.
 *
 * The kernel counts the descriptors in flight by user, over all processes of this user, including root in containers.
 * If there are more than the sender's limit of open descriptors, sendmsg() fails with ETOOMANYREFS, unless the sender
 * has CAP_SYS_RESOURCE. So senders need the highest limit, and keep that capability if they have it. Processes without
 * capabilities have a low limit and send no descriptors.
 */
void fdmessage_prepare(void);

/* Sends a message of n bytes, with descriptor fd unless it is -1; fd stays open. Returns false with errno if the
 * message was not sent. If too many descriptors are in flight, it tries 50 times again, every 1 ms if the sandbox
 * allows poll(), and then fails with ETOOMANYREFS. */
bool fdmessage_send(int socket, const void *p, size_t n, int fd);

/* Receives a message of exactly n bytes into p. Sets *fd to its descriptor (close-on-exec), or to -1 if it has none or
 * several. flags: MSG_DONTWAIT or 0. Returns 1; 0 if the other end is closed or the message is empty; -1 with errno on
 * failure, EBADMSG if the message has another size. The descriptors of a refused message are closed. */
int fdmessage_receive(int socket, void *p, size_t n, int *fd, int flags);

/* Like fdmessage_send and fdmessage_receive, but with up to FDMESSAGE_MAX descriptors. fds: number of descriptors to
 * send. On receipt, elements of fd[] after the last descriptor of the message are -1. fdmessage_send_soon fails with
 * EAGAIN instead of waiting. */
bool fdmessage_send_all(int socket, const void *p, size_t n, const int *fd, size_t fds);
bool fdmessage_send_soon(int socket, const void *p, size_t n, const int *fd, size_t fds);
int fdmessage_receive_all(int socket, void *p, size_t n, int fd[FDMESSAGE_MAX], int flags);

/* Receive a message of 1 to `size` bytes, with at most one descriptor (fdmessage_receive_some) or FDMESSAGE_MAX
 * (fdmessage_receive_some_all). Return its number of bytes; 0 or -1 as fdmessage_receive does. */
ssize_t fdmessage_receive_some(int socket, void *p, size_t size, int *fd, int flags);
ssize_t fdmessage_receive_some_all(int socket, void *p, size_t size, int fd[FDMESSAGE_MAX], int flags);

/* fdmessage_put is fdmessage_send, and fdmessage_take is fdmessage_receive_some without flags, but both try again if a
 * signal interrupts the system call. */
bool fdmessage_put(int socket, const void *p, size_t n, int fd);
ssize_t fdmessage_take(int socket, void *p, size_t size, int *fd);

#endif
