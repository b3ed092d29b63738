/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/ruby/rubylayout.h"

static const struct ruby_layout layouts[RUBYLAYOUTS] = {
	{
		.version = 301,
		.thread = { .vm = 32, .ec = 40, .nt = RUBY_NO_FIELD, .pthread = 80 },
		.machine = 144,
		.frame_bytes = 64,
		.body = { .lines = 120,
			  .nlines = 136,
			  .lines_index = 144,
			  .local = 176,
			  .line_entry = 12,
			  .parent = RUBY_NO_FIELD },
		.string_embedded = 16,
		.class_path = RUBY_NO_FIELD,
		.attached = RUBY_NO_FIELD,
		.last_operator = 169,
		.singleton = OBJECT_USER0,
	},
	{
		.version = 303,
		.thread = { .vm = 32, .ec = 48, .nt = 40, .pthread = 16 },
		.machine = 152,
		.frame_bytes = 56,
		.body = { .lines = 112,
			  .nlines = 128,
			  .lines_index = 136,
			  .local = 168,
			  .line_entry = 12,
			  .parent = RUBY_NO_FIELD },
		.string_embedded = 24,
		.class_path = 152,
		.attached = 128,
		.last_operator = 169,
		.singleton = OBJECT_USER0,
	},
	{
		.version = 304,
		.thread = { .vm = 32, .ec = 48, .nt = 40, .pthread = 16 },
		.machine = 144,
		.frame_bytes = 56,
		.body = { .lines = 112,
			  .nlines = 128,
			  .lines_index = 136,
			  .local = 168,
			  .line_entry = 12,
			  .parent = 160 },
		.string_embedded = 24,
		.class_path = 152,
		.attached = 128,
		.last_operator = 170,
		.singleton = OBJECT_USER1,
	},
};

void rubylayout_get(uint32_t i, struct ruby_layout *layout)
{
	*layout = layouts[i < RUBYLAYOUTS ? i : 0];
}

bool rubylayout_of_version(uint32_t version, struct ruby_layout *layout)
{
	for (size_t i = 0; i < countof(layouts); i++) {
		if (layouts[i].version == version) {
			*layout = layouts[i];
			return true;
		}
	}
	return false;
}
