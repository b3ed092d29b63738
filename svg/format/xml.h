/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml.h - visible text (visible.h) put into its place in XML.
 */
#ifndef PJ_XML_H
#define PJ_XML_H

#include "common/text.h"

void xml_text(struct text *text, struct str string);      /* & < > as entities; element content and data blocks */
void xml_attribute(struct text *text, struct str string); /* also " and ' */
void xml_json(struct text *text, struct str string);      /* a JSON string with its quotes, in element content */

#endif
