/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the drive share. */
#ifndef LZCRASH_DRIVE_IN_H
#define LZCRASH_DRIVE_IN_H

#include "drive.h"

/* Memory for a block; of a copy, on its own list until drive_take_back(). */
u8 *drive_block_get(struct drive *d);
void drive_take_back(struct drive *d, const void *own);
/* Blocks of a zone from @from on are no more. */
void drive_drop_blocks(struct drive *d, struct drive_zone *z, u32 from);
/* What a read of this block gets. */
void drive_get_block(const struct drive *d, u32 zone, u32 off, u8 *buf);
/* The first @sound sectors of a block are left of it; the others read as enum drive_fill, */
void drive_fill_rest(struct drive *d, struct drive_block *b, u32 sound, u8 fill);
/* or as anything. */
void drive_spoil(struct drive *d, struct drive_block *b, u32 sound);

void drive_forget_cmds(struct drive *d);
/* Does it make anything durable that was completed before? */
bool drive_flushes(const struct drive_cmd *c);

/* Commands take effect, whether they may or not. */
void drive_make_durable(struct drive *d, const struct drive_cmd *c);
void drive_write_blocks(struct drive *d, struct drive_zone *z, const struct drive_cmd *c, u32 n);
void drive_reset_zone(struct drive *d, struct drive_zone *z);
void drive_finish_zone(struct drive *d, struct drive_zone *z);
/* May one more zone be open or closed? */
bool drive_may_activate(const struct drive *d);

#endif /* LZCRASH_DRIVE_IN_H */
