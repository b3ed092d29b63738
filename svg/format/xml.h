/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml.h - escapes of visible text (visible.h) for its place in XML. Each function appends string to text.
 */
#ifndef PJ_XML_H
#define PJ_XML_H

#include "common/text.h"

/* Writes & < > as entities: for element content and data blocks. */
void xml_text(struct text *text, struct str string);

/* Writes & < > " and ' as entities: for attribute values. */
void xml_attribute(struct text *text, struct str string);

/* Writes a JSON string with its quotes, for element content. */
void xml_json(struct text *text, struct str string);

#endif
