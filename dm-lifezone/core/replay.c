// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replaying the journal on top of a checkpoint.
 *
 * From where the root says, zone by zone along the links, block by block: a
 * journal block must be the next in number and of the root's epoch, nodes in
 * between are passed over, anything else is the end. A commit's records are
 * applied only once its last block is there: zones first, then discards, then
 * mappings, then summaries. Nothing is written.
 *
 * The leaves a commit touches are read before it is applied. What it replaced in
 * those that did not all fit into RAM is looked up in the end, so that the valid
 * counts are exact then. A leaf that cannot be read says so. What it mapped stays counted, and
 * all else can still be read; but with counts that may be too high nothing is written.
 */
#include "lz.h"

#define READ_BLOCKS	64u
static_assert(READ_BLOCKS <= LZ_CMD_BLOCKS, "read at once");

/* lz_grow - an array with room for @need entries of @size; frees @old on failure. */
void *lz_grow(void *old, u32 *max, u32 need, size_t size)
{
	u32 n = max_t(u32, 256, *max);
	void *p;

	if (old && need <= *max)
		return old;
	while (n < need && n < 1u << 31)
		n *= 2;
	p = n < need ? NULL : lz_zalloc_array(n, size);
	if (p && old)
		memcpy(p, old, *max * size);
	lz_free(old);
	*max = p ? n : 0;
	return p;
}

void lz_replay_free(struct lz_replay *r)
{
	lz_free(r->name);
	lz_free(r->sum);
}

static int bad_record(struct lz *lz, const struct lz_jrec *rec, const char *what)
{
	lz_say(lz, 'e', "journal: record of type %u for %llu: %s", lz_jrec_type(rec),
	       (unsigned long long)lz_jrec_lba(rec), what);
	return -EUCLEAN;
}

/* Is there room for the entries of blocks [lba, lba + n)? Those that are there need none. */
static bool replay_fits(struct lz *lz, u64 lba, u32 n)
{
	u32 left = 2 * lz->delta_cap - atomic_read(&lz->active->used), need = n;

	for (; need > left && n; lba++, n--)
		need -= lz_map_has_entry(lz, lba);
	return need <= left;
}

/* Does the map lead to a block of @m? */
static bool is_mapped(struct lz *lz, const struct lz_name *m)
{
	u32 i;

	for (i = 0; i < m->len; i++)
		if (lz_map_get(lz, m->lba + i) == m->addr + i)
			return true;
	return false;
}

/*
 * Of blocks written over and over a journal may name any number; of those in use it can
 * name no more than a delta holds. The others are forgotten now and then.
 */
static void tidy_names(struct lz *lz, struct lz_replay *r)
{
	u32 i, n = 0;

	for (i = 0; i < r->nr_name; i++) {
		const struct lz_name *m = &r->name[i];

		if (m->life == lz->zone[lz_addr_zone(lz, m->addr)].life && is_mapped(lz, m))
			r->name[n++] = *m;
	}
	r->nr_name = n;
	r->tidy_at = max(4 * lz->delta_cap, 2 * n);
}

static int replay_map(struct lz *lz, const struct lz_jrec *rec, struct lz_replay *r)
{
	u64 lba = lz_jrec_lba(rec), addr = lz_jrec_b(rec);
	u32 len = lz_jrec_len(rec), zone = lz_addr_zone(lz, addr), off = lz_addr_off(lz, addr);
	struct lz_zone *z;

	if (lba + len > lz->si.logical_blocks || zone < 2 || zone >= lz->si.nr_zones ||
	    off + len > lz->g.zone_cap)
		return bad_record(lz, rec, "past the device or the drive");
	if (!replay_fits(lz, lba, len))
		return bad_record(lz, rec, "more updates than a journal may hold");
	z = &lz->zone[zone];
	if (r->nr_name >= r->tidy_at)
		tidy_names(lz, r);
	r->name = lz_grow(r->name, &r->max_name, r->nr_name + 1, sizeof(*r->name));
	if (!r->name)
		return -ENOMEM;
	r->name[r->nr_name++] = (struct lz_name){ addr, lba, len, { z->life } };
	z->need = max(z->need, off + len);
	/* Ages go on from where the root left them. */
	z->seq = atomic64_add_return(len, &lz->write_seq);
	atomic_add(len, &z->valid);
	lz_map_insert(lz, lba, addr, len);
	return 0;
}

