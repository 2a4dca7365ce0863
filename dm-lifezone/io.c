// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bios of users.
 *
 * Read: core tells where the first blocks lie. If these are all, dm's own clone
 * is sent there; otherwise there is a part for each run, allocated without
 * waiting or left to the worker. Core's reference to the zone is kept until the
 * read has ended, so that the zone is not reset under it. Blocks that were never
 * written are zeroed here, whatever the drive would return. dm is never asked to
 * split a bio: it could not tell that a part of a REQ_NOWAIT bio was sent.
 *
 * Write: core reserves space in a zone; a bio of ours appends to it and at its
 * end core maps what landed. dm's clone is never turned into an append, for
 * dm would take the sector it ended at for the clone's own. A write is a set of
 * parts; the first is in dm's per-bio data, so that the usual write of one part
 * allocates nothing. A part is answerable for a range of its bio and appends a
 * piece of it at a time. More parts are allocated, without waiting, where the
 * range does not fit one append; where that fails the part sends the pieces one
 * after the other. So a write never waits for memory while it holds a
 * reservation, and the reserve of the biosets is enough to make progress.
 *
 * No space: the part goes to the end of a list and the worker is queued, in
 * this order. The worker takes parts from the head; one that still finds no
 * space goes back to the head and the worker stops. Core's ops->resume queues
 * the worker: when it runs already, it will run again, so a resume between try
 * and putting back is not lost. While the list has anybody on it new writes go
 * to its end. A part whose append failed goes the same way, and writes to
 * another zone; after LZ_MAX_TRIES failures its bio, and no more, gets an error.
 * The worker allocates nothing for writes, so what waits on the list never
 * keeps it from running.
 *
 * Map not in RAM: the read waits for the leaf; then the worker sends it. Only
 * the worker waits for memory, with no bio of its own unsent, for bios that wait
 * for nothing but the drive, and what a control group may do with it: a group that
 * has used up its share of the drive keeps the worker, and so all that wait for it,
 * where it is sent (iocost) or keeps its own where they were sent (io.max). Limits
 * belong on the mapped device, where they hold bios before they come here.
 *
 * No function here waits for core, and core calls back from its own context or
 * from a completion; every bio has a reference on lz_target.users from .map to
 * .end_io, which is what a suspend waits for.
 *
 * REQ_NOWAIT: a bio that would wait ends with BLK_STS_AGAIN before anything is
 * reserved or sent, so that its submitter hears of it before submit_bio()
 * returns; io_uring cannot try again later. Once some of it is sent the rest
 * waits, but not its submitter. The flag goes down with what the submitter
 * sends. Where a busy drive turns away a whole read, that ends so; a part keeps
 * its reservation or its zone and is sent again without the flag, by a work item
 * with a queue of its own: that one never waits but for the drive, or as above.
 * A suspend with noflush gives dm the whole bio back, flag and all, though some of
 * it was sent: if there is no room when dm comes with it again, it ends late.
 */
#include "shell.h"

/**
 * struct lz_part - part of a bio
 * @lb: the bio
 * @lba: first block of @rest
 * @w: reservation of the piece in flight (writes)
 * @r: its run (reads)
 * @rest: range of the bio it is answerable for; of a write, the piece in flight
 *	first
 * @tries: appends of this piece that failed
 * @bio: the piece
 */
struct lz_part {
	struct lz_bio *lb;
	u64 lba;
	union {
		struct lz_write w;
		struct lz_read r;
	};
	struct bvec_iter rest;
	u8 tries;
	struct bio bio;
};

/**
 * struct lz_bio - dm's per-bio data
 * @lt: target
 * @run: the clone itself was sent to read @read
 * @status: first error of a part
 * @parts: parts that have not ended, and whoever still makes some
 * @read: run being read
 * @waiter: for a flush or a map leaf
 * @first: first part of a write
 */
struct lz_bio {
	struct lz_target *lt;
	bool run;
	blk_status_t status;
	atomic_t parts;
	struct lz_read read;
	struct lz_waiter waiter;
	struct lz_part first;
};

