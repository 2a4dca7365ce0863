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

/* In place of a victim: what gains as much. */
static void reclaim_rather(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, lz_reset_rather(60, 40, 100));
	KUNIT_EXPECT_FALSE(test, lz_reset_rather(59, 40, 100));
	KUNIT_EXPECT_TRUE(test, lz_reset_rather(1, ~0u, ~0u));
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
