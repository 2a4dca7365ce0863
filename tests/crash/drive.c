// SPDX-License-Identifier: GPL-2.0-only
/*
 * A zoned drive with a volatile write cache, as a model.
 *
 * A zone is written in order, so its content below the write pointer never
 * changes until a reset, and one image serves as both the volatile and the
 * durable one: durable is a prefix of it. A flush makes durable what had
 * completed when it was submitted, the least a drive promises; FUA a write and
 * the prefix of its zone. At a cut each zone independently keeps some length
 * between the durable and the written one; or, on drives that do so, all of it,
 * with rubbish in blocks that were not durable, or some with the last block torn.
 * Resets and finishes are durable once executed.
 *
 * Ordinary writes to a zone execute one at a time in the order of submission,
 * as the block layer's zone write plugs arrange it; everything else in any order.
 * What follows a write with a flush before it has no such order, so none may.
 */
#include "drive_in.h"

struct link {
	void *next;
};

static const char * const op_names[] = {
	[LZ_OP_READ] = "read", [LZ_OP_WRITE] = "write", [LZ_OP_APPEND] = "append",
	[LZ_OP_RESET] = "reset", [LZ_OP_FINISH] = "finish", [LZ_OP_FLUSH] = "flush",
};

const char *drive_op_name(u8 op)
{
	return op < ARRAY_SIZE(op_names) ? op_names[op] : "?";
}

static const char * const error_names[DRIVE_NR_ERRORS] = {
	"no error", "nothing", "partly", "rubbish", "done", "full", "readonly", "offline",
	"reset",
};

const char *drive_error_name(enum drive_error how)
{
	return how < DRIVE_NR_ERRORS ? error_names[how] : "?";
}

static void *pool_get(void **pool, size_t size)
{
	struct link *l = *pool;

	if (l) {
		*pool = l->next;
		return l;
	}
	l = aligned_alloc(64, (size + 63) & ~(size_t)63);
	if (!l)
		abort();
	return l;
}

static void pool_put(void **pool, void *p)
{
	struct link *l = p;

	l->next = *pool;
	*pool = l;
}

static void pool_free(void **pool)
{
	struct link *l;

	while ((l = *pool)) {
		*pool = l->next;
		free(l);
	}
}

struct drive *drive_new(const struct lz_geometry *g, u64 seed)
{
	struct drive *d = calloc(1, sizeof(*d));
	u32 i;

	if (!d)
		abort();
	d->g = *g;
	rnd_seed(&d->rnd, seed, 0);
	d->z = calloc(g->nr_zones, sizeof(*d->z));
	d->max_cmds = 256;
	d->cmds = calloc(d->max_cmds, sizeof(*d->cmds));
	if (!d->z || !d->cmds)
		abort();
	for (i = 0; i < g->nr_zones; i++) {
		d->z[i].b = calloc(g->zone_cap, sizeof(*d->z[i].b));
		if (!d->z[i].b)
			abort();
	}
	return d;
}

/* Blocks of a copy carry the link in front. */
u8 *drive_block_get(struct drive *d)
{
	struct link *l;

	if (!d->copy)
		return pool_get(&d->free_blocks, LZ_BLOCK_SIZE);
	l = pool_get(&d->free_blocks,
		     sizeof(*l) + max(LZ_BLOCK_SIZE, d->g.nr_zones * sizeof(u64)));
	pool_put(&d->own, l);
	return (u8 *)(l + 1);
}

void drive_take_back(struct drive *d, const void *own)
{
	struct link *l;

	while ((l = d->own) != own) {
		d->own = l->next;
		pool_put(&d->free_blocks, l);
	}
}

static void block_put(struct drive *d, u8 *data)
{
	if (!d->copy)
		pool_put(&d->free_blocks, data);
}

void drive_drop_blocks(struct drive *d, struct drive_zone *z, u32 from)
{
	u32 i;

	for (i = from; i < z->data; i++) {
		if (z->b[i].data)
			block_put(d, z->b[i].data);
		z->b[i].data = NULL;
	}
	if (z->data > from)
		z->data = from;
}

