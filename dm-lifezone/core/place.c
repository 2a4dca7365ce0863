// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placement: which zone a write of a given lifetime goes to.
 *
 * A policy is a row of ranks, one for each way in which the lifetime of a zone
 * can relate to that of the data; the open zone of the highest rank is taken,
 * and rank 0 means that the policy would rather open a new zone. What is left
 * for code is the order of the attempts, the same for all policies:
 *
 *   1. an open zone that the policy ranks, but not one that is left alone, if there is another way
 *   2. a zone to adopt: an empty one, or, for a group, an idle one; else a new zone
 *   3. the budget is spent: wait if a zone is about to close; else an open zone that the policy
 *	admits only now
 *   4. finish=mismatch, user data: finish the cheapest zone, and open a new one;
 *	finish=cost: where it pays, fill or finish one that is not in use
 *   5. any open zone, the one nearest in lifetime; counted as a fallback
 *   6. wait: every open zone is full to the last block, and so about to close,
 *	or what room is left GC needs to free zones
 *
 * Step 5 takes any zone with room, so nobody waits for a zone that no one will
 * close. Only at the reserve does user data keep out of GC's zones: GC is at
 * work then, and without room for its output would stand still for ever. GC
 * never finishes a zone: the room thrown away can be more than the victim
 * yields, and GC would run on and on without gaining a zone.
 *
 * GC output and isolation. "initial" is one stream for all GC output: it and
 * user data never meet, except by fallback. "persistent" moves data only to
 * zones of its own class, so for wla the rank of longer-lived zones is dropped
 * for GC. zenfs keeps its own rule for GC, as that rule is part of the policy
 * studied (longer-lived zones first, equal ones next) and in it user data and
 * GC output share zones. In the other policies, and for classes that have no
 * order, data that has survived a cleaning differs from fresh data even where
 * the hint is the same (all of it has the same class where nothing is hinted):
 * the two share a zone of their class only when no further one may be opened.
 * A zone's class is what isolation is about, and sharing keeps to that.
 *
 * Finish by cost. Data that shares a zone with data of another lifetime is copied once it is in
 * the way, or leaves holes. That lasts: when the zone is full two want a new one, and there is one
 * slot. To be rid of it a zone has to go that nobody fills. What was not written to for
 * some time is likely not to be for as long again, and meanwhile each of the open zones is given
 * its part of what is written: that many blocks are spared the sharing. It costs either the
 * copies of what fills the rest of that zone, or padding it and a base; and what is padded is
 * space GC has to win elsewhere, at some copy a block. Of zones and ways that with the greatest
 * gain is taken, if there is a gain at all. So a zone that is nearly full is filled, and so is one
 * of a longer lifetime, where the data is in nobody's way; padded is what dies long before the
 * data does. Zones in use are left alone, as those who use them would be without one next.
 *
 * Groups. What policy=adaptive has grouped by how often it is written needs no telling
 * apart of GC output and user data: that it has survived is part of what was measured. A
 * group may have lost all it had to others, and hints may come no more, or tell nothing; before a
 * new zone is opened for a group, one that has been idle for long is adopted, whatever it is for.
 *
 * Zones left alone. What a merge of files wrote last may be what the next one reads first
 * (core/life.c): it is gone soon, and what is put behind it in its zone stays, in a zone with a
 * hole. Where that is so, and a merge has ended since an extreme zone was written, extreme data
 * takes another, until so many wait that the oldest has lost what it will. Some are emptied whole.
 *
 * Empty zones. With reset=adaptive an open zone that has lost all it held is left to be
 * filled: by data of its own class, or of one that does not live as long, which adopts it rather
 * than opens a new one. Data that lives longer would bury the garbage under it.
 */
#include "policy.h"

/* How the lifetime of a zone relates to that of the data. */
enum lz_relation {
	REL_OTHER,		/* shorter, or no order between the two */
	REL_SELF,		/* the same class, one of those without an order */
	REL_EQUAL,		/* the same, SHORT to EXTREME */
	REL_LONGER_1,		/* the zone lives one class longer */
	REL_LONGER_2,
	REL_LONGER_3,
	NR_RELATIONS,
};

