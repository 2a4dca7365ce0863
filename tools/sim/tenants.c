// SPDX-License-Identifier: GPL-2.0-only
/* Loads that share a device, each with an equal part of it: at the same time, or in turns. */
#include <stdlib.h>
#include <string.h>
#include "rnd.h"
#include "sim.h"
#include "tenants.h"

#define TENANTS_MAX	8u

/**
 * struct tenants - loads that share a device
 * @r: what is drawn from
 * @n: how many
 * @blocks: of each
 * @turn: blocks that one writes before the next does; 0: all at the same time
 * @at: blocks written
 * @load: the loads
 * @writer: by load, its first writer, and how many there are in all
 * @inputs: those of the request, by numbers of all loads
 * @inputs_size: for so many there is memory
 */
struct tenants {
	struct rnd r;
	u32 n;
	u32 blocks;
	u64 turn;
	u64 at;
	struct load *load[TENANTS_MAX];
	u32 writer[TENANTS_MAX + 1];
	u32 *inputs;
	u32 inputs_size;
};

struct tenants *tenants_new(const char *text, bool turns, u32 blocks, u64 seed, const char **why)
{
	struct tenants *t = calloc(1, sizeof(*t));
	char *copy = strdup(text), *rest = copy, *one;
	u32 n = 1, i;

	if (!t || !copy)
		goto fail;
	rnd_seed(&t->r, seed);
	for (i = 0; text[i]; i++)
		n += text[i] == '+';
	if (n < 2 || n > TENANTS_MAX) {
		*why = "2 to 8 loads, with a + between two";
		goto fail;
	}
	t->n = n;
	t->blocks = blocks / n;
	t->turn = turns ? blocks : 0;
	for (i = 0; (one = strsep(&rest, "+")); i++) {
		t->load[i] = load_new(one, t->blocks, seed + i, why);
		if (!t->load[i])
			goto fail;
		if (load_ends(t->load[i])) {
			*why = "loads that share a device are not to end";
			goto fail;
		}
		t->writer[i + 1] = t->writer[i] + load_writers(t->load[i]);
	}
	free(copy);
	return t;
fail:
	free(copy);
	tenants_free(t);
	return NULL;
}

void tenants_free(struct tenants *t)
{
	u32 i;

	if (!t)
		return;
	for (i = 0; i < t->n; i++)
		load_free(t->load[i]);
	free(t->inputs);
	free(t);
}

/* Whose turn it is, if they take turns. */
static u32 turn(const struct tenants *t)
{
	return t->at / t->turn % t->n;
}

u32 tenants_writers(const struct tenants *t)
{
	return t->writer[t->n];
}

/* Numbers of files that load @i gave become numbers that no other load gives. */
static bool number_files(struct tenants *t, u32 i, struct sim_req *req)
{
	u32 *p, j;

	if (req->file)
		req->file = req->file * t->n + i;
	if (req->nr_inputs > t->inputs_size) {
		p = realloc(t->inputs, 2 * req->nr_inputs * sizeof(*p));
		if (!p)
			return false;
		t->inputs = p;
		t->inputs_size = 2 * req->nr_inputs;
	}
	for (j = 0; j < req->nr_inputs; j++)
		t->inputs[j] = req->inputs[j] * t->n + i;
	req->inputs = t->inputs;
	return true;
}

bool tenants_next(struct tenants *t, struct sim_req *req)
{
	u32 i = t->turn ? turn(t) : rnd_below(&t->r, t->n);

	if (!load_next(t->load[i], req) || !number_files(t, i, req))
		return false;
	req->lba += i * t->blocks;
	req->writer += t->writer[i];
	t->at += !req->discard;
	return true;
}

double tenants_rate(const struct tenants *t, u32 lba)
{
	u32 i = lba / t->blocks;

	/* What does not divide evenly is nobody's. */
	if (i == t->n || (t->turn && i != turn(t)))
		return 0;
	return load_rate(t->load[i], lba % t->blocks) * (t->turn ? t->n : 1);
}

u64 tenants_epoch(const struct tenants *t)
{
	u64 sum = t->turn ? t->at / t->turn : 0;
	u32 i;

	for (i = 0; i < t->n; i++)
		sum += load_epoch(t->load[i]);
	return sum;
}
