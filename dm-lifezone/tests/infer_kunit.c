// SPDX-License-Identifier: GPL-2.0-only
/* policy=adaptive: what comes without a hint is put together by how often it is written. */
#include "ram.h"

#define ZONES		160u
#define HOT_PART	20u	/* of the blocks are hot */

static void infer_exit(struct kunit *test)
{
	ram_free(test->priv);
}

static struct ram *device(struct kunit *test, u8 policy, u32 max_open)
{
	struct ram *r = ram_new(test, ZONES, max_open);

	r->o.policy = policy;
	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	KUNIT_ASSERT_EQ(test, ram_load(r, 0), 0);
	return r;
}

static void fill(struct ram *r, u8 class)
{
	u32 lba;

	for (lba = 0; lba < r->si.logical_blocks; lba++)
		KUNIT_ASSERT_EQ(r->test, ram_write(r, class, lba, 1), 0);
}

/* Hot blocks are all over the device: every HOT_PART'th. Nine writes of ten go to them. */
static void overwrite(struct ram *r, u32 *state, u8 class, u32 fills)
{
	u32 n = r->si.logical_blocks, i, lba;

	for (i = 0; i < fills * n; i++) {
		lba = ram_random(state, n);
		if (ram_random(state, 10))
			lba -= lba % HOT_PART;
		KUNIT_ASSERT_EQ(r->test, ram_write(r, class, lba, 1), 0);
	}
}

/* All reads as it was last written, and does after a cut. */
static void sound(struct ram *r)
{
	ram_verify(r);
	KUNIT_ASSERT_EQ(r->test, ram_flush(r), 0);
	ram_survive(r);
}

/* Where the block lies. */
static struct lz_zone *zone_of(struct ram *r, u64 lba)
{
	struct lz_read rd;
	struct lz_zone *z;

	while (lz_read_begin(r->lz, lba, 1, &rd) == -EAGAIN)
		ram_read(r, lba);
	z = &r->lz->zone[lz_addr_zone(r->lz, rd.addr)];
	lz_read_end(r->lz, &rd);
	return z;
}

/* Blocks that share a zone with those of the other kind, in 100 of all. */
static u32 mixed(struct ram *r)
{
	u32 *hot = kunit_kzalloc(r->test, 2 * ZONES * sizeof(*hot), GFP_KERNEL);
	u32 *cold = hot + ZONES, lba, i, sum = 0;

	for (lba = 0; lba < r->si.logical_blocks; lba++)
		(lba % HOT_PART ? cold : hot)[lz_zone_nr(r->lz, zone_of(r, lba))]++;
	for (i = 0; i < ZONES; i++)
		sum += min(hot[i], cold[i]);
	return 100 * sum * HOT_PART / r->si.logical_blocks;
}

/* Copies of 4 fills, after another 4. */
static u64 copies(struct kunit *test, u8 policy, u32 *mix)
{
	struct ram *r = device(test, policy, 14);
	u32 state = 3;
	u64 was;

	fill(r, LZ_CLASS_NOT_SET);
	overwrite(r, &state, LZ_CLASS_NOT_SET, 4);
	was = lz_stat(r->lz, LZ_ST_GC_COPIES);
	overwrite(r, &state, LZ_CLASS_NOT_SET, 4);
	was = lz_stat(r->lz, LZ_ST_GC_COPIES) - was;
	*mix = mixed(r);
	sound(r);
	ram_free(r);
	test->priv = NULL;
	return was;
}

/* Hot and cold blocks come to lie apart, and that spares copies. */
static void infer_apart(struct kunit *test)
{
	u32 mixed_wla, mixed_ours;
	u64 wla = copies(test, LZ_POLICY_WLA, &mixed_wla);
	u64 ours = copies(test, LZ_POLICY_ADAPTIVE, &mixed_ours);

	KUNIT_EXPECT_LT(test, 4 * ours, 3 * wla);
	KUNIT_EXPECT_LT(test, 2 * mixed_ours, mixed_wla);
}

