// SPDX-License-Identifier: GPL-2.0-only
/*
 * lifezone trim: has file systems on a started device discard what they have freed, at
 * once, or each time the device asks for it.
 *
 * The device asks by a dm event when what is freed and not discarded begins to cost
 * (Documentation/design.rst), and counts how often it did. A watch waits for events of any
 * mapped device, all by one file descriptor, and looks at the counters. It arms that
 * before it looks, so no event is lost.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cmd.h"
#include "trim.h"

#define SHARE_DEFAULT	50
/* A device that was suspended when it was looked at is looked at again (s). */
#define LOOK_AGAIN	10

/**
 * struct watched - a device to be trimmed
 * @id: the device
 * @only: the file system meant, or 0: all that are on it
 * @uuid: of the lifezone device on it, once that is known
 * @seen: how often it had asked when last trimmed
 * @gone: it has been stopped
 */
struct watched {
	struct started_id id;
	dev_t only;
	char uuid[DM_UUID_LEN];
	u64 seen;
	bool gone;
};

struct trim_args {
	char **word;
	unsigned int nr;
	unsigned int share;
	bool watch;
	u64 *cannot;		/* mounts that never discard, until mounts change */
	unsigned int nr_cannot;
	struct out out;
};

enum { OPT_JSON = 0x100, OPT_SHARE };

static const struct argp_option trim_options[] = {
	{ "watch", 'w', NULL, 0, "stay, and trim whenever a device asks for it", 0 },
	{ "share", OPT_SHARE, "PERCENT", 0,
	  "of the time that it may be at work, 1 to 100; default 50", 0 },
	{ "json", OPT_JSON, NULL, 0, "print JSON", 0 },
	{ 0 }
};

