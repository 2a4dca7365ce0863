// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data zones: reserving space in them, naming what landed, closing them.
 *
 * A reservation is a number of blocks, not a place: the drive says where an
 * append lands. An open zone keeps a ring of completed blocks that no summary
 * names yet; the machine appends a summary for every 501 of them, when the zone
 * closes, and at each checkpoint. Room for the summaries still owed is kept
 * back, so that resv + owed <= capacity at all times. Summaries of a zone form
 * a chain and are written one after the other, up to eight blocks at once.
 *
 * cur[gc][class] is where a class writes; it is read without a lock and checked
 * again under the zone's. Placement is asked when it is empty or used up.
 */
#include "lz.h"

/* lz_zone_room - blocks of data that may still be reserved. Caller holds z->lock. */
u32 lz_zone_room(const struct lz *lz, const struct lz_zone *z)
{
	u32 left = lz->g.zone_cap - z->resv, unsum = z->open->unsum, n;

	if (z->closing || left <= lz_sum_owed(unsum))
		return 0;
	n = left - lz_sum_owed(unsum + left);
	while (n + 1 + lz_sum_owed(unsum + n + 1) <= left)
		n++;
	return n + lz_planted(LZ_PLANT_ROOM_OFF_BY_ONE);
}

void lz_zone_touch(struct lz *lz, const struct lz_zone *z)
{
	WRITE_ONCE(lz->ztab.dirty[0][lz_zone_nr(lz, z) / LZ_ZNODE_ENTRIES], 1);
}

/* lz_zone_set_state - Caller holds place_lock, or is alone (load). */
void lz_zone_set_state(struct lz *lz, struct lz_zone *z, u8 state)
{
	u8 old = z->state;

	WRITE_ONCE(z->state, state);
	lz_zone_touch(lz, z);
	lz_trace(lz, LZ_TR_ZONE_STATE, lz_zone_nr(lz, z), z->class, old, state,
		 atomic_read(&z->valid), z->gen);
}

/* lz_free_for - free zones that users (or GC) may open. Caller holds place_lock. */
u32 lz_free_for(struct lz *lz, bool gc)
{
	u32 keep = lz->si.meta_zones > lz->nr_meta ? lz->si.meta_zones - lz->nr_meta : 0;

	if (lz_planted(LZ_PLANT_META_RESERVE_TAKEN))
		keep = 0;
	if (gc)
		keep -= min(keep, lz->lent);
	else if (!lz_planted(LZ_PLANT_GC_RESERVE_TAKEN))
		keep += lz->si.gc_zones;
	return lz->nr_free > keep ? lz->nr_free - keep : 0;
}

/* lz_free_now - the same, as of now; takes place_lock. */
u32 lz_free_now(struct lz *lz, bool gc)
{
	unsigned long flags;
	u32 n;

	spin_lock_irqsave(&lz->place_lock, flags);
	n = lz_free_for(lz, gc);
	spin_unlock_irqrestore(&lz->place_lock, flags);
	return n;
}

/* lz_zrec_add - a record about a zone for the next commit; false: no room now. */
bool lz_zrec_add(struct lz *lz, u8 type, u32 zone, u32 len, u64 b)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&lz->list_lock, flags);
	ok = lz->nr_zrec < LZ_ZRECS;
	if (ok) {
		lz->zrec[lz->nr_zrec] = (struct lz_zrec){ type, zone, len, b };
		WRITE_ONCE(lz->nr_zrec, lz->nr_zrec + 1);
	}
	spin_unlock_irqrestore(&lz->list_lock, flags);
	return ok;
}

/*
 * lz_zone_take_free - a free, reset zone off the list; metadata takes a worn one
 * only if there is no other. Caller holds place_lock.
 */
struct lz_zone *lz_zone_take_free(struct lz *lz, bool meta)
{
	struct lz_zone *z = list_first_entry_or_null(&lz->free_list, struct lz_zone, list), *n;

	if (meta && z && (z->flags & LZ_ZF_WORN)) {
		list_for_each_entry(n, &lz->free_list, list) {
			if (n->flags & LZ_ZF_WORN)
				continue;
			z = n;
			break;
		}
	}
	if (z) {
		unsigned long flags;

		list_del_init(&z->list);
		WRITE_ONCE(lz->nr_free, lz->nr_free - 1);
		spin_lock_irqsave(&lz->list_lock, flags);
		z->listed = false;
		spin_unlock_irqrestore(&lz->list_lock, flags);
	}
	return z;
}

/* lz_open_slot - give @z a slot to take writes with. Caller holds place_lock. */
struct lz_open *lz_open_slot(struct lz *lz, struct lz_zone *z, bool gc)
{
	struct lz_open *o = lz->open;
	unsigned long flags;

