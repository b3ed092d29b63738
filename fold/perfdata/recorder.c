/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/recorder.h"

#include <stdlib.h>

#define BOOT_ID_LEN 36

/* ---- items ------------------------------------------------------------------------------------------------------ */

/* As much of a struct as is there and known; the rest is 0. */
static void recorder_load(void *to, size_t size, struct str body)
{
	memset(to, 0, size);
	if (body.n)
		memcpy(to, body.p, body.n < size ? body.n : size);
}

static struct str recorder_text_of(struct arena *a, struct str body)
{
	ptrdiff_t end = str_find(body, 0);

	return arena_copy(a, end >= 0 ? str_head(body, (size_t)end) : body);
}

/* It becomes part of paths. */
static bool is_boot(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!byte_is_hex(s.p[i]) && s.p[i] != '-')
			return false;
	return s.n == BOOT_ID_LEN;
}

static bool is_file_name(struct str s)
{
	return s.n && s.n < 256 && s.p[0] != '.' && str_find(s, '/') < 0;
}

/* Room for one more in an array that grows by doubling. */
static void *one_more(void *array, size_t size, size_t n)
{
	return n & (n - 1) ? array : mem_grow(array, size, n ? 2 * n : 1);
}

static void take_process(struct recorder *r, struct str body)
{
	r->process = one_more(r->process, sizeof(*r->process), r->nprocesses);
	recorder_load(&r->process[r->nprocesses++], sizeof(*r->process), body);
}

static void take_idle(struct recorder *r, struct str body)
{
	r->idle = one_more(r->idle, sizeof(*r->idle), r->nidle);
	recorder_load(&r->idle[r->nidle++], sizeof(*r->idle), body);
}

static void take_tenant(struct recorder *r, struct str body)
{
	struct pj_tenant row;

	recorder_load(&row, sizeof(row), body);
	if (row.kind && r->tenants.n < PJ_TENANTS)
		r->tenants.row[r->tenants.n++] = row;
	else
		r->tenants.others = row;
}

static void take_helper(struct recorder *r, struct str body)
{
	struct pj_helper helper;

	recorder_load(&helper, sizeof(helper), body);
	if (helper.kind < PJ_HELPERS)
		r->helper[helper.kind] = helper;
}

static void recorder_take_file(struct recorder *r, struct str body)
{
	struct pj_build_id id;

	recorder_load(&id, sizeof(id), body);
	if (id.inode == 0 || id.size < 2 || id.size > sizeof(id.id))
		return;
	r->file = one_more(r->file, sizeof(*r->file), r->nfiles);
	r->file[r->nfiles++] = id;
}

static void take_event(struct recorder *r, struct str body)
{
	uint64_t event;

	recorder_load(&event, sizeof(event), body);
	if (event >= RECORDER_EVENTS)
		return;
	if (event >= r->nwalked) {
		r->walked = mem_grow(r->walked, sizeof(*r->walked), event + 1);
		memset(r->walked + r->nwalked, 0, event + 1 - r->nwalked);
		r->nwalked = event + 1;
	}
	r->walked[event] = true;
}

static const char *recorder_take_item(struct recorder *r, struct arena *a, uint32_t type, struct str body)
{
	struct str text;

	switch (type) {
	case PJ_ITEM_BOOT:
		text = recorder_text_of(a, body);
		if (!is_boot(text))
			return "what pjrecord says of the boot is none";
		r->boot = text;
		break;
	case PJ_ITEM_WINDOW:
		recorder_load(&r->window, sizeof(r->window), body);
		r->has_window = true;
		break;
	case PJ_ITEM_KALLSYMS:
		text = recorder_text_of(a, body);
		if (!is_file_name(text))
			return "what pjrecord says of kernel symbols is no name of a file";
		if (r->nkallsyms < RECORDER_KERNELS)
			r->kallsyms[r->nkallsyms++] = text;
		break;
	case PJ_ITEM_PROCESS: take_process(r, body); break;
	case PJ_ITEM_IDLE: take_idle(r, body); break;
	case PJ_ITEM_LOSS:
		recorder_load(&r->loss, sizeof(r->loss), body);
		r->has_loss = true;
		break;
	case PJ_ITEM_UNWINDING:
		r->unwound = true;
		if (body.n)
			recorder_load(&r->unwinding, sizeof(r->unwinding), body);
		break;
	case PJ_ITEM_UNWOUND: take_event(r, body); break;
	case PJ_ITEM_BUILD_ID: recorder_take_file(r, body); break;
	case PJ_ITEM_METHODS: return interpreted_take(&r->interpreted, a, body);
	case PJ_ITEM_TENANT: take_tenant(r, body); break;
	case PJ_ITEM_HELPER: take_helper(r, body); break;
	case PJ_ITEM_VERSION: r->version = recorder_text_of(a, body); break;
	default: /* of a newer pjrecord */ break;
	}
	return NULL;
}

