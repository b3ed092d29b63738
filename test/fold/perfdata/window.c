/* SPDX-License-Identifier: Apache-2.0 */
/* window - what a window of pjrecord says of itself, complete or not: "begin end first last" in ns. window FILE... */
#include "record/windows/rescue.h"

#include "common/diag.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	diag_tool("window");
	for (int i = 1; i < argc; i++) {
		struct pj_window w = { 0 };
		uint64_t first = 0, last = 0;
		int fd = open(argv[i], O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			die_errno("%s", argv[i]);
		if (chunk_item(fd, FEATURE_PJ_START, PJ_ITEM_WINDOW, &w, sizeof(w)) != sizeof(w))
			die("%s: this is no window of pjrecord", argv[i]);
		chunk_times(fd, &first, &last);
		printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", w.begin, w.end, first, last);
		close(fd);
	}
	return 0;
}
