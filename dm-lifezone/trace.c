// SPDX-License-Identifier: GPL-2.0-only
/*
 * Core tells of decisions and state changes in one call; here each kind gets
 * its tracepoint. A tracepoint that is off costs a jump over it.
 */
#include "shell.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

#define LZ_TRACE(_event, _lt, _t)						\
do {										\
	if (trace_##_event##_enabled())						\
		trace_##_event(disk_devt(dm_disk(dm_table_get_md((_lt)->ti->table))), _t); \
} while (0)

/**
 * lz_trace_emit - ops->trace
 * @ctx: target
 * @t: what happened
 */
void lz_trace_emit(void *ctx, const struct lz_trace *t)
{
	struct lz_target *lt = ctx;

	switch (t->what) {
	case LZ_TR_ZONE_STATE:
		LZ_TRACE(lifezone_zone_state, lt, t);
		break;
	case LZ_TR_PLACE_ZONE:
		LZ_TRACE(lifezone_place_zone, lt, t);
		break;
	case LZ_TR_PLACE:
		LZ_TRACE(lifezone_place, lt, t);
		break;
	case LZ_TR_VICTIM_ZONE:
		LZ_TRACE(lifezone_victim_zone, lt, t);
		break;
	case LZ_TR_VICTIM:
		LZ_TRACE(lifezone_victim, lt, t);
		break;
	case LZ_TR_RESET:
		LZ_TRACE(lifezone_reset, lt, t);
		break;
	case LZ_TR_COMMIT:
		LZ_TRACE(lifezone_commit, lt, t);
		break;
	case LZ_TR_CHECKPOINT:
		LZ_TRACE(lifezone_checkpoint, lt, t);
		break;
	}
}

/**
 * lz_trace_wanted - ops->traced: of events that there are many of for one decision
 * @ctx: target
 * @what: enum lz_trace_what
 *
 * Return: true if that tracepoint is on.
 */
bool lz_trace_wanted(void *ctx, u8 what)
{
	switch (what) {
	case LZ_TR_PLACE_ZONE:
		return trace_lifezone_place_zone_enabled();
	case LZ_TR_VICTIM_ZONE:
		return trace_lifezone_victim_zone_enabled();
	}
	return false;
}
