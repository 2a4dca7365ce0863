// SPDX-License-Identifier: GPL-2.0-only
/* Commits, checkpoints and what is found after a stop or a power cut. */
#include "ram.h"

static int recover_init(struct kunit *test)
{
	ram_device(test, 40, 8);
	return 0;
}

static void recover_exit(struct kunit *test)
{
	ram_free(test->priv);
}

static void recover_clean(struct kunit *test)
{
	struct ram *r = test->priv;
	const struct lz_root *root;
	struct lz_info before, after;
	u32 i;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10, 300), 0);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 50, 60), 0);
	ram_stop(r);
	ram_again(r);
	ram_verify(r);
	lz_get_info(r->lz, &before);
	KUNIT_EXPECT_EQ(test, before.mapped, 240ull);
	/* The root says so, too, for those who read nothing else. */
	root = ram_block(r, lz_zone_addr(r->lz, r->lz->root_zone, r->lz->root_off - 1));
	KUNIT_EXPECT_EQ(test, le64_to_cpu(root->mapped), 240ull);
	for (i = LZ_NR_STATS; i < LZ_ROOT_STATS; i++)
		KUNIT_EXPECT_EQ(test, root->stats[i], cpu_to_le64(0));
	ram_check(r);
	ram_stop(r);
	ram_again(r);
	lz_get_info(r->lz, &after);
	KUNIT_EXPECT_EQ(test, after.mapped, before.mapped);
	ram_verify(r);
}

/* A stop that is undone: the device goes on as if nothing had been. */
static void recover_stop_start(struct kunit *test)
{
	struct ram *r = test->priv;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10, 300), 0);
	KUNIT_ASSERT_EQ(test, lz_stop(r->lz), 0);
	lz_start(r->lz);
	ram_pump(r);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 200, 300), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_verify(r);
	ram_cut(r);
	ram_again(r);
	ram_verify(r);
}

/* What was flushed is there after a cut that loses all else. */
static void recover_flushed(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 round;

	for (round = 0; round < 5; round++) {
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10 * round, 300), 0);
		KUNIT_ASSERT_EQ(test, ram_discard(r, 150, 40), 0);
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_SHORT, 160, 5), 0);
		KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
		ram_survive(r);
	}
}

/* Ages go on: what was written since the checkpoint is younger than what was before. */
static void recover_ages(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 zone, some = 3 * r->g.zone_cap;
	u64 clock, root;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, some), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	root = atomic64_read(&r->lz->write_seq);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, some, some), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	clock = atomic64_read(&r->lz->write_seq);
	ram_cut(r);
	ram_again(r);
	KUNIT_EXPECT_EQ(test, (u64)atomic64_read(&r->lz->write_seq), clock);
	zone = lz_addr_zone(r->lz, lz_map_get(r->lz, 0));
	KUNIT_EXPECT_LE(test, r->lz->zone[zone].seq, root);
	zone = lz_addr_zone(r->lz, lz_map_get(r->lz, 2 * some - 1));
	KUNIT_EXPECT_GT(test, r->lz->zone[zone].seq, root);
}

/* What was not flushed is there as it was written, as it was before, or not at all. */
static void recover_unflushed(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 i, v, old;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 200), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	old = r->version[0];
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 100, 200), 0);
	ram_cut(r);
	ram_again(r);
	for (i = 0; i < 300; i++) {
		v = ram_read(r, i);
		if (i < 100)
			KUNIT_EXPECT_EQ(test, v, r->version[i]);
		else if (v != r->version[i])
			KUNIT_EXPECT_EQ(test, v, i < 200 ? old + i : 0);
		r->version[i] = v;
	}
	/* Once read, it stays. */
	ram_cut(r);
	ram_again(r);
	ram_verify(r);
}

static void recover_discards(struct kunit *test)
{
	struct ram *r = test->priv;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 1000), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 3, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 100, 300), 0);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 600, 32), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_cut(r);
	ram_again(r);
	ram_verify(r);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	ram_survive(r);
}

/* Lifetimes, counts and counters outlive a reload. */
static void recover_zone_facts(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_info before, after;
	u64 written;
	u8 c;

	for (c = 0; c < LZ_NR_CLASSES; c++)
		KUNIT_ASSERT_EQ(test, ram_write(r, c, c * 150, 150), 0);
	written = lz_stat(r->lz, LZ_ST_USER_WRITES);
	KUNIT_EXPECT_EQ(test, written, 150ull * LZ_NR_CLASSES);
	lz_get_info(r->lz, &before);
	ram_stop(r);
	ram_again(r);
	lz_get_info(r->lz, &after);
	for (c = 0; c < LZ_NR_CLASSES; c++)
		KUNIT_EXPECT_EQ(test, after.class_zones[c], before.class_zones[c]);
	KUNIT_EXPECT_EQ(test, after.zones[LZ_ZS_FULL] + after.zones[LZ_ZS_OPEN],
			before.zones[LZ_ZS_FULL] + before.zones[LZ_ZS_OPEN]);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_USER_WRITES), written);
}

