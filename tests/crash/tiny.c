// SPDX-License-Identifier: GPL-2.0-only
/*
 * The smallest world: what its blocks may hold, the host of core, operations.
 * Blocking calls (load, stop) take their commands in order.
 */
#include "tiny.h"

struct tiny tiny;
struct drive *tiny_drive;
struct lz_geometry tiny_geo = {
	.zone_blocks = 8, .zone_cap = 8, .max_open = 4, .max_append = 8,
};

#define PIECE	512u	/* that is hashed, or left out as it is zeros (bytes) */

u32 tiny_blocks;
char tiny_said[200];
bool tiny_fine;
bool tiny_faulty;
void (*tiny_on_wait)(void);

static struct lz_super_info super = { .spare_permille = 100, .version = LZ_FORMAT_VERSION };
static u32 waits;

const char * const op_names[NR_OPS] = {
	"write 0", "write 1", "fua 0", "fua 1", "flush", "discard 0", "discard 1",
	"zeroes 0", "zeroes 1", "gc", "checkpoint", "reload",
};

static void __printf(2, 3) __noreturn drive_fails(void *ctx, const char *fmt, ...)
{
	char why[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	tiny_fail("%s", why);
}

static void hash_words(u64 s[4], const u8 *at, size_t n)
{
	u64 a = s[0], b = s[1], c = s[2], e = s[3], w[4];

	for (; n >= 32; n -= 32, at += 32) {
		memcpy(w, at, 32);
		a = (a ^ w[0]) * 0x9e3779b97f4a7c15ull;
		b = (b ^ w[1]) * 0xc2b2ae3d27d4eb4full;
		c = (c ^ w[2]) * 0x165667b19e3779f9ull;
		e = (e ^ w[3]) * 0xff51afd7ed558ccdull;
		a ^= a >> 32;
		b ^= b >> 29;
		c ^= c >> 31;
		e ^= e >> 30;
	}
	for (; n; n--)
		a = (a ^ *at++) * 0x100000001b3ull;
	s[0] = a;
	s[1] = b;
	s[2] = c;
	s[3] = e;
}

/* Most of what there is to hash is nothing: a piece of it only counts. */
uint64_t tiny_hash(uint64_t h, const void *p, size_t n)
{
	u64 s[4] = { h + n, ~h, h + 1, h - 1 };
	const u8 *at = p;

	for (; n >= PIECE; n -= PIECE, at += PIECE) {
		if (all_zero(at, PIECE))
			s[0] += 0x9e3779b97f4a7c15ull;
		else
			hash_words(s, at, PIECE);
	}
	hash_words(s, at, n);
	return rnd_mix(s[0] + rnd_mix(s[1] + rnd_mix(s[2] + rnd_mix(s[3]))));
}

/* --- what a block may hold --------------------------------------------------------- */

static void tiny_hold(u32 lba, u64 tag)
{
	struct held *h = &tiny.held[lba];

	if (h->n == MAX_VERSIONS)
		tiny_fail("more than %u versions of block %u", MAX_VERSIONS, lba);
	h->tag[h->n] = tag;
	h->time[h->n++] = ++tiny.time;
}

static void tiny_durable(u64 moment)
{
	u32 i, k;

	tiny.floor = max(tiny.floor, moment);
	for (i = 0; i < tiny_blocks; i++) {
		struct held *h = &tiny.held[i];

		for (k = 0; k + 1 < h->n && h->time[k + 1] <= tiny.floor; k++)
			;
		h->n -= k;
		memmove(h->tag, h->tag + k, h->n * sizeof(h->tag[0]));
		memmove(h->time, h->time + k, h->n * sizeof(h->time[0]));
		memset(h->tag + h->n, 0, (MAX_VERSIONS - h->n) * sizeof(h->tag[0]));
		memset(h->time + h->n, 0, (MAX_VERSIONS - h->n) * sizeof(h->time[0]));
	}
}

bool tiny_may_hold(u32 lba, u64 tag)
{
	const struct held *h = &tiny.held[lba];
	u32 k;

	for (k = 0; k < h->n; k++)
		if (h->tag[k] == tag)
			return true;
	return false;
}

u64 tiny_held_hash(void)
{
	u64 h = 0;
	u32 i;

	for (i = 0; i < tiny_blocks; i++)
		h = tiny_hash(h + tiny.held[i].n, tiny.held[i].tag, tiny.held[i].n * sizeof(u64));
	return h;
}

/* --- the host of core --------------------------------------------------------------- */

/*
 * A write without a flush that has not taken effect leaves no more behind than one
 * that has and is lost; so without --tiny_fine it takes effect at once.
 */
static void submit(struct xio *io)
{
	bool plain = !(io->dc.flags & LZ_CMD_PREFLUSH) &&
		(io->dc.op == LZ_OP_WRITE || io->dc.op == LZ_OP_APPEND);

	drive_submit(tiny_drive, &io->dc);
	if (plain && !tiny_fine && drive_may_move(tiny_drive, &io->dc))
		drive_execute(tiny_drive, &io->dc);
}

static struct xio *io_get(void)
{
	u32 i;

	for (i = 0; i < MAX_IOS; i++) {
		if (tiny.io[i].used)
			continue;
		memset(&tiny.io[i], 0, sizeof(tiny.io[i]));
		tiny.io[i].used = true;
		return &tiny.io[i];
	}
	tiny_fail("more than %u commands in flight", MAX_IOS);
}

static void host_submit(void *ctx, struct lz_cmd *cmd)
{
	struct xio *io = io_get();

	io->cmd = cmd;
	io->dc.op = cmd->op;
	io->dc.flags = cmd->flags;
	if (cmd->op != LZ_OP_FLUSH) {
		io->dc.zone = cmd->addr / tiny_geo.zone_blocks;
		io->dc.off = cmd->addr % tiny_geo.zone_blocks;
		io->dc.n = cmd->nblocks;
		io->dc.buf = cmd->buf;
	}
	submit(io);
}

/* Of a drive with a bad zone so small as this one may be left that cannot be written. */
static bool has_failed(void)
{
	struct lz_info info;

	lz_get_info(tiny.lz, &info);
	return tiny_faulty && info.mode != LZ_MODE_RW;
}

static void on_answer(struct lz_waiter *w, int err)
{
	struct xop *op = container_of(w, struct xop, w);

	if (err && op->state == OS_CORE && has_failed()) {
		op->state = OS_DONE;
		return;
	}
	if (err || op->state != OS_CORE)
		tiny_fail("core answered %s in state %u with %d", op_names[op->op], op->state, err);
	tiny_durable(op->moment);
	op->state = OS_DONE;
}

static void ask(struct xop *op)
{
	op->state = OS_CORE;
	op->moment = ++tiny.time;
	op->w.fn = on_answer;
	if (op->op == OP_CHECKPOINT)
		lz_request_checkpoint(tiny.lz, &op->w);
	else
		lz_flush(tiny.lz, &op->w);
}

void tiny_complete(struct xio *io)
{
	u64 addr = (u64)io->dc.zone * tiny_geo.zone_blocks + io->dc.off;
	struct lz_cmd *cmd = io->cmd;
	struct xop *op = io->op;

	drive_complete(tiny_drive, &io->dc);
	io->used = false;
	if (op && io->dc.error) {
		/* The zone is set aside; it goes elsewhere. */
		lz_write_fail(tiny.lz, &io->w, io->dc.error);
		op->state = OS_READY;
		return;
	}
	if (op) {
		if (lz_write_end(tiny.lz, &io->w, addr, op->lba))
			tiny_fail("lz_write_end refuses where block %u has landed", op->lba);
		tiny_hold(op->lba, op->tag);
		if (op->op == OP_FUA_0 || op->op == OP_FUA_1)
			ask(op);
		else
			op->state = OS_DONE;
		return;
	}
	cmd->error = io->dc.error;
	if (cmd->op == LZ_OP_APPEND)
		cmd->result = addr;
	/* What has been written is needed no more, and would tell states apart. */
	if (io->dc.buf && cmd->op != LZ_OP_READ && !cmd->error)
		memset(io->dc.buf, 0, io->dc.n * LZ_BLOCK_SIZE);
	lz_cmd_done(tiny.lz, cmd);
}

static struct drive_cmd *oldest(void)
{
	struct drive_cmd *c = NULL;
	u32 i;

	for (i = 0; i < tiny_drive->nr_cmds; i++)
		if (!c || tiny_drive->cmds[i]->seq < c->seq)
			c = tiny_drive->cmds[i];
	return c;
}

static void host_wait(void *ctx)
{
	struct drive_cmd *c = oldest();

	if (!c)
		tiny_fail("core waits, but nothing is in flight");
	if (++waits > 10000)
		tiny_fail("core waits for ever");
	if (tiny_on_wait) {
		u32 keep = waits;

		tiny_on_wait();
		waits = keep;
	}
	if (!c->executed)
		drive_execute(tiny_drive, c);
	tiny_complete(container_of(c, struct xio, dc));
}

static void host_kick(void *ctx)
{
	tiny.kicked = true;
}

/* No time passes: flushes drive the journal. */
static void host_kick_later(void *ctx, u32 ms)
{
}

static u64 host_now(void *ctx)
{
	return 0;
}

static void host_resume(void *ctx)
{
	u32 i;

	for (i = 0; i < tiny.nr_ops; i++)
		if (tiny.op[i].state == OS_RESUME)
			tiny.op[i].state = OS_READY;
}

static void host_event(void *ctx, enum lz_event ev, u64 arg)
{
	if (ev != LZ_EV_LOW_SPACE && ev != LZ_EV_TRIM && !tiny_said[0])
		snprintf(tiny_said, sizeof(tiny_said), "event %u %llu", ev,
			 (unsigned long long)arg);
}

static void host_say(void *ctx, char level, const char *line)
{
	if (level != 'i')
		snprintf(tiny_said, sizeof(tiny_said), "%s", line);
}

static const struct lz_ops ops = {
	.submit = host_submit, .kick = host_kick, .kick_later = host_kick_later,
	.wait = host_wait, .resume = host_resume, .now = host_now, .event = host_event,
	.say = host_say,
};

int tiny_load(bool ro)
{
	struct lz_zone_report report[64];
	struct lz_options o;
	int err;

	lz_options_default(&o);
	/* So that what is emptied is reset within few operations. */
	o.reset = LZ_RESET_LAZY;
	/* What has no hint goes to one zone: the states were named with that. */
	o.policy = LZ_POLICY_WLA;
	tiny_said[0] = 0;
	waits = 0;
	tiny.lz = lz_new(&tiny_geo, &o, &ops, NULL);
	drive_report(tiny_drive, report);
	tiny_drive->reads_anywhere = true;
	tiny_drive->read_only = ro;
	err = lz_load(tiny.lz, report, ro ? LZ_LOAD_RO : 0);
	tiny_drive->reads_anywhere = false;
	return err;
}

static void unload(void)
{
	if (tiny_drive->nr_cmds)
		tiny_fail("%u commands in flight after a stop", tiny_drive->nr_cmds);
	lz_free_device(tiny.lz);
	if (arena_live())
		tiny_fail("%zu allocations leaked", arena_live());
	arena_reset();
}

static void reload(void)
{
	int err = tiny_load(false);

	if (err)
		tiny_fail("lz_load: %d, %s", err, tiny_said);
}

void tiny_settle(void)
{
	struct drive_cmd *c;
	u32 i;

	for (i = 0; tiny.kicked || tiny_drive->nr_cmds; i++) {
		if (i > 100000)
			tiny_fail("no end of commands");
		if (tiny.kicked) {
			tiny.kicked = false;
			lz_run(tiny.lz);
			continue;
		}
		c = oldest();
		if (!c->executed)
			drive_execute(tiny_drive, c);
		tiny_complete(container_of(c, struct xio, dc));
	}
}

/* As it may be when the device has failed. */
static void refused(struct xop *op, const char *what, int err)
{
	if (!has_failed())
		tiny_fail("%s: %d", what, err);
	op->state = OS_DONE;
}

/* --- operations ---------------------------------------------------------------------- */

void tiny_go(struct xop *op)
{
	struct xio *io;
	struct lz_write w;
	int err;

	switch (op->op) {
	case OP_WRITE_0:
	case OP_WRITE_1:
	case OP_FUA_0:
	case OP_FUA_1:
		op->state = OS_RESUME;
		err = lz_write_begin(tiny.lz, LZ_CLASS_NOT_SET, op->lba, 1, &w);
		if (err == -EAGAIN)
			return;
		if (err) {
			refused(op, "lz_write_begin", err);
			return;
		}
		op->state = OS_IO;
		io = io_get();
		io->op = op;
		io->w = w;
		io->dc.op = LZ_OP_APPEND;
		io->dc.zone = w.zone;
		io->dc.n = 1;
		io->dc.tags = &op->tag;
		submit(io);
		return;
	case OP_DISCARD_0:
	case OP_DISCARD_1:
	case OP_ZEROES_0:
	case OP_ZEROES_1:
		op->state = OS_RESUME;
		err = lz_discard(tiny.lz, op->lba, 1);
		if (err == -EAGAIN)
			return;
		if (err) {
			refused(op, "lz_discard", err);
			return;
		}
		tiny_hold(op->lba, 0);
		op->state = OS_DONE;
		return;
	case OP_GC:
		lz_request_gc(tiny.lz, 1);
		op->state = OS_DONE;
		return;
	case OP_RELOAD:
		op->moment = ++tiny.time;
		waits = 0;
		err = lz_stop(tiny.lz);
		if (err && !has_failed())
			tiny_fail("lz_stop: %d", err);
		if (!err)
			tiny_durable(op->moment);
		unload();
		reload();
		op->state = OS_DONE;
		return;
	default:
		ask(op);
	}
}

void tiny_issue(u32 kind, u32 lba)
{
	struct xop *op = &tiny.op[tiny.nr_ops++];

	memset(op, 0, sizeof(*op));
	op->op = kind;
	op->lba = lba;
	op->tag = ++tiny.ver << 8 | lba;
	tiny_go(op);
}

void tiny_format(u32 nr_zones)
{
	char why[200];
	u32 i;

	tiny_geo.nr_zones = nr_zones;
	if (lz_layout(&tiny_geo, &super, why, sizeof(why)))
		tiny_fail("%s", why);
	tiny_blocks = super.logical_blocks;
	if (tiny_blocks > MAX_BLOCKS)
		tiny_fail("more than %u blocks", MAX_BLOCKS);
	arena_select(0);
	arena_reset();
	memset(&tiny, 0, sizeof(tiny));
	if (tiny_drive)
		drive_free(tiny_drive);
	tiny_drive = drive_new(&tiny_geo, 1);
	tiny_drive->copy = true;
	tiny_drive->fail = drive_fails;
	tiny_drive->reads_anywhere = true;
	if (lz_format(&tiny_geo, &super, NULL, &ops, NULL))
		tiny_fail("lz_format");
	arena_reset();
	memset(&tiny, 0, sizeof(tiny));
	for (i = 0; i < tiny_blocks; i++)
		tiny.held[i].n = 1;
	reload();
	tiny_settle();
}