	while (o->zone != LZ_NONE)
		o++;
	o->gc = gc;
	o->finish = false;
	o->busy = false;
	o->slow = false;
	o->slow_since = 0;
	o->unsum = 0;
	o->put = 0;
	o->got = 0;
	o->safe = 0;
	o->force = 0;
	o->ckpt = 0;
	o->life = (struct lz_life_sum){};
	/* Last: the machine looks without the lock; pairs with its acquires. */
	smp_store_release(&o->zone, lz_zone_nr(lz, z));
	lz->nr_open++;
	spin_lock_irqsave(&z->lock, flags);
	z->closing = false;
	z->open = o;
	spin_unlock_irqrestore(&z->lock, flags);
	return o;
}

/* lz_open_release - @z takes no more writes. Caller holds place_lock. */
void lz_open_release(struct lz *lz, struct lz_zone *z)
{
	struct lz_open *o = z->open;
	unsigned long flags;

	if (!o)
		return;
	spin_lock_irqsave(&z->lock, flags);
	z->open = NULL;
	spin_unlock_irqrestore(&z->lock, flags);
	o->zone = LZ_NONE;
	lz->nr_open--;
}

/* lz_zones_uncur - no class writes to @z any more; NULL: to any. Caller holds place_lock. */
void lz_zones_uncur(struct lz *lz, const struct lz_zone *z)
{
	u32 i;

	for (i = 0; i < 2 * LZ_NR_ZONE_CLASSES; i++) {
		struct lz_zone **cur = &lz->cur[i / LZ_NR_ZONE_CLASSES][i % LZ_NR_ZONE_CLASSES];

		if (!z || *cur == z)
			WRITE_ONCE(*cur, NULL);
	}
}

/* lz_zones_part - users leave GC's zones to GC, and ask placement again. */
void lz_zones_part(struct lz *lz)
{
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&lz->place_lock, flags);
	for (i = 0; i < LZ_NR_ZONE_CLASSES; i++) {
		struct lz_zone *z = lz->cur[0][i];

		if (z && z->open && z->open->gc)
			WRITE_ONCE(lz->cur[0][i], NULL);
	}
	spin_unlock_irqrestore(&lz->place_lock, flags);
}

/* lz_zones_ended - a run of extreme data has ended: what comes next asks placement again. */
void lz_zones_ended(struct lz *lz)
{
	unsigned long flags;

	spin_lock_irqsave(&lz->place_lock, flags);
	lz->ended = atomic64_read(&lz->write_seq);
	if (lz_infer_alone(lz))
		WRITE_ONCE(lz->cur[0][LZ_CLASS_EXTREME], NULL);
	spin_unlock_irqrestore(&lz->place_lock, flags);
}

static struct lz_zone *open_new(struct lz *lz, u8 class, bool gc)
{
	struct lz_zone *z = lz_zone_take_free(lz, false);

	WRITE_ONCE(z->class, class);
	z->flags |= gc ? LZ_ZF_GC : 0;
	lz_open_slot(lz, z, gc);
	lz_zone_set_state(lz, z, LZ_ZS_OPEN);
	lz_zrec_add(lz, LZ_JR_ZOPEN, lz_zone_nr(lz, z), class, z->gen | (u64)z->flags << 32);
	lz_count(lz, lz_class_stat(LZ_ST_CLASS_OPENS, class), 1);
	return z;
}

/* Zones open, and one that is left for the other side, if it has none yet. */
static u32 open_for(const struct lz *lz, bool gc)
{
	u32 i, other = 0;

	for (i = 0; i < lz->data_slots; i++) {
		if (lz->open[i].zone != LZ_NONE && lz->open[i].gc != gc)
			other++;
	}
	return lz->nr_open + (other ? 0 : 1);
}

/*
 * Blocks of @z in use, or about to be: in flight, where one stays for a moment after it has been
 * mapped. Caller holds z->lock.
 */
static u32 in_use(const struct lz_zone *z)
{
	return min(max(atomic_read(&z->valid), 0) + (z->resv - z->done), z->resv);
}

/* Blocks written since @z was; 0 before it is, and while it is. Caller holds z->lock. */
static u64 age_of(struct lz *lz, const struct lz_zone *z)
{
	return z->done && z->done == z->resv ? atomic64_read(&lz->write_seq) - z->seq : 0;
}

/* @z, of which so many blocks are in use, holds nothing of what was written to it. */
static bool is_empty(const struct lz *lz, const struct lz_zone *z, u32 used)
{
	return READ_ONCE(lz->o.reset) == LZ_RESET_ADAPTIVE && z->done && !used;
}

