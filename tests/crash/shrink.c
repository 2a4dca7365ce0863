// SPDX-License-Identifier: GPL-2.0-only
/*
 * A failure is worth the more the less led to it. What leads to one is drawn, so nothing
 * can be left out of it and the rest kept; instead worlds are drawn anew from less: fewer
 * requests between two cuts, one at a time, none of a kind, no faults. Each step is kept
 * if some world fails as the first one did and after no more requests.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "shrink.h"

#define WORLDS	200u	/* run in a step, at most */
#define SECONDS	0.5	/* of processor time for it, at most */

static const u32 fewer[] = { 100, 50, 25, 12, 6, 3, 1 };

/* Of one kind? What follows the first number says only where. */
static bool same(const char *a, const char *b)
{
	size_t n = strcspn(a, "0123456789");

	return n == strcspn(b, "0123456789") && !memcmp(a, b, n);
}

/* Processor time of the worlds that were run (seconds). */
static double worked(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return u.ru_utime.tv_sec + u.ru_utime.tv_usec / 1e6;
}

/* Runs one world in a process of its own; true if it fails like @like. */
static bool fails(u32 index, const struct failure *like, struct failure *fail, u64 *requests)
{
	pid_t pid;
	int status;

	workers_begin();
	pid = worker_start(0);
	if (!pid)
		exit(!run_one(index));
	waitpid(pid, &status, 0);
	*fail = sh->w[0].fail;
	*requests = sh->w[0].t.ops;
	return fail->index != ~0u && same(fail->why, like->why);
}

/*
 * If a world of @less, which is not what there is, fails like @best, after no more than @most
 * requests: that is it, then.
 */
static void step(const struct run *less, struct failure *best, u64 *most)
{
	double end = worked() + SECONDS;
	struct failure fail, like = *best;
	struct run more = current;
	bool found = false;
	u64 requests;
	u32 i;

	if (!memcmp(less, &current, sizeof(current)))
		return;
	current = *less;
	for (i = 0; i < WORLDS && worked() < end; i++) {
		if (!fails(i, &like, &fail, &requests) || requests > *most ||
		    (found && requests == *most))
			continue;
		*best = fail;
		*most = requests;
		found = true;
	}
	if (!found)
		current = more;
}

u64 shrink(struct failure *fail)
{
	struct failure first = *fail;
	u64 requests, most;
	struct run less;
	u32 i;

	/* Once more, to count its requests. */
	if (!fails(first.index, &first, fail, &requests)) {
		*fail = first;
		return sh->w[0].t.ops;
	}
	/* Again while it helps: in a world of less what took many requests may take few. */
	do {
		most = requests;
		for (i = 0; i < ARRAY_SIZE(fewer); i++) {
			less = current;
			less.ops = less.ops ? min(less.ops, fewer[i]) : fewer[i];
			step(&less, fail, &requests);
		}
		for (i = 0; i < NR_WITHOUT; i++) {
			less = current;
			less.without |= 1u << i;
			step(&less, fail, &requests);
		}
		less = current;
		less.depth = 1;
		step(&less, fail, &requests);
		less = current;
		less.small = !less.deep;
		step(&less, fail, &requests);
	} while (requests < most && requests > 1);
	return requests;
}
