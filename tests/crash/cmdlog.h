/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log of what the module told a drive and promised its users, replayed into the
 * model of a drive and into an oracle.
 */
#ifndef LZCRASH_CMDLOG_H
#define LZCRASH_CMDLOG_H

#include "../kernel/log.h"
#include "drive.h"
#include "oracle.h"

/**
 * struct cmdlog - a log and how far it has been replayed
 * @path: of the log
 * @event: number of the record that was last replayed, from 1
 * @trace: print every record
 * @d: the drive; NULL: not yet known
 * @o: what its logical blocks may hold; of no block while nothing is formatted
 * @si: its superblock
 * @cutting: from here on power may fail
 * @changed: since the last look, in what a cut may leave or must not lose
 * @text: of what is left to be replayed, the first byte
 * @end: and the last
 * @below: bios below, by number
 * @nr_below: how many
 * @above: and above
 * @nr_above: how many
 */
struct cmdlog {
	const char *path;
	u64 event;
	bool trace;
	struct drive *d;
	struct oracle o;
	struct lz_super_info si;
	bool cutting;
	bool changed;
	const u8 *text;
	const u8 *end;
	struct below *below;
	u32 nr_below;
	struct above *above;
	u32 nr_above;
};

/* Prints why, and how to see it again, and ends. */
void __printf(2, 3) __noreturn cmdlog_fail(void *log, const char *fmt, ...);

void cmdlog_open(struct cmdlog *l);
/* The next record; false: there are no more. */
bool cmdlog_next(struct cmdlog *l);

/**
 * struct cutting - what is cut, and what has been
 * @seed: of all that is drawn
 * @draws: cuts drawn at each event
 * @most: up to so many ways to lose blocks are all tried
 * @trace: print what core says
 * @cuts: legal losses
 * @images: different ones, each recovered and read
 * @nested: recoveries cut, too
 */
struct cutting {
	u64 seed;
	u32 draws;
	u32 most;
	bool trace;
	u64 cuts;
	u64 images;
	u64 nested;
};

extern struct cutting cutting;

/* The superblock of the drive, if there is one. */
bool cmdlog_probe(struct cmdlog *l);
/* Power fails now, in every way or in some. */
void cmdlog_cut(struct cmdlog *l);

#endif /* LZCRASH_CMDLOG_H */