static void snap_get(struct drive *d, struct drive_cmd *c)
{
	size_t size = d->g.nr_zones * sizeof(*c->snap);

	c->snap = d->copy ? (u64 *)drive_block_get(d) : pool_get(&d->free_snaps, size);
}

static void snap_put(struct drive *d, struct drive_cmd *c)
{
	if (c->snap && !d->copy)
		pool_put(&d->free_snaps, c->snap);
	c->snap = NULL;
}

void drive_forget_cmds(struct drive *d)
{
	while (d->nr_cmds) {
		/* Of a copy, commands may still be another's. */
		if (!d->copy)
			snap_put(d, d->cmds[d->nr_cmds - 1]);
		d->nr_cmds--;
	}
}

void drive_free(struct drive *d)
{
	u32 i;

	drive_forget_cmds(d);
	for (i = 0; i < d->g.nr_zones; i++) {
		drive_drop_blocks(d, &d->z[i], 0);
		free(d->z[i].b);
	}
	pool_free(&d->own);
	pool_free(&d->free_blocks);
	pool_free(&d->free_snaps);
	free(d->cmds);
	free(d->z);
	free(d);
}

void drive_copy(struct drive *to, const struct drive *from)
{
	struct drive_zone *z = to->z;
	struct drive keep;
	u32 i;

	drive_forget_cmds(to);
	keep = *to;
	drive_take_back(&keep, NULL);
	if (keep.max_cmds < from->nr_cmds) {
		keep.max_cmds = from->max_cmds;
		keep.cmds = realloc(keep.cmds, keep.max_cmds * sizeof(*keep.cmds));
		if (!keep.cmds)
			abort();
	}
	memcpy(keep.cmds, from->cmds, from->nr_cmds * sizeof(*keep.cmds));
	for (i = 0; i < from->g.nr_zones; i++) {
		struct drive_block *b = z[i].b;
		u32 n = max(z[i].data, from->z[i].data);

		z[i] = from->z[i];
		z[i].b = b;
		memcpy(b, from->z[i].b, n * sizeof(*b));
	}
	*to = *from;
	to->z = z;
	to->cmds = keep.cmds;
	to->max_cmds = keep.max_cmds;
	to->free_blocks = keep.free_blocks;
	to->free_snaps = keep.free_snaps;
	to->copy = true;
	to->own = NULL;
}

static bool is_write(u8 op)
{
	return op == LZ_OP_WRITE || op == LZ_OP_APPEND;
}

static bool is_mgmt(u8 op)
{
	return op == LZ_OP_RESET || op == LZ_OP_FINISH;
}

bool drive_flushes(const struct drive_cmd *c)
{
	return c->op == LZ_OP_FLUSH || (c->flags & LZ_CMD_PREFLUSH);
}

/* --- content -------------------------------------------------------------------- */

static void put_block(struct drive *d, struct drive_block *b, const u8 *buf)
{
	u64 head[2], tail[2];

	memcpy(head, buf, 16);
	memcpy(tail, buf + LZ_BLOCK_SIZE - 16, 16);
	if (head[0] == DRIVE_DATA_MAGIC && head[1] == tail[0] && head[1] == ~tail[1]) {
		b->tag = head[1];
		return;
	}
	b->data = drive_block_get(d);
	memcpy(b->data, buf, LZ_BLOCK_SIZE);
	/* Metadata carries a checksum in its header. */
	memcpy(head, buf + 24, 16);
	memcpy(tail, buf + 40, 16);
	b->tag = rnd_mix(*(const u64 *)buf ^ rnd_mix(head[0] + rnd_mix(head[1] + rnd_mix(tail[0] ^
								     rnd_mix(tail[1])))));
}

