/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/locationcache.h"

#include "common/arena.h"
#include "fold/symbols/fileopener.h"
#include "common/hash.h"
#include "fold/jit/jitdump.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define KNOWN 32768 /* entries: 512 kB */

struct place_known {
	uint64_t ip;
	uint32_t serial, location; /* site 0: nothing is known */
};

/* ---- addresses ---------------------------------------------------------------------------------------------- */

/* Code of a JVM that pjmap followed; NULL: it was not followed, or there was no code as far as it saw. */
static const struct jitdump_code *from_timeline(struct locationcache *p, const struct dso *d, uint64_t address,
						uint64_t time)
{
	struct timeline *t = timelines_of(&p->timelines, d->pid);
	const struct jitdump_code *code;
	enum timeline_sure sure;

	if (!t)
		return NULL;
	code = timeline_find(t, address, p->monotonic ? time : 0, &sure);
	p->is_requested[sure]++;
	return code;
}

/* May an address at which no code is be that of a method which a JVM interprets? Which ones are, a recorder tells at
 * the end. */
static bool may_be_method(const struct locationcache *p, enum perfdata_mode mode, uint64_t ip)
{
	return mode == MODE_USER && ip && ip % 8 == 0 && p->symstore && p->symstore->who->unwound;
}

/* What of an address makes a site; lasting: it is the same as long as the maps are. */
static uint32_t make_location(struct locationcache *p, struct addrspace_place at, uint64_t time, bool *lasting)
{
	const struct dso *d = &p->as->dso[at.dso];
	const struct jitdump_code *code = NULL;

	*lasting = true;
	switch (d->kind) {
	case DSO_NOWHERE:
	case DSO_DATA:
		if (!p->addresses)
			at.address = 0;
		break;
	case DSO_SYMBOL: at.address = 0; break;
	case DSO_JIT:
		*lasting = !d->jitdump &&
			   !timelines_of(&p->timelines, d->pid); /* code at an address is another one later */
		if (d->jitdump)
			code = jitdump_find(d->jitdump, at.address, p->jit_clock ? time : 0);
		else if (!*lasting)
			code = from_timeline(p, d, at.address, time);
		if (code)
			at = (struct addrspace_place){ addrspace_code(p->as, at.dso), (uint64_t)(uintptr_t)code };
		break;
	case DSO_METHOD:
		*lasting = false; /* a fork has the same maps, but is no JVM */
		break;
	default: break;
	}
	return locations_id(p->locations, at.dso, at.address);
}

uint32_t locationcache_site(struct locationcache *p, const struct addrspace_thread *t, enum perfdata_mode mode,
			    uint64_t ip, uint64_t time)
{
	uint32_t serial = addrspace_serial(p->as, t, mode), location;
	struct addrspace_place at;
	struct place_known *k;
	bool lasting;

	if (unlikely(!p->known))
		p->known = mem_alloc(sizeof(*p->known), KNOWN);
	k = &p->known[hash_pair(ip, serial) % KNOWN];
	if (likely(k->ip == ip && k->serial == serial && k->location))
		return k->location;
	at = addrspace_find(p->as, t, mode, ip);
	if ((p->as->dso[at.dso].kind == DSO_NOWHERE || p->as->dso[at.dso].kind == DSO_DATA) &&
	    may_be_method(p, mode, ip))
		at = (struct addrspace_place){ addrspace_methods(p->as, t->pid), ip };
	location = make_location(p, at, time, &lasting);
	if (lasting)
		*k = (struct place_known){ ip, serial, location };
	return location;
}

/* ---- jitdumps ----------------------------------------------------------------------------------------------- */

/* perf's own mark: a JIT maps one page of "jit-PID.dump", executable, when it begins to write it. */
static bool locationcache_is_jitdump(struct str path)
{
	struct str base = str_from(path, (size_t)(str_rfind(path, '/') + 1));

	return str_starts(base, STR("jit-")) && str_ends(base, STR(".dump"));
}

/* path: what was opened, for people. */
static int open_jitdump(const struct locationcache *p, const struct perfdata_record *r, const struct provenance *origin,
			char *path, size_t space)
{
	pid_t live = provenance_process(origin, r->pid, r->has_time ? r->time : 0);
	int n, fd = p->symstore ? symstore_jit(p->symstore, r->pid, "dump") : -1;

	if (fd >= 0) {
		symstore_name(p->symstore, r->pid, "dump", path, space);
		return fd;
	}
	n = snprintf(path, space, "%s%.*s", p->symfs ? p->symfs : "", (int)r->mmap.path.n, r->mmap.path.p);
	if (n < 0 || (size_t)n >= space)
		return -1;
	if (live && !p->symfs)
		fd = fileopener_map_inside(live, r->mmap.path);
	if (fd < 0 && (p->symfs || (origin->boot && !recorder_elsewhere(origin->recorder, r->pid))))
		return fileopener_plain(path);
	snprintf(path, space, "/proc/%d/root%.*s", (int)live, (int)r->mmap.path.n, r->mmap.path.p);
	return fd;
}

void locationcache_map(struct locationcache *p, const struct perfdata_record *r, const struct provenance *origin,
		       const struct perfdata_info *info)
{
	char path[4096];
	uint32_t jit;
	struct jitdump *j;
	const char *why;
	uint64_t bad;
	int fd;

	if (!locationcache_is_jitdump(r->mmap.path))
		return;
	jit = addrspace_jit(p->as, r->pid);
	if (p->as->dso[jit].jitdump)
		return;
	fd = open_jitdump(p, r, origin, path, sizeof(path));
	if (fd < 0)
		return; /* its code has no names, which is told with the reason */
	j = jitdump_open(fd, &why);
	if (!j) {
		inputerrors_note(&p->errors, 1, "%.180s: %s", path, why);
		return;
	}
	bad = jitdump_bad(j, &why);
	inputerrors_note(&p->errors, bad, "%.160s@%llu: %s", path, (unsigned long long)jitdump_first_bad(j), why);
	p->jitdump = mem_more(p->jitdump, sizeof(*p->jitdump), p->njitdumps);
	p->jitdump[p->njitdumps++] = j;
	p->jit_clock = info->clock == CLOCK_MONOTONIC && !jitdump_arch_clock(j);
	p->as->dso[jit].jitdump = j;
}

void locationcache_free(struct locationcache *p)
{
	for (size_t i = 0; i < p->njitdumps; i++)
		jitdump_close(p->jitdump[i]);
	free(p->jitdump);
	free(p->known);
	timelines_close(&p->timelines);
	*p = (struct locationcache){ 0 };
}
