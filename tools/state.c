// SPDX-License-Identifier: GPL-2.0-only
/*
 * lifezone dump DEV state: what recovery, in memory, makes of what lies on the
 * drive. Unlike the rest of dump this is core's work, and the one file of the tool
 * that looks inside core: its zones and map are nowhere else to be had as a whole.
 */
#include <stdlib.h>
#include "cmd.h"
#include "../dm-lifezone/core/lz.h"

struct state {
	struct drive *d;
	struct out *out;
	struct lz_check_report r;
	u32 *valid;		/* by zone: blocks mapped to it */
	u64 mapped;
	u64 lba, addr, len;	/* the extent under way */
};

static void finding(void *ctx, const char *line)
{
	struct state *s = ctx;

	complain(s->d->path, "%s", line);
}

static void count_extent(struct state *s)
{
	s->mapped += s->len;
	if (s->len && lz_addr_zone(s->d->lz, s->addr) < s->d->g.nr_zones)
		s->valid[lz_addr_zone(s->d->lz, s->addr)] += s->len;
}

static void print_extent(struct state *s)
{
	struct json_object *o;

	if (!s->len)
		return;
	o = json_object_new_object();
	put_u64(o, "lba", s->lba);
	put_u64(o, "len", s->len);
	put_u64(o, "addr", s->addr);
	out_row(s->out, o);
}

/* Calls @fn for each extent, none of which reaches into another zone. */
static void walk_map(struct state *s, void (*fn)(struct state *s))
{
	struct lz *lz = s->d->lz;
	u64 lba, addr;
	int err;

	s->len = 0;
	for (lba = 0; lba < lz->si.logical_blocks; lba++) {
		err = 0;
		while ((addr = lz_map_get(lz, lba)) == LZ_MISS && !err) {
			lz_leaf_get(lz, lba / LZ_NODE_ENTRIES, &err);
			lz_sync(lz);
		}
		if (err || addr == LZ_NOWHERE)
			continue;
		if (s->len && lba == s->lba + s->len && addr == s->addr + s->len &&
		    lz_addr_off(lz, addr)) {
			s->len++;
			continue;
		}
		fn(s);
		s->lba = lba;
		s->addr = addr;
		s->len = 1;
	}
	fn(s);
}

static void print_device(struct state *s)
{
	struct json_object *o = json_object_new_object();
	struct lz *lz = s->d->lz;

	put_u64(o, "checkpoint", lz->ckpt.number);
	put_u64(o, "epoch", lz->epoch);
	put_u64(o, "commit", lz->committed);
	put_u64(o, "mapped", s->mapped);
	out_row(s->out, o);
}

static void print_zone(struct state *s, u32 zone)
{
	const struct lz_zone *z = &s->d->lz->zone[zone];
	struct json_object *o = json_object_new_object();
	char flags[8];

	put_u64(o, "zone", zone);
	put_str(o, "state", zone_state_name(z->state));
	put_str(o, "class", class_name(z->class));
	put_str(o, "flags", zone_flag_names(z->flags, flags, sizeof(flags)));
	put_u64(o, "gen", z->gen);
	put_u64(o, "valid", s->valid[zone]);
	put_u64(o, "wp", z->resv);
	put_addr(o, "head", z->head == LZ_NO_OFFSET ? LZ_NOWHERE : z->head);
	put_u64(o, "sum_seq", z->sum_seq);
	out_row(s->out, o);
}

int dump_state(struct drive *d, struct out *out)
{
	struct state s = { .d = d, .out = out, .r = { .say = finding, .ctx = &s } };
	int ret = EXIT_FAIL, err;
	struct lz_options o;
	u32 zone;

	lz_options_default(&o);
	o.map_cache_mb = MAP_CACHE_MB;
	d->lz = lz_new(&d->g, &o, &drive_ops, d);
	s.valid = calloc(d->g.nr_zones, sizeof(*s.valid));
	if (!d->lz || !s.valid) {
		complain(d->path, "out of memory");
		goto out;
	}
	err = lz_load(d->lz, d->z, LZ_LOAD_RO);
	if (!err)
		err = lz_check(d->lz, &s.r);
	if (err) {
		if (!*d->said)
			complain(d->path, "cannot be recovered: %s", strerror(-err));
		ret = err == -EUCLEAN ? EXIT_ERRORS : EXIT_FAIL;
		goto out;
	}
	walk_map(&s, count_extent);
	out_rows_begin(out, "state");
	print_device(&s);
	for (zone = 0; zone < d->lz->g.nr_zones; zone++)
		print_zone(&s, zone);
	walk_map(&s, print_extent);
	out_rows_end(out);
	ret = s.r.errors ? EXIT_ERRORS : EXIT_OK;
out:
	free(s.valid);
	return ret;
}