static void get_data(u8 *buf, u64 tag)
{
	u64 head[2] = { DRIVE_DATA_MAGIC, tag };
	u64 tail[2] = { tag, ~tag };

	memcpy(buf, head, 16);
	memcpy(buf + LZ_BLOCK_SIZE - 16, tail, 16);
}

static void get_fill(u8 *buf, u8 fill, u64 where)
{
	u64 x;
	u32 i;

	if (fill != DRIVE_FILL_GARBAGE) {
		memset(buf, fill == DRIVE_FILL_ONES ? 0xff : 0, LZ_BLOCK_SIZE);
		return;
	}
	for (i = 0; i < LZ_BLOCK_SIZE; i += 8) {
		x = rnd_mix(where * LZ_BLOCK_SIZE + i + 1);
		memcpy(buf + i, &x, 8);
	}
}

static u64 peek(const struct drive_zone *z, u32 off)
{
	if (off >= z->wp)
		return DRIVE_TAG_ONES;
	if (off >= z->data) {
		if (z->fill == DRIVE_FILL_ZEROS)
			return DRIVE_TAG_ZEROS;
		return z->fill == DRIVE_FILL_ONES ? DRIVE_TAG_ONES : DRIVE_TAG_GARBAGE;
	}
	return z->b[off].data ? DRIVE_TAG_META : z->b[off].tag;
}

u64 drive_peek(const struct drive *d, u64 addr)
{
	u64 zone = addr / d->g.zone_blocks;

	if (zone >= d->g.nr_zones)
		return DRIVE_TAG_ONES;
	return peek(&d->z[zone], addr % d->g.zone_blocks);
}

void drive_get_block(const struct drive *d, u32 zone, u32 off, u8 *buf)
{
	const struct drive_zone *z = &d->z[zone];

	if (off >= z->wp)
		memset(buf, 0xff, LZ_BLOCK_SIZE);
	else if (off >= z->data)
		get_fill(buf, z->fill, (u64)zone << 32 | off);
	else if (z->b[off].data)
		memcpy(buf, z->b[off].data, LZ_BLOCK_SIZE);
	else
		get_data(buf, z->b[off].tag);
}

void drive_fill_rest(struct drive *d, struct drive_block *b, u32 sound, u8 fill)
{
	u8 *data;
	u32 i;

	if (!sound || !b->data) {
		if (b->data)
			block_put(d, b->data);
		b->data = NULL;
		b->tag = DRIVE_TAG_GARBAGE;
		return;
	}
	/* It may belong to another. */
	data = drive_block_get(d);
	memcpy(data, b->data, LZ_BLOCK_SIZE);
	block_put(d, b->data);
	b->data = data;
	for (i = sound * 512; i < LZ_BLOCK_SIZE; i++)
		data[i] = fill == DRIVE_FILL_GARBAGE ? rnd_u64(&d->rnd) :
			  fill == DRIVE_FILL_ONES ? 0xff : 0;
}

void drive_spoil(struct drive *d, struct drive_block *b, u32 sound)
{
	drive_fill_rest(d, b, sound, DRIVE_FILL_GARBAGE);
}

/* --- taking effect -------------------------------------------------------------- */

static void set_cond(struct drive *d, struct drive_zone *z, u8 cond)
{
	if (z->cond == LZ_COND_OPEN)
		d->active--;
	z->cond = cond;
	if (z->cond == LZ_COND_OPEN)
		d->active++;
}

void drive_set_cond(struct drive *d, u32 zone, enum lz_zone_cond cond)
{
	set_cond(d, &d->z[zone], cond);
}

bool drive_may_activate(const struct drive *d)
{
	return !d->g.max_open || d->active < d->g.max_open;
}

void drive_make_durable(struct drive *d, const struct drive_cmd *c)
{
	struct drive_zone *z;
	u32 i;

	for (i = 0; i < d->g.nr_zones; i++) {
		z = &d->z[i];
		if (z->gen == c->snap[i] >> 32 && z->durable < (u32)c->snap[i])
			z->durable = (u32)c->snap[i];
	}
}