static int replay_discard(struct lz *lz, const struct lz_jrec *rec)
{
	u64 lba = lz_jrec_lba(rec), n = lz_jrec_b(rec);

	if (n > lz->si.logical_blocks || lba > lz->si.logical_blocks - n)
		return bad_record(lz, rec, "past the device");
	if (n >= LZ_EXTENT_MIN) {
		if (!lz_map_discard_replay(lz, lba, n))
			return bad_record(lz, rec, "more discards than a journal may hold");
		return 0;
	}
	if (!replay_fits(lz, lba, n))
		return bad_record(lz, rec, "more updates than a journal may hold");
	lz_map_insert(lz, lba, LZ_NOWHERE, n);
	return 0;
}

/* lz_jrec_odd - what cannot be in @rec, a record about a zone. NULL: nothing. */
const char *lz_jrec_odd(const struct lz *lz, const struct lz_jrec *rec)
{
	u64 zone = lz_jrec_lba(rec), off = (u32)lz_jrec_b(rec);

	if (zone < 2 || zone >= lz->si.nr_zones)
		return "no such zone";
	if (lz_jrec_type(rec) == LZ_JR_ZSUM &&
	    (lz_jrec_len(rec) > LZ_SUM_BLOCKS || off + lz_jrec_len(rec) > lz->g.zone_cap))
		return "no such summary";
	return NULL;
}

/* lz_jrec_to_zone - @z as it is after what journal record @rec says of it. */
void lz_jrec_to_zone(struct lz_zone *z, const struct lz_jrec *rec)
{
	u64 b = lz_jrec_b(rec);

	switch (lz_jrec_type(rec)) {
	case LZ_JR_ZOPEN:
		/*
		 * The zone table may be younger than the journal's first records: what
		 * they say of a life before must not be taken for this one's.
		 */
		z->life++;
		z->state = LZ_ZS_OPEN;
		z->class = lz_jrec_len(rec);
		z->gen = b;
		z->flags = b >> 32;
		z->head = LZ_NO_OFFSET;
		z->sum_seq = 0;
		z->need = 0;
		break;
	case LZ_JR_ZSUM:
		/* The zone table may know a later one. */
		if (z->head == LZ_NO_OFFSET || b >> 32 > z->sum_seq ||
		    lz_planted(LZ_PLANT_SUMMARY_OLDER)) {
			z->head = b;
			z->sum_seq = b >> 32;
		}
		z->need = max(z->need, (u32)b + lz_jrec_len(rec));
		break;
	case LZ_JR_ZBAD:
		/* It may have been reset since, and opened again. */
		if (z->state == LZ_ZS_FREE || z->state == LZ_ZS_META ||
		    (b && b != (z->gen | LZ_ZBAD_GEN)))
			break;
		z->flags |= LZ_ZF_BAD | LZ_ZF_SCAN;
		break;
	}
}

static int replay_zone(struct lz *lz, const struct lz_jrec *rec, struct lz_replay *r)
{
	u64 zone = lz_jrec_lba(rec), b = lz_jrec_b(rec);
	const char *odd = lz_jrec_odd(lz, rec);
	struct lz_zone *z;

	if (odd)
		return bad_record(lz, rec, odd);
	z = &lz->zone[zone];
	/* Nodes of this checkpoint lie in it: data left it before they came. */
	if (z->live)
		return 0;
	if (lz_jrec_type(rec) == LZ_JR_ZOPEN && z->state == LZ_ZS_META)
		return bad_record(lz, rec, "the metadata log is in it");
	if (lz_jrec_type(rec) == LZ_JR_ZSUM) {
		r->sum = lz_grow(r->sum, &r->max_sum, r->nr_sum + 1, sizeof(*r->sum));
		if (!r->sum)
			return -ENOMEM;
		r->sum[r->nr_sum++] = (struct lz_sumrec){
			zone, b, lz_jrec_len(rec), { z->life },
		};
	}
	lz_jrec_to_zone(z, rec);
	if (lz_jrec_type(rec) == LZ_JR_ZOPEN)
		z->seq = atomic64_read(&lz->write_seq);
	lz_zone_touch(lz, z);
	return 0;
}

