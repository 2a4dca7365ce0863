// SPDX-License-Identifier: GPL-2.0-only
/* Options: parsing, printing, limits and what the user is told. */
#include "../core/policy.h"
#include "unit.h"

/* key, default, all allowed words or numbers */
static const struct {
	const char *key, *preset, *values[8];
} good[] = {
	{ "policy", "adaptive", { "zenfs", "wla", "sla", "adaptive" } },
	{ "reset", "adaptive", { "eager", "lazy", "adaptive" } },
	{ "finish", "cost", { "never", "mismatch", "cost" } },
	{ "gc_isolation", "persistent", { "persistent", "initial", "adaptive" } },
	{ "victim", "auto", { "greedy", "cost_benefit", "mdc", "auto" } },
	{ "max_open", "0", { "0", "4", "5", "64" } },
	{ "map_cache_mb", "0", { "0", "1", "1048576" } },
	{ "commit_ms", "1000", { "10", "1000", "600000" } },
	{ "gc_ahead", "4", { "0", "1", "4", "64" } },
};

static const struct {
	const char *key, *value, *why;
} bad[] = {
	{ "policy", "foo", "policy=foo: unknown, allowed: zenfs wla sla adaptive" },
	{ "policy", "", "policy=: unknown, allowed: zenfs wla sla adaptive" },
	{ "policy", "WLA", "policy=WLA: unknown, allowed: zenfs wla sla adaptive" },
	{ "policy", "wl", "policy=wl: unknown, allowed: zenfs wla sla adaptive" },
	{ "policy", "wla ", "policy=wla : unknown, allowed: zenfs wla sla adaptive" },
	{ "reset", "late", "reset=late: unknown, allowed: eager lazy adaptive" },
	{ "finish", "always", "finish=always: unknown, allowed: never mismatch cost" },
	{ "gc_isolation", "no", "gc_isolation=no: unknown, allowed: persistent initial adaptive" },
	{ "victim", "oldest", "victim=oldest: unknown, allowed: greedy cost_benefit mdc auto" },
	{ "max_open", "3", "max_open=3: out of range, allowed: 0, 4..64" },
	{ "max_open", "x", "max_open=x: not a number, allowed: 0, 4..64" },
	{ "max_open", "65", "max_open=65: out of range, allowed: 0, 4..64" },
	{ "max_open", "4294967295",
	  "max_open=4294967295: out of range, allowed: 0, 4..64" },
	{ "max_open", "4294967296",
	  "max_open=4294967296: out of range, allowed: 0, 4..64" },
	{ "max_open", "99999999999999999999999",
	  "max_open=99999999999999999999999: out of range, allowed: 0, 4..64" },
	{ "max_open", "-1", "max_open=-1: not a number, allowed: 0, 4..64" },
	{ "max_open", "0x10", "max_open=0x10: not a number, allowed: 0, 4..64" },
	{ "map_cache_mb", "1048577", "map_cache_mb=1048577: out of range, allowed: 0..1048576" },
	{ "commit_ms", "0", "commit_ms=0: out of range, allowed: 10..600000" },
	{ "commit_ms", "9", "commit_ms=9: out of range, allowed: 10..600000" },
	{ "commit_ms", "600001", "commit_ms=600001: out of range, allowed: 10..600000" },
	{ "commit_ms", "10s", "commit_ms=10s: not a number, allowed: 10..600000" },
	{ "commit_ms", "", "commit_ms=: not a number, allowed: 10..600000" },
	{ "gc_ahead", "65", "gc_ahead=65: out of range, allowed: 0..64" },
	{ "speed", "1",
	  "speed: unknown option, allowed: policy reset finish gc_isolation victim max_open map_cache_mb commit_ms gc_ahead",
	},
	{ "", "1",
	  ": unknown option, allowed: policy reset finish gc_isolation victim max_open map_cache_mb commit_ms gc_ahead",
	},
};

static const char *get(const struct lz_options *o, const char *key, char *value, size_t n)
{
	const char *k;
	unsigned int i;

	for (i = 0; lz_option_get(o, i, &k, value, n); i++)
		if (!strcmp(k, key))
			return value;
	return "(no such option)";
}

static void options_defaults(struct kunit *test)
{
	struct lz_options o;
	const char *key;
	char value[32];
	unsigned int i;

	memset(&o, 0xff, sizeof(o));
	lz_options_default(&o);
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		KUNIT_ASSERT_TRUE(test, lz_option_get(&o, i, &key, value, sizeof(value)));
		KUNIT_EXPECT_STREQ(test, key, good[i].key);
		KUNIT_EXPECT_STREQ(test, value, good[i].preset);
	}
	KUNIT_EXPECT_FALSE(test, lz_option_get(&o, i, &key, value, sizeof(value)));

	KUNIT_EXPECT_EQ(test, o.policy, LZ_POLICY_ADAPTIVE);
	KUNIT_EXPECT_EQ(test, o.reset, LZ_RESET_ADAPTIVE);
	KUNIT_EXPECT_EQ(test, o.finish, LZ_FINISH_COST);
	KUNIT_EXPECT_EQ(test, o.isolation, LZ_ISOLATION_PERSISTENT);
	KUNIT_EXPECT_EQ(test, o.victim, LZ_VICTIM_AUTO);
	KUNIT_EXPECT_EQ(test, o.max_open, 0u);
	KUNIT_EXPECT_EQ(test, o.map_cache_mb, 0u);
	KUNIT_EXPECT_EQ(test, o.commit_ms, 1000u);
	KUNIT_EXPECT_EQ(test, o.gc_ahead, 4u);
}

