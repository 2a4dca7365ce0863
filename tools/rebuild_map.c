// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leaves of the map and of the zone table: the newest root's, or what can stand in for
 * them.
 */
#include "rebuild.h"

static int set_unknown(struct rebuild *b, u64 idx)
{
	u64 lba;
	int err = 0;

	for (lba = idx * LZ_NODE_ENTRIES; lba < leaf_end(b, idx) && !err; lba++) {
		bit_set(b->unknown, lba);
		b->nr_unknown++;
		err = rebuild_set(b, lba, LZ_NOWHERE);
	}
	return err;
}

static int take_leaf(struct rebuild *b, u64 idx, const struct lz_node *n)
{
	u64 first = idx * LZ_NODE_ENTRIES, lba;
	int err = 0;

	for (lba = first; lba < leaf_end(b, idx) && !err; lba++)
		err = rebuild_set(b, lba, le64_to_cpu(n->e[lba - first]));
	return err;
}

/*
 * Older versions of those that @miss, brought up to the newest root by the journal: once for
 * all that an older root leads to, as a node near the top may be missing, and the journal long.
 */
static int from_older(struct rebuild *b, u8 *miss, struct lz_node *n)
{
	struct scan_path p = {};
	u64 idx, nr;
	int err = 0;
	u32 i, k;

	for (i = 0; i < b->s.nr_root && !err; i++) {
		const struct lz_root *r = b->s.root[i].r;

		if (r == b->base || !rebuild_journal_between(b, r, &p))
			continue;
		for (idx = 0, nr = 0; idx < b->lz->map.n[0] && !err; idx++) {
			enum got got = miss[idx] ? rebuild_leaf(b, r, &b->lz->map, idx, n) :
						   GOT_NO_WAY;

			if (got > GOT_LEAF)
				continue;
			for (k = 0; got == GOT_NONE && k < LZ_NODE_ENTRIES; k++)
				n->e[k] = cpu_to_le64(LZ_NOWHERE);
			err = take_leaf(b, idx, n);
			miss[idx] = LEAF_OLDER;
			nr++;
		}
		if (nr && !err)
			err = rebuild_each_commit(b, &p, 0, rebuild_apply_map, miss);
		for (idx = 0; idx < b->lz->map.n[0] && nr && !err; idx++) {
			if (miss[idx] != LEAF_OLDER)
				continue;
			miss[idx] = 0;
			b->r->tree += leaf_end(b, idx) - idx * LZ_NODE_ENTRIES;
		}
	}
	lz_free(p.b);
	return err;
}

/*
 * Nodes of a checkpoint are written beside the commit that it begins with. Until that is
 * durable, what they map need not be. A later checkpoint, or a later commit, is proof; so
 * is that it was the first after a recovery, which has no commit.
 */
static bool durable(const struct rebuild *b, u32 i)
{
	const struct scan_block *s = &b->s.b[i];
	u64 seq = b->base ? le64_to_cpu(b->base->h.seq) : 0;

	if (s->seq <= seq || s->seq < b->s.node || b->gone)
		return true;
	if (b->base && s->seq == seq + 1 && s->epoch > le64_to_cpu(b->base->h.epoch))
		return true;
	return s->passed;
}

/* A checkpoint that was cut short has the number of the one that recovery made of it. */
static bool is_newer(const struct scan_block *a, const struct scan_block *than)
{
	return a->seq > than->seq || (a->seq == than->seq && a->epoch > than->epoch);
}

static int index_newest(struct rebuild *b)
{
	u64 i;

	if (b->newest)
		return 0;
	b->newest = lz_zalloc_array(b->lz->map.n[0], sizeof(*b->newest));
	b->found = lz_zalloc_array(b->lz->map.n[0], 1);
	if (!b->newest || !b->found)
		return -ENOMEM;
	memset(b->newest, 0xff, b->lz->map.n[0] * sizeof(*b->newest));
	for (i = 0; i < b->s.nr; i++) {
		const struct scan_block *s = &b->s.b[i];

		if (s->type != LZ_BT_NODE || s->level || s->index >= b->lz->map.n[0] ||
		    (!b->broken && s->seq > le64_to_cpu(b->base->h.seq)) || !durable(b, i))
			continue;
		if (b->newest[s->index] == LZ_NONE ||
		    !is_newer(&b->s.b[b->newest[s->index]], s))
			b->newest[s->index] = i;
	}
	return 0;
}

/* The newest version there is, whether it is the right one or not. */
static enum got newest_leaf(struct rebuild *b, u64 idx, struct lz_node *n)
{
	u32 i = b->newest[idx];

