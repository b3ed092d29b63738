/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/foreign/jfrprint.h"

/* Resets the state for the next JFR event. */
static void jfrprint_open(struct jfrprint *jfr)
{
	foreignstack_clear(jfr->stack);
	jfr->type.n = jfr->thread.n = 0;
	jfr->has_stack = false;
}

/* Ends a JFR event; adds it as a sample if it has a stack. */
static void jfrprint_close(struct jfrprint *jfr)
{
	struct sample_key key = { .comm = text_view(&jfr->thread),
				  .before = text_view(&jfr->thread),
				  .event = text_view(&jfr->type),
				  .pid = -1,
				  .tid = -1,
				  .cpu = -1 };

	if (jfr->has_stack && jfr->stack->n) {
		jfr->truncated += jfr->stack->truncated;
		foreignstack_add(jfr->stack, &key);
	}
	foreignstack_clear(jfr->stack);
}

static void jfrprint_set(struct text *text, struct str string)
{
	text->n = 0;
	text_str(text, string);
}

/* ---- text format -------------------------------------------------------------------------------------------- */

/* Adds the frame in a line like "java.util.HashMap.put(Object, Object) line: 610". A line "..." marks the stack as
 * truncated. */
static void jfrprint_frame(struct jfrprint *jfr, struct str line)
{
	ptrdiff_t end = str_rfind(line, ')');

	if (str_eq(line, STR("..."))) {
		jfr->stack->truncated = true;
		return;
	}
	if (end >= 0)
		line = str_head(line, (size_t)end + 1);
	foreignstack_frame(jfr->stack, (struct foreignframe){ .symbol = line, .code = FOREIGN_METHOD });
}

/* Reads a field of an event: the start of its stack, or the name of its thread, as in "sampledThread = "worker one"
 * (javaThreadId = 15)". */
static void jfrprint_field(struct jfrprint *jfr, struct str line)
{
	ptrdiff_t first = str_find(line, '"'), last = str_rfind(line, '"');

	if (str_eq(line, STR("stackTrace = ["))) {
		jfr->frames = jfr->has_stack = true;
	} else if (first >= 0 && last > first &&
		   (str_starts(line, STR("sampledThread = ")) ||
		    (str_starts(line, STR("eventThread = ")) && jfr->thread.n == 0))) {
		jfrprint_set(&jfr->thread, str_head(str_from(line, (size_t)first + 1), (size_t)(last - first) - 1));
	}
}

static bool jfrprint_text(struct jfrprint *jfr, struct str line)
{
	struct str text = str_trim(line);

	if (text.n == 0)
		return true;
	if (jfr->frames) {
		jfr->frames = !str_eq(text, STR("]"));
		if (jfr->frames)
			jfrprint_frame(jfr, text);
		return true;
	}
	if (!jfr->open) {
		if (!str_ends(text, STR(" {")))
			return false;
		jfrprint_open(jfr);
		jfrprint_set(&jfr->type, str_head(text, text.n - 2));
		jfr->open = true;
		return true;
	}
	if (line.p[0] == '}') {
		jfrprint_close(jfr);
		jfr->open = false;
	} else if (!str_starts(line, STR("   "))) { /* field of the event; nested ones are indented further */
		jfrprint_field(jfr, text);
	}
	return true;
}

/* ---- JSON format -------------------------------------------------------------------------------------------- */

static const struct jsonlines_key jfrprint_keys[] = {
	{ STR("recording"), 'r' },     { STR("events"), 'E' },      { STR("type"), 't' },
	{ STR("values"), 'v' },        { STR("stackTrace"), 'S' },  { STR("truncated"), 'u' },
	{ STR("frames"), 'F' },        { STR("method"), 'm' },      { STR("name"), 'n' },
	{ STR("sampledThread"), 'T' }, { STR("eventThread"), 'e' }, { STR("javaName"), 'j' },
	{ STR("osName"), 'o' },
};

static enum foreigncode jfrprint_code(struct str type)
{
	if (str_eq(type, STR("JIT compiled")))
		return FOREIGN_COMPILED;
	if (str_eq(type, STR("Inlined")))
		return FOREIGN_INLINED;
	return str_eq(type, STR("Interpreted")) ? FOREIGN_INTERPRETED : FOREIGN_METHOD;
}

