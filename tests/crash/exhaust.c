// SPDX-License-Identifier: GPL-2.0-only
/*
 * lzexhaust: all that can happen on the smallest drive, instead of some of what
 * can happen on larger ones.
 *
 * From each of a few prepared states, every sequence of so many operations, every
 * order in which commands take effect and complete, the machine runs and the next
 * operation comes; and wherever that leads, every cut: each zone keeps any length
 * between what is durable and what is written, and a write with a flush before it
 * is done, half done, or just its flush. Each of these is recovered, and all
 * blocks are compared with what they may hold.
 *
 * Without --fine the machine runs as soon as a command of its own has ended, and
 * writes that are not flushes take effect as they are submitted.
 *
 * --delays N bounds how often something overtakes what would come first by itself
 * (delay bounding: Emmi, Qadeer, Rakamaric, POPL 2011): where GC, commit, checkpoint
 * and resets go on side by side, all orders are too many.
 *
 * A state is all memory of the instance, the drive and the harness. One that has
 * been seen is not gone on from.
 *
 * What is found first is seldom the shortest way to a failure. So it is looked for again,
 * with no operation, one, and so on, and of these with few things that overtake another
 * first; unless --as-is.
 */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "planted.h"
#include "tiny.h"

#define MAX_STEPS	400u
#define MAX_ACTIONS	48u
#define MAX_ARGS	32u
#define SHORT_DELAYS	2u	/* for ways that are shorter */

unsigned int yield_depth, yield_in;

/* Here nothing gets in between. */
void yield_now(void)
{
}

static u32 depth = 2;
static u32 delays = ~0u;
static bool faults;
static const char *state_name = "none";
static u32 state_nr;
static bool as_is;
static char **args;			/* of the command */
static u32 nr_args;
static char path[MAX_STEPS][24];
static u32 steps;
static u64 nr_states;

/* Becomes the same search with so many operations and delays. */
static void __noreturn search_with(u32 ops, u32 late)
{
	char state[12], nr[12], n[12], *v[MAX_ARGS + 8] = { };
	const char * const more[] = {
		"--state", state, "--depth", nr, "--delays", n, "--as-is",
	};

	if (nr_args > MAX_ARGS)
		_exit(0);
	snprintf(state, sizeof(state), "%u", state_nr);
	snprintf(nr, sizeof(nr), "%u", ops);
	snprintf(n, sizeof(n), "%u", late);
	memcpy(v, args, nr_args * sizeof(*v));
	memcpy(v + nr_args, more, sizeof(more));
	execv("/proc/self/exe", v);
	_exit(0);
}

/* Tried by another process, that prints nothing. */
static bool fails_with(u32 ops, u32 late)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return false;
	if (!pid) {
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		search_with(ops, late);
	}
	waitpid(pid, &status, 0);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

static void shorten(u32 ops)
{
	u32 i, late;

	for (i = 0; i <= ops; i++)
		for (late = 0; late <= min(delays, SHORT_DELAYS); late++)
			if (fails_with(i, late))
				search_with(i, late);
}

void __printf(1, 2) __noreturn tiny_fail(const char *fmt, ...)
{
	va_list ap;
	u32 i;

	if (!as_is)
		shorten(tiny.nr_ops);
	printf("FAIL state '%s':", state_name);
	for (i = 0; i < steps; i++)
		printf(" %s;", path[i]);
	putchar(' ');
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	tiny_print_cut();
	printf("\nreplay:");
	for (i = 0; i < nr_args; i++)
		printf(" %s", args[i]);
	printf(as_is ? "\n" : " --state %u --as-is\n", state_nr);
	exit(1);
}

static void on_signal(int sig)
{
	tiny_fail("signal %d", sig);
}

static struct set seen_states;

bool set_add(struct set *s, u64 h)
{
	u64 i;

	h += !h;
	if (2 * s->used >= s->size) {
		struct set old = *s;

		s->size = old.size ? 2 * old.size : 1 << 16;
		s->slot = calloc(s->size, sizeof(u64));
		if (!s->slot)
			abort();
		s->used = 0;
		for (i = 0; i < old.size; i++)
			if (old.slot[i])
				set_add(s, old.slot[i]);
		free(old.slot);
	}
	for (i = rnd_mix(h) & (s->size - 1); s->slot[i]; i = (i + 1) & (s->size - 1))
		if (s->slot[i] == h)
			return false;
	s->slot[i] = h;
	s->used++;
	return true;
}

