// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compaction-aware zone allocation: H.-R. Lee et al., Compaction-Aware Zone Allocation for LSM
 * based Key-Value Store on ZNS SSDs (HotStorage 2022).
 *
 * A merge reads a file and those of the next level whose keys overlap with it; all of them die
 * at the same time, whatever their levels. So a file goes to the open zone that holds most of the
 * files whose keys overlap with its own, one level above or below; if there is none, to that
 * which holds most of levels 0 and 1 if it is of one of these, or else to that of the file of its
 * own level that is nearest by key; and failing that to a new zone. Files that are being merged
 * do not count, as they are about to die. If no zone may be opened, or nothing is known of the
 * keys, it is by ZenFS's rule, as is what GC moves.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "sim.h"

/**
 * struct part - what a zone holds of a file
 * @file: which
 * @n: its blocks there that are in use
 */
struct part {
	u32 file;
	u32 n;
};

/**
 * struct parts - of a zone
 * @part: in the order of their first block there
 * @n: how many
 * @size: for so many there is memory
 */
struct parts {
	struct part *part;
	u32 n;
	u32 size;
};

/**
 * struct caza_file - a file
 * @keys: in it
 * @merged: it is about to die
 */
struct caza_file {
	struct sim_keys keys;
	bool merged;
};

/**
 * struct caza - state
 * @of: by file
 * @files: so many
 * @file: by logical block, that it is of
 * @zone: by zone
 * @stream: by stream, the file it writes
 * @counted: what is overwritten has been counted off
 */
struct caza {
	struct caza_file *of;
	u32 files;
	u32 *file;
	struct parts *zone;
	u32 stream[SIM_STREAMS];
	bool counted;
};

static int caza_init(struct sim *s)
{
	struct caza *c = calloc(1, sizeof(*c));

	s->setup.o.policy = LZ_POLICY_ZENFS;
	s->priv = c;
	if (!c)
		return -ENOMEM;
	c->file = calloc(s->setup.blocks, sizeof(*c->file));
	c->zone = calloc(s->setup.zones, sizeof(*c->zone));
	return c->file && c->zone ? 0 : -ENOMEM;
}

static void caza_exit(struct sim *s)
{
	struct caza *c = s->priv;
	u32 i;

	for (i = 0; c->zone && i < s->setup.zones; i++)
		free(c->zone[i].part);
	free(c->zone);
	free(c->file);
	free(c->of);
}

/* Twice as much memory for @n elements, or what there was. */
static void *grow(void *old, u32 *size, u32 n, size_t each)
{
	void *p;

	if (n <= *size)
		return old;
	*size = 2 * n;
	p = realloc(old, *size * each);
	if (!p)
		abort();
	return p;
}

static struct part *part_of(struct parts *z, u32 file)
{
	u32 i = z->n;

	/* What is written is at the end. */
	while (i--)
		if (z->part[i].file == file)
			return &z->part[i];
	return NULL;
}

static void caza_wrote(struct sim *s, u32 lba, u32 addr)
{
	struct caza *c = s->priv;
	struct parts *z = &c->zone[sim_zone_of(s, addr)];
	struct part *p;

	if (!c->file[lba])
		return;
	p = part_of(z, c->file[lba]);
	if (!p) {
		z->part = grow(z->part, &z->size, z->n + 1, sizeof(*z->part));
		p = &z->part[z->n++];
		*p = (struct part){ .file = c->file[lba] };
	}
	p->n++;
}

static void caza_dead(struct sim *s, u32 lba, u32 addr)
{
	struct caza *c = s->priv;
	struct parts *z = &c->zone[sim_zone_of(s, addr)];
	struct part *p = c->file[lba] && !c->counted ? part_of(z, c->file[lba]) : NULL;

	c->counted = false;
	if (p && !--p->n)
		*p = z->part[--z->n];
}

/*
 * What speaks for a zone: blocks of files that are to be merged with @k; else those of levels 0
 * and 1; else how near keys of the same level are.
 */
enum reason { MERGED_WITH, FIRST_LEVELS, NEAR, NR_REASONS };

static double speaks(enum reason why, const struct sim_keys *o, const struct sim_keys *k, u32 n)
{
	switch (why) {
	case MERGED_WITH:
		return abs((int)o->level - (int)k->level) == 1 && o->from < k->to &&
			o->to > k->from ? n : 0;
	case FIRST_LEVELS:
		return k->level <= 1 && o->level <= 1 ? n : 0;
	default:
		return k->level > 1 && o->level == k->level ?
			1 / (1 + fmax(fmax(o->from - k->to, k->from - o->to), 0)) : 0;
	}
}

static double score(const struct caza *c, enum reason why, const struct parts *z,
		    const struct sim_keys *k)
{
	double sum = 0;
	u32 i;

	for (i = 0; i < z->n; i++) {
		const struct caza_file *o = &c->of[z->part[i].file];
		double more = o->merged ? 0 : speaks(why, &o->keys, k, z->part[i].n);

		sum = why == NEAR ? fmax(sum, more) : sum + more;
	}
	return sum;
}

static u32 caza_choose(struct sim *s, u32 stream)
{
	struct caza *c = s->priv;
	u32 best = SIM_NOWHERE, i;
	enum reason why;

	if (sim_is_gc(stream) || !c->stream[stream])
		return sim_choose(s, stream);
	for (why = 0; why < NR_REASONS && best == SIM_NOWHERE; why++) {
		double most = 0;

		for (i = 0; i < s->setup.zones; i++) {
			double sum;

			if (!sim_shared(s, i) || sim_is_gc(s->z[i].stream))
				continue;
			sum = score(c, why, &c->zone[i], &c->of[c->stream[stream]].keys);
			if (sum > most) {
				most = sum;
				best = i;
			}
		}
	}
	if (best != SIM_NOWHERE)
		return best;
	return sim_may_open(s, false) ? sim_open(s, stream) : sim_choose(s, stream);
}

/* The next file that @stream writes. */
static void caza_begun(struct caza *c, u32 stream, const struct sim_req *req)
{
	u32 i;

	c->of = grow(c->of, &c->files, req->file + 1, sizeof(*c->of));
	c->of[req->file] = (struct caza_file){ .keys = req->keys };
	for (i = 0; i < req->nr_inputs; i++)
		c->of[req->inputs[i]].merged = true;
	c->stream[stream] = req->file;
}

static u32 caza_user(struct sim *s, u32 lba, u32 old)
{
	u32 file = s->req.file, stream;
	struct caza *c = s->priv;

	/* What was there is dead first: it may have been another file's. */
	if (old != SIM_NOWHERE) {
		caza_dead(s, lba, old);
		c->counted = true;
	}
	c->file[lba] = file;
	if (!file)
		return sim_stream(s, s->req.class);
	stream = sim_writer(s->req.writer, s->req.class);
	if (c->stream[stream] == file)
		return stream;
	caza_begun(c, stream, &s->req);
	s->open[stream] = SIM_NOWHERE;
	return stream;
}

const struct sim_policy sim_caza = {
	.name = "caza",
	.doc = "files with those they are merged with, else as zenfs; for reset=lazy or eager",
	.exclusive = true,
	.init = caza_init, .exit = caza_exit, .user = caza_user, .move = sim_module_move,
	.choose = caza_choose, .empty = sim_reset_due, .wrote = caza_wrote, .dead = caza_dead,
	.score = sim_module_score,
};
