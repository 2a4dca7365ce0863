// SPDX-License-Identifier: GPL-2.0-only
/* A device that was never loaded, and one of whose tables each is full in turn. */
#include "ram.h"
#include "waiting.h"

static void device_exit(struct kunit *test)
{
	ram_free(test->priv);
}

static void device_not_loaded(struct kunit *test)
{
	struct ram *r = ram_new(test, 40, 8);
	struct lz_info info;

	r->lz = lz_new(&r->g, &r->o, &ram_ops, r);
	KUNIT_ASSERT_NOT_NULL(test, r->lz);
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_EQ(test, info.logical_blocks, 0ull);
	KUNIT_EXPECT_EQ(test, info.class_open[0], LZ_NONE);
	lz_run(r->lz);
	KUNIT_EXPECT_EQ(test, lz_stop(r->lz), 0);
	lz_free_device(NULL);
}

/* Nor is one read that ended before it was loaded. */
static void device_failed(struct kunit *test)
{
	struct ram *r = ram_new(test, 40, 8);
	struct lz_read rd;

	r->lz = lz_new(&r->g, &r->o, &ram_ops, r);
	KUNIT_ASSERT_NOT_NULL(test, r->lz);
	lz_set_mode(r->lz, LZ_MODE_FAIL, "a test wants it", -EIO);
	KUNIT_EXPECT_EQ(test, lz_read_begin(r->lz, 0, 1, &rd), -EIO);
}

/* Two zones have the roots, and nothing else has a place. */
static void device_two_zones(struct kunit *test)
{
	struct ram *r = ram_new(test, 2, 8);
	struct lz_super_info si = {
		.nr_zones = 2, .zone_blocks = r->g.zone_blocks, .zone_cap = r->g.zone_cap,
		.logical_blocks = 100,
	};

	r->lz = lz_new(&r->g, &r->o, &ram_ops, r);
	KUNIT_ASSERT_NOT_NULL(test, r->lz);
	KUNIT_EXPECT_EQ(test, lz_load_empty(r->lz, &si, NULL), -ENOSPC);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "no free zone"), "(%s)", r->said);
}

/* The drive cannot be used with these: said, and nothing is written. */
static void device_settings_refused(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);

	ram_stop(r);
	r->o.max_open = LZ_MAX_OPEN_MIN - 1;
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EINVAL);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "open zones allowed"), "(%s)", r->said);
	r->o.max_open = LZ_MAX_OPEN_MIN;
	r->g.max_append = 1;
	r->said[0] = 0;
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EINVAL);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "blocks a command"), "(%s)", r->said);
	r->g.max_append = 2;
	r->g.zone_blocks *= 2;
	r->said[0] = 0;
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EINVAL);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "formatted for"), "(%s)", r->said);
	r->g.zone_blocks /= 2;
	KUNIT_EXPECT_EQ_MSG(test, ram_load(r, 0), 0, "(%s)", r->said);
}

/* Who waits for a leaf that maps nothing is answered. */
static void device_absent_leaf(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct waiting x = { .w.fn = waiting_end };

	lz_leaf_wait(r->lz, 1, &x.w);
	ram_pump(r);
	KUNIT_EXPECT_TRUE(test, x.called);
	KUNIT_EXPECT_EQ(test, x.err, 0);
}

/* A leaf that was made and maps nothing goes with the next checkpoint. */
static void device_empty_leaf(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 1), 0);
	KUNIT_ASSERT_NOT_NULL(test, lz_leaf_new(r->lz, 1));
	KUNIT_ASSERT_NOT_NULL(test, r->lz->leaf[1]);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_EXPECT_NULL(test, r->lz->leaf[1]);
	KUNIT_EXPECT_EQ(test, r->lz->map.addr[0][1], (u64)LZ_NOWHERE);
	ram_verify(r);
	ram_check(r);
}

