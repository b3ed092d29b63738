/* SPDX-License-Identifier: Apache-2.0 */
/*
 * languages.h - how compilers and run-time systems spell functions, and what of it a reader wants to see.
 *
 * The part of the naming rules (names.h) that depends on the language, one file for each. A symbol as perf shows it
 * comes in, a name is appended to out. Those that give a bool say whether the symbol is one of theirs; when not,
 * nothing is written.
 */
#ifndef PJ_LANGUAGES_H
#define PJ_LANGUAGES_H

#include "fold/names/names.h"

/* Letters, digits, '_', '$', '~' and all bytes of other scripts: what names of functions are made of. */
static inline bool is_word(char byte)
{
	return byte_is_digit(byte) || ((byte | 32) >= 'a' && (byte | 32) <= 'z') || byte == '_' || byte == '$' ||
	       byte == '~' || (byte & 0x80);
}

/*
 * C++, and all that looks like it (C, Go, Swift, D). Parameters, cv-qualifiers, return types and clone notes go;
 * operators, lambdas, template arguments, (anonymous namespace) and Go's receivers stay. What does not balance is kept
 * as it is. typed: a return type may stand in front.
 */
void cxx_name(struct text *out, struct str string, bool typed);

/* Without its hash, and with the escapes of legacy mangling decoded. */
bool rust_name(struct text *out, struct str string);

/*
 * Spellings of one method:
 *   Ljava/util/HashMap;::get, ...;.get, ...;get(Ljava/lang/Object;)...        perf-map-agent, old and new,
 * libperf-jvmti java.lang.Object java.util.HashMap.get(java.lang.Object)                  JDK 17+ Compiler.perfmap
 *   java.util.HashMap::get, java/util/HashMap.get                             others
 * All become java/util/HashMap.get.
 */
bool java_name(struct text *out, struct str string);

/* V8's "LazyCompile:*name /file.js:1:2": the mark tells the tier (~ interpreted), the prefix nothing that a reader
 * wants. */
bool v8_name(struct text *out, struct str string, enum names_kind *kind);

/* "void [System.Private.CoreLib] System.Threading.Thread::Start()[OptimizedTier1]": type and method stay. */
bool dotnet_name(struct text *out, struct str string);

#endif
