// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lifetime by inference.
 *
 * Of each block two counts of its writes are kept, in both of which a write counts the
 * less the longer ago it was: by half for every so many blocks written to the device. In
 * the recent one that is an eighth to a quarter of the device, in the lasting one 32 times that.
 * The first knows what is written now, the second what usually is.
 *
 * A count that fades need not be touched to fade if its logarithm is kept relative to the
 * clock. With T the time constant and t the clock, a write at t adds 2^(t/T) to a sum that
 * never fades; the mark is log2 of that sum, and t/T - mark, the depth, is how far the
 * block has sunk since: 0 for one write now, one more for each T without a write, one less
 * for twice as many writes. Marks are kept in eighths, modulo 256: a sweep over all blocks,
 * one for each block written, keeps those that sink beyond 2^-16 of a write in sight.
 *
 * What depths mean is not assumed but measured. The sweep counts how many blocks there
 * are of each pair of depths, and each write the pair it found: one divided by the other
 * is how often such blocks are written. A pair seldom seen borrows from its row and its
 * column. All of it fades as the load changes. So a load of steady rates, one of hot spots
 * that move on, and one without any difference between blocks each give a table of their
 * own, the last one the same in all places.
 *
 * The estimate is that of survival analysis: events over exposure, in discrete cells
 * (D. R. Cox, Regression models and life-tables, 1972, for the principle). Counts that
 * fade exponentially are those of LRFU (D. Lee et al., IEEE Trans. Computers 50(12),
 * 2001); to group by measured rates instead of by rules is ours.
 *
 * No locks: callers may race. What is lost then is a count or a mark's change.
 */
#include "life.h"

#define RECENT_FROM	8	/* least depth of each mark, below 0 (bins) */
#define LASTING_FROM	14
#define LASTING_SHIFT	5	/* 2^5 times the recent time constant */
#define SUB		(1 << LZ_LIFE_SUB_SHIFT)
#define DEEPEST		(LZ_LIFE_BINS * SUB - 1)	/* and no deeper (ticks) */

#define COUNT_ONE	16u	/* @seen and @written */
#define PRIOR		(200 * COUNT_ONE)	/* what row and column weigh */
#define FADE_SHIFT	5	/* each time that all is measured anew, by 2^-5, */
#define PERIOD_SHIFT	6	/* which is 2^6 times for each write of all blocks */

/* The highest group has rates of 2^8.5 times the mean and more, each next one half of that. */
#define GROUP_TOP	(8 * 256 + 128)

static u64 recent_tick(const struct lz_life *l)
{
	return l->clock >> (l->shift - LZ_LIFE_SUB_SHIFT);
}

static u64 lasting_tick(const struct lz_life *l)
{
	return l->clock >> (l->shift + LASTING_SHIFT - LZ_LIFE_SUB_SHIFT);
}

/* Depth of @mark at @tick, from 0 to DEEPEST (ticks). */
static u32 depth(u64 tick, u8 mark, u32 from)
{
	return min_t(u32, (u8)(tick - mark + from * SUB), DEEPEST);
}

static u8 mark_of(u64 tick, u32 depth, u32 from)
{
	return tick + from * SUB - depth;
}

static u32 recent_depth(const struct lz_life *l, u16 mark)
{
	return depth(recent_tick(l), mark, RECENT_FROM);
}

static u32 lasting_depth(const struct lz_life *l, u16 mark)
{
	return depth(lasting_tick(l), mark >> 8, LASTING_FROM);
}

static u16 marks(const struct lz_life *l, u32 recent, u32 lasting)
{
	return mark_of(recent_tick(l), recent, RECENT_FROM) |
	       mark_of(lasting_tick(l), lasting, LASTING_FROM) << 8;
}

