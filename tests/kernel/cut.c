// SPDX-License-Identifier: GPL-2.0-only
/*
 * lz-cut: a zoned drive whose power can be cut, made of one whose cannot.
 *
 *	0 SECTORS lz-cut DEV SEED HELD EVERY LATENCY
 *
 * Holds what is written, and with it the write pointers, in memory; what is
 * above sees the zones as if all of it were on the drive. It goes down as far as
 * a flush or a FUA write asks for, and a random piece of a random zone about
 * every EVERY writes, or when more than HELD blocks (4 KiB) are held. What is
 * legal is what tests/crash/drive.c allows:
 *
 * - A flush covers what had completed when it was submitted, a FUA write itself
 *   and its zone before it. Nothing else is passed down for them.
 * - Commands take effect in random order, but for writes at a write pointer, which
 *   go in the order of their places.
 * - Resets and finishes hold once they are executed; what a finished zone holds
 *   does not for that.
 *
 * "dmsetup message NAME 0 cut [SEED]" is the cut. Of the commands in flight each
 * takes effect, or a part of it does, or it does not; then of each zone some
 * length between what is below and what was written goes down, in one of several
 * manners, and the rest is forgotten. From the first moment on all I/O fails, until
 * the device is created anew; then the drive below is what the cut left. The
 * message answers what there was to lose, and what was lost.
 *
 * All of the model belongs to one worker: .map only queues, and sends reads below
 * where nothing is held. It carries out one command at a time, after up to LATENCY
 * microseconds, in which others may come.
 *
 * What this does not do: conventional zones are passed through as they are.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/delay.h>
#include <linux/device-mapper.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "../../dm-lifezone/compat.h"

#define DM_MSG_PREFIX	"lz-cut"

#define BLOCK_SIZE_4K	4096u
#define BLOCK_SECTORS	(BLOCK_SIZE_4K >> SECTOR_SHIFT)
/* A write that nothing comes before for so long is not where it should be. */
#define GAP_JIFFIES	(10 * HZ)

/**
 * struct cut_zone - a zone
 * @cap: capacity (sectors)
 * @data: its beginning that holds something, as seen from above (sectors)
 * @sent: of that, what is on its way down (sectors)
 * @down: of that, what is below (sectors)
 * @gen: resets so far
 * @type: enum blk_zone_type
 * @cond: enum blk_zone_cond, as seen from above
 * @finished: above; below it is to be finished once @data has gone down
 */
struct cut_zone {
	u32 cap;
	u32 data;
	u32 sent;
	u32 down;
	u32 gen;
	u8 type;
	u8 cond;
	bool finished;
};

/**
 * struct cut_mark - what of a zone a flush covers
 * @gen: of the zone
 * @data: and its data
 */
struct cut_mark {
	u32 gen;
	u32 data;
};

/**
 * struct cut - one instance
 * @ti: dm's side of us
 * @dev: reference to the drive
 * @bdev: the drive
 * @zone_shift: log2 of the zone size (sectors)
 * @nr_zones: zones
 * @max_active: of these, begun and not full at most, 0: any number
 * @seed: table argument
 * @max_held: likewise (blocks)
 * @every: likewise
 * @latency: likewise (us)
 * @lock: guards what follows it, and a zone's @gen and @data together
 * @pending: commands that have not taken effect
 * @nr_pending: how many
 * @dead: power is off
 * @model: held over everything below
 * @live: @zones are what counts, not what the drive says
 * @zones: by number
 * @blocks: held, by their place on the drive (blocks)
 * @held: how many
 * @active: zones begun and not full, as seen from above
 * @below: likewise, on the drive
 * @rnd: what is random
 * @refused: commands that no drive would take
 * @broken: the drive failed
 * @wq: runs @work
 * @work: takes one command after the other
 * @bios: writes to the drive
 * @sending: how many are under way
 * @wait: for these
 */
struct cut {
	struct dm_target *ti;
	struct dm_dev *dev;
	struct block_device *bdev;
	unsigned int zone_shift;
	u32 nr_zones;
	u32 max_active;
	u64 seed;
	u32 max_held;
	u32 every;
	u32 latency;

	spinlock_t lock;		/* pending, nr_pending, dead */
	struct list_head pending;
	u32 nr_pending;
	bool dead;

	struct mutex model;		/* the rest but what has to do with waiting */
	bool live;
	struct cut_zone *zones;
	struct xarray blocks;
	u32 held;
	u32 active;
	u32 below;
	struct rnd_state rnd;
	u32 refused;
	bool broken;

	struct workqueue_struct *wq;
	struct delayed_work work;
	struct bio_set bios;
	atomic_t sending;
	wait_queue_head_t wait;
};

/**
 * struct cut_bio - a command
 * @list: on cut.pending
 * @since: when it came (jiffies)
 * @marks: flush: what it covers, by zone
 */
struct cut_bio {
	struct list_head list;
	unsigned long since;
	struct cut_mark *marks;
};

static struct bio *cut_bio(struct cut_bio *cb)
{
	return dm_bio_from_per_bio_data(cb, sizeof(*cb));
}

