// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device-mapper target: arguments, checks of the drive, life cycle.
 *
 * Life cycle. A reload has two instances alive for a while, and dm may build a
 * table that is never used. So .ctr reads only what never changes: the drive's
 * geometry and the superblock, and allocates the memory it needs. Recovery is in
 * .preresume and the orderly stop in .postsuspend. Between the two an instance
 * holds the writer token of its device's UUID; the other one gets it only after
 * the first has stopped. Two mapped devices on one drive, which dm itself would
 * allow, exclude each other the same way: the second resume fails with EBUSY. An
 * instance that was suspended while another one held the token has an outdated
 * view and refuses to resume (ESTALE) until its table is loaded anew. .dtr never
 * writes.
 *
 * A read-only table recovers in memory and never writes to the drive.
 *
 * .postsuspend waits for the references of all user bios and messages (dm waits
 * for bios before a suspend, but not before a removal), then halts the machine and
 * lets core commit and write its checkpoint. Until then the machine runs, for
 * these may wait for it. A message that is killed returns, but the answer it
 * waited for comes, and has a reference until then.
 *
 * If .preresume fails the mapped device stays suspended; it can be resumed
 * again, which starts recovery from the beginning, or removed.
 *
 * What this does not do: pass ioctls to the drive, so there is no .prepare_ioctl.
 * A zone reset or a vendor command behind core's back would destroy data.
 */
#include <linux/blk-integrity.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/uuid.h>

#include "shell.h"
#include "compat.h"
#include "core/plant.h"

const char *const lz_mode_names[] = {
	[LZ_MODE_RW]	= "rw",
	[LZ_MODE_RO]	= "ro",
	[LZ_MODE_FAIL]	= "fail",
};

/* --- writer tokens ------------------------------------------------------------- */

/**
 * struct lz_token - who may write the device with this UUID
 * @list: on lz_tokens
 * @uuid: device
 * @refs: instances that have it
 * @holder: instance that may write, or NULL
 * @last: last holder; only ever compared
 */
struct lz_token {
	struct list_head list;
	u8 uuid[LZ_UUID_SIZE];
	unsigned int refs;
	struct lz_target *holder;
	const struct lz_target *last;
};

static DEFINE_MUTEX(lz_tokens_lock);
static LIST_HEAD(lz_tokens);

static struct lz_token *lz_token_get(const u8 *uuid)
{
	/* Not under the lock: a resume takes it, and memory may wait for that. */
	struct lz_token *fresh = kzalloc(sizeof(*fresh), GFP_KERNEL), *t;

	if (!fresh)
		return NULL;
	mutex_lock(&lz_tokens_lock);
	list_for_each_entry(t, &lz_tokens, list)
		if (!memcmp(t->uuid, uuid, LZ_UUID_SIZE))
			goto found;
	t = fresh;
	fresh = NULL;
	memcpy(t->uuid, uuid, LZ_UUID_SIZE);
	list_add(&t->list, &lz_tokens);
found:
	t->refs++;
	mutex_unlock(&lz_tokens_lock);
	kfree(fresh);
	return t;
}

static void lz_token_put(struct lz_token *t)
{
	mutex_lock(&lz_tokens_lock);
	if (!--t->refs) {
		list_del(&t->list);
		kfree(t);
	}
	mutex_unlock(&lz_tokens_lock);
}

/* -EBUSY: another instance has it. -ESTALE: one had it since @lt did. */
static int lz_token_take(struct lz_target *lt)
{
	struct lz_token *t = lt->token;
	int r = 0;

	mutex_lock(&lz_tokens_lock);
	if (t->holder && t->holder != lt && !lz_planted(LZ_PLANT_SHELL_TWO_WRITERS))
		r = -EBUSY;
	else if (lt->loaded && t->last != lt)
		r = -ESTALE;
	else
		t->holder = lt;
	mutex_unlock(&lz_tokens_lock);
	return r;
}

static void lz_token_release(struct lz_target *lt)
{
	struct lz_token *t = lt->token;

	mutex_lock(&lz_tokens_lock);
	if (t->holder == lt) {
		t->holder = NULL;
		t->last = lt;
	}
	mutex_unlock(&lz_tokens_lock);
}

/* --- events --------------------------------------------------------------------- */

#define TRIM_UEVENT_GAP		(10 * HZ)	/* dm events are not limited */

