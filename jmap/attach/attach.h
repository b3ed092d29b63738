/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h - HotSpot's attach protocol, client side: the socket, the signal that makes the JVM open it, one request and
 * its response.
 *
 * A JVM opens /tmp/.java_pidN when it gets SIGQUIT while .attach_pidN exists in /tmp or its working directory; without
 * that file it prints all stacks to its standard output. So the signal is sent only if we created that file, the JVM
 * catches the signal, runs, and is not configured to refuse; while a signal is pending the file remains. Functions run
 * in children of targetuser.h. Source: attachListener_posix.cpp of the JDK.
 */
#ifndef PJ_ATTACH_H
#define PJ_ATTACH_H

#include "jmap/attach/targetuser.h"

/* time limits for the socket and the response */
#define ATTACH_START_MS 5000
#define ATTACH_REPLY_MS 15000
/* limit of a response in bytes */
#define ATTACH_MAX 65536

/* Tests without effect on the JVM if attaching is possible. refuses: it runs with -XX:+DisableAttachMechanism.
 * Returns the reason if it is not; code is NULL if it is. */
struct hotspot_reason attach_check(const struct targetuser *user, bool refuses);

/* Sends a request: word has the command and up to three arguments. Appends the response unchanged to reply, except
 * its first line, which becomes *status. Returns code NULL if a response arrived, whatever its content, else the
 * reason. */
struct hotspot_reason attach_query(const struct targetuser *user, const char *const word[4], struct text *reply,
				   int *status);

#endif