static u32 cut_nr(const struct cut *c, sector_t sector)
{
	return sector >> c->zone_shift;
}

static sector_t cut_start(const struct cut *c, u32 nr)
{
	return (sector_t)nr << c->zone_shift;
}

static u32 cut_below(struct cut *c, u32 n)
{
	return n ? prandom_u32_state(&c->rnd) % n : 0;
}

static bool cut_is_flush(const struct bio *bio)
{
	return bio->bi_opf & REQ_PREFLUSH && !bio_sectors(bio);
}

static bool cut_is_active(u8 cond)
{
	return cond == BLK_ZONE_COND_IMP_OPEN || cond == BLK_ZONE_COND_EXP_OPEN ||
	       cond == BLK_ZONE_COND_CLOSED;
}

static void cut_set_cond(struct cut *c, struct cut_zone *z, u8 cond)
{
	c->active += cut_is_active(cond) - cut_is_active(z->cond);
	z->cond = cond;
}

/* Not to be had from any drive: a bug above. */
static blk_status_t cut_refuse(struct cut *c, const struct bio *bio, u32 nr, const char *why)
{
	const struct cut_zone *z = &c->zones[nr];

	c->refused++;
	DMERR_LIMIT("zone %u: op %u of %u sectors at %llu: %s (condition %u, write pointer %u)",
		    nr, bio_op(bio), bio_sectors(bio),
		    (u64)bio->bi_iter.bi_sector - cut_start(c, nr), why, z->cond, z->data);
	return BLK_STS_IOERR;
}

static void cut_broken(struct cut *c, int err)
{
	if (!err || c->broken)
		return;
	c->broken = true;
	DMERR("%pg, the drive below, fails: %pe", c->bdev, ERR_PTR(err));
}

/* --- held blocks ---------------------------------------------------------------- */

static void *cut_held(struct cut *c, u32 nr, u32 off)
{
	return xa_load(&c->blocks, (cut_start(c, nr) + off) / BLOCK_SECTORS);
}

static void cut_forget(struct cut *c, u32 nr, u32 from, u32 to)
{
	u32 off;

	for (off = from; off < to; off += BLOCK_SECTORS) {
		void *p = xa_erase(&c->blocks, (cut_start(c, nr) + off) / BLOCK_SECTORS);

		c->held -= !!p;
		free_page((unsigned long)p);
	}
}

/* A block of a bio, from @iter on, which moves on. */
static bool cut_hold(struct cut *c, u32 nr, u32 off, struct bio *bio, struct bvec_iter *iter)
{
	u8 *p = (u8 *)__get_free_page(GFP_NOIO);
	u32 at = 0;
	void *old;

	if (!p)
		return false;
	while (at < BLOCK_SIZE_4K) {
		struct bio_vec bv = bio_iter_iovec(bio, *iter);

		bv.bv_len = min(bv.bv_len, BLOCK_SIZE_4K - at);
		memcpy_from_bvec(p + at, &bv);
		bio_advance_iter_single(bio, iter, bv.bv_len);
		at += bv.bv_len;
	}
	old = xa_store(&c->blocks, (cut_start(c, nr) + off) / BLOCK_SECTORS, p, GFP_NOIO);
	if (xa_is_err(old)) {
		free_page((unsigned long)p);
		return false;
	}
	c->held += !old;
	free_page((unsigned long)old);
	return true;
}

/* --- passing down ---------------------------------------------------------------- */

static void cut_sent(struct bio *bio)
{
	struct cut *c = bio->bi_private;

	if (bio->bi_status)
		cut_broken(c, blk_status_to_errno(bio->bi_status));
	bio_put(bio);
	if (atomic_dec_and_test(&c->sending))
		wake_up(&c->wait);
}

/* What was sent is below. */
static void cut_settle(struct cut *c)
{
	struct cut_zone *z;
	u32 nr;

	wait_event(c->wait, !atomic_read(&c->sending));
	for (nr = 0; nr < c->nr_zones; nr++) {
		z = &c->zones[nr];
		if (z->sent == z->down)
			continue;
		cut_forget(c, nr, z->down, z->sent);
		/* From now on reads of it are sent below. */
		smp_store_release(&z->down, z->sent);
		if (z->down == z->cap)
			c->below--;
	}
}

static void cut_send(struct cut *c, u32 nr, u32 to);
static void cut_finish_below(struct cut *c, u32 nr);

/*
 * A zone is to be begun below, where those that are full above may still be
 * open: if there are too many one of them goes first.
 */
static void cut_begin_below(struct cut *c)
{
	struct cut_zone *z;
	u32 nr;

	if (c->max_active && c->below >= c->max_active)
		cut_settle(c);
	for (nr = 0; nr < c->nr_zones && c->max_active && c->below >= c->max_active; nr++) {
		z = &c->zones[nr];
		if (z->cond != BLK_ZONE_COND_FULL || !z->down || z->down == z->cap)
			continue;
		cut_send(c, nr, z->data);
		cut_settle(c);
		if (z->finished)
			cut_finish_below(c, nr);
	}
	c->below++;
}

