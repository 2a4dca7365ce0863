// SPDX-License-Identifier: GPL-2.0-only
/*
 * A regular file as drive: a copy of one, or one to try things on.
 *
 * A file has no write pointers. Those of an image the tool itself writes are
 * kept beside it in IMAGE.zones: a line with the geometry, then a line for each
 * zone that is not empty: its number, write pointer, condition, and 1 where the
 * write pointer is within a block. While the image changes each change adds a line,
 * so that a tool that is killed leaves a list that is true: the last line of a zone
 * counts, and one without its end does not. A copy of a drive comes without; then --zone-size
 * must be given and write pointers are worked out from the contents: a metadata
 * zone (its first block says so) ends after its last block that is not blank,
 * all zeros or all ones, which no metadata block is; a data zone may well end
 * with blank blocks, so it counts as full unless all of it is blank.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lifezone.h"
#include "scan.h"

/* Blocks in one command; as many as a small drive takes. */
#define IMG_MAX_APPEND	128u
#define IMG_CHUNK	256u

static char *sidecar_path(const struct drive *d)
{
	char *p;

	return asprintf(&p, "%s.zones", d->path) < 0 ? NULL : p;
}

/* An image of @bytes has so many zones of the size that is known. */
static bool alloc_zones(struct drive *d, off_t bytes)
{
	u64 size = (u64)d->g.zone_blocks * LZ_BLOCK_SIZE;

	if (bytes / size > UINT32_MAX) {
		complain(d->path, "more than %u zones of %llu bytes", UINT32_MAX,
			 (unsigned long long)size);
		return false;
	}
	d->g.nr_zones = bytes / size;
	d->z = calloc(d->g.nr_zones ? d->g.nr_zones : 1, sizeof(*d->z));
	if (!d->z)
		complain(d->path, "out of memory");
	return d->z;
}

/* The words of @line; how many there are, of which at most @most are in @word. */
static u32 split(char *line, char **word, u32 most)
{
	char *rest, *at;
	u32 n = 0;

	for (at = strtok_r(line, " \t\r\n", &rest); at; at = strtok_r(NULL, " \t\r\n", &rest)) {
		if (n < most)
			word[n] = at;
		n++;
	}
	return n;
}

static bool number(const char *word, u32 *v)
{
	u64 n;

	if (!parse_number(word, &n) || n > UINT32_MAX)
		return false;
	*v = n;
	return true;
}

/* The first line of the list, with the geometry. */
static bool parse_head(char *line, struct drive *d)
{
	static const char *const want[] = {
		"lifezone-image", "zone_blocks", NULL, "zone_cap", NULL, "max_open", NULL,
	};
	u32 v[ARRAY_SIZE(want)], i;
	char *word[ARRAY_SIZE(want)];

	if (split(line, word, ARRAY_SIZE(want)) != ARRAY_SIZE(want))
		return false;
	for (i = 0; i < ARRAY_SIZE(want); i++)
		if (want[i] ? strcmp(word[i], want[i]) : !number(word[i], &v[i]))
			return false;
	d->g.zone_blocks = v[2];
	d->g.zone_cap = v[4];
	d->g.max_open = v[6];
	return is_power_of_2(v[2]) && v[4] && v[4] <= v[2];
}

/* Any other: a zone. */
static bool parse_zone(char *line, u32 *zone, u32 *wp, u32 *cond, u32 *torn)
{
	char *word[4];
	u32 n = split(line, word, 4);

	*torn = 0;
	return (n == 3 || n == 4) && number(word[0], zone) && number(word[1], wp) &&
		number(word[2], cond) && (n == 3 || (number(word[3], torn) && *torn <= 1));
}

