// SPDX-License-Identifier: GPL-2.0-only
/*
 * SepBIT: Q. Wang, J. Li, P. P. C. Lee, T. Ouyang, C. Shi, L. Huang, Separating Data
 * via Block Invalidation Time Inference for Write Amplification Reduction in
 * Log-Structured Storage (FAST 2022), algorithm 1.
 *
 * Streams 0 and 1 take user blocks, of short and long life; 2 what GC moves out of
 * stream 0; 3 to 5 all else it moves, by age. Times are user blocks.
 *
 * What a block replaces is known while it is mapped. After a discard that is nothing, and so its
 * next write is long-lived: where a store discards all before it writes again this is "split" for
 * users' blocks.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "sim.h"

#define MEAN_OF	16u	/* zones of stream 0 whose mean life is what counts as short */

/**
 * struct sepbit - state
 * @at: by block, the clock at its last user write
 * @life: mean life of the last zones of stream 0, or infinite
 * @sum: lives of those cleaned since
 * @n: how many
 * @zone: the one being cleaned, or that was last since users wrote
 */
struct sepbit {
	u32 *at;
	double life;
	double sum;
	u32 n;
	u32 zone;
};

static int sepbit_init(struct sim *s)
{
	struct sepbit *b = calloc(1, sizeof(*b));

	s->priv = b;
	if (b)
		b->at = calloc(s->setup.blocks, sizeof(*b->at));
	if (!b || !b->at)
		return -ENOMEM;
	b->life = INFINITY;
	b->zone = SIM_NOWHERE;
	return 0;
}

static void sepbit_exit(struct sim *s)
{
	struct sepbit *b = s->priv;

	free(b->at);
}

static u32 sepbit_user(struct sim *s, u32 lba, u32 old)
{
	struct sepbit *b = s->priv;
	double life = old == SIM_NOWHERE ? INFINITY : (u32)s->clock - b->at[lba];

	b->zone = SIM_NOWHERE;
	b->at[lba] = s->clock;
	return life < b->life ? 0 : 1;
}

static u32 sepbit_move(struct sim *s, u32 lba, u32 old)
{
	struct sepbit *b = s->priv;
	double age = (u32)s->clock - b->at[lba];

	if (!s->z[sim_zone_of(s, old)].stream)
		return 2;
	return age < 4 * b->life ? 3 : age < 16 * b->life ? 4 : 5;
}

/* A zone of stream 0 goes. */
static void short_gone(struct sim *s, u32 zone)
{
	struct sepbit *b = s->priv;

	b->sum += s->clock - s->z[zone].opened;
	if (++b->n < MEAN_OF)
		return;
	b->life = b->sum / b->n;
	b->sum = 0;
	b->n = 0;
}

static void sepbit_cleaned(struct sim *s, u32 zone)
{
	struct sepbit *b = s->priv;

	b->zone = zone;
	if (!s->z[zone].stream)
		short_gone(s, zone);
}

/* Where nothing is left of a zone it is erased at once, not collected like others. */
static void sepbit_dead(struct sim *s, u32 lba, u32 addr)
{
	const struct sepbit *b = s->priv;

	(void)lba;
	if (sim_dies(s, addr, b->zone))
		short_gone(s, sim_zone_of(s, addr));
}

const struct sim_policy sim_sepbit = {
	.name = "sepbit", .doc = "SepBIT: by the life of the block before, and by age",
	.init = sepbit_init, .exit = sepbit_exit, .user = sepbit_user, .move = sepbit_move,
	.dead = sepbit_dead, .score = sim_ref_score, .cleaned = sepbit_cleaned,
};
