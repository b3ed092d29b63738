/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/recorder.h"

#include <stdlib.h>

#define BOOT_ID_LEN 36

/* ---- items of pjrecord's sections ------------------------------------------------------------------------------- */

/* Copies the body of an item to the struct of `size` bytes at `to`. Members that the body lacks become 0; additional
 * bytes of a newer pjrecord are ignored. */
static void recorder_load(void *to, size_t size, struct str body)
{
	memset(to, 0, size);
	if (body.n)
		memcpy(to, body.p, body.n < size ? body.n : size);
}

static struct str recorder_text_of(struct arena *arena, struct str body)
{
	ptrdiff_t end = str_find(body, 0);

	return arena_copy(arena, end >= 0 ? str_head(body, (size_t)end) : body);
}

/* Returns true if the string has the form of a boot id: 36 characters, each a hexadecimal digit or '-'. Boot ids become
 * parts of paths, so any other string is refused (false). */
static bool is_boot(struct str string)
{
	for (size_t i = 0; i < string.n; i++)
		if (!byte_is_hex(string.p[i]) && string.p[i] != '-')
			return false;
	return string.n == BOOT_ID_LEN;
}

static bool is_file_name(struct str string)
{
	return string.n && string.n < 256 && string.p[0] != '.' && str_find(string, '/') < 0;
}

/* Makes space for one more element in an array of n elements of `size` bytes. Returns the array, which may have moved.
 * Its capacity is doubled when n is a power of 2. */
static void *one_more(void *array, size_t size, size_t n)
{
	return n & (n - 1) ? array : mem_grow(array, size, n ? 2 * n : 1);
}

static void take_process(struct recorder *recorder, struct str body)
{
	recorder->process = one_more(recorder->process, sizeof(*recorder->process), recorder->nprocesses);
	recorder_load(&recorder->process[recorder->nprocesses++], sizeof(*recorder->process), body);
}

static void take_idle(struct recorder *recorder, struct str body)
{
	recorder->idle = one_more(recorder->idle, sizeof(*recorder->idle), recorder->nidle);
	recorder_load(&recorder->idle[recorder->nidle++], sizeof(*recorder->idle), body);
}

