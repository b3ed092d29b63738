/* SPDX-License-Identifier: Apache-2.0 */
/* fdmessage.h - messages with file descriptors, over a SOCK_SEQPACKET socket between processes of pj. */
#ifndef PJ_FDMESSAGE_H
#define PJ_FDMESSAGE_H

#include "common/base.h"

#include <sys/types.h>

enum { FDMESSAGE_MAX = 4 }; /* largest number of descriptors in one message */

/* Raises this process's limit of open descriptors to its hard limit. Call it before the processes start that send
 * descriptors.
 *
 * The kernel counts the descriptors in flight of each user, over all processes, also those of root in containers. Where
 * they are more than the sender's limit of open descriptors, it refuses the message with ETOOMANYREFS, unless the
 * sender has CAP_SYS_RESOURCE. So senders have the greatest limit and keep that capability, if they have it; a process
 * without capabilities, whose limit is low, sends no descriptors. */
void fdmessage_prepare(void);

/* Sends a message of n bytes, with descriptor fd unless it is -1. fd stays open. Returns false with errno if not all
 * was sent: ETOOMANYREFS if too many descriptors are in flight, after 50 tries, 1 ms apart where the
 * process may sleep. */
bool fdmessage_send(int socket, const void *p, size_t n, int fd);

/* Receives a message of exactly n bytes into p. *fd becomes its descriptor (close-on-exec), -1 if it has none or
 * several. flags: MSG_DONTWAIT or 0. Returns 1; 0 if the other end is closed or the message is empty; -1 with errno if
 * no message was received, EBADMSG if it has another size. Then its descriptors are closed. */
int fdmessage_receive(int socket, void *p, size_t n, int *fd, int flags);

/* Like fdmessage_send and fdmessage_receive, with up to FDMESSAGE_MAX descriptors. fd[] is -1 beyond those of the
 * message. */
bool fdmessage_send_all(int socket, const void *p, size_t n, const int *fd, size_t fds);
bool fdmessage_send_soon(int socket, const void *p, size_t n, const int *fd,
			 size_t fds); /* fdmessage_send_soon fails with EAGAIN instead of waiting */
int fdmessage_receive_all(int socket, void *p, size_t n, int fd[FDMESSAGE_MAX], int flags);

/* Receive a message of 1 to `size` bytes, with one descriptor at most or with several. Return its number of bytes, or 0
 * or -1 as fdmessage_receive does. */
ssize_t fdmessage_receive_some(int socket, void *p, size_t size, int *fd, int flags);
ssize_t fdmessage_receive_some_all(int socket, void *p, size_t size, int fd[FDMESSAGE_MAX], int flags);

/* Like fdmessage_send and fdmessage_receive_some (flags 0), but try again if a signal interrupts them. */
bool fdmessage_put(int socket, const void *p, size_t n, int fd);
ssize_t fdmessage_take(int socket, void *p, size_t size, int *fd);

#endif