/* Whether GC output and user data may share a zone. */
enum lz_split {
	SPLIT_NEVER,		/* they share as if they were one */
	SPLIT_IF_POSSIBLE,	/* they share once no zone may be opened */
	SPLIT_ALWAYS,		/* they share by fallback only */
};

/**
 * struct lz_rule - a policy
 * @rank: by enum lz_relation, higher is better; 0: rather a new zone
 * @spent: what is ranked besides when the budget is spent
 * @split: enum lz_split, for gc_isolation=persistent and ordered classes
 */
struct lz_rule {
	u8 rank[NR_RELATIONS];
	u8 spent[NR_RELATIONS];
	u8 split;
};

/* [policy][is it GC output] */
static const struct lz_rule lz_rules[LZ_NR_POLICIES][2] = {
	[LZ_POLICY_ZENFS] = {
		{
			/* The zone outlives the data: the data is gone when it is reset. */
			.rank = {
				[REL_SELF] = 5,
				[REL_LONGER_1] = 4, [REL_LONGER_2] = 3, [REL_LONGER_3] = 2,
			},
			/* As ZenFS does, which the study's text leaves out. */
			.spent = { [REL_EQUAL] = 1 },
			.split = SPLIT_NEVER,
		},
		{
			/* Moved data takes an equal lifetime rather than a new zone. */
			.rank = {
				[REL_SELF] = 5,
				[REL_LONGER_1] = 4, [REL_LONGER_2] = 3, [REL_LONGER_3] = 2,
				[REL_EQUAL] = 1,
			},
			.split = SPLIT_NEVER,
		},
	},
	[LZ_POLICY_WLA] = {
		{
			/* Weakly lifetime based: a longer life is better than a new zone. */
			.rank = {
				[REL_SELF] = 5, [REL_EQUAL] = 5,
				[REL_LONGER_1] = 4, [REL_LONGER_2] = 3, [REL_LONGER_3] = 2,
			},
			.split = SPLIT_IF_POSSIBLE,
		},
		{
			/* Persistent isolation: only to zones of its own class. */
			.rank = { [REL_SELF] = 5, [REL_EQUAL] = 5 },
			.split = SPLIT_IF_POSSIBLE,
		},
	},
	/* adaptive: what is hinted as in sla; all else comes as a group. */
	[LZ_POLICY_SLA ... LZ_POLICY_ADAPTIVE] = {
		{
			/* Strongly lifetime based: equal or new. */
			.rank = { [REL_SELF] = 5, [REL_EQUAL] = 5 },
			.split = SPLIT_IF_POSSIBLE,
		},
		{
			.rank = { [REL_SELF] = 5, [REL_EQUAL] = 5 },
			.split = SPLIT_IF_POSSIBLE,
		},
	},
};

/* gc_isolation=initial: all GC output is one stream, whatever its class. */
static const struct lz_rule lz_rule_stream = {
	.rank = {
		[REL_OTHER] = 1, [REL_SELF] = 1, [REL_EQUAL] = 1,
		[REL_LONGER_1] = 1, [REL_LONGER_2] = 1, [REL_LONGER_3] = 1,
	},
	.split = SPLIT_ALWAYS,
};

/*
 * How near a zone is to the data when neither the policy has a zone for it nor
 * a new one may be opened: [data][zone], higher is better, never 0.
 *
 * Ordered lifetimes: the nearest longer one first, where short data leaves a
 * hole but holds nothing up. A shorter one is the worst, as the data stays
 * behind when all else in the zone is gone; only the next shorter to LONG and
 * EXTREME, themselves long-lived, is better than a zone of unknown life.
 * Data without a hint is bulk data of middling life. NONE and META are what
 * file systems give to their own structures, which are rewritten often but
 * not thrown away together: best with each other.
 */
