// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads: which block is written next.
 *
 * Ranks of a Zipf load are spread over the device by a random permutation. They
 * are drawn by rejection-inversion (W. Hormann and G. Derflinger,
 * Rejection-inversion to generate variates from monotone discrete
 * distributions, ACM TOMACS 6(3), 1996), which is exact for every exponent.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lsm.h"
#include "rnd.h"
#include "sim.h"
#include "tenants.h"
#include "trace.h"

#define HOT_WRITES	0.9	/* moving: so many of the writes */
#define HOT_BLOCKS	0.05	/* go to so many of the blocks */

#define JOURNAL_WRITES	0.5	/* journal: so many of the writes */
#define JOURNAL_BLOCKS	0.02	/* go round in so many of the blocks */

/* guests: files rewritten at random, LONG; of these, */
#define GUESTS_WRITES	0.6	/* so many of the writes go */
#define GUESTS_HOT	0.1	/* to so many of the blocks, MEDIUM. And there are */
#define GUESTS		3u	/* others, each with */
#define GUEST_BLOCKS	0.03	/* so many of the blocks, */
#define GUEST_PERIOD	0.125	/* of which one comes each time so many are written */
#define GUEST_STAY	0.05	/* and has all of the writes for so much of that time */

#define YCSB_PUTS	"327606"	/* blocks: 21.47 GB */
#define YCSB		"fill:10:" YCSB_PUTS ":value=1000"	/* ten fields of 100 bytes */

#define AHEAD		16u	/* writes that are drawn before they are asked for */
#define SOON		8u	/* and so many before the caller learns of them */

enum kind { UNIFORM, ZIPF, MOVING, NR_TURNS, JOURNAL = NR_TURNS, VISITED, LSM, TRACE,
	    TENANTS };

/**
 * struct load - a load
 * @r: what is drawn from
 * @n: blocks
 * @at: writes so far
 * @kind: enum kind, now
 * @turns: the kind changes with each fill of the device
 * @order: ZIPF: blocks by rank
 * @rank: ZIPF: ranks by block
 * @theta: ZIPF: exponent
 * @h_x1: ZIPF: bounds of the inversion
 * @h_n: ZIPF
 * @cut: ZIPF: accepted without a look
 * @mean: ZIPF: mean of rank^-theta
 * @period: MOVING: writes until the hot blocks move on
 * @head: JOURNAL: writes to it so far; VISITED: of guests
 * @lsm: LSM: the store
 * @trace: TRACE: it
 * @tenants: TENANTS: they
 * @ends: it ends by itself
 * @ahead: UNIFORM and ZIPF, but in turns: what is drawn for the write @at and those after it, each
 *	in the place of its number; ZIPF: ranks
 */
struct load {
	struct rnd r;
	u32 n;
	u64 at;
	u8 kind;
	bool turns;
	u32 *order;
	u32 *rank;
	double theta;
	double h_x1;
	double h_n;
	double cut;
	double mean;
	u64 period;
	u64 head;
	struct lsm *lsm;
	struct trace *trace;
	struct tenants *tenants;
	bool ends;
	u32 ahead[AHEAD];
};

