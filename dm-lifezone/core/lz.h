/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside core: the device and its parts.
 *
 * Lock order (outer first), all taken with interrupts off where a completion
 * may take them too:
 *
 *	place_lock		which zones are open, who writes where, free list
 *	  shard[].lock		the active delta's entries of a shard
 *	    ext_lock		discarded extents of both deltas
 *	    leaf_lock[]		a cached leaf and the pointer to it
 *	  zone->lock		reservations and unsummarised blocks of a zone
 *	    list_lock		lists between data path and machine
 *
 * Fields under "machine" are touched in the machine's context only.
 */
#ifndef LIFEZONE_LZ_H
#define LIFEZONE_LZ_H

#include "core.h"
#include "life.h"
#include "log.h"
#include "plant.h"

#ifdef LZ_TINY		/* for tests that copy the whole of a device many times */
#define LZ_SHARD_SHIFT		1
#define LZ_NR_LEAF_LOCKS	2u
#define LZ_LOG_BLOCKS		3u
#define LZ_FILL_RECORDS		lz_user_fill	/* put in a block of the journal */
#define LZ_FILL_SUMMARY		lz_user_summary	/* and in one of a summary */
#define LZ_SUM_BLOCKS		1u
#define LZ_GC_SLOTS		1u
#define LZ_GC_RUN		4u
#define LZ_EXTENTS		16u
#define LZ_ZRECS		64u
#define LZ_DELTA_MIN		16u
#define LZ_EXTENT_MIN		9u
#define LZ_MERGE_WINDOW		2u
#define LZ_BATCH_COMMIT		1000u
#else
#define LZ_SHARD_SHIFT		6
#define LZ_NR_LEAF_LOCKS	64u
#define LZ_LOG_BLOCKS		64u	/* blocks of a journal or node write */
#define LZ_FILL_RECORDS		LZ_JOURNAL_RECORDS
#define LZ_FILL_SUMMARY		LZ_SUMMARY_ENTRIES
#define LZ_SUM_BLOCKS		8u	/* blocks a summary may have */
#define LZ_GC_SLOTS		8u
#define LZ_GC_RUN		32u	/* blocks a copy moves at once */
#define LZ_EXTENTS		1024u	/* discarded extents in a delta */
#define LZ_ZRECS		1024u
#define LZ_DELTA_MIN		256u
#define LZ_EXTENT_MIN		33u	/* shorter discards become single entries */
#define LZ_MERGE_WINDOW		32u
#define LZ_BATCH_COMMIT		8192u	/* updates after which a commit is due */
#endif
static_assert(LZ_LOG_BLOCKS + 1 <= LZ_CMD_BLOCKS, "the longest, and a link");
#define LZ_NR_SHARDS		(1u << LZ_SHARD_SHIFT)
#define LZ_LEAVES_LEAST		(2 * LZ_MERGE_WINDOW) /* in RAM, however few others leave us */
/* Blocks that share a shard: a run of these is mapped under one lock. */
#define LZ_SHARD_RUN_SHIFT	5
#define LZ_SHARD_RUN		(1u << LZ_SHARD_RUN_SHIFT)
#define LZ_MAX_LEVELS		4
#define LZ_NONE			0xffffffffu
#define min3_u32(a, b, c)	min_t(u32, min_t(u32, a, b), c)
/* Answer of a look-up: the leaf is not in RAM. */
#define LZ_MISS			(LZ_ADDR_MASK + 1)

#define LZ_RING			8192u	/* unsummarised blocks of an open zone, at most */
#define LZ_NODE_BUFS		2u
#define LZ_LOG_TRIES		4u	/* zones that fail in a row are too many for the log */
#define LZ_JOURNAL_GAP		2u	/* numbers left out where the journal begins anew */
#define LZ_GC_TRIES		16u	/* zones that fail in a row are too many for GC */
#define LZ_FINISH_TRIES		3u	/* before a zone is taken for read-only */
#define LZ_READ_TRIES		3u	/* reads of a block by us before it is lost */
#define LZ_LEAF_HOLD_MS		10u	/* for who had it read to look at it */
#define LZ_CLOSE_MS		100u	/* that writers wait for a zone to close */
#define LZ_IDLE_MS		1u	/* between the end of writes and a look for others */
#define LZ_LAND_MS		1u	/* between looks at whether writes have landed */
#define LZ_LEAF_AGAIN_MS	1000u	/* until one that could not be read is tried again */
#define LZ_SETTLE_PART		8u	/* of a zone, written before counts are settled for GC */
#define LZ_BUDGET_DEFAULT	16u
#define LZ_RESETS_MAX		4u	/* resets in flight */
#define LZ_GC_START		3u	/* zones above the reserve at which GC begins */
#define LZ_TRIM_AHEAD		2u	/* zones above that at which discards are wanted */

