// SPDX-License-Identifier: GPL-2.0-only
/*
 * Map and zone table rebuilt from whatever of a device's metadata is whole.
 *
 * A block is mapped only where whole metadata - checksum, device, epoch, place -
 * proves that this is where it is now. Four things are proof, the first that
 * answers counts:
 *
 *  - the newest root leads to its leaf, as in any recovery;
 *  - an older root leads to it, and the journal from there to the newest root is
 *    whole: what it says since is all that changed;
 *  - no root leads to it any more, but every block of the log is accounted for, so
 *    the newest leaf found is the newest there was; and the totals agree;
 *  - the zone table says how many blocks of a zone are in use, and as many are not
 *    yet accounted for as its summaries name: then it is all of these.
 *
 * What none of them proves is lost. The journal goes on top, as ever. If it is not
 * whole - a block within it, a link, or the newest root is damaged - what its last
 * whole stretch says is certain; all else may have been changed by what is lost. Of
 * that, what is certainly still the block's own data, as a summary in the zone says
 * so, is kept and told to be of uncertain age, and the rest is lost.
 *
 * Whatever its source, an entry must stand the test of the zone it points into: that
 * it holds data, has been written as far, and that no summary says otherwise.
 */
#include <stdlib.h>
#include "scan.h"

/* A node of a tree that was asked for last, level by level. */
struct held {
	u64 addr;
	bool ok;
	struct lz_node n;
};

/* What a summary says. */
struct claim {
	u64 lba;
	u32 zone;
	u32 off;
	bool out;		/* it has been proven to be past */
};

struct owner {
	u64 addr;
	u64 lba;
};

/* A zone while blocks are found by counting. */
struct tally {
	u32 want;		/* blocks of it that are still unaccounted for */
	u32 lbas;		/* blocks that claims still place there */
	bool known;		/* its claims are all there are */
	bool done;
};

struct rebuild {
	struct lz *lz;
	struct scan s;
	struct rebuild_report *r;
	const struct lz_root *base;
	bool broken;		/* the journal from @base on is not whole */
	bool gone;		/* it was reset, as is done after a later root */
	bool ahead;		/* some leaves are later than @base */
	struct scan_path path;	/* journal blocks on top of @base */
	u32 sure;		/* from this one on it is whole */
	struct held held[2][LZ_MAX_LEVELS];
	u64 *hurt;		/* nodes that @base leads to and are not whole */
	u32 nr_hurt;
	u32 max_hurt;
	u32 *newest;		/* by leaf: scanned block, or LZ_NONE */
	u8 *found;		/* by leaf: taken from @newest */
	u32 nr_found;
	u8 *unknown;		/* bit by lba */
	u64 nr_unknown;
	u8 *certain;		/* bit by lba, if @broken */
	struct lz_zent *ent;	/* zone table of @base */
	u8 *ent_ok;		/* by leaf of it */
	u8 *reborn;		/* by zone: opened since @base */
	u8 *used, *twice, *spoken, *named;	/* bit by drive block */
	struct owner *own;
	u32 nr_own;
	u32 max_own;
	struct claim *claim;
	u32 nr_claim;
	u32 max_claim;
	struct tally *tally;
	u8 *buf;
};

static bool bit(const u8 *map, u64 i)
{
	return map[i / 8] >> (i % 8) & 1;
}

static void set(u8 *map, u64 i)
{
	map[i / 8] |= 1 << (i % 8);
}

static void clear(u8 *map, u64 i)
{
	map[i / 8] &= ~(1 << (i % 8));
}

/* --- what is reported ------------------------------------------------------------- */

static int tell(struct rebuild_run **list, u32 *nr, u32 *max, u64 lba, u64 n, const char *why)
{
	struct rebuild_run *last = *nr ? &(*list)[*nr - 1] : NULL;

	if (last && last->lba + last->len == lba && last->why == why) {
		last->len += n;
		return 0;
	}
	*list = lz_grow(*list, max, *nr + 1, sizeof(**list));
	if (!*list)
		return -ENOMEM;
	(*list)[(*nr)++] = (struct rebuild_run){ lba, n, why };
	return 0;
}

static int lose(struct rebuild *b, u64 lba, const char *why)
{
	b->r->lost_blocks++;
	return tell(&b->r->lost, &b->r->nr_lost, &b->r->max_lost, lba, 1, why);
}

static int age(struct rebuild *b, u64 lba)
{
	b->r->aged_blocks++;
	return tell(&b->r->aged, &b->r->nr_aged, &b->r->max_aged, lba, 1,
		    "may be older than what was last written");
}

void rebuild_report_free(struct rebuild_report *r)
{
	lz_free(r->lost);
	lz_free(r->aged);
}

/* --- the map being made: leaves in RAM, as the checkpoint will write them --------- */

static u64 map_get(struct rebuild *b, u64 lba)
{
	struct lz_cached *c = b->lz->leaf[lba / LZ_NODE_ENTRIES];

	return c ? le64_to_cpu(c->node->e[lba % LZ_NODE_ENTRIES]) : LZ_NOWHERE;
}

