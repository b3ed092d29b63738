/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agentimage.h - bytes of the agent library, which the build makes from jmap/agent/agent.c.
 *
 * pjmap --method=agent writes these bytes to a file, which the JVM loads.
 */
#ifndef PJ_AGENTIMAGE_H
#define PJ_AGENTIMAGE_H

#include "common/base.h"

extern const char agentimage_begin[];
/* size of the agent library in bytes; 0 if the build has no agent for this processor */
extern const uint64_t agentimage_bytes;

#endif
