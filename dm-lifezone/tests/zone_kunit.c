// SPDX-License-Identifier: GPL-2.0-only
/* Open zones, the budget, resets, and zones that fail. */
#include "ram.h"

static void zone_exit(struct kunit *test)
{
	ram_free(test->priv);
}

/* The drive in RAM fails the test when more zones are open than it allows. */
static void zone_budget(struct kunit *test, u32 max_open)
{
	struct ram *r = ram_device(test, 40, max_open);
	struct lz_info info;
	u32 state = max_open, i;

	for (i = 0; i < 2000; i++) {
		KUNIT_ASSERT_EQ(test, ram_write(r, ram_random(&state, LZ_NR_CLASSES),
						ram_random(&state, r->si.logical_blocks - 8),
						1 + ram_random(&state, 8)), 0);
		if (i % 500 == 0) {
			lz_get_info(r->lz, &info);
			KUNIT_EXPECT_LE(test, info.open, info.budget);
			KUNIT_EXPECT_LE(test, r->active, max_open);
		}
	}
	ram_verify(r);
	ram_check(r);
}

static void zone_budget_4(struct kunit *test)
{
	zone_budget(test, 4);
}

static void zone_budget_5(struct kunit *test)
{
	zone_budget(test, 5);
}

static void zone_budget_14(struct kunit *test)
{
	zone_budget(test, 14);
}

/* Classes part ways where the budget allows it. */
static void zone_classes_apart(struct kunit *test)
{
	struct ram *r = ram_new(test, 40, 14);
	struct lz_info info;
	u8 c, d;

	r->o.policy = LZ_POLICY_SLA;
	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	KUNIT_ASSERT_EQ(test, ram_load(r, 0), 0);
	for (c = 0; c < LZ_NR_CLASSES; c++)
		KUNIT_ASSERT_EQ(test, ram_write(r, c, 10 * c, 10), 0);
	lz_get_info(r->lz, &info);
	for (c = 0; c < LZ_NR_CLASSES; c++) {
		KUNIT_EXPECT_NE(test, info.class_open[c], ~0u);
		for (d = 0; d < c; d++)
			KUNIT_EXPECT_NE(test, info.class_open[c], info.class_open[d]);
		KUNIT_EXPECT_EQ(test, info.class_zones[c], 1u);
	}
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_FALLBACKS), 0ull);
}

/* A zone whose data is gone is reset after the commit, not before. */
static void zone_reset_after_commit(struct kunit *test)
{
	struct ram *r = ram_device(test, 32, 8);
	u64 before;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 3 * r->g.zone_cap), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	before = r->nr_ops[LZ_OP_RESET];
	KUNIT_ASSERT_EQ(test, lz_discard(r->lz, 0, 3 * r->g.zone_cap), 0);
	memset(r->version, 0, 3 * r->g.zone_cap * sizeof(*r->version));
	ram_flush(r);
	ram_elapse(r, 2000);
	ram_checkpoint(r);
	ram_elapse(r, 2000);
	ram_flush(r);
	ram_elapse(r, 2000);
	KUNIT_EXPECT_GE(test, r->nr_ops[LZ_OP_RESET], before + 2);
	KUNIT_EXPECT_GE(test, lz_stat(r->lz, LZ_ST_RESETS_USER), 2ull);
	ram_verify(r);
	ram_check(r);
}

/* One that has lost all and holds something again is not asked about at each commit. */
static void zone_used_again(struct kunit *test)
{
	struct ram *r = ram_device(test, 32, 8);
	struct lz_zone *z;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 20), 0);
	z = &r->lz->zone[lz_addr_zone(r->lz, lz_map_get(r->lz, 0))];
	KUNIT_ASSERT_EQ(test, ram_discard(r, 0, 20), 0);
	KUNIT_ASSERT_TRUE(test, z->listed);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 20), 0);
	KUNIT_ASSERT_EQ(test, atomic_read(&z->valid), 20);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	KUNIT_EXPECT_EQ(test, z->state, LZ_ZS_OPEN);
	KUNIT_EXPECT_FALSE(test, z->listed);
	ram_verify(r);
	ram_check(r);
}

