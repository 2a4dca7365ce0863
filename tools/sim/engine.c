// SPDX-License-Identifier: GPL-2.0-only
/*
 * The drive and its GC, the same for every policy.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "sim.h"

#define AHEAD	16u	/* blocks of a victim of which is fetched what is known */

static void zone_free(struct sim *s, u32 zone)
{
	struct sim_zone *z = &s->z[zone];

	*z = (struct sim_zone){ .state = SIM_FREE, .next = s->free };
	s->free = zone;
	s->nr_free++;
}

static void zone_erase(struct sim *s, u32 zone)
{
	s->n.erased++;
	s->n.erased_short += s->p->empty && sim_class(s->z[zone].stream) == LZ_CLASS_SHORT;
	s->t.now += s->t.erase;
	zone_free(s, zone);
}

void sim_slot_take(struct sim *s, u32 zone)
{
	u32 i = 0;

	while (s->slot[i] != SIM_NOWHERE)
		i++;
	s->slot[i] = zone;
	s->nr_open++;
}

void sim_slot_give(struct sim *s, u32 zone)
{
	u32 i = 0;

	while (s->slot[i] != zone)
		i++;
	s->slot[i] = SIM_NOWHERE;
	s->nr_open--;
}

/* @zone takes no more blocks. */
static void zone_close(struct sim *s, u32 zone)
{
	struct sim_zone *z = &s->z[zone];
	u32 i;

	z->state = SIM_FULL;
	sim_life_closed(s, zone);
	sim_slot_give(s, zone);
	s->no_victim = false;
	for (i = 0; i < SIM_STREAMS; i++)
		if (s->open[i] == zone)
			s->open[i] = SIM_NOWHERE;
	/* All of it may be gone already. */
	if (!z->valid)
		zone_erase(s, zone);
}

void sim_finish(struct sim *s, u32 zone)
{
	u64 ns = s->t.base + (s->setup.cap - s->z[zone].wp) * s->t.pad;

	s->t.now += ns;
	s->t.finish += ns;
	zone_close(s, zone);
	s->n.finished++;
}

/* What is at @addr is in use no more. */
static void kill(struct sim *s, u32 lba, u32 addr)
{
	u32 zone = sim_zone_of(s, addr);
	struct sim_zone *z = &s->z[zone];

	if (s->p->dead)
		s->p->dead(s, lba, addr);
	s->map[lba] = SIM_NOWHERE;
	s->mapped--;
	z->lost = sim_clock(s);
	if (--z->valid)
		return;
	if (z->state == SIM_FULL)
		zone_erase(s, zone);
	else if (z->state == SIM_OPEN && s->p->empty && s->p->empty(s, zone))
		zone_close(s, zone);
}

u32 sim_open(struct sim *s, u32 stream)
{
	u32 zone = s->free;
	struct sim_zone *z = &s->z[zone];

	s->free = z->next;
	s->nr_free--;
	sim_slot_take(s, zone);
	z->state = SIM_OPEN;
	z->stream = stream;
	z->opened = s->clock;
	return zone;
}

/* No zone may be opened for @stream: the open zone of the nearest one. */
static u32 nearest(const struct sim *s, u32 stream)
{
	u32 d;

	for (d = 1; d < SIM_STREAMS; d++) {
		if (stream >= d && s->open[stream - d] != SIM_NOWHERE)
			return stream - d;
		if (stream + d < SIM_STREAMS && s->open[stream + d] != SIM_NOWHERE)
			return stream + d;
	}
	return SIM_NOWHERE;
}

/* Finds the zone @stream is to fill. */
static void zone_find(struct sim *s, u32 stream)
{
	if (s->p->choose) {
		s->open[stream] = s->p->choose(s, stream);
		return;
	}
	if (s->nr_free && s->nr_open < s->setup.max_open)
		s->open[stream] = sim_open(s, stream);
}

/* Writes @lba to the zone @stream fills. */
static void put(struct sim *s, u32 lba, u32 stream)
{
	struct sim_zone *z;
	u32 addr;

	if (s->open[stream] == SIM_NOWHERE)
		zone_find(s, stream);
	if (s->open[stream] == SIM_NOWHERE) {
		stream = nearest(s, stream);
		s->n.fallback++;
		if (stream == SIM_NOWHERE) {
			s->broken = true;
			return;
		}
	}
	z = &s->z[s->open[stream]];
	addr = s->open[stream] * s->setup.cap + z->wp++;
	s->lba[addr] = lba;
	s->mapped += s->map[lba] == SIM_NOWHERE;
	s->map[lba] = addr;
	z->valid++;
	z->written = sim_clock(s);
	s->t.now += s->t.write;
	if (s->p->wrote)
		s->p->wrote(s, lba, addr);
	if (z->wp == s->setup.cap)
		zone_close(s, s->open[stream]);
}