/**
 * struct lz_zone - a zone
 * @lock: guards @resv, @done, @closing, @begun, @relist, @seq, @open and the ring and counts of
 *	that
 * @state: enum lz_zone_state; changed under place_lock
 * @class: lifetime of the first data written, or of data given it empty or idle since
 * @flags: LZ_ZF_*
 * @closing: takes no more reservations
 * @draining: waits for @readers to go; its last reader kicks the machine
 * @listed: on a list, whichever, or being reset (list_lock)
 * @by_gc: its last valid block was moved by GC
 * @chosen: GC wants it reset as it is, empty and not full (machine)
 * @failed: a write or reset of it failed
 * @begun: a write has landed at its start
 * @relist: it was empty, and is to be listed again when nothing is in flight to it any more
 * @gen: generation
 * @resv: blocks handed out; the write pointer once they have all landed
 * @done: of these, completed
 * @head: offset of its newest summary
 * @sum_seq: and the number of that summary's last block
 * @seq: device write clock at its last write
 * @lost: and when users last wrote over a block in it, or discarded one; not kept over a reload
 * @valid: blocks in use as RAM has it: never less than the truth
 * @tree_valid: entries of the map tree that point here (machine)
 * @live: metadata zones: live nodes (machine)
 * @dying: of these, superseded by the checkpoint under way (machine)
 * @jlast: metadata zones: highest journal block number in it (machine)
 * @gc_ckpt: checkpoint at whose number GC left it with blocks uncounted (machine)
 * @need: blocks the drive must have, by the metadata (load)
 * @life: times the journal opened it (load)
 * @names: the first of the mappings to it that the journal names, LZ_NONE: none (load)
 * @sums: and of its summaries
 * @suspect: what is mapped to it the drive may have no more
 * @readers: reads in flight
 * @rated: @mean is known
 * @mean: marks of the blocks written to it, once it is full (machine)
 * @open: while it takes writes
 * @list: free, emptied, waiting or stale zones
 */
struct lz_zone {
	spinlock_t lock;		/* resv, done, closing, begun, relist, open */
	u8 state;
	u8 class;
	u8 flags;
	bool closing;
	bool draining;
	bool listed;
	bool by_gc;
	bool chosen;
	bool failed;
	bool begun;
	bool relist;
	u32 gen;
	u32 resv;
	u32 done;
	u32 head;
	u32 sum_seq;
	u32 tree_valid;
	u32 live;
	u32 dying;
	u64 seq;
	u64 jlast;
	u64 gc_ckpt;
	u32 need;
	u32 life;
	u32 names;
	u32 sums;
	bool suspect;
	bool rated;
	struct lz_life_mean mean;
	atomic_t valid;
	u64 lost;
	atomic_t readers;
	struct lz_open *open;
	struct list_head list;
};

/**
 * struct lz_open - an open data zone
 * @zone: its number, LZ_NONE while the slot is free
 * @gc: opened for GC output
 * @finish: to be finished as soon as it is quiet
 * @busy: a summary or finish is in flight (machine)
 * @slow: it has been about to close for long, so nobody waits for that
 * @slow_since: when somebody was first seen to (ns), or 0 (machine)
 * @force: summarise up to this ring position (machine)
 * @unsum: blocks reserved and not yet named by an issued summary
 * @put: ring position of the next entry
 * @got: ring position of the next entry to be summarised
 * @safe: ring position up to which summaries have completed
 * @ring: completed blocks, lz_sum_pack()
 * @ckpt: checkpoint by which the zone may be finished, 0: any (machine)
 * @life: marks of the blocks written to it
 * @sum_entries: entries of the summary in flight
 * @sum_from: offset before which the summary in flight cannot land (blocks)
 * @sum: summary in flight
 * @buf: its blocks
 */
struct lz_open {
	u32 zone;
	bool gc;
	bool finish;
	bool busy;
	bool slow;
	u64 slow_since;
	u64 force;
	u32 unsum;
	u64 put;
	u64 got;
	u64 safe;
	u64 *ring;
	u64 ckpt;
	struct lz_life_sum life;
	u32 sum_entries;
	u32 sum_from;
	struct lz_cmd sum;
	struct lz_summary *buf;
};

/* An update of the map since the last checkpoint. */
#define LZ_DENT_UNC	(1ull << 40)	/* not in the journal yet */
#define LZ_DENT_SETTLED	(1ull << 41)	/* the tree's value is already counted off */

struct lz_dent {
	u64 key;		/* lba | LZ_DENT_* */
	u64 addr;
	u32 next;		/* in the hash chain */
	u32 unc;		/* in the shard's list of unjournalled entries */
};

struct lz_extent {
	u64 lba;
	u64 len;
};

/**
 * struct lz_delta - map updates of one checkpoint interval
 * @bucket: heads of hash chains; a shard's buckets lie side by side
 * @e: entries; the first @used are taken
 * @used: entries taken
 * @ext: discarded extents, sorted, disjoint; an entry beats an extent
 * @nr_ext: how many
 */
struct lz_delta {
	u32 *bucket;
	struct lz_dent *e;
	atomic_t used;
	struct lz_extent *ext;
	u32 nr_ext;
};

/**
 * struct lz_shard - a share of the deltas
 * @lock: guards the rest and the shard's entries and buckets in both deltas
 * @active: delta that takes updates
 * @frozen: delta a checkpoint is merging, or NULL
 * @unc: first unjournalled entry of @active
 */
struct lz_shard {
	spinlock_t lock;		/* the rest; entries and buckets of the shard */
	struct lz_delta *active;
	struct lz_delta *frozen;
	u32 unc;
};

/* A map leaf in RAM. */
enum lz_leaf_state { LZ_LEAF_LOADING, LZ_LEAF_READY, LZ_LEAF_ERROR };