static void lz_event_work(struct work_struct *work)
{
	struct lz_target *lt = container_of(work, struct lz_target, event_work);
	struct gendisk *disk = dm_disk(dm_table_get_md(lt->ti->table));
	char what[40];
	char arg[40] = "";
	char *envp[3] = { what };
	unsigned long events;
	unsigned int bit;
	unsigned int noio;
	u64 gain;
	u32 aside;

	/* A failed resume and the removal wait for this, and memory may wait for them. */
	noio = memalloc_noio_save();
	spin_lock_irq(&lt->event_lock);
	events = lt->events;
	lt->events = 0;
	aside = lt->aside;
	gain = lt->trim_gain;
	spin_unlock_irq(&lt->event_lock);

	for_each_set_bit(bit, &events, BITS_PER_LONG) {
		arg[0] = '\0';
		envp[1] = NULL;
		switch (bit) {
		case LZ_EVB_MODE: {
			struct lz_info info;

			lz_get_info(lt->lz, &info);
			snprintf(what, sizeof(what), "DM_LIFEZONE_EVENT=mode");
			snprintf(arg, sizeof(arg), "DM_LIFEZONE_MODE=%s",
				 lz_mode_names[info.mode]);
			envp[1] = arg;
			break;
		}
		case LZ_EVB_LOW_SPACE:
			snprintf(what, sizeof(what), "DM_LIFEZONE_EVENT=low_space");
			DMWARN_LIMIT("%s: free zones are below the low-water mark",
				     lz_target_name(lt));
			break;
		case LZ_EVB_TRIM:
			/* With each udev reads the device anew, which is busy. */
			if (time_before64(get_jiffies_64(), lt->trim_next))
				continue;
			lt->trim_next = get_jiffies_64() + TRIM_UEVENT_GAP;
			snprintf(what, sizeof(what), "DM_LIFEZONE_EVENT=trim");
			snprintf(arg, sizeof(arg), "DM_LIFEZONE_BLOCKS=%llu", gain);
			envp[1] = arg;
			break;
		default:
			snprintf(what, sizeof(what), "DM_LIFEZONE_EVENT=zone_aside");
			snprintf(arg, sizeof(arg), "DM_LIFEZONE_ZONE=%u", aside);
			envp[1] = arg;
		}
		kobject_uevent_env(&disk_to_dev(disk)->kobj, KOBJ_CHANGE, envp);
	}
	if (events)
		dm_table_event(lt->ti->table);
	memalloc_noio_restore(noio);
}

/**
 * lz_target_event - have user space told of an event
 * @lt: target
 * @ev: what happened
 * @arg: as for the event
 *
 * From any context; a worker does the telling. Events of one kind that come
 * before it runs are told once.
 */
void lz_target_event(struct lz_target *lt, enum lz_event ev, u64 arg)
{
	unsigned long flags;

	spin_lock_irqsave(&lt->event_lock, flags);
	switch (ev) {
	case LZ_EV_MODE:
		lt->events |= BIT(LZ_EVB_MODE);
		break;
	case LZ_EV_LOW_SPACE:
		lt->events |= BIT(LZ_EVB_LOW_SPACE);
		break;
	case LZ_EV_ZONE_ASIDE:
		lt->events |= BIT(LZ_EVB_ZONE_ASIDE);
		lt->aside = arg;
		break;
	case LZ_EV_TRIM:
		lt->events |= BIT(LZ_EVB_TRIM);
		lt->trim_gain = arg;
		break;
	}
	spin_unlock_irqrestore(&lt->event_lock, flags);
	schedule_work(&lt->event_work);
}

/* --- options --------------------------------------------------------------------- */

struct lz_options lz_options_now(struct lz_target *lt)
{
	struct lz_options o;

	spin_lock(&lt->opt_lock);
	o = lt->options;
	spin_unlock(&lt->opt_lock);
	return o;
}

static int lz_refuse_suspended(const char *key, const char *value, char *why, size_t why_size)
{
	scnprintf(why, why_size, "%s=%s: the device is suspended", key, value);
	return -EBUSY;
}

/**
 * lz_target_set_option - change an option of a loaded target
 * @lt: target
 * @key: option
 * @value: new value
 * @why: on error one line for the user
 * @why_size: its size
 *
 * Return: 0, -EINVAL, -ENOMEM or -EBUSY: it is suspended.
 */
