// SPDX-License-Identifier: GPL-2.0-only
/*
 * Map leaves in RAM.
 *
 * Leaves are read, changed and dropped in the machine's context only. Look-ups
 * find one through lz->leaf[] under its lock. A leaf read is checked before it
 * is believed. Leaves are changed only by the checkpoint, which writes what it
 * changes before it lets go, so every leaf but a busy one can be dropped: the
 * one that was not looked at for longest goes (second chance).
 *
 * There is always memory for one more leaf: one is kept in reserve, and while that is
 * in use it is either busy or loading, which ends by itself, or can be dropped - but who
 * had one read is given some time to look at it, or those who want different leaves, more
 * than there is room for, could take them from each other for ever. So there may be more for
 * a moment: what came in that time.
 *
 * Others may want memory, too. Who asks for it, in whatever context, only says how many leaves are
 * to be looked at, and the machine does so in its next round: those that were used since it last
 * did stay, the others go. The cap is as it was, so they are read again when they are needed.
 */
#include "lz.h"

static spinlock_t *lock_of(struct lz *lz, u64 idx)
{
	return &lz->leaf_lock[idx % LZ_NR_LEAF_LOCKS];
}

static void cached_free(struct lz_cached *c)
{
	if (c)
		lz_free_node(c->node);
	lz_free(c);
}

static struct lz_cached *cached_alloc(void)
{
	struct lz_cached *c = lz_zalloc_small(sizeof(*c));

	if (!c)
		return NULL;
	c->node = lz_alloc_node();
	if (c->node)
		return c;
	lz_free(c);
	return NULL;
}

void lz_leaf_drop(struct lz *lz, struct lz_cached *c)
{
	unsigned long flags;

	spin_lock_irqsave(lock_of(lz, c->idx), flags);
	lz->leaf[c->idx] = NULL;
	spin_unlock_irqrestore(lock_of(lz, c->idx), flags);
	list_del_init(&c->lru);
	lz->nr_cached--;
	if (lz->leaf_spare)
		cached_free(c);
	else
		lz->leaf_spare = c;
}

/* What came after this is left to who had it read, until they have looked at it. */
static u64 hold_after(struct lz *lz)
{
	u64 now = lz->ops->now(lz->ctx);

	/* Nobody but the machine wants any. */
	if (lz->loading || READ_ONCE(lz->stopping))
		return now;
	return now - min_t(u64, now, LZ_LEAF_HOLD_MS * 1000000ull);
}

/*
 * Looks at the first leaf. It is dropped, unless somebody is at it or about to be, or has been
 * since the last look and it has a second @chance: then it is put behind all others.
 */
static bool look(struct lz *lz, u64 hold, bool chance)
{
	struct lz_cached *c = list_first_entry(&lz->lru, struct lz_cached, lru);
	bool used = READ_ONCE(c->referenced), wanted = used && chance;

	c->seen |= used;
	if (!wanted && !c->busy && c->state != LZ_LEAF_LOADING && (c->seen || c->came <= hold)) {
		lz_leaf_drop(lz, c);
		return true;
	}
	WRITE_ONCE(c->referenced, 0);
	list_move_tail(&c->lru, &lz->lru);
	return false;
}

#define DROP_TRIES	4096u	/* leaves looked at */

/*
 * Drops one. Others wait for the machine meanwhile, so where the first have all been looked
 * at, of the next the first goes.
 */
static bool drop_one(struct lz *lz)
{
	u32 tries = min(2 * lz->nr_cached, DROP_TRIES), second = tries / 2;
	u64 hold = hold_after(lz);

	while (tries--) {
		if (look(lz, hold, tries >= second))
			return true;
	}
	return false;
}

u32 lz_cache_count(struct lz *lz)
{
	u32 cached = READ_ONCE(lz->nr_cached), keep = LZ_LEAVES_LEAST + atomic_read(&lz->shrink);

	/* There is no machine that would drop any. */
	if (READ_ONCE(lz->stopping))
		return 0;
	return cached > keep ? cached - keep : 0;
}

void lz_cache_shrink(struct lz *lz, u32 n)
{
	atomic_add(n, &lz->shrink);
	lz_kick(lz);
}

#define SHRINK_LOOKS	256u	/* at a time: others wait for the machine */

/* Looks at as many leaves as others asked for, at each twice at most. */
static void shrink(struct lz *lz)
{
	u32 n = min_t(u32, atomic_xchg(&lz->shrink, 0), 2 * lz->nr_cached), i;
	u64 hold = hold_after(lz);

	for (i = 0; i < min(n, SHRINK_LOOKS); i++) {
		if (lz->nr_cached <= LZ_LEAVES_LEAST)
			return;
		look(lz, hold, true);
	}
	if (i < n) {
		atomic_add(n - i, &lz->shrink);
		lz->progress = true;
	}
}

static struct lz_cached *take_spare(struct lz *lz)
{
	struct lz_cached *c;
	struct lz_node *node;

	if (!lz->leaf_spare && !drop_one(lz)) {
		lz->mem_waits = true;
		lz->ops->kick_later(lz->ctx, LZ_LEAF_HOLD_MS);
		return NULL;
	}
	c = lz->leaf_spare;
	lz->leaf_spare = NULL;
	node = c->node;
	memset(c, 0, sizeof(*c));
	c->node = node;
	return c;
}

static struct lz_cached *cached_take(struct lz *lz)
{
	struct lz_cached *c;

	while (lz->nr_cached >= lz->max_cached && drop_one(lz))
		;
	c = cached_alloc();
	return c ? c : take_spare(lz);
}

static struct lz_cached *cached_add(struct lz *lz, u64 idx, u8 state)
{
	struct lz_cached *c;
	unsigned long flags;
	u32 i;

