/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Planted bugs: with LZ_PLANTS defined, the variable lz_plant turns on one
 * deliberate fault, which the crash tests must find. Without it nothing is
 * compiled in.
 */
#ifndef LIFEZONE_PLANT_H
#define LIFEZONE_PLANT_H

enum lz_plant_id {
	LZ_PLANT_NONE,
	LZ_PLANT_NO_PREFLUSH,		/* journal written without flushing data first */
	LZ_PLANT_RESET_BEFORE_COMMIT,	/* emptied zone reset at once */
	LZ_PLANT_REMAP_WITHOUT_COMPARE,	/* GC overwrites newer user writes */
	LZ_PLANT_FLUSH_WITHOUT_COMMIT,	/* flush completes without the journal */
	LZ_PLANT_COMMIT_RECORD_IGNORED,	/* replay applies torn commits */
	LZ_PLANT_DISCARD_NOT_JOURNALED,	/* discards live only in RAM */
	LZ_PLANT_RESET_WITH_READERS,	/* reset does not wait for reads */
	LZ_PLANT_EPOCH_NOT_RAISED,	/* recovery reuses the old epoch */
	LZ_PLANT_STALE_SUMMARY,		/* summary head kept over a reset */
	LZ_PLANT_ROOT_BEFORE_NODES,	/* root written without waiting for nodes */
	LZ_PLANT_VALID_COUNT_LOW,	/* overwritten block counted off twice */
	LZ_PLANT_META_RESET_EARLY,	/* metadata zone reset before the root */
	LZ_NR_PLANTS
};

#ifdef LZ_PLANTS
extern int lz_plant;
#define lz_planted(id)	unlikely(lz_plant == (id))
#else
#define lz_planted(id)	((void)(id), false)
#endif

#endif /* LIFEZONE_PLANT_H */
