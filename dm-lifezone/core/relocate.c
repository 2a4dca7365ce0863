// SPDX-License-Identifier: GPL-2.0-only
/*
 * Garbage collection: moves what is valid out of a victim.
 *
 * The victim's summaries, newest first, say whose blocks it held; the map says
 * which of them still live there. Those are read, appended to a zone of their
 * class, and mapped only if the map still names the old place, so a block
 * written meanwhile is never replaced. GC does not free the zone: it becomes
 * empty like any other and is reset by reset.c. So is an empty zone that was left to be filled, in
 * place of a victim, where that is better (core/reclaim.c).
 *
 * A zone whose summaries are incomplete (a write to it failed, a cut took the
 * room for the last one, or they do not check) is cleaned by searching the map,
 * after a checkpoint, for all that points into it.
 *
 * GC may open the reserve zones, which users may not, and has its share of the
 * delta. It does not wait for users, only for commits and checkpoints.
 */
#include "lz.h"

/* Blocks users have written since GC has to run. */
static s64 lent(const struct lz *lz)
{
	return (s64)lz->gc.granted - atomic_read(&lz->credit);
}

static void pace_in(struct lz *lz, struct lz_pace_in *in)
{
	in->free_zones = lz_free_now(lz, true);
	in->reserve = lz->si.gc_zones;
	in->start = lz->si.gc_zones + LZ_GC_START;
	in->ahead = 0;
	in->lent = div_u64(max_t(s64, lent(lz), 0), lz->g.zone_cap);
	in->gain = lz->gc.gain;
}

/* Users may write so many blocks more; they cannot save up for more than a quarter of a zone. */
static void grant(struct lz *lz, u64 blocks)
{
	s64 most = DIV_ROUND_UP(lz->g.zone_cap, 4) - atomic_read(&lz->credit);

	blocks = min_t(s64, blocks, max_t(s64, most, 0));
	lz->gc.granted += blocks;
	atomic_add((int)blocks, &lz->credit);
}

/* GC does not have to run. */
static void not_due(struct lz *lz)
{
	lz->gc.granted = 0;
	lz->gc.fraction = 0;
	atomic_set(&lz->credit, 0);
	grant(lz, lz->g.zone_cap);
	WRITE_ONCE(lz->pacing, false);
}

/* GC is done with so many blocks more. */
static void earn(struct lz *lz, u32 blocks)
{
	struct lz_gc *gc = &lz->gc;
	struct lz_pace_in in;
	u64 parts;
	u32 share;

	pace_in(lz, &in);
	share = lz_pace_user_share(&in);
	if (share == ~0u) {
		not_due(lz);
	} else {
		parts = (u64)share * blocks + gc->fraction;
		gc->fraction = parts % LZ_PACE_UNIT;
		grant(lz, parts / LZ_PACE_UNIT);
		WRITE_ONCE(lz->pacing, true);
	}
	lz_feed(lz);
}

/* Of its victim it is done with @blocks, so far. */
static void earn_up_to(struct lz *lz, u64 blocks)
{
	struct lz_gc *gc = &lz->gc;
	u32 more = min_t(u64, blocks, lz->g.zone_cap);

	more -= min(more, gc->done);
	gc->done += more;
	earn(lz, more);
}

/* Zones that data does not fill; reckoned anew now and then. */
static u32 spare_zones(struct lz *lz)
{
	u64 now = atomic64_read(&lz->write_seq);
	struct lz_gc *gc = &lz->gc;

	if (!gc->spare_known || now - gc->spare_at >= lz_space_step(lz)) {
		gc->spare = lz_spare_zones(lz, lz_mapped_blocks(lz));
		gc->spare_at = now;
		gc->spare_known = true;
	}
	return gc->spare;
}

/* Blocks written until @now since @z last was: none, if it was written after that. */
static u64 age_at(const struct lz_zone *z, u64 now)
{
	u64 seq = READ_ONCE(z->seq);

	return now > seq ? now - seq : 0;
}

/* Is @z, open, of all zones that are empty the one with most to gain? @in: the one that was. */
static bool most_left(struct lz *lz, struct lz_zone *z, u64 now, struct lz_trace *t,
		      struct lz_rather_in *in)
{
	u32 left = lz_zone_left(lz, z);
	u64 age = age_at(z, now);

