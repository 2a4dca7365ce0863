// SPDX-License-Identifier: GPL-2.0-only
/*
 * lifezone repair: rebuild damaged metadata from what is whole, say what is lost.
 *
 * What has nothing wrong with it is left alone, and what a power cut leaves is nothing
 * wrong. All is worked out before anything is written; then a complete new map and zone table
 * go to zones that were empty, and a new root makes them the device's. A cut before
 * that leaves everything as it was, to be repaired again.
 */
#include <stdlib.h>
#include <unistd.h>
#include "cmd.h"
#include "scan.h"

struct repair_args {
	const char *path;
	bool json;
	bool dry;
	bool yes;
	bool verbose;
	struct drive_image img;
	struct json_object *found;	/* what check finds, */
	struct json_object *left;	/* and after the repair */
	u64 mapped;			/* blocks, as far as check could count them */
	bool written;
};

enum { OPT_JSON = 0x100 };

static const struct argp_option options[] = {
	{ "dry-run", 'n', NULL, 0, "only say what would be done", 0 },
	{ "yes", 'y', NULL, 0, "do it without asking", 0 },
	{ "json", OPT_JSON, NULL, 0, "print JSON", 0 },
	{ "verbose", 'v', NULL, 0, "also list blocks of uncertain age", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct repair_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->img;
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	case 'n':
		a->dry = true;
		return 0;
	case 'y':
		a->yes = true;
		return 0;
	case 'v':
		a->verbose = true;
		return 0;
	case ARGP_KEY_SUCCESS:
		if (a->dry && a->yes)
			usage_error(state, "--dry-run and --yes exclude one another");
		return 0;
	}
	return parse_device(key, arg, state, &a->path);
}

static const struct argp_child children[] = { IMAGE_CHILD, { 0 } };
static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "DEV",
	.doc = "Rebuild damaged metadata of the lifezone device on DEV, not in use, from what\n"
	       "is whole, and say which blocks are lost. Asks before it writes.\v\n"
	       "Blocks that are lost read as zeros afterwards. Blocks of uncertain age hold\n"
	       "data that was once written to them, but perhaps not what was written last.\n\n"
	       "Exit status: 0 nothing to repair, 1 repaired, 4 errors are left (also because\n"
	       "nothing was to be written), 8 it could not be done, 16 usage.",
	.children = children,
};

static void ignore(void *ctx, const char *line)
{
	(void)ctx;
	(void)line;
}

static void finding(void *ctx, const char *line)
{
	const struct repair_args *a = ctx;

	if (a->json)
		json_object_array_add(a->written ? a->left : a->found,
				      json_object_new_string(line));
	else
		printf("%s: %s\n", a->path, line);
}

static void print_runs(const struct repair_args *a, const struct rebuild_run *r, u32 n,
		       const char *what)
{
	u32 i;

	for (i = 0; i < n; i++)
		printf("%s: blocks %llu to %llu: %s%s\n", a->path, (unsigned long long)r[i].lba,
		       (unsigned long long)(r[i].lba + r[i].len - 1), what, r[i].why);
}

static void print_report(const struct repair_args *a, const struct rebuild_report *r)
{
	print_runs(a, r->lost, r->nr_lost, "lost: ");
	if (a->verbose)
		print_runs(a, r->aged, r->nr_aged, "");
	if (r->tree + r->counted)
		printf("%s: %llu blocks placed by older metadata, %llu by summaries and counts\n",
		       a->path, (unsigned long long)r->tree, (unsigned long long)r->counted);
	printf("%s: %llu blocks mapped, %llu lost", a->path, (unsigned long long)r->mapped,
	       (unsigned long long)r->lost_blocks);
	if (r->aged_blocks)
		printf(", %llu may be older than what was last written",
		       (unsigned long long)r->aged_blocks);
	putchar('\n');
}

static struct json_object *runs_json(const struct rebuild_run *r, u32 n)
{
	struct json_object *list = json_object_new_array(), *o;
	u32 i;

	for (i = 0; i < n; i++) {
		o = json_object_new_object();
		put_u64(o, "lba", r[i].lba);
		put_u64(o, "len", r[i].len);
		put_str(o, "why", r[i].why);
		json_object_array_add(list, o);
	}
	return list;
}

static void print_json(const struct repair_args *a, const struct rebuild_report *r)
{
	struct json_object *o = json_object_new_object();
	struct out out = { .json = true };

	put_str(o, "device", a->path);
	put_bool(o, "repaired", a->written);
	json_object_object_add(o, "findings", json_object_get(a->found));
	json_object_object_add(o, "left", json_object_get(a->left));
	put_u64(o, "mapped_blocks", r->mapped);
	put_u64(o, "lost_blocks", r->lost_blocks);
	put_u64(o, "aged_blocks", r->aged_blocks);
	put_u64(o, "by_older_metadata", r->tree);
	put_u64(o, "by_counting", r->counted);
	put_u64(o, "zones_to_search", r->scanned);
	json_object_object_add(o, "lost", runs_json(r->lost, r->nr_lost));
	json_object_object_add(o, "aged", runs_json(r->aged, r->nr_aged));
	out_object(&out, o);
}

