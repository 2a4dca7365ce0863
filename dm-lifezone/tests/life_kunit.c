// SPDX-License-Identifier: GPL-2.0-only
/* Lifetime by inference: what is learnt of loads whose rates are known. */
#include "../core/life.h"
#include "ram.h"

#define BLOCKS	10000u
#define CAP	160u	/* of a zone */
#define HOT	(BLOCKS / 20)
#define OCTAVE	256	/* of rates */
#define COUNT	16u	/* what one block adds to a count */

static struct lz_life *life_of(struct kunit *test, u32 zone_cap)
{
	struct lz_life *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);

	KUNIT_ASSERT_EQ(test, lz_life_init(l, BLOCKS, zone_cap), 0);
	test->priv = l;
	return l;
}

static struct lz_life *life(struct kunit *test)
{
	return life_of(test, CAP);
}

static void life_exit(struct kunit *test)
{
	if (test->priv)
		lz_life_exit(test->priv);
}

static void write_as(struct lz_life *l, u64 lba, u32 n, u8 class)
{
	if (lz_life_write(l, lba, n, class))
		lz_life_measure(l);
}

static void write(struct lz_life *l, u64 lba)
{
	write_as(l, lba, 1, LZ_CLASS_NOT_SET);
}

static int rate(const struct lz_life *l, u64 lba)
{
	int r;

	lz_life_rate(l, lba, &r);
	return r;
}

static void uniform(struct lz_life *l, u32 *state, u32 writes)
{
	while (writes--)
		write(l, ram_random(state, BLOCKS));
}

/* By writes to the second half. */
static void time_goes_by(struct lz_life *l, u32 writes)
{
	while (writes--)
		lz_life_write(l, BLOCKS / 2 + writes % (BLOCKS / 2), 1, LZ_CLASS_NOT_SET);
}

static void fill(struct lz_life *l)
{
	u32 i;

	for (i = 0; i < BLOCKS; i++)
		write(l, i);
}

/* Of ten writes nine go to the twentieth of the blocks from @from on. */
static void hot(struct lz_life *l, u32 *state, u32 from, u32 writes)
{
	while (writes--)
		write(l, ram_random(state, 10) ? from + ram_random(state, HOT) :
		      ram_random(state, BLOCKS));
}

/* The mean rate of some blocks. */
static int mean(const struct lz_life *l, u32 from, u32 n)
{
	int sum = 0;
	u32 i;

	for (i = 0; i < n; i++)
		sum += rate(l, from + i);
	return sum / (int)n;
}

/* With @valid of its blocks left. */
static int zone_rate_left(const struct lz_life *l, const struct lz_life_sum *sum, u32 valid)
{
	struct lz_life_mean mean = lz_life_mean(sum);
	int rate = 0, i;

	/* As if its age said the same as what is measured: nearer by three quarters each time. */
	for (i = 0; i < 12; i++)
		rate = lz_life_zone_rate(l, &mean, valid, rate, rate);
	return rate;
}

static int zone_rate(const struct lz_life *l, const struct lz_life_sum *sum)
{
	return zone_rate_left(l, sum, sum->n);
}

static void life_log2(struct kunit *test)
{
	u32 i;

	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_EQ(test, lz_log2(1ull << i), i * OCTAVE);
	for (i = 1; i < 100000; i++) {
		KUNIT_ASSERT_LE(test, lz_log2(i), lz_log2(i + 1));
		KUNIT_ASSERT_EQ(test, lz_log2(i) + OCTAVE, lz_log2(2ull * i));
	}
	/* 1.5850, 2.8074 and 19.9316 */
	KUNIT_EXPECT_LE(test, abs((int)lz_log2(3) - 406), 3);
	KUNIT_EXPECT_LE(test, abs((int)lz_log2(7) - 719), 3);
	KUNIT_EXPECT_LE(test, abs((int)lz_log2(1000000) - 5102), 3);
}

/* Nothing is known: all blocks are alike, and so they are when each was written once. */
static void life_new(struct kunit *test)
{
	struct lz_life *l = life(test);
	u32 i;
	int r;

	for (i = 0; i < BLOCKS; i++)
		KUNIT_ASSERT_FALSE(test, lz_life_rate(l, i, &r));
	fill(l);
	for (i = 0; i < BLOCKS; i++) {
		KUNIT_ASSERT_TRUE(test, lz_life_rate(l, i, &r));
		KUNIT_ASSERT_EQ(test, r, 0);
	}
}

/* A load without differences is seen to have none, whatever chance did. */
static void life_uniform(struct kunit *test)
{
	struct lz_life *l = life(test);
	u32 state = 5, i, other = 0;

	uniform(l, &state, 20 * BLOCKS);
	for (i = 0; i < BLOCKS; i++)
		other += lz_life_group(rate(l, i), 11) != lz_life_group(0, 11);
	KUNIT_EXPECT_LT(test, other, BLOCKS / 100);
}

/* True rates are 18.05 and 0.1 times the mean: log2 4.17 and -3.32. */
static void life_hot(struct kunit *test)
{
	struct lz_life *l = life(test);
	u32 state = 6;

	fill(l);
	hot(l, &state, 0, 10 * BLOCKS);
	KUNIT_EXPECT_LT(test, abs(mean(l, 0, HOT) - 1068), OCTAVE / 4);
	KUNIT_EXPECT_LT(test, abs(mean(l, HOT, BLOCKS - HOT) + 850), OCTAVE / 4);
}

/* What becomes hot is known for it before all of the device could be written once. */
static void life_moves(struct kunit *test)
{
	struct lz_life *l = life(test);
	u32 state = 7, from = 0, i;

	fill(l);
	for (i = 0; i < 16; i++, from += HOT)
		hot(l, &state, from, BLOCKS);
	hot(l, &state, from, BLOCKS / 4);
	KUNIT_EXPECT_GT(test, mean(l, from, HOT), 3 * OCTAVE);
	/* Those that were hot until then look so for a while, not for long. */
	KUNIT_EXPECT_LT(test, mean(l, from - HOT, HOT), mean(l, from, HOT) - OCTAVE);
	hot(l, &state, from, BLOCKS / 2);
	KUNIT_EXPECT_LT(test, mean(l, from - HOT, HOT), 0);
}

