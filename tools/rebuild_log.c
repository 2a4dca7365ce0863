// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the log says: nodes that a root leads to, and the journal after it.
 */
#include "rebuild.h"

bool rebuild_node(struct rebuild *b, u16 type, u32 level, u64 idx, u64 addr, u64 epoch, u64 seq,
		  struct lz_node *n)
{
	struct lz_want w = {
		.uuid = b->lz->si.uuid, .type = type, .level = level, .addr = addr,
		.index = idx, .epoch_max = epoch,
	};
	u32 i;

	if (!scan_holds(&b->s, addr) ||
	    lz_read_sync(b->lz, addr, 1, n) || !lz_valid(n, &w, NULL, 0) ||
	    le64_to_cpu(n->h.seq) > seq)
		return false;
	/* A leaf that maps what cannot be is none. */
	for (i = 0; type == LZ_BT_NODE && !level && i < LZ_NODE_ENTRIES; i++) {
		u64 a = le64_to_cpu(n->e[i]);

		if (a != LZ_NOWHERE && (!possible(b, a) || idx * LZ_NODE_ENTRIES + i >=
					b->lz->si.logical_blocks))
			return false;
	}
	return true;
}

static void hurt(struct rebuild *b, const struct lz_root *r, u64 addr)
{
	/* The same one is met again for the next leaf below it. */
	if (r != b->base || (b->nr_hurt && b->hurt[b->nr_hurt - 1] == addr))
		return;
	b->hurt = lz_grow(b->hurt, &b->max_hurt, b->nr_hurt + 1, sizeof(*b->hurt));
	if (!b->hurt) {
		b->nr_hurt = 0;
		b->err = -ENOMEM;
		return;
	}
	b->hurt[b->nr_hurt++] = addr;
}

/* Address of leaf @idx as @r leads to it; LZ_MISS if a node on the way is damaged. */
static u64 leaf_addr(struct rebuild *b, const struct lz_root *r, const struct lz_tree *t, u64 idx)
{
	struct held *held = b->held[t->type == LZ_BT_ZNODE];
	u64 at[LZ_MAX_LEVELS], addr;
	u32 l;

	at[0] = idx;
	for (l = 1; l < t->levels; l++)
		at[l] = at[l - 1] / LZ_NODE_ENTRIES;
	l = t->levels - 1;
	addr = le64_to_cpu(t->type == LZ_BT_NODE ? r->map_top[at[l]] : r->ztab_top[at[l]]);
	for (; l && addr != LZ_NOWHERE; l--) {
		struct held *h = &held[l];

		if (h->addr != addr) {
			h->addr = addr;
			h->ok = rebuild_node(b, t->type, l, at[l], addr, le64_to_cpu(r->h.epoch),
					     le64_to_cpu(r->h.seq), &h->n);
		}
		if (!h->ok) {
			hurt(b, r, addr);
			return LZ_MISS;
		}
		addr = le64_to_cpu(h->n.e[at[l - 1] % LZ_NODE_ENTRIES]);
	}
	return addr;
}

enum got rebuild_leaf(struct rebuild *b, const struct lz_root *r, const struct lz_tree *t, u64 idx,
		      struct lz_node *n)
{
	u64 addr = leaf_addr(b, r, t, idx);

	if (addr == LZ_NOWHERE)
		return GOT_NONE;
	if (addr == LZ_MISS)
		return GOT_NO_WAY;
	if (rebuild_node(b, t->type, 0, idx, addr, le64_to_cpu(r->h.epoch),
			 le64_to_cpu(r->h.seq), n))
		return GOT_LEAF;
	hurt(b, r, addr);
	return GOT_DAMAGE;
}

/* --- the journal ------------------------------------------------------------------ */

static int each_record(struct rebuild *b, const struct lz_jrec *rec, u32 n, bool certain,
		       record_fn fn, void *arg)
{
	int err = 0;
	u32 i, k;

	for (k = 0; k < LZ_JREC_TYPES; k++)
		for (i = 0; i < n && !err; i++)
			if (lz_jrec_type(&rec[i]) == lz_jrec_order[k])
				err = fn(b, &rec[i], certain, arg);
	return err;
}

/*
 * Is block @i of @p, number @seq or one more, the next one of a commit? A link in between that was
 * lost had a number, too, and scan_walk() goes on in another zone behind nothing else.
 */
static bool goes_on(const struct lz *lz, const struct scan_path *p, u32 i, u64 seq)
{
	return p->b[i]->seq == seq ||
		(p->b[i]->seq == seq + 1 && lz_addr_zone(lz, p->b[i - 1]->addr) !=
		 lz_addr_zone(lz, p->b[i]->addr));
}

