// SPDX-License-Identifier: GPL-2.0-only
/*
 * MiDAS: S. Oh, J. Kim, S. Han, J. Kim, S. Lee, S. H. Noh, MIDAS: Minimizing Write Amplification
 * in Log-Structured Systems through Adaptive Group Number and Size Configuration (FAST 2024).
 *
 * Users' blocks go to G1, those that are hot to HOT. A group that has more zones than it is
 * to have is cleaned, the oldest zone first, and what is valid goes to the next group; the last
 * has what is left of the zones, and of it the emptiest is cleaned. How many groups there are, and
 * their sizes, is what the load of the last epoch says is best (uid.c). Where a group turns out
 * to be fuller than was expected, it and all behind it become one, in which blocks are kept apart
 * by how often they were moved; and so it all begins.
 *
 * Hot is what its heat, of two bits, says. It rises when a block in HOT is written again, or one
 * in G1 while its zone is younger than HOT's get; it falls when that is older, and when GC
 * moves the block, twice out of HOT.
 *
 * From the paper and the published simulator, whose numbers are used. It differs in: epochs begin
 * when as much was written as there are blocks, not twice that, so that the first fill is left
 * out, and no more; what epochs are doubled for (a HOT that is too full, two epochs in a row
 * that went wrong) is left out, as they would outlast a run; a zone of which nothing is left is
 * erased at once, as everywhere here; the open zones of groups that become one are finished, not
 * copied.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sim.h"
#include "uid.h"

#define EPOCH		4u	/* in writes of all blocks */
#define BY_MOVES	4u	/* classes in a group where blocks are apart by moves */
#define HOTTEST		3u
#define IN_A_ROW	25u	/* victims without which GC should free a zone */
#define LOOK_EVERY	0.3	/* epochs */
#define TOO_FULL	0.1	/* more valid in a group's victims than expected */
#define MEAN_OF		10u	/* what is measured of HOT */
#define STREAMS		(UID_GROUPS + BY_MOVES)

/* Of a block: heat in the low bits, and in this epoch: */
#define HEAT		3u
#define WRITTEN		4u	/* in place since */
#define ENDED		8u	/* an interval of its own has ended */

/**
 * struct midas - state
 * @u: update intervals of this epoch
 * @epoch: when it began; ~0: there has been none
 * @at: by block, when it was last written
 * @mark: by block, as above
 * @life: age at which HOT's zones are cleaned
 * @left: users' writes until that is adjusted
 * @ages: of HOT's zones that went since, their sum
 * @valid: and of their valid parts
 * @gone: how many there were
 * @hot: writes to HOT since
 * @all: and in all
 * @means: of HOT, how many were measured
 * @last: the last group
 * @by_moves: blocks in it are kept apart by how often they were moved, in groups from it on
 * @want: sizes, and what is expected
 * @in_a_row: victims since users wrote
 * @zone: the one being cleaned, or that was last since users wrote
 * @from: its group
 * @touched: groups cleaned since they are as they are, a bit for each
 * @real: valid parts of the victims since all of them were, by group
 * @victims: and how many
 * @look: when to look at that
 * @since: when counting for @wa began
 * @copied: until then
 * @wa: write amplification while all blocks might have been written
 */
struct midas {
	struct uid u;
	u64 epoch;
	u32 *at;
	u8 *mark;
	double life;
	double left;
	double ages;
	double valid;
	u32 gone;
	u32 hot;
	u32 all;
	u32 means;
	u32 last;
	bool by_moves;
	struct uid_groups want;
	u32 in_a_row;
	u32 zone;
	u32 from;
	u32 touched;
	double real[STREAMS];
	u32 victims[STREAMS];
	u64 look;
	u64 since;
	u64 copied;
	double wa;
};