const char *const load_docs[] = {
	"uniform         every block alike",
	"zipf[:THETA]    the Nth most frequent block as often as N^-THETA (0.99)",
	"moving[:WRITES] nine of ten writes to one of twenty blocks, to others every so many",
	"journal         half of the writes round and round in a 50th, SHORT; others LONG",
	"guests          files rewritten at random, a tenth MEDIUM with 60 % of the writes, others LONG;",
	"                now and then others come for a while: SHORT, EXTREME, NONE in turn",
	"switch          uniform, zipf:0.99 and moving in turns, one for each fill",
	"lsm[:M[:LIVE[:least|:strict][:delay=N|:silent][:HINTS]]]  leveled store: multiplier (10),",
	"                per cent in use (75); least: what overlaps least is merged next, as in",
	"                RocksDB by default; strict: each file in turn, and none is passed over, as",
	"                in RocksDB with kRoundRobin; delay=N: a file is discarded N blocks after its",
	"                deletion (0), about as by F2FS, which waits for a rest; silent: never; none,",
	"                files or blocks: its hints left out, or shuffled",
	"trace:FILE      of blkparse, a log of fio's, or CSV: time,op,offset,length[,hint]",
	"fill[:M[:BLOCKS[:drawn][:merges=N][:slow=N][:stop=N][:value=N]...]]  such a store filled from",
	"                nothing: BLOCKS put (half of them), no key twice; drawn: each key one of as many,",
	"                at random; N merges (1) at a time; one writes an Nth (1) of what others do; puts",
	"                wait at N files (36) of level 0; values of N bytes (100)",
	"ycsb            " YCSB ": YCSB's inserts, 21.47 GB in blocks of 64 KiB",
	"mix:LOAD+LOAD   loads with as many blocks each, at the same time",
	"turns:LOAD+LOAD and one after the other, each for one fill of all blocks",
	NULL
};

/* The integral of x^-theta, and its inverse. */
static double h(double theta, double x)
{
	return theta == 1 ? log(x) : expm1((1 - theta) * log(x)) / (1 - theta);
}

static double h_inv(double theta, double y)
{
	return theta == 1 ? exp(y) : exp(log1p((1 - theta) * y) / (1 - theta));
}

/* Changes when rates do. */
u64 load_epoch(const struct load *l)
{
	if (l->kind == TENANTS)
		return tenants_epoch(l->tenants);
	/* What comes next may be of another kind; this is of that which came last. */
	return (l->turns && l->at ? (l->at - 1) / l->n << 32 : 0) +
		(l->kind == MOVING ? l->at / l->period : 0);
}

static bool zipf_init(struct load *l, double theta)
{
	double sum = 0;
	u32 i;

	l->order = malloc(l->n * sizeof(*l->order));
	l->rank = malloc(l->n * sizeof(*l->rank));
	if (!l->order || !l->rank)
		return false;
	for (i = 0; i < l->n; i++) {
		u32 j = rnd_below(&l->r, i + 1);

		l->order[i] = l->order[j];
		l->order[j] = i;
	}
	for (i = 0; i < l->n; i++)
		l->rank[l->order[i]] = i;
	l->theta = theta;
	l->h_x1 = h(theta, 1.5) - 1;
	l->h_n = h(theta, l->n + 0.5);
	l->cut = 2 - h_inv(theta, h(theta, 2.5) - pow(2, -theta));
	for (i = 1; i <= l->n; i++)
		sum += pow(i, -theta);
	l->mean = sum / l->n;
	return true;
}

/* A rank, 0 the most frequent. */
static u32 zipf_next(struct load *l)
{
	for (;;) {
		double y = l->h_n + rnd_real(&l->r) * (l->h_x1 - l->h_n);
		double x = h_inv(l->theta, y), k = floor(x + 0.5);

		k = k < 1 ? 1 : k > l->n ? l->n : k;
		if (k - x <= l->cut || y >= h(l->theta, k + 0.5) - pow(k, -l->theta))
			return k - 1;
	}
}

/* One that is drawn in the same way for ever. */
static bool steady(const struct load *l)
{
	return (l->kind == UNIFORM || l->kind == ZIPF) && !l->turns;
}

static u32 draw(struct load *l)
{
	u32 rank;

	if (l->kind == UNIFORM)
		return rnd_below(&l->r, l->n);
	rank = zipf_next(l);
	__builtin_prefetch(&l->order[rank]);
	return rank;
}

static u32 drawn(const struct load *l, u64 at)
{
	u32 x = l->ahead[at % AHEAD];

	return l->kind == ZIPF ? l->order[x] : x;
}

static u32 steady_next(struct load *l, u64 at)
{
	u32 lba = drawn(l, at);

	l->ahead[at % AHEAD] = draw(l);
	return lba;
}