	if (!left)
		return false;
	t->c++;
	if (lz_traced(lz, LZ_TR_VICTIM_ZONE))
		lz_trace_event(lz, &(struct lz_trace){
			.what = LZ_TR_VICTIM_ZONE, .zone = lz_zone_nr(lz, z), .class = z->class,
			.b = age, .d = left,
		});
	if (left <= in->written)
		return false;
	in->written = left;
	in->age = age;
	return true;
}

/*
 * The zone to clean; or, where @t says that nothing in it is valid, to reset. And from how many
 * it was chosen, and why.
 */
static u32 pick(struct lz *lz, struct lz_trace *t)
{
	struct lz_pace_in in;
	struct lz_rather_in rather = { .cost = &lz_cost_default };
	u32 best = LZ_NONE, aside = LZ_NONE, empty = LZ_NONE, i;
	u64 top = 0, now = atomic64_read(&lz->write_seq);
	u32 room = lz->g.zone_cap - DIV_ROUND_UP(lz->g.zone_cap, LZ_FILL_SUMMARY + 1);
	u8 how = lz_victim_rule(&lz->o);
	bool pressed, traced = lz_traced(lz, LZ_TR_VICTIM_ZONE);

	pace_in(lz, &in);
	rather.cap = room;
	rather.spare = spare_zones(lz);
	*t = (struct lz_trace){ .what = LZ_TR_VICTIM, .d = in.free_zones, .e = rather.spare };
	pressed = in.free_zones <= in.reserve;
	/* At the reserve what counts is space, and soon. */
	if (pressed)
		how = LZ_VICTIM_GREEDY;
	for (i = 0; i < lz->g.nr_zones; i++) {
		struct lz_zone *z = &lz->zone[i];
		u32 valid = atomic_read(&z->valid);
		u8 state = READ_ONCE(z->state);
		u64 score, age;
		int rate = 0;
		bool worth;

		if (state == LZ_ZS_OPEN && most_left(lz, z, now, t, &rather))
			empty = i;
		if ((state != LZ_ZS_FULL && state != LZ_ZS_BAD) || !valid ||
		    z->draining || z->gc_ckpt > lz->ckpt.number)
			continue;
		if (state == LZ_ZS_BAD) {
			aside = i;
			continue;
		}
		age = age_at(z, now);
		worth = lz_victim_worth(valid, room, pressed);
		if (how == LZ_VICTIM_MDC && (worth || traced))
			rate = lz_infer_zone_rate(lz, z, age, now);
		t->c++;
		if (traced)
			lz_trace_event(lz, &(struct lz_trace){
				.what = LZ_TR_VICTIM_ZONE, .zone = i, .class = z->class,
				.a = valid, .b = age, .c = (s64)rate, .d = z->done,
			});
		if (!worth)
			continue;
		score = lz_victim_score(how, valid, room, age, rate);
		if (score > top) {
			top = score;
			best = i;
			rather.valid = valid;
		}
	}
	/* One set aside comes first, but it takes room and gives none back. */
	if (aside != LZ_NONE && (!pressed || best == LZ_NONE)) {
		t->a = max(atomic_read(&lz->zone[aside].valid), 1);
		return aside;
	}
	if (best == LZ_NONE)
		return pressed ? empty : best;
	if (empty != LZ_NONE && lz_reset_rather(&rather))
		return empty;
	t->a = rather.valid;
	return best;
}

static void summary_read(struct lz *lz, struct lz_cmd *cmd)
{
	lz->gc.busy = false;
	lz->gc.error = cmd->error;
	lz->progress = true;
}

static void read_summary(struct lz *lz)
{
	struct lz_gc *gc = &lz->gc;

	gc->state = LZ_GC_SUMMARY;
	gc->busy = true;
	gc->cmd = (struct lz_cmd){
		.op = LZ_OP_READ, .addr = lz_zone_addr(lz, gc->victim, gc->head),
		.nblocks = min(LZ_SUM_BLOCKS, lz->g.zone_cap - gc->head),
		.buf = gc->buf, .meta = true, .done = summary_read,
	};
	lz_submit(lz, &gc->cmd);
}

static void ckpt_done(struct lz_waiter *w, int err)
{
	struct lz_gc *gc = container_of(w, struct lz_gc, ckpt);

	gc->ckpt_done = true;
	gc->error = err;
}

static void begin_scan(struct lz *lz)
{
	struct lz_gc *gc = &lz->gc;

	gc->scan = true;
	gc->found = false;
	gc->unread = false;
	gc->leaf = 0;
	gc->ahead = 0;
	gc->n = 0;
	gc->pos = 0;
	gc->ckpt_done = false;
	gc->ckpt.fn = ckpt_done;
	gc->state = LZ_GC_CKPT;
	lz_request_checkpoint(lz, &gc->ckpt);
}