#define LZ_PART_BIOS		64

/* What of a bio's flags is passed on to parts. */
#define LZ_OPF_PASSED		(REQ_SYNC | REQ_META | REQ_PRIO | REQ_IDLE |	\
				 REQ_RAHEAD | REQ_BACKGROUND | REQ_SWAP)
/* And of a read's: a write is better tried again than its zone set aside. */
#define LZ_OPF_PASSED_READ	(LZ_OPF_PASSED | REQ_FAILFAST_MASK)

static inline struct bio *lz_upper(struct lz_bio *lb)
{
	return dm_bio_from_per_bio_data(lb, sizeof(*lb));
}

static inline unsigned int lz_bytes(u32 nblocks)
{
	return nblocks << LZ_BLOCK_SHIFT;
}

static inline u64 lz_bio_lba(const struct bio *bio)
{
	return bio->bi_iter.bi_sector >> (LZ_BLOCK_SHIFT - SECTOR_SHIFT);
}

static inline u8 lz_bio_class(const struct bio *bio)
{
	u8 hint = (__force u8)bio->bi_write_hint;

	if (bio->bi_opf & REQ_META)
		return LZ_CLASS_META;
	return hint <= LZ_CLASS_EXTREME ? hint : LZ_CLASS_NOT_SET;
}

/* --- beginning --------------------------------------------------------------- */

/* The whole bio as one part, nothing sent. */
static inline struct lz_part *lz_bio_begin(struct lz_bio *lb, struct bio *bio)
{
	struct lz_part *part = &lb->first;

	lb->status = BLK_STS_OK;
	atomic_set(&lb->parts, 1);
	part->lb = lb;
	part->lba = lz_bio_lba(bio);
	part->rest = bio->bi_iter;
	part->tries = 0;
	bio_init(&part->bio, NULL, bio->bi_io_vec, 0, 0);
	return part;
}

/* Leaves @bio to @work, which takes it from @list. */
static void lz_bio_leave(struct lz_target *lt, struct bio_list *list, struct bio *bio,
			 struct workqueue_struct *wq, struct work_struct *work)
{
	unsigned long flags;

	spin_lock_irqsave(&lt->wait_lock, flags);
	bio_list_add(list, bio);
	/* Who takes it from there may end it, and with it the target. */
	queue_work(wq, work);
	spin_unlock_irqrestore(&lt->wait_lock, flags);
}

/* Where a write or discard waits, behind others of its kind. */
static inline struct bio_list *lz_waiting(struct lz_target *lt, struct bio *bio)
{
	return bio_op(bio) == REQ_OP_WRITE ? &lt->waiting : &lt->discards;
}

static void lz_part_wait(struct lz_target *lt, struct lz_part *part)
{
	lz_bio_leave(lt, lz_waiting(lt, lz_upper(part->lb)), &part->bio, lt->io_wq,
		     &lt->io_work);
}

/* --- ending ------------------------------------------------------------------ */

static void lz_bio_flushed(struct lz_waiter *w, int err)
{
	struct bio *bio = lz_upper(container_of(w, struct lz_bio, waiter));

	bio->bi_status = errno_to_blk_status(err);
	bio_endio(bio);
}

static void lz_bio_flush(struct lz_bio *lb)
{
	struct lz_target *lt = lb->lt;

	lb->waiter.fn = lz_bio_flushed;
	if (lz_planted(LZ_PLANT_SHELL_FLUSH_AT_ONCE)) {
		lz_bio_flushed(&lb->waiter, 0);
		return;
	}
	/* The bio can have ended, and with it the target, before lz_flush() returns. */
	percpu_ref_get(&lt->users);
	lz_flush(lt->lz, &lb->waiter);
	percpu_ref_put(&lt->users);
}

