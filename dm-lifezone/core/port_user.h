/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user-space half of port.h: core in one thread, in the tool, the simulator
 * and the tests. Locks only check that they are taken and released in pairs,
 * atomics are plain.
 */
#ifndef LIFEZONE_PORT_USER_H
#define LIFEZONE_PORT_USER_H

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <endian.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#ifndef EUCLEAN
#define EUCLEAN 117
#endif

#define cpu_to_le16(x)		((__le16)htole16(x))
#define cpu_to_le32(x)		((__le32)htole32(x))
#define cpu_to_le64(x)		((__le64)htole64(x))
#define le16_to_cpu(x)		le16toh((uint16_t)(x))
#define le32_to_cpu(x)		le32toh((uint32_t)(x))
#define le64_to_cpu(x)		le64toh((uint64_t)(x))

#define __must_check	__attribute__((__warn_unused_result__))
#define __printf(a, b)		__attribute__((format(printf, a, b)))
#define __acquire(x)		((void)(x))
#define __release(x)		((void)(x))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile __typeof__(x) *)&(x) = (v))
#define data_race(expr)		(expr)	/* nobody watches here */
#define smp_mb()		__asm__ __volatile__("" : : : "memory")
#define smp_mb__before_atomic()	smp_mb()
#define smp_mb__after_atomic()	smp_mb()
#define smp_load_acquire(p)	READ_ONCE(*(p))
#define smp_store_release(p, v)	WRITE_ONCE(*(p), v)
#define prefetch(x)		__builtin_prefetch(x)
#define cond_resched()		do { } while (0)
#define WARN_ON_ONCE(x)		({ bool __w = !!(x); assert(!__w); __w; })
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define min(a, b) \
	({ __typeof__(a) __a = (a); __typeof__(b) __b = (b); __a < __b ? __a : __b; })
#define max(a, b) \
	({ __typeof__(a) __a = (a); __typeof__(b) __b = (b); __a > __b ? __a : __b; })
#define min_t(t, a, b)		({ t __a = (a); t __b = (b); __a < __b ? __a : __b; })
#define max_t(t, a, b)		({ t __a = (a); t __b = (b); __a > __b ? __a : __b; })
#define clamp_t(t, v, lo, hi)	min_t(t, max_t(t, v, lo), hi)
#define clamp(v, lo, hi)	min(max(v, lo), hi)
#define DIV_ROUND_UP(a, b)	(((a) + (b) - 1) / (b))
#define DIV_ROUND_UP_ULL(a, b)	div_u64((u64)(a) + (b) - 1, b)
#define ilog2(x)		(63 - __builtin_clzll((u64)(x)))
#define round_down(x, y)	((x) & ~((__typeof__(x))(y) - 1))
#define round_up(x, y)		round_down((x) + (y) - 1, y)
#define is_power_of_2(x)	((x) && !((x) & ((x) - 1)))

/* A 32-bit kernel cannot divide 64 bits but by these. */
static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}

