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
 * kept out of it before. And where GC is about to clean a zone, an empty one is reset in its place
 * that gains as much: that takes one erase, too, and no copies.
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
