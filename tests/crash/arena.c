// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of one core instance: a region handed out from the bottom up, with
 * a free list for each power of two. Under a sanitizer every allocation is one of
 * its own and a reset frees them one by one, so that the sanitizer sees it all.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "arena.h"

#define ARENA_BYTES	((size_t)1 << 32)	/* of address space */
#define HEAD		64u			/* in front of each allocation */
#define NR_ORDERS	40
#define CHUNK		1024u			/* of a state saved, divides ARENA_BYTES */

#define ARENA_LIVE	0x11feull
#define ARENA_DEAD	0xdeadull

/**
 * struct head - in front of an allocation
 * @size: as asked for (bytes)
 * @order: log2 of the size, rounded up
 * @magic: ARENA_LIVE or ARENA_DEAD
 * @next: in the free list, or all of them under a sanitizer
 * @prev: under a sanitizer
 * @below: the one before it in the region
 * @was_used: of the region, without it (bytes)
 * @room: what it takes up (bytes)
 */
struct head {
	size_t size;
	unsigned int order;
	unsigned int magic;
	struct head *next;
	struct head *prev;
	struct head *below;
	size_t was_used;
	size_t room;
};

/**
 * struct arena - memory of one instance
 * @live: allocations
 * @all: these, under a sanitizer
 * @base: the region
 * @used: of it (bytes)
 * @top: the last allocation in it
 * @spare: by order
 */
struct arena {
	size_t live;
	struct head *all;
	char *base;
	size_t used;
	struct head *top;
	struct head *spare[NR_ORDERS];
};

static struct arena arenas[3], *arena = arenas;
bool (*arena_fails)(void);

void arena_select(unsigned int which)
{
	arena = &arenas[which];
}

#ifdef __SANITIZE_ADDRESS__

static void *get(size_t align, size_t size)
{
	size_t pad = align > HEAD ? align : HEAD;
	char *raw = aligned_alloc(pad, (size + 2 * pad - 1) / pad * pad);
	struct head *h;

	if (!raw)
		abort();
	h = (struct head *)(raw + pad - HEAD);
	memset(h, 0, HEAD);
	h->order = pad;
	h->magic = ARENA_LIVE;
	h->next = arena->all;
	if (arena->all)
		arena->all->prev = h;
	arena->all = h;
	arena->live++;
	return raw + pad;
}

void arena_free(void *p)
{
	struct head *h;

	if (!p)
		return;
	h = (struct head *)((char *)p - HEAD);
	assert(h->magic == ARENA_LIVE);
	h->magic = ARENA_DEAD;
	if (h->next)
		h->next->prev = h->prev;
	if (h->prev)
		h->prev->next = h->next;
	else
		arena->all = h->next;
	arena->live--;
	free((char *)p - h->order);
}

void arena_reset(void)
{
	while (arena->all)
		arena_free((char *)arena->all + HEAD);
}

#else

static void *get(size_t align, size_t size)
{
	unsigned int order = 6;
	struct head *h;
	size_t at;

	while (((size_t)1 << order) < size)
		order++;
	arena->live++;
	/* Of one order are blocks of 4 KiB and more always aligned to a page. */
	h = arena->spare[order];
	if (h && h->room >= size) {
		arena->spare[order] = h->next;
		h->size = size;
		h->magic = ARENA_LIVE;
		return (char *)h + HEAD;
	}
	if (!arena->base) {
		arena->base = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (arena->base == MAP_FAILED)
			abort();
	}
	if (align < HEAD)
		align = HEAD;
	if (order >= 12)
		align = 4096;
	at = (arena->used + HEAD + align - 1) & ~(align - 1);
	h = (struct head *)(arena->base + at - HEAD);
	h->was_used = arena->used;
	h->below = arena->top;
	arena->top = h;
	h->room = order < 12 ? (size_t)1 << order : (size + 4095) & ~(size_t)4095;
	arena->used = at + h->room;
	if (arena->used > ARENA_BYTES)
		abort();
	h->size = size;
	h->order = order;
	h->magic = ARENA_LIVE;
	return arena->base + at;
}

void arena_free(void *p)
{
	struct head *h;

	if (!p)
		return;
	h = (struct head *)((char *)p - HEAD);
	assert(h->magic == ARENA_LIVE);
	h->magic = ARENA_DEAD;
	/* Use after free shows itself: nothing sensible begins like this. */
	memset(p, 0xa5, h->size < 64 ? h->size : 64);
	arena->live--;
	if (h == arena->top) {
		arena->top = h->below;
		arena->used = h->was_used;
		return;
	}
	h->next = arena->spare[h->order];
	arena->spare[h->order] = h;
}

void arena_reset(void)
{
	memset(arena->spare, 0, sizeof(arena->spare));
	arena->used = 0;
	arena->top = NULL;
	arena->live = 0;
}

#endif

void *arena_aligned(size_t align, size_t size)
{
	return arena_fails && arena_fails() ? NULL : get(align, size);
}

void *arena_calloc(size_t n, size_t size)
{
	void *p = arena_aligned(16, n * size);

	return p ? memset(p, 0, n * size) : NULL;
}

size_t arena_live(void)
{
	return arena->live;
}

static size_t nr_chunks(void)
{
	return (arena->used + CHUNK - 1) / CHUNK;
}

size_t arena_state_size(void)
{
	return sizeof(*arena) + nr_chunks() * (1 + CHUNK);
}

bool all_zero(const void *p, size_t n)
{
	const char *c = p;

	return !c[0] && !memcmp(c, c + 1, n - 1);
}

/* Most of it is buffers of nothing: of these it keeps just that they are. */
void arena_save(void *buf)
{
	size_t n = nr_chunks(), i;
	char *is = (char *)buf + sizeof(*arena), *to = is + n;
	const char *from = arena->base;

	memcpy(buf, arena, sizeof(*arena));
	for (i = 0; i < n; i++, from += CHUNK) {
		is[i] = !all_zero(from, CHUNK);
		if (is[i]) {
			memcpy(to, from, CHUNK);
			to += CHUNK;
		}
	}
}

void arena_restore(const void *buf)
{
	const char *is = (const char *)buf + sizeof(*arena), *from;
	size_t n, i;
	char *to;

	memcpy(arena, buf, sizeof(*arena));
	n = nr_chunks();
	from = is + n;
	to = arena->base;
	for (i = 0; i < n; i++, to += CHUNK) {
		if (is[i]) {
			memcpy(to, from, CHUNK);
			from += CHUNK;
		} else {
			memset(to, 0, CHUNK);
		}
	}
}

uint64_t arena_hash(uint64_t (*hash)(uint64_t h, const void *p, size_t n))
{
	const struct head *h;
	uint64_t x = arena->used;

	for (h = arena->top; h; h = h->below)
		if (h->magic == ARENA_LIVE)
			x = hash(x, (const char *)h + HEAD, h->size);
	return x;
}
