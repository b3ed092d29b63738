/* SPDX-License-Identifier: Apache-2.0 */
#include "record/interpreters/interpreter.h"

const struct interpreter *const interpreter_list[] = { &interpreter_python, &interpreter_ruby,       &interpreter_php,
						       &interpreter_perl,   &interpreter_javascript, NULL };

const struct interpreter *interpreter_of_path(struct str path)
{
	for (size_t i = 0; interpreter_list[i]; i++)
		if (interpreter_list[i]->is_library(path))
			return interpreter_list[i];
	return NULL;
}

const struct interpreter *interpreter_of_language(uint32_t language)
{
	for (size_t i = 0; interpreter_list[i]; i++)
		if (interpreter_list[i]->language == language)
			return interpreter_list[i];
	return NULL;
}