int lz_target_set_option(struct lz_target *lt, const char *key, const char *value,
			 char *why, size_t why_size)
{
	struct lz_options o = lz_options_now(lt);
	unsigned int noio;
	int r;

	/* Not to take memory for what is refused; it may be suspended yet. */
	if (!READ_ONCE(lt->running))
		return lz_refuse_suspended(key, value, why, why_size);
	/* A suspend waits for messages, and memory may wait for its end. */
	noio = memalloc_noio_save();
	r = lz_option_set(&o, key, value, true, why, why_size);
	if (!r)
		r = lz_prepare_options(lt->lz, &o, why, why_size);
	memalloc_noio_restore(noio);
	if (r)
		return r;
	spin_lock(&lt->opt_lock);
	if (lt->running) {
		/* Again, as another may have been set while memory was waited for. */
		r = lz_option_set(&lt->options, key, value, true, why, why_size);
		if (!r)
			lz_set_options(lt->lz, &lt->options);
	} else {
		r = lz_refuse_suspended(key, value, why, why_size);
	}
	spin_unlock(&lt->opt_lock);
	return r;
}

/**
 * lz_target_get_option - the value of an option
 * @lt: target
 * @key: option
 * @value: receives it
 * @size: its size
 *
 * Return: false when there is no such option.
 */
bool lz_target_get_option(struct lz_target *lt, const char *key, char *value, size_t size)
{
	struct lz_options o = lz_options_now(lt);
	const char *k;
	unsigned int i;

	for (i = 0; lz_option_get(&o, i, &k, value, size); i++)
		if (!strcmp(k, key))
			return true;
	return false;
}

static int lz_parse_options(struct lz_target *lt, struct dm_arg_set *as)
{
	static const struct dm_arg args[] = {
		{ 0, 32, "Invalid number of option arguments" },
	};
	struct dm_target *ti = lt->ti;
	char why[LZ_WHY_SIZE];
	unsigned int n;
	int r;

	lz_options_default(&lt->options);
	if (!as->argc)
		return 0;
	r = dm_read_arg_group(args, as, &n, &ti->error);
	if (r)
		return r;
	if (n & 1 || as->argc != n) {
		ti->error = "Options come in pairs of key and value, their number of words first";
		return -EINVAL;
	}
	while (n) {
		const char *key = dm_shift_arg(as);
		const char *value = dm_shift_arg(as);
		char now[LZ_VALUE_SIZE];
		const char *k;
		unsigned int i;

		n -= 2;
		r = lz_option_set(&lt->options, key, value, false, why, sizeof(why));
		if (r) {
			DMERR("%s: %s", lz_target_name(lt), why);
			ti->error = "Invalid option";
			return r;
		}
		for (i = 0; lz_option_get(&lt->options, i, &k, now, sizeof(now)); i++)
			if (!strcmp(k, key))
				__set_bit(i, &lt->given);
	}
	return 0;
}

/* --- the drive -------------------------------------------------------------------- */

static bool lz_zone_is_runt(const struct lz_target *lt, const struct blk_zone *z)
{
	return z->len < bdev_zone_sectors(lt->bdev);
}

/**
 * struct lz_survey - what .ctr gathers of the zones
 * @lt: target
 * @cap: least capacity of a sequential zone (sectors)
 * @cap_max: and the largest
 * @seq: a sequential zone was seen
 * @why: what is wrong with the drive
 */
struct lz_survey {
	struct lz_target *lt;
	u64 cap;
	u64 cap_max;
	bool seq;
	char *why;
};

static int lz_survey_zone(struct blk_zone *z, unsigned int idx, void *data)
{
	struct lz_survey *s = data;
	struct lz_target *lt = s->lt;

	if (lz_zone_is_runt(lt, z))
		return 0;
	if (z->type == BLK_ZONE_TYPE_CONVENTIONAL) {
		if (s->seq) {
			DMERR("%s: zone %u is conventional, which only the first zones may be",
			      lz_target_name(lt), idx);
			s->why = "Conventional zone after a sequential one";
			return -EINVAL;
		}
		lt->nr_conv++;
		return 0;
	}
	if (z->type != BLK_ZONE_TYPE_SEQWRITE_REQ) {
		DMERR("%s: zone %u has type %u; host-managed sequential zones are needed",
		      lz_target_name(lt), idx, z->type);
		s->why = "Zone that is not sequential-write-required";
		return -EINVAL;
	}
	s->seq = true;
	/* A dead zone may claim anything. */
	if (z->cond != BLK_ZONE_COND_OFFLINE && z->capacity) {
		s->cap = min_t(u64, s->cap, z->capacity);
		s->cap_max = max_t(u64, s->cap_max, z->capacity);
	}
	return 0;
}

