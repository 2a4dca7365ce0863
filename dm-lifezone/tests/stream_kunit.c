// SPDX-License-Identifier: GPL-2.0-only
/* The metadata log on zones that fail: journal, nodes and roots go elsewhere. */
#include "ram.h"

static void stream_exit(struct kunit *test)
{
	ram_free(test->priv);
}

/* With eight open zones journal and nodes have a zone each, with four they share one. */
static struct ram *device(struct kunit *test, u32 max_open)
{
	struct ram *r = ram_device(test, 40, max_open);

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 300), 0);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 20, 40), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_SHORT, 100, 100), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	return r;
}

/* All is there, still works, and is there again after a cut, and another. */
static void survives(struct ram *r)
{
	struct kunit *test = r->test;
	struct lz_info info;
	u32 i;

	for (i = 0; i < 2; i++) {
		lz_get_info(r->lz, &info);
		KUNIT_EXPECT_EQ(test, info.mode, LZ_MODE_RW);
		ram_verify(r);
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 150, 100), 0);
		KUNIT_ASSERT_EQ(test, ram_discard(r, 200, 40), 0);
		KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
		ram_cut(r);
		ram_again(r);
	}
	ram_verify(r);
	ram_stop(r);
	ram_check(r);
}

static bool writes_root(struct ram *r, const struct lz_cmd *c)
{
	return c->op == LZ_OP_WRITE && c->addr < 2 * r->g.zone_blocks;
}

/*
 * A checkpoint leaves a zone of both journal and nodes behind, and is whole; what was written
 * meanwhile comes with the next one only. So from the first one on the journal is not whole, though
 * nothing of it was written: what numbers its blocks goes on with a gap.
 */
static void stream_gap(struct kunit *test)
{
	struct ram *r = device(test, 4);
	struct lz *lz = r->lz;
	struct ram_zone *zone = &r->zone[lz->js->zone];
	u64 first;

	KUNIT_ASSERT_TRUE(test, lz->js == lz->ns);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 5, 1), 0);
	/* Its commit is written, and its nodes are not. */
	zone->fail = 1 << LZ_OP_WRITE;
	zone->fail_after = 1;
	r->slow = writes_root;
	lz_ckpt_want(lz);
	ram_pump(r);
	KUNIT_ASSERT_GT(test, r->nr_held, 0u);
	KUNIT_EXPECT_TRUE(test, lz->journal_lost);
	KUNIT_EXPECT_FALSE(test, lz->ckpt.restart);
	first = lz->ckpt.journal_seq;
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 5, 1), 0);
	r->slow = NULL;
	while (r->nr_held)
		ram_release(r, 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	KUNIT_EXPECT_FALSE(test, lz->journal_lost);
	KUNIT_EXPECT_GE(test, lz->ckpt.journal_seq, first + LZ_JOURNAL_GAP);
	survives(r);
}

static void journal_fails(struct kunit *test, u32 max_open)
{
	struct ram *r = device(test, max_open);
	u32 zone = r->lz->js->zone;
	u64 checkpoints = lz_stat(r->lz, LZ_ST_CHECKPOINTS);

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 30), 0);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 250, 50), 0);
	r->zone[zone].fail = 1 << LZ_OP_WRITE;
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	KUNIT_EXPECT_NE(test, r->lz->js->zone, zone);
	KUNIT_EXPECT_FALSE(test, r->lz->journal_lost);
	KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_CHECKPOINTS), checkpoints);
	KUNIT_EXPECT_EQ(test, r->nr_events[LZ_EV_ZONE_ASIDE], 1u);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "metadata log left"), "(%s)", r->said);
	/* What the flush answered was durable by then. */
	ram_cut(r);
	ram_again(r);
	survives(r);
}

static void stream_journal_fails(struct kunit *test)
{
	journal_fails(test, 8);
}

static void stream_shared_fails(struct kunit *test)
{
	journal_fails(test, 4);
}

static void nodes_fail(struct kunit *test, u32 max_open)
{
	struct ram *r = device(test, max_open);
	u32 zone = r->lz->ns->zone;

	KUNIT_ASSERT_NE(test, zone, LZ_NONE);
	r->zone[zone].fail = 1 << LZ_OP_WRITE;
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_EXPECT_NE(test, r->lz->ns->zone, zone);
	KUNIT_EXPECT_EQ(test, r->nr_events[LZ_EV_ZONE_ASIDE], 1u);
	ram_cut(r);
	ram_again(r);
	survives(r);
}

static void stream_nodes_fail(struct kunit *test)
{
	nodes_fail(test, 8);
}

