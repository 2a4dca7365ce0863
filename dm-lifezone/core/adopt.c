// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bringing the zones in line with what the drive reports, at load.
 *
 * What metadata does not know is reset before it is used; what it knows is
 * adopted at the drive's write pointer, or closed. Blocks the drive has lost though
 * metadata points to them (a zone reset behind our back) are damage, and the device
 * is refused. Replay has settled every count it touches, so a zone that counts as
 * empty is, and what the drive says of it does not matter.
 */
#include "lz.h"

/* Blocks of @zone that a summary written since the checkpoint names. */
static int mark_named(struct lz *lz, const struct lz_replay *r, u32 zone, u8 *named, void *buf)
{
	const struct lz_summary *s = buf;
	u32 i, j, k;

	for (i = lz->zone[zone].sums; i != LZ_NONE; i = r->sum[i].next) {
		const struct lz_sumrec *m = &r->sum[i];

		for (k = 0; k < m->n; k++) {
			struct lz_want w = {
				.uuid = lz->si.uuid, .type = LZ_BT_SUMMARY, .addr = LZ_NO_ADDR,
				.index = zone, .epoch_max = lz->epoch,
			};
			char why[160] = "cannot be read";

			if (lz_read_sync(lz, lz_zone_addr(lz, zone, m->off + k), 1, buf) ||
			    !lz_valid(buf, &w, why, sizeof(why))) {
				lz_say(lz, 'w', "zone %u, summary at offset %u: %s", zone,
				       m->off + k, why);
				return -EIO;
			}
			for (j = 0; j < le32_to_cpu(s->h.count); j++) {
				u32 off = lz_sum_offset(le64_to_cpu(s->e[j]));

				if (off < lz->g.zone_cap)
					named[off] = 1;
			}
		}
	}
	return 0;
}

/*
 * Brings back the list of blocks of @zone that no summary names, in the slot's
 * ring. False if they do not fit there, or are not known.
 */
static bool restore_ring(struct lz *lz, const struct lz_replay *r, u32 zone,
			 struct lz_open *o, u8 *named, void *buf, u32 *left)
{
	struct lz_zone *z = &lz->zone[zone];
	u32 i, j;

	*left = 0;
	if (z->names == LZ_NONE && z->sums == LZ_NONE)
		return true;
	memset(named, 0, lz->g.zone_cap);
	if (mark_named(lz, r, zone, named, buf)) {
		*left = 1;
		return false;
	}
	for (i = z->names; i != LZ_NONE; i = r->name[i].next) {
		const struct lz_name *m = &r->name[i];

		for (j = 0; j < m->len; j++) {
			u32 off = lz_addr_off(lz, m->addr) + j;

			if (named[off])
				continue;
			named[off] = 1;
			(*left)++;
			if (!o || o->put == lz->ring_size)
				continue;
			o->ring[o->put++] = lz_sum_pack(off, m->lba + j);
		}
	}
	if (!o || *left > o->put)
		return !*left;
	o->unsum = o->put;
	return z->resv + lz_sum_owed(o->unsum) <= lz->g.zone_cap;
}

/*
 * lz_load_finish - nothing more goes to @zone, if it is open. One that cannot be finished is taken
 * for read-only.
 */
void lz_load_finish(struct lz *lz, struct lz_load *l, u32 zone)
{
	struct lz_cmd c = { .op = LZ_OP_FINISH, .addr = lz_zone_addr(lz, zone, 0) };
	int err;

	if (l->rep[zone].cond != LZ_COND_OPEN)
		return;
	err = l->ro ? 0 : lz_cmd_sync(lz, &c);
	l->rep[zone].cond = err ? LZ_COND_READONLY : LZ_COND_FULL;
	if (err)
		lz_say(lz, 'w', "zone %u cannot be finished: error %d", zone, err);
	else if (!l->ro)
		lz_count(lz, LZ_ST_FINISHES_LOAD, 1);
}

/* lz_load_reset - reset @zone, which holds nothing that counts, or set it aside. */
void lz_load_reset(struct lz *lz, struct lz_load *l, u32 zone)
{
	struct lz_cmd c = { .op = LZ_OP_RESET, .addr = lz_zone_addr(lz, zone, 0) };
	int err = lz_cmd_sync(lz, &c);
	struct lz_zone *z = &lz->zone[zone];

	if (err) {
		lz_say(lz, 'w', "zone %u cannot be reset (error %d): set aside", zone, err);
		z->state = LZ_ZS_BAD;
		z->flags = LZ_ZF_BAD;
		/* Or the drive would go on counting it as open. */
		if (l->rep[zone].cond == LZ_COND_OPEN)
			lz_load_finish(lz, l, zone);
		return;
	}
	l->rep[zone] = (struct lz_zone_report){ .cond = LZ_COND_EMPTY };
	lz_count(lz, LZ_ST_RESETS_STALE, 1);
	z->gen++;
	lz_free_zone_add(lz, z);
}