/*
 * Entries in the order in which they are moved: those that go to the same zone together,
 * and then as they lie on the drive.
 */
static void sort_entries(struct lz *lz)
{
	struct lz_gc *gc = &lz->gc;
	const struct lz_zone *z = &lz->zone[gc->victim];
	u32 at[LZ_NR_ZONE_CLASSES + 1] = {}, i;
	u64 lba;

	sort(gc->ent, gc->n, sizeof(*gc->ent), lz_cmp_u64, NULL);
	for (i = 0; i < gc->n; i++) {
		lba = lz_sum_lba(gc->ent[i]);
		gc->class[i] = lba < lz->si.logical_blocks ? lz_infer_moved(lz, z, lba) : 0;
		at[gc->class[i] + 1]++;
	}
	if (at[gc->class[0] + 1] == gc->n)
		return;
	for (i = 0; i < LZ_NR_ZONE_CLASSES; i++)
		at[i + 1] += at[i];
	for (i = 0; i < gc->n; i++)
		gc->by_class[at[gc->class[i]]++] = gc->ent[i];
	swap(gc->ent, gc->by_class);
	/* Each class now begins where the one before it ended. */
	memset(gc->class, 0, at[0]);
	for (i = 1; i < LZ_NR_ZONE_CLASSES; i++)
		memset(gc->class + at[i - 1], i, at[i] - at[i - 1]);
}

/* Takes over the entries of the summary read; false: it does not check. */
static bool parse_summary(struct lz *lz)
{
	struct lz_gc *gc = &lz->gc;
	struct lz_zone *z = &lz->zone[gc->victim];
	u32 group = le32_to_cpu(gc->buf->group), i, j;
	char why[160];

	gc->n = 0;
	gc->pos = 0;
	if (gc->error)
		return false;
	for (i = 0; i < (i ? group : 1); i++) {
		struct lz_summary *s = &gc->buf[i];
		struct lz_want w = {
			.uuid = lz->si.uuid, .type = LZ_BT_SUMMARY, .addr = LZ_NO_ADDR,
			.index = gc->victim, .epoch_max = lz->epoch,
		};

		if (!lz_valid(s, &w, why, sizeof(why))) {
			lz_say(lz, 'w', "zone %u, summary at offset %u: %s", gc->victim,
			       gc->head + i, why);
			return false;
		}
		if (!i)
			group = le32_to_cpu(s->group);
		if (group > LZ_SUM_BLOCKS || group > gc->cmd.nblocks ||
		    le32_to_cpu(s->gen) != z->gen || le32_to_cpu(s->nth) != i ||
		    le64_to_cpu(s->h.seq) != gc->seq - group + 1 + i) {
			lz_say(lz, 'w', "zone %u, summary at offset %u: of another life",
			       gc->victim, gc->head + i);
			return false;
		}
		for (j = 0; j < le32_to_cpu(s->h.count); j++)
			gc->ent[gc->n++] = le64_to_cpu(s->e[j]);
	}
	gc->prev = le32_to_cpu(gc->buf->prev);
	gc->seq -= group;
	sort_entries(lz);
	return true;
}

/* Gathers what the next leaf maps into the victim; others are read meanwhile. False: wait. */
static bool scan_leaf(struct lz *lz)
{
	struct lz_gc *gc = &lz->gc;
	u64 first = gc->leaf * LZ_NODE_ENTRIES;
	struct lz_cached *c;
	int err;
	u32 j;

	gc->n = 0;
	gc->pos = 0;
	for (gc->ahead = max(gc->ahead, gc->leaf);
	     gc->ahead < min(gc->leaf + LZ_MERGE_WINDOW, lz->map.n[0]); gc->ahead++) {
		if (lz->map.addr[0][gc->ahead] == LZ_NOWHERE)
			continue;
		/* Where memory is short it is for the one that is looked at. */
		if (!lz_leaf_get(lz, gc->ahead, &err) && !lz->leaf[gc->ahead])
			break;
	}
	if (lz->map.addr[0][gc->leaf] != LZ_NOWHERE) {
		c = lz_leaf_get(lz, gc->leaf, &err);
		if (!c && !err)
			return false;
		/* One that cannot be read may name some. */
		gc->unread |= !c;
		/* It takes the drive as long as a copy does, and users wait for it as for one. */
		if (++gc->unpaid == LZ_MERGE_WINDOW) {
			earn(lz, gc->unpaid);
			gc->unpaid = 0;
		}
		for (j = 0; c && j < LZ_NODE_ENTRIES; j++) {
			u64 a = le64_to_cpu(c->node->e[j]);

			if (a != LZ_NOWHERE && lz_addr_zone(lz, a) == gc->victim)
				gc->ent[gc->n++] = lz_sum_pack(lz_addr_off(lz, a), first + j);
		}
	}
	gc->found |= gc->n > 0;
	sort_entries(lz);
	gc->leaf++;
	return true;
}

