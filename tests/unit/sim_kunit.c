// SPDX-License-Identifier: GPL-2.0-only
/*
 * The simulator's reference policies: what each decides in small cases worked out by hand from
 * its source. In user space only.
 */
#include <errno.h>
#include <math.h>
#include "kunit_shim.h"
/* Its groups are set here without an epoch before. */
#include "../../tools/sim/midas.c"

#define ZONES	64u
#define CAP	200u
#define BLOCKS	1600u
#define OPEN	5u

static struct sim *start(struct kunit *test, const struct sim_policy *p)
{
	struct sim *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct sim_setup setup = {
		.zones = ZONES, .cap = CAP, .blocks = BLOCKS, .max_open = OPEN, .gc_start = 4,
	};
	const char *why;

	lz_options_default(&setup.o);
	sim_cost_default(&setup.cost);
	if (sim_init(s, p, &setup, "uniform", 10 * BLOCKS, &why))
		abort();
	test->priv = s;
	return s;
}

static void sim_test_exit(struct kunit *test)
{
	if (test->priv)
		sim_exit(test->priv);
}

/* @zone is of @stream, was written at @clock and has so many valid blocks. */
static void zone_is(struct sim *s, u32 zone, u32 stream, u64 clock, u32 valid)
{
	s->z[zone] = (struct sim_zone){
		.state = SIM_FULL, .stream = stream, .wp = CAP, .valid = valid,
		.opened = clock, .written = clock,
	};
}

/* What a drive's work costs is the module's, or it would weigh the same otherwise. */
static void sim_default_cost(struct kunit *test)
{
	struct lz_cost cost = sim_lz_cost(start(test, &sim_sla));

	KUNIT_EXPECT_EQ(test, cost.copy, lz_cost_default.copy);
	KUNIT_EXPECT_EQ(test, cost.pad, lz_cost_default.pad);
	KUNIT_EXPECT_EQ(test, cost.finish, lz_cost_default.finish);
}

/* --- victims ---------------------------------------------------------------------- */

static void sim_victim_rules(struct kunit *test)
{
	static const struct sim_policy *const policies[] = {
		&sim_split, &sim_dac, &sim_sepbit, &sim_oracle, &sim_sla,
	};
	/* Of 200 blocks: 150 gained for 50, 100 for 100, 20 for 180, 60 for 140. */
	static const struct {
		u32 valid;
		u32 age;
	} is[] = { { 50, 1 }, { 100, 100 }, { 180, 3000 }, { 140, 500 } };
	static const struct {
		u32 how;
		u32 best;
	} rules[] = {
		{ LZ_VICTIM_GREEDY, 0 },
		/* By the root: 3 x 1, 1 x 10, 0.11 x 55, 0.43 x 22. */
		{ LZ_VICTIM_COST_BENEFIT, 1 }, { LZ_VICTIM_AUTO, 1 },
		/* 3, 100, 333, 214. */
		{ SIM_VICTIM_LINEAR, 2 },
		/* 0.75^2 / 0.25 x 1 is 2.2, and so on: 50, 33, 64. */
		{ LZ_VICTIM_MDC, 3 },
	};
	u32 p, i;

	for (p = 0; p < ARRAY_SIZE(policies); p++) {
		struct sim *s = start(test, policies[p]);

		s->clock = 10000;
		/* What is written now is 1 old. */
		for (i = 0; i < ARRAY_SIZE(is); i++)
			zone_is(s, i, 1, s->clock + 1 - is[i].age, is[i].valid);
		for (i = 0; i < ARRAY_SIZE(rules); i++) {
			s->setup.o.victim = rules[i].how;
			KUNIT_EXPECT_EQ(test, sim_pick(s), rules[i].best);
		}
		s->setup.o.victim = SIM_VICTIM_LINEAR;
		KUNIT_EXPECT_TRUE(test, s->p->score(s, 0) == 3);
		KUNIT_EXPECT_TRUE(test, s->p->score(s, 1) == 100);
		/* One that nothing is gained by, and one that is as good as empty. */
		zone_is(s, 0, 1, 0, CAP);
		KUNIT_EXPECT_TRUE(test, s->p->score(s, 0) == 0);
		zone_is(s, 0, 1, s->clock - 9, 0);
		KUNIT_EXPECT_TRUE(test, s->p->score(s, 0) == CAP * 10);
		sim_exit(s);
		test->priv = NULL;
	}
}

/* --- DAC ------------------------------------------------------------------------- */

static void sim_dac_regions(struct kunit *test)
{
	struct sim *s = start(test, &sim_dac);
	u32 i;

	KUNIT_EXPECT_EQ(test, s->p->user(s, 7, SIM_NOWHERE), 0);
	for (i = 1; i < 8; i++)
		KUNIT_EXPECT_EQ(test, s->p->user(s, 7, 0), min(i, 5u));
	for (i = 1; i < 8; i++)
		KUNIT_EXPECT_EQ(test, s->p->move(s, 7, 0), 5 - min(i, 5u));
	/* Of its own. */
	KUNIT_EXPECT_EQ(test, s->p->move(s, 8, 0), 0);
}

/* --- SepBIT ---------------------------------------------------------------------- */

/* Mean 100, at 1000: the block replaced lived less, or not. At 1100 then, with block 3 written. */
static void short_is_100(struct kunit *test, struct sim *s)
{
	s->p->user(s, 2, SIM_NOWHERE);
	s->p->user(s, 3, SIM_NOWHERE);
	s->clock = 1099;
	KUNIT_EXPECT_EQ(test, s->p->user(s, 2, 0), 0);
	s->clock = 1100;
	KUNIT_EXPECT_EQ(test, s->p->user(s, 3, 0), 1);
}