/* Has the leaves of blocks [lba, lba + n) read, as many at a time as fit. */
static void want_leaves(struct lz *lz, u64 lba, u64 n)
{
	u64 leaf = div_u64(lba, LZ_NODE_ENTRIES), last = div_u64(lba + n - 1, LZ_NODE_ENTRIES);
	int err;

	for (; leaf <= last; leaf++) {
		if (lz->map.addr[0][leaf] == LZ_NOWHERE || lz_leaf_get(lz, leaf, &err) || err)
			continue;
		if (!lz->leaf[leaf] || lz->cmds >= LZ_MERGE_WINDOW)
			lz_sync(lz);
	}
}

static void prefetch_leaves(struct lz *lz, const struct lz_jrec *rec, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		u64 lba = lz_jrec_lba(&rec[i]);
		u32 len = lz_jrec_type(&rec[i]) == LZ_JR_MAP ? lz_jrec_len(&rec[i]) : 0;

		if (lz_jrec_type(&rec[i]) == LZ_JR_DISCARD && lz_jrec_b(&rec[i]) < LZ_EXTENT_MIN)
			len = lz_jrec_b(&rec[i]);
		if (!len || lba + len > lz->si.logical_blocks)
			continue;
		/* What the delta has already replaces no block of a leaf. */
		for (; len && lz_map_has_entry(lz, lba); len--)
			lba++;
		if (len)
			want_leaves(lz, lba, len);
	}
	lz_sync(lz);
}

/* Does the delta replace uncounted blocks of @leaf? @ext: of its extents the first that may. */
static bool is_due(const struct lz *lz, u64 leaf, u32 *ext)
{
	const struct lz_delta *d = lz->active;
	u32 i;

	if (lz->map.addr[0][leaf] == LZ_NOWHERE)
		return false;
	if (lz_ext_touches(d, ext, leaf))
		return true;
	for (i = lz->ckpt.head[leaf]; i != LZ_NONE; i = d->e[i].unc)
		if (!(d->e[i].key & LZ_DENT_SETTLED))
			return true;
	return false;
}

/* Counts off what the delta replaces in @leaf. An entry beats an extent. -ENOMEM, -EIO. */
static int settle_leaf(struct lz *lz, u64 leaf, u32 ext)
{
	u64 first = leaf * LZ_NODE_ENTRIES, end = first + LZ_NODE_ENTRIES, old;
	u64 touched[DIV_ROUND_UP(LZ_NODE_ENTRIES, 64)] = {};
	struct lz_delta *d = lz->active;
	struct lz_cached *c;
	u32 i, j;
	int err;

	/* It may have had to make room for another since it was read. */
	want_leaves(lz, first, 1);
	lz_sync(lz);
	c = lz_leaf_get(lz, leaf, &err);
	if (!c)
		return err ?: -ENOMEM;
	for (i = lz->ckpt.head[leaf]; i != LZ_NONE; i = d->e[i].unc) {
		struct lz_dent *e = &d->e[i];

		j = (e->key & LZ_ADDR_MASK) - first;
		touched[j / 64] |= 1ull << (j % 64);
		old = le64_to_cpu(c->node->e[j]);
		if (!(e->key & LZ_DENT_SETTLED) && old != LZ_NOWHERE)
			lz_valid_sub(lz, old, false);
		e->key |= LZ_DENT_SETTLED;
	}
	for (; ext < d->nr_ext && d->ext[ext].lba < end; ext++) {
		u64 lba = max(d->ext[ext].lba, first);

		for (; lba < min(d->ext[ext].lba + d->ext[ext].len, end); lba++) {
			j = lba - first;
			old = le64_to_cpu(c->node->e[j]);
			if (old != LZ_NOWHERE && !(touched[j / 64] >> (j % 64) & 1))
				lz_valid_sub(lz, old, false);
		}
	}
	return 0;
}

