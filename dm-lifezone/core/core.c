// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device: its life, its machine, its counters.
 *
 * The machine runs the parts round and round until none makes progress: it
 * takes in completed commands, commits, checkpoints, writes summaries, cleans,
 * resets. No part waits for a later one: commit, checkpoint, metadata cleaning
 * (within the checkpoint), GC.
 *
 * A request that found no room is told -EAGAIN and sets "starved"; whoever
 * makes room calls lz_feed(), which has the host try again. The flag is set
 * before the last try, so no wake-up is lost. On a drive that has lost so many
 * zones that there will be no room, ever, or whose counts are wrong, it is told -ENOSPC.
 */
#include "lz.h"

const char *const lz_stat_names[LZ_ST_CLASS_WRITES] = {
	[LZ_ST_USER_WRITES] = "user_written_blocks",
	[LZ_ST_USER_READS] = "user_read_blocks",
	[LZ_ST_DISCARDS] = "discarded_blocks",
	[LZ_ST_FLUSHES] = "flushes",
	[LZ_ST_GC_COPIES] = "gc_copied_blocks",
	[LZ_ST_GC_LOST] = "gc_lost_blocks",
	[LZ_ST_GC_VICTIMS] = "gc_victims",
	[LZ_ST_SUMMARY_BLOCKS] = "summary_written_blocks",
	[LZ_ST_JOURNAL_BLOCKS] = "journal_written_blocks",
	[LZ_ST_NODE_BLOCKS] = "node_written_blocks",
	[LZ_ST_ROOT_BLOCKS] = "root_written_blocks",
	[LZ_ST_COMMITS] = "commits",
	[LZ_ST_CHECKPOINTS] = "checkpoints",
	[LZ_ST_ROOT_ROLLS] = "root_rolls",
	[LZ_ST_JOURNAL_ROLLS] = "journal_rolls",
	[LZ_ST_META_CLEANS] = "meta_cleans",
	[LZ_ST_LEAF_READS] = "leaf_reads",
	[LZ_ST_RESETS_USER] = "resets_user",
	[LZ_ST_RESETS_GC] = "resets_gc",
	[LZ_ST_RESETS_META] = "resets_meta",
	[LZ_ST_RESETS_STALE] = "resets_stale",
	[LZ_ST_FINISHES_MISMATCH] = "finishes_mismatch",
	[LZ_ST_FINISHES_LOAD] = "finishes_load",
	[LZ_ST_FALLBACKS] = "fallbacks",
	[LZ_ST_STALLS] = "stalls",
	[LZ_ST_STALL_NS] = "stall_ns",
	[LZ_ST_ZONES_ASIDE] = "zones_set_aside",
};

