// SPDX-License-Identifier: GPL-2.0-only
/*
 * The zoned allocator of XFS, as of Linux 6.15 and later (fs/xfs/xfs_zone_alloc.c, xfs_zone_gc.c).
 *
 * A file stays with the zone it was given until that is full. It is given: the open zone used
 * least recently whose hint suits well; else a new zone, if one may be opened; else the one used
 * least recently whose hint suits somehow; else the one used least recently. GC has a zone of its
 * own, into which all it moves goes, whatever its hint; its victim has the fewest valid blocks.
 *
 * A file is what a writer of the load writes; of a load without files all is one. Files are
 * written while they are open, so that the packing of small ones after they were closed is not
 * here. Nor is GC's reserve: when it begins is for --gc-start to say, as for all policies.
 */
#include <errno.h>
#include <stdlib.h>
#include "sim.h"

#define GC_STREAM	(SIM_STREAMS - 1)
#define GC_OPEN		1u	/* zones open that users may not fill */
#define GC_FREE		2u	/* free zones that users may not open */
#define AT_ONCE		100u	/* a zone with less than 1/100 valid is taken without a look */

/* How well a zone of the first hint suits a file of the second. */
enum fit { FIT_ANY, FIT_OK, FIT_GOOD };

static const u8 suits[LZ_CLASS_EXTREME + 1][LZ_CLASS_EXTREME + 1] = {
	[LZ_CLASS_NOT_SET][LZ_CLASS_NOT_SET] = FIT_OK,
	[LZ_CLASS_NONE][LZ_CLASS_NONE] = FIT_OK,
	[LZ_CLASS_SHORT][LZ_CLASS_SHORT] = FIT_GOOD,
	[LZ_CLASS_MEDIUM][LZ_CLASS_MEDIUM] = FIT_GOOD,
	[LZ_CLASS_LONG][LZ_CLASS_LONG] = FIT_OK,
	[LZ_CLASS_LONG][LZ_CLASS_EXTREME] = FIT_OK,
	[LZ_CLASS_EXTREME][LZ_CLASS_LONG] = FIT_OK,
	[LZ_CLASS_EXTREME][LZ_CLASS_EXTREME] = FIT_OK,
};

/**
 * struct xfs - state
 * @uses: zones given to files so far
 * @zone: by zone, its hint and the number of its last use, from 1 on; 0: GC's, or not open
 * @ended: by writer, its file has ended
 */
struct xfs {
	u64 uses;
	struct {
		u8 hint;
		u64 used;
	} *zone;
	bool ended[GC_STREAM];
};

static int xfs_init(struct sim *s)
{
	struct xfs *x = calloc(1, sizeof(*x));

	s->priv = x;
	if (x)
		x->zone = calloc(s->setup.zones, sizeof(*x->zone));
	return x && x->zone ? 0 : -ENOMEM;
}

static void xfs_exit(struct sim *s)
{
	struct xfs *x = s->priv;

	free(x->zone);
}

static u32 xfs_user(struct sim *s, u32 lba, u32 old)
{
	struct xfs *x = s->priv;
	u32 stream = s->req.writer % GC_STREAM;

	(void)lba;
	(void)old;
	if (x->ended[stream])
		s->open[stream] = SIM_NOWHERE;
	x->ended[stream] = s->req.last;
	return stream;
}

static u32 xfs_move(struct sim *s, u32 lba, u32 old)
{
	(void)s, (void)lba, (void)old;
	return GC_STREAM;
}

/* Of the zones open for users that suit as well at least, the one used least recently. */
static u32 least_recent(const struct sim *s, u8 hint, enum fit least)
{
	const struct xfs *x = s->priv;
	u32 best = SIM_NOWHERE, i;

	for (i = 0; i < s->setup.zones; i++) {
		if (s->z[i].state != SIM_OPEN || !x->zone[i].used ||
		    suits[x->zone[i].hint][hint] < least)
			continue;
		if (best == SIM_NOWHERE || x->zone[i].used < x->zone[best].used)
			best = i;
	}
	return best;
}

static u32 xfs_choose(struct sim *s, u32 stream)
{
	bool gc = s->open[GC_STREAM] != SIM_NOWHERE;
	struct xfs *x = s->priv;
	u8 hint = s->req.class;
	u32 zone;

	if (stream == GC_STREAM) {
		if (!s->nr_free)
			return SIM_NOWHERE;
		zone = sim_open(s, stream);
		x->zone[zone].used = 0;
		return zone;
	}
	zone = least_recent(s, hint, FIT_GOOD);
	if (zone == SIM_NOWHERE && s->nr_open - gc < s->setup.max_open - GC_OPEN &&
	    s->nr_free >= GC_FREE) {
		zone = sim_open(s, stream);
		x->zone[zone].hint = hint;
	}
	if (zone == SIM_NOWHERE)
		zone = least_recent(s, hint, FIT_OK);
	if (zone == SIM_NOWHERE)
		zone = least_recent(s, hint, FIT_ANY);
	if (zone == SIM_NOWHERE)
		return SIM_NOWHERE;
	if (x->zone[zone].hint == LZ_CLASS_NOT_SET)
		x->zone[zone].hint = hint;
	x->zone[zone].used = ++x->uses;
	return zone;
}

/* Ten buckets by how full they are, the emptiest first, are in all that order. */
static double xfs_score(struct sim *s, u32 zone)
{
	u32 valid = s->z[zone].valid, cap = s->setup.cap;

	return valid < cap / AT_ONCE ? cap : cap - valid;
}

const struct sim_policy sim_xfs = {
	.name = "xfs", .doc = "XFS's: a zone of a hint that suits the file's, greedy victims",
	.init = xfs_init, .exit = xfs_exit, .user = xfs_user, .move = xfs_move,
	.choose = xfs_choose, .score = xfs_score,
};
