/* SPDX-License-Identifier: Apache-2.0 */
/* pjfetch - get the profile of any stretch of time out of a store. */
#include "opt.h"
#include "store.h"

int main(int argc, char **argv)
{
	diag_tool("pjfetch");
	struct store s = { 0 };

	if (argc != 2)
		die_usage("a store is needed");
	store_open(&s, argv[1], &(struct store_options){ 0 });
	store_close(&s);
	return PJ_OK;
}
