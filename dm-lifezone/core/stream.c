// SPDX-License-Identifier: GPL-2.0-only
/*
 * The metadata log: zones of the pool written front to back with ordinary
 * writes, so that an address is known before its block is written.
 *
 * With a zone budget of six or more the journal and the nodes have a zone each,
 * otherwise they share one; recovery reads both alike. Every zone the journal
 * goes through ends with a link, a journal block without records that names the
 * next zone. A link travels with the piece that reaches the end of the zone;
 * the last piece of a commit waits for what others write to the journal's zone,
 * so that a durable commit can always be found from the root.
 *
 * A write with a flush before it does not keep its place everywhere: devices that
 * are stacked on the drive send the flush first, and what came later overtakes. So
 * nothing is sent behind it until it has ended.
 *
 * A zone that fails is finished and left. If the journal goes through it, no
 * link leads on: the journal is lost, until the next checkpoint has made durable
 * what it was to hold and begins it anew elsewhere.
 */
#include "lz.h"

static u32 take_zone(struct lz *lz)
{
	unsigned long flags;
	struct lz_zone *z;

	spin_lock_irqsave(&lz->place_lock, flags);
	z = lz_zone_take_free(lz, true);
	if (z) {
		lz_zone_set_state(lz, z, LZ_ZS_META);
		z->live = 0;
		z->dying = 0;
		z->jlast = 0;
		lz->nr_meta++;
	}
	spin_unlock_irqrestore(&lz->place_lock, flags);
	lz->log_waits |= !z;
	return z ? lz_zone_nr(lz, z) : LZ_NONE;
}

/*
 * lz_stream_take - room for up to @want blocks side by side at the stream's
 * end, at drive address @addr. @link: a link must follow them, in the same
 * write. 0: no free zone now.
 */
u32 lz_stream_take(struct lz *lz, struct lz_stream *s, u32 want, u64 *addr, bool *link)
{
	u32 end = lz->g.zone_cap - (s->journal && !lz_planted(LZ_PLANT_LINK_OFF_BY_ONE) ? 1 : 0);
	u32 n, next = LZ_NONE;

	/* Until the zone before is full, the budget counts it. */
	if (s->closing || s->flushing)
		return 0;
	if (s->zone == LZ_NONE || s->off >= end) {
		next = take_zone(lz);
		if (next == LZ_NONE)
			return 0;
		s->zone = next;
		s->off = 0;
	}
	n = min(want, end - s->off);
	*link = s->journal && s->off + n == end;
	if (*link) {
		next = take_zone(lz);
		if (next == LZ_NONE)
			return 0;
	}
	*addr = lz_zone_addr(lz, s->zone, s->off);
	s->closing = s->off + n == end;
	s->off += n;
	s->writes++;
	if (*link) {
		s->zone = next;
		s->off = 0;
		lz_count(lz, LZ_ST_JOURNAL_ROLLS, 1);
	}
	return n;
}

/* lz_stream_link - the link that ends the zone @s has just left, to stand at @addr. */
void lz_stream_link(struct lz *lz, struct lz_stream *s, void *block, u64 addr)
{
	struct lz_journal *j = block;
	struct lz_want w = {
		.uuid = lz->si.uuid, .type = LZ_BT_JOURNAL, .addr = addr,
		.index = lz->commit.number, .epoch = lz->epoch, .seq = lz->jseq,
	};

	memset(j, 0, sizeof(*j));
	j->next_zone = cpu_to_le32(s->zone);
	j->first = cpu_to_le64(lz->jseq);
	lz_seal(j, &w, 0);
	lz->zone[lz_addr_zone(lz, addr)].jlast = lz->jseq++;
	lz->ckpt.links++;
}

/*
 * lz_stream_open - have the stream stand at a block that can be written; false:
 * not now.
 */
bool lz_stream_open(struct lz *lz, struct lz_stream *s)
{
	if (s->closing)
		return false;
	if (s->zone != LZ_NONE && s->off + 1 < lz->g.zone_cap)
		return true;
	s->zone = take_zone(lz);
	s->off = 0;
	return s->zone != LZ_NONE;
}

/* One that cannot be finished is read-only or offline, and does not count as open. */
static void finish_done(struct lz *lz, struct lz_cmd *cmd)
{
	struct lz_stream *s = cmd->priv;

	s->closing = false;
	lz->progress = true;
}

static void leave_zone(struct lz *lz, struct lz_stream *s, u32 zone, int error)
{
	struct lz_zone *z = &lz->zone[zone];

	if (!z->failed) {
		z->failed = true;
		z->flags |= LZ_ZF_BAD;
		lz_zone_touch(lz, z);
		lz_count(lz, LZ_ST_ZONES_ASIDE, 1);
		lz_say(lz, 'w', "zone %u of the metadata log left: write error %d", zone, error);
		lz->ops->event(lz->ctx, LZ_EV_ZONE_ASIDE, zone);
	}
	/* Zones count, however many writes were under way. */
	s->failures += s->bad != zone;
	s->bad = zone;
	s->closing = true;
	if (s->zone == zone)
		s->zone = LZ_NONE;
	if (s->journal)
		lz_journal_lost(lz);
	if (s->failures >= LZ_LOG_TRIES)
		lz_set_mode(lz, LZ_MODE_FAIL, "the metadata log cannot be written", error);
}

