/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The on-disk format of a lifezone device, version 1.
 *
 * This is its one declaration: the kernel module, the lifezone tool, the
 * simulator and the tests all include this file. Documentation/ondisk-format.rst
 * describes it in prose.
 *
 * Everything is little endian. A block is 4096 bytes. A drive address is a
 * block number counted from the first sequential zone; the zone is address /
 * zone_blocks, the offset in it address % zone_blocks.
 */
#ifndef LIFEZONE_FORMAT_H
#define LIFEZONE_FORMAT_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/build_bug.h>
#else
#include <assert.h>
#include <linux/types.h>
#ifndef static_assert
#define static_assert _Static_assert
#endif
#endif

#define LZ_BLOCK_SIZE		4096u
#define LZ_BLOCK_SHIFT		12
#define LZ_BLOCK_SECTORS	8u

#define LZ_MAGIC		0x4e5a464cu	/* "LFZN" read as little endian */
/* Behind the header of the superblock, so that libblkid could find it. */
#define LZ_SUPER_TEXT		"LIFEZONE"
#define LZ_FORMAT_VERSION	1

#define LZ_UUID_SIZE		16
#define LZ_LABEL_SIZE		64

/* Limits that follow from the packing of addresses. */
#define LZ_ADDR_BITS		40		/* 4 PiB of 4 KiB blocks */
#define LZ_ADDR_MASK		((1ull << LZ_ADDR_BITS) - 1)
#define LZ_OFFSET_BITS		24		/* 64 GiB in a zone */
#define LZ_ZONE_BLOCKS_MAX	(1u << LZ_OFFSET_BITS)

/* Epochs, checkpoints, commits and write clocks count up, and never get past this. */
#define LZ_NUMBER_MAX		(1ull << 62)
/* No device gets to half of it; one that says so is not written any more. */
#define LZ_NUMBER_LATE		(LZ_NUMBER_MAX / 2)

/* An address that names no block: unmapped, absent. */
#define LZ_NOWHERE		LZ_ADDR_MASK
/* An offset in a zone that names no block. */
#define LZ_NO_OFFSET		0xffffffffu

/* At the front of a root zone. */
#define LZ_SUPER_COPIES	2u
#define LZ_ROOT_COPIES	2u

/**
 * enum lz_block_type - what a metadata block is
 * @LZ_BT_SUPER: superblock, blocks 0 and 1 of each root zone, or 0 alone (small writes)
 * @LZ_BT_ROOT: checkpoint root, every later block of a root zone, mostly in twos
 * @LZ_BT_JOURNAL: journal records of one commit
 * @LZ_BT_NODE: node of the map tree (level 0: leaf)
 * @LZ_BT_ZNODE: node of the zone table's tree (level 0: zone entries)
 * @LZ_BT_SUMMARY: who lives in a stretch of a data zone
 */
enum lz_block_type {
	LZ_BT_SUPER	= 1,
	LZ_BT_ROOT	= 2,
	LZ_BT_JOURNAL	= 3,
	LZ_BT_NODE	= 4,
	LZ_BT_ZNODE	= 5,
	LZ_BT_SUMMARY	= 6,
};

/**
 * struct lz_hdr - first 64 bytes of every metadata block
 * @magic: LZ_MAGIC
 * @crc: crc32c (seed ~0, not inverted at the end) of the block with this field zero
 * @uuid: of the device, so that no block of an earlier format is believed
 * @type: enum lz_block_type
 * @level: nodes: 0 for a leaf, else the height above it; otherwise 0
 * @count: valid entries or records in the block
 * @epoch: load epoch in which it was written, raised at every recovery
 * @seq: SUPER, ROOT: checkpoint number; JOURNAL: number of the block, from 1
 *	at format, going on over epochs; NODE, ZNODE: checkpoint that wrote it;
 *	SUMMARY: its number in the zone's life, from 1
 * @addr: own drive address; 0xffff... for a SUMMARY, which is appended and
 *	cannot know it
 * @index: NODE, ZNODE: position within its level; SUMMARY: zone number;
 *	JOURNAL: commit number; otherwise 0
 */
struct lz_hdr {
	__le32	magic;
	__le32	crc;
	__u8	uuid[LZ_UUID_SIZE];
	__le16	type;
	__le16	level;
	__le32	count;
	__le64	epoch;
	__le64	seq;
	__le64	addr;
	__le64	index;
};

#define LZ_NO_ADDR		0xffffffffffffffffull

/*
 * SUPER, ROOT, and JOURNAL and SUMMARY that are not full: the last 8 bytes hold the
 * complement of @seq, so that a block whose last sectors are missing is never whole.
 */
#define LZ_END_OFFSET		(LZ_BLOCK_SIZE - 8)