static bool agreed(const struct repair_args *a)
{
	char line[16];

	if (a->dry)
		return false;
	if (a->yes)
		return true;
	if (a->json) {
		complain(a->path, "nothing written: --json does not ask (--yes writes)");
		return false;
	}
	if (!isatty(STDIN_FILENO)) {
		complain(a->path, "nothing written: not a terminal to ask on (--yes writes)");
		return false;
	}
	fflush(stdout);
	fprintf(stderr, "Write this to %s? [y/N] ", a->path);
	return fgets(line, sizeof(line), stdin) && (*line == 'y' || *line == 'Y');
}

/* A new instance; the drive is what it was, or what the last one made of it. */
static bool renew(struct drive *d)
{
	struct lz_options o;

	if (d->lz)
		lz_free_device(d->lz);
	lz_options_default(&o);
	d->lz = lz_new(&d->g, &o, &drive_ops, d);
	if (!d->lz)
		complain(d->path, "out of memory");
	return d->lz;
}

enum health { HEALTHY, DAMAGED, BEYOND };

/* What is wrong has been told. An error is one that repair has no answer to. */
static int examine(struct drive *d, struct repair_args *a)
{
	struct lz_check_report r = { .say = finding, .ctx = a };
	int err = check_drive(d, &r, ignore);

	a->mapped = r.mapped;
	/* What made recovery give up has been told to people. */
	if (err && a->json)
		finding(a, why_not(d, err));
	if (err)
		return is_damage(err) ? DAMAGED : err;
	return !r.errors ? HEALTHY : r.errors == r.unreadable ? BEYOND : DAMAGED;
}

static int write_it(struct drive *d, struct repair_args *a, const struct rebuild_report *r)
{
	int err;

	if (!drive_begin(d))
		return EXIT_OPERATION;
	err = rebuild_write(d->lz, d->z, r);
	if (!err && fsync(d->fd))
		err = -errno;
	if (err) {
		if (!*d->said)
			complain(a->path, "cannot be written: %s", strerror(-err));
		return EXIT_OPERATION;
	}
	a->written = true;
	lz_free_device(d->lz);
	d->lz = NULL;
	err = examine(d, a);
	if (err >= 0)
		return err == HEALTHY ? EXIT_REPAIRED : EXIT_ERRORS;
	complain(a->path, "written, but not checked: %s", strerror(-err));
	return EXIT_OPERATION;
}

static int mend(struct drive *d, struct repair_args *a)
{
	struct lz_zone_report *rep;
	struct rebuild_report r;
	struct lz_super_info si;
	int ret = EXIT_OPERATION, err;

	err = read_super(d, &si);
	if (err == -EUCLEAN && a->json) {
		finding(a, why_not(d, err));
		print_json(a, &(struct rebuild_report){});
	}
	if (err)
		return err == -EUCLEAN ? EXIT_ERRORS : EXIT_OPERATION;
	if (si.compat_ro) {
		complain(a->path, "features %#x allow reading only", si.compat_ro);
		return EXIT_OPERATION;
	}
	err = examine(d, a);
	if (err == HEALTHY || err == BEYOND) {
		if (a->json)
			print_json(a, &(struct rebuild_report){ .mapped = a->mapped });
		else
			printf("%s: nothing %s\n", a->path,
			       err == HEALTHY ? "to repair" : "left to repair");
		return err == HEALTHY ? EXIT_OK : EXIT_ERRORS;
	}
	if (err < 0) {
		if (!*d->said || err == -ENOMEM)
			complain(a->path, "%s", strerror(-err));
		return EXIT_OPERATION;
	}
	rep = malloc(d->g.nr_zones * sizeof(*rep));
	if (!rep || !renew(d)) {
		free(rep);
		return EXIT_OPERATION;
	}
	memcpy(rep, d->z, d->g.nr_zones * sizeof(*rep));
	d->lz->si = si;
	*d->said = 0;
	err = rebuild(d->lz, rep, &r);
	if (err) {
		if (!*d->said || err == -ENOMEM)
			complain(a->path, "cannot be rebuilt: %s", strerror(-err));
		goto out;
	}
	if (!a->json)
		print_report(a, &r);
	ret = agreed(a) ? write_it(d, a, &r) : EXIT_ERRORS;
	if (a->json)
		print_json(a, &r);
	else if (a->written)
		printf("%s: repaired%s\n", a->path,
		       ret == EXIT_REPAIRED ? "" : ", but not all that is wrong");
out:
	rebuild_report_free(&r);
	free(rep);
	return ret;
}

int cmd_repair(int argc, char **argv)
{
	struct repair_args a = { 0 };
	struct drive *d;
	int ret;

	parse_args(&argp, "repair", argc, argv, &a);
	d = drive_open(a.path, DRIVE_EXCL | DRIVE_QUIET | (a.dry ? 0 : DRIVE_WRITE), &a.img);
	if (!d)
		return EXIT_OPERATION;
	a.found = json_object_new_array();
	a.left = json_object_new_array();
	ret = mend(d, &a);
	if (!drive_close(d))
		ret = EXIT_OPERATION;
	json_object_put(a.found);
	json_object_put(a.left);
	return ret;
}