/* Sends a zone's data, up to @to; it is below after cut_settle(). */
static void cut_send(struct cut *c, u32 nr, u32 to)
{
	struct cut_zone *z = &c->zones[nr];
	struct bio *bio = NULL;
	u32 off, n;

	if (to <= z->sent)
		return;
	if (!z->sent)
		cut_begin_below(c);
	for (off = z->sent; off < to; off += n) {
		struct page *page = virt_to_page(cut_held(c, nr, off));

		n = min(to - off, BLOCK_SECTORS);
		if (bio && bio_add_page(bio, page, n << SECTOR_SHIFT, 0))
			continue;
		if (bio)
			submit_bio_noacct(bio);
		bio = bio_alloc_bioset(c->bdev, BIO_MAX_VECS, REQ_OP_WRITE | REQ_SYNC, GFP_NOIO,
				       &c->bios);
		bio->bi_iter.bi_sector = cut_start(c, nr) + off;
		bio->bi_end_io = cut_sent;
		bio->bi_private = c;
		__bio_add_page(bio, page, n << SECTOR_SHIFT, 0);
		atomic_inc(&c->sending);
	}
	submit_bio_noacct(bio);
	z->sent = to;
}

/* Nothing of it is on its way; what is held is lost. */
static void cut_finish_below(struct cut *c, u32 nr)
{
	struct cut_zone *z = &c->zones[nr];

	if (!z->down)
		cut_begin_below(c);
	cut_broken(c, blkdev_zone_mgmt(c->bdev, REQ_OP_ZONE_FINISH, cut_start(c, nr),
				       1u << c->zone_shift));
	cut_forget(c, nr, z->down, z->data);
	c->below--;
	cut_set_cond(c, z, BLK_ZONE_COND_FULL);
	z->finished = false;
	z->data = z->cap;
	z->sent = z->cap;
	z->down = z->cap;
}

/* Settles, finishes what is to be, and flushes. */
static void cut_flush_below(struct cut *c)
{
	u32 nr;

	cut_settle(c);
	for (nr = 0; nr < c->nr_zones; nr++)
		if (c->zones[nr].finished && c->zones[nr].down == c->zones[nr].data)
			cut_finish_below(c, nr);
	if (bdev_write_cache(c->bdev))
		cut_broken(c, blkdev_issue_flush(c->bdev));
}

static void cut_evict(struct cut *c)
{
	u32 first = cut_below(c, c->nr_zones);
	u32 i;

	for (i = 0; i < c->nr_zones; i++) {
		u32 nr = (first + i) % c->nr_zones;
		struct cut_zone *z = &c->zones[nr];
		u32 blocks = (z->data - z->down) / BLOCK_SECTORS;

		if (!blocks)
			continue;
		cut_send(c, nr, z->down + (1 + cut_below(c, blocks)) * BLOCK_SECTORS);
		cut_settle(c);
		return;
	}
}

/* --- commands -------------------------------------------------------------------- */

/* The first @n sectors of it. */
static blk_status_t cut_write(struct cut *c, struct bio *bio, u32 n)
{
	u32 nr = cut_nr(c, bio->bi_iter.bi_sector);
	u32 at = bio->bi_iter.bi_sector - cut_start(c, nr);
	struct cut_zone *z = &c->zones[nr];
	struct bvec_iter iter = bio->bi_iter;
	u32 off;

	if (bio_op(bio) == REQ_OP_ZONE_APPEND ? at : at != z->data)
		return cut_refuse(c, bio, nr, "not at the write pointer");
	if (z->cond >= BLK_ZONE_COND_READONLY || z->data + n > z->cap)
		return cut_refuse(c, bio, nr, "no room");
	if (z->data % BLOCK_SECTORS)
		return cut_refuse(c, bio, nr, "behind a torn block");
	if (!cut_is_active(z->cond) && c->max_active && c->active >= c->max_active)
		return cut_refuse(c, bio, nr, "too many zones are active");
	for (off = z->data; off < z->data + n; off += BLOCK_SECTORS)
		if (!cut_hold(c, nr, off, bio, &iter))
			return BLK_STS_RESOURCE;
	if (z->cond == BLK_ZONE_COND_EMPTY || z->cond == BLK_ZONE_COND_CLOSED)
		cut_set_cond(c, z, BLK_ZONE_COND_IMP_OPEN);
	bio->bi_iter.bi_sector = cut_start(c, nr) + z->data;
	WRITE_ONCE(z->data, z->data + n);
	if (z->data == z->cap)
		cut_set_cond(c, z, BLK_ZONE_COND_FULL);
	return BLK_STS_OK;
}

static void cut_reset_zone(struct cut *c, u32 nr)
{
	struct cut_zone *z = &c->zones[nr];

	if (z->type == BLK_ZONE_TYPE_CONVENTIONAL || z->cond == BLK_ZONE_COND_READONLY ||
	    z->cond == BLK_ZONE_COND_OFFLINE)
		return;
	cut_forget(c, nr, z->down, z->data);
	if (z->down)
		cut_broken(c, blkdev_zone_mgmt(c->bdev, REQ_OP_ZONE_RESET, cut_start(c, nr),
					       1u << c->zone_shift));
	if (z->down && z->down < z->cap)
		c->below--;
	cut_set_cond(c, z, BLK_ZONE_COND_EMPTY);
	z->finished = false;
	z->sent = 0;
	spin_lock_irq(&c->lock);
	z->down = 0;
	z->data = 0;
	z->gen++;
	spin_unlock_irq(&c->lock);
}

