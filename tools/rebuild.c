// SPDX-License-Identifier: GPL-2.0-only
/*
 * Map and zone table rebuilt from whatever of a device's metadata is whole.
 *
 * A block is mapped only where whole metadata - checksum, device, epoch, place -
 * proves that this is where it is now. Five things are proof, the first that
 * answers counts:
 *
 *  - the newest root leads to its leaf, as in any recovery;
 *  - an older root leads to it, and the journal from there to the newest root is
 *    whole: what it says since is all that changed;
 *  - a later checkpoint, which has no root, has left it: what the journal on top says
 *    again of it makes no difference;
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
#include "rebuild.h"

u64 rebuild_get(struct rebuild *b, u64 lba)
{
	struct lz_cached *c = b->lz->leaf[lba / LZ_NODE_ENTRIES];

	return c ? le64_to_cpu(c->node->e[lba % LZ_NODE_ENTRIES]) : LZ_NOWHERE;
}

int rebuild_set(struct rebuild *b, u64 lba, u64 addr)
{
	u64 idx = lba / LZ_NODE_ENTRIES;
	struct lz_cached *c = b->lz->leaf[idx];

	if (!c && addr == LZ_NOWHERE)
		return 0;
	if (!c)
		c = lz_leaf_new(b->lz, idx);
	if (!c)
		return -ENOMEM;
	/* It is nowhere else: not to be dropped where memory is short, until it is written. */
	c->busy = true;
	c->node->e[lba % LZ_NODE_ENTRIES] = cpu_to_le64(addr);
	return 0;
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
	u32 begun = scan_begun(&b->s);
	u8 supers = scan_supers(b->lz);
	bool late = false;
	u32 i;

	/* A zone with the only superblock is not to be reset. */
	if (begun != LZ_NONE)
		zone = begun ^ 1;
	else if (!b->s.super[zone] && b->s.super[zone ^ 1])
		zone ^= 1;
	b->r->begun = begun;
	b->r->root = b->s.nr_root ? b->s.root[0].addr : 0;
	b->lz->root_zone = zone;
	b->lz->root_off = b->s.rep[zone].cond == LZ_COND_OPEN ? b->s.rep[zone].wp :
		b->lz->g.zone_cap;
	for (i = 0; i < LZ_SUPER_COPIES; i++)
		late |= b->s.super_epoch[zone][i] > b->s.epoch ||
			b->s.super_seq[zone][i] > b->s.ckpt;
	b->r->roll = (b->s.super[zone] & supers) != supers || b->s.shuffled || b->s.forged ||
		late || !b->s.nr_root || b->s.beyond;
	b->r->wipe = b->s.beyond;
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
	err = rebuild_find_journal(&b);
	if (!err)
		err = allocate(&b);
	if (!err)
		err = rebuild_read_zones(&b);
	if (!err)
		err = rebuild_read_map(&b);
	if (!err && !b.broken)
		err = rebuild_verify_found(&b);
	if (!err && !b.broken && !b.ahead && b.nr_unknown)
		err = rebuild_count(&b);
	if (!err)
		err = rebuild_each_commit(&b, &b.path, b.broken ? b.sure : 0, rebuild_apply, NULL);
	if (!err)
		err = rebuild_hear(&b);
	if (!err)
		err = rebuild_doubt_root(&b);
	if (!err)
		err = rebuild_judge(&b);
	if (!err)
		err = b.err;
	if (!err) {
		rebuild_finish_zones(&b);
		take_numbers(&b);
		choose_root_zone(&b);
	}
out:
	scan_free(&b.s);
	lz_free(b.path.b);
	lz_free(b.hurt);
	lz_free(b.newest);
	lz_free(b.found);
	lz_free(b.later);
	lz_free(b.after);
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