static void stream_shared_nodes_fail(struct kunit *test)
{
	nodes_fail(test, 4);
}

static void stream_root_fails(struct kunit *test)
{
	struct ram *r = device(test, 8);
	u32 zone = r->lz->root_zone;

	r->zone[zone].fail = 1 << LZ_OP_WRITE;
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_EXPECT_EQ(test, r->lz->root_zone, zone ^ 1);
	KUNIT_EXPECT_EQ(test, r->zone[zone].cond, LZ_COND_FULL);
	survives(r);
}

/* While zones it has cleaned are being reset, the log asks for no more of it. */
static void stream_resets_first(struct kunit *test)
{
	struct ram *r = device(test, 8);
	struct lz *lz = r->lz;

	ram_pump(r);
	lz->nr_meta = lz->si.meta_zones;
	lz->stream[0].off = r->g.zone_cap;
	lz->stream[1].off = r->g.zone_cap;
	lz->ckpt.vain = 0;
	lz->ckpt.wanted = false;
	lz->meta_resets = 1;
	KUNIT_EXPECT_TRUE(test, lz_log_tight(lz));
	KUNIT_EXPECT_FALSE(test, lz->ckpt.wanted);
	lz->meta_resets = 0;
	KUNIT_EXPECT_TRUE(test, lz_log_tight(lz));
	KUNIT_EXPECT_TRUE(test, lz->ckpt.wanted);
	ram_cut(r);
}

/* Without a place for its root a checkpoint fails, and the device with it. */
static void stream_both_roots_fail(struct kunit *test)
{
	struct ram *r = device(test, 8);
	struct lz_info info;
	u32 i;

	r->zone[0].fail = 1 << LZ_OP_WRITE;
	r->zone[1].fail = 1 << LZ_OP_WRITE;
	KUNIT_EXPECT_NE(test, ram_checkpoint(r), 0);
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_EQ(test, info.mode, LZ_MODE_FAIL);
	for (i = 0; i < 2; i++)
		r->zone[i].fail = 0;
	ram_cut(r);
	ram_again(r);
	survives(r);
}

/* Has the log's zone fail and waits until it has been dealt with. */
static u32 fail_log_zone(struct ram *r)
{
	u32 zone = r->lz->js->zone;

	r->zone[zone].fail = 1 << LZ_OP_WRITE;
	KUNIT_ASSERT_EQ(r->test, ram_write(r, LZ_CLASS_LONG, 0, 1), 0);
	KUNIT_ASSERT_EQ(r->test, ram_flush(r), 0);
	r->zone[zone].fail = 0;
	KUNIT_ASSERT_EQ(r->test, ram_checkpoint(r), 0);
	ram_elapse(r, 2000);
	return zone;
}

/* What was in vain so far is not, once the journal has gone on. */
static void stream_tight_again(struct kunit *test)
{
	struct ram *r = device(test, 4);
	u64 checkpoints;
	u32 i;

	for (i = 0; i <= r->si.meta_zones + 2; i++)
		KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_ASSERT_GT(test, r->lz->ckpt.vain, r->si.meta_zones);
	/* Of the room the log has, nothing but what is left of its zones. */
	r->lz->si.meta_zones = r->lz->nr_meta;
	KUNIT_ASSERT_LT(test, lz_log_free(r->lz), lz_log_worst(r->lz) + r->lz->g.zone_cap);
	checkpoints = lz_stat(r->lz, LZ_ST_CHECKPOINTS);
	ram_elapse(r, 100);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_CHECKPOINTS), checkpoints);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_elapse(r, 100);
	KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_CHECKPOINTS), checkpoints);
}

/* Nor is it, where nodes fill the zones of the journal, that this has links to the next. */
static void stream_links_in_vain(struct kunit *test)
{
	struct ram *r = device(test, 4);
	struct lz *lz = r->lz;
	u64 jseq, n = 4 * r->g.zone_cap;
	u32 i;

	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	jseq = lz->jseq;
	for (i = 0; i < n; i++) {
		lz_zone_touch(lz, &lz->zone[0]);
		KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	}
	KUNIT_EXPECT_GE(test, lz->jseq, jseq + 4);
	KUNIT_EXPECT_GE(test, lz->ckpt.vain, n);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_EXPECT_EQ(test, lz->ckpt.vain, 0u);
	survives(r);
}

