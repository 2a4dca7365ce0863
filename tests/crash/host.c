// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host of core: queues its commands at the drive, and a scheduler that
 * draws what happens next: a command moves on, the machine runs, a user goes on,
 * time passes. Core's blocking calls (load, stop, format) run the same scheduler
 * through ops->wait; a power cut in there leaves core's stack by a long jump.
 */
#include <stdio.h>
#include "world.h"

struct io *host_io(struct world *w)
{
	struct io_pool *p = &w->ios;
	struct io *io = p->free;
	u32 i;

	if (!io) {
		if (p->nr == ARRAY_SIZE(p->chunk))
			world_fail(w, "too many commands in flight");
		io = calloc(IO_CHUNK, sizeof(*io));
		if (!io)
			abort();
		p->chunk[p->nr++] = io;
		for (i = 0; i < IO_CHUNK; i++) {
			io[i].next = p->free;
			p->free = &io[i];
		}
		io = p->free;
	}
	p->free = io->next;
	io->cmd = NULL;
	io->rq = NULL;
	io->dc.flags = 0;
	io->dc.off = 0;
	io->dc.n = 0;
	io->dc.buf = NULL;
	io->dc.tags = NULL;
	io->dc.error = 0;
	return io;
}

static void put_io(struct world *w, struct io *io)
{
	io->next = w->ios.free;
	w->ios.free = io;
}

/* Whatever was in flight is gone, with the instance that knew of it. */
void host_forget(struct world *w)
{
	struct io_pool *p = &w->ios;
	u32 i, j;

	p->free = NULL;
	for (i = 0; i < p->nr; i++) {
		for (j = 0; j < IO_CHUNK; j++) {
			p->chunk[i][j].next = p->free;
			p->free = &p->chunk[i][j];
		}
	}
	w->kicked = false;
	w->timer = false;
	w->ended = 0;
	w->lz = NULL;
	w->context = CTX_HOST;
	w->interrupted = false;
	yield_depth = 0;
}

void host_exit(struct io_pool *ios)
{
	while (ios->nr)
		free(ios->chunk[--ios->nr]);
}

static void show(struct world *w, const char *what, const struct io *io)
{
	const struct drive_cmd *c = &io->dc;

	world_trace(w, "%-8s %-6s zone %u off %u n %u%s%s%s%s", what, drive_op_name(c->op),
		    c->zone, c->off, c->n, c->flags & LZ_CMD_PREFLUSH ? " preflush" : "",
		    c->flags & LZ_CMD_FUA ? " fua" : "", io->cmd ? " core" : " user",
		    c->error ? " ERROR" : "");
}

static void ended(struct world *w, struct io *io)
{
	struct lz_cmd *cmd = io->cmd;

	if (w->tracing)
		show(w, "ended", io);
	w->ended++;
	if (io->rq) {
		users_part_done(w, io);
		put_io(w, io);
		return;
	}
	cmd->error = io->dc.error;
	if (cmd->op == LZ_OP_APPEND)
		cmd->result = (u64)io->dc.zone * w->g.zone_blocks + io->dc.off;
	put_io(w, io);
	lz_cmd_done(w->lz, cmd);
}

void host_submit_part(struct world *w, struct io *io)
{
	if (w->tracing)
		show(w, "submit", io);
	drive_submit(w->d, &io->dc);
}

static void host_submit(void *ctx, struct lz_cmd *cmd)
{
	struct world *w = ctx;
	struct io *io = host_io(w);
	struct drive_cmd *c = &io->dc;

	io->cmd = cmd;
	c->op = cmd->op;
	c->flags = cmd->flags;
	c->zone = 0;
	if (cmd->op != LZ_OP_FLUSH) {
		c->zone = cmd->addr / w->g.zone_blocks;
		c->off = cmd->addr % w->g.zone_blocks;
		c->n = cmd->nblocks;
		c->buf = cmd->buf;
	}
	if (w->tracing)
		show(w, "submit", io);
	drive_submit(w->d, c);
	if (w->load.now_permille && rnd_permille(&w->rnd, w->load.now_permille) &&
	    drive_finish_now(w->d, c))
		ended(w, io);
}

static void host_kick(void *ctx)
{
	struct world *w = ctx;

	w->kicked = true;
}

static void host_kick_later(void *ctx, u32 ms)
{
	struct world *w = ctx;
	u64 at = w->now + ms * 1000000ull;

	if (!w->timer || at < w->timer_at)
		w->timer_at = at;
	w->timer = true;
}

static void drive_moves(struct world *w)
{
	struct drive_cmd *c = drive_step(w->d);

	if (c)
		ended(w, container_of(c, struct io, dc));
}

/* Core waits for a command of its own: only the drive moves. */
static void host_wait(void *ctx)
{
	struct world *w = ctx;

	while (!w->ended) {
		w->steps++;
		w->now += rnd_below(&w->rnd, w->load.step_ns);
		if (!w->d->nr_cmds)
			world_fail(w, "core waits, but nothing is in flight");
		drive_moves(w);
		if (w->wait_cut == 0) {
			w->wait_cut = -1;
			longjmp(w->on_cut, 1);
		}
		if (w->wait_cut > 0)
			w->wait_cut--;
		if (++w->wait_cmds > 500000) {
			if (w->tracing)
				peek_print(w->lz);
			world_fail(w, "core waits for ever");
		}
	}
	w->ended = 0;
}

static void host_resume(void *ctx)
{
	users_resume(ctx);
}

static u64 host_now(void *ctx)
{
	struct world *w = ctx;

	return w->now;
}

