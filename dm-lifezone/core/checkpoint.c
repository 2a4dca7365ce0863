// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checkpoints: the map tree and the zone table brought up to date on the drive,
 * so that the journal before them is needed no more.
 *
 * A commit cuts the delta. The frozen half is merged leaf by leaf, leaves
 * absent are read first, a window of them at a time; what changed is written to
 * new places, then the inner nodes, the zone table, and last, with preflush and
 * FUA, the root. Until the root is durable the old tree and the journal since
 * the old root are whole, so a cut at any point costs nothing. After it, the
 * frozen delta, the superseded nodes and the older journal go.
 *
 * Merging also settles valid counts: each replaced address is counted off its
 * zone, both in the count that goes to the zone table (tree_valid, exact for
 * the tree it is written with) and, where no look-up could do so before, in the
 * count the data path keeps.
 *
 * Metadata zones are cleaned on the way: while the log is short of room, the
 * zones with the fewest live nodes become victims, and the checkpoint writes
 * their nodes as if they had changed. As everything may be written again by one
 * checkpoint, and the log always keeps room for that, cleaning cannot fail.
 *
 * The open zones' summaries are written before the zone table, so that what a
 * checkpoint covers is named by summaries and the rest by the journal.
 */
#include "lz.h"

void lz_ckpt_want(struct lz *lz)
{
	if (!READ_ONCE(lz->ckpt.wanted)) {
		WRITE_ONCE(lz->ckpt.wanted, true);
		lz_kick(lz);
	}
}

void lz_request_checkpoint(struct lz *lz, struct lz_waiter *w)
{
	unsigned long flags;

	spin_lock_irqsave(&lz->list_lock, flags);
	list_add_tail(&w->list, &lz->ckpt.waiters_new);
	spin_unlock_irqrestore(&lz->list_lock, flags);
	WRITE_ONCE(lz->ckpt.wanted, true);
	lz_kick(lz);
}

static void mark_victims(struct lz *lz, struct lz_tree *t, u32 first_level)
{
	u32 l;
	u64 i;

	for (l = first_level; l < t->levels; l++) {
		for (i = 0; i < t->n[l]; i++) {
			u64 a = t->addr[l][i];

			if (a != LZ_NOWHERE && lz->ckpt.victim[lz_addr_zone(lz, a)])
				t->dirty[l][i] = 1;
		}
	}
}

#define LOG_OF_FEW	10u	/* zones */

/* Nodes this checkpoint writes, no more, if frozen entries are in @leaves of them. */
static u64 nodes_due(const struct lz *lz, u64 leaves)
{
	u64 n = lz_tree_above(&lz->ztab, 0);
	u32 l;

	/* An extent goes through two at most, and cuts what lies between off from its parents. */
	n += min(leaves + 2 * lz->frozen->nr_ext, lz->map.n[0]);
	for (l = 1; l < lz->map.levels; l++)
		n += lz->frozen->nr_ext ? lz->map.n[l] : min(leaves, lz->map.n[l]);
	return n;
}

/* Picks the metadata zones this checkpoint empties; beside them it writes @use nodes. */
static void choose_victims(struct lz *lz, u64 use)
{
	/* Journal and nodes may each be about to begin a zone; a log of few has no more to give. */
	u32 zones = lz->si.meta_zones > LOG_OF_FEW ? 3 : 2, i;
	u64 goal = lz_log_worst(lz) + (u64)zones * lz->g.zone_cap, room = lz_log_free(lz);
	struct lz_ckpt *k = &lz->ckpt;

	k->have_victims = false;
	memset(k->victim, 0, lz->g.nr_zones);
	room = room > use ? room - use : 0;
	for (i = 0; i < lz->g.nr_zones; i++) {
		struct lz_zone *z = &lz->zone[i];

		if (z->state == LZ_ZS_META && !z->live && i != lz->js->zone && i != lz->ns->zone)
			room += lz->g.zone_cap;
	}
	while (room < goal) {
		u32 best = LZ_NONE;

		for (i = 0; i < lz->g.nr_zones; i++) {
			struct lz_zone *z = &lz->zone[i];

			if (z->state != LZ_ZS_META || !z->live || k->victim[i] ||
			    i == lz->js->zone || i == lz->ns->zone)
				continue;
			if (best == LZ_NONE || z->live < lz->zone[best].live)
				best = i;
		}
		if (best == LZ_NONE)
			break;
		k->victim[best] = 1;
		k->have_victims = true;
		room += lz->g.zone_cap;
		room = room > lz->zone[best].live ? room - lz->zone[best].live : 0;
	}
	if (k->have_victims) {
		mark_victims(lz, &lz->map, 1);
		mark_victims(lz, &lz->ztab, 0);
	}
}