/*
 * lz_zone_left - blocks written to @z, if it is open, all that is gone, and it is left to be
 * filled; or 0. Nobody is writing to it. Machine.
 */
u32 lz_zone_left(struct lz *lz, struct lz_zone *z)
{
	unsigned long flags;
	u32 n = 0;

	spin_lock_irqsave(&z->lock, flags);
	if (!z->closing && !z->chosen && is_empty(lz, z, in_use(z)))
		n = z->done;
	spin_unlock_irqrestore(&z->lock, flags);
	return n;
}

/* @z as placement sees it; a run ended @ended ago. Caller holds z->lock. */
static void look_at(struct lz *lz, const struct lz_zone *z, u64 ended, bool traced,
		    struct lz_place_zone *seen)
{
	u32 used = in_use(z);
	u64 age = age_of(lz, z);

	*seen = (struct lz_place_zone){
		.class = z->class, .gc = z->open->gc,
		.idle = lz_idle(z->class, age, lz->si.logical_blocks),
		.empty = is_empty(lz, z, used),
		.alone = lz_alone(z->class, z->open->gc, age, ended),
		.room = lz_zone_room(lz, z), .age = age,
	};
	if (traced && seen->room)
		lz_trace_event(lz, &(struct lz_trace){
			.what = LZ_TR_PLACE_ZONE, .zone = lz_zone_nr(lz, z),
			.class = z->class, .old = z->open->gc, .a = seen->room, .b = used, .c = age,
		});
}

/* @z, which was @empty when it was chosen, is for @class from now on. Caller holds place_lock. */
static void adopt(struct lz *lz, struct lz_zone *z, bool empty, u8 class, bool gc)
{
	lz_zones_uncur(lz, z);
	spin_lock(&z->lock);
	if (empty) {
		z->open->gc = gc;
		lz_infer_emptied(z->open);
	}
	WRITE_ONCE(z->class, class);
	spin_unlock(&z->lock);
	lz_zone_touch(lz, z);
}

/* Finds the zone @class is to write to. 0: cur is set, or may be by now. */
static int place(struct lz *lz, u8 class, bool gc)
{
	struct lz_zone *z = NULL;
	struct lz_place_in in = {
		.class = class, .gc = gc, .cost = &lz_cost_default, .zones = lz->cand,
	};
	struct lz_place_out out = {};
	unsigned long flags;
	bool traced = lz_traced(lz, LZ_TR_PLACE_ZONE), slow = false, spent, held;
	u64 ended = LZ_NEVER;
	int err = 0;
	u32 i, usable, open;

	spin_lock_irqsave(&lz->place_lock, flags);
	if (lz->ended && lz_infer_alone(lz))
		ended = atomic64_read(&lz->write_seq) - lz->ended;
	in.policy = lz->o.policy;
	in.finish = lz->o.finish;
	in.isolation = lz->o.isolation;
	for (i = 0; i < lz->data_slots; i++) {
		if (lz->open[i].zone == LZ_NONE)
			continue;
		z = &lz->zone[lz->open[i].zone];
		spin_lock(&z->lock);
		look_at(lz, z, ended, traced, &lz->cand[in.n]);
		/* What is read meanwhile may keep one from its reset for long. */
		in.closing |= z->closing && !z->failed && !z->draining &&
			      !READ_ONCE(lz->open[i].slow);
		slow |= z->open->finish && READ_ONCE(lz->open[i].slow);
		spin_unlock(&z->lock);
		if (!lz->cand[in.n].room)
			continue;
		if (z == lz->cur[gc][class])
			goto out;
		lz->cand_zone[in.n++] = lz->open[i].zone;
	}
	open = open_for(lz, gc);
	held = READ_ONCE(lz->nr_zrec) >= LZ_ZRECS / 2 || lz_infer_enough(lz, open);
	usable = lz_free_for(lz, gc);
	spent = open >= lz->data_slots;
	/* Without a free zone to open, finishing one would gain nothing. */
	in.budget_spent = spent && usable;
	/* Where one takes long another would, too. */
	if (slow)
		in.finish = LZ_FINISH_NEVER;
	in.can_open = !spent && usable && !held;
	/* With nothing worth cleaning GC needs its room no more than users do. */
	in.reserve = !gc && !lz_free_for(lz, false) &&
		!(lz_gc_in_vain(lz) && lz_free_for(lz, true));
	lz_place(&in, &out);
	switch (out.verdict) {
	case LZ_PLACE_USE:
		z = &lz->zone[lz->cand_zone[out.idx]];
		if (out.adopt)
			adopt(lz, z, lz->cand[out.idx].empty, class, gc);
		WRITE_ONCE(lz->cur[gc][class], z);
		break;
	case LZ_PLACE_NEW:
		WRITE_ONCE(lz->cur[gc][class], open_new(lz, class, gc));
		break;
	case LZ_PLACE_FINISH:
		err = -EAGAIN;
		z = &lz->zone[lz->cand_zone[out.idx]];
		spin_lock(&z->lock);
		z->closing = true;
		z->open->finish = true;
		spin_unlock(&z->lock);
		lz_zones_uncur(lz, z);
		lz_kick(lz);
		break;
	case LZ_PLACE_WAIT:
		err = -EAGAIN;
		break;
	}
	if (out.fallback)
		lz_count(lz, LZ_ST_FALLBACKS, 1);
	if (out.verdict == LZ_PLACE_WAIT)
		z = NULL;
	else if (out.verdict != LZ_PLACE_FINISH)
		z = lz->cur[gc][class];
	lz_trace_event(lz, &(struct lz_trace){
		.what = LZ_TR_PLACE, .zone = z ? lz_zone_nr(lz, z) : LZ_NONE, .class = class,
		.old = gc, .new = out.verdict, .a = in.n, .b = lz->nr_free, .c = usable,
		.d = (in.reserve ? LZ_PLACE_IS_RESERVE : 0) | (held ? LZ_PLACE_IS_HELD : 0) |
			(in.closing ? LZ_PLACE_IS_CLOSING : 0) | (slow ? LZ_PLACE_IS_SLOW : 0),
		.e = ended,
	});
out:
	spin_unlock_irqrestore(&lz->place_lock, flags);
	return err;
}

