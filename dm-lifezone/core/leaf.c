// SPDX-License-Identifier: GPL-2.0-only
/*
 * Map leaves in RAM.
 *
 * Leaves are read, changed and dropped in the machine's context only. Look-ups
 * find one through lz->leaf[] under its lock. A leaf read is checked before it
 * is believed. Leaves are changed only by the checkpoint, which writes what it
 * changes before it lets go, so every leaf but a busy one can be dropped: the
 * one that was not looked at for longest goes (second chance).
 */
#include "lz.h"

static spinlock_t *lock_of(struct lz *lz, u64 idx)
{
	return &lz->leaf_lock[idx % LZ_NR_LEAF_LOCKS];
}

static void cached_free(struct lz_cached *c)
{
	lz_free_page(c->node);
	lz_free(c);
}

void lz_leaf_drop(struct lz *lz, struct lz_cached *c)
{
	unsigned long flags;

	spin_lock_irqsave(lock_of(lz, c->idx), flags);
	lz->leaf[c->idx] = NULL;
	spin_unlock_irqrestore(lock_of(lz, c->idx), flags);
	list_del_init(&c->lru);
	lz->nr_cached--;
	cached_free(c);
}

static void shrink(struct lz *lz)
{
	u32 tries = 2 * lz->nr_cached;

	while (lz->nr_cached >= lz->max_cached && tries--) {
		struct lz_cached *c = list_first_entry(&lz->lru, struct lz_cached, lru);

		if (c->referenced || c->busy || c->state == LZ_LEAF_LOADING) {
			c->referenced = 0;
			list_move_tail(&c->lru, &lz->lru);
		} else {
			lz_leaf_drop(lz, c);
		}
	}
}

static struct lz_cached *cached_add(struct lz *lz, u64 idx, u8 state)
{
	struct lz_cached *c;
	unsigned long flags;
	u32 i;

	if (lz->nr_cached >= lz->max_cached)
		shrink(lz);
	c = lz_zalloc_small(sizeof(*c));
	if (!c)
		return NULL;
	c->node = lz_alloc_page();
	if (!c->node) {
		lz_free(c);
		return NULL;
	}
	c->idx = idx;
	c->state = state;
	for (i = 0; state == LZ_LEAF_READY && i < LZ_NODE_ENTRIES; i++)
		c->node->e[i] = cpu_to_le64(LZ_NOWHERE);
	INIT_LIST_HEAD(&c->waiters);
	list_add_tail(&c->lru, &lz->lru);
	lz->nr_cached++;
	spin_lock_irqsave(lock_of(lz, idx), flags);
	lz->leaf[idx] = c;
	spin_unlock_irqrestore(lock_of(lz, idx), flags);
	return c;
}

/* lz_leaf_new - a leaf that maps nothing yet. NULL: no memory, try later. */
struct lz_cached *lz_leaf_new(struct lz *lz, u64 idx)
{
	return cached_add(lz, idx, LZ_LEAF_READY);
}

static void read_done(struct lz *lz, struct lz_cmd *cmd)
{
	struct lz_cached *c = cmd->priv;
	struct list_head waiters;
	struct lz_want want = {
		.uuid = lz->si.uuid, .type = LZ_BT_NODE, .addr = cmd->addr, .index = c->idx,
		.epoch_max = lz->epoch,
	};
	unsigned long flags;
	char why[160];
	int err = cmd->error;
	u32 i;

	if (err)
		lz_say(lz, 'e', "map leaf %llu at block %llu cannot be read: error %d",
		       (unsigned long long)c->idx, (unsigned long long)cmd->addr, err);
	else if (!lz_valid(c->node, &want, why, sizeof(why)) &&
		 !lz_planted(LZ_PLANT_LEAF_UNCHECKED)) {
		lz_say(lz, 'e', "map leaf %llu: %s", (unsigned long long)c->idx, why);
		err = -EIO;
	}
	for (i = 0; !err && i < LZ_NODE_ENTRIES; i++) {
		u64 a = le64_to_cpu(c->node->e[i]), lba = c->idx * LZ_NODE_ENTRIES + i;
		u32 zone = lz_addr_zone(lz, a);

		if (a == LZ_NOWHERE)
			continue;
		if (zone < 2 || zone >= lz->g.nr_zones || lz_addr_off(lz, a) >= lz->g.zone_cap) {
			lz_say(lz, 'e', "map leaf %llu: entry %u is %llu, where no data can be",
			       (unsigned long long)c->idx, i, (unsigned long long)a);
			err = -EIO;
		} else if (lba >= lz->si.logical_blocks) {
			/* Nobody would ever overwrite it, and GC could not move it. */
			lz_say(lz, 'e', "map leaf %llu: entry %u maps block %llu, past the device",
			       (unsigned long long)c->idx, i, (unsigned long long)lba);
			err = -EIO;
		}
	}
	INIT_LIST_HEAD(&waiters);
	spin_lock_irqsave(lock_of(lz, c->idx), flags);
	c->state = err ? LZ_LEAF_ERROR : LZ_LEAF_READY;
	spin_unlock_irqrestore(lock_of(lz, c->idx), flags);
	list_splice_tail_init(&c->waiters, &waiters);
	while (!list_empty(&waiters)) {
		struct lz_waiter *w = list_first_entry(&waiters, struct lz_waiter, list);

		list_del_init(&w->list);
		w->fn(w, err);
	}
}