/* Marks are kept modulo 256: a block not written for long does not come round. */
static void life_forgotten(struct kunit *test)
{
	struct lz_life *l = life(test);
	u32 state = 8, turn, i;

	fill(l);
	for (turn = 0; turn < 150; turn++) {
		for (i = 0; i < BLOCKS; i++)
			write(l, ram_random(&state, HOT));
		if (turn < 10)
			continue;
		for (i = HOT; i < BLOCKS; i += 7)
			KUNIT_ASSERT_LT(test, rate(l, i), -2 * OCTAVE);
	}
}

/* A zone's rate is that of its blocks, and sinks as they are not written. */
static void life_zone(struct kunit *test)
{
	struct lz_life *l = life(test);
	struct lz_life_sum old = {}, cold = {}, now = {};
	u32 state = 9, i;

	fill(l);
	hot(l, &state, 0, 10 * BLOCKS);
	lz_life_add(l, &old, 0, HOT);
	lz_life_add(l, &cold, BLOCKS / 2, HOT);
	KUNIT_EXPECT_LT(test, abs(zone_rate(l, &old) - mean(l, 0, HOT)), OCTAVE);
	KUNIT_EXPECT_LT(test, zone_rate(l, &cold), -2 * OCTAVE);
	for (i = 0; i < 8; i++)
		hot(l, &state, HOT * (i + 1), BLOCKS);
	lz_life_add(l, &now, HOT * 8, HOT);
	KUNIT_EXPECT_GT(test, zone_rate(l, &now), 2 * OCTAVE);
	KUNIT_EXPECT_LT(test, zone_rate(l, &old), 0);
}

/* Where a zone has hot blocks and cold ones, those left are the cold ones. */
static void life_zone_left(struct kunit *test)
{
	struct lz_life *l = life(test);
	struct lz_life_sum cold = {}, mixed = {};
	u32 state = 9, valid;
	int rate;

	fill(l);
	hot(l, &state, 0, 10 * BLOCKS);
	lz_life_add(l, &cold, BLOCKS / 2, HOT);
	lz_life_add(l, &mixed, 0, HOT);
	lz_life_add(l, &mixed, BLOCKS / 2, HOT);
	rate = zone_rate(l, &mixed);
	KUNIT_EXPECT_GT(test, rate, zone_rate(l, &cold) + 2 * OCTAVE);
	KUNIT_EXPECT_LT(test, abs(zone_rate_left(l, &mixed, HOT) - zone_rate(l, &cold)), OCTAVE);
	for (valid = 2 * HOT - 1; valid < 2 * HOT; valid--) {
		int left = zone_rate_left(l, &mixed, valid);

		KUNIT_ASSERT_LE(test, left, rate);
		rate = left;
	}
	/* Of like ones it makes no difference which are left, nor are there more than were. */
	KUNIT_EXPECT_LT(test, zone_rate(l, &cold) - zone_rate_left(l, &cold, HOT / 2), OCTAVE / 2);
	KUNIT_EXPECT_EQ(test, zone_rate_left(l, &mixed, ~0u), zone_rate(l, &mixed));
}

/* As many blocks as a zone may have, of rates far apart, do not overflow. */
static void life_zone_spread(struct kunit *test)
{
	u32 n = 1u << 31;
	struct lz_life_sum sum = { .n = n, .square = (u64)n << 24 };

	/* As far as a rate can be told, half of them in each direction. */
	KUNIT_EXPECT_EQ(test, lz_life_mean(&sum).spread, 128 * OCTAVE);
	/* 2^16 times the mean, and a 2^16th. */
	sum.square >>= 6;
	KUNIT_EXPECT_EQ(test, lz_life_mean(&sum).spread, 16 * OCTAVE);
	/* And all alike. */
	sum.rate = -((s64)n << 9);
	KUNIT_EXPECT_EQ(test, lz_life_mean(&sum).spread, 0);
	sum.rate /= 2;
	KUNIT_EXPECT_EQ(test, lz_life_mean(&sum).spread, 3547);	/* 16 x root of 3/4, octaves */
}

/* The root of the spare zones, within bounds. */
static void life_group_numbers(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, lz_life_groups(0, 14, false), 2u);
	KUNIT_EXPECT_EQ(test, lz_life_groups(8, 14, false), 2u);
	KUNIT_EXPECT_EQ(test, lz_life_groups(9, 14, false), 3u);
	KUNIT_EXPECT_EQ(test, lz_life_groups(80, 14, false), 8u);
	KUNIT_EXPECT_EQ(test, lz_life_groups(80, 3, false), 3u);
	KUNIT_EXPECT_EQ(test, lz_life_groups(~0u, ~0u, false), LZ_NR_GROUPS);
	/* One less, where what has hints takes zones as well. */
	KUNIT_EXPECT_EQ(test, lz_life_groups(0, 14, true), 2u);
	KUNIT_EXPECT_EQ(test, lz_life_groups(9, 14, true), 2u);
	KUNIT_EXPECT_EQ(test, lz_life_groups(9, 6, true), 3u);
	KUNIT_EXPECT_EQ(test, lz_life_groups(100, 14, true), 9u);
	KUNIT_EXPECT_EQ(test, lz_life_groups(121, 14, true), 11u);
	KUNIT_EXPECT_EQ(test, lz_life_groups(80, 3, true), 3u);
	KUNIT_EXPECT_EQ(test, lz_life_groups(~0u, ~0u, true), LZ_NR_GROUPS);
}

