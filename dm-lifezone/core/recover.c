// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading a device, after an orderly stop or a power cut alike.
 *
 * Newest root, trees, zone table, journal: all read, nothing written. Then the
 * zones are brought in line with what the drive reports: what metadata does not
 * know is reset before anything is opened, what it knows is adopted at the
 * drive's write pointer or closed. Last a fresh checkpoint in a new epoch; only
 * when its root is durable are users let in. A cut anywhere before that leaves
 * the old root and its journal as they were, and the next load does the same.
 *
 * Blocks the drive has lost though metadata points to them (a zone reset behind
 * our back) are damage, and the device is refused. Replay settles every count it
 * touches, so a zone that counts as empty is, and what the drive says of it does
 * not matter.
 */
#include "lz.h"

static int setup(struct lz *lz)
{
	u64 leaves = DIV_ROUND_UP(lz->si.logical_blocks, (u64)LZ_NODE_ENTRIES);
	u32 streams;
	int err;

	/* The drive may be larger than what was formatted; its rest is not used. */
	lz->g.nr_zones = lz->si.nr_zones;
	lz->g.zone_cap = lz->si.zone_cap;
	lz->budget = lz_budget(&lz->g, lz->o.max_open);
	if (lz->budget < LZ_MAX_OPEN_MIN) {
		lz_say(lz, 'e', "%u open zones allowed: at least %u are needed", lz->budget,
		       LZ_MAX_OPEN_MIN);
		return -EINVAL;
	}
	if (lz->append_max < 2) {
		lz_say(lz, 'e', "the drive takes %u blocks a command: at least 2 are needed",
		       lz->append_max);
		return -EINVAL;
	}
	streams = lz->budget >= 6 ? 2 : 1;
	lz->data_slots = lz->budget - 1 - streams;
	lz->js = &lz->stream[0];
	lz->ns = &lz->stream[streams - 1];
	lz->js->journal = true;
	lz->stream[0].zone = LZ_NONE;
	lz->stream[1].zone = LZ_NONE;
	lz->stream[0].bad = LZ_NONE;
	lz->stream[1].bad = LZ_NONE;
	err = lz_tree_init(&lz->map, LZ_BT_NODE, leaves, LZ_ROOT_MAP_TOP);
	if (!err)
		err = lz_tree_init(&lz->ztab, LZ_BT_ZNODE,
				   DIV_ROUND_UP(lz->g.nr_zones, LZ_ZNODE_ENTRIES),
				   LZ_ROOT_ZTAB_TOP);
	if (!err)
		err = lz_zones_init(lz);
	if (!err)
		err = lz_map_init(lz);
	if (!err)
		err = lz_leaf_init(lz);
	if (!err)
		err = lz_ckpt_init(lz);
	if (!err)
		err = lz_nodes_init(lz);
	if (!err)
		err = lz_gc_init(lz);
	if (err)
		return err;
	/* Every piece may end with a link, the shortest being one block. */
	lz->jbuf.buf = lz_alloc_blocks(2 * LZ_LOG_BLOCKS + 1);
	return lz->jbuf.buf ? 0 : -ENOMEM;
}

static void free_zone_add(struct lz *lz, struct lz_zone *z)
{
	z->state = LZ_ZS_FREE;
	z->resv = 0;
	z->done = 0;
	z->head = LZ_NO_OFFSET;
	z->sum_seq = 0;
	z->flags = lz_zone_worn(z->flags);
	atomic_set(&z->valid, 0);
	list_add_tail(&z->list, &lz->free_list);
	z->listed = true;
	lz->nr_free++;
}

/* The checkpoint that makes a device usable. */
static void loaded_waiter(struct lz_waiter *w, int err)
{
	w->arg = err ? 2 : 1;
}

