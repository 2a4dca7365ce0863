// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a drive is divided, and making an empty device of it.
 *
 * Two root zones; a quota for the metadata log that lets one checkpoint write
 * the whole of both trees again while the old ones and the journal still stand;
 * zones that only GC may open; the rest holds data, of which a share is spare.
 * The exported capacity is what always fits, to the last block.
 */
#include "lz.h"

#define LZ_ROOT_ZONES	2u
#define LZ_GC_ZONES	2u
/* Log zones beside the nodes: two of journal, one being filled, one rounding each. */
#define LZ_LOG_EXTRA	5u
/* Zones the nodes of both trees may fill before the garbage among them needs room of its own. */
#define LZ_LOG_SMALL	8u

/* lz_budget - zones that may be open at once. */
u32 lz_budget(const struct lz_geometry *g, u32 max_open)
{
	u32 n = g->max_open ? g->max_open : max_open ? max_open : LZ_BUDGET_DEFAULT;

	if (max_open)
		n = min(n, max_open);
	return min(n, LZ_BUDGET_MAX);
}

/* Blocks of a zone that can hold data: the rest are summaries. */
static u32 usable(u32 cap)
{
	return cap - DIV_ROUND_UP(cap, LZ_SUMMARY_ENTRIES + 1) - min(4u, cap / 8);
}

/*
 * Zones of the log. A checkpoint of a large drive writes a small part of the trees, and cleaning
 * moves nodes that others need. With no more than there must be a log is 80 % full of nodes in
 * use, and most of what is written to it has been moved; a fifth of a percent of the drive more,
 * and it is half full.
 */
static u32 log_zones(u64 nodes, u32 cap, bool least)
{
	u32 zones = div_u64(nodes + cap - 2, cap - 1), n = 2 * zones + LZ_LOG_EXTRA;

	return least || zones <= LZ_LOG_SMALL ? n : n + zones - LZ_LOG_SMALL;
}

static int layout(const struct lz_geometry *g, struct lz_super_info *si, u32 dead, bool least,
		  char *why, size_t n)
{
	u64 nodes, level[LZ_MAX_LEVELS], data, most;
	u32 levels, keep;

	if (!is_power_of_2(g->zone_blocks) || g->zone_blocks < 8 ||
	    g->zone_blocks > LZ_ZONE_BLOCKS_MAX) {
		snprintf(why, n, "zone size of %u blocks: must be a power of two from 8 to %u",
			 g->zone_blocks, LZ_ZONE_BLOCKS_MAX);
		return -EINVAL;
	}
	if (g->zone_cap < 8 || g->zone_cap > g->zone_blocks) {
		snprintf(why, n, "zone capacity of %u blocks: must be 8 to %u", g->zone_cap,
			 g->zone_blocks);
		return -EINVAL;
	}
	if ((u64)g->nr_zones * g->zone_blocks >= LZ_NOWHERE) {
		snprintf(why, n, "%u zones of %u blocks: more than %llu blocks", g->nr_zones,
			 g->zone_blocks, (unsigned long long)LZ_NOWHERE - 1);
		return -EINVAL;
	}
	if (g->max_open && g->max_open < LZ_MAX_OPEN_MIN) {
		snprintf(why, n, "drive allows %u open zones: at least %u are needed",
			 g->max_open, LZ_MAX_OPEN_MIN);
		return -EINVAL;
	}
	if (si->spare_permille < LZ_SPARE_MIN || si->spare_permille > LZ_SPARE_MAX) {
		snprintf(why, n, "spare space of %u permille: must be %u to %u",
			 si->spare_permille, LZ_SPARE_MIN, LZ_SPARE_MAX);
		return -EINVAL;
	}
	most = (u64)g->nr_zones * g->zone_cap;
	nodes = lz_tree_nodes(DIV_ROUND_UP_ULL(most, LZ_NODE_ENTRIES), LZ_ROOT_MAP_TOP,
			      &levels, level);
	nodes += lz_tree_nodes(DIV_ROUND_UP(g->nr_zones, LZ_ZNODE_ENTRIES), LZ_ROOT_ZTAB_TOP,
			       &levels, level);
	si->nr_zones = g->nr_zones;
	si->zone_blocks = g->zone_blocks;
	si->zone_cap = g->zone_cap;
	si->meta_zones = log_zones(nodes, g->zone_cap, least);
	si->gc_zones = LZ_GC_ZONES;
	/* One zone's worth may be locked up in open zones that others cannot use. */
	keep = LZ_ROOT_ZONES + si->meta_zones + si->gc_zones + 1;
	if (g->nr_zones < (u64)keep + dead + 2) {
		if (dead)
			snprintf(why, n,
				 "%u zones, %u of which cannot be written: at least %u of this capacity are needed that can",
				 g->nr_zones, dead, keep + 2);
		else
			snprintf(why, n, "%u zones: at least %u of this capacity are needed",
				 g->nr_zones, keep + 2);
		return -EINVAL;
	}
	data = (u64)(g->nr_zones - keep - dead) * usable(g->zone_cap);
	data = div_u64(data * (1000 - si->spare_permille), 1000);
	/* At least 1: two zones of 6 blocks, a tenth of them. */
	si->logical_blocks = data;
	si->version = LZ_FORMAT_VERSION;
	return 0;
}