static void tell_lost(struct drive *d, const struct drive_zone *z, u32 from)
{
	for (; d->lost && from < z->data; from++)
		if (!z->b[from].data)
			d->lost(d->ctx, z->b[from].tag);
}

void drive_write_blocks(struct drive *d, struct drive_zone *z, const struct drive_cmd *c, u32 n)
{
	const u8 *buf = c->buf;
	u32 i;

	if (z->cond == LZ_COND_EMPTY)
		set_cond(d, z, LZ_COND_OPEN);
	for (i = 0; i < n; i++) {
		struct drive_block *b = &z->b[z->wp + i];

		if (c->tags)
			b->tag = c->tags[i];
		else
			put_block(d, b, buf + (size_t)i * LZ_BLOCK_SIZE);
	}
	z->wp += n;
	z->data = z->wp;
	if (z->meddled)
		tell_lost(d, z, z->wp - n);
	if (z->wp == d->g.zone_cap)
		set_cond(d, z, LZ_COND_FULL);
}

void drive_reset_zone(struct drive *d, struct drive_zone *z)
{
	drive_drop_blocks(d, z, 0);
	set_cond(d, z, LZ_COND_EMPTY);
	z->wp = 0;
	z->done = 0;
	z->durable = 0;
	z->torn = 0;
	z->meddled = false;
	z->gen++;
}

void drive_finish_zone(struct drive *d, struct drive_zone *z)
{
	struct drive_block *last;

	z->fill = rnd_below(&d->rnd, DRIVE_NR_FILLS);
	if (z->torn) {
		last = &z->b[z->wp - 1];
		drive_fill_rest(d, last, z->torn, z->fill);
		if (d->whole && last->data && d->whole(last->data))
			d->fail(d->ctx, "zone %u: its torn block %u has become whole",
				(u32)(z - d->z), z->wp - 1);
	}
	z->wp = d->g.zone_cap;
	z->torn = 0;
	set_cond(d, z, LZ_COND_FULL);
}

static void execute_write(struct drive *d, struct drive_cmd *c)
{
	struct drive_zone *z = &d->z[c->zone];

	if (c->op == LZ_OP_WRITE && c->off != z->wp)
		d->fail(d->ctx, "zone %u: write at %u, write pointer at %u", c->zone, c->off,
			z->wp);
	if (z->torn)
		d->fail(d->ctx, "zone %u: %s behind a torn block", c->zone, drive_op_name(c->op));
	if (z->cond == LZ_COND_FULL || z->wp + c->n > d->g.zone_cap)
		d->fail(d->ctx, "zone %u: %s of %u blocks at %u is beyond the capacity",
			c->zone, drive_op_name(c->op), c->n, z->wp);
	if (z->cond == LZ_COND_EMPTY && !drive_may_activate(d))
		d->fail(d->ctx, "zone %u: %s would open it, but %u zones are active already",
			c->zone, drive_op_name(c->op), d->active);
	c->off = z->wp;
	drive_write_blocks(d, z, c, c->n);
	if (c->flags & LZ_CMD_FUA)
		z->durable = z->wp;
}

static void execute_read(struct drive *d, struct drive_cmd *c)
{
	struct drive_zone *z = &d->z[c->zone];
	u8 *buf = c->buf;
	u32 i;

	if (c->off + c->n > z->wp && !d->reads_anywhere && !z->meddled)
		d->fail(d->ctx, "zone %u: read of %u blocks at %u, write pointer at %u",
			c->zone, c->n, c->off, z->wp);
	for (i = 0; i < c->n; i++) {
		if (c->tags)
			c->tags[i] = peek(z, c->off + i);
		else
			drive_get_block(d, c->zone, c->off + i, buf + (size_t)i * LZ_BLOCK_SIZE);
	}
}

