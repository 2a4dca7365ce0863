// SPDX-License-Identifier: GPL-2.0-only
/*
 * Seeds: drives as core leaves them, written by core itself when first asked for;
 * and the edits that inputs make to them.
 */
#include "fuzz.h"

#define MAX_RECORDS	64u

enum { FRESH, USED, CUT, FULL, TIGHT, LEAVES, WIDE, STALE };

static_assert(STALE + 1 == FUZZ_SEEDS, "seeds");

static const struct lz_geometry geometry[FUZZ_SEEDS] = {
	[FRESH]	 = { 24, 32, 24, 0, 8 },
	[USED]	 = { 24, 32, 24, 0, 8 },
	[CUT]	 = { 24, 32, 24, 0, 8 },
	[FULL]	 = { 24, 32, 24, 8, 8 },
	/* One zone for journal and nodes, and links often. */
	[TIGHT]	 = { 30, 16, 12, 4, 2 },
	/* Several map leaves. */
	[LEAVES] = { 30, 64, 64, 6, 4 },
	/* Inner nodes. */
	[WIDE]	 = { 50, 4096, 4096, 6, 4 },
	[STALE]	 = { 24, 32, 24, 6, 3 },
};

static u32 noise(u32 *state, u32 n)
{
	*state = *state * 1664525 + 1013904223;
	return ((u64)*state * n) >> 32;
}

static void format(struct fuzz *f)
{
	char why[160] = "";
	u32 i;

	for (i = 0; i < LZ_UUID_SIZE; i++)
		f->si.uuid[i] = 16 * i + 1;
	snprintf(f->si.label, sizeof(f->si.label), "fuzz");
	f->si.spare_permille = LZ_SPARE_DEFAULT;
	f->si.created = 1700000000;
	if (lz_layout(&f->g, &f->si, why, sizeof(why)) ||
	    lz_format(&f->g, &f->si, NULL, &fuzz_ops, f))
		fuzz_wrong("seed: %s", why);
}

/* Some of everything. */
static void use(struct fuzz *f, u32 times, u32 most)
{
	u32 state = 5, blocks = f->si.logical_blocks, n, lba;

	while (times--) {
		n = 1 + noise(&state, most);
		lba = noise(&state, blocks - n);
		switch (noise(&state, 16)) {
		case 0:
			fuzz_flush(f);
			break;
		case 1:
			fuzz_discard(f, lba, n);
			break;
		case 2:
			fuzz_discard(f, lba, min(blocks - lba, 33 + noise(&state, 30)));
			break;
		case 3:
			fuzz_elapse(f, 1500);
			break;
		default:
			fuzz_write(f, noise(&state, LZ_NR_CLASSES), lba, n);
		}
	}
}

static void contents(struct fuzz *f, u32 i)
{
	u64 lba;

	switch (i) {
	case USED:
		use(f, 150, 12);
		break;
	case CUT:
		use(f, 60, 12);
		fuzz_checkpoint(f);
		use(f, 40, 6);
		break;
	case FULL:
		for (lba = 0; lba < f->si.logical_blocks; lba++)
			fuzz_write(f, lba % 5, lba, 1);
		use(f, 300, 20);
		break;
	case TIGHT:
		use(f, 400, 8);
		break;
	case LEAVES:
		for (lba = 0; lba < f->si.logical_blocks; lba += 40)
			fuzz_write(f, LZ_CLASS_LONG, lba, 20);
		use(f, 100, 30);
		fuzz_checkpoint(f);
		use(f, 100, 30);
		break;
	case WIDE:
		for (lba = 0; lba < f->si.logical_blocks; lba += 9000)
			fuzz_write(f, LZ_CLASS_SHORT, lba, 3);
		fuzz_checkpoint(f);
		fuzz_discard(f, 20000, 30000);
		fuzz_write(f, LZ_CLASS_SHORT, 25000, 5);
		break;
	case STALE:
		use(f, 100, 12);
		fuzz_discard(f, 0, f->si.logical_blocks);
		fuzz_checkpoint(f);
		use(f, 30, 4);
		break;
	}
	fuzz_flush(f);
	if (i == CUT)
		fuzz_write(f, LZ_CLASS_SHORT, 3, 7);
}

