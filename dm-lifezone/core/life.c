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
 * for twice as many writes. Marks are kept in eighths, in a byte each: a sweep over all blocks,
 * one for each block written, keeps those that sink beyond 2^-16 of a write in sight.
 *
 * What depths mean is not assumed but measured. The sweep counts how many blocks there
 * are of each pair of depths, and each write, or discard, the pair it found: one divided by
 * the other is how often such blocks are written. A pair seldom seen borrows from its row and its
 * column. All of it fades as the load changes. So a load of steady rates, one of hot spots
 * that move on, and one without any difference between blocks each give a table of their
 * own, the last one the same in all places.
 *
 * What lives once and is then discarded, as files do, was not there before it was written, and
 * has no lasting mark but a column of its own, by its hint if it came with one that has an order
 * from SHORT to EXTREME; that it keeps until it is overwritten without one. What a hint is worth is
 * measured like the rest: hints that tell nothing share a column. While a device is first filled
 * data of one age after the other comes with other hints, and these seem to tell something whatever
 * they are. Of files that does not matter; but where each block has a hint of its own they are
 * believed only once of two blocks, written at the same time and side by side, the one goes first
 * whose hint says so.
 *
 * Not all that has a hint is a file, written once. Where nearly all of it is rewritten in place,
 * with the hint that it had before, each block has a history of its own, and that with the hint
 * says more than the hint does: it is grouped like what has none, and rates count, not the time
 * left.
 *
 * Lives of files end at an age, not at random: a block may not be likely to die now, and yet
 * not have long to live. For victims, and for what survives and came with a hint, it is the time
 * left that counts: from the rates by depth, through which a block sinks steadily, follows how long
 * one is to live on. Of data rewritten in place the hottest blocks of a zone are gone first: by how
 * far apart their rates were follows the mean rate of what is left, for which Lomet and Luo's rule
 * asks (victim.c).
 *
 * Where files are merged, as in a store of levels, those of a level that was just written are read
 * next in some order, and what a merge wrote last may be what the next one reads first. That it has
 * ended is seen by what it has read being discarded. So of what is written as EXTREME until some
 * of that is discarded, a run, the first block and one near the end are looked at again a sixteenth
 * of the device later. Where the latter is gone in a third of all cases or more, and three times as
 * often as the first one, placement goes by that. Near the end is a quarter of a zone before it, or
 * some more: if less is gone the hole in a zone is not worth the space that it takes to avoid it.
 *
 * The estimate is that of survival analysis: events over exposure, in discrete cells
 * (D. R. Cox, Regression models and life-tables, 1972, for the principle). Counts that
 * fade exponentially are those of LRFU (D. Lee et al., IEEE Trans. Computers 50(12),
 * 2001); to group by measured rates instead of by rules is ours.
 *
 * No locks: all but lz_life_measure() may be called by many at a time. What is lost then
 * is a count or a mark's change. The sweep must lose nothing, as a mark that it came to
 * late would look like one of a block just written: where it is follows from the clock.
 */
#include "life.h"

#define RECENT_FROM	8	/* least depth of each mark, below 0 (bins) */
#define LASTING_FROM	14
#define LASTING_SHIFT	5	/* 2^5 times the recent time constant */
#define SUB		(1 << LZ_LIFE_SUB_SHIFT)
#define DEEPEST		(LZ_LIFE_BINS * SUB - 1)	/* and no deeper (ticks) */

/* No file lives longer (time constants << 16): four times what marks tell apart. */
#define LIFE_MOST	(4ull * (LZ_LIFE_BINS - RECENT_FROM) << 16)

#define COUNT_ONE	16u	/* @seen and @written */
#define PRIOR		(200 * COUNT_ONE)	/* what row and column weigh */
#define PERIOD_SHIFT	6	/* measured anew 2^6 times for each write of all blocks */

/*
 * Groups divide rates between 2^8.5 times the mean and 2^-2.5 times evenly, the first and
 * the last having what is beyond: eleven an octave each, with the mean in the midst of one.
 */
#define GROUP_TOP	(8 * 256 + 128)
#define GROUP_SPAN	(11 * 256)

#define OPEN_LEAST	3u	/* zones, one of them for the other side, be it users or GC */

#define RUN		64u	/* a run counts like so many blocks in @gone and @runs */
#define RUN_PRIOR	(4 * RUN * COUNT_ONE)	/* beside four of which nothing was gone */

/* Looked at in a row: what a cache line holds. */
#define ROW		32u
#define ASKED		4u	/* blocks of a request whose rates are asked */
#define DISCARDED	64u	/* and of a discard that are counted */

/* Lasting marks are kept modulo this; what is beyond are columns of what lives once. */
#define LASTING_MODULO	(256 - LZ_LIFE_ONCE)

/* The time, for each of the marks. */
struct ticks {
	u64 recent;
	u64 lasting;
	u32 low;		/* @lasting modulo LASTING_MODULO */
};

#define NO_HINT		1u	/* then those of SHORT and so on */

