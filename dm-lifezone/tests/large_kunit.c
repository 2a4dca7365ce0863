// SPDX-License-Identifier: GPL-2.0-only
/* Drives so large that their trees have inner nodes; hardly anything is written. */
#include "ram.h"
#include "waiting.h"

static void large_exit(struct kunit *test)
{
	ram_free(test->priv);
}

static struct ram *large(struct kunit *test, u32 nr_zones, u32 zone_blocks, u32 zone_cap)
{
	struct ram *r = ram_sized(test, nr_zones, 8, zone_blocks, zone_cap);

	KUNIT_ASSERT_EQ_MSG(test, ram_format(r), 0, "(%s)", r->said);
	ram_again(r);
	return r;
}

/* Less memory than leaves. */
static void small_cache(struct ram *r)
{
	ram_stop(r);
	r->o.map_cache_mb = 1;
	ram_again(r);
	KUNIT_ASSERT_GT(r->test, r->lz->map.n[0], (u64)r->lz->max_cached);
}

/* Each leaf once, and all that anew so many times. */
static void rewrite(struct ram *r, u32 times)
{
	u64 n = r->lz->map.n[0], i;

	while (times--) {
		for (i = 0; i < n; i++)
			KUNIT_ASSERT_EQ(r->test,
					ram_write(r, LZ_CLASS_SHORT, i * LZ_NODE_ENTRIES, 1), 0);
		KUNIT_ASSERT_EQ(r->test, ram_flush(r), 0);
	}
}

/* Here and there, in first and last leaves of first and last nodes. */
static void scatter(struct ram *r, u32 seed)
{
	u64 n = r->si.logical_blocks, at[] = {
		0, LZ_NODE_ENTRIES - 1, LZ_NODE_ENTRIES, 5 * LZ_NODE_ENTRIES + 7, n / 2, n - 1,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(at); i++)
		KUNIT_ASSERT_EQ(r->test, ram_write(r, LZ_CLASS_LONG, at[i], 1), 0);
	for (i = 0; i < 30; i++)
		KUNIT_ASSERT_EQ(r->test, ram_write(r, LZ_CLASS_SHORT, ram_random(&seed, n), 1), 0);
}

static void goes_on(struct ram *r)
{
	scatter(r, 1);
	KUNIT_ASSERT_EQ(r->test, ram_checkpoint(r), 0);
	scatter(r, 2);
	KUNIT_ASSERT_EQ(r->test, ram_discard(r, 3 * LZ_NODE_ENTRIES, 5 * LZ_NODE_ENTRIES), 0);
	KUNIT_ASSERT_EQ(r->test, ram_flush(r), 0);
	ram_cut(r);
	ram_again(r);
	ram_verify(r);
	scatter(r, 3);
	ram_stop(r);
	ram_again(r);
	ram_verify(r);
	ram_check(r);
	/* And all of it goes. */
	KUNIT_ASSERT_EQ(r->test, ram_discard(r, 0, r->si.logical_blocks), 0);
	KUNIT_ASSERT_EQ(r->test, ram_checkpoint(r), 0);
	ram_survive(r);
}

static void large_map(struct kunit *test)
{
	struct ram *r = large(test, 1400, 128, 120);

	KUNIT_ASSERT_EQ(test, r->lz->map.levels, 2u);
	goes_on(r);
}

static void large_zone_table(struct kunit *test)
{
	struct ram *r = large(test, 8100, 16, 8);

	KUNIT_ASSERT_EQ(test, r->lz->ztab.levels, 2u);
	goes_on(r);
}

/* Nodes in zones of the log that the last checkpoint was to clean, and has not begun anew. */
static u32 left_in_victims(struct ram *r)
{
	struct lz *lz = r->lz;
	u32 i, n = 0;

	for (i = 0; i < r->g.nr_zones; i++) {
		if (lz->ckpt.victim[i] && lz->zone[i].state == LZ_ZS_META &&
		    i != lz->js->zone && i != lz->ns->zone)
			n += lz->zone[i].live;
	}
	return n;
}

