// SPDX-License-Identifier: GPL-2.0-only
/* GC: the device is writable to its last block, for ever. */
#include "ram.h"

static void relocate_exit(struct kunit *test)
{
	ram_free(test->priv);
}

static void fill(struct ram *r, u8 class)
{
	u32 n = 64;
	u64 lba;

	for (lba = 0; lba < r->si.logical_blocks; lba += n) {
		n = min_t(u64, 64, r->si.logical_blocks - lba);
		KUNIT_ASSERT_EQ(r->test, ram_write(r, class, lba, n), 0);
	}
}

static void overwrite(struct ram *r, u32 *state, u64 blocks)
{
	u32 n;

	while (blocks) {
		n = min_t(u64, 1 + ram_random(state, 4), blocks);
		KUNIT_ASSERT_EQ(r->test, ram_write(r, ram_random(state, LZ_NR_CLASSES),
						   ram_random(state, r->si.logical_blocks - n),
						   n), 0);
		blocks -= n;
	}
}

static void full_device(struct kunit *test, u32 max_open, u8 policy, u8 isolation, u8 victim,
			u8 finish)
{
	struct ram *r = ram_new(test, 32, max_open);
	u32 state = max_open * 100 + policy * 10 + isolation;

	r->o.policy = policy;
	r->o.isolation = isolation;
	r->o.victim = victim;
	r->o.finish = finish;
	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	KUNIT_ASSERT_EQ(test, ram_load(r, 0), 0);
	fill(r, LZ_CLASS_LONG);
	overwrite(r, &state, 3 * r->si.logical_blocks);
	ram_verify(r);
	KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_GC_COPIES), 0ull);
	/* It is short of space all the time: that is said now and then. */
	KUNIT_EXPECT_LE(test, r->nr_events[LZ_EV_LOW_SPACE], 8u);
	KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_RESETS_GC) +
			lz_stat(r->lz, LZ_ST_RESETS_USER), 0ull);
	ram_check(r);

	/* And after a cut in the middle of it. */
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_cut(r);
	KUNIT_ASSERT_EQ(test, ram_load(r, 0), 0);
	ram_verify(r);
	overwrite(r, &state, r->si.logical_blocks / 2);
	ram_verify(r);
	ram_check(r);
}

static void relocate_least_budget(struct kunit *test)
{
	full_device(test, 4, LZ_POLICY_WLA, LZ_ISOLATION_PERSISTENT,
		    LZ_VICTIM_COST_BENEFIT, LZ_FINISH_NEVER);
}

static void relocate_wla(struct kunit *test)
{
	full_device(test, 8, LZ_POLICY_WLA, LZ_ISOLATION_PERSISTENT,
		    LZ_VICTIM_COST_BENEFIT, LZ_FINISH_NEVER);
}

static void relocate_sla_initial(struct kunit *test)
{
	full_device(test, 8, LZ_POLICY_SLA, LZ_ISOLATION_INITIAL,
		    LZ_VICTIM_GREEDY, LZ_FINISH_NEVER);
}

static void relocate_zenfs(struct kunit *test)
{
	full_device(test, 14, LZ_POLICY_ZENFS, LZ_ISOLATION_PERSISTENT,
		    LZ_VICTIM_GREEDY, LZ_FINISH_NEVER);
}

/* As many groups as there are zones to be open. */
static void relocate_adaptive(struct kunit *test)
{
	full_device(test, 14, LZ_POLICY_ADAPTIVE, LZ_ISOLATION_PERSISTENT,
		    LZ_VICTIM_AUTO, LZ_FINISH_NEVER);
}

static void relocate_adaptive_least_budget(struct kunit *test)
{
	full_device(test, 4, LZ_POLICY_ADAPTIVE, LZ_ISOLATION_PERSISTENT,
		    LZ_VICTIM_AUTO, LZ_FINISH_NEVER);
}

static void relocate_adaptive_initial(struct kunit *test)
{
	full_device(test, 8, LZ_POLICY_ADAPTIVE, LZ_ISOLATION_INITIAL,
		    LZ_VICTIM_MDC, LZ_FINISH_MISMATCH);
}

/* Finishing throws room away, but never more than GC gains. */
static void relocate_finish(struct kunit *test)
{
	full_device(test, 6, LZ_POLICY_SLA, LZ_ISOLATION_PERSISTENT,
		    LZ_VICTIM_COST_BENEFIT, LZ_FINISH_MISMATCH);
}

static void relocate_finish_initial(struct kunit *test)
{
	full_device(test, 8, LZ_POLICY_ZENFS, LZ_ISOLATION_INITIAL,
		    LZ_VICTIM_GREEDY, LZ_FINISH_MISMATCH);
}

/* A device whose zones are of the lifetimes that hints say. */
static struct ram *by_hints(struct kunit *test)
{
	struct ram *r = ram_new(test, 40, 8);

	r->o.policy = LZ_POLICY_WLA;
	KUNIT_ASSERT_EQ_MSG(test, ram_format(r), 0, "(%s)", r->said);
	ram_again(r);
	return r;
}

/* Asked to, GC cleans however much is free. */
static void relocate_on_request(struct kunit *test)
{
	struct ram *r = by_hints(test);
	struct lz_info before, after;
	u32 i;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 5 * r->g.zone_cap), 0);
	/* Holes everywhere. */
	for (i = 0; i < 5 * r->g.zone_cap; i += 2)
		KUNIT_ASSERT_EQ(test, ram_discard(r, i, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	lz_get_info(r->lz, &before);
	lz_request_gc(r->lz, 4);
	for (i = 0; i < 20; i++) {
		ram_elapse(r, 2000);
		ram_flush(r);
	}
	lz_get_info(r->lz, &after);
	KUNIT_EXPECT_GT(test, after.free_zones, before.free_zones);
	KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_GC_COPIES), 0ull);
	/* With blocks of their lifetime. */
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_CLASS_COPIES + LZ_CLASS_LONG),
			lz_stat(r->lz, LZ_ST_GC_COPIES));
	ram_verify(r);
	ram_check(r);
}

