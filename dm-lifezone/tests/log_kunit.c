// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metadata blocks: what is sealed is valid; whatever is damaged is refused,
 * and the reason names where, which field, what was got and what was wanted.
 */
#include "../core/log.h"
#include "../core/policy.h"
#include "unit.h"

static const u8 uuid[LZ_UUID_SIZE] = {
	0x10, 0x21, 0x32, 0x43, 0x54, 0x65, 0x76, 0x87,
	0x98, 0xa9, 0xba, 0xcb, 0xdc, 0xed, 0xfe, 0x0f,
};

union block {
	struct lz_hdr h;
	struct lz_super super;
	struct lz_root root;
	struct lz_journal journal;
	struct lz_node node;
	struct lz_znode znode;
	struct lz_summary summary;
	u8 bytes[LZ_BLOCK_SIZE];
};

/* Kinds of blocks: the types, the two kinds of zone table nodes, and links. */
enum kind { SUPER, ROOT, JOURNAL, LINK, NODE, ZLEAF, ZINNER, SUMMARY, NR_KINDS };

static void want(enum kind k, struct lz_want *w)
{
	static const u16 type[NR_KINDS] = {
		LZ_BT_SUPER, LZ_BT_ROOT, LZ_BT_JOURNAL, LZ_BT_JOURNAL,
		LZ_BT_NODE, LZ_BT_ZNODE, LZ_BT_ZNODE, LZ_BT_SUMMARY,
	};

	memset(w, 0, sizeof(*w));
	w->uuid = uuid;
	w->type = type[k];
	w->level = k == NODE ? 2 : k == ZINNER ? 1 : 0;
	w->addr = k == SUMMARY ? LZ_NO_ADDR : 77;
	w->index = k == SUPER || k == ROOT ? 0 : 9;
	w->epoch = 5;
	w->seq = 12;
}

static u32 nr_entries(enum kind k)
{
	switch (k) {
	case JOURNAL:
		return LZ_JOURNAL_RECORDS;
	case NODE:
	case ZINNER:
		return LZ_NODE_ENTRIES;
	case ZLEAF:
		return LZ_ZNODE_ENTRIES;
	case SUMMARY:
		return LZ_SUMMARY_ENTRIES;
	default:
		return 0;
	}
}

/* A sound block of kind @k, full. */
static void make(enum kind k, union block *b)
{
	struct lz_want w;
	u32 i;

	memset(b, 0, sizeof(*b));
	switch (k) {
	case SUPER:
		memcpy(b->super.text, LZ_SUPER_TEXT, 8);
		b->super.version = cpu_to_le32(LZ_FORMAT_VERSION);
		b->super.nr_zones = cpu_to_le32(40);
		b->super.zone_blocks = cpu_to_le32(4096);
		b->super.zone_cap = cpu_to_le32(3072);
		b->super.meta_zones = cpu_to_le32(4);
		b->super.gc_zones = cpu_to_le32(2);
		b->super.spare_permille = cpu_to_le32(100);
		b->super.logical_blocks = cpu_to_le64(28 * 3072);
		break;
	case ROOT:
		b->root.journal_addr = cpu_to_le64(8192);
		b->root.journal_seq = cpu_to_le64(3);
		b->root.flags = cpu_to_le32(LZ_ROOT_CLEAN);
		for (i = 0; i < LZ_ROOT_MAP_TOP; i++)
			b->root.map_top[i] = cpu_to_le64(i & 1 ? LZ_NOWHERE : i);
		for (i = 0; i < LZ_ROOT_ZTAB_TOP; i++)
			b->root.ztab_top[i] = cpu_to_le64(LZ_NOWHERE);
		break;
	case JOURNAL:
		b->journal.next_zone = cpu_to_le32(~0u);
		b->journal.more = cpu_to_le32(1);
		b->journal.first = cpu_to_le64(10);
		for (i = 0; i < LZ_JOURNAL_RECORDS; i++) {
			struct lz_jrec *r = &b->journal.r[i];

			switch (i % 5) {
			case 0:
				lz_jrec_pack(r, LZ_JR_MAP, 1000 + i, 3, 5000 + 3 * i);
				break;
			case 1:
				lz_jrec_pack(r, LZ_JR_DISCARD, 9000 + i, 0, 1ull << 30);
				break;
			case 2:
				lz_jrec_pack(r, LZ_JR_ZOPEN, 7, LZ_CLASS_META,
					     (u64)LZ_ZF_GC << 32 | 4);
				break;
			case 3:
				lz_jrec_pack(r, LZ_JR_ZSUM, 7, 8, (u64)6 << 32 | 512);
				break;
			case 4:
				lz_jrec_pack(r, LZ_JR_ZBAD, 7, 0, 0);
				break;
			}
		}
		break;
	case LINK:
		b->journal.next_zone = cpu_to_le32(6);
		b->journal.first = cpu_to_le64(12);
		break;
	case NODE:
	case ZINNER:
		for (i = 0; i < LZ_NODE_ENTRIES; i++)
			b->node.e[i] = cpu_to_le64(i % 3 ? i * 1000 : LZ_NOWHERE);
		break;
	case ZLEAF:
		for (i = 0; i < LZ_ZNODE_ENTRIES; i++) {
			b->znode.e[i].state = i % LZ_NR_ZONE_STATES;
			b->znode.e[i].class = i % LZ_NR_ZONE_CLASSES;
			b->znode.e[i].flags = cpu_to_le16(LZ_ZF_GC | LZ_ZF_SCAN);
			b->znode.e[i].valid = cpu_to_le32(i);
			b->znode.e[i].wp = cpu_to_le32(LZ_ZONE_BLOCKS_MAX);
			b->znode.e[i].head = cpu_to_le32(i & 1 ? LZ_NO_OFFSET : 0);
		}
		break;
	case SUMMARY:
		b->summary.gen = cpu_to_le32(3);
		b->summary.prev = cpu_to_le32(LZ_NO_OFFSET);
		b->summary.group = cpu_to_le32(2);
		b->summary.nth = cpu_to_le32(1);
		for (i = 0; i < LZ_SUMMARY_ENTRIES; i++)
			b->summary.e[i] = cpu_to_le64(lz_sum_pack(i, 100000 - i));
		break;
	default:
		break;
	}
	want(k, &w);
	lz_seal(b, &w, nr_entries(k));
}