void lz_say(struct lz *lz, char level, const char *fmt, ...)
{
	char line[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	lz->ops->say(lz->ctx, level, line);
}

void lz_trace(struct lz *lz, u8 what, u32 zone, u8 class, u8 old, u8 new, u64 a, u64 b)
{
	struct lz_trace t = {
		.what = what, .class = class, .old = old, .new = new, .zone = zone,
		.a = a, .b = b,
	};

	lz_trace_event(lz, &t);
}

void lz_trace_event(struct lz *lz, const struct lz_trace *t)
{
	if (lz->ops->trace)
		lz->ops->trace(lz->ctx, t);
}

/* lz_traced - is that kind of event wanted? Asked before many are built. */
bool lz_traced(const struct lz *lz, u8 what)
{
	return lz->ops->traced && lz->ops->traced(lz->ctx, what);
}

void lz_count(struct lz *lz, enum lz_stat st, s64 n)
{
	lz_count_add(&lz->stat[st], n);
}

u64 lz_stat(struct lz *lz, enum lz_stat st)
{
	return lz_count_read(&lz->stat[st]);
}

void lz_kick(struct lz *lz)
{
	WRITE_ONCE(lz->kicked, true);
	lz->ops->kick(lz->ctx);
}

void lz_submit(struct lz *lz, struct lz_cmd *c)
{
	lz->cmds++;
	c->error = 0;
	c->lz = lz;
	lz->ops->submit(lz->ctx, c);
}

void lz_cmd_done(struct lz *lz, struct lz_cmd *cmd)
{
	const struct lz_ops *ops;
	unsigned long flags;
	void *ctx;

	lz = cmd->lz;
	ops = lz->ops;
	ctx = lz->ctx;
	spin_lock_irqsave(&lz->list_lock, flags);
	list_add_tail(&cmd->list, &lz->done_list);
	spin_unlock_irqrestore(&lz->list_lock, flags);
	/* lz_probe() may have seen it and freed @lz by now. */
	ops->kick(ctx);
}

void lz_answer(struct list_head *waiters, int err)
{
	while (!list_empty(waiters)) {
		struct lz_waiter *w = list_first_entry(waiters, struct lz_waiter, list);

		list_del_init(&w->list);
		w->fn(w, err);
	}
}

/* lz_set_mode - the one place where the mode changes; it only gets worse. */
void lz_set_mode(struct lz *lz, u8 mode, const char *why, int error)
{
	static const char *const name[] = { "read-write", "read-only", "failed" };

	if (mode <= lz->mode)
		return;
	lz_say(lz, 'f', "%s (error %d): device is now %s", why, error, name[mode]);
	WRITE_ONCE(lz->mode, mode);
	lz->ops->event(lz->ctx, LZ_EV_MODE, mode);
	lz->progress = true;
	lz_feed(lz);
}

/* lz_starve - the caller found no room; try once more after this. */
void lz_starve(struct lz *lz)
{
	/* Before it is said, as who ends it counts from there. */
	if (!atomic_read(&lz->starved))
		WRITE_ONCE(lz->stall_since, lz->ops->now(lz->ctx));
	if (!atomic_xchg(&lz->starved, 1))
		lz_count(lz, LZ_ST_STALLS, 1);
	/* GC looks again only if something was written since, or it would spin. */
	if (READ_ONCE(lz->gc.looked_at) != (u64)atomic64_read(&lz->write_seq))
		lz_gc_look(lz);
	/* Before the caller's last try; pairs with those in lz_feed() and lz_zone_emptied(). */
	smp_mb();
	/* Otherwise it makes no room, or is due anyway; and it makes the drive flush. */
	if (!list_empty(&lz->emptied) || READ_ONCE(lz->nr_ext_pending) >= LZ_EXTENTS)
		WRITE_ONCE(lz->commit_wanted, true);
	lz_kick(lz);
}

/* lz_feed - there may be room now, or there never will be. */
void lz_feed(struct lz *lz)
{
	/* What changed comes before the look; pairs with the one in lz_starve(). */
	smp_mb();
	if (!atomic_read(&lz->starved) || !atomic_xchg(&lz->starved, 0))
		return;
	/* They have yet to find out whether it is enough. */
	WRITE_ONCE(lz->was_starved, false);
	lz_count(lz, LZ_ST_STALL_NS, lz->ops->now(lz->ctx) - READ_ONCE(lz->stall_since));
	lz->ops->resume(lz->ctx);
}

/* lz_may_write - 0, or the error of a device that is not, or no longer, written to. */
int lz_may_write(const struct lz *lz)
{
	u8 mode = READ_ONCE(lz->mode);

	if (likely(mode == LZ_MODE_RW))
		return 0;
	return mode == LZ_MODE_RO ? -EROFS : -EIO;
}

static int write_try(struct lz *lz, u8 class, u32 want, struct lz_write *w)
{
	int err = lz_may_write(lz);

	if (unlikely(err))
		return err;
	if (unlikely(READ_ONCE(lz->pacing)) && atomic_read(&lz->credit) <= 0)
		return -EAGAIN;
	if (unlikely(READ_ONCE(lz->tight)))
		return -EAGAIN;
	if (!lz_delta_reserve(lz, want, false))
		return -EAGAIN;
	err = lz_zone_reserve(lz, class, false, want, w);
	if (lz_planted(LZ_PLANT_DELTA_LEAK) && err)
		return err;
	lz_delta_return(lz, want - (err ? 0 : w->nblocks));
	return err;
}

int lz_write_begin(struct lz *lz, u8 class, u64 lba, u32 want, struct lz_write *w)
{
	u8 as;
	int err;

	want = min(want, lz->append_max);
	want = min(want, lz->delta_cap / 16);
	as = lz_infer_class(lz, class, lba, want);
	err = write_try(lz, as, want, w);
	if (unlikely(err == -EAGAIN)) {
		/* Somebody starved is no lack of room until he has looked again: is_quiet(). */
		atomic_inc(&lz->trying);
		lz_starve(lz);
		err = write_try(lz, as, want, w);
		if (err == -EAGAIN && READ_ONCE(lz->spent))
			err = -ENOSPC;
		/* After what was reserved; pairs with the one in is_quiet(). */
		smp_mb__before_atomic();
		atomic_dec(&lz->trying);
		if (err == -EAGAIN)
			lz_kick(lz);
	}
	if (unlikely(err))
		return err;
	if (unlikely(READ_ONCE(lz->pacing)))
		atomic_sub(w->nblocks, &lz->credit);
	w->class = class;
	w->as = as;
	lz_infer_written(lz, class, lba, w->nblocks);
	return 0;
}

/* Only what has landed: what failed is written again. */
static void count_written(struct lz *lz, const struct lz_write *w)
{
	lz_count(lz, LZ_ST_USER_WRITES, w->nblocks);
	lz_count(lz, LZ_ST_CLASS_WRITES + w->class, w->nblocks);
	if (w->as != w->class)
		lz_count(lz, lz_class_stat(LZ_ST_CLASS_WRITES, w->as), w->nblocks);
}

int lz_write_end(struct lz *lz, const struct lz_write *w, u64 addr, u64 lba)
{
	struct lz_zone *z = &lz->zone[w->zone];

	if (unlikely(!lz_zone_landed(lz, w, addr))) {
		lz_write_fail(lz, w, -EIO);
		return -EIO;
	}
	count_written(lz, w);
	/* Counted and named first: once mapped it may be overwritten at once. */
	atomic_add(w->nblocks, &z->valid);
	lz_zone_name(lz, z, lz_addr_off(lz, addr), lba, w->nblocks);
	lz_delta_return(lz, w->nblocks - lz_map_insert(lz, lba, addr, w->nblocks));
	lz_zone_done(lz, z, w->nblocks, w->nblocks);
	return 0;
}

void lz_write_fail(struct lz *lz, const struct lz_write *w, int error)
{
	struct lz_zone *z = &lz->zone[w->zone];

	lz_delta_return(lz, w->nblocks);
	lz_zone_aside(lz, z, error);
	if (!lz_planted(LZ_PLANT_FAILED_WRITE_UNCOUNTED))
		lz_zone_done(lz, z, w->nblocks, 0);
}

/* The zone of @addr may be reset, as far as this reader is concerned. */
static void let_go(struct lz *lz, u64 addr)
{
	struct lz_zone *z = &lz->zone[lz_addr_zone(lz, addr)];

	if (atomic_dec_and_test(&z->readers) && READ_ONCE(z->draining))
		lz_kick(lz);
}

int lz_read_begin(struct lz *lz, u64 lba, u32 want, struct lz_read *r)
{
	struct lz_zone *z;

	if (unlikely(READ_ONCE(lz->mode) == LZ_MODE_FAIL && !lz->loaded))
		return -EIO;
	for (;;) {
		u64 addr = lz_map_get(lz, lba);

		if (addr == LZ_MISS) {
			r->leaf = div_u64(lba, LZ_NODE_ENTRIES);
			return -EAGAIN;
		}
		if (addr == LZ_NOWHERE) {
			r->nblocks = lz_map_run(lz, lba, want, &r->addr);
			if (r->addr != LZ_NOWHERE)
				continue;
			lz_count(lz, LZ_ST_USER_READS, r->nblocks);
			return 0;
		}
		/*
		 * Hold the zone, then ask again: if the block still lies in it,
		 * it was not reset before we held it, nor will it be now.
		 */
		z = &lz->zone[lz_addr_zone(lz, addr)];
		atomic_inc(&z->readers);
		/* Pairs with the one in lz_reset_step(). */
		smp_mb__after_atomic();
		r->nblocks = lz_map_run(lz, lba, want, &r->addr);
		if (likely(r->addr < LZ_NOWHERE &&
			   lz_addr_zone(lz, r->addr) == lz_addr_zone(lz, addr))) {
			if (unlikely(READ_ONCE(z->suspect))) {
				let_go(lz, addr);
				return -EIO;
			}
			r->nblocks = min(r->nblocks, lz->g.zone_blocks - lz_addr_off(lz, r->addr));
			return 0;
		}
		let_go(lz, addr);
	}
}

void lz_read_end(struct lz *lz, const struct lz_read *r)
{
	lz_count(lz, LZ_ST_USER_READS, r->nblocks);
	let_go(lz, r->addr);
}

void lz_read_cancel(struct lz *lz, const struct lz_read *r)
{
	let_go(lz, r->addr);
}

/*
 * What cannot be finished is read-only or offline, and the drive does not count it as
 * open. That is not to be concluded from a hiccup, or one zone too many would be opened.
 */
static bool finish_again(struct lz *lz, struct lz_cmd *c)
{
	if (c->op != LZ_OP_FINISH || !c->error || ++c->tries == LZ_FINISH_TRIES)
		return false;
	lz_submit(lz, c);
	return true;
}

static void take_completions(struct lz *lz)
{
	struct list_head list;
	unsigned long flags;

	INIT_LIST_HEAD(&list);
	spin_lock_irqsave(&lz->list_lock, flags);
	list_splice_tail_init(&lz->done_list, &list);
	spin_unlock_irqrestore(&lz->list_lock, flags);
	while (!list_empty(&list)) {
		struct lz_cmd *c = list_first_entry(&list, struct lz_cmd, list);

		list_del_init(&c->list);
		lz->cmds--;
		lz->progress = true;
		if (!finish_again(lz, c))
			c->done(lz, c);
	}
}

static void watch_space(struct lz *lz)
{
	u32 low = lz->si.gc_zones + 1, free;
	unsigned long flags;

	spin_lock_irqsave(&lz->place_lock, flags);
	if (lz_free_for(lz, false))
		lz->lent = 0;
	free = lz_free_for(lz, true);
	spin_unlock_irqrestore(&lz->place_lock, flags);
	if (free < low && !lz->low_said)
		lz->ops->event(lz->ctx, LZ_EV_LOW_SPACE, free);
	/* GC of a full device takes the last zone and gives it back, again and again. */
	if (free != low)
		lz->low_said = free < low;
}

/* Is a zone in @state of users' data? */
static bool is_data(u8 state)
{
	return state == LZ_ZS_OPEN || state == LZ_ZS_FULL || state == LZ_ZS_BAD;
}

/* lz_mapped_blocks - blocks in use. Looks at each zone. */
u64 lz_mapped_blocks(const struct lz *lz)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < lz->g.nr_zones; i++) {
		const struct lz_zone *z = &lz->zone[i];

		if (is_data(READ_ONCE(z->state)))
			n += max(atomic_read(&z->valid), 0);
	}
	return n;
}

