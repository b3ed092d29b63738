/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/namelookup.h"

#include "common/filter/broker.h"
#include "fold/symbols/dsofiles.h"
#include "fold/opener/fileopener.h"
#include "fold/symbols/samehost.h"
#include "fold/kernel/kernelsyms.h"
#include "fold/process/packednames.h"
#include "fold/jit/perfmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- queries of one DSO ------------------------------------------------------------------------------------- */

size_t namelookup_prepare(struct namelookup *lookup, const struct locations *locations, const uint32_t *id, uint32_t n)
{
	size_t nq = 0;

	if (n > lookup->cap) {
		lookup->cap = n;
		lookup->q = mem_grow(lookup->q, sizeof(*lookup->q), n);
		lookup->module = mem_grow(lookup->module, sizeof(*lookup->module), n);
	}
	for (uint32_t i = 0; i < n; i++)
		if (nq == 0 || lookup->q[nq - 1].address != locations->location[id[i]].address)
			lookup->q[nq++] = (struct symbols_query){ .address = locations->location[id[i]].address };
	memset(lookup->module, 0, nq * sizeof(*lookup->module));
	return nq;
}

/* ---- sources of names --------------------------------------------------------------------------------------- */

static enum resolve_why namelookup_why_of(enum dso_reason why)
{
	static const uint8_t whys[] = {
		[DSO_FOUND] = WHY_NOT_IN_TABLE, [DSO_NO_FILE] = WHY_NO_FILE,       [DSO_OTHER_BUILD] = WHY_OTHER_BUILD,
		[DSO_STRIPPED] = WHY_STRIPPED,  [DSO_NOT_ELF] = WHY_NOT_ELF,       [DSO_FORBIDDEN] = WHY_FORBIDDEN,
		[DSO_SILENT] = WHY_SILENT,      [DSO_OTHER_FILE] = WHY_OTHER_FILE, [DSO_UNPROVEN] = WHY_UNPROVEN,
	};

	return (size_t)why < countof(whys) ? (enum resolve_why)whys[why] : WHY_NO_FILE;
}

/* Returns true if `path` has the file name of a C library (glibc or musl). A C library contains the code to which
 * signal handlers return; for other files the result is false. */
static bool has_trampoline(struct str path)
{
	struct str base = str_from(path, (size_t)(str_rfind(path, '/') + 1));

	return (str_starts(base, STR("libc.so")) || str_starts(base, STR("libc-")) ||
		str_starts(base, STR("ld-musl"))) &&
	       str_find_str(base, STR(".so")) > 0;
}

/* Looks up __restore_rt, the code to which signal handlers return, for those of the first n queries that have no name.
 * The kernel pushes the start of __restore_rt as return address, without a call. A query is for return address - 1,
 * which lies before __restore_rt, so this function looks up the return address itself. */
static void query_trampoline(struct namelookup *lookup, const struct dsofiles_options *options,
			     const struct dsofiles_query *query, size_t n)
{
	struct symbols_query *q = mem_alloc(sizeof(*q), n);
	size_t *of = mem_alloc(sizeof(*of), n), nq = 0;

	for (size_t i = 0; i < n; i++) {
		if (lookup->q[i].name)
			continue;
		of[nq] = i;
		q[nq++].address = lookup->q[i].address + 1;
	}
	if (nq)
		dsofiles_resolve(options, query, q, nq, &lookup->raw);
	for (size_t i = 0; i < nq; i++)
		if (q[i].name && q[i].offset == 0)
			lookup->q[of[i]].name = q[i].name;
	free(q);
	free(of);
}

/* Looks up the first n queries in the ELF file of the DSO, the symbol store and debug files. Returns the
 * reason for the queries that stay without a name. */