static u32 grab(struct lz *lz, struct lz_zone *z, u32 want, u32 *from)
{
	unsigned long flags;
	u32 n = 0, room;

	spin_lock_irqsave(&z->lock, flags);
	if (z->open) {
		room = lz_zone_room(lz, z);
		n = min(want, room);
		n = min(n, lz->ring_size - z->open->unsum);
		*from = z->done;
		z->resv += n;
		z->open->unsum += n;
		if (n == room)
			z->closing = true;
	}
	spin_unlock_irqrestore(&z->lock, flags);
	return n;
}

/* lz_zone_reserve - up to @want blocks in a zone that suits @class. */
int lz_zone_reserve(struct lz *lz, u8 class, bool gc, u32 want, struct lz_write *w)
{
	u32 tries;

	for (tries = 0; tries < 4; tries++) {
		struct lz_zone *z = READ_ONCE(lz->cur[gc][class]);

		if (z) {
			w->nblocks = grab(lz, z, want, &w->from);
			if (w->nblocks) {
				w->zone = lz_zone_nr(lz, z);
				return 0;
			}
		}
		if (place(lz, class, gc))
			break;
	}
	return -EAGAIN;
}

/* lz_zone_name - @n completed blocks at @off hold @lba and on; a summary will say so. */
void lz_zone_name(struct lz *lz, struct lz_zone *z, u32 off, u64 lba, u32 n)
{
	struct lz_open *o = z->open;
	unsigned long flags;
	u64 due;

	spin_lock_irqsave(&z->lock, flags);
	lz_infer_named(lz, o, lba, n);
	for (; n; n--)
		o->ring[o->put++ & (lz->ring_size - 1)] = lz_sum_pack(off++, lba++);
	due = o->put - o->got;
	spin_unlock_irqrestore(&z->lock, flags);
	if (due >= LZ_FILL_SUMMARY && !READ_ONCE(o->busy))
		lz_kick(lz);
}

/* So many more of the blocks handed out have completed. Caller holds z->lock. */
static void count_done(struct lz *lz, struct lz_zone *z, u32 n)
{
	/* Listed first: is_quiet() looks for writes, and then at the list. */
	if (z->relist && z->done + n == z->resv) {
		z->relist = false;
		if (atomic_read(&z->valid) <= 0)
			lz_zone_emptied(lz, z);
	}
	z->done += n;
}

/* lz_zone_done - @reserved blocks have completed; @named of them are in the ring. */
void lz_zone_done(struct lz *lz, struct lz_zone *z, u32 reserved, u32 named)
{
	unsigned long flags;
	bool quiet, closing;

	spin_lock_irqsave(&z->lock, flags);
	count_done(lz, z, reserved);
	if (z->open)
		z->open->unsum -= reserved - named;
	/* A full barrier: see is_idle(). */
	z->seq = atomic64_add_return(reserved, &lz->write_seq);
	quiet = z->done == z->resv;
	closing = z->closing;
	spin_unlock_irqrestore(&z->lock, flags);
	if (quiet && closing)
		lz_kick(lz);
	if (quiet && READ_ONCE(lz->idle_wanted)) {
		WRITE_ONCE(lz->idle_wanted, false);
		lz->ops->kick_later(lz->ctx, LZ_IDLE_MS);
	}
}