/* What the journal has to tell of zones is told: they are after a cut as they were. */
static void recover_zone_records(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_zone *was = kunit_kcalloc(test, r->g.nr_zones, sizeof(*was), GFP_KERNEL);
	struct lz_zone *worn = NULL;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, was);
	/* The next one to be opened failed once. */
	worn = list_first_entry(&r->lz->free_list, struct lz_zone, list);
	worn->flags = LZ_ZF_WORN;
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 3 * r->g.zone_cap), 0);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_SHORT, 1000, 20), 0);
	KUNIT_ASSERT_NE(test, worn->state, LZ_ZS_FREE);
	KUNIT_ASSERT_NE(test, worn->head, LZ_NO_OFFSET);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	for (i = 0; i < r->g.nr_zones; i++)
		was[i] = r->lz->zone[i];
	ram_cut(r);
	ram_again(r);
	for (i = 2; i < r->g.nr_zones; i++) {
		const struct lz_zone *z = &r->lz->zone[i];

		if (was[i].state != LZ_ZS_OPEN && was[i].state != LZ_ZS_FULL)
			continue;
		KUNIT_EXPECT_EQ(test, z->state, was[i].state);
		KUNIT_EXPECT_EQ(test, z->class, was[i].class);
		KUNIT_EXPECT_EQ(test, z->gen, was[i].gen);
		KUNIT_EXPECT_EQ(test, z->flags, was[i].flags);
		/* To one that is open the load has written a summary. */
		if (z->state == LZ_ZS_FULL) {
			KUNIT_EXPECT_EQ(test, z->head, was[i].head);
			KUNIT_EXPECT_EQ(test, z->sum_seq, was[i].sum_seq);
		}
		KUNIT_EXPECT_EQ(test, atomic_read(&z->valid), atomic_read(&was[i].valid));
	}
	ram_verify(r);
	ram_check(r);
}

/* A zone that lost a summary the journal knows of lost more than a cut may take. */
static void recover_summary_gone(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 zone;

	/* All of a zone's data, then a summary, and room is left. */
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 20), 0);
	zone = lz_addr_zone(r->lz, lz_map_get(r->lz, 0));
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	KUNIT_ASSERT_EQ(test, r->lz->zone[zone].head, 20u);
	KUNIT_ASSERT_EQ(test, r->zone[zone].wp, 21u);
	ram_cut(r);
	r->zone[zone].wp = 20;
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EUCLEAN);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "was it reset by someone else"), "(%s)",
			      r->said);
	/* Also where the last that was written is torn: the zone is not finished over it. */
	r->zone[zone].torn = true;
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EUCLEAN);
	KUNIT_EXPECT_EQ(test, r->zone[zone].cond, LZ_COND_OPEN);
	r->zone[zone].torn = false;
	r->zone[zone].wp = 21;
	ram_again(r);

	/* And if only the journal knows. */
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 100, 30), 0);
	zone = lz_addr_zone(r->lz, lz_map_get(r->lz, 129));
	KUNIT_ASSERT_EQ(test, r->lz->zone[zone].state, LZ_ZS_OPEN);
	r->lz->zone[zone].open->force = r->lz->zone[zone].open->put;
	lz_kick(r->lz);
	ram_pump(r);
	KUNIT_ASSERT_EQ(test, r->lz->zone[zone].head + 1, r->zone[zone].wp);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_cut(r);
	r->zone[zone].wp--;
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EUCLEAN);
	r->zone[zone].wp++;
	ram_again(r);
	ram_verify(r);
	ram_check(r);
}

/* However few blocks a drive takes at once: no command is longer, and no record is lost. */
static void recover_short_commands(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 i, k, n = 3 * LZ_JOURNAL_RECORDS / 2, zone, rolls = 0;

	for (r->g.max_append = 2; r->g.max_append < 6; r->g.max_append++) {
		ram_cut(r);
		ram_again(r);
		/* The journal's zone ends in each place within a commit. */
		for (k = 0; k < 150; k++) {
			zone = r->lz->js->zone;
			for (i = 0; i < n; i++)
				KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG,
								2 * ((7 * k + i) % 1000), 1), 0);
			KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
			if (zone == r->lz->js->zone)
				continue;
			rolls++;
			ram_cut(r);
			ram_again(r);
			ram_verify(r);
		}
	}
	KUNIT_EXPECT_GT(test, rolls, 8u);
	ram_check(r);
}

/* The journal runs through many zones between checkpoints, and back. */
static void recover_long_journal(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 state = 3, i;

	for (i = 0; i < 1200; i++) {
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_MEDIUM,
						ram_random(&state, r->si.logical_blocks), 1), 0);
		KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
		if (i % 150 == 149) {
			ram_cut(r);
			ram_again(r);
			ram_verify(r);
		}
	}
	ram_check(r);
}