static enum resolve_why query_files(struct namelookup *lookup, const struct dso *dso, size_t n)
{
	struct dsofiles_options options = {
		.elf = { .as_perf = lookup->options->as_perf },
		.symfs = lookup->options->symfs,
		.symstore = lookup->options->symstore,
		.local = lookup->origin->host,
		.inlined = lookup->options->inlined ? &lookup->out->inlined[dso - lookup->addrspace->dso] : NULL,
	};
	struct dsofiles_query query = {
		.path = dso->path,
		.build_id = dso->build_id,
		.pid = dso->pid,
		.live = provenance_process(lookup->origin, dso->pid, dso->mapped_ns),
		.numbers = dso->file_id,
		.until = lookup->origin->until,
		.elsewhere = lookup->options->symstore && recorder_elsewhere(lookup->origin->recorder, dso->pid),
	};

	enum resolve_why why = namelookup_why_of(dsofiles_resolve(&options, &query, lookup->q, n, &lookup->raw));

	/* Files of this machine were not searched: the DSO has no build-id, and the recording is from another or an
	 * unknown machine, where the path may have belonged to another file. Return the reason WHY_NOT_RECORDED or
	 * WHY_OTHER_MACHINE instead of WHY_NO_FILE. */
	if (why == WHY_NO_FILE && !lookup->origin->host && !dso->build_id.n && !lookup->options->symfs)
		why = lookup->origin->reported ? WHY_OTHER_MACHINE : WHY_NOT_RECORDED;
	options.inlined = NULL;
	if (lookup->options->symstore && symstore_conflicts(lookup->options->symstore, dso->pid, &dso->build_id))
		lookup->out->conflicts++;
	if (!lookup->options->as_perf && has_trampoline(dso->path))
		query_trampoline(lookup, &options, &query, n);
	return why;
}

/* Stores the owner and mode of the directory `path` of /proc in *status. Returns false on failure. The broker opens the
 * directory, because the mount option hidepid of /proc hides it from processes without capabilities. */
static bool process_stat(const char *path, struct stat *status)
{
	int fd = broker_open(AT_FDCWD, path, O_DIRECTORY);
	bool good = fd >= 0 && fstat(fd, status) == 0;

	if (fd >= 0)
		close(fd);
	return good;
}

/* Returns true if pjfold may use the names of the perf map `fd`; false if the map belongs to another user. Like perf,
 * pjfold trusts maps of its own user and of root. It also trusts a map of the user who runs the process `live`, because
 * names cannot harm pjfold. If the process has ended (live is 0), it trusts any user's map, except with as_perf. */
static bool namelookup_is_trusted(int fd, pid_t live, bool as_perf)
{
	struct stat map, process;
	char path[32];

	if (fstat(fd, &map) != 0)
		return false;
	if (map.st_uid == 0 || map.st_uid == samehost_user())
		return true;
	if (!live)
		return !as_perf;
	snprintf(path, sizeof(path), "/proc/%d", (int)live);
	return process_stat(path, &process) && process.st_uid == map.st_uid;
}

void namelookup_add_maps(struct input_errors *all, uint32_t *first, const struct input_errors *errors, uint32_t dso)
{
	struct input_errors before = *errors;

	if (errors->n == 0)
		return;
	if (all->n && *first < dso) {
		inputerrors_add(all, errors);
		return;
	}
	inputerrors_add(&before, all);
	*all = before;
	*first = dso;
}

/* Looks up the first n queries in the perf map `fd`, and closes fd. fd -1: opening failed, with the
 * reason in errno. dso: index of the DSO, and path: name of the map, for error messages. live: pid of the process; 0:
 * it has ended. Returns false if the map cannot be used. */
static bool query_map(struct namelookup *lookup, uint32_t dso, int fd, const char *path, pid_t live, size_t n)
{
	struct perfmap_tally tally = { 0 };
	struct input_errors errors = { 0 };
	bool good;

	if (fd < 0) {
		lookup->silent_map = lookup->silent_map || errno == ETIMEDOUT;
		return false;
	}
	good = namelookup_is_trusted(fd, live, lookup->options->as_perf) &&
	       perfmap_resolve(fd, lookup->q, n, &lookup->raw, &tally) >= 0;
	close(fd);
	inputerrors_note(&errors, tally.cut, "%.160s is larger than 1 GB: only its end is read", path);
	if (tally.first_bad)
		inputerrors_note(&errors, tally.bad, "%.160s:%llu: %s", path, (unsigned long long)tally.first_bad,
				 tally.why);
	else
		inputerrors_note(&errors, tally.bad, "%.180s: %s", path, tally.why);
	namelookup_add_maps(&lookup->maps, &lookup->maps_dso, &errors, dso);
	return good;
}

