// SPDX-License-Identifier: GPL-2.0-only
/*
 * Users: up to sixteen requests at a time, split into commands as the kernel
 * shell does it, every read checked. A tag is the number of the write and the
 * logical block, so data that ends up at another block is recognised.
 */
#include <stdio.h>
#include "../../dm-lifezone/tests/waiting.h"
#include "world.h"

#define LBA_BITS	24

/* Appends that may fail before their request does, as in the kernel shell. */
#define MAX_TRIES	3u

static u64 tag_of(u64 ver, u32 lba)
{
	return ver << LBA_BITS | lba;
}

static void set_state(struct world *w, struct req *rq, u8 state)
{
	if (rq->state == RS_RUN)
		w->nr_ready--;
	rq->state = state;
	if (rq->state == RS_RUN)
		w->nr_ready++;
}

static void finish(struct world *w, struct req *rq)
{
	trace(w, "done     request %u", (u32)(rq - w->req));
	set_state(w, rq, RS_PARTS);
	rq->kind = RQ_FREE;
	w->nr_reqs--;
	w->ops++;
	w->t->ops++;
	w->progress = w->steps;
}

/* It ends with an error, as soon as nothing of it is in flight. */
static void refuse(struct world *w, struct req *rq)
{
	w->refused++;
	rq->nr_todo = 0;
	rq->next = rq->n;
	rq->fua = false;
	set_state(w, rq, RS_PARTS);
	if (!rq->parts)
		finish(w, rq);
}

static void on_answer(struct lz_waiter *lw, int err)
{
	struct req *rq = container_of(lw, struct req, w);
	struct world *w = rq->world;

	if (rq->kind == RQ_FREE || rq->state != RS_CORE)
		world_fail(w, "core answered a request that does not wait");
	if (err && !(rq->kind == RQ_READ ? w->unreadable : w->dead))
		world_fail(w, "%s failed: %d", rq->kind == RQ_READ ? "reading a leaf" : "flush",
			   err);
	if (err) {
		refuse(w, rq);
		return;
	}
	if (rq->kind == RQ_READ) {
		set_state(w, rq, RS_RUN);
		return;
	}
	oracle_durable(&w->oracle, rq->moment);
	finish(w, rq);
}

static void ask_flush(struct world *w, struct req *rq)
{
	rq->flushing = true;
	rq->moment = oracle_moment(&w->oracle);
	set_state(w, rq, RS_CORE);
	if (rq->kind == RQ_CHECKPOINT)
		lz_request_checkpoint(w->lz, &rq->w);
	else
		lz_flush(w->lz, &rq->w);
}

static void all_parts_done(struct world *w, struct req *rq)
{
	if (rq->kind == RQ_WRITE && rq->fua)
		ask_flush(w, rq);
	else
		finish(w, rq);
}

static void send_write(struct world *w, struct req *rq, const struct lz_write *lw, u32 lba)
{
	struct io *io = host_io(w);
	u32 i;

	io->rq = rq;
	io->w = *lw;
	io->lba = lba;
	io->n = lw->nblocks;
	for (i = 0; i < lw->nblocks; i++)
		io->tags[i] = tag_of(rq->ver, lba + i);
	io->dc.op = LZ_OP_APPEND;
	io->dc.zone = lw->zone;
	io->dc.n = lw->nblocks;
	io->dc.tags = io->tags;
	rq->parts++;
	if (w->failed[lw->zone] == w->d->z[lw->zone].gen + 1)
		world_fail(w, "block %u is to go to zone %u, where a write has failed", lba,
			   lw->zone);
	host_submit_part(w, io);
}