static int midas_init(struct sim *s)
{
	struct midas *m = calloc(1, sizeof(*m));

	s->priv = m;
	if (!m)
		return -ENOMEM;
	m->at = calloc(s->setup.blocks, sizeof(*m->at));
	m->mark = calloc(s->setup.blocks, 1);
	m->epoch = ~0ull;
	m->life = s->setup.blocks;
	m->left = m->life;
	m->last = 1;
	m->by_moves = true;
	/* What is said of HOT while nothing was measured. */
	m->u.traffic = 0.01;
	m->u.hot_valid = 0.05;
	m->u.hot_zones = 0;
	m->zone = SIM_NOWHERE;
	return m->at && m->mark ?
		uid_init(&m->u, s->setup.zones - sim_kept_free(&s->setup), s->setup.cap,
			 (u64)EPOCH * s->setup.blocks) : -ENOMEM;
}

static void midas_exit(struct sim *s)
{
	struct midas *m = s->priv;

	uid_exit(&m->u);
	free(m->at);
	free(m->mark);
}

/* --- groups ---------------------------------------------------------------------- */

static u32 zones_of(const struct sim *s, u32 group)
{
	u32 n = 0, i;

	for (i = 0; i < s->setup.zones; i++)
		n += s->z[i].state != SIM_FREE && s->z[i].stream == group;
	return n;
}

/* The full zone of @group that was filled first. */
static u32 oldest(const struct sim *s, u32 group)
{
	u32 best = SIM_NOWHERE, i;

	for (i = 0; i < s->setup.zones; i++)
		if (s->z[i].state == SIM_FULL && s->z[i].stream == group &&
		    (best == SIM_NOWHERE || s->z[i].written < s->z[best].written))
			best = i;
	return best;
}

/* The full zone with the fewest valid blocks, of @group and those behind it. */
static u32 emptiest(const struct sim *s, u32 group)
{
	u32 best = SIM_NOWHERE, i;

	for (i = 0; i < s->setup.zones; i++)
		if (s->z[i].state == SIM_FULL && s->z[i].stream >= group &&
		    (best == SIM_NOWHERE || s->z[i].valid < s->z[best].valid))
			best = i;
	return best;
}

/* The group a zone of @group is in when @last is the last. */
static u32 renamed(const struct midas *m, u32 group, u32 last)
{
	if (group < m->last && group < last)
		return group;
	return last + (m->by_moves && group > m->last ? group - m->last : 0);
}

/* Groups from @last on become one, or what was the last stands behind new ones. */
static void regroup(struct sim *s, u32 last, bool by_moves)
{
	struct midas *m = s->priv;
	u32 open[STREAMS], i;

	if (!by_moves)
		for (i = 0; i < s->setup.zones; i++)
			if (s->z[i].stream > m->last)
				s->z[i].stream = m->last;
	memcpy(open, s->open, sizeof(open));
	for (i = 0; i < STREAMS; i++)
		s->open[i] = SIM_NOWHERE;
	for (i = 0; i < s->setup.zones; i++)
		s->z[i].stream = renamed(m, s->z[i].stream, last);
	for (i = 0; i < STREAMS; i++) {
		if (open[i] == SIM_NOWHERE)
			continue;
		if (s->open[s->z[open[i]].stream] == SIM_NOWHERE)
			s->open[s->z[open[i]].stream] = open[i];
		else
			sim_finish(s, open[i]);
	}
	m->last = last;
	m->by_moves = by_moves;
	m->touched = 0;
	memset(m->real, 0, sizeof(m->real));
	memset(m->victims, 0, sizeof(m->victims));
	m->look = s->clock + LOOK_EVERY * EPOCH * s->setup.blocks;
}

/* How many zones @group is to have. */
static u32 size_of(const struct midas *m, u32 group)
{
	return group ? m->want.size[group - 1] : m->want.hot;
}

/* From now on it is the groups of @g. */
static void adopt(struct sim *s, const struct uid_groups *g)
{
	struct midas *m = s->priv;
	u32 i, zone;

	regroup(s, g->n, false);
	m->want = *g;
	/* What is too much is the last group's. */
	for (i = 0; i < m->last; i++) {
		u32 n = zones_of(s, i);

		for (; n > size_of(m, i) && (zone = oldest(s, i)) != SIM_NOWHERE; n--)
			s->z[zone].stream = m->last;
	}
}

