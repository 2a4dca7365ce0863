// SPDX-License-Identifier: GPL-2.0-only
/*
 * lzcrash: runs worlds until so many power cuts have been survived or one has not.
 *
 * --suite runs the clean campaign, judges its coverage of core's phases, then
 * runs core with each of its planted bugs, which must be found.
 *
 * What fails is shortened (shrink.c), unless --as-is.
 *
 * --export leaves images of drives, as some of the cuts leave them, for readers
 * other than core.
 */
#include <getopt.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "planted.h"
#include "shrink.h"

#define REPLAYED	10u	/* worlds */
#define SHORT		20u	/* requests that are enough for the bug shortens() plants */
#define PLANT_CUTS	5000000u	/* to find a planted bug in, time permitting */
#define SHARES_FROM	500000u	/* cuts from which on they tell where cuts fall */
#ifdef LZ_TINY
#define OURS		TINY	/* planted bugs that it is to find */
#else
#define OURS		CORE
#endif

static struct {
	u64 cuts;
	u32 world;
	u32 seconds;
	bool suite;
	bool as_is;
	const char *self;
} opt = { .cuts = 1000, .world = ~0u };

static double now_seconds(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

static void print_failure(const struct failure *f)
{
	u32 i;

	printf("world %u failed after cut %u: %s\n", f->index, f->cut, f->why);
	printf("replay: %s --seed %lu --world %u --trace-from %u", opt.self,
	       current.seed, f->index, f->cut ? f->cut - 1 : 0);
	if (current.trials)
		printf(" --trials %u", current.trials);
	if (current.lives)
		printf(" --lives %u", current.lives);
	if (current.deep || current.small)
		printf(" --%s", current.deep ? "deep" : "small");
	if (current.ops)
		printf(" --ops %u", current.ops);
	if (current.depth)
		printf(" --depth %u", current.depth);
	for (i = 0; i < NR_WITHOUT; i++)
		if (current.without >> i & 1)
			printf(" --without %s", without_name(i));
	if (lz_plant)
		printf(" --plant %s", plant_name(lz_plant));
	putchar('\n');
}

/* Then a shorter way to it. */
static void report(const struct failure *f)
{
	struct run whole = current;
	struct failure less = *f;
	u64 requests;

	print_failure(f);
	if (opt.as_is)
		return;
	requests = shrink(&less);
	printf("shortened to %lu requests:\n", requests);
	print_failure(&less);
	current = whole;
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

/* As worlds are drawn the first cut, and so the first failure, comes after 200 requests. */
static bool shortens(void)
{
	struct run whole = current;
	struct failure fail;
	u64 cuts, requests;
	struct tally t;
	bool ok;

	lz_plant = LZ_PLANT_FLUSH_WITHOUT_COMMIT;
	ok = !campaign(PLANT_CUTS, CLOCK_PROCESS_CPUTIME_ID, 60, &t, &fail, &cuts);
	if (ok) {
		requests = shrink(&fail);
		ok = requests <= SHORT;
		printf("%s shortened to %lu requests: %s\n", ok ? "ok  " : "FAIL", requests,
		       fail.why);
		if (!ok)
			print_failure(&fail);
	}
	lz_plant = LZ_PLANT_NONE;
	current = whole;
	return ok;
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
		report(&fail);
	passed += ok;
	failed += !ok;
	ok = replays(&fail);
	printf("%s worlds replayed\n", ok ? "ok  " : "FAIL");
	if (!ok && fail.index != ~0u)
		print_failure(&fail);
	passed += ok;
	failed += !ok;
	/* Once is enough: it is no matter of core's sizes. */
	if (OURS == CORE) {
		ok = shortens();
		passed += ok;
		failed += !ok;
	}
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
			       opt.seconds ?: 240, &t, &fail, &cuts);
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
		report(&fail);
	return !ok;
}

static void usage(void)
{
	printf("lzcrash [--cuts N] [--seed S] [--jobs J] [--seconds S]\n"
	       "        [--world W [--trace | --trace-from CUT]] [--plant NAME] [--suite]\n"
	       "        [--trials N] [--lives N] [--export DIR [--every CUTS]] [--deep | --small]\n"
	       "        [--ops N] [--depth N] [--without KIND]... [--as-is]\n"
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
		{ "ops", required_argument, NULL, 'o' },
		{ "depth", required_argument, NULL, 'd' },
		{ "without", required_argument, NULL, 'W' },
		{ "as-is", no_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	u32 i;
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
			nr_jobs = strtoul(optarg, NULL, 0);
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
		case 'o':
			current.ops = strtoul(optarg, NULL, 0);
			break;
		case 'd':
			current.depth = strtoul(optarg, NULL, 0);
			break;
		case 'W':
			if (!without_bit(optarg)) {
				fprintf(stderr, "--without %s: one of", optarg);
				for (i = 0; i < NR_WITHOUT; i++)
					fprintf(stderr, " %s", without_name(i));
				fputc('\n', stderr);
				return 2;
			}
			current.without |= without_bit(optarg);
			break;
		case 'a':
			opt.as_is = true;
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
	if (!nr_jobs || nr_jobs > MAX_JOBS)
		nr_jobs = min_t(u32, sysconf(_SC_NPROCESSORS_ONLN), MAX_JOBS);
	workers_init();
	return opt.suite ? suite() : single();
}
