// SPDX-License-Identifier: GPL-2.0-only
/*
 * States to begin from: what operations drawn from a seed lead to, until it is one
 * wanted. All is durable in it.
 */
#include "tiny.h"

static bool is_empty(void)
{
	return true;
}

static bool is_one_from_full(void)
{
	u32 i;

	for (i = 0; i < tiny.lz->data_slots; i++) {
		struct lz_open *o = &tiny.lz->open[i];

		if (o->zone == LZ_NONE || o->gc)
			continue;
		if (lz_zone_room(tiny.lz, &tiny.lz->zone[o->zone]) == 1)
			return true;
	}
	return false;
}

/* The next zone opened is one too many. */
static bool is_gc_due(void)
{
	struct lz_pace_in in = {
		.free_zones = lz_free_for(tiny.lz, true), .reserve = tiny.lz->si.gc_zones,
		.start = tiny.lz->si.gc_zones + LZ_GC_START,
	};

	if (lz_pace_gc_due(&in))
		return false;
	in.free_zones--;
	return lz_pace_gc_due(&in) && is_one_from_full();
}

static bool is_journal_roll_due(void)
{
	return tiny.lz->js->zone != LZ_NONE && tiny.lz->js->off == tiny_geo.zone_cap - 2;
}

static bool is_checkpoint_due(void)
{
	return atomic_read(&tiny.lz->delta_space) == (int)tiny.lz->delta_cap / 2 &&
		!lz_map_has_entry(tiny.lz, 0);
}

static bool is_budget_spent(void)
{
	return tiny.lz->nr_open == tiny.lz->data_slots;
}

static bool is_last_reserve(void)
{
	return !lz_free_for(tiny.lz, false) && is_one_from_full();
}

/* On the smallest drive GC is always due, and settles the map by checkpoints. */
static const struct {
	const char *name;
	bool (*is)(void);
	u32 nr_zones;
} states[] = {
	{ "empty", is_empty, 14 },
	{ "one block from full", is_one_from_full, 14 },
	{ "gc due", is_gc_due, 20 },
	{ "journal roll due", is_journal_roll_due, 14 },
	{ "checkpoint due", is_checkpoint_due, 20 },
	{ "budget spent", is_budget_spent, 14 },
	{ "last reserve zone", is_last_reserve, 14 },
};

const char *tiny_state_name(u32 which)
{
	return which < ARRAY_SIZE(states) ? states[which].name : NULL;
}

/* From an empty drive, by what the seed draws, until the state is one wanted. */
bool tiny_prepare(u32 which)
{
	struct rnd r;
	u32 seed, i, lba;

	for (seed = 0; seed < 200; seed++) {
		rnd_seed(&r, seed, which);
		tiny_format(states[which].nr_zones);
		for (i = 0; i < 200; i++) {
			if ((i || !which) && states[which].is())
				return true;
			tiny.nr_ops = 0;
			lba = rnd_below(&r, tiny_blocks);
			switch (rnd_below(&r, 8)) {
			case 0:
				tiny_issue(OP_DISCARD_0, lba);
				break;
			case 1:
				tiny_issue(OP_CHECKPOINT, 0);
				break;
			default:
				tiny_issue(OP_WRITE_0, lba);
			}
			tiny_settle();
			tiny.nr_ops = 0;
			tiny_issue(OP_FLUSH, 0);
			tiny_settle();
			if (tiny.op[0].state != OS_DONE)
				tiny_fail("a flush that never ends");
		}
	}
	return false;
}