/* lz_stream_ended - a write to the stream has ended. */
void lz_stream_ended(struct lz *lz, struct lz_stream *s, const struct lz_cmd *cmd)
{
	u32 zone = lz_addr_zone(lz, cmd->addr);

	s->writes--;
	if (cmd->flags & LZ_CMD_PREFLUSH)
		s->flushing = false;
	if (cmd->error) {
		leave_zone(lz, s, zone, cmd->error);
	} else {
		s->failures = 0;
		if (lz_addr_off(lz, cmd->addr) + cmd->nblocks == lz->g.zone_cap &&
		    s->bad == LZ_NONE)
			s->closing = false;
	}
	if (s->bad == LZ_NONE || s->writes)
		return;
	s->finish = (struct lz_cmd){
		.op = LZ_OP_FINISH, .addr = lz_zone_addr(lz, s->bad, 0),
		.done = finish_done, .priv = s,
	};
	s->bad = LZ_NONE;
	lz_submit(lz, &s->finish);
}

/* Blocks that commits of what users have written may take until the next checkpoint is through. */
static u64 journal_worst(const struct lz *lz)
{
	return 8 + lz->delta_cap / LZ_FILL_RECORDS;
}

/* lz_log_worst - blocks the largest checkpoint needs, and the commits beside it. */
u64 lz_log_worst(const struct lz *lz)
{
	return journal_worst(lz) + lz_tree_above(&lz->map, 0) + lz_tree_above(&lz->ztab, 0);
}

/*
 * lz_log_free - blocks the metadata log may still take, also after a cut. That may spoil what is
 * left of the zones it is written to. Of these only what the journal may yet need counts, as a
 * load needs none of it: its checkpoint gets along with zones that are free.
 */
u64 lz_log_free(struct lz *lz)
{
	const struct lz_stream *s = lz->js;
	u32 zones;
	u64 n;

	zones = lz->si.meta_zones > lz->nr_meta ? lz->si.meta_zones - lz->nr_meta : 0;
	zones = min(zones, READ_ONCE(lz->nr_free));
	n = (u64)zones * (lz->g.zone_cap - 1);
	if (s->zone != LZ_NONE && s->off + 1 < lz->g.zone_cap)
		n += min_t(u64, lz->g.zone_cap - 1 - s->off, journal_worst(lz));
	return n;
}

/* lz_log_news - has the journal more than links since the cut? */
bool lz_log_news(const struct lz *lz)
{
	return lz->jseq != lz->ckpt.journal_seq + lz->ckpt.links;
}

/* lz_log_tight - a checkpoint must free metadata zones before users write on. */
bool lz_log_tight(struct lz *lz)
{
	u64 left = lz_log_free(lz), worst = lz_log_worst(lz);

	/*
	 * Having cleaned every zone without any news, it would only write roots on and on.
	 * Nor does it help while zones that it has cleaned are still being reset.
	 */
	if (left < worst + lz->g.zone_cap && !lz->meta_resets &&
	    (lz_log_news(lz) || lz->ckpt.vain <= lz->si.meta_zones))
		lz_ckpt_want(lz);
	return left < worst;
}

/*
 * lz_meta_release - the root is durable: metadata zones without live nodes and
 * without journal after it go.
 */
void lz_meta_release(struct lz *lz)
{
	unsigned long flags;
	u32 i;

	for (i = 0; i < lz->g.nr_zones; i++) {
		struct lz_zone *z = &lz->zone[i];

		if (z->state != LZ_ZS_META)
			continue;
		z->live -= z->dying;
		z->dying = 0;
		if (z->jlast >= lz->ckpt.journal_seq && !lz_planted(LZ_PLANT_JOURNAL_RESET_EARLY))
			continue;
		if (z->live || z->listed || i == lz->js->zone || i == lz->ns->zone ||
		    i == lz_addr_zone(lz, lz->ckpt.journal_addr))
			continue;
		if (lz->ckpt.victim[i])
			lz_count(lz, LZ_ST_META_CLEANS, 1);
		if ((z->flags & LZ_ZF_BAD) && (z->flags & LZ_ZF_WORN)) {
			spin_lock_irqsave(&lz->place_lock, flags);
			lz->nr_meta--;
			lz_zone_set_state(lz, z, LZ_ZS_BAD);
			spin_unlock_irqrestore(&lz->place_lock, flags);
			continue;
		}
		/* Of an earlier life there may still be a reader, about to look again. */
		WRITE_ONCE(z->draining, true);
		spin_lock_irqsave(&lz->list_lock, flags);
		z->listed = true;
		list_add_tail(&z->list, &lz->ready);
		spin_unlock_irqrestore(&lz->list_lock, flags);
	}
}
