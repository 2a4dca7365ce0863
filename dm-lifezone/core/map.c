// SPDX-License-Identifier: GPL-2.0-only
/*
 * The map above the tree: updates since the last checkpoint, and look-ups.
 *
 * A look-up asks the active delta, the frozen delta (which a checkpoint is
 * merging into the tree), then the leaf. Each delta is a hash of single blocks
 * and a short sorted list of discarded extents; an entry is newer than an
 * extent of the same delta that covers it, for a discard turns the entries it
 * finds into "nowhere".
 *
 * Both deltas are allocated before the device is used. A writer reserves entries before it sends
 * its data, so that a completion never has to wait. Entries not yet in the
 * journal hang in a list of their shard; an entry overwritten before a commit
 * takes it is journalled once, with its newest address.
 *
 * Valid counts: an overwritten block is counted off at once where its old
 * address is in RAM. Where it is not, the entry stays unsettled and the
 * checkpoint that merges it counts the old block off. So a zone's count is
 * never below the truth.
 */
#include "lz.h"

static u32 hash_run(u64 lba)
{
	return ((lba >> LZ_SHARD_RUN_SHIFT) * 0x9e3779b97f4a7c15ull) >> 32;
}

static struct lz_shard *shard_of(struct lz *lz, u64 lba)
{
	return &lz->shard[hash_run(lba) >> (32 - LZ_SHARD_SHIFT)];
}

static u32 *bucket_of(struct lz *lz, struct lz_delta *d, u64 lba)
{
	u32 h = hash_run(lba);
	u32 base = (h >> (32 - LZ_SHARD_SHIFT)) * lz->shard_buckets;

	return &d->bucket[base + ((h * LZ_SHARD_RUN + (lba & (LZ_SHARD_RUN - 1))) &
				  (lz->shard_buckets - 1))];
}

static struct lz_dent *delta_find(struct lz *lz, struct lz_delta *d, u64 lba)
{
	u32 i = *bucket_of(lz, d, lba);

	while (i != LZ_NONE) {
		if ((d->e[i].key & LZ_ADDR_MASK) == lba)
			return &d->e[i];
		i = d->e[i].next;
	}
	return NULL;
}

