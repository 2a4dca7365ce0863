// SPDX-License-Identifier: GPL-2.0-only
/*
 * lzfault: every allocation and every command fails in turn.
 *
 * Some short scripts, always the same, that lead through all core does. Wherever core
 * allocates or a command takes effect (a site), the process forks once for each way
 * this can fail, for once or from then on, and the child is the world in which it did:
 * it goes on with the script to its end. Whatever happened, every request must be
 * answered, what is read be what was written last, and nothing leak; then power fails,
 * and a recovery without faults must find all that was acknowledged, and a sound device.
 *
 * One bad zone, or one error, may cost the blocks that cannot be read and no others,
 * and not the device; which faults it may not survive is in expect().
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "planted.h"
#include "world.h"

#define HANG_STEPS	100000u
#define STUCK_SECONDS	10u		/* of processor time in a child */
#define MAX_JOBS	64u
#define MAX_ZONES	512u
#define MAX_SHOWN	5u		/* failures, of a script */

/* Kinds of sites: the commands, by enum lz_op, and then */
enum { KIND_REPORT = LZ_OP_FLUSH + 1, KIND_ALLOC, NR_KINDS };

/* How long it lasts. */
enum last { LAST_ONCE, LAST_ZONE, LAST_EVER, NR_LASTS };

static const char * const last_names[] = { "once", "in that zone from then on", "from then on" };

/**
 * struct site - what fails, where
 * @kind: of command
 * @how: enum drive_error
 * @last: enum last
 * @zone: and its zone
 * @state: enum lz_zone_state of that
 * @on: it has struck, and lasts
 */
struct site {
	u8 kind;
	u8 how;
	u8 last;
	u32 zone;
	u8 state;
	bool on;
};

static struct {
	u32 jobs;
	u32 every;
	u32 script;
	u32 site;
	u64 seed;
	bool trace;
	const char *self;
} opt = { .jobs = 1, .every = 1, .script = ~0u, .site = ~0u, .seed = 1 };

static struct world *w;
static struct site site;
static bool armed;			/* sites count */
static bool child;			/* it has struck */
static u32 script, nr_sites, running;
static u32 of_kind[NR_KINDS], of_phase[NR_PHASES], outside, failures;
static u8 zone_state[MAX_ZONES];
static pid_t pids[MAX_JOBS];
static char (*whys)[480];		/* shared with the children */
static u32 site_of[MAX_JOBS];
static char why[480];

static const char *kind_name(u8 kind)
{
	return kind == KIND_ALLOC ? "allocation" : kind == KIND_REPORT ? "report" :
	       drive_op_name(kind);
}

/* --- children --------------------------------------------------------------------------- */

static void __noreturn failed(const char *what)
{
	if (w->tracing)
		printf("FAILED   %s\n", what);
	if (!child || opt.site != ~0u)
		printf("FAIL %s%s\n", child ? "" : "without a fault: ", what);
	else
		snprintf(whys[running], sizeof(whys[0]), "%s fails (%s, %s, zone %u): %s",
			 kind_name(site.kind), drive_error_name(site.how),
			 last_names[site.last], site.zone, what);
	fflush(stdout);
	_exit(1);
}

static void on_signal(int sig)
{
	failed(sig == SIGABRT ? "assertion failed" : sig == SIGVTALRM ? "an endless loop" :
	       "a wild pointer");
}

static void reap(void)
{
	int status;
	pid_t pid = wait(&status);
	u32 i;

	for (i = 0; i < opt.jobs && pids[i] != pid; i++)
		;
	if (pid < 0 || i == opt.jobs)
		abort();
	if (WIFSIGNALED(status) && !whys[i][0])
		snprintf(whys[i], sizeof(whys[i]), "signal %d", WTERMSIG(status));
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		if (failures++ < MAX_SHOWN) {
			printf("     %s\n", whys[i]);
			printf("     replay: %s --seed %lu --script %u --site %u --trace\n",
			       opt.self, opt.seed, script, site_of[i]);
		}
	}
	pids[i] = 0;
}

static void watch(void)
{
	struct itimerval it = { .it_value.tv_sec = STUCK_SECONDS };

	setitimer(ITIMER_VIRTUAL, &it, NULL);
}