static blk_status_t cut_manage(struct cut *c, struct bio *bio)
{
	u32 nr = cut_nr(c, bio->bi_iter.bi_sector);
	struct cut_zone *z = &c->zones[nr];

	if (bio_op(bio) == REQ_OP_ZONE_RESET_ALL) {
		for (nr = 0; nr < c->nr_zones; nr++)
			cut_reset_zone(c, nr);
		return BLK_STS_OK;
	}
	if (z->type == BLK_ZONE_TYPE_CONVENTIONAL || z->cond == BLK_ZONE_COND_READONLY ||
	    z->cond == BLK_ZONE_COND_OFFLINE)
		return cut_refuse(c, bio, nr, "zone does not take it");
	if (z->cond == BLK_ZONE_COND_EMPTY && bio_op(bio) != REQ_OP_ZONE_RESET &&
	    c->max_active && c->active >= c->max_active)
		return cut_refuse(c, bio, nr, "too many zones are active");
	switch (bio_op(bio)) {
	case REQ_OP_ZONE_RESET:
		cut_reset_zone(c, nr);
		return BLK_STS_OK;
	case REQ_OP_ZONE_FINISH:
		z->finished |= z->cond != BLK_ZONE_COND_FULL;
		cut_set_cond(c, z, BLK_ZONE_COND_FULL);
		return BLK_STS_OK;
	case REQ_OP_ZONE_OPEN:
		if (z->cond == BLK_ZONE_COND_FULL)
			return cut_refuse(c, bio, nr, "is full");
		cut_set_cond(c, z, BLK_ZONE_COND_EXP_OPEN);
		return BLK_STS_OK;
	default:
		if (!cut_is_active(z->cond))
			return cut_refuse(c, bio, nr, "is not open");
		cut_set_cond(c, z, z->data ? BLK_ZONE_COND_CLOSED : BLK_ZONE_COND_EMPTY);
		return BLK_STS_OK;
	}
}

static void cut_flush(struct cut *c, const struct cut_mark *marks)
{
	u32 nr;

	for (nr = 0; nr < c->nr_zones; nr++)
		if (c->zones[nr].gen == marks[nr].gen)
			cut_send(c, nr, marks[nr].data);
	cut_flush_below(c);
}

/* Some of it is held: what is not comes first, and then what is beyond both. */
static blk_status_t cut_read(struct cut *c, struct bio *bio)
{
	u32 nr = cut_nr(c, bio->bi_iter.bi_sector);
	u32 at = bio->bi_iter.bi_sector - cut_start(c, nr);
	struct cut_zone *z = &c->zones[nr];
	struct bvec_iter iter = bio->bi_iter;
	struct bio *part;
	int err = 0;

	if (at < z->down) {
		part = bio_alloc_clone(c->bdev, bio, GFP_NOIO, &c->bios);
		part->bi_iter.bi_size = min(bio_sectors(bio), z->down - at) << SECTOR_SHIFT;
		bio_advance_iter(bio, &iter, part->bi_iter.bi_size);
		at += bio_sectors(part);
		err = submit_bio_wait(part);
		bio_put(part);
	}
	while (iter.bi_size && !err) {
		struct bio_vec bv = bio_iter_iovec(bio, iter);
		u32 in = (at % BLOCK_SECTORS) << SECTOR_SHIFT;
		const u8 *p = cut_held(c, nr, at);

		bv.bv_len = min(bv.bv_len, BLOCK_SIZE_4K - in);
		if (p)
			memcpy_to_bvec(&bv, p + in);
		else
			memzero_bvec(&bv);
		bio_advance_iter_single(bio, &iter, bv.bv_len);
		at += bv.bv_len >> SECTOR_SHIFT;
	}
	return errno_to_blk_status(err);
}

static void cut_execute(struct cut *c, struct cut_bio *cb)
{
	struct bio *bio = cut_bio(cb);

	if (bio_op(bio) == REQ_OP_READ) {
		bio->bi_status = cut_read(c, bio);
	} else if (cut_is_flush(bio)) {
		cut_flush(c, cb->marks);
	} else if (op_is_zone_mgmt(bio_op(bio))) {
		bio->bi_status = cut_manage(c, bio);
	} else {
		bio->bi_status = cut_write(c, bio, bio_sectors(bio));
		if (!bio->bi_status && bio->bi_opf & REQ_FUA) {
			u32 nr = cut_nr(c, bio->bi_iter.bi_sector);

			cut_send(c, nr, c->zones[nr].data);
			cut_flush_below(c);
		}
		while (c->held > c->max_held && !c->broken)
			cut_evict(c);
		if (c->every && !cut_below(c, c->every))
			cut_evict(c);
	}
	if (c->broken)
		bio->bi_status = BLK_STS_IOERR;
}