/* Five zones, every other block of them gone, and all of it settled. */
static struct ram *holes_of(struct kunit *test, u8 class)
{
	struct ram *r = by_hints(test);
	u32 i;

	KUNIT_ASSERT_EQ(test, ram_write(r, class, 0, 5 * r->g.zone_cap), 0);
	for (i = 0; i < 5 * r->g.zone_cap; i += 2)
		KUNIT_ASSERT_EQ(test, ram_discard(r, i, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	return r;
}

static struct ram *holes(struct kunit *test)
{
	return holes_of(test, LZ_CLASS_LONG);
}

/* No zone takes what GC moves: it gives up, and nothing of it is lost. */
static void relocate_nowhere(struct kunit *test)
{
	struct ram *r = holes(test);
	struct lz_info info;
	u32 i;

	for (i = 0; i < r->g.nr_zones; i++)
		r->zone[i].fail = 1 << LZ_OP_APPEND;
	lz_request_gc(r->lz, 1);
	ram_elapse(r, 2000);
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_EQ(test, info.mode, LZ_MODE_FAIL);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "GC cannot write"), "(%s)", r->said);
	ram_verify(r);
	for (i = 0; i < r->g.nr_zones; i++)
		r->zone[i].fail = 0;
	ram_survive(r);
}

/* Zones that fail one after the other are set aside, and GC goes on in the next. */
static void relocate_bad_zones(struct kunit *test)
{
	struct ram *r = holes(test);
	struct lz_info info;
	struct lz_zone *z;
	u32 n = 0;

	list_for_each_entry(z, &r->lz->free_list, list) {
		if (n++ < 6)
			r->zone[lz_zone_nr(r->lz, z)].fail = 1 << LZ_OP_APPEND;
	}
	KUNIT_ASSERT_GT(test, n, 6u);
	lz_request_gc(r->lz, 1);
	ram_elapse(r, 2000);
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_EQ(test, info.mode, LZ_MODE_RW);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_ZONES_ASIDE), 6ull);
	KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_GC_COPIES), 0ull);
	ram_verify(r);
	ram_check(r);
}

/* The newest summary of each zone that has any is changed, and believable again. */
static void change_summaries(struct ram *r, void (*change)(struct ram *r, u32 zone,
							   struct lz_summary *s))
{
	u32 i;

	for (i = 2; i < r->g.nr_zones; i++) {
		struct lz_zone *z = &r->lz->zone[i];
		struct lz_summary *s;

		if (z->head == LZ_NO_OFFSET)
			continue;
		s = ram_block(r, lz_zone_addr(r->lz, i, z->head));
		change(r, i, s);
		ram_reseal(&s->h, le32_to_cpu(s->h.count));
	}
}

/* Of more blocks than it has, or not the first of them. */
static void make_stale(struct ram *r, u32 zone, struct lz_summary *s)
{
	if (zone % 2)
		s->group = cpu_to_le32(2);
	else
		s->nth = cpu_to_le32(1);
}

/* A summary of another life is not believed: the zone is cleaned all the same. */
static void relocate_stale_summary(struct kunit *test)
{
	struct ram *r = holes(test);
	u32 i;

	change_summaries(r, make_stale);
	lz_request_gc(r->lz, 3);
	for (i = 0; i < 20; i++) {
		ram_elapse(r, 2000);
		ram_flush(r);
	}
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "of another life"), "(%s)", r->said);
	KUNIT_EXPECT_GE(test, lz_stat(r->lz, LZ_ST_RESETS_GC), 3ull);
	ram_verify(r);
}

/* It names what cannot be, and says that the one before it comes after it. */
static void make_odd(struct ram *r, u32 zone, struct lz_summary *s)
{
	s->e[0] = cpu_to_le64(lz_sum_pack(0, r->si.logical_blocks));
	s->e[1] = cpu_to_le64(lz_sum_pack(r->g.zone_cap, 0));
	s->e[3] = cpu_to_le64(lz_sum_pack(3, LZ_ADDR_MASK - 1));
	s->prev = cpu_to_le32(r->lz->zone[zone].head);
	/* Summaries of nothing, that fill a zone up, have room for it. */
	s->h.count = cpu_to_le32(max(le32_to_cpu(s->h.count), 4u));
}

static void relocate_odd_summary(struct kunit *test)
{
	/* What is of no block sorts with this class. */
	struct ram *r = holes_of(test, LZ_CLASS_NOT_SET);
	u32 i;

	change_summaries(r, make_odd);
	/* Leaves of what is named are read ahead; of that block there is none. */
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	ram_forget_leaves(r);
	for (i = 0; i < 20; i++) {
		lz_request_gc(r->lz, 3);
		ram_elapse(r, 2000);
		ram_flush(r);
	}
	/* What they do not name the map does. */
	KUNIT_EXPECT_GE(test, lz_stat(r->lz, LZ_ST_RESETS_GC), 3ull);
	ram_verify(r);
}

/* Summaries of several blocks are whole to a drive that takes less at a time than it did. */
static void relocate_less_append(struct kunit *test)
{
	struct ram *r = ram_sized(test, 60, 16, 2048, 2048);
	u32 i;

	r->g.max_append = 64;
	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	ram_again(r);
	/* The machine comes late, and finds many blocks to name. */
	r->hold = true;
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 1500), 0);
	r->hold = false;
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 1500, 5000), 0);
	for (i = 0; i < 6500; i += 2)
		KUNIT_ASSERT_EQ(test, ram_discard(r, i, 1), 0);
	ram_stop(r);
	r->g.max_append = 2;
	ram_again(r);
	lz_request_gc(r->lz, 3);
	ram_elapse(r, 2000);
	KUNIT_EXPECT_GE(test, lz_stat(r->lz, LZ_ST_GC_VICTIMS), 3ull);
	KUNIT_EXPECT_STREQ(test, r->said, "");
	ram_survive(r);
}

