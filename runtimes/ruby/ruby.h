/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ruby.h - reads the frames of threads, and their names, from a running Ruby (CRuby) without its help.
 *
 * The library may be stripped. The root of each thread is the thread-local variable ruby_current_ec: its address is
 * found by its value, as that of the main thread is known. Versions since 3.1 are read: with the row of the version in
 * the table of layouts, otherwise with the only row that is proven. Before 3.1, Ruby publishes a frame before it is
 * filled, so that a sample may see the frame that was there before.
 *
 * Frames (control frames) are an array in the VM stack of an execution context (a thread or a fiber has one), the
 * innermost first. Each has a pointer to its environment (ep), whose three words before it and at it have the method
 * entry, the parent, and the flags. The environment is in the VM stack, too, or on the heap if a Proc captured it.
 *
 * ruby_open proves the layout on the memory of the process. Everything that is read is hostile: each pointer and size
 * is checked, and each loop is limited by memory.budget or by a constant.
 */
#ifndef PJ_RUBY_H
#define PJ_RUBY_H

#include "runtimes/memory/loadedfile.h"
#include "runtimes/threadcopy.h"

#define RUBY_FRAMES_MAX 4096u
#define RUBY_THREADS_MAX 16384u
#define RUBY_RANGES_MAX 4u
#define RUBY_NAME_MAX 512u
#define RUBY_NO_FIELD UINT32_MAX

/* Offsets in bytes. */
struct ruby_layout {
	uint32_t version; /* of the row: 100 * major + minor */
	struct {
		/* nt: pointer to the structure that has the pthread_t (RUBY_NO_FIELD: the thread itself) */
		uint32_t vm, ec, nt, pthread;
	} thread;
	uint32_t machine;     /* of an execution context: start and size of its native stack */
	uint32_t frame_bytes; /* size of a control frame */
	struct {
		uint32_t lines, nlines, lines_index, local, line_entry;
		/* code that contains this code, whose label eval has; RUBY_NO_FIELD: code of eval has that label */
		uint32_t parent;
	} body;
	uint32_t string_embedded; /* offset of the bytes of a short String; 16: its length is in the flags */
	/* Offset of the String with the class path in a class; RUBY_NO_FIELD: it is a variable of the class. */
	uint32_t class_path, attached;
	uint64_t singleton;     /* flag of singleton classes */
	uint32_t last_operator; /* largest id of an operator: such an id is its own serial number */
};

struct ruby_range {
	uint64_t start, end;
};

struct ruby {
	struct memory *memory; /* of the caller */
	struct loadedfile file;
	struct ruby_layout layout;
	/* The layout is that of another version: no frame proves its fields of classes, lines and parents of eval, so
	 * ruby_code has no class and no line, and none of eval has a name. */
	bool foreign;
	uint64_t vm;      /* address of the rb_vm_t */
	uint64_t thread;  /* address of the rb_thread_t of one thread that lives as long as the process */
	uint64_t symbols; /* address of the Array with the names of ids */
	uint32_t module;  /* TLS module of the library, and offset of ruby_current_ec in its block */
	uint32_t variable;
	uint64_t path_id, attached_id; /* ids of the variables of a class with its path, and of its object */
	/* Code of the function that runs segments of frames, and of functions that it alone calls for that. */
	struct ruby_range eval[RUBY_RANGES_MAX], inner[RUBY_RANGES_MAX];
	uint32_t neval, ninner;
	char why[160]; /* result of ruby_open in one sentence about the process, if it is not RUBY_OPEN */
};

/* A mapped file that may be Ruby. */
struct ruby_candidate {
	uint64_t base; /* address at which its first byte is mapped */
	struct str path;
};

/* Returns true if a file of this path may be Ruby: a library like libruby-3.1.so.3.1.2 or a program like ruby3.1; the
 * path may end with " (deleted)". The path is hostile: ruby_open decides. Pure. */
bool ruby_is_library(struct str path);

enum ruby_answer {
	RUBY_OPEN,
	RUBY_OTHER_FILE, /* the file is not Ruby, or it only loads the library */
	RUBY_EARLY,      /* no thread runs a method yet: the caller may try again */
	RUBY_REFUSED     /* the version is not supported, or contradicts the memory; or it is not readable */
};

/* Opens the Ruby of a process. memory must exist as long as *ruby. */
enum ruby_answer ruby_open(struct ruby *ruby, struct memory *memory, const struct ruby_candidate *candidate);

struct ruby_thread {
	uint32_t tid;  /* thread id in the innermost PID namespace of the process */
	uint64_t root; /* address of its ruby_current_ec */
};

/* Fills thread[0..cap) with the threads of the main Ractor, and returns their number. Threads that are just starting or
 * ending are left out, and those of other Ractors. */
size_t ruby_threads(struct ruby *ruby, struct ruby_thread *thread, size_t cap);

/* Sets *plan to the plan of this version. Pure. */
void ruby_plan(const struct ruby_layout *layout, struct threadplan *plan);

enum ruby_kind { RUBY_METHOD, RUBY_CFUNCTION };

struct ruby_frame {
	uint64_t frame;
	uint64_t code;  /* address of the iseq; of the method entry of a C function */
	uint64_t scope; /* method entry, or class reference; if odd: address + 1 of the environment to find it from */
	uint64_t pc;    /* address of the next instruction; 0: a C function */
	bool entry;     /* native code entered the frame: an activation of the eval function ends with it */
	bool innermost;
	uint8_t kind; /* enum ruby_kind */
};

enum ruby_end {
	RUBY_COMPLETE,
	RUBY_NO_FRAME,  /* the thread has no execution context, or an empty one */
	RUBY_TRUNCATED, /* the copy or a maximum ends first: the frames are the innermost ones */
	RUBY_IMPOSSIBLE /* the caller drops all frames */
};

struct ruby_stack {
	/* The native stack of the execution context on which its frames run: [low, high]. 0, 0: unknown */
	uint64_t low, high;
	uint64_t tag; /* address of a variable on it (struct rb_vm_tag); 0: there is none */
	uint32_t n;
	struct ruby_frame frame[RUBY_FRAMES_MAX]; /* the innermost first */
};

/* Finds the frames in a copy. Pure. */
enum ruby_end ruby_frames(const struct ruby_layout *layout, const struct threadcopy *copy, struct ruby_stack *stack);

struct ruby_code {
	/* `Class#method`, `Class.method`, `block in Class#method`, `<main>`: as backtraces of Ruby 3.4 have it.
	 * NUL-terminated UTF-8; a NUL and bytes that are no UTF-8 become U+FFFD. A longer name ends with "...". */
	char name[RUBY_NAME_MAX];
	char file[RUBY_NAME_MAX]; /* real path, or the path; of a C function "" */
	uint64_t address;         /* of the instruction; of the method entry of a C function */
	/* 0: unknown, as of the innermost frame: an instruction that calls nothing is counted before or after it runs.
	 */
	uint32_t line;
	bool first; /* the frame has not run an instruction yet */
};

/* Reads name, file and line of a frame from live memory. Returns false if the memory is no such frame's, or is not
 * readable. */
bool ruby_code(struct ruby *ruby, const struct ruby_frame *frame, struct ruby_code *code);

#endif