struct lz_cached {
	u64 idx;
	u8 state;
	u8 referenced;
	bool seen;		/* somebody has looked at it, long ago */
	u8 tries;		/* reads of it that failed */
	bool busy;		/* the checkpoint has it; not to be dropped */
	struct list_head lru;
	u64 came;		/* when it had been read (ns) */
	struct list_head waiters;
	struct lz_cmd cmd;
	struct lz_node *node;
};

/**
 * struct lz_tree - a radix tree of 4 KiB nodes, its node addresses in RAM
 * @type: LZ_BT_NODE or LZ_BT_ZNODE
 * @levels: levels of nodes below the root
 * @n: nodes of each level
 * @addr: their addresses
 * @dirty: inner levels and the zone table's leaves: to be written
 */
struct lz_tree {
	u16 type;
	u32 levels;
	u64 n[LZ_MAX_LEVELS];
	u64 *addr[LZ_MAX_LEVELS];
	u8 *dirty[LZ_MAX_LEVELS];
};

/**
 * struct lz_stream - where metadata is written next
 * @zone: zone, or LZ_NONE
 * @off: next block
 * @journal: the journal goes through it: zones end with a link
 * @closing: the zone before still counts as open; nothing is written meanwhile
 * @flushing: a write with a flush before it is in flight; nothing is written meanwhile
 * @writes: writes in flight
 * @failures: zones that failed in a row
 * @bad: zone that failed, to be finished as soon as no write is in flight
 * @finish: of it
 */
struct lz_stream {
	u32 zone;
	u32 off;
	bool journal;
	bool closing;
	bool flushing;
	u32 writes;
	u32 failures;
	u32 bad;
	struct lz_cmd finish;
};

/* The journal's buffer and the write of a piece of it. */
struct lz_jbuf {
	struct lz_cmd cmd;
	bool busy;
	bool link;
	u8 *buf;
};

/* A node in a buffer, not yet on the drive. */
struct lz_node_ref {
	struct lz_tree *tree;
	u32 level;
	u64 idx;
	struct lz_cached *c;
};

enum lz_nbuf_state { LZ_NB_FREE, LZ_NB_FILL, LZ_NB_WRITE };

/**
 * struct lz_nbuf - nodes on their way to the drive
 * @state: enum lz_nbuf_state
 * @busy: a piece of it is being written
 * @link: and ends with a link
 * @n: blocks in it
 * @sent: of these, given an address
 * @piece: blocks of the piece being written, without the link
 * @buf: the blocks, and room for a link
 * @ref: which node each is
 * @cmd: the write of a piece
 */
struct lz_nbuf {
	u8 state;
	bool busy;
	bool link;
	u32 n;
	u32 sent;
	u32 piece;
	u8 *buf;
	struct lz_node_ref *ref;
	struct lz_cmd cmd;
};

enum lz_commit_state { LZ_CS_IDLE, LZ_CS_FILL, LZ_CS_WRITE };

/* A record about a zone that waits for the next commit. */
struct lz_zrec {
	u8 type;
	u32 zone;
	u32 len;
	u64 b;
};

enum lz_commit_stage { LZ_CT_MAP, LZ_CT_DISCARD, LZ_CT_ZONE, LZ_CT_END };

/**
 * struct lz_commit - the commit under way (machine)
 * @state: enum lz_commit_state
 * @stage: what is collected next
 * @freeze: it began with a freeze of the delta, for the checkpoint
 * @waits: its last block waits for other writes to the zone
 * @number: its number
 * @first: number of its first block
 * @blocks: blocks it has written
 * @shard: shard being collected
 * @lists: entries to collect, by shard
 * @taken: the list of @shard has been taken over
 * @fill: records in the last block of the buffer
 * @nblocks: blocks in the buffer
 * @sent: of these, given to the drive
 * @sending: and how many are on their way
 * @run_lba: record being extended: its first block
 * @run_addr: and where that is
 * @run_len: its length (blocks), 0: none
 * @waiters: whom it answers
 * @ext: discards to collect
 * @nr_ext: how many
 * @next_ext: the next one
 * @zrec: zone records to collect
 * @nr_zrec: how many
 * @next_zrec: the next one
 */
struct lz_commit {
	u8 state;
	u8 stage;
	bool freeze;
	bool waits;
	u64 number;
	u64 first;
	u64 blocks;
	u32 shard;
	u32 lists[LZ_NR_SHARDS];
	bool taken;
	u32 fill;
	u32 nblocks;
	u32 sent;
	u32 sending;
	u64 run_lba;
	u64 run_addr;
	u32 run_len;
	struct list_head waiters;
	struct lz_extent *ext;
	u32 nr_ext;
	u32 next_ext;
	struct lz_zrec *zrec;
	u32 nr_zrec;
	u32 next_zrec;
};

enum lz_ckpt_state {
	LZ_CK_IDLE,
	LZ_CK_FREEZE,		/* waits for a commit that cuts the delta */
	LZ_CK_MERGE,		/* updates go into the leaves */
	LZ_CK_INNER,		/* inner nodes of the map */
	LZ_CK_SUMMARIES,	/* waits for the open zones' summaries */
	LZ_CK_ZTAB,		/* the zone table */
	LZ_CK_NODES,		/* waits for the last nodes */
	LZ_CK_ROLL,		/* resets the other root zone */
	LZ_CK_ROOT,
};

struct lz_merge_slot {
	u64 leaf;
	bool used;
	bool again;		/* it could not be read, and is read once more */
};