/* Whoever wants to know what was chosen from is told of each candidate; nobody else. */
static void relocate_traced(struct kunit *test)
{
	struct ram *r = ram_device(test, 32, 8);
	u32 state = 3;

	fill(r, LZ_CLASS_LONG);
	overwrite(r, &state, r->si.logical_blocks);
	KUNIT_EXPECT_GT(test, r->nr_traced[LZ_TR_VICTIM], 0ull);
	KUNIT_EXPECT_EQ(test, r->nr_traced[LZ_TR_VICTIM_ZONE], 0ull);
	KUNIT_EXPECT_EQ(test, r->nr_traced[LZ_TR_PLACE_ZONE], 0ull);
	r->candidates = 0;
	r->traced = true;
	overwrite(r, &state, r->si.logical_blocks);
	KUNIT_EXPECT_GT(test, r->candidates, 0ull);
	KUNIT_EXPECT_GE(test, r->nr_traced[LZ_TR_VICTIM_ZONE], r->candidates);
	KUNIT_EXPECT_GT(test, r->nr_traced[LZ_TR_PLACE_ZONE], 0ull);
}

/* More is counted in a zone than the map has there: that is said once, and it is left. */
static void relocate_miscounted(struct kunit *test)
{
	struct ram *r = holes(test);
	const char *said;
	u32 zone = lz_addr_zone(r->lz, lz_map_get(r->lz, 1)), i;
	u64 victims;

	atomic_inc(&r->lz->zone[zone].valid);
	for (i = 0; i < 10; i++) {
		lz_request_gc(r->lz, 6);
		ram_elapse(r, 2000);
		ram_flush(r);
	}
	said = strstr(r->said, "blocks are counted that the map does not name");
	KUNIT_ASSERT_NOT_NULL(test, said);
	KUNIT_EXPECT_TRUE_MSG(test, !strstr(said + 1, "blocks are counted"), "(%s)", r->said);
	victims = lz_stat(r->lz, LZ_ST_GC_VICTIMS);
	lz_request_gc(r->lz, 6);
	ram_elapse(r, 2000);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_GC_VICTIMS), victims);
	ram_verify(r);
	ram_check(r);
}

/* Cleans some of the zones with holes; those are moved, and gone. */
static void cleaned(struct ram *r)
{
	struct lz_info info;
	u32 i;

	lz_request_gc(r->lz, 3);
	for (i = 0; i < 5; i++) {
		ram_elapse(r, 2000);
		KUNIT_ASSERT_EQ(r->test, ram_flush(r), 0);
	}
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_EQ(r->test, info.mode, LZ_MODE_RW);
	KUNIT_EXPECT_GE(r->test, lz_stat(r->lz, LZ_ST_RESETS_GC), 2ull);
	ram_verify(r);
	ram_check(r);
}

/* A read that fails and is good the third time is no block lost. */
static void relocate_read_hiccup(struct kunit *test)
{
	struct ram *r = holes(test);
	u32 i;

	/* The first is that of the summary. */
	for (i = 2; i < r->g.nr_zones; i++) {
		if (r->lz->zone[i].state != LZ_ZS_FULL)
			continue;
		r->zone[i].fail = 1 << LZ_OP_READ;
		r->zone[i].fail_after = 1;
		r->zone[i].fail_times = LZ_READ_TRIES - 1;
	}
	cleaned(r);
	KUNIT_EXPECT_EQ(test, r->said[0], 0);
}

/* While GC searches the map, leaf by leaf, users have their share as while it copies. */
static void relocate_searches(struct kunit *test)
{
	struct ram *r = ram_sized(test, 1000, 8, 128, 120);
	u32 i, leaves, written = 0, ticks;
	struct lz_write w;
	u64 addr;
	struct lz *lz;

	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	ram_again(r);
	lz = r->lz;
	leaves = lz->map.n[0];
	for (i = 0; i < leaves; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, i * LZ_NODE_ENTRIES, 1), 0);
	for (i = 0; i < 6 * r->g.zone_cap; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 1 + i % 200, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	for (i = 2; i < r->g.nr_zones; i++)
		lz->zone[i].flags |= lz->zone[i].state == LZ_ZS_FULL ? LZ_ZF_SCAN : 0;
	lz->max_cached = 2 * LZ_MERGE_WINDOW;
	ram_forget_leaves(r);
	while (lz_free_for(lz, true) > lz->si.gc_zones + 2)
		lz_zone_take_free(lz, false)->state = LZ_ZS_ROOT;
	r->slow = ram_reads_meta;
	lz_kick(lz);
	ram_pump(r);
	KUNIT_ASSERT_TRUE(test, lz->gc.scan);
	/* One is read; then a user tries. */
	for (ticks = 0; ticks < leaves - 1; ticks++) {
		KUNIT_ASSERT_GT(test, r->nr_held, 0u);
		ram_release(r, 0);
		ram_elapse(r, 20);
		KUNIT_ASSERT_EQ(test, lz->gc.state, LZ_GC_SCAN);
		if (ticks == LZ_MERGE_WINDOW)
			atomic_set(&lz->credit, 0);
		if (ticks <= LZ_MERGE_WINDOW || lz_write_begin(lz, LZ_CLASS_LONG, 1, 1, &w))
			continue;
		addr = lz_zone_addr(lz, w.zone, r->zone[w.zone].wp++);
		KUNIT_ASSERT_EQ(test, lz_write_end(lz, &w, addr, 1), 0);
		written++;
	}
	/* Half of what is read, as free zones are half way to the mark; some was read before. */
	KUNIT_EXPECT_GT(test, written, leaves / 4);
	while (r->nr_held)
		ram_release(r, 0);
}

