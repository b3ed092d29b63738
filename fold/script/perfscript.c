/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/script/perfscript.h"

#include <endian.h>
#include <stdlib.h>

/* Maximum size in bytes of a sample whose text is compared with the thread's last sample. A longer sample, and all
 * samples after it in the block, are parsed line by line. */
#define SHARE_MAX (256 * 1024)

void script_init(struct script *script, const struct samples_options *options)
{
	*script = (struct script){ 0 };
	samples_init(&script->samples, options);
	textstacks_init(&script->text, &script->samples);
}

void script_fork(struct script *worker, const struct script *script)
{
	*worker = (struct script){ 0 };
	samples_fork(&worker->samples, &script->samples);
	textstacks_init(&worker->text, &worker->samples);
}

void script_free(struct script *script)
{
	textstacks_free(&script->text);
	samples_free(&script->samples);
}

/* ---- lines of a sample -------------------------------------------------------------------------------------- */

static void skip_line(struct script *script, struct str line)
{
	textstacks_skip(&script->text, line, script->line);
}

/* Closes the open sample. `end`: the empty line after its text; NULL if no empty line ends it. */
static void perfscript_close_sample(struct script *script, const char *end)
{
	if (script->weak) {
		textstacks_skip(&script->text, script->weak_line, script->weak_number);
		script->weak = false;
	}
	script->single = false;
	textstacks_close(&script->text, end);
}

static enum samples_state perfscript_state(const struct script *script)
{
	return script->samples.sample.state;
}

/* Splits a frame line, "   7f00 sym (dso)", into address and frame_text; simpleperf prints a TAB between them. Returns
 * false if the line does not start with an address. */
static bool split_address(struct str line, struct str *address, struct str *frame_text)
{
	size_t i = 0, from;

	while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'))
		i++;
	for (from = i; i < line.n && byte_is_hex(line.p[i]); i++)
		;
	if (i == from || i - from > 16 || (i < line.n && line.p[i] != ' ' && line.p[i] != '\t'))
		return false;
	*address = str_head(str_from(line, from), i - from);
	*frame_text = str_from(line, i + (i < line.n));
	return true;
}

static void perfscript_headerless(struct script *script)
{
	textstacks_open(&script->text, &(struct sample_key){ .pid = -1, .tid = -1, .cpu = -1 });
}

/* Makes sure that a sample is open for a frame line: if no sample is open, opens a sample for the weak header before
 * the line, or without a header. Returns false if the sample is not selected. */
static bool in_sample(struct script *script)
{
	if (script->weak)
		textstacks_open(&script->text, &script->weak_header);
	else if (perfscript_state(script) == SAMPLE_NONE)
		perfscript_headerless(script);
	script->weak = false;
	return perfscript_state(script) == SAMPLE_OPEN;
}

/* Returns a mask for 8 bytes that are all blanks, letters or digits: bit 0 of a byte of the mask is set if the byte is
 * a blank. */
static uint64_t blanks_of(const char *bytes)
{
	uint64_t x;

	memcpy(&x, bytes, 8);
	x = le64toh(x);
	return ~(x >> 6 | x >> 4) & UINT64_C(0x0101010101010101);
}

/* Returns true if the 16 bytes are blanks followed by one word, which is how perf prints an address; otherwise
 * false. */
static bool is_wide_address(const char *bytes)
{
	uint64_t first = blanks_of(bytes), last = blanks_of(bytes + 8);
	uint64_t partly = (last ? last : first) * 0xff;

	return (partly & (partly + 1)) == 0 && (last == 0 || first == UINT64_C(0x0101010101010101));
}

/* Processes a frame line, which starts with a TAB. perf pads addresses to 16 columns, so the address mostly ends at
 * column 17. */
static void frame_line(struct script *script, struct str line)
{
	struct str address, frame_text;

	if (unlikely(script->single))
		perfscript_close_sample(script, NULL);
	if (perfscript_state(script) == SAMPLE_IGNORED)
		return;
	if (likely(line.n > 18 && line.p[17] == ' ' && byte_is_hex(line.p[16]) &&
		   (line.p[1] == ' ' || byte_is_hex(line.p[1])) && is_wide_address(line.p + 1))) {
		address = str_head(str_from(line, 1), 16);
		frame_text = str_from(line, 18);
		if (unlikely(script->samples.names.addresses))
			split_address(line, &address, &frame_text);
	} else if (!split_address(line, &address, &frame_text)) {
		skip_line(script, line);
		return;
	}
	if (likely(perfscript_state(script) == SAMPLE_OPEN) || in_sample(script))
		textstacks_frame(&script->text, frame_text, address, line.p);
}

