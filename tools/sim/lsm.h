/* SPDX-License-Identifier: GPL-2.0-only */
/* A leveled LSM store as a load: see lsm.c. */
#ifndef LIFEZONE_SIM_LSM_H
#define LIFEZONE_SIM_LSM_H

#include "sim.h"

/* What becomes of the hints. */
enum lsm_hints {
	LSM_HINTS,		/* as the store gives them */
	LSM_NONE,		/* left out */
	LSM_FILES,		/* shuffled, file by file */
	LSM_BLOCKS,		/* shuffled, block by block */
};

#define LSM_L0_MERGE	4u	/* files of level 0 that are merged; level 1 is as large */
#define LSM_MERGES	16u	/* at a time, at most */
#define LSM_SLOW	16u	/* as much slower than others, at most */
#define LSM_WRITERS	(LSM_MERGES + 3)	/* and the flush and two WALs */
#define LSM_NEVER	(~0u)	/* what is gone is written over, and not discarded */

/* Which file a level gives to be merged next. */
enum lsm_order {
	LSM_TURN,	/* each in turn, but for those that other merges hold */
	LSM_STRICT,	/* each in turn, and a level whose next one is held waits */
	LSM_LEAST,	/* what overlaps least; what overlaps nothing is moved */
};

struct lsm;

/**
 * struct lsm_setup - what store it is
 * @blocks: logical blocks there are
 * @multiplier: by which each level is larger than the one above
 * @live: part of the blocks that its files fill; updates without end
 * @puts: or 0; then @live says nothing: blocks of keys and values put into it, empty at first
 * @value: bytes of a value, with @puts
 * @drawn: each key drawn from as many; else all keys differ
 * @merges: at a time, with @puts
 * @slow: of blocks written one by a merge for so many by the WAL or a flush, with @puts
 * @stop: files of level 0 at which puts wait, with @puts
 * @delay: blocks it writes between the death of a file and its discard, or LSM_NEVER
 * @order: what is merged next
 * @hints: what becomes of its hints
 * @seed: of all that is drawn
 */
struct lsm_setup {
	u32 blocks;
	double multiplier;
	double live;
	u32 puts;
	double value;
	bool drawn;
	u32 merges;
	u32 slow;
	u32 stop;
	u32 delay;
	enum lsm_order order;
	enum lsm_hints hints;
	u64 seed;
};

/**
 * lsm_new - an empty store
 * @setup: as said there
 * @why: set to one line if such a store cannot be
 *
 * Return: NULL with *@why set, or not: there is no memory.
 */
struct lsm *lsm_new(const struct lsm_setup *setup, const char **why);
void lsm_free(struct lsm *t);
/* What comes next; false: all has been put, or its files have outgrown the device. */
bool lsm_next(struct lsm *t, struct sim_req *req);
bool lsm_ended(const struct lsm *t);

#endif /* LIFEZONE_SIM_LSM_H */