static void start_reads(struct lz *lz, struct lz_gc_slot *s);

/* Each block has been read by itself: those that cannot be stay where they are. */
static void slot_lost(struct lz *lz, struct lz_gc_slot *s)
{
	struct lz_zone *z = &lz->zone[lz->gc.victim];
	u32 i, n = 0;

	for (i = 0; i < s->n; i++) {
		if (s->read[i].error) {
			lz_say(lz, 'e', "zone %u: block at offset %u cannot be read (error %d)",
			       lz->gc.victim, lz_addr_off(lz, s->old[i]), s->read[i].error);
			z->gc_ckpt = ~0ull;
			continue;
		}
		s->lba[n] = s->lba[i];
		s->old[n] = s->old[i];
		memmove(s->buf + (size_t)n++ * LZ_BLOCK_SIZE, s->buf + (size_t)i * LZ_BLOCK_SIZE,
			LZ_BLOCK_SIZE);
	}
	s->n = n;
	s->state = n ? LZ_SL_RESERVE : LZ_SL_IDLE;
}

static void slot_read(struct lz *lz, struct lz_cmd *cmd)
{
	struct lz_gc_slot *s = cmd->priv;

	if (cmd->error && !lz_planted(LZ_PLANT_GC_READ_ERROR_IGNORED))
		s->failed = true;
	lz->progress = true;
	if (--s->reads)
		return;
	if (!s->failed) {
		s->state = LZ_SL_RESERVE;
	} else if (s->read_tries < LZ_READ_TRIES) {
		/* The zone cannot be cleaned without, so it had better be more than a hiccup. */
		s->read_tries++;
		start_reads(lz, s);
	} else {
		slot_lost(lz, s);
	}
}

/* At last each block by itself: what cannot be read does not keep others where they are. */
static void start_reads(struct lz *lz, struct lz_gc_slot *s)
{
	bool apart = s->read_tries == LZ_READ_TRIES;
	u32 i, k = 0, j;

	s->state = LZ_SL_READ;
	s->failed = false;
	for (i = 0; i < s->n; i = j) {
		for (j = i + 1; !apart && j < s->n && s->old[j] == s->old[j - 1] + 1; j++)
			;
		s->read[k++] = (struct lz_cmd){
			.op = LZ_OP_READ, .addr = s->old[i], .nblocks = j - i,
			.buf = s->buf + (size_t)i * LZ_BLOCK_SIZE,
			.done = slot_read, .priv = s,
		};
	}
	/* All are counted before the first may end. */
	s->reads = k;
	for (i = 0; i < k; i++)
		lz_submit(lz, &s->read[i]);
}

/* Has the leaf of @lba read if it is wanted and not in RAM. False: there is no memory for more. */
static bool want_leaf(struct lz *lz, u64 lba)
{
	u64 leaf = div_u64(lba, LZ_NODE_ENTRIES);
	int err;

	if (lba >= lz->si.logical_blocks || lz->leaf[leaf] || lz_map_get(lz, lba) != LZ_MISS)
		return true;
	lz_leaf_get(lz, leaf, &err);
	return lz->leaf[leaf];
}

/* A leaf is missing: those of the blocks behind are read meanwhile, not one after the other. */
static void want_leaves_ahead(struct lz *lz)
{
	struct lz_gc *gc = &lz->gc;
	u32 end = min(gc->n, gc->pos + LZ_MERGE_WINDOW), i;

	for (i = gc->pos; i < end && want_leaf(lz, lz_sum_lba(gc->ent[i])); i++)
		;
}

