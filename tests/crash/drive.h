/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A zoned drive with a volatile write cache, as a model.
 *
 * A command passes three points: submitted, executed (it takes effect),
 * completed (its owner hears of it). Which command moves on next is drawn from
 * the seed. What a rule of zoned drives or of the block layer forbids is not
 * answered with an error but reported through @fail: no correct host does it.
 *
 * Content. A block of user data is only its tag; anything else is kept whole.
 * In a buffer, a data block is DRIVE_DATA_MAGIC and the tag at the start, the
 * tag and its complement at the end; the middle is left as it was.
 */
#ifndef LZCRASH_DRIVE_H
#define LZCRASH_DRIVE_H

#include "../../dm-lifezone/core/core.h"
#include "../../dm-lifezone/core/log.h"
#include "rnd.h"

#define DRIVE_DATA_MAGIC	0x5441446b636f6c42ull

/* Tags that no user writes. */
#define DRIVE_TAG_ZEROS		0ull
#define DRIVE_TAG_ONES		(~0ull)		/* read beyond the write pointer */
#define DRIVE_TAG_GARBAGE	(~1ull)
#define DRIVE_TAG_META		(~2ull)		/* not a block of user data */

/**
 * struct drive_cmd - a command
 * @op: enum lz_op
 * @flags: LZ_CMD_*
 * @executed: it has taken effect
 * @zone: number of the zone
 * @off: READ, WRITE: offset in the zone; APPEND: where it landed (blocks)
 * @n: length (blocks)
 * @buf: blocks, or
 * @tags: only their tags
 * @error: 0 or a negative errno
 * @slot: position among the commands in flight
 * @seq: order of submission
 * @snap: for each zone, what had been completed when a flush was submitted
 */
struct drive_cmd {
	u8 op;
	u8 flags;
	bool executed;
	u32 zone;
	u32 off;
	u32 n;
	void *buf;
	u64 *tags;
	int error;
	u32 slot;
	u64 seq;
	u64 *snap;
};

/**
 * struct drive_block - content of a block
 * @tag: of user data; or, of the whole block, a hash
 * @data: the whole block
 */
struct drive_block {
	u64 tag;
	u8 *data;
};

/* What reads return where a full zone holds nothing that survived. */
enum drive_fill { DRIVE_FILL_ZEROS, DRIVE_FILL_ONES, DRIVE_FILL_GARBAGE, DRIVE_NR_FILLS };

/*
 * How what is not durable goes, with a prefix of it: all, or the write pointer
 * stays and blocks before it are rubbish, or the last sectors of a block are.
 */
enum drive_loss { DRIVE_PREFIX, DRIVE_HOLES, DRIVE_TEARS, DRIVE_NR_LOSSES };

/* What is wrong with a zone. */
enum drive_fault {
	DRIVE_SOUND,
	DRIVE_FAIL_WRITE,	/* the next write fails, and with it the zone */
	DRIVE_FAIL_WRITE_ADVANCE,	/* likewise, and the write pointer moves over rubbish */
	DRIVE_BROKEN,		/* writes fail until a reset, a finish or a power cycle */
	DRIVE_FAIL_FINISH,
	DRIVE_FAIL_RESET,
	DRIVE_NR_FAULTS,
};

/*
 * How a single command fails, whatever its zone is like. From full on they are what
 * becomes of a zone by itself; a read of one still readable does not fail. That
 * somebody else has reset it fails no append.
 */
enum drive_error {
	DRIVE_NO_ERROR,
	DRIVE_ERR_NOTHING,	/* without effect */
	DRIVE_ERR_PARTLY,	/* the first half of it is done */
	DRIVE_ERR_RUBBISH,	/* the write pointer moves, over rubbish */
	DRIVE_ERR_DONE,		/* all of it is done */
	DRIVE_ERR_FULL,		/* its zone is full */
	DRIVE_ERR_READONLY,
	DRIVE_ERR_OFFLINE,
	DRIVE_ERR_RESET,
	DRIVE_NR_ERRORS,
};

/**
 * struct drive_zone - a zone
 * @b: its blocks
 * @wp: write pointer; the capacity when full (blocks)
 * @data: blocks that hold something; less than @wp after a finish or a loss
 * @done: blocks covered by completed writes
 * @durable: blocks that survive a cut
 * @gen: resets so far
 * @cond: enum lz_zone_cond
 * @fill: enum drive_fill, for @data..@wp
 * @fault: enum drive_fault
 * @torn: the write pointer is within the last block: sectors of it that are written
 * @meddled: somebody else has reset it, and the host not since
 * @stopped: scratch of a cut: a write in it was torn
 * @reads: commands in flight
 * @writes: commands in flight
 * @appends: commands in flight
 * @resets: commands in flight
 * @finishes: commands in flight
 */
struct drive_zone {
	struct drive_block *b;
	u32 wp;
	u32 data;
	u32 done;
	u32 durable;
	u32 gen;
	u8 cond;
	u8 fill;
	u8 fault;
	u8 torn;
	bool meddled;
	bool stopped;
	u32 reads;
	u32 writes;
	u32 appends;
	u32 resets;
	u32 finishes;
};