/* What is hinted keeps its class; what is written again and is not hinted is in a group. */
static void infer_hints(struct kunit *test)
{
	struct ram *r = device(test, LZ_POLICY_ADAPTIVE, 14);
	u32 c;

	for (c = 0; c < LZ_NR_CLASSES; c++) {
		KUNIT_ASSERT_EQ(test, ram_write(r, c, c, 1), 0);
		if (lz_ordered(c) || c == LZ_CLASS_NOT_SET)
			KUNIT_EXPECT_EQ(test, zone_of(r, c)->class, c);
		else
			KUNIT_EXPECT_GE(test, zone_of(r, c)->class, LZ_CLASS_GROUP);
		KUNIT_ASSERT_EQ(test, ram_write(r, c, c, 1), 0);
		if (lz_ordered(c))
			KUNIT_EXPECT_EQ(test, zone_of(r, c)->class, c);
		else
			KUNIT_EXPECT_GE(test, zone_of(r, c)->class, LZ_CLASS_GROUP);
		/* Counted as what users called it. */
		KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_CLASS_WRITES + c), 2ull);
	}
	/* And in none once it has been discarded. */
	KUNIT_ASSERT_EQ(test, ram_discard(r, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_NOT_SET, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, zone_of(r, 0)->class, LZ_CLASS_NOT_SET);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_survive(r);
}

/* Until it is known what a hint is worth it is kept; survivors are grouped, hint or not. */
static void infer_survivors(struct kunit *test)
{
	struct ram *r = device(test, LZ_POLICY_ADAPTIVE, 14);
	u32 state = 9, i;

	fill(r, LZ_CLASS_EXTREME);
	KUNIT_EXPECT_EQ(test, zone_of(r, 0)->class, LZ_CLASS_EXTREME);
	overwrite(r, &state, LZ_CLASS_EXTREME, 3);
	/* One class alone cannot differ from others. */
	KUNIT_EXPECT_TRUE(test, r->lz->life->trusted);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_CLASS_COPIES + LZ_CLASS_EXTREME), 0ull);
	KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_GC_COPIES), 0ull);
	/* Hints drawn at random are worth nothing. */
	for (i = 0; i < 4 * r->si.logical_blocks; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_SHORT + ram_random(&state, 4),
						ram_random(&state, r->si.logical_blocks), 1), 0);
	KUNIT_EXPECT_FALSE(test, r->lz->life->trusted);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_SHORT, 0, 1), 0);
	KUNIT_EXPECT_GE(test, zone_of(r, 0)->class, LZ_CLASS_GROUP);
	sound(r);
}

/* gc_isolation=adaptive: users' data goes where the policy wants it, what survives to groups. */
static void infer_isolation(struct kunit *test)
{
	struct ram *r = device(test, LZ_POLICY_SLA, 14);
	struct lz_options o;
	char why[80];
	u32 state = 11, c, groups = 0;
	struct lz_info info;
	u64 copies;

	lz_get_options(r->lz, &o);
	o.isolation = LZ_ISOLATION_ADAPTIVE;
	KUNIT_ASSERT_EQ(test, lz_prepare_options(r->lz, &o, why, sizeof(why)), 0);
	lz_set_options(r->lz, &o);
	for (c = 0; c < LZ_NR_CLASSES; c++) {
		KUNIT_ASSERT_EQ(test, ram_write(r, c, c, 1), 0);
		KUNIT_EXPECT_EQ(test, zone_of(r, c)->class, c);
	}
	fill(r, LZ_CLASS_NOT_SET);
	overwrite(r, &state, LZ_CLASS_NOT_SET, 6);
	copies = lz_stat(r->lz, LZ_ST_GC_COPIES);
	KUNIT_EXPECT_GT(test, copies, 0ull);
	for (c = 0; c < LZ_CLASS_GROUP; c++)
		KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_CLASS_COPIES + c), 0ull);
	lz_get_info(r->lz, &info);
	for (c = LZ_CLASS_GROUP; c < LZ_NR_ZONE_CLASSES; c++)
		groups += !!info.class_zones[c];
	KUNIT_EXPECT_GT(test, groups, 1u);
	sound(r);
}

