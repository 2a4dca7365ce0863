// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the registered suites in user space.
 *
 *	unit [-l] [PATTERN...]
 *
 * -l lists the cases; a pattern is a part of "suite.case", and one of them at least has to
 * fit a case. The last line of the output counts the cases passed, failed and skipped.
 */
#include <stdarg.h>

#include "kunit_shim.h"

#define MAX_SUITES	64

/* Not all suites are in the tiny one: what fits none there may be right. */
#ifdef LZ_TINY
#define TINY	true
#else
#define TINY	false
#endif

static struct kunit_suite *suites[MAX_SUITES];
static int nr_suites;
static const char *running;

void kunit_register(struct kunit_suite *suite)
{
	if (nr_suites == MAX_SUITES)
		abort();
	suites[nr_suites++] = suite;
}

void *kunit_kzalloc(struct kunit *test, size_t n, int gfp)
{
	struct kunit_mem *m = calloc(1, sizeof(*m) + n);

	(void)gfp;
	if (!m)
		abort();
	m->next = test->mem;
	test->mem = m;
	return m + 1;
}

void kunit_fail(struct kunit *test, bool fatal, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "%s: %s:%d: ", running, file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	test->failed = true;
	if (fatal)
		longjmp(test->out, 1);
}

static bool wanted(const char *name, char **pattern)
{
	if (!*pattern)
		return true;
	for (; *pattern; pattern++)
		if (strstr(name, *pattern))
			return true;
	return false;
}

static void run(struct kunit_suite *s, struct kunit_case *c, struct kunit *test)
{
	if (!setjmp(test->out)) {
		if (s->init && s->init(test))
			kunit_fail(test, true, s->name, 0, "init failed");
		c->run_case(test);
	}
	if (s->exit)
		s->exit(test);
	while (test->mem) {
		struct kunit_mem *m = test->mem;

		test->mem = m->next;
		free(m);
	}
}

int main(int argc, char **argv)
{
	int i, found = 0, passed = 0, failed = 0, skipped = 0;
	bool list = argc > 1 && !strcmp(argv[1], "-l");
	char **pattern = argv + 1 + list;
	struct kunit_case *c;
	char name[256];

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < nr_suites; i++) {
		for (c = suites[i]->test_cases; c->run_case; c++) {
			struct kunit test = { .failed = false };

			snprintf(name, sizeof(name), "%s.%s", suites[i]->name, c->name);
			if (!wanted(name, pattern))
				continue;
			found++;
			if (list) {
				puts(name);
				continue;
			}
			running = name;
			run(suites[i], c, &test);
			if (test.failed)
				failed++;
			else if (test.skipped)
				skipped++;
			else
				passed++;
			printf("%s %s%s%s\n", test.failed ? "FAIL" : test.skipped ? "skip" : "ok  ",
			       name, test.skipped ? ": " : "", test.skipped ? test.skipped : "");
		}
	}
	if (!list)
		printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
	if (!TINY && *pattern && !found) {
		fprintf(stderr, "no case is like that\n");
		return 1;
	}
	return failed ? 1 : 0;
}
