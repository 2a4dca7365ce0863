// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that is refused, each place where core asks for some in turn. In user space
 * only, where the linker puts these functions between core and the C library.
 */
#include "../../dm-lifezone/tests/ram.h"
#include "../../dm-lifezone/tests/waiting.h"

/* Requests until one is refused; all from there on, or only that one. */
static bool armed, once, refused;
static u32 before;
static size_t most;		/* of an array, the largest */

static void *ask(void *(*f)(size_t a, size_t b), size_t a, size_t b)
{
	if (!armed || before) {
		before -= armed;
		return f(a, b);
	}
	refused = true;
	armed = !once;
	return NULL;
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	most = max(most, n * size);
	return ask(__real_calloc, n, size);
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return ask(__real_aligned_alloc, align, size);
}

static void arm(u32 n, bool only_one)
{
	before = n;
	once = only_one;
	refused = false;
	armed = true;
}

/* Was one refused? */
static bool disarm(void)
{
	armed = false;
	return refused;
}

/* The drive has what it needs. */
static void submit(void *ctx, struct lz_cmd *c)
{
	bool was = armed;

	armed = false;
	ram_ops.submit(ctx, c);
	armed = was;
}

static struct lz_ops ops;

/* After a cut: a checkpoint, and a journal with each kind of record. */
static struct ram *device(struct kunit *test)
{
	struct ram *r = ram_new(test, 40, 8);
	u32 i;

	/* Which has most to ask for. */
	r->o.policy = LZ_POLICY_ADAPTIVE;
	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	KUNIT_ASSERT_EQ(test, ram_load(r, 0), 0);
	r->ops = &ops;
	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, i * LZ_NODE_ENTRIES, 200), 0);
	KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
	for (i = 0; i < 4; i++) {
		KUNIT_ASSERT_EQ(test, ram_discard(r, i * LZ_NODE_ENTRIES + 50, 50), 0);
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_SHORT, i * LZ_NODE_ENTRIES, 50), 0);
	}
	/* More than are remembered to begin with. */
	for (i = 0; i < 300; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 2 * i, 1), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_cut(r);
	return r;
}

static int memory_init(struct kunit *test)
{
	ops = ram_ops;
	ops.submit = submit;
	return 0;
}

static void memory_exit(struct kunit *test)
{
	disarm();
	ram_free(test->priv);
}

/* A load fails and says why, or does without; nothing is lost, and nothing leaks. */
static void each_in_a_load(struct kunit *test, bool only_one, u32 flags)
{
	struct ram *r = device(test);
	u32 n, failed = 0, marks = 0;
	bool hit = true;
	int err;

	for (n = 0; hit; n++) {
		r->said[0] = 0;
		arm(n, only_one);
		err = ram_load(r, flags);
		hit = disarm();
		if (err) {
			KUNIT_ASSERT_TRUE(test, hit);
			KUNIT_EXPECT_EQ(test, err, -ENOMEM);
			failed++;
			marks += !!strstr(r->said, "policy=adaptive: no memory for ");
			continue;
		}
		ram_verify(r);
		if (!(flags & LZ_LOAD_RO))
			ram_check(r);
		ram_cut(r);
	}
	KUNIT_EXPECT_GT(test, failed, 20u);
	/* Those who may do without are told what for; who only reads needs none. */
	KUNIT_EXPECT_EQ(test, marks, flags & LZ_LOAD_RO ? 0 : 2);
}

static void memory_load(struct kunit *test)
{
	each_in_a_load(test, true, 0);
}

static void memory_load_none_left(struct kunit *test)
{
	each_in_a_load(test, false, 0);
}

static void memory_load_read_only(struct kunit *test)
{
	each_in_a_load(test, false, LZ_LOAD_RO);
}

