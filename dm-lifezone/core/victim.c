// SPDX-License-Identifier: GPL-2.0-only
/*
 * Victims: which zone GC cleans.
 *
 * Greedy takes the zone with the fewest valid blocks. Cost-benefit is that of the
 * programs of SepBIT (Wang et al., Separating Data via Block Invalidation Time
 * Inference, FAST 2022): with u the valid share of the zone, 1 - u is the space gained, u
 * what has to be copied for it, and the root of the age how long it is likely
 * to stay gained. It leaves young zones alone, whose blocks are still dying by
 * themselves. The age itself instead of its root, as in the log-structured file
 * system's (1 - u) * age / (1 + u), weighs so much that old zones are cleaned
 * that are nearly full: under skewed overwrites of a device 80 % full that
 * copies half as much again.
 *
 * Minimum declining cost (Lomet and Luo, Efficiently Reclaiming Space in a Log Structured
 * Store, ICDE 2021) wants to know how often the blocks of a zone are written, and takes
 * the zone whose cost would sink least by waiting. It is for policy=adaptive and
 * gc_isolation=adaptive, which measure that.
 */
#include "policy.h"

/*
 * The product below is gain * root, and must fit in 64 bits. The gain, at most
 * 2^12 (a zone emptier than that is as good as empty), has 20 bits after the
 * point. The root has 12: an age counts up to 2^40 - 1 blocks (4 PiB written,
 * once around the largest device).
 */
#define LZ_GAIN_SHIFT	20
#define LZ_GAIN_MAX	0xffffffffull
#define LZ_ROOT_SHIFT	12
#define LZ_AGE_MAX	(LZ_NOWHERE - 1)

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

/* lz_root - the square root, rounded down. */
u32 lz_root(u64 x)
{
	u64 root = 0, bit = 1ull << 62;

	while (bit > x)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (x >= root + bit) {
			x -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return root;
}

/**
 * lz_log2 - the logarithm of a number
 * @v: the number, not 0
 *
 * Return: log2 of @v in 256ths, wrong by at most 3 of them.
 */
u32 lz_log2(u64 v)
{
	u32 n = ilog2(v), m = n > 16 ? v >> (n - 16) : v << (16 - n);

	/* log2(1 + x) is about x + 0.344 x (1 - x). */
	m &= 0xffff;
	m += (u64)m * (65536 - m) / 65536 * 22544 / 65536;
	return n << 8 | m >> 8;
}

/**
 * lz_victim_rule - the rule that is meant
 * @o: options, whose rule may be LZ_VICTIM_AUTO; may change meanwhile
 *
 * Return: any but LZ_VICTIM_AUTO.
 */
enum lz_victim lz_victim_rule(const struct lz_options *o)
{
	enum lz_victim how = READ_ONCE(o->victim);

	if (how != LZ_VICTIM_AUTO)
		return how;
	return lz_wants_rates(o) ? LZ_VICTIM_MDC : LZ_VICTIM_COST_BENEFIT;
}

/**
 * lz_victim_age_rate - what the age of a zone says of the rate of its blocks
 * @age: blocks written to the device since the zone was last written
 * @blocks: logical blocks of the device
 *
 * What has lived long is likely to live as long again.
 *
 * Return: as lz_life_rate().
 */
int lz_victim_age_rate(u64 age, u64 blocks)
{
	return (int)lz_log2(blocks) - (int)lz_log2(age + 1);
}

/* (1 - u)^2 / (u f), as a logarithm. */
static u64 lz_mdc(u32 valid, u32 cap, int rate)
{
	/* Rates are within 2^-64 and 2^64, and blocks within 2^31. */
	return (128 << 8) + 2 * lz_log2(cap - valid) - lz_log2(max(valid, 1u)) - rate;
}

/**
 * lz_victim_score - how well a zone serves as victim
 * @how: the rule, not LZ_VICTIM_AUTO
 * @valid: valid blocks in the zone
 * @cap: capacity of the zone (blocks, up to LZ_ZONE_BLOCKS_MAX)
 * @age: blocks written to the device since the zone was last written
 * @rate: for LZ_VICTIM_MDC, log2 of the mean rate at which its blocks are written, in 256ths
 *
 * Return: larger is better; 0 where nothing is to be gained.
 */
u64 lz_victim_score(enum lz_victim how, u32 valid, u32 cap, u64 age, int rate)
{
	u64 gain, root;

	if (valid >= cap)
		return 0;
	if (how == LZ_VICTIM_GREEDY)
		return cap - valid;
	if (how == LZ_VICTIM_MDC)
		return lz_mdc(valid, cap, rate);

	gain = div_u64((u64)(cap - valid) << LZ_GAIN_SHIFT, max_t(u32, valid, 1));
	gain = clamp_t(u64, gain, 1, LZ_GAIN_MAX);
	/* One is added, or zones written just now would all score alike. */
	root = lz_root((min_t(u64, age, LZ_AGE_MAX) + 1) << 2 * LZ_ROOT_SHIFT);
	return gain * root;
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