/* Make the checksum right again, whatever else the block says. */
static void reseal(union block *b)
{
	struct lz_want w = {
		.type = le16_to_cpu(b->h.type), .level = le16_to_cpu(b->h.level),
		.addr = le64_to_cpu(b->h.addr), .index = le64_to_cpu(b->h.index),
		.epoch = le64_to_cpu(b->h.epoch), .seq = le64_to_cpu(b->h.seq),
	};
	u8 id[LZ_UUID_SIZE];
	__le32 magic = b->h.magic;

	memcpy(id, b->h.uuid, sizeof(id));
	w.uuid = id;
	lz_seal(b, &w, le32_to_cpu(b->h.count));
	/* A wrong magic number has no right checksum; it is not looked at. */
	b->h.magic = magic;
}

static void log_sound_blocks(struct kunit *test)
{
	union block *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct lz_want w;
	char why[160];
	enum kind k;

	for (k = 0; k < NR_KINDS; k++) {
		make(k, b);
		want(k, &w);
		why[0] = 0;
		KUNIT_EXPECT_TRUE_MSG(test, lz_valid(b, &w, why, sizeof(why)), "(%s)", why);
		KUNIT_EXPECT_TRUE(test, lz_valid(b, &w, NULL, 0));

		/* What is not asked for may be anything. */
		w.uuid = NULL;
		w.index = ~0ull;
		w.epoch = 0;
		w.seq = 0;
		KUNIT_EXPECT_TRUE(test, lz_valid(b, &w, why, sizeof(why)));
		w.epoch_max = 5;
		KUNIT_EXPECT_TRUE(test, lz_valid(b, &w, why, sizeof(why)));
	}
}

static void log_header_as_sealed(struct kunit *test)
{
	union block *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	const struct lz_want w = {
		.uuid = uuid, .type = LZ_BT_NODE, .level = 3, .addr = 0x0102030405ull,
		.index = 0x060708090aull, .epoch = 0x0b0c0d0e0full, .seq = 0x1112131415ull,
	};

	lz_seal(b, &w, 0x161718);
	KUNIT_EXPECT_EQ(test, memcmp(b->bytes, "LFZN", 4), 0);
	KUNIT_EXPECT_EQ(test, memcmp(b->bytes + 8, uuid, 16), 0);
	KUNIT_EXPECT_EQ(test, memcmp(b->bytes + 24, "\4\0\3\0", 4), 0);
	KUNIT_EXPECT_EQ(test, memcmp(b->bytes + 28, "\x18\x17\x16\0", 4), 0);
	KUNIT_EXPECT_EQ(test, memcmp(b->bytes + 32, "\x0f\x0e\x0d\x0c\x0b\0\0\0", 8), 0);
	KUNIT_EXPECT_EQ(test, memcmp(b->bytes + 40, "\x15\x14\x13\x12\x11\0\0\0", 8), 0);
	KUNIT_EXPECT_EQ(test, memcmp(b->bytes + 48, "\5\4\3\2\1\0\0\0", 8), 0);
	KUNIT_EXPECT_EQ(test, memcmp(b->bytes + 56, "\x0a\x09\x08\x07\x06\0\0\0", 8), 0);
	/* Computed bit by bit, independently. */
	KUNIT_EXPECT_EQ(test, le32_to_cpu(b->h.crc), 0x91334467u);
}

/* Any single bit, anywhere: one wrong bit never goes unseen. */
static void log_single_bits(struct kunit *test)
{
	union block *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct lz_want w;
	enum kind k;
	u32 bit;

	for (k = 0; k < NR_KINDS; k++) {
		make(k, b);
		want(k, &w);
		for (bit = 0; bit < LZ_BLOCK_SIZE * 8; bit++) {
			b->bytes[bit / 8] ^= 1 << bit % 8;
			if (lz_valid(b, &w, NULL, 0))
				KUNIT_FAIL(test, "kind %d: bit %u is not missed\n", k, bit);
			b->bytes[bit / 8] ^= 1 << bit % 8;
		}
		KUNIT_EXPECT_TRUE(test, lz_valid(b, &w, NULL, 0));
	}
}

