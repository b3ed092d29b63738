/* SPDX-License-Identifier: Apache-2.0 */
#include "journal.h"

#include "arena.h"
#include "clocks.h"
#include "codelets.h"
#include "codemap.h"
#include "jmapfile.h"
#include "whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the file -------------------------------------------------------------------------------------------------- */

/* How much of the file is whole; 0: nothing. */
static off_t whole_part(int fd)
{
	struct text t = { 0 };
	struct str rest, body;
	off_t whole = 0;

	whole_read(fd, &t, SIZE_MAX); /* what cannot be read is not whole */
	rest = text_view(&t);
	if (str_starts(rest, STR(JMAP_MAGIC))) {
		rest = str_from(rest, JMAP_MAGIC_BYTES);
		while (jmap_next(&rest, &body) > 0)
			;
		whole = (off_t)(t.n - rest.n);
	}
	text_free(&t);
	return whole;
}

/* A run begins behind so many bytes that are whole. */
static bool begin(struct journal *t, off_t whole)
{
	struct text file = { 0 }, body = { 0 };
	bool good;

	if (ftruncate(t->fd, whole) < 0 || lseek(t->fd, whole, SEEK_SET) < 0)
		return false;
	if (whole == 0)
		text_str(&file, STR(JMAP_MAGIC));
	text_char(&body, JMAP_START);
	text_add(&body, t->start);
	jmap_frame(&file, text_view(&body));
	good = whole_write(t->fd, text_view(&file));
	t->written += file.n;
	t->size = (uint64_t)whole + file.n;
	text_free(&file);
	text_free(&body);
	return good;
}

/* Locked, and still what the name means: who removes timelines may have been faster. */
static int open_locked(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0640), saved;
	struct stat st, named;

	if (fd < 0)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		    st.st_ino == named.st_ino)
			return fd;
		errno = EINVAL;
	}
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

const char *journal_open(struct journal *t, const char *dir, const struct jvm_process *p, const char *version)
{
	char boot[BOOT_ID + 1];
	int saved;

	*t = (struct journal){ .fd = -1, .folder = -1 };
	if (!boot_id("/proc", boot))
		return "the id of this boot cannot be read, for";
	mapsdir_name(t->file, p->pid, p->start);
	snprintf(t->path, sizeof(t->path), "%.350s/maps/%s/%s", dir, boot, t->file);
	snprintf(t->start, sizeof(t->start), "boot=%s pid=%d inner=%d start=%llu version=%s", boot, (int)p->pid, (int)p->inner,
		 (unsigned long long)p->start, version);
	t->folder = mapsdir_enter(dir, boot);
	t->fd = t->folder < 0 ? -1 : open_locked(t->folder, t->file);
	if (t->fd >= 0 && begin(t, whole_part(t->fd)))
		return NULL;
	saved = errno;
	journal_close(t, false);
	errno = saved;
	return "cannot write into";
}

#define ANEW ".anew-"

static void anew_name(const struct journal *t, char name[MAPSDIR_NAME + 8])
{
	snprintf(name, MAPSDIR_NAME + 8, ANEW "%s", t->file);
}

bool journal_begin_anew(struct journal *t)
{
	char name[MAPSDIR_NAME + 8];
	int old = t->fd, saved;

	anew_name(t, name);
	if (t->anew)
		return true;
	unlinkat(t->folder, name, 0); /* of a run that was killed: its lock is gone */
	t->fd = open_locked(t->folder, name);
	if (t->fd < 0 || !begin(t, 0)) {
		saved = errno;
		if (t->fd >= 0)
			close(t->fd);
		t->fd = old;
		errno = saved;
		return false;
	}
	close(old);
	intern_free(&t->names);
	t->nlive = 0;
	t->next_serial = 0;
	t->interpreter = false;
	t->nstubs = 0;
	t->stubs_first = 0;
	t->torn_said = t->unnamed_said = t->whole_size = 0;
	return t->anew = true;
}

/* What began anew is all there now. */
static bool take_name(struct journal *t)
{
	char name[MAPSDIR_NAME + 8];

	anew_name(t, name);
	t->anew = false;
	return renameat(t->folder, name, t->folder, t->file) == 0;
}

/* ---- a scan ---------------------------------------------------------------------------------------------------- */

/* What changed, while it is put together. */
struct change {
	struct text names, gone, come, text, inlined;
	struct intern methods; /* Method* of this scan */
	uint32_t *name;        /* of methods: in names */
	size_t names_cap;
	struct scopes scopes;
	struct hotspot *h;
	struct journal *j;
	uint64_t nnames, ngone, ncome, last_gone, last_begin, unnamed;
};

