/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulator: placement and GC of a load on a drive of zones, with counters only.
 *
 * A block written goes to a stream, each of which fills one open zone at a time; GC
 * moves what is valid out of a victim, block by block, each to a stream again. What a
 * policy decides is the streams and the victims; all else is the same for every policy.
 * No metadata: what is counted is blocks, and the clock is user blocks written. Time is only
 * added up, and decides nothing; but where requests arrive by themselves (queue.c) it says how far
 * GC is.
 *
 * Single-threaded. Addresses are zone * capacity + offset (blocks).
 */
#ifndef LIFEZONE_SIM_H
#define LIFEZONE_SIM_H

#include <stddef.h>
#include "../../dm-lifezone/core/policy.h"

#define SIM_NOWHERE	(~0u)
#define SIM_STREAMS	4096u	/* a policy may have */
#define SIM_OPEN_MAX	64u	/* zones open */
#define SIM_RESERVE	4u	/* zones free without which GC takes any victim */

/* --- loads ------------------------------------------------------------------- */

struct load;

/**
 * struct sim_keys - what a store has in a file
 * @level: of the tree
 * @from: its first key
 * @to: and the one after its last
 */
struct sim_keys {
	u8 level;
	double from;
	double to;
};

/**
 * struct sim_req - what users ask for: to write a block, or to discard some
 * @lba: the block, or the first
 * @n: how many are discarded
 * @class: enum lz_class, the hint a write comes with
 * @discard: it is not a write
 * @writer: of the file that is written, of which each writes one at a time; from 0 on
 * @last: it is the last block of it
 * @open: which is not closed then
 * @file: a number no other file has, or 0: nothing is known of it
 * @keys: and what is in it
 * @inputs: files that die when all that is written with it is there; valid until the next request
 * @nr_inputs: how many
 * @at: when it was asked for, of a load that says so (ns)
 * @more: so many blocks after it are of the same request
 */
struct sim_req {
	u32 lba;
	u32 n;
	u8 class;
	bool discard;
	u8 writer;
	bool last;
	bool open;
	u32 file;
	struct sim_keys keys;
	const u32 *inputs;
	u32 nr_inputs;
	u64 at;
	u32 more;
};

/**
 * load_new - a load, after its description
 * @text: as load_docs says
 * @blocks: logical blocks
 * @seed: of all that is drawn
 * @why: set to one line about what is wrong with @text
 *
 * The first @blocks writes fill the device, each block once, in order; but for stores and traces.
 *
 * Return: NULL with *@why set.
 */
struct load *load_new(const char *text, u32 blocks, u64 seed, const char **why);
void load_free(struct load *l);
/* What comes next. False: there is no more. */
bool load_next(struct load *l, struct sim_req *req);
/* A block that is likely to be written soon, where that is known, or any other. */
u32 load_soon(const struct load *l);
/* How many write files, at most. */
u32 load_writers(const struct load *l);
/* Does it end by itself? */
bool load_ends(const struct load *l);
/* Once there is no more: why it did not end by itself, or NULL. */
const char *load_wrong(const struct load *l);
/* The rate at which @lba is written now, 1 being the mean of all blocks; not known of lsm. */
double load_rate(const struct load *l, u32 lba);
/* Another number when rates have changed. */
u64 load_epoch(const struct load *l);
/* Does it say when it asks? */
bool load_timed(const struct load *l);
/* A line for each, NULL last. */
extern const char *const load_docs[];

/* --- time ------------------------------------------------------------------------ */

/**
 * struct sim_cost - what a drive takes for a command, see time.c
 * @write: to write a page (ns)
 * @read: to read one (ns)
 * @erase: to erase a zone (ns)
 * @finish: to finish one (ns), and
 * @pad: for each page it lacks (ns)
 * @page: what these are given for (bytes)
 * @block: a block of the simulator (bytes)
 */
struct sim_cost {
	u64 write;
	u64 read;
	u64 erase;
	u64 finish;
	u64 pad;
	u64 page;
	u64 block;
};

void sim_cost_default(struct sim_cost *c);
/*
 * Sets what @text says, names of presets and KEY=NUMBER, with commas between. False: it says
 * something else, or what makes no sense.
 */
bool sim_cost_set(struct sim_cost *c, const char *text);

