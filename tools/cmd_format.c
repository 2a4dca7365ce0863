// SPDX-License-Identifier: GPL-2.0-only
/*
 * lifezone format: make a lifezone device of a zoned drive.
 *
 * Everything that can refuse refuses before the first zone is reset: a device
 * in use, foreign data, an earlier lifezone device, zones too few or of a kind
 * we cannot use, what core cannot work with. Then all zones are reset and core writes the first
 * superblock and checkpoint. Cut short after the first reset, the drive holds nothing; cut
 * short later, it holds an empty device or nothing: format it again.
 *
 * What libblkid finds is foreign. --force overrides what is found, never that
 * the device is in use. Where no reset erases it, we do, or the drive would still be
 * taken for what it was.
 */
#include <blkid/blkid.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <uuid/uuid.h>
#include "cmd.h"

#define CHUNK	256u	/* blocks read at once where a zone is searched */

struct format_args {
	const char *path;
	bool force;
	bool quiet;
	bool json;
	bool have_uuid;
	u32 max_open;
	struct lz_super_info si;
	struct drive_image img;
};

enum { OPT_UUID = 0x100, OPT_SPARE, OPT_MAX_OPEN, OPT_JSON };

static const struct argp_option options[] = {
	{ "force", 'f', NULL, 0, "format a drive that holds data", 0 },
	{ "label", 'L', "LABEL", 0, "name of the device, up to 64 bytes", 0 },
	{ "uuid", OPT_UUID, "UUID", 0, "its UUID (default: a random one)", 0 },
	{ "spare", OPT_SPARE, "PERCENT", 0,
	  "spare space: part of the data zones not exported, 2 to 90 (default: 10)", 0 },
	{ "max-open", OPT_MAX_OPEN, "N", 0,
	  "reckon with no more than N open zones (default: the drive's limit, or 16)", 0 },
	{ "quiet", 'q', NULL, 0, "print nothing but errors", 0 },
	{ "json", OPT_JSON, NULL, 0, "print what was made as JSON", 0 },
	{ 0 }
};

/* "12.5" to 125, exactly. */
static bool parse_permille(const char *s, u32 *permille)
{
	char *end;
	unsigned long whole = strtoul(s, &end, 10);
	u32 tenth = 0;

	if (end == s || *s == '-' || *s == '+' || whole > 100)
		return false;
	if (*end == '.') {
		if (end[1] < '0' || end[1] > '9')
			return false;
		tenth = end[1] - '0';
		end += 2;
	}
	if (*end == '%')
		end++;
	*permille = whole * 10 + tenth;
	return !*end;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct format_args *a = state->input;
	u64 v;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->img;
		return 0;
	case 'f':
		a->force = true;
		return 0;
	case 'q':
		a->quiet = true;
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	case 'L':
		if (!*arg || strlen(arg) > LZ_LABEL_SIZE)
			usage_error(state, "label of %zu bytes (1 to %u are allowed)",
				    strlen(arg), LZ_LABEL_SIZE);
		for (v = 0; arg[v]; v++)
			if ((unsigned char)arg[v] < ' ' || arg[v] == 0x7f || arg[v] == '/')
				usage_error(state, "label with a slash or control character");
		memcpy(a->si.label, arg, strlen(arg) + 1);
		return 0;
	case OPT_UUID:
		if (uuid_parse(arg, a->si.uuid) || uuid_is_null(a->si.uuid))
			usage_error(state, "--uuid %s: not a UUID", arg);
		a->have_uuid = true;
		return 0;
	case OPT_SPARE:
		if (!parse_permille(arg, &a->si.spare_permille) ||
		    a->si.spare_permille < LZ_SPARE_MIN || a->si.spare_permille > LZ_SPARE_MAX)
			usage_error(state, "--spare %s: not a percentage from %u to %u", arg,
				    LZ_SPARE_MIN / 10, LZ_SPARE_MAX / 10);
		return 0;
	case OPT_MAX_OPEN:
		if (!parse_number(arg, &v) || v < LZ_MAX_OPEN_MIN || v > UINT32_MAX)
			usage_error(state, "--max-open %s: not a number of at least %u", arg,
				    LZ_MAX_OPEN_MIN);
		a->max_open = v;
		return 0;
	}
	return parse_device(key, arg, state, &a->path);
}

