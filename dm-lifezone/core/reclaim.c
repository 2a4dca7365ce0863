// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reclaim: when a zone without valid data is reset.
 *
 * Each reset costs the flash of a whole zone an erase, however little of it
 * was written. Data of lifetime SHORT is often gone before its zone is full:
 * lazy reset (LZR) lets such a zone be filled first, which costs nothing, as
 * the zone is open anyway.
 *
 * Adaptive lets zones of every lifetime be filled first. That takes little space from
 * others, as placement gives an empty zone to data of its own class, or of one that lives
 * shorter, that would open a new one. But a zone that was left alone for what is in it to
 * go (core/place.c) is reset, unless hardly anything was written to it: what would fill it up was
 * kept out of it before.
 *
 * Nor is a zone held back for good that nobody comes to. Its garbage is missing in the space to
 * spare, and GC copies the more for that. So where GC is about to clean a zone an empty one may be
 * reset in its place, if it gains as much.
 */
#include "policy.h"

/**
 * lz_reset_due - whether to reset a zone that holds no valid data
 * @how: the rule
 * @class: lifetime of the zone
 * @full: the zone takes no more writes
 * @alone: zones of extreme data are left alone, and lz_reset_alone()
 *
 * Return: true to reset it now, false to leave it open.
 */
bool lz_reset_due(enum lz_reset how, u8 class, bool full, bool alone)
{
	if (full || how == LZ_RESET_EAGER)
		return true;
	return how == LZ_RESET_LAZY ? class != LZ_CLASS_SHORT :
		alone && class == LZ_CLASS_EXTREME;
}

/**
 * lz_reset_rather - whether to reset an empty zone in place of cleaning another
 * @in: the two
 *
 * An empty zone was not written to for some time, and is likely not to be for as long again. For
 * each block written meanwhile GC copies what is valid of a victim for what is not; and about so
 * much less, as is the part of the space to spare that the garbage of the empty zone is. What a
 * reset costs for that is what was never written and is erased all the same: as much as to pad it.
 *
 * Return: true to reset the empty one.
 */
bool lz_reset_rather(const struct lz_rather_in *in)
{
	u64 copies, spared, unwritten;

	if ((u64)in->written + in->valid < in->cap)
		return false;
	copies = div_u64(min_t(u64, in->age, 1ull << 39) * in->valid, in->cap - in->valid);
	spared = div_u64(copies, max(in->spare, 1u));
	spared = div_u64(min_t(u64, spared, ~0u) * in->written, in->cap);
	unwritten = in->cap - min(in->written, in->cap);
	return spared * in->cost->copy >= unwritten * in->cost->pad;
}
