// SPDX-License-Identifier: GPL-2.0-only
/*
 * From empty to free: when zones that hold nothing valid are reset.
 *
 * A zone that lost its last valid block is listed. The next commit takes the
 * list before it collects updates, so those that emptied the zone are in it or
 * in an earlier one. Once it is durable no state recovery could arrive at
 * resolves a block to the zone; when its last reader has gone too, it is reset.
 * Metadata zones come here when the root that frees them is durable.
 */
#include "lz.h"

/* lz_reset_wanted - is @z, which holds nothing valid, to be reset? @alone: as for lz_reset_due() */
bool lz_reset_wanted(struct lz *lz, const struct lz_zone *z, bool full, bool *alone)
{
	*alone = lz_infer_alone(lz) && lz_reset_alone(READ_ONCE(z->resv), lz->g.zone_cap);
	return lz_reset_due(READ_ONCE(lz->o.reset), READ_ONCE(z->class), full, *alone);
}

static bool decide(struct lz *lz, const struct lz_zone *z, bool full)
{
	bool alone, yes = lz_reset_wanted(lz, z, full, &alone) || z->chosen;

	lz_trace(lz, LZ_TR_RESET, lz_zone_nr(lz, z), z->class, z->state, yes, alone, z->chosen);
	return yes;
}

static bool due(struct lz *lz, struct lz_zone *z)
{
	bool yes = false;
	unsigned long flags;

	spin_lock_irqsave(&lz->place_lock, flags);
	spin_lock(&z->lock);
	/* Somebody came before it was reset. */
	if (z->done != z->resv || atomic_read(&z->valid) > 0)
		WRITE_ONCE(z->chosen, false);
	if (atomic_read(&z->valid) > 0 || !z->resv) {
		yes = false;
	} else if (z->done != z->resv && !lz_planted(LZ_PLANT_RESET_WITH_WRITES)) {
		/* On the list meanwhile it would have commits made that free nothing. */
		z->relist = z->state == LZ_ZS_OPEN && !z->closing;
	} else if (z->state == LZ_ZS_BAD && (z->open || (z->flags & LZ_ZF_WORN))) {
		yes = false;	/* it is being finished, or had its second chance */
	} else if (z->state == LZ_ZS_FULL || z->state == LZ_ZS_BAD) {
		yes = decide(lz, z, true);
	} else if (z->state == LZ_ZS_OPEN && !z->closing) {
		yes = decide(lz, z, false);
		z->closing = yes;
	}
	if (yes)
		z->draining = true;
	spin_unlock(&z->lock);
	if (yes)
		lz_zones_uncur(lz, z);
	spin_unlock_irqrestore(&lz->place_lock, flags);
	return yes;
}

/* lz_reset_collect - the commit now starting will free these. */
void lz_reset_collect(struct lz *lz)
{
	struct list_head list;
	unsigned long flags;

	INIT_LIST_HEAD(&list);
	spin_lock_irqsave(&lz->list_lock, flags);
	list_splice_tail_init(&lz->emptied, &list);
	spin_unlock_irqrestore(&lz->list_lock, flags);
	while (!list_empty(&list)) {
		struct lz_zone *z = list_first_entry(&list, struct lz_zone, list);

		/* Off the list before the look, or a later loss could be missed. */
		spin_lock_irqsave(&lz->list_lock, flags);
		list_del_init(&z->list);
		z->listed = false;
		spin_unlock_irqrestore(&lz->list_lock, flags);
		/* Pairs with the count's own order in lz_valid_sub(). */
		smp_mb();
		if (due(lz, z)) {
			spin_lock_irqsave(&lz->list_lock, flags);
			if (z->listed)
				list_del_init(&z->list);
			z->listed = true;
			list_add_tail(&z->list, lz_planted(LZ_PLANT_RESET_BEFORE_COMMIT) ?
				      &lz->ready : &lz->waiting);
			spin_unlock_irqrestore(&lz->list_lock, flags);
		}
	}
}

/* lz_reset_committed - the commit is durable. */
void lz_reset_committed(struct lz *lz)
{
	list_splice_tail_init(&lz->waiting, &lz->ready);
}

/* lz_resets_coming - zones that will be free without more ado, and soon. Machine. */
u32 lz_resets_coming(struct lz *lz)
{
	u32 n = lz->resets - lz->meta_resets, emptied = 0;
	unsigned long flags;
	struct lz_zone *z;

	list_for_each_entry(z, &lz->ready, list)
		n += z->state != LZ_ZS_META;
	list_for_each_entry(z, &lz->waiting, list)
		n++;
	spin_lock_irqsave(&lz->list_lock, flags);
	/* One that is open may be left to be filled. */
	list_for_each_entry(z, &lz->emptied, list)
		emptied += (READ_ONCE(z->state) == LZ_ZS_FULL || z->chosen) &&
			atomic_read(&z->valid) <= 0;
	spin_unlock_irqrestore(&lz->list_lock, flags);
	/* These wait for a commit to begin. */
	if (emptied && !READ_ONCE(lz->commit_wanted)) {
		WRITE_ONCE(lz->commit_wanted, true);
		lz->progress = true;
	}
	return n + emptied;
}

