// SPDX-License-Identifier: GPL-2.0-only
/*
 * A leveled LSM store under uniform puts, as RocksDB lays it out (Documentation of its
 * leveled compaction; its rule for hints: ColumnFamilyData::CalculateSSTWriteHint() of 9.10).
 *
 * What users put goes to the WAL, and when that has as much as a file into a file of level
 * 0. Four of these are merged with all of level 1; a level above its target gives a file, each
 * in turn, to be merged with those below whose keys overlap. Up to four merges, a flush and
 * the WAL write at the same time, in turns of a few blocks. A file dies, and is discarded,
 * when the merge or the flush that read it has ended: lives are those of real files, and
 * depend on nothing but the keys. A file that another merge holds, or whose keys it does, is passed
 * over. If asked for the level waits for it, so that files live alike but fewer merges are at work
 * (RocksDB's kRoundRobin); or it is not each in turn but that which overlaps least for its size,
 * and what overlaps nothing is moved below as it is, with its hint (RocksDB's default,
 * kMinOverlappingRatio, and its trivial moves).
 *
 * Keys are numbers, one a block. A file has a range of them and how many it holds, evenly, and
 * a merge writes what is left of two evenly filled ranges without doubles. A store that is
 * updated has the last level filled first, with every key once, and the others then; its
 * levels are as large as the last one makes them. One that is filled from nothing has those of
 * RocksDB's defaults, from 256 MiB on, and the last of them takes whatever comes; its entries take
 * what they do there: a memtable of 64 MiB is 53 MiB of db_bench's, 56 in a file, and 63 in the
 * WAL. Unless said otherwise there is one merge at a time then, which writes as fast as others do.
 * Puts wait for level 0 alone, so that levels outgrow their targets, as they do until the last
 * block is put, which is the end.
 *
 * Files are given their blocks by next fit, in one piece where there is room, as file systems
 * do that are told the size before.
 *
 * Discards may be late: of a file that has died they are sent only when so many more blocks have
 * been written. Its blocks may be written anew at once, and those that have been given to another
 * file by then are not discarded. So it is with F2FS under a load that never rests; but F2FS goes
 * by time and not by what is written: nothing is free before its next checkpoint, and discards are
 * sent when there has been no I/O for some seconds, the longest first and a few at a time. And what
 * is free it writes in the order of its log, not by next fit.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lsm.h"
#include "rnd.h"

#define FILE_BLOCKS	1024u
#define LEVELS		16u
#define FILL_LEVELS	6u	/* below 0, of a store that is filled */
#define L0_STOP		8u	/* files of level 0 at which puts wait, of one updated */
#define PUTS_STOP	1.1	/* and a level, as a part of its target; then only */
#define MERGES		4u	/* at a time, when a store is updated */
#define JOBS		(LSM_MERGES + 2)	/* the flush and the WAL */
#define FLUSH		LSM_MERGES
#define WAL		(LSM_MERGES + 1)
#define TURN		16u	/* blocks a job writes before another does */
#define HINTS_SEEN	256u

/* What a store that is filled writes for an entry, besides key and value (bytes): */
#define KEY_BYTES	16.0	/* db_bench's */
#define WAL_BYTES	22.0	/* record and batch headers, type, lengths */
#define MEMTABLE_BYTES	23.0	/* sequence number, lengths, 1 1/3 pointers, alignment */
#define FILE_BYTES	5.0	/* that, but for what is as in the key before */
#define FILE_INDEX	1.007	/* an entry of the index for each 4 KiB */

/**
 * struct file - a file
 * @next: in its level by key, or in the job it is of
 * @from: its first key
 * @to: and the one after its last
 * @n: blocks
 * @at: of these, written; of a dying one, discarded, or not to be
 * @due: dying: it is discarded when so many blocks are written
 * @lba: its blocks
 * @class: hint
 * @number: no other has it
 * @reader: the merge that reads it
 */
