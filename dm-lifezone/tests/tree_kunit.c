// SPDX-License-Identifier: GPL-2.0-only
/* The shape of the radix trees. */
#include "../core/lz.h"
#include "unit.h"

static void tree_shape(struct kunit *test)
{
	static const struct {
		u64 leaves;
		u32 top, levels;
		u64 n[LZ_MAX_LEVELS], sum;
	} rows[] = {
		{ 1, 256, 1, { 1 }, 1 },
		{ 256, 256, 1, { 256 }, 256 },
		{ 257, 256, 2, { 257, 1 }, 258 },
		{ 505, 64, 2, { 505, 2 }, 507 },
		{ 256 * 504, 256, 2, { 256 * 504, 256 }, 257 * 504 - 504 + 256 },
		{ 256 * 504 + 1, 256, 3, { 256 * 504 + 1, 257, 1 }, 256 * 504 + 1 + 258 },
	};
	u64 n[LZ_MAX_LEVELS];
	u32 levels, i, l;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_EXPECT_EQ(test, lz_tree_nodes(rows[i].leaves, rows[i].top, &levels, n),
				rows[i].sum);
		KUNIT_EXPECT_EQ(test, levels, rows[i].levels);
		for (l = 0; l < levels; l++)
			KUNIT_EXPECT_EQ(test, n[l], rows[i].n[l]);
	}
}

/* 64 TiB and 100,000 zones fit below the root. */
static void tree_reach(struct kunit *test)
{
	u64 n[LZ_MAX_LEVELS];
	u32 levels;

	lz_tree_nodes(DIV_ROUND_UP(1ull << 34, LZ_NODE_ENTRIES), LZ_ROOT_MAP_TOP, &levels, n);
	KUNIT_EXPECT_LE(test, n[levels - 1], (u64)LZ_ROOT_MAP_TOP);
	lz_tree_nodes(DIV_ROUND_UP(100000, LZ_ZNODE_ENTRIES), LZ_ROOT_ZTAB_TOP, &levels, n);
	KUNIT_EXPECT_LE(test, n[levels - 1], (u64)LZ_ROOT_ZTAB_TOP);
}

/* A node that moves makes its parent dirty, and nothing else. */
static void tree_parents(struct kunit *test)
{
	struct lz_tree *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_EQ(test, lz_tree_init(t, LZ_BT_NODE, 1200, 2), 0);
	KUNIT_EXPECT_EQ(test, t->levels, 3u);
	for (i = 0; i < 1200; i++)
		KUNIT_EXPECT_EQ(test, t->addr[0][i], LZ_NOWHERE);
	lz_tree_set(t, 0, 504, 4711);
	KUNIT_EXPECT_EQ(test, t->addr[0][504], 4711ull);
	KUNIT_EXPECT_EQ(test, t->dirty[1][0], 0);
	KUNIT_EXPECT_EQ(test, t->dirty[1][1], 1);
	KUNIT_EXPECT_EQ(test, t->dirty[1][2], 0);
	KUNIT_EXPECT_EQ(test, t->dirty[2][0], 0);
	lz_tree_set(t, 1, 1, 4712);
	KUNIT_EXPECT_EQ(test, t->dirty[2][0], 1);
	lz_tree_set(t, 2, 0, 4713);
	KUNIT_EXPECT_EQ(test, t->addr[2][0], 4713ull);
	lz_tree_exit(t);
}

/* More leaves than four levels reach are refused. */
static void tree_too_large(struct kunit *test)
{
	struct lz_tree *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u64 n[LZ_MAX_LEVELS];
	u32 levels;

	lz_tree_nodes(1ull << 50, 64, &levels, n);
	KUNIT_EXPECT_EQ(test, levels, (u32)LZ_MAX_LEVELS);
	KUNIT_EXPECT_GT(test, n[levels - 1], 64ull);
	KUNIT_EXPECT_EQ(test, lz_tree_init(t, LZ_BT_NODE, 1ull << 50, 64), -EINVAL);
	lz_tree_exit(t);
}

static struct kunit_case tree_cases[] = {
	KUNIT_CASE(tree_shape),
	KUNIT_CASE(tree_reach),
	KUNIT_CASE(tree_parents),
	KUNIT_CASE(tree_too_large),
	{}
};

static struct kunit_suite tree_suite = {
	.name = "lifezone-tree",
	.test_cases = tree_cases,
};

kunit_test_suite(tree_suite);