/*
 * Counts off what was replaced in leaves that were not in RAM, and what the discarded
 * extents cover: leaf by leaf, as many read at a time as fit. @ro: but for those that cannot be
 * read.
 */
static int settle(struct lz *lz, bool ro)
{
	struct { u64 leaf; u32 ext; } todo[LZ_MERGE_WINDOW];
	u32 nr = 0, ext = 0, i;
	u64 leaf;
	int err = 0;

	lz_ckpt_chain(lz, lz->active);
	for (leaf = 0; leaf < lz->map.n[0] && !err; leaf++) {
		if (is_due(lz, leaf, &ext)) {
			todo[nr].leaf = leaf;
			todo[nr++].ext = ext;
			want_leaves(lz, leaf * LZ_NODE_ENTRIES, 1);
		}
		if (nr < LZ_MERGE_WINDOW && leaf + 1 < lz->map.n[0])
			continue;
		lz_sync(lz);
		for (i = 0; i < nr && !err; i++) {
			err = settle_leaf(lz, todo[i].leaf, todo[i].ext);
			if (err == -EIO && ro)
				err = 0;
		}
		nr = 0;
		cond_resched();
	}
	for (leaf = 0; leaf < lz->map.n[0]; leaf++)
		lz->ckpt.head[leaf] = LZ_NONE;
	return err;
}

const u8 lz_jrec_order[LZ_JREC_TYPES] = {
	LZ_JR_ZOPEN, LZ_JR_ZBAD, LZ_JR_DISCARD, LZ_JR_MAP, LZ_JR_ZSUM,
};

static int apply(struct lz *lz, const struct lz_jrec *rec, u32 n, struct lz_replay *r)
{
	u32 i, k;
	int err;

	prefetch_leaves(lz, rec, n);
	for (k = 0; k < LZ_JREC_TYPES; k++) {
		for (i = 0; i < n; i++) {
			if (lz_jrec_type(&rec[i]) != lz_jrec_order[k])
				continue;
			if (lz_jrec_order[k] == LZ_JR_MAP)
				err = replay_map(lz, &rec[i], r);
			else if (lz_jrec_order[k] == LZ_JR_DISCARD)
				err = replay_discard(lz, &rec[i]);
			else
				err = replay_zone(lz, &rec[i], r);
			if (err)
				return err;
		}
	}
	r->commits++;
	return 0;
}

struct walk {
	u32 zone;
	u32 off;
	u64 seq;		/* wanted next */
	u64 epoch;
	struct lz_jrec *rec;	/* of the commit being gathered */
	u32 nr_rec;
	u32 max_rec;
	u64 first;
};

