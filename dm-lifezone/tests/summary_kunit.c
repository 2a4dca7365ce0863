// SPDX-License-Identifier: GPL-2.0-only
/* Summaries that a checkpoint waits for, those it does not, and what a cut leaves of them. */
#include "ram.h"
#include "waiting.h"

static bool summaries(struct ram *r, const struct lz_cmd *c)
{
	return c->op == LZ_OP_APPEND && c->meta;
}

static bool summaries_and_journal(struct ram *r, const struct lz_cmd *c)
{
	return summaries(r, c) ||
		(c->op == LZ_OP_WRITE && lz_addr_zone(r->lz, c->addr) == r->lz->js->zone);
}

static void release(struct ram *r, u32 i)
{
	ram_release(r, i);
	ram_pump(r);
}

static struct ram *slow_device(struct kunit *test, u32 zone_blocks)
{
	struct ram *r = ram_sized(test, 24, 8, zone_blocks, zone_blocks - 24);

	KUNIT_ASSERT_EQ_MSG(test, ram_format(r), 0, "(%s)", r->said);
	ram_again(r);
	r->slow = summaries;
	return r;
}

static void summary_exit(struct kunit *test)
{
	ram_free(test->priv);
}

/* Fills a summary and a part of one; a checkpoint waits for both. The zone. */
static u32 two_summaries(struct kunit *test, struct ram *r, struct waiting *ckpt)
{
	*ckpt = (struct waiting){ .w.fn = waiting_end };
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, LZ_SUMMARY_ENTRIES), 0);
	KUNIT_ASSERT_EQ(test, r->nr_held, 1u);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, LZ_SUMMARY_ENTRIES, 10), 0);
	lz_request_checkpoint(r->lz, &ckpt->w);
	ram_pump(r);
	KUNIT_ASSERT_FALSE(test, ckpt->called);
	return lz_addr_zone(r->lz, r->held[0]->addr);
}

/* The journal tells of the first summary, only the zone table of the second. */
static void summary_older(struct kunit *test)
{
	struct ram *r = slow_device(test, 1024);
	struct waiting ckpt, flush = { .w.fn = waiting_end };
	u32 zone, head, seq;

	zone = two_summaries(test, r, &ckpt);
	lz_flush(r->lz, &flush.w);
	release(r, 0);
	KUNIT_ASSERT_TRUE(test, flush.called);
	KUNIT_ASSERT_EQ(test, r->nr_held, 1u);
	KUNIT_ASSERT_FALSE(test, ckpt.called);
	release(r, 0);
	KUNIT_ASSERT_TRUE(test, ckpt.called);
	head = r->lz->zone[zone].head;
	seq = r->lz->zone[zone].sum_seq;
	ram_cut(r);
	ram_again(r);
	KUNIT_EXPECT_EQ(test, r->lz->zone[zone].head, head);
	KUNIT_EXPECT_EQ(test, r->lz->zone[zone].sum_seq, seq);
	ram_verify(r);
	ram_check(r);
}

/* A zone that is to be reset has no second one; but after a cut it holds blocks in use. */
static void summary_draining(struct kunit *test)
{
	struct ram *r = slow_device(test, 1024);
	struct waiting ckpt, flush = { .w.fn = waiting_end };
	u32 zone, n = LZ_SUMMARY_ENTRIES + 10;
	u32 *was = kunit_kzalloc(test, n * sizeof(*was), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, was);
	ram_set_reset(r, LZ_RESET_LAZY);
	zone = two_summaries(test, r, &ckpt);
	memcpy(was, r->version, n * sizeof(*was));
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_EXTREME, 0, n), 0);
	KUNIT_ASSERT_EQ(test, atomic_read(&r->lz->zone[zone].valid), 0);
	r->slow = summaries_and_journal;
	lz_flush(r->lz, &flush.w);
	release(r, 0);
	KUNIT_ASSERT_FALSE(test, flush.called);
	KUNIT_ASSERT_TRUE(test, ckpt.called);
	memcpy(r->version, was, n * sizeof(*was));
	ram_cut(r);
	ram_again(r);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->lz->zone[zone].valid), n);
	ram_verify(r);
	ram_check(r);
}

/*
 * A write is held back where the drive's queue is. Others have filled its zone, so that there is
 * no room for a summary until it ends, and a checkpoint does not wait for that.
 */