/* lz_space_step - blocks to be written before that is worth another look. */
u32 lz_space_step(const struct lz *lz)
{
	return max(max(lz->g.zone_cap, lz->g.nr_zones) / 4, 1u);
}

/* lz_spare_zones - zones that @mapped blocks would not fill. */
u32 lz_spare_zones(const struct lz *lz, u64 mapped)
{
	u32 zones = lz->g.nr_zones - 2 - lz->si.meta_zones, full = div_u64(mapped, lz->g.zone_cap);

	return zones > full ? zones - full : 0;
}

/*
 * Asks for discards where they are wanted. It takes a look at all zones, so only now
 * and then: after each quarter of a zone that is written, or of as many blocks as there are
 * zones. Discards that have come may lie in the delta, their blocks still counted as mapped: a
 * checkpoint settles them first.
 */
static void watch_trim(struct lz *lz)
{
	u64 seq = atomic64_read(&lz->write_seq), now, copies;
	struct lz_trim *t = &lz->trim;
	struct lz_trim_in in;
	u32 ahead;

	if (t->looked && seq - t->seq < lz_space_step(lz))
		return;
	now = lz->ops->now(lz->ctx);
	copies = lz_stat(lz, LZ_ST_GC_COPIES);
	in.free_zones = lz_free_now(lz, true);
	in.mapped = lz_mapped_blocks(lz);
	if (!t->looked) {
		t->at = now;
		WRITE_ONCE(t->base, in.mapped);
		WRITE_ONCE(t->copies, copies);
		WRITE_ONCE(t->looked, true);
	}
	t->seq = seq;
	WRITE_ONCE(t->base, min(t->base, in.mapped));
	/* GC that is ahead copies as well. */
	ahead = lz_pace_ahead(READ_ONCE(lz->o.gc_ahead), lz_spare_zones(lz, in.mapped));
	in.start = lz->si.gc_zones + LZ_GC_START + LZ_TRIM_AHEAD + max(lz->g.nr_zones / 64, ahead);
	in.blocks = div_u64(lz->si.logical_blocks * 1000, 1000 - lz->si.spare_permille);
	in.base = t->base;
	in.copied = copies - t->copies;
	in.least = lz->g.zone_cap;
	in.since = now - t->at;
	if (!lz_trim_due(&in)) {
		t->settling = false;
		return;
	}
	if (!t->settling && lz_stat(lz, LZ_ST_DISCARDS) != t->discards) {
		t->settling = true;
		t->discards = lz_stat(lz, LZ_ST_DISCARDS);
		t->settled = lz->ckpt.number + (lz->ckpt.state == LZ_CK_IDLE ? 1 : 2);
		lz_ckpt_want(lz);
	}
	if (t->settling && lz->ckpt.number < t->settled)
		return;
	t->settling = false;
	lz_count(lz, LZ_ST_TRIMS_WANTED, 1);
	lz->ops->event(lz->ctx, LZ_EV_TRIM, in.mapped - in.base);
	/* What the discards free makes it less again. */
	WRITE_ONCE(t->base, in.mapped);
	WRITE_ONCE(t->copies, copies);
	t->at = now;
}

