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
	return s->setup.exclusive ? sim_writer(s->req.writer, class) : class;
}

static u32 module_user(struct sim *s, u32 lba, u32 old)
{
	(void)lba;
	(void)old;
	return sim_stream(s, s->req.class);
}

u32 sim_module_move(struct sim *s, u32 lba, u32 old)
{
	(void)lba;
	return SIM_GC_STREAMS + sim_class(s->z[sim_zone_of(s, old)].stream);
}

bool sim_owned(const struct sim *s, u32 zone)
{
	u32 i;

	for (i = SIM_OWN_STREAMS; i < SIM_STREAMS; i++)
		if (s->open[i] == zone)
			return true;
	return false;
}

/* One is left for the other side, which may have none yet. */
static bool budget_allows(const struct sim *s, bool gc)
{
	bool other = false;
	u32 i;

	for (i = 0; i < s->setup.zones; i++)
		other |= s->z[i].state == SIM_OPEN && sim_is_gc(s->z[i].stream) != gc &&
			!(s->setup.exclusive && sim_owned(s, i));
	return s->nr_open + !other < s->setup.max_open;
}

bool sim_may_open(const struct sim *s, bool gc)
{
	return s->nr_free && budget_allows(s, gc);
}

/* Whoever writes to @zone asks again; it is of the class of @stream now. */
static void adopt(struct sim *s, u32 zone, u32 stream)
{
	u32 i;

	for (i = 0; i < SIM_STREAMS; i++)
		if (s->open[i] == zone)
			s->open[i] = SIM_NOWHERE;
	if (s->z[zone].valid) {
		s->z[zone].stream += sim_class(stream) - sim_class(s->z[zone].stream);
		return;
	}
	s->z[zone].stream = stream;
	if (s->p->adopted)
		s->p->adopted(s, zone);
}

u32 sim_choose(struct sim *s, u32 stream, enum lz_policy policy)
{
	struct lz_place_zone cand[SIM_OPEN_MAX];
	u32 zone[SIM_OPEN_MAX], i;
	bool gc = sim_is_gc(stream), spent;
	struct lz_cost cost = sim_lz_cost(s);
	struct lz_place_in in = {
		.policy = policy, .finish = s->setup.o.finish, .isolation = s->setup.o.isolation,
		.class = sim_class(stream), .gc = gc, .cost = &cost, .zones = cand,
	};
	struct lz_place_out out;

	for (i = 0; i < s->setup.zones && in.n < s->nr_open; i++) {
		const struct sim_zone *z = &s->z[i];
		u64 age = z->wp ? s->clock - z->written : 0;

		if (z->state != SIM_OPEN || (s->setup.exclusive && sim_owned(s, i)))
			continue;
		zone[in.n] = i;
		cand[in.n++] = (struct lz_place_zone){
			sim_class(z->stream), sim_is_gc(z->stream),
			lz_idle(age, s->setup.blocks),
			z->wp && !z->valid && s->setup.o.reset == LZ_RESET_ADAPTIVE,
			s->setup.cap - z->wp, age,
		};
	}
	spent = !budget_allows(s, gc);
	in.budget_spent = spent && s->nr_free;
	in.can_open = !spent && s->nr_free;
	lz_place(&in, &out);
	switch (out.verdict) {
	case LZ_PLACE_USE:
		if (out.adopt)
			adopt(s, zone[out.idx], stream);
		return zone[out.idx];
	case LZ_PLACE_FINISH:
		sim_finish(s, zone[out.idx]);
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

double sim_module_score(struct sim *s, u32 zone)
{
	enum lz_victim how = lz_victim_rule(s->setup.o.victim, LZ_POLICY_WLA);
	int rate = 0;

	if (how == LZ_VICTIM_MDC)
		rate = lz_victim_age_rate(s->clock - s->z[zone].written, s->setup.blocks);
	return sim_victim(s, zone, how, rate);
}

#define MODULE_POLICY(n, d)							\
	const struct sim_policy sim_##n = {					\
		.name = #n, .doc = d,						\
		.user = module_user, .move = sim_module_move, .choose = choose_##n,	\
		.empty = sim_reset_due, .score = sim_module_score,			\
	}

MODULE_POLICY(zenfs, "the module's: a zone of a longer lifetime, by the hint");
MODULE_POLICY(wla, "the module's: a zone of the same lifetime, or a longer one");
MODULE_POLICY(sla, "the module's: a zone of the same lifetime, or a new one");
