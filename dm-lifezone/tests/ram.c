// SPDX-License-Identifier: GPL-2.0-only
/*
 * The drive, the host and the user of ram.h.
 *
 * Rules of zoned drives are checked as commands come: writes at the write
 * pointer, nothing beyond the capacity, no more zones open than allowed, no
 * read of what was not written. A block of user data begins with its logical
 * address and version; the rest of it does not matter.
 */
#include "ram.h"
#include "waiting.h"

#define TRIES	2000

static void broken(struct ram *r, const char *what, u32 zone, u32 off)
{
	if (!r->broken)
		KUNIT_FAIL(r->test, "%s: zone %u, block %u, write pointer %u\n", what, zone, off,
			   r->zone[zone].wp);
	r->broken = true;
}

/* What reads where nothing is written. */
static void blank(struct ram *r, struct ram_zone *z)
{
	memset(z->data, 0xff, (size_t)r->g.zone_cap * LZ_BLOCK_SIZE);
}

/*
 * Memory for a zone comes with its first use: a drive may be large and hardly used. Not mapped page
 * by page, if it need not be: user-mode Linux asks its host each time. A reset keeps it: pages that
 * come anew were half of the time of all tests.
 */
static u8 *data_of(struct ram *r, u32 zone)
{
	struct ram_zone *z = &r->zone[zone];

	if (!z->data) {
		z->data = lz_zalloc_array(r->g.zone_cap, LZ_BLOCK_SIZE);
		KUNIT_ASSERT_NOT_NULL(r->test, z->data);
		blank(r, z);
	}
	return z->data;
}

void *ram_block(struct ram *r, u64 addr)
{
	u32 zone = div_u64(addr, r->g.zone_blocks);

	return data_of(r, zone) +
		(size_t)(addr - (u64)zone * r->g.zone_blocks) * LZ_BLOCK_SIZE;
}

static void set_cond(struct ram *r, struct ram_zone *z, u8 cond)
{
	r->active -= z->cond == LZ_COND_OPEN;
	z->cond = cond;
	r->active += z->cond == LZ_COND_OPEN;
}

static int put(struct ram *r, u32 zone, u32 off, const void *buf, u32 n)
{
	struct ram_zone *z = &r->zone[zone];

	if (off != z->wp || off + n > r->g.zone_cap || z->cond >= LZ_COND_FULL ||
	    !n || n > r->g.max_append) {
		broken(r, "write", zone, off);
		return -EIO;
	}
	if (z->cond == LZ_COND_EMPTY)
		set_cond(r, z, LZ_COND_OPEN);
	if (r->g.max_open && r->active > r->g.max_open)
		broken(r, "one open zone too many", zone, off);
	memcpy(data_of(r, zone) + (size_t)off * LZ_BLOCK_SIZE, buf, (size_t)n * LZ_BLOCK_SIZE);
	z->wp += n;
	if (z->wp == r->g.zone_cap)
		set_cond(r, z, LZ_COND_FULL);
	return 0;
}

static void all_durable(struct ram *r)
{
	u32 i;

	for (i = 0; i < r->g.nr_zones; i++)
		r->zone[i].durable = r->zone[i].wp;
}

void ram_forget_leaves(struct ram *r)
{
	struct lz *lz = r->lz;
	u64 i;

	for (i = 0; i < lz->map.n[0]; i++)
		if (lz->leaf[i] && !lz->leaf[i]->busy)
			lz_leaf_drop(lz, lz->leaf[i]);
}

void ram_fill_up(struct ram *r, u32 zone)
{
	struct ram_zone *z = &r->zone[zone];

	memset(data_of(r, zone) + (size_t)z->wp * LZ_BLOCK_SIZE, 0,
	       (size_t)(r->g.zone_cap - z->wp) * LZ_BLOCK_SIZE);
	set_cond(r, z, LZ_COND_FULL);
	z->wp = r->g.zone_cap;
	z->durable = z->wp;
}