/* Fills @s with live blocks. False: a leaf must be read first. */
static bool fill_slot(struct lz *lz, struct lz_gc_slot *s)
{
	struct lz_gc *gc = &lz->gc;

	while (s->n < gc->run && gc->pos < gc->n) {
		u64 e = gc->ent[gc->pos], lba = lz_sum_lba(e), a;
		int err;

		if (lba >= lz->si.logical_blocks || lz_sum_offset(e) >= lz->g.zone_cap) {
			gc->pos++;
			continue;
		}
		if (!s->n)
			s->class = gc->class[gc->pos];
		else if (s->class != gc->class[gc->pos])
			break;
		a = lz_map_get(lz, lba);
		if (a == LZ_MISS) {
			lz_leaf_get(lz, div_u64(lba, LZ_NODE_ENTRIES), &err);
			if (!err) {
				want_leaves_ahead(lz);
				return false;
			}
		} else if (a == lz_zone_addr(lz, gc->victim, lz_sum_offset(e)) ||
			   lz_planted(LZ_PLANT_STALE_SUMMARY)) {
			s->lba[s->n] = lba;
			s->old[s->n++] = lz_zone_addr(lz, gc->victim, lz_sum_offset(e));
		}
		gc->pos++;
	}
	return true;
}

static void slot_appended(struct lz *lz, struct lz_cmd *cmd)
{
	struct lz_gc_slot *s = cmd->priv;
	struct lz_zone *z = &lz->zone[s->w.zone];

	lz->progress = true;
	if (!cmd->error && !lz_zone_landed(lz, &s->w, cmd->result))
		cmd->error = -EIO;
	if (!cmd->error || lz_planted(LZ_PLANT_GC_WRITE_ERROR_IGNORED)) {
		s->state = LZ_SL_MAP;
		s->next = 0;
		s->named = 0;
		s->used = 0;
		return;
	}
	lz_delta_return(lz, s->w.nblocks);
	lz_zone_aside(lz, z, cmd->error);
	lz_zone_done(lz, z, s->w.nblocks, 0);
	s->state = LZ_SL_RESERVE;
	if (++s->tries == LZ_GC_TRIES)
		lz_set_mode(lz, LZ_MODE_FAIL, "GC cannot write", cmd->error);
}

static void slot_append(struct lz *lz, struct lz_gc_slot *s)
{
	u32 want = s->n - s->done;

	if (!lz_delta_reserve(lz, want, true))
		return;
	if (lz_zone_reserve(lz, s->class, true, min(want, lz->append_max), &s->w)) {
		lz_delta_return(lz, want);
		return;
	}
	lz_delta_return(lz, want - s->w.nblocks);
	s->append = (struct lz_cmd){
		.op = LZ_OP_APPEND, .addr = lz_zone_addr(lz, s->w.zone, 0),
		.nblocks = s->w.nblocks, .class = s->class,
		.buf = s->buf + (lz_planted(LZ_PLANT_GC_WRONG_BUFFER) ? 0 :
				 (size_t)s->done * LZ_BLOCK_SIZE),
		.done = slot_appended, .priv = s,
	};
	s->state = LZ_SL_APPEND;
	lz->progress = true;
	lz_submit(lz, &s->append);
}

/* Maps what landed. False: a leaf must be read first. */
static bool slot_map(struct lz *lz, struct lz_gc_slot *s)
{
	struct lz_zone *z = &lz->zone[s->w.zone];
	u32 i;

	for (; s->next < s->w.nblocks; s->next++) {
		u64 addr = s->append.result + s->next, lba = s->lba[s->done + s->next];
		int ret, err;

		atomic_inc(&z->valid);
		ret = lz_map_remap(lz, lba, s->old[s->done + s->next], addr);
		if (ret == -EAGAIN) {
			lz_leaf_get(lz, div_u64(lba, LZ_NODE_ENTRIES), &err);
			if (err) {
				lz_valid_sub(lz, addr, false);
				continue;
			}
			/* It is counted again, and listed if need be, once the leaf is there. */
			atomic_dec(&z->valid);
			for (i = s->next + 1; i < s->w.nblocks; i++)
				if (!want_leaf(lz, s->lba[s->done + i]))
					break;
			return false;
		}
		if (ret) {
			lz_zone_name(lz, z, lz_addr_off(lz, addr), lba, 1);
			s->named++;
			s->used += ret == 2;
		} else {
			lz_valid_sub(lz, addr, false);
			lz_count(lz, LZ_ST_GC_LOST, 1);
		}
	}
	lz_delta_return(lz, s->w.nblocks - s->used);
	lz_zone_done(lz, z, s->w.nblocks, s->named);
	lz_count(lz, LZ_ST_GC_COPIES, s->w.nblocks);
	lz_count(lz, lz_class_stat(LZ_ST_CLASS_COPIES, s->class), s->w.nblocks);
	s->done += s->w.nblocks;
	s->state = s->done < s->n ? LZ_SL_RESERVE : LZ_SL_IDLE;
	lz->progress = true;
	/* As many blocks of garbage have been passed by as go with these. */
	lz->gc.moved += s->w.nblocks;
	earn_up_to(lz, div_u64((u64)lz->gc.moved * lz->g.zone_cap, lz->gc.valid));
	return true;
}

