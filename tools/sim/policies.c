// SPDX-License-Identifier: GPL-2.0-only
/* The policies there are, in the order in which they are listed. */
#include "sim.h"

const struct sim_policy *const sim_policies[] = {
	&sim_zenfs, &sim_wla, &sim_sla, &sim_adaptive, &sim_caza, &sim_one, &sim_split,
	&sim_split_greedy, &sim_dac, &sim_sepbit, &sim_midas, &sim_xfs, &sim_perfect,
	&sim_rates, &sim_oracle, NULL,
};
