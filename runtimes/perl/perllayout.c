/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets of 5.32, 5.36, 5.40 and 5.42 are those that the compiler computes from Debian's headers. Those of 5.34 are
 * derived from intrpvar.h and hv.h. All are proven before use. */
#include "runtimes/perl/perllayout.h"

static const struct perl_layout layouts[PERLLAYOUTS] = {
	{ .version = 32, .cop = 224, .stackinfo = 240, .pad = 304 },
	{ .version = 34, .cop = 208, .stackinfo = 224, .pad = 288 },
	{ .version = 36, .cop = 208, .stackinfo = 224, .pad = 288, .stash_name_in_body = true },
};

void perllayout_get(uint32_t i, struct perl_layout *layout)
{
	*layout = layouts[i < PERLLAYOUTS ? i : 0];
}

bool perllayout_is_of(uint32_t i, uint32_t version)
{
	uint32_t next = i + 1 < PERLLAYOUTS ? layouts[i + 1].version : PERLLAYOUT_NEWEST + 1;

	return i < PERLLAYOUTS && version >= layouts[i].version && version < next && version % 2 == 0;
}