struct file {
	struct file *next;
	double from;
	double to;
	u32 n;
	u32 at;
	u64 due;
	u32 *lba;
	u8 class;
	u32 number;
	const struct job *reader;
};

/**
 * struct job - what writes files
 * @out: files it writes
 * @level: for these
 * @inputs: numbers of those it reads
 * @nr_inputs: how many
 * @inputs_size: for so many there is memory
 * @active: there is something to write
 */
struct job {
	struct file *out;
	u32 level;
	u32 *inputs;
	u32 nr_inputs;
	u32 inputs_size;
	bool active;
};

/**
 * struct lsm - a store
 * @r: what turns are drawn from
 * @hint_r: and shuffled hints, or they would change whose turn it is
 * @blocks: logical blocks
 * @hints: enum lsm_hints
 * @used: by block
 * @last: likewise, number of the file that it was given to last
 * @next: block to look at next for a free one
 * @nr_free: free blocks
 * @keys: there are
 * @levels: and levels below 0
 * @puts: blocks that may still be put, as they take in files
 * @file: blocks of a file
 * @memtable: and of what a memtable holds when it is flushed
 * @wal: blocks of the WAL for each block of files
 * @merges: merges at a time
 * @slow: turns that others have for one of a merge
 * @l0_stop: files of level 0 at which puts wait
 * @puts_stop: and how large a level, as a part of its target
 * @delay: as in struct lsm_setup
 * @clock: blocks written
 * @order: what is merged next
 * @fill: level that is filled for a beginning; 0: all are
 * @target: of each (blocks)
 * @size: and how much it holds
 * @nr_l0: files in level 0
 * @level: their files
 * @cursor: key at which a level gives the next file
 * @job: what is written
 * @turn: whose turn it is
 * @left: blocks of it
 * @dying: files to be discarded
 * @wals: WALs written
 * @full: a WAL that waits for the flush
 * @flushed: and that which is flushed now
 * @seen: hints of files written before
 * @nr_seen: how many
 * @files: there have been
 */
struct lsm {
	struct rnd r;
	struct rnd hint_r;
	u32 blocks;
	enum lsm_hints hints;
	u8 *used;
	u32 *last;
	u32 next;
	u32 nr_free;
	double keys;
	u32 levels;
	u64 puts;
	u32 file;
	u32 memtable;
	double wal;
	u32 merges;
	u32 slow;
	u32 l0_stop;
	double puts_stop;
	u32 delay;
	u64 clock;
	enum lsm_order order;
	u32 fill;
	double target[LEVELS];
	u64 size[LEVELS];
	u32 nr_l0;
	struct file *level[LEVELS];
	double cursor[LEVELS];
	struct job job[JOBS];
	u32 turn;
	u32 left;
	struct file *dying;
	u32 wals;
	struct file *full;
	struct file *flushed;
	u8 seen[HINTS_SEEN];
	u32 nr_seen;
	u32 files;
};

static void file_free(struct file *f)
{
	if (f)
		free(f->lba);
	free(f);
}

static void files_free(struct file *f)
{
	while (f) {
		struct file *next = f->next;

		file_free(f);
		f = next;
	}
}

static struct file **last_of(struct file **list)
{
	while (*list)
		list = &(*list)->next;
	return list;
}

static u8 hint_of(u32 level)
{
	return min(LZ_CLASS_MEDIUM + (level ? level - 1 : 0), (u32)LZ_CLASS_EXTREME);
}

/* A hint as it is given, for one that would be @class. */
static u8 shuffled(struct lsm *t, u8 class)
{
	return t->nr_seen ? t->seen[rnd_below(&t->hint_r, min(t->nr_seen, HINTS_SEEN))] : class;
}

/* A file of @n blocks, or NULL: there is no room for it. */
static struct file *file_new(struct lsm *t, u32 n, double from, double to, u8 class)
{
	struct file *f = t->nr_free < n ? NULL : calloc(1, sizeof(*f));
	u32 i = 0;

