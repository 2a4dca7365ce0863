// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part of the port to user space that is code: crc32c, with the kernel's
 * convention (the seed is given, nothing is inverted). The processor's own
 * instruction where there is one, otherwise eight bytes a step from tables
 * (slicing, Kounavis and Berry 2005).
 */
#include "port.h"

u64 lz_user_ram = ~0ull;
#ifdef LZ_TINY
u32 lz_user_fill = LZ_JOURNAL_RECORDS;
u32 lz_user_summary = LZ_SUMMARY_ENTRIES;
#endif

#define CRC32C_POLY	0x82f63b78u	/* Castagnoli's, bits reversed */

static u32 crc_table[8][256];

static u32 crc_by_table(u32 crc, const u8 *p, size_t n)
{
	while (n >= 8) {
		u64 v;

		memcpy(&v, p, 8);
		v = le64toh(v) ^ crc;
		crc = crc_table[7][v & 255] ^ crc_table[6][v >> 8 & 255] ^
		      crc_table[5][v >> 16 & 255] ^ crc_table[4][v >> 24 & 255] ^
		      crc_table[3][v >> 32 & 255] ^ crc_table[2][v >> 40 & 255] ^
		      crc_table[1][v >> 48 & 255] ^ crc_table[0][v >> 56];
		p += 8;
		n -= 8;
	}
	while (n--)
		crc = crc >> 8 ^ crc_table[0][(crc ^ *p++) & 255];
	return crc;
}

#ifdef __x86_64__
/*
 * The instruction can begin anew each cycle, but takes three: three streams at a
 * time, LANE bytes each, whose checksums are then shifted past what follows and
 * joined. Gopal et al., "Fast CRC computation for iSCSI polynomial using CRC32
 * instruction", Intel 2011.
 */
#define LANE	1352u		/* three make nearly a block */

static u32 shift_table[4][256];	/* a byte of a checksum, moved past LANE zeros */

static void shift_init(void)
{
	u8 zeros[LANE] = {};
	u32 i, j;

	/* It is linear: what its bits become, joined, is what a byte becomes. */
	for (i = 0; i < 4; i++) {
		for (j = 1; j < 256; j++) {
			u32 low = j & -j, *t = shift_table[i];

			t[j] = j == low ? crc_by_table(j << 8 * i, zeros, LANE) :
			       t[low] ^ t[j ^ low];
		}
	}
}

static u32 shift(u32 c)
{
	return shift_table[0][c & 255] ^ shift_table[1][c >> 8 & 255] ^
	       shift_table[2][c >> 16 & 255] ^ shift_table[3][c >> 24];
}

static u64 word(const u8 *p)
{
	u64 v;

	memcpy(&v, p, 8);
	return v;
}

__attribute__((target("sse4.2")))
static u32 crc_by_cpu(u32 crc, const u8 *p, size_t n)
{
	u64 c = crc;

	while (n >= 3 * LANE) {
		u64 d = 0, e = 0;
		size_t i;

		for (i = 0; i < LANE; i += 8) {
			c = __builtin_ia32_crc32di(c, word(p + i));
			d = __builtin_ia32_crc32di(d, word(p + LANE + i));
			e = __builtin_ia32_crc32di(e, word(p + 2 * LANE + i));
		}
		c = shift(shift((u32)c) ^ (u32)d) ^ (u32)e;
		p += 3 * LANE;
		n -= 3 * LANE;
	}
	while (n >= 8) {
		c = __builtin_ia32_crc32di(c, word(p));
		p += 8;
		n -= 8;
	}
	while (n--)
		c = __builtin_ia32_crc32qi((u32)c, *p++);
	return c;
}
#endif

static u32 (*crc_by)(u32 crc, const u8 *p, size_t n) = crc_by_table;

__attribute__((constructor))
static void crc_init(void)
{
	u32 i, j, crc;

	for (i = 0; i < 256; i++) {
		crc = i;
		for (j = 0; j < 8; j++)
			crc = crc >> 1 ^ (crc & 1 ? CRC32C_POLY : 0);
		crc_table[0][i] = crc;
	}
	for (i = 0; i < 256; i++)
		for (j = 1; j < 8; j++)
			crc_table[j][i] = crc_table[j - 1][i] >> 8 ^
					  crc_table[0][crc_table[j - 1][i] & 255];
#ifdef __x86_64__
	__builtin_cpu_init();
	if (__builtin_cpu_supports("sse4.2")) {
		shift_init();
		crc_by = crc_by_cpu;
	}
#endif
}

/**
 * lz_crc32c - checksum
 * @crc: checksum so far, ~0 to begin with
 * @p: data
 * @n: its length (bytes)
 *
 * Return: the checksum, not inverted.
 */
u32 lz_crc32c(u32 crc, const void *p, size_t n)
{
	return crc_by(crc, p, n);
}

/* For tests only: the tables, whatever the processor can do. */
u32 lz_crc32c_portable(u32 crc, const void *p, size_t n)
{
	return crc_by_table(crc, p, n);
}