static void go_write(struct world *w, struct req *rq)
{
	struct lz_write lw;
	u32 resumes;
	int err;

	while (rq->nr_todo) {
		struct stretch *s = &rq->todo[rq->nr_todo - 1];
		u32 lba = s->lba;

		resumes = w->resumes;
		err = lz_write_begin(w->lz, rq->class, s->lba, s->n, &lw);
		if (err == -EAGAIN) {
			set_state(w, rq, w->resumes == resumes ? RS_RESUME : RS_RUN);
			return;
		}
		if (err && (w->dead || (err == -ENOSPC && w->may_fill))) {
			refuse(w, rq);
			return;
		}
		if (err)
			world_fail(w, "lz_write_begin: %d", err);
		if (!lw.nblocks || lw.nblocks > s->n || lw.zone >= w->g.nr_zones)
			world_fail(w, "lz_write_begin gave %u of %u blocks in zone %u", lw.nblocks,
				   s->n, lw.zone);
		s->lba += lw.nblocks;
		s->n -= lw.nblocks;
		if (!s->n)
			rq->nr_todo--;
		send_write(w, rq, &lw, lba);
	}
	set_state(w, rq, RS_PARTS);
	if (!rq->parts)
		finish(w, rq);
}

/* The zone it was for is set aside: the same again, elsewhere. */
static void write_failed(struct world *w, struct req *rq, struct io *io)
{
	if (!w->faulty && !w->erring)
		world_fail(w, "append of block %u: %d", io->lba, io->dc.error);
	if (io->dc.error)
		lz_write_fail(w->lz, &io->w, io->dc.error);
	w->failed[io->w.zone] = w->d->z[io->w.zone].gen + 1;
	if (w->erring && ++rq->tries >= MAX_TRIES) {
		w->refused++;
		rq->fua = false;
		return;
	}
	rq->todo[rq->nr_todo++] = (struct stretch){ io->lba, io->n };
	if (rq->state == RS_PARTS)
		set_state(w, rq, RS_RUN);
}

void users_aside(struct world *w, u32 zone)
{
	const struct drive_zone *z = &w->d->z[zone];

	/* Core knows: none of what is in it may be read. */
	if (z->meddled)
		w->failed[zone] = z->gen + 1;
}

/* Was it in a zone that somebody else has reset? */
static bool is_lost(const struct world *w, u32 lba)
{
	return w->gone && w->gone[lba];
}

static void check_zone(struct world *w, u32 lba, u64 addr)
{
	u32 zone = addr / w->g.zone_blocks;

	if (w->d->z[zone].meddled && w->failed[zone] == w->d->z[zone].gen + 1)
		world_fail(w, "block %u is read in zone %u, which core knows was reset", lba, zone);
}

static void check_block(struct world *w, u32 lba, u64 got, u64 want)
{
	if (got != want)
		world_fail(w, "block %u reads %llx, not %llx", lba, (unsigned long long)got,
			   (unsigned long long)want);
}

static void go_read(struct world *w, struct req *rq)
{
	struct lz_read r;
	struct io *io;
	u32 i, lba, want;
	int err;

	while (rq->next < rq->n) {
		lba = rq->lba + rq->next;
		want = min(rq->n - rq->next, MAX_BLOCKS);
		err = lz_read_begin(w->lz, lba, want, &r);
		if (err == -EAGAIN) {
			set_state(w, rq, RS_CORE);
			lz_leaf_wait(w->lz, r.leaf, &rq->w);
			return;
		}
		if (err && is_lost(w, lba)) {
			rq->next++;
			continue;
		}
		if (err)
			world_fail(w, "lz_read_begin of block %u: %d", lba, err);
		if (r.addr != LZ_NOWHERE)
			check_zone(w, lba, r.addr);
		if (!r.nblocks || r.nblocks > want)
			world_fail(w, "lz_read_begin gave %u of %u blocks", r.nblocks, want);
		rq->next += r.nblocks;
		if (r.addr == LZ_NOWHERE) {
			for (i = 0; i < r.nblocks; i++)
				check_block(w, lba + i, 0, oracle_now(&w->oracle, lba + i));
			continue;
		}
		io = host_io(w);
		io->rq = rq;
		io->r = r;
		io->lba = lba;
		io->n = r.nblocks;
		for (i = 0; i < r.nblocks; i++)
			io->expect[i] = oracle_now(&w->oracle, lba + i);
		io->dc.op = LZ_OP_READ;
		io->dc.zone = r.addr / w->g.zone_blocks;
		io->dc.off = r.addr % w->g.zone_blocks;
		io->dc.n = r.nblocks;
		io->dc.tags = io->tags;
		rq->parts++;
		host_submit_part(w, io);
	}
	set_state(w, rq, RS_PARTS);
	if (!rq->parts)
		finish(w, rq);
}