/* However long a journal is, of what it names only what is in use is remembered. */
static void memory_long_journal(struct kunit *test)
{
	struct ram *r = ram_sized(test, 40, 8, 1024, 1024);
	u32 i, j, cap;
	u64 number;

	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	ram_again(r);
	cap = r->lz->delta_cap;
	number = r->lz->ckpt.number;
	for (i = 0; i < 300; i++) {
		for (j = 0; j < 2000; j += 2)
			KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, j, 1), 0);
		KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
		/* Or it would not become so long. */
		r->lz->ckpt.records = 0;
	}
	KUNIT_ASSERT_EQ(test, r->lz->ckpt.number, number);
	KUNIT_ASSERT_GT(test, 300000u, 8 * cap);
	ram_cut(r);
	most = 0;
	ram_again(r);
	KUNIT_EXPECT_LE(test, most, (size_t)8 * cap * sizeof(struct lz_name));
	ram_verify(r);
	ram_check(r);
	ram_survive(r);
}

static void memory_format(struct kunit *test)
{
	bool hit = true;
	u32 n;

	for (n = 0; hit; n++) {
		struct ram *r = ram_new(test, 40, 8);
		int err;

		r->ops = &ops;
		arm(n, true);
		err = ram_format(r);
		hit = disarm();
		KUNIT_EXPECT_EQ(test, err, hit ? -ENOMEM : 0);
		ram_free(r);
		test->priv = NULL;
	}
	KUNIT_EXPECT_GT(test, n, 20u);
}

static void memory_probe(struct kunit *test)
{
	struct ram *r = device(test);
	struct lz_super_info si;

	arm(0, true);
	KUNIT_EXPECT_EQ(test, lz_probe(&r->g, &ops, r, &si), -ENOMEM);
	arm(1, false);
	KUNIT_EXPECT_EQ(test, lz_probe(&r->g, &ops, r, &si), -ENOMEM);
	disarm();
}

/* A policy that cannot be had is refused, and all stays as it was. */
static void memory_options(struct kunit *test)
{
	struct ram *r = ram_device(test, 40, 8);
	struct lz_options o;
	char why[80], want[80];
	u32 n;

	ram_cut(r);
	r->o.policy = LZ_POLICY_WLA;
	ram_again(r);
	o = r->o;
	o.policy = LZ_POLICY_ADAPTIVE;
	snprintf(want, sizeof(want), "policy=adaptive: no memory for %llu bytes",
		 (unsigned long long)(2 * r->si.logical_blocks));
	for (n = 0; n < 2; n++) {
		arm(n, false);
		KUNIT_EXPECT_EQ(test, lz_prepare_options(r->lz, &o, why, sizeof(why)), -ENOMEM);
		KUNIT_EXPECT_TRUE(test, disarm());
		KUNIT_EXPECT_STREQ(test, why, want);
		KUNIT_EXPECT_FALSE(test, r->lz->life);
	}
	o.policy = LZ_POLICY_SLA;
	o.isolation = LZ_ISOLATION_ADAPTIVE;
	arm(0, false);
	KUNIT_EXPECT_EQ(test, lz_prepare_options(r->lz, &o, why, sizeof(why)), -ENOMEM);
	KUNIT_EXPECT_TRUE(test, disarm());
	KUNIT_EXPECT_TRUE(test, !strncmp(why, "gc_isolation=adaptive: no memory for ", 37));
	o.isolation = LZ_ISOLATION_PERSISTENT;
	arm(0, false);
	KUNIT_EXPECT_EQ(test, lz_prepare_options(r->lz, &o, why, sizeof(why)), 0);
	KUNIT_EXPECT_FALSE(test, disarm());
	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_NOT_SET, 0, 50), 0);
	KUNIT_ASSERT_EQ(test, ram_flush(r), 0);
	ram_survive(r);
}