u32 load_soon(const struct load *l)
{
	return steady(l) ? drawn(l, l->at + SOON) : 0;
}

static u32 hot_blocks(const struct load *l)
{
	return l->n * HOT_BLOCKS;
}

/* The first hot block. */
static u32 hot_from(const struct load *l)
{
	u32 hot = hot_blocks(l);

	return l->at / l->period % (l->n / hot) * hot;
}

static u32 moving_next(struct load *l)
{
	u32 hot = hot_blocks(l), from = hot_from(l), x;

	if (rnd_real(&l->r) < HOT_WRITES)
		return from + rnd_below(&l->r, hot);
	x = rnd_below(&l->r, l->n - hot);
	return x < from ? x : x + hot;
}

/* A journal, written round and round, and data at random behind it. */
static struct sim_req journal_next(struct load *l)
{
	u32 journal = l->n * JOURNAL_BLOCKS;

	if (rnd_real(&l->r) < JOURNAL_WRITES)
		return (struct sim_req){
			.lba = l->head++ % journal, .class = LZ_CLASS_SHORT,
		};
	return (struct sim_req){
		.lba = journal + rnd_below(&l->r, l->n - journal), .class = LZ_CLASS_LONG,
	};
}

/* Blocks of guests are the first, then those that are hot. */
static u8 guests_class(const struct load *l, u32 lba)
{
	static const u8 class[GUESTS] = { LZ_CLASS_SHORT, LZ_CLASS_EXTREME, LZ_CLASS_NONE };
	u32 own = l->n * GUEST_BLOCKS, guests = GUESTS * own;

	if (lba < guests)
		return class[lba / own];
	return lba < guests + (u32)(l->n * GUESTS_HOT) ? LZ_CLASS_MEDIUM : LZ_CLASS_LONG;
}

static u32 guests_next(struct load *l)
{
	u32 own = l->n * GUEST_BLOCKS, hot = l->n * GUESTS_HOT, from = GUESTS * own;
	u64 period = l->n * GUEST_PERIOD, visit = l->at / period;

	if (l->at % period < period * GUEST_STAY)
		return visit % GUESTS * own + l->head++ % own;
	if (rnd_real(&l->r) < GUESTS_WRITES)
		return from + rnd_below(&l->r, hot);
	return from + hot + rnd_below(&l->r, l->n - from - hot);
}

bool load_next(struct load *l, struct sim_req *req)
{
	u64 at = l->at++;

	if (l->kind == LSM)
		return lsm_next(l->lsm, req);
	if (l->kind == TRACE)
		return trace_next(l->trace, req);
	if (l->kind == TENANTS)
		return tenants_next(l->tenants, req);
	*req = (struct sim_req){ 0 };
	if (at < l->n) {
		req->lba = at;
		if (l->kind == JOURNAL)
			req->class = at < l->n * JOURNAL_BLOCKS ? LZ_CLASS_SHORT : LZ_CLASS_LONG;
		if (l->kind == VISITED)
			req->class = guests_class(l, at);
		return true;
	}
	if (steady(l)) {
		req->lba = steady_next(l, at);
		return true;
	}
	if (l->turns)
		l->kind = at / l->n % NR_TURNS;
	switch (l->kind) {
	case ZIPF:
		req->lba = l->order[zipf_next(l)];
		break;
	case MOVING:
		req->lba = moving_next(l);
		break;
	case JOURNAL:
		*req = journal_next(l);
		break;
	case VISITED:
		req->lba = guests_next(l);
		req->class = guests_class(l, req->lba);
		break;
	default:
		req->lba = rnd_below(&l->r, l->n);
	}
	return true;
}

