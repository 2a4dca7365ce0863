// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a world: a random geometry, options and load; format; then again
 * and again: recover, verify every block, serve at least two hundred requests,
 * lose power at a random step. Recovery itself is cut, too, up to twice in a
 * row. Now and then the drive is first loaded read-only and checked; what that
 * instance reads the next one has to read as well.
 *
 * In between, many more cuts are tried on a copy: what a copy of the drive is
 * left with is recovered and verified in an arena of its own, then the world goes
 * on as if nothing had been. That makes most of the cuts, as it takes less time
 * than two hundred requests.
 */
#include <stdarg.h>
#include <stdio.h>
#include "world.h"

#define MIN_OPS		200u
#define HANG_STEPS	400000u

const char * const phase_names[NR_PHASES] = {
	"commit", "checkpoint", "root_roll", "journal_roll", "meta_clean", "gc", "reset",
	"recovery",
};

u32 world_cut_now;

/* Each but faults is a chance of its own, drawn with the load. */
#define FAULTS		0u
#define CHANCE(field)	(offsetof(struct load, field) / sizeof(u32))
static const struct {
	const char *name;
	size_t chance;
} kinds[NR_WITHOUT] = {
	[FAULTS] = { "faults" },
	{ "read", CHANCE(read) }, { "flush", CHANCE(flush) }, { "discard", CHANCE(discard) },
	{ "option", CHANCE(option) }, { "gc", CHANCE(gc) },
	{ "checkpoint", CHANCE(checkpoint) }, { "stop", CHANCE(stop) },
	{ "reload", CHANCE(reload) }, { "fua", CHANCE(fua) }, { "nested", CHANCE(nested) },
	{ "idle", CHANCE(idle) }, { "yield", CHANCE(yield) },
	{ "host-dies", CHANCE(host_dies) }, { "at-once", CHANCE(now_permille) },
};

const char *without_name(u32 kind)
{
	return kinds[kind].name;
}

u32 without_bit(const char *name)
{
	u32 i;

	for (i = 0; i < NR_WITHOUT; i++)
		if (!strcmp(kinds[i].name, name))
			return 1u << i;
	return 0;
}

void world_trace(struct world *w, const char *fmt, ...)
{
	va_list ap;

	printf("%4u %7llu %10llu us  ", w->cuts, (unsigned long long)w->steps,
	       (unsigned long long)w->now / 1000);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

void world_fail(void *ctx, const char *fmt, ...)
{
	struct world *w = ctx;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->why, w->why_size, fmt, ap);
	va_end(ap);
	trace(w, "FAILED   %s", w->why);
	longjmp(w->on_fail, 1);
}

static void draw_cuts(const struct run *run, u32 index, u32 *lives, u32 *trials)
{
	static const u32 n[] = { 0, 10, 50, 200 };
	struct rnd r;

	rnd_seed(&r, run->seed, index);
	*trials = n[rnd_below(&r, ARRAY_SIZE(n))];
	*lives = rnd_range(&r, 10, 30);
	if (run->trials)
		*trials = run->trials;
	if (run->lives)
		*lives = run->lives;
}

u32 world_cuts(const struct run *run, u32 index)
{
	u32 lives, trials;

	draw_cuts(run, index, &lives, &trials);
	return lives * (1 + trials);
}

/* --- character ---------------------------------------------------------------------- */

void world_options(struct world *w)
{
	struct rnd *r = &w->rnd;

	w->o.policy = rnd_below(r, LZ_NR_POLICIES);
	w->o.reset = rnd_below(r, LZ_NR_RESETS);
	w->o.finish = rnd_below(r, LZ_NR_FINISHES);
	w->o.isolation = rnd_below(r, LZ_NR_ISOLATIONS);
	w->o.victim = rnd_below(r, LZ_NR_VICTIMS);
	w->o.commit_ms = rnd_range(r, LZ_COMMIT_MS_MIN, 100);
	w->o.gc_ahead = rnd_below(r, 2 * LZ_GC_AHEAD_DEFAULT);
}

/* Zones that may be lost without anything missing, roughly. */
static u32 spare_zones(const struct world *w)
{
	u32 used = 2 + w->si.meta_zones + w->si.gc_zones, data = w->g.zone_cap;

	/* Summaries take room, too, where they are many. */
	if (w->summary < LZ_SUMMARY_ENTRIES)
		data -= DIV_ROUND_UP(data, w->summary + 1);
	used += DIV_ROUND_UP(w->nr, data * 4 / 5);
	return w->g.nr_zones > used ? w->g.nr_zones - used : 0;
}

