/* SPDX-License-Identifier: Apache-2.0 */
/*
 * textstacks.h - turns the frame lines of `perf script` text into frames of samples.
 *
 * perf script prints the same frames and the same outer lines again and again. So lines are only collected until the
 * sample is closed. Then all are looked up together in a cache of lines (linecache.h), and the outer lines that equal
 * those of the thread's last sample are taken over with their nodes (suffixcache.h). This module also applies the
 * options that change stacks by the names of frames. samples.h does all that does not depend on text.
 *
 *	textstacks_open(&text, &key);
 *	for (...)
 *		textstacks_frame(&text, STR("main+0x1a (/bin/x)"), STR("401136"), line);
 *	textstacks_close(&text, end_of_text);
 */
#ifndef PJ_TEXTSTACKS_H
#define PJ_TEXTSTACKS_H

#include "fold/samples/samples.h"
#include "fold/script/linecache.h"
#include "fold/script/suffixcache.h"

/* The last sample of one thread, that is, of the samples whose header has one cache entry (struct samples_root). The
 * next such sample reuses the nodes of the outer lines that both share. */
struct textstacks_last {
	uint64_t number; /* samples_root.number of the cache entry; if it differs, the entry is that of another thread
			    now */
	struct suffix_sample sample;
};

struct textstacks {
	struct samples *samples;
	struct linecache lines;
	/* Frame lines of the open sample that are not looked up yet. */
	struct line_ref *ref;
	size_t nrefs, refs_cap;
	size_t last_frame;    /* index in samples->frame of the first frame of the last line looked up */
	struct str last_line; /* text of the last frame line after its address */
	uint8_t *skip;        /* by frame id: 1 if --skip-after names it, 2 if not, 0 if not compared yet */
	size_t skip_cap;
	struct textstacks_last *last; /* SAMPLES_ROOTS elements, by index of the samples_root */
	struct suffixcache suffixes;
	bool share;      /* samples may share their last lines (suffixcache.h) */
	uint64_t serial; /* number of samples opened so far, the open one included */
	bool regular;    /* all lines of the open sample so far are frames after a TAB */
	uint32_t shared; /* number of last lines of the open sample that equal those of the sample before it */
	uint64_t block;  /* number of the current block of text */
};

/* Prepares *text, which adds to *samples. textstacks_free frees it; *samples must not move meanwhile. */
void textstacks_init(struct textstacks *text, struct samples *samples);
void textstacks_free(struct textstacks *text);

/* Begins a block of text. Samples share lines within a block only, since its text is freed at its end. */
void textstacks_block(struct textstacks *text, uint64_t block);

/* Opens a sample; `key` need not stay valid. If the sample is not selected, its frames are ignored, and
 * samples->sample.state is not SAMPLE_OPEN. */
void textstacks_open(struct textstacks *text, const struct sample_key *key);

/* Pushes the next frame of the open sample: frame_text as in linecache.h, address in hex. Both must stay valid
 * until the sample is closed. `start`: the start of its line, or NULL if the line does not begin with a TAB. */
void textstacks_frame(struct textstacks *text, struct str frame_text, struct str address, const char *start);

/* Returns true if the open sample has frames or collected lines. */
bool textstacks_has_frames(const struct textstacks *text);

/* Returns the lines of the last sample of the open sample's thread, with n == 0 if there is none; NULL if headers do
 * not identify threads. */
const struct suffix_sample *textstacks_before(const struct textstacks *text);

/* Looks up the collected lines and pushes their frames to the open sample. */
void textstacks_look_up(struct textstacks *text);

/* Replaces the frames of the last line, which has been looked up, by the names of `frame`. */
void textstacks_rename_last(struct textstacks *text, struct names_frame frame);

/* Closes the sample and adds it to the tree. `end`: the empty line that ends its text if the next sample may share its
 * last lines; otherwise NULL. */
void textstacks_close(struct textstacks *text, const char *end);

/* Counts a malformed line, line `number` of the block. */
void textstacks_skip(struct textstacks *text, struct str line, uint64_t number);

#endif
