/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Policies: which zone a write goes to, which zone is cleaned and how fast,
 * when a zone is reset or finished. Pure functions of what they are given: no
 * locks, no state, no allocation, so that the module, the simulator and the
 * unit tests decide alike.
 */
#ifndef LIFEZONE_POLICY_H
#define LIFEZONE_POLICY_H

#include "port.h"

/*
 * Lifetime classes: the six values of the kernel's write hint, each a class of
 * its own, and file-system metadata (REQ_META), which is told apart from data.
 * A zone may also be of a group: policy=adaptive puts together what it finds to be
 * written as often, group 0 most often of all.
 */
enum lz_class {
	LZ_CLASS_NOT_SET	= 0,
	LZ_CLASS_NONE		= 1,
	LZ_CLASS_SHORT		= 2,
	LZ_CLASS_MEDIUM		= 3,
	LZ_CLASS_LONG		= 4,
	LZ_CLASS_EXTREME	= 5,
	LZ_CLASS_META		= 6,
	LZ_NR_CLASSES		= 7,	/* of data; more of zones: */
	LZ_CLASS_GROUP		= LZ_NR_CLASSES,
	LZ_NR_ZONE_CLASSES	= LZ_CLASS_GROUP + 11,
};

#define LZ_NR_GROUPS	((u32)(LZ_NR_ZONE_CLASSES - LZ_CLASS_GROUP))

/* Have lifetimes of the class an order, from SHORT to EXTREME? */
static inline bool lz_ordered(u8 class)
{
	return class >= LZ_CLASS_SHORT && class <= LZ_CLASS_EXTREME;
}

/* A class of zones for what is written about as often? */
static inline bool lz_is_group(u8 class)
{
	return class >= LZ_CLASS_GROUP;
}

enum lz_policy {
	LZ_POLICY_ZENFS, LZ_POLICY_WLA, LZ_POLICY_SLA, LZ_POLICY_ADAPTIVE, LZ_NR_POLICIES,
};

enum lz_reset { LZ_RESET_EAGER, LZ_RESET_LAZY, LZ_RESET_ADAPTIVE, LZ_NR_RESETS };
enum lz_finish { LZ_FINISH_NEVER, LZ_FINISH_MISMATCH, LZ_FINISH_COST, LZ_NR_FINISHES };
enum lz_isolation {
	LZ_ISOLATION_PERSISTENT, LZ_ISOLATION_INITIAL, LZ_ISOLATION_ADAPTIVE, LZ_NR_ISOLATIONS,
};

enum lz_victim {
	LZ_VICTIM_GREEDY, LZ_VICTIM_COST_BENEFIT, LZ_VICTIM_MDC,
	LZ_VICTIM_AUTO,		/* what suits the policy */
	LZ_NR_VICTIMS,
};

/**
 * struct lz_options - what the user may choose
 * @policy: placement of user data by lifetime
 * @reset: when an empty zone is reset
 * @finish: whether a zone is finished to make room in the zone budget
 * @isolation: where GC puts what it moves
 * @victim: which zone GC takes
 * @max_open: zone budget (zones), 0: the drive's own limit; fixed at load
 * @map_cache_mb: RAM for map leaves (MiB), 0: as much as the map needs, at most a quarter
 * @commit_ms: longest time completed writes stay unjournalled (ms)
 * @gc_ahead: GC wins so many zones more than it has to while users write nothing (zones)
 */
struct lz_options {
	u8 policy;
	u8 reset;
	u8 finish;
	u8 isolation;
	u8 victim;
	u32 max_open;
	u32 map_cache_mb;
	u32 commit_ms;
	u32 gc_ahead;
};

#define LZ_MAX_OPEN_MIN		4u
#define LZ_BUDGET_MAX		64u
#define LZ_COMMIT_MS_MIN	10u
#define LZ_COMMIT_MS_MAX	600000u
#define LZ_COMMIT_MS_DEFAULT	1000u
#define LZ_GC_AHEAD_MAX		64u
#define LZ_GC_AHEAD_DEFAULT	4u

/* Are rates to be measured? */
static inline bool lz_wants_rates(const struct lz_options *o)
{
	return READ_ONCE(o->policy) == LZ_POLICY_ADAPTIVE ||
		READ_ONCE(o->isolation) == LZ_ISOLATION_ADAPTIVE;
}

extern const char *const lz_class_names[LZ_NR_ZONE_CLASSES];