/* The log is cleaned again and again, and inner nodes move with their leaves. */
static void large_log_cleaned(struct kunit *test)
{
	struct ram *r = large(test, 1400, 128, 120);
	u32 i;

	for (i = 0; i < 60; i++) {
		scatter(r, i);
		KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
		KUNIT_EXPECT_EQ(test, left_in_victims(r), 0u);
	}
	KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_META_CLEANS), 0ull);
	ram_verify(r);
	ram_survive(r);
}

/* Many updates of few leaves are few nodes: the log has room for these as it is. */
static void large_log_left_alone(struct kunit *test)
{
	struct ram *r = large(test, 4000, 64, 64);
	u64 n = r->lz->map.n[0], i, nodes;

	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, i * LZ_NODE_ENTRIES, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	nodes = lz_stat(r->lz, LZ_ST_NODE_BLOCKS);
	for (i = 0; i < 10; i++) {
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_SHORT, i * LZ_NODE_ENTRIES, 1000), 0);
		KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	}
	nodes = lz_stat(r->lz, LZ_ST_NODE_BLOCKS) - nodes;
	/* Two leaves or three, and at most all of the zone table. */
	KUNIT_EXPECT_LE(test, nodes, 10 * (3 + lz_tree_above(&r->lz->ztab, 0)));
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_META_CLEANS), 0ull);
	ram_survive(r);
}

static void some_low(struct ram *r, u32 *seed)
{
	u32 i;

	for (i = 0; i < 40; i++)
		KUNIT_ASSERT_EQ(r->test, ram_write(r, LZ_CLASS_LONG, ram_random(seed, 100000), 1),
				0);
	KUNIT_ASSERT_EQ(r->test, ram_checkpoint(r), 0);
}

/* One that nothing changes below is moved out of a zone that is cleaned all the same. */
static void large_inner_node_moved(struct kunit *test)
{
	struct ram *r = large(test, 2500, 128, 120);
	u32 seed = 1, i;
	u64 was;

	KUNIT_ASSERT_EQ(test, r->lz->map.n[1], 2ull);
	for (i = 0; i < 100 && !lz_stat(r->lz, LZ_ST_META_CLEANS); i++)
		some_low(r, &seed);
	KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_META_CLEANS), 0ull);
	KUNIT_EXPECT_EQ(test, r->lz->map.addr[1][1], (u64)LZ_NOWHERE);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, r->si.logical_blocks - 1, 1), 0);
	some_low(r, &seed);
	was = r->lz->map.addr[1][1];
	KUNIT_EXPECT_NE(test, was, (u64)LZ_NOWHERE);
	for (i = 0; i < 100 && r->lz->map.addr[1][1] == was; i++)
		some_low(r, &seed);
	KUNIT_EXPECT_NE(test, r->lz->map.addr[1][1], was);
	ram_verify(r);
	ram_survive(r);
}

/*
 * A commit of more leaves than fit into RAM. The zones whose blocks it overwrote have been
 * reset since, and so must count as empty when it is replayed.
 */
static void large_settled_late(struct kunit *test)
{
	struct ram *r = large(test, 1400, 128, 120);
	u32 n = div_u64(r->si.logical_blocks, LZ_NODE_ENTRIES), i;
	struct lz_info info;

	small_cache(r);
	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, i * LZ_NODE_ENTRIES, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	/* Each with one beside it that is new. */
	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_SHORT, i * LZ_NODE_ENTRIES, 2), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_cut(r);
	ram_again(r);
	lz_get_info(r->lz, &info);
	KUNIT_EXPECT_EQ(test, info.mapped, 2ull * n);
	ram_verify(r);
	ram_check(r);
}

