// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's measured lifetimes, core/life.c: policy=adaptive goes by them, and with
 * gc_isolation=adaptive GC of every policy. What is here is as in core/infer.c.
 */
#include <errno.h>
#include <stdlib.h>
#include "../../dm-lifezone/core/life.h"
#include "sim.h"

/**
 * struct sim_life - state
 * @l: of all blocks
 * @sum: of the zones, as they fill
 * @mean: and once they are closed
 * @rated: something is known of it then
 */
struct sim_life {
	struct lz_life l;
	struct lz_life_sum *sum;
	struct lz_life_mean *mean;
	bool *rated;
};

/* Zones of extreme data, once a run of it has ended? */
static bool leaves_alone(const struct sim *s)
{
	return s->setup.o.policy == LZ_POLICY_ADAPTIVE && s->life->l.alone;
}

/* Nothing, where nobody asks for lifetimes. */
int sim_life_init(struct sim *s)
{
	struct sim_life *a;

	if (!lz_wants_rates(&s->setup.o))
		return 0;
	a = calloc(1, sizeof(*a));
	s->life = a;
	if (!a || lz_life_init(&a->l, s->setup.blocks, s->setup.cap))
		return -ENOMEM;
	lz_life_regroup(&a->l, 0, s->setup.max_open);
	a->sum = calloc(s->setup.zones, sizeof(*a->sum));
	a->mean = calloc(s->setup.zones, sizeof(*a->mean));
	a->rated = calloc(s->setup.zones, sizeof(*a->rated));
	return a->sum && a->mean && a->rated ? 0 : -ENOMEM;
}

void sim_life_exit(struct sim *s)
{
	struct sim_life *a = s->life;

	if (!a)
		return;
	lz_life_exit(&a->l);
	free(a->sum);
	free(a->mean);
	free(a->rated);
	free(a);
}

/* Zones that what is in use would not fill. */
static u32 spare_zones(const struct sim *s)
{
	return s->setup.zones - s->mapped / s->setup.cap;
}

void sim_life_fetch(const struct sim *s, u32 lba)
{
	if (s->life)
		__builtin_prefetch(&s->life->l.mark[lba], 1);
}

u8 sim_life_user(struct sim *s, u32 lba)
{
	struct sim_life *a = s->life;
	u8 class = s->req.class;

	if (!a)
		return class;
	if (s->setup.o.policy == LZ_POLICY_ADAPTIVE)
		class = lz_life_class(&a->l, lba, 1, class);
	if (lz_life_write(&a->l, lba, 1, s->req.class)) {
		lz_life_measure(&a->l);
		s->alone = leaves_alone(s);
		lz_life_regroup(&a->l, spare_zones(s), s->setup.max_open);
	}
	return class;
}

u8 sim_life_moved(struct sim *s, u32 lba, u8 class)
{
	struct sim_life *a = s->life;
	int rate;

	if (!a)
		return class;
	lz_life_rate(&a->l, lba, &rate);
	return LZ_CLASS_GROUP + lz_life_joint(&a->l, rate, 1);
}

/* Are @open zones all that there is space to spare for? */
bool sim_life_enough(const struct sim *s, u32 open)
{
	return s->setup.o.policy == LZ_POLICY_ADAPTIVE && s->life && open >= s->life->l.open;
}

void sim_life_adopted(struct sim *s, u32 zone)
{
	struct sim_life *a = s->life;

	if (a)
		a->sum[zone] = (struct lz_life_sum){ 0 };
}

void sim_life_wrote(struct sim *s, u32 lba, u32 addr)
{
	struct sim_life *a = s->life;
	u32 zone = sim_zone_of(s, addr);

	if (!a)
		return;
	if (s->z[zone].wp == 1)
		sim_life_adopted(s, zone);
	lz_life_add(&a->l, &a->sum[zone], lba, 1);
}

void sim_life_closed(struct sim *s, u32 zone)
{
	struct sim_life *a = s->life;

	if (!a)
		return;
	a->rated[zone] = s->z[zone].wp && a->sum[zone].n;
	if (a->rated[zone])
		a->mean[zone] = lz_life_mean(&a->sum[zone]);
}

void sim_life_discarded(struct sim *s, u32 lba, u32 n)
{
	struct sim_life *a = s->life;

	if (!a || !lz_life_discard(&a->l, lba, n))
		return;
	/* The time of the last write, with which it ended. */
	s->ended = sim_clock(s) - 1;
	if (s->alone)
		s->open[LZ_CLASS_EXTREME] = SIM_NOWHERE;
}

int sim_life_zone_rate(struct sim *s, u32 zone)
{
	const struct sim_zone *z = &s->z[zone];
	u64 age = sim_clock(s) - z->written, ago = min(age, sim_clock(s) - z->lost);
	int by_age = lz_victim_age_rate(age, s->setup.blocks);
	struct sim_life *a = s->life;

	if (!a || !a->rated[zone])
		return by_age;
	return lz_life_zone_rate(&a->l, &a->mean[zone], z->valid, by_age,
				 lz_victim_age_rate(ago, s->setup.blocks));
}