/* Where a later commit stands, the journal did not end: that is told. */
static void recover_journal_rot(struct kunit *test)
{
	struct ram *r = test->priv;
	u64 last;
	u32 i;

	for (i = 0; i < 5; i++) {
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10 * i, 1), 0);
		KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	}
	last = (u64)r->lz->js->zone * r->g.zone_blocks + r->lz->js->off - 1;
	ram_cut(r);
	((u8 *)ram_block(r, last - 2))[300] ^= 1;
	r->said[0] = 0;
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EUCLEAN);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "is damaged: commit"), "(%s)", r->said);
	((u8 *)ram_block(r, last - 2))[300] ^= 1;
	/* The last one may have been cut short. */
	((u8 *)ram_block(r, last))[300] ^= 1;
	ram_again(r);
	KUNIT_EXPECT_EQ(test, ram_read(r, 30), r->version[30]);
	KUNIT_EXPECT_EQ(test, ram_read(r, 40), 0u);
}

/* Where it ends, what stands behind cannot be read: nothing says that it did not end. */
static void recover_journal_unread(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 zone = r->lz->js->zone, off;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	off = r->zone[zone].wp;
	ram_cut(r);
	/* Rubbish, as a cut may leave it. */
	memset(ram_block(r, (u64)zone * r->g.zone_blocks + off), 0x5a, 2 * LZ_BLOCK_SIZE);
	r->zone[zone].wp += 2;
	r->zone[zone].fail = 1 << LZ_OP_READ;
	r->zone[zone].fail_after = 1;
	r->zone[zone].fail_times = 1;
	ram_again(r);
	KUNIT_EXPECT_EQ(test, r->zone[zone].fail, 0);
	ram_verify(r);
	ram_check(r);
}

/* Cut once the journal has gone on in another zone, for some blocks; returns which. */
static u32 cut_in_second_zone(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 first = r->lz->js->zone, zone;

	while (r->lz->js->zone == first || r->lz->js->off < 10) {
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 5, 1), 0);
		KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	}
	zone = r->lz->js->zone;
	ram_cut(r);
	return zone;
}

/* One that is offline counts as empty; what was answered may be in it all the same. */
static void recover_journal_offline(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 zone = cut_in_second_zone(test), i;

	i = r->zone[zone].wp;
	r->zone[zone].wp = 0;
	r->zone[zone].cond = LZ_COND_OFFLINE;
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EIO);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "is offline: what it says is lost"), "(%s)",
			      r->said);
	r->zone[zone].wp = i;
	r->zone[zone].cond = LZ_COND_OPEN;
	ram_again(r);
	ram_verify(r);
	ram_check(r);
}

/* Of one that is read-only the write pointer says nothing. */
static void recover_journal_read_only(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 zone = cut_in_second_zone(test);

	r->zone[zone].cond = LZ_COND_READONLY;
	r->zone[zone].wp = 0;
	ram_again(r);
	ram_verify(r);
	ram_check(r);
}

/* A commit of several blocks in one write is cut: it may keep its last and not its first. */
static void recover_journal_hole(struct kunit *test)
{
	struct ram *r = test->priv;
	const struct lz_journal *a, *b;
	u64 last;
	u32 i;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 1, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	for (i = 0; i < LZ_JOURNAL_RECORDS + 10; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 2 * i + 2, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	last = (u64)r->lz->js->zone * r->g.zone_blocks + r->lz->js->off - 1;
	ram_cut(r);
	a = ram_block(r, last - 1);
	b = ram_block(r, last);
	KUNIT_ASSERT_EQ(test, le64_to_cpu(a->first), le64_to_cpu(b->first));
	KUNIT_ASSERT_EQ(test, le32_to_cpu(a->more), 1u);
	((u8 *)ram_block(r, last - 1))[300] ^= 1;
	ram_again(r);
	KUNIT_EXPECT_EQ(test, ram_read(r, 1), r->version[1]);
	KUNIT_EXPECT_EQ(test, ram_read(r, 2), 0u);
	for (i = 0; i < LZ_JOURNAL_RECORDS + 10; i++)
		r->version[2 * i + 2] = 0;
	ram_verify(r);
}

/* More scattered updates, discards and zones than one write of the journal takes. */
static void recover_long_commit(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 i, n = r->si.logical_blocks / 2;

	for (i = 0; i < n; i++) {
		KUNIT_ASSERT_EQ(test, ram_write(r, i % LZ_NR_CLASSES, 2 * i, 1), 0);
		if (i % 100 != 99)
			continue;
		KUNIT_ASSERT_EQ(test, lz_discard(r->lz, 1, LZ_EXTENT_MIN), 0);
		memset(r->version + 1, 0, LZ_EXTENT_MIN * sizeof(*r->version));
	}
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_survive(r);
}

/* Where the buffer is full in turn: among the updates, the discards, the records of zones. */
static void recover_commit_in_pieces(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 full = LZ_LOG_BLOCKS * LZ_JOURNAL_RECORDS, less, i, n;

	full = min_t(u32, full, (r->si.logical_blocks - 8 * 40) / 2);
	for (less = 0; less < 24; less++) {
		n = full - less;
		for (i = 0; i < n; i++)
			KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 2 * i, 1), 0);
		for (i = 0; i < 8; i++)
			KUNIT_ASSERT_EQ(test, ram_discard(r, 2 * full + 40 * i, LZ_EXTENT_MIN), 0);
		for (i = 0; i < 8; i++)
			lz_zrec_add(r->lz, LZ_JR_ZBAD, r->g.nr_zones - 1, 0, 0);
		KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
		ram_cut(r);
		ram_again(r);
		ram_verify(r);
	}
	ram_check(r);
}