/* Looks up the first n queries in the perf maps that pjrecord copied: the latest copy ("map"), then the previous copy
 * ("map.1"). Returns true if at least one of the two copies could be used, false if none. */
static bool query_symstore_maps(struct namelookup *lookup, const struct dso *d, size_t n)
{
	static const char *const kinds[] = { "map", "map.1" };
	const struct symstore *symstore = lookup->options->symstore;
	uint32_t dso = (uint32_t)(d - lookup->addrspace->dso);
	bool found = false;
	char name[192];

	for (size_t i = 0; symstore && i < countof(kinds); i++) {
		symstore_name(symstore, d->pid, kinds[i], name, sizeof(name));
		found = query_map(lookup, dso, symstore_jit(symstore, d->pid, kinds[i]), name, 0, n) || found;
	}
	return found;
}

/* Returns true if a process with this pid exists in /proc, otherwise false. The sandbox does not allow kill(), not even
 * with signal 0. */
static bool is_process(uint32_t pid)
{
	char path[32];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%u", (unsigned)pid);
	return process_stat(path, &status);
}

/* Looks up the first n queries in a perf map of this machine. It tries, in this order: /tmp below --symfs; /tmp of the
 * live process, where the name of the map has the pid in the pid namespace of the process; /tmp of pjfold. Returns
 * WHY_NOT_IN_TABLE if a map was used, otherwise the reason for which no map was used. */
static enum resolve_why query_live_maps(struct namelookup *lookup, const struct dso *d, size_t n)
{
	pid_t live = provenance_process(lookup->origin, d->pid, d->mapped_ns), inner;
	uint32_t dso = (uint32_t)(d - lookup->addrspace->dso);
	char path[4096];
	int len, fd;

	if (lookup->options->symfs) {
		len = snprintf(path, sizeof(path), "%s/tmp/perf-%u.map", lookup->options->symfs, (unsigned)d->pid);
		if (len > 0 && (size_t)len < sizeof(path) && query_map(lookup, dso, fileopener_plain(path), path, 0, n))
			return WHY_NOT_IN_TABLE;
	}
	if (!lookup->origin->boot)
		return lookup->options->symfs   ? WHY_NO_MAP :
		       lookup->origin->reported ? WHY_ELSEWHERE :
						  WHY_NOT_RECORDED;
	inner = live ? samehost_inner_pid(live) : 0;
	if (inner) {
		len = snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)inner);
		fd = fileopener_map_inside(live, (struct str){ path, (size_t)len });
		lookup->silent_map = lookup->silent_map || (fd < 0 && errno == ETIMEDOUT);
		snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", (int)live, (int)inner);
		if (fd >= 0 && query_map(lookup, dso, fd, path, live, n))
			return WHY_NOT_IN_TABLE;
	}
	if (!live && is_process(d->pid))
		/* Another process has this pid now: the map in pjfold's /tmp may be of that process. */
		return WHY_ELSEWHERE;
	if (!live && !lookup->options->as_perf && recorder_elsewhere(lookup->origin->recorder, d->pid))
		/* The process ran in another mount namespace and had another /tmp. So a map with this pid in pjfold's
		 * /tmp, written by a process or by pjmap, describes another process. */
		return WHY_NO_MAP;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", (unsigned)d->pid);
	return query_map(lookup, dso, fileopener_plain(path), path, live, n) ? WHY_NOT_IN_TABLE :
	       live                                                          ? WHY_NO_MAP :
									       WHY_ENDED;
}

static bool all_named(const struct namelookup *lookup, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!lookup->q[i].name)
			return false;
	return true;
}