/* --- one after the other --------------------------------------------------------- */

/* A write that others have to come before: dm may have turned their order. */
static bool cut_must_wait(struct cut *c, struct cut_bio *cb)
{
	struct bio *bio = cut_bio(cb);
	u32 nr = cut_nr(c, bio->bi_iter.bi_sector);

	return bio_op(bio) == REQ_OP_WRITE && !cut_is_flush(bio) &&
	       bio->bi_iter.bi_sector - cut_start(c, nr) > c->zones[nr].data &&
	       time_before(jiffies, cb->since + GAP_JIFFIES);
}

/* Any that may be next, or NULL. */
static struct cut_bio *cut_next(struct cut *c)
{
	struct cut_bio *cb, *found = NULL;
	u32 n = 0;

	spin_lock_irq(&c->lock);
	list_for_each_entry(cb, &c->pending, list)
		if (!cut_must_wait(c, cb) && !cut_below(c, ++n))
			found = cb;
	if (found) {
		list_del(&found->list);
		c->nr_pending--;
	} else if (c->nr_pending) {
		queue_delayed_work(c->wq, &c->work, HZ);
	}
	spin_unlock_irq(&c->lock);
	return found;
}

static void cut_end(struct cut_bio *cb)
{
	kvfree(cb->marks);
	bio_endio(cut_bio(cb));
}

static void cut_work(struct work_struct *work)
{
	struct cut *c = container_of(to_delayed_work(work), struct cut, work);
	unsigned int noio = memalloc_noio_save();
	struct cut_bio *cb;

	do {
		if (c->latency)
			fsleep(get_random_u32_below(c->latency));
		mutex_lock(&c->model);
		cb = cut_next(c);
		if (cb)
			cut_execute(c, cb);
		mutex_unlock(&c->model);
		if (cb)
			cut_end(cb);
	} while (cb);
	memalloc_noio_restore(noio);
}

static struct cut_mark *cut_marks(struct cut *c)
{
	struct cut_mark *marks = kvmalloc_array(c->nr_zones, sizeof(*marks), GFP_NOIO);
	u32 nr;

	spin_lock_irq(&c->lock);
	for (nr = 0; marks && nr < c->nr_zones; nr++) {
		marks[nr].gen = c->zones[nr].gen;
		marks[nr].data = READ_ONCE(c->zones[nr].data);
	}
	spin_unlock_irq(&c->lock);
	return marks;
}

/* Nothing of what it reads or writes is held, nor will be. */
static bool cut_passes(struct cut *c, struct bio *bio)
{
	u32 nr = cut_nr(c, bio->bi_iter.bi_sector);
	struct cut_zone *z = &c->zones[nr];
	/* Pairs with cut_settle(). */
	u32 down = smp_load_acquire(&z->down);

	if (READ_ONCE(c->dead) || cut_is_flush(bio))
		return false;
	if (z->type == BLK_ZONE_TYPE_CONVENTIONAL)
		return !op_is_zone_mgmt(bio_op(bio));
	return bio_op(bio) == REQ_OP_READ &&
	       (bio_end_sector(bio) - cut_start(c, nr) <= round_up(down, BLOCK_SECTORS) ||
		z->cond == BLK_ZONE_COND_OFFLINE);
}

static int cut_map(struct dm_target *ti, struct bio *bio)
{
	struct cut_bio *cb = dm_per_bio_data(bio, sizeof(*cb));
	struct cut *c = ti->private;
	bool dead;

	if (cut_passes(c, bio)) {
		bio_set_dev(bio, c->bdev);
		return DM_MAPIO_REMAPPED;
	}
	cb->since = jiffies;
	cb->marks = NULL;
	if (cut_is_flush(bio)) {
		cb->marks = cut_marks(c);
		if (!cb->marks)
			return DM_MAPIO_KILL;
	}
	spin_lock_irq(&c->lock);
	dead = c->dead;
	if (!dead) {
		list_add_tail(&cb->list, &c->pending);
		c->nr_pending++;
	}
	spin_unlock_irq(&c->lock);
	if (dead) {
		kvfree(cb->marks);
		return DM_MAPIO_KILL;
	}
	mod_delayed_work(c->wq, &c->work, 0);
	return DM_MAPIO_SUBMITTED;
}

/* --- the cut ---------------------------------------------------------------------- */

static const char * const cut_manners[] = {
	"all", "none", "all or none", "any", "all but one", "one",
};

enum { CUT_ALL, CUT_NONE, CUT_ALL_OR_NONE, CUT_ANY, CUT_ALL_BUT_ONE, CUT_ONE, CUT_NR };

static const char * const cut_losses[] = { "its end", "rubbish in it", "a torn end" };

enum { CUT_END, CUT_HOLES, CUT_TEAR };