/*
 * lz_ckpt_chain - sort the entries of @d by leaf, in chains that begin in ckpt.head and go
 * on by the entries' unc links. Returns how many leaves they are in.
 */
u64 lz_ckpt_chain(struct lz *lz, struct lz_delta *d)
{
	u32 n = atomic_read(&d->used), *head = lz->ckpt.head, i;
	u64 leaves = 0;

	for (i = 0; i < n; i++) {
		u64 leaf = div_u64(d->e[i].key & LZ_ADDR_MASK, LZ_NODE_ENTRIES);

		leaves += head[leaf] == LZ_NONE;
		d->e[i].unc = head[leaf];
		head[leaf] = i;
	}
	return leaves;
}

static void merge_begin(struct lz *lz)
{
	u64 leaves = lz_ckpt_chain(lz, lz->frozen);
	struct lz_ckpt *k = &lz->ckpt;
	u32 i;

	for (i = 0; i < lz->data_slots; i++) {
		struct lz_open *o = &lz->open[i];
		unsigned long flags;
		struct lz_zone *z;

		/* Pairs with the release in lz_open_slot(). */
		if (smp_load_acquire(&o->zone) == LZ_NONE)
			continue;
		z = &lz->zone[o->zone];
		spin_lock_irqsave(&z->lock, flags);
		o->force = o->put;
		spin_unlock_irqrestore(&z->lock, flags);
	}
	choose_victims(lz, nodes_due(lz, leaves));
	k->write_seq = atomic64_read(&lz->write_seq);
	k->next_leaf = 0;
	k->next_ext = 0;
	k->begun = true;
}

static void tree_count(struct lz *lz, u64 addr, s32 n)
{
	struct lz_zone *z = &lz->zone[lz_addr_zone(lz, addr)];

	/* Then the table was wrong, and what follows from it must not be written. */
	if (n < 0 && !z->tree_valid) {
		lz_set_mode(lz, LZ_MODE_FAIL, "the map has blocks in a zone said to hold none",
			    -EUCLEAN);
		return;
	}
	z->tree_valid += n;
	lz_zone_touch(lz, z);
}

static void merge_slot(struct lz *lz, struct lz_cached *c, u32 j, u64 new, bool settled)
{
	u64 old = le64_to_cpu(c->node->e[j]);

	if (lz_planted(LZ_PLANT_TOMBSTONE_DROPPED) && new == LZ_NOWHERE)
		return;
	if (old != LZ_NOWHERE) {
		tree_count(lz, old, -1);
		if (!settled)
			lz_valid_sub(lz, old, false);
	}
	if (new != LZ_NOWHERE)
		tree_count(lz, new, 1);
	c->node->e[j] = cpu_to_le64(new);
}

/* Brings one leaf up to date. Returns how many blocks it maps then. */
static u32 merge_leaf(struct lz *lz, struct lz_cached *c)
{
	spinlock_t *lock = &lz->leaf_lock[c->idx % LZ_NR_LEAF_LOCKS];
	u64 first = c->idx * LZ_NODE_ENTRIES, end = first + LZ_NODE_ENTRIES;
	u64 touched[DIV_ROUND_UP(LZ_NODE_ENTRIES, 64)] = {};
	struct lz_delta *d = lz->frozen;
	u32 i, j, mapped = 0;
	unsigned long flags;

	spin_lock_irqsave(lock, flags);
	for (i = lz->ckpt.head[c->idx]; i != LZ_NONE; i = d->e[i].unc) {
		j = (d->e[i].key & LZ_ADDR_MASK) - first;
		merge_slot(lz, c, j, d->e[i].addr, d->e[i].key & LZ_DENT_SETTLED);
		touched[j / 64] |= 1ull << (j % 64);
	}
	/* Extents that replay brought back have been settled by it. */
	for (i = lz_ext_search(d, first); i < d->nr_ext && d->ext[i].lba < end; i++) {
		struct lz_extent *x = &d->ext[i];
		u64 from = max(x->lba, first), to = min(x->lba + x->len, end);

		for (; from < to; from++) {
			j = from - first;
			if (!(touched[j / 64] >> (j % 64) & 1))
				merge_slot(lz, c, j, LZ_NOWHERE, lz->loading);
		}
	}
	for (j = 0; j < LZ_NODE_ENTRIES; j++)
		mapped += le64_to_cpu(c->node->e[j]) != LZ_NOWHERE;
	lz->ckpt.head[c->idx] = LZ_NONE;
	spin_unlock_irqrestore(lock, flags);
	return mapped;
}