/* Processes a line "  file:line" of perf script -F+srcline, which belongs to the frame before it. " (inlined)" after
 * the line number marks that frame as inlined. Returns false if the line is no source line, or follows no frame. */
static bool perfscript_srcline(struct script *script, struct str line)
{
	struct str text = str_trim(line);
	struct names_frame frame;
	bool inlined;

	/* A line with three blanks is a frame line whose TAB has become blanks, for example in text copied from a
	 * terminal. */
	if (line.n < 3 || line.p[0] != ' ' || line.p[1] != ' ' || line.p[2] == ' ' || text.n == 0)
		return false;
	if (perfscript_state(script) == SAMPLE_IGNORED)
		return true;
	textstacks_look_up(&script->text);
	script->text.regular = false;
	if (script->samples.nframes == 0)
		return false;
	inlined = str_ends(text, STR(" (inlined)"));
	if (inlined)
		text.n -= 10;
	if (!inlined && !script->samples.options->srcline)
		return true;
	frame = linecache_split(script->text.last_line);
	frame.inlined = frame.inlined || inlined;
	frame.line = script->samples.options->srcline ? text : (struct str){ 0 };
	textstacks_rename_last(&script->text, frame);
	return true;
}

/* ---- classification of lines -------------------------------------------------------------------------------- */

/* Returns frame_text up to the end of its DSO. With -F+insn and other options, perf script prints more text after the
 * DSO, for example "sym+0x1 (/x) insn: 48 83". */
static struct str without_payload(struct str frame_text)
{
	ptrdiff_t open = str_find_str(frame_text, STR(" (/")), depth = 0;

	if (open < 0)
		open = str_find_str(frame_text, STR(" (["));
	for (size_t i = (size_t)(open + 1); open >= 0 && i < frame_text.n; i++) {
		depth += (frame_text.p[i] == '(') - (frame_text.p[i] == ')');
		if (depth == 0)
			return str_head(frame_text, i + 1);
	}
	return frame_text;
}

/* Returns the part of a perf mem payload after the data source, "68100142 |OP LOAD|...|LCK No|BLK  N/A   7 7f00 sym
 * (dso)": the weight, 7, and the frame if there is no callchain. Returns a payload without a data source unchanged. */
static struct str after_data_source(struct str payload)
{
	ptrdiff_t at = str_find_str(payload, STR(" |OP "));
	struct str rest, word;
	uint64_t number;

	if (likely(at < 0))
		return payload;
	rest = str_from(payload, (size_t)at);
	at = str_find_str(rest, STR("|BLK "));
	if (at < 0)
		at = str_find_str(rest, STR("|LCK "));
	rest = str_from(rest, at < 0 ? rest.n : (size_t)at + 5);
	for (;;) { /* skip the words of the last field of the data source: "N/A", "Data Addr" */
		struct str after = rest = str_trim_left(rest);

		word = str_cut(&after, ' ');
		if (word.n == 0 || str_hex(word, &number))
			return rest;
		rest = after;
	}
}

/*
 * Sets *address and *frame_text to the only frame of a sample without callchain. perf prints this frame in the header
 * line, with the address padded to 16 columns: "cycles:  ffffffff821f236b sym+0x1 (dso)"; with -F+addr, after the data
 * address. Returns false if there is no frame: the payload of a tracepoint is at the same position, but is no frame.
 */
static bool single_frame(const struct sample_key *key, struct str *address, struct str *frame_text)
{
	struct str second, third, payload;
	bool has_source;

	if (key->rest.n == 0)
		return false;
	payload = after_data_source(key->rest);
	has_source = payload.n < key->rest.n;
	if (!split_address(payload, address, frame_text) || frame_text->n == 0)
		return false;
	if (!has_source && key->rest_width < 17 && (address->n < 6 || key->rest.p[key->rest.n - 1] != ')'))
		return false;
	while (split_address(*frame_text, &second, &third) && third.n && second.n >= (has_source ? 1 : 4) &&
	       (size_t)(second.p + second.n - frame_text->p) >= (has_source && address->n < 6 ? 1u : 16u)) {
		*address = second;
		*frame_text = third;
		if (!has_source)
			break;
	}
	*frame_text = without_payload(*frame_text);
	return true;
}

