// SPDX-License-Identifier: GPL-2.0-only
/* What a power cut leaves of the drive: drawn, or said. */
#include "drive_in.h"

/* A command in flight when power fails takes effect wholly, in part or not at all. */
static void cut_cmd(struct drive *d, struct drive_cmd *c)
{
	struct drive_zone *z = c->op == LZ_OP_FLUSH ? NULL : &d->z[c->zone];
	u32 n, how = rnd_below(&d->rnd, 3);

	if (c->executed || c->op == LZ_OP_READ || !how)
		return;
	if (z && (z->cond == LZ_COND_OFFLINE || z->cond == LZ_COND_READONLY || z->fault))
		return;
	if (drive_flushes(c))
		drive_make_durable(d, c);
	switch (c->op) {
	case LZ_OP_RESET:
		drive_reset_zone(d, z);
		return;
	case LZ_OP_FINISH:
		drive_finish_zone(d, z);
		return;
	case LZ_OP_FLUSH:
		return;
	}
	n = how == 1 ? rnd_below(&d->rnd, c->n) : c->n;
	if (!n || z->stopped || z->cond == LZ_COND_FULL || z->wp + n > d->g.zone_cap)
		return;
	if (c->op == LZ_OP_WRITE && c->off != z->wp)
		return;
	if (z->cond == LZ_COND_EMPTY && !drive_may_activate(d))
		return;
	drive_write_blocks(d, z, c, n);
	z->stopped = n < c->n;
}

enum cut_how {
	CUT_KEEP_ALL,		/* the cache survives */
	CUT_LOSE_ALL,		/* all of it is lost */
	CUT_KEEP_OR_LOSE,	/* all or nothing, each zone for itself */
	CUT_ANYWHERE,		/* any length, each zone for itself */
	CUT_LOSE_ONE,		/* one zone loses all, the others keep all */
	CUT_KEEP_ONE,		/* one zone keeps all, the others lose all */
	CUT_NR,
};

static u32 cut_length(struct drive *d, u32 how, bool chosen, u32 lo, u32 hi)
{
	switch (how) {
	case CUT_KEEP_ALL:
		return hi;
	case CUT_LOSE_ALL:
		return lo;
	case CUT_KEEP_OR_LOSE:
		return rnd_below(&d->rnd, 2) ? lo : hi;
	case CUT_LOSE_ONE:
		return chosen ? lo : hi;
	case CUT_KEEP_ONE:
		return chosen ? hi : lo;
	}
	return rnd_range(&d->rnd, lo, hi);
}

/* The write pointer is within the last block; what is beyond it was never written. */
static void tear(struct drive *d, struct drive_zone *z, u32 off, u32 sound)
{
	drive_fill_rest(d, &z->b[off], sound, DRIVE_FILL_ONES);
	z->torn = sound;
}

static void cut_holes(struct drive *d, struct drive_zone *z)
{
	u32 share = rnd_range(&d->rnd, 1, 1000), i;

	for (i = z->durable; i < z->data; i++)
		if (rnd_permille(&d->rnd, share))
			drive_spoil(d, &z->b[i], rnd_below(&d->rnd, 8));
}

static void cut_zone(struct drive *d, u32 zone, u32 how, bool chosen)
{
	struct drive_zone *z = &d->z[zone];
	u32 keep = z->data;

	if (z->durable < z->data && z->cond <= LZ_COND_FULL) {
		if (d->loss == DRIVE_HOLES && rnd_below(&d->rnd, 2))
			cut_holes(d, z);
		else
			keep = cut_length(d, how, chosen, z->durable, z->data);
	}
	if (z->cond == LZ_COND_OPEN) {
		if (d->loss == DRIVE_TEARS && keep < z->data && rnd_below(&d->rnd, 2))
			tear(d, z, keep++, rnd_range(&d->rnd, 1, 7));
		drive_drop_blocks(d, z, keep);
		z->wp = keep;
		if (!keep)
			drive_set_cond(d, zone, LZ_COND_EMPTY);
		else if (d->full_permille && rnd_permille(&d->rnd, d->full_permille))
			drive_finish_zone(d, z);
	} else if (z->cond == LZ_COND_FULL && keep < z->data) {
		/*
		 * It may come back open only within the drive's resources, and
		 * not after a finish; otherwise it is full and what was lost
		 * reads as anything.
		 */
		bool finished = z->data < d->g.zone_cap;

		drive_drop_blocks(d, z, keep);
		if (finished) {
			z->fill = rnd_below(&d->rnd, DRIVE_NR_FILLS);
		} else if (keep && drive_may_activate(d) && rnd_below(&d->rnd, 2)) {
			z->wp = keep;
			drive_set_cond(d, zone, LZ_COND_OPEN);
		} else if (!keep && rnd_below(&d->rnd, 2)) {
			z->wp = 0;
			drive_set_cond(d, zone, LZ_COND_EMPTY);
		} else {
			z->fill = rnd_below(&d->rnd, DRIVE_NR_FILLS);
		}
	} else {
		drive_drop_blocks(d, z, keep);
	}
	z->durable = z->data;
}

bool drive_is_volatile(const struct drive *d)
{
	u32 i;

	for (i = 0; i < d->g.nr_zones; i++)
		if (d->z[i].durable < d->z[i].data)
			return true;
	return false;
}

static void none_in_flight(struct drive_zone *z)
{
	z->reads = 0;
	z->writes = 0;
	z->appends = 0;
	z->resets = 0;
	z->finishes = 0;
}

