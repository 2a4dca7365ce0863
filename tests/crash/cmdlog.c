// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replays a log. A command has taken effect, at the latest, when it has ended;
 * where its landing shows that another one, not yet over, must have gone before
 * it, that has, too. All others in flight may or may not have: that is for the cut
 * to draw.
 *
 * The model refuses what no host may do. Besides, what the drive says (where
 * an append landed, what a read returned) must be what the model has, and what
 * users read must be a version a block may show them.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>
#include "cmdlog.h"

#define BLOCK_SECTORS	8u
#define NOT_ENDED	(~0ull)

/**
 * struct below - a command to the drive
 * @dc: as the model knows it
 * @landing: block where it begins, by the log's later word; NOT_ENDED: none
 * @wp: of its zone when it came
 */
struct below {
	struct drive_cmd dc;
	u64 landing;
	u32 wp;
};

/**
 * struct above - a request of a user
 * @op: enum lz_log_op
 * @fua: it is durable when it is answered
 * @lba: first block
 * @n: blocks
 * @moment: when it came
 */
struct above {
	u8 op;
	bool fua;
	u32 lba;
	u32 n;
	u64 moment;
};

static const char * const op_names[] = {
	[LZ_LOG_READ] = "read", [LZ_LOG_WRITE] = "write", [LZ_LOG_APPEND] = "append",
	[LZ_LOG_RESET] = "reset", [LZ_LOG_FINISH] = "finish", [LZ_LOG_FLUSH] = "flush",
	[LZ_LOG_DISCARD] = "discard", [LZ_LOG_ZEROES] = "zeroes",
	[LZ_LOG_RESET_ALL] = "reset-all", [LZ_LOG_OTHER] = "other",
};

static const u8 lz_ops_of[] = {
	[LZ_LOG_READ] = LZ_OP_READ, [LZ_LOG_WRITE] = LZ_OP_WRITE,
	[LZ_LOG_APPEND] = LZ_OP_APPEND, [LZ_LOG_RESET] = LZ_OP_RESET,
	[LZ_LOG_FINISH] = LZ_OP_FINISH, [LZ_LOG_FLUSH] = LZ_OP_FLUSH,
};

static bool is_write(u8 op)
{
	return op == LZ_OP_WRITE || op == LZ_OP_APPEND;
}

/* --- the file ------------------------------------------------------------------------ */

static const struct lz_log_rec *record(const struct cmdlog *l, const u8 *at)
{
	const struct lz_log_rec *r = (const void *)at;

	if (at == l->end)
		return NULL;
	if (l->end - at < (ssize_t)sizeof(*r) || (u64)(l->end - (u8 *)(r + 1)) < r->bytes)
		cmdlog_fail((void *)l, "the log ends too early");
	return r;
}

/* How many bios there are, and where appends will land. */
static void look_ahead(struct cmdlog *l)
{
	const struct lz_log_rec *r;
	const u8 *at;
	u32 i;

	for (at = l->text; (r = record(l, at)); at = (u8 *)(r + 1) + r->bytes) {
		if (r->what == LZ_LOG_ISSUE && r->role == LZ_LOG_BELOW)
			l->nr_below = max(l->nr_below, r->id + 1);
		if (r->what == LZ_LOG_ISSUE && r->role == LZ_LOG_ABOVE)
			l->nr_above = max(l->nr_above, r->id + 1);
	}
	l->below = calloc(l->nr_below + 1, sizeof(*l->below));
	l->above = calloc(l->nr_above + 1, sizeof(*l->above));
	if (!l->below || !l->above)
		abort();
	for (i = 0; i < l->nr_below; i++)
		l->below[i].landing = NOT_ENDED;
	for (at = l->text; (r = record(l, at)); at = (u8 *)(r + 1) + r->bytes)
		if (r->what == LZ_LOG_DONE && r->role == LZ_LOG_BELOW && !r->error)
			l->below[r->id].landing = r->sector / BLOCK_SECTORS;
}

