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

/* If too few zones are empty: those that hold nothing of the old metadata or its data. */
static int make_room(struct lz *lz, struct lz_load *l)
{
	u32 want = log_zones(lz), i;

	for (i = 2; i < lz->g.nr_zones && lz->nr_free < want; i++) {
		struct lz_zone *z = &lz->zone[i];

		if (z->state == LZ_ZS_FREE && !z->listed && !z->live && !z->suspect)
			lz_load_reset(lz, l, i);
	}
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

/* If too many zones would be open with @want more. */
static int close_some(struct lz *lz, struct lz_load *l, u32 want)
{
	const struct lz_zone_report *rep = l->rep;
	u32 open = want, how, i;

	for (i = 0; i < lz->g.nr_zones; i++)
		open += rep[i].cond == LZ_COND_OPEN;
	for (how = CLOSE_DATA; how < CLOSE_END; how++) {
		for (i = 2; i < lz->g.nr_zones; i++) {
			if (!lz->g.max_open || open <= lz->g.max_open)
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
	if (open <= lz->g.max_open)
		return 0;
	lz_say(lz, 'e', "%u zones would be open, %u are allowed", open, lz->g.max_open);
	return -ENOSPC;
}

int rebuild_write(struct lz *lz, struct lz_zone_report *rep, const struct rebuild_report *r)
{
	struct lz_cmd wipe = {
		.op = LZ_OP_RESET, .addr = lz_zone_addr(lz, lz->root_zone, 0),
	};
	struct lz_load l = { .rep = rep };
	u32 other = lz->root_zone ^ 1, want, i;
	int err = lz_flush_sync(lz);

	if (r->roll || rep[lz->root_zone].torn)
		lz->root_off = lz->g.zone_cap;
	/* The log's, and a root zone if one is begun. */
	want = lz->js == lz->ns ? 1 : 2;
	want += lz->root_off == lz->g.zone_cap && rep[other].cond != LZ_COND_OPEN;
	lz->loading = true;
	place_rebuilt(lz, rep);
	if (!err)
		err = make_room(lz, &l);
	if (!err)
		err = close_some(lz, &l, want);
	for (i = 0; i < lz->g.nr_zones; i++)
		lz->zone[i].live = 0;
	lz->epoch += LZ_REPAIR_EPOCHS;
	lz->ckpt.clean = true;
	if (!err)
		err = lz_open_journal(lz);
	if (!err)
		err = lz_first_checkpoint(lz);
	if (!err && r->wipe)
		err = lz_cmd_sync(lz, &wipe);
	lz->loading = false;
	return err;
}