/* Who has filled two zones since GC has to run may write what GC gains, and no more. */
static void relocate_lent(struct kunit *test)
{
	struct ram *r = ram_sized(test, 40, 8, 1024, 1000);
	u32 garbage, written = 0, i;
	struct lz_write w;
	struct lz *lz;

	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	ram_again(r);
	lz = r->lz;
	/* What users write then fits the zone that is open. */
	for (i = 0; i < 3200; i += 100)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, i, 100), 0);
	for (i = 0; i < 3200; i += 2)
		KUNIT_ASSERT_EQ(test, ram_discard(r, i, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	while (lz_free_for(lz, true) > lz->si.gc_zones + 2)
		lz_zone_take_free(lz, false)->state = LZ_ZS_ROOT;
	r->slow = ram_reads_data;
	lz_kick(lz);
	ram_pump(r);
	KUNIT_ASSERT_GT(test, r->nr_held, 0u);
	KUNIT_ASSERT_TRUE(test, lz->pacing);
	/* At first they need not wait. */
	KUNIT_EXPECT_GT(test, atomic_read(&lz->credit), 0);
	atomic_set(&lz->credit, 0);
	lz->gc.granted = LZ_PACE_LEND * r->g.zone_cap;
	garbage = r->g.zone_cap - atomic_read(&lz->zone[lz->gc.victim].valid);
	KUNIT_ASSERT_EQ(test, lz_stat(lz, LZ_ST_GC_VICTIMS), 1ull);
	for (i = 0; i < 1000 && lz_stat(lz, LZ_ST_GC_VICTIMS) == 1; i++) {
		if (r->nr_held)
			ram_release(r, 0);
		ram_elapse(r, 1);
		while (!lz_write_begin(lz, LZ_CLASS_LONG, 1, 1, &w)) {
			KUNIT_ASSERT_EQ(test, ram_land(r, &w, 1), 0);
			KUNIT_ASSERT_LE(test, ++written, garbage);
		}
	}
	/* But for what is less than a part. */
	KUNIT_EXPECT_GE(test, written, garbage - garbage / 100);
	while (r->nr_held)
		ram_release(r, 0);
}

/* One block that cannot be read stays; those beside it are moved. Overwritten, it is no more. */
static void relocate_bad_block(struct kunit *test)
{
	struct ram *r = by_hints(test);
	u32 lba = 2, all = 5 * r->g.zone_cap, i;
	struct lz_zone *z;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, all), 0);
	for (i = 0; i < all; i += 4)
		KUNIT_ASSERT_EQ(test, ram_discard(r, i, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	r->bad = lz_map_get(r->lz, lba);
	KUNIT_ASSERT_LT(test, r->bad, LZ_NOWHERE);
	z = &r->lz->zone[lz_addr_zone(r->lz, r->bad)];
	for (i = 0; i < 10; i++) {
		lz_request_gc(r->lz, 6);
		ram_elapse(r, 2000);
		KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&z->valid), 1);
	KUNIT_EXPECT_EQ(test, lz_map_get(r->lz, lba), r->bad);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "cannot be read"), "(%s)", r->said);
	KUNIT_EXPECT_EQ(test, ram_write(r, LZ_CLASS_LONG, lba, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_EXPECT_EQ(test, z->state, LZ_ZS_FREE);
	r->bad = 0;
	ram_verify(r);
	ram_check(r);
}

/* What GC was to write goes elsewhere, and what was kept back for it is given back. */
static void relocate_append_error(struct kunit *test)
{
	struct ram *r = holes(test);
	struct lz_zone *z = list_first_entry(&r->lz->free_list, struct lz_zone, list);
	u32 i;

	for (i = 0; i < 2; i++) {
		r->zone[lz_zone_nr(r->lz, z)].fail = 1 << LZ_OP_APPEND;
		z = list_entry(z->list.next, struct lz_zone, list);
	}
	cleaned(r);
	KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_ZONES_ASIDE), 0ull);
}

/* A map leaf that cannot be read does not hold GC up: what it maps stays. */
static void relocate_lost_leaf(struct kunit *test)
{
	struct ram *r = holes(test);
	u32 zone, i;

	ram_stop(r);
	ram_again(r);
	KUNIT_ASSERT_TRUE(test, !r->lz->leaf[0]);
	zone = lz_addr_zone(r->lz, r->lz->map.addr[0][0]);
	r->zone[zone].fail = 1 << LZ_OP_READ;
	/* Nor the second time, when it has been tried already. */
	for (i = 0; i < 3; i++) {
		lz_request_gc(r->lz, 6);
		ram_elapse(r, 2000);
		KUNIT_EXPECT_EQ(test, r->lz->gc.state, LZ_GC_IDLE);
	}
	KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_GC_VICTIMS), 1ull);
	/* Nor is the map said not to name it. */
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "blocks stay"), "(%s)", r->said);
	KUNIT_EXPECT_FALSE_MSG(test, strstr(r->said, "does not name"), "(%s)", r->said);
	r->zone[zone].fail = 0;
	ram_survive(r);
}

static void set_ahead(struct lz *lz, u32 zones)
{
	struct lz_options o;

	lz_get_options(lz, &o);
	o.gc_ahead = zones;
	lz_set_options(lz, &o);
}