static int carry_out(struct ram *r, struct lz_cmd *c)
{
	u32 zone, off;
	struct ram_zone *z;
	int err = 0;

	r->nr_ops[c->op]++;
	if (c->op == LZ_OP_FLUSH || (c->flags & LZ_CMD_PREFLUSH))
		all_durable(r);
	if (c->op == LZ_OP_FLUSH)
		return r->fail_flush ? -EIO : 0;
	zone = div_u64(c->addr, r->g.zone_blocks);
	off = c->addr - (u64)zone * r->g.zone_blocks;
	if (zone >= r->g.nr_zones) {
		broken(r, "no such zone", 0, 0);
		return -EIO;
	}
	z = &r->zone[zone];
	if ((z->fail & (1 << c->op)) && (!z->fail_after || !z->fail_after--)) {
		if (z->fail_times && !--z->fail_times)
			z->fail = 0;
		return -EIO;
	}
	if (c->op == LZ_OP_READ && r->bad && r->bad >= c->addr && r->bad < c->addr + c->nblocks) {
		if (r->bad_times && !--r->bad_times)
			r->bad = 0;
		return -EIO;
	}
	switch (c->op) {
	case LZ_OP_READ:
		/* Recovery looks for the end of the log beyond the write pointer. */
		if (off + c->nblocks > r->g.zone_cap)
			broken(r, "read", zone, off);
		else
			memcpy(c->buf, ram_block(r, c->addr), (size_t)c->nblocks * LZ_BLOCK_SIZE);
		break;
	case LZ_OP_APPEND:
		if (off)
			broken(r, "append not to the start", zone, off);
		c->result = c->addr + z->wp;
		err = put(r, zone, z->wp, c->buf, c->nblocks);
		break;
	case LZ_OP_WRITE:
		err = put(r, zone, off, c->buf, c->nblocks);
		break;
	case LZ_OP_RESET:
		set_cond(r, z, LZ_COND_EMPTY);
		z->wp = 0;
		z->durable = 0;
		if (z->data)
			blank(r, z);
		break;
	case LZ_OP_FINISH:
		ram_fill_up(r, zone);
		break;
	}
	if (!err && (c->flags & LZ_CMD_FUA))
		z->durable = z->wp;
	return err;
}

/* --- the host -------------------------------------------------------------------- */

static void ram_submit(void *ctx, struct lz_cmd *c)
{
	struct ram *r = ctx;

	if (r->slow && r->slow(r, c)) {
		KUNIT_ASSERT_LT(r->test, r->nr_held, (u32)ARRAY_SIZE(r->held));
		r->held[r->nr_held++] = c;
		return;
	}
	c->error = carry_out(r, c);
	lz_cmd_done(r->lz, c);
}

void ram_release(struct ram *r, u32 i)
{
	struct lz_cmd *c = r->held[i];

	r->nr_held--;
	memmove(r->held + i, r->held + i + 1, (r->nr_held - i) * sizeof(*r->held));
	c->error = carry_out(r, c);
	lz_cmd_done(r->lz, c);
}

bool ram_reads_meta(struct ram *r, const struct lz_cmd *c)
{
	return c->op == LZ_OP_READ && c->meta;
}

bool ram_reads_data(struct ram *r, const struct lz_cmd *c)
{
	return c->op == LZ_OP_READ && !c->meta;
}

static void ram_kick(void *ctx)
{
	((struct ram *)ctx)->kicked = true;
}

static void ram_kick_later(void *ctx, u32 ms)
{
	struct ram *r = ctx;
	u64 at = r->now + ms * 1000000ull;

	if (!r->timer || at < r->timer)
		r->timer = at;
}

static void ram_wait(void *ctx)
{
}

static void ram_resume(void *ctx)
{
	((struct ram *)ctx)->resumed = true;
}

