// SPDX-License-Identifier: GPL-2.0-only
/* Look-ups, updates, discards and relocations; leaves that are not in RAM. */
#include "ram.h"

static int map_init(struct kunit *test)
{
	ram_device(test, 32, 8);
	return 0;
}

static void map_exit(struct kunit *test)
{
	ram_free(test->priv);
}

static u64 addr_of(struct ram *r, u64 lba)
{
	struct lz_read rd;

	if (lz_read_begin(r->lz, lba, 1, &rd))
		return LZ_MISS;
	if (rd.addr != LZ_NOWHERE)
		lz_read_end(r->lz, &rd);
	return rd.addr;
}

static void map_unwritten(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_read rd;

	KUNIT_ASSERT_EQ(test, lz_read_begin(r->lz, 0, 1000, &rd), 0);
	KUNIT_EXPECT_EQ(test, rd.addr, LZ_NOWHERE);
	KUNIT_EXPECT_EQ(test, rd.nblocks, 1000u);
	ram_verify(r);
}

static void map_runs(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_read rd;

	/* One write of 20 blocks, then one in the middle of it. */
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 500, 20), 0);
	KUNIT_ASSERT_EQ(test, lz_read_begin(r->lz, 500, 100, &rd), 0);
	KUNIT_EXPECT_EQ(test, rd.nblocks, 20u);
	lz_read_end(r->lz, &rd);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 510, 1), 0);
	KUNIT_ASSERT_EQ(test, lz_read_begin(r->lz, 500, 100, &rd), 0);
	KUNIT_EXPECT_EQ(test, rd.nblocks, 10u);
	lz_read_end(r->lz, &rd);
	KUNIT_ASSERT_EQ(test, lz_read_begin(r->lz, 510, 100, &rd), 0);
	KUNIT_EXPECT_EQ(test, rd.nblocks, 1u);
	lz_read_end(r->lz, &rd);
	KUNIT_ASSERT_EQ(test, lz_read_begin(r->lz, 480, 100, &rd), 0);
	KUNIT_EXPECT_EQ(test, rd.addr, LZ_NOWHERE);
	KUNIT_EXPECT_EQ(test, rd.nblocks, 20u);
	ram_verify(r);
}

/* A write makes the old block invalid, whether the map had it in the delta or in the tree. */
static void map_overwrite(struct kunit *test)
{
	struct ram *r = test->priv;
	u64 old, now;
	u32 i;

	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_SHORT, 7, 1), 0);
		old = addr_of(r, 7);
		if (i)
			KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
		KUNIT_EXPECT_EQ(test, addr_of(r, 7), old);
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_SHORT, 7, 1), 0);
		now = addr_of(r, 7);
		KUNIT_EXPECT_NE(test, now, old);
		KUNIT_EXPECT_EQ(test, atomic_read(&r->lz->zone[lz_addr_zone(r->lz, now)].valid), 1);
		ram_verify(r);
	}
}

static void map_remap(struct kunit *test)
{
	struct ram *r = test->priv;
	u64 old, elsewhere;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 40, 2), 0);
	old = addr_of(r, 40);
	elsewhere = addr_of(r, 41);

	/* Only what the map still names is moved. */
	KUNIT_EXPECT_EQ(test, lz_map_remap(r->lz, 40, old + 1, elsewhere), 0);
	KUNIT_EXPECT_EQ(test, lz_map_remap(r->lz, 39, old, elsewhere), 0);
	KUNIT_EXPECT_EQ(test, addr_of(r, 40), old);
	KUNIT_EXPECT_EQ(test, addr_of(r, 39), LZ_NOWHERE);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 40, 1), 0);
	KUNIT_EXPECT_EQ(test, lz_map_remap(r->lz, 40, old, elsewhere), 0);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 40, 1), 0);
	KUNIT_EXPECT_EQ(test, lz_map_remap(r->lz, 40, old, elsewhere), 0);
	KUNIT_EXPECT_EQ(test, addr_of(r, 40), LZ_NOWHERE);
	ram_verify(r);
}

static void map_discard(struct kunit *test)
{
	struct ram *r = test->priv;
	static const u32 lengths[] = { 1, 2, 31, 32, 33, 34, 100, 700 };
	u32 i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < ARRAY_SIZE(lengths); i++) {
			KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 100, 800), 0);
			if (round == 1)
				KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
			KUNIT_ASSERT_EQ(test, ram_discard(r, 120, lengths[i]), 0);
			ram_verify(r);
			/* Written again, in the middle of what was discarded. */
			KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG,
							120 + lengths[i] / 2, 1), 0);
			ram_verify(r);
			if (round == 2)
				KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
			ram_verify(r);
		}
	}
	ram_check(r);
}

/* The whole device at once, and it stays empty. */
static void map_discard_all(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_info info;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 1500), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_SHORT, 1000, 600), 0);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 0, r->si.logical_blocks), 0);
	ram_verify(r);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	ram_verify(r);
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_EQ(test, info.mapped, 0ull);
	ram_check(r);
}

/* Against an array, at random, with checkpoints at random moments. */
static void map_random(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 state = 1, i, n, lba, range = min_t(u32, 3000, r->si.logical_blocks - 200);

	for (i = 0; i < 1500; i++) {
		lba = ram_random(&state, range);
		n = 1 + ram_random(&state, ram_random(&state, 8) ? 8 : 150);
		switch (ram_random(&state, 16)) {
		case 0:
			KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
			break;
		case 1:
		case 2:
		case 3:
			KUNIT_ASSERT_EQ(test, ram_discard(r, lba, n), 0);
			break;
		default:
			KUNIT_ASSERT_EQ(test, ram_write(r, ram_random(&state, LZ_NR_CLASSES),
							lba, n), 0);
		}
		if (i % 100 == 0)
			ram_verify(r);
	}
	ram_verify(r);
	ram_check(r);
}

