/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.h - the name of a Java method in the memory of a JVM, and how it is spelled.
 *
 * Method -> ConstMethod -> ConstantPool -> Symbols of class, method and signature, each pointer and length checked
 * (method.hpp, constMethod.hpp, constantPool.hpp, symbol.hpp of the JDK). What comes are the bytes of the class file;
 * control bytes and what is not UTF-8 stay for who writes them. Spelling is pure.
 */
#ifndef PJ_METHODS_H
#define PJ_METHODS_H

#include "vmlayout.h"
#include "text.h"

/* As in a class file: java/util/HashMap, get, (Ljava/lang/Object;)Ljava/lang/Object; A hidden class is called
 * Name+0x00007f..., as HotSpot does. */
struct method_name {
	struct str class_name, method, signature;
};

/* Into the memory of t, from its end on; the name is valid until t changes. False: something on the way makes no
 * sense. */
bool methods_read(struct memory *m, const struct vmlayout *l, uint64_t method, struct text *t, struct method_name *name);

enum method_style {
	METHOD_HOTSPOT,    /* as Compiler.perfmap: java.lang.Object java.util.HashMap.get(java.lang.Object) */
	METHOD_JAVA,       /* java/util/HashMap.get */
	METHOD_FLAMEGRAPH, /* as perf-map-agent: Ljava/util/HashMap;::get */
};

/* The same from a name as METHOD_HOTSPOT has it. */
void methods_respell(struct text *t, struct str hotspot, enum method_style style);

/* Appends the name. */
void methods_spell(struct text *t, const struct method_name *name, enum method_style style);

#endif