static const u8 lz_near[LZ_NR_CLASSES][LZ_NR_CLASSES] = {
	/*		       -  NONE  SH  ME  LO  EX  META */
	[LZ_CLASS_NOT_SET] = { 7,   4,  1,  6,  5,  2,   3 },
	[LZ_CLASS_NONE]    = { 5,   7,  2,  4,  3,  1,   6 },
	[LZ_CLASS_SHORT]   = { 2,   3,  7,  6,  5,  4,   3 },
	[LZ_CLASS_MEDIUM]  = { 4,   3,  1,  7,  6,  5,   2 },
	[LZ_CLASS_LONG]    = { 5,   3,  1,  4,  7,  6,   2 },
	[LZ_CLASS_EXTREME] = { 5,   3,  1,  4,  6,  7,   2 },
	[LZ_CLASS_META]    = { 4,   6,  2,  5,  3,  1,   7 },
};

/* What lives as long as what is in the group, where the two meet. */
static const u8 lz_like_group[LZ_NR_CLASSES] = {
	[LZ_CLASS_NOT_SET] = 8, [LZ_CLASS_NONE] = 8, [LZ_CLASS_SHORT] = 0,
	[LZ_CLASS_MEDIUM] = 6, [LZ_CLASS_LONG] = 9, [LZ_CLASS_EXTREME] = 10,
	[LZ_CLASS_META] = 4,
};

/* Above every score of lz_nearness(): the stream weighs more than the lifetime. */
#define LZ_NEAR_SAME_STREAM	16u

#define LZ_NO_ZONE		(~0u)

/* So many zones are left alone at a time. */
#define LZ_ALONE_MAX		4u

/*
 * The ZN540: 3.41 us to write a block, 2.74 us to read it, 3.29 us to pad it, and 2.57 ms for
 * a finish (K. Doekemeijer et al., Performance Characterization of NVMe Flash Devices with
 * Zoned Namespaces, CLUSTER 2023), rounded down, as the simulator does. Relative to each other
 * drives differ less than in speed.
 */
const struct lz_cost lz_cost_default = { .copy = 461, .pad = 246, .finish = 192768 };

static u32 lz_nearness(u8 data, u8 zone)
{
	u32 a, b;

	if (!lz_is_group(data) && !lz_is_group(zone))
		return lz_near[data][zone];
	a = lz_is_group(data) ? data - LZ_CLASS_GROUP : lz_like_group[data];
	b = lz_is_group(zone) ? zone - LZ_CLASS_GROUP : lz_like_group[zone];
	return LZ_NR_GROUPS - (a < b ? b - a : a - b);
}

static enum lz_relation lz_relate(u8 data, u8 zone)
{
	if (data == zone)
		return lz_ordered(data) ? REL_EQUAL : REL_SELF;
	if (!lz_ordered(data) || !lz_ordered(zone) || zone < data)
		return REL_OTHER;
	return REL_LONGER_1 + (zone - data - 1);
}

/*
 * The open zone with the highest score; of several, that with the least room,
 * so that zones are filled and closed one after the other.
 */
struct lz_best {
	unsigned int idx;
	u32 score;
	u32 room;
};

static void lz_best_add(struct lz_best *b, unsigned int idx, u32 score, u32 room)
{
	if (!score || !room)
		return;
	if (b->idx != LZ_NO_ZONE &&
	    (score < b->score || (score == b->score && room >= b->room)))
		return;
	b->idx = idx;
	b->score = score;
	b->room = room;
}

static bool lz_may_use(const struct lz_place_in *in, const struct lz_place_zone *z)
{
	return in->gc || !z->gc || !in->reserve;
}

/* A zone ranked by @rank; @mix: of the other stream too, if none of its own. */
static unsigned int lz_find_ranked(const struct lz_place_in *in, const u8 *rank, bool mix)
{
	struct lz_best best = { .idx = LZ_NO_ZONE };
	unsigned int i;

	for (i = 0; i < in->n; i++) {
		const struct lz_place_zone *z = &in->zones[i];

		if (lz_may_use(in, z) && (mix || z->gc == in->gc) && !z->alone)
			lz_best_add(&best, i, rank[lz_relate(in->class, z->class)], z->room);
	}
	return best.idx;
}

