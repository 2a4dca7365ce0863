// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mutating lists of records: by what fields there are in the block of a seed, and
 * by values that matter to it, rather than blindly.
 */
#include "fuzz.h"

struct field {
	u16 at;
	u8 width;		/* log2 (bytes) */
};

#define AT(type, f, w)	{ offsetof(struct type, f), w }

static const struct field header[] = {
	AT(lz_hdr, type, 1), AT(lz_hdr, level, 1), AT(lz_hdr, count, 2), AT(lz_hdr, epoch, 3),
	AT(lz_hdr, seq, 3), AT(lz_hdr, addr, 3), AT(lz_hdr, index, 3), AT(lz_hdr, magic, 2),
	AT(lz_hdr, uuid, 3),
};

static const struct field super[] = {
	AT(lz_super, text, 3), AT(lz_super, version, 2), AT(lz_super, compat, 2),
	AT(lz_super, compat_ro, 2), AT(lz_super, incompat, 2), AT(lz_super, label, 3),
	AT(lz_super, nr_zones, 2), AT(lz_super, zone_blocks, 2), AT(lz_super, zone_cap, 2),
	AT(lz_super, meta_zones, 2), AT(lz_super, gc_zones, 2), AT(lz_super, spare_permille, 2),
	AT(lz_super, logical_blocks, 3), AT(lz_super, created, 3),
};

static const struct field root[] = {
	AT(lz_root, journal_addr, 3), AT(lz_root, journal_seq, 3), AT(lz_root, commit, 3),
	AT(lz_root, write_seq, 3), AT(lz_root, node_zone, 2), AT(lz_root, flags, 2),
	AT(lz_root, mapped, 3), AT(lz_root, map_top, 3), AT(lz_root, ztab_top, 3),
};

static const struct field zent[] = {
	AT(lz_zent, gen, 2), AT(lz_zent, state, 0), AT(lz_zent, class, 0), AT(lz_zent, flags, 1),
	AT(lz_zent, valid, 2), AT(lz_zent, wp, 2), AT(lz_zent, head, 2), AT(lz_zent, sum_seq, 2),
	AT(lz_zent, seq, 3),
};

static const struct field journal[] = {
	AT(lz_journal, next_zone, 2), AT(lz_journal, more, 2), AT(lz_journal, first, 3),
};

static const struct field summary[] = {
	AT(lz_summary, gen, 2), AT(lz_summary, prev, 2), AT(lz_summary, group, 2),
	AT(lz_summary, nth, 2),
};

static u32 state;

static u32 any(u32 n)
{
	state = state * 1664525 + 1013904223;
	return ((u64)state * n) >> 32;
}

static u64 any64(void)
{
	return (u64)any(1u << 31) << 33 ^ (u64)any(1u << 31) << 11 ^ any(1u << 31);
}

#define ONE_OF(t)	((t)[any(ARRAY_SIZE(t))])

static u64 value(const struct fuzz *f)
{
	static const u64 edge[] = {
		0, 1, 2, 3, 5, 7, 8, 255, 256, 503, 504, 505, 125, 126, 127, 0xffff, 0x10000,
		1u << 24, (1u << 24) - 1, 1u << 31, (1u << 31) - 1, 0xffffffff, 1ull << 32,
		LZ_NOWHERE, LZ_NOWHERE - 1, LZ_NOWHERE + 1, 1ull << 63, ~0ull, ~0ull - 1,
	};
	u32 zone = any(f->g.nr_zones + 2);

	switch (any(9)) {
	case 0:
		return ONE_OF(edge);
	case 1:
		return f->meta[any(f->nr_meta)];
	case 2:
		return (u64)zone * f->g.zone_blocks + any(f->g.zone_blocks);
	case 3:
		return zone;
	case 4:
		return f->g.zone_cap - 1 + any(3);
	case 5:
		return f->si.logical_blocks - 1 + any(3);
	case 6:
		return any(f->si.logical_blocks);
	case 7:
		return any(16);
	default:
		return any64() >> any(64);
	}
}

/* Where in a block of this type; an array of entries counts as one field each. */
static struct field field(const struct fuzz *f, const void *block)
{
	const struct lz_hdr *h = block;
	struct field x = { any(LZ_BLOCK_SIZE), any(4) };
	u32 i;

	if (!any(4))
		return ONE_OF(header);
	switch (le16_to_cpu(h->type)) {
	case LZ_BT_SUPER:
		return ONE_OF(super);
	case LZ_BT_ROOT:
		x = ONE_OF(root);
		if (x.at >= offsetof(struct lz_root, map_top))
			x.at += 8 * any(3);
		return x;
	case LZ_BT_JOURNAL:
		if (!any(3))
			return ONE_OF(journal);
		i = any(le32_to_cpu(h->count) % LZ_JOURNAL_RECORDS + 1);
		return (struct field){ offsetof(struct lz_journal, r) + 16 * i + 8 * any(2), 3 };
	case LZ_BT_NODE:
		i = any(any(2) ? LZ_NODE_ENTRIES :
			min_t(u64, f->si.logical_blocks, LZ_NODE_ENTRIES));
		return (struct field){ offsetof(struct lz_node, e) + 8 * i, 3 };
	case LZ_BT_ZNODE:
		x = ONE_OF(zent);
		i = any(any(8) ? f->g.nr_zones : LZ_ZNODE_ENTRIES) % LZ_ZNODE_ENTRIES;
		x.at += offsetof(struct lz_znode, e) + 32 * i;
		return x;
	case LZ_BT_SUMMARY:
		if (any(2))
			return ONE_OF(summary);
		i = any(LZ_SUMMARY_ENTRIES);
		return (struct field){ offsetof(struct lz_summary, e) + 8 * i, 3 };
	}
	return x;
}