double sim_victim(const struct sim *s, u32 zone, enum lz_victim how, int rate)
{
	const struct sim_zone *z = &s->z[zone];

	if (how == SIM_VICTIM_LINEAR)
		return (s->setup.cap - z->valid) * (sim_clock(s) - z->written + 1.) /
			max(z->valid, 1u);
	if (how == LZ_VICTIM_COST_BENEFIT && z->valid) {
		/* A bound: the root is worked out bit by bit, and few zones come near the best. */
		double gain = (double)(s->setup.cap - z->valid) / z->valid + 0.000001;
		double most = gain * sqrt(sim_clock(s) - z->written + 1) * s->top.even;

		if (most < s->top.score)
			return most;
	}
	return lz_victim_score(how, z->valid, s->setup.cap, sim_clock(s) - z->written, rate);
}

/* Zones there would be of all that may still be written, as ZenFS reckons space. */
static double room(const struct sim *s)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < SIM_OPEN_MAX; i++)
		if (s->slot[i] != SIM_NOWHERE)
			n += s->setup.cap - s->z[s->slot[i]].wp;
	return s->nr_free + (double)n / s->setup.cap;
}

/* How many valid blocks a victim may have, and one more. */
static u32 most_valid(const struct sim *s)
{
	const struct sim_setup *a = &s->setup;
	double part;

	if (!a->gc_slope || s->nr_free < SIM_RESERVE)
		return a->cap;
	part = a->gc_slope * (a->gc_start - room(s)) / a->zones;
	return clamp(part, 0., 1.) * a->cap;
}

/* The empty zone of which most is written, or SIM_NOWHERE. */
static u32 most_left(const struct sim *s)
{
	u32 best = SIM_NOWHERE, i;

	for (i = 0; i < s->setup.zones; i++)
		if (sim_left(s, i) && (best == SIM_NOWHERE || s->z[i].wp > s->z[best].wp))
			best = i;
	return best;
}

static u32 spare_zones(const struct sim *s)
{
	return s->setup.zones - DIV_ROUND_UP(s->mapped, s->setup.cap);
}

/* Is @empty to be reset in place of @victim? */
static bool reset_rather(const struct sim *s, u32 empty, u32 victim)
{
	struct lz_cost cost = sim_lz_cost(s);
	struct lz_rather_in in = {
		.written = s->z[empty].wp, .age = sim_clock(s) - s->z[empty].written,
		.valid = s->z[victim].valid, .cap = s->setup.cap, .spare = spare_zones(s),
		.cost = &cost,
	};

	return lz_reset_rather(&in);
}

u32 sim_pick(struct sim *s)
{
	u32 best = SIM_NOWHERE, most = most_valid(s), empty, i;

	if (s->p->victim)
		return s->p->victim(s);
	s->top.score = 0;
	for (i = 0; i < s->setup.zones; i++) {
		const struct sim_zone *z = &s->z[i];
		double score;

		if (z->state != SIM_FULL || z->valid >= most)
			continue;
		if (s->setup.reserve && !lz_victim_worth(z->valid, s->setup.cap, sim_pressed(s)))
			continue;
		score = s->p->score(s, i);
		if (best == SIM_NOWHERE || score > s->top.score) {
			s->top.score = score;
			best = i;
		}
	}
	empty = most_left(s);
	if (best == SIM_NOWHERE)
		return sim_pressed(s) ? empty : best;
	return empty != SIM_NOWHERE && reset_rather(s, empty, best) ? empty : best;
}

/* The zone to clean, or SIM_NOWHERE. An open one has been reset when this returns. */
static u32 clean_begin(struct sim *s)
{
	u32 victim = s->no_victim ? SIM_NOWHERE : sim_pick(s);

	if (victim == SIM_NOWHERE) {
		s->no_victim = s->setup.reserve;
		return SIM_NOWHERE;
	}
	if (s->z[victim].state == SIM_OPEN) {
		zone_close(s, victim);
		return victim;
	}
	s->n.victims++;
	if (s->p->cleaned)
		s->p->cleaned(s, victim);
	return victim;
}

/* Soon it will be asked where @lba is, and what it is. */
static void fetch(const struct sim *s, u32 lba)
{
	__builtin_prefetch(&s->map[lba]);
	if (s->p->fetch)
		s->p->fetch(s, lba);
}

/* What is at @addr is moved, if it is in use. */
static bool clean_block(struct sim *s, u32 addr)
{
	u32 lba = s->lba[addr], stream;

	if (s->map[lba] != addr)
		return false;
	stream = s->p->move(s, lba, addr);
	if (s->p->dead)
		s->p->dead(s, lba, addr);
	s->t.now += s->t.read;
	put(s, lba, stream);
	s->n.copied++;
	return true;
}