/**
 * struct sim_time - the time of a run (ns)
 * @now: since it began
 * @asked: when the block users wait for was wanted
 * @stall: how long users have waited for what is not their own write
 * @longest: of these waits, the longest
 * @finish: time the drive spent in finishes
 * @write: a block, as all that follows
 * @read: a block
 * @pad: a block
 * @erase: a zone
 * @base: of a finish, besides padding
 */
struct sim_time {
	u64 now;
	u64 asked;
	u64 stall;
	u64 longest;
	u64 finish;
	u64 write;
	u64 read;
	u64 pad;
	u64 erase;
	u64 base;
};

/* When users ask: once they are answered, at random at a mean rate, or as the load says. */
enum sim_arrivals { SIM_CLOSED, SIM_POISSON, SIM_TIMES };

/**
 * struct sim_latency - what users waited, see queue.c (ns)
 * @n: requests
 * @mean: of all
 * @p50: what half of them did not exceed, and so on
 * @p99: 99 of 100
 * @p999: 999 of 1,000
 * @p9999: 9,999 of 10,000
 * @max: none
 * @busy: how long the drive has been busy, since the run began
 * @now: and how long that was
 */
struct sim_latency {
	u64 n;
	double mean;
	u64 p50;
	u64 p99;
	u64 p999;
	u64 p9999;
	u64 max;
	double busy;
	double now;
};

/* --- the drive ----------------------------------------------------------------- */

enum sim_zone_state { SIM_FREE, SIM_OPEN, SIM_FULL, SIM_CLEANED };

/**
 * struct sim_zone - a zone
 * @state: enum sim_zone_state
 * @stream: that filled or fills it, below SIM_STREAMS
 * @wp: blocks written
 * @valid: of them, still in use
 * @opened: clock at its first write (blocks)
 * @written: clock at its last write (blocks)
 * @lost: and when users last wrote over a block in it, or discarded one
 * @rate: sum over valid blocks of what the policy gave them
 * @next: in the list of free zones
 */
struct sim_zone {
	u8 state;
	u16 stream;
	u32 wp;
	u32 valid;
	u64 opened;
	u64 written;
	u64 lost;
	double rate;
	u32 next;
};

/**
 * struct sim_count - what happened
 * @user: blocks users wrote
 * @discarded: and discarded
 * @copied: blocks GC moved
 * @victims: zones GC cleaned
 * @erased: zones erased, by whatever emptied them
 * @erased_short: of these, of lifetime SHORT, by the policies of the module
 * @finished: zones finished
 * @fallback: blocks that went to another stream's zone
 */
struct sim_count {
	u64 user;
	u64 discarded;
	u64 copied;
	u64 victims;
	u64 erased;
	u64 erased_short;
	u64 finished;
	u64 fallback;
};

struct sim;
struct sim_life;
struct sim_queue;

/**
 * struct sim_policy - where blocks go, and what is cleaned
 * @name: as on the command line
 * @doc: one line, with the source
 * @future: asks sim_death(), for which the whole load is written down first
 * @exclusive: knows of setup.exclusive: files that are written at the same time share no zone then
 * @init: before the first write; 0 or -ENOMEM
 * @exit: frees what @priv of the run leads to, not @priv; may be NULL, as all below but those
 *	two marked
 * @user: the stream of a block users write; it was at @old, or SIM_NOWHERE. Not NULL
 * @move: the stream of a block GC moves from @old. Not NULL
 * @choose: the open zone @stream is to fill from now on, which others may fill too; NULL: one
 *	of its own
 * @empty: is an open zone that has lost its last block to be erased? NULL: none is
 * @wrote: it is at @addr now
 * @discarded: users discarded blocks; after @dead of each
 * @dead: what is at @addr is not @lba any more; called after @user and @move
 * @score: of a full zone with garbage as victim, larger is better
 * @victim: the full zone to clean, or SIM_NOWHERE, where that is no matter of scores; it need not
 *	have garbage, and gc_slope does not bind it. Called once for each victim
 * @cleaned: GC is about to clean the zone
 * @fetch: a block is likely to be asked about soon: what is known of it is to be in the cache
 */
