// SPDX-License-Identifier: GPL-2.0-only
/* The offline check finds what is wrong although every checksum is right. */
#include "ram.h"

struct findings {
	u32 n;
	char first[256];
};

static void note(void *ctx, const char *line)
{
	struct findings *f = ctx;

	if (!f->n++)
		scnprintf(f->first, sizeof(f->first), "%s", line);
}

/* A device of two full zones and some, stopped in order. */
static int check_init(struct kunit *test)
{
	struct ram *r = ram_device(test, 32, 8);

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 2 * r->g.zone_cap + 10), 0);
	ram_stop(r);
	return 0;
}

static void check_exit(struct kunit *test)
{
	ram_free(test->priv);
}

static u64 run_check(struct ram *r, struct findings *f)
{
	struct lz_check_report report = { .say = note, .ctx = f };

	memset(f, 0, sizeof(*f));
	KUNIT_ASSERT_EQ_MSG(r->test, ram_load(r, LZ_LOAD_RO), 0, "(%s)", r->said);
	KUNIT_EXPECT_EQ(r->test, lz_check(r->lz, &report), 0);
	KUNIT_EXPECT_EQ(r->test, report.errors, (u64)f->n);
	lz_free_device(r->lz);
	r->lz = NULL;
	return report.errors;
}

/* The newest block on the drive with this header. */
static void *find_block(struct ram *r, u16 type, u16 level, u64 index)
{
	struct lz_hdr *h, *best = NULL;
	u32 zone, off;

	for (zone = 0; zone < r->g.nr_zones; zone++) {
		for (off = 0; off < r->zone[zone].wp; off++) {
			h = ram_block(r, (u64)zone * r->g.zone_blocks + off);
			if (le32_to_cpu(h->magic) == LZ_MAGIC && le16_to_cpu(h->type) == type &&
			    le16_to_cpu(h->level) == level && le64_to_cpu(h->index) == index &&
			    (!best || le64_to_cpu(h->seq) > le64_to_cpu(best->seq)))
				best = h;
		}
	}
	return best;
}

static void reseal(struct ram *r, struct lz_hdr *h)
{
	ram_reseal(h, le32_to_cpu(h->count));
}

static struct lz_node *leaf0(struct ram *r)
{
	struct lz_node *n = find_block(r, LZ_BT_NODE, 0, 0);

	KUNIT_ASSERT_NOT_NULL(r->test, n);
	return n;
}

static void expect(struct ram *r, const char *what)
{
	struct findings f;

	KUNIT_EXPECT_GT(r->test, run_check(r, &f), 0ull);
	KUNIT_EXPECT_TRUE_MSG(r->test, strstr(f.first, what), "(%s, wanted %s)", f.first, what);
}

static void check_sound(struct kunit *test)
{
	struct ram *r = test->priv;
	struct findings f;

	KUNIT_EXPECT_EQ_MSG(test, run_check(r, &f), 0ull, "(%s)", f.first);
	/* It changes nothing: once more. */
	KUNIT_EXPECT_EQ(test, run_check(r, &f), 0ull);
}

static void check_shared_block(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_node *n = leaf0(r);

	n->e[3] = n->e[4];
	reseal(r, &n->h);
	expect(r, "block 4: shares drive block");
}

static void check_free_zone(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_node *n = leaf0(r);
	u32 zone = r->g.nr_zones - 1;

	while (r->zone[zone].wp)
		zone--;
	n->e[3] = cpu_to_le64((u64)zone * r->g.zone_blocks);
	reseal(r, &n->h);
	expect(r, "block 3: mapped to zone");
}

/* A zone that somebody else reset; only who looks without writing is let in. */
static void check_lost_zone(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 zone = div_u64(le64_to_cpu(leaf0(r)->e[0]), r->g.zone_blocks);

	KUNIT_ASSERT_EQ(test, r->zone[zone].cond, LZ_COND_FULL);
	r->zone[zone].cond = LZ_COND_EMPTY;
	r->zone[zone].wp = 0;
	expect(r, "past its write pointer 0");
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "was it reset by someone else"), "(%s)",
			      r->said);
}

static void check_past_drive(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_node *n = leaf0(r);

	n->e[3] = cpu_to_le64((u64)r->g.nr_zones * r->g.zone_blocks);
	reseal(r, &n->h);
	expect(r, "cannot be used");
}

/* Between the capacity and the size of a zone there is nothing. */
static void check_past_capacity(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_node *n = leaf0(r);
	u64 start = le64_to_cpu(n->e[3]) / r->g.zone_blocks * r->g.zone_blocks;

	n->e[3] = cpu_to_le64(start + r->g.zone_cap);
	reseal(r, &n->h);
	expect(r, "cannot be used");
}

