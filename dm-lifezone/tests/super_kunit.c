// SPDX-License-Identifier: GPL-2.0-only
/* Superblocks and roots: which is found, and what is made of those that are not well. */
#include "ram.h"

static int super_init(struct kunit *test)
{
	ram_device(test, 40, 8);
	return 0;
}

static void super_exit(struct kunit *test)
{
	ram_free(test->priv);
}

/* Root zones change places often: each generation is found. */
static void super_root_rolls(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 i;

	for (i = 0; i < 3 * r->g.zone_cap; i++) {
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, i, 1), 0);
		KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
		if (i % 40 == 39) {
			ram_cut(r);
			ram_again(r);
		}
	}
	KUNIT_EXPECT_GE(test, lz_stat(r->lz, LZ_ST_ROOT_ROLLS), 2ull);
	ram_verify(r);
	ram_check(r);
}

/* Stops a device that has filled one root zone; returns which. The newest is in the other. */
static u32 stop_past_root_zone(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 i;

	for (i = 0; i < r->g.zone_cap + 20; i++)
		KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 300), 0);
	ram_stop(r);
	i = r->zone[0].cond == LZ_COND_FULL ? 0 : 1;
	KUNIT_ASSERT_EQ(test, r->zone[i].cond, LZ_COND_FULL);
	KUNIT_ASSERT_EQ(test, r->zone[i ^ 1].cond, LZ_COND_OPEN);
	return i;
}

/* Where the roots in a zone end, the newest last. */
static u64 roots_end(const struct ram *r, u32 zone)
{
	return (u64)zone * r->g.zone_blocks + r->zone[zone].wp;
}

/* With one of the two root zones gone the device is still found. */
static void super_one_root_zone(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 i = stop_past_root_zone(test);

	/* The zone that is not the newest may be lost in a cut of its reset. */
	memset(ram_block(r, i * r->g.zone_blocks), 0xff, r->g.zone_cap * LZ_BLOCK_SIZE);
	ram_again(r);
	ram_verify(r);
}

/* A root zone that cannot be read may hold the newest root, unless the other does. */
static void super_root_unread(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 newest = stop_past_root_zone(test) ^ 1;

	r->said[0] = 0;
	r->zone[newest].fail = 1 << LZ_OP_READ;
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EIO);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "may hold a newer"), "(%s)", r->said);
	/* Nor is an older one of the same zone taken for it. */
	r->said[0] = 0;
	r->zone[newest].fail_after = 1;
	r->zone[newest].fail_times = LZ_ROOT_COPIES;
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EIO);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "may hold a newer"), "(%s)", r->said);
	KUNIT_EXPECT_EQ(test, r->zone[newest].fail, 0);
	r->zone[newest ^ 1].fail = 1 << LZ_OP_READ;
	ram_again(r);
	ram_verify(r);
}

/* What a drive reports whose zones hold more than we use: those that are full for us are not. */
static void larger_zones(struct ram *r)
{
	u32 i;

	r->g.max_open = 0;
	for (i = 0; i < r->g.nr_zones; i++)
		if (r->zone[i].cond == LZ_COND_FULL)
			r->zone[i].cond = LZ_COND_OPEN;
}

/* Where one of them has roots it is full all the same: there is a newer one. */
static void super_root_unread_larger(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 newest = stop_past_root_zone(test) ^ 1;

	larger_zones(r);
	r->said[0] = 0;
	r->zone[newest].fail = 1 << LZ_OP_READ;
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EIO);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "may hold a newer"), "(%s)", r->said);
}

/* Nor do they take the place of zones that are open. */
static void super_open_larger(struct kunit *test)
{
	u32 open = 0, i;
	struct ram *r;

	ram_free(test->priv);
	r = ram_new(test, 60, 0);
	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	ram_again(r);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, r->si.logical_blocks - 300), 0);
	for (i = LZ_CLASS_NONE; i < LZ_CLASS_EXTREME; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, i, 10 * i, 3), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	for (i = 2; i < r->g.nr_zones; i++)
		open += r->lz->zone[i].state == LZ_ZS_OPEN;
	KUNIT_ASSERT_GT(test, open, 2u);
	ram_cut(r);
	larger_zones(r);
	ram_again(r);
	for (i = 2; i < r->g.nr_zones; i++)
		open -= r->lz->zone[i].state == LZ_ZS_OPEN;
	KUNIT_EXPECT_EQ(test, open, 0u);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_FINISHES_LOAD), 0ull);
	ram_verify(r);
}

/* Of a root zone that is read-only the write pointer says nothing. */
static void super_root_read_only(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 newest = stop_past_root_zone(test) ^ 1;
	u64 end = roots_end(r, newest);

	r->zone[newest].cond = LZ_COND_READONLY;
	r->zone[newest].wp -= LZ_ROOT_COPIES;
	KUNIT_ASSERT_EQ(test, ram_load(r, LZ_LOAD_RO), 0);
	KUNIT_EXPECT_EQ(test, r->lz->ckpt.number,
			le64_to_cpu(((struct lz_root *)ram_block(r, end - 1))->h.seq));
	ram_verify(r);
}