/* A world of its own for this site: true in there. */
static bool branch(struct site s)
{
	u32 nr = nr_sites++, i;

	if (opt.site != ~0u ? nr != opt.site : nr % opt.every)
		return false;
	if (opt.site == ~0u) {
		for (i = 0; pids[i]; i = (i + 1) % opt.jobs)
			if (i == opt.jobs - 1)
				reap();
		whys[i][0] = 0;
		site_of[i] = nr;
		fflush(stdout);
		pids[i] = fork();
		if (pids[i] < 0)
			abort();
		if (pids[i])
			return false;
		running = i;
		watch();
	}
	child = true;
	site = s;
	site.on = true;
	w->tracing = opt.trace;
	trace(w, "FAULT    %s fails: %s, %s, zone %u", kind_name(s.kind),
	      drive_error_name(s.how), last_names[s.last], s.zone);
	return true;
}

/* --- what fails -------------------------------------------------------------------------- */

/* What may come of it, at worst. */
static void expect(void)
{
	bool log = site.state == LZ_ZS_META || site.state == LZ_ZS_ROOT;
	bool write = site.kind == LZ_OP_WRITE || site.kind == LZ_OP_APPEND ||
		site.kind == LZ_OP_RESET || site.kind == LZ_OP_FINISH;

	w->erring = true;
	/* A commit may have been in a zone that somebody else resets. */
	w->rewound = site.kind == LZ_OP_WRITE && site.how == DRIVE_ERR_RESET;
	w->unreadable = site.kind == LZ_OP_READ || site.how == DRIVE_ERR_OFFLINE ||
		site.how == DRIVE_ERR_RESET;
	/* The whole drive, to be written or read no more. */
	w->may_die = site.last == LAST_EVER && site.kind != KIND_ALLOC;
	w->may_fill = w->may_die;
	/* Of journal and map there is one copy. */
	w->may_die |= log && (site.how == DRIVE_ERR_OFFLINE || site.how == DRIVE_ERR_RESET ||
			      (site.kind == LZ_OP_READ && site.last == LAST_ZONE));
	/* The other root zone is full some day. */
	w->may_die |= site.state == LZ_ZS_ROOT && (write || site.kind == KIND_REPORT) &&
		(site.last == LAST_ZONE || site.how >= DRIVE_ERR_READONLY);
}

/* Tags end in the number of the block. */
static void drive_lost(void *ctx, u64 tag)
{
	u32 lba = tag & (((u64)1 << 24) - 1);

	if (lba < w->nr)
		w->gone[lba] = true;
}

static void count_site(u8 kind)
{
	u32 phase = w->lz ? lz_phase(w->lz) : 0, i;

	of_kind[kind]++;
	outside += !phase;
	for (i = 0; i < NR_PHASES; i++)
		of_phase[i] += phase >> i & 1;
}

static bool is_write(u8 op)
{
	return op == LZ_OP_WRITE || op == LZ_OP_APPEND;
}

/* Zones may fail for good, other things with the drive alone. */
static bool may_last(u8 kind, u8 how, u8 last)
{
	if (last == LAST_ONCE)
		return true;
	if (how != DRIVE_ERR_NOTHING && !(how == DRIVE_ERR_RUBBISH && last == LAST_ZONE))
		return false;
	return last == LAST_EVER || kind != LZ_OP_FLUSH;
}

static u8 drive_error(void *ctx, const struct drive_cmd *c)
{
	struct site s = { .kind = c->op, .zone = c->op == LZ_OP_FLUSH ? 0 : c->zone };

	if (site.on) {
		bool same = site.kind == c->op || (is_write(site.kind) && is_write(c->op));

		if (!same || site.last == LAST_ONCE || !drive_may_err(c->op, site.how) ||
		    (site.last == LAST_ZONE && c->zone != site.zone))
			return DRIVE_NO_ERROR;
		return site.how;
	}
	if (!armed || child)
		return DRIVE_NO_ERROR;
	count_site(c->op);
	s.state = w->lz ? peek_zone_state(w->lz, s.zone) : LZ_ZS_FREE;
	/* While it loads it does not know all. */
	if (!w->lz_ready && s.state == LZ_ZS_FREE)
		s.state = zone_state[s.zone];
	for (s.how = DRIVE_NO_ERROR + 1; s.how < DRIVE_NR_ERRORS; s.how++) {
		if (!drive_may_err(c->op, s.how))
			continue;
		for (s.last = 0; s.last < NR_LASTS; s.last++) {
			if (may_last(s.kind, s.how, s.last) && branch(s)) {
				expect();
				return s.how;
			}
		}
	}
	return DRIVE_NO_ERROR;
}

