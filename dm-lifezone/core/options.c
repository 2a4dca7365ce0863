// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options: their names, values, defaults and limits, in one table, from which
 * the table line, messages, sysfs and the tools parse and print alike.
 */
#include "policy.h"

/* In the order of enum lz_class. */
const char *const lz_class_names[LZ_NR_ZONE_CLASSES] = {
	"not_set", "none", "short", "medium", "long", "extreme", "meta",
	"group0", "group1", "group2", "group3", "group4", "group5", "group6", "group7",
	"group8", "group9", "group10",
};

/* In the order of their enums. */
static const char *const lz_policy_names[] = { "zenfs", "wla", "sla", "adaptive", NULL };
static const char *const lz_reset_names[] = { "eager", "lazy", "adaptive", NULL };
static const char *const lz_finish_names[] = { "never", "mismatch", "cost", NULL };
static const char *const lz_isolation_names[] = { "persistent", "initial", "adaptive", NULL };
static const char *const lz_victim_names[] = {
	"greedy", "cost_benefit", "mdc", "auto", NULL
};

static_assert(ARRAY_SIZE(lz_policy_names) == LZ_NR_POLICIES + 1, "policies");
static_assert(ARRAY_SIZE(lz_reset_names) == LZ_NR_RESETS + 1, "reset rules");
static_assert(ARRAY_SIZE(lz_finish_names) == LZ_NR_FINISHES + 1, "finish rules");
static_assert(ARRAY_SIZE(lz_isolation_names) == LZ_NR_ISOLATIONS + 1, "isolation rules");
static_assert(ARRAY_SIZE(lz_victim_names) == LZ_NR_VICTIMS + 1, "victim rules");

/**
 * struct lz_option - one option
 * @key: its name
 * @names: allowed words up to a NULL, or NULL for a number
 * @offset: where it is in struct lz_options (u8 for words, u32 for numbers)
 * @preset: default
 * @min: least number other than 0
 * @max: largest number
 * @zero: 0 is allowed although it is below @min
 * @fixed: cannot change while the device is in use
 */
struct lz_option {
	const char *key;
	const char *const *names;
	u32 offset;
	u32 preset;
	u32 min;
	u32 max;
	bool zero;
	bool fixed;
};

#define FIELD(f)	.offset = offsetof(struct lz_options, f)

/* The order is that of the table line; new options go to the end. */
static const struct lz_option lz_options[] = {
	{
		.key = "policy", FIELD(policy),
		.names = lz_policy_names, .preset = LZ_POLICY_ADAPTIVE,
	},
	{
		.key = "reset", FIELD(reset),
		.names = lz_reset_names, .preset = LZ_RESET_ADAPTIVE,
	},
	{
		.key = "finish", FIELD(finish),
		.names = lz_finish_names, .preset = LZ_FINISH_COST,
	},
	{
		.key = "gc_isolation", FIELD(isolation),
		.names = lz_isolation_names, .preset = LZ_ISOLATION_PERSISTENT,
	},
	{
		.key = "victim", FIELD(victim),
		.names = lz_victim_names, .preset = LZ_VICTIM_AUTO,
	},
	{
		.key = "max_open", FIELD(max_open),
		/* The budget is handed out at load. */
		.min = LZ_MAX_OPEN_MIN, .max = LZ_BUDGET_MAX, .zero = true, .fixed = true,
	},
	{
		.key = "map_cache_mb", FIELD(map_cache_mb),
		/* Sized at load; 1 TiB is beyond any map. */
		.max = 1u << 20, .zero = true, .fixed = true,
	},
	{
		.key = "commit_ms", FIELD(commit_ms),
		.preset = LZ_COMMIT_MS_DEFAULT,
		.min = LZ_COMMIT_MS_MIN, .max = LZ_COMMIT_MS_MAX,
	},
	{
		.key = "gc_ahead", FIELD(gc_ahead),
		.preset = LZ_GC_AHEAD_DEFAULT, .max = LZ_GC_AHEAD_MAX,
	},
};

