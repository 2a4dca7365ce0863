/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A world: one drive, one instance of core at a time on it, its users, and
 * everything about them drawn from one seed.
 */
#ifndef LZCRASH_WORLD_H
#define LZCRASH_WORLD_H

#include <setjmp.h>
#include "arena.h"
#include "drive.h"
#include "oracle.h"
#include "rnd.h"

#define NR_PHASES	8
#define MAX_REQS	16u
#define MAX_BLOCKS	32u		/* of a write or a piece of a read */

extern const char * const phase_names[NR_PHASES];

/**
 * struct tally - what worlds add up to
 * @cuts: power cuts
 * @distinct: of these, different ones
 * @phase: of these, inside each phase of lz_phase()
 * @ops: requests served
 * @steps: steps of the scheduler
 * @checks: lz_check() runs
 * @reloads: orderly stops followed by a load
 * @refused: geometries lz_layout() refused
 */
struct tally {
	u64 cuts;
	u64 distinct;
	u64 phase[NR_PHASES];
	u64 ops;
	u64 steps;
	u64 checks;
	u64 reloads;
	u64 refused;
};

/**
 * struct run - how to run a world
 * @seed: of the campaign
 * @index: of the world
 * @trials: cuts tried before each from which the world goes on, 0: as it is drawn
 * @lives: cuts from which the world goes on, 0: as it is drawn
 * @trace_from: print a trace from this cut on; ~0: none
 * @export: folder in which the drive is left as cuts leave it; NULL: none
 * @every: at each so many cuts
 * @deep: with a map of more than one level of nodes, whatever is drawn
 * @small: on drives of at most 28 zones of 8 or 16 blocks, whatever is drawn
 * @ops: requests between two cuts, about, 0: as is drawn
 * @depth: concurrent requests, 0: as is drawn
 * @without: bits of kinds of things that do not happen
 */
struct run {
	u64 seed;
	u32 index;
	u32 trials;
	u32 lives;
	u32 trace_from;
	const char *export;
	u32 every;
	bool deep;
	bool small;
	u32 ops;
	u32 depth;
	u32 without;
};

/* What a world may do without: faults of zones, and what has a chance in struct load. */
#define NR_WITHOUT	15u
const char *without_name(u32 kind);
/* The bit of a kind; 0: there is none. */
u32 without_bit(const char *name);

/* Cuts of the world @index of a campaign like @run, at least. */
u32 world_cuts(const struct run *run, u32 index);
/* Runs it; false with one line in @why if it failed. */
bool world_run(const struct run *run, struct tally *t, char *why, size_t n);
/* Which cut the running world waits for, for a signal handler. */
extern u32 world_cut_now;

/* --- inside ------------------------------------------------------------------------ */

enum req_kind { RQ_FREE, RQ_WRITE, RQ_READ, RQ_FLUSH, RQ_DISCARD, RQ_CHECKPOINT,
		RQ_GC, RQ_OPTION };

enum req_state {
	RS_RUN,			/* may go on at once */
	RS_PARTS,		/* waits for its commands */
	RS_RESUME,		/* for ops->resume */
	RS_CORE,		/* for core to call its waiter */
	RS_BUSY,		/* is being worked on */
};

struct stretch {
	u32 lba;
	u32 n;
};

/**
 * struct req - a user's request
 * @kind: enum req_kind
 * @state: enum req_state
 * @class: lifetime of a write
 * @fua: a flush follows the write
 * @flushing: and it is under way
 * @lba: first block
 * @n: length (blocks)
 * @next: read: blocks given out in parts so far
 * @todo: write: stretches still to be given out in parts
 * @nr_todo: how many
 * @parts: parts in flight
 * @tries: appends of it that failed
 * @ver: version written
 * @moment: when the flush was asked for
 * @since: step at which it was issued
 * @w: waiter for core
 * @world: whose it is
 */
struct req {
	u8 kind;
	u8 state;
	u8 class;
	bool fua;
	bool flushing;
	u32 lba;
	u32 n;
	u32 next;
	struct stretch todo[MAX_BLOCKS];
	u32 nr_todo;
	u32 parts;
	u32 tries;
	u64 ver;
	u64 moment;
	u64 since;
	struct lz_waiter w;
	struct world *world;
};

