// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into the tool: a zoned drive and device-mapper, for a host that has neither.
 *
 * The drive is the file LIFEZONE_DRIVE: zones of 1 MiB, of which 768 KiB can be written, after
 * LIFEZONE_CONVENTIONAL conventional ones. A zone is written as far as the file has data in it.
 *
 * All else is in the folder LIFEZONE_HOST: "dm" has a line for each mapped device, its minor
 * number, name and UUID with tabs between; "mapper" is /dev/mapper, "sys" /sys/dev/block, and
 * "said" is what was asked of devices. All of them are lifezone devices on the drive.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/blkzoned.h>
#include <linux/dm-ioctl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define ZONE		(1 << 20)
#define CAPACITY	(ZONE / 4 * 3)
#define SECTOR		512
#define DRIVE		makedev(8, 16)
/* Of nothing that may be mounted where this runs. */
#define DM_MAJOR	4000
#define DM_MOST		16

#define CONTROL		"/dev/mapper/control"
#define CONTROL_MINOR	236

#define PUT(to, from)	snprintf(to, sizeof(to), "%s", from)

struct mapped {
	unsigned int minor;
	char name[DM_NAME_LEN];
	char uuid[DM_UUID_LEN];
};

static const char *host(const char *what, char *path)
{
	const char *dir = getenv("LIFEZONE_HOST");

	snprintf(path, 4096, "%s/%s", dir ? dir : "/nowhere", what);
	return path;
}

/* Where @path is on this host. */
static const char *there(const char *path, char *buf)
{
	static const char *const map[][2] = {
		{ "/dev/mapper/", "mapper/" }, { "/sys/dev/block/", "sys/" },
		{ "/proc/devices", "devices" },
	};
	char what[2048];
	size_t i;

	for (i = 0; i < sizeof(map) / sizeof(*map); i++) {
		size_t n = strlen(map[i][0]);

		if (strncmp(path, map[i][0], n))
			continue;
		snprintf(what, sizeof(what), "%s%s", map[i][1], path + n);
		return host(what, buf);
	}
	return path;
}

/* --- device-mapper ---------------------------------------------------------------- */

static int read_mapped(struct mapped *m)
{
	char path[4096];
	FILE *f = fopen(host("dm", path), "r");
	int n = 0;

	while (f && n < DM_MOST && fscanf(f, "%u\t%127[^\t]\t%128[^\n]\n", &m[n].minor, m[n].name,
					  m[n].uuid) == 3)
		n++;
	if (f)
		fclose(f);
	return n;
}

static void write_mapped(const struct mapped *m, int n)
{
	char path[4096];
	FILE *f = fopen(host("dm", path), "w");
	int i;

	for (i = 0; f && i < n; i++)
		if (*m[i].name)
			fprintf(f, "%u\t%s\t%s\n", m[i].minor, m[i].name, m[i].uuid);
	if (f)
		fclose(f);
}

static void said(const char *what, const char *name)
{
	char path[4096];
	FILE *f = fopen(host("said", path), "a");

	if (f) {
		fprintf(f, "%s %s\n", what, name);
		fclose(f);
	}
}

static void list_mapped(struct dm_ioctl *io, const struct mapped *m, int n)
{
	char *p = (char *)io + io->data_start;
	int i;

	memset(p, 0, sizeof(struct dm_name_list));
	for (i = 0; i < n; i++) {
		struct dm_name_list *l = (void *)p;
		/* Behind the name there is an event number. */
		size_t len = (sizeof(*l) + strlen(m[i].name) + 1 + 16 + 7) & ~7ul;

		memset(p, 0, len);
		l->dev = makedev(DM_MAJOR, m[i].minor);
		l->next = i + 1 < n ? len : 0;
		memcpy(l->name, m[i].name, strlen(m[i].name));
		p += len;
	}
}

static void table_status(struct dm_ioctl *io)
{
	struct dm_target_spec *t = (void *)((char *)io + io->data_start);

	memset(t, 0, sizeof(*t));
	t->length = 1024;
	PUT(t->target_type, "lifezone");
	sprintf((char *)(t + 1), io->flags & DM_STATUS_TABLE_FLAG ? "8:16" : "used 1/2");
	io->target_count = 1;
}