/* What a load reads comes first in the list of metadata, then all other. */
static void list_meta(struct fuzz *f)
{
	struct lz_check_report report = {};
	u64 i;

	f->noting = true;
	if (fuzz_load(f, LZ_LOAD_RO, NULL) || lz_check(f->lz, &report) || report.errors)
		fuzz_wrong("seed: not sound");
	fuzz_forget(f);
	f->nr_read = f->nr_meta;
	f->noting = false;
	for (i = 0; i < fuzz_blocks(f); i++) {
		const struct lz_hdr *h = (const void *)fuzz_block(f, i);
		u32 k;

		if (le32_to_cpu(h->magic) != LZ_MAGIC)
			continue;
		for (k = 0; k < f->nr_read && f->meta[k] != i; k++)
			;
		if (k < f->nr_read)
			continue;
		f->meta = realloc(f->meta, (f->nr_meta + 1) * sizeof(*f->meta));
		f->meta[f->nr_meta++] = i;
	}
}

const struct fuzz *fuzz_seed(u32 i)
{
	static struct fuzz *seed[FUZZ_SEEDS];
	struct fuzz *f;

	i %= FUZZ_SEEDS;
	if (seed[i])
		return seed[i];
	f = fuzz_new(&geometry[i]);
	fuzz_begin();
	format(f);
	if (fuzz_load(f, 0, NULL))
		fuzz_wrong("seed: not loaded");
	contents(f, i);
	if (i == USED)
		fuzz_stop(f);
	fuzz_forget(f);
	list_meta(f);
	seed[i] = f;
	return f;
}

/* --- edits ------------------------------------------------------------------------ */

u32 fuzz_records(const u8 *data, size_t size, struct fuzz_rec *first,
		 const struct fuzz_rec **rec)
{
	static struct fuzz_rec r[MAX_RECORDS];
	u32 n = min_t(size_t, size / sizeof(*r), MAX_RECORDS);

	memset(r, 0, sizeof(r));
	memcpy(r, data, n * sizeof(*r));
	*first = r[0];
	*rec = r + 1;
	return n;
}

void fuzz_seal(u8 *block)
{
	struct lz_hdr *h = (struct lz_hdr *)block;

	h->crc = 0;
	h->crc = cpu_to_le32(lz_crc32c(~0u, block, LZ_BLOCK_SIZE));
}

static u64 block_of(const struct fuzz *f, const struct fuzz_rec *r)
{
	return f->meta[le16_to_cpu(r->a) % f->nr_meta];
}

static void set_field(struct fuzz *f, const struct fuzz_rec *r)
{
	u8 *b = fuzz_own(f, block_of(f, r));
	u32 n = 1 << r->arg % 4, at = le32_to_cpu(r->b) % (LZ_BLOCK_SIZE - n + 1);
	__le64 v = 0;

	memcpy(&v, b + at, n);
	v = cpu_to_le64((r->op == FUZZ_ADD ? le64_to_cpu(v) : 0) + le64_to_cpu(r->v));
	memcpy(b + at, &v, n);
	fuzz_seal(b);
}

/* A copy at @addr, which then knows it is there. */
static void copy_block(struct fuzz *f, const struct fuzz_rec *r, u64 addr, bool next)
{
	u64 from = block_of(f, r);
	u8 *b = fuzz_own(f, addr);
	struct lz_hdr *h = (struct lz_hdr *)b;
	u64 seq;

	memcpy(b, fuzz_block(f, from), LZ_BLOCK_SIZE);
	if (le16_to_cpu(h->type) != LZ_BT_SUMMARY)
		h->addr = cpu_to_le64(addr);
	if (next) {
		/* One more than the block in front of it. */
		seq = le64_to_cpu(((const struct lz_hdr *)fuzz_block(f, addr - 1))->seq) + 1;
		h->seq = cpu_to_le64(seq);
		if (le16_to_cpu(h->type) == LZ_BT_JOURNAL)
			((struct lz_journal *)b)->first = cpu_to_le64(seq);
	}
	fuzz_seal(b);
	f->meta = realloc(f->meta, (f->nr_meta + 1) * sizeof(*f->meta));
	f->meta[f->nr_meta++] = addr;
}