static bool is_same(const struct blob *a, const struct blob *b)
{
	return a->address == b->address && a->begin == b->begin && a->end == b->end && a->method == b->method && a->compile_id == b->compile_id &&
	       a->name == b->name;
}

static uint32_t name_id(struct journal *t, struct change *c, struct str name)
{
	uint32_t known = t->names.n, id = intern(&t->names, name);

	if (id > known) {
		jmap_number(&c->names, name.n);
		text_str(&c->names, name);
		c->nnames++;
	}
	return id;
}

static void put_gone(struct change *c, uint64_t serial)
{
	jmap_signed(&c->gone, (int64_t)(serial - c->last_gone));
	c->last_gone = serial;
	c->ngone++;
}

static void put_come(struct change *c, const struct blob *b, uint32_t name)
{
	jmap_signed(&c->come, (int64_t)(b->begin - c->last_begin));
	jmap_number(&c->come, b->end - b->begin);
	jmap_number(&c->come, b->compiled ? JMAP_COMPILED : JMAP_STUB);
	if (b->compiled) {
		jmap_number(&c->come, b->compile_id);
		jmap_number(&c->come, (uint64_t)(b->level < 0 ? 0 : b->level));
	}
	jmap_number(&c->come, name - 1);
	c->last_begin = b->begin;
	c->ncome++;
}

/* The name of an inlined method; within a scan a Method* stays what it is. */
static uint32_t method_number(void *arg, uint64_t method)
{
	struct change *c = arg;
	struct blob b = { .compiled = true, .method = method };
	uint32_t known = c->methods.n, id = intern(&c->methods, (struct str){ (const char *)&method, sizeof(method) });

	if (id <= known)
		return c->name[id];
	if (id >= c->names_cap) {
		c->names_cap = c->names_cap ? c->names_cap * 2 : 1024;
		c->name = mem_grow(c->name, sizeof(*c->name), c->names_cap);
	}
	c->text.n = 0;
	c->name[id] = hotspot_name(c->h, &b, METHOD_HOTSPOT, &c->text) ? name_id(c->j, c, text_view(&c->text)) : 0;
	return c->name[id];
}

static void put_inlined(struct change *c, const struct blob *b, uint64_t serial)
{
	const struct scopes *s = &c->scopes;
	struct text body = { 0 };
	uint32_t last = 0;

	if (!scopes_read(&c->scopes, &c->h->memory, &c->h->layout, &c->h->packing, b, method_number, c))
		return;
	text_char(&body, JMAP_INLINED);
	jmap_number(&body, serial);
	jmap_number(&body, s->n - 1);
	for (uint32_t i = 1; i < s->n; i++) {
		jmap_number(&body, s->node[i].parent);
		jmap_number(&body, s->node[i].method - 1);
	}
	jmap_number(&body, s->nruns);
	for (uint32_t i = 0; i < s->nruns; last = s->run[i++].end) {
		jmap_number(&body, s->run[i].end - last);
		jmap_number(&body, s->run[i].node);
	}
	jmap_frame(&c->inlined, text_view(&body));
	text_free(&body);
}

/* What is new in this scan, by address, in *fresh: names are read of all, and what is another by then waits for the
 * next scan. */
static size_t find_new(struct journal *t, struct hotspot *h, struct blob **fresh)
{
	const struct codecache *now = &h->code;
	uint64_t *method;
	size_t i = 0, n = 0, nmethods = 0;

	for (size_t j = 0; j < now->n; j++) {
		while (i < t->nlive && t->live[i].address < now->blob[j].address)
			i++;
		if (i < t->nlive && is_same(&t->live[i], &now->blob[j]))
			continue;
		*fresh = mem_more(*fresh, sizeof(**fresh), n);
		(*fresh)[n++] = now->blob[j];
	}
	method = mem_grow(NULL, sizeof(*method), n + 1);
	for (size_t k = 0; k < n; k++)
		if ((*fresh)[k].compiled)
			method[nmethods++] = (*fresh)[k].method;
	hotspot_expect(h, method, nmethods, true);
	framefacts_read(&t->frames, h, *fresh, n);
	free(method);
	return codecache_keep_same(&h->memory, &h->layout, *fresh, n);
}

#define INTERPRETER STR("Interpreter")

/* The interpreter's parts come once, as soon as they are known, beside the whole: who asks for an address gets the piece that
 * begins nearest. */