/* Where order is worth more: what has no hint is in zones of its own, what survives in groups. */
static void infer_order(struct kunit *test)
{
	struct ram *r = device(test, LZ_POLICY_ADAPTIVE, 14);
	u32 state = 13, i;

	fill(r, LZ_CLASS_NOT_SET);
	for (i = 0; i < 4 * r->si.logical_blocks; i++) {
		/* Whatever is measured. */
		WRITE_ONCE(r->lz->life->order.wins, true);
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_NOT_SET,
						ram_random(&state, r->si.logical_blocks), 1), 0);
	}
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_CLASS_COPIES + LZ_CLASS_NOT_SET), 0ull);
	KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_GC_COPIES), 0ull);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_NOT_SET, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, zone_of(r, 0)->class, LZ_CLASS_NOT_SET);
	sound(r);
}

/* Once nothing comes with a hint any more the zones of hints are the groups'. */
static void infer_hints_end(struct kunit *test)
{
	struct ram *r = device(test, LZ_POLICY_ADAPTIVE, 14);
	u32 state = 15, i;
	u8 c;

	fill(r, LZ_CLASS_NOT_SET);
	for (c = LZ_CLASS_SHORT; c <= LZ_CLASS_EXTREME; c++) {
		KUNIT_ASSERT_EQ(test, ram_write(r, c, c, 1), 0);
		KUNIT_EXPECT_EQ(test, zone_of(r, c)->class, c);
	}
	overwrite(r, &state, LZ_CLASS_NOT_SET, 6);
	for (i = 0; i < ZONES; i++)
		if (r->lz->zone[i].state == LZ_ZS_OPEN)
			KUNIT_EXPECT_TRUE(test, lz_is_group(r->lz->zone[i].class));
	sound(r);
}

/* A request stays in one piece, whatever is known of its parts. */
static void infer_requests(struct kunit *test)
{
	struct ram *r = device(test, LZ_POLICY_ADAPTIVE, 14);
	u32 state = 4, lba, i;

	fill(r, LZ_CLASS_NOT_SET);
	overwrite(r, &state, LZ_CLASS_NOT_SET, 3);
	for (i = 0; i < 50; i++) {
		lba = ram_random(&state, r->si.logical_blocks - 8);
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_NOT_SET, lba, 8), 0);
		/* But for one that fills a zone to its end. */
		if (zone_of(r, lba)->state == LZ_ZS_OPEN)
			KUNIT_EXPECT_PTR_EQ(test, zone_of(r, lba), zone_of(r, lba + 7));
	}
	ram_verify(r);
}

/* Zones keep their groups over a load, and what is in them stays there until more is known. */
static void infer_reload(struct kunit *test)
{
	struct ram *r = device(test, LZ_POLICY_ADAPTIVE, 14);
	u8 *class = kunit_kzalloc(test, ZONES, GFP_KERNEL);
	u32 *gen = kunit_kzalloc(test, ZONES * sizeof(*gen), GFP_KERNEL);
	u32 state = 5, lba, i, same = 0;

	fill(r, LZ_CLASS_NOT_SET);
	overwrite(r, &state, LZ_CLASS_NOT_SET, 8);
	for (i = 0; i < ZONES; i++) {
		class[i] = r->lz->zone[i].class;
		gen[i] = r->lz->zone[i].gen;
	}
	ram_stop(r);
	KUNIT_ASSERT_EQ(test, ram_load(r, 0), 0);
	for (lba = 0; lba < r->si.logical_blocks; lba++) {
		const struct lz_zone *z = zone_of(r, lba);

		i = lz_zone_nr(r->lz, z);
		KUNIT_ASSERT_EQ(test, lz_infer_moved(r->lz, z, lba),
				min_t(u8, z->class, LZ_CLASS_GROUP + r->lz->life->groups - 1));
		if (z->gen != gen[i])
			continue;
		KUNIT_ASSERT_EQ(test, z->class, class[i]);
		same++;
	}
	KUNIT_EXPECT_GT(test, same, lba / 2);
	overwrite(r, &state, LZ_CLASS_NOT_SET, 4);
	sound(r);
}

