/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface of core: what the module, the tool, the simulator and the
 * tests call, and what they provide.
 *
 * Two paths. The data path (lz_write_*, lz_read_*, lz_discard) may be called
 * from any context, many at a time; it takes only short spinlocks. The machine
 * (lz_run) runs in one context at a time; it decides all ordering - commits,
 * checkpoints, GC, resets - by giving out commands and taking in completions.
 *
 * Units: blocks of 4 KiB unless said. lba: logical block. addr: drive address
 * in blocks from the first sequential zone.
 */
#ifndef LIFEZONE_CORE_H
#define LIFEZONE_CORE_H

#include "policy.h"

struct lz;

/**
 * struct lz_geometry - the drive
 * @nr_zones: sequential zones of full size (zones)
 * @zone_blocks: size of a zone (blocks, a power of two)
 * @zone_cap: capacity of a zone (blocks), the least of all zones
 * @max_open: smaller non-zero of the open and active limits (zones), 0: none
 * @max_append: longest append or write command (blocks)
 */
struct lz_geometry {
	u32 nr_zones;
	u32 zone_blocks;
	u32 zone_cap;
	u32 max_open;
	u32 max_append;
};

/* Condition of a zone as the drive reports it. */
enum lz_zone_cond {
	LZ_COND_EMPTY,
	LZ_COND_OPEN,		/* open or closed: counts as active */
	LZ_COND_FULL,
	LZ_COND_READONLY,
	LZ_COND_OFFLINE,
};

/**
 * struct lz_zone_report - one zone as the drive reports it
 * @wp: write pointer (blocks from the zone's start), rounded up; the capacity
 *	when full, and anything when read-only
 * @cond: enum lz_zone_cond
 * @torn: the write pointer is within a block, so that nothing more fits the zone
 */
struct lz_zone_report {
	u32 wp;
	u8 cond;
	bool torn;
};

/* lz_report_written - blocks that may hold something, of a zone of capacity @cap */
static inline u32 lz_report_written(const struct lz_zone_report *rep, u32 cap)
{
	return rep->cond == LZ_COND_FULL || rep->cond == LZ_COND_READONLY || rep->wp > cap ?
	       cap : rep->wp;
}

/* lz_zone_dead - can nothing be written to it any more? */
static inline bool lz_zone_dead(const struct lz_zone_report *rep)
{
	return rep->cond == LZ_COND_READONLY || rep->cond == LZ_COND_OFFLINE;
}

enum lz_op {
	LZ_OP_READ,
	LZ_OP_WRITE,		/* at the write pointer; @addr is where */
	LZ_OP_APPEND,		/* @addr: start of the zone; lands at @result */
	LZ_OP_RESET,		/* zone that starts at @addr */
	LZ_OP_FINISH,
	LZ_OP_FLUSH,
};

#define LZ_CMD_BLOCKS	128u	/* the longest command */

#define LZ_CMD_PREFLUSH	0x1u	/* make all completed writes durable first */
#define LZ_CMD_FUA	0x2u	/* and this one with it */

/**
 * struct lz_cmd - a command to the drive
 * @list: for whoever has it
 * @op: enum lz_op
 * @flags: LZ_CMD_*
 * @class: lifetime class of the data, to be passed down as write hint
 * @meta: metadata of ours
 * @tries: times it has failed
 * @addr: drive address (blocks)
 * @nblocks: length (blocks), at most LZ_CMD_BLOCKS
 * @buf: page-aligned, @nblocks long
 * @error: 0 or a negative errno, set by the carrier
 * @result: where an append landed (drive address), set by the carrier
 * @done: called by the machine once the carrier has said lz_cmd_done()
 * @priv: the caller's
 * @arg: the caller's
 * @lz: the device it is for; a host knows none while formatting or probing
 */
struct lz_cmd {
	struct list_head list;
	u8 op;
	u8 flags;
	u8 class;
	bool meta;
	u8 tries;
	u64 addr;
	u32 nblocks;
	int error;
	u64 result;
	void *buf;
	void (*done)(struct lz *lz, struct lz_cmd *cmd);
	void *priv;
	u64 arg;
	struct lz *lz;
};