	if (f)
		f->lba = malloc(n * sizeof(*f->lba));
	if (!f || !f->lba) {
		file_free(f);
		return NULL;
	}
	f->n = n;
	f->from = from;
	f->to = to;
	f->number = ++t->files;
	f->class = t->hints == LSM_NONE ? LZ_CLASS_NOT_SET :
		t->hints == LSM_FILES ? shuffled(t, class) : class;
	t->seen[t->nr_seen++ % HINTS_SEEN] = class;
	t->nr_free -= n;
	while (i < n) {
		if (!t->used[t->next]) {
			t->used[t->next] = 1;
			t->last[t->next] = f->number;
			f->lba[i++] = t->next;
		}
		t->next = t->next + 1 == t->blocks ? 0 : t->next + 1;
	}
	return f;
}

/* @f is gone, and discarded when that is due. */
static void die(struct lsm *t, struct file *f)
{
	u32 i;

	for (i = 0; i < f->n; i++)
		t->used[f->lba[i]] = 0;
	t->nr_free += f->n;
	if (t->delay == LSM_NEVER) {
		file_free(f);
		return;
	}
	f->due = t->clock + t->delay;
	f->next = NULL;
	f->at = 0;
	*last_of(&t->dying) = f;
}

/* @f, which has been written, is part of @level. */
static void install(struct lsm *t, struct file *f, u32 level)
{
	struct file **at = &t->level[level];

	/* The newest of level 0 is the last. */
	while (*at && (!level || (*at)->from < f->from))
		at = &(*at)->next;
	f->next = *at;
	*at = f;
	t->size[level] += f->n;
	t->nr_l0 += !level;
}

/* What @j has read is gone, and what it wrote is there. */
static void job_end(struct lsm *t, struct job *j, struct file *done)
{
	u32 level;

	for (level = 0; level <= t->levels; level++) {
		struct file **at = &t->level[level];

		while (*at) {
			struct file *f = *at;

			if (f->reader != j) {
				at = &f->next;
				continue;
			}
			*at = f->next;
			t->size[level] -= f->n;
			t->nr_l0 -= !level;
			die(t, f);
		}
	}
	if (j == &t->job[FLUSH]) {
		die(t, t->flushed);
		t->flushed = NULL;
	}
	while (done) {
		struct file *f = done;

		done = f->next;
		install(t, f, j->level);
	}
	if (t->fill)
		t->fill--;
}

/* @j is to write @n keys between @from and @to. */
static bool job_writes(struct lsm *t, struct job *j, double n, double from, double to, u32 level)
{
	struct file **out = &j->out;
	u32 left = max(lround(n), 1l);
	double width = (to - from) / left;

	j->level = level;
	j->active = true;
	while (left) {
		u32 part = min(left, t->file);

		*out = file_new(t, part, from, from + part * width, hint_of(level));
		if (!*out)
			return false;
		from += part * width;
		out = &(*out)->next;
		left -= part;
	}
	return true;
}

static bool overlaps(const struct file *f, double from, double to)
{
	return f->from < to && f->to > from;
}

/* Is nothing in @level between @from and @to read by a merge? */
static bool unread(const struct lsm *t, u32 level, double from, double to)
{
	const struct file *f;

	for (f = t->level[level]; f; f = f->next)
		if (overlaps(f, from, to) && f->reader)
			return false;
	return true;
}

/* @j is to read @f. False: no memory. */
static bool job_reads(struct job *j, struct file *f)
{
	u32 size = j->inputs_size ? 2 * j->inputs_size : 16, *p;

	if (j->nr_inputs == j->inputs_size) {
		p = realloc(j->inputs, size * sizeof(*p));
		if (!p)
			return false;
		j->inputs = p;
		j->inputs_size = size;
	}
	j->inputs[j->nr_inputs++] = f->number;
	f->reader = j;
	return true;
}

