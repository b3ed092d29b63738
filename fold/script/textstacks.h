/* SPDX-License-Identifier: Apache-2.0 */
/*
 * textstacks.h - turns the frame lines of `perf script` text into frames of samples.
 *
 * perf script prints the same frames and the same outer lines again and again. So the module only collects lines until
 * the sample is closed. Then it looks up all lines together in a cache of lines (linecache.h). For outer lines that
 * equal the outer lines of the thread's last sample, it reuses the nodes (suffixcache.h). It also applies the options
 * that change stacks by the names of frames. samples.h contains all functions that do not depend on text.
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

/* The last sample of a thread. The thread's next sample reuses the nodes of the outer lines that both samples share.
 * Headers with the same cache entry (struct samples_root) belong to the same thread. */
struct textstacks_last {
	/* samples_root.number at the time of the sample; if samples_root.number has another value now, the cache entry
	 * belongs to another thread */
	uint64_t number;
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
	/* for each frame id: 1 if --skip-after names the frame, 2 if not, 0 if not compared yet */
	uint8_t *skip;
	size_t skip_cap;
	/* The last sample of each thread: SAMPLES_ROOTS elements; the index is the index of the thread's
	 * samples_root. */
	struct textstacks_last *last;
	struct suffixcache suffixes;
	/* True without --skip-after, --collapse-recursion and --addrs, which drop or change frames. Then a sample can
	 * reuse the nodes of its last lines, the outermost frames, if they equal the last lines of the thread's
	 * previous sample (suffixcache.h). */
	bool share;
	uint64_t serial; /* number of samples opened so far, including the open one */
	bool regular;    /* true if all lines of the open sample so far are frames after a TAB */
	uint32_t shared; /* number of last lines that the open sample shares with the thread's previous sample */
	uint64_t block;  /* number of the current block of text in the run */
};

/* Prepares *text, through which samples are added to *samples. textstacks_free frees its memory; *samples must not move
 * until then. */
void textstacks_init(struct textstacks *text, struct samples *samples);
void textstacks_free(struct textstacks *text);

/* Begins a block of text. Samples share lines within a block only, since the text is freed after the block. */
void textstacks_block(struct textstacks *text, uint64_t block);

/* Opens a sample; `key` need not stay valid. If the sample is not selected, its frames are ignored, and
 * samples->sample.state is not SAMPLE_OPEN. */
void textstacks_open(struct textstacks *text, const struct sample_key *key);

/* Pushes the next frame of the open sample: frame_text is the text after the address (linecache.h), address is
 * hexadecimal. Both must stay valid until the sample is closed. start: start of the line, or NULL if the line does not
 * begin with a TAB. */
void textstacks_frame(struct textstacks *text, struct str frame_text, struct str address, const char *start);

/* Returns true if the open sample has frames or collected lines, false if it has neither. */
bool textstacks_has_frames(const struct textstacks *text);

/* Returns the last sample of the open sample's thread; its member n is 0 if the thread has no earlier sample in this
 * block. Returns NULL if headers do not identify threads. */
const struct suffix_sample *textstacks_before(struct textstacks *text);

/* Looks up the collected lines, and pushes their frames to the open sample. */
void textstacks_look_up(struct textstacks *text);

/* Replaces the frames of the last frame line by the names of `frame`. To be called after textstacks_look_up. */
void textstacks_rename_last(struct textstacks *text, struct names_frame frame);

/* Closes the sample and adds it to the tree. end: the empty line after its text, if the thread's next sample can reuse
 * the nodes of its last lines; otherwise NULL. */
void textstacks_close(struct textstacks *text, const char *end);

/* Counts a malformed line, line `number` of the block. */
void textstacks_skip(struct textstacks *text, struct str line, uint64_t number);

#endif