/**
 * struct io - a command in flight: core's (@cmd) or a part of a request (@rq)
 * @dc: as the drive has it
 * @cmd: core's, or NULL
 * @rq: request it is a part of, or NULL
 * @w: where a part of a write goes
 * @r: where a part of a read is
 * @lba: first block of the part
 * @n: length (blocks)
 * @next: next one in flight, or free
 * @tags: what is written, or was read, block by block
 * @expect: read: the values that blocks had when it began
 */
struct io {
	struct drive_cmd dc;
	struct lz_cmd *cmd;
	struct req *rq;
	struct lz_write w;
	struct lz_read r;
	u32 lba;
	u32 n;
	struct io *next;
	u64 tags[MAX_BLOCKS];
	u64 expect[MAX_BLOCKS];
};

/**
 * struct io_pool - memory for them
 * @free: linked through @next
 * @chunk: arrays of IO_CHUNK each
 * @nr: how many
 */
struct io_pool {
	struct io *free;
	struct io *chunk[64];
	u32 nr;
};

#define IO_CHUNK	256u

/**
 * struct load - chances, per thousand unless said, which make a world's character
 * @write: requests by kind
 * @read: likewise
 * @flush: likewise
 * @discard: likewise
 * @option: likewise
 * @gc: likewise
 * @checkpoint: likewise
 * @stop: suspend and resume
 * @reload: stop and load
 * @fua: of writes
 * @hot: of writes, those to the hot area
 * @hot_blocks: size of the hot area
 * @len: longest write (blocks)
 * @depth: concurrent requests
 * @classes: lifetime classes in use
 * @user_weight: how often the scheduler picks each kind of step, relatively
 * @drive_weight: likewise
 * @run_weight: likewise
 * @now_permille: commands that end within submit
 * @step_ns: time a step takes, at most
 * @nested: recoveries that are cut
 * @idle: pauses between requests, long enough for timers
 * @yield: locks core takes, on average, until another context gets in, 0: never
 * @host_dies: cuts that only the host suffers
 * @stride: writes go round the device in steps of so many blocks, 0: anywhere
 * @roam: the hot area moves after each cut
 */
struct load {
	u32 write, read, flush, discard, option, gc, checkpoint, stop, reload;
	u32 fua;
	u32 hot;
	u32 hot_blocks;
	u32 len;
	u32 depth;
	u32 classes;
	u32 user_weight, drive_weight, run_weight;
	u32 now_permille;
	u32 step_ns;
	u32 nested;
	u32 idle;
	u32 yield;
	u32 host_dies;
	u32 stride;
	bool roam;
};

/* Whose code runs: what may get in between it. */
enum ctx { CTX_HOST, CTX_MACHINE, CTX_DATA };

struct world {
	const struct run *run;
	struct tally *t;
	struct rnd rnd;
	struct drive *d;
	struct lz *lz;
	struct lz_geometry g;
	struct lz_super_info si;
	struct lz_options o;
	struct lz_zone_report *report;
	struct oracle oracle;
	struct load load;
	u32 nr;				/* logical blocks */
	u32 summary;			/* entries in one */
	bool wide;			/* many leaves, few written at a time */
	u32 max_leaves;			/* map leaves in RAM at most, 0: core's choice */

	u64 now;
	bool kicked;
	bool timer;
	u64 timer_at;
	u32 ended;			/* commands ended since the last wait */
	u8 context;			/* enum ctx */
	bool interrupted;		/* by another context, which is not */
	u32 resumes;			/* calls of ops->resume */
	u32 hot_at;			/* first block of the hot area */
	u32 faults;			/* zones that may still go bad */
	u32 fault_every;		/* steps until the next, on average */
	bool lost;			/* the journal cannot go on where it ends */
	bool faulty;			/* some may, or have */
	bool erring;			/* single commands may fail, too */
	bool may_die;			/* and core may end writing for it */
	bool dead;			/* it did */
	bool may_fill;			/* so many zones may be lost that space is */
	bool lz_ready;			/* the instance is loaded */
	bool few_leaves;		/* of the map in RAM */
	bool unreadable;		/* metadata may be */
	bool rewound;			/* the journal may be: a cut leaves older values */
	u32 refused;			/* requests that ended with an error */
	u64 epoch;			/* of the last instance that wrote */

	struct req req[MAX_REQS];
	u32 nr_reqs;
	u32 nr_ready;
	bool no_new;
	struct io_pool ios;