/* On tiny drives a zone has many, as those of large ones do, and so less room for data. */
static void small_summaries(struct world *w)
{
	w->summary = LZ_SUMMARY_ENTRIES;
#ifdef LZ_TINY
	if (rnd_below(&w->rnd, 2)) {
		w->summary = rnd_range(&w->rnd, 3, rnd_below(&w->rnd, 2) ? 8 :
				       min(w->g.zone_cap, LZ_SUMMARY_ENTRIES));
		w->si.spare_permille = 400;
	}
	lz_user_summary = w->summary;
#endif
}

static void random_geometry(struct world *w)
{
	static const u32 spares[] = { 20, 50, 100, 100, 200, 400 };
	struct rnd *r = &w->rnd;
	char why[200];
	u32 shift;

	/*
	 * A wide map, written in one narrow place for a while and then in
	 * another: old leaves lie about in the log and have to be cleaned out.
	 */
	/* Seldom, as it takes so long to look at every block. */
	w->deep = (!rnd_below(r, 50) && !w->run->small) || w->run->deep;
	if (w->deep)
		w->trials = min(w->trials, 10u);
	w->wide = w->deep || (!rnd_below(r, 12) && !w->run->small);
	w->scattered = !w->wide && !rnd_below(r, 6) && !w->run->small;
	w->long_journal = w->scattered && rnd_below(r, 2);
	w->faulty = !rnd_below(r, 3) && !(w->run->without & 1u << FAULTS);
	w->log_fails = w->faulty && rnd_below(r, 2);
	w->erring = w->faulty && !rnd_below(r, 3);
	w->unreadable = w->erring;
	w->fault_every = rnd_below(r, 2) ? 100 : 1000;
	do {
		shift = rnd_range(r, 4, 6) + !rnd_below(r, 8);
		memset(&w->g, 0, sizeof(w->g));
		w->g.nr_zones = rnd_range(r, 24, 48);
		if (w->run->small) {
			shift = rnd_range(r, 3, 4);
			w->g.nr_zones = rnd_range(r, 18, 28);
		} else if (w->deep) {
			shift = 9;
			w->g.nr_zones = rnd_range(r, 310, 400);
		} else if (w->wide) {
			shift = 4;
			w->g.nr_zones = rnd_range(r, 300, 700);
		} else if (w->long_journal) {
			shift = 4;
			w->g.nr_zones = rnd_range(r, 300, 600);
		} else if (w->scattered) {
			shift = rnd_range(r, 6, 7);
			w->g.nr_zones = rnd_range(r, 50, 90);
		}
		w->g.zone_blocks = 1u << shift;
		w->g.zone_cap = rnd_below(r, 2) ? w->g.zone_blocks :
				rnd_range(r, w->g.zone_blocks / 2 + 1, w->g.zone_blocks);
		w->g.max_open = rnd_below(r, 16) ? rnd_range(r, 4, 8) : 0;
		w->g.max_append = 1u << rnd_range(r, 1, 6);
		if (w->long_journal || (w->scattered && rnd_below(r, 2)))
			w->g.max_append = 2;
		if (w->long_journal) {
			w->g.zone_cap = rnd_range(r, 9, 11);
			w->g.max_open = rnd_range(r, 6, 9);
		} else if (w->faulty && rnd_below(r, 2)) {
			w->g.max_open = 4;
		} else if (w->scattered) {
			/* Nobody waits for a zone, which would hasten a commit. */
			w->g.max_open = 0;
		}
		memset(&w->si, 0, sizeof(w->si));
		w->si.spare_permille = spares[rnd_below(r, ARRAY_SIZE(spares))];
		if (w->faulty || w->scattered)
			w->si.spare_permille = 400;
		memcpy(w->si.uuid, &r->s, sizeof(r->s));
		w->si.version = LZ_FORMAT_VERSION;
		if (w->deep) {
			w->g.zone_cap = w->g.zone_blocks;
			w->si.spare_permille = 20;
		}
		small_summaries(w);
		w->t->refused++;
	} while (lz_layout(&w->g, &w->si, why, sizeof(why)));
	w->t->refused--;
	w->nr = w->si.logical_blocks;
	if (w->faulty)
		w->faults = w->log_fails ? min(8u, 1 + spare_zones(w)) :
				1 + rnd_below(r, spare_zones(w) / 2 + 1);
	/* Of few zones each counts. */
	if (w->run->small)
		w->faults = min(w->faults, spare_zones(w));
	w->max_leaves = rnd_below(r, 2) ? rnd_range(r, 1, 4) : 0;
}

