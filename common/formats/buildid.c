/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/buildid.h"

#include "common/base.h"

#include <elf.h>

struct build_id buildid_in_notes(struct str notes)
{
	struct build_id id = { 0 };
	Elf64_Nhdr note; /* header of a note; Elf32_Nhdr has the same layout */

	while (notes.n >= sizeof(note)) {
		uint64_t name, description, next;

		memcpy(&note, notes.p, sizeof(note));
		name = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3);
		description = ((uint64_t)note.n_descsz + 3) & ~UINT64_C(3);
		next = sizeof(note) + name + description;
		if (sizeof(note) + name + note.n_descsz > notes.n)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(notes.p + sizeof(note), "GNU", 4) == 0 && note.n_descsz) {
			id.n = note.n_descsz < BUILD_ID_MAX ? (uint8_t)note.n_descsz : BUILD_ID_MAX;
			memcpy(id.byte, notes.p + sizeof(note) + name, id.n);
			break;
		}
		notes = str_from(notes, next < notes.n ? (size_t)next : notes.n);
	}
	return id;
}