/* lz_writes_pending - is anything on its way to a zone of data, of users' or GC's? */
bool lz_writes_pending(const struct lz *lz)
{
	u32 i, zone;

	for (i = 0; i < lz->data_slots; i++) {
		zone = READ_ONCE(lz->open[i].zone);
		if (zone != LZ_NONE &&
		    READ_ONCE(lz->zone[zone].done) != READ_ONCE(lz->zone[zone].resv))
			return true;
	}
	return false;
}

/* Would @z, empty, stay open? The commit that is not hastened for it decides. */
static bool stays_open(struct lz *lz, const struct lz_zone *z)
{
	bool alone;

	return READ_ONCE(z->state) == LZ_ZS_OPEN && !READ_ONCE(z->closing) &&
		!READ_ONCE(z->chosen) && !lz_reset_wanted(lz, z, false, &alone);
}

/* lz_zone_emptied - @z may have lost its last valid block. Any context. */
void lz_zone_emptied(struct lz *lz, struct lz_zone *z)
{
	unsigned long flags;

	/* All that are empty are listed at the end of the load. */
	if (lz->loading)
		return;
	spin_lock_irqsave(&lz->list_lock, flags);
	if (!z->listed) {
		z->listed = true;
		list_add_tail(&z->list, &lz->emptied);
	}
	spin_unlock_irqrestore(&lz->list_lock, flags);
	/* Who starves may have looked before; pairs with the one in lz_starve(). */
	smp_mb();
	if (atomic_read(&lz->starved) ||
	    (READ_ONCE(lz->nr_free) <= lz->si.meta_zones + lz->si.gc_zones + 2 &&
	     !stays_open(lz, z))) {
		WRITE_ONCE(lz->commit_wanted, true);
		lz_kick(lz);
	}
}

/* lz_zone_freed - @z has been reset; it stays listed. Machine, or alone. */
void lz_zone_freed(struct lz *lz, struct lz_zone *z)
{
	unsigned long flags;

	spin_lock_irqsave(&lz->place_lock, flags);
	lz_open_release(lz, z);
	z->gen++;
	z->resv = 0;
	z->done = 0;
	z->flags = lz_zone_worn(z->flags);
	if (!lz_planted(LZ_PLANT_SUMMARY_HEAD_KEPT)) {
		z->head = LZ_NO_OFFSET;
		z->sum_seq = 0;
	}
	z->closing = false;
	z->draining = false;
	z->by_gc = false;
	WRITE_ONCE(z->chosen, false);
	z->failed = false;
	z->begun = false;
	z->relist = false;
	z->suspect = false;
	z->rated = false;
	z->gc_ckpt = 0;
	/* It is 0, unless the map has more in the zone than was counted at load. */
	atomic_set(&z->valid, 0);
	lz_zone_set_state(lz, z, LZ_ZS_FREE);
	list_add_tail(&z->list, &lz->free_list);
	WRITE_ONCE(lz->nr_free, lz->nr_free + 1);
	spin_unlock_irqrestore(&lz->place_lock, flags);
	if (!lz_planted(LZ_PLANT_WAKEUP_LOST))
		lz_feed(lz);
}

/* Nothing more is written to @z. False: that is no news. */
static bool set_aside(struct lz *lz, struct lz_zone *z, bool lost)
{
	unsigned long flags;
	bool first, news;
	u64 gen;

	spin_lock_irqsave(&lz->place_lock, flags);
	spin_lock(&z->lock);
	first = !z->failed;
	gen = z->gen;
	news = first || (lost && !z->suspect);
	z->failed = true;
	z->closing = !lz_planted(LZ_PLANT_ASIDE_STILL_USED);
	z->flags |= LZ_ZF_SCAN | LZ_ZF_BAD;
	if (lost) {
		z->flags |= LZ_ZF_LOST;
		WRITE_ONCE(z->suspect, true);
		/* There is nothing for GC to move. */
		z->gc_ckpt = ~0ull;
	}
	spin_unlock(&z->lock);
	lz_zones_uncur(lz, z);
	lz_zone_touch(lz, z);
	spin_unlock_irqrestore(&lz->place_lock, flags);
	if (first) {
		lz_zrec_add(lz, LZ_JR_ZBAD, lz_zone_nr(lz, z), 0, gen | LZ_ZBAD_GEN);
		lz_count(lz, LZ_ST_ZONES_ASIDE, 1);
		lz->ops->event(lz->ctx, LZ_EV_ZONE_ASIDE, lz_zone_nr(lz, z));
	}
	lz_kick(lz);
	return news;
}