struct sim_policy {
	const char *name;
	const char *doc;
	bool future;
	bool exclusive;
	int (*init)(struct sim *s);
	void (*exit)(struct sim *s);
	u32 (*user)(struct sim *s, u32 lba, u32 old);
	u32 (*move)(struct sim *s, u32 lba, u32 old);
	u32 (*choose)(struct sim *s, u32 stream);
	bool (*empty)(struct sim *s, u32 zone);
	void (*wrote)(struct sim *s, u32 lba, u32 addr);
	void (*discarded)(struct sim *s, u32 lba, u32 n);
	void (*dead)(struct sim *s, u32 lba, u32 addr);
	double (*score)(struct sim *s, u32 zone);
	u32 (*victim)(struct sim *s);
	void (*cleaned)(struct sim *s, u32 zone);
	void (*fetch)(const struct sim *s, u32 lba);
};

extern const struct sim_policy sim_one, sim_split, sim_split_greedy, sim_dac, sim_sepbit;
extern const struct sim_policy sim_midas, sim_xfs, sim_perfect;
extern const struct sim_policy sim_adaptive, sim_zenfs, sim_wla, sim_sla, sim_caza;
extern const struct sim_policy sim_rates, sim_oracle;
/* All of them, NULL last. */
extern const struct sim_policy *const sim_policies[];

/*
 * What the module does not have: cost-benefit with the age itself instead of its root, (1 - u) age
 * / u, after u, the valid share.
 */
#define SIM_VICTIM_LINEAR	LZ_NR_VICTIMS
/* How well @zone serves as victim, by a rule, which for MDC goes by @rate. */
double sim_victim(const struct sim *s, u32 zone, enum lz_victim how, int rate);
/* The same by the rate that is known; and by the rule of the options, cost-benefit by default. */
double sim_score(struct sim *s, u32 zone, enum lz_victim how);
double sim_ref_score(struct sim *s, u32 zone);

/**
 * struct sim_setup - what is simulated
 * @zones: zones of data
 * @cap: their capacity (blocks)
 * @blocks: logical blocks
 * @max_open: zones open at a time
 * @gc_start: GC runs while fewer zones are free
 * @gc_slope: and takes only zones with more garbage, in per cent, than 100 less so many for each
 *	per cent of the zones that are missing, until it has SIM_RESERVE zones left; what is
 *	left of open zones counts as free, as in ZenFS; 0: any
 * @reserve: free zones that only GC may open; with it GC begins, goes on and chooses as the
 *	module's does. 0: none
 * @exclusive: files that are written at the same time are not to share a zone
 * @seed: of the load
 * @o: options, for the policies of the module; victim is for references, too, and may be
 *	SIM_VICTIM_LINEAR
 * @cost: of the drive's commands
 * @arrivals: enum sim_arrivals
 * @rate: of SIM_POISSON, on the mean (bytes a second)
 */
struct sim_setup {
	u32 zones;
	u32 cap;
	u32 blocks;
	u32 max_open;
	u32 gc_start;
	u32 gc_slope;
	u32 reserve;
	bool exclusive;
	u64 seed;
	struct lz_options o;
	struct sim_cost cost;
	u8 arrivals;
	u64 rate;
};

/* Below so many free zones GC runs, whatever there is to clean. */
static inline u32 sim_kept_free(const struct sim_setup *a)
{
	return a->gc_slope ? SIM_RESERVE : a->gc_start;
}

/**
 * struct sim - a run
 * @p: the policy
 * @priv: the policy's, freed with the run
 * @life: what is known of lifetimes, where an option asks for it; NULL otherwise
 * @load: what is written
 * @setup: as asked for
 * @map: by logical block, its address or SIM_NOWHERE
 * @lba: by address, the block there; stale where the map says otherwise
 * @z: zones
 * @open: by stream, the zone it fills or SIM_NOWHERE
 * @req: the request under way
 * @slot: open zones, SIM_NOWHERE where there is none; a zone takes the first that is free
 * @nr_open: zones open
 * @free: first free zone or SIM_NOWHERE
 * @nr_free: free zones
 * @mapped: blocks in use
 * @clock: user blocks written
 * @n: counters
 * @top: of the zones looked at as victim: the best score, below which it is enough to know that
 *	another is; and what cost-benefit makes of a gain of 1 and no age
 * @t: time
 * @queue: of users who do not wait for answers, or NULL
 * @victim: with it: the zone that is being cleaned, or SIM_NOWHERE
 * @gain: of its victims, as in struct lz_pace_in
 * @off: and how far (blocks)
 * @writers: of the load
 * @death: by user write, the clock at the next write, or the discard, of the same block
 * @deaths: of so many
 * @ended: when a run of extreme data ended last, by sim_clock(); 0: none has
 * @alone: what is written last of one goes first, so zones are left alone
 * @no_victim: no zone is worth cleaning, until another one is full
 * @held: no zone may be opened, however many are free
 * @closing: an open zone is about to make room for another; never, where no time passes
 * @slow: a finish takes long, so no other is begun; likewise
 * @broken: no zone was left to write to
 */