/* Ordered: a device only ever moves to a later one. */
enum lz_mode { LZ_MODE_RW, LZ_MODE_RO, LZ_MODE_FAIL };

enum lz_event {
	LZ_EV_MODE,		/* the mode changed */
	LZ_EV_LOW_SPACE,	/* free zones fell below the low-water mark */
	LZ_EV_ZONE_ASIDE,	/* a zone was set aside; @arg is the zone */
	LZ_EV_TRIM,		/* discards are wanted; @arg is how many blocks they may free */
};

enum lz_trace_what {
	LZ_TR_ZONE_STATE,	/* old, new: enum lz_zone_state; a: valid, b: generation */
	LZ_TR_PLACE_ZONE,	/* old: 1 if GC's; a: room, b: valid, c: age (blocks) */
	LZ_TR_PLACE,		/* new: enum lz_verdict; old: 1 if GC; a: open, b: free zones; */
				/* c: of these, such data may open; d: LZ_PLACE_IS_...; */
				/* e: age of the last end of a run (blocks), or LZ_NEVER */
	LZ_TR_VICTIM_ZONE,	/* a candidate: a: valid, b: age (blocks), c: s64 rate, */
				/* d: written */
	LZ_TR_VICTIM,		/* a: valid blocks, b: age (blocks), c: candidates, */
				/* d: free zones, e: zones that data does not fill */
	LZ_TR_RESET,		/* without valid data: old: enum lz_zone_state; new: 1 if due; */
				/* a: 1 if it may have been left alone (lz_reset_alone()); */
				/* b: 1 if GC has chosen it */
	LZ_TR_COMMIT,		/* a: commit number, b: journal blocks */
	LZ_TR_CHECKPOINT,	/* old: 0 begins, 1 ends; a: number, b: nodes written */
};

/**
 * struct lz_trace - one traced decision or state change, for tracepoints
 * @what: enum lz_trace_what
 * @class: lifetime class
 * @old: earlier state or choice
 * @new: later state or choice
 * @zone: zone
 * @a: first input of the decision (as the kind says)
 * @b: second
 * @c: third
 * @d: fourth
 * @e: fifth
 */
struct lz_trace {
	u8 what;
	u8 class;
	u8 old;
	u8 new;
	u32 zone;
	u64 a;
	u64 b;
	u64 c;
	u64 d;
	u64 e;
};

#define LZ_PLACE_IS_RESERVE	0x1u	/* users keep out of GC's zones */
#define LZ_PLACE_IS_HELD	0x2u	/* no zone is opened before the next commit */
#define LZ_PLACE_IS_CLOSING	0x4u	/* an open zone is about to make room for another */
#define LZ_PLACE_IS_SLOW	0x8u	/* a finish takes long, so no other is begun */

/**
 * struct lz_ops - what core's host provides
 * @submit: start a command; the host calls lz_cmd_done() when it ends, from
 *	any context, even from within. Never fails, never blocks on core.
 * @kick: lz_run() is wanted soon. From any context, cheap.
 * @kick_later: lz_run() is wanted in @ms from now (ms). From any context.
 * @wait: block until at least one command has ended since the last call; only
 *	called from lz_load(), lz_stop(), lz_format(), lz_probe() and lz_check()
 * @resume: requests that got -EAGAIN from lz_write_begin() or lz_discard() may be tried again
 * @now: a clock (ns)
 * @event: something an operator wants to know
 * @trace: a decision was taken; may be NULL
 * @traced: does anybody want to know of that kind? NULL: of none that is asked for
 * @say: one line for the log; level 'f' the mode gets worse, which must not be left out
 *	among many lines, 'e' error, 'w' warning, 'i' information
 */
struct lz_ops {
	void (*submit)(void *ctx, struct lz_cmd *cmd);
	void (*kick)(void *ctx);
	void (*kick_later)(void *ctx, u32 ms);
	void (*wait)(void *ctx);
	void (*resume)(void *ctx);
	u64 (*now)(void *ctx);
	void (*event)(void *ctx, enum lz_event ev, u64 arg);
	void (*trace)(void *ctx, const struct lz_trace *t);
	bool (*traced)(void *ctx, u8 what);
	void (*say)(void *ctx, char level, const char *line);
};