/* Merges @upper of @above, or all of level 0, into the next level. False: no room for it. */
static bool merge(struct lsm *t, struct job *j, u32 above, struct file *upper)
{
	double from = upper ? upper->from : 0, to = upper ? upper->to : t->keys;
	double a = from, b = to, missing = 1, n, below = 0, width = 0;
	struct file *f;

	j->nr_inputs = 0;
	for (f = t->level[above]; f; f = f->next) {
		if (upper && f != upper)
			continue;
		missing *= 1 - fmin(f->n / (f->to - f->from), 1);
		if (!job_reads(j, f))
			return false;
	}
	n = (to - from) * (1 - missing);
	for (f = t->level[above + 1]; f; f = f->next) {
		if (!overlaps(f, a, b))
			continue;
		below += f->n;
		width += f->to - f->from;
		from = fmin(from, f->from);
		to = fmax(to, f->to);
		if (!job_reads(j, f))
			return false;
	}
	/* Keys of the upper ones that are below, too. */
	if (width)
		n -= n * fmin(below / width, 1);
	return job_writes(t, j, n + below, from, to, above + 1);
}

/* Blocks of files of the level below @level that overlap @f. */
static u64 overlapped(const struct lsm *t, u32 level, const struct file *f)
{
	const struct file *below;
	u64 n = 0;

	for (below = t->level[level + 1]; below; below = below->next)
		n += overlaps(below, f->from, f->to) ? below->n : 0;
	return n;
}

static bool may_give(const struct lsm *t, u32 level, const struct file *f)
{
	return !f->reader && unread(t, level + 1, f->from, f->to);
}

/* The file of @level that may be merged and overlaps least for its size, or NULL. */
static struct file *give_least(const struct lsm *t, u32 level)
{
	struct file *f, *best = NULL;
	double least = INFINITY;

	for (f = t->level[level]; f; f = f->next) {
		double ratio = (double)overlapped(t, level, f) / f->n;

		if (ratio < least && may_give(t, level, f)) {
			best = f;
			least = ratio;
		}
	}
	return best;
}

/* The next file of @level that may be merged, or NULL. */
static struct file *give(struct lsm *t, u32 level)
{
	bool strict = t->order == LSM_STRICT;
	struct file *f, *first = NULL;

	if (t->order == LSM_LEAST)
		return give_least(t, level);
	for (f = t->level[level]; f; f = f->next) {
		if (!strict && !may_give(t, level, f))
			continue;
		if (!first)
			first = f;
		if (f->from >= t->cursor[level]) {
			first = f;
			break;
		}
	}
	if (!first || (strict && !may_give(t, level, first)))
		return NULL;
	t->cursor[level] = first->to;
	return first;
}

/* @f, which overlaps nothing there, is moved from @level to the one below. */
static void move(struct lsm *t, u32 level, struct file *f)
{
	struct file **at = &t->level[level];

	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	t->size[level] -= f->n;
	install(t, f, level + 1);
}

static bool l0_ready(const struct lsm *t)
{
	return t->nr_l0 >= LSM_L0_MERGE && unread(t, 0, 0, t->keys) && unread(t, 1, 0, t->keys);
}

/* How much a level is in need of a merge, from 1 on. */
static double score(const struct lsm *t, u32 level)
{
	return level ? t->size[level] / t->target[level] : (double)t->nr_l0 / LSM_L0_MERGE;
}

/* Begins the merge that is needed most. False: no room, no memory. */
static bool merge_begin(struct lsm *t, struct job *j)
{
	bool tried[LEVELS] = { false };
	struct file *f;
	u32 level;

	for (;;) {
		u32 best = LEVELS;

		for (level = 0; level < t->levels; level++)
			if (!tried[level] && score(t, level) >= 1 &&
			    (best == LEVELS || score(t, level) > score(t, best)))
				best = level;
		if (best == LEVELS)
			return true;
		if (!best && l0_ready(t))
			return merge(t, j, 0, NULL);
		f = best ? give(t, best) : NULL;
		if (f && t->order == LSM_LEAST && !overlapped(t, best, f)) {
			move(t, best, f);
			continue;
		}
		if (f)
			return merge(t, j, best, f);
		tried[best] = true;
		/* It waits for level 1, which is not to be kept busy then. */
		if (!best)
			tried[1] = true;
	}
}

