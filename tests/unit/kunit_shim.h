/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of KUnit's interface as the unit tests use, for user space. Suites
 * register themselves before main() runs; see main.c.
 */
#ifndef LIFEZONE_KUNIT_SHIM_H
#define LIFEZONE_KUNIT_SHIM_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../dm-lifezone/core/port.h"

struct kunit_mem {
	struct kunit_mem *next;
};

/**
 * struct kunit - a running test case
 * @priv: the suite's
 * @failed: an expectation did not hold
 * @skipped: why it was skipped, or NULL
 * @out: taken by a failed assertion
 * @mem: freed when the case ends
 */
struct kunit {
	void *priv;
	bool failed;
	const char *skipped;
	jmp_buf out;
	struct kunit_mem *mem;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
};

struct kunit_suite {
	const char *name;
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(f)		{ .run_case = f, .name = #f }
#define KUNIT_CASE_SLOW(f)	KUNIT_CASE(f)

void kunit_register(struct kunit_suite *suite);
void *kunit_kzalloc(struct kunit *test, size_t n, int gfp);
#define kunit_kcalloc(t, n, sz, gfp)	kunit_kzalloc(t, (size_t)(n) * (sz), gfp)
#define GFP_KERNEL		0

#define kunit_test_suite(s) \
	__attribute__((constructor)) static void kunit_register_##s(void) \
	{ \
		kunit_register(&(s)); \
	} \
	struct kunit_suite

#define kunit_info(t, ...)	((void)(t), (void)fprintf(stderr, __VA_ARGS__))
static inline void kunit_skip(struct kunit *test, const char *why)
{
	test->skipped = why;
	longjmp(test->out, 1);
}

__printf(5, 6)
void kunit_fail(struct kunit *test, bool fatal, const char *file, int line, const char *fmt, ...);

#define KUNIT_SHIM_CMP(t, fatal, a, op, b, fmt, ...) \
	do { \
		__typeof__(a) ka = (a); \
		__typeof__(b) kb = (b); \
		if (!(ka op kb)) \
			kunit_fail(t, fatal, __FILE__, __LINE__, \
				   "%s " #op " %s: %lld, %lld " fmt, #a, #b, \
				   (long long)(intptr_t)ka, (long long)(intptr_t)kb, \
				   ##__VA_ARGS__); \
	} while (0)

#define KUNIT_SHIM_BOOL(t, fatal, c, want, fmt, ...) \
	do { \
		bool kw = (want); \
		if (!!(c) != kw) \
			kunit_fail(t, fatal, __FILE__, __LINE__, "%s is not %s " fmt, #c, \
				   kw ? "true" : "false", ##__VA_ARGS__); \
	} while (0)

#define KUNIT_SHIM_STR(t, fatal, a, b, fmt, ...) \
	do { \
		const char *ka = (a), *kb = (b); \
		if (strcmp(ka, kb)) \
			kunit_fail(t, fatal, __FILE__, __LINE__, \
				   "%s: \"%s\", \"%s\" " fmt, #a, ka, kb, ##__VA_ARGS__); \
	} while (0)

#define KUNIT_EXPECT_EQ(t, a, b)	KUNIT_SHIM_CMP(t, false, a, ==, b, "")
#define KUNIT_EXPECT_NE(t, a, b)	KUNIT_SHIM_CMP(t, false, a, !=, b, "")
#define KUNIT_EXPECT_LT(t, a, b)	KUNIT_SHIM_CMP(t, false, a, <, b, "")
#define KUNIT_EXPECT_LE(t, a, b)	KUNIT_SHIM_CMP(t, false, a, <=, b, "")
#define KUNIT_EXPECT_GT(t, a, b)	KUNIT_SHIM_CMP(t, false, a, >, b, "")
#define KUNIT_EXPECT_GE(t, a, b)	KUNIT_SHIM_CMP(t, false, a, >=, b, "")
#define KUNIT_EXPECT_PTR_EQ(t, a, b)	KUNIT_SHIM_CMP(t, false, a, ==, b, "")
#define KUNIT_EXPECT_NULL(t, a)		KUNIT_SHIM_BOOL(t, false, a, false, "")
#define KUNIT_EXPECT_NOT_NULL(t, a)	KUNIT_SHIM_BOOL(t, false, a, true, "")
#define KUNIT_EXPECT_TRUE(t, a)		KUNIT_SHIM_BOOL(t, false, a, true, "")
#define KUNIT_EXPECT_FALSE(t, a)	KUNIT_SHIM_BOOL(t, false, a, false, "")
#define KUNIT_EXPECT_STREQ(t, a, b)	KUNIT_SHIM_STR(t, false, a, b, "")
#define KUNIT_ASSERT_EQ(t, a, b)	KUNIT_SHIM_CMP(t, true, a, ==, b, "")
#define KUNIT_ASSERT_NE(t, a, b)	KUNIT_SHIM_CMP(t, true, a, !=, b, "")
#define KUNIT_ASSERT_LT(t, a, b)	KUNIT_SHIM_CMP(t, true, a, <, b, "")
#define KUNIT_ASSERT_LE(t, a, b)	KUNIT_SHIM_CMP(t, true, a, <=, b, "")
#define KUNIT_ASSERT_GT(t, a, b)	KUNIT_SHIM_CMP(t, true, a, >, b, "")
#define KUNIT_ASSERT_NOT_NULL(t, a)	KUNIT_SHIM_BOOL(t, true, a, true, "")
#define KUNIT_ASSERT_TRUE(t, a)		KUNIT_SHIM_BOOL(t, true, a, true, "")
#define KUNIT_ASSERT_FALSE(t, a)	KUNIT_SHIM_BOOL(t, true, a, false, "")

#define KUNIT_EXPECT_EQ_MSG(t, a, b, fmt, ...) \
	KUNIT_SHIM_CMP(t, false, a, ==, b, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_NE_MSG(t, a, b, fmt, ...) \
	KUNIT_SHIM_CMP(t, false, a, !=, b, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_LT_MSG(t, a, b, fmt, ...) \
	KUNIT_SHIM_CMP(t, false, a, <, b, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_GT_MSG(t, a, b, fmt, ...) \
	KUNIT_SHIM_CMP(t, false, a, >, b, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_GE_MSG(t, a, b, fmt, ...) \
	KUNIT_SHIM_CMP(t, false, a, >=, b, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_TRUE_MSG(t, a, fmt, ...) \
	KUNIT_SHIM_BOOL(t, false, a, true, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_FALSE_MSG(t, a, fmt, ...) \
	KUNIT_SHIM_BOOL(t, false, a, false, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_STREQ_MSG(t, a, b, fmt, ...) \
	KUNIT_SHIM_STR(t, false, a, b, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_EQ_MSG(t, a, b, fmt, ...) \
	KUNIT_SHIM_CMP(t, true, a, ==, b, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_TRUE_MSG(t, a, fmt, ...) \
	KUNIT_SHIM_BOOL(t, true, a, true, fmt, ##__VA_ARGS__)
#define KUNIT_FAIL(t, fmt, ...) \
	kunit_fail(t, false, __FILE__, __LINE__, fmt, ##__VA_ARGS__)

#endif /* LIFEZONE_KUNIT_SHIM_H */
