// SPDX-License-Identifier: GPL-2.0-only
/* Which zone GC cleans. */
#include "../core/policy.h"
#include "unit.h"

#define CAP	4096u
#define AGE_MAX	((1ull << LZ_ADDR_BITS) - 1)

static u64 cb(u32 valid, u32 cap, u64 age)
{
	return lz_victim_score(LZ_VICTIM_COST_BENEFIT, valid, cap, age, 0);
}

static u64 greedy(u32 valid, u32 cap, u64 age)
{
	return lz_victim_score(LZ_VICTIM_GREEDY, valid, cap, age, 0);
}

/* 0 where nothing is to be gained, and only there. */
static void check_zero(struct kunit *test, u8 how, u32 cap, u64 age)
{
	KUNIT_EXPECT_FALSE(test, lz_victim_score(how, cap, cap, age, 0));
	KUNIT_EXPECT_FALSE(test, lz_victim_score(how, cap + 1, cap, age, 0));
	KUNIT_EXPECT_TRUE(test, lz_victim_score(how, cap - 1, cap, age, 0));
	KUNIT_EXPECT_TRUE(test, lz_victim_score(how, 0, cap, age, 0));
}

static void victim_zero_iff_full(struct kunit *test)
{
	static const u32 caps[] = { 1, 2, 255, 4096, 275712, LZ_ZONE_BLOCKS_MAX };
	static const u64 ages[] = { 0, 1, 1000, 1ull << 39, AGE_MAX, ~0ull };
	unsigned int c, a;
	u8 how;

	for (how = 0; how < LZ_VICTIM_AUTO; how++)
		for (c = 0; c < ARRAY_SIZE(caps); c++)
			for (a = 0; a < ARRAY_SIZE(ages); a++)
				check_zero(test, how, caps[c], ages[a]);
}

/* What auto stands for, and nothing else. */
static void victim_auto(struct kunit *test)
{
	struct lz_options o = {};
	u8 i;

	for (i = 0; i < LZ_NR_POLICIES * LZ_NR_ISOLATIONS; i++) {
		o.policy = i % LZ_NR_POLICIES;
		o.isolation = i / LZ_NR_POLICIES;
		for (o.victim = 0; o.victim < LZ_VICTIM_AUTO; o.victim++)
			KUNIT_EXPECT_EQ(test, (u8)lz_victim_rule(&o), o.victim);
		KUNIT_EXPECT_EQ(test, (u8)lz_victim_rule(&o),
				(u8)(o.policy == LZ_POLICY_ADAPTIVE ||
				     o.isolation == LZ_ISOLATION_ADAPTIVE ?
				     LZ_VICTIM_MDC : LZ_VICTIM_COST_BENEFIT));
	}
}

/* Where only the age is known: a rate of once in it, and the mean at one device. */
static void victim_age_rate(struct kunit *test)
{
	u64 age;

	KUNIT_EXPECT_EQ(test, lz_victim_age_rate((1 << 20) - 1, 1 << 20), 0);
	for (age = 0; age < 1ull << 39; age = 2 * age + 1)
		KUNIT_EXPECT_EQ(test, lz_victim_age_rate(age, 1 << 20) - 256,
				lz_victim_age_rate(2 * age + 1, 1 << 20));
}

static u64 mdc(u32 valid, int rate)
{
	return lz_victim_score(LZ_VICTIM_MDC, valid, CAP, 0, rate);
}

/* (1 - u)^2 / (u f), as a logarithm in 256ths; nothing valid counts like one block. */
static void victim_mdc_formula(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, mdc(CAP / 2, 0) - mdc(CAP / 2, 300), 300ull);
	/* u from a half to three quarters: a quarter, by one and a half. */
	KUNIT_EXPECT_GE(test, mdc(CAP / 2, 0) - mdc(CAP / 4 * 3, 0), 2 * 256ull + 149 - 3);
	KUNIT_EXPECT_LE(test, mdc(CAP / 2, 0) - mdc(CAP / 4 * 3, 0), 2 * 256ull + 149 + 3);
	KUNIT_EXPECT_GE(test, mdc(0, 0), mdc(1, 0));
	KUNIT_EXPECT_LE(test, mdc(0, 0), mdc(1, 0) + 2);
	KUNIT_EXPECT_GE(test, mdc(1, 0), mdc(2, 0) + 256);
}

static void victim_greedy_fewest_valid(struct kunit *test)
{
	u32 v;

	for (v = 1; v <= CAP; v++)
		KUNIT_EXPECT_GT(test, greedy(v - 1, CAP, 5), greedy(v, CAP, 1000000));
}

