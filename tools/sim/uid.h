/* SPDX-License-Identifier: GPL-2.0-only */
/* MiDAS's model of a load, and the groups that are best by it: see uid.c. */
#ifndef LIFEZONE_SIM_UID_H
#define LIFEZONE_SIM_UID_H

#include "../../dm-lifezone/core/port.h"

#define UID_GROUPS	9u	/* there may be, HOT left out */

/**
 * struct uid_groups - groups, and what is expected of them
 * @hot: zones of HOT
 * @n: groups G1 to Gn
 * @size: their zones; the last has what is left
 * @valid: part of a victim's blocks that is valid
 * @wa: write amplification
 */
struct uid_groups {
	u32 hot;
	u32 n;
	u32 size[UID_GROUPS];
	double valid[UID_GROUPS];
	double wa;
};

/**
 * struct uid - the update interval distribution
 * @zones: to be shared out
 * @cap: their capacity (blocks)
 * @unit: of intervals (blocks users write)
 * @units: of the epoch, and intervals that are told apart
 * @count: by interval, the writes that ended one of this length
 * @below: sum of @count below it
 * @area: sum of @below up to it, itself left out but for its end
 * @span: sum of @count times interval below it
 * @used: blocks in use
 * @still: of these, in zones of which nothing has died
 * @traffic: part of what users write that goes to HOT, as measured
 * @hot_valid: valid part of HOT's victims, as measured
 * @hot_zones: zones of HOT, as measured
 */
struct uid {
	u32 zones;
	u32 cap;
	u32 unit;
	u32 units;
	double *count;
	double *below;
	double *area;
	double *span;
	double used;
	double still;
	double traffic;
	double hot_valid;
	double hot_zones;
};

/* For epochs of @writes blocks. 0 or -ENOMEM; uid_exit() in either case. */
int uid_init(struct uid *u, u32 zones, u32 cap, u64 writes);
void uid_exit(struct uid *u);
/* A write ends an interval of so many blocks. */
void uid_add(struct uid *u, u64 interval);
/* The epoch has ended: corrects for what it cut off, and adds up. */
void uid_close(struct uid *u);
/* And another begins. */
void uid_open(struct uid *u);
/* What is expected of @g, whose hot, n and size are set; false: it cannot be, or be told. */
bool uid_expect(const struct uid *u, struct uid_groups *g);
/* The best of up to @most groups; false: there are none. */
bool uid_best(const struct uid *u, u32 most, struct uid_groups *g);

#endif /* LIFEZONE_SIM_UID_H */