/* Does the command meet a fault of its zone? */
static bool meets_fault(struct drive *d, struct drive_cmd *c)
{
	struct drive_zone *z = &d->z[c->zone];
	u32 i;

	if (z->cond == LZ_COND_OFFLINE || (z->cond == LZ_COND_READONLY && c->op != LZ_OP_READ))
		return true;
	if (c->op == LZ_OP_FINISH || c->op == LZ_OP_RESET) {
		bool fails = z->fault == (c->op == LZ_OP_FINISH ? DRIVE_FAIL_FINISH :
					  DRIVE_FAIL_RESET);

		/* A zone that fails for good is read-only from then on. */
		if (fails && rnd_below(&d->rnd, 2))
			set_cond(d, z, LZ_COND_READONLY);
		if (fails || z->fault != DRIVE_FAIL_RESET)
			z->fault = DRIVE_SOUND;
		return fails;
	}
	if (!is_write(c->op) || z->fault < DRIVE_FAIL_WRITE || z->fault > DRIVE_BROKEN)
		return false;
	if (z->fault == DRIVE_FAIL_WRITE_ADVANCE && z->cond == LZ_COND_OPEN) {
		for (i = 0; i < c->n; i++)
			z->b[z->wp + i].tag = DRIVE_TAG_GARBAGE;
		z->wp += c->n;
		z->data = z->wp;
		if (z->wp == d->g.zone_cap)
			set_cond(d, z, LZ_COND_FULL);
	}
	z->fault = DRIVE_BROKEN;
	return true;
}

bool drive_may_err(u8 op, enum drive_error how)
{
	switch (how) {
	case DRIVE_ERR_NOTHING:
		return true;
	case DRIVE_ERR_DONE:
		return op != LZ_OP_READ;
	case DRIVE_ERR_PARTLY:
		return op == LZ_OP_READ || is_write(op);
	case DRIVE_ERR_RUBBISH:
	case DRIVE_ERR_FULL:
		return is_write(op);
	case DRIVE_ERR_READONLY:
		return is_write(op) || is_mgmt(op);
	case DRIVE_ERR_OFFLINE:
		return op != LZ_OP_FLUSH;
	case DRIVE_ERR_RESET:
		return is_write(op);
	default:
		return false;
	}
}

void drive_news(struct drive *d, u32 zone, enum drive_error what)
{
	struct drive_zone *z = &d->z[zone];

	if (what == DRIVE_ERR_FULL)
		drive_finish_zone(d, z);
	else if (what == DRIVE_ERR_READONLY)
		set_cond(d, z, LZ_COND_READONLY);
	else if (what == DRIVE_ERR_OFFLINE)
		set_cond(d, z, LZ_COND_OFFLINE);
	if (what != DRIVE_ERR_RESET)
		return;
	tell_lost(d, z, 0);
	drive_reset_zone(d, z);
	z->meddled = true;
}

static void take_effect(struct drive *d, struct drive_cmd *c, struct drive_zone *z);

/* Some of it is done, or something else. */
static void half_effect(struct drive *d, struct drive_cmd *c, struct drive_zone *z, u8 how)
{
	struct drive_cmd half = *c;
	u32 i;

	switch (how) {
	case DRIVE_ERR_PARTLY:
		half.n = c->n / 2;
		if (half.n)
			take_effect(d, &half, z);
		break;
	case DRIVE_ERR_RUBBISH:
		take_effect(d, &half, z);
		for (i = 0; i < c->n; i++)
			drive_spoil(d, &z->b[half.off + i], 0);
		break;
	case DRIVE_ERR_DONE:
		take_effect(d, &half, z);
		break;
	default:
		drive_news(d, c->zone, how);
	}
	/* What was sent since has no place: behind a write that failed, in a full zone. */
	if (c->op == LZ_OP_WRITE || how == DRIVE_ERR_FULL)
		z->fault = DRIVE_BROKEN;
}