static bool alloc_fails(void)
{
	struct site s = { .kind = KIND_ALLOC, .how = DRIVE_ERR_NOTHING };

	if (site.on)
		return site.kind == KIND_ALLOC && site.last == LAST_EVER;
	if (!armed || child)
		return false;
	count_site(KIND_ALLOC);
	for (s.last = 0; s.last < NR_LASTS; s.last++) {
		if (s.last != LAST_ZONE && branch(s)) {
			expect();
			return true;
		}
	}
	return false;
}

/* What the drive reports may be news. */
static void report(void)
{
	static const u8 news[] = { DRIVE_ERR_FULL, DRIVE_ERR_READONLY, DRIVE_ERR_OFFLINE };
	struct site s = { .kind = KIND_REPORT };
	u32 i;

	for (s.zone = 0; armed && !child && s.zone < w->g.nr_zones; s.zone++) {
		count_site(KIND_REPORT);
		s.state = zone_state[s.zone];
		for (i = 0; i < ARRAY_SIZE(news); i++) {
			s.how = news[i];
			if (s.how == DRIVE_ERR_FULL && w->d->z[s.zone].cond != LZ_COND_OPEN)
				continue;
			if (!branch(s))
				continue;
			expect();
			drive_news(w->d, s.zone, s.how);
			break;
		}
	}
	drive_report(w->d, w->report);
}

/* --- what is done ------------------------------------------------------------------------ */

static void moved_on(const char *what)
{
	if (w->damaged)
		world_fail(w, "%s: core set a zone aside or changed its mode", what);
	if (w->nr_reqs && w->steps - w->progress > HANG_STEPS) {
		if (w->tracing)
			peek_print(w->lz);
		world_fail(w, "%s: no request ends, %u wait, %u commands in flight", what,
			   w->nr_reqs, w->d->nr_cmds);
	}
}

static void use(const struct load *mix, u32 ops)
{
	u32 end = w->ops + ops;

	w->load = *mix;
	w->progress = w->steps;
	while (w->lz && w->ops < end) {
		if (!host_step(w))
			world_fail(w, "nothing to do, %u requests wait", w->nr_reqs);
		moved_on("use");
	}
}

static void drain(void)
{
	w->no_new = true;
	w->progress = w->steps;
	while (w->lz && w->nr_reqs) {
		if (!host_step(w))
			world_fail(w, "a request does not end");
		moved_on("drain");
	}
	w->no_new = false;
}

/* Core knows of all that has ended. */
static void hear(void)
{
	u32 i;

	w->no_new = true;
	for (i = 0; i < HANG_STEPS && (w->d->nr_cmds || w->kicked); i++)
		host_step(w);
	w->no_new = false;
}

static void drop(void)
{
	lz_free_device(w->lz);
	host_forget(w);
	w->lz_ready = false;
	if (arena_live())
		world_fail(w, "%zu allocations leaked", arena_live());
	arena_reset();
}

static void learn_states(void)
{
	u32 i;

	for (i = 0; w->lz && i < w->g.nr_zones; i++)
		zone_state[i] = peek_zone_state(w->lz, i);
}

/* False: it was refused, with a reason. */
static bool try_load(bool ro)
{
	int err;

	w->damaged = false;
	w->dead = false;
	w->said = false;
	w->wait_cmds = 0;
	w->ended = 0;
	w->d->reads_anywhere = true;
	w->d->read_only = ro;
	report();
	w->lz = lz_new(&w->g, &w->o, &host_ops, w);
	if (!w->lz) {
		host_forget(w);
		return false;
	}
	err = lz_load(w->lz, w->report, ro ? LZ_LOAD_RO : 0);
	trace(w, "load     %d", err);
	w->d->reads_anywhere = false;
	if (err) {
		if (!child)
			world_fail(w, "lz_load: %d", err);
		if (w->damaged)
			world_fail(w, "load: core changed its mode");
		if (!w->said && err != -ENOMEM)
			world_fail(w, "lz_load: %d, without a word", err);
		if (site.kind == KIND_ALLOC && site.on && err != -ENOMEM)
			world_fail(w, "lz_load without memory: %d", err);
		if (w->d->nr_cmds)
			world_fail(w, "%u commands in flight after a load that failed",
				   w->d->nr_cmds);
		drop();
		return false;
	}
	w->lz_ready = true;
	if (w->few_leaves)
		peek_limit_leaves(w->lz, 2);
	return true;
}