static void host_event(void *ctx, enum lz_event ev, u64 arg)
{
	struct world *w = ctx;

	trace(w, "event    %u %llu", ev, (unsigned long long)arg);
	if (ev == LZ_EV_ZONE_ASIDE)
		users_aside(w, arg);
	/* One bad zone never takes the device down. */
	if (ev == LZ_EV_MODE && w->may_die)
		w->dead = true;
	else if (ev == LZ_EV_MODE || (ev == LZ_EV_ZONE_ASIDE && !w->faulty && !w->erring))
		w->damaged = true;
}

static void host_say(void *ctx, char level, const char *line)
{
	struct world *w = ctx;

	trace(w, "says     %c: %s", level, line);
	w->said |= level == 'e' || level == 'f';
	/* Space would be lost. */
	if (strstr(line, "counted that the map"))
		w->damaged = true;
}

static void host_trace(void *ctx, const struct lz_trace *t)
{
	static const char * const names[] = {
		[LZ_TR_ZONE_STATE] = "state", [LZ_TR_PLACE_ZONE] = "place_zone",
		[LZ_TR_PLACE] = "place", [LZ_TR_VICTIM_ZONE] = "victim_zone",
		[LZ_TR_VICTIM] = "victim", [LZ_TR_RESET] = "reset",
		[LZ_TR_COMMIT] = "commit", [LZ_TR_CHECKPOINT] = "checkpoint",
	};
	struct world *w = ctx;

	trace(w, "core     %s zone %u class %u old %u new %u a %llu b %llu",
	      t->what < ARRAY_SIZE(names) ? names[t->what] : "?", t->zone, t->class,
	      t->old, t->new, (unsigned long long)t->a, (unsigned long long)t->b);
	if (t->what == LZ_TR_PLACE && t->new == LZ_PLACE_NEW && peek_reserve_taken(w->lz, t->old))
		world_fail(w, "%s opened zone %u, which was kept back",
			   t->old ? "GC has" : "users have", t->zone);
}

const struct lz_ops host_ops = {
	.submit = host_submit,
	.kick = host_kick,
	.kick_later = host_kick_later,
	.wait = host_wait,
	.resume = host_resume,
	.now = host_now,
	.event = host_event,
	.trace = host_trace,
	.say = host_say,
};

static bool user_may_come(struct world *w)
{
	return !w->no_new && w->nr_reqs < w->load.depth;
}

static void machine_runs(struct world *w)
{
	w->kicked = false;
	w->context = CTX_MACHINE;
	lz_run(w->lz);
	w->context = CTX_HOST;
	if (peek_room_untold(w->lz) && users_write_waits(w))
		world_fail(w, "a write waits for room, and is not told that there is some");
}

/* Something happens to a request: a command of it ends, it goes on, a new one comes. */
static bool users_move(struct world *w, u32 drive, u32 ready, u32 new)
{
	u32 x;

	if (!(drive + ready + new))
		return false;
	x = rnd_below(&w->rnd, drive + ready + new);
	w->context = CTX_DATA;
	if (x < drive)
		drive_moves(w);
	else if (x < drive + ready)
		users_go_on(w);
	else
		users_new(w);
	w->context = CTX_HOST;
	return true;
}

static u32 new_weight(struct world *w)
{
	return user_may_come(w) ? w->load.user_weight : 0;
}

bool host_step(struct world *w)
{
	u32 drive = w->d->nr_cmds ? w->load.drive_weight : 0;
	u32 run = w->kicked ? w->load.run_weight : 0;
	u32 ready = w->nr_ready ? w->load.user_weight : 0;
	u32 new = new_weight(w);
	u32 all = drive + run + ready + new;

	w->steps++;
	w->now += rnd_below(&w->rnd, w->load.step_ns);
	if (w->timer && w->now >= w->timer_at) {
		w->timer = false;
		w->kicked = true;
	}
	if (!all) {
		if (!w->timer)
			return w->kicked;
		w->now = w->timer_at;
		return true;
	}
	if (rnd_below(&w->rnd, all) < run) {
		machine_runs(w);
	} else {
		if (w->load.idle && rnd_permille(&w->rnd, w->load.idle))
			w->now += 1000000ull * rnd_below(&w->rnd, 2 * w->o.commit_ms);
		users_move(w, drive, ready, new);
	}
	if (w->damaged && !w->harmed)
		world_fail(w, "core set a zone aside or changed its mode for no reason");
	return true;
}

/* --- interruptions ------------------------------------------------------------------ */

/*
 * Requests get in between the machine's steps, and the machine between those of
 * a request; what gets in is not interrupted itself. So every request still has
 * its moment, which the oracle needs.
 */
unsigned int yield_depth;
unsigned int yield_in;
static struct world *yielding;

static void next_yield(struct world *w)
{
	yield_in = w && w->load.yield ? rnd_range(&w->rnd, 1, 2 * w->load.yield) : 0;
}

void host_yields(struct world *w)
{
	yielding = w;
	next_yield(w);
}

void yield_now(void)
{
	struct world *w = yielding;
	u8 context;

	if (!w)
		return;
	next_yield(w);
	if (w->interrupted)
		return;
	w->interrupted = true;
	context = w->context;
	if (context == CTX_MACHINE) {
		users_move(w, w->d->nr_cmds ? w->load.drive_weight : 0,
			   w->nr_ready ? w->load.user_weight : 0, new_weight(w));
	} else if (context == CTX_DATA && w->kicked) {
		machine_runs(w);
	}
	w->context = context;
	w->interrupted = false;
}