/* Summaries of several blocks; they say whose blocks GC is to move. */
static void large_summaries(struct kunit *test)
{
	struct ram *r = large(test, 20, 2048, 2000);
	struct lz_summary *s = NULL;
	u32 zone, i, n = 3 * LZ_SUMMARY_ENTRIES;

	r->hold = true;
	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, i, 1), 0);
	zone = lz_addr_zone(r->lz, lz_map_get(r->lz, 0));
	r->hold = false;
	ram_pump(r);
	if (LZ_SUM_BLOCKS >= 3) {
		s = ram_block(r, lz_zone_addr(r->lz, zone, r->lz->zone[zone].head));
		KUNIT_EXPECT_EQ(test, le32_to_cpu(s->group), 3u);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(s->nth), 0u);
	}
	/* Full, half empty, and cleaned by what they say. */
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, n, 2000 - n), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	for (i = 0; i < 2000; i += 2)
		KUNIT_ASSERT_EQ(test, ram_discard(r, i, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	ram_check(r);
	lz_request_gc(r->lz, 1);
	for (i = 0; i < 5; i++) {
		ram_elapse(r, 2000);
		ram_flush(r);
	}
	KUNIT_EXPECT_GE(test, lz_stat(r->lz, LZ_ST_GC_COPIES), 900ull);
	KUNIT_EXPECT_EQ(test, r->said[0], 0);
	ram_verify(r);
	ram_check(r);
}

/* A hot set in more leaves than there is memory for: each is read for what it replaces only. */
static void large_replayed_once(struct kunit *test)
{
	struct ram *r = large(test, 6000, 128, 120);
	u64 reads, n = r->lz->map.n[0];

	small_cache(r);
	rewrite(r, 1);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	rewrite(r, 10);
	ram_cut(r);
	reads = r->nr_ops[LZ_OP_READ];
	ram_again(r);
	/* To replay it, to count off what is replaced, and as much again. */
	KUNIT_EXPECT_LT(test, r->nr_ops[LZ_OP_READ] - reads, 4 * n);
	ram_verify(r);
}

/**
 * struct readers - many who read, where the drive takes its time to read metadata
 * @r: the drive
 * @seed: of what is read next
 * @served: reads of users that have ended
 * @one: each of them
 */
struct readers {
	struct ram *r;
	u32 seed;
	u32 served;
	struct reader {
		struct waiting x;
		u64 lba;
		u32 tries;
	} one[400];
};

static struct readers *readers;

/* Reads until it has to wait for a leaf. */
static void read_on(struct reader *u)
{
	struct lz *lz = readers->r->lz;
	struct lz_read rd;

	while (lz_read_begin(lz, u->lba, 1, &rd) != -EAGAIN) {
		if (rd.addr != LZ_NOWHERE)
			lz_read_end(lz, &rd);
		readers->served++;
		u->tries = 0;
		u->lba = (u64)ram_random(&readers->seed, lz->map.n[0]) * LZ_NODE_ENTRIES;
	}
	u->tries++;
	u->x.called = false;
	u->x.w.fn = waiting_end;
	lz_leaf_wait(lz, rd.leaf, &u->x.w);
}

/* More who read than there is room for leaves: all get on, and so does GC. */
static void large_many_readers(struct kunit *test)
{
	struct ram *r = large(test, 6000, 128, 120);
	struct readers *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	u32 most = 0, i, n, rounds;
	u64 copies;

	KUNIT_ASSERT_NOT_NULL(test, m);
	readers = m;
	m->r = r;
	m->seed = 1;
	r->o.policy = LZ_POLICY_SLA;
	small_cache(r);
	n = r->lz->map.n[0];
	rewrite(r, 1);
	for (i = 0; i < n; i += 2)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, (u64)i * LZ_NODE_ENTRIES, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_ASSERT_LT(test, r->lz->max_cached, (u32)ARRAY_SIZE(m->one));
	r->slow = ram_reads_meta;
	for (i = 0; i < ARRAY_SIZE(m->one); i++) {
		m->one[i].lba = (u64)ram_random(&m->seed, n) * LZ_NODE_ENTRIES;
		read_on(&m->one[i]);
	}
	copies = lz_stat(r->lz, LZ_ST_GC_COPIES);
	lz_request_gc(r->lz, 3);
	for (rounds = 0; rounds < 1000; rounds++) {
		for (i = 0; i < 8 && r->nr_held; i++)
			ram_release(r, 0);
		r->now += 100000;
		lz_run(r->lz);
		for (i = 0; i < ARRAY_SIZE(m->one); i++) {
			if (m->one[i].x.called)
				read_on(&m->one[i]);
			most = max(most, m->one[i].tries);
		}
	}
	KUNIT_EXPECT_GT(test, m->served, 4000u);
	KUNIT_EXPECT_LT(test, most, 10u);
	KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_GC_COPIES), copies);
	r->slow = NULL;
	while (r->nr_held)
		ram_release(r, 0);
	ram_pump(r);
	for (i = 0; i < ARRAY_SIZE(m->one); i++)
		KUNIT_EXPECT_TRUE(test, m->one[i].x.called);
}

