// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power fails in the middle of a log: copies of the drive lose what they may lose,
 * core recovers each, and every block is read and compared with the oracle.
 *
 * Where there are few ways to lose blocks, all are tried: of each zone any length
 * between what is durable and what is written, with nothing of what is in
 * flight done or any one command of it. Beyond that losses are drawn, holes and tears
 * among them. What has been seen before is not recovered again: the same blocks
 * on the drive, with no more promised since.
 */
#include <setjmp.h>
#include <stdio.h>
#include "arena.h"
#include "cmdlog.h"

#define MAX_IOS		512u
#define SEEN_BITS	20
#define MAX_NESTED	40u	/* commands of a recovery before it is cut */

struct cutting cutting;

/**
 * struct cio - a command of core's
 * @dc: as the drive knows it
 * @cmd: and as core does
 */
struct cio {
	struct drive_cmd dc;
	struct lz_cmd *cmd;
};

static struct cio ios[MAX_IOS], *spare[MAX_IOS];
static u32 nr_spare;

static struct cmdlog *log_now;
static struct drive *copy;
static struct lz_zone_report *report;
static struct lz *lz;
static struct rnd rnd;
static bool kicked;
static u32 ended;
static s32 cut_in = -1;		/* commands until a cut within recovery, or < 0 */
static jmp_buf on_cut;
static char said[200];

static u64 seen[1u << SEEN_BITS];

/* Nothing interrupts core here. */
int lz_plant;
unsigned int yield_depth, yield_in;

void yield_now(void)
{
}

/* --- the host of core ----------------------------------------------------------------- */

static void forget(void)
{
	for (nr_spare = 0; nr_spare < MAX_IOS; nr_spare++)
		spare[nr_spare] = &ios[nr_spare];
	kicked = false;
	ended = 0;
	yield_depth = 0;
	arena_reset();
}

static void host_submit(void *ctx, struct lz_cmd *cmd)
{
	struct cio *io;

	if (!nr_spare)
		cmdlog_fail(log_now, "recovery: too many commands in flight");
	io = spare[--nr_spare];
	memset(&io->dc, 0, sizeof(io->dc));
	io->cmd = cmd;
	io->dc.op = cmd->op;
	io->dc.flags = cmd->flags;
	if (cmd->op != LZ_OP_FLUSH) {
		io->dc.zone = cmd->addr / copy->g.zone_blocks;
		io->dc.off = cmd->addr % copy->g.zone_blocks;
		io->dc.n = cmd->nblocks;
		io->dc.buf = cmd->buf;
	}
	drive_submit(copy, &io->dc);
}

static void drive_moves(void)
{
	struct drive_cmd *c = drive_step(copy);
	struct lz_cmd *cmd;
	struct cio *io;

	if (!c)
		return;
	io = container_of(c, struct cio, dc);
	cmd = io->cmd;
	cmd->error = c->error;
	if (cmd->op == LZ_OP_APPEND)
		cmd->result = (u64)c->zone * copy->g.zone_blocks + c->off;
	spare[nr_spare++] = io;
	ended++;
	/* While probing nobody else knows the device. */
	lz_cmd_done(cmd->lz, cmd);
}

static void host_wait(void *ctx)
{
	while (!ended) {
		if (!copy->nr_cmds)
			cmdlog_fail(log_now, "recovery waits, but nothing is in flight");
		if (!cut_in--)
			longjmp(on_cut, 1);
		drive_moves();
	}
	ended = 0;
}

static void host_kick(void *ctx)
{
	kicked = true;
}

static void host_kick_later(void *ctx, u32 ms)
{
}

static void host_resume(void *ctx)
{
}

static u64 host_now(void *ctx)
{
	return 0;
}

static void host_event(void *ctx, enum lz_event ev, u64 arg)
{
	if (ev == LZ_EV_MODE || ev == LZ_EV_ZONE_ASIDE)
		cmdlog_fail(log_now, "recovery: event %u %llu: %s", ev, (unsigned long long)arg,
			    said);
}

static void host_say(void *ctx, char level, const char *line)
{
	if (cutting.trace)
		printf("         core: %c %s\n", level, line);
	if (level != 'i')
		snprintf(said, sizeof(said), "%s", line);
}