/**
 * struct lz_waiter - called once when what it waits for is there
 * @list: core's while it waits
 * @arg: core's while it waits
 * @fn: called in the machine's context; @err 0 or a negative errno
 */
struct lz_waiter {
	struct list_head list;
	u64 arg;
	void (*fn)(struct lz_waiter *w, int err);
};

/* Cumulative counters; kept over reloads in the root, in this order. */
enum lz_stat {
	LZ_ST_USER_WRITES,	/* blocks written by users */
	LZ_ST_USER_READS,	/* blocks read by users */
	LZ_ST_DISCARDS,		/* blocks discarded by users */
	LZ_ST_FLUSHES,		/* flush and FUA requests, and messages to commit */
	LZ_ST_GC_COPIES,	/* blocks copied by GC */
	LZ_ST_GC_LOST,		/* of these, overwritten or discarded while being copied */
	LZ_ST_GC_VICTIMS,	/* zones GC began to clean */
	LZ_ST_SUMMARY_BLOCKS,
	LZ_ST_JOURNAL_BLOCKS,
	LZ_ST_NODE_BLOCKS,
	LZ_ST_ROOT_BLOCKS,
	LZ_ST_COMMITS,
	LZ_ST_CHECKPOINTS,
	LZ_ST_ROOT_ROLLS,
	LZ_ST_JOURNAL_ROLLS,
	LZ_ST_META_CLEANS,	/* metadata zones cleaned */
	LZ_ST_LEAF_READS,	/* map leaves read from the drive */
	LZ_ST_RESETS_USER,	/* zones reset that overwrites or discards emptied */
	LZ_ST_RESETS_GC,	/* zones reset that GC emptied */
	LZ_ST_RESETS_META,
	LZ_ST_RESETS_STALE,	/* found written at load, but in use by nobody */
	LZ_ST_FINISHES_MISMATCH,
	LZ_ST_FINISHES_LOAD,	/* at load: left open by a cut or error, or beyond the budget */
	LZ_ST_FALLBACKS,	/* placements that had to take another class's zone */
	LZ_ST_STALLS,		/* times users' writes or discards had to wait for room */
	LZ_ST_STALL_NS,
	LZ_ST_ZONES_ASIDE,	/* zones set aside after an error */
	LZ_ST_CLASS_WRITES,	/* blocks written by users, a counter a class */
	LZ_ST_CLASS_COPIES	= LZ_ST_CLASS_WRITES + LZ_NR_CLASSES,
	LZ_ST_CLASS_RESETS	= LZ_ST_CLASS_COPIES + LZ_NR_CLASSES,
	LZ_ST_CLASS_OPENS	= LZ_ST_CLASS_RESETS + LZ_NR_CLASSES,
	LZ_ST_GROUP_WRITES	= LZ_ST_CLASS_OPENS + LZ_NR_CLASSES,	/* the same, a group */
	LZ_ST_GROUP_COPIES	= LZ_ST_GROUP_WRITES + LZ_NR_GROUPS,
	LZ_ST_GROUP_RESETS	= LZ_ST_GROUP_COPIES + LZ_NR_GROUPS,
	LZ_ST_GROUP_OPENS	= LZ_ST_GROUP_RESETS + LZ_NR_GROUPS,
	LZ_ST_TRIMS_WANTED	= LZ_ST_GROUP_OPENS + LZ_NR_GROUPS,	/* times it asked */
	LZ_NR_STATS,
};

/* The counter of @class, which may be a group, that LZ_ST_CLASS_... @of is the first of. */
static inline enum lz_stat lz_class_stat(enum lz_stat of, u8 class)
{
	u32 kind = (of - LZ_ST_CLASS_WRITES) / LZ_NR_CLASSES;

	if (lz_is_group(class))
		return LZ_ST_GROUP_WRITES + kind * LZ_NR_GROUPS + class - LZ_CLASS_GROUP;
	return of + class;
}

static_assert(LZ_NR_STATS <= LZ_ROOT_STATS, "counters fit in the root");
/* Names of the counters before LZ_ST_CLASS_WRITES, lower_snake. */
extern const char *const lz_stat_names[LZ_ST_CLASS_WRITES];

