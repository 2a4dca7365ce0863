// SPDX-License-Identifier: GPL-2.0-only
/*
 * caza: what tools/sim/caza.c makes of a few files, played as the simulator's load. Says in
 * which zone, by order of their first use, each file begins.
 */
#include <stdio.h>
#include <stdlib.h>
#include "../../tools/sim/sim.h"

struct step {
	u32 n;			/* blocks written, or, of a file that is gone, discarded */
	bool gone;
	u32 file;
	struct sim_keys keys;
};

static const struct step steps[] = {
	{ 10, false, 1, { 1, 0, 100 } },	/* the first: a new zone */
	{ 20, false, 2, { 1, 100, 200 } },	/* no keys in common: a new one */
	{ 10, false, 3, { 2, 50, 80 } },	/* with 1 */
	{ 5, false, 4, { 2, 90, 200 } },	/* with 2, which has more than 1 */
	{ 5, false, 5, { 4, 0, 200 } },		/* two levels away: a new one */
	{ 8, false, 6, { 1, 0, 100 } },		/* with 3 rather than 4 */
	{ 10, true, 3 },
	{ 4, false, 7, { 3, 60, 70 } },		/* 3 is gone, and 5 is next */
	{ 4, false, 8, { 3, 300, 400 } },	/* nothing: a new one, the last that may be open */
	{ 4, false, 9, { 2, 500, 600 } },	/* as in ZenFS: of a longer life than LONG */
};

struct load {
	u32 step;
	u32 at;
};

#define FILE_LBA(f)	((f) * 100)

struct load *load_new(const char *text, u32 blocks, u64 seed, const char **why)
{
	(void)text, (void)blocks, (void)seed;
	*why = NULL;
	return calloc(1, sizeof(struct load));
}

void load_free(struct load *l)
{
	free(l);
}

bool load_ends(const struct load *l)
{
	return l;
}

const char *load_wrong(const struct load *l)
{
	(void)l;
	return NULL;
}

bool load_next(struct load *l, struct sim_req *req)
{
	const struct step *t = &steps[l->step];

	if (l->step == ARRAY_SIZE(steps))
		return false;
	*req = (struct sim_req){
		.lba = FILE_LBA(t->file) + l->at, .n = 1, .discard = t->gone,
		.class = t->keys.level > 3 ? LZ_CLASS_EXTREME : LZ_CLASS_LONG,
		.file = t->file, .keys = t->keys,
	};
	if (++l->at == t->n) {
		l->at = 0;
		l->step++;
	}
	return true;
}

int main(void)
{
	struct sim_setup setup = {
		.zones = 64, .cap = 64, .blocks = 1000, .max_open = 5, .gc_start = 2,
	};
	u32 seen[8], n = 0, i, j;
	const char *why;
	struct sim s;

	lz_options_default(&setup.o);
	sim_cost_default(&setup.cost);
	if (sim_init(&s, &sim_caza, &setup, "", 0, &why) || sim_run(&s, 1000))
		return 1;
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		u32 addr = s.map[FILE_LBA(steps[i].file)], zone;

		if (addr == SIM_NOWHERE)
			continue;
		zone = sim_zone_of(&s, addr);
		for (j = 0; j < n && seen[j] != zone; j++)
			;
		if (j == n)
			seen[n++] = zone;
		printf("%u:%c ", steps[i].file, 'a' + j);
	}
	why = sim_check(&s);
	puts(why ? why : "");
	sim_exit(&s);
	return !!why;
}
