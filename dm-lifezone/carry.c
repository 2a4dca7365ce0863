// SPDX-License-Identifier: GPL-2.0-only
/*
 * Carries out the commands of core's machine, and runs the machine.
 *
 * Commands: each becomes a bio of ours and ends in its end_io with lz_cmd_done(). Zone
 * resets and finishes are bios like the others: unlike blkdev_zone_mgmt() that
 * does not wait, so a finish, which may take a second, keeps nobody else from
 * being sent. Core sees to it that a zone has nothing in flight when it is
 * reset or finished.
 *
 * Memory: core gives out commands only from lz_run() and from the life cycle
 * calls, never below another bio's submission, so current->bio_list is empty,
 * every bio is under way when its submission returns, and waiting for the
 * mempool waits for the drive alone. That is why the bioset needs no rescuer.
 * Everything runs under memalloc_noio.
 *
 * The machine: one work item on a queue of its own, with a rescuer thread. A
 * kick queues it; a kick for later shortens a timer that queues it. While core
 * is loaded or stopped ("sync") lz_run() is left to core, which waits for the
 * drive by ops->wait; a kick or timer then finds @sync set under the lock and
 * does nothing.
 *
 * Memory that others need: a shrinker has the machine give leaves of the map back. It is
 * called by whoever allocates, the machine and users' writes to us among them, so it only
 * says how many and kicks. It is there as long as the target is, as a resume or suspend must
 * not wait for the lock of all shrinkers, under which others allocate; before recovery and
 * while the machine is stopped there is nothing to be had.
 */
#include <linux/highmem.h>
#include <linux/sched/mm.h>
#include <linux/shrinker.h>

#include "shell.h"

/**
 * struct lz_carry - a command's bio
 * @lt: target
 * @cmd: command
 * @bio: its bio
 */
struct lz_carry {
	struct lz_target *lt;
	struct lz_cmd *cmd;
	struct bio bio;
};

#define LZ_CORE_BIOS		64

/* Reports that a command has ended. The target may be freed right after. */
static void lz_carry_ended(struct lz_target *lt)
{
	atomic_set(&lt->ended, 1);
	if (wq_has_sleeper(&lt->wait))
		wake_up(&lt->wait);
	/* The last one wakes lz_carry_quiesce(). */
	if (atomic_dec_and_test(&lt->carrying))
		complete(&lt->quiet);
}

/*
 * lz_carry_askew - says that an append has landed within a block: where sectors are smaller, part
 * of a block may be written to a zone, and all that follows is out of step. It is as if it failed.
 */
void lz_carry_askew(struct lz_target *lt, sector_t sector)
{
	DMERR_LIMIT("%s: a write landed within a block, at sector %llu: did others write there?",
		    lz_target_name(lt), (u64)sector);
}

static void lz_carry_endio(struct bio *bio)
{
	struct lz_carry *c = container_of(bio, struct lz_carry, bio);
	struct lz_target *lt = c->lt;
	struct lz_cmd *cmd = c->cmd;

	cmd->error = blk_status_to_errno(bio->bi_status);
	if (bio_op(bio) == REQ_OP_READ && is_vmalloc_addr(cmd->buf))
		invalidate_kernel_vmap_range(cmd->buf, cmd->nblocks << LZ_BLOCK_SHIFT);
	if (bio_op(bio) == REQ_OP_ZONE_APPEND && !cmd->error &&
	    !lz_landed_addr(lt, bio->bi_iter.bi_sector, &cmd->result))
		cmd->error = -EIO;
	bio_put(bio);
	lz_cmd_done(lt->lz, cmd);
	lz_carry_ended(lt);
}

static struct bio *lz_carry_bio(struct lz_target *lt, struct lz_cmd *cmd,
				unsigned int nr_vecs, blk_opf_t opf, u64 addr)
{
	struct bio *bio;
	struct lz_carry *c;

	bio = bio_alloc_bioset(lt->bdev, nr_vecs, opf, GFP_NOIO, &lt->core_bios);
	bio->bi_iter.bi_sector = lz_addr_sector(lt, addr);
	bio->bi_end_io = lz_carry_endio;
	if (cmd->class <= LZ_CLASS_EXTREME)
		bio->bi_write_hint = (__force enum rw_hint)cmd->class;
	c = container_of(bio, struct lz_carry, bio);
	c->lt = lt;
	c->cmd = cmd;
	return bio;
}

static struct page *lz_buf_page(const void *p)
{
	return is_vmalloc_addr(p) ? vmalloc_to_page(p) : virt_to_page(p);
}

static_assert(LZ_CMD_BLOCKS * LZ_BLOCK_SIZE / PAGE_SIZE + 1 <= BIO_MAX_VECS, "fits one bio");

