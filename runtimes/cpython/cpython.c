/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/cpython/pycheck.h"
#include "runtimes/cpython/pylayout.h"

#include <stdio.h>

/* ---- paths of CPython -------------------------------------------------------------------------------------------- */

/* Removes a version such as "3.11" from the start of *name and sets *minor to its minor version; 0 for "3" alone.
 * Returns false if there is no version. */
static bool cut_version(struct str *name, uint32_t *minor)
{
	uint32_t value = 0;
	size_t n = 1;

	*minor = 0;
	if (!str_starts(*name, STR("3")))
		return false;
	if (name->n > 2 && name->p[1] == '.' && byte_is_digit(name->p[2])) {
		for (n = 2; n < name->n && n < 4 && byte_is_digit(name->p[n]); n++)
			value = value * 10 + (uint32_t)(name->p[n] - '0');
		*minor = value;
	}
	*name = str_from(*name, n);
	return true;
}

/* Returns true if the file name of a path is a file name of CPython, otherwise false. If true, sets *minor to the minor
 * version in the name, or to 0 if the name has none. */
static bool path_version(struct str path, uint32_t *minor)
{
	struct str name = path;
	bool library;

	if (str_ends(name, STR(" (deleted)")))
		name.n -= sizeof(" (deleted)") - 1;
	name = str_from(name, (size_t)(str_rfind(name, '/') + 1));
	library = str_starts(name, STR("libpython"));
	if (!library && !str_starts(name, STR("python")))
		return false;
	name = str_from(name, library ? 9 : 6);
	if (!cut_version(&name, minor))
		return false;
	/* Build flags: d, m, t, u. */
	while (name.n && name.p[0] >= 'a' && name.p[0] <= 'z')
		name = str_from(name, 1);
	return library ? str_starts(name, STR(".so")) : name.n == 0;
}

bool cpython_is_library(struct str path)
{
	uint32_t minor;

	return path_version(path, &minor);
}

/* ---- choice of the layout ---------------------------------------------------------------------------------------- */

static enum cpython_answer refuse(struct cpython *cpython, uint32_t minor, const char *why)
{
	char version[32] = "of an unknown version";

	if (cpython->hexversion & 0xffffff)
		snprintf(version, sizeof(version), "3.%u.%u", cpython->hexversion >> 16 & 255,
			 cpython->hexversion >> 8 & 255);
	else if (minor)
		snprintf(version, sizeof(version), "3.%u", minor);
	snprintf(cpython->why, sizeof(cpython->why),
		 "its CPython %s is not supported (%s); send us the file and its build-id", version, why);
	return CPYTHON_REFUSED;
}

static enum cpython_answer early(struct cpython *cpython)
{
	snprintf(cpython->why, sizeof(cpython->why), "its CPython runs no function yet");
	return CPYTHON_EARLY;
}

/* Sets cpython->layout to the layout of version 3.`minor`: from `debug`, the table of _Py_DebugOffsets, or, if that is
 * NULL, from the table of versions in pylayout.c. Returns false if the layout is unknown. */
static bool take_candidate(struct cpython *cpython, const char *debug, uint32_t minor)
{
	if (debug)
		return pylayout_of_debug(debug, minor, &cpython->layout);
	return pylayout_of_version(minor, &cpython->layout) &&
	       pylayout_members(cpython->memory, cpython->code_type, &cpython->layout);
}

/* Returns true if two layouts read the same data: they differ only in version and runtime.gil, and both versions
 * have the same format of line tables. */
static bool is_same_layout(struct cpython_layout one, struct cpython_layout other)
{
	bool lines = (one.version < 10) == (other.version < 10) && (one.version < 11) == (other.version < 11);

	other.version = one.version;
	other.runtime.gil = one.runtime.gil;
	return lines && memcmp(&one, &other, sizeof(one)) == 0;
}

/* Tries the layouts of all versions that have _Py_DebugOffsets if `debug` is not NULL, otherwise of all versions that
 * lack this table. Returns CPYTHON_OPEN if exactly one layout is proven. minor: version for the message. */
static enum cpython_answer try_neighbours(struct cpython *cpython, const char *debug, uint32_t minor)
{
	struct cpython_layout proven = { 0 };
	uint32_t first = debug ? PYLAYOUT_DEBUG_OFFSETS : PYLAYOUT_OLDEST,
		 last = debug ? PYLAYOUT_NEWEST : PYLAYOUT_DEBUG_OFFSETS - 1;
	bool empty = false;
	const char *why;