/* Depths of the marks of a block, from 0 to DEEPEST (ticks); @once: a hint, instead of @lasting. */
struct depths {
	u32 recent;
	u32 lasting;
	u32 once;
	bool known;
};

static u64 modulo(u64 a, u64 m)
{
	return a - div64_u64(a, m) * m;
}

static struct ticks now(const struct lz_life *l)
{
	u64 clock = atomic64_read(&l->clock);
	struct ticks t = {
		.recent = clock >> (l->shift - LZ_LIFE_SUB_SHIFT),
		.lasting = clock >> (l->shift + LASTING_SHIFT - LZ_LIFE_SUB_SHIFT),
	};

	t.low = modulo(t.lasting, LASTING_MODULO);
	return t;
}

static u32 depth(u32 tick, u32 mark, u32 from, u32 modulo)
{
	return min_t(u32, (tick + from * SUB + modulo - mark) % modulo, DEEPEST);
}

static u32 mark_of(u32 tick, u32 depth, u32 from, u32 modulo)
{
	return (tick + from * SUB + modulo - depth) % modulo;
}

static struct depths depths(struct ticks t, u16 mark)
{
	u32 high = mark >> 8;
	struct depths d = {
		.recent = depth((u8)t.recent, (u8)mark, RECENT_FROM, 256), .known = true,
	};

	/* Of a block nothing is known of: as if never written. */
	if (!mark)
		return (struct depths){ DEEPEST, DEEPEST, 0, false };
	if (high >= LASTING_MODULO)
		d.once = high - LASTING_MODULO + NO_HINT;
	else
		d.lasting = depth(t.low, high, LASTING_FROM, LASTING_MODULO);
	return d;
}