void cmdlog_open(struct cmdlog *l)
{
	const struct lz_log_head *h;
	int fd = open(l->path, O_RDONLY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		cmdlog_fail(l, "the log cannot be opened: %s", strerror(errno));
	if (st.st_size < (off_t)sizeof(*h))
		cmdlog_fail(l, "no log: %lld bytes", (long long)st.st_size);
	h = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (h == MAP_FAILED)
		cmdlog_fail(l, "the log cannot be mapped: %s", strerror(errno));
	close(fd);
	if (memcmp(h->text, LZ_LOG_TEXT, sizeof(h->text)))
		cmdlog_fail(l, "no log");
	if (h->lost)
		cmdlog_fail(l, "%llu records are missing", (unsigned long long)h->lost);
	l->text = (u8 *)(h + 1);
	l->end = (u8 *)h + st.st_size;
	look_ahead(l);
}

/* --- below: the drive ---------------------------------------------------------------- */

/* The blocks that a write carries. */
static void *blocks_of(struct cmdlog *l, const struct lz_log_rec *r, u32 n)
{
	const u8 *at = (const u8 *)(r + 1), *end = at + r->bytes;
	u8 *buf = calloc(n, LZ_BLOCK_SIZE), *to = buf;
	u64 head[2] = { LZ_LOG_STAMP }, tail[2];

	if (!buf)
		abort();
	for (; n; n--, to += LZ_BLOCK_SIZE) {
		if (end - at < 8)
			cmdlog_fail(l, "a block is missing");
		memcpy(&head[1], at, 8);
		at += 8;
		if (head[1] == LZ_LOG_WHOLE) {
			if (end - at < (ssize_t)LZ_BLOCK_SIZE)
				cmdlog_fail(l, "a block is missing");
			memcpy(to, at, LZ_BLOCK_SIZE);
			at += LZ_BLOCK_SIZE;
			continue;
		}
		tail[0] = head[1];
		tail[1] = ~head[1];
		memcpy(to, head, sizeof(head));
		memcpy(to + LZ_BLOCK_SIZE - sizeof(tail), tail, sizeof(tail));
	}
	return buf;
}

static void below_issue(struct cmdlog *l, const struct lz_log_rec *r)
{
	struct below *b = &l->below[r->id];
	u64 block = r->sector / BLOCK_SECTORS;
	struct drive_cmd *c = &b->dc;

	if (r->sector % BLOCK_SECTORS || r->sectors % BLOCK_SECTORS)
		cmdlog_fail(l, "not of whole blocks");
	if (r->op == LZ_LOG_RESET_ALL) {
		if (l->cutting)
			cmdlog_fail(l, "all zones reset at once");
		drive_erase(l->d);
		return;
	}
	/* Who formats looks about, beyond capacities, too. */
	if (r->op == LZ_LOG_READ && !l->cutting)
		return;
	if (r->op >= ARRAY_SIZE(lz_ops_of))
		cmdlog_fail(l, "no command for a drive");
	c->op = lz_ops_of[r->op];
	c->flags = r->flags & LZ_LOG_FUA ? LZ_CMD_FUA : 0;
	if (c->op != LZ_OP_FLUSH) {
		c->zone = block / l->d->g.zone_blocks;
		c->off = block % l->d->g.zone_blocks;
	}
	if (c->op <= LZ_OP_APPEND)
		c->n = r->sectors / BLOCK_SECTORS;
	if (c->op == LZ_OP_APPEND && c->off)
		cmdlog_fail(l, "an append to the middle of a zone");
	if (is_write(c->op))
		c->buf = blocks_of(l, r, c->n);
	if (c->op == LZ_OP_READ)
		c->buf = calloc(c->n, LZ_BLOCK_SIZE);
	drive_submit(l->d, c);
	b->wp = l->d->z[c->zone].wp;
	l->changed = c->op != LZ_OP_READ;
}

static void take_effect(struct cmdlog *l, struct below *b)
{
	struct drive_cmd *c = &b->dc;
	u32 off = b->landing % l->d->g.zone_blocks;

	if (c->executed)
		return;
	drive_execute(l->d, c);
	if (is_write(c->op) && c->off != off)
		cmdlog_fail(l, "%s to zone %u landed at %u, in the model at %u",
			    drive_op_name(c->op), c->zone, off, c->off);
}

/* What lies before it in its zone was written before it. */
static void take_effect_before(struct cmdlog *l, struct below *b)
{
	u32 i;

	for (;;) {
		struct below *next = b;

		for (i = 0; i < l->d->nr_cmds; i++) {
			struct below *o = container_of(l->d->cmds[i], struct below, dc);

			if (is_write(o->dc.op) && !o->dc.executed && o->dc.zone == b->dc.zone &&
			    o->landing < next->landing)
				next = o;
		}
		take_effect(l, next);
		if (next == b)
			return;
	}
}

/* What the drive returned is what the model has, or lay beyond the write pointer. */
static void compare_read(struct cmdlog *l, const struct below *b, const struct lz_log_rec *r)
{
	const u64 *got = (const u64 *)(r + 1);
	u32 i;

	if (r->bytes != b->dc.n * sizeof(*got))
		cmdlog_fail(l, "a read of %u blocks returned others", b->dc.n);
	for (i = 0; i < b->dc.n && b->dc.off + i < b->wp; i++) {
		u64 addr = (u64)b->dc.zone * l->d->g.zone_blocks + b->dc.off + i;
		u64 want = drive_peek(l->d, addr);

		if (b->dc.off + i >= l->d->z[b->dc.zone].data)
			return;
		if (want == DRIVE_TAG_META ? got[i] != LZ_LOG_WHOLE : got[i] != want)
			cmdlog_fail(l, "zone %u: block %u reads %llx, in the model %llx",
				    b->dc.zone, b->dc.off + i, (unsigned long long)got[i],
				    (unsigned long long)want);
	}
}

static void below_done(struct cmdlog *l, const struct lz_log_rec *r)
{
	struct below *b = &l->below[r->id];

	if (r->error)
		cmdlog_fail(l, "the drive refused a %s to zone %u at %u: %d",
			    drive_op_name(b->dc.op), b->dc.zone, b->dc.off, r->error);
	if (!l->d->nr_cmds || l->d->cmds[b->dc.slot] != &b->dc)
		return;		/* not for the model */
	l->changed = b->dc.op != LZ_OP_READ;
	if (is_write(b->dc.op))
		take_effect_before(l, b);
	else
		take_effect(l, b);
	if (b->dc.op == LZ_OP_READ)
		compare_read(l, b, r);
	drive_complete(l->d, &b->dc);
	free(b->dc.buf);
	b->dc.buf = NULL;
}

/* --- above: the users ---------------------------------------------------------------- */

static void above_issue(struct cmdlog *l, const struct lz_log_rec *r)
{
	struct above *a = &l->above[r->id];
	const u64 *tags = (const u64 *)(r + 1);
	u32 i;

	a->op = r->op;
	a->fua = r->flags & LZ_LOG_FUA;
	a->lba = r->sector / BLOCK_SECTORS;
	a->n = r->sectors / BLOCK_SECTORS;
	a->moment = oracle_moment(&l->o);
	if (!l->cutting)
		cmdlog_fail(l, "a request before the device was loaded");
	if (a->lba + a->n > l->o.nr)
		cmdlog_fail(l, "a request beyond the device's end");
	if (a->op == LZ_LOG_FLUSH || a->op == LZ_LOG_READ)
		return;
	if (a->op == LZ_LOG_WRITE && r->bytes != a->n * sizeof(*tags))
		cmdlog_fail(l, "a user wrote a block without a stamp");
	for (i = 0; i < a->n; i++) {
		if (l->o.log[l->o.newest[a->lba + i]].time == ~0ull)
			cmdlog_fail(l, "two requests at a time for block %u", a->lba + i);
		oracle_begin(&l->o, a->lba + i, a->op == LZ_LOG_WRITE ? tags[i] : 0);
	}
}

static void compare_user_read(struct cmdlog *l, const struct above *a, const struct lz_log_rec *r)
{
	const u64 *got = (const u64 *)(r + 1);
	char buf[400];
	u32 i;

	if (r->bytes != a->n * sizeof(*got))
		cmdlog_fail(l, "a read of %u blocks returned others", a->n);
	for (i = 0; i < a->n; i++)
		if (!oracle_since(&l->o, a->lba + i, got[i], a->moment))
			cmdlog_fail(l, "a user read %llx of block %u, which holds%s",
				    (unsigned long long)got[i], a->lba + i,
				    oracle_show(&l->o, a->lba + i, buf, sizeof(buf)));
}

static void above_done(struct cmdlog *l, const struct lz_log_rec *r)
{
	struct above *a = &l->above[r->id];
	u64 moment = a->fua ? a->moment : oracle_moment(&l->o);
	u32 i;

	if (r->error)
		cmdlog_fail(l, "a user's %s of block %u failed: %d", op_names[a->op], a->lba,
			    r->error);
	if (a->op == LZ_LOG_READ) {
		compare_user_read(l, a, r);
		return;
	}
	for (i = 0; i < a->n; i++)
		oracle_end(&l->o, a->lba + i, moment);
	if (a->fua || a->op == LZ_LOG_FLUSH) {
		oracle_durable(&l->o, a->moment);
		l->changed = true;
	}
}

/* --- marks ---------------------------------------------------------------------------- */

static void begin(struct cmdlog *l, const char *text)
{
	struct lz_geometry g = { };

	if (sscanf(text, "geometry %u %u %u %u %u", &g.nr_zones, &g.zone_blocks, &g.zone_cap,
		   &g.max_open, &g.max_append) != 5 || l->d)
		cmdlog_fail(l, "not expected here: %s", text);
	l->d = drive_new(&g, 1);
	l->d->fail = cmdlog_fail;
	l->d->ctx = l;
	l->d->reads_anywhere = true;
}

static void mark(struct cmdlog *l, const struct lz_log_rec *r)
{
	char text[200] = "";

	memcpy(text, r + 1, min_t(u64, r->bytes, sizeof(text) - 1));
	if (l->trace)
		printf("%8llu word  %s\n", (unsigned long long)l->event, text);
	if (!strncmp(text, "geometry ", 9)) {
		begin(l, text);
	} else if (!l->d) {
		cmdlog_fail(l, "%s before the geometry", text);
	} else if (!strcmp(text, "load")) {
		/* Recovery looks for the ends of things. */
		l->d->reads_anywhere = true;
		if (!l->cutting && !cmdlog_probe(l))
			cmdlog_fail(l, "no superblock to load");
		if (!l->cutting)
			oracle_init(&l->o, l->si.logical_blocks);
		l->cutting = true;
		l->changed = true;
	} else if (!strcmp(text, "loaded")) {
		l->d->reads_anywhere = false;
	} else if (!strcmp(text, "stopped")) {
		oracle_durable(&l->o, oracle_moment(&l->o));
		l->changed = true;
	} else {
		cmdlog_fail(l, "not known: %s", text);
	}
}

static void show(const struct cmdlog *l, const struct lz_log_rec *r)
{
	u8 op = r->op;
	u64 block = r->sector / BLOCK_SECTORS;

	if (r->what == LZ_LOG_DONE && r->role == LZ_LOG_ABOVE)
		op = l->above[r->id].op;
	printf("%8llu %s %s %-7s", (unsigned long long)l->event,
	       r->what == LZ_LOG_ISSUE ? "issue" : "done ",
	       r->role == LZ_LOG_BELOW ? "below" : "above",
	       r->what == LZ_LOG_DONE && r->role == LZ_LOG_BELOW ?
	       drive_op_name(l->below[r->id].dc.op) : op_names[op]);
	if (r->role == LZ_LOG_BELOW)
		printf(" zone %llu off %llu", (unsigned long long)block / l->d->g.zone_blocks,
		       (unsigned long long)block % l->d->g.zone_blocks);
	else
		printf(" block %llu", (unsigned long long)block);
	printf(" n %u%s #%u error %d\n", r->sectors / BLOCK_SECTORS,
	       r->flags & LZ_LOG_FUA ? " fua" : "", r->id, r->error);
}

bool cmdlog_next(struct cmdlog *l)
{
	const struct lz_log_rec *r = record(l, l->text);

	if (!r)
		return false;
	l->event++;
	l->text = (u8 *)(r + 1) + r->bytes;
	l->changed = false;
	if (r->what == LZ_LOG_MARK) {
		mark(l, r);
		return true;
	}
	if (!l->d || r->op > LZ_LOG_OTHER || r->role >= LZ_LOG_NR_ROLES ||
	    r->id >= (r->role == LZ_LOG_BELOW ? l->nr_below : l->nr_above))
		cmdlog_fail(l, "this makes no sense");
	if (l->trace)
		show(l, r);
	if (r->role == LZ_LOG_BELOW && r->what == LZ_LOG_ISSUE)
		below_issue(l, r);
	else if (r->role == LZ_LOG_BELOW)
		below_done(l, r);
	else if (r->what == LZ_LOG_ISSUE)
		above_issue(l, r);
	else
		above_done(l, r);
	return true;
}
