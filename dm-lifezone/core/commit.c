// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commits: the journal.
 *
 * A commit answers everybody who asked for a flush before it began. It collects
 * the map updates not yet journalled (each block's newest address), then the
 * discards, then the records about zones, and writes them in one or more
 * journal blocks, the last with preflush and FUA: the preflush makes durable
 * the data the records speak of, and FUA the records. Only the last block makes
 * the commit count. Usually that is one write of one block.
 *
 * Collecting in this order makes sure that a discard older than a collected
 * update is in the same commit or an earlier one, and so is the opening of the
 * zone an update points to.
 *
 * For a checkpoint, a commit begins by freezing the delta: what it collects is
 * what the checkpoint covers, and the journal from its end on is what must be
 * replayed on top of that checkpoint.
 *
 * When the journal is lost, commits go on collecting but write nothing: what
 * they collect is in the delta and in the zone table, so the next checkpoint
 * holds it. Who waits for them is answered by it.
 */
#include "lz.h"

static struct lz_journal *jblock(struct lz *lz, u32 i)
{
	return (struct lz_journal *)(lz->jbuf.buf + (size_t)i * LZ_BLOCK_SIZE);
}

static bool buffer_full(const struct lz_commit *c)
{
	return c->nblocks == LZ_LOG_BLOCKS && c->fill >= LZ_FILL_RECORDS - 1;
}

static void put_rec(struct lz *lz, u8 type, u64 lba, u32 len, u64 b)
{
	struct lz_commit *c = &lz->commit;
	struct lz_journal *j;

	if (!c->nblocks || c->fill == LZ_FILL_RECORDS) {
		j = jblock(lz, c->nblocks++);
		memset(j, 0, sizeof(*j));
		c->fill = 0;
	}
	j = jblock(lz, c->nblocks - 1);
	lz_jrec_pack(&j->r[c->fill++], type, lba, len, b);
	lz->ckpt.records++;
	j->h.count = cpu_to_le32(c->fill);
}

static void put_run(struct lz *lz)
{
	struct lz_commit *c = &lz->commit;

	if (!c->run_len)
		return;
	if (c->run_addr == LZ_NOWHERE)
		put_rec(lz, LZ_JR_DISCARD, c->run_lba, 0, c->run_len);
	else
		put_rec(lz, LZ_JR_MAP, c->run_lba, c->run_len, c->run_addr);
	c->run_len = 0;
}

static void add_map(struct lz *lz, u64 lba, u64 addr)
{
	struct lz_commit *c = &lz->commit;
	bool nowhere = addr == LZ_NOWHERE, was = c->run_addr == LZ_NOWHERE;
	/* A longer one would be an extent at replay, and of these there are so many at most. */
	u32 most = nowhere ? LZ_EXTENT_MIN - 1 : LZ_JREC_LEN_MAX;

	if (c->run_len && c->run_len < most && nowhere == was) {
		if (lba == c->run_lba + c->run_len &&
		    (nowhere || addr == c->run_addr + c->run_len ||
		     lz_planted(LZ_PLANT_JOURNAL_RUN_UNCHECKED))) {
			c->run_len++;
			return;
		}
		/* Lists are newest first, so runs usually grow downwards. */
		if (lba + 1 == c->run_lba && (nowhere || addr + 1 == c->run_addr)) {
			c->run_lba = lba;
			if (!nowhere)
				c->run_addr = addr;
			c->run_len++;
			return;
		}
	}
	put_run(lz);
	c->run_lba = lba;
	c->run_addr = addr;
	c->run_len = 1;
}

static void collect_maps(struct lz *lz)
{
	struct lz_commit *c = &lz->commit;
	unsigned long flags;

	while (c->shard < LZ_NR_SHARDS && !buffer_full(c)) {
		struct lz_shard *s = &lz->shard[c->shard];
		struct lz_delta *d;
		u32 n = 0, i;

		spin_lock_irqsave(&s->lock, flags);
		d = c->freeze ? s->frozen : s->active;
		if (!c->freeze && !c->taken) {
			c->lists[c->shard] = s->unc;
			s->unc = LZ_NONE;
			c->taken = true;
		}
		i = c->lists[c->shard];
		while (i != LZ_NONE && !buffer_full(c)) {
			struct lz_dent *e = &d->e[i];

			e->key &= ~LZ_DENT_UNC;
			add_map(lz, e->key & LZ_ADDR_MASK, e->addr);
			i = e->unc;
			n++;
		}
		c->lists[c->shard] = i;
		spin_unlock_irqrestore(&s->lock, flags);
		atomic_sub(n, &lz->uncommitted);
		if (i == LZ_NONE) {
			c->shard++;
			c->taken = false;
		}
	}
	if (c->shard == LZ_NR_SHARDS && !buffer_full(c)) {
		put_run(lz);
		c->stage = LZ_CT_DISCARD;
		if (!c->freeze) {
			spin_lock_irqsave(&lz->ext_lock, flags);
			lz_map_take_extents(lz);
			spin_unlock_irqrestore(&lz->ext_lock, flags);
		}
	}
}

static void collect_discards(struct lz *lz)
{
	struct lz_commit *c = &lz->commit;

	while (c->next_ext < c->nr_ext && !buffer_full(c)) {
		struct lz_extent *e = &c->ext[c->next_ext++];

		put_rec(lz, LZ_JR_DISCARD, e->lba, 0, e->len);
		atomic_dec(&lz->uncommitted);
	}
	if (c->next_ext == c->nr_ext) {
		unsigned long flags;

		spin_lock_irqsave(&lz->list_lock, flags);
		memcpy(c->zrec, lz->zrec, lz->nr_zrec * sizeof(*c->zrec));
		c->nr_zrec = lz->nr_zrec;
		c->next_zrec = 0;
		WRITE_ONCE(lz->nr_zrec, 0);
		spin_unlock_irqrestore(&lz->list_lock, flags);
		c->stage = LZ_CT_ZONE;
	}
}

static void collect_zones(struct lz *lz)
{
	struct lz_commit *c = &lz->commit;

	while (c->next_zrec < c->nr_zrec && !buffer_full(c)) {
		struct lz_zrec *r = &c->zrec[c->next_zrec++];

		put_rec(lz, r->type, r->zone, r->len, r->b);
	}
	if (c->next_zrec == c->nr_zrec)
		c->stage = LZ_CT_END;
}

static void collect(struct lz *lz)
{
	struct lz_commit *c = &lz->commit;

	c->nblocks = 0;
	c->sent = 0;
	c->fill = 0;
	if (c->stage == LZ_CT_MAP)
		collect_maps(lz);
	if (lz_planted(LZ_PLANT_COMMIT_WITHOUT_END) && buffer_full(c))
		return;
	if (c->stage == LZ_CT_DISCARD)
		collect_discards(lz);
	if (c->stage == LZ_CT_ZONE)
		collect_zones(lz);
}

/* The cut: the journal from here on goes on top of the checkpoint. */
static void cut(struct lz *lz)
{
	struct lz_commit *c = &lz->commit;

	if (!c->freeze)
		return;
	c->freeze = false;
	if (lz_log_news(lz))
		lz->ckpt.vain = 0;
	else
		lz->ckpt.vain++;
	lz->ckpt.journal_addr = lz->js->zone == LZ_NONE ? LZ_NOWHERE :
		lz_zone_addr(lz, lz->js->zone, lz->js->off);
	lz->ckpt.journal_seq = lz->jseq;
	lz->ckpt.links = 0;
	lz->ckpt.records = 0;
	lz->ckpt.commit = c->number;
	lz->ckpt.restart = lz->journal_lost;
	lz->ckpt.state = LZ_CK_MERGE;
	lz->progress = true;
}

/* lz_journal_lost - it ends where a write failed, at or before its last commit. */
void lz_journal_lost(struct lz *lz)
{
	struct lz_ckpt *k = &lz->ckpt;

	lz->journal_lost = true;
	if (k->state > LZ_CK_FREEZE && lz->committed < k->commit)
		k->restart = true;
	else
		lz_ckpt_want(lz);
}

/* Who waits for a commit that was not written waits for the checkpoint. */
static void hand_over(struct lz *lz)
{
	struct lz_commit *c = &lz->commit;
	unsigned long flags;

	if (lz->ckpt.restart && lz->ckpt.commit == c->number) {
		list_splice_tail_init(&c->waiters, &lz->ckpt.waiters);
		return;
	}
	spin_lock_irqsave(&lz->list_lock, flags);
	list_splice_tail_init(&c->waiters, &lz->flush_waiters);
	spin_unlock_irqrestore(&lz->list_lock, flags);
}

/*
 * Blocks written over and over take no more of the delta, but of the journal, and all of
 * it has to be read and applied at the next load. A block costs that as much as eight
 * records. What fills the delta to the half asks for a checkpoint no later.
 */
static bool is_long(const struct lz *lz)
{
	return 8 * (lz->jseq - lz->ckpt.journal_seq) + lz->ckpt.records >
		4ull * max(lz->delta_cap, LZ_BATCH_COMMIT);
}

static void commit_end(struct lz *lz)
{
	struct lz_commit *c = &lz->commit;

	c->state = LZ_CS_IDLE;
	lz->progress = true;
	if (lz->mode == LZ_MODE_FAIL) {
		lz_answer(&c->waiters, -EIO);
	} else if (lz->journal_lost) {
		if (!lz_planted(LZ_PLANT_LOST_JOURNAL_ANSWERED))
			hand_over(lz);
	} else {
		lz->committed = c->number;
		if (c->blocks) {
			lz_count(lz, LZ_ST_COMMITS, 1);
			lz_count(lz, LZ_ST_JOURNAL_BLOCKS, c->blocks);
			lz_trace(lz, LZ_TR_COMMIT, LZ_NONE, 0, 0, 0, c->number, c->blocks);
		}
		lz_reset_committed(lz);
		if (lz->ckpt.state == LZ_CK_IDLE && is_long(lz))
			lz_ckpt_want(lz);
	}
	/* The timer is set when old() looks next. */
	if (atomic_read(&lz->uncommitted) > 0)
		WRITE_ONCE(lz->unc_since, lz->ops->now(lz->ctx));
	lz_answer(&c->waiters, 0);
	if (lz_planted(LZ_PLANT_FLUSH_JOINS_LATE))
		lz_answer(&lz->flush_waiters, 0);
	lz_feed(lz);
}

static void piece_done(struct lz *lz, struct lz_cmd *cmd)
{
	struct lz_commit *c = &lz->commit;

	lz->jbuf.busy = false;
	lz->jbuf.link = false;
	lz_stream_ended(lz, lz->js, cmd);
	c->sent += c->sending;
	c->blocks += cmd->nblocks;
	lz->progress = true;
}

static void seal_piece(struct lz *lz, u32 first, u32 n, u64 addr, bool last)
{
	struct lz_commit *c = &lz->commit;
	u32 i;

	for (i = 0; i < n; i++) {
		struct lz_journal *j = jblock(lz, first + i);
		struct lz_want w = {
			.uuid = lz->si.uuid, .type = LZ_BT_JOURNAL, .addr = addr + i,
			.index = c->number, .epoch = lz->epoch, .seq = lz->jseq++,
		};

		j->next_zone = cpu_to_le32(LZ_NONE);
		j->more = cpu_to_le32(!(last && i == n - 1));
		j->first = cpu_to_le64(c->first);
		lz_seal(j, &w, le32_to_cpu(j->h.count));
	}
	lz->zone[lz_addr_zone(lz, addr)].jlast = lz->jseq - 1;
}

/* Sends the next piece of the buffer: as much as lies side by side. */
static void send_piece(struct lz *lz)
{
	struct lz_commit *c = &lz->commit;
	u32 left = c->nblocks - c->sent, want = left, n;
	bool end = c->stage == LZ_CT_END, last, link;
	u64 addr;

	/* A link may have to go with it. */
	want = min(want, max_t(u32, lz->g.max_append - 1, 1));
	c->waits = end && want == left && lz->js->writes;
	if (c->waits)
		return;
	n = lz_stream_take(lz, lz->js, want, &addr, &link);
	if (!n)
		return;
	last = end && n == left;
	if (!c->first)
		c->first = lz->jseq;
	seal_piece(lz, c->sent, n, addr, last);
	lz->jbuf.cmd = (struct lz_cmd){
		.op = LZ_OP_WRITE, .addr = addr, .nblocks = n, .meta = true,
		.buf = jblock(lz, c->sent), .done = piece_done,
	};
	if (link) {
		/* What is behind the piece moves up to make room for the link. */
		memmove(jblock(lz, c->sent + n + 1), jblock(lz, c->sent + n),
			(size_t)(c->nblocks - c->sent - n) * LZ_BLOCK_SIZE);
		lz_stream_link(lz, lz->js, jblock(lz, c->sent + n), addr + n);
		c->nblocks++;
		lz->jbuf.cmd.nblocks++;
	}
	c->sending = n + link;
	lz->jbuf.link = link;
	if (last)
		lz->jbuf.cmd.flags = LZ_CMD_PREFLUSH | LZ_CMD_FUA;
	if (lz_planted(LZ_PLANT_NO_PREFLUSH) ||
	    (lz_planted(LZ_PLANT_NO_PREFLUSH_LONG) && c->blocks))
		lz->jbuf.cmd.flags &= ~LZ_CMD_PREFLUSH;
	if (lz_planted(LZ_PLANT_JOURNAL_NO_FUA))
		lz->jbuf.cmd.flags &= ~LZ_CMD_FUA;
	lz->js->flushing = lz->jbuf.cmd.flags & LZ_CMD_PREFLUSH;
	lz->jbuf.busy = true;
	lz->progress = true;
	if (last)
		cut(lz);
	lz_submit(lz, &lz->jbuf.cmd);
}

/*
 * Have updates been uncommitted for as long as they may? There is one timer, which
 * may have been set for others that were committed since: then it is set again.
 */
static bool old(struct lz *lz)
{
	u64 until = READ_ONCE(lz->unc_since) + (u64)READ_ONCE(lz->o.commit_ms) * 1000000;
	u64 now = lz->ops->now(lz->ctx);

	if (now >= until)
		return true;
	lz->ops->kick_later(lz->ctx, div_u64(until - now, 1000000) + 1);
	return false;
}

static bool due(struct lz *lz)
{
	/* Below zero while updates are collected that their writer has yet to count. */
	int unc = max(atomic_read(&lz->uncommitted), 0);

	if (lz->ckpt.state == LZ_CK_FREEZE) {
		/* A discard half done delays the freeze; it kicks when it ends. */
		WRITE_ONCE(lz->freeze_wanted, true);
		/* Pairs with the one in discard_extent(). */
		smp_mb();
		if (!atomic_read(&lz->discarding))
			return true;
	}
	if (lz->journal_lost)
		return false;
	if (unc >= (int)LZ_BATCH_COMMIT)
		return true;
	if (!list_empty(&lz->flush_waiters))
		return true;
	if (READ_ONCE(lz->commit_wanted) && (unc || !list_empty(&lz->emptied)))
		return true;
	if (READ_ONCE(lz->nr_zrec) >= LZ_ZRECS / 2)
		return true;
	return unc && old(lz);
}

static void commit_start(struct lz *lz)
{
	struct lz_commit *c = &lz->commit;
	bool freeze = lz->ckpt.state == LZ_CK_FREEZE;
	unsigned long flags;

	spin_lock_irqsave(&lz->list_lock, flags);
	list_splice_tail_init(&lz->flush_waiters, &c->waiters);
	spin_unlock_irqrestore(&lz->list_lock, flags);
	if (lz_planted(LZ_PLANT_FLUSH_WITHOUT_COMMIT) && !list_empty(&c->waiters)) {
		lz_answer(&c->waiters, 0);
		if (!freeze)
			return;
	}
	WRITE_ONCE(lz->commit_wanted, false);
	/* Before the updates are collected: they emptied these. */
	lz_reset_collect(lz);
	c->freeze = freeze && lz_map_freeze(lz);
	c->state = LZ_CS_FILL;
	c->stage = LZ_CT_MAP;
	c->number++;
	c->first = 0;
	c->blocks = 0;
	c->shard = 0;
	c->taken = false;
	c->run_len = 0;
	lz->progress = true;
	if (c->freeze)
		lz_feed(lz);
}

/* lz_commit_step - go on with the commit, or begin one that is due. Machine. */
void lz_commit_step(struct lz *lz)
{
	struct lz_commit *c = &lz->commit;

	c->waits = false;
	if (c->state == LZ_CS_IDLE && lz->mode == LZ_MODE_RW && due(lz))
		commit_start(lz);
	if (c->state == LZ_CS_IDLE && lz->mode != LZ_MODE_RW &&
	    !list_empty(&lz->flush_waiters)) {
		unsigned long flags;
		struct list_head list;

		INIT_LIST_HEAD(&list);
		spin_lock_irqsave(&lz->list_lock, flags);
		list_splice_tail_init(&lz->flush_waiters, &list);
		spin_unlock_irqrestore(&lz->list_lock, flags);
		lz_answer(&list, lz->mode == LZ_MODE_RO ? 0 : -EIO);
	}
	while (c->state != LZ_CS_IDLE && !lz->jbuf.busy) {
		if (lz->mode == LZ_MODE_FAIL) {
			commit_end(lz);
			return;
		}
		if (c->state == LZ_CS_FILL) {
			collect(lz);
			c->state = LZ_CS_WRITE;
		}
		if (lz->journal_lost)
			c->sent = c->nblocks;
		if (c->sent < c->nblocks) {
			send_piece(lz);
			if (!lz->jbuf.busy)
				return;	/* no zone, or other writes to it */
		} else if (c->stage != LZ_CT_END) {
			c->state = LZ_CS_FILL;
		} else {
			cut(lz);
			commit_end(lz);
		}
	}
}

void lz_flush(struct lz *lz, struct lz_waiter *w)
{
	unsigned long flags;

	lz_count(lz, LZ_ST_FLUSHES, 1);
	spin_lock_irqsave(&lz->list_lock, flags);
	list_add_tail(&w->list, &lz->flush_waiters);
	spin_unlock_irqrestore(&lz->list_lock, flags);
	lz_kick(lz);
}