static void sim_sepbit_lives(struct kunit *test)
{
	struct sim *s = start(test, &sim_sepbit);
	u32 i;

	/* Until a mean is known every life is short, but that of what replaces nothing. */
	KUNIT_EXPECT_EQ(test, s->p->user(s, 0, SIM_NOWHERE), 1);
	s->clock = 1000;
	KUNIT_EXPECT_EQ(test, s->p->user(s, 0, 0), 0);
	/* It is of 16 zones of the first class. */
	for (i = 0; i < 16; i++) {
		zone_is(s, 1, 0, i % 2 ? 850 : 950, 10);
		KUNIT_EXPECT_EQ(test, s->p->user(s, 1, 0), 0);
		s->p->cleaned(s, 1);
		zone_is(s, 1, 1, 0, 10);
		s->p->cleaned(s, 1);
	}
	short_is_100(test, s);
	/* What GC moves: out of the first class, else by age. */
	zone_is(s, 1, 0, 0, 10);
	KUNIT_EXPECT_EQ(test, s->p->move(s, 3, 1 * CAP), 2);
	for (i = 1; i < 6; i++) {
		zone_is(s, 1, i, 0, 10);
		s->clock = 1100 + 399;
		KUNIT_EXPECT_EQ(test, s->p->move(s, 3, 1 * CAP), 3);
		s->clock = 1100 + 400;
		KUNIT_EXPECT_EQ(test, s->p->move(s, 3, 1 * CAP), 4);
		s->clock = 1100 + 1600;
		KUNIT_EXPECT_EQ(test, s->p->move(s, 3, 1 * CAP), 5);
	}
}

/* A zone of the first class of which nothing is left has lived, too. */
static void sim_sepbit_dies(struct kunit *test)
{
	struct sim *s = start(test, &sim_sepbit);
	u32 i;

	s->clock = 1000;
	for (i = 0; i < 8; i++) {
		/* Users overwrite the last block of one. */
		zone_is(s, 1, 0, 850, 1);
		s->p->user(s, 0, 1 * CAP);
		s->p->dead(s, 0, 1 * CAP);
		/* GC moves the last block of one, which it has counted. */
		zone_is(s, 1, 0, 950, 1);
		s->p->cleaned(s, 1);
		s->p->dead(s, 0, 1 * CAP);
	}
	/* Not of another class, nor while it is open or has more. */
	for (i = 0; i < 16; i++) {
		s->p->user(s, 0, SIM_NOWHERE);
		zone_is(s, 1, 1, 0, 1);
		s->p->dead(s, 0, 1 * CAP);
		zone_is(s, 1, 0, 0, 2);
		s->p->dead(s, 0, 1 * CAP);
		zone_is(s, 1, 0, 0, 1);
		s->z[1].state = SIM_OPEN;
		s->p->dead(s, 0, 1 * CAP);
	}
	short_is_100(test, s);
}

/* --- MiDAS ----------------------------------------------------------------------- */

/* Users write @lba, which is in @zone. */
static u32 midas_again(struct sim *s, u32 lba, u32 zone)
{
	s->clock++;
	return s->p->user(s, lba, zone * CAP);
}

static void sim_midas_heat(struct kunit *test)
{
	struct sim *s = start(test, &sim_midas);
	u32 i;

	/* All is G1 while the device is filled; what survives is apart by moves. */
	zone_is(s, 1, 1, 0, 10);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, midas_again(s, 0, 1), 1);
	for (i = 0; i < 6; i++) {
		zone_is(s, 2, i, 0, 10);
		KUNIT_EXPECT_EQ(test, s->p->move(s, 9, 2 * CAP), min(i + 1, 4u));
	}
	s->clock = BLOCKS - 1;
	/* Three times while its zone is young. */
	zone_is(s, 1, 1, BLOCKS, 10);
	KUNIT_EXPECT_EQ(test, midas_again(s, 0, 1), 1);
	KUNIT_EXPECT_EQ(test, midas_again(s, 0, 1), 1);
	KUNIT_EXPECT_EQ(test, midas_again(s, 0, 1), 0);
	/* It stays hot, in HOT, at any age; two bits are enough to forget it by. */
	zone_is(s, 3, 0, 0, 10);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, midas_again(s, 0, 3), 0);
	KUNIT_EXPECT_EQ(test, s->p->move(s, 0, 3 * CAP), 1);
	KUNIT_EXPECT_EQ(test, midas_again(s, 0, 1), 1);
	KUNIT_EXPECT_EQ(test, midas_again(s, 0, 1), 0);
	/* Out of G1 it falls by one, and so it does when it is old there, ... */
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, s->p->move(s, 0, 1 * CAP), 2);
	KUNIT_EXPECT_EQ(test, midas_again(s, 0, 1), 1);
	KUNIT_EXPECT_EQ(test, midas_again(s, 0, 1), 0);
	s->clock = 2 * BLOCKS;
	KUNIT_EXPECT_EQ(test, midas_again(s, 0, 1), 1);
	zone_is(s, 1, 1, s->clock, 10);
	KUNIT_EXPECT_EQ(test, midas_again(s, 0, 1), 0);
	/* ... and not where it was moved to; nor does it rise there. */
	zone_is(s, 2, 2, s->clock, 10);
	s->p->move(s, 0, 1 * CAP);
	KUNIT_EXPECT_EQ(test, midas_again(s, 0, 2), 1);
	KUNIT_EXPECT_EQ(test, midas_again(s, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, midas_again(s, 0, 2), 0);
	KUNIT_EXPECT_EQ(test, s->p->move(s, 0, 2 * CAP), 3);
	KUNIT_EXPECT_EQ(test, midas_again(s, 0, 2), 0);
	/* An open zone is young. */
	s->z[1].state = SIM_OPEN;
	s->clock = 4 * BLOCKS;
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, midas_again(s, 1, 1), i < 2);
}