int rebuild_each_commit(struct rebuild *b, const struct scan_path *p, u32 sure, record_fn fn,
			void *arg)
{
	struct lz_jrec *rec = NULL;
	u64 first = 0, next = 0;
	u32 nr = 0, max = 0, i, n, begin = 0;
	bool whole = false;
	int err = 0;

	for (i = 0; i < p->nr && !err; i++) {
		const struct scan_block *s = p->b[i];
		const struct lz_journal *j = (void *)b->buf;

		if (s->next != LZ_NONE) {
			next += s->seq == next;
			continue;
		}
		if (s->first != first || s->epoch != p->b[begin]->epoch) {
			first = s->first;
			whole = s->seq == first;
			begin = i;
			nr = 0;
		} else if (!goes_on(b->lz, p, i, next)) {
			whole = false;
		}
		next = s->seq + 1;
		err = lz_read_sync(b->lz, s->addr, 1, b->buf);
		if (err || !whole)
			continue;
		n = le32_to_cpu(j->h.count);
		rec = lz_grow(rec, &max, nr + n, sizeof(*rec));
		if (!rec)
			return -ENOMEM;
		memcpy(rec + nr, j->r, n * sizeof(*rec));
		nr += n;
		if (s->more)
			continue;
		err = each_record(b, rec, nr, begin >= sure, fn, arg);
		nr = 0;
	}
	lz_free(rec);
	return err;
}

int rebuild_apply_map(struct rebuild *b, const struct lz_jrec *r, bool certain, void *arg)
{
	const u8 *leaf = arg;
	bool maps = lz_jrec_type(r) == LZ_JR_MAP;
	u64 lba = lz_jrec_lba(r), n = maps ? lz_jrec_len(r) : lz_jrec_b(r), end, at, addr;
	int err = 0;

	if (!maps && lz_jrec_type(r) != LZ_JR_DISCARD)
		return 0;
	end = min_t(u64, lba + n, b->lz->si.logical_blocks);
	for (at = lba; at < end && !err; at++) {
		if (leaf && leaf[at / LZ_NODE_ENTRIES] != LEAF_OLDER) {
			at = leaf_end(b, at / LZ_NODE_ENTRIES) - 1;
			continue;
		}
		if (!leaf && bit_is(b->unknown, at)) {
			bit_clear(b->unknown, at);
			b->nr_unknown--;
		}
		if (b->certain && certain)
			bit_set(b->certain, at);
		else if (b->certain)
			bit_clear(b->certain, at);
		addr = maps ? lz_jrec_b(r) + (at - lba) : LZ_NOWHERE;
		if (maps && !possible(b, addr)) {
			addr = LZ_NOWHERE;
			b->nr_unknown += !bit_is(b->unknown, at);
			bit_set(b->unknown, at);
		}
		err = rebuild_set(b, at, addr);
	}
	return err;
}

int rebuild_apply(struct rebuild *b, const struct lz_jrec *r, bool certain, void *arg)
{
	u64 addr = lz_jrec_b(r), zone = lz_jrec_lba(r);
	struct lz_jrec said = *r;

	if (lz_jrec_type(r) == LZ_JR_MAP && possible(b, addr)) {
		struct lz_zone *z = &b->lz->zone[lz_addr_zone(b->lz, addr)];

		z->need = max_t(u64, z->need, (u64)lz_addr_off(b->lz, addr) + lz_jrec_len(r));
	}
	if (lz_jrec_type(r) == LZ_JR_MAP || lz_jrec_type(r) == LZ_JR_DISCARD)
		return rebuild_apply_map(b, r, certain, arg);
	if (lz_jrec_odd(b->lz, r))
		return 0;
	/* An older zone table does not tell which life it is. */
	if (lz_jrec_type(r) == LZ_JR_ZBAD && !b->ent_ok[zone / LZ_ZNODE_ENTRIES])
		said.b = 0;
	lz_jrec_to_zone(&b->lz->zone[zone], &said);
	return 0;
}

static const struct lz_root *first_of(const struct rebuild *b, u64 epoch)
{
	u32 i = b->s.nr_root;

	while (i--)
		if (le64_to_cpu(b->s.root[i].r->h.epoch) == epoch)
			return b->s.root[i].r;
	return NULL;
}

/*
 * The journal from @from to where the newest root takes over, in @p. False: it is
 * not whole. Recovery raises the epoch by one and goes on numbering.
 */
bool rebuild_journal_between(struct rebuild *b, const struct lz_root *from, struct scan_path *p)
{
	u64 stop = le64_to_cpu(b->base->journal_seq);

	p->nr = 0;
	for (;;) {
		u64 epoch = le64_to_cpu(from->h.epoch);

		if (scan_walk(&b->s, from, p)) {
			b->err = -ENOMEM;
			return false;
		}
		if (epoch == le64_to_cpu(b->base->h.epoch))
			break;
		from = first_of(b, epoch + 1);
		if (!from || le64_to_cpu(from->journal_seq) != p->seq)
			return false;
	}
	if (p->seq < stop)
		return false;
	while (p->nr && p->b[p->nr - 1]->epoch == le64_to_cpu(b->base->h.epoch) &&
	       p->b[p->nr - 1]->seq >= stop)
		p->nr--;
	return true;
}