/* While a discard is between its extent and its entries a checkpoint waits for it. */
static void device_discard_under_way(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct waiting x = { .w.fn = waiting_end };

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 100), 0);
	atomic_inc(&r->lz->discarding);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 0, 50), 0);
	/* Nor is it said meanwhile that there will be no room. */
	r->lz->zone[20].gc_ckpt = ~0ull;
	lz_starve(r->lz);
	ram_pump(r);
	KUNIT_EXPECT_FALSE(test, r->lz->spent);
	r->lz->zone[20].gc_ckpt = 0;
	lz_request_checkpoint(r->lz, &x.w);
	ram_pump(r);
	KUNIT_EXPECT_FALSE(test, x.called);
	KUNIT_EXPECT_EQ(test, lz_discard(r->lz, 50, 40), -EAGAIN);
	atomic_dec(&r->lz->discarding);
	lz_kick(r->lz);
	ram_pump(r);
	KUNIT_EXPECT_TRUE(test, x.called);
	ram_verify(r);
	ram_check(r);
}

static u32 taken;

static void kick_and_give(void *ctx)
{
	struct ram *r = ctx;

	lz_delta_return(r->lz, taken);
	taken = 0;
	ram_ops.kick(ctx);
}

/* Room that is made between the first try and the last is seen by the last. */
static void device_room_meanwhile(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz_ops ops = ram_ops;
	u32 n;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 10), 0);
	n = atomic_read(&r->lz->delta_space) - r->lz->delta_cap / 8;
	KUNIT_ASSERT_TRUE(test, lz_delta_reserve(r->lz, n, false));
	taken = n;
	ops.kick = kick_and_give;
	r->lz->ops = &ops;
	KUNIT_EXPECT_EQ(test, lz_discard(r->lz, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, taken, 0u);
	r->version[0] = 0;
	r->lz->ops = &ram_ops;
	ram_pump(r);
	ram_verify(r);
	ram_check(r);
}

static void kick_and_fail(void *ctx)
{
	struct ram *r = ctx;

	r->lz->mode = LZ_MODE_FAIL;
	ram_ops.kick(ctx);
}

/* Nor does anybody wait for room on a device that has failed between the two. */
static void device_failed_meanwhile(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	u32 n = r->lz->delta_cap - r->lz->delta_cap / 8;
	struct lz_ops ops = ram_ops;
	struct lz_write w;

	KUNIT_ASSERT_TRUE(test, lz_delta_reserve(r->lz, n, false));
	r->lz->freeze_wanted = true;
	ops.kick = kick_and_fail;
	r->lz->ops = &ops;
	KUNIT_EXPECT_EQ(test, lz_write_begin(r->lz, LZ_CLASS_LONG, 0, 1, &w), -EIO);
	r->lz->mode = LZ_MODE_RW;
	KUNIT_EXPECT_EQ(test, lz_discard(r->lz, 0, 1), -EIO);
	r->lz->mode = LZ_MODE_RW;
	KUNIT_EXPECT_EQ(test, lz_discard(r->lz, 0, LZ_EXTENT_MIN), -EIO);
	r->lz->ops = &ram_ops;
}

/* Without room for updates writers and discards wait; GC has an eighth of its own. */
static void device_no_room_for_updates(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz *lz = r->lz;
	u32 cap = lz->delta_cap, taken = cap - cap / 8;
	struct lz_write w;

	KUNIT_EXPECT_TRUE(test, lz_delta_reserve(lz, taken, false));
	KUNIT_EXPECT_FALSE(test, lz_delta_reserve(lz, 1, false));
	KUNIT_EXPECT_EQ(test, lz_write_begin(lz, LZ_CLASS_LONG, 0, 1, &w), -EAGAIN);
	KUNIT_EXPECT_EQ(test, lz_discard(lz, 0, 1), -EAGAIN);
	KUNIT_EXPECT_TRUE(test, lz_delta_reserve(lz, cap / 8, true));
	KUNIT_EXPECT_FALSE(test, lz_delta_reserve(lz, 1, true));
	lz_delta_return(lz, cap / 8);
	lz_delta_return(lz, taken);
	KUNIT_EXPECT_EQ(test, atomic_read(&lz->delta_space), (int)cap);
	KUNIT_EXPECT_EQ(test, atomic_read(&lz->starved), 1);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 100), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&lz->starved), 0);
	ram_verify(r);
}