/* The age that counts is what HOT's zones get to be. */
static void sim_midas_life(struct kunit *test)
{
	struct sim *s = start(test, &sim_midas);
	struct midas *m = s->priv;

	s->clock = BLOCKS - 1;
	zone_is(s, 1, 1, BLOCKS, 10);
	midas_again(s, 0, 1);
	/* One cleaned at 1,200, one gone at 400 by itself. */
	zone_is(s, 3, 0, BLOCKS - 1200, 10);
	s->p->cleaned(s, 3);
	zone_is(s, 4, 0, BLOCKS - 400, 1);
	s->p->dead(s, 5, 4 * CAP);
	KUNIT_EXPECT_EQ(test, m->gone, 2);
	m->left = 1;
	midas_again(s, 0, 1);
	KUNIT_EXPECT_EQ(test, (u32)m->life, (BLOCKS + 800) / 2);
	/* Twice as old: half as much again, and no more. */
	zone_is(s, 3, 0, s->clock - 2400, 10);
	s->p->cleaned(s, 3);
	m->left = 1;
	midas_again(s, 0, 1);
	KUNIT_EXPECT_EQ(test, (u32)m->life, 1800);
}

/* Groups HOT, G1 and G2, of one zone and of two. */
static struct midas *midas_groups(struct sim *s)
{
	struct uid_groups g = {
		.hot = 1, .n = 2, .size = { 2, 0 }, .valid = { 0.5, 0.8 }, .wa = 2,
	};

	adopt(s, &g);
	return s->priv;
}

static void sim_midas_chain(struct kunit *test)
{
	struct sim *s = start(test, &sim_midas);
	struct midas *m;
	u32 i;

	/* By moves until now: all that is behind G1 becomes the last group. */
	zone_is(s, 20, 0, 1, 50);
	zone_is(s, 21, 1, 9, 150);
	zone_is(s, 22, 1, 3, 180);
	zone_is(s, 23, 1, 5, 40);
	zone_is(s, 24, 2, 5, 30);
	zone_is(s, 25, 4, 7, 20);
	m = midas_groups(s);
	/* What was the last group, G1, is the last again. */
	for (i = 21; i < 26; i++)
		KUNIT_EXPECT_EQ(test, s->z[i].stream, 2);
	KUNIT_EXPECT_EQ(test, s->p->victim(s), 25);
	/* The oldest of the first group that has too many zones, however full. */
	for (i = 21; i < 24; i++)
		s->z[i].stream = 1;
	KUNIT_EXPECT_EQ(test, s->p->victim(s), 22);
	zone_is(s, 26, 0, 2, 10);
	KUNIT_EXPECT_EQ(test, s->p->victim(s), 20);
	s->z[26].state = SIM_FREE;
	s->z[22].state = SIM_FREE;
	KUNIT_EXPECT_EQ(test, s->p->victim(s), 25);
	/* From each to the next, and from the last to itself. */
	KUNIT_EXPECT_EQ(test, s->p->move(s, 0, 20 * CAP), 1);
	KUNIT_EXPECT_EQ(test, s->p->move(s, 0, 21 * CAP), 2);
	KUNIT_EXPECT_EQ(test, s->p->move(s, 0, 25 * CAP), 2);
	/* What a group has too many of when it is made goes to the last, the oldest first. */
	zone_is(s, 22, 1, 3, 180);
	midas_groups(s);
	KUNIT_EXPECT_EQ(test, s->z[22].stream, 2);
	KUNIT_EXPECT_EQ(test, s->z[21].stream + s->z[23].stream, 2);
	/* Where so many victims in a row free nothing there are no groups any more. */
	m->in_a_row = 0;
	for (i = 0; i < 26; i++) {
		KUNIT_EXPECT_EQ(test, m->last, 2);
		s->p->victim(s);
	}
	KUNIT_EXPECT_EQ(test, m->last, 1);
	KUNIT_EXPECT_TRUE(test, m->by_moves);
	s->z[20].valid = 5;
	KUNIT_EXPECT_EQ(test, s->p->victim(s), 20);
}

/* A group that is fuller than expected ends the chain, once all groups have been cleaned. */
static void sim_midas_look(struct kunit *test)
{
	u32 full[] = { 100, 119, 121 }, i;
	struct sim *s = start(test, &sim_midas);
	struct midas *m = midas_groups(s);

	for (i = 0; i < 3; i++) {
		zone_is(s, 21, 1, 0, CAP);
		s->p->cleaned(s, 21);
		KUNIT_EXPECT_EQ(test, m->victims[1], !!i);
		zone_is(s, 22, 2, 0, 160);
		s->p->cleaned(s, 22);
		memset(m->real, 0, sizeof(m->real));
		memset(m->victims, 0, sizeof(m->victims));
		zone_is(s, 21, 1, 0, full[i]);
		s->p->cleaned(s, 21);
		look(s);
		/* 0.5 is expected, 0.6 is too much. */
		KUNIT_EXPECT_EQ(test, m->by_moves, i == 2);
		KUNIT_EXPECT_EQ(test, m->last, i == 2 ? 1 : 2);
	}
	KUNIT_EXPECT_EQ(test, s->z[22].stream, 1);
}

