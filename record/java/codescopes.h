/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codescopes.h - describes code blobs of a JVM: their ranges, methods, inlined calls and names of stubs.
 *
 * Runs in the helper process, whose answer to JVM_DESCRIBE it writes (jvmhelper.h). Names of methods are not part of
 * it: the recorder requests those that it does not have. Inlined calls are encoded as in PJ_ITEM_CODE (pjsection.h).
 */
#ifndef PJ_CODESCOPES_H
#define PJ_CODESCOPES_H

#include "common/intern.h"
#include "record/java/jvmhelper.h"
#include "runtimes/hotspot/hotspot.h"
#include "runtimes/hotspot/stubs.h"

struct codescopes {
	struct scopes scopes;
	struct intern methods; /* the Method* of the current nmethod */
	struct text tree;
	struct text out; /* elements of the reply that have been composed */
};

/* State of one JVM between requests. */
struct codescopes_stubs {
	struct stubs stubs;
	unsigned searches; /* number of searches for the list of stubs that did not find it */
};

/* Describes n blobs, as many as fit into a reply: fills reply->names and reply->bytes, and sets reply->n to the number
 * of processed blobs. */
void codescopes_describe(struct codescopes *codescopes, struct hotspot *hotspot, const struct blobframes *frames,
			 struct codescopes_stubs *stubs, const struct blob *blob, uint32_t n, struct jvm_reply *reply);

void codescopes_free_stubs(struct codescopes_stubs *stubs);

#endif
