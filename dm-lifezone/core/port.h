/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What core needs of its surroundings, in the kernel and in user space.
 *
 * Core includes this and nothing else from outside. In the kernel it is the
 * kernel's own interfaces; in user space core runs in one thread (the tool, the
 * simulator, the tests), so locks only check that they are taken and released
 * in pairs, and atomics are plain.
 */
#ifndef LIFEZONE_PORT_H
#define LIFEZONE_PORT_H

#ifdef __KERNEL__

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/crc32c.h>
#include <linux/errno.h>
#include <linux/gcd.h>
#include <linux/highmem.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/percpu_counter.h>
#include <linux/prefetch.h>
#include <linux/sort.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/vmalloc.h>
#include <linux/slab.h>

#define lz_crc32c(crc, p, n)	crc32c(crc, p, n)
#define lz_zalloc_array(n, sz)	kvcalloc(n, sz, GFP_KERNEL)
#define lz_free(p)		kvfree(p)
/*
 * Page-aligned, never moved: metadata and copy buffers. Zeroed lest a drive gets what was
 * others' memory; core does not count on it.
 */
#define lz_alloc_blocks(n)	vzalloc(array_size(n, 4096))
/* The same, and core counts on it. May be gigabytes: nobody is killed for these. */
#define lz_zalloc_blocks(n)	\
	__vmalloc(array_size(n, 4096), \
		  GFP_KERNEL | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)
#define lz_free_blocks(p)	vfree(p)
/* In the machine: must not wait on our own I/O, and rather fail than wait for long. */
#define LZ_GFP_MACHINE		(GFP_NOIO | __GFP_NORETRY | __GFP_NOMEMALLOC | __GFP_NOWARN)
/* One block, aligned; of larger pages no more than that. */
#if PAGE_SIZE > 4096
#define lz_alloc_node()	kmalloc(4096, LZ_GFP_MACHINE)
#define lz_free_node(p)	kfree(p)
#else
#define lz_alloc_node()	((void *)__get_free_page(LZ_GFP_MACHINE))
#define lz_free_node(p)	free_page((unsigned long)(p))
#endif
#define lz_zalloc_small(n)	kzalloc(n, LZ_GFP_MACHINE)
/* Memory there is for the kernel, whoever has it now (blocks). */
#define lz_ram_blocks()		((u64)(totalram_pages() - totalhigh_pages()) << (PAGE_SHIFT - 12))

typedef struct percpu_counter lz_count_t;
#define LZ_COUNT_BATCH		4096
static inline int lz_count_init(lz_count_t *c)
{
	return percpu_counter_init(c, 0, GFP_KERNEL);
}

#define lz_count_destroy(c)	percpu_counter_destroy(c)
#define lz_count_add(c, n)	percpu_counter_add_batch(c, n, LZ_COUNT_BATCH)
#define lz_count_set(c, n)	percpu_counter_set(c, n)
#define lz_count_read(c)	((u64)percpu_counter_sum_positive(c))

#else
#include "port_user.h"
#endif /* __KERNEL__ */

#include "../../include/lifezone/format.h"

#endif /* LIFEZONE_PORT_H */
