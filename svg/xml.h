/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml.h - names of untrusted processes, made safe to show and to embed.
 *
 * Two steps that are never mixed. First xml_visible turns any bytes into valid UTF-8 in which everything that XML
 * forbids, that cannot be seen or that reorders text stands as a visible escape: \x1b, \u202e, \U000e0001. It is done
 * once, where strings enter. A backslash that begins what looks like an escape is one itself, \x5c, so xml_bytes gives
 * the bytes back exactly. Then xml_text, xml_attribute and xml_json put such a string into its place.
 */
#ifndef PJ_XML_H
#define PJ_XML_H

#include "text.h"

void xml_visible(struct text *t, struct str bytes);

/* The inverse: appends the bytes that xml_visible made `visible` of. What is no escape stays as it is, also in text that
 * xml_visible never makes. */
void xml_bytes(struct text *t, struct str visible);

/* The code point that starts s and its length in bytes; 0 when the first byte is not the start of a valid sequence
 * (truncated, overlong, surrogate, beyond U+10FFFF, empty). */
size_t xml_utf8(struct str s, uint32_t *code);

void xml_text(struct text *t, struct str s);      /* & < > as entities; element content and data blocks */
void xml_attribute(struct text *t, struct str s); /* also " and ' */
void xml_json(struct text *t, struct str s);      /* a JSON string with its quotes, in element content */

#endif