/**
 * struct lz_ckpt - the checkpoint under way (machine)
 * @state: enum lz_ckpt_state
 * @wanted: another is wanted (any context)
 * @clean: the next one is written at an orderly stop
 * @begun: the merge has been prepared
 * @have_victims: metadata zones are being emptied
 * @redo: a node had to be written again: its parents have to be, too
 * @restart: the journal begins anew with it
 * @root_busy: a command to a root zone is in flight
 * @root_tries: attempts to begin a root zone that failed
 * @vain: checkpoints in a row without a block of journal between them, but for links
 * @links: links to other zones in the journal since the cut
 * @records: records in the journal since the cut
 * @number: of the last durable checkpoint
 * @journal_addr: where the journal goes on after the cut
 * @journal_seq: number of the block there
 * @commit: the commit that made the cut
 * @write_seq: device write clock at the cut (blocks)
 * @head: first update of each leaf, LZ_NONE where there is none
 * @next_leaf: leaf the merge looks at next
 * @next_ext: frozen extent it looks at next
 * @level: tree level being written
 * @node: next node of that level
 * @nodes: nodes written by it
 * @victim: by zone: its nodes are written again elsewhere
 * @slot: leaves being merged
 * @root: the write of the root, and the reset before it
 * @root_buf: what it writes, superblocks and all
 * @waiters: whom it answers
 * @waiters_new: whom the next one answers (list_lock)
 */
struct lz_ckpt {
	u8 state;
	bool wanted;
	bool clean;
	bool begun;
	bool have_victims;
	bool redo;
	bool restart;
	bool root_busy;
	u32 root_tries;
	u32 vain;
	u32 links;
	u64 records;
	u64 number;
	u64 journal_addr;
	u64 journal_seq;
	u64 commit;
	u64 write_seq;
	u32 *head;
	u64 next_leaf;
	u32 next_ext;
	u32 level;
	u64 node;
	u64 nodes;
	u8 *victim;
	struct lz_merge_slot slot[LZ_MERGE_WINDOW];
	struct lz_cmd root;
	u8 *root_buf;
	struct list_head waiters;
	struct list_head waiters_new;
};

enum lz_gc_state {
	LZ_GC_IDLE,
	LZ_GC_SUMMARY,		/* a summary is being read */
	LZ_GC_CKPT,		/* waits for a checkpoint before it searches the map */
	LZ_GC_SCAN,		/* the next leaf is wanted */
	LZ_GC_ENTRIES,		/* entries are being looked up and copied */
	LZ_GC_DRAIN,		/* copies are in flight, nothing more to begin */
};

/* What GC knows of victims. */
enum lz_look {
	LZ_LOOK_DUE,		/* something has changed: there may be one */
	LZ_LOOK_BEGUN,		/* it goes through the zones; nothing has changed since */
	LZ_LOOK_IN_VAIN,	/* no zone is worth cleaning until something changes */
};

enum lz_slot_state { LZ_SL_IDLE, LZ_SL_READ, LZ_SL_RESERVE, LZ_SL_APPEND, LZ_SL_MAP };

/**
 * struct lz_gc_slot - blocks on their way from a victim (machine)
 * @state: enum lz_slot_state
 * @class: lifetime class they keep
 * @tries: failed appends
 * @read_tries: reads of which some failed
 * @failed: some of those in flight have
 * @n: blocks
 * @done: of these, moved
 * @next: blocks of the append in flight or done that have been mapped
 * @named: and named for the new zone's summary
 * @used: map entries used up
 * @reads: reads in flight
 * @buf: their data
 * @lba: their logical addresses
 * @old: and where they are
 * @w: the reservation of the append
 * @append: the append
 * @read: the reads, one for what lies together, or one a block
 */
struct lz_gc_slot {
	u8 state;
	u8 class;
	u8 tries;
	u8 read_tries;
	bool failed;
	u32 n;
	u32 done;
	u32 next;
	u32 named;
	u32 used;
	u32 reads;
	u8 *buf;
	u64 *lba;
	u64 *old;
	struct lz_write w;
	struct lz_cmd append;
	struct lz_cmd *read;
};

/**
 * struct lz_trim - what is needed to know when to ask for discards (machine)
 * @looked: at least once
 * @settling: it was about to ask, but a checkpoint may show that there is no need
 * @seq: device write clock when it last looked
 * @base: the fewest blocks mapped since it last asked
 * @copies: blocks GC had copied when it last asked
 * @at: when that was (ns)
 * @discards: blocks discarded when it last began to settle
 * @settled: number of the checkpoint that ends it
 */
struct lz_trim {
	bool looked;
	bool settling;
	u64 seq;
	u64 base;
	u64 copies;
	u64 at;
	u64 discards;
	u64 settled;
};

