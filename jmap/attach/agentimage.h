/* SPDX-License-Identifier: Apache-2.0 */
/* agentimage.h - the bytes of the library that jmap/agent/agent.c becomes. */
#ifndef PJ_AGENTIMAGE_H
#define PJ_AGENTIMAGE_H

#include "common/base.h"

extern const char agentimage_begin[];
extern const uint64_t agentimage_bytes; /* 0: there is none for this processor */

#endif
