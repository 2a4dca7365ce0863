// SPDX-License-Identifier: GPL-2.0-only
/*
 * What MiDAS (midas.c) expects of groups: from the distribution of update intervals how much of
 * a group's victims is valid, from that by a Markov chain the write amplification, and by trying
 * sizes the best groups.
 *
 * A block enters HOT or G1 when it is written and goes from each group to the next if it is still
 * valid when its zone is cleaned. As a group is cleaned in the order in which it was filled, it
 * stays there for as long as it takes to fill as many zones. The last group has its own blocks
 * back, and is cleaned greedily; its valid part is that of P. Desnoyers, Analytic models of SSD
 * write performance (ACM TOS 10(2), 2014), for blocks of two rates.
 *
 * From the paper and the published simulator. Every block is counted, not one of a hundred, which
 * was to save memory. The chain is not stepped through until it settles: what it settles at
 * follows from one group to the next.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "uid.h"

#define UNITS_ZONE	4u	/* in a zone */
#define LAST_LEAST	40u	/* the last group has 1/40 of the zones at least, 50 of 2,048 */
#define HOT_MOST	29u	/* zones of HOT that are tried */
#define HOT_VALID	0.1	/* where HOT's victims are emptier than that */
#define HOT_TRAFFIC	0.15	/* and it takes so much, its size is a matter of choice */
#define STILL_LEAST	0.2	/* so much of the device must be still for it to count */
#define RATE_BOUND	0.7	/* of the mean interval: from where on a block is the slower kind */
#define STEPS		2048u	/* sizes that are tried for a group */
#define ROUNDS		4u	/* in which all sizes are tried again */

int uid_init(struct uid *u, u32 zones, u32 cap, u64 writes)
{
	u->zones = zones;
	u->cap = cap;
	u->unit = cap / UNITS_ZONE;
	u->units = DIV_ROUND_UP(writes, u->unit);
	u->count = calloc(u->units, sizeof(*u->count));
	u->below = calloc(u->units + 1ul, sizeof(*u->below));
	u->area = calloc(u->units + 1ul, sizeof(*u->area));
	u->span = calloc(u->units + 1ul, sizeof(*u->span));
	return u->count && u->below && u->area && u->span ? 0 : -ENOMEM;
}

void uid_exit(struct uid *u)
{
	free(u->count);
	free(u->below);
	free(u->area);
	free(u->span);
}

void uid_add(struct uid *u, u64 interval)
{
	u64 i = interval / u->unit;

	u->count[i < u->units ? i : u->units - 1]++;
}

void uid_open(struct uid *u)
{
	u32 i;

	for (i = 0; i < u->units; i++)
		u->count[i] = 0;
}

void uid_close(struct uid *u)
{
	u32 i;

	for (i = 0; i < u->units; i++) {
		/* What does not fit into the epoch, and half an interval before the first. */
		if (i)
			u->count[i] *= 1 + ((double)(u->units % i) / i + 0.5) * i / u->units;
		u->below[i + 1] = u->below[i] + u->count[i];
		u->area[i + 1] = u->area[i] + u->below[i + 1];
		u->span[i + 1] = u->span[i] + u->count[i] * i;
	}
}

/* The first unit at or behind so many zones of writes. */
static u32 unit_at(const struct uid *u, double zones)
{
	double i = ceil(zones * u->cap / u->unit);

	return i < u->units ? i : u->units;
}

/*
 * Valid blocks among all that were written within the units from @from to @to at a rate of
 * @rate, and had not died before.
 */
static double alive(const struct uid *u, u32 from, u32 to, double rate)
{
	double n = to - from, left = u->below[u->units] - u->below[from];
	double dead = u->area[to] - u->area[from] - n * u->below[from];

	return (n - dead / left) * rate * u->unit;
}

/* Desnoyers: how much too little @a is, where @r of the writes go to @f of the blocks. */
static double too_little(double op, double r, double f, double a)
{
	double sum = 1 - a;

	if (r > 0)
		sum += r / expm1(r * op / (f * a));
	if (r < 1)
		sum += (1 - r) / expm1((1 - r) * op / ((1 - f) * a));
	return sum;
}

/* Valid part of the last group's victims; @from: the units that are over before a block is there */
static double last_valid(const struct uid *u, u32 from, double zones, double valid)
{
	double writes = u->below[u->units] - u->below[from];
	double span = u->span[u->units] - u->span[from], r = 0, f = 0, low = 1, high = 2;
	double pages = 1 + 0.5 / u->cap, op = pages * zones * u->cap / valid;
	u32 bound = RATE_BOUND * span / writes + 1, i;

	if (bound > from) {
		r = (u->below[bound] - u->below[from]) / writes;
		f = (u->span[bound] - u->span[from]) / span;
	}
	/* No blocks of one of the kinds. */
	if (!(f > 0 && f < 1 && r < 1)) {
		r = 0;
		f = 0;
	}
	if (!(op > 1))
		return 1;
	while (too_little(op, r, f, high) > 0)
		high *= 2;
	for (i = 0; i < 40; i++) {
		double mid = (low + high) / 2;

		if (too_little(op, r, f, mid) > 0)
			low = mid;
		else
			high = mid;
	}
	return 1 - pages / low;
}