/* lz_ext_search - the extent of @d that holds @lba, or the place where it would stand. */
u32 lz_ext_search(const struct lz_delta *d, u64 lba)
{
	u32 lo = 0, hi = d->nr_ext;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (d->ext[mid].lba + d->ext[mid].len <= lba)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * lz_ext_touches - does an extent of @d touch @leaf? @next is the first that may; it moves
 * on, as leaves are asked for in order.
 */
bool lz_ext_touches(const struct lz_delta *d, u32 *next, u64 leaf)
{
	u64 first = leaf * LZ_NODE_ENTRIES;

	while (*next < d->nr_ext && d->ext[*next].lba + d->ext[*next].len <= first)
		(*next)++;
	return *next < d->nr_ext && d->ext[*next].lba < first + LZ_NODE_ENTRIES;
}

/* Which blocks of the run from @first on extents of @d cover, a bit each. */
static u32 ext_covers(const struct lz_delta *d, u64 first)
{
	u64 end = first + LZ_SHARD_RUN;
	u32 i, mask = 0;

	for (i = lz_ext_search(d, first); i < d->nr_ext && d->ext[i].lba < end; i++) {
		u32 from = max(d->ext[i].lba, first) - first;
		u32 to = min(d->ext[i].lba + d->ext[i].len, end) - first;

		mask |= ~0u << from & ~0u >> (LZ_SHARD_RUN - to);
	}
	return mask;
}

/* Adds an extent, joined with those it touches. Room has been checked. */
static void ext_add(struct lz *lz, struct lz_delta *d, u64 lba, u64 len)
{
	u32 i = lz_ext_search(d, lba ? lba - 1 : 0), j = i;
	u64 end = lba + len;

	lockdep_assert_held(&lz->ext_lock);
	while (j < d->nr_ext && d->ext[j].lba <= end) {
		lba = min(lba, d->ext[j].lba);
		end = max(end, d->ext[j].lba + d->ext[j].len);
		j++;
	}
	if (j == i) {
		memmove(&d->ext[i + 1], &d->ext[i], (d->nr_ext - i) * sizeof(d->ext[0]));
		d->nr_ext++;
	} else {
		memmove(&d->ext[i + 1], &d->ext[j], (d->nr_ext - j) * sizeof(d->ext[0]));
		d->nr_ext -= j - i - 1;
	}
	d->ext[i].lba = lba;
	d->ext[i].len = end - lba;
	WRITE_ONCE(lz->nr_ext_any, lz->delta[0].nr_ext + lz->delta[1].nr_ext);
}

static_assert(LZ_SHARD_RUN == 32, "a bit for each block of a run");

/* A look at a run of blocks: which of them are discarded, and a leaf held still. */
struct peek {
	u32 active;		/* by the shard's active delta */
	u32 frozen;		/* by what that stands on */
	u64 idx;
	u64 first;
	struct lz_node *node;	/* NULL: nothing mapped, or not in RAM */
	bool miss;
	bool held;
};

/* The run has @lba in it, and its shard @s is locked. */
static void peek_begin(struct lz *lz, const struct lz_shard *s, struct peek *p, u64 lba)
{
	u64 first = lba & ~(u64)(LZ_SHARD_RUN - 1);

	*p = (struct peek){};
	if (likely(!READ_ONCE(lz->nr_ext_any)))
		return;
	spin_lock(&lz->ext_lock);
	p->active = ext_covers(s->active, first);
	if (s->frozen)
		p->frozen = ext_covers(s->frozen, first);
	spin_unlock(&lz->ext_lock);
}

static void peek_drop(struct lz *lz, struct peek *p)
{
	spinlock_t *lock = &lz->leaf_lock[p->idx % LZ_NR_LEAF_LOCKS];

	if (p->held) {
		__acquire(lock);	/* in peek_get(), which sparse cannot see */
		spin_unlock(lock);
	}
	p->held = false;
}

static u64 peek_get(struct lz *lz, struct peek *p, u64 lba)
{
	struct lz_cached *c;

	if (!p->held || lba - p->first >= LZ_NODE_ENTRIES) {
		peek_drop(lz, p);
		p->idx = div_u64(lba, LZ_NODE_ENTRIES);
		p->first = p->idx * LZ_NODE_ENTRIES;
		spin_lock(&lz->leaf_lock[p->idx % LZ_NR_LEAF_LOCKS]);
		p->held = true;
		__release(&lz->leaf_lock[p->idx % LZ_NR_LEAF_LOCKS]);
		c = lz->leaf[p->idx];
		p->node = NULL;
		if (c && c->state == LZ_LEAF_READY) {
			WRITE_ONCE(c->referenced, 1);
			p->node = c->node;
			p->miss = false;
		} else {
			p->miss = lz->map.addr[0][p->idx] != LZ_NOWHERE;
		}
	}
	if (p->node)
		return le64_to_cpu(p->node->e[lba - p->first]);
	return p->miss ? LZ_MISS : LZ_NOWHERE;
}

/* What the active delta of the shard stands on. */
static u64 get_below(struct lz *lz, struct lz_shard *s, struct peek *p, u64 lba)
{
	if (unlikely(s->frozen)) {
		struct lz_dent *e = delta_find(lz, s->frozen, lba);

		if (e)
			return e->addr;
		if (p->frozen >> (lba & (LZ_SHARD_RUN - 1)) & 1 &&
		    !lz_planted(LZ_PLANT_FROZEN_DISCARD_UNSEEN))
			return LZ_NOWHERE;
	}
	return peek_get(lz, p, lba);
}

static u64 get_locked(struct lz *lz, struct lz_shard *s, struct peek *p, u64 lba)
{
	struct lz_dent *e = delta_find(lz, s->active, lba);

	lockdep_assert_held(&s->lock);
	if (e)
		return e->addr;
	if (p->active >> (lba & (LZ_SHARD_RUN - 1)) & 1)
		return LZ_NOWHERE;
	return get_below(lz, s, p, lba);
}

/* lz_map_get - address of @lba, LZ_NOWHERE or LZ_MISS. */
u64 lz_map_get(struct lz *lz, u64 lba)
{
	struct lz_shard *s = shard_of(lz, lba);
	unsigned long flags;
	struct peek p;
	u64 addr;

	spin_lock_irqsave(&s->lock, flags);
	peek_begin(lz, s, &p, lba);
	addr = get_locked(lz, s, &p, lba);
	peek_drop(lz, &p);
	spin_unlock_irqrestore(&s->lock, flags);
	return addr;
}

/*
 * lz_map_run - how many blocks from @lba on (at most @want) lie side by side,
 * or nowhere, or are missing; @addr is set to the first's address.
 */
u32 lz_map_run(struct lz *lz, u64 lba, u32 want, u64 *addr)
{
	u32 n = 0;

	while (n < want) {
		struct lz_shard *s = shard_of(lz, lba + n);
		u64 end = min_t(u64, ((lba + n) | (LZ_SHARD_RUN - 1)) + 1, lba + want);
		unsigned long flags;
		bool more = true;
		struct peek p;

		spin_lock_irqsave(&s->lock, flags);
		peek_begin(lz, s, &p, lba + n);
		for (; lba + n < end; n++) {
			u64 a = get_locked(lz, s, &p, lba + n);

			if (!n)
				*addr = a;
			more = a == (*addr < LZ_NOWHERE ? *addr + n : *addr);
			if (!more)
				break;
		}
		peek_drop(lz, &p);
		spin_unlock_irqrestore(&s->lock, flags);
		if (!more)
			break;
	}
	return n;
}

/* lz_valid_sub - the block at @addr is in use no more. */
void lz_valid_sub(struct lz *lz, u64 addr, bool gc)
{
	struct lz_zone *z = &lz->zone[lz_addr_zone(lz, addr)];
	int left = atomic_sub_return(lz_planted(LZ_PLANT_VALID_COUNT_LOW) ? 2 : 1, &z->valid);

	if (!gc)
		WRITE_ONCE(z->lost, atomic64_read(&lz->write_seq));
	if (left <= 0) {
		z->by_gc = gc;
		lz_zone_emptied(lz, z);
	}
}

static void unc_add(struct lz *lz, u32 n)
{
	int now = atomic_add_return(n, &lz->uncommitted);

	/* A commit may have collected, and counted off, some of them already. */
	if (now > 0 && now <= (int)n) {
		WRITE_ONCE(lz->unc_since, lz->ops->now(lz->ctx));
		lz->ops->kick_later(lz->ctx, READ_ONCE(lz->o.commit_ms));
	}
}

static void mark_unc(struct lz_shard *s, struct lz_delta *d, struct lz_dent *e, u32 *unc)
{
	if (e->key & LZ_DENT_UNC)
		return;
	e->key |= LZ_DENT_UNC;
	e->unc = s->unc;
	s->unc = e - d->e;
	(*unc)++;
}

/* New entry in the active delta; an entry has been reserved. */
static struct lz_dent *entry_add(struct lz *lz, struct lz_shard *s, u64 lba, u64 addr,
				 bool settled, u32 *unc)
{
	struct lz_delta *d = s->active;
	u32 i = atomic_inc_return(&d->used) - 1;
	u32 *b = bucket_of(lz, d, lba);
	struct lz_dent *e = &d->e[i];

	e->key = lba | (settled ? LZ_DENT_SETTLED : 0);
	e->addr = addr;
	e->next = *b;
	*b = i;
	mark_unc(s, d, e, unc);
	return e;
}

/*
 * lz_map_insert - @n blocks from @lba on now lie at @addr and after it, or
 * nowhere. Entries have been reserved. Returns how many were used up.
 */
u32 lz_map_insert(struct lz *lz, u64 lba, u64 addr, u32 n)
{
	u64 end = lba + n, step = addr == LZ_NOWHERE ? 0 : 1;
	u32 used = 0, unc = 0;

	while (lba < end) {
		struct lz_shard *s = shard_of(lz, lba);
		u64 stop = min_t(u64, (lba | (LZ_SHARD_RUN - 1)) + 1, end);
		unsigned long flags;
		struct peek p;

		spin_lock_irqsave(&s->lock, flags);
		peek_begin(lz, s, &p, lba);
		for (; lba < stop; lba++, addr += step) {
			struct lz_dent *e = delta_find(lz, s->active, lba);
			u64 old;

			if (e) {
				old = e->addr;
				e->addr = addr;
				if (!lz_planted(LZ_PLANT_OVERWRITE_NOT_JOURNALED))
					mark_unc(s, s->active, e, &unc);
			} else {
				old = get_below(lz, s, &p, lba);
				if (old == LZ_NOWHERE && !step)
					continue;
				entry_add(lz, s, lba, addr, old != LZ_MISS, &unc);
				used++;
			}
			if (old < LZ_NOWHERE)
				lz_valid_sub(lz, old, false);
		}
		peek_drop(lz, &p);
		spin_unlock_irqrestore(&s->lock, flags);
	}
	unc_add(lz, unc);
	return used;
}

/* Was the block written or discarded after GC found it at @old? */
static bool is_newer(const struct lz_dent *e, u64 now, u64 old)
{
	if ((lz_planted(LZ_PLANT_REMAP_WITHOUT_COMPARE) && e) ||
	    (lz_planted(LZ_PLANT_STALE_SUMMARY) && !e) ||
	    (lz_planted(LZ_PLANT_DISCARD_REVIVED) && now == LZ_NOWHERE))
		return false;
	return now != old;
}

/*
 * lz_map_remap - GC moved @lba from @old to @addr; true only while the map
 * still says @old. 0: it does not; 1: done; 2: done, and one reserved entry
 * used up; -EAGAIN: the leaf is not in RAM.
 */
int lz_map_remap(struct lz *lz, u64 lba, u64 old, u64 addr)
{
	struct lz_shard *s = shard_of(lz, lba);
	unsigned long flags;
	struct lz_dent *e;
	struct peek p;
	u32 unc = 0;
	u64 now;
	int ret;

	spin_lock_irqsave(&s->lock, flags);
	peek_begin(lz, s, &p, lba);
	now = get_locked(lz, s, &p, lba);
	e = delta_find(lz, s->active, lba);
	if (now == LZ_MISS) {
		ret = -EAGAIN;
	} else if (is_newer(e, now, old)) {
		ret = 0;
	} else {
		if (e) {
			e->addr = addr;
			mark_unc(s, s->active, e, &unc);
			ret = 1;
		} else {
			entry_add(lz, s, lba, addr, true, &unc);
			ret = 2;
		}
		if (now < LZ_NOWHERE)
			lz_valid_sub(lz, now, true);
	}
	peek_drop(lz, &p);
	spin_unlock_irqrestore(&s->lock, flags);
	unc_add(lz, unc);
	return ret;
}

/* Entries of the active delta within [lba, end) become "nowhere". */
static void discard_entry(struct lz *lz, struct lz_shard *s, struct lz_dent *e, u32 *unc)
{
	if (e->addr == LZ_NOWHERE)
		return;
	lz_valid_sub(lz, e->addr, false);
	e->addr = LZ_NOWHERE;
	mark_unc(s, s->active, e, unc);
}

#define LOOK_BUCKETS	256u	/* at a time: interrupts are off */

static u32 discard_shard(struct lz *lz, struct lz_shard *s, u64 lba, u64 end)
{
	u32 b = (s - lz->shard) * lz->shard_buckets, last = b + lz->shard_buckets, unc = 0;

	while (b < last) {
		u32 stop = min(b + LOOK_BUCKETS, last), i;
		unsigned long flags;

		spin_lock_irqsave(&s->lock, flags);
		for (; b < stop; b++) {
			for (i = s->active->bucket[b]; i != LZ_NONE; i = s->active->e[i].next) {
				u64 at = s->active->e[i].key & LZ_ADDR_MASK;

				if (at >= lba && at < end)
					discard_entry(lz, s, &s->active->e[i], &unc);
			}
		}
		spin_unlock_irqrestore(&s->lock, flags);
	}
	return unc;
}

static u32 discard_block(struct lz *lz, u64 lba)
{
	struct lz_shard *s = shard_of(lz, lba);
	unsigned long flags;
	struct lz_dent *e;
	u32 unc = 0;

	spin_lock_irqsave(&s->lock, flags);
	e = delta_find(lz, s->active, lba);
	if (e)
		discard_entry(lz, s, e, &unc);
	spin_unlock_irqrestore(&s->lock, flags);
	return unc;
}

static void discard_entries(struct lz *lz, u64 lba, u64 n)
{
	u32 unc = 0, i;
	u64 at;

	/* To look at a bucket, each shard's at one go, is less than to look for a block. */
	if (n < (u64)LZ_NR_SHARDS * lz->shard_buckets / 16) {
		for (at = lba; at < lba + n; at++)
			unc += discard_block(lz, at);
	} else {
		for (i = 0; i < LZ_NR_SHARDS; i++)
			unc += discard_shard(lz, &lz->shard[i], lba, lba + n);
	}
	unc_add(lz, unc);
}

static bool extent_queue(struct lz *lz, u64 lba, u64 n, bool journal)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&lz->ext_lock, flags);
	/* A journal may hold two intervals' discards: one frozen, one active. */
	ok = journal ? lz->active->nr_ext < LZ_EXTENTS && lz->nr_ext_pending < LZ_EXTENTS :
		lz->active->nr_ext < 2 * LZ_EXTENTS;
	if (ok) {
		ext_add(lz, lz->active, lba, n);
		if (journal && !lz_planted(LZ_PLANT_DISCARD_NOT_JOURNALED)) {
			lz->ext_pending[lz->nr_ext_pending].lba = lba;
			lz->ext_pending[lz->nr_ext_pending].len =
				n - lz_planted(LZ_PLANT_DISCARD_ONE_SHORT);
			WRITE_ONCE(lz->nr_ext_pending, lz->nr_ext_pending + 1);
		}
	}
	spin_unlock_irqrestore(&lz->ext_lock, flags);
	return ok;
}