static void execute(struct drive *d, struct drive_cmd *c)
{
	struct drive_zone *z = c->op == LZ_OP_FLUSH ? NULL : &d->z[c->zone];
	u8 how = d->error ? d->error(d->ctx, c) : DRIVE_NO_ERROR;

	c->executed = true;
	c->error = 0;
	if (drive_flushes(c) && how != DRIVE_ERR_NOTHING)
		drive_make_durable(d, c);
	if (how == DRIVE_ERR_RESET && c->op == LZ_OP_APPEND && z->fault != DRIVE_BROKEN &&
	    z->cond < LZ_COND_READONLY) {
		drive_news(d, c->zone, how);
		how = DRIVE_NO_ERROR;
	}
	if ((z && meets_fault(d, c)) || how) {
		c->error = -EIO;
		if (z && how && z->fault != DRIVE_BROKEN && z->cond < LZ_COND_READONLY)
			half_effect(d, c, z, how);
		return;
	}
	take_effect(d, c, z);
}

static void take_effect(struct drive *d, struct drive_cmd *c, struct drive_zone *z)
{
	switch (c->op) {
	case LZ_OP_READ:
		execute_read(d, c);
		break;
	case LZ_OP_WRITE:
	case LZ_OP_APPEND:
		execute_write(d, c);
		break;
	case LZ_OP_RESET:
		drive_reset_zone(d, z);
		break;
	case LZ_OP_FINISH:
		drive_finish_zone(d, z);
		break;
	}
}

/* --- commands in flight --------------------------------------------------------- */

static void account(struct drive *d, const struct drive_cmd *c, int by)
{
	struct drive_zone *z;

	if (c->op == LZ_OP_FLUSH)
		return;
	z = &d->z[c->zone];
	switch (c->op) {
	case LZ_OP_READ:
		z->reads += by;
		break;
	case LZ_OP_WRITE:
		z->writes += by;
		break;
	case LZ_OP_APPEND:
		z->appends += by;
		break;
	case LZ_OP_RESET:
		z->resets += by;
		break;
	default:
		z->finishes += by;
	}
}

/* A device stacked on the drive sends the flush first: what comes later may overtake. */
static bool behind_a_flush(const struct drive *d, const struct drive_cmd *c)
{
	u32 i;

	if (c->op != LZ_OP_WRITE || !d->z[c->zone].writes)
		return false;
	for (i = 0; i < d->nr_cmds; i++)
		if (d->cmds[i]->op == LZ_OP_WRITE && d->cmds[i]->zone == c->zone &&
		    (d->cmds[i]->flags & LZ_CMD_PREFLUSH))
			return true;
	return false;
}

static void check_rules(struct drive *d, const struct drive_cmd *c)
{
	const char *name = drive_op_name(c->op);
	struct drive_zone *z;

	if (d->read_only && c->op != LZ_OP_READ)
		d->fail(d->ctx, "%s to zone %u by a read-only instance", name, c->zone);
	if (c->op == LZ_OP_FLUSH)
		return;
	if (c->zone >= d->g.nr_zones)
		d->fail(d->ctx, "%s to zone %u of %u", name, c->zone, d->g.nr_zones);
	z = &d->z[c->zone];
	if (is_mgmt(c->op)) {
		if (c->off)
			d->fail(d->ctx, "zone %u: %s at offset %u", c->zone, name, c->off);
		if (z->writes || z->appends || z->resets || z->finishes ||
		    (c->op == LZ_OP_RESET && z->reads))
			d->fail(d->ctx,
				"zone %u: %s with %u reads, %u writes, %u appends, %u resets in flight",
				c->zone, name, z->reads, z->writes, z->appends,
				z->resets + z->finishes);
		return;
	}
	if (!c->n || (is_write(c->op) && d->g.max_append && c->n > d->g.max_append))
		d->fail(d->ctx, "zone %u: %s of %u blocks", c->zone, name, c->n);
	if (c->off + c->n > d->g.zone_cap)
		d->fail(d->ctx, "zone %u: %s of %u blocks at %u", c->zone, name, c->n, c->off);
	if (z->resets || (z->finishes && c->op != LZ_OP_READ))
		d->fail(d->ctx, "zone %u: %s during a reset or finish", c->zone, name);
	if ((c->op == LZ_OP_WRITE && z->appends) || (c->op == LZ_OP_APPEND && z->writes))
		d->fail(d->ctx, "zone %u: writes and appends in flight together", c->zone);
	if (behind_a_flush(d, c))
		d->fail(d->ctx, "zone %u: write at %u behind one with a flush", c->zone, c->off);
}