/* A block torn in the middle: the rest is older, zeros or noise. */
static void log_torn(struct kunit *test)
{
	union block *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct lz_want w;
	enum kind k;
	u32 at;

	for (k = 0; k < NR_KINDS; k++) {
		want(k, &w);
		for (at = 0; at < LZ_BLOCK_SIZE; at += 512) {
			make(k, b);
			memset(b->bytes + at, 0xff, LZ_BLOCK_SIZE - at);
			KUNIT_EXPECT_FALSE(test, lz_valid(b, &w, NULL, 0));
			memset(b->bytes + at, 0xa5, 512);
			KUNIT_EXPECT_FALSE(test, lz_valid(b, &w, NULL, 0));
		}
		memset(b, 0, sizeof(*b));
		KUNIT_EXPECT_FALSE(test, lz_valid(b, &w, NULL, 0));
	}
}

/* The last sectors were never written: such a block is not whole, whatever they read as. */
static void log_missing_end(struct kunit *test)
{
	static const u8 kinds[] = { SUPER, ROOT, JOURNAL, LINK, SUMMARY };
	union block *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct lz_want w;
	u32 i, at;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		want(kinds[i], &w);
		for (at = 512; at < LZ_BLOCK_SIZE; at += 512) {
			make(kinds[i], b);
			if (nr_entries(kinds[i])) {
				memset(b->bytes + 512, 0, LZ_BLOCK_SIZE - 512);
				lz_seal(b, &w, 20);
			}
			KUNIT_EXPECT_TRUE(test, lz_valid(b, &w, NULL, 0));
			memset(b->bytes + at, 0, LZ_BLOCK_SIZE - at);
			KUNIT_EXPECT_FALSE(test, lz_valid(b, &w, NULL, 0));
			memset(b->bytes + at, 0xff, LZ_BLOCK_SIZE - at);
			KUNIT_EXPECT_FALSE(test, lz_valid(b, &w, NULL, 0));
		}
	}
	/* A full one ends with its last entry. */
	make(SUMMARY, b);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(b->summary.e[LZ_SUMMARY_ENTRIES - 1]),
			lz_sum_pack(LZ_SUMMARY_ENTRIES - 1, 100001 - LZ_SUMMARY_ENTRIES));
}

/* One field damaged; the checksum is right. @why is all of the reason given. */
struct damage {
	enum kind kind;
	u32 offset;
	u32 size;
	u64 value;
	const char *why;
};

#define AT(s, f)	offsetof(struct s, f)
#define JREC(type, lba, len) \
	((u64)(lba) | (u64)(len) << LZ_ADDR_BITS | (u64)(type) << 60)
#define NONE_LEFT	LZ_NOWHERE

static const struct damage headers[] = {
	{ ROOT, AT(lz_hdr, magic), 4, 0x4e5a464b,
	  "root at block 77: magic: got 0x4e5a464b, wanted 0x4e5a464c" },
	{ ROOT, AT(lz_hdr, crc), 4, 0, NULL },
	{ ROOT, AT(lz_hdr, type), 2, LZ_BT_SUPER, "root at block 77: type: got 1, wanted 2" },
	{ ROOT, AT(lz_hdr, type), 2, 99, "root at block 77: type: got 99, wanted 2" },
	{ ROOT, AT(lz_hdr, level), 2, 1, "root at block 77: level: got 1, wanted 0" },
	{ NODE, AT(lz_hdr, level), 2, 0, "map node at block 77: level: got 0, wanted 2" },
	{ NODE, AT(lz_hdr, addr), 8, 78, "map node at block 77: addr: got 78, wanted 77" },
	{ NODE, AT(lz_hdr, addr), 8, LZ_NO_ADDR,
	  "map node at block 77: addr: got 18446744073709551615, wanted 77" },
	{ NODE, AT(lz_hdr, epoch), 8, 4, "map node at block 77: epoch: got 4, wanted 5" },
	{ NODE, AT(lz_hdr, epoch), 8, 6, "map node at block 77: epoch: got 6, wanted 5" },
	{ ROOT, AT(lz_hdr, seq), 8, 11, "root at block 77: seq: got 11, wanted 12" },
	{ JOURNAL, AT(lz_hdr, seq), 8, 13, "journal at block 77: seq: got 13, wanted 12" },
	{ ZLEAF, AT(lz_hdr, index), 8, 8, "zone table node at block 77: index: got 8, wanted 9" },
	{ SUMMARY, AT(lz_hdr, index), 8, 10, "summary of zone 9: index: got 10, wanted 9" },
	{ SUMMARY, AT(lz_hdr, addr), 8, 77,
	  "summary of zone 9: addr: got 77, wanted 18446744073709551615" },
	{ SUMMARY, AT(lz_hdr, seq), 8, 11, "summary of zone 9: seq: got 11, wanted 12" },
	{ SUPER, AT(lz_hdr, count), 4, 1,
	  "superblock at block 77: count: got 1, wanted at most 0" },
	{ ROOT, AT(lz_hdr, count), 4, 1, "root at block 77: count: got 1, wanted at most 0" },
	{ JOURNAL, AT(lz_hdr, count), 4, LZ_JOURNAL_RECORDS + 1,
	  "journal at block 77: count: got 252, wanted at most 251" },
	{ NODE, AT(lz_hdr, count), 4, LZ_NODE_ENTRIES + 1,
	  "map node at block 77: count: got 505, wanted at most 504" },
	{ ZLEAF, AT(lz_hdr, count), 4, LZ_ZNODE_ENTRIES + 1,
	  "zone table node at block 77: count: got 127, wanted at most 126" },
	{ ZINNER, AT(lz_hdr, count), 4, LZ_NODE_ENTRIES + 1,
	  "zone table node at block 77: count: got 505, wanted at most 504" },
	{ SUMMARY, AT(lz_hdr, count), 4, ~0u,
	  "summary of zone 9: count: got 4294967295, wanted at most 501" },
};