static int discard_extent(struct lz *lz, u64 lba, u64 n)
{
	bool ok;

	/* The other half of the handshake is in lz_map_freeze(). */
	atomic_inc(&lz->discarding);
	/* Pairs with the one in lz_map_freeze(). */
	smp_mb__after_atomic();
	if (READ_ONCE(lz->freeze_wanted)) {
		ok = false;
	} else {
		ok = extent_queue(lz, lba, n, true);
		if (ok) {
			discard_entries(lz, lba, n);
			unc_add(lz, 1);
		}
	}
	if (atomic_dec_and_test(&lz->discarding) && READ_ONCE(lz->freeze_wanted))
		lz_kick(lz);
	return ok ? 0 : -EAGAIN;
}

static int discard_try(struct lz *lz, u64 lba, u64 n)
{
	int err = lz_may_write(lz);

	if (unlikely(err))
		return err;
	/* Each may take a block of the journal, as a write may. */
	if (unlikely(READ_ONCE(lz->tight)) && !READ_ONCE(lz->spent))
		return -EAGAIN;
	if (n >= LZ_EXTENT_MIN)
		return discard_extent(lz, lba, n);
	if (!lz_delta_reserve(lz, n, false))
		return -EAGAIN;
	lz_delta_return(lz, n - lz_map_insert(lz, lba, LZ_NOWHERE, n));
	return 0;
}