	for (uint32_t candidate = first; candidate <= last; candidate++) {
		if (!take_candidate(cpython, debug, candidate))
			continue;
		switch (pycheck_prove(cpython, &why)) {
		case PYCHECK_PROVEN:
			if (proven.version && !is_same_layout(proven, cpython->layout))
				return refuse(cpython, minor, "several layouts are possible");
			proven = cpython->layout;
			break;
		case PYCHECK_NO_FRAME: empty = true; break;
		case PYCHECK_CONTRADICTED: break;
		}
	}
	cpython->layout = proven;
	if (proven.version)
		return CPYTHON_OPEN;
	return empty ? early(cpython) : refuse(cpython, minor, "no known layout fits");
}

static enum cpython_answer find_layout(struct cpython *cpython, uint32_t minor)
{
	char bytes[PYLAYOUT_DEBUG_BYTES];
	struct pylayout_debug debug;
	const char *why, *table = NULL;

	if (!memory_read(cpython->memory, cpython->runtime, bytes, sizeof(bytes)))
		return CPYTHON_UNREADABLE;
	if (pylayout_has_debug(bytes, &debug)) {
		table = bytes;
		cpython->hexversion = debug.hexversion;
		if (debug.free_threaded)
			return refuse(cpython, minor, "it is free-threaded");
	}
	if (cpython->hexversion)
		minor = cpython->hexversion >> 16 & 255;
	if (minor >= PYLAYOUT_DEBUG_OFFSETS && !table)
		/* The table exists before the first thread starts, so this build lacks it. */
		return refuse(cpython, minor, "it has no _Py_DebugOffsets");
	if (!take_candidate(cpython, table, minor))
		return try_neighbours(cpython, table, minor);
	switch (pycheck_prove(cpython, &why)) {
	case PYCHECK_PROVEN: return CPYTHON_OPEN;
	case PYCHECK_NO_FRAME: return early(cpython);
	case PYCHECK_CONTRADICTED: break;
	}
	return refuse(cpython, minor, why);
}

static bool cpython_find_symbols(struct cpython *cpython)
{
	return loadedfile_symbol(&cpython->file, STR("_PyRuntime"), &cpython->runtime) &&
	       loadedfile_symbol(&cpython->file, STR("PyCode_Type"), &cpython->code_type) &&
	       loadedfile_symbol(&cpython->file, STR("PyUnicode_Type"), &cpython->string_type) &&
	       loadedfile_symbol(&cpython->file, STR("PyBytes_Type"), &cpython->bytes_type) &&
	       loadedfile_symbol(&cpython->file, STR("PyDict_Type"), &cpython->dict_type);
}

enum cpython_answer cpython_open(struct cpython *cpython, struct memory *memory,
				 const struct cpython_candidate *candidate)
{
	enum cpython_answer answer;
	uint64_t address, version;
	uint32_t minor = 0;
	const char *why;

	*cpython = (struct cpython){ .memory = memory };
	path_version(candidate->path, &minor);
	why = loadedfile_open(&cpython->file, memory, candidate->base);
	if (why || !cpython_find_symbols(cpython)) {
		snprintf(cpython->why, sizeof(cpython->why), "%s", why ? why : "the file is not CPython");
		return CPYTHON_OTHER_FILE;
	}
	/* Py_Version (since 3.11) is PY_VERSION_HEX as an unsigned long, in read-only data. */
	if (loadedfile_symbol(&cpython->file, STR("Py_Version"), &address) &&
	    memory_pointer(memory, address, &version) && version >> 24 == 3)
		cpython->hexversion = (uint32_t)version;
	answer = find_layout(cpython, minor);
	if (answer == CPYTHON_OPEN && !evalcode_find(&cpython->file, STR("_PyEval_EvalFrameDefault"), &cpython->eval))
		answer = refuse(cpython, minor, "it does not export its eval function");
	if (answer != CPYTHON_OPEN && memory->budget && memory->budget->over)
		answer = CPYTHON_UNREADABLE;
	if (answer == CPYTHON_UNREADABLE)
		snprintf(cpython->why, sizeof(cpython->why), "its CPython cannot be read from memory");
	return answer;
}

/* ---- list of threads --------------------------------------------------------------------------------------------- */

size_t cpython_threads(struct cpython *cpython, struct cpython_thread *thread, size_t cap)
{
	const char *why;

	return pycheck_one_state_each(cpython, thread, pycheck_threads(cpython, thread, cap, &why));
}

uint64_t cpython_gil_holder(struct cpython *cpython, uint64_t interpreter)
{
	const struct cpython_layout *layout = &cpython->layout;
	uint64_t gil = cpython->runtime + layout->runtime.gil, holder, locked;

	if (layout->runtime.gil == CPYTHON_NO_FIELD &&
	    (layout->interpreter.gil == CPYTHON_NO_FIELD ||
	     !memory_pointer(cpython->memory, interpreter + layout->interpreter.gil, &gil)))
		return 0;
	if (!memory_u64(cpython->memory, gil + layout->gil.locked, 4, &locked) || locked != 1 ||
	    !memory_pointer(cpython->memory, gil + layout->gil.holder, &holder))
		return 0;
	return holder;
}