/* Everything of the drive that never changes. */
static int lz_survey_drive(struct lz_target *lt)
{
	struct dm_target *ti = lt->ti;
	struct block_device *bdev = lt->bdev;
	struct lz_geometry *g = &lt->geometry;
	struct lz_survey s = { .lt = lt, .cap = U64_MAX };
	sector_t zone_sectors;
	unsigned int append;
	int r;

	if (!bdev_is_zoned(bdev)) {
		DMERR("%s: %pg is not a zoned device", lz_target_name(lt), bdev);
		ti->error = "Device is not zoned";
		return -EINVAL;
	}
	if (bdev_is_partition(bdev)) {
		ti->error = "A whole drive is needed, not a partition";
		return -EINVAL;
	}
	/* Block layer and drive may let writes pass all the same. */
	if (!lt->read_only && bdev_read_only(bdev)) {
		ti->error = "Drive is set read-only";
		return -EROFS;
	}
	zone_sectors = bdev_zone_sectors(bdev);
	if (!is_power_of_2(zone_sectors) || zone_sectors < LZ_BLOCK_SECTORS ||
	    zone_sectors >> (LZ_BLOCK_SHIFT - SECTOR_SHIFT) > LZ_ZONE_BLOCKS_MAX) {
		DMERR("%s: zone size of %llu sectors; a power of two of at most 64 GiB is allowed",
		      lz_target_name(lt), (u64)zone_sectors);
		ti->error = "Unsupported zone size";
		return -EINVAL;
	}
	if (bdev_logical_block_size(bdev) > LZ_BLOCK_SIZE) {
		DMERR("%s: logical blocks of %u bytes; at most %u are allowed",
		      lz_target_name(lt), bdev_logical_block_size(bdev), LZ_BLOCK_SIZE);
		ti->error = "Logical blocks are too large";
		return -EINVAL;
	}
	if (bdev_zone_write_granularity(bdev) > LZ_BLOCK_SIZE) {
		DMERR("%s: zones are written by %u bytes at least; at most %u are allowed",
		      lz_target_name(lt), bdev_zone_write_granularity(bdev), LZ_BLOCK_SIZE);
		ti->error = "Physical blocks are too large";
		return -EINVAL;
	}
	/*
	 * The block layer has none for appends (6.12), which NVMe refuses if it is more than
	 * protection information, or puts other numbers into that than it should (7.3, blocks of
	 * more than 512 bytes).
	 */
	if (bdev_get_integrity(bdev) && !bdev_emulates_zone_append(bdev)) {
		DMERR("%s: %pg has metadata beside each block, which appends cannot bring along",
		      lz_target_name(lt), bdev);
		ti->error = "Drive has metadata beside its blocks";
		return -EINVAL;
	}
	lt->nr_drive_zones = div64_u64(bdev_nr_sectors(bdev), zone_sectors);

	r = blkdev_report_zones(bdev, 0, BLK_ALL_ZONES, lz_survey_zone, &s);
	if (r < 0) {
		ti->error = s.why ? s.why : "Zone report failed";
		return r;
	}
	if (!s.seq || s.cap == U64_MAX) {
		ti->error = "Drive has no sequential zones";
		return -EINVAL;
	}
	g->nr_zones = lt->nr_drive_zones - lt->nr_conv;
	g->zone_blocks = zone_sectors >> (LZ_BLOCK_SHIFT - SECTOR_SHIFT);
	g->zone_cap = min_t(u64, s.cap >> (LZ_BLOCK_SHIFT - SECTOR_SHIFT), g->zone_blocks);
	g->max_open = min_not_zero(bdev_max_open_zones(bdev), bdev_max_active_zones(bdev));
	lt->zone_shift = ilog2(g->zone_blocks);
	lt->seq_start = (sector_t)lt->nr_conv * zone_sectors;

	if (g->max_open && s.cap_max != (u64)g->zone_cap * LZ_BLOCK_SECTORS) {
		/* Written as far as we do, the larger ones would still count as open. */
		DMERR("%s: zone capacities of %llu to %llu sectors; must be equal, a multiple of 8",
		      lz_target_name(lt), s.cap, s.cap_max);
		ti->error = "Unsupported zone capacity";
		return -EINVAL;
	}
	if (g->max_open && g->max_open < LZ_MAX_OPEN_MIN) {
		DMERR("%s: drive allows %u open zones; at least %u are needed",
		      lz_target_name(lt), g->max_open, LZ_MAX_OPEN_MIN);
		ti->error = "Drive allows too few open zones";
		return -EINVAL;
	}
	if (g->max_open && lt->options.max_open > g->max_open) {
		DMERR("%s: max_open %u; the drive allows at most %u",
		      lz_target_name(lt), lt->options.max_open, g->max_open);
		ti->error = "Option max_open is above the drive's limit";
		return -EINVAL;
	}

	append = bdev_max_zone_append_sectors(bdev) >> (LZ_BLOCK_SHIFT - SECTOR_SHIFT);
	if (!append) {
		ti->error = "Drive cannot append a block of 4 KiB";
		return -EINVAL;
	}
	append = min_t(unsigned int, append, SZ_1G >> LZ_BLOCK_SHIFT);
	lt->max_append = append << LZ_BLOCK_SHIFT;
	/* Core's buffers are virtually contiguous: at worst a segment a page. */
	g->max_append = min3(append, (unsigned int)bdev_max_segments(bdev), BIO_MAX_VECS);
	return 0;
}