static void cut_leaf(struct lz *lz, struct lz_cached *c)
{
	spinlock_t *lock = &lz->leaf_lock[c->idx % LZ_NR_LEAF_LOCKS];
	unsigned long flags;

	lz_node_dead(lz, lz->map.addr[0][c->idx]);
	spin_lock_irqsave(lock, flags);
	lz_tree_set(&lz->map, 0, c->idx, LZ_NOWHERE);
	spin_unlock_irqrestore(lock, flags);
	lz_leaf_drop(lz, c);
}

/* Nothing can be written without this leaf, so the error has to be a new one. */
static void leaf_unread(struct lz *lz, struct lz_merge_slot *s)
{
	if (s->again) {
		lz_set_mode(lz, LZ_MODE_FAIL, "a map leaf cannot be read", -EIO);
		return;
	}
	s->again = true;
	lz_leaf_again(lz, lz->leaf[s->leaf]);
}

/* One leaf of the window. True when it is done with. */
static bool merge_one(struct lz *lz, struct lz_merge_slot *s)
{
	struct lz_node_ref *r;
	u64 leaf = s->leaf;
	struct lz_cached *c;
	void *block;
	u32 mapped;
	int err;

	if (lz->map.addr[0][leaf] == LZ_NOWHERE && !lz->leaf[leaf])
		c = lz_leaf_new(lz, leaf);
	else
		c = lz_leaf_get(lz, leaf, &err);
	/* Not to be dropped between its read and our next look. */
	if (lz->leaf[leaf])
		lz->leaf[leaf]->busy = true;
	if (!c) {
		if (!lz->leaf[leaf])
			lz_nodes_flush(lz);	/* no memory until others are written */
		else if (lz->leaf[leaf]->state == LZ_LEAF_ERROR)
			leaf_unread(lz, s);
		return false;
	}
	r = lz_node_put(lz, &block);
	if (!r)
		return false;
	r->tree = &lz->map;
	r->idx = leaf;
	r->c = c;
	mapped = merge_leaf(lz, c);
	memcpy(block, c->node, LZ_BLOCK_SIZE);
	((struct lz_hdr *)block)->count = cpu_to_le32(mapped);
	if (!mapped) {
		lz_node_unput(lz, r);
		cut_leaf(lz, c);
	}
	return true;
}

#define LOOK_LEAVES	4096u	/* at a time: others wait for the machine */

static bool merge_next(struct lz *lz, u64 *leaf)
{
	struct lz_ckpt *k = &lz->ckpt;
	u64 end = min(k->next_leaf + LOOK_LEAVES, lz->map.n[0]);

	for (; k->next_leaf < end; k->next_leaf++) {
		u64 a = lz->map.addr[0][k->next_leaf];

		if (k->head[k->next_leaf] == LZ_NONE) {
			/* One in RAM that lies nowhere was rebuilt, and never written. */
			if (a == LZ_NOWHERE && lz->leaf[k->next_leaf]) {
				*leaf = k->next_leaf++;
				return true;
			}
			if (a == LZ_NOWHERE)
				continue;
			if (!lz_ext_touches(lz->frozen, &k->next_ext, k->next_leaf) &&
			    !(k->have_victims && k->victim[lz_addr_zone(lz, a)]))
				continue;
		}
		*leaf = k->next_leaf++;
		return true;
	}
	return false;
}

