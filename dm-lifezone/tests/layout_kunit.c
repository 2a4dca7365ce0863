// SPDX-License-Identifier: GPL-2.0-only
/* Capacity and reserves, formatting and recognising a device. */
#include "ram.h"

static void layout_exit(struct kunit *test)
{
	ram_free(test->priv);
}

static int layout(struct lz_geometry g, struct lz_super_info *si, char *why, size_t n)
{
	memset(si, 0, sizeof(*si));
	si->spare_permille = LZ_SPARE_DEFAULT;
	why[0] = 0;
	return lz_layout(&g, si, why, n);
}

static const struct lz_geometry usual = {
	.nr_zones = 64, .zone_blocks = 4096, .zone_cap = 3072, .max_open = 14, .max_append = 128,
};

static void layout_capacity(struct kunit *test)
{
	struct lz_geometry g = usual;
	struct lz_super_info si;
	char why[160];
	u64 before;

	KUNIT_ASSERT_EQ_MSG(test, layout(g, &si, why, sizeof(why)), 0, "(%s)", why);
	KUNIT_EXPECT_EQ(test, si.nr_zones, g.nr_zones);
	KUNIT_EXPECT_EQ(test, si.zone_blocks, g.zone_blocks);
	KUNIT_EXPECT_EQ(test, si.zone_cap, g.zone_cap);
	KUNIT_EXPECT_GT(test, si.meta_zones, 0u);
	KUNIT_EXPECT_GT(test, si.gc_zones, 0u);
	KUNIT_EXPECT_GT(test, si.logical_blocks, 0ull);
	/* Root, metadata and GC zones, and the spare, are not for users. */
	KUNIT_EXPECT_LE(test, si.logical_blocks * 10,
			(u64)(g.nr_zones - 2 - si.meta_zones - si.gc_zones) * g.zone_cap * 9);

	/* More zones, more room. */
	before = si.logical_blocks;
	g.nr_zones++;
	KUNIT_ASSERT_EQ(test, layout(g, &si, why, sizeof(why)), 0);
	KUNIT_EXPECT_GT(test, si.logical_blocks, before);

	/* More spare, less room. */
	si.spare_permille = 500;
	before = si.logical_blocks;
	KUNIT_ASSERT_EQ(test, lz_layout(&g, &si, why, sizeof(why)), 0);
	KUNIT_EXPECT_LT(test, si.logical_blocks, before);
}

static void layout_large(struct kunit *test)
{
	struct lz_geometry g = usual;
	struct lz_super_info si;
	char why[160];

	/* 64 TiB in zones of 2 GiB. */
	g.zone_blocks = 1 << 19;
	g.zone_cap = 1 << 19;
	g.nr_zones = 1 << 15;
	KUNIT_EXPECT_EQ_MSG(test, layout(g, &si, why, sizeof(why)), 0, "(%s)", why);
	KUNIT_EXPECT_GT(test, si.logical_blocks, (u64)g.nr_zones * g.zone_cap / 10 * 8);
	/* 100,000 zones of 1077 MiB in 2 GiB. */
	g.zone_cap = 1077 * 256;
	g.nr_zones = 100000;
	KUNIT_EXPECT_EQ_MSG(test, layout(g, &si, why, sizeof(why)), 0, "(%s)", why);
}

/* A large log has room for its garbage. One with the least there must be is believed, too. */
static void layout_log(struct kunit *test)
{
	struct ram *r = ram_sized(test, 4096, 0, 16, 12);
	struct lz_super_info least = { .spare_permille = LZ_SPARE_DEFAULT }, own;
	char why[160] = "";
	struct lz_super *s;
	u32 i;

	/* 49,152 blocks: 98 leaves and 33 of the zone table fill 12 zones of 11. */
	KUNIT_ASSERT_EQ(test, lz_layout_least(&r->g, &least, why, sizeof(why)), 0);
	KUNIT_EXPECT_EQ(test, least.meta_zones, 2 * 12 + 5);
	KUNIT_ASSERT_EQ(test, layout(r->g, &own, why, sizeof(why)), 0);
	KUNIT_EXPECT_EQ(test, own.meta_zones, 3 * 12 - 8 + 5);
	KUNIT_EXPECT_LT(test, own.logical_blocks, least.logical_blocks);

	memset(least.uuid, 1, sizeof(least.uuid));
	KUNIT_ASSERT_EQ(test, lz_format(&r->g, &least, NULL, &ram_ops, r), 0);
	KUNIT_EXPECT_EQ_MSG(test, lz_probe(&r->g, &ram_ops, r, &own), 0, "(%s)", r->said);
	for (i = 0; i < LZ_SUPER_COPIES; i++) {
		s = ram_block(r, i);
		s->meta_zones = cpu_to_le32(least.meta_zones - 1);
		ram_reseal(&s->h, 0);
	}
	KUNIT_EXPECT_EQ(test, lz_probe(&r->g, &ram_ops, r, &own), -EUCLEAN);
}