static void set_policy(struct ram *r, u8 policy)
{
	struct lz_options o;
	char why[80];

	lz_get_options(r->lz, &o);
	o.policy = policy;
	KUNIT_ASSERT_EQ(r->test, lz_prepare_options(r->lz, &o, why, sizeof(why)), 0);
	lz_set_options(r->lz, &o);
	r->o.policy = policy;
}

/* What GC moves and nothing is known of stays where it is, if that is still used. */
static void infer_moved(struct kunit *test)
{
	struct ram *r = device(test, LZ_POLICY_ADAPTIVE, 14);
	u32 last = LZ_CLASS_GROUP + r->lz->life->groups - 1;
	struct lz_zone z = { .class = LZ_CLASS_LONG };

	KUNIT_EXPECT_EQ(test, lz_infer_moved(r->lz, &z, 0), LZ_CLASS_LONG);
	for (z.class = LZ_CLASS_GROUP; z.class <= last; z.class++)
		KUNIT_EXPECT_EQ(test, lz_infer_moved(r->lz, &z, 0), z.class);
	KUNIT_ASSERT_GT(test, last, LZ_CLASS_GROUP + 1);
	WRITE_ONCE(r->lz->life->groups, 2);
	z.class = last;
	KUNIT_EXPECT_EQ(test, lz_infer_moved(r->lz, &z, 0), LZ_CLASS_GROUP + 1);
	set_policy(r, LZ_POLICY_SLA);
	KUNIT_EXPECT_EQ(test, lz_infer_moved(r->lz, &z, 0), LZ_CLASS_NOT_SET);
	z.class = LZ_CLASS_GROUP;
	KUNIT_EXPECT_EQ(test, lz_infer_moved(r->lz, &z, 0), LZ_CLASS_NOT_SET);
	z.class = LZ_CLASS_META;
	KUNIT_EXPECT_EQ(test, lz_infer_moved(r->lz, &z, 0), LZ_CLASS_META);
}

/* Nothing is kept of what was in a zone that others adopt, as it is empty. */
static void infer_adopted(struct kunit *test)
{
	struct ram *r = device(test, LZ_POLICY_ADAPTIVE, 14);
	struct lz_zone *z;

	ram_set_reset(r, LZ_RESET_ADAPTIVE);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_EXTREME, 0, 4), 0);
	z = zone_of(r, 0);
	KUNIT_EXPECT_EQ(test, z->open->life.n, 4u);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 0, 4), 0);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 8, 1), 0);
	KUNIT_EXPECT_PTR_EQ(test, zone_of(r, 8), z);
	KUNIT_EXPECT_EQ(test, z->class, LZ_CLASS_LONG);
	KUNIT_EXPECT_EQ(test, z->open->life.n, 1u);
}

/* Who only reads needs no marks, whatever the policy. */
static void infer_read_only(struct kunit *test)
{
	struct ram *r = device(test, LZ_POLICY_SLA, 8);

	ram_stop(r);
	KUNIT_ASSERT_EQ(test, ram_load(r, LZ_LOAD_RO), 0);
	set_policy(r, LZ_POLICY_ADAPTIVE);
	KUNIT_EXPECT_PTR_EQ(test, r->lz->life, NULL);
}