void drive_cut(struct drive *d, bool power)
{
	u32 how = rnd_below(&d->rnd, CUT_NR);
	u32 chosen = rnd_below(&d->rnd, d->g.nr_zones);
	u32 i, j, volatile_zones = 0;

	for (i = 0; i < d->g.nr_zones; i++)
		d->z[i].stopped = false;
	for (i = d->nr_cmds; i > 1; i--) {
		j = rnd_below(&d->rnd, i);
		swap(d->cmds[i - 1], d->cmds[j]);
	}
	for (i = 0; i < d->nr_cmds; i++)
		cut_cmd(d, d->cmds[i]);
	drive_forget_cmds(d);

	/* The chosen one is better one with something to lose. */
	for (i = 0; i < d->g.nr_zones; i++)
		if (d->z[i].durable < d->z[i].data && !rnd_below(&d->rnd, ++volatile_zones))
			chosen = i;
	for (i = 0; i < d->g.nr_zones; i++) {
		if (power)
			cut_zone(d, i, how, i == chosen);
		d->z[i].done = d->z[i].data;
		if (power && d->z[i].fault == DRIVE_BROKEN)
			d->z[i].fault = DRIVE_SOUND;
		none_in_flight(&d->z[i]);
	}
}

static bool is_rubbish(const struct drive_left *left, u32 off)
{
	return off < 32 && left->rubbish >> off & 1;
}

/* The tag of a block as a cut leaves it. */
static u64 left_tag(const struct drive_zone *z, u32 off, const struct drive_left *left)
{
	const struct drive_block *b = &z->b[off];

	if (is_rubbish(left, off))
		return DRIVE_TAG_GARBAGE;
	if (!left->sound || off != z->data - 1)
		return b->tag;
	return b->data ? rnd_mix(b->tag + left->sound) : DRIVE_TAG_GARBAGE;
}

void drive_execute_part(struct drive *d, const struct drive_cmd *c, u32 n)
{
	struct drive_zone *z = &d->z[c->zone];

	if (drive_flushes(c))
		drive_make_durable(d, c);
	drive_write_blocks(d, z, c, n);
	if (c->flags & LZ_CMD_FUA)
		z->durable = z->data;
}

/* A zone as a cut leaves it; its blocks are those that it holds now. */
static struct drive_zone zone_left(const struct drive *d, u32 zone, const struct drive_left *left)
{
	struct drive_zone z = d->z[zone];

	if (left->reset) {
		z.wp = 0;
		z.data = 0;
		z.cond = LZ_COND_EMPTY;
		z.torn = 0;
	} else if (left->finish) {
		z.wp = d->g.zone_cap;
		z.data = left->keep;
		z.cond = LZ_COND_FULL;
		z.torn = 0;
	} else if (left->keep < z.data) {
		/* A zone that was finished stays full. */
		if (z.cond != LZ_COND_FULL || z.data == d->g.zone_cap) {
			z.wp = left->keep;
			z.cond = z.wp ? LZ_COND_OPEN : LZ_COND_EMPTY;
		}
		z.data = left->keep;
	}
	if (left->torn) {
		z.torn = left->sound;
		z.cond = LZ_COND_OPEN;
	}
	if (left->cond)
		z.cond = left->cond;
	z.durable = z.data;
	z.done = z.data;
	z.fill = DRIVE_FILL_GARBAGE;
	return z;
}

void drive_cut_exact(struct drive *d, const struct drive_left *left)
{
	struct drive_zone z;
	u32 i, j;

	drive_forget_cmds(d);
	for (i = 0; i < d->g.nr_zones; i++) {
		z = zone_left(d, i, &left[i]);
		drive_drop_blocks(d, &d->z[i], z.data);
		drive_set_cond(d, i, z.cond);
		for (j = 0; j < z.data; j++)
			if (is_rubbish(&left[i], j))
				drive_spoil(d, &z.b[j], 0);
		if (left[i].sound) {
			/* The same rubbish each time. */
			rnd_seed(&d->rnd, i, z.data);
			drive_fill_rest(d, &z.b[z.data - 1], left[i].sound,
					left[i].torn ? DRIVE_FILL_ONES : DRIVE_FILL_GARBAGE);
			z.b[z.data - 1].tag = left_tag(&z, z.data - 1, &left[i]);
		}
		none_in_flight(&z);
		if (z.fault == DRIVE_BROKEN)
			z.fault = DRIVE_SOUND;
		d->z[i] = z;
	}
}

static u64 zone_hash(const struct drive_zone *z, u32 zone, const struct drive_left *left)
{
	u64 head = rnd_mix(((u64)z->wp << 32 | z->data << 16 | z->durable << 8 | z->done) +
			   ((u64)zone << 48 | z->torn << 8 | z->fault << 5 | z->cond << 1));
	u64 h = head;
	u32 j;

	/* Of each block by itself: they need not wait for one another. */
	for (j = 0; j < z->data; j++)
		h += rnd_mix(head + left_tag(z, j, left) + ((u64)j << 40));
	return h;
}

u64 drive_left_hash(const struct drive *d, u32 zone, const struct drive_left *left)
{
	struct drive_zone z = zone_left(d, zone, left);

	return zone_hash(&z, zone, left);
}

u64 drive_hash(const struct drive *d)
{
	static const struct drive_left all;
	u64 h = 0;
	u32 i;

	for (i = 0; i < d->g.nr_zones; i++)
		h += zone_hash(&d->z[i], i, &all);
	return h;
}
