/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device on a zoned drive in RAM, for unit tests of core: the drive, the
 * host and one user in one thread. A command is carried out at once, within
 * submit; the machine runs when the test pumps.
 */
#ifndef LIFEZONE_TEST_RAM_H
#define LIFEZONE_TEST_RAM_H

#include "../core/lz.h"
#include "unit.h"

/**
 * struct ram_zone - a zone of the drive
 * @data: its blocks; NULL: none was ever touched
 * @wp: write pointer (blocks)
 * @durable: blocks that survive a power cut
 * @cond: enum lz_zone_cond
 * @torn: the drive says that its write pointer is within a block
 * @fail: commands of these kinds (bits of enum lz_op) fail
 * @fail_after: the first so many do not
 * @fail_times: so many of them, 0: all
 */
struct ram_zone {
	u8 *data;
	u32 wp;
	u32 durable;
	u8 cond;
	bool torn;
	u8 fail;
	u32 fail_after;
	u32 fail_times;
};

/**
 * struct ram - a drive, a host and a user
 * @test: expectations that fail are its own
 * @g: geometry of the drive
 * @zone: its zones
 * @active: zones open
 * @lz: the device, while there is one
 * @si: as formatted
 * @o: options for ram_load()
 * @ops: what ram_format() and ram_load() give core to talk to the drive
 * @version: of each logical block as last written; 0: never, or discarded
 * @clock: versions given so far
 * @now: the clock (ns)
 * @kicked: the machine is wanted
 * @timer: and wanted then (ns), or 0
 * @resumed: who was told to try again may
 * @hold: the machine does not run
 * @slow: the commands, of core, that the drive takes its time for; NULL: none
 * @held: these, the oldest first, until ram_release(); a cut loses them
 * @nr_held: how many
 * @fail_flush: flushes of the drive fail
 * @bad: the block at this drive address cannot be read; 0: none
 * @bad_times: so many times, 0: always
 * @broken: a rule of zoned drives was broken; said once
 * @nr_ops: commands carried out, by enum lz_op
 * @nr_events: events, by enum lz_event
 * @traced: somebody wants to know of candidates
 * @nr_traced: what was traced, by enum lz_trace_what
 * @candidates: of all victims together
 * @said: warnings and errors, a line each
 */
struct ram {
	struct kunit *test;
	struct lz_geometry g;
	struct ram_zone *zone;
	u32 active;
	struct lz *lz;
	struct lz_super_info si;
	struct lz_options o;
	const struct lz_ops *ops;
	u32 *version;
	u32 clock;
	u64 now;
	bool kicked;
	u64 timer;
	bool resumed;
	bool hold;
	bool (*slow)(struct ram *r, const struct lz_cmd *c);
	struct lz_cmd *held[512];
	u32 nr_held;
	bool fail_flush;
	u64 bad;
	u32 bad_times;
	bool broken;
	u64 nr_ops[LZ_OP_FLUSH + 1];
	u32 nr_events[LZ_EV_TRIM + 1];
	bool traced;
	u64 nr_traced[LZ_TR_CHECKPOINT + 1];
	u64 candidates;
	char said[1024];
};

extern const struct lz_ops ram_ops;

struct ram *ram_new(struct kunit *test, u32 nr_zones, u32 max_open);
struct ram *ram_sized(struct kunit *test, u32 nr_zones, u32 max_open, u32 zone_blocks,
		      u32 zone_cap);
void ram_free(struct ram *r);
/* A whole drive, formatted and loaded. */
struct ram *ram_device(struct kunit *test, u32 nr_zones, u32 max_open);
/* When its empty zones are reset, from now on. */
void ram_set_reset(struct ram *r, enum lz_reset how);

int ram_format(struct ram *r);
int ram_load(struct ram *r, u32 flags);
/* What the drive reports of its zones, as lz_load() wants it. */
void ram_report(const struct ram *r, struct lz_zone_report *z);
/* Ends the instance: in order, or as a power cut that loses all that may be lost. */
void ram_stop(struct ram *r);
void ram_cut(struct ram *r);
/* A load that must not fail. */
void ram_again(struct ram *r);

/* Runs the machine until it has nothing to do. */
void ram_pump(struct ram *r);
/* Lets time pass (ms). */
void ram_elapse(struct ram *r, u32 ms);

int ram_write(struct ram *r, u8 class, u64 lba, u32 n);
int ram_discard(struct ram *r, u64 lba, u64 n);
int ram_flush(struct ram *r);
int ram_checkpoint(struct ram *r);
/* For ram.slow: reads of metadata, of data. */
bool ram_reads_meta(struct ram *r, const struct lz_cmd *c);
bool ram_reads_data(struct ram *r, const struct lz_cmd *c);
/* The drive carries out the command held back at place @i. */
void ram_release(struct ram *r, u32 i);
/* What the user began with lz_write_begin(), a block, lands and ends. */
int ram_land(struct ram *r, struct lz_write *w, u64 lba);
/* What a read of @lba returns: the version written, 0 for zeros, ~0 for an error. */
u32 ram_read(struct ram *r, u64 lba);
/* Every block reads as it was last written. */
void ram_verify(struct ram *r);
/* All metadata is sound: a second, read-only instance checks it. What core counts is right. */
void ram_check(struct ram *r);
/* A cut, and after the load all that. */
void ram_survive(struct ram *r);

/* No leaf of the map that nobody is at stays in memory. */
void ram_forget_leaves(struct ram *r);
/* The drive finishes @zone. */
void ram_fill_up(struct ram *r, u32 zone);
/* The block at a drive address. */
void *ram_block(struct ram *r, u64 addr);
/* A metadata block that was changed is made believable again, with @count entries. */
void ram_reseal(struct lz_hdr *h, u32 count);
/* Reproducible noise: below @n. */
u32 ram_random(u32 *state, u32 n);

#endif /* LIFEZONE_TEST_RAM_H */