	if (i == LZ_NONE)
		return GOT_NONE;
	return rebuild_node(b, LZ_BT_NODE, 0, idx, b->s.b[i].addr, b->s.epoch, ~0ull, n) ?
		GOT_LEAF : GOT_DAMAGE;
}

/* Leaves later than the newest root, in the order in which they were found. */
static int index_later(struct rebuild *b)
{
	u64 n = b->lz->map.n[0];
	u32 i;

	if (b->later)
		return 0;
	b->later = lz_zalloc_array(n, sizeof(*b->later));
	b->after = lz_zalloc_array(b->s.nr, sizeof(*b->after));
	if (!b->later || !b->after)
		return -ENOMEM;
	memset(b->later, 0xff, n * sizeof(*b->later));
	for (i = b->s.nr; i--; ) {
		const struct scan_block *s = &b->s.b[i];

		if (s->type != LZ_BT_NODE || s->level || s->index >= n ||
		    s->seq <= le64_to_cpu(b->base->h.seq) || !durable(b, i))
			continue;
		b->after[i] = b->later[s->index];
		b->later[s->index] = i;
	}
	return 0;
}

/*
 * A checkpoint whose root is not there may have left a later version. It holds some of
 * what the journal says already; that makes no difference to what is said last.
 */
static int from_later(struct rebuild *b, u64 idx, struct lz_node *n, bool *ok)
{
	u64 seq = le64_to_cpu(b->base->h.seq);
	int err;
	u32 i;

	*ok = false;
	if (b->s.node <= seq)
		return 0;
	err = index_later(b);
	if (err)
		return err;
	for (i = b->later[idx]; i != LZ_NONE; i = b->after[i]) {
		const struct scan_block *s = &b->s.b[i];

		if (s->seq <= seq ||
		    !rebuild_node(b, LZ_BT_NODE, 0, idx, s->addr, b->s.epoch, ~0ull, n))
			continue;
		seq = s->seq;
		*ok = true;
		b->ahead = true;
		if (take_leaf(b, idx, n))
			return -ENOMEM;
	}
	b->r->tree += *ok ? leaf_end(b, idx) - idx * LZ_NODE_ENTRIES : 0;
	return 0;
}

/* One that is not to be had as of the newest root, nor by an older one; @got: why. */
static int missing_leaf(struct rebuild *b, u64 idx, enum got got, struct lz_node *n)
{
	bool ok;
	int err = from_later(b, idx, n, &ok);

	if (err || ok)
		return err;
	if (got == GOT_DAMAGE)
		return set_unknown(b, idx);
	/* Once all nodes have been read it will be seen whether this was right. */
	err = index_newest(b);
	if (err)
		return err;
	b->found[idx] = 1;
	b->nr_found++;
	got = newest_leaf(b, idx, n);
	if (got == GOT_DAMAGE)
		return set_unknown(b, idx);
	return got == GOT_LEAF ? take_leaf(b, idx, n) : 0;
}

static int exact_leaves(struct rebuild *b, struct lz_node *n)
{
	u64 idx, nr = b->lz->map.n[0], missing = 0;
	u8 *miss = lz_zalloc_array(nr, 1);
	int err = miss ? 0 : -ENOMEM;

	for (idx = 0; idx < nr && !err; idx++) {
		enum got got = rebuild_leaf(b, b->base, &b->lz->map, idx, n);

		if (got == GOT_LEAF)
			err = take_leaf(b, idx, n);
		if (got <= GOT_LEAF)
			continue;
		miss[idx] = got;
		missing++;
	}
	if (missing && !err)
		err = from_older(b, miss, n);
	for (idx = 0; idx < nr && !err; idx++)
		if (miss[idx])
			err = missing_leaf(b, idx, miss[idx], n);
	lz_free(miss);
	return err;
}

static int aged_leaf(struct rebuild *b, u64 idx, struct lz_node *n)
{
	u64 seq = b->base ? le64_to_cpu(b->base->h.seq) : 0;
	bool was = false;
	enum got got;

	if (b->base && (b->newest[idx] == LZ_NONE || b->s.b[b->newest[idx]].seq <= seq)) {
		got = rebuild_leaf(b, b->base, &b->lz->map, idx, n);
		if (got == GOT_NONE)
			return 0;
		if (got == GOT_LEAF)
			return take_leaf(b, idx, n);
		was = got == GOT_DAMAGE;
	}
	got = newest_leaf(b, idx, n);
	if (got == GOT_LEAF)
		return take_leaf(b, idx, n);
	return was || got == GOT_DAMAGE ? set_unknown(b, idx) : 0;
}

