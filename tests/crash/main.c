// SPDX-License-Identifier: GPL-2.0-only
/*
 * lzcrash: runs worlds, over several processes, until so many power cuts have
 * been survived or one has not. World number i of a campaign depends on the seed
 * and i alone, and the failure reported is that of the lowest number, so the
 * result is the same for any number of jobs.
 *
 * --suite runs the clean campaign, judges its coverage of core's phases, then
 * runs core with each of its planted bugs, which must be found.
 *
 * --export leaves images of drives, as some of the cuts leave them, for readers
 * other than core.
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

#define STUCK_SECONDS	3u	/* of processor time without a cut */
#define MAX_JOBS	256u
#define REPLAYED	10u	/* worlds */
#define PLANT_CUTS	5000000u	/* to find a planted bug in, time permitting */
#define SHARES_FROM	500000u	/* cuts from which on they tell where cuts fall */
#ifdef LZ_TINY
#define OURS		TINY	/* planted bugs that it is to find */
#else
#define OURS		CORE
#endif

/**
 * struct failure - a world that failed
 * @index: its number, ~0: none
 * @cut: the cut after which it did
 * @why: one line
 */
struct failure {
	u32 index;
	u32 cut;
	char why[480];
};

/**
 * struct worker - what a worker process leaves behind
 * @t: what its worlds added up to
 * @fail: the failure that ended it
 */
struct worker {
	struct tally t;
	struct failure fail;
};

/**
 * struct shared - memory of all workers
 * @next: number of the next world
 * @limit: no world from this number on need be run
 */
struct shared {
	u32 next;
	u32 limit;
	struct worker w[MAX_JOBS];
};

static struct {
	u64 cuts;
	u32 jobs;
	u32 world;
	u32 seconds;
	bool suite;
	const char *self;
} opt = { .cuts = 1000, .jobs = 1, .world = ~0u };

static struct worker *me;
static struct run current = { .trace_from = ~0u, .every = 1 };
static struct shared *sh;