/* A discard that finds no room for one more, in the journal or in the delta. */
static void device_no_room_for_discards(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	u32 n = LZ_EXTENT_MIN, i, fit;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 1000), 0);
	/* The same one again and again is one in the delta, and many in the journal. */
	for (i = 0; i < LZ_EXTENTS; i++)
		KUNIT_ASSERT_EQ(test, lz_discard(r->lz, 0, n), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->lz->starved), 0);
	KUNIT_EXPECT_EQ(test, lz_discard(r->lz, 0, n), -EAGAIN);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->lz->starved), 1);
	memset(r->version, 0, n * sizeof(*r->version));
	KUNIT_EXPECT_EQ(test, ram_discard(r, 0, n), 0);
	ram_verify(r);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);

	/* Only where tables are tiny a device so small has room for that many. */
	fit = r->si.logical_blocks / (n + 1);
	if (fit <= LZ_EXTENTS)
		return;
	for (i = 0; i < LZ_EXTENTS; i++) {
		KUNIT_ASSERT_EQ(test, lz_discard(r->lz, i * (n + 1), n), 0);
		memset(r->version + i * (n + 1), 0, n * sizeof(*r->version));
		if (i == LZ_EXTENTS / 2)
			KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	}
	KUNIT_EXPECT_EQ(test, lz_discard(r->lz, i * (n + 1), n), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ram_discard(r, i * (n + 1), n), 0);
	ram_verify(r);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_cut(r);
	ram_again(r);
	ram_verify(r);
}

/* Records about zones: many make a commit due, and there is an end to them. */
static void device_no_room_for_records(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	u64 commit = r->lz->committed;
	u32 i;

	for (i = 0; i < LZ_ZRECS / 2; i++)
		KUNIT_ASSERT_TRUE(test, lz_zrec_add(r->lz, LZ_JR_ZBAD, 20, 0, 0));
	lz_run(r->lz);
	KUNIT_EXPECT_EQ(test, r->lz->committed, commit + 1);
	for (i = 0; i < LZ_ZRECS; i++)
		KUNIT_ASSERT_TRUE(test, lz_zrec_add(r->lz, LZ_JR_ZBAD, 20, 0, 0));
	KUNIT_EXPECT_FALSE(test, lz_zrec_add(r->lz, LZ_JR_ZBAD, 20, 0, 0));
	lz_run(r->lz);
	KUNIT_EXPECT_EQ(test, r->lz->nr_zrec, 0u);
	ram_cut(r);
	ram_again(r);
	ram_check(r);
}

/* Of zones that failed once metadata takes one if there is no other. */
static void device_all_worn(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz_zone *first, *second;
	u32 i;

	for (i = 0; i < r->g.nr_zones; i++)
		if (r->lz->zone[i].state == LZ_ZS_FREE)
			r->lz->zone[i].flags |= LZ_ZF_WORN;
	first = list_first_entry(&r->lz->free_list, struct lz_zone, list);
	second = list_first_entry(&first->list, struct lz_zone, list);
	KUNIT_EXPECT_TRUE(test, lz_zone_take_free(r->lz, true) == first);
	list_entry(second->list.next, struct lz_zone, list)->flags = 0;
	KUNIT_EXPECT_TRUE(test, lz_zone_take_free(r->lz, false) == second);
	first = list_first_entry(&r->lz->free_list, struct lz_zone, list);
	KUNIT_EXPECT_EQ(test, first->flags, 0);
	KUNIT_EXPECT_TRUE(test, lz_zone_take_free(r->lz, true) == first);
}

