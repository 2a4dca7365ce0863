/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What metadata lies on a drive, whether anything leads to it or not; and what
 * can be rebuilt from it. For check and repair, and what tests them.
 */
#ifndef LIFEZONE_SCAN_H
#define LIFEZONE_SCAN_H

#include "../dm-lifezone/core/lz.h"

/* What drives return for blocks not written: zeros or ones. */
static inline bool is_blank(const void *block)
{
	const u8 *b = block;

	return (*b == 0 || *b == 0xff) && !memcmp(b, b + 1, LZ_BLOCK_SIZE - 1);
}

static inline bool bit_is(const u8 *map, u64 i)
{
	return map[i / 8] >> (i % 8) & 1;
}

static inline void bit_set(u8 *map, u64 i)
{
	map[i / 8] |= 1 << (i % 8);
}

static inline void bit_clear(u8 *map, u64 i)
{
	map[i / 8] &= ~(1 << (i % 8));
}

/**
 * struct scan_block - a whole block of the metadata log
 * @addr: drive address
 * @epoch: as its header says
 * @seq: likewise
 * @index: likewise
 * @first: journal: number of its commit's first block
 * @next: journal: zone a link leads to, or LZ_NONE
 * @type: enum lz_block_type
 * @level: nodes: height
 * @more: journal: more blocks of the commit follow
 * @passed: the end of a commit stands behind it in its zone
 */
struct scan_block {
	u64 addr;
	u64 epoch;
	u64 seq;
	u64 index;
	u64 first;
	u32 next;
	u16 type;
	u8 level;
	bool more;
	bool passed;
};

/**
 * struct scan_root - a whole root
 * @addr: drive address
 * @r: a copy
 */
struct scan_root {
	u64 addr;
	struct lz_root *r;
};

/* Where a whole root of checkpoint @seq stands. */
struct scan_copy {
	u64 addr;
	u64 seq;
};

/* Of older roots nothing more is to be had. */
#define SCAN_ROOTS	64u

/**
 * struct scan - all of it
 * @lz: device, of which superblock and geometry are known
 * @rep: what the drive said of its zones before anything was changed
 * @b: whole blocks of the log, by address
 * @nr: how many
 * @max: and how many there is room for
 * @journal: those of the journal, by epoch and number
 * @nr_journal: how many
 * @odd: of blocks left out, as their numbers do not fit where they are
 * @nr_odd: how many
 * @max_odd: room
 * @bad: addresses in zones of the log, below the write pointer, without one
 * @nr_bad: how many
 * @max_bad: room
 * @root: the newest roots, newest first
 * @nr_root: how many
 * @copy: all whole roots
 * @nr_copy: how many
 * @max_copy: room
 * @tail: by root zone: it ends with blocks that are no roots
 * @super: by root zone: bit by copy of the superblock that is whole
 * @super_epoch: their epochs
 * @super_seq: and the numbers of the checkpoints they were written with
 * @shuffled: address of a root that is older than one before it in its zone, or 0
 * @forged: address of a root whose zone table is another epoch's, or 0
 * @beyond: a root that is whole has numbers no device gets to, and is left out
 * @log: by zone: it is one of the log
 * @epoch: highest seen anywhere
 * @ckpt: likewise, number of a checkpoint
 * @node: likewise, of one that nodes are of
 * @commit: likewise, of a commit
 * @jseq: likewise, of a journal block
 * @buf: what is read at a time
 */
struct scan {
	struct lz *lz;
	const struct lz_zone_report *rep;
	struct scan_block *b;
	u32 nr;
	u32 max;
	const struct scan_block **journal;
	u32 nr_journal;
	struct scan_block *odd;
	u32 nr_odd;
	u32 max_odd;
	u64 *bad;
	u32 nr_bad;
	u32 max_bad;
	struct scan_root root[SCAN_ROOTS + 1];
	u32 nr_root;
	struct scan_copy *copy;
	u32 nr_copy;
	u32 max_copy;
	bool tail[2];
	u8 super[2];
	u64 super_epoch[2][LZ_SUPER_COPIES];
	u64 super_seq[2][LZ_SUPER_COPIES];
	u64 shuffled;
	u64 forged;
	bool beyond;
	u8 *log;
	u64 epoch;
	u64 ckpt;
	u64 node;
	u64 commit;
	u64 jseq;
	u8 *buf;
};