static void without_kinds(struct load *l, u32 without)
{
	u32 i;

	for (i = FAULTS + 1; i < NR_WITHOUT; i++)
		if (without >> i & 1)
			((u32 *)l)[kinds[i].chance] = 0;
}

static void random_load(struct world *w)
{
	static const u32 weights[] = { 1, 3, 10, 30 };
	static const u32 step_ns[] = { 2000, 50000, 1000000 };
	struct load *l = &w->load;
	struct rnd *r = &w->rnd;

	l->write = 600;
	l->read = rnd_range(r, 10, 200);
	l->flush = rnd_range(r, 2, 60);
	l->discard = rnd_below(r, 3) ? rnd_range(r, 0, 30) : rnd_range(r, 0, 150);
	l->option = rnd_range(r, 0, 3);
	l->gc = rnd_below(r, 3) ? 0 : rnd_range(r, 0, 10);
	l->checkpoint = rnd_below(r, 2) ? rnd_range(r, 0, 3) : rnd_range(r, 0, 30);
	l->stop = 60;
	l->reload = 60;
	l->fua = rnd_below(r, 2) ? 0 : rnd_range(r, 0, 100);
	l->hot = rnd_below(r, 4) ? rnd_range(r, 0, 950) : 0;
	l->hot_blocks = rnd_range(r, 1, w->nr);
	if (rnd_below(r, 2))
		l->hot_blocks = rnd_range(r, 1, min(w->nr, 64u));
	l->len = rnd_range(r, 1, 16);
	l->depth = rnd_below(r, 3) ? rnd_range(r, 4, MAX_REQS) : rnd_range(r, 1, 4);
	l->classes = rnd_range(r, 1, LZ_NR_CLASSES);
	l->user_weight = weights[rnd_below(r, ARRAY_SIZE(weights))];
	l->drive_weight = weights[rnd_below(r, ARRAY_SIZE(weights))];
	l->run_weight = weights[rnd_below(r, ARRAY_SIZE(weights))];
	l->now_permille = rnd_below(r, 4) ? 0 : rnd_range(r, 1, 300);
	l->step_ns = step_ns[rnd_below(r, ARRAY_SIZE(step_ns))];
	l->nested = rnd_range(r, 20, 200);
	l->idle = rnd_below(r, 4) ? 0 : rnd_range(r, 1, 20);
	l->yield = rnd_below(r, 2) ? 0 : 1u << rnd_range(r, 2, 9);
	l->host_dies = rnd_below(r, 2) ? 0 : rnd_range(r, 50, 500);
	if (!rnd_below(r, 8)) {
		l->nested = 500;
		l->host_dies = 500;
	}
	l->roam = !rnd_below(r, 2);
	if (w->wide) {
		l->discard = rnd_below(r, 3);
		l->checkpoint = rnd_range(r, 5, 40);
		l->hot = 1000;
		l->hot_blocks = rnd_range(r, 1, 200);
		l->roam = true;
	}
	l->stride = 0;
	if (w->scattered) {
		l->hot = 0;
		l->discard = rnd_range(r, 0, 2);
		l->gc = 0;
		l->flush = 300;
		l->len = 1;
		l->checkpoint = rnd_range(r, 2, 20);
		l->depth = rnd_range(r, 8, MAX_REQS);
		l->stride = rnd_range(r, 17, 61);
		l->classes = 1;
	}
	if (w->scattered ? !w->long_journal : !rnd_below(r, 8)) {
		/* Long commits: many scattered updates, seldom asked for. */
		l->flush = rnd_below(r, 2) || w->scattered;
		l->fua = 0;
		l->hot = 0;
		l->option = 0;
		l->len = rnd_range(r, 1, w->scattered ? 1 : 3);
		l->checkpoint = min(l->checkpoint, 3u);
		l->step_ns = step_ns[0];
		l->idle = 0;
		w->o.commit_ms = 1000;
	}
	without_kinds(l, w->run->without);
	if (w->run->depth)
		l->depth = min(w->run->depth, MAX_REQS);
	w->d->loss = rnd_below(r, 2) ? DRIVE_PREFIX : rnd_below(r, DRIVE_NR_LOSSES);
	/* All of them are what null_blk makes of a power cycle. */
	w->d->full_permille = rnd_below(r, 10) ? 0 :
		rnd_below(r, 3) ? rnd_range(r, 100, 1000) : 1000;
}