/* What the WAL has taken goes to level 0, and a new one begins. */
static bool flush_begin(struct lsm *t)
{
	struct job *j = &t->job[FLUSH];

	if (j->active || !t->full)
		return true;
	t->flushed = t->full;
	t->full = NULL;
	return job_writes(t, j, t->flushed->n / t->wal, 0, t->keys, 0);
}

static bool wal_begin(struct lsm *t)
{
	struct job *j = &t->job[WAL];
	u32 level, n;

	if (j->active || t->full || t->nr_l0 >= t->l0_stop || !t->puts)
		return true;
	/* Puts wait for merges that cannot keep up. */
	for (level = 1; level < t->levels; level++)
		if (score(t, level) > t->puts_stop)
			return true;
	n = min_t(u64, t->memtable, t->puts);
	j->out = file_new(t, lround(n * t->wal), 0, t->keys, LZ_CLASS_SHORT);
	j->active = j->out;
	t->puts -= n;
	return j->out;
}

static bool jobs_begin(struct lsm *t)
{
	u32 i;

	/* At first each level is filled, the last one before the others. */
	if (t->fill)
		return t->job[0].active ||
			job_writes(t, &t->job[0], t->target[t->fill], 0, t->keys, t->fill);
	for (i = 0; i < t->merges; i++)
		if (!t->job[i].active && !merge_begin(t, &t->job[i]))
			return false;
	return flush_begin(t) && wal_begin(t);
}

/* The next run of what is due. False: there is none. */
static bool discard(struct lsm *t, struct sim_req *req)
{
	struct file *f;
	u32 lba;

	*req = (struct sim_req){ .discard = true };
	while (!req->n && (f = t->dying) && f->due <= t->clock) {
		for (; f->at < f->n; f->at++) {
			lba = f->lba[f->at];
			if (t->last[lba] == f->number && (!req->n || lba == req->lba + req->n))
				req->lba = lba - req->n++;
			else if (req->n)
				return true;
		}
		t->dying = f->next;
		file_free(f);
	}
	return req->n;
}

/* The last block of @j's files @done has been given out. */
static void written(struct lsm *t, struct job *j, struct file *done)
{
	j->active = false;
	if (j == &t->job[WAL]) {
		t->full = done;
		t->wals++;
	} else {
		job_end(t, j, done);
	}
}

/* Whose turn it is. NULL: nobody has anything to write. */
static struct job *turn(struct lsm *t)
{
	u32 active[JOBS * LSM_SLOW], n = 0, i, times;

	if (t->left && t->job[t->turn].active)
		return &t->job[t->turn];
	for (i = 0; i < JOBS; i++)
		for (times = i < LSM_MERGES ? 1 : t->slow; t->job[i].active && times; times--)
			active[n++] = i;
	if (!n)
		return NULL;
	t->turn = active[rnd_below(&t->r, n)];
	t->left = TURN;
	return &t->job[t->turn];
}

bool lsm_ended(const struct lsm *t)
{
	return !t->puts && !t->job[WAL].active;
}

bool lsm_next(struct lsm *t, struct sim_req *req)
{
	struct file *f, *all;
	struct job *j;

	if (discard(t, req))
		return true;
	if (!jobs_begin(t))
		return false;
	/* Nobody waits for merges that are due when the last is put, as db_bench does not. */
	if (lsm_ended(t))
		return false;
	j = turn(t);
	if (!j)
		return false;
	t->left--;
	t->clock++;
	for (f = j->out; f->at == f->n; f = f->next)
		;
	*req = (struct sim_req){
		.lba = f->lba[f->at++],
		.class = t->hints == LSM_BLOCKS ? shuffled(t, f->class) : f->class,
		.writer = t->turn,
		.last = f->at == f->n,
	};
	/* A WAL is closed when it is deleted, and another is written by then. */
	if (j == &t->job[WAL]) {
		req->writer += t->wals % 2;
		req->open = true;
	} else {
		req->file = f->number;
		req->keys = (struct sim_keys){ j->level, f->from, f->to };
		req->inputs = j->inputs;
		req->nr_inputs = j->nr_inputs;
	}
	if (f->at == f->n && !f->next) {
		all = j->out;
		j->out = NULL;
		written(t, j, all);
	}
	return true;
}