/* What writes, and so happens in one mode only. */
static void write_steps(struct lz *lz)
{
	bool tight;

	lz_nodes_step(lz);
	lz_zones_step(lz);
	lz_gc_step(lz);
	lz_reset_step(lz);
	tight = lz_log_tight(lz);
	if (tight != lz->tight) {
		WRITE_ONCE(lz->tight, tight);
		if (!tight)
			lz_feed(lz);
	}
}

/*
 * Zones become free by commits and roots. Where the log waits for one to write these
 * to, and none is being reset, none ever will: the space kept back for it was not
 * there, whatever the zone table said.
 */
static bool log_stuck(const struct lz *lz)
{
	const struct lz_zone *z;

	if (!lz->log_waits || lz->mem_waits || lz->cmds || READ_ONCE(lz->nr_free) ||
	    !list_empty(&lz->stale) || lz->loading)
		return false;
	/* What GC holds it lets go when it is done, and it is waiting, too. */
	list_for_each_entry(z, &lz->ready, list) {
		if (lz->gc.state == LZ_GC_IDLE || lz_zone_nr(lz, z) != lz->gc.victim)
			return false;
	}
	return true;
}

/*
 * Is there anything under way, of ours or of users, that may yet make room? What GC
 * still has in hand waits for room, too. Writes come first, as they end by emptying
 * zones.
 */