static void reset_over(struct lz *lz, struct lz_cmd *cmd)
{
	lz->reset_busy[cmd->arg] = false;
	lz->resets--;
	lz->progress = true;
}

/* One that cannot be finished either is read-only or offline: it is not open. */
static void aside_done(struct lz *lz, struct lz_cmd *cmd)
{
	unsigned long flags;

	reset_over(lz, cmd);
	spin_lock_irqsave(&lz->place_lock, flags);
	lz_open_release(lz, cmd->priv);
	spin_unlock_irqrestore(&lz->place_lock, flags);
	lz_feed(lz);
}

/* Not reset, not full: the drive counts it as open until it is finished. */
static void finish_aside(struct lz *lz, struct lz_cmd *cmd)
{
	struct lz_zone *z = cmd->priv;

	z->open->busy = true;
	cmd->op = LZ_OP_FINISH;
	cmd->done = aside_done;
	lz_submit(lz, cmd);
}

static void reset_done(struct lz *lz, struct lz_cmd *cmd)
{
	struct lz_zone *z = cmd->priv;
	u8 was = z->state;
	unsigned long flags;

	if (was == LZ_ZS_META)
		lz->meta_resets--;
	if (cmd->error) {
		spin_lock_irqsave(&lz->list_lock, flags);
		z->listed = false;
		spin_unlock_irqrestore(&lz->list_lock, flags);
		lz_say(lz, 'w', "zone %u cannot be reset (error %d): set aside until restarted",
		       lz_zone_nr(lz, z), cmd->error);
		spin_lock_irqsave(&lz->place_lock, flags);
		z->flags |= LZ_ZF_BAD;
		z->failed = true;
		if (was == LZ_ZS_META)
			lz->nr_meta--;
		if (was == LZ_ZS_FREE)
			lz->nr_unready--;
		lz_zone_set_state(lz, z, LZ_ZS_BAD);
		spin_unlock_irqrestore(&lz->place_lock, flags);
		lz->ops->event(lz->ctx, LZ_EV_ZONE_ASIDE, lz_zone_nr(lz, z));
		if (z->open)
			finish_aside(lz, cmd);
		else
			reset_over(lz, cmd);
		return;
	}
	reset_over(lz, cmd);
	switch (was) {
	case LZ_ZS_META:
		lz_count(lz, LZ_ST_RESETS_META, 1);
		spin_lock_irqsave(&lz->place_lock, flags);
		lz->nr_meta--;
		spin_unlock_irqrestore(&lz->place_lock, flags);
		break;
	case LZ_ZS_FREE:
		lz_count(lz, LZ_ST_RESETS_STALE, 1);
		lz->nr_unready--;
		break;
	default:
		lz_count(lz, z->by_gc ? LZ_ST_RESETS_GC : LZ_ST_RESETS_USER, 1);
		lz_count(lz, lz_class_stat(LZ_ST_CLASS_RESETS, z->class), 1);
	}
	lz_zone_freed(lz, z);
}

static void start_reset(struct lz *lz, struct lz_zone *z)
{
	u32 i;

	for (i = 0; lz->reset_busy[i]; i++)
		;
	lz->reset_busy[i] = true;
	lz->resets++;
	if (z->state == LZ_ZS_META)
		lz->meta_resets++;
	lz->reset_cmd[i] = (struct lz_cmd){
		.op = LZ_OP_RESET, .addr = lz_zone_addr(lz, lz_zone_nr(lz, z), 0),
		.done = reset_done, .priv = z, .arg = i,
	};
	lz->progress = true;
	lz_submit(lz, &lz->reset_cmd[i]);
}

/* lz_reset_step - reset what may be reset. Machine. */
void lz_reset_step(struct lz *lz)
{
	struct lz_zone *z, *n;
	unsigned long flags;

	list_for_each_entry_safe(z, n, &lz->ready, list) {
		if (lz->resets == LZ_RESETS_MAX)
			return;
		/* Pairs with the one in lz_read_begin(). */
		smp_mb();
		if (atomic_read(&z->readers) && !lz_planted(LZ_PLANT_RESET_WITH_READERS))
			continue;
		spin_lock_irqsave(&lz->list_lock, flags);
		list_del_init(&z->list);
		spin_unlock_irqrestore(&lz->list_lock, flags);
		start_reset(lz, z);
	}
	while (!list_empty(&lz->stale) && lz->resets < LZ_RESETS_MAX) {
		z = list_first_entry(&lz->stale, struct lz_zone, list);
		list_del_init(&z->list);
		start_reset(lz, z);
	}
}