/* Where all leaves are in use one has to go all the same, and not all are looked at for that. */
static void large_all_wanted(struct kunit *test)
{
	struct ram *r = large(test, 1400, 2048, 2000);
	u32 spared = 0, i, n = r->lz->map.n[0];
	struct lz_cached *c;

	ram_stop(r);
	r->o.map_cache_mb = 17;
	ram_again(r);
	KUNIT_ASSERT_GT(test, n, r->lz->max_cached);
	rewrite(r, 1);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_ASSERT_EQ(test, r->lz->nr_cached, r->lz->max_cached);
	list_for_each_entry(c, &r->lz->lru, lru)
		c->referenced = 1;
	for (i = 0; r->lz->leaf[i]; i++)
		;
	r->now += 1000000000;
	KUNIT_EXPECT_EQ(test, ram_read(r, i * LZ_NODE_ENTRIES), 1u);
	KUNIT_EXPECT_NOT_NULL(test, r->lz->leaf[i]);
	KUNIT_EXPECT_EQ(test, r->lz->nr_cached, r->lz->max_cached);
	list_for_each_entry(c, &r->lz->lru, lru)
		spared += c->referenced;
	KUNIT_EXPECT_GE(test, spared, r->lz->max_cached - 4096);
}

/* All leaves in memory, nobody uses any. Returns how many. */
static u32 all_cached(struct ram *r)
{
	struct lz_cached *c;

	rewrite(r, 1);
	KUNIT_ASSERT_EQ(r->test, ram_checkpoint(r), 0);
	KUNIT_ASSERT_EQ(r->test, (u64)r->lz->nr_cached, r->lz->map.n[0]);
	KUNIT_ASSERT_GT(r->test, r->lz->nr_cached, LZ_LEAVES_LEAST + 100);
	ram_elapse(r, 2 * LZ_LEAF_HOLD_MS);
	list_for_each_entry(c, &r->lz->lru, lru)
		c->referenced = 0;
	return r->lz->nr_cached;
}

/* Others want so many leaves looked at: how many are left? */
static u32 shrunk(struct ram *r, u32 n)
{
	lz_cache_shrink(r->lz, n);
	ram_pump(r);
	KUNIT_EXPECT_EQ(r->test, atomic_read(&r->lz->shrink), 0);
	return r->lz->nr_cached;
}

static struct lz_cached *first_leaf(struct ram *r)
{
	return list_first_entry(&r->lz->lru, struct lz_cached, lru);
}

