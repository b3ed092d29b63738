/* SPDX-License-Identifier: Apache-2.0 */
/*
 * languages.h - shortens function names, as compilers and run-time systems spell them, to the parts that a reader
 * needs.
 *
 * This is the part of the naming rules (names.h) that depends on the language, with one file for each language. Each
 * function takes a symbol as perf prints it and appends a name to `out`. Those that return bool return false, and
 * append nothing, if the symbol is not of their language.
 */
#ifndef PJ_LANGUAGES_H
#define PJ_LANGUAGES_H

#include "fold/names/names.h"

/* True for characters of function names: letters, digits, '_', '$', '~' and all bytes of non-ASCII characters. */
static inline bool is_word(char byte)
{
	return byte_is_digit(byte) || ((byte | 32) >= 'a' && (byte | 32) <= 'z') || byte == '_' || byte == '$' ||
	       byte == '~' || (byte & 0x80);
}

/*
 * Appends the name of a function of C++ or of a language with a similar syntax (C, Go, Swift, D). Parameters,
 * cv-qualifiers, return types and clone notes are removed; operators, lambdas, template arguments, (anonymous
 * namespace) and Go's receivers stay. Text with unbalanced brackets is not changed. `typed`: the symbol may begin with
 * a return type.
 */
void cxx_name(struct text *out, struct str string, bool typed);

/* Appends the name of a Rust function without its hash, and with the escapes of legacy mangling decoded. */
bool rust_name(struct text *out, struct str string);

/*
 * Appends the name of a Java method. One method has these spellings, all of which become java/util/HashMap.get:
 *     Ljava/util/HashMap;::get, ...;.get, ...;get(Ljava/lang/Object;)...     perf-map-agent (old, new), libperf-jvmti
 *     java.lang.Object java.util.HashMap.get(java.lang.Object)               JDK 17+ Compiler.perfmap
 *     java.util.HashMap::get, java/util/HashMap.get                          others
 */
bool java_name(struct text *out, struct str string);

/* Appends the name of a JavaScript function from V8's "LazyCompile:*name /file.js:1:2". The character before the name
 * gives the tier (~ interpreted), which sets *kind; the prefix is of no use to a reader. */
bool v8_name(struct text *out, struct str string, enum names_kind *kind);

/* Appends type and method of a .NET method from a symbol like "void [System.Private.CoreLib]
 * System.Threading.Thread::Start()[OptimizedTier1]". */
bool dotnet_name(struct text *out, struct str string);

#endif