/* Sends a read or write. */
static void lz_carry_data(struct lz_target *lt, struct lz_cmd *cmd, blk_opf_t opf)
{
	size_t left = (size_t)cmd->nblocks << LZ_BLOCK_SHIFT;
	u8 *p = cmd->buf;
	struct bio *bio;

	if (op_is_write(opf) && is_vmalloc_addr(p))
		flush_kernel_vmap_range(p, left);
	bio = lz_carry_bio(lt, cmd, DIV_ROUND_UP(offset_in_page(p) + left, PAGE_SIZE), opf,
			   cmd->addr);
	while (left) {
		unsigned int len = min_t(size_t, left, PAGE_SIZE - offset_in_page(p));

		__bio_add_page(bio, lz_buf_page(p), len, offset_in_page(p));
		p += len;
		left -= len;
	}
	submit_bio_noacct(bio);
}

static void lz_ops_submit(void *ctx, struct lz_cmd *cmd)
{
	struct lz_target *lt = ctx;
	unsigned int noio = memalloc_noio_save();
	blk_opf_t opf = 0;

	atomic_inc(&lt->carrying);
	cmd->error = 0;
	if (cmd->flags & LZ_CMD_PREFLUSH && !lz_planted(LZ_PLANT_SHELL_NO_PREFLUSH))
		opf |= REQ_PREFLUSH;
	if (cmd->flags & LZ_CMD_FUA && !lz_planted(LZ_PLANT_SHELL_NO_FUA))
		opf |= REQ_FUA;
	if (cmd->meta)
		opf |= REQ_META | REQ_SYNC | REQ_IDLE;

	switch (cmd->op) {
	case LZ_OP_READ:
		lz_carry_data(lt, cmd, REQ_OP_READ | (opf & REQ_META));
		break;
	case LZ_OP_WRITE:
		lz_carry_data(lt, cmd, REQ_OP_WRITE | opf);
		break;
	case LZ_OP_APPEND:
		lz_carry_data(lt, cmd, REQ_OP_ZONE_APPEND | opf);
		break;
	case LZ_OP_RESET:
		submit_bio_noacct(lz_carry_bio(lt, cmd, 0, REQ_OP_ZONE_RESET | REQ_SYNC,
					       cmd->addr));
		break;
	case LZ_OP_FINISH:
		submit_bio_noacct(lz_carry_bio(lt, cmd, 0, REQ_OP_ZONE_FINISH | REQ_SYNC,
					       cmd->addr));
		break;
	case LZ_OP_FLUSH: {
		struct bio *bio = lz_carry_bio(lt, cmd, 0, REQ_OP_WRITE | REQ_PREFLUSH |
					       REQ_SYNC, 0);

		/* An empty flush is of the whole drive, not of a zone. */
		bio->bi_iter.bi_sector = 0;
		submit_bio_noacct(bio);
		break;
	}
	default:
		WARN_ON_ONCE(1);
		cmd->error = -EOPNOTSUPP;
		lz_cmd_done(lt->lz, cmd);
		lz_carry_ended(lt);
	}
	memalloc_noio_restore(noio);
}

static void lz_ops_wait(void *ctx)
{
	struct lz_target *lt = ctx;

	wait_event(lt->wait, atomic_xchg(&lt->ended, 0));
}

static void lz_ops_kick(void *ctx)
{
	struct lz_target *lt = ctx;

	queue_work(lt->machine_wq, &lt->machine);
}

static void lz_ops_kick_later(void *ctx, u32 ms)
{
	struct lz_target *lt = ctx;

	timer_reduce(&lt->machine_timer, jiffies + msecs_to_jiffies(ms));
}

static void lz_machine_timer(struct timer_list *t)
{
	struct lz_target *lt = container_of(t, struct lz_target, machine_timer);

	queue_work(lt->machine_wq, &lt->machine);
}

static void lz_machine_work(struct work_struct *work)
{
	struct lz_target *lt = container_of(work, struct lz_target, machine);
	unsigned int noio = memalloc_noio_save();

	mutex_lock(&lt->machine_lock);
	if (!lt->sync)
		lz_run(lt->lz);
	mutex_unlock(&lt->machine_lock);
	memalloc_noio_restore(noio);
}

static void lz_ops_resume(void *ctx)
{
	if (!lz_planted(LZ_PLANT_SHELL_RESUME_LOST))
		lz_io_retry(ctx);
}

static u64 lz_ops_now(void *ctx)
{
	return ktime_get_ns();
}

static void lz_ops_event(void *ctx, enum lz_event ev, u64 arg)
{
	lz_target_event(ctx, ev, arg);
}

static void lz_ops_say(void *ctx, char level, const char *line)
{
	struct lz_target *lt = ctx;

	switch (level) {
	case 'f':
		DMERR("%s: %s", lz_target_name(lt), line);
		break;
	case 'e':
		DMERR_LIMIT("%s: %s", lz_target_name(lt), line);
		break;
	case 'w':
		DMWARN_LIMIT("%s: %s", lz_target_name(lt), line);
		break;
	default:
		DMINFO_LIMIT("%s: %s", lz_target_name(lt), line);
	}
}