/* --- instances ------------------------------------------------------------------------ */

static void hung(struct world *w, const char *what)
{
	fflush(stdout);
	if (w->tracing)
		peek_print(w->lz);
	world_fail(w, "no progress: %s, %u requests, %u commands in flight, timer %u, phase %#x",
		   what, w->nr_reqs, w->d->nr_cmds, w->timer, lz_phase(w->lz));
}

/* As the options may be at the next load. */
static void new_budget(struct world *w)
{
	u32 most = w->g.max_open ? w->g.max_open : 16;

	w->o.max_open = rnd_below(&w->rnd, 4) ? 0 : rnd_range(&w->rnd, 4, most);
}

/* False: it was refused, as it may be. */
static bool instance_new(struct world *w, bool ro)
{
	int err;

	if (arena_live())
		world_fail(w, "%zu allocations left by an instance that was freed", arena_live());
	w->damaged = false;
	w->said = false;
	w->wait_cmds = 0;
	w->ended = 0;
	new_budget(w);
	w->lz = lz_new(&w->g, &w->o, &host_ops, w);
	if (!w->lz)
		world_fail(w, "lz_new failed");
	drive_report(w->d, w->report);
	w->d->reads_anywhere = true;
	w->d->read_only = ro;
	trace(w, "load     %s", ro ? "read-only" : "");
	err = lz_load(w->lz, w->report, ro ? LZ_LOAD_RO : 0);
	if (err && w->harmed && w->said)
		return false;
	if (err && w->tracing)
		peek_print(w->lz);
	if (err)
		world_fail(w, "lz_load%s: %d", ro ? " read-only" : "", err);
	if (w->max_leaves)
		peek_limit_leaves(w->lz, w->max_leaves);
	if (w->damaged && !w->harmed)
		world_fail(w, "core set a zone aside or changed its mode at load");
	w->d->reads_anywhere = false;
	w->progress = w->steps;
	if (ro)
		return true;
	/* As the drive is modelled nothing would come of it. */
	if (peek_epoch(w->lz) <= w->epoch)
		world_fail(w, "epoch %llu after epoch %llu",
			   (unsigned long long)peek_epoch(w->lz), (unsigned long long)w->epoch);
	w->epoch = peek_epoch(w->lz);
	return true;
}

static void instance_free(struct world *w)
{
	if (w->d->nr_cmds)
		world_fail(w, "%u commands in flight after a stop", w->d->nr_cmds);
	lz_free_device(w->lz);
	host_forget(w);
	if (arena_live())
		world_fail(w, "%zu allocations leaked", arena_live());
	arena_reset();
}

static void check_line(void *ctx, const char *line)
{
	struct world *w = ctx;

	trace(w, "check    %s", line);
	/* One of two copies that rotted, as drive_rot() lets them. */
	if (!strncmp(line, "superblock at block", 19))
		return;
	w->check_errors++;
	if (!w->why[0])
		snprintf(w->why, w->why_size, "%s", line);
}

static void check(struct world *w)
{
	struct lz_check_report r = { .say = check_line, .ctx = w };
	char first[200];
	int err;

	instance_new(w, true);
	users_verify(w, false);
	w->why[0] = 0;
	w->check_errors = 0;
	w->wait_cmds = 0;
	w->d->reads_anywhere = true;
	err = lz_check(w->lz, &r);
	w->d->reads_anywhere = false;
	if (err || w->check_errors) {
		snprintf(first, sizeof(first), "%s", w->why);
		world_fail(w, "lz_check: %d, %u errors, first: %s", err, w->check_errors, first);
	}
	instance_free(w);
	w->d->read_only = false;
	w->t->checks++;
}

/* True if it is new. */
static bool saw(struct world *w, u64 h)
{
	u32 i = h >> 32;

	while (w->seen[i &= w->seen_max - 1] && w->seen[i] != h)
		i++;
	if (w->seen[i])
		return false;
	w->seen[i] = h;
	w->nr_seen++;
	return true;
}