static const struct damage bodies[] = {
	{ SUPER, AT(lz_super, text), 1, 'l',
	  "superblock at block 77: text: got 6c4946455a4f4e45, wanted 4c4946455a4f4e45" },
	{ SUPER, AT(lz_super, version), 4, 0,
	  "superblock at block 77: version: got 0, wanted at least 1" },
	{ SUPER, AT(lz_super, zone_blocks), 4, 0,
	  "superblock at block 77: zone_blocks: got 0, wanted a power of two up to 16777216" },
	{ SUPER, AT(lz_super, zone_blocks), 4, 4097,
	  "superblock at block 77: zone_blocks: got 4097, wanted a power of two up to 16777216" },
	{ SUPER, AT(lz_super, zone_blocks), 4, 2 * LZ_ZONE_BLOCKS_MAX,
	  "superblock at block 77: zone_blocks: got 33554432, wanted at most 16777216" },
	{ SUPER, AT(lz_super, zone_cap), 4, 0,
	  "superblock at block 77: zone_cap: got 0, wanted at least 1" },
	{ SUPER, AT(lz_super, zone_cap), 4, 4097,
	  "superblock at block 77: zone_cap: got 4097, wanted at most 4096" },
	{ SUPER, AT(lz_super, nr_zones), 4, 2,
	  "superblock at block 77: nr_zones: got 2, wanted at least 3" },
	{ SUPER, AT(lz_super, nr_zones), 4, 1u << 28,
	  "superblock at block 77: nr_zones: got 268435456, wanted at most 268435455" },
	{ SUPER, AT(lz_super, meta_zones), 4, 38,
	  "superblock at block 77: meta_zones: got 38, wanted at most 37" },
	{ SUPER, AT(lz_super, gc_zones), 4, ~0u,
	  "superblock at block 77: gc_zones: got 4294967295, wanted at most 37" },
	{ SUPER, AT(lz_super, gc_zones), 4, 34,
	  "superblock at block 77: zones apart: got 40, wanted at most 39" },
	{ SUPER, AT(lz_super, spare_permille), 4, 1001,
	  "superblock at block 77: spare_permille: got 1001, wanted at most 1000" },
	{ SUPER, AT(lz_super, logical_blocks), 8, 0,
	  "superblock at block 77: logical_blocks: got 0, wanted at least 1" },
	{ SUPER, AT(lz_super, logical_blocks), 8, 32 * 3072 + 1,
	  "superblock at block 77: logical_blocks: got 98305, wanted at most 98304" },

	{ ROOT, AT(lz_root, journal_addr), 8, LZ_ADDR_MASK + 1,
	  "root at block 77: journal_addr: got 1099511627776, wanted at most 1099511627775" },
	{ ROOT, AT(lz_root, journal_seq), 8, 0,
	  "root at block 77: journal_seq: got 0, wanted at least 1" },
	{ ROOT, AT(lz_root, flags), 4, 3, "root at block 77: flags: got 0x3, wanted 0x1" },
	{ ROOT, AT(lz_root, mapped), 8, ~0ull,
	  "root at block 77: mapped: got 18446744073709551615, wanted at most 1099511627775" },
	{ ROOT, AT(lz_root, map_top[0]), 8, LZ_ADDR_MASK + 1,
	  "root at block 77: entry 0: map_top: got 1099511627776, wanted at most 1099511627775" },
	{ ROOT, AT(lz_root, map_top[LZ_ROOT_MAP_TOP - 1]), 8, LZ_ADDR_MASK + 1,
	  "root at block 77: entry 255: map_top: got 1099511627776, wanted at most 1099511627775" },
	{ ROOT, AT(lz_root, ztab_top[LZ_ROOT_ZTAB_TOP - 1]), 8, LZ_ADDR_MASK + 1,
	  "root at block 77: entry 63: ztab_top: got 1099511627776, wanted at most 1099511627775" },

	{ JOURNAL, AT(lz_journal, more), 4, 2,
	  "journal at block 77: more: got 2, wanted at most 1" },
	{ JOURNAL, AT(lz_journal, first), 8, 0,
	  "journal at block 77: first: got 0, wanted at least 1" },
	{ JOURNAL, AT(lz_journal, first), 8, 13,
	  "journal at block 77: first: got 13, wanted at most 12" },
	{ JOURNAL, AT(lz_journal, next_zone), 4, 6,
	  "journal at block 77: count of a link: got 251, wanted 0" },
	{ LINK, AT(lz_journal, first), 8, 11,
	  "journal at block 77: first of a link: got 11, wanted 12" },
	{ JOURNAL, AT(lz_journal, r[0].a), 8, JREC(0, 5, 1),
	  "journal at block 77: entry 0: type: got 0, wanted 1 to 5" },
	{ JOURNAL, AT(lz_journal, r[250].a), 8, JREC(6, 5, 1),
	  "journal at block 77: entry 250: type: got 6, wanted 1 to 5" },
	{ JOURNAL, AT(lz_journal, r[9].a), 8, JREC(15, 5, 1),
	  "journal at block 77: entry 9: type: got 15, wanted 1 to 5" },
	/* Records 0, 5 ...: mappings. */
	{ JOURNAL, AT(lz_journal, r[5].a), 8, JREC(LZ_JR_MAP, 5, 0),
	  "journal at block 77: entry 5: len: got 0, wanted at least 1" },
	{ JOURNAL, AT(lz_journal, r[5].a), 8, JREC(LZ_JR_MAP, NONE_LEFT - 1, 2),
	  "journal at block 77: entry 5: lba + len: got 1099511627776, wanted at most 1099511627775",
	},
	{ JOURNAL, AT(lz_journal, r[5].b), 8, LZ_ADDR_MASK + 1,
	  "journal at block 77: entry 5: addr: got 1099511627776, wanted at most 1099511627775" },
	{ JOURNAL, AT(lz_journal, r[5].b), 8, NONE_LEFT - 2,
	  "journal at block 77: entry 5: addr + len: got 1099511627776, wanted at most 1099511627775",
	},
	/* Records 1, 6 ...: discards. */
	{ JOURNAL, AT(lz_journal, r[6].b), 8, 0,
	  "journal at block 77: entry 6: blocks: got 0, wanted at least 1" },
	{ JOURNAL, AT(lz_journal, r[6].b), 8, ~0ull,
	  "journal at block 77: entry 6: blocks: got 18446744073709551615, wanted at most 1099511627775",
	},
	{ JOURNAL, AT(lz_journal, r[6].a), 8, JREC(LZ_JR_DISCARD, NONE_LEFT - (1ull << 30) + 1, 0),
	  "journal at block 77: entry 6: lba + blocks: got 1099511627776, wanted at most 1099511627775",
	},
	/* Records 2, 7 ...: openings. */
	{ JOURNAL, AT(lz_journal, r[7].a), 8, JREC(LZ_JR_ZOPEN, LZ_ADDR_MASK, 2),
	  "journal at block 77: entry 7: zone: got 1099511627775, wanted at most 4294967294" },
	{ JOURNAL, AT(lz_journal, r[7].a), 8, JREC(LZ_JR_ZOPEN, 7, LZ_NR_ZONE_CLASSES),
	  "journal at block 77: entry 7: class: got 18, wanted at most 17" },
	{ JOURNAL, AT(lz_journal, r[7].b), 8, 32ull << 32,
	  "journal at block 77: entry 7: flags: got 0x20, wanted 0x0" },
	/* Records 3, 8 ...: summaries. */
	{ JOURNAL, AT(lz_journal, r[8].a), 8, JREC(LZ_JR_ZSUM, 1ull << 32, 8),
	  "journal at block 77: entry 8: zone: got 4294967296, wanted at most 4294967294" },
	{ JOURNAL, AT(lz_journal, r[8].a), 8, JREC(LZ_JR_ZSUM, 7, 0),
	  "journal at block 77: entry 8: len: got 0, wanted at least 1" },
	{ JOURNAL, AT(lz_journal, r[8].b), 8, LZ_ZONE_BLOCKS_MAX - 7,
	  "journal at block 77: entry 8: offset + len: got 16777217, wanted at most 16777216" },
	/* Records 4, 9 ...: zones set aside. */
	{ JOURNAL, AT(lz_journal, r[9].a), 8, JREC(LZ_JR_ZBAD, 0xffffffff, 0),
	  "journal at block 77: entry 9: zone: got 4294967295, wanted at most 4294967294" },

	{ NODE, AT(lz_node, e[0]), 8, LZ_ADDR_MASK + 1,
	  "map node at block 77: entry 0: addr: got 1099511627776, wanted at most 1099511627775" },
	{ NODE, AT(lz_node, e[503]), 8, ~0ull,
	  "map node at block 77: entry 503: addr: got 18446744073709551615, wanted at most 1099511627775",
	},
	{ ZINNER, AT(lz_node, e[17]), 8, ~0ull,
	  "zone table node at block 77: entry 17: addr: got 18446744073709551615, wanted at most 1099511627775",
	},

	{ ZLEAF, AT(lz_znode, e[0].state), 1, LZ_NR_ZONE_STATES,
	  "zone table node at block 77: entry 0: state: got 6, wanted at most 5" },
	{ ZLEAF, AT(lz_znode, e[125].state), 1, 255,
	  "zone table node at block 77: entry 125: state: got 255, wanted at most 5" },
	{ ZLEAF, AT(lz_znode, e[3].class), 1, LZ_NR_ZONE_CLASSES,
	  "zone table node at block 77: entry 3: class: got 18, wanted at most 17" },
	{ ZLEAF, AT(lz_znode, e[3].flags), 2, 0x23,
	  "zone table node at block 77: entry 3: flags: got 0x23, wanted 0x3" },
	{ ZLEAF, AT(lz_znode, e[3].valid), 4, LZ_ZONE_BLOCKS_MAX + 1,
	  "zone table node at block 77: entry 3: valid: got 16777217, wanted at most 16777216" },
	{ ZLEAF, AT(lz_znode, e[3].wp), 4, LZ_ZONE_BLOCKS_MAX + 1,
	  "zone table node at block 77: entry 3: wp: got 16777217, wanted at most 16777216" },
	{ ZLEAF, AT(lz_znode, e[3].head), 4, LZ_ZONE_BLOCKS_MAX,
	  "zone table node at block 77: entry 3: head: got 16777216, wanted at most 16777215" },

	{ SUMMARY, AT(lz_summary, prev), 4, LZ_ZONE_BLOCKS_MAX,
	  "summary of zone 9: prev: got 16777216, wanted at most 16777215" },
	{ SUMMARY, AT(lz_summary, group), 4, 0,
	  "summary of zone 9: group: got 0, wanted at least 1" },
	{ SUMMARY, AT(lz_summary, group), 4, LZ_ZONE_BLOCKS_MAX + 1,
	  "summary of zone 9: group: got 16777217, wanted at most 16777216" },
	{ SUMMARY, AT(lz_summary, nth), 4, 2, "summary of zone 9: nth: got 2, wanted at most 1" },
	{ SUMMARY, AT(lz_summary, e[0]), 8, LZ_NOWHERE,
	  "summary of zone 9: entry 0: lba: got 1099511627775, wanted at most 1099511627774" },
	{ SUMMARY, AT(lz_summary, e[500]), 8, LZ_NOWHERE,
	  "summary of zone 9: entry 500: lba: got 1099511627775, wanted at most 1099511627774" },
};

