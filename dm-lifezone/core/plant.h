/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Planted bugs: with LZ_PLANTS defined, the variable lz_plant turns on one
 * deliberate fault of those in plants.h, which the tests must find. Without it
 * nothing is compiled in.
 */
#ifndef LIFEZONE_PLANT_H
#define LIFEZONE_PLANT_H

#define LZ_PLANT(name, ...)	LZ_PLANT_##name,
enum lz_plant_id {
	LZ_PLANT_NONE,
#include "plants.h"
	LZ_NR_PLANTS
};

#undef LZ_PLANT

#ifdef LZ_PLANTS
extern int lz_plant;
#define lz_planted(id)	unlikely(lz_plant == (id))
#else
#define lz_planted(id)	((void)(id), false)
#endif

#endif /* LIFEZONE_PLANT_H */
