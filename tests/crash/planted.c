// SPDX-License-Identifier: GPL-2.0-only
/*
 * Planted bugs: which one is in effect, and what is known of each.
 */
#include <ctype.h>
#include <stdio.h>
#include <strings.h>
#include "planted.h"

int lz_plant;

#define LZ_PLANT(name, invariant, where, what)	\
	[LZ_PLANT_##name] = { #name, invariant, where, what },
const struct plant plants[LZ_NR_PLANTS] = {
	[LZ_PLANT_NONE] = { "NONE" },
#include "../../dm-lifezone/core/plants.h"
};

#undef LZ_PLANT

static const char * const invariants[] = {
	[1] = "a block is mapped after its data is there, durably after its data is durable",
	[2] = "FLUSH and FUA complete when all they cover is durable",
	[3] = "a zone is reset when neither recovery nor anything in flight can need it",
	[4] = "after a crash a block holds its last flushed version or a later one, and keeps it",
	[5] = "discarded and unwritten blocks are zeros; never another block's data",
	[6] = "a relocated block never replaces a newer write",
	[7] = "GC, journal and checkpoint can always make progress",
	[8] = "what fails is set aside, and only what cannot be read is lost",
	[9] = "a write pointer that is not as expected is dealt with, within the zone budget",
	[10] = "a metadata block is believed after every check; damage is reported",
	[11] = "only format formats; foreign devices are refused",
	[12] = "recovery may be cut, and comes to the same result",
};

const char *plant_name(u32 id)
{
	static char name[40];
	u32 i;

	for (i = 0; plants[id].name[i] && i < sizeof(name) - 1; i++)
		name[i] = tolower(plants[id].name[i]);
	name[i] = 0;
	return name;
}

void plants_print(void)
{
	static const char rule[] = "============================================================";
	u32 k, i;

	for (k = 1; k < ARRAY_SIZE(invariants); k++) {
		printf("%u. %s\n\n", k, invariants[k]);
		printf("   %.26s %.5s %s\n", rule, rule, rule);
		for (i = 1; i < LZ_NR_PLANTS; i++)
			if (plants[i].invariant == k)
				printf("   %-26s %-5s %s\n", plant_name(i),
				       plants[i].where == SHELL ? "shell" : "core", plants[i].what);
		printf("   %.26s %.5s %s\n\n", rule, rule, rule);
	}
}

bool plant_set(const char *name)
{
	u32 i;

	for (i = LZ_PLANT_NONE; i < LZ_NR_PLANTS; i++) {
		if (!strcasecmp(plants[i].name, name)) {
			lz_plant = i;
			return true;
		}
	}
	fprintf(stderr, "no bug '%s': lzcrash --plants lists them\n", name);
	return false;
}