/**
 * struct lz_super - superblock
 * @h: header
 * @text: LZ_SUPER_TEXT, no terminator
 * @version: LZ_FORMAT_VERSION
 * @compat: features a reader or writer may ignore
 * @compat_ro: features a reader may ignore, a writer not
 * @incompat: features that must be known
 * @label: chosen by the user, zero padded
 * @nr_zones: sequential zones in use, root zones included
 * @zone_blocks: size of a zone (blocks, a power of two)
 * @zone_cap: capacity of a zone (blocks)
 * @meta_zones: zones set apart for the metadata log (quota)
 * @gc_zones: zones set apart for GC
 * @spare_permille: spare space chosen at format
 * @logical_blocks: exported capacity (blocks)
 * @created: seconds since 1970
 * @pad: zero, but for the end (LZ_END_OFFSET)
 */
struct lz_super {
	struct lz_hdr h;
	__u8	text[8];
	__le32	version;
	__le32	compat;
	__le32	compat_ro;
	__le32	incompat;
	__u8	label[LZ_LABEL_SIZE];
	__le32	nr_zones;
	__le32	zone_blocks;
	__le32	zone_cap;
	__le32	meta_zones;
	__le32	gc_zones;
	__le32	spare_permille;
	__le64	logical_blocks;
	__le64	created;
	__u8	pad[LZ_BLOCK_SIZE - 64 - 8 - 16 - LZ_LABEL_SIZE - 24 - 16];
};

/* Entries in a node of either tree: 8-byte addresses. */
#define LZ_NODE_ENTRIES		504u
/* Zone entries in a leaf of the zone table. */
#define LZ_ZNODE_ENTRIES	126u

/* Addresses of the top-level nodes kept in the root itself. */
#define LZ_ROOT_MAP_TOP		256u
#define LZ_ROOT_ZTAB_TOP	64u

/* Cumulative counters carried over a reload, in the order of enum lz_stat. */
#define LZ_ROOT_STATS		128u

/**
 * struct lz_root - checkpoint root: a complete state together with the journal
 * @h: header; @h.seq is the checkpoint's number
 * @journal_addr: drive address at which the first journal block after this
 *	checkpoint was or will be written
 * @journal_seq: its number
 * @commit: number of the last commit this checkpoint covers
 * @write_seq: device-wide write clock (blocks)
 * @node_zone: zone to which nodes are written, or ~0
 * @flags: LZ_ROOT_*
 * @mapped: logical blocks mapped
 * @map_top: addresses of the top-level map nodes
 * @ztab_top: addresses of the top-level zone table nodes
 * @stats: cumulative counters
 * @pad: zero, but for the end (LZ_END_OFFSET)
 */
struct lz_root {
	struct lz_hdr h;
	__le64	journal_addr;
	__le64	journal_seq;
	__le64	commit;
	__le64	write_seq;
	__le32	node_zone;
	__le32	flags;
	__le64	mapped;
	__le64	map_top[LZ_ROOT_MAP_TOP];
	__le64	ztab_top[LZ_ROOT_ZTAB_TOP];
	__le64	stats[LZ_ROOT_STATS];
	__u8	pad[LZ_BLOCK_SIZE - 64 - 48 - 8 * (LZ_ROOT_MAP_TOP +
		    LZ_ROOT_ZTAB_TOP + LZ_ROOT_STATS)];
};

#define LZ_ROOT_CLEAN		0x1u	/* written at an orderly stop */

/**
 * struct lz_node - node of the map tree, or inner node of the zone table's
 * @h: header
 * @e: leaf of the map: drive address of each logical block; inner node:
 *	address of each child; LZ_NOWHERE where there is none
 */
struct lz_node {
	struct lz_hdr h;
	__le64	e[LZ_NODE_ENTRIES];
};

/**
 * enum lz_zone_state - state of a zone, in RAM and in the zone table
 * @LZ_ZS_FREE: holds nothing; may need a reset before use
 * @LZ_ZS_OPEN: data zone that takes writes
 * @LZ_ZS_FULL: data zone that takes no more writes
 * @LZ_ZS_META: zone of the metadata log
 * @LZ_ZS_ROOT: root zone
 * @LZ_ZS_BAD: set aside, nothing is written to it; what it holds is moved away
 */
enum lz_zone_state {
	LZ_ZS_FREE	= 0,
	LZ_ZS_OPEN	= 1,
	LZ_ZS_FULL	= 2,
	LZ_ZS_META	= 3,
	LZ_ZS_ROOT	= 4,
	LZ_ZS_BAD	= 5,
};

#define LZ_NR_ZONE_STATES	6

/* The zone's summaries do not name every block: GC must search the map. */
#define LZ_ZF_SCAN		0x1u
/* The zone was filled by GC. */
#define LZ_ZF_GC		0x2u
/* The zone cannot be written (read-only, offline or failed). */
#define LZ_ZF_BAD		0x4u
/* It failed in an earlier life: not for metadata, and for nothing if it fails again. */
#define LZ_ZF_WORN		0x8u
/* Someone else reset it while it was open: what is mapped to it is lost. */
#define LZ_ZF_LOST		0x10u