/**
 * struct lz_gc - garbage collection (machine)
 * @state: enum lz_gc_state
 * @scan: the victim's blocks are found by searching the map
 * @found: and some have been
 * @unread: a leaf of it could not be read
 * @busy: a summary read is in flight
 * @ckpt_done: the checkpoint waited for is durable
 * @early: the victim is cleaned ahead of time, while users write nothing
 * @spare_known: @spare has been reckoned
 * @spare: zones that what is in use would not fill
 * @spare_at: device write clock when that was reckoned
 * @look: enum lz_look; whoever changes something makes it LZ_LOOK_DUE
 * @looked_at: device write clock when the last look began
 * @settled_at: and that of the last one in vain for which a checkpoint was asked for
 * @error: of the summary read
 * @victim: zone being cleaned
 * @head: offset of the summary being read
 * @seq: number of its last block
 * @prev: offset of the one before
 * @leaf: next leaf, when searching
 * @ahead: next leaf to be read, for when it is looked at
 * @unpaid: leaves read for which users have had nothing
 * @valid: blocks the victim had when it was taken, 1 at least
 * @moved: of these have been moved
 * @done: blocks of it that users have had something for
 * @gain: as in struct lz_pace_in
 * @fraction: LZ_PACE_UNITth parts of a block users are to have, too
 * @granted: blocks users might write since GC has to run
 * @n: entries
 * @pos: entries looked at
 * @ent: lz_sum_pack() entries of the victim
 * @by_class: room to sort them in
 * @class: their zone classes
 * @run: blocks a slot takes
 * @want: zones the user asked to be cleaned, and that GC has yet to begin with
 * @aside: zones set aside are looked for from this checkpoint on
 * @ckpt: waits for the checkpoint that a search begins with
 * @cmd: the read of a summary
 * @buf: where to
 * @slot: blocks on their way
 */
struct lz_gc {
	u8 state;
	bool scan;
	bool found;
	bool unread;
	bool busy;
	bool ckpt_done;
	bool early;
	bool spare_known;
	u32 spare;
	u64 spare_at;
	atomic_t look;
	u64 looked_at;
	u64 settled_at;
	int error;
	u32 victim;
	u32 head;
	u32 seq;
	u32 prev;
	u64 leaf;
	u64 ahead;
	u32 unpaid;
	u32 valid;
	u32 moved;
	u32 done;
	u32 gain;
	u32 fraction;
	u64 granted;
	u32 n;
	u32 pos;
	u64 *ent;
	u64 *by_class;
	u8 *class;
	u32 run;
	atomic_t want;
	u64 aside;
	struct lz_waiter ckpt;
	struct lz_cmd cmd;
	struct lz_summary *buf;
	struct lz_gc_slot slot[LZ_GC_SLOTS];
};

struct lz {
	struct lz_geometry g;
	struct lz_options o;
	const struct lz_ops *ops;
	void *ctx;
	struct lz_super_info si;
	u8 mode;
	bool prepared;
	bool loaded;
	bool loading;
	bool stopping;
	u64 epoch;
	u32 budget;
	u32 data_slots;
	u32 append_max;
	u32 ring_size;			/* a power of two */
	u8 zone_shift;
	struct lz_life *life;		/* once that was asked for; then it stays */

	struct lz_zone *zone;
	struct lz_open *open;

	spinlock_t place_lock;			/* down to ended */
	struct lz_zone *cur[2][LZ_NR_ZONE_CLASSES]; /* [gc][class]; read without the lock */
	u32 nr_open;				/* open slots taken */
	u32 nr_free;				/* zones on free_list */
	u32 nr_meta;				/* zones of the metadata log */
	u32 nr_unready;				/* free zones that wait for a reset */
	struct list_head free_list;
	struct lz_place_zone cand[LZ_BUDGET_MAX]; /* of one placement: the stack is deep as it is */
	u32 cand_zone[LZ_BUDGET_MAX];		/* and their numbers */
	u64 ended;				/* when a run of extreme data did; 0: never */

	spinlock_t list_lock;			/* down to nr_zrec */
	struct list_head done_list;
	struct list_head emptied;
	struct list_head flush_waiters;
	struct list_head load_waiters;
	struct lz_zrec *zrec;
	u32 nr_zrec;

	/* the map */
	struct lz_shard shard[LZ_NR_SHARDS];
	struct lz_delta delta[2];
	struct lz_delta *active;		/* takes extents; changed under ext_lock */
	struct lz_delta *frozen;
	u32 delta_cap;				/* entries the active delta may take */
	u32 shard_buckets;			/* a power of two */
	atomic_t delta_space;
	spinlock_t ext_lock;			/* extents of both deltas */
	struct lz_extent *ext_pending;
	u32 nr_ext_pending;
	u32 nr_ext_any;			/* extents in either delta, read without the lock */
	atomic_t discarding;
	bool freeze_wanted;
	atomic_t uncommitted;
	u64 unc_since;
	struct lz_tree map;
	struct lz_tree ztab;
	struct lz_cached **leaf;
	spinlock_t leaf_lock[LZ_NR_LEAF_LOCKS];	/* leaf[] and what it points to */
	struct list_head lru;
	struct lz_cached *leaf_spare;	/* where there is no memory for another */
	u32 nr_cached;			/* read by others, too */
	u32 max_cached;
	atomic_t shrink;		/* leaves others want looked at */

