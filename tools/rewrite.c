// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing what was rebuilt: all of the map and of the zone table, to zones that are
 * empty, and a root. Until that is durable all is as it was: zones marked as live are
 * not reset, nor those marked as suspect touched while anything in them may be left.
 */
#include "scan.h"

/* Zones that the first checkpoint takes, with the commit it begins with. */
static u32 log_zones(const struct lz *lz)
{
	u64 nodes = lz->nr_cached + lz_tree_above(&lz->map, 1) + lz_tree_above(&lz->ztab, 0);
	u32 cap = lz->g.zone_cap;

	/* What is shared ends in a link, and goes on at once. */
	return 1 + (u32)(lz->js == lz->ns ? div_u64(nodes + 4, cap - 1) :
			 div_u64(nodes + cap - 1, cap));
}

/* Zones as the drive has them; what is open stays so, and is for the next load. */
static void place_rebuilt(struct lz *lz, const struct lz_zone_report *rep)
{
	u32 i;

	for (i = 0; i < lz->g.nr_zones; i++) {
		struct lz_zone *z = &lz->zone[i];

		z->resv = lz_zone_written(lz, &rep[i]);
		z->done = z->resv;
		if (i < 2)
			z->state = LZ_ZS_ROOT;
		else if (lz_zone_dead(&rep[i]))
			lz_keep_bad(z);
		else if (atomic_read(&z->valid))
			z->state = rep[i].cond == LZ_COND_OPEN ? LZ_ZS_OPEN : LZ_ZS_FULL;
		else if (lz_zone_worn_out(z->flags))
			z->state = LZ_ZS_BAD;
		else if (rep[i].cond == LZ_COND_EMPTY && !z->suspect)
			lz_free_zone_add(lz, z);
		else
			z->state = LZ_ZS_FREE;
	}
}

/*
 * If too few zones are empty: those that hold nothing of the old metadata or its data. @roll:
 * there is one more to set the root aside in; without it nobody is to be refused.
 */
static int make_room(struct lz *lz, struct lz_load *l, bool *roll)
{
	u32 want = log_zones(lz), i;

	for (i = 2; i < lz->g.nr_zones && lz->nr_free < want + *roll; i++) {
		struct lz_zone *z = &lz->zone[i];

		if (z->state == LZ_ZS_FREE && !z->listed && !z->live && !z->suspect)
			lz_load_reset(lz, l, i);
	}
	*roll &= lz->nr_free > want;
	if (lz->nr_free >= want)
		return 0;
	lz_say(lz, 'e', "no room beside the old metadata: %u zones are empty, %u are needed",
	       lz->nr_free, want);
	return -ENOSPC;
}

enum closing { CLOSE_DATA, CLOSE_LOG, CLOSE_LOST, CLOSE_END };

/*
 * May @z be open no more? Of most zones it does not matter how far they are written, of
 * the log's only a little. One that is suspect must not look as if it were full; if all
 * it had is lost anyway, it may as well be empty.
 */
static bool may_close(struct lz_zone *z, enum closing how)
{
	switch (how) {
	case CLOSE_DATA:
		return !z->live && !z->suspect;
	case CLOSE_LOG:
		return !z->suspect;
	default:
		return !z->live && z->state == LZ_ZS_FREE;
	}
}

/* Zones that will be opened: the log's, and the one for the root. */
static u32 to_open(const struct lz *lz, const struct lz_zone_report *rep, bool roll)
{
	return (lz->js == lz->ns ? 1 : 2) +
		(roll || (lz->root_off == lz->g.zone_cap &&
			  rep[lz->root_zone ^ 1].cond != LZ_COND_OPEN));
}