/* All parts have ended. */
static void lz_bio_done(struct lz_bio *lb)
{
	struct bio *bio = lz_upper(lb);

	if (unlikely(bio->bi_opf & REQ_FUA) && !lb->status &&
	    !lz_planted(LZ_PLANT_SHELL_FUA_IGNORED)) {
		lz_bio_flush(lb);
		return;
	}
	/* The suspend that was to have it requeued was given up: dm would fail it. */
	if (unlikely(lb->status == BLK_STS_DM_REQUEUE) && !dm_noflush_suspending(lb->lt->ti)) {
		lz_part_wait(lb->lt, lz_bio_begin(lb, bio));
		return;
	}
	bio->bi_status = lb->status;
	bio_endio(bio);
}

static inline void lz_bio_put(struct lz_bio *lb, blk_status_t status)
{
	if (unlikely(status))
		lb->status = status;
	if (atomic_dec_and_test(&lb->parts))
		lz_bio_done(lb);
}

static inline void lz_part_done(struct lz_part *part, blk_status_t status)
{
	struct lz_bio *lb = part->lb;

	if (likely(part == &lb->first))
		bio_uninit(&part->bio);
	else
		bio_put(&part->bio);
	lz_bio_put(lb, status);
}

/* --- writing ------------------------------------------------------------------ */

/* The drive was too busy for a piece that may not wait; it has its reservation or run. */
static void lz_part_busy(struct lz_target *lt, struct lz_part *part)
{
	/*
	 * Not by the worker, which may be waiting for the memory that this part has, nor in
	 * the machine's queue: what a control group has used up may have it wait for long.
	 */
	lz_bio_leave(lt, &lt->busy, &part->bio, lt->busy_wq, &lt->busy_work);
}

/* Core learns how it ended. */
static inline blk_status_t lz_write_settle(struct lz_target *lt, struct lz_part *part)
{
	blk_status_t status = part->bio.bi_status;
	u64 addr;

	if (unlikely(status)) {
		if (!lz_planted(LZ_PLANT_SHELL_RESERVATION_KEPT))
			lz_write_fail(lt->lz, &part->w, blk_status_to_errno(status));
		return status;
	}
	/* A place where it may have landed, or core would notice. */
	if (lz_planted(LZ_PLANT_SHELL_LANDING_IGNORED) &&
	    part->bio.bi_iter.bi_sector != lz_zone_sector(lt, part->w.zone))
		part->bio.bi_iter.bi_sector = lz_zone_sector(lt, part->w.zone) +
			(sector_t)max(part->w.from, 1u) * LZ_BLOCK_SECTORS;
	if (unlikely(!lz_landed_addr(lt, part->bio.bi_iter.bi_sector, &addr))) {
		lz_write_fail(lt->lz, &part->w, -EIO);
		return BLK_STS_IOERR;
	}
	return lz_write_end(lt->lz, &part->w, addr, part->lba) ? BLK_STS_IOERR : BLK_STS_OK;
}

static void lz_write_endio(struct bio *piece)
{
	struct lz_part *part = container_of(piece, struct lz_part, bio);
	struct lz_bio *lb = part->lb;
	struct lz_target *lt = lb->lt;
	unsigned int bytes = lz_bytes(part->w.nblocks);
	blk_status_t status = piece->bi_status;

	if (unlikely(status == BLK_STS_AGAIN) && piece->bi_opf & REQ_NOWAIT) {
		lz_part_busy(lt, part);
		return;
	}
	status = lz_write_settle(lt, part);
	if (likely(!status)) {
		if (likely(part->rest.bi_size == bytes)) {
			lz_part_done(part, BLK_STS_OK);
			return;
		}
		bio_advance_iter(lz_upper(lb), &part->rest, bytes);
		part->lba += part->w.nblocks;
		part->tries = 0;
	} else if (++part->tries >= LZ_MAX_TRIES || lz_planted(LZ_PLANT_SHELL_NO_RETRY)) {
		DMERR_LIMIT("%s: write of block %llu given up: it failed in %u zones",
			    lz_target_name(lt), (unsigned long long)part->lba, part->tries);
		lz_part_done(part, status);
		return;
	}
	lz_part_wait(lt, part);
}

