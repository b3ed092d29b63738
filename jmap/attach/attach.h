/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h - HotSpot's attach protocol, from outside: its socket, how it is made to open one, one question and its
 * answer.
 *
 * A JVM opens /tmp/.java_pidN when it gets SIGQUIT while .attach_pidN lies in /tmp or its working folder; without that
 * file it prints all stacks to where its output goes. So the signal is sent only when our own file was made, when the
 * JVM catches it, when it runs, and when it is not told to refuse; a signal that it has not yet taken keeps its file.
 * For children of targetuser.h. Sources: attachListener_posix.cpp of the JDK.
 */
#ifndef PJ_ATTACH_H
#define PJ_ATTACH_H

#include "jmap/attach/targetuser.h"

#define ATTACH_START_MS 5000
#define ATTACH_REPLY_MS 15000
#define ATTACH_MAX 65536 /* bytes of an answer */

/* What can be told without touching it: can it be attached to? refuses: it runs with -XX:+DisableAttachMechanism. */
struct hotspot_reason attach_check(const struct targetuser *user, bool refuses);

/* Asks; word: command and up to three arguments. What it says is appended to reply, as it is. code NULL: an answer
 * came, whatever it says; *status is its first line. */
struct hotspot_reason attach_query(const struct targetuser *user, const char *const word[4], struct text *reply,
				   int *status);

#endif