	/* machine */
	struct lz_stream stream[2];
	struct lz_stream *js;		/* journal */
	struct lz_stream *ns;		/* nodes */
	u64 jseq;
	bool journal_lost;		/* until a checkpoint begins it anew */
	bool log_waits;			/* for a free zone, as of the last round */
	bool mem_waits;			/* somebody for memory for a leaf, likewise */
	u32 root_zone;
	u32 root_off;
	bool root_rolling;
	struct lz_jbuf jbuf;
	struct lz_nbuf nbuf[LZ_NODE_BUFS];
	struct lz_commit commit;
	struct lz_ckpt ckpt;
	struct lz_gc gc;
	struct list_head waiting;	/* emptied zones, commit under way */
	struct list_head ready;		/* emptied zones that may be reset */
	struct list_head stale;		/* free zones that must be reset before use */
	u32 resets;
	u32 meta_resets;
	struct lz_cmd reset_cmd[LZ_RESETS_MAX];
	bool reset_busy[LZ_RESETS_MAX];
	u64 committed;			/* last durable commit */
	u32 cmds;			/* commands in flight */
	bool progress;
	bool low_said;
	struct lz_trim trim;
	bool commit_wanted;

	atomic_t starved;		/* somebody got -EAGAIN */
	bool kicked;			/* since the last round began */
	bool was_starved;		/* before the last round, and not fed since */
	bool spent;			/* and there is no hope for them */
	atomic_t trying;		/* writers who look for room once more */
	atomic_t credit;		/* blocks users may write while GC is behind */
	bool pacing;
	bool idle_wanted;		/* GC looks again when writes have ended */
	bool tight;			/* the metadata log must first be tidied */
	u32 lent;			/* zones kept for the log that GC may open */
	atomic64_t write_seq;
	u64 stall_since;
	lz_count_t stat[LZ_NR_STATS];
};

/* core.c */
__printf(3, 4) void lz_say(struct lz *lz, char level, const char *fmt, ...);
void lz_kick(struct lz *lz);
void lz_submit(struct lz *lz, struct lz_cmd *c);
void lz_set_mode(struct lz *lz, u8 mode, const char *why, int error);
void lz_trace(struct lz *lz, u8 what, u32 zone, u8 class, u8 old, u8 new, u64 a, u64 b);
void lz_trace_event(struct lz *lz, const struct lz_trace *t);
bool lz_traced(const struct lz *lz, u8 what);
void lz_count(struct lz *lz, enum lz_stat st, s64 n);
u64 lz_mapped_blocks(const struct lz *lz);
u32 lz_space_step(const struct lz *lz);
u32 lz_spare_zones(const struct lz *lz, u64 mapped);
void lz_starve(struct lz *lz);
void lz_feed(struct lz *lz);
int lz_may_write(const struct lz *lz);
int lz_sync(struct lz *lz);
void lz_answer(struct list_head *waiters, int err);

/* An address may name a zone past 2^32, which must not be taken for one there is. */
static inline u32 lz_addr_zone(const struct lz *lz, u64 addr)
{
	return min_t(u64, addr >> lz->zone_shift, LZ_NONE);
}

static inline u32 lz_addr_off(const struct lz *lz, u64 addr)
{
	return addr & (lz->g.zone_blocks - 1);
}

static inline u64 lz_zone_addr(const struct lz *lz, u32 zone, u32 off)
{
	return ((u64)zone << lz->zone_shift) + off;
}

/* map.c: delta, extents, look-ups */
int lz_map_init(struct lz *lz);
void lz_map_exit(struct lz *lz);
bool lz_delta_reserve(struct lz *lz, u32 n, bool gc);
void lz_delta_return(struct lz *lz, u32 n);
u32 lz_map_insert(struct lz *lz, u64 lba, u64 addr, u32 n);
int lz_map_remap(struct lz *lz, u64 lba, u64 old, u64 addr);
u64 lz_map_get(struct lz *lz, u64 lba);
u32 lz_map_run(struct lz *lz, u64 lba, u32 want, u64 *addr);
bool lz_map_discard_replay(struct lz *lz, u64 lba, u64 n);
bool lz_map_has_entry(struct lz *lz, u64 lba);
void lz_map_take_extents(struct lz *lz);
bool lz_map_freeze(struct lz *lz);
void lz_map_thaw(struct lz *lz);
u32 lz_ext_search(const struct lz_delta *d, u64 lba);
bool lz_ext_touches(const struct lz_delta *d, u32 *next, u64 leaf);
void lz_valid_sub(struct lz *lz, u64 addr, bool gc);

/* leaf.c: the leaves in RAM */
int lz_leaf_init(struct lz *lz);
void lz_leaf_exit(struct lz *lz);
struct lz_cached *lz_leaf_get(struct lz *lz, u64 idx, int *err);
void lz_leaf_again(struct lz *lz, struct lz_cached *c);
struct lz_cached *lz_leaf_new(struct lz *lz, u64 idx);
void lz_leaf_drop(struct lz *lz, struct lz_cached *c);
void lz_leaf_step(struct lz *lz);

/* infer.c: what policy=adaptive makes of the lifetimes core/life.c infers */
int lz_infer_want(struct lz *lz);
void lz_infer_exit(struct lz *lz);
u8 lz_infer_class(struct lz *lz, u8 class, u64 lba, u32 n);
u8 lz_infer_moved(struct lz *lz, const struct lz_zone *z, u64 lba);
void lz_infer_written(struct lz *lz, u8 class, u64 lba, u32 n);
void lz_infer_discarded(struct lz *lz, u64 lba, u64 n);
void lz_infer_named(struct lz *lz, struct lz_open *o, u64 lba, u32 n);
void lz_infer_emptied(struct lz_open *o);
void lz_infer_closed(struct lz_zone *z, const struct lz_open *o);
bool lz_infer_enough(struct lz *lz, u32 open);
bool lz_infer_alone(struct lz *lz);
int lz_infer_zone_rate(struct lz *lz, const struct lz_zone *z, u64 age, u64 now);
void lz_infer_step(struct lz *lz);

