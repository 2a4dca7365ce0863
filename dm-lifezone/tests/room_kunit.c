// SPDX-License-Identifier: GPL-2.0-only
/* Where the metadata log finds no zone: who waits, and when waiting is given up. */
#include "ram.h"
#include "waiting.h"

static void room_exit(struct kunit *test)
{
	ram_free(test->priv);
}

/* From now on there is no free zone but those that are reset. */
static struct ram *device(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 2 * r->g.zone_cap), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	while (lz_zone_take_free(r->lz, false))
		;
	return r;
}

/* The zone of the first block is empty, but somebody reads in it. */
static u32 hold_zone(struct ram *r, struct lz_read *rd)
{
	KUNIT_ASSERT_EQ(r->test, lz_read_begin(r->lz, 5, 1, rd), 0);
	KUNIT_ASSERT_EQ(r->test, ram_discard(r, 0, r->g.zone_cap), 0);
	KUNIT_ASSERT_EQ(r->test, ram_flush(r), 0);
	KUNIT_ASSERT_FALSE(r->test, list_empty(&r->lz->ready));
	return lz_addr_zone(r->lz, rd->addr);
}

/* One more commit; was it answered? */
static bool commit(struct ram *r, struct waiting *x)
{
	*x = (struct waiting){ .w.fn = waiting_end };
	KUNIT_ASSERT_TRUE(r->test, lz_zrec_add(r->lz, LZ_JR_ZBAD, r->g.nr_zones - 1, 0, 0));
	lz_flush(r->lz, &x->w);
	ram_pump(r);
	return x->called;
}

static void fill_log(struct ram *r, struct waiting *x)
{
	u32 i;

	for (i = 0; i < 3 * r->g.zone_cap; i++)
		if (!commit(r, x) || x->err)
			return;
	KUNIT_FAIL(r->test, "the log is not full\n");
}

static void expect_mode(struct ram *r, u8 mode)
{
	struct lz_info info;

	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_EQ(r->test, info.mode, mode);
}

/* What is read may yet be reset: the log waits. With nothing to wait for it gives up. */
static void room_waits_for_reader(struct kunit *test)
{
	struct ram *r = device(test);
	struct waiting x;
	struct lz_read rd;

	hold_zone(r, &rd);
	fill_log(r, &x);
	KUNIT_EXPECT_FALSE(test, x.called);
	expect_mode(r, LZ_MODE_RW);
	lz_read_end(r->lz, &rd);
	ram_pump(r);
	KUNIT_EXPECT_TRUE(test, x.called);
	KUNIT_EXPECT_EQ(test, x.err, 0);
	fill_log(r, &x);
	KUNIT_EXPECT_TRUE(test, x.called);
	KUNIT_EXPECT_EQ(test, x.err, -EIO);
	expect_mode(r, LZ_MODE_FAIL);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "no zone is left for the metadata log"),
			      "(%s)", r->said);
}

/* A zone that only GC reads, which waits for the log, is not waited for. */
static void room_waits_not_for_gc(struct kunit *test)
{
	struct ram *r = device(test);
	struct waiting x;
	struct lz_read rd;
	u32 zone = hold_zone(r, &rd);

	/* GC waits, and cleans another zone. */
	r->lz->gc.state = LZ_GC_CKPT;
	r->lz->gc.ckpt_done = false;
	r->lz->gc.victim = zone + 1;
	fill_log(r, &x);
	KUNIT_EXPECT_FALSE(test, x.called);
	expect_mode(r, LZ_MODE_RW);
	r->lz->gc.victim = zone;
	lz_kick(r->lz);
	ram_pump(r);
	KUNIT_EXPECT_TRUE(test, x.called);
	KUNIT_EXPECT_EQ(test, x.err, -EIO);
	expect_mode(r, LZ_MODE_FAIL);
}

/* So many commits that the log is tight. */
static void make_tight(struct ram *r)
{
	struct waiting x;
	u32 i;

	for (i = 0; i < 3 * r->g.zone_cap && !r->lz->tight; i++)
		KUNIT_ASSERT_TRUE(r->test, commit(r, &x));
	KUNIT_ASSERT_TRUE(r->test, r->lz->tight);
	/* One zone is lost, which is the reason. */
	r->lz->zone[r->g.nr_zones - 1].gc_ckpt = ~0ull;
}

