/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the lifezone tool share: exit codes, messages, output, and
 * the drive that commands work on.
 */
#ifndef LIFEZONE_TOOL_H
#define LIFEZONE_TOOL_H

#include <argp.h>
#include <stdio.h>
#include <stdnoreturn.h>
#include <sys/types.h>
#include <json-c/json.h>

#include "../dm-lifezone/core/core.h"
#include "../dm-lifezone/core/log.h"

#define TOOL_VERSION	"0.1"

/* Exit codes; check and repair use those of fsck. */
enum {
	EXIT_OK		= 0,
	EXIT_FAIL	= 1,	/* refused or failed; nothing was written unless it says so */
	EXIT_REPAIRED	= 1,	/* repair: errors corrected */
	EXIT_NONE	= 2,	/* probe: no lifezone device there */
	EXIT_ERRORS	= 4,	/* check, repair: errors left uncorrected; dump: damaged */
	EXIT_OPERATION	= 8,	/* check, repair: could not be done */
	EXIT_USAGE_	= 16,	/* bad command line */
};

/* --- util.c: messages, numbers, names ------------------------------------------ */

/* One line "lifezone: WHAT: ..." on stderr. */
void complain(const char *what, const char *fmt, ...) __printf(2, 3);
/* The same about the command line, then exit with EXIT_USAGE_. */
noreturn void usage_error(const struct argp_state *state, const char *fmt, ...) __printf(2, 3);
/* "16M" to bytes, "7" to a number; false if it is neither. */
bool parse_size(const char *s, u64 *v);
bool parse_number(const char *s, u64 *v);
/* The number a file of sysfs holds; false: none, or no file. */
bool read_u64(const char *path, u64 *v);
/* The same for the attribute @name of a block device. */
bool block_u64(dev_t dev, const char *name, u64 *v);
/* The same for a line of text, which may be empty. */
bool block_text(dev_t dev, const char *name, char *text, size_t n);
/* The kernel's name of a block device; false: there is none of that number. */
bool block_name(dev_t dev, char *name, size_t n);
/* A clock that only goes forward. */
u64 now_ns(void);
/* Bytes as "3.5 GiB". */
const char *human_size(u64 bytes, char *buf, size_t n);
void uuid_text(const u8 *uuid, char text[37]);
/* What a command does that wants one device: puts its path into @path. */
error_t parse_device(int key, char *arg, struct argp_state *state, const char **path);
/* "KEY=VALUE", set in @o; a 0 then stands between the two. */
void parse_option(const struct argp_state *state, char *arg, struct lz_options *o);
/* argp_parse() for the command @name, so that help names it fully. */
void parse_args(const struct argp *argp, const char *name, int argc, char **argv, void *input);

/* --- out.c: the same facts as text or JSON -------------------------------------- */

#define OUT_COLUMNS	32u	/* that may have widths of their own */

struct out {
	bool json;
	bool rows;		/* rows have been printed */
	const char *title;	/* of the rows */
	unsigned int fields;	/* of the row printed last */
	int width[OUT_COLUMNS];
};

/* Takes over the reference to @o. */
void out_object(struct out *out, struct json_object *o);
/* A list whose rows are printed as they come. */
void out_rows_begin(struct out *out, const char *title);
void out_row(struct out *out, struct json_object *o);
void out_rows_end(struct out *out);
/* Ends one that an error left without an end; of which nothing was printed nothing is. */
void out_close(void);

/* What of @value is not UTF-8, as JSON has to be, becomes question marks. */
void put_str(struct json_object *o, const char *key, const char *value);

static inline void put_u64(struct json_object *o, const char *key, u64 value)
{
	json_object_object_add(o, key, json_object_new_uint64(value));
}

static inline void put_bool(struct json_object *o, const char *key, bool value)
{
	json_object_object_add(o, key, json_object_new_boolean(value));
}

/* A drive address, "-" where it names nothing. */
void put_addr(struct json_object *o, const char *key, u64 addr);

/* --- drive.c: a drive and the synchronous host of core on it ---------------------- */

#define DRIVE_WRITE	0x1u	/* else read-only */
#define DRIVE_EXCL	0x2u	/* refuse a device in use */
#define DRIVE_QUIET	0x4u	/* core's warnings and news are not printed */
#define DRIVE_SILENT	0x8u	/* nothing at all is printed */

/**
 * struct drive_image - how to take a regular file for a drive
 * @zone_size: bytes; 0: not told
 * @zone_cap: bytes; 0: as the size
 * @max_open: zones; 0: no limit
 */
struct drive_image {
	u64 zone_size;
	u64 zone_cap;
	u32 max_open;
};

struct drive;

/**
 * struct drive_kind - what differs between a block device and an image file
 * @open: open d->path, fill in d->fd, d->g, d->base, d->z; false: it has said why
 * @begin: it is about to be changed; false: it has said why it cannot be. NULL: it can
 * @zone_op: LZ_OP_RESET or LZ_OP_FINISH on @nr zones from @zone; 0 or -errno
 * @wrote: @zone has been written to, d->z says how far; 0 or -errno. NULL: the drive knows
 * @close: last words; false: it has said what could not be kept
 */
struct drive_kind {
	bool (*open)(struct drive *d, unsigned int flags, const struct drive_image *img);
	bool (*begin)(struct drive *d);
	int (*zone_op)(struct drive *d, enum lz_op op, u32 zone, u32 nr);
	int (*wrote)(struct drive *d, u32 zone);
	bool (*close)(struct drive *d);
};

extern const struct drive_kind drive_blk, drive_img;

/**
 * struct drive - an open drive
 * @path: as the user named it
 * @fd: file descriptor
 * @flags: DRIVE_*
 * @kind: block device or image
 * @g: geometry, as core wants it
 * @base: byte offset of the first sequential zone
 * @nr_conv: conventional zones that are left alone (zones)
 * @nr_left: zones after the last usable one that are left alone (zones)
 * @z: a report for each zone, kept up to date by what we do
 * @lz: core's device, once there is one
 * @said: what core said first of what was wrong; it has been printed
 * @list: image: its list of zones, to which changes are added, once begun
 */
struct drive {
	const char *path;
	int fd;
	unsigned int flags;
	const struct drive_kind *kind;
	struct lz_geometry g;
	off_t base;
	u32 nr_conv;
	u32 nr_left;
	struct lz_zone_report *z;
	struct lz *lz;
	char said[256];
	FILE *list;
};

extern const struct lz_ops drive_ops;

/* NULL: it has said why. */
struct drive *drive_open(const char *path, unsigned int flags, const struct drive_image *img);
/* False: what was written may not all be there, and it has said why. */
bool drive_close(struct drive *d);
/* Before anything is written. False: it has said why nothing can be. */
bool drive_begin(struct drive *d);
bool drive_read(struct drive *d, u64 addr, u32 nblocks, void *buf);
static inline u64 drive_blocks(const struct drive *d)
{
	return (u64)d->g.nr_zones * d->g.zone_blocks;
}

/* The options an image file is described by, for the commands that take one. */
extern const struct argp image_argp;
#define IMAGE_CHILD	{ &image_argp, 0, "For an image file instead of a drive:", 90 }

/* --- the commands ---------------------------------------------------------------- */

int cmd_format(int argc, char **argv);
int cmd_probe(int argc, char **argv);
int cmd_table(int argc, char **argv);
int cmd_start(int argc, char **argv);
int cmd_stop(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_set(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_repair(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_sim(int argc, char **argv);
int cmd_trim(int argc, char **argv);

#endif /* LIFEZONE_TOOL_H */