/* Reads keep their zone from being reset. */
static void zone_reader_holds_reset(struct kunit *test)
{
	struct ram *r = ram_device(test, 32, 8);
	struct lz_read rd;
	u64 head;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 2 * r->g.zone_cap), 0);
	KUNIT_ASSERT_EQ(test, lz_read_begin(r->lz, 5, 1, &rd), 0);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 0, 2 * r->g.zone_cap), 0);
	ram_flush(r);
	ram_elapse(r, 2000);
	ram_flush(r);
	ram_elapse(r, 2000);
	memcpy(&head, ram_block(r, rd.addr), sizeof(head));
	KUNIT_EXPECT_EQ(test, head, 5ull);
	lz_read_end(r->lz, &rd);
	ram_pump(r);
	ram_flush(r);
	ram_elapse(r, 2000);
	memcpy(&head, ram_block(r, rd.addr), sizeof(head));
	KUNIT_EXPECT_NE(test, head, 5ull);
}

/* A zone that refuses writes is set aside; its data is read on and moved away. */
static void zone_write_error(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz_info info;
	u32 zone;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 20), 0);
	lz_get_info(r->lz, &info);
	zone = info.class_open[LZ_CLASS_LONG];
	KUNIT_ASSERT_NE(test, zone, ~0u);
	r->zone[zone].fail = 1 << LZ_OP_APPEND | 1 << LZ_OP_FINISH;
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 100, 20), 0);
	ram_elapse(r, 2000);
	KUNIT_EXPECT_EQ(test, r->nr_events[LZ_EV_ZONE_ASIDE], 1u);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_ZONES_ASIDE), 1ull);
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_EQ(test, info.mode, LZ_MODE_RW);
	KUNIT_EXPECT_NE(test, info.class_open[LZ_CLASS_LONG], zone);
	ram_verify(r);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_verify(r);
}

/* Somebody else resets a zone of the drive; the host is not told. */
static void reset_behind(struct ram *r, u32 zone)
{
	r->active -= r->zone[zone].cond == LZ_COND_OPEN;
	r->zone[zone].cond = LZ_COND_EMPTY;
	r->zone[zone].wp = 0;
	r->zone[zone].durable = 0;
}

static u32 open_zone(struct ram *r, u8 class)
{
	struct lz_info info;

	lz_get_info(r->lz, &info);
	KUNIT_ASSERT_NE(r->test, info.class_open[class], ~0u);
	return info.class_open[class];
}

static void expect_lost(struct ram *r, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(r->test, ram_read(r, i), ~0u);
}

/*
 * An open zone is reset behind our back: the next write tells. What it held is lost, now and
 * after a crash, until it is written again; nothing else is.
 */
static void zone_reset_behind_us(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz_check_report found = {};
	struct lz_info info;
	u32 zone, i;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 20), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	zone = open_zone(r, LZ_CLASS_LONG);
	reset_behind(r, zone);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 100, 20), 0);
	KUNIT_EXPECT_EQ(test, r->nr_events[LZ_EV_ZONE_ASIDE], 1u);
	KUNIT_EXPECT_NOT_NULL(test, strstr(r->said, "was it reset by someone else?"));
	expect_lost(r, 20);
	for (i = 100; i < 120; i++)
		KUNIT_EXPECT_EQ(test, ram_read(r, i), r->version[i]);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_EQ(test, info.mode, LZ_MODE_RW);
	KUNIT_EXPECT_EQ(test, r->lz->zone[zone].state, LZ_ZS_BAD);
	KUNIT_EXPECT_EQ(test, r->zone[zone].cond, LZ_COND_FULL);

	ram_cut(r);
	KUNIT_ASSERT_EQ(test, ram_load(r, LZ_LOAD_RO), 0);
	KUNIT_ASSERT_EQ(test, lz_check(r->lz, &found), 0);
	KUNIT_EXPECT_EQ(test, found.errors, 1ull);
	expect_lost(r, 20);
	ram_cut(r);
	KUNIT_ASSERT_EQ(test, ram_load(r, 0), 0);
	expect_lost(r, 20);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 20), 0);
	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
		ram_elapse(r, 2000);
	}
	KUNIT_EXPECT_EQ(test, r->lz->zone[zone].state, LZ_ZS_FREE);
	KUNIT_EXPECT_EQ(test, r->lz->zone[zone].flags, LZ_ZF_WORN);
	ram_verify(r);
	ram_check(r);
}