static void copy_next(struct fuzz *f, const struct fuzz_rec *r)
{
	u32 zone = le32_to_cpu(r->b) % f->g.nr_zones;
	struct fuzz_zone *z = &f->zone[zone];

	/* Mostly where the block is already. */
	if (r->arg & 1)
		zone = block_of(f, r) / f->g.zone_blocks;
	z = &f->zone[zone];
	if (z->wp >= f->g.zone_cap)
		return;
	copy_block(f, r, (u64)zone * f->g.zone_blocks + z->wp, z->wp);
	z->wp++;
	z->cond = z->wp == f->g.zone_cap ? LZ_COND_FULL : LZ_COND_OPEN;
}

static void set_zone(struct fuzz *f, const struct fuzz_rec *r)
{
	struct fuzz_zone *z = &f->zone[le16_to_cpu(r->a) % f->g.nr_zones];

	/* What a drive may report, no more. */
	z->wp = le32_to_cpu(r->b) % (f->g.zone_cap + 1);
	z->cond = le64_to_cpu(r->v) % (LZ_COND_OFFLINE + 1);
	z->torn = z->cond == LZ_COND_OPEN && z->wp && (r->arg & 1);
	if (z->cond == LZ_COND_EMPTY)
		z->wp = 0;
	if (z->cond == LZ_COND_FULL)
		z->wp = f->g.zone_cap;
}

/* Full on the drive, and in use in the zone table that a load reads. */
static void claim(struct fuzz *f, const struct fuzz_rec *r)
{
	u32 zone = le16_to_cpu(r->a) % f->g.nr_zones, n = le32_to_cpu(r->b) % 64, i;
	struct lz_znode *t = NULL;

	for (i = 0; i < f->nr_read && !t; i++) {
		t = (struct lz_znode *)fuzz_own(f, f->meta[i]);
		if (le16_to_cpu(t->h.type) != LZ_BT_ZNODE || t->h.level)
			t = NULL;
	}
	for (; t && n-- && zone < min(f->g.nr_zones, LZ_ZNODE_ENTRIES); zone++) {
		if (zone < 2 || f->zone[zone].cond != LZ_COND_EMPTY)
			continue;
		f->zone[zone].wp = f->g.zone_cap;
		f->zone[zone].cond = LZ_COND_FULL;
		t->e[zone].state = LZ_ZS_FULL;
		t->e[zone].valid = cpu_to_le32(le64_to_cpu(r->v) % (f->g.zone_cap + 1));
	}
	if (t)
		fuzz_seal((u8 *)t);
}

static void edit(struct fuzz *f, const struct fuzz_rec *r)
{
	switch (r->op) {
	case FUZZ_SET:
	case FUZZ_ADD:
		set_field(f, r);
		break;
	case FUZZ_COPY:
		copy_block(f, r, le32_to_cpu(r->b) % fuzz_blocks(f), false);
		break;
	case FUZZ_NEXT:
		copy_next(f, r);
		break;
	case FUZZ_ROT:
		fuzz_own(f, block_of(f, r))[le32_to_cpu(r->b) % LZ_BLOCK_SIZE] ^= 1 + r->arg % 255;
		break;
	case FUZZ_ZONE:
		set_zone(f, r);
		break;
	case FUZZ_CLAIM:
		claim(f, r);
		break;
	default:
		return;
	}
	f->edited = true;
}

struct fuzz *fuzz_make(const struct fuzz_rec *first, const struct fuzz_rec *rec, u32 n)
{
	struct fuzz *f = fuzz_clone(fuzz_seed(first->op));
	u32 i;

	for (i = 0; i < n; i++)
		edit(f, &rec[i]);
	return f;
}