/* With RAM for a few leaves only, reads have them read. */
static void map_small_cache(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 state = 5, i;

	ram_stop(r);
	r->o.map_cache_mb = 1;
	KUNIT_ASSERT_EQ(test, ram_load(r, 0), 0);
	for (i = 0; i < 400; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG,
						ram_random(&state, r->si.logical_blocks), 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	ram_stop(r);
	KUNIT_ASSERT_EQ(test, ram_load(r, 0), 0);
	ram_verify(r);
	KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_LEAF_READS), 0ull);
}

/* A leaf that is damaged costs its own blocks, and says so. */
static void map_damaged_leaf(struct kunit *test)
{
	struct ram *r = test->priv;
	u64 leaf;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, LZ_NODE_ENTRIES, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	ram_stop(r);
	KUNIT_ASSERT_EQ(test, ram_load(r, 0), 0);
	leaf = r->lz->map.addr[0][0];
	KUNIT_ASSERT_NE(test, leaf, LZ_NOWHERE);
	((u8 *)ram_block(r, leaf))[3000] ^= 4;
	r->said[0] = 0;
	KUNIT_ASSERT_TRUE(test, !r->lz->leaf[0]);
	KUNIT_EXPECT_EQ(test, ram_read(r, 0), ~0u);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "crc"), "(%s)", r->said);
	KUNIT_EXPECT_EQ(test, ram_read(r, LZ_NODE_ENTRIES), r->version[LZ_NODE_ENTRIES]);
}

/* The drive may be well again: neither reads nor checkpoints go by an old error. */
static void map_leaf_again(struct kunit *test)
{
	struct ram *r = test->priv;
	struct ram_zone *z;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 4), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	z = &r->zone[lz_addr_zone(r->lz, r->lz->map.addr[0][0])];
	z->fail = 1 << LZ_OP_READ;
	ram_forget_leaves(r);
	KUNIT_EXPECT_EQ(test, ram_read(r, 0), ~0u);
	z->fail = 0;
	ram_elapse(r, LZ_LEAF_AGAIN_MS);
	KUNIT_EXPECT_EQ(test, ram_read(r, 0), r->version[0]);

	z->fail = 1 << LZ_OP_READ;
	ram_forget_leaves(r);
	KUNIT_EXPECT_EQ(test, ram_read(r, 0), ~0u);
	z->fail = 0;
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, ram_checkpoint(r), 0);
	ram_verify(r);

	z = &r->zone[lz_addr_zone(r->lz, r->lz->map.addr[0][0])];
	z->fail = 1 << LZ_OP_READ;
	ram_forget_leaves(r);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, ram_checkpoint(r), -EIO);
	KUNIT_EXPECT_EQ(test, r->lz->mode, LZ_MODE_FAIL);
}

/* A cut while a checkpoint merges leaves the discards of two intervals in the journal. */
static void map_discard_replay(struct kunit *test)
{
	struct lz *lz = ((struct ram *)test->priv)->lz;
	u32 i;

	for (i = 0; i < 2 * LZ_EXTENTS; i++)
		KUNIT_ASSERT_TRUE(test, lz_map_discard_replay(lz, 40 * i, LZ_EXTENT_MIN));
	KUNIT_EXPECT_FALSE(test, lz_map_discard_replay(lz, 40 * i, LZ_EXTENT_MIN));
	for (i = 0; i < 2 * LZ_EXTENTS; i++)
		KUNIT_ASSERT_EQ(test, lz->active->ext[lz_ext_search(lz->active, 40 * i)].lba,
				40ull * i);
}

/* Discards that touch or overlap are one, from whichever side they come. */
static void map_extents_joined(struct kunit *test)
{
	static const u32 at[] = { 400, 440, 360, 500, 460, 405, 330 };
	static const u32 extents[] = { 1, 1, 1, 2, 1, 1, 1 };
	struct ram *r = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		KUNIT_ASSERT_EQ(test, ram_discard(r, at[i], 40), 0);
		KUNIT_EXPECT_EQ(test, r->lz->active->nr_ext, extents[i]);
	}
	KUNIT_EXPECT_EQ(test, r->lz->active->ext[0].lba, 330ull);
	KUNIT_EXPECT_EQ(test, r->lz->active->ext[0].len, 210ull);
}

static struct kunit_case map_cases[] = {
	KUNIT_CASE(map_unwritten),
	KUNIT_CASE(map_runs),
	KUNIT_CASE(map_overwrite),
	KUNIT_CASE(map_remap),
	KUNIT_CASE(map_discard),
	KUNIT_CASE(map_discard_all),
	KUNIT_CASE(map_discard_replay),
	KUNIT_CASE(map_extents_joined),
	KUNIT_CASE(map_random),
	KUNIT_CASE(map_small_cache),
	KUNIT_CASE(map_damaged_leaf),
	KUNIT_CASE(map_leaf_again),
	{}
};

static struct kunit_suite map_suite = {
	.name = "lifezone-map",
	.init = map_init,
	.exit = map_exit,
	.test_cases = map_cases,
};

kunit_test_suite(map_suite);