static u32 lba_of(u32 kind)
{
	return kind == OP_WRITE_1 || kind == OP_FUA_1 || kind == OP_DISCARD_1 ||
	       kind == OP_ZEROES_1;
}

enum what { DO_RUN, DO_MOVE, DO_RETRY, DO_ISSUE };

/* @delay: how many others, that would come first by themselves, it overtakes */
struct action {
	u8 what;
	u32 arg;
	u32 delay;
};

static u64 seq_of(const struct action *a)
{
	return tiny.io[a->arg].dc.seq;
}

static u32 list_actions(struct action *a)
{
	bool quiet = !tiny.kicked && !tiny_drive->nr_cmds;
	u32 n = 0, i, k, first, in_order;

	if (tiny.kicked)
		a[n++] = (struct action){ DO_RUN, 0, 0 };
	first = n;
	for (i = 0; i < MAX_IOS; i++)
		if (tiny.io[i].used && drive_may_move(tiny_drive, &tiny.io[i].dc))
			a[n++] = (struct action){ DO_MOVE, i, 0 };
	/* By themselves, commands end in the order they came. */
	for (i = first; i < n; i++)
		for (k = i; k > first && seq_of(&a[k]) < seq_of(&a[k - 1]); k--)
			swap(a[k], a[k - 1]);
	for (i = 0; i < tiny.nr_ops; i++) {
		if (tiny.op[i].state == OS_READY)
			a[n++] = (struct action){ DO_RETRY, i, 0 };
		quiet &= tiny.op[i].state == OS_DONE;
	}
	for (i = 0; i < n; i++)
		a[i].delay = i;
	in_order = n ? 1 : 0;
	if (tiny.nr_ops < depth)
		for (i = 0; i < NR_OPS; i++)
			if (i != OP_RELOAD || quiet)
				a[n++] = (struct action){ DO_ISSUE, i, in_order };
	return n;
}

static void act(struct action a)
{
	struct xio *io = &tiny.io[a.arg];

	if (steps == MAX_STEPS)
		tiny_fail("more than %u steps", MAX_STEPS);
	tiny_said[0] = 0;
	switch (a.what) {
	case DO_RUN:
		snprintf(path[steps++], sizeof(path[0]), "run");
		tiny.kicked = false;
		lz_run(tiny.lz);
		break;
	case DO_MOVE:
		snprintf(path[steps++], sizeof(path[0]), "%s %s zone %u",
			 io->dc.executed ? "end" : "do", drive_op_name(io->dc.op), io->dc.zone);
		/* That it has taken effect before it ends only a cut can tell, and does. */
		if (io->dc.executed || io->dc.op == LZ_OP_READ || !tiny_fine) {
			if (!io->dc.executed)
				drive_execute(tiny_drive, &io->dc);
			tiny_complete(io);
			if (tiny.kicked && !tiny_fine) {
				tiny.kicked = false;
				lz_run(tiny.lz);
			}
		} else {
			drive_execute(tiny_drive, &io->dc);
		}
		break;
	case DO_RETRY:
		snprintf(path[steps++], sizeof(path[0]), "retry %u", a.arg);
		tiny_go(&tiny.op[a.arg]);
		break;
	case DO_ISSUE:
		snprintf(path[steps++], sizeof(path[0]), "%s", op_names[a.arg]);
		tiny_issue(a.arg, lba_of(a.arg));
		break;
	}
	if (tiny_said[0] && !tiny_faulty)
		tiny_fail("core said: %s", tiny_said);
}