/*
 * lz_leaf_get - the leaf, if it is in RAM; else NULL and it is being read (or
 * memory is short), or @err is set if it cannot be. Machine context.
 */
struct lz_cached *lz_leaf_get(struct lz *lz, u64 idx, int *err)
{
	struct lz_cached *c = lz->leaf[idx];

	*err = 0;
	if (!c) {
		c = cached_add(lz, idx, LZ_LEAF_LOADING);
		if (!c)
			return NULL;
		c->cmd = (struct lz_cmd){
			.op = LZ_OP_READ, .addr = lz->map.addr[0][idx], .nblocks = 1,
			.buf = c->node, .meta = true, .done = read_done, .priv = c,
		};
		lz_count(lz, LZ_ST_LEAF_READS, 1);
		lz_submit(lz, &c->cmd);
		return NULL;
	}
	c->referenced = 1;
	if (c->state == LZ_LEAF_ERROR)
		*err = -EIO;
	return c->state == LZ_LEAF_READY ? c : NULL;
}

void lz_leaf_wait(struct lz *lz, u64 leaf, struct lz_waiter *w)
{
	unsigned long flags;

	w->arg = leaf;
	spin_lock_irqsave(&lz->list_lock, flags);
	list_add_tail(&w->list, &lz->load_waiters);
	spin_unlock_irqrestore(&lz->list_lock, flags);
	lz_kick(lz);
}

/* lz_leaf_step - answer those who wait for leaves. */
void lz_leaf_step(struct lz *lz)
{
	struct list_head todo;
	unsigned long flags;

	INIT_LIST_HEAD(&todo);
	spin_lock_irqsave(&lz->list_lock, flags);
	list_splice_tail_init(&lz->load_waiters, &todo);
	spin_unlock_irqrestore(&lz->list_lock, flags);
	while (!list_empty(&todo)) {
		struct lz_waiter *w = list_first_entry(&todo, struct lz_waiter, list);
		struct lz_cached *c;
		int err;

		list_del_init(&w->list);
		if (lz->map.addr[0][w->arg] == LZ_NOWHERE) {
			w->fn(w, 0);
			continue;
		}
		c = lz_leaf_get(lz, w->arg, &err);
		if (c || err) {
			w->fn(w, err);
		} else if (lz->leaf[w->arg]) {
			list_add_tail(&w->list, &lz->leaf[w->arg]->waiters);
		} else {
			/* No memory now: some will come back as other reads end. */
			spin_lock_irqsave(&lz->list_lock, flags);
			list_add_tail(&w->list, &lz->load_waiters);
			spin_unlock_irqrestore(&lz->list_lock, flags);
			lz->ops->kick_later(lz->ctx, 10);
		}
	}
}

int lz_leaf_init(struct lz *lz)
{
	u64 n = lz->map.n[0];
	u64 room = (u64)lz->o.map_cache_mb << (20 - LZ_BLOCK_SHIFT);
	u32 i;

	lz->leaf = lz_zalloc_array(n, sizeof(*lz->leaf));
	if (!lz->leaf)
		return -ENOMEM;
	for (i = 0; i < LZ_NR_LEAF_LOCKS; i++)
		spin_lock_init(&lz->leaf_lock[i]);
	INIT_LIST_HEAD(&lz->lru);
	lz->max_cached = min_t(u64, 1u << 31, room ? max_t(u64, room, 2 * LZ_MERGE_WINDOW) : n + 1);
	return 0;
}

void lz_leaf_exit(struct lz *lz)
{
	struct lz_cached *c, *n;

	if (!lz->leaf)
		return;
	list_for_each_entry_safe(c, n, &lz->lru, lru)
		cached_free(c);
	lz_free(lz->leaf);
}