/* The superblock: is this a device of ours, and the one the table means? */
static int lz_read_super(struct lz_target *lt)
{
	struct dm_target *ti = lt->ti;
	const struct lz_geometry *g = &lt->geometry;
	struct lz_super_info *si = &lt->super;
	u64 sectors;
	int r;

	r = lz_probe(g, &lz_carry_ops, lt, si);
	lz_carry_quiesce(lt);
	if (r) {
		switch (r) {
		case -ENODEV:
			ti->error = "No lifezone format on the drive";
			break;
		case -EUCLEAN:
			ti->error = "Superblock is damaged";
			break;
		case -EPROTONOSUPPORT:
			ti->error = "Format version or feature is not supported";
			break;
		case -EINVAL:
			ti->error = "Drive is not the one that was formatted";
			break;
		case -ENOMEM:
			ti->error = "Cannot allocate superblock";
			break;
		default:
			ti->error = "Superblock cannot be read";
		}
		return r;
	}
	if (si->zone_cap < g->zone_cap && g->max_open) {
		/* As with zones of different capacities. */
		DMERR("%s: formatted for zones of capacity %u; the drive's have %u",
		      lz_target_name(lt), si->zone_cap, g->zone_cap);
		ti->error = "Drive is not the one that was formatted";
		return -EINVAL;
	}
	lt->geometry.nr_zones = si->nr_zones;
	lt->geometry.zone_cap = si->zone_cap;

	sectors = si->logical_blocks * LZ_BLOCK_SECTORS;
	if (ti->begin || ti->len != sectors) {
		DMERR("%s: table maps %llu sectors from %llu, the device has %llu from 0",
		      lz_target_name(lt), (u64)ti->len, (u64)ti->begin, sectors);
		ti->error = "Table must map exactly the formatted capacity";
		return -EINVAL;
	}
	return 0;
}

/**
 * struct lz_report - zones as lz_load() wants them
 * @lt: target
 * @z: its zones
 * @n: zones seen
 */
struct lz_report {
	struct lz_target *lt;
	struct lz_zone_report *z;
	u32 n;
};