/* Users wait for room in the log while a checkpoint may make some, and then no longer. */
static void room_tight(struct kunit *test)
{
	struct ram *r = device(test);
	struct lz_write w;
	u32 i;

	make_tight(r);
	/* The checkpoint goes no further, yet. */
	r->lz->ckpt.root_busy = true;
	lz_ckpt_want(r->lz);
	KUNIT_EXPECT_EQ(test, lz_write_begin(r->lz, LZ_CLASS_LONG, 0, 1, &w), -EAGAIN);
	ram_pump(r);
	KUNIT_EXPECT_FALSE(test, r->lz->spent);
	KUNIT_EXPECT_EQ(test, lz_write_begin(r->lz, LZ_CLASS_LONG, 0, 1, &w), -EAGAIN);
	r->lz->ckpt.root_busy = false;
	lz_kick(r->lz);
	KUNIT_EXPECT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 1), -ENOSPC);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "no space is left for the metadata log"),
			      "(%s)", r->said);
	expect_mode(r, LZ_MODE_RW);
	/* It is not for ever. */
	for (i = 2; i < r->g.nr_zones; i++) {
		if (r->lz->zone[i].state == LZ_ZS_FREE && list_empty(&r->lz->zone[i].list))
			lz_zone_freed(r->lz, &r->lz->zone[i]);
	}
	ram_pump(r);
	KUNIT_EXPECT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 1), 0);
	ram_verify(r);
}

/* Discards that wait for it do not keep the log at work for ever, nor those behind them waiting. */
static void room_tight_discards(struct kunit *test)
{
	struct ram *r = device(test);
	u64 before;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 20), 0);
	make_tight(r);
	before = lz_stat(r->lz, LZ_ST_CHECKPOINTS);
	KUNIT_EXPECT_EQ(test, ram_discard(r, 5, 1), 0);
	KUNIT_EXPECT_EQ(test, ram_discard(r, 7, 1), 0);
	KUNIT_EXPECT_LE(test, lz_stat(r->lz, LZ_ST_CHECKPOINTS) - before,
			2ull * r->lz->si.meta_zones);
	ram_verify(r);
}

/* Nor are those who were held back by GC, when it is not due any more. */
static void room_not_paced(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz_write w;

	/* Nothing is left to commit. */
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	r->lz->zone[r->g.nr_zones - 1].gc_ckpt = ~0ull;
	r->lz->pacing = true;
	atomic_set(&r->lz->credit, -5);
	KUNIT_EXPECT_EQ(test, lz_write_begin(r->lz, LZ_CLASS_LONG, 0, 1, &w), -EAGAIN);
	ram_pump(r);
	KUNIT_EXPECT_FALSE(test, r->lz->spent);
	KUNIT_EXPECT_PTR_EQ(test, strstr(r->said, "no space"), NULL);
	KUNIT_EXPECT_TRUE(test, r->resumed);
	KUNIT_EXPECT_EQ(test, lz_write_begin(r->lz, LZ_CLASS_LONG, 0, 1, &w), 0);
	lz_write_fail(r->lz, &w, -EIO);
}

/* Where zones are few a commit is hastened for one that is to be reset, and for no other. */
static void room_not_hastened(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz *lz = r->lz;
	u64 before;
	u32 i;

	ram_set_reset(r, LZ_RESET_LAZY);
	while (lz->nr_free > lz->si.meta_zones + lz->si.gc_zones + 2)
		lz_zone_take_free(lz, false)->state = LZ_ZS_ROOT;
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_SHORT, 0, 1), 0);
	before = lz_stat(lz, LZ_ST_COMMITS);
	for (i = 0; i < 10; i++) {
		KUNIT_ASSERT_EQ(test, ram_discard(r, 0, 1), 0);
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_SHORT, 0, 1), 0);
	}
	KUNIT_EXPECT_EQ(test, lz_stat(lz, LZ_ST_COMMITS), before);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 1, 1), 0);
	before = lz_stat(lz, LZ_ST_COMMITS);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 1, 1), 0);
	KUNIT_EXPECT_GT(test, lz_stat(lz, LZ_ST_COMMITS), before);
}

static bool appends(struct ram *r, const struct lz_cmd *c)
{
	return c->op == LZ_OP_APPEND;
}

/*
 * A zone loses all it held while something is in flight to it: no commit resets it before that
 * has ended, and who finds no room asks for none meanwhile.
 */
