// SPDX-License-Identifier: GPL-2.0-only
/*
 * Making a mounted file system discard what it has freed, now, and without keeping
 * others from it: it is gone through piece by piece (FITRIM), with pauses. What was
 * freed since the last commit or checkpoint may not be discarded yet, so it is synced first. It is
 * open for a piece at a time only, as nobody can unmount it while it is.
 *
 * F2FS is another matter. It discards by a thread of its own, which stops whenever the
 * file system has been used in the last five seconds, and FITRIM only queues what is
 * free for that thread; unless it is mounted with nodiscard, when FITRIM discards and
 * waits. Settings of the thread are changed for as long as it takes: other requests are not
 * looked at (discard_io_aware), pieces of one block count (discard_granularity), some
 * hundred at a time with a pause between (max_discard_request, *_discard_issue_time). It
 * may just have gone to sleep for a minute; "urgent" garbage collection is what wakes it,
 * and is over at once.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>
#include "trim.h"

#define PIECE		(1ull << 30)	/* gone through at a time (bytes) */
#define F2FS_AT_ONCE	256		/* discards before its thread pauses */
#define F2FS_PAUSE_MS	10		/* as long as they may take */
#define F2FS_GIVE_UP_MS	10000		/* without one of them issued */
#define POLL_MS		20

void pause_ms(u64 ms, const volatile sig_atomic_t *stop)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	/* Who asks for no time would still sleep for the slack of timers. */
	if (ms && !*stop)
		nanosleep(&t, NULL);
}

/* How long to rest after @ms of work. */
static u64 rest_ms(u64 ms, unsigned int share)
{
	return ms * (100 - share) / share;
}

static u64 device_bytes(dev_t dev)
{
	u64 sectors;

	return block_u64(dev, "size", &sectors) ? sectors * 512 : 0;
}

/* -1, with ESTALE if it is not what is mounted there. */
static int open_mount(const struct fs_mount *m)
{
	int fd = open(m->point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && fs_mount_id(fd, "") != m->id) {
		close(fd);
		fd = -1;
		errno = ESTALE;
	}
	return fd;
}

/* One piece; @rest: how long that is to be rested for (ms). 0, or what is wrong. */
static int trim_piece(const struct fs_mount *m, u64 start, u64 len, unsigned int share, u64 *rest)
{
	struct fstrim_range r = { .start = start, .len = len };
	int fd = open_mount(m), err;
	u64 begun = now_ms();

	if (fd < 0)
		return errno;
	err = ioctl(fd, FITRIM, &r) ? errno : 0;
	close(fd);
	*rest = rest_ms(now_ms() - begun, share);
	return err;
}

static int trim_pieces(const struct fs_mount *m, unsigned int share,
		       const volatile sig_atomic_t *stop, u64 *rest)
{
	u64 bytes = device_bytes(m->dev), at;
	int err;

	for (at = 0; at < bytes; at += PIECE) {
		pause_ms(*rest, stop);
		if (*stop)
			break;
		/* Btrfs counts in addresses of its own, which go beyond the device. */
		err = trim_piece(m, at, at + PIECE < bytes ? PIECE : ~0ull - at, share, rest);
		/* A file system may be smaller than its device. */
		if (err == EINVAL && at)
			break;
		if (err == EINTR)
			continue;
		if (err)
			return err;
	}
	return 0;
}

/* --- F2FS ------------------------------------------------------------------------- */

struct setting {
	const char *name;
	u64 value;
	u64 was;
	bool changed;
};

#define F2FS_DIR	64	/* of the path to its folder in sysfs */

