/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lifetime by inference: how soon a block is likely to be written again, from how it
 * was written before. Two bytes a block.
 */
#ifndef LIFEZONE_LIFE_H
#define LIFEZONE_LIFE_H

#include "order.h"
#include "policy.h"

#define LZ_LIFE_BINS	24u	/* of each of the two marks */
#define LZ_LIFE_ONCE	5u	/* what lives once: without a hint, and SHORT to EXTREME */
#define LZ_LIFE_HINTS	(LZ_LIFE_ONCE - 1)
#define LZ_LIFE_COLUMNS	(LZ_LIFE_BINS + LZ_LIFE_ONCE)
#define LZ_LIFE_SUB_SHIFT	3	/* a bin is 2^3 ticks */
#define LZ_LIFE_FADE_SHIFT	5	/* a count fades by 2^-5 each time */
#define LZ_LIFE_RUNS	4u	/* wait to be looked at again */
#define LZ_LIFE_NO_BLOCK	(~0ull)

/**
 * struct lz_life_run - the ends of what was written as EXTREME until some of that was discarded
 * @first: block written first
 * @near: and one near the end
 * @marks: of both, when rates were measured next
 * @known: there was such a run
 */
struct lz_life_run {
	u64 first;
	u64 near;
	u16 marks[2];
	bool known;
};

/**
 * struct lz_life - what is known of all blocks
 * @blocks: how many
 * @mark: by block, the recent mark in bits 0-7, the lasting one or the hint in bits 8-15; 0:
 *	nothing is known of it, or it is not in use; see life.c
 * @clock: blocks written by users
 * @shift: the recent mark's time constant is 2^@shift blocks written
 * @stride: from the blocks looked at in a row to the next ones (blocks)
 * @short_end: when the row is through that is shorter than the others (blocks looked at)
 * @due: clock at which @rate is to be made anew
 * @seen: blocks looked at, by their marks, in 16ths, old ones fading
 * @written: blocks written or discarded, by their marks before, the same
 * @rate: by marks, log2 of how often such a block is written, in 256ths; 0 is the mean
 *	of all blocks in use
 * @rest: of what lives once, one divided by the mean time left, in the same way
 * @beside: blocks written with a hint next to one that has one, by hint from SHORT on, counted
 *	like @seen
 * @alike: of these, those with the same hint
 * @fresh: and blocks written with a hint where nothing was in use
 * @hinted: and all that are written with a hint
 * @same: of these, those that had the same one before
 * @sooner: blocks gone before the one next to them whose hint promises a longer life, counted
 *	like @seen
 * @later: and a shorter one
 * @trusted: rates differ by hint, or may do
 * @apart: and a quarter of what is written, or more, has one and lives once
 * @stays: what is written with a hint is rewritten in place, with the same one
 * @tail: near the end of a run is so far before it, or up to twice that (blocks)
 * @first: block written first as EXTREME since one such was discarded, or LZ_LIFE_NO_BLOCK
 * @near: of those since then, the last that was @tail blocks behind the one before, and that one
 * @since: blocks since the first of these
 * @ended: the same of the run before that, until it is in @run
 * @run: the last run that ended before each of the latest times that rates were measured
 * @turn: place of the next, modulo LZ_LIFE_RUNS
 * @runs: runs that were looked at again, old ones fading
 * @gone: of these, those whose first block was gone, and those of which one near the end was
 * @alone: what is written last goes first, a quarter of a zone or more
 * @order: whether what has no hint goes in the order in which it was written
 * @groups: how many there are
 * @finest: and how many there would be if rates told more than order
 * @comes: blocks that were to go to each of @groups, counted like @seen
 * @joint: what each of these is part of, those that little comes to together with the next
 * @open: zones that may be open
 * @shared: files with hints share zones, as not each lifetime may have one
 */
