/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml.h - escapes visible text (visible.h) for XML. Each function appends the escaped string to text.
 */
#ifndef PJ_XML_H
#define PJ_XML_H

#include "common/text.h"

/* Escapes & < > as entities: for element content and data blocks. */
void xml_text(struct text *text, struct str string);

/* Escapes & < > " and ' as entities: for attribute values. */
void xml_attribute(struct text *text, struct str string);

/* Appends string as a JSON string in quotes, with & < > as entities: for JSON in element content. */
void xml_json(struct text *text, struct str string);

#endif
