// SPDX-License-Identifier: GPL-2.0-only
/*
 * lz-log: a dm target for tests that passes everything through and writes down
 * what: each bio as it comes and as it ends, with the data it carries.
 *
 *	0 SECTORS lz-log DEV below|above [MS]
 *
 * With MS one read of data in eight is held back, for up to so long, so that others, and what
 * comes of them, can overtake it.
 *
 * One log serves all devices of this kind, so that what users are promised
 * ("above" lifezone) and what the drive was told ("below" it) stand in one order.
 * A bio that comes is written down before it goes on, one that has ended before
 * its sender hears of it: what the log shows as over was over, and what the
 * sender did because of it comes later.
 *
 * The log is a buffer of fixed size, read as /sys/kernel/debug/lz-log; it begins
 * anew with the first device. dm sends a write with a flush before it as two bios,
 * and so they are logged.
 *
 * "dmsetup message NAME 0 WORD..." puts the words into the log.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/debugfs.h>
#include <linux/device-mapper.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "log.h"

#define DM_MSG_PREFIX	"lz-log"
#define BLOCK_BYTES	4096u
#define BLOCK_SECTORS	(BLOCK_BYTES >> SECTOR_SHIFT)

static unsigned long size = 64ul << 20;
module_param(size, ulong, 0444);
MODULE_PARM_DESC(size, "of the log (bytes)");

#define HELD_ONE_IN	8u

/**
 * struct logged - a device of this kind
 * @dev: what lies below
 * @role: enum lz_log_role
 * @delay_ms: how long reads are held, at most; 0: not at all
 * @lock: guards @held
 * @held: reads that are
 * @release: lets them go
 */
struct logged {
	struct dm_dev *dev;
	u8 role;
	unsigned int delay_ms;
	spinlock_t lock;		/* held */
	struct bio_list held;
	struct delayed_work release;
};

/**
 * struct logged_bio - dm's per-bio data
 * @id: its number
 * @iter: its range, which is used up when it has ended
 */
struct logged_bio {
	u32 id;
	struct bvec_iter iter;
};

static struct debugfs_blob_wrapper blob;
static struct dentry *file;
static DEFINE_MUTEX(users_lock);
static unsigned int users;		/* users_lock */

static DEFINE_SPINLOCK(log_lock);
static u32 next_id[LZ_LOG_NR_ROLES];	/* log_lock, as is blob */

static const char *const roles[] = { [LZ_LOG_BELOW] = "below", [LZ_LOG_ABOVE] = "above" };

static void log_begin(void)
{
	struct lz_log_head *h = blob.data;

	memset(h, 0, sizeof(*h));
	memcpy(h->text, LZ_LOG_TEXT, sizeof(h->text));
	blob.size = sizeof(*h);
	memset(next_id, 0, sizeof(next_id));
}

static void log_put(const void *p, size_t n)
{
	memcpy(blob.data + blob.size, p, n);
	blob.size += n;
}

/* The next block of a bio. */
static void take_block(struct bio *bio, struct bvec_iter *iter, u8 *to)
{
	unsigned int left = BLOCK_BYTES;

	while (left) {
		struct bio_vec bv = bio_iter_iovec(bio, *iter);
		unsigned int n = min(bv.bv_len, left);

		memcpy_from_page(to, bv.bv_page, bv.bv_offset, n);
		bio_advance_iter(bio, iter, n);
		to += n;
		left -= n;
	}
}

static u64 tag_of(const u8 *block)
{
	u64 head[2], tail[2];

	memcpy(head, block, sizeof(head));
	memcpy(tail, block + BLOCK_BYTES - sizeof(tail), sizeof(tail));
	if (head[0] == LZ_LOG_STAMP && head[1] == tail[0] && head[1] == ~tail[1])
		return head[1];
	return memchr_inv(block, 0, BLOCK_BYTES) ? LZ_LOG_WHOLE : LZ_LOG_NULL;
}

/* The blocks of a bio, whole where they have no stamp and are @written. */
static void log_blocks(struct bio *bio, struct bvec_iter iter, u32 nblocks, bool written)
{
	while (nblocks--) {
		u8 *block = blob.data + blob.size + sizeof(u64);
		u64 tag;

		take_block(bio, &iter, block);
		tag = tag_of(block);
		if (written && tag == LZ_LOG_NULL)
			tag = LZ_LOG_WHOLE;
		log_put(&tag, sizeof(tag));
		if (written && tag == LZ_LOG_WHOLE)
			blob.size += BLOCK_BYTES;
	}
}