/* At random: every flush holds over every cut. */
static void recover_random(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 state = 7, i, n, lba;

	for (i = 0; i < 800; i++) {
		n = 1 + ram_random(&state, 40);
		lba = ram_random(&state, r->si.logical_blocks - n);
		switch (ram_random(&state, 20)) {
		case 0:
			KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
			break;
		case 1:
			KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
			ram_cut(r);
			ram_again(r);
			break;
		case 2:
			ram_stop(r);
			ram_again(r);
			break;
		case 3:
			ram_elapse(r, 1500);
			break;
		case 4:
		case 5:
			KUNIT_ASSERT_EQ(test, ram_discard(r, lba, n), 0);
			break;
		default:
			KUNIT_ASSERT_EQ(test, ram_write(r, ram_random(&state, LZ_NR_CLASSES),
							lba, n), 0);
		}
		if (i % 100 == 99)
			ram_verify(r);
	}
	ram_verify(r);
	ram_check(r);
}

/* One that was set aside and is empty is reset, and only its failure is remembered. */
static void recover_bad_emptied(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_write w;
	struct lz_read rd;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 20), 0);
	KUNIT_ASSERT_EQ(test, lz_write_begin(r->lz, LZ_CLASS_LONG, 0, 1, &w), 0);
	/* Held by a reader, so that it is neither cleaned nor reset before the cut. */
	KUNIT_ASSERT_EQ(test, lz_read_begin(r->lz, 0, 1, &rd), 0);
	KUNIT_ASSERT_EQ(test, lz_addr_zone(r->lz, rd.addr), w.zone);
	r->hold = true;
	lz_write_fail(r->lz, &w, -EIO);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 0, 20), 0);
	r->hold = false;
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	KUNIT_ASSERT_EQ(test, r->lz->zone[w.zone].state, LZ_ZS_BAD);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	ram_cut(r);
	ram_again(r);
	KUNIT_EXPECT_EQ(test, r->lz->zone[w.zone].state, LZ_ZS_FREE);
	KUNIT_EXPECT_EQ(test, r->lz->zone[w.zone].flags, LZ_ZF_WORN);
	ram_verify(r);
	ram_check(r);
}

/* A read-only load writes nothing, and refuses to. */
static void recover_read_only(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_write w;
	u64 writes;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 300), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_cut(r);
	writes = r->nr_ops[LZ_OP_WRITE] + r->nr_ops[LZ_OP_APPEND] + r->nr_ops[LZ_OP_RESET] +
		r->nr_ops[LZ_OP_FINISH];
	KUNIT_ASSERT_EQ(test, ram_load(r, LZ_LOAD_RO), 0);
	ram_verify(r);
	KUNIT_EXPECT_EQ(test, lz_write_begin(r->lz, LZ_CLASS_LONG, 0, 1, &w), -EROFS);
	KUNIT_EXPECT_EQ(test, lz_discard(r->lz, 0, 1), -EROFS);
	KUNIT_EXPECT_EQ(test, r->nr_ops[LZ_OP_WRITE] + r->nr_ops[LZ_OP_APPEND] +
			r->nr_ops[LZ_OP_RESET] + r->nr_ops[LZ_OP_FINISH], writes);
}

/*
 * The journal may tell of a zone's life with data that was over before the same
 * checkpoint wrote nodes there.
 */
static void recover_zone_now_log(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_want w = { .type = LZ_BT_JOURNAL };
	struct lz_journal *j;
	u32 n, zone;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 300), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	zone = r->lz->ns->zone;
	KUNIT_ASSERT_GT(test, r->lz->zone[zone].live, 0u);
	/* In another leaf: those in that zone are not in RAM then. */
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 2 * LZ_NODE_ENTRIES, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	w.addr = lz_zone_addr(r->lz, r->lz->js->zone, r->lz->js->off - 1);
	ram_cut(r);
	j = ram_block(r, w.addr);
	w.uuid = j->h.uuid;
	w.epoch = le64_to_cpu(j->h.epoch);
	w.seq = le64_to_cpu(j->h.seq);
	w.index = le64_to_cpu(j->h.index);
	n = le32_to_cpu(j->h.count);
	lz_jrec_pack(&j->r[n], LZ_JR_ZOPEN, zone, LZ_CLASS_LONG, 1);
	lz_seal(j, &w, n + 1);
	ram_again(r);
	ram_verify(r);
	ram_check(r);
	ram_cut(r);
	ram_again(r);
	ram_verify(r);
}

