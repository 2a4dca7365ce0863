// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one file here that looks inside core: to make its RAM small enough for
 * small drives to fill, and to print where it stands when it hangs.
 */
#include <stdio.h>
#include "../../dm-lifezone/core/lz.h"
#include "world.h"

void peek_limit_leaves(struct lz *lz, u32 n)
{
	lz->max_cached = n;
}

u64 peek_epoch(struct lz *lz)
{
	return lz->epoch;
}

u32 peek_root_room(struct lz *lz)
{
	return lz->g.zone_cap - lz->root_off;
}

u8 peek_zone_state(struct lz *lz, u32 zone)
{
	return lz->zone ? lz->zone[zone].state : LZ_ZS_FREE;
}

u32 peek_gc_zone(struct lz *lz)
{
	u32 i;

	for (i = 0; i < lz->data_slots; i++)
		if (lz->open[i].zone != LZ_NONE && lz->open[i].gc)
			return lz->open[i].zone;
	return 0;
}

u32 peek_journal_zone(struct lz *lz)
{
	return lz->js->zone == LZ_NONE ? 0 : lz->js->zone;
}

bool peek_journal_lost(struct lz *lz)
{
	return lz->journal_lost;
}

const char *peek_balance(struct lz *lz)
{
	u32 i;

	if (atomic_read(&lz->delta_space) + atomic_read(&lz->active->used) != (int)lz->delta_cap)
		return "map entries reserved by nobody";
	if (atomic_read(&lz->uncommitted))
		return "updates left that no commit has taken";
	for (i = 2; i < lz->g.nr_zones; i++)
		if (lz->zone[i].done != lz->zone[i].resv)
			return "blocks of a zone reserved by nobody";
	return NULL;
}

/* Nodes count only once a root leads to them, which is written when they are durable. */
bool peek_whole(const void *block)
{
	const struct lz_hdr *h = block;
	u8 copy[LZ_BLOCK_SIZE];
	u16 type = le16_to_cpu(h->type);

	memcpy(copy, block, sizeof(copy));
	((struct lz_hdr *)copy)->crc = 0;
	return le32_to_cpu(h->magic) == LZ_MAGIC && type != LZ_BT_NODE && type != LZ_BT_ZNODE &&
	       le32_to_cpu(h->crc) == lz_crc32c(~0u, copy, sizeof(copy));
}

/* Have users, or has GC, opened a zone that is kept for the log (or for GC)? */
bool peek_reserve_taken(struct lz *lz, bool gc)
{
	u32 meta = lz->si.meta_zones - min(lz->nr_meta, lz->si.meta_zones);

	return lz->nr_free < (gc ? meta - min(meta, lz->lent) : meta + lz->si.gc_zones);
}

/*
 * Would a write that waits for room find some, though nothing is on its way to say so?
 * A commit and a checkpoint do at their end: what they make room for, and map entries that
 * come back, need nobody else to.
 */
bool peek_room_untold(struct lz *lz)
{
	if (!atomic_read(&lz->starved) || lz->mode != LZ_MODE_RW || lz->kicked || lz->tight ||
	    (lz->pacing && atomic_read(&lz->credit) <= 0) || lz->nr_zrec >= LZ_ZRECS / 2 ||
	    lz->commit.state != LZ_CS_IDLE || lz->ckpt.wanted || lz->ckpt.state != LZ_CK_IDLE ||
	    atomic_read(&lz->delta_space) < (int)(lz->delta_cap / 4))
		return false;
	return lz->nr_open + 1 < lz->data_slots && lz_free_for(lz, false);
}

void peek_print(struct lz *lz)
{
	struct lz_info i;
	u32 k;

	lz_get_info(lz, &i);
	printf("mode %u, mapped %llu of %llu, free %u, open %u of %u\n", i.mode,
	       (unsigned long long)i.mapped, (unsigned long long)i.logical_blocks, i.free_zones,
	       i.open, i.budget);
	printf("checkpoint %llu, commit %llu\n", (unsigned long long)i.checkpoint,
	       (unsigned long long)i.commit);
	printf("delta %u of %u, uncommitted %llu, leaves %u of %u, phase %#x, commands %u\n",
	       i.delta_used, i.delta_cap, (unsigned long long)i.uncommitted, i.leaves_cached,
	       i.leaves_max, lz_phase(lz), lz->cmds);
	printf("states: commit %u, checkpoint %u, gc %u; gc victim %u\n", lz->commit.state,
	       lz->ckpt.state, lz->gc.state, lz->gc.victim);
	printf("zones: free %u (%u unready), metadata %u of %u\n", lz->nr_free, lz->nr_unready,
	       lz->nr_meta, lz->si.meta_zones);
	printf("log: %llu blocks free of %llu wanted%s, %u checkpoints in vain; credit %d%s\n",
	       (unsigned long long)lz_log_free(lz), (unsigned long long)lz_log_worst(lz),
	       lz->tight ? ", tight" : "", lz->ckpt.vain, atomic_read(&lz->credit),
	       lz->pacing ? ", paced" : "");
	for (k = 0; k < lz->g.nr_zones; k++) {
		const struct lz_zone *z = &lz->zone[k];

		printf("zone %u: state %u gen %u resv %u done %u valid %d", k, z->state,
		       z->gen, z->resv, z->done, atomic_read(&z->valid));
		printf(" tree %u live %u readers %d%s%s%s\n", z->tree_valid, z->live,
		       atomic_read(&z->readers), z->closing ? " closing" : "",
		       z->draining ? " draining" : "",
		       z->listed ? " listed" : "");
	}
}