u64 lz_stat(struct lz *lz, enum lz_stat st);

/**
 * struct lz_info - a snapshot of the device's state
 * @mode: enum lz_mode
 * @logical_blocks: exported capacity (blocks)
 * @mapped: logical blocks mapped (blocks); may lag behind overwrites not yet settled
 * @free_zones: zones data may still open (zones)
 * @low_water: an event is raised below this (zones)
 * @zones: zones by enum lz_zone_state
 * @class_zones: data zones by class or group
 * @class_open: zone a class or group writes to now, or ~0
 * @budget: zone budget (zones)
 * @open: zones that count against it (zones)
 * @checkpoint: number of the last durable checkpoint
 * @commit: number of the last durable commit
 * @uncommitted: map updates not yet in the journal
 * @delta_used: map updates since the last checkpoint
 * @delta_cap: and how many fit
 * @leaves: map leaves when every block is mapped
 * @leaves_cached: of these, in RAM
 * @leaves_max: and how many may be, as far as others need no memory
 * @trim_gain: blocks by which the mapped ones are more than at their fewest since the
 *	device last asked for discards (blocks)
 * @trim_copied: blocks GC copied since then
 */
struct lz_info {
	u8 mode;
	u64 logical_blocks;
	u64 mapped;
	u32 free_zones;
	u32 low_water;
	u32 zones[LZ_NR_ZONE_STATES];
	u32 class_zones[LZ_NR_ZONE_CLASSES];
	u32 class_open[LZ_NR_ZONE_CLASSES];
	u32 budget;
	u32 open;
	u64 checkpoint;
	u64 commit;
	u64 uncommitted;
	u32 delta_used;
	u32 delta_cap;
	u64 leaves;
	u32 leaves_cached;
	u32 leaves_max;
	u64 trim_gain;
	u64 trim_copied;
};

void lz_get_info(struct lz *lz, struct lz_info *info);

/* What the machine is in the middle of; for tests and status. */
#define LZ_PH_COMMIT		0x01u
#define LZ_PH_CHECKPOINT	0x02u
#define LZ_PH_ROOT_ROLL		0x04u
#define LZ_PH_JOURNAL_ROLL	0x08u
#define LZ_PH_META_CLEAN	0x10u
#define LZ_PH_GC		0x20u
#define LZ_PH_RESET		0x40u
#define LZ_PH_LOAD		0x80u
u32 lz_phase(struct lz *lz);

/**
 * struct lz_super_info - a superblock, decoded
 * @uuid: of the device
 * @label: its name, UTF-8, 0 at the end
 * @version: of the on-disk format
 * @compat: features that may be ignored
 * @compat_ro: features without which it may only be read
 * @incompat: features without which it must be left alone
 * @nr_zones: zones that it uses (zones)
 * @zone_blocks: distance of their starts (blocks)
 * @zone_cap: capacity of each (blocks)
 * @meta_zones: zones reserved for the metadata log (zones)
 * @gc_zones: zones reserved for GC (zones)
 * @spare_permille: part of the data zones kept back
 * @logical_blocks: size of the device (blocks)
 * @created: when it was formatted (s since 1970)
 */
struct lz_super_info {
	u8 uuid[LZ_UUID_SIZE];
	char label[LZ_LABEL_SIZE + 1];
	u32 version;
	u32 compat;
	u32 compat_ro;
	u32 incompat;
	u32 nr_zones;
	u32 zone_blocks;
	u32 zone_cap;
	u32 meta_zones;
	u32 gc_zones;
	u32 spare_permille;
	u64 logical_blocks;
	u64 created;
};

/* --- life cycle: process context, may block ---------------------------------- */

#define LZ_SPARE_DEFAULT	100u	/* permille of the data zones */
#define LZ_SPARE_MIN		20u
#define LZ_SPARE_MAX		900u

/*
 * lz_layout - capacity and reserves of a drive: fills @si's geometry fields
 * from @g and si->spare_permille. -EINVAL with one line in @why where the drive
 * is too small or out of limits.
 */