/*
 * What nobody knows. Open ones are reset at once, so that the budget holds, and
 * as many more as the log may need; the rest in the background.
 */
static void adopt_free(struct lz *lz, struct lz_load *l, u32 zone)
{
	const struct lz_zone_report *rep = &l->rep[zone];
	struct lz_zone *z = &lz->zone[zone];

	if (lz_zone_dead(rep) || lz_zone_worn_out(z->flags)) {
		z->state = LZ_ZS_BAD;
		z->flags |= LZ_ZF_BAD;
		/* Or the drive would go on counting it as open. */
		lz_load_finish(lz, l, zone);
		return;
	}
	if (rep->cond == LZ_COND_EMPTY) {
		lz_free_zone_add(lz, z);
		return;
	}
	if (l->ro) {
		z->state = LZ_ZS_FREE;
		return;
	}
	if (rep->cond == LZ_COND_OPEN || l->stale < lz->si.meta_zones) {
		l->stale++;
		lz_load_reset(lz, l, zone);
		return;
	}
	z->state = LZ_ZS_FREE;
	list_add_tail(&z->list, &lz->stale);
	z->listed = true;
	lz->nr_unready++;
}

/* lz_keep_bad - @z cannot be written; GC is to empty it. */
void lz_keep_bad(struct lz_zone *z)
{
	z->state = LZ_ZS_BAD;
	z->flags |= LZ_ZF_BAD | LZ_ZF_SCAN;
	z->failed = true;
}

/* Blocks of @z are in use, and the drive has not got them. */
static bool lacks_data(const struct lz_zone *z, const struct lz_zone_report *rep)
{
	return rep->cond == LZ_COND_EMPTY || (rep->cond == LZ_COND_OPEN && z->need > rep->wp);
}

/* A data zone that holds, or may hold, something. */
static int adopt_data(struct lz *lz, struct lz_load *l, u32 zone)
{
	const struct lz_zone_report *rep = &l->rep[zone];
	struct lz_zone *z = &lz->zone[zone];
	struct lz_open *o = NULL;
	u32 left;

	if (atomic_read(&z->valid) <= 0) {
		/* Perhaps reset since, and written to in a life we know nothing of. */
		z->gen++;
		adopt_free(lz, l, zone);
		return 0;
	}
	if (z->flags & LZ_ZF_LOST) {
		z->suspect = true;
		z->gc_ckpt = ~0ull;
		z->resv = lz->g.zone_cap;
		z->done = z->resv;
		lz_load_finish(lz, l, zone);
		lz_keep_bad(z);
		return 0;
	}
	if (lacks_data(z, rep)) {
		lz_say(lz, 'e',
		       "zone %u: %d blocks in use, but its write pointer is %u, not past %u: was it reset by someone else?",
		       zone, atomic_read(&z->valid), rep->wp, z->need);
		z->suspect = true;
		z->state = LZ_ZS_FULL;
		z->resv = rep->wp;
		z->done = rep->wp;
		return l->ro ? 0 : -EUCLEAN;
	}
	z->resv = rep->cond == LZ_COND_OPEN ? rep->wp : lz->g.zone_cap;
	if (lz_planted(LZ_PLANT_WP_NOT_ADOPTED) && rep->cond == LZ_COND_OPEN)
		z->resv = z->need;
	z->done = z->resv;
	if (z->flags & LZ_ZF_BAD)
		lz_load_finish(lz, l, zone);
	if (lz_zone_dead(rep) || (z->flags & LZ_ZF_BAD)) {
		lz_keep_bad(z);
		return 0;
	}
	if (rep->cond == LZ_COND_OPEN && lz->nr_open < lz->data_slots)
		o = lz_open_slot(lz, z, z->flags & LZ_ZF_GC);
	if (o && restore_ring(lz, &l->r, zone, o, l->named, l->buf, &left)) {
		z->state = LZ_ZS_OPEN;
		if (!lz_zone_room(lz, z))
			z->closing = true;
		return 0;
	}
	if (!o) {
		restore_ring(lz, &l->r, zone, NULL, l->named, l->buf, &left);
		if (left)
			z->flags |= LZ_ZF_SCAN;
	} else {
		z->flags |= LZ_ZF_SCAN;
		lz_open_release(lz, z);
	}
	z->state = LZ_ZS_FULL;
	if (rep->cond == LZ_COND_OPEN && !lz_planted(LZ_PLANT_OPEN_NOT_FINISHED)) {
		lz_load_finish(lz, l, zone);
		z->resv = lz->g.zone_cap;
		z->done = z->resv;
		if (rep->cond == LZ_COND_READONLY)
			lz_keep_bad(z);
	}
	return 0;
}