static bool hot_is_good(const struct uid *u)
{
	return u->hot_valid <= HOT_VALID && u->traffic >= HOT_TRAFFIC;
}

/*
 * What HOT does: @in, the part of writes it leaves to G1, its own victims' blocks included;
 * @past, the zones that are written until it has let go of a block; and the valid blocks in it.
 * Good, it takes what dies while it holds it, no more and no less; else it is as measured.
 */
static double hot_expect(const struct uid *u, u32 zones, double *in, double *past)
{
	double all = u->below[u->units], t = u->traffic;
	u32 i = 0;

	if (!hot_is_good(u)) {
		*past = t > 0 ? (zones - 0.5) / t : 0;
		*in = 1 - t + t * u->hot_valid;
		return alive(u, 0, unit_at(u, *past), t);
	}
	while (i < u->units &&
	       round((double)(i + 1) * u->unit / u->cap * u->below[i + 1] / all) < zones)
		i++;
	i += i < u->units;
	*past = (double)i * u->unit / u->cap;
	*in = 1 - u->below[i] / all;
	return alive(u, 0, i, 1);
}

bool uid_expect(const struct uid *u, struct uid_groups *g)
{
	double in, past, still = u->still, valid, left = u->zones - g->hot, copies;
	u32 from, to, i;

	valid = hot_expect(u, g->hot, &in, &past);
	copies = hot_is_good(u) ? 0 : u->traffic * u->hot_valid;
	for (i = 0; i + 1 < g->n; i++) {
		double stay = (g->size[i] - 0.5) / in;

		from = unit_at(u, past);
		past += stay;
		to = unit_at(u, past);
		/* Longer than can be told. */
		if (to == u->units)
			return false;
		g->valid[i] = 1 - (u->below[to] - u->below[from]) /
			      (u->below[u->units] - u->below[from]);
		valid += alive(u, from, to, in);
		in *= g->valid[i];
		copies += in;
		left -= g->size[i];
	}
	from = unit_at(u, past);
	if (still < STILL_LEAST * u->zones * u->cap)
		still = 0;
	valid = u->used - still - valid;
	if (from == u->units || !(u->below[u->units] > u->below[from]) || valid <= 0)
		return false;
	g->valid[i] = last_valid(u, from, left - still / u->cap, valid);
	if (!(g->valid[i] > 0 && g->valid[i] < 1))
		return false;
	g->wa = 1 + copies + in * g->valid[i] / (1 - g->valid[i]);
	return true;
}

/*
 * @to becomes @from with that size of group @i that is best, the last group having the rest; or,
 * where @i is the last, with that split. False: there is none.
 */
static bool resize(const struct uid *u, const struct uid_groups *from, u32 i,
		   struct uid_groups *to)
{
	struct uid_groups g = *from;
	u32 left = u->zones - g.hot, step = u->zones / STEPS + 1, k;

	g.n += i + 1 == g.n;
	for (k = 0; k + 1 < g.n; k++)
		left -= k == i ? 0 : g.size[k];
	to->wa = INFINITY;
	for (k = 1; k + u->zones / LAST_LEAST < left; k += step) {
		g.size[i] = k;
		if (uid_expect(u, &g) && g.wa < to->wa)
			*to = g;
	}
	return to->wa < INFINITY;
}

/* The best size of HOT. */
static void resize_hot(const struct uid *u, struct uid_groups *best)
{
	struct uid_groups g = *best;

	for (g.hot = 1; g.hot <= HOT_MOST; g.hot++)
		if (uid_expect(u, &g) && g.wa < best->wa)
			*best = g;
}

bool uid_best(const struct uid *u, u32 most, struct uid_groups *g)
{
	struct uid_groups last = { .hot = 1, .n = 1, .wa = INFINITY }, next;
	u32 i, round;

	if (hot_is_good(u)) {
		resize_hot(u, &last);
	} else {
		last.hot = u->hot_zones + 1.5;
		if (!uid_expect(u, &last))
			last.wa = INFINITY;
	}
	*g = last;
	for (i = 0; i + 1 < most && resize(u, &last, i, &next); i++) {
		last = next;
		if (last.wa < g->wa)
			*g = last;
	}
	for (round = 0; round < ROUNDS; round++) {
		if (hot_is_good(u))
			resize_hot(u, g);
		for (i = 0; i < g->n && i + 1 < most; i++)
			if (resize(u, g, i, &next) && next.wa < g->wa)
				*g = next;
	}
	return g->wa < INFINITY;
}