static void mark_node(const struct rebuild *b, u8 *node, u32 zone, u64 addr)
{
	if (possible(b, addr) && lz_addr_zone(b->lz, addr) == zone)
		bit_set(node, lz_addr_off(b->lz, addr));
}

/* Nodes of @zone that the newest root leads to, a bit by block: those that are damaged at least. */
static u8 *nodes_in(struct rebuild *b, u32 zone)
{
	const struct lz_tree *tree[] = { &b->lz->map, &b->lz->ztab };
	u8 *node = lz_zalloc_array(b->lz->g.zone_cap / 8 + 1, 1);
	u64 idx;
	u32 t, i;

	if (!node) {
		b->err = -ENOMEM;
		return NULL;
	}
	for (t = 0; t < ARRAY_SIZE(tree) && b->base; t++)
		for (idx = 0; idx < tree[t]->n[0]; idx++)
			mark_node(b, node, zone, leaf_addr(b, b->base, tree[t], idx));
	/* And those on the way to a leaf. */
	for (i = 0; i < b->nr_hurt; i++)
		mark_node(b, node, zone, b->hurt[i]);
	return node;
}

/*
 * Is more of the journal lost than is seen, where it ends at @off of @zone? So it is if the zone
 * is offline, or has lost nodes that the newest root leads to: someone has reset it then.
 * Nothing is to be written over what tells so. And what cannot be read could be more of it,
 * unless it is such a node.
 */
static bool lost_behind(struct rebuild *b, u32 zone, u32 off)
{
	u32 have, i;
	bool lost;
	u8 *node;

	if (zone >= b->lz->si.nr_zones)
		return false;
	node = nodes_in(b, zone);
	if (!node)
		return false;
	lost = b->s.rep[zone].cond == LZ_COND_OFFLINE;
	have = scan_have(&b->s, zone);
	for (i = have; i < b->lz->g.zone_cap && !lost; i++)
		lost = bit_is(node, i);
	b->lz->zone[zone].suspect |= lost;
	if (!lost)
		lost = scan_unread(&b->s, zone, off, node);
	lz_free(node);
	return lost;
}

/*
 * All that is left of the journal after the newest root. Its last stretch is certain,
 * unless more of it was lost behind that.
 */
static int gather_journal(struct rebuild *b)
{
	u64 epoch = b->base ? le64_to_cpu(b->base->h.epoch) : 0;
	u64 seq = b->base ? le64_to_cpu(b->base->journal_seq) : 0;
	struct scan_path *p = &b->path;
	u32 i;

	p->nr = 0;
	for (i = 0; i < b->s.nr_journal; i++) {
		const struct scan_block *s = b->s.journal[i];

		if (s->epoch < epoch || (s->epoch == epoch && s->seq < seq))
			continue;
		p->b = lz_grow(p->b, &p->max, p->nr + 1, sizeof(*p->b));
		if (!p->b)
			return -ENOMEM;
		p->b[p->nr++] = s;
	}
	b->sure = p->nr ? p->nr - 1 : 0;
	while (b->sure && scan_follows(&b->s, p->b[b->sure - 1], p->b[b->sure]))
		b->sure--;
	if (p->nr) {
		const struct scan_block *last = p->b[p->nr - 1];
		u32 off;

		off = last->next == LZ_NONE ? lz_addr_off(b->lz, last->addr) + 1 : 0;
		if (lost_behind(b, scan_next_zone(&b->s, last), off))
			b->sure = p->nr;
	}
	return 0;
}

/*
 * Does the journal lead from the newest root to its end? A later node alone could also
 * be of a checkpoint whose root was lost: then it does if it ends where its zone does.
 */
int rebuild_find_journal(struct rebuild *b)
{
	const struct lz_root *r = b->base;
	const struct scan_block *later;
	struct scan_path *p = &b->path;
	const struct lz_zone_report *rep;
	u32 zone, off;
	u64 addr;
	int err;

	if (!r) {
		b->broken = true;
		return gather_journal(b);
	}
	addr = le64_to_cpu(r->journal_addr);
	zone = lz_addr_zone(b->lz, addr);
	off = lz_addr_off(b->lz, addr);
	err = scan_walk(&b->s, r, p);
	if (err)
		return err;
	later = scan_later(&b->s, le64_to_cpu(r->h.epoch), le64_to_cpu(r->h.seq), p->seq);
	if (zone >= b->lz->si.nr_zones || zone < 2) {
		b->broken = true;
	} else if (scan_have(&b->s, zone) < off && b->s.rep[zone].cond != LZ_COND_OFFLINE) {
		b->broken = true;
		b->gone = true;
		b->lz->zone[zone].suspect = true;
	} else if (later) {
		rep = &b->s.rep[p->zone];
		b->broken = later->type == LZ_BT_JOURNAL ||
			later->epoch != le64_to_cpu(r->h.epoch) || !p->off ||
			rep->cond != LZ_COND_OPEN || rep->wp != p->off;
	}
	if (!b->broken)
		b->broken = lost_behind(b, p->zone, p->off);
	return b->broken ? gather_journal(b) : 0;
}