/* Before the zone table says so, a zone that is lost is not made to look full. */
static void zone_reset_behind_us_and_cut(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	u32 zone;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 20), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	zone = open_zone(r, LZ_CLASS_LONG);
	reset_behind(r, zone);
	/* The checkpoint that says so is a while coming. */
	r->lz->zone[zone].open->ckpt = r->lz->ckpt.number + 2;
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_EXPECT_EQ(test, r->zone[zone].cond, LZ_COND_OPEN);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_EXPECT_EQ(test, r->zone[zone].cond, LZ_COND_FULL);
}

/* Three writes to one open zone, asked for at once; the address of the first to end. */
static u64 three_writes(struct ram *r, struct lz_write *w)
{
	struct kunit *test = r->test;
	u32 i;

	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, lz_write_begin(r->lz, LZ_CLASS_LONG, 0, 1, &w[i]), 0);
		KUNIT_ASSERT_EQ(test, w[i].zone, open_zone(r, LZ_CLASS_LONG));
	}
	return lz_zone_addr(r->lz, w[0].zone, r->zone[w[0].zone].wp);
}

/* Writes asked for before the first one ended may land anywhere, but only one at the start. */
static void zone_reset_behind_us_young(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz_write w[3];
	u64 start = three_writes(r, w);

	KUNIT_EXPECT_EQ(test, lz_write_end(r->lz, &w[1], start + 1, 11), 0);
	KUNIT_EXPECT_EQ(test, lz_write_end(r->lz, &w[0], start, 10), 0);
	KUNIT_EXPECT_EQ(test, r->nr_events[LZ_EV_ZONE_ASIDE], 0u);
	KUNIT_EXPECT_EQ(test, lz_write_end(r->lz, &w[2], start, 12), -EIO);
	KUNIT_EXPECT_EQ(test, r->nr_events[LZ_EV_ZONE_ASIDE], 1u);
	KUNIT_EXPECT_EQ(test, ram_read(r, 10), ~0u);
	KUNIT_EXPECT_EQ(test, ram_read(r, 12), 0u);
}

/* One of them fails, and the others show that what lay there is lost: told, but once. */
static void zone_reset_after_error(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz_write w[3];
	u64 addr;
	u32 i;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 20), 0);
	addr = three_writes(r, w);
	lz_write_fail(r->lz, &w[0], -EIO);
	KUNIT_EXPECT_NOT_NULL(test, strstr(r->said, "set aside: write error"));
	r->said[0] = 0;
	KUNIT_EXPECT_EQ(test, lz_write_end(r->lz, &w[1], addr - 20, 40), -EIO);
	KUNIT_EXPECT_NOT_NULL(test, strstr(r->said, "was it reset by someone else?"));
	r->said[0] = 0;
	KUNIT_EXPECT_EQ(test, lz_write_end(r->lz, &w[2], addr - 19, 41), -EIO);
	KUNIT_EXPECT_EQ(test, r->said[0], 0);
	KUNIT_EXPECT_EQ(test, r->nr_events[LZ_EV_ZONE_ASIDE], 1u);
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_EQ(test, ram_read(r, i), ~0u);
}

/* So is what lands beyond. */
static void zone_written_behind_us_twice(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz_write w[3];
	u64 addr;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 20), 0);
	addr = three_writes(r, w);
	KUNIT_EXPECT_EQ(test, lz_write_end(r->lz, &w[0], addr + 3, 40), -EIO);
	KUNIT_EXPECT_NOT_NULL(test, strstr(r->said, "did someone else write to it?"));
	r->said[0] = 0;
	KUNIT_EXPECT_EQ(test, lz_write_end(r->lz, &w[1], addr + 4, 41), -EIO);
	KUNIT_EXPECT_EQ(test, r->said[0], 0);
	KUNIT_EXPECT_EQ(test, r->nr_events[LZ_EV_ZONE_ASIDE], 1u);
	KUNIT_EXPECT_EQ(test, lz_write_end(r->lz, &w[2], addr + 2, 42), 0);
	KUNIT_EXPECT_EQ(test, ram_read(r, 40), 0u);
	KUNIT_EXPECT_EQ(test, ram_read(r, 19), r->version[19]);
}

