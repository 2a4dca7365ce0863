// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding a device: superblock and newest root.
 *
 * Each root zone begins with two copies of the superblock; roots follow, two alike a checkpoint
 * (one of each where the drive takes no four blocks at once). A zone is filled to its end before
 * the other is reset and begun with superblock and root in one write, so one of them is always
 * whole.
 */
#include "lz.h"

static void sync_done(struct lz *lz, struct lz_cmd *c)
{
	(void)lz;
	c->arg = 1;
}

/* lz_cmd_sync - one command, to its end. Load only. */
int lz_cmd_sync(struct lz *lz, struct lz_cmd *c)
{
	c->done = sync_done;
	c->arg = 0;
	lz_submit(lz, c);
	for (;;) {
		lz_run(lz);
		if (c->arg)
			return c->error;
		lz->ops->wait(lz->ctx);
	}
}

int lz_read_sync(struct lz *lz, u64 addr, u32 n, void *buf)
{
	struct lz_cmd c = {
		.op = LZ_OP_READ, .addr = addr, .nblocks = n, .buf = buf, .meta = true,
	};

	return lz_cmd_sync(lz, &c);
}

/*
 * lz_flush_sync - where only the host died, what was read may be in the drive's cache still.
 * Zones are reset in the belief that it is durable.
 */
int lz_flush_sync(struct lz *lz)
{
	struct lz_cmd c = { .op = LZ_OP_FLUSH };
	int err = lz_cmd_sync(lz, &c);

	if (err)
		lz_say(lz, 'e', "the drive cannot be flushed: error %d", err);
	return err;
}

/* Promises no more, and keeps back no less, than a format of this geometry might. */
static int check_layout(struct lz *lz, const struct lz_super_info *si, bool quiet)
{
	struct lz_geometry g = {
		.nr_zones = si->nr_zones, .zone_blocks = si->zone_blocks,
		.zone_cap = si->zone_cap, .max_append = lz->append_max,
	};
	struct lz_super_info own = { .spare_permille = si->spare_permille };
	char why[160] = "";

	if (!lz_layout_least(&g, &own, why, sizeof(why)) && si->meta_zones >= own.meta_zones &&
	    si->gc_zones >= own.gc_zones && si->logical_blocks <= own.logical_blocks)
		return 0;
	if (!quiet && *why)
		lz_say(lz, 'e', "superblock: %s", why);
	else if (!quiet)
		lz_say(lz, 'e',
		       "superblock: %llu blocks with %u metadata and %u GC zones: such a drive has at most %llu, with at least %u and %u",
		       (unsigned long long)si->logical_blocks, si->meta_zones, si->gc_zones,
		       (unsigned long long)own.logical_blocks, own.meta_zones, own.gc_zones);
	return -EUCLEAN;
}

static int check_super(struct lz *lz, const struct lz_super_info *si, bool quiet)
{
	const struct lz_geometry *g = &lz->g;

	if (si->version != LZ_FORMAT_VERSION ||
	    (si->incompat && !lz_planted(LZ_PLANT_INCOMPAT_IGNORED))) {
		if (!quiet)
			lz_say(lz, 'e',
			       "format version %u with features %#x: this code knows version %u without",
			       si->version, si->incompat, LZ_FORMAT_VERSION);
		return -EPROTONOSUPPORT;
	}
	if (si->nr_zones > g->nr_zones || si->zone_blocks != g->zone_blocks ||
	    si->zone_cap > g->zone_cap) {
		if (!quiet)
			lz_say(lz, 'e',
			       "formatted for %u zones of %u blocks, capacity %u; the drive has %u of %u, capacity %u",
			       si->nr_zones, si->zone_blocks, si->zone_cap, g->nr_zones,
			       g->zone_blocks, g->zone_cap);
		return -EINVAL;
	}
	return check_layout(lz, si, quiet);
}

