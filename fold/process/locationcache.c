/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/locationcache.h"

#include "common/arena.h"
#include "fold/opener/fileopener.h"
#include "common/hash.h"
#include "fold/jit/jitdump.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define KNOWN_BITS 15
#define KNOWN (1u << KNOWN_BITS) /* number of cache entries, 512 kB together */

/* Entry of the cache: the location of an instruction pointer in mappings with one serial number. */
struct place_known {
	uint64_t ip;
	/* serial: serial number of the mappings. location: id of the location; 0: the entry is free. */
	uint32_t serial, location;
};

/* ---- lookups of locations ----------------------------------------------------------------------------------- */

/* Returns the extent of the code blobs that a packed recording has of a DSO's process. SYMBOLIZED_NONE: none, or the
 * recording is not packed. SYMBOLIZED_MORE: blobs that complement the other sources. SYMBOLIZED_ALL: all blobs of the
 * process. */
static enum symbolized_has packed_code(const struct locationcache *locations, const struct dso *dso)
{
	return locations->recorder && locations->recorder->symbolized ?
		       symbolized_has_code(locations->recorder->symbolized, dso->pid) :
		       SYMBOLIZED_NONE;
}

/* Returns the code blob that the JVM's timeline has at an address and time; NULL if pjmap did not follow the process,
 * or saw no code at that address. */
static const struct jit_code *from_timeline(struct locationcache *locations, const struct dso *dso, uint64_t address,
					    uint64_t time)
{
	struct timeline *timeline = timelines_of(&locations->timelines, dso->pid);
	const struct jit_code *code;
	enum timeline_sure sure;

	if (!timeline)
		return NULL;
	code = timeline_find(timeline, address, locations->monotonic ? time : 0, &sure);
	locations->lookups[sure]++;
	return code;
}

/* Returns the code blob that the process's jitdump (dump is true) or timeline (dump is false) has at an address and
 * time, or NULL. Passes the result to pjpack's writer, if there is one. */
static const struct jit_code *from_history(struct locationcache *locations, const struct dso *dso, uint64_t address,
					   uint64_t time, bool dump)
{
	const struct jit_code *code = dump ? jitdump_find(dso->jitdump, address, dso->jit_clock ? time : 0) :
					     from_timeline(locations, dso, address, time);

	if (locations->packed)
		symbolizedwriter_code(locations->packed, dso->pid, dump, address, time, code);
	return code;
}

/* Returns the code blob that a packed recording has at an address of a process at a time (ns), or NULL. Passes the
 * result to pjpack's writer, if there is one. */
static const struct jit_code *from_packed(struct locationcache *locations, const struct dso *dso, uint64_t address,
					  uint64_t time)
{
	const struct jit_code *code = symbolized_code(locations->recorder->symbolized, dso->pid, address, time);

	if (locations->packed)
		symbolizedwriter_code(locations->packed, dso->pid, packed_code(locations, dso) == SYMBOLIZED_ALL,
				      address, time, code);
	return code;
}

/* Returns the code blob at an address in a JVM at a time (ns). Searches the JVM code that pjrecord stored in the
 * recording, then one further source: the packed recording if that has code of the process, otherwise pjmap's timeline.
 * Returns NULL if neither has code at the address and time. */
static const struct jit_code *find_jvm_code(struct locationcache *locations, const struct dso *dso, uint64_t address,
					    uint64_t time)
{
	const struct jit_code *code = locations->recorder && locations->monotonic ?
					      windowcode_find(locations->recorder->code, dso->pid, address, time) :
					      NULL;

	if (code)
		return code;
	return packed_code(locations, dso) ? from_packed(locations, dso, address, time) :
					     from_history(locations, dso, address, time, false);
}

/* Returns the code blob at an address of a process at a time (ns), or NULL. The source is the packed recording if that
 * has all code of the process; otherwise the jitdump, if the process has one; otherwise the sources of JVM code. */