/* Fewer zones are open than are to spare, but one for users and one for GC, and one more. */
static void life_open(struct kunit *test)
{
	struct lz_life *l = life(test);

	lz_life_regroup(l, 0, 14);
	KUNIT_EXPECT_EQ(test, l->open, 14u);
	lz_life_regroup(l, 1, 14);
	KUNIT_EXPECT_EQ(test, l->open, 3u);
	lz_life_regroup(l, 6, 14);
	KUNIT_EXPECT_EQ(test, l->open, 5u);
}

static void comes(struct lz_life *l, u32 group, u32 n)
{
	int rate;

	for (rate = 12 * OCTAVE; lz_life_group(rate, l->groups) < group; rate -= OCTAVE / 4)
		;
	lz_life_joint(l, rate, n);
}

/* With @spare zones, and @most open, there are @n groups, and this is what each is part of. */
static void joint_is(struct kunit *test, u32 spare, u32 most, const u8 *want, u32 n)
{
	struct lz_life *l = test->priv;
	u32 i;

	lz_life_regroup(l, spare, most);
	KUNIT_ASSERT_EQ(test, l->groups, n);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, l->joint[i], want[i]);
}

/* Groups share a zone where less comes to one than fills a part of those to spare. */
static void life_joint(struct kunit *test)
{
	static const u8 own[] = { 0, 1, 2, 3, 4 }, some[] = { 0, 1, 1, 2, 2 }, one[5] = {};
	struct lz_life *l = life(test);

	joint_is(test, 25, 14, own, 5);
	/* Three hundredths of what is written fill three quarters of one of 25. */
	comes(l, 0, 40);
	comes(l, 1, 20);
	comes(l, 2, 500);
	comes(l, 3, 420);
	comes(l, 4, 20);
	joint_is(test, 25, 14, some, 5);
	KUNIT_EXPECT_EQ(test, lz_life_joint(l, -12 * OCTAVE, 1), 2u);
	/* What was counted of others says nothing; where all comes to one they are all one. */
	joint_is(test, 24, 14, own, 4);
	comes(l, 3, 10000);
	joint_is(test, 24, 14, one, 4);
	/* Where fewer zones may be open than groups and hints want lifetimes share them anyway. */
	joint_is(test, 24, 7, own, 4);
}

/* Files with hints share zones where fewer may be open than groups and hints want. */
static void life_shared(struct kunit *test)
{
	struct lz_life *l = life(test);

	lz_life_regroup(l, 25, 7);
	KUNIT_EXPECT_FALSE(test, l->shared);
	l->apart = true;
	lz_life_regroup(l, 25, 7);
	KUNIT_EXPECT_TRUE(test, l->shared);
	lz_life_regroup(l, 25, 14);
	KUNIT_EXPECT_FALSE(test, l->shared);
}

static void life_groups(struct kunit *test)
{
	u32 groups;

	for (groups = 1; groups < 12; groups++) {
		int rate;

		KUNIT_EXPECT_EQ(test, lz_life_group(100 * OCTAVE, groups), 0u);
		KUNIT_EXPECT_EQ(test, lz_life_group(-100 * OCTAVE, groups), groups - 1);
		for (rate = -12 * OCTAVE; rate < 12 * OCTAVE; rate++)
			KUNIT_ASSERT_LE(test, lz_life_group(rate + 1, groups),
					lz_life_group(rate, groups));
	}
	/* All that is near the mean is together. */
	KUNIT_EXPECT_EQ(test, lz_life_group(120, 11), lz_life_group(-120, 11));
	KUNIT_EXPECT_NE(test, lz_life_group(140, 11), lz_life_group(-140, 11));
}

/*
 * Files of 100 blocks that live for a fixed time by their hint, of which there are four: each
 * lives twice as long as the one before. @shuffle: hints say nothing.
 */
static void files(struct lz_life *l, bool shuffle, u32 writes)
{
	u32 state = 13, at[4] = {}, turn, i;

	for (turn = 0; writes; turn++) {
		/* A file of a kind is written over the one that has lived for eight of its kind. */
		u32 kind = turn & 1 ? 0 : turn & 2 ? 1 : turn & 4 ? 2 : 3;
		u32 lba = (kind * 8 + at[kind]++ % 8) * 100;
		u8 class = LZ_CLASS_SHORT + (shuffle ? ram_random(&state, 4) : kind);

		lz_life_discard(l, lba, 100);
		for (i = 0; i < 100; i += 25)
			write_as(l, lba + i, 25, class);
		writes -= min(writes, 100u);
	}
}

/* A block of file @i of the eight of extreme data. */
static u32 extreme(u32 i)
{
	return 2400 + i % 8 * 100;
}

/* What a hint is worth is measured. */
static void life_hints(struct kunit *test)
{
	u32 kind, oldest = 0, state = 17, i;
	struct lz_life *l = life(test);

	files(l, false, 20 * BLOCKS);
	KUNIT_EXPECT_TRUE(test, l->trusted);
	KUNIT_EXPECT_TRUE(test, l->apart);
	/* Blocks of 800 writes' life, 1,600, ...: just written, or to be written next. */
	for (kind = 0; kind < 3; kind++) {
		int sooner = lz_life_ask(l, 0, 1, LZ_CLASS_SHORT + kind);
		int later = lz_life_ask(l, 0, 1, LZ_CLASS_SHORT + kind + 1);

		KUNIT_EXPECT_GE(test, sooner, later);
	}
	/* What survives goes by the time it has left: the older a file of a kind, the less. */
	for (i = 1; i < 8; i++)
		if (rate(l, extreme(i)) > rate(l, extreme(oldest)))
			oldest = i;
	for (i = 0; i < 7; i++)
		KUNIT_EXPECT_GE(test, rate(l, extreme(oldest + i)),
				rate(l, extreme(oldest + i + 1)));
	KUNIT_EXPECT_GT(test, rate(l, extreme(oldest)), rate(l, extreme(oldest + 7)) + OCTAVE);
	KUNIT_EXPECT_GT(test, mean(l, 0, 800), rate(l, extreme(oldest + 7)) + OCTAVE);
	/* Of what is rewritten in place no groups are spared, whatever its hints. */
	for (i = 0; i < 5 * BLOCKS; i++)
		write_as(l, ram_random(&state, 3200), 1, LZ_CLASS_LONG);
	KUNIT_EXPECT_FALSE(test, l->apart);
}