/* While users write nothing GC wins some zones more than it has to, but none while they write. */
static void relocate_ahead(struct kunit *test)
{
	struct ram *r = ram_new(test, 200, 8);
	u32 state = 1, mark, i;
	struct lz_write held;
	struct lz *lz;

	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	ram_again(r);
	lz = r->lz;
	mark = lz->si.gc_zones + LZ_GC_START;
	set_ahead(lz, 0);
	for (i = 0; i < 100 * r->g.zone_cap; i += 4)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, i, 4), 0);
	/* Its output, and what is held, may take one each. */
	while (lz_free_now(lz, true) > mark + 2)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG,
						ram_random(&state, 100 * r->g.zone_cap), 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	ram_elapse(r, 2000);
	KUNIT_ASSERT_EQ(test, lz_free_now(lz, true), mark + 2);
	KUNIT_ASSERT_EQ(test, lz_stat(lz, LZ_ST_GC_VICTIMS), 0ull);
	KUNIT_ASSERT_GT(test, lz_spare_zones(lz, lz_mapped_blocks(lz)), 16 * LZ_GC_AHEAD_DEFAULT);
	KUNIT_ASSERT_EQ(test, lz_write_begin(lz, LZ_CLASS_LONG, 0, 1, &held), 0);
	set_ahead(lz, LZ_GC_AHEAD_DEFAULT);
	for (i = 0; i < 20; i++)
		ram_elapse(r, LZ_IDLE_MS);
	KUNIT_EXPECT_EQ(test, lz_stat(lz, LZ_ST_GC_VICTIMS), 0ull);
	/* However long one takes, nobody looks meanwhile whether it has ended. */
	KUNIT_EXPECT_EQ(test, r->timer, 0ull);
	/* It has begun when somebody writes again: it waits, and goes on. */
	KUNIT_ASSERT_EQ(test, ram_land(r, &held, 0), 0);
	r->slow = ram_reads_data;
	ram_elapse(r, LZ_IDLE_MS);
	KUNIT_ASSERT_GT(test, r->nr_held, 0u);
	KUNIT_ASSERT_EQ(test, lz_write_begin(lz, LZ_CLASS_LONG, 0, 1, &held), 0);
	while (r->nr_held)
		ram_release(r, 0);
	for (i = 0; i < 20; i++)
		ram_elapse(r, LZ_IDLE_MS);
	KUNIT_EXPECT_EQ(test, r->nr_held, 0u);
	KUNIT_EXPECT_EQ(test, lz->gc.state, LZ_GC_ENTRIES);
	r->slow = NULL;
	KUNIT_ASSERT_EQ(test, ram_land(r, &held, 0), 0);
	for (i = 0; i < 100; i++)
		ram_elapse(r, LZ_IDLE_MS);
	KUNIT_EXPECT_EQ(test, lz_free_now(lz, true), mark + LZ_GC_AHEAD_DEFAULT);
	KUNIT_EXPECT_EQ(test, lz->gc.state, LZ_GC_IDLE);
	KUNIT_EXPECT_FALSE(test, lz->pacing);
	r->version[0] = ram_read(r, 0);
	ram_survive(r);
}

/* Whatever it was that held users back: while nothing is to be cleaned they are not. */
static void relocate_not_paced(struct kunit *test)
{
	struct ram *r = holes(test);

	r->lz->pacing = true;
	atomic_set(&r->lz->credit, 0);
	KUNIT_EXPECT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 10), 0);
	KUNIT_EXPECT_FALSE(test, r->lz->pacing);
	ram_verify(r);
}

static void much_later(struct ram *r)
{
	atomic64_add_return(100 * r->g.zone_cap, &r->lz->write_seq);
}

/*
 * reset=adaptive: five full zones with a quarter of garbage, and an open one, of other data, of
 * which @written blocks were and nothing is left. Much has been written since.
 */
static struct ram *left(struct kunit *test, u32 written)
{
	struct ram *r = ram_new(test, 40, 14);
	u32 n = 5 * r->g.zone_cap, i;

	r->o.policy = LZ_POLICY_SLA;
	r->o.reset = LZ_RESET_ADAPTIVE;
	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	ram_again(r);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, n), 0);
	for (i = 0; i < n; i += 4)
		KUNIT_ASSERT_EQ(test, ram_discard(r, i, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_EXTREME, n, written), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_ASSERT_EQ(test, ram_discard(r, n, written), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	ram_elapse(r, 2000);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_RESETS_USER), 0ull);
	much_later(r);
	return r;
}

/* An empty zone is reset in place of one that has no more to gain if it is cleaned. */
static void relocate_reset_rather(struct kunit *test)
{
	struct ram *r = left(test, 40);
	u64 copies;

	KUNIT_ASSERT_GT(test, 40u, r->g.zone_cap / 4);
	lz_request_gc(r->lz, 1);
	ram_elapse(r, 2000);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_RESETS_USER), 1ull);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_GC_VICTIMS), 0ull);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_GC_COPIES), 0ull);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->lz->gc.want), 0);
	/* That was the only one. */
	lz_request_gc(r->lz, 1);
	ram_elapse(r, 2000);
	copies = lz_stat(r->lz, LZ_ST_GC_COPIES);
	KUNIT_EXPECT_GT(test, copies, 0ull);
	ram_survive(r);
	ram_free(r);

	r = left(test, 10);
	lz_request_gc(r->lz, 1);
	ram_elapse(r, 2000);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_RESETS_USER), 0ull);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_GC_COPIES), copies);
	ram_survive(r);
}

static struct lz_write late;

static void write_late(void *ctx, const struct lz_trace *t)
{
	struct ram *r = ctx;

	if (t->what == LZ_TR_VICTIM && !late.nblocks)
		KUNIT_EXPECT_EQ(r->test, lz_write_begin(r->lz, LZ_CLASS_EXTREME, 0, 1, &late), 0);
}