static int first_checkpoint(struct lz *lz)
{
	struct lz_waiter w = { .fn = loaded_waiter };
	u64 i;

	for (i = 0; i < lz->ztab.n[0]; i++)
		lz->ztab.dirty[0][i] = 1;
	lz->loading = true;
	lz->loaded = true;
	lz_request_checkpoint(lz, &w);
	while (!w.arg) {
		lz_run(lz);
		if (w.arg)
			break;
		if (!lz->cmds) {
			lz_say(lz, 'e',
			       "no room to write a checkpoint: %u free zones, %u of metadata",
			       lz->nr_free, lz->nr_meta);
			return -ENOSPC;
		}
		lz->ops->wait(lz->ctx);
	}
	lz_sync(lz);
	lz->loading = false;
	return w.arg == 1 && lz->mode == LZ_MODE_RW ? 0 : -EIO;
}

/* The journal needs a place before the cut can name it. */
static int open_journal(struct lz *lz)
{
	if (lz_stream_open(lz, lz->js))
		return 0;
	lz_say(lz, 'e', "no free zone for the journal");
	return -ENOSPC;
}

/* lz_load_empty - write the first checkpoint of a drive whose zones are all empty. */
int lz_load_empty(struct lz *lz, const struct lz_super_info *si)
{
	int err;
	u32 i;

	lz->si = *si;
	err = setup(lz);
	if (err)
		return err;
	lz->epoch = 1;
	lz->jseq = 1;
	for (i = 0; i < lz->g.nr_zones; i++) {
		if (i < 2)
			lz->zone[i].state = LZ_ZS_ROOT;
		else
			free_zone_add(lz, &lz->zone[i]);
	}
	lz->ckpt.clean = true;
	err = open_journal(lz);
	return err ? err : first_checkpoint(lz);
}

/* Reads a node of @t and passes its block to @take. */
static int read_node(struct lz *lz, struct lz_tree *t, u32 level, u64 idx, void *buf)
{
	struct lz_want w = {
		.uuid = lz->si.uuid, .type = t->type, .level = level,
		.addr = t->addr[level][idx], .index = idx, .epoch_max = lz->epoch,
	};
	char why[160];
	int err;

	if (lz_addr_zone(lz, w.addr) < 2 || lz_addr_zone(lz, w.addr) >= lz->si.nr_zones) {
		lz_say(lz, 'e', "metadata node %u.%llu: block %llu is past the drive", level,
		       (unsigned long long)idx, (unsigned long long)w.addr);
		return -EUCLEAN;
	}
	err = lz_read_sync(lz, w.addr, 1, buf);
	if (err) {
		lz_say(lz, 'e', "metadata block %llu cannot be read: error %d",
		       (unsigned long long)w.addr, err);
		return err;
	}
	if (!lz_valid(buf, &w, why, sizeof(why))) {
		lz_say(lz, 'e', "metadata: %s", why);
		return -EUCLEAN;
	}
	return 0;
}

/* Fills the address arrays from the root down. */
static int load_tree(struct lz *lz, struct lz_tree *t, const __le64 *top, void *buf)
{
	const struct lz_node *n = buf;
	u32 l = t->levels - 1;
	u64 i, j;
	int err;

	for (i = 0; i < t->n[l]; i++)
		t->addr[l][i] = le64_to_cpu(top[i]);
	for (; l; l--) {
		for (i = 0; i < t->n[l]; i++) {
			if (t->addr[l][i] == LZ_NOWHERE)
				continue;
			err = read_node(lz, t, l, i, buf);
			if (err)
				return err;
			for (j = 0; j < LZ_NODE_ENTRIES; j++) {
				u64 k = i * LZ_NODE_ENTRIES + j;

				if (k < t->n[l - 1])
					t->addr[l - 1][k] = le64_to_cpu(n->e[j]);
			}
		}
	}
	return 0;
}