/* Somebody else writes to an open zone: its room ends early, and nothing is lost. */
static void zone_written_behind_us(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz_info info;
	u32 zone;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 20), 0);
	zone = open_zone(r, LZ_CLASS_LONG);
	r->zone[zone].wp++;
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 100, 20), 0);
	KUNIT_EXPECT_EQ(test, r->nr_events[LZ_EV_ZONE_ASIDE], 1u);
	KUNIT_EXPECT_NOT_NULL(test, strstr(r->said, "did someone else write to it?"));
	ram_elapse(r, 2000);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	ram_elapse(r, 2000);
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_EQ(test, info.mode, LZ_MODE_RW);
	ram_verify(r);
	ram_check(r);
}

static void zone_reset_error(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz_info info;
	u32 i;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 2 * r->g.zone_cap), 0);
	for (i = 0; i < r->g.nr_zones; i++)
		if (r->lz->zone[i].state == LZ_ZS_FULL)
			r->zone[i].fail = 1 << LZ_OP_RESET;
	KUNIT_ASSERT_EQ(test, ram_discard(r, 0, 2 * r->g.zone_cap), 0);
	ram_flush(r);
	ram_elapse(r, 2000);
	ram_checkpoint(r);
	ram_elapse(r, 2000);
	KUNIT_EXPECT_GT(test, r->nr_events[LZ_EV_ZONE_ASIDE], 0u);
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_EQ(test, info.mode, LZ_MODE_RW);
	KUNIT_EXPECT_GT(test, info.zones[LZ_ZS_BAD], 0u);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 100), 0);
	ram_verify(r);
}

/* finish=mismatch, with room for few zones open at a time. */
static struct ram *mismatch(struct kunit *test)
{
	struct ram *r = ram_new(test, 40, 6);

	r->o.policy = LZ_POLICY_SLA;
	r->o.finish = LZ_FINISH_MISMATCH;
	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	KUNIT_ASSERT_EQ(test, ram_load(r, 0), 0);
	return r;
}

/* With the budget spent by other classes, zones are finished. */
static void zone_finish_mismatch(struct kunit *test)
{
	struct ram *r = mismatch(test);
	u32 i;

	for (i = 0; i < 28; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, i % LZ_NR_CLASSES, i, 1), 0);
	KUNIT_EXPECT_GT(test, r->nr_ops[LZ_OP_FINISH], 0ull);
	/* One zone for one write, never more. */
	KUNIT_EXPECT_LE(test, r->nr_ops[LZ_OP_FINISH], 28ull);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_FINISHES_MISMATCH), r->nr_ops[LZ_OP_FINISH]);
	ram_verify(r);
	ram_check(r);
}

/* However many ask while one zone is being finished, no other is. */
static void zone_finish_one(struct kunit *test)
{
	struct ram *r = ram_new(test, 40, 8);
	struct lz_write w;
	u64 finished;
	u32 slots, i;

	r->o.policy = LZ_POLICY_SLA;
	r->o.finish = LZ_FINISH_MISMATCH;
	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	KUNIT_ASSERT_EQ(test, ram_load(r, 0), 0);
	/* One slot is kept for GC. */
	slots = r->lz->data_slots - 1;
	KUNIT_ASSERT_LT(test, slots + 1, (u32)LZ_NR_CLASSES);
	for (i = 0; i < slots; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, i, 10 * i, 10), 0);
	finished = r->nr_ops[LZ_OP_FINISH];
	KUNIT_EXPECT_EQ(test, finished, 0ull);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, lz_write_begin(r->lz, slots, 0, 1, &w), -EAGAIN);
	ram_pump(r);
	KUNIT_EXPECT_EQ(test, r->nr_ops[LZ_OP_FINISH], 1ull);
	KUNIT_ASSERT_EQ(test, ram_write(r, slots, 500, 1), 0);
	KUNIT_EXPECT_EQ(test, r->nr_ops[LZ_OP_FINISH], 1ull);
	ram_verify(r);
}

