/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addrspace.h - which code was at an address of a thread at a moment: threads, their names, their mappings.
 *
 * Fed with the records of a recording in order of time. Forks share the maps of a process until one of them changes
 * (maps.h); of threads that ended nothing is left when none of their samples can come any more. Nothing is opened,
 * no name of a function is known here: an address becomes (DSO, what the source of its names
 * wants to be asked for).
 */
#ifndef PJ_ADDRSPACE_H
#define PJ_ADDRSPACE_H

#include "common/formats/fileid.h"
#include "fold/symbols/symstore.h"
#include "common/intern.h"
#include "fold/process/maps.h"
#include "fold/perfdata/perfdata.h"

/* Where names of a DSO come from. */
enum dso_kind {
	DSO_NOWHERE, /* no mapping; the DSO 0 */
	DSO_FILE,    /* address: offset in the file */
	DSO_DATA,    /* [heap], //anon and the like: nothing can be known. address: as sampled */
	DSO_JIT,     /* /tmp/perf-PID.map. address: as sampled */
	DSO_VDSO,    /* address: offset */
	DSO_KERNEL,  /* core, or a module by its name. address: as sampled */
	DSO_SYMBOL,  /* a BPF program or the like: its own name */
	DSO_CODE,    /* of a jitdump: address is a struct jitdump_code */
	DSO_METHOD,  /* of a JVM, run by its interpreter: address is that of HotSpot's Method */
	DSO_THREAD,  /* no code: address is the comm of a thread, a frame of --root=both */
	DSO_CUT,     /* no code, and no frame: the stack goes on, but the recorder kept no more. address: CUT_COPY,
		      * CUT_BY_EVENT, or how     many addresses it kept, which is the limit where others have no more */
};

#define CUT_COPY 0                   /* of the stack's bytes */
#define CUT_BY_EVENT UINT64_MAX      /* than the event was to have */
#define CUT_MARKED (UINT64_MAX - 1)  /* of the stack's bytes, says the recorder, who walked it: a frame [truncated] */
#define CUT_NOWHERE (UINT64_MAX - 2) /* it did not: the recorder says that the stack is whole */

struct dso {
	enum dso_kind kind;
	struct str path; /* as perf prints it */
	struct build_id build_id;
	struct file_id file_id;  /* of the mapped file; 0 if it is unknown */
	uint32_t pid;            /* that mapped it last */
	uint64_t mapped_ns;      /* when; 0: before the recording, or not told */
	struct jitdump *jitdump; /* of DSO_JIT: asked before the map; not ours */
	uint32_t code;           /* the DSO_CODE beside it; 0: not needed yet */
};

/* Maps that are shared; serial is another one whenever the contents are. */
struct addrspace_maps {
	uint32_t refs, serial;
	struct maps maps;
};

/* What threads of a process share. */
struct addrspace_space {
	uint32_t refs;
	struct addrspace_maps *maps;
};

struct addrspace_thread {
	uint32_t pid, tid;
	uint32_t comm; /* in comms; 0: no record told it */
	bool used;
	uint64_t ended; /* serial of its end, 0: it lives */
	struct addrspace_space *space;
};

/* A thread that ended, in the order of the ends. */
struct addrspace_end {
	uint32_t tid;
	uint64_t ended, time;
};

struct addrspace {
	bool as_perf;
	const struct symstore *symstore; /* of pjrecord, which knows builds by numbers of files; or NULL */
	struct intern comms;
	struct intern keys; /* of DSOs: what makes two mappings the same file */
	struct dso *dso;    /* by key */
	size_t dso_cap;
	struct arena text;
	struct addrspace_maps *kernel;
	uint32_t kernel_core; /* DSO of [kernel.kallsyms], 0: none was mapped */
	uint64_t kernel_text; /* address of _text or _stext (kernel_symbol) in the recorded kernel, 0: not told */
	struct str kernel_symbol;
	uint32_t serial;
	struct addrspace_thread **slot; /* open addressing by tid */
	uint32_t nthreads, mask;
	struct addrspace_end *end; /* a ring of those that are remembered */
	uint64_t ends, ends_forgotten;
	size_t ends_cap;
	char key[8192]; /* scratch */
};

void addrspace_init(struct addrspace *addrspace, bool as_perf);

/* MMAP, COMM, FORK, EXIT and KSYMBOL change what is where; other records do nothing. */
void addrspace_record(struct addrspace *addrspace, const struct perfdata_record *record);

/* The thread, new if need be. Valid until the next record. */
struct addrspace_thread *addrspace_thread(struct addrspace *addrspace, uint32_t pid, uint32_t tid);

/* The name of a thread now, as an id in comms. One without a name is ":TID". */
uint32_t addrspace_comm(struct addrspace *addrspace, struct addrspace_thread *thread);

/* Build-ids that the file's feature tells for what has none from its mapping. */
void addrspace_build_ids(struct addrspace *addrspace, const struct perfdata_build_id *id, size_t n);

struct addrspace_place {
	uint32_t dso; /* index in dso[] */
	uint64_t address;
};

struct addrspace_place addrspace_find(const struct addrspace *addrspace, const struct addrspace_thread *thread,
				      enum perfdata_mode mode, uint64_t ip);

/* What an answer of addrspace_find depends on beside ip: equal numbers, equal answers. */
static inline uint32_t addrspace_serial(const struct addrspace *addrspace, const struct addrspace_thread *thread,
					enum perfdata_mode mode)
{
	return mode == MODE_KERNEL ? addrspace->kernel->serial : mode == MODE_USER ? thread->space->maps->serial : 0;
}

/* The DSO of code that process pid makes at run time; new if need be. */
uint32_t addrspace_jit(struct addrspace *addrspace, uint32_t pid);

/* The DSO_CODE beside a DSO_JIT; new if need be. */
uint32_t addrspace_code(struct addrspace *addrspace, uint32_t jit);

/* Methods that a JVM interprets. */
uint32_t addrspace_methods(struct addrspace *addrspace, uint32_t pid);

/* A DSO of a kind that is mapped nowhere. */
uint32_t addrspace_special(struct addrspace *addrspace, enum dso_kind kind, struct str name);

void addrspace_free(struct addrspace *addrspace);

#endif
