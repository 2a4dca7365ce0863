/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lifezone trim is made of: which file systems lie on a device, and how one is
 * made to discard what it has freed.
 */
#ifndef LIFEZONE_TRIM_H
#define LIFEZONE_TRIM_H

#include <limits.h>
#include <signal.h>
#include "lifezone.h"

/**
 * struct fs_mount - a mounted file system
 * @id: of the mount, as statx() tells it
 * @dev: block device it is on
 * @point: where it is mounted
 * @type: its name
 * @readonly: nothing can be freed in it
 * @closed: nothing can be written by way of this mount
 * @discard: mounted with the option discard
 */
struct fs_mount {
	u64 id;
	dev_t dev;
	char point[PATH_MAX];
	char type[32];
	bool readonly;
	bool closed;
	bool discard;
};

static inline u64 now_ms(void)
{
	return now_ns() / 1000000;
}

/* Waits so long, or until a signal comes; not at all if one has come that has set @stop. */
void pause_ms(u64 ms, const volatile sig_atomic_t *stop);

/*
 * fs_mounts - file systems mounted on block device @on, or on devices on top of it;
 * each once, however often it is mounted: where it can be freed best
 * @list: receives them, to be freed
 *
 * Return: how many, or -1: it has said why.
 */
int fs_mounts(dev_t on, struct fs_mount **list);

/* Has anything been mounted or unmounted since this was asked last? At first: yes. */
bool fs_mounts_changed(void);

/* The mount that a path, or with "" an open file, leads to; 0: it cannot be told. */
u64 fs_mount_id(int fd, const char *path);

/* The block device of the file system mounted as @id; false: none. */
bool fs_mount_dev(u64 id, dev_t *dev);

/*
 * fs_trim - make a file system discard what it has freed
 * @m: the file system
 * @share: per cent of the time that it may be at work
 * @stop: set by a signal: come to an end
 * @rest: so long (ms) it is to be left in peace, if it is to be trimmed again
 *
 * Return: 0, or an error, and it has said why; EOPNOTSUPP: it never can.
 */
int fs_trim(const struct fs_mount *m, unsigned int share, const volatile sig_atomic_t *stop,
	    u64 *rest);

#endif /* LIFEZONE_TRIM_H */