static void sample_line(struct script *script, struct str line, const struct sample_key *key)
{
	struct str address, frame_text;

	/* All headers of a file have the same fields. So a header without an event is damaged if other headers have an
	 * event: the damaged header is counted as malformed, and its frames are ignored. */
	if (key->event.n == 0 && key->time.n && script->samples.event_name.n) {
		skip_line(script, line);
		script->samples.sample.state = SAMPLE_IGNORED;
		return;
	}
	textstacks_open(&script->text, key);
	script->single = single_frame(key, &address, &frame_text);
	if (script->single && perfscript_state(script) == SAMPLE_OPEN)
		textstacks_frame(&script->text, frame_text, address, NULL);
}

static bool perfscript_is_comment(struct str line)
{
	return line.p[0] == '#' && (line.n == 1 || line.p[1] == ' ');
}

/* Stores host name and sampling frequency from comments of perf script --header: "# hostname : vm" and "# event : name
 * = cycles, ... { sample_period, sample_freq } = 99, ...". */
static void perfscript_comment(struct script *script, struct str line)
{
	ptrdiff_t i = str_find_str(line, STR("sample_freq } = "));
	struct str rest;

	if (str_starts(line, STR("# hostname : ")) && script->samples.host.n == 0)
		script->samples.host = arena_copy(&script->samples.text, str_trim(str_from(line, 13)));
	if (i > 0 && script->samples.frequency.n == 0 && str_find_str(line, STR("freq = 1")) > 0) {
		rest = str_from(line, (size_t)i + 16);
		script->samples.frequency = arena_copy(&script->samples.text, str_cut(&rest, ','));
	}
}

/* Returns true for a source line like "file:12" or "libc.so.6[1f4e]". Returns false for all other lines. Called after a
 * sample without callchain, where a line that starts with blanks need not be a source line. */
static bool is_source_place(struct str line)
{
	struct str text = str_trim(line);
	ptrdiff_t colon = str_rfind(text, ':'), bracket = str_rfind(text, '[');
	uint64_t number;

	/* In place of "file:12", perf prints "dso[1f4e]" (DSO and offset) for code without line information. */
	if (bracket > 0 && str_ends(text, STR("]")) && str_find(text, ' ') < 0)
		return true;
	return str_ends(text, STR(" (inlined)")) || (colon > 0 && str_u64(str_from(text, (size_t)colon + 1), &number));
}

/* Processes a line that is not empty and does not start with a TAB: a header, a comment, a source line, or a frame
 * without TAB. Any other line is malformed if a sample is open; otherwise it is a weak header, which waits for its
 * frames. */
static void other_line(struct script *script, struct str line)
{
	struct str address, frame_text;
	struct sample_key key;

	switch (samplekey_parse(line, &key)) {
	case SAMPLEKEY_SAMPLE:
		perfscript_close_sample(script, NULL);
		sample_line(script, line, &key);
		return;
	case SAMPLEKEY_RECORD:
		perfscript_close_sample(script, NULL);
		script->samples.tally.lost += key.lost;
		return;
	case SAMPLEKEY_DEFERRED:
		perfscript_close_sample(script, NULL);
		script->samples.tally.deferred++;
		script->samples.sample.state = SAMPLE_IGNORED;
		return;
	case SAMPLEKEY_WEAK:
	case SAMPLEKEY_NONE: break;
	}
	if (perfscript_is_comment(line)) {
		perfscript_comment(script, line);
		return;
	}
	if (script->single && is_source_place(line) && perfscript_srcline(script, line))
		return;
	if (!script->single && perfscript_state(script) != SAMPLE_NONE) {
		if (textstacks_has_frames(&script->text) && perfscript_srcline(script, line))
			return;
		/* perf 3.x prints frames without a TAB */
		if (split_address(line, &address, &frame_text) && frame_text.n) {
			if (perfscript_state(script) == SAMPLE_OPEN)
				textstacks_frame(&script->text, frame_text, address, NULL);
			return;
		}
		if (perfscript_srcline(script, line))
			return;
		skip_line(script, line);
		return;
	}
	perfscript_close_sample(script, NULL);
	if (single_frame(&key, &address, &frame_text)) {
		sample_line(script, line, &key);
		return;
	}
	if (split_address(line, &address, &frame_text) && frame_text.n &&
	    line.p[0] == ' ') { /* perf script -F ip,sym without callchain prints frames without headers */
		perfscript_headerless(script);
		if (perfscript_state(script) == SAMPLE_OPEN)
			textstacks_frame(&script->text, frame_text, address, NULL);
		perfscript_close_sample(script, NULL);
		return;
	}
	script->weak = true;
	script->weak_header = key;
	script->weak_line = line;
	script->weak_number = script->line;
}