/* Probing says what is wrong with a superblock, and says it once. */
static void probe_refused(struct ram *r, int err, const char *what)
{
	struct lz_super_info si;
	const char *at;

	r->said[0] = 0;
	KUNIT_EXPECT_EQ(r->test, lz_probe(&r->g, &ram_ops, r, &si), err);
	at = strstr(r->said, what);
	KUNIT_EXPECT_TRUE_MSG(r->test, at, "(%s, wanted %s)", r->said, what);
	KUNIT_EXPECT_TRUE_MSG(r->test, at && !strstr(at + 1, what), "(%s)", r->said);
}

/* The same, where a number of the superblock is @value. */
static void number_refused(struct ram *r, __le32 *number, u32 value, int err, const char *what)
{
	struct lz_super *s = ram_block(r, 0);
	__le32 was = *number;

	*number = cpu_to_le32(value);
	ram_reseal(&s->h, 0);
	probe_refused(r, err, what);
	*number = was;
	ram_reseal(&s->h, 0);
}

static void super_probe_refused(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_super *s = ram_block(r, 0);
	__le64 was = s->logical_blocks;

	ram_stop(r);
	s->logical_blocks = cpu_to_le64(le64_to_cpu(s->logical_blocks) + 1);
	ram_reseal(&s->h, 0);
	probe_refused(r, -EUCLEAN, "such a drive has at most");
	s->logical_blocks = was;
	ram_reseal(&s->h, 0);
	number_refused(r, &s->gc_zones, 0, -EUCLEAN, "such a drive has at most");
	number_refused(r, &s->zone_cap, r->g.zone_cap + 1, -EINVAL, "formatted for");
	r->g.nr_zones--;
	probe_refused(r, -EINVAL, "formatted for");
	r->g.nr_zones++;
	r->zone[0].fail = 1 << LZ_OP_READ;
	r->zone[1].fail = 1 << LZ_OP_READ;
	probe_refused(r, -EIO, "root zone 0 cannot be read");
	probe_refused(r, -EIO, "no superblock can be read");
	r->zone[0].fail = 0;
	r->zone[1].fail = 0;
	ram_again(r);
}

/* Probing a device says nothing that loading it will say. */
static void super_said_once(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_super_info si;
	const char *first;

	ram_stop(r);
	((u8 *)ram_block(r, 0))[300] ^= 1;
	r->said[0] = 0;
	KUNIT_ASSERT_EQ(test, lz_probe(&r->g, &ram_ops, r, &si), 0);
	ram_again(r);
	first = strstr(r->said, "superblock");
	KUNIT_ASSERT_NOT_NULL(test, first);
	KUNIT_EXPECT_TRUE_MSG(test, !strstr(strchr(first, '\n'), "superblock"), "(%s)", r->said);
	ram_stop(r);
	((u8 *)ram_block(r, 1))[300] ^= 1;
	r->said[0] = 0;
	KUNIT_EXPECT_EQ(test, lz_probe(&r->g, &ram_ops, r, &si), -EUCLEAN);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "no superblock is whole"), "(%s)", r->said);
}

/* The drive says a root zone is open, and nothing is in it. */
static void super_empty_root_zone(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 other = r->lz->root_zone ^ 1;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10, 300), 0);
	ram_stop(r);
	KUNIT_ASSERT_EQ(test, r->zone[other].cond, LZ_COND_EMPTY);
	r->zone[other].cond = LZ_COND_OPEN;
	r->active++;
	ram_again(r);
	KUNIT_EXPECT_EQ(test, r->zone[other].cond, LZ_COND_FULL);
	ram_verify(r);
	ram_check(r);
}

/* The newest root, which ends at @end, leads there. */
static void lead(struct ram *r, u64 end, u64 ztab, u64 journal)
{
	struct lz_root *root;
	u32 i;

	for (i = 1; i <= LZ_ROOT_COPIES; i++) {
		root = ram_block(r, end - i);
		root->ztab_top[0] = cpu_to_le64(ztab);
		root->journal_addr = cpu_to_le64(journal);
		ram_reseal(&root->h, 0);
	}
}

