// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into the tool: from the LIFEZONE_CUT'th write to an image on nothing
 * reaches it any more, as after a power cut. Without that, nothing is cut. Flushes
 * cost nothing either way.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>

static int cut(void)
{
	static long left = -2;
	const char *s = getenv("LIFEZONE_CUT");

	if (left == -2)
		left = s ? strtol(s, NULL, 10) : -1;
	if (left > 0)
		left--;
	errno = EIO;
	return !left;
}

ssize_t pwritev64v2(int fd, const struct iovec *iov, int n, off_t pos, int flags)
{
	(void)flags;
	return cut() ? -1 : pwritev(fd, iov, n, pos);
}

ssize_t pwritev2(int fd, const struct iovec *iov, int n, off_t pos, int flags)
{
	return pwritev64v2(fd, iov, n, pos, flags);
}

int fallocate(int fd, int mode, off_t pos, off_t len)
{
	static int (*real)(int fd, int mode, off_t pos, off_t len);

	if (!real)
		real = (int (*)(int, int, off_t, off_t))dlsym(RTLD_NEXT, "fallocate64");
	return cut() ? -1 : real(fd, mode, pos, len);
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