/* 1: read; 0: there is none; -1: it is of no use and has been complained about. */
static int read_sidecar(struct drive *d, off_t bytes)
{
	char *path = sidecar_path(d);
	u32 zone, wp, cond, torn, nr = 1;
	char *line = NULL;
	size_t size = 0;
	struct stat st;
	int ret = -1, fd;
	ssize_t n;
	FILE *f;

	/* Whatever it is, it is not waited for. */
	fd = path ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
	if (fd >= 0 && !fstat(fd, &st) && !S_ISREG(st.st_mode)) {
		complain(path, "not a file");
		close(fd);
		free(path);
		return -1;
	}
	f = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (!f) {
		ret = path && errno == ENOENT ? 0 : -1;
		if (ret)
			complain(path ? path : d->path, "%s", strerror(errno));
		free(path);
		return ret;
	}
	n = getline(&line, &size, f);
	if (n < 0 || strlen(line) < (size_t)n || !parse_head(line, d)) {
		complain(path, "line 1: not a list of an image's zones");
		goto out;
	}
	if (!alloc_zones(d, bytes))
		goto out;
	while ((n = getline(&line, &size, f)) > 0) {
		/* The tool was killed while it wrote it, or had no room: nobody was answered. */
		if (line[n - 1] != '\n')
			break;
		nr++;
		if (strlen(line) < (size_t)n || !parse_zone(line, &zone, &wp, &cond, &torn)) {
			complain(path,
				 "line %u: must be a zone, write pointer, condition, and 1 if that is within a block",
				 nr);
			goto out;
		}
		if (zone >= d->g.nr_zones) {
			complain(path, "has a zone %u, but the image is of %u zones", zone,
				 d->g.nr_zones);
			goto out;
		}
		if (wp > d->g.zone_cap || cond > LZ_COND_OFFLINE) {
			complain(path, "zone %u: write pointer %u or condition %u out of range",
				 zone, wp, cond);
			goto out;
		}
		d->z[zone].wp = wp;
		d->z[zone].cond = cond;
		d->z[zone].torn = torn;
	}
	ret = 1;
out:
	free(line);
	fclose(f);
	free(path);
	return ret;
}

static void print_zone(FILE *f, u32 zone, const struct lz_zone_report *z)
{
	fprintf(f, "%u %u %u%s\n", zone, z->wp, z->cond, z->torn ? " 1" : "");
}

/* The list there is stays until another is whole: without one the image is of no use. */
static bool write_sidecar(const struct drive *d)
{
	char *path = sidecar_path(d), *real = path ? realpath(path, NULL) : NULL, *new = NULL;
	struct stat st;
	FILE *f = NULL;
	bool ok = false;
	u32 i;

	/* Of the file there is, wherever it is, it is to be the next contents. */
	if (path && !real)
		real = strdup(path);
	/* A device or the like would be lost. */
	if (real && !stat(real, &st) && !S_ISREG(st.st_mode))
		errno = EINVAL;
	else if (real && asprintf(&new, "%s.new", real) >= 0)
		f = fopen(new, "we");
	if (!f)
		goto out;
	if (!stat(real, &st) && (fchown(fileno(f), st.st_uid, st.st_gid) ||
				 fchmod(fileno(f), st.st_mode & 07777)))
		complain(new, "its owner or mode cannot be set: %s", strerror(errno));
	fprintf(f, "lifezone-image zone_blocks %u zone_cap %u max_open %u\n",
		d->g.zone_blocks, d->g.zone_cap, d->g.max_open);
	for (i = 0; i < d->g.nr_zones; i++)
		if (d->z[i].cond != LZ_COND_EMPTY)
			print_zone(f, i, &d->z[i]);
	ok = !fflush(f) && !ferror(f) && !fsync(fileno(f));
	if (fclose(f))
		ok = false;
	if (!ok || rename(new, real))
		ok = false;
out:
	if (!ok) {
		complain(path ? path : d->path, "cannot be written: %s", strerror(errno));
		if (f)
			unlink(new);
	}
	free(new);
	free(real);
	free(path);
	return ok;
}

