/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metadata blocks: one pair of functions to seal and to validate any of them.
 */
#ifndef LIFEZONE_LOG_H
#define LIFEZONE_LOG_H

#include "port.h"

/**
 * struct lz_want - what a metadata block must be to be believed
 * @uuid: device, or NULL: any (superblock probing only)
 * @type: enum lz_block_type
 * @level: for nodes
 * @addr: drive address it was read from (SUMMARY: LZ_NO_ADDR)
 * @index: its index; ~0: any
 * @epoch: exact epoch; 0: any up to @epoch_max
 * @epoch_max: 0: any
 * @seq: exact sequence; 0: any
 */
struct lz_want {
	const u8 *uuid;
	u16 type;
	u16 level;
	u64 addr;
	u64 index;
	u64 epoch;
	u64 epoch_max;
	u64 seq;
};

/*
 * lz_seal - fill in the header of @block and its checksum. The body must be
 * complete. @w: uuid, type, level, addr, index, epoch, seq are taken from it.
 */
void lz_seal(void *block, const struct lz_want *w, u32 count);

/*
 * lz_valid - is @block the block wanted? False with one line in @why (if not
 * NULL): where, which field, got and wanted. Checks header, checksum, and the
 * limits of the body that hold for any device (counts, lengths, offsets).
 */
bool lz_valid(const void *block, const struct lz_want *w, char *why, size_t n);

/* Journal records. */
static inline void lz_jrec_pack(struct lz_jrec *r, u8 type, u64 lba, u32 len, u64 b)
{
	r->a = cpu_to_le64((lba & LZ_ADDR_MASK) | (u64)len << LZ_ADDR_BITS |
			   (u64)type << 60);
	r->b = cpu_to_le64(b);
}

static inline u8 lz_jrec_type(const struct lz_jrec *r)
{
	return le64_to_cpu(r->a) >> 60;
}

static inline u32 lz_jrec_len(const struct lz_jrec *r)
{
	return (le64_to_cpu(r->a) >> LZ_ADDR_BITS) & LZ_JREC_LEN_MAX;
}

static inline u64 lz_jrec_lba(const struct lz_jrec *r)
{
	return le64_to_cpu(r->a) & LZ_ADDR_MASK;
}

static inline u64 lz_jrec_b(const struct lz_jrec *r)
{
	return le64_to_cpu(r->b);
}

/* Is a superblock of a later epoch, or of a later checkpoint in it? */
static inline bool lz_hdr_later(const struct lz_hdr *h, u64 epoch, u64 seq)
{
	return le64_to_cpu(h->epoch) > epoch ||
		(le64_to_cpu(h->epoch) == epoch && le64_to_cpu(h->seq) > seq);
}

/* Summary entries. */
static inline u64 lz_sum_pack(u32 offset, u64 lba)
{
	return (u64)offset << LZ_ADDR_BITS | lba;
}

static inline u32 lz_sum_offset(u64 e)
{
	return e >> LZ_ADDR_BITS;
}

static inline u64 lz_sum_lba(u64 e)
{
	return e & LZ_ADDR_MASK;
}

#endif /* LIFEZONE_LOG_H */