double load_rate(const struct load *l, u32 lba)
{
	switch (l->kind) {
	case ZIPF:
		return pow(l->rank[lba] + 1, -l->theta) / l->mean;
	case MOVING:
		return lba - hot_from(l) < hot_blocks(l) ? HOT_WRITES / HOT_BLOCKS :
			(1 - HOT_WRITES) / (1 - HOT_BLOCKS);
	case JOURNAL:
		return lba < l->n * JOURNAL_BLOCKS ? JOURNAL_WRITES / JOURNAL_BLOCKS :
			(1 - JOURNAL_WRITES) / (1 - JOURNAL_BLOCKS);
	case VISITED:
		switch (guests_class(l, lba)) {
		case LZ_CLASS_MEDIUM:
			return (1 - GUEST_STAY) * GUESTS_WRITES / GUESTS_HOT;
		case LZ_CLASS_LONG:
			return (1 - GUEST_STAY) * (1 - GUESTS_WRITES) /
				(1 - GUESTS_HOT - GUESTS * GUEST_BLOCKS);
		default:
			return GUEST_STAY / (GUESTS * GUEST_BLOCKS);
		}
	case TENANTS:
		return tenants_rate(l->tenants, lba);
	}
	return 1;
}

/* "NAME", which leaves @number as it is, or "NAME:NUMBER" with a number from @min to @max. */
static bool named(const char *text, const char *name, double min, double max, double *number)
{
	size_t n = strlen(name);
	char *end;

	if (strncmp(text, name, n))
		return false;
	if (!text[n])
		return true;
	if (text[n] != ':')
		return false;
	*number = strtod(text + n + 1, &end);
	return end > text + n + 1 && !*end && *number >= min && *number <= max;
}

static bool skip(const char **at, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*at, word, n))
		return false;
	*at += n;
	return true;
}

/*
 * What follows @word, if that is there, else @preset. If it is not from @least to @most *@at is
 * what no word can follow.
 */
static u32 number_after(const char **at, const char *word, u32 least, u32 most, u32 preset)
{
	unsigned long n;
	char *end;

	if (!skip(at, word))
		return preset;
	n = strtoul(*at, &end, 10);
	*at = end > *at && n >= least && n <= most ? end : "?";
	return n;
}

/* "lsm" or "fill" with what may follow. */
static struct lsm *lsm_named(const char *text, u32 blocks, u64 seed, const char **why)
{
	static const char *const hints[] = {
		[LSM_HINTS] = "", [LSM_NONE] = ":none", [LSM_FILES] = ":files",
		[LSM_BLOCKS] = ":blocks",
	}, *const allowed[] = {
		"lsm:2 to lsm:100, :10 to :90 per cent in use, :least or :strict, :delay=0 on or :silent, :none, :files or :blocks",
		"fill:2 to fill:100, :1 to as many as --blocks, :drawn, :merges, :slow=1 to 16, :stop=4 to 1000, :value=1 to 100000, ...",
	};
	bool fill = *text == 'f';
	struct lsm_setup setup = {
		.blocks = blocks, .multiplier = 10, .merges = 1, .slow = 1, .stop = 36,
		.value = 100, .seed = seed,
	};
	double number = fill ? blocks / 2 : 75;
	const char *at = text + strlen(fill ? "fill" : "lsm");
	char *end;
	u32 i;

	if (*at == ':') {
		setup.multiplier = strtod(at + 1, &end);
		at = end > at + 1 ? end : "?";
	}
	if (*at == ':' && at[1] >= '0' && at[1] <= '9') {
		number = strtod(at + 1, &end);
		at = end;
	}
	setup.drawn = fill && skip(&at, ":drawn");
	if (fill) {
		setup.merges = number_after(&at, ":merges=", 1, LSM_MERGES, setup.merges);
		setup.slow = number_after(&at, ":slow=", 1, LSM_SLOW, setup.slow);
		setup.stop = number_after(&at, ":stop=", LSM_L0_MERGE, 1000, setup.stop);
		if (skip(&at, ":value=")) {
			setup.value = strtod(at, &end);
			at = end;
		}
	}
	setup.order = skip(&at, ":least") ? LSM_LEAST :
		skip(&at, ":strict") ? LSM_STRICT : LSM_TURN;
	setup.delay = skip(&at, ":silent") ? LSM_NEVER :
		number_after(&at, ":delay=", 0, LSM_NEVER - 1, 0);
	*why = allowed[fill];
	if (!(setup.multiplier >= 2 && setup.multiplier <= 100) ||
	    !(setup.value >= 1 && setup.value <= 100000) ||
	    !(number >= (fill ? 1 : 10) && number <= (fill ? blocks : 90)))
		return NULL;
	setup.live = number / 100;
	setup.puts = fill ? number : 0;
	for (i = 0; i < ARRAY_SIZE(hints); i++) {
		if (strcmp(at, hints[i]))
			continue;
		setup.hints = i;
		*why = NULL;
		return lsm_new(&setup, why);
	}
	return NULL;
}