/* Reads block @off of root zone @zone. 1: a superblock, 0: something else. */
static int super_at(struct lz *lz, u32 zone, u32 off, struct lz_super *s, bool quiet)
{
	struct lz_want w = { .type = LZ_BT_SUPER, .addr = lz_zone_addr(lz, zone, off) };
	int err = lz_read_sync(lz, w.addr, 1, s);
	char why[160] = "";

	if (err)
		return err;
	if (memcmp(s->text, LZ_SUPER_TEXT, sizeof(s->text)) &&
	    (le32_to_cpu(s->h.magic) != LZ_MAGIC || le16_to_cpu(s->h.type) != LZ_BT_SUPER))
		return 0;
	if (lz_valid(s, &w, why, sizeof(why)))
		return 1;
	if (!quiet)
		lz_say(lz, 'w', "superblock in zone %u: %s", zone, why);
	return -EUCLEAN;
}

/* lz_super_read - the superblock, from whichever root zone has it. */
int lz_super_read(struct lz *lz, struct lz_super_info *si, bool quiet)
{
	struct lz_super *s = lz_alloc_blocks(1);
	int err = -ENODEV, got, unread = 0;
	u64 epoch = 0, seq = 0;
	u32 i, off;

	if (!s)
		return -ENOMEM;
	for (i = 0; i < 2; i++) {
		for (off = 0; off < LZ_SUPER_COPIES; off++) {
			got = super_at(lz, i, off, s, quiet);
			if (got > 0)
				break;
			if (got == -EUCLEAN && err == -ENODEV)
				err = got;
			if (got < 0 && got != -EUCLEAN)
				unread = got;
		}
		if (got < 0 && got != -EUCLEAN && !quiet)
			lz_say(lz, 'w', "root zone %u cannot be read: error %d", i, got);
		if (got <= 0 || (!err && !lz_hdr_later(&s->h, epoch, seq)))
			continue;
		epoch = le64_to_cpu(s->h.epoch);
		seq = le64_to_cpu(s->h.seq);
		lz_super_decode(s, si);
		err = 0;
	}
	lz_free_blocks(s);
	/* Whoever formats a device for want of a superblock loses all that is on it. */
	if (err == -ENODEV && unread) {
		err = -EIO;
		if (!quiet)
			lz_say(lz, 'e', "no superblock can be read");
	}
	if (err == -ENODEV && !quiet)
		lz_say(lz, 'e', "no lifezone superblock");
	if (err == -EUCLEAN && !quiet)
		lz_say(lz, 'e', "no superblock is whole");
	return err ? err : check_super(lz, si, quiet);
}

int lz_probe(const struct lz_geometry *g, const struct lz_ops *ops, void *ctx,
	     struct lz_super_info *si)
{
	struct lz_options o;
	struct lz *lz;
	int err;

	lz_options_default(&o);
	lz = lz_new(g, &o, ops, ctx);
	if (!lz)
		return -ENOMEM;
	/* Who loads the device is told more, once. */
	err = lz_super_read(lz, si, true);
	if (err)
		err = lz_super_read(lz, si, false);
	lz_free_device(lz);
	return err;
}

/* Looking for roots in a zone: how many blocks of it could not be read. */
struct search {
	struct lz *lz;
	u32 zone;
	u32 unread;
};

static bool root_at(struct search *s, u32 off, struct lz_root *r)
{
	struct lz_want w = {
		.uuid = s->lz->si.uuid, .type = LZ_BT_ROOT,
		.addr = lz_zone_addr(s->lz, s->zone, off),
	};

	if (!lz_read_sync(s->lz, w.addr, 1, r))
		return lz_valid(r, &w, NULL, 0);
	s->unread++;
	return false;
}

/* Offset of the last root in its zone, 0: none. */
static u32 last_root(struct search *s, const struct lz_zone_report *rep, struct lz_root *r)
{
	u32 cap = s->lz->g.zone_cap, lo = 0, hi, i;

	if (rep->cond == LZ_COND_OFFLINE)
		s->unread = LZ_ROOT_COPIES;
	if (rep->cond == LZ_COND_OFFLINE || rep->cond == LZ_COND_EMPTY)
		return 0;
	if (rep->cond == LZ_COND_OPEN || (rep->cond == LZ_COND_FULL && rep->wp < cap)) {
		for (i = rep->wp - 1; i && i < cap; i--) {
			if (root_at(s, i, r))
				return i;
		}
		return 0;
	}
	if (root_at(s, cap - 1, r))
		return cap - 1;
	/*
	 * Full by its state only: roots stand at the front, and what follows is
	 * not one. A damaged block must not hide those behind it.
	 */
	for (hi = cap; lo + 1 < hi;) {
		u32 mid = (lo + hi) / 2;

		if (root_at(s, mid, r))
			lo = mid;
		else
			hi = mid;
	}
	for (i = lo + 1; i < min(lo + 33, cap); i++) {
		if (root_at(s, i, r))
			lo = i;
	}
	return lo;
}

