// SPDX-License-Identifier: GPL-2.0-only
/* Worlds run by several processes, which may end in any way. */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "workers.h"

#define STUCK_SECONDS	3u	/* of processor time without a cut */

struct worker *me;
struct run current = { .trace_from = ~0u, .every = 1 };
struct shared *sh;
u32 nr_jobs = 1;

double seconds_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void set_failure(const char *why)
{
	u32 limit;

	me->fail.index = current.index;
	me->fail.cut = world_cut_now;
	snprintf(me->fail.why, sizeof(me->fail.why), "%s", why);
	limit = __atomic_load_n(&sh->limit, __ATOMIC_SEQ_CST);
	while (current.index < limit &&
	       !__atomic_compare_exchange_n(&sh->limit, &limit, current.index, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

/* An assertion, a wild pointer or an endless loop in core. */
static void on_signal(int sig)
{
	char why[80];

	snprintf(why, sizeof(why), "%s", sig == SIGABRT ? "assertion failed" :
		 sig == SIGVTALRM ? "stuck in an endless loop" :
		 sig == SIGSEGV ? "segmentation fault" : "killed by a signal");
	set_failure(why);
	_exit(2);
}

/* No cut since the last time? */
static void on_alarm(int sig)
{
	static u32 index = ~0u, cut;

	if (index == current.index && cut == world_cut_now)
		on_signal(sig);
	index = current.index;
	cut = world_cut_now;
}

static void catch_signals(void)
{
	static const int sigs[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
	u32 i;

	signal(SIGVTALRM, on_alarm);
	for (i = 0; i < ARRAY_SIZE(sigs); i++)
		signal(sigs[i], on_signal);
}

static void arm_watchdog(void)
{
	struct itimerval it = {
		.it_value.tv_sec = STUCK_SECONDS, .it_interval.tv_sec = STUCK_SECONDS,
	};

	setitimer(ITIMER_VIRTUAL, &it, NULL);
}

pid_t worker_start(u32 i)
{
	pid_t pid;

	me = &sh->w[i];
	me->fail.index = ~0u;
	pid = fork();
	if (pid < 0)
		abort();
	if (!pid) {
		catch_signals();
		arm_watchdog();
	}
	return pid;
}

void workers_init(void)
{
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sh == MAP_FAILED)
		abort();
}

void workers_begin(void)
{
	memset(sh, 0, sizeof(*sh));
	sh->limit = ~0u;
	fflush(stdout);
}

bool run_one(u32 index)
{
	char why[480];
	bool ok;

	current.index = index;
	ok = world_run(&current, &me->t, why, sizeof(why));
	if (!ok)
		set_failure(why);
	return ok;
}

static void work(u32 nr_worlds, clockid_t clock, u32 seconds)
{
	double deadline = seconds_of(clock) + seconds;
	u32 i;

	while (!seconds || seconds_of(clock) < deadline) {
		i = __atomic_fetch_add(&sh->next, 1, __ATOMIC_SEQ_CST);
		if (i >= nr_worlds || i >= __atomic_load_n(&sh->limit, __ATOMIC_SEQ_CST))
			return;
		if (!run_one(i))
			return;
	}
}

static void add_tally(struct tally *to, const struct tally *t)
{
	u32 i;

	to->cuts += t->cuts;
	to->distinct += t->distinct;
	for (i = 0; i < NR_PHASES; i++)
		to->phase[i] += t->phase[i];
	to->ops += t->ops;
	to->steps += t->steps;
	to->checks += t->checks;
	to->reloads += t->reloads;
	to->refused += t->refused;
}

bool campaign(u64 cuts, clockid_t clock, u32 seconds, struct tally *t, struct failure *fail,
	      u64 *cuts_done)
{
	u32 i, nr_worlds = 0;
	pid_t pid[MAX_JOBS];
	bool lost = false;
	u64 sum = 0;
	int status;

	while (sum < cuts)
		sum += world_cuts(&current, nr_worlds++);
	workers_begin();
	for (i = 0; i < nr_jobs; i++) {
		pid[i] = worker_start(i);
		if (!pid[i]) {
			work(nr_worlds, clock, seconds);
			exit(0);
		}
	}
	memset(t, 0, sizeof(*t));
	fail->index = ~0u;
	for (i = 0; i < nr_jobs; i++) {
		waitpid(pid[i], &status, 0);
		add_tally(t, &sh->w[i].t);
		if (sh->w[i].fail.index < fail->index)
			*fail = sh->w[i].fail;
		/* Killed, or ended by a sanitizer: it may have had no time to say where. */
		if (!WIFEXITED(status) || (WEXITSTATUS(status) && sh->w[i].fail.index == ~0u)) {
			fprintf(stderr, "a worker died, status 0x%x; seed %lu\n", status,
				current.seed);
			lost = true;
		}
	}
	*cuts_done = t->cuts;
	if (fail->index == ~0u) {
		/* That is neither a clean campaign nor a planted bug found. */
		if (lost)
			exit(1);
		return true;
	}
	*cuts_done = fail->cut;
	for (i = 0; i < fail->index; i++)
		*cuts_done += world_cuts(&current, i);
	return false;
}