static const struct jit_code *find_code(struct locationcache *locations, const struct dso *dso, uint64_t address,
					uint64_t time)
{
	if (packed_code(locations, dso) == SYMBOLIZED_ALL)
		return from_packed(locations, dso, address, time);
	if (dso->jitdump)
		return from_history(locations, dso, address, time, true);
	return find_jvm_code(locations, dso, address, time);
}

/* Returns true if a source has the JIT code of this process with the times of changes: a jitdump, a packed recording,
 * the JVM code that pjrecord stored in the recording, or a timeline. Returns false if only a perf map can have names
 * for this code. */
static bool has_history(struct locationcache *locations, const struct dso *dso)
{
	return dso->jitdump || packed_code(locations, dso) ||
	       (locations->recorder && windowcode_has(locations->recorder->code, dso->pid)) ||
	       timelines_of(&locations->timelines, dso->pid);
}

/* Returns true if an address of JIT code that has no code blob now may have one at a later sample: pjrecord writes code
 * to a pipe as soon as it has the names. */
static bool may_get_history(const struct locationcache *locations)
{
	return locations->piped && locations->recorder && locations->recorder->is;
}

/* Returns true if ip may be the address of a LOCATION_METHOD, such as a Method* or an interpreter's instruction:
 * pjrecord puts these addresses into callchains. ip must be outside of code mappings. Pass 2 looks up such an address,
 * because pjrecord's list of these addresses is at the end of the window. Returns false for odd addresses, among
 * others: a Method* is aligned, and instructions of CPython have two bytes. */
static bool may_be_method(const struct locationcache *locations, enum perfdata_mode mode, uint64_t ip)
{
	return mode == MODE_USER && ip && ip % 2 == 0 && locations->symstore && locations->symstore->who->unwound;
}

/* Returns the id of the location that represents an address in a DSO at a time (ns): the code blob if a source of JIT
 * code has one, otherwise the address itself. Sets *lasting to true if the result is valid until the mappings change,
 * so that it can be cached; to false for code that a JIT may replace. */
static uint32_t make_location(struct locationcache *locations, struct location location, uint64_t time, bool *lasting)
{
	const struct dso *dso = &locations->as->dso[location.dso];
	const struct jit_code *code = NULL;
	bool history;

	*lasting = true;
	switch (dso->kind) {
	case DSO_NOWHERE:
	case DSO_DATA:
		if (!locations->addresses)
			location.address = 0;
		break;
	case DSO_SYMBOL: location.address = 0; break;
	case DSO_JIT:
		/* with a history, the result is valid only for this time: the JIT may have replaced the code */
		history = has_history(locations, dso);
		*lasting = !history && !may_get_history(locations);
		if (history)
			code = find_code(locations, dso, location.address, time);
		if (code)
			location = location_of_code(location.dso, code);
		break;
	default: break;
	}
	return locations_id(locations->locations, location);
}

/* Returns the index of the cache entry for address ip in mappings with this serial number. A collision costs no more
 * than the lookup of a new address, so one multiplication without a secret is enough. */
static uint32_t known_index(uint64_t ip, uint32_t serial)
{
	return (uint32_t)((ip + ((uint64_t)serial << 32)) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - KNOWN_BITS));
}

uint32_t locationcache_locate(struct locationcache *locations, const struct addrspace_thread *thread,
			      enum perfdata_mode mode, uint64_t ip, uint64_t time)
{
	uint32_t serial = addrspace_serial(locations->as, thread, mode), id;
	struct location location;
	struct place_known *known;
	enum dso_kind kind;
	bool lasting;

	if (unlikely(!locations->known))
		locations->known = mem_alloc(sizeof(*locations->known), KNOWN);
	known = &locations->known[known_index(ip, serial)];
	if (likely(known->ip == ip && known->serial == serial && known->location))
		return known->location;
	location = addrspace_find(locations->as, thread, mode, ip);
	kind = locations->as->dso[location.dso].kind;
	/* The result is not cached: the location contains the pid, but the cache entry applies to a forked child with
	 * the same mappings, too. */
	if ((kind == DSO_NOWHERE || kind == DSO_DATA) && may_be_method(locations, mode, ip))
		return locations_id(locations->locations, location_of_method(thread->pid, ip));
	id = make_location(locations, location, time, &lasting);
	if (lasting)
		*known = (struct place_known){ ip, serial, id };
	return id;
}