/* What cannot work is refused, with a reason. */
static void layout_refused(struct kunit *test)
{
	struct lz_super_info si;
	struct lz_geometry g;
	char why[160];
	u32 i;

	for (i = 0; i < 9; i++) {
		g = usual;
		switch (i) {
		case 0:
			g.nr_zones = 2;
			break;
		case 1:
			g.nr_zones = 0;
			break;
		case 2:
			g.zone_blocks = 4095;
			break;
		case 3:
			g.zone_cap = 0;
			break;
		case 4:
			g.zone_cap = g.zone_blocks + 1;
			break;
		case 5:
			g.max_open = LZ_MAX_OPEN_MIN - 1;
			break;
		case 6:
			g.zone_blocks = 2 * LZ_ZONE_BLOCKS_MAX;
			break;
		case 7:
			g.nr_zones = 1u << 29;
			break;
		case 8:
			g.zone_blocks = 4;
			g.zone_cap = 4;
			break;
		}
		KUNIT_EXPECT_EQ_MSG(test, layout(g, &si, why, sizeof(why)), -EINVAL, "(%u)", i);
		KUNIT_EXPECT_NE_MSG(test, why[0], 0, "(%u)", i);
	}
}

static void layout_spare_limits(struct kunit *test)
{
	struct lz_super_info si = { .spare_permille = LZ_SPARE_MIN - 1 };
	char why[160];

	KUNIT_EXPECT_EQ(test, lz_layout(&usual, &si, why, sizeof(why)), -EINVAL);
	si.spare_permille = LZ_SPARE_MAX + 1;
	KUNIT_EXPECT_EQ(test, lz_layout(&usual, &si, why, sizeof(why)), -EINVAL);
	si.spare_permille = LZ_SPARE_MIN;
	KUNIT_EXPECT_EQ(test, lz_layout(&usual, &si, why, sizeof(why)), 0);
	si.spare_permille = LZ_SPARE_MAX;
	KUNIT_EXPECT_EQ(test, lz_layout(&usual, &si, why, sizeof(why)), 0);
}

/* Zones that cannot be written promise nothing, and are set aside. */
static void layout_dead(struct kunit *test)
{
	struct ram *r = ram_new(test, 32, 8);
	struct lz_super_info whole = { .spare_permille = LZ_SPARE_DEFAULT }, si = whole;
	struct lz_zone_report *z;
	struct lz_info info;
	char why[160];

	KUNIT_ASSERT_EQ(test, lz_layout_dead(&r->g, &whole, 0, why, sizeof(why)), 0);
	KUNIT_EXPECT_EQ(test, lz_layout_dead(&r->g, &si, 30, why, sizeof(why)), -EINVAL);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(why, "30 of which cannot be written"), "(%s)", why);
	KUNIT_ASSERT_EQ(test, lz_layout_dead(&r->g, &si, 2, why, sizeof(why)), 0);
	KUNIT_EXPECT_LT(test, si.logical_blocks, whole.logical_blocks);
	z = kunit_kcalloc(test, r->g.nr_zones, sizeof(*z), GFP_KERNEL);
	r->zone[3].cond = LZ_COND_READONLY;
	r->zone[9].cond = LZ_COND_OFFLINE;
	ram_report(r, z);
	si.uuid[0] = 1;
	KUNIT_ASSERT_EQ_MSG(test, lz_format(&r->g, &si, z, r->ops, r), 0, "(%s)", r->said);
	KUNIT_ASSERT_EQ_MSG(test, ram_load(r, LZ_LOAD_RO), 0, "(%s)", r->said);
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_EQ(test, info.zones[LZ_ZS_BAD], 2u);
	KUNIT_EXPECT_EQ(test, info.logical_blocks, si.logical_blocks);
}

