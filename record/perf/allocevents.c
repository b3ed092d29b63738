/* SPDX-License-Identifier: Apache-2.0 */
#include "record/perf/allocevents.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/diag.h"
#include "record/probes/libjvms.h"
#include "unwind/dwarf/processor.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/resource.h>
#include <unistd.h>

/* LIBJVMS_MAX: maximum number of files with probes, as each needs two events on each CPU. EACH_MS, ALL_MS: maximum time
 * in ms to read the symbols of one file, and of all. A tenant's files may be on a file system that does not respond, so
 * the first file of each tenant is read before the second file of any tenant (libjvms.h). */
enum { LIBJVMS_MAX = 32, EACH_MS = 5000, ALL_MS = 30000, WARNINGS_MAX = 8 };

/* Functions by which HotSpot reports an allocation, by their mangled names, which contain the types of their arguments:
 * of JDK 17 and later, of JDK 14 to 16, and of JDK 11 to 13. Klass* is the first argument, the size in bytes the third
 * one (allocTracer.hpp, allocTracer.cpp). */
static const struct str in_new_tlab[] = {
	STR("_ZN11AllocTracer27send_allocation_in_new_tlabEP5KlassPP12HeapWordImplmmP10JavaThread"),
	STR("_ZN11AllocTracer27send_allocation_in_new_tlabEP5KlassPP12HeapWordImplmmP6Thread"),
	STR("_ZN11AllocTracer27send_allocation_in_new_tlabEP5KlassP8HeapWordmmP6Thread"),
};
static const struct str outside_tlab[] = {
	STR("_ZN11AllocTracer28send_allocation_outside_tlabEP5KlassPP12HeapWordImplmP10JavaThread"),
	STR("_ZN11AllocTracer28send_allocation_outside_tlabEP5KlassPP12HeapWordImplmP6Thread"),
	STR("_ZN11AllocTracer28send_allocation_outside_tlabEP5KlassP8HeapWordmP6Thread"),
};

/* Exits with a message if the options exclude allocations. */
static void check_allocations(struct str spec, const struct events_options *options)
{
	int n = (int)spec.n;

	if (processor_here() != &processor_x86_64)
		die_usage("-e: '%.*s': allocations are recorded on x86-64 only", n, spec.p);
	if (!uprobes_type())
		events_die_of_probes(spec);
	if (options->inherit)
		die_usage("-e: '%.*s': allocations cannot follow a command: start it before and use -p PID", n, spec.p);
	if (options->cgroups)
		die_usage(
			"-e: '%.*s': allocations of a cgroup are not recorded: use -p with the PIDs of its JVMs, or -a",
			n, spec.p);
	if (!options->registers)
		die_usage("-e: '%.*s': class and bytes need user registers: use --unwind=auto or --unwind=tables", n,
			  spec.p);
	if (options->period)
		die_usage("-e: '%.*s': each new TLAB is a sample, weighted by its bytes: leave -c out", n, spec.p);
}

/* Returns the attribute of the event of a breakpoint in a libjvm.so. */
static struct perf_event_attr allocation_attr(const struct uprobe *uprobe, const struct events_options *options)
{
	const struct event_kind kind = { .type = uprobes_type() };
	struct perf_event_attr attr = events_common_attr(&kind, options);

	attr.config1 = (uintptr_t)uprobe->path;
	attr.config2 = uprobe->offset;
	return attr;
}

/* Tries both breakpoints of a libjvm.so, because its owner can write a file whose breakpoints the kernel refuses.
 * Returns false and appends a sentence to *why if the kernel refuses one of them, or if descriptors or memory are used
 * up. Returns true if only a right is missing, which is no fault of the file: sources_open then fails, and its message
 * has the advice. */
static bool try_allocation_events(const struct uprobe *uprobe, size_t n, const struct events_options *options,
				  struct text *why)
{
	for (size_t i = 0; i < n; i++) {
		struct perf_event_attr attr = allocation_attr(&uprobe[i], options);
		int error = uprobes_try(&attr);

		if (!error || error == EACCES || error == EPERM || error == ENODEV)
			continue;
		if (uprobes_is_beside_file(error))
			text_printf(
				why,
				"no probe can be placed in its libjvm.so (%s): raise the limit of descriptors (ulimit "
				"-n), or of memory, of pjrecord",
				strerror(error));
		else
			text_printf(why,
				    "the kernel refuses a probe in its libjvm.so (error %d): use another build of the "
				    "JDK",
				    error);
		return false;
	}
	return true;
}

/* Adds the event of a breakpoint in a libjvm.so. */
static void add_allocation_event(struct events *events, const struct uprobe *uprobe,
				 const struct events_options *options)
{
	struct perf_event_attr attr = allocation_attr(uprobe, options);

	events->uprobe = mem_grow(events->uprobe, sizeof(*events->uprobe), events->nuprobes + 1);
	events->uprobe[events->nuprobes++] = *uprobe;
	events_add_event(events, &attr, STR("alloc-bytes"));
	events->event[events->n - 1].allocates = true;
}

/* Adds both events for an open libjvm.so. Returns false, adds no event and sets *why to the reason, if the file lacks
 * one of the functions, if the kernel refuses a breakpoint, or if the file cannot be read by time `end`
 * (clock_now_ms). */
static bool add_libjvm(struct events *events, int file, uint64_t end, const struct events_options *options,
		       struct text *why)
{
	const struct uprobe_function function[] = { { in_new_tlab, countof(in_new_tlab) },
						    { outside_tlab, countof(outside_tlab) } };
	struct uprobe_file what = { .name = LIBJVMS_NAME,
				    .function = function,
				    .nfunctions = countof(function),
				    .lacks = STR("its libjvm.so has no symbol of AllocTracer that pjrecord knows "
						 "(stripped, or older than JDK 11): use another build of the JDK"),
				    .ms = EACH_MS,
				    .stop = options->stop };
	uint64_t now = clock_now_ms();
	struct uprobe uprobe[countof(function)];