static void room_emptied_in_flight(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz *lz = r->lz;
	struct lz_write late, w;
	struct lz_zone *z;
	u64 before;
	u32 i, all;

	ram_set_reset(r, LZ_RESET_LAZY);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 8), 0);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 0, 8), 0);
	KUNIT_ASSERT_EQ(test, lz_write_begin(lz, LZ_CLASS_LONG, 0, 1, &late), 0);
	z = &lz->zone[late.zone];
	KUNIT_ASSERT_EQ(test, z->resv, 9u);
	/* Others have taken all there is of the delta. */
	all = atomic_read(&lz->delta_space);
	KUNIT_ASSERT_TRUE(test, lz_delta_reserve(lz, all, true));
	before = lz->commit.number;
	r->resumed = true;
	for (i = 0; i < 100 && r->resumed; i++) {
		r->resumed = false;
		KUNIT_ASSERT_EQ(test, lz_write_begin(lz, LZ_CLASS_SHORT, 100, 1, &w), -EAGAIN);
		ram_pump(r);
	}
	KUNIT_EXPECT_LE(test, lz->commit.number - before, 1ull);
	lz_delta_return(lz, all);
	KUNIT_ASSERT_EQ(test, ram_land(r, &late, 0), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	KUNIT_EXPECT_EQ(test, z->state, LZ_ZS_OPEN);
	/* Of a summary nothing stays in use: once it has ended the zone is looked at again. */
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 1, 1), 0);
	r->slow = appends;
	lz_ckpt_want(lz);
	ram_pump(r);
	KUNIT_ASSERT_EQ(test, r->nr_held, 1u);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 0, 2), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	KUNIT_EXPECT_EQ(test, z->state, LZ_ZS_OPEN);
	r->slow = NULL;
	ram_release(r, 0);
	ram_pump(r);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	KUNIT_EXPECT_EQ(test, z->state, LZ_ZS_FREE);
	ram_survive(r);
}

/* A device that is full, with garbage everywhere. */
static struct ram *device_with_garbage(struct kunit *test, u32 *state)
{
	struct ram *r = ram_device(test, 60, 8);
	u32 all = r->si.logical_blocks, i;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, all), 0);
	for (i = 0; i < all; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, ram_random(state, all), 1), 0);
	return r;
}

/* Overwrites some of it, until that fails. */
static int overwrite(struct ram *r, u32 *state)
{
	u32 all = r->si.logical_blocks, i;
	int err = 0;

	for (i = 0; i < 20 * r->g.zone_cap && !err; i++)
		err = ram_write(r, LZ_CLASS_LONG, ram_random(state, all), 1);
	return err;
}

/* That, with no zone that GC could get, until no space is left. */
static struct ram *device_without_room(struct kunit *test, u32 *state)
{
	struct ram *r = device_with_garbage(test, state);

	while (r->lz->nr_free > 2)
		lz_zone_take_free(r->lz, false)->state = LZ_ZS_ROOT;
	KUNIT_ASSERT_EQ(test, lz_zones_lost(r->lz), 0u);
	KUNIT_ASSERT_EQ(test, overwrite(r, state), -ENOSPC);
	return r;
}

/* GC's own zones are gone, and there is garbage: it gets what the log does not need. */
static void lent(struct kunit *test, u8 gone)
{
	u32 state = 3;
	struct ram *r = device_with_garbage(test, &state);

	while (lz_free_for(r->lz, true))
		lz_zone_take_free(r->lz, false)->state = gone;
	KUNIT_ASSERT_EQ(test, overwrite(r, &state), 0);
	KUNIT_EXPECT_PTR_EQ(test, strstr(r->said, "no space"), NULL);
	KUNIT_EXPECT_EQ(test, r->lz->lent, 0u);
	ram_verify(r);
}

static void room_lent(struct kunit *test)
{
	lent(test, LZ_ZS_BAD);
}

/* Also where no zone has failed: cuts left them full, with hardly anything in them. */
static void room_lent_none_failed(struct kunit *test)
{
	lent(test, LZ_ZS_ROOT);
}

/* Nor does the log have any to spare: an error, not writers that hang, until some is freed. */
static void room_none_to_lend(struct kunit *test)
{
	u32 state = 3;
	struct ram *r = device_without_room(test, &state);

	KUNIT_EXPECT_TRUE(test, strstr(r->said, "no space"));
	expect_mode(r, LZ_MODE_RW);
	ram_verify(r);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 0, r->si.logical_blocks), 0);
	KUNIT_EXPECT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 1), 0);
}