/* Hints that say nothing are seen through, and all count alike then. */
static void life_shuffled_hints(struct kunit *test)
{
	struct lz_life *l = life(test);
	u8 class;

	files(l, true, 20 * BLOCKS);
	KUNIT_EXPECT_FALSE(test, l->trusted);
	KUNIT_EXPECT_FALSE(test, l->apart);
	for (class = LZ_CLASS_MEDIUM; class <= LZ_CLASS_EXTREME; class++)
		KUNIT_EXPECT_EQ(test, lz_life_ask(l, 0, 1, class),
				lz_life_ask(l, 0, 1, LZ_CLASS_SHORT));
}

/* Each block of a file has a hint of its own: not believed as the device is filled, nor later. */
static void life_hints_by_block(struct kunit *test)
{
	struct lz_life *l = life(test);
	u32 state = 15, turn, i;

	KUNIT_EXPECT_TRUE(test, l->trusted);
	for (turn = 0; turn < 40 * BLOCKS / 100; turn++) {
		u32 lba = turn % (BLOCKS / 100) * 100;

		if (turn == BLOCKS / 200)
			KUNIT_EXPECT_FALSE(test, l->trusted);
		lz_life_discard(l, lba, 100);
		for (i = 0; i < 100; i++)
			write_as(l, lba + i, 1, LZ_CLASS_SHORT + ram_random(&state, 4));
	}
	KUNIT_EXPECT_FALSE(test, l->trusted);
}

/* And where they are true, block by block: believed once that has been seen. */
static void life_true_hints_by_block(struct kunit *test)
{
	struct lz_life *l = life(test);
	u32 state = 16, i;

	for (i = 0; i < BLOCKS; i++)
		write_as(l, i, 1, i & 1 ? LZ_CLASS_SHORT : LZ_CLASS_EXTREME);
	KUNIT_EXPECT_FALSE(test, l->trusted);
	/* Of eight writes seven are of a block that is to live for short. */
	for (i = 0; i < 20 * BLOCKS; i++) {
		bool longer = !ram_random(&state, 8);
		u32 lba = 2 * ram_random(&state, BLOCKS / 2) + !longer;

		write_as(l, lba, 1, longer ? LZ_CLASS_EXTREME : LZ_CLASS_SHORT);
	}
	KUNIT_EXPECT_TRUE(test, l->trusted);
	/* Turned round they are not. */
	for (i = 0; i < 20 * BLOCKS; i++) {
		bool longer = !ram_random(&state, 8);
		u32 lba = 2 * ram_random(&state, BLOCKS / 2) + longer;

		write_as(l, lba, 1, longer ? LZ_CLASS_SHORT : LZ_CLASS_EXTREME);
	}
	KUNIT_EXPECT_FALSE(test, l->trusted);
}

/* Two pairs @writes apart, in which one goes against its hint: the older, the younger; counted? */
static void pairs_apart(struct kunit *test, u64 lba, u32 writes, u64 count)
{
	struct lz_life *l = test->priv;
	u64 later = l->later;

	lz_life_write(l, lba + 1, 1, LZ_CLASS_LONG);
	lz_life_write(l, lba + 10, 1, LZ_CLASS_SHORT);
	time_goes_by(l, writes);
	lz_life_write(l, lba, 1, LZ_CLASS_SHORT);
	lz_life_write(l, lba + 11, 1, LZ_CLASS_LONG);
	lz_life_discard(l, lba + 1, 1);
	KUNIT_EXPECT_EQ(test, l->later, later + count);
	lz_life_discard(l, lba + 11, 1);
	KUNIT_EXPECT_EQ(test, l->later, later + 2 * count);
}

/* What counts as a pair: two hints, side by side, written at about the same time; one goes. */
static void life_pairs(struct kunit *test)
{
	struct lz_life *l = life(test);
	const u32 tick = 1u << (l->shift - LZ_LIFE_SUB_SHIFT);

	lz_life_write(l, 10, 1, LZ_CLASS_LONG);
	lz_life_write(l, 11, 1, LZ_CLASS_SHORT);
	lz_life_discard(l, 11, 1);
	KUNIT_EXPECT_EQ(test, l->sooner, (u64)COUNT);
	lz_life_write(l, 11, 1, LZ_CLASS_EXTREME);
	lz_life_write(l, 11, 1, LZ_CLASS_EXTREME);
	KUNIT_EXPECT_EQ(test, l->later, (u64)COUNT);
	/* Of one hint, beside one without, beside none. */
	lz_life_write(l, 20, 2, LZ_CLASS_LONG);
	lz_life_discard(l, 21, 1);
	lz_life_write(l, 30, 1, LZ_CLASS_NOT_SET);
	lz_life_write(l, 31, 1, LZ_CLASS_LONG);
	lz_life_discard(l, 31, 1);
	lz_life_write(l, 41, 1, LZ_CLASS_LONG);
	lz_life_discard(l, 41, 1);
	/* Half a time constant apart or less, whichever is the older one. */
	pairs_apart(test, 50, 3 * tick, COUNT);
	pairs_apart(test, 70, 6 * tick, 0);
	KUNIT_EXPECT_EQ(test, l->later, 3ull * COUNT);
	KUNIT_EXPECT_EQ(test, l->sooner, (u64)COUNT);
}