static u32 thousandths(double x)
{
	return round(x * 1000);
}

/* Intervals of @n writes of 2 units and @m of 40, in an epoch of 100. */
static void uid_two(struct uid *u, u32 n, u32 m)
{
	if (uid_init(u, 100, 40, 1000))
		abort();
	/* As if nothing was cut off: 100 = 50 times 2, and half of one; 2.5 times 40 */
	u->count[2] = n / (1 + 0.5 * 2 / 100);
	u->count[40] = m / (1 + (0.5 + 0.5) * 40 / 100);
	uid_close(u);
	u->used = 3500;
	u->traffic = 0;
}

static void sim_midas_model(struct kunit *test)
{
	struct uid_groups g = { .hot = 1, .n = 2, .size = { 2 } };
	struct uid u = { 0 };
	double op, a, v;

	uid_two(&u, 80, 20);
	KUNIT_EXPECT_EQ(test, thousandths(u.count[2]), 80000);
	KUNIT_EXPECT_EQ(test, thousandths(u.count[40]), 20000);
	/* G1 holds a block while 1.5 zones, or 6 units of 10 blocks, are written. */
	KUNIT_ASSERT_TRUE(test, uid_expect(&u, &g));
	KUNIT_EXPECT_EQ(test, thousandths(g.valid[0]), 200);
	/* 10 blocks of each of two units, then 2 of each of four are valid there, of 3,500. */
	op = (1 + 1.0 / 80) * 97 * 40 / (3500 - 28);
	/* All of the last group's are alike: A = 1 + 1 / (e^(op / A) - 1). */
	a = (1 + 1.0 / 80) / (1 - g.valid[1]);
	KUNIT_EXPECT_EQ(test, thousandths(a), thousandths(1 + 1 / expm1(op / a)));
	v = g.valid[1];
	KUNIT_EXPECT_EQ(test, thousandths(g.wa), thousandths(1 + 0.2 + 0.2 * v / (1 - v)));
	/* One zone would hold them for 2 units, and none has died by then. */
	g.size[0] = 1;
	KUNIT_EXPECT_TRUE(test, !uid_expect(&u, &g) || g.valid[0] == 1);
	/* As large as it takes, and no larger. */
	KUNIT_ASSERT_TRUE(test, uid_best(&u, 2, &g));
	KUNIT_EXPECT_EQ(test, g.n, 2);
	KUNIT_EXPECT_EQ(test, g.size[0], 2);
	KUNIT_EXPECT_EQ(test, thousandths(g.valid[0]), 200);
	uid_exit(&u);
	/* Two kinds of blocks in one group, of which the slower has 3,200 of 3,240. */
	uid_two(&u, 20, 80);
	g = (struct uid_groups){ .hot = 1, .n = 1 };
	KUNIT_ASSERT_TRUE(test, uid_expect(&u, &g));
	op = (1 + 1.0 / 80) * 99 * 40 / 3500;
	a = (1 + 1.0 / 80) / (1 - g.valid[0]);
	KUNIT_EXPECT_EQ(test, thousandths(a),
			thousandths(1 + 0.2 / expm1(0.2 * op / (40.0 / 3240 * a)) +
				    0.8 / expm1(0.8 * op / (3200.0 / 3240 * a))));
	uid_exit(&u);
	/* HOT, where it is good: what dies within 3 units leaves no copies. */
	uid_two(&u, 80, 20);
	u.traffic = 0.5;
	u.hot_valid = 0.02;
	g = (struct uid_groups){ .hot = 1, .n = 1 };
	KUNIT_ASSERT_TRUE(test, uid_expect(&u, &g));
	v = g.valid[0];
	KUNIT_EXPECT_EQ(test, thousandths(g.wa), thousandths(1 + 0.2 * v / (1 - v)));
	/* Where it is not, it is as measured: half of the writes, a quarter of them left to G1. */
	u.hot_valid = 0.25;
	g.hot = 1;
	KUNIT_ASSERT_TRUE(test, uid_expect(&u, &g));
	v = g.valid[0];
	KUNIT_EXPECT_EQ(test, thousandths(g.wa), thousandths(1 + 0.125 + 0.625 * v / (1 - v)));
	uid_exit(&u);
}

/* --- XFS ------------------------------------------------------------------------- */

/* The zone @writer goes on to fill with a block of @class. */
static u32 xfs_zone(struct sim *s, u8 writer, u8 class, bool last)
{
	u32 stream;

	s->req = (struct sim_req){ .writer = writer, .class = class, .last = last };
	stream = s->p->user(s, 0, SIM_NOWHERE);
	if (s->open[stream] == SIM_NOWHERE)
		s->open[stream] = s->p->choose(s, stream);
	return s->open[stream];
}