/* A superblock of this device, at the front of @zone. */
static bool has_super(struct lz *lz, u32 zone, struct lz_super *buf)
{
	u32 i;

	for (i = 0; i < LZ_SUPER_COPIES; i++) {
		if (super_at(lz, zone, i, buf, true) > 0 &&
		    !memcmp(buf->h.uuid, lz->si.uuid, LZ_UUID_SIZE))
			return true;
	}
	return false;
}

/*
 * The first root of a zone is written with its superblock, and counts only with
 * it: the other zone, which still has one, would be reset next.
 */
static bool root_counts(struct lz *lz, u32 zone, u32 off, void *buf)
{
	return off >= LZ_SUPER_COPIES + LZ_ROOT_COPIES || has_super(lz, zone, buf);
}

/*
 * lz_root_goes_on - may the root zone be written to? Not if the only superblock is in the other
 * one, which is reset when this one is full: a power cut just then would leave none. @buf: a block.
 */
int lz_root_goes_on(struct lz *lz, void *buf)
{
	if (has_super(lz, lz->root_zone, buf))
		return 0;
	lz_say(lz, 'e',
	       "root zone %u, in use, has no whole superblock: until lifezone repair has mended that it can only be read",
	       lz->root_zone);
	return -EUCLEAN;
}

/*
 * Where all copies of a root may be among what cannot be read, there may be a newer
 * one: an older one must not be taken for it, for what it leads to has been reset.
 * But a zone is begun when the other is full.
 */
static int check_unread(struct lz *lz, const struct search *s, const struct lz_zone_report *rep,
			u64 best)
{
	u32 other = s->zone ^ 1;

	if (s->unread < LZ_ROOT_COPIES)
		return 0;
	if (best && lz->root_zone == other && rep[other].cond == LZ_COND_OPEN)
		return 0;
	lz_say(lz, 'e', "root zone %u cannot be read, and may hold a newer checkpoint than %llu",
	       s->zone, (unsigned long long)best);
	return -EIO;
}

/*
 * lz_root_find - the newest root. Sets root_zone and root_off, where the next
 * one goes.
 */
int lz_root_find(struct lz *lz, const struct lz_zone_report *rep, struct lz_root *root)
{
	struct search s[2] = { { .lz = lz, .zone = 0 }, { .lz = lz, .zone = 1 } };
	struct lz_root *r = lz_alloc_blocks(1);
	u32 i, off, best_off = 0;
	u64 best = 0;
	int err = 0;

	if (!r)
		return -ENOMEM;
	for (i = 0; i < 2; i++) {
		off = last_root(&s[i], &rep[i], r);
		if (!off || !root_counts(lz, i, off, r) || !root_at(&s[i], off, r) ||
		    le64_to_cpu(r->h.seq) <= best ||
		    (lz_planted(LZ_PLANT_OLDER_ROOT_TAKEN) && best))
			continue;
		best = le64_to_cpu(r->h.seq);
		best_off = off;
		memcpy(root, r, sizeof(*root));
		lz->root_zone = i;
		lz->root_off = rep[i].cond == LZ_COND_OPEN ? rep[i].wp : lz->g.zone_cap;
	}
	lz_free_blocks(r);
	for (i = 0; i < 2 && !err; i++)
		err = check_unread(lz, &s[i], rep, best);
	if (err)
		return err;
	if (!best)
		lz_say(lz, 'e', "no valid checkpoint root in zones 0 and 1");
	/* A root cut short while it was written looks the same, and is not missed. */
	else if (rep[lz->root_zone].cond == LZ_COND_OPEN && best_off + 1 < lz->root_off)
		lz_say(lz, 'w',
		       "root zone %u: %u blocks after checkpoint %llu at offset %u are no roots: cut short, or damaged",
		       lz->root_zone, lz->root_off - best_off - 1, (unsigned long long)best,
		       best_off);
	return best ? 0 : -EUCLEAN;
}