static int is_meant(const struct dm_ioctl *io, const struct mapped *m)
{
	if (*io->name)
		return !strcmp(io->name, m->name);
	if (*io->uuid)
		return !strcmp(io->uuid, m->uuid);
	return minor(io->dev) == m->minor;
}

static int dm_ioctl(unsigned int cmd, struct dm_ioctl *io)
{
	struct mapped m[DM_MOST + 1];
	int n = read_mapped(m), i;

	io->version[1] = 48;
	io->flags &= ~DM_BUFFER_FULL_FLAG;
	if (cmd == DM_VERSION_CMD)
		return 0;
	if (cmd == DM_DEV_ARM_POLL_CMD) {
		/* There is always an event. */
		said("arm", "");
		usleep(20000);
		return 0;
	}
	if (cmd == DM_LIST_DEVICES_CMD) {
		list_mapped(io, m, n);
		return 0;
	}
	for (i = 0; i < n && !is_meant(io, &m[i]); i++)
		;
	errno = i < n ? EBUSY : ENXIO;
	if (cmd == DM_DEV_CREATE_CMD ? i < n : i == n)
		return -1;
	switch (cmd) {
	case DM_DEV_CREATE_CMD:
		m[n].minor = n;
		PUT(m[n].name, io->name);
		PUT(m[n].uuid, io->uuid);
		write_mapped(m, n + 1);
		break;
	case DM_DEV_REMOVE_CMD:
		said("remove", m[i].name);
		PUT(io->uuid, m[i].uuid);
		io->dev = makedev(DM_MAJOR, m[i].minor);
		*m[i].name = 0;
		write_mapped(m, n);
		return 0;
	case DM_TABLE_STATUS_CMD:
		table_status(io);
		break;
	case DM_TARGET_MSG_CMD:
		said("message", m[i].name);
		return 0;
	}
	PUT(io->name, m[i].name);
	PUT(io->uuid, m[i].uuid);
	io->dev = makedev(DM_MAJOR, m[i].minor);
	return 0;
}

/* --- the drive -------------------------------------------------------------------- */

static int is_drive(const struct stat *st)
{
	const char *path = getenv("LIFEZONE_DRIVE");
	struct stat drive;

	return path && !fstatat(AT_FDCWD, path, &drive, 0) && st->st_ino == drive.st_ino &&
	       st->st_dev == drive.st_dev;
}

/* As the tool sees it: the drive and mapped devices are block devices. */
static void make_block(const char *path, struct stat *st)
{
	struct mapped m[DM_MOST];
	int n, i;

	if (is_drive(st)) {
		st->st_rdev = DRIVE;
		st->st_mode = S_IFBLK | 0600;
	}
	if (!path || strncmp(path, "/dev/mapper/", 12))
		return;
	n = read_mapped(m);
	for (i = 0; i < n; i++) {
		if (strcmp(m[i].name, path + 12))
			continue;
		st->st_rdev = makedev(DM_MAJOR, m[i].minor);
		st->st_mode = S_IFBLK | 0600;
	}
}

static unsigned int conventional(void)
{
	const char *s = getenv("LIFEZONE_CONVENTIONAL");

	return s ? strtoul(s, NULL, 10) : 0;
}

/* End of the data in @zone, from its start. */
static off_t written(int fd, off_t zone)
{
	off_t at = zone * ZONE, end = at;

	for (;;) {
		at = lseek(fd, at, SEEK_DATA);
		if (at < 0 || at >= (zone + 1) * ZONE)
			return end - zone * ZONE;
		at = lseek(fd, at, SEEK_HOLE);
		end = at < (zone + 1) * ZONE ? at : (zone + 1) * ZONE;
	}
}