int scan_drive(struct scan *s, struct lz *lz, const struct lz_zone_report *rep);
void scan_free(struct scan *s);
/* Blocks of @zone that may hold something. */
u32 scan_have(const struct scan *s, u32 zone);
/* Is that a place in the pool that may hold something? */
bool scan_holds(const struct scan *s, u64 addr);
/*
 * Is there in @zone, from @off on, what cannot be read, and is not @known by a bit? Nobody
 * knows what it was.
 */
bool scan_unread(struct scan *s, u32 zone, u32 off, u8 *known);
/* May there have been a later root than the newest, where blocks are damaged? */
bool scan_root_lost(const struct scan *s);
/*
 * The root zone that a repair was cut short in beginning anew: the newest root is not there any
 * more, but set aside. LZ_NONE: it is in a root zone, or there is none.
 */
u32 scan_begun(const struct scan *s);
/* The block at @addr, or NULL. */
const struct scan_block *scan_at(const struct scan *s, u64 addr);

/**
 * struct scan_path - journal blocks as they follow on one another
 * @b: them
 * @nr: how many
 * @max: and how many there is room for
 * @zone: where the next would be
 * @off: likewise
 * @seq: and its number
 */
struct scan_path {
	const struct scan_block **b;
	u32 nr;
	u32 max;
	u32 zone;
	u32 off;
	u64 seq;
};

/* The zone in which the journal goes on behind @b. */
u32 scan_next_zone(const struct scan *s, const struct scan_block *b);
/* Does @b come right after @a? */
bool scan_follows(const struct scan *s, const struct scan_block *a, const struct scan_block *b);
/* Adds the journal of the epoch of @from, from there on. */
int scan_walk(const struct scan *s, const struct lz_root *from, struct scan_path *p);
/*
 * Is there, of what a root of @epoch and @ckpt was written before, anything that a
 * journal ending before @seq does not lead to? The block, or NULL.
 */
const struct scan_block *scan_later(const struct scan *s, u64 epoch, u64 ckpt, u64 seq);
/*
 * What check says of it all, one line each. @note: of what is no damage, or cannot be told
 * from what a power cut leaves.
 */
void scan_judge(const struct scan *s, struct lz_check_report *r,
		void (*note)(void *ctx, const char *line));
/* Copies of the superblock a root zone begins with, as a mask. */
u8 scan_supers(const struct lz *lz);

/**
 * struct rebuild_run - blocks with the same fate
 * @lba: first
 * @len: how many
 * @why: why
 */
struct rebuild_run {
	u64 lba;
	u64 len;
	const char *why;
};

/**
 * struct rebuild_report - what a rebuild came to
 * @lost: blocks that are lost, in order
 * @nr_lost: runs
 * @max_lost: and how many there is room for
 * @lost_blocks: blocks
 * @aged: blocks of uncertain age, in order
 * @nr_aged: runs
 * @max_aged: and how many there is room for
 * @aged_blocks: blocks
 * @mapped: blocks mapped
 * @scanned: zones GC will have to search the map for
 * @tree: blocks whose place came from older nodes and the journal
 * @counted: blocks whose place follows from summaries and counts
 * @roll: the superblock, or roots, have to be written anew
 * @wipe: and then the zone they were in reset, as a root in it would count as newer
 * @begun: as scan_begun() says: all there is to do is to begin that zone
 * @root: the newest root
 */
struct rebuild_report {
	struct rebuild_run *lost;
	u32 nr_lost;
	u32 max_lost;
	u64 lost_blocks;
	struct rebuild_run *aged;
	u32 nr_aged;
	u32 max_aged;
	u64 aged_blocks;
	u64 mapped;
	u32 scanned;
	u64 tree;
	u64 counted;
	bool roll;
	bool wipe;
	u32 begun;
	u64 root;
};

/*
 * Fills in @lz, new but for its superblock, from what lies on the drive. Nothing is
 * written; rebuild_write() would write it. -EUCLEAN: nothing to build from.
 */
int rebuild(struct lz *lz, const struct lz_zone_report *rep, struct rebuild_report *r);
void rebuild_report_free(struct rebuild_report *r);
/*
 * rewrite.c: writes it. Cut short, it leaves what a rebuild can begin with again.
 */
int rebuild_write(struct lz *lz, struct lz_zone_report *rep, const struct rebuild_report *r);

#endif /* LIFEZONE_SCAN_H */