/* Asked for in use, and given up again: the groups go as GC comes by. */
static void infer_live(struct kunit *test)
{
	struct ram *r = device(test, LZ_POLICY_SLA, 8);
	struct lz_info info;
	u32 state = 6, c, groups = 0;

	fill(r, LZ_CLASS_META);
	KUNIT_EXPECT_PTR_EQ(test, r->lz->life, NULL);
	set_policy(r, LZ_POLICY_ADAPTIVE);
	KUNIT_ASSERT_TRUE(test, r->lz->life);
	overwrite(r, &state, LZ_CLASS_META, 4);
	lz_get_info(r->lz, &info);
	for (c = LZ_CLASS_GROUP; c < LZ_NR_ZONE_CLASSES; c++)
		groups += !!info.class_zones[c];
	KUNIT_EXPECT_GT(test, groups, 1u);
	KUNIT_EXPECT_LE(test, groups, r->lz->data_slots);
	set_policy(r, LZ_POLICY_SLA);
	overwrite(r, &state, LZ_CLASS_META, 4);
	lz_get_info(r->lz, &info);
	for (c = LZ_CLASS_GROUP, groups = 0; c < LZ_NR_ZONE_CLASSES; c++)
		groups += info.class_zones[c];
	KUNIT_EXPECT_LT(test, groups, r->g.nr_zones / 8);
	ram_verify(r);
	set_policy(r, LZ_POLICY_ADAPTIVE);
	overwrite(r, &state, LZ_CLASS_META, 1);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_survive(r);
}

/* Ten blocks of each hint from @lba on. Return: what follows them. */
static u32 write_each(struct ram *r, u32 lba)
{
	u32 class;

	for (class = LZ_CLASS_SHORT; class <= LZ_CLASS_EXTREME; class++, lba += 10)
		KUNIT_ASSERT_EQ_MSG(r->test, ram_write(r, class, lba, 10), 0, "class %u", class);
	return lba;
}

/* Where there is little space to spare lifetimes share zones, under policy=adaptive only. */
static void infer_open(struct kunit *test)
{
	struct ram *r = device(test, LZ_POLICY_ADAPTIVE, 14);
	u32 lba;

	r->lz->life->open = 4;
	lba = write_each(r, 0);
	/* One is left for GC. */
	KUNIT_EXPECT_EQ(test, r->lz->nr_open, 3u);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_FINISHES_MISMATCH), 0ull);
	set_policy(r, LZ_POLICY_SLA);
	write_each(r, lba);
	KUNIT_EXPECT_EQ(test, r->lz->nr_open, 4u);
	sound(r);
}

/* Discarded blocks are not waited for: of those in use all are alike. */
static void infer_discards(struct kunit *test)
{
	struct ram *r = device(test, LZ_POLICY_ADAPTIVE, 8);
	u64 half = r->si.logical_blocks / 2;
	u32 state = 7, lba;
	int rate;

	fill(r, LZ_CLASS_NOT_SET);
	overwrite(r, &state, LZ_CLASS_NOT_SET, 2);
	KUNIT_ASSERT_EQ(test, ram_discard(r, half, r->si.logical_blocks - half), 0);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 5, 1), 0);
	for (lba = 0; lba < r->si.logical_blocks; lba++)
		KUNIT_ASSERT_EQ(test, lz_life_rate(r->lz->life, lba, &rate),
				lba < half && lba != 5);
	ram_verify(r);
}

/* Nor of what was discarded while another policy was in use. */
static void infer_discarded_unasked(struct kunit *test)
{
	struct ram *r = device(test, LZ_POLICY_ADAPTIVE, 8);
	struct lz_options o = r->lz->o;
	u32 lba;
	int rate;

	fill(r, LZ_CLASS_NOT_SET);
	r->lz->o.policy = LZ_POLICY_WLA;
	r->lz->o.isolation = LZ_ISOLATION_PERSISTENT;
	r->lz->o.victim = LZ_VICTIM_GREEDY;
	KUNIT_ASSERT_FALSE(test, lz_wants_rates(&r->lz->o));
	KUNIT_ASSERT_EQ(test, ram_discard(r, 10, 20), 0);
	r->lz->o = o;
	for (lba = 0; lba < 40; lba++)
		KUNIT_EXPECT_EQ(test, lz_life_rate(r->lz->life, lba, &rate), lba < 10 || lba >= 30);
}

/*
 * What it changes that as many blocks were written since as there are, in 16ths of their log2.
 * @loses: and that it has lost one just now
 */