/* Core learns that it has ended, and how. */
static inline void lz_read_settle(struct lz_target *lt, const struct lz_read *r,
				  blk_status_t status)
{
	if (likely(!status))
		lz_read_end(lt->lz, r);
	else
		lz_read_cancel(lt->lz, r);
}

static void lz_read_endio(struct bio *piece)
{
	struct lz_part *part = container_of(piece, struct lz_part, bio);
	struct lz_bio *lb = part->lb;
	blk_status_t status = piece->bi_status;

	if (unlikely(status == BLK_STS_AGAIN) && piece->bi_opf & REQ_NOWAIT) {
		lz_part_busy(lb->lt, part);
		return;
	}
	lz_read_settle(lb->lt, &part->r, status);
	bio_put(piece);
	lz_bio_put(lb, status);
}

/* Make @part's bio a clone of what is left of its range. */
static inline void lz_part_make(struct lz_target *lt, struct lz_part *part,
				const struct bio *bio)
{
	struct bio *piece = &part->bio;

	/* Which cgroup it is for is set as dm submits it for us. */
	piece->bi_bdev = lt->bdev;
	piece->bi_ioprio = bio->bi_ioprio;
	piece->bi_iter = part->rest;
	if (bio_op(bio) == REQ_OP_READ) {
		piece->bi_opf = REQ_OP_READ | (bio->bi_opf & LZ_OPF_PASSED_READ);
		piece->bi_iter.bi_sector = lz_addr_sector(lt, part->r.addr);
		piece->bi_end_io = lz_read_endio;
	} else {
		piece->bi_opf = REQ_OP_ZONE_APPEND | (bio->bi_opf & LZ_OPF_PASSED);
		piece->bi_write_hint = bio->bi_write_hint;
		piece->bi_end_io = lz_write_endio;
	}
	bio_set_flag(piece, BIO_CLONED);
}

/*
 * As bio_split_rw_at(), where the first block is in pieces: a split within it is
 * rounded down to the drive's blocks, and 0, before 6.18, says that all fits.
 */
static noinline int lz_split_fine(struct lz_target *lt, struct lz_part *part)
{
	struct queue_limits limits = bdev_get_queue(lt->bdev)->limits;
	unsigned int segs;

	limits.logical_block_size = SECTOR_SIZE;
	limits.zone_write_granularity = SECTOR_SIZE;
	return bio_split_rw_at(&part->bio, &limits, &segs, lt->max_append);
}

/*
 * How much of @part's range one append may be: the block layer does not split
 * appends, so its limits of length and segments are ours to respect. 0: memory
 * that the drive cannot be given, not even a block of it.
 */
static unsigned int lz_part_fit(struct lz_target *lt, struct lz_part *part)
{
	unsigned int bytes = part->rest.bi_size;
	unsigned int segs;
	int split;

	/* The common case: one block, which is one page. */
	if (likely(bytes == PAGE_SIZE && bytes == LZ_BLOCK_SIZE &&
		   bio_iter_len(&part->bio, part->rest) == bytes))
		return bytes;
	if (unlikely(mp_bvec_iter_len(part->bio.bi_io_vec, part->rest) < LZ_BLOCK_SIZE))
		split = lz_split_fine(lt, part);
	else
		split = bio_split_rw_at(&part->bio, &bdev_get_queue(lt->bdev)->limits, &segs,
					lt->max_append);
	if (split < 0)
		return 0;
	if (split)
		bytes = round_down((unsigned int)split << SECTOR_SHIFT, LZ_BLOCK_SIZE);
	return bytes;
}

/* Another part for what of @part's range comes after its piece; NULL: no memory. */
static struct lz_part *lz_part_next(struct lz_target *lt, struct lz_part *part,
				    struct bio *bio, unsigned int bytes)
{
	struct lz_part *next;
	struct bio *piece;