static u64 ram_now(void *ctx)
{
	return ((struct ram *)ctx)->now;
}

static void ram_event(void *ctx, enum lz_event ev, u64 arg)
{
	((struct ram *)ctx)->nr_events[ev]++;
}

static void ram_say(void *ctx, char level, const char *line)
{
	struct ram *r = ctx;
	size_t used = strlen(r->said);

	if (level != 'i')
		scnprintf(r->said + used, sizeof(r->said) - used, "%s\n", line);
}

static void ram_trace(void *ctx, const struct lz_trace *t)
{
	struct ram *r = ctx;

	r->nr_traced[t->what]++;
	if (t->what == LZ_TR_VICTIM)
		r->candidates += t->c;
}

static bool ram_traced(void *ctx, u8 what)
{
	return ((struct ram *)ctx)->traced;
}

const struct lz_ops ram_ops = {
	.submit = ram_submit,
	.kick = ram_kick,
	.kick_later = ram_kick_later,
	.wait = ram_wait,
	.resume = ram_resume,
	.now = ram_now,
	.event = ram_event,
	.trace = ram_trace,
	.traced = ram_traced,
	.say = ram_say,
};

void ram_pump(struct ram *r)
{
	u32 tries = 0;

	if (r->hold)
		return;
	while (r->kicked && tries++ < TRIES) {
		r->kicked = false;
		lz_run(r->lz);
	}
	KUNIT_EXPECT_FALSE(r->test, r->kicked);
}

void ram_elapse(struct ram *r, u32 ms)
{
	r->now += ms * 1000000ull;
	if (r->timer && r->timer <= r->now) {
		r->timer = 0;
		r->kicked = true;
	}
	ram_pump(r);
}

/* --- the user -------------------------------------------------------------------- */

/* There was no room: tried again when it is said that there may be. False: nobody says so. */
static bool wait_for_room(struct ram *r)
{
	u32 tries = 0;

	while (!r->resumed && tries++ < TRIES) {
		ram_pump(r);
		if (!r->resumed)
			ram_elapse(r, 10);
	}
	return r->resumed;
}

int ram_write(struct ram *r, u8 class, u64 lba, u32 n)
{
	u8 *buf = lz_zalloc_array(n, LZ_BLOCK_SIZE);
	struct lz_write w;
	u32 i, zone, tries = 0;
	u64 head[2], addr;
	int err = 0;

	if (!buf)
		return -ENOMEM;
	while (n && tries < TRIES) {
		r->resumed = false;
		err = lz_write_begin(r->lz, class, lba, min(n, r->g.max_append), &w);
		if (err == -EAGAIN && tries++ < TRIES && wait_for_room(r))
			continue;
		if (err)
			break;
		zone = w.zone;
		addr = (u64)zone * r->g.zone_blocks + r->zone[zone].wp;
		for (i = 0; i < w.nblocks; i++) {
			head[0] = lba + i;
			head[1] = ++r->clock;
			memcpy(buf + (size_t)i * LZ_BLOCK_SIZE, head, sizeof(head));
		}
		if (r->zone[zone].fail & (1 << LZ_OP_APPEND)) {
			lz_write_fail(r->lz, &w, -EIO);
			ram_pump(r);
			tries++;
			continue;
		}
		err = put(r, zone, r->zone[zone].wp, buf, w.nblocks);
		if (err)
			break;
		if (lz_write_end(r->lz, &w, addr, lba)) {
			ram_pump(r);
			tries++;
			continue;
		}
		for (i = 0; i < w.nblocks; i++)
			r->version[lba + i] = r->clock - w.nblocks + 1 + i;
		lba += w.nblocks;
		n -= w.nblocks;
		tries = 0;
		ram_pump(r);
	}
	lz_free(buf);
	return err;
}