/* Where others want memory the machine drops leaves: as many as they ask for, and not all. */
static void large_shrink(struct kunit *test)
{
	struct ram *r = large(test, 1400, 128, 120);
	u32 n = all_cached(r), most = n - LZ_LEAVES_LEAST, i;
	u64 first = first_leaf(r)->idx;

	KUNIT_EXPECT_EQ(test, lz_cache_count(r->lz), most);
	lz_cache_shrink(r->lz, 10);
	KUNIT_EXPECT_EQ(test, r->lz->nr_cached, n);
	KUNIT_EXPECT_EQ(test, lz_cache_count(r->lz), most - 10);
	lz_cache_shrink(r->lz, most - 10);
	KUNIT_EXPECT_EQ(test, lz_cache_count(r->lz), 0u);
	lz_cache_shrink(r->lz, 20 - most);
	ram_pump(r);
	KUNIT_EXPECT_EQ(test, r->lz->nr_cached, n - 20);
	KUNIT_EXPECT_EQ(test, lz_cache_count(r->lz), most - 20);
	KUNIT_EXPECT_NULL(test, r->lz->leaf[first]);
	/* However many. */
	KUNIT_EXPECT_EQ(test, shrunk(r, ~0u), LZ_LEAVES_LEAST);
	KUNIT_EXPECT_EQ(test, lz_cache_count(r->lz), 0u);
	KUNIT_EXPECT_EQ(test, shrunk(r, 1), LZ_LEAVES_LEAST);
	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, ram_read(r, i * LZ_NODE_ENTRIES),
				r->version[i * LZ_NODE_ENTRIES]);
	KUNIT_EXPECT_EQ(test, r->lz->nr_cached, n);
	/* A device at rest has no machine. */
	KUNIT_EXPECT_EQ(test, lz_stop(r->lz), 0);
	KUNIT_EXPECT_EQ(test, lz_cache_count(r->lz), 0u);
	lz_cache_shrink(r->lz, 2 * n);
	lz_start(r->lz);
	ram_pump(r);
	KUNIT_EXPECT_EQ(test, r->lz->nr_cached, LZ_LEAVES_LEAST);
	ram_survive(r);
}

/* What was used since is looked at, but stays; so does what somebody is at. */
static void large_shrink_spares(struct kunit *test)
{
	struct waiting x = { .w.fn = waiting_end };
	struct ram *r = large(test, 1400, 128, 120);
	u32 n = all_cached(r), i;
	struct lz_cached *c;
	u64 idx;

	idx = first_leaf(r)->idx;
	KUNIT_EXPECT_EQ(test, ram_read(r, idx * LZ_NODE_ENTRIES),
			r->version[idx * LZ_NODE_ENTRIES]);
	KUNIT_EXPECT_EQ(test, shrunk(r, 10), n - 9);
	KUNIT_EXPECT_NOT_NULL(test, r->lz->leaf[idx]);
	/* All are used, and once more; then no more. */
	for (i = 0; i < 2; i++) {
		list_for_each_entry(c, &r->lz->lru, lru)
			c->referenced = 1;
		KUNIT_EXPECT_EQ(test, shrunk(r, n - 9), n - 9);
	}
	KUNIT_EXPECT_EQ(test, shrunk(r, 1), n - 10);
	/* The checkpoint has it. */
	c = first_leaf(r);
	c->busy = true;
	KUNIT_EXPECT_EQ(test, shrunk(r, 1), n - 10);
	c->busy = false;
	/* It is being read, and then there for who waits for it. */
	idx = first_leaf(r)->idx;
	KUNIT_ASSERT_EQ(test, shrunk(r, 1), n - 11);
	r->slow = ram_reads_meta;
	lz_leaf_wait(r->lz, idx, &x.w);
	ram_pump(r);
	c = r->lz->leaf[idx];
	for (i = 0; i < 3; i++) {
		list_del_init(&c->lru);
		list_add(&c->lru, &r->lz->lru);
		KUNIT_EXPECT_EQ(test, shrunk(r, 1), n - 10 - i / 2);
		if (!i)
			ram_release(r, 0);
		KUNIT_EXPECT_EQ(test, x.called, i > 0);
		if (i)
			ram_elapse(r, LZ_LEAF_HOLD_MS);
	}
	r->slow = NULL;
	ram_survive(r);
}

