// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every cut there can be: each zone keeps any length between what is durable and
 * what is written, and a write with a flush before it is done, half done, or just
 * its flush. What has been seen before is not cut, or not recovered, again.
 */
#include <stdlib.h>
#include "tiny.h"

struct tiny_cuts tiny_cuts;

static struct set seen_drives, seen_images;

static void leaf_came(struct lz_waiter *w, int err)
{
	if (err)
		tiny_fail("a leaf cannot be read: %d", err);
}

static void verify(void)
{
	struct lz_waiter w = { .fn = leaf_came };
	struct lz_read r;
	u64 tag;
	u32 lba;
	int err;

	for (lba = 0; lba < tiny_blocks; lba++) {
		err = lz_read_begin(tiny.lz, lba, 1, &r);
		if (err == -EAGAIN) {
			lz_leaf_wait(tiny.lz, r.leaf, &w);
			tiny_settle();
			err = lz_read_begin(tiny.lz, lba, 1, &r);
		}
		if (err)
			tiny_fail("lz_read_begin of block %u: %d", lba, err);
		tag = r.addr == LZ_NOWHERE ? 0 : drive_peek(tiny_drive, r.addr);
		if (r.addr != LZ_NOWHERE)
			lz_read_end(tiny.lz, &r);
		if (!tiny_may_hold(lba, tag))
			tiny_fail("block %u reads %llx (address %lld), may hold %llx and %u more",
				  lba, (unsigned long long)tag,
				  r.addr == LZ_NOWHERE ? -1ll : (long long)r.addr,
				  (unsigned long long)tiny.held[lba].tag[0],
				  tiny.held[lba].n - 1);
	}
}

static void check_line(void *ctx, const char *line)
{
	snprintf(tiny_said, sizeof(tiny_said), "%s", line);
}

/* What the drive is left with: does it load, hold what it must, and check? */
static void recover(void)
{
	struct lz_check_report r = { .say = check_line };
	int err;

	memset(tiny.io, 0, sizeof(tiny.io));
	tiny_load(true);
	verify();
	tiny_drive->reads_anywhere = true;
	err = lz_check(tiny.lz, &r);
	tiny_drive->reads_anywhere = false;
	if (err || r.errors)
		tiny_fail("lz_check: %d, %llu errors: %s", err, (unsigned long long)r.errors,
			  tiny_said);
	arena_reset();
	tiny.kicked = false;
	tiny_drive->read_only = false;
	tiny_load(false);
	verify();
	arena_reset();
}

static void cut_everywhere(bool in_recovery);

/* Recovery itself is cut after each of its commands. */
static void cut_recovery(void)
{
	size_t size = drive_state_size(tiny_drive);
	void *state = malloc(size);
	s32 at;

	drive_save(tiny_drive, state);
	for (at = 0; ; at++) {
		bool done = true;

		memset(tiny.io, 0, sizeof(tiny.io));
		tiny_wait_cut = at;
		if (!setjmp(tiny_on_cut))
			tiny_load(false);
		else
			done = false;
		tiny_wait_cut = -1;
		if (!done)
			cut_everywhere(true);
		arena_reset();
		drive_restore(tiny_drive, state);
		if (done)
			break;
	}
	free(state);
}

static void one_cut(const u32 *keep, const struct drive_cmd *half, u32 n, const void *state,
		    bool in_recovery)
{
	u8 harness[sizeof(tiny)];
	u64 h;

	drive_cut_exact(tiny_drive, keep, half, n);
	tiny_cuts.cuts++;
	h = drive_hash(tiny_drive) ^ tiny_held_hash();
	if (set_add(&seen_images, h)) {
		memcpy(harness, &tiny, sizeof(tiny));
		tiny_cuts.images++;
		tiny_cuts.in_recovery += in_recovery;
		recover();
		if (tiny_cuts.nested && !in_recovery) {
			memcpy(&tiny, harness, sizeof(tiny));
			drive_restore(tiny_drive, state);
			drive_cut_exact(tiny_drive, keep, half, n);
			cut_recovery();
		}
		memcpy(&tiny, harness, sizeof(tiny));
	}
	drive_restore(tiny_drive, state);
}

/* All lengths each zone may keep. */
static void cut_lengths(const struct drive_cmd *half, u32 n, const void *state, bool in_recovery)
{
	u32 keep[64], i;

	for (i = 0; i < tiny_geo.nr_zones; i++)
		keep[i] = tiny_drive->z[i].durable;
	for (;;) {
		one_cut(keep, half, n, state, in_recovery);
		for (i = 0; i < tiny_geo.nr_zones; i++) {
			if (keep[i] < tiny_drive->z[i].data) {
				keep[i]++;
				break;
			}
			keep[i] = tiny_drive->z[i].durable;
		}
		if (i == tiny_geo.nr_zones)
			return;
	}
}

static u64 drive_and_held(void)
{
	u64 h = drive_hash(tiny_drive) ^ tiny_held_hash();
	u32 i;

	for (i = 0; i < tiny_drive->nr_cmds; i++) {
		const struct drive_cmd *c = tiny_drive->cmds[i];

		if (!c->executed && (c->flags & LZ_CMD_PREFLUSH)) {
			h += tiny_hash(c->zone, c->buf, c->n * LZ_BLOCK_SIZE);
			h += tiny_hash(1, c->snap, tiny_geo.nr_zones * sizeof(u64));
		}
	}
	return h;
}

static void cut_everywhere(bool in_recovery)
{
	void *state;
	u32 i, n;

	if (!set_add(&seen_drives, drive_and_held()))
		return;
	tiny_cuts.states++;
	state = malloc(drive_state_size(tiny_drive));
	if (!state)
		abort();
	drive_save(tiny_drive, state);
	arena_select(in_recovery ? 2 : 1);
	cut_lengths(NULL, 0, state, in_recovery);
	for (i = 0; i < tiny_drive->nr_cmds; i++) {
		struct drive_cmd *c = tiny_drive->cmds[i];

		if (c->executed || !(c->flags & LZ_CMD_PREFLUSH) || !drive_may_move(tiny_drive, c))
			continue;
		for (n = 0; n < c->n; n++)
			cut_lengths(c, n, state, in_recovery);
	}
	arena_select(in_recovery ? 1 : 0);
	free(state);
}

void tiny_cut_everywhere(void)
{
	cut_everywhere(false);
}