static void go_discard(struct world *w, struct req *rq)
{
	u32 i, resumes = w->resumes;
	int err = lz_discard(w->lz, rq->lba, rq->n);

	if (err == -EAGAIN) {
		set_state(w, rq, w->resumes == resumes ? RS_RESUME : RS_RUN);
		return;
	}
	if (err && w->dead) {
		refuse(w, rq);
		return;
	}
	if (err)
		world_fail(w, "lz_discard: %d", err);
	for (i = 0; i < rq->n; i++)
		if (oracle_now(&w->oracle, rq->lba + i))
			oracle_apply(&w->oracle, rq->lba + i, 0);
	finish(w, rq);
}

static void go_on(struct world *w, struct req *rq)
{
	set_state(w, rq, RS_BUSY);
	switch (rq->kind) {
	case RQ_WRITE:
		go_write(w, rq);
		break;
	case RQ_READ:
		go_read(w, rq);
		break;
	case RQ_DISCARD:
		go_discard(w, rq);
		break;
	default:
		ask_flush(w, rq);
	}
}

void users_resume(struct world *w)
{
	u32 i;

	w->resumes++;
	for (i = 0; i < MAX_REQS; i++)
		if (w->req[i].kind != RQ_FREE && w->req[i].state == RS_RESUME)
			set_state(w, &w->req[i], RS_RUN);
}

bool users_write_waits(const struct world *w)
{
	u32 i;

	for (i = 0; i < MAX_REQS; i++)
		if (w->req[i].kind == RQ_WRITE && w->req[i].state == RS_RESUME)
			return true;
	return false;
}

void users_go_on(struct world *w)
{
	u32 i, skip = rnd_below(&w->rnd, w->nr_ready);

	for (i = 0; i < MAX_REQS; i++) {
		if (w->req[i].kind == RQ_FREE || w->req[i].state != RS_RUN)
			continue;
		if (!skip--) {
			go_on(w, &w->req[i]);
			return;
		}
	}
}

void users_part_done(struct world *w, struct io *io)
{
	struct req *rq = io->rq;
	u64 addr;
	u32 i;

	rq->parts--;
	if (rq->kind == RQ_READ) {
		/* Just the blocks that cannot be read return an error. */
		if (io->dc.error && !w->erring &&
		    w->d->z[io->dc.zone].cond != LZ_COND_OFFLINE)
			world_fail(w, "read of block %u: %d", io->lba, io->dc.error);
		lz_read_end(w->lz, &io->r);
		/* It may have been reset while nobody knew, or in between. */
		for (i = 0; i < io->n && !io->dc.error && !w->d->z[io->dc.zone].meddled; i++)
			check_block(w, io->lba + i, io->tags[i], io->expect[i]);
	} else if (io->dc.error) {
		write_failed(w, rq, io);
	} else {
		addr = (u64)io->dc.zone * w->g.zone_blocks + io->dc.off;
		if (!lz_write_end(w->lz, &io->w, addr, io->lba)) {
			for (i = 0; i < io->n; i++)
				oracle_apply(&w->oracle, io->lba + i, io->tags[i]);
		} else if (w->d->z[io->dc.zone].meddled) {
			write_failed(w, rq, io);
		} else {
			world_fail(w, "core refuses where block %u has landed", io->lba);
		}
	}
	if (!rq->parts && !rq->nr_todo && rq->next == rq->n)
		all_parts_done(w, rq);
}

/* --- new requests ----------------------------------------------------------------- */

static u32 pick_lba(struct world *w, u32 n)
{
	struct rnd *r = &w->rnd;
	u32 lba;

	if (rnd_permille(r, w->load.hot))
		lba = (w->hot_at + rnd_below(r, w->load.hot_blocks)) % w->nr;
	else
		lba = rnd_below(r, w->nr);
	return min(lba, w->nr - n);
}