/* True when all leaves have been merged and sent. */
static bool merge_step(struct lz *lz)
{
	struct lz_ckpt *k = &lz->ckpt;
	u64 from = k->next_leaf;
	bool pending = false;
	u32 i;

	for (i = 0; i < LZ_MERGE_WINDOW; i++) {
		struct lz_merge_slot *s = &k->slot[i];

		if (!s->used && merge_next(lz, &s->leaf)) {
			s->used = true;
			s->again = false;
		}
		if (s->used && merge_one(lz, s)) {
			s->used = false;
			lz->progress = true;
		}
		pending |= s->used;
	}
	lz->progress |= k->next_leaf != from;
	if (pending || k->next_leaf < lz->map.n[0])
		return false;
	lz_nodes_flush(lz);
	return lz_nodes_addressed(lz);
}

/* Users open zones and write to them meanwhile: each entry is as at one moment. */
static void encode_zones(struct lz *lz, struct lz_znode *n, u64 idx)
{
	u32 first = idx * LZ_ZNODE_ENTRIES, i, count;
	unsigned long flags;

	memset(n, 0, sizeof(*n));
	count = min_t(u32, LZ_ZNODE_ENTRIES, lz->g.nr_zones - first);
	for (i = 0; i < count; i++) {
		struct lz_zone *z = &lz->zone[first + i];
		struct lz_zent *e = &n->e[i];
		bool scan;

		spin_lock_irqsave(&lz->place_lock, flags);
		spin_lock(&z->lock);
		e->gen = cpu_to_le32(z->gen);
		e->state = z->state;
		e->class = READ_ONCE(z->class);
		/* Of what the tree maps there some no summary names yet. */
		scan = z->open && z->open->safe < z->open->force;
		e->flags = cpu_to_le16(z->flags | (scan ? LZ_ZF_SCAN : 0));
		e->valid = cpu_to_le32(z->tree_valid);
		e->wp = cpu_to_le32(z->resv);
		e->head = cpu_to_le32(z->head);
		e->sum_seq = cpu_to_le32(z->sum_seq);
		e->seq = cpu_to_le64(z->seq);
		spin_unlock(&z->lock);
		spin_unlock_irqrestore(&lz->place_lock, flags);
	}
	n->h.count = cpu_to_le32(count);
}

static void encode_inner(struct lz_tree *t, u32 level, u64 idx, struct lz_node *n)
{
	u64 first = idx * LZ_NODE_ENTRIES, i;
	u32 count = 0;

	for (i = 0; i < LZ_NODE_ENTRIES; i++) {
		u64 a = first + i < t->n[level - 1] ? t->addr[level - 1][first + i] : LZ_NOWHERE;

		n->e[i] = cpu_to_le64(a);
		count += a != LZ_NOWHERE;
	}
	n->h.count = cpu_to_le32(count);
}

/* Writes the dirty nodes of @t from k->level up; children before parents. */
static bool tree_step(struct lz *lz, struct lz_tree *t)
{
	struct lz_ckpt *k = &lz->ckpt;

	for (; k->level < t->levels; k->level++, k->node = 0) {
		for (; k->node < t->n[k->level]; k->node++) {
			struct lz_node_ref *r;
			void *block;

			if (!t->dirty[k->level][k->node])
				continue;
			r = lz_node_put(lz, &block);
			if (!r)
				return false;
			r->tree = t;
			r->level = k->level;
			r->idx = k->node;
			WRITE_ONCE(t->dirty[k->level][k->node], 0);
			if (t->type == LZ_BT_ZNODE && !k->level)
				encode_zones(lz, block, k->node);
			else
				encode_inner(t, k->level, k->node, block);
		}
		lz_nodes_flush(lz);
		if (!lz_nodes_addressed(lz))
			return false;
	}
	return true;
}

/* What is written of a zone that this does not wait for says that some are not. */
static bool summaries_written(struct lz *lz)
{
	u32 i;

	for (i = 0; i < lz->data_slots; i++) {
		struct lz_open *o = &lz->open[i];
		struct lz_zone *z;

		/* Pairs with the release in lz_open_slot(), too. */
		if (smp_load_acquire(&o->zone) == LZ_NONE || o->safe >= o->force)
			continue;
		z = &lz->zone[o->zone];
		if (!READ_ONCE(z->failed) && !z->draining && !o->slow)
			return false;
	}
	return true;
}