/* Levels of a store that is updated. False: there are too few blocks for it. */
static bool levels_updated(struct lsm *t, const struct lsm_setup *setup)
{
	double last = setup->blocks * setup->live * (1 - 1 / setup->multiplier), room;
	u32 i;

	t->keys = floor(last);
	t->puts = ~0ull;
	t->file = FILE_BLOCKS;
	t->memtable = FILE_BLOCKS;
	t->wal = 1;
	t->merges = MERGES;
	t->slow = 1;
	t->l0_stop = L0_STOP;
	t->puts_stop = PUTS_STOP;
	while (t->levels < LEVELS - 2 &&
	       last / pow(setup->multiplier, t->levels) >= LSM_L0_MERGE * FILE_BLOCKS)
		t->levels++;
	for (i = 1; i <= t->levels; i++)
		t->target[i] = last / pow(setup->multiplier, t->levels - i);
	t->fill = t->levels;
	/* Level 0, the WAL and its flush, and merges of a file with as many as it overlaps. */
	room = FILE_BLOCKS * (3 * L0_STOP + MERGES * (setup->multiplier + 2));
	return t->levels >= 2 && setup->blocks * (1 - setup->live) >= room;
}

static bool levels_filled(struct lsm *t, const struct lsm_setup *setup)
{
	double entry = KEY_BYTES + setup->value, in_file = (entry + FILE_BYTES) * FILE_INDEX;
	u32 i;

	t->puts = lround(setup->puts * in_file / entry);
	t->keys = t->puts * (setup->drawn ? 1 : 1e6);
	t->file = lround(FILE_BLOCKS * FILE_INDEX);
	t->memtable = lround(FILE_BLOCKS * in_file / (entry + MEMTABLE_BYTES));
	t->wal = (entry + WAL_BYTES) / in_file;
	t->merges = setup->merges;
	t->slow = setup->slow;
	t->l0_stop = setup->stop;
	t->puts_stop = INFINITY;
	t->levels = FILL_LEVELS;
	for (i = 1; i <= t->levels; i++)
		t->target[i] = LSM_L0_MERGE * FILE_BLOCKS * pow(setup->multiplier, i - 1);
	return setup->puts >= FILE_BLOCKS;
}

struct lsm *lsm_new(const struct lsm_setup *setup, const char **why)
{
	struct lsm *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	rnd_seed(&t->r, setup->seed);
	rnd_seed(&t->hint_r, ~setup->seed);
	t->blocks = setup->blocks;
	t->nr_free = setup->blocks;
	t->hints = setup->hints;
	t->delay = setup->delay;
	t->order = setup->order;
	if (!(setup->puts ? levels_filled(t, setup) : levels_updated(t, setup))) {
		*why = "too few blocks for a store like this";
		lsm_free(t);
		return NULL;
	}
	t->used = calloc(t->blocks, 1);
	t->last = calloc(t->blocks, sizeof(*t->last));
	if (!t->used || !t->last) {
		lsm_free(t);
		return NULL;
	}
	return t;
}

void lsm_free(struct lsm *t)
{
	u32 i;

	if (!t)
		return;
	for (i = 0; i < LEVELS; i++)
		files_free(t->level[i]);
	for (i = 0; i < JOBS; i++) {
		files_free(t->job[i].out);
		free(t->job[i].inputs);
	}
	files_free(t->dying);
	file_free(t->full);
	file_free(t->flushed);
	free(t->used);
	free(t->last);
	free(t);
}