static void set_field(union block *b, const struct damage *d)
{
	__le64 v = cpu_to_le64(d->value);

	memcpy(b->bytes + d->offset, &v, d->size);
}

/* A damaged header is refused by its own field, whether or not the checksum fits. */
static void log_header_damage(struct kunit *test)
{
	union block *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct lz_want w;
	char why[160];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(headers); i++) {
		const struct damage *d = &headers[i];

		make(d->kind, b);
		want(d->kind, &w);
		set_field(b, d);
		why[0] = 0;
		KUNIT_EXPECT_FALSE(test, lz_valid(b, &w, why, sizeof(why)));
		KUNIT_EXPECT_FALSE(test, lz_valid(b, &w, NULL, 0));
		if (!d->why) {
			why[41] = 0;
			KUNIT_EXPECT_STREQ(test, why, "root at block 77: crc: got 0x0, wanted 0x");
			continue;
		}
		/* The count is part of the body: not believed before the checksum. */
		if (d->offset == offsetof(struct lz_hdr, count)) {
			KUNIT_EXPECT_TRUE(test, strstr(why, ": crc: got 0x"));
			reseal(b);
			KUNIT_EXPECT_FALSE(test, lz_valid(b, &w, why, sizeof(why)));
		}
		KUNIT_EXPECT_STREQ(test, why, d->why);
		reseal(b);
		KUNIT_EXPECT_FALSE(test, lz_valid(b, &w, why, sizeof(why)));
		KUNIT_EXPECT_STREQ(test, why, d->why);
	}
}

