/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkreport.h - prints the lines of `pjrecord --check`: verdict, subject, and a fact with its remedy.
 */
#ifndef PJ_CHECKREPORT_H
#define PJ_CHECKREPORT_H

#include "common/text.h"

#include <stdarg.h>

/* Verdict of a check, printed as the first word of its line: "ok", "limited" or "no". */
enum verdict { CHECK_OK, CHECK_LIMITED, CHECK_NO };

/* Each function prints one line to standard output: verdict, subject, text. subject consists of letters, blanks, '-'
 * and ',' only. The text may contain names of target processes and programs, which are hostile input. So control
 * characters in the text are printed as '?'. */
void checkreport_text(enum verdict verdict, const char *subject, const struct text *text);
void checkreport_line(enum verdict verdict, const char *subject, const char *fmt, ...) PRINTF(3, 4);
void checkreport_args(enum verdict verdict, const char *subject, const char *fmt, va_list args) PRINTF(3, 0);

#endif
