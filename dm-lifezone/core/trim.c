// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trim: when users are asked for discards.
 *
 * Blocks that a file system has freed and not discarded look like any other, and
 * GC copies them for as long as that lasts. Some file systems discard only when
 * idle, or when told to, so under constant load never. The device cannot know
 * which blocks these are, but it can tell how many there may be: what a file
 * system writes to where it had nothing before makes the mapped blocks more, and
 * of one that does not grow just as many others were freed. They cost as much as
 * they take of the space that is not mapped, so the fuller the device, the fewer
 * it takes: it asks when a sixteenth is gone.
 *
 * That says nothing where all blocks have been mapped already, or of files deleted with
 * nothing written. What always tells is GC: when it has copied a sixteenth of
 * what is mapped, a look at the file system's free space is cheap beside it.
 *
 * While free zones are in plenty nothing is copied and nobody is asked.
 */
#include "policy.h"

#define LZ_TRIM_PART	16u
/* Who answers paces itself by the time that takes; this only bounds the events (ns). */
#define LZ_TRIM_GAP	100000000ull

/**
 * lz_trim_due - whether to ask for discards
 * @in: state of the space
 *
 * Return: true to ask now; the caller then starts @in->base, @in->copied and
 * @in->since anew, so the next time takes as much again.
 */
bool lz_trim_due(const struct lz_trim_in *in)
{
	u64 room = in->blocks > in->base ? in->blocks - in->base : 0;
	u64 gain = in->mapped > in->base ? in->mapped - in->base : 0;

	if (in->free_zones >= in->start || in->since < LZ_TRIM_GAP)
		return false;
	return gain >= max_t(u64, div_u64(room, LZ_TRIM_PART), in->least) ||
		in->copied >= max_t(u64, div_u64(in->mapped, LZ_TRIM_PART), in->least);
}
