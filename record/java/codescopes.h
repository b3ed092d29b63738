/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codescopes.h - describes code blobs of a JVM: their address ranges, methods, inlined calls, and names of stubs.
 *
 * Runs in the helper process, and composes the reply to JVM_DESCRIBE (jvmhelper.h). The reply has no names of methods:
 * the recorder requests the names that it does not have. Inlined calls are encoded as in PJ_ITEM_CODE (pjsection.h).
 */
#ifndef PJ_CODESCOPES_H
#define PJ_CODESCOPES_H

#include "common/intern.h"
#include "record/java/jvmhelper.h"
#include "runtimes/hotspot/hotspot.h"
#include "runtimes/hotspot/stubs.h"

struct codescopes {
	struct scopes scopes;
	struct intern methods; /* distinct Method* of the current nmethod */
	struct text tree;
	struct text out; /* elements of the reply composed so far */
};

/* Stubs of one JVM, which the helper stores between requests. */
struct codescopes_stubs {
	struct stubs stubs;
	unsigned searches; /* number of failed searches for the list of stubs */
};

/* Describes as many of the n blobs, from the first one on, as fit into a reply and into the budget of the request:
 * fills reply->names and reply->bytes, and sets reply->n to the number of processed blobs. A blob that is too large for
 * any reply counts as processed and has no description. An nmethod that alone exceeds the budget is
 * described without inlined calls (`limited`). Clears budget->over, so that the JVM stays readable. */
void codescopes_describe(struct codescopes *codescopes, struct hotspot *hotspot, const struct blobframes *frames,
			 struct codescopes_stubs *stubs, const struct blob *blob, uint32_t n, struct jvm_reply *reply);

void codescopes_free_stubs(struct codescopes_stubs *stubs);

#endif