/* False: there is no victim. */
static bool clean(struct sim *s)
{
	u32 victim = clean_begin(s), cap = s->setup.cap, addr = victim * cap, off;

	if (victim == SIM_NOWHERE)
		return false;
	if (s->z[victim].state == SIM_FREE)
		return true;
	for (off = 0; off < cap && !s->broken; off++, addr++) {
		if (off + AHEAD < cap)
			fetch(s, s->lba[addr + AHEAD]);
		clean_block(s, addr);
	}
	zone_erase(s, victim);
	return true;
}

static bool clean_due(const struct sim *s)
{
	if (s->nr_free < sim_kept_free(&s->setup))
		return true;
	/* Who chooses victims himself takes them however full: only when it has to be. */
	return s->setup.gc_slope && !s->p->victim && room(s) < s->setup.gc_start;
}

/* As the module's does while users write nothing. */
static bool clean_early(const struct sim *s)
{
	struct lz_pace_in in = {
		.free_zones = s->nr_free, .start = s->setup.gc_start,
		.ahead = lz_pace_ahead(s->setup.o.gc_ahead, spare_zones(s)),
	};

	return lz_pace_gc_early(&in);
}

bool sim_clean_step(struct sim *s, bool idle)
{
	struct sim_zone *z;

	if (s->broken)
		return false;
	if (s->victim == SIM_NOWHERE) {
		s->victim = clean_due(s) || (idle && clean_early(s)) ? clean_begin(s) :
			SIM_NOWHERE;
		if (s->victim == SIM_NOWHERE)
			return false;
		if (s->z[s->victim].state == SIM_FREE) {
			s->victim = SIM_NOWHERE;
			return true;
		}
		s->z[s->victim].state = SIM_CLEANED;
		s->gain = lz_pace_gain(s->gain, s->z[s->victim].valid, s->setup.cap);
		s->off = 0;
	}
	z = &s->z[s->victim];
	if (z->valid)
		z->valid -= clean_block(s, s->victim * s->setup.cap + s->off);
	if (++s->off == s->setup.cap) {
		zone_erase(s, s->victim);
		s->victim = SIM_NOWHERE;
	}
	return true;
}

/* The block users wanted is written. */
static void answered(struct sim_time *t)
{
	u64 wait = t->now - t->asked - t->write;

	t->stall += wait;
	t->longest = max(t->longest, wait);
	t->asked = t->now;
}

static void clean_enough(struct sim *s)
{
	while (clean_due(s) && !s->broken && clean(s))
		;
}

static void user_write(struct sim *s, u32 lba)
{
	u32 old, stream;

	if (s->queue)
		sim_queue_arrive(s);
	old = s->map[lba];
	stream = s->p->user(s, lba, old);
	if (old != SIM_NOWHERE)
		kill(s, lba, old);
	/* It may be GC that opens the zone. */
	if (!s->queue && s->open[stream] == SIM_NOWHERE)
		clean_enough(s);
	put(s, lba, stream);
	answered(&s->t);
	/* The module's does not wait until the next zone is wanted. */
	if (s->queue)
		sim_queue_answered(s);
	else if (s->setup.reserve)
		clean_enough(s);
	/* The zone is there for others. */
	if (s->req.last && !s->req.open && s->setup.exclusive)
		s->open[stream] = SIM_NOWHERE;
	s->clock++;
	s->n.user++;
}

static void user_discard(struct sim *s, u32 lba, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (s->map[lba + i] != SIM_NOWHERE)
			kill(s, lba + i, s->map[lba + i]);
	if (s->p->discarded)
		s->p->discarded(s, lba, n);
	s->n.discarded += n;
}

int sim_request(struct sim *s)
{
	if (s->req.discard)
		user_discard(s, s->req.lba, s->req.n);
	else
		user_write(s, s->req.lba);
	return s->broken ? -ENOSPC : 0;
}

int sim_run(struct sim *s, u64 writes)
{
	u64 end = s->n.user + writes;
	int err = 0;

	while (s->n.user < end && !err) {
		if (!load_next(s->load, &s->req))
			return load_wrong(s->load) ? -ENODATA : 0;
		fetch(s, load_soon(s->load));
		err = sim_request(s);
	}
	return err;
}