static double seconds_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static double now_seconds(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

static void set_failure(const char *why)
{
	u32 limit;

	me->fail.index = current.index;
	me->fail.cut = world_cut_now;
	snprintf(me->fail.why, sizeof(me->fail.why), "%s", why);
	limit = __atomic_load_n(&sh->limit, __ATOMIC_SEQ_CST);
	while (current.index < limit &&
	       !__atomic_compare_exchange_n(&sh->limit, &limit, current.index, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

/* An assertion, a wild pointer or an endless loop in core. */
static void on_signal(int sig)
{
	char why[80];

	snprintf(why, sizeof(why), "%s", sig == SIGABRT ? "assertion failed" :
		 sig == SIGVTALRM ? "stuck in an endless loop" :
		 sig == SIGSEGV ? "segmentation fault" : "killed by a signal");
	set_failure(why);
	_exit(2);
}

/* No cut since the last time? */
static void on_alarm(int sig)
{
	static u32 index = ~0u, cut;

	if (index == current.index && cut == world_cut_now)
		on_signal(sig);
	index = current.index;
	cut = world_cut_now;
}

static void catch_signals(void)
{
	static const int sigs[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
	u32 i;

	signal(SIGVTALRM, on_alarm);
	for (i = 0; i < ARRAY_SIZE(sigs); i++)
		signal(sigs[i], on_signal);
}

static void arm_watchdog(void)
{
	struct itimerval it = {
		.it_value.tv_sec = STUCK_SECONDS, .it_interval.tv_sec = STUCK_SECONDS,
	};

	setitimer(ITIMER_VIRTUAL, &it, NULL);
}

/* As fork(): the child is the worker @i. */
static pid_t worker_start(u32 i)
{
	pid_t pid;

	me = &sh->w[i];
	me->fail.index = ~0u;
	pid = fork();
	if (pid < 0)
		abort();
	if (!pid) {
		catch_signals();
		arm_watchdog();
	}
	return pid;
}

static void workers_begin(void)
{
	memset(sh, 0, sizeof(*sh));
	sh->limit = ~0u;
	fflush(stdout);
}

static bool run_one(u32 index)
{
	char why[480];
	bool ok;

	current.index = index;
	ok = world_run(&current, &me->t, why, sizeof(why));
	if (!ok)
		set_failure(why);
	return ok;
}

static void work(u32 nr_worlds, clockid_t clock, u32 seconds)
{
	double deadline = seconds_of(clock) + seconds;
	u32 i;

	while (!seconds || seconds_of(clock) < deadline) {
		i = __atomic_fetch_add(&sh->next, 1, __ATOMIC_SEQ_CST);
		if (i >= nr_worlds || i >= __atomic_load_n(&sh->limit, __ATOMIC_SEQ_CST))
			return;
		if (!run_one(i))
			return;
	}
}

static void add_tally(struct tally *to, const struct tally *t)
{
	u32 i;

	to->cuts += t->cuts;
	to->distinct += t->distinct;
	for (i = 0; i < NR_PHASES; i++)
		to->phase[i] += t->phase[i];
	to->ops += t->ops;
	to->steps += t->steps;
	to->checks += t->checks;
	to->reloads += t->reloads;
	to->refused += t->refused;
}

/*
 * Runs worlds until @cuts cuts, or, if not 0, @seconds of @clock in each worker; true if all
 * survived. In @cuts_done the cuts up to the failure, or all.
 */
static bool campaign(u64 cuts, clockid_t clock, u32 seconds, struct tally *t,
		     struct failure *fail, u64 *cuts_done)
{
	u32 i, nr_worlds = 0;
	pid_t pid[MAX_JOBS];
	bool lost = false;
	u64 sum = 0;
	int status;

	while (sum < cuts)
		sum += world_cuts(&current, nr_worlds++);
	workers_begin();
	for (i = 0; i < opt.jobs; i++) {
		pid[i] = worker_start(i);
		if (!pid[i]) {
			work(nr_worlds, clock, seconds);
			exit(0);
		}
	}
	memset(t, 0, sizeof(*t));
	fail->index = ~0u;
	for (i = 0; i < opt.jobs; i++) {
		waitpid(pid[i], &status, 0);
		add_tally(t, &sh->w[i].t);
		if (sh->w[i].fail.index < fail->index)
			*fail = sh->w[i].fail;
		/* Killed, or ended by a sanitizer: it may have had no time to say where. */
		if (!WIFEXITED(status) || (WEXITSTATUS(status) && sh->w[i].fail.index == ~0u)) {
			fprintf(stderr, "a worker died, status 0x%x; seed %lu\n", status,
				current.seed);
			lost = true;
		}
	}
	*cuts_done = t->cuts;
	if (fail->index == ~0u) {
		/* That is neither a clean campaign nor a planted bug found. */
		if (lost)
			exit(1);
		return true;
	}
	*cuts_done = fail->cut;
	for (i = 0; i < fail->index; i++)
		*cuts_done += world_cuts(&current, i);
	return false;
}

static void print_failure(const struct failure *f)
{
	printf("world %u failed after cut %u: %s\n", f->index, f->cut, f->why);
	printf("replay: %s --seed %lu --world %u --trace-from %u", opt.self,
	       current.seed, f->index, f->cut ? f->cut - 1 : 0);
	if (current.trials)
		printf(" --trials %u", current.trials);
	if (current.lives)
		printf(" --lives %u", current.lives);
	if (current.deep || current.small)
		printf(" --%s", current.deep ? "deep" : "small");
	if (lz_plant)
		printf(" --plant %s", plant_name(lz_plant));
	putchar('\n');
}

static void print_tally(const struct tally *t, double seconds)
{
	u32 i;

	printf("%lu cuts, %lu of them distinct, %.1f s, %.0f cuts/s\n", t->cuts, t->distinct,
	       seconds, t->cuts / seconds);
	printf("  %lu requests, %lu steps, %lu checks, %lu reloads\n", t->ops, t->steps,
	       t->checks, t->reloads);
	for (i = 0; i < NR_PHASES; i++)
		printf("  %-14s %6.2f %% of the cuts\n", phase_names[i],
		       100.0 * t->phase[i] / (t->cuts ? t->cuts : 1));
}

/* Some worlds, and the same once more: are they? */
static bool run_twice(void)
{
	struct tally t[2];
	u32 k, i;

	for (k = 0; k < 2; k++) {
		memset(&me->t, 0, sizeof(me->t));
		for (i = 0; i < REPLAYED; i++)
			if (!run_one(i))
				return false;
		t[k] = me->t;
	}
	return t[0].cuts == t[1].cuts && t[0].ops == t[1].ops && t[0].steps == t[1].steps;
}

/* A world is the same whatever was in memory before, or no failure could be replayed. */
static bool replays(struct failure *fail)
{
	pid_t pid;
	int status;

	workers_begin();
	pid = worker_start(0);
	if (!pid)
		exit(!run_twice());
	waitpid(pid, &status, 0);
	*fail = sh->w[0].fail;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static int suite(void)
{
	u32 passed = 0, failed = 0, skipped = 0, i;
	struct failure fail;
	struct tally t;
	double start;
	u64 cuts;
	bool ok;

	printf("seed %lu\n", current.seed);
	start = now_seconds();
	ok = campaign(opt.cuts, CLOCK_MONOTONIC, 0, &t, &fail, &cuts);
	print_tally(&t, now_seconds() - start);
	printf("%s clean campaign\n", ok ? "ok  " : "FAIL");
	if (!ok)
		print_failure(&fail);
	passed += ok;
	failed += !ok;
	ok = replays(&fail);
	printf("%s worlds replayed\n", ok ? "ok  " : "FAIL");
	if (!ok && fail.index != ~0u)
		print_failure(&fail);
	passed += ok;
	failed += !ok;
	for (i = 0; i < NR_PHASES; i++) {
		ok = t.cuts && t.phase[i] * 100 >= t.cuts;
		if (!ok && opt.cuts < SHARES_FROM) {
			printf("skip cuts inside %s: less than %u cuts are too few to tell\n",
			       phase_names[i], SHARES_FROM);
			skipped++;
			continue;
		}
		printf("%s cuts inside %s\n", ok ? "ok  " : "FAIL", phase_names[i]);
		passed += ok;
		failed += !ok;
	}
	/*
	 * The seconds to find a bug are those of a run on its own, hence one by one, and of
	 * processor time, as a guest may run beside it.
	 */
	for (i = 1; i < LZ_NR_PLANTS; i++) {
		if (plants[i].where != OURS)
			continue;
		lz_plant = i;
		start = now_seconds();
		ok = !campaign(PLANT_CUTS, CLOCK_PROCESS_CPUTIME_ID,
			       opt.seconds ? opt.seconds : 60, &t, &fail, &cuts);
		printf("%s planted %-24s ", ok ? "ok  " : "FAIL", plant_name(i));
		if (ok)
			printf("found at cut %-6lu %5.1f s  %s\n", cuts,
			       now_seconds() - start, fail.why);
		else
			printf("not found in %lu cuts\n", t.cuts);
		passed += ok;
		failed += !ok;
	}
	printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
	return failed != 0;
}

static int single(void)
{
	struct failure fail;
	struct tally t;
	double start = now_seconds();
	u64 cuts;
	bool ok;

	if (opt.world != ~0u) {
		me = &sh->w[0];
		me->fail.index = ~0u;
		ok = run_one(opt.world);
		if (!ok)
			print_failure(&me->fail);
		else
			print_tally(&me->t, now_seconds() - start);
		return !ok;
	}
	ok = campaign(opt.cuts, CLOCK_MONOTONIC, opt.seconds, &t, &fail, &cuts);
	print_tally(&t, now_seconds() - start);
	if (!ok)
		print_failure(&fail);
	return !ok;
}

static void usage(void)
{
	printf("lzcrash [--cuts N] [--seed S] [--jobs J] [--seconds S]\n"
	       "        [--world W [--trace | --trace-from CUT]] [--plant NAME] [--suite]\n"
	       "        [--trials N] [--lives N] [--export DIR [--every CUTS]] [--deep | --small]\n"
	       "lzcrash --plants\n");
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "cuts", required_argument, NULL, 'c' },
		{ "seed", required_argument, NULL, 's' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "seconds", required_argument, NULL, 't' },
		{ "world", required_argument, NULL, 'w' },
		{ "trace", no_argument, NULL, 'v' },
		{ "trace-from", required_argument, NULL, 'f' },
		{ "trials", required_argument, NULL, 'k' },
		{ "lives", required_argument, NULL, 'l' },
		{ "plant", required_argument, NULL, 'p' },
		{ "plants", no_argument, NULL, 'P' },
		{ "suite", no_argument, NULL, 'S' },
		{ "export", required_argument, NULL, 'x' },
		{ "every", required_argument, NULL, 'n' },
		{ "deep", no_argument, NULL, 'D' },
		{ "small", no_argument, NULL, 'm' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int c;

	setlinebuf(stdout);
	opt.self = argv[0];
#ifdef LZ_TINY
	/* So that commits have many blocks, and are sent in pieces. */
	lz_user_fill = 4;
#endif
	current.seed = (u64)time(NULL);
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			opt.cuts = strtoull(optarg, NULL, 0);
			break;
		case 's':
			current.seed = strtoull(optarg, NULL, 0);
			break;
		case 'j':
			opt.jobs = strtoul(optarg, NULL, 0);
			break;
		case 't':
			opt.seconds = strtoul(optarg, NULL, 0);
			break;
		case 'w':
			opt.world = strtoul(optarg, NULL, 0);
			break;
		case 'v':
			current.trace_from = 0;
			break;
		case 'f':
			current.trace_from = strtoul(optarg, NULL, 0);
			break;
		case 'k':
			current.trials = strtoul(optarg, NULL, 0);
			break;
		case 'l':
			current.lives = strtoul(optarg, NULL, 0);
			break;
		case 'p':
			if (!plant_set(optarg))
				return 2;
			break;
		case 'x':
			current.export = optarg;
			break;
		case 'D':
			current.deep = true;
			break;
		case 'm':
			current.small = true;
			break;
		case 'n':
			current.every = max(1ul, strtoul(optarg, NULL, 0));
			break;
		case 'P':
			plants_print();
			return 0;
		case 'h':
		default:
			usage();
			return c == 'h' ? 0 : 2;
		case 'S':
			opt.suite = true;
			break;
		}
	}
	if (!opt.jobs || opt.jobs > MAX_JOBS)
		opt.jobs = min_t(u32, sysconf(_SC_NPROCESSORS_ONLN), MAX_JOBS);
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sh == MAP_FAILED)
		abort();
	return opt.suite ? suite() : single();
}
