// SPDX-License-Identifier: GPL-2.0-only
/*
 * Victims: which zone GC cleans.
 *
 * Greedy takes the zone with the fewest valid blocks. Cost-benefit is that of
 * Rosenblum and Ousterhout (The Design and Implementation of a Log-Structured
 * File System, 1992): with u the valid share of the zone, (1 - u) * age is the
 * space gained times how long it is likely to stay gained, and 1 + u the cost
 * of reading the zone and writing what is valid of it. It leaves young zones
 * alone, whose blocks are still dying by themselves.
 */
#include "policy.h"

/*
 * The product below is share * age, and must fit in 64 bits: the share has 23
 * bits after the point, and an age counts up to 2^40 - 1 blocks (4 PiB
 * written, once around the largest device).
 */
#define LZ_SHARE_SHIFT	23
#define LZ_AGE_MAX	LZ_NOWHERE

/*
 * The least gain, as a part of the zone. Where the blocks of a device lie in
 * many zones half full, free zones are few although there is no garbage, and
 * GC must not turn full zones over for nothing. 1/32 is a write amplification
 * of 32. At the reserve less must do: with the least spare space there is, 2 %,
 * garbage may be spread that thin. Two blocks more, as every zone ends with a
 * summary and a checkpoint may cost it another one.
 */
#define LZ_LEAST_GAIN		32u
#define LZ_LEAST_GAIN_PRESSED	128u
#define LZ_LEAST_GAIN_BLOCKS	2u

/**
 * lz_victim_score - how well a zone serves as victim
 * @how: the rule
 * @valid: valid blocks in the zone
 * @cap: capacity of the zone (blocks, up to LZ_ZONE_BLOCKS_MAX)
 * @age: blocks written to the device since the zone was last written
 *
 * Return: larger is better; 0 where nothing is to be gained.
 */
u64 lz_victim_score(enum lz_victim how, u32 valid, u32 cap, u64 age)
{
	u64 share;

	if (valid >= cap)
		return 0;
	if (how == LZ_VICTIM_GREEDY)
		return cap - valid;

	share = div_u64((u64)(cap - valid) << LZ_SHARE_SHIFT, cap + valid);
	/* One is added, or zones written just now would all score alike. */
	return max_t(u64, share, 1) * (min_t(u64, age, LZ_AGE_MAX) + 1);
}

/**
 * lz_victim_worth - whether cleaning a zone gains enough
 * @valid: valid blocks in the zone
 * @room: blocks of data a fresh zone holds (blocks)
 * @pressed: free zones are down to the reserve
 *
 * Return: true if it is worth the copies.
 */
bool lz_victim_worth(u32 valid, u32 room, bool pressed)
{
	u32 least = room / (pressed ? LZ_LEAST_GAIN_PRESSED : LZ_LEAST_GAIN);

	return valid < room && room - valid >= least + LZ_LEAST_GAIN_BLOCKS;
}