/* ---- opening of jitdumps ------------------------------------------------------------------------------------ */

/* Returns true if a mapped path is the path of a jitdump, "jit-PID.dump"; otherwise false. A JIT that writes a jitdump
 * first maps one page of the file as executable, so that the recording has an MMAP record of it. */
static bool locationcache_is_jitdump(struct str path)
{
	struct str base = str_from(path, (size_t)(str_rfind(path, '/') + 1));

	return str_starts(base, STR("jit-")) && str_ends(base, STR(".dump"));
}

/* Opens the jitdump of a mapping: pjrecord's copy, otherwise the file below --symfs, if that is given, otherwise the
 * file as the live process sees it; then, if the process ran on this machine since its last boot, the file of this
 * machine. Writes the name of the file, for messages, to `path`, a buffer of `space` bytes. Returns a descriptor, or -1
 * if none of these files exists. */
static int open_jitdump(const struct locationcache *locations, const struct perfdata_record *record,
			const struct provenance *origin, char *path, size_t space)
{
	pid_t live = provenance_process(origin, record->pid, record->has_time ? record->time : 0);
	int got, fd = locations->symstore ? symstore_jit(locations->symstore, record->pid, "dump") : -1;

	if (fd >= 0) {
		symstore_name(locations->symstore, record->pid, "dump", path, space);
		return fd;
	}
	got = snprintf(path, space, "%s%.*s", locations->symfs ? locations->symfs : "", (int)record->mmap.path.n,
		       record->mmap.path.p);
	if (got < 0 || (size_t)got >= space)
		return -1;
	if (live && !locations->symfs)
		fd = fileopener_map_inside(live, record->mmap.path);
	if (fd < 0 && (locations->symfs || (origin->boot && !recorder_elsewhere(origin->recorder, record->pid))))
		return fileopener_plain(path);
	snprintf(path, space, "/proc/%d/root%.*s", (int)live, (int)record->mmap.path.n, record->mmap.path.p);
	return fd;
}

void locationcache_map(struct locationcache *locations, const struct perfdata_record *record,
		       const struct provenance *origin, const struct perfdata_info *info)
{
	char path[4096];
	uint32_t jit;
	struct jitdump *jitdump;
	const char *why;
	uint64_t bad;
	int fd;

	if (!locationcache_is_jitdump(record->mmap.path))
		return;
	jit = addrspace_jit(locations->as, record->pid);
	if (locations->as->dso[jit].jitdump)
		return;
	fd = open_jitdump(locations, record, origin, path, sizeof(path));
	if (fd < 0)
		return; /* resolve.c reports the code of this JIT as unnamed, with the reason */
	jitdump = jitdump_open(fd, &why);
	if (!jitdump) {
		inputerrors_note(&locations->errors, 1, "%.180s: %s", path, why);
		return;
	}
	bad = jitdump_bad(jitdump, &why);
	inputerrors_note(&locations->errors, bad, "%.160s@%llu: %s", path,
			 (unsigned long long)jitdump_first_bad(jitdump), why);
	locations->jitdump = mem_more(locations->jitdump, sizeof(*locations->jitdump), locations->njitdumps);
	locations->jitdump[locations->njitdumps++] = jitdump;
	locations->as->dso[jit].jit_clock = info->clock == CLOCK_MONOTONIC && !jitdump_arch_clock(jitdump);
	locations->as->dso[jit].jitdump = jitdump;
}

void locationcache_free(struct locationcache *locations)
{
	for (size_t i = 0; i < locations->njitdumps; i++)
		jitdump_close(locations->jitdump[i]);
	free(locations->jitdump);
	free(locations->known);
	timelines_close(&locations->timelines);
	*locations = (struct locationcache){ 0 };
}