/**
 * struct drive - a drive
 * @g: geometry
 * @rnd: its randomness
 * @z: zones
 * @active: zones open or closed
 * @cmds: commands in flight
 * @nr_cmds: how many
 * @max_cmds: and how many fit
 * @seq: commands submitted so far
 * @read_only: a write of any kind is a failure
 * @reads_anywhere: reads beyond the write pointer are allowed (recovery looks
 *	for the end of the log)
 * @loss: enum drive_loss
 * @full_permille: chance of an open zone to come back full from a cut
 * @free_blocks: spare 4 KiB blocks, linked through their first word
 * @free_snaps: likewise
 * @copy: its blocks may belong to another: they are never freed one by one
 * @own: and its own are on this list
 * @fail: a rule was broken; does not return
 * @error: asked as a command takes effect: enum drive_error; NULL: none fails
 * @lost: told of each block of user data that is, or comes, to a zone which somebody
 *	else has reset; may be NULL
 * @whole: would what it holds be believed? asked of a torn block that a finish has filled
 *	up, of which that may not be true; may be NULL
 * @ctx: for @fail, @error and @lost
 */
struct drive {
	struct lz_geometry g;
	struct rnd rnd;
	struct drive_zone *z;
	u32 active;
	struct drive_cmd **cmds;
	u32 nr_cmds;
	u32 max_cmds;
	u64 seq;
	bool read_only;
	bool reads_anywhere;
	u8 loss;
	u32 full_permille;
	void *free_blocks;
	void *free_snaps;
	bool copy;
	void *own;
	void (*fail)(void *ctx, const char *fmt, ...) __printf(2, 3) __noreturn;
	u8 (*error)(void *ctx, const struct drive_cmd *c);
	void (*lost)(void *ctx, u64 tag);
	bool (*whole)(const void *block);
	void *ctx;
};

/**
 * struct drive_left - what a cut leaves of a zone
 * @keep: blocks written, not less than are durable
 * @rubbish: a bit for each of the first 32 that is rubbish
 * @sound: if not 0, sectors of the last one that are what was written
 * @torn: the write pointer is within that block
 * @reset: a reset in flight has taken effect
 * @finish: a finish in flight has taken effect
 * @cond: LZ_COND_READONLY or LZ_COND_OFFLINE: so it comes back; or 0
 */
struct drive_left {
	u32 keep;
	u32 rubbish;
	u8 sound;
	bool torn;
	bool reset;
	bool finish;
	u8 cond;
};

struct drive *drive_new(const struct lz_geometry *g, u64 seed);
void drive_free(struct drive *d);
/*
 * Makes @to, of the same geometry, what @from is, commands in flight included:
 * they may be lost with @to, but only move on in @from, which must not change as
 * long as @to is in use.
 */
void drive_copy(struct drive *to, const struct drive *from);

void drive_submit(struct drive *d, struct drive_cmd *c);
/* Move a random command on; returns it once it has completed, else NULL. */
struct drive_cmd *drive_step(struct drive *d);
/* Execute and complete one command that was just submitted, if nothing is in its way. */
bool drive_finish_now(struct drive *d, struct drive_cmd *c);
/*
 * Commands in flight are forgotten. Power fails and returns: volatile data may be
 * lost. Or only the host dies: what is volatile stays so.
 */
void drive_cut(struct drive *d, bool power);
/* The same a point at a time, for who wants them all. May @c move on before others? */
bool drive_may_move(struct drive *d, struct drive_cmd *c);
void drive_execute(struct drive *d, struct drive_cmd *c);
void drive_complete(struct drive *d, struct drive_cmd *c);
/*
 * A write in flight has taken effect in part: the flush before it, if there is one,
 * and its first @n blocks, for good if it says so.
 */
void drive_execute_part(struct drive *d, const struct drive_cmd *c, u32 n);
/* Power fails; of zone i is left @left[i]. */
void drive_cut_exact(struct drive *d, const struct drive_left *left);
/*
 * All that changes of a drive, in @buf of drive_state_size() bytes. The drive must
 * have @copy set, and come back to states in the reverse order of saving.
 */
size_t drive_state_size(const struct drive *d);
void drive_save(const struct drive *d, void *buf);
void drive_restore(struct drive *d, const void *buf);
/* Of what is on it and of what a cut may lose: the sum of its zones'. */
u64 drive_hash(const struct drive *d);
/* Of a zone after drive_cut_exact(). */
u64 drive_left_hash(const struct drive *d, u32 zone, const struct drive_left *left);
/* Would a power cut now lose anything? */
bool drive_is_volatile(const struct drive *d);

/* A copy of the superblock or of the newest root rots, if there is another. */
void drive_rot(struct drive *d);
/* One block of metadata is damaged that core must not overlook; false: found none. */
bool drive_damage(struct drive *d);
/* Somebody else's blocks at the start of a zone. */
void drive_scribble(struct drive *d, u32 zone, u32 n);
/* All zones are reset. */
void drive_erase(struct drive *d);

void drive_report(const struct drive *d, struct lz_zone_report *r);
/* Write it as an image the tool reads: @path, and write pointers in @path.zones. */
bool drive_export(const struct drive *d, const char *path);
/* The tag at a drive address. */
u64 drive_peek(const struct drive *d, u64 addr);
void drive_set_cond(struct drive *d, u32 zone, enum lz_zone_cond cond);
/* The drive has done that to a zone by itself: DRIVE_ERR_FULL and after. */
void drive_news(struct drive *d, u32 zone, enum drive_error what);
/* Does that command know how to fail like that? */
bool drive_may_err(u8 op, enum drive_error how);
const char *drive_op_name(u8 op);
const char *drive_error_name(enum drive_error how);

#endif /* LZCRASH_DRIVE_H */