/*
 * A zone that was set aside holds data: it is moved however much is free. The
 * zones are looked at only when one was set aside, or a checkpoint has settled
 * what one holds.
 */
static bool aside_due(struct lz *lz)
{
	u64 next = ~0ull;
	u32 i;

	if (lz->ckpt.number < READ_ONCE(lz->gc.aside))
		return false;
	for (i = 0; i < lz->g.nr_zones; i++) {
		const struct lz_zone *z = &lz->zone[i];

		if (READ_ONCE(z->state) != LZ_ZS_BAD || !atomic_read(&z->valid) || z->draining)
			continue;
		if (z->gc_ckpt <= lz->ckpt.number)
			return true;
		next = min(next, z->gc_ckpt);
	}
	lz->gc.aside = next;
	return false;
}

/* Is nobody writing? If somebody is, GC looks again soon after a zone's writes have ended. */
static bool is_idle(struct lz *lz)
{
	if (!lz_writes_pending(lz))
		return true;
	WRITE_ONCE(lz->idle_wanted, true);
	/* Either they are seen to have ended, or it is seen that this is wanted. */
	smp_mb();
	return !lz_writes_pending(lz);
}

/* GC is ahead: may it copy more now? One at a time, and none while somebody writes. */
static bool go_ahead(struct lz *lz)
{
	struct lz_gc *gc = &lz->gc;
	struct lz_pace_in in;

	if (READ_ONCE(lz->stopping) || lz->zone[gc->victim].draining)
		return true;
	pace_in(lz, &in);
	/* Users have caught up, or it is wanted for something else. */
	if (lz_pace_gc_due(&in) || atomic_read(&gc->want) || aside_due(lz))
		gc->early = false;
	return !gc->early || is_idle(lz);
}

/* Goes on with the copies. True: all are idle. */
static bool slots_step(struct lz *lz)
{
	struct lz_gc *gc = &lz->gc;
	bool idle = true;
	u32 i;

	for (i = 0; i < LZ_GC_SLOTS; i++) {
		struct lz_gc_slot *s = &gc->slot[i];

		/* Users may have freed it all meanwhile, and its reset wait for us. */
		if (s->state == LZ_SL_RESERVE && !lz->zone[gc->victim].draining)
			slot_append(lz, s);
		/* A stop does not wait for room: what was not copied stays where it is. */
		if (s->state == LZ_SL_RESERVE &&
		    (READ_ONCE(lz->stopping) || lz->zone[gc->victim].draining)) {
			s->state = LZ_SL_IDLE;
			lz->progress = true;
		}
		if (s->state == LZ_SL_MAP)
			slot_map(lz, s);
		if (s->state == LZ_SL_IDLE && gc->state == LZ_GC_ENTRIES && gc->pos < gc->n &&
		    (!gc->early || (!i && go_ahead(lz)))) {
			s->n = 0;
			s->done = 0;
			s->tries = 0;
			s->read_tries = 0;
			if (!fill_slot(lz, s) && !s->n)
				return false;
			if (s->n) {
				lz->progress = true;
				start_reads(lz, s);
			}
		}
		idle &= s->state == LZ_SL_IDLE;
	}
	return idle;
}

static void victim_end(struct lz *lz)
{
	struct lz_gc *gc = &lz->gc;
	struct lz_zone *z = &lz->zone[gc->victim];
	u32 left = atomic_read(&z->valid);

	if (z->gc_ckpt == ~0ull) {
		/* Some of it cannot be read; it stays. */
	} else if (left && gc->scan && !gc->found && gc->leaf == lz->map.n[0]) {
		lz_say(lz, 'w', gc->unread ?
		       "zone %u: %u blocks stay where they are, as not all of the map can be read" :
		       "zone %u: %u blocks are counted that the map does not name",
		       gc->victim, left);
		z->gc_ckpt = ~0ull;
	} else if (left && !READ_ONCE(lz->stopping)) {
		/* Overwrites not yet settled; or, the second time, blocks no summary names. */
		if (z->gc_ckpt || gc->scan)
			z->flags |= LZ_ZF_SCAN;
		/* One under way may have been cut before the last overwrite. */
		z->gc_ckpt = lz->ckpt.number + (lz->ckpt.state == LZ_CK_IDLE ? 1 : 2);
		lz_ckpt_want(lz);
	}
	if (z->state == LZ_ZS_BAD)
		gc->aside = 0;
	gc->state = LZ_GC_IDLE;
	earn_up_to(lz, lz->g.zone_cap - min(left, lz->g.zone_cap));
	if (atomic_dec_and_test(&z->readers))
		lz_kick(lz);
	WRITE_ONCE(lz->commit_wanted, true);
	lz->progress = true;
}