/* A zone that failed is free again, but not for metadata; the second time it stays out. */
static void stream_worn(struct kunit *test)
{
	struct ram *r = device(test, 8);
	u32 zone = fail_log_zone(r), i;
	struct lz_zone *z = &r->lz->zone[zone];

	KUNIT_ASSERT_EQ(test, z->state, LZ_ZS_FREE);
	KUNIT_EXPECT_EQ(test, z->flags, LZ_ZF_WORN);
	for (i = 0; i < 3 * r->g.nr_zones * r->g.zone_cap; i++) {
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, i % 8, 1), 0);
		KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
		if (z->state == LZ_ZS_META)
			break;
	}
	KUNIT_EXPECT_NE(test, z->state, LZ_ZS_META);
	KUNIT_EXPECT_TRUE(test, z->flags & LZ_ZF_WORN);

	/* The mark outlives a restart. */
	ram_stop(r);
	ram_again(r);
	z = &r->lz->zone[zone];
	KUNIT_EXPECT_TRUE(test, z->flags & LZ_ZF_WORN);
	for (i = 0; i < 10000 && z->state != LZ_ZS_OPEN; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, i % 200, 1), 0);
	KUNIT_ASSERT_EQ(test, z->state, LZ_ZS_OPEN);
	r->zone[zone].fail = 1 << LZ_OP_APPEND;
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 200), 0);
	for (i = 0; i < 4; i++) {
		KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
		ram_elapse(r, 2000);
	}
	KUNIT_EXPECT_EQ(test, z->state, LZ_ZS_BAD);
	KUNIT_EXPECT_EQ(test, atomic_read(&z->valid), 0);
	r->zone[zone].fail = 0;
	survives(r);
	ram_again(r);
	KUNIT_EXPECT_EQ(test, r->lz->zone[zone].state, LZ_ZS_BAD);
}

/* Metadata took it for want of another, and it failed again: it stays out. */
static void stream_worn_again(struct kunit *test)
{
	struct ram *r = device(test, 8);
	u32 zone, i;

	for (i = 2; i < r->g.nr_zones; i++)
		if (r->lz->zone[i].state == LZ_ZS_FREE)
			r->lz->zone[i].flags |= LZ_ZF_WORN;
	fail_log_zone(r);
	KUNIT_ASSERT_TRUE(test, r->lz->zone[r->lz->js->zone].flags & LZ_ZF_WORN);
	zone = fail_log_zone(r);
	KUNIT_EXPECT_EQ(test, r->lz->zone[zone].state, LZ_ZS_BAD);
	KUNIT_EXPECT_NE(test, r->lz->js->zone, zone);
	for (i = 0; i < 500; i++) {
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, i % 8, 1), 0);
		KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	}
	KUNIT_EXPECT_EQ(test, r->lz->zone[zone].state, LZ_ZS_BAD);
	survives(r);
	ram_again(r);
	KUNIT_EXPECT_EQ(test, r->lz->zone[zone].state, LZ_ZS_BAD);
}

/* However many writes to it were under way, a zone that fails is one. */
static void stream_zone_counts_once(struct kunit *test)
{
	struct ram *r = device(test, 8);
	struct lz_stream *s = r->lz->js;
	struct lz_cmd cmd = {
		.op = LZ_OP_WRITE, .nblocks = 1, .error = -EIO,
		.addr = lz_zone_addr(r->lz, s->zone, s->off),
	};
	u32 i;

	s->writes += 2 * LZ_LOG_TRIES;
	for (i = 0; i < 2 * LZ_LOG_TRIES; i++)
		lz_stream_ended(r->lz, s, &cmd);
	KUNIT_EXPECT_EQ(test, s->failures, 1u);
	KUNIT_EXPECT_EQ(test, r->nr_events[LZ_EV_ZONE_ASIDE], 1u);
	lz_kick(r->lz);
	ram_pump(r);
	survives(r);
}

static struct kunit_case stream_cases[] = {
	KUNIT_CASE(stream_gap),
	KUNIT_CASE(stream_journal_fails),
	KUNIT_CASE(stream_shared_fails),
	KUNIT_CASE(stream_nodes_fail),
	KUNIT_CASE(stream_shared_nodes_fail),
	KUNIT_CASE(stream_root_fails),
	KUNIT_CASE(stream_both_roots_fail),
	KUNIT_CASE(stream_tight_again),
	KUNIT_CASE(stream_links_in_vain),
	KUNIT_CASE(stream_resets_first),
	KUNIT_CASE(stream_worn),
	KUNIT_CASE(stream_worn_again),
	KUNIT_CASE(stream_zone_counts_once),
	{}
};

static struct kunit_suite stream_suite = {
	.name = "lifezone-stream",
	.exit = stream_exit,
	.test_cases = stream_cases,
};

kunit_test_suite(stream_suite);