/* The zone that is left alone longest, if there are so many that one is to be filled. */
static unsigned int lz_find_alone(const struct lz_place_in *in)
{
	unsigned int i, oldest = LZ_NO_ZONE, n = 0;

	for (i = 0; i < in->n; i++) {
		const struct lz_place_zone *z = &in->zones[i];

		if (!z->alone || !z->room || z->class != in->class)
			continue;
		n++;
		if (oldest == LZ_NO_ZONE || z->age > in->zones[oldest].age)
			oldest = i;
	}
	return n >= LZ_ALONE_MAX || !in->can_open ? oldest : LZ_NO_ZONE;
}

static unsigned int lz_find_near(const struct lz_place_in *in, bool mixed)
{
	struct lz_best best = { .idx = LZ_NO_ZONE };
	unsigned int i;

	for (i = 0; i < in->n; i++) {
		const struct lz_place_zone *z = &in->zones[i];
		u32 score = lz_nearness(in->class, z->class);

		if (z->gc == in->gc && !mixed)
			score += LZ_NEAR_SAME_STREAM;
		if (lz_may_use(in, z))
			lz_best_add(&best, i, score, z->room);
	}
	return best.idx;
}

/* Is data of class @a gone as soon as that of class @b? */
static bool lz_as_short(u8 a, u8 b)
{
	return a == b || (a < b && lz_ordered(a) && lz_ordered(b)) ||
		(a < b && lz_is_group(a) && lz_is_group(b));
}

/*
 * A zone to adopt: an empty one, or, for @group, the nearest of those that nothing comes to any
 * more and that only hold a place.
 */
static unsigned int lz_find_adopted(const struct lz_place_in *in, bool group)
{
	struct lz_best best = { .idx = LZ_NO_ZONE };
	unsigned int i;

	for (i = 0; i < in->n; i++) {
		const struct lz_place_zone *z = &in->zones[i];
		u32 score = 0;

		if (z->empty && lz_as_short(in->class, z->class))
			score = LZ_NEAR_SAME_STREAM;
		else if (group && z->idle && !z->alone)
			score = lz_nearness(in->class, z->class);
		if (lz_may_use(in, z))
			lz_best_add(&best, i, score, z->room);
	}
	return best.idx;
}

/*
 * The zone to finish: that with the least room, as a finish costs what padding
 * the rest would. Never one that takes GC output: GC needs it to free zones,
 * and would clean it at once, as the padding makes it look like a good victim.
 */
static unsigned int lz_find_finish(const struct lz_place_in *in)
{
	struct lz_best best = { .idx = LZ_NO_ZONE };
	unsigned int i;

	for (i = 0; i < in->n; i++)
		if (!in->zones[i].gc)
			lz_best_add(&best, i, 1, in->zones[i].room);
	return best.idx;
}

/*
 * Copies a block costs, in quarters, in a zone of another lifetime. Data that lives longer than
 * the zone's is moved when all else is gone, and for each class more is in the way once more; data
 * that dies sooner leaves a hole that is part of the spare space no more.
 */
static const u8 lz_mix[NR_RELATIONS] = {
	[REL_OTHER] = 3, [REL_LONGER_1] = 1, [REL_LONGER_2] = 2, [REL_LONGER_3] = 2,
};

/* The same for data of class @data in a zone of @zone. */
static u32 lz_mixed(u8 data, u8 zone)
{
	if (lz_is_group(data) && lz_is_group(zone))
		return data > zone ? min(data - zone, 4) : min(zone - data, 2);
	if (lz_ordered(data) && lz_ordered(zone) && zone < data)
		return 2 + 2 * (data - zone);
	return lz_mix[lz_relate(data, zone)];
}

/*
 * Is it worth being rid of an open zone, rather than to share that of @class that is there? Sets
 * what is to be done.
 */