static int lz_report_zone(struct blk_zone *z, unsigned int idx, void *data)
{
	struct lz_report *rep = data;
	struct lz_target *lt = rep->lt;
	u64 nr = div64_u64(z->start - lt->seq_start, bdev_zone_sectors(lt->bdev));
	struct lz_zone_report *r;

	if (lz_zone_is_runt(lt, z) || nr >= lt->geometry.nr_zones)
		return 0;
	r = &rep->z[nr];
	/* Of a zone that cannot be written it may be anything. */
	r->wp = lt->geometry.zone_cap;
	if (z->wp >= z->start && z->wp - z->start < z->len)
		r->wp = min_t(u64, DIV_ROUND_UP_ULL(z->wp - z->start, LZ_BLOCK_SECTORS), r->wp);
	switch (z->cond) {
	case BLK_ZONE_COND_EMPTY:
		r->cond = LZ_COND_EMPTY;
		r->wp = 0;
		break;
	case BLK_ZONE_COND_IMP_OPEN:
	case BLK_ZONE_COND_EXP_OPEN:
	case BLK_ZONE_COND_CLOSED:
		r->cond = LZ_COND_OPEN;
		r->torn = (z->wp - z->start) % LZ_BLOCK_SECTORS &&
			  !lz_planted(LZ_PLANT_SHELL_TORN_UNSEEN);
		break;
	case BLK_ZONE_COND_FULL:
		r->cond = LZ_COND_FULL;
		r->wp = lt->geometry.zone_cap;
		break;
	case BLK_ZONE_COND_READONLY:
		r->cond = LZ_COND_READONLY;
		break;
	case BLK_ZONE_COND_OFFLINE:
		r->cond = LZ_COND_OFFLINE;
		r->wp = 0;
		break;
	default:
		DMERR("%s: zone %llu is in unknown condition %u", lz_target_name(lt), nr, z->cond);
		return -EUCLEAN;
	}
	rep->n++;
	return 0;
}

static int lz_recover(struct lz_target *lt)
{
	struct lz_report rep = { .lt = lt };
	int r;

	rep.z = kvcalloc(lt->geometry.nr_zones, sizeof(*rep.z), GFP_KERNEL);
	if (!rep.z)
		return -ENOMEM;
	r = blkdev_report_zones(lt->bdev, lt->seq_start, lt->geometry.nr_zones,
				lz_report_zone, &rep);
	if (r >= 0 && rep.n != lt->geometry.nr_zones) {
		DMERR("%s: drive reported %u of %u zones", lz_target_name(lt), rep.n,
		      lt->geometry.nr_zones);
		r = -EIO;
	}
	if (r >= 0)
		r = lz_load(lt->lz, rep.z, lt->read_only &&
			    !lz_planted(LZ_PLANT_SHELL_READ_ONLY_WRITES) ? LZ_LOAD_RO : 0);
	kvfree(rep.z);
	return r;
}

/* --- life cycle -------------------------------------------------------------------- */

static void lz_users_gone(struct percpu_ref *ref)
{
	complete(&container_of(ref, struct lz_target, users)->drained);
}

static int lz_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct dm_arg_set as = { .argc = argc, .argv = argv };
	struct lz_target *lt;
	int r;

	if (!argc) {
		ti->error = "Device missing; arguments: DEV [#opts key value ...]";
		return -EINVAL;
	}
	lt = kzalloc(sizeof(*lt), GFP_KERNEL);
	if (!lt) {
		ti->error = "Cannot allocate target";
		return -ENOMEM;
	}
	lt->ti = ti;
	lt->read_only = !(dm_table_get_mode(ti->table) & BLK_OPEN_WRITE);
	mutex_init(&lt->life);
	spin_lock_init(&lt->opt_lock);
	spin_lock_init(&lt->event_lock);
	init_completion(&lt->drained);
	INIT_WORK(&lt->event_work, lz_event_work);

	r = dm_get_device(ti, dm_shift_arg(&as), dm_table_get_mode(ti->table), &lt->dev);
	if (r) {
		ti->error = r == -EBUSY ? "Device is in use" : "Cannot open device";
		goto no_dev;
	}
	lt->bdev = lt->dev->bdev;
	r = lz_parse_options(lt, &as);
	if (r)
		goto no_users;
	r = lz_survey_drive(lt);
	if (r)
		goto no_users;
	r = percpu_ref_init(&lt->users, lz_users_gone,
			    PERCPU_REF_ALLOW_REINIT | PERCPU_REF_INIT_DEAD, GFP_KERNEL);
	if (r) {
		ti->error = "Cannot allocate reference counter";
		goto no_users;
	}
	r = lz_carry_init(lt);
	if (r) {
		ti->error = "Cannot allocate bios, work queue and shrinker of the machine";
		goto no_carry;
	}
	r = lz_io_init(lt);
	if (r) {
		ti->error = "Cannot allocate bios and work queue of users";
		goto no_io;
	}
	r = lz_read_super(lt);
	if (r)
		goto no_super;
	lt->token = lz_token_get(lt->super.uuid);
	if (!lt->token) {
		ti->error = "Cannot allocate token";
		r = -ENOMEM;
		goto no_super;
	}
	lt->lz = lz_new(&lt->geometry, &lt->options, &lz_carry_ops, lt);
	if (!lt->lz) {
		ti->error = "Cannot allocate device";
		r = -ENOMEM;
		goto no_lz;
	}
	/* Now, as a resume would have to go without memory that others could give back. */
	r = lz_prepare(lt->lz, &lt->super, lt->read_only ? LZ_LOAD_RO : 0);
	if (r) {
		ti->error = r == -ENOMEM ? "Cannot allocate the memory the device needs" :
			"Drive does not suit the device";
		goto no_memory;
	}
	lt->sysfs = lz_sysfs_get(lt);
	if (!lt->sysfs) {
		ti->error = "Cannot allocate the sysfs folder";
		r = -ENOMEM;
		goto no_memory;
	}

	ti->private = lt;
	ti->num_flush_bios = 1;
	ti->flush_supported = true;
	ti->num_discard_bios = 1;
	ti->discards_supported = true;
	ti->num_write_zeroes_bios = 1;
	ti->accounts_remapped_io = true;
	ti->per_io_data_size = lz_io_data_size();
	return 0;