static void check_count_of_leaf(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_node *n = leaf0(r);

	n->h.count = cpu_to_le32(le32_to_cpu(n->h.count) - 1);
	reseal(r, &n->h);
	expect(r, "map leaf 0: says it maps");
}

static void check_count_of_zone(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_node *n = leaf0(r);

	n->e[3] = cpu_to_le64(LZ_NOWHERE);
	n->h.count = cpu_to_le32(le32_to_cpu(n->h.count) - 1);
	reseal(r, &n->h);
	expect(r, "the zone table counts");
}

static void check_damaged_leaf(struct kunit *test)
{
	struct ram *r = test->priv;

	((u8 *)leaf0(r))[100] ^= 1;
	expect(r, "blocks 0 to 503: their map leaf cannot be used");
}

/* The newest summary of a zone that holds data, if it names @least blocks. */
static struct lz_summary *some_summary(struct ram *r, u32 least, u32 *zone)
{
	struct lz_summary *s = NULL;

	for (*zone = 1; !s && *zone + 1 < r->g.nr_zones;) {
		s = find_block(r, LZ_BT_SUMMARY, 0, ++*zone);
		if (s && le32_to_cpu(s->h.count) < least)
			s = NULL;
	}
	KUNIT_ASSERT_NOT_NULL(r->test, s);
	return s;
}

/* @s has been changed; so many blocks of its zone are named by none. */
static void expect_unnamed(struct ram *r, struct lz_summary *s, u32 n)
{
	char what[80];

	scnprintf(what, sizeof(what),
		  ": %u blocks in use that neither a summary nor the journal names", n);
	reseal(r, &s->h);
	expect(r, what);
}

/* A block that no summary names would be lost to GC. */
static void check_unnamed(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_summary *s;
	u64 a, b;
	u32 zone;

	s = some_summary(r, 2, &zone);
	a = le64_to_cpu(s->e[0]);
	b = le64_to_cpu(s->e[1]);
	s->e[0] = s->e[1];
	expect_unnamed(r, s, 1);
	/* Nor if it is named where nothing can be, */
	s->e[0] = cpu_to_le64(lz_sum_pack(r->g.zone_cap, lz_sum_lba(a)));
	expect_unnamed(r, s, 1);
	/* or as what the device has not, */
	s->e[0] = cpu_to_le64(lz_sum_pack(lz_sum_offset(a), r->si.logical_blocks));
	expect_unnamed(r, s, 1);
	/* or two are as each other. */
	s->e[0] = cpu_to_le64(lz_sum_pack(lz_sum_offset(a), lz_sum_lba(b)));
	s->e[1] = cpu_to_le64(lz_sum_pack(lz_sum_offset(b), lz_sum_lba(a)));
	expect_unnamed(r, s, 2);
}

static void check_damaged_summary(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 zone;

	((u8 *)some_summary(r, 0, &zone))[2000] ^= 16;
	expect(r, "crc: got");
}

/* What recovery itself needs is refused at load, and the reason is given. */
static void check_damaged_root(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 zone, off;

	for (zone = 0; zone < 2; zone++)
		for (off = 1; off < r->zone[zone].wp; off++)
			((u8 *)ram_block(r, (u64)zone * r->g.zone_blocks + off))[300] ^= 1;
	r->said[0] = 0;
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EUCLEAN);
	KUNIT_EXPECT_NE(test, r->said[0], 0);
}

/* A root zone begun where commands were short has one superblock, wherever it is read. */
static void check_short_commands(struct kunit *test)
{
	struct ram *r;

	ram_free(test->priv);
	r = ram_new(test, 40, 8);
	r->g.max_append = 2;
	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	ram_again(r);
	ram_stop(r);
	r->g.max_append = 32;
	ram_again(r);
	ram_check(r);
}

static void check_damaged_zone_table(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_znode *n = find_block(r, LZ_BT_ZNODE, 0, 0);

	KUNIT_ASSERT_NOT_NULL(test, n);
	n->e[5].state = 77;
	reseal(r, &n->h);
	r->said[0] = 0;
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EUCLEAN);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "entry 5: state: got 77, wanted at most 5"),
			      "(%s)", r->said);
}

/* One that says it goes on behind the end of its zone. */
static void check_summary_past_zone(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_summary *s = NULL;
	u32 zone;

	/* A zone with a second summary, which fills it up. */
	ram_again(r);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_SHORT, 0, 10), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_SHORT, 10, r->g.zone_cap), 0);
	ram_stop(r);
	for (zone = 2; !s && zone < r->g.nr_zones; zone++) {
		if (r->zone[zone].wp < r->g.zone_cap)
			continue;
		s = ram_block(r, (u64)zone * r->g.zone_blocks + r->g.zone_cap - 1);
		if (le16_to_cpu(s->h.type) != LZ_BT_SUMMARY || le64_to_cpu(s->h.seq) < 2)
			s = NULL;
	}
	KUNIT_ASSERT_NOT_NULL(test, s);
	s->group = cpu_to_le32(2);
	s->h.seq = cpu_to_le64(le64_to_cpu(s->h.seq) - 1);
	reseal(r, &s->h);
	expect(r, "cannot be read");
}