/* tree.c: shape of the trees */
int lz_tree_init(struct lz_tree *t, u16 type, u64 leaves, u32 top);
u64 lz_tree_above(const struct lz_tree *t, u32 from);
void lz_tree_exit(struct lz_tree *t);
u64 lz_tree_nodes(u64 leaves, u32 top, u32 *levels, u64 *n);
void lz_tree_set(struct lz_tree *t, u32 level, u64 idx, u64 addr);

/* zone.c */
int lz_zones_init(struct lz *lz);
void lz_zones_exit(struct lz *lz);
u32 lz_zone_room(const struct lz *lz, const struct lz_zone *z);

/* lz_sum_owed - blocks of summaries that name @unsum blocks */
static inline u32 lz_sum_owed(u32 unsum)
{
	return DIV_ROUND_UP(unsum, LZ_FILL_SUMMARY);
}

u32 lz_free_for(struct lz *lz, bool gc);
u32 lz_free_now(struct lz *lz, bool gc);
int lz_zone_reserve(struct lz *lz, u8 class, bool gc, u32 want, struct lz_write *w);
void lz_zone_name(struct lz *lz, struct lz_zone *z, u32 off, u64 lba, u32 n);
void lz_zone_done(struct lz *lz, struct lz_zone *z, u32 reserved, u32 named);
void lz_zone_set_state(struct lz *lz, struct lz_zone *z, u8 state);
void lz_zone_touch(struct lz *lz, const struct lz_zone *z);
struct lz_zone *lz_zone_take_free(struct lz *lz, bool meta);
void lz_zone_freed(struct lz *lz, struct lz_zone *z);
bool lz_writes_pending(const struct lz *lz);
void lz_zone_emptied(struct lz *lz, struct lz_zone *z);
u32 lz_zone_left(struct lz *lz, struct lz_zone *z);
void lz_zone_aside(struct lz *lz, struct lz_zone *z, int error);
bool lz_zone_landed(struct lz *lz, const struct lz_write *w, u64 addr);
u32 lz_zones_lost(const struct lz *lz);
void lz_zones_uncur(struct lz *lz, const struct lz_zone *z);
void lz_zones_ended(struct lz *lz);
void lz_zones_part(struct lz *lz);
struct lz_open *lz_open_slot(struct lz *lz, struct lz_zone *z, bool gc);
void lz_open_release(struct lz *lz, struct lz_zone *z);
void lz_zones_step(struct lz *lz);
bool lz_zrec_add(struct lz *lz, u8 type, u32 zone, u32 len, u64 b);
/* It has failed twice, and is for nothing any more. */
static inline bool lz_zone_worn_out(u8 flags)
{
	return (flags & (LZ_ZF_BAD | LZ_ZF_WORN)) == (LZ_ZF_BAD | LZ_ZF_WORN);
}

/* What is left of a zone's flags when it is reset. */
static inline u8 lz_zone_worn(u8 flags)
{
	return flags & (LZ_ZF_BAD | LZ_ZF_WORN) ? LZ_ZF_WORN : 0;
}

/* For sort(). */
static inline int lz_cmp_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static inline u32 lz_zone_nr(const struct lz *lz, const struct lz_zone *z)
{
	return z - lz->zone;
}

/* reset.c: emptied zones */
bool lz_reset_wanted(struct lz *lz, const struct lz_zone *z, bool full, bool *alone);
void lz_reset_collect(struct lz *lz);
void lz_reset_committed(struct lz *lz);
u32 lz_resets_coming(struct lz *lz);
void lz_reset_step(struct lz *lz);

/* stream.c: metadata zones */
u32 lz_stream_take(struct lz *lz, struct lz_stream *s, u32 want, u64 *addr, bool *link);
void lz_stream_ended(struct lz *lz, struct lz_stream *s, const struct lz_cmd *cmd);
void lz_stream_link(struct lz *lz, struct lz_stream *s, void *block, u64 addr);
bool lz_stream_open(struct lz *lz, struct lz_stream *s);
u64 lz_log_free(struct lz *lz);
u64 lz_log_worst(const struct lz *lz);
bool lz_log_tight(struct lz *lz);
bool lz_log_news(const struct lz *lz);
void lz_meta_release(struct lz *lz);

/* super.c: superblock and roots */
int lz_super_read(struct lz *lz, struct lz_super_info *si, bool quiet);
int lz_root_find(struct lz *lz, const struct lz_zone_report *rep, struct lz_root *root);
int lz_root_goes_on(struct lz *lz, void *buf);
int lz_read_sync(struct lz *lz, u64 addr, u32 n, void *buf);
int lz_cmd_sync(struct lz *lz, struct lz_cmd *c);
int lz_flush_sync(struct lz *lz);
/* Superblocks of a root zone: on a drive that takes fewer blocks at once it is one. */
static inline u32 lz_super_copies(const struct lz *lz)
{
	return min(lz->append_max, lz->g.zone_cap) < LZ_SUPER_COPIES + LZ_ROOT_COPIES ? 1 :
		LZ_SUPER_COPIES;
}

