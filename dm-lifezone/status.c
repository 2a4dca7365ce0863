// SPDX-License-Identifier: GPL-2.0-only
/*
 * What "dmsetup status" and "dmsetup table" show of a target. Neither waits for anything: they
 * answer during suspend, recovery and stop.
 */
#include "shell.h"

static const enum lz_stat lz_meta_stats[] = {
	LZ_ST_SUMMARY_BLOCKS, LZ_ST_JOURNAL_BLOCKS, LZ_ST_NODE_BLOCKS, LZ_ST_ROOT_BLOCKS,
};

static u64 lz_meta_blocks(struct lz *lz)
{
	u64 n = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lz_meta_stats); i++)
		n += lz_stat(lz, lz_meta_stats[i]);
	return n;
}

/**
 * lz_format_amplification - write amplification as a decimal fraction
 * @lz: core's device
 * @buf: receives it, like "1.043"
 * @size: its size
 *
 * All blocks written to the drive divided by those that users wrote.
 *
 * Return: length.
 */
int lz_format_amplification(struct lz *lz, char *buf, size_t size)
{
	u64 user = lz_stat(lz, LZ_ST_USER_WRITES);
	u64 extra = lz_stat(lz, LZ_ST_GC_COPIES) + lz_meta_blocks(lz);
	u64 whole, rest;

	if (!user)
		return scnprintf(buf, size, "1.000");
	whole = div64_u64_rem(user + extra, user, &rest);
	return scnprintf(buf, size, "%llu.%03llu", whole, div64_u64(rest * 1000, user));
}

static void lz_status_info(struct lz_target *lt, char *result, unsigned int maxlen)
{
	char value[LZ_VALUE_SIZE];
	struct lz_options o;
	struct lz_info info;
	struct lz *lz;
	unsigned int sz = 0;
	const char *key;
	unsigned int i;

	if (!lz_target_loaded(lt)) {
		DMEMIT("Error");
		return;
	}
	lz = lt->lz;
	lz_get_info(lz, &info);
	if (info.mode == LZ_MODE_FAIL) {
		DMEMIT("Fail");
		return;
	}
	DMEMIT("mode %s mapped_blocks %llu/%llu", lz_mode_names[info.mode], info.mapped,
	       info.logical_blocks);
	DMEMIT(" zones_free %u low_water %u zones_open %u zones_full %u zones_meta %u zones_bad %u",
	       info.free_zones, info.low_water, info.zones[LZ_ZS_OPEN],
	       info.zones[LZ_ZS_FULL], info.zones[LZ_ZS_META] + info.zones[LZ_ZS_ROOT],
	       info.zones[LZ_ZS_BAD]);
	DMEMIT(" budget %u/%u", info.open, info.budget);
	DMEMIT(" user_writes %llu gc_copies %llu meta_writes %llu",
	       lz_stat(lz, LZ_ST_USER_WRITES), lz_stat(lz, LZ_ST_GC_COPIES),
	       lz_meta_blocks(lz));
	lz_format_amplification(lz, value, sizeof(value));
	DMEMIT(" write_amplification %s", value);
	DMEMIT(" discards %llu flushes %llu stalls %llu stall_ns %llu",
	       lz_stat(lz, LZ_ST_DISCARDS), lz_stat(lz, LZ_ST_FLUSHES),
	       lz_stat(lz, LZ_ST_STALLS), lz_stat(lz, LZ_ST_STALL_NS));
	DMEMIT(" checkpoint %llu commit %llu uncommitted %llu delta %u/%u leaves %u/%u",
	       info.checkpoint, info.commit, info.uncommitted, info.delta_used,
	       info.delta_cap, info.leaves_cached, info.leaves_max);

	o = lz_options_now(lt);
	for (i = 0; lz_option_get(&o, i, &key, value, sizeof(value)); i++)
		DMEMIT(" %s %s", key, value);
}

/* Options of the table line: those that were given, and those changed since. */
static void lz_status_table(struct lz_target *lt, char *result, unsigned int maxlen)
{
	char value[LZ_VALUE_SIZE], standard[LZ_VALUE_SIZE];
	struct lz_options o, d;
	unsigned int sz = 0, n = 0, i;
	unsigned long shown = lt->given;
	const char *key;

	o = lz_options_now(lt);
	lz_options_default(&d);
	for (i = 0; lz_option_get(&o, i, &key, value, sizeof(value)); i++) {
		lz_option_get(&d, i, &key, standard, sizeof(standard));
		if (strcmp(value, standard))
			__set_bit(i, &shown);
		if (test_bit(i, &shown))
			n += 2;
	}
	DMEMIT("%s", lt->dev->name);
	if (!n)
		return;
	DMEMIT(" %u", n);
	for (i = 0; lz_option_get(&o, i, &key, value, sizeof(value)); i++)
		if (test_bit(i, &shown))
			DMEMIT(" %s %s", key, value);
}

static void lz_status_ima(struct lz_target *lt, char *result, unsigned int maxlen)
{
	struct dm_target *ti = lt->ti;
	char value[LZ_VALUE_SIZE];
	struct lz_options o;
	unsigned int sz = 0, i;
	const char *key;

	DMEMIT_TARGET_NAME_VERSION(ti->type);
	DMEMIT(",device_name=%s,uuid=%pUb", lt->dev->name, lt->super.uuid);
	o = lz_options_now(lt);
	for (i = 0; lz_option_get(&o, i, &key, value, sizeof(value)); i++)
		DMEMIT(",%s=%s", key, value);
	DMEMIT(";");
}

void lz_status(struct dm_target *ti, status_type_t type, unsigned int flags,
	       char *result, unsigned int maxlen)
{
	struct lz_target *lt = ti->private;

	switch (type) {
	case STATUSTYPE_INFO:
		lz_status_info(lt, result, maxlen);
		break;
	case STATUSTYPE_TABLE:
		lz_status_table(lt, result, maxlen);
		break;
	case STATUSTYPE_IMA:
		lz_status_ima(lt, result, maxlen);
		break;
	}
}