/* Returns the name of a hidden class like "Burn$$Lambda$88/360062456" without the number at its end, which differs from
 * run to run. Returns any other name unchanged. */
static struct str jfrprint_class(struct str class)
{
	size_t n = class.n;

	while (n && byte_is_digit(class.p[n - 1]))
		n--;
	return n > 1 && n < class.n && class.p[n - 1] == '/' ? str_head(class, n - 1) : class;
}

/* Adds the frame whose JSON members have been read. A frame without class or method gets no name. */
static void jfrprint_json_frame(struct jfrprint *jfr)
{
	struct text *name = &jfr->value;

	if (jfr->class.n && jfr->method.n) {
		name->n = 0;
		text_str(name, jfrprint_class(text_view(&jfr->class)));
		text_char(name, '.');
		text_str(name, text_view(&jfr->method));
		text_add(name, "()");
		foreignstack_frame(jfr->stack, (struct foreignframe){ .symbol = text_view(name), .code = jfr->code });
	} else {
		foreignstack_frame(jfr->stack, (struct foreignframe){ 0 });
	}
	jfr->class.n = jfr->method.n = 0;
	jfr->code = FOREIGN_METHOD;
}

static void jfrprint_string(struct jfrprint *jfr, const char *path, struct str value)
{
	struct text *text = &jfr->value;

	text->n = 0;
	jsonlines_decode(text, value);
	if (strcmp(path, "/rE-vSF-mtn") == 0)
		jfrprint_set(&jfr->class, text_view(text));
	else if (strcmp(path, "/rE-vSF-mn") == 0)
		jfrprint_set(&jfr->method, text_view(text));
	else if (strcmp(path, "/rE-vSF-t") == 0)
		jfr->code = jfrprint_code(text_view(text));
	else if (strcmp(path, "/rE-t") == 0)
		jfrprint_set(&jfr->type, text_view(text));
	else if (strcmp(path, "/rE-vTj") == 0 || strcmp(path, "/rE-vej") == 0 ||
		 ((strcmp(path, "/rE-vTo") == 0 || strcmp(path, "/rE-veo") == 0) && jfr->thread.n == 0))
		jfrprint_set(&jfr->thread, text_view(text));
}

static void jfrprint_json(void *owner, struct jsonlines *json, enum jsonlines_event event, struct str value)
{
	struct jfrprint *jfr = owner;
	const char *path = json->path;

	switch (event) {
	case JSONLINES_OPEN:
		if (strcmp(path, "/rE-") == 0)
			jfrprint_open(jfr);
		else if (strcmp(path, "/rE-vSF") == 0)
			jfr->has_stack = true;
		break;
	case JSONLINES_CLOSE:
		if (strcmp(path, "/rE-vSF-") == 0)
			jfrprint_json_frame(jfr);
		else if (strcmp(path, "/rE-") == 0)
			jfrprint_close(jfr);
		break;
	case JSONLINES_STRING: jfrprint_string(jfr, path, value); break;
	case JSONLINES_WORD:
		if (strcmp(path, "/rE-vSu") == 0 && str_eq(value, STR("true")))
			jfr->stack->truncated = true;
		break;
	}
}

/* ---- functions for both formats ----------------------------------------------------------------------------- */

void jfrprint_begin(struct jfrprint *jfr, struct foreignstack *stack, bool is_json)
{
	*jfr = (struct jfrprint){ .stack = stack, .code = FOREIGN_METHOD };
	foreignstack_clear(stack);
	if (is_json)
		jfr->json = (struct jsonlines){
			.keys = jfrprint_keys, .nkeys = countof(jfrprint_keys), .call = jfrprint_json, .owner = jfr
		};
}

bool jfrprint_line(struct jfrprint *jfr, struct str line)
{
	if (!jfr->json.call)
		return jfrprint_text(jfr, line);
	jsonlines_line(&jfr->json, line);
	return true;
}

void jfrprint_free(struct jfrprint *jfr)
{
	text_free(&jfr->type);
	text_free(&jfr->thread);
	text_free(&jfr->class);
	text_free(&jfr->method);
	text_free(&jfr->value);
}