static void log_rec(struct lz_log_rec *rec, struct bio *bio, struct bvec_iter *iter,
		    const char *text)
{
	u32 nblocks = iter ? iter->bi_size / BLOCK_BYTES : 0;
	size_t want = sizeof(*rec) + (text ? strlen(text) : 0) +
		nblocks * (sizeof(u64) + BLOCK_BYTES);
	struct lz_log_head *head = blob.data;
	struct lz_log_rec *put;
	unsigned long flags;

	spin_lock_irqsave(&log_lock, flags);
	if (rec->what == LZ_LOG_ISSUE) {
		struct logged_bio *lb = dm_per_bio_data(bio, sizeof(*lb));

		lb->id = next_id[rec->role]++;
		rec->id = lb->id;
	}
	if (want > size - blob.size) {
		head->lost++;
	} else {
		put = blob.data + blob.size;
		log_put(rec, sizeof(*rec));
		if (text)
			log_put(text, strlen(text));
		if (iter)
			log_blocks(bio, *iter, nblocks, rec->what == LZ_LOG_ISSUE);
		put->bytes = blob.data + blob.size - (void *)(put + 1);
	}
	spin_unlock_irqrestore(&log_lock, flags);
}

static u8 op_of(const struct bio *bio)
{
	switch (bio_op(bio)) {
	case REQ_OP_READ:
		return LZ_LOG_READ;
	case REQ_OP_WRITE:
		return bio_sectors(bio) ? LZ_LOG_WRITE : LZ_LOG_FLUSH;
	case REQ_OP_ZONE_APPEND:
		return LZ_LOG_APPEND;
	case REQ_OP_ZONE_RESET:
		return LZ_LOG_RESET;
	case REQ_OP_ZONE_RESET_ALL:
		return LZ_LOG_RESET_ALL;
	case REQ_OP_ZONE_FINISH:
		return LZ_LOG_FINISH;
	case REQ_OP_DISCARD:
		return LZ_LOG_DISCARD;
	case REQ_OP_WRITE_ZEROES:
		return LZ_LOG_ZEROES;
	default:
		return LZ_LOG_OTHER;
	}
}

static void release_reads(struct work_struct *work)
{
	struct logged *l = container_of(work, struct logged, release.work);
	struct bio_list held;
	struct bio *bio;

	spin_lock_irq(&l->lock);
	held = l->held;
	bio_list_init(&l->held);
	spin_unlock_irq(&l->lock);
	while ((bio = bio_list_pop(&held)))
		dm_submit_bio_remap(bio, NULL);
}

static void hold(struct logged *l, struct bio *bio)
{
	spin_lock_irq(&l->lock);
	bio_list_add(&l->held, bio);
	spin_unlock_irq(&l->lock);
	schedule_delayed_work(&l->release, msecs_to_jiffies(l->delay_ms));
}

static int log_map(struct dm_target *ti, struct bio *bio)
{
	struct logged_bio *lb = dm_per_bio_data(bio, sizeof(*lb));
	struct logged *l = ti->private;
	struct lz_log_rec rec = {
		.what = LZ_LOG_ISSUE, .role = l->role, .op = op_of(bio),
		.flags = bio->bi_opf & REQ_FUA ? LZ_LOG_FUA : 0,
		.sector = bio->bi_iter.bi_sector, .sectors = bio_sectors(bio),
	};
	bool data = rec.op == LZ_LOG_WRITE || rec.op == LZ_LOG_APPEND;

	lb->iter = bio->bi_iter;
	log_rec(&rec, bio, data ? &lb->iter : NULL, NULL);
	bio_set_dev(bio, l->dev->bdev);
	if (l->delay_ms && rec.op == LZ_LOG_READ && !(bio->bi_opf & REQ_META) &&
	    !(lb->id % HELD_ONE_IN)) {
		hold(l, bio);
		return DM_MAPIO_SUBMITTED;
	}
	return DM_MAPIO_REMAPPED;
}

static int log_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error)
{
	struct logged_bio *lb = dm_per_bio_data(bio, sizeof(*lb));
	struct logged *l = ti->private;
	struct lz_log_rec rec = {
		.what = LZ_LOG_DONE, .role = l->role, .id = lb->id,
		.sector = bio_op(bio) == REQ_OP_ZONE_APPEND ? bio->bi_iter.bi_sector :
							      lb->iter.bi_sector,
		.sectors = lb->iter.bi_size >> SECTOR_SHIFT,
		.error = blk_status_to_errno(*error),
	};

	rec.op = bio_op(bio) == REQ_OP_READ ? LZ_LOG_READ : LZ_LOG_OTHER;
	log_rec(&rec, bio, rec.op == LZ_LOG_READ && !*error ? &lb->iter : NULL, NULL);
	return DM_ENDIO_DONE;
}

