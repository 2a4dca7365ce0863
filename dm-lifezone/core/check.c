// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checking a device offline: everything recovery believes, verified.
 *
 * The device has been loaded read-only, so superblock, roots, inner nodes, zone
 * table and journal have been read and hold together. Here every leaf is read,
 * and then: no block is in use twice, none lies outside a data zone or past its
 * write pointer, the zone table's counts are those of the tree, and every block
 * in use is named by a summary of its zone or by the journal, so that GC will
 * find it.
 */
#include "lz.h"

struct check {
	struct lz_check_report *r;
	u32 *tree;		/* by zone: entries of the tree */
	u32 *now;		/* by zone: blocks in use, the journal applied */
	u64 *owners;		/* by zone: sum of pair() of its blocks in use */
	u8 *used;		/* bit by drive block: in use */
	u8 *named;		/* bit by offset in the zone looked at: its owner is on record */
	u64 sum;		/* of pair() of these */
	bool exact;		/* once more, and the map is asked about each */
	struct lz_summary *buf;
};

static __printf(2, 3) void found(struct check *k, const char *fmt, ...)
{
	char line[200];
	va_list args;

	if (k->exact)
		return;
	k->r->errors++;
	if (!k->r->say)
		return;
	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	k->r->say(k->r->ctx, line);
}

static bool bit(const u8 *map, u64 i)
{
	return map[i / 8] >> (i % 8) & 1;
}

static void set(u8 *map, u64 i)
{
	map[i / 8] |= 1 << (i % 8);
}

/*
 * A number for a block and its owner. Those of a zone, as the map has them and as they are on
 * record, are compared by their sum: to look each up again in a map that does not fit in memory
 * would be a read for each block.
 */