int lz_layout(const struct lz_geometry *g, struct lz_super_info *si, char *why, size_t n)
{
	return layout(g, si, 0, false, why, n);
}

int lz_layout_dead(const struct lz_geometry *g, struct lz_super_info *si, u32 dead, char *why,
		   size_t n)
{
	return layout(g, si, dead, false, why, n);
}

int lz_layout_least(const struct lz_geometry *g, struct lz_super_info *si, char *why, size_t n)
{
	return layout(g, si, 0, true, why, n);
}

void lz_super_encode(const struct lz_super_info *si, struct lz_super *s, u64 addr, u64 epoch,
		     u64 seq)
{
	struct lz_want w = {
		.uuid = si->uuid, .type = LZ_BT_SUPER, .addr = addr, .epoch = epoch,
		.seq = seq,
	};

	memset(s, 0, sizeof(*s));
	memcpy(s->text, LZ_SUPER_TEXT, sizeof(s->text));
	s->version = cpu_to_le32(si->version);
	s->compat = cpu_to_le32(si->compat);
	s->compat_ro = cpu_to_le32(si->compat_ro);
	s->incompat = cpu_to_le32(si->incompat);
	memcpy(s->label, si->label, LZ_LABEL_SIZE);
	s->nr_zones = cpu_to_le32(si->nr_zones);
	s->zone_blocks = cpu_to_le32(si->zone_blocks);
	s->zone_cap = cpu_to_le32(si->zone_cap);
	s->meta_zones = cpu_to_le32(si->meta_zones);
	s->gc_zones = cpu_to_le32(si->gc_zones);
	s->spare_permille = cpu_to_le32(si->spare_permille);
	s->logical_blocks = cpu_to_le64(si->logical_blocks);
	s->created = cpu_to_le64(si->created);
	lz_seal(s, &w, 0);
}

void lz_super_decode(const struct lz_super *s, struct lz_super_info *si)
{
	memset(si, 0, sizeof(*si));
	memcpy(si->uuid, s->h.uuid, LZ_UUID_SIZE);
	memcpy(si->label, s->label, LZ_LABEL_SIZE);
	si->version = le32_to_cpu(s->version);
	si->compat = le32_to_cpu(s->compat);
	si->compat_ro = le32_to_cpu(s->compat_ro);
	si->incompat = le32_to_cpu(s->incompat);
	si->nr_zones = le32_to_cpu(s->nr_zones);
	si->zone_blocks = le32_to_cpu(s->zone_blocks);
	si->zone_cap = le32_to_cpu(s->zone_cap);
	si->meta_zones = le32_to_cpu(s->meta_zones);
	si->gc_zones = le32_to_cpu(s->gc_zones);
	si->spare_permille = le32_to_cpu(s->spare_permille);
	si->logical_blocks = le64_to_cpu(s->logical_blocks);
	si->created = le64_to_cpu(s->created);
}

/* lz_format - the first checkpoint is an empty one: a zone table in which all is free. */
int lz_format(const struct lz_geometry *g, const struct lz_super_info *si,
	      const struct lz_zone_report *rep, const struct lz_ops *ops, void *ctx)
{
	struct lz_options o;
	struct lz *lz;
	int err;

	lz_options_default(&o);
	lz = lz_new(g, &o, ops, ctx);
	if (!lz)
		return -ENOMEM;
	err = lz_load_empty(lz, si, rep);
	lz_free_device(lz);
	return err;
}