/* The last lines of a sample that equal the last lines of the thread's previous sample. */
struct shared {
	const char *from; /* start of the first shared line */
	const char *end;  /* the empty line after the shared lines */
	uint32_t lines;
};

static void script_lines(struct script *script, const char *at, const char *end, bool share);

/* Sets *shared to the last lines of the sample that equal the last lines of the thread's previous sample. at: start of
 * the sample's frames; end: end of the block of text. Returns false if there are no equal lines. */
static bool find_shared(struct script *script, const char *at, const char *end, struct shared *shared)
{
	const struct suffix_sample *last = textstacks_before(&script->text);

	shared->end = suffixcache_end(at - 1, end - at > SHARE_MAX ? at + SHARE_MAX : end);
	if (!shared->end) {
		script->share_here = false; /* no empty line within SHARE_MAX bytes: stop searching in this block */
		return false;
	}
	if (last->n == 0 || last->block != script->text.block + 1)
		return false;
	shared->lines = suffixcache_match(&script->text.suffixes, last, at, shared->end);
	if (shared->lines == 0)
		return false;
	shared->from =
		shared->end - (last->end - script->text.suffixes.line[last->first + last->n - shared->lines].start);
	return true;
}

/* Processes the lines of the open sample from `at` to the shared lines. If all are frames of this sample, closes the
 * sample with the nodes of the shared lines, which need not be parsed. Returns the position of the next line to
 * read. */
static const char *perfscript_take_shared(struct script *script, const char *at, const struct shared *shared)
{
	uint64_t serial = script->text.serial;

	script_lines(script, at, shared->from, false);
	if (script->text.serial != serial || perfscript_state(script) != SAMPLE_OPEN || !script->text.regular ||
	    script->samples.nframes)
		return shared->from;
	script->text.shared = shared->lines;
	script->line += shared->lines + 1;
	perfscript_close_sample(script, shared->end);
	return shared->end + 1;
}

static void script_lines(struct script *script, const char *at, const char *end, bool share)
{
	struct shared shared;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)), *from = at;
		struct str line = { at, (size_t)((newline ? newline : end) - at) };

		script->line++;
		at += line.n + 1;
		if (line.n && line.p[line.n - 1] == '\r')
			line.n--;
		if (likely(line.n && line.p[0] == '\t') && (line.n > 18 || !str_is_blank(line))) {
			frame_line(script, line);
		} else if (str_is_blank(line)) {
			perfscript_close_sample(script, from);
		} else {
			other_line(script, line);
			if (share && script->share_here && script->samples.root &&
			    perfscript_state(script) == SAMPLE_OPEN && !textstacks_has_frames(&script->text) &&
			    newline && find_shared(script, at, end, &shared))
				at = perfscript_take_shared(script, at, &shared);
		}
	}
}

void script_block(struct script *script, struct str text, uint64_t block)
{
	textstacks_block(&script->text, block);
	script->line = 0;
	script->share_here = script->text.share;
	script_lines(script, text.p, text.p + text.n, true);
	perfscript_close_sample(script, NULL);
}

/* ---- borders between samples -------------------------------------------------------------------------------- */

/* A border between samples is after an empty line and before a line that certainly is a header. */
size_t script_last_border(struct str text)
{
	ptrdiff_t newline = str_rfind(text, '\n');
	struct sample_key key;

	while (newline >= 0) {
		struct str before = str_head(text, (size_t)newline), line;
		ptrdiff_t i = str_rfind(before, '\n');

		line = str_from(before, (size_t)(i + 1));
		if (str_is_blank(line))
			return (size_t)newline + 1;
		if (line.p[0] != '\t') {
			enum samplekey_kind kind = samplekey_parse(line, &key);

			if (kind == SAMPLEKEY_SAMPLE || kind == SAMPLEKEY_RECORD || kind == SAMPLEKEY_DEFERRED)
				return (size_t)(i + 1);
		}
		newline = i;
	}
	return 0;
}

bool script_looks_like(struct str line)
{
	struct str address, frame_text;
	struct sample_key key;

	if (line.n && line.p[0] == '\t')
		return split_address(line, &address, &frame_text);
	switch (samplekey_parse(line, &key)) {
	case SAMPLEKEY_SAMPLE:
	case SAMPLEKEY_RECORD:
	case SAMPLEKEY_DEFERRED: return true;
	case SAMPLEKEY_WEAK:
	case SAMPLEKEY_NONE: break;
	}
	return single_frame(&key, &address, &frame_text) ||
	       (line.p[0] == ' ' && split_address(line, &address, &frame_text) && address.n >= 6 && frame_text.n);
}
