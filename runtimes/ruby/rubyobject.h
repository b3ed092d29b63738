/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubyobject.h - reads Ruby's objects in memory: Strings, paths, the names of ids and of classes.
 */
#ifndef PJ_RUBYOBJECT_H
#define PJ_RUBYOBJECT_H

#include "runtimes/ruby/ruby.h"

/* A bounded text: what does not fit is dropped, and `cut` is set. */
struct rubytext {
	char *to;
	size_t n, cap; /* number of bytes, and maximum number without the NUL */
	bool cut;
};

void rubytext_bytes(struct rubytext *text, struct str bytes);
/* Ends the text with a NUL, and with "..." in front of it if it was cut. */
void rubytext_end(struct rubytext *text);

/* Reads the flags of an object. Returns false if the address is none of an object. */
bool rubyobject_flags(struct ruby *ruby, uint64_t address, uint64_t *flags);
/* Returns true if the object has this type. */
bool rubyobject_is(struct ruby *ruby, uint64_t address, unsigned type);
/* Returns true if the object is an internal one of this kind. */
bool rubyobject_is_imemo(struct ruby *ruby, uint64_t address, unsigned kind);

/* Reads the bytes of a String into to[0..cap). Returns false if the object is no String, or is not readable. *n is its
 * length, which may be more than cap. */
bool rubystring_read(struct ruby *ruby, uint64_t address, char *to, size_t cap, uint64_t *n);
/* Returns true if the String has these bytes, at most 32. */
bool rubystring_is(struct ruby *ruby, uint64_t address, struct str bytes);

/* Reads the pointers [index, index + n) of an Array, at most 4. */
bool rubyarray_read(struct ruby *ruby, uint64_t address, uint64_t index, unsigned n, uint64_t *element);

/* Sets *string to the String with the name of an id. */
bool rubyid_string(struct ruby *ruby, uint64_t id, uint64_t *string);

/* Finds the names of ids in the data of the library (ruby->symbols): its operators prove them. */
bool rubyid_find(struct ruby *ruby);

/* Finds the ids of the variables of a class with its path and its object, where it has them (ruby->path_id,
 * ruby->attached_id): class Object proves them. Always true for a version with fields for them. */
bool rubyclass_find_ids(struct ruby *ruby);

/* Appends `Class#`, `Class.` for a singleton class of a class or module, or nothing if the class has no name. Returns
 * false if it is no class, or is not readable. */
bool rubyclass_append(struct ruby *ruby, uint64_t address, struct rubytext *text);

#endif