static void sim_xfs_zones(struct kunit *test)
{
	struct sim *s = start(test, &sim_xfs);
	u32 a, b, c, d, gc;

	/* Four of five zones are for users. SHORT has one of its own, which all SHORT shares. */
	a = xfs_zone(s, 0, LZ_CLASS_SHORT, false);
	KUNIT_EXPECT_EQ(test, xfs_zone(s, 1, LZ_CLASS_SHORT, false), a);
	KUNIT_EXPECT_EQ(test, s->nr_open, 1);
	/* Another LONG would suit EXTREME, but not so well that a new one may not be opened. */
	b = xfs_zone(s, 2, LZ_CLASS_LONG, false);
	c = xfs_zone(s, 3, LZ_CLASS_EXTREME, false);
	d = xfs_zone(s, 4, LZ_CLASS_NOT_SET, true);
	KUNIT_EXPECT_EQ(test, s->nr_open, 4);
	KUNIT_EXPECT_NE(test, b, c);
	/* None is left: the one used least recently of those that suit, ... */
	KUNIT_EXPECT_EQ(test, xfs_zone(s, 5, LZ_CLASS_EXTREME, false), b);
	KUNIT_EXPECT_EQ(test, xfs_zone(s, 6, LZ_CLASS_LONG, false), c);
	KUNIT_EXPECT_EQ(test, xfs_zone(s, 7, LZ_CLASS_LONG, false), b);
	/* ... or of all; one without a hint takes that of the file. */
	KUNIT_EXPECT_EQ(test, xfs_zone(s, 8, LZ_CLASS_MEDIUM, false), a);
	KUNIT_EXPECT_EQ(test, xfs_zone(s, 9, LZ_CLASS_MEDIUM, false), d);
	KUNIT_EXPECT_EQ(test, xfs_zone(s, 10, LZ_CLASS_MEDIUM, false), d);
	/* A file stays where it is, whatever it says now, and the next one does not. */
	KUNIT_EXPECT_EQ(test, xfs_zone(s, 2, LZ_CLASS_SHORT, true), b);
	KUNIT_EXPECT_EQ(test, xfs_zone(s, 2, LZ_CLASS_SHORT, false), a);
	/* GC has a zone of its own, which is nobody's else. */
	gc = s->p->move(s, 0, a * CAP);
	s->open[gc] = s->p->choose(s, gc);
	KUNIT_EXPECT_EQ(test, s->nr_open, 5);
	KUNIT_EXPECT_EQ(test, xfs_zone(s, 11, LZ_CLASS_NONE, false), c);
}

static void sim_xfs_free(struct kunit *test)
{
	struct sim *s = start(test, &sim_xfs);
	u32 a = xfs_zone(s, 0, LZ_CLASS_LONG, false);

	/* The last free zone is not for users. */
	s->nr_free = 2;
	KUNIT_EXPECT_NE(test, xfs_zone(s, 1, LZ_CLASS_LONG, false), a);
	KUNIT_EXPECT_EQ(test, s->nr_free, 1);
	KUNIT_EXPECT_EQ(test, xfs_zone(s, 2, LZ_CLASS_LONG, false), a);
	/* Victims: the fewest valid; below a hundredth they are alike. */
	zone_is(s, 10, 0, 0, 150);
	zone_is(s, 11, 0, 0, 40);
	KUNIT_EXPECT_TRUE(test, s->p->score(s, 11) > s->p->score(s, 10));
	zone_is(s, 10, 0, 0, 2);
	KUNIT_EXPECT_TRUE(test, s->p->score(s, 10) > s->p->score(s, 11));
	zone_is(s, 11, 0, 0, 1);
	KUNIT_EXPECT_TRUE(test, s->p->score(s, 11) > s->p->score(s, 10));
	zone_is(s, 10, 0, 0, 1);
	KUNIT_EXPECT_TRUE(test, s->p->score(s, 10) == s->p->score(s, 11));
	s->nr_free = ZONES - 2;
}

/* --- perfect hints --------------------------------------------------------------- */

static void sim_perfect_classes(struct kunit *test)
{
	struct sim *s = start(test, &sim_perfect);
	static const struct {
		u32 life;
		u32 class;
	} is[] = {
		{ 1, LZ_CLASS_SHORT }, { 100, LZ_CLASS_SHORT }, { 101, LZ_CLASS_MEDIUM },
		{ 400, LZ_CLASS_MEDIUM }, { 401, LZ_CLASS_LONG }, { 1600, LZ_CLASS_LONG },
		{ 1601, LZ_CLASS_EXTREME },
	};
	u32 i;

	s->clock = 50;
	for (i = 0; i < ARRAY_SIZE(is); i++) {
		s->death[50] = 50 + is[i].life;
		KUNIT_EXPECT_EQ(test, s->p->user(s, 0, 0), is[i].class);
	}
	s->death[50] = SIM_NOWHERE;
	KUNIT_EXPECT_EQ(test, s->p->user(s, 0, 0), LZ_CLASS_EXTREME);
	/* As sla: GC keeps classes apart, from users' blocks and from each other. */
	zone_is(s, 1, LZ_CLASS_LONG, 0, 10);
	KUNIT_EXPECT_EQ(test, s->p->move(s, 0, CAP), SIM_GC_STREAMS + LZ_CLASS_LONG);
}

/* --- CAZA ------------------------------------------------------------------------ */

#define FILE_LBA(f)	((f) * 100)