static bool of_map(struct ram *r, const struct lz_cmd *c)
{
	return c->meta && c->op != LZ_OP_FLUSH;
}

/* And they want it all the time while a checkpoint reads leaves, changes them and writes them. */
static void large_shrink_merge(struct kunit *test)
{
	struct ram *r = large(test, 1400, 128, 120);
	struct waiting ckpt = { .w.fn = waiting_end };
	u32 n = all_cached(r), least = n, most = 0, seed = 3;

	rewrite(r, 1);
	r->slow = of_map;
	lz_request_checkpoint(r->lz, &ckpt.w);
	ram_pump(r);
	while (r->nr_held) {
		lz_cache_shrink(r->lz, 1 + ram_random(&seed, n));
		r->now += 20000000;
		ram_release(r, 0);
		ram_pump(r);
		least = min(least, r->lz->nr_cached);
		most = max(most, r->nr_held);
	}
	KUNIT_EXPECT_TRUE(test, ckpt.called);
	KUNIT_EXPECT_EQ(test, ckpt.err, 0);
	KUNIT_EXPECT_GT(test, most, 1u);
	KUNIT_EXPECT_LT(test, least, n / 2);
	KUNIT_EXPECT_EQ(test, shrunk(r, ~0u), LZ_LEAVES_LEAST);
	ram_survive(r);
}

/* Records that fill the journal's buffer to the last it takes, and none of zones: it still ends. */
static void large_commit_ends(struct kunit *test)
{
	struct ram *r = large(test, 48, 2048, 2000);
	u32 n = LZ_LOG_BLOCKS * LZ_JOURNAL_RECORDS - 1, i;

	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 2 * i, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	KUNIT_ASSERT_EQ(test, r->lz->nr_zrec, 0u);
	KUNIT_ASSERT_GT(test, r->lz->delta_cap, n);
	r->hold = true;
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 1), 0);
	for (i = 1; i < n; i++)
		KUNIT_ASSERT_EQ(test, ram_discard(r, 2 * i, 1), 0);
	r->hold = false;
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_survive(r);
}

/* The drive takes long to read a leaf for a checkpoint; meanwhile somebody discards and syncs. */
static void large_discards_meanwhile(struct kunit *test)
{
	struct ram *r = large(test, 200, 128, 120);
	struct waiting ckpt = { .w.fn = waiting_end };
	u32 i, leaves = r->lz->map.n[0];
	u64 n = r->si.logical_blocks, lba;

	for (lba = 0; lba + 100 <= n; lba += 100)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, lba, 100), 0);
	/* The nodes of the next checkpoint need one zone more. */
	while (!r->lz->ns->off || r->lz->ns->off < 100) {
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 5, 1), 0);
		KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	}
	for (i = 0; i < leaves; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, i * LZ_NODE_ENTRIES, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_forget_leaves(r);
	r->slow = ram_reads_meta;
	lz_request_checkpoint(r->lz, &ckpt.w);
	ram_pump(r);
	KUNIT_ASSERT_GT(test, r->nr_held, 0u);
	for (i = 0; i < 3000; i++) {
		struct waiting x = { .w.fn = waiting_end };

		if (lz_discard(r->lz, 1000, 64))
			break;
		memset(r->version + 1000, 0, 64 * sizeof(*r->version));
		lz_flush(r->lz, &x.w);
		ram_pump(r);
		KUNIT_ASSERT_TRUE(test, x.called);
	}
	KUNIT_EXPECT_LT(test, i, 3000u);
	r->slow = NULL;
	while (r->nr_held)
		ram_release(r, 0);
	ram_pump(r);
	KUNIT_EXPECT_EQ_MSG(test, r->lz->mode, LZ_MODE_RW, "(%s)", r->said);
	KUNIT_EXPECT_TRUE(test, ckpt.called);
	KUNIT_EXPECT_EQ(test, ram_discard(r, 2000, 64), 0);
	KUNIT_EXPECT_EQ(test, ram_flush(r), 0);
	ram_survive(r);
}

