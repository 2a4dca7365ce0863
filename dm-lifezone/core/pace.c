// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pacing: how the drive is shared between users and GC.
 *
 * As in Linux' pblk (Bjorling et al., LightNVM: The Linux Open-Channel SSD
 * Subsystem, FAST 2017): with free zones in plenty users take all; between the
 * mark at which GC starts and the reserve, the users' part of all blocks
 * written falls in a straight line from all to none; at the reserve GC has the
 * drive to itself, as only it can turn the zones left into more.
 *
 * A victim may have little garbage, and many of these be cleaned for one zone: then GC falls
 * behind users who leave the drive time enough, all in all. So where they do, it gets ahead by a
 * few zones, a copy at a time, and none while they write. It is part of the space to spare that
 * is kept free so, which costs copies as any less of it does: a 16th at most.
 */
#include "policy.h"

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

/**
 * lz_pace_user_share - how much users may write meanwhile
 * @in: state of the space
 *
 * Return: blocks for every LZ_PACE_UNIT blocks that GC copies or reclaims; ~0u: no limit.
 */
u32 lz_pace_user_share(const struct lz_pace_in *in)
{
	u64 share;

	if (!lz_pace_gc_due(in))
		return ~0u;
	if (in->free_zones <= in->reserve)
		return 0;

	/* Part f for users, 1 - f for GC: a ratio of f / (1 - f). */
	share = div_u64((u64)(in->free_zones - in->reserve) * LZ_PACE_UNIT,
			in->start - in->free_zones);
	return clamp_t(u64, share, 1, ~0u - 1);
}
