/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Worlds run by several processes. World number i of a campaign depends on the seed
 * and i alone, and the failure reported is that of the lowest number, so the result
 * is the same for any number of them.
 */
#ifndef LZCRASH_WORKERS_H
#define LZCRASH_WORKERS_H

#include <sys/types.h>
#include <time.h>
#include "world.h"

#define MAX_JOBS	256u

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
 * @w: the workers
 */
struct shared {
	u32 next;
	u32 limit;
	struct worker w[MAX_JOBS];
};

extern struct run current;		/* how to run worlds */
extern struct worker *me;
extern struct shared *sh;
extern u32 nr_jobs;

void workers_init(void);
void workers_begin(void);
/* As fork(): the child is the worker @i. */
pid_t worker_start(u32 i);
/* False if it failed; @me has how. */
bool run_one(u32 index);

/**
 * campaign - runs worlds until @cuts cuts, or one has failed
 * @cuts: that many
 * @clock: of @seconds
 * @seconds: or so long in each worker; 0: however long
 * @t: what they added up to
 * @fail: the failure, if any
 * @cuts_done: the cuts up to it, or all
 *
 * Return: whether all survived.
 */
bool campaign(u64 cuts, clockid_t clock, u32 seconds, struct tally *t, struct failure *fail,
	      u64 *cuts_done);
double seconds_of(clockid_t clock);

#endif /* LZCRASH_WORKERS_H */
