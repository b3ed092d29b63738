/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addrspace.h - threads, their names and their mappings, as the records of a recording change them.
 *
 * The caller feeds the records in order of time. A forked process shares the mappings of its parent until parent or
 * child changes its own (maps.h). The entry of an ended thread is deleted when no more samples of the thread can come.
 * This module opens no file and contains no function names: it translates an instruction pointer to a DSO and an
 * address in that DSO, in the form that the DSO's source of names needs.
 */
#ifndef PJ_ADDRSPACE_H
#define PJ_ADDRSPACE_H

#include "common/formats/fileid.h"
#include "fold/symbols/symstore.h"
#include "common/intern.h"
#include "fold/process/location.h"
#include "fold/process/maps.h"
#include "fold/perfdata/perfdata.h"

/* Kind of a DSO: it selects the source of function names, and the meaning of struct location's address. */
enum dso_kind {
	/* DSO 0: addresses that no mapping contains. */
	DSO_NOWHERE,
	/* An ELF file. Its addresses are file offsets. */
	DSO_FILE,
	/* [heap], //anon and other memory without a source of names. Its addresses are sampled addresses. */
	DSO_DATA,
	/* JIT code of a process, with names from /tmp/perf-PID.map, a jitdump or a timeline. Its addresses are sampled
	 * addresses. */
	DSO_JIT,
	/* The vDSO. Its addresses are offsets in the vDSO's image. */
	DSO_VDSO,
	/* The kernel's core or a kernel module. Its addresses are sampled addresses. */
	DSO_KERNEL,
	/* A BPF program, trampoline or other kernel code that a KSYMBOL record names. All its addresses belong to one
	 * function. */
	DSO_SYMBOL,
};

struct dso {
	enum dso_kind kind;
	/* Path or pseudo-path like [vdso] or [kernel.kallsyms], as perf prints it. */
	struct str path;
	/* Build-id of the file or kernel; build_id.n is 0 if it is unknown. */
	struct build_id build_id;
	/* File id of the mapped file; its inode is 0 if it is unknown. */
	struct file_id file_id;
	/* pid: process that mapped the DSO last. mapped_ns: time of its MMAP record in ns on the recording's clock; 0
	 * if the record has no time. */
	uint32_t pid;
	uint64_t mapped_ns;
	/* True for an ELF file that contains the V8 engine, by its path (walk_is_v8). */
	bool v8;
	/* The jitdump of a DSO_JIT, which is preferred to the perf map; NULL: none. struct locationcache owns it. */
	struct jitdump *jitdump;
	/* True if the jitdump has the clock of the samples, so that code is looked up by time. False: the newest code
	 * at an address is used. */
	bool jit_clock;
};

/* Mappings that `refs` address spaces share. `serial` identifies their current contents: each change gives them another
 * number. */
struct addrspace_maps {
	uint32_t refs, serial;
	/* True if an MMAP record mapped libjvm.so: the process is a JVM. */
	bool jvm;
	struct maps maps;
};

/* The address space of a process, shared by its `refs` threads. */
struct addrspace_space {
	uint32_t refs;
	struct addrspace_maps *maps;
};

/* Entry of a thread; or of a tid that no record or sample has used yet. */
struct addrspace_thread {
	uint32_t pid, tid;
	/* Id of the thread's name in addrspace.comms; 0 if no record has named the thread. */
	uint32_t comm;
	/* True after the first record or sample of the thread; false in a new or reset entry. */
	bool used;
	/* Mark of the caller, not used by addrspace: true if the caller has counted the thread's process. False in a
	 * new or reset entry. */
	bool counted;
	/* Sequence number of the thread's EXIT record, from 1; 0 while the thread lives; WAITS if the thread is a
	 * leader that ended before other threads of its process. */
	uint64_t ended;
	struct addrspace_space *space;
};

/* An ended thread. ended: sequence number of its EXIT record. time: time of that record in ns on the recording's
 * clock. */
struct addrspace_end {
	uint32_t tid;
	uint64_t ended, time;
};