/* One block. 1: go on, 0: the journal ends here. */
static int walk_block(struct lz *lz, struct walk *k, const void *block, struct lz_replay *r)
{
	const struct lz_journal *j = block;
	struct lz_want w = {
		.uuid = lz->si.uuid, .type = le16_to_cpu(j->h.type),
		.level = le16_to_cpu(j->h.level), .addr = lz_zone_addr(lz, k->zone, k->off),
		.index = ~0ull,
	};
	u32 n, next;
	int err;

	if (w.type == LZ_BT_NODE || w.type == LZ_BT_ZNODE) {
		if (!lz_valid(block, &w, NULL, 0))
			return 0;
		k->off++;
		return 1;
	}
	w.type = LZ_BT_JOURNAL;
	w.level = 0;
	w.epoch = k->epoch;
	w.seq = k->seq;
	if (!lz_valid(block, &w, NULL, 0))
		return 0;
	lz->zone[k->zone].jlast = k->seq++;
	next = le32_to_cpu(j->next_zone);
	if (next != LZ_NONE) {
		if (next < 2 || next >= lz->si.nr_zones) {
			lz_say(lz, 'e', "journal: link to zone %u, which is none", next);
			return -EUCLEAN;
		}
		k->zone = next;
		k->off = 0;
		lz->zone[next].state = LZ_ZS_META;
		return 1;
	}
	k->off++;
	if (k->nr_rec && le64_to_cpu(j->first) != k->first)
		k->nr_rec = 0;
	k->first = le64_to_cpu(j->first);
	n = le32_to_cpu(j->h.count);
	/* All there is to record at a time; or what is gathered could be endless. */
	if (k->nr_rec + n > 2 * lz->delta_cap + LZ_EXTENTS + LZ_ZRECS) {
		lz_say(lz, 'e', "journal: zone %u, offset %u: a commit of more than %u records",
		       k->zone, k->off - 1, k->nr_rec);
		return -EUCLEAN;
	}
	k->rec = lz_grow(k->rec, &k->max_rec, k->nr_rec + n, sizeof(*k->rec));
	if (!k->rec)
		return -ENOMEM;
	memcpy(k->rec + k->nr_rec, j->r, n * sizeof(*k->rec));
	k->nr_rec += n;
	if (le32_to_cpu(j->more) && !lz_planted(LZ_PLANT_COMMIT_RECORD_IGNORED))
		return 1;
	err = apply(lz, k->rec, k->nr_rec, r);
	lz->commit.number = le64_to_cpu(j->h.index);
	lz->committed = lz->commit.number;
	k->nr_rec = 0;
	return err ? err : 1;
}

/*
 * What of the journal stands behind @k, from @off of @zone on: -EUCLEAN, once it has been said, if
 * a commit ends there; else 0, and in @next the zone a link leads to.
 */
static int check_behind(struct lz *lz, const struct walk *k, u32 zone, u32 off, u32 have, u8 *buf,
			u32 *next)
{
	struct lz_want w = {
		.uuid = lz->si.uuid, .type = LZ_BT_JOURNAL, .epoch = k->epoch, .index = ~0ull,
	};
	bool together;
	u32 i, n;

	for (; off < have; off += n) {
		n = min3_u32(have - off, READ_BLOCKS, lz->append_max);
		together = !lz_read_sync(lz, lz_zone_addr(lz, zone, off), n, buf);
		for (i = 0; i < n; i++) {
			struct lz_journal *j = (void *)(buf + (size_t)i * LZ_BLOCK_SIZE);
			u32 link;

			w.addr = lz_zone_addr(lz, zone, off + i);
			/* One that cannot be read is not to hide the others. */
			if (!together && lz_read_sync(lz, w.addr, 1, j))
				continue;
			if (!lz_valid(j, &w, NULL, 0) || le64_to_cpu(j->first) <= k->seq)
				continue;
			link = le32_to_cpu(j->next_zone);
			if (link != LZ_NONE)
				*next = link;
			if (link != LZ_NONE || le32_to_cpu(j->more))
				continue;
			lz_say(lz, 'e',
			       "journal: zone %u, offset %u is damaged: commit %llu ends after it, at zone %u, offset %u",
			       k->zone, k->off, (unsigned long long)le64_to_cpu(j->h.index),
			       zone, off + i);
			return -EUCLEAN;
		}
	}
	return 0;
}

/*
 * What stands at @k is no block of the journal, and the journal may end there.
 * But a commit is ended only after all those before it: if the end of one that
 * begins behind @k is there, in its zone or one that links lead to, one that was answered is
 * damaged. Of one commit the end may be there and not what is before it, if both were in one write.
 */
static int check_end(struct lz *lz, const struct walk *k, const struct lz_zone_report *rep,
		     u8 *buf)
{
	u32 zone = k->zone, off = k->off + 1, next, n;
	int err = 0;

	/* Whoever made the links may have made a circle. */
	for (n = 0; n < lz->g.nr_zones && zone >= 2 && zone < lz->g.nr_zones && !err; n++) {
		next = LZ_NONE;
		err = check_behind(lz, k, zone, off, lz_zone_written(lz, &rep[zone]), buf, &next);
		zone = next;
		off = 0;
	}
	return err;
}

