// SPDX-License-Identifier: GPL-2.0-only
/* crc32c in user space; in the kernel it is the kernel's own. */
#include "../../dm-lifezone/core/port.h"
#include "kunit_shim.h"

/* The check value of the CRC catalogues, and two vectors of RFC 3720, B.4. */
static void crc32c_known_values(struct kunit *test)
{
	u8 buf[32];

	KUNIT_EXPECT_EQ(test, ~lz_crc32c(~0u, "123456789", 9), 0xe3069283u);
	memset(buf, 0, sizeof(buf));
	KUNIT_EXPECT_EQ(test, ~lz_crc32c(~0u, buf, sizeof(buf)), 0x8a9136aau);
	memset(buf, 0xff, sizeof(buf));
	KUNIT_EXPECT_EQ(test, ~lz_crc32c(~0u, buf, sizeof(buf)), 0x62a8ab43u);
	KUNIT_EXPECT_EQ(test, lz_crc32c(7, buf, 0), 7u);
}

static void crc32c_both_ways_agree(struct kunit *test)
{
	u8 *buf = kunit_kzalloc(test, 5000, GFP_KERNEL);
	u32 i, x = 1, len, at;

	for (i = 0; i < 5000; i++) {
		x = x * 1664525 + 1013904223;
		buf[i] = x >> 24;
	}
	for (at = 0; at < 9; at++)
		for (len = 0; len < 4900; len += 1 + len / 4)
			KUNIT_EXPECT_EQ(test, lz_crc32c(len, buf + at, len),
					lz_crc32c_portable(len, buf + at, len));
}

static struct kunit_case crc32c_cases[] = {
	KUNIT_CASE(crc32c_known_values),
	KUNIT_CASE(crc32c_both_ways_agree),
	{}
};

static struct kunit_suite crc32c_suite = {
	.name = "lifezone-crc32c",
	.test_cases = crc32c_cases,
};

kunit_test_suite(crc32c_suite);
