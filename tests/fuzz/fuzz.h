/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzzing core: a drive in RAM, seeds that core itself has written on it, and
 * inputs that are lists of edits to a seed. Checksums are mended after the edits,
 * so most inputs get past them.
 *
 * An input is a list of records of 16 bytes. The first says which seed, and what
 * is done with it; the edits among the others are made before, the actions after
 * the device has been loaded.
 */
#ifndef LIFEZONE_FUZZ_H
#define LIFEZONE_FUZZ_H

#include "../../dm-lifezone/core/core.h"
#include "../../dm-lifezone/core/log.h"
#include "target.h"

/**
 * struct fuzz_rec - a record of an input
 * @op: enum fuzz_op
 * @arg: as the kind says
 * @a: block: number in the seed's list of metadata; or zone, or class
 * @b: offset in the block; or address, or lba
 * @v: value
 */
struct fuzz_rec {
	u8 op;
	u8 arg;
	__le16 a;
	__le32 b;
	__le64 v;
};

static_assert(sizeof(struct fuzz_rec) == 16, "record size");

enum fuzz_op {
	/* edits */
	FUZZ_SET,		/* @arg % 4: log2 of the width of the field at @b; @v */
	FUZZ_ADD,		/* the same, @v is added */
	FUZZ_COPY,		/* block @a also at address @b, as if written there */
	FUZZ_NEXT,		/* block @a also at the end of zone @b, next in number */
	FUZZ_ROT,		/* byte @b of block @a, behind the checksum's back */
	FUZZ_ZONE,		/* zone @a: write pointer @b, condition @v; @arg & 1: torn */
	FUZZ_CLAIM,		/* zones @b % 64 from @a on are said to hold @v blocks */
	FUZZ_NR_EDITS,
	/* actions */
	FUZZ_WRITE = FUZZ_NR_EDITS,	/* @arg blocks from @b on, class @a */
	FUZZ_DISCARD,		/* @v blocks from @b on */
	FUZZ_FLUSH,
	FUZZ_CHECKPOINT,
	FUZZ_GC,
	FUZZ_READ,		/* all, or so many */
	FUZZ_ELAPSE,		/* @v ms */
	FUZZ_FAIL,		/* from now on commands of kinds @arg fail in zone @a */
	FUZZ_CUT,		/* power cut, and loaded again; @arg & 1: after a stop */
	FUZZ_OPTIONS,		/* @v: some of them, a byte each */
	FUZZ_NR_OPS
};

/* In @arg of the first record, whose @op is the seed. */
#define FUZZ_RO		0x1u	/* loaded read-only, and checked */
#define FUZZ_LATE	0x2u	/* commands end late, the last one first */

/**
 * struct fuzz_zone - a zone of the drive
 * @wp: write pointer (blocks)
 * @cond: enum lz_zone_cond
 * @torn: see struct lz_zone_report
 * @fail: commands of these kinds (bits of enum lz_op) fail
 */
struct fuzz_zone {
	u32 wp;
	u8 cond;
	u8 torn;
	u8 fail;
};

/**
 * struct fuzz - a drive, and a host
 * @g: its geometry
 * @si: superblock it was formatted with
 * @zone: its zones
 * @blk: its blocks by address, NULL where nothing was written
 * @own: of these, not the seed's
 * @meta: addresses of metadata blocks, those a load reads first
 * @nr_meta: how many
 * @nr_read: of these, read by a load
 * @noting: the blocks read are being noted
 * @lz: the device
 * @late: commands are kept for a while
 * @kept: these
 * @kicked: the machine is wanted
 * @timer: and wanted then (ns), or 0
 * @now: the clock (ns)
 * @errors: lines said that are errors
 * @writes: commands that changed the drive
 * @edited: it is not as core left it
 */
struct fuzz {
	struct lz_geometry g;
	struct lz_super_info si;
	struct fuzz_zone *zone;
	u8 **blk;
	u8 *own;
	u32 *meta;
	u32 nr_meta;
	u32 nr_read;
	bool noting;
	struct lz *lz;
	bool late;
	struct list_head kept;
	bool kicked;
	u64 timer;
	u64 now;
	u32 errors;
	u32 writes;
	bool edited;
};

#define FUZZ_SEEDS	8u

/* drive.c: the drive and the host */
struct fuzz *fuzz_new(const struct lz_geometry *g);
void fuzz_free(struct fuzz *f);
/* A drive with the seed's contents; blocks are copied when they are written. */
struct fuzz *fuzz_clone(const struct fuzz *seed);
/* The block, to be changed; NULL: past the drive. */
u8 *fuzz_own(struct fuzz *f, u64 addr);
const u8 *fuzz_block(const struct fuzz *f, u64 addr);
u64 fuzz_blocks(const struct fuzz *f);
int fuzz_load(struct fuzz *f, u32 flags, const struct lz_options *o);
/* For what a check finds. */
void fuzz_check_say(void *ctx, const char *line);
/* What the drive says of its zones. */
void fuzz_report(const struct fuzz *f, struct lz_zone_report *rep);
/* Ends the device, as a power cut does. */
void fuzz_forget(struct fuzz *f);
void fuzz_pump(struct fuzz *f);
void fuzz_elapse(struct fuzz *f, u32 ms);
extern const struct lz_ops fuzz_ops;

/* use.c: a user of it */
void fuzz_write(struct fuzz *f, u8 class, u64 lba, u32 n);
void fuzz_discard(struct fuzz *f, u64 lba, u64 n);
void fuzz_flush(struct fuzz *f);
void fuzz_checkpoint(struct fuzz *f);
void fuzz_read_all(struct fuzz *f);
int fuzz_stop(struct fuzz *f);

/* seed.c: what inputs begin with, and their edits */
const struct fuzz *fuzz_seed(u32 i);
/* The records of an input; the first one apart. */
u32 fuzz_records(const u8 *data, size_t size, struct fuzz_rec *first,
		 const struct fuzz_rec **rec);
/* The seed, edited; NULL: there is none. */
struct fuzz *fuzz_make(const struct fuzz_rec *first, const struct fuzz_rec *rec, u32 n);
void fuzz_seal(u8 *block);
size_t fuzz_mutate(u8 *data, size_t size, size_t max, unsigned int seed);

/* Ends the input: something is not as it must be. */
__printf(1, 2) __attribute__((__noreturn__))
void fuzz_wrong(const char *fmt, ...);
void fuzz_begin(void);
void fuzz_step(void);

#endif /* LIFEZONE_FUZZ_H */