const char *sim_check(const struct sim *s)
{
	u32 zone, off, i, nr_open = 0, nr_free = 0;
	u64 mapped = 0, found = 0;

	for (i = 0; i < s->setup.blocks; i++) {
		mapped += s->map[i] != SIM_NOWHERE;
		if (s->map[i] != SIM_NOWHERE && s->lba[s->map[i]] != i)
			return "a block is mapped to where another is";
	}
	for (zone = 0; zone < s->setup.zones; zone++) {
		const struct sim_zone *z = &s->z[zone];
		u32 valid = 0;

		for (off = 0; off < z->wp; off++) {
			u32 addr = zone * s->setup.cap + off;

			valid += s->map[s->lba[addr]] == addr;
		}
		if (valid != z->valid)
			return "a zone has another number of valid blocks than is counted";
		if (z->state == SIM_FULL && !valid)
			return "an empty zone was not erased";
		found += valid;
		nr_open += z->state == SIM_OPEN;
		nr_free += z->state == SIM_FREE;
	}
	if (found != mapped || mapped != s->mapped)
		return "blocks are mapped to zones that do not hold them";
	if (nr_open != s->nr_open || nr_open > s->setup.max_open)
		return "another number of zones is open than is counted, or allowed";
	return nr_free == s->nr_free ? NULL : "another number of zones is free than is counted";
}

/* Twice as many writes may be foreseen. */
static bool death_grow(struct sim *s, u64 *size)
{
	u64 n = *size ? 2 * *size : 1 << 20;
	u32 *death = n > SIM_NOWHERE ? NULL : realloc(s->death, n * sizeof(*death));

	if (!death)
		return false;
	memset(death + *size, 0xff, (n - *size) * sizeof(*death));
	s->death = death;
	*size = n;
	return true;
}

/* Goes through the load beforehand, to know when each block written is gone again. */
static int foresee(struct sim *s, const char *text, u64 writes)
{
	u32 *last = malloc(s->setup.blocks * sizeof(*last)), i;
	const char *why;
	struct load *l = load_new(text, s->setup.blocks, s->setup.seed, &why);
	struct sim_req req;
	u64 at = 0, size = 0;
	int err = -ENOMEM;

	if (!last || !l)
		goto out;
	memset(last, 0xff, s->setup.blocks * sizeof(*last));
	while (at < writes && load_next(l, &req)) {
		if (at == size && !death_grow(s, &size))
			goto out;
		for (i = 0; i < (req.discard ? req.n : 1); i++) {
			u32 *was = &last[req.lba + i];

			if (*was != SIM_NOWHERE)
				s->death[*was] = at;
			*was = req.discard ? SIM_NOWHERE : at;
		}
		at += !req.discard;
	}
	s->deaths = at;
	err = 0;
out:
	free(last);
	load_free(l);
	return err;
}

void sim_begin(struct sim *s, const struct sim_policy *p, const struct sim_setup *setup)
{
	*s = (struct sim){ .p = p, .setup = *setup, .free = SIM_NOWHERE,
			  .victim = SIM_NOWHERE };
	/* A little more, for what is rounded. */
	s->top.even = 1.0001 * lz_victim_score(LZ_VICTIM_COST_BENEFIT, 1, 2, 0, 0);
	memset(s->open, 0xff, sizeof(s->open));
	memset(s->slot, 0xff, sizeof(s->slot));
	sim_time_init(s);
}

int sim_init(struct sim *s, const struct sim_policy *p, const struct sim_setup *setup,
	     const char *load, u64 writes, const char **why)
{
	u64 all = (u64)setup->zones * setup->cap;
	u64 reserve = sim_kept_free(setup);
	int err = -ENOMEM;
	u32 i;

	sim_begin(s, p, setup);
	*why = NULL;
	if (all >= SIM_NOWHERE)
		*why = "the zones have 2^32 blocks or more";
	else if (setup->blocks + (reserve + 2) * setup->cap > all)
		*why = "too few zones for --blocks: two more are needed, and those of --gc-start";
	if (*why)
		return -EINVAL;
	s->load = load_new(load, setup->blocks, setup->seed, why);
	if (!s->load)
		return *why ? -EINVAL : -ENOMEM;
	s->writers = load_writers(s->load);
	if (setup->arrivals == SIM_TIMES && !load_timed(s->load)) {
		*why = "does not say when it writes";
		load_free(s->load);
		return -EINVAL;
	}
	s->map = malloc(setup->blocks * sizeof(*s->map));
	s->lba = calloc(all, sizeof(*s->lba));
	s->z = calloc(setup->zones, sizeof(*s->z));
	if (setup->arrivals != SIM_CLOSED)
		s->queue = sim_queue_new(setup);
	if (s->map && s->lba && s->z && (s->queue || setup->arrivals == SIM_CLOSED)) {
		memset(s->map, 0xff, setup->blocks * sizeof(*s->map));
		for (i = setup->zones; i--;)
			zone_free(s, i);
		err = p->future ? foresee(s, load, load_ends(s->load) ? ~0ull : writes) : 0;
		if (!err && p->init)
			err = p->init(s);
	}
	if (err)
		sim_exit(s);
	return err;
}

void sim_exit(struct sim *s)
{
	if (s->p->exit && s->priv)
		s->p->exit(s);
	free(s->priv);
	sim_life_exit(s);
	load_free(s->load);
	free(s->map);
	free(s->lba);
	free(s->z);
	free(s->death);
	free(s->queue);
}
