/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What users write without a hint: does it go in the order in which it came, or by how often
 * each block is written?
 */
#ifndef LIFEZONE_ORDER_H
#define LIFEZONE_ORDER_H

#include "policy.h"

#define LZ_ORDER_NEW		LZ_NR_GROUPS	/* the group of what was not in use */
#define LZ_ORDER_SAMPLES	1024u	/* that many are a device's worth of blocks */

struct lz_life;

/**
 * struct lz_order_sample - a block that was written without a hint
 * @lba: the block
 * @mark: its mark then
 * @gone: has been written again since, or discarded
 * @back: so many samples before this one the last of its group was taken; 0: too many
 */
struct lz_order_sample {
	u64 lba;
	u16 mark;
	bool gone;
	u32 back;
};

/**
 * struct lz_order - what is measured of order
 * @sample: the latest
 * @taken: samples taken so far
 * @last: number of the last one of each group, and of LZ_ORDER_NEW, from 1 on; 0: none was taken
 * @since: blocks written without a hint since then
 * @pairs: samples compared with both the one before and the last one of the group, old ones fading
 * @apart: of these, those where one was gone and the other was not: by order, by group
 * @wins: what is written one after the other goes at a time, more than what is in one group
 */
struct lz_order {
	struct lz_order_sample sample[LZ_ORDER_SAMPLES];
	u64 taken;
	u64 last[LZ_NR_GROUPS + 1];
	u64 since;
	u64 pairs;
	u64 apart[2];
	bool wins;
};

bool lz_order_due(struct lz_order *o, u64 blocks, u32 n);
void lz_order_take(struct lz_order *o, u64 lba, u16 mark, u32 group);
void lz_order_judge(struct lz_order *o, const struct lz_life *l);

#endif /* LIFEZONE_ORDER_H */
