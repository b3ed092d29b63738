/* SPDX-License-Identifier: Apache-2.0 */
/* pjpack - add the names of its functions to a recording, so that any machine can fold it. */
#include "common/filter/in.h"
#include "common/filter/opt.h"
#include "common/formats/pjsection.h"
#include "fold/foldrights.h"
#include "fold/perfdata/perfdata.h"
#include "fold/perfdata/perfsection.h"
#include "fold/summary.h"
#include "fold/symbolized/symbolizedwriter.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- command line ------------------------------------------------------------------------------------------- */

static char **pjpack_parse(struct request *request, int argc, char **argv)
{
	struct recording_options *recording = &request->recording;
	const struct opt opts[] = {
		OPT_GROUP("Output"),
		{ 'o', "output", "FILE", OPT_STR, &request->out, NULL,
		  "write to FILE, complete or not at all (standard output)" },
		{ 'q', "quiet", NULL, OPT_FLAG, &request->quiet, NULL, "print no summary" },
		{ 'v', "verbose", NULL, OPT_FLAG, &request->verbose, NULL,
		  "print all counts and causes before the summary sentence" },
		{ 0, "inline", NULL, OPT_FLAG, &recording->inlined, NULL,
		  "add inlined functions, too, for pjfold --inline" },
		OPT_GROUP("Symbols"),
		{ 0, "kallsyms", "FILE", OPT_STR, &recording->kallsyms, NULL,
		  "symbols of the recorded kernel: a copy of /proc/kallsyms, or vmlinux" },
		{ 0, "symbol-store", "DIR", OPT_STR, &recording->saved, NULL,
		  "DIR of pjrecord with symbols/ and jit/ (that of the window)" },
		{ 0, "maps", "DIR", OPT_STR, &recording->maps, NULL,
		  "timelines of pjmap -i (maps/ beside the window's out/)" },
		{ 0, "symfs", "DIR", OPT_STR, &recording->symfs, NULL,
		  "look up files of the recorded machine below DIR" },
		{ 0, "unprivileged", NULL, OPT_FLAG, &request->unprivileged, NULL,
		  "open files without capabilities, too: for untrusted recordings" },
	};
	const struct tool tool = {
		.name = "pjpack",
		.does = "add the names of its functions to a recording, so that any machine can fold it",
		.synopsis = "[options] [FILE]",
		.example = "example: pjpack -o app.data /var/lib/pj/out/1795293830.data\n"
			   "         pjfold app.data | pjsvg > app.svg    # on another machine",
		.opts = opts,
		.nopts = countof(opts),
	};

	request->threads = 1;
	argv = opt_parse(&tool, argc, argv);
	if (argv[0] && argv[1])
		die_usage("one recording at a time: for w in FILE ...; do pjpack -o \"DIR/${w##*/}\" \"$w\"; done");
	if (!request->out && diag_is_terminal(STDOUT_FILENO))
		die_usage("refusing to write a recording to a terminal: pjpack -o FILE");
	request->verbose = request->verbose && !request->quiet;
	request->script.names.kinds = NAMES_ALL_KINDS;
	recording->samples = &request->script;
	recording->threads = 1;
	return argv;
}

/* ---- output of the packed recording ------------------------------------------------------------------------- */

/* Reads the layout of the input into *perfsection. Dies if the input is not perf.data, or if no section with names can
 * be added to the file. */
static void pjpack_check(struct in *input, struct perfsection *perfsection)
{
	uint64_t size;
	const char *why;

	if (!perfdata_is(in_peek(input, PERF_PIPE_HEADER)))
		die("'%s' is no perf.data: only recordings lack names", input->name);
	if (!in_seekable(input, &size))
		in_spool(input);
	why = perfsection_read(perfsection, input);
	if (why)
		die("cannot pack '%s': %s", input->name, why);
}

/* Writes the recording with its names to the output. Returns the size of the names in bytes. */
static uint64_t pjpack_write(const struct request *request, struct in *input, const struct perfsection *perfsection,
			     struct symbolizedwriter *writer)
{
	struct out *out = mem_alloc(sizeof(*out), 1);
	struct text section = { 0 };
	const char *why;
	uint64_t n;

	symbolizedwriter_put(writer, &section);
	out_open(out, request->out);
	why = perfsection_write(perfsection, input, out, FEATURE_PJ_NAMES, text_view(&section));
	if (why)
		die("cannot pack '%s': %s", input->name, why);
	out_close(out);
	free(out);
	n = section.n;
	text_free(&section);
	return n;
}

static void pjpack_report(const struct request *request, const struct symbolizedwriter *writer, uint64_t bytes)
{
	if (request->verbose)
		warn("%llu addresses have names, of %u DSOs: %llu bytes", (unsigned long long)writer->named,
		     writer->keys.n, (unsigned long long)bytes);
	if (writer->left_out)
		warn("%llu names are left out: more than %llu MB", (unsigned long long)writer->left_out,
		     (unsigned long long)(PJ_NAMES_MAX >> 20));
	if (writer->conflicts)
		warn("%llu addresses have no name: two files or processes with the same key have different ones",
		     (unsigned long long)writer->conflicts);
}

int main(int argc, char **argv)
{
	struct perfsection *perfsection = mem_alloc(sizeof(*perfsection), 1);
	struct symbolizedwriter writer = { 0 };
	struct request request = { 0 };
	struct result res = { .script = true };
	struct in input;
	uint64_t bytes;
	int status;

	diag_tool("pjpack");
	argv = pjpack_parse(&request, argc, argv);
	foldrights_give_up(&request, argv);
	in_open(&input, argv[0]);
	pjpack_check(&input, perfsection);
	writer.inlined = request.recording.inlined;
	request.recording.packed = &writer;
	run_init(&res.run, &request.script, 1);
	recording_read(&request.recording, &input, &res.run.script.samples, &res.recording);
	bytes = pjpack_write(&request, &input, perfsection, &writer);
	in_close(&input);
	pjpack_report(&request, &writer, bytes);
	status = summary(&request, &res);
	symbolizedwriter_free(&writer);
	run_free(&res.run);
	recording_tally_free(&res.recording);
	free(perfsection);
	return status;
}
