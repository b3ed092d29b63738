/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubyobject.h - reads Ruby objects from hostile memory: Strings, Arrays, and the names of ids and classes.
 */
#ifndef PJ_RUBYOBJECT_H
#define PJ_RUBYOBJECT_H

#include "runtimes/ruby/ruby.h"

/* Bounded text. Bytes that do not fit are dropped, and `cut` is set. */
struct rubytext {
	char *to;
	size_t n, cap; /* number of bytes, and maximum number of bytes without the NUL */
	bool cut;
};

/* Appends bytes as UTF-8; NULs and invalid bytes become U+FFFD. */
void rubytext_bytes(struct rubytext *text, struct str bytes);
/* Terminates the text with a NUL, after "..." if the text is cut. */
void rubytext_end(struct rubytext *text);

/* Sets *flags to the flags of an object. Returns false if the address is not a possible address of an object, or is
 * not readable. */
bool rubyobject_flags(struct ruby *ruby, uint64_t address, uint64_t *flags);
/* Returns true if the object has the type (OBJECT_TYPE_...); false if the object has another type or is not
 * readable. */
bool rubyobject_is(struct ruby *ruby, uint64_t address, unsigned type);
/* Returns true if the object is an internal object (imemo) of the kind (IMEMO_...); false if it is another object or is
 * not readable. */
bool rubyobject_is_imemo(struct ruby *ruby, uint64_t address, unsigned kind);

/* Copies the first bytes of a String to to[0..cap), and sets *n to its length in bytes, which may exceed cap.
 * Returns false if the object is no String, or is not readable. */
bool rubystring_read(struct ruby *ruby, uint64_t address, char *to, size_t cap, uint64_t *n);
/* Returns true if the bytes of the String are `bytes`, which has at most 32 bytes; false if they differ, or the object
 * is no String or is not readable. */
bool rubystring_is(struct ruby *ruby, uint64_t address, struct str bytes);

/* Reads elements [index, index + n) of an Array, n <= 4. Returns false if it is no Array, too short, or not
 * readable. */
bool rubyarray_read(struct ruby *ruby, uint64_t address, uint64_t index, unsigned n, uint64_t *element);

/* Sets *string to the address of the String with the name of an id. Returns false if there is none. */
bool rubyid_string(struct ruby *ruby, uint64_t id, uint64_t *string);

/* Sets ruby->symbols to the Array of names of ids, by a search in the data of the library; the names of operators prove
 * the Array. Returns false if no Array is found. */
bool rubyid_find(struct ruby *ruby);

/* Sets ruby->path_id and ruby->attached_id, the ids of the class variables for the class path and the attached object;
 * class Object proves them. Where the layout has fields instead, only checks the path of Object. Returns false if the
 * ids, or the path, are not found. */
bool rubyclass_find_ids(struct ruby *ruby);

/* Appends `Class#`; `Class.` for the singleton class of a class or module; nothing for any other singleton class, or if
 * the class has no permanent name.
 * Returns false if the object is no class or module, or is not readable. */
bool rubyclass_append(struct ruby *ruby, uint64_t address, struct rubytext *text);

#endif