static void summary_slow_write(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct waiting ckpt = { .w.fn = waiting_end };
	struct lz_write held, w;
	u32 zone, i, n = 0;
	u64 was[150];

	KUNIT_ASSERT_EQ(test, lz_write_begin(r->lz, LZ_CLASS_SHORT, 10, 1, &held), 0);
	zone = held.zone;
	do {
		KUNIT_ASSERT_LT(test, n, (u32)ARRAY_SIZE(was));
		KUNIT_ASSERT_EQ(test, lz_write_begin(r->lz, LZ_CLASS_SHORT, 20 + n, 1, &w), 0);
		KUNIT_ASSERT_EQ(test, ram_land(r, &w, 20 + n), 0);
		n++;
	} while (w.zone == zone);
	lz_request_checkpoint(r->lz, &ckpt.w);
	ram_pump(r);
	KUNIT_EXPECT_FALSE(test, ckpt.called);
	for (i = 0; i < 3; i++)
		ram_elapse(r, LZ_CLOSE_MS);
	KUNIT_EXPECT_TRUE_MSG(test, ckpt.called, "(in state %u)", r->lz->ckpt.state);
	for (i = 0; i < n; i++)
		was[i] = lz_map_get(r->lz, 20 + i);
	ram_cut(r);
	ram_again(r);
	KUNIT_EXPECT_TRUE(test, r->lz->zone[zone].flags & LZ_ZF_SCAN);
	ram_read(r, 20);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, lz_map_get(r->lz, 20 + i), was[i]);
	ram_check(r);
}

/*
 * The journal tells that a zone was set aside, the zone table that it has been reset since and
 * is free: it failed once, not twice.
 */
static void summary_of_earlier_life(struct kunit *test)
{
	struct ram *r = slow_device(test, 64);
	struct waiting ckpt = { .w.fn = waiting_end };
	struct lz_info info;
	struct lz_zone *z;
	u32 zone;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_SHORT, 20, 5), 0);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 5), 0);
	lz_get_info(r->lz, &info);
	zone = info.class_open[LZ_CLASS_LONG];
	z = &r->lz->zone[zone];
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	lz_request_checkpoint(r->lz, &ckpt.w);
	ram_pump(r);
	KUNIT_ASSERT_EQ(test, r->nr_held, 2u);
	release(r, lz_addr_zone(r->lz, r->held[0]->addr) != zone);
	/* GC, which would empty it first, is busy elsewhere. */
	lz_stopping(r->lz);
	r->zone[zone].fail = 1 << LZ_OP_APPEND;
	r->zone[zone].fail_times = 1;
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10, 1), 0);
	KUNIT_ASSERT_TRUE(test, z->flags & LZ_ZF_BAD);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 5), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	KUNIT_ASSERT_EQ(test, z->state, (u8)LZ_ZS_FREE);
	KUNIT_ASSERT_EQ(test, z->flags, (u8)LZ_ZF_WORN);
	KUNIT_ASSERT_FALSE(test, ckpt.called);
	release(r, 0);
	KUNIT_ASSERT_TRUE(test, ckpt.called);
	ram_cut(r);
	ram_again(r);
	z = &r->lz->zone[zone];
	KUNIT_EXPECT_EQ_MSG(test, z->state, (u8)LZ_ZS_FREE, "(%s)", r->said);
	KUNIT_EXPECT_EQ(test, z->flags, (u8)LZ_ZF_WORN);
	ram_verify(r);
	ram_check(r);
}

/* That a zone was set aside means nothing where the zone table has it for another life. */
static void summary_set_aside(struct kunit *test)
{
	struct lz_jrec rec;
	u64 gen;
	u8 state;

	lz_jrec_pack(&rec, LZ_JR_ZBAD, 5, 0, 0);
	for (state = LZ_ZS_FREE; state <= LZ_ZS_META; state++) {
		struct lz_zone z = { .state = state };

		lz_jrec_to_zone(&z, &rec);
		KUNIT_EXPECT_EQ(test, z.flags & LZ_ZF_BAD,
				state == LZ_ZS_OPEN || state == LZ_ZS_FULL ? LZ_ZF_BAD : 0);
	}
	for (gen = 6; gen <= 8; gen++) {
		struct lz_zone z = { .state = LZ_ZS_OPEN, .gen = 7, .flags = LZ_ZF_WORN };

		lz_jrec_pack(&rec, LZ_JR_ZBAD, 5, 0, gen | LZ_ZBAD_GEN);
		lz_jrec_to_zone(&z, &rec);
		KUNIT_EXPECT_EQ(test, z.flags & LZ_ZF_BAD, gen == 7 ? LZ_ZF_BAD : 0);
	}
}

static struct kunit_case summary_cases[] = {
	KUNIT_CASE(summary_older),
	KUNIT_CASE(summary_draining),
	KUNIT_CASE(summary_slow_write),
	KUNIT_CASE(summary_of_earlier_life),
	KUNIT_CASE(summary_set_aside),
	{}
};

static struct kunit_suite summary_suite = {
	.name = "lifezone-summary",
	.exit = summary_exit,
	.test_cases = summary_cases,
};

kunit_test_suite(summary_suite);
