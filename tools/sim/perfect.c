// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hints that are true: what policy=sla makes of classes of equal width in the logarithm of the
 * time a block has to live, which no device can know. How far that is from the oracle is what
 * so few classes cost; how far from sla, what the load's own hints do. Nothing is measured.
 */
#include "sim.h"

#define STEP	4u	/* from one class to the next */

static int perfect_init(struct sim *s)
{
	s->setup.o.policy = LZ_POLICY_SLA;
	return 0;
}

/* Up to a 16th of the logical blocks, a 4th, all of them, and beyond. */
static u32 perfect_user(struct sim *s, u32 lba, u32 old)
{
	u64 death = sim_death(s, s->clock), most = s->setup.blocks / (STEP * STEP);
	u8 class = LZ_CLASS_SHORT;

	(void)lba;
	(void)old;
	while (class < LZ_CLASS_EXTREME && death - s->clock > most) {
		class++;
		most *= STEP;
	}
	return sim_stream(s, class);
}

const struct sim_policy sim_perfect = {
	.name = "perfect", .doc = "sla with hints after the true time of death",
	.future = true, .exclusive = true,
	.init = perfect_init, .user = perfect_user, .move = sim_module_move,
	.choose = sim_choose, .empty = sim_reset_due, .score = sim_module_score,
};