struct load *load_new(const char *text, u32 blocks, u64 seed, const char **why)
{
	struct load *l = calloc(1, sizeof(*l));
	double x = 0.99, period = blocks;
	bool zipf = false, ycsb = !strcmp(text, "ycsb");
	u32 i;

	*why = NULL;
	if (!l)
		return NULL;
	l->n = blocks;
	l->period = blocks;
	rnd_seed(&l->r, seed);
	if (ycsb)
		text = YCSB;
	if (blocks < 1000) {
		*why = "a load needs 1000 blocks";
	} else if (named(text, "zipf", 0.01, 10, &x)) {
		l->kind = ZIPF;
		zipf = true;
	} else if (named(text, "moving", 1, 1e15, &period)) {
		l->kind = MOVING;
		l->period = period;
	} else if (!strcmp(text, "journal")) {
		l->kind = JOURNAL;
	} else if (!strcmp(text, "guests")) {
		l->kind = VISITED;
	} else if (!strcmp(text, "switch")) {
		l->turns = true;
		zipf = true;
		x = 0.99;
	} else if (!strncmp(text, "lsm", 3) || !strncmp(text, "fill", 4)) {
		l->kind = LSM;
		l->lsm = lsm_named(text, blocks, seed, why);
		l->ends = *text == 'f';
		if (*why && ycsb)
			*why = "needs --blocks of " YCSB_PUTS " or more";
	} else if (!strncmp(text, "trace:", 6)) {
		l->kind = TRACE;
		l->trace = trace_new(text + 6, blocks, why);
		l->ends = true;
	} else if (!strncmp(text, "mix:", 4) || !strncmp(text, "turns:", 6)) {
		l->kind = TENANTS;
		l->tenants = tenants_new(strchr(text, ':') + 1, *text == 't', blocks, seed, why);
	} else if (strcmp(text, "uniform")) {
		*why = "not a load: uniform, zipf:0.01 to zipf:10, moving:WRITES, ... (--list)";
	}
	if (*why || (zipf && !zipf_init(l, x)) || (l->kind == LSM && !l->lsm) ||
	    (l->kind == TRACE && !l->trace) || (l->kind == TENANTS && !l->tenants)) {
		load_free(l);
		return NULL;
	}
	/* The first of them comes after the fill. */
	for (i = 0; steady(l) && i < AHEAD; i++)
		l->ahead[(l->n + i) % AHEAD] = draw(l);
	return l;
}

u32 load_writers(const struct load *l)
{
	switch (l->kind) {
	case LSM:
		return LSM_WRITERS;
	case TENANTS:
		return tenants_writers(l->tenants);
	}
	return 1;
}

bool load_ends(const struct load *l)
{
	return l->ends;
}

bool load_timed(const struct load *l)
{
	return l->kind == TRACE && trace_timed(l->trace);
}

const char *load_wrong(const struct load *l)
{
	if (l->kind == TRACE)
		return trace_wrong(l->trace);
	return l->lsm && lsm_ended(l->lsm) ? NULL : "more blocks are wanted than there are";
}

void load_free(struct load *l)
{
	if (!l)
		return;
	lsm_free(l->lsm);
	trace_free(l->trace);
	tenants_free(l->tenants);
	free(l->order);
	free(l->rank);
	free(l);
}