/* A root that leads where no node can be, and no journal, and one that leads to no zone table. */
static void super_root_astray(struct kunit *test)
{
	struct ram *r = test->priv;
	/* Beyond the last zone, and in one of the roots'. */
	u64 past[] = { (u64)r->g.nr_zones * r->g.zone_blocks, 5 }, end, ztab, journal;
	u32 zone = r->lz->root_zone, i;
	struct lz_root *root;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10, 300), 0);
	ram_stop(r);
	end = roots_end(r, zone);
	root = ram_block(r, end - 1);
	ztab = le64_to_cpu(root->ztab_top[0]);
	journal = le64_to_cpu(root->journal_addr);
	for (i = 0; i < ARRAY_SIZE(past); i++) {
		lead(r, end, past[i], journal);
		KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EUCLEAN);
		KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "is past the drive"), "(%s)", r->said);
		lead(r, end, ztab, past[i]);
		KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EUCLEAN);
		KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "the journal begins at"), "(%s)",
				      r->said);
	}
	lead(r, end, LZ_NOWHERE, journal);
	KUNIT_EXPECT_EQ(test, ram_load(r, LZ_LOAD_RO), 0);
}

/* A superblock of fewer blocks than are mapped: what maps one past the device is not read. */
static void super_fewer_blocks(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 i;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10, 300), 0);
	ram_stop(r);
	for (i = 0; i < 2; i++) {
		struct lz_super *s = ram_block(r, i);

		s->logical_blocks = cpu_to_le64(100);
		ram_reseal(&s->h, 0);
	}
	KUNIT_ASSERT_EQ(test, ram_load(r, LZ_LOAD_RO), 0);
	KUNIT_EXPECT_NE(test, ram_read(r, 20), 0);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "past the device"), "(%s)", r->said);
}

/* The @which number of the newest root, which ends at @end; returns what it was. */
static u64 count_from(struct ram *r, u64 end, u32 which, u64 value)
{
	struct lz_root *root;
	u64 old = 0;
	u32 i;

	for (i = 1; i <= LZ_ROOT_COPIES; i++) {
		__le64 *number;

		root = ram_block(r, end - i);
		number = which == 0 ? &root->h.epoch : which == 1 ? &root->h.seq :
			 which == 2 ? &root->journal_seq : which == 3 ? &root->commit :
			 &root->write_seq;
		old = le64_to_cpu(*number);
		*number = cpu_to_le64(value);
		ram_reseal(&root->h, 0);
	}
	return old;
}

/* Numbers near those that no block may have: it is read, but nothing is written. */
static void super_numbers_late(struct kunit *test)
{
	static const u64 late[] = { LZ_NUMBER_LATE, LZ_NUMBER_MAX };
	struct ram *r = test->priv;
	u64 end, old;
	u32 i, k;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10, 300), 0);
	for (k = 0; k < 5; k++) {
		u32 zone = r->lz->root_zone;

		ram_stop(r);
		end = roots_end(r, zone);
		for (i = 0; i < ARRAY_SIZE(late); i++) {
			old = count_from(r, end, k, late[i]);
			KUNIT_ASSERT_EQ(test, ram_load(r, LZ_LOAD_RO), 0);
			ram_verify(r);
			lz_free_device(r->lz);
			KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EOVERFLOW);
			KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "can only be read"), "(%s)",
					      r->said);
			KUNIT_EXPECT_EQ(test, end, roots_end(r, zone));
			count_from(r, end, k, old);
		}
		ram_again(r);
		ram_verify(r);
	}
	ram_check(r);
}

/* The other root zone has the only superblock, and would be reset: it is read, but not written. */
static void super_only_in_other(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 newest = stop_past_root_zone(test) ^ 1;
	u64 end = roots_end(r, newest), first = (u64)newest * r->g.zone_blocks;
	u32 i;

	for (i = 0; i < LZ_SUPER_COPIES; i++)
		((u8 *)ram_block(r, first + i))[300] ^= 1;
	KUNIT_ASSERT_EQ(test, ram_load(r, LZ_LOAD_RO), 0);
	ram_verify(r);
	lz_free_device(r->lz);
	r->said[0] = 0;
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EUCLEAN);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "can only be read"), "(%s)", r->said);
	KUNIT_EXPECT_EQ(test, end, roots_end(r, newest));
	/* One copy is enough. */
	((u8 *)ram_block(r, first + 1))[300] ^= 1;
	ram_again(r);
	ram_verify(r);
}

static struct kunit_case super_cases[] = {
	KUNIT_CASE(super_root_rolls),
	KUNIT_CASE(super_one_root_zone),
	KUNIT_CASE(super_root_unread),
	KUNIT_CASE(super_root_unread_larger),
	KUNIT_CASE(super_open_larger),
	KUNIT_CASE(super_root_read_only),
	KUNIT_CASE(super_probe_refused),
	KUNIT_CASE(super_said_once),
	KUNIT_CASE(super_empty_root_zone),
	KUNIT_CASE(super_root_astray),
	KUNIT_CASE(super_fewer_blocks),
	KUNIT_CASE(super_numbers_late),
	KUNIT_CASE(super_only_in_other),
	{}
};

static struct kunit_suite super_suite = {
	.name = "lifezone-super",
	.init = super_init,
	.exit = super_exit,
	.test_cases = super_cases,
};

kunit_test_suite(super_suite);