/* Files of a store in the order they are written, and in which zone each begins. */
static const struct {
	u32 n;			/* blocks */
	struct sim_keys keys;
	u32 inputs[3];		/* of the merge that writes it, by place in this table, from 1 on */
	u32 zone;		/* by order of first use */
} caza_files[] = {
	{ 10, { 1, 0, 100 }, {}, 0 },	/* the first: a new zone */
	{ 20, { 3, 100, 200 }, {}, 1 },	/* nothing speaks for any: a new one */
	{ 10, { 2, 50, 80 }, {}, 0 },	/* with 1 */
	{ 5, { 2, 90, 200 }, {}, 1 },	/* with 2, which has more than 1 */
	{ 5, { 5, 0, 200 }, {}, 2 },	/* two levels away: a new one */
	{ 8, { 1, 0, 100 }, {}, 0 },	/* with 3 rather than 4 */
	{ 6, { 1, 300, 400 }, {}, 0 },	/* where most of the first levels is */
	{ 8, { 3, 300, 400 }, {}, 1 },	/* near 2 */
	{ 8, { 5, 500, 600 }, {}, 2 },	/* near 5 */
	{ 9, { 2, 0, 100 }, { 1, 3, 6 }, 1 },	/* not with what dies for it, but near 4 */
	{ 4, { 7, 0, 10 }, {}, 3 },	/* nothing: a new one, the last that may be open */
	{ 4, { 9, 0, 10 }, {}, 2 },	/* as in ZenFS: of a longer life than LONG */
};

static void sim_caza_files(struct kunit *test)
{
	struct sim *s = start(test, &sim_caza);
	u32 seen[8], inputs[3], n = 0, i, j, at;

	for (i = 0; i < ARRAY_SIZE(caza_files); i++) {
		u32 nr = 0;

		for (; nr < ARRAY_SIZE(inputs) && caza_files[i].inputs[nr]; nr++)
			inputs[nr] = caza_files[i].inputs[nr];
		for (at = 0; at < caza_files[i].n; at++) {
			s->req = (struct sim_req){
				.lba = FILE_LBA(i) + at, .n = 1,
				.class = caza_files[i].keys.level == 5 ? LZ_CLASS_EXTREME :
					LZ_CLASS_LONG,
				.file = i + 1, .keys = caza_files[i].keys,
				.inputs = inputs, .nr_inputs = nr,
			};
			KUNIT_ASSERT_EQ(test, sim_request(s), 0);
		}
		at = sim_zone_of(s, s->map[FILE_LBA(i)]);
		for (j = 0; j < n && seen[j] != at; j++)
			;
		if (j == n)
			seen[n++] = at;
		KUNIT_EXPECT_EQ_MSG(test, j, caza_files[i].zone, "(file %u)", i + 1);
	}
	KUNIT_EXPECT_PTR_EQ(test, sim_check(s), NULL);
}

/* --- the queue ------------------------------------------------------------------- */

/* How long (ns) one waits who writes at @at. */
static u64 latency_at(struct sim *s, u64 at)
{
	struct sim_latency l;

	s->req.at = at;
	sim_queue_reset(s->queue);
	sim_request(s);
	l = sim_queue_latency(s->queue);
	return l.n ? l.max : 0;
}

static struct sim *start_queue(struct kunit *test)
{
	struct sim *s = start(test, &sim_one);

	s->setup.arrivals = SIM_TIMES;
	s->setup.reserve = 1;
	s->queue = sim_queue_new(&s->setup);
	KUNIT_ASSERT_NOT_NULL(test, s->queue);
	s->t.write = 1000;
	s->t.read = 500;
	s->t.erase = 0;
	return s;
}

/* Zone 60, full: blocks 100 and on, @n of them. */
static void victim_of(struct sim *s, u32 n)
{
	u32 i;

	zone_is(s, 60, 0, 0, n);
	for (i = 0; i < n; i++) {
		s->map[100 + i] = 60 * CAP + i;
		s->lba[60 * CAP + i] = 100 + i;
	}
	s->mapped += n;
}

static void sim_queue_pace(struct kunit *test)
{
	struct sim *s = start_queue(test);
	u32 i;

	/* Time begins with the first, and who comes too early waits. */
	KUNIT_EXPECT_EQ(test, latency_at(s, 70000), 1000);
	KUNIT_EXPECT_EQ(test, latency_at(s, 70500), 1500);
	/* A victim with ten valid blocks, two of which are moved while nobody waits. */
	victim_of(s, 10);
	s->nr_free = 3;
	KUNIT_EXPECT_EQ(test, latency_at(s, 75000), 1000);
	KUNIT_EXPECT_EQ(test, s->n.copied, 2);
	/* Two zones above the reserve, of three: GC has a block for two, at first for eight. */
	for (i = 0; i < 6; i++)
		KUNIT_EXPECT_EQ(test, latency_at(s, 76000 + i * 1000), 1000);
	KUNIT_EXPECT_EQ(test, latency_at(s, 82000), 2500);
	KUNIT_EXPECT_EQ(test, s->n.copied, 3);
	/* The last block of a request counts. */
	s->req.more = true;
	KUNIT_EXPECT_EQ(test, latency_at(s, 84000), 0);
	s->req.more = false;
	KUNIT_EXPECT_EQ(test, latency_at(s, 84000), 2500);
	/* At the reserve GC has all of it, until there is one zone more. */
	s->nr_free = 1;
	KUNIT_EXPECT_EQ(test, latency_at(s, 86500), 7 * 1500 + 1000);
	KUNIT_EXPECT_EQ(test, s->n.copied, 10);
	KUNIT_EXPECT_EQ(test, s->nr_free, 2);
	/* Four erases may be put off, not five; a time that goes back is that of the last. */
	s->t.erase = 4000;
	s->n.erased += 5;
	s->t.now += 5 * s->t.erase;
	KUNIT_EXPECT_EQ(test, latency_at(s, 98000), 5000);
	KUNIT_EXPECT_EQ(test, latency_at(s, 70000), 6000);
	/* Others are done while nobody waits. Of a finish it cannot be said that nobody does. */
	KUNIT_EXPECT_EQ(test, latency_at(s, 105000), 1000 + 500);
	s->t.now += 300;
	KUNIT_EXPECT_EQ(test, latency_at(s, 106500), 1300);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, latency_at(s, 200000 + i * 1000), 1000);
}

