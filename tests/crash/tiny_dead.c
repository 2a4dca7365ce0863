// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of core that will be written before it is read again is cleared, so that
 * states which differ in nothing else are one. That it is not read is so tested, too.
 */
#include "tiny.h"

#define CLEAR(x)	memset(&(x), 0, sizeof(x))

static void clear_blocks(void *buf, u32 n)
{
	memset(buf, 0, n * LZ_BLOCK_SIZE);
}

static void commit_dead(struct lz *lz)
{
	struct lz_commit *c = &lz->commit;

	if (!lz->jbuf.busy)
		CLEAR(lz->jbuf.cmd);
	memset(lz->zrec + lz->nr_zrec, 0, (LZ_ZRECS - lz->nr_zrec) * sizeof(*lz->zrec));
	if (c->state != LZ_CS_IDLE)
		return;
	c->stage = 0;
	c->first = 0;
	c->blocks = 0;
	c->shard = 0;
	CLEAR(c->lists);
	c->fill = 0;
	c->nblocks = 0;
	c->sent = 0;
	c->sending = 0;
	c->run_lba = 0;
	c->run_addr = 0;
	c->nr_zrec = 0;
	c->next_zrec = 0;
	memset(c->zrec, 0, LZ_ZRECS * sizeof(*c->zrec));
	clear_blocks(lz->jbuf.buf, 2 * LZ_LOG_BLOCKS + 1);
}

static void ckpt_dead(struct lz *lz)
{
	struct lz_ckpt *k = &lz->ckpt;
	u32 i;

	for (i = 0; i < LZ_NODE_BUFS; i++) {
		struct lz_nbuf *b = &lz->nbuf[i];

		if (!b->busy) {
			CLEAR(b->cmd);
			b->piece = 0;
		}
		if (b->state == LZ_NB_FREE) {
			memset(b->ref, 0, LZ_LOG_BLOCKS * sizeof(*b->ref));
			clear_blocks(b->buf, LZ_LOG_BLOCKS + 1);
		}
	}
	if (!k->root_busy)
		CLEAR(k->root);
	if (k->state != LZ_CK_IDLE)
		return;
	clear_blocks(k->root_buf, LZ_SUPER_COPIES + LZ_ROOT_COPIES);
	CLEAR(k->slot);
	k->next_leaf = 0;
	k->next_ext = 0;
	k->level = 0;
	k->node = 0;
	k->nodes = 0;
}

static void gc_slot_dead(struct lz *lz, struct lz_gc_slot *s)
{
	if (s->state != LZ_SL_APPEND && s->state != LZ_SL_MAP)
		CLEAR(s->append);
	if (s->state != LZ_SL_READ)
		memset(s->read, 0, lz->gc.run * sizeof(*s->read));
	if (s->state != LZ_SL_IDLE)
		return;
	s->n = 0;
	s->done = 0;
	s->next = 0;
	s->named = 0;
	s->used = 0;
	CLEAR(s->w);
	memset(s->lba, 0, lz->gc.run * sizeof(*s->lba));
	memset(s->old, 0, lz->gc.run * sizeof(*s->old));
	clear_blocks(s->buf, lz->gc.run);
}

static void gc_dead(struct lz *lz)
{
	struct lz_gc *gc = &lz->gc;
	u32 i;

	for (i = 0; i < LZ_GC_SLOTS; i++)
		gc_slot_dead(lz, &gc->slot[i]);
	if (gc->state != LZ_GC_SUMMARY) {
		CLEAR(gc->cmd);
		clear_blocks(gc->buf, LZ_SUM_BLOCKS);
	}
	if (gc->state != LZ_GC_CKPT)
		CLEAR(gc->ckpt);
	if (gc->state != LZ_GC_IDLE)
		return;
	gc->scan = false;
	gc->found = false;
	gc->ckpt_done = false;
	gc->error = 0;
	gc->victim = 0;
	gc->head = 0;
	gc->seq = 0;
	gc->prev = 0;
	gc->leaf = 0;
	gc->n = 0;
	gc->pos = 0;
	memset(gc->ent, 0, LZ_SUM_BLOCKS * LZ_SUMMARY_ENTRIES * sizeof(*gc->ent));
}

static void open_dead(struct lz *lz, struct lz_open *o)
{
	u32 i;

	if (o->zone == LZ_NONE) {
		o->gc = false;
		o->finish = false;
		o->busy = false;
		o->force = 0;
		o->unsum = 0;
		o->put = 0;
		o->got = 0;
		o->safe = 0;
	}
	if (!o->busy) {
		CLEAR(o->sum);
		o->sum_entries = 0;
		clear_blocks(o->buf, LZ_SUM_BLOCKS);
	}
	/* From @got on, or earlier ones if the summary of these fails. */
	for (i = 0; i < lz->ring_size; i++)
		if (((i - (u32)o->safe) & (lz->ring_size - 1)) >= o->put - o->safe)
			o->ring[i] = 0;
}

void tiny_clear_dead(void)
{
	struct lz *lz = tiny.lz;
	struct lz_cached *c;
	u32 i;

	commit_dead(lz);
	ckpt_dead(lz);
	gc_dead(lz);
	for (i = 0; i < lz->data_slots; i++)
		open_dead(lz, &lz->open[i]);
	for (i = 0; i < LZ_RESETS_MAX; i++)
		if (!lz->reset_busy[i])
			CLEAR(lz->reset_cmd[i]);
	list_for_each_entry(c, &lz->lru, lru)
		if (c->state == LZ_LEAF_READY)
			CLEAR(c->cmd);
}