/* Somebody writes to the empty zone before it is reset: it is not, until it is chosen again. */
static void relocate_reset_late(struct kunit *test)
{
	struct ram *r = left(test, 40);
	struct lz_ops ops = ram_ops;

	late = (struct lz_write){};
	ops.trace = write_late;
	r->lz->ops = &ops;
	lz_request_gc(r->lz, 1);
	ram_elapse(r, 2000);
	KUNIT_ASSERT_EQ(test, late.nblocks, 1u);
	KUNIT_EXPECT_EQ(test, r->lz->zone[late.zone].class, LZ_CLASS_EXTREME);
	/* Or commits would be made for it over and over. */
	KUNIT_EXPECT_EQ(test, lz_resets_coming(r->lz), 0u);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_RESETS_USER), 0ull);
	KUNIT_ASSERT_EQ(test, ram_land(r, &late, 0), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_elapse(r, 2000);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_RESETS_USER), 0ull);
	much_later(r);
	lz_request_gc(r->lz, 1);
	ram_elapse(r, 2000);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_RESETS_USER), 1ull);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_GC_COPIES), 0ull);
	r->lz->ops = &ram_ops;
	ram_survive(r);
}

/* It is filled up before any commit looks at it: then it is nobody's choice any more. */
static void relocate_reset_filled(struct kunit *test)
{
	struct ram *r = left(test, 40);
	struct lz_zone *z = NULL;
	u32 i;

	for (i = 0; i < r->g.nr_zones; i++)
		if (r->lz->zone[i].state == LZ_ZS_OPEN)
			z = &r->lz->zone[i];
	KUNIT_ASSERT_NOT_NULL(test, z);
	z->chosen = true;
	for (i = 0; i < r->g.zone_cap && z->state == LZ_ZS_OPEN; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_EXTREME, i, 1), 0);
	KUNIT_EXPECT_EQ(test, z->state, LZ_ZS_FULL);
	KUNIT_EXPECT_FALSE(test, z->chosen);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_survive(r);
}

/* A write lands in @z. */
static void written(struct lz *lz, struct lz_zone *z)
{
	z->seq = atomic64_add_return(1, &lz->write_seq);
}

static u64 victim_seen;

/* As soon as the first is shown users write to the last full zone, and to the empty one. */
static void write_all(void *ctx, const struct lz_trace *t)
{
	struct ram *r = ctx;
	u32 i;

	if (t->what == LZ_TR_VICTIM)
		victim_seen = t->zone;
	if (t->what != LZ_TR_VICTIM_ZONE || r->nr_traced[LZ_TR_VICTIM_ZONE]++)
		return;
	for (i = 0; i < r->g.nr_zones; i++)
		if (r->lz->zone[i].state == LZ_ZS_OPEN || i == victim_seen)
			written(r->lz, &r->lz->zone[i]);
}

/* What is written while a victim is chosen is young, and not as old as can be. */
static void relocate_written_meanwhile(struct kunit *test)
{
	struct ram *r = left(test, 40);
	struct lz *lz = r->lz;
	struct lz_ops ops = ram_ops;
	u32 first = LZ_NONE, i;

	r->traced = true;
	for (i = 0; i < r->g.nr_zones; i++) {
		if (lz->zone[i].state != LZ_ZS_FULL)
			continue;
		victim_seen = i;
		if (first == LZ_NONE)
			first = i;
	}
	KUNIT_ASSERT_LT(test, (u64)first, victim_seen);
	ops.trace = write_all;
	lz->ops = &ops;
	lz_request_gc(lz, 1);
	ram_elapse(r, 2000);
	KUNIT_EXPECT_EQ(test, victim_seen, (u64)first);
	KUNIT_EXPECT_EQ(test, lz_stat(lz, LZ_ST_RESETS_USER), 0ull);
	KUNIT_EXPECT_GT(test, lz_stat(lz, LZ_ST_GC_COPIES), 0ull);
	lz->ops = &ram_ops;
	ram_survive(r);
}

static u32 looked;

/* When GC has looked at one zone somebody writes, */
static void write_behind(void *ctx, const struct lz_trace *t)
{
	struct ram *r = ctx;

	if (t->what == LZ_TR_VICTIM_ZONE && ++looked == 2)
		written(r->lz, &r->lz->zone[t->zone]);
}

/* or frees half of that, and asks for it to be cleaned. */
static void free_behind(void *ctx, const struct lz_trace *t)
{
	struct ram *r = ctx;
	u32 i;

	if (t->what != LZ_TR_VICTIM_ZONE || ++looked != 2)
		return;
	for (i = 0; i < r->g.zone_cap / 2; i++) {
		KUNIT_EXPECT_EQ(r->test, lz_discard(r->lz, i, 1), 0);
		r->version[i] = 0;
	}
	lz_request_gc(r->lz, 1);
}

/* What changes while GC looks for a victim, and finds none, has it look again. */
static void relocate_changed_meanwhile(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 14);
	struct lz_ops ops = ram_ops;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 5 * r->g.zone_cap), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	r->traced = true;
	r->lz->ops = &ops;
	ops.trace = write_behind;
	looked = 0;
	lz_request_gc(r->lz, 1);
	ram_pump(r);
	KUNIT_ASSERT_GT(test, looked, 1u);
	/* By this lz_starve() knows that there is news. */
	KUNIT_EXPECT_EQ(test, r->lz->gc.looked_at + 1, (u64)atomic64_read(&r->lz->write_seq));
	ops.trace = free_behind;
	looked = 0;
	lz_request_gc(r->lz, 1);
	ram_elapse(r, 2000);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_GC_VICTIMS), 1ull);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->lz->gc.want), 0);
	r->lz->ops = &ram_ops;
	ram_survive(r);
}

static u32 taken;