/*
 * Where the map does not fit into memory GC needs many of its leaves, and has them read at the
 * same time.
 */
static void large_gc_reads_ahead(struct kunit *test)
{
	struct ram *r = ram_sized(test, 100, 16, 1024, 1024);
	u32 state = 7, most = 0, rounds = 0, n, i;

	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	ram_again(r);
	n = r->si.logical_blocks;
	r->lz->max_cached = r->lz->map.n[0] / 4;
	for (i = 0; i < n / 2; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, ram_random(&state, n), 1), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	ram_forget_leaves(r);
	r->slow = ram_reads_meta;
	lz_request_gc(r->lz, 1);
	ram_pump(r);
	for (; r->nr_held && rounds < 10000; rounds++) {
		u32 at_once = r->nr_held;

		most = max(most, at_once);
		while (at_once--)
			ram_release(r, 0);
		ram_elapse(r, 1);
	}
	KUNIT_EXPECT_EQ(test, r->nr_held, 0u);
	KUNIT_EXPECT_GE(test, most, LZ_MERGE_WINDOW / 2);
	KUNIT_EXPECT_GT(test, lz_stat(r->lz, LZ_ST_GC_COPIES),
			rounds * min(4ull, LZ_MERGE_WINDOW / 8ull));
	r->slow = NULL;
	ram_survive(r);
}

/* Room for which writers wait, but that a commit does not make, costs no commit. */
static void large_commits_not_in_vain(struct kunit *test)
{
	struct ram *r = large(test, 20, 16384, 16384);
	u32 n = 2 * LZ_RING, have = 0;
	struct lz_write *w = lz_zalloc_array(n, sizeof(*w));
	u64 commits;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, w);
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 1), 0);
	commits = lz_stat(r->lz, LZ_ST_COMMITS);
	/* As many under way as a zone has room to name. */
	do {
		err = lz_write_begin(r->lz, LZ_CLASS_LONG, 1, r->g.max_append, &w[have]);
	} while (!err && ++have < n);
	KUNIT_EXPECT_EQ(test, err, -EAGAIN);
	ram_pump(r);
	KUNIT_EXPECT_GT(test, lz_free_now(r->lz, false), 4u);
	KUNIT_EXPECT_EQ(test, lz_stat(r->lz, LZ_ST_COMMITS), commits);
	while (have--)
		lz_write_fail(r->lz, &w[have], -EIO);
	lz_free(w);
}

static struct kunit_case large_cases[] = {
	KUNIT_CASE_SLOW(large_map),
	KUNIT_CASE_SLOW(large_zone_table),
	KUNIT_CASE_SLOW(large_log_cleaned),
	KUNIT_CASE_SLOW(large_log_left_alone),
	KUNIT_CASE_SLOW(large_inner_node_moved),
	KUNIT_CASE_SLOW(large_settled_late),
	KUNIT_CASE_SLOW(large_summaries),
	KUNIT_CASE_SLOW(large_replayed_once),
	KUNIT_CASE_SLOW(large_many_readers),
	KUNIT_CASE_SLOW(large_all_wanted),
	KUNIT_CASE_SLOW(large_shrink),
	KUNIT_CASE_SLOW(large_shrink_spares),
	KUNIT_CASE_SLOW(large_shrink_merge),
	KUNIT_CASE_SLOW(large_commit_ends),
	KUNIT_CASE_SLOW(large_discards_meanwhile),
	KUNIT_CASE_SLOW(large_gc_reads_ahead),
	KUNIT_CASE_SLOW(large_commits_not_in_vain),
	{}
};

static struct kunit_suite large_suite = {
	.name = "lifezone-large",
	.exit = large_exit,
	.test_cases = large_cases,
};

kunit_test_suite(large_suite);