/* Is a group fuller than was expected? */
static void look(struct sim *s)
{
	struct midas *m = s->priv;
	u32 end = m->last + !m->by_moves, i;

	for (i = 1; i < end; i++)
		if (m->victims[i] && m->real[i] / m->victims[i] >= m->want.valid[i - 1] + TOO_FULL)
			break;
	if (i < end) {
		regroup(s, i, true);
		return;
	}
	memset(m->real, 0, sizeof(m->real));
	memset(m->victims, 0, sizeof(m->victims));
	m->look = s->clock + LOOK_EVERY * EPOCH * s->setup.blocks;
}

static u32 midas_victim(struct sim *s)
{
	struct midas *m = s->priv;
	u32 least = emptiest(s, 0), zone, i, to;

	/* All garbage there may be is in open zones. */
	if (least == SIM_NOWHERE || s->z[least].valid == s->setup.cap)
		return SIM_NOWHERE;
	if (++m->in_a_row > IN_A_ROW && m->last > 1) {
		/* What is moved frees nothing. */
		to = m->from < m->last ? m->from : m->last - 1;
		regroup(s, to ? to : 1, true);
		m->in_a_row = 0;
		/* It may have finished some. */
		least = emptiest(s, 0);
	}
	if (m->last == 1)
		return least;
	for (i = 0; i < m->last; i++) {
		if (zones_of(s, i) <= size_of(m, i))
			continue;
		zone = oldest(s, i);
		if (zone != SIM_NOWHERE)
			return zone;
	}
	zone = emptiest(s, m->last);
	return zone == SIM_NOWHERE ? least : zone;
}

/* --- HOT ------------------------------------------------------------------------- */

static bool learns(const struct midas *m)
{
	return m->epoch != ~0ull;
}

/* A zone of HOT goes. */
static void hot_gone(struct sim *s, u32 zone)
{
	struct midas *m = s->priv;

	m->ages += sim_clock(s) - s->z[zone].written;
	m->gone++;
}

static void heat_up(u8 *mark)
{
	*mark += (*mark & HEAT) < HOTTEST;
}

static void heat_down(u8 *mark)
{
	*mark -= (*mark & HEAT) > 0;
}

/* A block at @old is written again. */
static void heat(struct sim *s, u32 lba, u32 old)
{
	const struct sim_zone *z = &s->z[sim_zone_of(s, old)];
	struct midas *m = s->priv;

	if (!z->stream)
		heat_up(&m->mark[lba]);
	else if (z->stream > 1)
		return;
	else if (z->state == SIM_OPEN || sim_clock(s) - z->written <= m->life)
		heat_up(&m->mark[lba]);
	else
		heat_down(&m->mark[lba]);
}

/* Part of @mean of the last. */
static void average(double *mean, u32 n, double x)
{
	*mean += (x - *mean) / n;
}

/* How long HOT's zones live, and what is to be said of it. */
static void hot_measure(struct sim *s)
{
	struct midas *m = s->priv;
	double age = m->ages / m->gone;

	if (m->hot) {
		m->means += m->means < MEAN_OF;
		average(&m->u.traffic, m->means, (double)m->hot / m->all);
		average(&m->u.hot_valid, m->means, m->valid / m->gone);
		average(&m->u.hot_zones, m->means, zones_of(s, 0));
	}
	m->life = age >= 2 * m->life ? 1.5 * m->life : (age + m->life) / 2;
	m->left = m->life;
	m->ages = 0;
	m->valid = 0;
	m->gone = 0;
	m->hot = 0;
	m->all = 0;
}

/* --- epochs ---------------------------------------------------------------------- */

static void epoch_begin(struct sim *s)
{
	struct midas *m = s->priv;
	u32 i;

	uid_open(&m->u);
	for (i = 0; i < s->setup.blocks; i++)
		m->mark[i] &= HEAT;
	m->epoch = s->clock;
}