/* Space is short as well, and GC waits for memory for a leaf: that is no want of space. */
static void memory_not_space(struct kunit *test)
{
	struct ram *r = ram_device(test, 60, 8);
	u32 state = 3, all = r->si.logical_blocks, i;
	struct waiting reader = { .w.fn = waiting_end };
	struct lz *lz = r->lz;
	struct lz_write w;
	int err = 0;

	KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, all), 0);
	for (i = 0; i < all; i++)
		KUNIT_ASSERT_EQ(test, ram_write(r, LZ_CLASS_LONG, ram_random(&state, all), 1), 0);
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, ram_checkpoint(r), 0);
		ram_elapse(r, 2000);
	}
	KUNIT_ASSERT_EQ(test, lz->gc.state, LZ_GC_IDLE);
	/* Users have no zone left; GC has, and is yet to begin. */
	r->hold = true;
	while (lz_free_for(lz, false))
		lz_zone_take_free(lz, false)->state = LZ_ZS_ROOT;
	for (i = 0; !err; i++)
		err = ram_write(r, LZ_CLASS_LONG, i, 1);
	KUNIT_ASSERT_EQ(test, err, -EAGAIN);
	r->hold = false;
	ram_forget_leaves(r);
	/* What memory is kept back has just gone to a reader, who is yet to look at it. */
	ops.submit = submit;
	lz->ops = &ops;
	arm(0, false);
	lz_leaf_wait(lz, 9, &reader.w);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, lz_write_begin(lz, LZ_CLASS_LONG, 0, 1, &w), -EAGAIN);
		ram_pump(r);
	}
	KUNIT_EXPECT_NE(test, lz->gc.state, LZ_GC_IDLE);
	KUNIT_EXPECT_TRUE(test, disarm());
	KUNIT_EXPECT_FALSE(test, lz->spent);
	KUNIT_EXPECT_EQ(test, r->said[0], 0);
	KUNIT_EXPECT_EQ(test, ram_write(r, LZ_CLASS_LONG, 0, 1), 0);
	lz->ops = &ram_ops;
}

/* Others need memory, too: by default the map has no more than a quarter of it. */
static void memory_quarter(struct kunit *test)
{
	struct ram *r = ram_sized(test, 1400, 8, 128, 120);
	u64 was = lz_user_ram, n;

	KUNIT_ASSERT_EQ(test, ram_format(r), 0);
	KUNIT_ASSERT_EQ(test, ram_load(r, 0), 0);
	n = r->lz->map.n[0] + 1;
	KUNIT_EXPECT_EQ(test, (u64)r->lz->max_cached, n);
	ram_stop(r);
	lz_user_ram = 4 * 2 * LZ_MERGE_WINDOW;
	KUNIT_ASSERT_GT(test, n, lz_user_ram / 4);
	KUNIT_ASSERT_EQ(test, ram_load(r, 0), 0);
	KUNIT_EXPECT_EQ(test, (u64)r->lz->max_cached, lz_user_ram / 4);
	ram_verify(r);
	ram_stop(r);
	r->o.map_cache_mb = 1;
	KUNIT_ASSERT_EQ(test, ram_load(r, 0), 0);
	KUNIT_EXPECT_EQ(test, r->lz->max_cached, 256u);
	lz_user_ram = was;
}

static void say_nothing(void *ctx, const char *line)
{
}

/* A check that cannot be made is not taken for one that found nothing. */
static void memory_check(struct kunit *test)
{
	struct lz_check_report report = { .say = say_nothing };
	struct ram *r = device(test);
	bool hit = true;
	int err;
	u32 n;

	for (n = 0; hit; n++) {
		KUNIT_ASSERT_EQ(test, ram_load(r, LZ_LOAD_RO), 0);
		arm(n, false);
		err = lz_check(r->lz, &report);
		hit = disarm();
		if (err)
			KUNIT_EXPECT_EQ(test, err, -ENOMEM);
		else
			KUNIT_EXPECT_EQ(test, report.errors, 0ull);
		KUNIT_ASSERT_TRUE(test, hit || !err);
		ram_cut(r);
	}
	KUNIT_EXPECT_GT(test, n, 5u);
}

static struct kunit_case memory_cases[] = {
	KUNIT_CASE(memory_load),
	KUNIT_CASE(memory_load_none_left),
	KUNIT_CASE(memory_load_read_only),
	KUNIT_CASE(memory_long_journal),
	KUNIT_CASE(memory_format),
	KUNIT_CASE(memory_probe),
	KUNIT_CASE(memory_options),
	KUNIT_CASE(memory_not_space),
	KUNIT_CASE(memory_quarter),
	KUNIT_CASE(memory_check),
	{}
};

static struct kunit_suite memory_suite = {
	.name = "lifezone-memory",
	.init = memory_init,
	.exit = memory_exit,
	.test_cases = memory_cases,
};

kunit_test_suite(memory_suite);
