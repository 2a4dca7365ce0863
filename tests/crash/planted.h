/* SPDX-License-Identifier: GPL-2.0-only */
/* The bugs that can be planted in core, by name. */
#ifndef LZCRASH_PLANTED_H
#define LZCRASH_PLANTED_H

#include "../../dm-lifezone/core/port.h"
#include "../../dm-lifezone/core/plant.h"

/**
 * struct plant - a planted bug
 * @name: in capitals
 * @invariant: number of the invariant it breaks
 * @where: half of the module it is in: CORE, which is ours to find, or SHELL; TINY: in core,
 *	and for lzcrash-tiny to find, as the buffers of others are too large for their drives
 * @what: in a few words
 */
struct plant {
	const char *name;
	u32 invariant;
	enum { NOWHERE, CORE, SHELL, TINY } where;
	const char *what;
};

extern const struct plant plants[LZ_NR_PLANTS];

/* As it is given and printed. */
const char *plant_name(u32 id);
/* Plants it; false: there is none of that name, and that has been said. */
bool plant_set(const char *name);
/* The list of them, as reStructuredText. */
void plants_print(void);

#endif /* LZCRASH_PLANTED_H */