static bool lasts(void)
{
	return site.on && (site.last != LAST_ONCE || site.how >= DRIVE_ERR_FULL);
}

/* Loads, again if just that once it could not be. */
static void load(void)
{
	if (try_load(false) || lasts())
		return;
	if (!try_load(false))
		world_fail(w, "refused a second time, too");
}

static void unload(void)
{
	u64 moment;
	int err;

	if (!w->lz)
		return;
	drain();
	moment = oracle_moment(&w->oracle);
	w->wait_cmds = 0;
	err = lz_stop(w->lz);
	trace(w, "stop     %d", err);
	if (w->damaged)
		world_fail(w, "stop: core changed its mode");
	if (err && !w->dead)
		world_fail(w, "lz_stop: %d", err);
	if (w->d->nr_cmds)
		world_fail(w, "%u commands in flight after lz_stop", w->d->nr_cmds);
	if (!err && peek_balance(w->lz))
		world_fail(w, "after lz_stop: %s", peek_balance(w->lz));
	if (!err)
		oracle_durable(&w->oracle, moment);
	learn_states();
	drop();
}

/* A look at all blocks by who wants nothing but to know: not all of it is durable. */
static void look(void)
{
	w->trying = true;
	users_verify(w, true);
	w->trying = false;
}

static void cut(void)
{
	learn_states();
	drive_cut(w->d, true);
	trace(w, "CUT");
	users_forget(w);
	host_forget(w);
	w->lz_ready = false;
	arena_reset();
}

/*
 * Power fails. What is left is found out without faults; with them it must be the
 * same, once that can be loaded.
 */
static void cut_and_load(void)
{
	bool on = site.on, was_armed = armed;

	cut();
	site.on = false;
	armed = false;
	if (try_load(true)) {
		users_verify(w, false);
		drop();
	} else if (!w->may_die && !w->unreadable) {
		world_fail(w, "cannot be loaded read-only");
	}
	w->d->read_only = false;
	site.on = on;
	armed = was_armed;
	load();
	if (w->lz)
		look();
}

static void check_line(void *ctx, const char *line)
{
	trace(w, "check    %s", line);
	snprintf(why, sizeof(why), "%s", line);
}

static void check(void)
{
	struct lz_check_report r = { .say = check_line };
	int err;

	if (!try_load(true))
		world_fail(w, "cannot be loaded read-only");
	w->d->reads_anywhere = true;
	err = lz_check(w->lz, &r);
	w->d->reads_anywhere = false;
	if (err || r.errors) {
		char first[300];

		snprintf(first, sizeof(first), "%s", why);
		world_fail(w, "lz_check: %d, %llu errors: %s", err,
			   (unsigned long long)r.errors, first);
	}
	drop();
	w->d->read_only = false;
}

/* --- the scripts ------------------------------------------------------------------------- */

static const struct load base = {
	.write = 600, .read = 100, .flush = 30, .discard = 20, .fua = 30, .len = 6, .depth = 4,
	.classes = 3, .user_weight = 3, .drive_weight = 10, .run_weight = 10, .step_ns = 2000,
	.hot_blocks = 1,
};

static void mix(struct load *l, u32 write, u32 flush, u32 checkpoint, u32 gc)
{
	*l = base;
	l->write = write;
	l->flush = flush;
	l->checkpoint = checkpoint;
	l->gc = gc;
}

/* Every block written, then @over blocks again, so that GC has something to do. */
static void fill(u32 over)
{
	struct load l = base;

	l.read = 0;
	l.discard = 0;
	l.stride = 6;
	l.len = 6;
	use(&l, w->nr / 3);
	l.stride = 0;
	use(&l, over);
	drain();
}