static int recorder_process_cmp(const void *va, const void *vb)
{
	const struct pj_process *a = va, *b = vb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

/* The inode first: numbers of devices are few. */
static int file_cmp(const void *va, const void *vb)
{
	const struct pj_build_id *a = va, *b = vb;

	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	if (a->generation != b->generation)
		return a->generation < b->generation ? -1 : 1;
	if (a->major != b->major)
		return a->major < b->major ? -1 : 1;
	return (a->minor > b->minor) - (a->minor < b->minor);
}

const char *recorder_read(struct recorder *r, struct arena *a, struct str body)
{
	const char *why = NULL, *bad = NULL;

	r->is = true;
	while (body.n) {
		struct pj_item item;
		size_t complete;

		if (body.n < sizeof(item))
			return "what pjrecord says is cut";
		memcpy(&item, body.p, sizeof(item));
		body = str_from(body, sizeof(item));
		if (item.size > body.n)
			return "what pjrecord says is cut";
		why = recorder_take_item(r, a, item.type, str_head(body, item.size));
		bad = bad ? bad : why;
		complete = ((size_t)item.size + 7) & ~(size_t)7;
		body = str_from(body, complete < body.n ? complete : body.n);
	}
	if (r->nprocesses)
		qsort(r->process, r->nprocesses, sizeof(*r->process), recorder_process_cmp);
	if (r->nfiles)
		qsort(r->file, r->nfiles, sizeof(*r->file), file_cmp);
	interpreted_sort(&r->interpreted);
	return bad;
}

/* ---- questions ----------------------------------------------------------------------------------------------------
 */

/* Index of the first with this pid or a larger one. */
static size_t first_of(const struct recorder *r, uint32_t pid)
{
	size_t low = 0, high = r->nprocesses;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->process[mid].pid < pid)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct pj_process *recorder_process(const struct recorder *r, uint32_t pid)
{
	size_t i = first_of(r, pid);

	if (i == r->nprocesses || r->process[i].pid != pid)
		return NULL;
	for (size_t k = i + 1; k < r->nprocesses && r->process[k].pid == pid; k++)
		if (r->process[k].start != r->process[i].start)
			return NULL;
	return &r->process[i];
}

const struct pj_process *recorder_process_at(const struct recorder *r, uint32_t pid, size_t i)
{
	size_t n = 0, first = first_of(r, pid);

	if (!recorder_process(r, pid))
		return NULL;
	while (first + n < r->nprocesses && r->process[first + n].pid == pid)
		n++;
	return i < n ? &r->process[first + n - 1 - i] : NULL;
}

bool recorder_elsewhere(const struct recorder *r, uint32_t pid)
{
	for (size_t i = first_of(r, pid); i < r->nprocesses && r->process[i].pid == pid; i++)
		if (r->process[i].flags & PJ_PROCESS_ELSEWHERE)
			return true;
	return false;
}

const struct pj_build_id *recorder_file(const struct recorder *r, uint32_t major, uint32_t minor, uint64_t inode,
					uint64_t generation)
{
	struct pj_build_id wanted = { .major = major, .minor = minor, .inode = inode, .generation = generation };

	return r->nfiles ? bsearch(&wanted, r->file, r->nfiles, sizeof(*r->file), file_cmp) : NULL;
}

bool recorder_walked(const struct recorder *r, uint64_t event)
{
	return r->unwound && (!r->walked || (event < r->nwalked && r->walked[event]));
}

void recorder_free(struct recorder *r)
{
	interpreted_free(&r->interpreted);
	free(r->file);
	free(r->process);
	free(r->idle);
	free(r->walked);
	*r = (struct recorder){ 0 };
}
