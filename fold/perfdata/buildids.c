/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/buildids.h"

#include <stdlib.h>

static struct str buildids_key_of(struct buildids *buildids, bool kernel, struct str path)
{
	buildids->key.n = 0;
	text_char(&buildids->key, kernel ? 'k' : 'u');
	text_str(&buildids->key, path);
	return text_view(&buildids->key);
}

void buildids_update(struct buildids *buildids, const struct perfdata_build_id *list, size_t n)
{
	for (; buildids->done < n; buildids->done++) {
		const struct perfdata_build_id *new = &list[buildids->done];
		uint32_t before = buildids->paths.n,
			 path = intern(&buildids->paths, buildids_key_of(buildids, new->kernel, new->path));

		if (path >= buildids->cap) {
			buildids->cap = buildids->cap ? 2 * buildids->cap : 64;
			buildids->id = mem_grow(buildids->id, sizeof(*buildids->id), buildids->cap);
		}
		if (path > before || buildids->id[path].n == 0)
			buildids->id[path] = new->id;
	}
}

struct build_id buildids_find(struct buildids *buildids, bool kernel, struct str path)
{
	uint32_t found = buildids->paths.n ? intern_find(&buildids->paths, buildids_key_of(buildids, kernel, path)) : 0;

	return found ? buildids->id[found] : (struct build_id){ 0 };
}

void buildids_free(struct buildids *buildids)
{
	intern_free(&buildids->paths);
	free(buildids->id);
	text_free(&buildids->key);
	*buildids = (struct buildids){ 0 };
}