static void script_write(void)
{
	struct load l = base;

	use(&l, 40);
	drain();
	armed = true;
	use(&l, 60);
	drain();
}

static void script_commit(void)
{
	struct load l;

	mix(&l, 300, 300, 0, 0);
	use(&l, 20);
	armed = true;
	use(&l, 100);
	drain();
}

static void script_checkpoint(void)
{
	struct load l;

	w->few_leaves = true;
	fill(0);
	unload();
	load();
	mix(&l, 300, 10, 200, 0);
	armed = true;
	use(&l, 50);
	drain();
}

static void script_gc(void)
{
	struct load l;

	fill(w->nr / 4);
	mix(&l, 600, 10, 0, 30);
	armed = true;
	use(&l, 60);
	drain();
}

static void script_full(void)
{
	struct load l;

	w->few_leaves = true;
	fill(w->nr);
	mix(&l, 600, 2, 0, 0);
	l.discard = 0;
	armed = true;
	use(&l, 60);
	drain();
}

static void script_reload(void)
{
	struct load l = base;

	fill(30);
	use(&l, 40);
	armed = true;
	unload();
	load();
	if (w->lz)
		use(&l, 10);
}

static void script_recovery(void)
{
	struct load l;
	u32 i;

	fill(30);
	for (i = 0; i < 3; i++) {
		mix(&l, 300, 50, 0, 0);
		use(&l, 60);
		armed = true;
		if (!w->lz)
			return;
		cut_and_load();
	}
	use(&l, 10);
}

/* Both root zones have been in use, and the newest root is in the middle of one. */
static void script_old_roots(void)
{
	struct load l;

	fill(0);
	mix(&l, 300, 20, 300, 0);
	while (lz_stat(w->lz, LZ_ST_ROOT_ROLLS) < 3)
		use(&l, 1);
	mix(&l, 300, 20, 50, 0);
	use(&l, 300);
	armed = true;
	cut_and_load();
	use(&l, 10);
}

static void script_roots(void)
{
	struct load l;
	u64 rolls;

	mix(&l, 300, 10, 300, 0);
	while (peek_root_room(w->lz) > 4)
		use(&l, 1);
	rolls = lz_stat(w->lz, LZ_ST_ROOT_ROLLS);
	armed = true;
	while (w->lz && lz_stat(w->lz, LZ_ST_ROOT_ROLLS) == rolls && !w->dead)
		use(&l, 1);
	use(&l, 5);
	drain();
}

/* A wide map, written to in one place only: old nodes have to be cleaned out. */
static void script_meta_clean(void)
{
	struct load l = base;

	l.read = 0;
	l.discard = 0;
	l.stride = 12;
	use(&l, w->nr / 12);
	mix(&l, 300, 10, 300, 0);
	l.discard = 0;
	l.hot = 1000;
	l.hot_blocks = 40;
	while (!(lz_phase(w->lz) & LZ_PH_META_CLEAN))
		use(&l, 1);
	armed = true;
	use(&l, 12);
	drain();
}

static void script_format(void)
{
	struct load l = base;
	int err;

	unload();
	cut();
	drive_erase(w->d);
	oracle_exit(&w->oracle);
	oracle_init(&w->oracle, w->nr);
	memset(zone_state, 0, sizeof(zone_state));
	zone_state[0] = LZ_ZS_ROOT;
	zone_state[1] = LZ_ZS_ROOT;
	armed = true;
	w->d->reads_anywhere = true;
	w->wait_cmds = 0;
	err = lz_format(&w->g, &w->si, NULL, &host_ops, w);
	if (arena_live())
		world_fail(w, "%zu allocations leaked by lz_format", arena_live());
	host_forget(w);
	arena_reset();
	if (err && (!child || w->damaged))
		world_fail(w, "lz_format: %d", err);
	if (err) {
		site.on = false;
		drive_erase(w->d);
		err = lz_format(&w->g, &w->si, NULL, &host_ops, w);
		if (err && site.how < DRIVE_ERR_READONLY)
			world_fail(w, "a second lz_format: %d", err);
		if (err)
			exit(0);
		host_forget(w);
		arena_reset();
	}
	load();
	if (w->lz)
		use(&l, 10);
}