	piece = bio_alloc_bioset(NULL, 0, 0, GFP_NOWAIT | __GFP_NOWARN, &lt->write_parts);
	if (unlikely(!piece))
		return NULL;
	piece->bi_io_vec = bio->bi_io_vec;
	next = container_of(piece, struct lz_part, bio);
	next->lb = part->lb;
	next->lba = part->lba;
	if (!lz_planted(LZ_PLANT_SHELL_PIECE_NOT_ADVANCED))
		next->lba += part->w.nblocks;
	next->rest = part->rest;
	next->tries = 0;
	bio_advance_iter(bio, &next->rest, bytes);
	part->rest.bi_size = bytes;
	atomic_inc(&part->lb->parts);
	return next;
}

/* Sends @part's piece, for which it has a reservation. */
static inline void lz_piece_send(struct lz_target *lt, struct lz_part *part, struct bio *bio,
				 blk_opf_t nowait)
{
	part->bio.bi_opf |= nowait;
	part->bio.bi_iter.bi_size = lz_bytes(part->w.nblocks);
	part->bio.bi_iter.bi_sector = lz_zone_sector(lt, part->w.zone);
	dm_submit_bio_remap(bio, &part->bio);
}

/*
 * Sends *@pp and, where @spread, as the submitter, parts for the rest of its
 * range. On error *@pp is the part that was not sent; it still has its whole range.
 */
static int lz_write_send(struct lz_target *lt, struct lz_part **pp, struct bio *bio,
			 bool spread)
{
	blk_opf_t nowait = spread ? bio->bi_opf & REQ_NOWAIT : 0;
	u8 class = lz_bio_class(bio);
	struct lz_part *part = *pp;

	for (;;) {
		struct lz_part *next = NULL;
		unsigned int bytes;
		int r;

		lz_part_make(lt, part, bio);
		bytes = lz_part_fit(lt, part);
		if (unlikely(!bytes))
			return -EINVAL;
		r = lz_write_begin(lt->lz, class, part->lba, bytes >> LZ_BLOCK_SHIFT, &part->w);
		if (unlikely(r))
			return r;
		bytes = lz_bytes(part->w.nblocks);
		if (unlikely(bytes < part->rest.bi_size) && spread)
			next = lz_part_next(lt, part, bio, bytes);
		/* Once the last part is sent all of it may be gone. */
		lz_piece_send(lt, part, bio, nowait);
		if (likely(!next))
			return 0;
		*pp = part = next;
	}
}

static int lz_discard_send(struct lz_target *lt, struct lz_part *part)
{
	return lz_discard(lt->lz, part->lba, part->rest.bi_size >> LZ_BLOCK_SHIFT);
}

static int lz_map_write(struct lz_target *lt, struct lz_bio *lb, struct bio *bio)
{
	struct lz_part *part = lz_bio_begin(lb, bio);
	bool data = bio_op(bio) == REQ_OP_WRITE;
	int r = -EAGAIN;

	if (likely(!READ_ONCE(lz_waiting(lt, bio)->head))) {
		if (likely(data)) {
			r = lz_write_send(lt, &part, bio, true);
			if (likely(!r))
				return DM_MAPIO_SUBMITTED;
		} else {
			r = lz_discard_send(lt, part);
		}
	}
	if (r != -EAGAIN)
		lz_part_done(part, errno_to_blk_status(r));
	else if (bio->bi_opf & REQ_NOWAIT && part == &lb->first)
		lz_part_done(part, BLK_STS_AGAIN);
	else
		lz_part_wait(lt, part);
	return DM_MAPIO_SUBMITTED;
}

/* --- reading ------------------------------------------------------------------ */

static void lz_read_later(struct lz_target *lt, struct lz_bio *lb)
{
	lz_bio_leave(lt, &lt->ready, lz_upper(lb), lt->io_wq, &lt->io_work);
}

/* A map leaf has come. In the machine's context: leave the rest to the worker. */
static void lz_leaf_came(struct lz_waiter *w, int err)
{
	struct lz_bio *lb = container_of(w, struct lz_bio, waiter);

	if (err)
		lz_bio_put(lb, errno_to_blk_status(err));
	else
		lz_read_later(lb->lt, lb);
}