/* 2^(@x / 256), with 16 bits after the point; @x from -4095 to 12000. */
static u64 pow2(int x)
{
	int n = x >> 8;
	u64 m = (u64)(x & 255) << 8;

	/* 2^x is about 1 + x - 0.343 x (1 - x). */
	m = 65536 + m - m * (65536 - m) / 65536 * 22479 / 65536;
	return n >= 0 ? m << n : m >> -n;
}

/*
 * The depth after a write at @depth: that of the sum with one more. What is between two
 * ticks is left to chance, or a block written often would not rise at all.
 */
static u32 written_depth(u32 depth, u32 from, u32 chance)
{
	int high = (int)(from * SUB) - (int)depth;	/* log2 of the count, in ticks */
	u32 sum = lz_log2(65536 + pow2(high * (256 / SUB))) - (16 << 8), up;

	up = (sum + (chance & (256 / SUB - 1))) / (256 / SUB);
	return from * SUB > up ? from * SUB - up : 0;
}

/* Log2 of @written / @seen with the prior @as, which has 16 bits after the point. */
static int measured(u64 written, u64 seen, u64 as)
{
	u64 n = (written << 16) + PRIOR * as;

	return (int)lz_log2(max_t(u64, n, 1)) - (int)lz_log2(seen + PRIOR) - (16 << 8);
}

/* Makes the table of rates anew, and lets what it is made of fade. */
static void measure(struct lz_life *l)
{
	u64 seen[2][LZ_LIFE_BINS] = {}, written[2][LZ_LIFE_BINS] = {};
	int side[2][LZ_LIFE_BINS];
	u32 i, j;

	for (i = 0; i < LZ_LIFE_BINS; i++) {
		for (j = 0; j < LZ_LIFE_BINS; j++) {
			seen[0][i] += l->seen[i][j];
			seen[1][j] += l->seen[i][j];
			written[0][i] += l->written[i][j];
			written[1][j] += l->written[i][j];
		}
	}
	for (i = 0; i < LZ_LIFE_BINS; i++) {
		side[0][i] = measured(written[0][i], seen[0][i], 65536);
		side[1][i] = measured(written[1][i], seen[1][i], 65536);
	}
	for (i = 0; i < LZ_LIFE_BINS; i++) {
		for (j = 0; j < LZ_LIFE_BINS; j++) {
			int as = clamp((side[0][i] + side[1][j]) / 2, -4095, 4095);

			l->rate[i][j] = measured(l->written[i][j], l->seen[i][j], pow2(as));
			l->seen[i][j] -= l->seen[i][j] >> FADE_SHIFT;
			l->written[i][j] -= l->written[i][j] >> FADE_SHIFT;
		}
	}
}

/* Looks at one more block, and keeps it in sight. */
static void probe(struct lz_life *l)
{
	u32 recent, lasting;
	u16 mark;

	l->probe += l->stride;
	if (l->probe >= l->blocks)
		l->probe -= l->blocks;
	mark = l->mark[l->probe];
	recent = recent_depth(l, mark);
	lasting = lasting_depth(l, mark);
	l->seen[recent / SUB][lasting / SUB] += COUNT_ONE;
	if (recent == DEEPEST || lasting == DEEPEST)
		l->mark[l->probe] = marks(l, recent, lasting);
}

/**
 * lz_life_write - users wrote a block
 * @l: all blocks
 * @lba: the block
 */
void lz_life_write(struct lz_life *l, u64 lba)
{
	u32 recent = recent_depth(l, l->mark[lba]), lasting = lasting_depth(l, l->mark[lba]);
	u32 chance = (u64)(l->clock * 0x9e3779b97f4a7c15ull + lba) >> 40;

	l->written[recent / SUB][lasting / SUB] += COUNT_ONE;
	l->mark[lba] = marks(l, written_depth(recent, RECENT_FROM, chance),
			     written_depth(lasting, LASTING_FROM, chance >> 8));
	l->clock++;
	probe(l);
	if (l->clock < l->due)
		return;
	l->due = l->clock + max_t(u64, l->blocks >> PERIOD_SHIFT, 1024);
	measure(l);
}

