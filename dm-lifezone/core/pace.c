// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pacing: how the drive is shared between users and GC.
 *
 * As in Linux' pblk (Bjorling et al., LightNVM: The Linux Open-Channel SSD
 * Subsystem, FAST 2017) users take all with free zones in plenty, and ever less between the mark at
 * which GC starts and the reserve, where GC has the drive to itself, as only it can turn the zones
 * left into more. But a burst is mostly over before it comes to that, and who is held back in it
 * waits for nothing: so users may have four times the share that falls in a straight line from all
 * to none. Who has filled two zones since goes on for long, and gets of the last zone above the
 * reserve what GC gains and no more: it stays free. At the reserve victims would be those with the
 * least to copy now (victim.c), which copies more in the long run.
 *
 * A victim may have little garbage, and many of these be cleaned for one zone: then GC falls
 * behind users who leave the drive time enough, all in all. So where they do, it gets ahead by a
 * few zones, a copy at a time, and none while they write. It is part of the space to spare that
 * is kept free so, which costs copies as any less of it does: a 16th at most.
 */
#include "policy.h"

#define EASY	4u	/* times the straight line */

/**
 * lz_pace_gc_due - whether GC has to run
 * @in: state of the space
 *
 * Return: true below the start mark, and wherever users get nothing.
 */
bool lz_pace_gc_due(const struct lz_pace_in *in)
{
	return in->free_zones < in->start || in->free_zones <= in->reserve;
}

/**
 * lz_pace_gc_early - whether GC may run while users write nothing
 * @in: state of the space
 *
 * Return: true below the start mark, and up to @in->ahead zones above.
 */
bool lz_pace_gc_early(const struct lz_pace_in *in)
{
	return in->free_zones < in->start + in->ahead;
}

u32 lz_pace_ahead(u32 most, u32 spare)
{
	return min(most, spare / 16);
}

/* The mean of the last eight or so: some victims are nearly full. */
u32 lz_pace_gain(u32 gain, u32 valid, u32 cap)
{
	u32 now = div_u64((u64)(cap - min(valid, cap)) * LZ_PACE_UNIT, cap);

	return gain ? gain - gain / 8 + now / 8 : now;
}

/**
 * lz_pace_user_share - how much users may write meanwhile
 * @in: state of the space
 *
 * Return: blocks for every LZ_PACE_UNIT blocks of its victim that GC is done with; ~0u: no limit.
 */
u32 lz_pace_user_share(const struct lz_pace_in *in)
{
	u64 share;

	if (!lz_pace_gc_due(in))
		return ~0u;
	if (in->free_zones <= in->reserve)
		return 0;

	/* Part f for users, 1 - f for GC: a ratio of f / (1 - f). */
	share = div_u64((u64)(in->free_zones - in->reserve) * EASY * LZ_PACE_UNIT,
			in->start - in->free_zones);
	if (in->lent >= LZ_PACE_LEND && in->free_zones == in->reserve + 1)
		share = min_t(u64, share, in->gain);
	return clamp_t(u64, share, 1, ~0u - 1);
}