/* What was said of each zone in the life it has now, zone by zone and in order. */
static void chain(struct lz *lz, struct lz_replay *r)
{
	u32 i;

	for (i = 0; i < lz->g.nr_zones; i++) {
		lz->zone[i].names = LZ_NONE;
		lz->zone[i].sums = LZ_NONE;
	}
	for (i = r->nr_name; i--; ) {
		struct lz_zone *z = &lz->zone[lz_addr_zone(lz, r->name[i].addr)];

		if (r->name[i].life != z->life)
			continue;
		r->name[i].next = z->names;
		z->names = i;
	}
	for (i = r->nr_sum; i--; ) {
		struct lz_zone *z = &lz->zone[r->sum[i].zone];

		if (r->sum[i].life != z->life)
			continue;
		r->sum[i].next = z->sums;
		z->sums = i;
	}
}

/* lz_replay - applies the journal; leaves js where it ended. */
int lz_replay(struct lz *lz, struct lz_load *l, const struct lz_root *root)
{
	const struct lz_zone_report *rep = l->rep;
	u64 addr = le64_to_cpu(root->journal_addr);
	struct walk k = {
		.zone = lz_addr_zone(lz, addr), .off = lz_addr_off(lz, addr),
		.seq = le64_to_cpu(root->journal_seq), .epoch = le64_to_cpu(root->h.epoch),
	};
	u8 *buf = lz_alloc_blocks(min(READ_BLOCKS, lz->append_max));
	bool linked = false;
	u32 have, i, zone;
	int err = 1;

	l->r.tidy_at = 4 * lz->delta_cap;
	if (!buf)
		return -ENOMEM;
	if (k.zone < 2 || k.zone >= lz->si.nr_zones) {
		lz_say(lz, 'e', "root: the journal begins at block %llu, past the drive",
		       (unsigned long long)addr);
		lz_free_blocks(buf);
		return -EUCLEAN;
	}
	lz->zone[k.zone].state = LZ_ZS_META;
	while (err > 0) {
		zone = k.zone;
		/* It counts as empty, but commits that were answered may be in it. */
		if (rep[zone].cond == LZ_COND_OFFLINE) {
			lz_say(lz, 'e', "journal: zone %u is offline: what it says is lost", zone);
			err = -EIO;
			break;
		}
		have = lz_zone_written(lz, &rep[zone]);
		if (!linked && have < k.off) {
			lz_say(lz, 'e',
			       "root: the journal goes on at zone %u, offset %u, but the zone's write pointer is %u: was it reset, or is a newer root damaged?",
			       zone, k.off, have);
			err = -EUCLEAN;
			break;
		}
		if (k.off >= have)
			break;
		have = min(have - k.off, min(READ_BLOCKS, lz->append_max));
		if (lz_read_sync(lz, lz_zone_addr(lz, zone, k.off), have, buf)) {
			lz_say(lz, 'e', "journal: zone %u, offset %u cannot be read", zone, k.off);
			err = -EIO;
			break;
		}
		for (i = 0; i < have && err > 0 && zone == k.zone; i++)
			err = walk_block(lz, &k, buf + (size_t)i * LZ_BLOCK_SIZE, &l->r);
		/* Links cannot run in a circle: numbers only rise. */
		linked |= zone != k.zone;
	}
	if (!err && !lz_planted(LZ_PLANT_JOURNAL_END_UNCHECKED))
		err = check_end(lz, &k, rep, buf);
	lz->js->zone = k.zone;
	lz->jseq = k.seq;
	lz_free(k.rec);
	lz_free_blocks(buf);
	if (err >= 0)
		err = settle(lz, l->ro);
	if (!err)
		chain(lz, &l->r);
	return err;
}