static u64 pair(u64 lba, u64 addr)
{
	u64 x = lba * 0x9e3779b97f4a7c15ull + addr;

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

static void check_block(struct lz *lz, struct check *k, u64 lba, u64 addr)
{
	u32 zone = lz_addr_zone(lz, addr), off = lz_addr_off(lz, addr);
	struct lz_zone *z;

	/* Wherever @addr comes from, it has been seen to be within a zone. */
	z = &lz->zone[zone];
	if (z->state != LZ_ZS_OPEN && z->state != LZ_ZS_FULL && z->state != LZ_ZS_BAD)
		found(k, "block %llu: mapped to zone %u, which holds no data (state %u)",
		      (unsigned long long)lba, zone, z->state);
	else if (off >= z->resv)
		found(k, "block %llu: mapped to zone %u, offset %u, past its write pointer %u",
		      (unsigned long long)lba, zone, off, z->resv);
	if (bit(k->used, addr))
		found(k, "block %llu: shares drive block %llu with another",
		      (unsigned long long)lba, (unsigned long long)addr);
	set(k->used, addr);
	k->owners[zone] += pair(lba, addr);
	k->now[zone]++;
	k->r->mapped++;
}

static int check_leaf(struct lz *lz, struct check *k, u64 idx)
{
	u64 first = idx * LZ_NODE_ENTRIES, a;
	struct lz_cached *c = NULL;
	int err = 0;
	u32 j, count = 0;

	if (lz->map.addr[0][idx] != LZ_NOWHERE) {
		for (;;) {
			c = lz_leaf_get(lz, idx, &err);
			if (c || err)
				break;
			if (!lz->leaf[idx])
				return -ENOMEM;
			lz_sync(lz);
		}
		k->r->nodes++;
		if (err) {
			found(k, "blocks %llu to %llu: their map leaf cannot be used",
			      (unsigned long long)first,
			      (unsigned long long)(first + LZ_NODE_ENTRIES - 1));
			return 0;
		}
		for (j = 0; j < LZ_NODE_ENTRIES; j++) {
			a = le64_to_cpu(c->node->e[j]);
			if (a == LZ_NOWHERE)
				continue;
			count++;
			k->tree[lz_addr_zone(lz, a)]++;
		}
		if (le32_to_cpu(c->node->h.count) != count)
			found(k, "map leaf %llu: says it maps %u blocks, maps %u",
			      (unsigned long long)idx, le32_to_cpu(c->node->h.count), count);
	}
	for (j = 0; j < LZ_NODE_ENTRIES && first + j < lz->si.logical_blocks; j++) {
		a = lz_map_get(lz, first + j);
		if (a < LZ_NOWHERE)
			check_block(lz, k, first + j, a);
	}
	return 0;
}

/* The map's answer, whatever has to be read for it; LZ_MISS if it cannot be. */
static u64 map_get(struct lz *lz, u64 lba)
{
	u64 addr;
	int err = 0;

	while ((addr = lz_map_get(lz, lba)) == LZ_MISS && !err) {
		lz_leaf_get(lz, div_u64(lba, LZ_NODE_ENTRIES), &err);
		lz_sync(lz);
	}
	return addr;
}

/* The owner on record is believed only if the map agrees, by the sum or by itself. */
static void name(struct lz *lz, struct check *k, u32 zone, u64 entry)
{
	u64 lba = lz_sum_lba(entry), addr = lz_zone_addr(lz, zone, lz_sum_offset(entry));

	if (lz_sum_offset(entry) >= lz->g.zone_cap || lba >= lz->si.logical_blocks ||
	    !bit(k->used, addr) || bit(k->named, lz_sum_offset(entry)) ||
	    (k->exact && map_get(lz, lba) != addr))
		return;
	set(k->named, lz_sum_offset(entry));
	k->sum += pair(lba, addr);
}

static void name_by_summaries(struct lz *lz, struct check *k, u32 zone)
{
	struct lz_zone *z = &lz->zone[zone];
	u32 head = z->head, seq = z->sum_seq, group = 0, i, j;
	char why[160];

	while (head != LZ_NO_OFFSET) {
		u32 prev = LZ_NO_OFFSET;

		for (i = 0; i < (i ? group : 1); i++) {
			struct lz_want w = {
				.uuid = lz->si.uuid, .type = LZ_BT_SUMMARY,
				.addr = LZ_NO_ADDR, .index = zone, .epoch_max = lz->epoch,
			};

			if (head + i >= lz->g.zone_cap ||
			    lz_read_sync(lz, lz_zone_addr(lz, zone, head + i), 1, k->buf)) {
				found(k, "zone %u, summary at offset %u: cannot be read", zone,
				      head + i);
				return;
			}
			k->r->nodes += !k->exact;
			if (!lz_valid(k->buf, &w, why, sizeof(why))) {
				found(k, "zone %u, summary at offset %u: %s", zone, head + i, why);
				return;
			}
			group = le32_to_cpu(k->buf->group);
			if (le32_to_cpu(k->buf->gen) != z->gen ||
			    le32_to_cpu(k->buf->nth) != i || group > seq ||
			    le64_to_cpu(k->buf->h.seq) != seq - group + 1 + i) {
				found(k, "zone %u, summary at offset %u: of another life", zone,
				      head + i);
				return;
			}
			prev = le32_to_cpu(k->buf->prev);
			for (j = 0; j < le32_to_cpu(k->buf->h.count); j++)
				name(lz, k, zone, le64_to_cpu(k->buf->e[j]));
		}
		seq -= group;
		if (prev != LZ_NO_OFFSET && prev >= head) {
			found(k, "zone %u: its summaries do not lead backwards", zone);
			return;
		}
		head = prev;
	}
}

static void name_all(struct lz *lz, struct check *k, u32 zone)
{
	struct lz_zone *z = &lz->zone[zone];
	u32 i;

	k->sum = 0;
	memset(k->named, 0, lz->g.zone_cap / 8 + 1);
	name_by_summaries(lz, k, zone);
	for (i = 0; z->open && i < z->open->put; i++)
		name(lz, k, zone, z->open->ring[i]);
}

static void check_zone(struct lz *lz, struct check *k, u32 zone)
{
	struct lz_zone *z = &lz->zone[zone];
	u32 off, lost = 0;

	if (k->tree[zone] != z->tree_valid)
		found(k, "zone %u: the zone table counts %u blocks in use, the tree has %u", zone,
		      z->tree_valid, k->tree[zone]);
	if (atomic_read(&z->valid) < (int)k->now[zone])
		found(k, "zone %u: %u blocks counted, %u in use", zone, atomic_read(&z->valid),
		      k->now[zone]);
	if (z->suspect && k->now[zone])
		found(k, "zone %u: %u blocks in use that the drive has lost", zone, k->now[zone]);
	if (!k->now[zone] || (z->flags & LZ_ZF_SCAN) || z->suspect)
		return;
	name_all(lz, k, zone);
	if (k->sum == k->owners[zone])
		return;
	k->exact = true;
	name_all(lz, k, zone);
	k->exact = false;
	for (off = 0; off < lz->g.zone_cap; off++)
		lost += bit(k->used, lz_zone_addr(lz, zone, off)) && !bit(k->named, off);
	if (lost)
		found(k, "zone %u: %u blocks in use that neither a summary nor the journal names",
		      zone, lost);
}

/* The copies at the front of the root zone in use; a short write leaves one of them. */
static void check_supers(struct lz *lz, struct check *k)
{
	struct lz_want w = { .uuid = lz->si.uuid, .type = LZ_BT_SUPER };
	char why[160], dummy[160];
	u32 off;

	for (off = 0; off < lz_super_copies(lz); off++) {
		w.type = LZ_BT_SUPER;
		w.addr = lz_zone_addr(lz, lz->root_zone, off);
		if (lz_read_sync(lz, w.addr, 1, k->buf)) {
			found(k, "superblock at block %llu: cannot be read",
			      (unsigned long long)w.addr);
			continue;
		}
		if (lz_valid(k->buf, &w, why, sizeof(why)))
			continue;
		w.type = LZ_BT_ROOT;
		if (!off || !lz_valid(k->buf, &w, dummy, sizeof(dummy)))
			found(k, "%s", why);
	}
}

int lz_check(struct lz *lz, struct lz_check_report *r)
{
	u64 blocks = (u64)lz->g.nr_zones << lz->zone_shift, i;
	struct check k = { .r = r };
	int err = 0;

	r->errors = 0;
	r->unreadable = 0;
	r->nodes = 0;
	r->mapped = 0;
	k.tree = lz_zalloc_array(lz->g.nr_zones, sizeof(*k.tree));
	k.now = lz_zalloc_array(lz->g.nr_zones, sizeof(*k.now));
	k.used = lz_zalloc_array(blocks / 8 + 1, 1);
	k.owners = lz_zalloc_array(lz->g.nr_zones, sizeof(*k.owners));
	k.named = lz_zalloc_array(lz->g.zone_cap / 8 + 1, 1);
	k.buf = lz_alloc_blocks(1);
	if (!k.tree || !k.now || !k.owners || !k.used || !k.named || !k.buf)
		err = -ENOMEM;
	if (!err)
		check_supers(lz, &k);
	for (i = 0; !err && i < lz->map.n[0]; i++)
		err = check_leaf(lz, &k, i);
	for (i = 2; !err && i < lz->g.nr_zones; i++)
		check_zone(lz, &k, i);
	lz_free(k.tree);
	lz_free(k.now);
	lz_free(k.owners);
	lz_free(k.used);
	lz_free(k.named);
	lz_free_blocks(k.buf);
	return err;
}