/* lz_zone_aside - a write to @z has failed: GC moves what it holds. */
void lz_zone_aside(struct lz *lz, struct lz_zone *z, int error)
{
	if (set_aside(lz, z, false))
		lz_say(lz, 'w', "zone %u set aside: write error %d", lz_zone_nr(lz, z), error);
}

/* Is this the first write of its life to land at the start of @z? */
static bool begins(struct lz_zone *z)
{
	unsigned long flags;
	bool again;

	spin_lock_irqsave(&z->lock, flags);
	again = z->begun;
	z->begun = true;
	spin_unlock_irqrestore(&z->lock, flags);
	return !again;
}

/*
 * lz_zone_landed - may @w have landed at @addr? A write pointer comes back only by a
 * reset: then a write lands where others have, or a second one at the zone's start. It gets
 * beyond what was reserved only by what others write. Both set the zone aside.
 */
bool lz_zone_landed(struct lz *lz, const struct lz_write *w, u64 addr)
{
	u64 off = addr - lz_zone_addr(lz, w->zone, 0);
	struct lz_zone *z = &lz->zone[w->zone];

	if (unlikely(off > READ_ONCE(z->resv) - w->nblocks)) {
		if (set_aside(lz, z, false))
			lz_say(lz, 'w',
			       "zone %u set aside: a write landed at offset %llu, beyond the others: did someone else write to it?",
			       w->zone, (unsigned long long)off);
		return false;
	}
	if (likely(off >= w->from && (off || begins(z))))
		return true;
	if (set_aside(lz, z, true))
		lz_say(lz, 'e',
		       "zone %u set aside, what it held is lost: a write landed at offset %llu, not past %u: was it reset by someone else?",
		       w->zone, (unsigned long long)off, max(w->from, w->nblocks));
	return false;
}

/* lz_zones_lost - zones that are set aside, or that GC could not read. */
u32 lz_zones_lost(const struct lz *lz)
{
	u32 i, n = 0;

	for (i = 0; i < lz->g.nr_zones; i++)
		n += READ_ONCE(lz->zone[i].state) == LZ_ZS_BAD ||
		     lz->zone[i].gc_ckpt == ~0ull;
	return n;
}

static void close_zone(struct lz *lz, struct lz_zone *z, u8 state)
{
	unsigned long flags;

	spin_lock_irqsave(&lz->place_lock, flags);
	lz_zones_uncur(lz, z);
	lz_infer_closed(z, z->open);
	lz_open_release(lz, z);
	lz_zone_set_state(lz, z, state);
	/* Somebody filled it up before it was reset. */
	WRITE_ONCE(z->chosen, false);
	spin_unlock_irqrestore(&lz->place_lock, flags);
	if (!atomic_read(&z->valid))
		lz_zone_emptied(lz, z);
	lz->progress = true;
	lz_gc_look(lz);
	lz->gc.aside = 0;
	lz_feed(lz);
}

static void summary_done(struct lz *lz, struct lz_cmd *cmd)
{
	struct lz_zone *z = cmd->priv;
	struct lz_open *o = z->open;
	struct lz_write w = {
		.zone = lz_zone_nr(lz, z), .nblocks = cmd->nblocks, .from = o->sum_from,
	};
	u32 off = lz_addr_off(lz, cmd->result);
	unsigned long flags;

	o->busy = false;
	if (!cmd->error && !lz_zone_landed(lz, &w, cmd->result))
		cmd->error = -EIO;
	if (cmd->error) {
		lz_zone_aside(lz, z, cmd->error);
		lz_zone_done(lz, z, cmd->nblocks, cmd->nblocks);
		return;
	}
	spin_lock_irqsave(&z->lock, flags);
	count_done(lz, z, cmd->nblocks);
	o->safe += o->sum_entries;
	spin_unlock_irqrestore(&z->lock, flags);
	z->head = off;
	z->sum_seq += cmd->nblocks;
	lz_zone_touch(lz, z);
	lz_zrec_add(lz, LZ_JR_ZSUM, lz_zone_nr(lz, z), cmd->nblocks,
		    off | (u64)z->sum_seq << 32);
	lz_count(lz, LZ_ST_SUMMARY_BLOCKS, cmd->nblocks);
	lz->progress = true;
	lz_feed(lz);
}