static bool is_quiet(struct lz *lz)
{
	bool quiet = !atomic_read(&lz->trying);
	unsigned long flags;

	/* Who found room before that is seen to write. */
	smp_mb();
	quiet &= !lz_writes_pending(lz);
	spin_lock_irqsave(&lz->list_lock, flags);
	quiet &= list_empty(&lz->emptied) && list_empty(&lz->ready) &&
		list_empty(&lz->waiting) && list_empty(&lz->done_list);
	spin_unlock_irqrestore(&lz->list_lock, flags);
	return quiet && !lz->cmds && !lz->mem_waits && lz->commit.state == LZ_CS_IDLE &&
		lz->ckpt.state == LZ_CK_IDLE && !READ_ONCE(lz->ckpt.wanted) &&
		!atomic_read(&lz->discarding) && !READ_ONCE(lz->kicked);
}

/*
 * Log zones that failed for good are replaced by free ones, at the worst by those GC had
 * in reserve; and cuts after which drives find open zones full take these, too. Then GC
 * stands still in the midst of garbage. What is kept for the log is meant for trees as
 * large as they can be: GC may have what the log is far from needing, zone by zone, until
 * users have some again. What stays are the zones that journal and nodes may each be about
 * to begin; and checkpoints do not strive for more than that and one to lend.
 */