/* Never side by side, yet what lies in a zone dies together. */
static u32 next_lba(struct world *w, u32 n)
{
	w->hot_at = (w->hot_at + w->load.stride) % w->nr;
	return min(w->hot_at, w->nr - n);
}

static void new_discard(struct world *w, struct req *rq)
{
	struct rnd *r = &w->rnd;
	u32 x = rnd_below(r, 100);

	if (x < 70)
		rq->n = rnd_range(r, 1, min(16u, w->nr));
	else if (x < 97)
		rq->n = rnd_range(r, 1, max(1u, w->nr / 8));
	else
		rq->n = rnd_below(r, 3) ? rnd_range(r, 1, w->nr) : w->nr;
	rq->lba = rnd_below(r, w->nr - rq->n + 1);
}

static void change_options(struct world *w)
{
	struct lz_options was = w->o;
	char why[80];

	world_options(w);
	trace(w, "options  policy %u reset %u finish %u isolation %u victim %u", w->o.policy,
	      w->o.reset, w->o.finish, w->o.isolation, w->o.victim);
	if (lz_prepare_options(w->lz, &w->o, why, sizeof(why))) {
		trace(w, "options  %s", why);
		w->o = was;
		return;
	}
	lz_set_options(w->lz, &w->o);
}

static u32 pick_kind(struct world *w)
{
	const struct load *l = &w->load;
	const u32 weight[] = {
		[RQ_WRITE] = l->write, [RQ_READ] = l->read, [RQ_FLUSH] = l->flush,
		[RQ_DISCARD] = l->discard, [RQ_CHECKPOINT] = l->checkpoint,
		[RQ_GC] = l->gc, [RQ_OPTION] = l->option,
	};
	u32 i, x, sum = 0;

	for (i = 0; i < ARRAY_SIZE(weight); i++)
		sum += weight[i];
	x = rnd_below(&w->rnd, sum);
	for (i = 0; x >= weight[i]; i++)
		x -= weight[i];
	return i;
}

void users_new(struct world *w)
{
	static const char * const names[] = { "", "write", "read", "flush", "discard",
					      "checkpoint" };
	const struct load *l = &w->load;
	struct rnd *r = &w->rnd;
	struct req *rq;
	u32 i, kind;

	kind = pick_kind(w);
	for (i = 0; w->req[i].kind != RQ_FREE; i++)
		;
	rq = &w->req[i];
	rq->world = w;
	rq->fua = false;
	rq->flushing = false;
	rq->next = 0;
	rq->nr_todo = 0;
	rq->parts = 0;
	rq->tries = 0;
	rq->lba = 0;
	rq->n = 0;
	rq->since = w->steps;
	rq->w.fn = on_answer;
	rq->kind = kind;
	switch (kind) {
	case RQ_WRITE:
		rq->n = min(w->nr, rnd_below(r, 2) ? 1 : rnd_range(r, 1, l->len));
		rq->lba = l->stride ? next_lba(w, rq->n) : pick_lba(w, rq->n);
		rq->class = rnd_below(r, l->classes);
		rq->fua = rnd_permille(r, l->fua);
		rq->todo[0] = (struct stretch){ rq->lba, rq->n };
		rq->nr_todo = 1;
		rq->next = rq->n;
		rq->ver = ++w->ver;
		break;
	case RQ_READ:
		rq->n = min(w->nr, rnd_range(r, 1, 32));
		rq->lba = pick_lba(w, rq->n);
		break;
	case RQ_DISCARD:
		new_discard(w, rq);
		break;
	case RQ_GC:
		rq->kind = RQ_FREE;
		lz_request_gc(w->lz, rnd_range(r, 1, 3));
		return;
	case RQ_OPTION:
		rq->kind = RQ_FREE;
		change_options(w);
		return;
	}
	w->nr_reqs++;
	rq->state = RS_BUSY;
	trace(w, "request  %u: %s block %u n %u class %u ver %llx%s", (u32)(rq - w->req),
	      names[rq->kind], rq->lba, rq->n, rq->class, (unsigned long long)rq->ver,
	      rq->fua ? " fua" : "");
	go_on(w, rq);
}

