/* SPDX-License-Identifier: GPL-2.0-only */
/* Reproducible noise: xoshiro256**, seeded by splitmix64 (D. Blackman, S. Vigna; public domain). */
#ifndef LIFEZONE_SIM_RND_H
#define LIFEZONE_SIM_RND_H

#include "../../dm-lifezone/core/port.h"

struct rnd {
	u64 s[4];
};

static inline void rnd_seed(struct rnd *r, u64 seed)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		u64 x = seed += 0x9e3779b97f4a7c15ull;

		x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
		x = (x ^ x >> 27) * 0x94d049bb133111ebull;
		r->s[i] = x ^ x >> 31;
	}
}

static inline u64 rnd_rotl(u64 x, u32 k)
{
	return x << k | x >> (64 - k);
}

static inline u64 rnd_next(struct rnd *r)
{
	u64 *s = r->s, x = rnd_rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rnd_rotl(s[3], 45);
	return x;
}

static inline u32 rnd_below(struct rnd *r, u32 n)
{
	return (rnd_next(r) >> 32) * n >> 32;
}

static inline double rnd_real(struct rnd *r)
{
	return (rnd_next(r) >> 11) / 9007199254740992.0;	/* 2^53 */
}

#endif /* LIFEZONE_SIM_RND_H */