/* Who has filled two zones since GC has to run gets of the last what it gains. */
static void sim_queue_lent(struct kunit *test)
{
	struct sim *s = start_queue(test);
	u64 before = 0, now = 0;
	u32 i;

	/* Three of four of its blocks are to be moved. */
	victim_of(s, 3 * CAP / 4);
	for (i = 0; i < LZ_PACE_LEND * CAP; i++) {
		s->nr_free = 3;
		now = latency_at(s, 0);
	}
	KUNIT_EXPECT_EQ(test, s->n.copied, LZ_PACE_LEND * CAP / 8);
	for (i = 0; i < 10; i++) {
		s->nr_free = 2;
		before = now;
		now = latency_at(s, 0);
		KUNIT_EXPECT_EQ(test, now - before, 4 * 1500 + 1000);
	}
}

/* One more, who need not wait. */
static void latency_of(struct sim *s)
{
	s->req.at += s->n.user ? 1ull << 41 : 0;
	sim_request(s);
}

/* A latency is told to a 64th, and no smaller than it is. */
static void sim_queue_bins(struct kunit *test)
{
	struct sim *s = start(test, &sim_one);
	u64 v, end, n;
	u32 bin;

	s->setup.arrivals = SIM_TIMES;
	s->queue = sim_queue_new(&s->setup);
	KUNIT_ASSERT_NOT_NULL(test, s->queue);
	for (v = 1; v < 1ull << 40; v += v / 3 + 1) {
		s->t.write = v;
		sim_queue_reset(s->queue);
		latency_of(s);
		/* And one that is longer, so that the end is that of the bin. */
		s->t.write = 1ull << 40;
		latency_of(s);
		bin = 0;
		KUNIT_ASSERT_TRUE(test, sim_queue_bin(s->queue, &bin, &end, &n));
		KUNIT_EXPECT_EQ(test, n, 1);
		KUNIT_EXPECT_TRUE(test, end >= v && end - v <= v / 64);
		KUNIT_EXPECT_EQ(test, sim_queue_latency(s->queue).p50, end);
		KUNIT_EXPECT_EQ(test, sim_queue_latency(s->queue).p99, 1ull << 40);
		KUNIT_ASSERT_TRUE(test, sim_queue_bin(s->queue, &bin, &end, &n));
		KUNIT_EXPECT_EQ(test, end, 1ull << 40);
		KUNIT_EXPECT_FALSE(test, sim_queue_bin(s->queue, &bin, &end, &n));
	}
}

/* A zone that is finished goes by what it holds, not by what it held a life ago. */
static void sim_life_finished(struct kunit *test)
{
	struct sim *s = start(test, &sim_adaptive);
	u32 zone, i, life;
	int rate[2];

	/* All once, and then one in eight of them over and over. */
	for (i = 0; i < 20 * BLOCKS; i++)
		sim_life_user(s, i < BLOCKS ? i : i % (BLOCKS / 8));
	for (life = 0; life < 2; life++) {
		zone = sim_open(s, 0);
		for (i = 0; i < CAP / 2; i++) {
			s->z[zone].wp++;
			s->z[zone].valid++;
			sim_life_wrote(s, life ? BLOCKS / 2 + i : i, zone * CAP + i);
		}
		sim_finish(s, zone);
		rate[life] = sim_life_zone_rate(s, zone);
		/* The next takes it again. */
		s->z[zone].wp = 0;
		s->z[zone].valid = 0;
		s->z[zone].next = s->free;
		s->free = zone;
		s->nr_free++;
	}
	KUNIT_EXPECT_GT(test, rate[0], rate[1] + 512);
}

/* As the module: an empty zone is reset in place of a victim that has no more to gain. */
static void sim_reset_instead(struct kunit *test)
{
	static const enum lz_reset resets[] = { LZ_RESET_ADAPTIVE, LZ_RESET_LAZY };
	u32 i, few, many;

	for (i = 0; i < ARRAY_SIZE(resets); i++) {
		struct sim *s = start(test, &sim_sla);

		s->setup.o.reset = resets[i];
		few = sim_open(s, LZ_CLASS_SHORT);
		many = sim_open(s, LZ_CLASS_SHORT);
		s->z[few].wp = 30;
		s->z[many].wp = 60;
		s->clock = 100 * BLOCKS;
		/* Nobody runs short, and nothing is to be cleaned. */
		KUNIT_EXPECT_EQ(test, sim_pick(s), SIM_NOWHERE);
		zone_is(s, 40, LZ_CLASS_LONG, 1, CAP - 61);
		KUNIT_EXPECT_EQ(test, sim_pick(s), 40u);
		s->z[40].valid++;
		KUNIT_EXPECT_EQ(test, sim_pick(s), resets[i] == LZ_RESET_ADAPTIVE ? many : 40);
		s->z[many].valid = 1;
		s->z[40].valid = CAP - 30;
		KUNIT_EXPECT_EQ(test, sim_pick(s), resets[i] == LZ_RESET_ADAPTIVE ? few : 40);
		/* At the reserve space counts: it is reset if there is nothing else. */
		s->z[40].state = SIM_FREE;
		s->setup.reserve = ZONES;
		KUNIT_EXPECT_EQ(test, sim_pick(s),
				resets[i] == LZ_RESET_ADAPTIVE ? few : SIM_NOWHERE);
		sim_exit(s);
		test->priv = NULL;
	}
}

