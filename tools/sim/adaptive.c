// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's policy=adaptive, which infers lifetimes: core/life.c. What is here is as in
 * core/infer.c.
 */
#include <errno.h>
#include <stdlib.h>
#include "../../dm-lifezone/core/life.h"
#include "sim.h"

/**
 * struct adaptive - state
 * @l: of all blocks
 * @groups: how many there are
 * @sum: of the zones, as they fill
 * @mean: and once they are full
 */
struct adaptive {
	struct lz_life l;
	u32 groups;
	struct lz_life_sum *sum;
	struct lz_life_mean *mean;
};

static int adaptive_init(struct sim *s)
{
	struct adaptive *a = calloc(1, sizeof(*a));

	s->priv = a;
	if (!a || lz_life_init(&a->l, s->setup.blocks))
		return -ENOMEM;
	a->groups = lz_life_groups(0, s->setup.max_open);
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

/* Zones that what is in use would not fill. */
static u32 spare_zones(const struct sim *s)
{
	return s->setup.zones - s->mapped / s->setup.cap;
}

static u32 adaptive_user(struct sim *s, u32 lba, u32 old)
{
	struct adaptive *a = s->priv;
	u8 class = lz_life_class(&a->l, lba, 1, s->req.class, a->groups);

	(void)old;
	if (lz_life_write(&a->l, lba, 1, s->req.class)) {
		lz_life_measure(&a->l);
		a->groups = lz_life_groups(spare_zones(s), s->setup.max_open);
	}
	return sim_stream(s, class);
}

static u32 adaptive_move(struct sim *s, u32 lba, u32 old)
{
	struct adaptive *a = s->priv;
	int rate;

	(void)old;
	lz_life_rate(&a->l, lba, &rate);
	return SIM_GC_STREAMS + LZ_CLASS_GROUP + lz_life_group(rate, a->groups);
}

static u32 adaptive_choose(struct sim *s, u32 stream)
{
	return sim_choose(s, stream, LZ_POLICY_ADAPTIVE);
}

static void adaptive_adopted(struct sim *s, u32 zone)
{
	struct adaptive *a = s->priv;

	a->sum[zone] = (struct lz_life_sum){ 0 };
}

static void adaptive_wrote(struct sim *s, u32 lba, u32 addr)
{
	struct adaptive *a = s->priv;
	u32 zone = sim_zone_of(s, addr);

	if (s->z[zone].wp == 1)
		adaptive_adopted(s, zone);
	lz_life_add(&a->l, &a->sum[zone], lba, 1);
	if (s->z[zone].wp == s->setup.cap)
		a->mean[zone] = lz_life_mean(&a->sum[zone]);
}

static void adaptive_discarded(struct sim *s, u32 lba, u32 n)
{
	struct adaptive *a = s->priv;

	lz_life_discard(&a->l, lba, n);
}

static double adaptive_score(struct sim *s, u32 zone)
{
	struct adaptive *a = s->priv;

	return sim_victim(s, zone, sim_rule(s, LZ_POLICY_ADAPTIVE),
			  lz_life_zone_rate(&a->l, &a->mean[zone]));
}

const struct sim_policy sim_adaptive = {
	.name = "adaptive", .doc = "the module's: lifetimes inferred of what has no hint",
	.init = adaptive_init, .exit = adaptive_exit, .user = adaptive_user,
	.move = adaptive_move, .choose = adaptive_choose, .empty = sim_reset_due,
	.adopted = adaptive_adopted, .wrote = adaptive_wrote,
	.discarded = adaptive_discarded, .score = adaptive_score,
};
