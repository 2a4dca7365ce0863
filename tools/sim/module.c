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
	(void)old;
	return sim_stream(s, sim_life_user(s, lba));
}

u32 sim_module_move(struct sim *s, u32 lba, u32 old)
{
	return SIM_GC_STREAMS +
		sim_life_moved(s, lba, sim_class(s->z[sim_zone_of(s, old)].stream));
}

bool sim_shared(const struct sim *s, u32 zone)
{
	u32 i;

	if (s->z[zone].state != SIM_OPEN)
		return false;
	for (i = SIM_OWN_STREAMS; s->setup.exclusive && i < sim_writer(s->writers, 0); i++)
		if (s->open[i] == zone)
			return false;
	return true;
}

/* Zones open, and one that is left for the other side, if it has none yet. */
static u32 open_for(const struct sim *s, bool gc)
{
	bool other = false;
	u32 i;

	for (i = 0; i < s->setup.zones; i++)
		other |= sim_is_gc(s->z[i].stream) != gc && sim_shared(s, i);
	return s->nr_open + !other;
}

bool sim_may_open(const struct sim *s, bool gc)
{
	return sim_usable(s, gc) && open_for(s, gc) < s->setup.max_open;
}

bool sim_left(const struct sim *s, u32 zone)
{
	const struct sim_zone *z = &s->z[zone];

	return z->state == SIM_OPEN && z->wp && !z->valid && s->p->empty &&
		s->setup.o.reset == LZ_RESET_ADAPTIVE;
}

void sim_adopt(struct sim *s, u32 zone, u32 stream)
{
	u32 i;

	for (i = 0; i < SIM_STREAMS; i++)
		if (s->open[i] == zone)
			s->open[i] = SIM_NOWHERE;
	/* Whoever writes to it asks again; it is of the class of @stream now. */
	if (!sim_left(s, zone)) {
		s->z[zone].stream += sim_class(stream) - sim_class(s->z[zone].stream);
		return;
	}
	s->z[zone].stream = stream;
	sim_life_adopted(s, zone);
}

void sim_place(const struct sim *s, u32 stream, u32 *zone, struct lz_place_out *out)
{
	struct lz_place_zone cand[SIM_OPEN_MAX];
	u32 of[SIM_OPEN_MAX], i, usable, open;
	bool gc = sim_is_gc(stream), spent;
	u64 ended = s->alone && s->ended ? sim_clock(s) - s->ended : LZ_NEVER;
	struct lz_cost cost = sim_lz_cost(s);
	struct lz_place_in in = {
		.policy = s->setup.o.policy, .finish = s->setup.o.finish,
		.isolation = s->setup.o.isolation,
		.class = sim_class(stream), .gc = gc, .cost = &cost, .zones = cand,
	};

	for (i = 0; i < SIM_OPEN_MAX; i++) {
		const struct sim_zone *z;
		u32 at = s->slot[i];
		u8 class;
		u64 age;

		if (at == SIM_NOWHERE || !sim_shared(s, at))
			continue;
		z = &s->z[at];
		/* What is full counts no more among those there is a choice of. */
		if (z->wp == s->setup.cap)
			continue;
		class = sim_class(z->stream);
		age = z->wp ? sim_clock(s) - z->written : 0;
		of[in.n] = at;
		cand[in.n++] = (struct lz_place_zone){
			.class = class, .gc = sim_is_gc(z->stream),
			.idle = lz_idle(class, age, s->setup.blocks), .empty = sim_left(s, at),
			.alone = lz_alone(class, sim_is_gc(z->stream), age, ended),
			.room = s->setup.cap - z->wp, .age = age,
		};
	}
	usable = sim_usable(s, gc);
	open = open_for(s, gc);
	spent = open >= s->setup.max_open;
	in.budget_spent = spent && usable;
	in.can_open = !spent && usable && !s->held && !sim_life_enough(s, open);
	in.closing = s->closing;
	if (s->slow)
		in.finish = LZ_FINISH_NEVER;
	in.reserve = !gc && sim_pressed(s) && !(s->no_victim && s->nr_free);
	lz_place(&in, out);
	*zone = in.n ? of[out->idx] : SIM_NOWHERE;
}

u32 sim_choose(struct sim *s, u32 stream)
{
	struct lz_place_out out;
	u32 zone;

	sim_place(s, stream, &zone, &out);
	switch (out.verdict) {
	case LZ_PLACE_USE:
		if (out.adopt)
			sim_adopt(s, zone, stream);
		return zone;
	case LZ_PLACE_FINISH:
		sim_finish(s, zone);
		return sim_choose(s, stream);
	case LZ_PLACE_NEW:
		return sim_open(s, stream);
	default:
		return SIM_NOWHERE;
	}
}

bool sim_reset_due(struct sim *s, u32 zone)
{
	const struct sim_zone *z = &s->z[zone];

	return lz_reset_due(s->setup.o.reset, sim_class(z->stream), false,
			    s->alone && lz_reset_alone(z->wp, s->setup.cap));
}

enum lz_victim sim_rule(const struct sim *s)
{
	/* At the reserve what counts is space, and soon. */
	return sim_pressed(s) ? LZ_VICTIM_GREEDY : lz_victim_rule(&s->setup.o);
}

double sim_score(struct sim *s, u32 zone, enum lz_victim how)
{
	return sim_victim(s, zone, how, how == LZ_VICTIM_MDC ? sim_life_zone_rate(s, zone) : 0);
}

double sim_module_score(struct sim *s, u32 zone)
{
	return sim_score(s, zone, sim_rule(s));
}

#define MODULE_POLICY(n, N, d)							\
	static int n##_init(struct sim *s)					\
	{									\
		s->setup.o.policy = LZ_POLICY_##N;				\
		return sim_life_init(s);					\
	}									\
	const struct sim_policy sim_##n = {					\
		.name = #n, .doc = d, .exclusive = true,			\
		.init = n##_init, .user = module_user, .move = sim_module_move,	\
		.choose = sim_choose,						\
		.empty = sim_reset_due, .wrote = sim_life_wrote,		\
		.discarded = sim_life_discarded, .score = sim_module_score,	\
		.fetch = sim_life_fetch,					\
	}

MODULE_POLICY(zenfs, ZENFS, "the module's: a zone of a longer lifetime, by the hint");
MODULE_POLICY(wla, WLA, "the module's: a zone of the same lifetime, or a longer one");
MODULE_POLICY(sla, SLA, "the module's: a zone of the same lifetime, or a new one");
MODULE_POLICY(adaptive, ADAPTIVE, "the module's: lifetimes inferred of what has no hint");