/* What can be set is printed as it was given, and changes nothing else. */
static void options_round_trip(struct kunit *test)
{
	unsigned int i, j, k;
	struct lz_options o;
	char why[256], value[32];

	for (i = 0; i < ARRAY_SIZE(good); i++)
		for (j = 0; good[i].values[j]; j++) {
			lz_options_default(&o);
			why[0] = 0;
			KUNIT_EXPECT_EQ_MSG(test, lz_option_set(&o, good[i].key, good[i].values[j],
								false, why, sizeof(why)),
					    0, "(%s)", why);
			for (k = 0; k < ARRAY_SIZE(good); k++)
				KUNIT_EXPECT_STREQ(test,
						   get(&o, good[k].key, value, sizeof(value)),
						   k == i ? good[i].values[j] : good[k].preset);
		}
}

static void options_errors(struct kunit *test)
{
	struct lz_options o, before;
	char why[256];
	unsigned int i;

	lz_options_default(&o);
	before = o;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		why[0] = 0;
		KUNIT_EXPECT_EQ(test, lz_option_set(&o, bad[i].key, bad[i].value, false, why,
						    sizeof(why)), -EINVAL);
		KUNIT_EXPECT_STREQ(test, why, bad[i].why);
		KUNIT_EXPECT_EQ(test, memcmp(&o, &before, sizeof(o)), 0);
	}
}

static void options_live(struct kunit *test)
{
	struct lz_options o;
	char why[256] = "";

	lz_options_default(&o);
	KUNIT_EXPECT_EQ(test, lz_option_set(&o, "policy", "sla", true, why, sizeof(why)), 0);
	KUNIT_EXPECT_EQ(test, o.policy, LZ_POLICY_SLA);
	KUNIT_EXPECT_EQ(test, lz_option_set(&o, "commit_ms", "50", true, why, sizeof(why)), 0);
	KUNIT_EXPECT_EQ(test, o.commit_ms, 50u);
	KUNIT_EXPECT_EQ(test, lz_option_set(&o, "max_open", "9", true, why, sizeof(why)), -EINVAL);
	KUNIT_EXPECT_STREQ(test, why,
			   "max_open=9: fixed while in use, load a new table");
	KUNIT_EXPECT_EQ(test, o.max_open, 0u);
	KUNIT_EXPECT_EQ(test, lz_option_set(&o, "max_open", "0", true, why, sizeof(why)), 0);
	KUNIT_EXPECT_EQ(test, lz_option_set(&o, "map_cache_mb", "9", true, why, sizeof(why)),
			-EINVAL);
	KUNIT_EXPECT_STREQ(test, why,
			   "map_cache_mb=9: fixed while in use, load a new table");
}

/* A line that does not fit is cut, never written past its end. */
static void options_short_buffer(struct kunit *test)
{
	struct lz_options o;
	char why[64];
	size_t n;

	lz_options_default(&o);
	for (n = 1; n < 40; n++) {
		memset(why, '#', sizeof(why));
		KUNIT_EXPECT_EQ(test, lz_option_set(&o, "policy", "foo", false, why, n), -EINVAL);
		KUNIT_EXPECT_EQ(test, strlen(why), n - 1);
		KUNIT_EXPECT_EQ(test, why[n], '#');
	}
}

static void options_class_names(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, lz_class_names[LZ_CLASS_NOT_SET], "not_set");
	KUNIT_EXPECT_STREQ(test, lz_class_names[LZ_CLASS_NONE], "none");
	KUNIT_EXPECT_STREQ(test, lz_class_names[LZ_CLASS_SHORT], "short");
	KUNIT_EXPECT_STREQ(test, lz_class_names[LZ_CLASS_MEDIUM], "medium");
	KUNIT_EXPECT_STREQ(test, lz_class_names[LZ_CLASS_LONG], "long");
	KUNIT_EXPECT_STREQ(test, lz_class_names[LZ_CLASS_EXTREME], "extreme");
	KUNIT_EXPECT_STREQ(test, lz_class_names[LZ_CLASS_META], "meta");
}

static struct kunit_case options_cases[] = {
	KUNIT_CASE(options_defaults),
	KUNIT_CASE(options_round_trip),
	KUNIT_CASE(options_errors),
	KUNIT_CASE(options_live),
	KUNIT_CASE(options_short_buffer),
	KUNIT_CASE(options_class_names),
	{}
};

static struct kunit_suite options_suite = {
	.name = "lifezone-options",
	.test_cases = options_cases,
};

kunit_test_suite(options_suite);