	why->n = 0;
	if (now >= end) {
		text_printf(why, "other files libjvm.so took more than %d s: give PIDs with -p", ALL_MS / 1000);
		return false;
	}
	if (!uprobes_find_open(uprobe, file, &what, why))
		return false;
	if (!try_allocation_events(uprobe, countof(uprobe), options, why)) {
		for (size_t i = 0; i < countof(uprobe); i++)
			uprobes_free(&uprobe[i]);
		return false;
	}
	for (size_t i = 0; i < countof(function); i++)
		add_allocation_event(events, &uprobe[i], options);
	return true;
}

/* Finds the files libjvm.so of the target processes. Exits with a message if there are none. */
static void find_libjvms(struct libjvms *libjvms, struct str spec, const struct events_options *options)
{
	struct text why = { 0 };
	int n = (int)spec.n;

	if (!libjvms_find(libjvms, options->pid, options->npids, options->stop, &why))
		die("-e: %.*s", (int)why.n, why.p);
	if (!libjvms->n && libjvms->unread)
		die("-e: '%.*s': no process that can be read has a libjvm.so mapped, and %" PRIu32
		    " cannot be read: %s",
		    n, spec.p, libjvms->unread, geteuid() ? "run it as root" : "start the JVM first");
	if (!libjvms->n && libjvms->left_out)
		die("-e: '%.*s': %" PRIu32
		    " processes have a libjvm.so that cannot be opened, is on FUSE, a network or an overlay that this "
		    "host's mount namespace does not show, or several: run it as root, or give the PID of a JVM with -p",
		    n, spec.p, libjvms->left_out);
	if (!libjvms->n && libjvms->skipped)
		die("-e: '%.*s': no process that was examined has a libjvm.so mapped, and %" PRIu32
		    " were not examined for lack of time: %s, or try again",
		    n, spec.p, libjvms->skipped,
		    options->npids ? "start the JVM first" : "give the PIDs of JVMs with -p");
	if (!libjvms->n)
		die("-e: '%.*s': no %s has a libjvm.so mapped: start the JVM first", n, spec.p,
		    options->npids ? "process of -p" : "process");
	if (libjvms->skipped)
		warn("%" PRIu32
		     " processes were not examined, as their user or container, or the host, has too many for the "
		     "time, or ones that do not respond: %s",
		     libjvms->skipped,
		     options->npids ?
			     "the check for processes that would block probes and fork() is incomplete" :
			     "allocations of their JVMs may be missing, and the check for processes that would "
			     "block probes and fork() is incomplete");
	if (libjvms->unread)
		warn("mappings of %" PRIu32 " processes cannot be read: allocations of their JVMs may be missing",
		     libjvms->unread);
	if (libjvms->left_out)
		warn("%" PRIu32
		     " processes have several libjvm.so files, one that cannot be opened, one on FUSE, a network "
		     "or an overlay that this host's mount namespace does not show, or one beyond the limit of %d for "
		     "a tenant: "
		     "their allocations are not recorded",
		     libjvms->left_out, LIBJVMS_TENANT);
}

/* Warns that a file has no probes; prints only the first messages, because anybody can have many such files. */
static void warn_of_libjvm(uint32_t pid, uint32_t failed, const struct text *why)
{
	if (failed <= WARNINGS_MAX)
		warn("process %" PRIu32 ": allocations are not recorded: %.*s", pid, (int)why->n, why->p);
	else if (failed == WARNINGS_MAX + 1)
		warn("allocations of further files libjvm.so are not recorded: give the PID of a JVM with -p");
}

/* Returns the maximum number of files with probes, by the number of descriptors that this process may open: each file
 * needs two, and two more for each CPU; the other events, with their twins, and the files of windows need some, too.
 * Returns at least 1: if descriptors do not suffice for one file, sources_open fails later, with advice. */
static uint32_t most_libjvms(const struct events *events)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t n = cpus > 0 ? (uint64_t)cpus : 1, beside = 256 + n * (2 * events->n + 8), most;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return LIBJVMS_MAX;
	most = limit.rlim_cur > beside ? (limit.rlim_cur - beside) / (2 * n + 2) : 0;
	return most < 1 ? 1 : most < LIBJVMS_MAX ? (uint32_t)most : LIBJVMS_MAX;
}

void allocevents_add(struct events *events, struct str spec, const struct events_options *options)
{
	struct libjvms libjvms;
	struct text why = { 0 };
	uint32_t added = 0, failed = 0, most = most_libjvms(events);
	uint64_t end;

	check_allocations(spec, options);
	find_libjvms(&libjvms, spec, options);
	end = clock_now_ms() + ALL_MS;
	for (uint32_t i = 0; i < libjvms.n && added < most; i++) {
		if (add_libjvm(events, libjvms.file[i].fd, end, options, &why))
			added++;
		else if (*options->stop || (!added && i + 1 == libjvms.n))
			die("-e: '%.*s': process %" PRIu32 ": %.*s", (int)spec.n, spec.p, libjvms.file[i].pid,
			    (int)why.n, why.p);
		else
			warn_of_libjvm(libjvms.file[i].pid, ++failed, &why);
	}
	if (libjvms.n > added + failed)
		warn("%" PRIu32 " files libjvm.so are beyond the limit of %" PRIu32
		     ", by descriptors (ulimit -n) or in all: allocations of their JVMs are not recorded",
		     libjvms.n - added - failed, most);
	libjvms_free(&libjvms);
	text_free(&why);
}