static int aged_leaves(struct rebuild *b, struct lz_node *n)
{
	int err = index_newest(b);
	u64 i;

	for (i = 0; i < b->lz->map.n[0] && !err; i++)
		err = aged_leaf(b, i, n);
	return err;
}

int rebuild_read_map(struct rebuild *b)
{
	struct lz_node *n = lz_alloc_blocks(1);
	int err = -ENOMEM;

	if (n)
		err = b->broken ? aged_leaves(b, n) : exact_leaves(b, n);
	lz_free_blocks(n);
	return err;
}

/* Is there a block in the log that could be a newer version of anything? */
static bool all_accounted(const struct rebuild *b)
{
	u32 i;

	if (b->nr_hurt)
		sort(b->hurt, b->nr_hurt, sizeof(*b->hurt), lz_cmp_u64, NULL);
	for (i = 0; i < b->s.nr_bad; i++)
		if (!b->nr_hurt || !bsearch(&b->s.bad[i], b->hurt, b->nr_hurt, sizeof(*b->hurt),
					    lz_cmp_u64))
			return false;
	return true;
}

/* Leaves that no root leads to were the newest found. Do they make the total? */
int rebuild_verify_found(struct rebuild *b)
{
	u64 sum = 0, lba, i;
	int err = 0;

	if (!b->nr_found)
		return 0;
	for (lba = 0; lba < b->lz->si.logical_blocks; lba++)
		sum += rebuild_get(b, lba) != LZ_NOWHERE;
	if (all_accounted(b) && !b->nr_unknown && !b->ahead &&
	    sum == le64_to_cpu(b->base->mapped)) {
		for (i = 0; i < b->lz->map.n[0]; i++)
			b->r->tree += b->found[i] ? leaf_end(b, i) - i * LZ_NODE_ENTRIES : 0;
		return 0;
	}
	for (i = 0; i < b->lz->map.n[0] && !err; i++)
		if (b->found[i] && !bit_is(b->unknown, i * LZ_NODE_ENTRIES))
			err = set_unknown(b, i);
	return err;
}

/* --- the zone table --------------------------------------------------------------- */

static void take_zones(struct rebuild *b, u64 idx, const struct lz_znode *n, bool exact)
{
	u32 first = idx * LZ_ZNODE_ENTRIES, i, count = min_t(u32, LZ_ZNODE_ENTRIES,
							     b->lz->g.nr_zones - first);

	if (le32_to_cpu(n->h.count) != count)
		return;
	b->ent_ok[idx] = exact;
	for (i = 0; i < count; i++) {
		struct lz_zone *z = &b->lz->zone[first + i];
		const struct lz_zent *e = &n->e[i];

		b->ent[first + i] = *e;
		/* By which a record that it was set aside is told from one of an earlier life. */
		z->state = e->state;
		z->gen = le32_to_cpu(e->gen);
		z->class = e->class;
		z->flags = le16_to_cpu(e->flags);
		z->head = le32_to_cpu(e->head);
		z->sum_seq = le32_to_cpu(e->sum_seq);
		z->seq = le64_to_cpu(e->seq);
		if (z->head != LZ_NO_OFFSET && z->head >= b->lz->g.zone_cap) {
			z->head = LZ_NO_OFFSET;
			z->sum_seq = 0;
			z->flags |= LZ_ZF_SCAN;
		}
		/* Of a table that is not the newest this may be an earlier life's. */
		if (exact && z->head != LZ_NO_OFFSET)
			z->need = z->head + 1;
	}
}

/* Where the newest root's is damaged, or there is none, any is better than none. */
int rebuild_read_zones(struct rebuild *b)
{
	struct lz_node *n = lz_alloc_blocks(1);
	u64 nr = b->lz->ztab.n[0], *seq = lz_zalloc_array(nr, sizeof(*seq)), i;
	int err = n && seq ? 0 : -ENOMEM;
	u32 k;

	for (i = 0; i < nr && !err; i++) {
		if (!b->base || b->broken ||
		    rebuild_leaf(b, b->base, &b->lz->ztab, i, n) != GOT_LEAF)
			continue;
		take_zones(b, i, (void *)n, true);
		seq[i] = ~0ull;
	}
	for (k = 0; k < b->s.nr && !err; k++) {
		const struct scan_block *s = &b->s.b[k];

		if (s->type != LZ_BT_ZNODE || s->level || s->index >= nr ||
		    s->seq < seq[s->index] ||
		    !rebuild_node(b, LZ_BT_ZNODE, 0, s->index, s->addr, b->s.epoch, ~0ull, n))
			continue;
		seq[s->index] = s->seq;
		take_zones(b, s->index, (void *)n, false);
	}
	lz_free(seq);
	lz_free_blocks(n);
	return err;
}
