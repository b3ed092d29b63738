/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addrspace.h - threads, their names and their mappings, as the records of a recording change them.
 *
 * The caller feeds the records in order of time. A forked process shares the mappings of its parent until one of the
 * two changes (maps.h); an ended thread is dropped when no more samples of it can come. This module opens no file and
 * knows no function: it translates an instruction pointer to a DSO and an address in it, in the form that the DSO's
 * source of names needs.
 */
#ifndef PJ_ADDRSPACE_H
#define PJ_ADDRSPACE_H

#include "common/formats/fileid.h"
#include "fold/symbols/symstore.h"
#include "common/intern.h"
#include "fold/process/location.h"
#include "fold/process/maps.h"
#include "fold/perfdata/perfdata.h"

/* The source of names of a DSO. It defines the meaning of addresses in it. */
enum dso_kind {
	/* No mapping; the DSO 0. */
	DSO_NOWHERE,
	/* An ELF file. Address: offset in the file. */
	DSO_FILE,
	/* [heap], //anon and the like: no source of names. Address: as sampled. */
	DSO_DATA,
	/* Code made at run time: /tmp/perf-PID.map, a jitdump, a timeline. Address: as sampled. */
	DSO_JIT,
	/* The vDSO. Address: offset in its image. */
	DSO_VDSO,
	/* The kernel's core, or a module. Address: as sampled. */
	DSO_KERNEL,
	/* A BPF program, trampoline or the like (KSYMBOL record): its own name. Address: 0. */
	DSO_SYMBOL,
};

struct dso {
	enum dso_kind kind;
	/* As perf prints it. */
	struct str path;
	/* n is 0 if it is unknown. */
	struct build_id build_id;
	/* Of the mapped file; inode 0 if it is unknown. */
	struct file_id file_id;
	/* The process that mapped it last, and the time in ns: 0 if before the recording, or unknown. */
	uint32_t pid;
	uint64_t mapped_ns;
	/* An ELF file with V8 (walk_is_v8). */
	bool v8;
	/* DSO_JIT: looked up before the perf map; owned by locationcache.h. */
	struct jitdump *jitdump;
};

/* Mappings that processes share. `serial` changes with the contents. */
struct addrspace_maps {
	uint32_t refs, serial;
	/* libjvm.so was mapped: the process is a JVM. */
	bool jvm;
	struct maps maps;
};

/* The address space of a process, shared by its threads. */
struct addrspace_space {
	uint32_t refs;
	struct addrspace_maps *maps;
};

struct addrspace_thread {
	uint32_t pid, tid;
	/* Id in comms; 0 if no record has named the thread. */
	uint32_t comm;
	/* A record or sample of the thread has come. */
	bool used;
	/* Serial number of its end; 0 while it lives. */
	uint64_t ended;
	struct addrspace_space *space;
};

/* An ended thread, in the order of the EXIT records. */
struct addrspace_end {
	uint32_t tid;
	uint64_t ended, time;
};

struct addrspace {
	bool as_perf;
	/* pjrecord's symbol store, which has build-ids by file_id; or NULL. */
	const struct symstore *symstore;
	struct intern comms;
	/* Identities of DSOs: two mappings with equal keys are of one DSO. The key's id is the index in dso. */
	struct intern keys;
	struct dso *dso;
	size_t dso_cap;
	struct arena text;
	struct addrspace_maps *kernel;
	/* DSO of [kernel.kallsyms], which contains all kernel code without a mapping; as_perf: 0 if no record maps it.
	 */
	uint32_t kernel_core;
	bool kernel_mapped; /* a record maps it */
	/* Address of kernel_symbol (_text or _stext) in the recorded kernel; 0 if it is unknown. */
	uint64_t kernel_text;
	struct str kernel_symbol;
	uint32_t serial;
	struct addrspace_thread **slot; /* open addressing by tid */
	uint32_t nthreads, mask;
	/* Ring of ended threads that still have an entry. */
	struct addrspace_end *end;
	uint64_t ends, ends_forgotten;
	size_t ends_cap;
	/* Buffer for a key. */
	char key[8192];
};

/* Prepares *addrspace. as_perf: keep mappings over an exec, and ignore memfds of JITs, as perf script does. */
void addrspace_init(struct addrspace *addrspace, bool as_perf);

/* Applies a record: MMAP, COMM, FORK, EXIT and KSYMBOL change the state, others do nothing. */
void addrspace_record(struct addrspace *addrspace, const struct perfdata_record *record);

/* Returns the thread; a new one if no record has named it. A tid of another process is a new thread: its EXIT record
 * was lost. The result is valid until the next record. */
struct addrspace_thread *addrspace_thread(struct addrspace *addrspace, uint32_t pid, uint32_t tid);

/* Returns the current name of a thread, as an id in comms; ":TID" if no record has named it. */
uint32_t addrspace_comm(struct addrspace *addrspace, struct addrspace_thread *thread);

/* Applies the header's build-id feature to DSOs whose mappings have no build-id. */
void addrspace_build_ids(struct addrspace *addrspace, const struct perfdata_build_id *id, size_t n);

/* Returns the location (LOCATION_IN_DSO) of ip in the mappings of the kernel or of the thread, by mode; DSO 0 if no
 * mapping contains it. */
struct location addrspace_find(const struct addrspace *addrspace, const struct addrspace_thread *thread,
			       enum perfdata_mode mode, uint64_t ip);

/* Returns false if no function returns to ip in user code: the first page, an address above those of user code,
 * or a mapping that is not executable. */
bool addrspace_may_be_code(const struct addrspace_thread *thread, uint64_t ip);

/* Returns a number that changes whenever addrspace_find may answer otherwise for an ip of this thread and mode. */
static inline uint32_t addrspace_serial(const struct addrspace *addrspace, const struct addrspace_thread *thread,
					enum perfdata_mode mode)
{
	return mode == MODE_KERNEL ? addrspace->kernel->serial : mode == MODE_USER ? thread->space->maps->serial : 0;
}

/* Returns the DSO_JIT of process pid; a new one at first. */
uint32_t addrspace_jit(struct addrspace *addrspace, uint32_t pid);

/* Returns the DSO of this kind and name, which no mapping has; a new one at first. */
uint32_t addrspace_special(struct addrspace *addrspace, enum dso_kind kind, struct str name);

/* Frees what *addrspace owns. */
void addrspace_free(struct addrspace *addrspace);

#endif