int lz_discard(struct lz *lz, u64 lba, u64 nblocks)
{
	int err = discard_try(lz, lba, nblocks);

	if (err == -EAGAIN) {
		/* Said first, then tried again, or a wake-up could be missed. */
		lz_starve(lz);
		err = discard_try(lz, lba, nblocks);
	}
	/* A log that is tight asks by itself, as often as that can help: see watch_room(). */
	if (err == -EAGAIN && !READ_ONCE(lz->tight))
		lz_ckpt_want(lz);
	if (err)
		return err;
	lz_infer_discarded(lz, lba, nblocks);
	lz_gc_look(lz);
	/* GC may have something to clean now: only if it has not, writers are told again. */
	if (unlikely(READ_ONCE(lz->spent))) {
		WRITE_ONCE(lz->spent, false);
		lz_kick(lz);
	}
	lz_count(lz, LZ_ST_DISCARDS, nblocks);
	return 0;
}

/* A discard read from the journal: not to be journalled again. False: one too many. */
bool lz_map_discard_replay(struct lz *lz, u64 lba, u64 n)
{
	if (!extent_queue(lz, lba, n, false))
		return false;
	discard_entries(lz, lba, n);
	return true;
}

/* lz_map_has_entry - does the active delta say something of @lba itself? */
bool lz_map_has_entry(struct lz *lz, u64 lba)
{
	return delta_find(lz, shard_of(lz, lba)->active, lba);
}