static void layout_probe(struct kunit *test)
{
	struct ram *r = ram_new(test, 32, 8);
	struct lz_super_info si;

	KUNIT_EXPECT_EQ(test, lz_probe(&r->g, &ram_ops, r, &si), -ENODEV);
	KUNIT_ASSERT_EQ_MSG(test, ram_format(r), 0, "(%s)", r->said);
	KUNIT_ASSERT_EQ_MSG(test, lz_probe(&r->g, &ram_ops, r, &si), 0, "(%s)", r->said);
	KUNIT_EXPECT_EQ(test, memcmp(si.uuid, r->si.uuid, LZ_UUID_SIZE), 0);
	KUNIT_EXPECT_STREQ(test, si.label, "ram");
	KUNIT_EXPECT_EQ(test, si.version, (u32)LZ_FORMAT_VERSION);
	KUNIT_EXPECT_EQ(test, si.nr_zones, r->si.nr_zones);
	KUNIT_EXPECT_EQ(test, si.zone_blocks, r->si.zone_blocks);
	KUNIT_EXPECT_EQ(test, si.zone_cap, r->si.zone_cap);
	KUNIT_EXPECT_EQ(test, si.meta_zones, r->si.meta_zones);
	KUNIT_EXPECT_EQ(test, si.gc_zones, r->si.gc_zones);
	KUNIT_EXPECT_EQ(test, si.spare_permille, r->si.spare_permille);
	KUNIT_EXPECT_EQ(test, si.logical_blocks, r->si.logical_blocks);
	KUNIT_EXPECT_EQ(test, si.created, r->si.created);
}

/* A version of tomorrow is named, not called damage. */
static void layout_other_version(struct kunit *test)
{
	struct ram *r = ram_new(test, 32, 8);
	struct lz_super_info si;
	struct lz_super *s;
	u32 zone;

	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	for (zone = 0; zone < 2; zone++) {
		struct lz_want w = {};

		if (!r->zone[zone].wp)
			continue;
		s = ram_block(r, (u64)zone * r->g.zone_blocks);
		w.uuid = r->si.uuid;
		w.type = LZ_BT_SUPER;
		w.addr = le64_to_cpu(s->h.addr);
		w.epoch = le64_to_cpu(s->h.epoch);
		w.seq = le64_to_cpu(s->h.seq);
		s->version = cpu_to_le32(LZ_FORMAT_VERSION + 1);
		lz_seal(s, &w, 0);
	}
	KUNIT_EXPECT_EQ(test, lz_probe(&r->g, &ram_ops, r, &si), -EPROTONOSUPPORT);
}

static void layout_damaged(struct kunit *test)
{
	struct ram *r = ram_new(test, 32, 8);
	struct lz_super_info si;

	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	((u8 *)ram_block(r, 0))[200] ^= 1;
	KUNIT_EXPECT_EQ(test, lz_probe(&r->g, &ram_ops, r, &si), 0);
	((u8 *)ram_block(r, 1))[200] ^= 1;
	r->said[0] = 0;
	KUNIT_EXPECT_EQ(test, lz_probe(&r->g, &ram_ops, r, &si), -EUCLEAN);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "crc"), "(%s)", r->said);
}

/* The drive's limit and the user's: the lesser, as far as there are any. */
static void layout_budget(struct kunit *test)
{
	static const u32 want[][3] = {	/* drive, user, budget */
		{ 0, 0, 16 }, { 0, 8, 8 }, { 0, 32, 32 }, { 0, 100, 64 },
		{ 14, 0, 14 }, { 14, 8, 8 }, { 14, 32, 14 }, { 128, 0, 64 }, { 128, 100, 64 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(want); i++) {
		struct lz_geometry g = { .max_open = want[i][0] };

		KUNIT_EXPECT_EQ_MSG(test, lz_budget(&g, want[i][1]), want[i][2],
				    "(drive %u, user %u)", want[i][0], want[i][1]);
	}
}

static struct kunit_case layout_cases[] = {
	KUNIT_CASE(layout_capacity),
	KUNIT_CASE(layout_large),
	KUNIT_CASE(layout_log),
	KUNIT_CASE(layout_refused),
	KUNIT_CASE(layout_spare_limits),
	KUNIT_CASE(layout_dead),
	KUNIT_CASE(layout_budget),
	KUNIT_CASE(layout_probe),
	KUNIT_CASE(layout_other_version),
	KUNIT_CASE(layout_damaged),
	{}
};

static struct kunit_suite layout_suite = {
	.name = "lifezone-layout",
	.exit = layout_exit,
	.test_cases = layout_cases,
};

kunit_test_suite(layout_suite);