	u32 lives;			/* cuts after which the drive goes on from what is left */
	u32 trials;			/* cuts tried on a copy, before each of these */
	struct drive *copy;
	struct io_pool copy_ios;
	bool trying;
	u64 trial_at;			/* step of the next */
	u32 trial_phases;		/* if one of these phases, if any, does not come first */

	u32 cuts;
	u64 *seen;			/* hashes of what they left, 0: none */
	u32 nr_seen;
	u32 seen_max;
	u32 ops;			/* since the last cut */
	u64 steps;
	u64 progress;			/* step at which a request last completed */
	u32 trial_skip;			/* and that many steps more in it */
	u32 min_ops;			/* requests between two cuts, at least */
	u32 cut_ops;			/* cut after that many requests */
	u32 cut_phases;			/* wait for one of these phases, if any */
	u32 cut_skip;			/* and that many steps more in it */
	u64 cut_by;			/* but not beyond this step */
	bool cut_in_stop;
	s64 wait_cut;			/* commands until a cut within a wait, or < 0 */
	u32 nesting;			/* recoveries cut in a row */
	u32 load_cmds;			/* commands the last load took */
	u32 wait_cmds;			/* commands ended in waits, in this call */
	u64 ver;
	bool tracing;
	bool survived;			/* the whole of its life */
	bool damaged;			/* core raised an event it should not have */
	u32 check_errors;		/* that lz_check() found */
	bool log_fails;			/* zones of the metadata log may go bad, too */
	bool deep;			/* a map of more than one level of nodes */
	bool scattered;			/* updates never lie side by side */
	bool long_journal;		/* and many commits fall into a checkpoint */
	bool harmed;			/* a block of metadata was damaged: core may refuse it */
	bool said;			/* core has reported an error */
	u8 *gone;			/* by logical block: it may be, in a zone that was reset */
	u32 *failed;			/* by zone: the life in which a write failed, plus one */

	jmp_buf on_cut;
	jmp_buf on_fail;
	char *why;
	size_t why_size;
};

void __printf(2, 3) __noreturn world_fail(void *ctx, const char *fmt, ...);
void __printf(2, 3) world_trace(struct world *w, const char *fmt, ...);
/* Other options for core, drawn at random. */
void world_options(struct world *w);

#define trace(w, ...)						\
	do {							\
		struct world *__w = (w);			\
								\
		if (unlikely(__w->tracing))			\
			world_trace(__w, __VA_ARGS__);		\
	} while (0)

/* host.c: what core needs of a host, and the scheduler */
extern const struct lz_ops host_ops;
struct io *host_io(struct world *w);
void host_submit_part(struct world *w, struct io *io);
/* One step of anything; false if there was nothing to do. */
bool host_step(struct world *w);
void host_forget(struct world *w);
/* The core of this world may be interrupted from now on; NULL: none. */
void host_yields(struct world *w);
void host_exit(struct io_pool *ios);

/* users.c: requests */
void users_init(struct world *w);
void users_new(struct world *w);
void users_go_on(struct world *w);
void users_resume(struct world *w);
bool users_write_waits(const struct world *w);
/* Core has set a zone aside. */
void users_aside(struct world *w, u32 zone);
void users_part_done(struct world *w, struct io *io);
void users_forget(struct world *w);
/* Read every block and compare; @exact: nothing may be lost. */
void users_verify(struct world *w, bool exact);

/* peek.c: looks inside core */
void peek_limit_leaves(struct lz *lz, u32 n);
u64 peek_epoch(struct lz *lz);
/* Blocks of the root zone that are left. */
u32 peek_root_room(struct lz *lz);
u8 peek_zone_state(struct lz *lz, u32 zone);
/* The zone GC writes to, 0: none. */
u32 peek_gc_zone(struct lz *lz);
/* The zone the journal is in, 0: none. */
u32 peek_journal_zone(struct lz *lz);
bool peek_journal_lost(struct lz *lz);
/* What does not add up while nobody uses it. */
const char *peek_balance(struct lz *lz);
/* Is it a block of metadata that recovery would believe? */
bool peek_whole(const void *block);
bool peek_reserve_taken(struct lz *lz, bool gc);
bool peek_room_untold(struct lz *lz);
void peek_print(struct lz *lz);

#endif /* LZCRASH_WORLD_H */
