// SPDX-License-Identifier: GPL-2.0-only
/* Journals that are sound block by block and cannot be true. */
#include "ram.h"

/**
 * struct forged - the newest block of a journal, to be changed
 * @r: the device, after a cut
 * @zone: zone of the journal
 * @off: and the block's offset in it
 * @cap: entries of the device's delta
 * @j: the block
 * @was: as it was
 */
struct forged {
	struct ram *r;
	u32 zone;
	u32 off;
	u32 cap;
	struct lz_journal *j;
	struct lz_journal was;
};

static void journal_exit(struct kunit *test)
{
	ram_free(test->priv);
}

/* Cuts @r; its last commit is in one block. */
static struct forged *forge(struct ram *r)
{
	struct forged *f = kunit_kzalloc(r->test, sizeof(*f), GFP_KERNEL);

	f->r = r;
	f->zone = r->lz->js->zone;
	f->off = r->lz->js->off - 1;
	f->cap = r->lz->delta_cap;
	ram_cut(r);
	f->j = ram_block(r, (u64)f->zone * r->g.zone_blocks + f->off);
	memcpy(&f->was, f->j, sizeof(f->was));
	KUNIT_ASSERT_EQ(r->test, f->j->next_zone, cpu_to_le32(LZ_NONE));
	return f;
}

static struct forged *usual(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 5, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 6, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	return forge(r);
}

/* One more block, of the same commit as the last or of the next; without records. */
static struct lz_journal *append(struct forged *f, bool same)
{
	struct ram *r = f->r;
	struct lz_journal *last = ram_block(r, (u64)f->zone * r->g.zone_blocks + f->off), *j;
	u64 seq = le64_to_cpu(last->h.seq) + 1;

	KUNIT_ASSERT_LT(r->test, f->off + 2, r->g.zone_cap);
	j = ram_block(r, (u64)f->zone * r->g.zone_blocks + ++f->off);
	memcpy(j, last, sizeof(*j));
	j->h.addr = cpu_to_le64((u64)f->zone * r->g.zone_blocks + f->off);
	j->h.seq = cpu_to_le64(seq);
	if (!same) {
		j->h.index = cpu_to_le64(le64_to_cpu(last->h.index) + 1);
		j->first = cpu_to_le64(seq);
	}
	if (r->zone[f->zone].wp <= f->off)
		r->zone[f->zone].wp = f->off + 1;
	return j;
}

static void refused(struct forged *f, const char *what)
{
	struct ram *r = f->r;

	r->said[0] = 0;
	KUNIT_EXPECT_EQ_MSG(r->test, ram_load(r, 0), -EUCLEAN, "(%s)", what);
	KUNIT_EXPECT_TRUE_MSG(r->test, strstr(r->said, what), "(%s, wanted %s)", r->said, what);
}

/* As it was, it is good. */
static void good(struct forged *f)
{
	memcpy(f->j, &f->was, sizeof(*f->j));
	KUNIT_ASSERT_EQ_MSG(f->r->test, ram_load(f->r, 0), 0, "(%s)", f->r->said);
	ram_verify(f->r);
	ram_check(f->r);
}