static bool f2fs_get(const char *dir, const char *name, u64 *v)
{
	char path[F2FS_DIR + 64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return read_u64(path, v);
}

/* False also where this kernel has no such setting, or refuses the value. */
static bool f2fs_put(const char *dir, const char *name, u64 v)
{
	char path[F2FS_DIR + 64];
	bool ok;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	ok = f && fprintf(f, "%llu", (unsigned long long)v) > 0;
	if (f && fclose(f))
		ok = false;
	return ok;
}

/* The thread is woken. Somebody's own urgent mode is left alone; it keeps it awake. */
static void f2fs_wake(const char *dir)
{
	u64 mode;

	if (f2fs_get(dir, "gc_urgent", &mode) && !mode && f2fs_put(dir, "gc_urgent", 1))
		f2fs_put(dir, "gc_urgent", 0);
}

/*
 * Until the thread, which rests so long between, has issued what is pending now. False: it
 * does not go on.
 */
static bool f2fs_wait(const char *dir, u64 rest, const volatile sig_atomic_t *stop)
{
	u64 deadline = now_ms() + F2FS_GIVE_UP_MS, pending, issued, was, end;

	if (!f2fs_get(dir, "pending_discard", &pending) ||
	    !f2fs_get(dir, "stat/issued_discard", &was))
		return true;
	end = was + pending;
	issued = was;
	while (pending && issued < end && !*stop && now_ms() < deadline) {
		/* It may have found nothing just before, and sleep for a minute. */
		if (issued == was)
			f2fs_wake(dir);
		else
			deadline = now_ms() + F2FS_GIVE_UP_MS;
		was = issued;
		pause_ms(POLL_MS + rest, stop);
		if (!f2fs_get(dir, "pending_discard", &pending) ||
		    !f2fs_get(dir, "stat/issued_discard", &issued))
			return true;
	}
	return !pending || issued >= end || *stop;
}

/* Two at once would put back what the other had set for the time being. -1: stopped, or why. */
static int f2fs_lock(const struct fs_mount *m, const volatile sig_atomic_t *stop)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/lifezone-trim.%u:%u", major(m->dev), minor(m->dev));
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		if ((errno != EWOULDBLOCK && errno != EINTR) || *stop) {
			close(fd);
			return -1;
		}
		pause_ms(POLL_MS, stop);
	}
	return fd;
}

static int trim_f2fs(const struct fs_mount *m, unsigned int share,
		     const volatile sig_atomic_t *stop, u64 *rest)
{
	u64 pause = rest_ms(F2FS_PAUSE_MS, share);
	struct setting s[] = {
		{ .name = "discard_io_aware", .value = 0 },
		/* The same on a kernel that does not have it. */
		{ .name = "discard_io_aware_gran", .value = 0 },
		{ .name = "discard_granularity", .value = 1 },
		{ .name = "max_discard_request", .value = F2FS_AT_ONCE },
		{ .name = "min_discard_issue_time", .value = pause },
		{ .name = "mid_discard_issue_time", .value = pause },
		{ .name = "max_discard_issue_time", .value = pause },
	};
	char name[32], dir[F2FS_DIR];
	int err, lock;
	size_t i;

	if (!block_name(m->dev, name, sizeof(name)))
		return errno;
	lock = f2fs_lock(m, stop);
	if (lock < 0)
		return *stop ? EINTR : errno;
	snprintf(dir, sizeof(dir), "/sys/fs/f2fs/%s", name);
	for (i = 0; i < ARRAY_SIZE(s); i++)
		s[i].changed = f2fs_get(dir, s[i].name, &s[i].was) &&
			f2fs_put(dir, s[i].name, s[i].value);
	err = trim_piece(m, 0, ~0ull, share, rest);
	if (!err && !f2fs_wait(dir, pause, stop))
		err = ETIME;
	for (i = 0; i < ARRAY_SIZE(s); i++)
		if (s[i].changed)
			f2fs_put(dir, s[i].name, s[i].was);
	close(lock);
	return err;
}

int fs_trim(const struct fs_mount *m, unsigned int share, const volatile sig_atomic_t *stop,
	    u64 *rest)
{
	int fd = open_mount(m), err = fd < 0 ? errno : 0;
	u64 begun = now_ms(), synced;

	*rest = 0;
	if (fd < 0) {
		if (err == ESTALE)
			complain(m->point, "mounted over, so that %s on it cannot be reached",
				 m->type);
		else
			complain(m->point, "%s", strerror(err));
		return err;
	}
	err = syncfs(fd) ? errno : 0;
	close(fd);
	synced = now_ms() - begun;
	if (!err && !strcmp(m->type, "f2fs") && m->discard)
		err = trim_f2fs(m, share, stop, rest);
	else if (!err)
		err = trim_pieces(m, share, stop, rest);
	*rest += rest_ms(synced, share);
	/* Unmounted meanwhile. */
	if (err == ESTALE || err == ENOENT)
		err = 0;
	if (err == ENOTTY)
		err = EOPNOTSUPP;
	if (err == EOPNOTSUPP)
		complain(m->point, "%s cannot be made to discard", m->type);
	else if (err == ETIME)
		complain(m->point, "not all is discarded: f2fs has stopped, until it is idle");
	else if (err)
		complain(m->point, "cannot be trimmed: %s", strerror(err));
	return err;
}