static int decode_zone(struct lz *lz, struct lz_zone *z, const struct lz_zent *e)
{
	if (le32_to_cpu(e->valid) > lz->g.zone_cap ||
	    (le32_to_cpu(e->head) != LZ_NO_OFFSET && le32_to_cpu(e->head) >= lz->g.zone_cap)) {
		lz_say(lz, 'e',
		       "zone table: zone %u: %u blocks in use, newest summary at offset %u: past its capacity of %u",
		       lz_zone_nr(lz, z), le32_to_cpu(e->valid), le32_to_cpu(e->head),
		       lz->g.zone_cap);
		return -EUCLEAN;
	}
	z->gen = le32_to_cpu(e->gen);
	z->state = e->state;
	z->class = e->class;
	z->flags = le16_to_cpu(e->flags);
	z->tree_valid = le32_to_cpu(e->valid);
	z->head = le32_to_cpu(e->head);
	z->sum_seq = le32_to_cpu(e->sum_seq);
	z->seq = le64_to_cpu(e->seq);
	atomic_set(&z->valid, z->tree_valid);
	/* Whether a zone is the log's follows from what lies in it. */
	if (z->state == LZ_ZS_META || z->state == LZ_ZS_ROOT)
		z->state = LZ_ZS_FREE;
	if (z->head != LZ_NO_OFFSET)
		z->need = z->head + 1;
	if ((u64)atomic64_read(&lz->write_seq) < z->seq)
		atomic64_set(&lz->write_seq, z->seq);
	return 0;
}

static int load_zones(struct lz *lz, void *buf)
{
	const struct lz_znode *n = buf;
	u32 j, count;
	u64 i;
	int err;

	for (i = 0; i < lz->ztab.n[0]; i++) {
		if (lz->ztab.addr[0][i] == LZ_NOWHERE)
			continue;
		err = read_node(lz, &lz->ztab, 0, i, buf);
		if (err)
			return err;
		/* Only entries that count have been checked. */
		count = min_t(u32, LZ_ZNODE_ENTRIES, lz->g.nr_zones - i * LZ_ZNODE_ENTRIES);
		if (le32_to_cpu(n->h.count) != count) {
			lz_say(lz, 'e', "zone table leaf %llu: %u entries, wanted %u",
			       (unsigned long long)i, le32_to_cpu(n->h.count), count);
			return -EUCLEAN;
		}
		for (j = 0; j < count; j++) {
			err = decode_zone(lz, &lz->zone[i * LZ_ZNODE_ENTRIES + j], &n->e[j]);
			if (err)
				return err;
		}
	}
	return 0;
}

static int count_live(struct lz *lz, struct lz_tree *t)
{
	u32 l, zone;
	u64 i;

	for (l = 0; l < t->levels; l++) {
		for (i = 0; i < t->n[l]; i++) {
			if (t->addr[l][i] == LZ_NOWHERE)
				continue;
			zone = lz_addr_zone(lz, t->addr[l][i]);
			if (zone < 2 || zone >= lz->g.nr_zones) {
				lz_say(lz, 'e',
				       "metadata node %u.%llu lies in zone %u, which is none",
				       l, (unsigned long long)i, zone);
				return -EUCLEAN;
			}
			lz->zone[zone].state = LZ_ZS_META;
			lz->zone[zone].live++;
		}
	}
	return 0;
}

/* What replay marked as unjournalled is in the journal already. */
static void replay_settle(struct lz *lz)
{
	u32 n = atomic_read(&lz->active->used), i;

	for (i = 0; i < n; i++)
		lz->active->e[i].key &= ~LZ_DENT_UNC;
	for (i = 0; i < LZ_NR_SHARDS; i++)
		lz->shard[i].unc = LZ_NONE;
	atomic_set(&lz->uncommitted, 0);
	atomic_set(&lz->delta_space, (int)lz->delta_cap - (int)n);
}

/* Blocks of @zone that a summary written since the checkpoint names. */
static int mark_named(struct lz *lz, const struct lz_replay *r, u32 zone, u8 *named, void *buf)
{
	const struct lz_summary *s = buf;
	u32 i, j, k;

	for (i = 0; i < r->nr_sum; i++) {
		const struct lz_sumrec *m = &r->sum[i];

		if (m->zone != zone || m->life != lz->zone[zone].life)
			continue;
		for (k = 0; k < m->n; k++) {
			struct lz_want w = {
				.uuid = lz->si.uuid, .type = LZ_BT_SUMMARY, .addr = LZ_NO_ADDR,
				.index = zone, .epoch_max = lz->epoch,
			};
			char why[160] = "cannot be read";

			if (lz_read_sync(lz, lz_zone_addr(lz, zone, m->off + k), 1, buf) ||
			    !lz_valid(buf, &w, why, sizeof(why))) {
				lz_say(lz, 'w', "zone %u, summary at offset %u: %s", zone,
				       m->off + k, why);
				return -EIO;
			}
			for (j = 0; j < le32_to_cpu(s->h.count); j++) {
				u32 off = lz_sum_offset(le64_to_cpu(s->e[j]));

				if (off < lz->g.zone_cap)
					named[off] = 1;
			}
		}
	}
	return 0;
}