void drive_submit(struct drive *d, struct drive_cmd *c)
{
	u32 i;

	check_rules(d, c);
	if (d->nr_cmds == d->max_cmds) {
		d->max_cmds *= 2;
		d->cmds = realloc(d->cmds, d->max_cmds * sizeof(*d->cmds));
		if (!d->cmds)
			abort();
	}
	c->executed = false;
	c->seq = d->seq++;
	c->slot = d->nr_cmds;
	c->snap = NULL;
	d->cmds[d->nr_cmds++] = c;
	account(d, c, 1);
	if (!drive_flushes(c))
		return;
	snap_get(d, c);
	for (i = 0; i < d->g.nr_zones; i++)
		c->snap[i] = (u64)d->z[i].gen << 32 | d->z[i].done;
}

static void complete(struct drive *d, struct drive_cmd *c)
{
	struct drive_zone *z;

	d->cmds[c->slot] = d->cmds[--d->nr_cmds];
	d->cmds[c->slot]->slot = c->slot;
	account(d, c, -1);
	snap_put(d, c);
	if (!is_write(c->op) || c->error)
		return;
	z = &d->z[c->zone];
	z->done = max(z->done, c->off + c->n);
}

/* Ordinary writes to a zone go one by one: the oldest stands for all. */
static struct drive_cmd *oldest_write(struct drive *d, struct drive_cmd *c)
{
	u32 i;

	if (c->op != LZ_OP_WRITE || d->z[c->zone].writes == 1)
		return c;
	for (i = 0; i < d->nr_cmds; i++)
		if (d->cmds[i]->op == LZ_OP_WRITE && d->cmds[i]->zone == c->zone &&
		    d->cmds[i]->seq < c->seq)
			c = d->cmds[i];
	return c;
}

bool drive_may_move(struct drive *d, struct drive_cmd *c)
{
	return oldest_write(d, c) == c;
}

void drive_execute(struct drive *d, struct drive_cmd *c)
{
	execute(d, c);
}

void drive_complete(struct drive *d, struct drive_cmd *c)
{
	complete(d, c);
}

struct drive_cmd *drive_step(struct drive *d)
{
	struct drive_cmd *c;

	c = oldest_write(d, d->cmds[rnd_below(&d->rnd, d->nr_cmds)]);
	if (!c->executed) {
		execute(d, c);
		if (rnd_below(&d->rnd, 2))
			return NULL;
	}
	complete(d, c);
	return c;
}

bool drive_finish_now(struct drive *d, struct drive_cmd *c)
{
	if (oldest_write(d, c) != c)
		return false;
	execute(d, c);
	complete(d, c);
	return true;
}

void drive_erase(struct drive *d)
{
	u32 i;

	for (i = 0; i < d->g.nr_zones; i++) {
		drive_reset_zone(d, &d->z[i]);
		d->z[i].fault = DRIVE_SOUND;
	}
}

void drive_report(const struct drive *d, struct lz_zone_report *r)
{
	u32 i;

	for (i = 0; i < d->g.nr_zones; i++) {
		u32 anything[] = { 0, d->z[i].wp / 2, d->g.zone_cap };

		/* As drives do, or those who ask them. */
		r[i].wp = d->z[i].cond == LZ_COND_OFFLINE ? 0 :
			  d->z[i].cond == LZ_COND_READONLY ? anything[i % 3] : d->z[i].wp;
		r[i].cond = d->z[i].cond;
		r[i].torn = d->z[i].torn;
	}
}
