// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into the tool: what an image file does not do of itself.
 *
 * From the LIFEZONE_CUT'th write to an image on nothing reaches it any more, as if the drive
 * were gone; in place of the LIFEZONE_KILL'th the tool is killed. Without either, nothing is
 * cut. Flushes cost nothing anyway.
 *
 * LIFEZONE_UNREADABLE names blocks, with spaces between, that cannot be read until they are
 * written again or their zone is reset. Whole blocks are read into whole blocks, as
 * some drives want it. No zone with the block LIFEZONE_STUCK is reset, and the block
 * LIFEZONE_UNWRITABLE is not written.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#define BLOCK	4096
#define MOST	4096

static off_t unreadable[MOST];
static int nr_unreadable = -1;

static void name_unreadable(void)
{
	const char *s = getenv("LIFEZONE_UNREADABLE");
	char *end;

	for (nr_unreadable = 0; s; s = end) {
		off_t block = strtoll(s, &end, 10);

		if (end == s)
			break;
		if (nr_unreadable == MOST)
			abort();
		unreadable[nr_unreadable++] = block * BLOCK;
	}
}

/* Is one of those within? @mend: no more. */
static int meets_unreadable(off_t pos, off_t len, int mend)
{
	int i, met = 0;

	if (nr_unreadable < 0)
		name_unreadable();
	for (i = 0; i < nr_unreadable; i++) {
		if (unreadable[i] + BLOCK <= pos || unreadable[i] >= pos + len)
			continue;
		met = 1;
		if (mend)
			unreadable[i] = -BLOCK;
	}
	return met;
}

static int cut(void)
{
	static long left = -2;
	const char *s = getenv("LIFEZONE_CUT"), *kill = getenv("LIFEZONE_KILL");

	if (left == -2)
		left = s || kill ? strtol(s ? s : kill, NULL, 10) : -1;
	if (left > 0)
		left--;
	if (!left && kill)
		raise(SIGKILL);
	errno = EIO;
	return !left;
}

ssize_t pread64(int fd, void *buf, size_t len, off_t pos)
{
	static ssize_t (*real)(int fd, void *buf, size_t len, off_t pos);

	if (!real)
		real = (ssize_t (*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread64");
	if (len % BLOCK == 0 && (uintptr_t)buf % BLOCK) {
		errno = EINVAL;
		return -1;
	}
	if (meets_unreadable(pos, len, 0)) {
		errno = EIO;
		return -1;
	}
	return real(fd, buf, len, pos);
}

ssize_t pread(int fd, void *buf, size_t len, off_t pos)
{
	return pread64(fd, buf, len, pos);
}

ssize_t pwritev64v2(int fd, const struct iovec *iov, int n, off_t pos, int flags)
{
	const char *bad = getenv("LIFEZONE_UNWRITABLE");
	ssize_t done;

	(void)flags;
	if (bad && strtoll(bad, NULL, 10) * BLOCK == pos) {
		errno = EIO;
		return -1;
	}
	done = cut() ? -1 : pwritev(fd, iov, n, pos);
	if (done > 0)
		meets_unreadable(pos, done, 1);
	return done;
}

ssize_t pwritev2(int fd, const struct iovec *iov, int n, off_t pos, int flags)
{
	return pwritev64v2(fd, iov, n, pos, flags);
}

int fallocate(int fd, int mode, off_t pos, off_t len)
{
	static int (*real)(int fd, int mode, off_t pos, off_t len);
	const char *stuck = getenv("LIFEZONE_STUCK");
	off_t at = stuck ? strtoll(stuck, NULL, 10) * BLOCK : -1;

	if (!real)
		real = (int (*)(int, int, off_t, off_t))dlsym(RTLD_NEXT, "fallocate64");
	if (at >= pos && at < pos + len) {
		errno = EIO;
		return -1;
	}
	if (cut() || real(fd, mode, pos, len))
		return -1;
	meets_unreadable(pos, len, 1);
	return 0;
}

int fallocate64(int fd, int mode, off_t pos, off_t len)
{
	return fallocate(fd, mode, pos, len);
}

int fdatasync(int fd)
{
	(void)fd;
	return 0;
}

int fsync(int fd)
{
	(void)fd;
	return 0;
}
