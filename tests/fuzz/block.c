// SPDX-License-Identifier: GPL-2.0-only
/*
 * One block of metadata, with any contents: it is judged, by what is wanted and
 * by what it says itself, and decoded if it is believed.
 */
#include "../../dm-lifezone/core/lz.h"
#include "fuzz.h"

static void judge(const u8 *b, const struct lz_want *w, size_t n)
{
	char why[200];
	bool ok;

	memset(why, '#', sizeof(why));
	ok = lz_valid(b, w, n ? why : NULL, n);
	if (ok != lz_valid(b, w, NULL, 0))
		fuzz_wrong("valid or not, as it is asked");
	if (!ok && n && (!memchr(why, 0, n) || memchr(why, '\n', n)))
		fuzz_wrong("no line");
	if (n < sizeof(why) && why[n] != '#')
		fuzz_wrong("more than a line");
}

/* What is believed can be decoded without a second look. */
static void decode(const u8 *b)
{
	const struct lz_hdr *h = (const void *)b;
	u32 i, n = le32_to_cpu(h->count);
	struct lz_super_info si;
	struct lz_geometry g;
	char why[160];
	u64 sum = 0;

	switch (le16_to_cpu(h->type)) {
	case LZ_BT_SUPER:
		lz_super_decode((const void *)b, &si);
		g = (struct lz_geometry){ si.nr_zones, si.zone_blocks, si.zone_cap, 0, 8 };
		lz_layout(&g, &si, why, sizeof(why));
		break;
	case LZ_BT_JOURNAL:
		for (i = 0; i < n; i++) {
			const struct lz_jrec *r = &((const struct lz_journal *)b)->r[i];

			sum += lz_jrec_lba(r) + lz_jrec_len(r) + lz_jrec_b(r);
			if (lz_jrec_type(r) > LZ_JR_ZBAD)
				fuzz_wrong("record of type %u", lz_jrec_type(r));
		}
		break;
	case LZ_BT_SUMMARY:
		for (i = 0; i < n; i++) {
			u64 e = le64_to_cpu(((const struct lz_summary *)b)->e[i]);

			sum += lz_sum_offset(e) + lz_sum_lba(e);
		}
		break;
	case LZ_BT_NODE:
	case LZ_BT_ZNODE:
		if (n > LZ_NODE_ENTRIES)
			fuzz_wrong("%u entries", n);
		break;
	}
	*(volatile u64 *)&sum = sum;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const struct fuzz_rec *rec;
	struct fuzz_rec first;
	u32 n = fuzz_records(data, size, &first, &rec), type, level;
	struct fuzz *f = n ? fuzz_make(&first, rec, n - 1) : NULL;
	struct lz_want w = {};
	struct lz_hdr *h;
	u8 *b;

	if (!f)
		return 0;
	/* Alone, so that a look past its end shows. */
	b = malloc(LZ_BLOCK_SIZE);
	memcpy(b, fuzz_block(f, f->meta[le16_to_cpu(first.a) % f->nr_meta]), LZ_BLOCK_SIZE);
	h = (struct lz_hdr *)b;
	w = (struct lz_want){
		.uuid = first.arg & 1 ? f->si.uuid : NULL, .type = le16_to_cpu(h->type),
		.level = le16_to_cpu(h->level), .addr = le64_to_cpu(h->addr),
		.index = first.arg & 2 ? le64_to_cpu(h->index) : ~0ull,
	};
	judge(b, &w, first.arg & 4 ? 160 : le32_to_cpu(first.b) % 200);
	if (lz_valid(b, &w, NULL, 0))
		decode(b);
	w.epoch = le64_to_cpu(first.v) & 3;
	w.epoch_max = le64_to_cpu(first.v) >> 2 & 3;
	w.seq = le64_to_cpu(first.v) >> 4 & 3;
	for (type = 0; type <= LZ_BT_SUMMARY + 1; type++) {
		for (level = 0; level < 3; level++) {
			w.type = type;
			w.level = level;
			judge(b, &w, 160);
			if (lz_valid(b, &w, NULL, 0))
				decode(b);
		}
	}
	free(b);
	fuzz_free(f);
	return 0;
}
