/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What commands use of one another.
 */
#ifndef LIFEZONE_CMD_H
#define LIFEZONE_CMD_H

#include <linux/dm-ioctl.h>
#include "lifezone.h"

/*
 * Memory for leaves of the map, where they are looked at one after the other. Of a device of
 * half a TiB these are all; of what is larger each walk reads them anew.
 */
#define MAP_CACHE_MB	1024

/*
 * lz_probe(), with one line on stderr if it fails. -EBUSY: DRIVE_EXCL is wanted, but the device is
 * started from another node of the drive.
 */
int read_super(struct drive *d, struct lz_super_info *si);
struct json_object *super_info_json(const struct lz_super_info *si);

/* Are the drive's zones those the superblock says it was formatted with? One line if not. */
static inline bool geometry_fits(const struct drive *d, const struct lz_super_info *si, bool mute)
{
	/* What is beyond the formatted zones is as if it were not there. */
	if (si->zone_blocks == d->g.zone_blocks && si->nr_zones <= d->g.nr_zones &&
	    si->zone_cap <= d->g.zone_cap)
		return true;
	if (!mute)
		complain(d->path, "formatted as %u zones of %u/%u blocks, has %u of %u/%u",
			 si->nr_zones, si->zone_cap, si->zone_blocks, d->g.nr_zones,
			 d->g.zone_cap, d->g.zone_blocks);
	return false;
}

/* Metadata does not hold together, or the drive has lost it: an error found. */
static inline bool is_damage(int err)
{
	return err == -EUCLEAN || err == -EIO;
}

/* Why that ended with @err: what core said, if it did. */
static inline const char *why_not(const struct drive *d, int err)
{
	return *d->said ? d->said : strerror(-err);
}

/*
 * Loads the drive's device without writing and checks all of it. 0, and r->errors, or an error of
 * lz_load(), which has been told.
 */
int check_drive(struct drive *d, struct lz_check_report *r,
		void (*note)(void *ctx, const char *line));

/**
 * struct started_id - a started device
 * @name: of the mapped device
 * @uuid: its device-mapper UUID, if it has one
 * @dev: its number, which another may have later
 */
struct started_id {
	char name[DM_NAME_LEN];
	char uuid[DM_UUID_LEN];
	dev_t dev;
};

/* The device that a name, its node or its drive means; false: it has said why not. */
bool started_find(const char *word, struct started_id *id);
/* The same of a word without a slash: 1, 0: it is the name of none, -1: it has said why not. */
int started_named(const char *name, struct started_id *id);
/* All of them, to be freed; how many, or -1: it has said why. */
int started_list(struct started_id **list);
/*
 * Is one with the superblock's @uuid started, other than by claiming the node at @path? It has said
 * so. A drive may have several nodes, as with two ports.
 */
bool started_elsewhere(const char *path, const u8 *uuid);
/* Sends a message; NULL, or why it is refused. */
const char *started_message(const char *name, const char *message);

/* What a metadata block says, as an object. @why: why it is not valid, or "". */
struct json_object *block_json(const void *block, const char *why);

const char *zone_state_name(u8 state);
const char *class_name(u8 class);
/* s: not every block is named by a summary; g: filled by GC; b: set aside; w: has been. */
const char *zone_flag_names(u32 flags, char *buf, size_t n);
const char *record_text(const struct lz_jrec *r, char *buf, size_t n);

/* The device as recovery would leave it; an exit code. */
int dump_state(struct drive *d, struct out *out);

#endif /* LIFEZONE_CMD_H */
