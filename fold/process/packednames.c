/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/packednames.h"

/* Sets names->key to the key of the DSO. Returns false if the DSO has no key, because its addresses are never looked
 * up. */
static bool packednames_has_key(struct packednames *names)
{
	const struct dso *dso = names->dso;
	char folder[SYMSTORE_TENANT] = "";

	switch (dso->kind) {
	case DSO_FILE:
		symbolized_key_file(&names->key,
				    names->symstore ? symstore_tenant(names->symstore, dso->pid, folder) :
						      (struct str){ 0 },
				    &dso->build_id, &dso->file_id, dso->path);
		return true;
	case DSO_JIT: symbolized_key_process(&names->key, dso->pid); return true;
	case DSO_VDSO: symbolized_key_image(&names->key, dso->path); return true;
	case DSO_KERNEL: symbolized_key_image(&names->key, STR("kernel")); return true;
	case DSO_DATA:
	case DSO_NOWHERE:
	case DSO_SYMBOL: break;
	}
	return false;
}

bool packednames_open(struct packednames *names, const struct recorder *recorder)
{
	if (names->as_perf || !packednames_has_key(names))
		return false;
	names->symbolized = recorder->symbolized;
	return names->symbolized && symbolized_find(names->symbolized, text_view(&names->key), &names->rows);
}

bool packednames_needs_more(const struct packednames *names)
{
	return names->named_source || (names->inlined && !symbolized_has_inlined(names->symbolized));
}

void packednames_take(struct packednames *names)
{
	struct symbolized_row row;
	size_t i = 0;

	if (!packednames_needs_more(names))
		names->why = names->rows.why;
	while (symbolized_row(names->symbolized, &names->rows, &row)) {
		while (i < names->n && names->query[i].address < row.address)
			i++;
		if (i == names->n)
			break;
		if (names->query[i].address != row.address)
			continue;
		if (row.name.n) {
			names->query[i].name = intern(names->raw, row.name);
			names->module[i] = row.module.n ? intern(names->raw, row.module) : 0;
		}
		if (names->inlined && row.inlined.n)
			names->query[i].inlined = intern(names->raw, row.inlined);
	}
}

/* Returns the text of an id in names->raw; empty for id 0. */
static struct str packednames_text(const struct packednames *names, uint32_t id)
{
	return id ? intern_str(names->raw, id) : (struct str){ 0 };
}

void packednames_close(struct packednames *names)
{
	struct symbolizedwriter *writer = names->packed;
	size_t dso =
		writer && names->key.n ? symbolizedwriter_dso(writer, text_view(&names->key), names->why) : SIZE_MAX;

	for (size_t i = 0; i < names->n && dso != SIZE_MAX; i++) {
		struct symbolized_row row = { .address = names->query[i].address,
					      .name = packednames_text(names, names->query[i].name),
					      .module = packednames_text(names, names->module[i]),
					      .inlined = packednames_text(names, names->query[i].inlined) };

		symbolizedwriter_row(writer, dso, &row);
	}
	text_free(&names->key);
}
