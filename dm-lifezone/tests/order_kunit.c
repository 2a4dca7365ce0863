// SPDX-License-Identifier: GPL-2.0-only
/* What has no hint: by order or by rate. */
#include "../core/life.h"
#include "ram.h"

#define BLOCKS	10000u
#define PERIOD	(BLOCKS / LZ_ORDER_SAMPLES)	/* blocks from sample to sample */
#define FILE	50u				/* blocks */
#define FILES	(BLOCKS / FILE)
#define LONG	370u				/* files written until a file goes */
#define BRIEF	20u
#define BATCH	10u				/* files of one kind written in a row */

static struct lz_life *life(struct kunit *test)
{
	struct lz_life *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);

	KUNIT_ASSERT_EQ(test, lz_life_init(l, BLOCKS, BLOCKS / 64), 0);
	lz_life_regroup(l, 64, 14);
	KUNIT_ASSERT_EQ(test, l->groups, 8u);
	test->priv = l;
	return l;
}

static void order_exit(struct kunit *test)
{
	if (test->priv)
		lz_life_exit(test->priv);
}

static void write(struct lz_life *l, u64 lba, u32 n, u8 class)
{
	if (lz_life_write(l, lba, n, class))
		lz_life_measure(l);
}

/*
 * A file system that writes in a log, and never discards: a file goes wherever one was that is
 * gone. Ten files that live long follow ten that do not.
 */
struct log {
	u32 dies[FILES];	/* number of the file whose write ends that of this place */
	u32 room[FILES];
	u32 free;		/* of these */
	u32 written;
	u32 state;
};

static struct log *log_new(struct kunit *test)
{
	struct log *g = kunit_kzalloc(test, sizeof(*g), GFP_KERNEL);
	u32 i;

	for (i = 0; i < FILES; i++) {
		g->room[i] = i;
		g->dies[i] = ~0u;
	}
	g->free = FILES;
	return g;
}

static void log_write(struct kunit *test, struct lz_life *l, struct log *g, u32 files)
{
	u32 i, at;

	while (files--) {
		for (i = 0; i < FILES; i++) {
			if (g->dies[i] != g->written)
				continue;
			g->dies[i] = ~0u;
			g->room[g->free++] = i;
		}
		KUNIT_ASSERT_GT(test, g->free, 0u);
		i = ram_random(&g->state, g->free);
		at = g->room[i];
		g->room[i] = g->room[--g->free];
		g->dies[at] = g->written + (g->written / BATCH % 2 ? BRIEF : LONG);
		g->written++;
		write(l, (u64)at * FILE, FILE, LZ_CLASS_NOT_SET);
	}
}

/* Of ten writes nine go to a twentieth of the blocks. */
static void hot(struct lz_life *l, u32 *state, u32 writes)
{
	while (writes--)
		write(l, ram_random(state, 10) ? ram_random(state, BLOCKS / 20) :
		      ram_random(state, BLOCKS), 1, LZ_CLASS_NOT_SET);
}

/* Of ten writes eight go to a fifth of the blocks; the number of groups is told each time. */
static void warm(struct lz_life *l, u32 *state, u32 writes)
{
	while (writes--) {
		write(l, ram_random(state, 10) < 8 ? ram_random(state, BLOCKS / 5) :
		      BLOCKS / 5 + ram_random(state, BLOCKS * 4 / 5), 1, LZ_CLASS_NOT_SET);
		lz_life_regroup(l, 64, 14);
	}
}

/* A log goes as it was written; rates are worth more again as soon as they are. */
static void order_of_log(struct kunit *test)
{
	struct lz_life *l = life(test);
	struct log *g = log_new(test);
	u32 state = 1;

	KUNIT_EXPECT_EQ(test, lz_life_class(l, 0, 1, LZ_CLASS_NOT_SET), LZ_CLASS_NOT_SET);
	write(l, 0, 1, LZ_CLASS_NOT_SET);
	KUNIT_EXPECT_GE(test, lz_life_class(l, 0, 1, LZ_CLASS_NOT_SET), LZ_CLASS_GROUP);
	log_write(test, l, g, 10 * FILES);
	KUNIT_EXPECT_TRUE(test, l->order.wins);
	KUNIT_EXPECT_EQ(test, lz_life_class(l, 0, 1, LZ_CLASS_NOT_SET), LZ_CLASS_NOT_SET);
	/* What a file system marks as its own is not of the log, and hints are hints. */
	KUNIT_EXPECT_GE(test, lz_life_class(l, 0, 1, LZ_CLASS_NONE), LZ_CLASS_GROUP);
	KUNIT_EXPECT_GE(test, lz_life_class(l, 0, 1, LZ_CLASS_META), LZ_CLASS_GROUP);
	KUNIT_EXPECT_EQ(test, lz_life_class(l, 0, 1, LZ_CLASS_LONG), LZ_CLASS_LONG);
	lz_life_regroup(l, 64, 14);
	KUNIT_EXPECT_EQ(test, l->groups, 2u);
	warm(l, &state, 16 * BLOCKS);
	KUNIT_EXPECT_FALSE(test, l->order.wins);
	log_write(test, l, g, 10 * FILES);
	KUNIT_EXPECT_TRUE(test, l->order.wins);
	lz_life_regroup(l, 64, 14);
	hot(l, &state, 4 * BLOCKS);
	KUNIT_EXPECT_FALSE(test, l->order.wins);
	KUNIT_EXPECT_GE(test, lz_life_class(l, 0, 1, LZ_CLASS_NOT_SET), LZ_CLASS_GROUP);
	lz_life_regroup(l, 64, 14);
	KUNIT_EXPECT_EQ(test, l->groups, 8u);
}

