/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernel versions, all of them. The module is written for
 * 6.12; what changed later is bridged here, and in lz_split_fine() (io.c).
 */
#ifndef LIFEZONE_COMPAT_H
#define LIFEZONE_COMPAT_H

#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/version.h>

#define LZ_KERNEL_SINCE(a, b)	(KERNEL_VERSION(a, b, 0) <= LINUX_VERSION_CODE)

/* Limits that a device which is not zoned must not have. */
static inline void lz_clear_zoned_limits(struct queue_limits *limits)
{
	limits->features &= ~BLK_FEAT_ZONED;
	limits->chunk_sectors = 0;
	limits->max_open_zones = 0;
	limits->max_active_zones = 0;
	limits->zone_write_granularity = 0;
	limits->max_zone_append_sectors = 0;
#if LZ_KERNEL_SINCE(6, 13)
	limits->max_hw_zone_append_sectors = 0;
#endif
}

/* 6.17: a device says apart how much it zeroes by unmapping. */
static inline void lz_set_write_zeroes(struct queue_limits *limits,
				       unsigned int sectors)
{
	limits->max_write_zeroes_sectors = sectors;
#if LZ_KERNEL_SINCE(6, 17)
	limits->max_hw_wzeroes_unmap_sectors = sectors;
#endif
}

#endif /* LIFEZONE_COMPAT_H */