/* If too many zones would be open with these; @roll: as in make_room(). */
static int close_some(struct lz *lz, struct lz_load *l, bool *roll)
{
	const struct lz_zone_report *rep = l->rep;
	u32 open = to_open(lz, rep, *roll), how, i;

	if (!lz->g.max_open)
		return 0;
	for (i = 0; i < lz->g.nr_zones; i++)
		open += rep[i].cond == LZ_COND_OPEN;
	for (how = CLOSE_DATA; how < CLOSE_END; how++) {
		for (i = 2; i < lz->g.nr_zones; i++) {
			if (open <= lz->g.max_open)
				return 0;
			if (rep[i].cond != LZ_COND_OPEN || !may_close(&lz->zone[i], how))
				continue;
			if (how == CLOSE_LOST)
				lz_load_reset(lz, l, i);
			else
				lz_load_finish(lz, l, i);
			open--;
		}
	}
	if (*roll) {
		*roll = false;
		open -= to_open(lz, rep, true) - to_open(lz, rep, false);
	}
	if (open <= lz->g.max_open)
		return 0;
	lz_say(lz, 'e', "%u zones would be open, %u are allowed", open, lz->g.max_open);
	return -ENOSPC;
}

/*
 * A root zone is reset only when the root that it is to begin with is somewhere else, in the first
 * blocks of a zone that recovery has no use for: the roots in it are needed until then, and the
 * one in the other zone may be older. That one is full, by which a cut in between is known.
 */
static int begin_root_zone(struct lz *lz, struct lz_load *l, u64 root, u32 zone)
{
	u32 supers = lz_super_copies(lz), n = min(supers + LZ_ROOT_COPIES, lz->append_max), i;
	u8 *buf = lz_alloc_blocks(LZ_SUPER_COPIES + LZ_ROOT_COPIES);
	u64 addr = lz_zone_addr(lz, zone, 0);
	struct lz_cmd reset = { .op = LZ_OP_RESET, .addr = addr };
	struct lz_cmd write = {
		.op = LZ_OP_WRITE, .addr = addr, .nblocks = n, .buf = buf,
		.flags = LZ_CMD_PREFLUSH | LZ_CMD_FUA, .meta = true,
	};
	struct lz_root *r = (void *)buf;
	struct lz_want w = { .uuid = lz->si.uuid, .type = LZ_BT_ROOT, .addr = root };
	bool open = l->rep[zone ^ 1].cond == LZ_COND_OPEN;
	int err = r ? lz_read_sync(lz, root, 1, r) : -ENOMEM;
	char why[160] = "";

	if (!err && !lz_valid(r, &w, why, sizeof(why))) {
		lz_say(lz, 'e', "the new root at block %llu: %s", (unsigned long long)root, why);
		err = -EIO;
	}
	if (!err) {
		w.epoch = le64_to_cpu(r->h.epoch);
		w.seq = le64_to_cpu(r->h.seq);
		for (i = n; i-- > supers; ) {
			w.addr = addr + i;
			memmove(buf + (size_t)i * LZ_BLOCK_SIZE, r, LZ_BLOCK_SIZE);
			lz_seal(buf + (size_t)i * LZ_BLOCK_SIZE, &w, 0);
		}
		for (i = 0; i < supers; i++)
			lz_super_encode(&lz->si, (void *)(buf + (size_t)i * LZ_BLOCK_SIZE),
					addr + i, w.epoch, w.seq);
		lz_load_finish(lz, l, zone ^ 1);
		if (open && l->rep[zone ^ 1].cond != LZ_COND_FULL)
			err = -EIO;
	}
	if (!err)
		err = lz_cmd_sync(lz, &reset);
	if (!err)
		err = lz_cmd_sync(lz, &write);
	lz_free_blocks(buf);
	return err;
}

/*
 * A zone for the root, of those beyond @want. The root has but one try, and would have it again in
 * each repair to come: first a zone must show that it can be written.
 */
