// SPDX-License-Identifier: GPL-2.0-only
/*
 * lzreplay: replays a log of the module (tests/kernel/log.c) into the model of a
 * drive, cuts power wherever the log changes what a cut may leave, recovers, and
 * reads every block. The log itself must be one that the model accepts.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include "cmdlog.h"

static const char *self;
static struct cmdlog *current;

void __printf(2, 3) __noreturn cmdlog_fail(void *log, const char *fmt, ...)
{
	struct cmdlog *l = log;
	va_list ap;

	printf("%s: event %llu: ", l->path, (unsigned long long)l->event);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\nreplay: %s --seed %llu --draws %u --most %u --event %llu --trace %s\n", self,
	       (unsigned long long)cutting.seed, cutting.draws, cutting.most,
	       (unsigned long long)l->event, l->path);
	exit(1);
}

/* An assertion or a wild pointer in core. */
static void on_signal(int sig)
{
	cmdlog_fail(current, "signal %d", sig);
}

static int usage(void)
{
	printf("lzreplay [--seed S] [--draws N] [--most N] [--event E] [--trace] LOG\n");
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "draws", required_argument, NULL, 'd' },
		{ "most", required_argument, NULL, 'm' },
		{ "event", required_argument, NULL, 'e' },
		{ "trace", no_argument, NULL, 't' },
		{ }
	};
	static const int sigs[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
	struct cmdlog l = { };
	u64 event = 0;
	u32 i;
	int c;

	self = argv[0];
	current = &l;
	cutting = (struct cutting){ .seed = 1, .draws = 4, .most = 64 };
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 's':
			cutting.seed = strtoull(optarg, NULL, 0);
			break;
		case 'd':
			cutting.draws = strtoul(optarg, NULL, 0);
			break;
		case 'm':
			cutting.most = strtoul(optarg, NULL, 0);
			break;
		case 'e':
			event = strtoull(optarg, NULL, 0);
			break;
		case 't':
			l.trace = true;
			break;
		default:
			return usage();
		}
	}
	if (optind + 1 != argc)
		return usage();
	for (i = 0; i < ARRAY_SIZE(sigs); i++)
		signal(sigs[i], on_signal);
	l.path = argv[optind];
	cmdlog_open(&l);
	while ((!event || l.event < event) && cmdlog_next(&l)) {
		cutting.trace = l.trace && event;
		if (l.cutting && l.changed && (!event || l.event == event))
			cmdlog_cut(&l);
	}
	if (!l.cutting)
		cmdlog_fail(&l, "nothing was loaded");
	printf("%s: %llu events, %llu requests, %llu cuts, %llu different, %llu nested\n", l.path,
	       (unsigned long long)l.event, (unsigned long long)l.nr_above,
	       (unsigned long long)cutting.cuts, (unsigned long long)cutting.images,
	       (unsigned long long)cutting.nested);
	return 0;
}