/* Hints of blocks tell if twice as many pairs, and 200, are gone in their order. */
static void life_pairs_tell(struct kunit *test)
{
	struct lz_life *l = life(test);

	l->beside[0] = 1000 * COUNT;
	l->beside[1] = 1000 * COUNT;
	l->written[8][0] = COUNT;
	l->later = 300 * COUNT;
	l->sooner = 800 * COUNT - 1;
	lz_life_measure(l);
	KUNIT_EXPECT_FALSE(test, l->trusted);
	l->later = 300 * COUNT;
	l->sooner = 800 * COUNT;
	lz_life_measure(l);
	KUNIT_EXPECT_TRUE(test, l->trusted);
}

/* Of two hints, as often, half of the blocks side by side agree by chance: a half more are to. */
static void life_hints_of_files(struct kunit *test)
{
	struct lz_life *l = life(test);
	u32 alike;

	for (alike = 1490; alike <= 1510; alike += 20) {
		l->beside[0] = 1000 * COUNT;
		l->beside[2] = 1000 * COUNT;
		l->alike = alike * COUNT;
		lz_life_measure(l);
		KUNIT_EXPECT_EQ(test, l->trusted, alike > 1500);
	}
	/* Too few to say. */
	memset(l->beside, 0, sizeof(l->beside));
	l->alike = 0;
	l->beside[0] = 199 * COUNT;
	lz_life_measure(l);
	KUNIT_EXPECT_TRUE(test, l->trusted);
}

/* A hint whose blocks are only seen, or only written, is in use: of the two, one tells. */
static void life_hints_in_use(struct kunit *test)
{
	struct lz_life *l = life(test);
	u32 i, column = LZ_LIFE_BINS + 1;	/* of SHORT; the next is MEDIUM's */

	for (i = 0; i < 2; i++) {
		memset(l->seen, 0, sizeof(l->seen));
		memset(l->written, 0, sizeof(l->written));
		l->trusted = false;
		l->seen[i][column] = 4000 * COUNT;
		l->written[i][column + 1] = 4000 * COUNT;
		lz_life_measure(l);
		KUNIT_EXPECT_TRUE(test, l->trusted);
	}
	/* One by itself says nothing: as before. */
	memset(l->seen, 0, sizeof(l->seen));
	lz_life_measure(l);
	KUNIT_EXPECT_TRUE(test, l->trusted);
	l->trusted = false;
	lz_life_measure(l);
	KUNIT_EXPECT_FALSE(test, l->trusted);
}

/* A tenth is written as often as another half, each block with the hint that it always has. */
static void in_place(struct lz_life *l, u32 *state, u32 writes)
{
	while (writes--) {
		bool often = ram_random(state, 2);
		u32 lba = often ? ram_random(state, BLOCKS / 10) :
			BLOCKS / 10 + ram_random(state, BLOCKS / 2);

		write_as(l, lba, 1, often ? LZ_CLASS_MEDIUM : LZ_CLASS_LONG);
	}
}

/* What is rewritten in place goes by its history and its hint; what is new by its hint. */
static void life_hints_stay(struct kunit *test)
{
	struct lz_life *l = life(test);
	u32 state = 19, i, j;

	lz_life_regroup(l, 100, 64);
	in_place(l, &state, 10 * BLOCKS);
	KUNIT_EXPECT_TRUE(test, l->trusted);
	KUNIT_EXPECT_TRUE(test, l->stays);
	KUNIT_EXPECT_TRUE(test, lz_is_group(lz_life_class(l, 0, 1, LZ_CLASS_MEDIUM)));
	KUNIT_EXPECT_TRUE(test, lz_is_group(lz_life_class(l, BLOCKS / 10, 1, LZ_CLASS_LONG)));
	KUNIT_EXPECT_LT(test, lz_life_class(l, 0, 1, LZ_CLASS_MEDIUM),
			lz_life_class(l, BLOCKS / 10, 1, LZ_CLASS_LONG));
	KUNIT_EXPECT_EQ(test, lz_life_class(l, BLOCKS - 1, 1, LZ_CLASS_LONG), LZ_CLASS_LONG);
	/* By rates, not by the time that is left: that is for what lives once. */
	for (i = 0; i < LZ_LIFE_BINS; i++)
		for (j = 1; j < LZ_LIFE_ONCE; j++)
			KUNIT_EXPECT_EQ(test, l->rest[i][j], l->rate[i][LZ_LIFE_BINS + j]);
	/* Files that are written over others, as these would be if they were not discarded. */
	for (i = 0; i < 4 * BLOCKS; i += 25)
		write_as(l, i % BLOCKS, 25, LZ_CLASS_SHORT + ram_random(&state, 4));
	KUNIT_EXPECT_FALSE(test, l->stays);
	/* And those that are. */
	in_place(l, &state, 10 * BLOCKS);
	KUNIT_EXPECT_TRUE(test, l->stays);
	files(l, false, 4 * BLOCKS);
	KUNIT_EXPECT_FALSE(test, l->stays);
	KUNIT_EXPECT_EQ(test, lz_life_class(l, 0, 1, LZ_CLASS_MEDIUM), LZ_CLASS_MEDIUM);
}

/* Fifteen of sixteen are not enough. */
static void life_hints_stay_most(struct kunit *test)
{
	struct lz_life *l = life(test);
	u32 same;

	for (same = 1500; same <= 1501; same++) {
		l->hinted = 1600 * COUNT;
		l->same = same * COUNT;
		l->written[0][0] = COUNT;
		lz_life_measure(l);
		KUNIT_EXPECT_EQ(test, l->stays, same > 1500);
	}
}