/* @nr zones from @zone on are as @z now, or about to be. */
static int add_to_list(struct drive *d, u32 zone, u32 nr, const struct lz_zone_report *z)
{
	u32 i;

	/* It may end within a line. */
	if (ferror(d->list))
		return -EIO;
	for (i = 0; i < nr; i++)
		print_zone(d->list, zone + i, z);
	if (fflush(d->list) || ferror(d->list))
		return errno ? -errno : -EIO;
	return 0;
}

static bool is_metadata(const void *block)
{
	const struct lz_hdr *h = block;

	return le32_to_cpu(h->magic) == LZ_MAGIC && le16_to_cpu(h->type) != LZ_BT_SUMMARY;
}

static bool guess_zone(struct drive *d, u32 zone, char *buf)
{
	off_t start = (off_t)zone * d->g.zone_blocks * LZ_BLOCK_SIZE;
	off_t end = start + (off_t)d->g.zone_cap * LZ_BLOCK_SIZE;
	off_t pos = lseek(d->fd, start, SEEK_DATA);
	u32 off, i, n, used = 0;
	bool meta = false;

	/* ENXIO: only a hole from here on. A file system without holes: look at it all. */
	if ((pos < 0 && errno == ENXIO) || pos >= end)
		return true;
	/* Until it is known: what is empty is not read. */
	d->z[zone].cond = LZ_COND_FULL;
	for (off = 0; off < d->g.zone_cap; off += n) {
		n = min(d->g.zone_cap - off, IMG_CHUNK);
		if (!drive_read(d, (u64)zone * d->g.zone_blocks + off, n, buf))
			return false;
		if (!off)
			meta = is_metadata(buf);
		for (i = 0; i < n; i++)
			if (!is_blank(buf + (size_t)i * LZ_BLOCK_SIZE))
				used = off + i + 1;
		if (used && !meta)
			break;
	}
	if (!used) {
		d->z[zone].cond = LZ_COND_EMPTY;
		return true;
	}
	d->z[zone].wp = meta ? used : d->g.zone_cap;
	d->z[zone].cond = d->z[zone].wp == d->g.zone_cap ? LZ_COND_FULL : LZ_COND_OPEN;
	return true;
}

static bool guess_zones(struct drive *d)
{
	char *buf = lz_alloc_blocks(IMG_CHUNK);
	bool ok = buf;
	u32 i;

	for (i = 0; ok && i < d->g.nr_zones; i++)
		ok = guess_zone(d, i, buf);
	lz_free_blocks(buf);
	if (!ok)
		complain(d->path, "cannot be read: %s", strerror(errno));
	return ok;
}

static bool told_geometry(struct drive *d, const struct drive_image *img, off_t bytes)
{
	u64 cap = img->zone_cap ? img->zone_cap : img->zone_size;

	if (!is_power_of_2(img->zone_size) || img->zone_size < 8 * LZ_BLOCK_SIZE ||
	    img->zone_size > (u64)LZ_ZONE_BLOCKS_MAX * LZ_BLOCK_SIZE) {
		complain(d->path, "zone size %llu (a power of two from 32K to 64G is needed)",
			 (unsigned long long)img->zone_size);
		return false;
	}
	if (cap % LZ_BLOCK_SIZE || cap > img->zone_size) {
		complain(d->path, "zone capacity %llu (a multiple of 4096, at most the size)",
			 (unsigned long long)cap);
		return false;
	}
	d->g.zone_blocks = img->zone_size / LZ_BLOCK_SIZE;
	d->g.zone_cap = cap / LZ_BLOCK_SIZE;
	d->g.max_open = img->max_open;
	return alloc_zones(d, bytes) && guess_zones(d);
}