static bool lend(struct lz *lz)
{
	unsigned long flags;
	bool lent;

	if (lz->gc.state == LZ_GC_IDLE ||
	    lz_log_free(lz) < lz_log_worst(lz) + 3ull * lz->g.zone_cap)
		return false;
	spin_lock_irqsave(&lz->place_lock, flags);
	lent = !lz_free_for(lz, true);
	lz->lent += lent;
	spin_unlock_irqrestore(&lz->place_lock, flags);
	if (lent)
		lz_kick(lz);
	return lent;
}

/* GC has looked for garbage, all of it counted, and found none; and users have no zone. */
static bool nothing_to_clean(struct lz *lz)
{
	return lz_gc_in_vain(lz) && !lz_free_now(lz, false) &&
		!atomic_read(&lz->active->used);
}

/*
 * @starved: somebody found no room before the last round, in which nothing moved. Where
 * the log has none a checkpoint is wanted as long as one may help: see lz_log_tight().
 */
static void watch_room(struct lz *lz, bool starved)
{
	bool quiet, wrong;
	u32 lost;

	if (!starved && !lz->spent)
		return;
	quiet = is_quiet(lz);
	/* What was discarded may be counted off its zones by a checkpoint only. */
	if (quiet && READ_ONCE(lz->nr_ext_any)) {
		lz_ckpt_want(lz);
		quiet = false;
	}
	if (!quiet) {
		WRITE_ONCE(lz->spent, false);
		return;
	}
	/* A checkpoint may have made room in the log since. */
	if (lend(lz)) {
		WRITE_ONCE(lz->spent, false);
		return;
	}
	if (!starved)
		return;
	/* So may what was discarded in short runs, or overwritten, where leaves were not in RAM. */
	if (!lz->tight && atomic_read(&lz->active->used)) {
		lz_ckpt_want(lz);
		return;
	}
	lost = lz_zones_lost(lz);
	/* With none lost there is always something that GC can clean, if it is counted right. */
	wrong = !lost && lz->gc.state == LZ_GC_IDLE;
	if (wrong && !nothing_to_clean(lz))
		return;
	if (!lz->spent && wrong)
		lz_say(lz, 'e',
		       "no space is left, nor any garbage: blocks in use are counted wrong");
	else if (!lz->spent)
		lz_say(lz, 'e', "no space is left for %s: %u zones cannot be written or cleaned",
		       lz->tight ? "the metadata log" : "GC", lost);
	WRITE_ONCE(lz->spent, true);
	lz_feed(lz);
}

static void run(struct lz *lz)
{
	do {
		lz->progress = false;
		lz->log_waits = false;
		lz->mem_waits = false;
		WRITE_ONCE(lz->kicked, false);
		/* What is kicked for from here on this round may not see. */
		smp_mb();
		WRITE_ONCE(lz->was_starved, atomic_read(&lz->starved));
		take_completions(lz);
		if (!lz->loaded)
			continue;
		lz_commit_step(lz);
		lz_ckpt_step(lz);
		lz_leaf_step(lz);
		lz_infer_step(lz);
		if (lz->mode == LZ_MODE_RW)
			write_steps(lz);
		cond_resched();
	} while (lz->progress);
}

void lz_run(struct lz *lz)
{
	run(lz);
	if (!lz->loaded)
		return;
	if (lz->mode == LZ_MODE_RW && log_stuck(lz)) {
		lz_set_mode(lz, LZ_MODE_FAIL, "no zone is left for the metadata log", -ENOSPC);
		run(lz);
	}
	if (lz->mode != LZ_MODE_RW)
		return;
	watch_space(lz);
	if (lz->loading)
		return;
	watch_trim(lz);
	watch_room(lz, READ_ONCE(lz->was_starved));
}

/* lz_sync - run until no command is in flight. Load and stop only. */
int lz_sync(struct lz *lz)
{
	for (;;) {
		lz_run(lz);
		if (!lz->cmds)
			return 0;
		lz->ops->wait(lz->ctx);
	}
}

static void stop_waiter(struct lz_waiter *w, int err)
{
	w->arg = err ? 2 : 1;
}

