// SPDX-License-Identifier: GPL-2.0-only
/*
 * A drive, and core's host on it.
 *
 * Everything is synchronous: a command has ended when submit() returns, so
 * there is never anything to wait for and no machine to kick. User space has no
 * zone append; APPEND is a write at the write pointer, which we know because
 * nobody else writes: the drive is open exclusively whenever we do. A flush, a
 * preflush and FUA are fdatasync() and RWF_DSYNC.
 *
 * Without DRIVE_WRITE nothing reaches the drive, whatever core asks for.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "lifezone.h"

static off_t byte_of(const struct drive *d, u64 addr)
{
	return d->base + (off_t)(addr << LZ_BLOCK_SHIFT);
}

static int do_read(struct drive *d, u64 addr, u32 nblocks, void *buf)
{
	size_t left = (size_t)nblocks << LZ_BLOCK_SHIFT;
	off_t pos = byte_of(d, addr);
	char *p = buf;

	/* Drives refuse what their zones do not allow. An image is to be like one. */
	if (addr >= drive_blocks(d) || nblocks > drive_blocks(d) - addr ||
	    d->z[addr / d->g.zone_blocks].cond == LZ_COND_OFFLINE)
		return -EIO;
	/* Some drives have nothing to read where nothing was written, and say so by an error. */
	if (d->z[addr / d->g.zone_blocks].cond == LZ_COND_EMPTY) {
		memset(buf, 0, left);
		return 0;
	}
	while (left) {
		ssize_t n = pread(d->fd, p, left, pos);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n) {
			/* A file that ends early reads on as zeros, as a sparse one would. */
			if (d->kind != &drive_img)
				return -EIO;
			memset(p, 0, left);
			return 0;
		}
		p += n;
		pos += n;
		left -= n;
	}
	return 0;
}

static int flush(const struct drive *d)
{
	return fdatasync(d->fd) || (d->list && fdatasync(fileno(d->list))) ? -errno : 0;
}

static int do_write(struct drive *d, u64 addr, u32 nblocks, const void *buf, u8 flags)
{
	size_t left = (size_t)nblocks << LZ_BLOCK_SHIFT;
	u32 zone = addr / d->g.zone_blocks, off = addr % d->g.zone_blocks;
	const char *p = buf;
	off_t pos = byte_of(d, addr);
	int err;

	if (zone >= d->g.nr_zones || off != d->z[zone].wp || off + nblocks > d->g.zone_cap ||
	    lz_zone_dead(&d->z[zone]))
		return -EIO;
	err = flags & LZ_CMD_PREFLUSH ? flush(d) : 0;
	if (err)
		return err;
	while (left) {
		struct iovec iov = { (void *)p, left };
		ssize_t n = pwritev2(d->fd, &iov, 1, pos,
				     flags & LZ_CMD_FUA ? RWF_DSYNC : 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		pos += n;
		left -= n;
	}
	d->z[zone].wp = off + nblocks;
	d->z[zone].cond = off + nblocks == d->g.zone_cap ? LZ_COND_FULL : LZ_COND_OPEN;
	err = d->kind->wrote ? d->kind->wrote(d, zone) : 0;
	return !err && d->list && (flags & LZ_CMD_FUA) ? flush(d) : err;
}

static int do_zone_op(struct drive *d, enum lz_op op, u64 addr)
{
	u32 zone = addr / d->g.zone_blocks;
	int err;

	if (zone >= d->g.nr_zones || lz_zone_dead(&d->z[zone]))
		return -EIO;
	err = d->kind->zone_op(d, op, zone, 1);
	if (err)
		return err;
	d->z[zone].wp = op == LZ_OP_RESET ? 0 : d->g.zone_cap;
	d->z[zone].cond = op == LZ_OP_RESET ? LZ_COND_EMPTY : LZ_COND_FULL;
	d->z[zone].torn = false;
	return 0;
}

static int do_cmd(struct drive *d, struct lz_cmd *cmd)
{
	u32 zone;

	if (cmd->op == LZ_OP_READ)
		return do_read(d, cmd->addr, cmd->nblocks, cmd->buf);
	if (!(d->flags & DRIVE_WRITE))
		return -EROFS;
	switch (cmd->op) {
	case LZ_OP_WRITE:
		return do_write(d, cmd->addr, cmd->nblocks, cmd->buf, cmd->flags);
	case LZ_OP_APPEND:
		zone = cmd->addr / d->g.zone_blocks;
		if (zone >= d->g.nr_zones)
			return -EIO;
		cmd->result = (u64)zone * d->g.zone_blocks + d->z[zone].wp;
		return do_write(d, cmd->result, cmd->nblocks, cmd->buf, cmd->flags);
	case LZ_OP_RESET:
	case LZ_OP_FINISH:
		return do_zone_op(d, cmd->op, cmd->addr);
	case LZ_OP_FLUSH:
		return flush(d);
	}
	return -EINVAL;
}

static void host_submit(void *ctx, struct lz_cmd *cmd)
{
	struct drive *d = ctx;

	cmd->error = do_cmd(d, cmd);
	lz_cmd_done(d->lz, cmd);
}

static void host_nothing(void *ctx)
{
	(void)ctx;
}

static void host_kick_later(void *ctx, u32 ms)
{
	(void)ctx;
	(void)ms;
}

static u64 host_now(void *ctx)
{
	(void)ctx;
	return now_ns();
}

static void host_event(void *ctx, enum lz_event ev, u64 arg)
{
	(void)ctx;
	(void)ev;
	(void)arg;
}

static void host_say(void *ctx, char level, const char *line)
{
	struct drive *d = ctx;

	if (d->flags & DRIVE_SILENT)
		return;
	if (level == 'e' || level == 'f') {
		if (!*d->said)
			snprintf(d->said, sizeof(d->said), "%s", line);
	} else if (d->flags & DRIVE_QUIET) {
		return;
	}
	complain(d->path, "%s", line);
}

const struct lz_ops drive_ops = {
	.submit		= host_submit,
	.kick		= host_nothing,
	.kick_later	= host_kick_later,
	.wait		= host_nothing,
	.resume		= host_nothing,
	.now		= host_now,
	.event		= host_event,
	.say		= host_say,
};

bool drive_read(struct drive *d, u64 addr, u32 nblocks, void *buf)
{
	return !do_read(d, addr, nblocks, buf);
}

struct drive *drive_open(const char *path, unsigned int flags, const struct drive_image *img)
{
	struct drive *d = calloc(1, sizeof(*d));
	struct stat st;

	if (!d) {
		complain(path, "out of memory");
		return NULL;
	}
	d->path = path;
	d->flags = flags;
	d->fd = -1;
	if (stat(path, &st)) {
		complain(path, "%s", strerror(errno));
		goto fail;
	}
	if (S_ISBLK(st.st_mode)) {
		d->kind = &drive_blk;
	} else if (S_ISREG(st.st_mode)) {
		d->kind = &drive_img;
	} else {
		complain(path, "neither a block device nor an image file");
		goto fail;
	}
	if (d->kind->open(d, flags, img))
		return d;
fail:
	if (d->fd >= 0)
		close(d->fd);
	free(d->z);
	free(d);
	return NULL;
}

bool drive_begin(struct drive *d)
{
	return !d->kind->begin || d->kind->begin(d);
}

bool drive_close(struct drive *d)
{
	bool ok = true;

	if (!d)
		return true;
	if (d->lz)
		lz_free_device(d->lz);
	if (d->kind->close)
		ok = d->kind->close(d);
	close(d->fd);
	free(d->z);
	free(d);
	return ok;
}