/* What a leaf of the zone table does not count it has not been asked about. */
static void recover_short_zone_table(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_want w = { .type = LZ_BT_ZNODE };
	struct lz_znode *b;

	w.addr = r->lz->ztab.addr[0][0];
	ram_stop(r);
	b = ram_block(r, w.addr);
	w.uuid = b->h.uuid;
	w.epoch = le64_to_cpu(b->h.epoch);
	w.seq = le64_to_cpu(b->h.seq);
	b->e[7].state = 200;
	lz_seal(b, &w, 7);
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EUCLEAN);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "7 entries"), "(%s)", r->said);
}

/*
 * A damaged leaf of the map: whatever the journal says of its blocks, the others can
 * be read. To go on writing would lose what it maps.
 */
static void recover_lost_leaf(struct kunit *test)
{
	struct ram *r = test->priv;
	u64 leaf, lba = 2 * LZ_NODE_ENTRIES;
	u32 i;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 3 * LZ_NODE_ENTRIES), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	leaf = r->lz->map.addr[0][2];
	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, lba + i, 1), 0);
		KUNIT_ASSERT_EQ(test, ram_discard(r, lba + 100, 40), 0);
		KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	}
	ram_cut(r);
	((u8 *)ram_block(r, leaf))[300] ^= 1;
	KUNIT_EXPECT_NE(test, ram_load(r, 0), 0);
	KUNIT_ASSERT_EQ(test, ram_load(r, LZ_LOAD_RO), 0);
	for (i = 0; i < lba + 3; i++)
		KUNIT_EXPECT_EQ(test, ram_read(r, i), r->version[i]);
	KUNIT_EXPECT_EQ(test, ram_read(r, lba + 3), ~0u);
	KUNIT_EXPECT_EQ(test, ram_read(r, lba + 120), 0u);
	((u8 *)ram_block(r, leaf))[300] ^= 1;
	ram_survive(r);
}

/*
 * A leaf that cannot be read for a moment: what the journal replaces in it would stay counted,
 * or worse, be counted off only once its zone is in use again. So it is all or nothing.
 */
static void recover_leaf_unread(struct kunit *test)
{
	struct ram *r = test->priv;
	u64 leaf;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 30), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	leaf = r->lz->map.addr[0][0];
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10, 10), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_cut(r);
	r->bad = leaf;
	r->bad_times = LZ_READ_TRIES;
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EIO);
	KUNIT_EXPECT_EQ(test, r->bad, 0ull);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "map leaf 0"), "(%s)", r->said);
	ram_again(r);
	ram_verify(r);
	ram_check(r);
}

/* The zone of the newest leaf is shorter than it was: so may the journal be. */
static void recover_log_zone_short(struct kunit *test)
{
	struct ram *r = test->priv;
	struct ram_zone *z;
	u32 off, wp;
	u64 leaf;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 30), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10, 30), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	leaf = r->lz->map.addr[0][0];
	off = lz_addr_off(r->lz, leaf);
	z = &r->zone[lz_addr_zone(r->lz, leaf)];
	ram_cut(r);
	wp = z->wp;
	z->wp = off;
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EUCLEAN);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "was it reset by someone else"), "(%s)",
			      r->said);
	KUNIT_EXPECT_EQ(test, ram_load(r, LZ_LOAD_RO), -EUCLEAN);
	z->wp = wp;
	ram_survive(r);
}

/* A cut with so many zones open; their numbers go to @open. Fewer may be from now on. */
static u32 cut_open(struct ram *r, u32 *open)
{
	struct kunit *test = r->test;
	struct lz_info info;
	u32 n = 0, i;

	r->o.policy = LZ_POLICY_SLA;
	ram_stop(r);
	ram_again(r);
	for (i = 0; i < LZ_NR_CLASSES; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, i, 20 * i, 20), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	lz_get_info(r->lz, &info);
	for (i = 0; i < LZ_NR_CLASSES; i++) {
		if (info.class_open[i] != ~0u && (!n || open[n - 1] != info.class_open[i]))
			open[n++] = info.class_open[i];
	}
	KUNIT_ASSERT_GT(test, n, 3u);
	ram_cut(r);
	r->o.max_open = 4;
	return n;
}

/* One zone too many is open, and cannot be finished. */
static void recover_finish_error(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 open[LZ_NR_CLASSES], n = cut_open(r, open), i, failed = 0;

	for (i = 0; i < n; i++)
		r->zone[open[i]].fail = 1 << LZ_OP_FINISH;
	ram_again(r);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "cannot be finished"), "(%s)", r->said);
	/* It is set aside, or has been cleaned and reset since. */
	for (i = 0; i < n; i++) {
		const struct lz_zone *z = &r->lz->zone[open[i]];

		failed += (z->flags & (LZ_ZF_BAD | LZ_ZF_WORN)) != 0;
		KUNIT_EXPECT_EQ(test, z->flags & (LZ_ZF_BAD | LZ_ZF_WORN) ? 0 : z->state,
				z->flags & (LZ_ZF_BAD | LZ_ZF_WORN) ? 0 : LZ_ZS_OPEN);
	}
	KUNIT_EXPECT_GT(test, failed, 0u);
	ram_verify(r);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_check(r);
}

