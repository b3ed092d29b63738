/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/ruby/rubycheck.h"
#include "runtimes/ruby/rubyeval.h"
#include "runtimes/ruby/rubylayout.h"
#include "runtimes/ruby/rubyobject.h"

#include <stdio.h>

#define VERSION_MAX 16u
#define YJIT_FIRST 303u /* first version whose YJIT is supported: 3.3 */

/* ---- paths of Ruby ----------------------------------------------------------------------------------------------- */

bool ruby_is_library(struct str path)
{
	struct str name = path;
	bool library;

	if (str_ends(name, STR(" (deleted)")))
		name.n -= sizeof(" (deleted)") - 1;
	name = str_from(name, (size_t)(str_rfind(name, '/') + 1));
	library = str_starts(name, STR("libruby"));
	if (!library && !str_starts(name, STR("ruby")))
		return false;
	name = str_from(name, library ? 7 : 4);
	if (library && str_starts(name, STR("-")))
		name = str_from(name, 1);
	while (name.n && (byte_is_digit(name.p[0]) || name.p[0] == '.') && !str_starts(name, STR(".so")))
		name = str_from(name, 1);
	return library ? str_starts(name, STR(".so")) : name.n == 0;
}

/* ---- choice of the layout ---------------------------------------------------------------------------------------- */

/* Returns the version as 100 * major + minor, and its text ("3.1.2") in version[]. Returns 0 if the file is not
 * Ruby. */
static uint32_t read_ruby_version(struct ruby *ruby, char version[VERSION_MAX])
{
	uint64_t address, numbers[2];
	struct str rest, major;

	*version = '\0';
	if (!loadedfile_symbol(&ruby->file, STR("ruby_version"), &address) ||
	    !memory_string(ruby->memory, address, version, VERSION_MAX))
		return 0;
	rest = str_of(version);
	major = str_cut(&rest, '.');
	if (!str_u64(major, &numbers[0]) || !str_u64(str_cut(&rest, '.'), &numbers[1]) || numbers[0] > 99 ||
	    numbers[1] > 99)
		return 0;
	return (uint32_t)(100 * numbers[0] + numbers[1]);
}

static enum ruby_answer ruby_refuse(struct ruby *ruby, const char *version, const char *why)
{
	snprintf(ruby->why, sizeof(ruby->why), "its Ruby %s is not supported (%s); send us the file and its build-id",
		 version, why);
	return RUBY_REFUSED;
}

static enum ruby_answer ruby_early(struct ruby *ruby)
{
	snprintf(ruby->why, sizeof(ruby->why), "its Ruby runs no method yet");
	return RUBY_EARLY;
}

static enum ruby_answer ruby_find_eval(struct ruby *ruby, const char *version, uint64_t iseq)
{
	const char *why = rubyeval_find(ruby, iseq);

	return why ? ruby_refuse(ruby, version, why) : RUBY_OPEN;
}

/* Opens the process with ruby->layout, the row of its version. Returns RUBY_OPEN if the layout is proven and vm_exec is
 * found. */
static enum ruby_answer ruby_open_layout(struct ruby *ruby, const char *version)
{
	const char *why = NULL;
	uint64_t iseq;

	/* Ruby creates the main thread before the first method runs, and the names and classes before the first
	 * frame. So if one of them is missing, no method runs yet. */
	if (!rubycheck_find_vm(ruby) || !rubyid_find(ruby) || !rubyclass_find_ids(ruby))
		return ruby_early(ruby);
	switch (rubycheck_prove(ruby, &iseq, &why)) {
	case RUBYCHECK_NO_FRAME: return ruby_early(ruby);
	case RUBYCHECK_CONTRADICTED: return ruby_refuse(ruby, version, why);
	case RUBYCHECK_PROVEN: break;
	}
	return ruby_find_eval(ruby, version, iseq);
}

/* Opens the process with the only row of the table that is proven. Returns RUBY_EARLY if no row is proven, but at least
 * one is not contradicted because no frame exists; otherwise refuses the process if no row, or more than one, is
 * proven. */
static enum ruby_answer ruby_try_layouts(struct ruby *ruby, const char *version, bool yjit)
{
	struct ruby proven = { 0 };
	uint64_t iseq = 0;
	uint32_t n = 0;
	bool idle = false;

	for (uint32_t i = 0; i < RUBYLAYOUTS; i++) {
		const char *why = NULL;
		uint64_t found;

		rubylayout_get(i, &ruby->layout);
		ruby->layout.yjit = yjit;
		if (!rubycheck_find_vm(ruby) || !rubyid_find(ruby) || !rubyclass_find_ids(ruby))
			continue;
		switch (rubycheck_prove(ruby, &found, &why)) {
		case RUBYCHECK_NO_FRAME: idle = true; continue;
		case RUBYCHECK_CONTRADICTED: continue;
		case RUBYCHECK_PROVEN: break;
		}
		proven = *ruby;
		iseq = found;
		n++;
	}
	if (n == 0 && idle)
		return ruby_early(ruby);
	if (n != 1)
		return ruby_refuse(ruby, version, n ? "several layouts are possible" : "no known layout fits");
	*ruby = proven;
	ruby->foreign = true;
	return ruby_find_eval(ruby, version, iseq);
}

enum ruby_answer ruby_open(struct ruby *ruby, struct memory *memory, const struct ruby_candidate *candidate)
{
	char version[VERSION_MAX];
	enum ruby_answer answer;
	uint64_t address;
	uint32_t number;
	const char *why;
	bool yjit;

	*ruby = (struct ruby){ .memory = memory };
	why = loadedfile_open(&ruby->file, memory, candidate->base);
	number = why ? 0 : read_ruby_version(ruby, version);
	if (!number) {
		snprintf(ruby->why, sizeof(ruby->why), "%s", why ? why : "the file is not Ruby");
		return RUBY_OTHER_FILE;
	}
	if (number < RUBYLAYOUT_FIRST)
		return ruby_refuse(ruby, version, "3.1 and later are");
	yjit = number >= YJIT_FIRST && loadedfile_symbol(&ruby->file, STR("rb_yjit_cme_invalidate"), &address);
	if (rubylayout_of_version(number, &ruby->layout)) {
		ruby->layout.yjit = yjit;
		answer = ruby_open_layout(ruby, version);
	} else {
		answer = ruby_try_layouts(ruby, version, yjit);
	}
	if (answer != RUBY_OPEN && memory->budget && memory->budget->over) {
		snprintf(ruby->why, sizeof(ruby->why), "its Ruby cannot be read from memory");
		return RUBY_REFUSED;
	}
	return answer;
}
