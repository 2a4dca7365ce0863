/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of a rebuild share: see rebuild.c. */
#ifndef LIFEZONE_REBUILD_H
#define LIFEZONE_REBUILD_H

#include "scan.h"

/* A node of a tree that was asked for last, level by level. */
struct held {
	u64 addr;
	bool ok;
	struct lz_node n __attribute__((aligned(LZ_BLOCK_SIZE)));	/* read directly */
};

/* What a summary says. */
struct claim {
	u64 lba;
	u32 zone;
	u32 off;
	u32 next;		/* of that zone, or LZ_NONE */
	bool out;		/* it has been proven to be past */
};

struct owner {
	u64 addr;
	u64 lba;
};

/* A zone while blocks are found by counting. */
struct tally {
	u32 want;		/* blocks of it that are still unaccounted for */
	u32 lbas;		/* blocks that claims still place there */
	u32 first;		/* of its claims, or LZ_NONE */
	bool known;		/* its claims are all there are */
	bool done;
};

struct rebuild {
	struct lz *lz;
	struct scan s;
	struct rebuild_report *r;
	const struct lz_root *base;
	bool broken;		/* the journal from @base on is not whole */
	bool gone;		/* it was reset, as is done after a later root */
	bool ahead;		/* some leaves are later than @base */
	struct scan_path path;	/* journal blocks on top of @base */
	u32 sure;		/* from this one on it is whole */
	struct held held[2][LZ_MAX_LEVELS];
	u64 *hurt;		/* nodes that @base leads to and are not whole */
	u32 nr_hurt;
	u32 max_hurt;
	u32 *newest;		/* by leaf: scanned block, or LZ_NONE */
	u8 *found;		/* by leaf: taken from @newest */
	u32 *later;		/* by leaf: first scanned block later than @base, or LZ_NONE */
	u32 *after;		/* by such a block: the next one */
	u32 nr_found;
	u8 *unknown;		/* bit by lba */
	u64 nr_unknown;
	u8 *certain;		/* bit by lba, if @broken */
	struct lz_zent *ent;	/* zone table of @base */
	u8 *ent_ok;		/* by leaf of it */
	u8 *reborn;		/* by zone: opened since @base */
	u8 *used, *twice, *spoken, *named;	/* bit by drive block */
	struct owner *own;	/* by address, and by block */
	u32 nr_own;
	u32 max_own;
	int err;		/* memory ran out where nobody could be told */
	struct claim *claim;
	u32 nr_claim;
	u32 max_claim;
	struct tally *tally;
	u8 *buf;
};

/* The first block past map leaf @idx. */
static inline u64 leaf_end(const struct rebuild *b, u64 idx)
{
	return min_t(u64, (idx + 1) * LZ_NODE_ENTRIES, b->lz->si.logical_blocks);
}

/* An address at which data may lie. */
static inline bool possible(const struct rebuild *b, u64 addr)
{
	u32 zone = lz_addr_zone(b->lz, addr);

	return addr < LZ_NOWHERE && zone >= 2 && zone < b->lz->si.nr_zones &&
	       lz_addr_off(b->lz, addr) < b->lz->g.zone_cap;
}

/*
 * Unless told otherwise 0 or -ENOMEM is returned; one thread rebuilds, there are no locks.
 *
 * rebuild.c: the map being made, leaves in RAM as the checkpoint will write them. An
 * address, or LZ_NOWHERE.
 */
u64 rebuild_get(struct rebuild *b, u64 lba);
int rebuild_set(struct rebuild *b, u64 lba, u64 addr);

/* rebuild_log.c: what the log says */
enum got { GOT_NONE, GOT_LEAF, GOT_DAMAGE, GOT_NO_WAY };

/* Node @idx of @level at @addr in @n, of @epoch and checkpoint @seq at most. False: none. */
bool rebuild_node(struct rebuild *b, u16 type, u32 level, u64 idx, u64 addr, u64 epoch, u64 seq,
		  struct lz_node *n);
/* Leaf @idx as of @r in @n. */
enum got rebuild_leaf(struct rebuild *b, const struct lz_root *r, const struct lz_tree *t, u64 idx,
		      struct lz_node *n);

/* Called for each record of whole commits, in the order in which they count. */
typedef int (*record_fn)(struct rebuild *b, const struct lz_jrec *r, bool certain, void *arg);

/* Blocks @sure and on of @p are without a gap; before, a commit may miss blocks. */
int rebuild_each_commit(struct rebuild *b, const struct scan_path *p, u32 sure, record_fn fn,
			void *arg);

/* A leaf that is brought up to date; what else is noted of one is an enum got. */
#define LEAF_OLDER	0xff

/* What a record says of the map; with @arg, a byte for each leaf, only of those LEAF_OLDER. */
int rebuild_apply_map(struct rebuild *b, const struct lz_jrec *r, bool certain, void *arg);
/* What a record says of the map and of zones. */
int rebuild_apply(struct rebuild *b, const struct lz_jrec *r, bool certain, void *arg);
/* The journal from @from to where the newest root takes over, in @p. */
bool rebuild_journal_between(struct rebuild *b, const struct lz_root *from, struct scan_path *p);
/* Journal blocks on top of the newest root, and whether they are all there were. */
int rebuild_find_journal(struct rebuild *b);

/* rebuild_map.c: leaves of the map and of the zone table */
int rebuild_read_map(struct rebuild *b);
int rebuild_read_zones(struct rebuild *b);
/* Leaves that no root leads to count only if all the log is accounted for. */
int rebuild_verify_found(struct rebuild *b);

/* rebuild_count.c: blocks found by counting */
typedef int (*claim_fn)(struct rebuild *b, u32 zone, u32 off, u64 lba);
/* Follows the summaries of @zone from @head back. 1: all whole, 0: not, or an error. */
int rebuild_each_claim(struct rebuild *b, u32 zone, u32 head, u32 seq, u32 gen, claim_fn fn);
int rebuild_count(struct rebuild *b);

/* rebuild_judge.c: what the drive bears out, and what is lost */
/* Asks all summaries. */
int rebuild_hear(struct rebuild *b);
/* Was there a later root? Then the journal is not whole. */
int rebuild_doubt_root(struct rebuild *b);
/* Takes out of the map, and names, what is lost, and names what may be old. */
int rebuild_judge(struct rebuild *b);
void rebuild_finish_zones(struct rebuild *b);

#endif