/* It can, at the third attempt: it must not be taken for one that is read-only. */
static void recover_finish_hiccup(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 open[LZ_NR_CLASSES], n = cut_open(r, open), i;

	for (i = 0; i < n; i++) {
		r->zone[open[i]].fail = 1 << LZ_OP_FINISH;
		r->zone[open[i]].fail_times = LZ_FINISH_TRIES - 1;
	}
	ram_again(r);
	KUNIT_EXPECT_TRUE_MSG(test, !strstr(r->said, "cannot be finished"), "(%s)", r->said);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, r->lz->zone[open[i]].flags & LZ_ZF_BAD, 0);
	ram_verify(r);
	ram_check(r);
}

/* Metadata that cannot be written ends the device, and says so to all who wait. */
static void recover_journal_error(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_info info;
	struct lz_write w;
	u32 i;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 100), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 50, 100), 0);
	for (i = 0; i < r->g.nr_zones; i++)
		r->zone[i].fail = 1 << LZ_OP_WRITE;
	KUNIT_EXPECT_NE(test, ram_flush(r), 0);
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_EQ(test, info.mode, LZ_MODE_FAIL);
	KUNIT_EXPECT_EQ(test, r->nr_events[LZ_EV_MODE], 1u);
	KUNIT_EXPECT_EQ(test, lz_write_begin(r->lz, LZ_CLASS_LONG, 0, 1, &w), -EIO);
	KUNIT_EXPECT_EQ(test, lz_discard(r->lz, 0, 1), -EIO);
	KUNIT_EXPECT_NE(test, ram_flush(r), 0);

	/* With the drive whole again, what had been flushed is there. */
	for (i = 0; i < r->g.nr_zones; i++)
		r->zone[i].fail = 0;
	ram_cut(r);
	ram_again(r);
	for (i = 0; i < 50; i++)
		KUNIT_EXPECT_EQ(test, ram_read(r, i), r->version[i]);
	ram_check(r);
}

/* The host's clock alone brings writes into the journal. */
static void recover_timer(struct kunit *test)
{
	struct ram *r = test->priv;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 100), 0);
	ram_elapse(r, LZ_COMMIT_MS_DEFAULT + 10);
	ram_cut(r);
	ram_again(r);
	ram_verify(r);
	/* However little it is. */
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 7, 1), 0);
	ram_elapse(r, LZ_COMMIT_MS_DEFAULT + 10);
	ram_cut(r);
	ram_again(r);
	ram_verify(r);
}

static void recover_live_options(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_options o;
	char why[160];

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 100), 0);
	lz_get_options(r->lz, &o);
	KUNIT_ASSERT_EQ(test, lz_option_set(&o, "policy", "sla", true, why, sizeof(why)), 0);
	KUNIT_ASSERT_EQ(test, lz_option_set(&o, "gc_isolation", "initial", true, why,
					    sizeof(why)), 0);
	o.max_open = 99;
	lz_set_options(r->lz, &o);
	lz_get_options(r->lz, &o);
	KUNIT_EXPECT_EQ(test, o.policy, LZ_POLICY_SLA);
	KUNIT_EXPECT_EQ(test, o.isolation, LZ_ISOLATION_INITIAL);
	KUNIT_EXPECT_EQ(test, o.max_open, 0u);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 50, 100), 0);
	ram_verify(r);
}

/* A zone is free, and so is what is found in it. */
static u32 free_zone(struct ram *r)
{
	u32 zone = r->g.nr_zones - 1;

	while (r->lz->zone[zone].state != LZ_ZS_FREE)
		zone--;
	return zone;
}

static void fill_zone(struct ram *r, u32 zone)
{
	r->zone[zone].wp = r->g.zone_cap;
	r->zone[zone].durable = r->g.zone_cap;
	r->zone[zone].cond = LZ_COND_FULL;
}

/* What nobody knows is reset, some at once and the others while users are served. */
static void recover_stale_zones(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_info before, after;
	bool stale[64] = {};
	u32 n = 0, i, zone;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10, 300), 0);
	lz_get_info(r->lz, &before);
	zone = free_zone(r);
	for (i = 2; i < r->g.nr_zones; i++)
		stale[i] = r->lz->zone[i].state == LZ_ZS_FREE;
	ram_stop(r);
	for (i = 2; i < r->g.nr_zones; i++) {
		if (!stale[i])
			continue;
		fill_zone(r, i);
		n++;
	}
	KUNIT_ASSERT_GT(test, n, r->si.meta_zones + LZ_RESETS_MAX);
	/* The last one cannot be reset. */
	r->zone[zone].fail = 1 << LZ_OP_RESET;
	ram_again(r);
	ram_elapse(r, 100);
	KUNIT_EXPECT_EQ(test, r->lz->nr_unready, 0u);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_RESETS_STALE), (u64)n - 1);
	for (i = 2; i < r->g.nr_zones; i++)
		if (stale[i] && i != zone && r->lz->zone[i].state == LZ_ZS_FREE)
			KUNIT_EXPECT_EQ(test, r->zone[i].cond, LZ_COND_EMPTY);
	KUNIT_EXPECT_EQ(test, r->lz->zone[zone].state, LZ_ZS_BAD);
	KUNIT_EXPECT_EQ(test, r->nr_events[LZ_EV_ZONE_ASIDE], 1u);
	lz_get_info(r->lz, &after);
	KUNIT_EXPECT_EQ(test, after.free_zones, before.free_zones - 1);
	ram_verify(r);
	ram_check(r);
}