static void put_interpreter(struct journal *t, struct hotspot *h, struct change *c)
{
	uint32_t name = intern_find(&t->names, INTERPRETER);
	struct codelets parts;

	for (size_t i = 0; i < t->nlive && name && !t->interpreter; i++) {
		if (t->live[i].compiled || t->name[i] != name)
			continue;
		if (!codelets_read(&parts, h, &h->code, &t->live[i]))
			return;
		for (size_t k = 0; k < parts.n; k++) {
			struct blob b = { .begin = parts.one[k].begin, .end = parts.one[k].end };

			put_come(c, &b, name_id(t, c, codelets_name(&parts, &parts.one[k])));
			t->next_serial++;
		}
		framefacts_interpreter(&t->frames, h, &t->live[i]);
		codelets_free(&parts);
		t->interpreter = true;
	}
}

static size_t count_stub_blocks(const struct journal *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nlive; i++)
		n += !t->live[i].compiled && stubs_is_block(intern_str(&t->names, t->name[i]));
	return n;
}

static bool was_written(const struct journal *t, uint64_t begin)
{
	for (size_t i = 0; i < t->nstubs; i++)
		if (t->stub[i] == begin)
			return true;
	return false;
}

#define STUB_TRIES 20 /* each costs some milliseconds */

/* Stubs come as the interpreter's parts do, each once: some blocks are filled while it runs. The list is searched for when there is
 * a block more, which may still be filled. */
static void put_stubs(struct journal *t, struct hotspot *h, struct change *c)
{
	size_t blocks = count_stub_blocks(t);

	if (blocks != t->stub_blocks)
		t->stub_tries = 0;
	t->stub_blocks = blocks;
	if (blocks == 0 || (!t->stubs.head && t->stub_tries++ >= STUB_TRIES))
		return;
	if (!stubs_read(&t->stubs, h, &h->code) || t->stubs.first == t->stubs_first)
		return;
	t->stubs_first = t->stubs.first;
	for (size_t i = 0; i < t->stubs.n; i++) {
		const struct stub *s = &t->stubs.one[i];
		struct blob b = { .begin = s->begin, .end = s->end };

		if (was_written(t, s->begin))
			continue;
		put_come(c, &b, name_id(t, c, stubs_name(&t->stubs, s)));
		t->next_serial++;
		t->stub = mem_more(t->stub, sizeof(*t->stub), t->nstubs);
		t->stub[t->nstubs++] = s->begin;
	}
}

/* Both lists ascend by address. What is new gets a name now; what cannot be named waits for the next scan. */
static void compare(struct journal *t, struct hotspot *h, struct change *c)
{
	struct codecache *now = &h->code;
	struct blob *live = mem_grow(NULL, sizeof(*live), now->n + 1), *fresh = NULL;
	uint64_t *serial = mem_grow(NULL, sizeof(*serial), now->n + 1);
	uint32_t *name = mem_grow(NULL, sizeof(*name), now->n + 1);
	size_t i = 0, n = 0, f = 0, nfresh = find_new(t, h, &fresh);

	for (size_t j = 0; j < now->n; j++) {
		const struct blob *b = &now->blob[j];

		while (i < t->nlive && t->live[i].address < b->address)
			put_gone(c, t->serial[i++]);
		if (i < t->nlive && is_same(&t->live[i], b)) {
			live[n] = *b;
			name[n] = t->name[i];
			serial[n++] = t->serial[i++];
			continue;
		}
		if (i < t->nlive && t->live[i].address == b->address)
			put_gone(c, t->serial[i++]);
		c->text.n = 0;
		while (f < nfresh && fresh[f].address < b->address)
			f++;
		if (f == nfresh || fresh[f].address != b->address || !hotspot_name(h, b, METHOD_HOTSPOT, &c->text)) {
			c->unnamed++;
			continue;
		}
		name[n] = name_id(t, c, text_view(&c->text));
		put_come(c, b, name[n]);
		if (b->compiled) {
			put_inlined(c, b, t->next_serial);
			framefacts_compiled(&t->frames, b, t->next_serial);
		} else if (!str_eq(text_view(&c->text), INTERPRETER)) { /* its pieces come when all of them are known */
			framefacts_other(&t->frames, h, b);
		}
		live[n] = *b;
		serial[n++] = t->next_serial++;
	}
	while (i < t->nlive)
		put_gone(c, t->serial[i++]);
	free(fresh);
	free(t->live);
	free(t->serial);
	free(t->name);
	t->name = name;
	t->live = live;
	t->serial = serial;
	t->nlive = n;
	put_interpreter(t, h, c);
	put_stubs(t, h, c);
}