int ram_discard(struct ram *r, u64 lba, u64 n)
{
	u32 tries = 0;
	int err;

	do {
		r->resumed = false;
		err = lz_discard(r->lz, lba, n);
	} while (err == -EAGAIN && tries++ < TRIES && wait_for_room(r));
	if (!err)
		memset(r->version + lba, 0, n * sizeof(*r->version));
	ram_pump(r);
	return err;
}

static int wait_for(struct ram *r, struct waiting *x)
{
	u32 tries = 0;

	while (!x->called && tries++ < TRIES) {
		ram_pump(r);
		if (!x->called)
			ram_elapse(r, 10);
	}
	KUNIT_ASSERT_TRUE_MSG(r->test, x->called, "(nobody answers)");
	return x->err;
}

int ram_flush(struct ram *r)
{
	struct waiting x = { .w.fn = waiting_end };

	lz_flush(r->lz, &x.w);
	return wait_for(r, &x);
}

int ram_checkpoint(struct ram *r)
{
	struct waiting x = { .w.fn = waiting_end };

	lz_request_checkpoint(r->lz, &x.w);
	return wait_for(r, &x);
}

int ram_land(struct ram *r, struct lz_write *w, u64 lba)
{
	struct ram_zone *z = &r->zone[w->zone];
	u64 addr = lz_zone_addr(r->lz, w->zone, z->wp++);
	int err;

	if (z->cond == LZ_COND_EMPTY)
		set_cond(r, z, LZ_COND_OPEN);
	err = lz_write_end(r->lz, w, addr, lba);
	ram_pump(r);
	return err;
}

u32 ram_read(struct ram *r, u64 lba)
{
	struct lz_read rd;
	u64 head[2];
	int err;

	for (;;) {
		struct waiting x = { .w.fn = waiting_end };

		err = lz_read_begin(r->lz, lba, 1, &rd);
		if (err != -EAGAIN)
			break;
		lz_leaf_wait(r->lz, rd.leaf, &x.w);
		if (wait_for(r, &x))
			return ~0u;
	}
	if (err)
		return ~0u;
	if (rd.addr == LZ_NOWHERE)
		return 0;
	memcpy(head, ram_block(r, rd.addr), sizeof(head));
	lz_read_end(r->lz, &rd);
	return head[0] == lba ? head[1] : ~0u;
}

void ram_verify(struct ram *r)
{
	u64 lba;
	u32 v;

	for (lba = 0; lba < r->si.logical_blocks; lba++) {
		v = ram_read(r, lba);
		if (v == r->version[lba])
			continue;
		KUNIT_FAIL(r->test, "block %llu reads as version %u, wanted %u\n",
			   (unsigned long long)lba, v, r->version[lba]);
		return;
	}
}

static void check_say(void *ctx, const char *line)
{
	KUNIT_FAIL(((struct ram *)ctx)->test, "check: %s\n", line);
}

/* --- life cycle ------------------------------------------------------------------ */

int ram_format(struct ram *r)
{
	char why[160] = "";
	int err;
	u32 i;

	memset(&r->si, 0, sizeof(r->si));
	for (i = 0; i < LZ_UUID_SIZE; i++)
		r->si.uuid[i] = 16 * i + 1;
	scnprintf(r->si.label, sizeof(r->si.label), "ram");
	r->si.spare_permille = LZ_SPARE_DEFAULT;
	r->si.created = 1700000000;
	err = lz_layout(&r->g, &r->si, why, sizeof(why));
	if (err) {
		scnprintf(r->said, sizeof(r->said), "%s", why);
		return err;
	}
	err = lz_format(&r->g, &r->si, NULL, r->ops, r);
	lz_free(r->version);
	r->version = lz_zalloc_array(r->si.logical_blocks, sizeof(*r->version));
	return r->version ? err : -ENOMEM;
}

void ram_report(const struct ram *r, struct lz_zone_report *z)
{
	u32 i;

	for (i = 0; i < r->g.nr_zones; i++) {
		z[i].wp = r->zone[i].wp;
		z[i].torn = r->zone[i].torn;
		z[i].cond = r->zone[i].cond;
	}
}