static error_t parse_trim(int key, char *arg, struct argp_state *state)
{
	struct trim_args *a = state->input;
	u64 v;

	switch (key) {
	case 'w':
		a->watch = true;
		return 0;
	case OPT_SHARE:
		if (!parse_number(arg, &v) || !v || v > 100)
			usage_error(state, "--share %s: 1 to 100 per cent", arg);
		a->share = v;
		return 0;
	case OPT_JSON:
		a->out.json = true;
		return 0;
	case ARGP_KEY_ARGS:
		a->word = state->argv + state->next;
		a->nr = state->argc - state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		usage_error(state, "which device?");
	case ARGP_KEY_END:
		if (a->watch && a->out.json)
			usage_error(state, "--watch never ends, and so has no --json");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp trim_argp = {
	.options = trim_options,
	.parser = parse_trim,
	.args_doc = "NAME|DEV|DIRECTORY...",
	.doc = "Make file systems on a started device, or the one that holds DIRECTORY,\n"
	       "discard what they have freed.",
};

static volatile sig_atomic_t stop;

static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

/* The file system that holds a directory, if it is on a started device. */
static bool find_directory(const char *path, struct watched *w)
{
	struct started_id *ids = NULL;
	int n = started_list(&ids), i, k, nr;
	bool found = false;
	struct fs_mount *list;
	dev_t dev;

	if (!fs_mount_dev(fs_mount_id(AT_FDCWD, path), &dev))
		dev = 0;
	for (i = 0; i < n && dev && !found; i++) {
		nr = fs_mounts(ids[i].dev, &list);
		for (k = 0; k < nr && !found; k++) {
			if (list[k].dev != dev)
				continue;
			w->id = ids[i];
			w->only = dev;
			found = true;
		}
		free(list);
	}
	free(ids);
	if (n >= 0 && !found)
		complain(path, "not of a file system on a started lifezone device");
	return found;
}

static bool find_watched(const char *word, struct watched *w)
{
	struct stat st;
	int found;

	memset(w, 0, sizeof(*w));
	w->seen = ~0ull;
	/* What it means must not depend on the directory one is in. */
	if (!strchr(word, '/')) {
		found = started_named(word, &w->id);
		if (found)
			return found > 0;
	}
	if (!stat(word, &st) && S_ISDIR(st.st_mode))
		return find_directory(word, w);
	return started_find(word, &w->id);
}

static bool attr_u64(const struct watched *w, const char *name, u64 *v)
{
	char path[64];

	snprintf(path, sizeof(path), "lifezone/%s", name);
	return block_u64(w->id.dev, path, v);
}

static void put_known(struct json_object *o, const char *key, bool known, u64 v)
{
	json_object_object_add(o, key, known ? json_object_new_uint64(v) : NULL);
}

/* Others are to get on, too, before it is asked again. */
static void have_rest(const struct trim_args *a, u64 ms)
{
	if (a->watch)
		pause_ms(ms, &stop);
}

/* Each request would cost a sync, for nothing. */
static void remember(struct trim_args *a, u64 mount)
{
	u64 *more = realloc(a->cannot, (a->nr_cannot + 1) * sizeof(*more));

	if (!more)
		return;
	a->cannot = more;
	more[a->nr_cannot++] = mount;
}

static bool is_remembered(const struct trim_args *a, u64 mount)
{
	unsigned int i;

	for (i = 0; i < a->nr_cannot && a->cannot[i] != mount; i++)
		;
	return i < a->nr_cannot;
}

/* One file system, and a row that says what it brought. */
static bool trim_one(struct trim_args *a, const struct watched *w, const struct fs_mount *m)
{
	u64 before = 0, after = 0, discards = 0, more = 0, begun = now_ms(), rest;
	struct json_object *o;
	bool known;
	int err;

	known = attr_u64(w, "mapped_blocks", &before) &&
		attr_u64(w, "discarded_blocks", &discards);
	err = fs_trim(m, a->share, &stop, &rest);
	if (err) {
		if (err == EOPNOTSUPP)
			remember(a, m->id);
		have_rest(a, rest);
		return false;
	}
	/* Only then is what was discarded no more counted as mapped. */
	started_message(w->id.name, "checkpoint");
	/* They cannot be read once it is gone. */
	known = attr_u64(w, "mapped_blocks", &after) &&
		attr_u64(w, "discarded_blocks", &more) && known;
	o = json_object_new_object();
	put_str(o, "device", w->id.name);
	put_str(o, "type", m->type);
	put_known(o, "mapped_before", known, before);
	put_known(o, "mapped_after", known, after);
	put_known(o, "discarded", known, more - discards);
	put_u64(o, "ms", now_ms() - begun);
	put_str(o, "directory", m->point);
	out_row(&a->out, o);
	fflush(stdout);
	have_rest(a, rest);
	return true;
}

/* All file systems meant. Those that are read-only free nothing and are left alone. */
static bool trim_device(struct trim_args *a, const struct watched *w)
{
	struct fs_mount *list;
	int n, i, nr = 0;
	bool ok;

	/* Another mount may have got the number. */
	if (fs_mounts_changed())
		a->nr_cannot = 0;
	n = fs_mounts(w->id.dev, &list);
	ok = n >= 0;
	for (i = 0; i < n && !stop; i++) {
		if (w->only && w->only != list[i].dev)
			continue;
		nr++;
		if (a->watch && is_remembered(a, list[i].id))
			continue;
		if (!list[i].readonly) {
			ok &= trim_one(a, w, &list[i]);
		} else if (!a->watch) {
			complain(list[i].point, "mounted read-only, so that nothing is freed");
			ok = false;
		}
	}
	free(list);
	if (ok && !nr && !a->watch) {
		complain(w->id.name, "no file system on it is mounted that knows what is free");
		ok = false;
	}
	return ok;
}

/* --- watch ------------------------------------------------------------------------ */

static int open_events(void)
{
	int fd = open("/dev/mapper/control", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		complain("/dev/mapper/control", "%s", strerror(errno));
	return fd;
}

/* The next event of any mapped device makes @fd readable. */
static bool arm_events(int fd)
{
	struct dm_ioctl io = { .version = { 4, 37, 0 }, .data_size = sizeof(io) };

	if (!ioctl(fd, DM_DEV_ARM_POLL, &io))
		return true;
	complain("/dev/mapper/control", "%s", strerror(errno));
	return false;
}

/* Numbers are given anew: is it still there, and no other? */
static bool is_there(struct watched *w)
{
	char uuid[DM_UUID_LEN];

	if (!block_text(w->id.dev, "dm/uuid", uuid, sizeof(uuid)) || strcmp(uuid, w->id.uuid))
		return false;
	/* What dmsetup made need not have one. This one is told once a table has been live. */
	if (!block_text(w->id.dev, "lifezone/uuid", uuid, sizeof(uuid)))
		return true;
	if (!*w->uuid)
		snprintf(w->uuid, sizeof(w->uuid), "%s", uuid);
	return !strcmp(uuid, w->uuid);
}

/* Who has a file system on it discard would wait. */
static bool is_suspended(const struct watched *w)
{
	u64 v;

	return block_u64(w->id.dev, "dm/suspended", &v) && v;
}

static void look_at(struct trim_args *a, struct watched *w)
{
	u64 asked;

	if (!w->gone)
		w->gone = !is_there(w);
	if (w->gone || is_suspended(w) || !attr_u64(w, "trims_wanted", &asked) || asked == w->seen)
		return;
	w->seen = asked;
	trim_device(a, w);
}

/* Until a signal, or the last device has been stopped. */
static int watch(struct trim_args *a, struct watched *w)
{
	int fd = open_events();
	sigset_t ours, before;
	unsigned int i, left = a->nr;
	fd_set fds;

	if (fd < 0)
		return EXIT_FAIL;
	sigemptyset(&ours);
	for (i = 0; i < ARRAY_SIZE(ends); i++)
		sigaddset(&ours, ends[i]);
	while (left && !stop) {
		if (!arm_events(fd)) {
			close(fd);
			return EXIT_FAIL;
		}
		for (i = 0, left = 0; i < a->nr; i++) {
			look_at(a, &w[i]);
			left += !w[i].gone;
		}
		FD_ZERO(&fds);
		FD_SET(fd, &fds);
		/* No signal between the look at "stop" and the sleep. */
		sigprocmask(SIG_BLOCK, &ours, &before);
		if (left && !stop)
			pselect(fd + 1, &fds, NULL, NULL,
				&(struct timespec){ .tv_sec = LOOK_AGAIN }, &before);
		sigprocmask(SIG_SETMASK, &before, NULL);
	}
	close(fd);
	return EXIT_OK;
}

int cmd_trim(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_signal }, was;
	struct trim_args a = { .share = SHARE_DEFAULT };
	struct watched *w;
	int ret = EXIT_OK;
	unsigned int i;

	parse_args(&trim_argp, "trim", argc, argv, &a);
	w = calloc(a.nr, sizeof(*w));
	if (!w)
		return EXIT_FAIL;
	for (i = 0; i < a.nr; i++) {
		if (!find_watched(a.word[i], &w[i])) {
			free(w);
			return EXIT_FAIL;
		}
	}
	/* What was changed for the time being is to be put back. */
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		sigaction(ends[i], NULL, &was);
		/* Who runs it under nohup means it to stay. */
		if (ends[i] != SIGHUP || was.sa_handler != SIG_IGN)
			sigaction(ends[i], &act, NULL);
	}
	out_rows_begin(&a.out, "file systems");
	if (a.watch) {
		ret = watch(&a, w);
	} else {
		for (i = 0; i < a.nr && !stop; i++)
			if (!trim_device(&a, &w[i]))
				ret = EXIT_FAIL;
		if (a.out.json || a.out.rows)
			out_rows_end(&a.out);
	}
	free(w);
	free(a.cannot);
	return stop && !a.watch ? EXIT_FAIL : ret;
}
