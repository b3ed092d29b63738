/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.h - reads names of Java methods from the memory of a JVM, and spells them.
 *
 * The path is Method -> ConstMethod -> ConstantPool -> Symbols of class, method and signature; each pointer and length
 * is checked (method.hpp, constMethod.hpp, constantPool.hpp, symbol.hpp of the JDK). Names are the bytes of the class
 * file: they may have control bytes and invalid UTF-8, which the writer of output replaces. methods_gather reads
 * thousands of names in sweeps, one for each step of the path, because the lookup of a page is the main cost of a read.
 * Spelling is pure.
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

/* Reads the names of one Method*. The strings of *name are appended to text and valid until text changes. Returns false
 * if a pointer or length on the path is invalid; text may have grown then. */
bool methods_read(struct memory *memory, const struct vmlayout *vmlayout, uint64_t method, struct text *text,
		  struct method_name *name);

/* The names of methods, sorted by address of the Method; methods_gather fills the table. */
struct methods {
	uint64_t *method;         /* the Method*, sorted by address, each once */
	struct method_name *name; /* name of each method[i]; class_name is empty if the name is not readable */
	size_t n;
	/* Memory of the names: the first bytes of all symbols, and the complete bytes of longer symbols. */
	char *symbols, *longer;
};

/* Replaces methods by the names of n Method*. Without `signatures`, all signatures are empty. Returns false, with empty
 * methods, if the process has ended. methods_free frees the result. */
bool methods_gather(struct methods *methods, struct memory *memory, const struct vmlayout *vmlayout,
		    const uint64_t *method, size_t n, bool signatures);

/* Returns the name of a Method*, or NULL if the last methods_gather was not called with that Method*. */
const struct method_name *methods_find(const struct methods *methods, uint64_t method);

/* Frees all memory of methods; names that methods_find returned become invalid. */
void methods_free(struct methods *methods);

enum method_style {
	METHOD_HOTSPOT,    /* as jcmd's Compiler.perfmap: java.lang.Object java.util.HashMap.get(java.lang.Object) */
	METHOD_JAVA,       /* java/util/HashMap.get */
	METHOD_FLAMEGRAPH, /* as perf-map-agent: Ljava/util/HashMap;::get */
};

/* Appends a method's name to text in a style; `hotspot` is the name in style METHOD_HOTSPOT. A name without a class is
 * appended unchanged. */
void methods_respell(struct text *text, struct str hotspot, enum method_style style);

/* Appends a method's name to text in a style. */
void methods_spell(struct text *text, const struct method_name *name, enum method_style style);

#endif