static void log_header_uuid(struct kunit *test)
{
	union block *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct lz_want w;
	char why[160];
	u32 i;

	want(NODE, &w);
	for (i = 0; i < LZ_UUID_SIZE; i++) {
		make(NODE, b);
		b->h.uuid[i] ^= 1;
		reseal(b);
		KUNIT_EXPECT_FALSE(test, lz_valid(b, &w, NULL, 0));
	}
	make(NODE, b);
	b->h.uuid[0] = 0xff;
	reseal(b);
	KUNIT_EXPECT_FALSE(test, lz_valid(b, &w, why, sizeof(why)));
	KUNIT_EXPECT_STREQ(test, why,
			   "map node at block 77: uuid: got ff2132435465768798a9bacbdcedfe0f, wanted 102132435465768798a9bacbdcedfe0f");
}

static void log_epoch_max(struct kunit *test)
{
	union block *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct lz_want w;
	char why[160];

	make(NODE, b);
	want(NODE, &w);
	w.epoch = 0;
	w.epoch_max = 4;
	KUNIT_EXPECT_FALSE(test, lz_valid(b, &w, why, sizeof(why)));
	KUNIT_EXPECT_STREQ(test, why, "map node at block 77: epoch: got 5, wanted at most 4");
	w.epoch_max = 6;
	KUNIT_EXPECT_TRUE(test, lz_valid(b, &w, why, sizeof(why)));
}