/* The zone that is to make room for another class cannot be finished: it is set aside. */
static void zone_finish_error(struct kunit *test)
{
	struct ram *r = mismatch(test);
	u32 i;

	for (i = 2; i < r->g.nr_zones; i++) {
		r->zone[i].fail = 1 << LZ_OP_FINISH;
		r->zone[i].fail_times = LZ_FINISH_TRIES;
	}
	for (i = 0; i < 28; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, i % LZ_NR_CLASSES, i, 1), 0);
	KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_ZONES_ASIDE), 0ull);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "set aside"), "(%s)", r->said);
	ram_verify(r);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_check(r);
	ram_survive(r);
}

/* An open zone that is empty and cannot be reset is finished, and gives its slot back. */
static void zone_open_reset_error(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	u32 round, zone, i;

	ram_set_reset(r, LZ_RESET_LAZY);
	for (round = 0; round < 2 * r->lz->data_slots; round++) {
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 20), 0);
		zone = lz_addr_zone(r->lz, lz_map_get(r->lz, 0));
		KUNIT_ASSERT_EQ(test, r->lz->zone[zone].state, LZ_ZS_OPEN);
		r->zone[zone].fail = 1 << LZ_OP_RESET;
		KUNIT_ASSERT_EQ(test, ram_discard(r, 0, 20), 0);
		for (i = 0; i < 3; i++) {
			KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
			ram_elapse(r, 2000);
		}
		KUNIT_EXPECT_EQ(test, r->lz->zone[zone].state, LZ_ZS_BAD);
		KUNIT_EXPECT_TRUE(test, r->lz->zone[zone].failed);
		KUNIT_EXPECT_EQ(test, r->zone[zone].cond, LZ_COND_FULL);
	}
	ram_verify(r);
	ram_check(r);
}

static bool is_finish(struct ram *r, const struct lz_cmd *c)
{
	return c->op == LZ_OP_FINISH;
}

/* While it is finished nobody resets it, whatever is set. */
static void zone_finish_not_reset(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	u32 zone;
	u64 resets;

	ram_set_reset(r, LZ_RESET_LAZY);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 20), 0);
	zone = lz_addr_zone(r->lz, lz_map_get(r->lz, 0));
	r->zone[zone].fail = 1 << LZ_OP_RESET;
	r->slow = is_finish;
	KUNIT_ASSERT_EQ(test, ram_discard(r, 0, 20), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_pump(r);
	KUNIT_ASSERT_EQ(test, r->lz->zone[zone].state, LZ_ZS_BAD);
	KUNIT_ASSERT_EQ(test, r->nr_held, 1u);
	r->zone[zone].fail = 0;
	resets = r->nr_ops[LZ_OP_RESET];
	ram_set_reset(r, LZ_RESET_EAGER);
	ram_pump(r);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	KUNIT_EXPECT_EQ(test, r->nr_ops[LZ_OP_RESET], resets);
	r->slow = NULL;
	ram_release(r, 0);
	ram_pump(r);
	KUNIT_EXPECT_EQ(test, r->lz->zone[zone].state, LZ_ZS_BAD);
	KUNIT_EXPECT_EQ(test, r->zone[zone].cond, LZ_COND_FULL);
	ram_verify(r);
	ram_check(r);
}

/* By the rule that is set, zones that were left empty by the one before are reset; not before. */
static void zone_reset_set(struct kunit *test)
{
	static const struct {
		enum lz_reset from, to;
		u8 class;
	} row[] = {
		{ LZ_RESET_ADAPTIVE, LZ_RESET_LAZY, LZ_CLASS_LONG },
		{ LZ_RESET_LAZY, LZ_RESET_EAGER, LZ_CLASS_SHORT },
	};
	struct ram *r = ram_device(test, 40, 8);
	struct lz_info info;
	struct lz_write w;
	u32 i, held;
	u64 resets;

	for (i = 0; i < ARRAY_SIZE(row); i++)
		for (held = 0; held < 2; held++) {
			ram_set_reset(r, row[i].from);
			KUNIT_ASSERT_EQ(test, ram_write(r, row[i].class, 0, 10), 0);
			KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
			lz_get_info(r->lz, &info);
			KUNIT_ASSERT_NE(test, info.class_open[row[i].class], ~0u);
			if (held)
				KUNIT_ASSERT_EQ(test, lz_write_begin(r->lz, row[i].class, 20, 1,
								     &w), 0);
			KUNIT_ASSERT_EQ(test, ram_discard(r, 0, 10), 0);
			KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
			resets = r->nr_ops[LZ_OP_RESET];
			ram_set_reset(r, row[i].to);
			ram_pump(r);
			if (held) {
				/* While something is on its way there, it waits. */
				KUNIT_EXPECT_EQ(test, r->nr_ops[LZ_OP_RESET], resets);
				KUNIT_ASSERT_EQ(test, ram_land(r, &w, 20), 0);
				KUNIT_ASSERT_EQ(test, ram_discard(r, 20, 1), 0);
				KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
			}
			KUNIT_EXPECT_EQ(test, r->nr_ops[LZ_OP_RESET], resets + 1);
			ram_check(r);
		}
}