static_assert(LZ_EXTENT_MIN - 1 <= LZ_DELTA_MIN - LZ_DELTA_MIN / 8, "any short discard fits");

/*
 * lz_delta_reserve - room for @n entries. Users leave an eighth to GC, whose
 * copies free zones.
 */
bool lz_delta_reserve(struct lz *lz, u32 n, bool gc)
{
	int left = atomic_sub_return(n, &lz->delta_space);

	if (left >= (gc ? 0 : (int)(lz->delta_cap / 8))) {
		if (unlikely(left < (int)(lz->delta_cap / 2)) && !READ_ONCE(lz->ckpt.wanted))
			lz_ckpt_want(lz);
		return true;
	}
	atomic_add(n, &lz->delta_space);
	lz_ckpt_want(lz);
	return false;
}

void lz_delta_return(struct lz *lz, u32 n)
{
	if (n)
		atomic_add(n, &lz->delta_space);
}

/*
 * lz_map_take_extents - the discards not yet in the journal go to the commit
 * under way. Caller holds ext_lock.
 */
void lz_map_take_extents(struct lz *lz)
{
	lockdep_assert_held(&lz->ext_lock);
	memcpy(lz->commit.ext, lz->ext_pending, lz->nr_ext_pending * sizeof(*lz->ext_pending));
	lz->commit.nr_ext = lz->nr_ext_pending;
	lz->commit.next_ext = 0;
	WRITE_ONCE(lz->nr_ext_pending, 0);
}