/**
 * struct lz_zent - one zone in the zone table
 * @gen: generation, raised at each reset
 * @state: enum lz_zone_state
 * @class: lifetime class of the first data written to it, or of data given it empty or idle since
 * @flags: LZ_ZF_*
 * @valid: entries of the map tree of this checkpoint that point into it
 * @wp: data zones: blocks handed out to be written; some may not have been (blocks)
 * @head: offset of the first block of its newest summary, or LZ_NO_OFFSET
 * @sum_seq: number of the last block of that summary
 * @seq: device write clock when it was last written (blocks)
 */
struct lz_zent {
	__le32	gen;
	__u8	state;
	__u8	class;
	__le16	flags;
	__le32	valid;
	__le32	wp;
	__le32	head;
	__le32	sum_seq;
	__le64	seq;
};

struct lz_znode {
	struct lz_hdr h;
	struct lz_zent e[LZ_ZNODE_ENTRIES];
};

/**
 * enum lz_jrec_type - kinds of journal records
 * @LZ_JR_MAP: @len blocks from @lba now lie at drive address @b
 * @LZ_JR_DISCARD: @b blocks from @lba are unmapped (@len unused)
 * @LZ_JR_ZOPEN: zone @lba was opened; @len is its class, @b = generation |
 *	flags << 32
 * @LZ_JR_ZSUM: zone @lba has a summary; @len blocks from offset @b (low 32
 *	bits) on, numbered up to the high 32 bits of @b
 * @LZ_JR_ZBAD: zone @lba was set aside; @b = generation | LZ_ZBAD_GEN, or 0: of any generation
 *
 * When a commit is applied its discards come first and its mappings after them,
 * whatever their order in it.
 */
enum lz_jrec_type {
	LZ_JR_MAP	= 1,
	LZ_JR_DISCARD	= 2,
	LZ_JR_ZOPEN	= 3,
	LZ_JR_ZSUM	= 4,
	LZ_JR_ZBAD	= 5,
};

#define LZ_ZBAD_GEN	(1ull << 32)

/**
 * struct lz_jrec - journal record
 * @a: lba (bits 0-39), len (40-59), type (60-63)
 * @b: as the type says
 */
struct lz_jrec {
	__le64	a;
	__le64	b;
};

#define LZ_JREC_LEN_BITS	20
#define LZ_JREC_LEN_MAX		((1u << LZ_JREC_LEN_BITS) - 1)
#define LZ_JOURNAL_RECORDS	251u

/**
 * struct lz_journal - one block of a commit
 * @h: header
 * @next_zone: in a link, the zone in which the journal goes on; else ~0
 * @more: 1 where more blocks of the same commit follow, 0 in its last block,
 *	whose presence makes the commit count
 * @first: number of the commit's first block; in a link its own number
 * @r: records
 *
 * A link is a block without records that ends a zone of the journal and names
 * the next; it belongs to no commit, though it may lie between blocks of one.
 */
struct lz_journal {
	struct lz_hdr h;
	__le32	next_zone;
	__le32	more;
	__le64	first;
	struct lz_jrec r[LZ_JOURNAL_RECORDS];
};

/* Entries of a summary block: offset << 40 | lba. */
#define LZ_SUMMARY_ENTRIES	501u

/**
 * struct lz_summary - names the logical address of blocks of a data zone
 * @h: header; @h.index is the zone, @h.seq numbers the summary blocks of a zone's life
 * @gen: generation of the zone
 * @prev: offset of the first block of the summary before, or LZ_NO_OFFSET
 * @group: blocks in this summary (they lie side by side)
 * @nth: position of this block in the summary, from 0
 * @pad: zero
 * @e: offset << LZ_ADDR_BITS | lba of blocks completed by then
 */
struct lz_summary {
	struct lz_hdr h;
	__le32	gen;
	__le32	prev;
	__le32	group;
	__le32	nth;
	__u8	pad[8];
	__le64	e[LZ_SUMMARY_ENTRIES];
};

static_assert(sizeof(struct lz_hdr) == 64, "header size");
static_assert(sizeof(struct lz_super) == LZ_BLOCK_SIZE, "superblock size");
static_assert(sizeof(struct lz_root) == LZ_BLOCK_SIZE, "root size");
static_assert(sizeof(struct lz_node) == LZ_BLOCK_SIZE, "node size");
static_assert(sizeof(struct lz_zent) == 32, "zone entry size");
static_assert(sizeof(struct lz_znode) == LZ_BLOCK_SIZE, "zone node size");
static_assert(sizeof(struct lz_jrec) == 16, "journal record size");
static_assert(sizeof(struct lz_journal) == LZ_BLOCK_SIZE, "journal size");
static_assert(sizeof(struct lz_summary) == LZ_BLOCK_SIZE, "summary size");
static_assert(__builtin_offsetof(struct lz_super, text) == 64, "superblock text offset");
static_assert(__builtin_offsetof(struct lz_super, logical_blocks) == 176, "capacity offset");
static_assert(__builtin_offsetof(struct lz_root, map_top) == 112, "root map offset");
static_assert(__builtin_offsetof(struct lz_journal, r) == 80, "journal records offset");
static_assert(__builtin_offsetof(struct lz_summary, e) == 88, "summary entries offset");

#endif /* LIFEZONE_FORMAT_H */
