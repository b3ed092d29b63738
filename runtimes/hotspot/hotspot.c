/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/hotspot.h"

#include "common/diag.h"
#include "common/process/taskwait.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#define FLAGS_MAX 8192
#define YOUNG_NS UINT64_C(1000000000)
#define EXPECTED_MAX (256u << 10)

static struct hotspot_reason hotspot_fine(void)
{
	return (struct hotspot_reason){ 0 };
}

static PRINTF(2, 3) struct hotspot_reason hotspot_set_reason(const char *code, const char *fmt, ...)
{
	struct hotspot_reason reason = { .code = code };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason.why, sizeof(reason.why), fmt, ap);
	va_end(ap);
	return reason;
}

/* ---- properties of the JVM --------------------------------------------------------------------------------------- */

/* Copies the C string to which type::field, a static char * of the JVM, points, to the buffer `to` of cap bytes.
 * Replaces control bytes by '?', and cuts off a longer string. `to` becomes empty if the pointer is 0 or not readable.
 * The text remains untrusted: code that prints it makes it visible (visible.h). */
static void hotspot_read_text(struct hotspot *hotspot, const char *type, const char *field, char *to, size_t cap)
{
	struct vm_field f = vmstructs_field(&hotspot->tables, type, field);
	uint64_t p;

	to[0] = 0;
	if (!f.known || !f.is_static || !memory_pointer(&hotspot->memory, f.at, &p) || p == 0)
		return;
	if (!memory_string(&hotspot->memory, p, to, cap))
		/* The string is too long, or its end is not readable: the bytes that were copied are used. */
		to[cap - 1] = 0;
	for (char *c = to; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
}

/* Calls f with name and value of each JVM flag whose name starts with Use, Preserve or DisableAttach. The value is
 * the lowest bit of the flag's first byte. */
static void each_flag(struct hotspot *hotspot, void (*f)(struct hotspot *h, struct str name, bool value))
{
	/* JDKs before 10 call the type "Flag". */
	const char *type = vmstructs_size(&hotspot->tables, "JVMFlag") ? "JVMFlag" : "Flag";
	uint64_t size = vmstructs_size(&hotspot->tables, type), at, n;
	struct vm_field flags = vmstructs_field(&hotspot->tables, type, "flags"),
			count = vmstructs_field(&hotspot->tables, type, "numFlags");
	struct vm_field name = vmstructs_field(&hotspot->tables, type, "_name"),
			address = vmstructs_field(&hotspot->tables, type, "_addr");

	if (size == 0 || size > 256 || !flags.known || !count.known || !name.known || !address.known ||
	    !memory_pointer(&hotspot->memory, flags.at, &at) || !memory_u64(&hotspot->memory, count.at, 8, &n))
		return;
	for (uint64_t i = 0; i < n && i < FLAGS_MAX; i++, at += size) {
		char text[64];
		uint64_t p, where, value;

		if (!memory_pointer(&hotspot->memory, at + name.at, &p) || p == 0)
			/* The last entry of the table has no name. */
			return;
		if (!memory_string(&hotspot->memory, p, text, sizeof(text)) ||
		    (strncmp(text, "Use", 3) != 0 && strncmp(text, "Preserve", 8) != 0 &&
		     strncmp(text, "DisableAttach", 13) != 0))
			continue;
		if (memory_pointer(&hotspot->memory, at + address.at, &where) &&
		    memory_u64(&hotspot->memory, where, 1, &value))
			f(hotspot, str_of(text), value & 1);
	}
}

static void take_flag(struct hotspot *hotspot, struct str name, bool value)
{
	static const struct {
		struct str flag;
		const char *collector;
	} known[] = {
		{ STR("UseG1GC"), "G1" },
		{ STR("UseZGC"), "Z" },
		{ STR("UseParallelGC"), "Parallel" },
		{ STR("UseSerialGC"), "Serial" },
		{ STR("UseShenandoahGC"), "Shenandoah" },
		{ STR("UseEpsilonGC"), "Epsilon" },
		{ STR("UseConcMarkSweepGC"), "CMS" },
	};

	if (str_eq(name, STR("PreserveFramePointer")))
		hotspot->frame_pointers = value;
	if (str_eq(name, STR("DisableAttachMechanism")))
		hotspot->refuses_attach = value;
	for (size_t i = 0; i < countof(known) && value; i++)
		if (str_eq(name, known[i].flag))
			hotspot->collector = known[i].collector;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* Reads tables, properties and layout of a JVM whose memory is open. libjvm.so is mapped at base; age_ns is the age
 * of the process in ns. */
static struct hotspot_reason hotspot_read_vm_layout(struct hotspot *hotspot, uint64_t base, uint64_t age_ns)
{
	const char *why;

	hotspot->memory.probe = base;
	why = loadedfile_open(&hotspot->libjvm, &hotspot->memory, base);
	if (why)
		return hotspot_set_reason("no-vmstructs", "%s", why);
	why = vmstructs_read(&hotspot->tables, &hotspot->libjvm);
	if (hotspot->memory.budget && hotspot->memory.budget->over)
		return hotspot_set_reason("over-budget", "its tables exceed the limit for one JVM");
	if (why)
		/* In a young process the tables may be unreadable, because the dynamic loader still relocates them. */
		return age_ns < YOUNG_NS ? hotspot_set_reason("starting", "%s yet", why) :
					   hotspot_set_reason("no-vmstructs", "%s", why);
	hotspot_read_text(hotspot, "Abstract_VM_Version", "_s_vm_release", hotspot->version, sizeof(hotspot->version));
	hotspot_read_text(hotspot, "Arguments", "_java_command", hotspot->command, sizeof(hotspot->command));
	each_flag(hotspot, take_flag);
	why = vmlayout_make(&hotspot->layout, &hotspot->tables);
	if (hotspot->memory.budget && hotspot->memory.budget->over)
		return hotspot_set_reason("over-budget", "its metadata exceeds the limit for one JVM");
	if (why)
		return hotspot_set_reason("unsupported", "its libjvm.so does not export %s", why);
	return hotspot_fine();
}

struct hotspot_reason hotspot_refusal(enum taskid_answer answer)
{
	switch (answer) {
	case TASKID_SAME: return hotspot_fine();
	case TASKID_PRIVATE:
		return hotspot_set_reason(
			HOTSPOT_NOT_DUMPABLE,
			"its own user may not read its memory, as with file capabilities or after a change of user");
	case TASKID_DENIED:
		if (errno == EACCES || errno == EPERM)
			return hotspot_set_reason("no-permission",
						  "its memory may not be read: run as root, or with CAP_SYS_PTRACE");
		return hotspot_set_reason("gone", "%s", strerror(taskwait_is_unanswered(errno) ? ETIMEDOUT : errno));
	case TASKID_GONE: break;
	}
	return hotspot_set_reason("gone", "it ended, or runs another program");
}

struct hotspot_reason hotspot_may_show(int process, const struct taskid *id, struct taskid_user *user)
{
	return hotspot_refusal(taskwait_check(process, id, user));
}

struct hotspot_reason hotspot_check_kind(const struct jvm_process *process)
{
	if (process->kind == JVM_OPENJ9)
		return hotspot_set_reason(
			"openj9",
			"OpenJ9 does not export its layout: start it with -XX:+PerfTool to write /tmp/perf-%d.map",
			(int)process->inner);
	if (process->kind == JVM_ZING)
		return hotspot_set_reason("zing", "Zing does not export its layout");
	if (process->kind == JVM_UNKNOWN)
		return hotspot_set_reason("no-permission",
					  "its mappings may not be read: run as root, or with CAP_SYS_PTRACE");
	if (process->kind == JVM_STALLED)
		return hotspot_set_reason("stalled",
					  "its files in /proc do not respond: it holds the lock of its own memory");
	if (process->kind != JVM_HOTSPOT)
		return hotspot_set_reason("no-jvm", "it has no libjvm.so mapped");
	return hotspot_fine();
}

struct hotspot_reason hotspot_open_memory(struct hotspot *hotspot, const struct jvm_process *process)
{
	struct hotspot_reason reason = hotspot_check_kind(process);

	*hotspot = (struct hotspot){ .memory = { .fd = -1 }, .frame_pointers = -1 };
	return reason.code ? reason : hotspot_refusal(memory_open(&hotspot->memory, process->folder, &process->id));
}

struct hotspot_reason hotspot_open_descriptor(struct hotspot *hotspot, const struct jvm_process *process, int mem)
{
	struct hotspot_reason reason = hotspot_check_kind(process);

	*hotspot = (struct hotspot){ .memory = { .fd = reason.code ? -1 : mem }, .frame_pointers = -1 };
	return reason;
}

struct hotspot_reason hotspot_read_layout(struct hotspot *hotspot, const struct jvm_process *process)
{
	return hotspot_read_vm_layout(hotspot, process->library.base, jvm_process_age_ns(process));
}

struct hotspot_reason hotspot_open(struct hotspot *hotspot, const struct jvm_process *process)
{
	struct hotspot_reason reason = hotspot_open_memory(hotspot, process);

	return reason.code ? reason : hotspot_read_layout(hotspot, process);
}

struct hotspot_reason hotspot_open_image(struct hotspot *hotspot, const struct memory_part *blob, size_t n,
					 uint64_t base)
{
	*hotspot = (struct hotspot){ .frame_pointers = -1 };
	memory_image(&hotspot->memory, blob, n);
	return hotspot_read_vm_layout(hotspot, base, UINT64_MAX);
}

void hotspot_close(struct hotspot *hotspot)
{
	codecache_free(&hotspot->code);
	methods_free(&hotspot->methods);
	text_free(&hotspot->raw);
	vmstructs_free(&hotspot->tables);
	memory_close(&hotspot->memory);
}

void hotspot_rest(struct hotspot *hotspot)
{
	codecache_free(&hotspot->code);
	methods_free(&hotspot->methods);
	text_free(&hotspot->raw);
	memory_rest(&hotspot->memory);
}

/* ---- scanning ---------------------------------------------------------------------------------------------------- */

struct hotspot_reason hotspot_scan(struct hotspot *hotspot)
{
	const char *why;

	memory_forget(&hotspot->memory);
	methods_free(&hotspot->methods);
	why = codecache_scan(&hotspot->code, &hotspot->memory, &hotspot->layout);
	if (!why)
		return hotspot_fine();
	if (why == codecache_over)
		return hotspot_set_reason("over-budget", "%s", why);
	if (strcmp(why, codecache_gone) == 0)
		return hotspot_set_reason("gone", "%s", why);
	return hotspot_set_reason(strcmp(why, codecache_early) == 0 ? "starting" : "unreadable", "%s", why);
}

void hotspot_expect(struct hotspot *hotspot, const uint64_t *method, size_t n, bool signatures)
{
	if (n > EXPECTED_MAX)
		/* hotspot_name reads the names of the other methods one by one. */
		n = EXPECTED_MAX;
	methods_gather(&hotspot->methods, &hotspot->memory, &hotspot->layout, method, n, signatures);
}

static bool name_compiled(struct hotspot *hotspot, uint64_t method, enum method_style style, struct text *text)
{
	const struct method_name *expected = methods_find(&hotspot->methods, method);
	struct method_name name;
	bool known;

	if (expected) {
		if (expected->class_name.n)
			methods_spell(text, expected, style);
		return expected->class_name.n > 0;
	}
	hotspot->raw.n = 0;
	known = methods_read(&hotspot->memory, &hotspot->layout, method, &hotspot->raw, &name);
	if (known)
		methods_spell(text, &name, style);
	return known;
}

bool hotspot_name(struct hotspot *hotspot, const struct blob *blob, enum method_style style, struct text *t)
{
	size_t before = t->n;
	char text[256];

	if (blob->compiled ? name_compiled(hotspot, blob->method, style, t) :
			     memory_string(&hotspot->memory, blob->name, text, sizeof(text)) && text[0]) {
		if (!blob->compiled)
			text_add(t, text);
		return true;
	}
	t->n = before;
	return false;
}

bool hotspot_class(struct hotspot *hotspot, uint64_t klass, struct text *text)
{
	hotspot->raw.n = 0;
	return methods_read_class(&hotspot->memory, &hotspot->layout, klass, &hotspot->raw) &&
	       methods_spell_class(text, text_view(&hotspot->raw));
}