static inline s64 div_s64(s64 a, s32 b)
{
	return a / b;
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline u64 roundup_pow_of_two(u64 x)
{
	return x <= 1 ? 1 : 1ull << (64 - __builtin_clzll(x - 1));
}

static inline unsigned long gcd(unsigned long a, unsigned long b)
{
	while (b) {
		unsigned long rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

#define container_of(p, t, m)	((t *)((char *)(p) - offsetof(t, m)))
#define swap(a, b)		do { __typeof__(a) __t = (a); (a) = (b); (b) = __t; } while (0)

typedef struct { int counter; } atomic_t;
typedef struct { s64 counter; } atomic64_t;
#define atomic_read(v)			((v)->counter)
#define atomic_set(v, i)		((v)->counter = (i))
#define atomic_inc(v)			((v)->counter++)
#define atomic_dec(v)			((v)->counter--)
#define atomic_add(i, v)		((v)->counter += (i))
#define atomic_sub(i, v)		((v)->counter -= (i))
#define atomic_inc_return(v)		(++(v)->counter)
#define atomic_add_return(i, v)		((v)->counter += (i))
#define atomic_sub_return(i, v)		((v)->counter -= (i))
#define atomic_dec_and_test(v)		(--(v)->counter == 0)
#define atomic_xchg(v, n)		({ int __o = (v)->counter; (v)->counter = (n); __o; })
#define atomic_cmpxchg(v, o, n)		\
	({ int __o = (v)->counter; (v)->counter = __o == (int)(o) ? (int)(n) : __o; __o; })
#define atomic64_read(v)		((v)->counter)
#define atomic64_set(v, i)		((v)->counter = (i))
#define atomic64_add_return(i, v)	((v)->counter += (i))

typedef struct { int held; } spinlock_t;
#define spin_lock_init(l)		((l)->held = 0)
/* A test may have another context run where a lock is about to be taken. */
#ifndef lz_locking
#define lz_locking()			do { } while (0)
#define lz_unlocked()			do { } while (0)
#endif
#define spin_lock(l) \
	do { lz_locking(); assert(!(l)->held); (l)->held = 1; } while (0)
#define spin_unlock(l) \
	do { assert((l)->held); (l)->held = 0; lz_unlocked(); } while (0)
#define spin_lock_irq(l)		spin_lock(l)
#define spin_unlock_irq(l)		spin_unlock(l)
#define spin_lock_irqsave(l, f)		do { (void)(f); (f) = 0; spin_lock(l); } while (0)
#define spin_unlock_irqrestore(l, f)	do { (void)(f); spin_unlock(l); } while (0)
#define lockdep_assert_held(l)		assert((l)->held)

struct list_head {
	struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *h)
{
	h->next = h;
	h->prev = h;
}

static inline bool list_empty(const struct list_head *h)
{
	return h->next == h;
}

static inline void list_link(struct list_head *e, struct list_head *p, struct list_head *n)
{
	e->prev = p;
	e->next = n;
	p->next = e;
	n->prev = e;
}

static inline void list_add(struct list_head *e, struct list_head *h)
{
	list_link(e, h, h->next);
}

static inline void list_add_tail(struct list_head *e, struct list_head *h)
{
	list_link(e, h->prev, h);
}

static inline void list_del_init(struct list_head *e)
{
	e->prev->next = e->next;
	e->next->prev = e->prev;
	INIT_LIST_HEAD(e);
}

#define list_del(e)	list_del_init(e)

static inline void list_move_tail(struct list_head *e, struct list_head *h)
{
	list_del_init(e);
	list_add_tail(e, h);
}

static inline void list_splice_tail_init(struct list_head *from, struct list_head *to)
{
	if (list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	INIT_LIST_HEAD(from);
}

#define list_entry(p, t, m)		container_of(p, t, m)
#define list_first_entry(h, t, m)	list_entry((h)->next, t, m)
#define list_first_entry_or_null(h, t, m) \
	(list_empty(h) ? NULL : list_first_entry(h, t, m))
#define list_for_each_entry(p, h, m) \
	for (p = list_entry((h)->next, __typeof__(*p), m); &p->m != (h); \
	     p = list_entry(p->m.next, __typeof__(*p), m))
#define list_for_each_entry_safe(p, n, h, m) \
	for (p = list_entry((h)->next, __typeof__(*p), m), \
	     n = list_entry(p->m.next, __typeof__(*p), m); &p->m != (h); \
	     p = n, n = list_entry(n->m.next, __typeof__(*n), m))

typedef int (*cmp_func_t)(const void *a, const void *b);
#define sort(base, n, size, cmp, swp)	qsort(base, n, size, cmp)

u32 lz_crc32c(u32 crc, const void *p, size_t n);
u32 lz_crc32c_portable(u32 crc, const void *p, size_t n);

#define fallthrough			__attribute__((__fallthrough__))

/* Characters written, as the kernel's; snprintf() tells how many there would have been. */
__attribute__((format(printf, 3, 4)))
static inline int scnprintf(char *p, size_t n, const char *fmt, ...)
{
	va_list ap;
	int len;

	if (!n)
		return 0;
	va_start(ap, fmt);
	len = vsnprintf(p, n, fmt, ap);
	va_end(ap);
	return len < 0 ? 0 : min_t(size_t, len, n - 1);
}

/* Digits only, with a newline allowed at the end; base 10. */
static inline int kstrtou32(const char *s, unsigned int base, u32 *v)
{
	u64 x = 0;

	assert(base == 10);
	if (*s == '+')
		s++;
	if (*s < '0' || *s > '9')
		return -EINVAL;
	for (; *s >= '0' && *s <= '9'; s++)
		if (x <= UINT32_MAX)
			x = x * 10 + (*s - '0');
	if (s[0] && (s[0] != '\n' || s[1]))
		return -EINVAL;
	if (x > UINT32_MAX)
		return -ERANGE;
	*v = x;
	return 0;
}

static inline void *lz_zalloc_array(size_t n, size_t size)
{
	return calloc(n ? n : 1, size);
}

#define lz_free(p)		free(p)

#ifndef lz_clear_blocks
#define lz_clear_blocks(p, n)	memset(p, 0, n)
#endif

static inline void *lz_alloc_blocks(size_t n)
{
	void *p = aligned_alloc(4096, (n ? n : 1) * 4096);

	if (p)
		lz_clear_blocks(p, (n ? n : 1) * 4096);
	return p;
}

static inline void *lz_zalloc_blocks(size_t n)
{
	size_t size = (n ? n : 1) * 4096;
	void *p = aligned_alloc(4096, size);

	return p ? memset(p, 0, size) : NULL;
}

#define lz_free_blocks(p)	free(p)
#define lz_alloc_node()		aligned_alloc(4096, 4096)
#define lz_free_node(p)		free(p)
#define lz_zalloc_small(n)	calloc(1, n)
extern u64 lz_user_ram;		/* for tests; a tool has what it can get */
#define lz_ram_blocks()		lz_user_ram
#ifdef LZ_TINY
extern u32 lz_user_fill;	/* LZ_FILL_RECORDS */
extern u32 lz_user_summary;	/* LZ_FILL_SUMMARY */
#endif

/* Wraps, as the kernel's does: it may begin with any number. */
typedef struct { u64 v; } lz_count_t;
#define lz_count_init(c)	((c)->v = 0, 0)
#define lz_count_destroy(c)	do { } while (0)
#define lz_count_add(c, n)	((c)->v += (n))
#define lz_count_set(c, n)	((c)->v = (n))
#define lz_count_read(c)	((c)->v)

#endif /* LIFEZONE_PORT_USER_H */