/* A command in flight takes effect, or in part, or not. */
static bool cut_in_flight(struct cut *c, struct cut_bio *cb)
{
	struct bio *bio = cut_bio(cb);
	u32 how = cut_below(c, 3);
	u32 nr = cut_nr(c, bio->bi_iter.bi_sector);
	struct cut_zone *z = &c->zones[nr];
	u32 n = bio_sectors(bio);

	/* What a flush covers may be kept anyway. */
	if (!how || bio_op(bio) == REQ_OP_READ || cut_is_flush(bio))
		return false;
	if (op_is_zone_mgmt(bio_op(bio)))
		return !cut_manage(c, bio);
	if (how == 1)
		n = cut_below(c, n / BLOCK_SECTORS) * BLOCK_SECTORS;
	if (!n || (bio_op(bio) == REQ_OP_WRITE && cut_must_wait(c, cb)) || z->data + n > z->cap)
		return false;
	return !cut_write(c, bio, n);
}

static u32 cut_length(struct cut *c, u32 manner, bool chosen, u32 lo, u32 hi)
{
	switch (manner) {
	case CUT_ALL:
		return hi;
	case CUT_NONE:
		return lo;
	case CUT_ALL_OR_NONE:
		return cut_below(c, 2) ? lo : hi;
	case CUT_ALL_BUT_ONE:
		return chosen ? lo : hi;
	case CUT_ONE:
		return chosen ? hi : lo;
	}
	return lo + cut_below(c, (hi - lo) / BLOCK_SECTORS + 1) * BLOCK_SECTORS;
}

static void cut_spoil(struct cut *c, u32 nr, u32 from, u32 to)
{
	u32 share = 1 + cut_below(c, 100);
	u32 off, sound;

	for (off = from; off < to; off += BLOCK_SECTORS) {
		if (cut_below(c, 100) >= share)
			continue;
		sound = cut_below(c, BLOCK_SECTORS) << SECTOR_SHIFT;
		prandom_bytes_state(&c->rnd, cut_held(c, nr, off) + sound, BLOCK_SIZE_4K - sound);
	}
}

static void cut_zone(struct cut *c, u32 nr, u32 manner, bool chosen, u32 loss)
{
	struct cut_zone *z = &c->zones[nr];
	bool full = z->cond == BLK_ZONE_COND_FULL;
	u32 keep = cut_length(c, manner, chosen, z->down, z->data);

	if (loss == CUT_HOLES && cut_below(c, 2)) {
		cut_spoil(c, nr, z->down, z->data);
		keep = z->data;
	}
	if (loss == CUT_TEAR && !full && keep < z->data && cut_below(c, 2))
		keep += 1 + cut_below(c, BLOCK_SECTORS - 1);
	cut_send(c, nr, keep);
	cut_settle(c);
	/*
	 * A zone that was full comes back open only if there may be one more; if
	 * not, and after a finish, it is full, and what was lost reads as anything.
	 */
	if (z->finished || (full && keep < z->cap && keep &&
			    ((c->max_active && c->active >= c->max_active) || cut_below(c, 2)))) {
		cut_finish_below(c, nr);
		return;
	}
	cut_forget(c, nr, z->down, z->data);
	z->data = z->down;
	if (!z->down)
		cut_set_cond(c, z, BLK_ZONE_COND_EMPTY);
	else if (z->down < z->cap)
		cut_set_cond(c, z, BLK_ZONE_COND_CLOSED);
	else
		cut_set_cond(c, z, BLK_ZONE_COND_FULL);
}

static void cut_zones(struct cut *c, char *result, unsigned int maxlen)
{
	u32 held = c->held, zones = 0, chosen = 0, lost = 0, nr;
	u32 manner = cut_below(c, CUT_NR);
	u32 loss = cut_below(c, 4);
	unsigned int sz = strlen(result);

	/* Half of the time, and where a drive has smaller blocks than ours. */
	if (loss > CUT_TEAR || (loss == CUT_TEAR &&
				bdev_logical_block_size(c->bdev) >= BLOCK_SIZE_4K))
		loss = CUT_END;
	for (nr = 0; nr < c->nr_zones; nr++)
		if (c->zones[nr].data > c->zones[nr].down && !cut_below(c, ++zones))
			chosen = nr;
	for (nr = 0; nr < c->nr_zones; nr++) {
		struct cut_zone *z = &c->zones[nr];
		u32 end = z->data;

		if (z->data == z->down && !z->finished)
			continue;
		cut_zone(c, nr, manner, nr == chosen, loss);
		lost += (end - min(z->data, end)) / BLOCK_SECTORS;
	}
	cut_flush_below(c);
	DMEMIT(", lost %u of %u blocks in %u zones: kept %s, lost %s", lost, held, zones,
	       cut_manners[manner], cut_losses[loss]);
}