no_memory:
	lz_free_device(lt->lz);
no_lz:
	lz_token_put(lt->token);
no_super:
	lz_io_exit(lt);
no_io:
	lz_carry_exit(lt);
no_carry:
	percpu_ref_exit(&lt->users);
no_users:
	dm_put_device(ti, lt->dev);
no_dev:
	mutex_destroy(&lt->life);
	kfree(lt);
	return r;
}

static void lz_postsuspend(struct dm_target *ti);

static void lz_dtr(struct dm_target *ti)
{
	struct lz_target *lt = ti->private;

	/* dm suspends before it destroys. */
	if (WARN_ON_ONCE(lt->running))
		lz_postsuspend(ti);
	lz_sysfs_put(lt);
	lz_io_exit(lt);
	lz_carry_exit(lt);
	cancel_work_sync(&lt->event_work);
	if (lt->loaded)
		lz_hibernate_release();
	if (lt->lz)
		lz_free_device(lt->lz);
	lz_token_put(lt->token);
	percpu_ref_exit(&lt->users);
	dm_put_device(ti, lt->dev);
	mutex_destroy(&lt->life);
	kfree(lt);
}

/* Options change only while it is: not beneath a stop. */
static void lz_set_running(struct lz_target *lt, bool running)
{
	spin_lock(&lt->opt_lock);
	WRITE_ONCE(lt->running, running);
	spin_unlock(&lt->opt_lock);
}

static int lz_preresume(struct dm_target *ti)
{
	struct lz_target *lt = ti->private;
	unsigned int noio = memalloc_noio_save();
	int r = 0;

	lz_sysfs_appear(lt);
	mutex_lock(&lt->life);
	if (lt->running)
		goto out;
	/* Until it is removed. */
	if (!lt->loaded)
		r = lz_hibernate_hold();
	if (r) {
		DMERR("%s: not while the machine hibernates", lz_target_name(lt));
		goto out;
	}
	r = lz_token_take(lt);
	if (r == -EBUSY)
		DMERR("%s: %pg is in use by another mapped device (uuid %pUb)",
		      lz_target_name(lt), lt->bdev, lt->super.uuid);
	if (r == -ESTALE)
		DMERR("%s: another mapped device has used %pg meanwhile; load the table again",
		      lz_target_name(lt), lt->bdev);
	if (r)
		goto release;
	if (lt->loaded) {
		lz_start(lt->lz);
	} else {
		/* An earlier attempt may have failed halfway: begin anew. */
		if (!lt->lz)
			lt->lz = lz_new(&lt->geometry, &lt->options, &lz_carry_ops, lt);
		r = lt->lz ? lz_recover(lt) : -ENOMEM;
		if (r) {
			DMERR("%s: recovery of %pg failed: %pe; \"lifezone check\" says more",
			      lz_target_name(lt), lt->bdev, ERR_PTR(r));
			lz_carry_quiesce(lt);
			cancel_work_sync(&lt->event_work);
			/* What is told with the next event is not to be of this attempt. */
			lt->events = 0;
			if (lt->lz)
				lz_free_device(lt->lz);
			lt->lz = NULL;
			lz_token_release(lt);
			goto release;
		}
		/* Pairs with lz_target_loaded(). */
		smp_store_release(&lt->loaded, true);
	}
	reinit_completion(&lt->drained);
	percpu_ref_reinit(&lt->users);
	lz_set_running(lt, true);
	lz_carry_go(lt);
release:
	if (r && !lt->loaded)
		lz_hibernate_release();
out:
	mutex_unlock(&lt->life);
	memalloc_noio_restore(noio);
	return r;
}