/* A zone of the log: go on in it, or close it. */
static void adopt_meta(struct lz *lz, struct lz_load *l, u32 zone, u32 node_zone)
{
	const struct lz_zone_report *rep = &l->rep[zone];
	struct lz_stream *s = NULL;

	lz->nr_meta++;
	if (zone == lz->js->zone)
		s = lz->js;
	else if (zone == node_zone && lz->ns != lz->js)
		s = lz->ns;
	if (s && rep->wp + 1 < lz->g.zone_cap && !(lz->zone[zone].flags & LZ_ZF_BAD) &&
	    (rep->cond == LZ_COND_OPEN || rep->cond == LZ_COND_EMPTY)) {
		s->zone = zone;
		s->off = rep->wp;
		return;
	}
	if (s)
		s->zone = LZ_NONE;
	lz_load_finish(lz, l, zone);
}

static bool holds_data(const struct lz_zone *z)
{
	return (z->state == LZ_ZS_OPEN || z->state == LZ_ZS_FULL || z->state == LZ_ZS_BAD) &&
		atomic_read(&z->valid) > 0;
}

/*
 * Sectors smaller than a block may be written in part when power goes. What is
 * in such a zone is in it, and nothing more can be. One that was reset behind our back, and
 * written to since, is left for adopt_data(): finished it would be zeros where data was.
 */
static void close_torn(struct lz *lz, struct lz_load *l)
{
	u32 i;

	for (i = 0; i < lz->g.nr_zones; i++) {
		struct lz_zone_report *rep = &l->rep[i];

		if (!rep->torn || rep->cond != LZ_COND_OPEN ||
		    (holds_data(&lz->zone[i]) && lacks_data(&lz->zone[i], rep)) ||
		    lz_planted(LZ_PLANT_TORN_NOT_FINISHED))
			continue;
		lz_load_finish(lz, l, i);
		if (i == lz->root_zone)
			lz->root_off = lz->g.zone_cap;
	}
}

/*
 * Is nothing mapped in zones that are free? A zone is reset only after the commits that moved all
 * from it, and a count that is lost here would be one too low once the zone is in use again.
 */
static int check_free(struct lz *lz)
{
	u32 i;

	for (i = 2; i < lz->g.nr_zones; i++) {
		int valid = atomic_read(&lz->zone[i].valid);

		if (lz->zone[i].state != LZ_ZS_FREE || valid <= 0)
			continue;
		lz_say(lz, 'e',
		       "zone %u is free, but %d of its blocks are in use: the journal has lost commits",
		       i, valid);
		return -EUCLEAN;
	}
	return 0;
}

/*
 * lz_reconcile - bring all zones in line; nodes went on in @node_zone. -EUCLEAN: what is in
 * use is not there, and that has been said.
 */
int lz_reconcile(struct lz *lz, struct lz_load *l, u32 node_zone)
{
	int err = l->ro ? 0 : check_free(lz);
	u32 i;

	if (err)
		return err;
	/* What is open without need goes first: the drive's limit counts it. */
	lz_load_finish(lz, l, lz->root_zone ^ 1);
	close_torn(lz, l);
	for (i = 2; i < lz->g.nr_zones; i++) {
		if (lz->zone[i].state == LZ_ZS_FREE ||
		    (lz->zone[i].state == LZ_ZS_BAD && !atomic_read(&lz->zone[i].valid)))
			adopt_free(lz, l, i);
	}
	for (i = 2; i < lz->g.nr_zones && !err; i++) {
		struct lz_zone *z = &lz->zone[i];

		if (z->state == LZ_ZS_META)
			adopt_meta(lz, l, i, node_zone);
		else if (z->state == LZ_ZS_OPEN || z->state == LZ_ZS_FULL ||
			 (z->state == LZ_ZS_BAD && atomic_read(&z->valid)))
			err = adopt_data(lz, l, i);
		cond_resched();
	}
	return err;
}
