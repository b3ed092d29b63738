/* replay - runs a fuzz target over its corpus (or the files named) without libFuzzer, and prints TAP. */
#include "test/fuzz/fuzz.h"

#include <dirent.h>
#include <limits.h>

#ifdef PJ_ASAN
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0"; /* code that dies leaks by design */
}
#endif

static unsigned tests;

static void replay(const char *path)
{
	FILE *f = fopen(path, "rb");
	static char data[4 << 20];
	size_t n = f ? fread(data, 1, sizeof(data), f) : 0;
	char *copy = fuzz_copy(data, n);

	if (f)
		fclose(f);
	LLVMFuzzerTestOneInput((const uint8_t *)copy, n);
	/* cut short at some places, as real inputs are */
	for (size_t cut = n / 2; cut > 0; cut /= 2) {
		char *part = fuzz_copy(data, cut);

		LLVMFuzzerTestOneInput((const uint8_t *)part, cut);
		free(part);
	}
	free(copy);
	printf("%s %u - %s\n", f ? "ok" : "not ok", ++tests, path);
	fflush(stdout);
}

/* BUILD/test/fuzz/FOLDER/NAME_fuzz replays test/corpus/NAME. */
static void replay_corpus(const char *self)
{
	const char *top = getenv("PJ_TOP"), *slash = strrchr(self, '/');
	char dir[PATH_MAX], path[PATH_MAX + 300];
	const char *name = slash ? slash + 1 : self;
	struct dirent **entry;
	int n;

	snprintf(dir, sizeof(dir), "%s/test/corpus/%.*s", top ? top : ".", (int)(strlen(name) - strlen("_fuzz")), name);
	n = scandir(dir, &entry, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (entry[i]->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", dir, entry[i]->d_name);
			replay(path);
		}
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

int main(int argc, char **argv)
{
	int quiet = open("/dev/null", O_WRONLY);

	/* messages about bad input are not what is tested here; MUST and sanitizers write to stderr, too, but end the
	 * run */
	if (!getenv("PJ_FUZZ_LOUD"))
		dup2(quiet, STDERR_FILENO);
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	printf("ok %u - nothing\n", ++tests);
	if (argc > 1)
		for (int i = 1; i < argc; i++)
			replay(argv[i]);
	else
		replay_corpus(argv[0]);
	printf("1..%u\n", tests);
	return 0;
}