static void encode_root(struct lz *lz, struct lz_root *r, u64 addr)
{
	struct lz_ckpt *k = &lz->ckpt;
	struct lz_want w = {
		.uuid = lz->si.uuid, .type = LZ_BT_ROOT, .addr = addr,
		.epoch = lz->epoch, .seq = k->number + 1,
	};
	u64 mapped = 0, i;

	memset(r, 0, sizeof(*r));
	r->journal_addr = cpu_to_le64(k->journal_addr);
	r->journal_seq = cpu_to_le64(k->journal_seq);
	r->commit = cpu_to_le64(k->commit);
	r->write_seq = cpu_to_le64(k->write_seq);
	r->node_zone = cpu_to_le32(lz->ns->zone);
	r->flags = cpu_to_le32(k->clean ? LZ_ROOT_CLEAN : 0);
	for (i = 0; i < lz->g.nr_zones; i++)
		mapped += lz->zone[i].tree_valid;
	r->mapped = cpu_to_le64(mapped);
	for (i = 0; i < LZ_ROOT_MAP_TOP; i++) {
		u32 top = lz->map.levels - 1;

		r->map_top[i] = cpu_to_le64(i < lz->map.n[top] ? lz->map.addr[top][i] : LZ_NOWHERE);
	}
	for (i = 0; i < LZ_ROOT_ZTAB_TOP; i++) {
		u32 top = lz->ztab.levels - 1;

		r->ztab_top[i] = cpu_to_le64(i < lz->ztab.n[top] ?
					     lz->ztab.addr[top][i] : LZ_NOWHERE);
	}
	for (i = 0; i < LZ_NR_STATS; i++)
		r->stats[i] = cpu_to_le64(lz_count_read(&lz->stat[i]));
	lz_seal(r, &w, 0);
}

static void ckpt_end(struct lz *lz, int err)
{
	struct lz_ckpt *k = &lz->ckpt;

	k->state = LZ_CK_IDLE;
	k->begun = false;
	k->clean = false;
	lz->root_rolling = false;
	if (!err) {
		k->number++;
		if (k->restart) {
			k->restart = false;
			lz->journal_lost = false;
			lz->committed = k->commit;
			lz_reset_committed(lz);
		}
		lz_map_thaw(lz);
		lz_meta_release(lz);
		k->have_victims = false;
		lz_gc_look(lz);
		lz_count(lz, LZ_ST_CHECKPOINTS, 1);
		lz_trace(lz, LZ_TR_CHECKPOINT, LZ_NONE, 0, 1, 0, k->number, k->nodes);
	}
	lz_answer(&k->waiters, err);
	lz->progress = true;
	lz_feed(lz);
}

static void reset_root_zone(struct lz *lz, u32 zone);

static void root_left(struct lz *lz, struct lz_cmd *cmd)
{
	(void)cmd;
	reset_root_zone(lz, lz->root_zone ^ 1);
}

/*
 * A root zone cannot be begun. The other stands, and may not be touched: try this one
 * again, as there is no other place. False: that has been done.
 */
static bool begin_again(struct lz *lz, u32 zone, int error)
{
	if (++lz->ckpt.root_tries == LZ_LOG_TRIES)
		return false;
	if (lz->ckpt.root_tries == 1)
		lz_say(lz, 'w', "root zone %u cannot be begun (error %d): trying again", zone,
		       error);
	reset_root_zone(lz, zone);
	return true;
}

/*
 * The roots before stand, so the other zone may be begun. First this one is
 * finished, or it would count as open.
 */
static void leave_root_zone(struct lz *lz, int error)
{
	struct lz_ckpt *k = &lz->ckpt;

	lz_say(lz, 'w', "root zone %u: write error %d, going on in zone %u", lz->root_zone,
	       error, lz->root_zone ^ 1);
	lz_count(lz, LZ_ST_ZONES_ASIDE, 1);
	lz->ops->event(lz->ctx, LZ_EV_ZONE_ASIDE, lz->root_zone);
	k->root = (struct lz_cmd){
		.op = LZ_OP_FINISH, .addr = lz_zone_addr(lz, lz->root_zone, 0),
		.done = root_left,
	};
	k->root_busy = true;
	lz_submit(lz, &k->root);
}

