/* kerneltext, cgroups, epochs: texts of the kernel and of DIR. Input: which one, then its text. */
/* covers: record/processes/kerneltext.c record/windows/epochs.c common/formats/containers.c */
#include "record/processes/cgroups.h"
#include "common/formats/buildid.h"
#include "record/windows/epochs.h"
#include "record/processes/kerneltext.h"
#include "common/formats/containers.h"

#include "test/fuzz/fuzz.h"

enum { SYMBOLS, MODULES, NOTES, DEP, MOUNTINFO, EPOCHS, PATHS, LINKS, KINDS };

static bool is_in(struct str part, struct str all)
{
	return part.n == 0 || (part.p >= all.p && part.p + part.n <= all.p + all.n);
}

static void kernel_lines(struct str text, bool modules)
{
	while (text.n) {
		struct str line = str_cut(&text, '\n'), name, module;
		char module_name[KERNELTEXT_MODULE];
		uint64_t start, size;

		if (modules && kerneltext_module(line, module_name, &start, &size))
			MUST(module_name[0] && strnlen(module_name, sizeof(module_name)) < sizeof(module_name) &&
			     start + size >= start && start >> 63);
		if (!modules && kerneltext_symbol(line, &start, &name, &module))
			MUST(start && is_in(name, line) && is_in(module, line));
	}
}

static void notes(struct str bytes)
{
	MUST(buildid_in_notes(bytes).n <= BUILD_ID_MAX);
}

static void dep(struct str text)
{
	struct str name = str_cut(&text, '\n');
	char *c_name = mem_alloc(1, name.n + 1), *path;

	memcpy(c_name, name.p, name.n);
	path = kerneltext_module_path(text, "6.1", c_name);
	MUST(path[0] == '[' || strncmp(path, "/lib/modules/6.1/", 17) == 0);
	free(path);
	free(c_name);
}

static void mountinfo(struct str text)
{
	struct str point, root;

	if (cgroups_parse_mountinfo(text, &point, &root))
		MUST(is_in(point, text) && is_in(root, text));
}

/* What is read is ranges, apart and in order; written and read again they are the same; nothing used is given again. */
static void epochs(struct str text)
{
	struct epochs e, again;
	struct text t = { 0 };
	uint64_t taken, other;
	char path[32];
	int fd;

	epochs_parse(&e, text);
	MUST(e.n <= EPOCHS_RANGES);
	for (size_t i = 0; i < e.n; i++)
		MUST(e.range[i].from <= e.range[i].to && (i == 0 || e.range[i - 1].to < e.range[i].from));
	epochs_text(&e, &t);
	epochs_parse(&again, text_view(&t));
	MUST(again.n == e.n && memcmp(again.range, e.range, e.n * sizeof(e.range[0])) == 0);
	fd = fuzz_file(text.p, text.n, path);
	other = e.n ? e.range[e.n / 2].from : 1000;
	if (epochs_take_from(fd, other, &taken)) {
		for (size_t i = 0; i < e.n; i++)
			MUST(taken < e.range[i].from || taken > e.range[i].to);
		MUST(epochs_take_from(fd, other, &other) && other != taken);
	}
	MUST(epochs_add_to(fd, &e));
	close(fd);
	text_free(&t);
}

static void paths(struct str text)
{
	struct containers none = { 0 };
	struct text t = { 0 };

	while (text.n) {
		struct str path = str_cut(&text, '\n');
		char *copy = fuzz_copy(path.p, path.n);

		path.p = copy;
		MUST(is_in(containers_id(path), path) && is_in(containers_pod(path), path));
		for (unsigned by = BY_CGROUP; by <= BY_POD; by++) {
			t.n = 0;
			containers_name(&none, (enum containers_by)by, path, &t);
			MUST(t.n > 0);
		}
		free(copy);
	}
	text_free(&t);
}

/* Links of a folder as Kubernetes makes it: "NAME\nTARGET\n" again and again; then a path that is named with them. */
static void links(struct str text)
{
	struct containers c = { 0 };
	struct text t = { 0 };
	char name[8][256];
	size_t n = 0;
	int folder = fuzz_folder();

	while (text.n && n < 8) {
		struct str link = str_cut(&text, '\n'), to = str_cut(&text, '\n');
		char target[512];

		snprintf(name[n], sizeof(name[n]), "%.*s", (int)(link.n < 255 ? link.n : 255), link.p);
		snprintf(target, sizeof(target), "%.*s", (int)(to.n < 511 ? to.n : 511), to.p);
		n += !strchr(name[n], '/') && symlinkat(target, folder, name[n]) == 0;
	}
	containers_read(&c, fuzz_folder_path);
	for (size_t i = 0; i < n; i++) {
		t.n = 0;
		containers_name(&c, BY_POD, str_of(name[i]), &t);
		MUST(t.n > 0);
		unlinkat(folder, name[i], 0);
	}
	containers_name(&c, BY_POD, text, &t);
	containers_read(&c, "/nowhere");
	containers_free(&c);
	text_free(&t);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct str text = { (const char *)data + (n > 0), n - (n > 0) };

	switch (n ? data[0] % KINDS : KINDS) {
	case SYMBOLS: kernel_lines(text, false); break;
	case MODULES: kernel_lines(text, true); break;
	case NOTES: notes(text); break;
	case DEP: dep(text); break;
	case MOUNTINFO: mountinfo(text); break;
	case EPOCHS: epochs(text); break;
	case PATHS: paths(text); break;
	case LINKS: links(text); break;
	default: break;
	}
	return 0;
}