/* What is discarded then may be GC's own victim: it does not keep it. */
static void room_victim_freed(struct kunit *test)
{
	u32 state = 3, i, zone;
	struct ram *r = device_without_room(test, &state);
	struct lz *lz = r->lz;

	KUNIT_ASSERT_NE(test, lz->gc.state, LZ_GC_IDLE);
	zone = lz->gc.victim;
	for (i = 0; i < r->si.logical_blocks; i++)
		if (lz_addr_zone(lz, lz_map_get(lz, i)) == zone)
			KUNIT_ASSERT_EQ(test, ram_discard(r, i, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&lz->zone[zone].readers), 0);
	KUNIT_EXPECT_EQ(test, lz->zone[zone].state, LZ_ZS_FREE);
	/* All that is free is kept for the log: an error, but nobody hangs. */
	KUNIT_EXPECT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 1), -ENOSPC);
	ram_verify(r);
}

/* What checkpoints strive to keep free for the log is enough to lend of. */
static void room_lent_by_goal(struct kunit *test)
{
	u32 state = 3;
	struct ram *r = device_with_garbage(test, &state);

	while (lz_log_free(r->lz) >= lz_log_worst(r->lz) + 4 * r->g.zone_cap)
		lz_zone_take_free(r->lz, false)->state = LZ_ZS_ROOT;
	KUNIT_ASSERT_EQ(test, overwrite(r, &state), 0);
	KUNIT_EXPECT_PTR_EQ(test, strstr(r->said, "no space"), NULL);
	ram_verify(r);
}

/*
 * A cut may spoil the ends of both zones the log is written to, and what GC would have had in
 * reserve is gone, too: there is room for the checkpoint of the load all the same.
 */
static void room_ends_spoiled(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	u32 i, keep, all = r->g.nr_zones;
	struct waiting x;
	u64 checkpoints;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, r->si.logical_blocks), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	checkpoints = lz_stat(r->lz, LZ_ST_CHECKPOINTS);
	while (r->lz->nr_meta < r->si.meta_zones &&
	       lz_stat(r->lz, LZ_ST_CHECKPOINTS) == checkpoints)
		KUNIT_ASSERT_TRUE(test, commit(r, &x));
	/* The last zone it took may be empty yet. */
	KUNIT_ASSERT_TRUE(test, commit(r, &x));
	/* What is kept for the log is still free. */
	keep = r->si.meta_zones - r->lz->nr_meta;
	for (i = 2; i < all; i++) {
		if (r->lz->zone[i].state == LZ_ZS_FREE && !keep--)
			break;
	}
	for (; i < all; i++) {
		if (r->lz->zone[i].state == LZ_ZS_FREE)
			r->zone[i].cond = LZ_COND_OFFLINE;
	}
	ram_cut(r);
	for (i = 0; i < all; i++) {
		if (r->zone[i].cond == LZ_COND_OPEN)
			ram_fill_up(r, i);
	}
	ram_again(r);
	ram_verify(r);
	ram_check(r);
}

/* What a discard leaves behind GC may clean: whether there is no space is asked again. */
static void room_discard_asks(struct kunit *test)
{
	struct ram *r = device(test);
	struct lz_write w;
	u32 i = 0;

	while (!ram_write(r, LZ_CLASS_LONG, i++, 1))
		;
	r->lz->spent = true;
	KUNIT_EXPECT_EQ(test, lz_write_begin(r->lz, LZ_CLASS_LONG, 0, 1, &w), -ENOSPC);
	KUNIT_EXPECT_EQ(test, lz_discard(r->lz, 5, 1), 0);
	KUNIT_EXPECT_EQ(test, lz_write_begin(r->lz, LZ_CLASS_LONG, 0, 1, &w), -EAGAIN);
}

/* Who made the zone table says that all zones are full of blocks in use: nobody hangs. */
static void room_counts_wrong(struct kunit *test)
{
	u32 state = 3, i, n;
	struct ram *r = device_with_garbage(test, &state);
	int err = 0;

	/* Nothing is overwritten, as that would show garbage. */
	n = r->si.logical_blocks / 4;
	KUNIT_ASSERT_EQ(test, ram_discard(r, 0, n), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	for (i = 0; i < r->g.nr_zones; i++) {
		if (r->lz->zone[i].state == LZ_ZS_FULL)
			atomic_set(&r->lz->zone[i].valid, r->g.zone_cap);
	}
	for (i = 0; i < n && !err; i++)
		err = ram_write(r, LZ_CLASS_LONG, i, 1);
	KUNIT_EXPECT_EQ(test, err, -ENOSPC);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "counted wrong"), "(%s)", r->said);
	ram_verify(r);
}

