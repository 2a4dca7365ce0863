// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our own placement where nothing is hinted: core/life.c.
 */
#include <errno.h>
#include <stdlib.h>
#include "../../dm-lifezone/core/life.h"
#include "sim.h"

#define GROUPS		11u
#define IDLE_PART	32u	/* a zone is idle after this part of the blocks was written */

/**
 * struct adaptive - state
 * @l: of all blocks
 * @sum: of the zones, as they fill
 * @mean: and once they are full
 */
struct adaptive {
	struct lz_life l;
	struct lz_life_sum *sum;
	struct lz_life_mean *mean;
};

static int adaptive_init(struct sim *s)
{
	struct adaptive *a = calloc(1, sizeof(*a));

	s->priv = a;
	if (!a || lz_life_init(&a->l, s->setup.blocks))
		return -ENOMEM;
	a->sum = calloc(s->setup.zones, sizeof(*a->sum));
	a->mean = calloc(s->setup.zones, sizeof(*a->mean));
	return a->sum && a->mean ? 0 : -ENOMEM;
}

static void adaptive_exit(struct sim *s)
{
	struct adaptive *a = s->priv;

	lz_life_exit(&a->l);
	free(a->sum);
	free(a->mean);
}

static u32 adaptive_move(struct sim *s, u32 lba, u32 old)
{
	struct adaptive *a = s->priv;
	int rate;

	(void)old;
	lz_life_rate(&a->l, lba, &rate);
	return lz_life_group(rate, GROUPS);
}

static u32 adaptive_user(struct sim *s, u32 lba, u32 old)
{
	struct adaptive *a = s->priv;

	if (lz_life_write(&a->l, lba, 1))
		lz_life_measure(&a->l);
	return adaptive_move(s, lba, old);
}

/* A zone nobody has written to for long only takes space. The nearest of these. */
static u32 adaptive_adopt(struct sim *s, u32 stream)
{
	u32 best = SIM_NOWHERE, far = ~0u, g;

	for (g = 0; g < GROUPS; g++) {
		u32 d = g < stream ? stream - g : g - stream;

		if (s->open[g] == SIM_NOWHERE || d >= far ||
		    s->clock - s->z[s->open[g]].written < s->setup.blocks / IDLE_PART)
			continue;
		best = g;
		far = d;
	}
	return best;
}

static void adaptive_wrote(struct sim *s, u32 lba, u32 addr)
{
	struct adaptive *a = s->priv;
	u32 zone = sim_zone_of(s, addr);

	if (s->z[zone].wp == 1)
		a->sum[zone] = (struct lz_life_sum){ 0 };
	lz_life_add(&a->l, &a->sum[zone], lba, 1);
	if (s->z[zone].wp == s->setup.cap)
		a->mean[zone] = lz_life_mean(&a->sum[zone]);
}

static double adaptive_score(struct sim *s, u32 zone)
{
	struct adaptive *a = s->priv;

	return lz_victim_mdc(s->z[zone].valid, s->setup.cap,
			     lz_life_zone_rate(&a->l, &a->mean[zone]));
}

const struct sim_policy sim_adaptive = {
	.name = "adaptive", .doc = "ours: by measured rates, MDC victims",
	.init = adaptive_init, .exit = adaptive_exit, .user = adaptive_user,
	.move = adaptive_move, .adopt = adaptive_adopt, .wrote = adaptive_wrote,
	.score = adaptive_score,
};