int lz_layout(const struct lz_geometry *g, struct lz_super_info *si, char *why, size_t n);

/*
 * lz_layout_least - the same with the least that must be kept back for metadata, and so
 * the most that may be promised. Of large drives lz_layout() keeps back more.
 */
int lz_layout_least(const struct lz_geometry *g, struct lz_super_info *si, char *why, size_t n);

/* lz_layout_dead - the same where @dead zones, but not the first two, cannot be written. */
int lz_layout_dead(const struct lz_geometry *g, struct lz_super_info *si, u32 dead, char *why,
		   size_t n);

/*
 * lz_format - make an empty device of a drive whose zones have all been reset, but for
 * those that @rep says are read-only or offline: they are set aside. NULL: none is.
 */
int lz_format(const struct lz_geometry *g, const struct lz_super_info *si,
	      const struct lz_zone_report *rep, const struct lz_ops *ops, void *ctx);

/*
 * lz_probe - read the superblock, from either root zone. -ENODEV: none there;
 * -EUCLEAN: damaged; -EPROTONOSUPPORT: of an incompatible version. Says why
 * through ops->say.
 */
int lz_probe(const struct lz_geometry *g, const struct lz_ops *ops, void *ctx,
	     struct lz_super_info *si);

struct lz *lz_new(const struct lz_geometry *g, const struct lz_options *o,
		  const struct lz_ops *ops, void *ctx);

#define LZ_LOAD_RO	0x1u	/* recover in RAM only, never write */
/*
 * lz_prepare - have all the memory that a load with @flags of the device @si takes for as
 * long as it is there. Reads nothing. lz_load() does it itself if nobody has. 0; -ENOMEM;
 * -EINVAL: the drive does not suit it, and that has been said.
 */
int lz_prepare(struct lz *lz, const struct lz_super_info *si, u32 flags);
/*
 * lz_load - recover: find the newest root, replay the journal, bring the zones
 * in line, write a fresh checkpoint. @z: one report per zone, changed with the
 * zones. After it, users may come. Cut at any point, it does no harm and can be run again.
 * Errors: as lz_probe(); -EUCLEAN: metadata or zones are not as they must be
 * (a line says which); -EINVAL: the drive does not suit it; -ESTALE: it is not the device
 * that was prepared for; -ENOSPC: no zone for the first checkpoint; -EOVERFLOW: it counts too
 * far to be written; -ENOMEM; -EIO.
 */
int lz_load(struct lz *lz, struct lz_zone_report *z, u32 flags);
/*
 * lz_stop - no GC, everything committed, clean checkpoint written, nothing in
 * flight any more. The caller has drained its own requests. lz_start() undoes it.
 * -EIO: the device has failed; what was not flushed before may be lost.
 */
int lz_stop(struct lz *lz);
/* lz_stopping - lz_stop() is next: GC comes to an end. Any context. */
void lz_stopping(struct lz *lz);
void lz_start(struct lz *lz);
void lz_free_device(struct lz *lz);

/* --- the machine ------------------------------------------------------------- */

/* lz_cmd_done - @cmd has ended; cmd->error and cmd->result are set. Any context. */
void lz_cmd_done(struct lz *lz, struct lz_cmd *cmd);
/* lz_run - take in completions, decide, give out commands. One context at a time. */
void lz_run(struct lz *lz);

/* --- the data path: any context, never blocks ---------------------------------- */

/**
 * struct lz_write - space reserved for a write
 * @zone: in this zone
 * @nblocks: that many blocks
 * @from: offset before which they cannot land (blocks)
 * @class: lifetime class they come with
 * @as: and zone class that they go by
 */
struct lz_write {
	u32 zone;
	u32 nblocks;
	u32 from;
	u8 class;
	u8 as;
};

/*
 * lz_write_begin - reserve space and map updates for up to @want blocks of
 * lifetime class @class from @lba on. 0: @w->nblocks (1..want) may be appended to zone
 * @w->zone with one command. -EAGAIN: wait for ops->resume. -ENOSPC: so many zones are
 * set aside that none would come. -EROFS, -EIO: the device's mode forbids it.
 */
