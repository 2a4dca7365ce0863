/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Seeded randomness: every decision of a world is drawn from one of these, so
 * that a seed is a complete description of it.
 */
#ifndef LZCRASH_RND_H
#define LZCRASH_RND_H

#include "../../dm-lifezone/core/port.h"

#ifndef __noreturn
#define __noreturn	__attribute__((__noreturn__))
#endif

struct rnd {
	u64 s;
};

static inline u64 rnd_mix(u64 x)
{
	x = (x ^ x >> 31) * 0x7f4a7c159e3779b9ull;
	x = (x ^ x >> 29) * 0x94d049bb133111ebull;
	return x ^ x >> 32;
}

static inline void rnd_seed(struct rnd *r, u64 seed, u64 index)
{
	r->s = rnd_mix(rnd_mix(seed + 0x5851f42d4c957f2dull) + index);
}

static inline u64 rnd_u64(struct rnd *r)
{
	r->s += 0xd1342543de82ef95ull;
	return rnd_mix(r->s);
}

/* Uniform in 0..n-1, n > 0. */
static inline u32 rnd_below(struct rnd *r, u32 n)
{
	return ((rnd_u64(r) >> 32) * n) >> 32;
}

/* Uniform in lo..hi. */
static inline u32 rnd_range(struct rnd *r, u32 lo, u32 hi)
{
	return lo + rnd_below(r, hi - lo + 1);
}

/* True @n times in 1000. */
static inline bool rnd_permille(struct rnd *r, u32 n)
{
	return rnd_below(r, 1000) < n;
}

#endif /* LZCRASH_RND_H */