/* Nor is it where rates are all there is, or nothing is. */
static void order_of_rates(struct kunit *test)
{
	struct lz_life *l = life(test);
	u32 state = 2, i;

	for (i = 0; i < BLOCKS; i += 10)
		write(l, i, 10, LZ_CLASS_NOT_SET);
	for (i = 0; i < 10; i++) {
		hot(l, &state, BLOCKS);
		KUNIT_ASSERT_FALSE(test, l->order.wins);
	}
	for (i = 0; i < 10 * BLOCKS; i++) {
		write(l, ram_random(&state, BLOCKS), 1, LZ_CLASS_NOT_SET);
		KUNIT_ASSERT_FALSE(test, l->order.wins);
	}
}

/* Samples are of what has no hint, and evenly spread over that. */
static void order_samples(struct kunit *test)
{
	struct lz_life *l = life(test);
	struct lz_order *o = &l->order;
	u32 i;

	for (i = 0; i < BLOCKS; i++)
		write(l, i, 1, i % LZ_NR_CLASSES);
	KUNIT_EXPECT_EQ(test, o->taken, (u64)DIV_ROUND_UP(BLOCKS, LZ_NR_CLASSES) / PERIOD);
	for (i = 1; i <= o->taken; i++)
		KUNIT_ASSERT_EQ(test, o->sample[i].lba, (u64)(i * PERIOD - 1) * LZ_NR_CLASSES);
	/* All of them were not in use. */
	for (i = 0; i < LZ_NR_GROUPS; i++)
		KUNIT_ASSERT_EQ(test, o->last[i], 0ull);
	KUNIT_EXPECT_EQ(test, o->last[LZ_ORDER_NEW], o->taken);
	/* A long write is one sample, its first block. */
	write(l, 100, 50 * PERIOD, LZ_CLASS_NOT_SET);
	KUNIT_EXPECT_EQ(test, o->sample[o->taken].lba, 100ull);
	KUNIT_EXPECT_EQ(test, o->sample[o->taken - 1].lba,
			(u64)((o->taken - 1) * PERIOD - 1) * LZ_NR_CLASSES);
	KUNIT_EXPECT_LT(test, o->last[LZ_ORDER_NEW], o->taken);
}