/* The first number of a journal record that could be one. */
static u64 record(const struct fuzz *f)
{
	u64 lba = any(4) ? any(f->si.logical_blocks) : value(f);
	u64 len = any(3) ? 1 + any(8) : value(f);
	u32 type = any(7);

	if (type >= LZ_JR_ZOPEN)
		lba = any(f->g.nr_zones + 1);
	return (lba & LZ_ADDR_MASK) | (len & LZ_JREC_LEN_MAX) << LZ_ADDR_BITS |
		(u64)type << 60;
}

static void new_edit(const struct fuzz *f, struct fuzz_rec *r)
{
	u32 n = any(8) ? f->nr_read : f->nr_meta, block = any(n);
	u64 addr = f->meta[block], v;
	struct field x;

	r->op = any(8) ? any(4) ? FUZZ_SET : FUZZ_ADD : FUZZ_COPY + any(5);
	r->arg = any(256);
	r->a = cpu_to_le16(block);
	switch (r->op) {
	case FUZZ_SET:
	case FUZZ_ADD:
		x = field(f, fuzz_block(f, addr));
		v = any(3) ? value(f) : record(f);
		if (r->op == FUZZ_ADD)
			v = any(2) ? any(4) - 2ull : 1ull << any(64);
		r->arg = x.width;
		r->b = cpu_to_le32(x.at);
		r->v = cpu_to_le64(v);
		return;
	case FUZZ_COPY:
		r->b = cpu_to_le32(any(2) ? value(f) : addr + 1 + any(3));
		break;
	case FUZZ_NEXT:
		r->arg = any(4);
		r->b = cpu_to_le32(any(f->g.nr_zones));
		break;
	case FUZZ_ROT:
		r->b = cpu_to_le32(any(2) ? any(200) : any(LZ_BLOCK_SIZE));
		break;
	case FUZZ_ZONE:
		r->a = cpu_to_le16(any(f->g.nr_zones));
		r->b = cpu_to_le32(any(f->g.zone_cap + 1));
		r->v = cpu_to_le64(any(5));
		break;
	case FUZZ_CLAIM:
		r->a = cpu_to_le16(any(f->g.nr_zones));
		r->b = cpu_to_le32(any(f->g.nr_zones));
		r->v = cpu_to_le64(any(2) ? f->g.zone_cap : any(f->g.zone_cap));
		break;
	}
}

static void new_action(const struct fuzz *f, struct fuzz_rec *r)
{
	r->op = FUZZ_NR_EDITS + any(FUZZ_NR_OPS - FUZZ_NR_EDITS);
	r->arg = any(2) ? any(10) : any(100);
	r->a = cpu_to_le16(any(f->g.nr_zones));
	r->b = cpu_to_le32(any(f->si.logical_blocks));
	r->v = cpu_to_le64(any(2) ? any(40) : any64());
	if (r->op == FUZZ_FAIL)
		r->arg = 1 << any(5);
}

static void new_record(const struct fuzz *f, struct fuzz_rec *r)
{
	if (any(3))
		new_edit(f, r);
	else
		new_action(f, r);
}

size_t fuzz_mutate(u8 *data, size_t size, size_t max, unsigned int seed)
{
	struct fuzz_rec r[64];
	u32 n = min(size / sizeof(*r), ARRAY_SIZE(r)), i, times;
	u32 most = min(max / sizeof(*r), ARRAY_SIZE(r));
	const struct fuzz *f;

	if (!most)
		return LLVMFuzzerMutate(data, size, max);
	state = seed;
	memset(r, 0, sizeof(r));
	memcpy(r, data, n * sizeof(*r));
	if (!n || !any(40)) {
		r[0].op = any(FUZZ_SEEDS);
		/* A wide one takes long. */
		if (r[0].op == FUZZ_SEEDS - 2 && any(4))
			r[0].op = any(FUZZ_SEEDS - 2);
		r[0].arg = any(4);
		n = max_t(u32, n, 1);
	}
	f = fuzz_seed(r[0].op);
	for (times = 1 + any(3); times; times--) {
		i = 1 + any(n);
		switch (any(8)) {
		case 0:
			if (n > 1 && i < n) {
				memmove(&r[i], &r[i + 1], (n - i - 1) * sizeof(*r));
				n--;
			}
			break;
		case 1:
			if (i < n)
				r[i].v = cpu_to_le64(le64_to_cpu(r[i].v) + any(5) - 2);
			break;
		case 2:
			if (i < n)
				r[i].v = cpu_to_le64(any(2) ? value(f) : record(f));
			break;
		case 3:
			if (i < n)
				LLVMFuzzerMutate((u8 *)&r[i], sizeof(*r), sizeof(*r));
			break;
		case 4:
			if (i < n)
				new_record(f, &r[i]);
			break;
		default:
			if (n < most) {
				memmove(&r[i + 1], &r[i], (n - min(i, n)) * sizeof(*r));
				new_record(f, &r[i]);
				n++;
			}
		}
	}
	memcpy(data, r, n * sizeof(*r));
	return n * sizeof(*r);
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed)
{
	return fuzz_mutate(data, size, max, seed);
}