/*
 * Brings back the list of blocks of @zone that no summary names, in the slot's
 * ring. False if they do not fit there, or are not known.
 */
static bool restore_ring(struct lz *lz, const struct lz_replay *r, u32 zone,
			 struct lz_open *o, u8 *named, void *buf, u32 *left)
{
	struct lz_zone *z = &lz->zone[zone];
	u32 i, j;

	*left = 0;
	memset(named, 0, lz->g.zone_cap);
	if (mark_named(lz, r, zone, named, buf)) {
		*left = 1;
		return false;
	}
	for (i = 0; i < r->nr_name; i++) {
		const struct lz_name *m = &r->name[i];

		if (lz_addr_zone(lz, m->addr) != zone || m->life != z->life)
			continue;
		for (j = 0; j < m->len; j++) {
			u32 off = lz_addr_off(lz, m->addr) + j;

			if (named[off])
				continue;
			named[off] = 1;
			(*left)++;
			if (!o || o->put == lz->ring_size)
				continue;
			o->ring[o->put++] = lz_sum_pack(off, m->lba + j);
		}
	}
	if (!o || *left > o->put)
		return !*left;
	o->unsum = o->put;
	return z->resv + DIV_ROUND_UP(o->unsum, LZ_SUMMARY_ENTRIES) <= lz->g.zone_cap;
}

struct load {
	struct lz_replay r;
	struct lz_zone_report *rep;
	u8 *named;
	void *buf;
	u32 stale;
	bool ro;
};

/*
 * Nothing more goes to @zone, if it is open. One that cannot be finished is taken
 * for read-only.
 */
static void finish_zone(struct lz *lz, struct load *l, u32 zone)
{
	struct lz_cmd c = { .op = LZ_OP_FINISH, .addr = lz_zone_addr(lz, zone, 0) };
	int err;

	if (l->rep[zone].cond != LZ_COND_OPEN)
		return;
	err = l->ro ? 0 : lz_cmd_sync(lz, &c);
	l->rep[zone].cond = err ? LZ_COND_READONLY : LZ_COND_FULL;
	if (err)
		lz_say(lz, 'w', "zone %u cannot be finished: error %d", zone, err);
	else if (!l->ro)
		lz_count(lz, LZ_ST_FINISHES_LOAD, 1);
}

static int reset_stale(struct lz *lz, struct load *l, u32 zone)
{
	struct lz_cmd c = { .op = LZ_OP_RESET, .addr = lz_zone_addr(lz, zone, 0) };
	int err = lz_cmd_sync(lz, &c);
	struct lz_zone *z = &lz->zone[zone];

	if (err) {
		lz_say(lz, 'w', "zone %u cannot be reset (error %d): set aside", zone, err);
		z->state = LZ_ZS_BAD;
		z->flags = LZ_ZF_BAD;
		/* Or the drive would go on counting it as open. */
		if (l->rep[zone].cond == LZ_COND_OPEN)
			finish_zone(lz, l, zone);
		return 0;
	}
	lz_count(lz, LZ_ST_RESETS_STALE, 1);
	z->gen++;
	free_zone_add(lz, z);
	return 0;
}

/*
 * What nobody knows. Open ones are reset at once, so that the budget holds, and
 * as many more as the log may need; the rest in the background.
 */