/* Looks up the first n queries in perf maps. pjrecord's copies come first. Maps of this machine follow if no copy is
 * usable, or if names are missing and the process still runs, since the map of the process may be newer than the copy.
 * Returns the reason for queries without a name. */
static enum resolve_why query_maps(struct namelookup *lookup, const struct dso *dso, size_t n)
{
	enum resolve_why why;
	bool saved;

	lookup->silent_map = false;
	saved = query_symstore_maps(lookup, dso, n);
	if (saved && (all_named(lookup, n) || !provenance_process(lookup->origin, dso->pid, dso->mapped_ns)))
		return WHY_NOT_IN_TABLE;
	why = query_live_maps(lookup, dso, n);
	if (lookup->silent_map && why != WHY_NOT_IN_TABLE)
		why = WHY_SILENT;
	return saved ? WHY_NOT_IN_TABLE : why;
}

/* Looks up the first n queries in the symbols of the kernel and its modules, and sets the module of each query. Returns
 * WHY_KERNEL if there are no kernel symbols, otherwise WHY_NOT_IN_TABLE. */
static enum resolve_why query_kernel(struct namelookup *lookup, size_t n)
{
	const struct addrspace *addrspace = lookup->addrspace;
	struct kernelsyms_options options = {
		.file = lookup->options->kallsyms,
		.symfs = lookup->options->symfs,
		.symstore = lookup->options->symstore,
		.as_perf = lookup->options->as_perf,
		/* Use symbols of the running kernel only if a record gives the load address of the recorded kernel:
		 * without that address the symbols could name other functions. */
		.here = lookup->origin->host && addrspace->kernel_mapped,
		.release = lookup->origin->release,
		.symbol = addrspace->kernel_symbol,
		.address = addrspace->kernel_text,
	};

	if (addrspace->kernel_core)
		options.id = addrspace->dso[addrspace->kernel_core].build_id;
	lookup->out->kernel = kernelsyms_resolve(&options, lookup->q, n, &lookup->raw, lookup->module);
	return lookup->out->kernel ? WHY_KERNEL : WHY_NOT_IN_TABLE;
}

/* Looks up the first n queries in the source of names for this kind of DSO. Returns the reason for the
 * queries that stay without a name. */
static enum resolve_why query_sources(struct namelookup *lookup, const struct dso *dso, size_t n)
{
	switch (dso->kind) {
	case DSO_FILE:
	case DSO_VDSO: return query_files(lookup, dso, n);
	case DSO_JIT: return query_maps(lookup, dso, n);
	case DSO_KERNEL: return query_kernel(lookup, n);
	case DSO_DATA: return WHY_DATA;
	case DSO_NOWHERE: return WHY_NO_MAPPING;
	case DSO_SYMBOL: break; /* The path of the DSO is the name. */
	}
	return WHY_NOT_IN_TABLE;
}

enum resolve_why namelookup_query(struct namelookup *lookup, const struct dso *dso, size_t n)
{
	struct packednames names = { .query = lookup->q,
				     .module = lookup->module,
				     .n = n,
				     .raw = &lookup->raw,
				     .dso = dso,
				     .symstore = lookup->options->symstore,
				     .as_perf = lookup->options->as_perf,
				     .inlined = lookup->options->inlined,
				     .named_source = lookup->options->named_source || lookup->options->kallsyms ||
						     lookup->options->symfs,
				     .packed = lookup->options->packed };
	bool packed = packednames_open(&names, lookup->origin->recorder);

	if (!packed || packednames_needs_more(&names))
		names.why = query_sources(lookup, dso, n);
	if (packed)
		packednames_take(&names);
	if (names.why >= WHY_REASONS)
		names.why = WHY_NOT_IN_TABLE;
	if (dso->kind == DSO_KERNEL && names.why == WHY_KERNEL && !lookup->out->kernel)
		lookup->out->kernel = "pjpack found none when it packed the recording";
	packednames_close(&names);
	return (enum resolve_why)names.why;
}

void namelookup_free(struct namelookup *lookup)
{
	intern_free(&lookup->raw);
	free(lookup->q);
	free(lookup->module);
}
