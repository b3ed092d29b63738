/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/javabudget.h"

#include "common/arena.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static bool is_same_tenant(const struct tenant *tenant, const struct tenant *b)
{
	return tenant->kind == b->kind && tenant->key == b->key;
}

static size_t bytes_of_tenant(const struct javacode *javacode, const struct tenant *tenant)
{
	size_t sum = 0;

	for (size_t i = 0; i < javacode->n; i++)
		if (is_same_tenant(&javacode->jvm[i]->tenant, tenant))
			sum += javacode->jvm[i]->bytes;
	return sum;
}

/* Returns the JVM with the most memory of tenant `only`; if only is NULL, of the tenant with the most memory. Returns
 * NULL if no JVM of that tenant uses memory. */
static struct javacode_jvm *javabudget_largest(const struct javacode *javacode, const struct tenant *only)
{
	struct javacode_jvm *found = NULL;
	size_t max = 0;

	for (size_t i = 0; i < javacode->n; i++) {
		struct javacode_jvm *jvm = javacode->jvm[i];
		size_t sum = only ? 1 : bytes_of_tenant(javacode, &jvm->tenant);

		if ((only && !is_same_tenant(&jvm->tenant, only)) || jvm->bytes == 0 || sum < max)
			continue;
		if (!found || sum > max || jvm->bytes > found->bytes)
			found = jvm;
		max = sum;
	}
	return found;
}

bool javabudget_hold(struct javacode_jvm *jvm, size_t bytes)
{
	struct javacode *javacode = jvm->owner;

	while (!tenants_hold(javacode->tenants, jvm->tenant, TENANT_MEMORY, bytes)) {
		bool own = bytes_of_tenant(javacode, &jvm->tenant) + bytes > TENANT_BYTES_MAX;
		struct javacode_jvm *victim = javabudget_largest(javacode, own ? &jvm->tenant : NULL);

		javabudget_drop(victim ? victim : jvm);
		if (!victim || victim == jvm)
			return false;
	}
	jvm->bytes += bytes;
	return true;
}

bool javabudget_make_space(struct javacode_jvm *jvm, size_t n)
{
	size_t cap = jvm->cap ? jvm->cap : 64;
	void *blob, *fact;

	while (cap < n)
		cap *= 2;
	if (cap == jvm->cap)
		return true;
	if (!javabudget_hold(jvm, (cap - jvm->cap) * (sizeof(*jvm->blob) + sizeof(*jvm->fact))))
		return false;
	blob = mem_try_grow(jvm->blob, sizeof(*jvm->blob), cap);
	jvm->blob = blob ? blob : jvm->blob;
	fact = blob ? mem_try_grow(jvm->fact, sizeof(*jvm->fact), cap) : NULL;
	jvm->fact = fact ? fact : jvm->fact;
	if (!fact) {
		javabudget_drop(jvm);
		return false;
	}
	jvm->cap = cap;
	return true;
}

size_t javabudget_find_dispensable(const struct javacode *javacode)
{
	size_t found = 0, max = 0;

	for (size_t i = 0; i < javacode->n; i++) {
		size_t n = 0;

		for (size_t index = 0; index < javacode->n; index++)
			n += is_same_tenant(&javacode->jvm[index]->tenant, &javacode->jvm[i]->tenant);
		if (n > max || (n == max && javacode->jvm[i]->used < javacode->jvm[found]->used))
			found = i;
		max = n > max ? n : max;
	}
	return found;
}

struct tenant javabudget_find_tenant(uint32_t pid)
{
	struct tenant tenant = { .kind = TENANT_UNKNOWN };
	char path[64];
	int folder;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0) {
		tenant = tenant_of(folder);
		close(folder);
	}
	return tenant;
}