/*
 * The device is full, and then much is discarded in short runs while leaves are not in RAM: what
 * that frees only a checkpoint counts off its zones.
 */
static void room_short_discards(struct kunit *test)
{
	struct ram *r = ram_device(test, 60, 8);
	u32 all = r->si.logical_blocks, i;
	struct lz *lz = r->lz;
	int err = 0;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, all * 3 / 4), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	while (lz_free_for(lz, true))
		lz_zone_take_free(lz, false)->state = LZ_ZS_BAD;
	for (i = all * 3 / 4; i < all && !err; i++)
		err = ram_write(r, LZ_CLASS_LONG, i, 1);
	KUNIT_ASSERT_EQ(test, err, -ENOSPC);
	for (i = 0; i < all / 2; i += 2) {
		ram_forget_leaves(r);
		KUNIT_ASSERT_EQ(test, ram_discard(r, i, 1), 0);
	}
	ram_elapse(r, 2000);
	KUNIT_EXPECT_EQ(test, ram_write(r, LZ_CLASS_LONG, 5, 1), 0);
	ram_verify(r);
}

/* Writes in flight hold the whole delta: no checkpoint makes room there before they end. */
static void room_in_flight(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz_write held[20], w;
	u32 i, n = 0;
	int err = 0;
	u64 before;

	r->lz->delta_cap = 40;
	atomic_set(&r->lz->delta_space, 40);
	while (n < ARRAY_SIZE(held) && !err) {
		err = lz_write_begin(r->lz, LZ_CLASS_SHORT, 2 * n, 2, &held[n]);
		n += !err;
	}
	KUNIT_ASSERT_EQ(test, err, -EAGAIN);
	ram_pump(r);
	before = lz_stat(r->lz, LZ_ST_CHECKPOINTS);
	for (i = 0; i < 100 && err == -EAGAIN; i++) {
		ram_elapse(r, 1);
		err = lz_write_begin(r->lz, LZ_CLASS_LONG, 100, 2, &w);
	}
	KUNIT_EXPECT_EQ(test, err, -EAGAIN);
	KUNIT_EXPECT_LE(test, lz_stat(r->lz, LZ_ST_CHECKPOINTS), before + 1);
	for (i = 0; i < n; i++)
		lz_write_fail(r->lz, &held[i], -EIO);
	ram_elapse(r, 1);
	KUNIT_EXPECT_EQ(test, ram_write(r, LZ_CLASS_LONG, 100, 4), 0);
	ram_verify(r);
}

/* A zone of the log that waits for who looked for data in it, in an earlier life. */
static void room_log_zone_read(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz *lz = r->lz;
	struct lz_read rd = {};
	struct waiting x;
	u32 i;

	for (i = 0; i < r->g.zone_cap; i++)
		KUNIT_ASSERT_TRUE(test, commit(r, &x));
	for (i = 0; i < r->g.nr_zones; i++)
		atomic_add(lz->zone[i].state == LZ_ZS_META, &lz->zone[i].readers);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_ASSERT_FALSE(test, list_empty(&lz->ready));
	i = lz_zone_nr(lz, list_first_entry(&lz->ready, struct lz_zone, list));
	rd.addr = lz_zone_addr(lz, i, 0);
	lz->kicked = false;
	lz_read_end(lz, &rd);
	KUNIT_EXPECT_TRUE(test, lz->kicked);
	ram_pump(r);
	KUNIT_EXPECT_EQ(test, lz->zone[i].state, (u8)LZ_ZS_FREE);
}

/* Nodes written for 1000 writes at random, once it has gone on for a while. */
static u64 nodes_of_writes(struct ram *r, u32 *state)
{
	u64 before = 0;
	u32 i;

	for (i = 0; i < 2500; i++) {
		if (i == 1500)
			before = lz_stat(r->lz, LZ_ST_NODE_BLOCKS);
		KUNIT_ASSERT_EQ(r->test, ram_write(r, LZ_CLASS_LONG,
						   ram_random(state, r->si.logical_blocks), 1), 0);
	}
	return lz_stat(r->lz, LZ_ST_NODE_BLOCKS) - before;
}