/* The next commit has @z, empty and open, reset, unless somebody writes to it before. */
static void reset_left(struct lz *lz, struct lz_zone *z)
{
	WRITE_ONCE(z->chosen, true);
	lz_zone_emptied(lz, z);
	WRITE_ONCE(lz->commit_wanted, true);
}

static void gc_begin(struct lz *lz)
{
	struct lz_gc *gc = &lz->gc;
	struct lz_pace_in in;
	struct lz_trace t;
	struct lz_zone *z;
	u32 want;
	u64 now;

	pace_in(lz, &in);
	if (in.free_zones < in.start + READ_ONCE(lz->o.gc_ahead))
		in.ahead = lz_pace_ahead(READ_ONCE(lz->o.gc_ahead), spare_zones(lz));
	/* What is about to be free nobody needs to clean for, unless space is short by then. */
	if (in.free_zones > in.reserve && lz_pace_gc_early(&in))
		in.free_zones += lz_resets_coming(lz);
	gc->early = !lz_pace_gc_due(&in) && !atomic_read(&gc->want) && !aside_due(lz);
	/* This comes by in each round. */
	if (gc->early && (lz->pacing || lent(lz))) {
		not_due(lz);
		lz_feed(lz);
	}
	if (gc->early && !lz_pace_gc_early(&in)) {
		lz_gc_look(lz);
		return;
	}
	if (lz_gc_in_vain(lz))
		return;
	if (gc->early && !is_idle(lz))
		return;
	/* What changes from here on this look may not see, nor does it answer who asks. */
	now = atomic64_read(&lz->write_seq);
	WRITE_ONCE(gc->looked_at, now);
	atomic_set(&gc->look, LZ_LOOK_BEGUN);
	/* A full barrier: see lz_gc_look(). */
	want = atomic_xchg(&gc->want, 0);
	gc->early &= !want;
	gc->victim = pick(lz, &t);
	if (gc->victim == LZ_NONE) {
		if (atomic_cmpxchg(&gc->look, LZ_LOOK_BEGUN, LZ_LOOK_IN_VAIN) != LZ_LOOK_BEGUN) {
			atomic_cmpxchg(&gc->want, 0, want);
			lz_kick(lz);
			return;
		}
		/*
		 * Counts may lag behind overwrites: settle them, if somebody waits, or there
		 * can have been enough of them to matter.
		 */
		if (!gc->early && (atomic_read(&lz->active->used) || lz->active->nr_ext) &&
		    (READ_ONCE(lz->was_starved) || atomic_read(&lz->starved) ||
		     now - gc->settled_at >= lz->g.zone_cap / LZ_SETTLE_PART)) {
			gc->settled_at = now;
			lz_ckpt_want(lz);
		}
		WRITE_ONCE(lz->pacing, false);
		/* Users may have GC's room now. */
		lz_feed(lz);
		return;
	}
	/* One less, unless somebody has asked anew. */
	if (want)
		atomic_cmpxchg(&gc->want, 0, want - 1);
	z = &lz->zone[gc->victim];
	lz->progress = true;
	t.zone = gc->victim;
	t.class = z->class;
	t.b = age_at(z, atomic64_read(&lz->write_seq));
	lz_trace_event(lz, &t);
	if (!t.a) {
		reset_left(lz, z);
		return;
	}
	atomic_inc(&z->readers);
	lz_count(lz, LZ_ST_GC_VICTIMS, 1);
	gc->valid = t.a;
	gc->moved = 0;
	gc->done = 0;
	if (z->state != LZ_ZS_BAD)
		gc->gain = lz_pace_gain(gc->gain, gc->valid, lz->g.zone_cap);
	if (in.free_zones <= in.start)
		earn(lz, 0);
	if (in.free_zones <= in.reserve)
		lz_zones_part(lz);
	gc->scan = false;
	gc->head = z->head;
	gc->seq = z->sum_seq;
	if ((z->flags & LZ_ZF_SCAN) || z->head == LZ_NO_OFFSET)
		begin_scan(lz);
	else
		read_summary(lz);
}