static int cut_now(struct cut *c, u64 seed, char *result, unsigned int maxlen)
{
	unsigned int noio = memalloc_noio_save();
	struct cut_bio *cb, *next;
	u32 n, left, taken = 0;
	unsigned int sz = 0;
	LIST_HEAD(flying);
	LIST_HEAD(ended);

	/* Now. What comes later fails. */
	spin_lock_irq(&c->lock);
	c->dead = true;
	list_splice_init(&c->pending, &flying);
	n = c->nr_pending;
	c->nr_pending = 0;
	spin_unlock_irq(&c->lock);

	mutex_lock(&c->model);
	prandom_seed_state(&c->rnd, seed);
	for (left = n; left; left--) {
		u32 which = cut_below(c, left);

		list_for_each_entry(cb, &flying, list)
			if (!which--)
				break;
		list_move(&cb->list, &ended);
		if (c->live)
			taken += cut_in_flight(c, cb);
	}
	DMEMIT("%u of %u in flight took effect", taken, n);
	if (c->live)
		cut_zones(c, result, maxlen);
	c->live = false;
	mutex_unlock(&c->model);

	list_for_each_entry_safe(cb, next, &ended, list) {
		cut_bio(cb)->bi_status = BLK_STS_IOERR;
		cut_end(cb);
	}
	memalloc_noio_restore(noio);
	DMINFO("%s: power cut, seed %llu: %s", dm_table_device_name(c->ti->table), seed, result);
	return 1;
}

/* --- life cycle ------------------------------------------------------------------- */

static int cut_load_zone(struct blk_zone *b, unsigned int idx, void *data)
{
	struct cut *c = data;
	struct cut_zone *z = &c->zones[idx];

	z->cap = b->capacity;
	z->type = b->type;
	z->cond = BLK_ZONE_COND_NOT_WP;
	cut_set_cond(c, z, b->cond);
	z->data = 0;
	if (b->cond == BLK_ZONE_COND_FULL)
		z->data = z->cap;
	else if (cut_is_active(b->cond) || b->cond == BLK_ZONE_COND_READONLY)
		z->data = min_t(u64, b->wp - b->start, z->cap);
	z->sent = z->data;
	z->down = z->data;
	c->below += cut_is_active(b->cond) && z->down;
	return 0;
}

/* Zones as they are below. */
static int cut_load(struct cut *c)
{
	int r;

	c->active = 0;
	c->below = 0;
	r = blkdev_report_zones(c->bdev, 0, c->nr_zones, cut_load_zone, c);
	if (r >= 0 && r != c->nr_zones)
		r = -EIO;
	return min(r, 0);
}

static void cut_dtr(struct dm_target *ti)
{
	struct cut *c = ti->private;

	if (c->wq) {
		cancel_delayed_work_sync(&c->work);
		destroy_workqueue(c->wq);
	}
	bioset_exit(&c->bios);
	xa_destroy(&c->blocks);
	kvfree(c->zones);
	if (c->dev)
		dm_put_device(ti, c->dev);
	mutex_destroy(&c->model);
	kfree(c);
}

static int cut_set_up(struct cut *c, char **argv)
{
	struct dm_target *ti = c->ti;
	sector_t zone;
	int r;

	if (kstrtou64(argv[1], 10, &c->seed) || kstrtou32(argv[2], 10, &c->max_held) ||
	    kstrtou32(argv[3], 10, &c->every) || kstrtou32(argv[4], 10, &c->latency)) {
		ti->error = "SEED, HELD, EVERY and LATENCY are numbers";
		return -EINVAL;
	}
	r = dm_get_device(ti, argv[0], dm_table_get_mode(ti->table), &c->dev);
	if (r) {
		ti->error = "Cannot open device";
		return r;
	}
	c->bdev = c->dev->bdev;
	zone = bdev_zone_sectors(c->bdev);
	if (!bdev_is_zoned(c->bdev) || ti->begin || ti->len & (zone - 1)) {
		ti->error = "Whole zones of a zoned drive are needed";
		return -EINVAL;
	}
	c->zone_shift = ilog2(zone);
	c->nr_zones = ti->len >> c->zone_shift;
	c->max_active = min_not_zero(bdev_max_active_zones(c->bdev),
				     bdev_max_open_zones(c->bdev));
	c->zones = kvcalloc(c->nr_zones, sizeof(*c->zones), GFP_KERNEL);
	c->wq = alloc_ordered_workqueue("lz_cut", WQ_MEM_RECLAIM);
	if (!c->zones || !c->wq || bioset_init(&c->bios, BIO_POOL_SIZE, 0, BIOSET_NEED_BVECS)) {
		ti->error = "Cannot allocate";
		return -ENOMEM;
	}
	r = cut_load(c);
	if (r)
		ti->error = "Zone report failed";
	return r;
}

static int cut_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct cut *c;
	int r;

	if (argc != 5) {
		ti->error = "Arguments: DEV SEED HELD EVERY LATENCY";
		return -EINVAL;
	}
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c) {
		ti->error = "Cannot allocate target";
		return -ENOMEM;
	}
	c->ti = ti;
	ti->private = c;
	spin_lock_init(&c->lock);
	INIT_LIST_HEAD(&c->pending);
	mutex_init(&c->model);
	xa_init(&c->blocks);
	INIT_DELAYED_WORK(&c->work, cut_work);
	init_waitqueue_head(&c->wait);
	r = cut_set_up(c, argv);
	if (!r)
		r = dm_set_target_max_io_len(ti, 1u << c->zone_shift);
	if (r) {
		cut_dtr(ti);
		return r;
	}
	ti->num_flush_bios = 1;
	ti->flush_supported = true;
	ti->per_io_data_size = sizeof(struct cut_bio);
	return 0;
}