/* What a large log is given beyond the least there must be spares moving nodes about. */
static void room_log_large(struct kunit *test)
{
	struct ram *r = ram_sized(test, 16384, 0, 16, 12);
	struct lz_super_info si = { .spare_permille = LZ_SPARE_DEFAULT };
	u32 state = 5, i;
	u64 least, own;
	char why[160];

	KUNIT_ASSERT_EQ(test, lz_layout_least(&r->g, &si, why, sizeof(why)), 0);
	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	KUNIT_ASSERT_EQ(test, ram_load(r, 0), 0);
	r->lz->si.meta_zones = si.meta_zones;
	/* As on a drive of TBs a checkpoint is to write a small part of the tree. */
	r->lz->delta_cap = 40;
	atomic_set(&r->lz->delta_space, 40);
	for (i = 0; i < r->si.logical_blocks; i += LZ_NODE_ENTRIES)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, i, 1), 0);
	least = nodes_of_writes(r, &state);
	r->lz->si.meta_zones = r->si.meta_zones;
	own = nodes_of_writes(r, &state);
	KUNIT_EXPECT_LT(test, own * 3, least * 2);
}

static bool closed_now, nested;

/* The machine, between what others do. */
static void machine_now(struct ram *r)
{
	nested = true;
	ram_pump(r);
	nested = false;
}

/* A writer found no room, as its zone was about to be closed: that it is before he says so. */
static u64 now_closes(void *ctx)
{
	if (!closed_now && !nested) {
		machine_now(ctx);
		closed_now = true;
	}
	return ram_ops.now(ctx);
}

/* And before he looks again the machine finds nothing that moves. */
static void kick_runs(void *ctx)
{
	ram_ops.kick(ctx);
	if (closed_now && !nested)
		machine_now(ctx);
}

/* Somebody is starved, and has not looked again: that is no lack of room, even with zones lost. */
static void room_second_look(struct kunit *test)
{
	struct ram *r = ram_new(test, 60, 4);
	struct lz_ops ops = ram_ops;
	struct lz_write w;
	struct lz *lz;
	u64 addr;

	r->o.finish = LZ_FINISH_MISMATCH;
	r->o.policy = LZ_POLICY_SLA;
	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	ram_again(r);
	lz = r->lz;
	lz_zone_take_free(lz, false)->state = LZ_ZS_BAD;
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_SHORT, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	ops.now = now_closes;
	ops.kick = kick_runs;
	lz->ops = &ops;
	closed_now = false;
	KUNIT_EXPECT_EQ(test, lz_write_begin(lz, LZ_CLASS_EXTREME, 1, 1, &w), 0);
	KUNIT_EXPECT_TRUE(test, closed_now);
	lz->ops = &ram_ops;
	KUNIT_EXPECT_FALSE(test, lz->spent);
	addr = lz_zone_addr(lz, w.zone, r->zone[w.zone].wp++);
	KUNIT_ASSERT_EQ(test, lz_write_end(lz, &w, addr, 1), 0);
	/* There is room, it only has to be waited for. */
	KUNIT_EXPECT_EQ(test, lz_write_begin(lz, LZ_CLASS_SHORT, 2, 1, &w), -EAGAIN);
}

static struct kunit_case room_cases[] = {
	KUNIT_CASE(room_waits_for_reader),
	KUNIT_CASE(room_waits_not_for_gc),
	KUNIT_CASE(room_second_look),
	KUNIT_CASE(room_tight),
	KUNIT_CASE(room_tight_discards),
	KUNIT_CASE(room_not_hastened),
	KUNIT_CASE(room_emptied_in_flight),
	KUNIT_CASE(room_not_paced),
	KUNIT_CASE(room_lent),
	KUNIT_CASE(room_lent_none_failed),
	KUNIT_CASE(room_none_to_lend),
	KUNIT_CASE(room_victim_freed),
	KUNIT_CASE(room_lent_by_goal),
	KUNIT_CASE(room_ends_spoiled),
	KUNIT_CASE(room_discard_asks),
	KUNIT_CASE(room_counts_wrong),
	KUNIT_CASE(room_short_discards),
	KUNIT_CASE(room_in_flight),
	KUNIT_CASE(room_log_zone_read),
	KUNIT_CASE(room_log_large),
	{}
};

static struct kunit_suite room_suite = {
	.name = "lifezone-room",
	.exit = room_exit,
	.test_cases = room_cases,
};

kunit_test_suite(room_suite);
