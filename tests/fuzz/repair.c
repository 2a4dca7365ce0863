// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile drive is repaired, as "lifezone repair" does it: nothing is written before
 * all has been worked out, and what is then written checks.
 */
#include "../../tools/scan.h"
#include "fuzz.h"

enum health { HEALTHY, DAMAGED, BEYOND };

/* A new instance, not loaded. */
static void renew(struct fuzz *f)
{
	struct lz_options o;

	lz_options_default(&o);
	fuzz_forget(f);
	f->lz = lz_new(&f->g, &o, &fuzz_ops, f);
}

static enum health examine(struct fuzz *f, struct lz_zone_report *rep)
{
	struct lz_check_report r = { .say = fuzz_check_say };
	struct scan s = { 0 };
	int err;

	renew(f);
	fuzz_report(f, rep);
	err = lz_load(f->lz, rep, LZ_LOAD_RO);
	if (!err)
		err = lz_check(f->lz, &r);
	fuzz_report(f, rep);
	if (!err)
		err = scan_drive(&s, f->lz, rep);
	if (!err)
		scan_judge(&s, &r, fuzz_check_say);
	scan_free(&s);
	if (err || r.errors != r.unreadable)
		return DAMAGED;
	return r.errors ? BEYOND : HEALTHY;
}

static void mend(struct fuzz *f, struct lz_zone_report *rep)
{
	struct rebuild_report r;
	struct lz_super_info si;
	bool whole;
	int err;

	if (lz_probe(&f->g, &fuzz_ops, f, &si) || si.compat_ro)
		return;
	if (examine(f, rep) != DAMAGED)
		return;
	renew(f);
	f->lz->si = si;
	fuzz_report(f, rep);
	err = rebuild(f->lz, rep, &r);
	if (f->writes)
		fuzz_wrong("%u commands changed the drive before they were asked for", f->writes);
	if (!err)
		err = rebuild_write(f->lz, rep, &r);
	whole = !err;
	rebuild_report_free(&r);
	if (whole && examine(f, rep) == DAMAGED)
		fuzz_wrong("repaired, but check finds errors");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const struct fuzz_rec *rec;
	struct fuzz_rec first;
	u32 n = fuzz_records(data, size, &first, &rec);
	struct fuzz *f = n ? fuzz_make(&first, rec, n - 1) : NULL;
	struct lz_zone_report *rep;

	if (!f)
		return 0;
	fuzz_begin();
	f->writes = 0;
	rep = calloc(f->g.nr_zones, sizeof(*rep));
	mend(f, rep);
	free(rep);
	fuzz_free(f);
	return 0;
}