/* The state of all threads at the time of the last record. */
struct addrspace {
	/* True: treat records as perf script does (addrspace_init). */
	bool as_perf;
	/* pjrecord's symbol store, which has build-ids by file id, or NULL. */
	const struct symstore *symstore;
	/* Names of threads. */
	struct intern comms;
	/* Keys of DSOs (kind, file identity, path): mappings with equal keys have one DSO. The id of a key is the index
	 * of its DSO in `dso`. */
	struct intern keys;
	struct dso *dso;
	size_t dso_cap;
	/* Paths of DSOs. */
	struct arena text;
	/* Mappings of the kernel, its modules and its generated code. */
	struct addrspace_maps *kernel;
	/* Index of the DSO [kernel.kallsyms], to which all kernel code without a mapping belongs. With as_perf it is 0
	 * if no record maps the kernel. */
	uint32_t kernel_core;
	bool kernel_mapped; /* true if a record has mapped [kernel.kallsyms] */
	/* Address of the symbol kernel_symbol (_text or _stext) in the recorded kernel; 0 if it is unknown. */
	uint64_t kernel_text;
	struct str kernel_symbol;
	/* Last serial number that was given to mappings. */
	uint32_t serial;
	/* Hash table of threads by tid: mask + 1 slots with nthreads threads; NULL is a free slot. */
	struct addrspace_thread **slot;
	uint32_t nthreads, mask;
	/* Ring of ended threads in the order of their EXIT records. `ends` is the number of all ended threads; the
	 * entries of the first ends_forgotten of them are deleted. ends_cap: capacity of the ring. */
	struct addrspace_end *end;
	uint64_t ends, ends_forgotten;
	size_t ends_cap;
	/* Buffer in which the key of a DSO is composed. */
	char key[8192];
};

/* Initializes *addrspace. With as_perf, records are treated as perf script does: mappings survive an exec, memfds of
 * JITs are files, and kernel code is unknown if no record maps the kernel. */
void addrspace_init(struct addrspace *addrspace, bool as_perf);

/* Applies a record to the state: MMAP, COMM, FORK, EXIT and KSYMBOL; records of other kinds change nothing. */
void addrspace_record(struct addrspace *addrspace, const struct perfdata_record *record);

/* Returns the entry of a thread. Creates an entry if there is none. If the entry of this tid has another pid, the EXIT
 * record of an earlier thread was lost: the entry is then reset for the new thread. The result is valid until the next
 * record. */
struct addrspace_thread *addrspace_thread(struct addrspace *addrspace, uint32_t pid, uint32_t tid);

/* Returns the id in comms of the current name of a thread. The name is ":TID" if no record has named the thread, and
 * "swapper" for tid 0. */
uint32_t addrspace_comm(struct addrspace *addrspace, struct addrspace_thread *thread);

/* Sets the build-id of each DSO that has none to the build-id that the recording lists for the path of the DSO. This
 * applies only to files, the vDSO, the kernel and its modules, but in recordings of pjrecord not to files with a known
 * file id. id[0..n): the recording's list of build-ids. */
void addrspace_build_ids(struct addrspace *addrspace, const struct perfdata_build_id *id, size_t n);

/* Returns the location (LOCATION_IN_DSO) of ip in the mappings of the kernel or of the thread, as `mode` selects. If no
 * mapping contains ip, the DSO is kernel_core for kernel code, otherwise 0. */
struct location addrspace_find(const struct addrspace *addrspace, const struct addrspace_thread *thread,
			       enum perfdata_mode mode, uint64_t ip);

/* Returns true if ip may be a return address in user code: in an executable mapping, or outside of all recorded
 * mappings but in the range of user addresses. Returns false for all other addresses. */
bool addrspace_may_be_code(const struct addrspace_thread *thread, uint64_t ip);

/* Returns the serial number of the mappings of this thread and mode: as long as the number does not change,
 * addrspace_find returns the same location for an ip. Returns 0 for modes other than kernel and user, which have no
 * mappings. */
static inline uint32_t addrspace_serial(const struct addrspace *addrspace, const struct addrspace_thread *thread,
					enum perfdata_mode mode)
{
	return mode == MODE_KERNEL ? addrspace->kernel->serial : mode == MODE_USER ? thread->space->maps->serial : 0;
}

/* Returns the index of the DSO_JIT of process pid. Creates the DSO at the first call. */
uint32_t addrspace_jit(struct addrspace *addrspace, uint32_t pid);

/* Returns the index of a DSO without file, like [vdso] or a kernel module, by kind and name. Creates the DSO at the
 * first call. */
uint32_t addrspace_special(struct addrspace *addrspace, enum dso_kind kind, struct str name);

/* Frees the memory of *addrspace. */
void addrspace_free(struct addrspace *addrspace);

#endif