static int by_age(struct ram *r, struct lz_zone *z, bool loses)
{
	u64 n = r->si.logical_blocks, now = z->seq + n;
	int log = lz_log2(n), by;

	z->lost = loses ? now : 0;
	by = lz_infer_zone_rate(r->lz, z, 0, now) - lz_infer_zone_rate(r->lz, z, n - 1, now);
	return (16 * by + log / 2) / log;
}

/*
 * A zone goes by what is left in it, by its age, and by when it lost a block; one nothing is known
 * of by its age alone.
 */
static void infer_zone_rates(struct kunit *test)
{
	struct ram *r = device(test, LZ_POLICY_ADAPTIVE, 8);
	struct lz_zone *z;
	u32 state = 8;
	int rate;
	u64 n;

	fill(r, LZ_CLASS_NOT_SET);
	overwrite(r, &state, LZ_CLASS_NOT_SET, 4);
	for (z = zone_of(r, 1); z->state != LZ_ZS_FULL; z = zone_of(r, 21))
		overwrite(r, &state, LZ_CLASS_NOT_SET, 1);
	KUNIT_EXPECT_TRUE(test, z->rated);
	/*
	 * The age is a quarter of it, an eighth less where it has lost a block just now; of what
	 * has a hint none of that, unless the hint tells nothing.
	 */
	KUNIT_EXPECT_EQ(test, by_age(r, z, false), 4);
	KUNIT_EXPECT_EQ(test, by_age(r, z, true), 2);
	r->lz->life->shared = true;
	KUNIT_EXPECT_EQ(test, by_age(r, z, true), 4);
	r->lz->life->shared = false;
	z->mean.once[0] = 64;
	z->mean.once[1] = 128;
	KUNIT_EXPECT_TRUE(test, r->lz->life->trusted);
	KUNIT_EXPECT_EQ(test, by_age(r, z, false), 2);
	KUNIT_EXPECT_EQ(test, by_age(r, z, true), 0);
	r->lz->life->order.wins = true;
	KUNIT_EXPECT_EQ(test, by_age(r, z, false), 4);
	r->lz->life->order.wins = false;
	r->lz->life->trusted = false;
	KUNIT_EXPECT_EQ(test, by_age(r, z, false), 4);
	z->mean.once[1] = 0;
	/* As if half of its blocks were written again and again, some more often than others. */
	z->mean.once[0] = 128;
	z->mean.spread = 4 * 256;
	rate = lz_infer_zone_rate(r->lz, z, 0, 0);
	atomic_sub(4, &z->valid);
	KUNIT_EXPECT_LT(test, lz_infer_zone_rate(r->lz, z, 0, 0), rate);
	atomic_add(4, &z->valid);
	z->rated = false;
	n = r->si.logical_blocks;
	z->lost = n;
	KUNIT_EXPECT_EQ(test, lz_infer_zone_rate(r->lz, z, n - 1, n), 0);
	KUNIT_EXPECT_GT(test, lz_infer_zone_rate(r->lz, z, 0, n),
			lz_infer_zone_rate(r->lz, z, 1000, n));
}

/* When a zone lost a block to users is known, not what GC moves out of it. */
static void infer_lost(struct kunit *test)
{
	struct ram *r = device(test, LZ_POLICY_ADAPTIVE, 8);
	u64 last = r->si.logical_blocks - 1, was;
	struct lz_zone *z, *other;

	fill(r, LZ_CLASS_NOT_SET);
	z = zone_of(r, 0);
	other = zone_of(r, last);
	KUNIT_ASSERT_TRUE(test, z != other);
	KUNIT_EXPECT_EQ(test, z->lost, 0ull);
	was = atomic64_read(&r->lz->write_seq);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_NOT_SET, 0, 1), 0);
	KUNIT_EXPECT_GE(test, z->lost, was);
	KUNIT_EXPECT_EQ(test, other->lost, 0ull);
	KUNIT_ASSERT_EQ(test, ram_discard(r, last, 1), 0);
	KUNIT_EXPECT_GE(test, other->lost, z->lost);
	other->lost = 0;
	lz_valid_sub(r->lz, lz_zone_addr(r->lz, lz_zone_nr(r->lz, other), 0), true);
	KUNIT_EXPECT_EQ(test, other->lost, 0ull);
	atomic_inc(&other->valid);
}