static u32 lz_option_read(const struct lz_options *o, const struct lz_option *opt)
{
	const u8 *p = (const u8 *)o + opt->offset;

	return opt->names ? *p : *(const u32 *)p;
}

static void lz_option_write(struct lz_options *o, const struct lz_option *opt, u32 v)
{
	u8 *p = (u8 *)o + opt->offset;

	if (opt->names)
		*p = v;
	else
		*(u32 *)p = v;
}

/**
 * lz_options_default - set all options to their defaults
 * @o: options
 */
void lz_options_default(struct lz_options *o)
{
	unsigned int i;

	memset(o, 0, sizeof(*o));
	for (i = 0; i < ARRAY_SIZE(lz_options); i++)
		lz_option_write(o, &lz_options[i], lz_options[i].preset);
}

static int lz_option_word(const struct lz_option *opt, const char *value, u32 *v,
			  char *why, size_t n)
{
	size_t used;
	u32 i;

	for (i = 0; opt->names[i]; i++) {
		if (!strcmp(value, opt->names[i])) {
			*v = i;
			return 0;
		}
	}
	used = scnprintf(why, n, "%s=%s: unknown, allowed:", opt->key, value);
	for (i = 0; opt->names[i]; i++)
		used += scnprintf(why + used, n - used, " %s", opt->names[i]);
	return -EINVAL;
}

static int lz_option_number(const struct lz_option *opt, const char *value, u32 *v,
			    char *why, size_t n)
{
	int err = kstrtou32(value, 10, v);

	if (!err && ((opt->zero && !*v) || (*v >= opt->min && *v <= opt->max)))
		return 0;
	scnprintf(why, n, "%s=%s: %s, allowed: %s%u..%u", opt->key, value,
		  err == -EINVAL ? "not a number" : "out of range",
		  opt->zero && opt->min ? "0, " : "", opt->min, opt->max);
	return -EINVAL;
}

/**
 * lz_option_set - set one option
 * @o: options; unchanged on error
 * @key: its name
 * @value: its value, as the user wrote it
 * @live: the device is in use
 * @why: on error, one line for the user
 * @why_size: size of @why (bytes)
 *
 * Return: 0 or -EINVAL.
 */
int lz_option_set(struct lz_options *o, const char *key, const char *value,
		  bool live, char *why, size_t why_size)
{
	const struct lz_option *opt;
	unsigned int i;
	size_t used;
	u32 v = 0;
	int err;

	for (i = 0; i < ARRAY_SIZE(lz_options); i++) {
		opt = &lz_options[i];
		if (strcmp(key, opt->key))
			continue;
		err = opt->names ? lz_option_word(opt, value, &v, why, why_size) :
				   lz_option_number(opt, value, &v, why, why_size);
		if (err)
			return err;
		if (live && opt->fixed) {
			/* To say again what holds already is no change. */
			if (v == lz_option_read(o, opt))
				return 0;
			scnprintf(why, why_size, "%s=%s: fixed while in use, load a new table",
				  key, value);
			return -EINVAL;
		}
		lz_option_write(o, opt, v);
		return 0;
	}

	used = scnprintf(why, why_size, "%s: unknown option, allowed:", key);
	for (i = 0; i < ARRAY_SIZE(lz_options); i++)
		used += scnprintf(why + used, why_size - used, " %s", lz_options[i].key);
	return -EINVAL;
}

/**
 * lz_option_get - print one option
 * @o: options
 * @i: its number, from 0
 * @key: its name
 * @value: its value
 * @value_size: size of @value (bytes)
 *
 * Return: false when @i is past the last.
 */
bool lz_option_get(const struct lz_options *o, unsigned int i, const char **key,
		   char *value, size_t value_size)
{
	const struct lz_option *opt;
	u32 v;

	if (i >= ARRAY_SIZE(lz_options))
		return false;
	opt = &lz_options[i];
	v = lz_option_read(o, opt);
	*key = opt->key;
	if (opt->names)
		scnprintf(value, value_size, "%s", opt->names[v]);
	else
		scnprintf(value, value_size, "%u", v);
	return true;
}
