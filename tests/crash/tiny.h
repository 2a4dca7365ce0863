/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The smallest world: a drive of some zones of eight blocks, one instance of core
 * and a short sequence of operations, of which every state can be saved, told from
 * others and come back to. Nothing in it is random.
 */
#ifndef LZCRASH_TINY_H
#define LZCRASH_TINY_H

#include <stdio.h>
#include "../../dm-lifezone/core/lz.h"
#include "arena.h"
#include "drive.h"

#define MAX_OPS		4u
#define MAX_BLOCKS	48u
#define MAX_IOS		24u
#define MAX_VERSIONS	8u

enum op {
	OP_WRITE_0, OP_WRITE_1, OP_FUA_0, OP_FUA_1, OP_FLUSH, OP_DISCARD_0, OP_DISCARD_1,
	OP_ZEROES_0, OP_ZEROES_1, OP_GC, OP_CHECKPOINT, OP_RELOAD, NR_OPS,
};

extern const char * const op_names[NR_OPS];

enum op_state { OS_NEW, OS_RESUME, OS_READY, OS_IO, OS_CORE, OS_DONE };

/* An operation of the sequence. */
struct xop {
	u8 op;
	u8 state;
	u32 lba;
	u64 tag;
	u64 moment;
	struct lz_waiter w;
};

/* A command in flight: core's, or the append of an operation. */
struct xio {
	struct drive_cmd dc;
	struct lz_cmd *cmd;
	struct xop *op;
	struct lz_write w;
	bool used;
};

/* What a block held, and since when, from the newest that is durable on. */
struct held {
	u32 n;
	u64 tag[MAX_VERSIONS];
	u64 time[MAX_VERSIONS];
};

/**
 * struct tiny - all of a state but the drive and the instance's memory
 * @lz: the instance
 * @kicked: the machine is wanted
 * @nr_ops: operations so far
 * @ver: versions written
 * @time: moments so far
 * @floor: all before this moment is durable
 * @held: by block
 * @op: the operations
 * @io: commands in flight
 */
struct tiny {
	struct lz *lz;
	bool kicked;
	u32 nr_ops;
	u64 ver;
	u64 time;
	u64 floor;
	struct held held[MAX_BLOCKS];
	struct xop op[MAX_OPS];
	struct xio io[MAX_IOS];
};

extern struct tiny tiny;
extern struct drive *tiny_drive;
extern struct lz_geometry tiny_geo;
extern u32 tiny_blocks;			/* logical blocks */
extern char tiny_said[200];		/* what core complained of */
extern bool tiny_fine;			/* writes take effect when chosen, not at once */
extern bool tiny_faulty;		/* a zone fails to be written */
extern void (*tiny_on_wait)(void);	/* called before core waits in a load or stop */

/* Prints the way here and ends. */
void __printf(1, 2) __noreturn tiny_fail(const char *fmt, ...);
uint64_t tiny_hash(uint64_t h, const void *p, size_t n);

/* An empty drive of so many zones, loaded. */
void tiny_format(u32 nr_zones);
/* 0, or what lz_load() says. */
int tiny_load(bool ro);
/* Nothing chosen: everything in order, until nothing is left to do. */
void tiny_settle(void);
void tiny_issue(u32 kind, u32 lba);
/* Begin or go on with an operation. */
void tiny_go(struct xop *op);
void tiny_complete(struct xio *io);
/* Clears what core will not read any more. */
void tiny_clear_dead(void);
bool tiny_may_hold(u32 lba, u64 tag);
/* Of the values alone; when they came does not matter any more. */
u64 tiny_held_hash(void);

/* A set of hashes. */
struct set {
	u64 *slot;
	u64 used;
	u64 size;		/* a power of two */
};

/* Puts it in; false: it was there. */
bool set_add(struct set *s, u64 h);

/**
 * struct tiny_cuts - what was cut
 * @holes: blocks that are not durable may be rubbish
 * @tears: the last block of a zone may be there in part
 * @bad: a zone may come back bad
 * @nested: recovery itself is cut, too
 * @states: of drive and oracle
 * @cuts: in all of these
 * @images: what they left behind, different ones
 * @in_recovery: of these, by cuts of a recovery
 * @refused: of these, not loaded as a zone cannot be read
 */
struct tiny_cuts {
	bool holes;
	bool tears;
	bool bad;
	bool nested;
	u64 states;
	u64 cuts;
	u64 images;
	u64 in_recovery;
	u64 refused;
};

extern struct tiny_cuts tiny_cuts;
/* Every cut there can be now; each is recovered and compared. */
void tiny_cut_everywhere(void);
/* The cuts being recovered from, if any. */
void tiny_print_cut(void);

/* States to begin from; NULL: there are no more. */
const char *tiny_state_name(u32 which);
/* False: not found. */
bool tiny_prepare(u32 which);

#endif /* LZCRASH_TINY_H */