static void root_done(struct lz *lz, struct lz_cmd *cmd)
{
	lz->ckpt.root_busy = false;
	if (cmd->error && lz->root_off) {
		leave_root_zone(lz, cmd->error);
		return;
	}
	if (cmd->error && begin_again(lz, lz->root_zone, cmd->error))
		return;
	if (cmd->error) {
		lz_set_mode(lz, LZ_MODE_FAIL, "the checkpoint root cannot be written", cmd->error);
		ckpt_end(lz, cmd->error);
		return;
	}
	lz->ckpt.root_tries = 0;
	lz->root_off += cmd->nblocks;
	lz_count(lz, LZ_ST_ROOT_BLOCKS, cmd->nblocks);
	ckpt_end(lz, 0);
}

static void roll_done(struct lz *lz, struct lz_cmd *cmd)
{
	u32 zone = lz_addr_zone(lz, cmd->addr);

	lz->ckpt.root_busy = false;
	if (cmd->error && begin_again(lz, zone, cmd->error))
		return;
	if (cmd->error) {
		lz_set_mode(lz, LZ_MODE_FAIL, "a root zone cannot be reset", cmd->error);
		ckpt_end(lz, cmd->error);
		return;
	}
	lz->root_zone = zone;
	lz->root_off = 0;
	lz_count(lz, LZ_ST_ROOT_ROLLS, 1);
	lz->ckpt.state = LZ_CK_ROOT;
	lz->progress = true;
}

static void *root_block(struct lz_ckpt *k, u32 i)
{
	return k->root_buf + (size_t)i * LZ_BLOCK_SIZE;
}

/*
 * Everything twice, if there is room: a root that rots must not be taken for one
 * that was never written, as what an older one leads to has been reset.
 */
static void write_root(struct lz *lz)
{
	u32 room = min(lz->g.zone_cap - lz->root_off, lz->append_max), n = 0, end = 0;
	u64 addr = lz_zone_addr(lz, lz->root_zone, lz->root_off);
	struct lz_ckpt *k = &lz->ckpt;

	if (!lz->root_off && !(lz_planted(LZ_PLANT_ROLL_WITHOUT_SUPER) && k->number))
		end = lz_super_copies(lz);
	for (; n < end; n++)
		lz_super_encode(&lz->si, root_block(k, n), addr + n, lz->epoch, k->number + 1);
	for (end = min(n + LZ_ROOT_COPIES, room); n < end; n++)
		encode_root(lz, root_block(k, n), addr + n);
	k->root = (struct lz_cmd){
		.op = LZ_OP_WRITE, .addr = addr, .nblocks = n, .buf = k->root_buf,
		.flags = LZ_CMD_PREFLUSH | LZ_CMD_FUA, .meta = true, .done = root_done,
	};
	if (lz_planted(LZ_PLANT_ROOT_NO_PREFLUSH))
		k->root.flags = LZ_CMD_FUA;
	k->root_busy = true;
	lz->progress = true;
	if (lz_planted(LZ_PLANT_META_RESET_EARLY))
		lz_meta_release(lz);
	lz_submit(lz, &k->root);
}

static void reset_root_zone(struct lz *lz, u32 zone)
{
	struct lz_ckpt *k = &lz->ckpt;

	k->state = LZ_CK_ROLL;
	k->root = (struct lz_cmd){
		.op = LZ_OP_RESET, .addr = lz_zone_addr(lz, zone, 0), .done = roll_done,
	};
	k->root_busy = true;
	lz->root_rolling = true;
	lz->progress = true;
	lz_submit(lz, &k->root);
}

static void take_waiters(struct lz *lz)
{
	unsigned long flags;

	spin_lock_irqsave(&lz->list_lock, flags);
	list_splice_tail_init(&lz->ckpt.waiters_new, &lz->ckpt.waiters);
	spin_unlock_irqrestore(&lz->list_lock, flags);
}

/*
 * Is the delta full of what writes in flight have reserved there? A checkpoint makes room of what
 * has landed only, so it would be one of next to nothing, and another after it.
 */
static bool in_flight(const struct lz *lz)
{
	int taken = lz->delta_cap - atomic_read(&lz->delta_space);

	return taken > (int)(lz->delta_cap / 2) && atomic_read(&lz->active->used) < taken / 8;
}