/* Where what is written last goes first, a zone is left alone once a run has ended; else not. */
static void infer_alone(struct kunit *test)
{
	struct ram *r = device(test, LZ_POLICY_ADAPTIVE, 14);
	struct lz_zone *z;
	u32 lba, n;

	ram_set_reset(r, LZ_RESET_LAZY);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_EXTREME, 0, 4), 0);
	z = zone_of(r, 0);
	KUNIT_ASSERT_EQ(test, ram_discard(r, 0, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_EXTREME, 4, 1), 0);
	KUNIT_EXPECT_PTR_EQ(test, zone_of(r, 4), z);
	KUNIT_EXPECT_FALSE(test, lz_infer_alone(r->lz));
	r->lz->life->alone = true;
	/* Each run ends in a zone of its own, until four wait. */
	for (n = 1, lba = 4; n < 6; n++, lba++) {
		KUNIT_ASSERT_EQ(test, ram_discard(r, lba, 1), 0);
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_EXTREME, lba + 1, 1), 0);
		KUNIT_EXPECT_EQ(test, r->lz->nr_open, min(n + 1, 4u));
		if (n == 4)
			KUNIT_EXPECT_PTR_EQ(test, zone_of(r, lba + 1), z);
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_EXTREME, lba + 1, 1), 0);
	}
	/* Other policies leave none alone, whatever was measured. */
	r->o.policy = LZ_POLICY_SLA;
	lz_set_options(r->lz, &r->o);
	KUNIT_EXPECT_FALSE(test, lz_infer_alone(r->lz));
	sound(r);
}

/* One that is all gone is not kept to be filled up, unless hardly anything was written to it. */
static void infer_alone_emptied(struct kunit *test)
{
	static const struct {
		bool alone;
		u32 part;	/* of the zone that is written */
		int state;
	} cases[] = {
		{ false, 4, LZ_ZS_OPEN }, { true, 32, LZ_ZS_OPEN }, { true, 4, LZ_ZS_FREE },
	};
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ram *r = device(test, LZ_POLICY_ADAPTIVE, 14);
		struct lz_zone *z;

		ram_set_reset(r, LZ_RESET_ADAPTIVE);
		r->lz->life->alone = cases[i].alone;
		n = r->lz->g.zone_cap / cases[i].part;
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_EXTREME, 0, n), 0);
		z = zone_of(r, 0);
		KUNIT_ASSERT_EQ(test, ram_discard(r, 0, n), 0);
		KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
		KUNIT_EXPECT_EQ_MSG(test, (int)z->state, cases[i].state, "(case %u)", i);
		ram_verify(r);
		ram_free(r);
		test->priv = NULL;
	}
}

static struct kunit_case infer_cases[] = {
	KUNIT_CASE_SLOW(infer_apart),
	KUNIT_CASE(infer_hints),
	KUNIT_CASE(infer_survivors),
	KUNIT_CASE_SLOW(infer_isolation),
	KUNIT_CASE(infer_order),
	KUNIT_CASE(infer_hints_end),
	KUNIT_CASE(infer_requests),
	KUNIT_CASE(infer_reload),
	KUNIT_CASE(infer_moved),
	KUNIT_CASE(infer_adopted),
	KUNIT_CASE(infer_read_only),
	KUNIT_CASE(infer_live),
	KUNIT_CASE(infer_open),
	KUNIT_CASE(infer_alone),
	KUNIT_CASE(infer_alone_emptied),
	KUNIT_CASE(infer_discards),
	KUNIT_CASE(infer_discarded_unasked),
	KUNIT_CASE(infer_zone_rates),
	KUNIT_CASE(infer_lost),
	{}
};

static struct kunit_suite infer_suite = {
	.name = "lifezone-infer",
	.exit = infer_exit,
	.test_cases = infer_cases,
};

kunit_test_suite(infer_suite);
