// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which file systems are mounted on a block device, by way of /proc/self/mountinfo and
 * of what sysfs says lies on what: partitions, and other mapped devices between.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "trim.h"

#define DEPTH_MAX	8	/* devices on top of each other */

static bool read_dev(const char *path, dev_t *dev)
{
	unsigned int maj, min;
	FILE *f = fopen(path, "re");
	bool ok = f && fscanf(f, "%u:%u", &maj, &min) == 2;

	if (f)
		fclose(f);
	if (ok)
		*dev = makedev(maj, min);
	return ok;
}

/* Is @dev @on, or on top of it? */
static bool lies_on(dev_t dev, dev_t on, int depth)
{
	char dir[64], path[PATH_MAX];
	struct dirent *e;
	bool yes = false;
	dev_t below;
	DIR *d;

	if (dev == on)
		return true;
	if (!depth)
		return false;
	snprintf(dir, sizeof(dir), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	snprintf(path, sizeof(path), "%s/partition", dir);
	if (!access(path, F_OK)) {
		snprintf(path, sizeof(path), "%s/../dev", dir);
		return read_dev(path, &below) && lies_on(below, on, depth - 1);
	}
	snprintf(path, sizeof(path), "%s/slaves", dir);
	d = opendir(path);
	if (!d)
		return false;
	while (!yes && (e = readdir(d))) {
		if (*e->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "%s/slaves/%s/dev", dir, e->d_name);
		yes = read_dev(path, &below) && lies_on(below, on, depth - 1);
	}
	closedir(d);
	return yes;
}

/* Spaces and the like are written as \040 there. */
static void unescape(const char *s, char *to, size_t n)
{
	size_t i = 0;

	while (*s && i < n - 1) {
		if (s[0] == '\\' && isdigit((unsigned char)s[1]) && s[2] && s[3]) {
			to[i++] = (s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0');
			s += 4;
		} else {
			to[i++] = *s++;
		}
	}
	to[i] = 0;
}

static bool has_option(const char *options, const char *name)
{
	size_t n = strlen(name);
	const char *p;

	for (p = options; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (!strncmp(p, name, n) && (!p[n] || p[n] == ',' || p[n] == '='))
			return true;
	}
	return false;
}

/*
 * One line: "ID PARENT MAJ:MIN ROOT POINT OPTIONS [TAG...] - TYPE SOURCE OPTIONS". A file
 * system that may have several devices has none of them as its own, but names one.
 */
static bool parse_line(char *line, struct fs_mount *m)
{
	char *save = NULL, *word[6], *type, *source, *super;
	char *dash = strstr(line, " - "), path[PATH_MAX];
	unsigned int maj, min;
	struct stat st;
	int i;

	if (!dash)
		return false;
	*dash = 0;
	for (i = 0; i < 6; i++) {
		word[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!word[i])
			return false;
	}
	type = strtok_r(dash + 3, "\n ", &save);
	source = strtok_r(NULL, "\n ", &save);
	super = strtok_r(NULL, "\n ", &save);
	if (!type || !source || !super || sscanf(word[2], "%u:%u", &maj, &min) != 2 ||
	    !parse_number(word[0], &m->id))
		return false;
	m->dev = makedev(maj, min);
	if (!maj) {
		unescape(source, path, sizeof(path));
		if (stat(path, &st) || !S_ISBLK(st.st_mode))
			return false;
		m->dev = st.st_rdev;
	}
	unescape(word[4], m->point, sizeof(m->point));
	snprintf(m->type, sizeof(m->type), "%s", type);
	m->readonly = has_option(super, "ro");
	m->closed = has_option(word[5], "ro");
	m->discard = has_option(super, "discard");
	return true;
}

u64 fs_mount_id(int fd, const char *path)
{
	struct statx stx;

	return statx(fd, path, AT_EMPTY_PATH, STATX_MNT_ID, &stx) ||
	       !(stx.stx_mask & STATX_MNT_ID) ? 0 : stx.stx_mnt_id;
}

static FILE *open_mountinfo(void)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");

	if (!f)
		complain("/proc/self/mountinfo", "%s", strerror(errno));
	return f;
}

bool fs_mounts_changed(void)
{
	static struct pollfd p = { .fd = -1, .events = POLLPRI };

	if (p.fd >= 0)
		return poll(&p, 1, 0);
	p.fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	return true;
}

bool fs_mount_dev(u64 id, dev_t *dev)
{
	FILE *f = open_mountinfo();
	char *line = NULL;
	bool found = false;
	struct fs_mount m;
	size_t size = 0;

	while (f && !found && getline(&line, &size, f) > 0)
		found = parse_line(line, &m) && m.id == id;
	if (found)
		*dev = m.dev;
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* Does its mount point lead to it, and not to one that was mounted over it? */
static bool is_reached(const struct fs_mount *m)
{
	return fs_mount_id(AT_FDCWD, m->point) == m->id;
}

/* Can the file system be asked to discard there? A mount may be of a single file. */
static bool is_usable(const struct fs_mount *m)
{
	struct stat st;

	return !m->closed && !stat(m->point, &st) && S_ISDIR(st.st_mode) && is_reached(m);
}

int fs_mounts(dev_t on, struct fs_mount **list)
{
	FILE *f = open_mountinfo();
	size_t size = 0;
	char *line = NULL;
	int n = 0, i;

	*list = NULL;
	if (!f)
		return -1;
	while (getline(&line, &size, f) > 0) {
		struct fs_mount m, *more;

		if (!parse_line(line, &m) || !lies_on(m.dev, on, DEPTH_MAX))
			continue;
		for (i = 0; i < n && (*list)[i].dev != m.dev; i++)
			;
		if (i < n) {
			if (!is_usable(&(*list)[i]) && (is_usable(&m) || !is_reached(&(*list)[i])))
				(*list)[i] = m;
			continue;
		}
		more = realloc(*list, (n + 1) * sizeof(m));
		if (!more)
			break;
		*list = more;
		more[n++] = m;
	}
	free(line);
	fclose(f);
	return n;
}