/* What is under way, and may yet write, beside commits. */
static bool is_at_work(const struct lz *lz)
{
	return lz->gc.state != LZ_GC_IDLE || lz->ckpt.state != LZ_CK_IDLE;
}

void lz_stopping(struct lz *lz)
{
	WRITE_ONCE(lz->stopping, true);
}

int lz_stop(struct lz *lz)
{
	struct lz_waiter w = { .fn = stop_waiter };

	lz_stopping(lz);
	if (!lz->loaded)
		return 0;
	/* A checkpoint under way is not the last: more may be committed meanwhile. */
	while (is_at_work(lz) && lz->mode == LZ_MODE_RW) {
		lz_run(lz);
		if (is_at_work(lz) && lz->cmds)
			lz->ops->wait(lz->ctx);
	}
	if (lz->mode == LZ_MODE_RW) {
		lz->ckpt.clean = true;
		lz_request_checkpoint(lz, &w);
		while (!w.arg) {
			lz_run(lz);
			if (!w.arg && lz->cmds)
				lz->ops->wait(lz->ctx);
		}
	}
	lz_sync(lz);
	return w.arg == 2 || lz->mode == LZ_MODE_FAIL ? -EIO : 0;
}

void lz_start(struct lz *lz)
{
	WRITE_ONCE(lz->stopping, false);
	lz_kick(lz);
}

u32 lz_phase(struct lz *lz)
{
	u32 p = 0;

	if (lz->loading)
		p |= LZ_PH_LOAD;
	if (lz->commit.state != LZ_CS_IDLE)
		p |= LZ_PH_COMMIT;
	if (lz->ckpt.state != LZ_CK_IDLE)
		p |= LZ_PH_CHECKPOINT;
	if (lz->root_rolling)
		p |= LZ_PH_ROOT_ROLL;
	if (lz->jbuf.link || lz->nbuf[0].link || lz->nbuf[1].link)
		p |= LZ_PH_JOURNAL_ROLL;
	if (lz->ckpt.have_victims)
		p |= LZ_PH_META_CLEAN;
	if (lz->gc.state != LZ_GC_IDLE)
		p |= LZ_PH_GC;
	if (lz->resets)
		p |= LZ_PH_RESET;
	return p;
}

void lz_get_info(struct lz *lz, struct lz_info *info)
{
	unsigned long flags;
	u64 i, copies;

	memset(info, 0, sizeof(*info));
	info->mode = READ_ONCE(lz->mode);
	info->logical_blocks = lz->si.logical_blocks;
	info->low_water = lz->si.gc_zones + 1;
	info->budget = lz->budget;
	for (i = 0; i < LZ_NR_ZONE_CLASSES; i++)
		info->class_open[i] = LZ_NONE;
	if (!lz->loaded)
		return;
	for (i = 0; i < lz->g.nr_zones; i++) {
		struct lz_zone *z = &lz->zone[i];
		u8 state = READ_ONCE(z->state);

		info->zones[state]++;
		if (is_data(state))
			info->class_zones[z->class]++;
	}
	info->mapped = lz_mapped_blocks(lz);
	if (READ_ONCE(lz->trim.looked)) {
		info->trim_gain = info->mapped - min(READ_ONCE(lz->trim.base), info->mapped);
		/* In that order: GC goes on, and somebody may ask again. */
		copies = READ_ONCE(lz->trim.copies);
		info->trim_copied = lz_stat(lz, LZ_ST_GC_COPIES) - copies;
	}
	spin_lock_irqsave(&lz->place_lock, flags);
	info->free_zones = lz_free_for(lz, true);
	info->open = lz->nr_open + 1 + (lz->js == lz->ns ? 1 : 2);
	for (i = 0; i < LZ_NR_ZONE_CLASSES; i++) {
		const struct lz_zone *z = lz->cur[0][i];

		/* A group is written to by both. */
		if (!z && lz_is_group(i))
			z = lz->cur[1][i];
		if (z)
			info->class_open[i] = lz_zone_nr(lz, z);
	}
	spin_unlock_irqrestore(&lz->place_lock, flags);
	info->checkpoint = READ_ONCE(lz->ckpt.number);
	info->commit = READ_ONCE(lz->committed);
	info->uncommitted = max(atomic_read(&lz->uncommitted), 0);
	info->delta_used = atomic_read(&lz->active->used);
	info->delta_cap = lz->delta_cap;
	info->leaves = lz->map.n[0];
	info->leaves_cached = READ_ONCE(lz->nr_cached);
	info->leaves_max = lz->max_cached;
}