/*
 * Counts cuts that differ in what is left on the drive or in what it may hold.
 * Each world has a UUID of its own, so no two worlds share any.
 */
static void count_distinct(struct world *w)
{
	u64 h = rnd_mix(drive_hash(w->d) + oracle_hash(&w->oracle)) | 1, *old = w->seen;
	u32 i, n = w->seen_max;

	if (2 * w->nr_seen >= n) {
		w->seen_max = max(2 * n, 1024u);
		w->seen = calloc(w->seen_max, sizeof(*w->seen));
		if (!w->seen)
			abort();
		w->nr_seen = 0;
		for (i = 0; i < n; i++)
			if (old[i])
				saw(w, old[i]);
		free(old);
	}
	w->t->distinct += saw(w, h);
}

static void export(struct world *w)
{
	const struct run *run = w->run;
	char path[4000], allowed[4020];

	if (!run->export || w->cuts % run->every)
		return;
	snprintf(path, sizeof(path), "%s/world-%u-cut-%u", run->export, run->index, w->cuts);
	snprintf(allowed, sizeof(allowed), "%s.allowed", path);
	if (!drive_export(w->d, path) || !oracle_export(&w->oracle, allowed))
		world_fail(w, "%s cannot be written", path);
}

static void cut(struct world *w)
{
	u32 i, phase = lz_phase(w->lz);

	for (i = 0; i < NR_PHASES; i++)
		w->t->phase[i] += phase >> i & 1;
	w->t->cuts++;
	w->cuts++;
	world_cut_now = w->cuts;
	w->tracing = w->cuts >= w->run->trace_from;
	trace(w, "CUT      phase %#x, %u commands in flight, %u requests", phase, w->d->nr_cmds,
	      w->nr_reqs);
	w->d->error = NULL;
	drive_cut(w->d, !rnd_permille(&w->rnd, w->load.host_dies));
	if (!rnd_below(&w->rnd, 20))
		drive_rot(w->d);
	count_distinct(w);
	export(w);
	users_forget(w);
	host_forget(w);
	arena_reset();
	if (w->trying)
		return;
	w->ops = 0;
	w->no_new = false;
	if (w->load.roam)
		w->hot_at = rnd_below(&w->rnd, w->nr);
}

static void recover(struct world *w, bool exact)
{
	w->nesting = 0;
	if (setjmp(w->on_cut)) {
		cut(w);
		w->nesting++;
	}
	exact = exact && !w->nesting;
	w->wait_cut = -1;
	if (w->trying && !w->nesting && !rnd_below(&w->rnd, 16)) {
		w->harmed = drive_damage(w->d);
		if (w->harmed && !instance_new(w, false))
			return;
		if (w->harmed) {
			users_verify(w, false);
			return;
		}
	}
	if (!exact && !rnd_below(&w->rnd, w->trying ? 128 : 16))
		check(w);
	if (w->nesting < 2 && rnd_permille(&w->rnd, w->load.nested))
		w->wait_cut = rnd_below(&w->rnd, w->load_cmds + 2);
	instance_new(w, false);
	w->load_cmds = w->wait_cmds;
	w->wait_cut = -1;
	users_verify(w, exact);
}

/* --- the time between two cuts --------------------------------------------------------- */

/* Recovery has its own cuts, and only a wide map is ever cleaned. */
static u32 pick_phases(struct world *w)
{
	static const u32 phases[] = {
		LZ_PH_COMMIT, LZ_PH_CHECKPOINT, LZ_PH_ROOT_ROLL, LZ_PH_JOURNAL_ROLL, LZ_PH_GC,
		LZ_PH_RESET,
	};

	if (w->scattered && !w->long_journal && rnd_below(&w->rnd, 2))
		return LZ_PH_COMMIT;
	if (w->wide && rnd_below(&w->rnd, 2))
		return LZ_PH_META_CLEAN;
	return phases[rnd_below(&w->rnd, ARRAY_SIZE(phases))];
}

static void plan_cut(struct world *w)
{
	struct rnd *r = &w->rnd;

	w->min_ops = w->run->ops ? w->run->ops : MIN_OPS;
	w->cut_ops = w->min_ops + (rnd_below(r, 4) ? rnd_below(r, w->min_ops / 4 + 1) :
				   rnd_below(r, 3 * w->min_ops));
	w->cut_phases = 0;
	w->cut_skip = rnd_below(r, 30);
	w->cut_by = 0;
	if (rnd_below(r, 3))
		w->cut_phases = pick_phases(w);
	if (w->cut_phases && rnd_below(r, 2))
		w->cut_skip = rnd_below(r, 4);
	w->cut_in_stop = !rnd_below(r, 24);
}