/*
 * reset=adaptive: a zone that has lost all it held is filled first, by data that lives as long
 * or shorter, and reset when it is full.
 */
static void zone_left_to_be_filled(struct kunit *test)
{
	struct ram *r = ram_new(test, 40, 14);
	u32 cap = r->g.zone_cap, zone, zones, lba;
	struct lz_info info;
	u64 resets;

	r->o.policy = LZ_POLICY_SLA;
	r->o.reset = LZ_RESET_ADAPTIVE;
	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	KUNIT_ASSERT_EQ(test, ram_load(r, 0), 0);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_EXTREME, 0, 10), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	lz_get_info(r->lz, &info);
	zone = info.class_open[LZ_CLASS_EXTREME];
	zones = info.zones[LZ_ZS_OPEN];
	resets = r->nr_ops[LZ_OP_RESET];
	KUNIT_ASSERT_EQ(test, ram_discard(r, 0, 10), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_elapse(r, 2000);
	KUNIT_EXPECT_EQ(test, r->nr_ops[LZ_OP_RESET], resets);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 1), 0);
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_EQ(test, info.class_open[LZ_CLASS_LONG], zone);
	KUNIT_EXPECT_EQ(test, info.class_open[LZ_CLASS_EXTREME], ~0u);
	KUNIT_EXPECT_EQ(test, info.zones[LZ_ZS_OPEN], zones);
	/* It holds something now: others open one of their own. */
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_MEDIUM, 1, 1), 0);
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_NE(test, info.class_open[LZ_CLASS_MEDIUM], zone);
	for (lba = 2; lba < 2 * cap; lba++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, lba, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	resets = r->nr_ops[LZ_OP_RESET];
	KUNIT_ASSERT_EQ(test, ram_discard(r, 0, 2 * cap), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_elapse(r, 2000);
	KUNIT_EXPECT_GT(test, r->nr_ops[LZ_OP_RESET], resets);
	ram_survive(r);
}

/* A generation is only ever compared for being another: it may begin anew. */
static void zone_generation_wraps(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	u32 i, round, n = 5 * r->g.zone_cap, wrapped = 0;

	ram_set_reset(r, LZ_RESET_LAZY);
	for (i = 2; i < r->g.nr_zones; i++) {
		if (r->lz->zone[i].state == LZ_ZS_FREE)
			r->lz->zone[i].gen = ~0u;
	}
	for (round = 0; round < 8; round++) {
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, n), 0);
		for (i = 0; i < n; i += 2)
			KUNIT_ASSERT_EQ(test, ram_discard(r, i, 1), 0);
		KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
		lz_request_gc(r->lz, 3);
		ram_elapse(r, 2000);
		/* It went by summaries with such generations. */
		KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_GC_COPIES), 0ull);
		ram_survive(r);
	}
	for (i = 2; i < r->g.nr_zones; i++)
		wrapped += r->lz->zone[i].gen < 100;
	KUNIT_EXPECT_GT(test, wrapped, r->g.nr_zones / 2);
	KUNIT_EXPECT_STREQ(test, r->said, "");
}