static void give_back(void *ctx, const struct lz_trace *t)
{
	struct ram *r = ctx;

	if (t->what != LZ_TR_CHECKPOINT || !taken)
		return;
	KUNIT_EXPECT_EQ(r->test, lz_stat(r->lz, LZ_ST_GC_VICTIMS), 1ull);
	KUNIT_EXPECT_EQ(r->test, lz_stat(r->lz, LZ_ST_GC_COPIES), 0ull);
	lz_delta_return(r->lz, taken);
	taken = 0;
}

/* Where the delta has no room GC waits for a checkpoint, and goes on. */
static void relocate_no_room_for_updates(struct kunit *test)
{
	struct ram *r = holes(test);
	struct lz_ops ops = ram_ops;

	ops.trace = give_back;
	r->lz->ops = &ops;
	/* Or no checkpoint would make any room. */
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, r->lz->delta_cap / 8), 0);
	taken = atomic_read(&r->lz->delta_space);
	KUNIT_ASSERT_TRUE(test, lz_delta_reserve(r->lz, taken, true));
	WRITE_ONCE(r->lz->ckpt.wanted, false);
	lz_request_gc(r->lz, 1);
	ram_pump(r);
	KUNIT_EXPECT_EQ(test, taken, 0u);
	KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_GC_COPIES), 0ull);
	ram_verify(r);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_check(r);
}

static u32 first_victim;

static void note_victim(void *ctx, const struct lz_trace *t)
{
	if (t->what == LZ_TR_VICTIM && first_victim == LZ_NONE)
		first_victim = t->zone;
}

/*
 * A zone is set aside, GC may begin, here or where writes find no room any more.
 * Returns that zone.
 */
static u32 set_aside(struct ram *r, struct lz_ops *ops, bool pressed)
{
	struct lz_write w;
	u32 state = 1;

	*ops = ram_ops;
	ops->trace = note_victim;
	r->lz->ops = ops;
	/* Keeps GC from it until all is ready. */
	r->lz->stopping = true;
	fill(r, LZ_CLASS_LONG);
	KUNIT_ASSERT_EQ(r->test, lz_write_begin(r->lz, LZ_CLASS_LONG, 0, 1, &w), 0);
	while (pressed && !ram_write(r, LZ_CLASS_LONG,
				     ram_random(&state, r->si.logical_blocks), 1))
		;
	lz_write_fail(r->lz, &w, -EIO);
	ram_pump(r);
	KUNIT_EXPECT_EQ(r->test, r->lz->zone[w.zone].state, LZ_ZS_BAD);
	KUNIT_EXPECT_GT(r->test, atomic_read(&r->lz->zone[w.zone].valid), 0);
	first_victim = LZ_NONE;
	lz_start(r->lz);
	ram_elapse(r, 2000);
	return w.zone;
}

/* What was set aside is moved first, unless space is short: it gives none back. */
static void relocate_room_first(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz_ops ops;
	u32 zone, i;

	zone = set_aside(r, &ops, false);
	KUNIT_EXPECT_EQ(test, first_victim, zone);
	KUNIT_EXPECT_EQ(test, r->lz->zone[zone].flags & (LZ_ZF_BAD | LZ_ZF_WORN), LZ_ZF_WORN);
	ram_verify(r);
	ram_free(r);

	r = ram_device(test, 40, 8);
	zone = set_aside(r, &ops, true);
	KUNIT_EXPECT_NE(test, first_victim, (u32)LZ_NONE);
	KUNIT_EXPECT_NE(test, first_victim, zone);
	for (i = 0; i < 20; i++)
		ram_elapse(r, 2000);
	KUNIT_EXPECT_EQ(test, r->lz->zone[zone].flags & (LZ_ZF_BAD | LZ_ZF_WORN), LZ_ZF_WORN);
	ram_verify(r);
	ram_flush(r);
	ram_check(r);
}

/* No zone is worth cleaning, and every write since is looked at: not by a checkpoint each time. */
static void relocate_none_worth_it(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	u32 n = r->si.logical_blocks / r->g.zone_cap, i;
	u64 checkpoints;

	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, i * r->g.zone_cap,
						r->g.zone_cap), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	checkpoints = lz_stat(r->lz, LZ_ST_CHECKPOINTS);
	for (i = 0; i < n; i++) {
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, i * r->g.zone_cap, 1), 0);
		lz_request_gc(r->lz, 1);
		ram_pump(r);
	}
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_GC_VICTIMS), 0ull);
	KUNIT_EXPECT_LE(test, lz_stat(r->lz, LZ_ST_CHECKPOINTS) - checkpoints,
			(u64)n / (r->g.zone_cap / LZ_SETTLE_PART) + 1);
}

/*
 * A device with more leaves than are in RAM, which GC has begun to search, ahead of time, for a
 * victim without a whole summary; reads are held. @owner: of each block of the first leaf, its
 * zone. The victim has no others.
 */
static struct ram *searched(struct kunit *test, u32 *owner)
{
	struct ram *r = ram_sized(test, 1000, 8, 128, 120);
	struct lz *lz;
	u32 i;

	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	ram_again(r);
	lz = r->lz;
	for (i = 0; i < lz->map.n[0]; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, i * LZ_NODE_ENTRIES, 1), 0);
	for (i = 0; i < 6 * r->g.zone_cap; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 1 + i % 200, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	for (i = 0; i < LZ_NODE_ENTRIES; i++) {
		u64 addr = lz_map_get(lz, i);

		owner[i] = addr < LZ_NOWHERE ? lz_addr_zone(lz, addr) : LZ_NONE;
	}
	for (i = 1; i < lz->map.n[0]; i++)
		lz->zone[lz_addr_zone(lz, lz_map_get(lz, i * LZ_NODE_ENTRIES))].gc_ckpt = ~0ull;
	for (i = 2; i < r->g.nr_zones; i++)
		lz->zone[i].flags |= lz->zone[i].state == LZ_ZS_FULL ? LZ_ZF_SCAN : 0;
	lz->max_cached = 2 * LZ_MERGE_WINDOW;
	ram_forget_leaves(r);
	while (lz_free_for(lz, true) > lz->si.gc_zones + LZ_GC_START + 2)
		lz_zone_take_free(lz, false)->state = LZ_ZS_ROOT;
	r->slow = ram_reads_meta;
	lz_kick(lz);
	ram_pump(r);
	ram_elapse(r, 2000);
	KUNIT_ASSERT_TRUE(test, lz->gc.early);
	KUNIT_ASSERT_EQ(test, lz->gc.state, LZ_GC_SCAN);
	return r;
}