static int adopt_free(struct lz *lz, struct load *l, u32 zone)
{
	const struct lz_zone_report *rep = &l->rep[zone];
	struct lz_zone *z = &lz->zone[zone];

	if (rep->cond == LZ_COND_READONLY || rep->cond == LZ_COND_OFFLINE ||
	    (z->flags & (LZ_ZF_BAD | LZ_ZF_WORN)) == (LZ_ZF_BAD | LZ_ZF_WORN)) {
		z->state = LZ_ZS_BAD;
		z->flags |= LZ_ZF_BAD;
		/* Or the drive would go on counting it as open. */
		finish_zone(lz, l, zone);
		return 0;
	}
	if (rep->cond == LZ_COND_EMPTY) {
		free_zone_add(lz, z);
		return 0;
	}
	if (l->ro) {
		z->state = LZ_ZS_FREE;
		return 0;
	}
	if (rep->cond == LZ_COND_OPEN || l->stale < lz->si.meta_zones) {
		l->stale++;
		return reset_stale(lz, l, zone);
	}
	z->state = LZ_ZS_FREE;
	list_add_tail(&z->list, &lz->stale);
	z->listed = true;
	lz->nr_unready++;
	return 0;
}

static void keep_bad(struct lz_zone *z)
{
	z->state = LZ_ZS_BAD;
	z->flags |= LZ_ZF_BAD | LZ_ZF_SCAN;
	z->failed = true;
}

/* A data zone that holds, or may hold, something. */
static int adopt_data(struct lz *lz, struct load *l, u32 zone)
{
	const struct lz_zone_report *rep = &l->rep[zone];
	struct lz_zone *z = &lz->zone[zone];
	struct lz_open *o = NULL;
	u32 left;

	if (atomic_read(&z->valid) <= 0) {
		/* Perhaps reset since, and written to in a life we know nothing of. */
		z->gen++;
		return adopt_free(lz, l, zone);
	}
	if (rep->cond == LZ_COND_EMPTY ||
	    (z->need > rep->wp && (rep->cond == LZ_COND_OPEN || rep->torn))) {
		lz_say(lz, 'e',
		       "zone %u: %d blocks in use, but its write pointer is %u, not past %u: was it reset by someone else?",
		       zone, atomic_read(&z->valid), rep->wp, z->need);
		z->suspect = true;
		z->state = LZ_ZS_FULL;
		z->resv = rep->wp;
		z->done = rep->wp;
		return l->ro ? 0 : -EUCLEAN;
	}
	z->resv = rep->cond == LZ_COND_OPEN ? rep->wp : lz->g.zone_cap;
	if (lz_planted(LZ_PLANT_WP_NOT_ADOPTED) && rep->cond == LZ_COND_OPEN)
		z->resv = z->need;
	z->done = z->resv;
	if (z->flags & LZ_ZF_BAD)
		finish_zone(lz, l, zone);
	if (rep->cond == LZ_COND_READONLY || rep->cond == LZ_COND_OFFLINE ||
	    (z->flags & LZ_ZF_BAD)) {
		keep_bad(z);
		return 0;
	}
	if (rep->cond == LZ_COND_OPEN && lz->nr_open < lz->data_slots)
		o = lz_open_slot(lz, z, z->flags & LZ_ZF_GC);
	if (o && restore_ring(lz, &l->r, zone, o, l->named, l->buf, &left)) {
		z->state = LZ_ZS_OPEN;
		if (!lz_zone_room(lz, z))
			z->closing = true;
		return 0;
	}
	if (!o) {
		restore_ring(lz, &l->r, zone, NULL, l->named, l->buf, &left);
		if (left)
			z->flags |= LZ_ZF_SCAN;
	} else {
		z->flags |= LZ_ZF_SCAN;
		lz_open_release(lz, z);
	}
	z->state = LZ_ZS_FULL;
	if (rep->cond == LZ_COND_OPEN && !lz_planted(LZ_PLANT_OPEN_NOT_FINISHED)) {
		finish_zone(lz, l, zone);
		z->resv = lz->g.zone_cap;
		z->done = z->resv;
		if (rep->cond == LZ_COND_READONLY)
			keep_bad(z);
	}
	return 0;
}