/* Of a record: within any device, but not within this one. */
static void journal_records(struct kunit *test)
{
	struct forged *f = usual(test);
	struct ram *r = f->r;
	u64 all = r->si.logical_blocks, zone = r->g.zone_blocks, last = r->g.nr_zones;
	const struct {
		u8 type;
		u64 lba;
		u32 len;
		u64 b;
		const char *what;
	} bad[] = {
		{ LZ_JR_MAP, all, 1, 9 * zone, "past the device or the drive" },
		{ LZ_JR_MAP, all - 1, 2, 9 * zone, "past the device or the drive" },
		{ LZ_JR_MAP, 0, 1, 1 * zone, "past the device or the drive" },
		{ LZ_JR_MAP, 0, 1, last * zone, "past the device or the drive" },
		{ LZ_JR_MAP, 0, 1, 9 * zone + r->g.zone_cap, "past the device or the drive" },
		{ LZ_JR_MAP, 0, 2, 9 * zone + r->g.zone_cap - 1, "past the device or the drive" },
		{ LZ_JR_DISCARD, all, 0, 1, "past the device" },
		{ LZ_JR_DISCARD, all - 1, 0, 2, "past the device" },
		{ LZ_JR_DISCARD, 0, 0, all + 1, "past the device" },
		{ LZ_JR_ZOPEN, 1, 0, 0, "no such zone" },
		{ LZ_JR_ZOPEN, last, 0, 0, "no such zone" },
		{ LZ_JR_ZBAD, last, 0, 0, "no such zone" },
		{ LZ_JR_ZOPEN, f->zone, 0, 0, "the metadata log is in it" },
		{ LZ_JR_ZSUM, 9, LZ_SUM_BLOCKS + 1, 0, "no such summary" },
		{ LZ_JR_ZSUM, 9, 2, r->g.zone_cap - 1, "no such summary" },
		{ LZ_JR_ZSUM, 9, 1, r->g.zone_cap, "no such summary" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		lz_jrec_pack(&f->j->r[0], bad[i].type, bad[i].lba, bad[i].len, bad[i].b);
		ram_reseal(&f->j->h, 1);
		refused(f, bad[i].what);
	}
	good(f);
}

/* What lies at the very end of the device and of a zone is within them. */
static void journal_records_at_the_end(struct kunit *test)
{
	struct forged *f = usual(test);
	struct ram *r = f->r;
	u64 all = r->si.logical_blocks;

	lz_jrec_pack(&f->j->r[0], LZ_JR_DISCARD, all - 1, 0, 1);
	lz_jrec_pack(&f->j->r[1], LZ_JR_DISCARD, 0, 0, all);
	lz_jrec_pack(&f->j->r[2], LZ_JR_ZBAD, r->g.nr_zones - 1, 0, 0);
	ram_reseal(&f->j->h, 3);
	ram_again(r);
	memset(r->version, 0, all * sizeof(*r->version));
	ram_verify(r);
	ram_check(r);
}

/* A link must lead somewhere, and what stands behind it is not read. */
static void journal_links(struct kunit *test)
{
	struct forged *f = usual(test);
	struct ram *r = f->r;
	u32 zone = r->g.nr_zones - 1;

	f->j->first = f->j->h.seq;
	f->j->next_zone = cpu_to_le32(1);
	ram_reseal(&f->j->h, 0);
	refused(f, "link to zone 1, which is none");
	f->j->next_zone = cpu_to_le32(r->g.nr_zones);
	ram_reseal(&f->j->h, 0);
	refused(f, "which is none");

	while (r->zone[zone].wp)
		zone--;
	f->j->next_zone = cpu_to_le32(zone);
	ram_reseal(&f->j->h, 0);
	append(f, false);
	ram_again(r);
	KUNIT_EXPECT_EQ(test, ram_read(r, 5), r->version[5]);
	KUNIT_EXPECT_EQ(test, ram_read(r, 6), 0u);
	r->version[6] = 0;
	ram_verify(r);
	ram_check(r);
}

/* No block of the journal has a level: one that has is none, and the journal ends there. */
static void journal_level(struct kunit *test)
{
	struct forged *f = usual(test);

	f->j->h.level = cpu_to_le16(1);
	ram_reseal(&f->j->h, le32_to_cpu(f->j->h.count));
	KUNIT_ASSERT_EQ_MSG(test, ram_load(f->r, 0), 0, "(%s)", f->r->said);
	f->r->version[6] = 0;
	ram_verify(f->r);
	ram_check(f->r);
}

/* A commit without its end, and behind it another: of the first nothing counts. */
static void journal_commit_without_end(struct kunit *test)
{
	struct forged *f = usual(test);
	struct lz_journal *j;

	j = append(f, false);
	lz_jrec_pack(&j->r[0], LZ_JR_DISCARD, 5, 0, 1);
	ram_reseal(&j->h, 1);
	f->j->more = cpu_to_le32(1);
	ram_reseal(&f->j->h, le32_to_cpu(f->j->h.count));
	KUNIT_ASSERT_EQ_MSG(test, ram_load(f->r, 0), 0, "(%s)", f->r->said);
	f->r->version[5] = 0;
	f->r->version[6] = 0;
	ram_verify(f->r);
	ram_check(f->r);
}

/* Nobody writes a commit of more records than there can be updates. */
static void journal_endless_commit(struct kunit *test)
{
	struct forged *f = usual(test);
	u32 most = 2 * f->cap + LZ_EXTENTS + LZ_ZRECS, last = f->r->g.nr_zones - 1, n = 0, i;
	struct lz_journal *j = f->j;

	for (;;) {
		for (i = 0; i < LZ_JOURNAL_RECORDS; i++)
			lz_jrec_pack(&j->r[i], LZ_JR_ZBAD, last, 0, 0);
		j->more = cpu_to_le32(1);
		ram_reseal(&j->h, LZ_JOURNAL_RECORDS);
		n += LZ_JOURNAL_RECORDS;
		j = append(f, true);
		if (n + LZ_JOURNAL_RECORDS > most)
			break;
	}
	KUNIT_ASSERT_LT(test, n, most);
	j->more = cpu_to_le32(0);
	ram_reseal(&j->h, most - n + 1);
	refused(f, "a commit of more than");
	/* One less may be. */
	ram_reseal(&j->h, most - n);
	KUNIT_EXPECT_EQ_MSG(test, ram_load(f->r, 0), 0, "(%s)", f->r->said);
}

/* And no journal holds more updates than two deltas: zones so small that they are. */
static struct forged *crowded(struct kunit *test)
{
	struct ram *r = ram_sized(test, 300, 8, 16, 8);

	KUNIT_ASSERT_EQ_MSG(test, ram_format(r), 0, "(%s)", r->said);
	ram_again(r);
	KUNIT_ASSERT_GT(test, r->si.logical_blocks, 2ull * r->lz->delta_cap + 64);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 5, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	return forge(r);
}

/* @n blocks, as runs as long as zones are. */
static u32 map_many(struct forged *f, u32 n)
{
	struct ram *r = f->r;
	u32 i;

	for (i = 0; n >= r->g.zone_cap; i++) {
		lz_jrec_pack(&f->j->r[i], LZ_JR_MAP, i * r->g.zone_cap, r->g.zone_cap,
			     (u64)(r->g.nr_zones - 1 - i) * r->g.zone_blocks);
		n -= r->g.zone_cap;
	}
	return i;
}

static void journal_too_many_updates(struct kunit *test)
{
	struct forged *f = crowded(test);
	struct lz_journal *j;
	u32 n;

	n = map_many(f, 2 * f->cap + f->r->g.zone_cap);
	ram_reseal(&f->j->h, n);
	refused(f, "more updates than a journal may hold");

	/* As discards of a block or some, behind a commit that just fits. */
	n = map_many(f, 2 * f->cap);
	ram_reseal(&f->j->h, n);
	j = append(f, false);
	lz_jrec_pack(&j->r[0], LZ_JR_DISCARD, 2 * f->cap, 0, LZ_EXTENT_MIN - 1);
	ram_reseal(&j->h, 1);
	refused(f, "more updates than a journal may hold");
	/* Without it; but all of that is mapped in zones that nobody has opened. */
	ram_reseal(&j->h, 0);
	refused(f, "is free, but 8 of its blocks are in use");
}

/* Blocks that are among these need no more room. */
static void journal_updates_again(struct kunit *test)
{
	struct forged *f = crowded(test);
	struct lz_journal *j;

	ram_reseal(&f->j->h, map_many(f, 2 * f->cap));
	j = append(f, false);
	lz_jrec_pack(&j->r[0], LZ_JR_DISCARD, 2 * f->cap - LZ_EXTENT_MIN, 0, LZ_EXTENT_MIN - 1);
	ram_reseal(&j->h, 1);
	refused(f, "is free, but");
}

/* One that cannot be read does not hide the commits behind it. */
static void journal_damaged_before_unread(struct kunit *test)
{
	struct ram *r = ram_sized(test, 60, 8, 256, 256);
	u32 zone, first, lba = 0;
	u64 at;
	u8 *b;

	KUNIT_ASSERT_EQ_MSG(test, ram_format(r), 0, "(%s)", r->said);
	ram_again(r);
	zone = r->lz->js->zone;
	first = r->lz->js->off;
	/* What is read at a time has been read when this is reached. */
	while (r->lz->js->off < first + 80) {
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, lba++, 1), 0);
		KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	}
	KUNIT_ASSERT_EQ(test, r->lz->js->zone, zone);
	ram_cut(r);
	at = (u64)zone * r->g.zone_blocks + first + 63;
	b = ram_block(r, at);
	b[300] ^= 1;
	r->bad = at + 5;
	r->said[0] = 0;
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EUCLEAN);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "is damaged: commit"), "(%s)", r->said);
	r->bad = 0;
	b[300] ^= 1;
	ram_again(r);
	ram_verify(r);
}