/* A zone table that counts too little ends the writing before it is made worse. */
static void device_counts_too_few(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz_info info;
	u32 i;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 10), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	for (i = 2; i < r->g.nr_zones; i++)
		r->lz->zone[i].tree_valid = 0;
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, ram_checkpoint(r), -EIO);
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_EQ(test, info.mode, LZ_MODE_FAIL);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "said to hold none"), "(%s)", r->said);
	ram_verify(r);
	ram_survive(r);
}

/* What failed is written again, and what was given back is read again: each counts once. */
static void device_counts_once(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz_write w;
	struct lz_read rd;

	KUNIT_ASSERT_EQ(test, lz_write_begin(r->lz, LZ_CLASS_LONG, 0, 2, &w), 0);
	lz_write_fail(r->lz, &w, -EIO);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_USER_WRITES), 0ull);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_CLASS_WRITES + LZ_CLASS_LONG), 0ull);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 2), 0);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_USER_WRITES), 2ull);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_CLASS_WRITES + LZ_CLASS_LONG), 2ull);

	KUNIT_ASSERT_EQ(test, lz_read_begin(r->lz, 0, 2, &rd), 0);
	lz_read_cancel(r->lz, &rd);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->lz->zone[lz_addr_zone(r->lz, rd.addr)].readers), 0);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_USER_READS), 0ull);
	KUNIT_ASSERT_EQ(test, lz_read_begin(r->lz, 0, 2, &rd), 0);
	lz_read_end(r->lz, &rd);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_USER_READS), 2ull);
	KUNIT_ASSERT_EQ(test, lz_read_begin(r->lz, 10, 3, &rd), 0);
	KUNIT_EXPECT_EQ(test, rd.addr, LZ_NOWHERE);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_USER_READS), 5ull);
}

/* What a load needs it may have before; but of the device it loads. */
static void device_prepared(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz_zone_report *z;
	struct lz_super_info si;
	u32 k;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 5, 3), 0);
	ram_stop(r);
	z = kunit_kcalloc(test, r->g.nr_zones, sizeof(*z), GFP_KERNEL);
	for (k = 0; k < 4; k++) {
		ram_report(r, z);
		si = r->si;
		si.uuid[0] ^= k == 1;
		si.created += k == 2;
		si.logical_blocks -= k == 3;
		r->lz = lz_new(&r->g, &r->o, r->ops, r);
		KUNIT_ASSERT_NOT_NULL(test, r->lz);
		KUNIT_ASSERT_EQ(test, lz_prepare(r->lz, &si, 0), 0);
		KUNIT_EXPECT_EQ(test, lz_load(r->lz, z, 0), k ? -ESTALE : 0);
		if (k) {
			lz_free_device(r->lz);
			r->lz = NULL;
			continue;
		}
		ram_pump(r);
		ram_verify(r);
		ram_check(r);
		ram_stop(r);
	}
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "has been formatted since"), "(%s)", r->said);
}

static struct kunit_case device_cases[] = {
	KUNIT_CASE(device_not_loaded),
	KUNIT_CASE(device_failed),
	KUNIT_CASE(device_two_zones),
	KUNIT_CASE(device_settings_refused),
	KUNIT_CASE(device_absent_leaf),
	KUNIT_CASE(device_empty_leaf),
	KUNIT_CASE(device_discard_under_way),
	KUNIT_CASE(device_room_meanwhile),
	KUNIT_CASE(device_failed_meanwhile),
	KUNIT_CASE(device_no_room_for_updates),
	KUNIT_CASE(device_no_room_for_discards),
	KUNIT_CASE(device_no_room_for_records),
	KUNIT_CASE(device_all_worn),
	KUNIT_CASE(device_counts_too_few),
	KUNIT_CASE(device_counts_once),
	KUNIT_CASE(device_prepared),
	{}
};

static struct kunit_suite device_suite = {
	.name = "lifezone-device",
	.exit = device_exit,
	.test_cases = device_cases,
};

kunit_test_suite(device_suite);