static const struct argp_child children[] = { IMAGE_CHILD, { 0 } };
static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "DEV",
	.doc = "Make a lifezone device of the zoned drive DEV. What it held is lost.",
	.children = children,
};

static bool zone_is_written(const struct lz_zone_report *z)
{
	return z->cond == LZ_COND_OPEN || z->cond == LZ_COND_FULL;
}

/* Are there zones that are not empty? Who wrote them may leave no mark that is known. */
static bool is_written(const struct drive *d)
{
	u32 i, n = 0;

	for (i = 0; i < d->g.nr_zones; i++)
		n += zone_is_written(&d->z[i]);
	if (n)
		complain(d->path,
			 "%u of %u zones are written, with what is not known (--force overwrites it)",
			 n, d->g.nr_zones);
	return n;
}

/*
 * Another descriptor of it, without direct I/O, which is for larger pieces than signatures are. Its
 * name may be a link that leads to another drive by now. -1, and errno.
 */
static int open_again(const struct drive *d, int flags)
{
	int fd = open(d->path, flags | O_CLOEXEC);
	struct stat was, is;

	if (fd < 0)
		return -1;
	if (!fstat(d->fd, &was) && !fstat(fd, &is) && was.st_rdev == is.st_rdev &&
	    (S_ISBLK(is.st_mode) || (was.st_dev == is.st_dev && was.st_ino == is.st_ino)))
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

/* Whether something is on the drive; if so says what. @ret: what lz_probe() makes of it, and @si */
static bool holds_data(const struct drive *d, int ret, const struct lz_super_info *si)
{
	const char *what = NULL, *how = "type";
	blkid_probe pr = NULL;
	bool found = true;
	char uuid[37];
	int fd;

	if (!ret) {
		uuid_text(si->uuid, uuid);
		complain(d->path, "already holds lifezone device %s%s%s (--force formats anew)",
			 uuid, *si->label ? " " : "", si->label);
		return true;
	}
	if (ret == -EPROTONOSUPPORT || ret == -EUCLEAN || ret == -EINVAL) {
		complain(d->path, "already holds a lifezone device %s (--force formats anew)",
			 ret == -EUCLEAN ? "that is damaged" :
			 ret == -EINVAL ? "of a drive with other zones" : "of another version");
		return true;
	}
	fd = open_again(d, O_RDONLY);
	if (fd < 0) {
		complain(d->path, "%s", strerror(errno));
		return true;
	}
	pr = blkid_new_probe();
	if (!pr || blkid_probe_set_device(pr, fd, 0, 0)) {
		complain(d->path, "cannot be searched for data (--force formats it unsearched)");
		goto out;
	}
	blkid_probe_enable_superblocks(pr, 1);
	blkid_probe_enable_partitions(pr, 1);
	blkid_probe_set_superblocks_flags(pr, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE);
	ret = blkid_do_safeprobe(pr);
	if (ret == 1) {
		found = is_written(d);
	} else if (ret == 0) {
		if (blkid_probe_lookup_value(pr, "TYPE", &what, NULL) &&
		    !blkid_probe_lookup_value(pr, "PTTYPE", &what, NULL))
			how = "a partition table of type";
		complain(d->path, "already holds data, %s %s (--force overwrites it)", how,
			 what ? what : "unknown");
	} else if (ret == -2) {
		complain(d->path, "already holds data of several types (--force overwrites it)");
	} else {
		complain(d->path, "cannot be searched for data (--force formats it unsearched)");
	}
out:
	if (pr)
		blkid_free_probe(pr);
	close(fd);
	return found;
}

/* Zones that cannot be written: set aside, and no capacity. */
static u32 nr_dead(const struct drive *d)
{
	u32 i, n = 0;

	for (i = 0; i < d->g.nr_zones; i++)
		n += lz_zone_dead(&d->z[i]);
	return n;
}

/* Of all zones these two have to be what they are for; others are set aside. */
static bool roots_fit(const struct drive *d)
{
	u32 i;

	for (i = 0; i < min(2u, d->g.nr_zones); i++) {
		if (!lz_zone_dead(&d->z[i]))
			continue;
		complain(d->path, "zone %u is %s: the first two have to be written", i,
			 d->z[i].cond == LZ_COND_READONLY ? "read-only" : "offline");
		return false;
	}
	return true;
}

/* Metadata of a device with @uuid in @zone? What cannot be read is none to anybody. */
static bool holds_uuid(struct drive *d, const u8 *uuid, u32 zone, char *buf)
{
	u32 off, i, n;

	for (off = 0; off < d->g.zone_cap; off += n) {
		u64 addr = (u64)zone * d->g.zone_blocks + off;
		bool all;

		n = min(d->g.zone_cap - off, CHUNK);
		all = drive_read(d, addr, n, buf);
		for (i = 0; i < n; i++) {
			struct lz_hdr *h = (void *)(buf + (size_t)i * LZ_BLOCK_SIZE);
			struct lz_want w = { .uuid = uuid, .addr = addr + i, .index = ~0ull };

			if (!all && !drive_read(d, addr + i, 1, h))
				continue;
			w.type = le16_to_cpu(h->type);
			w.level = le16_to_cpu(h->level);
			if (w.type == LZ_BT_SUMMARY)
				w.addr = LZ_NO_ADDR;
			if (lz_valid(h, &w, NULL, 0))
				return true;
		}
	}
	return false;
}

/*
 * What an earlier device left in zones that cannot be reset is of no harm, as its UUID is
 * another; unless that was asked for again. Then it would pass for younger than what we write.
 */
static bool uuid_fits(struct drive *d, const u8 *uuid)
{
	char *buf = lz_alloc_blocks(CHUNK);
	bool ok = buf;
	u32 i;

	if (!buf)
		complain(d->path, "out of memory");
	for (i = 0; ok && i < d->g.nr_zones; i++) {
		if (d->z[i].cond != LZ_COND_READONLY || !holds_uuid(d, uuid, i, buf))
			continue;
		complain(d->path,
			 "zone %u is read-only and holds metadata of an earlier device with this UUID (use another)",
			 i);
		ok = false;
	}
	lz_free_blocks(buf);
	return ok;
}

/* What core would refuse too late: the drive's limits, and memory. */
static bool core_fits(struct drive *d, const struct lz_geometry *g, const struct lz_super_info *si)
{
	struct lz_options o;
	int err = -ENOMEM;
	struct lz *lz;

	lz_options_default(&o);
	lz = lz_new(g, &o, &drive_ops, d);
	if (lz) {
		err = lz_prepare(lz, si, LZ_LOAD_RO);
		lz_free_device(lz);
	}
	if (err && !*d->said)
		complain(d->path, "cannot be formatted: %s", strerror(-err));
	return !err;
}

static int reset_some(struct drive *d, u32 zone, u32 n)
{
	int err = d->kind->zone_op(d, LZ_OP_RESET, zone, n);
	u32 i;

	if (err)
		return err;
	for (i = zone; i < zone + n; i++) {
		d->z[i].wp = 0;
		d->z[i].cond = LZ_COND_EMPTY;
		d->z[i].torn = false;
	}
	return 0;
}

/* As one that is read-only, if we can do without it and nothing in it will pass for ours. */
static bool set_aside(struct format_args *a, struct drive *d, u32 zone, int err)
{
	char why[160] = "";

	complain(d->path, "zone %u cannot be reset: %s%s", zone, strerror(-err),
		 zone < 2 ? ": the first two have to be written" : a->have_uuid ?
		 " (without --uuid it would be set aside)" : ": set aside");
	if (zone < 2 || a->have_uuid)
		return false;
	d->z[zone].cond = LZ_COND_READONLY;
	if (!lz_layout_dead(&d->g, &a->si, nr_dead(d), why, sizeof(why)))
		return true;
	complain(d->path, "%s", why);
	return false;
}

/* Runs of zones that are not empty; where one cannot be reset, each by itself. */
static bool reset_all(struct format_args *a, struct drive *d)
{
	u32 i = 0, n, k;

	while (i < d->g.nr_zones) {
		n = 0;
		while (i + n < d->g.nr_zones && zone_is_written(&d->z[i + n]))
			n++;
		if (n && reset_some(d, i, n)) {
			for (k = i; k < i + n; k++) {
				int err = reset_some(d, k, 1);

				if (err && !set_aside(a, d, k, err))
					return false;
			}
		}
		i += n ? n : 1;
	}
	return true;
}

/* Signatures in conventional zones. What is left in others could not be reset. */
static bool wipe_conventional(const struct drive *d)
{
	blkid_probe pr = blkid_new_probe();
	int fd = open_again(d, O_RDWR), ret = -1;
	const char *at;

	if (!pr || fd < 0 || blkid_probe_set_device(pr, fd, 0, 0))
		goto out;
	blkid_probe_enable_superblocks(pr, 1);
	blkid_probe_enable_partitions(pr, 1);
	blkid_probe_set_superblocks_flags(pr, BLKID_SUBLKS_MAGIC);
	blkid_probe_set_partitions_flags(pr, BLKID_PARTS_MAGIC);
	while (!(ret = blkid_do_probe(pr))) {
		if (blkid_probe_lookup_value(pr, "SBMAGIC_OFFSET", &at, NULL) &&
		    blkid_probe_lookup_value(pr, "PTMAGIC_OFFSET", &at, NULL))
			continue;
		if (strtoll(at, NULL, 10) < d->base && blkid_do_wipe(pr, false)) {
			ret = -1;
			break;
		}
	}
	if (ret > 0 && fsync(fd))
		ret = -1;
out:
	if (ret < 0)
		complain(d->path, "what its conventional zones hold cannot be erased: %s",
			 strerror(errno));
	if (fd >= 0)
		close(fd);
	if (pr)
		blkid_free_probe(pr);
	return ret > 0;
}

static void report(const struct format_args *a, const struct drive *d)
{
	u64 cap = a->si.logical_blocks << LZ_BLOCK_SHIFT;
	u64 raw = ((u64)d->g.nr_zones * d->g.zone_cap) << LZ_BLOCK_SHIFT;
	struct json_object *o = json_object_new_object();
	struct out out = { .json = a->json };
	char text[96], h1[24], h2[24], uuid[37];
	u32 dead = nr_dead(d);

	uuid_text(a->si.uuid, uuid);
	put_str(o, "device", a->path);
	put_str(o, "uuid", uuid);
	put_str(o, "label", a->si.label);
	if (a->json) {
		put_u64(o, "capacity_bytes", cap);
		put_u64(o, "sectors", a->si.logical_blocks * LZ_BLOCK_SECTORS);
		put_u64(o, "zones", a->si.nr_zones);
		put_u64(o, "zone_size_bytes", (u64)a->si.zone_blocks << LZ_BLOCK_SHIFT);
		put_u64(o, "zone_capacity_bytes", (u64)a->si.zone_cap << LZ_BLOCK_SHIFT);
		put_u64(o, "meta_zones", a->si.meta_zones);
		put_u64(o, "gc_zones", a->si.gc_zones);
		put_u64(o, "spare_permille", a->si.spare_permille);
		put_u64(o, "conventional_zones_unused", d->nr_conv);
		put_u64(o, "zones_unused", d->nr_left);
		put_u64(o, "zones_dead", dead);
	} else {
		snprintf(text, sizeof(text), "%s of %s (%llu sectors)",
			 human_size(cap, h1, sizeof(h1)), human_size(raw, h2, sizeof(h2)),
			 (unsigned long long)a->si.logical_blocks * LZ_BLOCK_SECTORS);
		put_str(o, "capacity", text);
		snprintf(text, sizeof(text), "%u of %s, %s writable", a->si.nr_zones,
			 human_size((u64)a->si.zone_blocks << LZ_BLOCK_SHIFT, h1, sizeof(h1)),
			 human_size((u64)a->si.zone_cap << LZ_BLOCK_SHIFT, h2, sizeof(h2)));
		put_str(o, "zones", text);
		snprintf(text, sizeof(text), "2 zones root, %u metadata, %u GC; spare %u.%u %%",
			 a->si.meta_zones, a->si.gc_zones, a->si.spare_permille / 10,
			 a->si.spare_permille % 10);
		put_str(o, "reserve", text);
		if (dead) {
			snprintf(text, sizeof(text), "%u, which cannot be written", dead);
			put_str(o, "zones set aside", text);
		}
		if (d->nr_conv || d->nr_left) {
			snprintf(text, sizeof(text), "%u before, %u after (of other kinds)",
				 d->nr_conv, d->nr_left);
			put_str(o, "zones left alone", text);
		}
	}
	out_object(&out, o);
}

int cmd_format(int argc, char **argv)
{
	struct format_args a = { .si = { .spare_permille = LZ_SPARE_DEFAULT } };
	int ret = EXIT_FAIL, held, err;
	struct lz_super_info old;
	char why[256] = "";
	struct drive *d;
	struct lz_geometry g;

	parse_args(&argp, "format", argc, argv, &a);
	d = drive_open(a.path, DRIVE_WRITE | DRIVE_EXCL | DRIVE_QUIET, &a.img);
	if (!d)
		return EXIT_FAIL;
	g = d->g;
	if (a.max_open && (!g.max_open || a.max_open < g.max_open))
		g.max_open = a.max_open;
	if (!a.have_uuid)
		uuid_generate_random(a.si.uuid);
	a.si.version = LZ_FORMAT_VERSION;
	a.si.created = time(NULL);
	if (!roots_fit(d))
		goto out;
	err = lz_layout_dead(&g, &a.si, nr_dead(d), why, sizeof(why));
	if (err) {
		complain(a.path, "%s", *why ? why : strerror(-err));
		goto out;
	}
	if (!core_fits(d, &g, &a.si) || (a.have_uuid && !uuid_fits(d, a.si.uuid)))
		goto out;
	d->flags |= DRIVE_SILENT;
	held = lz_probe(&d->g, &drive_ops, d, &old);
	d->flags &= ~DRIVE_SILENT;
	if (!held && d->kind == &drive_blk && started_elsewhere(a.path, old.uuid))
		goto out;
	if (!a.force && holds_data(d, held, &old))
		goto out;
	if (!drive_begin(d) || !reset_all(&a, d))
		goto out;
	if (a.force && d->nr_conv && !wipe_conventional(d))
		goto out;
	err = lz_format(&g, &a.si, d->z, &drive_ops, d);
	if (err) {
		if (!*d->said)
			complain(a.path, "its metadata cannot be written: %s", strerror(-err));
		goto out;
	}
	if (fsync(d->fd)) {
		complain(a.path, "%s", strerror(errno));
		goto out;
	}
	if (!a.quiet)
		report(&a, d);
	ret = EXIT_OK;
out:
	if (!drive_close(d))
		ret = EXIT_FAIL;
	return ret;
}