/* A hint that much of the old, and cold, data has says nothing of what is written now. */
static void life_old_hint(struct kunit *test)
{
	struct lz_life *l = life(test);
	u32 state = 14, turn, i;

	for (i = 0; i < BLOCKS / 2; i += 25)
		write_as(l, i, 25, LZ_CLASS_EXTREME);
	for (turn = 0; turn < 40 * BLOCKS / 100; turn++) {
		u32 lba = BLOCKS / 2 + turn % (BLOCKS / 200) * 100;
		u8 class = LZ_CLASS_SHORT + ram_random(&state, 4);

		lz_life_discard(l, lba, 100);
		for (i = 0; i < 100; i += 25)
			write_as(l, lba + i, 25, class);
	}
	KUNIT_EXPECT_FALSE(test, l->trusted);
}

/* A log is written over and over, files of three hints all live as long: the log's tells. */
static void life_short_alone(struct kunit *test)
{
	struct lz_life *l = life(test);
	u32 turn, i;

	for (turn = 0; turn < 40 * BLOCKS / 100; turn++) {
		u32 lba = 100 + turn % (BLOCKS / 100 - 1) * 100;

		lz_life_discard(l, lba, 100);
		for (i = 0; i < 100; i += 20) {
			write_as(l, lba + i, 20, LZ_CLASS_MEDIUM + turn % 3);
			lz_life_discard(l, 0, 5);
			write_as(l, 0, 5, LZ_CLASS_SHORT);
		}
	}
	KUNIT_EXPECT_TRUE(test, l->trusted);
}

/*
 * Time left, not how likely the end is now: files that have just been written do not die
 * soon, but a zone of them has no longer to live than they have.
 */
static void life_time_left(struct kunit *test)
{
	struct lz_life *l = life(test);
	struct lz_life_sum young[2] = {};
	int r[2], i;

	files(l, false, 20 * BLOCKS);
	for (i = 0; i < 2; i++) {
		u64 lba = 9000 + 100 * i;

		lz_life_write(l, lba, 100, i ? LZ_CLASS_EXTREME : LZ_CLASS_SHORT);
		lz_life_add(l, &young[i], lba, 100);
		r[i] = zone_rate(l, &young[i]);
		/* Of one age, all of them. */
		KUNIT_EXPECT_EQ(test, zone_rate_left(l, &young[i], 10), r[i]);
	}
	KUNIT_EXPECT_GT(test, r[0], r[1] + OCTAVE);
}

/*
 * So with files that come without a hint: those here all live as long, and are as many as there
 * are blocks in use, so that the mean rate is theirs.
 */
static void life_time_left_unhinted(struct kunit *test)
{
	struct lz_life *l = life(test);
	struct lz_life_sum young = {}, old = {};
	u32 turn, lba = 0, i;

	for (turn = 0; turn < 40 * BLOCKS / 100; turn++) {
		lba = turn % (BLOCKS / 100) * 100;
		lz_life_discard(l, lba, 100);
		for (i = 0; i < 100; i += 25)
			write_as(l, lba + i, 25, LZ_CLASS_NOT_SET);
	}
	lz_life_add(l, &young, lba, 100);
	lz_life_add(l, &old, (lba + BLOCKS / 8) % BLOCKS, 100);
	KUNIT_EXPECT_LT(test, mean(l, lba, 100), -2 * OCTAVE);
	KUNIT_EXPECT_LT(test, abs(zone_rate(l, &young)), OCTAVE);
	KUNIT_EXPECT_GT(test, zone_rate(l, &old), zone_rate(l, &young) + OCTAVE);
}

/*
 * How often what came as @class is written of which some is gone soon and some is never seen to go,
 * to once in 64 time constants. All else comes as SHORT, or, @shuffled, either as both.
 */
static int never_gone(struct kunit *test, u8 class, bool shuffled)
{
	struct lz_life *l = life(test);
	struct lz_life_sum old = {};
	u32 turn, lba, i, state = 1;

	for (lba = BLOCKS / 2; lba < BLOCKS; lba += 100)
		write_as(l, lba, 100, shuffled && ram_random(&state, 2) ? LZ_CLASS_SHORT : class);
	for (turn = 0; turn < 400 * BLOCKS / 200; turn++) {
		for (i = 0; i < 2; i++) {
			lba = i ? (5 + turn % 20) * 100 : turn % 5 * 100;
			lz_life_discard(l, lba, 100);
			write_as(l, lba, 100, (shuffled ? ram_random(&state, 2) : i) ? class :
				 LZ_CLASS_SHORT);
		}
	}
	KUNIT_EXPECT_EQ(test, l->trusted, !shuffled);
	lz_life_add(l, &old, BLOCKS - 100, 100);
	/* For each block written one of those in use goes: the mean rate is one by these. */
	return zone_rate(l, &old) - (int)lz_log2(BLOCKS / 2 + 25 * 100) +
		(int)lz_log2(64u << l->shift);
}

/* Files are not taken to live for ever. */
static void life_never_gone(struct kunit *test)
{
	KUNIT_EXPECT_LT(test, abs(never_gone(test, LZ_CLASS_EXTREME, false)), OCTAVE / 8);
}

/* What has no hint, or one that tells nothing, is, as it may just not be written again. */
static void life_never_written(struct kunit *test)
{
	KUNIT_EXPECT_LT(test, never_gone(test, LZ_CLASS_NOT_SET, false), -OCTAVE);
}

static void life_never_written_shuffled(struct kunit *test)
{
	KUNIT_EXPECT_LT(test, never_gone(test, LZ_CLASS_EXTREME, true), -OCTAVE);
}

/*
 * Merges of files of 100 blocks, all extreme: each writes four, and then discards four of the @live
 * ones: the oldest, or, with @last_first, for one of these what the merge before wrote last.
 */
