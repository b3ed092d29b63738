/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/javabudget.h"

/* ---- interpreted methods ---------------------------------------------------------------------------------------- */

struct naming {
	struct javanames *names;
	struct javanames_jvm jvm;
};

static void take_interpreted(void *to, uint64_t method, struct str name)
{
	struct naming *naming = to;

	javanames_named(naming->names, &naming->jvm, method, clock_now(), name);
}

/* Reads the names of interpreted methods of a JVM. Each name is requested only once, and an unanswered request is not
 * repeated, so the caller must call this function only while the helper is ready (jvmreader_ready). */
static void name_interpreted(struct javacode *javacode, struct javacode_jvm *jvm, struct javanames *names)
{
	struct naming naming = { names, javacode_owner(jvm) };
	size_t n;
	const uint64_t *method = javanames_wanted(names, jvm->pid, javacode->now, &n);

	if (n)
		javacode_took(jvm,
			      jvmreader_names(javacode->reader, jvm->reader, method, n, take_interpreted, &naming));
}

/* ---- compiled code and stubs ----------------------------------------------------------------------------------- */

/* Code blobs whose descriptions are read in one request. */
struct described {
	struct codenames_jvm *names;
	struct javacode_counts *counts;
	uint32_t id[JVM_DESCRIBE_MAX];
	struct blob blob[JVM_DESCRIBE_MAX];
	size_t n;
};

static void take_description(void *to, const struct jvm_code *code, const uint64_t *method, struct str rest)
{
	struct described *described = to;

	described->counts->limited += code->limited & 1;
	codenames_describe(described->names, described->id[code->index], code, method, rest);
}

static void take_method(void *to, uint64_t method, struct str name)
{
	codenames_name(to, method, name);
}

/* Reads the method names that the descriptions still lack, then checks that the nmethods of descriptions and names are
 * unchanged, and completes the descriptions; a changed blob gets no name. Returns false if a request was not completed
 * (javacode_took). */
static bool prove(struct javacode *javacode, struct javacode_jvm *jvm, const struct described *described)
{
	size_t n;
	const uint64_t *method = codenames_missing(jvm->names, described->id, described->n, &n);
	struct blob *blob;

	if (n &&
	    !javacode_took(jvm, jvmreader_names(javacode->reader, jvm->reader, method, n, take_method, jvm->names)))
		return false;
	blob = codenames_proofs(jvm->names, described->id, described->n, &n);
	if (n && !javacode_took(jvm, jvmreader_check(javacode->reader, jvm->reader, blob, &n)))
		return false;
	codenames_prove(jvm->names, described->id, described->n, blob, n);
	return true;
}

/* Reads the descriptions of up to JVM_DESCRIBE_MAX blobs that have none. Returns false if there is no such blob, or if
 * a request was not completed (javacode_took). */
static bool describe_some(struct javacode *javacode, struct javacode_jvm *jvm)
{
	struct described described = { .names = jvm->names, .counts = &javacode->counts };
	size_t done;

	described.n = codenames_wanted(jvm->names, described.id, described.blob, JVM_DESCRIBE_MAX);
	if (described.n == 0 ||
	    !javacode_took(jvm, jvmreader_describe(javacode->reader, jvm->reader, described.blob, described.n, &done,
						   take_description, &described)))
		return false;
	described.n = done;
	if (prove(javacode, jvm, &described))
		return true;
	codenames_postpone(jvm->names, described.id, described.n);
	return false;
}

void javacode_name(struct javacode *javacode, struct javanames *names)
{
	for (size_t i = 0; i < javacode->n; i++) {
		struct javacode_jvm *jvm = javacode->jvm[(javacode->turn + i) % javacode->n];

		if (!jvm->reader || !jvmreader_ready(javacode->reader))
			continue;
		name_interpreted(javacode, jvm, names);
		while (jvm->reader && jvmreader_ready(javacode->reader) && describe_some(javacode, jvm))
			;
	}
}

void javacode_put_names(struct javacode *javacode, bool stream, struct text *text)
{
	for (size_t i = 0; i < javacode->n; i++) {
		const struct javacode_jvm *jvm = javacode->jvm[i];

		for (size_t k = 0; k < jvm->n; k++)
			if (jvm->fact[k].name)
				codenames_keep(jvm->names, jvm->fact[k].name, jvm->fact[k].since, jvm->fact[k].seen);
	}
	codenames_put(javacode->names, stream, text);
}
