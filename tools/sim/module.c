// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policies of the module, which decides by the very same functions: placement, victims
 * and resets of empty zones. What is around them here is as in core/zone.c and
 * core/relocate.c, without its metadata.
 *
 * Several streams may fill one zone. GC goes by the class of the zone it cleans, as the
 * module does.
 */
#include "sim.h"

u32 sim_stream(const struct sim *s, u8 class)
{
	return class + (s->setup.exclusive ? SIM_OWN_STREAMS + s->req.writer * SIM_CLASSES : 0);
}

static u32 module_user(struct sim *s, u32 lba, u32 old)
{
	(void)lba;
	(void)old;
	return sim_stream(s, s->req.class);
}

static u32 module_move(struct sim *s, u32 lba, u32 old)
{
	(void)lba;
	return SIM_GC_STREAMS + sim_class(s->z[sim_zone_of(s, old)].stream);
}

/* One is left for the other side, which may have none yet. */
static bool budget_allows(const struct sim *s, const struct lz_place_zone *zones, u32 n, bool gc)
{
	bool other = false;
	u32 i;

	for (i = 0; i < n; i++)
		other |= zones[i].gc != gc;
	return s->nr_open + !other < s->setup.max_open;
}

/* Nothing of what was written to it is in use, and it is left to be filled. */
static bool is_empty(const struct sim *s, const struct sim_zone *z)
{
	return z->wp && !z->valid && s->setup.o.reset == LZ_RESET_ADAPTIVE;
}

void sim_adopt(struct sim *s, u32 zone, u32 stream)
{
	u32 i;

	for (i = 0; i < SIM_STREAMS; i++)
		if (s->open[i] == zone)
			s->open[i] = SIM_NOWHERE;
	/* Whoever writes to it asks again; it is of the class of @stream now. */
	if (!is_empty(s, &s->z[zone])) {
		s->z[zone].stream += sim_class(stream) - sim_class(s->z[zone].stream);
		return;
	}
	s->z[zone].stream = stream;
	if (s->p->adopted)
		s->p->adopted(s, zone);
}

/* Does a writer fill it, that shares with nobody? */
static bool owned(const struct sim *s, u32 zone)
{
	u32 i;

	for (i = SIM_OWN_STREAMS; i < SIM_STREAMS; i++)
		if (s->open[i] == zone)
			return true;
	return false;
}

void sim_place(const struct sim *s, u32 stream, enum lz_policy policy, u32 *zone,
	       struct lz_place_out *out)
{
	struct lz_place_zone cand[SIM_OPEN_MAX];
	u32 of[SIM_OPEN_MAX], i, usable;
	bool gc = sim_is_gc(stream), spent;
	struct lz_place_in in = {
		.policy = policy, .finish = s->setup.o.finish, .isolation = s->setup.o.isolation,
		.class = sim_class(stream), .gc = gc, .zones = cand,
	};

	for (i = 0; i < SIM_OPEN_MAX; i++) {
		const struct sim_zone *z;
		u32 at = s->slot[i];

		if (at == SIM_NOWHERE || (s->setup.exclusive && owned(s, at)))
			continue;
		z = &s->z[at];
		of[in.n] = at;
		cand[in.n++] = (struct lz_place_zone){
			sim_class(z->stream), sim_is_gc(z->stream),
			z->wp && lz_idle(sim_clock(s) - z->written, s->setup.blocks),
			is_empty(s, z), s->setup.cap - z->wp,
		};
	}
	usable = sim_usable(s, gc);
	spent = !budget_allows(s, cand, in.n, gc);
	in.budget_spent = spent && usable;
	in.can_open = !spent && usable && !s->held;
	in.reserve = !gc && sim_pressed(s) && !(s->no_victim && s->nr_free);
	lz_place(&in, out);
	*zone = in.n ? of[out->idx] : SIM_NOWHERE;
}

u32 sim_choose(struct sim *s, u32 stream, enum lz_policy policy)
{
	struct lz_place_out out;
	u32 zone;

	sim_place(s, stream, policy, &zone, &out);
	switch (out.verdict) {
	case LZ_PLACE_USE:
		if (out.adopt)
			sim_adopt(s, zone, stream);
		return zone;
	case LZ_PLACE_FINISH:
		sim_finish(s, zone);
		return sim_choose(s, stream, policy);
	case LZ_PLACE_NEW:
		return sim_open(s, stream);
	default:
		return SIM_NOWHERE;
	}
}

static u32 choose_zenfs(struct sim *s, u32 stream)
{
	return sim_choose(s, stream, LZ_POLICY_ZENFS);
}

static u32 choose_wla(struct sim *s, u32 stream)
{
	return sim_choose(s, stream, LZ_POLICY_WLA);
}

static u32 choose_sla(struct sim *s, u32 stream)
{
	return sim_choose(s, stream, LZ_POLICY_SLA);
}

bool sim_reset_due(struct sim *s, u32 zone)
{
	return lz_reset_due(s->setup.o.reset, sim_class(s->z[zone].stream), false);
}

enum lz_victim sim_rule(const struct sim *s, enum lz_policy policy)
{
	/* At the reserve what counts is space, and soon. */
	return sim_pressed(s) ? LZ_VICTIM_GREEDY : lz_victim_rule(s->setup.o.victim, policy);
}

static double module_score(struct sim *s, u32 zone)
{
	enum lz_victim how = sim_rule(s, LZ_POLICY_WLA);
	int rate = 0;

	if (how == LZ_VICTIM_MDC)
		rate = lz_victim_age_rate(sim_clock(s) - s->z[zone].written, s->setup.blocks);
	return sim_victim(s, zone, how, rate);
}

#define MODULE_POLICY(n, d)							\
	const struct sim_policy sim_##n = {					\
		.name = #n, .doc = d,						\
		.user = module_user, .move = module_move, .choose = choose_##n,	\
		.empty = sim_reset_due, .score = module_score,			\
	}

MODULE_POLICY(zenfs, "the module's: a zone of a longer lifetime, by the hint");
MODULE_POLICY(wla, "the module's: a zone of the same lifetime, or a longer one");
MODULE_POLICY(sla, "the module's: a zone of the same lifetime, or a new one");
