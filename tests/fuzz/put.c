// SPDX-License-Identifier: GPL-2.0-only
/*
 * put INPUT DEV [TYPE:OFFSET:WIDTH:VALUE...]: the drive that an input of the "load"
 * corpus describes, written to a zoned block device, for a kernel to load. Every
 * metadata block of TYPE then gets VALUE in the field of WIDTH bytes at OFFSET, under
 * a checksum that is right.
 *
 * Zones that the input says are read-only, offline or torn are only written as far
 * as it says. Status 77: the input's drive has other zones.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/blkzoned.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fuzz.h"

#define OTHER_ZONES	77

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Only a fuzzer mutates. */
size_t LLVMFuzzerMutate(u8 *data, size_t size, size_t max)
{
	return size;
}

static struct fuzz *make(const char *path)
{
	static u8 buf[1 << 16];
	const struct fuzz_rec *rec;
	struct fuzz_rec first;
	FILE *file = fopen(path, "rb");
	u32 n;

	if (!file)
		die(path);
	n = fuzz_records(buf, fread(buf, 1, sizeof(buf), file), &first, &rec);
	fclose(file);
	if (!n) {
		fprintf(stderr, "%s: no input\n", path);
		exit(1);
	}
	return fuzz_make(&first, rec, n - 1);
}

static void craft(struct fuzz *f, const char *field)
{
	unsigned int type, at, width;
	unsigned long long value;
	__le64 v;
	u32 i;

	if (sscanf(field, "%u:%u:%u:%lli", &type, &at, &width, (long long *)&value) != 4 ||
	    width > sizeof(v) || at + width > LZ_BLOCK_SIZE) {
		fprintf(stderr, "'%s' is no field\n", field);
		exit(1);
	}
	v = cpu_to_le64(value);
	for (i = 0; i < f->nr_meta; i++) {
		u8 *b = fuzz_own(f, f->meta[i]);

		if (le16_to_cpu(((struct lz_hdr *)b)->type) != type)
			continue;
		memcpy(b + at, &v, width);
		fuzz_seal(b);
	}
}

static bool same_zones(const struct fuzz *f, int fd)
{
	struct {
		struct blk_zone_report r;
		struct blk_zone z;
	} one = { .r.nr_zones = 1 };
	u32 sectors, zones;

	if (ioctl(fd, BLKGETZONESZ, &sectors) || ioctl(fd, BLKGETNRZONES, &zones) ||
	    ioctl(fd, BLKREPORTZONE, &one))
		die("zones");
	return sectors == f->g.zone_blocks * LZ_BLOCK_SECTORS && zones == f->g.nr_zones &&
	       one.z.capacity == f->g.zone_cap * LZ_BLOCK_SECTORS;
}

static void put(const struct fuzz *f, int fd)
{
	u64 size = f->g.zone_blocks * LZ_BLOCK_SECTORS;
	u8 *buf = aligned_alloc(LZ_BLOCK_SIZE, (size_t)f->g.zone_cap * LZ_BLOCK_SIZE);
	struct blk_zone_range all = { 0, f->g.nr_zones * size };
	u32 zone, i;

	if (!buf || ioctl(fd, BLKRESETZONE, &all))
		die("reset");
	for (zone = 0; zone < f->g.nr_zones; zone++) {
		u64 addr = (u64)zone * f->g.zone_blocks;
		ssize_t bytes = (ssize_t)f->zone[zone].wp * LZ_BLOCK_SIZE;

		for (i = 0; i < f->zone[zone].wp; i++)
			memcpy(buf + (size_t)i * LZ_BLOCK_SIZE, fuzz_block(f, addr + i),
			       LZ_BLOCK_SIZE);
		if (pwrite(fd, buf, bytes, addr * LZ_BLOCK_SIZE) != bytes)
			die("write");
	}
	free(buf);
}

int main(int argc, char **argv)
{
	struct fuzz *f;
	int fd, i;

	if (argc < 3) {
		fprintf(stderr, "put INPUT DEV [TYPE:OFFSET:WIDTH:VALUE...]\n");
		return 1;
	}
	f = make(argv[1]);
	for (i = 3; i < argc; i++)
		craft(f, argv[i]);
	fd = open(argv[2], O_RDWR | O_DIRECT | O_EXCL);
	if (fd < 0)
		die(argv[2]);
	if (!same_zones(f, fd))
		return OTHER_ZONES;
	put(f, fd);
	fuzz_free(f);
	return 0;
}