/* Of a zone that was reset the report says so: it is not to be finished. */
static void recover_reset_reported(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_zone_report *z;
	u32 zone = free_zone(r);

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10, 300), 0);
	ram_stop(r);
	fill_zone(r, zone);
	r->zone[zone].wp = 4;
	r->zone[zone].durable = 4;
	r->zone[zone].cond = LZ_COND_OPEN;
	z = kunit_kcalloc(test, r->g.nr_zones, sizeof(*z), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, z);
	ram_report(r, z);
	r->lz = lz_new(&r->g, &r->o, r->ops, r);
	KUNIT_ASSERT_NOT_NULL(test, r->lz);
	KUNIT_ASSERT_EQ(test, lz_load(r->lz, z, 0), 0);
	KUNIT_EXPECT_EQ(test, r->zone[zone].cond, LZ_COND_EMPTY);
	KUNIT_EXPECT_EQ(test, z[zone].cond, LZ_COND_EMPTY);
	KUNIT_EXPECT_EQ(test, z[zone].wp, 0u);
	ram_pump(r);
	ram_verify(r);
	ram_check(r);
}

/* A table that can never write counts no zone that would be reset first, and needs none. */
static void recover_read_only_space(struct kunit *test)
{
	struct ram *r = test->priv;
	struct lz_info info;
	u32 i;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10, 300), 0);
	ram_stop(r);
	for (i = 2; i < r->g.nr_zones; i++)
		if (r->zone[i].cond == LZ_COND_EMPTY)
			fill_zone(r, i);
	r->nr_events[LZ_EV_LOW_SPACE] = 0;
	KUNIT_ASSERT_EQ(test, ram_load(r, LZ_LOAD_RO), 0);
	ram_elapse(r, 100);
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_EQ(test, info.free_zones, 0u);
	KUNIT_EXPECT_EQ(test, r->nr_events[LZ_EV_LOW_SPACE], 0u);
	ram_verify(r);
	ram_stop(r);
	ram_again(r);
	ram_elapse(r, 100);
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_GE(test, info.free_zones, info.low_water);
}

/* What is read only is set aside while it is empty, open or not, and is not used. */
static void recover_read_only_zones(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 zone = free_zone(r), i;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10, 300), 0);
	ram_stop(r);
	r->zone[zone].cond = LZ_COND_READONLY;
	ram_again(r);
	KUNIT_EXPECT_EQ(test, r->lz->zone[zone].state, LZ_ZS_BAD);
	for (i = 0; i < 3000; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, i % 500, 1), 0);
	ram_verify(r);
	ram_check(r);
}

/* With no zone to go on in there is no journal, and so no device. */
static void recover_no_zone_for_journal(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 i;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10, 300), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	fill_zone(r, r->lz->js->zone);
	for (i = 2; i < r->g.nr_zones; i++)
		if (r->lz->zone[i].state == LZ_ZS_FREE)
			r->zone[i].cond = LZ_COND_READONLY;
	ram_cut(r);
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -ENOSPC);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "no free zone for the journal"), "(%s)",
			      r->said);
}

/* Where the log was it cannot go on, and one zone is left. */
static void one_zone_left(struct ram *r)
{
	u32 left = free_zone(r), i;

	fill_zone(r, r->lz->js->zone);
	fill_zone(r, r->lz->ns->zone);
	for (i = 2; i < r->g.nr_zones; i++)
		if (i != left && r->lz->zone[i].state == LZ_ZS_FREE)
			r->zone[i].cond = LZ_COND_READONLY;
	ram_cut(r);
}

/* It will do for journal and nodes. */
static void recover_one_zone_for_log(struct kunit *test)
{
	struct ram *r = test->priv;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10, 300), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	one_zone_left(r);
	ram_again(r);
	KUNIT_EXPECT_TRUE(test, r->lz->ns != r->lz->js);
	ram_verify(r);
	ram_check(r);
}

/* It is too small for all that the first checkpoint writes. */
static void recover_no_zone_for_nodes(struct kunit *test)
{
	struct ram *r;

	ram_free(test->priv);
	r = ram_sized(test, 1000, 8, 8, 8);
	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	ram_again(r);
	one_zone_left(r);
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -ENOSPC);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(r->said, "no room to write a checkpoint"), "(%s)",
			      r->said);
}

