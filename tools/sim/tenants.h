/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads that share a device. */
#ifndef LIFEZONE_TENANTS_H
#define LIFEZONE_TENANTS_H

#include "sim.h"

struct tenants;

/**
 * tenants_new - loads that share a device
 * @text: their descriptions, with a + between two
 * @turns: one writes as many blocks as the device has, then the next does; else all at once
 * @blocks: logical blocks of all of them
 * @seed: of the first; others have the next ones
 * @why: set to one line about what is wrong with @text
 *
 * Return: NULL with *@why set, or without it where there is no memory.
 */
struct tenants *tenants_new(const char *text, bool turns, u32 blocks, u64 seed, const char **why);
void tenants_free(struct tenants *t);
/* As load_writers(), load_next(), load_rate() and load_epoch(). */
u32 tenants_writers(const struct tenants *t);
bool tenants_next(struct tenants *t, struct sim_req *req);
double tenants_rate(const struct tenants *t, u32 lba);
u64 tenants_epoch(const struct tenants *t);

#endif /* LIFEZONE_TENANTS_H */