const struct lz_ops lz_carry_ops = {
	.submit		= lz_ops_submit,
	.kick		= lz_ops_kick,
	.kick_later	= lz_ops_kick_later,
	.wait		= lz_ops_wait,
	.resume		= lz_ops_resume,
	.now		= lz_ops_now,
	.event		= lz_ops_event,
	.trace		= lz_trace_emit,
	.traced		= lz_trace_wanted,
	.say		= lz_ops_say,
};

/**
 * lz_carry_halt - keep the machine from running by itself
 * @lt: target
 *
 * Until lz_carry_go() lz_run() is only called by core's own life cycle calls.
 */
void lz_carry_halt(struct lz_target *lt)
{
	mutex_lock(&lt->machine_lock);
	lt->sync = true;
	atomic_set(&lt->ended, 0);
	mutex_unlock(&lt->machine_lock);
}

/**
 * lz_carry_go - let the machine run
 * @lt: target
 */
void lz_carry_go(struct lz_target *lt)
{
	mutex_lock(&lt->machine_lock);
	lt->sync = false;
	mutex_unlock(&lt->machine_lock);
	lz_ops_kick(lt);
}

/**
 * lz_carry_quiesce - wait until nothing of the machine is under way
 * @lt: target, halted
 *
 * After it no end_io, timer or work of ours touches core any more.
 */
void lz_carry_quiesce(struct lz_target *lt)
{
	timer_delete_sync(&lt->machine_timer);
	cancel_work_sync(&lt->machine);
	if (!atomic_dec_and_test(&lt->carrying))
		wait_for_completion(&lt->quiet);
	atomic_set(&lt->carrying, 1);
}

static unsigned long lz_shrink_count(struct shrinker *s, struct shrink_control *sc)
{
	struct lz_target *lt = s->private_data;

	return lz_target_loaded(lt) ? lz_cache_count(lt->lz) : 0;
}

/* Tells what was asked for, as others do whose caches shrink later: nobody but statistics cares. */
static unsigned long lz_shrink_scan(struct shrinker *s, struct shrink_control *sc)
{
	struct lz_target *lt = s->private_data;

	/*
	 * The machine drops a leaf itself where it gets no memory for another, and would go round
	 * and round if it kicked itself each time. Debugfs asks without a count.
	 */
	if (current_work() == &lt->machine || !lz_target_loaded(lt))
		return SHRINK_STOP;
	lz_cache_shrink(lt->lz, sc->nr_to_scan);
	return sc->nr_to_scan;
}

/**
 * lz_carry_init - prepare to carry out commands
 * @lt: target
 *
 * Return: 0 or -ENOMEM.
 */
int lz_carry_init(struct lz_target *lt)
{
	mutex_init(&lt->machine_lock);
	lt->sync = true;
	atomic_set(&lt->carrying, 1);
	init_completion(&lt->quiet);
	atomic_set(&lt->ended, 0);
	init_waitqueue_head(&lt->wait);
	INIT_WORK(&lt->machine, lz_machine_work);
	timer_setup(&lt->machine_timer, lz_machine_timer, 0);
	if (bioset_init(&lt->core_bios, LZ_CORE_BIOS, offsetof(struct lz_carry, bio),
			BIOSET_NEED_BVECS))
		return -ENOMEM;
	lt->machine_wq = alloc_workqueue("lifezone_machine/%s",
					 WQ_MEM_RECLAIM | WQ_HIGHPRI | WQ_UNBOUND, 1,
					 lz_target_name(lt));
	if (!lt->machine_wq)
		goto no_wq;
	lt->shrinker = shrinker_alloc(0, "dm-lifezone:%s", lz_target_name(lt));
	if (!lt->shrinker)
		goto no_shrinker;
	lt->shrinker->count_objects = lz_shrink_count;
	lt->shrinker->scan_objects = lz_shrink_scan;
	lt->shrinker->private_data = lt;
	shrinker_register(lt->shrinker);
	return 0;

no_shrinker:
	destroy_workqueue(lt->machine_wq);
no_wq:
	bioset_exit(&lt->core_bios);
	return -ENOMEM;
}

/**
 * lz_carry_exit - undo lz_carry_init()
 * @lt: target, halted
 */
void lz_carry_exit(struct lz_target *lt)
{
	shrinker_free(lt->shrinker);
	timer_shutdown_sync(&lt->machine_timer);
	lz_carry_quiesce(lt);
	destroy_workqueue(lt->machine_wq);
	bioset_exit(&lt->core_bios);
	mutex_destroy(&lt->machine_lock);
}