/* Writers wait for a zone to close, but not for long: a write to it may be held up. */
static void zone_slow_write(struct kunit *test)
{
	static const u8 class[] = { LZ_CLASS_SHORT, LZ_CLASS_MEDIUM, LZ_CLASS_LONG,
				    LZ_CLASS_EXTREME, LZ_CLASS_NONE, LZ_CLASS_META };
	struct ram *r = ram_device(test, 40, 8);
	struct lz_write held, w;
	struct lz_options o;
	u32 i;
	int err;

	lz_get_options(r->lz, &o);
	o.policy = LZ_POLICY_SLA;
	lz_set_options(r->lz, &o);
	for (i = 0; i < ARRAY_SIZE(class); i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, class[i], i, 1), 0);
	KUNIT_ASSERT_EQ(test, lz_write_begin(r->lz, LZ_CLASS_SHORT, 10, 1, &held), 0);
	/* Others fill that zone. */
	while (!(err = lz_write_begin(r->lz, LZ_CLASS_SHORT, 20, 1, &w))) {
		KUNIT_ASSERT_EQ(test, w.zone, held.zone);
		KUNIT_ASSERT_EQ(test, ram_land(r, &w, 20), 0);
	}
	KUNIT_EXPECT_EQ(test, err, -EAGAIN);
	for (i = 0; i < 4 && err == -EAGAIN; i++) {
		ram_elapse(r, LZ_CLOSE_MS);
		err = lz_write_begin(r->lz, LZ_CLASS_SHORT, 20, 1, &w);
	}
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_GT(test, i, 0u);
	KUNIT_EXPECT_NE(test, w.zone, held.zone);
	if (!err)
		lz_write_fail(r->lz, &w, -EIO);
	lz_write_fail(r->lz, &held, -EIO);
}

static bool finishes(struct ram *r, const struct lz_cmd *c)
{
	return c->op == LZ_OP_FINISH;
}

/* Nor for a zone that is being finished, which may take a second: there is room elsewhere. */
static void zone_slow_finish(struct kunit *test)
{
	struct ram *r = mismatch(test);
	u32 slots = r->lz->data_slots - 1, i;
	struct lz_write w;
	int err = -EAGAIN;

	for (i = 0; i < slots; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, i, 10 * i, 10), 0);
	r->slow = finishes;
	for (i = 0; i < 5 && err == -EAGAIN; i++) {
		err = lz_write_begin(r->lz, slots, 500, 1, &w);
		if (err == -EAGAIN)
			ram_elapse(r, LZ_CLOSE_MS);
	}
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_GT(test, i, 1u);
	/* Another zone was not finished instead. */
	KUNIT_EXPECT_EQ(test, r->nr_held, 1u);
	r->slow = NULL;
	while (r->nr_held)
		ram_release(r, 0);
	ram_pump(r);
	if (!err)
		KUNIT_EXPECT_EQ(test, ram_land(r, &w, 500), 0);
}

static struct kunit_case zone_cases[] = {
	KUNIT_CASE(zone_budget_4),
	KUNIT_CASE(zone_budget_5),
	KUNIT_CASE(zone_budget_14),
	KUNIT_CASE(zone_classes_apart),
	KUNIT_CASE(zone_reset_after_commit),
	KUNIT_CASE(zone_used_again),
	KUNIT_CASE(zone_reader_holds_reset),
	KUNIT_CASE(zone_write_error),
	KUNIT_CASE(zone_reset_behind_us),
	KUNIT_CASE(zone_reset_behind_us_and_cut),
	KUNIT_CASE(zone_reset_behind_us_young),
	KUNIT_CASE(zone_reset_after_error),
	KUNIT_CASE(zone_written_behind_us),
	KUNIT_CASE(zone_written_behind_us_twice),
	KUNIT_CASE(zone_reset_error),
	KUNIT_CASE(zone_finish_mismatch),
	KUNIT_CASE(zone_finish_one),
	KUNIT_CASE(zone_finish_error),
	KUNIT_CASE(zone_open_reset_error),
	KUNIT_CASE(zone_left_to_be_filled),
	KUNIT_CASE(zone_finish_not_reset),
	KUNIT_CASE(zone_reset_set),
	KUNIT_CASE(zone_generation_wraps),
	KUNIT_CASE(zone_slow_write),
	KUNIT_CASE(zone_slow_finish),
	{}
};

static struct kunit_suite zone_suite = {
	.name = "lifezone-zone",
	.exit = zone_exit,
	.test_cases = zone_cases,
};

kunit_test_suite(zone_suite);