/* What is to be a bound for others: nobody says what a root's own are. */
static void log_root_numbers(struct kunit *test)
{
	static const struct damage zero[] = {
		{ ROOT, AT(lz_hdr, epoch), 8, 0,
		  "root at block 77: epoch: got 0, wanted at least 1" },
		{ ROOT, AT(lz_hdr, seq), 8, 0, "root at block 77: seq: got 0, wanted at least 1" },
	};
	union block *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct lz_want w;
	char why[160];
	u32 i;

	want(ROOT, &w);
	w.epoch = 0;
	w.seq = 0;
	for (i = 0; i < ARRAY_SIZE(zero); i++) {
		make(ROOT, b);
		KUNIT_EXPECT_TRUE(test, lz_valid(b, &w, why, sizeof(why)));
		set_field(b, &zero[i]);
		reseal(b);
		KUNIT_EXPECT_FALSE(test, lz_valid(b, &w, why, sizeof(why)));
		KUNIT_EXPECT_STREQ(test, why, zero[i].why);
	}
}

/* A damaged body: without a right checksum nothing of it is believed. */
static void log_body_damage(struct kunit *test)
{
	union block *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct lz_want w;
	char why[160];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bodies); i++) {
		const struct damage *d = &bodies[i];

		make(d->kind, b);
		want(d->kind, &w);
		set_field(b, d);
		why[0] = 0;
		KUNIT_EXPECT_FALSE(test, lz_valid(b, &w, why, sizeof(why)));
		KUNIT_EXPECT_TRUE_MSG(test, strstr(why, ": crc: got 0x"), "(%s)", why);
		reseal(b);
		KUNIT_EXPECT_FALSE_MSG(test, lz_valid(b, &w, why, sizeof(why)), "(%s)", d->why);
		KUNIT_EXPECT_FALSE(test, lz_valid(b, &w, NULL, 0));
		KUNIT_EXPECT_STREQ(test, why, d->why);
	}
}

/* Values at the limits, on the right side of them. */
static const struct damage sound[] = {
	{ SUPER, AT(lz_super, zone_cap), 4, 4096, NULL },
	{ SUPER, AT(lz_super, logical_blocks), 8, 32 * 3072, NULL },
	{ SUPER, AT(lz_super, gc_zones), 4, 3, NULL },
	{ SUPER, AT(lz_super, created), 8, ~0ull, NULL },
	{ SUPER, AT(lz_super, incompat), 4, ~0u, NULL },
	{ ROOT, AT(lz_root, flags), 4, 0, NULL },
	{ ROOT, AT(lz_root, node_zone), 4, ~0u, NULL },
	{ ROOT, AT(lz_root, stats[0]), 8, ~0ull, NULL },
	{ JOURNAL, AT(lz_hdr, count), 4, 0, NULL },
	{ JOURNAL, AT(lz_journal, more), 4, 0, NULL },
	{ JOURNAL, AT(lz_journal, first), 8, 12, NULL },
	{ JOURNAL, AT(lz_journal, first), 8, 1, NULL },
	{ JOURNAL, AT(lz_journal, r[5].a), 8, JREC(LZ_JR_MAP, NONE_LEFT - 1, 1), NULL },
	{ JOURNAL, AT(lz_journal, r[5].b), 8, NONE_LEFT - 3, NULL },
	{ JOURNAL, AT(lz_journal, r[6].a), 8, JREC(LZ_JR_DISCARD, NONE_LEFT - (1ull << 30), 0),
	  NULL },
	{ JOURNAL, AT(lz_journal, r[8].b), 8, LZ_ZONE_BLOCKS_MAX - 8, NULL },
	{ NODE, AT(lz_node, e[0]), 8, LZ_NOWHERE, NULL },
	{ NODE, AT(lz_hdr, count), 4, 0, NULL },
	{ ZLEAF, AT(lz_znode, e[3].head), 4, LZ_ZONE_BLOCKS_MAX - 1, NULL },
	{ ZLEAF, AT(lz_znode, e[3].gen), 4, ~0u, NULL },
	{ SUMMARY, AT(lz_summary, nth), 4, 0, NULL },
	{ SUMMARY, AT(lz_summary, prev), 4, 0, NULL },
	{ SUMMARY, AT(lz_summary, e[0]), 8, LZ_NOWHERE - 1, NULL },
};

static void log_body_limits(struct kunit *test)
{
	union block *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct lz_want w;
	char why[160];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sound); i++) {
		make(sound[i].kind, b);
		want(sound[i].kind, &w);
		set_field(b, &sound[i]);
		reseal(b);
		why[0] = 0;
		KUNIT_EXPECT_TRUE_MSG(test, lz_valid(b, &w, why, sizeof(why)), "(%u %s)", i, why);
	}
}

