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
 * shorter, that would open a new one.
 *
 * Blocks of a file system's log and the like are overwritten by and by in zones of other groups,
 * and so leave zones of which hardly anything was written. To reset those wins no space. Unless
 * resets are eager they are as good as new ones, and whoever would open a zone takes them.
 */
#include "policy.h"

#define LZ_AS_NEW	64u	/* part of a zone that is as good as nothing */

/**
 * lz_as_new - whether an open zone that holds no valid data is as good as a new one
 * @how: the rule
 * @room: what may still be written to it (blocks of data)
 * @cap: what a new zone holds (blocks of data)
 *
 * Return: true if it is to be left to whoever would open a zone.
 */
bool lz_as_new(enum lz_reset how, u32 room, u32 cap)
{
	return how != LZ_RESET_EAGER && room < cap && (u64)(cap - room) * LZ_AS_NEW <= cap;
}

/**
 * lz_reset_due - whether to reset a zone that holds no valid data
 * @how: the rule
 * @class: lifetime of the zone
 * @full: the zone takes no more writes
 * @as_new: lz_as_new() said so
 *
 * Return: true to reset it now, false to leave it open.
 */
bool lz_reset_due(enum lz_reset how, u8 class, bool full, bool as_new)
{
	if (full || how == LZ_RESET_EAGER)
		return true;
	return how == LZ_RESET_LAZY && class != LZ_CLASS_SHORT && !as_new;
}
