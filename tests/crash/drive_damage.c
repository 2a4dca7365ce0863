// SPDX-License-Identifier: GPL-2.0-only
/* Damage that no power cut does: blocks that rot, or are somebody else's. */
#include "drive_in.h"

/* Metadata that lies elsewhere; NULL: none was found. */
static const struct drive_block *other_block(struct drive *d, const struct drive_block *b)
{
	u32 tries;

	for (tries = 0; tries < 64; tries++) {
		struct drive_zone *z = &d->z[rnd_below(&d->rnd, d->g.nr_zones)];
		struct drive_block *o = &z->b[rnd_below(&d->rnd, d->g.zone_cap)];

		if (o < z->b + z->data && o->data && o != b)
			return o;
	}
	return NULL;
}

/* A bit of a block, or all of it, is no longer what it was, or another lies in its place. */
static void rot(struct drive *d, struct drive_block *b)
{
	const struct drive_block *other = rnd_below(&d->rnd, 3) ? NULL : other_block(d, b);
	u32 at = rnd_below(&d->rnd, LZ_BLOCK_SIZE);

	if (other || rnd_below(&d->rnd, 2) || !b->data) {
		drive_spoil(d, b, 0);
		if (other) {
			b->data = drive_block_get(d);
			memcpy(b->data, other->data, LZ_BLOCK_SIZE);
			b->tag = other->tag;
		}
		return;
	}
	drive_spoil(d, b, LZ_BLOCK_SIZE / 512);
	b->data[at] ^= 1u << rnd_below(&d->rnd, 8);
}

static const struct lz_hdr *header(const struct drive_zone *z, u32 off, u16 type)
{
	const struct lz_hdr *h = off < z->data ? (const void *)z->b[off].data : NULL;

	return h && le16_to_cpu(h->type) == type ? h : NULL;
}

/* The same, and it is whole. */
static const void *whole(const struct drive *d, u32 zone, u32 off, u16 type)
{
	const struct lz_hdr *h = header(&d->z[zone], off, type);
	struct lz_want w = {
		.type = type, .addr = (u64)zone * d->g.zone_blocks + off, .index = ~0ull,
	};

	return h && lz_valid(h, &w, NULL, 0) ? h : NULL;
}

void drive_rot(struct drive *d)
{
	u32 zone = rnd_below(&d->rnd, 2);
	struct drive_zone *z = &d->z[zone];
	const struct lz_hdr *a, *b;

	if (rnd_below(&d->rnd, 2)) {
		if (whole(d, zone, 0, LZ_BT_SUPER) && whole(d, zone, 1, LZ_BT_SUPER))
			rot(d, &z->b[rnd_below(&d->rnd, 2)]);
		return;
	}
	if (z->data < 3)
		return;
	a = whole(d, zone, z->data - 2, LZ_BT_ROOT);
	b = whole(d, zone, z->data - 1, LZ_BT_ROOT);
	if (a && b && a->seq == b->seq)
		rot(d, &z->b[z->data - 1 - rnd_below(&d->rnd, 2)]);
}

/* A commit ends at @off in @zone. */
static const struct lz_journal *commit_end(const struct drive *d, u32 zone, u32 off)
{
	const struct lz_journal *j = whole(d, zone, off, LZ_BT_JOURNAL);

	return j && !j->more && le32_to_cpu(j->next_zone) == ~0u ? j : NULL;
}

/*
 * Would it have to be noticed if a block were not what it was? Of the journal,
 * and of what lies in its midst, only where a later commit has ended: the last
 * one could as well have been cut short.
 */
static bool is_missed(const struct drive *d, u32 zone, u32 off)
{
	const struct drive_zone *z = &d->z[zone];
	const struct lz_hdr *h = (const void *)z->b[off].data, *next = NULL;

	if (header(z, off, LZ_BT_SUMMARY))
		return true;
	if (header(z, off, LZ_BT_JOURNAL))
		next = h;
	else if (!header(z, off, LZ_BT_NODE) && !header(z, off, LZ_BT_ZNODE))
		return false;
	for (off++; off < z->data; off++) {
		const struct lz_journal *end = commit_end(d, zone, off);

		if (!next)
			next = header(z, off, LZ_BT_JOURNAL);
		if (end && end->h.epoch == next->epoch &&
		    le64_to_cpu(end->first) > le64_to_cpu(next->seq))
			return true;
	}
	return !next;
}

bool drive_damage(struct drive *d)
{
	u32 zone, off, tries;

	for (tries = 0; tries < 64; tries++) {
		zone = rnd_below(&d->rnd, d->g.nr_zones);
		if (!d->z[zone].data)
			continue;
		off = rnd_below(&d->rnd, d->z[zone].data);
		if (!is_missed(d, zone, off))
			continue;
		rot(d, &d->z[zone].b[off]);
		return true;
	}
	return false;
}

void drive_scribble(struct drive *d, u32 zone, u32 n)
{
	struct drive_zone *z = &d->z[zone];
	u64 buf[LZ_BLOCK_SIZE / 8];
	struct drive_cmd c = { .op = LZ_OP_WRITE, .buf = buf };
	u32 i;

	while (n--) {
		for (i = 0; i < ARRAY_SIZE(buf); i++)
			buf[i] = rnd_u64(&d->rnd);
		drive_write_blocks(d, z, &c, 1);
	}
	z->done = z->wp;
	z->durable = z->wp;
}