static const struct lz_ops ops = {
	.submit = host_submit, .kick = host_kick, .kick_later = host_kick_later,
	.wait = host_wait, .resume = host_resume, .now = host_now, .event = host_event,
	.say = host_say,
};

static void run_until(bool *done)
{
	u32 i;

	for (i = 0; !*done; i++) {
		if (i > 100000 || (!kicked && !copy->nr_cmds))
			cmdlog_fail(log_now, "recovery: a leaf of the map never comes");
		if (kicked) {
			kicked = false;
			lz_run(lz);
		} else {
			drive_moves();
		}
	}
}

/* --- a recovery ----------------------------------------------------------------------- */

static void load(bool ro)
{
	struct lz_options o;
	int err;

	forget();
	lz_options_default(&o);
	said[0] = 0;
	lz = lz_new(&copy->g, &o, &ops, NULL);
	if (!lz)
		abort();
	drive_report(copy, report);
	copy->reads_anywhere = true;
	copy->read_only = ro;
	err = lz_load(lz, report, ro ? LZ_LOAD_RO : 0);
	if (err)
		cmdlog_fail(log_now, "after a cut: lz_load%s: %d, %s", ro ? " read-only" : "",
			    err, said);
	copy->reads_anywhere = false;
}

struct leaf {
	struct lz_waiter w;
	bool there;
};

static void leaf_came(struct lz_waiter *w, int err)
{
	if (err)
		cmdlog_fail(log_now, "after a cut: a leaf of the map cannot be read: %d", err);
	container_of(w, struct leaf, w)->there = true;
}

static void compare(u32 lba, u64 addr)
{
	u64 tag = addr == LZ_NOWHERE ? 0 : drive_peek(copy, addr);
	char buf[400];

	if (oracle_allows(&log_now->o, lba, tag))
		return;
	cmdlog_fail(log_now, "after a cut: block %u reads %llx (zone %lld off %lld), allowed:%s",
		    lba, (unsigned long long)tag,
		    addr == LZ_NOWHERE ? -1ll : (long long)(addr / copy->g.zone_blocks),
		    addr == LZ_NOWHERE ? -1ll : (long long)(addr % copy->g.zone_blocks),
		    oracle_show(&log_now->o, lba, buf, sizeof(buf)));
}

static void verify(void)
{
	u32 nr = log_now->o.nr, lba = 0, i;
	struct lz_read r;
	int err;

	while (lba < nr) {
		err = lz_read_begin(lz, lba, nr - lba, &r);
		if (err == -EAGAIN) {
			struct leaf leaf = { .w.fn = leaf_came };

			lz_leaf_wait(lz, r.leaf, &leaf.w);
			run_until(&leaf.there);
			continue;
		}
		if (err)
			cmdlog_fail(log_now, "after a cut: block %u cannot be read: %d", lba, err);
		for (i = 0; i < r.nblocks; i++)
			compare(lba + i, r.addr == LZ_NOWHERE ? r.addr : r.addr + i);
		lba += r.nblocks;
		if (r.addr != LZ_NOWHERE)
			lz_read_end(lz, &r);
	}
}

static void check_line(void *ctx, const char *line)
{
	u32 *errors = ctx;

	/* Holes and tears may leave one copy of two. */
	if (!strncmp(line, "superblock at block", 19))
		return;
	(*errors)++;
	snprintf(said, sizeof(said), "%s", line);
}

static void check(void)
{
	u32 errors = 0;
	struct lz_check_report r = { .say = check_line, .ctx = &errors };
	int err;

	load(true);
	verify();
	copy->reads_anywhere = true;
	err = lz_check(lz, &r);
	copy->reads_anywhere = false;
	if (err || errors)
		cmdlog_fail(log_now, "after a cut: lz_check: %d, %u errors: %s", err, errors, said);
	copy->read_only = false;
}