static int log_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
		       unsigned int maxlen)
{
	struct logged *l = ti->private;
	struct lz_log_rec rec = { .what = LZ_LOG_MARK, .role = l->role };
	char text[200] = "";
	unsigned int i;

	for (i = 0; i < argc; i++) {
		if (i)
			strlcat(text, " ", sizeof(text));
		strlcat(text, argv[i], sizeof(text));
	}
	log_rec(&rec, NULL, NULL, text);
	return 0;
}

static int log_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	unsigned int delay_ms = 0;
	struct logged *l;
	int role, r;

	if (argc < 2 || argc > 3 || (argc == 3 && kstrtouint(argv[2], 10, &delay_ms))) {
		ti->error = "Arguments are: DEV below|above [MS]";
		return -EINVAL;
	}
	role = match_string(roles, ARRAY_SIZE(roles), argv[1]);
	if (role < 0) {
		ti->error = "Neither below nor above";
		return -EINVAL;
	}
	l = kzalloc(sizeof(*l), GFP_KERNEL);
	if (!l)
		return -ENOMEM;
	l->role = role;
	l->delay_ms = delay_ms;
	spin_lock_init(&l->lock);
	bio_list_init(&l->held);
	INIT_DELAYED_WORK(&l->release, release_reads);
	r = dm_get_device(ti, argv[0], dm_table_get_mode(ti->table), &l->dev);
	if (r) {
		ti->error = "Device lookup failed";
		kfree(l);
		return r;
	}
	ti->private = l;
	ti->num_flush_bios = 1;
	ti->num_discard_bios = 1;
	ti->num_write_zeroes_bios = 1;
	ti->per_io_data_size = sizeof(struct logged_bio);
	ti->accounts_remapped_io = true;
	mutex_lock(&users_lock);
	if (!users++)
		log_begin();
	mutex_unlock(&users_lock);
	return 0;
}

static void log_dtr(struct dm_target *ti)
{
	struct logged *l = ti->private;

	cancel_delayed_work_sync(&l->release);
	dm_put_device(ti, l->dev);
	kfree(l);
	mutex_lock(&users_lock);
	users--;
	mutex_unlock(&users_lock);
}

static void log_status(struct dm_target *ti, status_type_t type, unsigned int flags,
		       char *result, unsigned int maxlen)
{
	struct logged *l = ti->private;
	unsigned int sz = 0;

	switch (type) {
	case STATUSTYPE_INFO:
		DMEMIT("%lu", blob.size);
		break;
	case STATUSTYPE_TABLE:
		DMEMIT("%s %s %u", l->dev->name, roles[l->role], l->delay_ms);
		break;
	case STATUSTYPE_IMA:
		*result = '\0';
	}
}

static int log_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	struct logged *l = ti->private;

	return fn(ti, l->dev, 0, ti->len, data);
}

static int log_report_zones(struct dm_target *ti, struct dm_report_zones_args *args,
			    unsigned int nr_zones)
{
	struct logged *l = ti->private;

	return dm_report_zones(l->dev->bdev, 0, args->next_sector, args, nr_zones);
}

static struct target_type log_target = {
	.name			= "lz-log",
	.version		= { 1, 0, 0 },
	.features		= DM_TARGET_SINGLETON | DM_TARGET_ZONED_HM,
	.module			= THIS_MODULE,
	.ctr			= log_ctr,
	.dtr			= log_dtr,
	.map			= log_map,
	.end_io			= log_end_io,
	.status			= log_status,
	.message		= log_message,
	.iterate_devices	= log_iterate_devices,
	.report_zones		= log_report_zones,
};

static int __init log_init(void)
{
	int r;

	blob.data = vzalloc(size);
	if (!blob.data)
		return -ENOMEM;
	log_begin();
	file = debugfs_create_blob("lz-log", 0400, NULL, &blob);
	r = dm_register_target(&log_target);
	if (r) {
		debugfs_remove(file);
		vfree(blob.data);
	}
	return r;
}

static void __exit log_exit(void)
{
	dm_unregister_target(&log_target);
	debugfs_remove(file);
	vfree(blob.data);
}

module_init(log_init);
module_exit(log_exit);

MODULE_DESCRIPTION("device-mapper target that logs what passes through it");
MODULE_AUTHOR("The dm-lifezone authors");
MODULE_LICENSE("GPL");