/* A zone of the log: go on in it, or close it. */
static int adopt_meta(struct lz *lz, struct load *l, u32 zone, u32 node_zone)
{
	const struct lz_zone_report *rep = &l->rep[zone];
	struct lz_stream *s = NULL;

	lz->nr_meta++;
	if (rep->cond == LZ_COND_EMPTY && lz->zone[zone].live) {
		lz_say(lz, 'e', "zone %u holds %u metadata nodes, but the drive says it is empty",
		       zone, lz->zone[zone].live);
		return -EUCLEAN;
	}
	if (zone == lz->js->zone)
		s = lz->js;
	else if (zone == node_zone && lz->ns != lz->js)
		s = lz->ns;
	if (s && rep->wp + 1 < lz->g.zone_cap && !(lz->zone[zone].flags & LZ_ZF_BAD) &&
	    (rep->cond == LZ_COND_OPEN || rep->cond == LZ_COND_EMPTY)) {
		s->zone = zone;
		s->off = rep->wp;
		return 0;
	}
	if (s)
		s->zone = LZ_NONE;
	finish_zone(lz, l, zone);
	return 0;
}

/*
 * Sectors smaller than a block may be written in part when power goes. What is
 * in such a zone is in it, and nothing more can be.
 */
static void close_torn(struct lz *lz, struct load *l)
{
	u32 i;

	for (i = 0; i < lz->g.nr_zones; i++) {
		struct lz_zone_report *rep = &l->rep[i];

		if (!rep->torn || rep->cond != LZ_COND_OPEN ||
		    lz_planted(LZ_PLANT_TORN_NOT_FINISHED))
			continue;
		finish_zone(lz, l, i);
		if (i == lz->root_zone)
			lz->root_off = lz->g.zone_cap;
	}
}

static int reconcile(struct lz *lz, struct load *l, u32 node_zone)
{
	int err = 0;
	u32 i;

	/* What is open without need goes first: the drive's limit counts it. */
	finish_zone(lz, l, lz->root_zone ^ 1);
	close_torn(lz, l);
	for (i = 2; i < lz->g.nr_zones && !err; i++) {
		if (lz->zone[i].state == LZ_ZS_FREE ||
		    (lz->zone[i].state == LZ_ZS_BAD && !atomic_read(&lz->zone[i].valid)))
			err = adopt_free(lz, l, i);
	}
	for (i = 2; i < lz->g.nr_zones && !err; i++) {
		struct lz_zone *z = &lz->zone[i];

		if (z->state == LZ_ZS_META)
			err = adopt_meta(lz, l, i, node_zone);
		else if (z->state == LZ_ZS_OPEN || z->state == LZ_ZS_FULL ||
			 (z->state == LZ_ZS_BAD && atomic_read(&z->valid)))
			err = adopt_data(lz, l, i);
	}
	return err;
}

/*
 * Where only the host died, what was read may be in the drive's cache still.
 * Zones are reset in the belief that it is durable.
 */
static int flush_drive(struct lz *lz)
{
	struct lz_cmd c = { .op = LZ_OP_FLUSH };
	int err = lz_cmd_sync(lz, &c);

	if (err)
		lz_say(lz, 'e', "the drive cannot be flushed: error %d", err);
	return err;
}