void lz_get_options(struct lz *lz, struct lz_options *o)
{
	unsigned long flags;

	spin_lock_irqsave(&lz->place_lock, flags);
	*o = lz->o;
	spin_unlock_irqrestore(&lz->place_lock, flags);
}

void lz_set_options(struct lz *lz, const struct lz_options *o)
{
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&lz->place_lock, flags);
	/* All but max_open, which is for the next load. */
	lz->o.finish = o->finish;
	lz->o.map_cache_mb = o->map_cache_mb;
	/* These are read without the lock. */
	WRITE_ONCE(lz->o.reset, o->reset);
	WRITE_ONCE(lz->o.isolation, o->isolation);
	WRITE_ONCE(lz->o.policy, o->policy);
	WRITE_ONCE(lz->o.victim, o->victim);
	WRITE_ONCE(lz->o.commit_ms, o->commit_ms);
	WRITE_ONCE(lz->o.gc_ahead, o->gc_ahead);
	/* Everybody asks placement again, */
	lz_zones_uncur(lz, NULL);
	/* and of what was left open empty, whether it is to be reset now. */
	for (i = 0; i < lz->data_slots; i++) {
		struct lz_zone *z = lz->open[i].zone == LZ_NONE ? NULL :
			&lz->zone[lz->open[i].zone];

		if (z && z->resv && atomic_read(&z->valid) <= 0) {
			lz_zone_emptied(lz, z);
			WRITE_ONCE(lz->commit_wanted, true);
		}
	}
	spin_unlock_irqrestore(&lz->place_lock, flags);
	lz_gc_look(lz);
	lz_kick(lz);
}

struct lz *lz_new(const struct lz_geometry *g, const struct lz_options *o,
		  const struct lz_ops *ops, void *ctx)
{
	struct lz *lz = lz_zalloc_array(1, sizeof(*lz));
	u32 i;

	if (!lz)
		return NULL;
	lz->g = *g;
	lz->o = *o;
	lz->ops = ops;
	lz->ctx = ctx;
	lz->zone_shift = ilog2(g->zone_blocks);
	lz->append_max = max_t(u32, g->max_append, 1);
	spin_lock_init(&lz->place_lock);
	spin_lock_init(&lz->list_lock);
	spin_lock_init(&lz->ext_lock);
	INIT_LIST_HEAD(&lz->free_list);
	INIT_LIST_HEAD(&lz->done_list);
	INIT_LIST_HEAD(&lz->emptied);
	INIT_LIST_HEAD(&lz->flush_waiters);
	INIT_LIST_HEAD(&lz->load_waiters);
	INIT_LIST_HEAD(&lz->waiting);
	INIT_LIST_HEAD(&lz->ready);
	INIT_LIST_HEAD(&lz->stale);
	INIT_LIST_HEAD(&lz->lru);
	INIT_LIST_HEAD(&lz->commit.waiters);
	INIT_LIST_HEAD(&lz->ckpt.waiters);
	INIT_LIST_HEAD(&lz->ckpt.waiters_new);
	for (i = 0; i < LZ_NR_STATS; i++) {
		if (lz_count_init(&lz->stat[i])) {
			while (i--)
				lz_count_destroy(&lz->stat[i]);
			lz_free(lz);
			return NULL;
		}
	}
	return lz;
}

void lz_free_device(struct lz *lz)
{
	u32 i;

	if (!lz)
		return;
	lz_infer_exit(lz);
	lz_gc_exit(lz);
	lz_ckpt_exit(lz);
	lz_nodes_exit(lz);
	lz_leaf_exit(lz);
	lz_map_exit(lz);
	lz_zones_exit(lz);
	lz_tree_exit(&lz->map);
	lz_tree_exit(&lz->ztab);
	lz_free_blocks(lz->jbuf.buf);
	for (i = 0; i < LZ_NR_STATS; i++)
		lz_count_destroy(&lz->stat[i]);
	lz_free(lz);
}