static void victim_cost_benefit_grows(struct kunit *test)
{
	u64 age;
	u32 v;

	/* With garbage, at any age: also at none, and at the greatest. */
	for (v = 1; v < CAP; v++) {
		KUNIT_EXPECT_GT(test, cb(v - 1, CAP, 0), cb(v, CAP, 0));
		KUNIT_EXPECT_GT(test, cb(v - 1, CAP, 1 << 20), cb(v, CAP, 1 << 20));
		KUNIT_EXPECT_GT(test, cb(v - 1, CAP, AGE_MAX), cb(v, CAP, AGE_MAX));
	}
	/* With age, however full. */
	for (age = 1; age < AGE_MAX / 2; age *= 2)
		for (v = 0; v < CAP; v += 65)
			KUNIT_EXPECT_GT(test, cb(v, CAP, 2 * age), cb(v, CAP, age));
}

/* (1 - u) / u * sqrt(age) by hand: which of two zones is to be taken. */
static void victim_cost_benefit_formula(struct kunit *test)
{
	/* u = 1/2: sqrt(age); u = 1/4: 3 sqrt(age); u = 3/4: sqrt(age)/3. */
	KUNIT_EXPECT_GT(test, cb(2048, CAP, 9100), cb(1024, CAP, 1000));
	KUNIT_EXPECT_LT(test, cb(2048, CAP, 8900), cb(1024, CAP, 1000));
	KUNIT_EXPECT_GT(test, cb(3072, CAP, 82000), cb(1024, CAP, 1000));
	KUNIT_EXPECT_LT(test, cb(3072, CAP, 80000), cb(1024, CAP, 1000));
	/* An old zone nearly full goes before a young one half empty; greedy differs. */
	KUNIT_EXPECT_GT(test, cb(3686, CAP, 1000000), cb(2048, CAP, 10000));
	KUNIT_EXPECT_LT(test, greedy(3686, CAP, 1000000), greedy(2048, CAP, 10000));
	/* One valid block is half of two. */
	KUNIT_EXPECT_GT(test, cb(1, CAP, 1000), 2 * cb(2, CAP, 1000));
	/* The share counts, not the size of the zone. */
	KUNIT_EXPECT_EQ(test, cb(1024, CAP, 777), cb(2048, 2 * CAP, 777));
}

/* At the limits of the format nothing wraps around. */
static void victim_no_overflow(struct kunit *test)
{
	const u32 cap = LZ_ZONE_BLOCKS_MAX;

	KUNIT_EXPECT_GT(test, cb(0, cap, AGE_MAX), cb(0, cap, AGE_MAX - 1024));
	KUNIT_EXPECT_GT(test, cb(0, cap, AGE_MAX), cb(cap / 2, cap, AGE_MAX));
	KUNIT_EXPECT_GE(test, cb(0, cap, ~0ull), cb(0, cap, AGE_MAX));
	KUNIT_EXPECT_GE(test, cb(0, cap, ~0ull), cb(cap - 1, cap, ~0ull));
	KUNIT_EXPECT_GT(test, cb(cap / 2, cap, AGE_MAX), cb(cap / 2, cap, AGE_MAX / 2));
}

/* What gains next to nothing is left alone, the more so while there is time. */
static void victim_worth(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, lz_victim_worth(0, 119, false));
	KUNIT_EXPECT_TRUE(test, lz_victim_worth(119 - 5, 119, false));
	KUNIT_EXPECT_FALSE(test, lz_victim_worth(119 - 4, 119, false));
	KUNIT_EXPECT_TRUE(test, lz_victim_worth(119 - 2, 119, true));
	KUNIT_EXPECT_FALSE(test, lz_victim_worth(119 - 1, 119, true));
	KUNIT_EXPECT_FALSE(test, lz_victim_worth(119, 119, true));
	KUNIT_EXPECT_FALSE(test, lz_victim_worth(120, 119, true));
	KUNIT_EXPECT_FALSE(test, lz_victim_worth(~0u, 119, true));
	/* Garbage as thin as the least spare space, spread evenly, can still be gathered. */
	KUNIT_EXPECT_TRUE(test, lz_victim_worth(275162 / 1000 * 980, 275162, true));
	KUNIT_EXPECT_FALSE(test, lz_victim_worth(275162 / 1000 * 980, 275162, false));
}

static struct kunit_case victim_cases[] = {
	KUNIT_CASE(victim_zero_iff_full),
	KUNIT_CASE(victim_auto),
	KUNIT_CASE(victim_age_rate),
	KUNIT_CASE(victim_mdc_formula),
	KUNIT_CASE(victim_greedy_fewest_valid),
	KUNIT_CASE(victim_cost_benefit_grows),
	KUNIT_CASE(victim_cost_benefit_formula),
	KUNIT_CASE(victim_no_overflow),
	KUNIT_CASE(victim_worth),
	{}
};

static struct kunit_suite victim_suite = {
	.name = "lifezone-victim",
	.test_cases = victim_cases,
};

kunit_test_suite(victim_suite);