static void lz_leaf_want(struct lz_bio *lb, u64 leaf)
{
	lb->waiter.fn = lz_leaf_came;
	lz_leaf_wait(lb->lt->lz, leaf, &lb->waiter);
}

/* Sends one run, or zeroes it. False: no memory, nothing done. */
static bool lz_read_run(struct lz_target *lt, struct lz_bio *lb, struct bio *bio,
			const struct lz_read *rd, gfp_t gfp)
{
	unsigned int bytes = lz_bytes(rd->nblocks);
	struct lz_part *part;
	struct bio *piece;

	if (rd->addr == LZ_NOWHERE) {
		unsigned int left = bio->bi_iter.bi_size;

		bio->bi_iter.bi_size = bytes;
		if (!lz_planted(LZ_PLANT_SHELL_HOLE_NOT_ZEROED))
			zero_fill_bio(bio);
		bio->bi_iter.bi_size = left;
		bio_advance(bio, bytes);
		return true;
	}
	piece = bio_alloc_bioset(NULL, 0, 0, gfp, &lt->read_parts);
	if (unlikely(!piece))
		return false;
	piece->bi_io_vec = bio->bi_io_vec;
	part = container_of(piece, struct lz_part, bio);
	part->lb = lb;
	part->r = *rd;
	part->rest = bio->bi_iter;
	part->rest.bi_size = bytes;
	lz_part_make(lt, part, bio);
	if (!gfpflags_allow_blocking(gfp))
		piece->bi_opf |= bio->bi_opf & REQ_NOWAIT;
	atomic_inc(&lb->parts);
	bio_advance(bio, bytes);
	dm_submit_bio_remap(bio, piece);
	return true;
}

/*
 * Sends all runs that are left of @bio, of which core has given the first as
 * @lb->read if @begun; waits for map leaves, and where @gfp does not allow to
 * wait for memory leaves the rest to the worker.
 */
static void lz_read_send(struct lz_target *lt, struct lz_bio *lb, struct bio *bio, bool begun,
			 gfp_t gfp)
{
	int r = 0;

	for (;;) {
		if (!begun)
			r = lz_read_begin(lt->lz, lz_bio_lba(bio),
					  bio->bi_iter.bi_size >> LZ_BLOCK_SHIFT, &lb->read);
		if (r)
			break;
		begun = false;
		if (unlikely(!lz_read_run(lt, lb, bio, &lb->read, gfp))) {
			lz_read_cancel(lt->lz, &lb->read);
			lz_read_later(lt, lb);
			return;
		}
		if (!bio->bi_iter.bi_size)
			break;
	}
	if (r == -EAGAIN)
		lz_leaf_want(lb, lb->read.leaf);
	else
		lz_bio_put(lb, errno_to_blk_status(r));
}

static int lz_map_read(struct lz_target *lt, struct lz_bio *lb, struct bio *bio)
{
	u32 want = bio->bi_iter.bi_size >> LZ_BLOCK_SHIFT;
	int r;

	r = lz_read_begin(lt->lz, lz_bio_lba(bio), want, &lb->read);
	if (likely(!r && lb->read.nblocks == want)) {
		if (lb->read.addr == LZ_NOWHERE) {
			zero_fill_bio(bio);
			bio_endio(bio);
			return DM_MAPIO_SUBMITTED;
		}
		lb->run = !lz_planted(LZ_PLANT_SHELL_READ_NOT_HELD);
		if (!lb->run)
			lz_read_end(lt->lz, &lb->read);
		bio_set_dev(bio, lt->bdev);
		bio->bi_iter.bi_sector = lz_addr_sector(lt, lb->read.addr);
		return DM_MAPIO_REMAPPED;
	}

	lb->status = BLK_STS_OK;
	atomic_set(&lb->parts, 1);
	if (!r)
		lz_read_send(lt, lb, bio, true, GFP_NOWAIT | __GFP_NOWARN);
	else if (r != -EAGAIN)
		lz_bio_put(lb, errno_to_blk_status(r));
	else if (bio->bi_opf & REQ_NOWAIT)
		lz_bio_put(lb, BLK_STS_AGAIN);
	else
		lz_leaf_want(lb, lb->read.leaf);
	return DM_MAPIO_SUBMITTED;
}

