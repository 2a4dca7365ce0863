/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of one core instance. Core is built with this file included first,
 * so that all it allocates comes from here: a power cut drops an instance in the
 * middle of whatever it does, and its memory goes in one stroke. After an
 * orderly end nothing may be left, which catches leaks.
 */
#ifndef LZCRASH_ARENA_H
#define LZCRASH_ARENA_H

#include <stdlib.h>
#include <stdint.h>

void *arena_calloc(size_t n, size_t size);
void *arena_aligned(size_t align, size_t size);
void arena_free(void *p);

/* Forget everything. */
void arena_reset(void);
/* Allocations not freed. */
size_t arena_live(void);

#ifdef LZCRASH_ARENA_HOOK
#define calloc(n, size)			arena_calloc(n, size)
#define malloc(size)			arena_calloc(1, size)
#define aligned_alloc(align, size)	arena_aligned(align, size)
#define free(p)				arena_free(p)
#endif

#endif /* LZCRASH_ARENA_H */
