// SPDX-License-Identifier: GPL-2.0-only
/*
 * What every load begins with, by lz_prepare() or itself, and ends with: room in RAM for a
 * device of this geometry; and the first checkpoint, which makes it usable.
 */
#include "lz.h"

/*
 * lz_setup - room in RAM for the device @lz->si describes, for which the drive must do.
 * -EINVAL: it does not, and that has been said. -ENOMEM. Not in use yet, as all here.
 */
int lz_setup(struct lz *lz)
{
	u64 leaves = DIV_ROUND_UP_ULL(lz->si.logical_blocks, LZ_NODE_ENTRIES);
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

int lz_prepare(struct lz *lz, const struct lz_super_info *si, u32 flags)
{
	int err;

	lz->si = *si;
	err = lz_setup(lz);
	if (!err && !(flags & LZ_LOAD_RO))
		err = lz_infer_want(lz);
	lz->prepared = !err;
	return err;
}

/* lz_free_zone_add - @z, empty on the drive, may be opened. */
void lz_free_zone_add(struct lz *lz, struct lz_zone *z)
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

/* lz_first_checkpoint - write it; all of the zone table is in it. 0, -ENOSPC, -EIO. */
int lz_first_checkpoint(struct lz *lz)
{
	struct lz_waiter w = { .fn = loaded_waiter };
	struct lz_stream *ns = lz->ns;
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
		/*
		 * A cut may spoil the ends of both the zones the log was written to, and
		 * leave one that is free. It will do for nodes and journal.
		 */
		if (!lz->cmds && lz->ns != lz->js) {
			lz->ns->zone = LZ_NONE;
			lz->ns = lz->js;
			continue;
		}
		if (!lz->cmds) {
			lz_say(lz, 'e',
			       "no room to write a checkpoint: %u free zones, %u of metadata",
			       lz->nr_free, lz->nr_meta);
			return -ENOSPC;
		}
		lz->ops->wait(lz->ctx);
	}
	lz_sync(lz);
	lz->ns = ns;
	lz->loading = false;
	return w.arg == 1 && lz->mode == LZ_MODE_RW ? 0 : -EIO;
}

/* lz_open_journal - give it a place, before the cut can name it. 0 or -ENOSPC. */
int lz_open_journal(struct lz *lz)
{
	if (lz_stream_open(lz, lz->js))
		return 0;
	lz_say(lz, 'e', "no free zone for the journal");
	return -ENOSPC;
}

/* lz_load_empty - write the first checkpoint of a drive whose zones are empty, or of no use. */
int lz_load_empty(struct lz *lz, const struct lz_super_info *si, const struct lz_zone_report *rep)
{
	int err;
	u32 i;

	lz->si = *si;
	err = lz_setup(lz);
	if (err)
		return err;
	lz->epoch = 1;
	lz->jseq = 1;
	for (i = 0; i < lz->g.nr_zones; i++) {
		struct lz_zone *z = &lz->zone[i];

		if (i < 2) {
			z->state = LZ_ZS_ROOT;
		} else if (rep && lz_zone_dead(&rep[i])) {
			z->state = LZ_ZS_BAD;
			z->flags |= LZ_ZF_BAD;
		} else {
			lz_free_zone_add(lz, z);
		}
	}
	lz->ckpt.clean = true;
	err = lz_open_journal(lz);
	return err ? err : lz_first_checkpoint(lz);
}
