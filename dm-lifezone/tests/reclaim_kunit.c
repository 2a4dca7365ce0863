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

/* A 64th of a zone is as good as nothing, unless resets are eager; it is not reset. */
static void reclaim_as_new(struct kunit *test)
{
	const u32 caps[] = { 63, 64, 640, 1 << 24, ~0u };
	u32 i;
	u8 c;

	for (i = 0; i < ARRAY_SIZE(caps); i++) {
		u32 cap = caps[i], part = cap / 64;

		KUNIT_EXPECT_FALSE(test, lz_as_new(LZ_RESET_EAGER, cap - part, cap));
		KUNIT_EXPECT_EQ(test, lz_as_new(LZ_RESET_LAZY, cap - part, cap), part > 0);
		KUNIT_EXPECT_EQ(test, lz_as_new(LZ_RESET_ADAPTIVE, cap - part, cap), part > 0);
		KUNIT_EXPECT_FALSE(test, lz_as_new(LZ_RESET_LAZY, cap - part - 1, cap));
		KUNIT_EXPECT_FALSE(test, lz_as_new(LZ_RESET_LAZY, 0, cap));
	}
	for (c = 0; c < LZ_NR_ZONE_CLASSES; c++) {
		KUNIT_EXPECT_FALSE(test, lz_reset_due(LZ_RESET_LAZY, c, false, true));
		KUNIT_EXPECT_FALSE(test, lz_reset_due(LZ_RESET_ADAPTIVE, c, false, true));
	}
}

static struct kunit_case reclaim_cases[] = {
	KUNIT_CASE(reclaim_eager),
	KUNIT_CASE(reclaim_lazy),
	KUNIT_CASE(reclaim_adaptive),
	KUNIT_CASE(reclaim_as_new),
	{}
};

static struct kunit_suite reclaim_suite = {
	.name = "lifezone-reclaim",
	.test_cases = reclaim_cases,
};

kunit_test_suite(reclaim_suite);
