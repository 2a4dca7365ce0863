// SPDX-License-Identifier: GPL-2.0-only
/* How the drive is shared between users and GC. */
#include "../core/policy.h"
#include "unit.h"

static u32 share(u32 free_zones, u32 reserve, u32 start)
{
	struct lz_pace_in in = { .free_zones = free_zones, .reserve = reserve, .start = start };

	return lz_pace_user_share(&in);
}

static bool due(u32 free_zones, u32 reserve, u32 start)
{
	struct lz_pace_in in = { .free_zones = free_zones, .reserve = reserve, .start = start };

	return lz_pace_gc_due(&in);
}

static void pace_marks(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, due(10, 2, 10));
	KUNIT_EXPECT_TRUE(test, due(9, 2, 10));
	KUNIT_EXPECT_EQ(test, share(10, 2, 10), ~0u);
	KUNIT_EXPECT_NE(test, share(9, 2, 10), ~0u);
	KUNIT_EXPECT_EQ(test, share(3, 2, 10), 4 * LZ_PACE_UNIT / 7);
	/* Half way: four times as much for users as for GC. */
	KUNIT_EXPECT_EQ(test, share(6, 2, 10), 4 * LZ_PACE_UNIT);
	KUNIT_EXPECT_EQ(test, share(9, 2, 10), 4 * LZ_PACE_UNIT * 7);
	KUNIT_EXPECT_EQ(test, share(2, 2, 10), 0u);
	KUNIT_EXPECT_EQ(test, share(0, 2, 10), 0u);
}

/* Fewer free zones, less for users; something above the reserve; never stuck. */
static void pace_every_state(struct kunit *test)
{
	u32 f, r, s, now, before;

	for (r = 0; r < 8; r++)
		for (s = 0; s < 40; s++) {
			before = 0;
			for (f = 0; f < 50; f++) {
				now = share(f, r, s);
				KUNIT_EXPECT_GE_MSG(test, now, before, "(%u %u %u)", f, r, s);
				KUNIT_EXPECT_EQ_MSG(test, now == 0, f <= r, "(%u %u %u)", f, r, s);
				/* Whoever holds users back must be at work. */
				KUNIT_EXPECT_EQ_MSG(test, now != ~0u, due(f, r, s), "(%u %u %u)",
						    f, r, s);
				before = now;
			}
		}
}

/* Who has been lent enough gets of the last zone what GC gains; but never nothing. */
static void pace_lent(struct kunit *test)
{
	struct lz_pace_in in = { .free_zones = 9, .reserve = 2, .start = 10, .lent = 1 };
	u32 valid;

	for (valid = 0; valid <= 1000; valid += 250) {
		in.gain = lz_pace_gain(0, valid, 1000);
		KUNIT_EXPECT_EQ(test, in.gain, LZ_PACE_UNIT * (1000 - valid) / 1000);
		in.lent = LZ_PACE_LEND;
		in.free_zones = 4;
		KUNIT_EXPECT_EQ(test, lz_pace_user_share(&in), 4 * LZ_PACE_UNIT * 2 / 6);
		in.free_zones = 3;
		KUNIT_EXPECT_EQ(test, lz_pace_user_share(&in),
				clamp(in.gain, 1u, 4 * LZ_PACE_UNIT / 7));
		in.lent = LZ_PACE_LEND - 1;
		KUNIT_EXPECT_EQ(test, lz_pace_user_share(&in), 4 * LZ_PACE_UNIT / 7);
		in.free_zones = 2;
		KUNIT_EXPECT_EQ(test, lz_pace_user_share(&in), 0u);
	}
	in.free_zones = 10;
	KUNIT_EXPECT_EQ(test, lz_pace_user_share(&in), ~0u);
	KUNIT_EXPECT_EQ(test, lz_pace_gain(0, 1001, 1000), 0u);
	KUNIT_EXPECT_EQ(test, lz_pace_gain(0, 0, 0xffffffff), LZ_PACE_UNIT);
	/* Of several it is the mean, of those long ago nothing. */
	KUNIT_EXPECT_EQ(test, lz_pace_gain(LZ_PACE_UNIT, 1000, 1000), LZ_PACE_UNIT * 7 / 8);
	for (valid = 0; valid < 100; valid++)
		in.gain = lz_pace_gain(in.gain, 750, 1000);
	KUNIT_EXPECT_LE(test, in.gain, LZ_PACE_UNIT / 4 + 8);
	KUNIT_EXPECT_GE(test, in.gain, LZ_PACE_UNIT / 4);
}

static void pace_early(struct kunit *test)
{
	struct lz_pace_in in = { .free_zones = 10, .reserve = 2, .start = 10, .ahead = 2 };

	KUNIT_EXPECT_TRUE(test, lz_pace_gc_early(&in));
	in.free_zones = 11;
	KUNIT_EXPECT_TRUE(test, lz_pace_gc_early(&in));
	in.free_zones = 12;
	KUNIT_EXPECT_FALSE(test, lz_pace_gc_early(&in));
	KUNIT_EXPECT_EQ(test, lz_pace_ahead(4, 15), 0u);
	KUNIT_EXPECT_EQ(test, lz_pace_ahead(4, 16), 1u);
	KUNIT_EXPECT_EQ(test, lz_pace_ahead(4, 47), 2u);
	KUNIT_EXPECT_EQ(test, lz_pace_ahead(4, 1000), 4u);
}

static void pace_large_numbers(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, share(0xfffffffe, 1, 0xffffffff), ~0u - 1);
	KUNIT_EXPECT_EQ(test, share(2, 1, 0xffffffff), 1u);
	KUNIT_EXPECT_EQ(test, share(0xffffffff, 0, 0xffffffff), ~0u);
}

static struct kunit_case pace_cases[] = {
	KUNIT_CASE(pace_marks),
	KUNIT_CASE(pace_every_state),
	KUNIT_CASE(pace_lent),
	KUNIT_CASE(pace_early),
	KUNIT_CASE(pace_large_numbers),
	{}
};

static struct kunit_suite pace_suite = {
	.name = "lifezone-pace",
	.test_cases = pace_cases,
};

kunit_test_suite(pace_suite);