/* Of what a flush covers, only what is still there matters. */
static u64 io_hash(const struct xio *io)
{
	u64 h = rnd_mix(io->dc.executed + 2 * io->dc.op + 64 * io->dc.zone +
			4096 * io->dc.off + 65536 * io->dc.n);
	u32 i;

	h = rnd_mix(h + (uintptr_t)io->cmd);
	if (io->op)
		h = tiny_hash(h + (io->op - tiny.op), &io->w, sizeof(io->w));
	for (i = 0; io->dc.snap && i < tiny_geo.nr_zones; i++)
		if (tiny_drive->z[i].gen == io->dc.snap[i] >> 32)
			h = rnd_mix(h + i) + (u32)io->dc.snap[i];
	return rnd_mix(h);
}

/* Moments matter only as before or after what is still to be answered. */
static u64 op_hash(const struct xop *op)
{
	u64 h = rnd_mix(op->state + 8 * op->op + 256 * op->lba) + op->tag;
	u32 i, k;

	if (op->state == OS_DONE)
		return 0;
	if (op->state != OS_CORE)
		return rnd_mix(h);
	h = tiny_hash(h, &op->w, sizeof(op->w));
	for (i = 0; i < tiny_blocks; i++)
		for (k = 0; k < tiny.held[i].n; k++)
			h = rnd_mix(h + (tiny.held[i].time[k] <= op->moment));
	return h;
}

static u64 state_hash(void)
{
	lz_count_t stat[LZ_NR_STATS];
	struct lz_trim trim = tiny.lz->trim;
	u64 h = drive_hash(tiny_drive) + tiny_held_hash();
	u32 i;

	/* Counters count what led here, which matters no more; nor does when it last asked. */
	memcpy(stat, tiny.lz->stat, sizeof(stat));
	memset(tiny.lz->stat, 0, sizeof(stat));
	memset(&tiny.lz->trim, 0, sizeof(trim));
	h += arena_hash(tiny_hash);
	memcpy(tiny.lz->stat, stat, sizeof(stat));
	tiny.lz->trim = trim;
	h = rnd_mix(h + tiny.nr_ops + 8 * tiny.kicked);
	for (i = 0; i < tiny.nr_ops; i++)
		h = rnd_mix(h + op_hash(&tiny.op[i]));
	for (i = 0; i < MAX_IOS; i++)
		if (tiny.io[i].used)
			h += io_hash(&tiny.io[i]);
	return h;
}

/**
 * struct snapshot - a state to come back to
 * @arena: memory of the instance
 * @size: of that buffer (bytes)
 * @drive: the drive
 * @x: the harness
 */
struct snapshot {
	void *arena;
	size_t size;
	void *drive;
	u8 x[sizeof(tiny)];
};

/* One a step, kept for the next that gets so far. */
static struct snapshot snapshots[MAX_STEPS + 1];

static void save(struct snapshot *s)
{
	if (s->size < arena_state_size()) {
		s->size = arena_state_size();
		s->arena = realloc(s->arena, s->size);
	}
	s->drive = realloc(s->drive, drive_state_size(tiny_drive));
	if (!s->arena || !s->drive)
		abort();
	arena_save(s->arena);
	drive_save(tiny_drive, s->drive);
	memcpy(s->x, &tiny, sizeof(tiny));
}

static void restore(const struct snapshot *s)
{
	arena_restore(s->arena);
	drive_restore(tiny_drive, s->drive);
	memcpy(&tiny, s->x, sizeof(tiny));
}

static void explore(u32 left)
{
	struct action a[MAX_ACTIONS];
	u32 n, i, at = steps, allowed = 0;

	tiny_clear_dead();
	if (!set_add(&seen_states, state_hash() + left))
		return;
	if (!(++nr_states & 0xfffff))
		printf("     %llu states, %llu cuts, %llu distinct\n",
		       (unsigned long long)nr_states, (unsigned long long)tiny_cuts.cuts,
		       (unsigned long long)tiny_cuts.images);
	tiny_cut_everywhere();
	n = list_actions(a);
	if (!n) {
		for (i = 0; i < tiny.nr_ops; i++)
			if (tiny.op[i].state != OS_DONE)
				tiny_fail("%s never ends", op_names[tiny.op[i].op]);
		return;
	}
	for (i = 0; i < n; i++)
		allowed += a[i].delay <= left;
	if (allowed > 1)
		save(&snapshots[at]);
	for (i = 0; i < n; i++) {
		if (a[i].delay > left)
			continue;
		if (i)
			restore(&snapshots[at]);
		act(a[i]);
		explore(left == ~0u ? left : left - a[i].delay);
		steps = at;
	}
}

