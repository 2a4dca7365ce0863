// SPDX-License-Identifier: GPL-2.0-only
/*
 * A zoned block device as drive.
 *
 * Zones are reported and managed by the kernel's own ioctls: libzbd, which
 * would do, is LGPL-3.0-or-later and cannot be linked with GPL-2.0-only code.
 *
 * Used are the sequential zones of full size. Conventional zones may come before
 * them and a smaller zone last; these are left alone. The module counts zones and
 * refuses drives the same way.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <linux/blkzoned.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "lifezone.h"

#define REPORT_ZONES	4096u
/* Blocks in one command, however many the drive takes. */
#define MAX_APPEND	256u

static u64 queue_number(dev_t dev, const char *name)
{
	char path[64];
	u64 v;

	snprintf(path, sizeof(path), "queue/%s", name);
	return block_u64(dev, path, &v) ? v : 0;
}

/* Who has it: device-mapper devices and the like, by name. */
static void say_busy(struct drive *d, dev_t dev)
{
	char path[320], who[128] = "", name[64];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/holders", major(dev), minor(dev));
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		FILE *f;
		size_t n;

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/sys/class/block/%s/dm/name", e->d_name);
		snprintf(name, sizeof(name), "%.60s", e->d_name);
		f = fopen(path, "re");
		if (f) {
			if (fgets(name, sizeof(name), f))
				name[strcspn(name, "\n")] = 0;
			fclose(f);
		}
		n = strlen(who);
		snprintf(who + n, sizeof(who) - n, "%s%s", n ? ", " : " by ", name);
	}
	if (dir)
		closedir(dir);
	complain(d->path, "in use%s (stop or unmount it first)", who);
}

static u8 cond_of(const struct blk_zone *z)
{
	switch (z->cond) {
	case BLK_ZONE_COND_EMPTY:
		return LZ_COND_EMPTY;
	case BLK_ZONE_COND_FULL:
		return LZ_COND_FULL;
	case BLK_ZONE_COND_READONLY:
		return LZ_COND_READONLY;
	case BLK_ZONE_COND_OFFLINE:
		return LZ_COND_OFFLINE;
	default:
		return LZ_COND_OPEN;
	}
}

/* Capacities of zones (sectors). */
struct caps {
	u64 min;
	u64 max;
};

/* Takes in one zone; false: the drive cannot be used, and it has said why. */
static bool take_zone(struct drive *d, const struct blk_zone *z, u32 zone_sectors, bool has_cap,
		      struct caps *caps)
{
	u64 cap = has_cap ? z->capacity : z->len;
	unsigned long long nr = z->start / zone_sectors;
	struct lz_zone_report *r;

	if (z->len != zone_sectors) {
		d->nr_left++;
		return true;
	}
	if (z->type == BLK_ZONE_TYPE_CONVENTIONAL) {
		if (d->g.nr_zones) {
			complain(d->path, "zone %llu is conventional (only the first may be)", nr);
			return false;
		}
		d->nr_conv++;
		return true;
	}
	if (z->type != BLK_ZONE_TYPE_SEQWRITE_REQ) {
		complain(d->path, "zone %llu has type %u (host-managed zones are needed)", nr,
			 z->type);
		return false;
	}
	if (!d->g.nr_zones)
		d->base = (off_t)z->start * 512;
	r = &d->z[d->g.nr_zones++];
	r->cond = cond_of(z);
	/* A dead zone may claim anything. */
	if (r->cond != LZ_COND_OFFLINE && cap) {
		caps->min = min(caps->min, cap);
		caps->max = max(caps->max, cap);
	}
	switch (r->cond) {
	case LZ_COND_EMPTY:
		r->wp = 0;
		break;
	case LZ_COND_FULL:
		r->wp = d->g.zone_blocks;	/* cut to the capacity below */
		break;
	default:
		/* An offline or read-only zone may claim anything here too. */
		r->wp = z->wp >= z->start && z->wp - z->start <= z->len ?
			DIV_ROUND_UP(z->wp - z->start, LZ_BLOCK_SECTORS) : d->g.zone_blocks;
		r->torn = r->cond == LZ_COND_OPEN && (z->wp - z->start) % LZ_BLOCK_SECTORS;
	}
	return true;
}

static bool report(struct drive *d, u32 zone_sectors, u32 nr, u64 sectors, struct caps *caps)
{
	struct blk_zone_report *rep;
	u32 i, seen = 0;
	bool ok = true;
	u64 pos = 0;

	rep = calloc(1, sizeof(*rep) + REPORT_ZONES * sizeof(struct blk_zone));
	d->z = calloc(nr, sizeof(*d->z));
	if (!rep || !d->z) {
		complain(d->path, "out of memory");
		free(rep);
		return false;
	}
	while (ok && pos < sectors && seen < nr) {
		rep->sector = pos;
		rep->nr_zones = REPORT_ZONES;
		if (ioctl(d->fd, BLKREPORTZONE, rep)) {
			complain(d->path, "its zones cannot be reported: %s", strerror(errno));
			ok = false;
			break;
		}
		if (!rep->nr_zones)
			break;
		for (i = 0; i < rep->nr_zones && ok && seen < nr; i++, seen++) {
			ok = take_zone(d, &rep->zones[i], zone_sectors,
				       rep->flags & BLK_ZONE_REP_CAPACITY, caps);
			pos = rep->zones[i].start + rep->zones[i].len;
		}
	}
	free(rep);
	if (!ok)
		return false;
	d->g.zone_cap = min_t(u64, caps->min, zone_sectors) / LZ_BLOCK_SECTORS;
	for (i = 0; i < d->g.nr_zones; i++)
		d->z[i].wp = min(d->z[i].wp, d->g.zone_cap);
	return true;
}

