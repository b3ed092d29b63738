/* seeds DIR: writes the seeds of test/fuzz/jvmimage_fuzz.c: a JVM of each kind, and one that tells less. */
#include "diag.h"
#include "synth.h"

static void write_seed(const char *dir, const char *name, unsigned jdk, int without)
{
	char path[4096];
	struct synth s;
	struct text t = { 0 };
	FILE *f;

	synth_make(&s, jdk, jdk, without);
	synth_pack(&s, &t);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wb");
	if (!f || fwrite(t.p, 1, t.n, f) != t.n || fclose(f) != 0)
		die_errno("cannot write '%s'", path);
	text_free(&t);
	synth_free(&s);
}

int main(int argc, char **argv)
{
	diag_tool("seeds");
	if (argc != 2)
		die_usage("seeds DIR");
	write_seed(argv[1], "jdk8", SYNTH_8, -1);
	write_seed(argv[1], "jdk17", SYNTH_17, -1);
	write_seed(argv[1], "jdk21", SYNTH_21, -1);
	write_seed(argv[1], "jdk25", SYNTH_25, -1);
	return 0;
}