/*
 * lz_map_freeze - what the active delta holds becomes the next checkpoint's.
 * Shard by shard: updates of different blocks have no order among them. False
 * while a discard is between its extent and its entries.
 */
bool lz_map_freeze(struct lz *lz)
{
	struct lz_delta *old = lz->active, *new;
	unsigned long flags;
	u32 i;

	new = old == &lz->delta[0] ? &lz->delta[1] : &lz->delta[0];
	WRITE_ONCE(lz->freeze_wanted, true);
	/* Pairs with the one in discard_extent(). */
	smp_mb();
	if (atomic_read(&lz->discarding))
		return false;
	for (i = 0; i < LZ_NR_SHARDS; i++) {
		struct lz_shard *s = &lz->shard[i];

		spin_lock_irqsave(&s->lock, flags);
		s->frozen = old;
		s->active = new;
		lz->commit.lists[i] = s->unc;
		s->unc = LZ_NONE;
		spin_unlock_irqrestore(&s->lock, flags);
	}
	spin_lock_irqsave(&lz->ext_lock, flags);
	lz->active = new;
	lz->frozen = old;
	lz_map_take_extents(lz);
	spin_unlock_irqrestore(&lz->ext_lock, flags);
	atomic_add(atomic_read(&old->used), &lz->delta_space);
	WRITE_ONCE(lz->freeze_wanted, false);
	return true;
}