/*
 * With six zones open or more journal and nodes have zones of their own. With fewer faults than
 * @least, about half of the fewest of 60 seeds, a script does not do what it is for.
 */
static const struct script {
	const char *name;
	u32 nr_zones;
	u32 zone_blocks;
	u32 max_open;
	u32 least;
	void (*run)(void);
} scripts[] = {
	{ "write", 44, 32, 8, 300, script_write },
	{ "commit", 44, 32, 8, 300, script_commit },
	{ "commit, 4 open", 44, 32, 4, 300, script_commit },
	{ "checkpoint", 44, 32, 8, 500, script_checkpoint },
	{ "checkpoint, 4 open", 44, 32, 4, 500, script_checkpoint },
	{ "roots", 44, 32, 8, 75, script_roots },
	{ "metadata cleaning", 400, 16, 8, 115, script_meta_clean },
	{ "GC", 44, 32, 8, 480, script_gc },
	{ "full, 4 open", 44, 32, 4, 880, script_full },
	{ "stop and load", 44, 32, 8, 240, script_reload },
	{ "recovery", 44, 32, 8, 1300, script_recovery },
	{ "recovery, 4 open", 44, 32, 4, 1300, script_recovery },
	{ "recovery, old roots", 44, 32, 8, 225, script_old_roots },
	{ "format", 44, 32, 8, 270, script_format },
};

/* What it must come to, whatever it was. */
static void aftermath(void)
{
	struct load l = base;
	bool stopped = false;

	armed = false;
	if (w->lz) {
		drain();
		if (site.how == DRIVE_ERR_RESET)
			hear();
		look();
	}
	if (w->lz && nr_sites % 2) {
		unload();
		stopped = !w->dead;
	}
	trace(w, "the fault is over");
	site.on = false;
	cut();
	w->erring = site.how >= DRIVE_ERR_READONLY;
	w->unreadable &= site.how >= DRIVE_ERR_OFFLINE;
	w->may_die &= w->erring;
	if (!try_load(false)) {
		/* A zone is gone for good. */
		if (!w->may_die && !w->unreadable)
			world_fail(w, "after the fault it cannot be loaded");
		return;
	}
	users_verify(w, stopped);
	use(&l, 20);
	unload();
	if (!w->may_die && !w->unreadable)
		check();
}

static void make_world(const struct script *s)
{
	char reason[200];

	memset(w, 0, sizeof(*w));
	w->why = why;
	w->why_size = sizeof(why);
	w->t = calloc(1, sizeof(*w->t));
	w->run = calloc(1, sizeof(*w->run));
	rnd_seed(&w->rnd, opt.seed, script);
	w->wait_cut = -1;
	w->trying = false;
	w->g = (struct lz_geometry){
		.nr_zones = s->nr_zones, .zone_blocks = s->zone_blocks,
		.zone_cap = s->zone_blocks * 7 / 8, .max_open = s->max_open, .max_append = 8,
	};
	w->si = (struct lz_super_info){ .spare_permille = 100, .version = LZ_FORMAT_VERSION };
	if (lz_layout(&w->g, &w->si, reason, sizeof(reason)))
		world_fail(w, "%s", reason);
	w->nr = w->si.logical_blocks;
	w->d = drive_new(&w->g, script);
	w->d->fail = world_fail;
	w->d->ctx = w;
	w->report = calloc(w->g.nr_zones, sizeof(*w->report));
	w->failed = calloc(w->g.nr_zones, sizeof(*w->failed));
	w->gone = calloc(w->nr, sizeof(*w->gone));
	w->d->lost = drive_lost;
	lz_options_default(&w->o);
	w->o.commit_ms = 20;
	oracle_init(&w->oracle, w->nr);
	users_init(w);
	w->d->reads_anywhere = true;
	if (lz_format(&w->g, &w->si, NULL, &host_ops, w))
		world_fail(w, "lz_format");
	host_forget(w);
	arena_reset();
	load();
	w->d->error = drive_error;
	arena_fails = alloc_fails;
}

static void free_world(void)
{
	arena_fails = NULL;
	oracle_exit(&w->oracle);
	drive_free(w->d);
	host_exit(&w->ios);
	free(w->report);
	free(w->failed);
	free(w->gone);
	free(w->t);
	free((void *)w->run);
}