void lz_options_default(struct lz_options *o);
/*
 * Sets option @key to @value. @live: only what may change while in use is
 * allowed. 0, or -EINVAL with one line for the user in @why (never NULL on
 * error): what was wrong and what is allowed.
 */
int lz_option_set(struct lz_options *o, const char *key, const char *value,
		  bool live, char *why, size_t why_size);
/* The option number @i as "key" and "value"; false when @i is past the last. */
bool lz_option_get(const struct lz_options *o, unsigned int i, const char **key,
		   char *value, size_t value_size);

/* The time a block takes to be written, as costs are given. */
#define LZ_COST_WRITE	256u

/**
 * struct lz_cost - what a drive's work costs (LZ_COST_WRITE: a block written)
 * @copy: to move a block
 * @pad: for each block that a zone lacks when it is finished
 * @finish: and to finish it besides
 */
struct lz_cost {
	u32 copy;
	u32 pad;
	u32 finish;
};

/* Of a drive nothing is known of, in blocks of 4 KiB. */
extern const struct lz_cost lz_cost_default;

/**
 * struct lz_place_zone - an open zone as placement sees it
 * @class: lifetime of what it is for (struct lz_zone)
 * @gc: opened for GC output
 * @idle: nothing has been written to it for long
 * @empty: all that was written to it is gone, and others may have it
 * @alone: what was written last is likely to go soon, so it is left alone
 * @room: blocks that may still be reserved (blocks)
 * @age: written to the device since it was last written (blocks)
 */
struct lz_place_zone {
	u8 class;
	bool gc;
	bool idle;
	bool empty;
	bool alone;
	u32 room;
	u64 age;
};

enum lz_verdict {
	LZ_PLACE_USE,		/* write to the open zone @idx */
	LZ_PLACE_NEW,		/* open a new zone of the data's class */
	LZ_PLACE_FINISH,	/* finish zone @idx, then open a new one */
	LZ_PLACE_WAIT,		/* no open zone may be used, or one is about to close: ask again */
};

/**
 * struct lz_place_in - what a placement decision depends on
 * @policy: enum lz_policy
 * @finish: enum lz_finish
 * @isolation: enum lz_isolation
 * @class: lifetime of the data
 * @gc: the data is moved by GC
 * @can_open: the zone budget, free zones and zone records to commit allow one more open zone
 * @budget_spent: it is the zone budget alone that forbids it: a finish would help
 * @closing: one of the open zones is about to make room for another
 * @reserve: user data keeps out of GC's zones: free zones are down to what GC
 *	needs to free more
 * @cost: what the drive's work costs, for LZ_FINISH_COST
 * @zones: open zones
 * @n: how many
 */
struct lz_place_in {
	u8 policy;
	u8 finish;
	u8 isolation;
	u8 class;
	bool gc;
	bool can_open;
	bool budget_spent;
	bool closing;
	bool reserve;
	const struct lz_cost *cost;
	const struct lz_place_zone *zones;
	unsigned int n;
};

/**
 * struct lz_place_out - the decision
 * @verdict: enum lz_verdict
 * @idx: zone, for USE and FINISH
 * @fallback: the policy wanted a new zone but had to take the best-scoring open one
 * @adopt: the zone, empty or idle, is of the data's from now on
 */
struct lz_place_out {
	enum lz_verdict verdict;
	unsigned int idx;
	bool fallback;
	bool adopt;
};

void lz_place(const struct lz_place_in *in, struct lz_place_out *out);

/*
 * Is an open zone of @class idle, that was last written @age blocks ago, on a device of @blocks?
 * Groups come and go with what is measured; files of a lifetime may come in turns, and what is
 * written between two of them should not have taken their zone.
 */
static inline bool lz_idle(u8 class, u64 age, u64 blocks)
{
	return age > blocks >> (lz_is_group(class) ? 5 : 2);
}

#define LZ_NEVER	(~0ull)

/*
 * Is an open zone left alone, last written @age blocks ago? @ended: so long ago a run ended of
 * EXTREME data, of which what is written last goes first; LZ_NEVER: none did.
 */
static inline bool lz_alone(u8 class, bool gc, u64 age, u64 ended)
{
	return class == LZ_CLASS_EXTREME && !gc && age >= ended;
}

/* The rule that LZ_VICTIM_AUTO stands for. */
enum lz_victim lz_victim_rule(const struct lz_options *o);
/*
 * lz_victim_score - how well a zone serves as victim, larger is better; 0: not
 * at all (nothing to gain). @how: a rule. @valid, @cap in blocks; @age: device write
 * clock now less that of the zone's last write (blocks); @rate: for MDC, see there.
 */