	c = cached_take(lz);
	if (!c)
		return NULL;
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

/* Can what was read be believed? If not, one line in @why. */
static int judge(struct lz *lz, const struct lz_cached *c, char *why, size_t n)
{
	struct lz_want want = {
		.uuid = lz->si.uuid, .type = LZ_BT_NODE, .addr = c->cmd.addr, .index = c->idx,
		.epoch_max = lz->epoch,
	};
	u32 i;

	if (c->cmd.error) {
		snprintf(why, n, "block %llu cannot be read: error %d",
			 (unsigned long long)c->cmd.addr, c->cmd.error);
		return c->cmd.error;
	}
	if (!lz_valid(c->node, &want, why, n) && !lz_planted(LZ_PLANT_LEAF_UNCHECKED))
		return -EIO;
	for (i = 0; i < LZ_NODE_ENTRIES; i++) {
		u64 a = le64_to_cpu(c->node->e[i]), lba = c->idx * LZ_NODE_ENTRIES + i;
		u32 zone = lz_addr_zone(lz, a);

		if (a == LZ_NOWHERE)
			continue;
		if (zone < 2 || zone >= lz->g.nr_zones || lz_addr_off(lz, a) >= lz->g.zone_cap) {
			snprintf(why, n, "entry %u is %llu, where no data can be", i,
				 (unsigned long long)a);
			return -EIO;
		}
		/* Nobody would ever overwrite it, and GC could not move it. */
		if (lba >= lz->si.logical_blocks) {
			snprintf(why, n, "entry %u maps block %llu, past the device", i,
				 (unsigned long long)lba);
			return -EIO;
		}
	}
	return 0;
}

static void read_done(struct lz *lz, struct lz_cmd *cmd)
{
	struct lz_cached *c = cmd->priv;
	struct list_head waiters;
	unsigned long flags;
	char why[160];
	int err;

	err = judge(lz, c, why, sizeof(why));
	/* There is no other copy, so it had better be more than a hiccup. */
	if (err && ++c->tries < LZ_READ_TRIES) {
		lz_submit(lz, cmd);
		return;
	}
	if (err)
		lz_say(lz, 'e', "map leaf %llu: %s", (unsigned long long)c->idx, why);
	INIT_LIST_HEAD(&waiters);
	c->came = lz->ops->now(lz->ctx);
	spin_lock_irqsave(lock_of(lz, c->idx), flags);
	c->state = err ? LZ_LEAF_ERROR : LZ_LEAF_READY;
	spin_unlock_irqrestore(lock_of(lz, c->idx), flags);
	list_splice_tail_init(&c->waiters, &waiters);
	lz_answer(&waiters, err);
}

static void leaf_read(struct lz *lz, struct lz_cached *c)
{
	c->cmd = (struct lz_cmd){
		.op = LZ_OP_READ, .addr = lz->map.addr[0][c->idx], .nblocks = 1,
		.buf = c->node, .meta = true, .done = read_done, .priv = c,
	};
	lz_count(lz, LZ_ST_LEAF_READS, 1);
	lz_submit(lz, &c->cmd);
}

/* lz_leaf_again - read one that could not be read, as the drive may be well again. Machine. */
void lz_leaf_again(struct lz *lz, struct lz_cached *c)
{
	unsigned long flags;

	spin_lock_irqsave(lock_of(lz, c->idx), flags);
	c->state = LZ_LEAF_LOADING;
	spin_unlock_irqrestore(lock_of(lz, c->idx), flags);
	c->tries = 0;
	leaf_read(lz, c);
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
		if (c)
			leaf_read(lz, c);
		return NULL;
	}
	if (c->state == LZ_LEAF_ERROR &&
	    lz->ops->now(lz->ctx) - c->came >= LZ_LEAF_AGAIN_MS * 1000000ull)
		lz_leaf_again(lz, c);
	if (c->state == LZ_LEAF_LOADING)
		return NULL;
	WRITE_ONCE(c->referenced, 1);
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

/* lz_leaf_step - drop leaves where memory is wanted, answer those who wait for leaves. */
void lz_leaf_step(struct lz *lz)
{
	struct list_head todo;
	unsigned long flags;

	if (atomic_read(&lz->shrink))
		shrink(lz);
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
			/* No memory now: we are going to be kicked. */
			spin_lock_irqsave(&lz->list_lock, flags);
			list_add_tail(&w->list, &lz->load_waiters);
			spin_unlock_irqrestore(&lz->list_lock, flags);
		}
	}
}

int lz_leaf_init(struct lz *lz)
{
	u64 n = lz->map.n[0];
	u64 room = (u64)lz->o.map_cache_mb << (20 - LZ_BLOCK_SHIFT);
	u32 i;

	lz->leaf = lz_zalloc_array(n, sizeof(*lz->leaf));
	lz->leaf_spare = cached_alloc();
	if (!lz->leaf || !lz->leaf_spare)
		return -ENOMEM;
	for (i = 0; i < LZ_NR_LEAF_LOCKS; i++)
		spin_lock_init(&lz->leaf_lock[i]);
	/* All of it, if that does not take more than a quarter of the memory there is. */
	if (!room && n + 1 > lz_ram_blocks() / 4)
		room = lz_ram_blocks() / 4;
	lz->max_cached = min_t(u64, 1u << 31, room ? max_t(u64, room, LZ_LEAVES_LEAST) : n + 1);
	return 0;
}

void lz_leaf_exit(struct lz *lz)
{
	struct lz_cached *c, *n;

	list_for_each_entry_safe(c, n, &lz->lru, lru)
		cached_free(c);
	cached_free(lz->leaf_spare);
	lz_free(lz->leaf);
}