static int load(struct lz *lz, struct load *l)
{
	struct lz_root *root;
	int err;
	u32 i;

	err = lz_super_read(lz, &lz->si, false);
	if (lz_planted(LZ_PLANT_FOREIGN_WRITTEN) && err == -ENODEV)
		finish_zone(lz, l, 0);
	if (err)
		return err;
	if (lz->si.compat_ro && !l->ro && !lz_planted(LZ_PLANT_COMPAT_RO_IGNORED)) {
		lz_say(lz, 'e', "features %#x allow reading only", lz->si.compat_ro);
		return -EPROTONOSUPPORT;
	}
	err = setup(lz);
	if (err)
		return err;
	/* A drive of larger capacity than was formatted reports what we do not use. */
	for (i = 0; i < lz->g.nr_zones; i++)
		l->rep[i].wp = min(l->rep[i].wp, lz->g.zone_cap);
	l->named = lz_zalloc_array(lz->g.zone_cap, 1);
	l->buf = lz_alloc_blocks(2);
	if (!l->named || !l->buf)
		return -ENOMEM;
	root = (struct lz_root *)((u8 *)l->buf + LZ_BLOCK_SIZE);
	err = lz_root_find(lz, l->rep, root);
	if (err)
		return err;
	lz->epoch = le64_to_cpu(root->h.epoch);
	lz->ckpt.number = le64_to_cpu(root->h.seq);
	lz->commit.number = le64_to_cpu(root->commit);
	lz->committed = lz->commit.number;
	atomic64_set(&lz->write_seq, le64_to_cpu(root->write_seq));
	for (i = 0; i < LZ_NR_STATS; i++)
		lz_count_set(&lz->stat[i], le64_to_cpu(root->stats[i]));
	err = load_tree(lz, &lz->map, root->map_top, l->buf);
	if (!err)
		err = load_tree(lz, &lz->ztab, root->ztab_top, l->buf);
	if (!err)
		err = load_zones(lz, l->buf);
	if (err)
		return err;
	lz->zone[0].state = LZ_ZS_ROOT;
	lz->zone[1].state = LZ_ZS_ROOT;
	err = count_live(lz, &lz->map);
	if (!err)
		err = count_live(lz, &lz->ztab);
	if (!err)
		err = lz_replay(lz, l->rep, root, &l->r);
	if (err)
		return err;
	replay_settle(lz);
	if (!l->ro && !lz_planted(LZ_PLANT_RECOVERY_NO_FLUSH))
		err = flush_drive(lz);
	if (err)
		return err;
	err = reconcile(lz, l, le32_to_cpu(root->node_zone));
	if (err)
		return err;
	if (l->r.commits || !(le32_to_cpu(root->flags) & LZ_ROOT_CLEAN))
		lz_say(lz, 'i', "recovered: checkpoint %llu and %llu commits",
		       (unsigned long long)lz->ckpt.number, (unsigned long long)l->r.commits);
	return 0;
}

int lz_load(struct lz *lz, struct lz_zone_report *rep, u32 flags)
{
	struct load l = { .rep = rep, .ro = flags & LZ_LOAD_RO };
	int err;
	u32 i;

	lz->loading = true;
	err = load(lz, &l);
	lz_replay_free(&l.r);
	lz_free(l.named);
	lz_free_blocks(l.buf);
	if (!err && l.ro) {
		lz->mode = LZ_MODE_RO;
		lz->loaded = true;
	} else if (!err) {
		if (!lz_planted(LZ_PLANT_EPOCH_NOT_RAISED))
			lz->epoch++;
		err = open_journal(lz);
		if (!err)
			err = first_checkpoint(lz);
	}
	lz->loading = false;
	if (err)
		return err;
	for (i = 0; i < lz->g.nr_zones; i++) {
		struct lz_zone *z = &lz->zone[i];

		if ((z->state == LZ_ZS_FULL || z->state == LZ_ZS_OPEN ||
		     (z->state == LZ_ZS_BAD && z->failed)) && !l.ro && z->resv &&
		    !atomic_read(&z->valid))
			lz_zone_emptied(lz, z);
	}
	return 0;
}

/* --- a device whose map and zone table were rebuilt --------------------------------- */

/* lz_rebuild_begin - all of @lz but its superblock is to be filled in. */
int lz_rebuild_begin(struct lz *lz)
{
	return setup(lz);
}

/* Blocks the first checkpoint writes. */
static u64 rebuilt_nodes(const struct lz *lz)
{
	u64 n = lz->nr_cached;
	u32 l;

	for (l = 1; l < lz->map.levels; l++)
		n += lz->map.n[l];
	for (l = 0; l < lz->ztab.levels; l++)
		n += lz->ztab.n[l];
	return n;
}

/* Zones as the drive has them; what is open stays so, and is for the next load. */
static void place_rebuilt(struct lz *lz, const struct lz_zone_report *rep)
{
	u32 i;

	for (i = 0; i < lz->g.nr_zones; i++) {
		struct lz_zone *z = &lz->zone[i];

		z->resv = rep[i].cond == LZ_COND_FULL ? lz->g.zone_cap :
			min(rep[i].wp, lz->g.zone_cap);
		z->done = z->resv;
		if (i < 2)
			z->state = LZ_ZS_ROOT;
		else if (rep[i].cond == LZ_COND_READONLY || rep[i].cond == LZ_COND_OFFLINE)
			keep_bad(z);
		else if (atomic_read(&z->valid))
			z->state = rep[i].cond == LZ_COND_OPEN ? LZ_ZS_OPEN : LZ_ZS_FULL;
		else if ((z->flags & (LZ_ZF_BAD | LZ_ZF_WORN)) == (LZ_ZF_BAD | LZ_ZF_WORN))
			z->state = LZ_ZS_BAD;
		else if (rep[i].cond == LZ_COND_EMPTY)
			free_zone_add(lz, z);
		else
			z->state = LZ_ZS_FREE;
	}
}

