// SPDX-License-Identifier: GPL-2.0-only
/*
 * A zoned drive in RAM and core's host on it, in one thread.
 *
 * What core does wrong only because it was told wrong by a hostile image gets an
 * error from the drive, as from a real one. What no host could make sense of
 * ends the input.
 */
#include "fuzz.h"

#define STEPS		20000000u
#define ROUNDS		20000u		/* of the machine, without time passing */

static u64 steps;

void fuzz_wrong(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("fuzz: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

void fuzz_begin(void)
{
	steps = 0;
}

void fuzz_step(void)
{
	if (++steps > STEPS)
		fuzz_wrong("no end");
}

u64 fuzz_blocks(const struct fuzz *f)
{
	return (u64)f->g.nr_zones * f->g.zone_blocks;
}

const u8 *fuzz_block(const struct fuzz *f, u64 addr)
{
	static const u8 blank[LZ_BLOCK_SIZE];

	return addr < fuzz_blocks(f) && f->blk[addr] ? f->blk[addr] : blank;
}

static void drop(struct fuzz *f, u64 addr)
{
	if (f->own[addr])
		free(f->blk[addr]);
	f->blk[addr] = NULL;
	f->own[addr] = 0;
}

u8 *fuzz_own(struct fuzz *f, u64 addr)
{
	u8 *b;

	if (addr >= fuzz_blocks(f))
		return NULL;
	if (!f->own[addr]) {
		b = malloc(LZ_BLOCK_SIZE);
		memcpy(b, fuzz_block(f, addr), LZ_BLOCK_SIZE);
		f->blk[addr] = b;
		f->own[addr] = 1;
	}
	return f->blk[addr];
}

struct fuzz *fuzz_new(const struct lz_geometry *g)
{
	struct fuzz *f = calloc(1, sizeof(*f));

	f->g = *g;
	f->zone = calloc(g->nr_zones, sizeof(*f->zone));
	f->blk = calloc(fuzz_blocks(f), sizeof(*f->blk));
	f->own = calloc(fuzz_blocks(f), 1);
	INIT_LIST_HEAD(&f->kept);
	return f;
}

void fuzz_free(struct fuzz *f)
{
	u64 i;

	fuzz_forget(f);
	for (i = 0; i < fuzz_blocks(f); i++) {
		if (f->own[i])
			free(f->blk[i]);
	}
	free(f->zone);
	free(f->blk);
	free(f->own);
	free(f->meta);
	free(f);
}

struct fuzz *fuzz_clone(const struct fuzz *seed)
{
	struct fuzz *f = fuzz_new(&seed->g);

	f->si = seed->si;
	memcpy(f->zone, seed->zone, f->g.nr_zones * sizeof(*f->zone));
	memcpy(f->blk, seed->blk, fuzz_blocks(f) * sizeof(*f->blk));
	f->meta = malloc(seed->nr_meta * sizeof(*f->meta) + 1);
	memcpy(f->meta, seed->meta, seed->nr_meta * sizeof(*f->meta));
	f->nr_meta = seed->nr_meta;
	f->nr_read = seed->nr_read;
	return f;
}

/* --- commands -------------------------------------------------------------------- */

/* Metadata blocks in the order in which core asks for them. */
static void note(struct fuzz *f, u64 addr)
{
	u32 i;

	if (le32_to_cpu(((const struct lz_hdr *)fuzz_block(f, addr))->magic) != LZ_MAGIC)
		return;
	for (i = 0; i < f->nr_meta; i++) {
		if (f->meta[i] == addr)
			return;
	}
	f->meta = realloc(f->meta, (f->nr_meta + 1) * sizeof(*f->meta));
	f->meta[f->nr_meta++] = addr;
}

static int do_read(struct fuzz *f, u64 addr, u32 n, u8 *buf)
{
	u32 i;

	if (addr >= fuzz_blocks(f) || n > fuzz_blocks(f) - addr ||
	    addr % f->g.zone_blocks + n > f->g.zone_blocks)
		return -EIO;
	for (i = 0; i < n; i++) {
		memcpy(buf + (size_t)i * LZ_BLOCK_SIZE, fuzz_block(f, addr + i), LZ_BLOCK_SIZE);
		if (f->noting)
			note(f, addr + i);
	}
	return 0;
}

static int do_write(struct fuzz *f, u32 zone, u64 off, const u8 *buf, u32 n)
{
	struct fuzz_zone *z = &f->zone[zone];
	u32 i;

	if (z->cond >= LZ_COND_FULL || z->torn || off != z->wp || off + n > f->g.zone_cap)
		return -EIO;
	for (i = 0; i < n; i++)
		memcpy(fuzz_own(f, (u64)zone * f->g.zone_blocks + off + i),
		       buf + (size_t)i * LZ_BLOCK_SIZE, LZ_BLOCK_SIZE);
	z->wp += n;
	z->cond = z->wp == f->g.zone_cap ? LZ_COND_FULL : LZ_COND_OPEN;
	return 0;
}

static int do_zone_op(struct fuzz *f, u8 op, u32 zone)
{
	struct fuzz_zone *z = &f->zone[zone];
	u32 i;

	if (z->cond > LZ_COND_FULL)
		return -EIO;
	if (op == LZ_OP_RESET) {
		for (i = 0; i < f->g.zone_blocks; i++)
			drop(f, (u64)zone * f->g.zone_blocks + i);
	}
	z->torn = 0;
	z->wp = op == LZ_OP_RESET ? 0 : f->g.zone_cap;
	z->cond = op == LZ_OP_RESET ? LZ_COND_EMPTY : LZ_COND_FULL;
	return 0;
}

static int carry_out(struct fuzz *f, struct lz_cmd *c)
{
	u64 zone = c->addr / f->g.zone_blocks, off = c->addr % f->g.zone_blocks;

	if (c->op == LZ_OP_FLUSH)
		return 0;
	if (c->op <= LZ_OP_APPEND && (!c->nblocks || !c->buf || c->nblocks > 4096))
		fuzz_wrong("command %u for %u blocks", c->op, c->nblocks);
	if (c->op >= LZ_OP_APPEND && off)
		fuzz_wrong("command %u not to the start of a zone", c->op);
	if (zone >= f->g.nr_zones || (f->zone[zone].fail & 1 << c->op) ||
	    f->zone[zone].cond == LZ_COND_OFFLINE)
		return -EIO;
	f->writes += c->op != LZ_OP_READ;
	switch (c->op) {
	case LZ_OP_READ:
		return do_read(f, c->addr, c->nblocks, c->buf);
	case LZ_OP_APPEND:
		off = f->zone[zone].wp;
		c->result = c->addr + off;
		fallthrough;
	case LZ_OP_WRITE:
		return do_write(f, zone, off, c->buf, c->nblocks);
	case LZ_OP_RESET:
	case LZ_OP_FINISH:
		return do_zone_op(f, c->op, zone);
	}
	fuzz_wrong("unknown command %u", c->op);
}

static void complete(struct fuzz *f, struct lz_cmd *c)
{
	c->error = carry_out(f, c);
	lz_cmd_done(f->lz, c);
}

static void host_submit(void *ctx, struct lz_cmd *c)
{
	struct fuzz *f = ctx;

	/* Writes to a zone keep their order. */
	if (f->late && c->op != LZ_OP_WRITE)
		list_add(&c->list, &f->kept);
	else
		complete(f, c);
}

/* All that are kept now: what they lead to waits its turn, so none waits for ever. */
static bool let_go(struct fuzz *f)
{
	bool any = !list_empty(&f->kept);
	struct list_head list;

	INIT_LIST_HEAD(&list);
	list_splice_tail_init(&f->kept, &list);
	while (!list_empty(&list)) {
		struct lz_cmd *c = list_first_entry(&list, struct lz_cmd, list);

		list_del_init(&c->list);
		complete(f, c);
	}
	return any;
}

static void host_kick(void *ctx)
{
	((struct fuzz *)ctx)->kicked = true;
}

static void host_kick_later(void *ctx, u32 ms)
{
	struct fuzz *f = ctx;
	u64 at = f->now + ms * 1000000ull;

	if (!f->timer || at < f->timer)
		f->timer = at;
}

static void host_wait(void *ctx)
{
	let_go(ctx);
	fuzz_step();
}

static void host_resume(void *ctx)
{
}

static u64 host_now(void *ctx)
{
	return ((struct fuzz *)ctx)->now;
}

static void host_event(void *ctx, enum lz_event ev, u64 arg)
{
}

static void host_trace(void *ctx, const struct lz_trace *t)
{
	fuzz_step();
	if (getenv("FUZZ_TRACE"))
		fprintf(stderr, "trace %u: zone %d, class %u, %u to %u, %llu, %llu\n", t->what,
			(int)t->zone, t->class, t->old, t->new, (unsigned long long)t->a,
			(unsigned long long)t->b);
}

static void host_say(void *ctx, char level, const char *line)
{
	struct fuzz *f = ctx;

	if (!*line || strpbrk(line, "\n\r"))
		fuzz_wrong("not one line: '%s'", line);
	f->errors += level == 'e' || level == 'f';
	if (getenv("FUZZ_SAY"))
		fprintf(stderr, "%c: %s\n", level, line);
}

const struct lz_ops fuzz_ops = {
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

/* --- the machine ------------------------------------------------------------------ */

void fuzz_pump(struct fuzz *f)
{
	u32 rounds = 0;

	do {
		f->kicked = false;
		lz_run(f->lz);
		if (rounds++ > ROUNDS)
			fuzz_wrong("the machine does not come to rest");
	} while (let_go(f) || f->kicked);
}

void fuzz_elapse(struct fuzz *f, u32 ms)
{
	f->now += ms * 1000000ull;
	if (f->timer && f->timer <= f->now) {
		f->timer = 0;
		f->kicked = true;
	}
	fuzz_pump(f);
}

/* Errors a load may end with; each but the first says a line. */
static bool documented(int err)
{
	return err == -ENODEV || err == -EUCLEAN || err == -EPROTONOSUPPORT || err == -EINVAL ||
		err == -ENOSPC || err == -EIO || err == -EOVERFLOW;
}

void fuzz_check_say(void *ctx, const char *line)
{
	if (!*line || strchr(line, '\n'))
		fuzz_wrong("check: not one line: '%s'", line);
	if (getenv("FUZZ_SAY"))
		fprintf(stderr, "check: %s\n", line);
}

void fuzz_report(const struct fuzz *f, struct lz_zone_report *rep)
{
	u32 i;

	for (i = 0; i < f->g.nr_zones; i++)
		rep[i] = (struct lz_zone_report){
			f->zone[i].wp, f->zone[i].cond, f->zone[i].torn,
		};
}

int fuzz_load(struct fuzz *f, u32 flags, const struct lz_options *o)
{
	struct lz_zone_report *rep = calloc(f->g.nr_zones, sizeof(*rep));
	struct lz_options preset;
	int err;

	lz_options_default(&preset);
	fuzz_report(f, rep);
	f->errors = 0;
	f->lz = lz_new(&f->g, o ? o : &preset, &fuzz_ops, f);
	err = lz_load(f->lz, rep, flags);
	free(rep);
	if (err) {
		if (!documented(err))
			fuzz_wrong("load: undocumented error %d", err);
		if (!f->errors)
			fuzz_wrong("load: error %d, and not a line about it", err);
		fuzz_forget(f);
	} else {
		fuzz_pump(f);
	}
	return err;
}

void fuzz_forget(struct fuzz *f)
{
	if (f->lz)
		lz_free_device(f->lz);
	f->lz = NULL;
	INIT_LIST_HEAD(&f->kept);
	f->kicked = false;
	f->timer = 0;
}