/* The log does not go on in a zone that is marked as bad. */
static void recover_bad_log_zone(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 zone = r->lz->js->zone;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10, 300), 0);
	r->lz->zone[zone].flags |= LZ_ZF_BAD;
	lz_zone_touch(r->lz, &r->lz->zone[zone]);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 20, 10), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	KUNIT_ASSERT_EQ(test, r->lz->js->zone, zone);
	ram_cut(r);
	ram_again(r);
	KUNIT_EXPECT_NE(test, r->lz->js->zone, zone);
	ram_verify(r);
	ram_check(r);
}

/* A smaller budget than there are open zones: those too many are finished. */
static void recover_smaller_budget(struct kunit *test)
{
	struct ram *r = test->priv;
	u32 open = 0, i;
	u8 c;

	for (c = 0; c < LZ_NR_CLASSES; c++)
		KUNIT_ASSERT_EQ(test, ram_write(r, c, 10 * c, 10), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	for (i = 2; i < r->g.nr_zones; i++) {
		if (r->lz->zone[i].state != LZ_ZS_OPEN)
			continue;
		/* One of them cannot be. */
		if (open == 3)
			r->zone[i].fail = 1 << LZ_OP_FINISH;
		open++;
	}
	KUNIT_ASSERT_GT(test, open, 3u);
	ram_cut(r);
	r->o.max_open = 4;
	ram_again(r);
	KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_FINISHES_LOAD), 0ull);
	for (i = 2, open = 0; i < r->g.nr_zones; i++)
		open += r->lz->zone[i].state == LZ_ZS_OPEN;
	KUNIT_EXPECT_LE(test, open, 2u);
	ram_verify(r);
	for (i = 0; i < 200; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, i % LZ_NR_CLASSES, i, 1), 0);
	ram_verify(r);
	ram_check(r);
}

/* A drive that cannot be flushed is not written to. */
static void recover_flush_error(struct kunit *test)
{
	struct ram *r = test->priv;
	u64 written;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 10, 300), 0);
	ram_stop(r);
	r->fail_flush = true;
	written = r->nr_ops[LZ_OP_WRITE] + r->nr_ops[LZ_OP_RESET];
	KUNIT_EXPECT_EQ(test, ram_load(r, 0), -EIO);
	KUNIT_EXPECT_EQ(test, r->nr_ops[LZ_OP_WRITE] + r->nr_ops[LZ_OP_RESET], written);
	KUNIT_EXPECT_EQ(test, ram_load(r, LZ_LOAD_RO), 0);
	ram_verify(r);
	ram_cut(r);
	r->fail_flush = false;
	ram_again(r);
	ram_verify(r);
}

static struct kunit_case recover_cases[] = {
	KUNIT_CASE(recover_clean),
	KUNIT_CASE(recover_stop_start),
	KUNIT_CASE(recover_flushed),
	KUNIT_CASE(recover_ages),
	KUNIT_CASE(recover_unflushed),
	KUNIT_CASE(recover_discards),
	KUNIT_CASE(recover_zone_facts),
	KUNIT_CASE(recover_zone_records),
	KUNIT_CASE(recover_summary_gone),
	KUNIT_CASE(recover_short_commands),
	KUNIT_CASE(recover_long_journal),
	KUNIT_CASE(recover_journal_rot),
	KUNIT_CASE(recover_journal_unread),
	KUNIT_CASE(recover_journal_offline),
	KUNIT_CASE(recover_journal_read_only),
	KUNIT_CASE(recover_journal_hole),
	KUNIT_CASE(recover_long_commit),
	KUNIT_CASE(recover_commit_in_pieces),
	KUNIT_CASE(recover_random),
	KUNIT_CASE(recover_bad_emptied),
	KUNIT_CASE(recover_read_only),
	KUNIT_CASE(recover_zone_now_log),
	KUNIT_CASE(recover_short_zone_table),
	KUNIT_CASE(recover_lost_leaf),
	KUNIT_CASE(recover_leaf_unread),
	KUNIT_CASE(recover_log_zone_short),
	KUNIT_CASE(recover_finish_error),
	KUNIT_CASE(recover_finish_hiccup),
	KUNIT_CASE(recover_journal_error),
	KUNIT_CASE(recover_timer),
	KUNIT_CASE(recover_live_options),
	KUNIT_CASE(recover_stale_zones),
	KUNIT_CASE(recover_reset_reported),
	KUNIT_CASE(recover_read_only_space),
	KUNIT_CASE(recover_read_only_zones),
	KUNIT_CASE(recover_no_zone_for_journal),
	KUNIT_CASE(recover_one_zone_for_log),
	KUNIT_CASE(recover_no_zone_for_nodes),
	KUNIT_CASE(recover_bad_log_zone),
	KUNIT_CASE(recover_smaller_budget),
	KUNIT_CASE(recover_flush_error),
	{}
};

static struct kunit_suite recover_suite = {
	.name = "lifezone-recover",
	.init = recover_init,
	.exit = recover_exit,
	.test_cases = recover_cases,
};

kunit_test_suite(recover_suite);