static bool blk_open(struct drive *d, unsigned int flags, const struct drive_image *img)
{
	u32 zone_sectors = 0, nr = 0, open_max, active_max;
	struct caps caps = { .min = ~0ull };
	char zoned[32];
	struct stat st;
	u64 bytes = 0, metadata;

	if (img && (img->zone_size || img->zone_cap || img->max_open)) {
		complain(d->path,
			 "has zones of its own (--zone-size, --zone-cap and --drive-open are for image files)");
		return false;
	}
	/*
	 * First without a claim: what the device is not matters more to the user
	 * than that it is in use.
	 */
	d->fd = open(d->path, O_RDONLY | O_CLOEXEC);
	if (d->fd < 0 || fstat(d->fd, &st)) {
		complain(d->path, "%s", strerror(errno));
		return false;
	}
	if (!block_text(st.st_rdev, "queue/zoned", zoned, sizeof(zoned)) || !*zoned ||
	    !strcmp(zoned, "none")) {
		if (!(flags & DRIVE_SILENT))
			complain(d->path, "not a zoned device (host-managed zones are needed)");
		return false;
	}
	close(d->fd);
	d->fd = open(d->path, (flags & DRIVE_WRITE ? O_RDWR : O_RDONLY) | O_DIRECT | O_CLOEXEC |
		     (flags & DRIVE_EXCL ? O_EXCL : 0));
	if (d->fd < 0) {
		if (errno == EBUSY)
			say_busy(d, st.st_rdev);
		else
			complain(d->path, "%s", strerror(errno));
		return false;
	}
	if (ioctl(d->fd, BLKGETZONESZ, &zone_sectors) || ioctl(d->fd, BLKGETNRZONES, &nr) ||
	    ioctl(d->fd, BLKGETSIZE64, &bytes)) {
		complain(d->path, "its geometry cannot be read: %s", strerror(errno));
		return false;
	}
	if (!is_power_of_2(zone_sectors) || zone_sectors % LZ_BLOCK_SECTORS ||
	    zone_sectors / LZ_BLOCK_SECTORS > LZ_ZONE_BLOCKS_MAX) {
		complain(d->path, "zones of %u sectors (a power of two up to 64 GiB is needed)",
			 zone_sectors);
		return false;
	}
	if (queue_number(st.st_rdev, "logical_block_size") > LZ_BLOCK_SIZE) {
		complain(d->path, "logical blocks of %llu bytes (at most %u are allowed)",
			 (unsigned long long)queue_number(st.st_rdev, "logical_block_size"),
			 LZ_BLOCK_SIZE);
		return false;
	}
	if (queue_number(st.st_rdev, "zone_write_granularity") > LZ_BLOCK_SIZE) {
		complain(d->path,
			 "zones are written by %llu bytes at least (at most %u are allowed)",
			 (unsigned long long)queue_number(st.st_rdev, "zone_write_granularity"),
			 LZ_BLOCK_SIZE);
		return false;
	}
	/* NVMe's; see lz_survey_drive(). */
	if (block_u64(st.st_rdev, "metadata_bytes", &metadata) && metadata) {
		complain(d->path,
			 "%llu bytes of metadata beside each block, which appends cannot bring along (none is allowed)",
			 (unsigned long long)metadata);
		return false;
	}
	d->g.zone_blocks = zone_sectors / LZ_BLOCK_SECTORS;
	if (!report(d, zone_sectors, nr, bytes / 512, &caps))
		return false;
	if (!d->g.nr_zones) {
		complain(d->path, "no sequential zones (all %u are conventional)", nr);
		return false;
	}
	open_max = queue_number(st.st_rdev, "max_open_zones");
	active_max = queue_number(st.st_rdev, "max_active_zones");
	d->g.max_open = open_max && active_max ? min(open_max, active_max) : open_max | active_max;
	if (d->g.max_open && d->g.max_open < LZ_MAX_OPEN_MIN) {
		complain(d->path, "allows %u open zones (at least %u are needed)", d->g.max_open,
			 LZ_MAX_OPEN_MIN);
		return false;
	}
	if (d->g.max_open && caps.max != (u64)d->g.zone_cap * LZ_BLOCK_SECTORS) {
		/* Written as far as we do, the larger ones would still count as open. */
		complain(d->path,
			 "zone capacities of %llu to %llu sectors (all must be equal, a multiple of 8, where open zones are limited)",
			 (unsigned long long)caps.min, (unsigned long long)caps.max);
		return false;
	}
	d->g.max_append = queue_number(st.st_rdev, "zone_append_max_bytes") >> LZ_BLOCK_SHIFT;
	d->g.max_append = clamp_t(u32, d->g.max_append, 1, MAX_APPEND);
	return true;
}

static int blk_zone_op(struct drive *d, enum lz_op op, u32 zone, u32 nr)
{
	struct blk_zone_range r = {
		.sector = d->base / 512 + (u64)zone * d->g.zone_blocks * LZ_BLOCK_SECTORS,
		.nr_sectors = (u64)nr * d->g.zone_blocks * LZ_BLOCK_SECTORS,
	};

	return ioctl(d->fd, op == LZ_OP_RESET ? BLKRESETZONE : BLKFINISHZONE, &r) ? -errno : 0;
}

const struct drive_kind drive_blk = {
	.open		= blk_open,
	.zone_op	= blk_zone_op,
};