static bool cut_due(struct world *w)
{
	if (w->ops < w->cut_ops)
		return false;
	if (!w->cut_by)
		w->cut_by = w->steps + 2500;
	if (w->cut_phases && !(lz_phase(w->lz) & w->cut_phases) && w->steps < w->cut_by)
		return false;
	return !w->cut_skip--;
}

static void plan_trial(struct world *w)
{
	struct rnd *r = &w->rnd;

	w->trial_phases = rnd_below(r, 3) ? 0 : pick_phases(w);
	w->trial_skip = rnd_below(r, 2) ? 0 : rnd_below(r, 16);
	if (w->trial_phases)
		w->trial_at = w->steps + 1000;
	else
		w->trial_at = w->steps + (rnd_below(r, 4) ? rnd_below(r, 40) : 0);
}

/* Until a checkpoint begins the journal anew, whoever asks for durability waits. */
static void watch_journal(struct world *w)
{
	bool lost = peek_journal_lost(w->lz);

	if (lost && !w->lost)
		w->trial_at = min_t(u64, w->trial_at, w->steps + rnd_below(&w->rnd, 60));
	w->lost = lost;
}

static bool trial_due(struct world *w)
{
	if (w->ops < w->min_ops)
		return false;
	if (w->steps >= w->trial_at)
		return true;
	return (lz_phase(w->lz) & w->trial_phases) && !w->trial_skip--;
}

/* A cut from which the world does not go on. */
static void try_cut(struct world *w)
{
	struct world saved;
	unsigned int depth = yield_depth, in = yield_in;

	if (!w->copy)
		w->copy = drive_new(&w->g, 0);
	drive_copy(w->copy, w->d);
	rnd_seed(&w->copy->rnd, rnd_u64(&w->rnd), 0);
	saved = *w;
	w->trying = true;
	w->d = w->copy;
	w->ios = w->copy_ios;
	w->copy_ios.nr = 0;
	rnd_seed(&w->rnd, rnd_u64(&saved.rnd), 1);
	arena_select(1);
	cut(w);
	recover(w, false);
	arena_reset();
	arena_select(0);
	saved.copy_ios = w->ios;
	saved.cuts = w->cuts;
	saved.seen = w->seen;
	saved.nr_seen = w->nr_seen;
	saved.seen_max = w->seen_max;
	saved.tracing = w->tracing;
	*w = saved;
	yield_depth = depth;
	yield_in = in;
}

static void drain(struct world *w)
{
	w->no_new = true;
	while (w->nr_reqs) {
		if (!host_step(w))
			hung(w, "a request does not end");
		if (w->steps - w->progress > HANG_STEPS)
			hung(w, "no request ends");
	}
	w->no_new = false;
}

static void stop(struct world *w)
{
	u64 moment;
	int err;

	drain(w);
	moment = oracle_moment(&w->oracle);
	w->wait_cmds = 0;
	trace(w, "stop");
	err = lz_stop(w->lz);
	if (err)
		world_fail(w, "lz_stop: %d", err);
	if (w->d->nr_cmds)
		world_fail(w, "%u commands in flight after lz_stop", w->d->nr_cmds);
	if (peek_balance(w->lz))
		world_fail(w, "after lz_stop: %s", peek_balance(w->lz));
	oracle_durable(&w->oracle, moment);
}

static void reload(struct world *w)
{
	u8 (*error)(void *ctx, const struct drive_cmd *c) = w->d->error;

	stop(w);
	instance_free(w);
	w->t->reloads++;
	w->d->error = NULL;
	recover(w, true);
	w->d->error = error;
}

/* One bad zone at a time is what the log has to bear. */
static bool all_sound(const struct world *w)
{
	u32 i;

	for (i = 0; i < w->g.nr_zones; i++)
		if (w->d->z[i].fault != DRIVE_SOUND)
			return false;
	return true;
}

/*
 * Something goes wrong with a zone that holds data, or in some worlds metadata.
 * What the log has written stays readable; it has one copy.
 */
