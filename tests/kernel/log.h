/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * What lz-log writes down, for the module and for who reads it. In the byte order
 * of the machine: a log is read where it was made, or on its like.
 *
 * A log is a head and records, each followed by its payload.
 */
#ifndef LZ_LOG_H
#define LZ_LOG_H

#include <linux/types.h>

#define LZ_LOG_TEXT	"lz-log 1"	/* without its final 0 */

/**
 * struct lz_log_head - begins a log
 * @text: LZ_LOG_TEXT
 * @lost: records that found no room: if there are any, the log is worth nothing
 */
struct lz_log_head {
	__u8 text[8];
	__u64 lost;
};

enum lz_log_what {
	LZ_LOG_ISSUE,		/* a bio comes */
	LZ_LOG_DONE,		/* it has ended, and who sent it does not know yet */
	LZ_LOG_MARK,		/* a word of the test's: payload is the text */
};

enum lz_log_role {
	LZ_LOG_BELOW,		/* between the module and the drive */
	LZ_LOG_ABOVE,		/* between the module and its users */
	LZ_LOG_NR_ROLES,
};

enum lz_log_op {
	LZ_LOG_READ,
	LZ_LOG_WRITE,
	LZ_LOG_APPEND,
	LZ_LOG_RESET,
	LZ_LOG_FINISH,
	LZ_LOG_FLUSH,
	LZ_LOG_DISCARD,
	LZ_LOG_ZEROES,
	LZ_LOG_RESET_ALL,
	LZ_LOG_OTHER,
};

#define LZ_LOG_FUA	0x1u

/**
 * struct lz_log_rec - a record
 * @what: enum lz_log_what
 * @role: enum lz_log_role
 * @op: enum lz_log_op
 * @flags: LZ_LOG_FUA
 * @id: the bio's, counted from 0 in each role
 * @sector: where; of an append that has ended, where it landed
 * @sectors: how long
 * @error: 0 or a negative errno
 * @bytes: of payload: of writes that come and reads that have ended, the blocks
 */
struct lz_log_rec {
	__u8 what;
	__u8 role;
	__u8 op;
	__u8 flags;
	__u32 id;
	__u64 sector;
	__u32 sectors;
	__s32 error;
	__u64 bytes;
};

/*
 * A block of a test's is told by its stamp: this and the tag at the start, the
 * tag and its complement at the end. It is logged as its tag; any other as
 * LZ_LOG_WHOLE or, where it was read, LZ_LOG_NULL if it is all zeros; a whole
 * block that was written comes next.
 */
#define LZ_LOG_STAMP	0x5441446b636f6c42ull
#define LZ_LOG_NULL	0ull
#define LZ_LOG_WHOLE	(~2ull)

#endif /* LZ_LOG_H */