static void recover(void)
{
	cut_in = -1;
	if (!rnd_below(&rnd, 8))
		check();
	if (!rnd_below(&rnd, 16))
		cut_in = rnd_below(&rnd, MAX_NESTED);
	if (setjmp(on_cut)) {
		cutting.nested++;
		drive_cut(copy, true);
	}
	load(false);
	cut_in = -1;
	verify();
	arena_reset();
	lz = NULL;
}

bool cmdlog_probe(struct cmdlog *l)
{
	int err;

	log_now = l;
	forget();
	lz = NULL;
	copy = drive_new(&l->d->g, 1);
	drive_copy(copy, l->d);
	copy->reads_anywhere = true;
	copy->read_only = true;
	err = lz_probe(&copy->g, &ops, NULL, &l->si);
	report = calloc(l->d->g.nr_zones, sizeof(*report));
	if (!report)
		abort();
	return !err;
}

/* --- cuts ----------------------------------------------------------------------------- */

static void left_over(void)
{
	u64 h = drive_hash(copy) ^ rnd_mix(log_now->o.floor + 1);

	cutting.cuts++;
	if (seen[h >> (64 - SEEN_BITS)] == h)
		return;
	seen[h >> (64 - SEEN_BITS)] = h;
	cutting.images++;
	/* Whatever was tried before, so that one event can be replayed alone. */
	rnd_seed(&rnd, cutting.seed, h);
	recover();
}

/* Ways to lose blocks, or more than @most. */
static u64 ways(const struct drive *d, u64 most)
{
	u64 n = 1;
	u32 i;

	for (i = 0; i < d->g.nr_zones && n <= most; i++)
		n *= d->z[i].data - d->z[i].durable + 1;
	return n;
}

/* A copy on which a command in flight has taken effect, if any. */
static void copy_with(struct cmdlog *l, const struct drive_cmd *c)
{
	struct drive_cmd once;

	drive_copy(copy, l->d);
	copy->read_only = false;
	if (!c)
		return;
	once = *c;
	drive_execute(copy, &once);
}

/* All lengths the zones may keep. */
static void cut_lengths(struct cmdlog *l, const struct drive_cmd *c)
{
	struct drive_left left[l->d->g.nr_zones];
	u32 i;

	copy_with(l, c);
	if (ways(copy, cutting.most) > cutting.most)
		return;
	memset(left, 0, sizeof(left));
	for (i = 0; i < l->d->g.nr_zones; i++)
		left[i].keep = copy->z[i].durable;
	for (;;) {
		copy_with(l, c);
		drive_cut_exact(copy, left);
		left_over();
		copy_with(l, c);
		for (i = 0; i < l->d->g.nr_zones; i++) {
			if (left[i].keep < copy->z[i].data) {
				left[i].keep++;
				break;
			}
			left[i].keep = copy->z[i].durable;
		}
		if (i == l->d->g.nr_zones)
			return;
	}
}

/* Would it, done now, be what the model allows? Others may have to go before it. */
static bool may_be_next(struct cmdlog *l, const struct drive_cmd *c)
{
	const struct drive_zone *z = &l->d->z[c->zone];

	if (c->executed || c->op == LZ_OP_READ)
		return false;
	if (c->op == LZ_OP_WRITE)
		return c->off == z->wp;
	if (c->op != LZ_OP_APPEND)
		return true;
	return z->wp + c->n <= l->d->g.zone_cap &&
	       (z->wp || !l->d->g.max_open || l->d->active < l->d->g.max_open);
}

void cmdlog_cut(struct cmdlog *l)
{
	u32 i;

	log_now = l;
	if (ways(l->d, cutting.most) <= cutting.most)
		cut_lengths(l, NULL);
	for (i = 0; i < l->d->nr_cmds; i++)
		if (may_be_next(l, l->d->cmds[i]))
			cut_lengths(l, l->d->cmds[i]);
	for (i = 0; i < cutting.draws; i++) {
		drive_copy(copy, l->d);
		copy->read_only = false;
		rnd_seed(&copy->rnd, rnd_mix(cutting.seed) + l->event, i);
		copy->loss = rnd_below(&copy->rnd, 2) ? DRIVE_PREFIX :
			     rnd_below(&copy->rnd, DRIVE_NR_LOSSES);
		drive_cut(copy, true);
		left_over();
	}
}