/* What was counted says which groups are best. */
static void epoch_end(struct sim *s)
{
	u32 most = s->setup.max_open - BY_MOVES, n = 0, i;
	struct midas *m = s->priv;
	struct uid_groups g;

	for (i = 0; i < s->setup.blocks; i++)
		if ((m->mark[i] & (WRITTEN | ENDED)) == WRITTEN)
			uid_add(&m->u, ~0ull);
	m->u.used = s->mapped;
	m->u.still = 0;
	for (i = 0; i < s->setup.zones; i++) {
		if (s->z[i].state != SIM_FULL || s->z[i].stream < m->last)
			continue;
		n++;
		m->u.still += s->z[i].valid == s->setup.cap;
	}
	m->u.still = (m->u.still - n * 0.05) * s->setup.cap;
	uid_close(&m->u);
	if (s->setup.max_open > BY_MOVES + 1 &&
	    uid_best(&m->u, most < UID_GROUPS ? most : UID_GROUPS, &g) &&
	    g.n > 1 && g.wa <= m->wa)
		adopt(s, &g);
}

/* An interval of @lba ends. */
static void interval(struct sim *s, u32 lba)
{
	struct midas *m = s->priv;

	if (!(m->mark[lba] & WRITTEN))
		return;
	uid_add(&m->u, (u32)s->clock - m->at[lba]);
	m->mark[lba] |= ENDED;
}

static u32 midas_user(struct sim *s, u32 lba, u32 old)
{
	struct midas *m = s->priv;
	bool hot;

	m->in_a_row = 0;
	m->zone = SIM_NOWHERE;
	if (s->clock - m->since == s->setup.blocks) {
		m->wa = 1 + (double)(s->n.copied - m->copied) / s->setup.blocks;
		m->since = s->clock;
		m->copied = s->n.copied;
	}
	if (s->clock == s->setup.blocks) {
		epoch_begin(s);
	} else if (learns(m) && s->clock - m->epoch == (u64)EPOCH * s->setup.blocks) {
		epoch_end(s);
		epoch_begin(s);
	}
	if (!learns(m))
		return 1;
	if (m->last > 1 && s->clock >= m->look)
		look(s);
	if (old != SIM_NOWHERE) {
		heat(s, lba, old);
		m->left--;
		if (m->left <= 0 && m->gone)
			hot_measure(s);
	}
	interval(s, lba);
	m->mark[lba] |= WRITTEN;
	m->at[lba] = s->clock;
	hot = (m->mark[lba] & HEAT) == HOTTEST;
	m->hot += hot;
	m->all++;
	return hot ? 0 : 1;
}

static void midas_discarded(struct sim *s, u32 lba, u32 n)
{
	struct midas *m = s->priv;

	for (; n--; lba++) {
		interval(s, lba);
		m->mark[lba] &= ~WRITTEN;
	}
}

static u32 midas_move(struct sim *s, u32 lba, u32 old)
{
	u32 group = s->z[sim_zone_of(s, old)].stream, end;
	struct midas *m = s->priv;

	if (group <= 1)
		heat_down(&m->mark[lba]);
	if (!group)
		heat_down(&m->mark[lba]);
	end = m->last + (m->by_moves ? BY_MOVES - 1 : 0);
	return group < end ? group + 1 : end;
}

static void midas_cleaned(struct sim *s, u32 zone)
{
	double valid = (double)s->z[zone].valid / s->setup.cap;
	u32 group = s->z[zone].stream, all;
	struct midas *m = s->priv;

	m->zone = zone;
	m->from = group;
	if (!group) {
		hot_gone(s, zone);
		m->valid += valid;
	}
	m->touched |= 1u << group;
	all = (2u << m->last) - 2;
	/* While some groups are new, what comes to the others is not what will come. */
	if ((m->touched & all) == all) {
		m->real[group] += valid;
		m->victims[group]++;
	}
}

/* Nothing is left of a zone of HOT? */
static void midas_dead(struct sim *s, u32 lba, u32 addr)
{
	const struct midas *m = s->priv;

	(void)lba;
	if (sim_dies(s, addr, m->zone))
		hot_gone(s, sim_zone_of(s, addr));
}

const struct sim_policy sim_midas = {
	.name = "midas", .doc = "MiDAS: through groups chained, as many and as large as is best",
	.init = midas_init, .exit = midas_exit, .user = midas_user, .move = midas_move,
	.discarded = midas_discarded, .dead = midas_dead, .victim = midas_victim,
	.cleaned = midas_cleaned,
};