/* The last commit of a zone is damaged: others that were answered follow in the next one. */
static void journal_damaged_before_link(struct kunit *test)
{
	struct ram *r = ram_sized(test, 300, 8, 16, 8);
	u32 zone, lba = 0;
	u8 *b;

	KUNIT_ASSERT_EQ_MSG(test, ram_format(r), 0, "(%s)", r->said);
	ram_again(r);
	zone = r->lz->js->zone;
	while (r->lz->js->zone == zone || r->lz->js->off < 2) {
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, lba++, 1), 0);
		KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	}
	ram_cut(r);
	b = ram_block(r, (u64)zone * r->g.zone_blocks + r->zone[zone].wp - 2);
	b[300] ^= 1;
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EUCLEAN);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "is damaged: commit"), "(%s)", r->said);
	KUNIT_EXPECT_EQ(test, ram_load(r, LZ_LOAD_RO), -EUCLEAN);
	b[300] ^= 1;
	ram_again(r);
	ram_verify(r);
	ram_check(r);
}

/* What was discarded in pieces is not one extent after a cut. */
static void journal_discards_side_by_side(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	u32 step = LZ_EXTENT_MIN - 1, blocks = 0, lba, n;
	struct forged *f;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 8 * step), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	for (lba = 0; lba < 8 * step; lba += step)
		KUNIT_ASSERT_EQ(test, ram_discard(r, lba, step), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	f = forge(r);
	for (n = 0; n < le32_to_cpu(f->j->h.count); n++) {
		const struct lz_jrec *rec = &f->j->r[n];

		if (lz_jrec_type(rec) != LZ_JR_DISCARD)
			continue;
		KUNIT_EXPECT_LT(test, lz_jrec_b(rec), (u64)LZ_EXTENT_MIN);
		blocks += lz_jrec_b(rec);
	}
	KUNIT_EXPECT_EQ(test, blocks, 8 * step);
	good(f);
}

