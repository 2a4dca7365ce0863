/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel shell around core: what waits or touches a bio.
 *
 * target.c	dm glue: arguments, checks of the drive, life cycle
 * status.c	what dmsetup shows
 * message.c	messages
 * hibernate.c	no hibernation beneath a device
 * io.c		bios of users
 * carry.c	carries out the commands of core's machine, and runs the machine
 * sysfs.c	/sys/block/dm-N/lifezone
 * trace.c	tracepoints
 *
 * Locks of the shell, outer first; core's own locks are inside all of them:
 *
 *	lz_folders_lock		folders come and go (sysfs.c); no resume but a disk's first
 *	lz_target.life		load and stop
 *	  lz_hibernate_lock	how many are active (hibernate.c)
 *	  lz_tokens_lock	who writes which device (target.c)
 *	  lz_target.machine_lock  one lz_run() of the machine's work at a time, and @sync
 *	lz_target.wait_lock	lists of bios that wait (any context)
 *	lz_target.opt_lock	options, and whether they may change
 *	lz_target.event_lock	events that the worker has yet to tell
 *
 * status and sysfs take only opt_lock, so they answer during suspend, recovery
 * and stop.
 */
#ifndef LIFEZONE_SHELL_H
#define LIFEZONE_SHELL_H

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/device-mapper.h>
#include <linux/kobject.h>
#include <linux/mutex.h>
#include <linux/percpu-refcount.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "core/core.h"
#include "core/plant.h"

#define DM_MSG_PREFIX "lifezone"

struct lz_bio;
struct lz_sysfs;
struct lz_token;

#define LZ_WHY_SIZE		160
#define LZ_VALUE_SIZE		32

/* Appends of one part of a write that may fail before its bio does. */
#define LZ_MAX_TRIES		3

/* Bits of lz_target.events */
enum lz_event_bit {
	LZ_EVB_MODE,
	LZ_EVB_LOW_SPACE,
	LZ_EVB_ZONE_ASIDE,
	LZ_EVB_TRIM,
};

/**
 * struct lz_target - one instance of the target
 * @lz: core's device; dereferenced only where @loaded is known to be set, or
 *	by who holds @life
 * @bdev: the drive
 * @seq_start: first sector of the first sequential zone
 * @zone_shift: log2 of the zone size (blocks)
 * @max_append: longest append to the drive (bytes)
 * @users: one reference for each user bio between .map and .end_io, and for each message until it
 *	is answered; dead while suspended
 * @write_parts: parts of writes after a bio's first
 * @read_parts: parts of reads that are not one run, or waited for the map
 * @io_wq: runs @io_work
 * @io_work: gives waiting bios another try
 * @wait_lock: guards the lists after it
 * @waiting: parts of writes that wait for space, in order, linked by their own bios
 * @discards: likewise of discards, which may wait for a checkpoint of which writes have no need
 * @ready: reads whose map leaf has come
 * @busy: parts for which the drive was too busy, linked like @waiting
 * @busy_work: sends these again
 * @busy_wq: runs @busy_work
 * @machine_wq: runs @machine
 * @machine: one lz_run()
 * @machine_timer: queues @machine at the time lz_run() is wanted
 * @machine_lock: held over lz_run() by @machine; guards @sync. Bios of users end under it, where
 *	core answers who waits: what they call then may be called by interrupts, so it does not
 *	sleep, and nobody who sends or ends a bio takes this lock
 * @sync: it does not run, core is being loaded or stopped by who holds @life
 * @shrinker: has it give memory back
 * @core_bios: bios of core's commands
 * @carrying: commands that are being carried out, and one more but in lz_carry_quiesce()
 * @quiet: it has gone to zero
 * @ended: a command has ended since ops->wait was last called
 * @wait: where ops->wait waits for that
 * @ti: dm's side of us
 * @dev: reference to the drive
 * @geometry: the drive, for core
 * @super: its superblock
 * @nr_drive_zones: zones of full size, conventional ones included (zones)
 * @nr_conv: of these, conventional zones at the start (zones)
 * @token: who may write this device
 * @life: serialises .preresume and .postsuspend
 * @read_only: read-only table: never write to the drive
 * @loaded: recovery is done; set once, by smp_store_release(); it holds hibernation off from then
 *	on
 * @running: loaded and not stopped (@life and @opt_lock)
 * @drained: @users has gone to zero
 * @opt_lock: guards @options, which change only while @running
 * @options: as given and as changed since
 * @given: bit n: option n was in the table line
 * @event_lock: guards @events, @aside and @trim_gain
 * @events: bits of enum lz_event_bit
 * @trim_gain: blocks that discards last asked for may free
 * @trim_next: when udev may be told again (jiffies, 64 bits; @event_work)
 * @aside: zone last set aside
 * @event_work: tells user space of them
 * @sysfs: the folder of its disk in sysfs
 */
