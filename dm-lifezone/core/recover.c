// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading a device, after an orderly stop or a power cut alike.
 *
 * Newest root, trees, zone table, journal: all read, nothing written. Then the
 * zones are brought in line with what the drive reports: what metadata does not
 * know is reset before it is used, what it knows is adopted at the
 * drive's write pointer or closed. Last a fresh checkpoint in a new epoch; only
 * when its root is durable are users let in. A cut anywhere before that leaves
 * the old root and its journal as they were, and the next load does the same.
 */
#include "lz.h"

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

/*
 * All nodes were on the drive before the root that leads to them. If one is not, its zone
 * was reset, and commits of the journal may have gone with it.
 */
static int count_live(struct lz *lz, struct lz_tree *t, const struct lz_zone_report *rep)
{
	u32 l, zone, have;
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
			have = lz_zone_written(lz, &rep[zone]);
			if (rep[zone].cond != LZ_COND_OFFLINE &&
			    lz_addr_off(lz, t->addr[l][i]) >= have) {
				lz_say(lz, 'e',
				       "metadata node %u.%llu lies at offset %u of zone %u, but its write pointer is %u: was it reset by someone else?",
				       l, (unsigned long long)i,
				       lz_addr_off(lz, t->addr[l][i]), zone, have);
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

/* What goes on from numbers too high would not be believed after the next cut. */
static int check_numbers(struct lz *lz)
{
	u64 most = max(max(lz->epoch, lz->ckpt.number), max(lz->commit.number, lz->jseq));

	most = max_t(u64, most, atomic64_read(&lz->write_seq));
	if (most < LZ_NUMBER_LATE)
		return 0;
	lz_say(lz, 'e',
	       "metadata counts to %llu: from %llu on, which no device gets to, it can only be read",
	       (unsigned long long)most, (unsigned long long)LZ_NUMBER_LATE);
	return -EOVERFLOW;
}

static int load(struct lz *lz, struct lz_load *l, u32 flags)
{
	struct lz_super_info si;
	struct lz_root *root;
	int err;
	u32 i;

	err = lz_super_read(lz, &si, false);
	if (lz_planted(LZ_PLANT_FOREIGN_WRITTEN) && err == -ENODEV)
		lz_load_finish(lz, l, 0);
	if (err)
		return err;
	if (si.compat_ro && !l->ro && !lz_planted(LZ_PLANT_COMPAT_RO_IGNORED)) {
		lz_say(lz, 'e', "features %#x allow reading only", si.compat_ro);
		return -EPROTONOSUPPORT;
	}
	if (!lz->prepared) {
		err = lz_prepare(lz, &si, flags);
	} else if (memcmp(si.uuid, lz->si.uuid, LZ_UUID_SIZE) || si.created != lz->si.created ||
		   si.logical_blocks != lz->si.logical_blocks) {
		lz_say(lz, 'e', "the drive has been formatted since the table was loaded");
		err = -ESTALE;
	} else if (!l->ro) {
		/* Options may have been changed. */
		err = lz_infer_want(lz);
	}
	if (err)
		return err;
	/* A drive of larger capacity than was formatted reports what we do not use. */
	for (i = 0; i < lz->g.nr_zones; i++) {
		struct lz_zone_report *z = &l->rep[i];

		z->wp = min(z->wp, lz->g.zone_cap);
		if (z->cond == LZ_COND_OPEN && !z->torn && z->wp == lz->g.zone_cap)
			z->cond = LZ_COND_FULL;
	}
	l->named = lz_zalloc_array(lz->g.zone_cap, 1);
	l->buf = lz_alloc_blocks(2);
	if (!l->named || !l->buf)
		return -ENOMEM;
	root = (struct lz_root *)((u8 *)l->buf + LZ_BLOCK_SIZE);
	err = lz_root_find(lz, l->rep, root);
	if (!err && !l->ro)
		err = lz_root_goes_on(lz, l->buf);
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
	err = count_live(lz, &lz->map, l->rep);
	if (!err)
		err = count_live(lz, &lz->ztab, l->rep);
	if (!err)
		err = lz_replay(lz, l, root);
	if (!err && !l->ro)
		err = check_numbers(lz);
	if (err)
		return err;
	replay_settle(lz);
	if (!l->ro && !lz_planted(LZ_PLANT_RECOVERY_NO_FLUSH))
		err = lz_flush_sync(lz);
	if (err)
		return err;
	err = lz_reconcile(lz, l, le32_to_cpu(root->node_zone));
	if (err)
		return err;
	if (l->r.commits || !(le32_to_cpu(root->flags) & LZ_ROOT_CLEAN))
		lz_say(lz, 'i', "recovered: checkpoint %llu and %llu commits",
		       (unsigned long long)lz->ckpt.number, (unsigned long long)l->r.commits);
	return 0;
}

int lz_load(struct lz *lz, struct lz_zone_report *rep, u32 flags)
{
	struct lz_load l = { .rep = rep, .ro = flags & LZ_LOAD_RO };
	int err;
	u32 i;

	lz->loading = true;
	err = load(lz, &l, flags);
	lz_replay_free(&l.r);
	lz_free(l.named);
	lz_free_blocks(l.buf);
	if (!err && l.ro) {
		lz->mode = LZ_MODE_RO;
		lz->loaded = true;
	} else if (!err) {
		if (!lz_planted(LZ_PLANT_EPOCH_NOT_RAISED))
			lz->epoch++;
		err = lz_open_journal(lz);
		if (!err)
			err = lz_first_checkpoint(lz);
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
