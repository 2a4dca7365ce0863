// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reference policies without much state: one stream, user blocks apart from GC's,
 * and those that know what no device can.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "sim.h"

double sim_ref_score(struct sim *s, u32 zone)
{
	enum lz_victim how = s->setup.o.victim;

	return sim_score(s, zone, how == LZ_VICTIM_AUTO ? LZ_VICTIM_COST_BENEFIT : how);
}

static double greedy(struct sim *s, u32 zone)
{
	return sim_victim(s, zone, LZ_VICTIM_GREEDY, 0);
}

static u32 first(struct sim *s, u32 lba, u32 old)
{
	(void)s, (void)lba, (void)old;
	return 0;
}

static u32 second(struct sim *s, u32 lba, u32 old)
{
	(void)s, (void)lba, (void)old;
	return 1;
}

const struct sim_policy sim_one = {
	.name = "one", .doc = "one stream, greedy victims",
	.user = first, .move = first, .score = greedy,
};

const struct sim_policy sim_split = {
	.name = "split", .doc = "user blocks apart from those GC moves, cost-benefit victims",
	.user = first, .move = second, .score = sim_ref_score,
};

const struct sim_policy sim_split_greedy = {
	.name = "split-greedy", .doc = "the same, greedy victims",
	.user = first, .move = second, .score = greedy,
};

/* --- true rates ------------------------------------------------------------------ */

#define RATE_STREAMS	13	/* and how many powers of two they span */
#define RATE_LEAST	0.000000001	/* of a zone: what rounding leaves of no blocks */
#define RATE_TOP	8	/* the highest: 2^8 of the mean and above */

/**
 * struct rates - state
 * @epoch: of the load, for which the zones' sums of rates are right
 */
struct rates {
	u64 epoch;
};

static int rate_init(struct sim *s)
{
	s->priv = calloc(1, sizeof(struct rates));
	return s->priv ? 0 : -ENOMEM;
}

static void rate_wrote(struct sim *s, u32 lba, u32 addr)
{
	s->z[sim_zone_of(s, addr)].rate += load_rate(s->load, lba);
}

static void rate_dead(struct sim *s, u32 lba, u32 addr)
{
	s->z[sim_zone_of(s, addr)].rate -= load_rate(s->load, lba);
}

/* Rates change now and then: all sums anew. */
static void rate_sum(struct sim *s)
{
	struct rates *r = s->priv;
	u32 i;

	if (load_epoch(s->load) == r->epoch)
		return;
	r->epoch = load_epoch(s->load);
	for (i = 0; i < s->setup.zones; i++)
		s->z[i].rate = 0;
	for (i = 0; i < s->setup.blocks; i++)
		if (s->map[i] != SIM_NOWHERE)
			rate_wrote(s, i, s->map[i]);
}

static u32 rate_stream(struct sim *s, u32 lba, u32 old)
{
	double rate = load_rate(s->load, lba);
	int k;

	(void)old;
	/* Whoever's turn it is not does not write. */
	if (rate <= 0)
		return RATE_STREAMS - 1;
	k = RATE_TOP - (int)floor(log2(rate));
	return k < 0 ? 0 : k < RATE_STREAMS ? k : RATE_STREAMS - 1;
}

static u32 rate_user(struct sim *s, u32 lba, u32 old)
{
	rate_sum(s);
	return rate_stream(s, lba, old);
}

/*
 * D. Lomet and C. Luo, Efficiently Reclaiming Space in a Log Structured Store (ICDE
 * 2021): minimum declining cost, (1 - u)^2 / (u f) with f the mean rate of the blocks.
 */
static double mdc(struct sim *s, u32 zone)
{
	const struct sim_zone *z = &s->z[zone];
	double free = s->setup.cap - z->valid, rate = z->rate;

	return free * free / fmax(rate, RATE_LEAST);
}

const struct sim_policy sim_rates = {
	.name = "rates", .doc = "by the true rate at which a block is written, MDC victims",
	.init = rate_init, .user = rate_user, .move = rate_stream,
	.wrote = rate_wrote, .dead = rate_dead, .score = mdc,
};

/* --- death times ------------------------------------------------------------------ */

#define DEATH_STREAMS	14
#define DEATH_LEAST	10	/* 2^10 blocks and less: the first stream */

static u32 death_stream(const struct sim *s, u64 death)
{
	u64 left = death == ~0ull ? ~0ull : death - s->clock;
	int k = 0;

	for (left >>= DEATH_LEAST; left && k < DEATH_STREAMS - 1; left >>= 1)
		k++;
	return k;
}

static u32 death_user(struct sim *s, u32 lba, u32 old)
{
	u32 *at = s->priv;

	(void)old;
	at[lba] = s->clock;
	return death_stream(s, sim_death(s, s->clock));
}

static u32 death_move(struct sim *s, u32 lba, u32 old)
{
	u32 *at = s->priv;

	(void)old;
	return death_stream(s, sim_death(s, at[lba]));
}

static int death_init(struct sim *s)
{
	s->priv = calloc(s->setup.blocks, sizeof(u32));
	return s->priv ? 0 : -ENOMEM;
}

const struct sim_policy sim_oracle = {
	.name = "oracle", .doc = "by the true time of the next write, 14 powers of two",
	.future = true, .init = death_init,
	.user = death_user, .move = death_move, .score = sim_ref_score,
};