/* --- dm ------------------------------------------------------------------------ */

/**
 * lz_io_map - .map
 * @ti: dm target
 * @bio: dm's clone
 *
 * Return: DM_MAPIO_*.
 */
int lz_io_map(struct dm_target *ti, struct bio *bio)
{
	struct lz_target *lt = ti->private;
	struct lz_bio *lb = dm_per_bio_data(bio, sizeof(*lb));

	/* dm blocks bios while suspended; this is for a dying device only. */
	if (unlikely(!percpu_ref_tryget_live(&lt->users)))
		return DM_MAPIO_KILL;
	lb->lt = lt;
	lb->run = false;
	if (unlikely((bio->bi_iter.bi_sector | bio_sectors(bio)) & (LZ_BLOCK_SECTORS - 1)))
		goto kill;

	switch (bio_op(bio)) {
	case REQ_OP_READ:
		return lz_map_read(lt, lb, bio);
	case REQ_OP_WRITE:
		/* dm sends flushes as empty writes, never with data. */
		if (unlikely(!bio_sectors(bio))) {
			lz_bio_flush(lb);
			return DM_MAPIO_SUBMITTED;
		}
		return lz_map_write(lt, lb, bio);
	case REQ_OP_DISCARD:
	case REQ_OP_WRITE_ZEROES:
		/* Unmapped blocks read as zeros, so that a discard does for both. */
		return lz_map_write(lt, lb, bio);
	default:
		break;
	}
kill:
	percpu_ref_put(&lt->users);
	return DM_MAPIO_KILL;
}

/**
 * lz_io_end - .end_io
 * @ti: dm target
 * @bio: dm's clone, ended by the drive or by us
 * @error: how
 *
 * Return: DM_ENDIO_DONE.
 */
int lz_io_end(struct dm_target *ti, struct bio *bio, blk_status_t *error)
{
	struct lz_target *lt = ti->private;
	struct lz_bio *lb = dm_per_bio_data(bio, sizeof(*lb));

	if (lb->run)
		lz_read_settle(lt, &lb->read, *error);
	percpu_ref_put(&lt->users);
	return DM_ENDIO_DONE;
}

static struct bio *lz_io_pop(struct lz_target *lt, struct bio_list *list)
{
	struct bio *bio;

	spin_lock_irq(&lt->wait_lock);
	bio = bio_list_pop(list);
	spin_unlock_irq(&lt->wait_lock);
	return bio;
}

static void lz_busy_work(struct work_struct *work)
{
	struct lz_target *lt = container_of(work, struct lz_target, busy_work);
	struct bio *bio;

	while ((bio = lz_io_pop(lt, &lt->busy))) {
		struct lz_part *part = container_of(bio, struct lz_part, bio);
		struct bio *upper = lz_upper(part->lb);

		bio_reset(bio, NULL, 0);
		lz_part_make(lt, part, upper);
		if (bio_op(upper) == REQ_OP_READ)
			dm_submit_bio_remap(upper, bio);
		else
			lz_piece_send(lt, part, upper, 0);
	}
}

/* Reads whose leaf is there: those there are now, as others may come on and on. */
static void lz_io_read(struct lz_target *lt)
{
	struct bio_list list;
	struct bio *bio;

	spin_lock_irq(&lt->wait_lock);
	list = lt->ready;
	bio_list_init(&lt->ready);
	spin_unlock_irq(&lt->wait_lock);
	while ((bio = bio_list_pop(&list)))
		lz_read_send(lt, dm_per_bio_data(bio, sizeof(struct lz_bio)), bio, false,
			     GFP_NOIO);
}