void users_init(struct world *w)
{
	users_forget(w);
}

void users_forget(struct world *w)
{
	u32 i;

	for (i = 0; i < MAX_REQS; i++) {
		w->req[i].kind = RQ_FREE;
		w->req[i].state = RS_PARTS;
	}
	w->nr_reqs = 0;
	w->nr_ready = 0;
	if (!w->trying)
		memset(w->failed, 0, w->g.nr_zones * sizeof(*w->failed));
}

/* --- after a recovery --------------------------------------------------------------- */

static bool wait_for_leaf(struct world *w, u64 leaf)
{
	struct waiting l = { .w.fn = waiting_end };
	u32 i;

	lz_leaf_wait(w->lz, leaf, &l.w);
	for (i = 0; !l.called; i++)
		if (!host_step(w) || i > 100000)
			world_fail(w, "leaf %llu never comes", (unsigned long long)leaf);
	if (l.err && !(w->harmed && w->said) && !w->unreadable)
		world_fail(w, "leaf %llu: %d", (unsigned long long)leaf, l.err);
	return !l.err;
}

static void verify_block(struct world *w, u32 lba, u64 tag, u64 addr, bool exact)
{
	char buf[400];

	if (exact ? tag == oracle_now(&w->oracle, lba) : oracle_allows(&w->oracle, lba, tag))
		return;
	if (!exact && w->rewound && (!tag || tag == tag_of(tag >> LBA_BITS, lba)))
		return;
	world_fail(w, "%s block %u reads %llx (at zone %lld offset %llu), allowed:%s",
		   exact ? "after a reload" : "after the cut", lba, (unsigned long long)tag,
		   addr == LZ_NOWHERE ? -1ll : (long long)(addr / w->g.zone_blocks),
		   (unsigned long long)(addr % w->g.zone_blocks),
		   oracle_show(&w->oracle, lba, buf, sizeof(buf)));
}

void users_verify(struct world *w, bool exact)
{
	/* Nobody promises that what was read of volatile data stays. */
	bool keep = w->trying || (w->d->read_only && drive_is_volatile(w->d));
	bool no_new = w->no_new;
	struct lz_read r;
	u32 i, lba = 0;
	u64 tag;
	int err;

	w->no_new = true;
	while (lba < w->nr) {
		err = lz_read_begin(w->lz, lba, w->nr - lba, &r);
		if (err == -EAGAIN) {
			if (!wait_for_leaf(w, r.leaf))
				lba = (r.leaf + 1) * LZ_NODE_ENTRIES;
			continue;
		}
		if (err && (is_lost(w, lba) || (!exact && w->rewound))) {
			if (!keep)
				oracle_pin(&w->oracle, lba, oracle_now(&w->oracle, lba));
			lba++;
			continue;
		}
		if (err)
			world_fail(w, "after a load: lz_read_begin of block %u: %d", lba, err);
		if (r.addr != LZ_NOWHERE)
			check_zone(w, lba, r.addr);
		for (i = 0; i < r.nblocks; i++, lba++) {
			tag = r.addr == LZ_NOWHERE ? 0 : drive_peek(w->d, r.addr + i);
			/* A cut may come before the zone table says that the zone is lost. */
			if (exact || r.addr == LZ_NOWHERE || !is_lost(w, lba) ||
			    !w->d->z[r.addr / w->g.zone_blocks].meddled)
				verify_block(w, lba, tag,
					     r.addr == LZ_NOWHERE ? r.addr : r.addr + i, exact);
			if (!keep)
				oracle_pin(&w->oracle, lba, tag);
		}
		if (r.addr != LZ_NOWHERE)
			lz_read_end(w->lz, &r);
	}
	if (!keep)
		oracle_restart(&w->oracle);
	w->no_new = no_new;
}