struct sim {
	const struct sim_policy *p;
	void *priv;
	struct sim_life *life;
	struct load *load;
	struct sim_setup setup;
	u32 *map;
	u32 *lba;
	struct sim_zone *z;
	u32 open[SIM_STREAMS];
	u32 slot[SIM_OPEN_MAX];
	u32 nr_open;
	struct sim_req req;
	u32 free;
	u32 nr_free;
	u32 mapped;
	u64 clock;
	struct sim_count n;
	struct {
		double score;
		double even;
	} top;
	struct sim_time t;
	struct sim_queue *queue;
	u32 victim;
	u32 gain;
	u32 off;
	u32 writers;
	u32 *death;
	u64 deaths;
	u64 ended;
	bool alone;
	bool no_victim;
	bool held;
	bool closing;
	bool slow;
	bool broken;
};

/* A run as it is before there are zones, a load, and memory. */
void sim_begin(struct sim *s, const struct sim_policy *p, const struct sim_setup *setup);
/* 0, or -ENOMEM, or -EINVAL where @why says what is wrong. */
int sim_init(struct sim *s, const struct sim_policy *p, const struct sim_setup *setup,
	     const char *load, u64 writes, const char **why);
void sim_exit(struct sim *s);
/*
 * @writes more user blocks, or up to the end of the load. 0; -ENOSPC: GC could not free a zone;
 * -ENODATA: load_wrong() says why there is no more load.
 */
int sim_run(struct sim *s, u64 writes);
/* What s->req says. 0 or -ENOSPC. */
int sim_request(struct sim *s);
/* NULL, or what does not add up. */
const char *sim_check(const struct sim *s);
/*
 * The streams of the module's policies: a zone class, of users' blocks, of those GC moves or,
 * with exclusive zones, of one writer's. sim_choose() is their @choose, with the module's own
 * decision; that on empty zones, the stream of what GC moves, and the victims.
 */
#define SIM_CLASSES	24u	/* as many as LZ_NR_ZONE_CLASSES, or more */
#define SIM_GC_STREAMS	SIM_CLASSES	/* those of GC begin with this */
#define SIM_OWN_STREAMS	(2 * SIM_CLASSES)	/* and those of writers with this */
static inline u32 sim_writer(u8 writer, u8 class)
{
	return SIM_OWN_STREAMS + writer * SIM_CLASSES + class;
}

u32 sim_stream(const struct sim *s, u8 class);
u32 sim_choose(struct sim *s, u32 stream);
bool sim_reset_due(struct sim *s, u32 zone);
/* Is it open, all that was written to it gone, and left to be filled? */
bool sim_left(const struct sim *s, u32 zone);
/* What the policies by hints do with what GC moves, and their victims. */
u32 sim_module_move(struct sim *s, u32 lba, u32 old);
double sim_module_score(struct sim *s, u32 zone);
/* May a zone be opened, for GC or for users, who each leave the other side one? */
bool sim_may_open(const struct sim *s, bool gc);
/* Is it open, and not a writer's that shares with nobody? */
bool sim_shared(const struct sim *s, u32 zone);
/* The decision alone: @zone is set to the zone that @out says to use or to finish. */
void sim_place(const struct sim *s, u32 stream, u32 *zone, struct lz_place_out *out);
/* And what is done where it says to use the zone, and that it is adopted. */
void sim_adopt(struct sim *s, u32 zone, u32 stream);
/* The rule for victims, by options and space. */
enum lz_victim sim_rule(const struct sim *s);
/* The zone to clean, or an open one that is to be reset as it is, or SIM_NOWHERE. */
u32 sim_pick(struct sim *s);
/* What ages are reckoned from; the module's counts what GC writes, too. */
static inline u64 sim_clock(const struct sim *s)
{
	return s->clock + (s->setup.reserve ? s->n.copied : 0);
}

