// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile drive is loaded: refused with a line about it, or used like any
 * other, whatever it claims, without harm to the host.
 */
#include "fuzz.h"

static void options(struct lz_options *o, u64 v)
{
	o->policy = v % LZ_NR_POLICIES;
	o->reset = (v >> 8) % LZ_NR_RESETS;
	o->finish = (v >> 16) % LZ_NR_FINISHES;
	o->isolation = (v >> 24) % LZ_NR_ISOLATIONS;
	o->victim = (v >> 32) % LZ_NR_VICTIMS;
}

static int again(struct fuzz *f, bool stop)
{
	struct lz_options o;

	lz_get_options(f->lz, &o);
	if (stop)
		fuzz_stop(f);
	else
		fuzz_forget(f);
	return fuzz_load(f, 0, &o);
}

/* One action; false: there is no device any more. */
static bool act(struct fuzz *f, const struct fuzz_rec *r)
{
	u64 n, lba, v = le64_to_cpu(r->v);
	struct lz_options o;
	struct lz_info info;
	char why[80];

	lz_get_info(f->lz, &info);
	lba = le32_to_cpu(r->b) % info.logical_blocks;
	switch (r->op) {
	case FUZZ_WRITE:
		n = min_t(u64, 1 + r->arg, info.logical_blocks - lba);
		fuzz_write(f, le16_to_cpu(r->a) % LZ_NR_CLASSES, lba, n);
		break;
	case FUZZ_DISCARD:
		fuzz_discard(f, lba, 1 + v % (info.logical_blocks - lba));
		break;
	case FUZZ_FLUSH:
		fuzz_flush(f);
		break;
	case FUZZ_CHECKPOINT:
		fuzz_checkpoint(f);
		break;
	case FUZZ_GC:
		lz_request_gc(f->lz, 1 + r->arg % 8);
		fuzz_pump(f);
		break;
	case FUZZ_READ:
		fuzz_read_all(f);
		break;
	case FUZZ_ELAPSE:
		fuzz_elapse(f, v % 3000);
		break;
	case FUZZ_FAIL:
		f->zone[le16_to_cpu(r->a) % f->g.nr_zones].fail = r->arg;
		break;
	case FUZZ_CUT:
		return !again(f, r->arg & 1);
	case FUZZ_OPTIONS:
		lz_get_options(f->lz, &o);
		options(&o, v);
		if (!lz_prepare_options(f->lz, &o, why, sizeof(why)))
			lz_set_options(f->lz, &o);
		fuzz_pump(f);
		break;
	}
	return true;
}

static void examine(struct fuzz *f)
{
	struct lz_check_report report = { .say = fuzz_check_say };
	int err = lz_check(f->lz, &report);

	if (err && err != -EIO)
		fuzz_wrong("check: error %d", err);
	if (!f->edited && (err || report.errors))
		fuzz_wrong("check: %llu errors on a sound device",
			   (unsigned long long)report.errors);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const struct fuzz_rec *rec;
	struct fuzz_rec first;
	u32 n = fuzz_records(data, size, &first, &rec), i;
	struct fuzz *f = n ? fuzz_make(&first, rec, n - 1) : NULL;
	bool ro = first.arg & FUZZ_RO;
	int err;

	if (!f)
		return 0;
	fuzz_begin();
	f->late = first.arg & FUZZ_LATE;
	err = fuzz_load(f, ro ? LZ_LOAD_RO : 0, NULL);
	if (err && !f->edited)
		fuzz_wrong("load: error %d on a sound device", err);
	if (err) {
		fuzz_free(f);
		return 0;
	}
	if (ro)
		examine(f);
	for (i = 0; i < n - 1 && f->lz; i++) {
		if (rec[i].op >= FUZZ_NR_EDITS && rec[i].op < FUZZ_NR_OPS && !act(f, &rec[i]))
			break;
	}
	if (f->lz) {
		fuzz_read_all(f);
		fuzz_stop(f);
	}
	fuzz_free(f);
	return 0;
}