int lz_write_begin(struct lz *lz, u8 class, u64 lba, u32 want, struct lz_write *w);
/*
 * lz_write_end - the whole reservation landed at drive address @addr; map it. -EIO: it
 * cannot have landed there unless someone else changed the zone, and has failed.
 */
int __must_check lz_write_end(struct lz *lz, const struct lz_write *w, u64 addr, u64 lba);
/* lz_write_fail - the append failed: the zone is set aside; write elsewhere. */
void lz_write_fail(struct lz *lz, const struct lz_write *w, int error);

/**
 * struct lz_read - a run of blocks to read
 * @addr: drive address, or LZ_NOWHERE: these blocks read as zeros
 * @nblocks: length of the run (blocks)
 * @leaf: map leaf to wait for, on -EAGAIN
 */
struct lz_read {
	u64 addr;
	u32 nblocks;
	u64 leaf;
};

/*
 * lz_read_begin - where the first blocks of @lba.. (at most @want) lie; they
 * stay there until lz_read_end() (only to be called where addr is not LZ_NOWHERE).
 * -EAGAIN: the map leaf is not in RAM, see lz_leaf_wait(). -EIO: metadata or
 * zone cannot be read.
 */
int lz_read_begin(struct lz *lz, u64 lba, u32 want, struct lz_read *r);
void lz_read_end(struct lz *lz, const struct lz_read *r);
/* lz_read_cancel - the same for a run that was not read, and so does not count. */
void lz_read_cancel(struct lz *lz, const struct lz_read *r);
/* lz_leaf_wait - have @leaf read; w->fn is called when it is there or cannot be. */
void lz_leaf_wait(struct lz *lz, u64 leaf, struct lz_waiter *w);

/*
 * lz_discard - unmap; at once visible, durable after the next flush. -EAGAIN:
 * wait for ops->resume.
 */
int lz_discard(struct lz *lz, u64 lba, u64 nblocks);

/*
 * lz_flush - w->fn is called once all that had completed or been discarded
 * before is durable.
 */
void lz_flush(struct lz *lz, struct lz_waiter *w);

/*
 * lz_prepare_options - get ready for a live change to @o. May sleep. 0 or -ENOMEM, then
 * with one line for the user in @why.
 */
int lz_prepare_options(struct lz *lz, const struct lz_options *o, char *why, size_t why_size);
/* lz_set_options - live change to what was prepared for; max_open is left as it was. */
void lz_set_options(struct lz *lz, const struct lz_options *o);
void lz_get_options(struct lz *lz, struct lz_options *o);

/*
 * lz_cache_count - map leaves in RAM that could be dropped, but for those that
 * lz_cache_shrink() asked for already; 0 while it is stopped. Once loaded, any context.
 */
u32 lz_cache_count(struct lz *lz);
/*
 * lz_cache_shrink - memory is wanted: have the machine look at the @n leaves that it has not
 * looked at for longest, and drop those not used since. Once loaded, any context; takes no lock.
 */
void lz_cache_shrink(struct lz *lz, u32 n);

/* lz_request_gc - clean @zones zones worth it, however much is free already. */
void lz_request_gc(struct lz *lz, u32 zones);
/* lz_request_checkpoint - @w is called when a checkpoint begun after this is durable. */
void lz_request_checkpoint(struct lz *lz, struct lz_waiter *w);

/* --- checking ------------------------------------------------------------------ */

/**
 * struct lz_check_report - what lz_check() found
 * @errors: violated invariants
 * @unreadable: of these, what the drive has lost and no repair brings back
 * @nodes: metadata nodes read
 * @mapped: blocks mapped
 * @say: called with one line for each finding; may be NULL
 * @ctx: for @say
 */
struct lz_check_report {
	u64 errors;
	u64 unreadable;
	u64 nodes;
	u64 mapped;
	void (*say)(void *ctx, const char *line);
	void *ctx;
};

/*
 * lz_check - read all metadata of a device loaded with LZ_LOAD_RO and verify
 * what can be verified offline. 0 (see @r->errors), or -EIO, -ENOMEM.
 */
int lz_check(struct lz *lz, struct lz_check_report *r);

#endif /* LIFEZONE_CORE_H */