static int map_set(struct rebuild *b, u64 lba, u64 addr)
{
	u64 idx = lba / LZ_NODE_ENTRIES;
	struct lz_cached *c = b->lz->leaf[idx];

	if (!c && addr == LZ_NOWHERE)
		return 0;
	if (!c)
		c = lz_leaf_new(b->lz, idx);
	if (!c)
		return -ENOMEM;
	c->node->e[lba % LZ_NODE_ENTRIES] = cpu_to_le64(addr);
	return 0;
}

static u64 leaf_end(const struct rebuild *b, u64 idx)
{
	return min_t(u64, (idx + 1) * LZ_NODE_ENTRIES, b->lz->si.logical_blocks);
}

/* An address at which data may lie. */
static bool possible(const struct rebuild *b, u64 addr)
{
	u32 zone = lz_addr_zone(b->lz, addr);

	return addr < LZ_NOWHERE && zone >= 2 && zone < b->lz->si.nr_zones &&
	       lz_addr_off(b->lz, addr) < b->lz->g.zone_cap;
}

static int set_unknown(struct rebuild *b, u64 idx)
{
	u64 lba;
	int err = 0;

	for (lba = idx * LZ_NODE_ENTRIES; lba < leaf_end(b, idx) && !err; lba++) {
		set(b->unknown, lba);
		b->nr_unknown++;
		err = map_set(b, lba, LZ_NOWHERE);
	}
	return err;
}

/* --- nodes ------------------------------------------------------------------------ */

static bool read_node(struct rebuild *b, u16 type, u32 level, u64 idx, u64 addr, u64 epoch,
		      u64 seq, struct lz_node *n)
{
	struct lz_want w = {
		.uuid = b->lz->si.uuid, .type = type, .level = level, .addr = addr,
		.index = idx, .epoch_max = epoch,
	};
	u32 zone = lz_addr_zone(b->lz, addr), i;

	if (!possible(b, addr) || lz_addr_off(b->lz, addr) >= scan_have(&b->s, zone) ||
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

static int hurt(struct rebuild *b, const struct lz_root *r, u64 addr)
{
	u32 i;

	if (r != b->base)
		return 0;
	for (i = 0; i < b->nr_hurt; i++)
		if (b->hurt[i] == addr)
			return 0;
	b->hurt = lz_grow(b->hurt, &b->max_hurt, b->nr_hurt + 1, sizeof(*b->hurt));
	if (!b->hurt)
		return -ENOMEM;
	b->hurt[b->nr_hurt++] = addr;
	return 0;
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
			h->ok = read_node(b, t->type, l, at[l], addr, le64_to_cpu(r->h.epoch),
					  le64_to_cpu(r->h.seq), &h->n);
		}
		if (!h->ok)
			return hurt(b, r, addr) ? LZ_NOWHERE : LZ_MISS;
		addr = le64_to_cpu(h->n.e[at[l - 1] % LZ_NODE_ENTRIES]);
	}
	return addr;
}

enum got { GOT_NONE, GOT_LEAF, GOT_DAMAGE, GOT_NO_WAY };

/* Leaf @idx as of @r in @n. */
static enum got get_leaf(struct rebuild *b, const struct lz_root *r, const struct lz_tree *t,
			 u64 idx, struct lz_node *n)
{
	u64 addr = leaf_addr(b, r, t, idx);

	if (addr == LZ_NOWHERE)
		return GOT_NONE;
	if (addr == LZ_MISS)
		return GOT_NO_WAY;
	if (read_node(b, t->type, 0, idx, addr, le64_to_cpu(r->h.epoch),
		      le64_to_cpu(r->h.seq), n))
		return GOT_LEAF;
	hurt(b, r, addr);
	return GOT_DAMAGE;
}

static int take_leaf(struct rebuild *b, u64 idx, const struct lz_node *n)
{
	u64 first = idx * LZ_NODE_ENTRIES, lba;
	int err = 0;

	for (lba = first; lba < leaf_end(b, idx) && !err; lba++)
		err = map_set(b, lba, le64_to_cpu(n->e[lba - first]));
	return err;
}

/* --- the journal ------------------------------------------------------------------ */

/* Called for each record of whole commits, in the order in which they count. */
typedef int (*record_fn)(struct rebuild *b, const struct lz_jrec *r, bool certain, void *arg);

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

