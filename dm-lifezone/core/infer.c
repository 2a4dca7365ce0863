// SPDX-License-Identifier: GPL-2.0-only
/*
 * policy=adaptive: what comes without a hint is grouped by the lifetime inferred of it; and
 * gc_isolation=adaptive, which goes by that for GC's output only, whatever the policy.
 *
 * A request, as much of it as is sent at once, goes to one group: what is written together is
 * often rewritten together, and stays in one piece on the drive. What GC moves is grouped
 * block by block, by what is known of each by then. A block of which nothing is known (since a
 * load marks are made anew) stays in the group of its zone.
 *
 * Data with a hint from SHORT to EXTREME goes to zones of its class at first, if rates differ
 * by hint, or may do; otherwise hints are worth nothing, and it is grouped like the rest. So is
 * what is rewritten in place, where hints stay with their blocks. What survives a cleaning is
 * always grouped: by then its age says more. What has no hint has zones of
 * its own, as it comes, if it was not in use before, or where that goes at a time more than a group
 * does (order.c).
 *
 * The marks take two bytes of RAM for each block of the device, from when either is first
 * asked for until the device is closed.
 */
#include "lz.h"

/* The marks, if they are in use. */
static struct lz_life *marks(struct lz *lz)
{
	if (!lz_wants_rates(&lz->o))
		return NULL;
	/* Pairs with the release in lz_infer_init(). */
	return smp_load_acquire(&lz->life);
}

/* The same, where users' data goes by them, too. */
static struct lz_life *marks_for_users(struct lz *lz)
{
	return READ_ONCE(lz->o.policy) == LZ_POLICY_ADAPTIVE ? marks(lz) : NULL;
}

static u8 group_of(struct lz_life *l, int rate)
{
	return LZ_CLASS_GROUP + lz_life_joint(l, rate, 1);
}

/* lz_infer_class - the zone class of @n blocks from @lba on that users write as @class. */
u8 lz_infer_class(struct lz *lz, u8 class, u64 lba, u32 n)
{
	struct lz_life *l = marks_for_users(lz);

	return l ? lz_life_class(l, lba, n, class) : class;
}

/* lz_infer_moved - the zone class of a block that GC moves out of @z. */
u8 lz_infer_moved(struct lz *lz, const struct lz_zone *z, u64 lba)
{
	struct lz_life *l = marks(lz);
	u8 class = READ_ONCE(z->class);
	int rate;

	if (!l)
		return lz_is_group(class) ? LZ_CLASS_NOT_SET : class;
	if (lz_life_rate(l, lba, &rate))
		return group_of(l, rate);
	if (lz_is_group(class))
		return min_t(u8, class, LZ_CLASS_GROUP + READ_ONCE(l->groups) - 1);
	return lz_ordered(class) ? class : group_of(l, 0);
}

/* lz_infer_written - users write @n blocks from @lba on: room for them has been reserved. */
void lz_infer_written(struct lz *lz, u8 class, u64 lba, u32 n)
{
	struct lz_life *l = marks(lz);

	if (l && lz_life_write(l, lba, n, class))
		lz_kick(lz);
}

/* lz_infer_discarded - users have discarded @n blocks from @lba on. */
void lz_infer_discarded(struct lz *lz, u64 lba, u64 n)
{
	/* Though nobody may want them now: nothing is known of what is not in use. */
	struct lz_life *l = smp_load_acquire(&lz->life);

	if (l && lz_life_discard(l, lba, n))
		lz_zones_ended(lz);
}

/* lz_infer_named - @n blocks from @lba on lie in @o's zone. Caller holds its lock. */
void lz_infer_named(struct lz *lz, struct lz_open *o, u64 lba, u32 n)
{
	struct lz_life *l = marks(lz);

	if (l)
		lz_life_add(l, &o->life, lba, n);
}

/* lz_infer_emptied - nothing of what is in @o's zone is in use. Caller holds its lock. */
void lz_infer_emptied(struct lz_open *o)
{
	o->life = (struct lz_life_sum){};
}

