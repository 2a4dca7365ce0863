// SPDX-License-Identifier: GPL-2.0-only
/* When a zone without valid data is reset. */
#include "../core/policy.h"
#include "unit.h"

/* Eager: "reset every zone that holds no valid data, full or not". */
static void reclaim_eager(struct kunit *test)
{
	u8 c;

	for (c = 0; c < LZ_NR_CLASSES; c++) {
		KUNIT_EXPECT_TRUE(test, lz_reset_due(LZ_RESET_EAGER, c, false, false));
		KUNIT_EXPECT_TRUE(test, lz_reset_due(LZ_RESET_EAGER, c, true, false));
	}
}

/* Lazy: "the same, but a zone of lifetime SHORT is reset only once it is also full". */
static void reclaim_lazy(struct kunit *test)
{
	u8 c;

	for (c = 0; c < LZ_NR_CLASSES; c++) {
		KUNIT_EXPECT_EQ(test, lz_reset_due(LZ_RESET_LAZY, c, false, false),
				c != LZ_CLASS_SHORT);
		KUNIT_EXPECT_TRUE(test, lz_reset_due(LZ_RESET_LAZY, c, true, false));
	}
}

/* Adaptive: zones of all lifetimes only once they are full. */
static void reclaim_adaptive(struct kunit *test)
{
	u8 c;

	for (c = 0; c < LZ_NR_ZONE_CLASSES; c++) {
		KUNIT_EXPECT_FALSE(test, lz_reset_due(LZ_RESET_ADAPTIVE, c, false, false));
		KUNIT_EXPECT_TRUE(test, lz_reset_due(LZ_RESET_ADAPTIVE, c, true, false));
	}
}

/* Zones of extreme data that are left alone are not to be filled, nor held back when empty. */
static void reclaim_alone(struct kunit *test)
{
	u8 how, c;

	for (c = 0; c < LZ_NR_ZONE_CLASSES; c++)
		KUNIT_EXPECT_EQ(test, lz_reset_due(LZ_RESET_ADAPTIVE, c, false, true),
				c == LZ_CLASS_EXTREME);
	for (how = 0; how < LZ_NR_RESETS; how++)
		KUNIT_EXPECT_EQ(test, lz_reset_due(how, LZ_CLASS_SHORT, false, true),
				how == LZ_RESET_EAGER);
	KUNIT_EXPECT_FALSE(test, lz_reset_alone(15, 256));
	KUNIT_EXPECT_TRUE(test, lz_reset_alone(16, 256));
}

/* In place of a victim: what gains as much, and spares more copies than what was never written. */
static void reclaim_rather(struct kunit *test)
{
	static const struct lz_cost cost = { .copy = 2, .pad = 1 };
	static const struct {
		struct lz_rather_in in;
		bool yes;
	} row[] = {
		/* 1000 blocks, 4 copies for one: of ten spare zones half of one is a twentieth. */
		{ { 50, 1000, 80, 100, 10, &cost }, true },
		{ { 20, 1000, 80, 100, 10, &cost }, true },
		{ { 19, 1000, 80, 100, 10, &cost }, false },
		{ { 50, 125, 80, 100, 10, &cost }, true },
		{ { 50, 124, 80, 100, 10, &cost }, false },
		{ { 50, 1000, 80, 100, 80, &cost }, true },
		{ { 50, 1000, 80, 100, 81, &cost }, false },
		{ { 100, 0, 1, 100, 10, &cost }, true },
		{ { 99, 0, 99, 100, 0, &cost }, false },
		{ { LZ_ZONE_BLOCKS_MAX - 1, ~0ull, LZ_ZONE_BLOCKS_MAX - 1, LZ_ZONE_BLOCKS_MAX, 1,
		    &cost }, true },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(row); i++)
		KUNIT_EXPECT_EQ_MSG(test, lz_reset_rather(&row[i].in), row[i].yes, "(%u)", i);
}

static struct kunit_case reclaim_cases[] = {
	KUNIT_CASE(reclaim_eager),
	KUNIT_CASE(reclaim_lazy),
	KUNIT_CASE(reclaim_adaptive),
	KUNIT_CASE(reclaim_alone),
	KUNIT_CASE(reclaim_rather),
	{}
};

static struct kunit_suite reclaim_suite = {
	.name = "lifezone-reclaim",
	.test_cases = reclaim_cases,
};

kunit_test_suite(reclaim_suite);