/* The part in @list that has waited longest. False: there is none, or it has to wait on. */
static bool lz_io_write(struct lz_target *lt, struct bio_list *list)
{
	struct bio *bio = lz_io_pop(lt, list), *upper;
	struct lz_part *part;
	int r;

	if (!bio)
		return false;
	part = container_of(bio, struct lz_part, bio);
	upper = lz_upper(part->lb);
	if (dm_noflush_suspending(lt->ti)) {
		/* dm keeps the whole bio; writing some of it twice is no harm. */
		lz_part_done(part, BLK_STS_DM_REQUEUE);
		return true;
	}
	if (bio_op(upper) == REQ_OP_WRITE) {
		/* It may have been sent before. */
		bio_reset(bio, NULL, 0);
		r = lz_write_send(lt, &part, upper, false);
		if (!r)
			return true;
	} else {
		r = lz_discard_send(lt, part);
	}
	if (r == -EAGAIN) {
		spin_lock_irq(&lt->wait_lock);
		bio_list_add_head(list, bio);
		spin_unlock_irq(&lt->wait_lock);
		return false;
	}
	lz_part_done(part, errno_to_blk_status(r));
	return true;
}

#define LZ_WRITES_A_ROUND	16

/* True: there may be more that need not wait. */
static bool lz_io_writes(struct lz_target *lt, struct bio_list *list)
{
	int left = LZ_WRITES_A_ROUND;

	while (left && lz_io_write(lt, list))
		left--;
	return !left;
}

static void lz_io_work(struct work_struct *work)
{
	struct lz_target *lt = container_of(work, struct lz_target, io_work);

	/* Reads first, as what waits may never come to an end. */
	do {
		cond_resched();
		lz_io_read(lt);
	} while (lz_io_writes(lt, &lt->waiting) | lz_io_writes(lt, &lt->discards));
}

/**
 * lz_io_retry - give bios that wait another try
 * @lt: target
 *
 * From any context.
 */
void lz_io_retry(struct lz_target *lt)
{
	/* Even with the list empty: the worker may be about to put one back. */
	queue_work(lt->io_wq, &lt->io_work);
}

unsigned int lz_io_data_size(void)
{
	return sizeof(struct lz_bio);
}

/**
 * lz_io_init - prepare for user bios
 * @lt: target
 *
 * Return: 0 or -ENOMEM.
 */
int lz_io_init(struct lz_target *lt)
{
	spin_lock_init(&lt->wait_lock);
	bio_list_init(&lt->waiting);
	bio_list_init(&lt->discards);
	bio_list_init(&lt->ready);
	bio_list_init(&lt->busy);
	INIT_WORK(&lt->io_work, lz_io_work);
	INIT_WORK(&lt->busy_work, lz_busy_work);
	if (bioset_init(&lt->write_parts, LZ_PART_BIOS, offsetof(struct lz_part, bio), 0))
		return -ENOMEM;
	if (bioset_init(&lt->read_parts, LZ_PART_BIOS, offsetof(struct lz_part, bio), 0))
		goto no_read_parts;
	lt->io_wq = alloc_workqueue("lifezone_io/%s", WQ_MEM_RECLAIM | WQ_HIGHPRI | WQ_UNBOUND, 1,
				    lz_target_name(lt));
	if (!lt->io_wq)
		goto no_wq;
	lt->busy_wq = alloc_workqueue("lifezone_busy/%s", WQ_MEM_RECLAIM | WQ_UNBOUND, 1,
				      lz_target_name(lt));
	if (!lt->busy_wq)
		goto no_busy_wq;
	return 0;

no_busy_wq:
	destroy_workqueue(lt->io_wq);
no_wq:
	bioset_exit(&lt->read_parts);
no_read_parts:
	bioset_exit(&lt->write_parts);
	return -ENOMEM;
}

/**
 * lz_io_exit - undo lz_io_init()
 * @lt: target, without user bios
 */
void lz_io_exit(struct lz_target *lt)
{
	destroy_workqueue(lt->busy_wq);
	destroy_workqueue(lt->io_wq);
	bioset_exit(&lt->read_parts);
	bioset_exit(&lt->write_parts);
}