static void recorder_add(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

/* Adds the item of one tenant. An item of kind 0 is the sum of all tenants that have no item of their own. This item,
 * and items beyond the maximum number PJ_TENANTS, are added to tenants.others. */
static void take_tenant(struct recorder *recorder, struct str body)
{
	struct pj_tenant row, *others = &recorder->tenants.others;

	recorder_load(&row, sizeof(row), body);
	if (row.kind && recorder->tenants.n < PJ_TENANTS) {
		recorder->tenants.row[recorder->tenants.n++] = row;
		return;
	}
	recorder_add(&others->samples, row.samples);
	recorder_add(&others->mappings, row.mappings);
	recorder_add(&others->reads, row.reads);
	recorder_add(&others->bytes, row.bytes);
	recorder_add(&others->files, row.files);
	recorder_add(&others->jvms, row.jvms);
	recorder_add(&others->tables, row.tables);
}

static void take_helper(struct recorder *recorder, struct str body)
{
	struct pj_helper helper;

	recorder_load(&helper, sizeof(helper), body);
	if (helper.kind < PJ_HELPERS)
		recorder->helper[helper.kind] = helper;
}

static void recorder_take_file(struct recorder *recorder, struct str body)
{
	struct pj_build_id id;

	recorder_load(&id, sizeof(id), body);
	if (id.file_id.inode == 0 || id.build_id.n < 2 || id.build_id.n > sizeof(id.build_id.byte))
		return;
	recorder->file = one_more(recorder->file, sizeof(*recorder->file), recorder->nfiles);
	recorder->file[recorder->nfiles++] = id;
}

/* Sets walked[event]: pjrecord unwound the stacks of this event. The item is the number of the event, from 1; numbers
 * from RECORDER_EVENTS on are ignored. */
static void take_event(struct recorder *recorder, struct str body)
{
	uint64_t event;

	recorder_load(&event, sizeof(event), body);
	if (event >= RECORDER_EVENTS)
		return;
	if (event >= recorder->nwalked) {
		recorder->walked = mem_grow(recorder->walked, sizeof(*recorder->walked), event + 1);
		memset(recorder->walked + recorder->nwalked, 0, event + 1 - recorder->nwalked);
		recorder->nwalked = event + 1;
	}
	recorder->walked[event] = true;
}

static void take_offcpu_times(struct recorder *recorder, struct str body)
{
	struct pj_offcpu *offcpu = &recorder->offcpu;

	recorder_load(offcpu, sizeof(*offcpu), body);
	offcpu->complete = offcpu->complete < offcpu->read ? offcpu->complete : offcpu->read;
	offcpu->complete_ns = offcpu->complete_ns < offcpu->read_ns ? offcpu->complete_ns : offcpu->read_ns;
	if (offcpu->early_complete_ns > offcpu->early_ns)
		offcpu->early_complete_ns = offcpu->early_ns;
}

static const char *recorder_take_code(struct recorder *recorder, uint32_t type, struct str body)
{
	if (!recorder->code)
		recorder->code = windowcode_new();
	return type == PJ_ITEM_CODE ? windowcode_take(recorder->code, body) :
				      windowcode_take_names(recorder->code, body);
}

/* Stores one item of pjrecord's sections, of type `type`, in *recorder. Returns NULL, or the error. */
static const char *recorder_take_item(struct recorder *recorder, struct arena *arena, uint32_t type, struct str body)
{
	struct str text;

	switch (type) {
	case PJ_ITEM_BOOT:
		text = recorder_text_of(arena, body);
		if (!is_boot(text))
			return "pjrecord's boot id is invalid";
		recorder->boot = text;
		break;
	case PJ_ITEM_WINDOW:
		recorder_load(&recorder->window, sizeof(recorder->window), body);
		recorder->has_window = true;
		break;
	case PJ_ITEM_KALLSYMS:
		text = recorder_text_of(arena, body);
		if (!is_file_name(text))
			return "pjrecord's file name of kernel symbols is invalid";
		if (recorder->nkallsyms < RECORDER_KERNELS)
			recorder->kallsyms[recorder->nkallsyms++] = text;
		break;
	case PJ_ITEM_PROCESS: take_process(recorder, body); break;
	case PJ_ITEM_IDLE: take_idle(recorder, body); break;
	case PJ_ITEM_LOSS:
		recorder_load(&recorder->loss, sizeof(recorder->loss), body);
		recorder->has_loss = true;
		break;
	case PJ_ITEM_UNWINDING:
		recorder->unwound = true;
		if (body.n)
			recorder_load(&recorder->unwinding, sizeof(recorder->unwinding), body);
		recorder->ends_have_reasons = body.n > offsetof(struct pj_unwinding, other_stack);
		break;
	case PJ_ITEM_OFFCPU: take_offcpu_times(recorder, body); break;
	case PJ_ITEM_BORDER: recorder_load(&recorder->border, sizeof(recorder->border), body); break;
	case PJ_ITEM_MAX_STACK: recorder_load(&recorder->max_stack, sizeof(recorder->max_stack), body); break;
	case PJ_ITEM_UNWOUND: take_event(recorder, body); break;
	case PJ_ITEM_BUILD_ID: recorder_take_file(recorder, body); break;
	case PJ_ITEM_METHODS: return interpreted_take(&recorder->interpreted, arena, body);
	case PJ_ITEM_CLASSES: return interpreted_take_classes(&recorder->interpreted, arena, body);
	case PJ_ITEM_FUNCTIONS: return interpreted_take_functions(&recorder->interpreted, arena, body);
	case PJ_ITEM_CODE_NAMES:
	case PJ_ITEM_CODE: return recorder_take_code(recorder, type, body);
	case PJ_ITEM_TENANT: take_tenant(recorder, body); break;
	case PJ_ITEM_HELPER: take_helper(recorder, body); break;
	case PJ_ITEM_VERSION: recorder->version = recorder_text_of(arena, body); break;
	default: /* ignore an item of a newer pjrecord */ break;
	}
	return NULL;
}

static int recorder_process_cmp(const void *left, const void *right)
{
	const struct pj_process *process = left, *b = right;

	if (process->pid != b->pid)
		return process->pid < b->pid ? -1 : 1;
	return (process->start > b->start) - (process->start < b->start);
}

/* Compares two struct pj_build_id by file id, for qsort and bsearch. Compares the inodes first, as few device numbers
 * differ. */
static int file_cmp(const void *left, const void *right)
{
	const struct pj_build_id *a = left, *b = right;

	if (a->file_id.inode != b->file_id.inode)
		return a->file_id.inode < b->file_id.inode ? -1 : 1;
	if (a->file_id.generation != b->file_id.generation)
		return a->file_id.generation < b->file_id.generation ? -1 : 1;
	if (a->file_id.major != b->file_id.major)
		return a->file_id.major < b->file_id.major ? -1 : 1;
	return (a->file_id.minor > b->file_id.minor) - (a->file_id.minor < b->file_id.minor);
}

const char *recorder_read(struct recorder *recorder, struct arena *arena, struct str body)
{
	const char *why = NULL, *bad = NULL;

	recorder->is = true;
	while (body.n) {
		struct pj_item item;
		size_t complete;

		if (body.n < sizeof(item))
			return "pjrecord's section is truncated";
		memcpy(&item, body.p, sizeof(item));
		body = str_from(body, sizeof(item));
		if (item.size > body.n)
			return "pjrecord's section is truncated";
		why = recorder_take_item(recorder, arena, item.type, str_head(body, item.size));
		bad = bad ? bad : why;
		complete = ((size_t)item.size + 7) & ~(size_t)7;
		body = str_from(body, complete < body.n ? complete : body.n);
	}
	if (recorder->nprocesses)
		qsort(recorder->process, recorder->nprocesses, sizeof(*recorder->process), recorder_process_cmp);
	if (recorder->nfiles)
		qsort(recorder->file, recorder->nfiles, sizeof(*recorder->file), file_cmp);
	interpreted_sort(&recorder->interpreted);
	return bad;
}

/* ---- lookups by pid, file id and event --------------------------------------------------------------------------- */

/* Returns the index of the first item in recorder->process whose pid is at least `pid`; nprocesses if there is none. */
static size_t first_of(const struct recorder *recorder, uint32_t pid)
{
	size_t low = 0, high = recorder->nprocesses;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (recorder->process[mid].pid < pid)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct pj_process *recorder_process(const struct recorder *recorder, uint32_t pid)
{
	size_t i = first_of(recorder, pid);

	if (i == recorder->nprocesses || recorder->process[i].pid != pid)
		return NULL;
	for (size_t index = i + 1; index < recorder->nprocesses && recorder->process[index].pid == pid; index++)
		if (recorder->process[index].start != recorder->process[i].start)
			return NULL;
	return &recorder->process[i];
}

const struct pj_process *recorder_process_at(const struct recorder *recorder, uint32_t pid, size_t i)
{
	size_t n = 0, first = first_of(recorder, pid);

	if (!recorder_process(recorder, pid))
		return NULL;
	while (first + n < recorder->nprocesses && recorder->process[first + n].pid == pid)
		n++;
	return i < n ? &recorder->process[first + n - 1 - i] : NULL;
}

bool recorder_elsewhere(const struct recorder *recorder, uint32_t pid)
{
	for (size_t i = first_of(recorder, pid); i < recorder->nprocesses && recorder->process[i].pid == pid; i++)
		if (recorder->process[i].flags & PJ_PROCESS_ELSEWHERE)
			return true;
	return false;
}

const struct pj_build_id *recorder_file(const struct recorder *recorder, const struct file_id *file_id)
{
	struct pj_build_id wanted = { .file_id = *file_id };

	return recorder->nfiles ?
		       bsearch(&wanted, recorder->file, recorder->nfiles, sizeof(*recorder->file), file_cmp) :
		       NULL;
}

bool recorder_walked(const struct recorder *recorder, uint64_t event)
{
	return recorder->unwound && (!recorder->walked || (event < recorder->nwalked && recorder->walked[event]));
}

void recorder_free(struct recorder *recorder)
{
	interpreted_free(&recorder->interpreted);
	windowcode_free(recorder->code);
	symbolized_free(recorder->symbolized);
	free(recorder->file);
	free(recorder->process);
	free(recorder->idle);
	free(recorder->walked);
	*recorder = (struct recorder){ 0 };
}