/**
 * lz_life_rate - how often a block is likely to be written
 * @l: all blocks
 * @lba: the block
 *
 * Return: log2 of that in 256ths; 0 is the mean of all blocks.
 */
int lz_life_rate(const struct lz_life *l, u64 lba)
{
	u16 mark = l->mark[lba];

	return l->rate[recent_depth(l, mark) / SUB][lasting_depth(l, mark) / SUB];
}

/**
 * lz_life_group - which blocks are to lie together
 * @rate: of the block, as of lz_life_rate()
 * @groups: how many there may be
 *
 * Return: from 0, the shortest-lived, to @groups - 1.
 */
u32 lz_life_group(int rate, u32 groups)
{
	return clamp((GROUP_TOP - rate) >> 8, 0, (int)groups - 1);
}

/**
 * lz_life_add - a block was written to a zone
 * @l: all blocks
 * @sum: of the zone
 * @lba: the block
 */
void lz_life_add(const struct lz_life *l, struct lz_life_sum *sum, u64 lba)
{
	u16 mark = l->mark[lba];

	sum->n++;
	sum->recent += recent_tick(l) - recent_depth(l, mark);
	sum->lasting += lasting_tick(l) - lasting_depth(l, mark);
}

/**
 * lz_life_mean - what is kept of a zone that is full
 * @sum: of the zone, not empty
 *
 * Return: the mean marks of all blocks written to it.
 */
struct lz_life_mean lz_life_mean(const struct lz_life_sum *sum)
{
	return (struct lz_life_mean){
		.recent = div_s64(sum->recent, sum->n),
		.lasting = div_s64(sum->lasting, sum->n),
	};
}

/**
 * lz_life_zone_rate - how often a block of a zone is likely to be written
 * @l: all blocks
 * @mean: of the zone
 *
 * Return: as lz_life_rate(), for a block with these marks, now.
 */
int lz_life_zone_rate(const struct lz_life *l, const struct lz_life_mean *mean)
{
	int most = (LZ_LIFE_BINS - 1) * SUB - 1, a, b, i, j, fi, fj;
	const s16 *r, *next;
	/* Between the middles of bins. */
	a = (int)(recent_tick(l) - mean->recent) - SUB / 2;
	b = (int)(lasting_tick(l) - mean->lasting) - SUB / 2;
	a = clamp(a, 0, most);
	b = clamp(b, 0, most);
	i = a / SUB;
	j = b / SUB;
	fi = a % SUB;
	fj = b % SUB;
	r = l->rate[i];
	next = l->rate[i + 1];
	return ((SUB - fi) * ((SUB - fj) * r[j] + fj * r[j + 1]) +
		fi * ((SUB - fj) * next[j] + fj * next[j + 1])) / (SUB * SUB);
}

/**
 * lz_life_init - nothing is known of any block
 * @l: all blocks
 * @blocks: how many, at least 1
 *
 * Return: 0 or -ENOMEM.
 */
int lz_life_init(struct lz_life *l, u64 blocks)
{
	u64 i;

	*l = (struct lz_life){ .blocks = blocks };
	l->mark = lz_zalloc_array(blocks, sizeof(*l->mark));
	if (!l->mark)
		return -ENOMEM;
	/* More than an eighth of the blocks, or the sweep were too slow. */
	l->shift = max_t(u32, ilog2(blocks / 4 + 1), LZ_LIFE_SUB_SHIFT);
	/* Evenly spread at any time, and all in the end. */
	l->stride = div_u64(blocks * 618, 1000) + 1;
	while (gcd(l->stride, blocks) != 1)
		l->stride++;
	l->stride %= blocks;
	for (i = 0; i < blocks; i++)
		l->mark[i] = marks(l, DEEPEST, DEEPEST);
	return 0;
}

void lz_life_exit(struct lz_life *l)
{
	lz_free(l->mark);
}