/* The reads that are held end, one by one. */
static void end_reads(struct ram *r)
{
	u32 i;

	for (i = 0; i < r->lz->map.n[0] && r->nr_held; i++) {
		ram_release(r, 0);
		ram_elapse(r, 20);
	}
}

/* That is done while nobody writes. */
static void relocate_scan_ahead(struct kunit *test)
{
	static u32 owner[LZ_NODE_ENTRIES];
	struct ram *r = searched(test, owner);
	struct lz *lz = r->lz;
	struct lz_write w;
	u64 before;

	KUNIT_ASSERT_EQ(test, lz_write_begin(lz, LZ_CLASS_LONG, 1, 1, &w), 0);
	/* Those that were asked for come, and no more. */
	before = lz_stat(lz, LZ_ST_LEAF_READS);
	end_reads(r);
	KUNIT_EXPECT_EQ(test, lz_stat(lz, LZ_ST_LEAF_READS), before);
	KUNIT_EXPECT_EQ(test, lz->gc.state, LZ_GC_SCAN);
	/* It goes on when the write has ended. */
	lz_write_fail(lz, &w, -EIO);
	ram_elapse(r, 20);
	KUNIT_EXPECT_GT(test, lz_stat(lz, LZ_ST_LEAF_READS), before);
	r->slow = NULL;
	while (r->nr_held)
		ram_release(r, 0);
}

/* And ends when users have freed all of the victim, which is reset. */
static void relocate_scan_freed(struct kunit *test)
{
	static u32 owner[LZ_NODE_ENTRIES];
	struct ram *r = searched(test, owner);
	u32 victim = r->lz->gc.victim, i;
	struct lz *lz = r->lz;
	struct lz_write w;
	u64 before;

	KUNIT_ASSERT_EQ(test, lz_write_begin(lz, LZ_CLASS_LONG, 300, 1, &w), 0);
	/* The first leaf, with what is in the victim. */
	ram_release(r, 0);
	ram_elapse(r, 20);
	for (i = 0; i < LZ_NODE_ENTRIES; i++)
		if (owner[i] == victim)
			KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, i, 1), 0);
	KUNIT_ASSERT_EQ(test, atomic_read(&lz->zone[victim].valid), 0);
	before = lz_stat(lz, LZ_ST_LEAF_READS);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_elapse(r, 2000);
	KUNIT_EXPECT_EQ(test, lz->zone[victim].state, LZ_ZS_FREE);
	KUNIT_EXPECT_EQ(test, lz_stat(lz, LZ_ST_LEAF_READS), before);
	lz_write_fail(lz, &w, -EIO);
	r->slow = NULL;
	while (r->nr_held)
		ram_release(r, 0);
}

static struct kunit_case relocate_cases[] = {
	KUNIT_CASE_SLOW(relocate_least_budget),
	KUNIT_CASE_SLOW(relocate_wla),
	KUNIT_CASE_SLOW(relocate_sla_initial),
	KUNIT_CASE_SLOW(relocate_zenfs),
	KUNIT_CASE_SLOW(relocate_adaptive),
	KUNIT_CASE_SLOW(relocate_adaptive_least_budget),
	KUNIT_CASE_SLOW(relocate_adaptive_initial),
	KUNIT_CASE_SLOW(relocate_finish),
	KUNIT_CASE_SLOW(relocate_finish_initial),
	KUNIT_CASE(relocate_on_request),
	KUNIT_CASE(relocate_nowhere),
	KUNIT_CASE(relocate_bad_zones),
	KUNIT_CASE(relocate_stale_summary),
	KUNIT_CASE(relocate_odd_summary),
	KUNIT_CASE(relocate_less_append),
	KUNIT_CASE(relocate_traced),
	KUNIT_CASE(relocate_miscounted),
	KUNIT_CASE(relocate_read_hiccup),
	KUNIT_CASE(relocate_searches),
	KUNIT_CASE(relocate_lent),
	KUNIT_CASE(relocate_bad_block),
	KUNIT_CASE(relocate_append_error),
	KUNIT_CASE(relocate_lost_leaf),
	KUNIT_CASE_SLOW(relocate_ahead),
	KUNIT_CASE(relocate_scan_ahead),
	KUNIT_CASE(relocate_scan_freed),
	KUNIT_CASE(relocate_reset_rather),
	KUNIT_CASE(relocate_reset_late),
	KUNIT_CASE(relocate_reset_filled),
	KUNIT_CASE(relocate_written_meanwhile),
	KUNIT_CASE(relocate_changed_meanwhile),
	KUNIT_CASE(relocate_not_paced),
	KUNIT_CASE(relocate_no_room_for_updates),
	KUNIT_CASE_SLOW(relocate_room_first),
	KUNIT_CASE(relocate_none_worth_it),
	{}
};

static struct kunit_suite relocate_suite = {
	.name = "lifezone-relocate",
	.exit = relocate_exit,
	.test_cases = relocate_cases,
};

kunit_test_suite(relocate_suite);
