/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every logical block may hold.
 *
 * The map changes at a definite moment, when core is told where a write landed
 * or what is discarded; in that order the oracle notes the versions of a block.
 * While core runs, a read finds the newest one. After a cut it finds one no
 * older than the newest at the time the last completed flush was asked for;
 * once all has been read after a recovery, what was read is all there is.
 * A write core has not been told of is never mapped, so it cannot appear.
 *
 * Who sees core from outside does not know that moment, only that it is between
 * a request and its answer: until oracle_end() both versions may be found.
 */
#ifndef LZCRASH_ORACLE_H
#define LZCRASH_ORACLE_H

#include "../../dm-lifezone/core/port.h"

/**
 * struct version - what a block held from some moment on
 * @tag: 0: zeros
 * @time: moment
 * @end: moment from which on no other version is read; FUA is as old as its request, and
 *	 yet may be read or not until it is answered
 * @prev: the version before, an index in the log, or ~0
 */
struct version {
	u64 tag;
	u64 time;
	u64 end;
	u32 prev;
};

/**
 * struct oracle - all versions of all blocks
 * @nr: logical blocks
 * @newest: for each block its newest version
 * @log: versions
 * @used: how many
 * @cap: and how many fit
 * @time: moments so far
 * @floor: all before this moment is durable
 */
struct oracle {
	u32 nr;
	u32 *newest;
	struct version *log;
	u32 used;
	u32 cap;
	u64 time;
	u64 floor;
};

void oracle_init(struct oracle *o, u32 nr);
void oracle_exit(struct oracle *o);
void oracle_apply(struct oracle *o, u32 lba, u64 tag);

/* A flush is asked for; the moment is to be given to oracle_durable() once it is done. */
static inline u64 oracle_moment(struct oracle *o)
{
	return ++o->time;
}

static inline void oracle_durable(struct oracle *o, u64 moment)
{
	o->floor = max(o->floor, moment);
}

static inline u64 oracle_now(const struct oracle *o, u32 lba)
{
	return o->log[o->newest[lba]].tag;
}

/* @lba is to hold @tag; nothing else is asked of it before oracle_end(). */
void oracle_begin(struct oracle *o, u32 lba, u64 tag);
/* It does, as of @moment; from now on no read finds what was before. */
void oracle_end(struct oracle *o, u32 lba, u64 moment);
/* Is @tag the newest that @lba held at @moment, or a later one? */
bool oracle_since(const struct oracle *o, u32 lba, u64 tag, u64 moment);
/* May @lba hold @tag after a cut? */
bool oracle_allows(const struct oracle *o, u32 lba, u64 tag);
/* @lba holds @tag after a recovery; to be called for every block, then oracle_restart(). */
void oracle_pin(struct oracle *o, u32 lba, u64 tag);
void oracle_restart(struct oracle *o);
/* Of what all blocks may hold. */
u64 oracle_hash(const struct oracle *o);
/* What @lba may hold, as text. */
const char *oracle_show(const struct oracle *o, u32 lba, char *buf, size_t n);
/* All that, in @path: a line for each block, the tags it may hold in hex. */
bool oracle_export(const struct oracle *o, const char *path);

#endif /* LZCRASH_ORACLE_H */