/* If too few zones are empty: those that hold nothing of the old metadata or its data. */
static int make_room(struct lz *lz, struct load *l)
{
	u32 want = 2 + div_u64(rebuilt_nodes(lz) + lz->g.zone_cap - 2, lz->g.zone_cap - 1), i;
	int err = 0;

	for (i = 2; i < lz->g.nr_zones && lz->nr_free < want && !err; i++) {
		struct lz_zone *z = &lz->zone[i];

		if (z->state == LZ_ZS_FREE && !z->listed && !z->live && !z->suspect)
			err = reset_stale(lz, l, i);
	}
	if (lz->nr_free >= want || err)
		return err;
	lz_say(lz, 'e', "no room beside the old metadata: %u zones are empty, %u are needed",
	       lz->nr_free, want);
	return -ENOSPC;
}

enum closing { CLOSE_DATA, CLOSE_LOG, CLOSE_LOST, CLOSE_END };

/*
 * May @z be open no more? Of most zones it does not matter how far they are written, of
 * the log's only a little. One that is suspect must not look as if it were full; if all
 * it had is lost anyway, it may as well be empty.
 */
static bool may_close(struct lz_zone *z, enum closing how)
{
	switch (how) {
	case CLOSE_DATA:
		return !z->live && !z->suspect;
	case CLOSE_LOG:
		return !z->suspect;
	default:
		return !z->live && z->state == LZ_ZS_FREE;
	}
}

/* If too many zones would be open with @want more. */
static int close_some(struct lz *lz, struct load *l, u32 want)
{
	const struct lz_zone_report *rep = l->rep;
	u32 open = want, how, i;

	for (i = 0; i < lz->g.nr_zones; i++)
		open += rep[i].cond == LZ_COND_OPEN;
	for (how = CLOSE_DATA; how < CLOSE_END; how++) {
		for (i = 2; i < lz->g.nr_zones; i++) {
			if (!lz->g.max_open || open <= lz->g.max_open)
				return 0;
			if (rep[i].cond != LZ_COND_OPEN || !may_close(&lz->zone[i], how))
				continue;
			if (how == CLOSE_LOST)
				reset_stale(lz, l, i);
			else
				finish_zone(lz, l, i);
			open--;
		}
	}
	if (open <= lz->g.max_open)
		return 0;
	lz_say(lz, 'e', "%u zones would be open, %u are allowed", open, lz->g.max_open);
	return -ENOSPC;
}

/*
 * lz_rebuild_end - write it: all of the map and of the zone table, to zones that are
 * empty, and a root. Until that is durable all is as it was: zones marked as live are
 * not reset, nor those marked as suspect touched. @roll: to the other root zone, with
 * new superblocks.
 */
int lz_rebuild_end(struct lz *lz, struct lz_zone_report *rep, bool roll)
{
	struct load l = { .rep = rep };
	u32 other = lz->root_zone ^ 1, want, i;
	int err = flush_drive(lz);

	if (rep[lz->root_zone].torn)
		roll = true;
	if (roll)
		lz->root_off = lz->g.zone_cap;
	/* The log's, and a root zone if one is begun. */
	want = lz->js == lz->ns ? 1 : 2;
	want += lz->root_off == lz->g.zone_cap && rep[other].cond != LZ_COND_OPEN;
	lz->loading = true;
	place_rebuilt(lz, rep);
	if (!err)
		err = make_room(lz, &l);
	if (!err)
		err = close_some(lz, &l, want);
	for (i = 0; i < lz->g.nr_zones; i++)
		lz->zone[i].live = 0;
	lz->epoch += LZ_REPAIR_EPOCHS;
	lz->ckpt.clean = true;
	if (!err)
		err = open_journal(lz);
	if (!err)
		err = first_checkpoint(lz);
	lz->loading = false;
	return err;
}
