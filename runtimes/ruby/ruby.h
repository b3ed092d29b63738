/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ruby.h - reads the frames of threads and their names from a running Ruby (CRuby 3.1 and later), without its
 * cooperation.
 *
 * The library may be stripped. The root of a thread is its thread-local variable ruby_current_ec. The offset of this
 * variable is found by its value in one thread, the address of the execution context, which is known. The table of
 * layouts has a row for some versions; for another version since 3.1, ruby_open uses the only row that is proven.
 * Versions before 3.1 are refused: they publish a frame before they fill it, so a sample may contain the previous frame
 * in its place.
 *
 * A thread or Fiber has an execution context with a VM stack. Its frames (control frames) are an array in the VM stack,
 * innermost first. Each frame has a pointer to its environment (ep). The words ep[-2], ep[-1] and ep[0] are method
 * entry, parent and flags. The environment is in the VM stack, too, or on the heap if a Proc captured it.
 *
 * ruby_open proves the layout by the memory of the process. All data that is read is hostile: each pointer and size is
 * checked, and each loop is limited by memory.budget or by a constant.
 */
#ifndef PJ_RUBY_H
#define PJ_RUBY_H

#include "runtimes/memory/loadedfile.h"
#include "runtimes/threadcopy.h"

#define RUBY_FRAMES_MAX 4096u
#define RUBY_THREADS_MAX 16384u
#define RUBY_RANGES_MAX 4u
#define RUBY_NAME_MAX 512u /* maximum size of a name, and of a file name, in bytes with the NUL */
#define RUBY_NO_FIELD UINT32_MAX

/* Offsets in the structures of one version, in bytes. */
struct ruby_layout {
	uint32_t version; /* version of the row: 100 * major + minor */
	struct {
		/* nt: offset of the pointer to the structure with the pthread_t; RUBY_NO_FIELD: the pthread_t is in
		 * the thread itself */
		uint32_t vm, ec, nt, pthread;
	} thread;
	uint32_t machine; /* offset in an execution context of the fields of its native stack (MACHINE_START, _SIZE) */
	uint32_t frame_bytes; /* size of a control frame in bytes */
	struct {
		/* offsets of line table, number of its entries, its index (rubylines.h), and iseq of the method that
		 * contains the code; line_entry: size of an entry of the line table in bytes */
		uint32_t lines, nlines, lines_index, local, line_entry;
		/* offset of the pointer to the parent iseq, from which code of eval takes its label; RUBY_NO_FIELD:
		 * code of eval has the label itself */
		uint32_t parent;
	} body;
	uint32_t string_embedded; /* offset of the bytes of a short String; if it is 16, its length is in the flags */
	/* class_path: offset in a class of the pointer to the String with the class path. attached: offset in a
	 * singleton class of the pointer to the object to which the class belongs. RUBY_NO_FIELD: a variable of the
	 * class has the pointer instead. */
	uint32_t class_path, attached;
	uint64_t singleton;     /* flag of singleton classes */
	uint32_t last_operator; /* largest id of an operator; the id of an operator is its serial number */
	/* true: the file has YJIT, and Ruby is 3.3 or later; found in the file, not in the table of layouts. YJIT's
	 * code leaves some members of the innermost frame unset. */
	bool yjit;
};

struct ruby_range {
	uint64_t start, end;
};

struct ruby {
	struct memory *memory; /* memory of the process; owned by the caller */
	struct loadedfile file;
	struct ruby_layout layout;
	/* true if the layout is the row of another Ruby version than that of the process. Frames cannot prove the
	 * fields of such a row for classes, lines and parents of eval code, so ruby_code reports no class and no line,
	 * and fails for code of eval. */
	bool foreign;
	uint64_t vm;      /* address of the rb_vm_t */
	uint64_t thread;  /* address of the rb_thread_t of a thread that exists as long as the process */
	uint64_t symbols; /* address of the Array with the names of ids */
	/* id of the library's TLS module; `variable`: offset of ruby_current_ec in the module's block */
	uint32_t module;
	uint32_t variable;
	/* ids of two variables of classes: the class path, and the attached object of a singleton class */
	uint64_t path_id, attached_id;
	/* Code ranges of vm_exec (eval), which runs a segment of frames, and of vm_exec_core (inner), which only
	 * vm_exec calls. */
	struct ruby_range eval[RUBY_RANGES_MAX], inner[RUBY_RANGES_MAX];
	uint32_t neval, ninner;
	char why[160]; /* reason of a result other than RUBY_OPEN, as a sentence about the process */
};