/* Appends a summary of the @n oldest entries of the ring, @blocks long. */
static void summarise(struct lz *lz, struct lz_zone *z, struct lz_open *o, u32 n, u32 blocks)
{
	u32 i, k = 0;

	for (i = 0; i < blocks; i++) {
		struct lz_summary *s = &o->buf[i];
		struct lz_want w = {
			.uuid = lz->si.uuid, .type = LZ_BT_SUMMARY, .addr = LZ_NO_ADDR,
			.index = lz_zone_nr(lz, z), .epoch = lz->epoch,
			.seq = z->sum_seq + 1 + i,
		};
		u32 take = min(n - k, LZ_FILL_SUMMARY), j;

		memset(s, 0, sizeof(*s));
		s->gen = cpu_to_le32(z->gen);
		s->prev = cpu_to_le32(z->head);
		s->group = cpu_to_le32(blocks);
		s->nth = cpu_to_le32(i);
		for (j = 0; j < take; j++)
			s->e[j] = cpu_to_le64(o->ring[(o->got + k++) & (lz->ring_size - 1)]);
		lz_seal(s, &w, take);
	}
	o->busy = true;
	o->sum_entries = n;
	o->sum_from = z->done;
	o->sum = (struct lz_cmd){
		.op = LZ_OP_APPEND, .addr = lz_zone_addr(lz, lz_zone_nr(lz, z), 0),
		.nblocks = blocks, .buf = o->buf, .class = READ_ONCE(z->class), .meta = true,
		.done = summary_done, .priv = z,
	};
}

/* Somebody may still ask for room in it. */
static void set_full(struct lz *lz, struct lz_zone *z)
{
	unsigned long flags;

	spin_lock_irqsave(&z->lock, flags);
	z->resv = lz->g.zone_cap;
	z->done = z->resv;
	spin_unlock_irqrestore(&z->lock, flags);
}

static void finish_done(struct lz *lz, struct lz_cmd *cmd)
{
	struct lz_zone *z = cmd->priv;

	z->open->busy = false;
	if (cmd->error) {
		lz_zone_aside(lz, z, cmd->error);
		return;
	}
	set_full(lz, z);
	lz_count(lz, LZ_ST_FINISHES_MISMATCH, 1);
	lz->progress = true;
}

/*
 * A zone that was set aside has been finished, so that the drive does not count
 * it as open. One that cannot be finished is read-only or offline, and does not
 * count either.
 */
static void aside_done(struct lz *lz, struct lz_cmd *cmd)
{
	struct lz_zone *z = cmd->priv;

	if (!cmd->error)
		set_full(lz, z);
	close_zone(lz, z, LZ_ZS_BAD);
}

/*
 * What is finished looks full, and sound, to the next load: first the zone table has to say
 * that it is not.
 */
static bool known_lost(struct lz *lz, struct lz_open *o)
{
	if (!o->ckpt) {
		/* One under way may have passed the zone table. */
		o->ckpt = lz->ckpt.number + (lz->ckpt.state == LZ_CK_IDLE ? 1 : 2);
		lz_ckpt_want(lz);
	}
	return lz->ckpt.number >= o->ckpt;
}

enum step { STEP_NONE, STEP_WAIT, STEP_SUBMIT, STEP_FULL };

/* What an open zone needs next. Caller holds z->lock. */
static enum step zone_next(struct lz *lz, struct lz_zone *z, struct lz_open *o)
{
	u32 pending = o->put - o->got, left = lz->g.zone_cap - z->resv, n, blocks;
	bool quiet = z->done == z->resv, last;
	enum step none;

	lockdep_assert_held(&z->lock);
	/* A checkpoint's summary may have taken the last room. */
	if (!lz_zone_room(lz, z))
		z->closing = true;
	last = z->closing && quiet;
	none = z->closing && !quiet ? STEP_WAIT : STEP_NONE;
	if (z->failed) {
		if (!last || (z->suspect && !known_lost(lz, o)))
			return none;
		o->busy = true;
		o->sum = (struct lz_cmd){
			.op = LZ_OP_FINISH, .addr = lz_zone_addr(lz, o->zone, 0),
			.done = aside_done, .priv = z,
		};
		return STEP_SUBMIT;
	}
	if (pending >= LZ_FILL_SUMMARY || (pending && (last || o->force > o->got))) {
		n = min_t(u32, pending, LZ_SUM_BLOCKS * LZ_FILL_SUMMARY);
		n = min_t(u32, n, lz->append_max * LZ_FILL_SUMMARY);
		/* Whole blocks, unless the zone closes or a checkpoint asks for all. */
		if (!last && o->force <= o->got + n - n % LZ_FILL_SUMMARY)
			n -= n % LZ_FILL_SUMMARY;
		blocks = lz_sum_owed(n);
		/* A short one early may only take room that is not owed. */
		if (blocks + lz_sum_owed(o->unsum - n) > left)
			return none;
		summarise(lz, z, o, n, blocks);
		o->got += n;
		o->unsum -= n;
		z->resv += blocks;
		return STEP_SUBMIT;
	}
	if (!last)
		return none;
	if (!left)
		return STEP_FULL;
	if (!o->finish && left <= min(LZ_SUM_BLOCKS, lz->append_max)) {
		/* Cheaper than finishing: fill up with a summary of nothing. */
		summarise(lz, z, o, 0, left);
		z->resv += left;
		return STEP_SUBMIT;
	}
	o->busy = true;
	o->sum = (struct lz_cmd){
		.op = LZ_OP_FINISH, .addr = lz_zone_addr(lz, o->zone, 0),
		.done = finish_done, .priv = z,
	};
	return STEP_SUBMIT;
}

