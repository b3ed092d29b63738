/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h - HotSpot's attach protocol, client side: the socket, the signal that makes the JVM open it, one request and
 * its response.
 *
 * A JVM opens the socket /tmp/.java_pidN when it gets SIGQUIT while the trigger file .attach_pidN exists in /tmp or its
 * working directory; without that file it prints all stacks to its standard output. So this module sends the signal
 * only if it has created the file, and if the JVM catches the signal, runs, and is not configured to refuse. It leaves
 * the file while the signal is pending. All functions run in child processes of targetuser.h. Source:
 * attachListener_posix.cpp of the JDK.
 */
#ifndef PJ_ATTACH_H
#define PJ_ATTACH_H

#include "jmap/attach/targetuser.h"

/* time limits in ms: for the socket to appear, and for the response */
#define ATTACH_START_MS 5000
#define ATTACH_REPLY_MS 15000
/* maximum size of a response in bytes */
#define ATTACH_MAX 65536

/* Tests without effect on the JVM if it can be attached to. refuses: the JVM runs with -XX:+DisableAttachMechanism.
 * Returns code NULL if attaching is possible, else the reason why not. */
struct hotspot_reason attach_check(const struct targetuser *user, bool refuses);

/* Sends a request and waits for the response. word has the command and up to three arguments. Sets *status to the first
 * line of the response, a number, and appends all that follows to reply. Returns code NULL if a response arrived,
 * whatever its content; else a reason. */
struct hotspot_reason attach_query(const struct targetuser *user, const char *const word[4], struct text *reply,
				   int *status);

#endif