/* What a sample is compared with, and what counts. */
static void order_pairs(struct kunit *test)
{
	struct lz_life *l = life(test);
	struct lz_order *o = &l->order;
	u32 i;

	/* Groups in turns: blocks 0 to 9, of which the odd ones go. */
	for (i = 0; i < 10; i++) {
		write(l, i, 1, LZ_CLASS_SHORT);
		lz_order_take(o, i, l->mark[i], i % 2);
	}
	lz_order_judge(o, l);
	/* The first of each group has no other, and so is none of eight. */
	KUNIT_EXPECT_EQ(test, o->pairs, 8ull);
	KUNIT_EXPECT_EQ(test, o->apart[0], 0ull);
	KUNIT_EXPECT_EQ(test, o->apart[1], 0ull);
	for (i = 1; i < 10; i += 2)
		lz_life_discard(l, i, 1);
	lz_order_judge(o, l);
	KUNIT_EXPECT_EQ(test, o->pairs, 16ull);
	KUNIT_EXPECT_EQ(test, o->apart[0], 8ull);
	KUNIT_EXPECT_EQ(test, o->apart[1], 0ull);
	KUNIT_EXPECT_FALSE(test, o->wins);
	/* Gone is gone, whatever is written there later. */
	for (i = 1; i < 10; i += 2)
		write(l, i, 1, LZ_CLASS_SHORT);
	lz_order_judge(o, l);
	KUNIT_EXPECT_EQ(test, o->apart[0], 16ull);
	KUNIT_EXPECT_EQ(test, o->apart[1], 0ull);

	/* As many samples as are kept, and none is compared with one that is there no more. */
	for (i = 0; i < 3 * LZ_ORDER_SAMPLES; i++)
		lz_order_take(o, 20, l->mark[20], i == LZ_ORDER_SAMPLES ? 2 : 3);
	lz_order_take(o, 20, l->mark[20], 2);
	o->pairs = 0;
	lz_order_judge(o, l);
	KUNIT_EXPECT_EQ(test, o->pairs, LZ_ORDER_SAMPLES - 3ull);
	/* Nor one that was when it was taken. */
	for (i = 0; i < LZ_ORDER_SAMPLES - 10; i++)
		lz_order_take(o, 20, l->mark[20], 3);
	lz_order_take(o, 20, l->mark[20], 2);
	o->pairs = 0;
	lz_order_judge(o, l);
	KUNIT_EXPECT_EQ(test, o->pairs, LZ_ORDER_SAMPLES - 3ull);
	for (i = 0; i < 10; i++)
		lz_order_take(o, 20, l->mark[20], 3);
	o->pairs = 0;
	lz_order_judge(o, l);
	KUNIT_EXPECT_EQ(test, o->pairs, LZ_ORDER_SAMPLES - 3ull);
}

/* What @n is left of once a 32nd of it has faded. */
static u64 unfaded(u64 n)
{
	u64 was = n * 32 / 31;

	return was + (was - was / 32 < n);
}

/* A 20th fewer, and it wins, a 20th more, and it does no longer; few pairs decide nothing. */
static void order_margin(struct kunit *test)
{
	static const struct {
		u64 pairs, by_order, by_group;
		bool wins[2];	/* if it did not before, if it did */
	} m[] = {
		{ 0, 0, 0, { false, false } },
		{ 10000, 1000, 1000, { false, true } },
		{ 10000, 1059, 1000, { false, true } },
		{ 10000, 1060, 1000, { false, false } },
		{ 10000, 940, 1000, { false, true } },
		{ 10000, 939, 1000, { true, true } },
		{ 10000, 0, 10, { false, true } },
		{ 10000, 0, 11, { true, true } },
	};
	struct lz_life *l = life(test);
	struct lz_order *o = &l->order;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(m); i++) {
		for (j = 0; j < 2; j++) {
			o->pairs = unfaded(m[i].pairs);
			o->apart[0] = unfaded(m[i].by_order);
			o->apart[1] = unfaded(m[i].by_group);
			o->wins = j;
			lz_order_judge(o, l);
			KUNIT_EXPECT_EQ(test, o->apart[0], m[i].by_order);
			KUNIT_EXPECT_EQ(test, o->apart[1], m[i].by_group);
			KUNIT_EXPECT_EQ(test, o->wins, m[i].wins[j]);
		}
	}
}

/* To keep a mark in sight is no write. */
static void order_long_ago(struct kunit *test)
{
	struct lz_life *l = life(test);
	u32 i;
	u16 mark;

	write(l, 0, 1, LZ_CLASS_NOT_SET);
	mark = l->mark[0];
	KUNIT_EXPECT_FALSE(test, lz_life_gone(l, 0, mark));
	for (i = 0; i < 40 * BLOCKS; i += 10)
		write(l, 10 + i % (BLOCKS - 10), 10, LZ_CLASS_NOT_SET);
	KUNIT_EXPECT_NE(test, l->mark[0], mark);
	KUNIT_EXPECT_FALSE(test, lz_life_gone(l, 0, mark));
	write(l, 0, 1, LZ_CLASS_NOT_SET);
	KUNIT_EXPECT_TRUE(test, lz_life_gone(l, 0, mark));
	mark = l->mark[0];
	lz_life_discard(l, 0, 1);
	KUNIT_EXPECT_TRUE(test, lz_life_gone(l, 0, mark));
}

static struct kunit_case order_cases[] = {
	KUNIT_CASE(order_of_log),
	KUNIT_CASE(order_of_rates),
	KUNIT_CASE(order_samples),
	KUNIT_CASE(order_pairs),
	KUNIT_CASE(order_margin),
	KUNIT_CASE(order_long_ago),
	{}
};

static struct kunit_suite order_suite = {
	.name = "lifezone-order",
	.exit = order_exit,
	.test_cases = order_cases,
};

kunit_test_suite(order_suite);
