// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open loop: writes arrive whether those before are answered or not, and wait in a queue. From
 * arrival to answer is the latency.
 *
 * Costs are those of time.c, and here, too, the drive does one thing after the other: what users
 * want in the order it came, and in between GC, block by block: while nobody waits, and by the
 * pace of the module (core/pace.c) where somebody does and zones are short. Who comes while GC
 * copies a block waits for that, and a finish is done before the write that wants the place. Erases
 * of a few zones may be put off until the drive has nothing else to do.
 *
 * Arrivals are independent of each other at a mean rate, or as a trace says; of a request of
 * several blocks all come at once, and it is answered with the last.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "rnd.h"
#include "sim.h"

#define SUB_BITS	6u	/* latencies are told apart by a 64th */
#define SUBS		64u
#define BINS		((64 - SUB_BITS + 1) * SUBS)

#define ERASES		4u	/* put off at most */

/**
 * struct sim_queue - arrivals and the queue; times in ns
 * @r: of arrivals
 * @arrived: when the request under way did
 * @more: so many of its blocks are yet to come
 * @first: SIM_TIMES: what the load said of the first
 * @free: the drive has nothing to do for users from now on
 * @busy: it had so long, with all it did for GC
 * @erases: what those put off will take
 * @owed: blocks of its victim GC is to go by before the next of users is written
 * @lent: blocks users have written since GC has to run
 * @now: the simulator's time, as far as it is accounted for
 * @erased: and its erases
 * @n: requests answered
 * @sum: of their latencies
 * @max: the longest
 * @bin: how many of each length
 */
struct sim_queue {
	struct rnd r;
	double arrived;
	u32 more;
	u64 first;
	double free;
	double busy;
	double erases;
	double owed;
	u64 lent;
	u64 now;
	u64 erased;
	u64 n;
	double sum;
	u64 max;
	u64 bin[BINS];
};

/* Below SUBS each has a bin of its own, and each power of two has as many. */
static u32 bin_of(u64 v)
{
	u32 shift;

	if (v < SUBS)
		return v;
	shift = 63 - SUB_BITS - __builtin_clzll(v);
	return shift * SUBS + (v >> shift);
}

static u64 bin_end(u32 bin)
{
	u32 shift = bin < SUBS ? 0 : bin / SUBS - 1;

	return ((u64)(bin - shift * SUBS) + 1) << shift;
}

struct sim_queue *sim_queue_new(const struct sim_setup *setup)
{
	struct sim_queue *q = calloc(1, sizeof(*q));

	if (q)
		rnd_seed(&q->r, setup->seed ^ 0x61727269u);
	return q;
}

static void spend(struct sim_queue *q, double ns)
{
	q->free += ns;
	q->busy += ns;
}

/* What the simulator has done since is done now, but for erases. */
static void catch_up(struct sim *s)
{
	struct sim_queue *q = s->queue;
	double erases = (s->n.erased - q->erased) * (double)s->t.erase;

	spend(q, s->t.now - q->now - erases);
	q->erases += erases;
	q->now = s->t.now;
	q->erased = s->n.erased;
}

/* Of those put off, @ns at most. */
static bool erase(struct sim_queue *q, double ns)
{
	ns = min(ns, q->erases);
	if (ns <= 0)
		return false;
	q->erases -= ns;
	spend(q, ns);
	return true;
}

static bool clean(struct sim *s, bool idle)
{
	if (!sim_clean_step(s, idle))
		return false;
	catch_up(s);
	return true;
}

/* Users wait for as much of GC as is its part. */
static void keep_pace(struct sim *s)
{
	struct sim_queue *q = s->queue;
	struct lz_pace_in in = {
		.reserve = s->setup.reserve, .start = s->setup.gc_start,
		.lent = div_u64(q->lent, s->setup.cap),
	};
	u32 share;

	for (;;) {
		in.free_zones = s->nr_free;
		in.gain = s->gain;
		share = lz_pace_user_share(&in);
		if (share || !clean(s, false))
			break;
	}
	q->lent = share == ~0u ? 0 : q->lent + 1;
	q->owed += share && share != ~0u ? LZ_PACE_UNIT / (double)share : 0;
	for (; q->owed >= 1; q->owed--) {
		if (clean(s, false))
			continue;
		q->owed = 0;
		break;
	}
}

/* When the request under way did. A long one has as much time to itself as its blocks had. */
static double arrival(struct sim *s)
{
	double bytes = (s->req.more + 1.0) * s->setup.cost.block;
	struct sim_queue *q = s->queue;

	if (s->setup.arrivals == SIM_POISSON)
		return q->arrived - log1p(-rnd_real(&q->r)) * bytes * 1e9 / s->setup.rate;
	if (!s->n.user)
		q->first = s->req.at;
	/* Those of several processors are in any order. A date in a double has no nanoseconds. */
	return max(q->arrived, (double)(s->req.at > q->first ? s->req.at - q->first : 0));
}

void sim_queue_arrive(struct sim *s)
{
	struct sim_queue *q = s->queue;

	catch_up(s);
	if (!q->more)
		q->arrived = arrival(s);
	q->more = s->req.more;
	while (q->free < q->arrived && (erase(q, s->t.read + s->t.write) || clean(s, true)))
		;
	q->free = max(q->free, q->arrived);
	erase(q, q->erases - ERASES * (double)s->t.erase);
	keep_pace(s);
}

void sim_queue_answered(struct sim *s)
{
	struct sim_queue *q = s->queue;
	u64 latency;

	catch_up(s);
	if (s->req.more)
		return;
	latency = q->free - q->arrived;
	q->n++;
	q->sum += latency;
	q->max = max(q->max, latency);
	q->bin[bin_of(latency)]++;
}

void sim_queue_reset(struct sim_queue *q)
{
	q->n = 0;
	q->sum = 0;
	q->max = 0;
	memset(q->bin, 0, sizeof(q->bin));
}

/* The latency that the part @p of all requests did not exceed, up to the width of a bin (ns). */
static u64 percentile(const struct sim_queue *q, double p)
{
	u64 want = ceil(p * q->n), n = 0;
	u32 i;

	for (i = 0; i < BINS - 1; i++) {
		n += q->bin[i];
		if (n >= want)
			break;
	}
	return min(bin_end(i) - 1, q->max);
}

struct sim_latency sim_queue_latency(const struct sim_queue *q)
{
	return (struct sim_latency){
		.n = q->n,
		.mean = q->n ? q->sum / q->n : 0,
		.p50 = percentile(q, 0.5),
		.p99 = percentile(q, 0.99),
		.p999 = percentile(q, 0.999),
		.p9999 = percentile(q, 0.9999),
		.max = q->max,
		.busy = q->busy,
		.now = q->free,
	};
}

bool sim_queue_bin(const struct sim_queue *q, u32 *bin, u64 *end, u64 *n)
{
	while (*bin < BINS && !q->bin[*bin])
		++*bin;
	if (*bin == BINS)
		return false;
	*end = min(bin_end(*bin) - 1, q->max);
	*n = q->bin[(*bin)++];
	return true;
}