/* Beyond the count nothing is looked at. */
static void log_rest_is_free(struct kunit *test)
{
	union block *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct lz_want w;
	enum kind k;

	for (k = JOURNAL; k < NR_KINDS; k++) {
		if (k != JOURNAL && k != ZLEAF && k != SUMMARY)
			continue;
		make(k, b);
		want(k, &w);
		memset(b->bytes + 2048, 0xff, 2048);
		b->h.count = cpu_to_le32(5);
		reseal(b);
		KUNIT_EXPECT_TRUE(test, lz_valid(b, &w, NULL, 0));
		b->h.count = cpu_to_le32(nr_entries(k));
		reseal(b);
		KUNIT_EXPECT_FALSE(test, lz_valid(b, &w, NULL, 0));
	}
}

/* A superblock of a later version is believed, so that it can be named. */
static void log_later_version(struct kunit *test)
{
	union block *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct lz_want w;

	make(SUPER, b);
	want(SUPER, &w);
	b->super.version = cpu_to_le32(LZ_FORMAT_VERSION + 1);
	b->super.zone_blocks = 0;
	reseal(b);
	KUNIT_EXPECT_TRUE(test, lz_valid(b, &w, NULL, 0));
}

static void log_short_reason(struct kunit *test)
{
	union block *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct lz_want w;
	char why[64];
	size_t n;

	make(NODE, b);
	want(NODE, &w);
	b->h.uuid[3]++;
	for (n = 0; n < 60; n++) {
		memset(why, '#', sizeof(why));
		KUNIT_EXPECT_FALSE(test, lz_valid(b, &w, why, n));
		KUNIT_EXPECT_EQ(test, why[n], '#');
		if (n)
			KUNIT_EXPECT_EQ(test, strlen(why), n - 1);
	}
}

static void log_records(struct kunit *test)
{
	struct lz_jrec r;

	lz_jrec_pack(&r, LZ_JR_ZBAD, LZ_ADDR_MASK, LZ_JREC_LEN_MAX, ~0ull);
	KUNIT_EXPECT_EQ(test, lz_jrec_type(&r), LZ_JR_ZBAD);
	KUNIT_EXPECT_EQ(test, lz_jrec_lba(&r), LZ_ADDR_MASK);
	KUNIT_EXPECT_EQ(test, lz_jrec_len(&r), LZ_JREC_LEN_MAX);
	KUNIT_EXPECT_EQ(test, lz_jrec_b(&r), ~0ull);
	lz_jrec_pack(&r, LZ_JR_MAP, 1, 2, 3);
	KUNIT_EXPECT_EQ(test, lz_jrec_type(&r), LZ_JR_MAP);
	KUNIT_EXPECT_EQ(test, lz_jrec_lba(&r), 1ull);
	KUNIT_EXPECT_EQ(test, lz_jrec_len(&r), 2u);
	KUNIT_EXPECT_EQ(test, lz_jrec_b(&r), 3ull);

	KUNIT_EXPECT_EQ(test, lz_sum_offset(lz_sum_pack(LZ_ZONE_BLOCKS_MAX - 1, 0)),
			LZ_ZONE_BLOCKS_MAX - 1);
	KUNIT_EXPECT_EQ(test, lz_sum_lba(lz_sum_pack(LZ_ZONE_BLOCKS_MAX - 1, 5)), 5ull);
	KUNIT_EXPECT_EQ(test, lz_sum_lba(lz_sum_pack(0, LZ_ADDR_MASK)), LZ_ADDR_MASK);
	KUNIT_EXPECT_EQ(test, lz_sum_offset(lz_sum_pack(0, LZ_ADDR_MASK)), 0u);
}

/* Whoever gives no room for the reason gets the answer all the same. */
static void log_no_room_for_why(struct kunit *test)
{
	struct lz_want w = { .type = LZ_BT_ROOT, .addr = 1 };
	struct lz_hdr *h = kunit_kzalloc(test, LZ_BLOCK_SIZE, GFP_KERNEL);
	char why[1] = "x";

	KUNIT_EXPECT_FALSE(test, lz_valid(h, &w, why, 0));
	h->magic = cpu_to_le32(LZ_MAGIC);
	KUNIT_EXPECT_FALSE(test, lz_valid(h, &w, why, 0));
	KUNIT_EXPECT_EQ(test, why[0], 'x');
}

static struct kunit_case log_cases[] = {
	KUNIT_CASE(log_sound_blocks),
	KUNIT_CASE(log_header_as_sealed),
	KUNIT_CASE(log_header_damage),
	KUNIT_CASE(log_header_uuid),
	KUNIT_CASE(log_epoch_max),
	KUNIT_CASE(log_root_numbers),
	KUNIT_CASE(log_body_damage),
	KUNIT_CASE(log_body_limits),
	KUNIT_CASE(log_rest_is_free),
	KUNIT_CASE(log_later_version),
	KUNIT_CASE(log_single_bits),
	KUNIT_CASE(log_torn),
	KUNIT_CASE(log_missing_end),
	KUNIT_CASE(log_short_reason),
	KUNIT_CASE(log_records),
	KUNIT_CASE(log_no_room_for_why),
	{}
};

static struct kunit_suite log_suite = {
	.name = "lifezone-log",
	.test_cases = log_cases,
};

kunit_test_suite(log_suite);
