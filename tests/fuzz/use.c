// SPDX-License-Identifier: GPL-2.0-only
/* A user of a device: what a hostile image could lead astray later on. */
#include "../../dm-lifezone/tests/waiting.h"
#include "fuzz.h"

/* How often a request is tried; where there is no room it may wait for ever. */
#define TRIES	50u
/* A flush is answered by then, one way or the other. */
#define PATIENCE	2000u

void fuzz_write(struct fuzz *f, u8 class, u64 lba, u32 n)
{
	u32 tries = 0, i;
	struct lz_write w;
	u64 addr;
	int err;

	while (n && tries++ < TRIES) {
		err = lz_write_begin(f->lz, class, lba, n, &w);
		if (err == -EAGAIN) {
			fuzz_pump(f);
			fuzz_elapse(f, 10);
			continue;
		}
		if (err)
			return;
		if (w.zone < 2 || w.zone >= f->g.nr_zones || !w.nblocks || w.nblocks > n)
			fuzz_wrong("%u of %u blocks reserved in zone %u", w.nblocks, n, w.zone);
		addr = (u64)w.zone * f->g.zone_blocks + f->zone[w.zone].wp;
		if (f->zone[w.zone].cond >= LZ_COND_FULL || f->zone[w.zone].torn ||
		    f->zone[w.zone].wp + w.nblocks > f->g.zone_cap ||
		    (f->zone[w.zone].fail & 1 << LZ_OP_APPEND)) {
			lz_write_fail(f->lz, &w, -EIO);
			fuzz_pump(f);
			continue;
		}
		for (i = 0; i < w.nblocks; i++)
			memset(fuzz_own(f, addr + i), (u8)(lba + i), LZ_BLOCK_SIZE);
		f->zone[w.zone].wp += w.nblocks;
		f->zone[w.zone].cond = f->zone[w.zone].wp == f->g.zone_cap ? LZ_COND_FULL :
			LZ_COND_OPEN;
		/* A zone that is said to be empty may hold something. */
		if (lz_write_end(f->lz, &w, addr, lba)) {
			fuzz_pump(f);
			continue;
		}
		lba += w.nblocks;
		n -= w.nblocks;
		fuzz_pump(f);
	}
}

void fuzz_discard(struct fuzz *f, u64 lba, u64 n)
{
	u32 tries;

	for (tries = 0; tries < TRIES && lz_discard(f->lz, lba, n) == -EAGAIN; tries++) {
		fuzz_pump(f);
		fuzz_elapse(f, 10);
	}
	fuzz_pump(f);
}

static void wait_for(struct fuzz *f, struct waiting *x, const char *what)
{
	u32 tries;

	for (tries = 0; !x->called; tries++) {
		if (tries == PATIENCE)
			fuzz_wrong("%s: nobody answers", what);
		fuzz_pump(f);
		if (!x->called)
			fuzz_elapse(f, 10);
	}
}

void fuzz_flush(struct fuzz *f)
{
	struct waiting x = { .w.fn = waiting_end };

	lz_flush(f->lz, &x.w);
	wait_for(f, &x, "flush");
}

void fuzz_checkpoint(struct fuzz *f)
{
	struct waiting x = { .w.fn = waiting_end };

	lz_request_checkpoint(f->lz, &x.w);
	wait_for(f, &x, "checkpoint");
}

/* Reads from @lba on; returns how far it got. */
static u32 read_some(struct fuzz *f, u64 lba, u32 want)
{
	struct lz_read rd;
	u32 tries = 0;
	int err;

	while ((err = lz_read_begin(f->lz, lba, want, &rd)) == -EAGAIN) {
		struct waiting x = { .w.fn = waiting_end };

		if (tries++ == TRIES)
			fuzz_wrong("read: leaf %llu does not come", (unsigned long long)rd.leaf);
		lz_leaf_wait(f->lz, rd.leaf, &x.w);
		wait_for(f, &x, "read");
		if (x.err)
			return 1;
	}
	if (err)
		return 1;
	if (!rd.nblocks || rd.nblocks > want)
		fuzz_wrong("read: %u of %u blocks", rd.nblocks, want);
	if (rd.addr != LZ_NOWHERE)
		lz_read_end(f->lz, &rd);
	return rd.nblocks;
}

void fuzz_read_all(struct fuzz *f)
{
	u64 n = f->si.logical_blocks, lba;
	struct lz_info info;

	lz_get_info(f->lz, &info);
	n = info.logical_blocks;
	for (lba = 0; lba < n;) {
		lba += read_some(f, lba, min_t(u64, n - lba, 9));
		/* Of a large device the start of each leaf will do. */
		if (n > 4096 && lba % LZ_NODE_ENTRIES > 20)
			lba += LZ_NODE_ENTRIES - lba % LZ_NODE_ENTRIES;
	}
}

int fuzz_stop(struct fuzz *f)
{
	int err = lz_stop(f->lz);

	fuzz_forget(f);
	return err;
}
