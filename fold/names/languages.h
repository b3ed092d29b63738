/* SPDX-License-Identifier: Apache-2.0 */
/*
 * languages.h - shortens symbols, as compilers and runtimes write them, to the parts of a function name that a reader
 * needs.
 *
 * These are the naming rules (names.h) that depend on the language, with one file for each language. Each function
 * takes a symbol as perf prints it, and appends a name to `out`. A function that returns bool returns false, and
 * appends nothing, if the symbol is not of its language.
 */
#ifndef PJ_LANGUAGES_H
#define PJ_LANGUAGES_H

#include "fold/names/names.h"

/* Returns true for a byte that may be part of a function name: letter, digit, '_', '$', '~', or byte of a non-ASCII
 * character; false for all other bytes. */
static inline bool is_word(char byte)
{
	return byte_is_digit(byte) || ((byte | 32) >= 'a' && (byte | 32) <= 'z') || byte == '_' || byte == '$' ||
	       byte == '~' || (byte & 0x80);
}

/*
 * Appends the name of a function of C++ or of a language with a similar syntax (C, Go, Swift, D). Removes parameters,
 * cv-qualifiers, return types and the compiler's notes on clones. Keeps operators, lambdas, template arguments,
 * (anonymous namespace) and receivers of Go. Text with unbalanced brackets is not changed. typed: the symbol may begin
 * with a return type.
 */
void cxx_name(struct text *out, struct str string, bool typed);

/* Appends the name of a Rust function without its hash, and with the escapes of legacy mangling decoded. Returns false,
 * and appends nothing, if the symbol has no hash of legacy or v0 mangling. */
bool rust_name(struct text *out, struct str string);

/*
 * Appends the name of a Java method. One method has these spellings, all of which become java/util/HashMap.get:
 *     Ljava/util/HashMap;::get, ...;.get, ...;get(Ljava/lang/Object;)...     perf-map-agent (old, new), libperf-jvmti
 *     java.lang.Object java.util.HashMap.get(java.lang.Object)               JDK 17+ Compiler.perfmap
 *     java.util.HashMap::get, java/util/HashMap.get                          others
 */
bool java_name(struct text *out, struct str string);

/* Appends the name of a JavaScript function from a symbol of V8 like "LazyCompile:*name /file.js:1:2", without the
 * prefix. The character before the name, if there is one, is the tier: sets *kind to KIND_INTERPRETED for '~', to
 * KIND_JIT for '*', '^' and '+'. Returns false if the symbol has no prefix of V8. */
bool v8_name(struct text *out, struct str string, enum names_kind *kind);

/* Appends type and method of a .NET method from a symbol like "void [System.Private.CoreLib]
 * System.Threading.Thread::Start()[OptimizedTier1]". Returns false, and appends nothing, for any other symbol. */
bool dotnet_name(struct text *out, struct str string);

#endif
