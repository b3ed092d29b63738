/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/buildids.h"

#include <stdlib.h>

static struct str buildids_key_of(struct buildids *b, bool kernel, struct str path)
{
	b->key.n = 0;
	text_char(&b->key, kernel ? 'k' : 'u');
	text_str(&b->key, path);
	return text_view(&b->key);
}

void buildids_update(struct buildids *b, const struct perfdata_build_id *list, size_t n)
{
	for (; b->done < n; b->done++) {
		const struct perfdata_build_id *new = &list[b->done];
		uint32_t before = b->paths.n, path = intern(&b->paths, buildids_key_of(b, new->kernel, new->path));

		if (path >= b->cap) {
			b->cap = b->cap ? 2 * b->cap : 64;
			b->id = mem_grow(b->id, sizeof(*b->id), b->cap);
		}
		if (path > before || b->id[path].n == 0)
			b->id[path] = new->id;
	}
}

struct build_id buildids_find(struct buildids *b, bool kernel, struct str path)
{
	uint32_t found = b->paths.n ? intern_find(&b->paths, buildids_key_of(b, kernel, path)) : 0;

	return found ? b->id[found] : (struct build_id){ 0 };
}

void buildids_free(struct buildids *b)
{
	intern_free(&b->paths);
	free(b->id);
	text_free(&b->key);
	*b = (struct buildids){ 0 };
}