/* lz_gc_step - go on cleaning, or begin if it is due. Machine. */
void lz_gc_step(struct lz *lz)
{
	struct lz_gc *gc = &lz->gc;
	bool idle;

	if (gc->state == LZ_GC_IDLE) {
		if (!READ_ONCE(lz->stopping) && !lz->loading)
			gc_begin(lz);
		return;
	}
	if (gc->state == LZ_GC_SUMMARY && !gc->busy) {
		lz->progress = true;
		if (parse_summary(lz))
			gc->state = LZ_GC_ENTRIES;
		else
			begin_scan(lz);
	}
	if (gc->state == LZ_GC_CKPT && gc->ckpt_done)
		gc->state = LZ_GC_SCAN;
	/* Users may have freed it all meanwhile: nothing is to be found, and its reset waits. */
	if (gc->state == LZ_GC_SCAN && lz->zone[gc->victim].draining) {
		gc->state = LZ_GC_DRAIN;
		lz->progress = true;
	}
	if (gc->state == LZ_GC_SCAN && (!gc->early || go_ahead(lz)) && scan_leaf(lz)) {
		gc->state = LZ_GC_ENTRIES;
		lz->progress = true;
	}
	idle = slots_step(lz);
	if (gc->state == LZ_GC_ENTRIES && gc->pos == gc->n) {
		lz->progress = true;
		if (READ_ONCE(lz->stopping) || lz->zone[gc->victim].draining) {
			gc->state = LZ_GC_DRAIN;
		} else if (gc->scan) {
			gc->state = gc->leaf < lz->map.n[0] ? LZ_GC_SCAN : LZ_GC_DRAIN;
		} else if (gc->prev == LZ_NO_OFFSET || gc->prev >= gc->head) {
			gc->state = LZ_GC_DRAIN;
		} else {
			gc->head = gc->prev;
			read_summary(lz);
		}
	}
	if (gc->state == LZ_GC_DRAIN && idle)
		victim_end(lz);
}

/* lz_request_gc - clean @zones zones, if there are any worth it. */
void lz_request_gc(struct lz *lz, u32 zones)
{
	atomic_set(&lz->gc.want, zones);
	lz_gc_look(lz);
	lz_kick(lz);
}

int lz_gc_init(struct lz *lz)
{
	struct lz_gc *gc = &lz->gc;
	u32 i;

	not_due(lz);
	gc->run = min3_u32(LZ_GC_RUN, lz->append_max, lz->g.zone_cap);
	gc->ent = lz_zalloc_array(LZ_SUM_BLOCKS * LZ_SUMMARY_ENTRIES, sizeof(u64));
	gc->by_class = lz_zalloc_array(LZ_SUM_BLOCKS * LZ_SUMMARY_ENTRIES, sizeof(u64));
	gc->class = lz_zalloc_array(LZ_SUM_BLOCKS * LZ_SUMMARY_ENTRIES, 1);
	gc->buf = lz_alloc_blocks(LZ_SUM_BLOCKS);
	if (!gc->ent || !gc->by_class || !gc->class || !gc->buf)
		return -ENOMEM;
	for (i = 0; i < LZ_GC_SLOTS; i++) {
		struct lz_gc_slot *s = &gc->slot[i];

		s->buf = lz_alloc_blocks(gc->run);
		s->lba = lz_zalloc_array(gc->run, sizeof(u64));
		s->old = lz_zalloc_array(gc->run, sizeof(u64));
		s->read = lz_zalloc_array(gc->run, sizeof(*s->read));
		if (!s->buf || !s->lba || !s->old || !s->read)
			return -ENOMEM;
	}
	return 0;
}

void lz_gc_exit(struct lz *lz)
{
	struct lz_gc *gc = &lz->gc;
	u32 i;

	for (i = 0; i < LZ_GC_SLOTS; i++) {
		lz_free_blocks(gc->slot[i].buf);
		lz_free(gc->slot[i].lba);
		lz_free(gc->slot[i].old);
		lz_free(gc->slot[i].read);
	}
	lz_free(gc->ent);
	lz_free(gc->by_class);
	lz_free(gc->class);
	lz_free_blocks(gc->buf);
}