int ram_load(struct ram *r, u32 flags)
{
	struct lz_zone_report *z = lz_zalloc_array(r->g.nr_zones, sizeof(*z));
	int err = -ENOMEM;

	if (!z)
		return err;
	ram_report(r, z);
	r->lz = lz_new(&r->g, &r->o, r->ops, r);
	if (r->lz)
		err = lz_load(r->lz, z, flags);
	if (err && r->lz) {
		lz_free_device(r->lz);
		r->lz = NULL;
	}
	lz_free(z);
	if (!err)
		ram_pump(r);
	return err;
}

static void forget(struct ram *r)
{
	lz_free_device(r->lz);
	r->lz = NULL;
	r->kicked = false;
	r->timer = 0;
	r->slow = NULL;
	r->nr_held = 0;
}

void ram_stop(struct ram *r)
{
	KUNIT_EXPECT_EQ(r->test, lz_stop(r->lz), 0);
	forget(r);
}

void ram_again(struct ram *r)
{
	KUNIT_ASSERT_EQ_MSG(r->test, ram_load(r, 0), 0, "(%s)", r->said);
}

void ram_cut(struct ram *r)
{
	struct ram_zone *z;
	u32 i;

	forget(r);
	for (i = 0; i < r->g.nr_zones; i++) {
		z = &r->zone[i];
		if (z->durable == z->wp || z->cond > LZ_COND_FULL)
			continue;
		memset(data_of(r, i) + (size_t)z->durable * LZ_BLOCK_SIZE, 0xff,
		       (size_t)(z->wp - z->durable) * LZ_BLOCK_SIZE);
		/* A full zone opens again only where the drive has room for it. */
		if (z->durable && z->cond == LZ_COND_FULL &&
		    r->g.max_open && r->active >= r->g.max_open) {
			z->durable = z->wp;
			continue;
		}
		z->wp = z->durable;
		set_cond(r, z, z->wp ? LZ_COND_OPEN : LZ_COND_EMPTY);
	}
}

static u32 length(const struct list_head *list)
{
	const struct list_head *e;
	u32 n = 0;

	for (e = list->next; e != list; e = e->next)
		n++;
	return n;
}

/* Nodes of @t that are in @zone. */
static u32 nodes_in(struct lz *lz, const struct lz_tree *t, u32 zone)
{
	u32 n = 0, l;
	u64 i;

	for (l = 0; l < t->levels; l++)
		for (i = 0; i < t->n[l]; i++)
			n += t->addr[l][i] != LZ_NOWHERE &&
				lz_addr_zone(lz, t->addr[l][i]) == zone;
	return n;
}

/* What core has counted is what there is. The device has nothing to do. */
static void check_counts(struct ram *r)
{
	struct kunit *test = r->test;
	struct lz *lz = r->lz;
	u32 meta = 0, free = 0, open = 0, i;

	for (i = 2; i < r->g.nr_zones; i++) {
		const struct lz_zone *z = &lz->zone[i];

		meta += z->state == LZ_ZS_META;
		if (z->state == LZ_ZS_META && lz->ckpt.state == LZ_CK_IDLE)
			KUNIT_EXPECT_EQ(test, z->live - z->dying,
					nodes_in(lz, &lz->map, i) + nodes_in(lz, &lz->ztab, i));
		free += z->state == LZ_ZS_FREE;
		open += !!z->open;
		if (z->open)
			KUNIT_EXPECT_EQ(test, z->open->zone, i);
		if (z->state == LZ_ZS_FREE)
			KUNIT_EXPECT_TRUE(test, z->listed);
	}
	KUNIT_EXPECT_GE(test, atomic_read(&lz->uncommitted), 0);
	KUNIT_EXPECT_EQ(test, lz->cmds, 0u);
	KUNIT_EXPECT_EQ(test, lz->resets, 0u);
	KUNIT_EXPECT_EQ(test, lz->meta_resets, 0u);
	KUNIT_EXPECT_EQ(test, lz->nr_meta, meta);
	KUNIT_EXPECT_EQ(test, lz->nr_free + lz->nr_unready, free);
	KUNIT_EXPECT_EQ(test, lz->nr_free, length(&lz->free_list));
	KUNIT_EXPECT_EQ(test, lz->nr_unready, length(&lz->stale));
	KUNIT_EXPECT_EQ(test, lz->nr_open, open);
	KUNIT_EXPECT_EQ(test, atomic_read(&lz->delta_space) + atomic_read(&lz->active->used),
			(int)lz->delta_cap);
}

