/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml.h - escapes visible text (visible.h) for XML and appends it to *text.
 */
#ifndef PJ_XML_H
#define PJ_XML_H

#include "common/text.h"

/* Appends a string with & < > as entities, for element content and data blocks. */
void xml_text(struct text *text, struct str string);

/* Appends a string with & < > " and ' as entities, for attribute values. */
void xml_attribute(struct text *text, struct str string);

/* Appends a JSON string, with its quotes and with & < > as entities, for JSON in element content. */
void xml_json(struct text *text, struct str string);

#endif