static u16 marks(struct ticks t, struct depths d)
{
	u32 high = d.once ? LASTING_MODULO + d.once - NO_HINT :
		mark_of(t.low, d.lasting, LASTING_FROM, LASTING_MODULO);
	u16 mark = mark_of((u8)t.recent, d.recent, RECENT_FROM, 256) | high << 8;

	/* Not to look like a block nothing is known of. */
	return mark ? mark : 1;
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

/* Of a block of @d, which is @lba, once it has been written as @class. */
static struct depths written_depths(const struct lz_life *l, struct depths d, u64 lba, u8 class)
{
	u32 chance = (u64)(atomic64_read(&l->clock) * 0x9e3779b97f4a7c15ull + lba) >> 40;

	/* It was written once, when its recent mark says. */
	if (d.once)
		d.lasting = LASTING_FROM * SUB +
			(max_t(int, (int)d.recent - RECENT_FROM * SUB, 0) >> LASTING_SHIFT);
	d.recent = written_depth(d.recent, RECENT_FROM, chance);
	d.lasting = written_depth(d.lasting, LASTING_FROM, chance >> 8);
	d.once = lz_ordered(class) ? NO_HINT + 1 + class - LZ_CLASS_SHORT : d.known ? 0 : NO_HINT;
	return d;
}

static u32 column_of(struct depths d)
{
	return d.once ? LZ_LIFE_BINS + d.once - NO_HINT : d.lasting / SUB;
}

static int rate_at(const struct lz_life *l, struct depths d)
{
	return READ_ONCE(l->rate[d.recent / SUB][column_of(d)]);
}

static void add(u64 *cell, u64 n)
{
	WRITE_ONCE(*cell, READ_ONCE(*cell) + n * COUNT_ONE);
}

static void count(u64 (*cells)[LZ_LIFE_COLUMNS], struct depths d, u64 n)
{
	add(&cells[d.recent / SUB][column_of(d)], n);
}

/* Log2 of @written / @seen with the prior @as, which has 16 bits after the point. */
static int measured(u64 written, u64 seen, u64 as)
{
	u64 n = (written << 16) + PRIOR * as;

	return (int)lz_log2(max_t(u64, n, 1)) - (int)lz_log2(seen + PRIOR) - (16 << 8);
}

/* What is counted in rows @i to @end of columns @j to @last. */
static u64 add_up(const u64 (*cells)[LZ_LIFE_COLUMNS], u32 i, u32 end, u32 j, u32 last)
{
	u64 sum = 0;
	u32 k;

	for (; i < end; i++)
		for (k = j; k < last; k++)
			sum += READ_ONCE(cells[i][k]);
	return sum;
}

/* What is measured in all of these together. */
static int measured_all(const struct lz_life *l, u32 i, u32 end, u32 j, u32 last)
{
	return measured(add_up(l->written, i, end, j, last), add_up(l->seen, i, end, j, last),
			65536);
}

/*
 * The mean time until a block is written that is written at a rate of @h within the next time
 * constant, and lives @then after it. All in time constants, with 16 bits after the point.
 */
static u64 residual(u64 h, u64 then)
{
	/* e^-h */
	u64 stay = h < 11 << 16 ? pow2(-(int)(h * 369 >> 16)) : 0, within;

	/* (1 - e^-h) / h; nearly 1 - h / 2 where that is small. */
	within = h < 1024 ? 65536 - h / 2 : div64_u64((65536 - stay) << 16, h);
	return within + (stay * then >> 16);
}

/*
 * The rates that are one divided by the time that is left, for column @j of what lives once. (Not
 * where hints stay with their blocks: these are written again and again.)
 *
 * Of the oldest files some are never seen to go. Taken to live for ever they alone would make the
 * mean, and zones of which half is about to go the best victims. What has no hint, or one that
 * tells nothing, may be no file, and never be written again.
 */
static void expect(struct lz_life *l, u32 j, int mean)
{
	u64 life = j >= NO_HINT && l->trusted ? LIFE_MOST : ~0ull;
	bool again = j >= NO_HINT && l->stays;
	u32 i;

	for (i = LZ_LIFE_BINS; i--;) {
		int rate = clamp(l->rate[i][LZ_LIFE_BINS + j] - mean, -3800, 3800);
		u64 h = max_t(u64, pow2(rate), 1);

		life = i == LZ_LIFE_BINS - 1 ? min(div64_u64(1ull << 32, h), life) :
			residual(h, life);
		l->rest[i][j] = again ? l->rate[i][LZ_LIFE_BINS + j] :
			mean - (int)lz_log2(max_t(u64, life, 1)) + (16 << 8);
	}
}

/*
 * How much more often blocks of hint @j are written than those of other hints, of the same ages:
 * the rate ratio of N. Mantel and W. Haenszel (Statistical aspects of the analysis of data
 * from retrospective studies of disease, 1959), as log2 in 256ths.
 */
static int hint_ratio(const struct lz_life *l, u32 j)
{
	u32 first = LZ_LIFE_BINS + NO_HINT, i;
	u64 ours = 0, theirs = 0;

	j += LZ_LIFE_BINS;
	for (i = 0; i < LZ_LIFE_BINS; i++) {
		u64 all = add_up(l->seen, i, i + 1, first, LZ_LIFE_COLUMNS);
		u64 seen = add_up(l->seen, i, i + 1, j, j + 1);
		u64 written = add_up(l->written, i, i + 1, j, j + 1);
		u64 others = add_up(l->written, i, i + 1, first, LZ_LIFE_COLUMNS) - written;
		/* Of 65536; counts may change meanwhile. */
		u64 share = all ? min_t(u64, div64_u64(seen << 16, all), 65536) : 0;

		ours += written * (65536 - share) >> 16;
		theirs += others * share >> 16;
	}
	return measured(ours, theirs, 65536);
}

/* The hint of a block with @mark, from 0 for SHORT on; below that it has none. */
static int hint_of(u16 mark)
{
	return (mark >> 8) - (int)(LASTING_MODULO + NO_HINT);
}

/* The mark of the block before @lba, or that of one nothing is known of. */
static u16 mark_before(const struct lz_life *l, u64 lba)
{
	return lba ? READ_ONCE(l->mark[lba - 1]) : 0;
}

/* @n blocks from @lba on are about to be written as @class, which has an order. */
static void note_hinted(struct lz_life *l, u64 lba, u32 n, u8 class)
{
	int hint = class - LZ_CLASS_SHORT, before = hint_of(mark_before(l, lba));
	u16 mark = READ_ONCE(l->mark[lba]);

	add(&l->beside[hint], n - (before < 0));
	add(&l->alike, n - (before != hint));
	add(&l->hinted, n);
	if (!mark)
		add(&l->fresh, n);
	else if (hint_of(mark) == hint)
		add(&l->same, n);
}

/* @lba goes; the block before it, if it was written at about the same time, has outlived it. */
static void note_gone(struct lz_life *l, u64 lba)
{
	u16 mark = READ_ONCE(l->mark[lba]), other;
	int hint = hint_of(mark), before;

	if (hint < 0)
		return;
	other = mark_before(l, lba);
	before = hint_of(other);
	if (before >= 0 && hint != before && (u8)(mark - other + SUB / 2) <= SUB)
		add(hint < before ? &l->sooner : &l->later, 1);
}

/* @n blocks from @lba on are written as EXTREME. */
static void run_on(struct lz_life *l, u64 lba, u32 n)
{
	u32 since = READ_ONCE(l->since) + n;

	if (READ_ONCE(l->first) == LZ_LIFE_NO_BLOCK) {
		WRITE_ONCE(l->first, lba);
		WRITE_ONCE(l->near[0], lba);
		WRITE_ONCE(l->near[1], lba);
		since = n;
	}
	if (since >= l->tail) {
		WRITE_ONCE(l->near[1], READ_ONCE(l->near[0]));
		WRITE_ONCE(l->near[0], lba + n - 1);
		since = 0;
	}
	WRITE_ONCE(l->since, since);
}

/* @lba is discarded. Return: does that end a run? */
static bool run_end(struct lz_life *l, u64 lba)
{
	u64 first = READ_ONCE(l->first);

	if (first == LZ_LIFE_NO_BLOCK ||
	    hint_of(READ_ONCE(l->mark[lba])) != LZ_CLASS_EXTREME - LZ_CLASS_SHORT)
		return false;
	WRITE_ONCE(l->first, LZ_LIFE_NO_BLOCK);
	WRITE_ONCE(l->ended[0], first);
	WRITE_ONCE(l->ended[1], READ_ONCE(l->near[1]));
	return true;
}

/**
 * lz_life_gone - has a block been written again, or discarded?
 * @l: all blocks
 * @lba: the block
 * @mark: its mark when it was written
 *
 * Return: is its mark another one, and not for having been kept in sight?
 */
bool lz_life_gone(const struct lz_life *l, u64 lba, u16 mark)
{
	u16 is = READ_ONCE(l->mark[lba]);

	return !is || (is != mark && depths(now(l), is).recent < DEEPEST);
}

/* Looks again at the run that ended LZ_LIFE_RUNS calls ago; the one that ended since follows it. */
static void runs_judge(struct lz_life *l)
{
	struct lz_life_run *r = &l->run[l->turn++ % LZ_LIFE_RUNS];
	bool often;
	u32 i;

	if (r->known) {
		lz_life_fade(&l->runs);
		add(&l->runs, RUN);
		for (i = 0; i < 2; i++) {
			lz_life_fade(&l->gone[i]);
			if (lz_life_gone(l, i ? r->near : r->first, r->marks[i]))
				add(&l->gone[i], RUN);
		}
	}
	r->first = READ_ONCE(l->ended[0]);
	r->near = READ_ONCE(l->ended[1]);
	WRITE_ONCE(l->ended[0], LZ_LIFE_NO_BLOCK);
	r->known = r->first < l->blocks && r->near < l->blocks && r->first != r->near;
	if (r->known) {
		r->marks[0] = READ_ONCE(l->mark[r->first]);
		r->marks[1] = READ_ONCE(l->mark[r->near]);
	}
	often = 3 * l->gone[1] >= l->runs + RUN_PRIOR;
	WRITE_ONCE(l->alone, often && l->gone[1] >= 3 * l->gone[0]);
}

/*
 * Are hints given to files, rather than to each block? Blocks of a file are side by side. Those
 * that are agree then in half of what chance leaves, at least (the kappa of J. Cohen, A coefficient
 * of agreement for nominal scales, 1960).
 */
static bool of_files(const struct lz_life *l)
{
	u64 all = 0, part, chance = 0;
	u32 i;

	for (i = 0; i < LZ_LIFE_HINTS; i++)
		all += READ_ONCE(l->beside[i]);
	if (all < PRIOR)
		return true;
	for (i = 0; i < LZ_LIFE_HINTS; i++) {
		part = div64_u64(READ_ONCE(l->beside[i]) << 16, all);
		chance += part * part >> 16;
	}
	return 2 * div64_u64(READ_ONCE(l->alike) << 16, all) >= 65536 + chance;
}

/* Does a hint tell, by an octave at least, what age does not? As before, if two are not in use. */
static bool telling(const struct lz_life *l)
{
	bool tells = false;
	u32 j, n = 0;

	if (!of_files(l))
		return READ_ONCE(l->sooner) >= 2 * READ_ONCE(l->later) + PRIOR;
	for (j = NO_HINT; j < LZ_LIFE_ONCE; j++) {
		u32 column = LZ_LIFE_BINS + j;

		/* What dies at once is seldom seen, but has been written. */
		if (add_up(l->seen, 0, LZ_LIFE_BINS, column, column + 1) +
		    add_up(l->written, 0, LZ_LIFE_BINS, column, column + 1) < PRIOR)
			continue;
		tells |= abs(hint_ratio(l, j)) >= 256;
		n++;
	}
	return n < 2 ? l->trusted : tells;
}

/**
 * lz_life_measure - make the table of rates anew, and let what it is made of fade
 * @l: all blocks
 *
 * To be called when lz_life_write() says so, by one at a time.
 */
void lz_life_measure(struct lz_life *l)
{
	u64 all = add_up(l->written, 0, LZ_LIFE_BINS, 0, LZ_LIFE_COLUMNS);
	int row[LZ_LIFE_BINS], column[LZ_LIFE_COLUMNS], mean;
	u32 i, j;

	WRITE_ONCE(l->due, atomic64_read(&l->clock) + max_t(u64, l->blocks >> PERIOD_SHIFT, 1024));
	runs_judge(l);
	lz_order_judge(&l->order, l);
	/* A device being filled says nothing else. */
	if (!all) {
		WRITE_ONCE(l->trusted, of_files(l));
		return;
	}
	for (i = 0; i < LZ_LIFE_BINS; i++)
		row[i] = measured_all(l, i, i + 1, 0, LZ_LIFE_COLUMNS);
	for (j = 0; j < LZ_LIFE_COLUMNS; j++)
		column[j] = measured_all(l, 0, LZ_LIFE_BINS, j, j + 1);
	mean = measured_all(l, 0, LZ_LIFE_BINS, 0, LZ_LIFE_COLUMNS);
	WRITE_ONCE(l->trusted, telling(l));
	WRITE_ONCE(l->apart, l->trusted && 4 * READ_ONCE(l->fresh) >= all);
	/* Even a few files are better kept apart. */
	WRITE_ONCE(l->stays, 16 * READ_ONCE(l->same) > 15 * READ_ONCE(l->hinted));
	for (j = 0; j < LZ_LIFE_COLUMNS; j++) {
		u32 from = j, last = j + 1;

		/* Hints that tell nothing are no hints: all of it is one column. */
		if (j >= LZ_LIFE_BINS && !l->trusted) {
			from = LZ_LIFE_BINS;
			last = LZ_LIFE_COLUMNS;
			column[j] = measured_all(l, 0, LZ_LIFE_BINS, from, last);
		}
		for (i = 0; i < LZ_LIFE_BINS; i++) {
			int as = clamp((row[i] + column[j]) / 2, -4095, 4095);
			u64 written = add_up(l->written, i, i + 1, from, last);
			u64 seen = add_up(l->seen, i, i + 1, from, last);

			WRITE_ONCE(l->rate[i][j], measured(written, seen, pow2(as)) - mean);
		}
	}
	for (i = 0; i < LZ_LIFE_BINS; i++) {
		for (j = 0; j < LZ_LIFE_COLUMNS; j++) {
			lz_life_fade(&l->seen[i][j]);
			lz_life_fade(&l->written[i][j]);
		}
	}
	for (j = 0; j < LZ_LIFE_HINTS; j++)
		lz_life_fade(&l->beside[j]);
	lz_life_fade(&l->alike);
	lz_life_fade(&l->fresh);
	lz_life_fade(&l->hinted);
	lz_life_fade(&l->same);
	lz_life_fade(&l->sooner);
	lz_life_fade(&l->later);
	/* The mean rate is one write of a block in so many time constants. */
	mean = (int)lz_log2(l->blocks) - mean - (int)(l->shift << 8);
	for (j = 0; j < LZ_LIFE_ONCE; j++)
		expect(l, j, mean);
}

/**
 * lz_life_swept - where the sweep over all blocks is
 * @l: all blocks
 * @clock: blocks written until then
 *
 * Return: the block looked at next.
 */
u64 lz_life_swept(const struct lz_life *l, u64 clock)
{
	u64 rows = DIV_ROUND_UP(l->blocks, (u64)ROW), at = modulo(clock, l->blocks);

	/* One row is shorter than the others. */
	if (at >= l->short_end)
		at += round_up(l->blocks, ROW) - l->blocks;
	return modulo(at / ROW * (l->stride / ROW), rows) * ROW + at % ROW;
}

/* Looks at @n more blocks from @at on, and keeps them in sight. */
static void probe(struct lz_life *l, struct ticks t, u64 at, u32 n)
{
	while (n--) {
		u16 mark = READ_ONCE(l->mark[at]);

		if (mark) {
			struct depths d = depths(t, mark);

			count(l->seen, d, 1);
			if (d.recent == DEEPEST || d.lasting == DEEPEST)
				WRITE_ONCE(l->mark[at], marks(t, d));
		}
		at++;
		if (at % ROW && at < l->blocks)
			continue;
		at = round_down(at - 1, ROW) + l->stride;
		if (at >= l->blocks)
			at -= round_up(l->blocks, ROW);
	}
}

/**
 * lz_life_ask - how often blocks are likely to be written, once they have been now
 * @l: all blocks
 * @lba: the first
 * @n: how many, at least 1
 * @class: and as what
 *
 * Return: the mean over them of what lz_life_rate() would say, or over some if they are many.
 */
int lz_life_ask(const struct lz_life *l, u64 lba, u32 n, u8 class)
{
	u32 step = DIV_ROUND_UP(n, ASKED), i = 0;
	struct ticks t = now(l);
	int sum = 0, asked = 0;

	do {
		sum += rate_at(l, written_depths(l, depths(t, READ_ONCE(l->mark[lba + i])),
						 lba + i, class));
		asked++;
		i += step;
	} while (i < n);
	return sum / asked;
}

/**
 * lz_life_write - users wrote blocks
 * @l: all blocks
 * @lba: the first
 * @n: how many, at least 1
 * @class: lifetime class they came with
 *
 * Return: is lz_life_measure() due?
 */
bool lz_life_write(struct lz_life *l, u64 lba, u32 n, u8 class)
{
	struct ticks t = now(l);
	u16 was = 0, mark, becomes = 0;
	struct depths d = {};
	int group = -1;
	u64 clock;
	u32 i;

	note_gone(l, lba);
	/* Order is compared with the groups there would be without it, or none could win back. */
	if (class == LZ_CLASS_NOT_SET && lz_order_due(&l->order, l->blocks, n))
		group = READ_ONCE(l->mark[lba]) ?
			lz_life_group(lz_life_ask(l, lba, n, class), READ_ONCE(l->finest)) :
			LZ_ORDER_NEW;
	if (lz_ordered(class))
		note_hinted(l, lba, n, class);
	if (class == LZ_CLASS_EXTREME)
		run_on(l, lba, n);
	for (i = 0; i < n; i++) {
		mark = READ_ONCE(l->mark[lba + i]);
		/* What was written together is most often alike. */
		if (!i || mark != was) {
			d = depths(t, mark);
			becomes = marks(t, written_depths(l, d, lba + i, class));
		}
		was = mark;
		if (mark)
			count(l->written, d, 1);
		WRITE_ONCE(l->mark[lba + i], becomes);
	}
	if (group >= 0)
		lz_order_take(&l->order, lba, READ_ONCE(l->mark[lba]), group);
	clock = atomic64_add_return(n, &l->clock) - n;
	probe(l, now(l), lz_life_swept(l, clock), n);
	return lz_life_due(l);
}

/**
 * lz_life_discard - users discarded blocks
 * @l: all blocks
 * @lba: the first
 * @n: how many
 *
 * Return: has a run of what was written as EXTREME ended with that?
 */
bool lz_life_discard(struct lz_life *l, u64 lba, u64 n)
{
	u64 step = max_t(u64, div_u64(n, DISCARDED), 1), i;
	bool ended = run_end(l, lba);
	struct ticks t = now(l);

	note_gone(l, lba);
	for (i = 0; i < n; i += step) {
		u16 mark = READ_ONCE(l->mark[lba + i]);

		if (mark)
			count(l->written, depths(t, mark), min(step, n - i));
	}
	/* Others may read half a mark: it tells them nothing true, but is one like any other. */
	data_race(memset(&l->mark[lba], 0, n * sizeof(*l->mark)));
	return ended;
}

/**
 * lz_life_rate - how often a block that has survived a cleaning is likely to be written
 * @l: all blocks
 * @lba: the block
 * @rate: set to log2 of that in 256ths; 0 is the mean of all blocks in use
 *
 * What came with a hint, if hints tell something, lives once: for that it is one divided by the
 * mean time left.
 *
 * Return: is anything known of it?
 */
bool lz_life_rate(const struct lz_life *l, u64 lba, int *rate)
{
	u16 mark = READ_ONCE(l->mark[lba]);
	struct depths d = depths(now(l), mark);

	if (!mark)
		*rate = 0;
	else if (d.once > NO_HINT && READ_ONCE(l->trusted))
		*rate = READ_ONCE(l->rest[d.recent / SUB][d.once - NO_HINT]);
	else
		*rate = rate_at(l, d);
	return mark;
}

/* May not all have zones at a time, groups and hints? Then lifetimes share zones anyway. */
static bool crowded(u32 groups, u32 most)
{
	return groups + LZ_LIFE_HINTS > most;
}

/**
 * lz_life_groups - how many groups there are to be
 * @spare: zones that blocks in use would not fill (zones)
 * @most: zones that may be open (zones)
 * @apart: much of what is written are files with hints, and zones for each of these besides
 *
 * Each group keeps a zone half empty on the mean, from what GC would have to spare. The
 * root of that is what copies least of Zipf-distributed writes on 128 to 2,048 zones. What lies
 * @apart has such zones, too, for which there is one group less; where all of these may not be open
 * at a time lifetimes share zones anyway.
 *
 * Return: at least 2, if @most allows.
 */
u32 lz_life_groups(u32 spare, u32 most, bool apart)
{
	u32 groups = max(lz_root(spare), 2u);

	if (apart && groups > 2 && !crowded(groups, most))
		groups--;
	return min(groups, min(most, LZ_NR_GROUPS));
}

/*
 * A group keeps a zone half empty on the mean, so it is to be given what fills three quarters of
 * one while as much is written as is to @spare: if less comes it shares with the next, and the last
 * one with that before.
 */
static void join(struct lz_life *l, u32 groups, u32 spare)
{
	u64 least = 0, n = 0;
	u32 i, joint = 0, last = 0;

	for (i = 0; i < groups; i++)
		least += 3 * READ_ONCE(l->comes[i]);
	least = spare ? div64_u64(least, 4ull * spare) : 0;
	for (i = 0; i < groups; i++) {
		WRITE_ONCE(l->joint[i], joint);
		n += READ_ONCE(l->comes[i]);
		if (n < least)
			continue;
		joint++;
		last = i;
		n = 0;
	}
	for (i = last + 1; i < groups && joint; i++)
		WRITE_ONCE(l->joint[i], joint - 1);
}

/**
 * lz_life_regroup - how many groups there are from now on, and open zones at most
 * @l: all blocks
 * @spare: as for lz_life_groups(); 0: not known yet
 * @most: the same
 *
 * Where rates tell less than order does, they are not worth the space that groups take, nor are
 * groups to which little comes. Of open zones there are fewer than are to spare, or GC would have
 * nothing of that.
 */
void lz_life_regroup(struct lz_life *l, u32 spare, u32 most)
{
	u32 i, groups;
	bool tight;

	WRITE_ONCE(l->finest, lz_life_groups(spare, most, l->apart));
	groups = l->order.wins ? lz_life_groups(0, most, l->apart) : l->finest;
	for (i = 0; i < LZ_NR_GROUPS; i++) {
		if (groups == l->groups)
			lz_life_fade(&l->comes[i]);
		else
			WRITE_ONCE(l->comes[i], 0);
	}
	tight = crowded(groups, most);
	join(l, groups, tight ? 0 : spare);
	WRITE_ONCE(l->shared, l->apart && tight);
	WRITE_ONCE(l->groups, groups);
	WRITE_ONCE(l->open, spare ? max(spare - 1, OPEN_LEAST) : most);
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
	u32 below = clamp(GROUP_TOP - rate, 0, GROUP_SPAN - 1);

	return below * groups / GROUP_SPAN;
}

/**
 * lz_life_joint - where blocks are to lie that are grouped
 * @l: all blocks
 * @rate: of the blocks, as of lz_life_rate()
 * @n: how many
 *
 * They are counted as what comes to the group; who has to wait, and asks again, once more.
 *
 * Return: a group, from 0 on, which may be several of lz_life_group() together.
 */
u32 lz_life_joint(struct lz_life *l, int rate, u32 n)
{
	u32 group = lz_life_group(rate, READ_ONCE(l->groups));

	add(&l->comes[group], n);
	return READ_ONCE(l->joint[group]);
}

/**
 * lz_life_class - where blocks are to lie that users write
 * @l: all blocks
 * @lba: the first
 * @n: how many, at least 1
 * @class: lifetime class they come with
 *
 * What has no hint and was not in use is all alike, and groups would tell it apart only by how
 * rates were measured at the time: it has zones of its own, as all without a hint has where order
 * wins. What has a hint that stays with its block is grouped once the block is written again. What
 * is grouped is counted, as of lz_life_joint().
 *
 * Return: a zone class: that they come with, or a group.
 */
u8 lz_life_class(struct lz_life *l, u64 lba, u32 n, u8 class)
{
	bool fresh = !READ_ONCE(l->mark[lba]);

	if (lz_ordered(class) && READ_ONCE(l->trusted) && (fresh || !READ_ONCE(l->stays)))
		return class;
	if (class == LZ_CLASS_NOT_SET && (fresh || READ_ONCE(l->order.wins)))
		return class;
	return LZ_CLASS_GROUP + lz_life_joint(l, lz_life_ask(l, lba, n, class), n);
}

/**
 * lz_life_add - blocks were written to a zone
 * @l: all blocks
 * @sum: of the zone
 * @lba: the first of them
 * @n: how many
 */
void lz_life_add(const struct lz_life *l, struct lz_life_sum *sum, u64 lba, u32 n)
{
	struct ticks t = now(l);

	for (; n; n--, lba++) {
		u16 mark = READ_ONCE(l->mark[lba]);
		struct depths d;
		s64 rate;

		if (!mark)
			continue;
		d = depths(t, mark);
		sum->n++;
		sum->recent += t.recent - d.recent;
		if (d.once) {
			sum->once[d.once - NO_HINT]++;
			continue;
		}
		rate = rate_at(l, d) / 8;
		sum->lasting += t.lasting - d.lasting;
		sum->rate += rate;
		sum->square += rate * rate;
	}
}

/* The standard deviation of the rates of @n blocks (256ths of an octave). */
static u32 spread(const struct lz_life_sum *sum, u32 n)
{
	u64 square = sum->square, of_mean;
	s64 rate = sum->rate;

	/* Rates are below 2^12, so that no product overflows. */
	for (; n >> 19; n >>= 1) {
		rate /= 2;
		square /= 2;
	}
	square *= n;
	of_mean = rate * rate;
	return square > of_mean ? div_u64(8ull * lz_root(square - of_mean), n) : 0;
}

/**
 * lz_life_mean - what is kept of a zone that is full
 * @sum: of the zone, not empty
 *
 * Return: the mean marks of all blocks written to it.
 */
struct lz_life_mean lz_life_mean(const struct lz_life_sum *sum)
{
	struct lz_life_mean mean = { .recent = div_s64(sum->recent, sum->n), .n = sum->n };
	u32 once = 0, part = 0, i;

	for (i = 0; i < LZ_LIFE_ONCE; i++) {
		/* All parts together are right. */
		mean.once[i] = 0 - part;
		once += sum->once[i];
		part = div_u64((u64)once << 8, sum->n);
		mean.once[i] += part;
	}
	if (once < sum->n) {
		mean.lasting = div_s64(sum->lasting, sum->n - once);
		mean.spread = spread(sum, sum->n - once);
	}
	return mean;
}

/*
 * By how much the mean of a normal distribution sinks, in 256ths of its standard deviation, once
 * only the lowest 16ths, 0 to 16, of it are left: phi(Phi^-1(v)) / v. That of none is such that
 * half a 16th is right, too.
 */
static const u16 sunk[] = {
	658, 504, 422, 368, 325, 290, 259, 231, 204, 179, 155, 132, 109, 85, 60, 34, 0
};

/* By how much the mean rate of blocks sinks until only @valid are left (256ths of an octave). */
static int sinks(const struct lz_life_mean *mean, u32 valid)
{
	u32 v, i, part;

	if (valid >= mean->n)
		return 0;
	v = div_u64((u64)valid << 8, mean->n);
	i = v / 16;
	part = v % 16;
	return (sunk[i] * (16 - part) + sunk[i + 1] * part) * mean->spread / (16 * 256);
}

/*
 * What is measured of all blocks with the same marks tells no two zones apart that were written
 * alike; how long what is left has lived does, a little: three parts of the one, one of the other.
 */
static int aged(int measured, int by_age)
{
	return (3 * measured + by_age) / 4;
}

/**
 * lz_life_zone_rate - how often a block of a zone is likely to be written
 * @l: all blocks
 * @mean: of all blocks written to the zone
 * @valid: how many are left
 * @by_age: what the age of the zone says, as of lz_victim_age_rate()
 * @by_loss: and the time since it last lost a block, or was written
 *
 * Of blocks that are written again and again those that are written most often are gone first, as
 * if the logarithms of their rates were normally distributed. Others all go at some age: where a
 * hint tells it, and order tells no more than rates do, an older zone is no better for that.
 *
 * But what was written together goes together. A zone that lost a block late in its life, and just
 * now, is about to lose others; one that has lost none for long keeps what it has. An octave that
 * it lost one later is an eighth of one in the rate. Where lifetimes share zones what goes of one
 * says nothing of the others.
 *
 * Return: as lz_life_rate(), for a block with the mean marks of what is left, now.
 */
int lz_life_zone_rate(const struct lz_life *l, const struct lz_life_mean *mean, u32 valid,
		      int by_age, int by_loss)
{
	int most = (LZ_LIFE_BINS - 1) * SUB - 1, plain = 256, sum = 0, rate, a, b, i, j, k, fi, fj;
	bool hints = READ_ONCE(l->trusted) && !READ_ONCE(l->order.wins);
	struct ticks t = now(l);
	const s16 *r, *next;

	/* Between the middles of bins. */
	a = clamp_t(s64, (s64)t.recent - mean->recent - SUB / 2, 0, most);
	b = clamp_t(s64, (s64)t.lasting - mean->lasting - SUB / 2, 0, most);
	i = a / SUB;
	j = b / SUB;
	fi = a % SUB;
	fj = b % SUB;
	r = l->rate[i];
	next = l->rate[i + 1];
	for (k = 0; k < (int)LZ_LIFE_ONCE; k++) {
		rate = ((SUB - fi) * l->rest[i][k] + fi * l->rest[i + 1][k]) / SUB;
		sum += (k && hints ? rate : aged(rate, by_age)) * mean->once[k];
		plain -= mean->once[k];
	}
	rate = ((SUB - fi) * ((SUB - fj) * r[j] + fj * r[j + 1]) +
		fi * ((SUB - fj) * next[j] + fj * next[j + 1])) / (SUB * SUB) - sinks(mean, valid);
	rate = (sum + aged(rate, by_age) * plain) / 256;
	return READ_ONCE(l->shared) ? rate : rate + (by_loss - by_age) / 8;
}

/* What times @a is 1 modulo @m, to which it is prime; by Euclid. */
static u64 inverse(u64 a, u64 m)
{
	s64 x = 0, y = 1, z;
	u64 r = m, q, rest;

	while (a) {
		q = div64_u64(r, a);
		rest = r - q * a;
		r = a;
		a = rest;
		z = x - (s64)q * y;
		x = y;
		y = z;
	}
	return x < 0 ? m - (u64)-x : (u64)x;
}

/**
 * lz_life_init - nothing is known of any block
 * @l: all blocks
 * @blocks: how many, at least 1
 * @zone_cap: capacity of a zone (blocks)
 *
 * Return: 0 or -ENOMEM.
 */
int lz_life_init(struct lz_life *l, u64 blocks, u32 zone_cap)
{
	u64 rows = DIV_ROUND_UP(blocks, (u64)ROW), stride, before;

	memset(l, 0, sizeof(*l));
	l->blocks = blocks;
	/* Until it is known better. */
	l->trusted = true;
	l->tail = zone_cap / 4;
	l->first = LZ_LIFE_NO_BLOCK;
	l->ended[0] = LZ_LIFE_NO_BLOCK;
	l->mark = lz_zalloc_blocks(DIV_ROUND_UP(blocks * sizeof(*l->mark), LZ_BLOCK_SIZE));
	if (!l->mark)
		return -ENOMEM;
	/* More than an eighth of the blocks, or the sweep were too slow. */
	l->shift = max_t(u32, ilog2(blocks / 4 + 1), LZ_LIFE_SUB_SHIFT);
	/* Evenly spread at any time, and all in the end. */
	stride = div_u64(rows * 618, 1000) + 1;
	while (gcd(stride, rows) != 1)
		stride++;
	l->stride = modulo(stride, rows) * ROW;
	/* The last row is the (rows - 1) / stride-th, modulo rows. */
	before = modulo(rows - inverse(modulo(stride, rows), rows), rows);
	l->short_end = before * ROW + blocks - (rows - 1) * ROW;
	return 0;
}

void lz_life_exit(struct lz_life *l)
{
	lz_free_blocks(l->mark);
}