/*
 * A zone that is full closes when the last write to it ends, and one that is finished when that
 * does. The one may be held up where the drive's queue is, by the budget of a control group for
 * one, the other may take a second; and others are not to wait for it while there is room
 * elsewhere. Nor is a checkpoint, whose summary finds no room there.
 */
static void wait_for_close(struct lz *lz, struct lz_open *o)
{
	u64 now = lz->ops->now(lz->ctx);

	if (o->slow)
		return;
	if (!o->slow_since)
		o->slow_since = now;
	if (now - o->slow_since < LZ_CLOSE_MS * 1000000ull) {
		lz->ops->kick_later(lz->ctx, LZ_CLOSE_MS);
		return;
	}
	WRITE_ONCE(o->slow, true);
	lz->progress = true;
	lz_feed(lz);
}

/* lz_zones_step - summaries and closing, zone by zone. Machine. */
void lz_zones_step(struct lz *lz)
{
	unsigned long flags;
	u32 i;

	for (i = 0; i < lz->data_slots; i++) {
		struct lz_open *o = &lz->open[i];
		struct lz_zone *z;
		enum step step;

		/* Pairs with the release in lz_open_slot(). */
		if (smp_load_acquire(&o->zone) == LZ_NONE)
			continue;
		z = &lz->zone[o->zone];
		if (o->busy && READ_ONCE(o->finish) && READ_ONCE(lz->was_starved))
			wait_for_close(lz, o);
		if (o->busy || z->draining)
			continue;
		spin_lock_irqsave(&z->lock, flags);
		step = z->open == o ? zone_next(lz, z, o) : STEP_NONE;
		spin_unlock_irqrestore(&z->lock, flags);
		if (step == STEP_WAIT && (READ_ONCE(lz->was_starved) ||
					  lz->ckpt.state == LZ_CK_SUMMARIES)) {
			wait_for_close(lz, o);
		} else if (step == STEP_SUBMIT) {
			lz->progress = true;
			lz_submit(lz, &o->sum);
		} else if (step == STEP_FULL) {
			close_zone(lz, z, LZ_ZS_FULL);
		}
	}
}

int lz_zones_init(struct lz *lz)
{
	u32 i;

	lz->zone = lz_zalloc_array(lz->g.nr_zones, sizeof(*lz->zone));
	lz->open = lz_zalloc_array(lz->data_slots, sizeof(*lz->open));
	lz->zrec = lz_zalloc_array(LZ_ZRECS, sizeof(*lz->zrec));
	lz->commit.zrec = lz_zalloc_array(LZ_ZRECS, sizeof(*lz->commit.zrec));
	if (!lz->zone || !lz->open || !lz->zrec || !lz->commit.zrec)
		return -ENOMEM;
	for (i = 0; i < lz->g.nr_zones; i++) {
		spin_lock_init(&lz->zone[i].lock);
		INIT_LIST_HEAD(&lz->zone[i].list);
		lz->zone[i].head = LZ_NO_OFFSET;
	}
	lz->ring_size = roundup_pow_of_two(min_t(u32, LZ_RING, lz->g.zone_cap));
	for (i = 0; i < lz->data_slots; i++) {
		lz->open[i].zone = LZ_NONE;
		lz->open[i].ring = lz_zalloc_array(lz->ring_size, sizeof(u64));
		lz->open[i].buf = lz_alloc_blocks(LZ_SUM_BLOCKS);
		if (!lz->open[i].ring || !lz->open[i].buf)
			return -ENOMEM;
	}
	return 0;
}

void lz_zones_exit(struct lz *lz)
{
	u32 i;

	for (i = 0; lz->open && i < lz->data_slots; i++) {
		lz_free(lz->open[i].ring);
		lz_free_blocks(lz->open[i].buf);
	}
	lz_free(lz->open);
	lz_free(lz->zone);
	lz_free(lz->zrec);
	lz_free(lz->commit.zrec);
}