u64 lz_victim_score(enum lz_victim how, u32 valid, u32 cap, u64 age, int rate);
/* What the age of a zone says of the rate of its blocks, relative to @blocks. */
int lz_victim_age_rate(u64 age, u64 blocks);

/* Log2 of @v, which is not 0, in 256ths; the square root, rounded down. */
u32 lz_log2(u64 v);
u32 lz_root(u64 v);

/*
 * lz_victim_worth - does cleaning a zone with @valid blocks gain enough? @room:
 * data blocks a fresh zone holds (its capacity less the summaries); @pressed:
 * free zones are down to the reserve.
 */
bool lz_victim_worth(u32 valid, u32 room, bool pressed);

/**
 * struct lz_pace_in - state of the space
 * @free_zones: zones that user data and GC may still open (zones)
 * @reserve: zones only GC may take (zones)
 * @start: GC runs when @free_zones is below this (zones)
 * @ahead: and up to so many above that while users write nothing (zones)
 * @lent: what users have written since GC has to run (zones, rounded down)
 * @gain: of LZ_PACE_UNIT blocks of a victim, those that are garbage, by lz_pace_gain() (blocks)
 */
struct lz_pace_in {
	u32 free_zones;
	u32 reserve;
	u32 start;
	u32 ahead;
	u32 lent;
	u32 gain;
};

#define LZ_PACE_UNIT	4096u	/* blocks */
#define LZ_PACE_LEND	2u	/* zones */

bool lz_pace_gc_due(const struct lz_pace_in *in);
bool lz_pace_gc_early(const struct lz_pace_in *in);
/* lz_pace_ahead - how far GC may be ahead, of @most zones, with @spare that data does not fill. */
u32 lz_pace_ahead(u32 most, u32 spare);
/* lz_pace_gain - with one more victim, of @valid of @cap blocks; @gain: what it was, 0 at first. */
u32 lz_pace_gain(u32 gain, u32 valid, u32 cap);
/*
 * lz_pace_user_share - blocks users may write for each LZ_PACE_UNIT blocks of its victim that GC is
 * done with; ~0u: as many as they like; 0 at the reserve.
 */
u32 lz_pace_user_share(const struct lz_pace_in *in);

/**
 * struct lz_trim_in - what asking for discards depends on
 * @free_zones: zones that user data and GC may still open (zones)
 * @start: below so many free zones GC runs, or is about to (zones)
 * @blocks: data that fits the drive, spare space and all (blocks)
 * @mapped: blocks mapped
 * @base: the fewest that were since it last asked (blocks)
 * @copied: blocks GC copied since then
 * @least: nothing is asked for less than this (blocks)
 * @since: time since it last asked (ns)
 */
struct lz_trim_in {
	u32 free_zones;
	u32 start;
	u64 blocks;
	u64 mapped;
	u64 base;
	u64 copied;
	u64 least;
	u64 since;
};

/* lz_trim_due - may so much have been freed without a discard that it pays to ask? */
bool lz_trim_due(const struct lz_trim_in *in);

/*
 * lz_reset_due - a zone without valid data: reset it now? Eager: always. Lazy
 * (LZR): a zone of lifetime SHORT only once it is also full. Adaptive: any, but
 * those of EXTREME at once that were left @alone, see lz_reset_alone().
 */
bool lz_reset_due(enum lz_reset how, u8 class, bool full, bool alone);

/* Of @cap blocks of a zone so many are @written: is it worth an erase not to fill it up? */
static inline bool lz_reset_alone(u32 written, u32 cap)
{
	return 16 * (u64)written >= cap;
}

/**
 * struct lz_rather_in - an empty zone that is left to be filled, and what GC would clean
 * @written: blocks written to it, all of them gone
 * @age: blocks written to the device since
 * @valid: valid blocks of the victim, fewer than @cap
 * @cap: capacity of a zone (blocks)
 * @spare: zones that data does not fill
 * @cost: what the drive's work costs
 */
struct lz_rather_in {
	u32 written;
	u64 age;
	u32 valid;
	u32 cap;
	u32 spare;
	const struct lz_cost *cost;
};

/* lz_reset_rather - is the empty zone to be reset in place of the victim? */
bool lz_reset_rather(const struct lz_rather_in *in);

#endif /* LIFEZONE_POLICY_H */
