/* SPDX-License-Identifier: GPL-2.0-only */
/* A trace of the module's decisions, taken once more by the simulator: see follow.c. */
#ifndef LIFEZONE_SIM_FOLLOW_H
#define LIFEZONE_SIM_FOLLOW_H

#include "sim.h"

/**
 * struct sim_followed - what was compared
 * @places: placements, of users' data and of GC's
 * @finishes: of these, such that finish a zone
 * @victims: choices of a zone to clean
 * @resets: looks at a zone without valid data
 * @differ: decisions that differ, and events that say something else of a zone than those before
 */
struct sim_followed {
	u64 places;
	u64 finishes;
	u64 victims;
	u64 resets;
	u64 differ;
};

/**
 * sim_follow - take the decisions of a trace once more
 * @path: of the trace, as text
 * @p: the policy of the device, one of the module's
 * @setup: its geometry and options
 * @say: called with each difference
 * @n: set to what was compared
 * @why: set to one line about what is wrong with the trace
 *
 * Return: 0, or -ENOMEM, or -EINVAL with *@why set. Differences are no error.
 */
int sim_follow(const char *path, const struct sim_policy *p, const struct sim_setup *setup,
	       void (*say)(u64 line, const char *text), struct sim_followed *n, const char **why);

#endif /* LIFEZONE_SIM_FOLLOW_H */