struct lz_target {
	/* read by every bio */
	struct lz *lz;
	struct block_device *bdev;
	sector_t seq_start;
	u8 zone_shift;
	unsigned int max_append;
	struct percpu_ref users;
	struct bio_set write_parts;
	struct bio_set read_parts;

	/* bios that wait */
	struct workqueue_struct *io_wq;
	struct work_struct io_work;
	spinlock_t wait_lock ____cacheline_aligned_in_smp;
	struct bio_list waiting;
	struct bio_list discards;
	struct bio_list ready;
	struct bio_list busy;
	struct work_struct busy_work;
	struct workqueue_struct *busy_wq;

	/* the machine */
	struct mutex machine_lock;
	struct workqueue_struct *machine_wq;
	struct work_struct machine;
	struct timer_list machine_timer;
	bool sync;
	struct shrinker *shrinker;
	struct bio_set core_bios;
	atomic_t carrying;
	struct completion quiet;
	atomic_t ended;
	wait_queue_head_t wait;

	/* life cycle */
	struct mutex life;
	struct dm_target *ti;
	struct dm_dev *dev;
	struct lz_geometry geometry;
	struct lz_super_info super;
	u32 nr_drive_zones;
	u32 nr_conv;
	struct lz_token *token;
	bool read_only;
	bool loaded;
	bool running;
	struct completion drained;

	/* options */
	spinlock_t opt_lock;
	struct lz_options options;
	unsigned long given;

	/* reporting */
	spinlock_t event_lock;
	unsigned long events;
	u64 trim_gain;
	u64 trim_next;
	u32 aside;
	struct work_struct event_work;
	struct lz_sysfs *sysfs;
};

/* Drive addresses of core are blocks from the first sequential zone. */
static inline sector_t lz_addr_sector(const struct lz_target *lt, u64 addr)
{
	return lt->seq_start + (addr << (LZ_BLOCK_SHIFT - SECTOR_SHIFT));
}

void lz_carry_askew(struct lz_target *lt, sector_t sector);

/* The block an append landed at. False: it landed within one, and that has been said. */
static inline bool lz_landed_addr(struct lz_target *lt, sector_t sector, u64 *addr)
{
	*addr = (sector - lt->seq_start) >> (LZ_BLOCK_SHIFT - SECTOR_SHIFT);
	if (likely(lz_addr_sector(lt, *addr) == sector))
		return true;
	lz_carry_askew(lt, sector);
	return false;
}

static inline sector_t lz_zone_sector(const struct lz_target *lt, u32 zone)
{
	return lz_addr_sector(lt, (u64)zone << lt->zone_shift);
}

static inline const char *lz_target_name(const struct lz_target *lt)
{
	return dm_table_device_name(lt->ti->table);
}

static inline bool lz_target_loaded(const struct lz_target *lt)
{
	/* Pairs with the release at the end of recovery: all of core is there. */
	return smp_load_acquire(&lt->loaded);
}

/* io.c */
int lz_io_init(struct lz_target *lt);
void lz_io_exit(struct lz_target *lt);
void lz_io_retry(struct lz_target *lt);
int lz_io_map(struct dm_target *ti, struct bio *bio);
int lz_io_end(struct dm_target *ti, struct bio *bio, blk_status_t *error);
unsigned int lz_io_data_size(void);

/* carry.c */
extern const struct lz_ops lz_carry_ops;
int lz_carry_init(struct lz_target *lt);
void lz_carry_exit(struct lz_target *lt);
void lz_carry_halt(struct lz_target *lt);
void lz_carry_go(struct lz_target *lt);
void lz_carry_quiesce(struct lz_target *lt);

/* hibernate.c */
int lz_hibernate_init(void);
void lz_hibernate_exit(void);
int lz_hibernate_hold(void);
void lz_hibernate_release(void);

/* target.c */
extern const char *const lz_mode_names[];
void lz_target_event(struct lz_target *lt, enum lz_event ev, u64 arg);
struct lz_options lz_options_now(struct lz_target *lt);
int lz_target_set_option(struct lz_target *lt, const char *key,
			 const char *value, char *why, size_t why_size);
bool lz_target_get_option(struct lz_target *lt, const char *key, char *value,
			  size_t size);

/* status.c */
int lz_format_amplification(struct lz *lz, char *buf, size_t size);
void lz_status(struct dm_target *ti, status_type_t type, unsigned int flags,
	       char *result, unsigned int maxlen);

/* message.c */
int lz_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
	       unsigned int maxlen);

/* sysfs.c */
struct lz_sysfs *lz_sysfs_get(struct lz_target *lt);
void lz_sysfs_appear(struct lz_target *lt);
void lz_sysfs_switch(struct lz_target *lt);
void lz_sysfs_put(struct lz_target *lt);

/* trace.c */
void lz_trace_emit(void *ctx, const struct lz_trace *t);
bool lz_trace_wanted(void *ctx, u8 what);

#endif /* LIFEZONE_SHELL_H */