/* replay.c */
/**
 * struct lz_name - blocks that the journal says lie somewhere (load)
 * @addr: where
 * @lba: the first of them
 * @len: how many
 * @life: the life of their zone in which they were written; while the journal is read
 * @next: the next of the same zone; from then on
 */
struct lz_name {
	u64 addr;
	u64 lba;
	u32 len;
	union {
		u32 life;
		u32 next;
	};
};

/**
 * struct lz_sumrec - a summary that the journal says was written (load)
 * @zone: zone
 * @off: offset in it
 * @n: blocks
 * @life: as in struct lz_name
 * @next: likewise
 */
struct lz_sumrec {
	u32 zone;
	u32 off;
	u32 n;
	union {
		u32 life;
		u32 next;
	};
};

/**
 * struct lz_replay - what the journal said (load)
 * @name: mappings, in order; they count only in the life of their zone
 * @nr_name: how many
 * @max_name: and how many there is room for
 * @tidy_at: as soon as there are so many, those that count no more are dropped
 * @sum: summaries written since the checkpoint; likewise
 * @nr_sum: how many
 * @max_sum: and how many there is room for
 * @commits: commits applied
 */
struct lz_replay {
	struct lz_name *name;
	u32 nr_name;
	u32 max_name;
	u32 tidy_at;
	struct lz_sumrec *sum;
	u32 nr_sum;
	u32 max_sum;
	u64 commits;
};

struct lz_load;
int lz_replay(struct lz *lz, struct lz_load *l, const struct lz_root *root);
void lz_replay_free(struct lz_replay *r);
void *lz_grow(void *old, u32 *max, u32 need, size_t size);
/* Types of records, and in which order those of a commit are applied. */
#define LZ_JREC_TYPES	5
extern const u8 lz_jrec_order[LZ_JREC_TYPES];
const char *lz_jrec_odd(const struct lz *lz, const struct lz_jrec *rec);
void lz_jrec_to_zone(struct lz_zone *z, const struct lz_jrec *rec);
/* Blocks of a zone that may hold something. */
static inline u32 lz_zone_written(const struct lz *lz, const struct lz_zone_report *rep)
{
	return lz_report_written(rep, lz->g.zone_cap);
}

/* setup.c */
int lz_setup(struct lz *lz);
void lz_free_zone_add(struct lz *lz, struct lz_zone *z);
int lz_open_journal(struct lz *lz);
int lz_first_checkpoint(struct lz *lz);
int lz_load_empty(struct lz *lz, const struct lz_super_info *si, const struct lz_zone_report *rep);

/**
 * struct lz_load - a load
 * @r: what the journal said
 * @rep: by zone, as the drive reports it and as it is changed since
 * @named: by block of a zone: a summary names it
 * @buf: two blocks
 * @stale: zones reset so far
 * @ro: nothing is written
 */
struct lz_load {
	struct lz_replay r;
	struct lz_zone_report *rep;
	u8 *named;
	void *buf;
	u32 stale;
	bool ro;
};

/* adopt.c: zones as the drive has them */
int lz_reconcile(struct lz *lz, struct lz_load *l, u32 node_zone);
void lz_load_finish(struct lz *lz, struct lz_load *l, u32 zone);
void lz_load_reset(struct lz *lz, struct lz_load *l, u32 zone);
void lz_keep_bad(struct lz_zone *z);
/* A repair raises the epoch by more than a recovery, so that one cut short is known. */
#define LZ_REPAIR_EPOCHS	2u
/* commit.c */
void lz_commit_step(struct lz *lz);
void lz_journal_lost(struct lz *lz);
/* node.c: writing nodes */
int lz_nodes_init(struct lz *lz);
void lz_nodes_exit(struct lz *lz);
struct lz_node_ref *lz_node_put(struct lz *lz, void **block);
void lz_node_unput(struct lz *lz, struct lz_node_ref *r);
void lz_nodes_flush(struct lz *lz);
bool lz_nodes_addressed(const struct lz *lz);
bool lz_nodes_written(const struct lz *lz);
void lz_node_dead(struct lz *lz, u64 addr);
void lz_nodes_step(struct lz *lz);
/* checkpoint.c */
int lz_ckpt_init(struct lz *lz);
void lz_ckpt_exit(struct lz *lz);
void lz_ckpt_step(struct lz *lz);
void lz_ckpt_want(struct lz *lz);
u64 lz_ckpt_chain(struct lz *lz, struct lz_delta *d);
/* layout.c */
void lz_super_encode(const struct lz_super_info *si, struct lz_super *s, u64 addr, u64 epoch,
		     u64 seq);
void lz_super_decode(const struct lz_super *s, struct lz_super_info *si);
u32 lz_budget(const struct lz_geometry *g, u32 max_open);
/* relocate.c */
int lz_gc_init(struct lz *lz);
void lz_gc_exit(struct lz *lz);
void lz_gc_step(struct lz *lz);
/* There may be something to clean: GC looks, or looks again. */
static inline void lz_gc_look(struct lz *lz)
{
	/* What has changed comes first; pairs with the exchange in gc_begin(). */
	smp_mb();
	atomic_set(&lz->gc.look, LZ_LOOK_DUE);
}

/* It has, and no zone is worth cleaning. */
static inline bool lz_gc_in_vain(const struct lz *lz)
{
	return atomic_read(&lz->gc.look) == LZ_LOOK_IN_VAIN;
}

#endif /* LIFEZONE_LZ_H */