/* Blocks @sure and on of @p are without a gap; before, a commit may miss blocks. */
static int each_commit(struct rebuild *b, const struct scan_path *p, u32 sure, record_fn fn,
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
		} else if (s->seq != next) {
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

struct limits {
	u64 from;
	u64 end;
};

/* What a record says of the map, within @arg if given. */
static int apply_map(struct rebuild *b, const struct lz_jrec *r, bool certain, void *arg)
{
	const struct limits *limits = arg;
	bool maps = lz_jrec_type(r) == LZ_JR_MAP;
	u64 lba = lz_jrec_lba(r), n = maps ? lz_jrec_len(r) : lz_jrec_b(r), end, at, addr;
	int err = 0;

	if (!maps && lz_jrec_type(r) != LZ_JR_DISCARD)
		return 0;
	end = min_t(u64, lba + n, b->lz->si.logical_blocks);
	at = limits ? max(lba, limits->from) : lba;
	end = limits ? min(end, limits->end) : end;
	for (; at < end && !err; at++) {
		if (!limits && bit(b->unknown, at)) {
			clear(b->unknown, at);
			b->nr_unknown--;
		}
		if (b->certain && certain)
			set(b->certain, at);
		else if (b->certain)
			clear(b->certain, at);
		addr = maps ? lz_jrec_b(r) + (at - lba) : LZ_NOWHERE;
		if (maps && !possible(b, addr)) {
			addr = LZ_NOWHERE;
			b->nr_unknown += !bit(b->unknown, at);
			set(b->unknown, at);
		}
		err = map_set(b, at, addr);
	}
	return err;
}

static int apply(struct rebuild *b, const struct lz_jrec *r, bool certain, void *arg)
{
	u64 addr = lz_jrec_b(r);

	if (lz_jrec_type(r) == LZ_JR_MAP && possible(b, addr)) {
		struct lz_zone *z = &b->lz->zone[lz_addr_zone(b->lz, addr)];

		z->need = max_t(u64, z->need, (u64)lz_addr_off(b->lz, addr) + lz_jrec_len(r));
	}
	if (lz_jrec_type(r) == LZ_JR_MAP || lz_jrec_type(r) == LZ_JR_DISCARD)
		return apply_map(b, r, certain, arg);
	if (!lz_jrec_odd(b->lz, r))
		lz_jrec_to_zone(&b->lz->zone[lz_jrec_lba(r)], r);
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
static bool journal_between(struct rebuild *b, const struct lz_root *from, struct scan_path *p)
{
	u64 stop = le64_to_cpu(b->base->journal_seq);

	p->nr = 0;
	for (;;) {
		u64 epoch = le64_to_cpu(from->h.epoch);

		if (scan_walk(&b->s, from, p))
			return false;
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

/* --- a leaf that the newest root does not give ------------------------------------ */

/* An older version of it, brought up to the newest root by the journal. */
static int from_older(struct rebuild *b, u64 idx, struct lz_node *n, bool *ok)
{
	struct limits limits = { idx * LZ_NODE_ENTRIES, leaf_end(b, idx) };
	struct scan_path p = {};
	int err = 0;
	u64 lba;
	u32 i;

	*ok = false;
	for (i = 0; i < b->s.nr_root && !*ok && !err; i++) {
		const struct lz_root *r = b->s.root[i].r;
		enum got got;

		if (r == b->base)
			continue;
		got = get_leaf(b, r, &b->lz->map, idx, n);
		if (got > GOT_LEAF || !journal_between(b, r, &p))
			continue;
		for (lba = limits.from; lba < limits.end && !err; lba++)
			err = map_set(b, lba, got == GOT_LEAF ?
				      le64_to_cpu(n->e[lba - limits.from]) : LZ_NOWHERE);
		if (!err)
			err = each_commit(b, &p, 0, apply_map, &limits);
		*ok = !err;
		b->r->tree += limits.end - limits.from;
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
	const struct scan_block *s = &b->s.b[i], *k;
	u64 seq = b->base ? le64_to_cpu(b->base->h.seq) : 0;

	if (s->seq <= seq || s->seq < b->s.node || b->gone)
		return true;
	if (b->base && s->seq == seq + 1 && s->epoch > le64_to_cpu(b->base->h.epoch))
		return true;
	for (k = s + 1; k < b->s.b + b->s.nr &&
	     lz_addr_zone(b->lz, k->addr) == lz_addr_zone(b->lz, s->addr); k++)
		if (k->type == LZ_BT_JOURNAL && !k->more && k->next == LZ_NONE)
			return true;
	return false;
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
		if (b->newest[s->index] == LZ_NONE || b->s.b[b->newest[s->index]].seq <= s->seq)
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
	return read_node(b, LZ_BT_NODE, 0, idx, b->s.b[i].addr, b->s.epoch, ~0ull, n) ? GOT_LEAF :
		GOT_DAMAGE;
}

/* Is there a block in the log that could be a newer version of anything? */
static bool all_accounted(const struct rebuild *b)
{
	u32 i, k;

	for (i = 0; i < b->s.nr_bad; i++) {
		for (k = 0; k < b->nr_hurt && b->hurt[k] != b->s.bad[i]; k++)
			;
		if (k == b->nr_hurt)
			return false;
	}
	return true;
}

/*
 * A checkpoint whose root is not there may have left a later version. It holds some of
 * what the journal says already; that makes no difference to what is said last.
 */
static int from_later(struct rebuild *b, u64 idx, struct lz_node *n, bool *ok)
{
	u64 seq = le64_to_cpu(b->base->h.seq);
	u32 i;

	*ok = false;
	for (i = 0; i < b->s.nr; i++) {
		const struct scan_block *s = &b->s.b[i];

		if (s->type != LZ_BT_NODE || s->level || s->index != idx || s->seq <= seq ||
		    !durable(b, i) ||
		    !read_node(b, LZ_BT_NODE, 0, idx, s->addr, b->s.epoch, ~0ull, n))
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

static int exact_leaf(struct rebuild *b, u64 idx, struct lz_node *n)
{
	enum got got = get_leaf(b, b->base, &b->lz->map, idx, n);
	int err;
	bool ok;

	if (got == GOT_NONE)
		return 0;
	if (got == GOT_LEAF)
		return take_leaf(b, idx, n);
	err = from_older(b, idx, n, &ok);
	if (!err && !ok)
		err = from_later(b, idx, n, &ok);
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

static int aged_leaf(struct rebuild *b, u64 idx, struct lz_node *n)
{
	u64 seq = b->base ? le64_to_cpu(b->base->h.seq) : 0;
	bool was = false;
	enum got got;

	if (b->base && (b->newest[idx] == LZ_NONE || b->s.b[b->newest[idx]].seq <= seq)) {
		got = get_leaf(b, b->base, &b->lz->map, idx, n);
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

static int read_map(struct rebuild *b)
{
	struct lz_node *n = lz_alloc_blocks(1);
	int err = n ? 0 : -ENOMEM;
	u64 i;

	if (b->broken && !err)
		err = index_newest(b);
	for (i = 0; i < b->lz->map.n[0] && !err; i++)
		err = b->broken ? aged_leaf(b, i, n) : exact_leaf(b, i, n);
	lz_free_blocks(n);
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
static int read_zones(struct rebuild *b)
{
	struct lz_node *n = lz_alloc_blocks(1);
	u64 i, seq;
	u32 k;

	if (!n)
		return -ENOMEM;
	for (i = 0; i < b->lz->ztab.n[0]; i++) {
		if (b->base && !b->broken &&
		    get_leaf(b, b->base, &b->lz->ztab, i, n) == GOT_LEAF) {
			take_zones(b, i, (void *)n, true);
			continue;
		}
		for (k = 0, seq = 0; k < b->s.nr; k++) {
			const struct scan_block *s = &b->s.b[k];

			if (s->type != LZ_BT_ZNODE || s->level || s->index != i || s->seq < seq ||
			    !read_node(b, LZ_BT_ZNODE, 0, i, s->addr, b->s.epoch, ~0ull, n))
				continue;
			seq = s->seq;
			take_zones(b, i, (void *)n, false);
		}
	}
	lz_free_blocks(n);
	return 0;
}

/* --- summaries -------------------------------------------------------------------- */

typedef int (*claim_fn)(struct rebuild *b, u32 zone, u32 off, u64 lba);

/* Follows the summaries of @zone from @head back. 1: all whole, 0: not, or an error. */
static int each_claim(struct rebuild *b, u32 zone, u32 head, u32 seq, u32 gen, claim_fn fn)
{
	const struct lz_summary *s = (void *)b->buf;
	u32 group = 0, prev, i, j;
	int err;

	while (head != LZ_NO_OFFSET) {
		prev = LZ_NO_OFFSET;
		for (i = 0; i < (i ? group : 1); i++) {
			struct lz_want w = {
				.uuid = b->lz->si.uuid, .type = LZ_BT_SUMMARY, .addr = LZ_NO_ADDR,
				.index = zone, .epoch_max = b->s.epoch,
			};

			if ((u64)head + i >= scan_have(&b->s, zone) ||
			    lz_read_sync(b->lz, lz_zone_addr(b->lz, zone, head + i), 1, b->buf) ||
			    !lz_valid(s, &w, NULL, 0))
				return 0;
			group = i ? group : le32_to_cpu(s->group);
			prev = i ? prev : le32_to_cpu(s->prev);
			if (le32_to_cpu(s->gen) != gen || le32_to_cpu(s->nth) != i ||
			    le32_to_cpu(s->group) != group || le32_to_cpu(s->prev) != prev ||
			    group > seq || le64_to_cpu(s->h.seq) != seq - group + 1 + i)
				return 0;
			for (j = 0; fn && j < le32_to_cpu(s->h.count); j++) {
				u64 e = le64_to_cpu(s->e[j]);

				if (lz_sum_offset(e) >= head + group ||
				    lz_sum_lba(e) >= b->lz->si.logical_blocks)
					return 0;
				err = fn(b, zone, lz_sum_offset(e), lz_sum_lba(e));
				if (err)
					return err;
			}
		}
		seq -= group;
		if (prev != LZ_NO_OFFSET && prev >= head)
			return 0;
		head = prev;
	}
	return !seq;
}

/* --- finding blocks by counting --------------------------------------------------- */

static int collect(struct rebuild *b, u32 zone, u32 off, u64 lba)
{
	if (!bit(b->unknown, lba))
		return 0;
	b->claim = lz_grow(b->claim, &b->max_claim, b->nr_claim + 1, sizeof(*b->claim));
	if (!b->claim)
		return -ENOMEM;
	b->claim[b->nr_claim++] = (struct claim){ lba, zone, off, false };
	return 0;
}

static int cmp_claim(const void *x, const void *y)
{
	const struct claim *a = x, *b = y;

	if (a->lba != b->lba)
		return a->lba < b->lba ? -1 : 1;
	return a->zone < b->zone ? -1 : a->zone > b->zone;
}

/* Blocks that each zone could still hold, each counted once. */
static void count_claims(struct rebuild *b)
{
	const struct claim *last = NULL;
	u32 i;

	for (i = 0; i < b->lz->si.nr_zones; i++)
		b->tally[i].lbas = 0;
	for (i = 0; i < b->nr_claim; i++) {
		const struct claim *c = &b->claim[i];

		if (c->out)
			continue;
		if (!last || last->lba != c->lba || last->zone != c->zone)
			b->tally[c->zone].lbas++;
		last = c;
	}
}

/* Block @i and all others of the same lba: it lies in @zone, or not there. */
static void place(struct rebuild *b, u32 i, u32 zone, bool there)
{
	u64 lba = b->claim[i].lba;

	while (i && b->claim[i - 1].lba == lba)
		i--;
	for (; i < b->nr_claim && b->claim[i].lba == lba; i++)
		if (there ? b->claim[i].zone != zone : b->claim[i].zone == zone)
			b->claim[i].out = true;
}

/*
 * A zone that has nothing unaccounted for holds none of the unknown blocks; one that has
 * as many as it can hold holds all of them. Each may settle others.
 */
static void settle(struct rebuild *b)
{
	bool again = true;
	u32 zone, i;

	while (again) {
		again = false;
		count_claims(b);
		for (zone = 2; zone < b->lz->si.nr_zones && !again; zone++) {
			struct tally *t = &b->tally[zone];

			if (!t->known || t->done || (t->want && t->want != t->lbas))
				continue;
			t->done = true;
			for (i = 0; i < b->nr_claim; i++)
				if (!b->claim[i].out && b->claim[i].zone == zone)
					place(b, i, zone, t->want);
			again = true;
		}
	}
}

/* What is settled goes to the map. Two places of a zone for one block settle nothing. */
static int take_settled(struct rebuild *b, bool complete)
{
	u32 i, k, left;
	int err = 0;
	u64 lba;

	for (i = 0; i < b->nr_claim && !err; i = k) {
		const struct claim *one = NULL;

		left = 0;
		for (k = i; k < b->nr_claim && b->claim[k].lba == b->claim[i].lba; k++) {
			if (b->claim[k].out)
				continue;
			one = &b->claim[k];
			left++;
		}
		if (left != 1 || !b->tally[one->zone].done)
			continue;
		clear(b->unknown, one->lba);
		b->nr_unknown--;
		b->r->counted++;
		err = map_set(b, one->lba, lz_zone_addr(b->lz, one->zone, one->off));
	}
	if (!complete)
		return err;
	/* Nothing is hidden anywhere, so what nobody claims is nowhere. */
	for (i = 0, lba = 0; lba < b->lz->si.logical_blocks; lba++) {
		bool claimed = false;

		for (; i < b->nr_claim && b->claim[i].lba <= lba; i++)
			claimed |= b->claim[i].lba == lba && !b->claim[i].out;
		if (bit(b->unknown, lba) && !claimed) {
			clear(b->unknown, lba);
			b->nr_unknown--;
		}
	}
	return err;
}

static int mark_reborn(struct rebuild *b, const struct lz_jrec *r, bool certain, void *arg)
{
	(void)certain;
	(void)arg;
	if (lz_jrec_type(r) == LZ_JR_ZOPEN && lz_jrec_lba(r) < b->lz->si.nr_zones)
		b->reborn[lz_jrec_lba(r)] = 1;
	return 0;
}

/*
 * Collects what a zone's summaries say. The table is written later than the map it goes
 * with, and may speak of a later life: not if the zone was not written to meanwhile.
 * What lay in a zone that has been opened since is mapped elsewhere by the journal.
 */
static int count_zone(struct rebuild *b, u32 zone, bool *complete)
{
	const struct lz_zent *e = &b->ent[zone];
	struct tally *t = &b->tally[zone];
	int ok = 0;

	t->known = !t->want;
	if (b->reborn[zone])
		return 0;
	if (!(le16_to_cpu(e->flags) & LZ_ZF_SCAN) &&
	    le64_to_cpu(e->seq) <= le64_to_cpu(b->base->write_seq))
		ok = each_claim(b, zone, le32_to_cpu(e->head), le32_to_cpu(e->sum_seq),
				le32_to_cpu(e->gen), collect);
	t->known |= ok > 0;
	*complete &= t->known;
	return min(ok, 0);
}

static int find_by_counting(struct rebuild *b)
{
	u32 nr = b->lz->si.nr_zones, zone;
	bool complete = true;
	u64 lba, addr;
	int err;

	b->tally = lz_zalloc_array(nr, sizeof(*b->tally));
	b->reborn = lz_zalloc_array(nr, 1);
	if (!b->tally || !b->reborn)
		return -ENOMEM;
	for (zone = 0; zone < nr; zone++) {
		b->tally[zone].want = le32_to_cpu(b->ent[zone].valid);
		if (!b->ent_ok[zone / LZ_ZNODE_ENTRIES])
			return 0;
	}
	for (lba = 0; lba < b->lz->si.logical_blocks; lba++) {
		addr = map_get(b, lba);
		if (addr == LZ_NOWHERE)
			continue;
		/* Then one of the two is not what it seems, and neither is proof. */
		if (!b->tally[lz_addr_zone(b->lz, addr)].want--)
			return 0;
	}
	err = each_commit(b, &b->path, 0, mark_reborn, NULL);
	for (zone = 2; zone < nr && !err; zone++)
		err = count_zone(b, zone, &complete);
	if (err)
		return err;
	if (b->nr_claim)
		sort(b->claim, b->nr_claim, sizeof(*b->claim), cmp_claim, NULL);
	settle(b);
	return take_settled(b, complete);
}

/* Leaves that no root leads to were the newest found. Do they make the total? */
static int verify_found(struct rebuild *b)
{
	u64 sum = 0, lba, i;
	int err = 0;

	if (!b->nr_found)
		return 0;
	for (lba = 0; lba < b->lz->si.logical_blocks; lba++)
		sum += map_get(b, lba) != LZ_NOWHERE;
	if (all_accounted(b) && !b->nr_unknown && !b->ahead &&
	    sum == le64_to_cpu(b->base->mapped)) {
		for (i = 0; i < b->lz->map.n[0]; i++)
			b->r->tree += b->found[i] ? leaf_end(b, i) - i * LZ_NODE_ENTRIES : 0;
		return 0;
	}
	for (i = 0; i < b->lz->map.n[0] && !err; i++)
		if (b->found[i] && !bit(b->unknown, i * LZ_NODE_ENTRIES))
			err = set_unknown(b, i);
	return err;
}

/* --- does the drive bear it out? -------------------------------------------------- */

static int hear(struct rebuild *b, u32 zone, u32 off, u64 lba)
{
	u64 addr = lz_zone_addr(b->lz, zone, off);

	set(b->spoken, addr);
	if (map_get(b, lba) != addr)
		return 0;
	set(b->named, addr);
	if (!bit(b->twice, addr))
		return 0;
	b->own = lz_grow(b->own, &b->max_own, b->nr_own + 1, sizeof(*b->own));
	if (!b->own)
		return -ENOMEM;
	b->own[b->nr_own++] = (struct owner){ addr, lba };
	return 0;
}

static bool owns(const struct rebuild *b, u64 addr, u64 lba)
{
	u32 i;

	for (i = 0; i < b->nr_own; i++)
		if (b->own[i].addr == addr && b->own[i].lba == lba)
			return true;
	return false;
}

/* Why a block cannot lie where the map says; NULL: it may. */
static const char *refuted(const struct rebuild *b, u64 lba, u64 addr)
{
	u32 zone = lz_addr_zone(b->lz, addr), off = lz_addr_off(b->lz, addr);
	const struct lz_zone_report *rep = &b->s.rep[zone];
	bool aged = b->broken && !bit(b->certain, lba);

	if (b->s.log[zone])
		return "its place is in the metadata log";
	if (bit(b->twice, addr) && !owns(b, addr, lba))
		return "its place is another block's";
	/* What an offline zone held cannot be read, and stays an error. */
	if (rep->cond == LZ_COND_OFFLINE)
		return NULL;
	if (rep->cond == LZ_COND_EMPTY || b->lz->zone[zone].flags & LZ_ZF_LOST)
		return "its zone was reset by someone else";
	if (off >= scan_have(&b->s, zone))
		return "its place is past the zone's write pointer";
	if (bit(b->spoken, addr) && !bit(b->named, addr))
		return "its place is another block's";
	if (rep->cond == LZ_COND_OPEN && b->lz->zone[zone].need > rep->wp &&
	    !bit(b->named, addr))
		return "its zone was reset by someone else";
	if (aged && !bit(b->named, addr))
		return "the journal is damaged, and no summary says where it is";
	return NULL;
}

/* Marks what is in use, and what summaries say of it. */
static int hear_all(struct rebuild *b)
{
	u64 lba, addr;
	u32 zone;
	int ok;

	for (lba = 0; lba < b->lz->si.logical_blocks; lba++) {
		addr = map_get(b, lba);
		if (addr == LZ_NOWHERE)
			continue;
		if (bit(b->used, addr))
			set(b->twice, addr);
		set(b->used, addr);
		b->lz->zone[lz_addr_zone(b->lz, addr)].tree_valid++;
	}
	for (zone = 2; zone < b->lz->si.nr_zones; zone++) {
		struct lz_zone *z = &b->lz->zone[zone];

		if (!z->tree_valid)
			continue;
		z->tree_valid = 0;
		if (b->s.log[zone])
			continue;
		/* First all of it must be whole. */
		ok = each_claim(b, zone, z->head, z->sum_seq, z->gen, NULL);
		if (ok > 0)
			ok = each_claim(b, zone, z->head, z->sum_seq, z->gen, hear);
		if (ok < 0)
			return ok;
		if (!ok)
			z->head = LZ_NO_OFFSET;
		if (!ok || z->head == LZ_NO_OFFSET) {
			z->flags |= LZ_ZF_SCAN;
			z->sum_seq = 0;
		}
	}
	return 0;
}

/*
 * Zones that were reset though the map leads to them: by someone else; or by ourselves,
 * if there was a later root, and a damaged block stands where one could be.
 */
static int doubt_root(struct rebuild *b)
{
	u64 lba, addr;

	if (b->broken || !b->s.tail)
		return 0;
	for (lba = 0; lba < b->lz->si.logical_blocks && !b->broken; lba++) {
		addr = map_get(b, lba);
		if (addr == LZ_NOWHERE)
			continue;
		b->broken = b->s.rep[lz_addr_zone(b->lz, addr)].cond != LZ_COND_OFFLINE &&
			(lz_addr_off(b->lz, addr) >= scan_have(&b->s, lz_addr_zone(b->lz, addr)) ||
			 b->s.log[lz_addr_zone(b->lz, addr)]);
	}
	if (b->broken)
		b->certain = lz_zalloc_array(b->lz->si.logical_blocks / 8 + 1, 1);
	return b->broken && !b->certain ? -ENOMEM : 0;
}

static int judge(struct rebuild *b)
{
	struct lz *lz = b->lz;
	u64 lba, addr;
	int err = 0;

	for (lba = 0; lba < lz->si.logical_blocks && !err; lba++) {
		struct lz_zone *z;
		const char *why;

		addr = map_get(b, lba);
		if (bit(b->unknown, lba)) {
			err = lose(b, lba,
				   "its map leaf is damaged, and nothing proves where it is");
			continue;
		}
		if (addr == LZ_NOWHERE) {
			/* It may have been mapped by what is lost. */
			if (b->broken && !bit(b->certain, lba))
				err = age(b, lba);
			continue;
		}
		why = refuted(b, lba, addr);
		if (why) {
			err = lose(b, lba, why);
			if (!err)
				err = map_set(b, lba, LZ_NOWHERE);
			lz->zone[lz_addr_zone(lz, addr)].suspect = true;
			continue;
		}
		if (b->broken && !bit(b->certain, lba))
			err = age(b, lba);
		z = &lz->zone[lz_addr_zone(lz, addr)];
		z->tree_valid++;
		b->r->mapped++;
		if (!bit(b->named, addr))
			z->flags |= LZ_ZF_SCAN;
	}
	return err;
}

static void finish_zones(struct rebuild *b)
{
	struct lz *lz = b->lz;
	u32 zone, i;

	for (zone = 2; zone < lz->si.nr_zones; zone++) {
		struct lz_zone *z = &lz->zone[zone];

		/* To be found as it is now if this has to be done again. */
		z->suspect |= !z->tree_valid && b->ent[zone].valid &&
			b->s.rep[zone].cond != LZ_COND_EMPTY;
		z->suspect |= b->s.rep[zone].cond == LZ_COND_OPEN && z->need > b->s.rep[zone].wp;
		z->need = 0;
		z->life = 0;
		atomic_set(&z->valid, z->tree_valid);
		z->state = !z->tree_valid ? LZ_ZS_FREE :
			b->s.rep[zone].cond == LZ_COND_OPEN ? LZ_ZS_OPEN : LZ_ZS_FULL;
		b->r->scanned += z->tree_valid && (z->flags & LZ_ZF_SCAN);
	}
	/* Not to be reset while they may be needed again. */
	for (i = 0; i < b->s.nr; i++)
		lz->zone[lz_addr_zone(lz, b->s.b[i].addr)].live++;
}

/* --- putting it together ---------------------------------------------------------- */

static bool past_end(const struct rebuild *b, u64 addr)
{
	return possible(b, addr) &&
		lz_addr_off(b->lz, addr) >= scan_have(&b->s, lz_addr_zone(b->lz, addr));
}

/*
 * Has log zone @zone lost nodes that the newest root leads to? Someone has reset it then,
 * and what the journal said behind them is lost as well.
 */
static bool log_lost(struct rebuild *b, u32 zone)
{
	const struct lz_tree *tree[] = { &b->lz->map, &b->lz->ztab };
	bool lost = false;
	u64 idx, addr;
	u32 t, i;

	for (t = 0; t < ARRAY_SIZE(tree) && b->base; t++)
		for (idx = 0; idx < tree[t]->n[0] && !lost; idx++) {
			addr = leaf_addr(b, b->base, tree[t], idx);
			lost = lz_addr_zone(b->lz, addr) == zone && past_end(b, addr);
		}
	/* Or is it one on the way to a leaf? */
	for (i = 0; i < b->nr_hurt && !lost; i++)
		lost = lz_addr_zone(b->lz, b->hurt[i]) == zone && past_end(b, b->hurt[i]);
	return lost;
}

static u32 end_zone(const struct rebuild *b, const struct scan_block *s)
{
	return s->next == LZ_NONE ? lz_addr_zone(b->lz, s->addr) : s->next;
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
	if (p->nr && log_lost(b, end_zone(b, p->b[p->nr - 1])))
		b->sure = p->nr;
	return 0;
}

/*
 * Does the journal lead from the newest root to its end? A later node alone could also
 * be of a checkpoint whose root was lost: then it does if it ends where its zone does.
 */
static int find_journal(struct rebuild *b)
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
	} else if (scan_have(&b->s, zone) < off) {
		b->broken = true;
		b->gone = true;
		b->lz->zone[zone].suspect = true;
	} else if (later) {
		rep = &b->s.rep[p->zone];
		b->broken = later->type == LZ_BT_JOURNAL ||
			later->epoch != le64_to_cpu(r->h.epoch) || !p->off ||
			rep->cond != LZ_COND_OPEN || rep->wp != p->off;
	}
	if (!b->broken && log_lost(b, p->zone)) {
		b->broken = true;
		b->lz->zone[p->zone].suspect = true;
	}
	return b->broken ? gather_journal(b) : 0;
}

static int allocate(struct rebuild *b)
{
	u64 blocks = ((u64)b->lz->g.nr_zones << b->lz->zone_shift) / 8 + 1;
	u64 lbas = b->lz->si.logical_blocks / 8 + 1;

	b->unknown = lz_zalloc_array(lbas, 1);
	b->used = lz_zalloc_array(blocks, 1);
	b->twice = lz_zalloc_array(blocks, 1);
	b->spoken = lz_zalloc_array(blocks, 1);
	b->named = lz_zalloc_array(blocks, 1);
	b->ent = lz_zalloc_array(b->lz->g.nr_zones, sizeof(*b->ent));
	b->ent_ok = lz_zalloc_array(b->lz->ztab.n[0], 1);
	b->buf = lz_alloc_blocks(1);
	if (b->broken)
		b->certain = lz_zalloc_array(lbas, 1);
	return b->unknown && b->used && b->twice && b->spoken && b->named && b->ent &&
		b->ent_ok && b->buf && (b->certain || !b->broken) ? 0 : -ENOMEM;
}

static void take_numbers(struct rebuild *b)
{
	struct lz *lz = b->lz;
	u32 i;

	lz->epoch = b->s.epoch;
	lz->ckpt.number = b->s.ckpt;
	lz->commit.number = b->s.commit;
	lz->committed = b->s.commit;
	lz->jseq = b->s.jseq + 1;
	for (i = 0; b->base && i < LZ_NR_STATS; i++)
		lz_count_set(&lz->stat[i], le64_to_cpu(b->base->stats[i]));
	if (b->base)
		atomic64_set(&lz->write_seq, le64_to_cpu(b->base->write_seq));
	for (i = 0; i < lz->si.nr_zones; i++)
		if (atomic64_read(&lz->write_seq) < (s64)lz->zone[i].seq)
			atomic64_set(&lz->write_seq, lz->zone[i].seq);
}

/* The root zone to go on in, and whether it will do as it is. */
static void choose_root_zone(struct rebuild *b)
{
	u32 zone = b->s.nr_root ? lz_addr_zone(b->lz, b->s.root[0].addr) : !b->s.super[0];
	u8 supers = scan_supers(b->lz);
	bool late = false;
	u32 i;

	/* A zone with the only superblock is not to be reset. */
	if (!b->s.super[zone] && b->s.super[zone ^ 1])
		zone ^= 1;
	b->lz->root_zone = zone;
	b->lz->root_off = b->s.rep[zone].cond == LZ_COND_OPEN ? b->s.rep[zone].wp :
		b->lz->g.zone_cap;
	for (i = 0; i < LZ_SUPER_COPIES; i++)
		late |= b->s.super_epoch[zone][i] > b->s.epoch ||
			b->s.super_seq[zone][i] > b->s.ckpt;
	b->r->roll = (b->s.super[zone] & supers) != supers || b->s.shuffled || b->s.forged ||
		late || !b->s.nr_root;
}

int rebuild(struct lz *lz, const struct lz_zone_report *rep, struct rebuild_report *r)
{
	struct rebuild b = { .lz = lz, .r = r };
	int err;

	memset(r, 0, sizeof(*r));
	err = lz_setup(lz);
	if (!err)
		err = scan_drive(&b.s, lz, rep);
	if (err)
		goto out;
	if (!b.s.nr_root && !b.s.nr) {
		lz_say(lz, 'e', "none of its metadata is whole");
		err = -EUCLEAN;
		goto out;
	}
	b.base = b.s.nr_root ? b.s.root[0].r : NULL;
	err = find_journal(&b);
	if (!err)
		err = allocate(&b);
	if (!err)
		err = read_zones(&b);
	if (!err)
		err = read_map(&b);
	if (!err && !b.broken)
		err = verify_found(&b);
	if (!err && !b.broken && !b.ahead && b.nr_unknown)
		err = find_by_counting(&b);
	if (!err)
		err = each_commit(&b, &b.path, b.broken ? b.sure : 0, apply, NULL);
	if (!err)
		err = hear_all(&b);
	if (!err)
		err = doubt_root(&b);
	if (!err)
		err = judge(&b);
	if (!err) {
		finish_zones(&b);
		take_numbers(&b);
		choose_root_zone(&b);
	}
out:
	scan_free(&b.s);
	lz_free(b.path.b);
	lz_free(b.hurt);
	lz_free(b.newest);
	lz_free(b.found);
	lz_free(b.unknown);
	lz_free(b.certain);
	lz_free(b.ent);
	lz_free(b.ent_ok);
	lz_free(b.used);
	lz_free(b.twice);
	lz_free(b.spoken);
	lz_free(b.named);
	lz_free(b.own);
	lz_free(b.claim);
	lz_free(b.tally);
	lz_free(b.reborn);
	lz_free_blocks(b.buf);
	return err;
}