/* A mapped file that may be Ruby. */
struct ruby_candidate {
	uint64_t base; /* address at which the first byte of the file is mapped */
	struct str path;
};

/* Returns true if the file at this path may be Ruby: a library such as libruby-3.1.so.3.1.2, or a program such as
 * ruby3.1. The path may end with " (deleted)". The path is hostile, so true is only a guess: ruby_open decides.
 * Pure. */
bool ruby_is_library(struct str path);

enum ruby_answer {
	RUBY_OPEN,
	RUBY_OTHER_FILE, /* the file is not Ruby, only loads the library, or is not readable in memory */
	RUBY_EARLY,      /* no thread runs a method yet; the caller may try again */
	RUBY_REFUSED     /* the version is not supported, or contradicts the memory, or the memory is not readable */
};

/* Opens the Ruby of a process. Returns RUBY_OPEN on success, otherwise the kind of the failure. memory must exist as
 * long as *ruby. */
enum ruby_answer ruby_open(struct ruby *ruby, struct memory *memory, const struct ruby_candidate *candidate);

struct ruby_thread {
	uint32_t tid;  /* thread id in the innermost PID namespace of the process */
	uint64_t root; /* address of the thread's variable ruby_current_ec */
};

/* Fills thread[0..cap) with the threads of the main Ractor and returns their number. Threads that are just starting
 * or ending, and threads of other Ractors, are left out; so are all but one of the threads that share a native
 * thread. */
size_t ruby_threads(struct ruby *ruby, struct ruby_thread *thread, size_t cap);

/* Sets *plan to the plan that copies frames and their environments. Pure. */
void ruby_plan(const struct ruby_layout *layout, struct threadplan *plan);

enum ruby_kind { RUBY_METHOD, RUBY_CFUNCTION };

struct ruby_frame {
	uint64_t frame;
	uint64_t code; /* address of the iseq; for a C function, of the method entry */
	/* address of the method entry or class reference; odd: address + 1 of the environment at which the search
	 * for it must continue; 0: unknown */
	uint64_t scope;
	/* Address of the next instruction; 0 for a C function. In the innermost frame it may be any number if code of
	 * YJIT runs the method (ruby_layout.yjit). */
	uint64_t pc;
	/* true for an entry frame: native code entered it, and an activation of the eval function ends with it */
	bool entry;
	bool innermost;
	uint8_t kind; /* enum ruby_kind */
};

enum ruby_end {
	RUBY_COMPLETE,
	RUBY_NO_FRAME,  /* the thread has no execution context, or one without frames */
	RUBY_TRUNCATED, /* the copy ends early, or a maximum is reached; the frames are the innermost ones */
	RUBY_IMPOSSIBLE /* a pointer or flag is impossible; the caller discards all frames */
};

struct ruby_stack {
	/* Lowest and highest address of the native stack on which the execution context runs its frames; 0, 0 if
	 * unknown. */
	uint64_t low, high;
	uint64_t tag; /* address of a variable on the native stack (struct rb_vm_tag); 0 if there is none */
	uint32_t n;
	struct ruby_frame frame[RUBY_FRAMES_MAX]; /* frames, innermost first */
};

/* Finds the frames in a copy, and returns how they end. Pure. */
enum ruby_end ruby_frames(const struct ruby_layout *layout, const struct threadcopy *copy, struct ruby_stack *stack);

struct ruby_code {
	/* Name as in backtraces of Ruby 3.4: `Class#method`, `Class.method`, `block in Class#method`, `<main>`.
	 * NUL-terminated UTF-8; a NUL and invalid bytes become U+FFFD. A longer name ends with "...". */
	char name[RUBY_NAME_MAX];
	char file[RUBY_NAME_MAX]; /* real path of the file, or else its path; "" for a C function */
	/* address of the instruction that runs; in the innermost frame, where it is unknown, of the first instruction;
	 * for a C function, of the method entry */
	uint64_t address;
	/* Line of the instruction; 0 if unknown. It is unknown in the innermost frame: instructions that call
	 * nothing advance pc before or after they run. */
	uint32_t line;
	bool first; /* true if the frame has not run an instruction yet */
};

/* Reads name, file and line of a frame from live memory. Returns false if the memory is not readable, or not the
 * code of the frame (any more). */
bool ruby_code(struct ruby *ruby, const struct ruby_frame *frame, struct ruby_code *code);

#endif
