/* SPDX-License-Identifier: Apache-2.0 */
#include "record/probes/namedmapping.h"

/* Parses a line such as "5581c9e00000-5581c9e01000 r-xp 00001000 fd:01 1234 /usr/bin/x". Returns false if the line is
 * malformed, or is not an executable mapping of a file. */
static bool namedmapping_parse(struct str line, struct namedmapping *mapping)
{
	static const struct str deleted = { " (deleted)", 10 };
	struct str access, device, major;
	uint64_t numbers[2];

	mapping->range = str_cut(&line, ' ');
	access = str_cut(&line, ' ');
	str_cut(&line, ' '); /* skips the file offset */
	device = str_cut(&line, ' ');
	major = str_cut(&device, ':');
	if (access.n != 4 || access.p[2] != 'x' || !str_u64(str_cut(&line, ' '), &mapping->inode) || !mapping->inode ||
	    !str_hex(major, &numbers[0]) || !str_hex(device, &numbers[1]) || numbers[0] > UINT32_MAX ||
	    numbers[1] > UINT32_MAX)
		return false;
	mapping->major = (uint32_t)numbers[0];
	mapping->minor = (uint32_t)numbers[1];
	mapping->path = str_trim_left(line);
	mapping->deleted = str_ends(mapping->path, deleted);
	if (mapping->deleted)
		mapping->path.n -= deleted.n;
	return true;
}

static bool has_name(const struct namedmapping *mapping, struct str name)
{
	struct str path = mapping->path;

	return path.n > name.n && path.p[0] == '/' && path.p[path.n - name.n - 1] == '/' && str_ends(path, name);
}

bool namedmapping_same(const struct namedmapping *a, const struct namedmapping *b)
{
	return a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

enum namedmapping_answer namedmapping_find(struct str maps, struct str name, struct namedmapping *mapping)
{
	enum namedmapping_answer answer = NAMEDMAPPING_NONE;
	struct namedmapping one;

	while (maps.n && answer != NAMEDMAPPING_SEVERAL) {
		if (!namedmapping_parse(str_cut(&maps, '\n'), &one) || !has_name(&one, name))
			continue;
		if (answer == NAMEDMAPPING_NONE) {
			*mapping = one;
			answer = NAMEDMAPPING_ONE;
		} else if (!namedmapping_same(mapping, &one)) {
			answer = NAMEDMAPPING_SEVERAL;
		}
	}
	return answer;
}