static bool lz_find_worth(const struct lz_place_in *in, u8 class, struct lz_place_out *out)
{
	u64 spared = lz_mixed(in->class, class) * (u64)in->cost->copy / 4, most = 0;
	unsigned int i;

	for (i = 0; i < in->n; i++) {
		const struct lz_place_zone *z = &in->zones[i];
		u64 copy = lz_mixed(in->class, z->class) * (u64)in->cost->copy / 4;
		u64 lost = (u64)in->cost->pad + in->cost->copy;
		u64 fill = copy * z->room, pad = lost * z->room + in->cost->finish;
		u64 gain = spared * min_t(u64, div_u64(z->age, in->n), LZ_NOWHERE);

		if (z->gc || !z->room || gain <= min(fill, pad) || gain - min(fill, pad) <= most)
			continue;
		most = gain - min(fill, pad);
		out->verdict = pad < fill ? LZ_PLACE_FINISH : LZ_PLACE_USE;
		out->fallback = pad >= fill;
		out->idx = i;
	}
	return most;
}

static void lz_use(struct lz_place_out *out, unsigned int idx, bool fallback)
{
	out->verdict = LZ_PLACE_USE;
	out->idx = idx;
	out->fallback = fallback;
}

/**
 * lz_place - choose the zone for a write
 * @in: what the decision depends on
 * @out: the decision
 */
void lz_place(const struct lz_place_in *in, struct lz_place_out *out)
{
	const struct lz_rule *rule = &lz_rules[in->policy][in->gc];
	enum lz_split split = rule->split;
	unsigned int idx;
	bool mixed;

	out->idx = 0;
	out->fallback = false;
	out->adopt = false;

	if (in->isolation == LZ_ISOLATION_INITIAL) {
		split = SPLIT_ALWAYS;
		if (in->gc)
			rule = &lz_rule_stream;
	} else if (!lz_ordered(in->class)) {
		split = lz_is_group(in->class) ? SPLIT_NEVER : SPLIT_IF_POSSIBLE;
	}

	mixed = lz_is_group(in->class) && split == SPLIT_NEVER;

	idx = lz_find_ranked(in, rule->rank, split == SPLIT_NEVER);
	if (idx == LZ_NO_ZONE && !in->gc)
		idx = lz_find_alone(in);
	if (idx != LZ_NO_ZONE) {
		lz_use(out, idx, false);
		return;
	}

	idx = lz_find_adopted(in, mixed);
	if (idx != LZ_NO_ZONE) {
		lz_use(out, idx, false);
		out->adopt = true;
		return;
	}

	if (in->can_open) {
		out->verdict = LZ_PLACE_NEW;
		return;
	}

	/* A new one soon rather than a mix of lifetimes for good. */
	if (in->budget_spent && in->closing) {
		out->verdict = LZ_PLACE_WAIT;
		return;
	}

	if (split == SPLIT_IF_POSSIBLE) {
		idx = lz_find_ranked(in, rule->rank, true);
		if (idx != LZ_NO_ZONE) {
			lz_use(out, idx, false);
			return;
		}
	}

	if (in->budget_spent) {
		idx = lz_find_ranked(in, rule->spent, split != SPLIT_ALWAYS);
		if (idx != LZ_NO_ZONE) {
			lz_use(out, idx, false);
			return;
		}

		if (in->finish == LZ_FINISH_MISMATCH && !in->gc)
			idx = lz_find_finish(in);
		if (idx != LZ_NO_ZONE) {
			out->verdict = LZ_PLACE_FINISH;
			out->idx = idx;
			return;
		}
	}

	idx = lz_find_near(in, mixed);
	if (idx == LZ_NO_ZONE)
		out->verdict = LZ_PLACE_WAIT;
	else if (!in->budget_spent || in->finish != LZ_FINISH_COST || in->gc ||
		 !lz_find_worth(in, in->zones[idx].class, out))
		lz_use(out, idx, true);
}
