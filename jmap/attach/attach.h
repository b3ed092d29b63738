/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h - client of HotSpot's attach protocol: makes the JVM open its socket, sends one request and reads the
 * response.
 *
 * A JVM opens the socket /tmp/.java_pidN on SIGQUIT if the trigger file .attach_pidN exists in /tmp or in its working
 * directory. Without that file SIGQUIT makes it print all stacks to its standard output. So this module sends SIGQUIT
 * only after it has created the file, and only if the JVM is running, handles the signal and does not refuse attaching.
 * While the signal is pending, the file stays. All functions run in a child process of pjmap with the JVM's rights
 * (guest_do of targetuser.h). Source: attachListener_posix.cpp of the JDK.
 */
#ifndef PJ_ATTACH_H
#define PJ_ATTACH_H

#include "jmap/attach/targetuser.h"

/* time in ms within which the JVM must open its socket and accept the connection */
#define ATTACH_START_MS 5000
/* time in ms within which the JVM must read the request and send the complete response */
#define ATTACH_REPLY_MS 15000
/* maximum size of a response in bytes; a larger response is refused */
#define ATTACH_MAX 65536

/* Checks if pjmap can attach to the JVM, without any effect on the JVM. refuses: true if the JVM runs with
 * -XX:+DisableAttachMechanism. Returns a reason with code NULL if attaching is possible. */
struct hotspot_reason attach_check(const struct targetuser *user, bool refuses);

/* Sends a request and waits for the response. word: the command and up to three arguments; NULL is sent as an empty
 * argument. Sets *status to the number in the first line of the response, and appends the rest to `reply`. Returns a
 * reason with code NULL if a response with such a first line arrived, even if the number reports a failure. */
struct hotspot_reason attach_query(const struct targetuser *user, const char *const word[4], struct text *reply,
				   int *status);

#endif
