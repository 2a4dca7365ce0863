// SPDX-License-Identifier: GPL-2.0-only
/*
 * DAC: M.-L. Chiang, P. C. H. Lee, R.-C. Chang, Using data clustering to improve
 * cleaning performance for flash memory (Software: Practice and Experience 29(3),
 * 1999). A block that users write again moves to the next hotter region, one that
 * GC moves to the next colder.
 *
 * Theirs moves a block up only if it is younger than a threshold of its region, which is left
 * out: here every write counts, however late. What a block was is known while it is mapped:
 * after a discard its next write leaves it in its region, so that where a store discards all before
 * it writes again nothing ever gets hotter.
 */
#include <errno.h>
#include <stdlib.h>
#include "sim.h"

#define REGIONS	6u

static int dac_init(struct sim *s)
{
	s->priv = calloc(s->setup.blocks, 1);
	return s->priv ? 0 : -ENOMEM;
}

static u32 dac_user(struct sim *s, u32 lba, u32 old)
{
	u8 *region = s->priv;

	if (old != SIM_NOWHERE && region[lba] < REGIONS - 1)
		region[lba]++;
	return region[lba];
}

static u32 dac_move(struct sim *s, u32 lba, u32 old)
{
	u8 *region = s->priv;

	(void)old;
	if (region[lba])
		region[lba]--;
	return region[lba];
}

const struct sim_policy sim_dac = {
	.name = "dac", .doc = "DAC: hotter with each user write, colder with each move",
	.init = dac_init, .user = dac_user, .move = dac_move,
	.score = sim_ref_score,
};
