/* SPDX-License-Identifier: GPL-2.0-only */
/* A recorded trace as a load: see trace.c. */
#ifndef LIFEZONE_SIM_TRACE_H
#define LIFEZONE_SIM_TRACE_H

#include "sim.h"

struct trace;

/**
 * trace_new - a trace, from its beginning
 * @path: of the file
 * @blocks: logical blocks there are
 * @why: set to one line if it cannot be read
 *
 * Return: NULL with *@why set, or not: there is no memory.
 */
struct trace *trace_new(const char *path, u32 blocks, const char **why);
void trace_free(struct trace *t);
/* What comes next; false: it has ended, or a line of it is wrong. */
bool trace_next(struct trace *t, struct sim_req *req);
/* Do its requests have a time? */
bool trace_timed(const struct trace *t);
/* What is wrong with it, or NULL. */
const char *trace_wrong(const struct trace *t);

#endif /* LIFEZONE_SIM_TRACE_H */