static bool break_zone(struct world *w)
{
	u32 zone = rnd_below(&w->rnd, w->g.nr_zones), fault;
	struct drive_zone *z;
	u8 state;

	if (!rnd_below(&w->rnd, 3))
		zone = w->log_fails ? peek_journal_zone(w->lz) : peek_gc_zone(w->lz);
	state = peek_zone_state(w->lz, zone);
	z = &w->d->z[zone];
	fault = rnd_range(&w->rnd, DRIVE_SOUND, DRIVE_NR_FAULTS);
	if (w->log_fails) {
		fault = rnd_range(&w->rnd, DRIVE_SOUND, DRIVE_BROKEN);
		if (state == LZ_ZS_ROOT && fault == DRIVE_SOUND)
			return false;
		state = (state == LZ_ZS_META || state == LZ_ZS_ROOT) && all_sound(w) ?
			LZ_ZS_OPEN : LZ_ZS_FREE;
	}
	/* What fails to be written or finished is mostly open. */
	if (fault >= DRIVE_FAIL_WRITE && fault <= DRIVE_FAIL_FINISH && state != LZ_ZS_OPEN)
		return false;
	/* One being reset may be the log's next. */
	if ((state != LZ_ZS_OPEN && state != LZ_ZS_FULL) || z->fault || z->resets || !z->wp ||
	    z->cond > LZ_COND_FULL)
		return false;
	w->faults--;
	trace(w, "fault    zone %u: %u", zone, fault);
	if (fault == DRIVE_SOUND)
		drive_set_cond(w->d, zone, LZ_COND_READONLY);
	else if (fault == DRIVE_NR_FAULTS)
		drive_set_cond(w->d, zone, LZ_COND_OFFLINE);
	else
		z->fault = fault;
	return true;
}

/* Few zones suit, those that are written to. */
static void break_some_zone(struct world *w)
{
	u32 tries = 8;

	while (tries && !break_zone(w))
		tries--;
	/* What comes of it is worth a look. */
	if (tries)
		w->trial_at = min_t(u64, w->trial_at, w->steps + rnd_below(&w->rnd, 150));
}

/* A command fails, as any may once; what zones bear that, and how many, is as above. */
static u8 random_error(void *ctx, const struct drive_cmd *c)
{
	struct world *w = ctx;
	u8 how, state;

	if (rnd_below(&w->rnd, 2 * w->fault_every))
		return DRIVE_NO_ERROR;
	how = rnd_range(&w->rnd, DRIVE_ERR_NOTHING, DRIVE_ERR_FULL);
	if (!drive_may_err(c->op, how))
		return DRIVE_NO_ERROR;
	if (c->op != LZ_OP_READ) {
		state = peek_zone_state(w->lz, c->zone);
		if (!w->faults || state == LZ_ZS_FREE || (state == LZ_ZS_META && !w->log_fails))
			return DRIVE_NO_ERROR;
		if ((state == LZ_ZS_META || state == LZ_ZS_ROOT) &&
		    (c->op == LZ_OP_RESET || !all_sound(w)))
			return DRIVE_NO_ERROR;
		w->faults--;
	}
	trace(w, "error    %s zone %u: %s", drive_op_name(c->op), c->zone, drive_error_name(how));
	return how;
}

static void live(struct world *w)
{
	u32 stop_at = ~0u, reload_at = ~0u, trials = w->trials;

	plan_cut(w);
	plan_trial(w);
	if (rnd_permille(&w->rnd, w->load.stop))
		stop_at = rnd_below(&w->rnd, w->cut_ops);
	if (rnd_permille(&w->rnd, w->load.reload))
		reload_at = rnd_below(&w->rnd, w->cut_ops);
	w->progress = w->steps;
	w->d->error = w->erring ? random_error : NULL;
	while (trials || !cut_due(w)) {
		if (trials && trial_due(w)) {
			try_cut(w);
			trials--;
			plan_trial(w);
			continue;
		}
		if (!host_step(w))
			hung(w, "nothing to do");
		if (w->nr_reqs && w->steps - w->progress > HANG_STEPS)
			hung(w, "no request ends");
		if (w->faults && !rnd_below(&w->rnd, w->fault_every))
			break_some_zone(w);
		if (w->log_fails)
			watch_journal(w);
		if (w->ops >= stop_at) {
			stop_at = ~0u;
			stop(w);
			lz_start(w->lz);
		}
		if (w->ops >= reload_at) {
			reload_at = ~0u;
			reload(w);
		}
	}
	if (w->cut_in_stop) {
		w->wait_cut = rnd_below(&w->rnd, 30);
		if (!setjmp(w->on_cut))
			stop(w);
		w->wait_cut = -1;
	}
}