/* What a scan could not read; only what is other than in the one before. */
static void put_left_out(struct journal *t, const struct change *c, uint64_t began, struct text *file)
{
	struct text body = { 0 };

	if (t->torn_said == c->h->code.torn && t->unnamed_said == c->unnamed)
		return;
	text_char(&body, JMAP_LEFT);
	jmap_number(&body, began);
	jmap_number(&body, t->torn_said = c->h->code.torn);
	jmap_number(&body, t->unnamed_said = c->unnamed);
	jmap_frame(file, text_view(&body));
	text_free(&body);
}

static void put_scan(const struct journal *t, const struct change *c, uint64_t began, uint64_t took, struct text *file)
{
	struct text body = { 0 };

	if (c->nnames) {
		text_char(&body, JMAP_NAMES);
		jmap_number(&body, c->nnames);
		text_str(&body, text_view(&c->names));
		jmap_frame(file, text_view(&body));
		body.n = 0;
	}
	text_char(&body, JMAP_SCAN);
	jmap_number(&body, t->before);
	jmap_number(&body, t->before_ns);
	jmap_number(&body, began);
	jmap_number(&body, took);
	jmap_number(&body, c->ngone);
	text_str(&body, text_view(&c->gone));
	jmap_number(&body, c->ncome);
	text_str(&body, text_view(&c->come));
	jmap_frame(file, text_view(&body));
	text_str(file, text_view(&c->inlined));
	text_free(&body);
}

static bool append(struct journal *t, const struct change *c, uint64_t began, uint64_t took)
{
	struct text file = { 0 };
	bool good = true;

	if (c->ncome + c->ngone)
		put_scan(t, c, began, took, &file);
	framefacts_end(&t->frames, &file);
	put_left_out(t, c, began, &file);
	if (file.n)
		good = whole_write(t->fd, text_view(&file));
	t->written += file.n;
	t->size += file.n;
	if (good && t->whole_size == 0)
		t->whole_size = file.n;
	if (good && t->anew)
		good = take_name(t);
	text_free(&file);
	return good;
}

/* The file's time is that of the last scan, also of one that changed nothing: pjsend waits for it (send/scans.h). */
static void mark(const struct journal *t, uint64_t took)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };
	uint64_t ns = clock_wall() - took;

	times[1] = (struct timespec){ (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
	futimens(t->fd, times);
}

struct hotspot_reason journal_scan(struct journal *t, struct hotspot *h, const char **failed)
{
	struct change c = { .h = h, .j = t };
	uint64_t began = clock_now(), took;
	struct hotspot_reason r = hotspot_scan(h);

	*failed = NULL;
	if (r.code)
		return r;
	compare(t, h, &c);
	took = clock_now() - began;
	if (!t->anew) { /* else it is what was there already */
		t->added += c.ncome;
		t->removed += c.ngone;
	}
	t->torn = h->code.torn;
	t->unnamed = c.unnamed;
	if (!append(t, &c, began, took))
		*failed = "cannot write into";
	mark(t, took);
	t->before = began;
	t->before_ns = took;
	text_free(&c.names);
	text_free(&c.gone);
	text_free(&c.come);
	text_free(&c.text);
	text_free(&c.inlined);
	intern_free(&c.methods);
	scopes_free(&c.scopes);
	free(c.name);
	return r;
}

void journal_map(const struct journal *t, enum method_style style, struct text *text)
{
	struct text name = { 0 };

	for (size_t i = 0; i < t->nlive; i++) {
		struct str known = intern_str(&t->names, t->name[i]);

		name.n = 0;
		if (t->live[i].compiled)
			methods_respell(&name, known, style);
		else
			text_str(&name, known);
		codemap_line(t->live[i].begin, t->live[i].end, text_view(&name), style == METHOD_HOTSPOT, text);
	}
	text_free(&name);
}

void journal_close(struct journal *t, bool ended)
{
	struct text file = { 0 }, body = { 0 };

	if (t->fd >= 0 && ended) {
		text_char(&body, JMAP_END);
		jmap_number(&body, t->before + t->before_ns);
		jmap_frame(&file, text_view(&body));
		whole_write(t->fd, text_view(&file)); /* without it all is known but that it ended */
	}
	if (t->fd >= 0)
		close(t->fd);
	if (t->anew) {
		char name[MAPSDIR_NAME + 8];

		anew_name(t, name);
		unlinkat(t->folder, name, 0);
	}
	if (t->folder >= 0)
		close(t->folder);
	text_free(&file);
	text_free(&body);
	intern_free(&t->names);
	framefacts_free(&t->frames);
	stubs_free(&t->stubs);
	free(t->stub);
	free(t->live);
	free(t->serial);
	free(t->name);
	*t = (struct journal){ .fd = -1, .folder = -1 };
}