/* Writes to a zone fail from the start, with the write pointer moved or not. */
static void explore_faults(u32 state)
{
	u32 zone, fault;

	for (zone = 0; zone < tiny_geo.nr_zones; zone++) {
		for (fault = DRIVE_FAIL_WRITE; fault <= DRIVE_FAIL_WRITE_ADVANCE; fault++) {
			if ((zone || fault != DRIVE_FAIL_WRITE) && !tiny_prepare(state))
				abort();
			tiny.nr_ops = 0;
			tiny_drive->z[zone].fault = fault;
			explore(delays);
		}
	}
}

static bool from_state(u32 state)
{
	clock_t start = clock();
	struct tiny_cuts *t = &tiny_cuts;

	t->states = 0;
	t->cuts = 0;
	t->images = 0;
	t->in_recovery = 0;
	t->refused = 0;
	nr_states = 0;
	state_nr = state;
	if (!tiny_prepare(state)) {
		printf("FAIL %s: no such state found\n", state_name);
		return false;
	}
	tiny.nr_ops = 0;
	tiny_faulty = faults;
	if (faults)
		explore_faults(state);
	else
		explore(delays);
	tiny_faulty = false;
	printf("%s %-20s %llu states, %llu cut, %llu cuts, %llu distinct",
	       t->cuts ? "ok  " : "FAIL", state_name, (unsigned long long)nr_states,
	       (unsigned long long)t->states,
	       (unsigned long long)t->cuts, (unsigned long long)t->images);
	if (t->nested)
		printf(" (%llu of recoveries)", (unsigned long long)t->in_recovery);
	if (t->refused)
		printf(" (%llu refused)", (unsigned long long)t->refused);
	printf(", %.1f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
	return t->cuts;
}

static void usage(void)
{
	printf("lzexhaust [--depth N] [--state NUMBER] [--delays N] [--fine] [--plant NAME]\n"
	       "          [--nested] [--holes] [--tears] [--bad] [--faults] [--as-is]\n");
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "depth", required_argument, NULL, 'd' },
		{ "state", required_argument, NULL, 's' },
		{ "delays", required_argument, NULL, 'D' },
		{ "plant", required_argument, NULL, 'p' },
		{ "nested", no_argument, NULL, 'n' },
		{ "holes", no_argument, NULL, 'h' },
		{ "tears", no_argument, NULL, 't' },
		{ "bad", no_argument, NULL, 'b' },
		{ "faults", no_argument, NULL, 'F' },
		{ "fine", no_argument, NULL, 'f' },
		{ "as-is", no_argument, NULL, 'a' },
		{ }
	};
	u32 only = ~0u, i, passed = 0, failed = 0;
	int c;

	setlinebuf(stdout);
	args = argv;
	nr_args = argc;
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'd':
			depth = min_t(u32, strtoul(optarg, NULL, 0), MAX_OPS);
			break;
		case 's':
			only = strtoul(optarg, NULL, 0);
			break;
		case 'n':
			tiny_cuts.nested = true;
			break;
		case 'h':
			tiny_cuts.holes = true;
			break;
		case 't':
			tiny_cuts.tears = true;
			break;
		case 'b':
			tiny_cuts.bad = true;
			break;
		case 'F':
			faults = true;
			break;
		case 'D':
			delays = strtoul(optarg, NULL, 0);
			break;
		case 'p':
			if (!plant_set(optarg))
				return 2;
			break;
		case 'f':
			tiny_fine = true;
			break;
		case 'a':
			as_is = true;
			break;
		default:
			usage();
			return 2;
		}
	}
	signal(SIGABRT, on_signal);
	signal(SIGSEGV, on_signal);
	for (i = 0; (state_name = tiny_state_name(i)); i++) {
		if (only != ~0u && i != only)
			continue;
		if (from_state(i))
			passed++;
		else
			failed++;
	}
	printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	return failed != 0;
}