/* --- a life ------------------------------------------------------------------------------ */

/* Loads what is no device of ours, or none for us: core says so and writes nothing. */
static void refused(struct world *w, int want)
{
	int err;

	w->lz = lz_new(&w->g, &w->o, &host_ops, w);
	if (!w->lz)
		world_fail(w, "lz_new failed");
	drive_report(w->d, w->report);
	w->d->read_only = true;
	w->d->reads_anywhere = true;
	w->wait_cut = -1;
	w->wait_cmds = 0;
	w->said = false;
	err = lz_load(w->lz, w->report, 0);
	if (err != want || !w->said)
		world_fail(w, "lz_load of a foreign drive: %d, not %d", err, want);
	w->d->read_only = false;
	instance_free(w);
}

static void format(struct world *w)
{
	int err;

	w->d->reads_anywhere = true;
	w->wait_cut = -1;
	w->wait_cmds = 0;
	err = lz_format(&w->g, &w->si, NULL, &host_ops, w);
	if (err)
		world_fail(w, "lz_format: %d", err);
	if (arena_live())
		world_fail(w, "%zu allocations leaked by lz_format", arena_live());
	host_forget(w);
	arena_reset();
}

static void format_foreign(struct world *w)
{
	struct lz_super_info si = w->si;
	u32 what = rnd_below(&w->rnd, 3);

	if (rnd_below(&w->rnd, 2)) {
		drive_scribble(w->d, rnd_below(&w->rnd, 2), rnd_range(&w->rnd, 1, 4));
		refused(w, -ENODEV);
		drive_erase(w->d);
	}
	refused(w, -ENODEV);
	w->si.version += what == 0;
	w->si.incompat = what == 1;
	w->si.compat_ro = what == 2;
	format(w);
	w->si = si;
	refused(w, -EPROTONOSUPPORT);
	drive_erase(w->d);
}

static void life(struct world *w)
{
	random_geometry(w);
	lz_options_default(&w->o);
	world_options(w);
	w->d = drive_new(&w->g, rnd_u64(&w->rnd));
	w->d->fail = world_fail;
	w->d->whole = peek_whole;
	w->d->ctx = w;
	w->report = calloc(w->g.nr_zones, sizeof(*w->report));
	w->failed = calloc(w->g.nr_zones, sizeof(*w->failed));
	if (!w->report || !w->failed)
		abort();
	random_load(w);
	oracle_init(&w->oracle, w->nr);
	users_init(w);
	trace(w, "world    %u zones of %u (%u) blocks, open %u, append %u, %u logical blocks",
	      w->g.nr_zones, w->g.zone_blocks, w->g.zone_cap, w->g.max_open, w->g.max_append,
	      w->nr);
	trace(w, "load     depth %u, weights: user %u drive %u run %u, %u ns a step",
	      w->load.depth, w->load.user_weight, w->load.drive_weight, w->load.run_weight,
	      w->load.step_ns);
	host_yields(w);
	format_foreign(w);
	format(w);
	recover(w, false);
	while (w->lives--) {
		live(w);
		cut(w);
		recover(w, false);
	}
}

bool world_run(const struct run *run, struct tally *t, char *why, size_t n)
{
	struct world *w = calloc(1, sizeof(*w));
	bool ok;

	if (!w)
		abort();
	w->run = run;
	w->t = t;
	w->why = why;
	w->why_size = n;
	w->wait_cut = -1;
	w->tracing = !run->trace_from;
	why[0] = 0;
	world_cut_now = 0;
	draw_cuts(run, run->index, &w->lives, &w->trials);
	rnd_seed(&w->rnd, run->seed, run->index + (1ull << 40));
	if (!setjmp(w->on_fail)) {
		life(w);
		w->survived = true;
	}
	ok = w->survived;
	host_yields(NULL);
	t->steps += w->steps;
	if (w->d) {
		oracle_exit(&w->oracle);
		if (w->copy && w->copy != w->d)
			drive_free(w->copy);
		drive_free(w->d);
	}
	host_exit(&w->ios);
	host_exit(&w->copy_ios);
	free(w->report);
	free(w->failed);
	free(w->seen);
	free(w);
	arena_reset();
	arena_select(0);
	arena_reset();
	return ok;
}
