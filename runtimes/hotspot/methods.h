/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.h - reads names of Java methods from the memory of a JVM, and formats them.
 *
 * The path is Method -> ConstMethod -> ConstantPool -> Symbols of class, method and signature; each pointer and length
 * is checked (method.hpp, constMethod.hpp, constantPool.hpp, symbol.hpp of the JDK). Names are the bytes of the class
 * file: they may have control bytes and invalid UTF-8, which the writer of output replaces. methods_gather reads
 * thousands of names in sweeps, one for each step of the path, because the lookup of a page is the main cost of a read.
 * Formatting is pure.
 */
#ifndef PJ_METHODS_H
#define PJ_METHODS_H

#include "runtimes/hotspot/vmlayout.h"
#include "common/text.h"

/* Names as in a class file: "java/util/HashMap", "get", "(Ljava/lang/Object;)Ljava/lang/Object;". A hidden class is
 * named Name+0x00007f..., as in HotSpot. */
struct method_name {
	struct str class_name, method, signature;
};

/* Reads the names of one Method* and appends them to text; the strings of *name refer to text and are valid until it
 * changes. Returns false if a pointer or length on the path is invalid; text may have grown then. */
bool methods_read(struct memory *memory, const struct vmlayout *vmlayout, uint64_t method, struct text *text,
		  struct method_name *name);

/* Table of method names, sorted by address of the Method; methods_gather fills it. */
struct methods {
	uint64_t *method;         /* addresses of the methods (Method*), sorted, without duplicates */
	struct method_name *name; /* name of each method[i]; class_name is empty if the name is not readable */
	size_t n;
	/* Bytes of the names: the first bytes of all symbols, and the complete bytes of longer symbols. */
	char *symbols, *longer;
};

/* Replaces the table by the names of n Method*. Without `signatures`, all signatures are empty. Returns false, with an
 * empty table, if the process has ended or the budget is exceeded. For a layout with larger offsets than any JVM has,
 * the table is empty, too, but the result is true. methods_free frees the table. */
bool methods_gather(struct methods *methods, struct memory *memory, const struct vmlayout *vmlayout,
		    const uint64_t *method, size_t n, bool signatures);

/* Returns the name of a Method*, or NULL if it was not in the last call of methods_gather. */
const struct method_name *methods_find(const struct methods *methods, uint64_t method);

/* Frees all memory of methods; names that methods_find returned become invalid. */
void methods_free(struct methods *methods);

enum method_style {
	METHOD_HOTSPOT,    /* as Compiler.perfmap of jcmd: java.lang.Object java.util.HashMap.get(java.lang.Object) */
	METHOD_JAVA,       /* java/util/HashMap.get */
	METHOD_FLAMEGRAPH, /* as perf-map-agent: Ljava/util/HashMap;::get */
};

/* Appends a method's name to text in a style. `hotspot` is the name in style METHOD_HOTSPOT; if it has no class, it
 * is appended unchanged. */
void methods_respell(struct text *text, struct str hotspot, enum method_style style);

/* Appends the name of a class to *text as in a class file, "java/util/HashMap" or "[B", read from its Klass. Returns
 * false if a pointer or length is invalid, or if the name is empty; text may have grown then. */
bool methods_read_class(struct memory *memory, const struct vmlayout *vmlayout, uint64_t klass, struct text *text);

/* Appends the name of a class, given as in a class file, to *text in the form java/util/HashMap, byte[],
 * java/lang/String[][], without the address of a hidden class. Returns false, with text unchanged, if it is malformed.
 */
bool methods_spell_class(struct text *text, struct str name);

/* Appends a method's name to text in a style. */
void methods_spell(struct text *text, const struct method_name *name, enum method_style style);

#endif