static void merges(struct lz_life *l, u32 live, bool last_first, u32 writes)
{
	u32 file[BLOCKS / 100], i, j;

	lz_life_discard(l, 0, BLOCKS);
	for (i = 0; i < ARRAY_SIZE(file); i++)
		file[i] = i;
	/* The first @live are in use, the oldest first, and free ones follow. */
	for (; writes > 400; writes -= 400) {
		for (i = live; i < live + 4; i++)
			for (j = 0; j < 100; j += 25)
				write_as(l, file[i] * 100 + j, 25, LZ_CLASS_EXTREME);
		for (i = 0; i < 4; i++) {
			u32 gone = i || !last_first ? 0 : live - 1, f = file[gone];

			lz_life_discard(l, f * 100, 100);
			memmove(&file[gone], &file[gone + 1],
				(ARRAY_SIZE(file) - 1 - gone) * sizeof(file[0]));
			file[ARRAY_SIZE(file) - 1] = f;
		}
	}
}

/* Whether what is written last goes first is measured; until then it is not so. */
static void life_last_first(struct kunit *test)
{
	struct lz_life *l = life(test);

	KUNIT_EXPECT_FALSE(test, l->alone);
	merges(l, 80, true, BLOCKS / 2);
	KUNIT_EXPECT_FALSE(test, l->alone);
	merges(l, 80, true, 20 * BLOCKS);
	/* Of all runs what was last may be gone, and no more. */
	KUNIT_EXPECT_LE(test, l->gone[1], l->runs);
	KUNIT_EXPECT_GT(test, 2 * l->gone[1], l->runs);
	KUNIT_EXPECT_TRUE(test, l->alone);
	merges(l, 80, false, 20 * BLOCKS);
	KUNIT_EXPECT_FALSE(test, l->alone);
	/* Of what lives so short all is gone. */
	merges(l, 8, false, 20 * BLOCKS);
	KUNIT_EXPECT_GT(test, 10 * l->gone[1], 9 * l->runs);
	KUNIT_EXPECT_FALSE(test, l->alone);
}

/* That goes for less than a quarter of a zone: none is left alone for it. */
static void life_last_first_little(struct kunit *test)
{
	struct lz_life *l = life_of(test, 480);

	merges(l, 80, true, 20 * BLOCKS);
	KUNIT_EXPECT_GT(test, l->runs, 0ull);
	KUNIT_EXPECT_LT(test, 10 * l->gone[1], l->runs);
	KUNIT_EXPECT_FALSE(test, l->alone);
}

/* What ends a run: a discard of extreme data, where some was written since the last one. */
static void life_runs(struct kunit *test)
{
	struct lz_life *l = life_of(test, 40);

	lz_life_write(l, 0, 10, LZ_CLASS_LONG);
	lz_life_write(l, 20, 10, LZ_CLASS_EXTREME);
	lz_life_write(l, 40, 5, LZ_CLASS_EXTREME);
	lz_life_write(l, 45, 5, LZ_CLASS_EXTREME);
	KUNIT_EXPECT_FALSE(test, lz_life_discard(l, 0, 10));
	KUNIT_EXPECT_FALSE(test, lz_life_discard(l, 100, 10));
	KUNIT_EXPECT_TRUE(test, lz_life_discard(l, 20, 10));
	KUNIT_EXPECT_FALSE(test, lz_life_discard(l, 45, 1));
	KUNIT_EXPECT_EQ(test, l->ended[0], 20ull);
	/* A quarter of a zone before the last one. */
	KUNIT_EXPECT_EQ(test, l->ended[1], 29ull);
	lz_life_write(l, 60, 10, LZ_CLASS_EXTREME);
	lz_life_write(l, 70, 10, LZ_CLASS_EXTREME);
	KUNIT_EXPECT_TRUE(test, lz_life_discard(l, 40, 5));
	lz_life_measure(l);
	KUNIT_EXPECT_TRUE(test, l->run[0].known);
	/* What is shorter than that has no end that is another than its first. */
	lz_life_write(l, 80, 1, LZ_CLASS_EXTREME);
	lz_life_write(l, 81, 8, LZ_CLASS_EXTREME);
	KUNIT_EXPECT_TRUE(test, lz_life_discard(l, 60, 5));
	lz_life_measure(l);
	KUNIT_EXPECT_FALSE(test, l->run[1].known);
}

static u64 mdc(u32 valid, u32 cap, int rate)
{
	return lz_victim_score(LZ_VICTIM_MDC, valid, cap, 1, rate);
}

static void life_victims(struct kunit *test)
{
	u32 valid;
	int rate;

	KUNIT_EXPECT_EQ(test, mdc(64, 64, 0), 0ull);
	for (valid = 0; valid < 64; valid++) {
		KUNIT_EXPECT_GT(test, mdc(valid, 64, 16 * OCTAVE), 0ull);
		if (valid)
			KUNIT_EXPECT_GE(test, mdc(valid - 1, 64, 5),
					mdc(valid, 64, 5));
		for (rate = -8 * OCTAVE; rate < 8 * OCTAVE; rate += 50)
			KUNIT_ASSERT_GT(test, mdc(valid, 64, rate),
					mdc(valid, 64, rate + 1));
	}
	/* (1/2)^2 / (1/2) against (3/4)^2 / (1/4): 2.17 octaves of rate. */
	KUNIT_EXPECT_GT(test, mdc(32, 64, 0), mdc(16, 64, 2 * OCTAVE + 60));
	KUNIT_EXPECT_LT(test, mdc(32, 64, 0), mdc(16, 64, 2 * OCTAVE + 30));
}

/* However few blocks there are, each is looked at in turn. */
static void life_few_blocks(struct kunit *test)
{
	struct lz_life *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);
	u64 blocks, i;

	for (blocks = 1; blocks < 70; blocks++) {
		u8 looked[70] = {};

		KUNIT_ASSERT_EQ(test, lz_life_init(l, blocks, CAP), 0);
		for (i = 0; i < blocks; i++) {
			u64 at = lz_life_swept(l, atomic64_read(&l->clock));

			KUNIT_ASSERT_LT(test, at, blocks);
			KUNIT_ASSERT_FALSE(test, looked[at]++);
			write(l, i);
		}
		lz_life_exit(l);
	}
}