/* Where a load changes, so does its epoch, with the first write of the new kind. */
static void sim_switch_epoch(struct kunit *test)
{
	const char *why = NULL;
	struct load *l = load_new("switch", BLOCKS, 1, &why);
	struct sim_req req;
	u64 was = 0;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, l);
	for (i = 0; i < 7 * BLOCKS; i++) {
		KUNIT_ASSERT_TRUE(test, load_next(l, &req));
		if (i && !(i % BLOCKS))
			KUNIT_EXPECT_NE(test, load_epoch(l), was);
		else if (i && i / BLOCKS % 3 != 2)
			KUNIT_ASSERT_EQ(test, load_epoch(l), was);
		was = load_epoch(l);
	}
	load_free(l);
}

/* What is said to come soon does, of loads that are drawn alike for ever: so many writes later. */
static void sim_load_soon(struct kunit *test)
{
	static const char *const loads[] = { "uniform", "zipf:0.99", "zipf:1" };
	static u32 soon[3000], came[3000];
	u32 i, k, later;

	for (k = 0; k < ARRAY_SIZE(loads); k++) {
		const char *why;
		struct load *l = load_new(loads[k], 1000, 7, &why);
		struct sim_req req;

		KUNIT_ASSERT_NOT_NULL(test, l);
		for (i = 0; i < 3000; i++) {
			soon[i] = load_soon(l);
			KUNIT_ASSERT_TRUE(test, load_next(l, &req));
			came[i] = req.lba;
		}
		load_free(l);
		for (later = 1; later < 16; later++) {
			for (i = 1000; i + later < 3000 && soon[i] == came[i + later]; i++)
				;
			if (i + later == 3000)
				break;
		}
		KUNIT_EXPECT_LT(test, later, 16);
	}
}

/*
 * Discards of a store are as late as is said, never of what was written after the file died, and
 * then left out, but only then: the store reuses what waits for its discard.
 */
static void sim_late_discards(struct kunit *test)
{
	enum { N = 200000, DELAY = 100000 };
	const char *why;
	struct load *l = load_new("lsm:4:60:delay=100000", N, 1, &why);
	u32 *written = kunit_kcalloc(test, N, sizeof(*written), GFP_KERNEL);
	u32 clock = 0, gone = 0, over = 0, i;
	struct sim_req req;

	KUNIT_ASSERT_NOT_NULL(test, l);
	KUNIT_ASSERT_NOT_NULL(test, written);
	while (clock < 10 * N) {
		KUNIT_ASSERT_TRUE(test, load_next(l, &req));
		if (!req.discard) {
			over += written[req.lba] != 0;
			written[req.lba] = ++clock;
			continue;
		}
		for (i = req.lba; i < req.lba + req.n; i++) {
			KUNIT_ASSERT_NE(test, written[i], 0);
			KUNIT_ASSERT_TRUE(test, clock - written[i] >= DELAY);
			written[i] = 0;
		}
		gone += req.n;
	}
	KUNIT_EXPECT_GT(test, gone, N);
	KUNIT_EXPECT_GT(test, over, N);
	load_free(l);
}

/* A WAL has an end, as other files do, at which it is not closed. */
static void sim_wal_ends(struct kunit *test)
{
	enum { N = 200000 };
	u32 wal = 0, wals = 0, i;
	struct sim_req req;
	const char *why;
	struct load *l = load_new("lsm:4:60", N, 1, &why);

	KUNIT_ASSERT_NOT_NULL(test, l);
	for (i = 0; i < 4 * N; i++) {
		KUNIT_ASSERT_TRUE(test, load_next(l, &req));
		if (req.discard || !req.open)
			continue;
		KUNIT_EXPECT_EQ(test, req.class, LZ_CLASS_SHORT);
		wal++;
		if (!req.last)
			continue;
		KUNIT_EXPECT_EQ(test, wal, 1024u);
		wal = 0;
		wals++;
	}
	KUNIT_EXPECT_GT(test, wals, 10u);
	load_free(l);
}

static struct kunit_case sim_cases[] = {
	KUNIT_CASE(sim_wal_ends),
	KUNIT_CASE(sim_late_discards),
	KUNIT_CASE(sim_load_soon),
	KUNIT_CASE(sim_default_cost),
	KUNIT_CASE(sim_victim_rules),
	KUNIT_CASE(sim_dac_regions),
	KUNIT_CASE(sim_sepbit_lives),
	KUNIT_CASE(sim_sepbit_dies),
	KUNIT_CASE(sim_midas_heat),
	KUNIT_CASE(sim_midas_life),
	KUNIT_CASE(sim_midas_chain),
	KUNIT_CASE(sim_midas_look),
	KUNIT_CASE(sim_midas_model),
	KUNIT_CASE(sim_xfs_zones),
	KUNIT_CASE(sim_xfs_free),
	KUNIT_CASE(sim_perfect_classes),
	KUNIT_CASE(sim_caza_files),
	KUNIT_CASE(sim_queue_pace),
	KUNIT_CASE(sim_queue_lent),
	KUNIT_CASE(sim_queue_bins),
	KUNIT_CASE(sim_life_finished),
	KUNIT_CASE(sim_reset_instead),
	KUNIT_CASE(sim_switch_epoch),
	{}
};

static struct kunit_suite sim_suite = {
	.name = "simulator",
	.exit = sim_test_exit,
	.test_cases = sim_cases,
};

kunit_test_suite(sim_suite);
