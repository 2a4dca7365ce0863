/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What core is built with in front of it: its memory and its interruptions.
 *
 * All an instance allocates comes from here: a power cut drops an instance in the
 * middle of whatever it does, and its memory goes in one stroke. After an
 * orderly end nothing may be left, which catches leaks.
 */
#ifndef LZCRASH_ARENA_H
#define LZCRASH_ARENA_H

#include <stdbool.h>
#include <stdlib.h>
#include <stdint.h>

void *arena_calloc(size_t n, size_t size);
void *arena_aligned(size_t align, size_t size);
void arena_free(void *p);

/* Does this allocation fail? NULL: none does. */
extern bool (*arena_fails)(void);

/* There are three of them, so that one instance can wait while another is tried. */
void arena_select(unsigned int which);
/* Forget everything in this one. */
void arena_reset(void);
/* Allocations not freed. */
size_t arena_live(void);
/* All of it, with what it holds, in a buffer of that size: to come back to. */
size_t arena_state_size(void);
void arena_save(void *buf);
void arena_restore(const void *buf);
/* Is there nothing in these bytes, of which there is one at least? */
bool all_zero(const void *p, size_t n);
uint64_t arena_hash(uint64_t (*hash)(uint64_t h, const void *p, size_t n));

/*
 * Contexts. Core runs in one thread, so others can only get in between where it
 * lets them: where it is about to take its first lock, every so many times.
 */
extern unsigned int yield_depth;
extern unsigned int yield_in;
void yield_now(void);

#ifdef LZCRASH_ARENA_HOOK
/* Core does not count on it, and it takes most of a load's time. */
#ifdef LZCRASH_POISON
#define lz_clear_blocks(p, n)	memset(p, LZCRASH_POISON, n)
#else
#define lz_clear_blocks(p, n)	((void)(p))
#endif

#define lz_locking()						\
	do {							\
		if (!yield_depth && !--yield_in)		\
			yield_now();				\
		yield_depth++;					\
	} while (0)
#define lz_unlocked()		((void)yield_depth--)

#define calloc(n, size)			arena_calloc(n, size)
#define malloc(size)			arena_calloc(1, size)
#define aligned_alloc(align, size)	arena_aligned(align, size)
#define free(p)				arena_free(p)
#endif

#endif /* LZCRASH_ARENA_H */