/* lz_map_thaw - the frozen delta is in the durable tree: forget it. */
void lz_map_thaw(struct lz *lz)
{
	struct lz_delta *d = lz->frozen;
	unsigned long flags;
	u32 i;

	for (i = 0; i < LZ_NR_SHARDS; i++) {
		struct lz_shard *s = &lz->shard[i];

		spin_lock_irqsave(&s->lock, flags);
		s->frozen = NULL;
		memset(&d->bucket[i * lz->shard_buckets], 0xff,
		       lz->shard_buckets * sizeof(u32));
		spin_unlock_irqrestore(&s->lock, flags);
	}
	spin_lock_irqsave(&lz->ext_lock, flags);
	lz->frozen = NULL;
	d->nr_ext = 0;
	WRITE_ONCE(lz->nr_ext_any, lz->delta[0].nr_ext + lz->delta[1].nr_ext);
	spin_unlock_irqrestore(&lz->ext_lock, flags);
	atomic_set(&d->used, 0);
}

int lz_map_init(struct lz *lz)
{
	/* A journal may hold two intervals' updates: one frozen, one active. */
	u64 leaves = DIV_ROUND_UP_ULL(lz->si.logical_blocks, LZ_NODE_ENTRIES), want, more;
	u32 room, i;

	/*
	 * A checkpoint may write every leaf: it should be worth it. But where zones
	 * are small the journal between two has to fit in few of them.
	 */
	want = clamp_t(u64, leaves * 32, 8192, 1u << 20);
	more = clamp_t(u64, leaves * 64, 32768, 1u << 20);
	want = max_t(u64, want, min_t(u64, more, (u64)lz->g.zone_cap * LZ_FILL_RECORDS));
	/* And what lz_log_worst() asks for has to be there in steady state (LZ_LOG_EXTRA). */
	more = (u64)(lz->g.zone_cap - 1) * 3 / 2 - 8;
	want = min_t(u64, want, more * LZ_FILL_RECORDS);
	lz->delta_cap = max_t(u64, LZ_DELTA_MIN, min(want, lz->si.logical_blocks));
	room = 2 * lz->delta_cap;
	lz->shard_buckets = roundup_pow_of_two(max_t(u32, room / 2 / LZ_NR_SHARDS, 8));
	for (i = 0; i < 2; i++) {
		struct lz_delta *d = &lz->delta[i];

		d->e = lz_zalloc_array(room, sizeof(*d->e));
		d->bucket = lz_zalloc_array(LZ_NR_SHARDS * lz->shard_buckets, sizeof(u32));
		d->ext = lz_zalloc_array(2 * LZ_EXTENTS, sizeof(*d->ext));
		if (!d->e || !d->bucket || !d->ext)
			return -ENOMEM;
		memset(d->bucket, 0xff, LZ_NR_SHARDS * lz->shard_buckets * sizeof(u32));
		atomic_set(&d->used, 0);
	}
	lz->ext_pending = lz_zalloc_array(LZ_EXTENTS, sizeof(*lz->ext_pending));
	lz->commit.ext = lz_zalloc_array(LZ_EXTENTS, sizeof(*lz->commit.ext));
	if (!lz->ext_pending || !lz->commit.ext)
		return -ENOMEM;
	lz->active = &lz->delta[0];
	atomic_set(&lz->delta_space, lz->delta_cap);
	for (i = 0; i < LZ_NR_SHARDS; i++) {
		spin_lock_init(&lz->shard[i].lock);
		lz->shard[i].active = lz->active;
		lz->shard[i].unc = LZ_NONE;
		lz->commit.lists[i] = LZ_NONE;
	}
	return 0;
}

void lz_map_exit(struct lz *lz)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		lz_free(lz->delta[i].e);
		lz_free(lz->delta[i].bucket);
		lz_free(lz->delta[i].ext);
	}
	lz_free(lz->ext_pending);
	lz_free(lz->commit.ext);
}