static u32 take_aside(struct lz *lz, struct lz_load *l, u32 want)
{
	struct lz_super *s = lz_alloc_blocks(1);
	u32 zone = LZ_NONE;
	int err = -EIO;

	while (s && err && lz->nr_free > want) {
		struct lz_zone *z = lz_zone_take_free(lz, true);
		u64 addr = lz_zone_addr(lz, lz_zone_nr(lz, z), 0);
		struct lz_cmd reset = { .op = LZ_OP_RESET, .addr = addr };
		struct lz_cmd write = {
			.op = LZ_OP_WRITE, .addr = addr, .nblocks = 1, .buf = s, .meta = true,
		};

		zone = lz_zone_nr(lz, z);
		lz_super_encode(&lz->si, s, addr, lz->epoch, lz->ckpt.number + 1);
		err = lz_cmd_sync(lz, &write);
		if (!err)
			err = lz_cmd_sync(lz, &reset);
		if (!err)
			break;
		lz_say(lz, 'w', "zone %u cannot be written (error %d): set aside", zone, err);
		z->state = LZ_ZS_BAD;
		z->flags |= LZ_ZF_BAD;
		/* Or the drive might go on counting it as open. */
		l->rep[zone].cond = LZ_COND_OPEN;
		lz_load_finish(lz, l, zone);
	}
	lz_free_blocks(s);
	return err ? LZ_NONE : zone;
}

/* Who waits for the one checkpoint there is to be. */
struct last {
	struct lz_waiter w;
	struct lz *lz;
	int err;
};

/* Neither GC nor another checkpoint is to follow: where its root is it must not roll. */
static void last_done(struct lz_waiter *w, int err)
{
	struct last *last = container_of(w, struct last, w);

	last->err = err;
	last->lz->mode = LZ_MODE_RO;
}

/* A new checkpoint, in log zones of its own; the newest root is its root then. */
static int write_checkpoint(struct lz *lz, struct lz_load *l, bool roll)
{
	struct last last = { .w.fn = last_done, .lz = lz, .err = -EIO };
	u32 zone = lz->root_zone, want = log_zones(lz), aside = LZ_NONE, i;
	int err;

	if (roll)
		lz->root_off = lz->g.zone_cap;
	place_rebuilt(lz, l->rep);
	err = make_room(lz, l, &roll);
	if (!err)
		err = close_some(lz, l, &roll);
	if (err)
		return err;
	for (i = 0; i < lz->g.nr_zones; i++)
		lz->zone[i].live = 0;
	lz->epoch += LZ_REPAIR_EPOCHS;
	lz->ckpt.clean = true;
	if (roll)
		aside = take_aside(lz, l, want);
	if (aside != LZ_NONE) {
		lz->root_zone = aside;
		lz->root_off = 0;
	}
	err = lz_open_journal(lz);
	if (err)
		return err;
	lz_request_checkpoint(lz, &last.w);
	err = lz_first_checkpoint(lz);
	if (lz->mode == LZ_MODE_RO)
		err = last.err;
	if (err || aside == LZ_NONE)
		return err;
	l->rep[aside].cond = LZ_COND_OPEN;
	lz_load_finish(lz, l, aside);
	return begin_root_zone(lz, l, lz_zone_addr(lz, aside, lz->root_off - 1), zone ^ 1);
}

int rebuild_write(struct lz *lz, struct lz_zone_report *rep, const struct rebuild_report *r)
{
	struct lz_cmd wipe = {
		.op = LZ_OP_RESET, .addr = lz_zone_addr(lz, lz->root_zone, 0),
	};
	struct lz_load l = { .rep = rep };
	bool roll = r->roll || rep[lz->root_zone].torn || lz->root_off == lz->g.zone_cap;
	int err = lz_flush_sync(lz);

	lz->loading = true;
	if (!err && r->begun != LZ_NONE) {
		/* The rest was done before it was cut short, but perhaps for this. */
		lz_load_finish(lz, &l, lz_addr_zone(lz, r->root));
		err = begin_root_zone(lz, &l, r->root, r->begun);
	} else if (!err) {
		err = write_checkpoint(lz, &l, roll);
	}
	if (!err && r->wipe)
		err = lz_cmd_sync(lz, &wipe);
	lz->loading = false;
	return err;
}
