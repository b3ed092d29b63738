/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.h - the names of Java methods in the memory of a JVM, and how they are spelled.
 *
 * Method -> ConstMethod -> ConstantPool -> Symbols of class, method and signature, each pointer and length checked
 * (method.hpp, constMethod.hpp, constantPool.hpp, symbol.hpp of the JDK). What comes are the bytes of the class file;
 * control bytes and what is not UTF-8 stay for who writes them. Thousands are read in sweeps, one for each step of
 * the way, since what costs is a page that is looked up. Spelling is pure.
 */
#ifndef PJ_METHODS_H
#define PJ_METHODS_H

#include "runtimes/hotspot/vmlayout.h"
#include "common/text.h"

/* As in a class file: java/util/HashMap, get, (Ljava/lang/Object;)Ljava/lang/Object; A hidden class is called
 * Name+0x00007f..., as HotSpot does. */
struct method_name {
	struct str class_name, method, signature;
};

/* Into the memory of text, from its end on; the name is valid until text changes. False: something on the way makes no
 * sense. */
bool methods_read(struct memory *memory, const struct vmlayout *vmlayout, uint64_t method, struct text *text,
		  struct method_name *name);

/* Names that were read together. */
struct methods {
	uint64_t *method;         /* by address, each once */
	struct method_name *name; /* of method; no class: something on the way makes no sense */
	size_t n;
	char *symbols, *longer; /* what they are made of */
};

/* Those of so many Method*, in place of what s held; without signatures these stay empty. False: it ended. */
bool methods_gather(struct methods *methods, struct memory *memory, const struct vmlayout *vmlayout,
		    const uint64_t *method, size_t n, bool signatures);

/* NULL: it is not among them. */
const struct method_name *methods_find(const struct methods *methods, uint64_t method);

void methods_free(struct methods *methods);

enum method_style {
	METHOD_HOTSPOT,    /* as Compiler.perfmap: java.lang.Object java.util.HashMap.get(java.lang.Object) */
	METHOD_JAVA,       /* java/util/HashMap.get */
	METHOD_FLAMEGRAPH, /* as perf-map-agent: Ljava/util/HashMap;::get */
};

/* The same from a name as METHOD_HOTSPOT has it. */
void methods_respell(struct text *text, struct str hotspot, enum method_style style);

/* Appends the name. */
void methods_spell(struct text *text, const struct method_name *name, enum method_style style);

#endif