void ram_check(struct ram *r)
{
	struct lz_check_report report = { .say = check_say, .ctx = r };
	struct lz *live = r->lz;

	if (live && live->mode == LZ_MODE_RW)
		check_counts(r);
	KUNIT_EXPECT_EQ(r->test, ram_load(r, LZ_LOAD_RO), 0);
	if (r->lz) {
		KUNIT_EXPECT_EQ(r->test, lz_check(r->lz, &report), 0);
		KUNIT_EXPECT_EQ(r->test, report.errors, 0ull);
		lz_free_device(r->lz);
	}
	r->lz = live;
}

void ram_survive(struct ram *r)
{
	ram_cut(r);
	ram_again(r);
	ram_verify(r);
	ram_check(r);
}

struct ram *ram_sized(struct kunit *test, u32 nr_zones, u32 max_open, u32 zone_blocks,
		      u32 zone_cap)
{
	struct ram *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);

	r->test = test;
	r->g.nr_zones = nr_zones;
	r->g.zone_blocks = zone_blocks;
	r->g.zone_cap = zone_cap;
	r->g.max_open = max_open;
	r->g.max_append = 32;
	r->ops = &ram_ops;
	lz_options_default(&r->o);
	test->priv = r;
	r->zone = lz_zalloc_array(nr_zones, sizeof(*r->zone));
	KUNIT_ASSERT_NOT_NULL(test, r->zone);
	return r;
}

struct ram *ram_new(struct kunit *test, u32 nr_zones, u32 max_open)
{
	return ram_sized(test, nr_zones, max_open, 128, 120);
}

void ram_free(struct ram *r)
{
	u32 i;

	if (!r)
		return;
	if (r->lz)
		lz_free_device(r->lz);
	for (i = 0; r->zone && i < r->g.nr_zones; i++)
		lz_free(r->zone[i].data);
	lz_free(r->zone);
	lz_free(r->version);
}

struct ram *ram_device(struct kunit *test, u32 nr_zones, u32 max_open)
{
	struct ram *r = ram_new(test, nr_zones, max_open);

	KUNIT_ASSERT_EQ_MSG(test, ram_format(r), 0, "(%s)", r->said);
	ram_again(r);
	return r;
}

void ram_set_reset(struct ram *r, enum lz_reset how)
{
	r->o.reset = how;
	lz_set_options(r->lz, &r->o);
}

void ram_reseal(struct lz_hdr *h, u32 count)
{
	u8 uuid[LZ_UUID_SIZE];
	struct lz_want w = {
		.uuid = uuid, .type = le16_to_cpu(h->type), .level = le16_to_cpu(h->level),
		.addr = le64_to_cpu(h->addr), .index = le64_to_cpu(h->index),
		.epoch = le64_to_cpu(h->epoch), .seq = le64_to_cpu(h->seq),
	};

	memcpy(uuid, h->uuid, LZ_UUID_SIZE);
	lz_seal(h, &w, count);
}

u32 ram_random(u32 *state, u32 n)
{
	*state = *state * 1664525 + 1013904223;
	return ((u64)*state * n) >> 32;
}
