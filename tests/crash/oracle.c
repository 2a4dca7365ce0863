// SPDX-License-Identifier: GPL-2.0-only
/*
 * What every logical block may hold: a log of versions, linked block by block,
 * begun anew after each recovery, and one moment before which all is durable.
 */
#include <stdio.h>
#include <stdlib.h>
#include "oracle.h"
#include "rnd.h"

#define NONE	0xffffffffu

void oracle_init(struct oracle *o, u32 nr)
{
	u32 i;

	memset(o, 0, sizeof(*o));
	o->nr = nr;
	o->cap = 4 * nr + 1024;
	o->newest = calloc(nr, sizeof(*o->newest));
	o->log = calloc(o->cap, sizeof(*o->log));
	if (!o->newest || !o->log)
		abort();
	for (i = 0; i < nr; i++) {
		o->newest[i] = i;
		o->log[i].prev = NONE;
	}
	o->used = nr;
}

void oracle_exit(struct oracle *o)
{
	free(o->newest);
	free(o->log);
}

static void add(struct oracle *o, u32 lba, u64 tag, u64 time)
{
	struct version *v;

	if (o->used == o->cap) {
		o->cap *= 2;
		o->log = realloc(o->log, o->cap * sizeof(*o->log));
		if (!o->log)
			abort();
	}
	v = &o->log[o->used];
	v->tag = tag;
	v->time = time;
	v->end = time;
	v->prev = o->newest[lba];
	o->newest[lba] = o->used++;
}

void oracle_apply(struct oracle *o, u32 lba, u64 tag)
{
	add(o, lba, tag, ++o->time);
}

void oracle_begin(struct oracle *o, u32 lba, u64 tag)
{
	add(o, lba, tag, ~0ull);
}

void oracle_end(struct oracle *o, u32 lba, u64 moment)
{
	struct version *v = &o->log[o->newest[lba]];

	v->time = moment;
	v->end = ++o->time;
}

/* Is @tag among the versions down to the first that was there at @moment, or had ended? */
static bool among(const struct oracle *o, u32 lba, u64 tag, u64 moment, bool ended)
{
	const struct version *v = &o->log[o->newest[lba]];

	while (v->tag != tag) {
		if ((ended ? v->end : v->time) <= moment || v->prev == NONE)
			return false;
		v = &o->log[v->prev];
	}
	return true;
}

bool oracle_since(const struct oracle *o, u32 lba, u64 tag, u64 moment)
{
	return among(o, lba, tag, moment, true);
}

bool oracle_allows(const struct oracle *o, u32 lba, u64 tag)
{
	return among(o, lba, tag, o->floor, false);
}

void oracle_pin(struct oracle *o, u32 lba, u64 tag)
{
	/* A restart puts the first version of each block at its own number. */
	o->log[lba].tag = tag;
	o->newest[lba] = lba;
}

void oracle_restart(struct oracle *o)
{
	u32 i;

	for (i = 0; i < o->nr; i++) {
		o->log[i].time = 0;
		o->log[i].end = 0;
		o->log[i].prev = NONE;
	}
	o->used = o->nr;
	o->floor = 0;
}

u64 oracle_hash(const struct oracle *o)
{
	u64 h = 0;
	u32 i, k;

	for (i = 0; i < o->nr; i++) {
		for (k = o->newest[i]; k != NONE; k = o->log[k].prev) {
			h += rnd_mix(o->log[k].tag + ((u64)i << 40));
			if (o->log[k].time <= o->floor)
				break;
		}
	}
	return h;
}

const char *oracle_show(const struct oracle *o, u32 lba, char *buf, size_t n)
{
	u32 i = o->newest[lba];
	size_t at = 0;

	buf[0] = 0;
	for (; i != NONE && at + 40 < n; i = o->log[i].prev) {
		at += snprintf(buf + at, n - at, " %llx@%llu",
			       (unsigned long long)o->log[i].tag,
			       (unsigned long long)o->log[i].time);
		if (o->log[i].time <= o->floor)
			break;
	}
	return buf;
}

bool oracle_export(const struct oracle *o, const char *path)
{
	FILE *f = fopen(path, "w");
	u32 lba, i;

	if (!f)
		return false;
	for (lba = 0; lba < o->nr; lba++) {
		for (i = o->newest[lba]; i != NONE; i = o->log[i].prev) {
			fprintf(f, "%llx ", (unsigned long long)o->log[i].tag);
			if (o->log[i].time <= o->floor)
				break;
		}
		putc('\n', f);
	}
	return !fclose(f);
}
