// SPDX-License-Identifier: GPL-2.0-only
/* When discards are asked for. */
#include "ram.h"

static void trim_exit(struct kunit *test)
{
	if (test->priv)
		ram_free(test->priv);
}

/* Half full, GC about to begin, and long since it last asked. */
static const struct lz_trim_in half = {
	.free_zones = 4, .start = 5, .blocks = 10000, .mapped = 5000, .base = 5000,
	.least = 100, .since = ~0ull,
};

static bool due(u64 grown, u64 copied, u32 free_zones, u64 since)
{
	struct lz_trim_in in = half;

	in.mapped += grown;
	in.copied = copied;
	in.free_zones = free_zones;
	in.since = since;
	return lz_trim_due(&in);
}

static void trim_marks(struct kunit *test)
{
	const u64 gap = 100000000;

	KUNIT_EXPECT_FALSE(test, due(0, 0, 0, ~0ull));
	/* A sixteenth of what is not mapped. */
	KUNIT_EXPECT_FALSE(test, due(311, 0, 4, ~0ull));
	KUNIT_EXPECT_TRUE(test, due(312, 0, 4, ~0ull));
	/* A sixteenth of what is, copied. */
	KUNIT_EXPECT_FALSE(test, due(0, 311, 4, ~0ull));
	KUNIT_EXPECT_TRUE(test, due(0, 312, 4, ~0ull));
	/* Not while there is plenty, nor all the time. */
	KUNIT_EXPECT_FALSE(test, due(5000, 5000, 5, ~0ull));
	KUNIT_EXPECT_FALSE(test, due(5000, 5000, 0, gap - 1));
	KUNIT_EXPECT_TRUE(test, due(5000, 5000, 0, gap));
}

/* The fuller the device, the fewer blocks it takes, but never less than the least. */
static void trim_fuller_sooner(struct kunit *test)
{
	struct lz_trim_in in = half;
	u64 before = ~0ull, grown;

	for (in.base = 0; in.base <= in.blocks; in.base += 500) {
		for (grown = 0; grown < 2000; grown++) {
			in.mapped = in.base + grown;
			if (lz_trim_due(&in))
				break;
		}
		KUNIT_EXPECT_LE(test, grown, before);
		KUNIT_EXPECT_GE(test, grown, in.least);
		before = grown;
	}
	KUNIT_EXPECT_EQ(test, before, in.least);
}

static void trim_large_numbers(struct kunit *test)
{
	/* 64 PiB, half of it mapped. */
	struct lz_trim_in in = {
		.start = 1, .blocks = 1ull << 44, .base = 1ull << 43, .least = 1, .since = ~0ull,
	};

	in.mapped = in.base + (1ull << 39) - 1;
	KUNIT_EXPECT_FALSE(test, lz_trim_due(&in));
	in.mapped++;
	KUNIT_EXPECT_TRUE(test, lz_trim_due(&in));
	/* More at the least than there are now, or than fit: nothing to gain. */
	in.base = in.mapped + 1;
	KUNIT_EXPECT_FALSE(test, lz_trim_due(&in));
	in.base = in.blocks + 1;
	KUNIT_EXPECT_FALSE(test, lz_trim_due(&in));
}

#define FILE_BLOCKS	64u

static void write_file(struct ram *r, u32 slot)
{
	KUNIT_ASSERT_EQ(r->test, ram_write(r, LZ_CLASS_NOT_SET, (u64)slot * FILE_BLOCKS,
					   FILE_BLOCKS), 0);
	ram_elapse(r, 100);
}

static void discard_file(struct ram *r, u32 slot)
{
	KUNIT_ASSERT_EQ(r->test, ram_discard(r, (u64)slot * FILE_BLOCKS, FILE_BLOCKS), 0);
}

/*
 * Files written one after the other to all the device, discarded when @live came after; @from: so
 * many have been.
 */
static void churn(struct ram *r, u32 slots, u32 live, u32 from)
{
	u32 at;

	for (at = from; at < from + 4 * slots; at++) {
		write_file(r, at % slots);
		if (at >= live)
			discard_file(r, (at - live) % slots);
	}
}

/* Who discards what is deleted is not asked; who does not, is. */
static void trim_device(struct kunit *test)
{
	struct ram *r = ram_device(test, 64, 8);
	u32 slots = r->si.logical_blocks / FILE_BLOCKS, state = 1, asked, i;
	struct lz_info info;

	churn(r, slots, slots / 2, 0);
	KUNIT_EXPECT_EQ(test, r->nr_events[LZ_EV_TRIM], 0u);

	for (i = 0; i < 4 * slots; i++)
		write_file(r, i < slots ? i : ram_random(&state, slots));
	asked = r->nr_events[LZ_EV_TRIM];
	KUNIT_EXPECT_GT(test, asked, 0u);
	/* Not for each zone written. */
	KUNIT_EXPECT_LT(test, asked, 4 * slots * FILE_BLOCKS / r->g.zone_cap / 4);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_TRIMS_WANTED), (u64)asked);

	for (i = slots / 4; i < slots; i++)
		discard_file(r, i);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	churn(r, slots, slots / 2, 0);
	KUNIT_EXPECT_LE(test, r->nr_events[LZ_EV_TRIM], asked + 1);
	asked = r->nr_events[LZ_EV_TRIM];
	churn(r, slots, slots / 2, 4 * slots);
	KUNIT_EXPECT_EQ(test, r->nr_events[LZ_EV_TRIM], asked);

	/* Kept over a load; what is asked for begins anew. */
	ram_stop(r);
	ram_again(r);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_TRIMS_WANTED), (u64)asked);
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_EQ(test, info.trim_gain, 0ull);
	KUNIT_EXPECT_EQ(test, info.trim_copied, 0ull);
}

static struct kunit_case trim_cases[] = {
	KUNIT_CASE(trim_marks),
	KUNIT_CASE(trim_fuller_sooner),
	KUNIT_CASE(trim_large_numbers),
	KUNIT_CASE(trim_device),
	{}
};

static struct kunit_suite trim_suite = {
	.name = "lifezone-trim",
	.exit = trim_exit,
	.test_cases = trim_cases,
};

kunit_test_suite(trim_suite);