struct lz_life {
	u64 blocks;
	u16 *mark;
	atomic64_t clock;
	u32 shift;
	u64 stride;
	u64 short_end;
	u64 due;
	u64 seen[LZ_LIFE_BINS][LZ_LIFE_COLUMNS];
	u64 written[LZ_LIFE_BINS][LZ_LIFE_COLUMNS];
	s16 rate[LZ_LIFE_BINS][LZ_LIFE_COLUMNS];
	s16 rest[LZ_LIFE_BINS][LZ_LIFE_ONCE];
	u64 beside[LZ_LIFE_HINTS];
	u64 alike;
	u64 fresh;
	u64 hinted;
	u64 same;
	u64 sooner;
	u64 later;
	bool trusted;
	bool apart;
	bool stays;
	u32 tail;
	u64 first;
	u64 near[2];
	u32 since;
	u64 ended[2];
	struct lz_life_run run[LZ_LIFE_RUNS];
	u32 turn;
	u64 runs;
	u64 gone[2];
	bool alone;
	struct lz_order order;
	u32 groups;
	u32 finest;
	u64 comes[LZ_NR_GROUPS];
	u8 joint[LZ_NR_GROUPS];
	u32 open;
	bool shared;
};

/**
 * struct lz_life_sum - the marks of the blocks of a zone
 * @n: blocks
 * @once: of these, that live once, by hint
 * @recent: sum of their recent marks (ticks)
 * @lasting: sum of the lasting marks of all others (ticks)
 * @rate: and of their rates, when they were written (32nds of an octave)
 * @square: and of the squares of these
 */
struct lz_life_sum {
	u32 n;
	u32 once[LZ_LIFE_ONCE];
	s64 recent;
	s64 lasting;
	s64 rate;
	u64 square;
};

/**
 * struct lz_life_mean - the mean marks of the blocks of a zone
 * @recent: recent mark (ticks)
 * @lasting: lasting mark, of those that have one (ticks)
 * @once: how many live once, of 256, by hint
 * @spread: standard deviation of the rates of all others (256ths of an octave)
 * @n: blocks
 */
struct lz_life_mean {
	s64 recent;
	s64 lasting;
	u16 once[LZ_LIFE_ONCE];
	u16 spread;
	u32 n;
};

int lz_life_init(struct lz_life *l, u64 blocks, u32 zone_cap);
void lz_life_exit(struct lz_life *l);
int lz_life_ask(const struct lz_life *l, u64 lba, u32 n, u8 class);
u64 lz_life_swept(const struct lz_life *l, u64 clock);
bool lz_life_write(struct lz_life *l, u64 lba, u32 n, u8 class);
bool lz_life_discard(struct lz_life *l, u64 lba, u64 n);
void lz_life_measure(struct lz_life *l);

/* Is lz_life_measure() to be called? */
static inline bool lz_life_due(const struct lz_life *l)
{
	return (u64)atomic64_read(&l->clock) >= READ_ONCE(l->due);
}

/* Lets a count fade, each time that all is measured anew. By one at a time. */
static inline void lz_life_fade(u64 *cell)
{
	u64 n = READ_ONCE(*cell);

	WRITE_ONCE(*cell, n - (n >> LZ_LIFE_FADE_SHIFT));
}

bool lz_life_rate(const struct lz_life *l, u64 lba, int *rate);
bool lz_life_gone(const struct lz_life *l, u64 lba, u16 mark);
u32 lz_life_groups(u32 spare, u32 most, bool apart);
void lz_life_regroup(struct lz_life *l, u32 spare, u32 most);
u32 lz_life_group(int rate, u32 groups);
u32 lz_life_joint(struct lz_life *l, int rate, u32 n);
u8 lz_life_class(struct lz_life *l, u64 lba, u32 n, u8 class);
void lz_life_add(const struct lz_life *l, struct lz_life_sum *sum, u64 lba, u32 n);
struct lz_life_mean lz_life_mean(const struct lz_life_sum *sum);
int lz_life_zone_rate(const struct lz_life *l, const struct lz_life_mean *mean, u32 valid,
		      int by_age, int by_loss);

#endif /* LIFEZONE_LIFE_H */