/* Is the space down to the reserve, or below? */
static inline bool sim_pressed(const struct sim *s)
{
	return s->setup.reserve && s->nr_free <= s->setup.reserve;
}

/* Free zones that users, or GC, may open. */
static inline u32 sim_usable(const struct sim *s, bool gc)
{
	u32 keep = gc ? 0 : s->setup.reserve;

	return s->nr_free > keep ? s->nr_free - keep : 0;
}

static inline u8 sim_class(u32 stream)
{
	return stream % SIM_CLASSES;
}

static inline bool sim_is_gc(u32 stream)
{
	return stream / SIM_CLASSES == SIM_GC_STREAMS / SIM_CLASSES;
}

/*
 * The module's lifetimes, where an option asks for them; without it, classes are as they come:
 * that of the block of the request, that of one GC moves out of a zone of @class.
 */
int sim_life_init(struct sim *s);
void sim_life_exit(struct sim *s);
u8 sim_life_user(struct sim *s, u32 lba);
void sim_life_fetch(const struct sim *s, u32 lba);
u8 sim_life_moved(struct sim *s, u32 lba, u8 class);
bool sim_life_enough(const struct sim *s, u32 open);
void sim_life_adopted(struct sim *s, u32 zone);
void sim_life_wrote(struct sim *s, u32 lba, u32 addr);
void sim_life_closed(struct sim *s, u32 zone);
void sim_life_discarded(struct sim *s, u32 lba, u32 n);
/* The rate at which blocks of a full zone are written, for LZ_VICTIM_MDC. */
int sim_life_zone_rate(struct sim *s, u32 zone);

/*
 * GC, if it is due, or may be early as users write nothing, goes by one more block of its
 * victim. False: it has nothing to do.
 */
bool sim_clean_step(struct sim *s, bool idle);
/* Opens a free zone, of which there must be one, for @stream. */
u32 sim_open(struct sim *s, u32 stream);
/* A slot for a zone that is opened, and back. */
void sim_slot_take(struct sim *s, u32 zone);
void sim_slot_give(struct sim *s, u32 zone);
/* Nothing more is written to an open zone. */
void sim_finish(struct sim *s, u32 zone);
/* From what setup.cost says. */
void sim_time_init(struct sim *s);
/* The same as the module's decisions want it. */
struct lz_cost sim_lz_cost(const struct sim *s);

/* NULL: there is no memory. */
struct sim_queue *sim_queue_new(const struct sim_setup *setup);
/* The next request is there; GC gets on until the drive turns to it. */
void sim_queue_arrive(struct sim *s);
/* And is written. */
void sim_queue_answered(struct sim *s);
/* Latencies count from now on. */
void sim_queue_reset(struct sim_queue *q);
struct sim_latency sim_queue_latency(const struct sim_queue *q);
/*
 * Goes through the histogram, from *@bin = 0 on: @n requests had a latency of up to @end, and more
 * than the last. False: there are no more.
 */
bool sim_queue_bin(const struct sim_queue *q, u32 *bin, u64 *end, u64 *n);

/* When the block users write as number @clock is written again or discarded; ~0 if never. */
static inline u64 sim_death(const struct sim *s, u64 clock)
{
	/* A trace may have grown since it was gone through. */
	u32 at = clock < s->deaths ? s->death[clock] : SIM_NOWHERE;

	return at == SIM_NOWHERE ? ~0ull : at;
}

static inline u32 sim_zone_of(const struct sim *s, u32 addr)
{
	return addr / s->setup.cap;
}

/* Is what dies at @addr the last of a full zone of stream 0, which GC, at @cleaned, is not at? */
static inline bool sim_dies(const struct sim *s, u32 addr, u32 cleaned)
{
	u32 zone = sim_zone_of(s, addr);
	const struct sim_zone *z = &s->z[zone];

	return !z->stream && z->state == SIM_FULL && z->valid == 1 && zone != cleaned;
}

#endif /* LIFEZONE_SIM_H */