static void lz_resume(struct dm_target *ti)
{
	lz_sysfs_switch(ti->private);
}

static void lz_presuspend(struct dm_target *ti)
{
	/* Under noflush what waits for space goes back to dm. */
	if (dm_noflush_suspending(ti))
		lz_io_retry(ti->private);
}

static void lz_postsuspend(struct dm_target *ti)
{
	struct lz_target *lt = ti->private;
	unsigned int noio = memalloc_noio_save();
	int r;

	mutex_lock(&lt->life);
	if (!lt->running)
		goto out;
	lz_set_running(lt, false);
	percpu_ref_kill(&lt->users);
	wait_for_completion(&lt->drained);

	/* Or the machine, which is waited for, might go on cleaning. */
	lz_stopping(lt->lz);
	lz_carry_halt(lt);
	r = lz_stop(lt->lz);
	if (r)
		DMERR("%s: orderly stop failed: %pe; the next start recovers from the journal",
		      lz_target_name(lt), ERR_PTR(r));
	lz_carry_quiesce(lt);
	lz_token_release(lt);
out:
	mutex_unlock(&lt->life);
	memalloc_noio_restore(noio);
}

/* --- limits -------------------------------------------------------------------------- */

static int lz_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	struct lz_target *lt = ti->private;

	/* Whole zones; dm takes nothing else of a zoned device. */
	return fn(ti, lt->dev, 0, (sector_t)lt->nr_drive_zones * bdev_zone_sectors(lt->bdev),
		  data);
}

static void lz_io_hints(struct dm_target *ti, struct queue_limits *limits)
{
	struct lz_target *lt = ti->private;
	unsigned int most = round_down(UINT_MAX >> SECTOR_SHIFT, LZ_BLOCK_SECTORS);

	lz_clear_zoned_limits(limits);
	limits->logical_block_size = LZ_BLOCK_SIZE;
	limits->physical_block_size = LZ_BLOCK_SIZE;
	limits->io_min = LZ_BLOCK_SIZE;
	/* What one append takes, within reason: read-ahead follows from it. */
	limits->io_opt = rounddown_pow_of_two(min(lt->max_append, SZ_512K));
	limits->discard_granularity = LZ_BLOCK_SIZE;
	limits->discard_alignment = 0;
	limits->max_hw_discard_sectors = most;
	lz_set_write_zeroes(limits, most);
	/* Polling would look for our bios at dm's queue. */
	limits->features &= ~BLK_FEAT_POLL;
	limits->features |= BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA;
}

/*
 * 1.0.0	first version
 */
static struct target_type lifezone_target = {
	.name			= "lifezone",
	.version		= { 1, 0, 0 },
	.features		= DM_TARGET_SINGLETON | DM_TARGET_MIXED_ZONED_MODEL |
				  DM_TARGET_NOWAIT,
	.module			= THIS_MODULE,
	.ctr			= lz_ctr,
	.dtr			= lz_dtr,
	.map			= lz_io_map,
	.end_io			= lz_io_end,
	.preresume		= lz_preresume,
	.resume			= lz_resume,
	.presuspend		= lz_presuspend,
	.postsuspend		= lz_postsuspend,
	.status			= lz_status,
	.message		= lz_message,
	.iterate_devices	= lz_iterate_devices,
	.io_hints		= lz_io_hints,
};

static int __init lz_module_init(void)
{
	int r = lz_hibernate_init();

	if (r)
		return r;
	r = dm_register_target(&lifezone_target);
	if (r)
		lz_hibernate_exit();
	return r;
}
module_init(lz_module_init);

static void __exit lz_module_exit(void)
{
	dm_unregister_target(&lifezone_target);
	lz_hibernate_exit();
}
module_exit(lz_module_exit);

#ifdef LZ_PLANTS
int lz_plant;
module_param_named(plant, lz_plant, int, 0644);
MODULE_PARM_DESC(plant, "which of core/plants.h's bugs it has");
#endif

MODULE_DESCRIPTION(DM_NAME " target for zoned drives, placing writes by lifetime");
MODULE_AUTHOR("The dm-lifezone authors");
MODULE_LICENSE("GPL");
MODULE_SOFTDEP("pre: crc32c");
