// SPDX-License-Identifier: GPL-2.0-only
/*
 * lifezone check: recover a device in memory, as the module would, have core
 * verify all that led it there, and look for what it was not led to. Nothing is ever
 * written; what a power cut leaves is no damage, and needs no repair.
 *
 * The drive is opened exclusively: a device in use changes under the check.
 */
#include <stdlib.h>
#include "cmd.h"
#include "scan.h"

struct check_args {
	const char *path;
	bool json;
	bool verbose;
	struct drive_image img;
};

enum { OPT_JSON = 0x100 };

static const struct argp_option options[] = {
	{ "json", OPT_JSON, NULL, 0, "print JSON", 0 },
	{ "verbose", 'v', NULL, 0, "also tell what recovery did and what was counted", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct check_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->img;
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	case 'v':
		a->verbose = true;
		return 0;
	}
	return parse_device(key, arg, state, &a->path);
}

static const struct argp_child children[] = { IMAGE_CHILD, { 0 } };
static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "DEV",
	.doc = "Verify the lifezone device on DEV, not in use. Never writes.\v\n"
	       "Exit status: 0 clean, 4 errors found, 8 it could not be checked, 16 usage.",
	.children = children,
};

int check_drive(struct drive *d, struct lz_check_report *r,
		void (*note)(void *ctx, const char *line))
{
	struct lz_zone_report *rep = malloc(d->g.nr_zones * sizeof(*rep));
	struct scan s = { 0 };
	struct lz_options o;
	int err = -ENOMEM;

	*d->said = 0;
	lz_options_default(&o);
	o.map_cache_mb = MAP_CACHE_MB;
	d->lz = lz_new(&d->g, &o, &drive_ops, d);
	if (rep && d->lz) {
		memcpy(rep, d->z, d->g.nr_zones * sizeof(*rep));
		err = lz_load(d->lz, rep, LZ_LOAD_RO);
		if (!err)
			err = lz_check(d->lz, r);
		if (!err)
			err = scan_drive(&s, d->lz, d->z);
		if (!err)
			scan_judge(&s, r, note);
		scan_free(&s);
	}
	free(rep);
	return err;
}

struct findings {
	const struct check_args *a;
	struct json_object *lines;
	struct json_object *notes;
};

static void finding(void *ctx, const char *line)
{
	struct findings *f = ctx;

	if (f->a->json)
		json_object_array_add(f->lines, json_object_new_string(line));
	else
		printf("%s: %s\n", f->a->path, line);
}

static void remark(void *ctx, const char *line)
{
	struct findings *f = ctx;

	if (f->a->json)
		json_object_array_add(f->notes, json_object_new_string(line));
	else
		printf("%s: note: %s\n", f->a->path, line);
}

/* @si: NULL: nothing is known of the device. */
static void summary(const struct findings *f, const struct lz_super_info *si,
		    const struct lz_check_report *r)
{
	const struct check_args *a = f->a;
	struct out out = { .json = true };
	struct json_object *o;
	char h[24];

	if (!a->json) {
		printf("%s: %s, %s in %llu blocks mapped", a->path, r->errors ? "ERRORS" : "clean",
		       human_size(r->mapped << LZ_BLOCK_SHIFT, h, sizeof(h)),
		       (unsigned long long)r->mapped);
		if (a->verbose)
			printf(", %llu metadata nodes read", (unsigned long long)r->nodes);
		if (r->errors)
			printf(", %llu errors", (unsigned long long)r->errors);
		putchar('\n');
		return;
	}
	o = json_object_new_object();
	put_str(o, "device", a->path);
	put_bool(o, "clean", !r->errors);
	put_u64(o, "errors", r->errors);
	put_u64(o, "mapped_blocks", r->mapped);
	put_u64(o, "nodes", r->nodes);
	json_object_object_add(o, "superblock", si ? super_info_json(si) : NULL);
	json_object_object_add(o, "findings", json_object_get(f->lines));
	json_object_object_add(o, "notes", json_object_get(f->notes));
	out_object(&out, o);
}

int cmd_check(int argc, char **argv)
{
	struct check_args a = { 0 };
	struct findings f = { .a = &a };
	struct lz_check_report r = { .say = finding, .ctx = &f };
	int ret = EXIT_OPERATION, err;
	struct lz_super_info si;
	struct drive *d;
	bool known;

	parse_args(&argp, "check", argc, argv, &a);
	d = drive_open(a.path, DRIVE_EXCL | (a.verbose ? 0 : DRIVE_QUIET), &a.img);
	if (!d)
		return EXIT_OPERATION;
	f.lines = json_object_new_array();
	f.notes = json_object_new_array();
	err = read_super(d, &si);
	known = !err;
	if (known)
		err = check_drive(d, &r, remark);
	if (known && err && !*d->said)
		complain(a.path, "cannot be %s: %s", d->lz ? "checked to the end" : "recovered",
			 strerror(-err));
	/* A superblock that is there and damaged is an error found. */
	if (err && !(known ? is_damage(err) : err == -EUCLEAN))
		goto out;
	if (err) {
		r.errors++;
		if (a.json)
			finding(&f, why_not(d, err));
	}
	if (!err || a.json)
		summary(&f, known ? &si : NULL, &r);
	ret = r.errors ? EXIT_ERRORS : EXIT_OK;
out:
	json_object_put(f.lines);
	json_object_put(f.notes);
	drive_close(d);
	return ret;
}