static void journal_too_many_discards(struct kunit *test)
{
	struct forged *f = crowded(test);
	u32 i, n = 2 * LZ_EXTENTS + 1, step = LZ_EXTENT_MIN + 1;

	/* Only where tables are tiny a device so small has room for them. */
	if ((u64)n * step > f->r->si.logical_blocks || n > LZ_JOURNAL_RECORDS)
		return;
	for (i = 0; i < n; i++)
		lz_jrec_pack(&f->j->r[i], LZ_JR_DISCARD, i * step, 0, LZ_EXTENT_MIN);
	ram_reseal(&f->j->h, n);
	refused(f, "more discards than a journal may hold");
	ram_reseal(&f->j->h, n - 1);
	KUNIT_EXPECT_EQ_MSG(test, ram_load(f->r, 0), 0, "(%s)", f->r->said);
}

/* The timer set for what a flush has committed comes too early for what was written after. */
static void journal_commit_in_time(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz_options o = r->lz->o;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 5, 1), 0);
	ram_elapse(r, 100);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_elapse(r, 400);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 6, 1), 0);
	ram_elapse(r, 500);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->lz->uncommitted), 1);
	KUNIT_EXPECT_NE(test, r->timer, 0);
	ram_elapse(r, 501);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->lz->uncommitted), 0);

	/* And that of a longer time, for one that is set while it runs. */
	o.commit_ms = 600000;
	lz_set_options(r->lz, &o);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 7, 1), 0);
	ram_elapse(r, 5);
	o.commit_ms = 10;
	lz_set_options(r->lz, &o);
	ram_pump(r);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->lz->uncommitted), 1);
	ram_elapse(r, 6);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->lz->uncommitted), 0);
}

/* One block over and over takes nothing of the delta: the journal's length counts, too. */
static void journal_gets_long(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	u64 number = r->lz->ckpt.number, most = 4ull * max(LZ_BATCH_COMMIT, r->lz->delta_cap);
	u32 i;

	/* That many are behind us; a block with one record is worth nine. */
	r->lz->ckpt.records += most - 9 * 10;
	for (i = 0; i < 20 && r->lz->ckpt.number == number; i++) {
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 5, 1), 0);
		KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	}
	KUNIT_EXPECT_EQ(test, r->lz->ckpt.number, number + 1);
	KUNIT_EXPECT_GE(test, i, 9u);
	KUNIT_EXPECT_LE(test, i, 11u);
	KUNIT_EXPECT_LT(test, r->lz->ckpt.records, 10ull);
	ram_survive(r);
}

static struct kunit_case journal_cases[] = {
	KUNIT_CASE(journal_records),
	KUNIT_CASE(journal_records_at_the_end),
	KUNIT_CASE(journal_links),
	KUNIT_CASE(journal_level),
	KUNIT_CASE(journal_commit_without_end),
	KUNIT_CASE(journal_endless_commit),
	KUNIT_CASE(journal_too_many_updates),
	KUNIT_CASE(journal_updates_again),
	KUNIT_CASE(journal_damaged_before_unread),
	KUNIT_CASE(journal_damaged_before_link),
	KUNIT_CASE(journal_discards_side_by_side),
	KUNIT_CASE(journal_too_many_discards),
	KUNIT_CASE(journal_commit_in_time),
	KUNIT_CASE(journal_gets_long),
	{}
};

static struct kunit_suite journal_suite = {
	.name = "lifezone-journal",
	.exit = journal_exit,
	.test_cases = journal_cases,
};

kunit_test_suite(journal_suite);