static bool ckpt_begin(struct lz *lz)
{
	struct lz_ckpt *k = &lz->ckpt;

	if (!READ_ONCE(k->wanted))
		return false;
	WRITE_ONCE(k->wanted, false);
	take_waiters(lz);
	if (list_empty(&k->waiters) && in_flight(lz)) {
		WRITE_ONCE(k->wanted, true);
		lz->ops->kick_later(lz->ctx, LZ_LAND_MS);
		return false;
	}
	k->nodes = 0;
	k->state = LZ_CK_FREEZE;
	lz->progress = true;
	lz_trace(lz, LZ_TR_CHECKPOINT, LZ_NONE, 0, 0, 0, k->number + 1, 0);
	return true;
}

/* lz_ckpt_step - go on with the checkpoint, or begin one. Machine. */
void lz_ckpt_step(struct lz *lz)
{
	struct lz_ckpt *k = &lz->ckpt;
	u8 was;

	if (lz->mode != LZ_MODE_RW) {
		take_waiters(lz);
		lz_answer(&k->waiters, -EIO);
		return;
	}
	if (k->state == LZ_CK_IDLE && !ckpt_begin(lz))
		return;
	if (k->root_busy)
		return;
	do {
		was = k->state;
		switch (k->state) {
		case LZ_CK_MERGE:
			if (!k->begun)
				merge_begin(lz);
			if (lz_planted(LZ_PLANT_RECOVERY_RESETS_EARLY) && lz->loading)
				lz_meta_release(lz);
			if (merge_step(lz)) {
				k->state = LZ_CK_INNER;
				k->level = 1;
				k->node = 0;
			}
			break;
		case LZ_CK_INNER:
			if (tree_step(lz, &lz->map))
				k->state = LZ_CK_SUMMARIES;
			break;
		case LZ_CK_SUMMARIES:
			if (summaries_written(lz)) {
				u32 i;

				for (i = 0; i < lz->data_slots; i++) {
					if (READ_ONCE(lz->open[i].zone) != LZ_NONE)
						lz_zone_touch(lz, &lz->zone[lz->open[i].zone]);
				}
				k->state = LZ_CK_ZTAB;
				k->level = 0;
				k->node = 0;
			}
			break;
		case LZ_CK_ZTAB:
			if (tree_step(lz, &lz->ztab))
				k->state = LZ_CK_NODES;
			break;
		case LZ_CK_NODES:
			if (!lz_nodes_written(lz) && !lz_planted(LZ_PLANT_ROOT_BEFORE_NODES))
				break;
			if (k->redo) {
				k->redo = false;
				k->state = LZ_CK_INNER;
				k->level = 1;
				k->node = 0;
				break;
			}
			/* Its journal blocks may lie in zones that the root frees. */
			if (lz->committed < k->commit && !k->restart)
				break;
			if (k->restart) {
				if (!lz_stream_open(lz, lz->js))
					break;
				/*
				 * A gap, of more than a lost link would leave: from an older root
				 * on the journal is not whole, as commits in between were not
				 * written.
				 */
				lz->jseq += LZ_JOURNAL_GAP;
				k->journal_addr = lz_zone_addr(lz, lz->js->zone, lz->js->off);
				k->journal_seq = lz->jseq;
				k->links = 0;
			}
			if (lz->root_off == lz->g.zone_cap)
				reset_root_zone(lz, lz->root_zone ^ 1);
			else
				k->state = LZ_CK_ROOT;
			break;
		case LZ_CK_ROOT:
			write_root(lz);
			return;
		default:
			return;
		}
	} while (k->state != was);
}

int lz_ckpt_init(struct lz *lz)
{
	struct lz_ckpt *k = &lz->ckpt;
	u64 i;

	k->head = lz_zalloc_array(lz->map.n[0], sizeof(*k->head));
	k->victim = lz_zalloc_array(lz->g.nr_zones, 1);
	k->root_buf = lz_alloc_blocks(LZ_SUPER_COPIES + LZ_ROOT_COPIES);
	if (!k->head || !k->victim || !k->root_buf)
		return -ENOMEM;
	for (i = 0; i < lz->map.n[0]; i++)
		k->head[i] = LZ_NONE;
	return 0;
}

void lz_ckpt_exit(struct lz *lz)
{
	lz_free(lz->ckpt.head);
	lz_free(lz->ckpt.victim);
	lz_free_blocks(lz->ckpt.root_buf);
}
