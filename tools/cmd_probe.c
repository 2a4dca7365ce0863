// SPDX-License-Identifier: GPL-2.0-only
/*
 * lifezone probe: read the superblock, from either root zone, and say what it
 * tells. With --export in the form udev imports; libblkid does not know the
 * format. Also works while the device is in use.
 */
#include <blkid/blkid.h>
#include "cmd.h"

struct probe_args {
	const char *path;
	bool export;
	bool json;
	struct drive_image img;
};

enum { OPT_EXPORT = 0x100, OPT_JSON };

static const struct argp_option probe_options[] = {
	{ "export", OPT_EXPORT, NULL, 0, "print KEY=value lines for udev", 0 },
	{ "json", OPT_JSON, NULL, 0, "print JSON", 0 },
	{ 0 }
};

static error_t parse_probe(int key, char *arg, struct argp_state *state)
{
	struct probe_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->img;
		return 0;
	case OPT_EXPORT:
		a->export = true;
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	}
	if (key == ARGP_KEY_END && a->export && a->json)
		usage_error(state, "--export, or --json: not both");
	return parse_device(key, arg, state, &a->path);
}

static const struct argp_child children[] = { IMAGE_CHILD, { 0 } };
static const struct argp probe_argp = {
	.options = probe_options,
	.parser = parse_probe,
	.args_doc = "DEV",
	.doc = "Tell whether DEV holds a lifezone device, and which.\v\n"
	       "Exit status: 0 it does, 1 it cannot be read or is damaged, 2 it does not.",
	.children = children,
};

int read_super(struct drive *d, struct lz_super_info *si)
{
	int err = lz_probe(&d->g, &drive_ops, d, si);
	bool mute = *d->said || (d->flags & DRIVE_SILENT);
	u32 i;

	if (err && !mute) {
		if (err == -ENODEV)
			complain(d->path, "no lifezone device (\"lifezone format\" makes one)");
		else
			complain(d->path, "its superblock cannot be used: %s", strerror(-err));
	}
	if (err)
		return err;
	/* Images of what is started are looked into, and are nobody else's. */
	if ((d->flags & DRIVE_EXCL) && d->kind == &drive_blk &&
	    started_elsewhere(d->path, si->uuid))
		return -EBUSY;
	if (!geometry_fits(d, si, mute))
		return -EINVAL;
	d->g.nr_zones = si->nr_zones;
	d->g.zone_cap = si->zone_cap;
	for (i = 0; i < d->g.nr_zones; i++)
		d->z[i].wp = min(d->z[i].wp, d->g.zone_cap);
	return 0;
}

struct json_object *super_info_json(const struct lz_super_info *si)
{
	struct json_object *o = json_object_new_object();
	char uuid[37];

	uuid_text(si->uuid, uuid);
	put_str(o, "uuid", uuid);
	put_str(o, "label", si->label);
	put_u64(o, "version", si->version);
	put_u64(o, "compat", si->compat);
	put_u64(o, "compat_ro", si->compat_ro);
	put_u64(o, "incompat", si->incompat);
	put_u64(o, "nr_zones", si->nr_zones);
	put_u64(o, "zone_blocks", si->zone_blocks);
	put_u64(o, "zone_cap", si->zone_cap);
	put_u64(o, "meta_zones", si->meta_zones);
	put_u64(o, "gc_zones", si->gc_zones);
	put_u64(o, "spare_permille", si->spare_permille);
	put_u64(o, "logical_blocks", si->logical_blocks);
	put_u64(o, "created", si->created);
	return o;
}

static void export(const struct lz_super_info *si)
{
	char uuid[37], enc[4 * LZ_LABEL_SIZE + 1], safe[LZ_LABEL_SIZE + 1];

	uuid_text(si->uuid, uuid);
	printf("ID_FS_TYPE=lifezone\nID_FS_USAGE=other\nID_FS_VERSION=%u\n", si->version);
	printf("ID_FS_UUID=%s\nID_FS_UUID_ENC=%s\n", uuid, uuid);
	if (*si->label && !blkid_safe_string(si->label, safe, sizeof(safe)) &&
	    !blkid_encode_string(si->label, enc, sizeof(enc)))
		printf("ID_FS_LABEL=%s\nID_FS_LABEL_ENC=%s\n", safe, enc);
}

int cmd_probe(int argc, char **argv)
{
	struct probe_args a = { 0 };
	struct lz_super_info si;
	struct drive *d;
	int err;

	parse_args(&probe_argp, "probe", argc, argv, &a);
	d = drive_open(a.path, DRIVE_QUIET | (a.export ? DRIVE_SILENT : 0), &a.img);
	if (!d)
		return EXIT_FAIL;
	err = read_super(d, &si);
	if (!err && a.export) {
		export(&si);
	} else if (!err) {
		struct out out = { .json = a.json };

		out_object(&out, super_info_json(&si));
	}
	drive_close(d);
	return !err ? EXIT_OK : err == -ENODEV ? EXIT_NONE : EXIT_FAIL;
}