static bool img_open(struct drive *d, unsigned int flags, const struct drive_image *img)
{
	struct stat st;
	int ret = 0;

	d->fd = open(d->path, (flags & DRIVE_WRITE ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (d->fd < 0 || fstat(d->fd, &st)) {
		complain(d->path, "%s", strerror(errno));
		return false;
	}
	if ((flags & DRIVE_EXCL) &&
	    flock(d->fd, (flags & DRIVE_WRITE ? LOCK_EX : LOCK_SH) | LOCK_NB)) {
		complain(d->path, "in use by another process");
		return false;
	}
	if (!img || !img->zone_size)
		ret = read_sidecar(d, st.st_size);
	if (ret < 0)
		return false;
	d->g.max_append = IMG_MAX_APPEND;
	if (!ret) {
		if (!img || !img->zone_size) {
			complain(d->path, img ?
				 "not a zoned device (an image file needs --zone-size)" :
				 "not a zoned device, nor an image whose zones are kept beside it");
			return false;
		}
		if (!told_geometry(d, img, st.st_size))
			return false;
	}
	if (!d->g.nr_zones) {
		complain(d->path, "smaller than one zone of %llu bytes",
			 (unsigned long long)d->g.zone_blocks * LZ_BLOCK_SIZE);
		return false;
	}
	return true;
}

static bool img_begin(struct drive *d)
{
	char *path = write_sidecar(d) ? sidecar_path(d) : NULL;

	d->list = path ? fopen(path, "ae") : NULL;
	if (path && !d->list)
		complain(path, "%s", strerror(errno));
	free(path);
	return d->list;
}

static int img_zone_op(struct drive *d, enum lz_op op, u32 zone, u32 nr)
{
	off_t size = (off_t)d->g.zone_blocks * LZ_BLOCK_SIZE;
	struct lz_zone_report z = { .cond = LZ_COND_EMPTY };
	int err;

	if (op == LZ_OP_FINISH)
		z = (struct lz_zone_report){ .wp = d->g.zone_cap, .cond = LZ_COND_FULL };
	/* What is empty is not read, so what it holds still is nothing. */
	err = add_to_list(d, zone, nr, &z);
	if (err || op == LZ_OP_FINISH)
		return err;
	return fallocate(d->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, zone * size,
			 nr * size) ? -errno : 0;
}

static int img_wrote(struct drive *d, u32 zone)
{
	return add_to_list(d, zone, 1, &d->z[zone]);
}

/* Without what has been overtaken. */
static bool img_close(struct drive *d)
{
	if (!d->list)
		return true;
	fclose(d->list);
	return write_sidecar(d);
}

const struct drive_kind drive_img = {
	.open		= img_open,
	.begin		= img_begin,
	.zone_op	= img_zone_op,
	.wrote		= img_wrote,
	.close		= img_close,
};

enum { OPT_ZONE_SIZE = 0x200, OPT_ZONE_CAP, OPT_IMAGE_OPEN };

static error_t parse_image(int key, char *arg, struct argp_state *state)
{
	struct drive_image *img = state->input;
	u64 v;

	switch (key) {
	case OPT_ZONE_SIZE:
		if (!parse_size(arg, &img->zone_size) || !img->zone_size)
			usage_error(state, "--zone-size %s: not a size (such as 16M)", arg);
		return 0;
	case OPT_ZONE_CAP:
		if (!parse_size(arg, &img->zone_cap) || !img->zone_cap)
			usage_error(state, "--zone-cap %s: not a size (such as 12M)", arg);
		return 0;
	case OPT_IMAGE_OPEN:
		if (!parse_number(arg, &v) || v > UINT32_MAX)
			usage_error(state, "--drive-open %s: not a number of zones", arg);
		img->max_open = v;
		return 0;
	case ARGP_KEY_SUCCESS:
		if (!img->zone_size && (img->zone_cap || img->max_open))
			usage_error(state, "--zone-cap and --drive-open go with --zone-size");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option image_options[] = {
	{ "zone-size", OPT_ZONE_SIZE, "SIZE", 0, "zone size of the drive in the image", 0 },
	{ "zone-cap", OPT_ZONE_CAP, "SIZE", 0, "zone capacity (default: the zone size)", 0 },
	{ "drive-open", OPT_IMAGE_OPEN, "N", 0, "open zone limit (default: none)", 0 },
	{ 0 }
};

const struct argp image_argp = {
	.options = image_options,
	.parser = parse_image,
};