/* What is asked before a write is what holds after it; of many blocks, the mean. */
static void life_ask(struct kunit *test)
{
	struct lz_life *l = life(test);
	u32 state = 10, i;

	fill(l);
	hot(l, &state, 0, 10 * BLOCKS);
	for (i = 0; i < BLOCKS; i += 11) {
		int asked = lz_life_ask(l, i, 1, LZ_CLASS_NOT_SET);

		/* Not measured anew between the two. */
		lz_life_write(l, i, 1, LZ_CLASS_NOT_SET);
		/* The clock may have gone on to the next tick. */
		if (atomic64_read(&l->clock) & ((1u << (l->shift - LZ_LIFE_SUB_SHIFT)) - 1))
			KUNIT_ASSERT_EQ(test, asked, rate(l, i));
	}
	KUNIT_EXPECT_GT(test, lz_life_ask(l, 0, HOT, LZ_CLASS_NOT_SET), 3 * OCTAVE);
	KUNIT_EXPECT_LT(test, lz_life_ask(l, BLOCKS / 2, HOT, LZ_CLASS_NOT_SET), 2 * OCTAVE);
}

/* Long writes count as many blocks as they have. */
static void life_long_writes(struct kunit *test)
{
	struct lz_life *l = life(test);
	u32 state = 11, i;

	fill(l);
	for (i = 0; i < 10 * BLOCKS / 25; i++) {
		u64 lba = ram_random(&state, 10) ? 25 * ram_random(&state, HOT / 25) :
			ram_random(&state, BLOCKS - 25);

		write_as(l, lba, 25, LZ_CLASS_NOT_SET);
	}
	KUNIT_EXPECT_EQ(test, (u64)atomic64_read(&l->clock), 11ull * BLOCKS);
	KUNIT_EXPECT_LT(test, abs(mean(l, 0, HOT) - 1068), OCTAVE / 4);
	KUNIT_EXPECT_LT(test, abs(mean(l, HOT, BLOCKS - HOT) + 850), OCTAVE / 4);
}

/*
 * To discard a block ends its life as a write does, and nothing is known of it any more.
 * Blocks from HOT on live as long as it takes to write HOT blocks eight times: those that
 * have lived longest are the next to go.
 */
static void life_discards(struct kunit *test)
{
	struct lz_life *l = life(test);
	u32 state = 12, i, from, b;
	u64 counted = 0;
	int r;

	for (i = 0; i < 40; i++) {
		from = HOT + i % 8 * HOT;
		lz_life_discard(l, from, HOT);
		KUNIT_ASSERT_FALSE(test, lz_life_rate(l, from + HOT - 1, &r));
		for (b = 0; b < HOT; b++)
			write(l, from + b);
	}
	KUNIT_EXPECT_GT(test, mean(l, HOT, HOT), OCTAVE);
	KUNIT_EXPECT_LT(test, mean(l, 8 * HOT, HOT), 0);
	for (i = 0; i < HOT; i++)
		KUNIT_ASSERT_FALSE(test, lz_life_rate(l, i, &r));
	lz_life_discard(l, 0, BLOCKS);
	for (i = 0; i < BLOCKS; i++)
		KUNIT_ASSERT_FALSE(test, lz_life_rate(l, i, &r));
	/* As many are counted as there were, of one and of many. */
	fill(l);
	memset(l->written, 0, sizeof(l->written));
	lz_life_discard(l, 0, 1);
	lz_life_discard(l, 1, 999);
	for (i = 0; i < LZ_LIFE_BINS; i++)
		for (b = 0; b < LZ_LIFE_COLUMNS; b++)
			counted += l->written[i][b];
	KUNIT_EXPECT_EQ(test, counted, 1000ull * COUNT);
	uniform(l, &state, BLOCKS);
}

static struct kunit_case life_cases[] = {
	KUNIT_CASE(life_log2),
	KUNIT_CASE(life_new),
	KUNIT_CASE(life_uniform),
	KUNIT_CASE(life_hot),
	KUNIT_CASE(life_moves),
	KUNIT_CASE(life_forgotten),
	KUNIT_CASE(life_zone),
	KUNIT_CASE(life_zone_left),
	KUNIT_CASE(life_zone_spread),
	KUNIT_CASE(life_ask),
	KUNIT_CASE(life_long_writes),
	KUNIT_CASE(life_discards),
	KUNIT_CASE(life_hints),
	KUNIT_CASE(life_shuffled_hints),
	KUNIT_CASE(life_hints_by_block),
	KUNIT_CASE(life_true_hints_by_block),
	KUNIT_CASE(life_pairs),
	KUNIT_CASE(life_pairs_tell),
	KUNIT_CASE(life_hints_of_files),
	KUNIT_CASE(life_hints_in_use),
	KUNIT_CASE(life_hints_stay),
	KUNIT_CASE(life_hints_stay_most),
	KUNIT_CASE(life_old_hint),
	KUNIT_CASE(life_short_alone),
	KUNIT_CASE(life_time_left),
	KUNIT_CASE(life_time_left_unhinted),
	KUNIT_CASE(life_never_gone),
	KUNIT_CASE(life_never_written),
	KUNIT_CASE(life_never_written_shuffled),
	KUNIT_CASE(life_last_first),
	KUNIT_CASE(life_last_first_little),
	KUNIT_CASE(life_runs),
	KUNIT_CASE(life_open),
	KUNIT_CASE(life_joint),
	KUNIT_CASE(life_shared),
	KUNIT_CASE(life_groups),
	KUNIT_CASE(life_group_numbers),
	KUNIT_CASE(life_victims),
	KUNIT_CASE(life_few_blocks),
	{}
};

static struct kunit_suite life_suite = {
	.name = "lifezone-life",
	.exit = life_exit,
	.test_cases = life_cases,
};

kunit_test_suite(life_suite);
