// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compaction-aware zone allocation: H.-R. Lee et al., Compaction-Aware Zone Allocation for LSM
 * based Key-Value Store on ZNS SSDs (HotStorage 2022).
 *
 * A merge reads a file and those of the next level whose keys overlap with it; all of them die
 * at the same time, whatever their levels. So a file goes to the open zone that holds most of the
 * files whose keys overlap with its own, one level above or below; to a new zone if there is none;
 * and if none may be opened, or nothing is known of the keys, by ZenFS's rule, as does what GC
 * moves.
 */
#include <errno.h>
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
 * struct caza - state
 * @keys: by file
 * @files: so many
 * @file: by logical block, that it is of
 * @zone: by zone
 * @stream: by stream, the file it writes
 */
struct caza {
	struct sim_keys *keys;
	u32 files;
	u32 *file;
	struct parts *zone;
	u32 stream[SIM_STREAMS];
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
	free(c->keys);
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
	struct part *p = c->file[lba] ? part_of(z, c->file[lba]) : NULL;

	if (p && !--p->n)
		*p = z->part[--z->n];
}

/* How much @z holds that is to be merged with files of @k. */
static u32 overlap(const struct caza *c, const struct parts *z, const struct sim_keys *k)
{
	u32 sum = 0, i;

	for (i = 0; i < z->n; i++) {
		const struct sim_keys *o = &c->keys[z->part[i].file];

		if (abs((int)o->level - (int)k->level) == 1 && o->from < k->to && o->to > k->from)
			sum += z->part[i].n;
	}
	return sum;
}

static u32 caza_choose(struct sim *s, u32 stream)
{
	struct caza *c = s->priv;
	u32 best = SIM_NOWHERE, most = 0, i;

	if (sim_is_gc(stream) || !c->stream[stream])
		return sim_choose(s, stream);
	for (i = 0; i < s->setup.zones; i++) {
		u32 sum;

		if (!sim_shared(s, i) || sim_is_gc(s->z[i].stream))
			continue;
		sum = overlap(c, &c->zone[i], &c->keys[c->stream[stream]]);
		if (sum > most) {
			most = sum;
			best = i;
		}
	}
	if (best != SIM_NOWHERE)
		return best;
	return sim_may_open(s, false) ? sim_open(s, stream) : sim_choose(s, stream);
}

static u32 caza_user(struct sim *s, u32 lba, u32 old)
{
	u32 file = s->req.file, stream;
	struct caza *c = s->priv;

	/* What was there is dead first: it may have been another file's. */
	if (old != SIM_NOWHERE)
		caza_dead(s, lba, old);
	c->file[lba] = file;
	if (!file)
		return sim_stream(s, s->req.class);
	stream = sim_writer(s->req.writer, s->req.class);
	if (c->stream[stream] == file)
		return stream;
	c->keys = grow(c->keys, &c->files, file + 1, sizeof(*c->keys));
	c->keys[file] = s->req.keys;
	c->stream[stream] = file;
	s->open[stream] = SIM_NOWHERE;
	return stream;
}

const struct sim_policy sim_caza = {
	.name = "caza", .doc = "files of a store with those they are merged with, else as zenfs",
	.init = caza_init, .exit = caza_exit, .user = caza_user, .move = sim_module_move,
	.choose = caza_choose, .empty = sim_reset_due, .wrote = caza_wrote, .dead = caza_dead,
	.score = sim_module_score,
};
