// SPDX-License-Identifier: GPL-2.0-only
/*
 * Order against rates.
 *
 * A zone costs no copies if all that is in it goes at a time. What comes without a hint is put
 * together by how often each block is written (life.c). That is right where blocks are written
 * as they were before: by a database, or a file system that writes in place. One that writes in a
 * log, as F2FS does, puts a new file where another one was. What was there says little of it, and
 * what goes at a time is what was written at a time.
 *
 * Which is so is measured. Of what is written without a hint samples are taken, a thousand each
 * time that as much as the device holds has been written without one. From time to time each is
 * compared with two others: the one taken before it, with which it would share a zone by order,
 * and the last one of its group, with which it would by rate, whichever of the two is done. (What
 * was not in use when it was written is a group by itself, either way.) Of two that go at a time
 * one is seldom gone while the other is not. Where that is seen less by order than by group, by a
 * 20th, all that has no hint goes to one zone, as it comes, until it is seen more by as much. What
 * survives a cleaning is grouped by rate all the same, but in as few groups as there may be.
 *
 * To compare groupings by how often pairs within them disagree is Rand's principle (W. M. Rand,
 * Objective criteria for the evaluation of clustering methods, 1971); the rest is ours.
 *
 * No locks, but lz_order_judge() is called by one at a time. What is lost then is a sample.
 */
#include "life.h"

#define PRIOR	50u	/* of so many pairs one is taken to differ, either way */

enum { BY_ORDER, BY_GROUP };

/**
 * lz_order_due - blocks are about to be written without a hint
 * @o: what is measured
 * @blocks: how many there are in all
 * @n: how many are written
 *
 * Return: is the first of them to be a sample?
 */
bool lz_order_due(struct lz_order *o, u64 blocks, u32 n)
{
	u64 since = READ_ONCE(o->since) + n;
	bool due = since >= blocks / LZ_ORDER_SAMPLES;

	WRITE_ONCE(o->since, due ? 0 : since);
	return due;
}

/**
 * lz_order_take - take a sample
 * @o: what is measured
 * @lba: a block that was just written
 * @mark: its mark now
 * @group: the group it belongs to by rate, or LZ_ORDER_NEW
 */
void lz_order_take(struct lz_order *o, u64 lba, u16 mark, u32 group)
{
	u64 nr = READ_ONCE(o->taken) + 1, last = READ_ONCE(o->last[group]);
	struct lz_order_sample *s = &o->sample[nr % LZ_ORDER_SAMPLES];

	WRITE_ONCE(s->lba, lba);
	WRITE_ONCE(s->mark, mark);
	WRITE_ONCE(s->gone, false);
	WRITE_ONCE(s->back, last && nr - last < LZ_ORDER_SAMPLES ? nr - last : 0);
	WRITE_ONCE(o->last[group], nr);
	WRITE_ONCE(o->taken, nr);
}

/* Is the sample of that number gone, as far as is known? */
static bool gone(const struct lz_order *o, u64 nr)
{
	return READ_ONCE(o->sample[nr % LZ_ORDER_SAMPLES].gone);
}

/**
 * lz_order_judge - see which samples are gone, and decide
 * @o: what is measured
 * @l: all blocks
 */
void lz_order_judge(struct lz_order *o, const struct lz_life *l)
{
	u64 taken = READ_ONCE(o->taken), first, nr;
	u64 by_order, by_group;
	u32 i;

	/* The oldest may be about to be the next. */
	first = taken < LZ_ORDER_SAMPLES ? 1 : taken - LZ_ORDER_SAMPLES + 2;
	lz_life_fade(&o->pairs);
	for (i = 0; i < ARRAY_SIZE(o->apart); i++)
		lz_life_fade(&o->apart[i]);
	for (nr = first; nr <= taken; nr++) {
		struct lz_order_sample *s = &o->sample[nr % LZ_ORDER_SAMPLES];
		u64 lba = READ_ONCE(s->lba);
		u32 back = READ_ONCE(s->back);

		/* Two may have written at a time what a processor of 32 bits writes in halves. */
		if (!gone(o, nr) && lba < l->blocks && lz_life_gone(l, lba, READ_ONCE(s->mark)))
			WRITE_ONCE(s->gone, true);
		if (!back || nr - back < first)
			continue;
		o->pairs++;
		o->apart[BY_ORDER] += gone(o, nr) != gone(o, nr - 1);
		o->apart[BY_GROUP] += gone(o, nr) != gone(o, nr - back);
	}
	by_order = o->apart[BY_ORDER] + div_u64(o->pairs, PRIOR);
	by_group = o->apart[BY_GROUP] + div_u64(o->pairs, PRIOR);
	WRITE_ONCE(o->wins, 20 * by_order < (o->wins ? 21 : 19) * by_group);
}