static void print_sites(double seconds)
{
	u32 i, sites = 0;

	for (i = 0; i < NR_KINDS; i++)
		sites += of_kind[i];
	printf("%s %-20s %u sites, %u faults, %u failed, %.1f s\n", failures ? "FAIL" : "ok  ",
	       scripts[script].name, sites, nr_sites, failures, seconds);
	printf("    ");
	for (i = 0; i < NR_KINDS; i++)
		if (of_kind[i])
			printf(" %u %s", of_kind[i], kind_name(i));
	printf("\n     in");
	for (i = 0; i < NR_PHASES; i++)
		if (of_phase[i])
			printf(" %s %u", phase_names[i], of_phase[i]);
	printf(" none %u\n", outside);
}

static double now_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* In the children too: a branch ends where the script does. */
static void run_script(void)
{
	double start = now_seconds();
	u32 i;

	nr_sites = 0;
	failures = 0;
	outside = 0;
	memset(of_kind, 0, sizeof(of_kind));
	memset(of_phase, 0, sizeof(of_phase));
	site = (struct site){};
	armed = false;
	w->lz = NULL;
	if (setjmp(w->on_fail))
		failed(why);
	make_world(&scripts[script]);
	if (setjmp(w->on_fail))
		failed(why);
	scripts[script].run();
	aftermath();
	if (child)
		exit(0);
	free_world();
	for (i = 0; i < opt.jobs; i++)
		while (pids[i])
			reap();
	print_sites(now_seconds() - start);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "jobs", required_argument, NULL, 'j' },
		{ "every", required_argument, NULL, 'e' },
		{ "script", required_argument, NULL, 's' },
		{ "site", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 'S' },
		{ "trace", no_argument, NULL, 'v' },
		{ "plant", required_argument, NULL, 'p' },
		{}
	};
	static const int sigs[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGVTALRM };
	u32 passed = 0, bad = 0, phases[NR_PHASES] = {}, faults = 0, i;
	bool few;
	int c;

	setlinebuf(stdout);
	opt.self = argv[0];
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'j':
			opt.jobs = strtoul(optarg, NULL, 0);
			break;
		case 'e':
			opt.every = max(1ul, strtoul(optarg, NULL, 0));
			break;
		case 's':
			opt.script = strtoul(optarg, NULL, 0);
			break;
		case 'n':
			opt.site = strtoul(optarg, NULL, 0);
			break;
		case 'S':
			opt.seed = strtoull(optarg, NULL, 0);
			break;
		case 'v':
			opt.trace = true;
			break;
		case 'p':
			if (!plant_set(optarg))
				return 2;
			break;
		default:
			printf("lzfault [--jobs J] [--every N] [--seed S] [--plant NAME]\n"
			       "        [--script S [--site N] [--trace]]\n");
			return 2;
		}
	}
	if (!opt.jobs)
		opt.jobs = sysconf(_SC_NPROCESSORS_ONLN);
	opt.jobs = min(opt.jobs, MAX_JOBS);
	whys = mmap(NULL, MAX_JOBS * sizeof(whys[0]), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	w = calloc(1, sizeof(*w));
	if (whys == MAP_FAILED || !w)
		abort();
	for (i = 0; i < ARRAY_SIZE(sigs); i++)
		signal(sigs[i], on_signal);
	for (script = 0; script < ARRAY_SIZE(scripts); script++) {
		if (opt.script != ~0u && script != opt.script)
			continue;
		run_script();
		few = opt.site == ~0u && nr_sites < scripts[script].least;
		if (few)
			printf("FAIL %s: %u faults, at least %u wanted\n",
			       scripts[script].name, nr_sites, scripts[script].least);
		passed += !failures && !few;
		bad += failures || few;
		faults += nr_sites;
		for (i = 0; i < NR_PHASES; i++)
			phases[i] += of_phase[i];
	}
	printf("%u faults\n", faults);
	for (i = 0; opt.script == ~0u && i < NR_PHASES; i++) {
		if (phases[i])
			continue;
		printf("FAIL no site in %s\n", phase_names[i]);
		bad++;
	}
	free(w);
	printf("%u passed, %u failed, 0 skipped\n", passed, bad);
	return bad != 0;
}