/* lz_infer_closed - @z, which was @o, takes no more writes. */
void lz_infer_closed(struct lz_zone *z, const struct lz_open *o)
{
	z->rated = o->life.n;
	if (z->rated)
		z->mean = lz_life_mean(&o->life);
}

/* lz_infer_enough - are @open zones all that there is space to spare for? */
bool lz_infer_enough(struct lz *lz, u32 open)
{
	struct lz_life *l = marks_for_users(lz);

	return l && open >= READ_ONCE(l->open);
}

/* lz_infer_alone - are zones left alone once a run of extreme data has ended? */
bool lz_infer_alone(struct lz *lz)
{
	struct lz_life *l = marks_for_users(lz);

	return l && READ_ONCE(l->alone);
}

/* lz_infer_zone_rate - the rate at which blocks of @z, last written @age ago, are written @now. */
int lz_infer_zone_rate(struct lz *lz, const struct lz_zone *z, u64 age, u64 now)
{
	u64 blocks = lz->si.logical_blocks, lost = min(READ_ONCE(z->lost), now);
	int by_age = lz_victim_age_rate(age, blocks);
	struct lz_life *l = marks(lz);

	if (!l || !z->rated)
		return by_age;
	return lz_life_zone_rate(l, &z->mean, atomic_read(&z->valid), by_age,
				 lz_victim_age_rate(min(age, now - lost), blocks));
}

/* lz_infer_step - measure rates anew, if that is due. Machine. */
void lz_infer_step(struct lz *lz)
{
	struct lz_life *l = marks(lz);

	if (!l || !lz_life_due(l))
		return;
	lz_life_measure(l);
	lz_life_regroup(l, lz_spare_zones(lz, lz_mapped_blocks(lz)), lz->data_slots);
}

/* Has marks. 0 or -ENOMEM. */
static int lz_infer_init(struct lz *lz)
{
	unsigned long flags;
	struct lz_life *l;

	if (READ_ONCE(lz->life))
		return 0;
	l = lz_zalloc_array(1, sizeof(*l));
	if (!l || lz_life_init(l, lz->si.logical_blocks, lz->g.zone_cap)) {
		lz_free(l);
		return -ENOMEM;
	}
	lz_life_regroup(l, 0, lz->data_slots);
	spin_lock_irqsave(&lz->place_lock, flags);
	if (!lz->life) {
		/* Pairs with the acquire in marks(). */
		smp_store_release(&lz->life, l);
		l = NULL;
	}
	spin_unlock_irqrestore(&lz->place_lock, flags);
	/* Somebody else was faster. */
	if (l)
		lz_life_exit(l);
	lz_free(l);
	return 0;
}

/* Has them if @o needs any. 0, or -ENOMEM and what for in @why. */
static int infer_for(struct lz *lz, const struct lz_options *o, char *why, size_t why_size)
{
	int err = lz_wants_rates(o) ? lz_infer_init(lz) : 0;

	if (err)
		scnprintf(why, why_size, "%s=adaptive: no memory for %llu bytes",
			  o->policy == LZ_POLICY_ADAPTIVE ? "policy" : "gc_isolation",
			  (unsigned long long)(2 * lz->si.logical_blocks));
	return err;
}

/* lz_infer_want - have them if the options need any. 0, or -ENOMEM, and that has been said. */
int lz_infer_want(struct lz *lz)
{
	char why[80];
	int err = infer_for(lz, &lz->o, why, sizeof(why));

	if (err)
		lz_say(lz, 'e', "%s, other policies need none", why);
	return err;
}

void lz_infer_exit(struct lz *lz)
{
	if (lz->life)
		lz_life_exit(lz->life);
	lz_free(lz->life);
}

int lz_prepare_options(struct lz *lz, const struct lz_options *o, char *why, size_t why_size)
{
	/* A load sees to it itself, and who only reads needs none. */
	if (!lz->loaded || READ_ONCE(lz->mode) == LZ_MODE_RO)
		return 0;
	return infer_for(lz, o, why, why_size);
}