static void check_summary_of_another_life(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_summary *s;
	u32 zone;

	s = some_summary(r, 0, &zone);
	s->group = cpu_to_le32(2);
	s->nth = cpu_to_le32(1);
	reseal(r, &s->h);
	expect(r, "of another life");
}

/* What cannot be read is said, by zone and by superblock, and counted without a listener. */
static void check_unreadable(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_check_report quiet = {};
	struct findings f = {};
	struct lz_check_report report = { .say = note, .ctx = &f };
	u32 zone;

	some_summary(r, 0, &zone);
	KUNIT_ASSERT_EQ_MSG(test, ram_load(r, LZ_LOAD_RO), 0, "(%s)", r->said);
	r->zone[zone].fail = 1 << LZ_OP_READ;
	KUNIT_EXPECT_EQ(test, lz_check(r->lz, &report), 0);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(f.first, "cannot be read"), "(%s)", f.first);
	r->zone[zone].fail = 0;
	r->zone[r->lz->root_zone].fail = 1 << LZ_OP_READ;
	f.n = 0;
	KUNIT_EXPECT_EQ(test, lz_check(r->lz, &report), 0);
	KUNIT_EXPECT_EQ(test, f.n, LZ_SUPER_COPIES);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(f.first, "superblock at block"), "(%s)", f.first);
	KUNIT_EXPECT_EQ(test, lz_check(r->lz, &quiet), 0);
	KUNIT_EXPECT_EQ(test, quiet.errors, (u64)LZ_SUPER_COPIES);
}

/* However little of the map fits in memory, each leaf of it is read once. */
static void check_reads_once(struct kunit *test)
{
	struct lz_check_report report = {};
	struct lz_summary *s;
	u32 state = 7, zone, i;
	struct findings f = {};
	struct ram *r;

	ram_free(test->priv);
	r = ram_sized(test, 128, 0, 512, 512);
	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	KUNIT_ASSERT_EQ(test, ram_load(r, 0), 0);
	for (i = 0; i < 4000; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG,
						ram_random(&state, r->si.logical_blocks), 1), 0);
	ram_stop(r);
	KUNIT_ASSERT_EQ(test, ram_load(r, LZ_LOAD_RO), 0);
	KUNIT_ASSERT_GT(test, r->lz->map.n[0], 80ull);
	r->lz->max_cached = 20;
	KUNIT_EXPECT_EQ(test, lz_check(r->lz, &report), 0);
	KUNIT_EXPECT_EQ(test, report.errors, 0ull);
	KUNIT_EXPECT_LE(test, lz_stat(r->lz, LZ_ST_LEAF_READS), r->lz->map.n[0]);
	lz_free_device(r->lz);
	r->lz = NULL;
	/* But where a summary is wrong each block of its zone is looked up. */
	s = some_summary(r, 2, &zone);
	s->e[0] = s->e[1];
	reseal(r, &s->h);
	KUNIT_ASSERT_EQ(test, ram_load(r, LZ_LOAD_RO), 0);
	r->lz->max_cached = 20;
	report.say = note;
	report.ctx = &f;
	KUNIT_EXPECT_EQ(test, lz_check(r->lz, &report), 0);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(f.first, "neither a summary"), "(%s)", f.first);
}

static struct kunit_case check_cases[] = {
	KUNIT_CASE(check_sound),
	KUNIT_CASE(check_shared_block),
	KUNIT_CASE(check_free_zone),
	KUNIT_CASE(check_lost_zone),
	KUNIT_CASE(check_past_drive),
	KUNIT_CASE(check_past_capacity),
	KUNIT_CASE(check_count_of_leaf),
	KUNIT_CASE(check_count_of_zone),
	KUNIT_CASE(check_damaged_leaf),
	KUNIT_CASE(check_unnamed),
	KUNIT_CASE(check_damaged_summary),
	KUNIT_CASE(check_summary_past_zone),
	KUNIT_CASE(check_summary_of_another_life),
	KUNIT_CASE(check_unreadable),
	KUNIT_CASE(check_damaged_root),
	KUNIT_CASE(check_short_commands),
	KUNIT_CASE(check_reads_once),
	KUNIT_CASE(check_damaged_zone_table),
	{}
};

static struct kunit_suite check_suite = {
	.name = "lifezone-check",
	.init = check_init,
	.exit = check_exit,
	.test_cases = check_cases,
};

kunit_test_suite(check_suite);