static void report_zones(int fd, off_t bytes, struct blk_zone_report *r)
{
	unsigned int i, zone = r->sector / (ZONE / SECTOR);

	for (i = 0; i < r->nr_zones && zone < bytes / ZONE; i++, zone++) {
		struct blk_zone *z = &r->zones[i];
		off_t end = written(fd, zone);

		memset(z, 0, sizeof(*z));
		z->start = (__u64)zone * (ZONE / SECTOR);
		z->len = ZONE / SECTOR;
		z->type = BLK_ZONE_TYPE_CONVENTIONAL;
		z->capacity = z->len;
		if (zone < conventional())
			continue;
		z->type = BLK_ZONE_TYPE_SEQWRITE_REQ;
		z->capacity = CAPACITY / SECTOR;
		z->wp = z->start + end / SECTOR;
		z->cond = !end ? BLK_ZONE_COND_EMPTY : end >= CAPACITY ? BLK_ZONE_COND_FULL :
			  BLK_ZONE_COND_IMP_OPEN;
	}
	r->nr_zones = i;
	r->flags = BLK_ZONE_REP_CAPACITY;
}

static int drive_ioctl(int fd, off_t bytes, unsigned long request, void *arg)
{
	struct blk_zone_range *range = arg;

	switch (request) {
	case BLKGETZONESZ:
		*(__u32 *)arg = ZONE / SECTOR;
		return 0;
	case BLKGETNRZONES:
		*(__u32 *)arg = bytes / ZONE;
		return 0;
	case BLKGETSIZE64:
		*(__u64 *)arg = bytes;
		return 0;
	case BLKSSZGET:
		*(int *)arg = 4096;
		return 0;
	case BLKREPORTZONE:
		report_zones(fd, bytes, arg);
		return 0;
	case BLKRESETZONE:
		return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				 range->sector * SECTOR, range->nr_sectors * SECTOR);
	}
	errno = ENOTTY;
	return -1;
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*real)(int fd, unsigned long request, void *arg);
	struct stat st;
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (!real)
		real = (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
	if (_IOC_TYPE(request) == DM_IOCTL)
		return dm_ioctl(_IOC_NR(request), arg);
	if (!fstatat(fd, "", &st, AT_EMPTY_PATH) && is_drive(&st))
		return drive_ioctl(fd, st.st_size, request, arg);
	return real(fd, request, arg);
}

/* --- files ------------------------------------------------------------------------ */

int stat(const char *path, struct stat *st)
{
	char buf[4096];

	if (fstatat(AT_FDCWD, there(path, buf), st, 0))
		return -1;
	make_block(path, st);
	if (!strcmp(path, CONTROL)) {
		st->st_mode = S_IFCHR | 0600;
		st->st_rdev = makedev(10, CONTROL_MINOR);
	}
	return 0;
}

int stat64(const char *path, struct stat64 *st)
{
	return stat(path, (struct stat *)st);
}

int lstat64(const char *path, struct stat64 *st)
{
	return stat(path, (struct stat *)st);
}

int fstat(int fd, struct stat *st)
{
	if (fstatat(fd, "", st, AT_EMPTY_PATH))
		return -1;
	make_block(NULL, st);
	return 0;
}

int fstat64(int fd, struct stat64 *st)
{
	return fstat(fd, (struct stat *)st);
}

int open64(const char *path, int flags, ...)
{
	char buf[4096];
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	/* Not every file system has it. */
	return openat(AT_FDCWD, there(path, buf), flags & ~O_DIRECT, mode);
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	return open64(path, flags, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	static FILE *(*real)(const char *path, const char *mode);
	char buf[4096];

	if (!real)
		real = (FILE *(*)(const char *, const char *))dlsym(RTLD_NEXT, "fopen64");
	return real(there(path, buf), mode);
}

ssize_t readlink(const char *path, char *to, size_t n)
{
	char buf[4096];

	return readlinkat(AT_FDCWD, there(path, buf), to, n);
}

int mknod(const char *path, mode_t mode, dev_t dev)
{
	char buf[4096];
	int fd = openat(AT_FDCWD, there(path, buf), O_CREAT | O_EXCL | O_WRONLY, mode & 07777);

	(void)dev;
	return fd < 0 ? -1 : close(fd);
}

int chown(const char *path, uid_t uid, gid_t gid)
{
	char buf[4096];

	return fchownat(AT_FDCWD, there(path, buf), uid, gid, 0);
}

int unlink(const char *path)
{
	char buf[4096];

	return unlinkat(AT_FDCWD, there(path, buf), 0);
}
