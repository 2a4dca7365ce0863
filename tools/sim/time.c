// SPDX-License-Identifier: GPL-2.0-only
/*
 * Virtual time: what the commands of a run would take on a drive.
 *
 * The drive does one thing after the other. Zones are spread over all its dies, as in drives with
 * zones as large as theirs: one zone is written as fast as the drive writes, so several at
 * a time are no faster, and what a finish pads takes the drive away from everybody. Costs of a
 * page are those with commands in plenty under way. Users are a closed loop: the next block is
 * wanted once the last one is written, and until it is it waits for all that has come between, be
 * it copies of GC, erases or finishes. That wait is the stall. A drive that erases beside
 * its writes would let users wait less; erases are few.
 *
 * A finish pads what is left of the zone, and so is the cheaper the fuller the zone is.
 *
 * What an erase takes, and a finish but for its padding, goes by the zone and not by its size here.
 * Those of presets are of the drive's own zones: who simulates smaller ones, of which there are as
 * many more to erase, is to say so, as erase=57600 for the 4 MiB of tests/placement/run, their
 * part of 15.5 ms for 1,077 MiB.
 *
 * zn540: Western Digital ZN540, 904 zones of 1,077 MiB; from the measurements published
 * with K. Doekemeijer et al., Performance Characterization of NVMe Flash Devices with Zoned
 * Namespaces (IEEE CLUSTER 2023). 1.2 GB/s of writes of 128 KiB, 365,000 random reads a second of
 * 4 KiB, 15.5 ms to reset a full zone, 2.57 ms to finish one that lacks a page and 908 ms one
 * that has a page; the medians between are on the straight line: 848 ms with 6 %, 681 ms with
 * 25 %, 457 ms with 50 %.
 *
 * tlc: an emulated drive, 450 us to write a page, 65 us to read it, 2 ms to erase; that a page is
 * 64 KiB over its planes is a guess. It is said that to finish a zone of 1 GiB that is nearly
 * empty takes some 300 times as long as one that is nearly full; the cost besides padding follows
 * from that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sim.h"

struct preset {
	const char *name;
	struct sim_cost cost;
};

static const struct preset presets[] = {
	{
		"zn540", {
			.write = 3413, .read = 2740, .erase = 15500000, .finish = 2570000,
			.pad = 3293, .page = 4096,
		},
	}, {
		"tlc", {
			.write = 450000, .read = 65000, .erase = 2000000, .finish = 24600000,
			.pad = 450000, .page = 65536,
		},
	},
};

static const struct key {
	const char *name;
	size_t offset;
} keys[] = {
	{ "write", offsetof(struct sim_cost, write) },
	{ "read", offsetof(struct sim_cost, read) },
	{ "erase", offsetof(struct sim_cost, erase) },
	{ "finish", offsetof(struct sim_cost, finish) },
	{ "pad", offsetof(struct sim_cost, pad) },
	{ "page", offsetof(struct sim_cost, page) },
	{ "block", offsetof(struct sim_cost, block) },
};

#define NS_MAX		1000000000000ull	/* of a page */
#define COMMAND_MAX	1000000000ull		/* of a block, an erase, a finish (ns) */
#define BYTES_MAX	(1ull << 24)		/* a page, a block */
#define COST_MAX	0xffffffffull		/* of struct lz_cost */

/* Of a block (ns), if that is what a page costs. */
static u64 of_block(const struct sim_cost *c, u64 page)
{
	return page * c->block / c->page;
}

/* One word of what sim_cost_set() takes, of @n characters. */
static bool set_word(struct sim_cost *c, const char *word, size_t n)
{
	u64 block = c->block, v;
	size_t len, i;
	char *end;

	for (i = 0; i < ARRAY_SIZE(presets); i++) {
		if (strlen(presets[i].name) != n || strncmp(word, presets[i].name, n))
			continue;
		*c = presets[i].cost;
		c->block = block;
		return true;
	}
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		len = strlen(keys[i].name);
		if (strncmp(word, keys[i].name, len) || word[len] != '=')
			continue;
		if (word[len + 1] < '0' || word[len + 1] > '9')
			return false;
		errno = 0;
		v = strtoull(word + len + 1, &end, 10);
		if (errno || end != word + n || v > NS_MAX)
			return false;
		*(u64 *)((char *)c + keys[i].offset) = v;
		return true;
	}
	return false;
}

void sim_cost_default(struct sim_cost *c)
{
	*c = presets[0].cost;
	c->block = c->page;
}

bool sim_cost_set(struct sim_cost *c, const char *text)
{
	size_t n;

	for (;; text += n + 1) {
		n = strcspn(text, ",");
		if (!set_word(c, text, n))
			return false;
		if (!text[n])
			break;
	}
	if (!c->page || c->page > BYTES_MAX || c->block < 512 || c->block > BYTES_MAX)
		return false;
	/* A block that takes no time would have no throughput; the time of a run has 64 bits. */
	return of_block(c, c->write) && of_block(c, c->write) <= COMMAND_MAX &&
		of_block(c, c->read) <= COMMAND_MAX && of_block(c, c->pad) <= COMMAND_MAX &&
		c->erase <= COMMAND_MAX && c->finish <= COMMAND_MAX;
}

void sim_time_init(struct sim *s)
{
	const struct sim_cost *c = &s->setup.cost;

	s->t.write = of_block(c, c->write);
	s->t.read = of_block(c, c->read);
	s->t.pad = of_block(c, c->pad);
	s->t.erase = c->erase;
	s->t.base = c->finish;
}

struct lz_cost sim_lz_cost(const struct sim *s)
{
	const struct sim_time *t = &s->t;

	return (struct lz_cost){
		.copy = min(LZ_COST_WRITE * (t->read + t->write) / t->write, COST_MAX),
		.pad = min(LZ_COST_WRITE * t->pad / t->write, COST_MAX),
		.finish = min(LZ_COST_WRITE * t->base / t->write, COST_MAX),
	};
}