static int cut_preresume(struct dm_target *ti)
{
	struct cut *c = ti->private;
	int r = 0;

	mutex_lock(&c->model);
	if (!c->live && !c->dead) {
		/* Another instance may have written since .ctr. */
		r = cut_load(c);
		prandom_seed_state(&c->rnd, c->seed);
		c->live = !r;
	}
	mutex_unlock(&c->model);
	return r;
}

/* An orderly end: nothing is lost. */
static void cut_postsuspend(struct dm_target *ti)
{
	struct cut *c = ti->private;
	unsigned int noio = memalloc_noio_save();
	u32 nr;

	mutex_lock(&c->model);
	if (c->live) {
		for (nr = 0; nr < c->nr_zones; nr++)
			cut_send(c, nr, c->zones[nr].data);
		cut_flush_below(c);
	}
	c->live = false;
	mutex_unlock(&c->model);
	memalloc_noio_restore(noio);
}

/* --- reporting -------------------------------------------------------------------- */

/* 6.19: reports go to the block layer by a function of its own. */
static int cut_report(struct dm_report_zones_args *args, struct blk_zone *b)
{
	args->next_sector = b->start + b->len;
#if LZ_KERNEL_SINCE(6, 19)
	if (!args->cb)
		return disk_report_zone(args->disk, b, args->zone_idx++, args->rep_args);
	return args->cb(b, args->zone_idx++, args->data);
#else
	return args->orig_cb(b, args->zone_idx++, args->orig_data);
#endif
}

static int cut_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	struct cut *c = ti->private;

	return fn(ti, c->dev, 0, ti->len, data);
}

static void cut_io_hints(struct dm_target *ti, struct queue_limits *limits)
{
	limits->logical_block_size = BLOCK_SIZE_4K;
	limits->physical_block_size = BLOCK_SIZE_4K;
	limits->io_min = BLOCK_SIZE_4K;
}

static int cut_report_zones(struct dm_target *ti, struct dm_report_zones_args *args,
			    unsigned int nr_zones)
{
	struct cut *c = ti->private;
	u32 nr = cut_nr(c, args->next_sector);
	int r = 0;

	if (READ_ONCE(c->dead))
		return -EIO;
	for (; nr < c->nr_zones && nr_zones && !r; nr++, nr_zones--) {
		struct cut_zone *z = &c->zones[nr];
		struct blk_zone b = {
			.start = cut_start(c, nr), .len = 1u << c->zone_shift, .type = z->type,
		};

		mutex_lock(&c->model);
		b.capacity = z->cap;
		b.cond = z->cond;
		b.wp = b.start + z->data;
		mutex_unlock(&c->model);
		if (z->type == BLK_ZONE_TYPE_CONVENTIONAL || b.cond == BLK_ZONE_COND_FULL)
			b.wp = b.start + b.len;
		r = cut_report(args, &b);
	}
	return r;
}

static void cut_status(struct dm_target *ti, status_type_t type, unsigned int flags,
		       char *result, unsigned int maxlen)
{
	struct cut *c = ti->private;
	unsigned int sz = 0;

	switch (type) {
	case STATUSTYPE_INFO:
		DMEMIT("%s held %u refused %u", c->broken ? "broken" : c->dead ? "cut" : "on",
		       c->held, c->refused);
		break;
	case STATUSTYPE_TABLE:
		DMEMIT("%s %llu %u %u %u", c->dev->name, c->seed, c->max_held, c->every,
		       c->latency);
		break;
	case STATUSTYPE_IMA:
		*result = '\0';
		break;
	}
}

static int cut_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
		       unsigned int maxlen)
{
	struct cut *c = ti->private;
	u64 seed = c->seed;

	if (!argc || strcmp(argv[0], "cut") || argc > 2 ||
	    (argc == 2 && kstrtou64(argv[1], 10, &seed))) {
		DMWARN("the message is: cut [SEED]");
		return -EINVAL;
	}
	return cut_now(c, seed, result, maxlen);
}

static struct target_type cut_target = {
	.name			= "lz-cut",
	.version		= { 1, 0, 0 },
	.features		= DM_TARGET_SINGLETON | DM_TARGET_ZONED_HM | DM_TARGET_NOWAIT,
	.module			= THIS_MODULE,
	.ctr			= cut_ctr,
	.dtr			= cut_dtr,
	.map			= cut_map,
	.preresume		= cut_preresume,
	.postsuspend		= cut_postsuspend,
	.status			= cut_status,
	.message		= cut_message,
	.report_zones		= cut_report_zones,
	.iterate_devices	= cut_iterate_devices,
	.io_hints		= cut_io_hints,
};
module_dm(cut);

MODULE_DESCRIPTION(DM_NAME " target for tests: a zoned drive whose power can be cut");
MODULE_AUTHOR("The dm-lifezone authors");
MODULE_LICENSE("GPL");
